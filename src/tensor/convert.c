/* convert.c: chooses kernels and lays tiles out for them. The rules are in convert.h. */
#include "tensor/convert.h"

#include <string.h>

#include "base/cpu.h"
#include "base/deadline.h"
#include "base/pool.h"
#include "tensor/convert_kernels.h"
#include "tensor/dtype.h"
#include "tensor/tile.h"

/* Elements of hub at a time, a whole tile at least: a small part of the first-level cache. */
#define HUB 1024
#define PIECE ((size_t)1 << 16) /* elements for one thread at a time; fewer need no second one */
#define SIDE 32                 /* of the largest tile */

static const struct tt_convert_kernels *const levels[TT_ISA_COUNT] = {
	[TT_ISA_PLAIN] = &tt_convert_plain,
#if defined(__x86_64__)
	[TT_ISA_AVX2] = &tt_convert_avx2,
	[TT_ISA_AVX512] = &tt_convert_avx512,
#endif
};

static const struct tt_convert_ops *ops_of(enum ttnn_dtype dtype)
{
	return &levels[tt_cpu_isa()]->of[dtype];
}

static tt_status check(enum ttnn_dtype dtype, bool block_too)
{
	if (!tt_dtype_find(dtype))
		return tt_fail(TTNN_INVALID, "%d is no data type", (int)dtype);
	if (!block_too && tt_dtype_is_block(dtype))
		return tt_fail(TTNN_INVALID, "%s exists in tiles only: it has no single elements",
			       ttnn_dtype_name(dtype, TTNN_DIALECT_SEED));
	return TTNN_OK;
}

/* ---- jobs: units (elements or tiles) that can be converted in any order ---------------------- */

struct job {
	void *dst;
	const void *src;
	size_t dst_bytes, src_bytes; /* of a unit */
	const struct tt_convert_ops *to, *from;
	size_t elements; /* of a unit */
	void (*run)(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job);
};

static void run_piece(void *context, size_t begin, size_t end)
{
	const struct job *job = context;

	job->run((uint8_t *)job->dst + begin * job->dst_bytes,
		 (const uint8_t *)job->src + begin * job->src_bytes, end - begin, job);
}

static tt_status run_job(struct job *job, size_t units)
{
	size_t grain = PIECE / job->elements;

	if (units <= grain) {
		run_piece(job, 0, units);
		return TTNN_OK;
	}
	tt_pool_for(units, grain, run_piece, job);
	return tt_deadline_check();
}

static void run_copy(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	memmove(dst, src, units * job->dst_bytes);
}

static void run_load_f32(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	job->from->load_f32((float *)(void *)dst, src, units);
}

static void run_store_f32(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	job->to->store_f32(dst, (const float *)(const void *)src, units);
}

static void run_load_f64(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	job->from->load_f64((double *)(void *)dst, src, units);
}

static void run_store_f64(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	job->to->store_f64(dst, (const double *)(const void *)src, units);
}

static void run_through_f32(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	float hub[HUB];

	for (size_t done = 0; done < units; done += HUB) {
		size_t count = units - done < HUB ? units - done : HUB;

		job->from->load_f32(hub, src + done * job->src_bytes, count);
		job->to->store_f32(dst + done * job->dst_bytes, hub, count);
	}
}

static void run_through_i32(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	uint32_t hub[HUB];

	for (size_t done = 0; done < units; done += HUB) {
		size_t count = units - done < HUB ? units - done : HUB;

		job->from->load_i32(hub, src + done * job->src_bytes, count);
		job->to->store_i32(dst + done * job->dst_bytes, hub, count);
	}
}

tt_status tt_convert(void *dst, enum ttnn_dtype dst_dtype, const void *src,
		     enum ttnn_dtype src_dtype, size_t count)
{
	struct job job = {.dst = dst, .src = src, .elements = 1};

	TT_TRY(check(dst_dtype, false));
	TT_TRY(check(src_dtype, false));
	job.dst_bytes = tt_dtype_bytes(dst_dtype);
	job.src_bytes = tt_dtype_bytes(src_dtype);
	job.to = ops_of(dst_dtype);
	job.from = ops_of(src_dtype);
	if (dst_dtype == src_dtype)
		job.run = run_copy;
	else if (tt_dtype_is_integer(dst_dtype) && tt_dtype_is_integer(src_dtype))
		job.run = job.dst_bytes == job.src_bytes ? run_copy : run_through_i32;
	else if (dst_dtype == TTNN_FLOAT32)
		job.run = run_load_f32;
	else if (src_dtype == TTNN_FLOAT32)
		job.run = run_store_f32;
	else
		job.run = run_through_f32;
	return run_job(&job, count);
}

