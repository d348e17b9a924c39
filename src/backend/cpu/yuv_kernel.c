/* yuv_kernel.c: pictures in red, green and blue as bytes of brightness and colour, those of four pixels in one. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"
#include "base/pool.h"
#include "tensor/shape.h"

/* The picture as dense rows of float32, a plane as dense bytes. */
struct work {
	const float *in;
	uint8_t *out;
	const float *terms;            /* red, green, blue, what is added */
	uint32_t share;                /* so many pixels down and across are one */
	uint64_t width, times, colour; /* of the picture; pixels times their times of one colour */
};

static uint8_t byte_of(double sum)
{
	return (uint8_t)rint(fmin(fmax(sum, 0), 255));
}

/* Sums are of doubles: products of bfloat16 are exact there. */
static void fill_pixel(const struct work *work, uint64_t pixel)
{
	uint64_t across = work->width / work->share, share = work->share, times = work->times;
	uint64_t first = (pixel / across * share * work->width + pixel % across * share) * times;
	double parts = 1.0 / (double)(share * share);

	for (uint64_t t = 0; t < times; t++) {
		double sum = 0;

		for (uint64_t c = 0; c < 3; c++) {
			const float *at = work->in + c * work->colour + first + t;
			double colour = 0;

			for (uint64_t k = 0; k < share * share; k++)
				colour += (double)at[(k / share * work->width + k % share) * times];
			sum += (double)work->terms[c] * parts * colour;
		}
		work->out[pixel * times + t] = byte_of(sum + (double)work->terms[3]);
	}
}

static void fill_pixels(void *context, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		fill_pixel(context, i);
}

static tt_status fill_plane(struct work *work, struct tt_session *session, struct tt_tensor *plane,
			    struct tt_scratch *scratch)
{
	struct tt_area out;
	uint64_t count;

	TT_TRY(tt_session_write(&out, session, plane, false));
	TT_TRY(tt_scratch_init(scratch, &out.shape, TTNN_UINT8, NULL));
	TT_TRY(ttnn_shape_volume(&count, &out.shape));
	work->out = scratch->area.data;
	tt_pool_for((size_t)(count / work->times), TT_CPU_GRAIN / work->times + 1, fill_pixels,
		    work);
	return tt_cpu_copy(&out, &scratch->area);
}

static tt_status run(const struct tt_yuv_job *job, struct tt_session *session,
		     struct tt_scratch scratch[4])
{
	const struct ttnn_shape *shape = &job->in->spec.shape;
	struct work work = {.width = shape->dim[2], .times = shape->dim[3]};
	struct tt_area in, rows;

	work.colour = shape->dim[1] * work.width * work.times;
	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_cpu_rows(&rows, &scratch[3], &in, TTNN_FLOAT32));
	work.in = rows.data;
	for (int p = 0; p < 3; p++) {
		work.share = p ? 2 : 1;
		work.terms = job->terms[p];
		TT_TRY(fill_plane(&work, session, job->out[p], &scratch[p]));
	}
	return TTNN_OK;
}

tt_status tt_cpu_yuv(const struct tt_yuv_job *job)
{
	struct tt_scratch scratch[4] = {{.bytes = 0}};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, job->in));
	if (volume == 0)
		return TTNN_OK;
	status = tt_session_end(&session, run(job, &session, scratch));
	for (int i = 0; i < 4; i++)
		tt_scratch_deinit(&scratch[i]);
	return status;
}
