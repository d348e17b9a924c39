/*
 * indexer_score.c: how much keys matter to queries, so that attention can be to the best of them: indexer_score_dsa, of all heads by
 * learnt weights, and indexer_score_msa, of groups of heads, by blocks of keys where that is asked for.
 *
 * Models IndexerScoreDeviceOperation of ttnn 0.81, which Blackhole has, with IndexerScoreProgramFactory: refusals, memory, cores.
 * Not modelled: caches that are striped over chips, the ring that gathers keys on the way.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/creation/creation.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/values.h"

#define ATTRS(X)                                                                                   \
	X(START, "chunk_start_idx", .unkeyed = true)                                               \
	X(RATIO, "key_compression_ratio")                                                          \
	X(AXES, "seq_shard_axes")                                                                  \
	X(RELU, "apply_relu")                                                                      \
	X(GROUPS, "num_groups")                                                                    \
	X(BLOCK, "block_size")                                                                     \
	X(GATE, "synthesize_gate")                                                                 \
	X(SCALE, "gate_scale")                                                                     \
	X(CONFIG, "program_config")                                                                \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SLOT, "cache_batch_idx")                                                                 \
	X(LAYERS, "index_cache_num_layers")                                                        \
	X(LAYER, "index_cache_layer_idx")                                                          \
	X(LENGTH, "kv_len")                                                                        \
	X(CYCLIC, "block_cyclic")                                                                  \
	X(RING, "fused_ring")                                                                      \
	X(STRIPES, "cache_tp")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { Q, K, WEIGHTS, INPUTS };
#define ROWS_AT_ONCE 8 /* blocks whose numbers fill what a write has to */

/* ---- what is worked with ---------------------------------------------------------------------------------------- */

/* Sizes in tiles, and heads that a core has at once and in a sum. */
struct work {
	uint64_t rows, keys, width; /* of queries and keys */
	uint64_t q, k, heads, at_once, groups, sum;
	uint64_t block; /* 0: keys one by one */
};

static void work_of(struct work *w, const struct tt_launch *launch)
{
	const struct ttnn_value *config = launch->attrs[CONFIG].items;
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	uint64_t at_once = (uint64_t)config[TT_INDEXER_HEADS].integer;

	*w = (struct work){
		.rows = q[2] / TT_TILE,
		.keys = launch->inputs[K]->spec.shape.dim[2] / TT_TILE,
		.width = q[3] / TT_TILE,
		.q = (uint64_t)config[TT_INDEXER_Q].integer / TT_TILE,
		.k = (uint64_t)config[TT_INDEXER_K].integer / TT_TILE,
		.heads = q[1],
		.at_once = at_once ? at_once : q[1],
		.groups = tt_attr_u32(launch, GROUPS),
		.block = tt_attr_u32(launch, BLOCK) / TT_TILE,
	};
	w->sum = w->groups > 1 ? w->heads / w->groups : w->at_once;
}

static tt_status indexer_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	const struct ttnn_shape *k = &launch->inputs[K]->spec.shape;
	uint32_t block = tt_attr_u32(launch, BLOCK), keys;
	struct ttnn_shape shape;

	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(tt_need_dim(&q->shape, i));
	TT_TRY(tt_need_dim(k, 2));
	keys = block ? k->dim[2] / block : k->dim[2];
	shape = TT_SHAPE(q->shape.dim[0], tt_attr_u32(launch, GROUPS), q->shape.dim[2], keys);
	return tt_spec_simple(&launch->specs[0], &shape, TTNN_BFLOAT16, TTNN_ROW_MAJOR, &q->memory);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

/* Where the rows of the chips end up: each has the rows behind those of the chip before it. */
static uint32_t rank_of(const struct tt_launch *launch, uint32_t chip)
{
	const struct ttnn_value *axes = &launch->attrs[AXES];

	if (!axes->count)
		return chip;
	return axes->items[0].integer == 0 ? chip / launch->device->cols
					   : chip % launch->device->cols;
}

static tt_status check_machine(const struct tt_launch *launch)
{
	TT_REQUIRE(tt_is_blackhole(launch->device), "arch == tt::ARCH::BLACKHOLE",
		   "indexer_score is only supported on Blackhole, got wormhole_b0");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32), "!fp32_dest_acc_en",
		   "indexer_score requires fp32_dest_acc_en=false (bf16 DEST; the custom LLK is "
		   "not validated for fp32 DEST)");
	TT_REQUIRE(!tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FULL_SYNC),
		   "!dst_full_sync_en",
		   "indexer_score requires dst_full_sync_en=false (the kernel is built half-sync)");
	return TTNN_OK;
}

