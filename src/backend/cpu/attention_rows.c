/*
 * attention_rows.c: attention of few rows over many keys, as when one token follows another: what it
 * costs is reading keys and values, so they are read once, for all heads that share them, and the
 * columns are shared out among the threads in splits whose results are put together at the end.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/attention_kernel.h"
#include "base/large.h"
#include "base/pool.h"

#define SPLIT 512 /* columns */
#define CHUNK 32  /* rows of keys that are read at a time */

struct rows {
	struct tt_attention *work;
	uint64_t count;       /* rows that share a key head */
	uint64_t splits, low; /* the first column is low × SPLIT */
	size_t size;          /* floats of a result: largest score, sum, values */
	float *results;       /* [batch][key head][split][row] */
};

static float *result_at(const struct rows *rows, const uint64_t at[3], uint64_t row)
{
	uint64_t unit = at[0] * rows->work->key_heads + at[1];

	return rows->results + ((unit * rows->splits + at[2]) * rows->count + row) * rows->size;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- a split ------------------------------------------------------------------------------------ */

/* Memory of one task, allocated in one block. */
struct room {
	float *q, *keys, *scores, *mask;
	float *block;
	size_t bytes;
};

static bool room_init(struct room *room, const struct rows *rows)
{
	const struct tt_attention *work = rows->work;
	size_t count = (size_t)rows->count, width = (size_t)work->width;
	size_t wide = width > work->v.width ? width : work->v.width;

	room->bytes = ((2 * count + TT_PLANES_MORE) * width + (CHUNK + TT_PLANES_MORE) * wide +
		       count * SPLIT + (count + TT_PLANES_MORE) * SPLIT) *
		      sizeof(float);
	room->block = tt_large_alloc(room->bytes);
	if (!room->block)
		return false;
	room->q = room->block;
	room->keys = room->q + (2 * count + TT_PLANES_MORE) * width;
	room->scores = room->keys + (CHUNK + TT_PLANES_MORE) * wide;
	room->mask = room->scores + count * SPLIT;
	return true;
}

/* The queries that share a key head, scaled: heads first. */
static void load_queries(const struct rows *rows, struct room *room, const uint64_t at[3])
{
	const struct tt_attention *work = rows->work;
	uint64_t heads = work->job->decode ? 1 : work->groups;
	uint32_t each = (uint32_t)(rows->count / heads);
	float *other = room->q + rows->count * work->width;

	for (uint64_t h = 0; h < heads; h++) {
		struct tt_plane_part part =
			tt_attention_part(work, at[0], at[1] * work->groups + h, 0, each);

		work->sums->line(room->q + h * each * work->width,
				 tt_planes_load(other, &work->q, &part),
				 (size_t)(each * work->width), (float)work->job->scale, 0);
	}
}

static void score(const struct rows *rows, struct room *room, const uint64_t at[3],
		  const struct tt_seen *span)
{
	const struct tt_attention *work = rows->work;
	size_t width = (size_t)work->width;

	for (uint64_t from = span->low; from < span->high; from += CHUNK) {
		uint64_t count = least(CHUNK, span->high - from);
		const float *keys = tt_attention_keys(
			room->keys, work, &work->k, (const uint64_t[]){at[0], at[1], from, count});

		for (uint64_t i = 0; i < rows->count; i++)
			for (uint64_t j = 0; j < count; j++)
				room->scores[i * SPLIT + from - span->low + j] = work->fns->dot(
					room->q + i * width, keys + j * width, width);
	}
}

/* Scores of one row become weights; tells the largest score and the sum. */
static void soften(const struct rows *rows, struct room *room, const uint64_t at[3], uint64_t i,
		   const struct tt_seen *span)
{
	const struct tt_attention *work = rows->work;
	uint64_t head = at[1] * work->groups + i / work->rows, row = i % work->rows;
	struct tt_seen seen = tt_attention_seen(work, at[0], row);
	struct tt_scores scores = {at[0],     head, row,
				   span->low, 1,    (uint32_t)(span->high - span->low)};
	float *x = room->scores + i * SPLIT, *result = result_at(rows, at, i);
	uint64_t low = seen.low > span->low ? seen.low - span->low : 0;
	uint64_t high = least(seen.high, span->high);
	size_t step;
	const float *mask = tt_attention_mask(&step, room->mask, work, &scores);

	high = high > span->low + low ? high - span->low : low;
	if (mask)
		work->sums->bias(x, x, mask, scores.count, 1);
	memset(x, 0, low * sizeof(float));
	memset(x + high, 0, (size_t)(scores.count - high) * sizeof(float));
	result[0] = (float)work->sums->row[TT_SUM_MAX](x + low, (size_t)(high - low));
	result[1] = 0;
	if (result[0] == -INFINITY)
		memset(x + low, 0, (size_t)(high - low) * sizeof(float));
	else
		result[1] =
			(float)work->sums->exp(x + low, x + low, (size_t)(high - low), result[0]);
}

static void weigh(const struct rows *rows, struct room *room, const uint64_t at[3],
		  const struct tt_seen *span)
{
	const struct tt_attention *work = rows->work;

	for (uint64_t i = 0; i < rows->count; i++)
		memset(result_at(rows, at, i) + 2, 0, (size_t)work->out_width * sizeof(float));
	for (uint64_t from = span->low; from < span->high; from += CHUNK) {
		uint64_t count = least(CHUNK, span->high - from);
		const float *values = tt_attention_keys(
			room->keys, work, &work->v, (const uint64_t[]){at[0], at[1], from, count});

		for (uint64_t i = 0; i < rows->count; i++) {
			const float *weights = room->scores + i * SPLIT + from - span->low;
			float *result = result_at(rows, at, i) + 2;

			for (uint64_t j = 0; j < count; j++)
				if (weights[j] != 0)
					work->fns->axpy(result, values + j * work->v.width,
							(size_t)work->out_width, weights[j]);
		}
	}
}

static void run_split(const struct rows *rows, struct room *room, const uint64_t at[3])
{
	const struct tt_attention *work = rows->work;
	struct tt_seen first = tt_attention_seen(work, at[0], 0);
	struct tt_seen last = tt_attention_seen(work, at[0], work->rows - 1);
	uint64_t begin = (rows->low + at[2]) * SPLIT;
	struct tt_seen span = {first.low / CHUNK * CHUNK, least(last.high, begin + SPLIT)};

	span.low = span.low > begin ? span.low : begin;
	if (span.high <= span.low) {
		for (uint64_t i = 0; i < rows->count; i++)
			result_at(rows, at, i)[0] = -INFINITY;
		return;
	}
	load_queries(rows, room, at);
	score(rows, room, at, &span);
	for (uint64_t i = 0; i < rows->count; i++)
		soften(rows, room, at, i, &span);
	weigh(rows, room, at, &span);
}

static void run_splits(void *context, size_t begin, size_t end)
{
	const struct rows *rows = context;
	struct tt_attention *work = rows->work;
	struct room room;

	if (!room_init(&room, rows)) {
		work->status = TTNN_NOMEM;
		return;
	}
	for (uint64_t n = begin; n < end; n++) {
		uint64_t unit = n / rows->splits;

		run_split(rows, &room,
			  (const uint64_t[]){unit / work->key_heads, unit % work->key_heads,
					     n % rows->splits});
	}
	tt_large_free(room.block, room.bytes);
}

/* ---- putting splits together -------------------------------------------------------------------- */

static void join(const struct rows *rows, float *to, const uint64_t unit[2], uint64_t i)
{
	const struct tt_attention *work = rows->work;
	size_t width = (size_t)work->out_width;
	float most;
	double sum;

	tt_attention_begin(&most, &sum, work, unit[1] * work->groups + i / work->rows);
	memset(to, 0, width * sizeof(float));
	for (uint64_t s = 0; s < rows->splits; s++) {
		const float *part = result_at(rows, (const uint64_t[]){unit[0], unit[1], s}, i);
		float scale = 1;

		if (part[0] == -INFINITY)
			continue;
		if (!(part[0] <= most)) {
			float old = most == -INFINITY ? 0 : expf(most - part[0]);

			work->sums->line(to, to, width, old, 0);
			sum *= old;
			most = part[0];
		} else {
			scale = expf(part[0] - most);
		}
		work->fns->axpy(to, part + 2, width, scale);
		sum += (double)part[1] * scale;
	}
	work->sums->line(to, to, width, sum > 0 || sum != sum ? (float)(1 / sum) : 0, 0);
}

/* Whole batches: in decoding their heads are rows of one plane. */
static void join_batches(void *context, size_t begin, size_t end)
{
	const struct rows *rows = context;
	struct tt_attention *work = rows->work;
	size_t width = (size_t)work->out_width;
	size_t bytes = (size_t)(work->heads * work->rows) * width * sizeof(float);
	float *all = tt_large_alloc(bytes);

	if (!all) {
		work->status = TTNN_NOMEM;
		return;
	}
	for (uint64_t batch = begin; batch < end; batch++) {
		for (uint64_t n = 0; n < work->heads * work->rows; n++)
			join(rows, all + n * width, (const uint64_t[]){batch, n / rows->count},
			     n % rows->count);
		for (uint64_t head = 0; head < work->heads; head++) {
			struct tt_plane_part part =
				tt_attention_part(work, batch, head, 0, (uint32_t)work->rows);

			if (work->job->decode)
				part.rows = (uint32_t)work->heads;
			tt_planes_store(&work->out, &part, all + head * work->rows * width);
			if (work->job->decode)
				break;
		}
	}
	tt_large_free(all, bytes);
}

/* ---- all ----------------------------------------------------------------------------------------- */

tt_status tt_attention_rows(struct tt_attention *work)
{
	struct rows rows = {
		.work = work,
		.count = work->groups * work->rows,
		.low = UINT64_MAX,
		.size = 2 + (size_t)work->out_width,
	};
	uint64_t high = 0, tasks;
	size_t bytes;

	for (uint64_t batch = 0; batch < work->batches; batch++) {
		struct tt_seen first = tt_attention_seen(work, batch, 0);
		struct tt_seen last = tt_attention_seen(work, batch, work->rows - 1);

		rows.low = least(rows.low, first.low / SPLIT);
		high = last.high > high ? last.high : high;
	}
	rows.splits = high > rows.low * SPLIT ? (high - rows.low * SPLIT + SPLIT - 1) / SPLIT : 1;
	tasks = work->batches * work->key_heads * rows.splits;
	bytes = (size_t)(tasks * rows.count) * rows.size * sizeof(float);
	rows.results = tt_large_alloc(bytes);
	if (!rows.results)
		return tt_fail_nomem();
	tt_pool_for((size_t)tasks, 1, run_splits, &rows);
	if (work->status == TTNN_OK)
		tt_pool_for((size_t)work->batches, 4, join_batches, &rows);
	tt_large_free(rows.results, bytes);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}
