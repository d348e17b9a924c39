/* What a walk (timeline.h) tells of chips: their programs, gaps, cores and memory. */
#include <inttypes.h>
#include <stdio.h>

#include "profile/timeline_state.h"
#include "tensor/enums.h"

#define LAUNCHES 1024     /* that wait for their end: those of captured traces never have one */
#define CORES_MOST 1024   /* tracks of cores of one chip */
#define DEVICE_PID 900000 /* of chips, where no process is likely to have its number */

/* ---- tracks -------------------------------------------------------------------------------------------- */

static uint32_t emit_lane(struct tt_walk *walk, const struct tt_walk_chip *chip,
			  enum tt_track_kind kind, uint64_t number, const char *name)
{
	struct tt_track track = {.kind = kind, .parent = chip->track, .pid = chip->pid};

	track.number = number;
	track.tid = walk->tracks + 1;
	track.order = (uint32_t)kind << 16;
	if (kind == TT_TRACK_CORE) /* row by row */
		track.order += (uint32_t)(number & 0xff) << 8 | (uint32_t)(number >> 16 & 0xff);
	track.name = name;
	return tt_walk_emit_track(walk, &track);
}

static struct tt_walk_chip *chip_of(struct tt_walk *walk, struct tt_walk_state *process,
				    uint32_t device_id, uint32_t chip_id)
{
	struct tt_track track = {.kind = TT_TRACK_DEVICE, .number = chip_id};
	struct tt_walk_chip *chip;
	char name[320];

	for (size_t i = process->chips.count; i-- > 0;)
		if (process->chips.data[i].chip_id == chip_id)
			return &process->chips.data[i];
	chip = TT_VEC_PUSH(&process->chips);
	if (!chip) {
		walk->failed = true;
		return NULL;
	}
	*chip = (struct tt_walk_chip){.device_id = device_id, .chip_id = chip_id};
	track.pid = chip->pid = tt_walk_free_pid(walk, DEVICE_PID + chip_id);
	track.order = walk->order++;
	if (process->what.several)
		snprintf(name, sizeof(name), "Device %u of %s (%" PRIu64 ")", chip_id,
			 process->what.program, process->what.pid);
	else
		snprintf(name, sizeof(name), "Device %u", chip_id);
	track.name = name;
	chip->track = tt_walk_emit_track(walk, &track);
	chip->ops = emit_lane(walk, chip, TT_TRACK_OPS, 0, "programs");
	walk->totals.devices++;
	return chip;
}

/* ---- programs on chips --------------------------------------------------------------------------------- */

static struct tt_walk_core *core_of(struct tt_walk *walk, struct tt_walk_chip *chip, uint32_t x,
				    uint32_t y)
{
	uint32_t core = x << 16 | (y & 0xffff);
	struct tt_walk_core *lane;
	char name[32];

	for (size_t i = 0; i < chip->cores.count; i++)
		if (chip->cores.data[i].core == core)
			return &chip->cores.data[i];
	lane = chip->cores.count < CORES_MOST ? TT_VEC_PUSH(&chip->cores) : NULL;
	if (!lane)
		return NULL;
	snprintf(name, sizeof(name), "core %u,%u", x, y);
	*lane = (struct tt_walk_core){.core = core};
	lane->track = emit_lane(walk, chip, TT_TRACK_CORE, core, name);
	return lane;
}

/* A zone with both of its ends. */
static void emit_whole(struct tt_walk *walk, struct tt_zone *zone, uint64_t end_ns)
{
	if (walk->format->begin)
		walk->format->begin(walk->writer, zone);
	if (walk->format->end)
		walk->format->end(walk->writer, zone->track, end_ns, NULL);
}

static void emit_cores(struct tt_walk *walk, struct tt_walk_chip *chip, const ttnn_core_set *cores,
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
				struct tt_walk_core *lane = core_of(walk, chip, x, y);
				struct tt_zone part = {.name = zone->name,
						       .time_ns = zone->time_ns};

				if (!lane)
					return;
				part.track = lane->track;
				tt_walk_forward(&lane->last_ns, end_ns);
				emit_whole(walk, &part, end_ns);
			}
}

static void emit_gap(struct tt_walk *walk, struct tt_walk_chip *chip, uint64_t until_ns)
{
	struct tt_zone gap = {.name = "gap", .time_ns = chip->last_ns};

	if (!chip->worked || until_ns <= chip->last_ns)
		return;
	if (!chip->gaps)
		chip->gaps = emit_lane(walk, chip, TT_TRACK_GAPS, 0, "gaps");
	gap.track = chip->gaps;
	walk->totals.gaps++;
	emit_whole(walk, &gap, until_ns);
}

