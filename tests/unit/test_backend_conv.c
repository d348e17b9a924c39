/*
 * test_backend_conv.c: convolution, pooling and resizing against loops over single elements in
 * float64. Convolutions are written as a scatter: each input pixel adds to the results it reaches.
 * @threads
 */
#include "test.h"

#include "backend.h"

#include "backend/cpu/weights.h"
#include "device/device.h"
#include "device/devtensor.h"

/* ---- the reference ------------------------------------------------------------------------------ */

static uint64_t pixel(const uint32_t size[2], uint32_t batch, uint32_t y, uint32_t x)
{
	return ((uint64_t)batch * size[0] + y) * size[1] + x;
}

/* The weight for output channel o, input channel i (of all), tap (ky, kx). */
static double weight_of(const struct tt_conv_job *job, const double *weights, uint32_t o,
			uint32_t i, uint32_t ky, uint32_t kx)
{
	uint32_t in = job->window.channels / job->groups, out = job->out_channels / job->groups;
	const uint32_t *k = job->window.kernel;
	uint32_t per, width = tt_shape_last(&job->weight->spec.shape, 1);
	uint64_t row;

	if (job->form == TT_WEIGHT_MATRIX) {
		per = (in + job->slices - 1) / job->slices;
		row = (uint64_t)(i % in / per) * k[0] * k[1] * job->depth +
		      (ky * k[1] + kx) * job->depth + i % in % per;
		return weights[row * width + o];
	}
	if (job->transposed)
		return weights[(((uint64_t)i * out + o % out) * k[0] + ky) * k[1] + kx];
	return weights[(((uint64_t)o * in + i % in) * k[0] + ky) * k[1] + kx];
}

/* Adds what one tap brings from one pixel to one other; `large` sums up absolute values. */
static void add_tap(double *want, double *large, const struct tt_conv_job *job, const double *x,
		    const double *weights, const uint64_t at[2], uint32_t ky, uint32_t kx)
{
	uint32_t in = job->window.channels / job->groups, out = job->out_channels / job->groups;

	for (uint32_t o = 0; o < job->out_channels; o++)
		for (uint32_t i = o / out * in; i < (o / out + 1) * in; i++) {
			double product = x[at[0] * job->window.channels + i] *
					 weight_of(job, weights, o, i, ky, kx);

			want[at[1] * job->out_channels + o] += product;
			large[at[1] * job->out_channels + o] += fabs(product);
		}
}

static double *conv_ref(const struct tt_conv_job *job, double *large)
{
	const struct tt_window *w = &job->window;
	const uint32_t in_size[2] = {w->height, w->width},
		       out_size[2] = {w->out_height, w->out_width};
	double *x = bk_read(job->in), *weights = bk_read(job->weight);
	double *bias = job->bias ? bk_read(job->bias) : NULL;
	uint64_t count = bk_volume(&job->out->spec.shape);
	double *want = bk_new(count);
	/* The side that strides is the small one: the output, or the input of a transposed one. */
	const uint32_t *small = job->transposed ? in_size : out_size;
	const uint32_t *big = job->transposed ? out_size : in_size;

	for (uint32_t b = 0; b < w->batch; b++)
		for (uint32_t y = 0; y < small[0]; y++)
			for (uint32_t col = 0; col < small[1]; col++)
				for (uint32_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
					uint32_t ky = k / w->kernel[1], kx = k % w->kernel[1];
					int64_t by = (int64_t)y * w->stride[0] - w->pad[0] +
						     (int64_t)ky * w->dilation[0];
					int64_t bx = (int64_t)col * w->stride[1] - w->pad[1] +
						     (int64_t)kx * w->dilation[1];
					uint64_t s = pixel(small, b, y, col), g, at[2];

					if (by < 0 || bx < 0 || by >= big[0] || bx >= big[1])
						continue;
					g = pixel(big, b, (uint32_t)by, (uint32_t)bx);
					at[0] = job->transposed ? s : g;
					at[1] = job->transposed ? g : s;
					add_tap(want, large, job, x, weights, at, ky, kx);
				}
	for (uint64_t n = 0; n < count; n++) {
		want[n] += bias ? bias[n % job->out_channels] : 0;
		if (job->post_count)
			want[n] = fmax(0, want[n]);
	}
	free(x);
	free(weights);
	free(bias);
	return want;
}

