#include "report/records.h"

#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"

static tt_status add_record(struct tt_report_records *records, const char *name, size_t length,
			    const struct tt_report_place *place, bool has_graph)
{
	struct tt_report_record *record = TT_VEC_PUSH(&records->all);
	uint32_t number = (uint32_t)records->all.count, *last;
	struct tt_map_entry *entry;
	bool added;

	entry = tt_map_add(&records->names, name, length, &added);
	if (!record || !entry)
		return tt_fail_nomem();
	*record = (struct tt_report_record){*place, 0, has_graph};
	records->graphs += has_graph;
	if (added) {
		entry->number = (uint64_t)records->last.count << 32 | number;
		last = TT_VEC_PUSH(&records->last);
		if (!last)
			return tt_fail_nomem();
	} else {
		last = &records->last.data[entry->number >> 32];
		records->all.data[*last - 1].next = number;
	}
	*last = number;
	return TTNN_OK;
}

/* The members of the record that the source is at: only two of them are read. */
static tt_status read_record(struct tt_report_records *records, struct tt_report_source *source,
			     struct tt_json_parser *parser)
{
	struct tt_report_place place = source->place(source), member;
	struct tt_str name = {0};
	tt_status status = TTNN_OK;
	bool named = false, has_graph = false;

	if (source->element_kind(source) != TT_JSON_OBJECT)
		return source->fail(source, &place, "a record of python_io must be an object");
	source->enter(source);
	while (status == TTNN_OK && source->next(source)) {
		const char *key = source->key(source);
		bool is_name = strcmp(key, "name") == 0;
		const struct tt_json *value = NULL;
		const char *text;
		size_t length;

		has_graph |= strcmp(key, "captured_graph") == 0;
		if (!is_name && (records->has_traces || strcmp(key, "python_stack_trace") != 0))
			continue;
		member = source->place(source);
		status = source->status(source);
		if (status == TTNN_OK)
			status = source->fetch(&value, source, parser, &member);
		if (status != TTNN_OK)
			break;
		text = tt_json_string(value, &length);
		if (is_name && text) {
			named = true;
			tt_str_clear(&name);
			tt_str_add(&name, text, length);
			status = tt_str_status(&name);
		} else if (!is_name) {
			records->has_traces = tt_py_true(value);
		}
	}
	if (status == TTNN_OK)
		status = source->status(source);
	if (status == TTNN_OK && !named)
		status = source->fail(source, &place, "a record of python_io without a name");
	if (status == TTNN_OK)
		status = add_record(records, tt_str_text(&name), name.length, &place, has_graph);
	tt_str_deinit(&name);
	return status;
}

tt_status tt_report_records_read(struct tt_report_records *records, struct tt_report_source *source)
{
	struct tt_json_parser parser = {0};
	tt_status status;

	if (source->kind(source, TT_GRAPH_PART_PYTHON_IO) != TT_JSON_ARRAY)
		return TTNN_OK;
	status = source->walk(source, TT_GRAPH_PART_PYTHON_IO);
	while (status == TTNN_OK && source->next(source))
		status = read_record(records, source, &parser);
	tt_json_parser_deinit(&parser);
	return status == TTNN_OK ? source->status(source) : status;
}

uint32_t tt_report_records_take(struct tt_report_records *records, const char *name, size_t length)
{
	struct tt_map_entry *entry =
		records->all.count ? tt_map_find(&records->names, name, length) : NULL;
	uint32_t number = entry ? (uint32_t)entry->number : 0;

	if (number)
		entry->number = (entry->number >> 32 << 32) | records->all.data[number - 1].next;
	return number;
}

bool tt_report_records_has_graph(const struct tt_report_records *records, uint32_t number)
{
	return number && records->all.data[number - 1].has_graph;
}

tt_status tt_report_records_fetch(const struct tt_json **out,
				  const struct tt_report_records *records,
				  struct tt_report_source *source, struct tt_json_parser *parser,
				  uint32_t number)
{
	return source->fetch(out, source, parser, &records->all.data[number - 1].place);
}

void tt_report_records_reset(struct tt_report_records *records)
{
	records->all.count = records->last.count = records->graphs = 0;
	records->has_traces = false;
	tt_map_clear(&records->names);
}

void tt_report_records_deinit(struct tt_report_records *records)
{
	TT_VEC_DEINIT(&records->all);
	TT_VEC_DEINIT(&records->last);
	tt_map_deinit(&records->names);
}
