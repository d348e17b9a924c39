/*
 * sort_kernel.c: the first values along a dimension, in order, and where they were.
 *
 * An element becomes a 64-bit key: above, 32 bits that order as the value does; below, its index. So
 * no two keys are equal, any way of sorting is stable, and the result does not depend on it.
 */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/strips.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384
#define SHORT_MOST 32 /* elements that are sorted by insertion */
#define FEW 16        /* at most every 16th wanted: the rest need not be sorted */

struct work {
	const struct tt_sort_job *job;
	struct tt_strips strips; /* in, values, indices (those that are wanted) */
	enum ttnn_dtype dtype;   /* of the rows: float32, or 32 bits of integers */
	uint32_t width, count;
	_Atomic tt_status status;
};

/* ---- keys ------------------------------------------------------------------------------------- */

/* Floats: zeros are equal, NaN is above infinity. */
static inline uint32_t order_real(uint32_t bits)
{
	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return UINT32_MAX;
	if ((bits & 0x7fffffffu) == 0)
		bits = 0;
	return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static void make_keys(uint64_t *keys, const uint32_t *row, const struct work *work)
{
	uint32_t turn = work->dtype == TTNN_INT32 ? 0x80000000u : 0;

	for (uint32_t i = 0; i < work->width; i++) {
		uint32_t order = work->dtype == TTNN_FLOAT32 ? order_real(row[i]) : row[i] ^ turn;

		if (work->job->descending)
			order = ~order;
		keys[i] = (uint64_t)order << 32 | i;
	}
}

/* ---- sorting ---------------------------------------------------------------------------------- */

static void sort_short(uint64_t *keys, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint64_t key = keys[i];
		uint32_t k = i;

		for (; k > 0 && keys[k - 1] > key; k--)
			keys[k] = keys[k - 1];
		keys[k] = key;
	}
}

/* By bytes, the low ones first; the indices are in order already. Returns where the result is. */
static uint64_t *sort_bytes(uint64_t *keys, uint64_t *room, uint32_t count)
{
	uint32_t found[4][256] = {{0}};

	for (uint32_t i = 0; i < count; i++)
		for (int byte = 0; byte < 4; byte++)
			found[byte][keys[i] >> (32 + 8 * byte) & 255]++;
	/* Between two of them all positions are there, in some order. */
	for (int byte = 0; byte < 4 && !tt_strips_stop(count); byte++) {
		uint32_t next = 0;
		uint64_t *other = room;

		if (found[byte][keys[0] >> (32 + 8 * byte) & 255] == count)
			continue; /* all the same */
		for (int value = 0; value < 256; value++) {
			uint32_t here = found[byte][value];

			found[byte][value] = next;
			next += here;
		}
		for (uint32_t i = 0; i < count; i++)
			room[found[byte][keys[i] >> (32 + 8 * byte) & 255]++] = keys[i];
		room = keys;
		keys = other;
	}
	return keys;
}

/* Lets the key at `at` sink to its place in a heap with the largest on top. */
static void sink(uint64_t *heap, uint32_t count, uint32_t at)
{
	uint64_t key = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			break;
		child += child + 1 < count && heap[child + 1] > heap[child];
		if (heap[child] <= key)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = key;
}

/* The least `wanted` keys come to the front, sorted. */
static void sort_few(uint64_t *keys, uint32_t count, uint32_t wanted)
{
	for (uint32_t i = wanted / 2; i-- > 0;)
		sink(keys, wanted, i);
	for (uint32_t i = wanted; i < count; i++)
		if (keys[i] < keys[0]) {
			keys[0] = keys[i];
			sink(keys, wanted, 0);
		}
	for (uint32_t left = wanted; left > 1;) {
		uint64_t largest = keys[0];

		keys[0] = keys[--left];
		keys[left] = largest;
		sink(keys, left, 0);
	}
}

static const uint64_t *sort_row(uint64_t *keys, const struct work *work)
{
	if (work->count <= work->width / FEW) {
		sort_few(keys, work->width, work->count);
		return keys;
	}
	if (work->width <= SHORT_MOST) {
		sort_short(keys, work->width);
		return keys;
	}
	return sort_bytes(keys, keys + work->width, work->width);
}

/* ---- all rows --------------------------------------------------------------------------------- */

/* What one thread works with, in one block. */
struct room {
	uint64_t *keys; /* two rows */
	uint32_t *in, *values, *indices;
};

static size_t room_bytes(const struct work *work)
{
	size_t keys = 2 * (size_t)work->width * sizeof(uint64_t);
	size_t rows = (size_t)work->strips.tall * sizeof(uint32_t);

	return keys + rows * ((size_t)work->width + 2 * (size_t)work->count);
}

static struct room room_in(void *block, const struct work *work)
{
	struct room room = {.keys = block};

	room.in = (uint32_t *)(room.keys + 2 * (size_t)work->width);
	room.values = room.in + work->strips.tall * work->width;
	room.indices = room.values + work->strips.tall * work->count;
	return room;
}

