/*
 * golden_movement.c: goldens of operations that only move elements: shapes, orders, parts,
 * repetitions.
 *
 * Most are one function: where does an element of the result come from? gather() asks that for
 * every element and leaves 0 where the answer is "nowhere". No golden copies rows or thinks in
 * tiles: that is what backends do, and what is to be checked.
 */
#include "golden/golden_movement.h"

#include <inttypes.h>

#include "device/devtensor.h"
#include "ops/dims.h"
#include "ops/op_enums.h"

/* ---- what they share ------------------------------------------------------------------------------------- */

/* The names under which operations take their first tensor. */
static const struct tt_array *first_input(struct tt_golden *golden)
{
	static const char *const names[] = {"input_tensor", "tensor", "input", "input_a"};

	for (size_t i = 0; i < TT_COUNT(names); i++)
		if (tt_call_tensor(&golden->call, names[i]))
			return tt_golden_in(golden, names[i]);
	return NULL;
}

/* The dtype the result has: the one asked for, or that of the input. */
static enum ttnn_dtype out_dtype(const struct tt_golden *golden, enum ttnn_dtype dtype)
{
	static const char *const names[] = {"dtype", "output_dtype"};

	for (size_t i = 0; i < TT_COUNT(names); i++)
		if (tt_value_given(tt_call_arg(&golden->call, names[i])))
			return tt_call_dtype(&golden->call, names[i], dtype);
	return dtype;
}

/* An output with the elements of an array, in order, under another shape. */
static tt_status give(struct tt_golden *golden, const struct tt_array *in,
		      const struct ttnn_shape *shape)
{
	struct tt_array *out =
		in ? tt_golden_out(golden, shape, out_dtype(golden, in->dtype)) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(in, i);
	return TTNN_OK;
}

/* Where the element at a coordinate of the output comes from; false: from nowhere. */
typedef bool (*source_fn)(uint64_t *from, const uint64_t *to, const void *context);

/*
 * The result element by element: `source` turns a coordinate of the result into one of the
 * input, or says that there is none.
 */
static tt_status gather(struct tt_golden *golden, const struct tt_array *in,
			const struct ttnn_shape *shape, source_fn source, const void *context)
{
	struct tt_array *out = in ? tt_golden_out(golden, shape, in->dtype) : NULL;
	uint64_t to[TTNN_MAX_RANK], from[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(to, out, i);
		if (source(from, to, context))
			*tt_at(out, i) = *tt_at(in, tt_array_index(in, from));
	}
	return TTNN_OK;
}

static uint32_t normal(int64_t dim, uint32_t rank)
{
	return (uint32_t)(dim < 0 ? dim + rank : dim);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* ---- the same elements --------------------------------------------------------------------------------------- */

tt_status tt_golden_same(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);

	TT_GOLDEN_NEED(in);
	return give(golden, in, &in->shape);
}

/* A shape with its padded one: what is stored, padding and all, under another padded shape. */
static tt_status reshape_stored(struct tt_golden *golden, const struct tt_array *in,
				const struct ttnn_shape *shape)
{
	const struct ttnn_shape *from = &tt_golden_tensor(golden, "input_tensor")->spec.padded;
	struct tt_array *out = tt_golden_out(golden, shape, in->dtype);
	int64_t padded[TTNN_MAX_RANK];
	uint64_t at[TTNN_MAX_RANK];
	size_t rank;

	TT_GOLDEN_NEED(out);
	TT_TRY(tt_call_ints(padded, &rank, TTNN_MAX_RANK, &golden->call, "padded_shape"));
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t flat = 0;
		bool inside = true;

		tt_array_coordinate(at, out, i);
		for (uint32_t d = 0; d < shape->rank; d++)
			flat = flat * (uint64_t)padded[d] + at[d];
		for (uint32_t d = from->rank; d-- > 0; flat /= from->dim[d]) {
			at[d] = flat % from->dim[d];
			inside = inside && at[d] < in->shape.dim[d];
		}
		*tt_at(out, i) = inside ? *tt_at(in, tt_array_index(in, at)) : 0;
	}
	return TTNN_OK;
}

/*
 * One extent may be -1: what is left. With a padded shape the caller names both, and elements
 * may move as they are stored (reshape_stored).
 */
tt_status tt_golden_reshape(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	const char *name = tt_call_given(&golden->call, "padded_shape") ? "logical_shape" : "shape";
	int64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape;
	uint64_t known = 1;
	size_t rank;

	TT_TRY(tt_call_ints(dims, &rank, TTNN_MAX_RANK, &golden->call, name));
	for (size_t i = 0; i < rank; i++)
		known *= dims[i] == -1 ? 1 : (uint64_t)dims[i];
	for (size_t i = 0; i < rank && in; i++)
		if (dims[i] == -1)
			dims[i] = known ? (int64_t)(in->count / known) : 0;
	TT_TRY(ttnn_shape_make(&shape, dims, rank));
	if (in && known != in->count && tt_call_given(&golden->call, "padded_shape"))
		return reshape_stored(golden, in, &shape);
	return give(golden, in, &shape);
}

