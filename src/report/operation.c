/*
 * The rows of one operation, when its end is met.
 */
#include <inttypes.h>
#include <string.h>

#include "base/jsondump.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/forms.h"
#include "report/pytext.h"
#include "report/report_walk.h"

/* Ids of executions are those of their operation times this, and their number in it. */
#define EXECUTIONS 1024

static const char *text_of(const struct tt_report_import *import, uint32_t text)
{
	return text ? import->tensors.texts.entries[text - 1].key : "";
}

/* ---- small rows ----------------------------------------------------------------------------- */

tt_status tt_report_error(struct tt_report_import *import, const struct tt_report_error *error)
{
	const char *texts[] = {error->name, error->type, error->message,
			       error->trace ? error->trace : "", ""};
	struct tt_db_stmt *insert;

	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_ERRORS));
	tt_db_bind_int(insert, 0, error->operation);
	for (int i = 0; i < 5; i++)
		tt_db_bind_text(insert, 1 + i, texts[i], strlen(texts[i]));
	tt_db_bind_int(insert, 6, import->rank);
	import->counts.errors++;
	if (!tt_map_add(&import->failed, error->name, strlen(error->name), NULL))
		return tt_fail_nomem();
	return tt_db_run(insert);
}

static tt_status operation_row(struct tt_report_import *import, const char *name, double seconds)
{
	static const char *const frees[] = {"ttnn::deallocate", "ttnn.deallocate",
					    "Tensor::deallocate"};
	struct tt_report_operation *kept;
	struct tt_db_stmt *insert;

	if (import->records.has_traces) {
		kept = TT_VEC_PUSH(&import->tensors.operations);
		if (!kept)
			return tt_fail_nomem();
		*kept = (struct tt_report_operation){0};
		for (int i = 0; i < 3; i++)
			kept->frees |= strcmp(name, frees[i]) == 0;
	}
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_OPERATIONS));
	tt_db_bind_int(insert, 0, import->base + import->number);
	tt_db_bind_text(insert, 1, name, strlen(name));
	tt_db_bind_real(insert, 2, seconds);
	tt_db_bind_int(insert, 3, import->rank);
	import->counts.operations++;
	return tt_db_run(insert);
}

static tt_status argument_row(struct tt_report_import *import, const char *name,
			      const struct tt_json *value)
{
	struct tt_db_stmt *insert;
	size_t length;
	const char *text = tt_json_string(value, &length);

	if (!text) {
		tt_str_clear(&import->scratch);
		tt_py_str(&import->scratch, value);
		TT_TRY(tt_str_status(&import->scratch));
		text = tt_str_text(&import->scratch);
		length = import->scratch.length;
	}
	if (!import->db.as_tables)
		return tt_report_compact_argument(&import->captured.compact, name, text, length);
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_OPERATION_ARGUMENTS));
	tt_db_bind_int(insert, 0, import->base + import->number);
	tt_db_bind_text(insert, 1, name, strlen(name));
	tt_db_bind_text(insert, 2, text, length);
	tt_db_bind_int(insert, 3, import->rank);
	return tt_db_run(insert);
}

/* What Python said, else what the node of the start has. */
static tt_status each_argument(struct tt_report_import *import, const struct tt_json *record,
			       const struct tt_report_frame *frame)
{
	const struct tt_json *arguments = tt_json_get(record, "arguments"), *node;
	struct tt_json_iter it = tt_json_iter(arguments);
	char name[32];

	if (tt_py_true(arguments)) {
		while (tt_json_next(&it))
			TT_TRY(argument_row(import, it.key ? it.key : "", it.value));
		return TTNN_OK;
	}
	if (!frame)
		return TTNN_OK;
	TT_TRY(tt_report_graph_again(&node, &import->graph, frame->position));
	it = tt_json_iter(tt_json_get(node, "arguments"));
	for (int i = 0; tt_json_next(&it); i++) {
		snprintf(name, sizeof(name), "arg_%d", i);
		TT_TRY(argument_row(import, name, it.value));
	}
	return TTNN_OK;
}

