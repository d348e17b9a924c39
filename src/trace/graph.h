/*
 * graph.h: a captured graph: what end_graph_capture() gives and what graph JSON holds.
 *
 * A graph is an array of nodes; connections and inputs are numbers of nodes. It comes from a
 * projection of events (project.h) or from JSON that anyone wrote (tt_graph_load). Queries (query.h),
 * pictures and reports read it; the writers here give the JSON back, item by item as it was.
 *
 * Texts are interned and belong to the graph, as does everything else: freed together. Keys of params
 * are numbers, so that finding one compares integers; keys nobody knows get further numbers.
 * A million nodes take about 250 bytes each. A graph is not changed by two threads at a time.
 */
#ifndef TT_TRACE_GRAPH_H
#define TT_TRACE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/jsonslice.h"
#include "base/jsonw.h"
#include "base/map.h"

/* The kinds of nodes. To add one: a line here. X(constant, name in JSON) */
#define TT_GRAPH_TYPES(X)                                                                          \
	X(CAPTURE_START, "capture_start")                                                          \
	X(CAPTURE_END, "capture_end")                                                              \
	X(FUNCTION_START, "function_start")                                                        \
	X(FUNCTION_END, "function_end")                                                            \
	X(TENSOR, "tensor")                                                                        \
	X(BUFFER, "buffer")                                                                        \
	X(BUFFER_ALLOCATE, "buffer_allocate")                                                      \
	X(BUFFER_DEALLOCATE, "buffer_deallocate")                                                  \
	X(CB_ALLOCATE, "circular_buffer_allocate")                                                 \
	X(CB_DEALLOCATE_ALL, "circular_buffer_deallocate_all")                                     \
	X(DFB_ALLOCATE, "dataflow_buffer_allocate")                                                \
	X(SCRATCHPAD_ALLOCATE, "scratchpad_allocate")                                              \
	X(SUB_DEVICE_MANAGER, "sub_device_manager")                                                \
	X(PROGRAM_EXECUTION, "program_execution")                                                  \
	X(ERROR, "error")

enum tt_graph_type {
#define X(constant, name) TT_GRAPH_##constant,
	TT_GRAPH_TYPES(X)
#undef X
		TT_GRAPH_OTHER, /* a kind that only JSON of others knows: `type_name` has it */
};

/* The keys of params that are known by name. X(constant, key) */
#define TT_GRAPH_KEYS(X)                                                                           \
	X(NAME, "name")                                                                            \
	X(INPUTS, "inputs")                                                                        \
	X(OPERATION, "operation")                                                                  \
	X(CACHE_HIT, "program_cache_hit")                                                          \
	X(FACTORY_INDEX, "program_factory_index")                                                  \
	X(FACTORY_TYPE, "program_factory_type")                                                    \
	X(ABORTED, "aborted")                                                                      \
	X(ABORT_REASON, "abort_reason")                                                            \
	X(DURATION, "duration_ns")                                                                 \
	X(TENSOR_ID, "tensor_id")                                                                  \
	X(SHAPE, "shape")                                                                          \
	X(DTYPE, "dtype")                                                                          \
	X(LAYOUT, "layout")                                                                        \
	X(MEMORY_CONFIG, "memory_config")                                                          \
	X(DEVICE_ID, "device_id")                                                                  \
	X(ADDRESS, "address")                                                                      \
	X(BUFFER_TYPE, "buffer_type")                                                              \
	X(DEVICE_TENSORS, "device_tensors")                                                        \
	X(STORAGE_TYPE, "storage_type")                                                            \
	X(SIZE, "size")                                                                            \
	X(BUFFERS, "buffers")                                                                      \
	X(THREADS, "threads")                                                                      \
	X(TYPE, "type")                                                                            \
	X(PAGE_SIZE, "page_size")                                                                  \
	X(NUM_CORES, "num_cores")                                                                  \
	X(BANK_SIZE, "max_size_per_bank")                                                          \
	X(CORES, "core_range_set")                                                                 \
	X(GLOBAL, "globally_allocated")                                                            \
	X(BORROWS, "borrows_memory")                                                               \
	X(MANAGER_ID, "sub_device_manager_id")                                                     \
	X(SUB_DEVICES, "sub_devices")                                                              \
	X(SUB_DEVICE_ID, "sub_device_id")                                                          \
	X(QUEUE_ID, "command_queue_id")                                                            \
	X(CALL_COUNT, "global_call_count")                                                         \
	X(PHYSICAL_ID, "physical_device_id")                                                       \
	X(RUNTIME_ID, "runtime_id")                                                                \
	X(WORKER_CORES, "worker_core_ranges")                                                      \
	X(ERROR_TYPE, "error_type")                                                                \
	X(ERROR_MESSAGE, "error_message")                                                          \
	X(ERROR_OPERATION, "error_operation")

enum tt_graph_key {
#define X(constant, key) TT_KEY_##constant,
	TT_GRAPH_KEYS(X)
#undef X
		TT_KEY_COUNT,
};

enum tt_graph_value {
	TT_GRAPH_STRING, /* text, length */
	TT_GRAPH_INT,    /* integer */
	TT_GRAPH_UINT,   /* unsigned, beyond what an int64_t holds */
	TT_GRAPH_BOOL,   /* integer: 0 or 1 */
	TT_GRAPH_RAW,    /* text is JSON: reals, null, lists, objects */
	TT_GRAPH_DIGITS, /* unsigned, written as a text; in streams (stream.h) alone */
};

