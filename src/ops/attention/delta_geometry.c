/*
 * delta_geometry.c: where heads of gated delta nets lie on cores, when one program makes the parts of chunks (producers) and goes
 * through them (receivers). Models the placements of ChunkGdnDeviceOperation of ttnn 0.81. Its model of what is fastest
 * is followed for layouts with producers of each head's own; not modelled: that it takes a pool of producers by itself.
 */
#include "ops/attention/delta_chunk.h"

/* What the model takes for parts of a chunk, and for what is before, behind and between, in µs. */
#define PART_US 15.98
#define FIRST_US 31.99
#define TAIL_US 9.76
#define CORE_US 0.042
#define HEAD_US 0.34

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A receiver's step, by its values in tiles; deeper buffers hide what goes between; 0: it was never measured. */
static double step_us(uint32_t values, uint32_t depth)
{
	static const double steps[5][2] = {
		[1] = {4.1, 3.173}, [2] = {2.9, 2.633}, [4] = {4.503, 4.503}};

	return values < TT_COUNT(steps) ? steps[values][depth > 2] : 0;
}

/* Two programs, one after the other: measured for so many heads. */
static double phased_us(uint32_t heads, uint32_t chunks)
{
	static const struct {
		uint32_t heads;
		double us;
	} points[] = {{0, 258.1}, {8, 461.5}, {12, 603}, {16, 769.4}, {32, 1278.8}, {48, 1907.9}};
	size_t i = 1;

	if (heads > 48)
		return 1907.9 * heads / 48 * chunks / 64;
	while (points[i].heads < heads)
		i++;
	return (points[i - 1].us + (points[i].us - points[i - 1].us) *
					   (heads - points[i - 1].heads) /
					   (points[i].heads - points[i - 1].heads)) *
	       chunks / 64;
}

static double fused_us(const struct tt_delta_need *need, const struct tt_delta_layout *layout)
{
	uint32_t producers = layout->placement == TT_DELTA_SHARED_POOL
				     ? layout->producers / need->heads
				     : layout->producers;
	double parts =
		TAIL_US + PART_US * (double)tt_div_up(need->chunks, producers ? producers : 1);
	double steps = FIRST_US + step_us(need->values / layout->receivers, layout->depth) *
					  (need->chunks - 1.0);
	double us = parts > steps ? parts : steps;

	if (layout->placement == TT_DELTA_ROW_MAJOR)
		us *= 1.7;
	return us + CORE_US * need->heads * producers + HEAD_US * (need->heads - 1.0);
}

bool tt_delta_fits_rows(const struct tt_delta_need *need, uint32_t receivers, uint32_t producers)
{
	uint32_t side = receivers + producers, in_row, rest, left, wide;

	if (!receivers || !producers || side > need->grid.x)
		return false;
	in_row = need->grid.x / side;
	if (need->heads <= in_row * need->grid.y)
		return true;
	rest = need->heads - in_row * need->grid.y;
	left = need->grid.x - in_row * side;
	wide = least(receivers, left);
	return left && receivers % wide == 0 &&
	       rest * (receivers / wide + tt_div_up(producers, left)) <= need->grid.y;
}

uint32_t tt_delta_home(const struct tt_delta_need *need, uint32_t receivers, uint32_t pool)
{
	uint32_t home = need->heads ? least(pool / need->heads, need->grid.x) : 0;

	while (home && !tt_delta_fits_rows(need, receivers, home))
		home--;
	return home;
}

/* ---- the choice ------------------------------------------------------------------------------------------------- */

struct choice {
	const struct tt_delta_need *need;
	struct tt_delta_layout best;
	double us;
	uint32_t cores;
};

/* The faster one; then that with fewer cores, fewer receivers, less depth, which come first. */
static void consider(struct choice *choice, const struct tt_delta_layout *layout)
{
	const struct tt_delta_need *need = choice->need;
	uint32_t producers = layout->placement == TT_DELTA_SHARED_POOL
				     ? layout->producers
				     : need->heads * layout->producers;
	uint32_t cores = need->heads * layout->receivers + producers;
	double us = fused_us(need, layout);

	if (choice->cores && (us > choice->us || (us == choice->us && cores >= choice->cores)))
		return;
	choice->best = *layout;
	choice->us = us;
	choice->cores = cores;
}

static void consider_depths(struct choice *choice, struct tt_delta_layout layout)
{
	uint32_t depth = choice->need->depth;

	layout.depth = depth ? depth : 2;
	consider(choice, &layout);
	layout.depth = depth ? depth : 3;
	if (!layout.extra)
		consider(choice, &layout);
}

static void consider_rows(struct choice *choice, uint32_t receivers)
{
	const struct tt_delta_need *need = choice->need;
	uint32_t all = need->grid.x * need->grid.y;
	uint32_t wanted = least(need->producers, need->chunks);

	for (uint32_t n = 1; n + receivers <= need->grid.x; n++) {
		uint32_t producers = least(n, need->chunks);

		if (need->heads * (receivers + producers) > all)
			break;
		if ((!wanted || producers == wanted) &&
		    tt_delta_fits_rows(need, receivers, producers))
			consider_depths(choice,
					(struct tt_delta_layout){producers, receivers, 0,
								 TT_DELTA_ROW_BY_ROW, 0, 1});
	}
}

/* Producers wherever receivers leave room. */
static void consider_rest(struct choice *choice, uint32_t receivers)
{
	const struct tt_delta_need *need = choice->need;
	uint32_t all = need->grid.x * need->grid.y, producers;

	if (receivers > need->grid.x || need->heads > need->grid.x / receivers * need->grid.y)
		return;
	producers = need->producers ? need->producers : all / need->heads - receivers;
	producers = least(producers, need->chunks);
	if (producers && need->heads * (receivers + producers) <= all)
		consider_depths(choice, (struct tt_delta_layout){producers, receivers, 0,
								 TT_DELTA_ROW_MAJOR, 0, 1});
}