static tt_status argument_rows(struct tt_report_import *import, const struct tt_json *record,
			       const struct tt_report_frame *frame)
{
	bool own = tt_py_true(tt_json_get(record, "arguments"));
	struct tt_report_captured *captured = &import->captured;
	int64_t *list =
		frame && !own ? tt_report_graph_note(&import->graph, frame->position) : NULL;

	if (import->db.as_tables)
		return each_argument(import, record, frame);
	captured->arguments = list ? *list : 0;
	if (captured->arguments)
		return TTNN_OK;
	tt_report_compact_begin(&captured->compact);
	TT_TRY(each_argument(import, record, frame));
	TT_TRY(tt_report_compact_arguments(&captured->arguments, &captured->compact));
	if (list)
		*list = captured->arguments;
	return TTNN_OK;
}

/* ---- stack traces --------------------------------------------------------------------------- */

/* The lines of a list, joined. */
static tt_status join(struct tt_str *out, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	const char *before = "", *text;
	size_t length;

	tt_str_clear(out);
	while (tt_json_next(&it)) {
		text = tt_json_string(it.value, &length);
		tt_str_adds(out, before);
		before = "\n";
		if (text)
			tt_str_add(out, text, length);
	}
	return tt_str_status(out);
}

static tt_status trace_row(struct tt_report_import *import, const struct tt_str *trace)
{
	struct tt_report_operation *kept =
		import->tensors.operations.count
			? &import->tensors.operations.data[import->tensors.operations.count - 1]
			: NULL;
	const char *file = NULL;
	size_t length;

	if (kept)
		file = tt_report_trace_frame(&length, &kept->line, tt_str_text(trace));
	if (file) {
		kept->file = tt_report_tensors_text(&import->tensors, file, length);
		if (!kept->file)
			return tt_fail_nomem();
	}
	return tt_report_traces_add(&import->traces, import->base + import->number, import->rank,
				    trace);
}

/* Leaves the text of a call's trace in scratch, or nothing: that of its record, else of its node. */
static tt_status trace_text(struct tt_report_import *import, const struct tt_json *record,
			    const struct tt_report_frame *frame)
{
	const struct tt_json *lines = tt_json_get(record, "python_stack_trace"), *node;

	if (tt_py_true(lines) || !frame || !frame->has_trace || import->options->strict)
		return join(&import->scratch, lines);
	TT_TRY(tt_report_graph_again(&node, &import->graph, frame->position));
	return join(&import->scratch, tt_json_get(node, "stack_trace"));
}

static tt_status trace_rows(struct tt_report_import *import, const struct tt_json *record,
			    const struct tt_report_frame *frame)
{
	bool has = tt_py_true(tt_json_get(record, "python_stack_trace"));

	TT_TRY(trace_text(import, record, frame));
	return has || import->scratch.length ? trace_row(import, &import->scratch) : TTNN_OK;
}

/* ---- where programs ran --------------------------------------------------------------------- */

/* Numbers of params that must be there. */
static tt_status numbers_of(int64_t *out, bool *good, const struct tt_json *params,
			    const char *const *keys)
{
	*good = true;
	for (; *keys; keys++, out++)
		*good &= tt_py_int(out, tt_json_get(params, *keys));
	return TTNN_OK;
}

