/*
 * stream_trace.c: two projections of one source. The first counts nodes and gathers what is known later than the node
 * it belongs to: its edges, the program of a function, what the capture began with. The second describes nodes.
 */
#include "trace/stream.h"

#include <string.h>

#include "base/deadline.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/spill.h"
#include "tensor/text.h"
#include "trace/relay.h"

/* Events that are worth a thread. */
#define WORTH 50000

struct trace {
	struct tt_stream stream;
	struct tt_source *source;
	struct tt_project_options options; /* of the second */
	struct tt_project first, second;
	struct tt_project *also; /* (optional) somebody's, of the same events as the second */
	struct tt_spill *edges, *programs, *made;
	struct tt_near near;                   /* edges of the second, if somebody asks for them */
	struct tt_map kinds;                   /* of programs → place in */
	TT_VEC(struct tt_event_program) known; /* each once, for functions to come */
	size_t next;                           /* of the nodes that the second has made */
	uint64_t passed[2];                    /* events of the first and of the second time */
	uint32_t polled;                       /* nodes when somebody was asked whether to go on */
	uint64_t events;                       /* since the bar was told */
	struct tt_progress progress;           /* of both times */
	bool ended;                            /* no more events */
	tt_status status;
};

/* ---- the first time ------------------------------------------------------------------------------- */

static void note_edge(void *context, uint32_t from, uint32_t to)
{
	struct trace *trace = context;

	tt_spill_add(trace->edges, from, to);
}

/* The same where near edges are found the second time, and nobody asks for those of the start of all. */
static void note_far(void *context, uint32_t from, uint32_t to)
{
	struct trace *trace = context;

	if (from && !tt_near_is(from, trace->first.count))
		tt_spill_add(trace->edges, from, to);
}

static void note_near(void *context, uint32_t from, uint32_t to)
{
	struct trace *trace = context;

	if (from && tt_near_is(from, trace->second.count) && !tt_near_add(&trace->near, from, to))
		trace->status = TTNN_NOMEM;
}

static void note_made(void *context, uint32_t node)
{
	struct trace *trace = context;

	tt_spill_add(trace->made, node, 0);
}

/* Names are the source's, each once: programs are told apart by their pointers. */
struct program_key {
	const char *factory;
	uint32_t index, hit;
};

static void note_program(void *context, uint32_t node, const struct tt_event_program *program)
{
	struct program_key key;
	struct trace *trace = context;
	struct tt_map_entry *entry;
	struct tt_event_program *slot;
	bool added;

	memset(&key, 0, sizeof(key));
	key.factory = program->factory;
	key.index = program->factory_index;
	key.hit = program->cache_hit;
	entry = tt_map_add(&trace->kinds, &key, sizeof(key), &added);
	slot = entry && added ? TT_VEC_PUSH(&trace->known) : NULL;
	if (!entry || (added && !slot)) {
		trace->status = TTNN_NOMEM;
		return;
	}
	if (added) {
		*slot = (struct tt_event_program){.factory = program->factory,
						  .factory_index = program->factory_index,
						  .cache_hit = program->cache_hit};
		entry->number = trace->known.count - 1;
	}
	tt_spill_add(trace->programs, node, (uint32_t)entry->number);
}

static const struct tt_event_program *find_program(void *context, uint32_t node)
{
	struct trace *trace = context;
	bool found = false;
	uint32_t which;

	while (tt_spill_next(&which, trace->programs, node))
		found = true;
	return found ? &trace->known.data[which] : NULL;
}

/* Of the first time, of the same where edges are read apart, and of the second time. */
static const struct tt_project_sink edges_sink = {
	.edge = note_edge, .made = note_made, .program = note_program};
static const struct tt_project_sink far_sink = {.edge = note_far, .program = note_program};
static const struct tt_project_sink nodes_sink = {.future = find_program};
static const struct tt_project_sink near_sink = {.edge = note_near, .future = find_program};

/* Who waits may give it up. */
static tt_status poll(struct trace *trace, uint32_t nodes)
{
	trace->events++;
	if (nodes - trace->polled < 4096)
		return TTNN_OK;
	trace->polled = nodes;
	if (trace->options.label)
		tt_progress_add(&trace->progress, trace->events);
	trace->events = 0;
	tt_deadline_poll();
	return tt_deadline_check();
}

static void set_facts(struct trace *trace)
{
	struct tt_stream_facts *facts = &trace->stream.facts;
	const struct tt_project *p = &trace->first;

	facts->nodes = p->count;
	facts->dialect = p->options.dialect;
	facts->devices = p->devices.data;
	facts->device_count = p->devices.count;
	facts->chips = p->chips.data;
	facts->chip_count = p->chips.count;
	facts->shareless = p->course.shareless;
	for (size_t i = 0; i < p->devices.count; i++)
		if (p->devices.data[i].row.cb_limit > facts->bank)
			facts->bank = p->devices.data[i].row.cb_limit;
}

