/*
 * The nodes of a trace, as trace/stream.h gives them, without JSON between.
 *
 * They come as forms and numbers (ahead_trace.h). Nodes ahead are kept until their turn, and of tensors, which
 * later functions may give again, what it takes to add them to another operation.
 */
#include <string.h>

#include "base/mem.h"
#include "report/ahead_trace.h"

/* A tensor's node that was walked. */
struct saved {
	struct tt_report_form *form;
	int64_t counter;
	uint64_t first; /* in `links`: connections, then values */
	uint64_t connections, values;
};

struct tt_report_graph_trace {
	struct tt_report_ahead_trace *ahead;
	uint64_t count; /* of all nodes */
	/* The window: batches taken, the node walked in the first of them, and how many nodes are seen. */
	TT_VEC(struct tt_report_told_batch *) batches;
	size_t offset, held;
	struct tt_spool links;       /* int64_t */
	struct tt_spool saved;       /* struct saved */
	struct tt_report_form *kept; /* of the start of the present operation */
	size_t kept_position;
};

/* ---- the window ----------------------------------------------------------------------------- */

static struct tt_report_told *window_at(const struct tt_report_graph_trace *trace, size_t at)
{
	at += trace->offset;
	return &trace->batches.data[at / TT_REPORT_NODES_MAX]->nodes[at % TT_REPORT_NODES_MAX];
}

/* Sees the next node; none at the end. */
static tt_status pull(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;
	size_t at = trace->offset + trace->held, batch = at / TT_REPORT_NODES_MAX;
	struct tt_report_told_batch *taken, **to;

	if (batch == trace->batches.count) {
		TT_TRY(tt_report_ahead_trace_take(&taken, trace->ahead));
		if (!taken)
			return TTNN_OK;
		to = TT_VEC_PUSH(&trace->batches);
		if (!to) {
			tt_report_ahead_trace_release(trace->ahead, taken);
			return tt_fail_nomem();
		}
		*to = taken;
	}
	if (at % TT_REPORT_NODES_MAX >= trace->batches.data[batch]->count)
		return TTNN_OK;
	trace->held++;
	return tt_report_graph_add_entry(graph, &window_at(trace, trace->held - 1)->entry);
}

/* The node walked leaves the window. */
static void leave(struct tt_report_graph_trace *trace)
{
	trace->held--;
	if (++trace->offset < TT_REPORT_NODES_MAX)
		return;
	trace->offset = 0;
	tt_report_ahead_trace_release(trace->ahead, trace->batches.data[0]);
	trace->batches.count--;
	memmove(trace->batches.data, trace->batches.data + 1,
		trace->batches.count * sizeof(*trace->batches.data));
}

/* Adds the connections of a node to a list. */
static tt_status add_links(struct tt_spool *to, const struct tt_report_told *from)
{
	size_t count;

	if (!from->many)
		return tt_spool_extend(to, from->connections, from->connection_count);
	for (uint64_t i = 0; i < from->many->count; i += count) {
		const void *links = tt_spool_run(from->many, i, &count);

		if (!links)
			return tt_spool_status(from->many);
		TT_TRY(tt_spool_extend(to, links, count));
	}
	return TTNN_OK;
}

static uint64_t link_count(const struct tt_report_told *from)
{
	return from->many ? from->many->count : from->connection_count;
}

/* A tensor's node leaves the window. */
static tt_status save(struct tt_report_graph *graph, const struct tt_report_told *from)
{
	struct tt_report_graph_trace *trace = graph->trace;
	uint64_t first = trace->links.count, links = link_count(from);
	struct saved *saved;

	TT_TRY(add_links(&trace->links, from));
	TT_TRY(tt_spool_extend(&trace->links, from->values, from->value_count));
	saved = trace->saved.count < UINT32_MAX - 1 ? tt_spool_append(&trace->saved) : NULL;
	if (!saved)
		return trace->saved.status != TTNN_OK ? trace->saved.status : tt_fail_nomem();
	*saved = (struct saved){from->form, from->counter, first, links, from->value_count};
	return tt_report_graph_set_saved(graph, graph->next - 1, (uint32_t)trace->saved.count);
}

/* ---- the walked node ------------------------------------------------------------------------ */

