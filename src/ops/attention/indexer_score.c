/*
 * indexer_score.c: how much keys matter to queries, so that attention can be to the best of them: indexer_score_dsa, of all heads by
 * learnt weights, and indexer_score_msa, of groups of heads, by blocks of keys where that is asked for.
 *
 * Models IndexerScoreDeviceOperation of ttnn 0.81, which Blackhole has, with IndexerScoreProgramFactory: refusals, memory, cores.
 * What it computes is indexer_rows.c; the ring that gathers keys on the way is indexer_ring.c. Not modelled: caches that are
 * striped over chips, without a ring.
 */
#include <inttypes.h>

#include "ops/attention/heads.h"
#include "ops/attention/indexer_score.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define NUMBER_PAGE 64 /* of a tensor with one number */
#define ROWS_AT_ONCE 8 /* blocks whose numbers fill what a write has to */

/* ---- what is worked with ---------------------------------------------------------------------------------------- */

static const struct tt_field fields[tt_score_schema_count] = {TT_SCORE_ATTRS(TT_ATTR_FIELD)};
const struct tt_schema tt_score_schema = {"operation_attributes_t", fields, tt_score_schema_count,
					  false};

void tt_score_work_of(struct tt_score_work *w, const struct tt_launch *launch)
{
	const struct ttnn_value *config = launch->attrs[TT_SCORE_CONFIG].items;
	const uint32_t *q = launch->inputs[TT_SCORE_Q]->spec.shape.dim;
	uint64_t at_once = (uint64_t)config[TT_INDEXER_HEADS].integer;

	*w = (struct tt_score_work){
		.rows = q[2] / TT_TILE,
		.keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2] / TT_TILE,
		.width = q[3] / TT_TILE,
		.q = (uint64_t)config[TT_INDEXER_Q].integer / TT_TILE,
		.k = (uint64_t)config[TT_INDEXER_K].integer / TT_TILE,
		.heads = q[1],
		.at_once = at_once ? at_once : q[1],
		.groups = tt_attr_u32(launch, TT_SCORE_GROUPS),
		.block = tt_attr_u32(launch, TT_SCORE_BLOCK) / TT_TILE,
	};
	w->sum = w->groups > 1 ? w->heads / w->groups : w->at_once;
}

tt_status tt_score_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[TT_SCORE_Q]->spec;
	const struct ttnn_shape *k = &launch->inputs[TT_SCORE_K]->spec.shape;
	uint32_t block = tt_attr_u32(launch, TT_SCORE_BLOCK), keys;
	struct ttnn_shape shape;

	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(tt_need_dim(&q->shape, i));
	TT_TRY(tt_need_dim(k, 2));
	keys = block ? k->dim[2] / block : k->dim[2];
	shape = TT_SHAPE(q->shape.dim[0], tt_attr_u32(launch, TT_SCORE_GROUPS), q->shape.dim[2],
			 keys);
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR, &q->memory);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static bool is_ring(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[TT_SCORE_RING]);
}

static tt_status check_machine(const struct tt_launch *launch)
{
	TT_REQUIRE(tt_is_blackhole(launch->device), "arch == tt::ARCH::BLACKHOLE",
		   "indexer_score is only supported on Blackhole, got wormhole_b0");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[TT_SCORE_COMPUTE], TT_COMPUTE_FP32),
		   "!fp32_dest_acc_en",
		   "indexer_score requires fp32_dest_acc_en=false (bf16 DEST; the custom LLK is "
		   "not validated for fp32 DEST)");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[TT_SCORE_COMPUTE], TT_COMPUTE_FULL_SYNC),
		   "!dst_full_sync_en",
		   "indexer_score requires dst_full_sync_en=false (the kernel is built half-sync)");
	return TTNN_OK;
}

