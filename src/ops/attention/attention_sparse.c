/*
 * attention_sparse.c: attention of rows to the columns that they choose: sparse_sdpa, of latent rows one by one, and
 * sparse_sdpa_msa, of blocks of keys and values.
 *
 * Models SparseSDPAOperation and SparseSDPAMsaOperation of ttnn 0.81, which Blackhole has: refusals, memory, what their
 * programs depend on. Not modelled: the cache of blocks in L1, rows of scaled fp8, caches that are striped over chips.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/op_enums.h"

#define ATTRS(X)                                                                                   \
	X(SCALE, "scale")                                                                          \
	X(V_WIDTH, "v_dim")                                                                        \
	X(FORMAT, "kv_format")                                                                     \
	X(CHUNK, "k_chunk_size")                                                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SLOT, "cache_batch_idx")                                                                 \
	X(CYCLIC, "block_cyclic")
TT_ATTRS(schema, "SparseSDPAParams", ATTRS);
#define MSA_ATTRS(X)                                                                               \
	X(MSA_SCALE, "scale")                                                                      \
	X(MSA_BLOCK, "block_size")                                                                 \
	X(MSA_COMPUTE, "compute_kernel_config")                                                    \
	X(MSA_SLOT, "cache_batch_idx")                                                             \
	X(MSA_CYCLIC, "block_cyclic")                                                              \
	X(MSA_START, "chunk_start_idx")                                                            \
	X(MSA_AXIS, "cluster_axis")                                                                \
	X(MSA_CACHE, "enable_kv_block_cache")                                                      \
	X(MSA_SLOTS, "kv_block_cache_slots")
TT_ATTRS(msa_schema, "SparseSDPAMsaParams", MSA_ATTRS);
enum { Q, K, INDICES, SINK, INPUTS };
enum { V = INDICES, MSA_INDICES }; /* of sparse_sdpa_msa */
enum { FORMAT_BF16, FORMAT_FP8, FORMAT_SCALED };
#define SCALE_BLOCK 128 /* columns that share a scale of scaled fp8 */

static const struct tt_field cyclic_fields[] = {{.name = "sp"}, {.name = "chunk_local"}};
static const struct tt_schema cyclic_schema = {"BlockCyclicLayout", cyclic_fields, 2, false};

/* ---- specs and refusals ------------------------------------------------------------------------------ */

static bool is_msa(const struct tt_launch *launch)
{
	return launch->prog->attrs == &msa_schema;
}

static const struct ttnn_value *slot_of(const struct tt_launch *launch)
{
	return &launch->attrs[is_msa(launch) ? MSA_SLOT : SLOT];
}

static const struct ttnn_tensor_spec *chosen_of(const struct tt_launch *launch)
{
	return &launch->inputs[is_msa(launch) ? MSA_INDICES : INDICES]->spec;
}

static uint32_t out_width(const struct tt_launch *launch)
{
	return is_msa(launch) ? launch->inputs[V]->spec.shape.dim[3]
			      : (uint32_t)launch->attrs[V_WIDTH].integer;
}

/* Rows of bfloat16 or fp8 like the queries, in DRAM, as wide as the values. */
static tt_status sparse_sdpa_infer(struct tt_launch *launch)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	struct ttnn_shape shape = q->shape;

	for (int i = Q; i < (launch->inputs[SINK] ? INPUTS : SINK); i++) {
		TT_TRY(tt_need_dim(&launch->inputs[i]->spec.shape, 3));
		TT_NEED(launch->inputs[i]->spec.shape.rank == 4, "inputs have 4 dimensions, not %u",
			launch->inputs[i]->spec.shape.rank);
	}
	shape.dim[3] = out_width(launch);
	return tt_spec_simple(&launch->specs[0], &shape, q->dtype, TTNN_ROW_MAJOR, &dram);
}

