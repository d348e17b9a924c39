/*
 * conv_kernel.c: convolutions as products of matrices: a row of the left side is what a window sees, made
 * when it is needed; the right side are the weights, kept packed. A transposed one is the same with
 * other windows. Convolutions of single channels are done in place.
 */
#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/finish.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/images.h"
#include "backend/cpu/weights.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define MOST_TAPS 128 /* of a convolution of single channels */

struct work {
	const struct tt_conv_job *job;
	const struct tt_window *window;
	const struct tt_gemm_fns *fns;
	const void *pixels;           /* dense, of the input */
	size_t bytes;                 /* of an element */
	uint32_t group;               /* the one in work */
	uint32_t in_group, out_group; /* channels of a group */
	size_t depth;                 /* elements that a window sees in a group */
	struct tt_panels panels;      /* of a group; data is set for each */
	struct tt_weights *weights;
	float *c;
};

/* ---- what windows see ---------------------------------------------------------------------------- */

/*
 * The row or column of the image that element k of a window sees; -1: padding of zeros. A transposed
 * convolution slides over the image with stride - 1 zeros between its pixels; replicated padding
 * repeats what lies at the edge of either.
 */
static int64_t place(const struct work *work, int direction, uint32_t at, uint32_t k)
{
	const struct tt_window *window = work->window;
	int64_t step = work->job->transposed ? window->stride[direction] : 1;
	int64_t last = ((int64_t)(direction ? window->width : window->height) - 1) * step;
	int64_t place = work->job->transposed ? (int64_t)at + window->pad[direction] -
							(int64_t)k * window->dilation[direction]
					      : tt_images_at(window, direction, at, k);

	if (work->job->replicate)
		place = place < 0 ? 0 : place > last ? last : place;
	if (place < 0 || place > last)
		return -1;
	if (step == 1) /* nearly always, and a division takes long */
		return place;
	return place % step ? -1 : place / step;
}

/* Elements [from, from + count) of what a window sees in one input pixel; zeros outside. */
static void copy_tap(uint8_t *to, const struct work *work, const struct tt_pixel *pixel,
		     uint32_t tap, const size_t part[2])
{
	const struct tt_window *window = work->window;
	uint32_t ky = tap / window->kernel[1], kx = tap % window->kernel[1];
	int64_t y = place(work, 0, pixel->y, ky), x = place(work, 1, pixel->x, kx);
	uint64_t from = (uint64_t)work->group * work->in_group + part[0];

	if (y < 0 || x < 0) {
		memset(to, 0, part[1] * work->bytes);
		return;
	}
	from += tt_images_number(window, pixel->batch, y, x) * window->channels;
	memcpy(to, (const uint8_t *)work->pixels + from * work->bytes, part[1] * work->bytes);
}

/*
 * The same for a whole line of the window, [from, from + count) of kernel across × channels, when
 * its pixels are neighbours: they lie one behind the other.
 */
static void copy_line(uint8_t *to, const struct work *work, const struct tt_pixel *pixel,
		      uint32_t ky, const size_t part[2])
{
	const struct tt_window *window = work->window;
	int64_t y = tt_images_at(window, 0, pixel->y, ky);
	int64_t x = tt_images_at(window, 1, pixel->x, 0), channels = window->channels;
	int64_t from = x * channels + (int64_t)part[0], to_end = from + (int64_t)part[1];
	int64_t end = (int64_t)window->width * channels;
	int64_t low = from < 0 ? 0 : from > end ? end : from;
	int64_t high = to_end < low ? low : to_end > end ? end : to_end;
	const uint8_t *line;

	if (y < 0 || y >= window->height || low == high) {
		memset(to, 0, part[1] * work->bytes);
		return;
	}
	line = (const uint8_t *)work->pixels +
	       tt_images_number(window, pixel->batch, y, 0) * window->channels * work->bytes;
	if (high - low == (int64_t)part[1]) { /* nearly always */
		memcpy(to, line + (size_t)low * work->bytes, part[1] * work->bytes);
		return;
	}
	memset(to, 0, (size_t)(low - from) * work->bytes);
	memcpy(to + (size_t)(low - from) * work->bytes, line + (size_t)low * work->bytes,
	       (size_t)(high - low) * work->bytes);
	memset(to + (size_t)(high - from) * work->bytes, 0, (size_t)(to_end - high) * work->bytes);
}

