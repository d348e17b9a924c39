/* answers.c: graphs and queries as users of ttnn.h see them. */
#include <string.h>
#include <ttnn_frontend.h>

#include "base/mem.h"
#include "trace/query.h"

/* ---- nodes ------------------------------------------------------------------------------------------ */

size_t ttnn_graph_count(const ttnn_graph *graph)
{
	return graph->count;
}

bool ttnn_graph_get(struct ttnn_graph_node *out, const ttnn_graph *graph, size_t index)
{
	const struct tt_graph_node *node;

	if (index >= graph->count)
		return false;
	node = &graph->nodes[index];
	*out = (struct ttnn_graph_node){
		.type = tt_graph_type_name(node),
		.name = tt_graph_string(node, TT_KEY_NAME),
		.level = node->level,
		.duration_ns = node->duration,
		.connections = node->connections,
		.inputs = node->inputs,
		.arguments = node->arguments,
		.stack = node->stack,
		.connection_count = node->connection_count,
		.input_count = node->input_count,
		.argument_count = node->argument_count,
		.stack_count = node->stack_count,
		.thread = (int32_t)node->thread - 1,
	};
	return true;
}

static const struct tt_graph_param *find(const ttnn_graph *graph, size_t index, const char *key)
{
	const struct tt_graph_node *node = index < graph->count ? &graph->nodes[index] : NULL;

	for (uint32_t i = 0; node && i < node->param_count; i++)
		if (strcmp(tt_graph_key_name(graph, node->params[i].key), key) == 0)
			return &node->params[i];
	return NULL;
}

const char *ttnn_graph_text(const ttnn_graph *graph, size_t index, const char *key)
{
	const struct tt_graph_param *param = find(graph, index, key);

	return param && (param->kind == TT_GRAPH_STRING || param->kind == TT_GRAPH_RAW)
		       ? param->text
		       : NULL;
}

bool ttnn_graph_number(uint64_t *out, const ttnn_graph *graph, size_t index, const char *key)
{
	const struct tt_graph_param *param = find(graph, index, key);

	return param && tt_graph_number(out, &graph->nodes[index], (enum tt_graph_key)param->key);
}

bool ttnn_graph_get_form(struct ttnn_graph_form *out, const ttnn_graph *graph, size_t index)
{
	const struct tt_graph_node *node;

	if (index >= graph->count)
		return false;
	node = &graph->nodes[index];
	*out = (struct ttnn_graph_form){node->counter,     node->duration, node->has_duration,
					node->null_params, node->bare,     node->param_count};
	return true;
}

bool ttnn_graph_get_param(struct ttnn_graph_param *out, const ttnn_graph *graph, size_t index,
			  size_t i)
{
	static const enum ttnn_graph_kind kinds[] = {
		[TT_GRAPH_STRING] = TTNN_GRAPH_STRING, [TT_GRAPH_INT] = TTNN_GRAPH_INT,
		[TT_GRAPH_UINT] = TTNN_GRAPH_UINT,     [TT_GRAPH_BOOL] = TTNN_GRAPH_BOOL,
		[TT_GRAPH_RAW] = TTNN_GRAPH_JSON,
	};
	const struct tt_graph_param *param;

	if (index >= graph->count || i >= graph->nodes[index].param_count)
		return false;
	param = &graph->nodes[index].params[i];
	*out = (struct ttnn_graph_param){.key = tt_graph_key_name(graph, param->key),
					 .kind = kinds[param->kind]};
	if (out->kind == TTNN_GRAPH_STRING || out->kind == TTNN_GRAPH_JSON) {
		out->text = param->text;
		out->length = param->length;
	} else {
		out->number = param->unsigned_integer;
	}
	return true;
}

enum ttnn_status ttnn_graph_json(char **out, const ttnn_graph *graph, unsigned indent)
{
	return tt_graph_json(out, graph, indent);
}

/* ---- answers ----------------------------------------------------------------------------------------- */

struct question {
	struct tt_jsonw *w;
	struct tt_arena *arena;
	const struct tt_graph *graph;
	int64_t argument;
};

