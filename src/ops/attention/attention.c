/*
 * attention.c: softmax(q · kᵀ × scale + mask) · v over whole sequences: prompts, pictures,
 * training. One new token of every user is attention_decode.c.
 *
 * Models SDPAOperation of ttnn 0.81 (transformer/sdpa/device) with SDPAProgramFactory: refusals,
 * memory, cores. The operations that end in it are scaled_dot_product_attention, its chunked
 * form over a paged cache, the windowed one, and latent attention (MLA), in which values are the
 * first columns of the keys. Not modelled: the chunks in which a core walks keys and values, a
 * tensor of chunk starts, and the ring forms, which are programs of their own upstream.
 */
#include "ops/attention/attention.h"

#include <math.h>

#include "backend/backend.h"
#include "ops/attention/kv_cache.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

/*
 * A field of an SDPAProgramConfig; `fallback` where there is no config, or the field was left
 * open.
 */
uint64_t tt_sdpa_number(const struct ttnn_value *config, int field, uint64_t fallback)
{
	int64_t number;

	if (config->kind != TTNN_VALUE_OBJECT || config->schema != &tt_schema_sdpa ||
	    !tt_value_integer(&number, &config->items[field]) || number < 0)
		return fallback;
	return (uint64_t)number;
}

/*
 * compute_with_storage_grid_size of the config, else the whole grid. sub_core_grids are not
 * looked at: upstream takes them for decoding only.
 */
tt_status tt_sdpa_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			const struct ttnn_value *config)
{
	struct ttnn_core grid;

	*out = launch->grid;
	if (config->kind != TTNN_VALUE_OBJECT || config->schema != &tt_schema_sdpa ||
	    !tt_object_core(&grid, &config->items[TT_SDPA_GRID]))
		return TTNN_OK;
	return tt_core_set_grid(out, grid.x, grid.y);
}

tt_status tt_sdpa_check_cores(const struct tt_launch *launch, const ttnn_core_set *cores)
{
	unsigned long long count = ttnn_core_set_cores(cores),
			   most = ttnn_core_set_cores(launch->grid);

	TT_REQUIRE(count <= most,
		   "num_cores <= device->compute_with_storage_grid_size().x * "
		   "device->compute_with_storage_grid_size().y",
		   "Provided grid must not contain more cores than the device. Got %llu cores, "
		   "expected at most %llu cores.",
		   count, most);
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------ */

enum windowed { WINDOWED_NONE, WINDOWED_SEGMENTS };
static const struct tt_enum_row windowed_rows[] = {{WINDOWED_NONE, "None"},
						   {WINDOWED_SEGMENTS, "CuWindowSeqlens"}};
static const struct tt_enum windowed_enum = {"WindowedMode", windowed_rows, 2};

#define ATTRS(X)                                                                                   \
	X(SCALE, "scale")                                                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_PLACES)                                        \
	X(CAUSAL, "is_causal")                                                                     \
	X(START, "chunk_start_idx")                                                                \
	X(START_TENSOR, "chunk_start_idx_tensor")                                                  \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(MLA, "use_mla")                                                                          \
	X(V_WIDTH, "head_dim_v")                                                                   \
	X(WINDOW, "sliding_window_size")                                                           \
	X(WINDOWED, "windowed_mode")                                                               \
	X(OFFSET, "windowed_q_token_offset")                                                       \
	X(GEOMETRY, "paged_cache_geometry", .text = TT_TEXT_PLACES)                                \
	X(CONCAT, "output_concat_heads")
TT_ATTRS(schema, "SDPAParams", ATTRS);
enum { Q, K, V, MASK, PAGES, START_IN, SEGMENTS, SINK, INPUTS };

/*
 * The result is like the queries, but for latent attention, whose rows are as wide as the values
 * (head_dim_v), and for output_concat_heads, which writes what nlp_concat_heads would make of
 * it.
 */
static tt_status sdpa_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	struct ttnn_shape shape = q->shape;

	TT_TRY(tt_need_dim(&shape, 3));
	if (launch->attrs[MLA].boolean)
		shape.dim[3] = (uint32_t)launch->attrs[V_WIDTH].integer;
	if (launch->attrs[CONCAT].boolean)
		shape = TT_SHAPE(shape.dim[0], 1, shape.dim[2], shape.dim[1] * shape.dim[3]);
	return tt_infer_one(launch, &shape, q->dtype, TTNN_TILE);
}

static bool narrow(enum ttnn_dtype dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B || dtype == TTNN_BFLOAT4_B;
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	for (int i = Q; i <= (launch->inputs[V] ? V : K); i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->layout == TTNN_TILE, "(input_tensor->layout() == Layout::TILE)",
			   "Inputs to SDPA must be tilized");
		TT_REQUIRE(
			narrow(spec->dtype),
			"input_tensor->dtype() == DataType::BFLOAT16 || input_tensor->dtype() == "
			"DataType::BFLOAT8_B || input_tensor->dtype() == DataType::BFLOAT4_B",
			"Data type of input tensor must be BFLOAT16, BFLOAT8_B, or BFLOAT4_B and "
			"is DataType::%s",
			ttnn_dtype_name(spec->dtype, TTNN_DIALECT_TT_METAL));
		TT_REQUIRE(!tt_memory_config_is_sharded(&spec->memory),
			   "!input_tensor->is_sharded()",
			   "Operands to SDPA need to be DRAM/L1 interleaved");
		TT_TRY(tt_need_dim(&spec->shape, 3));
	}
	return TTNN_OK;
}

