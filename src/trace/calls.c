#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/mem.h"

#define POLL 65536 /* events after which somebody may give up */

/* ---- telling ---------------------------------------------------------------------------------------- */

static tt_status tell_source(struct tt_source *source, const struct tt_project_options *options)
{
	struct tt_project project;
	const struct tt_seen *seen;
	tt_status status = TTNN_OK;

	tt_project_init(&project, options);
	tt_source_want(source, &(struct tt_source_wants){.kinds = TT_WANT(SCOPE_BEGIN) |
								  TT_WANT(SCOPE_END)});
	for (size_t i = 1; status == TTNN_OK; i++) {
		status = tt_source_next(&seen, source);
		if (status != TTNN_OK || !seen)
			break;
		tt_project_event(&project, &seen->event, seen->time_ns, seen->thread);
		if (i % POLL)
			continue;
		tt_deadline_poll();
		status = tt_deadline_check();
	}
	if (status == TTNN_OK)
		status = tt_project_status(&project);
	tt_project_deinit(&project);
	tt_source_want(source, NULL);
	return status;
}

/* The starts and ends of a graph's nodes; ends without a start are passed over. */
static tt_status tell_graph(const struct tt_graph *graph, const struct tt_project_sink *sink,
			    void *context)
{
	TT_VEC(struct tt_project_call) open = {0};

	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];
		struct tt_project_call *call;

		if (node->type == TT_GRAPH_FUNCTION_END && !open.count)
			continue;
		if (node->type == TT_GRAPH_FUNCTION_END) {
			call = &open.data[open.count - 1];
			call->name = tt_graph_string(node, TT_KEY_NAME);
			call->operation = tt_graph_is_operation(node);
			sink->end(context, open.data, open.count, node->duration);
			if (--open.count)
				open.data[open.count - 1].inner_ns += node->duration;
		}
		if (node->type != TT_GRAPH_FUNCTION_START)
			continue;
		call = TT_VEC_PUSH(&open);
		if (!call) {
			TT_VEC_DEINIT(&open);
			return tt_fail_nomem();
		}
		*call = (struct tt_project_call){.node = (uint32_t)i,
						 .level = node->level,
						 .name = tt_graph_string(node, TT_KEY_NAME),
						 .operation = tt_graph_is_operation(node)};
		if (sink->begin)
			sink->begin(context, open.data, open.count);
	}
	TT_VEC_DEINIT(&open);
	return TTNN_OK;
}

tt_status tt_calls_each(struct tt_input *input, enum ttnn_dialect dialect,
			const struct tt_project_sink *sink, void *context)
{
	struct tt_project_options options = {.dialect = dialect,
					     .how = TT_PROJECT_CALLS,
					     .sink = sink,
					     .context = context};

	if (input->source)
		return tell_source(input->source, &options);
	return tell_graph(&input->graph, sink, context);
}

/* ---- how long each operation took ------------------------------------------------------------------- */

static void sum_end(void *context, const struct tt_project_call *calls, size_t count,
		    uint64_t duration)
{
	const struct tt_project_call *call = &calls[count - 1];
	struct tt_calls_table *table = context;
	struct tt_calls_row *row;
	struct tt_map_entry *entry;
	bool added;

	if (!call->operation)
		return;
	entry = tt_map_add(&table->names, call->name, strlen(call->name), &added);
	row = entry && added ? TT_VEC_PUSH(&table->rows) : NULL;
	if (!entry || (added && !row)) {
		table->status = TTNN_NOMEM;
		return;
	}
	if (added) {
		*row = (struct tt_calls_row){.name = entry->key};
		entry->number = table->rows.count - 1;
	}
	row = &table->rows.data[entry->number];
	row->calls++;
	row->total_ns += duration;
	if (duration > row->longest_ns)
		row->longest_ns = duration;
}

static int by_time(const void *a, const void *b)
{
	const struct tt_calls_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

tt_status tt_calls_sum(struct tt_calls_table *out, struct tt_input *input,
		       enum ttnn_dialect dialect)
{
	static const struct tt_project_sink sink = {.end = sum_end};
	tt_status status;

	memset(out, 0, sizeof(*out));
	status = tt_calls_each(input, dialect, &sink, out);
	if (status == TTNN_OK && out->status != TTNN_OK)
		status = tt_fail_nomem();
	if (out->rows.count)
		qsort(out->rows.data, out->rows.count, sizeof(*out->rows.data), by_time);
	if (status != TTNN_OK)
		tt_calls_table_deinit(out);
	return status;
}

void tt_calls_table_deinit(struct tt_calls_table *table)
{
	TT_VEC_DEINIT(&table->rows);
	tt_map_deinit(&table->names);
}

/* ---- folded stacks ---------------------------------------------------------------------------------- */

/* Names of calls in each other, and what they took by themselves. */
struct fold {
	struct tt_map stacks; /* "a;b;c" → nanoseconds */
	struct tt_str text;
	const char *root;
	tt_status status;
};

static void add_stack(struct fold *fold, const struct tt_project_call *calls, size_t count,
		      uint64_t own)
{
	struct tt_map_entry *entry;

	tt_str_clear(&fold->text);
	if (fold->root)
		tt_str_addf(&fold->text, "%s;", fold->root);
	for (size_t i = 0; i < count; i++) {
		tt_str_adds(&fold->text, i ? ";" : "");
		tt_str_adds(&fold->text, calls[i].name);
	}
	entry = fold->text.failed ? NULL
				  : tt_map_add(&fold->stacks, tt_str_text(&fold->text),
					       fold->text.length, NULL);
	if (entry)
		entry->number += own;
	else
		fold->status = TTNN_NOMEM;
}

static void fold_end(void *context, const struct tt_project_call *calls, size_t count,
		     uint64_t duration)
{
	const struct tt_project_call *call = &calls[count - 1];
	uint64_t own = duration > call->inner_ns ? duration - call->inner_ns : 0;

	add_stack(context, calls, count, own);
}

tt_status tt_calls_fold(struct tt_str *out, struct tt_input *input, enum ttnn_dialect dialect,
			const char *root)
{
	static const struct tt_project_sink sink = {.end = fold_end};
	struct fold fold = {.root = root};
	tt_status status = tt_calls_each(input, dialect, &sink, &fold);

	if (status == TTNN_OK && fold.status != TTNN_OK)
		status = tt_fail_nomem();
	for (size_t i = 0; status == TTNN_OK && i < fold.stacks.count; i++) {
		tt_str_add(out, fold.stacks.entries[i].key, fold.stacks.entries[i].length);
		tt_str_addf(out, " %llu\n", (unsigned long long)fold.stacks.entries[i].number);
	}
	tt_map_deinit(&fold.stacks);
	tt_str_deinit(&fold.text);
	return status == TTNN_OK ? tt_str_status(out) : status;
}
