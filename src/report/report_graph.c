#include "report/report_graph.h"

#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"

static const char *const names[] = {
#define X(name, text) [TT_NODE_##name] = (text),
	TT_REPORT_NODES_LIST(X)
#undef X
};

static tt_status find_place(struct tt_report_place *out, const struct tt_report_graph *graph,
			    size_t position)
{
	struct tt_report_element element;

	*out = (struct tt_report_place){0};
	TT_TRY(graph->source->element(&element, graph->source, position));
	*out = (struct tt_report_place){element.start, element.length, graph->elements.depth, 0};
	return TTNN_OK;
}

tt_status tt_report_graph_fail(struct tt_report_graph *graph, size_t position, const char *what)
{
	struct tt_report_place place;

	if (graph->trace)
		return tt_fail(TTNN_FORMAT, "%s: node %zu: %s", graph->options.path, position,
			       what);
	TT_TRY(find_place(&place, graph, position));
	return graph->source->fail(graph->source, &place, what);
}

size_t tt_report_graph_emit(const struct tt_report_graph *graph, size_t whole)
{
	uint64_t count = graph->trace ? tt_report_trace_count(graph) : 0;
	struct tt_report_place place;

	if (count)
		return (size_t)((double)whole * (double)graph->next / (double)count);
	if (graph->next >= graph->elements.count ||
	    find_place(&place, graph, graph->next) != TTNN_OK)
		return 0;
	return place.start;
}

/* ---- one node ------------------------------------------------------------------------------- */

enum tt_report_node_kind tt_report_node_kind(const char *name)
{
	for (size_t i = 1; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return (enum tt_report_node_kind)i;
	return TT_NODE_OTHER;
}

/* An id counts when it is true in Python: so 0 does not, and "0" does. */
static void note_value(struct tt_report_entry *entry, const struct tt_json *node)
{
	const struct tt_json *params = tt_json_get(node, "params"), *value;

	if (entry->kind == TT_NODE_TENSOR) {
		value = tt_json_get(params, "tensor_id");
		if (!tt_py_true(value))
			return;
	} else if (entry->kind == TT_NODE_ALLOCATE) {
		value = tt_json_get(params, "address");
		if (!value) {
			entry->has_value = true;
			return;
		}
	} else {
		return;
	}
	entry->has_value = tt_py_int(&entry->value, value);
	entry->bad_value = !entry->has_value;
}

/* Python takes the last of two members with one key, this reader the first: so neither is taken. */
static bool has_key_twice(const struct tt_json *object)
{
	struct tt_json_iter it = tt_json_iter(object), other;
	uint64_t seen = 0;

	while (tt_json_next(&it)) {
		const char *key = it.key;
		size_t length = it.key_length;
		uint64_t bit = length ? (uint64_t)1 << ((length * 7 + (unsigned char)key[0] +
							 (unsigned char)key[length - 1] * 3 +
							 (unsigned char)key[length / 2] * 5) &
							63)
				      : 1;

		if (!(seen & bit)) {
			seen |= bit;
			continue;
		}
		other = tt_json_iter(object);
		while (tt_json_next(&other) && other.key != key)
			if (other.key_length == length && memcmp(other.key, key, length) == 0)
				return true;
	}
	return false;
}

struct tt_report_entry tt_report_node_entry(const struct tt_json *node)
{
	const char *name = tt_json_string(tt_json_get(node, "node_type"), NULL);
	struct tt_report_entry entry = {.kind = (uint8_t)tt_report_node_kind(name), .there = true};

