/*
 * moe_compute.c: moe_compute: which tokens a chip's experts have, what those make of them, and that back in the order of the tokens.
 *
 * Models MoEComputeDeviceOperation of ttnn 0.81 (experimental/ccl/moe_compute) with its one factory on one chip, along an axis of
 * one, or along an axis of more, whose chips get the rows of their tokens back over the fabric: refusals, five or six results of
 * which the fourth and fifth are one buffer, cores of three kinds (moe_places.c) with their buffers, two semaphores where chips wait
 * for each other. Not modelled: numbers of less precision on the way. What nobody writes is zeros.
 */
#include "ops/collective/moe_compute.h"

#include <inttypes.h>
#include <math.h>

#include "device/fabric.h"
#include "device/program.h"
#include "golden/golden_moe.h"
#include "ops/collective/collective.h"
#include "ops/collective/moe_places.h"
#include "ops/collective/reduce_combine.h"
#include "ops/op_enums.h"
#include "tensor/spread.h"
#include "tensor/text.h"

static const struct tt_enum_row path_rows[] = {{TT_MOE_ONLY, "ComputeOnly"},
					       {TT_MOE_DEVICE, "SingleDevice"},
					       {TT_MOE_CLUSTER, "SingleCluster"},
					       {TT_MOE_FABRIC, "FullCcl"}};
static const struct tt_enum path_enum = {"MoEComputePath", path_rows, TT_COUNT(path_rows)};

static const struct tt_field fields[TT_MOE_ATTRS] = {
	[TT_MOE_LAYER] = {.name = "layer_id"},
	[TT_MOE_HEIGHT] = {.name = "output_height_shard_dim"},
	[TT_MOE_BETWEEN] = {.name = "intermediate_size"},
	[TT_MOE_SHARED] = {.name = "num_shared_experts_per_device"},
	[TT_MOE_BIAS] = {.name = "has_bias"},
	[TT_MOE_ROWS] = {.name = "num_token_parallel_cores"},
	[TT_MOE_COLUMNS] = {.name = "num_data_parallel_cores"},
	[TT_MOE_PATH] = {.name = "path"},
	[TT_MOE_RING] = {.name = "bh_ring_size"},
	[TT_MOE_COMBINE] = {.name = "combine_params"},
	[TT_MOE_ACTIVATION] = {.name = "activation_type"},
	[TT_MOE_LIMIT] = {.name = "activation_limit"},
	[TT_MOE_FIDELITY] = {.name = "math_fidelity"},
	[TT_MOE_FP32] = {.name = "fp32_dest_acc_en"},
};
static const struct tt_schema schema = {"MoEComputeParams", fields, TT_COUNT(fields), false};
enum { schema_count = TT_COUNT(fields) };

TT_ATTRS(combine_schema, "SelectiveReduceCombineParams", TT_REDUCE_COMBINE_ATTRS);

#define PARTS_MOST 4u /* into which the columns of a result are cut */

/* ---- specs -------------------------------------------------------------------------------------------------- */

static tt_status number_spec(struct tt_launch *launch, size_t output, uint64_t rows, uint64_t words)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};

	TT_NEED(words <= UINT32_MAX, "there are too many tokens");
	return tt_spec_simple(&launch->specs[output], &TT_SHAPE((uint32_t)rows, (uint32_t)words),
			      TTNN_UINT32, TTNN_ROW_MAJOR, &l1);
}

static const struct ttnn_memory_config *combined_memory(const struct tt_launch *launch)
{
	return launch->attrs[TT_MOE_COMBINE].items[MEMORY].memory;
}

static tt_status moe_infer(struct tt_launch *launch)
{
	const ttnn_core_set *grid = launch->device->grid;
	uint32_t cores = (uint32_t)ttnn_core_set_cores(grid), width = tt_moe_width(launch);
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1), words;
	uint32_t k = tt_shape_last(&launch->inputs[TT_MOE_CHOICES]->spec.shape, 1);
	uint64_t experts = tt_moe_experts(launch), tokens = tt_moe_tokens(launch);
	struct ttnn_memory_config memory = {
		.layout = TTNN_HEIGHT_SHARDED, .buffer = TTNN_L1, .has_shard = true};
	struct ttnn_shape shape = {4, {cores, TT_MOE_HALVES, TT_TILE, width}};

	words = tt_align_to(experts * TT_MOE_WORD, l1) / TT_MOE_WORD;
	launch->output_count = launch->attrs[TT_MOE_PATH].integer == TT_MOE_ONLY ? TT_MOE_COMBINED
										 : TT_MOE_OUTPUTS;
	memory.shard =
		(struct ttnn_shard_spec){.grid = grid, .height = 1, .width = (uint32_t)words};
	TT_TRY(tt_spec_simple(&launch->specs[TT_MOE_COUNTS], &TT_SHAPE(cores, (uint32_t)words),
			      TTNN_UINT32, TTNN_ROW_MAJOR, &memory));
	TT_TRY(number_spec(launch, TT_MOE_ACTIVE, 1, tokens * tt_moe_row_words(launch)));
	TT_TRY(number_spec(launch, TT_MOE_MAPS, experts, (tokens + 1) * tt_moe_map_words(launch)));
	memory.shard.height = TT_MOE_HALVES * TT_TILE;
	memory.shard.width = width;
	TT_TRY(tt_spec_simple(&launch->specs[TT_MOE_TILES], &shape, TTNN_BFLOAT16, TTNN_TILE,
			      &memory));
	TT_TRY(tt_spec_simple(&launch->specs[TT_MOE_RESULT], &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR,
			      &memory));
	if (launch->output_count == TT_MOE_COMBINED)
		return TTNN_OK;
	tokens /= tt_moe_members(launch);
	return tt_spec_simple(
		&launch->specs[TT_MOE_COMBINED], &TT_SHAPE(k, (uint32_t)tokens, width),
		launch->inputs[TT_MOE_TOKENS]->spec.dtype, TTNN_ROW_MAJOR, combined_memory(launch));
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

