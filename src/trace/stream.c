/*
 * stream.c: two projections of one source. The first counts nodes and gathers what is known later than the node
 * it belongs to: its edges, the program of a function, what the capture began with. The second describes nodes.
 */
#include "trace/stream.h"

#include <string.h>

#include "base/deadline.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/spill.h"

struct tt_stream {
	struct tt_source *source;
	struct tt_project first, second;
	struct tt_spill *edges, *programs, *made;
	struct tt_map kinds;                        /* of programs → place + 1 in */
	TT_VEC(struct tt_event_program) known;      /* each once, for functions to come */
	uint64_t handed;                            /* nodes */
	size_t next;                                /* of those that the second has made */
	bool ended;                                 /* no more events */
	struct tt_stream_facts facts;
	struct tt_graph_node node;
	tt_status status;
};

/* ---- the first time ------------------------------------------------------------------------------- */

static void note_edge(void *context, uint32_t from, uint32_t to)
{
	struct tt_stream *stream = context;

	tt_spill_add(stream->edges, from, to);
}

static void note_made(void *context, uint32_t node)
{
	struct tt_stream *stream = context;

	tt_spill_add(stream->made, node, 0);
}

/* Names are the source's, each once: programs are told apart by their pointers. */
struct program_key {
	const char *factory;
	uint32_t index, hit;
};

static void note_program(void *context, uint32_t node, const struct tt_event_program *program)
{
	struct program_key key;
	struct tt_stream *stream = context;
	struct tt_map_entry *entry;
	struct tt_event_program *slot;
	bool added;

	memset(&key, 0, sizeof(key));
	key.factory = program->factory;
	key.index = program->factory_index;
	key.hit = program->cache_hit;
	entry = tt_map_add(&stream->kinds, &key, sizeof(key), &added);
	slot = entry && added ? TT_VEC_PUSH(&stream->known) : NULL;
	if (!entry || (added && !slot)) {
		stream->status = TTNN_NOMEM;
		return;
	}
	if (added) {
		*slot = (struct tt_event_program){.factory = program->factory,
						  .factory_index = program->factory_index,
						  .cache_hit = program->cache_hit};
		entry->number = stream->known.count - 1;
	}
	tt_spill_add(stream->programs, node, (uint32_t)entry->number);
}

static const struct tt_event_program *find_program(void *context, uint32_t node)
{
	struct tt_stream *stream = context;
	bool found = false;
	uint32_t which;

	while (tt_spill_next(&which, stream->programs, node))
		found = true;
	return found ? &stream->known.data[which] : NULL;
}

static const struct tt_project_sink sink = {
	.edge = note_edge,
	.made = note_made,
	.program = note_program,
	.future = find_program,
};

/* Who waits may give it up. */
static tt_status next_event(const struct tt_seen **seen, struct tt_stream *stream)
{
	TT_TRY(tt_source_next(seen, stream->source));
	if (stream->first.count % 4096 == 0) {
		tt_deadline_poll();
		return tt_deadline_check();
	}
	return TTNN_OK;
}

static tt_status read_edges(struct tt_stream *stream)
{
	struct tt_project *p = &stream->first;
	const struct tt_seen *seen;

	tt_source_rewind(stream->source);
	for (;;) {
		TT_TRY(next_event(&seen, stream));
		if (!seen)
			break;
		tt_project_event(p, &seen->event, seen->time_ns, seen->thread);
		if (seen->time_ns > stream->facts.duration_ns)
			stream->facts.duration_ns = seen->time_ns;
		if (p->status != TTNN_OK)
			break;
	}
	tt_project_end(p, stream->facts.duration_ns);
	TT_TRY(tt_project_status(p));
	if (stream->status != TTNN_OK)
		return tt_fail_nomem();
	TT_TRY(tt_spill_sort(stream->edges));
	TT_TRY(tt_spill_sort(stream->programs));
	TT_TRY(tt_spill_sort(stream->made));
	stream->facts.nodes = p->count;
	stream->facts.devices = p->devices.data;
	stream->facts.device_count = p->devices.count;
	stream->facts.chips = p->chips.data;
	stream->facts.chip_count = p->chips.count;
	return TTNN_OK;
}

