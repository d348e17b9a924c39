/* Events of processes to tracks, zones, messages, counters and arrows (timeline.h); chips are in timeline_chips.c. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "profile/timeline_state.h"

#define DEEP                                                                                       \
	4096 /* zones in each other; what lies deeper is not told: a damaged file may say anything */

/* ---- tracks -------------------------------------------------------------------------------------------- */

uint32_t tt_walk_emit_track(struct tt_walk *walk, struct tt_track *track)
{
	track->id = ++walk->tracks;
	if (walk->format->track)
		walk->format->track(walk->writer, track);
	return track->id;
}

/* A number that no other process or device has: this one, if it is free. */
uint64_t tt_walk_free_pid(struct tt_walk *walk, uint64_t pid)
{
	uint64_t *kept = TT_VEC_PUSH(&walk->pids);

	if (!kept) {
		walk->failed = true;
		return pid;
	}
	for (size_t i = 0; i + 1 < walk->pids.count; i++)
		if (walk->pids.data[i] == pid) {
			pid++;
			i = (size_t)-1;
		}
	*kept = pid;
	return pid;
}

void tt_walk_process(struct tt_walk *walk, const struct tt_walk_process *what)
{
	struct tt_walk_state **place = TT_VEC_PUSH(&walk->processes);
	struct tt_track track = {.kind = TT_TRACK_PROCESS};
	struct tt_walk_state *process;
	char name[256];

	if (!place) {
		walk->failed = true;
		return;
	}
	*place = process = tt_calloc(1, sizeof(*process));
	if (!process) {
		walk->processes.count--;
		walk->failed = true;
		return;
	}
	process->what = *what;
	process->args.style.dialect = TTNN_DIALECT_TT_METAL;
	track.pid = process->pid = tt_walk_free_pid(walk, what->pid);
	track.number = what->pid;
	track.began_ns = what->began_ns;
	track.order = walk->order++;
	snprintf(name, sizeof(name), "%s", what->program ? what->program : "");
	track.name = name;
	process->track = tt_walk_emit_track(walk, &track);
	walk->totals.processes++;
}

/* A number for a thread that no other of its process has. */
static uint64_t free_tid(struct tt_walk *walk, struct tt_walk_state *process, uint64_t tid)
{
	uint64_t *kept = TT_VEC_PUSH(&process->tids);

	if (!kept) {
		walk->failed = true;
		return tid;
	}
	for (size_t i = 0; i + 1 < process->tids.count; i++)
		if (process->tids.data[i] == tid)
			tid = UINT64_C(0x40000000) + walk->tracks;
	*kept = tid;
	return tid;
}

static void emit_thread(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			const struct tt_event_thread *told)
{
	struct tt_walk_thread *thread = &process->threads.data[number];
	struct tt_track track = {.kind = TT_TRACK_THREAD, .parent = process->track};
	char name[64];

	track.pid = process->pid;
	track.number = told && told->system_id ? told->system_id : number + 1;
	track.tid = free_tid(walk, process, track.number);
	track.order = number;
	snprintf(name, sizeof(name), "thread %u", number);
	track.name = told && told->name && *told->name ? told->name : name;
	thread->track = tt_walk_emit_track(walk, &track);
	walk->totals.threads++;
}

/* The thread of this number; NULL when memory is exhausted. */
static struct tt_walk_thread *thread_of(struct tt_walk *walk, struct tt_walk_state *process,
					uint32_t number)
{
	while (process->threads.count <= number) {
		struct tt_walk_thread *thread = TT_VEC_PUSH(&process->threads);

		if (!thread) {
			walk->failed = true;
			return NULL;
		}
		*thread = (struct tt_walk_thread){0};
	}
	return &process->threads.data[number];
}

/* The same, told of. */
static struct tt_walk_thread *told_thread(struct tt_walk *walk, struct tt_walk_state *process,
					  uint32_t number)
{
	struct tt_walk_thread *thread = thread_of(walk, process, number);

	if (thread && !thread->track)
		emit_thread(walk, process, number, NULL);
	return thread;
}

/* ---- zones of threads ---------------------------------------------------------------------------------- */

static void emit_begin(struct tt_walk *walk, struct tt_walk_thread *thread,
		       struct tt_walk_zone *open, struct tt_zone *zone)
{
	zone->track = thread->track;
	zone->time_ns = thread->last_ns;
	zone->name = open->name;
	zone->function = open->function;
	zone->file = open->file;
	zone->line = open->line;
	zone->color = open->color;
	open->told =
		!walk->options.levels || (size_t)(open - thread->open.data) < walk->options.levels;
	if (!open->told)
		return;
	walk->totals.zones++;
	if (walk->format->begin)
		walk->format->begin(walk->writer, zone);
}

static void emit_end(struct tt_walk *walk, struct tt_walk_thread *thread,
		     const struct tt_walk_zone *open, const char *name)
{
	if (open->told && walk->format->end)
		walk->format->end(walk->writer, thread->track, thread->last_ns, name);
}

