/* golden_index.c: goldens of operations that take elements by indices. */
#include <inttypes.h>
#include <string.h>

#include "device/devtensor.h"
#include "golden/golden_movement.h"
#include "ops/dims.h"

/* ---- where elements are -------------------------------------------------------------------------------------- */

/*
 * Four coordinates for each element that is not zero, in order; what is behind them is not
 * defined.
 */
tt_status tt_golden_nonzero(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape one = {4, {1, 1, 1, 8}}, all = {4, {1, 1, 1, 0}};
	uint64_t at[TTNN_MAX_RANK], found = 0;
	struct tt_array *count, *where;

	TT_GOLDEN_NEED(in);
	all.dim[3] = (uint32_t)in->count * 4;
	count = tt_golden_out(golden, &one, TTNN_UINT32);
	where = tt_golden_out(golden, &all, TTNN_UINT32);
	TT_GOLDEN_NEED(count && where);
	for (uint64_t i = 0; i < in->count; i++) {
		if (*tt_at(in, i) == 0)
			continue;
		tt_array_coordinate(at, in, i);
		for (uint32_t d = 0; d < 4; d++)
			*tt_at(where, 4 * found + d) = (double)at[d];
		found++;
	}
	*tt_at(count, 0) = (double)found;
	return TTNN_OK;
}

/* An output that starts as a copy of an array. */
static struct tt_array *copy_of(struct tt_golden *golden, const struct tt_array *in)
{
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	for (uint64_t i = 0; out && i < in->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	return out;
}

static uint32_t dim_arg(const struct tt_golden *golden, uint32_t rank)
{
	return tt_place_of(tt_call_int(&golden->call, "dim", 0), rank);
}

/* Slice i of b becomes slice ids[i] of a; ids outside are dropped. */
tt_status tt_golden_indexed_fill(struct tt_golden *golden)
{
	const struct tt_array *ids = tt_golden_in(golden, "batch_id");
	const struct tt_array *b = tt_golden_in(golden, "input_tensor_b");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "input_tensor_a"));
	uint64_t at[TTNN_MAX_RANK];
	uint32_t dim;

	TT_GOLDEN_NEED(ids && b && out);
	dim = dim_arg(golden, b->shape.rank);
	for (uint64_t i = 0; i < b->count; i++) {
		tt_array_coordinate(at, b, i);
		at[dim] = (uint64_t)*tt_at(ids, at[dim]);
		if (at[dim] < out->shape.dim[dim])
			*tt_at(out, tt_array_index(out, at)) = *tt_at(b, i);
	}
	return TTNN_OK;
}

/*
 * As torch.gather: the index says where along one dimension, the other coordinates are the
 * result's.
 */
tt_status tt_golden_gather(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *index = tt_golden_in(golden, "index");
	struct tt_array *out = in && index ? tt_golden_out(golden, &index->shape, in->dtype) : NULL;
	uint64_t at[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		at[dim_arg(golden, in->shape.rank)] = (uint64_t)*tt_at(index, i);
		*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

static double reduced(const char *how, double old, double value)
{
	if (strcmp(how, "add") == 0)
		return old + value;
	if (strcmp(how, "multiply") == 0)
		return old * value;
	if (strcmp(how, "amax") == 0)
		return old > value ? old : value;
	if (strcmp(how, "amin") == 0)
		return old < value ? old : value;
	return value;
}

/*
 * As torch.scatter_reduce with include_self: in the order of indices, so that the last of equal
 * ones counts.
 */
tt_status tt_golden_scatter(struct tt_golden *golden)
{
	const struct tt_array *index = tt_golden_in(golden, "index");
	const struct tt_array *source = tt_golden_in(golden, "src");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "input"));
	const struct ttnn_value *reduce = tt_call_arg(&golden->call, "reduce");
	const char *how = reduce->kind == TTNN_VALUE_STRING ? reduce->text : "";
	uint64_t at[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(index && source && out);
	if (strstr(golden->op->name, "scatter_add"))
		how = "add";
	for (uint64_t i = 0; i < index->count; i++) {
		double value, *place;

		tt_array_coordinate(at, index, i);
		value = *tt_at(source, tt_array_index(source, at));
		at[dim_arg(golden, index->shape.rank)] = (uint64_t)*tt_at(index, i);
		place = tt_at(out, tt_array_index(out, at));
		*place = tt_golden_fit(out->dtype, reduced(how, *place, value));
	}
	return TTNN_OK;
}

/* Elements from `start` on along a dimension, as many as the length says. */
tt_status tt_golden_narrow(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	int64_t start = tt_call_int(&golden->call, "start", 0), length;
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	shape = in->shape;
	dim = tt_place_of(dim, shape.rank);
	if (start < 0)
		start += shape.dim[dim];
	length = tt_call_int(&golden->call, "length", 0);
	/* Lengths reach into what pads the last tiles; all of it is the tensor as it is. */
	if (start || length < shape.dim[dim])
		shape.dim[dim] = (uint32_t)length;
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, out, i);
		at[dim] += (uint64_t)start;
		if (at[dim] < in->shape.dim[dim])
			*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

/* ---- rows by their numbers ---------------------------------------------------------------------------------- */

tt_status tt_golden_index_fill(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *index = tt_golden_in(golden, "index");
	struct tt_array *out = in && index ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	double value = 0;

	tt_value_number(&value, tt_call_arg(&golden->call, "value"));
	TT_GOLDEN_NEED(out);
	if (dim < 0 || dim >= in->shape.rank)
		return tt_fail(TTNN_INVALID, "golden: there is no dimension %" PRId64, dim);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, in, i);
		*tt_at(out, i) = *tt_at(in, i);
		for (uint64_t k = 0; k < index->count; k++)
			if ((uint64_t)*tt_at(index, k) == at[dim])
				*tt_at(out, i) = value;
	}
	return TTNN_OK;
}

static tt_status no_row(const struct tt_array *array)
{
	return tt_fail(TTNN_INVALID, "golden: an index is outside of %u rows", array->shape.dim[1]);
}

/* Row w of a batch is row index[w] of it. */
tt_status tt_golden_tosa_gather(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *index = tt_golden_in(golden, "index");
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in && index);
	shape = in->shape;
	shape.dim[1] = index->shape.dim[1];
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, out, i);
		at[1] = (uint64_t)*tt_at(index, at[0] * shape.dim[1] + at[1]);
		if (at[1] >= in->shape.dim[1])
			return no_row(in);
		*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

/* Row index[w] of a batch becomes row w of the source. */
tt_status tt_golden_tosa_scatter(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *index = tt_golden_in(golden, "index");
	const struct tt_array *source = tt_golden_in(golden, "src");
	struct tt_array *out =
		in && index && source ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	for (uint64_t i = 0; i < source->count; i++) {
		uint64_t at[TTNN_MAX_RANK];

		tt_array_coordinate(at, source, i);
		at[1] = (uint64_t)*tt_at(index, at[0] * index->shape.dim[1] + at[1]);
		if (at[1] >= out->shape.dim[1])
			return no_row(out);
		*tt_at(out, tt_array_index(out, at)) = *tt_at(source, i);
	}
	return TTNN_OK;
}
