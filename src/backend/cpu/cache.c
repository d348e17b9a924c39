/* cache.c: new rows into caches of keys and values. */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/planes.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/shape.h"

#define CHUNK 32 /* rows at a time: as high as any tile */

struct work {
	struct tt_planes cache, in;
	struct tt_pages pages;
	int64_t *starts;
	int64_t *targets; /* batches of the cache */
	uint64_t batches, heads, width;
	uint64_t first, rows; /* of the input's rows: from first to before rows */
	uint64_t valid;       /* so many rows are */
	bool decode;
	_Atomic tt_status status;
};

/* Row `row` of the input, as float32. */
static const float *input_row(float *room, const struct work *work, uint64_t batch, uint64_t head,
			      uint64_t row)
{
	struct tt_plane_part part = {batch, head, row, 1};

	if (work->decode)
		part = (struct tt_plane_part){0, batch, head, 1};
	return tt_planes_load(room, &work->in, &part);
}

/*
 * Writes the input's rows from `row` on that go to one strip of CHUNK rows of the cache, and tells how
 * many they were. The strip is read, changed and stored whole.
 */
static tt_status write_strip(uint64_t *done, const struct work *work, float *rooms,
			     const uint64_t at[3])
{
	uint64_t batch = at[0], head = at[1], row = at[2];
	uint64_t to = (uint64_t)work->starts[batch] + row, count = work->rows - row, skip;
	size_t width = work->cache.width;
	float *strip = rooms, *room = rooms + (CHUNK + TT_PLANES_MORE) * width;
	struct tt_plane_part part = {.inner = head, .rows = UINT32_MAX};
	const float *old;

	TT_TRY(tt_pages_find(&part, &work->pages, &work->cache, (uint64_t)work->targets[batch],
			     to));
	skip = part.row % CHUNK;
	if (count > CHUNK - skip)
		count = CHUNK - skip;
	if (count > part.rows)
		count = part.rows;
	*done = count;
	if (part.outer == TT_NO_PLANE)
		return TTNN_OK;
	part.row -= skip;
	part.rows = work->cache.rows - part.row < CHUNK ? (uint32_t)(work->cache.rows - part.row)
							: CHUNK;
	old = tt_planes_load(strip, &work->cache, &part);
	if (old != strip)
		memcpy(strip, old, part.rows * width * sizeof(float));
	for (uint64_t i = 0; i < count; i++)
		memcpy(strip + (skip + i) * width, input_row(room, work, batch, head, row + i),
		       (size_t)work->width * sizeof(float));
	tt_planes_store(&work->cache, &part, strip);
	return TTNN_OK;
}

/* Tasks are heads of batches. */
static void write_heads(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t width = work->in.width > work->cache.width ? work->in.width : work->cache.width;
	size_t bytes = 2 * (CHUNK + TT_PLANES_MORE) * width * sizeof(float);
	float *rooms = tt_large_alloc(bytes);
	tt_status status = rooms ? TTNN_OK : tt_fail_nomem();

	for (uint64_t n = begin; n < end && status == TTNN_OK; n++) {
		uint64_t at[3] = {n / work->heads, n % work->heads, work->first}, done;

		if (work->starts[at[0]] < 0)
			continue;
		for (; at[2] < work->rows && status == TTNN_OK; at[2] += done)
			status = write_strip(&done, work, rooms, at);
	}
	if (status != TTNN_OK)
		work->status = status;
	tt_large_free(rooms, bytes);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Rows beyond the end are left out, so that messages come from one thread alone. */
static tt_status check(const struct work *work)
{
	for (uint64_t batch = 0; batch < work->batches; batch++) {
		struct tt_plane_part part = {.rows = UINT32_MAX};

		for (uint64_t row = work->first; work->starts[batch] >= 0 && row < work->rows;
		     row += part.rows) {
			part.rows = UINT32_MAX;
			TT_TRY(tt_pages_find(&part, &work->pages, &work->cache,
					     (uint64_t)work->targets[batch],
					     (uint64_t)work->starts[batch] + row));
		}
	}
	return TTNN_OK;
}

static tt_status first_of(int64_t *out, struct tt_session *session, struct tt_tensor *tensor)
{
	int64_t *index;

	TT_TRY(tt_starts_read(&index, session, &(struct tt_starts){.tensor = tensor}, 1));
	*out = *index;
	tt_large_free(index, sizeof(*index));
	return TTNN_OK;
}

/* Of rows that share places the last ones stay; those behind what is valid are left out. */
static void choose_rows(struct work *work)
{
	uint64_t block = work->cache.rows, modulo = work->pages.modulo;

	work->rows = work->decode ? 1 : work->in.rows;
	if (!work->pages.data)
		work->rows = least(work->rows, work->cache.rows);
	if (work->valid < work->rows)
		work->rows = least(work->rows, (work->valid + block - 1) / block * block);
	if (modulo && work->rows > modulo)
		work->first = work->rows - modulo;
}

static tt_status open_areas(struct work *work, const struct tt_cache_job *job,
			    struct tt_session *session)
{
	struct tt_area in, cache;
	int64_t index;

	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_planes_init(&work->in, &in));
	work->batches = job->decode ? work->in.inner : work->in.outer;
	TT_TRY(tt_starts_read(&work->starts, session,
			      &(struct tt_starts){job->positions, job->position_list, job->start},
			      work->batches));
	TT_TRY(tt_pages_read(&work->pages, session, job->pages));
	TT_TRY(tt_starts_read(&work->targets, session,
			      &(struct tt_starts){.tensor = job->batch_index}, work->batches));
	for (uint64_t i = 0; !job->batch_index && i < work->batches; i++)
		work->targets[i] = (int64_t)(job->batch_start + i);
	work->pages.modulo = job->modulo;
	work->valid = UINT64_MAX;
	if (job->valid) {
		TT_TRY(first_of(&index, session, job->valid));
		if (index > 0)
			work->valid = (uint64_t)index;
	}
	TT_TRY(tt_session_write(&cache, session, job->cache, true));
	return tt_planes_init(&work->cache, &cache);
}

static tt_status cache_run(struct work *work)
{
	uint64_t heads = work->decode ? work->in.rows : work->in.inner;
	uint64_t elements;

	work->heads = least(heads, work->cache.inner);
	choose_rows(work);
	work->width = least(work->in.width, work->cache.width);
	TT_TRY(check(work));
	elements = (work->rows + CHUNK) * work->width;
	tt_pool_for((size_t)(work->batches * work->heads),
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (elements + 1)) : 1,
		    write_heads, work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_cpu_cache(const struct tt_cache_job *job)
{
	struct work work = {.decode = job->decode};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, job->in));
	if (volume == 0)
		return TTNN_OK;
	status = open_areas(&work, job, &session);
	if (status == TTNN_OK)
		status = cache_run(&work);
	if (work.starts)
		tt_large_free(work.starts, (size_t)work.batches * sizeof(*work.starts));
	if (work.targets)
		tt_large_free(work.targets, (size_t)work.batches * sizeof(*work.targets));
	tt_scratch_deinit(&work.pages.scratch);
	return tt_session_end(&session, status);
}