struct tt_graph_param {
	uint16_t key; /* enum tt_graph_key, or a further number: tt_graph_key_name() */
	uint8_t kind; /* enum tt_graph_value */
	uint32_t length;
	union {
		const char *text; /* zero-terminated, interned */
		int64_t integer;
		uint64_t unsigned_integer;
	};
};

struct tt_pattern; /* pattern.h */

struct tt_graph_node {
	uint8_t type;      /* enum tt_graph_type */
	bool has_duration; /* duration_ns is written */
	bool null_params;  /* no params: null, not {} */
	bool bare;         /* JSON without arguments, input_tensors, stacking_level */
	int32_t level;     /* stacking_level */
	int64_t counter;   /* as written; its number in every graph that is in order */
	uint64_t duration; /* ns */
	uint32_t param_count, connection_count, input_count, argument_count, stack_count;
	struct tt_graph_param *params; /* in the order they are written */
	uint32_t *connections;         /* numbers of nodes; always existing ones */
	uint32_t *inputs;              /* input_tensors, likewise */
	const char **arguments;
	uint64_t arguments_number; /* of a stream: equal numbers, equal arguments; 0: not known */
	const char **stack;        /* stack_trace */
	const char *type_name;     /* of TT_GRAPH_OTHER */
	/*
	 * (optional) Of a stream whose reader wants patterns (pattern.h): its own, and its numbers: the duration, then those
	 * of the params, in their order. It has no params if the reader has made something of that pattern.
	 */
	struct tt_pattern *pattern;
	const int64_t *numbers;
	uint32_t number_count;
	uint32_t thread; /* that it is of, + 1; 0: not said, all are of one */
};

/* What became of device memory, when events told it: trace/course.h. */
struct tt_course;

/* All zero is a valid empty graph. */
struct tt_graph {
	struct tt_graph_node *nodes;
	size_t count, room;
	enum ttnn_dialect dialect; /* how it was written, or is to be */
	struct tt_arena arena;
	struct tt_map texts;      /* interned */
	struct tt_map keys;       /* further keys: number TT_KEY_COUNT + position */
	struct tt_course *course; /* of a projection; NULL: nodes are all there is */
	uint64_t l1_bank; /* bytes of L1 that a core has for buffers and programs; 0: not known */
};

/* ---- making ------------------------------------------------------------------------------------ */

/* A new node at the end, all zero but its counter; NULL when memory is exhausted. */
struct tt_graph_node *tt_graph_add(struct tt_graph *graph, enum tt_graph_type type);

/* Appends a connection from node `from` to node `to`. */
tt_status tt_graph_connect(struct tt_graph *graph, size_t from, size_t to);

/* The graph's own copy of a text, the same for equal texts; NULL when exhausted. */
const char *tt_graph_text(struct tt_graph *graph, const char *text, size_t length);

/* The number of a key, made if nobody had it; -1 when exhausted. */
int tt_graph_key_number(struct tt_graph *graph, const char *key, size_t length);

/* Frees everything; the graph is empty and usable again. */
void tt_graph_deinit(struct tt_graph *graph);

/* ---- reading ------------------------------------------------------------------------------------ */

/*
 * A graph from a file: a list of nodes, or a report, whose member "graph" it is; gzip or plain; any
 * dialect. Refuses connections that lead nowhere. On failure the graph is empty.
 */
tt_status tt_graph_load(struct tt_graph *out, const char *path);

/* The same from a text; `name` stands for the file in messages. */
tt_status tt_graph_parse(struct tt_graph *out, const char *text, size_t length, const char *name);

/* Either of them (without a text: the file `name`), refused with TTNN_UNSUPPORTED when it has more than `most` nodes, if that is not 0. */
tt_status tt_graph_take(struct tt_graph *out, const char *name, const char *text, size_t length,
			size_t most);

/* ---- looking ------------------------------------------------------------------------------------- */

const char *tt_graph_type_name(const struct tt_graph_node *node);
const char *tt_graph_key_name(const struct tt_graph *graph, uint16_t key);

/* The param of this key, or NULL. */
const struct tt_graph_param *tt_graph_find(const struct tt_graph_node *node, uint16_t key);

/* A param as text; "" when absent or no string. */
const char *tt_graph_string(const struct tt_graph_node *node, enum tt_graph_key key);

/* A param as a number: integers, and strings of decimal digits as dialect `seed` has; else false. */
bool tt_graph_number(uint64_t *out, const struct tt_graph_node *node, enum tt_graph_key key);

/* "1", "true" and true. */
bool tt_graph_flag(const struct tt_graph_node *node, enum tt_graph_key key);

/* Whether a function is an operation that a user calls, not a step of one. */
bool tt_graph_is_operation(const struct tt_graph_node *node);
bool tt_graph_names_operation(const char *name, int32_t level);

/* ---- writing -------------------------------------------------------------------------------------- */

/* Where connections come from that a node does not hold itself, one by one. */
struct tt_graph_edges {
	bool (*next)(uint32_t *to, void *context);
	void *context;
};

/* One node, and the whole list: keys in alphabetical order, as upstream writes them. `edges` may be NULL. */
void tt_graph_write_node(struct tt_jsonw *w, const struct tt_graph *graph,
			 const struct tt_graph_node *node, const struct tt_graph_edges *edges);
void tt_graph_write(struct tt_jsonw *w, const struct tt_graph *graph);

/* The list as one text; free with tt_free(). indent 0: compact, without blanks. */
tt_status tt_graph_json(char **out, const struct tt_graph *graph, unsigned indent);

#endif
