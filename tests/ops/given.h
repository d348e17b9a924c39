/*
 * given.h: what a golden case is called with: arguments that are added one by one, and the tensors
 * among them, which go with it. Include it after test.h and golden.h.
 */
#ifndef TT_TESTS_OPS_GIVEN_H
#define TT_TESTS_OPS_GIVEN_H

#include "ops/golden_cases.h"

struct given {
	struct ttnn_arg args[40];
	size_t count;
	ttnn_tensor *tensors[24];
	size_t tensor_count;
	struct ttnn_value items[64];
	uint64_t state;
};

static inline void given_add(struct given *given, const char *name, struct ttnn_value value)
{
	given->args[given->count++] = (struct ttnn_arg){name, value};
}

/* A tensor of this spec with values from low to high, as an argument; NULL name: by position. */
static inline ttnn_tensor *given_tensor(struct given *given, const char *name,
					const struct ttnn_spec_args *spec, double low, double high)
{
	ttnn_tensor *tensor = golden_make(spec, &given->state, low, high);

	given->tensors[given->tensor_count++] = tensor;
	given_add(given, name, ttnn_v_tensor(tensor));
	return tensor;
}

/* A tile tensor in DRAM of four dimensions, or of as many as are not 0. */
static inline struct ttnn_spec_args given_spec(enum ttnn_dtype dtype, uint32_t a, uint32_t b,
					       uint32_t c, uint32_t d)
{
	const uint32_t dims[] = {a, b, c, d};
	struct ttnn_spec_args spec = {.dtype = dtype, .layout = TTNN_TILE};

	for (int i = 0; i < 4; i++)
		if (dims[i])
			spec.shape.dim[spec.shape.rank++] = dims[i];
	return spec;
}

/* The same number `count` times, or counted up by `step` from it. */
static inline struct ttnn_value given_list(struct given *given, int64_t first, int64_t step,
					   size_t count)
{
	for (size_t i = 0; i < count; i++)
		given->items[i] = ttnn_v_int(first + (int64_t)i * step);
	return ttnn_v_list(given->items, count);
}

/* A device tensor of these whole numbers in rows. */
static inline ttnn_tensor *given_numbers(struct given *given, const char *name,
					 const struct ttnn_shape *shape, enum ttnn_dtype dtype,
					 const int32_t *numbers)
{
	struct ttnn_spec_args args = {.shape = *shape, .dtype = dtype};
	ttnn_tensor *out = golden_upload(numbers, TTNN_INT32, &args, 0);

	given->tensors[given->tensor_count++] = out;
	given_add(given, name, ttnn_v_tensor(out));
	return out;
}

/* Runs the case and gives the tensors back. */
static inline void given_free(struct given *given)
{
	for (size_t i = 0; i < given->tensor_count; i++)
		ttnn_tensor_unref(given->tensors[i]);
	given->count = given->tensor_count = 0;
}

/* Arguments that a golden refuses with this message. */
static inline void given_refused(struct given *given, const char *op, const char *text)
{
	struct tt_arena arena = {0};
	struct tt_golden *golden = tt_arena_calloc(&arena, 1, sizeof(*golden));

	CHECK_FAILS(tt_golden_run(golden, &arena, op, given->args, given->count), TTNN_INVALID,
		    text);
	tt_arena_deinit(&arena);
	given_free(given);
}

static inline void given_case(struct given *given, const char *op, size_t n, double slack)
{
	if (!golden_case(op, given->args, given->count, slack))
		TEST_FAIL("%s: case %zu", op, n);
	given_free(given);
}

#endif
