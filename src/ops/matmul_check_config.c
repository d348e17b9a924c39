/* matmul_check_config.c: what one kind of program config alone refuses, in upstream's order. */
#include "device/split.h"
#include "ops/matmul.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/text.h"

static const char *layout_name(enum ttnn_memory_layout layout)
{
	return tt_enum_name(&tt_enum_memory_layout, layout);
}

static const char *buffer_name(enum ttnn_buffer_type type)
{
	return tt_enum_name(&tt_enum_buffer_type, type);
}

static const char *turn_name(enum ttnn_orientation orientation)
{
	return tt_enum_name(&tt_enum_orientation, orientation);
}

static bool sharded(const struct tt_tensor *tensor)
{
	return tt_memory_config_is_sharded(&tensor->spec.memory);
}

/* Shards that no legacy spec describes are beyond these checks, and beyond upstream's. */
static tt_status need_shard(const struct ttnn_memory_config *memory)
{
	if (memory->has_shard)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "bad optional access");
}

/* ---- shared --------------------------------------------------------------------------------------------- */

static tt_status check_match(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *out = &matmul->memory;

	if (a->buffer != out->buffer)
		return tt_matmul_refuse(config,
					"input_tensor_a.memory_config().buffer_type() == "
					"output_mem_config.buffer_type()",
					"input A and output buffer types must match, got input: "
					"BufferType::%s vs output: BufferType::%s",
					buffer_name(a->buffer), buffer_name(out->buffer));
	if (a->layout != out->layout)
		return tt_matmul_refuse(config,
					"input_tensor_a.memory_config().memory_layout() == "
					"output_mem_config.memory_layout()",
					"input A and output memory layouts must match, got input: "
					"TensorMemoryLayout::%s vs output: TensorMemoryLayout::%s",
					layout_name(a->layout), layout_name(out->layout));
	return TTNN_OK;
}

/* A result in shards is written row by row. */
static tt_status check_rows(const struct tt_matmul_config *config)
{
	if (config->sub_w != config->n && config->sub_h != 1)
		return tt_matmul_refuse(config,
					"out_subblock_w == per_core_N || out_subblock_h == 1",
					"out_subblock_w (%u) must equal per_core_N (%u) or "
					"out_subblock_h (%u) must be 1",
					config->sub_w, config->n, config->sub_h);
	if (config->block_w != config->n && config->block_h != 1)
		return tt_matmul_refuse(config, "out_block_w == per_core_N || out_block_h == 1",
					"out_block_w (%u) must equal per_core_N (%u) or "
					"out_block_h (%u) must be 1",
					config->block_w, config->n, config->block_h);
	return TTNN_OK;
}

static tt_status check_depth(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (matmul->k % config->k == 0)
		return TTNN_OK;
	return tt_matmul_refuse(config, "K % program_config.in0_block_w == 0",
				"K (%u) must be divisible by in0_block_w (%u)", matmul->k,
				config->k);
}

static tt_status check_turn(const struct tt_matmul *matmul, const struct tt_matmul_config *config,
			    const char *subject)
{
	enum ttnn_orientation turn = matmul->a->spec.memory.shard.orientation;

	if (turn == TTNN_ORIENT_ROW_MAJOR)
		return TTNN_OK;
	return tt_matmul_refuse(config,
				"input_tensor_a.shard_spec().value().orientation == "
				"ShardOrientation::ROW_MAJOR",
				"%s shard orientation must be ROW_MAJOR, got: ShardOrientation::%s",
				subject, turn_name(turn));
}

static tt_status check_layout_a(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config,
				enum ttnn_memory_layout wanted, const char *format)
{
	enum ttnn_memory_layout layout = matmul->a->spec.memory.layout;
	char condition[128];

	if (layout == wanted)
		return TTNN_OK;
	snprintf(condition, sizeof(condition),
		 "input_tensor_a.memory_config().memory_layout() == TensorMemoryLayout::%s",
		 layout_name(wanted));
	return tt_matmul_refuse(config, condition, "%s, got: TensorMemoryLayout::%s", format,
				layout_name(layout));
}

/* ---- weights in DRAM shards ------------------------------------------------------------------------------ */

static tt_status check_dram_sizes(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;
	uint32_t rows = shard->height / matmul->a_tile.height;
	uint32_t width = shard->width / matmul->a_tile.width;

	if (matmul->m != config->m)
		return tt_matmul_refuse(config, "M == per_core_M",
					"M (%u) must equal per_core_M (%u)", matmul->m, config->m);
	if (matmul->m != 1)
		return tt_matmul_refuse(config, "M == 1",
					"currently only support in0 tensor height of tile height");
	if (config->m != rows)
		return tt_matmul_refuse(
			config, "per_core_M == (shard_shape[0] / in0_tile.get_height())",
			"per_core_M (%u) must equal shard_shape[0] / in0_tile.get_height() (%u)",
			config->m, rows);
	TT_TRY(check_depth(matmul, config));
	if (width % config->k)
		return tt_matmul_refuse(config,
					"(shard_shape[1] / in0_tile.get_width()) % "
					"program_config.in0_block_w == 0",
					"shard_shape[1] / in0_tile.get_width() (%u) must be "
					"divisible by in0_block_w (%u)",
					width, config->k);
	return TTNN_OK;
}