static tt_status check_cache(const struct tt_launch *launch)
{
	const struct ttnn_value *slot = &launch->attrs[SLOT], *length = &launch->attrs[LENGTH];
	const struct ttnn_shape *k = &launch->inputs[K]->spec.shape;
	uint32_t block = tt_attr_u32(launch, BLOCK), valid = (uint32_t)length->integer;
	static const int whole[] = {Q, WEIGHTS};

	for (size_t i = 0; i < TT_COUNT(whole); i++)
		TT_REQUIRE(!tt_memory_config_is_sharded(&launch->inputs[whole[i]]->spec.memory),
			   "!tp->is_sharded()", "indexer_score %s must use interleaved memory",
			   i ? "weights" : "q");
	TT_REQUIRE(tt_value_given(slot) || k->dim[0] == 1, "kB == 1",
		   "indexer_score k batch must be 1 unless a cache slot is selected (got %u)",
		   k->dim[0]);
	TT_REQUIRE(!tt_value_given(slot) || slot->integer < k->dim[0],
		   "attrs.cache_batch_idx.value() < kB",
		   "indexer_score cache_batch_idx (%" PRId64 ") must be < k batch slots (%u)",
		   slot->integer, k->dim[0]);
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
	const struct ttnn_shape *q = &launch->inputs[Q]->spec.shape;
	const struct ttnn_shape *k = &launch->inputs[K]->spec.shape;
	const struct ttnn_tensor_spec *weights = &launch->inputs[WEIGHTS]->spec;
	const struct ttnn_shape *w = &weights->shape;

	TT_REQUIRE(q->rank == 4 && k->rank == 4, "q_shape.rank() == 4 && k_shape.rank() == 4",
		   "q, k must be rank 4");
	TT_REQUIRE(k->dim[1] == 1, "k_shape[1] == 1",
		   "k must be single-head [B, 1, T, D], got %u heads", k->dim[1]);
	TT_REQUIRE(q->dim[3] == k->dim[3], "q_shape[3] == k_shape[3]",
		   "q head dim %u != k head dim %u", q->dim[3], k->dim[3]);
	TT_REQUIRE(q->dim[0] == 1, "q_shape[0] == 1", "q batch 1 only, got %u", q->dim[0]);
	if (launch->attrs[GATE].boolean)
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
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	uint32_t keys = launch->inputs[K]->spec.shape.dim[2];

	for (int i = Q; i <= K; i++) {
		enum ttnn_dtype dtype = launch->inputs[i]->spec.dtype;

		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
			   i == Q ? "q.dtype() == DataType::BFLOAT16 || q.dtype() == "
				    "DataType::BFLOAT8_B"
				  : "k.dtype() == DataType::BFLOAT16 || k.dtype() == "
				    "DataType::BFLOAT8_B",
			   "%c must be bfloat16 or bfloat8_b (got DataType::%s)",
			   i == Q ? 'q' : 'k', tt_enum_name(&tt_enum_dtype, (int64_t)dtype));
	}
	TT_REQUIRE(launch->inputs[Q]->spec.layout == TTNN_TILE &&
			   launch->inputs[K]->spec.layout == TTNN_TILE,
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
	uint32_t keys = launch->inputs[K]->spec.shape.dim[2];
	uint64_t start = (uint64_t)launch->attrs[START].integer;
	uint64_t ratio = (uint64_t)launch->attrs[RATIO].integer, room = keys * ratio;
	const struct ttnn_value *length = &launch->attrs[LENGTH];

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

static tt_status check_units(const struct tt_launch *launch, const struct work *w)
{
	const struct ttnn_value *config = launch->attrs[CONFIG].items;
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

static tt_status check_blocks(const struct tt_launch *launch, const struct work *w)
{
	uint32_t block = tt_attr_u32(launch, BLOCK), keys = launch->inputs[K]->spec.shape.dim[2];
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
static tt_status indexer_validate(struct tt_launch *launch)
{
	struct work w;

	TT_TRY(check_machine(launch));
	TT_TRY(check_cache(launch));
	TT_TRY(check_shapes(launch));
	TT_TRY(check_kinds(launch));
	TT_TRY(check_start(launch));
	work_of(&w, launch);
	TT_TRY(check_units(launch, &w));
	return check_blocks(launch, &w);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t divisor_within(uint64_t n, uint64_t most)
{
	uint64_t out = least(n, most);

	while (out > 1 && n % out)
		out--;
	return out ? out : 1;
}

/* Groups of rows go down, bands of keys across; where rows are left, bands are cut for them. */
static tt_status cores_of(const ttnn_core_set **out, const struct tt_launch *launch,
			  const struct work *w)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t groups = w->rows / w->q, bands = tt_div_up(w->keys, w->k);
	uint64_t rows = divisor_within(groups, grid.y), columns = least(bands, grid.x);
	uint64_t blocks = least(grid.y / rows, bands / columns);

	return tt_core_set_grid(out, (uint32_t)columns, (uint32_t)(rows * (blocks ? blocks : 1)));
}

/* Whether one head's products are its sum already. */
static bool is_single(const struct tt_launch *launch, const struct work *w)
{
	return w->heads == w->groups && !launch->attrs[RELU].boolean &&
	       launch->inputs[Q]->spec.dtype != TTNN_BFLOAT8_B;
}

static tt_status indexer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t small = tt_page_bf16(launch), per_unit, heads, products, out;
	uint64_t ratio = (uint64_t)launch->attrs[RATIO].integer;
	const ttnn_core_set *cores;
	bool streams, single;
	uint32_t next = 6;
	struct work w;

	work_of(&w, launch);
	TT_TRY(cores_of(&cores, launch, &w));
	streams = w.at_once < w.heads;
	single = is_single(launch, &w);
	heads = w.q == 1 ? w.sum : least(w.sum, TT_TILE);
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
	return TT_PLAN(
		plan, cores,
		TT_CB_ROW(next, "acc_strip", .pages = w.k * (w.q > 2 ? w.q : 2), .page = small));
}

/* All but where a chunk begins, and of the slot and the valid keys only whether they are given. */
static void indexer_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, &launch->attrs[RATIO], SLOT - RATIO);
	tt_key_number(key, tt_value_given(&launch->attrs[SLOT]));
	tt_key_number(key, tt_value_given(&launch->attrs[LENGTH]));
	tt_key_values(key, &launch->attrs[CYCLIC], 1);
	for (size_t i = 0; i < launch->input_count; i++)
		tt_key_spec(key, &launch->inputs[i]->spec);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

struct scores {
	uint64_t heads, rows, keys, width, groups, block;
	float *q, *k, *weights; /* k: by columns */
	float *line, *out;      /* line: of one head */
	float scale;
	bool relu;
};

/* An input as float32; keys of the slot, a column behind the other. */
static tt_status read_floats(float **out, const struct tt_launch *launch, size_t input)
{
	double *values;
	uint64_t count;

	TT_TRY(tt_values_of(&values, &count, launch, input));
	*out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(**out));
	TT_NEED_MEMORY(*out);
	for (uint64_t i = 0; i < count; i++)
		(*out)[i] = (float)values[i];
	return TTNN_OK;
}

