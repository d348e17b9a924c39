/* matmul_check_config.c: what one kind of program config alone refuses, in upstream's order. */
#include <stdio.h>

#include "ops/matmul/matmul_check.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/text.h"

/* Shards that no legacy spec describes are beyond these checks, and beyond upstream's. */
tt_status tt_matmul_need_shard(const struct ttnn_memory_config *memory)
{
	if (memory->has_shard)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "bad optional access");
}

/* ---- shared --------------------------------------------------------------------------------------------- */

/* Result and a in the same kind of memory: the program writes where it reads. */
tt_status tt_matmul_check_match(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *out = &matmul->memory;

	TT_CONFIG_REQUIRE(config, a->buffer == out->buffer,
			  "input_tensor_a.memory_config().buffer_type() == "
			  "output_mem_config.buffer_type()",
			  "input A and output buffer types must match, got input: BufferType::%s "
			  "vs output: BufferType::%s",
			  tt_buffer_name(a->buffer), tt_buffer_name(out->buffer));
	TT_CONFIG_REQUIRE(config, a->layout == out->layout,
			  "input_tensor_a.memory_config().memory_layout() == "
			  "output_mem_config.memory_layout()",
			  "input A and output memory layouts must match, got input: "
			  "TensorMemoryLayout::%s vs output: TensorMemoryLayout::%s",
			  tt_layout_name(a->layout), tt_layout_name(out->layout));
	return TTNN_OK;
}

/* A result in shards is written row by row. */
tt_status tt_matmul_check_rows(const struct tt_matmul_config *config)
{
	TT_CONFIG_REQUIRE(config, config->sub_w == config->n || config->sub_h == 1,
			  "out_subblock_w == per_core_N || out_subblock_h == 1",
			  "out_subblock_w (%u) must equal per_core_N (%u) or out_subblock_h (%u) "
			  "must be 1",
			  config->sub_w, config->n, config->sub_h);
	TT_CONFIG_REQUIRE(config, config->block_w == config->n || config->block_h == 1,
			  "out_block_w == per_core_N || out_block_h == 1",
			  "out_block_w (%u) must equal per_core_N (%u) or out_block_h (%u) must "
			  "be 1",
			  config->block_w, config->n, config->block_h);
	return TTNN_OK;
}

