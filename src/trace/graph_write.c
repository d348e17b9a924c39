/* graph_write.c: graphs as JSON. */
#include "base/fmt.h"
#include "base/mem.h"
#include "trace/graph.h"

static void write_value(struct tt_jsonw *w, const struct tt_graph_param *param)
{
	char digits[TT_FMT_MAX];

	switch ((enum tt_graph_value)param->kind) {
	case TT_GRAPH_STRING:
		tt_jsonw_stringn(w, param->text, param->length);
		break;
	case TT_GRAPH_INT:
		tt_jsonw_int(w, param->integer);
		break;
	case TT_GRAPH_UINT:
		tt_jsonw_uint(w, param->unsigned_integer);
		break;
	case TT_GRAPH_BOOL:
		tt_jsonw_bool(w, param->integer);
		break;
	case TT_GRAPH_RAW:
		tt_jsonw_raw(w, param->text, param->length);
		break;
	case TT_GRAPH_DIGITS:
		tt_jsonw_stringn(w, digits, tt_fmt_u64(digits, param->unsigned_integer));
		break;
	}
}

static void write_params(struct tt_jsonw *w, const struct tt_graph *graph,
			 const struct tt_graph_node *node)
{
	tt_jsonw_key(w, "params");
	if (node->null_params) {
		tt_jsonw_null(w);
		return;
	}
	tt_jsonw_object(w);
	for (uint32_t i = 0; i < node->param_count; i++) {
		tt_jsonw_key(w, tt_graph_key_name(graph, node->params[i].key));
		write_value(w, &node->params[i]);
	}
	tt_jsonw_end(w);
}

static void write_edges(struct tt_jsonw *w, const struct tt_graph_edges *edges)
{
	uint32_t to;

	tt_jsonw_key(w, "connections");
	tt_jsonw_array(w);
	while (edges->next(&to, edges->context))
		tt_jsonw_uint(w, to);
	tt_jsonw_end(w);
}

void tt_graph_write_node(struct tt_jsonw *w, const struct tt_graph *graph,
			 const struct tt_graph_node *node, const struct tt_graph_edges *edges)
{
	tt_jsonw_object(w);
	if (!node->bare)
		tt_jsonw_strings(w, "arguments", node->arguments, node->argument_count);
	if (edges)
		write_edges(w, edges);
	else
		tt_jsonw_uints(w, "connections", node->connections, node->connection_count);
	tt_jsonw_key_int(w, "counter", node->counter);
	if (node->has_duration) {
		tt_jsonw_key(w, "duration_ns");
		tt_jsonw_uint(w, node->duration);
	}
	if (!node->bare)
		tt_jsonw_uints(w, "input_tensors", node->inputs, node->input_count);
	tt_jsonw_key_string(w, "node_type", tt_graph_type_name(node));
	write_params(w, graph, node);
	if (node->stack_count)
		tt_jsonw_strings(w, "stack_trace", node->stack, node->stack_count);
	if (!node->bare)
		tt_jsonw_key_int(w, "stacking_level", node->level);
	if (node->thread)
		tt_jsonw_key_int(w, "thread", node->thread - 1);
	tt_jsonw_end(w);
}

void tt_graph_write(struct tt_jsonw *w, const struct tt_graph *graph)
{
	tt_jsonw_array(w);
	for (size_t i = 0; i < graph->count; i++)
		tt_graph_write_node(w, graph, &graph->nodes[i], NULL);
	tt_jsonw_end(w);
}

tt_status tt_graph_json(char **out, const struct tt_graph *graph, unsigned indent)
{
	struct tt_jsonw_style style = {.indent = indent, .compact = indent == 0, .utf8 = true};
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	tt_jsonw_init_str(&w, &text, style);
	tt_graph_write(&w, graph);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_str_take(out, &text);
	tt_str_deinit(&text);
	return status;
}
