/* Pools of images against their goldens. */
#include "test.h"

#include "golden.h"
#include "ops/conv/conv.h"
#include "ops/golden_cases.h"
#include "ops/images.h"
#include "ops/objects.h"

/* Windows of all kinds: sizes that fill no tile, padding on all sides or none, steps, gaps. */
static const struct window {
	uint32_t nhwc[4], kernel[2], stride[2], pad[2];
	bool ceil;
} windows[] = {
	{{1, 16, 16, 32}, {2, 2}, {2, 2}, {0, 0}, false},
	{{1, 15, 17, 16}, {3, 3}, {2, 2}, {1, 1}, false},
	{{2, 9, 14, 40}, {3, 3}, {1, 1}, {1, 1}, false},
	{{1, 33, 33, 32}, {2, 2}, {2, 2}, {0, 0}, true},
	{{1, 20, 20, 64}, {5, 3}, {1, 2}, {2, 1}, false},
	{{3, 7, 7, 96}, {7, 7}, {1, 1}, {0, 0}, false},
	{{1, 32, 32, 32}, {9, 9}, {1, 1}, {4, 4}, false},
	{{1, 56, 56, 64}, {3, 3}, {2, 2}, {1, 1}, false},
	{{1, 11, 5, 8}, {1, 1}, {2, 2}, {0, 0}, false},
	{{2, 13, 13, 24}, {3, 2}, {3, 2}, {1, 1}, true},
	{{1, 12, 18, 48}, {2, 2}, {1, 1}, {1, 1}, false},
	{{1, 6, 6, 320}, {3, 3}, {1, 1}, {1, 1}, false},
};
#define WINDOWS (sizeof(windows) / sizeof(windows[0]))

/* The arguments of a pool: n is the number of the case. */
struct pool_args {
	struct ttnn_arg args[16];
	struct ttnn_value pairs[4][2];
	size_t count;
	ttnn_tensor *image;
};

static void add(struct pool_args *pool, const char *name, struct ttnn_value value)
{
	pool->args[pool->count++] = (struct ttnn_arg){name, value};
}

static void common(struct pool_args *pool, size_t n, uint64_t *state)
{
	const struct window *w = &windows[n % WINDOWS];
	enum ttnn_layout layout = n % 3 == 2 ? TTNN_TILE : TTNN_ROW_MAJOR;

	pool->count = 0;
	pool->image = image_make(w->nhwc, TTNN_BFLOAT16, layout, state);
	add(pool, "input_tensor", ttnn_v_tensor(pool->image));
	add(pool, "batch_size", ttnn_v_int(w->nhwc[0]));
	add(pool, "input_h", ttnn_v_int(w->nhwc[1]));
	add(pool, "input_w", ttnn_v_int(w->nhwc[2]));
	add(pool, "channels", ttnn_v_int(w->nhwc[3]));
	add(pool, "kernel_size", image_pair(pool->pairs[0], w->kernel[0], w->kernel[1]));
	add(pool, "stride", image_pair(pool->pairs[1], w->stride[0], w->stride[1]));
	add(pool, "padding", image_pair(pool->pairs[2], w->pad[0], w->pad[1]));
	add(pool, "ceil_mode", ttnn_v_bool(w->ceil));
	if (n % 5 == 4)
		add(pool, "output_layout", ttnn_v_layout(TTNN_TILE));
	if (n % 7 == 6)
		add(pool, "config_tensor_in_dram", ttnn_v_bool(true));
}

TEST(max_pools)
{
	uint64_t state = 1;

	for (size_t n = 0; n < 2 * WINDOWS; n++) {
		bool gaps = n % 2 && windows[n % WINDOWS].kernel[0] == 2;
		struct pool_args pool;

		common(&pool, n, &state);
		add(&pool, "dilation", image_pair(pool.pairs[3], gaps ? 2 : 1, 1));
		golden_case_on_threads("ttnn.max_pool2d", pool.args, pool.count, 1);
		ttnn_tensor_unref(pool.image);
	}
}

TEST(average_pools)
{
	uint64_t state = 2;

	for (size_t n = 0; n < 2 * WINDOWS; n++) {
		struct pool_args pool;

		common(&pool, n, &state);
		add(&pool, "count_include_pad", ttnn_v_bool(n % 2 == 0));
		if (n % 4 == 3)
			add(&pool, "divisor_override", ttnn_v_int(5));
		golden_case_on_threads("ttnn.avg_pool2d", pool.args, pool.count, 2);
		ttnn_tensor_unref(pool.image);
	}
}

TEST(shards_that_the_caller_chooses)
{
	static const enum ttnn_memory_layout schemes[] = {TTNN_HEIGHT_SHARDED, TTNN_WIDTH_SHARDED,
							  TTNN_BLOCK_SHARDED};
	uint64_t state = 3;

	for (size_t n = 0; n < 6; n++) {
		struct pool_args pool;

		common(&pool, n % 3 + 4, &state);
		add(&pool, "applied_shard_scheme",
		    (struct ttnn_value){.kind = TTNN_VALUE_ENUM,
					.enumeration = &tt_enum_memory_layout,
					.integer = schemes[n % 3]});
		golden_case("ttnn.avg_pool2d", pool.args, pool.count, 2);
		ttnn_tensor_unref(pool.image);
	}
}

