#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/value.h"
#include "store/loader.h"
#include "tensor/enums.h"

/* A field reads its places; TTNN_NOTFOUND when the configuration has no such thing. */
typedef tt_status field_read(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column);

struct tt_loader_field {
	const char *name;
	field_read *read;
	size_t least; /* places */
	bool tuple;   /* a list that is a tuple in Python */
};

static tt_status missing(void)
{
	return tt_fail(TTNN_NOTFOUND, "the configuration has no such argument");
}

/* ---- places ------------------------------------------------------------------------------------------------ */

static const struct tt_json *json_at(const struct tt_loader_call *call,
				     const struct tt_loader_place *place)
{
	const struct tt_json *value = place->where == TT_LOADER_NAMED
					      ? tt_loader_named(call->args, place->name)
					      : tt_loader_arg(call->args, place->number);

	return place->item >= 0 ? tt_json_at(value, (size_t)place->item) : value;
}

/* The tensor at a place, read into *room unless it was read already; NULL when there is none. */
static tt_status tensor_at(const struct tt_loader_tensor **out, struct tt_loader_tensor *room,
			   const struct tt_loader_call *call, const struct tt_loader_place *place)
{
	const struct tt_json *value;

	*out = NULL;
	if (place->where == TT_LOADER_TENSOR) {
		if (place->number < call->tensor_count)
			*out = &call->tensors[place->number];
		return TTNN_OK;
	}
	value = json_at(call, place);
	if (!tt_loader_is_tensor(value))
		return TTNN_OK;
	TT_TRY(tt_loader_tensor(room, call->arena, value));
	*out = room;
	return TTNN_OK;
}

/* ---- fields of a tensor --------------------------------------------------------------------------------------- */

#define TENSOR_FIELD(name, member)                                                                 \
	static tt_status read_##name(struct ttnn_value *out, const struct tt_loader_call *call,    \
				     const struct tt_loader_column *column)                        \
	{                                                                                          \
		const struct tt_loader_tensor *tensor;                                             \
		struct tt_loader_tensor room;                                                      \
                                                                                                   \
		TT_TRY(tensor_at(&tensor, &room, call, &column->places[0]));                       \
		if (!tensor)                                                                       \
			return missing();                                                          \
		*out = tensor->member;                                                             \
		return TTNN_OK;                                                                    \
	}
TENSOR_FIELD(shape, shape)
TENSOR_FIELD(dtype, dtype)
TENSOR_FIELD(layout, layout)
TENSOR_FIELD(storage, storage)

static tt_status read_maybe(struct ttnn_value *out, const struct tt_loader_call *call,
			    const struct tt_loader_column *column)
{
	const struct tt_loader_tensor *tensor;
	struct tt_loader_tensor room;

	TT_TRY(tensor_at(&tensor, &room, call, &column->places[0]));
	*out = tensor ? tensor->shape : ttnn_v_none();
	return TTNN_OK;
}

static tt_status read_given(struct ttnn_value *out, const struct tt_loader_call *call,
			    const struct tt_loader_column *column)
{
	const struct tt_loader_tensor *tensor;
	struct tt_loader_tensor room;

	TT_TRY(tensor_at(&tensor, &room, call, &column->places[0]));
	*out = ttnn_v_bool(tensor != NULL);
	return TTNN_OK;
}

/* The memory of the first place that has any: a tensor's, or a memory config itself. */
static tt_status read_memory(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	for (size_t i = 0; i < column->place_count; i++) {
		const struct tt_loader_place *place = &column->places[i];
		const struct tt_loader_tensor *tensor;
		struct ttnn_memory_config config;
		struct tt_loader_tensor room;

		TT_TRY(tensor_at(&tensor, &room, call, place));
		if (tensor)
			return tt_loader_memory_value(out, call->arena, &tensor->config);
		if (place->where == TT_LOADER_TENSOR || !tt_loader_is_memory(json_at(call, place)))
			continue;
		TT_TRY(tt_loader_memory(&config, json_at(call, place)));
		return tt_loader_memory_value(out, call->arena, &config);
	}
	return missing();
}

static tt_status read_dram(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	(void)column;
	return tt_loader_memory_value(out, call->arena, &(struct ttnn_memory_config){0});
}

/* The tensor's memory where that is not sharded, else DRAM. */
static tt_status read_unsharded(struct ttnn_value *out, const struct tt_loader_call *call,
				const struct tt_loader_column *column)
{
	TT_TRY(read_memory(out, call, column));
	return out->memory->layout == TTNN_INTERLEAVED ? TTNN_OK : read_dram(out, call, column);
}