static tt_status check_dram(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	enum ttnn_memory_layout b = matmul->b->spec.memory.layout;

	if (matmul->a_tile.height < 16)
		return tt_fail(TTNN_INVALID,
			       "%s: matmul tiny-tile with tile_h %u is not currently supported on "
			       "the DRAM-sharded mcast program config path (requires tile_h >= "
			       "16); see issue #42927",
			       tt_matmul_config_name(config), matmul->a_tile.height);
	if (!sharded(matmul->a))
		return tt_matmul_refuse(config, "input_tensor_a.is_sharded()",
					"Input tensor A must be sharded for DRAM sharded program "
					"config");
	if (!tt_memory_config_is_sharded(&matmul->memory))
		return tt_matmul_refuse(config, "attributes.output_mem_config.is_sharded()",
					"Output memory config must be sharded for DRAM sharded "
					"program config");
	TT_TRY(check_layout_a(matmul, config, TTNN_WIDTH_SHARDED,
			      "Input A memory layout must be WIDTH_SHARDED"));
	TT_TRY(check_match(matmul, config));
	TT_TRY(need_shard(&matmul->a->spec.memory));
	TT_TRY(check_turn(matmul, config, "Input A"));
	TT_TRY(check_dram_sizes(matmul, config));
	if (b != TTNN_WIDTH_SHARDED)
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() == "
					"TensorMemoryLayout::WIDTH_SHARDED",
					"Input B memory layout must be WIDTH_SHARDED, got: "
					"TensorMemoryLayout::%s",
					layout_name(b));
	return TTNN_OK;
}

static tt_status check_batched_dram(const struct tt_matmul *matmul,
				    const struct tt_matmul_config *config)
{
	enum ttnn_memory_layout b = matmul->b->spec.memory.layout;

	if (!sharded(matmul->a))
		return tt_matmul_refuse(config, "input_tensor_a.is_sharded()",
					"Input tensor A must be sharded for batch-sharded DRAM "
					"matmul");
	if (!tt_memory_config_is_sharded(&matmul->memory))
		return tt_matmul_refuse(config, "attributes.output_mem_config.is_sharded()",
					"Output memory config must be sharded for batch-sharded "
					"DRAM matmul");
	TT_TRY(check_layout_a(matmul, config, TTNN_HEIGHT_SHARDED,
			      "Input A memory layout must be HEIGHT_SHARDED for batch-sharded DRAM "
			      "matmul"));
	TT_TRY(check_match(matmul, config));
	TT_TRY(need_shard(&matmul->a->spec.memory));
	TT_TRY(check_turn(matmul, config, "Input A"));
	if (matmul->k % config->k)
		return tt_matmul_refuse(config, "N_dim % program_config.in0_block_w == 0",
					"N dimension (%u) must be divisible by in0_block_w (%u)",
					matmul->k, config->k);
	if (b != TTNN_HEIGHT_SHARDED)
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() == "
					"TensorMemoryLayout::HEIGHT_SHARDED",
					"Input B memory layout must be HEIGHT_SHARDED for "
					"batch-sharded DRAM matmul, got: TensorMemoryLayout::%s",
					layout_name(b));
	return TTNN_OK;
}

/* ---- both operands to rows and columns of cores ------------------------------------------------------------ */

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
		turn_name(wanted), config->transpose_cast ? "transpose" : "non-transpose",
		turn_name(turn));
}

static tt_status check_2d_height(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	uint32_t width = matmul->a->spec.memory.shard.width / matmul->a_tile.width;
	struct ttnn_core_range box;

	if (config->transpose_cast)
		return tt_matmul_refuse(config, "!program_config.transpose_mcast",
					"Transpose MCAST not supported with HEIGHT_SHARDED layout");
	if (matmul->k != config->k)
		return tt_matmul_refuse(config, "K == program_config.in0_block_w",
					"K (%u) must equal in0_block_w (%u)", matmul->k, config->k);
	if (config->k != width)
		return tt_matmul_refuse(
			config,
			"program_config.in0_block_w == (shard_shape[1] / in0_tile.get_width())",
			"in0_block_w (%u) must equal shard_shape[1] / in0_tile.get_width() (%u)",
			config->k, width);
	TT_TRY(tt_core_set_box(&box, matmul->a->spec.memory.shard.grid));
	if (box.start.x != box.end.x)
		return tt_matmul_refuse(
			config,
			"input_tensor_a.shard_spec()->grid.bounding_box().start_coord.x == "
			"input_tensor_a.shard_spec()->grid.bounding_box().end_coord.x",
			"HEIGHT_SHARDED input A must have a single-column shard grid (got x=%u to "
			"x=%u); use MatmulMultiCoreReuseProgramConfig for multi-column "
			"HEIGHT_SHARDED inputs",
			box.start.x, box.end.x);
	return TTNN_OK;
}