static tt_status check_cache(const struct tt_launch *launch)
{
	const struct ttnn_value *slot = &launch->attrs[TT_SCORE_SLOT],
				*length = &launch->attrs[TT_SCORE_LENGTH];
	const struct ttnn_shape *k = &launch->inputs[TT_SCORE_K]->spec.shape;
	uint32_t block = tt_attr_u32(launch, TT_SCORE_BLOCK), valid = (uint32_t)length->integer;
	static const int whole[] = {TT_SCORE_Q, TT_SCORE_WEIGHTS};
	bool ring = is_ring(launch), there = ring && launch->inputs[TT_SCORE_SLOT_THERE];
	uint32_t slots = launch->inputs[ring ? TT_SCORE_LOCAL : TT_SCORE_K]->spec.shape.dim[0];
	uint32_t layers = tt_attr_u32(launch, TT_SCORE_LAYERS);

	for (size_t i = 0; i < TT_COUNT(whole); i++)
		TT_REQUIRE(!tt_memory_config_is_sharded(&launch->inputs[whole[i]]->spec.memory),
			   "!tp->is_sharded()", "indexer_score %s must use interleaved memory",
			   i ? "weights" : "q");
	TT_REQUIRE(tt_value_given(slot) || there || k->dim[0] == 1, "kB == 1",
		   "indexer_score k batch must be 1 unless a cache slot is selected (got %u)",
		   k->dim[0]);
	TT_NEED(layers, "indexer_score: index_cache_num_layers must be at least 1");
	TT_REQUIRE(!there || (layers <= slots && slots % layers == 0),
		   "attrs.index_cache_num_layers <= kB && kB % attrs.index_cache_num_layers == 0",
		   "indexer_score index_cache_num_layers %u must divide the index cache's %u slots "
		   "(user-major)",
		   layers, slots);
	TT_REQUIRE(!tt_value_given(slot) || slot->integer < slots,
		   "attrs.cache_batch_idx.value() < kB",
		   "indexer_score cache_batch_idx (%" PRId64 ") must be < k batch slots (%u)",
		   slot->integer, slots);
	if (!tt_value_given(length))
		return TTNN_OK;
	TT_REQUIRE(valid % TT_TILE == 0, "kv_len % tt::constants::TILE_WIDTH == 0",
		   "indexer_score kv_len %u must be tile-aligned", valid);
	TT_REQUIRE(valid > 0 && valid <= k->dim[2], "kv_len > 0 && kv_len <= T",
		   "indexer_score kv_len %u must be in (0, T=%u] (the allocated k length)", valid,
		   k->dim[2]);
	TT_REQUIRE(!block || valid % block == 0, "kv_len % attrs.block_size == 0",
		   "indexer_score kv_len %u must be a multiple of block_size %u when "
		   "block-max-pooling (a kv_len splitting a block drops the boundary block's "
		   "score)",
		   valid, block);
	return TTNN_OK;
}