/* Opens a zone; `zone` has what only its begin tells. */
static void push(struct tt_walk *walk, struct tt_walk_thread *thread,
		 const struct tt_walk_zone *what, struct tt_zone *zone)
{
	struct tt_walk_zone *open = thread->open.count < DEEP ? TT_VEC_PUSH(&thread->open) : NULL;

	if (!open) {
		thread->depth_lost++;
		return;
	}
	*open = *what;
	emit_begin(walk, thread, open, zone);
}

/*
 * Ends the innermost zone that is the user's own or not. Others above it go on: they are ended with it, and begun
 * again, for zones of a track nest.
 */
static void pop(struct tt_walk *walk, struct tt_walk_thread *thread, bool user, const char *name)
{
	size_t at = thread->open.count;

	if (thread->depth_lost) {
		thread->depth_lost--;
		return;
	}
	while (at > 0 && thread->open.data[at - 1].user != user)
		at--;
	if (at == 0) /* it began before the recording */
		return;
	for (size_t i = thread->open.count; i >= at; i--)
		emit_end(walk, thread, &thread->open.data[i - 1], i == at ? name : NULL);
	for (size_t i = at; i < thread->open.count; i++) {
		struct tt_zone zone = {0};

		thread->open.data[i - 1] = thread->open.data[i];
		emit_begin(walk, thread, &thread->open.data[i - 1], &zone);
	}
	thread->open.count--;
}

static void begin_scope(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			const struct tt_seen *seen)
{
	const struct tt_event_scope_begin *begin = &seen->event.begin;
	struct tt_walk_thread *thread = &process->threads.data[number];
	struct tt_walk_zone open = {.name = begin->name ? begin->name : "",
				    .device = begin->kind == TT_SCOPE_DEVICE_OP};
	struct tt_zone zone = {.call = seen->depth == 0 ? seen->op : 0};

	if (thread->placed) {
		open.file = thread->place.file;
		open.function = thread->place.function;
		open.line = thread->place.line;
		thread->placed = false;
	}
	if (begin->kind == TT_SCOPE_OPERATION && begin->arg_count && !process->what.live &&
	    !tt_zoneargs_fill(&zone, &process->args, begin))
		walk->failed = true;
	if (zone.args_number)
		zone.args_number = zone.args_number << 16 | (process->track & 0xffff);
	push(walk, thread, &open, &zone);
}

static void begin_zone(struct tt_walk *walk, struct tt_walk_thread *thread,
		       const struct tt_event_zone *told)
{
	struct tt_walk_zone open = {.name = told->name ? told->name : told->function,
				    .function = told->function,
				    .file = told->file,
				    .line = told->line,
				    .color = told->color,
				    .user = true};
	struct tt_zone zone = {0};

	if (!open.name)
		open.name = "";
	push(walk, thread, &open, &zone);
}