/* ---- several tensors --------------------------------------------------------------------------------------------- */

/* {names[0]: shape, ...} */
static tt_status shapes_of(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct ttnn_value *shapes, size_t count, bool pair)
{
	struct ttnn_value *items = tt_arena_calloc(call->arena, 2 * count + 1, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++) {
		const char *name = pair ? (i ? "other" : "self")
					: tt_arena_printf(call->arena, "input_%c", (int)('a' + i));

		if (!name)
			return tt_fail_nomem();
		items[2 * i] = ttnn_v_string(name);
		items[2 * i + 1] = shapes[i];
	}
	*out = ttnn_v_list(items, 2 * count);
	out->kind = TTNN_VALUE_DICT;
	return TTNN_OK;
}

static tt_status collect(struct ttnn_value *shapes, size_t *count,
			 const struct tt_loader_call *call, const struct tt_loader_place *place)
{
	struct tt_loader_place each = *place;
	const struct tt_loader_tensor *tensor;
	struct tt_loader_tensor room;
	size_t items = place->item == -2 ? tt_json_count(json_at(call, place)) : 1;

	for (size_t i = 0; i < items; i++) {
		if (place->item == -2)
			each.item = (int32_t)i;
		TT_TRY(tensor_at(&tensor, &room, call, &each));
		if (!tensor || *count == TT_LOADER_TENSORS)
			return missing();
		shapes[(*count)++] = tensor->shape;
	}
	return TTNN_OK;
}

static tt_status read_shapes(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	struct ttnn_value shapes[TT_LOADER_TENSORS];
	size_t count = 0;

	for (size_t i = 0; i < column->place_count; i++)
		TT_TRY(collect(shapes, &count, call, &column->places[i]));
	return count ? shapes_of(out, call, shapes, count, false) : missing();
}

static tt_status read_pair(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	struct ttnn_value shapes[TT_LOADER_TENSORS];
	size_t count = 0;

	for (size_t i = 0; i < 2; i++)
		TT_TRY(collect(shapes, &count, call, &column->places[i]));
	return shapes_of(out, call, shapes, count, true);
}

/* ---- fields of an argument ------------------------------------------------------------------------------------------ */

static tt_status read_number(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	return tt_loader_number(out, json_at(call, &column->places[0])) ? TTNN_OK : missing();
}

static tt_status read_int(struct ttnn_value *out, const struct tt_loader_call *call,
			  const struct tt_loader_column *column)
{
	int64_t number;

	TT_TRY(read_number(out, call, column));
	if (!tt_value_integer(&number, out))
		return missing();
	*out = ttnn_v_int(number);
	return TTNN_OK;
}

static tt_status read_bool(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	TT_TRY(read_int(out, call, column));
	*out = ttnn_v_bool(out->integer != 0);
	return TTNN_OK;
}

static tt_status read_real(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	double number;

	TT_TRY(read_number(out, call, column));
	if (!tt_value_number(&number, out))
		return missing();
	*out = ttnn_v_real(number);
	return TTNN_OK;
}

static tt_status read_ints(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	return tt_loader_numbers(out, call->arena, json_at(call, &column->places[0]));
}

static tt_status read_text(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	const struct tt_json *value = json_at(call, &column->places[0]);

	return tt_json_string(value, NULL) ? tt_loader_json(out, call->arena, value) : missing();
}

static tt_status read_type(struct ttnn_value *out, const struct tt_loader_call *call,
			   const struct tt_loader_column *column)
{
	const struct tt_json *value = json_at(call, &column->places[0]);

	return tt_loader_enum(out, &tt_enum_dtype, value) ? TTNN_OK : read_text(out, call, column);
}

/* As it stands in the file. */
static tt_status read_any(struct ttnn_value *out, const struct tt_loader_call *call,
			  const struct tt_loader_column *column)
{
	return tt_loader_json(out, call->arena, json_at(call, &column->places[0]));
}

static tt_status read_false(struct ttnn_value *out, const struct tt_loader_call *call,
			    const struct tt_loader_column *column)
{
	(void)call;
	(void)column;
	*out = ttnn_v_bool(false);
	return TTNN_OK;
}

/* ---- of single operations -------------------------------------------------------------------------------------------- */

/* Integers of a list in an argument: *count of them, at most `most`. */
static tt_status integers(int64_t *out, size_t *count, size_t most,
			  const struct tt_loader_call *call, size_t arg)
{
	struct ttnn_value list;

	*count = 0;
	TT_TRY(tt_loader_numbers(&list, call->arena, tt_loader_arg(call->args, arg)));
	for (; *count < list.count && *count < most; ++*count)
		if (!tt_value_integer(&out[*count], &list.items[*count]))
			return missing();
	return TTNN_OK;
}