static tt_status read_all(struct trace *trace, struct tt_relay *relay)
{
	uint64_t *last = &trace->stream.facts.duration_ns;
	struct tt_project *p = &trace->first;
	struct tt_course_step unused;
	const struct tt_seen *seen;

	for (;;) {
		TT_TRY(tt_relay_next(&seen, relay));
		if (!seen || p->status != TTNN_OK)
			return TTNN_OK;
		tt_project_event(p, &seen->event, seen->time_ns, seen->thread);
		trace->passed[0]++;
		*last = seen->time_ns > *last ? seen->time_ns : *last;
		while (p->options.course && tt_course_step(&unused, &p->course, UINT32_MAX))
			;
		TT_TRY(poll(trace, p->count));
	}
}

static tt_status read_edges(struct trace *trace)
{
	uint64_t *last = &trace->stream.facts.duration_ns;
	struct tt_project *p = &trace->first;
	struct tt_relay *relay;
	tt_status status;

	/* Arguments and stacks are described later. */
	tt_source_want(trace->source,
		       &(struct tt_source_wants){.kinds = TT_WANT_ALL, .tensors = true});
	TT_TRY(tt_relay_new(&relay, trace->source, tt_source_info(trace->source)->events >= WORTH));
	status = read_all(trace, relay);
	tt_relay_free(relay);
	TT_TRY(status);
	*last = trace->options.end_ns ? trace->options.end_ns : *last;
	tt_project_end(p, *last);
	TT_TRY(tt_project_status(p));
	return trace->status == TTNN_OK ? TTNN_OK : tt_fail_nomem();
}

/* ---- the second time ------------------------------------------------------------------------------ */

static tt_status restart(struct tt_stream *stream)
{
	struct trace *trace = (struct trace *)stream;
	const struct tt_course_maker *told = &trace->first.course;

	tt_project_deinit(&trace->second);
	tt_project_init(&trace->second, &trace->options);
	/* What was there before is known by now, wherever it was told. */
	for (size_t i = 0; i < told->theres.count; i++) {
		struct tt_event_buffer there = tt_course_told(&told->theres.data[i]);

		TT_TRY(tt_course_there(&trace->second.course, &there));
	}
	tt_project_drop(&trace->second); /* the first node is the other projection's */
	TT_TRY(tt_spill_sort(trace->edges));
	TT_TRY(tt_spill_sort(trace->programs));
	TT_TRY(tt_spill_sort(trace->made));
	tt_source_want(trace->source, NULL);
	tt_near_clear(&trace->near);
	trace->next = 0;
	trace->polled = 0;
	trace->passed[1] = 0;
	trace->ended = false;
	return TTNN_OK;
}

/* The nodes of the next event that makes some; none behind the last. */
static tt_status make_more(struct trace *trace)
{
	struct tt_project *p = &trace->second;
	const struct tt_seen *seen;

	trace->next = 0;
	tt_project_drop(p);
	while (!p->graph.count && !trace->ended) {
		TT_TRY(tt_source_next(&seen, trace->source));
		if (seen) {
			trace->passed[1]++;
			p->arguments.same = seen->same;
			if (trace->also)
				tt_project_event(trace->also, &seen->event, seen->time_ns,
						 seen->thread);
			tt_project_event(p, &seen->event, seen->time_ns, seen->thread);
		} else {
			trace->ended = true;
			tt_project_end(p, trace->stream.facts.duration_ns);
		}
		TT_TRY(tt_project_status(p));
	}
	if (trace->status != TTNN_OK)
		return tt_fail_nomem();
	/* What follows damaged arguments in a chunk is lost now, but was not when edges were read. */
	if (trace->ended && trace->passed[1] != trace->passed[0])
		return tt_fail(TTNN_FORMAT, "the trace is damaged: arguments of some calls make no "
					    "sense, so its nodes do not fit their edges");
	return poll(trace, p->count);
}

static tt_status next(struct tt_stream *stream, bool *there)
{
	struct trace *trace = (struct trace *)stream;

	if (!stream->handed) {
		stream->at = &trace->first.graph.nodes[0];
		*there = true;
		return TTNN_OK;
	}
	if (trace->next == trace->second.graph.count)
		TT_TRY(make_more(trace));
	*there = trace->second.graph.count > 0;
	if (*there) {
		stream->at = &trace->second.graph.nodes[trace->next++];
		return TTNN_OK;
	}
	TT_TRY(tt_spill_status(trace->programs));
	TT_TRY(tt_spill_status(trace->made));
	/* Apart they may be another thread's. */
	return trace->options.apart ? TTNN_OK : tt_spill_status(trace->edges);
}

