/* levels.c: the levelized graph. */
#include <string.h>

#include "base/mem.h"
#include "trace/query.h"

#define NONE UINT32_MAX

struct levels {
	const struct tt_graph *graph;
	struct tt_arena *arena;
	int32_t max_level;
	struct tt_query_vertex *vertices;
	uint32_t count, first_function;
	/* By node: its vertex; of a start its end, of an end its start; of a tensor who gave it. */
	uint32_t *vertex, *other, *producer;
	uint32_t *seen; /* by vertex: the last one that asked, plus 1 */
};

tt_status tt_query_push(struct tt_query_list *list, struct tt_arena *arena, uint32_t item)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? 2 * list->room : 4;
		uint32_t *items = tt_arena_calloc(arena, room, sizeof(*items));

		if (!items)
			return tt_fail_nomem();
		if (list->count)
			memcpy(items, list->items, list->count * sizeof(*items));
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = item;
	return TTNN_OK;
}

static tt_status push(struct levels *l, struct tt_query_list *list, uint32_t item)
{
	return tt_query_push(list, l->arena, item);
}

/* ---- vertices --------------------------------------------------------------------------------------------- */

static bool is_tensor_vertex(const struct tt_graph_node *node)
{
	return node->type == TT_GRAPH_TENSOR && node->level == 1;
}

static bool is_function_vertex(const struct levels *l, const struct tt_graph_node *node)
{
	return node->type == TT_GRAPH_FUNCTION_START && node->level <= l->max_level;
}

static tt_status add_tensor(struct levels *l, uint32_t number)
{
	const struct tt_graph_node *node = &l->graph->nodes[number];
	struct tt_query_vertex *vertex = &l->vertices[l->count];
	const struct tt_graph_param *id = tt_graph_find(node, TT_KEY_TENSOR_ID);
	uint64_t tensor = 0;

	tt_graph_number(&tensor, node, TT_KEY_TENSOR_ID);
	vertex->node = number;
	vertex->level = 1;
	if (id && id->kind == TT_GRAPH_STRING)
		vertex->name = tt_arena_printf(l->arena, "tensor[%s]", id->text);
	else
		vertex->name =
			tt_arena_printf(l->arena, "tensor[%llu]", (unsigned long long)tensor);
	vertex->shapes = tt_arena_calloc(l->arena, 1, sizeof(*vertex->shapes));
	if (!vertex->name || !vertex->shapes)
		return tt_fail_nomem();
	vertex->shapes[vertex->shape_count++] = tt_graph_string(node, TT_KEY_SHAPE);
	l->vertex[number] = l->count++;
	return TTNN_OK;
}

static void add_function(struct levels *l, uint32_t number)
{
	const struct tt_graph_node *node = &l->graph->nodes[number];

	l->vertices[l->count] = (struct tt_query_vertex){
		.node = number,
		.level = node->level,
		.name = tt_graph_string(node, TT_KEY_NAME),
		.arguments = node->arguments,
		.argument_count = node->argument_count,
	};
	l->vertex[number] = l->count++;
}

static tt_status add_vertices(struct levels *l)
{
	size_t count = 0;

	for (size_t i = 0; i < l->graph->count; i++)
		count += is_tensor_vertex(&l->graph->nodes[i]) ||
			 is_function_vertex(l, &l->graph->nodes[i]);
	l->vertices = tt_arena_calloc(l->arena, count + 1, sizeof(*l->vertices));
	l->seen = tt_arena_calloc(l->arena, count + 1, sizeof(*l->seen));
	if (!l->vertices || !l->seen)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < l->graph->count; i++)
		if (is_tensor_vertex(&l->graph->nodes[i]))
			TT_TRY(add_tensor(l, i));
	l->first_function = l->count;
	for (uint32_t i = 0; i < l->graph->count; i++)
		if (is_function_vertex(l, &l->graph->nodes[i]))
			add_function(l, i);
	return TTNN_OK;
}

/* ---- who gave what -------------------------------------------------------------------------------------------- */

