/*
 * unary.c: the program of all unary operations: a chain of functions over one tensor. The
 * operations are in unary_ops.c.
 *
 * Models UnaryDeviceOperation of ttnn 0.81 (eltwise/unary/device) with its one factory: specs,
 * refusals, memory, cores. Tiles are read, computed and written by all cores; shards that are
 * alike on both sides are worked on where they are, and are the buffers then. A chain is an
 * attribute: kernels are compiled for it, so that another chain is another program. Not
 * modelled: the approximations of the vector unit.
 */
#include "ops/eltwise/eltwise.h"

#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "ops/op_enums.h"
#include "ops/usual.h"

/* ---- the program -------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(CHAIN, "op_chain", .text = TT_TEXT_EACH, .fixed = "<BasicUnaryWithParam>")               \
	X(DTYPE, "output_dtype")                                                                   \
	X(MEMORY, "memory_config")                                                                 \
	X(FP32_ACC, "fp32_dest_acc_en")                                                            \
	X(KEEP_FP32, "preserve_fp32_precision")                                                    \
	X(BFP8_PRECISE, "bfp8_pack_precise")                                                       \
	X(GRID, "worker_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")                   \
	X(SUB_GRID, "sub_core_grids")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

/* ---- which integers a function takes ------------------------------------------------------------- */

enum { I32 = 1, U32 = 2, U16 = 4, U8 = 8, ALL_INTEGERS = 15 };

/* A function that is not here takes none. */
static const uint8_t integers[] = {
	[TT_UNARY_ABS] = U32 | U16 | U8,
	[TT_UNARY_ABS_INT32] = I32,
	[TT_UNARY_ADD_UNARY_SFPU] = I32 | U32,
	[TT_UNARY_BITCAST] = ALL_INTEGERS,
	[TT_UNARY_BITWISE_AND] = I32 | U32 | U16,
	[TT_UNARY_BITWISE_NOT] = I32 | U32,
	[TT_UNARY_BITWISE_OR] = I32 | U32 | U16,
	[TT_UNARY_BITWISE_XOR] = I32 | U32 | U16,
	[TT_UNARY_CLAMP_TSS] = I32,
	[TT_UNARY_EQZ] = I32 | U32 | U16,
	[TT_UNARY_FILL] = I32 | U32 | U16,
	[TT_UNARY_GEZ] = I32,
	[TT_UNARY_GTZ] = I32,
	[TT_UNARY_IDENTITY] = ALL_INTEGERS,
	[TT_UNARY_LEAKY_RELU] = U32 | U16 | U8,
	[TT_UNARY_LEFT_SHIFT] = I32 | U32 | U16,
	[TT_UNARY_LEZ] = I32,
	[TT_UNARY_LOGICAL_NOT_UNARY] = I32 | U32 | U16,
	[TT_UNARY_LTZ] = I32,
	[TT_UNARY_MAXIMUM] = I32 | U32,
	[TT_UNARY_MINIMUM] = I32 | U32,
	[TT_UNARY_NEG] = I32,
	[TT_UNARY_NEZ] = I32 | U32 | U16,
	[TT_UNARY_RELU] = ALL_INTEGERS,
	[TT_UNARY_RELU6] = ALL_INTEGERS,
	[TT_UNARY_RELU_MAX] = ALL_INTEGERS,
	[TT_UNARY_RELU_MIN] = ALL_INTEGERS,
	[TT_UNARY_REMAINDER] = U32,
	[TT_UNARY_RIGHT_SHIFT] = I32 | U32 | U16,
	[TT_UNARY_RSUB] = I32 | U32,
	[TT_UNARY_SIGNBIT] = I32,
	[TT_UNARY_SQUARE] = I32 | U32 | U16,
	[TT_UNARY_SUB_UNARY_SFPU] = I32 | U32,
	[TT_UNARY_TYPECAST] = ALL_INTEGERS,
	[TT_UNARY_UNARY_EQ] = I32 | U32,
	[TT_UNARY_UNARY_GE] = I32 | U32,
	[TT_UNARY_UNARY_GT] = I32 | U32,
	[TT_UNARY_UNARY_LE] = I32 | U32,
	[TT_UNARY_UNARY_LT] = I32 | U32,
	[TT_UNARY_UNARY_NE] = I32 | U32,
	[TT_UNARY_WHERE_TSS] = I32 | U32,
};

/* The bit of a type in the table of functions. */
static uint8_t integer_bit(enum ttnn_dtype dtype)
{
	switch (dtype) {
	case TTNN_INT32:
		return I32;
	case TTNN_UINT32:
		return U32;
	case TTNN_UINT16:
		return U16;
	case TTNN_UINT8:
		return U8;
	default:
		return 0;
	}
}

