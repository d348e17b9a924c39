/*
 * binary.c: the program of two-operand element-wise operations. One tensor or two of any
 * broadcastable shapes, a scalar on either side, chains of unary functions before and after.
 *
 * Models BinaryNgDeviceOperation of ttnn 0.81 (eltwise/binary_ng/device) with its one factory:
 * specs, refusals, memory, cores; and the program of the generation `classic`. What a launch
 * depends on is much: which operands are rows, columns or values (SubtileBroadcastType), where
 * shards are worked on in place, what is converted on the way, and on which cores. Not modelled:
 * what the units round on the way.
 */
#include "ops/eltwise/binary.h"

#include <math.h>

#include "backend/backend.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTR_LIST(X)                                                                               \
	X(FN, "binary_op_type")                                                                    \
	X(PRE_A, "lhs_activations", .text = TT_TEXT_SMALL)                                         \
	X(PRE_B, "rhs_activations", .text = TT_TEXT_SMALL)                                         \
	X(POST, "post_activations", .text = TT_TEXT_SMALL)                                         \
	X(SCALAR, "scalar", .text = TT_TEXT_FIXED, .fixed = "<variant>")                           \
	X(MEMORY, "memory_config")                                                                 \
	X(INPUT_DTYPE, "input_dtype")                                                              \
	X(DTYPE, "dtype")                                                                          \
	X(GRID, "worker_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SUB_GRID, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")            \
	X(SUB_DEVICE, "sub_device_id", .text = TT_TEXT_FIXED, .fixed = "<StrongType>")             \
	X(SUBTILE, "subtile_broadcast_type")                                                       \
	X(SCALAR_FIRST, "scalar_is_lhs")                                                           \
	X(SFPU, "is_sfpu")                                                                         \
	X(QUANT, "is_quant_op")                                                                    \
	X(WHERE, "is_where_op")                                                                    \
	X(RTOL, "rtol")                                                                            \
	X(ATOL, "atol")                                                                            \
	X(EQUAL_NAN, "equal_nan")                                                                  \
	X(LAYOUT_A, "input_layout_a")                                                              \
	X(LAYOUT_B, "input_layout_b")                                                              \
	X(LAYOUT_OUT, "output_layout")                                                             \
	X(VOLUME_A, "a_shard_volume")                                                              \
	X(VOLUME_B, "b_shard_volume")                                                              \
	X(VOLUME_OUT, "c_shard_volume")                                                            \
	X(PAGES, "sharded_tensor_shape_in_pages")                                                  \
	X(VARIANT, "gelu_variant", .text = TT_TEXT_FIXED, .fixed = "<variant>")
TT_ATTRS(attrs_schema, "operation_attributes_t", ATTR_LIST);

static bool is_quant(enum tt_binary_fn fn)
{
	return fn == TT_BINARY_QUANT || fn == TT_BINARY_REQUANT || fn == TT_BINARY_DEQUANT;
}

static bool is_where(enum tt_binary_fn fn)
{
	return fn == TT_BINARY_WHERE_TST || fn == TT_BINARY_WHERE_TTS;
}

/* ---- broadcasting inside of tiles ------------------------------------------------------------------ */

enum subtile {
	SUBTILE_NONE,
	SUBTILE_SCALAR_A,
	SUBTILE_SCALAR_B,
	SUBTILE_ROW_A_COL_B,
	SUBTILE_ROW_B_COL_A,
	SUBTILE_ROW_A,
	SUBTILE_ROW_B,
	SUBTILE_COL_A,
	SUBTILE_COL_B,
};

static const struct tt_enum_row subtile_rows[] = {
	{SUBTILE_NONE, "NONE"},
	{SUBTILE_SCALAR_A, "SCALAR_A"},
	{SUBTILE_SCALAR_B, "SCALAR_B"},
	{SUBTILE_ROW_A_COL_B, "ROW_A_COL_B"},
	{SUBTILE_ROW_B_COL_A, "ROW_B_COL_A"},
	{SUBTILE_ROW_A, "ROW_A"},
	{SUBTILE_ROW_B, "ROW_B"},
	{SUBTILE_COL_A, "COL_A"},
	{SUBTILE_COL_B, "COL_B"},
};
static const struct tt_enum subtile_enum = {"SubtileBroadcastType", subtile_rows,
					    sizeof(subtile_rows) / sizeof(subtile_rows[0])};

