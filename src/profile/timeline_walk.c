/* Events of processes to tracks, zones, messages, counters and arrows (timeline.h). */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/timeline.h"
#include "profile/zoneargs.h"
#include "tensor/enums.h"

#define DEEP                                                                                       \
	4096 /* zones in each other; what lies deeper is not told: a damaged file may say anything */
#define LAUNCHES 1024     /* that wait for their end: those of captured traces never have one */
#define CORES_MOST 1024   /* tracks of cores of one chip */
#define DEVICE_PID 900000 /* of chips, where no process is likely to have its number */
#define BANK_KINDS 5      /* of enum ttnn_buffer_type */

/* A zone that is open on a thread. */
struct open_zone {
	const char *name, *function, *file;
	uint32_t line, color;
	bool user;   /* of the user's own: it need not nest with calls */
	bool device; /* a device operation: programs that were launched in it end with it */
	bool told;
};

/* What is known of a program before it runs. */
struct known {
	const ttnn_core_set *cores;
	const char *fidelity;
	uint64_t ideal_ns, hash;
	bool cache_hit;
};

/* A program that was launched, and has not ended. */
struct launch {
	uint64_t number, time_ns, flow;
	uint32_t device_id, chip_id, thread;
	const char *name; /* of the device operation; known when it ends */
	struct known known;
};

struct core_lane {
	uint32_t core; /* x << 16 | y */
	uint32_t track;
	uint64_t last_ns;
};

struct chip {
	uint32_t device_id, chip_id;
	uint32_t track, ops, gaps;
	uint64_t pid;
	uint64_t last_ns; /* the end of its last program */
	bool worked;
	TT_VEC(struct core_lane) cores;
};

/* The memory of a mesh: the same on each of its chips. */
struct memory {
	uint32_t device_id;
	uint32_t chip; /* the first; its place */
	bool mesh;     /* it has several */
	uint32_t tracks[BANK_KINDS];
	uint64_t bytes[BANK_KINDS];
};

struct thread {
	uint32_t track;
	uint64_t last_ns;
	TT_VEC(struct open_zone) open;
	uint32_t depth_lost; /* zones that are open above DEEP */
	struct tt_event_place place;
	bool placed;
	struct known known; /* of the program that is launched next */
};

struct process {
	struct tt_walk_process what;
	uint32_t track;
	uint64_t pid;
	uint64_t last_ns;
	TT_VEC(struct thread) threads; /* by number */
	TT_VEC(uint64_t) tids;
	TT_VEC(struct chip) chips;
	TT_VEC(struct memory) memories;
	TT_VEC(struct launch) launches;
	struct tt_zoneargs args;
};

struct tt_walk {
	const struct tt_timeline_format *format;
	struct tt_timeline_writer *writer;
	struct tt_timeline_options options;
	struct tt_timeline_totals totals;
	TT_VEC(struct process *) processes;
	TT_VEC(uint64_t) pids;
	uint32_t tracks, order;
	uint64_t flows;
	bool failed;
};

/* ---- tracks -------------------------------------------------------------------------------------------- */

static uint32_t tell_track(struct tt_walk *walk, struct tt_track *track)
{
	track->id = ++walk->tracks;
	if (walk->format->track)
		walk->format->track(walk->writer, track);
	return track->id;
}

/* A number that no other process or device has: this one, if it is free. */
static uint64_t free_pid(struct tt_walk *walk, uint64_t pid)
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
	struct process **place = TT_VEC_PUSH(&walk->processes);
	struct tt_track track = {.kind = TT_TRACK_PROCESS};
	struct process *process;
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
	track.pid = process->pid = free_pid(walk, what->pid);
	track.number = what->pid;
	track.began_ns = what->began_ns;
	track.order = walk->order++;
	snprintf(name, sizeof(name), "%s", what->program ? what->program : "");
	track.name = name;
	process->track = tell_track(walk, &track);
	walk->totals.processes++;
}

/* A number for a thread that no other of its process has. */
static uint64_t free_tid(struct tt_walk *walk, struct process *process, uint64_t tid)
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