static tt_status check_inputs(const struct tt_launch *launch)
{
	static const struct {
		const char *cond, *text;
		uint32_t rank;
		bool exact;
	} ranks[TT_MOE_INPUTS] = {
		{"rank_of(tensor_args.tilize_input_tensor) >= 3",
		 "tilize_input_tensor must be rank >= 3 ([..., tokens, hidden]); got rank %u", 3,
		 false},
		{"rank_of(tensor_args.tilize_expert_indices_tensor) >= 2",
		 "tilize_expert_indices_tensor must be rank >= 2 ([..., tokens, K]); got rank %u",
		 2, false},
		{"rank_of(tensor_args.tilize_expert_scores_tensor) >= 2",
		 "tilize_expert_scores_tensor must be rank >= 2 ([..., tokens, K]); got rank %u", 2,
		 false},
		{"rank_of(tensor_args.tilize_expert_mapping_tensor) == 2",
		 "tilize_expert_mapping_tensor must be rank 2 ([num_devices, experts]); got rank %u",
		 2, true},
		{"rank_of(tensor_args.matmul_w0_w1_tensor) == 6",
		 "matmul_w0_w1_tensor must be rank 6 ([num_cores, L, E, groups_per_core, K, "
		 "4*TILE_SIZE]); got rank %u",
		 6, true},
		{"rank_of(tensor_args.matmul_w2_tensor) == 6",
		 "matmul_w2_tensor must be rank 6 ([num_cores, L, E, groups_per_core, N, "
		 "4*TILE_SIZE]); got rank %u",
		 6, true}};
	const struct ttnn_tensor_spec *in = &launch->inputs[TT_MOE_TOKENS]->spec;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR,
		   "tensor_args.tilize_input_tensor.layout() == tt::tt_metal::Layout::ROW_MAJOR",
		   "Input tensor must be in row major layout");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16,
		   "tensor_args.tilize_input_tensor.dtype() == tt::tt_metal::DataType::BFLOAT16",
		   "Input tensor must be bfloat16");
	TT_REQUIRE(launch->inputs[TT_MOE_CHOICES]->spec.dtype == TTNN_UINT16,
		   "tensor_args.tilize_expert_indices_tensor.dtype() == "
		   "tt::tt_metal::DataType::UINT16",
		   "Indices tensor must be uint16");
	for (size_t i = 0; i < TT_MOE_INPUTS; i++) {
		uint32_t rank = launch->inputs[i]->spec.shape.rank;

		if (rank < ranks[i].rank || (ranks[i].exact && rank != ranks[i].rank))
			return tt_fail_cond(TTNN_INVALID, ranks[i].cond, ranks[i].text, rank);
		TT_NEED(tt_shape_count(&launch->inputs[i]->spec.shape),
			"moe_compute takes no empty tensors");
	}
	return TTNN_OK;
}

static tt_status check_activation(const struct tt_launch *launch)
{
	bool clamped = launch->attrs[TT_MOE_ACTIVATION].integer == TT_MOE_CLAMPED;
	const struct ttnn_value *limit = &launch->attrs[TT_MOE_LIMIT];

	TT_REQUIRE(clamped == tt_value_given(limit),
		   "(args.activation_type == detail::MoEActivationFunction::CLAMPED_SILU) == "
		   "args.activation_limit.has_value()",
		   "activation_limit is required for CLAMPED_SILU and must be omitted for other "
		   "activations");
	TT_REQUIRE(!clamped || (isfinite(limit->real) && limit->real > 0),
		   "!args.activation_limit.has_value() || (std::isfinite(*args.activation_limit) "
		   "&& *args.activation_limit > 0.0f)",
		   "activation_limit must be finite and positive, got %g", limit->real);
	return TTNN_OK;
}

/* With a bias rows are whole blocks. */
static tt_status check_bias(const struct tt_launch *launch)
{
	uint32_t k = tt_shape_last(&launch->inputs[TT_MOE_GATE_UP]->spec.shape, 2);
	uint32_t n = tt_shape_last(&launch->inputs[TT_MOE_DOWN]->spec.shape, 2);
	struct tt_expert_ring ring;
	uint32_t high;

	if (!launch->attrs[TT_MOE_BIAS].integer)
		return TTNN_OK;
	TT_TRY(tt_moe_ring(&ring, launch));
	high = tt_ring_block_rows(&ring, TT_RING_WIDE);
	TT_REQUIRE(k % (high * TT_TILE) == 0, "w0_w1_k % w0w1_rows_per_block == 0",
		   "matmul_w0_w1_tensor K-dimension (%u) must be a multiple of %u elements (%u "
		   "tiles * %u rows/tile) when has_bias=True. Use "
		   "moe_compute_utils.prepare_w0_w1_tensor_with_bias() to prepare the tensor.",
		   k, high * TT_TILE, high, TT_TILE);
	TT_REQUIRE(n % (high * TT_TILE) == 0, "w2_n % w2_rows_per_block == 0",
		   "matmul_w2_tensor N-dimension (%u) must be a multiple of %u elements (%u tiles "
		   "* %u rows/tile) when has_bias=True. Use "
		   "moe_compute_utils.prepare_w2_tensor_with_bias() to prepare the tensor.",
		   n, high * TT_TILE, high, TT_TILE);
	return TTNN_OK;
}