static bool next_edge(uint32_t *to, struct tt_stream *stream)
{
	return tt_spill_next(to, ((struct trace *)stream)->edges, stream->handed - 1);
}

void tt_stream_trace_apart(struct tt_stream *stream)
{
	struct trace *trace = (struct trace *)stream;

	trace->second.options.sink = &near_sink;
	trace->second.patterns.wanted = true;
}

void tt_stream_trace_also(struct tt_stream *stream, struct tt_project *also)
{
	((struct trace *)stream)->also = also;
}

bool tt_stream_trace_forget(struct tt_stream *stream)
{
	struct trace *trace = (struct trace *)stream;

	if (trace->next < trace->second.graph.count)
		return false;
	tt_patterns_forget(&trace->second.patterns);
	return true;
}

tt_status tt_stream_trace_near(struct tt_near_block *out, struct tt_stream *stream)
{
	return tt_near_take(out, &((struct trace *)stream)->near) ? TTNN_OK : tt_fail_nomem();
}

bool tt_stream_trace_far(uint32_t *to, struct tt_stream *stream, uint32_t node)
{
	return tt_spill_next(to, ((struct trace *)stream)->edges, node);
}

tt_status tt_stream_trace_status(const struct tt_stream *stream)
{
	return tt_spill_status(((const struct trace *)stream)->edges);
}

static bool is_made(struct tt_stream *stream)
{
	uint32_t unused;

	return tt_spill_next(&unused, ((struct trace *)stream)->made, stream->handed - 1);
}

static tt_status add_shape(struct tt_str *out, struct tt_stream *stream,
			   const struct tt_course_buffer *buffer)
{
	if (buffer->shaped)
		tt_text_shape(out, &buffer->shape, stream->facts.dialect);
	return tt_str_status(out);
}

/* How far the nodes are is told by who reads them apart. */
static void end_progress(struct trace *trace)
{
	if (!trace->options.label)
		return;
	tt_progress_deinit(&trace->progress);
	trace->options.label = NULL;
}

static void close_trace(struct tt_stream *stream)
{
	struct trace *trace = (struct trace *)stream;

	end_progress(trace);
	tt_project_deinit(&trace->first);
	tt_project_deinit(&trace->second);
	tt_spill_free(trace->edges);
	tt_spill_free(trace->programs);
	tt_spill_free(trace->made);
	tt_near_deinit(&trace->near);
	tt_map_deinit(&trace->kinds);
	TT_VEC_DEINIT(&trace->known);
	tt_free(trace);
}

/* ---- opening -------------------------------------------------------------------------------------- */

static const struct tt_stream_kind kind = {next,    next_edge, is_made,
					   restart, add_shape, close_trace};

static tt_status start(struct trace *trace, const struct tt_project_options *options)
{
	unsigned times = options->apart ? 1 : 1 + (options->rounds ? options->rounds : 1);

	trace->options =
		(struct tt_project_options){.dialect = options->dialect,
					    .mode = options->mode,
					    .actual = options->actual,
					    .label = options->label,
					    .end_ns = options->end_ns,
					    .how = TT_PROJECT_EDGES,
					    .course = options->course,
					    .stacks = options->stacks,
					    .plain = options->plain,
					    .apart = options->apart,
					    .sink = options->apart ? &far_sink : &edges_sink,
					    .context = trace};
	tt_project_init(&trace->first, &trace->options);
	if (options->label)
		tt_progress_init(&trace->progress, options->label,
				 times * tt_source_info(trace->source)->events);
	TT_TRY(tt_spill_new(&trace->edges));
	TT_TRY(tt_spill_new(&trace->programs));
	TT_TRY(tt_spill_new(&trace->made));
	TT_TRY(read_edges(trace));
	if (options->apart)
		end_progress(trace);
	set_facts(trace);
	tt_project_first(&trace->first);
	TT_TRY(tt_project_status(&trace->first));
	/* Nobody asks it for nodes any more. */
	tt_paged_deinit(&trace->first.buffers);
	tt_paged_deinit(&trace->first.tensors);
	trace->options.how = TT_PROJECT_NODES;
	trace->options.several = trace->first.several;
	trace->options.sink = &nodes_sink;
	return restart(&trace->stream);
}

tt_status tt_stream_open(struct tt_stream **out, struct tt_source *source,
			 const struct tt_project_options *options)
{
	struct trace *trace = tt_calloc(1, sizeof(*trace));
	tt_status status;

	if (!trace)
		return tt_fail_nomem();
	trace->stream.kind = &kind;
	trace->stream.keys = &trace->second.graph;
	trace->stream.course = options->course ? &trace->second.course : NULL;
	trace->source = source;
	status = start(trace, options);
	if (status == TTNN_OK)
		*out = &trace->stream;
	else
		tt_stream_close(&trace->stream);
	return status;
}