/*
 * Chunks are whole tiles; 32 where the config says nothing, since kernels are built for some
 * chunk.
 */
static tt_status check_chunks(const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	uint64_t q = tt_sdpa_number(config, TT_SDPA_Q_CHUNK, TT_TILE);
	uint64_t k = tt_sdpa_number(config, TT_SDPA_K_CHUNK, TT_TILE);

	TT_REQUIRE(q && q % TT_TILE == 0,
		   "q_chunk_size > 0 && q_chunk_size % tt::constants::TILE_WIDTH == 0",
		   "q_chunk_size must be a positive multiple of TILE_SIZE. Got q_chunk_size: "
		   "%llu, TILE_SIZE: 32",
		   (unsigned long long)q);
	TT_REQUIRE(k && k % TT_TILE == 0,
		   "k_chunk_size > 0 && k_chunk_size % tt::constants::TILE_WIDTH == 0",
		   "k_chunk_size must be a positive multiple of TILE_SIZE. Got k_chunk_size: "
		   "%llu, TILE_SIZE: 32",
		   (unsigned long long)k);
	return TTNN_OK;
}

/* Values that the keys hold, or of their own; what does not fit is left to chance upstream. */
static tt_status check_latent(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const struct tt_tensor *values = launch->inputs[V];
	const uint32_t *v = values ? values->spec.shape.dim : k;
	uint32_t width = (uint32_t)launch->attrs[V_WIDTH].integer;

	TT_REQUIRE(launch->inputs[PAGES] || width <= q[3], "attrs.head_dim_v.value() <= q_shape[3]",
		   "Head dimension of V must be less than or equal to head dim of Q, got %u and %u",
		   width, q[3]);
	if (k[3] != q[3] || width > k[3])
		return tt_fail(TTNN_INVALID,
			       "queries of %u, keys of %u and values of %u columns "
			       "do not fit together",
			       q[3], k[3], width);
	if (v != k &&
	    (v[0] != k[0] || v[2] != k[2] || !k[1] || !v[1] || v[1] % k[1] || q[1] % v[1]))
		return tt_fail(TTNN_INVALID,
			       "values [%u, %u, %u] do not fit keys [%u, %u, %u] of %u heads", v[0],
			       v[1], v[2], k[0], k[1], k[2], q[1]);
	if (!launch->inputs[PAGES] && k[0] != 1 && k[0] != q[0])
		return tt_fail(TTNN_INVALID, "there are %u batches of queries and %u of keys", q[0],
			       k[0]);
	return TTNN_OK;
}

/*
 * Keys and values of one length, heads and width. Those of a paged cache have blocks for
 * batches, so only what a block must have is compared.
 */
static tt_status check_values(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v;

	TT_NEED(launch->inputs[V], "there are no values");
	v = launch->inputs[V]->spec.shape.dim;
	if (!launch->inputs[PAGES]) {
		TT_REQUIRE(k[0] == q[0] && v[0] == q[0], "k_shape[0] == B && v_shape[0] == B",
			   "K and V batch must match. Got K: %u, V: %u", k[0], v[0]);
		TT_REQUIRE(v[1] == k[1], "v_shape[1] == nkv",
			   "K and V num_heads must match. Got K: %u, V: %u", k[1], v[1]);
		TT_REQUIRE(v[2] == k[2], "v_shape[2] == Sk",
			   "K and V sequence length must match. Got K: %u, V: %u", k[2], v[2]);
	} else {
		TT_REQUIRE(v[2] == k[2], "k_page_size_cache == v_shape[2]",
			   "K page size must match V page size. Got K: %u, V: %u", k[2], v[2]);
		TT_REQUIRE(v[1] == k[1], "v_shape[1] == nkv",
			   "K and V num_heads must match. Got K: %u, V: %u", k[1], v[1]);
	}
	TT_REQUIRE(k[3] == q[3] && v[3] == q[3], "k_shape[3] == DH && v_shape[3] == DH",
		   "K and V hidden dim must match. Got K: %u, V: %u", k[3], v[3]);
	return TTNN_OK;
}

