/*
 * backward_program.c: UnaryBackwardDeviceOperation and BinaryBackwardDeviceOperation: gradients that
 * upstream computes in one program, tile by tile.
 */
#include "ops/backward_program.h"

#include "backend/backend.h"
#include "ops/rows.h"
#include "tensor/dtype.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

enum { FN, DTYPE, MEMORY, UNARY_ATTRS, WANTED = UNARY_ATTRS, BINARY_ATTRS };

static const struct tt_enum_row unary_fns[] = {
	{TT_TANH_BW, "TANH_BW"},
	{TT_SIGMOID_BW, "SIGMOID_BW"},
	{TT_GELU_BW, "GELU_BW"},
	{TT_GELU_TANH_BW, "GELU_TANH_BW"},
};
static const struct tt_enum enum_unary = {"UnaryBackwardOpType", unary_fns, 4};
static const struct tt_enum_row binary_fns[] = {{0, "MUL_BW"}};
static const struct tt_enum enum_binary = {"BinaryBackwardOpType", binary_fns, 1};

static const struct tt_field attr_fields[BINARY_ATTRS] = {
	[FN] = {.name = "op_type"},
	[DTYPE] = {.name = "output_dtype"},
	[MEMORY] = {.name = "output_memory_config"},
	[WANTED] = {.name = "are_required_outputs", .text = TT_TEXT_FIXED, .fixed = "array(1, 1)"},
};
static const struct tt_schema unary_schema = {"UnaryBackwardParams", attr_fields, UNARY_ATTRS,
					      false};
static const struct tt_schema binary_schema = {"BinaryBackwardParams", attr_fields, BINARY_ATTRS,
					       false};

/* ---- what is refused ---------------------------------------------------------------------------- */

static const char *fn_name(const struct tt_launch *launch)
{
	const struct ttnn_value *fn = &launch->attrs[FN];

	return fn->enumeration == &enum_binary ? "MUL_BW" : unary_fns[fn->integer].name;
}

static tt_status check_operand(const struct tt_launch *launch, const struct tt_tensor *tensor,
			       const char *what)
{
	const char *name = fn_name(launch);

	if (tt_dtype_is_integer(tensor->spec.dtype))
		return tt_fail_cond(TTNN_INVALID, "is_supported_dtype(tensor.dtype())",
				    "%s operation only supports floating-point dtypes (bfloat16, "
				    "float32, bfloat8_b, bfloat4_b), but %s has dtype "
				    "DataType::%s.",
				    name, what,
				    ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_TT_METAL));
	if (tensor->spec.layout != TTNN_TILE)
		return tt_fail_cond(TTNN_INVALID, "tensor.layout() == Layout::TILE",
				    "%s operation requires %s to be in TILE layout, but it has "
				    "Layout::ROW_MAJOR layout.",
				    name, what);
	return TTNN_OK;
}

/* ---- one operand ------------------------------------------------------------------------------------ */

static tt_status unary_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[1]->spec;

	TT_TRY(check_operand(launch, launch->inputs[1], "the input tensor"));
	TT_TRY(check_operand(launch, launch->inputs[0], "the grad_output tensor"));
	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static const struct tt_mem_row unary_rows[] = {
	{TT_MEMORY_CIRCULAR_BUFFER, 0, .page_count = 2, .page = tt_page_in0,
	 .cores = tt_cores_by_tile},
	{TT_MEMORY_CIRCULAR_BUFFER, 1, .page_count = 2, .page = tt_page_in1,
	 .cores = tt_cores_by_tile},
	{TT_MEMORY_CIRCULAR_BUFFER, 2, .page_count = 2, .page = tt_page_out0,
	 .cores = tt_cores_by_tile},
};
static const struct tt_factory unary_factories[] = {
	{"ttnn::operations::unary_backward::UnaryBackwardProgramFactory", unary_rows, 3, NULL},
};

static tt_status unary_kernel(struct tt_launch *launch)
{
	static const enum tt_unary_fn slopes[] = {
		[TT_TANH_BW] = TT_UNARY_TANH_SLOPE,
		[TT_SIGMOID_BW] = TT_UNARY_SIGMOID_SLOPE,
		[TT_GELU_BW] = TT_UNARY_GELU_SLOPE,
		[TT_GELU_TANH_BW] = TT_UNARY_GELU_TANH_SLOPE,
	};
	const struct tt_unary_step slope = {.fn = slopes[launch->attrs[FN].integer]};
	const struct tt_map_job job = {.out = launch->outputs[0],
				       .arity = 2,
				       .in = {launch->inputs[0], launch->inputs[1]},
				       .pre = {NULL, &slope},
				       .pre_count = {0, 1},
				       .op = TT_BINARY_MUL};

	return tt_backend_get()->map(&job);
}

