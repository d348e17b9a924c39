/* Images of other sizes, larger or with squares as channels, against their goldens. */
#include "test.h"

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/images.h"

/* What a series of images is made of. */
static ttnn_tensor *image_of(const uint32_t nhwc[4], size_t n, uint64_t *state)
{
	struct ttnn_spec_args spec = {.shape = {4, {nhwc[0], nhwc[1], nhwc[2], nhwc[3]}},
				      .dtype = n % 5 == 4 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
				      .layout = n % 3 == 2 ? TTNN_TILE : TTNN_ROW_MAJOR};

	image_device();
	if (n % 4 == 3)
		spec.memory.buffer = TTNN_L1;
	return golden_make(&spec, state, -2, 2);
}

TEST(squares_become_channels)
{
	static const struct {
		uint32_t nhwc[4], stride[2];
	} folds[] = {
		{{1, 64, 64, 16}, {2, 2}}, {{2, 32, 32, 32}, {4, 4}}, {{1, 16, 16, 3}, {2, 2}},
		{{1, 32, 32, 32}, {2, 2}}, {{1, 12, 18, 5}, {3, 2}},  {{3, 8, 8, 64}, {1, 4}},
		{{1, 30, 30, 16}, {1, 1}}, {{2, 14, 28, 33}, {7, 7}}, {{1, 224, 224, 3}, {16, 16}},
		{{1, 32, 64, 64}, {2, 4}}, {{1, 2, 2, 96}, {2, 2}},
	};
	size_t count = sizeof(folds) / sizeof(folds[0]);
	uint64_t state = 1;

	for (size_t n = 0; n < 2 * count; n++) {
		ttnn_tensor *image = image_of(folds[n % count].nhwc, n, &state);
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(image)},
					  {NULL, ttnn_v_int(folds[n % count].stride[0])},
					  {NULL, ttnn_v_int(folds[n % count].stride[1])}};

		golden_case_on_threads("ttnn.fold", args, 3, 0);
		ttnn_tensor_unref(image);
	}
}

static void shard_as(struct ttnn_memory_config *out, enum ttnn_memory_layout layout,
		     uint32_t height, uint32_t width, uint32_t cores)
{
	struct ttnn_shard_spec shard = {.height = height, .width = width};
	const struct ttnn_core_range row = {{0, 0}, {cores - 1, 0}};

	CHECK_OK(ttnn_core_set_make(&shard.grid, &row, 1));
	CHECK_OK(ttnn_memory_config_sharded(out, layout, TTNN_L1, &shard));
}

/* Channels come first; shards are padded on all sides, the rest behind. */
TEST(squares_by_transposes)
{
	static const struct {
		uint32_t nchw[4], stride[2], pad[3]; /* down, across, channels */
	} folds[] = {
		{{2, 3, 32, 32}, {2, 2}, {0, 0, 1}},  {{1, 4, 64, 32}, {4, 2}, {0, 0, 0}},
		{{1, 3, 30, 30}, {2, 2}, {1, 1, 1}},  {{2, 8, 32, 64}, {2, 4}, {0, 0, 0}},
		{{4, 3, 56, 56}, {2, 2}, {3, 3, 13}}, {{1, 16, 32, 32}, {1, 1}, {0, 0, 0}},
	};
	size_t count = sizeof(folds) / sizeof(folds[0]);
	uint64_t state = 3;

	for (size_t n = 0; n < 2 * count; n++) {
		const uint32_t *nchw = folds[n % count].nchw, *pad = folds[n % count].pad;
		struct ttnn_spec_args spec = {.shape = {4, {nchw[0], nchw[1], nchw[2], nchw[3]}},
					      .dtype = TTNN_BFLOAT16};
		struct ttnn_value pads[6] = {ttnn_v_int(pad[0]), ttnn_v_int(pad[0]),
					     ttnn_v_int(pad[1]), ttnn_v_int(pad[1]),
					     ttnn_v_int(0),      ttnn_v_int(pad[2])};
		ttnn_tensor *image;

		/* Shards are images of their own channels, and square. */
		if (n >= count && nchw[2] == nchw[3] && nchw[2] % 8 == 0)
			shard_as(&spec.memory, TTNN_HEIGHT_SHARDED, nchw[1] * nchw[2], nchw[3],
				 nchw[0]);
		image_device();
		image = golden_make(&spec, &state, -2, 2);
		golden_case_on_threads(
			"ttnn.fold",
			(struct ttnn_arg[]){{NULL, ttnn_v_tensor(image)},
					    {NULL, ttnn_v_int(folds[n % count].stride[0])},
					    {NULL, ttnn_v_int(folds[n % count].stride[1])},
					    {"use_transpose_as_fold", ttnn_v_bool(true)},
					    {"padding", ttnn_v_list(pads, 6)}},
			5, 0);
		ttnn_tensor_unref(image);
	}
}