/* Where tiles and rows stay whole: elsewhere its elements are no one's. */
tt_status tt_golden_raw_view(struct tt_golden *golden)
{
	static const char *const names[] = {"N", "C", "H", "W"};
	const struct tt_array *in = first_input(golden);
	struct ttnn_shape shape = {.rank = TT_COUNT(names)};

	if (tt_value_given(tt_call_arg(&golden->call, "shape")))
		return tt_golden_reshape(golden);
	for (size_t i = 0; i < TT_COUNT(names); i++)
		shape.dim[i] = (uint32_t)tt_call_int(&golden->call, names[i], 0);
	return give(golden, in, &shape);
}

/*
 * The same with upstream's four names for the dimensions; any negative number stands for what is
 * left.
 */
tt_status tt_golden_reshape_on_device(struct tt_golden *golden)
{
	static const char *const names[] = {"W", "Z", "Y", "X"};
	const struct tt_array *in = first_input(golden);
	struct ttnn_shape shape = {.rank = 4};
	uint64_t known = 1;

	TT_GOLDEN_NEED(in);
	for (size_t i = 0; i < 4; i++) {
		int64_t extent = tt_call_int(&golden->call, names[i], 1);

		known *= extent < 0 ? 1 : (uint64_t)extent;
		shape.dim[i] = extent < 0 ? 0 : (uint32_t)extent;
	}
	for (size_t i = 0; i < 4; i++)
		if (tt_call_int(&golden->call, names[i], 1) < 0)
			shape.dim[i] = known ? (uint32_t)(in->count / known) : 0;
	return give(golden, in, &shape);
}

/* The first row, column or value of the second: with its other extents set to 1 it broadcasts. */
tt_status tt_golden_bcast(struct tt_golden *golden)
{
	const struct tt_array *a = tt_golden_in(golden, "input_a");
	const struct tt_array *b = tt_golden_in(golden, "input_b");
	int64_t dim = tt_call_arg(&golden->call, "dim")->integer;
	int64_t math = tt_call_arg(&golden->call, "math_op")->integer;
	uint64_t at[TTNN_MAX_RANK], from[TTNN_MAX_RANK];
	struct tt_array *out = a && b ? tt_golden_out(golden, &a->shape, a->dtype) : NULL;

	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < a->count; i++) {
		double value;

		tt_array_coordinate(at, a, i);
		for (uint32_t d = 0; d < b->shape.rank; d++) {
			uint32_t back = b->shape.rank - d;
			bool first = (back == 1 && dim != TT_BCAST_H) ||
				     (back == 2 && dim != TT_BCAST_W) || b->shape.dim[d] == 1;

			from[d] = first ? 0 : at[tt_from_end(&a->shape, back)];
		}
		value = *tt_at(b, tt_array_index(b, from));
		*tt_at(out, i) = math == TT_BCAST_ADD   ? *tt_at(a, i) + value
				 : math == TT_BCAST_SUB ? *tt_at(a, i) - value
							: *tt_at(a, i) * value;
	}
	return TTNN_OK;
}

/* Dimensions of extent 1 that are named, or all of them; a named one of another extent stays. */
tt_status tt_golden_squeeze(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape = {0};
	size_t count;

	TT_GOLDEN_NEED(in);
	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, &golden->call, "dim"));
	for (uint32_t d = 0; d < in->shape.rank; d++) {
		bool gone = !tt_value_given(tt_call_arg(&golden->call, "dim"));

		for (size_t i = 0; i < count; i++)
			gone = gone || normal(dims[i], in->shape.rank) == d;
		if (!gone || in->shape.dim[d] != 1)
			shape.dim[shape.rank++] = in->shape.dim[d];
	}
	return give(golden, in, &shape);
}

tt_status tt_golden_unsqueeze(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in);
	tt_divisor(in->shape.rank < TTNN_MAX_RANK);
	shape.rank = in->shape.rank + 1;
	dim = tt_place_of(dim, shape.rank);
	for (uint32_t d = 0; d < shape.rank; d++)
		shape.dim[d] =
			d == (uint32_t)dim ? 1 : in->shape.dim[d > (uint32_t)dim ? d - 1 : d];
	return give(golden, in, &shape);
}

/*
 * Extents of 1 in front; beyond four dimensions only the last four are looked at, as upstream
 * refuses those.
 */
