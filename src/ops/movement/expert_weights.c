/*
 * expert_weights.c: weights of experts as the ring of cores reads them that multiplies (moe_compute).
 *
 * Models prepare_w0_w1_tensor_for_moe_compute, prepare_w2_tensor_for_moe_compute, both with bias, add_shared_expert_weights and
 * quantize_weights_via_host of ttnn 0.81: which operations they are made of, in which order, and when each tensor is given up. Letters
 * of the arguments: L layers, E experts, K the hidden and N the intermediate extent.
 */
#include <inttypes.h>

#include "golden/golden_experts.h"
#include "ops/creation/creation.h"
#include "ops/expert_ring.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

#define WIDTH (TT_RING_WIDE * TT_TILE) /* elements of a row of packed weights */
#define PIECES_MAX (3 * TT_RING_MOST)

/* Weights on the way. After the first failure, which `status` keeps, steps do nothing and give NULL. */
struct pack {
	struct tt_call *call;
	tt_status status;
	struct tt_expert_ring ring;
	uint32_t layers, experts;
	struct ttnn_memory_config memory; /* of what is made: that of the weights */
};

/* What will be joined. */
struct pieces {
	struct tt_tensor *items[PIECES_MAX];
	uint32_t count;
};

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static struct tt_tensor *made(struct pack *pack, tt_status status, struct tt_tensor *const *tensor)
{
	pack->status = status;
	return status == TTNN_OK ? *tensor : NULL;
}

static struct tt_tensor *reshaped(struct pack *pack, struct tt_tensor *in, struct ttnn_shape shape)
{
	uint64_t has, wanted;
	struct tt_tensor *out;

	if (pack->status != TTNN_OK)
		return NULL;
	if (ttnn_shape_volume(&has, &in->spec.shape) != TTNN_OK ||
	    ttnn_shape_volume(&wanted, &shape) != TTNN_OK || has != wanted) {
		pack->status = tt_fail_cond(TTNN_INVALID, "new_volume == old_volume",
					    "Invalid arguments to reshape");
		return NULL;
	}
	return made(pack,
		    tt_call_reshape(&out, pack->call,
				    &(struct tt_reshape_args){.in = in, .shape = &shape}),
		    &out);
}

/* With its dimensions in the order of the digits: "0132". */
static struct tt_tensor *permuted(struct pack *pack, struct tt_tensor *in, const char *order)
{
	uint32_t dims[TTNN_MAX_RANK] = {0};
	struct tt_tensor *out;

	if (pack->status != TTNN_OK)
		return NULL;
	for (uint32_t i = 0; order[i]; i++)
		dims[i] = (uint32_t)(order[i] - '0');
	return made(pack,
		    tt_call_permute(&out, pack->call,
				    &(struct tt_permute_args){.in = in, .dims = dims}),
		    &out);
}

/* A part between two corners; where that is all of it, the tensor itself. */
static struct tt_tensor *part_of(struct pack *pack, struct tt_tensor *in,
				 const struct ttnn_shape *begin, const struct ttnn_shape *end)
{
	bool all = true;
	struct tt_tensor *out;

	if (pack->status != TTNN_OK)
		return NULL;
	for (uint32_t d = 0; d < end->rank; d++)
		all = all && !begin->dim[d] && end->dim[d] == in->spec.shape.dim[d];
	if (all)
		return ttnn_tensor_ref(in);
	return made(pack,
		    tt_call_slice(&out, pack->call,
				  &(struct tt_part){.in = in, .begin = begin, .end = end}),
		    &out);
}

/* From one element of a dimension to before another. */
static struct tt_tensor *cut(struct pack *pack, struct tt_tensor *in, uint32_t dim,
			     const uint32_t range[2])
{
	struct ttnn_shape begin = {0}, end;

	if (pack->status != TTNN_OK)
		return NULL;
	end = in->spec.shape;
	begin.rank = end.rank;
	begin.dim[dim] = range[0];
	end.dim[dim] = range[1];
	return part_of(pack, in, &begin, &end);
}
#define CUT(pack, in, dim, from, to) cut(pack, in, dim, (const uint32_t[]){from, to})

/* Zeros with all but the shape of another tensor. */
static struct tt_tensor *zeros(struct pack *pack, const struct tt_tensor *like,
			       struct ttnn_shape shape)
{
	struct tt_tensor *out;