/*
 * Behind a typecast in the chain another type counts, so that a chain with one is taken as it
 * is.
 */
static tt_status check_integers(const struct tt_unary_step *steps, size_t count,
				enum ttnn_dtype dtype)
{
	uint8_t bit = integer_bit(dtype);

	for (size_t i = 0; bit && i < count; i++)
		if (count > 1 && steps[i].fn == TT_UNARY_TYPECAST)
			return TTNN_OK; /* what follows sees another type */
	for (size_t i = 0; bit && i < count; i++) {
		size_t fn = (size_t)steps[i].fn;

		if (fn < sizeof(integers) && integers[fn] & bit)
			continue;
		return tt_fail_cond(TTNN_INVALID,
				    "unary_op_supports_integer_dtype(op.type(), input_dtype)",
				    "Unary: UnaryOpType::%s does not support integer input dtype "
				    "DataType::%s",
				    tt_enum_name(&tt_enum_unary, (int64_t)fn),
				    ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
	}
	return TTNN_OK;
}

/* ---- specs and refusals --------------------------------------------------------------------------- */

/* No broadcasting. */
static tt_status given_output(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	if (!ttnn_shape_equal(&out->shape, &in->shape))
		return tt_fail_shapes(TTNN_INVALID, "preallocated_output_shape == output_shape",
				      "Unary: Preallocated output shape must match computed shape. "
				      "Computed: %s, Preallocated: %s",
				      &in->shape, &out->shape);
	launch->specs[0] = *out;
	return TTNN_OK;
}

/*
 * Shards that nobody described are the input's, scaled, or spread over the grid in rows of 16
 * bytes at least.
 */
static tt_status unary_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = tt_tensor_spec_args(in);
	uint32_t bytes = tt_dtype_bytes(in->dtype);

	if (launch->outputs[0])
		return given_output(launch);
	args.dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer;
	args.memory = *launch->attrs[MEMORY].memory;
	if (tt_memory_config_is_sharded(&args.memory)) {
		args.alignment = (struct ttnn_shape){0};
		if (!args.memory.has_shard && !args.memory.has_nd_shard) {
			if (in->memory.has_shard) {
				args.memory.has_shard = true;
				TT_TRY(tt_eltwise_rescale(&args.memory.shard, in, &in->padded));
			} else {
				TT_TRY(tt_eltwise_spread(&args.memory, launch->device, in,
							 bytes < 16 ? 16 / bytes : 1));
			}
		}
	}
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static bool float_16_or_32(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32;
}

/* Only two dtypes. */
static tt_status check_lgamma(const struct tt_launch *launch)
{
	enum ttnn_dtype in = launch->inputs[0]->spec.dtype, out = launch->outputs[0]->spec.dtype;

	TT_REQUIRE(float_16_or_32(in),
		   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "Unary: LGAMMA requires BFLOAT16 or FLOAT32 input, got dtype %d", (int)in);
	TT_REQUIRE(float_16_or_32(out),
		   "effective_out == DataType::BFLOAT16 || effective_out == DataType::FLOAT32",
		   "Unary: LGAMMA requires BFLOAT16 or FLOAT32 output, got dtype %d", (int)out);
	return TTNN_OK;
}

/* Blackhole only, and two dtypes. */
static tt_status check_softcap(const struct tt_launch *launch, const struct tt_unary_step *step)
{
	const struct ttnn_device_info *info = &launch->device->info;
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(strcmp(info->arch_family, "blackhole") == 0,
		   "input_tensor.device()->arch() == tt::ARCH::BLACKHOLE",
		   "Unary: SOFTCAP is implemented for Blackhole only, got arch %s", info->arch);
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
		   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
		   "DataType::BFLOAT8_B",
		   "Unary: SOFTCAP supports BFLOAT16 and BFLOAT8_B inputs, got dtype DataType::%s",
		   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(step->params[0] != 0, "*beta != 0.0f",
		   "Unary: SOFTCAP requires a non-zero beta");
	return TTNN_OK;
}

static bool on_bits(enum tt_unary_fn fn)
{
	return fn == TT_UNARY_BITWISE_AND || fn == TT_UNARY_BITWISE_OR ||
	       fn == TT_UNARY_BITWISE_XOR || fn == TT_UNARY_LEFT_SHIFT ||
	       fn == TT_UNARY_RIGHT_SHIFT;
}

/* What upstream finds out when it writes the kernel's text. */
static tt_status check_kernel(const struct tt_launch *launch, const struct tt_unary_step *step)
{
	const bool *real_parameter = launch->extra;
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_NEED(!on_bits(step->fn) || tt_dtype_is_integer(dtype),
		"Unsupported input dtype for bitwise/shift op_type UnaryOpType::%s: expected "
		"Int32, UInt32, or UInt16.",
		tt_enum_name(&tt_enum_unary, (int64_t)step->fn));
	if (step->fn != TT_UNARY_REMAINDER || dtype != TTNN_UINT32)
		return TTNN_OK;
	TT_REQUIRE(!*real_parameter, "false", "Expected integer scalar divisor (uint32 or int32)");
	TT_REQUIRE(!(step->params[0] <= 0), "param0_raw > 0", "Divisor must be positive, got %.0f",
		   step->params[0]);
	return TTNN_OK;
}

/* In upstream's order, function by function. */
static tt_status unary_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	size_t count;