static tt_status list_of(struct ttnn_value *out, struct tt_arena *arena, const int64_t *numbers,
			 size_t count)
{
	struct ttnn_value *items = tt_arena_calloc(arena, count + 1, sizeof(*items));

	if (!items)
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++)
		items[i] = ttnn_v_int(numbers[i]);
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* What a reshape makes, -1 resolved; it must have as many elements as there are. */
static tt_status read_target(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	int64_t dims[TTNN_MAX_RANK], known = 1;
	size_t rank, open = TTNN_MAX_RANK;
	uint64_t volume;

	(void)column;
	TT_TRY(integers(dims, &rank, TTNN_MAX_RANK, call, 1));
	if (!call->tensor_count || !rank)
		return missing();
	TT_TRY(ttnn_shape_volume(&volume, &call->tensors[0].extents));
	for (size_t i = 0; i < rank; i++) {
		if (dims[i] < 0)
			open = i;
		else if (__builtin_mul_overflow(known, dims[i], &known))
			return missing();
	}
	if (open < rank && known > 0 && volume % (uint64_t)known == 0)
		known *= dims[open] = (int64_t)(volume / (uint64_t)known);
	if (known < 0 || (uint64_t)known != volume)
		return missing();
	return list_of(out, call->arena, dims, rank);
}

/* Padding of either form as how much goes before and behind each dimension. */
static tt_status padding_of(int64_t (*out)[2], size_t *rank, struct ttnn_value *value,
			    const struct tt_loader_call *call)
{
	int64_t padded[TTNN_MAX_RANK], start[TTNN_MAX_RANK];
	struct ttnn_value pairs;
	size_t count[2];

	if (!call->tensor_count)
		return missing();
	TT_TRY(tt_loader_numbers(&pairs, call->arena, tt_loader_arg(call->args, 1)));
	*rank = call->tensors[0].extents.rank;
	if (pairs.count != *rank || !*rank)
		return missing();
	if (pairs.items[0].kind == TTNN_VALUE_LIST) {
		for (size_t i = 0; i < *rank; i++)
			for (size_t side = 0; side < 2; side++)
				if (pairs.items[i].kind != TTNN_VALUE_LIST ||
				    pairs.items[i].count != 2 ||
				    !tt_value_integer(&out[i][side], &pairs.items[i].items[side]))
					return missing();
		return tt_loader_number(value, tt_loader_arg(call->args, 2)) ? TTNN_OK : missing();
	}
	TT_TRY(integers(padded, &count[0], TTNN_MAX_RANK, call, 1));
	TT_TRY(integers(start, &count[1], TTNN_MAX_RANK, call, 2));
	if (count[0] != *rank || count[1] != *rank)
		return missing();
	for (size_t i = 0; i < *rank; i++) {
		out[i][0] = start[i];
		out[i][1] = padded[i] - start[i] - call->tensors[0].extents.dim[i];
	}
	return tt_loader_number(value, tt_loader_arg(call->args, 3)) ? TTNN_OK : missing();
}

static tt_status read_padded(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	int64_t sides[TTNN_MAX_RANK][2], dims[TTNN_MAX_RANK];
	struct ttnn_value value;
	size_t rank;

	(void)column;
	TT_TRY(padding_of(sides, &rank, &value, call));
	for (size_t i = 0; i < rank; i++)
		dims[i] = sides[i][0] + call->tensors[0].extents.dim[i] + sides[i][1];
	return list_of(out, call->arena, dims, rank);
}

static tt_status read_pad_start(struct ttnn_value *out, const struct tt_loader_call *call,
				const struct tt_loader_column *column)
{
	int64_t sides[TTNN_MAX_RANK][2], dims[TTNN_MAX_RANK];
	struct ttnn_value value;
	size_t rank;

	(void)column;
	TT_TRY(padding_of(sides, &rank, &value, call));
	for (size_t i = 0; i < rank; i++)
		dims[i] = sides[i][0];
	return list_of(out, call->arena, dims, rank);
}