	if (pack->status != TTNN_OK)
		return NULL;
	return made(pack,
		    TT_CALL(&out, pack->call, "ttnn.zeros", {"shape", ttnn_v_shape(&shape)},
			    {"dtype", ttnn_v_dtype(like->spec.dtype)},
			    {"layout", ttnn_v_layout(like->spec.layout)},
			    {"device", ttnn_v_device(tt_tensor_device(like))},
			    {"memory_config", ttnn_v_memory(&like->spec.memory)}),
		    &out);
}

static struct tt_tensor *joined(struct pack *pack, const struct pieces *pieces, uint32_t dim)
{
	struct ttnn_value items[PIECES_MAX];
	struct tt_tensor *out;

	if (pack->status != TTNN_OK)
		return NULL;
	for (uint32_t i = 0; i < pieces->count; i++)
		items[i] = ttnn_v_tensor(pieces->items[i]);
	return made(pack,
		    TT_CALL(&out, pack->call, "ttnn.concat",
			    {"tensors", ttnn_v_list(items, pieces->count)},
			    {"dim", ttnn_v_int(dim)}),
		    &out);
}

static struct tt_tensor *beside(struct pack *pack, struct tt_tensor *a, struct tt_tensor *b,
				uint32_t dim)
{
	return joined(pack, &(struct pieces){{a, b}, 2}, dim);
}

/* The buffer is freed now, whoever else has it. */
static void give_up(struct pack *pack, struct tt_tensor *tensor)
{
	if (tensor)
		tt_call_deallocate(pack->call, tensor);
	ttnn_tensor_unref(tensor);
}

/* One owner less. */
static void let_go(struct pack *pack, struct tt_tensor *tensor)
{
	if (tensor)
		tt_call_drop(pack->call, tensor);
}

static void add(struct pieces *pieces, struct tt_tensor *tensor)
{
	if (tensor)
		pieces->items[pieces->count++] = tensor;
}

/* The pieces as one tensor; they are given up. */
static struct tt_tensor *join_all(struct pack *pack, struct pieces *pieces, uint32_t dim)
{
	struct tt_tensor *out = joined(pack, pieces, dim);

	for (uint32_t i = 0; i < pieces->count; i++)
		give_up(pack, pieces->items[i]);
	pieces->count = 0;
	return out;
}

/*
 * With zeros behind it along a dimension; the tensor itself where it is long enough. Columns (dimension 2) are given up before the
 * zeros, rows behind them.
 */
static struct tt_tensor *lengthened(struct pack *pack, struct tt_tensor *in, uint32_t dim,
				    uint32_t extent)
{
	struct ttnn_shape shape;
	struct tt_tensor *rest, *out;

	if (pack->status != TTNN_OK || in->spec.shape.dim[dim] >= extent)
		return in;
	shape = in->spec.shape;
	shape.dim[dim] = extent - shape.dim[dim];
	rest = zeros(pack, in, shape);
	out = beside(pack, in, rest, dim);
	give_up(pack, dim == 2 ? in : rest);
	give_up(pack, dim == 2 ? rest : in);
	return out;
}

/* ---- gate and up --------------------------------------------------------------------------------------------------- */

/* [L, E, columns, rows, 64]: columns of tiles of both in turn, each pair in its rows. Takes the weights over. */
static struct tt_tensor *in_turn(struct pack *pack, struct tt_tensor *weights[2], uint32_t rows)
{
	uint32_t l = pack->layers, e = pack->experts, columns = pack->ring.between;
	struct tt_tensor *parts[2], *stacked[2], *both, *pairs, *out;

	for (int i = 0; i < 2; i++)
		parts[i] = reshaped(pack, weights[i], TT_SHAPE(l, e, rows, columns, TT_TILE));
	for (int i = 0; i < 2; i++)
		stacked[i] = reshaped(pack, parts[i], TT_SHAPE(l, e, rows, columns, 1, TT_TILE));
	both = beside(pack, stacked[0], stacked[1], 4);
	for (int i = 0; i < 2; i++)
		let_go(pack, stacked[i]);
	for (int i = 0; i < 2; i++)
		let_go(pack, parts[i]);
	for (int i = 0; i < 2; i++) /* a refusal lets go of the last one first */
		let_go(pack, weights[pack->status == TTNN_OK ? i : 1 - i]);
	pairs = reshaped(pack, both, TT_SHAPE(l, e, rows, columns, 2 * TT_TILE));
	out = permuted(pack, pairs, "01324");
	let_go(pack, pairs);
	give_up(pack, both);
	return out;
}