static tt_status check_shapes(const struct tt_launch *launch)
{
	const struct ttnn_shape *q = &launch->inputs[TT_SCORE_Q]->spec.shape;
	const struct ttnn_shape *k = &launch->inputs[TT_SCORE_K]->spec.shape;
	const struct ttnn_tensor_spec *weights = &launch->inputs[TT_SCORE_WEIGHTS]->spec;
	const struct ttnn_shape *w = &weights->shape;

	TT_REQUIRE(q->rank == 4 && k->rank == 4, "q_shape.rank() == 4 && k_shape.rank() == 4",
		   "q, k must be rank 4");
	TT_REQUIRE(k->dim[1] == 1, "k_shape[1] == 1",
		   "k must be single-head [B, 1, T, D], got %u heads", k->dim[1]);
	TT_REQUIRE(q->dim[3] == k->dim[3], "q_shape[3] == k_shape[3]",
		   "q head dim %u != k head dim %u", q->dim[3], k->dim[3]);
	TT_REQUIRE(q->dim[0] == 1, "q_shape[0] == 1", "q batch 1 only, got %u", q->dim[0]);
	if (launch->attrs[TT_SCORE_GATE].boolean)
		return TTNN_OK;
	TT_REQUIRE(w->rank == 4, "w_shape.rank() == 4", "weights must be rank 4");
	TT_REQUIRE(w->dim[1] == 1 && w->dim[2] == q->dim[2] && w->dim[3] == q->dim[1],
		   "w_shape[1] == 1 && w_shape[2] == q_shape[2] && w_shape[3] == q_shape[1]",
		   "weights must be [B, 1, Sq, Hi] matching q [B, Hi, Sq, D]");
	TT_REQUIRE(w->dim[0] == q->dim[0], "q_shape[0] == w_shape[0]",
		   "q/weights batch mismatch (%u vs %u)", q->dim[0], w->dim[0]);
	TT_REQUIRE(weights->dtype == TTNN_BFLOAT16, "w.dtype() == DataType::BFLOAT16",
		   "weights must be bfloat16 (got DataType::%s)",
		   tt_enum_name(&tt_enum_dtype, (int64_t)weights->dtype));
	TT_REQUIRE(weights->layout == TTNN_TILE, "w.layout() == Layout::TILE",
		   "weights must be TILE layout");
	return TTNN_OK;
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[TT_SCORE_Q]->spec.shape.dim;
	uint32_t keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2];

	for (int i = TT_SCORE_Q; i <= TT_SCORE_K; i++) {
		enum ttnn_dtype dtype = launch->inputs[i]->spec.dtype;

		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
			   i == TT_SCORE_Q ? "q.dtype() == DataType::BFLOAT16 || q.dtype() == "
					     "DataType::BFLOAT8_B"
					   : "k.dtype() == DataType::BFLOAT16 || k.dtype() == "
					     "DataType::BFLOAT8_B",
			   "%c must be bfloat16 or bfloat8_b (got DataType::%s)",
			   i == TT_SCORE_Q ? 'q' : 'k',
			   tt_enum_name(&tt_enum_dtype, (int64_t)dtype));
	}
	TT_REQUIRE(launch->inputs[TT_SCORE_Q]->spec.layout == TTNN_TILE &&
			   launch->inputs[TT_SCORE_K]->spec.layout == TTNN_TILE,
		   "q.layout() == Layout::TILE && k.layout() == Layout::TILE",
		   "q, k must be TILE layout");
	TT_REQUIRE(q[2] % TT_TILE == 0 && keys % TT_TILE == 0 && q[3] % TT_TILE == 0,
		   "Sq % tt::constants::TILE_HEIGHT == 0 && T % tt::constants::TILE_WIDTH == 0 && "
		   "D % tt::constants::TILE_WIDTH == 0",
		   "Sq %u, T %u, D %u must be tile-aligned", q[2], keys, q[3]);
	TT_NEED(q[1] && q[2] && q[3] && keys, "indexer_score: there is nothing to compare");
	return TTNN_OK;
}

/* The chunk has to begin where there are keys; its end may be behind them. */
static tt_status check_start(const struct tt_launch *launch)
{
	uint32_t keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2];
	uint64_t start = (uint64_t)launch->attrs[TT_SCORE_START].integer;
	uint64_t ratio = (uint64_t)launch->attrs[TT_SCORE_RATIO].integer, room = keys * ratio;
	const struct ttnn_value *length = &launch->attrs[TT_SCORE_LENGTH];

	TT_REQUIRE(start % TT_TILE == 0, "attrs.chunk_start_idx % tt::constants::TILE_WIDTH == 0",
		   "chunk_start_idx %" PRIu64 " must be tile-aligned", start);
	TT_REQUIRE(start < room, "attrs.chunk_start_idx < query_capacity",
		   "chunk_start_idx %" PRIu64 " starts at or past query-token capacity %" PRIu64
		   " (compressed T=%u, ratio=%" PRIu64 "): nothing would be scored",
		   start, room, keys, ratio);
	TT_REQUIRE(!tt_value_given(length) || start < (uint64_t)length->integer * ratio,
		   "attrs.chunk_start_idx < static_cast<uint64_t>(kv_len) * "
		   "attrs.key_compression_ratio",
		   "chunk_start_idx %" PRIu64 " starts at or past kv_len=%" PRId64
		   " compressed rows (ratio=%" PRIu64 "): nothing would be scored. The causal "
		   "window may END past kv_len (pad query rows), but the chunk must BEGIN inside "
		   "it",
		   start, length->integer, ratio);
	return TTNN_OK;
}