/* Blocks of other heads and rows have as many elements as those that were allocated. */
static tt_status check_geometry(const struct tt_launch *launch)
{
	const struct ttnn_value *geometry = &launch->attrs[GEOMETRY];
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v = launch->inputs[V] ? launch->inputs[V]->spec.shape.dim : k;
	uint64_t held = (uint64_t)k[1] * k[2] * k[3], seen;
	uint32_t view[3];

	tt_cache_view_of(view, geometry, launch->inputs[K], launch->inputs[Q]);
	seen = (uint64_t)view[0] * view[1] * view[2];
	TT_REQUIRE(!launch->attrs[MLA].boolean, "!use_mla",
		   "PagedCacheGeometryOverride is not supported with multi-latent attention");
	TT_REQUIRE(view[1], "geo.block_size > 0",
		   "PagedCacheGeometryOverride.block_size must be > 0");
	TT_REQUIRE(view[0], "geo.num_kv_heads > 0",
		   "PagedCacheGeometryOverride.num_kv_heads must be > 0");
	TT_REQUIRE(k[2] == v[2], "k_page_size_cache == v_shape[2]",
		   "K page size must match V page size. Got K: %u, V: %u", k[2], v[2]);
	TT_REQUIRE(
		k[3] == v[3], "k_shape[3] == v_shape[3]",
		"K and V cache must have same hidden size with geometry overrides. Got K: %u, V: %u",
		k[3], v[3]);
	TT_REQUIRE(v[1] == k[1], "v_shape[1] == nkv_cache",
		   "K and V cache num_heads must match. Got K: %u, V: %u", k[1], v[1]);
	TT_REQUIRE(seen == held, "view_elems_per_block == cache_elems_per_block",
		   "chunked SDPA geometry mismatch: cache has %llu elems/block (kv_heads=%u, "
		   "block_size=%u, head_dim=%u) but call view is %llu (kv_heads=%u, block_size=%u, "
		   "head_dim=%u from Q).",
		   (unsigned long long)held, k[1], k[2], k[3], (unsigned long long)seen, view[0],
		   view[1], view[2]);
	TT_REQUIRE(view[1] % TT_TILE == 0, "k_page_size % tt::constants::TILE_HEIGHT == 0",
		   "effective block_size (%u) must be a multiple of TILE_HEIGHT (%u)", view[1],
		   TT_TILE);
	return TTNN_OK;
}

/* Keys and values in pages have other lengths and batches than the queries. */
static tt_status check_shapes(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const struct ttnn_value *geometry = &launch->attrs[GEOMETRY];
	bool seen = tt_cache_is_overridden(geometry);
	uint32_t heads = seen ? tt_cache_geometry(geometry, TT_PAGED_KV_HEADS) : k[1];

	TT_REQUIRE(launch->inputs[PAGES] || !launch->attrs[CAUSAL].boolean || q[2] == k[2],
		   "Sq == Sk",
		   "Causal SDPA requires Q and K to have the same sequence length. Got Q: "
		   "%u, K: %u",
		   q[2], k[2]);
	TT_TRY(seen                         ? check_geometry(launch)
	       : launch->attrs[MLA].boolean ? check_latent(launch)
					    : check_values(launch));
	TT_REQUIRE(
		heads > 0 && q[1] >= heads && q[1] % heads == 0,
		"nkv > 0 && nqh >= nkv && nqh % nkv == 0",
		"Q num_heads must be >= K num_heads and divisible by K num_heads, and K num_heads "
		"must be greater than 0. Got Q: %u, K: %u",
		q[1], heads);
	return check_chunks(launch);
}

/* Where a chunk begins, if nobody knows it before the program runs. */
static tt_status check_start_tensor(const struct tt_tensor *start)
{
	TT_REQUIRE(start->spec.dtype == TTNN_INT32, "csi_tensor.dtype() == DataType::INT32",
		   "chunk_start_idx tensor must be int32. Got DataType::%s",
		   ttnn_dtype_name(start->spec.dtype, TTNN_DIALECT_TT_METAL));
	if (start->spec.shape.rank != 1 || start->spec.shape.dim[0] != 1)
		return tt_fail_shapes(TTNN_INVALID, "csi_shape.size() == 1 && csi_shape[0] == 1",
				      "chunk_start_idx tensor must have shape [1]. Got %s",
				      &start->spec.shape, &start->spec.shape);
	return TTNN_OK;
}

/*
 * A table of pages, and a chunk of the prompt that begins where chunks do and ends within the
 * pages: the kernel counts in chunks from chunk_start_idx on, and could not begin within one.
 */
static tt_status check_paged(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *pages = &launch->inputs[PAGES]->spec;
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	bool known = tt_value_given(&launch->attrs[START]);
	long long start = known ? (long long)launch->attrs[START].integer : 0, length;
	uint32_t view[3];

	if (!known)
		TT_TRY(check_start_tensor(launch->inputs[START_IN]));
	TT_REQUIRE(start >= 0, "attrs.chunk_start_idx.value() >= 0",
		   "chunk_start_idx must be non-negative");
	TT_REQUIRE(pages->layout == TTNN_ROW_MAJOR, "page_table.layout() == Layout::ROW_MAJOR",
		   "Page table must be row major");
	TT_REQUIRE(pages->dtype == TTNN_INT32, "page_table.dtype() == DataType::INT32",
		   "Page table must be int32");
	if (pages->shape.rank != 2)
		return tt_fail(TTNN_INVALID, "a page table has two dimensions, not %u",
			       pages->shape.rank);
	TT_REQUIRE(pages->shape.dim[0] == q[0], "page_table_shape[0] == B",
		   "Page table batch size must match input batch size. Got Page table: %u, Input: "
		   "%u",
		   pages->shape.dim[0], q[0]);
	TT_TRY(check_shapes(launch));
	if (!known) /* it is read when the program runs */
		return TTNN_OK;
	TT_REQUIRE(start % (long long)tt_sdpa_number(config, TT_SDPA_Q_CHUNK, 1) == 0,
		   "attrs.chunk_start_idx.value() % q_chunk_size == 0",
		   "chunk_start_idx must be a multiple of q_chunk_size. Got chunk_start_idx: %lld, "
		   "q_chunk_size: %llu",
		   start, (unsigned long long)tt_sdpa_number(config, TT_SDPA_Q_CHUNK, 1));
	TT_REQUIRE(start % (long long)tt_sdpa_number(config, TT_SDPA_K_CHUNK, 1) == 0,
		   "attrs.chunk_start_idx.value() % k_chunk_size == 0",
		   "chunk_start_idx must be a multiple of k_chunk_size. Got chunk_start_idx: %lld, "
		   "k_chunk_size: %llu",
		   start, (unsigned long long)tt_sdpa_number(config, TT_SDPA_K_CHUNK, 1));
	tt_cache_view_of(view, &launch->attrs[GEOMETRY], launch->inputs[K], launch->inputs[Q]);
	length = (long long)pages->shape.dim[1] * view[1];
	TT_REQUIRE(length - (long long)q[2] >= start,
		   "kv_length >= q_shape[2] + attrs.chunk_start_idx.value()",
		   "K's sequence length must be >= Q's sequence length + chunk_start_idx. Got K: "
		   "%lld, Q: %u, chunk_start_idx: %lld",
		   length, q[2], start);
	return TTNN_OK;
}