/* Two of the same beside each other: `apart` says which dimension is theirs, `order` brings it before the last. */
static struct tt_tensor *side_by_side(struct pack *pack, struct tt_tensor *in,
				      struct ttnn_shape apart, const char *order,
				      struct ttnn_shape to)
{
	struct tt_tensor *view = reshaped(pack, in, apart), *turned, *out;

	turned = permuted(pack, view, order);
	give_up(pack, view);
	out = reshaped(pack, turned, to);
	give_up(pack, turned);
	return out;
}

/* What was cut from a tensor, unless that was all of it. */
static void give_up_part(struct pack *pack, struct tt_tensor *part, const struct tt_tensor *of)
{
	if (part == of)
		ttnn_tensor_unref(part);
	else
		give_up(pack, part);
}

/* A core's columns as blocks: two pairs beside each other; of an odd one's rows of tiles every other one. */
static void add_columns(struct pieces *pieces, struct pack *pack, struct tt_tensor *slab)
{
	uint32_t l = pack->layers, e = pack->experts, stored, wide, half, even;
	struct tt_tensor *part;

	if (pack->status != TTNN_OK)
		return;
	stored = slab->spec.shape.dim[2];
	even = stored / 2 * 2;
	wide = tt_ring_filled(&pack->ring, pack->ring.in, TT_RING_WIDE) * TT_TILE;
	half = tt_ring_filled(&pack->ring, pack->ring.in, TT_RING_HALF);
	if (even) {
		part = part_of(pack, slab, &(struct ttnn_shape){.rank = 5},
			       &TT_SHAPE(l, e, even, wide, 2 * TT_TILE));
		add(pieces, side_by_side(pack, part, TT_SHAPE(l, e, even / 2, 2, wide, 2 * TT_TILE),
					 "012435", TT_SHAPE(l, e, even / 2 * wide, WIDTH)));
		give_up_part(pack, part, slab);
	}
	if (stored % 2) {
		part = CUT(pack, slab, 2, even, stored);
		add(pieces,
		    side_by_side(pack, part, TT_SHAPE(l, e, half / 2, 2, TT_TILE, 2 * TT_TILE),
				 "012435", TT_SHAPE(l, e, half / 2 * TT_TILE, WIDTH)));
		give_up_part(pack, part, slab);
	}
}

/* Blocks of a bank by the pairs of columns that they are of, where all cores have as many. Takes the tensor over. */
static struct tt_tensor *in_pairs(struct pack *pack, struct tt_tensor *in)
{
	uint32_t pairs = tt_ring_stored(&pack->ring, 0) / 2;
	uint32_t rows = tt_ring_filled(&pack->ring, pack->ring.in, TT_RING_WIDE) * TT_TILE;
	struct tt_tensor *out = reshaped(
		pack, in,
		TT_SHAPE(pack->ring.cores, pack->layers, pack->experts, pairs, rows, WIDTH));

	let_go(pack, in);
	return out;
}

/* All blocks of an expert one after the other, cut into as many pieces as there are banks. `columns` are given up. */
static struct tt_tensor *over_banks(struct pack *pack, struct pieces *pieces,
				    struct tt_tensor *columns)
{
	uint32_t rows = 0, height = tt_ring_block_rows(&pack->ring, TT_RING_WIDE) * TT_TILE, each;
	uint32_t l = pack->layers, e = pack->experts, banks = pack->ring.cores, blocks;
	struct tt_tensor *all, *apart, *out;

	for (uint32_t i = 0; i < pieces->count; i++)
		rows += pieces->items[i]->spec.shape.dim[2];
	blocks = banks ? tt_div_up32(rows / height, banks) : 0;
	each = blocks * height;
	if (pack->status == TTNN_OK && each * banks > rows)
		add(pieces,
		    zeros(pack, pieces->items[0], TT_SHAPE(l, e, each * banks - rows, WIDTH)));
	all = join_all(pack, pieces, 2);
	give_up(pack, columns);
	apart = reshaped(pack, all, TT_SHAPE(l, e, banks, blocks, height, WIDTH));
	out = permuted(pack, apart, "201345");
	let_go(pack, apart);
	give_up(pack, all);
	return tt_ring_is_even(&pack->ring) ? in_pairs(pack, out) : out;
}

