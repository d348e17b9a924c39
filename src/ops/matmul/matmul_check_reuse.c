/* matmul_check_reuse.c: what program configs refuse that take whole matrices, or any tile anywhere. */
#include "ops/matmul/matmul_check.h"
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
	TT_TRY(tt_matmul_need_shard(b));
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
	TT_TRY(tt_matmul_need_shard(a));
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
	return tt_memory_config_is_sharded(&matmul->memory) ? tt_matmul_check_match(matmul, config)
							    : TTNN_OK;
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
	TT_TRY(tt_matmul_need_shard(b));
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

tt_status tt_matmul_check_reuse(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
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

tt_status tt_matmul_check_multi(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config)
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