tt_status tt_matmul_check_depth(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
{
	if (matmul->k % config->k == 0)
		return TTNN_OK;
	return tt_matmul_refuse(config, "K % program_config.in0_block_w == 0",
				"K (%u) must be divisible by in0_block_w (%u)", matmul->k,
				config->k);
}

/* Other orientations would need transpose_mcast, which only the two-dimensional kind has. */
tt_status tt_matmul_check_turn(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config, const char *subject)
{
	enum ttnn_orientation turn = matmul->a->spec.memory.shard.orientation;

	if (turn == TTNN_ORIENT_ROW_MAJOR)
		return TTNN_OK;
	return tt_matmul_refuse(config,
				"input_tensor_a.shard_spec().value().orientation == "
				"ShardOrientation::ROW_MAJOR",
				"%s shard orientation must be ROW_MAJOR, got: ShardOrientation::%s",
				subject, tt_orientation_name(turn));
}

/* The condition names the wanted layout, so it is put together here. */
tt_status tt_matmul_check_layout(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config,
				 enum ttnn_memory_layout wanted, const char *format)
{
	enum ttnn_memory_layout layout = matmul->a->spec.memory.layout;
	char condition[128];

	if (layout == wanted)
		return TTNN_OK;
	snprintf(condition, sizeof(condition),
		 "input_tensor_a.memory_config().memory_layout() == TensorMemoryLayout::%s",
		 tt_layout_name(wanted));
	return tt_matmul_refuse(config, condition, "%s, got: TensorMemoryLayout::%s", format,
				tt_layout_name(layout));
}

/* ---- weights in DRAM shards ------------------------------------------------------------------------------ */

/* One row of tiles, spread over cores along K: a vector times weights. */
static tt_status check_dram_sizes(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;
	uint32_t rows = shard->height / matmul->a_tile.height;
	uint32_t width = shard->width / matmul->a_tile.width;

	TT_CONFIG_REQUIRE(config, matmul->m == config->m, "M == per_core_M",
			  "M (%u) must equal per_core_M (%u)", matmul->m, config->m);
	TT_CONFIG_REQUIRE(config, matmul->m == 1, "M == 1",
			  "currently only support in0 tensor height of tile height");
	TT_CONFIG_REQUIRE(config, config->m == rows,
			  "per_core_M == (shard_shape[0] / in0_tile.get_height())",
			  "per_core_M (%u) must equal shard_shape[0] / in0_tile.get_height() (%u)",
			  config->m, rows);
	TT_TRY(tt_matmul_check_depth(matmul, config));
	TT_CONFIG_REQUIRE(config, width % config->k == 0,
			  "(shard_shape[1] / in0_tile.get_width()) % program_config.in0_block_w "
			  "== 0",
			  "shard_shape[1] / in0_tile.get_width() (%u) must be divisible by "
			  "in0_block_w (%u)",
			  width, config->k);
	return TTNN_OK;
}

/*
 * Weights in width shards of DRAM, one a bank; a and the result are width sharded in L1. For
 * decoding: the reader of each bank streams its columns.
 */
static tt_status check_dram(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	enum ttnn_memory_layout b = matmul->b->spec.memory.layout;

	TT_NEED(matmul->a_tile.height >= 16,
		"%s: matmul tiny-tile with tile_h %u is not currently supported on the "
		"DRAM-sharded mcast program config path (requires tile_h >= 16); see issue #42927",
		tt_matmul_config_name(config), matmul->a_tile.height);
	TT_CONFIG_REQUIRE(config, tt_tensor_is_sharded(matmul->a), "input_tensor_a.is_sharded()",
			  "Input tensor A must be sharded for DRAM sharded program config");
	TT_CONFIG_REQUIRE(config, tt_memory_config_is_sharded(&matmul->memory),
			  "attributes.output_mem_config.is_sharded()",
			  "Output memory config must be sharded for DRAM sharded program config");
	TT_TRY(tt_matmul_check_layout(matmul, config, TTNN_WIDTH_SHARDED,
				      "Input A memory layout must be WIDTH_SHARDED"));
	TT_TRY(tt_matmul_check_match(matmul, config));
	TT_TRY(tt_matmul_need_shard(&matmul->a->spec.memory));
	TT_TRY(tt_matmul_check_turn(matmul, config, "Input A"));
	TT_TRY(check_dram_sizes(matmul, config));
	TT_CONFIG_REQUIRE(config, b == TTNN_WIDTH_SHARDED,
			  "input_tensor_b.memory_config().memory_layout() == "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "Input B memory layout must be WIDTH_SHARDED, got: "
			  "TensorMemoryLayout::%s",
			  tt_layout_name(b));
	return TTNN_OK;
}

/*
 * The same for many matrices: whole ones in each bank, a and the result height sharded. N_dim is
 * upstream's name for the depth here.
 */
static tt_status check_batched_dram(const struct tt_matmul *matmul,
				    const struct tt_matmul_config *config)
{
	enum ttnn_memory_layout b = matmul->b->spec.memory.layout;

	TT_CONFIG_REQUIRE(config, tt_tensor_is_sharded(matmul->a), "input_tensor_a.is_sharded()",
			  "Input tensor A must be sharded for batch-sharded DRAM matmul");
	TT_CONFIG_REQUIRE(config, tt_memory_config_is_sharded(&matmul->memory),
			  "attributes.output_mem_config.is_sharded()",
			  "Output memory config must be sharded for batch-sharded DRAM matmul");
	TT_TRY(tt_matmul_check_layout(
		matmul, config, TTNN_HEIGHT_SHARDED,
		"Input A memory layout must be HEIGHT_SHARDED for batch-sharded DRAM "
		"matmul"));
	TT_TRY(tt_matmul_check_match(matmul, config));
	TT_TRY(tt_matmul_need_shard(&matmul->a->spec.memory));
	TT_TRY(tt_matmul_check_turn(matmul, config, "Input A"));
	TT_CONFIG_REQUIRE(
		config, matmul->k % config->k == 0, "N_dim % program_config.in0_block_w == 0",
		"N dimension (%u) must be divisible by in0_block_w (%u)", matmul->k, config->k);
	TT_CONFIG_REQUIRE(config, b == TTNN_HEIGHT_SHARDED,
			  "input_tensor_b.memory_config().memory_layout() == "
			  "TensorMemoryLayout::HEIGHT_SHARDED",
			  "Input B memory layout must be HEIGHT_SHARDED for batch-sharded DRAM "
			  "matmul, got: TensorMemoryLayout::%s",
			  tt_layout_name(b));
	return TTNN_OK;
}

/* ---- both operands to rows and columns of cores ------------------------------------------------------------ */

/* transpose_mcast is for COL_MAJOR shards, and only for them. */
static tt_status check_2d_turn(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	enum ttnn_orientation turn = matmul->a->spec.memory.shard.orientation;
	enum ttnn_orientation wanted =
		config->transpose_cast ? TTNN_ORIENT_COL_MAJOR : TTNN_ORIENT_ROW_MAJOR;

	if (turn == wanted)
		return TTNN_OK;
	return tt_matmul_refuse(
		config,
		config->transpose_cast ? "input_tensor_a.shard_spec().value().orientation == "
					 "ShardOrientation::COL_MAJOR"
				       : "input_tensor_a.shard_spec().value().orientation == "
					 "ShardOrientation::ROW_MAJOR",
		"Input tensor A must have %s shard orientation for %s MCAST, got: "
		"ShardOrientation::%s",
		tt_orientation_name(wanted), config->transpose_cast ? "transpose" : "non-transpose",
		tt_orientation_name(turn));
}

/*
 * a in height shards of a grid of both: one column of cores, each with whole rows, and K in one
 * step.
 */
static tt_status check_2d_height(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	uint32_t width = matmul->a->spec.memory.shard.width / matmul->a_tile.width;
	struct ttnn_core_range box;

	TT_CONFIG_REQUIRE(config, !config->transpose_cast, "!program_config.transpose_mcast",
			  "Transpose MCAST not supported with HEIGHT_SHARDED layout");
	TT_CONFIG_REQUIRE(config, matmul->k == config->k, "K == program_config.in0_block_w",
			  "K (%u) must equal in0_block_w (%u)", matmul->k, config->k);
	TT_CONFIG_REQUIRE(config, config->k == width,
			  "program_config.in0_block_w == (shard_shape[1] / in0_tile.get_width())",
			  "in0_block_w (%u) must equal shard_shape[1] / in0_tile.get_width() (%u)",
			  config->k, width);
	TT_TRY(tt_core_set_box(&box, matmul->a->spec.memory.shard.grid));
	TT_CONFIG_REQUIRE(config, box.start.x == box.end.x,
			  "input_tensor_a.shard_spec()->grid.bounding_box().start_coord.x == "
			  "input_tensor_a.shard_spec()->grid.bounding_box().end_coord.x",
			  "HEIGHT_SHARDED input A must have a single-column shard grid (got x=%u "
			  "to x=%u); use MatmulMultiCoreReuseProgramConfig for multi-column "
			  "HEIGHT_SHARDED inputs",
			  box.start.x, box.end.x);
	return TTNN_OK;
}

/* Shards of a: batches are fused, and shards are per_core_M high and whole steps wide. */
static tt_status check_2d_a(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	uint32_t rows, width;

	TT_CONFIG_REQUIRE(config, config->fuse_batch, "program_config.fuse_batch",
			  "Batch fusion is required when input A is sharded");
	TT_TRY(tt_matmul_need_shard(a));
	rows = a->shard.height / matmul->a_tile.height;
	width = a->shard.width / matmul->a_tile.width;
	if (a->layout == TTNN_BLOCK_SHARDED) {
		TT_TRY(check_2d_turn(matmul, config));
		if (tt_memory_config_is_sharded(&matmul->memory))
			TT_TRY(tt_matmul_check_match(matmul, config));
	} else if (a->layout == TTNN_HEIGHT_SHARDED) {
		TT_TRY(check_2d_height(matmul, config));
	} else {
		return tt_matmul_refuse(
			config,
			"tensor_a_memory_layout == TensorMemoryLayout::BLOCK_SHARDED || "
			"tensor_a_memory_layout == TensorMemoryLayout::HEIGHT_SHARDED",
			"Unsupported memory layout TensorMemoryLayout::%s.",
			tt_layout_name(a->layout));
	}
	TT_CONFIG_REQUIRE(config, config->m == rows,
			  "per_core_M == (shard_shape[0] / in0_tile.get_height())",
			  "per_core_M (%u) must equal shard_shape[0] / in0_tile.get_height() (%u)",
			  config->m, rows);
	TT_CONFIG_REQUIRE(config, width % config->k == 0,
			  "(shard_shape[1] / in0_tile.get_width()) % program_config.in0_block_w "
			  "== 0",
			  "shard_shape[1] / in0_tile.get_width() (%u) must be divisible by "
			  "in0_block_w (%u)",
			  width, config->k);
	return TTNN_OK;
}

/* Whole matrices in each bank. */
static tt_status check_2d_b_height(const struct tt_matmul *matmul,
				   const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	uint32_t height = b->shard.height / matmul->b_tile.height;
	uint32_t width = b->shard.width / matmul->b_tile.width, k = matmul->k, per_bank;
	uint32_t banks = (uint32_t)ttnn_core_set_cores(b->shard.grid);

	TT_CONFIG_REQUIRE(config, b->buffer == TTNN_DRAM,
			  "input_tensor_b.buffer()->buffer_type() == tt_metal::BufferType::DRAM",
			  "HEIGHT_SHARDED input B is only supported in DRAM, got: BufferType::%s",
			  tt_buffer_name(b->buffer));
	TT_CONFIG_REQUIRE(config, !config->fuse_batch, "!program_config.fuse_batch",
			  "HEIGHT_SHARDED input B requires fuse_batch=false for batched matmul");
	TT_CONFIG_REQUIRE(config, width == matmul->n, "in1_shard_width_in_tiles == N",
			  "HEIGHT_SHARDED input B shard width (%u tiles) must equal N (%u tiles)",
			  width, matmul->n);
	TT_CONFIG_REQUIRE(config, height >= k, "in1_shard_height_in_tiles >= K",
			  "HEIGHT_SHARDED input B shard height (%u tiles) must be >= K (%u tiles)",
			  height, k);
	TT_CONFIG_REQUIRE(config, height % k == 0, "in1_shard_height_in_tiles % K == 0",
			  "HEIGHT_SHARDED input B shard height (%u tiles) must be divisible by K "
			  "(%u tiles) so each bank holds complete [K, N] matrices",
			  height, k);
	per_bank = height / k;
	TT_CONFIG_REQUIRE(config, (uint64_t)per_bank * banks >= matmul->batch_b,
			  "batches_per_bank * num_banks >= B",
			  "HEIGHT_SHARDED input B: batches_per_bank (%u) * num_banks (%u) = %u "
			  "must be >= batch size B (%u)",
			  per_bank, banks, per_bank * banks, matmul->batch_b);
	return TTNN_OK;
}

/* b in L1 shards: a is interleaved or lies in rows of its own. */
static tt_status check_2d_b_local(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;

	TT_CONFIG_REQUIRE(config, a->layout == TTNN_HEIGHT_SHARDED || a->layout == TTNN_INTERLEAVED,
			  "(input_tensor_a.memory_config().is_sharded() && tensor_a_memory_layout "
			  "== TensorMemoryLayout::HEIGHT_SHARDED) || tensor_a_memory_layout == "
			  "TensorMemoryLayout::INTERLEAVED",
			  "Error - non-DRAM width sharded input B requires input A to be "
			  "interleaved or height sharded, rather than TensorMemoryLayout::%s",
			  tt_layout_name(a->layout));
	TT_CONFIG_REQUIRE(config, config->n == b->shard.width / matmul->b_tile.width,
			  "program_config.per_core_N == "
			  "(input_tensor_b.shard_spec().value().shape[1] / in1_tile.get_width())",
			  "per_core_N (%u) must equal input tensor B shard shape[1] / "
			  "in1_tile.get_width() (%u)",
			  config->n, b->shard.width / matmul->b_tile.width);
	return TTNN_OK;
}

/*
 * Shards of b: columns on one row of cores or banks, or whole matrices in banks. ND shards in DRAM
 * are read like interleaved pages, so nothing more is asked.
 */
static tt_status check_2d_b(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	struct ttnn_core_range box;

	TT_CONFIG_REQUIRE(config, !config->transpose_cast, "!program_config.transpose_mcast",
			  "Transpose MCAST not supported when input B is sharded");
	if (b->layout == TTNN_ND_SHARDED && b->buffer == TTNN_DRAM)
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config,
			  b->layout == TTNN_WIDTH_SHARDED || b->layout == TTNN_HEIGHT_SHARDED,
			  "tensor_b_memory_layout == TensorMemoryLayout::WIDTH_SHARDED || "
			  "tensor_b_memory_layout == TensorMemoryLayout::HEIGHT_SHARDED || "
			  "in1_is_nd_dram",
			  "Input B memory layout must be WIDTH_SHARDED, HEIGHT_SHARDED, or DRAM "
			  "ND_SHARDED, got: TensorMemoryLayout::%s",
			  tt_layout_name(b->layout));
	TT_TRY(tt_matmul_need_shard(b));
	if (b->layout == TTNN_HEIGHT_SHARDED)
		TT_TRY(check_2d_b_height(matmul, config));
	if (b->buffer != TTNN_DRAM)
		TT_TRY(check_2d_b_local(matmul, config));
	if (b->layout != TTNN_WIDTH_SHARDED)
		return TTNN_OK;
	TT_TRY(tt_core_set_box(&box, b->shard.grid));
	TT_CONFIG_REQUIRE(config, box.start.y == box.end.y,
			  "input_tensor_b.shard_spec()->grid.bounding_box().start_coord.y == "
			  "input_tensor_b.shard_spec()->grid.bounding_box().end_coord.y",
			  "Width-sharded input tensor B grid bounding box must have equal start "
			  "and end y coordinates, got start: %u vs end: %u",
			  box.start.y, box.end.y);
	return TTNN_OK;
}