/* Rows in DRAM, one after the other. */
static tt_status check_rows(const struct tt_tensor *tensor, const char *name)
{
	const struct ttnn_tensor_spec *spec = &tensor->spec;

	TT_REQUIRE(spec->layout == TTNN_ROW_MAJOR, "tp->layout() == Layout::ROW_MAJOR",
		   "%s q/indices must be ROW_MAJOR", name);
	TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
		   "tp->memory_config().buffer_type() == BufferType::DRAM",
		   "%s q/indices must be in DRAM", name);
	TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory), "!tp->memory_config().is_sharded()",
		   "%s q/indices must be interleaved", name);
	return TTNN_OK;
}

/* A cache of several users: which one a call means has to be said. */
static tt_status check_slot(const struct tt_launch *launch, uint32_t slots, const char *what)
{
	const struct ttnn_value *slot = slot_of(launch);

	TT_REQUIRE(!tt_value_given(slot) || slot->integer < slots,
		   "attrs.cache_batch_idx.value() < B",
		   "cache_batch_idx (%lld) must be < kv batch slots (%u)", (long long)slot->integer,
		   slots);
	TT_REQUIRE(tt_value_given(slot) || slots == 1, "B == 1",
		   "%s batch must be 1 unless cache_batch_idx is set (got %u)", what, slots);
	return TTNN_OK;
}

/* Reads begin where DRAM can be read from. */
static tt_status check_aligned(const struct tt_launch *launch, uint64_t bytes, const char *what)
{
	uint32_t align = tt_is_blackhole(launch->device) ? 64 : 32;

	if (bytes % align)
		return tt_fail(TTNN_INVALID, "%s row bytes must be %uB aligned", what, align);
	return TTNN_OK;
}

/*
 * Keys and values in one row: bfloat16, fp8, or fp8 with a scale for every SCALE_BLOCK columns
 * behind it.
 */
static tt_status check_format(const struct tt_launch *launch)
{
	enum ttnn_dtype q = launch->inputs[Q]->spec.dtype, kv = launch->inputs[K]->spec.dtype;
	int64_t format = launch->attrs[FORMAT].integer, width = launch->attrs[V_WIDTH].integer;

	TT_REQUIRE(q == TTNN_BFLOAT16 || q == TTNN_FP8_E4M3,
		   "q.dtype() == DataType::BFLOAT16 || q_is_fp8", "q must be bf16 or fp8_e4m3");
	TT_REQUIRE(kv == TTNN_BFLOAT16 || kv == TTNN_FP8_E4M3,
		   "kv.dtype() == DataType::BFLOAT16 || kv_is_fp8", "kv must be bf16 or fp8_e4m3");
	TT_REQUIRE(format != FORMAT_BF16 || kv == TTNN_BFLOAT16, "kv.dtype() == DataType::BFLOAT16",
		   "BF16 sparse KV format requires bfloat16 storage");
	TT_REQUIRE(format == FORMAT_BF16 || kv == TTNN_FP8_E4M3, "kv_is_fp8",
		   "%s sparse KV format requires fp8_e4m3 %sstorage",
		   format == FORMAT_FP8 ? "FP8_E4M3" : "SCALED_FP8",
		   format == FORMAT_FP8 ? "" : "byte ");
	TT_REQUIRE(format != FORMAT_SCALED || width % SCALE_BLOCK == 0,
		   "attrs.v_dim % ::sparse_sdpa::SCALE_BLOCK_WIDTH == 0",
		   "scaled KV v_dim must be divisible by %d", SCALE_BLOCK);
	TT_REQUIRE(format != FORMAT_SCALED || (width / SCALE_BLOCK * 4) % 16 == 0,
		   "::sparse_sdpa::scaled_kv_rope_offset_is_aligned(attrs.v_dim)",
		   "scaled KV scale/RoPE boundary must be 16-byte aligned (got v_dim=%lld)",
		   (long long)width);
	TT_REQUIRE(chosen_of(launch)->dtype == TTNN_UINT32, "idx.dtype() == DataType::UINT32",
		   "indices must be uint32");
	return TTNN_OK;
}

/*
 * kv is [users, 1, rows, width]; scaled rows have their scales and a part in bfloat16 behind the
 * values.
 */
