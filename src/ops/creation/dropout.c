/*
 * dropout.c: elements set to zero at random, the others scaled.
 *
 * Models DropoutDeviceOperation of ttnn 0.81 (experimental/dropout/device) with both factories,
 * one seed for all chips or one for each: refusals, memory, cores. The same seed gives the same
 * elements on every machine; they are not the chip's.
 */
#include "backend/backend.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(DTYPE, "output_dtype")                                                                   \
	X(MEMORY, "output_memory_config")                                                          \
	X(SEED, "seed", .unkeyed = true)                                                           \
	X(PER_DEVICE, "use_per_device_seed")                                                       \
	X(PROBABILITY, "prob")                                                                     \
	X(SCALE, "scale")
TT_ATTRS(schema, "DropoutParams", ATTRS);

static tt_status dropout_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, &launch->inputs[0]->spec.shape,
			    (enum ttnn_dtype)launch->attrs[DTYPE].integer, TTNN_TILE);
}

/* Output as input, in dtype, memory layout and shape. */
static tt_status dropout_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec, *out = &launch->specs[0];

	TT_REQUIRE(out->dtype == in->dtype, "output_datatype == input_tensor.dtype()",
		   "Dropout operation requires input and output data types to match. Input data "
		   "type: %d, Output data type: %d",
		   (int)in->dtype, (int)out->dtype);
	TT_REQUIRE(
		in->memory.layout == out->memory.layout,
		"input_tensor.memory_config().memory_layout() == out_memory_config.memory_layout()",
		"Dropout operation requires Input and Output memory layout to match. Input "
		"layout: %d, Output layout: %d",
		(int)in->memory.layout, (int)out->memory.layout);
	TT_REQUIRE(tt_memory_config_is_sharded(&in->memory) || in->layout == TTNN_TILE,
		   "input_tensor.layout() == Layout::TILE",
		   "Dropout operation requires tensor to be in Tile layout when working with "
		   "non-sharded input tensor. Input tensor layout: %d",
		   (int)in->layout);
	if (ttnn_shape_equal(&out->shape, &in->shape))
		return TTNN_OK;
	return tt_fail_shapes(
		TTNN_INVALID, "preallocated_output_shape == computed_output_shape",
		"When preallocted output tensor is used, Dropout operation requires its "
		"shape to match the computed shape. Computed shape: %s, Shape in "
		"preallocated output tensor: %s",
		&in->shape, &out->shape);
}

static tt_status dropout_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;

	TT_TRY(tt_cores_for(&cores, launch, launch->inputs[0]->spec.pages));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "in", .pages = 2, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "out", .pages = 2, .page = tt_page_out0(launch)));
}

/* Zero or one for each element, then the elements: the output may be the input. */
static tt_status dropout_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	uint64_t chip = attrs[PER_DEVICE].boolean ? launch->chip : 0;
	struct ttnn_shape shape = launch->inputs[0]->spec.shape;
	struct tt_random_job random = {.kind = TT_RANDOM_BERNOULLI,
				       .seed = (uint64_t)attrs[SEED].integer + chip,
				       .low = 1 - attrs[PROBABILITY].real};
	const struct tt_unary_step scaled = {
		.fn = TT_UNARY_MUL_UNARY_SFPU, .count = 1, .params = {attrs[SCALE].real}};
	struct tt_map_job job = {.out = launch->outputs[0],
				 .arity = 3,
				 .op = TT_TERNARY_WHERE,
				 .in = {NULL, launch->inputs[0], NULL},
				 .pre = {NULL, &scaled, NULL},
				 .pre_count = {0, 1, 0}};

	TT_TRY(tt_scratch(&random.out, &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR));
	job.in[0] = random.out;
	TT_TRY(tt_backend_get()->random(&random));
	return tt_backend_get()->map(&job);
}

static const struct tt_factory factories[] = {
	{.name = "ttnn::experimental::prim::DropoutProgramFactory", .memory = dropout_memory},
	{.name = "ttnn::experimental::prim::DropoutMeshWorkloadFactory", .memory = dropout_memory},
};

static tt_status dropout_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[PER_DEVICE].boolean;
	return TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "DropoutDeviceOperation",
	.prim = "ttnn::prim::dropout",
	.attrs = &schema,
	.infer = dropout_infer,
	.validate = dropout_validate,
	TT_FACTORIES(factories),
	.choose = dropout_choose,
	TT_KERNEL(dropout_kernel),
};

/* bfloat16 without a given output, whatever the input is; a given one has its own type. */
static tt_status dropout_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	struct tt_tensor *out = tt_call_tensor(call, "output_tensor");

	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in), TT_OUTPUTS(out),
		TT_BIND(call, schema, [DTYPE] = ttnn_v_dtype(TTNN_BFLOAT16),
			[MEMORY] = out ? ttnn_v_memory(&out->spec.memory)
				       : tt_value_memory_or_like(call, in),
			[PROBABILITY] = ttnn_v_real(tt_call_real(call, "probability", 0)),
			[SCALE] = ttnn_v_real(tt_call_real(call, "scale", 0))));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.dropout",
	 .doc = "Elements set to zero at random, the others scaled.",
	 .sigs = {"input_tensor: Tensor, probability: float, scale: float, seed: long, *, "
		  "use_per_device_seed: bool = True, memory_config: MemoryConfig? = None, "
		  "output_tensor: Tensor? = None"},
	 .expand = dropout_expand},
};

const struct tt_op_family tt_family_dropout = {"random", ops, TT_COUNT(ops)};