static tt_status check_units(const struct tt_launch *launch, const struct tt_score_work *w)
{
	const struct ttnn_value *config = launch->attrs[TT_SCORE_CONFIG].items;
	uint64_t q = (uint64_t)config[TT_INDEXER_Q].integer;
	uint64_t k = (uint64_t)config[TT_INDEXER_K].integer;

	TT_REQUIRE(q % TT_TILE == 0 && k % TT_TILE == 0,
		   "cfg.q_chunk_size % tt::constants::TILE_HEIGHT == 0 && cfg.k_chunk_size % "
		   "tt::constants::TILE_WIDTH == 0",
		   "q_chunk_size %" PRIu64 " / k_chunk_size %" PRIu64 " must be tile-aligned", q,
		   k);
	TT_REQUIRE(q && w->rows % w->q == 0,
		   "QC > 0 && (Sq / tt::constants::TILE_HEIGHT) % QC == 0",
		   "q_chunk_size %" PRIu64 " must divide Sq %" PRIu64, q, w->rows * TT_TILE);
	TT_REQUIRE(k && w->k <= w->keys, "KC > 0 && KC <= T / tt::constants::TILE_WIDTH",
		   "k_chunk_size %" PRIu64 " out of range (T=%" PRIu64 ")", k, w->keys * TT_TILE);
	TT_REQUIRE(w->at_once && w->heads % w->at_once == 0, "HB > 0 && Hi % HB == 0",
		   "head_group_size %" PRIu64 " must divide Hi %" PRIu64, w->at_once, w->heads);
	TT_REQUIRE(w->groups >= 1 && w->heads % w->groups == 0, "G >= 1 && Hi % G == 0",
		   "num_groups %" PRIu64 " must be >= 1 and divide Hi %" PRIu64, w->groups,
		   w->heads);
	TT_REQUIRE(w->groups == 1 || w->at_once == w->heads, "HB == Hi",
		   "num_groups %" PRIu64
		   ">1 requires all heads resident (head_group_size 0 or Hi); got HB=%" PRIu64,
		   w->groups, w->at_once);
	TT_REQUIRE(w->groups == 1 || w->k >= 2, "KC >= 2",
		   "num_groups %" PRIu64
		   ">1 requires k_chunk_size>=64 (the full-strip path); got k_chunk_size=%" PRIu64,
		   w->groups, k);
	return TTNN_OK;
}

