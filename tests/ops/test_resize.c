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
	golden_close();
}