static tt_status manager_rows(struct tt_report_import *import, const struct tt_json *params,
			      size_t position)
{
	static const char *const keys[] = {"device_id", "sub_device_manager_id", NULL};
	size_t length = 0;
	const char *text = tt_json_string(tt_json_get(params, "sub_devices"), &length);
	const struct tt_json *list = NULL;
	struct tt_json_iter it;
	struct tt_db_stmt *insert;
	int64_t ids[2], id;
	bool good;

	TT_TRY(numbers_of(ids, &good, params, keys));
	if (!good)
		return tt_report_complain(import, position, "a sub-device manager without ids");
	ids[0] = tt_report_devices_map(&import->devices, ids[0]);
	TT_TRY(tt_report_insert_ints(&import->db, TT_REPORT_SUB_DEVICE_MANAGERS,
				     (int64_t[]){ids[0], ids[1], import->rank}, 3));
	TT_TRY(tt_report_device_tensors(&list, &import->captured.parser, text, length));
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_SUB_DEVICES));
	it = tt_json_iter(list);
	while (tt_json_next(&it)) {
		const struct tt_json *ranges = tt_json_get(it.value, "worker_core_ranges");

		if (!tt_py_int(&id, tt_json_get(it.value, "sub_device_id"))) {
			TT_TRY(tt_report_complain(import, position, "a sub-device without an id"));
			continue;
		}
		tt_str_clear(&import->scratch);
		if (ranges)
			tt_json_dump(&import->scratch, ranges);
		else
			tt_str_adds(&import->scratch, "[]");
		TT_TRY(tt_str_status(&import->scratch));
		tt_db_bind_int(insert, 0, ids[0]);
		tt_db_bind_int(insert, 1, ids[1]);
		tt_db_bind_int(insert, 2, id);
		tt_db_bind_text(insert, 3, tt_str_text(&import->scratch), import->scratch.length);
		tt_db_bind_int(insert, 4, import->rank);
		TT_TRY(tt_db_run(insert));
	}
	return TTNN_OK;
}

static tt_status execution_rows(struct tt_report_import *import, const struct tt_json *params,
				size_t position, int64_t index)
{
	static const char *const keys[] = {"device_id",        "sub_device_manager_id",
					   "runtime_id",       "global_call_count",
					   "command_queue_id", NULL};
	const struct tt_json *physical = tt_json_get(params, "physical_device_id");
	const struct tt_json *sub_device = tt_json_get(params, "sub_device_id");
	int64_t operation = import->base + import->number, id = operation * EXECUTIONS + index;
	int64_t n[5], chip, sub;
	bool good;

	TT_TRY(numbers_of(n, &good, params, keys));
	if (!good)
		return tt_report_complain(import, position, "a program's execution without ids");
	n[0] = tt_report_devices_map(&import->devices, n[0]);
	chip = n[0];
	if (physical && !tt_py_int(&chip, physical))
		TT_TRY(tt_report_complain(import, position, "a device that is no number"));
	TT_TRY(tt_report_insert_ints(
		&import->db, TT_REPORT_OPERATION_EXECUTIONS,
		(int64_t[]){id, operation, n[0], chip, n[2], n[3], n[4], import->rank}, 8));
	if (!tt_py_int(&sub, sub_device))
		return TTNN_OK;
	return tt_report_insert_ints(&import->db, TT_REPORT_EXECUTION_SUB_DEVICES,
				     (int64_t[]){id, n[0], n[1], sub, import->rank}, 5);
}

