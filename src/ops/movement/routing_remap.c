/*
 * routing_remap.c: of the weights of experts those that the chips of a row or column of a mesh take, so many each, in
 * order. Models MoeRoutingRemapDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/movement/movement.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(WEIGHTS, "non_zero_weight_size")                                                         \
	X(PARALLEL, "expert_parallel_size")                                                        \
	X(AXIS, "cluster_axis")                                                                    \
	X(MEMORY, "output_mem_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
#define PLACE_BYTES 2u

static tt_status wanted_spec(struct ttnn_tensor_spec *out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *memory = &launch->attrs[MEMORY];

	return tt_spec_simple(out, &in->shape, in->dtype, in->layout,
			      memory->kind == TTNN_VALUE_MEMORY ? memory->memory : &in->memory);
}

static tt_status remap_infer(struct tt_launch *launch)
{
	return tt_infer_given(launch, 0) ? TTNN_OK : wanted_spec(&launch->specs[0], launch);
}

/* Upstream makes a tensor even where one was given, and gives it up. */
static tt_status remap_prepare(struct tt_launch *launch)
{
	struct ttnn_tensor_spec spec;
	struct tt_tensor *unused;

	if (!launch->extra)
		return TTNN_OK;
	TT_TRY(wanted_spec(&spec, launch));
	TT_TRY(tt_call_create(&unused, launch->call, launch->device, &spec));
	tt_call_drop(launch->call, unused);
	return TTNN_OK;
}

static tt_status check_counts(const struct tt_launch *launch, uint32_t experts)
{
	int64_t weights = launch->attrs[WEIGHTS].integer;
	int64_t parallel = launch->attrs[PARALLEL].integer;

	TT_REQUIRE(weights > 0, "operation_attributes.non_zero_weight_size > 0",
		   "Number of non zero weights must be non-zero");
	TT_REQUIRE(weights <= experts,
		   "operation_attributes.non_zero_weight_size <= num_cluster_experts",
		   "Number of non Zero weights must be less than or equal to weights");
	TT_REQUIRE(parallel > 0, "expert_parallel_size > 0",
		   "expert parallel size must be non-zero");
	TT_REQUIRE(experts % parallel == 0, "num_cluster_experts % expert_parallel_size == 0",
		   "Number of experts (%u) must be evenly divisible by cluster (%" PRId64 ")",
		   experts, parallel);
	TT_REQUIRE(weights % parallel == 0,
		   "operation_attributes.non_zero_weight_size % expert_parallel_size == 0",
		   "Number of non zero weights (%" PRId64
		   ") must be evenly divisible by expert parallel size (%" PRId64 ")",
		   weights, parallel);
	return TTNN_OK;
}

static tt_status check_output(const struct tt_launch *launch)
{
	struct ttnn_tensor_spec wanted;
	tt_status status;
	char *text;

	if (!launch->extra)
		return TTNN_OK;
	TT_TRY(wanted_spec(&wanted, launch));
	if (ttnn_tensor_spec_equal(&wanted, &launch->outputs[0]->spec))
		return TTNN_OK;
	TT_TRY(ttnn_tensor_spec_text(&text, &wanted, TTNN_DIALECT_TT_METAL));
	status = tt_fail_cond(TTNN_INVALID, "provided_spec == expected_spec",
			      "Invalid output Tensor Spec, expected %s", text);
	ttnn_free(text);
	return status;
}

static tt_status remap_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t axis = launch->attrs[AXIS].integer, size;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "input_routing_weights.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "input tensor expected to be row major");
	TT_REQUIRE(in->shape.rank == 2 && in->shape.dim[0] == 1,
		   "input_routing_weights_shape.rank() == 2 && input_routing_weights_shape[0] == 1",
		   "expected input shape [1,E]");
	TT_TRY(check_counts(launch, in->shape.dim[1]));
	TT_REQUIRE(axis == 0 || axis == 1, "cluster_axis == 0 || cluster_axis == 1",
		   "Invalid cluster axis, should be 0 (rows), or 1 (cols)");
	size = axis ? launch->device->cols : launch->device->rows;
	TT_REQUIRE(launch->attrs[PARALLEL].integer == size,
		   "expert_parallel_size == cluster_axis_size",
		   "expert parallel size (%" PRId64 ") should be the same as size of cluster axis "
		   "%" PRId64 " (%" PRId64 ")",
		   launch->attrs[PARALLEL].integer, axis, size);
	return check_output(launch);
}

