#include "report/captured.h"

#include <string.h>

#include "base/fmt.h"
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

const struct tt_json *tt_report_device_tensors(struct tt_json_parser *parser, const char *text,
					       size_t length)
{
	struct tt_json_part part = {.name = "device_tensors", .whole = text, .length = length};
	const struct tt_json *list;

	if (tt_json_parser_read(&list, parser, &part) != TTNN_OK)
		return NULL;
	return tt_json_kind(list) == TT_JSON_ARRAY ? list : NULL;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static void add_int(struct tt_str *out, int64_t value)
{
	char text[TT_FMT_MAX];

	tt_str_add(out, text, tt_fmt_i64(text, value));
}

static void add_key(struct tt_str *out, const struct tt_json_iter *it, bool first)
{
	tt_py_dumps_key(out, it->key, it->key_length, first);
}

/* Whether the member has this key, a string literal. */
#define is_key(it, literal)                                                                        \
	((it)->key_length == sizeof(literal) - 1 &&                                                \
	 memcmp((it)->key, (literal), sizeof(literal) - 1) == 0)

static void add_device(struct tt_report_captured *captured, struct tt_str *out,
		       const struct tt_json *value)
{
	int64_t id;

	if (tt_json_kind(value) == TT_JSON_INT && tt_json_int(&id, value))
		add_int(out, tt_report_devices_map(captured->devices, id));
	else
		tt_py_dumps(out, value);
}

/* The text of device_tensors, its ids mapped, as Python writes it again. */
static void add_device_tensors(struct tt_report_captured *captured, const struct tt_json *value)
{
	struct tt_str inner = {0};
	size_t length = 0;
	const char *text = tt_json_string(value, &length), *before = "";
	const struct tt_json *list =
		text ? tt_report_device_tensors(&captured->parser, text, length) : NULL;
	struct tt_json_iter it = tt_json_iter(list);

	if (!list) {
		tt_py_dumps(&captured->text, value);
		return;
	}
	tt_str_addc(&inner, '[');
	while (tt_json_next(&it)) {
		struct tt_json_iter field = tt_json_iter(it.value);
		bool first = true;

		tt_str_adds(&inner, before);
		before = ", ";
		if (!field.object) {
			tt_py_dumps(&inner, it.value);
			continue;
		}
		tt_str_addc(&inner, '{');
		while (tt_json_next(&field)) {
			add_key(&inner, &field, first);
			first = false;
			if (is_key(&field, "device_id") || is_key(&field, "mesh_device_id"))
				add_device(captured, &inner, field.value);
			else
				tt_py_dumps(&inner, field.value);
		}
		tt_str_addc(&inner, '}');
	}
	tt_str_addc(&inner, ']');
	captured->text.failed |= inner.failed;
	tt_py_dumps_text(&captured->text, tt_str_text(&inner), inner.length);
	tt_str_deinit(&inner);
}

static void add_params(struct tt_report_captured *captured, const struct tt_json *params)
{
	struct tt_str *out = &captured->text;
	struct tt_json_iter it = tt_json_iter(params);
	bool first = true;
	int64_t id;

	if (!captured->devices->rows.count || !it.object) {
		tt_py_dumps(out, params);
		return;
	}
	tt_str_addc(out, '{');
	while (tt_json_next(&it)) {
		add_key(out, &it, first);
		first = false;
		if (is_key(&it, "device_tensors"))
			add_device_tensors(captured, it.value);
		else if (is_key(&it, "device_id") && tt_json_kind(it.value) == TT_JSON_STRING &&
			 tt_py_int(&id, it.value))
			add_int(out, tt_report_devices_map(captured->devices, id));
		else if (is_key(&it, "device_id"))
			add_device(captured, out, it.value);
		else
			tt_py_dumps(out, it.value);
	}
	tt_str_addc(out, '}');
}

/* A list of references: numbers become holes, anything else is written. */
static tt_status add_references(struct tt_report_captured *captured, const struct tt_json *list,
				bool connections)
{
	struct tt_str *out = &captured->text;
	struct tt_json_iter it = tt_json_iter(list);
	uint32_t node = (uint32_t)captured->counters.count;
	int32_t index = 0;

	if (tt_json_kind(list) != TT_JSON_ARRAY) {
		tt_py_dumps(out, list);
		return TTNN_OK;
	}
	tt_str_addc(out, '[');
	for (; tt_json_next(&it); index++) {
		struct tt_report_hole *hole;
		int64_t reference;

		if (index)
			tt_str_add(out, ", ", 2);
		if (!tt_json_int(&reference, it.value)) {
			tt_py_dumps(out, it.value);
			continue;
		}
		hole = TT_VEC_PUSH(&captured->holes);
		if (!hole)
			return tt_fail_nomem();
		*hole = (struct tt_report_hole){out->length, reference, node,
						connections ? index : -1};
	}
	tt_str_addc(out, ']');
	return TTNN_OK;
}

void tt_report_captured_clear(struct tt_report_captured *captured)
{
	tt_str_clear(&captured->text);
	captured->holes.count = captured->counters.count = 0;
}

tt_status tt_report_captured_add(struct tt_report_captured *captured, const struct tt_json *node)
{
	struct tt_str *out = &captured->text;
	int64_t *counter = TT_VEC_PUSH(&captured->counters);
	int64_t number = (int64_t)captured->counters.count;
	bool first = true, has_counter = false, has_id = false;
	struct tt_json_iter it = tt_json_iter(node);

	if (!counter)
		return tt_fail_nomem();
	*counter = 0;
	tt_str_add(out, ", {", 3);
	while (tt_json_next(&it)) {
		add_key(out, &it, first);
		first = false;
		if (is_key(&it, "counter")) {
			has_counter = true;
			tt_json_int(counter, it.value);
			add_int(out, number);
		} else if (is_key(&it, "id")) {
			has_id = true;
			add_int(out, number);
		} else if (is_key(&it, "connections")) {
			TT_TRY(add_references(captured, it.value, true));
		} else if (is_key(&it, "input_tensors")) {
			TT_TRY(add_references(captured, it.value, false));
		} else if (is_key(&it, "params")) {
			add_params(captured, it.value);
		} else {
			tt_py_dumps(out, it.value);
		}
	}
	if (!has_counter) {
		tt_str_adds(out, first ? "\"counter\": " : ", \"counter\": ");
		add_int(out, number);
	}
	if (!has_id) {
		tt_str_adds(out, ", \"id\": ");
		add_int(out, number);
	}
	tt_str_addc(out, '}');
	return TTNN_OK;
}

/* ---- renumbering ---------------------------------------------------------------------------- */

/* New numbers by old counter; a later node wins, and 0 is the last node: it counts from 0 too. */
struct numbers {
	int64_t least;
	int64_t last;
	const struct tt_report_captured *captured; /* to search where there is no table */
	const uint32_t *table;
	size_t size;
};

static tt_status make_numbers(struct numbers *out, struct tt_report_captured *captured)
{
	size_t count = captured->counters.count;
	int64_t least = INT64_MAX, most = INT64_MIN;
	const int64_t *counters = captured->counters.data;

	for (size_t i = 0; i < count; i++) {
		least = counters[i] < least ? counters[i] : least;
		most = counters[i] > most ? counters[i] : most;
	}
	*out = (struct numbers){least, (int64_t)count + 1, captured, NULL, 0};
	if (!count || least < 0 || most - least > (int64_t)(8 * count + 4096))
		return TTNN_OK;
	out->size = (size_t)(most - least) + 1;
	captured->renumber.count = 0;
	if (!TT_VEC_RESERVE(&captured->renumber, out->size))
		return tt_fail_nomem();
	memset(captured->renumber.data, 0, out->size * sizeof(*captured->renumber.data));
	for (size_t i = 0; i < count; i++)
		captured->renumber.data[counters[i] - least] = (uint32_t)i + 1;
	out->table = captured->renumber.data;
	return TTNN_OK;
}

static int64_t new_number(const struct numbers *numbers, int64_t old)
{
	if (old == 0)
		return numbers->last;
	if (numbers->table) {
		uint64_t at = (uint64_t)old - (uint64_t)numbers->least;

		return at < numbers->size && numbers->table[at] ? numbers->table[at] : old;
	}
	for (size_t i = numbers->captured->counters.count; i; i--)
		if (numbers->captured->counters.data[i - 1] == old)
			return (int64_t)i;
	return old;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static tt_status write_edge(const struct tt_report_target *target, int64_t source, int64_t sink,
			    int64_t index)
{
	int64_t row[] = {target->operation, source, sink, index, 0, index, target->rank};

	++*target->edges;
	if (!target->db->as_tables)
		return TTNN_OK;
	return tt_report_insert_ints(target->db, TT_REPORT_EDGES, row, 7);
}

static tt_status write_text(const struct tt_report_target *target, const struct tt_str *text)
{
	struct tt_db_stmt *insert;

	TT_TRY(tt_str_status(text));
	TT_TRY(tt_report_insert(&insert, target->db, TT_REPORT_CAPTURED_GRAPH));
	tt_db_bind_int(insert, 0, target->operation);
	tt_db_bind_text(insert, 1, tt_str_text(text), text->length);
	tt_db_bind_int(insert, 2, target->rank);
	return tt_db_run(insert);
}

/* The first or last node; `reference` is its connection, or negative: it has none. */
static void add_stub(struct tt_str *out, const char *kind, int64_t number, int64_t reference)
{
	tt_str_adds(out, "{\"arguments\": [], \"connections\": [");
	if (reference >= 0)
		add_int(out, reference);
	tt_str_adds(out, "], \"counter\": ");
	add_int(out, number);
	tt_str_adds(out, ", \"input_tensors\": [], \"node_type\": \"");
	tt_str_adds(out, kind);
	tt_str_adds(out, "\", \"params\": {}, \"stacking_level\": 0, \"id\": ");
	add_int(out, number);
	tt_str_addc(out, '}');
}

tt_status tt_report_captured_write(struct tt_report_captured *captured,
				   const struct tt_report_target *target)
{
	struct tt_str *whole = &captured->whole;
	const char *text = tt_str_text(&captured->text);
	char number[TT_FMT_MAX];
	struct numbers numbers;
	size_t from = 0;

	TT_TRY(tt_str_status(&captured->text));
	TT_TRY(make_numbers(&numbers, captured));
	tt_str_clear(whole);
	tt_str_addc(whole, '[');
	add_stub(whole, "capture_start", 0, new_number(&numbers, 1));
	TT_TRY(write_edge(target, 0, new_number(&numbers, 1), 0));
	for (size_t i = 0; i < captured->holes.count; i++) {
		const struct tt_report_hole *hole = &captured->holes.data[i];
		int64_t to = new_number(&numbers, hole->reference);

		tt_str_add(whole, text + from, hole->at - from);
		from = hole->at;
		tt_str_add(whole, number, tt_fmt_i64(number, to));
		if (hole->index >= 0)
			TT_TRY(write_edge(target, hole->node, to, hole->index));
	}
	tt_str_add(whole, text + from, captured->text.length - from);
	tt_str_add(whole, ", ", 2);
	add_stub(whole, "capture_end", numbers.last, -1);
	tt_str_addc(whole, ']');
	return write_text(target, whole);
}

/* Here the stubs have their ids in another place, and the node is number 1, connected to 2. */
tt_status tt_report_captured_write_free(struct tt_report_captured *captured,
					const struct tt_json *node,
					const struct tt_report_target *target)
{
	struct tt_str *out = &captured->whole;
	struct tt_json_iter it = tt_json_iter(node);
	bool first = true, has_counter = false, has_id = false, connected = false;
	static const char stub[] =
		"{\"arguments\": [], \"connections\": [%s], \"counter\": %d, \"id\": %d, "
		"\"input_tensors\": [], \"node_type\": \"%s\", \"params\": {}, \"stacking_level\": "
		"0}";

	tt_str_clear(out);
	tt_str_clear(&captured->text);
	tt_str_addc(&captured->text, '{');
	while (tt_json_next(&it)) {
		add_key(&captured->text, &it, first);
		first = false;
		has_counter |= is_key(&it, "counter");
		has_id |= is_key(&it, "id");
		connected |= is_key(&it, "connections");
		if (is_key(&it, "counter") || is_key(&it, "id"))
			tt_str_addc(&captured->text, '1');
		else if (is_key(&it, "connections"))
			tt_str_adds(&captured->text, "[2]");
		else if (is_key(&it, "params"))
			add_params(captured, it.value);
		else
			tt_py_dumps(&captured->text, it.value);
	}
	if (!has_counter)
		tt_str_adds(&captured->text, first ? "\"counter\": 1" : ", \"counter\": 1");
	tt_str_adds(&captured->text, has_id ? "}" : ", \"id\": 1}");
	tt_str_addc(out, '[');
	tt_str_addf(out, stub, "1", 0, 0, "capture_start");
	tt_str_addf(out, ", %s, ", tt_str_text(&captured->text));
	tt_str_addf(out, stub, "", 2, 2, "capture_end");
	tt_str_addc(out, ']');
	out->failed |= captured->text.failed;
	TT_TRY(write_edge(target, 0, 1, 0));
	if (connected)
		TT_TRY(write_edge(target, 1, 2, 0));
	return write_text(target, out);
}

static tt_status write_own_edges(const struct tt_json *node, const struct tt_report_target *target)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(node, "connections"));
	int64_t source = 0, sink, index = 0;

	tt_json_int(&source, tt_json_get(node, "counter"));
	for (; tt_json_next(&it); index++)
		if (tt_json_int(&sink, it.value))
			TT_TRY(write_edge(target, source, sink, index));
	return TTNN_OK;
}

