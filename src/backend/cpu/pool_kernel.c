/* pool_kernel.c: the largest or the average of what a window sees, and images in other sizes. */
#include <math.h>
#include <string.h>

#include "backend/cpu/finish.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/images.h"
#include "backend/cpu/sums.h"
#include "base/pool.h"
#include "tensor/shape.h"

struct work {
	const struct tt_pool_job *job;
	const struct tt_window *window;
	const struct tt_gemm_fns *fns;
	const struct tt_sums *sums;
	const float *in;
	float *out;
	int32_t *indices; /* NULL: none */
	bool linear;      /* resizing */
	bool moves;       /* elements of 32 bits are only moved, whatever they are */
};

static const float *pixel_at(const struct work *work, uint32_t batch, int64_t y, int64_t x)
{
	return work->in + tt_images_number(work->window, batch, y, x) * work->window->channels;
}

/* ---- windows ----------------------------------------------------------------------------------- */

/* Which elements of a window, in one direction, lie inside of the image. */
struct reach {
	uint32_t first, end;
	uint32_t padded; /* inside of image and padding */
};

static struct reach reach(const struct tt_window *window, int direction, uint32_t at)
{
	int64_t extent = direction ? window->width : window->height;
	struct reach reach = {.first = window->kernel[direction]};

	for (uint32_t k = 0; k < window->kernel[direction]; k++) {
		int64_t place = tt_images_at(window, direction, at, k);

		reach.padded += place < extent + window->pad[direction + 2];
		if (place < 0 || place >= extent)
			continue;
		reach.first = k < reach.first ? k : reach.first;
		reach.end = k + 1;
	}
	return reach;
}

static void take_index(const struct work *work, size_t n, const float *from, int32_t place)
{
	size_t channels = work->window->channels;
	const float *most = work->out + n * channels;
	int32_t *to = work->indices + n * channels;

	for (size_t c = 0; c < channels; c++)
		if (from[c] > most[c] || (from[c] != from[c] && most[c] == most[c]))
			to[c] = place;
}

static double divisor(const struct work *work, const struct reach *down, const struct reach *across)
{
	if (work->job->divisor != 0)
		return work->job->divisor;
	if (work->job->count_padding)
		return (double)down->padded * across->padded;
	return (double)(down->end > down->first ? down->end - down->first : 0) *
	       (across->end > across->first ? across->end - across->first : 0);
}

static void pool_pixel(const struct work *work, size_t n)
{
	const struct tt_window *window = work->window;
	struct tt_pixel pixel = tt_images_pixel(window, n);
	struct reach down = reach(window, 0, pixel.y), across = reach(window, 1, pixel.x);
	size_t channels = window->channels;
	bool largest = work->job->kind == TT_POOL_MAX;
	float *to = work->out + n * channels;

	for (size_t c = 0; c < channels; c++)
		to[c] = largest ? -INFINITY : 0;
	for (size_t c = 0; work->indices && c < channels; c++)
		work->indices[n * channels + c] = 0;
	for (uint32_t ky = down.first; ky < down.end; ky++)
		for (uint32_t kx = across.first; kx < across.end; kx++) {
			int64_t y = tt_images_at(window, 0, pixel.y, ky);
			int64_t x = tt_images_at(window, 1, pixel.x, kx);
			const float *from = pixel_at(work, pixel.batch, y, x);

			if (work->indices)
				take_index(work, n, from, (int32_t)(y * window->width + x));
			if (largest)
				work->sums->larger(to, from, channels);
			else
				work->fns->axpy(to, from, channels, 1);
		}
	if (!largest)
		work->sums->line(to, to, channels, (float)(1 / divisor(work, &down, &across)), 0);
}

static void pool_pixels(void *context, size_t begin, size_t end)
{
	for (size_t n = begin; n < end; n++)
		pool_pixel(context, n);
}

/* ---- sizes ------------------------------------------------------------------------------------- */

/* Between which two input places an output place lies, and how near the second. */
struct between {
	int64_t first, second;
	float part;
};

static struct between between(uint32_t at, uint32_t extent, uint32_t out_extent)
{
	double place = ((double)at + 0.5) * extent / out_extent - 0.5;
	struct between between;

	place = place < 0 ? 0 : place;
	between.first = (int64_t)place;
	between.second = between.first + 1 < extent ? between.first + 1 : between.first;
	between.part = (float)(place - (double)between.first);
	return between;
}

static void resize_pixel(const struct work *work, size_t n)
{
	const struct tt_window *window = work->window;
	struct tt_pixel pixel = tt_images_pixel(window, n);
	size_t channels = window->channels;
	float *to = work->out + n * channels;
	struct between down = between(pixel.y, window->height, window->out_height);
	struct between across = between(pixel.x, window->width, window->out_width);

	if (!work->linear) {
		uint64_t y = (uint64_t)pixel.y * window->height / window->out_height;
		uint64_t x = (uint64_t)pixel.x * window->width / window->out_width;

		memcpy(to, pixel_at(work, pixel.batch, (int64_t)y, (int64_t)x),
		       channels * sizeof(float));
		return;
	}
	memset(to, 0, channels * sizeof(float));
	for (int corner = 0; corner < 4; corner++) {
		int64_t y = corner & 2 ? down.second : down.first;
		int64_t x = corner & 1 ? across.second : across.first;
		float part = (corner & 2 ? down.part : 1 - down.part) *
			     (corner & 1 ? across.part : 1 - across.part);

		work->fns->axpy(to, pixel_at(work, pixel.batch, y, x), channels, part);
	}
}