static tt_status check_2d_a(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	uint32_t rows, width;

	if (!config->fuse_batch)
		return tt_matmul_refuse(config, "program_config.fuse_batch",
					"Batch fusion is required when input A is sharded");
	TT_TRY(need_shard(a));
	rows = a->shard.height / matmul->a_tile.height;
	width = a->shard.width / matmul->a_tile.width;
	if (a->layout == TTNN_BLOCK_SHARDED) {
		TT_TRY(check_2d_turn(matmul, config));
		if (tt_memory_config_is_sharded(&matmul->memory))
			TT_TRY(check_match(matmul, config));
	} else if (a->layout == TTNN_HEIGHT_SHARDED) {
		TT_TRY(check_2d_height(matmul, config));
	} else {
		return tt_matmul_refuse(
			config,
			"tensor_a_memory_layout == TensorMemoryLayout::BLOCK_SHARDED || "
			"tensor_a_memory_layout == TensorMemoryLayout::HEIGHT_SHARDED",
			"Unsupported memory layout TensorMemoryLayout::%s.",
			layout_name(a->layout));
	}
	if (config->m != rows)
		return tt_matmul_refuse(
			config, "per_core_M == (shard_shape[0] / in0_tile.get_height())",
			"per_core_M (%u) must equal shard_shape[0] / in0_tile.get_height() (%u)",
			config->m, rows);
	if (width % config->k)
		return tt_matmul_refuse(config,
					"(shard_shape[1] / in0_tile.get_width()) % "
					"program_config.in0_block_w == 0",
					"shard_shape[1] / in0_tile.get_width() (%u) must be "
					"divisible by in0_block_w (%u)",
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

	if (b->buffer != TTNN_DRAM)
		return tt_matmul_refuse(
			config,
			"input_tensor_b.buffer()->buffer_type() == tt_metal::BufferType::DRAM",
			"HEIGHT_SHARDED input B is only supported in DRAM, got: BufferType::%s",
			buffer_name(b->buffer));
	if (config->fuse_batch)
		return tt_matmul_refuse(config, "!program_config.fuse_batch",
					"HEIGHT_SHARDED input B requires fuse_batch=false for "
					"batched matmul");
	if (width != matmul->n)
		return tt_matmul_refuse(
			config, "in1_shard_width_in_tiles == N",
			"HEIGHT_SHARDED input B shard width (%u tiles) must equal N "
			"(%u tiles)",
			width, matmul->n);
	if (height < k)
		return tt_matmul_refuse(config, "in1_shard_height_in_tiles >= K",
					"HEIGHT_SHARDED input B shard height (%u tiles) must be >= "
					"K (%u tiles)",
					height, k);
	if (height % k)
		return tt_matmul_refuse(config, "in1_shard_height_in_tiles % K == 0",
					"HEIGHT_SHARDED input B shard height (%u tiles) must be "
					"divisible by K (%u tiles) so each bank holds complete [K, "
					"N] matrices",
					height, k);
	per_bank = height / k;
	if ((uint64_t)per_bank * banks < matmul->batch_b)
		return tt_matmul_refuse(config, "batches_per_bank * num_banks >= B",
					"HEIGHT_SHARDED input B: batches_per_bank (%u) * num_banks "
					"(%u) = %u must be >= batch size B (%u)",
					per_bank, banks, per_bank * banks, matmul->batch_b);
	return TTNN_OK;
}

/* b in L1 shards: a is interleaved or lies in rows of its own. */
static tt_status check_2d_b_local(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;

	if (a->layout != TTNN_HEIGHT_SHARDED && a->layout != TTNN_INTERLEAVED)
		return tt_matmul_refuse(
			config,
			"(input_tensor_a.memory_config().is_sharded() && tensor_a_memory_layout == "
			"TensorMemoryLayout::HEIGHT_SHARDED) || tensor_a_memory_layout == "
			"TensorMemoryLayout::INTERLEAVED",
			"Error - non-DRAM width sharded input B requires input A to be interleaved "
			"or height sharded, rather than TensorMemoryLayout::%s",
			layout_name(a->layout));
	if (config->n != b->shard.width / matmul->b_tile.width)
		return tt_matmul_refuse(
			config,
			"program_config.per_core_N == "
			"(input_tensor_b.shard_spec().value().shape[1] / "
			"in1_tile.get_width())",
			"per_core_N (%u) must equal input tensor B shard shape[1] / "
			"in1_tile.get_width() (%u)",
			config->n, b->shard.width / matmul->b_tile.width);
	return TTNN_OK;
}

static tt_status check_2d_b(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	struct ttnn_core_range box;

	if (config->transpose_cast)
		return tt_matmul_refuse(config, "!program_config.transpose_mcast",
					"Transpose MCAST not supported when input B is sharded");
	if (b->layout == TTNN_ND_SHARDED && b->buffer == TTNN_DRAM)
		return TTNN_OK;
	if (b->layout != TTNN_WIDTH_SHARDED && b->layout != TTNN_HEIGHT_SHARDED)
		return tt_matmul_refuse(
			config,
			"tensor_b_memory_layout == TensorMemoryLayout::WIDTH_SHARDED || "
			"tensor_b_memory_layout == TensorMemoryLayout::HEIGHT_SHARDED || "
			"in1_is_nd_dram",
			"Input B memory layout must be WIDTH_SHARDED, HEIGHT_SHARDED, or DRAM "
			"ND_SHARDED, got: TensorMemoryLayout::%s",
			layout_name(b->layout));
	TT_TRY(need_shard(b));
	if (b->layout == TTNN_HEIGHT_SHARDED)
		TT_TRY(check_2d_b_height(matmul, config));
	if (b->buffer != TTNN_DRAM)
		TT_TRY(check_2d_b_local(matmul, config));
	if (b->layout != TTNN_WIDTH_SHARDED)
		return TTNN_OK;
	TT_TRY(tt_core_set_box(&box, b->shard.grid));
	if (box.start.y != box.end.y)
		return tt_matmul_refuse(
			config,
			"input_tensor_b.shard_spec()->grid.bounding_box().start_coord.y == "
			"input_tensor_b.shard_spec()->grid.bounding_box().end_coord.y",
			"Width-sharded input tensor B grid bounding box must have equal start and "
			"end y coordinates, got start: %u vs end: %u",
			box.start.y, box.end.y);
	return TTNN_OK;
}

static tt_status check_2d(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (sharded(matmul->a))
		TT_TRY(check_2d_a(matmul, config));
	if (sharded(matmul->b))
		TT_TRY(check_2d_b(matmul, config));
	if (!tt_memory_config_is_sharded(&matmul->memory))
		return TTNN_OK;
	if (matmul->memory.layout != TTNN_BLOCK_SHARDED)
		return tt_matmul_refuse(config,
					"attributes.output_mem_config.memory_layout() == "
					"TensorMemoryLayout::BLOCK_SHARDED",
					"Output memory layout must be BLOCK_SHARDED, got: "
					"TensorMemoryLayout::%s",
					layout_name(matmul->memory.layout));
	return check_rows(config);
}

/* ---- one operand to all cores ------------------------------------------------------------------------------- */

static tt_status check_gather(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;

	if (config->cast_a)
		return tt_matmul_refuse(config,
					"!(program_config.mcast_in0 && program_config.gather_in0)",
					"Matmul1D does not support mcast_in0 and gather_in0 at the "
					"same time.");
	TT_TRY(check_layout_a(matmul, config, TTNN_WIDTH_SHARDED,
			      "input A must be WIDTH_SHARDED for gather_in0"));
	if (b->layout != TTNN_WIDTH_SHARDED &&
	    !(b->layout == TTNN_INTERLEAVED && b->buffer == TTNN_DRAM))
		return tt_matmul_refuse(
			config,
			"input_tensor_b.memory_config().memory_layout() == "
			"TensorMemoryLayout::WIDTH_SHARDED",
			"Input tensor B must be width sharded, DRAM interleaved, or a DRAM weight "
			"fed via a global circular buffer when using gather_in0.");
	if (!tt_memory_config_is_sharded(&matmul->memory))
		return tt_matmul_refuse(config, "attributes.output_mem_config.is_sharded()",
					"Output tensor must be sharded when using gather_in0.");
	if (!matmul->memory.has_shard)
		return tt_matmul_refuse(
			config, "attributes.output_mem_config.shard_spec().has_value()",
			"Output shard spec must be provided when using gather_in0.");
	if (config->receivers != 1)
		return tt_matmul_refuse(config, "program_config.num_global_cb_receivers == 1",
					"Num global CB receivers must be 1 when global CB is not "
					"provided.");
	if (matmul->bias)
		return tt_matmul_refuse(config, "!optional_bias.has_value()",
					"Bias is not supported when using gather_in0.");
	return TTNN_OK;
}

static tt_status check_1d_fused(const struct tt_matmul_config *config)
{
	if (config->fuse_batch)
		return TTNN_OK;
	return tt_matmul_refuse(config, "program_config.fuse_batch",
				"fuse_batch must be enabled when input A is sharded");
}

static tt_status check_1d_rows(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	uint32_t m = tt_matmul_rows(matmul, config->fuse_batch);

	if (m == config->m)
		return TTNN_OK;
	return tt_matmul_refuse(config, "M == per_core_M", "M (%u) must equal per_core_M (%u)", m,
				config->m);
}

static tt_status check_1d_shard_rows(const struct tt_matmul *matmul,
				     const struct tt_matmul_config *config)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;

	if (config->m == shard->height / matmul->a_tile.height)
		return TTNN_OK;
	return tt_matmul_refuse(config, "per_core_M == (shard_shape[0] / in0_tile.get_height())",
				"per_core_M (%u) must equal shard_shape[0] (%u) / in0_tile height "
				"(%u)",
				config->m, shard->height, matmul->a_tile.height);
}