static tt_status check_cache(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *kv = &launch->inputs[K]->spec;
	uint32_t width = launch->inputs[Q]->spec.shape.dim[3], values = out_width(launch);
	bool scaled = launch->attrs[FORMAT].integer == FORMAT_SCALED;

	TT_TRY(check_rows(launch->inputs[Q], "sparse_sdpa"));
	TT_TRY(check_rows(launch->inputs[INDICES], "sparse_sdpa"));
	TT_REQUIRE(kv->layout == TTNN_ROW_MAJOR, "kv.layout() == Layout::ROW_MAJOR",
		   "sparse_sdpa KV cache must be ROW_MAJOR");
	TT_REQUIRE(kv->memory.buffer == TTNN_DRAM,
		   "kv.memory_config().buffer_type() == BufferType::DRAM",
		   "sparse_sdpa KV cache must be in DRAM");
	if (scaled)
		width = values + values / SCALE_BLOCK * 4 + (width - values) * 2;
	if (kv->shape.dim[1] != 1 || kv->shape.dim[3] != width)
		return tt_fail(TTNN_INVALID, "kv must be [B,1,T,%u] (got [%u, %u, %u, %u])", width,
			       kv->shape.dim[0], kv->shape.dim[1], kv->shape.dim[2],
			       kv->shape.dim[3]);
	TT_REQUIRE(kv->shape.dim[2] > 0, "kvs[2] > 0", "kv T (cache length) must be > 0");
	TT_TRY(check_slot(launch, kv->shape.dim[0], "kv"));
	if (scaled)
		return tt_fail(TTNN_UNSUPPORTED, "rows of scaled fp8 are not supported");
	return TTNN_OK;
}

/*
 * As many lists of columns as rows of queries, in chunks of whole tiles; rows are read one by
 * one, so that they have to be aligned.
 */
static tt_status check_numbers(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *chosen = chosen_of(launch)->shape.dim;
	unsigned long long chunk = (unsigned long long)launch->attrs[CHUNK].integer;
	uint64_t bytes = launch->inputs[Q]->spec.dtype == TTNN_BFLOAT16 ? 2 : 1;

	TT_REQUIRE(chosen[0] == 1 && chosen[1] == 1 && chosen[2] == q[2],
		   "is.rank() == 4 && is[0] == 1 && is[1] == 1 && is[2] == S",
		   "indices must be [1,1,S,TOPK]");
	TT_REQUIRE(q[2] > 0 && chosen[3] > 0, "S > 0 && TOPK > 0", "S/TOPK must be > 0");
	TT_REQUIRE(chunk && chunk % TT_TILE == 0,
		   "attrs.k_chunk_size >= tile_w && attrs.k_chunk_size % tile_w == 0",
		   "k_chunk_size must be a multiple of 32 (got %llu)", chunk);
	TT_REQUIRE(chosen[3] % chunk == 0, "TOPK % attrs.k_chunk_size == 0",
		   "k_chunk_size must divide TOPK");
	TT_REQUIRE(launch->attrs[SCALE].real > 0, "attrs.scale > 0.0f", "scale must be > 0");
	TT_TRY(check_aligned(launch, q[3] * bytes, "Q"));
	TT_TRY(check_aligned(launch, chosen[3] * 4, "indices"));
	return check_aligned(launch, out_width(launch) * bytes, "output");
}