/*
 * A mask says what causality and a window would say, so it excludes both. It is read tile by
 * tile from DRAM as it is: one for all batches or heads has extent 1 there.
 */
static tt_status check_mask(const struct tt_launch *launch, const struct ttnn_tensor_spec *mask)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim, *m = mask->shape.dim;
	int64_t window;

	TT_REQUIRE(
		!launch->attrs[CAUSAL].boolean,
		"!(attrs.is_causal && tensors.attn_mask.has_value())",
		"is_causal and attn_mask cannot both be present. Got is_causal: true, attn_mask: "
		"true");
	TT_REQUIRE(!tt_value_integer(&window, &launch->attrs[WINDOW]) || window == 0,
		   "!(attrs.sliding_window_size.value_or(0) > 0 && tensors.attn_mask.has_value())",
		   "sliding_window_size and attn_mask cannot both be present; bake the "
		   "sliding-window mask into attn_mask. Got sliding_window_size: %lld, attn_mask: "
		   "true",
		   (long long)window);
	TT_REQUIRE(mask->layout == TTNN_TILE, "mask.layout() == Layout::TILE",
		   "When mask is provided to SDPA, it must be tilized");
	TT_REQUIRE(narrow(mask->dtype),
		   "mask.dtype() == DataType::BFLOAT16 || mask.dtype() == DataType::BFLOAT8_B || "
		   "mask.dtype() == DataType::BFLOAT4_B",
		   "When mask is provided to SDPA, it must be in BF16, BFP8, or BFP4 dataformat");
	TT_REQUIRE(mask->memory.buffer == TTNN_DRAM,
		   "mask.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "When mask is provided to SDPA, it must be in DRAM");
	TT_TRY(tt_need_dim(&mask->shape, 3));
	TT_REQUIRE(m[0] == 1 || m[0] == q[0], "mask_shape[0] == 1 || mask_shape[0] == q_shape[0]",
		   "Mask batch dim must either be 1 (to be broadcasted across all batches) or must "
		   "match Q batch dimension");
	TT_REQUIRE(m[1] == 1 || m[1] == q[1], "mask_shape[1] == 1 || mask_shape[1] == q_shape[1]",
		   "Mask num_heads must either be 1 (to be broadcasted across all heads) or must "
		   "match Q heads dimension");
	TT_REQUIRE(m[2] == q[2], "mask_shape[2] == q_shape[2]",
		   "Mask sequence length must match Q sequence length");
	TT_REQUIRE(m[3] == launch->inputs[K]->spec.shape.dim[2], "mask_shape[3] == k_shape[2]",
		   "Mask sequence length must match K sequence length");
	return TTNN_OK;
}