static void check_sums(const struct tt_tensor *out, const double *want, const double *large)
{
	double *rounded = bk_rounded(&out->spec, want), *got = bk_read(out);
	double slack = bk_slack(out->spec.dtype), most = 0;
	uint64_t count = bk_volume(&out->spec.shape);

	for (uint64_t i = 0; i < count; i++)
		most = fmax(most, fabs(rounded[i]));
	for (uint64_t i = 0; i < count; i++) {
		double beside = tt_dtype_is_block(out->spec.dtype) ? 1 + most : fabs(want[i]);

		if (fabs(got[i] - rounded[i]) <= slack * beside + 1e-6 * (1 + large[i]))
			continue;
		TEST_FAIL("element %llu is %.9g, not %.9g", (unsigned long long)i, got[i],
			  rounded[i]);
		break;
	}
	free(rounded);
	free(got);
}

/* ---- random convolutions ---------------------------------------------------------------------------- */

static struct tt_tensor *some(struct ttnn_shape shape, enum ttnn_dtype dtype)
{
	struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);

	return bk_random(&spec);
}

/* A window whose result is not empty. */
static struct tt_window random_window(uint32_t channels, bool transposed)
{
	struct tt_window w = {
		.batch = 1 + (uint32_t)bk_below(2),
		.height = 3 + (uint32_t)bk_below(9),
		.width = 3 + (uint32_t)bk_below(9),
		.channels = channels,
	};
	uint32_t extent[2] = {w.height, w.width}, result[2];

	for (int d = 0; d < 2; d++) {
		w.kernel[d] = 1 + (uint32_t)bk_below(3);
		w.stride[d] = 1 + (uint32_t)bk_below(2);
		w.dilation[d] = bk_chance(3) ? 2 : 1;
		w.pad[d] = (uint32_t)bk_below(2);
		w.pad[d + 2] = (uint32_t)bk_below(2);
		if (extent[d] + w.pad[d] + w.pad[d + 2] < w.dilation[d] * (w.kernel[d] - 1) + 1)
			w.kernel[d] = w.dilation[d] = 1;
		result[d] =
			(extent[d] + w.pad[d] + w.pad[d + 2] - w.dilation[d] * (w.kernel[d] - 1) -
			 1) / w.stride[d] +
			1;
		if (transposed) {
			w.pad[d] = w.pad[d] < w.kernel[d] ? w.pad[d] : 0;
			result[d] = (extent[d] - 1) * w.stride[d] +
				    w.dilation[d] * (w.kernel[d] - 1) + 1 - w.pad[d] +
				    (uint32_t)bk_below(2);
		}
	}
	w.out_height = result[0];
	w.out_width = result[1];
	return w;
}

static struct ttnn_shape image_shape(uint32_t batch, uint32_t height, uint32_t width, uint32_t c)
{
	return bk_chance(2) ? TT_SHAPE(1, 1, batch * height * width, c)
			    : TT_SHAPE(batch, height, width, c);
}

static struct tt_tensor *random_weights(struct tt_conv_job *job)
{
	uint32_t in = job->window.channels / job->groups, *k = job->window.kernel;
	enum ttnn_dtype dtype = bk_chance(2) ? TTNN_BFLOAT16 : TTNN_FLOAT32;
	uint32_t per;

	if (job->transposed)
		return some(
			TT_SHAPE(job->window.channels, job->out_channels / job->groups, k[0], k[1]),
			dtype);
	if (job->groups == 1 && bk_chance(3)) {
		job->form = TT_WEIGHT_MATRIX;
		job->slices = in > 4 && bk_chance(2) ? 3 : 1;
		per = (in + job->slices - 1) / job->slices;
		job->depth = per + (uint32_t)bk_below(5);
		return some(TT_SHAPE(1, 1, job->slices * k[0] * k[1] * job->depth,
				     job->out_channels + (uint32_t)bk_below(9)),
			    bk_chance(2) ? TTNN_BFLOAT8_B : dtype);
	}
	return some(TT_SHAPE(job->out_channels, in, k[0], k[1]), dtype);
}