/*
 * Which operand is a row, a column or a single value within a tile: kernels are chosen by that
 * (SubtileBroadcastType). The rows are tried in order: 1 demands that extent to be 1, 0 demands
 * nothing. Outer dimensions do not matter, as whole tiles are read again for those.
 */
static tt_status subtile_of(enum subtile *out, const struct ttnn_shape *a,
			    const struct ttnn_shape *b)
{
	static const struct {
		bool ah, aw, bh, bw;
		enum subtile kind;
	} order[] = {
		{1, 1, 0, 0, SUBTILE_SCALAR_A},    {0, 0, 1, 1, SUBTILE_SCALAR_B},
		{1, 0, 0, 1, SUBTILE_ROW_A_COL_B}, {0, 1, 1, 0, SUBTILE_ROW_B_COL_A},
		{1, 0, 0, 0, SUBTILE_ROW_A},       {0, 1, 0, 0, SUBTILE_COL_A},
		{0, 0, 1, 0, SUBTILE_ROW_B},       {0, 0, 0, 1, SUBTILE_COL_B},
	};
	uint32_t ah = tt_shape_last(a, 2), aw = tt_shape_last(a, 1);
	uint32_t bh = tt_shape_last(b, 2), bw = tt_shape_last(b, 1);

	*out = SUBTILE_NONE;
	if (ah == bh && aw == bw)
		return TTNN_OK;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if ((order[i].ah && ah != 1) || (order[i].aw && aw != 1) ||
		    (order[i].bh && bh != 1) || (order[i].bw && bw != 1))
			continue;
		*out = order[i].kind;
		return TTNN_OK;
	}
	return tt_fail(TTNN_INVALID, "Invalid subtile broadcast type");
}

/* ---- where the result lies --------------------------------------------------------------------------- */

static bool sharded(const struct tt_tensor *tensor)
{
	return tensor && tt_memory_config_is_sharded(&tensor->spec.memory);
}

/* Nothing was said: as the first operand lies, unless the second is sharded and the better guide. */
static tt_status memory_of_operands(struct ttnn_memory_config *out,
				    const struct tt_binary_args *args,
				    const struct ttnn_shape *shape)
{
	const struct tt_tensor *a = args->a, *b = args->b;

	if (b && sharded(b)) {
		bool lead = sharded(a) ? tt_shard_cores(b) > tt_shard_cores(a) && tt_shard_cores(a)
				       : a->spec.memory.buffer == TTNN_DRAM;

		if (lead)
			return tt_eltwise_memory_like(out, &b->spec, shape);
	}
	if (b && sharded(a))
		return tt_eltwise_memory_like(out, &a->spec, shape);
	*out = a->spec.memory;
	return TTNN_OK;
}

/* A sharded config without a shard spec takes one from an operand, or spreads over the cores. */
static tt_status complete_memory(struct ttnn_memory_config *memory,
				 const struct tt_binary_args *args, const struct ttnn_shape *shape,
				 enum ttnn_layout layout)
{
	struct ttnn_tensor_spec plain;

	if (sharded(args->a))
		return tt_eltwise_memory_like(memory, &args->a->spec, shape);
	if (sharded(args->b))
		return tt_eltwise_memory_like(memory, &args->b->spec, shape);
	TT_TRY(tt_spec_simple(&plain, shape, args->a->spec.dtype, layout,
			      &(struct ttnn_memory_config){0}));
	return tt_eltwise_spread(memory, tt_tensor_device(args->a), &plain, 1);
}

static bool open_ended(const struct ttnn_memory_config *memory)
{
	return tt_memory_config_is_sharded(memory) && !memory->has_shard && !memory->has_nd_shard;
}

/* The config in the attributes: with a scalar, what is missing stays missing there. */
static tt_status memory_of(struct ttnn_memory_config *out, const struct tt_binary_args *args,
			   const struct ttnn_shape *shape, enum ttnn_layout layout)
{
	if (args->memory) {
		*out = *args->memory;
		if (args->b && open_ended(out))
			return complete_memory(out, args, shape, layout);
		return TTNN_OK;
	}
	if (args->output) {
		*out = args->output->spec.memory;
		return TTNN_OK;
	}
	return memory_of_operands(out, args, shape);
}

/* ---- the result's spec --------------------------------------------------------------------------------- */

static bool same_extents(const struct ttnn_shape *a, const struct ttnn_shape *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	for (uint32_t back = 1; back <= rank; back++)
		if (tt_shape_last(a, back) != tt_shape_last(b, back))
			return false;
	return true;
}

