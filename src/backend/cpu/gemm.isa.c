/*
 * gemm.isa.c: see gemm.h. A block of C stays in registers: mr rows of two vectors each. Written with
 * intrinsics, because compilers keep such a block in registers only when it looks like this, and
 * because products are added without rounding between, which is off elsewhere.
 */
#include "backend/cpu/gemm.h"

#include <string.h>

#include "backend/cpu/math.h"

static inline float widened(uint16_t half)
{
	return tt_as_float((uint32_t)half << 16);
}

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
#define MR 12
typedef __m512 vec;
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define ALL(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SUM(a, b) _mm512_add_ps(a, b)
#define HALF(p)                                                                                    \
	_mm512_castsi512_ps(_mm512_slli_epi32(                                                     \
		_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(p))), 16))
#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
#define MR 6
typedef __m256 vec;
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define ALL(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SUM(a, b) _mm256_add_ps(a, b)
#define HALF(p)                                                                                    \
	_mm256_castsi256_ps(                                                                       \
		_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p))), 16))
#else
#define LANES 4
#define MR 4
typedef float vec __attribute__((vector_size(16)));
static inline vec load(const float *p)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}
#define LOAD(p) load(p)
#define STORE(p, v) memcpy(p, &(v), sizeof(vec))
#define ALL(x) ((vec){x, x, x, x})
#define FMA(a, b, c) ((a) * (b) + (c))
#define SUM(a, b) ((a) + (b))
#define HALF(p) ((vec){widened((p)[0]), widened((p)[1]), widened((p)[2]), widened((p)[3])})
#endif
#define NR (2 * LANES)

/* ---- packing ----------------------------------------------------------------------------------- */

static void widen(float *out, const uint16_t *in, size_t count)
{
	TT_LOOP
	for (size_t i = 0; i < count; i++)
		out[i] = widened(in[i]);
}

static void load_left(float *out, const struct tt_matrix *a, size_t rows, size_t depth)
{
	for (size_t i = 0; i < rows; i++) {
		const uint16_t *half = (const uint16_t *)a->data + i * a->row_step;
		const float *full = (const float *)a->data + i * a->row_step;
		float *to = out + i * TT_GEMM_STEP;

		if (a->col_step == 1 && a->half)
			widen(to, half, depth);
		else if (a->col_step == 1)
			memcpy(to, full, depth * sizeof(float));
		else if (a->half)
			for (size_t k = 0; k < depth; k++)
				to[k] = widened(half[k * a->col_step]);
		else
			for (size_t k = 0; k < depth; k++)
				to[k] = full[k * a->col_step];
	}
}

/* Rows of `bytes` bytes each are columns of the panel: in squares, so that lines are used up. */
#define PACK_TRANSPOSED(name, type)                                                                \
	static void name(type *out, const type *from, const struct tt_matrix *b, size_t cols,      \
			 size_t depth)                                                             \
	{                                                                                          \
		size_t k = 0;                                                                      \
                                                                                                   \
		for (; k < depth; k += 16) {                                                       \
			size_t end = depth - k < 16 ? depth : k + 16;                              \
                                                                                                   \
			for (size_t j = 0; j < NR; j++)                                            \
				for (size_t i = k; i < end; i++)                                   \
					out[i * NR + j] =                                          \
						j < cols ? from[i * b->row_step + j * b->col_step] \
							 : 0;                                      \
		}                                                                                  \
	}
PACK_TRANSPOSED(pack_transposed_half, uint16_t)
PACK_TRANSPOSED(pack_transposed_full, float)

static void pack_right(void *out, const struct tt_matrix *b, size_t cols, size_t depth)
{
	size_t bytes = b->half ? sizeof(uint16_t) : sizeof(float);

	if (b->col_step != 1) {
		if (b->half)
			pack_transposed_half(out, b->data, b, cols, depth);
		else
			pack_transposed_full(out, b->data, b, cols, depth);
		return;
	}
	for (size_t k = 0; k < depth; k++) {
		uint8_t *to = (uint8_t *)out + k * NR * bytes;
		const uint8_t *from = (const uint8_t *)b->data + k * b->row_step * bytes;

		if (cols == NR) {
			memcpy(to, from, NR * bytes);
		} else {
			memcpy(to, from, cols * bytes);
			memset(to + cols * bytes, 0, (NR - cols) * bytes);
		}
	}
}

