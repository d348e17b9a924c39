/* rotate_kernel.c: images turned around a point, places in fixed point. */
#include "backend/cpu/cpu_backend.h"
#include "base/pool.h"
#include "tensor/shape.h"

#define BITS 16 /* behind the point */
#define ONE (INT64_C(1) << BITS)

/* The tensors as dense rows of float32. */
struct work {
	const struct tt_rotate_job *job;
	struct tt_area in, out;
	struct tt_scratch scratch[2];
	uint32_t height, width, channels;
};

/* The channels of a pixel; NULL outside of the image. */
static const float *pixel_at(const struct work *work, uint64_t image, int64_t y, int64_t x)
{
	if (y < 0 || x < 0 || y >= work->height || x >= work->width)
		return NULL;
	return (const float *)work->in.data +
	       ((image * work->height + (uint64_t)y) * work->width + (uint64_t)x) * work->channels;
}

static void add_weighted(const struct work *work, float *to, const float *from, float weight)
{
	for (uint32_t c = 0; c < work->channels; c++)
		to[c] += weight * (from ? from[c] : work->job->fill);
}

/* Right shifts of negative numbers round down, as everywhere here. */
static void turn_pixel(const struct work *work, float *to, uint64_t image, const int64_t out[2])
{
	const struct tt_rotate_job *job = work->job;
	int64_t dy = out[0] * ONE - job->center[0], dx = out[1] * ONE - job->center[1];
	int64_t x = ((dx * job->cosine - dy * job->sine) >> BITS) + job->center[1];
	int64_t y = ((dx * job->sine + dy * job->cosine) >> BITS) + job->center[0];
	float fx = (float)(x & (ONE - 1)) / (float)ONE, fy = (float)(y & (ONE - 1)) / (float)ONE;

	for (uint32_t c = 0; c < work->channels; c++)
		to[c] = 0;
	if (!job->linear) {
		add_weighted(work, to,
			     pixel_at(work, image, (y + ONE / 2) >> BITS, (x + ONE / 2) >> BITS),
			     1);
		return;
	}
	x >>= BITS;
	y >>= BITS;
	add_weighted(work, to, pixel_at(work, image, y, x), (1 - fy) * (1 - fx));
	add_weighted(work, to, pixel_at(work, image, y, x + 1), (1 - fy) * fx);
	add_weighted(work, to, pixel_at(work, image, y + 1, x), fy * (1 - fx));
	add_weighted(work, to, pixel_at(work, image, y + 1, x + 1), fy * fx);
}

static void turn_pixels(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	uint64_t all = (uint64_t)work->height * work->width;

	for (size_t n = begin; n < end; n++)
		turn_pixel(work, (float *)work->out.data + n * work->channels, n / all,
			   (const int64_t[]){(int64_t)(n % all / work->width),
					     (int64_t)(n % work->width)});
}

static tt_status run(struct work *work, struct tt_session *session)
{
	const struct tt_rotate_job *job = work->job;
	struct tt_area in, out;
	uint64_t all;

	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	TT_TRY(tt_cpu_rows(&work->in, &work->scratch[0], &in, TTNN_FLOAT32));
	TT_TRY(tt_scratch_init(&work->scratch[1], &out.shape, TTNN_FLOAT32, NULL));
	work->out = work->scratch[1].area;
	TT_TRY(ttnn_shape_volume(&all, &out.shape));
	tt_pool_for((size_t)(all / work->channels), TT_CPU_GRAIN / work->channels + 1, turn_pixels,
		    work);
	return tt_cpu_copy(&out, &work->out);
}

tt_status tt_cpu_rotate(const struct tt_rotate_job *job)
{
	const struct ttnn_shape *in = &job->in->spec.shape;
	struct work work = {
		.job = job, .height = in->dim[1], .width = in->dim[2], .channels = in->dim[3]};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	status = tt_session_end(&session, run(&work, &session));
	for (int i = 0; i < 2; i++)
		tt_scratch_deinit(&work.scratch[i]);
	return status;
}