static enum ttnn_dtype dtype_of(const struct tt_binary_args *args, enum ttnn_dtype input)
{
	bool whole = args->a->spec.dtype == TTNN_INT32 &&
		     (!args->b || args->b->spec.dtype == TTNN_INT32);

	if (args->fn == TT_BINARY_DIV && whole)
		return TTNN_FLOAT32;
	return args->dtype ? *args->dtype : input;
}

/* The dtype of where() is its second operand's; a memory config without shards is completed. */
static tt_status spec_of(struct ttnn_tensor_spec *out, const struct tt_binary_args *args,
			 const struct ttnn_memory_config *memory, const struct ttnn_shape *shape,
			 enum ttnn_layout layout)
{
	struct ttnn_spec_args spec = {.shape = *shape, .layout = layout, .memory = *memory};

	if (args->output) {
		*out = args->output->spec;
		return TTNN_OK;
	}
	spec.dtype = dtype_of(args, is_where(args->fn) ? args->b->spec.dtype : args->a->spec.dtype);
	if (open_ended(&spec.memory))
		TT_TRY(complete_memory(&spec.memory, args, shape, layout));
	return ttnn_tensor_spec_make(out, &spec);
}

/* ---- shards worked on where they lie ----------------------------------------------------------------------- */

static bool in_l1(const struct ttnn_tensor_spec *spec)
{
	return spec->memory.buffer != TTNN_DRAM;
}

static bool same_grid(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *out)
{
	return !a->memory.has_shard || a->memory.shard.grid == out->memory.shard.grid;
}

static bool on_own_shards(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *out)
{
	return a->memory.has_shard && in_l1(a) && in_l1(out) && !tt_eltwise_uneven(a) &&
	       a->memory.layout == out->memory.layout && same_grid(a, out);
}

/* Two tensors that lie alike; uneven shards only if the result lies so too. */
static bool on_equal_shards(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b,
			    const struct ttnn_tensor_spec *out)
{
	bool uneven = tt_eltwise_uneven(a) || tt_eltwise_uneven(b) || tt_eltwise_uneven(out);

	if (!ttnn_shape_equal(&a->shape, &b->shape) ||
	    !ttnn_memory_config_equal(&a->memory, &b->memory))
		return false;
	if (!in_l1(a) || !in_l1(out) || !same_grid(a, out))
		return false;
	if (tt_memory_config_is_sharded(&a->memory) && !a->memory.has_shard)
		return false;
	return !uneven || ttnn_memory_config_equal(&a->memory, &out->memory);
}

/*
 * Whether every operand is worked on where its shard lies. A column or value of b may come from
 * elsewhere.
 */
static bool native(const struct ttnn_tensor_spec *a, const struct ttnn_tensor_spec *b,
		   const struct ttnn_tensor_spec *out, enum subtile subtile)
{
	if (!out->memory.has_shard)
		return false;
	if (!b)
		return on_own_shards(a, out);
	if (on_equal_shards(a, b, out))
		return true;
	return (subtile == SUBTILE_COL_B || subtile == SUBTILE_SCALAR_B) &&
	       a->memory.layout == TTNN_HEIGHT_SHARDED &&
	       !tt_memory_config_is_sharded(&b->memory) &&
	       ttnn_shape_equal(&a->shape, &out->shape) && on_own_shards(a, out);
}

/* The tiles of a shard in the attributes; none unless it is worked on where it lies. */
static struct ttnn_value volume(const struct ttnn_tensor_spec *spec, bool is_native)
{
	if (!is_native || !spec || !spec->memory.has_shard)
		return ttnn_v_none();
	return ttnn_v_int((int64_t)tt_shard_tiles(spec));
}

/* ---- refusals ---------------------------------------------------------------------------------------------- */

static const char *fn_name(enum tt_binary_fn fn)
{
	return tt_enum_name(&tt_enum_binary, (int64_t)fn);
}