static void tell_thread(struct tt_walk *walk, struct process *process, uint32_t number,
			const struct tt_event_thread *told)
{
	struct thread *thread = &process->threads.data[number];
	struct tt_track track = {.kind = TT_TRACK_THREAD, .parent = process->track};
	char name[64];

	track.pid = process->pid;
	track.number = told && told->system_id ? told->system_id : number + 1;
	track.tid = free_tid(walk, process, track.number);
	track.order = number;
	snprintf(name, sizeof(name), "thread %u", number);
	track.name = told && told->name && *told->name ? told->name : name;
	thread->track = tell_track(walk, &track);
	walk->totals.threads++;
}

/* The thread of this number; NULL when memory is exhausted. */
static struct thread *thread_of(struct tt_walk *walk, struct process *process, uint32_t number)
{
	while (process->threads.count <= number) {
		struct thread *thread = TT_VEC_PUSH(&process->threads);

		if (!thread) {
			walk->failed = true;
			return NULL;
		}
		*thread = (struct thread){0};
	}
	return &process->threads.data[number];
}

/* The same, told of. */
static struct thread *told_thread(struct tt_walk *walk, struct process *process, uint32_t number)
{
	struct thread *thread = thread_of(walk, process, number);

	if (thread && !thread->track)
		tell_thread(walk, process, number, NULL);
	return thread;
}

static uint32_t tell_lane(struct tt_walk *walk, const struct chip *chip, enum tt_track_kind kind,
			  uint64_t number, const char *name)
{
	struct tt_track track = {.kind = kind, .parent = chip->track, .pid = chip->pid};

	track.number = number;
	track.tid = walk->tracks + 1;
	track.order = (uint32_t)kind << 16;
	if (kind == TT_TRACK_CORE) /* row by row */
		track.order += (uint32_t)(number & 0xff) << 8 | (uint32_t)(number >> 16 & 0xff);
	track.name = name;
	return tell_track(walk, &track);
}

static struct chip *chip_of(struct tt_walk *walk, struct process *process, uint32_t device_id,
			    uint32_t chip_id)
{
	struct tt_track track = {.kind = TT_TRACK_DEVICE, .number = chip_id};
	struct chip *chip;
	char name[320];

	for (size_t i = process->chips.count; i-- > 0;)
		if (process->chips.data[i].chip_id == chip_id)
			return &process->chips.data[i];
	chip = TT_VEC_PUSH(&process->chips);
	if (!chip) {
		walk->failed = true;
		return NULL;
	}
	*chip = (struct chip){.device_id = device_id, .chip_id = chip_id};
	track.pid = chip->pid = free_pid(walk, DEVICE_PID + chip_id);
	track.order = walk->order++;
	if (process->what.several)
		snprintf(name, sizeof(name), "Device %u of %s (%" PRIu64 ")", chip_id,
			 process->what.program, process->what.pid);
	else
		snprintf(name, sizeof(name), "Device %u", chip_id);
	track.name = name;
	chip->track = tell_track(walk, &track);
	chip->ops = tell_lane(walk, chip, TT_TRACK_OPS, 0, "programs");
	walk->totals.devices++;
	return chip;
}

/* ---- zones of threads ---------------------------------------------------------------------------------- */

static uint64_t forward(uint64_t *last, uint64_t time_ns)
{
	if (*last < time_ns)
		*last = time_ns;
	return *last;
}

static void tell_begin(struct tt_walk *walk, struct thread *thread, struct open_zone *open,
		       struct tt_zone *zone)
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

static void tell_end(struct tt_walk *walk, struct thread *thread, const struct open_zone *open,
		     const char *name)
{
	if (open->told && walk->format->end)
		walk->format->end(walk->writer, thread->track, thread->last_ns, name);
}

/* Opens a zone; `zone` has what only its begin tells. */
static void push(struct tt_walk *walk, struct thread *thread, const struct open_zone *what,
		 struct tt_zone *zone)
{
	struct open_zone *open = thread->open.count < DEEP ? TT_VEC_PUSH(&thread->open) : NULL;