static tt_status check_extents(const struct tt_launch *launch)
{
	uint32_t between = tt_attr_u32(launch, TT_MOE_BETWEEN), width = tt_moe_width(launch);
	uint32_t ring = tt_attr_u32(launch, TT_MOE_RING),
		 parts = tt_attr_u32(launch, TT_MOE_COLUMNS);
	uint64_t shared = tt_value_given(&launch->attrs[TT_MOE_SHARED])
				  ? tt_attr_u32(launch, TT_MOE_SHARED)
				  : 0;

	TT_REQUIRE(width > 0 && width % TT_TILE == 0, "hidden_size > 0 && hidden_size % 32 == 0",
		   "hidden_size (%u) must be a positive multiple of 32 (TILE_SIZE)", width);
	TT_REQUIRE(between > 0 && between % TT_TILE == 0,
		   "intermediate_size > 0 && intermediate_size % 32 == 0",
		   "intermediate_size (%u) must be a positive multiple of 32 (TILE_SIZE)", between);
	TT_REQUIRE(between / TT_TILE >= ring, "intermediate_tiles >= matmul_num_cores",
		   "intermediate_size (%u) must yield at least 1 tile per ring core (%u tiles < %u "
		   "cores)",
		   between, between / TT_TILE, ring);
	TT_NEED(width / TT_TILE % parts == 0,
		"the columns of a token must be dealt out to cores evenly");
	TT_REQUIRE(shared <= tt_moe_experts(launch),
		   "args.num_shared_experts_per_device <= experts_per_device",
		   "num_shared_experts_per_device (%" PRIu64 ") must be <= experts_per_device (%u)",
		   shared, tt_moe_experts(launch));
	return TTNN_OK;
}

/* Chips beside an axis of one work on the same tokens. */
static tt_status check_copies(const struct tt_launch *launch)
{
	static const char *const names[TT_MOE_MAPPING + 1] = {"input", "expert indices",
							      "expert scores", "expert mapping"};

	for (size_t i = 0; i <= TT_MOE_MAPPING; i++)
		TT_REQUIRE(launch->attrs[TT_MOE_PATH].integer != TT_MOE_CLUSTER ||
				   launch->device->rows * launch->device->cols == 1 ||
				   !(launch->inputs[i]->spread & TT_SPREAD_CUTS),
			   "std::holds_alternative<tt::tt_metal::distributed::MeshMapperConfig::"
			   "Replicate>(placement)",
			   "moe_compute over a mesh axis of extent 1 on a multi-device mesh "
			   "requires a fully replicated %s topology (every coordinate reads the "
			   "whole token set and its routing); the caller reduces the per-device "
			   "partials",
			   names[i]);
	return TTNN_OK;
}

static tt_status check_given(const struct tt_launch *launch)
{
	const struct tt_tensor *out = launch->extra;
	const struct ttnn_tensor_spec *spec = &launch->specs[TT_MOE_COMBINED];
	struct tt_str texts[2] = {0};
	tt_status status;

	if (launch->attrs[TT_MOE_PATH].integer != TT_MOE_CLUSTER || !out ||
	    (ttnn_shape_equal(&out->spec.shape, &spec->shape) &&
	     out->spec.layout == TTNN_ROW_MAJOR && out->spec.dtype == spec->dtype))
		return TTNN_OK;
	tt_text_shape(&texts[0], &spec->shape, TTNN_DIALECT_TT_METAL);
	tt_text_shape(&texts[1], &out->spec.shape, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(
		TTNN_INVALID,
		"out.logical_shape() == expected_shape && out.layout() == "
		"tt::tt_metal::Layout::ROW_MAJOR && out.dtype() == "
		"tensor_args.tilize_input_tensor.dtype()",
		"optional_output_tensor must be a %s row-major DataType::%s tensor for the local "
		"output path; got shape %s layout Layout::%s dtype DataType::%s",
		tt_str_text(&texts[0]), ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL),
		tt_str_text(&texts[1]), tt_enum_name(&tt_enum_layout, out->spec.layout),
		ttnn_dtype_name(out->spec.dtype, TTNN_DIALECT_TT_METAL));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return status;
}