static tt_status start(struct tt_stream *stream, const struct tt_project_options *options)
{
	struct tt_project_options how = *options;

	how.sink = &sink;
	how.context = stream;
	how.courseless = true;
	how.how = TT_PROJECT_EDGES;
	tt_project_init(&stream->first, &how);
	how.how = TT_PROJECT_NODES;
	tt_project_init(&stream->second, &how);
	TT_TRY(tt_spill_new(&stream->edges));
	TT_TRY(tt_spill_new(&stream->programs));
	TT_TRY(tt_spill_new(&stream->made));
	TT_TRY(read_edges(stream));
	tt_project_first(&stream->first);
	TT_TRY(tt_project_status(&stream->first));
	/* The first node is the other projection's. */
	tt_project_drop(&stream->second);
	tt_source_rewind(stream->source);
	return TTNN_OK;
}

tt_status tt_stream_open(struct tt_stream **out, struct tt_source *source,
			 const struct tt_project_options *options)
{
	struct tt_stream *stream = tt_calloc(1, sizeof(*stream));
	tt_status status;

	if (!stream)
		return tt_fail_nomem();
	stream->source = source;
	status = start(stream, options);
	if (status != TTNN_OK)
		tt_stream_close(stream);
	else
		*out = stream;
	return status;
}

/* ---- the second time ------------------------------------------------------------------------------ */

/* The nodes of the next event that makes some; none behind the last. */
static tt_status make_more(struct tt_stream *stream)
{
	struct tt_project *p = &stream->second;
	const struct tt_seen *seen;

	stream->next = 0;
	tt_project_drop(p);
	while (!p->graph.count && !stream->ended) {
		TT_TRY(tt_source_next(&seen, stream->source));
		if (seen) {
			tt_project_event(p, &seen->event, seen->time_ns, seen->thread);
		} else {
			stream->ended = true;
			tt_project_end(p, stream->facts.duration_ns);
		}
		TT_TRY(tt_project_status(p));
	}
	if (stream->handed % 4096 == 0)
		tt_deadline_poll();
	return tt_deadline_check();
}

tt_status tt_stream_next(const struct tt_graph_node **out, struct tt_stream *stream)
{
	*out = NULL;
	if (!stream->handed) {
		stream->node = stream->first.graph.nodes[0];
	} else {
		if (stream->next == stream->second.graph.count)
			TT_TRY(make_more(stream));
		if (!stream->second.graph.count) {
			TT_TRY(tt_spill_status(stream->programs));
			TT_TRY(tt_spill_status(stream->made));
			return tt_spill_status(stream->edges);
		}
		stream->node = stream->second.graph.nodes[stream->next++];
	}
	stream->handed++;
	*out = &stream->node;
	return TTNN_OK;
}

bool tt_stream_edge(uint32_t *to, struct tt_stream *stream)
{
	return tt_spill_next(to, stream->edges, (uint32_t)stream->handed - 1);
}

bool tt_stream_made(struct tt_stream *stream)
{
	uint32_t unused;

	if (stream->node.type != TT_GRAPH_TENSOR && stream->node.type != TT_GRAPH_BUFFER)
		return true;
	return tt_spill_next(&unused, stream->made, (uint32_t)stream->handed - 1);
}

const struct tt_stream_facts *tt_stream_facts(const struct tt_stream *stream)
{
	return &stream->facts;
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static bool next_edge(uint32_t *to, void *context)
{
	return tt_stream_edge(to, context);
}

void tt_stream_write_node(struct tt_jsonw *w, struct tt_stream *stream,
			  const struct tt_graph_node *node)
{
	tt_graph_write_node(w, &stream->second.graph, node,
			    &(struct tt_graph_edges){next_edge, stream});
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

void tt_stream_close(struct tt_stream *stream)
{
	if (!stream)
		return;
	tt_project_deinit(&stream->first);
	tt_project_deinit(&stream->second);
	tt_spill_free(stream->edges);
	tt_spill_free(stream->programs);
	tt_spill_free(stream->made);
	tt_map_deinit(&stream->kinds);
	TT_VEC_DEINIT(&stream->known);
	tt_free(stream);
}