tt_status tt_convert_from_f64(void *dst, enum ttnn_dtype dst_dtype, const double *src, size_t count)
{
	struct job job = {.dst = dst, .src_bytes = sizeof(*src), .elements = 1};

	TT_TRY(check(dst_dtype, false));
	job.src = src;
	job.run = run_store_f64;
	job.dst_bytes = tt_dtype_bytes(dst_dtype);
	job.to = ops_of(dst_dtype);
	return run_job(&job, count);
}

tt_status tt_convert_to_f64(double *dst, const void *src, enum ttnn_dtype src_dtype, size_t count)
{
	struct job job = {.src = src, .dst_bytes = sizeof(*dst), .elements = 1};

	TT_TRY(check(src_dtype, false));
	job.dst = dst;
	job.run = run_load_f64;
	job.src_bytes = tt_dtype_bytes(src_dtype);
	job.from = ops_of(src_dtype);
	return run_job(&job, count);
}

/* ---- tiles in face order -------------------------------------------------------------------- */

/*
 * A tile of a block float:
 *
 *	exponents   one byte per group: rows of face 0, of face 1, ...; zeros up to 16 bytes
 *	mantissas   the elements in the same order, packed, the first in the low bits
 */
static void encode_groups(uint8_t *dst, const float *src, const struct job *job)
{
	size_t groups = job->elements / TT_FACE, exponents = (groups + 15) / 16 * 16;

	job->to->encode(dst, dst + exponents, src, &(struct tt_convert_rows){groups, TT_FACE});
	memset(dst + groups, 0, exponents - groups);
}

static void decode_groups(float *dst, const uint8_t *src, const struct job *job)
{
	size_t groups = job->elements / TT_FACE, exponents = (groups + 15) / 16 * 16;

	job->from->decode(dst, src, src + exponents, &(struct tt_convert_rows){groups, TT_FACE});
}

static void run_tiles(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	float hub[HUB];

	for (; units; units--, dst += job->dst_bytes, src += job->src_bytes) {
		if (job->from->decode)
			decode_groups(hub, src, job);
		else
			job->from->load_f32(hub, src, job->elements);
		if (job->to->encode)
			encode_groups(dst, hub, job);
		else
			job->to->store_f32(dst, hub, job->elements);
	}
}

/* float32 is the hub: no copy of it is needed. */
static void run_encode(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	for (; units; units--, dst += job->dst_bytes, src += job->src_bytes)
		encode_groups(dst, (const float *)(const void *)src, job);
}

static void run_decode(uint8_t *dst, const uint8_t *src, size_t units, const struct job *job)
{
	for (; units; units--, dst += job->dst_bytes, src += job->src_bytes)
		decode_groups((float *)(void *)dst, src, job);
}

tt_status tt_convert_tiles(void *dst, enum ttnn_dtype dst_dtype, const void *src,
			   enum ttnn_dtype src_dtype, const struct tt_tile_run *run)
{
	struct job job = {.dst = dst, .src = src};

	TT_TRY(check(dst_dtype, true));
	TT_TRY(check(src_dtype, true));
	TT_TRY(tt_tile_check(&run->tile)); /* the hub holds no larger one */
	job.elements = (size_t)run->tile.height * run->tile.width;
	if (!tt_dtype_is_block(dst_dtype) && !tt_dtype_is_block(src_dtype))
		return tt_convert(dst, dst_dtype, src, src_dtype, run->tiles * job.elements);
	job.dst_bytes = tt_dtype_tile_bytes(dst_dtype, &run->tile);
	job.src_bytes = tt_dtype_tile_bytes(src_dtype, &run->tile);
	job.to = ops_of(dst_dtype);
	job.from = ops_of(src_dtype);
	if (dst_dtype == src_dtype)
		job.run = run_copy;
	else if (src_dtype == TTNN_FLOAT32)
		job.run = run_encode;
	else if (dst_dtype == TTNN_FLOAT32)
		job.run = run_decode;
	else
		job.run = run_tiles;
	return run_job(&job, run->tiles);
}

