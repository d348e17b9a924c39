/*
 * query.h: what people ask of a graph. Each answer is upstream's, also where it is odd: frees of
 * buffers that were born before the capture make unsigned totals wrap in graphs of its dialect
 * (in dialect `seed` they stop at 0), and globally allocated circular buffers count in one peak and
 * not in the other.
 *
 * Nothing here changes a graph. Answers with lists are in an arena of the caller.
 */
#ifndef TT_TRACE_QUERY_H
#define TT_TRACE_QUERY_H

#include "base/str.h"
#include "trace/graph.h"

/* The names of all functions in order; *out in `arena`. */
tt_status tt_query_calltrace(const char *const **out, size_t *count, struct tt_arena *arena,
			     const struct tt_graph *graph);

/* Bytes of L1 at the highest: buffers (whole, all cores) and program memory (of one core). */
uint32_t tt_query_peak_l1(const struct tt_graph *graph);

/* Bytes per core; each peak by itself, and that of the sum. */
struct tt_query_core {
	uint64_t circular, l1, dataflow, scratchpad, total;
};

/*
 * `storage_cores` spreads interleaved buffers in graphs that lack max_size_per_bank; 0: not known,
 * and such a graph is refused. So is one whose counters are not 0, 1, 2, ...
 */
tt_status tt_query_per_core(struct tt_query_core *out, const struct tt_graph *graph,
			    uint32_t storage_cores);

struct tt_query_dram {
	int64_t peak, allocated, freed;
};
struct tt_query_dram tt_query_dram(const struct tt_graph *graph);

/* The numbers of the tensor nodes that the last function with tensors gives, ascending. */
tt_status tt_query_outputs(const uint32_t **out, size_t *count, struct tt_arena *arena,
			   const struct tt_graph *graph);

/* How many tensors create_device_tensor made that are no outputs, and how many outputs there are. */
struct tt_query_counts {
	size_t intermediate, output;
};
tt_status tt_query_counts(struct tt_query_counts *out, const struct tt_graph *graph);

/* An output that lies in a buffer. */
struct tt_query_info {
	const char *shape; /* the node's text: "Shape([1, 32])" */
	uint64_t size;
	bool l1;
};
tt_status tt_query_output_info(const struct tt_query_info **out, size_t *count,
			       struct tt_arena *arena, const struct tt_graph *graph);

/* Nanoseconds of the capture, 0 when it has not ended. */
uint64_t tt_query_duration(const struct tt_graph *graph);

/* ---- levels --------------------------------------------------------------------------------------- */

/* A list of vertices. */
struct tt_query_list {
	uint32_t *items;
	uint32_t count, room;
};

/* A tensor or a function of the levelized graph; its number is its place. */
struct tt_query_vertex {
	uint32_t node;
	int32_t level;
	const char *name; /* "tensor[3]" or the function's */
	const char *const *arguments;
	uint32_t argument_count;
	struct tt_query_list in, out, internals;
	const char *info; /* NULL or the one text of output_info */
	const char **shapes;
	uint32_t shape_count;
};

/* Tensors of level 1 and functions down to `max_level`, with the data that flows between them. */
tt_status tt_query_levels(struct tt_query_vertex **out, size_t *count, struct tt_arena *arena,
			  const struct tt_graph *graph, int32_t max_level);

/*
 * The same of graphs of dialect `tt-metal`, where upstream's answer has no edge between functions: nodes that speak of
 * one tensor count as one (same.h), and a call takes and gives what the calls inside it do. Tensors are vertices if
 * nobody in the graph gave them.
 */
tt_status tt_query_flow(struct tt_query_vertex **out, size_t *count, struct tt_arena *arena,
			const struct tt_graph *graph, int32_t max_level);

/* For both: appends to a list in `arena`; and the shapes of the tensors that a function's end gives, each once. */
tt_status tt_query_push(struct tt_query_list *list, struct tt_arena *arena, uint32_t item);
tt_status tt_query_shapes(struct tt_query_vertex *v, struct tt_arena *arena,
			  const struct tt_graph *graph, uint32_t end);

/* The vertices as upstream's JSON: a list of objects. */
void tt_query_levels_json(struct tt_jsonw *w, const struct tt_query_vertex *vertices, size_t count);

/* ---- text -------------------------------------------------------------------------------------------- */

/*
 * A line for each node, indented. In the form of the graph's dialect: "Begin: ttnn::add" without
 * what was there before, repeats counted; or upstream's "Function Start: ttnn.add", padded. Upstream's
 * refuses kinds of nodes that it has no words for.
 */
tt_status tt_query_pretty(struct tt_str *out, const struct tt_graph *graph);

/* The same of nodes that come one by one, handed on in pieces. */
struct tt_stream;
tt_status tt_query_pretty_stream(struct tt_stream *stream,
				 void (*write)(void *context, const char *text, size_t length),
				 void *context);

/* Appends what a node is about (the name of a function, a tensor's id), if it is about something. */
void tt_query_subject(struct tt_str *out, const char *before, const struct tt_graph_node *node);

/* Graphviz: a cluster for each function, an edge for each connection. Refuses unfinished functions. */
tt_status tt_query_dot(struct tt_str *out, const struct tt_graph *graph);

#endif
