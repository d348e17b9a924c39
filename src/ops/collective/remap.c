/*
 * remap.c: moe_expert_token_remap: scores of all experts as those of a chip's own, and which of them a run of tokens needs.
 *
 * Models MoeExpertTokenRemapDeviceOperation of ttnn 0.81 (data_movement/moe_expert_token_remap): refusals, output specs, buffers.
 * A chip whose experts the mapping does not name has zeros for them.
 */
#include "golden/golden_collective.h"
#include "ops/collective/exchange.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(MEMORY, "output_mem_config")                                                             \
	X(REDUCTION, "reduction_size")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum { SCORES, MAPPING, CHOICES };
enum { OWN, NEEDED };

/* Rows of a chip's own experts, and one for each run of tokens; both are made even if they were given. */
static tt_status remap_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config plain = {.buffer = TTNN_DRAM};
	const struct ttnn_value *given = &launch->attrs[MEMORY];
	const struct ttnn_memory_config *memory =
		given->kind == TTNN_VALUE_MEMORY ? given->memory : &plain;
	const struct ttnn_tensor_spec *scores = &launch->inputs[SCORES]->spec;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	const struct ttnn_shape *mapping = &launch->inputs[MAPPING]->spec.shape;
	uint64_t tokens;
	uint32_t local;

	TT_NEED(ids->rank == 4 && mapping->rank == 4 && scores->shape.rank == 4,
		"moe_expert_token_remap takes tensors of four dimensions");
	TT_NEED(tt_attr_u32(launch, REDUCTION), "reduction_size must be positive");
	local = mapping->dim[2] / tt_chip_count(launch);
	tokens = (uint64_t)ids->dim[1] * ids->dim[2] / tt_attr_u32(launch, REDUCTION);
	launch->output_count = 2;
	TT_TRY(tt_spec_simple(&launch->specs[OWN], &TT_SHAPE(1, ids->dim[1], ids->dim[2], local),
			      scores->dtype, scores->layout, memory));
	TT_TRY(tt_spec_simple(&launch->specs[NEEDED], &TT_SHAPE(1, 1, (uint32_t)tokens, local),
			      TTNN_UINT16, scores->layout, memory));
	return launch->outputs[OWN] ? tt_create_for_nothing(launch, OWN) : TTNN_OK;
}

static tt_status remap_prepare(struct tt_launch *launch)
{
	return launch->extra ? tt_create_for_nothing(launch, NEEDED) : TTNN_OK;
}

static tt_status check_layouts(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *ids = &launch->inputs[CHOICES]->spec;
	const struct ttnn_tensor_spec *mapping = &launch->inputs[MAPPING]->spec;

	TT_REQUIRE(launch->inputs[SCORES]->spec.layout == TTNN_ROW_MAJOR,
		   "topk_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "topk tensor must be in row major layout");
	TT_REQUIRE(ids->layout == TTNN_ROW_MAJOR,
		   "metadata_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Metadata tensor must be in row major layout");
	TT_REQUIRE(ids->dtype == TTNN_UINT16,
		   "metadata_tensor.dtype() == tt::tt_metal::DataType::UINT16",
		   "Metadata tensor must be uint16");
	TT_REQUIRE(mapping->dtype == TTNN_UINT16,
		   "mapping_tensor.dtype() == tt::tt_metal::DataType::UINT16",
		   "Mapping tensor must be uint16");
	TT_REQUIRE(mapping->layout == TTNN_ROW_MAJOR,
		   "mapping_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Mapping tensor must be in row major layout");
	return TTNN_OK;
}

static tt_status remap_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *scores = &launch->inputs[SCORES]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	const struct ttnn_shape *mapping = &launch->inputs[MAPPING]->spec.shape;
	uint64_t tokens = (uint64_t)ids->dim[1] * ids->dim[2];
	uint32_t run = tt_attr_u32(launch, REDUCTION);

	TT_TRY(check_layouts(launch));
	TT_REQUIRE(mapping->dim[3] == tt_chip_count(launch), "mapping_shape[-1] == num_devices",
		   "Last mapping_tensor dim should be num_devices %u, got %u",
		   tt_chip_count(launch), mapping->dim[3]);
	TT_REQUIRE(
		mapping->dim[2] == scores->dim[3], "mapping_shape[-2] == topk_shape[-1]",
		"Expected mapping shape dim 2 to be equal to topk dim 3 (number of experts), got "
		"%u and %u respectively",
		mapping->dim[2], scores->dim[3]);
	TT_REQUIRE(ids->dim[1] == scores->dim[1], "metadata_shape[1] == topk_shape[1]",
		   "Expected metadata dim 1 to be equal to topk dim 1 (batch size), got %u and %u, "
		   "respectively",
		   ids->dim[1], scores->dim[1]);
	TT_REQUIRE(tokens % run == 0, "batch_seq % reduction_size == 0",
		   "batch * seq (%llu) must be divisible by reduction_size (%u); the writer emits "
		   "one reduced page every reduction_size metadata pages and does not flush a "
		   "partial trailing group",
		   (unsigned long long)tokens, run);
	TT_REQUIRE(ids->dim[2] == scores->dim[2], "metadata_shape[2] == topk_shape[2]",
		   "Scores are of %u tokens a batch, choices of %u", scores->dim[2], ids->dim[2]);
	for (size_t i = OWN; i <= NEEDED; i++)
		TT_REQUIRE(ttnn_shape_equal(&launch->outputs[i]->spec.shape,
					    &launch->specs[i].shape) &&
				   launch->outputs[i]->spec.layout == launch->specs[i].layout,
			   "output_tensor.shape() == output_spec.shape()",
			   "An output that was given has another shape or layout than the result");
	return TTNN_OK;
}