static tt_status calltrace(const struct question *q)
{
	const char *const *names;
	size_t count;

	TT_TRY(tt_query_calltrace(&names, &count, q->arena, q->graph));
	tt_jsonw_array(q->w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_string(q->w, names[i]);
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status peak_l1(const struct question *q)
{
	tt_jsonw_uint(q->w, tt_query_peak_l1(q->graph));
	return TTNN_OK;
}

static void write_number(struct tt_jsonw *w, const char *key, uint64_t number)
{
	tt_jsonw_key(w, key);
	tt_jsonw_uint(w, number);
}

static tt_status per_core(const struct question *q)
{
	struct tt_query_core core;

	TT_TRY(tt_query_per_core(&core, q->graph, q->argument > 0 ? (uint32_t)q->argument : 0));
	tt_jsonw_object(q->w);
	write_number(q->w, "peak_cb", core.circular);
	write_number(q->w, "peak_l1", core.l1);
	write_number(q->w, "peak_dataflow_buffer", core.dataflow);
	write_number(q->w, "peak_scratchpad", core.scratchpad);
	write_number(q->w, "peak_total", core.total);
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status dram(const struct question *q)
{
	struct tt_query_dram answer = tt_query_dram(q->graph);

	tt_jsonw_object(q->w);
	tt_jsonw_key_int(q->w, "peak", answer.peak);
	tt_jsonw_key_int(q->w, "total_allocations", answer.allocated);
	tt_jsonw_key_int(q->w, "total_deallocations", answer.freed);
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status counts(const struct question *q)
{
	struct tt_query_counts answer;

	TT_TRY(tt_query_counts(&answer, q->graph));
	tt_jsonw_array(q->w);
	tt_jsonw_uint(q->w, answer.intermediate);
	tt_jsonw_uint(q->w, answer.output);
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status output_tensors(const struct question *q)
{
	const uint32_t *nodes;
	size_t count;

	TT_TRY(tt_query_outputs(&nodes, &count, q->arena, q->graph));
	tt_jsonw_array(q->w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_uint(q->w, nodes[i]);
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status output_info(const struct question *q)
{
	const struct tt_query_info *infos;
	size_t count;

	TT_TRY(tt_query_output_info(&infos, &count, q->arena, q->graph));
	tt_jsonw_array(q->w);
	for (size_t i = 0; i < count; i++) {
		tt_jsonw_object(q->w);
		tt_jsonw_key_string(q->w, "shape", infos[i].shape);
		write_number(q->w, "size", infos[i].size);
		tt_jsonw_key_string(q->w, "type", infos[i].l1 ? "L1" : "DRAM");
		tt_jsonw_end(q->w);
	}
	tt_jsonw_end(q->w);
	return TTNN_OK;
}

static tt_status levelized(const struct question *q)
{
	int32_t level = q->argument > INT32_MAX ? INT32_MAX : (int32_t)q->argument;
	struct tt_query_vertex *vertices;
	size_t count;

	TT_TRY(tt_query_levels(&vertices, &count, q->arena, q->graph, level));
	tt_query_levels_json(q->w, vertices, count);
	return TTNN_OK;
}

static tt_status duration(const struct question *q)
{
	tt_jsonw_uint(q->w, tt_query_duration(q->graph));
	return TTNN_OK;
}

static tt_status as_text(const struct question *q,
			 tt_status (*query)(struct tt_str *, const struct tt_graph *))
{
	struct tt_str text = {0};
	tt_status status = query(&text, q->graph);

	if (status == TTNN_OK)
		tt_jsonw_stringn(q->w, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}

static tt_status pretty(const struct question *q)
{
	return as_text(q, tt_query_pretty);
}

static tt_status dot(const struct question *q)
{
	return as_text(q, tt_query_dot);
}

/* To add a question: a row. */
static const struct {
	const char *name;
	tt_status (*answer)(const struct question *q);
} questions[] = {
	{"calltrace", calltrace},
	{"peak_l1", peak_l1},
	{"per_core", per_core},
	{"dram", dram},
	{"counts", counts},
	{"output_tensors", output_tensors},
	{"output_info", output_info},
	{"levelized", levelized},
	{"duration", duration},
	{"pretty", pretty},
	{"dot", dot},
};

static tt_status answer(const struct question *q, const char *what)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (strcmp(questions[i].name, what) == 0)
			return questions[i].answer(q);
	return tt_fail(TTNN_NOTFOUND, "there is no query %s", what);
}

enum ttnn_status ttnn_graph_query(char **out, const ttnn_graph *graph, const char *what,
				  int64_t argument)
{
	struct tt_arena arena = {0};
	struct tt_str text = {0};
	struct tt_jsonw w;
	struct question q = {&w, &arena, graph, argument};
	tt_status status;

	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.utf8 = true});
	status = answer(&q, what);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_take(out, &text);
	tt_str_deinit(&text);
	tt_arena_deinit(&arena);
	return status;
}
