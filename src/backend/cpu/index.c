/* index.c: elements chosen by a tensor of indices: gather, scatter, embedding. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/deadline.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define LOOK 16384 /* elements or rows between two looks at the deadline */

/* The tensors as dense rows. */
struct work {
	const struct tt_index_job *job;
	struct tt_area out, in, index, source;
	struct tt_scratch scratch[4];
	size_t bytes;             /* of an element of out, in and source */
	uint32_t limit;           /* indices are below this */
	uint64_t count;           /* of indices */
	atomic_uint_fast64_t bad; /* an index that is not, plus 1 */
};

/* ---- elements --------------------------------------------------------------------------------- */

static void copy_element(uint8_t *out, const uint8_t *in, size_t bytes)
{
	if (bytes == 2)
		memcpy(out, in, 2);
	else if (bytes == 4)
		memcpy(out, in, 4);
	else
		memcpy(out, in, bytes);
}

/* The place of the element at these indices, with `along` in the place of the one of `dim`. */
static uint64_t place(const struct ttnn_shape *shape, const uint32_t *index, uint32_t dim,
		      uint64_t along)
{
	uint64_t at = 0;

	for (uint32_t d = 0; d < shape->rank; d++)
		at = at * shape->dim[d] + (d == dim ? along : index[d]);
	return at;
}

static void unravel(uint32_t *index, const struct ttnn_shape *shape, uint64_t n)
{
	for (uint32_t d = shape->rank; d-- > 0;) {
		index[d] = (uint32_t)(n % shape->dim[d]);
		n /= shape->dim[d];
	}
}

static bool is_good(struct work *work, uint32_t along)
{
	if (along < work->limit)
		return true;
	atomic_store(&work->bad, (uint_fast64_t)along + 1);
	return false;
}

/* Elements [begin, end) of the index. */
static void gather(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	const uint32_t *along = work->index.data;
	uint32_t index[TTNN_MAX_RANK];

	for (size_t n = begin; n < end; n++) {
		if (!is_good(work, along[n]))
			continue;
		unravel(index, &work->index.shape, n);
		copy_element((uint8_t *)work->out.data + n * work->bytes,
			     (uint8_t *)work->in.data +
				     place(&work->in.shape, index, work->job->dim, along[n]) *
					     work->bytes,
			     work->bytes);
	}
}

static float take_real(enum tt_scatter_mode mode, float old, float new)
{
	switch (mode) {
	case TT_SCATTER_ADD:
		return old + new;
	case TT_SCATTER_MUL:
		return old * new;
	case TT_SCATTER_MIN:
		return new < old || new != new ? new : old;
	default:
		return new > old || new != new ? new : old;
	}
}

/* 32 bits; `turn` makes their order that of signed numbers. */
static uint32_t take_whole(enum tt_scatter_mode mode, uint32_t old, uint32_t new, uint32_t turn)
{
	switch (mode) {
	case TT_SCATTER_ADD:
		return old + new;
	case TT_SCATTER_MUL:
		return old * new;
	case TT_SCATTER_MIN:
		return (new ^ turn) < (old ^ turn) ? new : old;
	default:
		return (new ^ turn) > (old ^ turn) ? new : old;
	}
}

static void take_element(const struct work *work, uint8_t *to, const uint8_t *from)
{
	enum tt_scatter_mode mode = work->job->mode;

	if (mode == TT_SCATTER_SET) {
		copy_element(to, from, work->bytes);
	} else if (work->out.dtype == TTNN_FLOAT32) {
		float old, new;

		memcpy(&old, to, sizeof(old));
		memcpy(&new, from, sizeof(new));
		old = take_real(mode, old, new);
		memcpy(to, &old, sizeof(old));
	} else {
		uint32_t old, new;

		memcpy(&old, to, sizeof(old));
		memcpy(&new, from, sizeof(new));
		old = take_whole(mode, old, new, work->out.dtype == TTNN_INT32 ? 0x80000000u : 0);
		memcpy(to, &old, sizeof(old));
	}
}