static tt_status moe_validate(struct tt_launch *launch)
{
	uint64_t tokens, most;

	TT_TRY(check_activation(launch));
	TT_TRY(check_inputs(launch));
	TT_TRY(check_bias(launch));
	tokens = tt_moe_tokens(launch);
	most = (uint64_t)TT_MOE_CHUNK * tt_attr_u32(launch, TT_MOE_COLUMNS) *
	       tt_attr_u32(launch, TT_MOE_ROWS);
	TT_REQUIRE(most >= tokens, "max_tokens >= total_tokens",
		   "Too many tokens in input, got: %" PRIu64 " but expected max: %" PRIu64, tokens,
		   most);
	TT_TRY(check_copies(launch));
	TT_TRY(check_given(launch));
	TT_REQUIRE(launch->attrs[TT_MOE_PATH].integer != TT_MOE_FABRIC ||
			   launch->attrs[TT_MOE_COMBINE].items[LINKS].integer > 0,
		   "args.combine_params->num_links > 0", "num_links must be greater than 0");
	return check_extents(launch);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

uint64_t tt_moe_blocks_up(const struct tt_expert_ring *ring, bool bias)
{
	uint32_t rows = ring->in + bias, high = tt_ring_block_rows(ring, TT_RING_WIDE);
	uint64_t blocks = 0;

	for (uint32_t core = 0; core < ring->cores; core++) {
		uint32_t columns = tt_ring_stored(ring, core);

		blocks += columns / 2 * tt_div_up(rows, high) +
			  columns % 2 * tt_div_up(rows, tt_ring_block_rows(ring, TT_RING_HALF));
	}
	return ring->cores ? tt_div_up(blocks, ring->cores) : 0;
}

uint64_t tt_moe_blocks_down(const struct tt_expert_ring *ring, bool bias)
{
	uint32_t high = tt_ring_block_rows(ring, TT_RING_WIDE);
	uint64_t lines = tt_ring_filled(ring, ring->between + bias, TT_RING_WIDE);

	if (tt_ring_half_down(ring))
		return ((tt_ring_groups_down(ring) - 1) * lines + lines / 2) / high;
	return tt_ring_groups_down(ring) * lines / high;
}

static tt_status check_pages(const struct tt_launch *launch)
{
	uint64_t has[2], blocks[2], all = (uint64_t)tt_moe_layers(launch) * tt_moe_experts(launch);
	bool bias = launch->attrs[TT_MOE_BIAS].integer;
	uint32_t tiles, layers = tt_moe_layers(launch), experts = tt_moe_experts(launch);
	struct tt_expert_ring ring;

	TT_TRY(tt_moe_ring(&ring, launch));
	TT_REQUIRE(launch->inputs[TT_MOE_GATE_UP]->spec.memory.has_shard,
		   "is_sharded(impl_->buffer_layout_)", "Buffer not sharded");
	tiles = 2 * ring.transaction;
	has[0] = launch->inputs[TT_MOE_GATE_UP]->spec.pages;
	has[1] = launch->inputs[TT_MOE_DOWN]->spec.pages;
	blocks[0] = tt_moe_blocks_up(&ring, bias);
	blocks[1] = tt_moe_blocks_down(&ring, bias);
	TT_REQUIRE(has[0] == all * blocks[0] * tiles * ring.cores,
		   "w0_w1_total_pages_buf == w0_w1_expected_pages",
		   "moe_compute: w0_w1 tensor has %" PRIu64
		   " tile pages, the compact layout for %u layers x %u experts over %u banks needs "
		   "%" PRIu64 " (%" PRIu64 " blocks of %u tiles per bank per expert); pack it with "
		   "prepare_w0_w1_tensor_for_moe_compute",
		   has[0], layers, experts, ring.cores, all * blocks[0] * tiles * ring.cores,
		   blocks[0], tiles);
	TT_REQUIRE(has[1] == all * blocks[1] * tiles * ring.cores,
		   "w2_total_pages_buf == w2_expected_pages",
		   "moe_compute: w2 tensor has %" PRIu64
		   " tile pages, the layout for %u layers x %u experts over %u ring cores needs "
		   "%" PRIu64 " (%" PRIu64 " blocks of %u tiles per core per expert); pack it with "
		   "prepare_w2_tensor_for_moe_compute",
		   has[1], layers, experts, ring.cores, all * blocks[1] * tiles * ring.cores,
		   blocks[1], tiles);
	return TTNN_OK;
}

/* What cores that tilize have: who has which tokens, as tables came and as they go on. */
static tt_status tilizer_memory(struct tt_plan *plan, const struct tt_launch *launch,
				const ttnn_core_set *cores)
{
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1), count, part, units;
	uint64_t experts = tt_moe_experts(launch), tokens = tt_moe_rows(launch);
	uint64_t row = tt_moe_row_words(launch) * TT_MOE_WORD, in;
	struct tt_tensor *const *inputs = launch->inputs;

	count = ttnn_core_set_cores(cores);
	in = tt_aligned_page(inputs[TT_MOE_TOKENS]);
	part = tt_align_to(tt_div_up(in, count), l1);
	units = tt_div_up(tt_div_up(in, part), count);
	TT_TRY(TT_PLAN(
		plan, cores,
		TT_CB_ROW(7, "e_t", .pages = experts,
			  .page = launch->outputs[TT_MOE_MAPS]->spec.page_bytes),
		TT_CB_ROW(4, "indices_tensor", .pages = inputs[TT_MOE_CHOICES]->spec.pages,
			  .page = tt_aligned_page(inputs[TT_MOE_CHOICES]),
			  .backing = inputs[TT_MOE_CHOICES]),
		TT_CB_ROW(6, "scores_tensor", .pages = inputs[TT_MOE_SCORES]->spec.pages,
			  .page = tt_aligned_page(inputs[TT_MOE_SCORES]),
			  .backing = inputs[TT_MOE_SCORES]),
		TT_CB_ROW(5, "mapping_tensor", .pages = inputs[TT_MOE_MAPPING]->spec.pages,
			  .page = tt_aligned_page(inputs[TT_MOE_MAPPING])),
		TT_CB_ROW(8, "tilize_input", .pages = TT_MOE_CHUNK, .page = units * part),
		TT_CB_ROW(9, "expert_activation", .pages = tokens, .page = row),
		TT_CB_ROW(10, "brisc_e_t", .pages = 1, .page = tt_div_up(tokens, 2) * l1 * experts),
		TT_CB_ROW(11, "brisc_expert_counts", .pages = 1, .page = TT_MOE_WORD * experts),
		TT_CB_ROW(12, "brisc_expert_activation", .pages = 1,
			  .page = row * tt_div_up(tokens, 2)),
		TT_CB_ROW(13, "brisc_activated_count", .pages = 1, .page = TT_MOE_WORD)));
	/* One core alone has nothing to hear of others, and room for it all the same. */
	TT_TRY(tt_plan_empty(plan, &(struct tt_buffer_row)TT_CB_ROW(
					   14, "remote_counts", .pages = count - 1,
					   .page = tt_align_to((experts + 1) * TT_MOE_WORD, l1),
					   .cores = cores)));
	return TT_PLAN(plan, cores, TT_CB_ROW(3, "total_chunks", .pages = 1, .page = l1));
}