static void store(const struct work *work, const struct tt_strip *strip, const struct room *room)
{
	uint32_t next = 1;

	if (work->job->values)
		tt_part_store(&strip->part[next++], room->values, work->dtype);
	if (work->job->indices)
		tt_part_store(&strip->part[next], room->indices, TTNN_UINT32);
}

static void sort_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	void *block = tt_large_alloc(room_bytes(work));
	struct tt_strip strip;
	struct room room;

	if (!block) {
		work->status = TTNN_NOMEM;
		return;
	}
	room = room_in(block, work);
	for (uint64_t i = begin; i < end; i++) {
		const uint32_t *rows;

		tt_strip_get(&strip, &work->strips, i);
		rows = tt_part_load(room.in, &strip.part[0], work->dtype);
		for (uint32_t row = 0; row < strip.rows && !tt_strips_stop(work->width); row++) {
			const uint32_t *x = rows + (size_t)row * work->width;
			const uint64_t *sorted;

			make_keys(room.keys, x, work);
			sorted = sort_row(room.keys, work);
			for (uint32_t k = 0; k < work->count; k++) {
				size_t at = (size_t)row * work->count + k;

				room.indices[at] = (uint32_t)sorted[k];
				room.values[at] = x[(uint32_t)sorted[k]];
			}
		}
		store(work, &strip, &room);
	}
	tt_large_free(block, room_bytes(work));
}

/* Along the last dimension; either output may be NULL. */
static tt_status sort_rows(struct work *work, const struct tt_area *in,
			   const struct tt_area *values, const struct tt_area *indices)
{
	const struct tt_area *areas[TT_STRIPS_AREAS] = {in, values ? values : indices,
							values ? indices : NULL};
	uint64_t elements;

	tt_strips_init(&work->strips, areas, STRIP_ELEMENTS);
	elements = work->strips.tall * work->width;
	tt_pool_for((size_t)work->strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / elements) : 1, sort_strips,
		    work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- the job ---------------------------------------------------------------------------------- */

static tt_status sort_transposed(struct work *work, const struct tt_area *in,
				 const struct tt_area *values, const struct tt_area *indices)
{
	uint32_t dim = work->job->dim;
	struct ttnn_shape shape = tt_transposed(&in->shape, dim);
	struct tt_scratch rows = {0}, first = {0}, second = {0};
	tt_status status = tt_turn_in(&rows, in, dim, work->dtype);

	shape.dim[shape.rank - 1] = work->count;
	if (status == TTNN_OK && values)
		status = tt_scratch_init(&first, &shape, work->dtype, NULL);
	if (status == TTNN_OK && indices)
		status = tt_scratch_init(&second, &shape, TTNN_UINT32, NULL);
	if (status == TTNN_OK)
		status = sort_rows(work, &rows.area, values ? &first.area : NULL,
				   indices ? &second.area : NULL);
	if (status == TTNN_OK && values)
		status = tt_turn_out(values, &first.area, dim);
	if (status == TTNN_OK && indices)
		status = tt_turn_out(indices, &second.area, dim);
	tt_scratch_deinit(&rows);
	tt_scratch_deinit(&first);
	tt_scratch_deinit(&second);
	return status;
}

static tt_status check(const struct tt_sort_job *job, const struct tt_tensor *out)
{
	struct ttnn_shape shape = job->in->spec.shape;

	if (job->dim >= shape.rank || job->count > shape.dim[job->dim])
		return tt_fail(TTNN_INTERNAL, "no %llu elements along dimension %u",
			       (unsigned long long)job->count, job->dim);
	shape.dim[job->dim] = (uint32_t)job->count;
	if (out && !ttnn_shape_equal(&out->spec.shape, &shape))
		return tt_fail(TTNN_INTERNAL, "the result of a sort has another shape");
	return TTNN_OK;
}

static tt_status sort_open(const struct tt_sort_job *job, struct tt_session *session)
{
	struct work work = {.job = job, .dtype = TTNN_FLOAT32, .count = (uint32_t)job->count};
	enum tt_dtype_class kind = tt_dtype_find(job->in->spec.dtype)->kind;
	struct tt_area in, values, indices;

	if (kind == TT_DTYPE_SIGNED || kind == TT_DTYPE_UNSIGNED)
		work.dtype = kind == TT_DTYPE_SIGNED ? TTNN_INT32 : TTNN_UINT32;
	work.width = job->in->spec.shape.dim[job->dim];
	TT_TRY(tt_session_read(&in, session, job->in));
	if (job->values)
		TT_TRY(tt_session_write(&values, session, job->values, false));
	if (job->indices)
		TT_TRY(tt_session_write(&indices, session, job->indices, false));
	if (job->dim + 1 == in.shape.rank)
		return sort_rows(&work, &in, job->values ? &values : NULL,
				 job->indices ? &indices : NULL);
	return sort_transposed(&work, &in, job->values ? &values : NULL,
			       job->indices ? &indices : NULL);
}

tt_status tt_cpu_sort(const struct tt_sort_job *job)
{
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, job->in));
	TT_TRY(check(job, job->values));
	TT_TRY(check(job, job->indices));
	if (volume == 0 || job->count == 0)
		return TTNN_OK;
	return tt_session_end(&session, sort_open(job, &session));
}