tt_status tt_report_trace_next(struct tt_report_node *out, struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;
	const struct tt_report_told *front;

	if (graph->next) {
		front = window_at(trace, 0);
		if (front->form->entry.kind == TT_NODE_TENSOR)
			TT_TRY(save(graph, front));
		leave(trace);
	}
	if (!trace->held)
		TT_TRY(pull(graph));
	if (!trace->held)
		return TTNN_OK;
	front = window_at(trace, 0);
	*out = (struct tt_report_node){
		.json = front->form->json,
		.form = front->form,
		.values = front->values,
		.counter = front->counter,
		.position = graph->next++,
		.kind = (enum tt_report_node_kind)front->form->entry.kind,
		.connections = front->connections,
		.connection_count = front->connection_count,
		.inputs = front->inputs,
		.input_count = front->input_count,
	};
	return TTNN_OK;
}

tt_status tt_report_trace_settle(struct tt_report_graph *graph)
{
	const struct tt_report_told *front = window_at(graph->trace, 0);

	return tt_report_form_put(front->form, front->counter, front->values);
}

/*
 * Outputs that are new come right behind the end of their function, with buffers that nobody told of before: what
 * is behind another node is none.
 */
tt_status tt_report_trace_see(struct tt_report_graph *graph, uint64_t position)
{
	struct tt_report_graph_trace *trace = graph->trace;

	while (position >= graph->entries.count) {
		const struct tt_report_told *last =
			trace->held ? window_at(trace, trace->held - 1) : NULL;
		uint64_t before = graph->entries.count;

		if (trace->held > 1 && last->form->entry.kind != TT_NODE_TENSOR &&
		    last->form->entry.kind != TT_NODE_BUFFER)
			return TTNN_OK;
		TT_TRY(pull(graph));
		if (graph->entries.count == before)
			return TTNN_OK;
	}
	return TTNN_OK;
}

tt_status tt_report_trace_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position)
{
	*node = graph->trace->kept && graph->trace->kept_position == position
			? graph->trace->kept->json
			: NULL;
	return TTNN_OK;
}

void tt_report_trace_hold(struct tt_report_graph *graph)
{
	graph->trace->kept = window_at(graph->trace, 0)->form;
	graph->trace->kept_position = graph->next - 1;
}

int64_t *tt_report_trace_note(struct tt_report_graph *graph, size_t position)
{
	struct tt_report_form *kept = graph->trace->kept;

	return kept && graph->trace->kept_position == position ? &kept->note : NULL;
}

/* ---- captured nodes ------------------------------------------------------------------------- */

/* Where the numbers of a node are. */
struct numbers {
	const struct tt_report_told *told; /* NULL: in `links` */
	const int64_t *values;
	uint64_t connections, first, first_value; /* how many; in `links` */
};

static tt_status keep_connections(struct tt_report_graph *graph, const struct numbers *n)
{
	struct tt_report_captured *captured = graph->options.captured;
	struct tt_spool *links = n->told ? n->told->many : &graph->trace->links;
	size_t count;

	TT_TRY(tt_report_captured_number(captured, (int64_t)n->connections));
	if (n->told && !n->told->many)
		return tt_report_captured_numbers(captured, n->told->connections, n->connections);
	for (uint64_t i = 0; i < n->connections; i += count) {
		const int64_t *some = tt_spool_run(links, n->first + i, &count);

		if (!some)
			return tt_spool_status(links);
		count = count < n->connections - i ? count : (size_t)(n->connections - i);
		TT_TRY(tt_report_captured_numbers(captured, some, count));
	}
	return TTNN_OK;
}

static tt_status keep_inputs(struct tt_report_graph *graph, const struct numbers *n)
{
	struct tt_report_captured *captured = graph->options.captured;
	size_t count = n->told ? n->told->input_count : 0;

	TT_TRY(tt_report_captured_number(captured, (int64_t)count));
	return count ? tt_report_captured_numbers(captured, n->told->inputs, count) : TTNN_OK;
}

static tt_status keep_value(struct tt_report_graph *graph, const struct numbers *n, uint64_t at,
			    bool device)
{
	struct tt_report_captured *captured = graph->options.captured;
	const int64_t *value =
		n->values ? &n->values[at] : tt_spool_at(&graph->trace->links, n->first_value + at);

	if (!value)
		return tt_spool_status(&graph->trace->links);
	return tt_report_captured_number(
		captured, device ? tt_report_devices_map(captured->devices, *value) : *value);
}