static tt_status check_blocks(const struct tt_launch *launch, const struct tt_score_work *w)
{
	uint32_t block = tt_attr_u32(launch, TT_SCORE_BLOCK),
		 keys = launch->inputs[TT_SCORE_K]->spec.shape.dim[2];
	uint64_t k = w->k * TT_TILE, blocks = block ? k / block : 0;

	if (!block)
		return TTNN_OK;
	TT_REQUIRE(block % TT_TILE == 0, "bs % tt::constants::TILE_WIDTH == 0",
		   "block_size %u must be a multiple of %d", block, TT_TILE);
	TT_REQUIRE(keys % block == 0, "T % bs == 0", "block_size %u must divide T %u", block, keys);
	TT_REQUIRE(k % block == 0, "cfg.k_chunk_size % bs == 0",
		   "block_size %u must divide k_chunk_size %" PRIu64
		   " (a block can't straddle a work unit)",
		   block, k);
	TT_REQUIRE(w->keys % w->k == 0, "Tt % KC == 0",
		   "block_size pooling requires k_chunk_size %" PRIu64 " to divide T %u", k, keys);
	TT_REQUIRE(blocks % ROWS_AT_ONCE == 0, "blocks_per_unit % kBf16AlignBlocks == 0",
		   "block_size pooling needs k_chunk_size/block_size (= %" PRIu64
		   ") to be a multiple of %d so each unit's row-major output slice is 16 "
		   "B-aligned; set k_chunk_size to a multiple of %d*block_size",
		   blocks, ROWS_AT_ONCE, ROWS_AT_ONCE);
	TT_REQUIRE(blocks <= TT_TILE, "blocks_per_unit <= tt::constants::TILE_HEIGHT",
		   "blocks per work unit (k_chunk_size/block_size = %" PRIu64
		   ") must be <= %d; reduce k_chunk_size",
		   blocks, TT_TILE);
	return TTNN_OK;
}

/* In upstream's order. */
tt_status tt_score_validate(struct tt_launch *launch)
{
	struct tt_score_work w;

	TT_TRY(check_machine(launch));
	TT_TRY(check_cache(launch));
	if (is_ring(launch))
		TT_TRY(tt_score_check_ring(launch));
	TT_TRY(check_shapes(launch));
	TT_TRY(check_kinds(launch));
	TT_TRY(check_start(launch));
	tt_score_work_of(&w, launch);
	TT_TRY(check_units(launch, &w));
	return check_blocks(launch, &w);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t divisor_within(uint64_t n, uint64_t most)
{
	uint64_t out = tt_lesser(n, most);

	while (out > 1 && n % out)
		out--;
	return out ? out : 1;
}

/* Groups of rows go down, bands of keys across; where rows are left, bands are cut for them. */
static tt_status cores_of(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct tt_score_work *w, uint64_t most)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t groups = w->rows / w->q, bands = tt_div_up(w->keys, w->k);
	uint64_t rows = divisor_within(groups, grid.y), columns = tt_lesser(bands, most);
	uint64_t blocks = tt_lesser(grid.y / rows, bands / columns);

	return tt_core_set_grid(out, (uint32_t)columns, (uint32_t)(rows * (blocks ? blocks : 1)));
}

/* Whether one head's products are its sum already. */
static bool is_single(const struct tt_launch *launch, const struct tt_score_work *w)
{
	return w->heads == w->groups && !launch->attrs[TT_SCORE_RELU].boolean &&
	       launch->inputs[TT_SCORE_Q]->spec.dtype != TTNN_BFLOAT8_B;
}

