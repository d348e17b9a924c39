/*
 * stream_json.c: the nodes of a graph in JSON, of whoever wrote it. They hold their connections themselves; the
 * file is read a first time to find what is wrong with it, and what is known at its end alone.
 */
#include <string.h>

#include "base/deadline.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/spill.h"
#include "trace/graph_read.h"
#include "trace/stream.h"

/* A reference to a node that was not there yet. */
struct ahead {
	uint32_t node, to;
};

struct json {
	struct tt_stream stream;
	const char *text; /* NULL: the file */
	size_t length;
	struct tt_graph graph; /* one node */
	struct tt_graph_reader reader;
	uint32_t edge;
	struct tt_spill *made;
	struct tt_chip_list chips;
	TT_VEC(struct ahead) aheads; /* by number of the node they lead to */
	size_t passed;               /* of them: those that have come */
	/* With a course: kinds of nodes, buffers that nodes allocate, those that were there. */
	struct tt_course course;
	struct tt_course_maker maker;
	struct tt_paged buffers, born; /* node → 1 */
	TT_VEC(struct tt_event_buffer) theres;
	bool known; /* all of them, as all nodes tell of them */
	/* Texts of shapes: of tensors, and of the first tensor in a buffer, by node, as places in `shapes` + 1. */
	struct tt_map shapes;
	struct tt_paged tensor_shapes, buffer_shapes;
};

/* ---- reading ---------------------------------------------------------------------------------------- */

static tt_status find_nodes(struct json *j)
{
	TT_TRY(tt_graph_reader_open(&j->reader, j->text, j->length));
	j->stream.facts.bank = j->reader.bank;
	return TTNN_OK;
}

/* The next node, alone in the graph. */
static tt_status read_node(bool *there, struct json *j)
{
	j->reader.before += j->graph.count;
	j->graph.count = 0;
	tt_arena_reset(&j->graph.arena);
	tt_map_clear(&j->graph.texts);
	TT_TRY(tt_graph_reader_next(there, &j->reader));
	if (!*there)
		return TTNN_OK;
	tt_graph_read_level(&j->reader, &j->graph.nodes[0]);
	if (j->reader.before % 4096)
		return TTNN_OK;
	tt_deadline_poll();
	return tt_deadline_check();
}

/* ---- the first time --------------------------------------------------------------------------------- */

/* Of references beyond the nodes so far those are kept that are higher than all before. */
static tt_status note_references(struct json *j, uint32_t number, const uint32_t *to,
				 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ahead *last =
			j->aheads.count ? &j->aheads.data[j->aheads.count - 1] : NULL;
		struct ahead *slot;

		if (to[i] <= number || (last && to[i] <= last->to))
			continue;
		slot = TT_VEC_PUSH(&j->aheads);
		if (!slot)
			return tt_fail_nomem();
		*slot = (struct ahead){number, to[i]};
	}
	return TTNN_OK;
}

/* Those that have come are not ahead any more. */
static void pass_references(struct json *j, uint32_t number)
{
	while (j->passed < j->aheads.count && j->aheads.data[j->passed].to <= number)
		j->passed++;
	/* Half of them at a time: each is moved once. */
	if (!j->passed || j->passed < j->aheads.count - j->passed)
		return;
	j->aheads.count -= j->passed;
	memmove(j->aheads.data, j->aheads.data + j->passed,
		j->aheads.count * sizeof(*j->aheads.data));
	j->passed = 0;
}

static tt_status note_chip(struct json *j, const struct tt_graph_node *node)
{
	uint64_t id = 0;

	return tt_graph_number(&id, node, TT_KEY_DEVICE_ID)
		       ? tt_chip_list_note(&j->chips, (uint32_t)id)
		       : TTNN_OK;
}

static tt_status mark(struct tt_paged *nodes, uint32_t node)
{
	uint32_t *slot;

	TT_TRY(tt_paged_at(&slot, nodes, node));
	*slot = 1;
	return TTNN_OK;
}

static tt_status is_marked(bool *marked, struct tt_paged *nodes, uint32_t node)
{
	uint32_t *slot;

	TT_TRY(tt_paged_at(&slot, nodes, node));
	*marked = *slot;
	return TTNN_OK;
}

static tt_status look_at(struct json *j, const struct tt_graph_node *node, uint32_t number)
{
	TT_TRY(note_references(j, number, node->connections, node->connection_count));
	TT_TRY(note_references(j, number, node->inputs, node->input_count));
	pass_references(j, number);
	if (node->type == TT_GRAPH_FUNCTION_END || node->type == TT_GRAPH_BUFFER_ALLOCATE)
		for (uint32_t i = 0; i < node->connection_count; i++)
			tt_spill_add(j->made, node->connections[i], 0);
	if (node->type == TT_GRAPH_CB_ALLOCATE)
		TT_TRY(note_chip(j, node));
	if (node->type == TT_GRAPH_CAPTURE_END)
		j->stream.facts.duration_ns = node->duration;
	if (j->stream.course && node->type == TT_GRAPH_BUFFER)
		TT_TRY(mark(&j->buffers, number));
	if (j->stream.course && node->type == TT_GRAPH_BUFFER_ALLOCATE && node->connection_count)
		TT_TRY(mark(&j->born, node->connections[0]));
	return TTNN_OK;
}