static bool has_lines(const struct work *work)
{
	return !work->job->transposed && !work->job->replicate && work->window->dilation[1] == 1 &&
	       work->job->groups == 1;
}

static struct tt_matrix seen(const void *context, float *room, const struct tt_gemm_part *part)
{
	const struct work *work = context;
	bool lines = has_lines(work);
	size_t unit = work->in_group * (lines ? work->window->kernel[1] : 1);

	for (size_t i = 0; i < part->rows; i++) {
		struct tt_pixel pixel = tt_images_pixel(work->window, part->row + i);
		uint8_t *to = (uint8_t *)room + i * part->depth * work->bytes;
		size_t k = part->from, end = part->from + part->depth;

		while (k < end) {
			size_t some[2] = {k % unit, unit - k % unit};

			if (some[1] > end - k)
				some[1] = end - k;
			if (lines)
				copy_line(to, work, &pixel, (uint32_t)(k / unit), some);
			else
				copy_tap(to, work, &pixel, (uint32_t)(k / unit), some);
			to += some[1] * work->bytes;
			k += some[1];
		}
	}
	return (struct tt_matrix){room, work->bytes == 2, part->depth, 1};
}

/* Windows of one pixel each, in order: the images are the left side. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is that of every left side */
static struct tt_matrix pixels(const void *context, float *room, const struct tt_gemm_part *part)
{
	const struct work *work = context;
	size_t channels = work->window->channels;
	size_t at = part->row * channels + work->group * work->in_group + part->from;

	(void)room;
	return (struct tt_matrix){(const uint8_t *)work->pixels + at * work->bytes,
				  work->bytes == 2, channels, 1};
}

static bool is_pointwise(const struct work *work)
{
	const struct tt_window *window = work->window;

	return window->kernel[0] == 1 && window->kernel[1] == 1 && window->stride[0] == 1 &&
	       window->stride[1] == 1 && !window->pad[0] && !window->pad[1] &&
	       window->out_height == window->height && window->out_width == window->width;
}

/* ---- weights -------------------------------------------------------------------------------------- */

/* Where the weight of (output channel of a group, input channel of it, tap) lies. */
static uint64_t weight_at(const struct work *work, uint32_t group, uint32_t out, uint32_t in,
			  uint32_t tap)
{
	const struct tt_conv_job *job = work->job;
	uint64_t taps = (uint64_t)job->window.kernel[0] * job->window.kernel[1];
	uint64_t width = tt_shape_last(&job->weight->spec.shape, 1), per, row;

	if (job->form == TT_WEIGHT_OIHW && job->transposed)
		return (((uint64_t)group * work->in_group + in) * work->out_group + out) * taps +
		       tap;
	if (job->form == TT_WEIGHT_OIHW)
		return (((uint64_t)group * work->out_group + out) * work->in_group + in) * taps +
		       tap;
	per = (work->in_group + job->slices - 1) / job->slices;
	row = (in / per * taps + tap) * job->depth + in % per;
	return row * width + (uint64_t)group * work->out_group + out;
}

/* The weights of a group as a matrix [taps × input channels, output channels]. */
struct ordering {
	const struct work *work;
	const struct tt_area *rows;
	uint32_t group;
	void *to;
};

static void order_rows(void *context, size_t begin, size_t end)
{
	const struct ordering *ordering = context;
	const struct work *work = ordering->work;
	const void *from = ordering->rows->data;
	size_t n = begin * work->out_group;

	for (size_t row = begin; row < end; row++)
		for (uint32_t out = 0; out < work->out_group; out++, n++) {
			uint64_t at = weight_at(work, ordering->group, out,
						(uint32_t)(row % work->in_group),
						(uint32_t)(row / work->in_group));

			if (ordering->rows->dtype == TTNN_BFLOAT16)
				((uint16_t *)ordering->to)[n] = ((const uint16_t *)from)[at];
			else
				((float *)ordering->to)[n] = ((const float *)from)[at];
		}
}