	note_value(&entry, node);
	return entry;
}

/* What is wrong with a node, or NULL. */
static const char *fault_of(const struct tt_json *node)
{
	if (tt_json_kind(node) != TT_JSON_OBJECT)
		return "a node of the graph must be an object";
	if (has_key_twice(node) || has_key_twice(tt_json_get(node, "params")))
		return "a node with a key that is there twice";
	return NULL;
}

/* ---- batches -------------------------------------------------------------------------------- */

/* On a thread. A batch with a node that is none is read one by one, for an error in its turn. */
static tt_status prepare(void *context, struct tt_report_batch *batch)
{
	struct tt_report_graph *graph = context;
	struct tt_report_nodes *nodes = &graph->nodes[batch->slot];
	struct tt_json_iter it = tt_json_iter(batch->root);

	tt_report_drafts_clear(&nodes->texts);
	for (size_t i = 0; tt_json_next(&it); i++) {
		if (fault_of(it.value)) {
			batch->parsed = false;
			return TTNN_OK;
		}
		nodes->parsed[i] = it.value;
		nodes->entries[i] = tt_report_node_entry(it.value);
		if (graph->options.drafting)
			TT_TRY(tt_report_draft_make(&nodes->drafts[i], &nodes->texts,
						    graph->options.devices, it.value));
	}
	return TTNN_OK;
}

tt_status tt_report_graph_init(struct tt_report_graph *graph, struct tt_report_source *source,
			       const struct tt_report_graph_options *options)
{
	struct tt_report_ahead_task task = {prepare, graph};

	*graph = (struct tt_report_graph){.source = source, .options = *options};
	tt_spool_init(&graph->entries, sizeof(struct tt_report_brief), options->directory);
	tt_spool_init(&graph->details, sizeof(struct tt_report_entry), options->directory);
	if (source->stream)
		return tt_report_trace_init(graph);
	graph->elements = source->elements(source, TT_GRAPH_PART_GRAPH);
	graph->nodes = tt_calloc(TT_REPORT_BATCHES, sizeof(*graph->nodes));
	if (!graph->nodes)
		return tt_fail_nomem();
	return tt_report_ahead_new(&graph->ahead, source, TT_GRAPH_PART_GRAPH, &task);
}

void tt_report_graph_deinit(struct tt_report_graph *graph)
{
	tt_report_ahead_free(graph->ahead);
	for (int i = 0; graph->nodes && i < TT_REPORT_BATCHES; i++)
		tt_report_drafts_deinit(&graph->nodes[i].texts);
	tt_free(graph->nodes);
	tt_report_drafts_deinit(&graph->own);
	tt_json_parser_deinit(&graph->current);
	tt_json_parser_deinit(&graph->scanned);
	tt_json_parser_deinit(&graph->again);
	tt_report_trace_deinit(graph);
	tt_spool_deinit(&graph->entries);
	tt_spool_deinit(&graph->details);
	TT_VEC_DEINIT(&graph->connections);
	TT_VEC_DEINIT(&graph->inputs);
	*graph = (struct tt_report_graph){0};
}

static struct tt_report_batch *held(const struct tt_report_graph *graph, size_t number)
{
	return graph->batches[number % TT_REPORT_BATCHES];
}

tt_status tt_report_graph_add_entry(struct tt_report_graph *graph,
				    const struct tt_report_entry *entry)
{
	struct tt_report_brief *brief = tt_spool_append(&graph->entries);
	struct tt_report_entry *detail;
	uint32_t number;

	if (!brief)
		return tt_spool_status(&graph->entries);
	*brief = (struct tt_report_brief){.kind = entry->kind};
	if (!entry->has_value && !entry->bad_value && entry->kind != TT_NODE_TENSOR)
		return TTNN_OK;
	detail = graph->details.count < UINT32_MAX ? tt_spool_append(&graph->details) : NULL;
	if (!detail)
		return graph->details.status == TTNN_OK ? tt_fail_nomem() : graph->details.status;
	*detail = *entry;
	number = (uint32_t)graph->details.count;
	memcpy(brief->detail, &number, sizeof(number));
	return TTNN_OK;
}

/* *detail 0: there is no more than its kind. */
static tt_status read_brief(struct tt_report_brief *out, uint32_t *detail,
			    struct tt_report_graph *graph, uint64_t position)
{
	const struct tt_report_brief *brief = tt_spool_at(&graph->entries, position);