/* In upstream's order. */
static tt_status sparse_sdpa_validate(struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const struct tt_tensor *sink = launch->inputs[SINK];
	const struct ttnn_shape line = TT_SHAPE(1, 1, 1, q[1]);
	uint32_t width = out_width(launch);

	TT_REQUIRE(tt_is_blackhole(launch->device), "q.device()->arch() == tt::ARCH::BLACKHOLE",
		   "sparse_sdpa is Blackhole-only");
	TT_TRY(check_format(launch));
	TT_REQUIRE(q[0] == 1, "qs.rank() == 4 && qs[0] == 1", "q must be [1,H,S,K_DIM]");
	TT_REQUIRE(q[1] && q[1] % TT_TILE == 0, "H % tile_h == 0 && H >= tile_h",
		   "sparse_sdpa: H must be a multiple of 32 (got %u)", q[1]);
	TT_REQUIRE(width && width <= q[3], "attrs.v_dim > 0 && attrs.v_dim <= K_DIM",
		   "v_dim must be in (0, K_DIM=%u] (got %u)", q[3], width);
	TT_REQUIRE(width % TT_TILE == 0, "attrs.v_dim % tt::constants::TILE_WIDTH == 0",
		   "v_dim must be a multiple of 32 (got %u)", width);
	TT_REQUIRE(q[3] % TT_TILE == 0, "K_DIM % tt::constants::TILE_WIDTH == 0",
		   "K_DIM (q/kv last dim) must be a multiple of 32 (got %u)", q[3]);
	TT_TRY(check_cache(launch));
	TT_TRY(check_numbers(launch));
	if (sink && !ttnn_shape_equal(&sink->spec.shape, &line))
		return tt_fail(TTNN_INVALID, "attention_sink must be [1,1,1,H=%u]", q[1]);
	return TTNN_OK;
}

static tt_status check_msa_kinds(const struct tt_launch *launch)
{
	enum ttnn_dtype q = launch->inputs[Q]->spec.dtype;

	TT_REQUIRE(q == TTNN_BFLOAT16 || q == TTNN_FP8_E4M3,
		   "q.dtype() == DataType::BFLOAT16 || q_is_fp8",
		   "sparse_sdpa_msa: q must be bf16 or fp8_e4m3");
	TT_REQUIRE(!tt_value_given(&launch->attrs[MSA_START]) || q == TTNN_BFLOAT16,
		   "!(attrs.causal_enabled() && q_is_fp8)",
		   "sparse_sdpa_msa: causal masking (chunk_start_idx) with fp8_e4m3 q is not "
		   "supported; use bf16 q");
	for (int i = K; i <= V; i++) {
		enum ttnn_dtype dtype = launch->inputs[i]->spec.dtype;

		if (dtype != TTNN_BFLOAT16 && dtype != TTNN_BFLOAT8_B)
			return tt_fail(TTNN_INVALID, "sparse_sdpa_msa: %c must be bf16 or bfp8_b",
				       i == K ? 'k' : 'v');
	}
	TT_REQUIRE(chosen_of(launch)->dtype == TTNN_UINT32, "idx.dtype() == DataType::UINT32",
		   "indices must be uint32");
	TT_TRY(check_rows(launch->inputs[Q], "sparse_sdpa_msa"));
	TT_TRY(check_rows(launch->inputs[MSA_INDICES], "sparse_sdpa_msa"));
	for (int i = K; i <= V; i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->layout == TTNN_TILE, "tp->layout() == Layout::TILE",
			   "sparse_sdpa_msa k/v must be TILE (pre-tiled cache)");
		TT_REQUIRE(spec->memory.buffer == TTNN_DRAM,
			   "tp->memory_config().buffer_type() == BufferType::DRAM",
			   "sparse_sdpa_msa k/v must be in DRAM");
		TT_REQUIRE(ttnn_shape_equal(&spec->shape, &spec->padded),
			   "tp->padded_shape() == tp->logical_shape()",
			   "sparse_sdpa_msa k/v must not be padded");
	}
	return TTNN_OK;
}