static void order_weights(void *to, const struct work *work, const struct tt_area *rows,
			  uint32_t group)
{
	tt_pool_for(work->depth, TT_CPU_GRAIN / (work->out_group + 1) + 1, order_rows,
		    &(struct ordering){work, rows, group, to});
}

static enum ttnn_dtype kept_dtype(enum ttnn_dtype dtype)
{
	return tt_dtype_is_block(dtype) || dtype == TTNN_BFLOAT16 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
}

/* Each channel by itself: weights are rows of channels, and float32. */
static bool is_single(const struct work *work)
{
	return work->in_group == 1 && work->out_group == 1 && work->job->groups > 1 &&
	       work->depth <= MOST_TAPS;
}

/* Of a group; for tt_panels_release(). */
static struct tt_panels panels_of(const struct work *work)
{
	const struct tt_conv_job *job = work->job;
	struct tt_panels panels = {
		.fns = work->fns,
		.rows = work->depth,
		.cols = work->out_group,
		.half = kept_dtype(job->weight->spec.dtype) == TTNN_BFLOAT16,
	};
	struct tt_gemm_left left = {
		.rows = (size_t)tt_images_pixels(work->window),
		.half = kept_dtype(job->in->spec.dtype) == TTNN_BFLOAT16,
		.step = job->out_channels,
	};

	if (!is_single(work))
		tt_panels_choose(&panels, &left);
	return panels;
}

static size_t group_bytes(const struct work *work)
{
	if (is_single(work))
		return work->depth * sizeof(float);
	return tt_panels_bytes(&work->panels);
}

/* Of all groups: what products, or single channels, take. */
static tt_status pack_weights(struct work *work, const struct tt_area *rows)
{
	struct tt_panels panels = work->panels;
	size_t bytes = work->depth * work->out_group * tt_dtype_bytes(rows->dtype);
	struct tt_matrix matrix = {.half = panels.half, .row_step = panels.cols, .col_step = 1};
	void *room = tt_large_alloc(bytes);
	tt_status status = TTNN_OK;

	if (!room)
		return tt_fail_nomem();
	matrix.data = room;
	for (uint32_t group = 0; status == TTNN_OK && group < work->job->groups; group++) {
		order_weights(room, work, rows, group);
		panels.data = (uint8_t *)work->weights->data + group * group_bytes(work);
		if (!is_single(work))
			status = tt_panels_pack(&panels, &matrix);
		for (size_t tap = 0; is_single(work) && tap < work->depth; tap++)
			((float *)work->weights->data)[tap * work->job->groups + group] =
				((const float *)room)[tap];
	}
	tt_large_free(room, bytes);
	return status;
}

/*
 * The rows of weights that are used. Prepared weights of groups are as large as those of all
 * channels together, and nearly all of that is never read.
 */
static struct tt_area used_rows(const struct work *work, const struct tt_area *all)
{
	const struct tt_conv_job *job = work->job;
	uint64_t taps = (uint64_t)job->window.kernel[0] * job->window.kernel[1];
	uint64_t rows = job->slices * taps * job->depth;
	uint32_t width = tt_shape_last(&all->shape, 1);
	struct tt_area used = *all;

	if (job->form != TT_WEIGHT_MATRIX || rows >= tt_shape_last(&all->shape, 2))
		return used;
	used.shape = TT_SHAPE((uint32_t)rows, width);
	used.step[0] = 1;
	if (all->tile.height)
		used.rows = (rows + all->tile.height - 1) / all->tile.height * all->tile.height;
	else
		used.rows = rows;
	return used;
}

