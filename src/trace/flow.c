/*
 * flow.c: what tt_query_levels() asks, for graphs in which each mention of a tensor has a node of its own and
 * functions of Python name no tensors at all: a call takes what the calls inside it take from outside, and gives
 * what they gave.
 */
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "trace/query.h"
#include "trace/same.h"

#define NONE UINT32_MAX
#define TENSOR                                                                                     \
	0x80000000u /* marks numbers of tensors until all are known: they come before functions */

/* A function that has not ended. */
struct open {
	uint32_t vertex;    /* NONE: deeper than asked for */
	size_t given;       /* how many tensors were given before it */
	uint32_t last_part; /* the end of the last function inside it; NONE: there was none */
};

struct flow {
	const struct tt_graph *graph;
	struct tt_arena *arena;
	int32_t max_level;
	TT_VEC(struct tt_query_vertex) functions, tensors;
	TT_VEC(struct open) open;
	TT_VEC(size_t) given; /* entries of `giver`, in the order they were given */
	struct tt_same giver; /* of each tensor: the vertex that gave it, plus 1 */
	struct tt_map edges;  /* {entry, vertex} that are there */
};

static tt_status push(struct flow *f, struct tt_query_list *list, uint32_t item)
{
	return tt_query_push(list, f->arena, item);
}

