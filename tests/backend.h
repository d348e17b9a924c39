/*
 * backend.h: random tensors for the tests of backend jobs, and slow ways to look at them. Include it
 * after test.h.
 *
 * The padding of every tensor made here is poisoned, so that a kernel that reads it is found out.
 */
#ifndef TT_TESTS_BACKEND_H
#define TT_TESTS_BACKEND_H

#include "backend/backend.h"
#include "base/cpu.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

/* All that is random in a run of tests. */
static uint64_t bk_state = 1;

static inline uint64_t bk_below(uint64_t limit)
{
	return test_random(&bk_state) % limit;
}

static inline bool bk_chance(uint64_t in)
{
	return bk_below(in) == 0;
}

/* ---- specs ------------------------------------------------------------------------------------- */

static const struct ttnn_tile bk_tiles[] = {
	{32, 32, false}, {16, 32, false}, {32, 16, false}, {16, 16, false}, {8, 32, false},
	{4, 32, false},  {2, 32, false},  {1, 32, false},  {1, 16, false},  {4, 16, false},
	{32, 32, true},  {16, 32, true},  {32, 16, true},  {16, 16, true},
};

/* A shape of up to five dimensions and few thousand elements; sometimes with none. */
static inline struct ttnn_shape bk_shape(uint32_t rank)
{
	static const uint32_t inner[] = {1, 2, 7, 16, 17, 31, 32, 33, 40, 64, 65, 100};
	static const uint32_t outer[] = {1, 1, 2, 3, 4};
	struct ttnn_shape shape = {.rank = rank};

	for (uint32_t back = 1; back <= rank; back++)
		shape.dim[rank - back] = back <= 2 ? inner[bk_below(12)] : outer[bk_below(5)];
	if (rank && bk_chance(40))
		shape.dim[bk_below(rank)] = 0;
	return shape;
}

static inline uint64_t bk_volume(const struct ttnn_shape *shape)
{
	uint64_t volume = 1;

	for (uint32_t d = 0; d < shape->rank; d++)
		volume *= shape->dim[d];
	return volume;
}

/* A spec of that shape and type: any layout, tile and alignment. */
static inline struct ttnn_tensor_spec bk_spec(const struct ttnn_shape *shape, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	struct ttnn_tensor_spec spec = {0};

	if (dtype != TTNN_FP8_E4M3 && (tt_dtype_is_block(dtype) || bk_chance(2)))
		args.layout = TTNN_TILE;
	if (args.layout == TTNN_TILE)
		args.tile = bk_chance(2) ? bk_tiles[0]
					 : bk_tiles[bk_below(sizeof(bk_tiles) / sizeof(*bk_tiles))];
	if (bk_chance(4)) {
		args.alignment = TT_SHAPE(bk_chance(2) ? 1 : 3, 8);
		if (args.layout == TTNN_TILE)
			args.alignment = TT_SHAPE(64, 64);
	}
	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	return spec;
}

static inline enum ttnn_dtype bk_float_dtype(void)
{
	static const enum ttnn_dtype all[] = {TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_BFLOAT8_B,
					      TTNN_BFLOAT4_B, TTNN_FP8_E4M3};

	return all[bk_below(bk_chance(2) ? 2 : 5)];
}

static inline enum ttnn_dtype bk_int_dtype(void)
{
	static const enum ttnn_dtype all[] = {TTNN_INT32, TTNN_UINT32, TTNN_UINT16, TTNN_UINT8,
					      TTNN_INT8};

	return all[bk_below(5)];
}

/* ---- tensors ----------------------------------------------------------------------------------- */

static inline double *bk_new(uint64_t count)
{
	double *values = calloc(count ? count : 1, sizeof(*values));

	if (!values)
		abort();
	return values;
}