static tt_status ring_memory(struct tt_plan *plan, const struct tt_launch *launch,
			     const ttnn_core_set *cores)
{
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t bf16 = tt_tile_bytes_of(TTNN_BFLOAT16);
	struct tt_expert_ring ring;

	TT_TRY(tt_moe_ring(&ring, launch));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(3, "cb_r2c_w0", .pages = tt_ring_kept(&ring),
				 .page = tt_tile_bytes_of(TTNN_BFLOAT4_B)),
		       TT_CB_ROW(4, "cb_c2w_rdy", .pages = 1, .page = l1),
		       TT_CB_ROW(5, "cb_w2c_rdy", .pages = 1, .page = l1),
		       TT_CB_ROW(6, "cb_s2c_in2",
				 .pages = (uint64_t)tt_ring_exchanged(&ring) * ring.cores,
				 .page = bf16),
		       TT_CB_ROW(7, "cb_w2c_md", .pages = 2, .page = l1),
		       TT_CB_ROW(8, "cb_c2c_ones_tile",
				 .pages = launch->attrs[TT_MOE_BIAS].integer != 0, .page = bf16),
		       TT_CB_ROW(9, "cb_local_rows",
				 .pages = launch->attrs[TT_MOE_PATH].integer == TT_MOE_CLUSTER,
				 .page = TT_MOE_CHUNK * l1));
}

/* What experts made, where it lies; whose tokens they are; and what the fabric would be told. */
static tt_status combine_memory(struct tt_plan *plan, const struct tt_launch *launch,
				const ttnn_core_set *cores)
{
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);
	uint64_t experts = tt_moe_experts(launch);
	struct tt_tensor *const *outputs = launch->outputs;

	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(9, "data", .pages = 1,
			  .page = outputs[TT_MOE_TILES]->spec.bytes /
				  ttnn_core_set_cores(launch->device->grid),
			  .backing = outputs[TT_MOE_TILES]),
		TT_CB_ROW(10, "dense_token_maps", .pages = experts,
			  .page = tt_align_to(outputs[TT_MOE_MAPS]->spec.page_bytes, l1)),
		TT_CB_ROW(
			11, "token_counts", .pages = 1,
			.page = tt_align_to(outputs[TT_MOE_COUNTS]->spec.page_bytes +
						    TT_COMBINE_COUNT_WORDS * experts * TT_MOE_WORD,
					    l1)),
		TT_CB_ROW(12, "token_activations", .pages = 1,
			  .page = tt_align_to(outputs[TT_MOE_ACTIVE]->spec.page_bytes, l1)),
		TT_CB_ROW(13, "client_interface", .pages = 3, .page = TT_COMBINE_CLIENT_BYTES));
}

/* Tokens of a local result are whole pages. */
static tt_status check_local(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *memory = combined_memory(launch);
	struct tt_str text = {0};
	tt_status status;

	if (memory->layout == TTNN_INTERLEAVED || memory->layout == TTNN_HEIGHT_SHARDED)
		return TTNN_OK;
	tt_text_memory_config(&text, memory, TTNN_DIALECT_TT_METAL);
	status = tt_fail_cond(
		TTNN_INVALID,
		"layout == TensorMemoryLayout::INTERLEAVED || layout == "
		"TensorMemoryLayout::HEIGHT_SHARDED",
		"the [k, T, H] output is written one token row per TensorAccessor page and a row is "
		"not split across column pages, so the output memory config must be INTERLEAVED or "
		"HEIGHT_SHARDED row-major (WIDTH_SHARDED, BLOCK_SHARDED and ND sharding need a "
		"column-page split that is not implemented); got %s",
		tt_str_text(&text));
	tt_str_deinit(&text);
	return status;
}

/* Cores that combine are dealt out to links; a token's columns on one of them are a packet. */
static tt_status check_workers(const struct tt_launch *launch)
{
	uint64_t bytes = (uint64_t)tt_moe_width(launch) * sizeof(uint16_t), workers;
	uint32_t links = (uint32_t)launch->attrs[TT_MOE_COMBINE].items[LINKS].integer;
	struct tt_combine_cut cut;

	TT_TRY(tt_combine_cut_find(&cut, bytes, tt_attr_u32(launch, TT_MOE_COLUMNS), true));
	workers = cut.pieces * tt_attr_u32(launch, TT_MOE_ROWS);
	TT_REQUIRE(workers % links == 0, "num_links > 0 && num_workers % num_links == 0",
		   "num_workers (%" PRIu64 ") must be divisible by num_links (%u)", workers, links);
	return TTNN_OK;
}

