/*
 * moe_gpt.c: moe_gpt: which tokens a chip's experts have, what they make of them, and that on cores from where it goes back.
 *
 * Models MoEGPTDeviceOperation of ttnn 0.81 (experimental/ccl/moe_gpt) with its one factory: refusals, five results of which the
 * last two are one buffer, cores of three kinds with their buffers. As there the products are of one shape: 2880 by 2880, with
 * bias, on twelve cores in a ring, each of which reads what the first dimension of the weights has at its place. Not modelled:
 * numbers of less precision on the way. What nobody writes is zeros.
 */
#include <inttypes.h>

#include "golden/golden_moe.h"
#include "ops/collective/moe_gpt.h"
#include "ops/expert_ring.h"

static const struct tt_field fields[] = {[TT_GPT_ROWS] = {.name = "output_height_shard_dim"},
					 [TT_GPT_COLUMNS] = {.name = "output_width_shard_dim"},
					 [TT_GPT_WIDTH] = {.name = "hidden_size"},
					 [TT_GPT_AXIS] = {.name = "cluster_axis"}};
static const struct tt_schema schema = {"operation_attributes_t", fields, TT_COUNT(fields), false};
enum { schema_count = TT_COUNT(fields) };

#define CHUNK 32u /* tokens at a time */
#define TILIZERS 2u

/* ---- specs and refusals ------------------------------------------------------------------------------------- */

/* Numbers in L1. */
static tt_status number_spec(struct tt_launch *launch, size_t output, uint64_t rows, uint64_t words)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};

	TT_NEED(words <= UINT32_MAX, "there are too many tokens");
	return tt_spec_simple(&launch->specs[output], &TT_SHAPE((uint32_t)rows, (uint32_t)words),
			      TTNN_UINT32, TTNN_ROW_MAJOR, &l1);
}

static tt_status gpt_infer(struct tt_launch *launch)
{
	const ttnn_core_set *grid = launch->device->grid;
	uint32_t cores = (uint32_t)ttnn_core_set_cores(grid),
		 width = tt_attr_u32(launch, TT_GPT_WIDTH);
	struct ttnn_memory_config memory = {
		.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true};
	struct ttnn_shape shape = {4, {cores, 2, TT_TILE, width}};
	uint64_t experts, tokens;

	TT_TRY(tt_need_dim(&launch->inputs[TT_GPT_GATE_UP]->spec.shape, 2));
	TT_TRY(tt_need_dim(&launch->inputs[TT_GPT_TOKENS]->spec.shape, 0));
	experts = tt_gpt_experts(launch);
	tokens = (uint64_t)tt_gpt_tokens(launch) + 1;
	launch->output_count = TT_GPT_OUTPUTS;
	TT_TRY(number_spec(
		launch, TT_GPT_COUNTS, 1,
		tt_align_to(experts * TT_GPT_WORD, tt_memory_alignment(launch->device, TTNN_L1)) /
			TT_GPT_WORD));
	TT_TRY(number_spec(launch, TT_GPT_ACTIVE, 1, tokens * tt_gpt_row_words(launch)));
	TT_TRY(number_spec(launch, TT_GPT_MAPS, experts, tokens * tt_gpt_map_words(launch)));
	memory.shard =
		(struct ttnn_shard_spec){.grid = grid, .height = 2 * TT_TILE, .width = width};
	TT_TRY(tt_spec_simple(&launch->specs[TT_GPT_TILES], &shape, TTNN_BFLOAT16, TTNN_TILE,
			      &memory));
	return tt_spec_simple(&launch->specs[TT_GPT_RESULT], &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR,
			      &memory);
}

