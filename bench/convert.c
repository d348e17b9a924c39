/*
 * convert.c: conversions of 64 MB in ratio to memcpy of as many bytes, in the same run; and the same
 * per byte that is read or written, since results are up to eight times larger. Once per instruction
 * set with one thread, then the best one with all threads (row-major tiles are always one thread).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/pool.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#define BYTES ((size_t)64 << 20)
#define ROUNDS 7

static const struct ttnn_tile tile = {32, 32, false};

struct work {
	void *dst;
	const void *src;
	enum ttnn_dtype to, from;
	void (*run)(const struct work *);
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The best of some rounds, in seconds. */
static double measure(const struct work *work)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now(), seconds;

		work->run(work);
		seconds = now() - start;
		best = seconds < best ? seconds : best;
	}
	return best;
}

static void run_memcpy(const struct work *work)
{
	memcpy(work->dst, work->src, BYTES);
}

static void run_elements(const struct work *work)
{
	if (tt_convert(work->dst, work->to, work->src, work->from,
		       BYTES / tt_dtype_bytes(work->from)))
		abort();
}

static void run_tiles(const struct work *work)
{
	struct tt_tile_run run = {tile, BYTES / tt_dtype_tile_bytes(work->from, &tile)};

	if (tt_convert_tiles(work->dst, work->to, work->src, work->from, &run))
		abort();
}

/* A matrix of 4096 columns, tilized on the way. */
static void run_tilize(const struct work *work)
{
	const size_t cols = 4096, rows = BYTES / 4 / cols;
	const struct tt_tile_window window = {cols, 32, 32, 0};
	uint8_t *dst = work->dst;

	for (size_t r = 0; r < rows; r += 32)
		for (size_t c = 0; c < cols; c += 32, dst += tt_dtype_tile_bytes(work->to, &tile))
			tt_bfp_encode_tile(dst, work->to, &tile,
					   (const float *)work->src + r * cols + c, &window);
}

static void run_untilize(const struct work *work)
{
	const size_t cols = 4096, bytes = tt_dtype_tile_bytes(work->from, &tile);
	const struct tt_tile_window window = {cols, 32, 32, 0};
	const uint8_t *src = work->src;
	const size_t rows = BYTES / bytes * 1024 / cols / 32 * 32;

	for (size_t r = 0; r < rows; r += 32)
		for (size_t c = 0; c < cols; c += 32, src += bytes)
			tt_bfp_decode_tile((float *)work->dst + r * cols + c, &window, work->from,
					   &tile, src);
}

static const struct {
	const char *name;
	enum ttnn_dtype to, from;
	void (*run)(const struct work *);
} rows[] = {
	{"float32 -> bfloat16", TTNN_BFLOAT16, TTNN_FLOAT32, run_elements},
	{"bfloat16 -> float32", TTNN_FLOAT32, TTNN_BFLOAT16, run_elements},
	{"float32 -> bfloat8_b, row-major", TTNN_BFLOAT8_B, TTNN_FLOAT32, run_tilize},
	{"float32 -> bfloat8_b, tiles", TTNN_BFLOAT8_B, TTNN_FLOAT32, run_tiles},
	{"bfloat8_b -> float32, row-major", TTNN_FLOAT32, TTNN_BFLOAT8_B, run_untilize},
	{"bfloat8_b -> float32, tiles", TTNN_FLOAT32, TTNN_BFLOAT8_B, run_tiles},
	{"float32 -> bfloat4_b, row-major", TTNN_BFLOAT4_B, TTNN_FLOAT32, run_tilize},
	{"float32 -> bfloat4_b, tiles", TTNN_BFLOAT4_B, TTNN_FLOAT32, run_tiles},
	{"bfloat4_b -> float32, row-major", TTNN_FLOAT32, TTNN_BFLOAT4_B, run_untilize},
	{"bfloat4_b -> float32, tiles", TTNN_FLOAT32, TTNN_BFLOAT4_B, run_tiles},
	{"bfloat16 -> bfloat8_b, tiles", TTNN_BFLOAT8_B, TTNN_BFLOAT16, run_tiles},
	{"bfloat8_b -> bfloat16, tiles", TTNN_BFLOAT16, TTNN_BFLOAT8_B, run_tiles},
	{"float32 -> fp8_e4m3", TTNN_FP8_E4M3, TTNN_FLOAT32, run_elements},
	{"float32 -> int32", TTNN_INT32, TTNN_FLOAT32, run_elements},
	{"float32 -> uint32", TTNN_UINT32, TTNN_FLOAT32, run_elements},
	{"float32 -> uint8", TTNN_UINT8, TTNN_FLOAT32, run_elements},
	{"uint32 -> float32", TTNN_FLOAT32, TTNN_UINT32, run_elements},
	{"int32 -> uint16", TTNN_UINT16, TTNN_INT32, run_elements},
	{"uint32 -> bfloat16", TTNN_BFLOAT16, TTNN_UINT32, run_elements},
};

/* Bytes of the result of 64 MB. */
static double result_bytes(enum ttnn_dtype to, enum ttnn_dtype from)
{
	return (double)BYTES * (double)tt_dtype_tile_bytes(to, &tile) /
	       (double)tt_dtype_tile_bytes(from, &tile);
}

static void bench(const char *what, struct work *work)
{
	double copy;

	work->run = run_memcpy;
	copy = measure(work);
	printf("%s: memcpy of 64 MB takes %.1f ms, %.1f GB/s; conversions of as many bytes:\n",
	       what, 1e3 * copy, (double)BYTES / copy / 1e9);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double seconds, moved;

		work->to = rows[i].to;
		work->from = rows[i].from;
		work->run = rows[i].run;
		seconds = measure(work);
		moved = ((double)BYTES + result_bytes(work->to, work->from)) /
			(2.0 * (double)BYTES);
		printf("  %-34s %6.1f ms  %.2f x memcpy, %.2f per byte moved\n", rows[i].name,
		       1e3 * seconds, copy / seconds, moved * copy / seconds);
	}
}

int main(void)
{
	static float src[BYTES / sizeof(float)];
	/* The widest result: eight times the bytes, bfloat4_b to float32. */
	struct work work = {.dst = malloc(8 * BYTES), .src = src};
	enum tt_isa best = tt_cpu_isa();
	uint32_t state = 1;
	char what[64];

	if (!work.dst)
		return 2;
	for (size_t i = 0; i < BYTES / 4; i++) {
		state = state * 1664525 + 1013904223;
		src[i] = (float)(int32_t)state * 0x1p-29f;
	}
	memset(work.dst, 1, 8 * BYTES); /* its pages exist, as those of the source do */
	tt_pool_set_threads(1);
	for (int isa = 0; isa < TT_ISA_COUNT; isa++)
		if (tt_cpu_force_isa((enum tt_isa)isa))
			bench(tt_cpu_isa_name((enum tt_isa)isa), &work);
	tt_cpu_force_isa(best);
	tt_pool_set_threads(0);
	snprintf(what, sizeof(what), "%s, %u threads", tt_cpu_isa_name(best), tt_pool_threads());
	bench(what, &work);
	free(work.dst);
	return 0;
}
