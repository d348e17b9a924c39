/*
 * attention_decode.c: attention of one new token of every user to a cache of keys and values.
 *
 * Rows are [1, users, heads, width]: a user's heads are the rows of a tile, and the cache is
 * read once for all heads that share keys.
 *
 * Models SdpaDecodeDeviceOperation of ttnn 0.81 (transformer/sdpa_decode/device) with its one
 * factory: refusals, memory, cores. The cache is one tensor, or blocks that a page table gives
 * to users; values are a tensor or the first columns of the keys (latent attention, MLA). Not
 * modelled: the tree in which cores of a head combine their parts, and which of them reads what.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "ops/attention/attention.h"
#include "ops/attention/heads.h"
#include "ops/attention/kv_cache.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(CAUSAL, "is_causal")                                                                     \
	X(PAGED, "paged_attention")                                                                \
	X(POSITIONS, "cur_pos")                                                                    \
	X(SCALE, "scale")                                                                          \
	X(WINDOW, "sliding_window_size")                                                           \
	X(MEMORY, "output_mem_config")                                                             \
	X(CONFIG, "program_config", .text = TT_TEXT_PLACES)                                        \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(K_CHUNK, "k_chunk_size")                                                                 \
	X(SHARE, "share_cache")                                                                    \
	X(MLA, "use_mla")                                                                          \
	X(V_WIDTH, "head_dim_v")                                                                   \
	X(GEOMETRY, "paged_cache_geometry", .text = TT_TEXT_PLACES)                                \
	X(MODULO, "cache_position_modulo")                                                         \
	X(SPECULATIVE, "spec_multi_pos_tiles")
TT_ATTRS(schema, "SdpaDecodeParams", ATTRS);
enum { Q, K, V, POSITION_TENSOR, PAGES, MASK, SINK, INPUTS };

/* ---- specs and refusals ---------------------------------------------------------------------------------- */

/* use_mla: an option upstream, so that "not said" and "no" print differently. */
static bool is_latent(const struct tt_launch *launch)
{
	return tt_value_given(&launch->attrs[MLA]) && launch->attrs[MLA].boolean;
}

/* The values: a tensor of their own, or the first columns of the keys. */
static const struct ttnn_tensor_spec *values(const struct tt_launch *launch)
{
	return &launch->inputs[launch->inputs[V] ? V : K]->spec;
}

/* How latent queries in shards are cut: groups of heads that cores take as if they were users. */
struct cut {
	uint32_t users, heads;  /* of the result */
	uint32_t groups;        /* of the heads of a user */
	uint32_t copies, group; /* cores that hold the same rows, and how many rows */
	bool local;             /* every core holds the rows it needs: [1, 1, all of them, width] */
};

/*
 * Latent attention has one key head and up to 128 heads of queries, more than a core can hold.
 * Queries that are sharded say how to cut them: a shard's rows are a group, and
 * max_cores_per_head_batch cores hold the same rows when there are as many shards as that makes
 * (local: then the tensor is [1, 1, all of them, width] and the shape of the result comes from
 * here). Otherwise groups are counted from the heads.
 */
static void cut_of(struct cut *cut, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	const struct tt_tensor *pages = launch->inputs[PAGES];
	uint64_t rows = tt_align_to(q->padded.dim[2], TT_TILE), shards;

	*cut = (struct cut){.users = pages ? pages->spec.padded.dim[0] : q->shape.dim[1],
			    .heads = q->shape.dim[2],
			    .groups = 1};
	if (!is_latent(launch) || !q->memory.has_shard || !q->memory.shard.height || !cut->users)
		return;
	cut->group = q->memory.shard.height;
	cut->copies = (uint32_t)tt_sdpa_number(&launch->attrs[CONFIG], TT_SDPA_MAX_CORES, 16);
	shards = ttnn_core_set_cores(q->memory.shard.grid);
	cut->groups = cut->copies ? (uint32_t)(shards / cut->copies / cut->users) : 0;
	cut->local = cut->groups &&
		     rows == (uint64_t)cut->users * cut->group * cut->groups * cut->copies;
	if (cut->local)
		cut->heads = cut->groups * cut->group;
	else
		cut->groups = (uint32_t)tt_div_up(cut->heads ? cut->heads : 1, cut->group);
}