/* What each function takes is in binary_fn.c: the type of each operand, and which ones mix. */
static tt_status check_dtypes(enum tt_binary_fn fn, enum ttnn_dtype a, enum ttnn_dtype b)
{
	TT_REQUIRE(
		tt_binary_takes(fn, a),
		"ttnn::operations::binary::dtype_policy::is_supported(attributes.binary_op_type, input_tensor_a.dtype())",
		"Input tensor A dtype DataType::%s is not supported for binary operation "
		"BinaryOpType::%s",
		tt_dtype_text(a), fn_name(fn));
	TT_REQUIRE(
		tt_binary_takes(fn, b),
		"ttnn::operations::binary::dtype_policy::is_supported(attributes.binary_op_type, dtype_b)",
		"Input tensor B dtype DataType::%s is not supported for binary operation "
		"BinaryOpType::%s",
		tt_dtype_text(b), fn_name(fn));
	TT_REQUIRE(tt_binary_mixes(fn, a, b),
		   "ttnn::operations::binary::utils::is_dtype_combination_supported( "
		   "attributes.binary_op_type, input_tensor_a.dtype(), dtype_b)",
		   "Mixed dtype is not supported for binary operation BinaryOpType::%s, dtype A: "
		   "DataType::%s, dtype B: DataType::%s",
		   fn_name(fn), tt_dtype_text(a), tt_dtype_text(b));
	return TTNN_OK;
}

/*
 * As NumPy; from the seventh dimension on shapes must agree, which upstream asks dimension by
 * dimension from the back.
 */
static tt_status check_broadcast(const struct ttnn_shape *a, const struct ttnn_shape *b)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	for (uint32_t back = 1; back <= rank; back++) {
		uint32_t left = tt_shape_last(a, back), right = tt_shape_last(b, back);

		TT_REQUIRE(left == right || left == 1 || right == 1,
			   "a_dim == b_dim || a_dim == 1 || b_dim == 1",
			   "Broadcasting rule violation at dimension index -%u (output rank %u), "
			   "dim a: %u, dim b: %u",
			   back, rank, left, right);
		TT_REQUIRE(back < 7 || left == right, "a_dim == b_dim",
			   "Broadcasting rule violation for rank >= 7 at dimension index -%u "
			   "(output rank %u). Broadcast is supported up to rank 6. dim a: %u, dim "
			   "b: %u",
			   back, rank, left, right);
	}
	return TTNN_OK;
}

/* isclose: both tolerances are finite and not negative. */
static tt_status check_tolerance(bool relative, double value)
{
	if (isfinite(value) && value >= 0)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID,
			    relative ? "std::isfinite(attributes.rtol) && attributes.rtol >= 0.0f"
				     : "std::isfinite(attributes.atol) && attributes.atol >= 0.0f",
			    "isclose: %s must be a finite, non-negative value, got %g",
			    relative ? "rtol" : "atol", value);
}

/* In upstream's order. */
static tt_status binary_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *b = launch->inputs[1] ? &launch->inputs[1]->spec : NULL;
	enum tt_binary_fn fn = (enum tt_binary_fn)launch->attrs[FN].integer;

	/* The predicate of a where may be of any type that the function takes. */
	TT_TRY(check_dtypes(fn, a->dtype, b ? b->dtype : a->dtype));
	if (b)
		TT_TRY(check_broadcast(&a->shape, &b->shape));
	TT_REQUIRE(!b || tt_tensor_device(launch->inputs[0]) == tt_tensor_device(launch->inputs[1]),
		   "input_tensor_a.device() == input_tensor_b->device()",
		   "Operands to eltwise binary need to be on the same device!");
	if (fn == TT_BINARY_ISCLOSE) {
		TT_TRY(check_tolerance(true, launch->attrs[RTOL].real));
		TT_TRY(check_tolerance(false, launch->attrs[ATOL].real));
	}
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* The number's tile: as the operand on the vector unit, else bfloat16; quantising wants float32. */
static enum ttnn_dtype scalar_dtype(const struct tt_launch *launch)
{
	enum ttnn_dtype a = launch->inputs[0]->spec.dtype;

	if (launch->attrs[QUANT].boolean)
		return TTNN_FLOAT32;
	return launch->attrs[SFPU].boolean && !tt_dtype_is_block(a) ? a : TTNN_BFLOAT16;
}

/* Which tensors are worked on in the shards where they are, and the pages of each buffer. */
struct in_place {
	bool a, b, out;
	uint64_t pages_a, pages_b, pages_out;
};

/* Operands in their shards have as many pages as these. */
static struct in_place in_place(const struct tt_launch *launch)
{
	struct in_place here = {.pages_a = 2, .pages_b = 2, .pages_out = 2};