static void consider_pool(struct choice *choice, uint32_t receivers)
{
	const struct tt_delta_need *need = choice->need;
	uint32_t all = need->grid.x * need->grid.y, pool, home;

	if (need->heads * receivers >= all)
		return;
	pool = least(need->producers ? need->producers : all - need->heads * receivers,
		     need->heads * need->chunks);
	home = tt_delta_home(need, receivers, pool);
	if (home && need->heads * receivers + pool <= all)
		consider_depths(choice,
				(struct tt_delta_layout){pool, receivers, 0, TT_DELTA_SHARED_POOL,
							 pool - need->heads * home,
							 pool > need->heads * home ? pool : 1});
}

/* All receivers that a head may have. */
static void consider_all(struct choice *choice, void (*way)(struct choice *, uint32_t))
{
	const struct tt_delta_need *need = choice->need;

	for (uint32_t receivers = 1; receivers <= 8; receivers *= 2)
		if ((!need->receivers || need->receivers == receivers) &&
		    need->values % receivers == 0 && step_us(need->values / receivers, 2) > 0)
			way(choice, receivers);
}

bool tt_delta_choose(struct tt_delta_layout *out, bool *pays, const struct tt_delta_need *need)
{
	struct choice choice = {.need = need};

	if (need->pool <= 0 && need->heads && need->chunks) {
		consider_all(&choice, consider_rows);
		if (!choice.cores && need->local <= 0)
			consider_all(&choice, consider_rest);
	}
	if (need->pool && need->heads && need->chunks &&
	    (!choice.cores || choice.best.placement == TT_DELTA_ROW_MAJOR))
		consider_all(&choice, consider_pool);
	*out = choice.best;
	*pays = choice.cores && choice.us < phased_us(need->heads, need->chunks);
	return choice.cores;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

struct places {
	struct ttnn_core *receivers, *producers;
	size_t *counts;
	const struct tt_delta_need *need;
};

static void put(struct ttnn_core *list, size_t *count, uint32_t x, uint32_t y)
{
	list[(*count)++] = (struct ttnn_core){x, y};
}

/* A row, or a part of one, for each head; the last heads in columns that are left. */
static void place_rows(struct places *p, uint32_t receivers, uint32_t producers)
{
	uint32_t side = receivers + producers, in_row = p->need->grid.x / side;
	uint32_t heads = least(p->need->heads, in_row * p->need->grid.y);
	uint32_t left = p->need->grid.x - in_row * side, x = in_row * side;
	uint32_t wide = least(receivers, left);

	for (uint32_t h = 0; h < heads; h++)
		for (uint32_t i = 0; i < side; i++)
			put(i < receivers ? p->receivers : p->producers, &p->counts[i >= receivers],
			    h % in_row * side + i, h / in_row);
	for (uint32_t h = heads; h < p->need->heads; h++) {
		uint32_t tall = receivers / wide;
		uint32_t y = (h - heads) * (tall + (uint32_t)tt_div_up(producers, left));

		for (uint32_t i = 0; i < receivers; i++)
			put(p->receivers, &p->counts[0], x + i % wide, y + i / wide);
		for (uint32_t i = 0; i < producers; i++)
			put(p->producers, &p->counts[1], x + i % left, y + tall + i / left);
	}
}

static bool is_taken(const struct places *p, uint32_t x, uint32_t y, size_t producers)
{
	for (size_t i = 0; i < p->counts[0]; i++)
		if (p->receivers[i].x == x && p->receivers[i].y == y)
			return true;
	for (size_t i = 0; i < producers; i++)
		if (p->producers[i].x == x && p->producers[i].y == y)
			return true;
	return false;
}

/* Producers on what is free, row after row. */
static void place_rest(struct places *p, size_t producers)
{
	size_t before = p->counts[1];

	for (uint32_t y = 0; y < p->need->grid.y; y++)
		for (uint32_t x = 0; x < p->need->grid.x && p->counts[1] < producers; x++)
			if (!is_taken(p, x, y, before))
				put(p->producers, &p->counts[1], x, y);
}

tt_status tt_delta_place(struct ttnn_core *receivers, struct ttnn_core *producers, size_t counts[2],
			 const struct tt_delta_need *need, const struct tt_delta_layout *layout)
{
	struct places p = {receivers, producers, counts, need};
	uint32_t all = need->grid.x * need->grid.y, in_row = need->grid.x / layout->receivers;
	bool pool = layout->placement == TT_DELTA_SHARED_POOL;
	uint32_t home = pool ? tt_delta_home(need, layout->receivers, layout->producers)
			     : layout->producers;
	uint32_t wanted = pool ? layout->producers : need->heads * layout->producers;

	counts[0] = counts[1] = 0;
	TT_NEED(need->heads * layout->receivers + wanted <= all, "heads do not fit %u cores", all);
	if (layout->placement == TT_DELTA_ROW_MAJOR) {
		TT_NEED(in_row && need->heads <= in_row * need->grid.y, "heads do not fit %u cores",
			all);
		for (uint32_t i = 0; i < need->heads * layout->receivers; i++)
			put(receivers, &counts[0],
			    i / layout->receivers % in_row * layout->receivers +
				    i % layout->receivers,
			    i / layout->receivers / in_row);
	} else {
		TT_NEED(home && tt_delta_fits_rows(need, layout->receivers, home),
			"heads do not fit %u cores", all);
		place_rows(&p, layout->receivers, home);
	}
	place_rest(&p, wanted);
	return TTNN_OK;
}