static tt_status sdpa_decode_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;
	struct ttnn_shape shape = q->shape;
	struct cut cut;

	TT_TRY(tt_need_dim(&q->shape, 3));
	cut_of(&cut, launch);
	if (cut.local)
		shape = TT_SHAPE(shape.dim[0], cut.users, cut.heads, shape.dim[3]);
	if (is_latent(launch))
		shape.dim[3] = (uint32_t)launch->attrs[V_WIDTH].integer;
	return tt_infer_one(launch, &shape, q->dtype, q->layout);
}

static tt_status check_kinds(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *q = &launch->inputs[Q]->spec;

	for (int i = Q; i <= (launch->inputs[V] ? V : K); i++) {
		enum ttnn_dtype dtype = launch->inputs[i]->spec.dtype;

		TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B ||
				   dtype == TTNN_BFLOAT4_B,
			   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
			   "DataType::BFLOAT8_B || input_tensor.dtype() == DataType::BFLOAT4_B",
			   "Unsupported data type DataType::%s.",
			   ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
		TT_TRY(tt_need_dim(&launch->inputs[i]->spec.shape, 3));
	}
	TT_REQUIRE(tt_memory_config_is_sharded(&q->memory) || q->memory.buffer == TTNN_DRAM,
		   "Q_memcfg.buffer_type() == tt::tt_metal::BufferType::DRAM",
		   "Q tensor buffer type must be DRAM when not sharded but got BufferType::%s",
		   tt_enum_name(&tt_enum_buffer_type, q->memory.buffer));
	TT_REQUIRE(q->layout == TTNN_TILE || tt_memory_config_is_sharded(&q->memory),
		   "input_tensors.at(0).is_sharded()",
		   "ROW_MAJOR Q is only supported when Q is HEIGHT_SHARDED in L1; interleaved "
		   "ROW_MAJOR Q is not supported. Convert Q to TILE layout or shard it.");
	return TTNN_OK;
}

static bool is_overridden(const struct tt_launch *launch)
{
	return tt_cache_is_overridden(&launch->attrs[GEOMETRY]);
}

static uint32_t geometry(const struct tt_launch *launch, int field)
{
	return tt_cache_geometry(&launch->attrs[GEOMETRY], field);
}

/* Heads, rows and width of a block as the call sees it. */
static void view_of(uint32_t view[3], const struct tt_launch *launch, int which)
{
	tt_cache_view_of(view, &launch->attrs[GEOMETRY], launch->inputs[which], launch->inputs[Q]);
}

static uint32_t key_heads(const struct tt_launch *launch)
{
	return is_overridden(launch) ? geometry(launch, TT_PAGED_KV_HEADS)
				     : launch->inputs[K]->spec.shape.dim[1];
}

/*
 * Blocks as another call made them, and positions that wrap: a cache of a sliding window is a
 * ring of blocks (cache_position_modulo), which must be whole blocks and no shorter than the
 * window.
 */
static tt_status check_paged(const struct tt_launch *launch)
{
	const struct ttnn_value *modulo = &launch->attrs[MODULO], *window = &launch->attrs[WINDOW];
	uint32_t view[3];

	TT_REQUIRE(!is_overridden(launch) || geometry(launch, TT_PAGED_BLOCK),
		   "paged_geo.block_size > 0", "PagedCacheGeometryOverride.block_size must be > 0");
	TT_REQUIRE(!is_overridden(launch) || geometry(launch, TT_PAGED_KV_HEADS),
		   "paged_geo.num_kv_heads > 0",
		   "PagedCacheGeometryOverride.num_kv_heads must be > 0");
	view_of(view, launch, K);
	if (tt_value_given(modulo)) {
		TT_REQUIRE(modulo->integer > 0, "modulo > 0",
			   "cache_position_modulo must be > 0 when provided");
		TT_REQUIRE(view[1] && modulo->integer % view[1] == 0,
			   "modulo % effective_block_size == 0",
			   "cache_position_modulo (%lld) must be a multiple of effective "
			   "block_size (%u)",
			   (long long)modulo->integer, view[1]);
		TT_REQUIRE(
			!tt_value_given(window) || modulo->integer >= window->integer,
			"modulo >= operation_attributes.sliding_window_size.value()",
			"cache_position_modulo (%lld) must be >= sliding_window_size (%lld); a "
			"tighter capacity would let the SDPA attention range wrap multiple times "
			"and double-count positions.",
			(long long)modulo->integer, (long long)window->integer);
	}
	if (!is_overridden(launch))
		return TTNN_OK;
	for (int which = K; which <= V; which++)
		TT_TRY(tt_cache_check_view("paged_scaled_dot_product_attention_decode", "call view",
					   &launch->inputs[which]->spec, view));
	return TTNN_OK;
}