tt_status tt_score_rows(struct tt_plan *plan, const struct tt_launch *launch, uint64_t columns,
			uint64_t numbers)
{
	uint64_t small = tt_page_bf16(launch), per_unit, heads, products, out;
	uint64_t ratio = (uint64_t)launch->attrs[TT_SCORE_RATIO].integer;
	const ttnn_core_set *cores;
	bool streams, single;
	uint32_t next = 6;
	struct tt_score_work w;

	tt_score_work_of(&w, launch);
	TT_TRY(cores_of(&cores, launch, &w, columns));
	streams = w.at_once < w.heads;
	single = is_single(launch, &w);
	heads = w.q == 1 ? w.sum : tt_lesser(w.sum, TT_TILE);
	TT_REQUIRE(w.sum % heads == 0, "subblock_basis % qk_batch_heads == 0",
		   "indexer_score: per-plane head count %" PRIu64
		   " not divisible by qk_batch_heads %" PRIu64
		   " (QC>1 with >32 heads); reduce head_group_size, q_chunk_size, or raise "
		   "num_groups",
		   w.sum, heads);
	products = heads * (w.k > 1 && heads == w.sum && !streams ? w.k : 1);
	per_unit = w.block ? w.k / w.block : w.k;
	out = single && w.block ? w.q * per_unit : 2 * per_unit;
	TT_TRY(TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "q", .pages = (streams ? 2 : 1) * w.at_once * w.q * w.width,
				 .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "k", .pages = 2 * w.k * w.width, .page = tt_page_in1(launch)),
		       TT_CB_ROW(2, "w", .pages = w.heads * w.q, .page = small),
		       TT_CB_ROW(3, "mask", .pages = ratio > 1 ? 1 + ratio : 2, .page = small),
		       TT_CB_ROW(4, "qk", .pages = single ? 1 : products, .page = small),
		       TT_CB_ROW(5, "out_strip", .pages = out, .page = small)));
	if (w.block) {
		TT_TRY(TT_PLAN(plan, cores, TT_CB_ROW(next, "scaler", .pages = 1, .page = small),
			       TT_CB_ROW(next + 1, "pool_scratch", .pages = 1, .page = small)));
		next += 2;
	}
	TT_TRY(TT_PLAN(
		plan, cores,
		TT_CB_ROW(next, "acc_strip", .pages = w.k * (w.q > 2 ? w.q : 2), .page = small)));
	for (uint32_t i = 0; i < numbers; i++)
		TT_TRY(TT_PLAN(plan, cores,
			       TT_CB_ROW(++next, NULL, .pages = 1, .page = NUMBER_PAGE)));
	return TTNN_OK;
}

static tt_status indexer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return tt_score_rows(plan, launch, launch->device->info.compute_grid.x, 0);
}

/* All but where a chunk begins, and of the slot and the valid keys only whether they are given. */
void tt_score_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, &launch->attrs[TT_SCORE_RATIO], TT_SCORE_SLOT - TT_SCORE_RATIO);
	tt_key_number(key, tt_value_given(&launch->attrs[TT_SCORE_SLOT]));
	tt_key_number(key, tt_value_given(&launch->attrs[TT_SCORE_LENGTH]));
	tt_key_values(key, &launch->attrs[TT_SCORE_CYCLIC], 3);
	for (size_t i = 0; i < launch->input_count; i++) {
		tt_key_number(key, launch->inputs[i] != NULL);
		if (launch->inputs[i])
			tt_key_spec(key, &launch->inputs[i]->spec);
	}
}

static const struct tt_prog program = {
	.device_op = "IndexerScoreDeviceOperation",
	.prim = "ttnn::prim::indexer_score",
	.attrs = &tt_score_schema,
	.infer = tt_score_infer,
	.validate = tt_score_validate,
	TT_FACTORY("ttnn::operations::experimental::indexer_score::program::"
		   "IndexerScoreProgramFactory",
		   indexer_memory),
	.key = tt_score_key,
	TT_KERNEL(tt_score_kernel),
};

/* ---- operations -------------------------------------------------------------------------------------------------- */

static tt_status check_axes(const struct tt_call *call, const struct ttnn_value *axes, bool dsa)
{
	size_t most = dsa ? 2 : 1, count = tt_value_given(axes) ? axes->count : 0;
	bool axis = tt_value_given(tt_call_arg(call, "block_cyclic_sp_axis"));
	bool chunk = tt_value_given(tt_call_arg(call, "block_cyclic_chunk_local"));

	TT_REQUIRE(count <= most, "axes.size() <= max_axes",
		   "indexer_score: seq_shard_axes takes at most %zu axis/axes [SP%s], got %zu",
		   most, dsa ? ", TP" : "", count);
	for (size_t i = 0; i < count; i++)
		TT_NEED(axes->items[i].integer >= 0 && axes->items[i].integer < 2,
			"indexer_score: an axis of seq_shard_axes is 0 or 1");
	TT_REQUIRE(axis == chunk,
		   "block_cyclic_sp_axis.has_value() == block_cyclic_chunk_local.has_value()",
		   "indexer_score: block_cyclic_sp_axis and block_cyclic_chunk_local must both be "
		   "set or both unset (got sp_axis=%s, chunk_local=%s)",
		   axis ? "true" : "false", chunk ? "true" : "false");
	TT_REQUIRE(count < 2 || axis,
		   "!seq_subshard_axis.has_value() || block_cyclic_sp_axis.has_value()",
		   "indexer_score: seq_shard_axes[1] (TP sub-shard) requires a block-cyclic layout "
		   "(block_cyclic_sp_axis/chunk_local)");
	return TTNN_OK;
}

