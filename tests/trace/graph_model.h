/*
 * graph_model.h: graph capture as its rules say, in the plainest way: a listener that turns events into
 * nodes while they happen. It shares nothing with the recorder, the reader and the projection that the
 * library makes graphs with. Include it after test.h.
 *
 * The rules. "Hang" is to append a node to the connections of the innermost open function, or of node 0.
 *	function_start  is connected from the function_end before it, if no other start came between; hung;
 *	                then each tensor that it takes is mentioned and connected to it.
 *	function_end    hung on its start, has its level; each tensor it gives is mentioned and connected.
 *	mention         a tensor node (seed: one for each id; tt-metal: a new one each time), without being
 *	                hung; then the node of its buffer, if it owns one, connected to the tensor.
 *	buffer          one for each buffer, made and hung where it is first seen.
 *	allocate, free  connected to the buffer's node; hung.
 *	program memory  hung. Its release: connected to the innermost function, and hung on it. Seed: also
 *	                when a program is launched of whose memory nothing was told since its release.
 *	error (seed)    hung, one level deeper.
 *	capture_end     connected from the last function_end, if no start came after it; else from node 0.
 */
#ifndef TT_TESTS_OPS_GRAPH_MODEL_H
#define TT_TESTS_OPS_GRAPH_MODEL_H

#include "event/event.h"

#define MODEL_NODES 16384
#define MODEL_DEPTH 64

struct model_list {
	uint32_t *items;
	size_t count, room;
};

struct model_node {
	const char *type;
	const char *name;
	int level;
	struct model_list connections, inputs;
};

struct model {
	struct tt_event_listener listener;
	bool metal; /* the dialect */
	bool dry;   /* nothing is dispatched */
	struct model_node nodes[MODEL_NODES];
	uint32_t count;
	uint32_t open[MODEL_DEPTH]; /* starts of functions that are written */
	int depth;
	struct {
		bool written;
		enum tt_scope_kind kind;
	} scopes[MODEL_DEPTH]; /* all of them */
	int scope_count;
	int64_t last_end;
	uint64_t buffers[MODEL_NODES], tensors[MODEL_NODES]; /* by node: the id it stands for */
	bool managed, overflow;
	bool told_memory; /* of the program that is launched next */
};

static inline void model_append(struct model_list *list, uint32_t item)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 4;
		list->items = realloc(list->items, list->room * sizeof(*list->items));
		if (!list->items)
			abort();
	}
	list->items[list->count++] = item;
}

static inline void model_connect(struct model *m, uint32_t from, uint32_t to)
{
	model_append(&m->nodes[from].connections, to);
}

static inline uint32_t model_top(const struct model *m)
{
	return m->depth ? m->open[m->depth - 1] : 0;
}

static inline uint32_t model_add(struct model *m, const char *type)
{
	if (m->count == MODEL_NODES) {
		m->overflow = true;
		m->count--;
	}
	m->nodes[m->count] = (struct model_node){.type = type, .name = "", .level = m->depth};
	return m->count++;
}

static inline uint32_t model_hang(struct model *m, const char *type)
{
	uint32_t node = model_add(m, type);

	model_connect(m, model_top(m), node);
	return node;
}

/* Ids are never 0 but a tensor's may be: so they are kept plus one. */
static inline uint32_t model_find(const uint64_t *ids, uint32_t count, uint64_t id)
{
	for (uint32_t i = count; i-- > 0;)
		if (ids[i] == id + 1)
			return i;
	return 0;
}

static inline uint32_t model_buffer(struct model *m, uint64_t id)
{
	uint32_t node = model_find(m->buffers, m->count, id);

	if (!node) {
		node = model_hang(m, "buffer");
		m->buffers[node] = id + 1;
	}
	return node;
}

static inline uint32_t model_mention(struct model *m, const struct tt_event_tensor *tensor)
{
	uint32_t node = m->metal ? 0 : model_find(m->tensors, m->count, tensor->id);

	if (!node) {
		node = model_add(m, "tensor");
		m->tensors[node] = tensor->id + 1;
	}
	if (tensor->on_device && tensor->owns && tensor->buffer_id)
		model_connect(m, model_buffer(m, tensor->buffer_id), node);
	return node;
}

/* ---- functions ------------------------------------------------------------------------------------------- */

/*
 * seed writes what C++ runs, and gives up of a tensor as the end of its buffer alone; tt-metal writes
 * calls from Python, device operations, new tensors and host steps.
 */
static inline bool model_writes(const struct model *m, const struct tt_event_scope_begin *scope)
{
	if (m->metal)
		return scope->kind != TT_SCOPE_OPERATION && scope->kind != TT_SCOPE_PRIM;
	return scope->kind != TT_SCOPE_FRONTEND && strcmp(scope->name, "Tensor::deallocate") != 0;
}

static inline bool model_takes(const struct model *m, enum tt_scope_kind kind)
{
	if (m->metal)
		return kind == TT_SCOPE_DEVICE_OP || kind == TT_SCOPE_HOST;
	return kind == TT_SCOPE_OPERATION || kind == TT_SCOPE_PRIM || kind == TT_SCOPE_HOST;
}