/* Where the largest elements were: equal ones count at the first place. */
TEST(indices_of_the_largest)
{
	uint64_t state = 4;
	struct pool_args pool;

	common(&pool, 0, &state);
	add(&pool, "dilation", image_pair(pool.pairs[3], 1, 1));
	add(&pool, "return_indices", ttnn_v_bool(true));
	golden_case("ttnn.max_pool2d", pool.args, pool.count, 1);
	ttnn_tensor_unref(pool.image);
}

TEST(indices_in_large_windows_and_images)
{
	static const uint32_t sizes[][5] = {
		{20, 20, 32, 9, 4}, {17, 23, 48, 6, 3}, {260, 260, 16, 3, 1}};

	for (size_t n = 0; n < TT_COUNT(sizes); n++) {
		const uint32_t *s = sizes[n], nhwc[4] = {1, s[0], s[1], s[2]};
		struct pool_args pool = {0};
		uint64_t state = n + 1;

		pool.image = image_make(nhwc, TTNN_BFLOAT16, TTNN_ROW_MAJOR, &state);
		add(&pool, "input_tensor", ttnn_v_tensor(pool.image));
		add(&pool, "batch_size", ttnn_v_int(1));
		add(&pool, "input_h", ttnn_v_int(s[0]));
		add(&pool, "input_w", ttnn_v_int(s[1]));
		add(&pool, "channels", ttnn_v_int(s[2]));
		add(&pool, "kernel_size", image_pair(pool.pairs[0], s[3], s[3]));
		add(&pool, "stride", image_pair(pool.pairs[1], 2, 2));
		add(&pool, "padding", image_pair(pool.pairs[2], s[4], s[4]));
		add(&pool, "dilation", image_pair(pool.pairs[3], 1, 1));
		add(&pool, "return_indices", ttnn_v_bool(true));
		golden_case("ttnn.max_pool2d", pool.args, pool.count, 1);
		ttnn_tensor_unref(pool.image);
	}
}

/* Slices of images in DRAM: the same numbers, in a tensor of images. */
TEST(slices)
{
	struct tt_arena arena = {0};
	uint64_t state = 6;

	for (size_t n = 0; n < 12; n++) {
		const uint32_t nhwc[4] = {1 + (uint32_t)n % 2, 20, 37, 32};
		struct ttnn_arg fields[] = {
			{"slice_type",
			 tt_value_enum(&tt_enum_slice, n % 2 ? TT_SLICE_HEIGHT : TT_SLICE_WIDTH)},
			{"num_slices", ttnn_v_int(2 + (int)n % 3)}};
		struct pool_args pool = {0};
		struct ttnn_value config;

		CHECK_OK(tt_object_make(&config, &arena, "Op2DSliceConfig", fields, 2));
		pool.image = image_make(nhwc, TTNN_BFLOAT16, TTNN_ROW_MAJOR, &state);
		add(&pool, "input_tensor", ttnn_v_tensor(pool.image));
		add(&pool, "batch_size", ttnn_v_int(nhwc[0]));
		add(&pool, "input_h", ttnn_v_int(nhwc[1]));
		add(&pool, "input_w", ttnn_v_int(nhwc[2]));
		add(&pool, "channels", ttnn_v_int(nhwc[3]));
		add(&pool, "kernel_size", image_pair(pool.pairs[0], 3, 3));
		add(&pool, "stride",
		    image_pair(pool.pairs[1], 1 + (uint32_t)n % 2, 1 + (uint32_t)n % 3));
		add(&pool, "padding", image_pair(pool.pairs[2], 1, n % 2));
		add(&pool, "ceil_mode", ttnn_v_bool(n % 4 == 1));
		if (n % 6 == 5)
			add(&pool, "output_layout", ttnn_v_layout(TTNN_TILE));
		add(&pool, "dram_slice_config", config);
		if (n % 2)
			add(&pool, "dilation", image_pair(pool.pairs[3], 1, 1));
		golden_case(n % 2 ? "ttnn.max_pool2d" : "ttnn.avg_pool2d", pool.args, pool.count,
			    2);
		ttnn_tensor_unref(pool.image);
	}
	tt_arena_deinit(&arena);
}

TEST(windows_that_do_not_fit_are_refused)
{
	struct ttnn_results results;
	struct pool_args pool;
	uint64_t state = 5;

	common(&pool, 0, &state);
	add(&pool, "dilation", image_pair(pool.pairs[3], 40, 1));
	CHECK(ttnn_call(&results, "ttnn.max_pool2d", pool.args, pool.count, TTNN_FRONTEND_C) !=
	      TTNN_OK);
	CHECK(strstr(ttnn_error(), "cannot exceed padded input size") != NULL);
	ttnn_tensor_unref(pool.image);
}