static tt_status remap_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t aligned = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t row = tt_align_to(launch->inputs[0]->spec.shape.dim[1] *
					   tt_element_bytes(launch->inputs[0]),
				   aligned);
	uint64_t each =
		(uint64_t)(launch->attrs[WEIGHTS].integer / launch->attrs[PARALLEL].integer);
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return TT_PLAN(plan, one, TT_CB_ROW(0, "routing_weights", .pages = 1, .page = row),
		       TT_CB_ROW(1, "local_weights_idxs", .pages = 1,
				 .page = tt_align_to(each * PLACE_BYTES, aligned)),
		       TT_CB_ROW(2, "local_weights", .pages = 1, .page = row));
}

/* Those that are not zero are counted; a chip keeps its own, by its place along the axis. */
static tt_status remap_kernel(struct tt_launch *launch)
{
	uint64_t each =
		(uint64_t)(launch->attrs[WEIGHTS].integer / launch->attrs[PARALLEL].integer);
	uint64_t place = launch->attrs[AXIS].integer ? launch->chip % launch->device->cols
						     : launch->chip / launch->device->cols;
	struct tt_tensor *out = launch->outputs[0];
	uint64_t count, seen = 0;
	double *weights;

	TT_TRY(tt_values_of(&weights, &count, launch, 0));
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t one[] = {1, 1};
		const int64_t at[] = {0, (int64_t)i};

		if (weights[i] == 0 || seen++ / each != place)
			continue;
		TT_TRY(tt_move_part(
			out, launch->inputs[0],
			&(struct tt_move_block){.extent = one, .in_start = at, .out_start = at}));
	}
	return TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "MoeRoutingRemapDeviceOperation",
	.prim = "ttnn::prim::moe_routing_remap",
	.attrs = &schema,
	.infer = remap_infer,
	.prepare = remap_prepare,
	.validate = remap_validate,
	TT_FACTORY("ttnn::operations::data_movement::MoeRoutingRemapDeviceOperation::SingleCore",
		   remap_memory),
	TT_KERNEL(remap_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true, /* each knows where it is */
};

static tt_status remap_expand(struct tt_call *call)
{
	struct tt_tensor *given = tt_call_tensor(call, "optional_output_tensor");

	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(tt_call_tensor(call, "routing_weights_tensor")),
		TT_OUTPUTS(given), .extra = given,
		TT_BIND(call, schema, [MEMORY] = *tt_call_arg(call, "memory_config")));
}

/* What the first chip keeps; others have others. */
static tt_status remap_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "routing_weights_tensor");
	int64_t weights = tt_call_int(&golden->call, "non_zero_weight_size", 0);
	int64_t parallel = tt_call_int(&golden->call, "expert_parallel_size", 0), seen = 0;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && parallel > 0);
	out = tt_golden_out(golden, &in->shape, in->dtype);
	TT_GOLDEN_NEED(out);
	golden->first_chip = parallel > 1;
	for (uint64_t i = 0; i < in->count && seen < weights / parallel; i++) {
		*tt_at(out, i) = *tt_at(in, i);
		seen += *tt_at(in, i) != 0;
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moe_routing_remap",
	 .doc = "Of the weights of experts those that each chip of a row or column takes.",
	 .sigs = {"routing_weights_tensor: Tensor, non_zero_weight_size: int, "
		  "expert_parallel_size: int, cluster_axis: int, *, memory_config: MemoryConfig? "
		  "= None, optional_output_tensor: Tensor? = None"},
	 .expand = remap_expand,
	 .golden = remap_golden,
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_routing_remap = {"moe_routing_remap", ops, TT_COUNT(ops)};
