/* matmul_check_reuse.c: what program configs refuse that take whole matrices, or any tile anywhere. */
#include "ops/matmul/matmul_check.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/text.h"

/*
 * Cores get whole matrices or whole parts of one: per_core_M divides M, or is a multiple of it
 * that divides all rows. N is never cut.
 */
static tt_status check_reuse_cut(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	uint32_t all = tt_matmul_rows(matmul, true);

	if (config->m > matmul->m) {
		TT_CONFIG_REQUIRE(config, config->m % matmul->m == 0, "per_core_M % M == 0",
				  "per_core_M, %u, must be a multiple of M, %u if per_core_M > M!",
				  config->m, matmul->m);
		TT_CONFIG_REQUIRE(config, all % config->m == 0, "total_M % per_core_M == 0",
				  "input a total height, %u, must be divisible by per_core_M, %u!",
				  all, config->m);
	} else if (matmul->m % config->m) {
		return tt_matmul_refuse(config, "M % per_core_M == 0",
					"per_core_M, %u, must divide M, %u, if per_core_M < M!",
					config->m, matmul->m);
	}
	TT_CONFIG_REQUIRE(config, matmul->n == config->n, "N == per_core_N",
			  "N (%u) must equal per_core_N (%u)", matmul->n, config->n);
	return TTNN_OK;
}

/* Both core sets are in the text. */
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

/* Both sharded: matrix i of a and of b lie on the same core. */
static tt_status check_reuse_alike(const struct tt_matmul *matmul,
				   const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory, *b = &matmul->b->spec.memory;

	TT_CONFIG_REQUIRE(config, a->buffer == b->buffer,
			  "input_tensor_a.memory_config().buffer_type() == "
			  "input_tensor_b.memory_config().buffer_type()",
			  "Input tensors A and B must have matching buffer types, got A: "
			  "BufferType::%s vs B: BufferType::%s",
			  tt_buffer_name(a->buffer), tt_buffer_name(b->buffer));
	TT_CONFIG_REQUIRE(config, a->layout == b->layout,
			  "input_tensor_a.memory_config().memory_layout() == "
			  "input_tensor_b.memory_config().memory_layout()",
			  "Input tensors A and B must have matching memory layouts, got A: "
			  "TensorMemoryLayout::%s vs B: TensorMemoryLayout::%s",
			  tt_layout_name(a->layout), tt_layout_name(b->layout));
	TT_TRY(tt_matmul_need_shard(b));
	if (a->shard.grid != b->shard.grid)
		return refuse_grids(config, a->shard.grid, b->shard.grid);
	TT_CONFIG_REQUIRE(config, a->shard.orientation == b->shard.orientation,
			  "input_tensor_a.shard_spec().value().orientation == "
			  "input_tensor_b.shard_spec().value().orientation",
			  "Input tensors A and B must have matching shard orientations, got A: "
			  "ShardOrientation::%s vs B: ShardOrientation::%s",
			  tt_orientation_name(a->shard.orientation),
			  tt_orientation_name(b->shard.orientation));
	return TTNN_OK;
}

/* Shards of a have all of K, and per_core_M rows of tiles. */
static tt_status check_reuse_a(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *a = &matmul->a->spec.memory;
	uint32_t width = tt_shape_last(&matmul->a_padded, 1);

	TT_CONFIG_REQUIRE(config, a->layout != TTNN_WIDTH_SHARDED,
			  "input_tensor_a.memory_config().memory_layout() != "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "input A memory layout must not be WIDTH_SHARDED, got: "
			  "TensorMemoryLayout::WIDTH_SHARDED");
	TT_TRY(tt_matmul_need_shard(a));
	TT_CONFIG_REQUIRE(config, width == a->shard.width, "K == in0_shard_shape[1]",
			  "K (%u) must equal in0 shard_shape[1] (%u)", width, a->shard.width);
	TT_CONFIG_REQUIRE(config, a->shard.width == config->k * matmul->a_tile.width,
			  "in0_shard_shape[1] == program_config.in0_block_w * in0_tile.get_width()",
			  "in0 shard_shape[1] (%u) must equal in0_block_w (%u) * in0_tile width "
			  "(%u)",
			  a->shard.width, config->k, matmul->a_tile.width);
	TT_CONFIG_REQUIRE(config, config->m * matmul->a_tile.height == a->shard.height,
			  "per_core_M * in0_tile.get_height() == in0_shard_shape[0]",
			  "per_core_M (%u) * in0_tile height (%u) must equal in0 shard_shape[0] "
			  "(%u)",
			  config->m, matmul->a_tile.height, a->shard.height);
	if (tt_tensor_is_sharded(matmul->b))
		TT_TRY(check_reuse_alike(matmul, config));
	return tt_memory_config_is_sharded(&matmul->memory) ? tt_matmul_check_match(matmul, config)
							    : TTNN_OK;
}