tt_status tt_golden_unsqueeze_4d(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	struct ttnn_shape shape = {.rank = 4};

	TT_GOLDEN_NEED(in);
	for (uint32_t back = 1; back <= 4; back++)
		shape.dim[4 - back] = tt_shape_last(&in->shape, back);
	return give(golden, in, &shape);
}

/* ---- another order -------------------------------------------------------------------------------------------- */

struct order {
	uint32_t rank, dims[TTNN_MAX_RANK];
};

static bool from_order(uint64_t *from, const uint64_t *to, const void *context)
{
	const struct order *order = context;

	for (uint32_t d = 0; d < order->rank; d++)
		from[order->dims[d]] = to[d];
	return true;
}

static tt_status reorder(struct tt_golden *golden, const struct tt_array *in,
			 const struct order *order)
{
	struct ttnn_shape shape = {.rank = order->rank};

	for (uint32_t d = 0; d < order->rank; d++)
		shape.dim[d] = in->shape.dim[order->dims[d]];
	return gather(golden, in, &shape, from_order, order);
}

tt_status tt_golden_permute(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t dims[TTNN_MAX_RANK];
	struct order order;
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, &golden->call, "dims"));
	TT_GOLDEN_NEED(in);
	if (count != in->shape.rank)
		return tt_fail(TTNN_INVALID, "%s: %zu dimensions are no order of %u",
			       golden->op->name, count, in->shape.rank);
	order.rank = (uint32_t)count;
	for (uint32_t d = 0; d < order.rank; d++)
		order.dims[d] = normal(dims[d], order.rank);
	return reorder(golden, in, &order);
}

tt_status tt_golden_transpose(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	struct order order;
	uint32_t a, b;

	TT_GOLDEN_NEED(in);
	order.rank = in->shape.rank;
	for (uint32_t d = 0; d < order.rank; d++)
		order.dims[d] = d;
	a = normal(tt_call_int(&golden->call, "dim1", 0), order.rank);
	b = normal(tt_call_int(&golden->call, "dim2", 0), order.rank);
	order.dims[a] = b;
	order.dims[b] = a;
	return reorder(golden, in, &order);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

struct part {
	uint32_t rank;
	int64_t start[TTNN_MAX_RANK], step[TTNN_MAX_RANK], extent[TTNN_MAX_RANK]; /* of the input */
};

/*
 * Every step-th element from start on; outside of the input there is nothing, which is how
 * padding works.
 */
static bool from_part(uint64_t *from, const uint64_t *to, const void *context)
{
	const struct part *part = context;

	for (uint32_t d = 0; d < part->rank; d++) {
		int64_t at = part->start[d] + (int64_t)to[d] * part->step[d];

		if (at < 0 || at >= part->extent[d])
			return false;
		from[d] = (uint64_t)at;
	}
	return true;
}

/* A part of an array; a value where there is none. */
static void fill_around(struct tt_array *out, const struct tt_array *in, const struct part *part,
			double value)
{
	uint64_t to[TTNN_MAX_RANK], from[TTNN_MAX_RANK];

	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(to, out, i);
		*tt_at(out, i) = from_part(from, to, part) ? *tt_at(in, tt_array_index(in, from))
							   : tt_golden_fit(in->dtype, value);
	}
}

static struct part whole(const struct tt_array *in)
{
	struct part part = {.rank = in->shape.rank};

	for (uint32_t d = 0; d < part.rank; d++) {
		part.step[d] = 1;
		part.extent[d] = in->shape.dim[d];
	}
	return part;
}

/* What the shape shows of a larger one around rows, which begin somewhere in it; tiles stay. */
tt_status tt_golden_host_pad(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	double value = tt_call_real(&golden->call, "pad_value", 0);
	int64_t start[TTNN_MAX_RANK] = {0};
	struct tt_array *out;
	struct part part;
	size_t count;

	TT_TRY(tt_call_ints(start, &count, TTNN_MAX_RANK, &golden->call, "input_tensor_start"));
	TT_GOLDEN_NEED(in);
	if (tt_golden_tensor(golden, "input_tensor")->spec.layout == TTNN_TILE)
		return give(golden, in, &in->shape);
	part = whole(in);
	for (uint32_t d = 0; d < part.rank; d++)
		part.start[d] = -start[d];
	out = tt_golden_out(golden, &in->shape, in->dtype);
	TT_GOLDEN_NEED(out);
	fill_around(out, in, &part, value);
	return TTNN_OK;
}

