/*
 * heads_shards.c: heads out of rows in shards, where each core has the queries of one head of keys, that key and its
 * value side by side. Models what NlpCreateHeadsDeviceOperation of ttnn 0.81 asks of shards, and its factory for them.
 */
#include "ops/attention/heads.h"
#include "ops/movement/movement.h"

tt_status tt_heads_shard_memory(struct ttnn_memory_config *out, const struct tt_launch *launch,
				const struct ttnn_memory_config *wanted, uint32_t heads,
				uint32_t width)
{
	struct ttnn_shard_spec shard = {
		.height = TT_TILE, .width = width, .orientation = TTNN_ORIENT_ROW_MAJOR};

	*out = *wanted;
	if (!tt_memory_config_is_sharded(wanted))
		return TTNN_OK;
	TT_TRY(tt_split_cores(&shard.grid, launch->device->info.compute_grid,
			      (struct ttnn_core){0, 0}, heads, TTNN_ORIENT_ROW_MAJOR));
	return ttnn_memory_config_sharded(out, wanted->layout, wanted->buffer, &shard);
}

/* All rows on each core, in the usual order. */
static tt_status check_rows(const struct ttnn_tensor_spec *in, const char *who, const char *name)
{
	TT_REQUIRE(in->memory.shard.height == in->rows, "shard_spec.shape[0] == total height",
		   "%sShard spec shape[0] (%u) must equal physical volume / padded shape[-1] (%u)",
		   who, in->memory.shard.height, (uint32_t)in->rows);
	TT_REQUIRE(in->memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR,
		   "shard_spec.orientation == ShardOrientation::ROW_MAJOR",
		   "%s shard orientation must be ROW_MAJOR but got ShardOrientation::COL_MAJOR",
		   name);
	return TTNN_OK;
}

static tt_status check_kv(const struct tt_heads_shards *s)
{
	const struct ttnn_shard_spec *shard = &s->in->memory.shard;
	uint32_t queries = s->heads / s->kv_heads * s->width;

	TT_REQUIRE(tt_memory_config_is_sharded(&s->kv->memory),
		   "tensor_args.input_tensor_kv.value().is_sharded()",
		   "Input tensor KV must be sharded");
	TT_REQUIRE(shard->grid == s->kv->memory.shard.grid, "same shard grid",
		   "Input tensor and KV tensor must have the same shard grid");
	TT_REQUIRE(shard->orientation == s->kv->memory.shard.orientation, "same orientation",
		   "Input tensor and KV tensor must have the same shard orientation");
	TT_REQUIRE(shard->width == queries, "shard_spec.shape[1] == num_q_heads / num_kv_heads",
		   "Shard spec shape[1] (%u) must equal (num_q_heads / num_kv_heads) * head_dim "
		   "(%u)",
		   shard->width, queries);
	TT_TRY(check_rows(s->kv, "KV tensor ", "KV tensor"));
	TT_REQUIRE(s->kv->memory.shard.width == (s->tied ? 1u : 2u) * s->width,
		   "input_tensor_kv.shard_spec().value().shape[1] == kv_sections * head_dim",
		   "KV tensor shard spec shape[1] (%u) must equal %u * head_dim (%u)",
		   s->kv->memory.shard.width, s->tied ? 1u : 2u, (s->tied ? 1u : 2u) * s->width);
	return TTNN_OK;
}