static void resize_pixels(void *context, size_t begin, size_t end)
{
	for (size_t n = begin; n < end; n++)
		resize_pixel(context, n);
}

/* ---- the jobs ------------------------------------------------------------------------------------ */

struct tensors {
	struct tt_tensor *out, *in, *indices;
};

/* Images whose last rows are missing go on with zeros, as on a card. */
static tt_status complete(struct work *work, struct tt_scratch *scratch, const struct tt_area *rows)
{
	const struct tt_window *window = work->window;
	struct ttnn_shape shape = {
		4, {window->batch, window->height, window->width, window->channels}};
	uint64_t have, want;

	work->in = rows->data;
	TT_TRY(ttnn_shape_volume(&have, &rows->shape));
	TT_TRY(ttnn_shape_volume(&want, &shape));
	if (have >= want)
		return TTNN_OK;
	TT_TRY(tt_scratch_init(scratch, &shape, TTNN_FLOAT32, NULL));
	memcpy(scratch->block, rows->data, have * sizeof(float));
	memset((float *)scratch->block + have, 0, (want - have) * sizeof(float));
	work->in = scratch->block;
	return TTNN_OK;
}

static tt_status run(struct work *work, const struct tensors *tensors, struct tt_session *session,
		     struct tt_scratch scratch[4])
{
	const struct tt_window *window = work->window;
	struct tt_area in, out, indices, rows;
	uint64_t each = (uint64_t)window->channels;

	TT_TRY(tt_session_read(&in, session, tensors->in));
	TT_TRY(tt_session_write(&out, session, tensors->out, false));
	if (tensors->indices)
		TT_TRY(tt_session_write(&indices, session, tensors->indices, false));
	TT_TRY(tt_cpu_rows(&rows, &scratch[0], &in, work->moves ? in.dtype : TTNN_FLOAT32));
	TT_TRY(complete(work, &scratch[3], &rows));
	if (work->moves) {
		TT_TRY(tt_scratch_init(&scratch[1], &out.shape, out.dtype, NULL));
		work->out = scratch[1].block;
	} else {
		TT_TRY(tt_finish_room(&work->out, &scratch[1], &out,
				      (const struct tt_area *const[]){&rows, NULL}));
	}
	if (tensors->indices) {
		TT_TRY(tt_scratch_init(&scratch[2], &indices.shape, TTNN_INT32, NULL));
		work->indices = scratch[2].block;
	}
	if (work->job)
		each *= (uint64_t)window->kernel[0] * window->kernel[1];
	tt_pool_for((size_t)tt_images_pixels(window),
		    each < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (each + 1)) : 1,
		    work->job ? pool_pixels : resize_pixels, work);
	if (tensors->indices)
		TT_TRY(tt_cpu_copy(&indices, &scratch[2].area));
	if (work->moves)
		return tt_cpu_copy(&out, &scratch[1].area);
	return tt_finish_rows(&out, work->out, &(struct tt_finish){.scale = 1});
}

static tt_status run_job(struct work *work, const struct tensors *tensors)
{
	struct tt_scratch scratch[4] = {0};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	work->fns = tt_gemm_fns_get();
	work->sums = tt_sums_get();
	TT_TRY(tt_images_check(work->window, tensors->out, work->window->channels, tensors->in,
			       work->job != NULL));
	TT_TRY(tt_cpu_volume(&volume, tensors->out));
	if (volume == 0)
		return TTNN_OK;
	status = run(work, tensors, &session, scratch);
	for (int i = 0; i < 4; i++)
		tt_scratch_deinit(&scratch[i]);
	return tt_session_end(&session, status);
}

tt_status tt_cpu_pool(const struct tt_pool_job *job)
{
	struct work work = {.job = job, .window = &job->window};
	struct tensors tensors = {job->out, job->in, job->indices};

	if (job->indices && (job->kind != TT_POOL_MAX ||
			     !ttnn_shape_equal(&job->indices->spec.shape, &job->out->spec.shape)))
		return tt_fail(TTNN_INTERNAL, "indices go with the largest elements alone");
	return run_job(&work, &tensors);
}

tt_status tt_cpu_resize(const struct tt_resize_job *job)
{
	struct tt_window window = job->window;
	struct work work = {.window = &window, .linear = job->linear};
	struct tensors tensors = {job->out, job->in, NULL};
	enum ttnn_dtype dtype = job->in->spec.dtype;

	work.moves = !job->linear && dtype == job->out->spec.dtype &&
		     (dtype == TTNN_INT32 || dtype == TTNN_UINT32);
	for (int d = 0; d < 2; d++)
		window.kernel[d] = window.stride[d] = window.dilation[d] = 1;
	return run_job(&work, &tensors);
}