static tt_status read_padding(struct ttnn_value *out, const struct tt_loader_call *call,
			      const struct tt_loader_column *column)
{
	int64_t sides[TTNN_MAX_RANK][2];
	struct ttnn_value value, *items;
	size_t rank;

	(void)column;
	TT_TRY(padding_of(sides, &rank, &value, call));
	items = tt_arena_calloc(call->arena, rank + 1, sizeof(*items));
	if (!items)
		return tt_fail_nomem();
	for (size_t i = 0; i < rank; i++)
		TT_TRY(list_of(&items[i], call->arena, sides[i], 2));
	*out = ttnn_v_list(items, rank);
	return TTNN_OK;
}

static tt_status read_pad_value(struct ttnn_value *out, const struct tt_loader_call *call,
				const struct tt_loader_column *column)
{
	int64_t sides[TTNN_MAX_RANK][2];
	struct ttnn_value value;
	double real;
	size_t rank;

	(void)column;
	TT_TRY(padding_of(sides, &rank, &value, call));
	if (!tt_value_number(&real, &value))
		return missing();
	*out = ttnn_v_real(real);
	return TTNN_OK;
}

/* The padding of a dimension of a convolution: a number, or [before, behind] where the two differ. */
static tt_status conv_padding(struct ttnn_value *out, struct tt_arena *arena, int64_t before,
			      int64_t behind)
{
	if (before != behind)
		return list_of(out, arena, (int64_t[]){before, behind}, 2);
	*out = ttnn_v_int(before);
	return TTNN_OK;
}

/*
 * [batch, out channels, in channels, height, width, kernel (2), stride (2), padding (2), groups, dilation (2), bias]
 * of a convolution.
 */