/*
 * Who has which batch: a cache without pages has one for every user, unless share_cache says
 * that all users look at the first. Sharded results need a single key head, since a core then
 * has a whole user.
 */
static tt_status check_cache(const struct tt_launch *launch)
{
	const uint32_t *q = launch->inputs[Q]->spec.shape.dim;
	const uint32_t *k = launch->inputs[K]->spec.shape.dim;
	const uint32_t *v = values(launch)->shape.dim;
	uint32_t heads = key_heads(launch);
	struct cut cut;

	cut_of(&cut, launch);
	TT_REQUIRE(launch->inputs[PAGES] || launch->attrs[SHARE].boolean || k[0] == q[1],
		   "k_shape[0] == B", "K tensor batch size (%u) must equal B (%u)", k[0], q[1]);
	TT_REQUIRE(k[2] == v[2], "k_shape[-2] == v_shape[-2]",
		   "K and V tensors must have the same sequence length. K: %u, V: %u", k[2], v[2]);
	TT_REQUIRE(heads == 1 || !tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "!operation_attributes.output_mem_config.is_sharded()",
		   "Sharded output not supported for GQA");
	TT_REQUIRE(heads && cut.heads % heads == 0, "q_shape_unpadded[2] % k_shape[1] == 0",
		   "GQA expects Q to have a multiple of K heads, but got %u and %u", cut.heads,
		   heads);
	TT_REQUIRE(k[1] == v[1], "k_shape[1] == v_shape[1]",
		   "Flash decode expects K and V to have same number of heads, but got %u and %u",
		   k[1], v[1]);
	if (k[0] != v[0] || (cut.local && q[0] * q[1] != 1))
		return tt_fail(TTNN_INVALID,
			       "%u batches of keys, %u of values and queries [%u, %u] do not fit",
			       k[0], v[0], q[0], q[1]);
	return TTNN_OK;
}

/* Latent attention: widths of queries, keys and values. */
static tt_status check_latent(const struct tt_launch *launch)
{
	uint32_t q = launch->inputs[Q]->spec.padded.dim[3],
		 k = launch->inputs[K]->spec.padded.dim[3];
	uint32_t v = values(launch)->padded.dim[3];
	uint32_t width = (uint32_t)launch->attrs[V_WIDTH].integer;

	if (!is_latent(launch))
		return TTNN_OK;
	TT_REQUIRE(q == k, "q_shape[3] == k_shape[3]",
		   "Head dimension of Q must be equal to head dim of K, got %u and %u", q, k);
	TT_REQUIRE(width <= q, "operation_attributes.head_dim_v.value() <= q_shape[3]",
		   "Head dimension of V must be less than or equal to head dim of Q, got %u and %u",
		   width, q);
	TT_REQUIRE(!launch->inputs[V] || v == width,
		   "v_shape[3] == operation_attributes.head_dim_v.value()",
		   "Head dimension of V must be equal to head_dim_v, got %u and %u", v, width);
	return TTNN_OK;
}

/* With pages: a number for each row of the table, which is a user, unless a core has its own. */
static tt_status check_users(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *positions = &launch->inputs[POSITION_TENSOR]->spec;
	const struct ttnn_tensor_spec *pages = &launch->inputs[PAGES]->spec;
	uint32_t users = tt_memory_config_is_sharded(&pages->memory)
				 ? launch->inputs[Q]->spec.padded.dim[1]
				 : pages->padded.dim[0];

	TT_REQUIRE(positions->dtype == TTNN_INT32, "cur_pos_tensor.dtype() == DataType::INT32",
		   "Expect cur_pos to be INT32, got DataType::%s",
		   ttnn_dtype_name(positions->dtype, TTNN_DIALECT_TT_METAL));
	TT_REQUIRE(positions->layout == TTNN_ROW_MAJOR,
		   "cur_pos_tensor.layout() == Layout::ROW_MAJOR",
		   "Expect cur_pos to be ROW_MAJOR, got Layout::TILE");
	TT_REQUIRE(tt_memory_config_is_sharded(&positions->memory) ||
			   tt_shape_last(&positions->padded, 1) == users,
		   "cur_pos_shape[-1] == B",
		   "cur_pos must have batch size equal to Q, got %u and %u",
		   positions->padded.dim[0], users);
	return TTNN_OK;
}