/* Shards of b have all of N and whole matrices. */
static tt_status check_reuse_b(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	uint32_t width = tt_shape_last(&matmul->b_padded, 1);
	uint32_t depth = tt_shape_last(&matmul->a_padded, 1);

	TT_CONFIG_REQUIRE(config, config->m % matmul->m == 0, "per_core_M % M == 0",
			  "per_core_M (%u) must be a multiple of M (%u) when input B is sharded",
			  config->m, matmul->m);
	TT_CONFIG_REQUIRE(config, b->layout != TTNN_WIDTH_SHARDED,
			  "input_tensor_b.memory_config().memory_layout() != "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "Input B memory layout must not be WIDTH_SHARDED, got: "
			  "TensorMemoryLayout::WIDTH_SHARDED");
	TT_TRY(tt_matmul_need_shard(b));
	TT_CONFIG_REQUIRE(config, b->shard.width == width,
			  "in1_shard_shape[1] == b_shape_padded[-1]",
			  "Input B shard shape[1] (%u) must equal padded shape[-1] (%u)",
			  b->shard.width, width);
	TT_CONFIG_REQUIRE(config, config->n * matmul->b_tile.width == b->shard.width,
			  "per_core_N * in1_tile.get_width() == in1_shard_shape[1]",
			  "per_core_N * in1_tile.get_width() (%u) must equal in1_shard_shape[1] "
			  "(%u)",
			  config->n * matmul->b_tile.width, b->shard.width);
	TT_CONFIG_REQUIRE(config, b->shard.height % depth == 0, "in1_shard_shape[0] % K == 0",
			  "Input B shard shape[0] (%u) must be divisible by K (%u)",
			  b->shard.height, depth);
	return TTNN_OK;
}

/* A sharded result is written row by row: subblocks span the width, or are one tile high. */
static tt_status check_reuse_output(const struct tt_matmul *matmul,
				    const struct tt_matmul_config *config)
{
	TT_CONFIG_REQUIRE(config, matmul->memory.layout != TTNN_WIDTH_SHARDED,
			  "attributes.output_mem_config.memory_layout() != "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "Output memory layout must not be WIDTH_SHARDED, got: "
			  "TensorMemoryLayout::WIDTH_SHARDED");
	TT_CONFIG_REQUIRE(config, config->sub_w == config->n || config->sub_h == 1,
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

	TT_REQUIRE(rows % config->m == 0, "(B * Mt) % per_core_M == 0",
		   "B * Mt (%u) must be divisible by per_core_M (%u)", rows, config->m);
	TT_REQUIRE(!shard || blocks >= ttnn_core_set_cores(shard->grid),
		   "num_evenly_divided_output_blocks > 0",
		   "num_output_blocks_total (%llu) must be >= num_cores (%zu); some cores would "
		   "have no work",
		   (unsigned long long)blocks, ttnn_core_set_cores(shard->grid));
	return TTNN_OK;
}

/* MatmulMultiCoreReuseProgramConfig: nothing is sent between cores. */
tt_status tt_matmul_check_reuse(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
{
	TT_TRY(check_reuse_cut(matmul, config));
	if (tt_tensor_is_sharded(matmul->a))
		TT_TRY(check_reuse_a(matmul, config));
	TT_CONFIG_REQUIRE(config, matmul->batch_a <= 1 || matmul->batch_b != 1, "!broadcast_batch",
			  "Batch broadcasting is not supported for the chosen program config");
	TT_CONFIG_REQUIRE(config, matmul->batch_a <= 1 || matmul->m % config->sub_h == 0,
			  "M % program_config.out_subblock_h == 0",
			  "out_subblock_h (%u) needs to divide M (%u) evenly and does not. Please "
			  "update your program config.",
			  config->sub_h, matmul->m);
	if (tt_tensor_is_sharded(matmul->b))
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
				what, tt_layout_name(memory->layout));
}

/*
 * MatmulMultiCoreProgramConfig: any tile on any core, so nothing may be sharded and tiles are 32 ×
 * 32.
 */
tt_status tt_matmul_check_multi(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
{
	TT_CONFIG_REQUIRE(config, matmul->a_tile.height == 32 && matmul->b_tile.width == 32,
			  "false",
			  "matmul with non-optimized program config does not support tiny tile "
			  "(in0 tile height=%u, in1 tile width=%u, expected TILE_HEIGHT=32, "
			  "TILE_WIDTH=32)",
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