static inline const char *model_name(const struct model *m,
				     const struct tt_event_scope_begin *scope)
{
	if (!m->metal && scope->kind == TT_SCOPE_DEVICE_OP)
		return "Device Operation";
	if (!m->metal && scope->kind == TT_SCOPE_CREATE)
		return "create_device_tensor";
	return scope->name;
}

static inline void model_start(struct model *m, const struct tt_event_scope_begin *scope)
{
	bool written = model_writes(m, scope);
	uint32_t node;

	if (m->scope_count == MODEL_DEPTH)
		abort();
	m->scopes[m->scope_count].kind = scope->kind;
	m->scopes[m->scope_count++].written = written;
	if (!written)
		return;
	node = model_add(m, "function_start");
	m->nodes[node].level = m->depth + 1;
	m->nodes[node].name = model_name(m, scope);
	if (m->last_end >= 0)
		model_connect(m, (uint32_t)m->last_end, node);
	m->last_end = -1;
	model_connect(m, model_top(m), node);
	m->open[m->depth++] = node;
	for (size_t i = 0; model_takes(m, scope->kind) && i < scope->input_count; i++) {
		uint32_t tensor = model_mention(m, &scope->inputs[i]);

		model_connect(m, tensor, node);
		model_append(&m->nodes[node].inputs, tensor);
	}
}

static inline void model_end(struct model *m, const struct tt_event_scope_end *end)
{
	bool outputs;
	uint32_t node;

	if (!m->scope_count || !m->scopes[--m->scope_count].written)
		return;
	outputs = m->scopes[m->scope_count].kind != TT_SCOPE_FRONTEND;
	node = model_hang(m, "function_end");
	m->nodes[node].name = m->nodes[model_top(m)].name;
	m->nodes[node].level = m->nodes[model_top(m)].level;
	m->last_end = node;
	for (size_t i = 0; outputs && i < end->output_count; i++)
		model_connect(m, node, model_mention(m, &end->outputs[i]));
	m->depth--;
}

/* ---- the rest -------------------------------------------------------------------------------------------- */

static inline void model_memory(struct model *m, enum tt_program_memory_kind kind)
{
	static const char *const types[] = {
		[TT_MEMORY_CIRCULAR_BUFFER] = "circular_buffer_allocate",
		[TT_MEMORY_DATAFLOW_BUFFER] = "dataflow_buffer_allocate",
		[TT_MEMORY_SCRATCHPAD] = "scratchpad_allocate",
	};

	/* For dry captures inside real ones: no model is one. */
	if (kind == TT_MEMORY_PLANNED)
		return;
	m->told_memory = true;
	/* The release tells of the other kinds only where nothing is dispatched. */
	if (!m->metal)
		model_hang(m, types[0]);
	else if (m->dry || kind == TT_MEMORY_CIRCULAR_BUFFER)
		model_hang(m, types[kind]);
}

static inline void model_hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct model *m = (struct model *)self;
	uint32_t node, buffer;

	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		model_start(m, &event->begin);
		break;
	case TT_EVENT_SCOPE_END:
		model_end(m, &event->end);
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_FREE:
		buffer = model_buffer(m, event->buffer.buffer_id);
		node = model_hang(m, event->kind == TT_EVENT_BUFFER_ALLOC ? "buffer_allocate"
									  : "buffer_deallocate");
		model_connect(m, node, buffer);
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		model_memory(m, event->memory.kind);
		break;
	case TT_EVENT_PROGRAM_RELEASE:
		node = model_hang(m, "circular_buffer_deallocate_all");
		model_connect(m, node, model_top(m));
		m->told_memory = false;
		break;
	case TT_EVENT_PROGRAM:
		for (size_t i = 0; i < event->program.memory.count; i += TT_MEMORY_VALUES)
			if (!m->metal && !m->told_memory)
				model_hang(m, "circular_buffer_allocate");
		m->told_memory = false;
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		if (m->metal && !m->managed)
			model_hang(m, "sub_device_manager");
		m->managed = true;
		if (m->metal)
			model_hang(m, "program_execution");
		break;
	case TT_EVENT_ERROR:
		if (!m->metal)
			m->nodes[model_hang(m, "error")].level++;
		break;
	default:
		break;
	}
}

/* A model of a capture that begins now; free it with model_free(). */
static inline struct model *model_new(bool metal, bool dry)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->listener.emit = model_hear;
	m->metal = metal;
	m->dry = dry;
	m->last_end = -1;
	model_add(m, "capture_start");
	return m;
}

static inline void model_finish(struct model *m)
{
	uint32_t node = model_add(m, "capture_end");

	m->nodes[node].level = 0;
	model_connect(m, m->last_end >= 0 ? (uint32_t)m->last_end : 0, node);
}

static inline void model_free(struct model *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		free(m->nodes[i].connections.items);
		free(m->nodes[i].inputs.items);
	}
	free(m);
}

#endif