static tt_status read_conv2d(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	static const uint8_t numbers[] = {5, 4, 3, 6, 7}, lists[] = {8, 9, 10, 11};
	struct ttnn_value *items = tt_arena_calloc(call->arena, 16, sizeof(*items));
	int64_t pairs[TT_COUNT(lists)][4];
	size_t count = 0, sides = 0;

	(void)column;
	if (!items)
		return tt_fail_nomem();
	for (; count < TT_COUNT(numbers); count++)
		if (!tt_loader_number(&items[count], tt_loader_arg(call->args, numbers[count])))
			return missing();
	for (size_t i = 0; i < TT_COUNT(lists); i++) {
		TT_TRY(integers(pairs[i], &sides, 4, call, lists[i]));
		if (sides != 2 && !(sides == 4 && lists[i] == 10))
			return missing();
		if (lists[i] == 10 && sides == 2) { /* the same before and behind */
			pairs[i][2] = pairs[i][3] = pairs[i][1];
			pairs[i][1] = pairs[i][0];
		}
	}
	for (size_t i = 0; i < 2; i++)
		for (size_t side = 0; side < 2; side++)
			items[count++] = ttnn_v_int(pairs[i][side]);
	for (size_t side = 0; side < 2; side++)
		TT_TRY(conv_padding(&items[count++], call->arena, pairs[2][2 * side],
				    pairs[2][2 * side + 1]));
	if (!tt_loader_number(&items[count++], tt_loader_arg(call->args, 12)))
		return missing();
	for (size_t side = 0; side < 2; side++)
		items[count++] = ttnn_v_int(pairs[3][side]);
	items[count++] = ttnn_v_bool(tt_loader_is_tensor(tt_loader_arg(call->args, 14)));
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* (batch, length, width, words) of a look-up in a table. */
static tt_status read_lookup(struct ttnn_value *out, const struct tt_loader_call *call,
			     const struct tt_loader_column *column)
{
	const struct ttnn_shape *ids = &call->tensors[0].extents,
				*table = &call->tensors[1].extents;

	(void)column;
	if (call->tensor_count < 2 || ids->rank < 1 || table->rank < 2)
		return missing();
	return list_of(out, call->arena,
		       (int64_t[]){ids->rank > 1 ? ids->dim[0] : 1, ids->dim[ids->rank - 1],
				   table->dim[table->rank - 1], table->dim[table->rank - 2]},
		       4);
}

/* ---- the table ---------------------------------------------------------------------------------------------------------- */

/* To add one: a function above and its row. */
static const struct tt_loader_field fields[] = {
	{"shape", read_shape, 1, false},
	{"maybe_shape", read_maybe, 1, false},
	{"dtype", read_dtype, 1, false},
	{"layout", read_layout, 1, false},
	{"storage", read_storage, 1, false},
	{"given", read_given, 1, false},
	{"memory", read_memory, 1, false},
	{"unsharded", read_unsharded, 1, false},
	{"dram", read_dram, 0, false},
	{"shapes", read_shapes, 1, false},
	{"pair", read_pair, 2, false},
	{"int", read_int, 1, false},
	{"bool", read_bool, 1, false},
	{"real", read_real, 1, false},
	{"number", read_number, 1, false},
	{"ints", read_ints, 1, false},
	{"text", read_text, 1, false},
	{"type", read_type, 1, false},
	{"any", read_any, 1, false},
	{"false", read_false, 0, false},
	{"target", read_target, 0, false},
	{"padded", read_padded, 0, false},
	{"pad_start", read_pad_start, 0, false},
	{"padding", read_padding, 0, false},
	{"pad_value", read_pad_value, 0, false},
	{"conv2d", read_conv2d, 0, false},
	{"lookup", read_lookup, 0, true},
};

static const struct tt_loader_field *find_field(const char *name, size_t length)
{
	for (size_t i = 0; i < TT_COUNT(fields); i++)
		if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
			return &fields[i];
	return NULL;
}

/* ---- columns -------------------------------------------------------------------------------------------------------------- */

/* "5", "0.1", "0.*", "t2", "memory_config"; the character behind it. */
static const char *parse_place(struct tt_loader_place *out, struct tt_arena *arena,
			       const char *text)
{
	size_t length = strcspn(text, ", ");
	bool tensor = *text == 't' && text[1] >= '0' && text[1] <= '9';
	char *end;

	*out = (struct tt_loader_place){.where = tensor ? TT_LOADER_TENSOR : TT_LOADER_ARG,
					.item = -1};
	if (!tensor && (*text < '0' || *text > '9')) {
		out->where = TT_LOADER_NAMED;
		out->name = tt_arena_strndup(arena, text, length);
		return length ? text + length : NULL;
	}
	out->number = (uint32_t)strtoul(text + tensor, &end, 10);
	if (*end == '.' && end[1] == '*') {
		out->item = -2;
		end += 2;
	} else if (*end == '.' && end[1] >= '0' && end[1] <= '9') {
		out->item = (int32_t)strtoul(end + 1, &end, 10);
	}
	return end == text + length ? end : NULL;
}

/* "NAME=FIELD@PLACE,PLACE"; what is behind it, or NULL. */
static const char *parse_column(struct tt_loader_column *out, struct tt_arena *arena,
				const char *text)
{
	size_t name = strcspn(text, "= ");
	const char *field = text + name + 1;
	size_t length;

	*out = (struct tt_loader_column){0};
	if (!name || text[name] != '=')
		return NULL;
	length = strcspn(field, "@ ");
	out->name = tt_arena_strndup(arena, text, name);
	out->field = find_field(field, length);
	text = field + length;
	while (out->field && (*text == '@' || *text == ',')) {
		if (out->place_count == TT_LOADER_PLACES)
			return NULL;
		text = parse_place(&out->places[out->place_count++], arena, text + 1);
		if (!text)
			return NULL;
	}
	return out->field && out->place_count >= out->field->least && (!*text || *text == ' ')
		       ? text
		       : NULL;
}

/* Whether all names were copied. */
static bool is_complete(const struct tt_loader_column *column)
{
	for (size_t i = 0; i < column->place_count; i++)
		if (column->places[i].where == TT_LOADER_NAMED && !column->places[i].name)
			return false;
	return column->name != NULL;
}

tt_status tt_loader_columns_add(struct tt_loader_columns *columns, struct tt_arena *arena,
				const char *text)
{
	const char *whole = text;

	while (*(text += strspn(text, " "))) {
		struct tt_loader_column column, *at = NULL;

		text = parse_column(&column, arena, text);
		if (!text)
			return tt_fail(TTNN_INVALID,
				       "\"%s\" does not tell columns: each is NAME=FIELD@PLACE, "
				       "where a place is the number of an argument, its name or "
				       "the number of a tensor (t0)",
				       whole);
		if (!is_complete(&column))
			return tt_fail_nomem();
		for (size_t i = 0; i < columns->list.count; i++)
			if (strcmp(columns->list.data[i].name, column.name) == 0)
				at = &columns->list.data[i];
		if (!at)
			at = TT_VEC_PUSH(&columns->list);
		if (!at)
			return tt_fail_nomem();
		*at = column;
	}
	return TTNN_OK;
}

void tt_loader_columns_deinit(struct tt_loader_columns *columns)
{
	TT_VEC_DEINIT(&columns->list);
}

tt_status tt_loader_column(struct ttnn_value *out, const struct tt_loader_column *column,
			   const struct tt_loader_call *call)
{
	return column->field->read(out, call, column);
}

bool tt_loader_is_tuple(const struct tt_loader_column *column)
{
	return column->field->tuple;
}
