/*
 * getitem.c: indexing, as Python has it. An index is a number, a part [end], [start, end] or
 * [start, end, step] whose numbers may be none, or "..." for as many whole dimensions as are left.
 */
#include <inttypes.h>
#include <string.h>

#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/pad.h"

/* A part of each dimension, and those dimensions of which only one place is left. */
struct parts {
	uint32_t rank;
	int64_t start[TTNN_MAX_RANK], end[TTNN_MAX_RANK], step[TTNN_MAX_RANK];
	uint32_t single[TTNN_MAX_RANK], single_count;
};

static bool is_rest(const struct ttnn_value *item)
{
	return item->kind == TTNN_VALUE_STRING && strcmp(item->text, "...") == 0;
}

/* A number picks one and drops the dimension; negative ones count from the end. */
static tt_status take_number(struct parts *parts, uint32_t d, const struct ttnn_value *item,
			     uint32_t extent)
{
	int64_t index = item->integer + (item->integer < 0 ? extent : 0);

	TT_NEED(index >= 0 && index < extent,
		"Index %" PRId64 " (converted to %" PRId64
		") is out of bounds for dimension %u of size %u",
		item->integer, index, d, extent);
	parts->start[d] = index;
	parts->end[d] = index + 1;
	parts->single[parts->single_count++] = d;
	return TTNN_OK;
}

/* [end], [start, end] or [start, end, step], each number possibly None. */
static tt_status take_slice(struct parts *parts, uint32_t d, const struct ttnn_value *item)
{
	int64_t *const numbers[] = {&parts->start[d], &parts->end[d], &parts->step[d]};
	/* One number alone says where to end. */
	uint32_t first = item->count == 1;

	if (item->count > TT_COUNT(numbers))
		return tt_fail(TTNN_TYPE, "a part of a dimension is said by three numbers at most");
	for (uint32_t i = 0; i < item->count; i++) {
		const struct ttnn_value *number = &item->items[i];

		if (tt_value_given(number) && !tt_value_integer(numbers[first + i], number))
			return tt_fail(TTNN_TYPE, "an index must be an integer, not %s",
				       tt_value_kind_name(number));
	}
	return TTNN_OK;
}

static tt_status too_many(uint32_t rank)
{
	return tt_fail(TTNN_INVALID, "Too many indices for tensor of dimension %u", rank);
}

/* "..." stands for all dimensions that are not named, and may occur once. */
static tt_status read_items(struct parts *parts, const struct ttnn_value *items, uint32_t count,
			    const struct ttnn_shape *shape)
{
	uint32_t rests = 0, d = 0;

	for (uint32_t i = 0; i < count; i++)
		rests += is_rest(&items[i]);
	TT_NEED(rests <= 1, "Only one ellipsis ('...') is allowed in a slice.");
	if (count - rests > shape->rank)
		return too_many(shape->rank);
	for (uint32_t i = 0; i < count; i++) {
		if (is_rest(&items[i])) {
			d += shape->rank - (count - 1);
			continue;
		}
		if (items[i].kind == TTNN_VALUE_INT)
			TT_TRY(take_number(parts, d, &items[i], shape->dim[d]));
		else if (items[i].kind == TTNN_VALUE_LIST)
			TT_TRY(take_slice(parts, d, &items[i]));
		else
			return tt_fail(TTNN_TYPE, "Invalid slice type: %s",
				       tt_value_kind_name(&items[i]));
		d++;
	}
	return TTNN_OK;
}

/* Dimensions that are not named are taken whole. */
static tt_status read_parts(struct parts *parts, const struct ttnn_value *index,
			    const struct ttnn_shape *shape)
{
	*parts = (struct parts){.rank = shape->rank};
	for (uint32_t d = 0; d < shape->rank; d++) {
		parts->end[d] = shape->dim[d];
		parts->step[d] = 1;
	}
	if (index->kind == TTNN_VALUE_LIST)
		return read_items(parts, index->items, index->count, shape);
	return read_items(parts, index, 1, shape);
}