/* On all cores: a row of the mapping, the own experts, a token's choices, two rows of scores, and what is written. */
static tt_status remap_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *own = &launch->outputs[OWN]->spec;

	return TT_PLAN(plan, launch->device->grid,
		       TT_CB_ROW(0, "mapping", .pages = 1,
				 .page = tt_align_to(launch->inputs[MAPPING]->spec.page_bytes, 16)),
		       TT_CB_ROW(1, "local_experts", .pages = 1,
				 .page = tt_align_to(2ull * tt_shape_last(&own->shape, 1), 16)),
		       TT_CB_ROW(2, "metadata", .pages = 1,
				 .page = tt_align_to(launch->inputs[CHOICES]->spec.page_bytes, 16)),
		       TT_CB_ROW(3, "topk", .pages = 2,
				 .page = tt_align_to(launch->inputs[SCORES]->spec.page_bytes, 16)),
		       TT_CB_ROW(4, "output_mapping", .pages = 1, .page = own->page_bytes),
		       TT_CB_ROW(5, "output_reduced", .pages = 1,
				 .page = launch->outputs[NEEDED]->spec.page_bytes));
}

/* The experts that the mapping gives a chip, in order, as many as there is room for. */
static uint32_t own_experts(uint32_t *out, const struct tt_launch *launch, const double *mapping,
			    uint32_t chip)
{
	const struct ttnn_shape *shape = &launch->inputs[MAPPING]->spec.shape;
	uint32_t most = tt_shape_last(&launch->outputs[OWN]->spec.shape, 1), count = 0;

	for (uint32_t expert = 0; expert < shape->dim[2] && count < most; expert++)
		if (mapping[(uint64_t)expert * shape->dim[3] + chip] != 0)
			out[count++] = expert;
	return count;
}

static tt_status remap_chip(const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_shape *ids = &launch->inputs[CHOICES]->spec.shape;
	uint32_t local = tt_shape_last(&launch->outputs[OWN]->spec.shape, 1), k = ids->dim[3];
	uint32_t *experts = tt_arena_calloc(launch->arena, local + 1, sizeof(*experts)), count;
	float *own = tt_chip_zeros(launch, OWN), *needed = tt_chip_zeros(launch, NEEDED);
	uint64_t all = launch->inputs[SCORES]->spec.shape.dim[3];
	double *in[3];

	if (!own || !needed || !experts)
		return tt_fail_nomem();
	for (size_t i = SCORES; i <= CHOICES; i++)
		TT_TRY(tt_chip_read(&in[i], launch, i, chip));
	count = own_experts(experts, launch, in[MAPPING], chip);
	for (uint64_t token = 0; token < (uint64_t)ids->dim[1] * ids->dim[2]; token++)
		for (uint32_t e = 0; e < count; e++)
			for (uint32_t i = 0; i < k; i++) {
				if (in[CHOICES][token * k + i] != experts[e])
					continue;
				own[token * local + e] =
					(float)in[SCORES][token * all + experts[e]];
				needed[token / tt_attr_u32(launch, REDUCTION) * local + e] = 1;
			}
	TT_TRY(tt_chip_write(launch, OWN, chip, own));
	return tt_chip_write(launch, NEEDED, chip, needed);
}

static tt_status remap_kernel(struct tt_launch *launch)
{
	for (uint32_t chip = 0; chip < tt_chip_count(launch); chip++)
		TT_TRY(remap_chip(launch, chip));
	return TTNN_OK;
}

static const struct tt_prog program = {
	.device_op = "MoeExpertTokenRemapDeviceOperation",
	.prim = "ttnn::prim::moe_expert_token_remap",
	.attrs = &schema,
	.infer = remap_infer,
	.prepare = remap_prepare,
	.validate = remap_validate,
	TT_FACTORY("ttnn::operations::data_movement::MoeExpertTokenRemapDeviceOperation::Multicore",
		   remap_memory),
	TT_KERNEL(remap_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
	.drops_forward = true,
};

static tt_status remap_expand(struct tt_call *call)
{
	struct tt_tensor *in[3] = {tt_call_tensor(call, "topk_tensor"),
				   tt_call_tensor(call, "expert_mapping_tensor"),
				   tt_call_tensor(call, "expert_metadata_tensor")};
	struct tt_tensor *needed = tt_call_tensor(call, "optional_output_reduced_tensor");

	for (size_t i = 0; i < 3; i++)
		TT_REQUIRE(tt_tensor_device(in[i]), "storage_type == DEVICE",
			   "%s: the tensor must be on a device", call->entry->op->name);
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = in, .input_count = 3,
		TT_OUTPUTS(tt_call_tensor(call, "optional_output_mapping_tensor"), needed),
		.extra = needed,
		TT_BIND(call, schema, [MEMORY] = *tt_call_arg(call, "memory_config")));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.moe_expert_token_remap",
		.doc = "Scores of all experts as those of a device's own, and which of them tokens need.",
		.sigs = {"topk_tensor: Tensor, expert_mapping_tensor: Tensor, "
			 "expert_metadata_tensor: Tensor, *, memory_config: MemoryConfig? = None, "
			 "optional_output_mapping_tensor: Tensor? = None, "
			 "optional_output_reduced_tensor: Tensor? = None, reduction_size: int = 16"},
		.expand = remap_expand,
		.golden = tt_golden_expert_token_remap,
		.gives = "[Tensor]",
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_expert_token_remap = {"collective", ops, TT_COUNT(ops)};