static tt_status check_1d_wide_a(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	const struct ttnn_shard_spec *shard = &matmul->a->spec.memory.shard;

	TT_TRY(check_1d_fused(config));
	TT_TRY(check_layout_a(matmul, config, TTNN_WIDTH_SHARDED,
			      "input A must be WIDTH_SHARDED when mcast_in0 or gather_in0 is set"));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(check_match(matmul, config));
	TT_TRY(need_shard(&matmul->a->spec.memory));
	TT_TRY(check_turn(matmul, config, "input A"));
	TT_TRY(check_1d_rows(matmul, config));
	TT_TRY(check_1d_shard_rows(matmul, config));
	TT_TRY(check_depth(matmul, config));
	if (!config->gather_a && (shard->width / matmul->a_tile.width) % config->k)
		return tt_matmul_refuse(config,
					"(shard_shape[1] / in0_tile.get_width()) % "
					"program_config.in0_block_w == 0",
					"shard_shape[1] (%u) / in0_tile width (%u) must be "
					"divisible by in0_block_w (%u)",
					shard->width, matmul->a_tile.width, config->k);
	return TTNN_OK;
}

/* Whether a block sharded result lies on one row (or column) of cores. */
static bool one_line(const struct ttnn_memory_config *memory, bool row)
{
	struct ttnn_core_range box;

	if (memory->layout != TTNN_BLOCK_SHARDED || !memory->has_shard ||
	    tt_core_set_box(&box, memory->shard.grid) != TTNN_OK)
		return false;
	return row ? box.start.y == box.end.y : box.start.x == box.end.x;
}