/* Both weights with zeros behind their rows, from the same tensor; as they are where they have as many. */
static void fill_rows(struct tt_tensor *out[2], struct pack *pack, struct tt_tensor *const in[2],
		      uint32_t rows)
{
	uint32_t has = pack->ring.in * TT_TILE;
	struct tt_tensor *rest;

	for (int i = 0; i < 2; i++)
		out[i] = has < rows || pack->status != TTNN_OK ? NULL : ttnn_tensor_ref(in[i]);
	if (has >= rows)
		return;
	rest = zeros(
		pack, in[0],
		TT_SHAPE(pack->layers, pack->experts, rows - has, pack->ring.between * TT_TILE));
	for (int i = 0; i < 2; i++)
		out[i] = beside(pack, in[i], rest, 2);
	give_up(pack, rest);
}

static struct tt_tensor *pack_gate_up(struct pack *pack, struct tt_tensor *const weights[2])
{
	const struct tt_expert_ring *ring = &pack->ring;
	uint32_t rows = tt_ring_filled(ring, ring->in, TT_RING_HALF) * TT_TILE, start = 0;
	struct pieces pieces = {.count = 0};
	struct tt_tensor *filled[2], *columns;

	fill_rows(filled, pack, weights, rows);
	columns = in_turn(pack, filled, rows);
	for (uint32_t core = 0; core < ring->cores; core++) {
		uint32_t own = tt_ring_share(ring, ring->between, core);
		struct tt_tensor *slab = CUT(pack, columns, 2, start, start + own);

		slab = lengthened(pack, slab, 2, tt_ring_stored(ring, core));
		add_columns(&pieces, pack, slab);
		give_up_part(pack, slab, columns);
		start += own;
	}
	return over_banks(pack, &pieces, columns);
}

/* ---- down ---------------------------------------------------------------------------------------------------------- */

/* [L, E, rows, K] → [cores, L, E, groups, rows, 128]: every core's columns in groups of four, zeros behind. `done` is given up. */
static struct tt_tensor *in_groups(struct pack *pack, struct tt_tensor *in, uint32_t rows,
				   struct tt_tensor *done)
{
	uint32_t l = pack->layers, e = pack->experts, cores = pack->ring.cores, start = 0;
	uint32_t groups = tt_ring_groups_down(&pack->ring), whole = (groups - 1) * WIDTH;
	struct pieces pieces = {.count = 0};
	struct tt_tensor *all, *apart, *out;

	for (uint32_t core = 0; core < cores; core++) {
		uint32_t own = tt_ring_share_down(&pack->ring, core) * TT_TILE;

		if (whole)
			add(&pieces, CUT(pack, in, 3, start, start + whole));
		if (own > whole)
			add(&pieces, CUT(pack, in, 3, start + whole, start + own));
		if (own < whole + WIDTH)
			add(&pieces, zeros(pack, in, TT_SHAPE(l, e, rows, whole + WIDTH - own)));
		start += own;
	}
	all = join_all(pack, &pieces, 3);
	give_up(pack, done);
	apart = reshaped(pack, all, TT_SHAPE(l, e, rows, cores, groups, WIDTH));
	out = permuted(pack, apart, "301425");
	if (apart)
		tt_call_overwrite(pack->call, apart);
	give_up(pack, all);
	return out;
}

/* One core's rows of tiles in the order in which the ring brings it the others' columns: its own, then backwards. */
static struct tt_tensor *turned(struct pack *pack, struct tt_tensor *slab, uint32_t core)
{
	const struct tt_expert_ring *ring = &pack->ring;
	uint32_t starts[TT_RING_MOST + 1] = {0};
	struct pieces pieces = {.count = 0};

	for (uint32_t i = 0; i < ring->cores; i++)
		starts[i + 1] = starts[i] + tt_ring_share(ring, ring->between, i);
	for (uint32_t i = 0; i < ring->cores; i++) {
		uint32_t from = (core + ring->cores - i) % ring->cores;

		add(&pieces, CUT(pack, slab, 4, starts[from], starts[from + 1]));
	}
	return join_all(pack, &pieces, 4);
}

/* The groups with rows as the ring brings them: [cores, L, E, groups, N, 128]. */
static struct tt_tensor *pack_rows(struct pack *pack, struct tt_tensor *down)
{
	uint32_t l = pack->layers, e = pack->experts, cores = pack->ring.cores;
	uint32_t rows = pack->ring.between * TT_TILE, groups = tt_ring_groups_down(&pack->ring);
	struct tt_tensor *grouped = in_groups(pack, down, rows, NULL), *tiles, *all, *out;
	struct pieces pieces = {.count = 0};