	if (!launch->inputs[1])
		here.pages_b = 1;
	if (!tt_value_given(&launch->attrs[VOLUME_OUT]))
		return here;
	here.out = true;
	here.pages_out = tt_shard_tiles(&launch->outputs[0]->spec);
	here.a = tt_value_given(&launch->attrs[VOLUME_A]);
	here.b = tt_value_given(&launch->attrs[VOLUME_B]);
	if (here.a)
		here.pages_a = tt_shard_tiles(&launch->inputs[0]->spec);
	if (here.b)
		here.pages_b = tt_shard_tiles(&launch->inputs[1]->spec);
	return here;
}

/*
 * Buffers between appear where a function needs its operands prepared (binary_fn.c), or an
 * activation comes first; broadcast rows and columns have one each.
 */
static tt_status binary_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[0], *b = launch->inputs[1], *out = launch->outputs[0];
	enum ttnn_dtype dtype_a = a->spec.dtype;
	enum subtile subtile = (enum subtile)launch->attrs[SUBTILE].integer;
	struct tt_binary_stages stages = tt_binary_stages(
		(enum tt_binary_fn)launch->attrs[FN].integer, dtype_a, launch->attrs[SFPU].boolean);
	bool stage_a = stages.a || launch->attrs[PRE_A].count;
	bool stage_b = stages.b || launch->attrs[PRE_B].count;
	bool spread_a = subtile == SUBTILE_SCALAR_A || subtile == SUBTILE_ROW_A ||
			subtile == SUBTILE_COL_A || subtile == SUBTILE_ROW_A_COL_B;
	bool spread_b = subtile == SUBTILE_SCALAR_B || subtile == SUBTILE_ROW_B ||
			subtile == SUBTILE_COL_B || subtile == SUBTILE_ROW_B_COL_A;
	uint64_t page_a = tt_tile_bytes_of(dtype_a), bf16 = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t page_b = tt_tile_bytes_of(b ? b->spec.dtype : scalar_dtype(launch)), ahead = 1;
	struct in_place here = in_place(launch);

	/* Several tiles at a time where all of them lie here anyway. */
	if (here.a && here.out && (here.b || !b) && subtile == SUBTILE_NONE &&
	    !launch->attrs[WHERE].boolean)
		ahead = launch->attrs[SFPU].boolean ? 2 : 8;
	return TT_PLAN(plan, launch->grid,
		       TT_CB_ROW(0, "cb_src_a", .pages = here.pages_a, .page = page_a,
				 .backing = here.a ? a : NULL),
		       TT_CB_ROW(3, "cb_lhs_intermediate", .pages = stage_a ? ahead : 0,
				 .page = stages.in_bf16 ? bf16 : page_a),
		       TT_CB_ROW(1, "cb_src_b", .pages = here.pages_b, .page = page_b,
				 .backing = here.b ? b : NULL),
		       TT_CB_ROW(4, "cb_rhs_intermediate", .pages = stage_b ? ahead : 0,
				 .page = stages.in_bf16 ? bf16 : page_b),
		       TT_CB_ROW(5, "cb_lhs_bcast", .pages = spread_a ? 2 : 0, .page = page_a),
		       TT_CB_ROW(6, "cb_rhs_bcast", .pages = spread_b ? 2 : 0, .page = page_b),
		       TT_CB_ROW(2, "cb_out", .pages = here.pages_out,
				 .page = tt_tile_bytes_of(out->spec.dtype),
				 .backing = here.out ? out : NULL));
}

/* ---- running ------------------------------------------------------------------------------------------------ */

/* What the launcher worked out. */
struct prepared {
	struct ttnn_tensor_spec spec; /* of the output */
	struct ttnn_shape shape;      /* that the operands have together */
	bool given;                   /* the caller gave the output */
};

static tt_status check_output(const struct prepared *prepared)
{
	if (!prepared->given || same_extents(&prepared->spec.shape, &prepared->shape))
		return TTNN_OK;
	return tt_fail_shapes(TTNN_INVALID, "shapes_equal(shape, output_shape)",
			      "Shape of Output tensor %s provided does not match the broadcasted "
			      "output shape %s",
			      &prepared->spec.shape, &prepared->shape);
}

/*
 * The launcher has worked the spec out: how many tiles a shard of the result has is an
 * attribute, and attributes show when the scope begins, before anything is inferred. What is
 * left to do here is the refusal that upstream makes at this point.
 */
static tt_status binary_infer(struct tt_launch *launch)
{
	const struct prepared *prepared = launch->extra;

	launch->specs[0] = prepared->spec;
	return check_output(prepared);
}