static tt_status check_1d_wide_b(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	uint32_t width = b->shard.width / matmul->b_tile.width;

	if (b->layout != TTNN_WIDTH_SHARDED)
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() == "
					"TensorMemoryLayout::WIDTH_SHARDED",
					"input B in L1 must be WIDTH_SHARDED, got: "
					"TensorMemoryLayout::%s",
					layout_name(b->layout));
	TT_TRY(need_shard(b));
	if (config->n != width)
		return tt_matmul_refuse(config,
					"program_config.per_core_N == "
					"(input_tensor_b.shard_spec().value().shape[1] / "
					"in1_tile.get_width())",
					"input B shard width in tiles (%u) must equal per_core_N "
					"(%u)",
					width, config->n);
	if (!matmul->bias)
		return TTNN_OK;
	TT_TRY(need_shard(&matmul->bias->spec.memory));
	if (b->shard.width != matmul->bias->spec.memory.shard.width)
		return tt_matmul_refuse(config,
					"input_tensor_b.shard_spec().value().shape[1] == "
					"optional_bias.value().shard_spec().value().shape[1]",
					"bias shard width (%u) must match input B shard width (%u)",
					matmul->bias->spec.memory.shard.width, b->shard.width);
	return TTNN_OK;
}

static tt_status check_1d_wide(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *out = &matmul->memory;

	if (sharded(matmul->a))
		TT_TRY(check_1d_wide_a(matmul, config));
	if (tt_memory_config_is_sharded(out)) {
		if (out->layout != TTNN_WIDTH_SHARDED && !one_line(out, true))
			return tt_matmul_refuse(config,
						"is_width_sharded || is_block_sharded_1d_row",
						"output memory layout must be WIDTH_SHARDED or "
						"BLOCK_SHARDED on a 1-row grid, got: "
						"TensorMemoryLayout::%s",
						layout_name(out->layout));
		TT_TRY(check_1d_rows(matmul, config));
		TT_TRY(check_rows(config));
	}
	if (matmul->b->spec.memory.buffer == TTNN_L1 && sharded(matmul->b))
		return check_1d_wide_b(matmul, config);
	return TTNN_OK;
}