/* From a start to an end: the last element itself, or with a start given the one behind it. */
tt_status tt_golden_unpad(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t start[TTNN_MAX_RANK] = {0}, end[TTNN_MAX_RANK];
	bool has_start = tt_call_given(&golden->call, "output_tensor_start");
	struct ttnn_shape shape;
	struct part part;
	size_t count;

	TT_TRY(tt_call_ints(start, &count, TTNN_MAX_RANK, &golden->call, "output_tensor_start"));
	TT_TRY(tt_call_ints(end, &count, TTNN_MAX_RANK, &golden->call, "output_tensor_end"));
	TT_GOLDEN_NEED(in);
	part = whole(in);
	shape.rank = in->shape.rank;
	for (uint32_t d = 0; d < shape.rank; d++) {
		part.start[d] = start[d];
		shape.dim[d] = (uint32_t)(end[d] - start[d] + !has_start);
	}
	return gather(golden, in, &shape, from_part, &part);
}

/* Where a slice of an extent begins and ends, both counted from the end when negative. */
static tt_status slice_part(struct part *part, struct ttnn_shape *shape, uint32_t d,
			    const int64_t *item)
{
	int64_t extent = part->extent[d], step = item[2];
	int64_t begin = clamp(item[0] < 0 ? item[0] + extent : item[0], 0, extent);
	int64_t end = clamp(item[1] < 0 ? item[1] + extent : item[1], 0, extent);

	if (step < 1)
		return tt_fail(TTNN_INVALID, "golden: a slice has the step %" PRId64, step);
	part->start[d] = begin;
	part->step[d] = step;
	shape->dim[d] = end > begin ? (uint32_t)((end - begin - 1) / step + 1) : 0;
	return TTNN_OK;
}

/* The values of a one-dimensional tensor, or of a list. */
static tt_status numbers(int64_t *out, size_t *count, struct tt_golden *golden, const char *name)
{
	const struct tt_array *array;

	if (!tt_call_tensor(&golden->call, name))
		return tt_call_ints(out, count, TTNN_MAX_RANK, &golden->call, name);
	array = tt_golden_in(golden, name);
	TT_GOLDEN_NEED(array && array->count <= TTNN_MAX_RANK);
	for (*count = 0; *count < array->count; ++*count)
		out[*count] = (int64_t)*tt_at(array, *count);
	return TTNN_OK;
}

/* Two spellings of one operation: slice_start, slice_end, slice_step and starts, ends, steps. */
tt_status tt_golden_slice(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t begin[TTNN_MAX_RANK], end[TTNN_MAX_RANK], step[TTNN_MAX_RANK];
	bool brief = tt_call_given(&golden->call, "starts");
	const char *steps = tt_call_given(&golden->call, "slice_step") ? "slice_step" : "steps";
	size_t begins, count, step_count;
	struct ttnn_shape shape;
	struct part part;

	TT_TRY(numbers(begin, &begins, golden, brief ? "starts" : "slice_start"));
	TT_TRY(numbers(end, &count, golden, brief ? "ends" : "slice_end"));
	TT_TRY(numbers(step, &step_count, golden, steps));
	TT_GOLDEN_NEED(in);
	if (count != in->shape.rank || begins != count || (step_count && step_count != count))
		return tt_fail(TTNN_INVALID, "%s: starts, ends and steps must be %u each",
			       golden->op->name, in->shape.rank);
	part = whole(in);
	shape.rank = part.rank;
	for (uint32_t d = 0; d < part.rank; d++)
		TT_TRY(slice_part(&part, &shape, d,
				  (int64_t[]){begin[d], end[d], step_count ? step[d] : 1}));
	return gather(golden, in, &shape, from_part, &part);
}

/* One index of an indexing: a number takes one place, a list [start,] end [, step] a part. */
static void index_item(int64_t *out, const struct ttnn_value *item, int64_t extent)
{
	const struct ttnn_value *list = item->items;
	int64_t defaults[] = {0, extent, 1};

	for (uint32_t i = 0; i < 3; i++) {
		/* One value alone is where to end. */
		uint32_t at = item->count == 1 ? i - 1 : i;
		bool given = at < item->count && list[at].kind == TTNN_VALUE_INT;

		out[i] = given ? list[at].integer : defaults[i];
	}
}

/*
 * x[...]: numbers take their dimension away, slices keep it, an ellipsis (a string here) stands
 * for as many dimensions as are not mentioned. `shape` still has the dimensions that numbers
 * took, with extent 1: elements are counted in that.
 */
