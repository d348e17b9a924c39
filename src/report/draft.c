#include "report/draft.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsondump.h"
#include "base/mem.h"
#include "report/pytext.h"

int64_t tt_report_devices_map(void *devices, int64_t raw)
{
	const struct tt_report_devices *known = devices;

	for (size_t i = 0; i < known->rows.count; i++)
		if (known->rows.data[i].raw == raw)
			return (int64_t)i;
	return raw;
}

tt_status tt_report_device_tensors(const struct tt_json **out, struct tt_json_parser *parser,
				   const char *text, size_t length)
{
	struct tt_json_part part = {.name = "device_tensors", .whole = text, .length = length};
	tt_status status;

	*out = NULL;
	if (!text || !length)
		return TTNN_OK;
	status = tt_json_parser_read(out, parser, &part);
	if (status != TTNN_OK || tt_json_kind(*out) != TT_JSON_ARRAY)
		*out = NULL;
	return status == TTNN_FORMAT ? TTNN_OK : status;
}

/* ---- holes ---------------------------------------------------------------------------------- */

bool tt_report_is_number(int64_t *out, const char *text, size_t length)
{
	int64_t value = 0;

	if (!length || length > 18 || (text[0] == '0' && length > 1))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*out = value;
	return true;
}

static tt_status add_number(struct tt_report_drafts *drafts, int64_t value)
{
	int64_t *number = TT_VEC_PUSH(&drafts->numbers);

	if (!number)
		return tt_fail_nomem();
	*number = value;
	return TTNN_OK;
}

static tt_status add_hole(struct tt_report_drafts *drafts, size_t start,
			  enum tt_report_hole_kind kind, size_t index)
{
	struct tt_report_hole *hole = TT_VEC_PUSH(&drafts->holes);
	size_t at = drafts->text.length - start;

	if (!hole || at > UINT32_MAX)
		return tt_fail_nomem();
	*hole = (struct tt_report_hole){(uint32_t)at, (uint16_t)kind, (uint16_t)index};
	return TTNN_OK;
}

/* A number among the values. */
static tt_status add_value(struct tt_report_drafts *drafts, size_t start, int64_t value,
			   bool device)
{
	TT_TRY(add_hole(drafts, start, device ? TT_HOLE_DEVICE : TT_HOLE_VALUE, 0));
	return add_number(drafts, value);
}

/* A value as it is written, numbers and texts of numbers as holes. */
static tt_status add_plain(struct tt_report_drafts *drafts, size_t start,
			   const struct tt_json *value)
{
	size_t length = 0;
	const char *text = tt_json_string(value, &length);
	int64_t number;

	if (text && tt_report_is_number(&number, text, length)) {
		tt_str_addc(&drafts->text, '"');
		TT_TRY(add_value(drafts, start, number, false));
		tt_str_addc(&drafts->text, '"');
		return TTNN_OK;
	}
	if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&number, value))
		return add_value(drafts, start, number, false);
	tt_json_dump(&drafts->text, value);
	return TTNN_OK;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* A hole in the text of device_tensors; its place counts from the start of that. */
static tt_status add_inner(struct tt_report_drafts *drafts, int64_t value, bool device)
{
	struct tt_report_hole *hole = TT_VEC_PUSH(&drafts->inner_holes);

	if (!hole)
		return tt_fail_nomem();
	*hole = (struct tt_report_hole){(uint32_t)drafts->inner.length,
					device ? TT_HOLE_DEVICE : TT_HOLE_VALUE, 0};
	return add_number(drafts, value);
}

static tt_status add_device_tensor(struct tt_report_drafts *drafts, const struct tt_json *one)
{
	struct tt_str *inner = &drafts->inner;
	struct tt_json_iter field = tt_json_iter(one);
	bool first = true;
	int64_t number;

	if (!field.object) {
		tt_json_dump(inner, one);
		return TTNN_OK;
	}
	tt_str_addc(inner, '{');
	for (; tt_json_next(&field); first = false) {
		bool device = TT_REPORT_IS_KEY(&field, "device_id") ||
			      TT_REPORT_IS_KEY(&field, "mesh_device_id");

		tt_json_dump_key(inner, field.key, field.key_length, first);
		if (tt_json_kind(field.value) == TT_JSON_INT && tt_json_int(&number, field.value))
			TT_TRY(add_inner(drafts, number, device));
		else
			tt_json_dump(inner, field.value);
	}
	tt_str_addc(inner, '}');
	return TTNN_OK;
}