static const struct tt_prog unary_program = {
	.device_op = "UnaryBackwardDeviceOperation",
	.prim = "ttnn::prim::unary_backward",
	.attrs = &unary_schema,
	.infer = unary_infer,
	.factories = unary_factories,
	.factory_count = 1,
	.kernel = unary_kernel,
};

tt_status tt_unary_backward_launch(struct tt_tensor **out, struct tt_call *call,
				   const struct tt_unary_backward_args *args)
{
	const struct ttnn_memory_config *memory =
		args->memory ? args->memory : &args->input->spec.memory;
	const struct ttnn_value attrs[UNARY_ATTRS] = {
		[FN] = tt_value_enum(&enum_unary, args->fn),
		[DTYPE] = ttnn_v_dtype(args->input->spec.dtype),
		[MEMORY] = ttnn_v_memory(memory),
	};
	struct tt_tensor *const inputs[] = {args->grad, args->input};
	const struct tt_program_args launch = {.prog = &unary_program,
					       .attrs = attrs,
					       .inputs = inputs,
					       .input_count = 2,
					       .outputs = &args->output,
					       .output_count = 1};

	return tt_call_program(out, call, &launch);
}

/* ---- a product ----------------------------------------------------------------------------------------- */

static tt_status binary_infer(struct tt_launch *launch)
{
	static const char *const names[] = {"the grad_output tensor", "the input tensor",
					    "the other tensor"};

	for (size_t i = 0; i < 3; i++)
		TT_TRY(check_operand(launch, launch->inputs[i], names[i]));
	launch->output_count = 2;
	for (size_t i = 0; i < 2; i++) {
		const struct ttnn_tensor_spec *in = &launch->inputs[1 + i]->spec;

		if (launch->outputs[i])
			launch->specs[i] = launch->outputs[i]->spec;
		else
			TT_TRY(tt_spec_simple(&launch->specs[i], &in->shape, in->dtype, TTNN_TILE,
					      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

static uint64_t page_out1(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[1]->spec;

	return tt_dtype_tile_bytes(out->dtype, &out->tile);
}

#define BINARY_ROW(index_, page_)                                                                  \
	{                                                                                          \
		TT_MEMORY_CIRCULAR_BUFFER, index_, .page_count = 2, .page = page_,                 \
						   .cores = tt_cores_by_tile                       \
	}
static const struct tt_mem_row binary_rows[] = {
	BINARY_ROW(0, tt_page_in0),  BINARY_ROW(1, tt_page_in1), BINARY_ROW(2, tt_page_in2),
	BINARY_ROW(3, tt_page_out0), BINARY_ROW(4, page_out1),
};
static const struct tt_factory binary_factories[] = {
	{"ttnn::operations::binary_backward::BinaryBackwardProgramFactory", binary_rows, 5, NULL},
};

static tt_status binary_kernel(struct tt_launch *launch)
{
	for (size_t i = 0; i < 2; i++) {
		const struct tt_map_job job = {.out = launch->outputs[i],
					       .arity = 2,
					       .in = {launch->inputs[0], launch->inputs[2 - i]},
					       .op = TT_BINARY_MUL};

		TT_TRY(tt_backend_get()->map(&job));
	}
	return TTNN_OK;
}

static const struct tt_prog binary_program = {
	.device_op = "BinaryBackwardDeviceOperation",
	.prim = "ttnn::prim::binary_backward",
	.attrs = &binary_schema,
	.infer = binary_infer,
	.factories = binary_factories,
	.factory_count = 1,
	.kernel = binary_kernel,
};

tt_status tt_mul_backward_launch(struct tt_tensor *out[2], struct tt_call *call,
				 const struct tt_mul_backward_args *args)
{
	const struct ttnn_memory_config *memory =
		args->memory ? args->memory : &args->a->spec.memory;
	const struct ttnn_value attrs[BINARY_ATTRS] = {
		[FN] = tt_value_enum(&enum_binary, 0),
		[DTYPE] = ttnn_v_dtype(TTNN_DTYPE_COUNT),
		[MEMORY] = ttnn_v_memory(memory),
		[WANTED] = ttnn_v_bool(true),
	};
	struct tt_tensor *const inputs[] = {args->grad, args->a, args->b};
	const struct tt_program_args launch = {.prog = &binary_program,
					       .attrs = attrs,
					       .inputs = inputs,
					       .input_count = 3,
					       .outputs = args->outputs,
					       .output_count = 2};
	size_t count;

	return tt_call_programs(out, &count, call, &launch);
}