/* Blocks of keys are tiles; 16 heads to a key head go into half tiles, else into whole ones. */
static tt_status msa_validate(struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[V]->spec.shape.dim;
	const uint32_t *chosen = chosen_of(launch)->shape.dim;
	uint32_t block = (uint32_t)launch->attrs[MSA_BLOCK].integer, heads;

	TT_REQUIRE(tt_is_blackhole(launch->device), "q.device()->arch() == tt::ARCH::BLACKHOLE",
		   "sparse_sdpa_msa is Blackhole-only");
	TT_TRY(check_msa_kinds(launch));
	TT_REQUIRE(q[0] == 1, "qs.rank() == 4 && qs[0] == 1", "q must be [1,H,S,d]");
	TT_REQUIRE(k[3] == q[3], "ks.rank() == 4 && ks[3] == d",
		   "k must be [B,n_kv,T,d] with d matching q (%u)", q[3]);
	TT_REQUIRE(v[0] == k[0] && v[1] == k[1] && v[2] == k[2],
		   "vs.rank() == 4 && vs[0] == ks[0] && vs[1] == ks[1] && vs[2] == ks[2]",
		   "v must be [B,n_kv,T,v_dim] matching k's B/n_kv/T");
	TT_REQUIRE(k[1] && k[2] && v[3], "ks[1] > 0", "n_kv must be > 0");
	TT_REQUIRE(q[1] % k[1] == 0, "H % n_kv == 0",
		   "sparse_sdpa_msa: H (%u) must be divisible by n_kv (%u)", q[1], k[1]);
	heads = q[1] / k[1];
	TT_REQUIRE(heads == TT_FACE || (heads && heads % TT_TILE == 0),
		   "heads_per_kv == 16 || (heads_per_kv % tile_h == 0 && heads_per_kv >= tile_h)",
		   "sparse_sdpa_msa: H / n_kv must be 16 or a multiple of 32 (got H %u, n_kv %u, "
		   "H/n_kv %u)",
		   q[1], k[1], heads);
	TT_REQUIRE(chosen[0] == 1 && chosen[1] == k[1] && chosen[2] == q[2],
		   "is.rank() == 4 && is[0] == 1 && is[1] == n_kv && is[2] == S",
		   "indices must be [1,n_kv,S,TOPK]");
	TT_REQUIRE(q[2] > 0 && chosen[3] > 0, "S > 0 && is[3] > 0", "S/TOPK must be > 0");
	TT_REQUIRE(block && k[2] % block == 0,
		   "attrs.block_size > 0 && ks[2] % attrs.block_size == 0",
		   "block_size must divide T (got block_size %u, T %u)", block, k[2]);
	TT_TRY(check_slot(launch, k[0], "k/v"));
	TT_REQUIRE(block % TT_TILE == 0,
		   "attrs.block_size >= tile_w && attrs.block_size % tile_w == 0",
		   "block_size must be a multiple of 32 (got %u)", block);
	TT_REQUIRE(launch->attrs[MSA_SCALE].real > 0, "attrs.scale > 0.0f", "scale must be > 0");
	return check_aligned(launch, (uint64_t)chosen[3] * 4, "indices");
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/* All attributes but which slot; the length of a cache only where it is striped or lies in shards. */
static void sparse_key(struct tt_key *key, const struct tt_launch *launch)
{
	const struct ttnn_value *cyclic = &launch->attrs[is_msa(launch) ? MSA_CYCLIC : CYCLIC];
	size_t slot = is_msa(launch) ? MSA_SLOT : SLOT, start = is_msa(launch) ? MSA_START : slot;

	tt_key_values(key, launch->attrs, slot);
	tt_key_number(key, tt_value_given(slot_of(launch)));
	tt_key_number(key, tt_value_given(&launch->attrs[start]));
	tt_key_values(key, cyclic, 1);
	for (int i = Q; i < (launch->inputs[SINK] ? INPUTS : SINK); i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		tt_key_number(key, spec->dtype);
		tt_key_number(key, tt_shape_last(&spec->shape, 1));
		if ((i != K && (i != V || !is_msa(launch))) ||
		    tt_memory_config_is_sharded(&spec->memory) || tt_value_given(cyclic))
			tt_key_spec(key, spec);
	}
}

/*
 * Both programs have one table of buffers, with other sizes. sparse_sdpa gathers single rows,
 * which it tilizes (2, 3); sparse_sdpa_msa reads blocks of tiles as they are (23, 24).
 */
static tt_status sparse_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	bool msa = is_msa(launch);
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16), width = q[3] / TT_TILE;
	uint64_t rows =
		tt_div_up(msa ? q[1] / launch->inputs[K]->spec.shape.dim[1] : q[1], TT_TILE);
	uint64_t across = (uint64_t)launch->attrs[msa ? MSA_BLOCK : CHUNK].integer / TT_TILE;
	uint64_t values = rows * (out_width(launch) / TT_TILE), keys = msa ? 0 : across * width;
	uint64_t k_tile = tt_tile_bytes_of(msa ? launch->inputs[K]->spec.dtype : TTNN_BFLOAT16);
	uint64_t blocks = msa ? across : 0,
		 causal = msa && tt_value_given(&launch->attrs[MSA_START]);
	bool sink = !msa && launch->inputs[SINK];

	return TT_PLAN(plan, launch->grid, TT_CB_ROW(0, NULL, .pages = rows * width, .page = tile),
		       TT_CB_ROW(1, NULL, .pages = rows * width, .page = tile),
		       TT_CB_ROW(2, NULL, .pages = keys, .page = tile),
		       TT_CB_ROW(3, NULL, .pages = keys, .page = tile),
		       TT_CB_ROW(4, NULL, .pages = 1, .page = tile),
		       TT_CB_ROW(5, NULL, .pages = !msa, .page = tile),
		       TT_CB_ROW(6, NULL, .pages = !msa, .page = tile),
		       TT_CB_ROW(7, NULL, .pages = rows * across, .page = tile),
		       TT_CB_ROW(8, NULL, .pages = rows, .page = tile),
		       TT_CB_ROW(9, NULL, .pages = rows, .page = tile),
		       TT_CB_ROW(10, NULL, .pages = rows, .page = tile),
		       TT_CB_ROW(11, NULL, .pages = rows, .page = tile),
		       TT_CB_ROW(12, NULL, .pages = values, .page = tile),
		       TT_CB_ROW(13, NULL, .pages = values, .page = tile),
		       TT_CB_ROW(14, NULL, .pages = rows, .page = tile),
		       TT_CB_ROW(15, NULL, .pages = values, .page = tile),
		       TT_CB_ROW(16, NULL, .pages = values, .page = tile),
		       TT_CB_ROW(17, NULL, .pages = 1,
				 .page = 4 * (uint64_t)chosen_of(launch)->shape.dim[3]),
		       TT_CB_ROW(18, NULL, .pages = 1, .page = 32),
		       TT_CB_ROW(19, NULL, .pages = 1, .page = tile),
		       TT_CB_ROW(20, NULL, .pages = 1, .page = tile),
		       TT_CB_ROW(21, NULL, .pages = msa ? 1 : 2, .page = 32),
		       TT_CB_ROW(22, NULL, .pages = 1, .page = 32),
		       TT_CB_ROW(23, NULL, .pages = blocks * width, .page = k_tile),
		       TT_CB_ROW(24, NULL, .pages = blocks * (out_width(launch) / TT_TILE),
				 .page = msa ? tt_tile_bytes_of(launch->inputs[V]->spec.dtype) : 0),
		       TT_CB_ROW(25, NULL, .pages = sink ? rows : causal, .page = tile),
		       TT_CB_ROW(26, NULL, .pages = sink ? 1 : 2 * causal,
				 .page = sink ? 2 * (uint64_t)q[1] : tile));
}

