/* matmul_check_1d.c: what program configs that send one operand to all cores refuse. */
#include "ops/matmul/matmul_check.h"
#include "tensor/core.h"
#include "tensor/memory.h"
#include "tensor/shape.h"
#include "tensor/text.h"

/* gather_in0 passes shards of a round a ring of cores: all three are width sharded, and no bias. */
static tt_status check_gather(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	bool sent = tt_value_given(&matmul->global_cb);

	TT_CONFIG_REQUIRE(config, config->receivers > 0,
			  "program_config.num_global_cb_receivers > 0",
			  "Num global CB receivers must be greater than 0.");
	TT_CONFIG_REQUIRE(config, !config->cast_a,
			  "!(program_config.mcast_in0 && program_config.gather_in0)",
			  "Matmul1D does not support mcast_in0 and gather_in0 at the same time.");
	TT_TRY(tt_matmul_check_layout(matmul, config, TTNN_WIDTH_SHARDED,
				      "input A must be WIDTH_SHARDED for gather_in0"));
	TT_CONFIG_REQUIRE(config,
			  b->layout == TTNN_WIDTH_SHARDED ||
				  (b->layout == TTNN_INTERLEAVED && b->buffer == TTNN_DRAM) ||
				  (sent && b->buffer == TTNN_DRAM),
			  "input_tensor_b.memory_config().memory_layout() == "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "Input tensor B must be width sharded, DRAM interleaved, or a DRAM "
			  "weight fed via a global circular buffer when using gather_in0.");
	TT_CONFIG_REQUIRE(config, tt_memory_config_is_sharded(&matmul->memory),
			  "attributes.output_mem_config.is_sharded()",
			  "Output tensor must be sharded when using gather_in0.");
	TT_CONFIG_REQUIRE(config, matmul->memory.has_shard,
			  "attributes.output_mem_config.shard_spec().has_value()",
			  "Output shard spec must be provided when using gather_in0.");
	TT_CONFIG_REQUIRE(config, sent || config->receivers == 1,
			  "program_config.num_global_cb_receivers == 1",
			  "Num global CB receivers must be 1 when global CB is not provided.");
	TT_CONFIG_REQUIRE(config, !matmul->bias, "!optional_bias.has_value()",
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

/* mcast_in0: every core has all rows of the result. */
static tt_status check_1d_rows(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	uint32_t m = tt_matmul_rows(matmul, config->fuse_batch);

	if (m == config->m)
		return TTNN_OK;
	return tt_matmul_refuse(config, "M == per_core_M", "M (%u) must equal per_core_M (%u)", m,
				config->m);
}

/* per_core_M is the height of a's shards in tiles. */
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

/* mcast_in0 with a in width shards: each core sends its columns of a to the others. */
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
	TT_CONFIG_REQUIRE(
		config, config->gather_a || (shard->width / matmul->a_tile.width) % config->k == 0,
		"(shard_shape[1] / in0_tile.get_width()) % program_config.in0_block_w "
		"== 0",
		"shard_shape[1] (%u) / in0_tile width (%u) must be divisible by "
		"in0_block_w (%u)",
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

/* b in L1 shards: every core has the columns it needs; a bias is cut alike. */
static tt_status check_1d_wide_b(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;
	uint32_t width = b->shard.width / matmul->b_tile.width;

	TT_CONFIG_REQUIRE(config, b->layout == TTNN_WIDTH_SHARDED,
			  "input_tensor_b.memory_config().memory_layout() == "
			  "TensorMemoryLayout::WIDTH_SHARDED",
			  "input B in L1 must be WIDTH_SHARDED, got: TensorMemoryLayout::%s",
			  tt_layout_name(b->layout));
	TT_TRY(tt_matmul_need_shard(b));
	TT_CONFIG_REQUIRE(config, config->n == width,
			  "program_config.per_core_N == "
			  "(input_tensor_b.shard_spec().value().shape[1] / in1_tile.get_width())",
			  "input B shard width in tiles (%u) must equal per_core_N (%u)", width,
			  config->n);
	if (!matmul->bias)
		return TTNN_OK;
	TT_TRY(tt_matmul_need_shard(&matmul->bias->spec.memory));
	TT_CONFIG_REQUIRE(config, b->shard.width == matmul->bias->spec.memory.shard.width,
			  "input_tensor_b.shard_spec().value().shape[1] == "
			  "optional_bias.value().shard_spec().value().shape[1]",
			  "bias shard width (%u) must match input B shard width (%u)",
			  matmul->bias->spec.memory.shard.width, b->shard.width);
	return TTNN_OK;
}

/* mcast_in0: the result is cut into columns, one block of them a core. */
static tt_status check_1d_wide(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *out = &matmul->memory;

	if (tt_tensor_is_sharded(matmul->a))
		TT_TRY(check_1d_wide_a(matmul, config));
	if (tt_memory_config_is_sharded(out)) {
		TT_CONFIG_REQUIRE(config, out->layout == TTNN_WIDTH_SHARDED || one_line(out, true),
				  "is_width_sharded || is_block_sharded_1d_row",
				  "output memory layout must be WIDTH_SHARDED or BLOCK_SHARDED on "
				  "a 1-row grid, got: TensorMemoryLayout::%s",
				  tt_layout_name(out->layout));
		TT_TRY(check_1d_rows(matmul, config));
		TT_TRY(tt_matmul_check_rows(config));
	}
	if (matmul->b->spec.memory.buffer == TTNN_L1 && tt_tensor_is_sharded(matmul->b))
		return check_1d_wide_b(matmul, config);
	return TTNN_OK;
}

/* mcast_in1 with a in height shards: every core has the rows it needs, whole. */
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
	TT_CONFIG_REQUIRE(config, blocks <= ttnn_core_set_cores(a->shard.grid),
			  "div_up(M, per_core_M) <= "
			  "input_tensor_a.shard_spec().value().grid.num_cores()",
			  "number of M blocks ceil(M/per_core_M)=%u must not exceed input A shard "
			  "grid cores (%zu)",
			  blocks, ttnn_core_set_cores(a->shard.grid));
	TT_TRY(check_1d_shard_rows(matmul, config));
	TT_TRY(tt_matmul_check_depth(matmul, config));
	TT_CONFIG_REQUIRE(config, matmul->k == a->shard.width / matmul->a_tile.width,
			  "K == (shard_shape[1] / in0_tile.get_width())",
			  "K (%u) must equal shard_shape[1] (%u) / in0_tile width (%u)", matmul->k,
			  a->shard.width, matmul->a_tile.width);
	return TTNN_OK;
}

/*
 * mcast_in1: the result is cut into rows, and each core has all columns of it; b cannot be
 * sharded.
 */
static tt_status check_1d_tall(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *out = &matmul->memory;

	if (tt_tensor_is_sharded(matmul->a))
		TT_TRY(check_1d_tall_a(matmul, config));
	if (tt_memory_config_is_sharded(out)) {
		TT_CONFIG_REQUIRE(config,
				  out->layout == TTNN_HEIGHT_SHARDED || one_line(out, false),
				  "is_height_sharded || is_block_sharded_1d_column",
				  "output memory layout must be HEIGHT_SHARDED or BLOCK_SHARDED "
				  "on a 1-column grid, got: TensorMemoryLayout::%s",
				  tt_layout_name(out->layout));
		TT_CONFIG_REQUIRE(config, matmul->n == config->n, "N == per_core_N",
				  "N (%u) must equal per_core_N (%u)", matmul->n, config->n);
		TT_TRY(tt_matmul_check_rows(config));
	}
	TT_CONFIG_REQUIRE(config, !tt_tensor_is_sharded(matmul->b),
			  "input_tensor_b.memory_config().memory_layout() == "
			  "TensorMemoryLayout::INTERLEAVED",
			  "input B must be INTERLEAVED, got: TensorMemoryLayout::%s",
			  tt_layout_name(matmul->b->spec.memory.layout));
	return TTNN_OK;
}

/* All cores of the config lie on the sub-device, which is a rectangle. */
static tt_status check_sub_device(const struct tt_matmul *matmul,
				  const struct tt_matmul_config *config)
{
	struct ttnn_core size = config->grid;
	struct ttnn_core_range box, allowed;
	size_t cores = ttnn_core_set_cores(matmul->sub_device);

	TT_TRY(tt_core_set_box(&box, matmul->sub_device));
	if (cores != (uint64_t)(box.end.x - box.start.x + 1) * (box.end.y - box.start.y + 1))
		return tt_matmul_refuse(config, "sub_device_cores.num_cores() == bbox.size()",
					"matmul_multicore_reuse_mcast_1d only supports rectangular "
					"sub-device worker grids. Got %zu sub-device worker cores "
					"(bounding box: [%u-%u - %u-%u])",
					cores, box.start.x, box.start.y, box.end.x, box.end.y);
	if (config->allowed) {
		TT_TRY(tt_core_set_box(&allowed, config->allowed));
		size = (struct ttnn_core){allowed.end.x - allowed.start.x + 1,
					  allowed.end.y - allowed.start.y + 1};
	}
	if (size.x > box.end.x - box.start.x + 1 || size.y > box.end.y - box.start.y + 1)
		return tt_matmul_refuse(
			config,
			"bbox.start_coord.x + grid_size_1d.x - 1 <= bbox.end_coord.x && "
			"bbox.start_coord.y + grid_size_1d.y - 1 <= bbox.end_coord.y",
			"matmul grid_size %u-%u anchored at sub-device start %u-%u extends past "
			"the sub-device's worker bounding box [%u-%u - %u-%u]",
			size.x, size.y, box.start.x, box.start.y, box.start.x, box.start.y,
			box.end.x, box.end.y);
	return TTNN_OK;
}

tt_status tt_matmul_check_1d(const struct tt_matmul *matmul, const struct tt_matmul_config *config)
{
	if (config->gather_a)
		TT_TRY(check_gather(matmul, config));
	else if (matmul->sub_device)
		TT_TRY(check_sub_device(matmul, config));
	return config->cast_a || config->gather_a ? check_1d_wide(matmul, config)
						  : check_1d_tall(matmul, config);
}

static tt_status refuse_second(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config, const char *what)
{
	struct tt_str texts[2] = {{0}}, condition = {0};
	tt_status status;

	tt_text_tensor_spec(&texts[0], &matmul->b->spec, TTNN_DIALECT_TT_METAL);
	tt_text_tensor_spec(&texts[1], &matmul->also->spec, TTNN_DIALECT_TT_METAL);
	tt_str_addf(&condition, "input_tensor_b.%s() == input_tensors[i].%s()", what, what);
	status = tt_fail_cond(TTNN_INVALID, tt_str_text(&condition),
			      "%s: for multi-tensor matmul, all weight tensors must have the same "
			      "%s %s is not equal to %s",
			      tt_matmul_config_name(config), what, tt_str_text(&texts[0]),
			      tt_str_text(&texts[1]));
	for (int i = 0; i < 2; i++)
		tt_str_deinit(&texts[i]);
	tt_str_deinit(&condition);
	return status;
}

/* A second b is as the first is, and both come through a prefetcher's ring. */
tt_status tt_matmul_check_second(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config)
{
	const struct ttnn_memory_config *b = &matmul->b->spec.memory;

	if (!matmul->also)
		return TTNN_OK;
	TT_CONFIG_REQUIRE(config,
			  config->kind == TT_MATMUL_1D && tt_value_given(&matmul->global_cb) &&
				  tt_tensor_is_sharded(matmul->b) && b->buffer == TTNN_DRAM,
			  "input_tensors.size() == 2", "Must have exactly 2 input tensors, got: 3");
	if (!ttnn_shape_equal(&matmul->b->spec.shape, &matmul->also->spec.shape))
		return tt_fail_shapes(TTNN_INVALID,
				      "input_tensor_b.logical_shape() == "
				      "input_tensors[i].logical_shape()",
				      "MatmulMultiCoreReuseMultiCast1DProgramConfig: for "
				      "multi-tensor matmul, all weight tensors must have the same "
				      "logical_shape, %s is not equal to %s",
				      &matmul->b->spec.shape, &matmul->also->spec.shape);
	if (!ttnn_tensor_spec_equal(&matmul->b->spec, &matmul->also->spec))
		return refuse_second(matmul, config, "tensor_spec");
	return TTNN_OK;
}