static tt_status open_weights(struct work *work, struct tt_session *session)
{
	const struct tt_conv_job *job = work->job;
	const struct tt_window *window = work->window;
	uint32_t before = session->count;
	struct tt_weights_key key = {
		.how = {TT_WEIGHTS_CONV, window->kernel[0] << 16 | window->kernel[1], job->groups,
			job->out_channels, window->channels,
			(uint32_t)job->form << 1 | job->transposed, job->slices,
			job->depth << 1 | (work->panels.plan != NULL)},
		.fns = work->fns,
	};
	struct tt_scratch scratch = {0};
	struct tt_area rows, used;
	size_t bytes;
	tt_status status;

	TT_TRY(tt_session_read(&key.area, session, job->weight));
	key.storage = session->count > before ? session->held[before] : NULL;
	work->weights = tt_weights_find(&key);
	if (work->weights)
		return TTNN_OK;
	if (__builtin_mul_overflow(group_bytes(work), (size_t)job->groups, &bytes))
		return tt_fail_nomem();
	TT_TRY(tt_weights_new(&work->weights, &key, bytes));
	used = used_rows(work, &key.area);
	status = tt_cpu_rows(&rows, &scratch, &used,
			     is_single(work) ? TTNN_FLOAT32 : kept_dtype(key.area.dtype));
	if (status == TTNN_OK)
		status = pack_weights(work, &rows);
	if (status == TTNN_OK)
		tt_weights_keep(work->weights);
	tt_scratch_deinit(&scratch);
	return status;
}

/* ---- running ------------------------------------------------------------------------------------- */

static tt_status run_groups(struct work *work)
{
	struct tt_panels panels = work->panels;
	struct tt_gemm gemm = {
		.left = is_pointwise(work) ? pixels : seen,
		.context = work,
		.rows = (size_t)tt_images_pixels(work->window),
		.right = &panels,
		.step = work->job->out_channels,
	};

	for (work->group = 0; work->group < work->job->groups; work->group++) {
		panels.data = (uint8_t *)work->weights->data + work->group * group_bytes(work);
		gemm.c = work->c + (size_t)work->group * work->out_group;
		TT_TRY(tt_gemm_run(&gemm));
	}
	return TTNN_OK;
}

/* Results [begin, end) of a convolution of single channels. */
static void run_single(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	const struct tt_window *window = work->window;
	uint32_t taps = window->kernel[0] * window->kernel[1];
	size_t channels = window->channels;
	const float *seen_by[MOST_TAPS], *by[MOST_TAPS];

	for (size_t n = begin; n < end; n++) {
		struct tt_pixel pixel = tt_images_pixel(window, n);
		size_t count = 0;

		for (uint32_t tap = 0; tap < taps; tap++) {
			uint32_t ky = tap / window->kernel[1], kx = tap % window->kernel[1];
			int64_t y = place(work, 0, pixel.y, ky);
			int64_t x = place(work, 1, pixel.x, kx);

			if (y < 0 || x < 0)
				continue;
			seen_by[count] = (const float *)work->pixels +
					 tt_images_number(window, pixel.batch, y, x) * channels;
			by[count++] = (const float *)work->weights->data + tap * channels;
		}
		work->fns->taps(work->c + n * channels, seen_by, by, count, channels);
	}
}

static tt_status run(struct work *work)
{
	uint64_t each = work->depth * work->window->channels;

	if (!is_single(work))
		return run_groups(work);
	tt_pool_for((size_t)tt_images_pixels(work->window),
		    each < TT_CPU_GRAIN ? (size_t)(TT_CPU_GRAIN / (each + 1)) : 1, run_single,
		    work);
	return TTNN_OK;
}

/* ---- the job ------------------------------------------------------------------------------------ */