	*detail = 0;
	*out = (struct tt_report_brief){0};
	if (!brief)
		return tt_spool_status(&graph->entries);
	*out = *brief;
	memcpy(detail, brief->detail, sizeof(*detail));
	return TTNN_OK;
}

tt_status tt_report_graph_set_saved(struct tt_report_graph *graph, uint64_t position,
				    uint32_t saved)
{
	struct tt_report_brief brief;
	struct tt_report_entry *entry;
	uint32_t detail;

	TT_TRY(read_brief(&brief, &detail, graph, position));
	entry = tt_spool_change(&graph->details, detail - 1);
	if (!entry)
		return tt_spool_status(&graph->details);
	entry->saved = saved;
	return TTNN_OK;
}

/* Takes the next batch, of which there is one, with its entries. */
static tt_status take(struct tt_report_graph *graph)
{
	struct tt_report_batch *batch = tt_report_ahead_take(graph->ahead);
	const struct tt_report_nodes *nodes = &graph->nodes[batch->slot];
	struct tt_report_element lost;

	graph->batches[batch->slot] = batch;
	graph->taken++;
	/* What a thread failed at has no message here: where elements are lost, it is found again. */
	if (batch->status == TTNN_IO)
		for (size_t i = batch->first; i < graph->elements.count; i++)
			TT_TRY(graph->source->element(&lost, graph->source, i));
	TT_TRY(batch->status == TTNN_NOMEM ? tt_fail_nomem() : batch->status);
	if (!batch->parsed)
		return TTNN_OK;
	for (size_t i = (size_t)graph->entries.count - batch->first; i < batch->count; i++)
		TT_TRY(tt_report_graph_add_entry(graph, &nodes->entries[i]));
	return TTNN_OK;
}

/* The parsed batch with a node, or NULL. */
static struct tt_report_batch *batch_of(const struct tt_report_graph *graph, size_t position)
{
	for (size_t i = graph->taken; i > graph->held; i--) {
		struct tt_report_batch *batch = held(graph, i - 1);

		if (position >= batch->first)
			return position < batch->first + batch->count && batch->parsed ? batch
										       : NULL;
	}
	return NULL;
}

static const struct tt_json *node_in(const struct tt_report_graph *graph,
				     const struct tt_report_batch *batch, size_t position)
{
	return graph->nodes[batch->slot].parsed[position - batch->first];
}

/* ---- reading on ----------------------------------------------------------------------------- */

/* Reads the node behind those seen, by itself. */
static tt_status read_one(const struct tt_json **node, struct tt_report_graph *graph,
			  struct tt_json_parser *parser)
{
	struct tt_report_place place;
	struct tt_report_entry entry;
	const char *fault;

	TT_TRY(find_place(&place, graph, (size_t)graph->entries.count));
	TT_TRY(graph->source->fetch(node, graph->source, parser, &place));
	fault = fault_of(*node);
	if (fault)
		return graph->source->fail(graph->source, &place, fault);
	entry = tt_report_node_entry(*node);
	return tt_report_graph_add_entry(graph, &entry);
}

/* Makes the batch of the next node the one walked. Some before it stay for who asks again. */
static tt_status walk_on(struct tt_report_graph *graph)
{
	if (graph->walked < graph->taken) {
		const struct tt_report_batch *batch = held(graph, graph->walked);

		graph->walked += graph->next == batch->first + batch->count;
	}
	while (graph->walked - graph->held > TT_REPORT_BATCHES / 4) {
		tt_report_ahead_release(graph->ahead);
		graph->held++;
	}
	return graph->walked == graph->taken ? take(graph) : TTNN_OK;
}

static tt_status next_json(const struct tt_json **node, struct tt_report_graph *graph, size_t at)
{
	const struct tt_report_batch *batch;
	struct tt_report_place place;

	TT_TRY(walk_on(graph));
	graph->next = at + 1;
	batch = held(graph, graph->walked);
	if (batch->parsed) {
		*node = node_in(graph, batch, at);
		return TTNN_OK;
	}
	if (at == graph->entries.count)
		return read_one(node, graph, &graph->current);
	TT_TRY(find_place(&place, graph, at));
	return graph->source->fetch(node, graph->source, &graph->current, &place);
}

/* The numbers of a list. */
static tt_status read_numbers(struct tt_report_graph *graph, bool inputs,
			      const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	int64_t number, *to;

	while (tt_json_next(&it)) {
		if (!tt_json_int(&number, it.value))
			continue;
		to = inputs ? TT_VEC_PUSH(&graph->inputs) : TT_VEC_PUSH(&graph->connections);
		if (!to)
			return tt_fail_nomem();
		*to = number;
	}
	return TTNN_OK;
}

tt_status tt_report_graph_settle(struct tt_report_graph *graph)
{
	return graph->trace ? tt_report_trace_settle(graph) : TTNN_OK;
}

tt_status tt_report_graph_next(struct tt_report_node *out, struct tt_report_graph *graph)
{
	size_t at = graph->next;
	struct tt_report_entry entry;

	*out = (struct tt_report_node){.position = at};
	if (graph->trace)
		return tt_report_trace_next(out, graph);
	if (at == graph->elements.count)
		return TTNN_OK;
	TT_TRY(next_json(&out->json, graph, at));
	TT_TRY(tt_report_graph_at(&entry, NULL, graph, (int64_t)at));
	out->kind = (enum tt_report_node_kind)entry.kind;
	graph->connections.count = graph->inputs.count = 0;
	if (out->kind == TT_NODE_START)
		TT_TRY(read_numbers(graph, true, tt_json_get(out->json, "input_tensors")));
	if (out->kind == TT_NODE_END || out->kind == TT_NODE_ALLOCATE ||
	    out->kind == TT_NODE_DEALLOCATE)
		TT_TRY(read_numbers(graph, false, tt_json_get(out->json, "connections")));
	out->connections = graph->connections.data;
	out->connection_count = graph->connections.count;
	out->inputs = graph->inputs.data;
	out->input_count = graph->inputs.count;
	return TTNN_OK;
}

/* ---- others --------------------------------------------------------------------------------- */

/* Sees more nodes: those of the next batch, one where it is not parsed or too far ahead. */
static tt_status see_more(struct tt_report_graph *graph)
{
	const struct tt_json *node;
	size_t behind = 0;

	if (graph->taken > graph->held) {
		const struct tt_report_batch *last = held(graph, graph->taken - 1);

		behind = last->first + last->count;
	}
	if (graph->entries.count >= behind && graph->taken - graph->held < TT_REPORT_BATCHES)
		TT_TRY(take(graph));
	else
		TT_TRY(read_one(&node, graph, &graph->scanned));
	return TTNN_OK;
}

tt_status tt_report_graph_at(struct tt_report_entry *out, size_t *position,
			     struct tt_report_graph *graph, int64_t reference)
{
	uint64_t count = graph->trace ? tt_report_trace_count(graph) : graph->elements.count;
	int64_t at = reference < 0 ? reference + (int64_t)count : reference;
	const struct tt_report_entry *entry;
	struct tt_report_brief brief;
	uint32_t detail;