tt_status tt_golden_getitem(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	const struct ttnn_value *all = tt_call_arg(&golden->call, "slices"), *items = all;
	uint32_t count = 1, skipped, d = 0;
	struct ttnn_shape shape = {0}, kept = {0};
	struct part part;
	struct tt_array *out;
	uint64_t at[TTNN_MAX_RANK], from[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(in);
	if (all->kind == TTNN_VALUE_LIST) {
		items = all->items;
		count = all->count;
	}
	if (count > in->shape.rank + 1)
		return tt_fail(TTNN_INVALID, "%s: %u places in %u dimensions", golden->op->name,
			       count, in->shape.rank);
	skipped = in->shape.rank + 1 - count;
	part = whole(in);
	shape = in->shape;
	for (uint32_t i = 0; i < count; i++) {
		int64_t item[3];

		if (items[i].kind == TTNN_VALUE_STRING) {
			for (uint32_t k = 0; k < skipped; k++, d++)
				kept.dim[kept.rank++] = shape.dim[d];
			continue;
		}
		if (items[i].kind == TTNN_VALUE_INT) {
			part.start[d] =
				items[i].integer + (items[i].integer < 0 ? part.extent[d] : 0);
			shape.dim[d++] = 1;
			continue;
		}
		index_item(item, &items[i], part.extent[d]);
		TT_TRY(slice_part(&part, &shape, d, item));
		kept.dim[kept.rank++] = shape.dim[d++];
	}
	for (; d < shape.rank; d++)
		kept.dim[kept.rank++] = shape.dim[d];
	out = tt_golden_out(golden, &kept, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		struct tt_array full = {.shape = shape, .count = out->count};

		tt_array_coordinate(at, &full, i);
		from_part(from, at, &part);
		*tt_at(out, i) = *tt_at(in, tt_array_index(in, from));
	}
	return TTNN_OK;
}

/* Elements before and after each dimension, from either way to say it. */
static tt_status pad_amounts(int64_t (*out)[2], const struct tt_golden *golden,
			     const struct ttnn_shape *shape)
{
	const struct ttnn_value *padding = tt_call_arg(&golden->call, "padding");
	uint32_t missing = shape->rank - padding->count;
	int64_t sizes[TTNN_MAX_RANK], starts[TTNN_MAX_RANK];
	size_t count;

	if (tt_value_given(padding)) {
		for (uint32_t d = missing; d < shape->rank; d++)
			for (uint32_t k = 0; k < 2; k++)
				out[d][k] = padding->items[d - missing].items[k].integer;
		return TTNN_OK;
	}
	TT_TRY(tt_call_ints(sizes, &count, TTNN_MAX_RANK, &golden->call, "output_padded_shape"));
	TT_TRY(tt_call_ints(starts, &count, TTNN_MAX_RANK, &golden->call, "input_tensor_start"));
	for (uint32_t d = 0; d < shape->rank; d++) {
		out[d][0] = starts[d];
		out[d][1] = sizes[d] - starts[d] - shape->dim[d];
	}
	return TTNN_OK;
}

/*
 * A part that begins before the input and ends behind it. Host tensors keep their shape: only
 * what is stored grows.
 */
tt_status tt_golden_pad(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t pads[TTNN_MAX_RANK][2] = {0};
	double value = tt_call_real(&golden->call, "value", 0);
	struct ttnn_shape shape;
	struct part part;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	if (!tt_tensor_device(tt_golden_tensor(golden, "input_tensor")))
		return tt_golden_host_pad(golden); /* only what is stored grows */
	shape = in->shape;
	TT_TRY(pad_amounts(pads, golden, &shape));
	part = whole(in);
	for (uint32_t d = 0; d < shape.rank; d++) {
		part.start[d] = -pads[d][0];
		shape.dim[d] += (uint32_t)(pads[d][0] + pads[d][1]);
	}
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	fill_around(out, in, &part, value);
	return TTNN_OK;
}

/* A rectangle of one value in the corner of each matrix, another value around it. */
tt_status tt_golden_fill_rm(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	int64_t dims[] = {tt_call_int(call, "N", 0), tt_call_int(call, "C", 0),
			  tt_call_int(call, "H", 0), tt_call_int(call, "W", 0)};
	uint64_t high = (uint64_t)tt_call_int(call, "hOnes", 0);
	uint64_t wide = (uint64_t)tt_call_int(call, "wOnes", 0), at[TTNN_MAX_RANK];
	double inside = tt_call_given(call, "val_hi") ? tt_call_real(call, "val_hi", 1) : 1;
	double outside = tt_call_real(call, "val_lo", 0);
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_TRY(ttnn_shape_make(&shape, dims, 4));
	out = tt_golden_out(golden, &shape, tt_golden_tensor(golden, "any")->spec.dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		tt_array_coordinate(at, out, i);
		*tt_at(out, i) = at[2] < high && at[3] < wide ? inside : outside;
	}
	return TTNN_OK;
}

/* ---- several tensors ----------------------------------------------------------------------------------------------- */

/*
 * Each tensor of a list takes its place along a dimension, after those before it; in groups: the first parts of all,
 * then the second parts of all.
 */
static tt_status join(struct tt_golden *golden, const char *name, bool new_dim)
{
	int64_t given = new_dim ? 1 : tt_call_int(&golden->call, "groups", 1);
	uint64_t groups = given > 0 ? (uint64_t)given : 1;
	const struct ttnn_value *list = tt_call_arg(&golden->call, name);
	const struct tt_array *first =
		list->count ? tt_golden_read(golden, list->items[0].tensor) : NULL;
	uint64_t at[TTNN_MAX_RANK], begin = 0;
	struct ttnn_shape shape;
	struct tt_array *out;
	uint32_t dim;

	TT_GOLDEN_NEED(first);
	shape = first->shape;
	dim = normal(tt_call_int(&golden->call, "dim", 0), shape.rank + new_dim);
	if (new_dim) {
		for (uint32_t d = shape.rank++; d > dim; d--)
			shape.dim[d] = shape.dim[d - 1];
		shape.dim[dim] = 1;
	}
	shape.dim[dim] = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct ttnn_shape *other = &list->items[i].tensor->spec.shape;

		for (uint32_t d = 0; d < first->shape.rank || other->rank != first->shape.rank; d++)
			if (other->rank != first->shape.rank ||
			    ((new_dim || d != dim) && other->dim[d] != first->shape.dim[d]) ||
			    (d == dim && other->dim[d] % groups))
				return tt_fail(TTNN_INVALID,
					       "%s: the shapes of its inputs do not fit together",
					       golden->op->name);
	}
	for (uint32_t i = 0; i < list->count; i++)
		shape.dim[dim] += new_dim ? 1 : list->items[i].tensor->spec.shape.dim[dim];
	out = tt_golden_out(golden, &shape, first->dtype);
	TT_GOLDEN_NEED(out);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct tt_array *in = tt_golden_read(golden, list->items[i].tensor);
		struct tt_array placed;
		uint64_t width;

		TT_GOLDEN_NEED(in);
		placed = *in;
		placed.shape = shape;
		placed.shape.dim[dim] = new_dim ? 1 : in->shape.dim[dim];
		width = placed.shape.dim[dim] / tt_divisor(groups);
		for (uint64_t k = 0; k < in->count; k++) {
			tt_array_coordinate(at, &placed, k);
			at[dim] += begin +
				   at[dim] / tt_divisor(width) * (shape.dim[dim] / groups - width);
			*tt_at(out, tt_array_index(out, at)) = *tt_at(in, k);
		}
		begin += width;
	}
	return TTNN_OK;
}