/* Weights as twelve cores read them; `name` and `text` are upstream's words. */
static tt_status check_weights(const struct tt_launch *launch, size_t input, const char *name,
			       const char *text)
{
	const struct ttnn_shape *shape = &launch->inputs[input]->spec.shape;
	uint32_t banks = launch->device->info.dram_banks;

	TT_REQUIRE(shape->rank == 6,
		   input == TT_GPT_GATE_UP ? "w0_w1_shape.rank() == 6" : "w2_shape.rank() == 6",
		   "%s must have rank 6 %s, got rank %u", name, text, shape->rank);
	TT_REQUIRE(shape->dim[0] == banks,
		   input == TT_GPT_GATE_UP ? "w0_w1_shape[0] == num_matmul_cores"
					   : "w2_shape[0] == num_matmul_cores",
		   "%s dim 0 must equal the number of DRAM-bank-aligned matmul cores (%u), got %u",
		   name, banks, shape->dim[0]);
	if (input == TT_GPT_GATE_UP)
		TT_REQUIRE(shape->dim[2] >= 1, "experts_per_device >= 1",
			   "w0_w1_tensor dim 2 (experts_per_device) must be >= 1, got %u",
			   shape->dim[2]);
	else
		TT_REQUIRE(shape->dim[2] == tt_gpt_experts(launch),
			   "w2_shape[2] == experts_per_device",
			   "w2_tensor dim 2 (experts_per_device) must match w0_w1_tensor (%u), got "
			   "%u",
			   tt_gpt_experts(launch), shape->dim[2]);
	TT_REQUIRE(shape->dim[5] == TT_GPT_GROUP * TT_TILE,
		   input == TT_GPT_GATE_UP ? "w0_w1_shape[5] == expected_tile_width"
					   : "w2_shape[5] == expected_tile_width",
		   "%s dim 5 must be 4*TILE_SIZE (%u), got %u", name, TT_GPT_GROUP * TT_TILE,
		   shape->dim[5]);
	return TTNN_OK;
}

static tt_status check_table(const struct tt_launch *launch, size_t input, const char *name)
{
	const struct ttnn_memory_config *memory = &launch->inputs[input]->spec.memory;

	TT_REQUIRE(memory->layout == TTNN_HEIGHT_SHARDED && memory->buffer == TTNN_L1,
		   input == TT_GPT_CHOICES
			   ? "tensor_args.expert_indices.memory_config().memory_layout() == "
			     "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED && "
			     "tensor_args.expert_indices.memory_config().buffer_type() == "
			     "tt::tt_metal::BufferType::L1"
			   : "tensor_args.expert_scores.memory_config().memory_layout() == "
			     "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED && "
			     "tensor_args.expert_scores.memory_config().buffer_type() == "
			     "tt::tt_metal::BufferType::L1",
		   "%s must be HEIGHT_SHARDED L1 (produced by all_to_all_dispatch_metadata)", name);
	return TTNN_OK;
}