/* They lie in one row, tiles included. */
static tt_status check_positions(const struct tt_tensor *positions)
{
	const struct ttnn_shape *shape = &positions->spec.padded;
	uint64_t volume = 0;

	TT_TRY(ttnn_shape_volume(&volume, shape));
	if (volume == tt_shape_last(shape, 1))
		return TTNN_OK;
	return tt_fail_shapes(TTNN_INVALID, "cur_pos_shape.volume() == cur_pos_shape[-1]",
			      "cur_pos tensor must hold all positions in its last dim (e.g. [B] or "
			      "[1, B]), got shape %s",
			      shape, shape);
}

/*
 * Positions and the table that says where the blocks of each user are. A position of -1 is a
 * user who is not there: its cores do nothing. With pages the positions must be a tensor, as the
 * list would have to be known when the program is made.
 */
static tt_status check_tables(const struct tt_launch *launch)
{
	const struct tt_tensor *positions = launch->inputs[POSITION_TENSOR];
	const struct tt_tensor *pages = launch->inputs[PAGES];
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	uint32_t length = launch->inputs[K]->spec.shape.dim[2];
	bool sharded;

	for (uint32_t i = 0; !pages && list->kind == TTNN_VALUE_LIST && i < list->count; i++)
		TT_REQUIRE((uint64_t)(uint32_t)list->items[i].integer < length ||
				   list->items[i].integer < 0,
			   "cur_pos_val < k_shape[-2]", "cur_pos must be <= K sequence dim");
	if (!pages)
		return positions ? check_positions(positions) : TTNN_OK;
	TT_REQUIRE(!launch->attrs[CAUSAL].boolean || positions,
		   "tensor_args.cur_pos_tensor.has_value()",
		   "Must have cur_pos tensor for paged attention in causal mode");
	if (launch->attrs[CAUSAL].boolean)
		TT_TRY(check_users(launch));
	sharded = tt_memory_config_is_sharded(&pages->spec.memory);
	TT_REQUIRE(sharded || pages->spec.dtype == TTNN_INT32,
		   "page_table_tensor.dtype() == DataType::INT32",
		   "Error: SDPA currently only supports INT32 datatype");
	return TTNN_OK;
}

