/* products, sums and scans of state space models against their goldens */
#include "test.h"

#include <stdlib.h>

#include "golden.h"
#include "ops/golden_cases.h"
#include "ops/golden_dims.h"

#define STATES (32 * 5120)

static struct ttnn_spec_args matrix(size_t n, uint32_t rows, uint32_t columns)
{
	struct ttnn_spec_args spec = {.shape = {4, {1, 1, rows, columns}},
				      .dtype = (n & 1) ? TTNN_BFLOAT8_B : TTNN_BFLOAT16,
				      .layout = TTNN_TILE};

	golden_put(&spec, n % 3 ? GOLDEN_DRAM : GOLDEN_L1);
	return spec;
}

TEST(products)
{
	static const uint32_t rows[] = {32, 96, 64, 32};
	uint64_t state = 5;

	for (size_t n = 0; n < GOLDEN_CASES + 4; n++) {
		/* Either is spread, or both are. */
		struct ttnn_spec_args a = matrix(n / 2, rows[n % 4], n % 3 == 1 ? STATES : 32);
		struct ttnn_spec_args b =
			matrix(n / 4, rows[n % 4], n % 3 == 2 ? STATES : STATES / 32);
		ttnn_tensor *x = golden_uneven(&a, &state, -2, 2);
		ttnn_tensor *y = golden_uneven(&b, &state, 0.1, 3);

		(n == 7 ? golden_case_on_threads : golden_case)(
			"ttnn.experimental.repeat_and_interleave_eltwise_mul",
			(struct ttnn_arg[]){
				{NULL, ttnn_v_tensor(x)},
				{NULL, ttnn_v_tensor(y)},
				{"dtype", ttnn_v_dtype(n % 5 ? TTNN_BFLOAT16 : TTNN_BFLOAT8_B)}},
			3, 1);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(y);
	}
}

TEST(sums)
{
	static const uint32_t rows[] = {32, 96, 64, 128};
	uint64_t state = 6;

	for (size_t n = 0; n < GOLDEN_CASES + 4; n++) {
		struct ttnn_spec_args spec =
			matrix(n, rows[n / 2 % 4], 1024 * (uint32_t)(1 + n % 7 * n));
		ttnn_tensor *x = golden_uneven(&spec, &state, -1, 3);

		(n == 7 ? golden_case_on_threads
			: golden_case)("ttnn.experimental.hc_sum_reduce",
				       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(x)}}, 1, 4);
		ttnn_tensor_unref(x);
	}
}

/* A tensor cut into shards of columns, one for each of `cores`. */
static struct ttnn_spec_args columns(uint32_t rows, uint32_t width, uint32_t cores, bool tiled)
{
	struct ttnn_spec_args spec = {.shape = {4, {1, 1, rows, width}},
				      .dtype = TTNN_BFLOAT16,
				      .layout = tiled ? TTNN_TILE : TTNN_ROW_MAJOR};
	struct ttnn_shard_spec shard = {.height = rows, .width = width / cores};

	CHECK_OK(tt_core_set_grid(&shard.grid, cores, 1));
	spec.memory = (struct ttnn_memory_config){
		.buffer = TTNN_L1, .layout = TTNN_WIDTH_SHARDED, .has_shard = true, .shard = shard};
	return spec;
}

TEST(scans)
{
	uint64_t state = 7;

	for (size_t n = 0; n < GOLDEN_CASES + 4; n++) {
		uint32_t cores = 1 + n % 8, width = 32 * cores * (uint32_t)(1 + n % 3 * 16);
		struct ttnn_spec_args spec =
			columns(32 * (uint32_t)(1 + n / 4 % 3), width, cores, true);
		struct ttnn_spec_args first = columns(1, width, cores, false);
		ttnn_tensor *a, *bx, *h;

		spec.dtype = n % 4 == 3 ? TTNN_BFLOAT8_B : TTNN_BFLOAT16;
		a = golden_uneven(&spec, &state, 0.1, 0.95);
		bx = golden_uneven(&spec, &state, -1, 2);
		h = golden_uneven(&first, &state, -2, 2);
		golden_case("ttnn.experimental.prefix_scan",
			    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)},
						{NULL, ttnn_v_tensor(bx)},
						{NULL, ttnn_v_tensor(h)}},
			    3, 4);
		ttnn_tensor_unref(a);
		ttnn_tensor_unref(bx);
		ttnn_tensor_unref(h);
	}
}

/* Ones of so many columns, zeros in the padding. */
static ttnn_tensor *ones(uint32_t width)
{
	struct ttnn_spec_args spec = {
		.shape = {4, {1, 1, 32, width}}, .dtype = TTNN_BFLOAT16, .layout = TTNN_TILE};
	float *data = malloc((size_t)32 * width * sizeof(*data));
	ttnn_tensor *out;

	for (size_t i = 0; i < (size_t)32 * width; i++)
		data[i] = 1;
	out = golden_upload(data, TTNN_FLOAT32, &spec, 0);
	free(data);
	return out;
}

/* Operations see tiles: what pads a row belongs to it. */
TEST(rows_that_are_padded)
{
	ttnn_tensor *sums = ones(1000), *narrow = ones(20), *wide = ones(STATES / 32);

	golden_case("ttnn.experimental.hc_sum_reduce",
		    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(sums)}}, 1, 1);
	golden_case("ttnn.experimental.repeat_and_interleave_eltwise_mul",
		    (struct ttnn_arg[]){{NULL, ttnn_v_tensor(narrow)}, {NULL, ttnn_v_tensor(wide)}},
		    2, 1);
	ttnn_tensor_unref(sums);
	ttnn_tensor_unref(narrow);
	ttnn_tensor_unref(wide);
}

TEST(every_row_was_tested)
{
	golden_check_family("ssm");
	golden_close();
}
