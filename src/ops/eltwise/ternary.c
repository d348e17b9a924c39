/*
 * ternary.c: the program of three-operand element-wise operations: where, lerp, addcmul and
 * their kin, with tensors or scalars in the second and third place.
 *
 * Models TernaryDeviceOperation of ttnn 0.81 (eltwise/ternary/device) with
 * TernaryProgramFactory: specs, refusals, memory, cores. Variants (all tensors; a scalar second,
 * third, or both) are an attribute. Not modelled: what the units round on the way.
 */
#include "ops/eltwise/ternary.h"

#include "backend/backend.h"
#include "ops/eltwise/eltwise.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

#define ATTR_LIST(X)                                                                               \
	X(FN, "ternary_op_type")                                                                   \
	X(OPERANDS, "ternary_variant")                                                             \
	X(BROADCAST, "broadcast_type")                                                             \
	X(MEMORY, "memory_config")                                                                 \
	X(INPUT_DTYPE, "input_dtype")                                                              \
	X(GRID, "worker_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")                   \
	X(DTYPE, "dtype")                                                                          \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SUB_GRID, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")            \
	X(SCALAR_A, "scalar_input_a", .text = TT_TEXT_FIXED, .fixed = "<variant>")                 \
	X(SCALAR_B, "scalar_input_b", .text = TT_TEXT_FIXED, .fixed = "<variant>")
TT_ATTRS(attrs_schema, "operation_attributes_t", ATTR_LIST);

/* Which operands are tensors (T) and which a scalar (S). */
enum operands { TTT, TTS, TST };
static const struct tt_enum_row operand_rows[] = {{TTT, "TTT"}, {TTS, "TTS"}, {TST, "TST"}};
static const struct tt_enum operand_enum = {"TernaryVariant", operand_rows, 3};

static const struct tt_enum_row broadcast_rows[] = {
	{TT_TERNARY_NONE, "NONE"},
	{TT_TERNARY_OUTER, "OUTER_BCAST"},
	{TT_TERNARY_ROW, "ROW_BCAST"},
	{TT_TERNARY_COL, "COL_BCAST"},
	{TT_TERNARY_SCALAR, "SCALAR_BCAST"},
	{TT_TERNARY_SCALAR_A, "SCALAR_A_BCAST"},
	{TT_TERNARY_SCALAR_B, "SCALAR_B_BCAST"},
	{TT_TERNARY_ROW_COL, "ROW_COL_BCAST"},
	{TT_TERNARY_INVALID, "INVALID_BCAST"},
};
static const struct tt_enum broadcast_enum = {"TernaryBroadcastType", broadcast_rows,
					      sizeof(broadcast_rows) / sizeof(broadcast_rows[0])};

/* ---- broadcasting ---------------------------------------------------------------------------------- */

/* The tensors among the operands; returns how many. */
static size_t tensors_of(struct tt_tensor *out[3], const struct tt_ternary_args *args)
{
	struct tt_tensor *const all[] = {args->a, args->b, args->c};
	size_t count = 0;

	for (int i = 0; i < 3; i++)
		if (all[i])
			out[count++] = all[i];
	return count;
}

static enum tt_ternary_broadcast scalar_kind(struct tt_tensor *const *tensors, size_t count)
{
	const struct ttnn_shape *first = &tensors[0]->spec.shape;
	bool is_first = tt_shape_last(first, 1) == 1 && tt_shape_last(first, 2) == 1;

	return count == 3 ? TT_TERNARY_SCALAR
	       : is_first ? TT_TERNARY_SCALAR_A
			  : TT_TERNARY_SCALAR_B;
}

/*
 * Which dimensions of which operand repeat: upstream's kernels are named by it, and some have
 * none.
 */
enum tt_ternary_broadcast tt_ternary_broadcast(const struct tt_ternary_args *args)
{
	struct tt_tensor *tensors[3] = {0};
	size_t count = tensors_of(tensors, args);
	uint32_t h = 1, w = 1, kinds = 0;
	bool same = true;