/* One logit for each head, which every row's softmax has beside its columns: [1, heads, 1, 1]. */
static tt_status check_sink(const struct tt_launch *launch, const struct ttnn_tensor_spec *sink)
{
	const uint32_t *s = sink->shape.dim, heads = launch->inputs[Q]->spec.shape.dim[1];

	TT_REQUIRE(sink->layout == TTNN_TILE, "attention_sink.layout() == Layout::TILE",
		   "Attention sink must be tilized");
	TT_REQUIRE(narrow(sink->dtype),
		   "attention_sink.dtype() == DataType::BFLOAT16 || attention_sink.dtype() == "
		   "DataType::BFLOAT8_B || attention_sink.dtype() == DataType::BFLOAT4_B",
		   "Attention sink must be in BF16, BFP8, or BFP4 dataformat");
	TT_REQUIRE(sink->memory.buffer == TTNN_DRAM,
		   "attention_sink.buffer()->buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "Attention sink must be in DRAM");
	TT_TRY(tt_need_dim(&sink->shape, 3));
	TT_REQUIRE(s[0] == 1, "sink_shape[0] == 1",
		   "Attention sink batch dimension must be 1. Got %u", s[0]);
	TT_REQUIRE(s[1] == heads, "sink_shape[1] == q_shape[1]",
		   "Attention sink num_heads must match Q num_heads. Got sink: %u, Q: %u", s[1],
		   heads);
	TT_REQUIRE(s[2] == 1, "sink_shape[2] == 1",
		   "Attention sink sequence dimension must be 1. Got %u", s[2]);
	TT_REQUIRE(s[3] == 1, "sink_shape[3] == 1",
		   "Attention sink hidden dimension must be 1. Got %u", s[3]);
	return TTNN_OK;
}

/*
 * In upstream's order, as programs that break several rules get the first one's text. Padding
 * within a head is refused last.
 */
static tt_status sdpa_validate(struct tt_launch *launch)
{
	const struct tt_tensor *mask = launch->inputs[MASK], *sink = launch->inputs[SINK];

	TT_TRY(check_kinds(launch));
	if (mask)
		TT_TRY(check_mask(launch, &mask->spec));
	TT_TRY(launch->inputs[PAGES] ? check_paged(launch) : check_shapes(launch));
	if (sink)
		TT_TRY(check_sink(launch, &sink->spec));
	for (int i = Q; i <= (launch->inputs[V] ? V : K); i++) {
		const struct ttnn_tensor_spec *spec = &launch->inputs[i]->spec;

		TT_REQUIRE(spec->shape.dim[3] == spec->padded.dim[3],
			   "logical_shape[3] == legacy_shape[3]",
			   "Padding is not supported on the head_dim dimension");
	}
	return TTNN_OK;
}

/* ---- program memory ------------------------------------------------------------------------------------ */

/* How the work is cut, in tiles. */
struct chunks {
	uint64_t q, k, width; /* rows and columns of a chunk, and of a head */
	uint64_t out_width;   /* of a head's values */
	uint64_t rows;        /* chunks of queries of a head */
	bool pairs;           /* a core takes a long and a short chunk together */
	bool twice;           /* it has more than one chunk of queries */
	const ttnn_core_set *cores;
};

/*
 * How upstream gives out work: cores for batches first, then for heads, then for chunks of rows.
 * A causal head is a triangle, so that a core takes a chunk from its top together with one from
 * its bottom (pairs) if their number is even; queries are kept twice when a core has more than
 * one chunk, to read the next one early.
 */
static tt_status chunks_of(struct chunks *out, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[CONFIG];
	const struct ttnn_shape *padded = &launch->inputs[Q]->spec.padded;
	uint64_t q = tt_sdpa_number(config, TT_SDPA_Q_CHUNK, TT_TILE), cores, batches, heads, rows;

	out->q = q < TT_TILE ? 1 : q / TT_TILE;
	out->k = tt_sdpa_number(config, TT_SDPA_K_CHUNK, TT_TILE) / TT_TILE;
	out->k = out->k ? out->k : 1;
	out->width = padded->dim[3] / TT_TILE;
	out->out_width = launch->attrs[MLA].boolean
				 ? (uint64_t)launch->attrs[V_WIDTH].integer / TT_TILE
				 : out->width;
	out->rows = tt_div_up(padded->dim[2] / TT_TILE, out->q);
	TT_TRY(tt_sdpa_cores(&out->cores, launch, config));
	cores = ttnn_core_set_cores(out->cores);
	batches = padded->dim[0] && cores ? tt_lesser(cores, padded->dim[0]) : 1;
	heads = padded->dim[1] && cores ? tt_lesser(cores / batches, padded->dim[1]) : 1;
	out->pairs = launch->attrs[CAUSAL].boolean && out->rows % 2 == 0;
	rows = tt_lesser(cores / (batches * heads), out->pairs ? out->rows / 2 : out->rows);
	out->twice = tt_div_up(out->rows, rows ? rows : 1) > 1;
	return TTNN_OK;
}

/*
 * With sums in float32 a sliding window is made as a whole mask, of the least exact type: 0 and
 * -inf are exact in bfloat4_b, and it takes a quarter of the room. Otherwise a few tiles serve
 * for all places.
 */
static bool whole_window(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[WINDOW]) &&
	       tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
}

/*
 * Tiles of a mask: a chunk's, twice, where one is given or made whole; else those that a kernel
 * makes once and uses everywhere, which are 2 for the diagonal or the end of the keys and 5 for
 * the edges of a window; none if nothing is hidden.
 */
static uint64_t mask_tiles(const struct tt_launch *launch, const struct chunks *c)
{
	const struct ttnn_tensor_spec *k = &launch->inputs[K]->spec;

	if (launch->inputs[MASK] || launch->inputs[SEGMENTS] || whole_window(launch))
		return 2 * c->q * c->k;
	if (tt_value_given(&launch->attrs[WINDOW]))
		return 5;
	return launch->attrs[CAUSAL].boolean || k->shape.dim[2] % (c->k * TT_TILE) != 0 ? 2 : 0;
}

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : tt_tile_bytes_of(TTNN_BFLOAT16);
}

/*
 * SDPAProgramFactory's circular buffers, in its order. A and B take turns: a chunk of keys
 * updates maximum, sum and result of the chunks before it (cb_exp_max_diff rescales those). Rows
 * without a name are known from recordings by number and size alone.
 */