	tiles = reshaped(pack, grouped,
			 TT_SHAPE(cores, l, e, groups, pack->ring.between, TT_TILE, WIDTH));
	for (uint32_t core = 0; core < cores; core++) {
		struct tt_tensor *slab = CUT(pack, tiles, 0, core, core + 1);

		add(&pieces, turned(pack, slab, core));
		give_up(pack, slab);
	}
	let_go(pack, tiles);
	give_up(pack, grouped);
	all = join_all(pack, &pieces, 0);
	out = reshaped(pack, all, TT_SHAPE(cores, l, e, groups, rows, WIDTH));
	let_go(pack, all);
	return out;
}

/* The last group is half as wide: its rows of tiles lie two by two beside each other. Takes the tensor over. */
static struct tt_tensor *halve_last(struct pack *pack, struct tt_tensor *in, uint32_t rows)
{
	uint32_t l = pack->layers, e = pack->experts, cores = pack->ring.cores;
	uint32_t groups = tt_ring_groups_down(&pack->ring), wide = groups - 1;
	uint32_t block = tt_ring_block_rows(&pack->ring, TT_RING_WIDE) * TT_TILE;
	struct ttnn_shape begin = {6, {0, 0, 0, wide}};
	struct ttnn_shape end = TT_SHAPE(cores, l, e, groups, rows, WIDTH / 2);
	struct tt_tensor *whole, *half, *apart, *order, *narrow, *flat, *all, *out;

	whole = CUT(pack, in, 3, 0, wide);
	half = part_of(pack, in, &begin, &end);
	apart = reshaped(pack, half,
			 TT_SHAPE(cores, l, e, rows / (2 * TT_TILE), 2, TT_TILE, WIDTH / 2));
	order = permuted(pack, apart, "0123546");
	give_up(pack, apart);
	narrow = reshaped(pack, order, TT_SHAPE(cores, l, e, rows / 2, WIDTH));
	flat = reshaped(pack, whole, TT_SHAPE(cores, l, e, wide * rows, WIDTH));
	all = beside(pack, flat, narrow, 3);
	give_up(pack, flat);
	give_up(pack, order);
	out = reshaped(pack, all,
		       TT_SHAPE(cores, l, e, (wide * rows + rows / 2) / block, block, WIDTH));
	give_up(pack, narrow);
	give_up(pack, half);
	give_up(pack, in);
	ttnn_tensor_unref(whole);
	ttnn_tensor_unref(all);
	return out;
}

static struct tt_tensor *pack_down(struct pack *pack, struct tt_tensor *down)
{
	uint32_t rows = tt_ring_filled(&pack->ring, pack->ring.between, TT_RING_WIDE) * TT_TILE;
	struct tt_tensor *out = pack_rows(pack, down);

	out = lengthened(pack, out, 4, rows);
	return tt_ring_half_down(&pack->ring) ? halve_last(pack, out, rows) : out;
}

/* ---- bias ------------------------------------------------------------------------------------------------------------ */

/* [L, E, n] as rows of a tile: [L, E, 1, n]. */
static struct tt_tensor *bias_row(struct pack *pack, struct tt_tensor *bias)
{
	if (pack->status != TTNN_OK)
		return NULL;
	return reshaped(pack, bias,
			TT_SHAPE(bias->spec.shape.dim[0], bias->spec.shape.dim[1], 1,
				 bias->spec.shape.dim[2]));
}

static struct tt_tensor *pack_gate_up_bias(struct pack *pack, struct tt_tensor *const in[4])
{
	uint32_t columns = pack->ring.between * TT_TILE;
	struct tt_tensor *rows[2], *rest, *tiles[2], *weights[2], *out;

	for (int i = 0; i < 2; i++)
		rows[i] = bias_row(pack, in[2 + i]);
	rest = zeros(pack, in[2], TT_SHAPE(pack->layers, pack->experts, TT_TILE - 1, columns));
	for (int i = 0; i < 2; i++)
		tiles[i] = beside(pack, rows[i], rest, 2);
	for (int i = 0; i < 2; i++)
		let_go(pack, rows[i]);
	give_up(pack, rest);
	for (int i = 0; i < 2; i++)
		weights[i] = beside(pack, in[i], tiles[i], 2);
	for (int i = 0; i < 2; i++)
		give_up(pack, tiles[i]);
	pack->ring.in++; /* the bias is a row of tiles more */
	out = pack_gate_up(pack, weights);
	for (int i = 0; i < 2; i++)
		give_up(pack, weights[i]);
	return out;
}