/* One after the other: where an index comes twice, the order matters. */
static void scatter(struct work *work, uint64_t count)
{
	const uint32_t *along = work->index.data;
	uint32_t index[TTNN_MAX_RANK], dim = work->job->dim;

	for (uint64_t n = 0; n < count; n++) {
		uint64_t from, to;

		if (n % LOOK == LOOK - 1 && tt_deadline_stop())
			return;
		if (!is_good(work, along[n]))
			continue;
		unravel(index, &work->index.shape, n);
		from = place(&work->source.shape, index, dim, index[dim]);
		to = place(&work->out.shape, index, dim, along[n]);
		take_element(work, (uint8_t *)work->out.data + to * work->bytes,
			     (uint8_t *)work->source.data + from * work->bytes);
	}
}

/* Rows [begin, end) of the result. */
static void embed(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	const uint32_t *along = work->index.data;
	size_t row = (size_t)tt_shape_last(&work->in.shape, 1) * work->bytes;

	for (size_t n = begin; n < end; n++)
		if (is_good(work, along[n]))
			memcpy((uint8_t *)work->out.data + n * row,
			       (uint8_t *)work->in.data + along[n] * row, row);
}

/* Columns [begin, end) of all rows: every sum has one owner, in the order of the index. */
static void add_rows(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	const uint32_t *along = work->index.data;
	size_t width = tt_shape_last(&work->in.shape, 1);
	size_t count = (size_t)work->count;

	for (size_t row = 0; row < work->limit; row++)
		memset((float *)work->out.data + row * width + begin, 0,
		       (end - begin) * sizeof(float));
	for (size_t n = 0; n < count && !(n % LOOK == LOOK - 1 && tt_deadline_stop()); n++) {
		const float *from = (const float *)work->in.data + n * width;
		float *to = (float *)work->out.data + (size_t)along[n] * width;

		if (!is_good(work, along[n]))
			continue;
		for (size_t c = begin; c < end; c++)
			to[c] += from[c];
	}
}

/* ---- the jobs --------------------------------------------------------------------------------- */

static tt_status run(struct work *work)
{
	uint64_t count, all, row = tt_shape_last(&work->in.shape, 1);
	uint_fast64_t bad;

	TT_TRY(ttnn_shape_volume(&count, &work->index.shape));
	work->count = count;
	switch (work->job->kind) {
	case TT_INDEX_GATHER:
		tt_pool_for((size_t)count, TT_CPU_GRAIN / 4, gather, work);
		break;
	case TT_INDEX_SCATTER:
		TT_TRY(ttnn_shape_volume(&all, &work->out.shape));
		tt_cpu_memcpy(work->out.data, work->in.data, all * work->bytes);
		scatter(work, count);
		break;
	case TT_INDEX_EMBEDDING:
		tt_pool_for((size_t)count, (size_t)(TT_CPU_GRAIN / (row ? row : 1)), embed, work);
		break;
	case TT_INDEX_ADD_ROWS:
		tt_pool_for((size_t)row, (size_t)(TT_CPU_GRAIN / (count + 1)) + 1, add_rows, work);
		break;
	}
	bad = atomic_load(&work->bad);
	if (bad)
		return tt_fail(TTNN_INVALID,
			       "index %" PRIu64 " is beyond a dimension of %" PRIu32 " elements",
			       (uint64_t)bad - 1, work->limit);
	return TTNN_OK;
}

/* What elements are copied as, or computed in. */
static enum ttnn_dtype work_dtype(const struct work *work)
{
	enum ttnn_dtype dtype = work->in.dtype;

	if (work->job->kind == TT_INDEX_ADD_ROWS)
		return TTNN_FLOAT32;
	if (work->job->kind != TT_INDEX_SCATTER || work->job->mode == TT_SCATTER_SET)
		return tt_cpu_single(dtype);
	if (!tt_dtype_is_integer(dtype))
		return TTNN_FLOAT32;
	return tt_dtype_find(dtype)->kind == TT_DTYPE_SIGNED ? TTNN_INT32 : TTNN_UINT32;
}