static struct tt_query_vertex *vertex(struct flow *f, uint32_t number)
{
	return number & TENSOR ? &f->tensors.data[number & ~TENSOR] : &f->functions.data[number];
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* A tensor that nobody in the graph gave. */
static tt_status add_tensor(struct flow *f, uint32_t *number, uint32_t node)
{
	struct tt_query_vertex *v = TT_VEC_PUSH(&f->tensors);
	uint64_t id = 0;

	if (!v)
		return tt_fail_nomem();
	tt_graph_number(&id, &f->graph->nodes[node], TT_KEY_TENSOR_ID);
	*v = (struct tt_query_vertex){.node = node, .level = 1, .shape_count = 1};
	v->name = tt_arena_printf(f->arena, "tensor[%llu]", (unsigned long long)id);
	v->shapes = tt_arena_calloc(f->arena, 1, sizeof(*v->shapes));
	if (!v->name || !v->shapes)
		return tt_fail_nomem();
	v->shapes[0] = tt_graph_string(&f->graph->nodes[node], TT_KEY_SHAPE);
	*number = (uint32_t)(f->tensors.count - 1) | TENSOR;
	return TTNN_OK;
}

/* Each open call that the tensor comes into takes it, once; `from` inside of one did not come from outside. */
static tt_status connect(struct flow *f, size_t entry, uint32_t from)
{
	for (size_t i = 0; i < f->open.count; i++) {
		uint32_t to = f->open.data[i].vertex;
		uint64_t key[2] = {entry, to};
		struct tt_query_list *out;
		bool added;

		if (to == NONE || (!(from & TENSOR) && from >= to))
			continue;
		if (!tt_map_add(&f->edges, key, sizeof(key), &added))
			return tt_fail_nomem();
		if (!added)
			continue;
		TT_TRY(push(f, &vertex(f, to)->in, from));
		out = &vertex(f, from)->out;
		if (!out->count || out->items[out->count - 1] != to)
			TT_TRY(push(f, out, to));
	}
	return TTNN_OK;
}

static tt_status take(struct flow *f, uint32_t tensor)
{
	struct tt_map_entry *entry = tt_same_find(&f->giver, tensor);
	const struct tt_map_entry *renamed;
	uint32_t made = 0;

	if (!entry)
		return tt_fail_nomem();
	if (!entry->number && (renamed = tt_same_renamed(&f->giver, tensor)) && renamed->number)
		entry->number = renamed->number;
	if (!entry->number) {
		TT_TRY(add_tensor(f, &made, tensor));
		entry->number = (uint64_t)made + 1;
	}
	return connect(f, (size_t)(entry - f->giver.known.entries), (uint32_t)(entry->number - 1));
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static tt_status start(struct flow *f, uint32_t number)
{
	const struct tt_graph_node *node = &f->graph->nodes[number];
	int32_t level = (int32_t)f->open.count + 1;
	struct open *open = TT_VEC_PUSH(&f->open);

	if (!open)
		return tt_fail_nomem();
	*open = (struct open){.vertex = NONE, .given = f->given.count, .last_part = NONE};
	if (level <= f->max_level) {
		struct tt_query_vertex *v = TT_VEC_PUSH(&f->functions);

		if (!v)
			return tt_fail_nomem();
		*v = (struct tt_query_vertex){.node = number,
					      .level = level,
					      .name = tt_graph_string(node, TT_KEY_NAME),
					      .arguments = node->arguments,
					      .argument_count = node->argument_count};
		open->vertex = (uint32_t)f->functions.count - 1;
		if (level > 1)
			TT_TRY(push(f, &vertex(f, open[-1].vertex)->internals, open->vertex));
	}
	for (uint32_t i = 0; i < node->input_count; i++)
		if (f->graph->nodes[node->inputs[i]].type == TT_GRAPH_TENSOR)
			TT_TRY(take(f, node->inputs[i]));
	return TTNN_OK;
}

static bool gives_tensors(const struct tt_graph *graph, const struct tt_graph_node *end)
{
	for (uint32_t i = 0; i < end->connection_count; i++)
		if (graph->nodes[end->connections[i]].type == TT_GRAPH_TENSOR)
			return true;
	return false;
}

/* The innermost open function that is a vertex, NONE without one: those deeper than asked for are parts of it. */
static uint32_t vertex_around(const struct flow *f)
{
	size_t i = f->open.count;

	while (i && f->open.data[i - 1].vertex == NONE)
		i--;
	return i ? f->open.data[i - 1].vertex : NONE;
}

/* All that was given inside of a call is its own for those that come later. */
static tt_status end(struct flow *f, uint32_t number)
{
	const struct tt_graph_node *node = &f->graph->nodes[number];
	struct open open;
	uint32_t giver;

	if (!f->open.count)
		return TTNN_OK; /* an end without a start */
	open = f->open.data[--f->open.count];
	for (uint32_t i = 0; i < node->connection_count; i++) {
		struct tt_map_entry *entry;
		size_t *given;

		if (f->graph->nodes[node->connections[i]].type != TT_GRAPH_TENSOR)
			continue;
		entry = tt_same_find(&f->giver, node->connections[i]);
		given = entry ? TT_VEC_PUSH(&f->given) : NULL;
		if (!given)
			return tt_fail_nomem();
		*given = (size_t)(entry - f->giver.known.entries);
	}
	if (!gives_tensors(f->graph, node) && open.last_part != NONE)
		number = open.last_part;
	if (f->open.count)
		f->open.data[f->open.count - 1].last_part = number;
	giver = open.vertex == NONE ? vertex_around(f) : open.vertex;
	for (size_t i = open.given; giver != NONE && i < f->given.count; i++)
		f->giver.known.entries[f->given.data[i]].number = (uint64_t)giver + 1;
	if (open.vertex == NONE)
		return TTNN_OK;
	return tt_query_shapes(vertex(f, open.vertex), f->arena, f->graph, number);
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static tt_status walk(struct flow *f)
{
	TT_TRY(tt_same_init(&f->giver, f->graph));
	for (uint32_t i = 0; i < f->graph->count; i++) {
		if (f->graph->nodes[i].type == TT_GRAPH_FUNCTION_START)
			TT_TRY(start(f, i));
		else if (f->graph->nodes[i].type == TT_GRAPH_FUNCTION_END)
			TT_TRY(end(f, i));
	}
	return TTNN_OK;
}

static void renumber(struct tt_query_list *list, uint32_t tensors)
{
	for (uint32_t i = 0; i < list->count; i++)
		list->items[i] = list->items[i] & TENSOR ? list->items[i] & ~TENSOR
							 : list->items[i] + tensors;
}

/* Tensors, then functions. */
static tt_status join(struct tt_query_vertex **out, size_t *count, struct flow *f)
{
	size_t tensors = f->tensors.count, functions = f->functions.count;
	struct tt_query_vertex *all =
		tt_arena_calloc(f->arena, tensors + functions + 1, sizeof(*all));

	if (!all)
		return tt_fail_nomem();
	if (tensors)
		memcpy(all, f->tensors.data, tensors * sizeof(*all));
	if (functions)
		memcpy(all + tensors, f->functions.data, functions * sizeof(*all));
	for (size_t i = 0; i < tensors + functions; i++) {
		renumber(&all[i].in, (uint32_t)tensors);
		renumber(&all[i].out, (uint32_t)tensors);
		renumber(&all[i].internals, (uint32_t)tensors);
	}
	*out = all;
	*count = tensors + functions;
	return TTNN_OK;
}

tt_status tt_query_flow(struct tt_query_vertex **out, size_t *count, struct tt_arena *arena,
			const struct tt_graph *graph, int32_t max_level)
{
	struct flow f = {.graph = graph, .arena = arena, .max_level = max_level};
	tt_status status;

	*out = NULL;
	*count = 0;
	status = graph->count < TENSOR ? walk(&f)
				       : tt_fail(TTNN_UNSUPPORTED,
						 "a graph of %zu nodes is too large", graph->count);
	if (status == TTNN_OK)
		status = join(out, count, &f);
	TT_VEC_DEINIT(&f.functions);
	TT_VEC_DEINIT(&f.tensors);
	TT_VEC_DEINIT(&f.open);
	TT_VEC_DEINIT(&f.given);
	tt_same_deinit(&f.giver);
	tt_map_deinit(&f.edges);
	return status;
}