static tt_status sdpa_decode_validate(struct tt_launch *launch)
{
	const struct ttnn_value *list = &launch->attrs[POSITIONS];
	uint32_t users, given = list->kind == TTNN_VALUE_LIST ? list->count : 0;

	TT_REQUIRE(!is_latent(launch) || launch->attrs[CAUSAL].boolean,
		   "operation_attributes.is_causal",
		   "Multi-latent attention decode only tested for causal!");
	TT_TRY(check_kinds(launch));
	TT_TRY(check_latent(launch));
	TT_REQUIRE(!launch->attrs[CAUSAL].boolean || !launch->inputs[MASK],
		   "not tensor_args.attn_mask.has_value()",
		   "attn_mask must not be provided when is_causal=True. Pass is_causal=False to "
		   "use an explicit mask.");
	TT_TRY(check_paged(launch));
	TT_TRY(check_tables(launch));
	TT_TRY(check_cache(launch));
	users = launch->inputs[Q]->spec.shape.dim[1];
	if (launch->attrs[CAUSAL].boolean && !launch->inputs[POSITION_TENSOR] && given < users)
		return tt_fail(
			TTNN_RANGE,
			"vector::_M_range_check: __n (which is %u) >= this->size() (which is "
			"%u)",
			given, given);
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------------- */

/*
 * How many cores share the columns of one head of a user: all that there are, divided, but no
 * more than max_cores_per_head_batch.
 */
static uint64_t sharers(const struct tt_launch *launch, uint64_t users, uint64_t cores)
{
	uint64_t heads = key_heads(launch);
	uint64_t most = tt_sdpa_number(&launch->attrs[CONFIG], TT_SDPA_MAX_CORES, cores);
	uint64_t all = most * users * heads < cores ? most * users * heads : cores;

	return users && heads && all / users / heads ? all / users / heads : 1;
}

/*
 * Columns of keys at a time, in tiles. k_chunk_size 0 lets the kernel choose at run time by how
 * much there is to read; its buffers are as large as the destination registers then.
 */
static uint64_t k_tiles(const struct tt_launch *launch)
{
	uint64_t chunk = (uint64_t)launch->attrs[K_CHUNK].integer;

	/* 0: as many columns as the matrix engine holds tiles. */
	if (chunk)
		return chunk / TT_TILE;
	return tt_compute_tiles(&launch->attrs[COMPUTE]);
}

/*
 * Few heads are worked on in half tiles. All but keys, values and the result lie in tiles of that
 * height.
 */
struct room {
	const ttnn_core_set *cores;
	uint64_t tile, q_tile;             /* bytes */
	uint64_t high, out_high;           /* rows of tiles of a user's heads, and of its result */
	uint64_t width, out_width, across; /* of a head, of its values, columns at a time: tiles */
	uint64_t values;                   /* tiles */
	uint64_t position, others;         /* bytes; cores besides the first of a head */
	bool local;
};

/*
 * What sizes depend on. Fewer than 17 heads are worked on in tiles of 16 rows; a tile of 32
 * would be half empty, and keys are what takes time. Sums of other cores of a head arrive in one
 * buffer, a result, a maximum and a sum each; there is room for 63 of them in a tree of six
 * levels.
 */
static tt_status room_of(struct room *room, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	struct cut cut;
	struct ttnn_tile form = {TT_TILE, TT_TILE, false};

	cut_of(&cut, launch);
	TT_REQUIRE(cut.groups == 1 || key_heads(launch) == 1,
		   "q_heads_parallel_factor == 1 || num_kv_heads == 1",
		   "Q head parallelization (factor=%u) requires num_kv_heads=1, got %u", cut.groups,
		   key_heads(launch));
	form.height = cut.heads <= TT_FACE ? TT_FACE : TT_TILE;
	*room = (struct room){
		.tile = tt_dtype_tile_bytes(TTNN_BFLOAT16, &form),
		.q_tile = tt_dtype_tile_bytes(in[Q]->spec.dtype, &form),
		.high = tt_div_up(cut.heads, form.height) / cut.groups,
		.out_high = tt_div_up(cut.heads, TT_TILE) / cut.groups,
		.width = in[Q]->spec.padded.dim[3] / TT_TILE,
		.across = k_tiles(launch),
		.position = in[POSITION_TENSOR] ? tt_aligned_page(in[POSITION_TENSOR]) : 0,
		.local = cut.local,
	};
	room->out_width = is_latent(launch) ? (uint64_t)launch->attrs[V_WIDTH].integer / TT_TILE
					    : room->width;
	room->values = room->high * room->out_width;
	TT_TRY(tt_sdpa_cores(&room->cores, launch, &launch->attrs[CONFIG]));
	room->others = sharers(launch, (uint64_t)cut.users * cut.groups,
			       ttnn_core_set_cores(room->cores)) -
		       1;
	TT_REQUIRE(room->others < 64, "num_tree_reduction_rounds <= MAX_TREE_REDUCTION_ROUNDS",
		   "Tree reduction max 6 rounds (64 cores/head), got %llu cores/head",
		   (unsigned long long)room->others + 1);
	return TTNN_OK;
}

/*
 * The factory's circular buffers, in its order. Queries in shards are their own buffer; in rows
 * they are tilized through cb_q_rm first. cb_out_o, _m and _l are what a core sends to the one
 * above it in the tree; row 23 has what it gets from those below.
 */
static tt_status sdpa_decode_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	struct room room;

	TT_TRY(room_of(&room, launch));
	return TT_PLAN(
		plan, room.cores,
		TT_CB_ROW(0, "cb_q_in", .pages = room.high * room.width, .page = room.q_tile,
			  .backing = room.local ? in[Q] : NULL),
		TT_CB_ROW(1, "cb_k_in", .pages = 2 * room.across * room.width,
			  .page = tt_tile_bytes_of(in[K]->spec.dtype)),
		TT_CB_ROW(2, "cb_v_in", .pages = 2 * room.across * room.out_width,
			  .page = tt_tile_bytes_of(values(launch)->dtype)),
		TT_CB_ROW(3, "cb_mask_in", .pages = room.high * room.across, .page = room.tile),
		TT_CB_ROW(4, "cb_attention_sink", .pages = in[SINK] ? room.high : 0,
			  .page = room.tile),
		TT_CB_ROW(5, "cb_identity_scale_in", .pages = 1, .page = room.tile),
		TT_CB_ROW(6, "cb_m_in", .pages = room.high, .page = room.tile),
		TT_CB_ROW(7, "cb_l_in", .pages = room.high, .page = room.tile),
		TT_CB_ROW(8, "cb_writer_cur_pos", .pages = room.position != 0,
			  .page = room.position),
		TT_CB_ROW(15, "cb_compute_cur_pos", .pages = room.position != 0,
			  .page = room.position),
		TT_CB_ROW(9, "cb_page_table", .pages = in[PAGES] != NULL,
			  .page = in[PAGES] ? tt_aligned_page(in[PAGES]) : 0),
		TT_CB_ROW(10, "cb_q_rm", .pages = room.high * room.width, .page = room.q_tile),
		TT_CB_ROW(11, "cb_col_identity", .pages = 1,
			  .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_CB_ROW(12, "cb_zero_in", .pages = 1, .page = room.tile),
		TT_CB_ROW(13, "cb_sliding_window_mask_in",
			  .pages = tt_value_given(&launch->attrs[WINDOW]) ? room.high * room.across
									  : 0,
			  .page = room.tile),
		TT_CB_ROW(24, "cb_qk_im", .pages = room.high * room.across, .page = room.tile),
		TT_CB_ROW(25, "cb_out_im", .pages = room.values, .page = room.tile),
		TT_CB_ROW(26, "cb_out_accumulate_im", .pages = room.values, .page = room.tile),
		TT_CB_ROW(27, "cb_max_1", .pages = room.high, .page = room.tile),
		TT_CB_ROW(28, "cb_max_2", .pages = room.high, .page = room.tile),
		TT_CB_ROW(29, "cb_sum_1", .pages = room.high, .page = room.tile),
		TT_CB_ROW(30, "cb_sum_2", .pages = room.high, .page = room.tile),
		TT_CB_ROW(31, "cb_exp_max_diff", .pages = room.high, .page = room.tile),
		TT_CB_ROW(21, "cb_prev_sum_2", .pages = room.high, .page = room.tile),
		TT_CB_ROW(22, "cb_exp_max_diff_2", .pages = room.high, .page = room.tile),
		TT_CB_ROW(16, "cb_out_o", .pages = room.values, .page = room.tile),
		TT_CB_ROW(17, "cb_out_m", .pages = room.values, .page = room.tile),
		TT_CB_ROW(18, "cb_out_l", .pages = room.high, .page = room.tile),
		TT_CB_ROW(19, NULL, .pages = room.high, .page = room.tile),
		TT_CB_ROW(23, NULL, .pages = room.others * (room.out_width + 2) * room.high,
			  .page = room.tile),
		TT_CB_ROW(20, "cb_out", .pages = room.out_high * room.out_width,
			  .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype),
			  .backing = tt_tensor_is_sharded(launch->outputs[0]) ? launch->outputs[0]
									      : NULL));
}