static tt_status check_1d_tall_a(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	uint32_t blocks =
		(uint32_t)tt_div_up(tt_matmul_rows(matmul, config->fuse_batch), config->m);

	TT_TRY(check_1d_fused(config));
	TT_TRY(check_layout_a(matmul, config, TTNN_HEIGHT_SHARDED,
			      "input A must be HEIGHT_SHARDED"));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(check_match(matmul, config));
	TT_TRY(need_shard(a));
	TT_TRY(check_turn(matmul, config, "input A"));
	if (blocks > ttnn_core_set_cores(a->shard.grid))
		return tt_matmul_refuse(config,
					"div_up(M, per_core_M) <= "
					"input_tensor_a.shard_spec().value().grid.num_cores()",
					"number of M blocks ceil(M/per_core_M)=%u must not exceed "
					"input A shard grid cores (%zu)",
					blocks, ttnn_core_set_cores(a->shard.grid));
	TT_TRY(check_1d_shard_rows(matmul, config));
	TT_TRY(check_depth(matmul, config));
	if (matmul->k != a->shard.width / matmul->a_tile.width)
		return tt_matmul_refuse(config, "K == (shard_shape[1] / in0_tile.get_width())",
					"K (%u) must equal shard_shape[1] (%u) / in0_tile width "
					"(%u)",
					matmul->k, a->shard.width, matmul->a_tile.width);
	return TTNN_OK;
}

static tt_status check_1d_tall(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *out = &matmul->memory;

	if (sharded(matmul->a))
		TT_TRY(check_1d_tall_a(matmul, config));
	if (tt_memory_config_is_sharded(out)) {
		if (out->layout != TTNN_HEIGHT_SHARDED && !one_line(out, false))
			return tt_matmul_refuse(config,
						"is_height_sharded || is_block_sharded_1d_column",
						"output memory layout must be HEIGHT_SHARDED or "
						"BLOCK_SHARDED on a 1-column grid, got: "
						"TensorMemoryLayout::%s",
						layout_name(out->layout));
		if (matmul->n != config->n)
			return tt_matmul_refuse(config, "N == per_core_N",
						"N (%u) must equal per_core_N (%u)", matmul->n,
						config->n);
		TT_TRY(check_rows(config));
	}
	if (sharded(matmul->b))
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() == "
					"TensorMemoryLayout::INTERLEAVED",
					"input B must be INTERLEAVED, got: TensorMemoryLayout::%s",
					layout_name(matmul->b->spec.memory.layout));
	return TTNN_OK;
}

static tt_status check_1d(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (config->gather_a)
		TT_TRY(check_gather(matmul, config));
	return config->cast_a || config->gather_a ? check_1d_wide(matmul, config)
						  : check_1d_tall(matmul, config);
}

/* ---- whole matrices on each core, any tile on any core ---------------------------------------------------------- */

static tt_status check_reuse_cut(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	uint32_t all = tt_matmul_rows(matmul, true);

	if (config->m > matmul->m) {
		if (config->m % matmul->m)
			return tt_matmul_refuse(config, "per_core_M % M == 0",
						"per_core_M, %u, must be a multiple of M, %u if "
						"per_core_M > M!",
						config->m, matmul->m);
		if (all % config->m)
			return tt_matmul_refuse(config, "total_M % per_core_M == 0",
						"input a total height, %u, must be divisible by "
						"per_core_M, %u!",
						all, config->m);
	} else if (matmul->m % config->m) {
		return tt_matmul_refuse(config, "M % per_core_M == 0",
					"per_core_M, %u, must divide M, %u, if per_core_M < M!",
					config->m, matmul->m);
	}
	if (matmul->n != config->n)
		return tt_matmul_refuse(config, "N == per_core_N",
					"N (%u) must equal per_core_N (%u)", matmul->n, config->n);
	return TTNN_OK;
}

static tt_status refuse_grids(const struct tt_matmul_config *config, const ttnn_core_set *a,
			      const ttnn_core_set *b)
{
	struct tt_str texts[2] = {{0}};

	tt_text_core_set(&texts[0], a, TTNN_DIALECT_TT_METAL);
	tt_text_core_set(&texts[1], b, TTNN_DIALECT_TT_METAL);
	tt_matmul_refuse(config,
			 "input_tensor_a.shard_spec().value().grid == "
			 "input_tensor_b.shard_spec().value().grid",
			 "input A and B must have matching shard grids, got A: %s vs B: %s",
			 tt_str_text(&texts[0]), tt_str_text(&texts[1]));
	tt_str_deinit(&texts[0]);
	tt_str_deinit(&texts[1]);
	return TTNN_INVALID;
}