tt_status tt_golden_concat(struct tt_golden *golden)
{
	return join(golden, "tensors", false);
}

tt_status tt_golden_stack(struct tt_golden *golden)
{
	return join(golden, "input_tensors", true);
}

/* Parts of these sizes along a dimension; the last size is repeated, the last part may be less. */
static tt_status cut(struct tt_golden *golden, const struct tt_array *in, uint32_t dim,
		     const struct ttnn_value *sizes)
{
	struct part part = whole(in);
	struct ttnn_shape shape = in->shape;

	for (uint32_t i = 0; part.start[dim] < part.extent[dim]; i++) {
		const struct ttnn_value *size = sizes->kind != TTNN_VALUE_LIST
							? sizes
							: &sizes->items[i < sizes->count ? i : 0];

		TT_GOLDEN_NEED(size->integer > 0);
		shape.dim[dim] =
			(uint32_t)clamp(part.extent[dim] - part.start[dim], 0, size->integer);
		TT_TRY(gather(golden, in, &shape, from_part, &part));
		part.start[dim] += size->integer;
	}
	return TTNN_OK;
}

tt_status tt_golden_split(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);

	TT_GOLDEN_NEED(in);
	return cut(golden, in, normal(tt_call_int(&golden->call, "dim", 0), in->shape.rank),
		   tt_call_arg(&golden->call, "split_size"));
}

/*
 * As torch.chunk: parts of equal size, the last one what is left, so there may be fewer than
 * asked for.
 */
tt_status tt_golden_chunk(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t chunks = tt_call_int(&golden->call, "chunks", 1);
	struct ttnn_value size;
	uint32_t dim;

	TT_GOLDEN_NEED(in && chunks > 0);
	dim = normal(tt_call_int(&golden->call, "dim", 0), in->shape.rank);
	size = ttnn_v_int((in->shape.dim[dim] + chunks - 1) / chunks);
	return cut(golden, in, dim, &size);
}

/* ---- repetitions ------------------------------------------------------------------------------------------------------ */

