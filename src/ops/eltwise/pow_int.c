/*
 * pow_int.c: the program that raises integers to a power.
 *
 * Models PowIntDeviceOperation of ttnn 0.81 with its one factory: refusals, memory,
 * cores. Results wrap to 32 bits, as products of integers do. Not modelled: the order of
 * multiplications.
 */
#include "ops/eltwise/pow_int.h"

#include "backend/backend.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(EXPONENT, "exponent")                                                                    \
	X(MEMORY, "output_memory_config")
TT_ATTRS(schema, "PowIntParams", ATTRS);

/* A given output is of the same dtype, layout and shape. */
static tt_status pow_int_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "input.layout() == Layout::TILE",
		   "pow_int: input must be in TILE layout, got Layout::ROW_MAJOR");
	TT_REQUIRE(out->dtype == in->dtype, "output.dtype() == input.dtype()",
		   "pow_int: output dtype DataType::%s must match input dtype DataType::%s",
		   ttnn_dtype_name(out->dtype, TTNN_DIALECT_TT_METAL),
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(out->layout == TTNN_TILE, "output.layout() == Layout::TILE",
		   "pow_int: output must be in TILE layout, got Layout::ROW_MAJOR");
	if (!ttnn_shape_equal(&out->shape, &in->shape))
		return tt_fail_shapes(TTNN_INVALID,
				      "output.logical_shape() == input.logical_shape()",
				      "pow_int: output shape %s must match input shape %s",
				      &out->shape, &in->shape);
	return TTNN_OK;
}

static tt_status pow_int_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_by_tile(&cores, launch));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "cb_input", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "cb_output", .pages = 2, .page = tt_page_out0(launch)));
}

/* By repeated multiplication. */
static tt_status pow_int_kernel(struct tt_launch *launch)
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
	.attrs = &schema,
	.infer = tt_infer_tiles,
	.validate = pow_int_validate,
	TT_FACTORY("ttnn::prim::PowIntDeviceOperation::ProgramFactory", pow_int_memory),
	TT_KERNEL(pow_int_kernel),
};

/* The exponent is an attribute: each has a program. */
tt_status tt_pow_int_launch(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_pow_int_args *args)
{
	const struct ttnn_value attrs[schema_count] = {
		[EXPONENT] = ttnn_v_int(args->exponent),
		[MEMORY] = ttnn_v_memory(args->memory ? args->memory : &args->input->spec.memory),
	};

	return TT_LAUNCH(out, call, &program, .attrs = attrs, TT_INPUTS(args->input),
			 TT_OUTPUTS(args->output));
}
