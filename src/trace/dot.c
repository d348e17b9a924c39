/*
 * dot.c: graphs for Graphviz, in the colours of the other pictures. Edges are not asked to keep their order
 * (ordering=in): with clusters, that ends dot 2.43 with a fault.
 */
#include <string.h>

#include "trace/box_kinds.h"
#include "trace/query.h"

static const struct {
	const char *fill, *line;
} colors[] = {
#define X(constant, name, words, fill, line) {fill, line},
	TT_BOX_KINDS(X)
#undef X
};

/* Of nodes that are no functions. To give another type a colour of its own: a row. */
static const struct {
	enum tt_graph_type type;
	enum tt_box_kind kind;
} kinds[] = {
	{TT_GRAPH_TENSOR, TT_BOX_TENSOR},
	{TT_GRAPH_BUFFER, TT_BOX_DRAM},
	{TT_GRAPH_BUFFER_ALLOCATE, TT_BOX_DRAM},
	{TT_GRAPH_BUFFER_DEALLOCATE, TT_BOX_FREE},
	{TT_GRAPH_CB_ALLOCATE, TT_BOX_PROGRAM},
	{TT_GRAPH_CB_DEALLOCATE_ALL, TT_BOX_FREE},
	{TT_GRAPH_DFB_ALLOCATE, TT_BOX_PROGRAM},
	{TT_GRAPH_SCRATCHPAD_ALLOCATE, TT_BOX_PROGRAM},
	{TT_GRAPH_PROGRAM_EXECUTION, TT_BOX_DEVICE},
	{TT_GRAPH_ERROR, TT_BOX_ERROR},
};

static enum tt_box_kind kind_of(const struct tt_graph_node *node)
{
	if (node->type == TT_GRAPH_FUNCTION_START || node->type == TT_GRAPH_FUNCTION_END)
		return tt_box_kind_of_call(tt_graph_string(node, TT_KEY_NAME));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].type == node->type)
			return kinds[i].kind == TT_BOX_DRAM &&
					       strstr(tt_graph_string(node, TT_KEY_TYPE), "L1")
				       ? TT_BOX_L1
				       : kinds[i].kind;
	return TT_BOX_REPEAT;
}

static void add_quoted(struct tt_str *out, const char *text)
{
	tt_str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			tt_str_addc(out, '\\');
		tt_str_addc(out, *text);
	}
	tt_str_addc(out, '"');
}

static void add_tabs(struct tt_str *out, size_t count)
{
	while (count--)
		tt_str_addc(out, '\t');
}

static void add_node(struct tt_str *out, const struct tt_graph_node *node, size_t number,
		     size_t depth)
{
	enum tt_box_kind kind = kind_of(node);
	struct tt_str label = {0};

	tt_str_adds(&label, tt_graph_type_name(node));
	tt_query_subject(&label, "\n", node);
	add_tabs(out, depth + 1);
	tt_str_addf(out, "node_%zu [label=", number);
	add_quoted(out, tt_str_text(&label));
	tt_str_addf(out, " fillcolor=\"%s\" color=\"%s\"]\n", colors[kind].fill, colors[kind].line);
	out->failed |= label.failed;
	tt_str_deinit(&label);
}

static void open_cluster(struct tt_str *out, const struct tt_graph_node *node, size_t number,
			 size_t depth)
{
	enum tt_box_kind kind = kind_of(node);

	add_tabs(out, depth + 1);
	tt_str_addf(out, "subgraph cluster_%zu {\n", number);
	add_tabs(out, depth + 2);
	tt_str_addf(out, "bgcolor=\"%s\" color=\"%s\" label=", colors[kind].fill,
		    colors[kind].line);
	add_quoted(out, tt_graph_string(node, TT_KEY_NAME));
	tt_str_addc(out, '\n');
}

tt_status tt_query_dot(struct tt_str *out, const struct tt_graph *graph)
{
	size_t depth = 0, clusters = 0;

	tt_str_adds(
		out,
		"digraph {\n\tgraph [fontname=\"DejaVu Sans Mono\" fontsize=10 rankdir=TB]\n"
		"\tnode [fontname=\"DejaVu Sans Mono\" fontsize=10 height=0.2 margin=\"0.08,0.04\" "
		"shape=box style=filled]\n\tedge [color=\"#555555\"]\n");
	for (size_t i = 0; i < graph->count; i++) {
		const struct tt_graph_node *node = &graph->nodes[i];

		if (node->type == TT_GRAPH_FUNCTION_START)
			open_cluster(out, node, clusters++, depth++);
		add_node(out, node, i, depth);
		if (node->type == TT_GRAPH_FUNCTION_END && depth) {
			add_tabs(out, depth--);
			tt_str_adds(out, "}\n");
		}
	}
	if (depth)
		return tt_fail(TTNN_INVALID, "%zu functions have not ended", depth);
	for (size_t i = 0; i < graph->count; i++)
		for (uint32_t k = 0; k < graph->nodes[i].connection_count; k++)
			tt_str_addf(out, "\tnode_%zu -> node_%u\n", i,
				    graph->nodes[i].connections[k]);
	tt_str_adds(out, "}\n");
	return tt_str_status(out);
}