/* ---- running ----------------------------------------------------------------------------------------------- */

/*
 * One copy of the rows that cores hold, user by user: backends want [1, users, heads, width],
 * and of the copies any will do.
 */
static tt_status sdpa_decode_gather(struct tt_tensor **out, struct tt_tensor *q,
				    const struct cut *cut)
{
	uint32_t width = q->spec.shape.dim[3];
	const struct ttnn_shape shape = TT_SHAPE(1, cut->users, cut->heads, width);
	int64_t rows = (int64_t)cut->copies * cut->group;
	const struct tt_move_loop loops[] = {
		{cut->users, 2, 1, cut->groups * rows, 1},
		{cut->groups, 2, 2, rows, cut->group},
		{cut->group, 2, 2, 1, 1},
		{width, 3, 3, 1, 1},
	};

	TT_TRY(tt_scratch_f32(out, &shape));
	return tt_backend_get()->move(
		&(struct tt_move_job){.out = *out, .in = q, .loops = loops, .loop_count = 4});
}

static tt_status sdpa_decode_kernel(struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	struct tt_attention_job job = {
		.out = launch->outputs[0],
		.q = launch->inputs[Q],
		.k = launch->inputs[K],
		.v = launch->inputs[V],
		.mask = launch->inputs[MASK],
		.pages = launch->inputs[PAGES],
		.sink = launch->inputs[SINK],
		.positions = launch->inputs[POSITION_TENSOR],
		.scale = tt_value_given(&attrs[SCALE])
				 ? attrs[SCALE].real
				 : 1 / sqrt(launch->inputs[Q]->spec.shape.dim[3]),
		.causal = attrs[CAUSAL].boolean,
		.decode = true,
		.window = tt_value_given(&attrs[WINDOW]) ? (uint32_t)attrs[WINDOW].integer : 0,
		.modulo = tt_value_given(&attrs[MODULO]) ? (uint32_t)attrs[MODULO].integer : 0,
	};

	struct cut cut;

	if (!job.positions)
		TT_TRY(tt_cache_positions(&job.position_list, launch, &attrs[POSITIONS]));
	if (is_overridden(launch))
		return tt_cache_attend(&job, &launch->attrs[GEOMETRY]);
	cut_of(&cut, launch);
	if (cut.local)
		TT_TRY(sdpa_decode_gather(&job.q, job.q, &cut));
	return tt_backend_get()->attention(&job);
}