/* The chip rounds to bytes, whatever the type of the result is: those with a sign have no -128. */
static struct tt_unary_step within_byte(enum ttnn_dtype dtype)
{
	if (dtype == TTNN_UINT8)
		return (struct tt_unary_step){TT_UNARY_CLAMP_TSS, 2, {0, 255}};
	return (struct tt_unary_step){TT_UNARY_CLAMP_TSS, 2, {-127, 127}};
}

/*
 * Division of whole numbers and quantization compute in reals. The chains before and after
 * belong to the operands and the result: backends take all of it as one job, element by element.
 */
static tt_status binary_kernel(struct tt_launch *launch)
{
	struct tt_unary_step pre[2][TT_UNARY_STEPS_MAX], post[TT_UNARY_STEPS_MAX];
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_map_job job = {.out = launch->outputs[0],
				 .arity = 2,
				 .in = {launch->inputs[0], launch->inputs[1]},
				 .op = (uint32_t)attrs[FN].integer,
				 .pre = {pre[0], pre[1]},
				 .post = post};
	size_t counts[3];

	TT_TRY(tt_unary_steps(pre[0], &counts[0], &attrs[PRE_A]));
	TT_TRY(tt_unary_steps(pre[1], &counts[1], &attrs[PRE_B]));
	TT_TRY(tt_unary_steps(post, &counts[2], &attrs[POST]));
	if (tt_value_given(&attrs[SCALAR])) {
		job.scalar[1] = attrs[SCALAR].real;
		job.params[0] = attrs[SCALAR].real; /* of WHERE_TTS and WHERE_TST */
	}
	if (job.op == TT_BINARY_ISCLOSE) {
		job.params[0] = attrs[RTOL].real;
		job.params[1] = attrs[ATOL].real;
		job.params[2] = attrs[EQUAL_NAN].boolean;
	}
	if (attrs[SCALAR_FIRST].boolean) {
		job.in[1] = job.in[0];
		job.in[0] = NULL;
		job.scalar[0] = job.scalar[1];
	}
	job.as_float = job.op == TT_BINARY_DIV || attrs[QUANT].boolean;
	if (attrs[QUANT].boolean) {
		/* the zero point is part of the function; scales come as what to multiply by */
		job.params[0] =
			job.op == TT_BINARY_DEQUANT ? -post[0].params[0] : post[0].params[0];
		counts[2] = job.op != TT_BINARY_DEQUANT;
		post[0] = within_byte(launch->outputs[0]->spec.dtype);
		job.op = job.op == TT_BINARY_DEQUANT ? TT_BINARY_DEQUANT : TT_BINARY_REQUANT;
	}
	job.pre_count[0] = (uint32_t)counts[0];
	job.pre_count[1] = (uint32_t)counts[1];
	job.post_count = (uint32_t)counts[2];
	return tt_backend_get()->map(&job);
}

/* Neither shapes nor the scalar: those are arguments of each run of the program. */
static void binary_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	bool inside = attrs[QUANT].boolean || attrs[WHERE].boolean;

	tt_key_values(key, &attrs[FN], POST - FN);
	if (!inside)
		tt_key_values(key, &attrs[POST], 1);
	tt_key_values(key, &attrs[MEMORY], 1);
	tt_key_number(key, (uint64_t)launch->outputs[0]->spec.dtype);
	tt_key_values(key, &attrs[GRID], RTOL - GRID);
	tt_key_values(key, &attrs[EQUAL_NAN], attrs_schema_count - EQUAL_NAN);
	tt_key_layout(key, &launch->inputs[0]->spec);
	if (launch->inputs[1])
		tt_key_layout(key, &launch->inputs[1]->spec);
	/* The config of a given tensor also names its shards in n dimensions; a derived one does not. */
	if (attrs[MEMORY].memory->has_shard)
		tt_key_number(key, ((const struct prepared *)launch->extra)->given);
}

#define PROGRAM(name_, prim_, args_)                                                               \
	{                                                                                          \
		.device_op = name_, .prim = prim_, .attrs = &attrs_schema, .infer = binary_infer,  \
		.validate = binary_validate,                                                       \
		TT_FACTORY("ttnn::operations::binary_ng::BinaryNgDeviceOperation::ProgramFactory", \
			   binary_memory),                                                         \
		.key = binary_key, TT_KERNEL(binary_kernel), .prim_args = args_                    \
	}
static const struct tt_prog program =
	PROGRAM("BinaryNgDeviceOperation", "ttnn::prim::binary_ng", 0);
