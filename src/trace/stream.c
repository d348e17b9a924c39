#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/session.h"

struct tt_stream {
	struct tt_graph graph;
	struct tt_graph_node node;
	size_t next;
	uint32_t edge;
	struct tt_stream_facts facts;
	TT_VEC(struct tt_project_device) devices;
	TT_VEC(uint32_t) chips;
};

/* The devices of the source. */
static tt_status find_devices(struct tt_stream *stream, struct tt_source *source,
			      const struct tt_project_options *options)
{
	struct tt_project project;
	const struct tt_seen *seen;
	tt_status status = TTNN_OK;

	tt_project_init(&project, options);
	tt_source_rewind(source);
	while (status == TTNN_OK && (status = tt_source_next(&seen, source)) == TTNN_OK && seen) {
		tt_project_event(&project, &seen->event, seen->time_ns, seen->thread);
		if (seen->time_ns > stream->facts.duration_ns)
			stream->facts.duration_ns = seen->time_ns;
	}
	for (size_t i = 0; status == TTNN_OK && i < project.devices.count; i++) {
		struct tt_project_device *device = TT_VEC_PUSH(&stream->devices);
		const struct tt_project_device *from = &project.devices.data[i];
		uint32_t *chips = NULL;

		if (device) {
			*device = *from;
			if (from->chips)
				chips = tt_arena_calloc(&stream->graph.arena, from->chip_count + 1,
							sizeof(*chips));
			if (chips)
				memcpy(chips, from->chips, from->chip_count * sizeof(*chips));
			device->chips = chips;
			device->arch = from->arch ? tt_arena_strdup(&stream->graph.arena, from->arch)
						  : NULL;
			device->profile =
				from->profile ? tt_arena_strdup(&stream->graph.arena, from->profile)
					      : NULL;
		} else {
			status = tt_fail_nomem();
		}
	}
	tt_project_deinit(&project);
	return status;
}

tt_status tt_stream_open(struct tt_stream **out, struct tt_source *source,
			 const struct tt_project_options *options)
{
	struct tt_stream *stream = tt_calloc(1, sizeof(*stream));
	tt_status status;

	if (!stream)
		return tt_fail_nomem();
	status = tt_graph_from_source(&stream->graph, source, options);
	if (status == TTNN_OK)
		status = find_devices(stream, source, options);
	stream->facts.nodes = stream->graph.count;
	stream->facts.devices = stream->devices.data;
	stream->facts.device_count = stream->devices.count;
	*out = stream;
	if (status != TTNN_OK)
		tt_stream_close(stream);
	return status;
}

tt_status tt_stream_next(const struct tt_graph_node **out, struct tt_stream *stream)
{
	*out = NULL;
	if (stream->next == stream->graph.count)
		return TTNN_OK;
	stream->node = stream->graph.nodes[stream->next++];
	stream->node.connection_count = 0;
	stream->edge = 0;
	*out = &stream->node;
	return TTNN_OK;
}

bool tt_stream_edge(uint32_t *to, struct tt_stream *stream)
{
	const struct tt_graph_node *node = &stream->graph.nodes[stream->next - 1];

	if (stream->edge == node->connection_count)
		return false;
	*to = node->connections[stream->edge++];
	return true;
}

const struct tt_stream_facts *tt_stream_facts(const struct tt_stream *stream)
{
	return &stream->facts;
}

void tt_stream_write_node(struct tt_jsonw *w, struct tt_stream *stream,
			  const struct tt_graph_node *node)
{
	(void)node;
	tt_graph_write_node(w, &stream->graph, &stream->graph.nodes[stream->next - 1]);
}

void tt_stream_close(struct tt_stream *stream)
{
	if (!stream)
		return;
	tt_graph_deinit(&stream->graph);
	TT_VEC_DEINIT(&stream->devices);
	TT_VEC_DEINIT(&stream->chips);
	tt_free(stream);
}