static tt_status placement_rows(struct tt_report_import *import)
{
	int64_t executions = 0;

	for (size_t i = 0; import->db.version->placement && i < import->placed.count; i++) {
		const struct tt_report_placed *placed = &import->placed.data[i];
		const char *text = tt_str_text(&import->placed_texts) + placed->text;
		struct tt_json_part part = {
			.name = import->path, .whole = text, .length = strlen(text)};
		const struct tt_json *params;

		TT_TRY(tt_json_parser_read(&params, &import->placing, &part));
		if (placed->manager) {
			TT_TRY(manager_rows(import, params, placed->position));
			continue;
		}
		if (executions == EXECUTIONS) {
			tt_log(TT_LOG_WARN,
			       "operation_id=%" PRId64 " has more than %d program executions; "
			       "dropping the remainder to keep execution_id unique",
			       import->base + import->number, EXECUTIONS);
			break;
		}
		TT_TRY(execution_rows(import, params, placed->position, executions++));
	}
	return TTNN_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static tt_status use(struct tt_report_import *import, bool output, int64_t id)
{
	return tt_report_tensors_use(&import->tensors, output, import->number, id);
}

/* Python's ids. */
static tt_status use_ids(struct tt_report_import *import, bool output, const struct tt_json *ids,
			 size_t position)
{
	struct tt_json_iter it = tt_json_iter(ids);
	int64_t id;

	import->tensors.unknown = true;
	while (tt_json_next(&it)) {
		if (tt_py_int(&id, it.value))
			TT_TRY(use(import, output, id));
		else
			TT_TRY(tt_report_complain(import, position,
						  "a record with an id that is no number"));
	}
	return TTNN_OK;
}

static tt_status inputs_of(struct tt_report_import *import, const struct tt_json *record,
			   const struct tt_report_frame *frame, size_t position)
{
	const struct tt_json *ids = tt_json_get(record, "input_tensor_ids");
	struct tt_report_entry entry;
	size_t found = 0;

	if (tt_py_true(ids))
		return use_ids(import, false, ids, position);
	if (!frame)
		return TTNN_OK;
	for (size_t i = frame->inputs; i < import->references.count; i++) {
		TT_TRY(tt_report_graph_at(&entry, NULL, &import->graph,
					  import->references.data[i]));
		if (entry.kind == TT_NODE_TENSOR && entry.has_value) {
			TT_TRY(use(import, false, entry.value));
			found++;
		}
	}
	if (found)
		return TTNN_OK;
	tt_idset_clear(&import->own_inputs); /* those seen */
	for (size_t i = 0; i < import->inputs.count; i++) {
		int64_t id = import->inputs.data[i];

		if (tt_idset_has(&import->inner_outputs, id) ||
		    tt_idset_has(&import->own_inputs, id))
			continue;
		TT_TRY(tt_idset_add(&import->own_inputs, id));
		TT_TRY(use(import, false, id));
	}
	return TTNN_OK;
}

/* Outputs with ids of Python: the nodes in the same places are what they stand for. */
static tt_status pair_outputs(struct tt_report_import *import, const struct tt_json *ids,
			      const struct tt_report_node *end)
{
	struct tt_json_iter id_of = tt_json_iter(ids);
	size_t lifted = 0, next = 0;
	bool direct = false;
	int64_t id;

	while (tt_json_next(&id_of)) {
		struct tt_report_entry entry = {0};
		struct tt_map_entry *pair;
		size_t position = 0;

		while (entry.kind != TT_NODE_TENSOR && next < end->connection_count)
			TT_TRY(tt_report_graph_at(&entry, &position, &import->graph,
						  end->connections[next++]));
		if (entry.kind == TT_NODE_TENSOR)
			direct = true;
		else if (!direct && lifted < import->outputs.count)
			position = import->outputs.data[lifted++].position;
		else
			return TTNN_OK;
		if (!tt_py_int(&id, id_of.value))
			continue;
		pair = tt_map_add(&import->tensors.paired, &id, sizeof(id), NULL);
		if (!pair)
			return tt_fail_nomem();
		pair->number = position;
	}
	return TTNN_OK;
}

/* Adds a node that is an output to those of the operation's graph. */
static tt_status add_output_node(struct tt_report_import *import, size_t position)
{
	size_t *at;

	if (import->writing)
		return tt_report_graph_keep(&import->graph, position);
	at = TT_VEC_PUSH(&import->nodes);
	if (!at)
		return tt_fail_nomem();
	*at = position;
	return TTNN_OK;
}

static tt_status lifted_outputs(struct tt_report_import *import)
{
	tt_idset_clear(&import->own_inputs); /* those seen */
	for (size_t i = 0; i < import->outputs.count; i++) {
		int64_t id = import->outputs.data[i].id;

		if ((tt_idset_has(&import->inner_outputs, id) &&
		     tt_idset_has(&import->inner_inputs, id)) ||
		    tt_idset_has(&import->own_inputs, id))
			continue;
		TT_TRY(tt_idset_add(&import->own_inputs, id));
		TT_TRY(use(import, true, id));
		TT_TRY(add_output_node(import, import->outputs.data[i].position));
	}
	return TTNN_OK;
}

static tt_status outputs_of(struct tt_report_import *import, const struct tt_json *record,
			    const struct tt_report_node *end)
{
	const struct tt_json *ids = tt_json_get(record, "output_tensor_ids");
	struct tt_report_entry entry;
	size_t found = 0, at;

	if (tt_py_true(ids)) {
		TT_TRY(use_ids(import, true, ids, end->position));
		return pair_outputs(import, ids, end);
	}
	for (size_t i = 0; i < end->connection_count; i++) {
		TT_TRY(tt_report_graph_at(&entry, &at, &import->graph, end->connections[i]));
		if (entry.kind != TT_NODE_TENSOR || !entry.has_value)
			continue;
		TT_TRY(use(import, true, entry.value));
		TT_TRY(add_output_node(import, at));
		found++;
	}
	return found ? TTNN_OK : lifted_outputs(import);
}

/* ---- the graph ------------------------------------------------------------------------------ */

/* Nodes that were not kept on the way. */
static tt_status write_nodes(struct tt_report_import *import)
{
	tt_report_captured_clear(&import->captured);
	for (size_t i = 0; i < import->nodes.count; i++)
		TT_TRY(tt_report_graph_keep(&import->graph, import->nodes.data[i]));
	return TTNN_OK;
}

static tt_status graph_rows(struct tt_report_import *import, const struct tt_json *record,
			    bool lost)
{
	const struct tt_json *own = tt_json_get(record, "captured_graph");
	struct tt_report_target target = {&import->db, import->base + import->number, import->rank,
					  &import->counts.edges};

	if (tt_py_true(own))
		return tt_report_captured_write_own(&import->captured, own, &target);
	if (!import->writing)
		TT_TRY(write_nodes(import));
	return tt_report_captured_write(&import->captured, &target, lost);
}

static tt_status buffer_rows(struct tt_report_import *import, const struct tt_report_frame *frame,
			     int64_t end_counter)
{
	struct tt_report_list *given =
		frame ? tt_report_buffers_given(&import->buffers, frame->counter) : NULL;

	if (given) {
		given->operation = import->base + import->number;
		given->end = end_counter;
	}
	TT_TRY(tt_report_buffers_operation(&import->buffers, import->base + import->number, given));
	return tt_report_tensors_sizes(&import->tensors, given ? TT_SEEN_GIVEN : TT_SEEN_LIVE);
}

/* ---- operations ----------------------------------------------------------------------------- */

static tt_status fetch_record(const struct tt_json **out, struct tt_report_import *import,
			      const struct tt_report_frame *frame)
{
	*out = NULL;
	if (!frame || !frame->record)
		return TTNN_OK;
	return tt_report_records_fetch(out, &import->records, import->source, &import->record,
				       frame->record);
}

/* What Python caught, else that a function was left by an exception, else an error node. */
static tt_status error_rows(struct tt_report_import *import, const struct tt_json *record,
			    const struct tt_report_frame *frame, const struct tt_json *end)
{
	const struct tt_json *params = tt_json_get(end, "params");
	const struct tt_json *caught = tt_json_get(record, "error");
	const char *name = tt_json_string(tt_json_get(params, "name"), NULL);
	const char *aborted = tt_json_string(tt_json_get(params, "aborted"), NULL);
	bool own = aborted && strcmp(aborted, "true") == 0;
	struct tt_report_error error = {import->base + import->number, name ? name : "unknown",
					NULL, NULL, NULL};
	struct tt_str message = {0};
	tt_status status;

	if (!import->db.version->operation_errors)
		return TTNN_OK;
	if (tt_py_true(caught)) {
		error.type = tt_json_string(tt_json_get(caught, "type"), NULL);
		error.message = tt_json_string(tt_json_get(caught, "message"), NULL);
	} else if (own || import->aborted) {
		const char *reason = tt_json_string(tt_json_get(params, "abort_reason"), NULL);

		error.type = "aborted_operation";
		error.message = own ? reason : text_of(import, import->abort_reason);
		if (!error.message || !*error.message) {
			tt_str_addf(&message, "Operation '%s' was aborted by an exception",
				    own ? error.name : text_of(import, import->abort_name));
			error.message = tt_str_text(&message);
		}
	} else if (frame && frame->error_type) {
		error.type = text_of(import, frame->error_type);
		error.message = text_of(import, frame->error_message);
	} else {
		return TTNN_OK;
	}
	error.type = error.type ? error.type : "exception";
	error.message = error.message ? error.message : "";
	status = trace_text(import, record, frame);
	error.trace = tt_str_text(&import->scratch);
	if (status == TTNN_OK)
		status = tt_str_status(&message);
	if (status == TTNN_OK)
		status = tt_report_error(import, &error);
	tt_str_deinit(&message);
	return status;
}

/* Nothing went wrong, as most often: there is no need to look. */
static bool is_quiet(const struct tt_report_import *import, const struct tt_json *record,
		     const struct tt_report_frame *frame, const struct tt_report_node *end)
{
	return end->form && end->form->quiet && !record && !import->aborted &&
	       !(frame && frame->error_type);
}

/* The name that an end has, NULL when it has none: ends of a quiet form all have that of the first. */
static tt_status name_of(const char **out, struct tt_report_import *import,
			 const struct tt_report_node *end)
{
	bool quiet = end->form && end->form->quiet;
	const struct tt_json *params;

	if (quiet && end->form->memo) {
		*out = end->form->memo;
		return TTNN_OK;
	}
	params = tt_json_get(end->json, "params");
	*out = tt_json_string(tt_json_get(params, "name"), NULL);
	if (tt_json_kind(params) != TT_JSON_OBJECT)
		return tt_report_complain(import, end->position, "an end without a name");
	if (!quiet || !*out)
		return TTNN_OK;
	end->form->memo = tt_strdup(*out);
	return end->form->memo ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_report_operation_end(struct tt_report_import *import, struct tt_report_frame *frame,
				  const struct tt_report_node *end)
{
	const struct tt_json *record;
	double nanoseconds = 0;
	const char *name;

	TT_TRY(name_of(&name, import, end));
	if (end->form && end->form->timed)
		nanoseconds = (double)end->values[0];
	else
		tt_json_real(&nanoseconds, tt_json_get(end->json, "duration_ns"));
	TT_TRY(fetch_record(&record, import, frame));
	TT_TRY(operation_row(import, name ? name : "unknown", nanoseconds / 1e9));
	TT_TRY(placement_rows(import));
	if (!is_quiet(import, record, frame, end))
		TT_TRY(error_rows(import, record, frame, end->json));
	TT_TRY(argument_rows(import, record, frame));
	TT_TRY(trace_rows(import, record, frame));
	TT_TRY(inputs_of(import, record, frame, end->position));
	TT_TRY(outputs_of(import, record, end));
	TT_TRY(graph_rows(import, record, false));
	return buffer_rows(import, frame, end->form ? end->counter : tt_report_counter(end->json));
}

static tt_status lost_error(struct tt_report_import *import, const struct tt_json *record,
			    const struct tt_report_frame *frame)
{
	const struct tt_json *caught = tt_json_get(record, "error");
	struct tt_report_error error = {
		.operation = import->base + import->number,
		.name = text_of(import, frame->name),
		.trace = tt_str_text(&import->scratch),
	};
	struct tt_str message = {0};
	tt_status status;

	if (tt_py_true(caught)) {
		error.type = tt_json_string(tt_json_get(caught, "type"), NULL);
		error.message = tt_json_string(tt_json_get(caught, "message"), NULL);
	} else if (frame->error_type) {
		error.type = text_of(import, frame->error_type);
		error.message = text_of(import, frame->error_message);
	}
	if (!error.type)
		error.type = "incomplete_operation";
	if (!error.message) {
		tt_str_addf(&message, "Operation '%s' started but never completed (likely crashed)",
			    error.name);
		error.message = tt_str_text(&message);
	}
	status = tt_str_status(&message);
	if (status == TTNN_OK)
		status = tt_report_error(import, &error);
	tt_str_deinit(&message);
	return status;
}

/* Before schema 3.4 a lost operation was an error of the file, once per name, and nothing else. */
static tt_status lost_before(struct tt_report_import *import, const struct tt_report_frame *frame)
{
	const char *name = text_of(import, frame->name);
	struct tt_str message = {0};
	tt_status status;

	if (tt_map_finds(&import->failed, name))
		return TTNN_OK;
	tt_str_addf(&message, "Operation '%s' started but never completed (likely crashed)", name);
	status = tt_str_status(&message);
	if (status == TTNN_OK)
		status = tt_report_error(import, &(struct tt_report_error){
							 import->base, name, "incomplete_operation",
							 tt_str_text(&message), NULL});
	tt_str_deinit(&message);
	return status;
}

tt_status tt_report_operation_lost(struct tt_report_import *import, struct tt_report_frame *frame)
{
	struct tt_report_list *given = tt_report_buffers_given(&import->buffers, frame->counter);
	size_t references = import->references.count;
	const struct tt_json *record;
	tt_status status;

	if (!import->db.version->operation_errors)
		return lost_before(import, frame);
	if (given) {
		given->operation = import->base + import->number;
		given->end = frame->counter;
	}
	/* Only its own references, not those of the functions that were open inside. */
	if (frame + 1 < import->stack.data + import->stack.count)
		import->references.count = frame[1].inputs;
	TT_TRY(fetch_record(&record, import, frame));
	TT_TRY(operation_row(import, text_of(import, frame->name), 0));
	TT_TRY(argument_rows(import, record, frame));
	TT_TRY(inputs_of(import, record, frame, frame->position));
	TT_TRY(tt_report_tensors_sizes(&import->tensors, TT_SEEN_NONE));
	TT_TRY(graph_rows(import, record, true));
	import->references.count = references;
	TT_TRY(trace_text(import, record, frame));
	if (import->scratch.length)
		TT_TRY(trace_row(import, &import->scratch));
	status = lost_error(import, record, frame);
	import->number++;
	return status;
}

tt_status tt_report_operation_free(struct tt_report_import *import, const struct tt_json *node,
				   bool owned, int64_t owner)
{
	static const char name[] = "ttnn::deallocate";
	struct tt_report_target target = {&import->db, import->base + import->number, import->rank,
					  &import->counts.edges};
	struct tt_db_stmt *insert;

	TT_TRY(operation_row(import, name, 0));
	TT_TRY(tt_report_insert(&insert, &import->db, TT_REPORT_NODES));
	tt_db_bind_int(insert, 0, target.operation);
	tt_db_bind_int(insert, 1, tt_report_counter(node));
	tt_db_bind_int(insert, 2, import->number);
	tt_db_bind_text(insert, 3, name, strlen(name));
	tt_db_bind_int(insert, 4, import->rank);
	TT_TRY(tt_db_run(insert));
	if (owned)
		TT_TRY(use(import, false, owner));
	TT_TRY(tt_report_captured_write_free(&import->captured, node, &target));
	return buffer_rows(import, NULL, 0);
}