/* The row of the bias lies behind the others, on every core at the same place. */
static struct tt_tensor *pack_down_bias(struct pack *pack, struct tt_tensor *const in[2])
{
	uint32_t rows = tt_ring_filled(&pack->ring, pack->ring.between + 1, TT_RING_WIDE) * TT_TILE;
	struct tt_tensor *turned_rows = pack_rows(pack, in[0]), *row, *rest, *tile, *grouped, *out;

	row = bias_row(pack, in[1]);
	rest = zeros(pack, in[1],
		     TT_SHAPE(pack->layers, pack->experts, TT_TILE - 1, pack->ring.in * TT_TILE));
	tile = beside(pack, row, rest, 2);
	let_go(pack, row);
	give_up(pack, rest);
	grouped = in_groups(pack, tile, TT_TILE, tile);
	out = beside(pack, turned_rows, grouped, 4);
	give_up(pack, turned_rows);
	give_up(pack, grouped);
	return lengthened(pack, out, 4, rows);
}

/* ---- the operations -------------------------------------------------------------------------------------------------- */

static tt_status pack_begin(struct pack *pack, struct tt_call *call, const char *first, bool bias)
{
	int64_t l = tt_call_int(call, "L", 0), e = tt_call_int(call, "E", 0);
	int64_t k = tt_call_int(call, "K", 0), n = tt_call_int(call, "N", 0);

	TT_REQUIRE(k % TT_TILE == 0, "K % TILE_SIZE == 0",
		   "K dimension (%" PRId64 ") must be divisible by TILE_SIZE (%u)", k, TT_TILE);
	TT_REQUIRE(n % TT_TILE == 0, "N % TILE_SIZE == 0",
		   "N dimension (%" PRId64 ") must be divisible by TILE_SIZE (%u)", n, TT_TILE);
	TT_NEED(l > 0 && e > 0 && k > 0 && n > 0 && l < INT16_MAX && e < INT16_MAX &&
			k < INT32_MAX / 64 && n < INT32_MAX / 64,
		"extents of experts' weights must be positive, and not beyond what tensors hold");
	*pack = (struct pack){.call = call, .layers = (uint32_t)l, .experts = (uint32_t)e};
	return tt_expert_ring_make(&pack->ring, tt_call_tensor(call, first),
				   (const uint32_t[]){(uint32_t)k, (uint32_t)n}, bias);
}

/* What was packed, in tiles. */
static tt_status pack_end(struct pack *pack, struct tt_tensor *packed)
{
	struct tt_tensor *out;

	if (pack->status == TTNN_OK)
		pack->status =
			TT_CALL(&out, pack->call, "ttnn.to_layout", {NULL, ttnn_v_tensor(packed)},
				{"layout", ttnn_v_layout(TTNN_TILE)});
	let_go(pack, packed);
	return tt_call_give(pack->call, pack->status, &out);
}

/* Weights and biases must be where the first one is, with as many dimensions as they should have. */
static tt_status pack_inputs(struct tt_tensor **out, struct tt_call *call, const char *const *names,
			     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rank = names[i][3] == 'b' ? 3 : 4;

		out[i] = tt_call_tensor(call, names[i]);
		TT_NEED(tt_tensor_device(out[i]) &&
				tt_tensor_device(out[i]) == tt_tensor_device(out[0]),
			"%s must be on the device of the others", names[i]);
		TT_NEED(out[i]->spec.shape.rank == rank, "%s must have %u dimensions, not %u",
			names[i], rank, out[i]->spec.shape.rank);
	}
	return TTNN_OK;
}

static tt_status gate_up_expand(struct tt_call *call)
{
	static const char *const names[] = {"tt_w0", "tt_w1"};
	struct tt_tensor *in[2];
	struct pack pack;

	TT_TRY(pack_begin(&pack, call, names[0], false));
	TT_TRY(pack_inputs(in, call, names, 2));
	return pack_end(&pack, pack_gate_up(&pack, in));
}

