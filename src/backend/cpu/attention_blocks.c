/*
 * attention_blocks.c: attention over many rows. Keys and values of a key head are packed once; then
 * blocks of rows are multiplied with blocks of keys, softened, and multiplied with the values.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/attention_kernel.h"
#include "base/deadline.h"
#include "base/large.h"
#include "base/pool.h"

#define ROWS TT_GEMM_ROWS
#define KEYS 256 /* columns of a block of scores */

/* One key head of one batch. */
struct unit {
	struct tt_attention *work;
	uint64_t batch, key_head;
	uint64_t low, high;    /* columns that any row sees; low begins a block */
	struct tt_panels k, v; /* of a block; data: of the first */
	size_t k_bytes, v_bytes;
	float *packed;
};

/* Memory of one task, allocated in one block. */
struct room {
	float *q, *scores, *values, *mask;
	float most[ROWS];
	double sum[ROWS];
	float *block;
	size_t bytes;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- packing ----------------------------------------------------------------------------------- */

static struct tt_panels keys_of(const struct unit *unit, uint64_t from)
{
	struct tt_panels panels = unit->k;

	panels.data = (uint8_t *)unit->packed + (from - unit->low) / KEYS * unit->k_bytes;
	panels.cols = (size_t)least(KEYS, unit->high - from);
	return panels;
}

static struct tt_panels values_of(const struct unit *unit, uint64_t from)
{
	struct tt_panels panels = unit->v;
	uint64_t blocks = (unit->high - unit->low + KEYS - 1) / KEYS;