/* Rows of squares that no shard holds whole are sharded anew; channels are added. */
TEST(squares_of_shards)
{
	for (uint32_t n = 0; n < 8; n++) {
		uint32_t c = n % 2 ? 16 : 32, rows = 16;
		struct ttnn_spec_args spec = {.shape = {4, {1, rows, 16, c}},
					      .dtype = TTNN_BFLOAT16};
		struct ttnn_value pads[6] = {ttnn_v_int(0), ttnn_v_int(0),
					     ttnn_v_int(0), ttnn_v_int(0),
					     ttnn_v_int(0), ttnn_v_int(n < 4 ? 0 : c)};
		uint64_t state = n;
		ttnn_tensor *image;

		shard_as(&spec.memory, TTNN_HEIGHT_SHARDED, 16 * rows / 8, c, 8);
		image_device();
		image = golden_make(&spec, &state, -2, 2);
		golden_case_on_threads("ttnn.fold",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(image)},
							   {NULL, ttnn_v_int(n % 3 ? 4 : 2)},
							   {NULL, ttnn_v_int(4)},
							   {"padding", ttnn_v_list(pads, 6)}},
				       4, 0);
		ttnn_tensor_unref(image);
	}
}

TEST(planes_become_points)
{
	for (uint32_t n = 0; n < 24; n++) {
		uint32_t cores = 1 + n % 8, batch = 1 + n % 3, channels = 1 + 5 * n % 32;
		uint32_t width = 32 * (1 + n % 4);
		struct ttnn_spec_args spec = {
			.shape = {4, {1, batch, channels, cores * width - (batch == 1 ? n : 0)}},
			.dtype = n % 5 == 4 ? TTNN_FLOAT32 : TTNN_BFLOAT16};
		uint64_t state = n;
		ttnn_tensor *planes;

		shard_as(&spec.memory, TTNN_WIDTH_SHARDED, batch * channels, width, cores);
		image_device();
		planes = golden_make(&spec, &state, -2, 2);
		golden_case_on_threads(
			"ttnn.experimental.convert_to_hwc",
			(struct ttnn_arg[]){{NULL, ttnn_v_tensor(planes)},
					    {"dtype", n % 5 == 4 ? ttnn_v_none()
								 : ttnn_v_dtype(TTNN_BFLOAT16)}},
			2, 0);
		ttnn_tensor_unref(planes);
	}
}

TEST(points_become_planes)
{
	for (uint32_t n = 0; n < 24; n++) {
		uint32_t cores = 1 + n % 8, channels = 1 + 7 * n % 32, height = 32 * (1 + n % 4);
		struct ttnn_spec_args spec = {.shape = {4, {1, 1, cores * height, channels}},
					      .dtype = n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16,
					      .layout = TTNN_TILE};
		uint64_t state = n;
		ttnn_tensor *points;

		shard_as(&spec.memory, TTNN_HEIGHT_SHARDED, height, 32, cores);
		image_device();
		points = golden_make(&spec, &state, -2, 2);
		golden_case_on_threads("ttnn.experimental.convert_to_chw",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(points)},
							   {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)}},
				       2, 0);
		ttnn_tensor_unref(points);
	}
}

TEST(larger_images)
{
	static const struct {
		uint32_t nhwc[4];
		double scale[2];
		bool linear;
	} ups[] = {
		{{1, 16, 16, 32}, {2, 2}, false},      {{1, 16, 16, 32}, {2, 2}, true},
		{{2, 12, 10, 48}, {3, 2}, false},      {{2, 12, 10, 64}, {2, 3}, true},
		{{1, 9, 7, 40}, {1.5, 1.5}, false},    {{1, 9, 7, 64}, {4, 4}, true},
		{{1, 32, 32, 64}, {2.5, 1.25}, false}, {{1, 8, 8, 96}, {1, 2}, true},
		{{3, 5, 5, 32}, {7, 1}, false},        {{1, 1, 1, 32}, {5, 5}, false},
		{{1, 28, 32, 64}, {2, 2}, false},
	};
	size_t count = sizeof(ups) / sizeof(ups[0]);
	uint64_t state = 2;

	for (size_t n = 0; n < 2 * count; n++) {
		const double *scale = ups[n % count].scale;
		bool whole = scale[0] == (int)scale[0] && scale[1] == (int)scale[1];
		/* Averages are of rows of bfloat16; tiles have no padding here. */
		bool fills = whole && ups[n % count].nhwc[2] % 32 == 0;
		size_t kind = ups[n % count].linear ? 0 : n % 3 == 2 && !fills ? n + 1 : n;
		ttnn_tensor *image = image_of(ups[n % count].nhwc, kind, &state);
		struct ttnn_value pair[2] = {ttnn_v_real(scale[0]), ttnn_v_real(scale[1])};
		struct ttnn_arg args[] = {
			{NULL, ttnn_v_tensor(image)},
			{NULL, ttnn_v_list(pair, 2)},
			{"mode", ttnn_v_string(ups[n % count].linear ? "bilinear" : "nearest")}};

		if (whole)
			image_pair(pair, (uint32_t)scale[0], (uint32_t)scale[1]);
		golden_case_on_threads("ttnn.upsample", args, 3, 2);
		ttnn_tensor_unref(image);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("fold");
	golden_check_family("upsample");
	golden_check_family("planes");
	golden_close();
}