static tt_status gate_up_bias_expand(struct tt_call *call)
{
	static const char *const names[] = {"tt_w0", "tt_w1", "tt_b0", "tt_b1"};
	struct tt_tensor *in[4];
	struct pack pack;

	TT_TRY(pack_begin(&pack, call, names[0], true));
	TT_TRY(pack_inputs(in, call, names, 4));
	return pack_end(&pack, pack_gate_up_bias(&pack, in));
}

static tt_status down_expand(struct tt_call *call)
{
	static const char *const names[] = {"tt_w2"};
	struct tt_tensor *in[1];
	struct pack pack;

	TT_TRY(pack_begin(&pack, call, names[0], false));
	TT_TRY(pack_inputs(in, call, names, 1));
	return pack_end(&pack, pack_down(&pack, in[0]));
}

static tt_status down_bias_expand(struct tt_call *call)
{
	static const char *const names[] = {"tt_w2", "tt_b2"};
	struct tt_tensor *in[2];
	struct pack pack;

	TT_TRY(pack_begin(&pack, call, names[0], true));
	TT_TRY(pack_inputs(in, call, names, 2));
	return pack_end(&pack, pack_down_bias(&pack, in));
}

/* Over the host to another type, and back to the device where that is asked for. */
static tt_status quantize_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "device_tensor"), *host, *cast, *out;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	tt_status status;

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_host_from_device(&host, call, in));
	status = tt_host_to_dtype(&cast, call, host, tt_call_dtype(call, "dtype", TTNN_BFLOAT16));
	ttnn_tensor_unref(host);
	if (status != TTNN_OK || !memory)
		return tt_call_give(call, status, &cast);
	status = tt_host_to_device(&out, call, cast, tt_tensor_device(in), memory);
	ttnn_tensor_unref(cast);
	return tt_call_give(call, status, &out);
}

/* ---- shared experts -------------------------------------------------------------------------------------------------- */

/* Every core's tiles of a part at the front of those that it has of a whole, zeros behind. */
static struct tt_tensor *front_of_cores(struct pack *pack, struct tt_tensor *part, uint32_t dim,
					uint32_t whole)
{
	uint32_t tiles = part ? part->spec.shape.dim[dim] / TT_TILE : 0, start = 0;
	struct pieces pieces = {.count = 0};

	for (uint32_t core = 0; part && core < pack->ring.cores && pack->status == TTNN_OK;
	     core++) {
		uint32_t own = tt_ring_share(&pack->ring, tiles, core);
		uint32_t room = tt_ring_share(&pack->ring, whole, core);
		struct ttnn_shape shape = part->spec.shape;

		if (own > room)
			pack->status = tt_fail_cond(
				TTNN_INVALID, "r <= s",
				"TpNt shard (%u) exceeds full-Nt shard (%u) at core %u", own, room,
				core);
		if (own && own <= room)
			add(&pieces,
			    CUT(pack, part, dim, start * TT_TILE, (start + own) * TT_TILE));
		shape.dim[dim] = (room - own) * TT_TILE;
		if (own < room)
			add(&pieces, zeros(pack, part, shape));
		start += own;
	}
	return join_all(pack, &pieces, dim);
}

/* The chip's part of shared experts: chips on the other axis have the others. One chip has all. */
static struct tt_tensor *own_part(struct pack *pack, struct tt_tensor *shared, uint32_t dim)
{
	const struct tt_device *device = tt_tensor_device(shared);
	int64_t axis = 1 - tt_call_int(pack->call, "cluster_axis", 0);
	struct tt_tensor *part;

	if (pack->status != TTNN_OK)
		return NULL;
	if (device->rows * device->cols == 1)
		return ttnn_tensor_ref(shared);
	part = made(pack,
		    TT_CALL(&part, pack->call, "ttnn.mesh_partition",
			    {"input_tensor", ttnn_v_tensor(shared)},
			    {"dim", ttnn_v_int((int64_t)dim - 4)},
			    {"cluster_axis", ttnn_v_int(axis)}),
		    &part);
	if (part && part->spec.shape.dim[dim] % TT_TILE)
		pack->status = tt_fail_cond(
			TTNN_INVALID, "tp_intermediate % TILE_SIZE == 0",
			"TP-split intermediate (%u) must be tile-aligned (TILE_SIZE=%u)",
			part->spec.shape.dim[dim], TT_TILE);
	return part;
}