/* A cache is striped over one chip or over several, which is not done here. */
static tt_status check_stripes(const struct tt_call *call, const struct tt_device *device)
{
	const struct ttnn_value *axis = tt_call_arg(call, "block_cyclic_sp_axis");
	bool striped = tt_value_given(axis) && (axis->integer ? device->cols : device->rows) > 1;

	if (striped || (tt_call_bool(call, "block_cyclic_cache_tp_sharded", false) &&
			device->rows * device->cols > 1))
		return tt_fail(TTNN_UNSUPPORTED,
			       "a cache that is striped over chips is not supported");
	return TTNN_OK;
}

/* Where the first chip's rows begin, if that is not said: so that all rows together end with the keys. */
static int64_t start_of(const struct tt_call *call, const struct tt_tensor *q,
			const struct tt_tensor *k, const struct ttnn_value *axes)
{
	const struct tt_device *device = tt_tensor_device(q);
	int64_t ratio = tt_call_int(call, "key_compression_ratio", 1);
	int64_t chips = (int64_t)device->rows * device->cols;

	if (tt_value_given(axes) && axes->count)
		chips = axes->items[0].integer ? device->cols : device->rows;
	return tt_call_int(call, "chunk_start_idx",
			   (int64_t)k->spec.shape.dim[2] * ratio -
				   chips * (int64_t)q->spec.shape.dim[2]);
}