static const struct tt_prog classic = PROGRAM("BinaryDeviceOperation", "ttnn::prim::binary", 10);

/* ---- launching ----------------------------------------------------------------------------------------------- */

/* Both on a device. */
static tt_status check_operand(const struct tt_tensor *tensor, bool first)
{
	if (!tensor)
		return TTNN_OK;
	TT_REQUIRE(tt_tensor_device(tensor),
		   first ? "input_tensor_a.storage_type() == StorageType::DEVICE"
			 : "input_tensor_b.storage_type() == StorageType::DEVICE",
		   "Input tensor %c must be on device, got storage type: StorageType::HOST",
		   first ? 'A' : 'B');
	return TTNN_OK;
}

/* With a number for the other operand the text does not say which. */
static tt_status check_allocated(const struct tt_tensor *tensor, bool first, bool both)
{
	if (!tensor || tt_tensor_buffer(tensor))
		return TTNN_OK;
	if (!both)
		return tt_fail_cond(TTNN_INVALID, "input_tensor_a.is_allocated()",
				    "Input Tensor is not allocated");
	return tt_fail_cond(TTNN_INVALID,
			    first ? "input_tensor_a.is_allocated()"
				  : "input_tensor_b.is_allocated()",
			    "Input Tensor %c is not allocated", first ? 'A' : 'B');
}

/* fast_and_approximate_mode=false is for bfloat16 results. */
static tt_status check_accurate(const struct tt_binary_args *args)
{
	enum ttnn_dtype out =
		args->output ? args->output->spec.dtype : dtype_of(args, args->a->spec.dtype);

	if (!args->accurate || out == TTNN_BFLOAT16)
		return TTNN_OK;
	return tt_fail_cond(
		TTNN_INVALID, "output_dtype == DataType::BFLOAT16",
		"fast_and_approximate_mode=false is only supported for a BFLOAT16 output on "
		"binary operation BinaryOpType::%s, got output dtype DataType::%s. The "
		"accurate path exists to round the bfloat16 result to nearest even, so it "
		"has no effect for other output dtypes; leave the flag unset (or pass true) "
		"for those.",
		fn_name(args->fn), tt_dtype_text(out));
}

static enum ttnn_layout layout_of(const struct tt_binary_args *args)
{
	bool rows = args->a->spec.layout == TTNN_ROW_MAJOR &&
		    (!args->b || args->b->spec.layout == TTNN_ROW_MAJOR);

	if (args->output)
		return args->output->spec.layout;
	return rows ? TTNN_ROW_MAJOR : TTNN_TILE;
}

/*
 * Attributes that do not depend on where things are. Upstream's struct has more than the kernel
 * needs: is_sfpu says which unit computes, input_dtype what the first operand is, and all of
 * them print.
 */
static void fill_plain(struct ttnn_value *attrs, const struct tt_binary_args *args,
		       const ttnn_core_set *grid)
{
	enum ttnn_dtype a = args->a->spec.dtype, b = args->b ? args->b->spec.dtype : a;
	bool where = is_where(args->fn);
	const struct tt_device *device = tt_tensor_device(args->a);

	attrs[FN] = tt_value_enum(&tt_enum_binary, (int64_t)args->fn);
	attrs[SCALAR] = !args->b || where ? ttnn_v_real(args->scalar) : ttnn_v_none();
	attrs[INPUT_DTYPE] = ttnn_v_dtype(where ? b : a);
	attrs[DTYPE] = args->dtype ? ttnn_v_dtype(*args->dtype) : ttnn_v_none();
	attrs[GRID] = ttnn_v_core_set(grid ? grid : device->grid);
	attrs[COMPUTE] = ttnn_v_none();
	attrs[SUB_DEVICE] = args->sub_device ? *args->sub_device : ttnn_v_none();
	attrs[SUB_GRID] = ttnn_v_core_set(grid);
	attrs[SCALAR_FIRST] = ttnn_v_bool(args->scalar_first);
	attrs[SFPU] = ttnn_v_bool(args->accurate || tt_binary_on_sfpu(args->fn, a, b, args->fast));
	attrs[QUANT] = ttnn_v_bool(is_quant(args->fn));
	attrs[WHERE] = ttnn_v_bool(where);
	attrs[RTOL] = ttnn_v_real(args->params[0]);
	attrs[ATOL] = ttnn_v_real(args->params[1]);
	attrs[EQUAL_NAN] = ttnn_v_bool(args->params[2] != 0);
	attrs[LAYOUT_A] = ttnn_v_layout(args->a->spec.layout);
	attrs[LAYOUT_B] =
		args->b ? ttnn_v_layout(args->b->spec.layout) : tt_value_enum(&tt_enum_layout, 2);
	attrs[VARIANT] = args->variant ? ttnn_v_bool(args->fast) : ttnn_v_none();
}