/* ---- running ----------------------------------------------------------------------------------------------- */

static tt_status sparse_sdpa_kernel(struct tt_launch *launch)
{
	bool msa = is_msa(launch);
	const struct ttnn_value *slot = slot_of(launch), *start = &launch->attrs[MSA_START];
	bool causal = msa && tt_value_given(start);

	return tt_backend_get()->attention(&(struct tt_attention_job){
		.out = launch->outputs[0],
		.q = launch->inputs[Q],
		.k = launch->inputs[K],
		.v = msa ? launch->inputs[V] : NULL,
		.sink = msa ? NULL : launch->inputs[SINK],
		.chosen = launch->inputs[msa ? MSA_INDICES : INDICES],
		.block = msa ? (uint32_t)launch->attrs[MSA_BLOCK].integer : 1,
		.scale = launch->attrs[0].real,
		.causal = causal,
		.start = causal ? start->integer : 0,
		.slot = tt_value_given(slot) ? (uint32_t)slot->integer : 0,
	});
}

#define PROGRAM(var, attrs_, validate_, name_, prim_)                                              \
	static const struct tt_prog var = {                                                        \
		.device_op = name_ "Operation",                                                    \
		.prim = "ttnn::prim::" prim_,                                                      \
		.attrs = &(attrs_),                                                                \
		.infer = sparse_sdpa_infer,                                                        \
		.validate = validate_,                                                             \
		TT_FACTORY("ttnn::prim::" name_ "Operation::" name_ "ProgramFactory",              \
			   sparse_rows),                                                           \
		.key = sparse_key,                                                                 \
		TT_KERNEL(sparse_sdpa_kernel),                                                     \
	}