/* The numbers of a node in the window, where there is room for all of them at once. */
static bool keep_at_once(struct tt_report_captured *captured, const struct tt_report_form *form,
			 const struct tt_report_told *told)
{
	size_t most = form->shape.hole_count + told->connection_count + told->input_count;
	const int64_t *value = told->values;
	int64_t *to = captured->few + captured->few_count;

	if (told->many || form->exact || captured->few_count + most > TT_REPORT_FEW)
		return false;
	for (size_t i = 0; i < form->shape.hole_count; i++) {
		uint16_t kind = form->shape.holes[i].kind;

		if (kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_INPUTS) {
			bool inputs = kind == TT_HOLE_INPUTS;
			size_t count = inputs ? told->input_count : told->connection_count;

			*to++ = (int64_t)count;
			if (count)
				memcpy(to, inputs ? told->inputs : told->connections,
				       count * sizeof(*to));
			to += count;
		} else if (kind == TT_HOLE_VALUE) {
			*to++ = *value++;
		} else if (kind == TT_HOLE_DEVICE) {
			*to++ = tt_report_devices_map(captured->devices, *value++);
		}
	}
	captured->few_count = (size_t)(to - captured->few);
	return true;
}

static tt_status keep(struct tt_report_graph *graph, const struct tt_report_form *form,
		      int64_t counter, struct numbers *n)
{
	struct tt_report_captured_node node = {&form->shape, counter,
					       form->entry.kind == TT_NODE_CAPTURE_START ||
						       form->entry.kind == TT_NODE_CAPTURE_END};
	uint64_t value = 0;

	if (form->exact)
		n->values = form->values;
	TT_TRY(tt_report_captured_begin(graph->options.captured, &node));
	if (n->told && keep_at_once(graph->options.captured, form, n->told))
		return TTNN_OK;
	for (size_t i = 0; i < form->shape.hole_count; i++) {
		uint16_t kind = form->shape.holes[i].kind;

		if (kind == TT_HOLE_CONNECTIONS)
			TT_TRY(keep_connections(graph, n));
		else if (kind == TT_HOLE_INPUTS)
			TT_TRY(keep_inputs(graph, n));
		else if (kind == TT_HOLE_VALUE || kind == TT_HOLE_DEVICE)
			TT_TRY(keep_value(graph, n, value++, kind == TT_HOLE_DEVICE));
	}
	return TTNN_OK;
}

tt_status tt_report_trace_keep(struct tt_report_graph *graph, size_t position)
{
	struct tt_report_graph_trace *trace = graph->trace;
	size_t walked = graph->next - 1;
	struct numbers n = {0};
	struct tt_report_entry entry;
	const struct saved *kept;
	struct saved saved;

	if (position >= walked && position - walked < trace->held) {
		const struct tt_report_told *at = window_at(trace, position - walked);

		n = (struct numbers){at, at->values, link_count(at), 0, 0};
		return keep(graph, at->form, at->counter, &n);
	}
	TT_TRY(tt_report_graph_at(&entry, NULL, graph, (int64_t)position));
	if (!entry.saved)
		return TTNN_OK;
	kept = tt_spool_at(&trace->saved, entry.saved - 1);
	if (!kept)
		return tt_spool_status(&trace->saved);
	saved = *kept;
	n = (struct numbers){.connections = saved.connections,
			     .first = saved.first,
			     .first_value = saved.first + saved.connections};
	return keep(graph, saved.form, saved.counter, &n);
}

/* ---- beginning, end ------------------------------------------------------------------------- */

void tt_report_trace_tidy(struct tt_report_graph *graph)
{
	graph->trace->kept = NULL;
	tt_report_ahead_trace_tidy(graph->trace->ahead);
}

uint64_t tt_report_trace_count(const struct tt_report_graph *graph)
{
	return graph->trace->count;
}

tt_status tt_report_trace_init(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = tt_calloc(1, sizeof(*trace));

	if (!trace)
		return tt_fail_nomem();
	graph->trace = trace;
	trace->count = tt_stream_facts(graph->source->stream)->nodes;
	tt_spool_init(&trace->links, sizeof(int64_t), graph->options.directory);
	tt_spool_init(&trace->saved, sizeof(struct saved), graph->options.directory);
	return tt_report_ahead_trace_new(&trace->ahead, graph->source->stream,
					 graph->options.devices, graph->options.directory);
}

void tt_report_trace_deinit(struct tt_report_graph *graph)
{
	struct tt_report_graph_trace *trace = graph->trace;

	if (!trace)
		return;
	for (size_t i = 0; i < trace->batches.count; i++)
		tt_report_ahead_trace_release(trace->ahead, trace->batches.data[i]);
	tt_report_ahead_trace_free(trace->ahead);
	TT_VEC_DEINIT(&trace->batches);
	tt_spool_deinit(&trace->links);
	tt_spool_deinit(&trace->saved);
	tt_free(trace);
	graph->trace = NULL;
}
