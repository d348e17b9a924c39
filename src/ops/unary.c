/*
 * unary.c: y = f(x), one line an operation.
 *
 * All of them run one program, UnaryDeviceOperation, with a chain of functions; what differs is the
 * function, its parameters and the signature.
 */

#include <string.h>

#include "backend/backend.h"
#include "device/device.h"
#include "ops/enums.h"
#include "ops/golden.h"
#include "ops/op.h"
#include "ops/rows.h"
#include "ops/unary.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/spec.h"

/* ---- the program -------------------------------------------------------------------------------- */

enum { CHAIN, DTYPE, MEMORY, FP32_ACC, KEEP_FP32, BFP8_PRECISE, GRID, SUB_GRID, ATTRS };

static const struct tt_field attr_fields[ATTRS] = {
	[CHAIN] = {.name = "op_chain", .text = TT_TEXT_FIXED, .fixed = "{<BasicUnaryWithParam>}"},
	[DTYPE] = {.name = "output_dtype"},
	[MEMORY] = {.name = "memory_config"},
	[FP32_ACC] = {.name = "fp32_dest_acc_en"},
	[KEEP_FP32] = {.name = "preserve_fp32_precision"},
	[BFP8_PRECISE] = {.name = "bfp8_pack_precise"},
	[GRID] = {.name = "worker_grid", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	[SUB_GRID] = {.name = "sub_core_grids"},
};
static const struct tt_schema attrs_schema = {"operation_attributes_t", attr_fields, ATTRS, false};

static const struct tt_field step_fields[] = {{.name = "op_type"}, {.name = "params"}};
const struct tt_schema tt_schema_unary = {"UnaryWithParam", step_fields, 2, true};

tt_status tt_unary_steps(struct tt_unary_step *out, size_t *count, const struct ttnn_value *chain)
{
	*count = 0;
	if (!tt_value_given(chain))
		return TTNN_OK;
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct ttnn_value *item = &chain->items[i];
		struct tt_unary_step *step = &out[*count];

		if (*count == TT_UNARY_STEPS_MAX)
			return tt_fail(TTNN_INVALID, "a chain of more than %d functions",
				       TT_UNARY_STEPS_MAX);
		*step = (struct tt_unary_step){0};
		if (item->kind == TTNN_VALUE_ENUM) {
			step->fn = (enum tt_unary_fn)item->integer;
		} else {
			const struct ttnn_value *params = &item->items[1];

			step->fn = (enum tt_unary_fn)item->items[0].integer;
			for (; step->count < params->count && step->count < 3; step->count++)
				if (!tt_value_number(&step->params[step->count],
						     &params->items[step->count]))
					return tt_fail(TTNN_INVALID,
						       "a parameter of an activation is %s",
						       tt_value_kind_name(params->items));
		}
		++*count;
	}
	return TTNN_OK;
}

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

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;
	struct ttnn_spec_args args;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

		if (!ttnn_shape_equal(&out->shape, &in->shape))
			return tt_fail_shapes(
				TTNN_INVALID, "preallocated_output_shape == output_shape",
				"Unary: Preallocated output shape must match computed "
				"shape. Computed: %s, Preallocated: %s",
				&in->shape, &out->shape);
		launch->specs[0] = *out;
		return TTNN_OK;
	}
	if (tt_memory_config_is_sharded(&memory) && !memory.has_shard && !memory.has_nd_shard) {
		memory.shard = in->memory.shard;
		memory.has_shard = in->memory.has_shard;
	}
	args = tt_tensor_spec_args(in);
	args.dtype = (enum ttnn_dtype)launch->attrs[DTYPE].integer;
	args.memory = memory;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	size_t count;

	TT_TRY(tt_unary_steps(steps, &count, &launch->attrs[CHAIN]));
	TT_TRY(check_integers(steps, count, in->dtype));
	for (size_t i = 0; i < count; i++)
		if (steps[i].fn == TT_UNARY_SOFTCAP &&
		    strcmp(launch->device->info.arch_family, "blackhole") != 0)
			return tt_fail_cond(
				TTNN_INVALID,
				"input_tensor.device()->arch() == tt::ARCH::BLACKHOLE",
				"Unary: SOFTCAP is implemented for Blackhole only, got arch %s",
				launch->device->info.arch);
	if (out->layout != in->layout)
		return tt_fail_cond(TTNN_INVALID,
				    "output_tensor->layout() == input_tensor.layout()",
				    "Unary: Output format (tile/row-major) must match input when "
				    "preallocated. Output: %d, Input: %d",
				    (int)out->layout, (int)in->layout);
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------- */