static tt_status read_first(struct json *j)
{
	bool there = true;

	TT_TRY(find_nodes(j));
	for (uint32_t number = 0;; number++) {
		TT_TRY(read_node(&there, j));
		if (!there) {
			j->stream.facts.nodes = number;
			break;
		}
		TT_TRY(look_at(j, &j->graph.nodes[0], number));
	}
	TT_TRY(tt_graph_reader_end(&j->reader));
	j->stream.facts.bank = j->reader.bank;
	if (j->passed < j->aheads.count)
		return tt_fail(TTNN_FORMAT, "%s: node %u: there is no node %u", j->reader.name,
			       j->aheads.data[j->passed].node, j->aheads.data[j->passed].to);
	j->stream.facts.dialect = j->reader.typed ? TTNN_DIALECT_TT_METAL : TTNN_DIALECT_SEED;
	j->stream.facts.chips = j->chips.data;
	j->stream.facts.chip_count = j->chips.count;
	return TTNN_OK;
}

/* Buffers that no node allocates were there before, wherever they are mentioned first. */
static tt_status read_unborn(struct json *j)
{
	bool there = true, born;

	TT_TRY(find_nodes(j));
	for (uint32_t number = 0;; number++) {
		struct tt_event_buffer *slot;

		TT_TRY(read_node(&there, j));
		if (!there)
			return TTNN_OK;
		if (j->graph.nodes[0].type != TT_GRAPH_BUFFER)
			continue;
		TT_TRY(is_marked(&born, &j->born, number));
		if (born)
			continue;
		slot = TT_VEC_PUSH(&j->theres);
		if (!slot)
			return tt_fail_nomem();
		*slot = tt_course_read_buffer(&j->graph.nodes[0], number);
	}
}

/* ---- the nodes -------------------------------------------------------------------------------------- */

/* What the course knows before the second node comes: the first one lists what was there. */
static tt_status start_course(struct json *j)
{
	if (!j->known)
		TT_TRY(tt_course_read_start(&j->maker, &j->graph.nodes[0], j->stream.facts.nodes));
	for (size_t i = 0; i < j->theres.count; i++) {
		TT_TRY(tt_course_there(&j->maker, &j->theres.data[i]));
		if (j->theres.data[i].buffer_id <= j->stream.facts.nodes)
			TT_TRY(tt_course_name(&j->maker, j->theres.data[i].buffer_id,
					      (uint32_t)(j->theres.data[i].buffer_id - 1)));
	}
	return TTNN_OK;
}

static tt_status restart(struct tt_stream *stream)
{
	struct json *j = (struct json *)stream;
	bool there;

	TT_TRY(tt_spill_sort(j->made));
	if (stream->course) {
		tt_course_maker_deinit(&j->maker);
		tt_course_deinit(&j->course);
		memset(&j->course, 0, sizeof(j->course));
		memset(&j->maker, 0, sizeof(j->maker));
		j->maker.course = &j->course;
		j->maker.device_id = TT_COURSE_NONE;
		j->maker.again = j->maker.passing = true;
		TT_TRY(find_nodes(j));
		TT_TRY(read_node(&there, j));
		if (there)
			TT_TRY(start_course(j));
		j->course.bank = stream->facts.bank;
	}
	return find_nodes(j);
}

/* A buffer has the shape of the first tensor it leads to: all are known when nodes are counted. */
static tt_status note_shape(struct json *j, const struct tt_graph_node *node, uint32_t number)
{
	const char *text = tt_graph_string(node, TT_KEY_SHAPE);
	struct tt_map_entry *entry;
	uint32_t *slot, shape;

	if (node->type == TT_GRAPH_TENSOR) {
		entry = tt_map_add(&j->shapes, text, strlen(text), NULL);
		if (!entry)
			return tt_fail_nomem();
		TT_TRY(tt_paged_at(&slot, &j->tensor_shapes, number));
		*slot = (uint32_t)(entry - j->shapes.entries) + 1;
	} else if (node->type == TT_GRAPH_BUFFER) {
		for (uint32_t i = 0; i < node->connection_count; i++) {
			TT_TRY(tt_paged_at(&slot, &j->tensor_shapes, node->connections[i]));
			if (!*slot)
				continue;
			shape = *slot;
			TT_TRY(tt_paged_at(&slot, &j->buffer_shapes, number));
			*slot = shape;
			return TTNN_OK;
		}
	}
	return TTNN_OK;
}

