/*
 * example.c: upstream's examples of operations: a copy of a copy, and one or two copies. Models ExampleDeviceOperation and
 * ExampleMultipleReturnDeviceOperation of ttnn 0.81: specs, refusals, memory, cores.
 */
#include "golden/golden_moreh.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"

#define EXAMPLE_NUMBER 42 /* that upstream's programs have as an attribute */

static const struct ttnn_memory_config dram;

/* Tiles of both sides, on so many cores of the grid. */
static tt_status example_buffers(struct tt_plan *plan, const struct tt_launch *launch,
				 const ttnn_core_set *cores)
{
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "in", .pages = 2, .page = tt_page_in0(launch)),
		       TT_CB_ROW(2, "out", .pages = 2, .page = tt_page_out0(launch)));
}

/* ---- a copy of a copy ---------------------------------------------------------------------------- */

#define COPY_ATTRS(X)                                                                              \
	X(COPY_SWITCH, "attribute")                                                                \
	X(COPY_NUMBER, "some_other_attribute")
TT_ATTRS(copy_schema, "operation_attributes_t", COPY_ATTRS);
enum { SINGLE_CORE, MULTI_CORE };

static tt_status example_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_spec_simple(&launch->specs[0], &in->shape, in->dtype, in->layout, &dram);
}

static tt_status example_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[COPY_SWITCH].boolean ? MULTI_CORE : SINGLE_CORE;
	return TTNN_OK;
}

static tt_status example_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, in->rows * in->cols / (TT_TILE * TT_TILE)));
	return example_buffers(plan, launch, cores);
}

static const struct tt_factory copy_factories[] = {
	[SINGLE_CORE] = TT_FACTORY_ROW(
		"ttnn::operations::examples::ExampleDeviceOperation::SingleCore", example_memory),
	[MULTI_CORE] = TT_FACTORY_ROW(
		"ttnn::operations::examples::ExampleDeviceOperation::MultiCore", example_memory),
};

static const struct tt_prog copy_program = {
	.device_op = "ExampleDeviceOperation",
	.prim = "ttnn::prim::example",
	.attrs = &copy_schema,
	.infer = example_infer,
	TT_FACTORIES(copy_factories),
	.choose = example_choose,
	TT_KERNEL(tt_kernel_copy),
	.cost = tt_cost_move,
};

static tt_status copy(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	return TT_LAUNCH(out, call, &copy_program, TT_INPUTS(in),
			 TT_BIND(call, copy_schema, [COPY_SWITCH] = ttnn_v_bool(true),
				 [COPY_NUMBER] = ttnn_v_int(EXAMPLE_NUMBER)));
}

static tt_status composite_example_expand(struct tt_call *call)
{
	struct tt_tensor *first, *second;

	TT_TRY(copy(&first, call, tt_call_tensor(call, "input_tensor")));
	tt_call_own(call, first);
	return tt_call_give(call, copy(&second, call, first), &second);
}

/* ---- one or two copies --------------------------------------------------------------------------- */

#define MANY_ATTRS(X)                                                                              \
	X(MANY_SWITCH, "attribute")                                                                \
	X(MANY_NUMBER, "some_other_attribute")                                                     \
	X(MANY_FIRST, "return_output1")                                                            \
	X(MANY_SECOND, "return_output2")
TT_ATTRS(many_schema, "operation_attributes_t", MANY_ATTRS);

static tt_status many_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_tensor_spec made[TT_MOREH_SLOTS];

	for (size_t i = 0; i < 2; i++)
		TT_TRY(tt_spec_simple(&made[i], &in->shape, in->dtype, in->layout, &dram));
	return tt_moreh_infer(launch, made);
}

static tt_status many_validate(struct tt_launch *launch)
{
	bool first = launch->attrs[MANY_FIRST].boolean, second = launch->attrs[MANY_SECOND].boolean;

	TT_REQUIRE(first || second, "attributes.return_output1 || attributes.return_output2",
		   "At least one output must be returned. return_output1 = %d, return_output2 = "
		   "%d ",
		   first, second);
	return TTNN_OK;
}

static tt_status many_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return example_buffers(plan, launch, one);
}

static tt_status many_kernel(struct tt_launch *launch)
{
	for (size_t i = 0; i < launch->output_count; i++)
		TT_TRY(tt_move_copy(launch->outputs[i], launch->inputs[0]));
	return TTNN_OK;
}

static const struct tt_prog many_program = {
	.device_op = "ExampleMultipleReturnDeviceOperation",
	.prim = "ttnn::prim::example_multiple_return",
	.attrs = &many_schema,
	.infer = many_infer,
	.validate = many_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::examples::"
		   "ExampleMultipleReturnDeviceOperation>::DirectDescriptorFactory",
		   many_memory),
	TT_KERNEL(many_kernel),
	.cost = tt_cost_move,
};

static tt_status composite_example_multiple_return_expand(struct tt_call *call)
{
	bool first = tt_call_bool(call, "return_output1", true),
	     second = tt_call_bool(call, "return_output2", true);

	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){.prog = &many_program,
					  TT_INPUTS(tt_call_tensor(call, "input_tensor")),
					  TT_BIND(call,
						  many_schema, [MANY_SWITCH] = ttnn_v_bool(true),
						  [MANY_NUMBER] = ttnn_v_int(EXAMPLE_NUMBER),
						  [MANY_FIRST] = ttnn_v_bool(first),
						  [MANY_SECOND] = ttnn_v_bool(second))},
		&(struct tt_moreh_slots){2, {first, second}, {NULL}});
}

static const struct tt_op ops[] = {
	{.name = "ttnn.composite_example",
	 .doc = "A copy of a copy, in DRAM: an example of an operation made of others.",
	 .sigs = {"input_tensor: Tensor"},
	 .expand = composite_example_expand,
	 .golden = tt_golden_example,
	 TT_PROGRAMS(&copy_program)},
	{.name = "ttnn.composite_example_multiple_return",
	 .doc = "One or two copies in DRAM: an example of results that may be left out.",
	 .sigs = {"input_tensor: Tensor, return_output1: bool = True, return_output2: bool = True"},
	 .expand = composite_example_multiple_return_expand,
	 .golden = tt_golden_example,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&many_program)},
};

const struct tt_op_family tt_family_example = {"example", ops, TT_COUNT(ops)};