/* Shards are worked on where they lie when both sides lie alike in L1, full on every core. */
static bool native(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	return in->memory.buffer == TTNN_L1 && out->memory.buffer == TTNN_L1 &&
	       tt_shards_even(in) && tt_shards_even(out) &&
	       in->memory.shard.grid == out->memory.shard.grid;
}

static uint64_t pages_in(const struct tt_launch *launch)
{
	return native(launch) ? tt_shard_tiles(&launch->inputs[0]->spec) : 2;
}

static uint64_t pages_out(const struct tt_launch *launch)
{
	return native(launch) ? tt_shard_tiles(&launch->outputs[0]->spec) : 2;
}

static struct tt_tensor *back_in(const struct tt_launch *launch)
{
	return native(launch) ? launch->inputs[0] : NULL;
}

static struct tt_tensor *back_out(const struct tt_launch *launch)
{
	return native(launch) ? launch->outputs[0] : NULL;
}

static bool has_logit(const struct tt_launch *launch)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	size_t count;

	if (tt_unary_steps(steps, &count, &launch->attrs[CHAIN]) != TTNN_OK)
		return false;
	for (size_t i = 0; i < count; i++)
		if (steps[i].fn == TT_UNARY_LOGIT)
			return true;
	return false;
}

#define DFB TT_MEMORY_DATAFLOW_BUFFER
static const struct tt_mem_row memory_rows[] = {
	{DFB, 0, .pages = pages_in, .page = tt_page_in0, .cores = tt_cores_grid,
	 .backing = back_in},
	{DFB, 1, .when = has_logit, .page_count = 2, .page = tt_page_in0, .cores = tt_cores_grid},
	{DFB, 2, .pages = pages_out, .page = tt_page_out0, .cores = tt_cores_grid,
	 .backing = back_out},
};
static const struct tt_factory factories[] = {
	{"ttnn::operations::unary::UnaryDeviceOperation::ProgramFactory", memory_rows,
	 sizeof(memory_rows) / sizeof(memory_rows[0]), NULL},
};

/* ---- running ---------------------------------------------------------------------------------------- */

static tt_status kernel(struct tt_launch *launch)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct tt_map_job job = {.out = launch->outputs[0], .arity = 1, .in = {launch->inputs[0]}};
	size_t count;

	TT_TRY(tt_unary_steps(steps, &count, &launch->attrs[CHAIN]));
	job.post = steps;
	job.post_count = (uint32_t)count;
	return tt_backend_get()->map(&job);
}

/* Tiles: the program does not depend on the shape. Rows: on the padded one. */
static void key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	tt_key_values(key, launch->attrs, ATTRS);
	tt_key_layout(key, in);
	tt_key_layout(key, &launch->outputs[0]->spec);
	if (in->layout == TTNN_ROW_MAJOR)
		tt_key_shape(key, &in->padded);
}

const struct tt_prog tt_prog_unary = {
	.device_op = "UnaryDeviceOperation",
	.prim = "ttnn::prim::unary",
	.attrs = &attrs_schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = 1,
	.key = key,
	.kernel = kernel,
};

tt_status tt_unary_launch(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_unary_args *args)
{
	const struct ttnn_tensor_spec *in = &args->input->spec;
	enum ttnn_dtype dtype = args->dtype ? *args->dtype : in->dtype;
	struct ttnn_value steps[TT_UNARY_STEPS_MAX], fields[TT_UNARY_STEPS_MAX][2];
	struct ttnn_value params[TT_UNARY_STEPS_MAX][3], attrs[ATTRS];
	struct tt_program_args program = {.prog = &tt_prog_unary,
					  .attrs = attrs,
					  .inputs = &args->input,
					  .input_count = 1,
					  .outputs = &args->output,
					  .output_count = 1,
					  .grid = args->grid};

	for (size_t i = 0; i < args->step_count; i++) {
		for (uint32_t p = 0; p < args->steps[i].count; p++)
			params[i][p] = ttnn_v_real(args->steps[i].params[p]);
		fields[i][0] = tt_value_enum(&tt_enum_unary, (int64_t)args->steps[i].fn);
		fields[i][1] = ttnn_v_list(params[i], args->steps[i].count);
		steps[i] = tt_value_object(&tt_schema_unary, fields[i]);
	}
	if (args->output)
		dtype = args->output->spec.dtype;
	attrs[CHAIN] = ttnn_v_list(steps, args->step_count);
	attrs[DTYPE] = ttnn_v_dtype(dtype);
	attrs[MEMORY] = ttnn_v_memory(args->memory   ? args->memory
				      : args->output ? &args->output->spec.memory
						     : &in->memory);
	attrs[KEEP_FP32] = ttnn_v_bool(in->dtype == TTNN_FLOAT32);
	attrs[FP32_ACC] = ttnn_v_bool(tt_dtype_bytes(dtype) == 4 || in->dtype == TTNN_FLOAT32);
	attrs[BFP8_PRECISE] = ttnn_v_bool(in->dtype == TTNN_BFLOAT8_B);
	attrs[GRID] = ttnn_v_none();
	attrs[SUB_GRID] = ttnn_v_core_set(args->grid);
	return tt_call_program(out, call, &program);
}