static tt_status read_keys(struct scores *s, const struct tt_launch *launch)
{
	const struct ttnn_value *slot = &launch->attrs[SLOT];
	uint64_t from = tt_value_given(slot) ? (uint64_t)slot->integer : 0;
	float *rows;

	TT_TRY(read_floats(&rows, launch, K));
	rows += from * s->keys * s->width;
	s->k = tt_arena_alloc(launch->arena, (s->keys * s->width + 1) * sizeof(*s->k));
	TT_NEED_MEMORY(s->k);
	for (uint64_t t = 0; t < s->keys; t++)
		for (uint64_t i = 0; i < s->width; i++)
			s->k[i * s->keys + t] = rows[t * s->width + i];
	return TTNN_OK;
}

/* Adds what a head says of the first keys to a row of sums. */
static void add_head(float *sums, const struct scores *s, uint64_t head, uint64_t row,
		     uint64_t keys)
{
	const float *q = &s->q[(head * s->rows + row) * s->width];
	float weight = s->weights ? s->weights[row * s->heads + head] : s->scale;

	memset(s->line, 0, keys * sizeof(*s->line));
	for (uint64_t i = 0; i < s->width; i++)
		for (uint64_t t = 0; t < keys; t++)
			s->line[t] += q[i] * s->k[i * s->keys + t];
	for (uint64_t t = 0; t < keys; t++)
		sums[t] += weight * (s->relu && s->line[t] < 0 ? 0 : s->line[t]);
}

/* What cannot be seen is less than everything; of a block the most counts. */
static void finish_row(float *out, float *sums, const struct scores *s, uint64_t keys)
{
	for (uint64_t t = keys; t < s->keys; t++)
		sums[t] = -INFINITY;
	for (uint64_t b = 0; b < s->keys / s->block; b++) {
		out[b] = sums[b * s->block];
		for (uint64_t t = 1; t < s->block; t++)
			out[b] = fmaxf(out[b], sums[b * s->block + t]);
	}
}