static void one_conv(void)
{
	static const uint32_t in_each[] = {1, 1, 3, 8, 20}, out_each[] = {1, 2, 7, 33};
	static const struct tt_unary_step relu = {.fn = TT_UNARY_RELU};
	struct tt_conv_job job = {.groups = bk_chance(2) ? 1 : 1 + (uint32_t)bk_below(6),
				  .transposed = bk_chance(3),
				  .post = &relu,
				  .post_count = bk_chance(4)};
	struct ttnn_shape from, to;
	double *want, *large;

	job.window = random_window(in_each[bk_below(5)] * job.groups, job.transposed);
	job.out_channels = job.groups * out_each[bk_below(4)];
	if (job.groups > 1 && bk_chance(2)) { /* channels by themselves */
		job.window.channels = job.out_channels = job.groups * 9;
		job.groups = job.window.channels;
	}
	from = image_shape(job.window.batch, job.window.height, job.window.width,
			   job.window.channels);
	to = image_shape(job.window.batch, job.window.out_height, job.window.out_width,
			 job.out_channels);
	job.in = some(from, bk_float_dtype());
	job.out = some(to, bk_float_dtype());
	job.weight = random_weights(&job);
	if (bk_chance(2))
		job.bias = some(TT_SHAPE(1, 1, 1, job.out_channels), TTNN_BFLOAT16);
	large = bk_new(bk_volume(&to));
	want = conv_ref(&job, large);
	CHECK_OK(tt_backend_cpu.conv(&job));
	check_sums(job.out, want, large);
	free(want);
	free(large);
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.weight);
	ttnn_tensor_unref(job.bias);
}

TEST(random_convolutions_equal_the_scatter)
{
	enum tt_isa best = tt_cpu_isa();

	bk_state = 21;
	for (int round = 0; round < 300; round++) {
		if (!tt_cpu_force_isa((enum tt_isa)(round % TT_ISA_COUNT)))
			continue;
		one_conv();
	}
	CHECK(tt_cpu_force_isa(best));
}

TEST(weights_that_do_not_fit_are_refused)
{
	struct tt_conv_job job = {
		.window = {1, 4, 4, 6, 4, 4, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
		.out_channels = 8,
		.groups = 4,
	};

	job.in = some(TT_SHAPE(1, 4, 4, 6), TTNN_FLOAT32);
	job.out = some(TT_SHAPE(1, 4, 4, 8), TTNN_FLOAT32);
	job.weight = some(TT_SHAPE(8, 3, 1, 1), TTNN_FLOAT32);
	CHECK_FAILS(tt_backend_cpu.conv(&job), TTNN_INTERNAL, "6 to 8 channels in 4 groups");
	job.groups = 1;
	CHECK_FAILS(tt_backend_cpu.conv(&job), TTNN_INTERNAL, "24 weights, not 48");
	job.groups = 2;
	CHECK_OK(tt_backend_cpu.conv(&job));
	job.window.height = 5;
	CHECK_FAILS(tt_backend_cpu.conv(&job), TTNN_INTERNAL, "not 20 pixels of 6 channels");
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.weight);
}

/* ---- pooling ---------------------------------------------------------------------------------------- */

