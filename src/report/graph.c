#include "report/graph.h"

#include <string.h>

#include "base/mem.h"
#include "report/pytext.h"

static const char *const names[] = {
#define X(name, text) [TT_NODE_##name] = (text),
	TT_REPORT_NODES_LIST(X)
#undef X
};

tt_status tt_report_graph_init(struct tt_report_graph *graph, struct tt_report_source *source)
{
	*graph = (struct tt_report_graph){.source = source};
	return source->walk(source, TT_REPORT_PART_GRAPH);
}

void tt_report_graph_deinit(struct tt_report_graph *graph)
{
	for (int i = 0; i < TT_REPORT_AHEAD; i++)
		tt_json_parser_deinit(&graph->ring[i]);
	tt_json_parser_deinit(&graph->current);
	tt_json_parser_deinit(&graph->scanned);
	tt_json_parser_deinit(&graph->again);
	TT_VEC_DEINIT(&graph->entries);
	*graph = (struct tt_report_graph){0};
}

static struct tt_report_place place_of(const struct tt_report_graph *graph, size_t position)
{
	const struct tt_report_entry *entry = &graph->entries.data[position];

	return (struct tt_report_place){entry->start, entry->length, graph->depth, 0};
}

tt_status tt_report_graph_fail(struct tt_report_graph *graph, size_t position, const char *what)
{
	struct tt_report_place place = place_of(graph, position);

	return graph->source->fail(graph->source, &place, what);
}

/* ---- reading on ----------------------------------------------------------------------------- */

static enum tt_report_node_kind kind_of(const struct tt_json *node)
{
	size_t length;
	const char *name = tt_json_string(tt_json_get(node, "node_type"), &length);

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

/* Reads one more node; graph->complete when there is none. */
static tt_status read_on(struct tt_report_graph *graph)
{
	struct tt_report_source *source = graph->source;
	size_t position = graph->entries.count;
	bool keep = position == graph->ahead && position - graph->next < TT_REPORT_AHEAD - 1;
	size_t slot = position % TT_REPORT_AHEAD;
	struct tt_report_entry *entry;
	struct tt_report_place place;
	const struct tt_json *node;

	if (!source->next(source)) {
		graph->complete = true;
		return source->status(source);
	}
	place = source->place(source);
	TT_TRY(source->status(source));
	if (place.length > UINT32_MAX)
		return source->fail(source, &place, "a node larger than 4 GB");
	TT_TRY(source->fetch(&node, source, keep ? &graph->ring[slot] : &graph->scanned, &place));
	if (tt_json_kind(node) != TT_JSON_OBJECT)
		return source->fail(source, &place, "a node of the graph must be an object");
	if (has_key_twice(node) || has_key_twice(tt_json_get(node, "params")))
		return source->fail(source, &place, "a node with a key that is there twice");
	entry = TT_VEC_PUSH(&graph->entries);
	if (!entry)
		return tt_fail_nomem();
	*entry = (struct tt_report_entry){.start = place.start, .length = (uint32_t)place.length};
	entry->kind = (uint8_t)kind_of(node);
	note_value(entry, node);
	graph->depth = place.depth;
	if (keep) {
		graph->parsed[slot] = node;
		graph->ahead = position + 1;
	}
	return TTNN_OK;
}

tt_status tt_report_graph_next(const struct tt_json **node, size_t *position,
			       struct tt_report_graph *graph)
{
	size_t at = graph->next;
	struct tt_report_place place;

	*node = NULL;
	/* Nothing is kept at or behind this node: what is read now may be kept again. */
	if (graph->ahead < at)
		graph->ahead = at;
	if (at == graph->entries.count && !graph->complete)
		TT_TRY(read_on(graph));
	if (at == graph->entries.count)
		return TTNN_OK;
	*position = at;
	graph->next = at + 1;
	if (at < graph->ahead) {
		*node = graph->parsed[at % TT_REPORT_AHEAD];
		return TTNN_OK;
	}
	/* It was too far ahead to be kept. */
	place = place_of(graph, at);
	return graph->source->fetch(node, graph->source, &graph->current, &place);
}

/* ---- others --------------------------------------------------------------------------------- */

tt_status tt_report_graph_at(const struct tt_report_entry **out, size_t *position,
			     struct tt_report_graph *graph, int64_t reference)
{
	int64_t at = reference;

	*out = NULL;
	while (!graph->complete && (at < 0 || (uint64_t)at >= graph->entries.count))
		TT_TRY(read_on(graph));
	if (at < 0)
		at += (int64_t)graph->entries.count;
	if (at < 0 || (uint64_t)at >= graph->entries.count)
		return TTNN_OK;
	if (position)
		*position = (size_t)at;
	*out = &graph->entries.data[at];
	return TTNN_OK;
}

tt_status tt_report_graph_again(const struct tt_json **node, struct tt_report_graph *graph,
				size_t position)
{
	struct tt_report_place place = place_of(graph, position);

	if (position >= graph->next && position < graph->ahead) {
		*node = graph->parsed[position % TT_REPORT_AHEAD];
		return TTNN_OK;
	}
	return graph->source->fetch(node, graph->source, &graph->again, &place);
}