static tt_status indexer_kernel(struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	uint64_t block = tt_attr_u32(launch, BLOCK), ratio = tt_attr_u32(launch, RATIO);
	uint64_t start = (uint64_t)launch->attrs[START].integer +
			 (uint64_t)rank_of(launch, launch->chip) * q[2];
	const struct ttnn_value *length = &launch->attrs[LENGTH];
	struct scores s = {.heads = q[1],
			   .rows = q[2],
			   .width = q[3],
			   .keys = launch->inputs[K]->spec.shape.dim[2],
			   .groups = tt_attr_u32(launch, GROUPS),
			   .block = block ? block : 1,
			   .scale = (float)launch->attrs[SCALE].real,
			   .relu = launch->attrs[RELU].boolean};
	uint64_t valid = tt_value_given(length) ? (uint64_t)length->integer : s.keys;
	uint64_t own = s.heads / s.groups, columns = s.keys / s.block;
	float *sums;

	TT_TRY(read_floats(&s.q, launch, Q));
	TT_TRY(read_keys(&s, launch));
	if (!launch->attrs[GATE].boolean)
		TT_TRY(read_floats(&s.weights, launch, WEIGHTS));
	s.line = tt_arena_alloc(launch->arena, (s.keys + 1) * sizeof(float));
	sums = tt_arena_alloc(launch->arena, (s.keys + 1) * sizeof(float));
	s.out = tt_arena_alloc(launch->arena, (s.groups * s.rows * columns + 1) * sizeof(float));
	TT_NEED_MEMORY(s.line && sums && s.out);
	for (uint64_t n = 0; n < s.groups * s.rows; n++) {
		uint64_t row = n % s.rows, keys = least((start + row + 1) / ratio, valid);

		memset(sums, 0, s.keys * sizeof(*sums));
		for (uint64_t h = n / s.rows * own; h < (n / s.rows + 1) * own; h++)
			add_head(sums, &s, h, row, keys);
		finish_row(&s.out[n * columns], sums, &s, keys);
	}
	return tt_values_write(launch->outputs[0], s.out, TTNN_FLOAT32);
}

static const struct tt_prog program = {
	.device_op = "IndexerScoreDeviceOperation",
	.prim = "ttnn::prim::indexer_score",
	.attrs = &schema,
	.infer = indexer_infer,
	.validate = indexer_validate,
	TT_FACTORY("ttnn::operations::experimental::indexer_score::program::"
		   "IndexerScoreProgramFactory",
		   indexer_memory),
	.key = indexer_key,
	TT_KERNEL(indexer_kernel),
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

static tt_status score(struct tt_call *call, struct tt_tensor *weights)
{
	struct tt_tensor *q = tt_call_tensor(call, "q"), *k = tt_call_tensor(call, "k");
	const struct ttnn_value *axes = tt_call_arg(call, "seq_shard_axes");
	const struct ttnn_value *config = tt_call_arg(call, "program_config");
	static const struct ttnn_value units[TT_INDEXER_FIELDS] = {
		{.kind = TTNN_VALUE_INT, .integer = TT_TILE},
		{.kind = TTNN_VALUE_INT, .integer = TT_TILE},
		{.kind = TTNN_VALUE_INT, .integer = 1}};
	bool small = q->spec.dtype == TTNN_BFLOAT8_B && k->spec.dtype == TTNN_BFLOAT8_B;
	const struct tt_compute_usual usual = {.fidelity = small ? TT_LOFI : TT_HIFI2};
	int64_t start;

	TT_TRY(tt_need_device(q));
	TT_TRY(tt_need_device(k));
	TT_TRY(check_axes(call, axes, weights != NULL));
	TT_TRY(check_stripes(call, tt_tensor_device(q)));
	for (uint32_t i = 0; i < 3; i++)
		TT_TRY(tt_need_dim(i < 2 ? &q->spec.shape : &k->spec.shape, 2));
	TT_NEED(config->kind != TTNN_VALUE_OBJECT || config->schema == &tt_schema_indexer,
		"program_config is an IndexerScoreProgramConfig");
	start = start_of(call, q, k, axes);
	TT_NEED(start >= 0, "indexer_score: there are more rows than keys");
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(q, k, weights ? weights : q),
		TT_BIND(call, schema, [START] = ttnn_v_int(start),
			[RATIO] = ttnn_v_int(tt_call_int(call, "key_compression_ratio", 1)),
			[AXES] = tt_value_given(axes) ? *axes : ttnn_v_list(NULL, 0),
			[RELU] = ttnn_v_bool(weights),
			[GROUPS] = ttnn_v_int(tt_call_int(call, "num_groups", 1)),
			[BLOCK] = ttnn_v_int(tt_call_int(call, "block_size", 0)),
			[GATE] = ttnn_v_bool(!weights),
			[SCALE] = ttnn_v_real((float)tt_call_real(call, "scale", 1)),
			[CONFIG] = config->kind == TTNN_VALUE_OBJECT
					   ? *config
					   : tt_value_object(&tt_schema_indexer, units),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual),
			[LAYERS] = ttnn_v_int(1), [LAYER] = ttnn_v_int(0), [CYCLIC] = ttnn_v_none(),
			[RING] = ttnn_v_none(), [STRIPES] = ttnn_v_int(1)));
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