	for (size_t i = 0; i < count; i++) {
		const struct ttnn_shape *shape = &tensors[i]->spec.shape;

		h = tt_shape_last(shape, 2) > h ? tt_shape_last(shape, 2) : h;
		w = tt_shape_last(shape, 1) > w ? tt_shape_last(shape, 1) : w;
		same &= ttnn_shape_equal(shape, &tensors[0]->spec.shape);
	}
	if (same)
		return TT_TERNARY_NONE;
	for (size_t i = 0; i < count; i++) {
		uint32_t height = tt_shape_last(&tensors[i]->spec.shape, 2);
		uint32_t width = tt_shape_last(&tensors[i]->spec.shape, 1);

		if ((height != h && height != 1) || (width != w && width != 1))
			return TT_TERNARY_INVALID;
		if (height != h || width != w)
			kinds |= 1u << ((height != h) | (width != w) << 1);
	}
	switch (kinds) {
	case 0:
		return TT_TERNARY_OUTER;
	case 1 << 1:
		return TT_TERNARY_ROW;
	case 1 << 2:
		return TT_TERNARY_COL;
	case 1 << 3:
		return scalar_kind(tensors, count);
	default:
		return TT_TERNARY_ROW_COL;
	}
}

/* The shape of the result; refuses extents that do not go together. */
static tt_status shape_of(struct ttnn_shape *out, const struct tt_ternary_args *args)
{
	struct tt_tensor *tensors[3] = {0};
	size_t count = tensors_of(tensors, args);
	uint32_t rank = 0;

	for (size_t i = 0; i < count; i++)
		if (tensors[i]->spec.shape.rank > rank)
			rank = tensors[i]->spec.shape.rank;
	out->rank = rank;
	for (uint32_t back = 1; back <= rank; back++) {
		uint32_t dims[3] = {1, 1, 1}, most = 1;

		for (size_t i = 0; i < count; i++) {
			dims[i] = tt_shape_last(&tensors[i]->spec.shape, back);
			most = dims[i] != 1 ? dims[i] : most;
		}
		for (size_t i = 0; i < count; i++)
			TT_REQUIRE(dims[i] == most || dims[i] == 1, "compatible",
				   "Broadcasting rule violation at dimension index -%u (output "
				   "rank %u), dim a: %u, dim b: %u, dim c: %u",
				   back, rank, dims[0], dims[1], dims[2]);
		out->dim[rank - back] = most;
	}
	return TTNN_OK;
}

tt_status tt_ternary_check(const struct tt_ternary_args *args)
{
	struct ttnn_shape shape;

	return shape_of(&shape, args);
}

/* ---- where the result lies ------------------------------------------------------------------------------ */

static bool sharded(const struct tt_tensor *tensor)
{
	return tt_memory_config_is_sharded(&tensor->spec.memory);
}

/* Nothing was said: as the operand on the most cores lies, else as the first. */
static tt_status memory_of_operands(struct ttnn_memory_config *out,
				    const struct tt_ternary_args *args,
				    const struct ttnn_shape *shape)
{
	struct tt_tensor *tensors[3] = {0};
	size_t count = tensors_of(tensors, args), most = 0;
	const struct tt_tensor *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!sharded(tensors[i]) || (best && tt_shard_cores(tensors[i]) <= most))
			continue;
		best = tensors[i];
		most = tt_shard_cores(best);
	}
	if (best)
		return tt_eltwise_memory_like(out, &best->spec, shape);
	*out = args->a->spec.memory;
	return TTNN_OK;
}