static tt_status check(const struct work *work)
{
	const struct tt_conv_job *job = work->job;
	uint64_t taps = (uint64_t)job->window.kernel[0] * job->window.kernel[1], wanted, volume;
	uint32_t width = tt_shape_last(&job->weight->spec.shape, 1);

	TT_TRY(tt_images_check(&job->window, job->out, job->out_channels, job->in, false));
	if (!job->groups || job->window.channels % job->groups || job->out_channels % job->groups ||
	    job->window.kernel[0] > UINT16_MAX || job->window.kernel[1] > UINT16_MAX)
		return tt_fail(TTNN_INTERNAL, "%u to %u channels in %u groups",
			       job->window.channels, job->out_channels, job->groups);
	TT_TRY(tt_cpu_volume(&volume, job->weight));
	wanted = taps * work->in_group * job->out_channels;
	if (job->form == TT_WEIGHT_MATRIX) {
		if (job->transposed || !job->slices || width < job->out_channels ||
		    (uint64_t)job->depth * job->slices < work->in_group)
			return tt_fail(TTNN_INTERNAL, "a weight matrix of %u columns", width);
		wanted = job->slices * taps * job->depth * width;
	}
	if (volume < wanted)
		return tt_fail(TTNN_INTERNAL, "%llu weights, not %llu", (unsigned long long)volume,
			       (unsigned long long)wanted);
	if (job->bias) {
		TT_TRY(tt_cpu_volume(&volume, job->bias));
		if (volume < job->out_channels)
			return tt_fail(TTNN_INTERNAL, "a bias for %llu channels",
				       (unsigned long long)volume);
	}
	return tt_finish_check(job->post, job->post_count);
}

static tt_status open_bias(struct tt_finish *finish, struct tt_scratch *scratch,
			   const struct tt_conv_job *job, struct tt_session *session)
{
	struct ttnn_shape shape = TT_SHAPE(job->out_channels);
	struct tt_area bias, rows;

	TT_TRY(tt_session_read(&bias, session, job->bias));
	TT_TRY(tt_cpu_rows(&rows, scratch, &bias, TTNN_FLOAT32));
	finish->bias = tt_area_rows(rows.data, &shape, TTNN_FLOAT32);
	return TTNN_OK;
}

static tt_status conv_run(struct work *work, struct tt_session *session,
			  struct tt_scratch scratch[3])
{
	const struct tt_conv_job *job = work->job;
	struct tt_finish finish = {.scale = 1, .post = job->post, .post_count = job->post_count};
	struct tt_area in, out, rows;

	TT_TRY(tt_session_read(&in, session, job->in));
	TT_TRY(open_weights(work, session));
	if (job->bias)
		TT_TRY(open_bias(&finish, &scratch[0], job, session));
	TT_TRY(tt_session_write(&out, session, job->out, false));
	TT_TRY(tt_cpu_rows(&rows, &scratch[1], &in,
			   is_single(work) ? TTNN_FLOAT32 : kept_dtype(in.dtype)));
	work->pixels = rows.data;
	work->bytes = tt_dtype_bytes(rows.dtype);
	TT_TRY(tt_finish_room(&work->c, &scratch[2], &out,
			      (const struct tt_area *const[]){&rows, NULL}));
	TT_TRY(run(work));
	return tt_finish_rows(&out, work->c, &finish);
}

tt_status tt_cpu_conv(const struct tt_conv_job *job)
{
	struct work work = {.job = job, .window = &job->window, .fns = tt_gemm_fns_get()};
	struct tt_scratch scratch[3] = {0};
	struct tt_session session = {0};
	uint64_t volume;
	tt_status status;

	work.in_group = job->groups ? job->window.channels / job->groups : 0;
	work.out_group = job->groups ? job->out_channels / job->groups : 0;
	work.depth = (size_t)job->window.kernel[0] * job->window.kernel[1] * work.in_group;
	TT_TRY(check(&work));
	TT_TRY(tt_cpu_volume(&volume, job->out));
	if (volume == 0)
		return TTNN_OK;
	work.panels = panels_of(&work);
	status = conv_run(&work, &session, scratch);
	for (int i = 0; i < 3; i++)
		tt_scratch_deinit(&scratch[i]);
	tt_weights_release(work.weights);
	tt_panels_release(&work.panels);
	return tt_session_end(&session, status);
}