/* All as dense rows; the output too, and copied to its place at the end. */
static tt_status run_dense(struct work *work, const struct tt_area *out)
{
	enum ttnn_dtype dtype = work_dtype(work);
	const struct tt_area in = work->in, index = work->index, source = work->source;

	TT_TRY(tt_cpu_rows(&work->in, &work->scratch[0], &in, dtype));
	TT_TRY(tt_cpu_rows(&work->index, &work->scratch[1], &index, TTNN_UINT32));
	if (work->job->source)
		TT_TRY(tt_cpu_rows(&work->source, &work->scratch[2], &source, dtype));
	work->out = *out;
	if (out->dtype != dtype || !tt_area_is_dense(out) || out->data == work->in.data) {
		TT_TRY(tt_scratch_init(&work->scratch[3], &out->shape, dtype, NULL));
		work->out = work->scratch[3].area;
	}
	work->bytes = tt_dtype_bytes(dtype);
	TT_TRY(run(work));
	return work->scratch[3].block ? tt_cpu_copy(out, &work->out) : TTNN_OK;
}

static tt_status check(const struct tt_index_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape, *out = &job->out->spec.shape;
	const struct ttnn_shape *index = &job->index->spec.shape;
	const struct ttnn_shape *source = job->source ? &job->source->spec.shape : NULL;
	uint64_t rows, count;
	bool fits;

	if (job->kind == TT_INDEX_EMBEDDING) {
		TT_TRY(tt_shape_rows(&rows, out));
		TT_TRY(ttnn_shape_volume(&count, index));
		fits = in->rank >= 2 && rows == count &&
		       tt_shape_last(out, 1) == tt_shape_last(in, 1);
	} else if (job->kind == TT_INDEX_ADD_ROWS) {
		TT_TRY(tt_shape_rows(&rows, in));
		TT_TRY(ttnn_shape_volume(&count, index));
		fits = in->rank >= 2 && rows == count &&
		       tt_shape_last(out, 1) == tt_shape_last(in, 1);
	} else {
		fits = index->rank == in->rank && job->dim < in->rank;
		for (uint32_t d = 0; fits && d < in->rank; d++)
			fits = d == job->dim || index->dim[d] <= in->dim[d];
		if (job->kind == TT_INDEX_GATHER)
			fits = fits && ttnn_shape_equal(out, index);
		else
			fits = fits && ttnn_shape_equal(out, in) && source &&
			       source->rank == index->rank;
		for (uint32_t d = 0; fits && job->kind == TT_INDEX_SCATTER && d < in->rank; d++)
			fits = index->dim[d] <= source->dim[d];
	}
	return fits ? TTNN_OK
		    : tt_fail(TTNN_INTERNAL, "the shapes of an indexing job do not go together");
}

static tt_status index_open(struct work *work, struct tt_session *session)
{
	const struct tt_index_job *job = work->job;
	struct tt_area out;
	uint64_t rows;
	tt_status status;

	TT_TRY(tt_session_read(&work->in, session, job->in));
	TT_TRY(tt_session_read(&work->index, session, job->index));
	if (job->source)
		TT_TRY(tt_session_read(&work->source, session, job->source));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	work->limit = work->in.shape.dim[job->dim];
	if (job->kind == TT_INDEX_EMBEDDING) {
		TT_TRY(tt_shape_rows(&rows, &work->in.shape));
		work->limit = rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
	} else if (job->kind == TT_INDEX_ADD_ROWS) {
		TT_TRY(tt_shape_rows(&rows, &out.shape));
		work->limit = rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
	}
	status = run_dense(work, &out);
	for (int i = 0; i < 4; i++)
		tt_scratch_deinit(&work->scratch[i]);
	return status;
}

tt_status tt_cpu_index(const struct tt_index_job *job)
{
	struct work work = {.job = job};
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(check(job));
	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, index_open(&work, &session));
}