	TT_TRY(tt_unary_steps(steps, &count, &launch->attrs[CHAIN]));
	TT_TRY(check_integers(steps, count, in->dtype));
	for (size_t i = 0; i < count; i++)
		if (steps[i].fn == TT_UNARY_LGAMMA)
			TT_TRY(check_lgamma(launch));
	for (size_t i = 0; i < count; i++)
		if (steps[i].fn == TT_UNARY_SOFTCAP)
			TT_TRY(check_softcap(launch, &steps[i]));
	TT_REQUIRE(out->layout == in->layout, "output_tensor->layout() == input_tensor.layout()",
		   "Unary: Output format (tile/row-major) must match input when preallocated. "
		   "Output: %d, Input: %d",
		   (int)out->layout, (int)in->layout);
	for (size_t i = 0; i < count; i++)
		TT_TRY(check_kernel(launch, &steps[i]));
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------- */

/* Shards are worked on where they lie when both sides lie alike in L1, full on every core. */
static bool native(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	return in->memory.has_shard && out->memory.has_shard && in->memory.buffer != TTNN_DRAM &&
	       out->memory.buffer != TTNN_DRAM && !tt_eltwise_uneven(in) &&
	       !tt_eltwise_uneven(out) && in->memory.shard.grid == out->memory.shard.grid;
}

/* The first function decides. */
static bool starts_with_logit(const struct tt_launch *launch)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	size_t count;

	return tt_unary_steps(steps, &count, &launch->attrs[CHAIN]) == TTNN_OK && count &&
	       steps[0].fn == TT_UNARY_LOGIT;
}

/* logit() alone needs a buffer between. */
static tt_status unary_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	bool in_place = native(launch);

	return TT_PLAN(plan, launch->grid,
		       TT_DFB_ROW(0, "cb_input", .pages = in_place ? tt_shard_tiles(&in->spec) : 2,
				  .page = tt_page_in0(launch), .backing = in_place ? in : NULL),
		       TT_DFB_ROW(1, "cb_tmp0", .pages = starts_with_logit(launch) ? 2 : 0,
				  .page = tt_page_in0(launch)),
		       TT_DFB_ROW(2, "cb_output",
				  .pages = in_place ? tt_shard_tiles(&out->spec) : 2,
				  .page = tt_page_out0(launch), .backing = in_place ? out : NULL));
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* (re, im) becomes (-im, re): each pair exchanged, then every other element negated. */
static tt_status turn_pairs(struct tt_tensor *out, struct tt_tensor *in)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	int32_t last = (int32_t)shape->rank - 1;
	uint32_t width = last < 0 ? 1 : shape->dim[last];
	struct tt_map_job signs = {.out = out, .arity = 2, .in = {out, NULL}, .op = TT_BINARY_MUL};
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job swap = {.out = out, .in = in, .loops = loops};
	float *factors;

	if (out == in)
		return tt_fail(TTNN_UNSUPPORTED,
			       "alt_complex_rotate90 cannot write over its argument");
	if (last < 0) /* its partner is padding */
		return tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	for (int32_t i = 0; i < last; i++)
		loops[swap.loop_count++] = (struct tt_move_loop){shape->dim[i], i, i, 1, 1};
	loops[swap.loop_count++] = (struct tt_move_loop){width / 2, last, last, 2, 2};
	loops[swap.loop_count++] = (struct tt_move_loop){2, last, last, 1, -1};
	swap.out_start[last] = 1;
	TT_TRY(tt_backend_get()->move(&swap));
	TT_TRY(tt_scratch_f32(&signs.in[1], &TT_SHAPE(width)));
	factors = tt_tensor_data(signs.in[1]);
	for (uint32_t i = 0; i < width; i++)
		factors[i] = i % 2 ? 1 : -1;
	return tt_backend_get()->map(&signs);
}