/* Pairs a start with the first end among its connections that has its name. */
static void pair(struct levels *l, uint32_t start)
{
	const struct tt_graph_node *node = &l->graph->nodes[start];
	const char *name = tt_graph_string(node, TT_KEY_NAME);

	for (uint32_t i = 0; i < node->connection_count; i++) {
		const struct tt_graph_node *end = &l->graph->nodes[node->connections[i]];

		if (end->type == TT_GRAPH_FUNCTION_END &&
		    strcmp(tt_graph_string(end, TT_KEY_NAME), name) == 0) {
			l->other[start] = node->connections[i];
			l->other[node->connections[i]] = start;
			return;
		}
	}
}

/* The end with the lowest level gave a tensor; of equal ones the earliest. */
static void produce(struct levels *l, uint32_t end)
{
	const struct tt_graph_node *node = &l->graph->nodes[end];

	for (uint32_t i = 0; i < node->connection_count; i++) {
		uint32_t tensor = node->connections[i];

		if (l->graph->nodes[tensor].type == TT_GRAPH_TENSOR &&
		    (l->producer[tensor] == NONE ||
		     node->level < l->graph->nodes[l->producer[tensor]].level))
			l->producer[tensor] = end;
	}
}

static void relate(struct levels *l)
{
	for (uint32_t i = 0; i < l->graph->count; i++) {
		if (l->graph->nodes[i].type == TT_GRAPH_FUNCTION_START)
			pair(l, i);
		else if (l->graph->nodes[i].type == TT_GRAPH_FUNCTION_END)
			produce(l, i);
	}
}

/* The vertex of the function that gave a tensor, or NONE. */
static uint32_t giver(const struct levels *l, uint32_t tensor)
{
	uint32_t end = l->producer[tensor];
	uint32_t start = end == NONE ? NONE : l->other[end];

	return start == NONE ? NONE : l->vertex[start];
}

/* ---- edges -------------------------------------------------------------------------------------------------------- */

/* A tensor leads to every function that took it, each once. */
static tt_status tensor_edges(struct levels *l, uint32_t vertex)
{
	const struct tt_graph_node *node = &l->graph->nodes[l->vertices[vertex].node];

	for (uint32_t i = 0; i < node->connection_count; i++) {
		uint32_t to = l->vertex[node->connections[i]];

		if (to == NONE || l->seen[to] == vertex + 1)
			continue;
		l->seen[to] = vertex + 1;
		TT_TRY(push(l, &l->vertices[vertex].out, to));
	}
	return TTNN_OK;
}

/*
 * Tensors that are no vertices stand for the function that gave them: an edge from it to each that
 * took one. Functions are visited in order, each with its tensors in order: so are the edges.
 */
static tt_status function_edges(struct levels *l)
{
	struct tt_query_list *takes = tt_calloc(l->count + 1, sizeof(*takes));
	tt_status status = takes ? TTNN_OK : tt_fail_nomem();

	for (uint32_t t = 0; t < l->graph->count && status == TTNN_OK; t++) {
		const struct tt_graph_node *tensor = &l->graph->nodes[t];

		if (tensor->type != TT_GRAPH_TENSOR || l->vertex[t] != NONE || giver(l, t) == NONE)
			continue;
		for (uint32_t i = 0; i < tensor->connection_count && status == TTNN_OK; i++) {
			uint32_t to = l->vertex[tensor->connections[i]];

			if (to != NONE && to >= l->first_function)
				status = push(l, &takes[to], t);
		}
	}
	for (uint32_t to = l->first_function; to < l->count && status == TTNN_OK; to++) {
		for (uint32_t i = 0; i < takes[to].count && status == TTNN_OK; i++) {
			uint32_t from = giver(l, takes[to].items[i]);
			struct tt_query_list *out = &l->vertices[from].out;

			if (from != to && !(out->count && out->items[out->count - 1] == to))
				status = push(l, out, to);
		}
	}
	tt_free(takes);
	return status;
}

static tt_status in_edges(struct levels *l, uint32_t vertex)
{
	struct tt_query_vertex *v = &l->vertices[vertex];
	const struct tt_graph_node *node = &l->graph->nodes[v->node];
	uint32_t from;

	if (vertex < l->first_function) {
		from = giver(l, v->node);
		return from == NONE ? TTNN_OK : push(l, &v->in, from);
	}
	for (uint32_t i = 0; i < node->input_count; i++) {
		from = l->vertex[node->inputs[i]];
		if (from == NONE)
			from = giver(l, node->inputs[i]);
		if (from != NONE)
			TT_TRY(push(l, &v->in, from));
	}
	return TTNN_OK;
}