uint32_t tt_moe_members(const struct tt_launch *launch)
{
	return launch->attrs[TT_MOE_PATH].integer == TT_MOE_FABRIC
		       ? tt_group_size(launch->device, tt_moe_along(launch))
		       : 1;
}

bool tt_moe_along(const struct tt_launch *launch)
{
	const struct ttnn_value *combine = &launch->attrs[TT_MOE_COMBINE];

	return !tt_value_given(combine) || combine->items[AXIS].integer != 0;
}

tt_status tt_moe_places_of(struct tt_moe_places *out, const struct tt_launch *launch)
{
	const struct ttnn_value *combine = &launch->attrs[TT_MOE_COMBINE];
	uint64_t combining =
		(uint64_t)tt_attr_u32(launch, TT_MOE_ROWS) * tt_attr_u32(launch, TT_MOE_COLUMNS);

	return tt_moe_place(out, launch->device, combining, tt_moe_width(launch) / TT_TILE,
			    tt_value_given(combine) && tt_value_given(&combine->items[MUX])
				    ? combine->items[MUX].core_set
				    : NULL);
}

static tt_status moe_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *tiles = launch->outputs[TT_MOE_TILES];
	const ttnn_core_set *grid = launch->device->grid;
	struct tt_moe_places found;
	uint64_t pages = tiles->spec.pages / ttnn_core_set_cores(grid);
	int64_t path = launch->attrs[TT_MOE_PATH].integer;

	TT_TRY(tt_moe_places_of(&found, launch));
	TT_TRY(TT_PLAN(plan, grid,
		       TT_CB_ROW(0, "tilize_output", .pages = pages, .page = tiles->spec.page_bytes,
				 .backing = tiles),
		       TT_CB_ROW(1, "matmul_writer", .pages = pages, .page = tiles->spec.page_bytes,
				 .backing = tiles),
		       TT_CB_ROW(2, "per_expert_total_tokens", .pages = 1,
				 .page = launch->outputs[TT_MOE_COUNTS]->spec.page_bytes,
				 .cores = found.all, .backing = launch->outputs[TT_MOE_COUNTS])));
	TT_TRY(tilizer_memory(plan, launch, found.tilizers));
	TT_TRY(ring_memory(plan, launch, found.ring));
	TT_TRY(check_pages(launch));
	if (path == TT_MOE_ONLY)
		return TTNN_OK;
	if (path == TT_MOE_CLUSTER)
		return check_local(launch);
	if (path == TT_MOE_FABRIC)
		TT_TRY(check_workers(launch));
	TT_TRY(combine_memory(plan, launch, found.combiners));
	return path == TT_MOE_FABRIC
		       ? tt_combine_check_mux(plan, launch, launch->attrs[TT_MOE_COMBINE].items,
					      found.combiners)
		       : TTNN_OK;
}

/* Beside an axis of one as the tokens are, whatever the weights are. */
static uint64_t moe_spread(const struct tt_launch *launch)
{
	const struct tt_spread_tensors all = {launch->inputs, launch->outputs, launch->input_count,
					      launch->output_count};

	return launch->attrs[TT_MOE_PATH].integer == TT_MOE_CLUSTER
		       ? launch->inputs[TT_MOE_TOKENS]->spread
		       : tt_spread_of_results(&all);
}

/* Chips wait for each other twice; the caller's semaphore may be the second. */
static tt_status moe_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = 0;
	if (launch->attrs[TT_MOE_PATH].integer != TT_MOE_FABRIC)
		return TTNN_OK;
	return tt_keep_semaphores(
		launch, tt_value_given(&launch->attrs[TT_MOE_COMBINE].items[SIGNAL]) ? 1 : 2,
		tt_has_l1_small(launch->device));
}

static const struct tt_prog program = {
	.device_op = "MoEComputeDeviceOperation",
	.prim = "ttnn::prim::moe_compute",
	.attrs = &schema,
	.infer = moe_infer,
	.validate = moe_validate,
	.choose = moe_choose,
	.spread = moe_spread,
	TT_FACTORY("ttnn::experimental::prim::MoEComputeMeshWorkloadFactory", moe_memory),
	TT_KERNEL(tt_moe_kernel),
	.per_chip = true,
	.together = true,
	.drops_forward = true,
	.kept_order = TT_KEPT_BUILT_FORWARD,
	.view = TT_MOE_RESULT,
};

/* ---- the call ------------------------------------------------------------------------------------------------- */

/* Arguments of the way over the fabric, which `how` does not take; upstream's words. */
static tt_status check_absent(const struct tt_call *call, const char *how, const char *const *names,
			      size_t count)
{
	static const char *const conds[][2] = {
		{"cluster_axis", "!cluster_axis.has_value()"},
		{"topology", "!topology.has_value()"},
		{"num_links", "!num_links.has_value()"},
		{"mux_core_range_set", "!mux_core_range_set.has_value()"},
		{"optional_cross_device_semaphore", "!optional_cross_device_semaphore.has_value()"},
		{"optional_output_tensor", "!optional_output_tensor.has_value()"}};

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < TT_COUNT(conds); k++)
			TT_REQUIRE(strcmp(names[i], conds[k][0]) != 0 ||
					   !tt_value_given(tt_call_arg(call, names[i])),
				   conds[k][1], "moe_compute(%s) requires %s to be std::nullopt",
				   how, names[i]);
	return TTNN_OK;
}