static tt_status check_reuse_alike(const struct tt_matmul *matmul,
				   const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;

	if (a->buffer != b->buffer)
		return tt_matmul_refuse(
			config,
			"input_tensor_a.memory_config().buffer_type() == "
			"input_tensor_b.memory_config().buffer_type()",
			"Input tensors A and B must have matching buffer types, got "
			"A: BufferType::%s vs B: BufferType::%s",
			buffer_name(a->buffer), buffer_name(b->buffer));
	if (a->layout != b->layout)
		return tt_matmul_refuse(config,
					"input_tensor_a.memory_config().memory_layout() == "
					"input_tensor_b.memory_config().memory_layout()",
					"Input tensors A and B must have matching memory layouts, "
					"got A: TensorMemoryLayout::%s vs B: "
					"TensorMemoryLayout::%s",
					layout_name(a->layout), layout_name(b->layout));
	TT_TRY(need_shard(b));
	if (a->shard.grid != b->shard.grid)
		return refuse_grids(config, a->shard.grid, b->shard.grid);
	if (a->shard.orientation != b->shard.orientation)
		return tt_matmul_refuse(config,
					"input_tensor_a.shard_spec().value().orientation == "
					"input_tensor_b.shard_spec().value().orientation",
					"Input tensors A and B must have matching shard "
					"orientations, got A: ShardOrientation::%s vs B: "
					"ShardOrientation::%s",
					turn_name(a->shard.orientation),
					turn_name(b->shard.orientation));
	return TTNN_OK;
}

static tt_status check_reuse_a(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	uint32_t width = tt_shape_last(&matmul->a_padded, 1);

	if (a->layout == TTNN_WIDTH_SHARDED)
		return tt_matmul_refuse(config,
					"input_tensor_a.memory_config().memory_layout() != "
					"TensorMemoryLayout::WIDTH_SHARDED",
					"input A memory layout must not be WIDTH_SHARDED, got: "
					"TensorMemoryLayout::WIDTH_SHARDED");
	TT_TRY(need_shard(a));
	if (width != a->shard.width)
		return tt_matmul_refuse(config, "K == in0_shard_shape[1]",
					"K (%u) must equal in0 shard_shape[1] (%u)", width,
					a->shard.width);
	if (a->shard.width != config->k * matmul->a_tile.width)
		return tt_matmul_refuse(
			config,
			"in0_shard_shape[1] == program_config.in0_block_w * in0_tile.get_width()",
			"in0 shard_shape[1] (%u) must equal in0_block_w (%u) * in0_tile width (%u)",
			a->shard.width, config->k, matmul->a_tile.width);
	if (config->m * matmul->a_tile.height != a->shard.height)
		return tt_matmul_refuse(
			config, "per_core_M * in0_tile.get_height() == in0_shard_shape[0]",
			"per_core_M (%u) * in0_tile height (%u) must equal in0 shard_shape[0] (%u)",
			config->m, matmul->a_tile.height, a->shard.height);
	if (sharded(matmul->b))
		TT_TRY(check_reuse_alike(matmul, config));
	return tt_memory_config_is_sharded(&matmul->memory) ? check_match(matmul, config) : TTNN_OK;
}

static tt_status check_reuse_b(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	uint32_t width = tt_shape_last(&matmul->b_padded, 1);
	uint32_t depth = tt_shape_last(&matmul->a_padded, 1);

	if (config->m % matmul->m)
		return tt_matmul_refuse(config, "per_core_M % M == 0",
					"per_core_M (%u) must be a multiple of M (%u) when input B "
					"is sharded",
					config->m, matmul->m);
	if (b->layout == TTNN_WIDTH_SHARDED)
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() != "
					"TensorMemoryLayout::WIDTH_SHARDED",
					"Input B memory layout must not be WIDTH_SHARDED, got: "
					"TensorMemoryLayout::WIDTH_SHARDED");
	TT_TRY(need_shard(b));
	if (b->shard.width != width)
		return tt_matmul_refuse(config, "in1_shard_shape[1] == b_shape_padded[-1]",
					"Input B shard shape[1] (%u) must equal padded shape[-1] "
					"(%u)",
					b->shard.width, width);
	if (config->n * matmul->b_tile.width != b->shard.width)
		return tt_matmul_refuse(
			config, "per_core_N * in1_tile.get_width() == in1_shard_shape[1]",
			"per_core_N * in1_tile.get_width() (%u) must equal in1_shard_shape[1] (%u)",
			config->n * matmul->b_tile.width, b->shard.width);
	if (b->shard.height % depth)
		return tt_matmul_refuse(config, "in1_shard_shape[0] % K == 0",
					"Input B shard shape[0] (%u) must be divisible by K (%u)",
					b->shard.height, depth);
	return TTNN_OK;
}

static tt_status check_reuse_output(const struct tt_matmul *matmul,
				    const struct tt_matmul_config *config)
{
	if (matmul->memory.layout == TTNN_WIDTH_SHARDED)
		return tt_matmul_refuse(config,
					"attributes.output_mem_config.memory_layout() != "
					"TensorMemoryLayout::WIDTH_SHARDED",
					"Output memory layout must not be WIDTH_SHARDED, got: "
					"TensorMemoryLayout::WIDTH_SHARDED");
	if (config->sub_w != config->n && config->sub_h != 1)
		return tt_matmul_refuse(config,
					"program_config.out_subblock_w == per_core_N || "
					"program_config.out_subblock_h == 1",
					"Either out_subblock_w (%u) must equal per_core_N (%u) or "
					"out_subblock_h (%u) must be 1",
					config->sub_w, config->n, config->sub_h);
	return TTNN_OK;
}