/* Routed experts and behind them the chip's part of shared ones. */
static struct tt_tensor *with_shared(struct pack *pack, const char *const names[2], uint32_t dim)
{
	struct tt_tensor *routed = tt_call_tensor(pack->call, names[0]), *part, *front, *out;

	part = own_part(pack, tt_call_tensor(pack->call, names[1]), dim);
	front = front_of_cores(pack, part, dim, pack->ring.between);
	let_go(pack, part);
	out = beside(pack, routed, front, 1);
	let_go(pack, front);
	return out;
}

static tt_status shared_expand(struct tt_call *call)
{
	static const char *const names[][2] = {
		{"routed_w0", "shared_w0"}, {"routed_w1", "shared_w1"}, {"routed_w2", "shared_w2"}};
	const struct ttnn_shape *shape = &tt_call_tensor(call, names[0][0])->spec.shape;
	struct pack pack = {.call = call};
	struct tt_tensor *out[3];

	for (uint32_t i = 0; i < TT_COUNT(names); i++)
		for (uint32_t k = 0; k < 2; k++) {
			const struct tt_tensor *weights = tt_call_tensor(call, names[i][k]);

			TT_NEED(weights->spec.shape.rank == 4, "%s must have 4 dimensions, not %u",
				names[i][k], weights->spec.shape.rank);
			TT_TRY(tt_need_device(weights));
		}
	TT_TRY(tt_expert_ring_make(&pack.ring, tt_call_tensor(call, names[0][0]),
				   (const uint32_t[]){shape->dim[2], shape->dim[3]}, false));
	for (uint32_t i = 0; i < TT_COUNT(names); i++)
		out[i] = with_shared(&pack, names[i], i < 2 ? 3 : 2);
	for (uint32_t i = 0; i < TT_COUNT(names); i++)
		if (pack.status == TTNN_OK)
			tt_call_return(call, out[i]);
		else
			let_go(&pack, out[i]);
	return pack.status;
}

#define EXTENTS(order) "*, L: int, E: int, " order
#define PACK_ROW(name_, expand_, golden_, doc_, sig_)                                              \
	{                                                                                          \
		.name = "ttnn.experimental." name_, .family = "expert_weights", .doc = doc_,       \
		.sigs = {sig_}, .expand = expand_, .golden = golden_, .pcc = 0.9999                \
	}

static const struct tt_op ops[] = {
	PACK_ROW("prepare_w0_w1_tensor_for_moe_compute", gate_up_expand, tt_golden_pack_gate_up,
		 "Gate and up of experts as the ring of cores reads them.",
		 "tt_w0: Tensor, tt_w1: Tensor, " EXTENTS("K: int, N: int")),
	PACK_ROW("prepare_w0_w1_tensor_with_bias", gate_up_bias_expand, tt_golden_pack_gate_up,
		 "The same with a row of bias behind each.",
		 "tt_w0: Tensor, tt_w1: Tensor, tt_b0: Tensor, tt_b1: Tensor, " EXTENTS(
			 "K: int, N: int")),
	PACK_ROW("prepare_w2_tensor_for_moe_compute", down_expand, tt_golden_pack_down,
		 "Down of experts as the ring of cores reads it.",
		 "tt_w2: Tensor, " EXTENTS("N: int, K: int")),
	PACK_ROW("prepare_w2_tensor_with_bias", down_bias_expand, tt_golden_pack_down,
		 "The same with a row of bias behind it.",
		 "tt_w2: Tensor, tt_b2: Tensor, " EXTENTS("N: int, K: int")),
	PACK_ROW("quantize_weights_via_host", quantize_expand, tt_golden_quantize_weights,
		 "A tensor in another type, by way of the host.",
		 "device_tensor: Tensor, *, dtype: DataType, memory_config: MemoryConfig?"),
	{.name = "ttnn.experimental.add_shared_expert_weights",
	 .family = "expert_weights",
	 .doc = "Experts that chips share behind those that are their own, cut over the other axis.",
	 .sigs = {"routed_w0: Tensor, routed_w1: Tensor, routed_w2: Tensor, shared_w0: Tensor, "
		  "shared_w1: Tensor, shared_w2: Tensor, cluster_axis: int"},
	 .gives = "Tensor, Tensor, Tensor",
	 .expand = shared_expand,
	 .golden = tt_golden_shared_experts,
	 .pcc = 0.9999},
};

const struct tt_op_family tt_family_expert_weights = {"expert_weights", ops, TT_COUNT(ops)};