static tt_status find_path(enum tt_moe_path *out, const struct tt_call *call,
			   const struct tt_device *device)
{
	static const char *const absent[] = {"cluster_axis",
					     "topology",
					     "num_links",
					     "mux_core_range_set",
					     "optional_cross_device_semaphore",
					     "optional_output_tensor"};
	const struct ttnn_value *axis = tt_call_arg(call, "cluster_axis");
	uint32_t chips = device->rows * device->cols;
	bool given = tt_value_given(axis), only = tt_call_arg(call, "compute_only")->integer;

	TT_REQUIRE(!given || axis->integer < 2, "*cluster_axis < mesh_shape.dims()",
		   "cluster_axis %" PRId64 " is out of range for a mesh with 2 axes",
		   axis->integer);
	*out = only                                       ? TT_MOE_ONLY
	       : !given                                   ? TT_MOE_DEVICE
	       : tt_group_size(device, axis->integer) > 1 ? TT_MOE_FABRIC
							  : TT_MOE_CLUSTER;
	TT_REQUIRE(only || given || chips == 1, "num_devices == 1",
		   "moe_compute(compute_only=false, cluster_axis=None) is only supported on a 1x1 "
		   "mesh, got num_devices=%u. Pass cluster_axis for multi-device fused "
		   "compute+combine.",
		   chips);
	if (only)
		return check_absent(call, "compute_only=true", absent, TT_COUNT(absent));
	if (!given)
		return check_absent(call, "cluster_axis=None", absent + 1, 4);
	TT_REQUIRE(*out == TT_MOE_FABRIC ||
			   !tt_value_given(tt_call_arg(call, "num_shared_experts_per_device")) ||
			   !tt_call_int(call, "num_shared_experts_per_device", 0),
		   "axis_has_neighbours || num_shared_experts_per_device.value_or(0) == 0",
		   "moe_compute over a mesh axis of extent 1 writes a local output and does not "
		   "support shared experts; run them separately and add their partial before the "
		   "cross-device reduction");
	return TTNN_OK;
}

/* Links and topology of the way back, which must be a line or a ring. */
static tt_status find_way(struct ttnn_value way[2], const struct tt_call *call,
			  const struct tt_device *device)
{
	const struct ttnn_value *asked = tt_call_arg(call, "topology");
	int64_t axis = tt_call_int(call, "cluster_axis", 0);
	bool neighbors = !tt_value_given(asked) && ttnn_fabric_get() == TTNN_FABRIC_1D_NEIGHBORS;

	TT_TRY(tt_group_links(&way[0], call, device));
	way[1] = tt_group_usual_topology(device, asked, axis);
	TT_REQUIRE(!neighbors && (way[1].integer == TT_TOPOLOGY_LINEAR ||
				  way[1].integer == TT_TOPOLOGY_RING),
		   "resolved_topology == tt::tt_fabric::Topology::Linear || resolved_topology == "
		   "tt::tt_fabric::Topology::Ring",
		   "moe_compute: combine kernel only supports Topology::Linear or Topology::Ring, "
		   "got Topology::%s. If the fabric default is Torus/Mesh, pass "
		   "topology=ttnn.Topology.Linear or ttnn.Topology.Ring explicitly to "
		   "ttnn.experimental.moe_compute.",
		   neighbors ? "NeighborExchange"
			     : tt_enum_name(&tt_enum_topology, way[1].integer));
	return TTNN_OK;
}

/* What is told of how tokens go back; `way` is read along an axis of several chips alone. */
static struct ttnn_value combine_params(const struct tt_call *call, struct tt_tensor *const *in,
					const struct ttnn_value attrs[TT_MOE_ATTRS],
					const struct tt_moe_places *places,
					const struct ttnn_value way[2])
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "output_memory_config");
	const struct tt_tensor *given = tt_call_tensor(call, "optional_output_tensor");
	bool local = attrs[TT_MOE_PATH].integer == TT_MOE_DEVICE;
	const struct ttnn_shape *tokens = &in[TT_MOE_TOKENS]->spec.shape;
	struct ttnn_value *v = tt_arena_calloc(call->arena, combine_schema_count, sizeof(*v));
	struct ttnn_value *workers =
		tt_arena_calloc(call->arena, places->combiner_count + 1, sizeof(*workers));
	const struct ttnn_value *mux = tt_call_arg(call, "mux_core_range_set");

	if (!v || !workers)
		return ttnn_v_none();
	for (uint32_t i = 0; i < places->combiner_count; i++)
		workers[i] =
			(struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = places->combiner[i]};
	if (!memory)
		memory = given && attrs[TT_MOE_PATH].integer == TT_MOE_CLUSTER ? &given->spec.memory
									       : &dram;
	v[WIDTH] = ttnn_v_int(tt_shape_last(tokens, 1));
	v[BATCH] = ttnn_v_int(1);
	v[SEQUENCE] = ttnn_v_int((int64_t)tokens->dim[0] * tokens->dim[1]);
	v[CHOICES] = ttnn_v_int(tt_shape_last(&in[TT_MOE_CHOICES]->spec.shape, 1));
	v[LINKS] = way[0];
	v[AXIS] = ttnn_v_int(tt_call_int(call, "cluster_axis", 0));
	v[TOPOLOGY] = way[1];
	v[TOKEN_CORES] = attrs[TT_MOE_ROWS];
	v[DATA_CORES] = attrs[TT_MOE_COLUMNS];
	v[WORKERS] = ttnn_v_list(workers, places->combiner_count);
	v[MUX] = *mux;
	v[MEMORY] = ttnn_v_memory(memory);
	v[SIGNAL] = *tt_call_arg(call, "optional_cross_device_semaphore");
	v[LOCAL] = ttnn_v_bool(local);
	return tt_value_object(&combine_schema, v);
}

