/* softmax_kernel.c: softmax and its logarithm, masked or causal, along any dimension. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/strips.h"
#include "backend/cpu/sums.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384

struct work {
	const struct tt_softmax_job *job;
	const struct tt_sums *fns;
	struct tt_strips strips; /* in, out */
	struct tt_area mask;     /* dense float32 rows; no data: none */
	uint64_t mask_step[TTNN_MAX_RANK];
	uint64_t width;
	_Atomic tt_status status;
};

/* ---- one row ---------------------------------------------------------------------------------- */

/* How many columns of a row there are to keep. */
static uint64_t kept(const struct work *work, uint64_t row)
{
	uint64_t height = tt_shape_last(&work->strips.area[0].shape, 2), i = row % height;

	if (!work->job->causal)
		return work->width;
	if (i + work->width < height)
		return 0;
	return i + work->width - height + 1;
}

/* The mask's part for a row: *bias for its columns, or one number for all. */
static float mask_of(const float **bias, const struct work *work, uint64_t row)
{
	const struct ttnn_shape *shape = &work->strips.area[0].shape;
	const float *at = work->mask.data;

	*bias = NULL;
	if (!at)
		return 0;
	for (uint32_t back = 2; back <= shape->rank; back++) {
		uint32_t d = shape->rank - back;

		at += row % shape->dim[d] * work->mask_step[d];
		row /= shape->dim[d];
	}
	if (tt_shape_last(&work->mask.shape, 1) == 1)
		return *at;
	*bias = at;
	return 0;
}

static void soften(const struct work *work, float *y, const float *x, uint64_t row)
{
	const struct tt_sums *fns = work->fns;
	size_t count = (size_t)kept(work, row), width = (size_t)work->width;
	const float *bias;
	float add = mask_of(&bias, work, row), most = 0;
	double sum;

	if (bias)
		fns->bias(y, x, bias, count, (float)work->job->scale);
	else
		fns->line(y, x, count, (float)work->job->scale, add);
	if (work->job->stable)
		most = (float)fns->row[TT_SUM_MAX](y, count);
	if (work->job->log) {
		float rest[1024];

		sum = 0;
		for (size_t from = 0; from < count; from += 1024)
			sum += fns->exp(rest, y + from, count - from < 1024 ? count - from : 1024,
					most);
		if (count)
			fns->line(y, y, count, 1, (float)-((double)most + log(sum)));
	} else {
		sum = fns->exp(y, y, count, most);
		fns->line(y, y, count, (float)(1 / sum), 0);
	}
	for (size_t i = count; i < width; i++)
		y[i] = count == 0 ? NAN : work->job->log ? -INFINITY : 0;
}

/* ---- all rows --------------------------------------------------------------------------------- */

static void soften_strips(void *context, size_t begin, size_t end)
{
	struct work *work = context;
	size_t bytes = (size_t)(work->strips.tall * work->width) * sizeof(float);
	float *rooms = tt_large_alloc(2 * bytes);
	struct tt_strip strip;

	if (!rooms)
		work->status = TTNN_NOMEM;
	for (uint64_t i = begin; i < end && rooms; i++) {
		const float *x;
		float *y = rooms + bytes / sizeof(float);

		tt_strip_get(&strip, &work->strips, i);
		x = tt_part_load(rooms, &strip.part[0], TTNN_FLOAT32);
		if (strip.part[1].dtype == TTNN_FLOAT32 && tt_area_is_dense(&strip.part[1]))
			y = strip.part[1].data;
		for (uint32_t row = 0; row < strip.rows && !tt_strips_stop(work->width); row++)
			soften(work, y + row * work->width, x + row * work->width,
			       strip.first + row);
		if (y != strip.part[1].data)
			tt_part_store(&strip.part[1], y, TTNN_FLOAT32);
	}
	tt_large_free(rooms, 2 * bytes);
}