/* A sharded result has blocks: one for each core of the grid. */
static tt_status check_2d(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (tt_tensor_is_sharded(matmul->a))
		TT_TRY(check_2d_a(matmul, config));
	if (tt_tensor_is_sharded(matmul->b))
		TT_TRY(check_2d_b(matmul, config));
	if (!tt_memory_config_is_sharded(&matmul->memory))
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config, matmul->memory.layout == TTNN_BLOCK_SHARDED,
			  "attributes.output_mem_config.memory_layout() == "
			  "TensorMemoryLayout::BLOCK_SHARDED",
			  "Output memory layout must be BLOCK_SHARDED, got: TensorMemoryLayout::%s",
			  tt_layout_name(matmul->memory.layout));
	return tt_matmul_check_rows(config);
}

/* ---- by kind -------------------------------------------------------------------------------------------------- */

/*
 * fuse_batch takes the batches of a as more rows; that needs one matrix b, and rows that follow
 * each other.
 */
static tt_status check_fused(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (!config->fuse_batch)
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config, matmul->batch_b == 1, "get_batch_size(b_shape_padded) == 1",
			  "Matmul with fused batch requires input tensors of shapes "
			  "BCMK*11KN=BCMN or equivalent. Please change the second input tensor or "
			  "adjust the program config.");
	if (matmul->transpose_a && matmul->batch_a != 1 && matmul->m != 1) {
		struct tt_str text = {0};

		tt_text_shape(&text, &matmul->a_padded, TTNN_DIALECT_TT_METAL);
		tt_matmul_refuse(config, "batch_size_a == 1 || M_per_batch == 1",
				 "transpose_a with fuse_batch is not supported when batch "
				 "dimensions exist and M_per_batch > 1 (batch_size=%u, "
				 "M_per_batch=%u, a_shape_padded=%s)",
				 matmul->batch_a, matmul->m, tt_str_text(&text));
		tt_str_deinit(&text);
		return TTNN_INVALID;
	}
	return TTNN_OK;
}

/* By kind; what holds for all of them was checked before. */
tt_status tt_matmul_check_config(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	switch (config->kind) {
	case TT_MATMUL_MULTI:
		return tt_matmul_check_multi(matmul, config);
	case TT_MATMUL_REUSE:
		return tt_matmul_check_reuse(matmul, config);
	case TT_MATMUL_2D:
		TT_TRY(check_fused(matmul, config));
		return check_2d(matmul, config);
	case TT_MATMUL_1D:
		TT_TRY(check_fused(matmul, config));
		return tt_matmul_check_1d(matmul, config);
	case TT_MATMUL_DRAM:
		return check_dram(matmul, config);
	default:
		return check_batched_dram(matmul, config);
	}
}