static tt_status sdpa_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	uint64_t small = tt_tile_bytes_of(TTNN_BFLOAT16), large = tt_tile_bytes_of(TTNN_FLOAT32);
	uint64_t sums = fp32 ? large : small, pages = in[PAGES] ? tt_aligned_page(in[PAGES]) : 0;
	uint64_t segments = in[SEGMENTS] ? tt_aligned_page(in[SEGMENTS]) : 0;
	uint64_t mask_tile =
		whole_window(launch) ? tt_tile_bytes_of(TTNN_BFLOAT4_B) : tile_of(in[MASK]);
	bool plain = !in[PAGES] && !tt_value_given(&launch->attrs[WINDOW]);
	struct chunks c = {0};

	TT_TRY(chunks_of(&c, launch));
	return TT_PLAN(
		plan, c.cores,
		TT_CB_ROW(0, "cb_q_in", .pages = c.q * c.width * (c.twice ? 2 : 1),
			  .page = tile_of(in[Q])),
		TT_CB_ROW(1, "cb_k_in", .pages = 2 * c.k * c.width, .page = tile_of(in[K])),
		TT_CB_ROW(2, "cb_v_in", .pages = 2 * c.k * c.out_width,
			  .page = tile_of(in[V] ? in[V] : in[K])),
		TT_CB_ROW(15, NULL, .pages = c.pairs && plain && tt_is_blackhole(launch->device),
			  .page = 96),
		TT_CB_ROW(3, "cb_mask_in", .pages = mask_tiles(launch, &c), .page = mask_tile),
		TT_CB_ROW(8, NULL, .pages = segments ? 2 : 0, .page = small),
		TT_CB_ROW(9, NULL, .pages = segments ? 2 : 0, .page = small),
		TT_CB_ROW(10, "cb_cu_window_seqlens", .pages = segments != 0, .page = segments),
		TT_CB_ROW(5, "cb_identity_scale_in", .pages = 1, .page = small),
		TT_CB_ROW(7, "cb_col_identity", .pages = 1, .page = small),
		TT_CB_ROW(6, "cb_page_table", .pages = pages != 0, .page = pages),
		TT_CB_ROW(12, "cb_chunk_start_idx_compute", .pages = in[START_IN] != NULL,
			  .page = 32),
		TT_CB_ROW(13, "cb_chunk_start_idx_writer", .pages = in[START_IN] != NULL,
			  .page = 32),
		TT_CB_ROW(4, "cb_attention_sink",
			  .pages = !in[SINK] ? 0
				   : fp32    ? c.q
					     : 1,
			  .page = small),
		TT_CB_ROW(11, "cb_recip_scratch", .pages = !fp32, .page = small),
		TT_CB_ROW(24, "cb_qk_im", .pages = c.q * c.k, .page = sums),
		TT_CB_ROW(25, "cb_out_im_A", .pages = c.q * c.out_width, .page = small),
		TT_CB_ROW(26, "cb_out_im_B", .pages = c.q * c.out_width, .page = small),
		TT_CB_ROW(27, "cb_max_A", .pages = c.q, .page = small),
		TT_CB_ROW(28, "cb_max_B", .pages = c.q, .page = small),
		TT_CB_ROW(29, "cb_sum_A", .pages = c.q, .page = sums),
		TT_CB_ROW(30, "cb_sum_B", .pages = c.q, .page = sums),
		TT_CB_ROW(31, "cb_exp_max_diff", .pages = c.q, .page = small),
		TT_CB_ROW(16, "cb_out", .pages = (fp32 ? c.q : tt_lesser(2 * c.q, 4)) * c.out_width,
			  .page = tile_of(launch->outputs[0])));
}

/* ---- running ----------------------------------------------------------------------------------------------- */

static double scale_of(const struct tt_launch *launch)
{
	const struct ttnn_value *scale = &launch->attrs[SCALE];

	return tt_value_given(scale) ? scale->real : 1 / sqrt(launch->inputs[Q]->spec.shape.dim[3]);
}

/*
 * The mask as it was before the operation divided it by the scale. The chip computes (q · kᵀ +
 * mask) × scale, so upstream prepares masks for that; backends add the mask as it is meant.
 */
static tt_status unscaled(struct tt_tensor **out, struct tt_tensor *mask, double scale)
{
	TT_TRY(tt_scratch_f32(out, &mask->spec.shape));
	return tt_backend_get()->map(&(struct tt_map_job){.out = *out,
							  .arity = 2,
							  .in = {mask, NULL},
							  .scalar = {0, scale},
							  .op = TT_BINARY_MUL});
}