static double *pool_ref(const struct tt_pool_job *job, double *places)
{
	const struct tt_window *w = &job->window;
	double *x = bk_read(job->in), *want = bk_new(bk_volume(&job->out->spec.shape));
	const uint32_t in_size[2] = {w->height, w->width},
		       out_size[2] = {w->out_height, w->out_width};

	for (uint64_t n = 0; n < bk_volume(&job->out->spec.shape); n++) {
		uint64_t c = n % w->channels, p = n / w->channels;
		uint32_t col = (uint32_t)(p % out_size[1]),
			 y = (uint32_t)(p / out_size[1] % out_size[0]);
		uint32_t b = (uint32_t)(p / out_size[1] / out_size[0]);
		double most = -INFINITY, sum = 0, inside = 0, padded = 0;

		for (uint32_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
			int64_t iy = (int64_t)y * w->stride[0] - w->pad[0] +
				     (int64_t)(k / w->kernel[1]) * w->dilation[0];
			int64_t ix = (int64_t)col * w->stride[1] - w->pad[1] +
				     (int64_t)(k % w->kernel[1]) * w->dilation[1];
			double value;

			padded += iy < (int64_t)w->height + w->pad[2] &&
				  ix < (int64_t)w->width + w->pad[3];
			if (iy < 0 || ix < 0 || iy >= w->height || ix >= w->width)
				continue;
			value = x[pixel(in_size, b, (uint32_t)iy, (uint32_t)ix) * w->channels + c];
			inside++;
			sum += value;
			if (value > most) {
				most = value;
				places[n] = (double)(iy * w->width + ix);
			}
		}
		want[n] = job->kind == TT_POOL_MAX ? most
						   : sum / (job->divisor != 0    ? job->divisor
							    : job->count_padding ? padded
										 : inside);
	}
	free(x);
	return want;
}

TEST(random_pools_equal_the_reference)
{
	bk_state = 22;
	for (int round = 0; round < 200; round++) {
		struct tt_pool_job job = {.kind = (enum tt_pool_kind)(round % 2),
					  .count_padding = bk_chance(2),
					  .divisor = bk_chance(4) ? 5 : 0};
		struct ttnn_shape from, to;
		double *want, *places;

		job.window = random_window(1 + (uint32_t)bk_below(40), false);
		/* Ceil mode: one more where its window still begins inside of image and padding. */
		if (bk_chance(3) && job.window.out_height * job.window.stride[0] <
					    job.window.height + job.window.pad[0])
			job.window.out_height++;
		from = image_shape(job.window.batch, job.window.height, job.window.width,
				   job.window.channels);
		to = image_shape(job.window.batch, job.window.out_height, job.window.out_width,
				 job.window.channels);
		job.in = some(from, bk_float_dtype());
		job.out = some(to, bk_float_dtype());
		if (job.kind == TT_POOL_MAX && bk_chance(2))
			job.indices = some(to, TTNN_UINT16);
		places = bk_new(bk_volume(&to));
		want = pool_ref(&job, places);
		CHECK_OK(tt_backend_cpu.pool(&job));
		bk_check("pool", job.out, want, bk_slack(job.out->spec.dtype));
		if (job.indices)
			bk_check("places", job.indices, places, 0);
		free(want);
		free(places);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
		ttnn_tensor_unref(job.indices);
	}
}

/* ---- resizing --------------------------------------------------------------------------------------- */

static double sample(const double *x, const struct tt_window *w, uint32_t b, double y, double col,
		     uint64_t c)
{
	const uint32_t size[2] = {w->height, w->width};
	double sum = 0;

	for (uint32_t iy = 0; iy < w->height; iy++)
		for (uint32_t ix = 0; ix < w->width; ix++) {
			double near_y = fmax(0, 1 - fabs(iy - y)),
			       near_x = fmax(0, 1 - fabs(ix - col));

			sum += near_y * near_x * x[pixel(size, b, iy, ix) * w->channels + c];
		}
	return sum;
}

static double clamp(double x, double high)
{
	return fmin(fmax(x, 0), high);
}