/* A part of a JSON string. */
static void add_escaped(struct tt_report_drafts *drafts, const char *text, size_t length)
{
	struct tt_str *piece = &drafts->piece;

	tt_str_clear(piece);
	tt_json_dump_text(piece, text, length);
	if (piece->failed)
		drafts->text.failed = true;
	else
		tt_str_add(&drafts->text, piece->data + 1, piece->length - 2); /* without quotes */
}

/* The text of device_tensors, its ids mapped, as Python writes it again. */
static tt_status add_device_tensors(struct tt_report_drafts *drafts, size_t start,
				    const struct tt_json *value)
{
	struct tt_str *inner = &drafts->inner, *out = &drafts->text;
	size_t length = 0, from = 0;
	const char *text = tt_json_string(value, &length), *before = "";
	const struct tt_json *list;
	struct tt_json_iter it;

	TT_TRY(tt_report_device_tensors(&list, &drafts->parser, text, length));
	it = tt_json_iter(list);
	if (!list) {
		tt_json_dump(out, value);
		return TTNN_OK;
	}
	tt_str_clear(inner);
	drafts->inner_holes.count = 0;
	tt_str_addc(inner, '[');
	for (; tt_json_next(&it); before = ", ") {
		tt_str_adds(inner, before);
		TT_TRY(add_device_tensor(drafts, it.value));
	}
	tt_str_addc(inner, ']');
	TT_TRY(tt_str_status(inner));
	tt_str_addc(out, '"');
	for (size_t i = 0; i < drafts->inner_holes.count; i++) {
		const struct tt_report_hole *hole = &drafts->inner_holes.data[i];

		add_escaped(drafts, tt_str_text(inner) + from, hole->at - from);
		TT_TRY(add_hole(drafts, start, (enum tt_report_hole_kind)hole->kind, 0));
		from = hole->at;
	}
	add_escaped(drafts, tt_str_text(inner) + from, inner->length - from);
	tt_str_addc(out, '"');
	return TTNN_OK;
}

static tt_status add_params(struct tt_report_drafts *drafts, size_t start,
			    struct tt_report_devices *devices, const struct tt_json *params)
{
	struct tt_str *out = &drafts->text;
	struct tt_json_iter it = tt_json_iter(params);
	const struct tt_json *own = devices->names ? tt_json_get(params, "operation") : NULL;
	bool first = true, mapped = devices->rows.count > 0;
	int64_t id;

	if (tt_json_kind(own) != TT_JSON_STRING || !tt_json_get(params, "name"))
		own = NULL;
	if (!it.object) {
		tt_json_dump(out, params);
		return TTNN_OK;
	}
	tt_str_addc(out, '{');
	while (tt_json_next(&it)) {
		bool text = tt_json_kind(it.value) == TT_JSON_STRING;
		bool device = mapped && TT_REPORT_IS_KEY(&it, "device_id");

		if (own && it.value == own)
			continue;
		tt_json_dump_key(out, it.key, it.key_length, first);
		first = false;
		if (own && TT_REPORT_IS_KEY(&it, "name"))
			TT_TRY(add_plain(drafts, start, own));
		else if (mapped && TT_REPORT_IS_KEY(&it, "device_tensors"))
			TT_TRY(add_device_tensors(drafts, start, it.value));
		else if (device && text && tt_py_int(&id, it.value))
			TT_TRY(add_value(drafts, start, id, true));
		else if (device && tt_json_kind(it.value) == TT_JSON_INT &&
			 tt_json_int(&id, it.value))
			TT_TRY(add_value(drafts, start, id, true));
		else
			TT_TRY(add_plain(drafts, start, it.value));
	}
	tt_str_addc(out, '}');
	return TTNN_OK;
}

/* All of them are numbers: how many, else -1. */
static int64_t count_references(const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	int64_t count = 0, reference;

	for (; tt_json_next(&it); count++)
		if (!tt_json_int(&reference, it.value))
			return -1;
	return count;
}