/* How the output's coordinates lead back into the input: at / times, then modulo the extent. */
struct again {
	uint32_t rank, missing; /* dimensions that only the output has, in front */
	uint64_t times[TTNN_MAX_RANK], shift[TTNN_MAX_RANK], extent[TTNN_MAX_RANK];
};

/*
 * Repeats, expansions, interleaved repeats and rolls are one formula: divide by how often an
 * element stands beside itself, shift, and wrap around.
 */
static bool from_again(uint64_t *from, const uint64_t *to, const void *context)
{
	const struct again *again = context;

	for (uint32_t d = again->missing; d < again->rank; d++) {
		uint32_t k = d - again->missing;

		from[k] = (to[d] / again->times[k] + again->shift[k]) %
			  (again->extent[k] ? again->extent[k] : 1);
	}
	return true;
}

static struct again just_once(const struct tt_array *in, uint32_t rank)
{
	struct again again = {.rank = rank, .missing = rank - in->shape.rank};

	for (uint32_t d = 0; d < in->shape.rank; d++) {
		again.times[d] = 1;
		again.extent[d] = in->shape.dim[d];
	}
	return again;
}

tt_status tt_golden_repeat(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t times[TTNN_MAX_RANK];
	struct ttnn_shape shape = {0};
	struct again again;
	size_t count;

	TT_TRY(tt_call_ints(times, &count, TTNN_MAX_RANK, &golden->call, "repeat_dims"));
	TT_GOLDEN_NEED(in);
	shape.rank = in->shape.rank > count ? in->shape.rank : (uint32_t)count;
	again = just_once(in, shape.rank);
	for (size_t i = 0; i < count; i++)
		if (times[i] < 0 || times[i] > INT32_MAX)
			return tt_fail(TTNN_INVALID, "%s: a dimension %" PRId64 " times",
				       golden->op->name, times[i]);
	for (uint32_t back = 1; back <= shape.rank; back++)
		shape.dim[shape.rank - back] = tt_shape_last(&in->shape, back) *
					       (back <= count ? (uint32_t)times[count - back] : 1);
	return gather(golden, in, &shape, from_again, &again);
}

/*
 * As torch.expand: -1 keeps an extent; only extents of 1 grow, and since from_again() wraps,
 * those need nothing more.
 */
tt_status tt_golden_expand(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t dims[TTNN_MAX_RANK];
	struct ttnn_shape shape = {0};
	struct again again;
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, &golden->call, "output_shape"));
	TT_GOLDEN_NEED(in);
	if (count < in->shape.rank)
		return tt_fail(TTNN_INVALID, "%s: %zu dimensions are fewer than %u",
			       golden->op->name, count, in->shape.rank);
	again = just_once(in, (uint32_t)count);
	for (uint32_t back = 1; back <= count; back++)
		if (dims[count - back] == -1)
			dims[count - back] = tt_shape_last(&in->shape, back);
	TT_TRY(ttnn_shape_make(&shape, dims, count));
	return gather(golden, in, &shape, from_again, &again);
}

tt_status tt_golden_repeat_interleave(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t times = tt_call_int(&golden->call, "repeats", 1);
	struct ttnn_shape shape;
	struct again again;
	uint32_t dim;

	TT_GOLDEN_NEED(in && times > 0);
	shape = in->shape;
	dim = normal(tt_call_int(&golden->call, "dim", 0), shape.rank);
	again = just_once(in, shape.rank);
	again.times[dim] = (uint64_t)times;
	shape.dim[dim] *= (uint32_t)times;
	return gather(golden, in, &shape, from_again, &again);
}

/* Without a dimension the elements roll as if in one row. */
static tt_status roll_flat(struct tt_golden *golden, const struct tt_array *in, int64_t shift)
{
	struct tt_array *out = tt_golden_out(golden, &in->shape, in->dtype);
	int64_t count = (int64_t)in->count;

	TT_GOLDEN_NEED(out);
	for (int64_t i = 0; i < count; i++)
		*tt_at(out, ((i + shift) % count + count) % count) = *tt_at(in, i);
	return TTNN_OK;
}

/*
 * A shift to the right takes elements from the left, hence extent - shift; without dimensions
 * the tensor is one long row.
 */
tt_status tt_golden_roll(struct tt_golden *golden)
{
	const struct tt_array *in = first_input(golden);
	int64_t shifts[TTNN_MAX_RANK], dims[TTNN_MAX_RANK];
	struct again again;
	size_t count, dim_count;

	TT_TRY(tt_call_ints(shifts, &count, TTNN_MAX_RANK, &golden->call, "shifts"));
	TT_TRY(tt_call_ints(dims, &dim_count, TTNN_MAX_RANK, &golden->call, "dim"));
	TT_GOLDEN_NEED(in);
	if (!tt_value_given(tt_call_arg(&golden->call, "dim")))
		return roll_flat(golden, in, shifts[0]);
	again = just_once(in, in->shape.rank);
	for (size_t i = 0; i < count && i < dim_count; i++) {
		uint32_t d = normal(dims[i], in->shape.rank);
		int64_t extent = in->shape.dim[d] ? in->shape.dim[d] : 1;

		again.shift[d] += (uint64_t)(((extent - shifts[i]) % extent + extent) % extent);
	}
	return gather(golden, in, &in->shape, from_again, &again);
}

