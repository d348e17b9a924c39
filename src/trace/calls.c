#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/mem.h"
#include "base/progress.h"

#define POLL 65536 /* events after which somebody may give up */
/* Frames of a stack that are told apart; what lies deeper counts as the last. A damaged file may say anything. */
#define FRAMES_MOST 256

/* ---- telling ---------------------------------------------------------------------------------------- */

/* Of nodes: the calls that are open, and names of functions. */
struct told {
	TT_VEC(struct tt_project_call) open;
	struct tt_map names;
};

static tt_status tell_source(struct tt_source *source, const struct tt_project_options *options)
{
	struct tt_progress progress;
	struct tt_project project;
	const struct tt_seen *seen;
	tt_status status = TTNN_OK;

	tt_project_init(&project, options);
	tt_progress_init(&progress, options->label, tt_source_info(source)->events);
	tt_source_want(source, &(struct tt_source_wants){.kinds = TT_WANT(SCOPE_BEGIN) |
								  TT_WANT(SCOPE_END)});
	for (size_t i = 1; status == TTNN_OK; i++) {
		status = tt_source_next(&seen, source);
		if (status != TTNN_OK || !seen)
			break;
		tt_project_event(&project, &seen->event, seen->time_ns, seen->thread);
		if (i % POLL)
			continue;
		tt_progress_add(&progress, POLL);
		tt_deadline_poll();
		status = tt_deadline_check();
	}
	if (status == TTNN_OK)
		status = tt_project_status(&project);
	tt_progress_deinit(&progress);
	tt_project_deinit(&project);
	tt_source_want(source, NULL);
	return status;
}

/* A call that a node begins; its name is kept. NULL when memory is exhausted. */
static struct tt_project_call *begin_call(struct told *told, const struct tt_graph_node *node)
{
	struct tt_map_entry *name = tt_map_add(&told->names, tt_graph_string(node, TT_KEY_NAME),
					       strlen(tt_graph_string(node, TT_KEY_NAME)), NULL);
	struct tt_project_call *call = name ? TT_VEC_PUSH(&told->open) : NULL;

	if (call)
		*call = (struct tt_project_call){.level = node->level,
						 .name = name->key,
						 .operation = tt_graph_is_operation(node)};
	return call;
}

/* Calls of several threads lie between each other: an end says itself whose it is. */
static tt_status end_call(struct told *told, const struct tt_graph_node *node,
			  const struct tt_project_sink *sink, void *context)
{
	struct tt_project_call *call = &told->open.data[told->open.count - 1];
	const char *name = tt_graph_string(node, TT_KEY_NAME);

	if (strcmp(call->name, name) != 0) {
		const struct tt_map_entry *kept =
			tt_map_add(&told->names, name, strlen(name), NULL);

		if (!kept)
			return tt_fail_nomem();
		call->name = kept->key;
	}
	call->operation = tt_graph_is_operation(node);
	sink->end(context, told->open.data, told->open.count, node->duration);
	if (--told->open.count)
		told->open.data[told->open.count - 1].inner_ns += node->duration;
	return TTNN_OK;
}

/* The starts and ends of nodes. An end without a start is one of a call that began before. */
static tt_status tell_node(struct told *told, const struct tt_graph_node *node,
			   const struct tt_project_sink *sink, void *context)
{
	bool starts = node->type == TT_GRAPH_FUNCTION_START;

	if (!starts && node->type != TT_GRAPH_FUNCTION_END)
		return TTNN_OK;
	if ((starts || !told->open.count) && !begin_call(told, node))
		return tt_fail_nomem();
	if (starts && sink->begin)
		sink->begin(context, told->open.data, told->open.count);
	return starts ? TTNN_OK : end_call(told, node, sink, context);
}

static tt_status tell_stream(struct tt_stream *stream, const struct tt_project_sink *sink,
			     void *context)
{
	const struct tt_graph_node *node;
	struct told told = {0};
	tt_status status;

	do {
		status = tt_stream_next(&node, stream);
		if (status == TTNN_OK && node)
			status = tell_node(&told, node, sink, context);
	} while (status == TTNN_OK && node);
	TT_VEC_DEINIT(&told.open);
	tt_map_deinit(&told.names);
	return status;
}

tt_status tt_calls_each(struct tt_input *input, enum ttnn_dialect dialect,
			const struct tt_project_sink *sink, void *context)
{
	struct tt_project_options options = {.dialect = dialect,
					     .how = TT_PROJECT_CALLS,
					     .label = "reading",
					     .sink = sink,
					     .context = context};

	struct tt_stream *stream;
	tt_status status;

	if (input->source)
		return tell_source(input->source, &options);
	TT_TRY(tt_input_stream(&stream, input, &options));
	status = tell_stream(stream, sink, context);
	tt_stream_close(stream);
	return status;
}

/* ---- how long each operation took ------------------------------------------------------------------- */

/* The row of a name; NULL when memory is exhausted. */
static struct tt_calls_row *row_of(struct tt_calls_table *table, const char *name)
{
	struct tt_map_entry *entry;
	struct tt_calls_row *row;
	bool added;

	/* One after the other is often the same, and of a trace by its address, too. */
	if (table->last_name == name)
		return &table->rows.data[table->last];
	entry = tt_map_add(&table->names, name, strlen(name), &added);
	row = entry && added ? TT_VEC_PUSH(&table->rows) : NULL;
	if (!entry || (added && !row)) {
		table->status = TTNN_NOMEM;
		return NULL;
	}
	if (added) {
		*row = (struct tt_calls_row){.name = entry->key};
		entry->number = table->rows.count - 1;
	}
	table->last_name = name;
	table->last = entry->number;
	return &table->rows.data[entry->number];
}

static void sum_end(void *context, const struct tt_project_call *calls, size_t count,
		    uint64_t duration)
{
	const struct tt_project_call *call = &calls[count - 1];
	struct tt_calls_table *table = context;
	struct tt_calls_row *row;

	row = call->operation ? row_of(table, call->name) : NULL;
	if (!row)
		return;
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
	for (size_t i = 0; i < count && i < FRAMES_MOST; i++) {
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