/* Shards as those of the first sharded operand, else over the grid. */
static tt_status complete_memory(struct ttnn_memory_config *memory,
				 const struct tt_ternary_args *args, const struct ttnn_shape *shape)
{
	struct tt_tensor *tensors[3] = {0};
	size_t count = tensors_of(tensors, args);
	struct ttnn_tensor_spec plain;

	for (size_t i = 0; i < count; i++) {
		struct ttnn_memory_config like;

		if (!tensors[i]->spec.memory.has_shard)
			continue;
		TT_TRY(tt_eltwise_memory_like(&like, &tensors[i]->spec, shape));
		return ttnn_memory_config_sharded(memory, memory->layout, memory->buffer,
						  &like.shard);
	}
	TT_TRY(tt_spec_simple(&plain, shape, args->dtype, TTNN_TILE,
			      &(struct ttnn_memory_config){0}));
	return tt_eltwise_spread(memory, tt_tensor_device(args->a), &plain, 1);
}

/* Asked, given output, operands, in this order. */
static tt_status memory_of(struct ttnn_memory_config *out, const struct tt_ternary_args *args,
			   const struct ttnn_shape *shape)
{
	if (args->memory) {
		*out = *args->memory;
		if (tt_memory_config_is_sharded(out) && !out->has_shard && !out->has_nd_shard)
			return complete_memory(out, args, shape);
		return TTNN_OK;
	}
	if (args->output) {
		*out = args->output->spec.memory;
		return TTNN_OK;
	}
	return memory_of_operands(out, args, shape);
}

/* ---- specs and refusals ------------------------------------------------------------------------------------ */