/* ---- blocks ------------------------------------------------------------------------------------ */

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* `rows` and `half` are constants wherever this is used, so the loops and choices disappear. */
static inline __attribute__((always_inline)) void multiply(float *c, size_t step,
							   const struct tt_gemm_block *block,
							   int rows, bool half)
{
	const float *a = block->a, *b = block->b;
	const uint16_t *h = block->half;
	size_t a_step = block->a_step;
	vec sum[MR][2];

	UNROLL
	for (int i = 0; i < rows; i++)
		sum[i][0] = sum[i][1] = ALL(0.0f);
	for (size_t k = 0; k < block->depth; k++) {
		vec left = half ? HALF(h) : LOAD(b);
		vec right = half ? HALF(h + LANES) : LOAD(b + LANES);

		UNROLL
		for (int i = 0; i < rows; i++) {
			vec x = ALL(a[(size_t)i * a_step + k]);

			sum[i][0] = FMA(x, left, sum[i][0]);
			sum[i][1] = FMA(x, right, sum[i][1]);
		}
		if (half)
			h += NR;
		else
			b += NR;
	}
	UNROLL
	for (int i = 0; i < rows; i++) {
		float *to = c + (size_t)i * step;

		if (block->add) {
			sum[i][0] = SUM(LOAD(to), sum[i][0]);
			sum[i][1] = SUM(LOAD(to + LANES), sum[i][1]);
		}
		STORE(to, sum[i][0]);
		STORE(to + LANES, sum[i][1]);
	}
}

#define ROWS(n)                                                                                    \
	case n:                                                                                    \
		if (block->half)                                                                   \
			multiply(c, step, block, n, true);                                         \
		else                                                                               \
			multiply(c, step, block, n, false);                                        \
		return
static void multiply_rows(float *c, size_t step, const struct tt_gemm_block *block)
{
	switch (block->rows) {
		ROWS(1);
		ROWS(2);
		ROWS(3);
		ROWS(4);
#if MR > 4
		ROWS(5);
		ROWS(6);
#endif
#if MR > 6
		ROWS(7);
		ROWS(8);
		ROWS(9);
		ROWS(10);
		ROWS(11);
		ROWS(12);
#endif
	default:
		return;
	}
}

static void run_block(float *c, size_t step, const struct tt_gemm_block *block)
{
	float room[MR * NR];

	if (block->cols == NR) {
		multiply_rows(c, step, block);
		return;
	}
	for (uint32_t i = 0; block->add && i < block->rows; i++)
		memcpy(room + i * NR, c + i * step, block->cols * sizeof(float));
	multiply_rows(room, NR, block);
	for (uint32_t i = 0; i < block->rows; i++)
		memcpy(c + i * step, room + i * NR, block->cols * sizeof(float));
}

/* ---- rows -------------------------------------------------------------------------------------- */

static float dot(const float *x, const float *y, size_t count)
{
	vec sum[4] = {ALL(0.0f), ALL(0.0f), ALL(0.0f), ALL(0.0f)};
	float lanes[LANES], total = 0;
	size_t i = 0;

	for (; i + 4 * LANES <= count; i += 4 * LANES)
		for (size_t k = 0; k < 4; k++)
			sum[k] = FMA(LOAD(x + i + k * LANES), LOAD(y + i + k * LANES), sum[k]);
	for (; i + LANES <= count; i += LANES)
		sum[0] = FMA(LOAD(x + i), LOAD(y + i), sum[0]);
	sum[0] = SUM(SUM(sum[0], sum[1]), SUM(sum[2], sum[3]));
	STORE(lanes, sum[0]);
	for (int k = 0; k < LANES; k++)
		total += lanes[k];
	for (; i < count; i++)
		total += x[i] * y[i];
	return total;
}

static void axpy(float *y, const float *x, size_t count, float scale)
{
	vec all = ALL(scale);
	size_t i = 0;

	for (; i + LANES <= count; i += LANES) {
		vec sum = FMA(LOAD(x + i), all, LOAD(y + i));

		STORE(y + i, sum);
	}
	for (; i < count; i++)
		y[i] += x[i] * scale;
}

static void taps(float *y, const float *const *x, const float *const *w, size_t rows, size_t count)
{
	size_t i = 0;

	for (; i + 4 * LANES <= count; i += 4 * LANES) {
		vec sum[4] = {ALL(0.0f), ALL(0.0f), ALL(0.0f), ALL(0.0f)};

		for (size_t r = 0; r < rows; r++)
			for (size_t k = 0; k < 4; k++)
				sum[k] = FMA(LOAD(x[r] + i + k * LANES), LOAD(w[r] + i + k * LANES),
					     sum[k]);
		for (size_t k = 0; k < 4; k++)
			STORE(y + i + k * LANES, sum[k]);
	}
	for (; i + LANES <= count; i += LANES) {
		vec sum = ALL(0.0f);

		for (size_t r = 0; r < rows; r++)
			sum = FMA(LOAD(x[r] + i), LOAD(w[r] + i), sum);
		STORE(y + i, sum);
	}
	for (; i < count; i++) {
		float sum = 0;

		for (size_t r = 0; r < rows; r++)
			sum += x[r][i] * w[r][i];
		y[i] = sum;
	}
}

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
extern const struct tt_gemm_fns PASTE(tt_gemm_, TT_ISA);
const struct tt_gemm_fns PASTE(tt_gemm_, TT_ISA) = {
	.mr = MR,
	.nr = NR,
	.load_left = load_left,
	.pack_right = pack_right,
	.widen = widen,
	.block = run_block,
	.dot = dot,
	.axpy = axpy,
	.taps = taps,
};
