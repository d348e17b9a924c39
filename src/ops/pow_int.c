/* pow_int.c: the program that raises integers to a power: PowIntDeviceOperation. */
#include "ops/pow_int.h"

#include "backend/backend.h"
#include "ops/rows.h"
#include "tensor/dtype.h"

enum { EXPONENT, MEMORY, ATTRS };

static const struct tt_field attr_fields[ATTRS] = {
	[EXPONENT] = {.name = "exponent"},
	[MEMORY] = {.name = "output_memory_config"},
};
static const struct tt_schema attrs_schema = {"PowIntParams", attr_fields, ATTRS, false};

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, TTNN_TILE,
			      launch->attrs[MEMORY].memory);
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	if (in->layout != TTNN_TILE)
		return tt_fail_cond(TTNN_INVALID, "input.layout() == Layout::TILE",
				    "pow_int: input must be in TILE layout, got Layout::ROW_MAJOR");
	if (out->dtype != in->dtype)
		return tt_fail_cond(TTNN_INVALID, "output.dtype() == input.dtype()",
				    "pow_int: output dtype DataType::%s must match input dtype "
				    "DataType::%s",
				    ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL),
				    ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	if (out->layout != TTNN_TILE)
		return tt_fail_cond(
			TTNN_INVALID, "output.layout() == Layout::TILE",
			"pow_int: output must be in TILE layout, got Layout::ROW_MAJOR");
	if (!ttnn_shape_equal(&out->shape, &in->shape))
		return tt_fail_shapes(TTNN_INVALID,
				      "output.logical_shape() == input.logical_shape()",
				      "pow_int: output shape %s must match input shape %s",
				      &out->shape, &in->shape);
	return TTNN_OK;
}

#define DFB TT_MEMORY_DATAFLOW_BUFFER
static const struct tt_mem_row memory_rows[] = {
	{DFB, 0, .page_count = 2, .page = tt_page_in0, .cores = tt_cores_by_tile},
	{DFB, 1, .page_count = 2, .page = tt_page_out0, .cores = tt_cores_by_tile},
};
static const struct tt_factory factories[] = {
	{"ttnn::prim::PowIntDeviceOperation::ProgramFactory", memory_rows, 2, NULL},
};

static tt_status kernel(struct tt_launch *launch)
{
	const struct tt_unary_step step = {.fn = TT_UNARY_POWER_ITERATIVE,
					   .count = 1,
					   .params = {(double)launch->attrs[EXPONENT].integer}};
	const struct tt_map_job job = {.out = launch->outputs[0],
				       .arity = 1,
				       .in = {launch->inputs[0]},
				       .post = &step,
				       .post_count = 1};

	return tt_backend_get()->map(&job);
}

static const struct tt_prog program = {
	.device_op = "PowIntDeviceOperation",
	.prim = "ttnn::prim::pow_int",
	.attrs = &attrs_schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = 1,
	TT_KERNEL(kernel),
};

tt_status tt_pow_int_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_pow_int_args *args)
{
	const struct ttnn_memory_config *memory =
		args->memory ? args->memory : &args->input->spec.memory;
	const struct ttnn_value attrs[ATTRS] = {
		[EXPONENT] = ttnn_v_int(args->exponent),
		[MEMORY] = ttnn_v_memory(memory),
	};
	const struct tt_program_args launch = {.prog = &program,
					       .attrs = attrs,
					       .inputs = &args->input,
					       .input_count = 1,
					       .outputs = &args->output,
					       .output_count = 1};

	return tt_call_program(out, call, &launch);
}