/* Rows are possible only in shards. */
static tt_status ternary_infer(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = launch->extra;
	struct ttnn_spec_args args = {.shape = *shape, .layout = TTNN_TILE};

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	args.dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer;
	args.memory = *launch->attrs[MEMORY].memory;
	if (tt_memory_config_is_sharded(&args.memory))
		args.layout = launch->inputs[0]->spec.layout;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* A given output has the broadcast shape. */
static tt_status check_output(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	const struct ttnn_shape *shape = launch->extra;

	if (!ttnn_shape_equal(&out->shape, shape))
		return tt_fail_shapes(
			TTNN_INVALID, "optional_output_tensor_shape == computed_output_shape",
			"When preallocted output tensor is used, Ternary operation requires "
			"its shape to match the computed shape. Computed shape: %s, Shape "
			"in preallocated output tensor: %s",
			shape, &out->shape);
	TT_REQUIRE(sharded(launch->inputs[0]) || out->layout == TTNN_TILE,
		   "(optional_output_tensor.value().layout() == Layout::TILE)",
		   "Ternary operation requires output tensor to be in Tile layout when working "
		   "with non-sharded tensor.");
	return TTNN_OK;
}

/* alpha and beta are as the input, or as its last dimension. */
static tt_status check_snake(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[0]->spec.shape;
	const struct ttnn_shape *alpha = &launch->inputs[1]->spec.shape;
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32,
		   "a.dtype() == DataType::BFLOAT16 || a.dtype() == DataType::FLOAT32",
		   "snake_beta supports only BFLOAT16 or FLOAT32, got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, dtype));
	TT_REQUIRE(launch->inputs[1]->spec.dtype == dtype && launch->inputs[2]->spec.dtype == dtype,
		   "alpha.dtype() == a.dtype() && beta.dtype() == a.dtype()",
		   "snake_beta requires alpha.dtype == beta.dtype == input.dtype");
	if (!ttnn_shape_equal(alpha, &launch->inputs[2]->spec.shape))
		return tt_fail_shapes(TTNN_INVALID, "alpha.logical_shape() == beta.logical_shape()",
				      "snake_beta requires alpha.shape == beta.shape, got %s vs %s",
				      alpha, &launch->inputs[2]->spec.shape);
	TT_REQUIRE(in->rank >= 2, "a.logical_shape().rank() >= 2",
		   "snake_beta requires input rank >= 2, got rank %u", in->rank);
	TT_REQUIRE(tt_shape_last(in, 1) == tt_shape_last(alpha, 1), "a_shape[-1] == ab_shape[-1]",
		   "snake_beta requires input.W == alpha.W, got %u vs %u", tt_shape_last(in, 1),
		   tt_shape_last(alpha, 1));
	if (ttnn_shape_equal(in, alpha))
		return TTNN_OK;
	for (uint32_t i = 0; i + 1 < alpha->rank; i++)
		TT_REQUIRE(alpha->dim[i] == 1, "ab_shape[i] == 1",
			   "snake_beta v1 requires alpha/beta to either match input shape exactly "
			   "or have non-1 size only on the last dim (got dim %u = %u)",
			   i, alpha->dim[i]);
	return TTNN_OK;
}

/* In upstream's order. */
static tt_status ternary_validate(struct tt_launch *launch)
{
	const struct tt_tensor *a = launch->inputs[0];

	TT_REQUIRE(sharded(a) || a->spec.layout == TTNN_TILE, "input_a.layout() == Layout::TILE",
		   "Ternary operation requires tensor to be in Tile layout when working with "
		   "non-sharded input tensor. Input tensor layout: %d",
		   (int)a->spec.layout);
	TT_TRY(check_output(launch));
	return launch->attrs[FN].integer == TT_TERNARY_SNAKE_BETA ? check_snake(launch) : TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* All operands lie alike, full on every core, and so does the result. */
static bool native(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	if (!out->memory.has_shard || out->memory.buffer == TTNN_DRAM || tt_eltwise_uneven(out))
		return false;
	for (int i = 0; i < 3; i++) {
		const struct ttnn_tensor_spec *spec;

		if (i > 0 && !launch->inputs[i])
			continue;
		spec = &launch->inputs[i]->spec;
		if (!ttnn_shape_equal(&spec->shape, &a->shape) ||
		    !ttnn_memory_config_equal(&spec->memory, &a->memory) ||
		    spec->memory.buffer == TTNN_DRAM || tt_eltwise_uneven(spec) ||
		    (spec->memory.has_shard && spec->memory.shard.grid != out->memory.shard.grid))
			return false;
	}
	return launch->attrs[OPERANDS].integer == TTT || a->memory.has_shard;
}

/* Operands in order, without those that are numbers. */
static tt_status ternary_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *a = launch->inputs[0], *b = launch->inputs[1], *c = launch->inputs[2];
	struct tt_tensor *const tensors[] = {a, b ? b : c, b ? c : NULL, launch->outputs[0]};
	bool in_place = native(launch);
	struct {
		uint64_t pages, page;
		struct tt_tensor *backing;
	} of[TT_COUNT(tensors)] = {{0}};
	/* Rows that repeat are spread out first, all three operands alike. */
	uint64_t rows = tensors[2] && launch->attrs[BROADCAST].integer == TT_TERNARY_ROW ? 2 : 0;

	for (size_t i = 0; i < TT_COUNT(tensors); i++)
		if (tensors[i]) {
			bool shards = in_place && tensors[i]->spec.memory.has_shard;

			of[i].pages = shards ? tt_shard_tiles(&tensors[i]->spec) : 2;
			of[i].page = tt_tile_bytes_of(tensors[i]->spec.dtype);
			of[i].backing = shards ? tensors[i] : NULL;
		}
#define TENSOR(i) .pages = of[i].pages, .page = of[i].page, .backing = of[i].backing
	return TT_PLAN(plan, launch->grid, TT_CB_ROW(0, "cb_in0", TENSOR(0)),
		       TT_CB_ROW(1, "cb_in1", TENSOR(1)), TT_CB_ROW(2, "cb_in2", TENSOR(2)),
		       TT_CB_ROW(4, "rows of cb_in0", .pages = rows, .page = of[0].page),
		       TT_CB_ROW(5, "rows of cb_in1", .pages = rows, .page = of[1].page),
		       TT_CB_ROW(6, "rows of cb_in2", .pages = rows, .page = of[2].page),
		       TT_CB_ROW(3, "cb_out", TENSOR(3)));
#undef TENSOR
}

/* ---- running -------------------------------------------------------------------------------------------------- */

/* A number stands in for the missing tensor. */
static tt_status ternary_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_map_job job = {.out = launch->outputs[0],
				 .arity = 3,
				 .in = {launch->inputs[0], launch->inputs[1], launch->inputs[2]},
				 .op = (uint32_t)attrs[FN].integer,
				 .params = {1}};

	if (tt_value_given(&attrs[SCALAR_A]))
		job.params[0] = job.scalar[1] = attrs[SCALAR_A].real;
	if (tt_value_given(&attrs[SCALAR_B]))
		job.scalar[2] = attrs[SCALAR_B].real;
	return tt_backend_get()->map(&job);
}