static tt_status moe_expand(struct tt_call *call)
{
	static const char *const names[TT_MOE_INPUTS] = {
		"tilize_input_tensor",         "tilize_expert_indices_tensor",
		"tilize_expert_scores_tensor", "tilize_expert_mapping_tensor",
		"matmul_w0_w1_tensor",         "matmul_w2_tensor"};
	struct tt_tensor *in[TT_MOE_INPUTS], *out[TT_MOE_OUTPUTS] = {0};
	struct ttnn_value attrs[TT_MOE_ATTRS] = {0};
	const struct ttnn_value *activation = tt_call_arg(call, "activation_type");
	struct ttnn_value way[2] = {ttnn_v_int(tt_call_int(call, "num_links", 1)),
				    *tt_call_arg(call, "topology")};
	struct tt_moe_places places;
	struct tt_device *device;
	enum tt_moe_path path = TT_MOE_ONLY;
	uint32_t tiles, parts = PARTS_MOST;

	for (size_t i = 0; i < TT_MOE_INPUTS; i++)
		in[i] = tt_call_tensor(call, names[i]);
	TT_REQUIRE(tt_tensor_device(in[0]), "is_device_tensor(input_tensor)",
		   "Device Operations expect device tensors as inputs");
	device = tt_tensor_device(in[0]);
	TT_NEED(in[0]->spec.shape.rank >= 2 && in[TT_MOE_CHOICES]->spec.shape.rank,
		"moe_compute takes tokens in rows");
	TT_TRY(find_path(&path, call, device));
	tiles = tt_shape_last(&in[0]->spec.shape, 1) / TT_TILE;
	while (parts > 1 && tiles % parts)
		parts--;
	TT_TRY(tt_moe_place(&places, device,
			    (uint64_t)tt_call_int(call, "output_height_shard_dim", 0) * parts,
			    tiles,
			    tt_value_given(tt_call_arg(call, "mux_core_range_set"))
				    ? tt_call_arg(call, "mux_core_range_set")->core_set
				    : NULL));
	if (!tt_value_given(&way[1]))
		way[1] = tt_value_enum(&tt_enum_topology, TT_TOPOLOGY_LINEAR);
	if (path == TT_MOE_FABRIC)
		TT_TRY(find_way(way, call, device));
	attrs[TT_MOE_ROWS] = ttnn_v_int(tt_call_int(call, "output_height_shard_dim", 0));
	attrs[TT_MOE_COLUMNS] = ttnn_v_int(parts);
	attrs[TT_MOE_PATH] = tt_value_enum(&path_enum, path);
	attrs[TT_MOE_RING] = ttnn_v_int(device->info.dram_banks);
	attrs[TT_MOE_COMBINE] =
		path == TT_MOE_ONLY ? ttnn_v_none() : combine_params(call, in, attrs, &places, way);
	TT_NEED_MEMORY(path == TT_MOE_ONLY || tt_value_given(&attrs[TT_MOE_COMBINE]));
	attrs[TT_MOE_ACTIVATION] = tt_value_given(activation)
					   ? *activation
					   : tt_value_enum(&tt_enum_moe_activation, TT_MOE_SILU);
	out[TT_MOE_COMBINED] = tt_call_tensor(call, "optional_output_tensor");
	return TT_LAUNCH_RETURN(call, &program, .inputs = in, .input_count = TT_MOE_INPUTS,
				.outputs = out, .output_count = TT_MOE_OUTPUTS,
				.attrs = tt_attrs_bind(call, &schema, attrs),
				.grid = path == TT_MOE_FABRIC ? places.combiners : NULL,
				.extra = out[TT_MOE_COMBINED]);
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.moe_compute",
		.doc = "Which tokens a device's experts have, what they make of them, and that by tokens.",
		.sigs = {"tilize_input_tensor: Tensor, tilize_expert_indices_tensor: Tensor, "
			 "tilize_expert_scores_tensor: Tensor, tilize_expert_mapping_tensor: Tensor, "
			 "matmul_w0_w1_tensor: Tensor, matmul_w2_tensor: Tensor, *, layer_id: size, "
			 "output_height_shard_dim: size, intermediate_size: size, "
			 "has_bias: bool = False, cluster_axis: size? = None, "
			 "topology: Topology? = None, num_links: size? = None, "
			 "mux_core_range_set: CoreRangeSet? = None, "
			 "output_memory_config: MemoryConfig? = None, "
			 "optional_output_tensor: Tensor? = None, "
			 "optional_cross_device_semaphore: any? = None, "
			 "activation_type: MoEActivationFunction? = None, "
			 "compute_only: bool = False, num_shared_experts_per_device: size? = None, "
			 "activation_limit: float? = None, math_fidelity: MathFidelity = LoFi, "
			 "fp32_dest_acc_en: bool = False"},
		.expand = moe_expand,
		.golden = tt_golden_moe_compute,
		.pcc = 0.99,
		.gives = "[Tensor]",
		TT_PROGRAMS(&program),
	},
};

const struct tt_op_family tt_family_moe_compute = {"moe_compute", ops, TT_COUNT(ops)};