	if (!open) {
		thread->depth_lost++;
		return;
	}
	*open = *what;
	tell_begin(walk, thread, open, zone);
}

/*
 * Ends the innermost zone that is the user's own or not. Others above it go on: they are ended with it, and begun
 * again, for zones of a track nest.
 */
static void pop(struct tt_walk *walk, struct thread *thread, bool user, const char *name)
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
		tell_end(walk, thread, &thread->open.data[i - 1], i == at ? name : NULL);
	for (size_t i = at; i < thread->open.count; i++) {
		struct tt_zone zone = {0};

		thread->open.data[i - 1] = thread->open.data[i];
		tell_begin(walk, thread, &thread->open.data[i - 1], &zone);
	}
	thread->open.count--;
}

static void begin_scope(struct tt_walk *walk, struct process *process, uint32_t number,
			const struct tt_seen *seen)
{
	const struct tt_event_scope_begin *begin = &seen->event.begin;
	struct thread *thread = &process->threads.data[number];
	struct open_zone open = {.name = begin->name ? begin->name : "",
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

static void begin_zone(struct tt_walk *walk, struct thread *thread,
		       const struct tt_event_zone *told)
{
	struct open_zone open = {.name = told->name ? told->name : told->function,
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

/* ---- programs on chips --------------------------------------------------------------------------------- */

static struct core_lane *core_of(struct tt_walk *walk, struct chip *chip, uint32_t x, uint32_t y)
{
	uint32_t core = x << 16 | (y & 0xffff);
	struct core_lane *lane;
	char name[32];

	for (size_t i = 0; i < chip->cores.count; i++)
		if (chip->cores.data[i].core == core)
			return &chip->cores.data[i];
	lane = chip->cores.count < CORES_MOST ? TT_VEC_PUSH(&chip->cores) : NULL;
	if (!lane)
		return NULL;
	snprintf(name, sizeof(name), "core %u,%u", x, y);
	*lane = (struct core_lane){.core = core};
	lane->track = tell_lane(walk, chip, TT_TRACK_CORE, core, name);
	return lane;
}

/* A zone with both of its ends. */
static void tell_whole(struct tt_walk *walk, struct tt_zone *zone, uint64_t end_ns)
{
	if (walk->format->begin)
		walk->format->begin(walk->writer, zone);
	if (walk->format->end)
		walk->format->end(walk->writer, zone->track, end_ns, NULL);
}

static void tell_cores(struct tt_walk *walk, struct chip *chip, const ttnn_core_set *cores,
		       const struct tt_zone *zone, uint64_t end_ns)
{
	const struct ttnn_core_range *ranges;
	size_t count;

	if (!walk->options.cores || !cores)
		return;
	ranges = ttnn_core_set_ranges(cores, &count);
	for (size_t i = 0; i < count; i++)
		for (uint32_t y = ranges[i].start.y; y <= ranges[i].end.y && y < 256; y++)
			for (uint32_t x = ranges[i].start.x; x <= ranges[i].end.x && x < 256; x++) {
				struct core_lane *lane = core_of(walk, chip, x, y);
				struct tt_zone part = {.name = zone->name,
						       .time_ns = zone->time_ns};

				if (!lane)
					return;
				part.track = lane->track;
				forward(&lane->last_ns, end_ns);
				tell_whole(walk, &part, end_ns);
			}
}

static void tell_gap(struct tt_walk *walk, struct chip *chip, uint64_t until_ns)
{
	struct tt_zone gap = {.name = "gap", .time_ns = chip->last_ns};

	if (!chip->worked || until_ns <= chip->last_ns)
		return;
	if (!chip->gaps)
		chip->gaps = tell_lane(walk, chip, TT_TRACK_GAPS, 0, "gaps");
	gap.track = chip->gaps;
	walk->totals.gaps++;
	tell_whole(walk, &gap, until_ns);
}

/* A program on a chip, to end_ns; `run` is NULL when nobody told of its end. */
static void tell_program(struct tt_walk *walk, struct process *process, const struct launch *launch,
			 const struct tt_event_program_run *run, uint64_t end_ns)
{
	struct chip *chip = chip_of(walk, process, launch->device_id, launch->chip_id);
	uint64_t begin_ns = launch->time_ns;
	struct tt_zone_arg args[10];
	struct tt_zone zone = {.name = launch->name, .args = args, .flow = launch->flow};

	if (!chip)
		return;
	if (run)
		begin_ns = end_ns > run->whole ? end_ns - run->whole : 0;
	if (begin_ns < chip->last_ns) /* programs of a chip follow each other */
		begin_ns = chip->last_ns;
	if (end_ns < begin_ns)
		end_ns = begin_ns;
#define ARG(what, value)                                                                           \
	args[zone.arg_count++] = (struct tt_zone_arg){.name = what, .number = value}
	ARG("id", launch->number << 10 | launch->chip_id);
	if (launch->known.cores)
		ARG("cores", ttnn_core_set_cores(launch->known.cores));
	if (launch->known.fidelity)
		args[zone.arg_count++] =
			(struct tt_zone_arg){"fidelity", launch->known.fidelity, 0};
	if (launch->known.ideal_ns)
		ARG("ideal_ns", launch->known.ideal_ns);
	ARG("cache_hit", launch->known.cache_hit);
	if (run) {
		ARG("kernel_ns", run->kernel);
		ARG("threads", run->threads);
		if (run->session) {
			ARG("trace_id", run->trace_id);
			ARG("replay", run->session);
		}
	}
#undef ARG
	tell_gap(walk, chip, begin_ns);
	zone.track = chip->ops;
	zone.time_ns = begin_ns;
	walk->totals.device_zones++;
	tell_whole(walk, &zone, end_ns);
	tell_cores(walk, chip, launch->known.cores, &zone, end_ns);
	chip->last_ns = end_ns;
	chip->worked = true;
}

static void launch_program(struct tt_walk *walk, struct process *process, uint32_t number,
			   const struct tt_event_program_launch *told)
{
	struct thread *thread = &process->threads.data[number];
	struct launch *launch;

	if (process->launches.count >= LAUNCHES) { /* the oldest will never end */
		memmove(process->launches.data, process->launches.data + LAUNCHES / 2,
			LAUNCHES / 2 * sizeof(*launch));
		process->launches.count = LAUNCHES / 2;
	}
	launch = TT_VEC_PUSH(&process->launches);
	if (!launch) {
		walk->failed = true;
		return;
	}
	*launch = (struct launch){.number = told->launch,
				  .time_ns = thread->last_ns,
				  .device_id = told->device_id,
				  .chip_id = told->chip_id,
				  .thread = number,
				  .known = thread->known};
	if (told->cores)
		launch->known.cores = told->cores;
	if (!thread->open.count || !thread->open.data[thread->open.count - 1].told)
		return; /* an arrow needs a zone to begin in */
	launch->flow = ++walk->flows;
	walk->totals.flows++;
	if (walk->format->flow)
		walk->format->flow(walk->writer, launch->flow, thread->track, thread->last_ns);
}

static void forget_launch(struct process *process, size_t at)
{
	process->launches.count--;
	memmove(process->launches.data + at, process->launches.data + at + 1,
		(process->launches.count - at) * sizeof(process->launches.data[0]));
}

static void run_program(struct tt_walk *walk, struct process *process, uint32_t number,
			const struct tt_event_program_run *run, uint64_t time_ns)
{
	struct launch launch = {.number = run->launch,
				.device_id = run->device_id,
				.chip_id = run->chip_id,
				.thread = number};

	process->what.runs = true;
	for (size_t i = process->launches.count; !run->session && i-- > 0;) {
		const struct launch *row = &process->launches.data[i];

		if (row->number != run->launch || row->chip_id != run->chip_id)
			continue;
		launch = *row;
		forget_launch(process, i);
		break;
	}
	launch.name = run->name ? run->name : "program";
	tell_program(walk, process, &launch, run, time_ns);
}

/* A device operation ends: so do its programs, where nobody tells when they really did. */
static void end_programs(struct tt_walk *walk, struct process *process, uint32_t number,
			 const char *name)
{
	const struct thread *thread = &process->threads.data[number];

	for (size_t i = 0; !process->what.runs && i < process->launches.count;) {
		struct launch launch = process->launches.data[i];

		if (launch.thread != number) {
			i++;
			continue;
		}
		forget_launch(process, i);
		launch.name = name;
		tell_program(walk, process, &launch, NULL, thread->last_ns);
	}
}

static void end_scope(struct tt_walk *walk, struct process *process, uint32_t number)
{
	struct thread *thread = &process->threads.data[number];

	for (size_t i = thread->open.count; i-- > 0;) {
		const struct open_zone *open = &thread->open.data[i];

		if (open->user)
			continue;
		if (open->device && process->launches.count)
			end_programs(walk, process, number, open->name);
		break;
	}
	pop(walk, thread, false, NULL);
}

static void know_program(struct thread *thread, const struct tt_event_program *program)
{
	struct tt_event_facts facts;

	thread->known = (struct known){.cache_hit = program->cache_hit};
	if (!tt_event_facts_read(&facts, program))
		return;
	thread->known.cores = facts.cores;
	thread->known.hash = facts.hash;
	if (facts.has_fidelity)
		thread->known.fidelity = tt_enum_name(&tt_enum_math_fidelity, facts.fidelity);
	if (facts.modelled)
		thread->known.ideal_ns = facts.ideal_ns;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void open_device(struct tt_walk *walk, struct process *process,
			const struct tt_event_device *device)
{
	uint32_t first = device->device_id, count = 1;
	struct memory *memory;

	if (device->info && device->info->chip_count) {
		first = device->info->chips[0];
		count = device->info->chip_count;
	}
	for (uint32_t i = 0; i < count && i < 1024; i++)
		if (!chip_of(walk, process, device->device_id, i ? device->info->chips[i] : first))
			return;
	for (size_t i = 0; i < process->memories.count; i++)
		if (process->memories.data[i].device_id == device->device_id)
			return;
	memory = TT_VEC_PUSH(&process->memories);
	if (!memory) {
		walk->failed = true;
		return;
	}
	*memory = (struct memory){.device_id = device->device_id, .mesh = count > 1};
	while (process->chips.data[memory->chip].chip_id != first)
		memory->chip++;
}

static struct memory *memory_of(struct tt_walk *walk, struct process *process, uint32_t device_id)
{
	struct tt_event_device device = {.device_id = device_id};

	for (int i = 0; i < 2; i++) {
		for (size_t k = process->memories.count; k-- > 0;)
			if (process->memories.data[k].device_id == device_id)
				return &process->memories.data[k];
		open_device(walk, process, &device); /* nobody told of it */
	}
	return NULL;
}

static void count_bytes(struct tt_walk *walk, struct process *process,
			const struct tt_event_buffer *buffer, bool comes, uint64_t time_ns)
{
	struct memory *memory = memory_of(walk, process, buffer->device_id);
	unsigned kind = (unsigned)buffer->type;
	char name[64];

	if (!memory || kind >= BANK_KINDS || !buffer->real)
		return;
	if (comes)
		memory->bytes[kind] += buffer->size;
	else
		memory->bytes[kind] -=
			buffer->size < memory->bytes[kind] ? buffer->size : memory->bytes[kind];
	if (!memory->tracks[kind]) {
		snprintf(name, sizeof(name), "%s in use%s",
			 tt_enum_name(&tt_enum_buffer_type, kind),
			 memory->mesh ? " (each chip)" : "");
		memory->tracks[kind] = tell_lane(walk, &process->chips.data[memory->chip],
						 TT_TRACK_BYTES, kind, name);
	}
	walk->totals.counters++;
	if (walk->format->counter)
		walk->format->counter(walk->writer, memory->tracks[kind], time_ns,
				      memory->bytes[kind]);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void tell_message(struct tt_walk *walk, const struct thread *thread,
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

static void tell_loss(struct tt_walk *walk, const struct thread *thread,
		      const struct tt_event_loss *loss)
{
	char text[256];

	walk->totals.lost += loss->records;
	snprintf(text, sizeof(text), "%" PRIu64 " records are missing: %s", loss->records,
		 loss->reason ? loss->reason : "nobody knows why");
	tell_message(walk, thread, TT_MESSAGE_LOSS, text, NULL);
}

/* A replay is a stretch of its thread. */
static void tell_replay(struct tt_walk *walk, struct thread *thread,
			const struct tt_event_metal_trace *trace)
{
	struct tt_zone_arg args[] = {{"trace_id", NULL, trace->trace_id},
				     {"replay", NULL, trace->session}};
	struct open_zone open = {.name = "replay of a trace", .user = true};
	struct tt_zone zone = {.args = args, .arg_count = 2};

	if (trace->step == TT_METAL_TRACE_REPLAY)
		push(walk, thread, &open, &zone);
	else if (trace->step == TT_METAL_TRACE_DONE)
		pop(walk, thread, true, NULL);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void tell_mark(struct tt_walk *walk, struct thread *thread, const struct tt_event *event)
{
	static const enum tt_message_kind kinds[] = {TT_MESSAGE_SIGNPOST, TT_MESSAGE_TEXT,
						     TT_MESSAGE_FRAME};
	unsigned kind = (unsigned)event->mark.kind;

	tell_message(walk, thread, kind < TT_COUNT(kinds) ? kinds[kind] : TT_MESSAGE_TEXT,
		     event->mark.text, &event->mark);
}

void tt_walk_event(struct tt_walk *walk, uint32_t which, const struct tt_seen *seen,
		   uint64_t time_ns)
{
	const struct tt_event *event = &seen->event;
	struct process *process =
		which < walk->processes.count ? walk->processes.data[which] : NULL;
	struct thread *thread = process ? thread_of(walk, process, seen->thread) : NULL;

	if (!thread)
		return;
	if (event->kind == TT_EVENT_THREAD) {
		if (!thread->track)
			tell_thread(walk, process, seen->thread, &event->thread);
		return;
	}
	if (!thread->track)
		thread = told_thread(walk, process, seen->thread);
	forward(&process->last_ns, forward(&thread->last_ns, time_ns));
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
		count_bytes(walk, process, &event->buffer, true, thread->last_ns);
		break;
	case TT_EVENT_BUFFER_FREE:
		count_bytes(walk, process, &event->buffer, false, thread->last_ns);
		break;
	case TT_EVENT_PROGRAM:
		know_program(thread, &event->program);
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		launch_program(walk, process, seen->thread, &event->launch);
		break;
	case TT_EVENT_PROGRAM_RUN:
		run_program(walk, process, seen->thread, &event->run, time_ns);
		break;
	case TT_EVENT_METAL_TRACE:
		tell_replay(walk, thread, &event->metal_trace);
		break;
	case TT_EVENT_MARK:
		tell_mark(walk, thread, event);
		break;
	case TT_EVENT_ERROR:
		tell_message(walk, thread, TT_MESSAGE_ERROR, event->error.message, NULL);
		break;
	case TT_EVENT_LOSS:
		tell_loss(walk, thread, &event->loss);
		break;
	case TT_EVENT_PLACE:
		thread->place = event->place;
		thread->placed = true;
		break;
	case TT_EVENT_DEVICE_OPEN:
		open_device(walk, process, &event->device);
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
		struct process *process = walk->processes.data[i];

		for (size_t k = 0; k < process->threads.count; k++) {
			struct thread *thread = &process->threads.data[k];

			forward(&thread->last_ns, process->last_ns);
			while (thread->open.count)
				tell_end(walk, thread, &thread->open.data[--thread->open.count],
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
		struct process *process = walk->processes.data[i];

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
