/*
 * golden_dims.h: for the golden tests of operations over dimensions: which dimensions, and inputs whose
 * results differ from each other. Include it after golden_cases.h.
 */
#ifndef TT_TESTS_OPS_GOLDEN_DIMS_H
#define TT_TESTS_OPS_GOLDEN_DIMS_H

#include "ops/golden_cases.h"

/* Dimension arguments, each for a tensor of any rank; NULL counts: as the number says. */
enum golden_which { ALL, LAST, BEFORE_LAST, FIRST, LAST_TWO, FIRST_AND_LAST, EVERY, WHICH };

/* Writes the argument; false when a tensor of this rank has no such dimensions. */
static inline bool golden_dims(struct ttnn_value *out, struct ttnn_value *items,
			       enum golden_which which, uint32_t rank)
{
	switch (which) {
	case ALL:
		*out = ttnn_v_none();
		return true;
	case LAST:
	case BEFORE_LAST:
		*out = ttnn_v_int(which == LAST ? -1 : -2);
		return rank >= (which == LAST ? 1 : 2);
	case FIRST:
		*out = ttnn_v_int(0);
		return true;
	case LAST_TWO:
		items[0] = ttnn_v_int(-1);
		items[1] = ttnn_v_int(-2);
		*out = ttnn_v_list(items, 2);
		return rank >= 2;
	case FIRST_AND_LAST:
		items[0] = ttnn_v_int(0);
		items[1] = ttnn_v_int(-1);
		*out = ttnn_v_list(items, 2);
		return rank >= 2;
	default:
		for (uint32_t i = 0; i < rank; i++)
			items[i] = ttnn_v_int(i);
		*out = ttnn_v_list(items, rank);
		return true;
	}
}

/* How large values are at a coordinate: results that were all alike would say little. */
static inline double golden_size_at(const struct ttnn_shape *shape, uint64_t index)
{
	double size = 1;

	for (uint32_t d = shape->rank; d-- > 0;) {
		size *= 0.25 + (double)(index % shape->dim[d] * 37 % 11) / 8;
		index /= shape->dim[d];
	}
	return size;
}

/* A device tensor whose rows, columns and so on differ in size. */
static inline ttnn_tensor *golden_uneven(const struct ttnn_spec_args *args, uint64_t *state,
					 double low, double high)
{
	bool whole = tt_dtype_is_integer(args->dtype);
	ttnn_tensor *host = NULL, *out = NULL;
	struct ttnn_tensor_spec spec;
	uint64_t count = 0;
	float *data;

	CHECK_OK(ttnn_tensor_spec_make(&spec, args));
	CHECK_OK(ttnn_shape_volume(&count, &args->shape));
	data = calloc(count + 1, sizeof(*data));
	for (uint64_t i = 0; i < count && data; i++) {
		double value = golden_number(state, args->dtype, low, high) *
			       golden_size_at(&args->shape, i);

		data[i] = (float)(whole ? floor(value) : value);
	}
	CHECK_OK(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 77));
	free(data);
	CHECK_OK(ttnn_call_one(&out, "ttnn.to_device",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)},
						   {NULL, ttnn_v_device(golden_device())},
						   {NULL, ttnn_v_memory(&args->memory)}},
			       3, TTNN_FRONTEND_C));
	ttnn_tensor_unref(host);
	return out;
}

#endif