static tt_status gpt_validate(struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[TT_GPT_TOKENS]->spec.shape;
	const struct ttnn_shape *mapping = &launch->inputs[TT_GPT_MAPPING]->spec.shape;
	const struct ttnn_shape *ids = &launch->inputs[TT_GPT_CHOICES]->spec.shape;

	TT_TRY(check_weights(launch, TT_GPT_GATE_UP, "w0_w1_tensor",
			     "(num_cores, L, E, groups_per_core, K, 4*TILE_SIZE)"));
	TT_TRY(check_weights(launch, TT_GPT_DOWN, "w2_tensor",
			     "(num_cores, L, E, 2, N, 4*TILE_SIZE)"));
	TT_REQUIRE(in->rank >= 2, "input_shape.rank() >= 2",
		   "input_tensor (sparse buffer) must be at least rank 2, got %u", in->rank);
	TT_REQUIRE(tt_shape_last(mapping, 1) >= tt_gpt_experts(launch),
		   "experts_total >= experts_per_device",
		   "expert_mapping last dim (experts_total=%u) must be >= experts_per_device (%u)",
		   tt_shape_last(mapping, 1), tt_gpt_experts(launch));
	TT_REQUIRE(ids->rank >= 2, "indices_shape.rank() >= 2",
		   "expert_indices must be at least rank 2, got %u", ids->rank);
	TT_TRY(check_table(launch, TT_GPT_CHOICES, "expert_indices"));
	return check_table(launch, TT_GPT_SCORES, "expert_scores");
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* The first rectangle that has no core of the ring, row after row. */
static tt_status find_collectors(struct tt_gpt_cores *out, const struct tt_launch *launch)
{
	uint32_t wide = tt_attr_u32(launch, TT_GPT_COLUMNS);
	uint32_t high = tt_attr_u32(launch, TT_GPT_ROWS);
	struct ttnn_core grid = launch->device->info.compute_grid;

	for (uint32_t y = 0; (uint64_t)y + high <= grid.y; y++)
		for (uint32_t x = 0; (uint64_t)x + wide <= grid.x; x++) {
			struct ttnn_core_range range = {{x, y}, {x + wide - 1, y + high - 1}};
			const ttnn_core_set *both;

			TT_TRY(ttnn_core_set_make(&out->collectors, &range, 1));
			TT_TRY(tt_core_set_intersect(&both, out->collectors, out->ring));
			out->first = range.start;
			if (!ttnn_core_set_cores(both))
				return TTNN_OK;
		}
	return tt_fail_cond(TTNN_INVALID, "found_combine_range",
			    "Could not find a %ux%u combine core range that avoids matmul cores",
			    wide, high);
}

/* The last cores of the grid that are not of the ring. */
static tt_status find_tilizers(struct tt_gpt_cores *out, const struct tt_launch *launch)
{
	struct ttnn_core grid = launch->device->info.compute_grid, cores[TILIZERS];
	uint32_t found = 0;

	for (uint32_t y = grid.y; y-- && found < TILIZERS;)
		for (uint32_t x = grid.x; x-- && found < TILIZERS;)
			if (!tt_core_set_contains(out->ring, (struct ttnn_core){x, y}))
				cores[found++] = (struct ttnn_core){x, y};
	TT_REQUIRE(found == TILIZERS, "tilize_cores.size() == TILIZE_NUM_CORES",
		   "Could not find %u non-matmul worker cores for tilize", TILIZERS);
	TT_TRY(tt_cores_set(&out->tilizers, cores, TILIZERS));
	return tt_core_set_merge(&out->both, out->tilizers, out->ring);
}

tt_status tt_gpt_cores(struct tt_gpt_cores *out, const struct tt_launch *launch)
{
	struct tt_ring_core ring[TT_RING_MOST];
	struct ttnn_core cores[TT_RING_MOST];
	uint32_t count;

	TT_TRY(tt_ring_cores(ring, &count, launch->device));
	for (uint32_t i = 0; i < count; i++)
		cores[i] = ring[i].core;
	TT_TRY(tt_cores_set(&out->ring, cores, count));
	TT_TRY(find_collectors(out, launch));
	return find_tilizers(out, launch);
}

/* What the tilizers have: who has which tokens, as tables came and as they go on. */
static tt_status tilizer_memory(struct tt_plan *plan, const struct tt_launch *launch,
				const struct tt_gpt_cores *cores)
{
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1), tile;
	uint64_t experts = tt_gpt_experts(launch), tokens = tt_gpt_tokens(launch);
	uint64_t row = (uint64_t)tt_gpt_row_words(launch) * TT_GPT_WORD, half, pages;
	uint64_t in = tt_aligned_page(launch->inputs[TT_GPT_TOKENS]);

	half = tt_align_to(tt_div_up(in, TILIZERS), l1);
	tile = tt_tensor_tile_bytes(launch->inputs[TT_GPT_TOKENS]);
	pages = 2 * (uint64_t)tt_shape_last(&launch->inputs[TT_GPT_TOKENS]->spec.shape, 1) /
		TT_TILE;
	return TT_PLAN(
		plan, cores->tilizers,
		TT_CB_ROW(1, "per_expert_total_tokens", .pages = 1,
			  .page = tt_align_to(experts * TT_GPT_WORD, l1)),
		TT_CB_ROW(2, "total_chunks", .pages = 1, .page = TT_GPT_WORD),
		TT_CB_ROW(6, "e_t", .pages = experts,
			  .page = (tokens + 1) * tt_gpt_map_words(launch) * TT_GPT_WORD),
		TT_CB_ROW(3, "indices_tensor", .pages = launch->inputs[TT_GPT_CHOICES]->spec.pages,
			  .page = tt_aligned_page(launch->inputs[TT_GPT_CHOICES])),
		TT_CB_ROW(5, "scores_tensor", .pages = launch->inputs[TT_GPT_SCORES]->spec.pages,
			  .page = tt_aligned_page(launch->inputs[TT_GPT_SCORES])),
		TT_CB_ROW(4, "mapping_tensor", .pages = launch->inputs[TT_GPT_MAPPING]->spec.pages,
			  .page = tt_aligned_page(launch->inputs[TT_GPT_MAPPING])),
		TT_CB_ROW(7, "tilize_input", .pages = CHUNK, .page = half),
		TT_CB_ROW(8, "expert_activation", .pages = tokens + 1, .page = row),
		TT_CB_ROW(19, "brisc_e_t", .pages = 1, .page = tokens / 2 * l1 * experts),
		TT_CB_ROW(10, "brisc_expert_counts", .pages = 1, .page = TT_GPT_WORD * experts),
		TT_CB_ROW(11, "brisc_expert_activation", .pages = 1, .page = row * (tokens / 2)),
		TT_CB_ROW(12, "brisc_activated_count", .pages = 1, .page = TT_GPT_WORD),
		TT_CB_ROW(13, "remote_counts", .pages = TILIZERS - 1,
			  .page = tt_align_to((experts + 1) * TT_GPT_WORD, l1)),
		TT_CB_ROW(16, "tilize_output", .pages = pages, .page = tile, .cores = cores->both));
}

