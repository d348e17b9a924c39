/*
 * tilize.c: 64 MB from rows to tiles and back, in ratio to memcpy of the same bytes in the same run;
 * alone and with a conversion on the way. One thread, then all of them (memcpy is always one).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"

#define BYTES ((size_t)64 << 20)
#define ROUNDS 7

struct work {
	const char *name;
	enum ttnn_dtype rows, tiles;
	bool back;
	uint32_t cols;
};

/* The bytes of the rows are always 64 MB. */
static const struct work works[] = {
	{"tilize float32", TTNN_FLOAT32, TTNN_FLOAT32, false, 4096},
	{"untilize float32", TTNN_FLOAT32, TTNN_FLOAT32, true, 4096},
	{"tilize bfloat16", TTNN_BFLOAT16, TTNN_BFLOAT16, false, 4096},
	{"untilize bfloat16", TTNN_BFLOAT16, TTNN_BFLOAT16, true, 4096},
	{"tilize uint8", TTNN_UINT8, TTNN_UINT8, false, 4096},
	{"untilize uint8", TTNN_UINT8, TTNN_UINT8, true, 4096},
	{"tilize float32, 1000 wide", TTNN_FLOAT32, TTNN_FLOAT32, false, 1000},
	{"untilize float32, 1000 wide", TTNN_FLOAT32, TTNN_FLOAT32, true, 1000},
	{"tilize float32 to bfloat16", TTNN_FLOAT32, TTNN_BFLOAT16, false, 4096},
	{"untilize bfloat16 to float32", TTNN_FLOAT32, TTNN_BFLOAT16, true, 4096},
	{"tilize float32 to bfloat8_b", TTNN_FLOAT32, TTNN_BFLOAT8_B, false, 4096},
	{"untilize bfloat8_b to float32", TTNN_FLOAT32, TTNN_BFLOAT8_B, true, 4096},
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static double time_memcpy(void *dst, const void *src)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		memcpy(dst, src, BYTES);
		__asm__ volatile("" ::: "memory");
		best = now() - start < best ? now() - start : best;
	}
	return best;
}

static double time_work(const struct work *work, void *x, void *y)
{
	struct ttnn_shape shape = {
		2, {(uint32_t)(BYTES / tt_dtype_bytes(work->rows) / work->cols), work->cols}};
	struct tt_area rows = tt_area_rows(x, &shape, work->rows), tiles;
	struct ttnn_tensor_spec spec;
	const double pad = 0;
	double best = 1e9;

	if (ttnn_tensor_spec_make(&spec, &(struct ttnn_spec_args){.shape = shape,
								  .dtype = work->tiles,
								  .layout = TTNN_TILE}))
		exit(1);
	tiles = tt_area_of(y, &spec);
	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		if (tt_layout_copy(work->back ? &rows : &tiles, work->back ? &tiles : &rows, &pad))
			exit(1);
		best = now() - start < best ? now() - start : best;
	}
	return best;
}

int main(void)
{
	void *x = aligned_alloc(2 << 20, 2 * BYTES), *y = aligned_alloc(2 << 20, 2 * BYTES);

	if (!x || !y)
		return 1;
	memset(x, 0x3c, 2 * BYTES);
	memset(y, 0x3c, 2 * BYTES);
	for (unsigned threads = 1; threads <= 2; threads++) {
		double copy = time_memcpy(y, x);

		tt_pool_set_threads(threads == 1 ? 1 : 0);
		printf("%u thread%s; memcpy of 64 MB: %.1f GB/s\n", tt_pool_threads(),
		       tt_pool_threads() == 1 ? "" : "s", (double)BYTES / copy / 1e9);
		for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
			double seconds = time_work(&works[i], x, y);

			printf("  %-32s %6.1f GB/s of rows, %.2f of memcpy\n", works[i].name,
			       (double)BYTES / seconds / 1e9, copy / seconds);
		}
	}
	free(x);
	free(y);
	return 0;
}