/* Heads beside each other in the rows of the result. */
static tt_status put_together(struct tt_tensor *out, struct tt_tensor *heads)
{
	const struct ttnn_shape *shape = &heads->spec.shape;
	const struct tt_move_loop loops[] = {
		{shape->dim[0], 0, 0, 1, 1},
		{shape->dim[1], 1, 3, 1, shape->dim[3]},
		{shape->dim[2], 2, 2, 1, 1},
		{shape->dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(
		&(struct tt_move_job){.out = out, .in = heads, .loops = loops, .loop_count = 4});
}

static tt_status sdpa_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_attention_job job = {
		.out = launch->outputs[0],
		.q = launch->inputs[Q],
		.k = launch->inputs[K],
		.v = launch->inputs[V],
		.pages = launch->inputs[PAGES],
		.positions = launch->inputs[START_IN],
		.segments = launch->inputs[SEGMENTS],
		.sink = launch->inputs[SINK],
		.start = tt_value_given(&attrs[START]) ? attrs[START].integer
						       : attrs[OFFSET].integer,
		.scale = scale_of(launch),
		.causal = attrs[CAUSAL].boolean,
		.window = tt_value_given(&attrs[WINDOW]) ? (uint32_t)attrs[WINDOW].integer : 0,
	};

	if (launch->inputs[MASK])
		TT_TRY(unscaled(&job.mask, launch->inputs[MASK], job.scale));
	if (tt_cache_is_overridden(&attrs[GEOMETRY]))
		return tt_cache_attend(&job, &attrs[GEOMETRY]);
	if (!attrs[CONCAT].boolean)
		return tt_backend_get()->attention(&job);
	TT_TRY(tt_scratch_f32(&job.out, &job.q->spec.shape));
	TT_TRY(tt_backend_get()->attention(&job));
	return put_together(launch->outputs[0], job.out);
}

/* Two products, of each query with each key and of the weights with the values; half of it if causal. */
static void attention_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct ttnn_shape *q = &launch->inputs[Q]->spec.shape,
				*k = &launch->inputs[K]->spec.shape;
	const struct tt_tensor *v = launch->inputs[V] ? launch->inputs[V] : launch->inputs[K];
	const struct ttnn_value *start = &launch->attrs[START];
	uint64_t keys =
		tt_value_given(start) ? q->dim[2] + (uint64_t)start->integer : tt_shape_last(k, 2);
	uint64_t width = tt_shape_last(q, 1) + tt_shape_last(&v->spec.shape, 1);

	cost->inputs = 3;
	tt_cost_set_product(cost, launch,
			    &(struct tt_perf_product){
				    .m = tt_shape_last(q, 2),
				    .k = launch->attrs[CAUSAL].boolean ? width / 2 : width,
				    .n = keys,
				    .batch = (uint64_t)tt_shape_last(q, 4) * tt_shape_last(q, 3),
			    });
}

static const struct tt_prog program = {
	.device_op = "SDPAOperation",
	.prim = "ttnn::prim::sdpa",
	.attrs = &schema,
	.infer = sdpa_infer,
	.validate = sdpa_validate,
	TT_FACTORY("ttnn::prim::SDPAOperation::SDPAProgramFactory", sdpa_rows),
	TT_KERNEL(sdpa_kernel),
	.cost = attention_cost,
};

/* ---- operations -------------------------------------------------------------------------------------------- */

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};

/* ttnn::multiply(mask, 1 / scale): the program multiplies the sum of both by the scale. */
static tt_status divide_mask(struct tt_tensor **mask, struct tt_call *call, struct tt_tensor *q)
{
	double scale = tt_call_real(call, "scale", 1 / sqrt(tt_shape_last(&q->spec.shape, 1)));
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(*mask)},
					{NULL, ttnn_v_real(1 / scale)}};

	return tt_call_owned(call, tt_call_op(mask, call, "ttnn.multiply", args, TT_COUNT(args)),
			     mask);
}

static void common_attrs(struct ttnn_value attrs[schema_count], struct tt_call *call)
{
	static const struct ttnn_memory_config dram;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	double scale;

	attrs[SCALE] = tt_value_number(&scale, tt_call_arg(call, "scale")) ? ttnn_v_real(scale)
									   : ttnn_v_none();
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[CONFIG] = *tt_call_arg(call, "program_config");
	attrs[CAUSAL] = ttnn_v_bool(true);
	attrs[START] = attrs[START_TENSOR] = attrs[V_WIDTH] = ttnn_v_none();
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[MLA] = ttnn_v_bool(false);
	attrs[WINDOW] = *tt_call_arg(call, "sliding_window_size");
	attrs[WINDOWED] = tt_value_enum(&windowed_enum, WINDOWED_NONE);
	attrs[OFFSET] = ttnn_v_int(tt_call_int(call, "windowed_q_token_offset", 0));
	attrs[GEOMETRY] = tt_cache_geometry_arg(call);
	attrs[CONCAT] = ttnn_v_bool(tt_call_bool(call, "output_concat_heads", false));
}