PROGRAM(program, schema, sparse_sdpa_validate, "SparseSDPA", "sparse_sdpa");
PROGRAM(msa_program, msa_schema, msa_validate, "SparseSDPAMsa", "sparse_sdpa_msa");

/* ---- operations -------------------------------------------------------------------------------------------- */

/* How a cache is striped over the chips of an axis: over one only. */
static tt_status cyclic_of(struct ttnn_value *out, struct tt_call *call, struct tt_tensor *q)
{
	const struct ttnn_value *axis = tt_call_arg(call, "block_cyclic_sp_axis");
	const struct ttnn_value *chunk = tt_call_arg(call, "block_cyclic_chunk_local");
	bool msa = strstr(call->entry->op->name, "msa") != NULL;
	unsigned rows = tt_shape_last(&q->spec.shape, 2), chips, other;
	const struct tt_device *device = tt_tensor_device(q);
	struct ttnn_value *fields;

	*out = ttnn_v_none();
	TT_REQUIRE(tt_value_given(axis) == tt_value_given(chunk),
		   "block_cyclic_sp_axis.has_value() == block_cyclic_chunk_local.has_value()", "%s",
		   msa ? "block_cyclic_sp_axis and block_cyclic_chunk_local must be set together"
		       : "sparse_sdpa: block_cyclic_sp_axis and block_cyclic_chunk_local must both "
			 "be set or both unset");
	if (!tt_value_given(axis))
		return TTNN_OK;
	if (axis->integer > 1)
		return tt_fail(TTNN_INVALID, "block_cyclic_sp_axis (%lld) is 0 or 1",
			       (long long)axis->integer);
	chips = axis->integer ? device->cols : device->rows;
	other = axis->integer ? device->rows : device->cols;
	TT_REQUIRE(chunk->integer == rows || chunk->integer == (int64_t)rows * other,
		   "chunk_local == q_isl || chunk_local == q_isl * tp",
		   msa ? "block_cyclic_chunk_local (%lld) must equal q seq-len (%u) or tp*q "
			 "seq-len (%u)"
		       : "sparse_sdpa: block_cyclic_chunk_local (%lld) must be q_isl (%u) or "
			 "tp*q_isl (%u)",
		   (long long)chunk->integer, rows, rows * other);
	if (chips > 1)
		return tt_fail(TTNN_UNSUPPORTED,
			       "a cache that is striped over %u chips is not supported", chips);
	fields = tt_arena_calloc(call->arena, 2, sizeof(*fields));
	TT_NEED_MEMORY(fields);
	fields[0] = ttnn_v_int(chips);
	fields[1] = *chunk;
	*out = tt_value_object(&cyclic_schema, fields);
	return TTNN_OK;
}

static struct ttnn_value scale_of(struct tt_call *call, const struct tt_tensor *q)
{
	return ttnn_v_real((float)tt_call_real(
		call, "scale", 1.0f / sqrtf((float)tt_shape_last(&q->spec.shape, 1))));
}

