/* stream.c: what all streams have in common, and those of graphs in memory. */
#include "trace/stream.h"

#include <string.h>

#include "base/mem.h"
#include "trace/query.h"

tt_status tt_stream_next(const struct tt_graph_node **out, struct tt_stream *stream)
{
	bool there = false;

	*out = NULL;
	stream->at = &stream->node;
	TT_TRY(stream->kind->next(stream, &there));
	if (!there)
		return TTNN_OK;
	stream->handed++;
	*out = stream->at;
	return TTNN_OK;
}

bool tt_stream_edge(uint32_t *to, struct tt_stream *stream)
{
	return stream->kind->edge(to, stream);
}

bool tt_stream_made(struct tt_stream *stream)
{
	if (stream->at->type != TT_GRAPH_TENSOR && stream->at->type != TT_GRAPH_BUFFER)
		return true;
	return stream->kind->made(stream);
}

tt_status tt_stream_restart(struct tt_stream *stream)
{
	stream->handed = 0;
	return stream->kind->restart(stream);
}

const struct tt_stream_facts *tt_stream_facts(const struct tt_stream *stream)
{
	return &stream->facts;
}

bool tt_stream_step(struct tt_course_step *out, struct tt_stream *stream, uint32_t before)
{
	return tt_course_step(out, stream->course, before);
}

const struct tt_course *tt_stream_course(const struct tt_stream *stream)
{
	return stream->course->course;
}

tt_status tt_stream_shape(struct tt_str *out, struct tt_stream *stream,
			  const struct tt_course_buffer *buffer)
{
	return stream->kind->shape(out, stream, buffer);
}

void tt_stream_close(struct tt_stream *stream)
{
	if (stream)
		stream->kind->close(stream);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static bool next_edge(uint32_t *to, void *context)
{
	return tt_stream_edge(to, context);
}

void tt_stream_write_node(struct tt_jsonw *w, struct tt_stream *stream,
			  const struct tt_graph_node *node)
{
	tt_graph_write_node(w, stream->keys, node, &(struct tt_graph_edges){next_edge, stream});
}

tt_status tt_stream_write(struct tt_jsonw *w, struct tt_stream *stream)
{
	const struct tt_graph_node *node;

	tt_jsonw_array(w);
	for (;;) {
		TT_TRY(tt_stream_next(&node, stream));
		if (!node)
			break;
		tt_stream_write_node(w, stream, node);
	}
	tt_jsonw_end(w);
	return TTNN_OK;
}

/* ---- graphs in memory ------------------------------------------------------------------------------ */

struct whole {
	struct tt_stream stream;
	const struct tt_graph *graph;
	uint32_t edge;
	bool *made;
	struct tt_chip_list chips;
	struct tt_course read; /* of a graph that has no course */
	struct tt_course_maker maker;
};

static tt_status whole_next(struct tt_stream *stream, bool *there)
{
	struct whole *whole = (struct whole *)stream;

	whole->edge = 0;
	*there = stream->handed < whole->graph->count;
	if (*there)
		stream->node = whole->graph->nodes[stream->handed];
	return TTNN_OK;
}

static bool whole_edge(uint32_t *to, struct tt_stream *stream)
{
	struct whole *whole = (struct whole *)stream;

	if (whole->edge == stream->node.connection_count)
		return false;
	*to = stream->node.connections[whole->edge++];
	return true;
}

static bool whole_made(struct tt_stream *stream)
{
	return ((struct whole *)stream)->made[stream->handed - 1];
}

static tt_status whole_restart(struct tt_stream *stream)
{
	((struct whole *)stream)->maker.taken = 0;
	return TTNN_OK;
}

/* The first tensor that a buffer's node is connected with. */
static tt_status whole_shape(struct tt_str *out, struct tt_stream *stream,
			     const struct tt_course_buffer *buffer)
{
	const struct tt_graph *graph = ((struct whole *)stream)->graph;
	const struct tt_graph_node *node =
		buffer->node < graph->count ? &graph->nodes[buffer->node] : NULL;

	for (uint32_t i = 0; node && i < node->connection_count; i++) {
		const struct tt_graph_node *tensor = &graph->nodes[node->connections[i]];

		if (tensor->type != TT_GRAPH_TENSOR)
			continue;
		tt_str_adds(out, tt_graph_string(tensor, TT_KEY_SHAPE));
		return tt_str_status(out);
	}
	return TTNN_OK;
}

static void whole_close(struct tt_stream *stream)
{
	struct whole *whole = (struct whole *)stream;

	tt_free(whole->made);
	TT_VEC_DEINIT(&whole->chips);
	tt_course_deinit(&whole->read);
	tt_free(whole);
}

static void find_made(struct whole *whole)
{
	for (size_t i = 0; i < whole->graph->count; i++) {
		const struct tt_graph_node *node = &whole->graph->nodes[i];

		if (node->type != TT_GRAPH_FUNCTION_END && node->type != TT_GRAPH_BUFFER_ALLOCATE)
			continue;
		for (uint32_t k = 0; k < node->connection_count; k++)
			whole->made[node->connections[k]] = true;
	}
}

/* The chips that nodes of circular buffers name. */
static tt_status find_chips(struct whole *whole)
{
	uint64_t id = 0;

	for (size_t i = 0; i < whole->graph->count; i++) {
		const struct tt_graph_node *node = &whole->graph->nodes[i];

		if (node->type == TT_GRAPH_CB_ALLOCATE &&
		    tt_graph_number(&id, node, TT_KEY_DEVICE_ID))
			TT_TRY(tt_chip_list_note(&whole->chips, (uint32_t)id));
	}
	whole->stream.facts.chips = whole->chips.data;
	whole->stream.facts.chip_count = whole->chips.count;
	return TTNN_OK;
}

static tt_status find_course(struct whole *whole)
{
	const struct tt_graph *graph = whole->graph;

	whole->stream.course = &whole->maker;
	whole->maker.course = graph->course;
	if (!graph->course) {
		TT_TRY(tt_course_read(&whole->read, graph));
		whole->maker.course = &whole->read;
	}
	for (size_t i = 0; i < whole->maker.course->buffers.count; i++)
		whole->stream.facts.shareless +=
			tt_course_is_shareless(&whole->maker.course->buffers.data[i]);
	whole->stream.facts.bank = whole->maker.course->bank;
	return TTNN_OK;
}

tt_status tt_stream_of_graph(struct tt_stream **out, const struct tt_graph *graph, bool course)
{
	static const struct tt_stream_kind kind = {whole_next,    whole_edge,  whole_made,
						   whole_restart, whole_shape, whole_close};
	struct whole *whole = tt_calloc(1, sizeof(*whole));
	tt_status status = TTNN_OK;

	if (!whole)
		return tt_fail_nomem();
	whole->stream.kind = &kind;
	whole->stream.keys = whole->graph = graph;
	whole->stream.facts.nodes = graph->count;
	whole->stream.facts.dialect = graph->dialect;
	whole->stream.facts.duration_ns = tt_query_duration(graph);
	whole->made = tt_calloc(graph->count + 1, sizeof(*whole->made));
	if (!whole->made)
		status = tt_fail_nomem();
	else
		find_made(whole);
	if (status == TTNN_OK)
		status = find_chips(whole);
	if (status == TTNN_OK && course)
		status = find_course(whole);
	if (status == TTNN_OK)
		*out = &whole->stream;
	else
		tt_stream_close(&whole->stream);
	return status;
}