/* ---- taking them ------------------------------------------------------------------------------------------- */

/* Numbers as a list value, in the arena of the call. */
static tt_status list_of(struct ttnn_value *out, struct tt_call *call, const int64_t *numbers,
			 uint32_t count)
{
	struct ttnn_value *items = tt_arena_calloc(call->arena, count + 1, sizeof(*items));

	TT_NEED_MEMORY(items);
	for (uint32_t i = 0; i < count; i++)
		items[i] = ttnn_v_int(numbers[i]);
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* ttnn.slice, recorded as a call from Python: upstream's __getitem__ is Python. */
static tt_status from_device(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct parts *parts)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)},
				  {NULL, ttnn_v_none()},
				  {NULL, ttnn_v_none()},
				  {NULL, ttnn_v_none()}};

	TT_TRY(list_of(&args[1].value, call, parts->start, parts->rank));
	TT_TRY(list_of(&args[2].value, call, parts->end, parts->rank));
	TT_TRY(list_of(&args[3].value, call, parts->step, parts->rank));
	return tt_call_python(out, call, "ttnn.slice", args, TT_COUNT(args));
}

static tt_status to_layout(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   enum ttnn_layout layout)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)}, {NULL, ttnn_v_layout(layout)}};

	return tt_call_python(out, call, "ttnn.to_layout", args, TT_COUNT(args));
}

/* On the host upstream goes through rows, unpad and view; steps are refused. */
static tt_status from_host(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			   const struct parts *parts)
{
	struct ttnn_arg view[] = {{NULL, ttnn_v_none()}, {NULL, ttnn_v_none()}};
	struct ttnn_shape start, end;
	int64_t size[TTNN_MAX_RANK];
	struct tt_tensor *rows, *part, *seen;

	for (uint32_t d = 0; d < parts->rank; d++)
		TT_NEED(parts->step[d] == 1,
			"Host tensors cannot be accessed with non-unit stride");
	TT_TRY(ttnn_shape_make(&start, parts->start, parts->rank));
	TT_TRY(ttnn_shape_make(&end, parts->end, parts->rank));
	TT_TRY(to_layout(&rows, call, in, TTNN_ROW_MAJOR));
	tt_call_own(call, rows);
	TT_TRY(tt_host_unpad(&part, call, rows, &start, &end));
	tt_call_own(call, part);
	for (uint32_t d = 0; d < parts->rank; d++)
		size[d] = parts->end[d] - parts->start[d];
	view[0].value = ttnn_v_tensor(part);
	TT_TRY(list_of(&view[1].value, call, size, parts->rank));
	TT_TRY(tt_call_python(&seen, call, "ttnn.view", view, TT_COUNT(view)));
	tt_call_own(call, seen);
	return to_layout(out, call, seen, in->spec.layout);
}

/* Dimensions picked by a number are squeezed one by one, from the first on. */
static tt_status getitem_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *out, *next;
	struct parts parts;

	TT_TRY(read_parts(&parts, tt_call_arg(call, "slices"), &in->spec.shape));
	if (tt_tensor_device(in))
		TT_TRY(from_device(&out, call, in, &parts));
	else
		TT_TRY(from_host(&out, call, in, &parts));
	for (uint32_t i = 0; i < parts.single_count; i++) {
		struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(out)},
					  {NULL, ttnn_v_int((int64_t)parts.single[i] - i)}};

		TT_TRY(tt_call_drop_after(
			call, tt_call_python(&next, call, "ttnn.squeeze", args, TT_COUNT(args)),
			out));
		out = next;
	}
	tt_call_return(call, out);
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW("Tensor.__getitem__", getitem_expand, tt_golden_getitem,
		     "A part of a tensor by indices: numbers, parts of dimensions, \"...\".",
		     "input_tensor: Tensor, slices: any")},
};

const struct tt_op_family tt_family_getitem = {"movement", ops, TT_COUNT(ops)};