/* Of shapes only how much they hold; scalars are arguments of each run. */
static void ternary_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;

	tt_key_values(key, attrs, SCALAR_A);
	for (int i = 0; i < 3; i++) {
		const struct tt_tensor *tensor = launch->inputs[i];

		tt_key_number(key, tensor ? tensor->spec.rows * tensor->spec.cols + 1 : 0);
		if (!tensor)
			continue;
		tt_key_layout(key, &tensor->spec);
		tt_eltwise_key_shards(key, &tensor->spec);
	}
}

static const struct tt_prog program = {
	.device_op = "TernaryDeviceOperation",
	.prim = "ttnn::prim::ternary",
	.attrs = &attrs_schema,
	.infer = ternary_infer,
	.validate = ternary_validate,
	TT_FACTORY("ttnn::operations::ternary::TernaryDeviceOperation::TernaryProgramFactory",
		   ternary_memory),
	.key = ternary_key,
	TT_KERNEL(ternary_kernel),
};

/* TTT, TTS and TST: which operands are tensors (T) and which scalars (S). */
tt_status tt_ternary_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_ternary_args *args)
{
	struct tt_tensor *const inputs[] = {args->a, args->b, args->c};
	const struct tt_device *device = tt_tensor_device(args->a);
	enum operands operands = !args->c ? TTS : !args->b ? TST : TTT;
	struct ttnn_value attrs[attrs_schema_count];
	struct ttnn_memory_config memory;
	struct ttnn_shape shape;

	TT_NEED(device, "Ternary operation requires input to be on Device. Input storage type: 0");
	TT_TRY(shape_of(&shape, args));
	TT_TRY(memory_of(&memory, args, &shape));
	attrs[FN] = tt_value_enum(&tt_enum_ternary, (int64_t)args->fn);
	attrs[OPERANDS] = tt_value_enum(&operand_enum, operands);
	attrs[BROADCAST] = tt_value_enum(&broadcast_enum, tt_ternary_broadcast(args));
	attrs[MEMORY] = ttnn_v_memory(&memory);
	attrs[INPUT_DTYPE] = ttnn_v_dtype(args->a->spec.dtype);
	attrs[GRID] = ttnn_v_core_set(args->grid ? args->grid : device->grid);
	attrs[DTYPE] = ttnn_v_dtype(args->output ? args->output->spec.dtype : args->dtype);
	attrs[COMPUTE] = ttnn_v_none();
	attrs[SUB_GRID] = ttnn_v_core_set(args->grid);
	attrs[SCALAR_A] =
		args->has_scalar && operands != TTS ? ttnn_v_real(args->scalar) : ttnn_v_none();
	attrs[SCALAR_B] = operands == TTS ? ttnn_v_real(args->scalar) : ttnn_v_none();
	return TT_LAUNCH(out, call, &program, .attrs = attrs, .inputs = inputs, .input_count = 3,
			 TT_OUTPUTS(args->output), .grid = args->grid, .extra = &shape);
}