static tt_status follow(struct json *j, const struct tt_graph_node *node, uint32_t number)
{
	int64_t of = node->connection_count ? (int64_t)node->connections[0] : -1;
	bool buffer = false;

	if (of >= 0)
		TT_TRY(is_marked(&buffer, &j->buffers, (uint32_t)of));
	of = buffer ? of : -1;
	TT_TRY(note_shape(j, node, number));
	return tt_course_read_node(&j->maker, node, number, of);
}

static tt_status next(struct tt_stream *stream, bool *there)
{
	struct json *j = (struct json *)stream;

	TT_TRY(read_node(there, j));
	if (!*there)
		return tt_spill_status(j->made);
	stream->node = j->graph.nodes[0];
	j->edge = 0;
	return stream->course ? follow(j, &j->graph.nodes[0], stream->handed) : TTNN_OK;
}

static bool next_edge(uint32_t *to, struct tt_stream *stream)
{
	struct json *j = (struct json *)stream;

	if (j->edge == stream->node.connection_count)
		return false;
	*to = stream->node.connections[j->edge++];
	return true;
}

static bool is_made(struct tt_stream *stream)
{
	uint32_t unused;

	return tt_spill_next(&unused, ((struct json *)stream)->made, stream->handed - 1);
}

static tt_status add_shape(struct tt_str *out, struct tt_stream *stream,
			   const struct tt_course_buffer *buffer)
{
	struct json *j = (struct json *)stream;
	uint32_t *shape;

	if (buffer->node == TT_COURSE_NONE)
		return TTNN_OK;
	TT_TRY(tt_paged_at(&shape, &j->buffer_shapes, buffer->node));
	if (*shape)
		tt_str_add(out, j->shapes.entries[*shape - 1].key,
			   j->shapes.entries[*shape - 1].length);
	return tt_str_status(out);
}

static void close_json(struct tt_stream *stream)
{
	struct json *j = (struct json *)stream;

	tt_graph_reader_close(&j->reader);
	tt_graph_deinit(&j->graph);
	tt_spill_free(j->made);
	TT_VEC_DEINIT(&j->chips);
	TT_VEC_DEINIT(&j->aheads);
	TT_VEC_DEINIT(&j->theres);
	tt_course_maker_deinit(&j->maker);
	tt_course_deinit(&j->course);
	tt_paged_deinit(&j->buffers);
	tt_paged_deinit(&j->born);
	tt_paged_deinit(&j->tensor_shapes);
	tt_paged_deinit(&j->buffer_shapes);
	tt_map_deinit(&j->shapes);
	tt_free(j);
}

/* What was there before, as it is known at the end: also what is freed before it is allocated again. */
static tt_status keep_theres(struct json *j)
{
	j->theres.count = 0;
	for (size_t i = 0; i < j->maker.theres.count; i++) {
		struct tt_event_buffer *slot = TT_VEC_PUSH(&j->theres);

		if (!slot)
			return tt_fail_nomem();
		*slot = tt_course_told(&j->maker.theres.data[i]);
	}
	j->known = true;
	return TTNN_OK;
}

/* How many buffers take nobody knows what of a bank: all of them have to have come for that. */
static tt_status count_shareless(struct json *j)
{
	struct tt_course_step unused;
	bool there = true;

	TT_TRY(restart(&j->stream));
	j->stream.handed = 0;
	while (there) {
		TT_TRY(next(&j->stream, &there));
		j->stream.handed += there;
		while (tt_course_step(&unused, &j->maker, UINT32_MAX))
			;
	}
	j->stream.handed = 0;
	j->stream.facts.shareless = j->maker.shareless;
	return keep_theres(j);
}

static tt_status start(struct json *j)
{
	TT_TRY(tt_spill_new(&j->made));
	TT_TRY(read_first(j));
	if (j->stream.course) {
		TT_TRY(read_unborn(j));
		TT_TRY(count_shareless(j));
	}
	return restart(&j->stream);
}

tt_status tt_stream_of_json(struct tt_stream **out, const char *path,
			    const struct tt_stream_text *text, bool course)
{
	static const struct tt_stream_kind kind = {next,    next_edge, is_made,
						   restart, add_shape, close_json};
	struct json *j = tt_calloc(1, sizeof(*j));
	tt_status status;

	if (!j)
		return tt_fail_nomem();
	j->stream.kind = &kind;
	j->stream.keys = &j->graph;
	j->stream.course = course ? &j->maker : NULL;
	j->reader = (struct tt_graph_reader){.graph = &j->graph, .name = path};
	j->text = text ? text->data : NULL;
	j->length = text ? text->size : 0;
	status = start(j);
	if (status == TTNN_OK)
		*out = &j->stream;
	else
		tt_stream_close(&j->stream);
	return status;
}