/* No core may be left without a block. */
static tt_status check_reuse_split(const struct tt_matmul *matmul,
				   const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;
	const struct ttnn_memory_config *out = &matmul->memory;
	uint32_t rows = tt_matmul_rows(matmul, true);
	uint64_t blocks = (uint64_t)rows / config->m * (matmul->n / config->n);
	const struct ttnn_shard_spec *shard = a->has_shard   ? &a->shard
					      : b->has_shard ? &b->shard
					      : out->has_shard && out->buffer != TTNN_DRAM
						      ? &out->shard
						      : NULL;

	if (rows % config->m)
		return tt_fail_cond(TTNN_INVALID, "(B * Mt) % per_core_M == 0",
				    "B * Mt (%u) must be divisible by per_core_M (%u)", rows,
				    config->m);
	if (shard && blocks < ttnn_core_set_cores(shard->grid))
		return tt_fail_cond(TTNN_INVALID, "num_evenly_divided_output_blocks > 0",
				    "num_output_blocks_total (%llu) must be >= num_cores (%zu); "
				    "some cores would have no work",
				    (unsigned long long)blocks, ttnn_core_set_cores(shard->grid));
	return TTNN_OK;
}

static tt_status check_reuse(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	TT_TRY(check_reuse_cut(matmul, config));
	if (sharded(matmul->a))
		TT_TRY(check_reuse_a(matmul, config));
	if (matmul->batch_a > 1 && matmul->batch_b == 1)
		return tt_matmul_refuse(config, "!broadcast_batch",
					"Batch broadcasting is not supported for the chosen "
					"program config");
	if (matmul->batch_a > 1 && matmul->m % config->sub_h)
		return tt_matmul_refuse(
			config, "M % program_config.out_subblock_h == 0",
			"out_subblock_h (%u) needs to divide M (%u) evenly and does "
			"not. Please update your program config.",
			config->sub_h, matmul->m);
	if (sharded(matmul->b))
		TT_TRY(check_reuse_b(matmul, config));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(check_reuse_output(matmul, config));
	return check_reuse_split(matmul, config);
}

static tt_status check_interleaved(const struct tt_matmul_config *config,
				   const struct ttnn_memory_config *memory, const char *condition,
				   const char *what)
{
	if (memory->layout == TTNN_INTERLEAVED)
		return TTNN_OK;
	return tt_matmul_refuse(config, condition,
				"%s memory layout must be INTERLEAVED, got: TensorMemoryLayout::%s",
				what, layout_name(memory->layout));
}

static tt_status check_multi(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (matmul->a_tile.height != 32 || matmul->b_tile.width != 32)
		return tt_matmul_refuse(
			config, "false",
			"matmul with non-optimized program config does not support "
			"tiny tile (in0 tile height=%u, in1 tile width=%u, expected "
			"TILE_HEIGHT=32, TILE_WIDTH=32)",
			matmul->a_tile.height, matmul->b_tile.width);
	TT_TRY(check_interleaved(config, &matmul->a->spec.memory,
				 "input_tensor_a.memory_config().memory_layout() == "
				 "TensorMemoryLayout::INTERLEAVED",
				 "Input A"));
	TT_TRY(check_interleaved(config, &matmul->b->spec.memory,
				 "input_tensor_b.memory_config().memory_layout() == "
				 "TensorMemoryLayout::INTERLEAVED",
				 "Input B"));
	return check_interleaved(config, &matmul->memory,
				 "attributes.output_mem_config.memory_layout() == "
				 "TensorMemoryLayout::INTERLEAVED",
				 "Output");
}

/* ---- by kind -------------------------------------------------------------------------------------------------- */

static tt_status check_fused(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (!config->fuse_batch)
		return TTNN_OK;
	if (matmul->batch_b != 1)
		return tt_matmul_refuse(config, "get_batch_size(b_shape_padded) == 1",
					"Matmul with fused batch requires input tensors of shapes "
					"BCMK*11KN=BCMN or equivalent. Please change the second "
					"input tensor or adjust the program config.");
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

tt_status tt_matmul_check_config(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	switch (config->kind) {
	case TT_MATMUL_MULTI:
		return check_multi(matmul, config);
	case TT_MATMUL_REUSE:
		return check_reuse(matmul, config);
	case TT_MATMUL_2D:
		TT_TRY(check_fused(matmul, config));
		return check_2d(matmul, config);
	case TT_MATMUL_1D:
		TT_TRY(check_fused(matmul, config));
		return check_1d(matmul, config);
	case TT_MATMUL_DRAM:
		return check_dram(matmul, config);
	default:
		return check_batched_dram(matmul, config);
	}
}