/* ---- tiles in a matrix ---------------------------------------------------------------------- */

/* Copies the window into a whole tile, padded; a transposed tile lies there transposed. */
static void gather(float *whole, const struct ttnn_tile *tile, const float *src,
		   const struct tt_tile_window *window)
{
	size_t down = tile->transpose ? 1 : tile->width,
	       across = tile->transpose ? tile->height : 1;

	for (size_t i = 0; i < (size_t)tile->height * tile->width; i++)
		whole[i] = window->pad;
	for (size_t r = 0; r < window->rows; r++)
		for (size_t c = 0; c < window->cols; c++)
			whole[r * down + c * across] = src[r * window->stride + c];
}

static void scatter(float *dst, const struct tt_tile_window *window, const struct ttnn_tile *tile,
		    const float *whole)
{
	size_t down = tile->transpose ? 1 : tile->width,
	       across = tile->transpose ? tile->height : 1;

	for (size_t r = 0; r < window->rows; r++)
		for (size_t c = 0; c < window->cols; c++)
			dst[r * window->stride + c] = whole[r * down + c * across];
}

/* Whether the kernels can work on the matrix itself, without a copy of the tile. */
static bool is_direct(const struct ttnn_tile *tile, const struct tt_tile_window *window)
{
	return !tile->transpose && window->rows == tile->height && window->cols == tile->width;
}

/* The faces of a tile one after the other. A transposed tile is walked as the copy made of it. */
struct walk {
	size_t height, width;        /* of the tile */
	struct tt_convert_rows rows; /* of a face */
	size_t row, col;             /* where the face begins */
	size_t group, byte;          /* its first exponent and mantissa */
	size_t row_bytes;            /* mantissas of a group */
};

static struct walk walk_start(enum ttnn_dtype dtype, const struct ttnn_tile *tile, size_t stride)
{
	struct walk walk = {
		.height = tile->transpose ? tile->width : tile->height,
		.width = tile->transpose ? tile->height : tile->width,
		.row_bytes = (tt_dtype_find(dtype)->mantissa + 1) * TT_FACE / 8,
	};

	walk.rows.count = walk.height < TT_FACE ? walk.height : TT_FACE;
	walk.rows.stride = stride;
	return walk;
}

static void walk_on(struct walk *walk)
{
	walk->group += walk->rows.count;
	walk->byte += walk->rows.count * walk->row_bytes;
	walk->col += TT_FACE;
	if (walk->col == walk->width) {
		walk->col = 0;
		walk->row += walk->rows.count;
	}
}

void tt_bfp_encode_tile(void *dst, enum ttnn_dtype dtype, const struct ttnn_tile *tile,
			const float *src, const struct tt_tile_window *window)
{
	const struct tt_convert_ops *ops = ops_of(dtype);
	size_t exponent_bytes = tt_dtype_exponent_bytes(dtype, tile);
	uint8_t *exponents = dst, *mantissas = exponents + exponent_bytes;
	struct walk walk = walk_start(dtype, tile, window->stride);
	float whole[SIDE * SIDE];

	if (!is_direct(tile, window)) {
		gather(whole, tile, src, window);
		src = whole;
		walk.rows.stride = walk.width;
	}
	for (; walk.row < walk.height; walk_on(&walk))
		ops->encode(exponents + walk.group, mantissas + walk.byte,
			    src + walk.row * walk.rows.stride + walk.col, &walk.rows);
	memset(exponents + walk.group, 0, exponent_bytes - walk.group);
}

void tt_bfp_decode_tile(float *dst, const struct tt_tile_window *window, enum ttnn_dtype dtype,
			const struct ttnn_tile *tile, const void *src)
{
	const struct tt_convert_ops *ops = ops_of(dtype);
	const uint8_t *exponents = src;
	const uint8_t *mantissas = exponents + tt_dtype_exponent_bytes(dtype, tile);
	struct walk walk = walk_start(dtype, tile, window->stride);
	bool direct = is_direct(tile, window);
	float whole[SIDE * SIDE], *to = direct ? dst : whole;

	if (!direct)
		walk.rows.stride = walk.width;
	for (; walk.row < walk.height; walk_on(&walk))
		ops->decode(to + walk.row * walk.rows.stride + walk.col, exponents + walk.group,
			    mantissas + walk.byte, &walk.rows);
	if (!direct)
		scatter(dst, window, tile, to);
}
