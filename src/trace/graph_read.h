/*
 * graph_read.h: the reader of graphs and reports in JSON, in memory that does not grow with their length. Three take what
 * it finds: tt_graph_take() keeps all nodes, stream_json.c none, and the importer (report/source_json.c) notes where
 * parts and nodes lie, to read them in an order of its own.
 */
#ifndef TT_TRACE_GRAPH_READ_H
#define TT_TRACE_GRAPH_READ_H

#include "base/jsonslice.h"
#include "trace/graph.h"

/* The parts, by their names in files. The last is for a file's own needs. */
#define TT_GRAPH_PARTS(X)                                                                          \
	X(VERSION, "version")                                                                      \
	X(METADATA, "metadata")                                                                    \
	X(DEVICES, "devices")                                                                      \
	X(GRAPH, "graph")                                                                          \
	X(PYTHON_IO, "python_io")                                                                  \
	X(COMPARISONS, "comparison_records")                                                       \
	X(OPERATION_BUFFERS, "per_operation_buffers")                                              \
	X(PAGES_BY_ADDRESS, "buffer_pages_by_address")                                             \
	X(PAGES, "buffer_pages")                                                                   \
	X(CLUSTER, "cluster_descriptor")                                                           \
	X(MESH, "mesh_coordinate_mapping")

enum tt_graph_part {
#define X(name, key) TT_GRAPH_PART_##name,
	TT_GRAPH_PARTS(X)
#undef X
		TT_GRAPH_PART_COUNT,
};

/* The parts of a file as they come. */
struct tt_graph_file {
	struct tt_jsonslice *slices; /* at the part that was given last */
	enum tt_json_kind root;      /* TT_JSON_ABSENT: no container */
	bool begun;
};

/* Goes to the one value of a file; false: there is none, or no JSON. The slices stay the caller's. */
bool tt_graph_file_begin(struct tt_graph_file *file, struct tt_jsonslice *slices);

/* The next part: a list has one, which is itself the graph. False behind the last, and after errors. */
bool tt_graph_file_next(enum tt_graph_part *out, struct tt_graph_file *file);

/* Passes over what is left; what follows the value is an error. */
tt_status tt_graph_file_end(struct tt_graph_file *file);

/* Nodes one by one. All zero but graph, name and most is one to begin with; close it in the end. */
struct tt_graph_reader {
	struct tt_graph *graph; /* where nodes are put */
	const char *name;       /* of the file; borrowed */
	size_t most;            /* nodes that there may be; 0: any number */
	size_t before;          /* nodes that were taken out of the graph again */
	bool typed;             /* params with integers or null were seen: not dialect `seed` */
	bool levelled;          /* a node said its level */
	int32_t depth;          /* of the functions that are open, while none did */
	uint64_t bank;          /* bytes of L1 that a core has, if a part that was passed says so */
	struct tt_graph_file file;
};

/* Goes to the nodes of the text, else of the file of that name; again, if it was at some already. */
tt_status tt_graph_reader_open(struct tt_graph_reader *r, const char *text, size_t length);

/* Adds the next node to the graph. Whether the nodes it is connected with exist is not looked at. */
tt_status tt_graph_reader_next(bool *there, struct tt_graph_reader *r);

/*
 * For who has the parts of a report otherwise: its devices, a node, and what can be told only when all nodes are known
 * and kept (whether those exist that they name, their levels, the dialect).
 */
void tt_graph_reader_devices(struct tt_graph_reader *r, const struct tt_json *devices);
tt_status tt_graph_reader_add(struct tt_graph_reader *r, const struct tt_json *node);
tt_status tt_graph_reader_finish(struct tt_graph_reader *r);

/* Behind the last node: what follows is to be JSON, too, and may tell of devices. */
tt_status tt_graph_reader_end(struct tt_graph_reader *r);

/* All zero is fine. */
void tt_graph_reader_close(struct tt_graph_reader *r);

/* Old graphs have no levels: they follow from the order. For each node, in order. */
void tt_graph_read_level(struct tt_graph_reader *r, struct tt_graph_node *node);

#endif