/* ---- the rows ------------------------------------------------------------------------------------------ */

/* How an operation's arguments become a step of the chain. */
struct row {
	enum tt_unary_fn fn;
	const char *param[3]; /* arguments that are parameters, in order */
	double fixed;         /* the parameter of a row without such arguments */
	bool has_fixed;
};

static struct tt_unary_step step_of(const struct row *row, const struct tt_call *call)
{
	struct tt_unary_step step = {.fn = row->fn};

	if (row->has_fixed)
		step.params[step.count++] = row->fixed;
	for (; step.count < 3 && row->param[step.count]; step.count++)
		step.params[step.count] = tt_call_real(call, row->param[step.count], 0);
	return step;
}

static tt_status expand(struct tt_call *call)
{
	struct tt_unary_step step = step_of(call->entry->op->row, call);
	struct tt_unary_args args = {.input = tt_call_tensor(call, "input_tensor"),
				     .output = tt_call_tensor(call, "output_tensor"),
				     .steps = &step,
				     .step_count = 1,
				     .memory = tt_call_memory(call, "memory_config"),
				     .grid = tt_call_core_set(call, "sub_core_grids")};
	struct tt_tensor *out;

	if (step.fn == TT_UNARY_ABS && args.input->spec.dtype == TTNN_INT32)
		step.fn = TT_UNARY_ABS_INT32;
	TT_TRY(tt_unary_launch(&out, call, &args));
	tt_call_return(call, out);
	return TTNN_OK;
}

static tt_status golden(struct tt_golden *golden)
{
	struct tt_unary_step step = step_of(golden->op->row, &golden->call);
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	if (!out)
		return tt_fail_prefix(TTNN_INVALID, "golden");
	for (uint64_t i = 0; i < in->count; i++)
		out->data[i] = tt_golden_unary(&step, in->data[i]);
	return TTNN_OK;
}

#define TAIL                                                                                       \
	"memory_config: MemoryConfig? = None, output_tensor: Tensor? = None, "                     \
	"sub_core_grids: CoreRangeSet? = None"
#define PLAIN "input_tensor: Tensor, *, " TAIL
#define FAST "input_tensor: Tensor, *, fast_and_approximate_mode: bool = False, " TAIL
#define WITH(params) "input_tensor: Tensor, " params ", *, " TAIL
#define WITH_KW(params) "input_tensor: Tensor, *, " params ", " TAIL
#define ROW(fn_, ...) (&(const struct row){.fn = TT_UNARY_##fn_, __VA_ARGS__})
#define PARAM(...) .param = {__VA_ARGS__}
#define OP(name_, signature, row_, doc_)                                                           \
	{                                                                                          \
		.name = "ttnn." name_, .family = "unary", .doc = doc_, .sigs = {signature},        \
		.expand = expand, .golden = golden, .pcc = 0.999, .row = row_                      \
	}

static const struct tt_op ops[] = {
	OP("abs", PLAIN, ROW(ABS, ), "The absolute value."),
	OP("exp", FAST, ROW(EXP, ), "e to the power of each element."),
	OP("leaky_relu", WITH("negative_slope: float"), ROW(LEAKY_RELU, PARAM("negative_slope")),
	   "x, or slope times x where x is negative."),
	OP("relu", PLAIN, ROW(RELU, ), "The larger of x and 0."),
};

const struct tt_op_family tt_family_unary = {"unary", ops, sizeof(ops) / sizeof(ops[0])};