tt_status tt_score_bind(struct ttnn_value attrs[tt_score_schema_count], struct tt_call *call,
			const struct tt_score_request *r)
{
	const struct ttnn_value *config = tt_call_arg(call, "program_config");
	static const struct ttnn_value units[TT_INDEXER_FIELDS] = {
		{.kind = TTNN_VALUE_INT, .integer = TT_TILE},
		{.kind = TTNN_VALUE_INT, .integer = TT_TILE},
		{.kind = TTNN_VALUE_INT, .integer = 1}};
	bool small = r->q->spec.dtype == TTNN_BFLOAT8_B && r->k->spec.dtype == TTNN_BFLOAT8_B;
	const struct tt_compute_usual usual = {.fidelity = small ? TT_LOFI : TT_HIFI2};
	bool given = config->kind == TTNN_VALUE_OBJECT;

	TT_NEED(!given || config->schema == &tt_schema_indexer,
		"program_config is an IndexerScoreProgramConfig");
	attrs[TT_SCORE_START] = ttnn_v_int(r->start);
	attrs[TT_SCORE_RATIO] = ttnn_v_int(tt_call_int(call, "key_compression_ratio", 1));
	attrs[TT_SCORE_AXES] = r->axes;
	attrs[TT_SCORE_RELU] = ttnn_v_bool(r->gated);
	attrs[TT_SCORE_GROUPS] = ttnn_v_int(tt_call_int(call, "num_groups", 1));
	attrs[TT_SCORE_BLOCK] = ttnn_v_int(tt_call_int(call, "block_size", 0));
	attrs[TT_SCORE_GATE] = ttnn_v_bool(!r->gated);
	attrs[TT_SCORE_SCALE] = ttnn_v_real((float)tt_call_real(call, "scale", 1));
	attrs[TT_SCORE_CONFIG] = given ? *config : tt_value_object(&tt_schema_indexer, units);
	attrs[TT_SCORE_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[TT_SCORE_SLOT] = *tt_call_arg(call, "cache_batch_idx");
	attrs[TT_SCORE_LAYERS] = ttnn_v_int(tt_call_int(call, "index_cache_num_layers", 1));
	attrs[TT_SCORE_LAYER] = ttnn_v_int(tt_call_int(call, "index_cache_layer_idx", 0));
	attrs[TT_SCORE_LENGTH] = *tt_call_arg(call, "kv_len");
	attrs[TT_SCORE_CYCLIC] = r->cyclic;
	attrs[TT_SCORE_RING] = r->ring;
	attrs[TT_SCORE_STRIPES] = ttnn_v_int(r->stripes);
	return TTNN_OK;
}

static tt_status score(struct tt_call *call, struct tt_tensor *weights)
{
	struct tt_tensor *q = tt_call_tensor(call, "q"), *k = tt_call_tensor(call, "k");
	const struct ttnn_value *axes = tt_call_arg(call, "seq_shard_axes");
	struct tt_score_request request = {.q = q,
					   .k = k,
					   .axes = tt_value_given(axes) ? *axes
									: ttnn_v_list(NULL, 0),
					   .cyclic = ttnn_v_none(),
					   .ring = ttnn_v_none(),
					   .stripes = 1,
					   .gated = weights != NULL};
	struct ttnn_value attrs[tt_score_schema_count];

	TT_TRY(tt_need_device(q));
	TT_TRY(tt_need_device(k));
	TT_TRY(check_axes(call, axes, weights != NULL));
	TT_TRY(check_stripes(call, tt_tensor_device(q)));
	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(tt_need_dim(i < 2 ? &q->spec.shape : &k->spec.shape, 2));
	request.start = start_of(call, q, k, axes);
	TT_NEED(request.start >= 0, "indexer_score: there are more rows than keys");
	TT_TRY(tt_score_bind(attrs, call, &request));
	return TT_LAUNCH_RETURN(call, &program, TT_INPUTS(q, k, weights ? weights : q),
				.attrs = attrs);
}

static tt_status dsa_expand(struct tt_call *call)
{
	int64_t ratio = tt_call_int(call, "key_compression_ratio", 1);

	TT_REQUIRE(ratio == 1 || ratio == 4,
		   "key_compression_ratio == 1 || key_compression_ratio == 4",
		   "indexer_score: key_compression_ratio must be 1 or 4 (got %" PRId64 ")", ratio);
	return score(call, tt_call_tensor(call, "weights"));
}

static tt_status msa_expand(struct tt_call *call)
{
	return score(call, NULL);
}

#define TAIL                                                                                       \
	"program_config: ProgramConfig? = None, compute_kernel_config: ComputeConfig? = None, "    \
	"cache_batch_idx: size? = None, kv_len: size? = None, seq_shard_axes: ints? = None, "      \
	"block_cyclic_sp_axis: size? = None, block_cyclic_chunk_local: size? = None, "             \
	"block_cyclic_cache_tp_sharded: bool = False"
static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.indexer_score_dsa",
	 .doc = "How much keys matter to queries, by all heads together with learnt weights.",
	 .sigs = {"q: Tensor, k: Tensor, weights: Tensor, *, chunk_start_idx: size? = None, "
		  "key_compression_ratio: size = 1, " TAIL},
	 .expand = dsa_expand,
	 .golden = tt_golden_indexer_score,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.experimental.indexer_score_msa",
	 .doc = "How much keys, or blocks of them, matter to queries, by groups of heads.",
	 .sigs = {"q: Tensor, k: Tensor, *, num_groups: size, chunk_start_idx: size? = None, scale: "
		  "float = 1, block_size: size = 0, " TAIL},
	 .expand = msa_expand,
	 .golden = tt_golden_indexer_score,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_indexer_score = {"indexer_score", ops, TT_COUNT(ops)};