/* A program on a chip, to end_ns; `run` is NULL when nobody told of its end. */
static void emit_program(struct tt_walk *walk, struct tt_walk_state *process,
			 const struct tt_walk_launch *launch,
			 const struct tt_event_program_run *run, uint64_t end_ns)
{
	struct tt_walk_chip *chip = chip_of(walk, process, launch->device_id, launch->chip_id);
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
	emit_gap(walk, chip, begin_ns);
	zone.track = chip->ops;
	zone.time_ns = begin_ns;
	walk->totals.device_zones++;
	emit_whole(walk, &zone, end_ns);
	emit_cores(walk, chip, launch->known.cores, &zone, end_ns);
	chip->last_ns = end_ns;
	chip->worked = true;
}

void tt_walk_launch_program(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			    const struct tt_event_program_launch *told)
{
	struct tt_walk_thread *thread = &process->threads.data[number];
	struct tt_walk_launch *launch;

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
	*launch = (struct tt_walk_launch){.number = told->launch,
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

static void forget_launch(struct tt_walk_state *process, size_t at)
{
	process->launches.count--;
	memmove(process->launches.data + at, process->launches.data + at + 1,
		(process->launches.count - at) * sizeof(process->launches.data[0]));
}

void tt_walk_run_program(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			 const struct tt_event_program_run *run, uint64_t time_ns)
{
	struct tt_walk_launch launch = {.number = run->launch,
					.device_id = run->device_id,
					.chip_id = run->chip_id,
					.thread = number};

	process->what.runs = true;
	for (size_t i = process->launches.count; !run->session && i-- > 0;) {
		const struct tt_walk_launch *row = &process->launches.data[i];

		if (row->number != run->launch || row->chip_id != run->chip_id)
			continue;
		launch = *row;
		forget_launch(process, i);
		break;
	}
	launch.name = run->name ? run->name : "program";
	emit_program(walk, process, &launch, run, time_ns);
}

/* A device operation ends: so do its programs, where nobody tells when they really did. */
void tt_walk_end_programs(struct tt_walk *walk, struct tt_walk_state *process, uint32_t number,
			  const char *name)
{
	const struct tt_walk_thread *thread = &process->threads.data[number];

	for (size_t i = 0; !process->what.runs && i < process->launches.count;) {
		struct tt_walk_launch launch = process->launches.data[i];

		if (launch.thread != number) {
			i++;
			continue;
		}
		forget_launch(process, i);
		launch.name = name;
		emit_program(walk, process, &launch, NULL, thread->last_ns);
	}
}

void tt_walk_know_program(struct tt_walk_thread *thread, const struct tt_event_program *program)
{
	struct tt_event_facts facts;

	thread->known = (struct tt_walk_known){.cache_hit = program->cache_hit};
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

void tt_walk_open_device(struct tt_walk *walk, struct tt_walk_state *process,
			 const struct tt_event_device *device)
{
	uint32_t first = device->device_id, count = 1;
	struct tt_walk_memory *memory;

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
	*memory = (struct tt_walk_memory){.device_id = device->device_id, .mesh = count > 1};
	while (process->chips.data[memory->chip].chip_id != first)
		memory->chip++;
}

static struct tt_walk_memory *memory_of(struct tt_walk *walk, struct tt_walk_state *process,
					uint32_t device_id)
{
	struct tt_event_device device = {.device_id = device_id};

	for (int i = 0; i < 2; i++) {
		for (size_t k = process->memories.count; k-- > 0;)
			if (process->memories.data[k].device_id == device_id)
				return &process->memories.data[k];
		tt_walk_open_device(walk, process, &device); /* nobody told of it */
	}
	return NULL;
}

void tt_walk_count_bytes(struct tt_walk *walk, struct tt_walk_state *process,
			 const struct tt_event_buffer *buffer, bool comes, uint64_t time_ns)
{
	struct tt_walk_memory *memory = memory_of(walk, process, buffer->device_id);
	unsigned kind = (unsigned)buffer->type;
	char name[64];

	if (!memory || kind >= TT_WALK_BANK_KINDS || !buffer->real)
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
		memory->tracks[kind] = emit_lane(walk, &process->chips.data[memory->chip],
						 TT_TRACK_BYTES, kind, name);
	}
	walk->totals.counters++;
	if (walk->format->counter)
		walk->format->counter(walk->writer, memory->tracks[kind], time_ns,
				      memory->bytes[kind]);
}
