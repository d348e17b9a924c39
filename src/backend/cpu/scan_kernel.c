/* scan_kernel.c: running sums and products along any dimension. */
#include <stdatomic.h>

#include "backend/cpu/strips.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

struct work {
	const struct tt_scan_job *job;
	struct tt_strips strips; /* in, out */
	enum ttnn_dtype dtype;   /* of the rows: float32, or 32 bits of integers */
	uint64_t width;
	_Atomic tt_status status;
};

/* In float64; rounded at every element, never before. */
static void scan_real(const struct work *work, float *y, const float *x)
{
	bool product = work->job->product;
	double sum = product;

	for (uint64_t i = 0; i < work->width; i++) {
		uint64_t k = work->job->reverse ? work->width - 1 - i : i;

		if (work->job->average)
			sum = work->job->keep * sum + (1 - work->job->keep) * x[k];
		else
			sum = product ? sum * x[k] : sum + x[k];
		y[k] = (float)sum;
	}
}

/* The low 32 bits are what any integer type keeps. */
static void scan_whole(const struct work *work, uint32_t *y, const uint32_t *x)
{
	bool product = work->job->product;
	uint32_t sum = product;

	for (uint64_t i = 0; i < work->width; i++) {
		uint64_t k = work->job->reverse ? work->width - 1 - i : i;

		sum = product ? sum * x[k] : sum + x[k];
		y[k] = sum;
	}
}

static void scan_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t count = (size_t)(work->strips.tall * work->width), bytes = count * sizeof(uint32_t);
	uint32_t *rooms = tt_large_alloc(2 * bytes);
	struct tt_strip strip;

	if (!rooms)
		work->status = TTNN_NOMEM;
	for (uint64_t i = begin; i < end && rooms; i++) {
		uint32_t *y = rooms + count;
		const uint32_t *x;

		tt_strip_get(&strip, &work->strips, i);
		x = tt_part_load(rooms, &strip.part[0], work->dtype);
		for (uint32_t row = 0; row < strip.rows && !tt_strips_stop(work->width); row++) {
			uint64_t at = row * work->width;

			if (work->dtype == TTNN_FLOAT32)
				scan_real(work, (float *)(void *)(y + at),
					  (const float *)(const void *)(x + at));
			else
				scan_whole(work, y + at, x + at);
		}
		tt_part_store(&strip.part[1], y, work->dtype);
	}
	tt_large_free(rooms, 2 * bytes);
}

static tt_status scan_rows(struct work *work, const struct tt_area *out, const struct tt_area *in)
{
	uint64_t elements;

	tt_strips_init(&work->strips, (const struct tt_area *const[]){in, out, NULL},
		       STRIP_ELEMENTS);
	work->width = tt_shape_last(&in->shape, 1);
	elements = work->strips.tall * work->width;
	tt_pool_for((size_t)work->strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / elements) : 1, scan_strips,
		    work);
	return work->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

static tt_status scan_open(const struct tt_scan_job *job, struct tt_session *session)
{
	struct work work = {.job = job, .dtype = TTNN_FLOAT32};
	enum tt_dtype_class kind = tt_dtype_find(job->in->spec.dtype)->kind;
	struct tt_scratch rows = {0};
	struct tt_area out, in;
	tt_status status;

	if (kind == TT_DTYPE_SIGNED || kind == TT_DTYPE_UNSIGNED)
		work.dtype = kind == TT_DTYPE_SIGNED ? TTNN_INT32 : TTNN_UINT32;
	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	if (job->dim + 1 == in.shape.rank)
		return scan_rows(&work, &out, &in);
	TT_TRY(tt_turn_in(&rows, &in, job->dim, work.dtype));
	status = scan_rows(&work, &rows.area, &rows.area);
	if (status == TTNN_OK)
		status = tt_turn_out(&out, &rows.area, job->dim);
	tt_scratch_deinit(&rows);
	return status;
}

tt_status tt_cpu_scan(const struct tt_scan_job *job)
{
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, job->in));
	if (!ttnn_shape_equal(&job->in->spec.shape, &job->out->spec.shape) ||
	    job->dim >= job->in->spec.shape.rank)
		return tt_fail(TTNN_INTERNAL, "no running sum along dimension %u of %u", job->dim,
			       job->in->spec.shape.rank);
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, scan_open(job, &session));
}
