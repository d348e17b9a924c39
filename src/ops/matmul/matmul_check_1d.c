/* matmul_check_1d.c: what program configs that send one operand to all cores refuse. */
#include "ops/matmul/matmul_check.h"
#include "tensor/core.h"
#include "tensor/enums.h"
#include "tensor/memory.h"
#include "tensor/shape.h"

static const char *layout_name(enum ttnn_memory_layout layout)
{
	return tt_enum_name(&tt_enum_memory_layout, layout);
}

static bool sharded(const struct tt_tensor *tensor)
{
	return tt_memory_config_is_sharded(&tensor->spec.memory);
}

static tt_status check_gather(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;

	if (config->cast_a)
		return tt_matmul_refuse(config,
					"!(program_config.mcast_in0 && program_config.gather_in0)",
					"Matmul1D does not support mcast_in0 and gather_in0 at the "
					"same time.");
	TT_TRY(tt_matmul_check_layout(matmul, config, TTNN_WIDTH_SHARDED,
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
	TT_TRY(tt_matmul_check_layout(
		matmul, config, TTNN_WIDTH_SHARDED,
		"input A must be WIDTH_SHARDED when mcast_in0 or gather_in0 is set"));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(tt_matmul_check_match(matmul, config));
	TT_TRY(tt_matmul_need_shard(&matmul->a->spec.memory));
	TT_TRY(tt_matmul_check_turn(matmul, config, "input A"));
	TT_TRY(check_1d_rows(matmul, config));
	TT_TRY(check_1d_shard_rows(matmul, config));
	TT_TRY(tt_matmul_check_depth(matmul, config));
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
	TT_TRY(tt_matmul_need_shard(b));
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
	TT_TRY(tt_matmul_need_shard(&matmul->bias->spec.memory));
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
		TT_TRY(tt_matmul_check_rows(config));
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
	TT_TRY(tt_matmul_check_layout(matmul, config, TTNN_HEIGHT_SHARDED,
				      "input A must be HEIGHT_SHARDED"));
	if (tt_memory_config_is_sharded(&matmul->memory))
		TT_TRY(tt_matmul_check_match(matmul, config));
	TT_TRY(tt_matmul_need_shard(a));
	TT_TRY(tt_matmul_check_turn(matmul, config, "input A"));
	if (blocks > ttnn_core_set_cores(a->shard.grid))
		return tt_matmul_refuse(config,
					"div_up(M, per_core_M) <= "
					"input_tensor_a.shard_spec().value().grid.num_cores()",
					"number of M blocks ceil(M/per_core_M)=%u must not exceed "
					"input A shard grid cores (%zu)",
					blocks, ttnn_core_set_cores(a->shard.grid));
	TT_TRY(check_1d_shard_rows(matmul, config));
	TT_TRY(tt_matmul_check_depth(matmul, config));
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
		TT_TRY(tt_matmul_check_rows(config));
	}
	if (sharded(matmul->b))
		return tt_matmul_refuse(config,
					"input_tensor_b.memory_config().memory_layout() == "
					"TensorMemoryLayout::INTERLEAVED",
					"input B must be INTERLEAVED, got: TensorMemoryLayout::%s",
					layout_name(matmul->b->spec.memory.layout));
	return TTNN_OK;
}

tt_status tt_matmul_check_1d(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (config->gather_a)
		TT_TRY(check_gather(matmul, config));
	return config->cast_a || config->gather_a ? check_1d_wide(matmul, config)
						  : check_1d_tall(matmul, config);
}