/* Of another size: upstream reads pages as what they are not, and what it finds is undefined. */
static tt_status cast_bits(struct tt_tensor *out, struct tt_tensor *in)
{
	enum ttnn_dtype to = out->spec.dtype, from = in->spec.dtype;

	if (tt_dtype_is_block(to) || tt_dtype_is_block(from) ||
	    tt_dtype_bytes(to) != tt_dtype_bytes(from))
		return tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	return tt_backend_get()->bitcast(out, in);
}

/* Casts of bits and turned pairs are no functions of one element. */
static tt_status unary_kernel(struct tt_launch *launch)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX] = {{0}};
	struct tt_map_job job = {.out = launch->outputs[0], .arity = 1, .in = {launch->inputs[0]}};
	size_t count;

	TT_TRY(tt_unary_steps(steps, &count, &launch->attrs[CHAIN]));
	/* A rounded quotient is two functions to the backend. */
	if (steps[0].fn == TT_UNARY_RDIV && steps[0].params[1] != TT_ROUND_NOT && count == 1)
		steps[count++].fn =
			steps[0].params[1] == TT_ROUND_FLOOR ? TT_UNARY_FLOOR : TT_UNARY_TRUNC;
	if (steps[0].fn == TT_UNARY_BITCAST)
		return cast_bits(launch->outputs[0], launch->inputs[0]);
	if (steps[0].fn == TT_UNARY_ALT_COMPLEX_ROTATE90)
		return turn_pairs(launch->outputs[0], launch->inputs[0]);
	job.post = steps;
	job.post_count = (uint32_t)count;
	return tt_backend_get()->map(&job);
}

/* Tiles: the program does not depend on the shape. Rows: on the padded one. */
static void unary_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	tt_key_values(key, launch->attrs, schema_count);
	tt_key_layout(key, in);
	tt_key_layout(key, out);
	if (in->layout == TTNN_ROW_MAJOR)
		tt_key_shape(key, &in->padded);
	tt_eltwise_key_shards(key, in);
	tt_eltwise_key_shards(key, out);
}

const struct tt_prog tt_prog_unary = {
	.device_op = "UnaryDeviceOperation",
	.prim = "ttnn::prim::unary",
	.attrs = &schema,
	.infer = unary_infer,
	.validate = unary_validate,
	TT_FACTORY("ttnn::operations::unary::UnaryDeviceOperation::ProgramFactory", unary_memory),
	.key = unary_key,
	TT_KERNEL(unary_kernel),
};

/*
 * The chain is a list of objects (function, parameters), as upstream's attribute: it prints and
 * is part of the key.
 */
tt_status tt_unary_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_unary_args *args)
{
	const struct ttnn_tensor_spec *in = &args->input->spec;
	struct tt_device *device = tt_tensor_device(args->input);
	enum ttnn_dtype dtype = args->output  ? args->output->spec.dtype
				: args->dtype ? *args->dtype
					      : in->dtype;
	struct ttnn_value steps[TT_UNARY_STEPS_MAX], fields[TT_UNARY_STEPS_MAX][2];
	struct ttnn_value params[TT_UNARY_STEPS_MAX][3], attrs[schema_count];

	for (size_t i = 0; i < args->step_count; i++) {
		for (uint32_t p = 0; p < args->steps[i].count; p++)
			params[i][p] = ttnn_v_real(args->steps[i].params[p]);
		fields[i][0] = tt_value_enum(&tt_enum_unary, (int64_t)args->steps[i].fn);
		fields[i][1] = ttnn_v_list(params[i], args->steps[i].count);
		steps[i] = tt_value_object(&tt_schema_unary, fields[i]);
	}
	attrs[CHAIN] = ttnn_v_list(steps, args->step_count);
	attrs[DTYPE] = ttnn_v_dtype(dtype);
	attrs[MEMORY] = ttnn_v_memory(args->output   ? &args->output->spec.memory
				      : args->memory ? args->memory
						     : &in->memory);
	attrs[KEEP_FP32] = ttnn_v_bool(in->dtype == TTNN_FLOAT32);
	attrs[FP32_ACC] = ttnn_v_bool(tt_dtype_is_wide(dtype) || tt_dtype_is_wide(in->dtype));
	attrs[BFP8_PRECISE] = ttnn_v_bool(false);
	attrs[GRID] = ttnn_v_core_set(args->grid ? args->grid : device ? device->grid : NULL);
	attrs[SUB_GRID] = ttnn_v_core_set(args->grid);
	return TT_LAUNCH(out, call, &tt_prog_unary, .attrs = attrs, TT_INPUTS(args->input),
			 TT_OUTPUTS(args->output), .grid = args->grid,
			 .extra = &args->real_parameter);
}