static const struct tt_prog program = {
	.device_op = "SdpaDecodeDeviceOperation",
	.prim = "ttnn::prim::sdpa_decode",
	.attrs = &schema,
	.infer = sdpa_decode_infer,
	.validate = sdpa_decode_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::prim::"
		   "SdpaDecodeDeviceOperation>::DirectDescriptorFactory",
		   sdpa_decode_rows),
	TT_KERNEL(sdpa_decode_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------------- */

/*
 * k_chunk_size: a power of two; without a config the largest up to 512 that divides the cache,
 * with pages 0 (see k_tiles).
 */
static tt_status chunk_of(uint64_t *out, uint64_t columns, const struct ttnn_value *config,
			  bool paged)
{
	uint64_t chunk = tt_sdpa_number(config, TT_SDPA_K_CHUNK, 0), usual = 2;

	*out = chunk;
	TT_REQUIRE((chunk & (chunk - 1)) == 0, "(k_chunk_size & (k_chunk_size - 1)) == 0",
		   "User provided k_chunk_size must be power of 2, got: %llu",
		   (unsigned long long)chunk);
	TT_REQUIRE(chunk % TT_TILE == 0, "k_chunk_size % 32 == 0",
		   "User provided k_chunk_size must be multiple of 32, got: %llu",
		   (unsigned long long)chunk);
	if (chunk || paged)
		return TTNN_OK;
	while (usual < 512 && columns && columns % (2 * usual) == 0)
		usual *= 2;
	*out = usual;
	TT_REQUIRE(usual % TT_TILE == 0, "k_chunk_size % 32 == 0",
		   "Chunk size must be multiple of 32, but the maximum calculated k_chunk_size is: "
		   "%llu",
		   (unsigned long long)usual);
	return TTNN_OK;
}

/* The width of latent values, which a tensor of them has too. */
static tt_status width_of(struct ttnn_value *out, struct tt_call *call,
			  const struct tt_tensor *values)
{
	uint32_t width = (uint32_t)tt_call_int(call, "head_dim_v", 0), have = width;

	if (values)
		have = tt_shape_last(&values->spec.padded, 1);
	TT_REQUIRE(have == width, "input_tensor_v.value().padded_shape()[-1] == head_dim_v",
		   "Head dimension of the V tensor must be equal to head_dim_v parameter value, "
		   "got %u and %u",
		   have, width);
	*out = ttnn_v_int(width);
	return TTNN_OK;
}

/* A paged cache is worked on by one core a head, tile by tile, unless a config says otherwise. */
static tt_status usual_config(struct ttnn_value *out, struct tt_call *call,
			      const struct tt_device *device)
{
	struct ttnn_value *fields = tt_arena_calloc(call->arena, TT_SDPA_FIELDS, sizeof(*fields));

	TT_NEED_MEMORY(fields);
	for (int i = 0; i < TT_SDPA_FIELDS; i++)
		fields[i] = ttnn_v_none();
	fields[TT_SDPA_GRID] =
		(struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = device->info.compute_grid};
	fields[TT_SDPA_Q_CHUNK] = fields[TT_SDPA_K_CHUNK] = ttnn_v_int(TT_TILE);
	fields[TT_SDPA_MAX_CORES] = fields[TT_SDPA_K_SPLITS] = ttnn_v_int(1);
	fields[TT_SDPA_SEGMENTED] = ttnn_v_bool(false);
	*out = tt_value_object(&tt_schema_sdpa, fields);
	return TTNN_OK;
}

static tt_status sdpa_decode_attend(struct tt_call *call, struct tt_tensor *pages, bool latent)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI2, .approx = true};
	static const struct ttnn_memory_config dram;
	struct tt_tensor *const inputs[INPUTS] = {
		[Q] = tt_call_tensor(call, "input_tensor_q"),
		[K] = tt_call_tensor(call, "input_tensor_k"),
		[V] = tt_call_tensor(call, "input_tensor_v"),
		[POSITION_TENSOR] = tt_call_tensor(call, "cur_pos_tensor"),
		[PAGES] = pages,
		[MASK] = tt_call_tensor(call, "attn_mask"),
		[SINK] = tt_call_tensor(call, "attention_sink"),
	};
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_value attrs[schema_count], config = *tt_call_arg(call, "program_config");
	uint64_t columns = tt_shape_last(&inputs[K]->spec.shape, 2), chunk;
	double scale;

	TT_TRY(tt_need_device(inputs[Q]));
	if (pages && !latent && !tt_value_given(&config))
		TT_TRY(usual_config(&config, call, tt_tensor_device(inputs[Q])));
	TT_TRY(chunk_of(&chunk, columns, &config, pages != NULL));
	attrs[CAUSAL] = ttnn_v_bool(tt_call_bool(call, "is_causal", true));
	attrs[PAGED] = ttnn_v_bool(pages != NULL);
	attrs[POSITIONS] = *tt_call_arg(call, "cur_pos");
	if (attrs[POSITIONS].kind != TTNN_VALUE_LIST)
		attrs[POSITIONS] = ttnn_v_list(NULL, 0);
	attrs[SCALE] = tt_value_number(&scale, tt_call_arg(call, "scale")) ? ttnn_v_real(scale)
									   : ttnn_v_none();
	attrs[WINDOW] = *tt_call_arg(call, "sliding_window_size");
	attrs[MEMORY] = ttnn_v_memory(memory ? memory : &dram);
	attrs[CONFIG] = config;
	attrs[COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[K_CHUNK] = ttnn_v_int((int64_t)chunk);
	attrs[SHARE] = *tt_call_arg(call, "share_cache");
	attrs[MLA] = latent ? ttnn_v_bool(true) : ttnn_v_none();
	attrs[V_WIDTH] = ttnn_v_none();
	if (latent)
		TT_TRY(width_of(&attrs[V_WIDTH], call, inputs[V]));
	attrs[GEOMETRY] = tt_cache_geometry_arg(call);
	attrs[MODULO] = *tt_call_arg(call, "cache_position_modulo");
	attrs[SPECULATIVE] = ttnn_v_int(tt_call_int(call, "spec_multi_pos_tiles", 0));
	return TT_LAUNCH_RETURN(call, &program, .attrs = attrs, .inputs = inputs,
				.input_count = INPUTS);
}