/* A tensor with these values, which are rounded to its type. */
static inline struct tt_tensor *bk_tensor(const struct ttnn_tensor_spec *spec, const double *values)
{
	uint64_t count = bk_volume(&spec->shape);
	struct tt_tensor *tensor = NULL;
	double poison = tt_dtype_is_integer(spec->dtype) ? 77
			: tt_dtype_is_block(spec->dtype) ? 3
							 : NAN;

	if (tt_dtype_is_integer(spec->dtype)) {
		uint32_t *bits = malloc(4 * count + 4);

		for (uint64_t i = 0; i < count; i++)
			bits[i] = (uint32_t)(int64_t)values[i];
		CHECK_OK(ttnn_tensor_from_data(&tensor, bits, TTNN_UINT32, spec, poison));
		free(bits);
	} else {
		float *floats = malloc(4 * count + 4);

		for (uint64_t i = 0; i < count; i++)
			floats[i] = (float)values[i];
		CHECK_OK(ttnn_tensor_from_data(&tensor, floats, TTNN_FLOAT32, spec, poison));
		free(floats);
	}
	return tensor;
}

/* The values of a tensor, for free(). */
static inline double *bk_read(const struct tt_tensor *tensor)
{
	uint64_t count = bk_volume(&tensor->spec.shape);
	double *values = bk_new(count);
	enum ttnn_dtype dtype = tensor->spec.dtype;

	if (tt_dtype_is_integer(dtype)) {
		bool is_signed = tt_dtype_find(dtype)->kind == TT_DTYPE_SIGNED;
		uint32_t *bits = malloc(4 * count + 4);

		CHECK_OK(ttnn_tensor_to_data(bits, 4 * count, is_signed ? TTNN_INT32 : TTNN_UINT32,
					     tensor));
		for (uint64_t i = 0; i < count; i++)
			values[i] = is_signed ? (double)(int32_t)bits[i] : (double)bits[i];
		free(bits);
	} else {
		float *floats = malloc(4 * count + 4);

		CHECK_OK(ttnn_tensor_to_data(floats, 4 * count, TTNN_FLOAT32, tensor));
		for (uint64_t i = 0; i < count; i++)
			values[i] = floats[i];
		free(floats);
	}
	return values;
}

/* Random values: small numbers with some digits; whole ones for integers. */
static inline double bk_value(enum ttnn_dtype dtype)
{
	const struct tt_dtype *row = tt_dtype_find(dtype);
	double unit = (double)bk_below(1u << 20) / (1 << 19) - 1;

	if (row->kind == TT_DTYPE_UNSIGNED)
		return (double)bk_below(bk_chance(8) ? (1ull << (8 * row->bytes)) : 100);
	if (row->kind == TT_DTYPE_SIGNED && bk_chance(8))
		return (double)bk_below(1ull << (8 * row->bytes)) -
		       ldexp(1, 8 * (int)row->bytes - 1);
	return row->kind == TT_DTYPE_SIGNED ? (double)bk_below(200) - 100 : 4 * unit;
}

static inline struct tt_tensor *bk_random(const struct ttnn_tensor_spec *spec)
{
	uint64_t count = bk_volume(&spec->shape);
	double *values = bk_new(count);
	struct tt_tensor *tensor;

	for (uint64_t i = 0; i < count; i++)
		values[i] = bk_value(spec->dtype);
	tensor = bk_tensor(spec, values);
	free(values);
	return tensor;
}

/* A tensor whose content, padding too, is 0xff bytes: what a job has to write over. */
static inline struct tt_tensor *bk_blank(const struct ttnn_tensor_spec *spec)
{
	struct tt_tensor *tensor = NULL;

	CHECK_OK(tt_tensor_alloc(&tensor, spec));
	memset(tt_tensor_data(tensor), 0xff, (size_t)spec->bytes);
	return tensor;
}

/* ---- indices ----------------------------------------------------------------------------------- */

static inline void bk_unravel(uint64_t *index, const struct ttnn_shape *shape, uint64_t n)
{
	for (uint32_t d = shape->rank; d-- > 0;) {
		index[d] = n % shape->dim[d];
		n /= shape->dim[d];
	}
}

static inline uint64_t bk_ravel(const struct ttnn_shape *shape, const uint64_t *index)
{
	uint64_t n = 0;

	for (uint32_t d = 0; d < shape->rank; d++)
		n = n * shape->dim[d] + index[d];
	return n;
}