	*out = (struct tt_report_entry){0};
	if (at < 0 || (uint64_t)at >= count)
		return TTNN_OK;
	if (graph->trace && (uint64_t)at >= graph->entries.count)
		TT_TRY(tt_report_trace_see(graph, (uint64_t)at));
	while (!graph->trace && (uint64_t)at >= graph->entries.count)
		TT_TRY(see_more(graph));
	if ((uint64_t)at >= graph->entries.count)
		return TTNN_OK;
	if (position)
		*position = (size_t)at;
	TT_TRY(read_brief(&brief, &detail, graph, (uint64_t)at));
	if (!detail) {
		*out = (struct tt_report_entry){.kind = brief.kind, .there = true};
		return TTNN_OK;
	}
	entry = tt_spool_at(&graph->details, detail - 1);
	if (!entry)
		return tt_spool_status(&graph->details);
	*out = *entry;
	return TTNN_OK;
}

tt_status tt_report_graph_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position)
{
	const struct tt_report_batch *batch;
	struct tt_report_place place;

	if (graph->trace)
		return tt_report_trace_again(node, graph, position);
	batch = batch_of(graph, position);
	if (batch) {
		*node = node_in(graph, batch, position);
		return TTNN_OK;
	}
	TT_TRY(find_place(&place, graph, position));
	return graph->source->fetch(node, graph->source, &graph->again, &place);
}

void tt_report_graph_hold(struct tt_report_graph *graph)
{
	if (graph->trace)
		tt_report_trace_hold(graph);
}

int64_t *tt_report_graph_note(struct tt_report_graph *graph, size_t position)
{
	return graph->trace ? tt_report_trace_note(graph, position) : NULL;
}

void tt_report_graph_tidy(struct tt_report_graph *graph)
{
	if (graph->trace)
		tt_report_trace_tidy(graph);
}

tt_status tt_report_graph_keep(struct tt_report_graph *graph, size_t position)
{
	const struct tt_report_batch *batch;
	const struct tt_report_draft *draft = &graph->draft;
	const struct tt_report_drafts *texts = &graph->own;
	struct tt_report_entry entry;
	const struct tt_json *node;

	if (graph->trace)
		return tt_report_trace_keep(graph, position);
	TT_TRY(tt_report_graph_at(&entry, NULL, graph, (int64_t)position));
	batch = batch_of(graph, position);
	if (batch && graph->options.drafting) {
		draft = &graph->nodes[batch->slot].drafts[position - batch->first];
		texts = &graph->nodes[batch->slot].texts;
	} else {
		TT_TRY(tt_report_graph_again(&node, graph, position));
		tt_report_drafts_clear(&graph->own);
		TT_TRY(tt_report_draft_make(&graph->draft, &graph->own, graph->options.devices,
					    node));
	}
	return tt_report_captured_add(graph->options.captured, draft, texts,
				      entry.kind == TT_NODE_CAPTURE_START ||
					      entry.kind == TT_NODE_CAPTURE_END);
}