/* Sizes whose shares can be had with windows of one size. */
static const struct share {
	uint32_t nhwc[4], out[2];
} shares[] = {
	{{1, 32, 32, 32}, {8, 8}}, {{1, 10, 10, 32}, {3, 3}}, {{2, 14, 14, 64}, {7, 7}},
	{{1, 14, 14, 40}, {5, 5}}, {{1, 13, 13, 16}, {4, 4}}, {{1, 32, 32, 64}, {3, 3}},
	{{1, 10, 10, 32}, {9, 9}}, {{2, 7, 7, 32}, {3, 3}},   {{1, 12, 20, 24}, {3, 10}},
	{{1, 9, 9, 96}, {1, 1}},   {{3, 16, 8, 32}, {1, 1}},  {{1, 10, 10, 32}, {10, 10}},
};
#define SHARES (sizeof(shares) / sizeof(shares[0]))

static void adaptive_pools(const char *name, uint64_t state)
{
	for (size_t n = 0; n < 2 * SHARES; n++) {
		const struct share *s = &shares[n % SHARES];
		struct pool_args pool = {.count = 0};

		pool.image = image_make(s->nhwc, TTNN_BFLOAT16,
					n % 4 == 3 ? TTNN_TILE : TTNN_ROW_MAJOR, &state);
		add(&pool, "input_tensor", ttnn_v_tensor(pool.image));
		add(&pool, "batch_size", ttnn_v_int(s->nhwc[0]));
		add(&pool, "input_h", ttnn_v_int(s->nhwc[1]));
		add(&pool, "input_w", ttnn_v_int(s->nhwc[2]));
		add(&pool, "channels", ttnn_v_int(s->nhwc[3]));
		add(&pool, "output_size", image_pair(pool.pairs[0], s->out[0], s->out[1]));
		golden_case_on_threads(name, pool.args, pool.count, 2);
		ttnn_tensor_unref(pool.image);
	}
}

TEST(adaptive_average_pools)
{
	adaptive_pools("ttnn.adaptive_avg_pool2d", 6);
}

TEST(adaptive_max_pools)
{
	adaptive_pools("ttnn.adaptive_max_pool2d", 7);
}

TEST(shares_of_different_sizes_are_refused)
{
	static const uint32_t nhwc[4] = {1, 10, 10, 32};
	struct ttnn_results results;
	struct pool_args pool = {.count = 0};
	uint64_t state = 8;

	pool.image = image_make(nhwc, TTNN_BFLOAT16, TTNN_ROW_MAJOR, &state);
	add(&pool, "input_tensor", ttnn_v_tensor(pool.image));
	add(&pool, "batch_size", ttnn_v_int(1));
	add(&pool, "input_h", ttnn_v_int(10));
	add(&pool, "input_w", ttnn_v_int(10));
	add(&pool, "channels", ttnn_v_int(32));
	add(&pool, "output_size", image_pair(pool.pairs[0], 6, 0));
	CHECK(ttnn_call(&results, "ttnn.adaptive_max_pool2d", pool.args, pool.count,
			TTNN_FRONTEND_C) != TTNN_OK);
	image_pair(pool.pairs[0], 6, 6);
	CHECK(ttnn_call(&results, "ttnn.adaptive_max_pool2d", pool.args, pool.count,
			TTNN_FRONTEND_C) != TTNN_OK);
	CHECK(strstr(ttnn_error(), "[2,3,2,2,3,2] - middle elements not uniform") != NULL);
	ttnn_tensor_unref(pool.image);
}

TEST(averages_of_whole_images)
{
	static const struct ttnn_shape shapes[] = {
		{4, {1, 7, 7, 64}}, {4, {2, 7, 7, 40}},   {4, {1, 1, 49, 96}},
		{4, {2, 8, 8, 64}}, {3, {9, 5, 33}},      {4, {3, 4, 16, 32}},
		{2, {12, 20}},      {4, {2, 32, 32, 64}}, {4, {1, 1, 1024, 8}},
		{4, {5, 1, 1, 7}},  {3, {32, 32, 32}},
	};
	size_t count = sizeof(shapes) / sizeof(shapes[0]);
	uint64_t state = 9;

	image_device();
	for (size_t n = 0; n < 2 * count; n++) {
		struct ttnn_spec_args spec = {.shape = shapes[n % count],
					      .dtype = n % 3 == 2 ? TTNN_FLOAT32 : TTNN_BFLOAT16,
					      .layout = n % 2 ? TTNN_TILE : TTNN_ROW_MAJOR};
		ttnn_tensor *image = golden_make(&spec, &state, -2, 2);

		golden_case_on_threads("ttnn.global_avg_pool2d",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(image)}}, 1, 2);
		ttnn_tensor_unref(image);
	}
}

TEST(every_row_was_tested)
{
	golden_check_family("pool");
	golden_close();
}