TEST(random_sizes_equal_the_reference)
{
	bk_state = 23;
	for (int round = 0; round < 60; round++) {
		struct tt_resize_job job = {.linear = round % 2};
		struct tt_window *w = &job.window;
		struct ttnn_shape to;
		double *want, *x;

		*w = random_window(1 + (uint32_t)bk_below(40), false);
		w->out_height = 1 + (uint32_t)bk_below(20);
		w->out_width = 1 + (uint32_t)bk_below(20);
		to = image_shape(w->batch, w->out_height, w->out_width, w->channels);
		job.in = some(image_shape(w->batch, w->height, w->width, w->channels),
			      bk_float_dtype());
		job.out = some(to, bk_float_dtype());
		x = bk_read(job.in);
		want = bk_new(bk_volume(&to));
		for (uint64_t n = 0; n < bk_volume(&to); n++) {
			uint64_t c = n % w->channels, p = n / w->channels;
			uint64_t col = p % w->out_width, y = p / w->out_width % w->out_height;
			uint32_t b = (uint32_t)(p / w->out_width / w->out_height);
			double fy = (double)w->height / w->out_height;
			double fx = (double)w->width / w->out_width;

			if (job.linear)
				want[n] = sample(
					x, w, b, clamp(((double)y + 0.5) * fy - 0.5, w->height - 1),
					clamp(((double)col + 0.5) * fx - 0.5, w->width - 1), c);
			else
				want[n] = sample(x, w, b, floor((double)y * fy + 1e-9),
						 floor((double)col * fx + 1e-9), c);
		}
		CHECK_OK(tt_backend_cpu.resize(&job));
		bk_check("resize", job.out, want, bk_slack(job.out->spec.dtype));
		free(want);
		free(x);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.out);
	}
}

/* ---- kept weights ------------------------------------------------------------------------------------ */

TEST(changed_weights_on_a_device_are_seen)
{
	struct ttnn_device_options options = {.profile = "n150"};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(16, 8, 3, 3), .dtype = TTNN_BFLOAT16};
	struct tt_conv_job job = {
		.window = {1, 6, 6, 8, 6, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
		.out_channels = 16,
		.groups = 1,
	};
	struct ttnn_tensor_spec spec;
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_mesh_open(&device, NULL, &options));
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	job.in = some(TT_SHAPE(1, 6, 6, 8), TTNN_FLOAT32);
	job.out = some(TT_SHAPE(1, 6, 6, 16), TTNN_FLOAT32);
	CHECK_OK(tt_device_tensor_new(&job.weight, device, &spec));
	for (uint64_t round = 0; round < 9; round++) {
		struct tt_tensor *on_device = job.weight, *same = NULL;
		double *want, *large = bk_new(6 * 6 * 16);

		if (round % 3 == 0)
			CHECK_OK(tt_backend_cpu.random(&(struct tt_random_job){
				.out = job.weight, .seed = round, .low = -1, .high = 1}));
		CHECK_OK(tt_backend_cpu.conv(&job));
		CHECK_OK(tt_tensor_resident(&same, on_device, 0, TT_BUFFER_READ));
		job.weight = same;
		want = conv_ref(&job, large);
		job.weight = on_device;
		check_sums(job.out, want, large);
		free(want);
		free(large);
		ttnn_tensor_unref(same);
	}
	ttnn_tensor_unref(job.in);
	ttnn_tensor_unref(job.out);
	ttnn_tensor_unref(job.weight);
	tt_weights_drop();
	ttnn_device_close(device);
	ttnn_device_unref(device);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static tt_status all_jobs(struct tt_tensor *in, struct tt_tensor *out)
{
	struct tt_window window = {1, 4, 5, 32, 4, 5, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}};
	struct tt_conv_job conv = {
		.out = out, .in = in, .weight = in, .bias = in, .window = window};

	conv.out_channels = 32;
	conv.groups = 32;
	TT_TRY(tt_backend_cpu.conv(&conv));
	conv.groups = 16;
	TT_TRY(tt_backend_cpu.conv(&conv));
	TT_TRY(tt_backend_cpu.resize(&(struct tt_resize_job){out, in, window, true}));
	return tt_backend_cpu.pool(&(struct tt_pool_job){.out = out, .in = in, .window = window});
}

SCENARIO(running_out_of_memory)
{
	struct ttnn_spec_args args = {
		.shape = TT_SHAPE(1, 1, 20, 32), .layout = TTNN_TILE, .dtype = TTNN_BFLOAT8_B};
	struct tt_tensor *in = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	status = ttnn_tensor_new(&in, &spec);
	if (status == TTNN_OK)
		status = ttnn_tensor_new(&out, &spec);
	if (status == TTNN_OK)
		status = all_jobs(in, out);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
	return status;
}