/* Shard volumes are attributes: they tell upstream's factory what lies where. */
static void fill_shards(struct ttnn_value *attrs, struct ttnn_shape *pages,
			const struct tt_binary_args *args, const struct ttnn_tensor_spec *out,
			enum subtile subtile)
{
	const struct ttnn_tensor_spec *a = &args->a->spec, *b = args->b ? &args->b->spec : NULL;
	bool is_native = native(a, b, out, subtile);

	attrs[VOLUME_A] = volume(a, is_native);
	attrs[VOLUME_B] = volume(b, is_native);
	attrs[VOLUME_OUT] = volume(out, is_native);
	attrs[PAGES] = !is_native && tt_memory_config_is_sharded(&out->memory) &&
				       tt_eltwise_pages(pages, out)
			       ? ttnn_v_shape(pages)
			       : ttnn_v_none();
}

/* The cores that the caller gave, by themselves or as a sub-device; NULL: all. */
static tt_status sub_device_cores(const ttnn_core_set **out, const struct tt_binary_args *args)
{
	int64_t id;

	*out = args->grid;
	if (!args->sub_device)
		return TTNN_OK;
	TT_REQUIRE(!args->grid, "!sub_core_grids.has_value()",
		   "Cannot specify both sub_core_grids and sub_device_id");
	TT_NEED(tt_value_integer(&id, args->sub_device) && id >= 0,
		"sub_device_id is no number of a sub-device");
	return tt_device_sub_device(out, tt_tensor_device(args->a), (uint64_t)id);
}

/*
 * What upstream does before its program: refusals, shape, layout, memory, attributes, in the
 * order in which a program that breaks several rules is refused.
 */
tt_status tt_binary_launch(struct tt_tensor **out, struct tt_call *call,
			   const struct tt_binary_args *args)
{
	struct tt_tensor *const inputs[] = {args->a, args->b};
	struct ttnn_value attrs[attrs_schema_count];
	struct ttnn_memory_config memory;
	struct prepared prepared;
	struct ttnn_shape *shape = &prepared.shape, pages;
	enum ttnn_layout layout;
	enum subtile subtile = SUBTILE_NONE;
	bool old = tt_is_classic(call->device);
	const ttnn_core_set *grid;

	TT_TRY(check_operand(args->a, true));
	TT_TRY(check_operand(args->b, false));
	TT_TRY(check_allocated(args->a, true, args->b != NULL));
	TT_TRY(check_allocated(args->b, false, true));
	TT_TRY(sub_device_cores(&grid, args));
	if (args->b)
		TT_TRY(subtile_of(&subtile, &args->a->spec.shape, &args->b->spec.shape));
	TT_TRY(check_accurate(args));
	*shape = args->a->spec.shape;
	if (args->b)
		tt_eltwise_shape(shape, &args->a->spec.shape, &args->b->spec.shape);
	layout = layout_of(args);
	TT_TRY(memory_of(&memory, args, shape, layout));
	TT_TRY(spec_of(&prepared.spec, args, &memory, shape, layout));
	prepared.given = args->output;
	/* of two tensors upstream looks at the output before the program begins */
	if (args->b)
		TT_TRY(check_output(&prepared));
	fill_plain(attrs, args, grid);
	TT_TRY(tt_unary_activations(&attrs[PRE_A], call->arena, args->pre_a));
	TT_TRY(tt_unary_activations(&attrs[PRE_B], call->arena, args->pre_b));
	TT_TRY(tt_unary_activations(&attrs[POST], call->arena, args->post));
	attrs[MEMORY] = ttnn_v_memory(&memory);
	attrs[SUBTILE] = tt_value_enum(&subtile_enum, subtile);
	attrs[LAYOUT_OUT] = ttnn_v_layout(layout);
	fill_shards(attrs, &pages, args, &prepared.spec, subtile);
	return TT_LAUNCH(out, call, old ? &classic : &program, .attrs = attrs, .inputs = inputs,
			 .input_count = 2, TT_OUTPUTS(args->output), .grid = grid,
			 .extra = &prepared);
}