/* ---- planes and points ----------------------------------------------------------------------------------- */

/* [1, b, c, hw] to [1, 1, b x hw, c], channels padded with zeros to 16 bytes. */
tt_status tt_golden_hwc(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	uint64_t each, batch, c, hw;
	struct ttnn_shape shape = {4, {1, 1}};
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	batch = in->shape.dim[1];
	c = in->shape.dim[2];
	hw = in->shape.dim[3];
	each = 16 / tt_dtype_bytes(in->dtype);
	shape.dim[2] = (uint32_t)(batch * hw);
	shape.dim[3] = (uint32_t)((c + each - 1) / each * each);
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", in->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < in->count; flat++) {
		uint64_t b = flat / hw / c, channel = flat / hw % c, point = flat % hw;

		*tt_at(out, (b * hw + point) * shape.dim[3] + channel) = *tt_at(in, flat);
	}
	return TTNN_OK;
}

/* [1, 1, hw, c] to [1, 1, c, hw]. */
tt_status tt_golden_chw(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	struct ttnn_shape shape = {4, {1, 1}};
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	shape.dim[2] = in->shape.dim[3];
	shape.dim[3] = in->shape.dim[2];
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", in->dtype));
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < in->count; flat++)
		*tt_at(out, flat % shape.dim[2] * shape.dim[3] + flat / shape.dim[2]) =
			*tt_at(in, flat);
	return TTNN_OK;
}

/* Where a row of a slice lies in it, whose rows are one below the other, lines of tiles whole; false behind its end. */
static bool in_slice(uint64_t at[4], const int64_t start[4], const int64_t end[4], bool tiles)
{
	uint64_t row = at[2], lines = (uint64_t)(end[1] - start[1]);
	uint64_t inside = (uint64_t)(end[2] - start[2]);
	uint64_t width = tiles ? (inside + 31) / 32 * 32 : inside;

	at[2] = row % width;
	at[1] = row / width % lines;
	at[0] = row / width / lines;
	return at[0] < (uint64_t)(end[0] - start[0]) && at[2] < inside &&
	       at[3] < (uint64_t)(end[3] - start[3]);
}

/* The old values, and the input's at start + i * step; what would be outside is dropped. */
tt_status tt_golden_slice_write(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct tt_array *old = tt_golden_in(golden, "output_tensor");
	struct tt_array *out = in && old ? tt_golden_out(golden, &old->shape, old->dtype) : NULL;
	const struct tt_tensor *tensor = tt_call_tensor(&golden->call, "input_tensor");
	int64_t start[TTNN_MAX_RANK], end[TTNN_MAX_RANK], step[TTNN_MAX_RANK];
	size_t starts, steps;
	bool flat;

	TT_GOLDEN_NEED(out);
	TT_TRY(tt_call_ints(start, &starts, TTNN_MAX_RANK, &golden->call, "start"));
	TT_TRY(tt_call_ints(end, &steps, TTNN_MAX_RANK, &golden->call, "end"));
	TT_TRY(tt_call_ints(step, &steps, TTNN_MAX_RANK, &golden->call, "step"));
	if (starts != in->shape.rank || steps != in->shape.rank ||
	    in->shape.rank != old->shape.rank)
		return tt_fail(TTNN_INVALID, "golden: the ranks differ");
	flat = tt_memory_config_is_sharded(&tensor->spec.memory) && starts == 4 &&
	       in->shape.dim[0] == 1 && in->shape.dim[1] == 1;
	if (flat)
		TT_NEED(end[1] > start[1] && end[2] > start[2], "golden: a slice of nothing");
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(old, i);
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK];
		bool inside = true;

		tt_array_coordinate(at, in, i);
		if (flat)
			inside = in_slice(at, start, end, tensor->spec.layout == TTNN_TILE);
		for (uint32_t d = 0; d < in->shape.rank; d++) {
			at[d] = (uint64_t)start[d] + at[d] * (uint64_t)step[d];
			inside &= at[d] < old->shape.dim[d];
		}
		if (inside)
			*tt_at(out, tt_array_index(out, at)) = *tt_at(in, i);
	}
	return TTNN_OK;
}