static tt_status attend_whole(struct tt_call *call)
{
	return sdpa_decode_attend(call, NULL, false);
}

static tt_status attend_paged(struct tt_call *call)
{
	return sdpa_decode_attend(call, tt_call_tensor(call, "page_table_tensor"), false);
}

static tt_status attend_latent(struct tt_call *call)
{
	return sdpa_decode_attend(call, tt_call_tensor(call, "page_table_tensor"), true);
}

#define QKV "input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, "
#define LATENT                                                                                     \
	"input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor? = None, "         \
	"head_dim_v: size, "
#define CAUSAL_MASK "*, is_causal: bool = True, attn_mask: Tensor? = None, "
#define TAIL                                                                                       \
	"cur_pos_tensor: Tensor? = None, attention_sink: Tensor? = None, scale: float? = None, "   \
	"sliding_window_size: int? = None, memory_config: MemoryConfig? = None, program_config: "  \
	"ProgramConfig? = None, compute_kernel_config: ComputeConfig? = None"
static const struct tt_op ops[] = {
	{.name = "ttnn.transformer.flash_multi_latent_attention_decode",
	 .doc = "Latent attention of a token of every user to what it said before.",
	 .sigs = {LATENT CAUSAL_MASK "cur_pos: ints = [], " TAIL},
	 .expand = attend_latent,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.paged_flash_multi_latent_attention_decode",
	 .doc = "Latent attention of a token of every user to the blocks that a table gives it.",
	 .sigs = {LATENT "page_table_tensor: Tensor, " CAUSAL_MASK TAIL},
	 .expand = attend_latent,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.paged_scaled_dot_product_attention_decode",
	 .doc = "Attention of a token of every user to the blocks that a table gives it.",
	 .sigs = {QKV "page_table_tensor: Tensor, " CAUSAL_MASK TAIL
		      ", paged_cache_geometry: any? = None, cache_position_modulo: int? "
		      "= None, spec_multi_pos_tiles: int = 0"},
	 .expand = attend_paged,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
	{.name = "ttnn.transformer.scaled_dot_product_attention_decode",
	 .doc = "Attention of a token of every user to what it said before.",
	 .sigs = {QKV CAUSAL_MASK "cur_pos: ints = [], " TAIL ", share_cache: bool? = None"},
	 .expand = attend_whole,
	 .golden = tt_golden_attention_decode,
	 .pcc = 0.99,
	 TT_PROGRAMS(&program)},
};

const struct tt_op_family tt_family_attention_decode = {"attention_decode", ops, TT_COUNT(ops)};