static struct ttnn_value compute_of(struct tt_call *call, bool fp8)
{
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true, .fp32 = fp8};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status sparse_sdpa_attend(struct tt_call *call)
{
	struct tt_tensor *q = tt_call_tensor(call, "q"), *kv = tt_call_tensor(call, "kv");
	struct tt_tensor *sink = tt_call_tensor(call, "attention_sink");
	struct tt_tensor *const inputs[INPUTS] = {q, kv, tt_call_tensor(call, "indices"), sink};
	struct ttnn_value attrs[schema_count];

	TT_TRY(tt_need_device(q));
	if (tt_call_bool(call, "block_cyclic_cache_tp_sharded", false))
		return tt_fail(TTNN_UNSUPPORTED,
			       "a cache that is striped over chips is not supported");
	attrs[SCALE] = scale_of(call, q);
	attrs[V_WIDTH] = ttnn_v_int(tt_call_int(call, "v_dim", 0));
	attrs[FORMAT] = *tt_call_arg(call, "kv_format");
	attrs[CHUNK] = ttnn_v_int(tt_call_int(call, "k_chunk_size", 128));
	attrs[COMPUTE] =
		compute_of(call, q->spec.dtype == TTNN_FP8_E4M3 || kv->spec.dtype == TTNN_FP8_E4M3);
	attrs[SLOT] = *tt_call_arg(call, "cache_batch_idx");
	TT_TRY(cyclic_of(&attrs[CYCLIC], call, q));
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

static tt_status attend_msa(struct tt_call *call)
{
	struct tt_tensor *q = tt_call_tensor(call, "q");
	struct tt_tensor *const inputs[INPUTS] = {q, tt_call_tensor(call, "k"),
						  tt_call_tensor(call, "v"),
						  tt_call_tensor(call, "indices")};
	struct ttnn_value attrs[msa_schema_count];

	TT_TRY(tt_need_device(q));
	attrs[MSA_SCALE] = scale_of(call, q);
	attrs[MSA_BLOCK] = ttnn_v_int(tt_call_int(call, "block_size", 128));
	attrs[MSA_COMPUTE] = compute_of(call, q->spec.dtype == TTNN_FP8_E4M3);
	attrs[MSA_SLOT] = *tt_call_arg(call, "cache_batch_idx");
	TT_TRY(cyclic_of(&attrs[MSA_CYCLIC], call, q));
	attrs[MSA_START] = *tt_call_arg(call, "chunk_start_idx");
	attrs[MSA_AXIS] = *tt_call_arg(call, "cluster_axis");
	attrs[MSA_CACHE] = *tt_call_arg(call, "enable_kv_block_cache");
	attrs[MSA_SLOTS] = ttnn_v_int(0);
	return TT_LAUNCH_RETURN(call, &msa_program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

#define CYCLIC_ARGS "block_cyclic_sp_axis: size? = None, block_cyclic_chunk_local: size? = None, "
#define SLOT_ARGS "compute_kernel_config: ComputeConfig? = None, cache_batch_idx: size? = None, "
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.sparse_sdpa",
	 .doc = "Latent attention of each row to the rows of a cache that it chooses.",
	 .sigs = {"q: Tensor, kv: Tensor, indices: Tensor, v_dim: size, *, kv_format: "
		  "SparseKVFormat, scale: float? = None, k_chunk_size: size = 128, " SLOT_ARGS
			  CYCLIC_ARGS "block_cyclic_cache_tp_sharded: bool = False, "
		  "attention_sink: Tensor? = None"},
	 .expand = sparse_sdpa_attend,
	 .golden = tt_golden_attention_sparse,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.sparse_sdpa_msa",
	 .doc = "Attention of each row to the blocks of keys and values that its group of heads chooses.",
	 .sigs = {"q: Tensor, k: Tensor, v: Tensor, indices: Tensor, *, scale: float? = None, "
		  "block_size: size = 128, " SLOT_ARGS "chunk_start_idx: size? = None, "
		  "cluster_axis: size? = None, " CYCLIC_ARGS "enable_kv_block_cache: bool = False"},
	 .expand = attend_msa,
	 .golden = tt_golden_attention_sparse,
	 .pcc = 0.99,
	 TT_PROGRAMS(&msa_program)},
};

const struct tt_op_family tt_family_attention_sparse = {"attention_sparse", ops, TT_COUNT(ops)};
