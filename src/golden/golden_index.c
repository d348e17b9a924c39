/* golden_index.c: goldens of operations that take elements by indices. */
#include <string.h>

#include "device/devtensor.h"
#include "golden/golden_movement.h"
#include "ops/dims.h"

static tt_status no_array(void)
{
	return tt_fail_prefix(TTNN_INVALID, "golden");
}

/* ---- where elements are -------------------------------------------------------------------------------------- */

tt_status tt_golden_nonzero(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape one = {4, {1, 1, 1, 8}}, all = {4, {1, 1, 1, 0}};
	uint64_t at[TTNN_MAX_RANK], found = 0;
	struct tt_array *count, *where;

	if (!in)
		return no_array();
	all.dim[3] = (uint32_t)in->count * 4;
	count = tt_golden_out(golden, &one, TTNN_UINT32);
	where = tt_golden_out(golden, &all, TTNN_UINT32);
	if (!count || !where)
		return no_array();
	for (uint64_t i = 0; i < in->count; i++) {
		if (in->data[i] == 0)
			continue;
		tt_array_coordinate(at, in, i);
		for (uint32_t d = 0; d < 4; d++)
			where->data[4 * found + d] = (double)at[d];
		found++;
	}
	count->data[0] = (double)found;
	return TTNN_OK;
}

/* An output that starts as a copy of an array. */
static struct tt_array *copy_of(struct tt_golden *golden, const struct tt_array *in)
{
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;

	for (uint64_t i = 0; out && i < in->count; i++)
		out->data[i] = in->data[i];
	return out;
}

static uint32_t dim_arg(const struct tt_golden *golden, uint32_t rank)
{
	int64_t dim = tt_call_int(&golden->call, "dim", 0);

	return (uint32_t)(dim < 0 ? dim + rank : dim);
}

tt_status tt_golden_indexed_fill(struct tt_golden *golden)
{
	const struct tt_array *ids = tt_golden_in(golden, "batch_id");
	const struct tt_array *b = tt_golden_in(golden, "input_tensor_b");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "input_tensor_a"));
	uint64_t at[TTNN_MAX_RANK];
	uint32_t dim;

	if (!ids || !b || !out)
		return no_array();
	dim = dim_arg(golden, b->shape.rank);
	for (uint64_t i = 0; i < b->count; i++) {
		tt_array_coordinate(at, b, i);
		at[dim] = (uint64_t)ids->data[at[dim]];
		if (at[dim] < out->shape.dim[dim])
			out->data[tt_array_index(out, at)] = b->data[i];
	}
	return TTNN_OK;
}

tt_status tt_golden_gather(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	const struct tt_array *index = tt_golden_in(golden, "index");
	struct tt_array *out = in && index ? tt_golden_out(golden, &index->shape, in->dtype) : NULL;
	uint64_t at[TTNN_MAX_RANK];

	if (!out)
		return no_array();
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		at[dim_arg(golden, in->shape.rank)] = (uint64_t)index->data[i];
		out->data[i] = in->data[tt_array_index(in, at)];
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

tt_status tt_golden_scatter(struct tt_golden *golden)
{
	const struct tt_array *index = tt_golden_in(golden, "index");
	const struct tt_array *source = tt_golden_in(golden, "src");
	struct tt_array *out = copy_of(golden, tt_golden_in(golden, "input"));
	const struct ttnn_value *reduce = tt_call_arg(&golden->call, "reduce");
	const char *how = reduce->kind == TTNN_VALUE_STRING ? reduce->text : "";
	uint64_t at[TTNN_MAX_RANK];

	if (!index || !source || !out)
		return no_array();
	if (strstr(golden->op->name, "scatter_add"))
		how = "add";
	for (uint64_t i = 0; i < index->count; i++) {
		double value, *place;

		tt_array_coordinate(at, index, i);
		value = source->data[tt_array_index(source, at)];
		at[dim_arg(golden, index->shape.rank)] = (uint64_t)index->data[i];
		place = &out->data[tt_array_index(out, at)];
		*place = tt_golden_fit(out->dtype, reduced(how, *place, value));
	}
	return TTNN_OK;
}