/* A list of references: numbers become holes, anything else is written. */
static tt_status add_references(struct tt_report_drafts *drafts, size_t start,
				const struct tt_json *list, bool connections)
{
	struct tt_str *out = &drafts->text;
	struct tt_json_iter it = tt_json_iter(list);
	int64_t reference, count = count_references(list);
	size_t index = 0;

	if (tt_json_kind(list) != TT_JSON_ARRAY) {
		tt_json_dump(out, list);
		return TTNN_OK;
	}
	tt_str_addc(out, '[');
	if (count >= 0) {
		TT_TRY(add_hole(drafts, start, connections ? TT_HOLE_CONNECTIONS : TT_HOLE_INPUTS,
				0));
		TT_TRY(add_number(drafts, count));
	}
	for (; tt_json_next(&it); index++) {
		if (index && count < 0)
			tt_str_add(out, ", ", 2);
		if (!tt_json_int(&reference, it.value)) {
			tt_json_dump(out, it.value);
			continue;
		}
		if (count < 0)
			TT_TRY(add_hole(drafts, start,
					connections ? TT_HOLE_CONNECTION : TT_HOLE_INPUT, index));
		TT_TRY(add_number(drafts, reference));
	}
	tt_str_addc(out, ']');
	return TTNN_OK;
}

static tt_status add_own(struct tt_report_drafts *drafts, size_t start)
{
	return add_hole(drafts, start, TT_HOLE_OWN, 0);
}

static tt_status add_members(struct tt_report_draft *draft, struct tt_report_drafts *drafts,
			     struct tt_report_devices *devices, const struct tt_json *node)
{
	bool first = true, has_counter = false, has_id = false;
	struct tt_json_iter it = tt_json_iter(node);
	struct tt_str *out = &drafts->text;

	for (; tt_json_next(&it); first = false) {
		tt_json_dump_key(out, it.key, it.key_length, first);
		if (TT_REPORT_IS_KEY(&it, "counter")) {
			has_counter = true;
			tt_json_int(&draft->counter, it.value);
			TT_TRY(add_own(drafts, draft->text));
		} else if (TT_REPORT_IS_KEY(&it, "id")) {
			has_id = true;
			TT_TRY(add_own(drafts, draft->text));
		} else if (TT_REPORT_IS_KEY(&it, "connections")) {
			TT_TRY(add_references(drafts, draft->text, it.value, true));
		} else if (TT_REPORT_IS_KEY(&it, "input_tensors")) {
			TT_TRY(add_references(drafts, draft->text, it.value, false));
		} else if (TT_REPORT_IS_KEY(&it, "params")) {
			TT_TRY(add_params(drafts, draft->text, devices, it.value));
		} else if (TT_REPORT_IS_KEY(&it, "duration_ns")) {
			TT_TRY(add_plain(drafts, draft->text, it.value));
		} else {
			tt_json_dump(out, it.value);
		}
	}
	if (!has_counter) {
		tt_str_adds(out, first ? "\"counter\": " : ", \"counter\": ");
		TT_TRY(add_own(drafts, draft->text));
	}
	if (has_id)
		return TTNN_OK;
	tt_str_adds(out, ", \"id\": ");
	return add_own(drafts, draft->text);
}

static void begin(struct tt_report_draft *out, const struct tt_report_drafts *drafts)
{
	*out = (struct tt_report_draft){.text = drafts->text.length,
					.hole = drafts->holes.count,
					.number = drafts->numbers.count};
}

static tt_status end(struct tt_report_draft *out, const struct tt_report_drafts *drafts)
{
	out->length = drafts->text.length - out->text;
	out->holes = drafts->holes.count - out->hole;
	out->numbers = drafts->numbers.count - out->number;
	return tt_str_status(&drafts->text);
}

tt_status tt_report_draft_make(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node)
{
	begin(out, drafts);
	tt_str_add(&drafts->text, ", {", 3);
	TT_TRY(add_members(out, drafts, devices, node));
	tt_str_addc(&drafts->text, '}');
	return end(out, drafts);
}

#define FREE_STUB(connections, number, kind)                                                       \
	"{\"arguments\": [], \"connections\": [" connections "], \"counter\": " number             \
	", \"id\": " number ", \"input_tensors\": [], \"node_type\": \"" kind                      \
	"\", \"params\": {}, \"stacking_level\": 0}"