/* The number of the element of `shape` that goes with element n of the larger shape `of`. */
static inline uint64_t bk_broadcast(const struct ttnn_shape *shape, const struct ttnn_shape *of,
				    uint64_t n)
{
	uint64_t index[TTNN_MAX_RANK], own[TTNN_MAX_RANK];

	bk_unravel(index, of, n);
	for (uint32_t d = 0; d < shape->rank; d++)
		own[d] = shape->dim[d] == 1 ? 0 : index[of->rank - shape->rank + d];
	return bk_ravel(shape, own);
}

/* ---- comparing --------------------------------------------------------------------------------- */

/* The values that `want` becomes in a tensor of this spec, for free(). */
static inline double *bk_rounded(const struct ttnn_tensor_spec *spec, const double *want)
{
	struct ttnn_tensor_spec clean = *spec;
	struct tt_tensor *tensor;
	double *values;

	/* Block floats round beside clean padding. */
	if (tt_dtype_is_block(spec->dtype)) {
		uint64_t count = bk_volume(&spec->shape);
		float *floats = malloc(4 * count + 4);

		for (uint64_t i = 0; i < count; i++)
			floats[i] = (float)want[i];
		CHECK_OK(ttnn_tensor_from_data(&tensor, floats, TTNN_FLOAT32, &clean, 0));
		free(floats);
	} else {
		tensor = bk_tensor(&clean, want);
	}
	values = bk_read(tensor);
	ttnn_tensor_unref(tensor);
	return values;
}

static inline bool bk_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* The tensor has the values that `want` rounds to, but for `slack` × (1 + |want|). */
static inline bool bk_check(const char *what, const struct tt_tensor *tensor, const double *want,
			    double slack)
{
	double *rounded = bk_rounded(&tensor->spec, want), *got = bk_read(tensor);
	uint64_t count = bk_volume(&tensor->spec.shape);
	bool good = true;

	for (uint64_t i = 0; i < count && good; i++) {
		good = bk_same(got[i], rounded[i]) ||
		       fabs(got[i] - rounded[i]) <= slack * (1 + fabs(want[i]));
		if (!good)
			TEST_FAIL("%s: element %llu is %.9g, not %.9g (%s, layout %d, rank %u)",
				  what, (unsigned long long)i, got[i], rounded[i],
				  ttnn_dtype_name(tensor->spec.dtype, TTNN_DIALECT_SEED),
				  (int)tensor->spec.layout, tensor->spec.shape.rank);
	}
	free(rounded);
	free(got);
	return good;
}

/* How far a value may be off that is rounded to this type after another rounding in float32. */
static inline double bk_slack(enum ttnn_dtype dtype)
{
	switch (dtype) {
	case TTNN_FLOAT32:
		return 4e-6;
	case TTNN_BFLOAT16:
		return 0x1p-7;
	case TTNN_BFLOAT8_B:
		return 0x1p-4;
	case TTNN_BFLOAT4_B:
		return 1;
	case TTNN_FP8_E4M3:
		return 0x1p-3;
	default:
		return 0;
	}
}

/* ---- the same bits ----------------------------------------------------------------------------- */

/*
 * Runs a job that writes `out` again on each instruction set and with 1, 2 and 5 threads: its values
 * must not change. `run` gets `context`.
 */
static inline void bk_same_bits(const char *what, tt_status (*run)(void *), void *context,
				const struct tt_tensor *out)
{
	uint64_t count = bk_volume(&out->spec.shape);
	enum tt_isa best = tt_cpu_isa();
	double *first = NULL;

	for (int isa = 0; isa < TT_ISA_COUNT; isa++)
		for (unsigned threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
			double *again;

			if (!tt_cpu_force_isa((enum tt_isa)isa))
				continue;
			tt_pool_set_threads(threads);
			CHECK_OK(run(context));
			again = bk_read(out);
			for (uint64_t i = 0; first && i < count; i++)
				if (!bk_same(first[i], again[i])) {
					TEST_FAIL("%s: element %llu is %.9g with %u threads of %s, "
						  "and %.9g",
						  what, (unsigned long long)i, again[i], threads,
						  tt_cpu_isa_name((enum tt_isa)isa), first[i]);
					break;
				}
			if (first)
				free(again);
			else
				first = again;
		}
	free(first);
	tt_pool_set_threads(0);
	CHECK(tt_cpu_force_isa(best));
}

#endif