/* Functions one level below that start before this one ends. */
static tt_status internals(struct levels *l, uint32_t vertex)
{
	struct tt_query_vertex *v = &l->vertices[vertex];
	uint32_t end = l->other[v->node];

	if (end == NONE || v->level >= l->max_level)
		return TTNN_OK;
	for (uint32_t i = vertex + 1; i < l->count && l->vertices[i].node < end; i++)
		if (l->vertices[i].level == v->level + 1)
			TT_TRY(push(l, &v->internals, i));
	return TTNN_OK;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------------- */

static void output_info(struct levels *l, struct tt_query_vertex *v)
{
	for (uint32_t i = 0; i < v->out.count && !v->info; i++) {
		const struct tt_query_vertex *to = &l->vertices[v->out.items[i]];

		if (to->level == v->level && to->argument_count &&
		    strncmp(to->arguments[0], "Tensor(", 7) == 0)
			v->info = to->arguments[0];
	}
}

tt_status tt_query_shapes(struct tt_query_vertex *v, struct tt_arena *arena,
			  const struct tt_graph *graph, uint32_t end)
{
	const struct tt_graph_node *node = &graph->nodes[end];

	v->shapes = tt_arena_calloc(arena, node->connection_count + 1, sizeof(*v->shapes));
	if (!v->shapes)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < node->connection_count; i++) {
		const struct tt_graph_node *tensor = &graph->nodes[node->connections[i]];
		const char *shape = tt_graph_string(tensor, TT_KEY_SHAPE);
		bool again = tensor->type != TT_GRAPH_TENSOR;

		for (uint32_t k = 0; k < v->shape_count && !again; k++)
			again = strcmp(v->shapes[k], shape) == 0;
		if (!again)
			v->shapes[v->shape_count++] = shape;
	}
	return TTNN_OK;
}

static tt_status levelize(struct levels *l)
{
	size_t count = l->graph->count + 1;

	l->vertex = tt_alloc(3 * count * sizeof(*l->vertex));
	if (!l->vertex)
		return tt_fail_nomem();
	memset(l->vertex, 0xff, 3 * count * sizeof(*l->vertex));
	l->other = l->vertex + count;
	l->producer = l->other + count;
	TT_TRY(add_vertices(l));
	relate(l);
	for (uint32_t i = 0; i < l->first_function; i++)
		TT_TRY(tensor_edges(l, i));
	TT_TRY(function_edges(l));
	for (uint32_t i = 0; i < l->count; i++) {
		struct tt_query_vertex *v = &l->vertices[i];

		TT_TRY(in_edges(l, i));
		output_info(l, v);
		if (i < l->first_function)
			continue;
		TT_TRY(internals(l, i));
		if (l->other[v->node] != NONE)
			TT_TRY(tt_query_shapes(v, l->arena, l->graph, l->other[v->node]));
	}
	return TTNN_OK;
}

tt_status tt_query_levels(struct tt_query_vertex **out, size_t *count, struct tt_arena *arena,
			  const struct tt_graph *graph, int32_t max_level)
{
	struct levels l = {.graph = graph, .arena = arena, .max_level = max_level};
	tt_status status = levelize(&l);

	tt_free(l.vertex);
	*out = l.vertices;
	*count = status == TTNN_OK ? l.count : 0;
	return status;
}

/* ---- JSON --------------------------------------------------------------------------------------------------------------- */

void tt_query_levels_json(struct tt_jsonw *w, const struct tt_query_vertex *vertices, size_t count)
{
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++) {
		const struct tt_query_vertex *v = &vertices[i];

		tt_jsonw_object(w);
		tt_jsonw_strings(w, "arguments", v->arguments, v->argument_count);
		tt_jsonw_key_int(w, "counter", (int64_t)i);
		tt_jsonw_uints(w, "in_edges", v->in.items, v->in.count);
		tt_jsonw_uints(w, "internals", v->internals.items, v->internals.count);
		tt_jsonw_key_string(w, "name", v->name);
		tt_jsonw_uints(w, "out_edges", v->out.items, v->out.count);
		tt_jsonw_strings(w, "output_info", &v->info, v->info ? 1 : 0);
		tt_jsonw_strings(w, "output_shape", v->shapes, v->shape_count);
		tt_jsonw_key_int(w, "stacking_level", v->level);
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
}