tt_status tt_report_captured_write_own(struct tt_report_captured *captured,
				       const struct tt_json *nodes,
				       const struct tt_report_target *target)
{
	struct tt_str *out = &captured->whole;
	struct tt_json_iter it = tt_json_iter(nodes);
	const char *before = "";

	tt_str_clear(out);
	tt_str_addc(out, '[');
	while (tt_json_next(&it)) {
		struct tt_json_iter member = tt_json_iter(it.value);
		const struct tt_json *counter = tt_json_get(it.value, "counter");
		bool first = true, has_id = false;

		tt_str_adds(out, before);
		before = ", ";
		tt_str_addc(out, '{');
		for (; tt_json_next(&member); first = false) {
			bool id = is_key(&member, "id");

			add_key(out, &member, first);
			has_id |= id;
			tt_py_dumps(out, id && counter ? counter : member.value);
		}
		if (counter && !has_id) {
			tt_str_adds(out, ", \"id\": ");
			tt_py_dumps(out, counter);
		}
		tt_str_addc(out, '}');
		TT_TRY(write_own_edges(it.value, target));
	}
	tt_str_addc(out, ']');
	return write_text(target, out);
}

void tt_report_captured_deinit(struct tt_report_captured *captured)
{
	tt_str_deinit(&captured->text);
	tt_str_deinit(&captured->whole);
	TT_VEC_DEINIT(&captured->holes);
	TT_VEC_DEINIT(&captured->counters);
	TT_VEC_DEINIT(&captured->renumber);
	tt_json_parser_deinit(&captured->parser);
}
