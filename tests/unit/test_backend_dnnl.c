/*
 * test_backend_dnnl.c: products and convolutions with oneDNN wherever it can, if the machine has it,
 * against sums in float64. Larger than in other tests, because small ones never go there. @threads
 */
#include "test.h"

#include "backend.h"

#include "backend/cpu/dnnl.h"

static struct tt_tensor *some(struct ttnn_shape shape, enum ttnn_dtype dtype)
{
	struct ttnn_tensor_spec spec = bk_spec(&shape, dtype);

	return bk_random(&spec);
}

static void force(void)
{
	static bool said;

	CHECK_INT(setenv("TTNN_DNNL", "all", 1), 0);
	if (!said && !tt_dnnl_wants(false, SIZE_MAX))
		printf("no oneDNN here, or TTNN_ISA=plain: our own products were tested instead\n");
	said = true;
}

static void check_one(const struct tt_tensor *out, double got, double want, double large)
{
	double slack = bk_slack(out->spec.dtype) * fabs(want) + 2e-6 * (1 + large);

	if (fabs(got - want) > slack)
		TEST_FAIL("%.9g, not %.9g (%s)", got, want,
			  ttnn_dtype_name(out->spec.dtype, TTNN_DIALECT_SEED));
}

/* A thousand random elements of a product. */
static void check_product(const struct tt_matmul_job *job, const uint32_t size[3])
{
	double *a = bk_read(job->a), *b = bk_read(job->b), *got = bk_read(job->out);
	double *bias = bk_read(job->bias);

	for (int sample = 0; sample < 1000; sample++) {
		uint64_t i = bk_below(size[0]), j = bk_below(size[2]);
		double want = bias[j], large = 0;

		for (uint64_t k = 0; k < size[1]; k++) {
			double x = a[job->transpose_a ? k * size[0] + i : i * size[1] + k];
			double y = b[job->transpose_b ? j * size[1] + k : k * size[2] + j];

			want += x * y;
			large += fabs(x * y);
		}
		check_one(job->out, got[i * size[2] + j], want, large);
	}
	free(a);
	free(b);
	free(got);
	free(bias);
}

TEST(products_of_many_sizes)
{
	static const uint32_t sizes[][3] = {
		{1, 700, 600},   {33, 300, 512},  {256, 128, 1024}, {300, 257, 1100},
		{600, 512, 100}, {513, 96, 1536}, {257, 1000, 33},  {300, 8200, 40},
		{33, 16384, 20}, {20, 8300, 530},
	};
	static const enum ttnn_dtype types[] = {TTNN_FLOAT32, TTNN_BFLOAT16, TTNN_BFLOAT8_B};

	force();
	bk_state = 31;
	for (size_t n = 0; n < 3 * sizeof(sizes) / sizeof(sizes[0]); n++) {
		const uint32_t *size = sizes[n / 3];
		struct tt_matmul_job job = {.alpha = 1,
					    .beta = 1,
					    .transpose_a = bk_chance(3),
					    .transpose_b = bk_chance(3)};

		job.a = some(job.transpose_a ? TT_SHAPE(size[1], size[0])
					     : TT_SHAPE(size[0], size[1]),
			     types[n % 3]);
		job.b = some(job.transpose_b ? TT_SHAPE(size[2], size[1])
					     : TT_SHAPE(size[1], size[2]),
			     types[n % 3]);
		job.bias = some(TT_SHAPE(1, size[2]), TTNN_FLOAT32);
		job.out = some(TT_SHAPE(size[0], size[2]),
			       bk_chance(2) ? TTNN_FLOAT32 : TTNN_BFLOAT16);
		CHECK_OK(tt_backend_cpu.matmul(&job));
		check_product(&job, size);
		ttnn_tensor_unref(job.a);
		ttnn_tensor_unref(job.b);
		ttnn_tensor_unref(job.bias);
		ttnn_tensor_unref(job.out);
	}
}

/* A thousand random elements of a convolution of one group. */
static void check_conv(const struct tt_conv_job *job)
{
	const struct tt_window *w = &job->window;
	double *x = bk_read(job->in), *weights = bk_read(job->weight), *got = bk_read(job->out);

	for (int sample = 0; sample < 1000; sample++) {
		uint64_t y = bk_below(w->out_height), col = bk_below(w->out_width);
		uint64_t o = bk_below(job->out_channels);
		double want = 0, large = 0;

		for (uint64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
			int64_t iy = (int64_t)(y * w->stride[0] + k / w->kernel[1]) - w->pad[0];
			int64_t ix = (int64_t)(col * w->stride[1] + k % w->kernel[1]) - w->pad[1];

			if (iy < 0 || ix < 0 || iy >= w->height || ix >= w->width)
				continue;
			for (uint64_t c = 0; c < w->channels; c++) {
				double part =
					x[((uint64_t)iy * w->width + (uint64_t)ix) * w->channels +
					  c] *
					weights[(o * w->channels + c) * w->kernel[0] *
							w->kernel[1] +
						k];

				want += part;
				large += fabs(part);
			}
		}
		check_one(job->out, got[(y * w->out_width + col) * job->out_channels + o], want,
			  large);
	}
	free(x);
	free(weights);
	free(got);
}

TEST(convolutions_of_many_sizes)
{
	force();
	bk_state = 32;
	for (uint32_t n = 0; n < 8; n++) {
		uint32_t kernel = n % 2 ? 3 : 1, stride = 1 + n / 4, size = 20;
		uint32_t out = (size + 2 * (kernel / 2) - kernel) / stride + 1;
		enum ttnn_dtype dtype = n / 2 % 2 ? TTNN_BFLOAT16 : TTNN_FLOAT32;
		struct tt_conv_job job = {
			.window = {1,
				   size,
				   size,
				   40,
				   out,
				   out,
				   {kernel, kernel},
				   {stride, stride},
				   {1, 1},
				   {kernel / 2, kernel / 2, kernel / 2, kernel / 2}},
			.out_channels = 70,
			.groups = 1,
		};

		job.in = some(TT_SHAPE(1, 1, size * size, 40), dtype);
		job.weight = some(TT_SHAPE(70, 40, kernel, kernel), dtype);
		job.out = some(TT_SHAPE(1, 1, out * out, 70), TTNN_FLOAT32);
		CHECK_OK(tt_backend_cpu.conv(&job));
		check_conv(&job);
		ttnn_tensor_unref(job.in);
		ttnn_tensor_unref(job.weight);
		ttnn_tensor_unref(job.out);
	}
}

TEST(threads_do_not_change_a_product)
{
	struct tt_matmul_job job = {.alpha = 1, .beta = 1};
	double *first = NULL;

	force();
	job.a = some(TT_SHAPE(700, 300), TTNN_FLOAT32);
	job.b = some(TT_SHAPE(300, 1100), TTNN_FLOAT32);
	job.out = some(TT_SHAPE(700, 1100), TTNN_FLOAT32);
	for (unsigned threads = 1; threads <= 5; threads += 2) {
		double *again;

		tt_pool_set_threads(threads);
		CHECK_OK(tt_backend_cpu.matmul(&job));
		again = bk_read(job.out);
		CHECK(!first || memcmp(first, again, 700 * 1100 * sizeof(double)) == 0);
		free(first);
		first = again;
	}
	free(first);
	tt_pool_set_threads(0);
	ttnn_tensor_unref(job.a);
	ttnn_tensor_unref(job.b);
	ttnn_tensor_unref(job.out);
}