	panels.data = (uint8_t *)unit->packed + blocks * unit->k_bytes +
		      (from - unit->low) / KEYS * unit->v_bytes;
	panels.rows = (size_t)least(KEYS, unit->high - from);
	return panels;
}

static void pack_block(const struct unit *unit, float *room, uint64_t from)
{
	const struct tt_attention *work = unit->work;
	struct tt_panels keys = keys_of(unit, from), values = values_of(unit, from);
	uint64_t at[4] = {unit->batch, unit->key_head, from, values.rows};
	struct tt_matrix matrix = {.row_step = 1, .col_step = (size_t)work->width};
	const float *rows = tt_attention_keys(room, work, &work->k, at);

	matrix.data = rows;
	(void)tt_panels_pack(&keys, &matrix); /* without oneDNN it cannot fail */
	if (!work->shared)
		rows = tt_attention_keys(room, work, &work->v, at);
	matrix = (struct tt_matrix){.data = rows, .row_step = work->v.width, .col_step = 1};
	(void)tt_panels_pack(&values, &matrix);
}

static void pack_blocks(void *context, size_t begin, size_t end)
{
	const struct unit *unit = context;
	struct tt_attention *work = unit->work;
	size_t width = (size_t)(work->width > work->v.width ? work->width : work->v.width);
	size_t bytes = (KEYS + TT_PLANES_MORE) * width * sizeof(float);
	float *room = tt_large_alloc(bytes);

	if (!room)
		work->status = TTNN_NOMEM;
	for (uint64_t n = begin; n < end && room; n++)
		pack_block(unit, room, unit->low + n * KEYS);
	tt_large_free(room, bytes);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* c = or += a · right, where a has any number of rows. */
static void multiply(const struct tt_gemm_fns *fns, float *c, size_t step,
		     const struct tt_gemm_block *all, const struct tt_panels *right)
{
	struct tt_gemm_block block = *all;
	size_t rows = all->rows;

	block.depth = right->rows;
	for (size_t col = 0; col < right->cols; col += fns->nr) {
		block.b = (const float *)right->data + col * right->rows;
		block.cols = (uint32_t)least(fns->nr, right->cols - col);
		for (size_t i = 0; i < rows; i += fns->mr) {
			block.a = all->a + i * all->a_step;
			block.rows = (uint32_t)least(fns->mr, rows - i);
			fns->block(c + i * step + col, step, &block);
		}
	}
}

/* Scores of one row become weights; what was summed up before is scaled to the new maximum. */
static void soften_row(const struct tt_attention *work, struct room *room, size_t i,
		       const uint64_t range[4])
{
	uint64_t from = range[0], count = range[1], low = range[2], high = range[3];
	float *x = room->scores + i * KEYS, *values = room->values + i * work->out_width;
	float most, scale;

	if (high <= low) {
		memset(x, 0, count * sizeof(float));
		return;
	}
	low -= from;
	high -= from;
	most = (float)work->sums->row[TT_SUM_MAX](x + low, (size_t)(high - low));
	if (!(most <= room->most[i])) {
		scale = room->most[i] == -INFINITY ? 0 : expf(room->most[i] - most);
		room->sum[i] *= scale;
		work->sums->line(values, values, (size_t)work->out_width, scale, 0);
		room->most[i] = most;
	}
	memset(x, 0, low * sizeof(float));
	memset(x + high, 0, (count - high) * sizeof(float));
	if (room->most[i] == -INFINITY)
		memset(x + low, 0, (high - low) * sizeof(float));
	else
		room->sum[i] +=
			work->sums->exp(x + low, x + low, (size_t)(high - low), room->most[i]);
}

/* The rows [row, row + rows) of a head with the keys from `from` on. */
static void run_keys(const struct unit *unit, struct room *room, const uint64_t at[3],
		     uint64_t from)
{
	const struct tt_attention *work = unit->work;
	uint64_t head = at[0], row = at[1], rows = at[2];
	struct tt_panels keys = keys_of(unit, from), values = values_of(unit, from);
	struct tt_gemm_block product = {
		.a = room->q, .a_step = (size_t)work->width, .rows = (uint32_t)rows};
	uint64_t count = keys.cols;
	struct tt_scores scores = {unit->batch, head, row, from, (uint32_t)rows, (uint32_t)count};
	size_t step;
	const float *mask = tt_attention_mask(&step, room->mask, work, &scores);

	multiply(work->fns, room->scores, KEYS, &product, &keys);
	for (uint64_t i = 0; i < rows; i++) {
		struct tt_seen seen = tt_attention_seen(work, unit->batch, row + i);
		float *x = room->scores + i * KEYS;
		uint64_t low = seen.low > from ? seen.low : from;

		if (mask)
			work->sums->bias(x, x, mask + i * step, (size_t)count, 1);
		soften_row(work, room, i,
			   (const uint64_t[]){from, count, low, least(seen.high, from + count)});
	}
	product.a = room->scores;
	product.a_step = KEYS;
	product.add = true;
	multiply(work->fns, room->values, (size_t)work->out_width, &product, &values);
}

static void finish(const struct unit *unit, struct room *room, const uint64_t at[3])
{
	const struct tt_attention *work = unit->work;
	struct tt_plane_part part =
		tt_attention_part(work, unit->batch, at[0], at[1], (uint32_t)at[2]);

	for (uint64_t i = 0; i < at[2]; i++) {
		float *values = room->values + i * work->out_width;
		double sum = room->sum[i];

		work->sums->line(values, values, (size_t)work->out_width,
				 sum > 0 || sum != sum ? (float)(1 / sum) : 0, 0);
	}
	tt_planes_store(&work->out, &part, room->values);
}

/* A block of rows of one head: at = {head, first row, rows}. */
static void run_block(const struct unit *unit, struct room *room, const uint64_t at[3])
{
	const struct tt_attention *work = unit->work;
	struct tt_plane_part part =
		tt_attention_part(work, unit->batch, at[0], at[1], (uint32_t)at[2]);
	const float *q = tt_planes_load(room->mask, &work->q, &part);
	size_t count = (size_t)(at[2] * work->width);
	struct tt_seen first = tt_attention_seen(work, unit->batch, at[1]);
	struct tt_seen last = tt_attention_seen(work, unit->batch, at[1] + at[2] - 1);

	work->sums->line(room->q, q, count, (float)work->job->scale, 0);
	memset(room->values, 0, (size_t)(at[2] * work->out_width) * sizeof(float));
	for (uint64_t i = 0; i < at[2]; i++)
		tt_attention_begin(&room->most[i], &room->sum[i], work, at[0]);
	for (uint64_t from = first.low / KEYS * KEYS;
	     from < last.high && tt_deadline_check() == TTNN_OK; from += KEYS)
		run_keys(unit, room, at, from);
	finish(unit, room, at);
}

static bool room_init(struct room *room, const struct tt_attention *work)
{
	size_t width = (size_t)work->width, wide = width > KEYS ? width : KEYS;
	size_t rows = ROWS;

	room->bytes =
		(rows * (width + KEYS + (size_t)work->out_width) + (rows + TT_PLANES_MORE) * wide) *
		sizeof(float);
	room->block = tt_large_alloc(room->bytes);
	if (!room->block)
		return false;
	room->q = room->block;
	room->scores = room->q + rows * width;
	room->values = room->scores + rows * KEYS;
	room->mask = room->values + rows * work->out_width;
	return true;
}

static void run_blocks(void *context, size_t begin, size_t end)
{
	const struct unit *unit = context;
	struct tt_attention *work = unit->work;
	uint64_t blocks = (work->rows + ROWS - 1) / ROWS;
	struct room room;

	if (!room_init(&room, work)) {
		work->status = TTNN_NOMEM;
		return;
	}
	for (uint64_t n = begin; n < end; n++) {
		uint64_t row = n % blocks * ROWS;
		uint64_t at[3] = {unit->key_head * work->groups + n / blocks, row,
				  least(ROWS, work->rows - row)};

		run_block(unit, &room, at);
	}
	tt_large_free(room.block, room.bytes);
}

/* ---- units ------------------------------------------------------------------------------------- */

/* A batch that begins nowhere has nothing to see. */
static void set_range(struct unit *unit)
{
	const struct tt_attention *work = unit->work;
	struct tt_seen first = tt_attention_seen(work, unit->batch, 0);
	struct tt_seen last = tt_attention_seen(work, unit->batch, work->rows - 1);

	unit->low = first.low / KEYS * KEYS;
	unit->high = last.high > unit->low ? last.high : unit->low;
}

static tt_status run_unit(struct tt_attention *work, uint64_t number)
{
	struct unit unit = {
		.work = work,
		.batch = number / work->key_heads,
		.key_head = number % work->key_heads,
		.k = {.fns = work->fns, .rows = (size_t)work->width, .cols = KEYS},
		.v = {.fns = work->fns, .rows = KEYS, .cols = (size_t)work->out_width},
	};
	uint64_t tasks = work->groups * ((work->rows + ROWS - 1) / ROWS), blocks;
	size_t bytes;

	set_range(&unit);
	blocks = (unit.high - unit.low + KEYS - 1) / KEYS;
	unit.k_bytes = tt_panels_bytes(&unit.k);
	unit.v_bytes = tt_panels_bytes(&unit.v);
	bytes = (size_t)blocks * (unit.k_bytes + unit.v_bytes);
	unit.packed = tt_large_alloc(bytes);
	if (!unit.packed)
		return TTNN_NOMEM;
	tt_pool_for((size_t)blocks, 1, pack_blocks, &unit);
	if (work->status == TTNN_OK)
		tt_pool_for((size_t)tasks, 1, run_blocks, &unit);
	tt_large_free(unit.packed, bytes);
	return work->status;
}

static void run_units(void *context, size_t begin, size_t end)
{
	struct tt_attention *work = context;

	for (uint64_t n = begin; n < end && work->status == TTNN_OK; n++)
		if (run_unit(work, n) != TTNN_OK)
			work->status = TTNN_NOMEM;
}

tt_status tt_attention_blocks(struct tt_attention *work)
{
	uint64_t units = work->batches * work->key_heads;
	bool large = work->groups * work->rows >= (uint64_t)8 * ROWS;

	/* Threads share a unit when it is large, so that its keys are packed once at a time. */
	tt_pool_for((size_t)units, large ? (size_t)units : 1, run_units, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}