static tt_status attention_launch(struct tt_call *call, const struct ttnn_value attrs[schema_count],
				  struct tt_tensor *const inputs[INPUTS])
{
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

static tt_status attention_attend(struct tt_call *call)
{
	struct tt_tensor *inputs[INPUTS] = {
		[Q] = tt_call_tensor(call, "input_tensor_q"),
		[K] = tt_call_tensor(call, "input_tensor_k"),
		[V] = tt_call_tensor(call, "input_tensor_v"),
		[MASK] = tt_call_tensor(call, "attn_mask"),
		[SEGMENTS] = tt_call_tensor(call, "cu_window_seqlens"),
		[SINK] = tt_call_tensor(call, "attention_sink"),
	};
	struct ttnn_value attrs[schema_count];

	common_attrs(attrs, call);
	attrs[CAUSAL] = ttnn_v_bool(tt_call_bool(call, "is_causal", true));
	if (inputs[SEGMENTS])
		attrs[WINDOWED] = tt_value_enum(&windowed_enum, WINDOWED_SEGMENTS);
	if (inputs[MASK])
		TT_TRY(divide_mask(&inputs[MASK], call, inputs[Q]));
	return attention_launch(call, attrs, inputs);
}

/* Queries and keys of latent attention, and values if they are not the first columns of the keys. */
static void latent_attrs(struct ttnn_value attrs[schema_count], struct tt_call *call,
			 const struct tt_tensor *values)
{
	common_attrs(attrs, call);
	attrs[CAUSAL] = ttnn_v_bool(tt_call_bool(call, "is_causal", true));
	attrs[MLA] = ttnn_v_bool(true);
	attrs[V_WIDTH] = ttnn_v_int(values ? tt_shape_last(&values->spec.shape, 1)
					   : tt_call_int(call, "head_dim_v", 0));
	attrs[WINDOW] = ttnn_v_none();
}

static tt_status attend_latent(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		[Q] = tt_call_tensor(call, "input_tensor_q"),
		[K] = tt_call_tensor(call, "input_tensor_k"),
		[V] = tt_call_tensor(call, "input_tensor_v"),
		[MASK] = tt_call_tensor(call, "attn_mask"),
	};
	struct ttnn_value attrs[schema_count];

	latent_attrs(attrs, call, inputs[V]);
	return attention_launch(call, attrs, inputs);
}

/* A chunk of a sequence against the blocks of a cache. */
static tt_status attend_chunk(struct tt_call *call)
{
	struct tt_tensor *const inputs[INPUTS] = {
		[Q] = tt_call_tensor(call, "input_tensor_q"),
		[K] = tt_call_tensor(call, "input_tensor_k"),
		[V] = tt_call_tensor(call, "input_tensor_v"),
		[PAGES] = tt_call_tensor(call, "page_table_tensor"),
		[START_IN] = tt_call_tensor(call, "chunk_start_idx_tensor"),
		[SINK] = tt_call_tensor(call, "attention_sink"),
	};
	const struct ttnn_value *start = tt_call_arg(call, "chunk_start_idx");
	struct ttnn_value attrs[schema_count];

	TT_NEED(inputs[START_IN] || tt_value_given(start),
		"chunk_start_idx (int) is required for legacy chunked SDPA. For flexible path use "
		"chunk_start_idx_tensor=...");
	if (inputs[V])
		common_attrs(attrs, call);
	else
		latent_attrs(attrs, call, NULL);
	if (inputs[START_IN])
		attrs[START_TENSOR] = ttnn_v_tensor(inputs[START_IN]);
	else
		attrs[START] = *start;
	return attention_launch(call, attrs, inputs);
}

#define QK "input_tensor_q: Tensor, input_tensor_k: Tensor, "
#define QKV QK "input_tensor_v: Tensor, "
#define TAIL                                                                                       \
	"memory_config: MemoryConfig? = None, program_config: ProgramConfig? = None, "             \
	"compute_kernel_config: ComputeConfig? = None"
#define LATENT "*, attn_mask: Tensor? = None, is_causal: bool = True, scale: float? = None, " TAIL
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.chunked_flash_mla_prefill",
	 .doc = "Latent attention of a chunk of queries to the blocks of a cache.",
	 .sigs = {QK
		  "head_dim_v: size, page_table_tensor: Tensor, chunk_start_idx: long, *, scale: "
		  "float? = None, " TAIL},
	 .expand = attend_chunk,
	 .golden = tt_golden_attention,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.chunked_scaled_dot_product_attention",
	 .doc = "Attention of a chunk of queries to the blocks of a cache.",
	 .sigs = {QKV "page_table_tensor: Tensor, chunk_start_idx: int? = None, *, "
		      "chunk_start_idx_tensor: Tensor? = None, scale: float? = None, " TAIL
		      ", paged_cache_geometry: any? = None, sliding_window_size: int? = None, "
		      "attention_sink: Tensor? = None"},
	 .expand = attend_chunk,
	 .golden = tt_golden_attention,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.flash_mla_prefill",
	 .doc = "Latent attention: values are the first columns of the keys, or narrower than they.",
	 .sigs = {QK "head_dim_v: size, " LATENT, QKV LATENT},
	 .expand = attend_latent,
	 .golden = tt_golden_attention,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.scaled_dot_product_attention",
	 .doc = "softmax(q · k' × scale + mask) · v for each head.",
	 .sigs = {QKV
		  "*, attn_mask: Tensor? = None, is_causal: bool = True, scale: float? = None, "
		  "sliding_window_size: int? = None, " TAIL
		  ", attention_sink: Tensor? = None, cu_window_seqlens: Tensor? = None, "
		  "windowed_q_token_offset: int = 0, windowed_q_token_offset_tensor: Tensor? = "
		  "None, output_concat_heads: bool = False, attn_mask_block_map: Tensor? = None"},
	 .expand = attention_attend,
	 .golden = tt_golden_attention,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_attention = {"attention", ops, TT_COUNT(ops)};
