/* sample.c: images looked at in places that a grid names. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/pool.h"
#include "tensor/shape.h"

/* The tensors as dense rows of float32. */
struct work {
	const struct tt_sample_job *job;
	struct tt_area in, grid, weights, out;
	struct tt_scratch scratch[4];
	uint32_t height, width, channels;
	uint64_t per_image; /* results */
	uint32_t numbers;   /* of a point */
	uint32_t points;    /* of a result */
};

/* Adds a pixel times its weight; nothing outside of the image. */
static void add_pixel(const struct work *work, float *to, uint64_t image, const int64_t at[2],
		      float weight)
{
	const float *from = work->in.data;

	if (at[0] < 0 || at[1] < 0 || at[0] >= work->height || at[1] >= work->width)
		return;
	from += ((image * work->height + (uint64_t)at[0]) * work->width + (uint64_t)at[1]) *
		work->channels;
	for (uint32_t c = 0; c < work->channels; c++)
		to[c] += weight * from[c];
}

static void add_four(const struct work *work, float *to, uint64_t image, const int64_t at[2],
		     const float weights[4])
{
	for (int i = 0; i < 4; i++)
		add_pixel(work, to, image, (const int64_t[]){at[0] + i / 2, at[1] + i % 2},
			  weights[i]);
}

/* The number whose bits an element of bfloat16 has. */
static int64_t bits_of(float element)
{
	uint32_t bits;

	memcpy(&bits, &element, sizeof(bits));
	return (int16_t)(bits >> 16);
}

/* Where a coordinate from -1 to 1 lies among so many pixels; far outside if it is no number. */
static float place_of(float coordinate, uint32_t extent, bool corners)
{
	float place = corners ? (coordinate + 1) / 2 * (float)(extent - 1)
			      : ((coordinate + 1) * (float)extent - 1) / 2;

	return place > -2 && place < (float)extent + 1 ? place : -2;
}

/* Adds what a point of the grid sees, times its weight. */
static void sample_point(const struct work *work, float *to, uint64_t image, const float *numbers,
			 float weight)
{
	const struct tt_sample_job *job = work->job;
	int64_t at[2] = {bits_of(numbers[0]), bits_of(numbers[1])};
	float x, y, fx, fy;

	if (job->precomputed && job->nearest) {
		add_pixel(work, to, image, at, 1);
		return;
	}
	if (job->precomputed) {
		add_four(work, to, image, at, numbers + 2);
		return;
	}
	x = place_of(numbers[0], work->width, job->corners);
	y = place_of(numbers[1], work->height, job->corners);
	fx = x - floorf(x);
	fy = y - floorf(y);
	at[0] = (int64_t)floorf(y);
	at[1] = (int64_t)floorf(x);
	add_four(work, to, image, at,
		 (const float[]){(1 - fy) * (1 - fx) * weight, (1 - fy) * fx * weight,
				 fy * (1 - fx) * weight, fy * fx * weight});
}

static void sample_points(void *context, size_t begin, size_t end)
{
	const struct work *work = context;

	for (size_t n = begin; n < end; n++) {
		float *to = (float *)work->out.data + n * work->channels;

		memset(to, 0, work->channels * sizeof(*to));
		for (size_t p = n * work->points; p < (n + 1) * work->points; p++)
			sample_point(work, to, n / work->per_image,
				     (const float *)work->grid.data + p * work->numbers,
				     work->weights.data ? ((const float *)work->weights.data)[p]
							: 1);
	}
}

static tt_status run(struct work *work, struct tt_session *session)
{
	const struct tt_sample_job *job = work->job;
	struct tt_area in, grid, weights, out;
	uint64_t all;

	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_session_read(&grid, session, job->grid));
	if (job->weights)
		TT_TRY(tt_session_read(&weights, session, job->weights));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	TT_TRY(tt_cpu_rows(&work->in, &work->scratch[0], &in, TTNN_FLOAT32));
	TT_TRY(tt_cpu_rows(&work->grid, &work->scratch[1], &grid, TTNN_FLOAT32));
	if (job->weights)
		TT_TRY(tt_cpu_rows(&work->weights, &work->scratch[3], &weights, TTNN_FLOAT32));
	TT_TRY(tt_scratch_init(&work->scratch[2], &out.shape, TTNN_FLOAT32, NULL));
	work->out = work->scratch[2].area;
	TT_TRY(ttnn_shape_volume(&all, &out.shape));
	work->per_image = all / work->channels / in.shape.dim[0];
	tt_pool_for((size_t)(all / work->channels), TT_CPU_GRAIN / work->channels + 1,
		    sample_points, work);
	return tt_cpu_copy(&out, &work->out);
}

tt_status tt_cpu_sample(const struct tt_sample_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	struct work work = {.job = job,
			    .numbers = job->precomputed && !job->nearest ? 6 : 2,
			    .points = job->weights ? job->together : 1,
			    .height = in->dim[1],
			    .width = in->dim[2],
			    .channels = in->dim[3]};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	status = tt_session_end(&session, run(&work, &session));
	for (int i = 0; i < 4; i++)
		tt_scratch_deinit(&work.scratch[i]);
	return status;
}