/* How many heads there are beside how many cores. */
static tt_status check_heads(const struct tt_heads_shards *s)
{
	uint32_t cores = (uint32_t)ttnn_core_set_cores(s->in->memory.shard.grid);
	uint32_t all = s->grid.x * s->grid.y;

	TT_REQUIRE(s->heads <= all, "operation_attributes.num_q_heads <= num_cores",
		   "Number of Q heads (%u) must be <= number of cores (%u)", s->heads, all);
	TT_REQUIRE(s->kv_heads <= all, "operation_attributes.num_kv_heads <= num_cores",
		   "Number of KV heads (%u) must be <= number of cores (%u)", s->kv_heads, all);
	TT_REQUIRE(s->kv_heads && s->heads >= s->kv_heads,
		   "operation_attributes.num_kv_heads > 0 && operation_attributes.num_q_heads >= "
		   "operation_attributes.num_kv_heads",
		   "Number of Q heads (%u) must be >= number of KV heads (%u), which must be "
		   "greater than 0",
		   s->heads, s->kv_heads);
	TT_REQUIRE(s->heads % cores == 0,
		   "operation_attributes.num_q_heads % "
		   "input_tensor.shard_spec().value().num_cores() == 0",
		   "Number of Q heads (%u) must be divisible by number of cores (%u)", s->heads,
		   cores);
	if (s->kv)
		return check_kv(s);
	TT_REQUIRE(s->kv_heads % cores == 0,
		   "operation_attributes.num_kv_heads % "
		   "input_tensor.shard_spec().value().num_cores() == 0",
		   "Number of KV heads (%u) must be divisible by number of cores (%u)", s->kv_heads,
		   cores);
	return TTNN_OK;
}

tt_status tt_heads_shards_check(const struct tt_heads_shards *s)
{
	uint32_t sections = s->tied ? 1 : 2, wide;

	if (!tt_memory_config_is_sharded(&s->in->memory)) {
		TT_REQUIRE(s->wanted->layout == TTNN_INTERLEAVED,
			   "operation_attributes.output_mem_config.memory_layout() == "
			   "TensorMemoryLayout::INTERLEAVED",
			   "Output memory config layout must be INTERLEAVED but got "
			   "TensorMemoryLayout::%s",
			   tt_enum_name(&tt_enum_memory_layout, s->wanted->layout));
		return TTNN_OK;
	}
	TT_NEED(s->in->memory.has_shard, "heads cannot be taken out of shards of any rank");
	TT_REQUIRE(s->in->memory.shard.height == s->in->rows, "shard_spec.shape[0] == total height",
		   "Shard spec shape[0] (%u) must equal physical volume / padded shape[-1] (%u)",
		   s->in->memory.shard.height, (uint32_t)s->in->rows);
	TT_REQUIRE(tt_memory_config_is_sharded(s->wanted) &&
			   s->wanted->layout != TTNN_WIDTH_SHARDED,
		   "operation_attributes.output_mem_config.is_sharded()",
		   "Output memory config must be sharded and not WIDTH_SHARDED but got "
		   "memory_layout: TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, s->wanted->layout));
	TT_TRY(check_rows(s->in, "", "Input tensor"));
	TT_TRY(check_heads(s));
	wide = (s->heads / s->kv_heads + sections) * s->width;
	TT_REQUIRE(s->kv || s->in->memory.shard.width == wide,
		   "input_tensor.shard_spec().value().shape[1] == (num_q_heads / num_kv_heads + "
		   "kv_sections) * head_dim",
		   "Shard spec shape[1] (%u) must equal (num_q_heads / num_kv_heads + %u) * "
		   "head_dim (%u)",
		   s->in->memory.shard.width, sections, wide);
	TT_REQUIRE(!s->transpose, "!operation_attributes.transpose_k_heads",
		   "Transpose K heads must be false");
	return TTNN_OK;
}

/* The results, where they are. */
tt_status tt_heads_shards_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const char *const names[] = {"q_output_cb", "k_output_cb", "v_output_cb"};
	uint64_t tile = tt_tile_bytes_of(launch->inputs[0]->spec.dtype);

	for (uint32_t i = 0; i < TT_COUNT(names); i++) {
		struct tt_tensor *out = launch->outputs[i];

		TT_TRY(TT_PLAN(plan, out->spec.memory.shard.grid,
			       TT_DFB_ROW(16 + i, names[i], .pages = tt_shard_tiles(&out->spec),
					  .page = tile, .backing = out)));
	}
	return TTNN_OK;
}
