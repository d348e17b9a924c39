#include "report/captured.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsondump.h"
#include "base/mem.h"

/* ---- nodes ---------------------------------------------------------------------------------- */

void tt_report_captured_clear(struct tt_report_captured *captured)
{
	tt_str_clear(&captured->text);
	captured->holes.count = captured->counters.count = 0;
}

tt_status tt_report_captured_add(struct tt_report_captured *captured,
				 const struct tt_report_draft *draft,
				 const struct tt_report_drafts *texts)
{
	size_t start = captured->text.length;
	int64_t *counter = TT_VEC_PUSH(&captured->counters);
	uint32_t number = (uint32_t)captured->counters.count;

	if (!counter || !TT_VEC_RESERVE(&captured->holes, draft->holes))
		return tt_fail_nomem();
	*counter = draft->counter;
	tt_str_add(&captured->text, tt_str_text(&texts->text) + draft->text, draft->length);
	for (size_t i = 0; i < draft->holes; i++) {
		struct tt_report_hole hole = texts->holes.data[draft->hole + i];

		hole.at += start;
		hole.node = number;
		captured->holes.data[captured->holes.count++] = hole;
	}
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
		tt_str_addi(out, reference);
	tt_str_adds(out, "], \"counter\": ");
	tt_str_addi(out, number);
	tt_str_adds(out, ", \"input_tensors\": [], \"node_type\": \"");
	tt_str_adds(out, kind);
	tt_str_adds(out, "\", \"params\": {}, \"stacking_level\": 0, \"id\": ");
	tt_str_addi(out, number);
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
		int64_t to = hole->index == TT_REPORT_HOLE_OWN
				     ? hole->node
				     : new_number(&numbers, hole->reference);

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

#define FREE_STUB(connections, number, kind)                                                       \
	"{\"arguments\": [], \"connections\": [" connections "], \"counter\": " number             \
	", \"id\": " number ", \"input_tensors\": [], \"node_type\": \"" kind                      \
	"\", \"params\": {}, \"stacking_level\": 0}"

/* Here the stubs have their ids in another place, and the node is number 1, connected to 2. */
tt_status tt_report_captured_write_free(struct tt_report_captured *captured,
					const struct tt_json *node,
					const struct tt_report_target *target)
{
	struct tt_str *out = &captured->whole;
	struct tt_json_iter it = tt_json_iter(node);
	struct tt_str *text = &captured->drafts.text;
	bool first = true, has_counter = false, has_id = false, connected = false;
	tt_str_clear(out);
	tt_str_clear(text);
	tt_str_addc(text, '{');
	while (tt_json_next(&it)) {
		tt_json_dump_key(text, it.key, it.key_length, first);
		first = false;
		has_counter |= TT_REPORT_IS_KEY(&it, "counter");
		has_id |= TT_REPORT_IS_KEY(&it, "id");
		connected |= TT_REPORT_IS_KEY(&it, "connections");
		if (TT_REPORT_IS_KEY(&it, "counter") || TT_REPORT_IS_KEY(&it, "id"))
			tt_str_addc(text, '1');
		else if (TT_REPORT_IS_KEY(&it, "connections"))
			tt_str_adds(text, "[2]");
		else if (TT_REPORT_IS_KEY(&it, "params"))
			tt_report_draft_params(&captured->drafts, captured->devices, it.value);
		else
			tt_json_dump(text, it.value);
	}
	if (!has_counter)
		tt_str_adds(text, first ? "\"counter\": 1" : ", \"counter\": 1");
	tt_str_adds(text, has_id ? "}" : ", \"id\": 1}");
	tt_str_addc(out, '[');
	tt_str_adds(out, FREE_STUB("1", "0", "capture_start") ", ");
	tt_str_add(out, tt_str_text(text), text->length);
	tt_str_adds(out, ", " FREE_STUB("", "2", "capture_end"));
	tt_str_addc(out, ']');
	out->failed |= text->failed;
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
			bool id = TT_REPORT_IS_KEY(&member, "id");

			tt_json_dump_key(out, member.key, member.key_length, first);
			has_id |= id;
			tt_json_dump(out, id && counter ? counter : member.value);
		}
		if (counter && !has_id) {
			tt_str_adds(out, ", \"id\": ");
			tt_json_dump(out, counter);
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
	tt_report_drafts_deinit(&captured->drafts);
	TT_VEC_DEINIT(&captured->holes);
	TT_VEC_DEINIT(&captured->counters);
	TT_VEC_DEINIT(&captured->renumber);
	tt_json_parser_deinit(&captured->parser);
}