/* Here the first and the last node have their ids in another place. */
tt_status tt_report_draft_free(struct tt_report_draft *out, struct tt_report_drafts *drafts,
			       struct tt_report_devices *devices, const struct tt_json *node,
			       bool *connected)
{
	struct tt_json_iter it = tt_json_iter(node);
	struct tt_str *text = &drafts->text;
	bool first = true, has_counter = false, has_id = false;

	begin(out, drafts);
	*connected = false;
	tt_str_adds(text, "[" FREE_STUB("1", "0", "capture_start") ", {");
	for (; tt_json_next(&it); first = false) {
		tt_json_dump_key(text, it.key, it.key_length, first);
		has_counter |= TT_REPORT_IS_KEY(&it, "counter");
		has_id |= TT_REPORT_IS_KEY(&it, "id");
		*connected |= TT_REPORT_IS_KEY(&it, "connections");
		if (TT_REPORT_IS_KEY(&it, "counter") || TT_REPORT_IS_KEY(&it, "id"))
			tt_str_addc(text, '1');
		else if (TT_REPORT_IS_KEY(&it, "connections"))
			tt_str_adds(text, "[2]");
		else if (TT_REPORT_IS_KEY(&it, "params"))
			TT_TRY(add_params(drafts, out->text, devices, it.value));
		else
			tt_json_dump(text, it.value);
	}
	if (!has_counter)
		tt_str_adds(text, first ? "\"counter\": 1" : ", \"counter\": 1");
	tt_str_adds(text, has_id ? "}" : ", \"id\": 1}");
	tt_str_adds(text, ", " FREE_STUB("", "2", "capture_end") "]");
	return end(out, drafts);
}

/* ---- shapes --------------------------------------------------------------------------------- */

tt_status tt_report_shape_find(const struct tt_report_shape **out, struct tt_report_shapes *shapes,
			       const struct tt_report_draft *draft,
			       const struct tt_report_drafts *drafts)
{
	size_t size = draft->holes * sizeof(*drafts->holes.data);
	struct tt_report_shape *shape;
	struct tt_map_entry *entry;
	struct tt_report_hole *holes;
	bool added;

	tt_str_clear(&shapes->key);
	if (size)
		tt_str_add(&shapes->key, (const char *)(drafts->holes.data + draft->hole), size);
	tt_str_add(&shapes->key, tt_str_text(&drafts->text) + draft->text, draft->length);
	TT_TRY(tt_str_status(&shapes->key));
	entry = tt_map_add(&shapes->map, shapes->key.data, shapes->key.length, &added);
	if (!entry)
		return tt_fail_nomem();
	*out = entry->pointer;
	if (!added)
		return TTNN_OK;
	shape = tt_arena_calloc(&shapes->arena, 1, sizeof(*shape));
	holes = tt_arena_calloc(&shapes->arena, draft->holes + 1, sizeof(*holes));
	if (!shape || !holes)
		return tt_fail_nomem();
	if (size)
		memcpy(holes, drafts->holes.data + draft->hole, size);
	*shape = (struct tt_report_shape){entry->key + size, draft->length, holes, draft->holes,
					  ++shapes->last};
	shapes->bytes += 2 * size + draft->length + 128;
	entry->pointer = shape;
	*out = shape;
	return TTNN_OK;
}

void tt_report_shapes_clear(struct tt_report_shapes *shapes)
{
	tt_map_clear(&shapes->map);
	tt_arena_deinit(&shapes->arena);
	shapes->bytes = 0;
}

void tt_report_shapes_deinit(struct tt_report_shapes *shapes)
{
	tt_map_deinit(&shapes->map);
	tt_arena_deinit(&shapes->arena);
	tt_str_deinit(&shapes->key);
}

/* ---- many ----------------------------------------------------------------------------------- */

void tt_report_drafts_clear(struct tt_report_drafts *drafts)
{
	tt_str_clear(&drafts->text);
	drafts->holes.count = drafts->numbers.count = 0;
}

void tt_report_drafts_deinit(struct tt_report_drafts *drafts)
{
	tt_str_deinit(&drafts->text);
	tt_str_deinit(&drafts->inner);
	tt_str_deinit(&drafts->piece);
	TT_VEC_DEINIT(&drafts->holes);
	TT_VEC_DEINIT(&drafts->inner_holes);
	TT_VEC_DEINIT(&drafts->numbers);
	tt_json_parser_deinit(&drafts->parser);
}