static tt_status gpt_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t bf16 = tt_tile_bytes_of(TTNN_BFLOAT16), experts = tt_gpt_experts(launch);
	uint64_t result = launch->outputs[TT_GPT_TILES]->spec.pages;
	struct tt_gpt_cores cores;

	TT_TRY(tt_gpt_cores(&cores, launch));
	TT_TRY(TT_PLAN(plan, cores.ring,
		       TT_CB_ROW(0, "cb_r2c_w0", .pages = 14 * 2 * 3,
				 .page = tt_tile_bytes_of(TTNN_BFLOAT4_B)),
		       TT_CB_ROW(2, "cb_c2w_rdy", .pages = 1, .page = TT_GPT_WORD),
		       TT_CB_ROW(3, "cb_w2c_rdy", .pages = 1, .page = TT_GPT_WORD),
		       TT_CB_ROW(4, "cb_s2c_in2", .pages = TT_GPT_TILES_MOST * 6, .page = bf16),
		       TT_CB_ROW(6, "cb_c2c_ones_tile", .pages = 1, .page = bf16),
		       TT_CB_ROW(5, "cb_w2c_md", .pages = 2, .page = 16),
		       TT_CB_ROW(14, "cb_c2s_out", .pages = CHUNK * experts,
				 .page = TT_GPT_TILES_MOST * TT_TILE * 2),
		       TT_CB_ROW(0, "cb_combine_out",
				 .pages = result / ttnn_core_set_cores(launch->device->grid),
				 .page = launch->outputs[TT_GPT_TILES]->spec.page_bytes,
				 .cores = cores.collectors,
				 .backing = launch->outputs[TT_GPT_TILES])));
	return tilizer_memory(plan, launch, &cores);
}

static const struct tt_prog program = {
	.device_op = "MoEGPTDeviceOperation",
	.prim = "ttnn::prim::moe_gpt",
	.attrs = &schema,
	.infer = gpt_infer,
	.validate = gpt_validate,
	TT_FACTORY("ttnn::operations::experimental::moe_gpt::program::MoEGPTMeshWorkloadFactory",
		   gpt_memory),
	TT_KERNEL(tt_gpt_kernel),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
	.view = TT_GPT_RESULT,
};

static tt_status gpt_expand(struct tt_call *call)
{
	static const char *const names[TT_GPT_INPUTS] = {"input_tensor",  "expert_indices",
							 "expert_scores", "expert_mapping",
							 "w0_w1_tensor",  "w2_tensor"};
	struct tt_tensor *in[TT_GPT_INPUTS];

	for (size_t i = 0; i < TT_GPT_INPUTS; i++)
		in[i] = tt_call_tensor(call, names[i]);
	TT_REQUIRE(call->device, "is_device_tensor(input_tensor)",
		   "Device Operations expect device tensors as inputs");
	TT_NEED(tt_call_int(call, "output_height_shard_dim", 0) &&
			tt_call_int(call, "output_width_shard_dim", 0),
		"output_height_shard_dim and output_width_shard_dim must be positive");
	return TT_LAUNCH_RETURN(
		call, &program, .inputs = in, .input_count = TT_GPT_INPUTS,
		TT_BIND(call,
			schema, [TT_GPT_ROWS] = *tt_call_arg(call, "output_height_shard_dim")));
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.moe_gpt",
		.doc = "Which tokens a device's experts have, and what they make of them.",
		.sigs = {"input_tensor: Tensor, *, expert_indices: Tensor, expert_scores: Tensor, "
			 "expert_mapping: Tensor, w0_w1_tensor: Tensor, w2_tensor: Tensor, "
			 "output_height_shard_dim: size = 4, output_width_shard_dim: size = 3, "
			 "hidden_size: size = 2880, cluster_axis: size? = None"},
		.expand = gpt_expand,
		.golden = tt_golden_moe_gpt,
		.pcc = 0.99,
		.gives = "[Tensor]",
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_moe_gpt = {"moe_gpt", ops, TT_COUNT(ops)};
