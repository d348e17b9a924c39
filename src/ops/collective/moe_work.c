/* moe_work.c: see moe_work.h. */
#include "ops/collective/moe_work.h"

#include "ops/collective/exchange.h"
#include "tensor/bf16.h"

/* Which chips experts are on in the eyes of one: its row of the mapping, or the only one. */
static const double *owners_for(const struct tt_moe_work *work, uint32_t chip)
{
	return work->mapping + (work->owners > work->all ? (uint64_t)chip * work->all : 0);
}

/* The place of a chip's own expert among those; UINT32_MAX for those of others. */
static uint32_t own_place(const struct tt_moe_work *work, double expert)
{
	uint32_t all = work->all, place = 0;
	const double *own = owners_for(work, work->chip);

	for (uint32_t i = 0; i < all; i++) {
		if (own[i] != work->chip)
			continue;
		if (i == expert)
			return place < work->experts ? place : UINT32_MAX;
		place++;
	}
	return UINT32_MAX;
}

/* The chip that a token came from: along the axis each has as many. */
static uint32_t source_of(const struct tt_launch *launch, const struct tt_moe_work *work,
			  uint32_t token)
{
	uint32_t rows = launch->device->rows, cols = launch->device->cols, each, place;

	each = work->tokens / (work->along ? cols : rows);
	place = each ? token / each : 0;
	return work->along ? work->chip / cols * cols + place : place * cols + work->chip % cols;
}

static bool all_the_same(const double *ids, uint32_t k)
{
	for (uint32_t i = 1; i < k; i++)
		if (ids[i] != ids[0])
			return false;
	return k > 1;
}

/* A token's row, if one of its choices is an expert of the chip. */
static void take_token(struct tt_moe_work *work, const struct tt_launch *launch, uint32_t token)
{
	uint32_t k = work->k, all = work->all, place;
	uint32_t experts = work->experts, words = work->row_words;
	uint32_t source = source_of(launch, work, token), step = work->map_words;
	const double *ids = work->ids + (uint64_t)token * k;
	uint32_t *row = work->active + (uint64_t)work->found * words, *map;
	bool found = false;

	if (work->unsent && all_the_same(ids, k))
		return;
	for (uint32_t i = 0; i < k; i++) {
		if (!(ids[i] < all) || source >= tt_chip_count(launch) ||
		    owners_for(work, source)[(uint64_t)ids[i]] != work->chip)
			continue;
		place = own_place(work, ids[i]);
		if (place == UINT32_MAX || work->counts[place] > work->tokens)
			continue;
		found = true;
		row[0] = token;
		row[1 + place] = i;
		row[1 + experts + place] =
			tt_bf16_store((float)work->scores[(uint64_t)token * k + i]);
		map = work->maps +
		      ((uint64_t)place * (work->tokens + 1) + work->counts[place]) * step;
		map[0] = token;
		if (work->slots)
			map[1] = i;
		work->counts[place]++;
	}
	work->found += found;
}

void tt_moe_find(struct tt_moe_work *work, const struct tt_launch *launch)
{
	uint32_t experts = work->experts, tokens = work->tokens, rows = work->rows;
	uint32_t words = work->row_words, step = work->map_words, *row;

	for (uint32_t t = 0; t < rows; t++)
		for (uint32_t e = 0; e < experts; e++)
			work->active[(uint64_t)t * words + 1 + e] = work->k + 1;
	for (uint32_t t = 0; t < tokens; t++)
		take_token(work, launch, t);
	row = work->active + (uint64_t)work->found * words;
	if (work->found < rows) {
		row[0] = UINT32_MAX;
		memset(row + words, 0, (uint64_t)(rows - 1 - work->found) * words * sizeof(*row));
	}
	for (uint32_t e = 0; e < experts; e++)
		if (work->counts[e] <= tokens)
			work->maps[((uint64_t)e * (tokens + 1) + work->counts[e]) * step] =
				UINT32_MAX;
}