static void end_scope(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number)
{
	struct tt_walk_thread *thread = &process->threads.data[number];

	for (size_t i = thread->open.count; i-- > 0;) {
		const struct tt_walk_zone *open = &thread->open.data[i];

		if (open->user)
			continue;
		if (open->device && process->launches.count)
			tt_walk_end_programs(walk, process, number, open->name);
		break;
	}
	pop(walk, thread, false, NULL);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void emit_message(struct tt_walk *walk, const struct tt_walk_thread *thread,
			 enum tt_message_kind kind, const char *text,
			 const struct tt_event_mark *mark)
{
	struct tt_message message = {.kind = kind,
				     .track = thread->track,
				     .time_ns = thread->last_ns,
				     .text = text ? text : "",
				     .detail = mark ? mark->detail : NULL,
				     .color = mark ? mark->color : 0};

	walk->totals.messages++;
	if (walk->format->message)
		walk->format->message(walk->writer, &message);
}

static void emit_loss(struct tt_walk *walk, const struct tt_walk_thread *thread,
		      const struct tt_event_loss *loss)
{
	char text[256];

	walk->totals.lost += loss->records;
	snprintf(text, sizeof(text), "%" PRIu64 " records are missing: %s", loss->records,
		 loss->reason ? loss->reason : "nobody knows why");
	emit_message(walk, thread, TT_MESSAGE_LOSS, text, NULL);
}

/* A replay is a stretch of its thread. */
static void emit_replay(struct tt_walk *walk, struct tt_walk_thread *thread,
			const struct tt_event_metal_trace *trace)
{
	struct tt_zone_arg args[] = {{"trace_id", NULL, trace->trace_id},
				     {"replay", NULL, trace->session}};
	struct tt_walk_zone open = {.name = "replay of a trace", .user = true};
	struct tt_zone zone = {.args = args, .arg_count = 2};

	if (trace->step == TT_METAL_TRACE_REPLAY)
		push(walk, thread, &open, &zone);
	else if (trace->step == TT_METAL_TRACE_DONE)
		pop(walk, thread, true, NULL);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void emit_mark(struct tt_walk *walk, struct tt_walk_thread *thread,
		      const struct tt_event *event)
{
	static const enum tt_message_kind kinds[] = {TT_MESSAGE_SIGNPOST, TT_MESSAGE_TEXT,
						     TT_MESSAGE_FRAME};
	unsigned kind = (unsigned)event->mark.kind;

	emit_message(walk, thread, kind < TT_COUNT(kinds) ? kinds[kind] : TT_MESSAGE_TEXT,
		     event->mark.text, &event->mark);
}

void tt_walk_event(struct tt_walk *walk, uint32_t which, const struct tt_seen *seen,
		   uint64_t time_ns)
{
	const struct tt_event *event = &seen->event;
	struct tt_walk_state *process =
		which < walk->processes.count ? walk->processes.data[which] : NULL;
	struct tt_walk_thread *thread = process ? thread_of(walk, process, seen->thread) : NULL;

	if (!thread)
		return;
	if (event->kind == TT_EVENT_THREAD) {
		if (!thread->track)
			emit_thread(walk, process, seen->thread, &event->thread);
		return;
	}
	if (!thread->track)
		thread = told_thread(walk, process, seen->thread);
	tt_walk_forward(&process->last_ns, tt_walk_forward(&thread->last_ns, time_ns));
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		begin_scope(walk, process, seen->thread, seen);
		break;
	case TT_EVENT_SCOPE_END:
		end_scope(walk, process, seen->thread);
		break;
	case TT_EVENT_ZONE_BEGIN:
		begin_zone(walk, thread, &event->zone);
		break;
	case TT_EVENT_ZONE_END:
		pop(walk, thread, true, event->zone.name);
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_THERE:
		tt_walk_count_bytes(walk, process, &event->buffer, true, thread->last_ns);
		break;
	case TT_EVENT_BUFFER_FREE:
		tt_walk_count_bytes(walk, process, &event->buffer, false, thread->last_ns);
		break;
	case TT_EVENT_PROGRAM:
		tt_walk_know_program(thread, &event->program);
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		tt_walk_launch_program(walk, process, seen->thread, &event->launch);
		break;
	case TT_EVENT_PROGRAM_RUN:
		tt_walk_run_program(walk, process, seen->thread, &event->run, time_ns);
		break;
	case TT_EVENT_METAL_TRACE:
		emit_replay(walk, thread, &event->metal_trace);
		break;
	case TT_EVENT_MARK:
		emit_mark(walk, thread, event);
		break;
	case TT_EVENT_ERROR:
		emit_message(walk, thread, TT_MESSAGE_ERROR, event->error.message, NULL);
		break;
	case TT_EVENT_LOSS:
		emit_loss(walk, thread, &event->loss);
		break;
	case TT_EVENT_PLACE:
		thread->place = event->place;
		thread->placed = true;
		break;
	case TT_EVENT_DEVICE_OPEN:
		tt_walk_open_device(walk, process, &event->device);
		break;
	default:
		break;
	}
}

/* ---- the walk ------------------------------------------------------------------------------------------ */

tt_status tt_walk_new(struct tt_walk **out, const struct tt_timeline_format *format,
		      struct tt_timeline_writer *writer, const struct tt_timeline_options *options)
{
	struct tt_walk *walk = tt_calloc(1, sizeof(*walk));

	if (!walk)
		return tt_fail_nomem();
	walk->format = format;
	walk->writer = writer;
	walk->options = *options;
	*out = walk;
	return TTNN_OK;
}

tt_status tt_walk_status(const struct tt_walk *walk)
{
	return walk->failed ? tt_fail_nomem() : TTNN_OK;
}

void tt_walk_end(struct tt_walk *walk, struct tt_timeline_totals *totals)
{
	for (size_t i = 0; i < walk->processes.count; i++) {
		struct tt_walk_state *process = walk->processes.data[i];

		for (size_t k = 0; k < process->threads.count; k++) {
			struct tt_walk_thread *thread = &process->threads.data[k];

			tt_walk_forward(&thread->last_ns, process->last_ns);
			while (thread->open.count)
				emit_end(walk, thread, &thread->open.data[--thread->open.count],
					 NULL);
		}
	}
	*totals = walk->totals;
}

void tt_walk_free(struct tt_walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; i < walk->processes.count; i++) {
		struct tt_walk_state *process = walk->processes.data[i];

		for (size_t k = 0; k < process->threads.count; k++)
			TT_VEC_DEINIT(&process->threads.data[k].open);
		for (size_t k = 0; k < process->chips.count; k++)
			TT_VEC_DEINIT(&process->chips.data[k].cores);
		TT_VEC_DEINIT(&process->threads);
		TT_VEC_DEINIT(&process->tids);
		TT_VEC_DEINIT(&process->chips);
		TT_VEC_DEINIT(&process->memories);
		TT_VEC_DEINIT(&process->launches);
		tt_zoneargs_deinit(&process->args);
		tt_free(process);
	}
	TT_VEC_DEINIT(&walk->processes);
	TT_VEC_DEINIT(&walk->pids);
	tt_free(walk);
}