/* Along the last dimension. */
static tt_status soften_rows(const struct tt_softmax_job *job, const struct tt_area *out,
			     const struct tt_area *in, const struct tt_area *mask)
{
	struct work work = {.job = job, .fns = tt_sums_get()};
	uint64_t step = 1, elements;

	tt_strips_init(&work.strips, (const struct tt_area *const[]){in, out, NULL},
		       STRIP_ELEMENTS);
	work.width = tt_shape_last(&in->shape, 1);
	if (mask) {
		work.mask = *mask;
		step = tt_shape_last(&mask->shape, 1);
		for (uint32_t back = 2; back <= mask->shape.rank; back++) {
			uint32_t extent = tt_shape_last(&mask->shape, back);

			work.mask_step[in->shape.rank - back] = extent == 1 ? 0 : step;
			step *= extent;
		}
	}
	elements = work.strips.tall * work.width;
	tt_pool_for((size_t)work.strips.count,
		    elements < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / elements) : 1, soften_strips,
		    &work);
	return work.status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- other dimensions --------------------------------------------------------------------------- */

/* The mask in as many dimensions as the input, so that they can be turned alike. */
static struct tt_area with_rank(const struct tt_area *mask, uint32_t rank)
{
	struct ttnn_shape shape = {.rank = rank};

	for (uint32_t back = 1; back <= rank; back++)
		shape.dim[rank - back] = tt_shape_last(&mask->shape, back);
	return tt_area_rows(mask->data, &shape, mask->dtype);
}

static tt_status soften_transposed(const struct tt_softmax_job *job, const struct tt_area *out,
				   const struct tt_area *in, const struct tt_area *mask)
{
	struct tt_scratch rows = {0}, transposed = {0};
	tt_status status = tt_turn_in(&rows, in, job->dim, TTNN_FLOAT32);

	if (status == TTNN_OK && mask) {
		struct tt_area full = with_rank(mask, in->shape.rank);

		status = tt_turn_in(&transposed, &full, job->dim, TTNN_FLOAT32);
	}
	if (status == TTNN_OK)
		status = soften_rows(job, &rows.area, &rows.area, mask ? &transposed.area : NULL);
	if (status == TTNN_OK)
		status = tt_turn_out(out, &rows.area, job->dim);
	tt_scratch_deinit(&rows);
	tt_scratch_deinit(&transposed);
	return status;
}

/* ---- the job ------------------------------------------------------------------------------------ */

static tt_status check(const struct tt_softmax_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	const struct ttnn_shape *mask = job->mask ? &job->mask->spec.shape : NULL;

	if (!ttnn_shape_equal(in, &job->out->spec.shape) || job->dim >= in->rank ||
	    (job->causal && job->dim + 1 != in->rank))
		return tt_fail(TTNN_INTERNAL, "no softmax along dimension %u of %u", job->dim,
			       in->rank);
	for (uint32_t back = 1; mask && back <= mask->rank; back++)
		if (mask->rank > in->rank || (tt_shape_last(mask, back) != 1 &&
					      tt_shape_last(mask, back) != tt_shape_last(in, back)))
			return tt_fail(TTNN_INTERNAL, "the mask cannot be broadcast to the input");
	return TTNN_OK;
}

static tt_status softmax_open(const struct tt_softmax_job *job, struct tt_session *session)
{
	struct tt_area out, in, mask, rows;
	struct tt_scratch scratch = {0};
	tt_status status = TTNN_OK;

	TT_TRY(tt_session_read(&in, session, job->in));
	if (job->mask)
		TT_TRY(tt_session_read(&mask, session, job->mask));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	if (job->mask)
		status = tt_cpu_rows(&rows, &scratch, &mask, TTNN_FLOAT32);
	if (status == TTNN_OK && job->dim + 1 == in.shape.rank)
		status = soften_rows(job, &out, &in, job->mask ? &rows : NULL);
	else if (status == TTNN_OK)
		status = soften_transposed(job, &out, &in, job->mask ? &rows : NULL);
	tt_scratch_deinit(&scratch);
	return status;
}

tt_status tt_cpu_softmax(const struct tt_softmax_job *job)
{
	struct tt_session session = {0};
	uint64_t volume;

	TT_TRY(tt_cpu_volume(&volume, job->in));
	TT_TRY(check(job));
	if (volume == 0)
		return TTNN_OK;
	return tt_session_end(&session, softmax_open(job, &session));
}
