#include "event/viewer_queue.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "event/viewer_names.h"

#define QUEUE ((size_t)1 << 20) /* records, of 32 bytes */
#define SPARE 65536             /* of these, for ends of zones that were told */
#define CHIPS 64
#define BANKS 5
#define TEXT_MOST 16384
#define RED 0xff4040

/* A zone that is open on a thread. */
struct open_zone {
	uint64_t location;
	uint32_t told; /* in which round of the queue; 0: not */
	bool user;
};

struct speaker {
	uint32_t thread;
	uint32_t life; /* of the viewer: a child of a fork begins anew */
	TT_VEC(struct open_zone) open;
	struct tt_event_place place;
	bool placed;
};

struct chip {
	uint32_t chip_id;
	uint64_t last_ns;
};

struct named {
	uint32_t id;
	char name[16];
};

struct plot {
	uint32_t device_id, kind;
	uint64_t name; /* a string */
	uint64_t bytes;
};

/* A mesh, and its first chip, which stands for the memory of all. */
struct mesh {
	uint32_t device_id, chip_id;
};

static atomic_bool heard;

/* Guarded by the lock. */
static struct {
	struct tt_viewer_record *queue;
	size_t first, count;
	uint32_t round; /* of the queue: what was told before the last emptying is not */
	uint32_t life;  /* counts resets: threads begin anew with each */
	bool attached;  /* a viewer is here */
	bool late;      /* nobody came while all fitted */
	uint64_t lost;
	uint64_t began_ns;
	struct tt_viewer_names names;
	TT_VEC(struct plot) plots;
	TT_VEC(struct mesh) meshes;
	struct chip chips[CHIPS];
	size_t chip_count;
	TT_VEC(struct named) threads;
	pthread_key_t key;
} viewer = {.round = 1};

static void (*begin_again)(void);

static void after_fork(struct tt_lock *lock)
{
	(void)lock;
	if (begin_again)
		begin_again();
}

static const struct tt_lock_forks forks = {.child = after_fork};
TT_LOCK_STATIC(viewer_lock, TT_RANK_VIEWER, &forks);

void tt_viewer_on_fork(void (*again)(void))
{
	begin_again = again;
}

/* ---- the queue ----------------------------------------------------------------------------------------- */

static void drop_all(void)
{
	for (; viewer.count; viewer.count--) {
		struct tt_viewer_record *record = &viewer.queue[viewer.first++ % QUEUE];

		if (record->kind == TT_VIEWER_MESSAGE)
			tt_free(record->text);
	}
	viewer.first = 0;
	viewer.round++;
}

/* Room for a record; NULL: it is left out. `sure`: the end of what was told. */
static struct tt_viewer_record *push(bool sure)
{
	if (viewer.late && !viewer.attached)
		return NULL;
	if (viewer.count >= QUEUE - SPARE && !viewer.attached) { /* nobody came in time */
		drop_all();
		viewer.late = true;
		return NULL;
	}
	if (viewer.count >= (sure ? QUEUE : QUEUE - SPARE)) {
		viewer.lost++;
		return NULL;
	}
	return &viewer.queue[(viewer.first + viewer.count++) % QUEUE];
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static void free_speaker(void *memory)
{
	struct speaker *speaker = memory;

	TT_VEC_DEINIT(&speaker->open);
	tt_free(speaker);
}

static void remember_thread(uint32_t thread)
{
	struct named *named;

	for (size_t i = 0; i < viewer.threads.count; i++)
		if (viewer.threads.data[i].id == thread)
			return;
	named = TT_VEC_PUSH(&viewer.threads);
	if (!named)
		return;
	named->id = thread;
	if (pthread_getname_np(pthread_self(), named->name, sizeof(named->name)) != 0)
		named->name[0] = 0;
}

/* The state of this thread; NULL when memory is exhausted. With the lock held. */
static struct speaker *own_speaker(void)
{
	struct speaker *speaker = pthread_getspecific(viewer.key);

	if (!speaker) {
		speaker = tt_calloc(1, sizeof(*speaker));
		if (!speaker)
			return NULL;
		if (pthread_setspecific(viewer.key, speaker) != 0) {
			tt_free(speaker);
			return NULL;
		}
	}
	if (speaker->life != viewer.life) {
		speaker->life = viewer.life;
		speaker->open.count = 0;
		speaker->thread = (uint32_t)gettid();
		remember_thread(speaker->thread);
	}
	return speaker;
}

/* ---- what happens -------------------------------------------------------------------------------------- */

/* `said` is the number of a text, or 0. */
static void emit_begin(struct speaker *speaker, struct open_zone *open, uint64_t ns, uint64_t said)
{
	struct tt_viewer_record *record = push(false);

	open->told = record ? viewer.round : 0;
	if (record)
		*record = (struct tt_viewer_record){.kind = TT_VIEWER_BEGIN,
						    .ns = ns,
						    .thread = speaker->thread,
						    .what = open->location,
						    .said = said};
}

/* `name` is the number of one that is known at the end alone, or 0. */
static void emit_end(struct speaker *speaker, const struct open_zone *open, uint64_t ns,
		     uint64_t name)
{
	struct tt_viewer_record *record = open->told == viewer.round ? push(true) : NULL;

	if (record)
		*record = (struct tt_viewer_record){
			.kind = TT_VIEWER_END, .ns = ns, .thread = speaker->thread, .said = name};
}

/* Whether anybody will hear of what happens now. */
static bool is_told(void)
{
	return viewer.attached || !viewer.late;
}

static void begin_zone(struct speaker *speaker, const struct tt_event_zone *zone,
		       const struct open_zone *what, uint64_t ns, uint64_t said)
{
	struct open_zone *open = TT_VEC_PUSH(&speaker->open);

	if (!open) {
		viewer.lost++;
		return;
	}
	*open = *what;
	open->location = tt_viewer_location(&viewer.names, zone);
	if (open->location)
		emit_begin(speaker, open, ns, said);
}

/* Zones of a thread nest: those above one that ends are ended with it and begun again. */
static void end_zone(struct speaker *speaker, bool user, uint64_t ns, uint64_t name)
{
	size_t at = speaker->open.count;

	while (at > 0 && speaker->open.data[at - 1].user != user)
		at--;
	if (at == 0)
		return;
	for (size_t i = speaker->open.count; i >= at; i--)
		emit_end(speaker, &speaker->open.data[i - 1], ns, i == at ? name : 0);
	for (size_t i = at; i < speaker->open.count; i++) {
		speaker->open.data[i - 1] = speaker->open.data[i];
		if (speaker->open.data[i - 1].told)
			emit_begin(speaker, &speaker->open.data[i - 1], ns, 0);
	}
	speaker->open.count--;
}

/* A message; those with `error` are red. */
static void emit_text(const struct tt_wire_message *message)
{
	const char *text = message->text;
	char *copy = strnlen(text, TEXT_MOST) < TEXT_MOST ? tt_strdup(text) : NULL;
	struct tt_viewer_record *record = copy ? push(false) : NULL;

	if (record)
		*record = (struct tt_viewer_record){.kind = TT_VIEWER_MESSAGE,
						    .error = message->error,
						    .ns = message->ns,
						    .thread = message->thread,
						    .what = message->color,
						    .text = copy};
	else
		tt_free(copy);
}

static void emit_mark(const struct speaker *speaker, const struct tt_event_mark *mark, uint64_t ns)
{
	struct tt_str text = {0};
	struct tt_viewer_record *record;

	if (mark->kind == TT_MARK_FRAME) {
		record = push(false);
		if (record)
			*record = (struct tt_viewer_record){.kind = TT_VIEWER_ROUND, .ns = ns};
		return;
	}
	if (mark->kind != TT_MARK_SIGNPOST)
		tt_str_adds(&text, mark->text);
	else if (strncmp(mark->text, "MLIR_", 5) == 0)
		tt_str_addf(&text, "%s;%s", mark->text, mark->detail ? mark->detail : "");
	else
		tt_str_addf(&text, "`TT_SIGNPOST: %s%s%s`", mark->text, mark->detail ? "\n" : "",
			    mark->detail ? mark->detail : "");
	emit_text(&(struct tt_wire_message){.thread = speaker->thread,
					    .color = mark->color,
					    .ns = ns,
					    .text = tt_str_text(&text)});
	tt_str_deinit(&text);
}

static void know_mesh(const struct tt_event_device *device)
{
	struct mesh *mesh =
		device->info && device->info->chip_count ? TT_VEC_PUSH(&viewer.meshes) : NULL;

	if (mesh)
		*mesh = (struct mesh){device->device_id, device->info->chips[0]};
}

static uint32_t chip_of(uint32_t device_id)
{
	for (size_t i = viewer.meshes.count; i-- > 0;)
		if (viewer.meshes.data[i].device_id == device_id)
			return viewer.meshes.data[i].chip_id;
	return device_id;
}

static struct plot *plot_of(const struct tt_event_buffer *buffer)
{
	static const char *const kinds[BANKS] = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL",
						 "TRACE"};
	uint32_t kind = (uint32_t)buffer->type;
	struct plot *plot;
	char name[64];

	for (size_t i = 0; i < viewer.plots.count; i++)
		if (viewer.plots.data[i].device_id == buffer->device_id &&
		    viewer.plots.data[i].kind == kind)
			return &viewer.plots.data[i];
	plot = kind < BANKS ? TT_VEC_PUSH(&viewer.plots) : NULL;
	if (!plot)
		return NULL;
	snprintf(name, sizeof(name), "Device %u: %s in use", chip_of(buffer->device_id),
		 kinds[kind]);
	*plot = (struct plot){.device_id = buffer->device_id,
			      .kind = kind,
			      .name = tt_viewer_string(&viewer.names, name)};
	return plot;
}

static void emit_buffer(const struct speaker *speaker, const struct tt_event_buffer *buffer,
			bool comes, uint64_t ns)
{
	struct plot *plot = buffer->real ? plot_of(buffer) : NULL;
	struct tt_viewer_record *record;

	if (!plot)
		return;
	if (comes)
		plot->bytes += buffer->size;
	else
		plot->bytes -= buffer->size < plot->bytes ? buffer->size : plot->bytes;
	record = push(false);
	if (record)
		*record = (struct tt_viewer_record){.kind = TT_VIEWER_PLOT,
						    .ns = ns,
						    .thread = speaker->thread,
						    .what = plot->name,
						    .value = (double)plot->bytes};
}

static void emit_run(const struct tt_event_program_run *run, uint64_t ticks)
{
	uint64_t end_ns = tt_clock_ticks_to_ns(ticks), begin_ns;
	struct tt_viewer_record *record;
	size_t chip = 0;

	while (chip < viewer.chip_count && viewer.chips[chip].chip_id != run->chip_id)
		chip++;
	if (chip == CHIPS)
		return;
	if (chip == viewer.chip_count)
		viewer.chips[viewer.chip_count++] = (struct chip){.chip_id = run->chip_id};
	begin_ns = tt_clock_ticks_to_ns(ticks - run->whole);
	if (begin_ns < viewer.chips[chip].last_ns)
		begin_ns = viewer.chips[chip].last_ns;
	if (end_ns <= begin_ns) /* viewers do not count what takes no time */
		end_ns = begin_ns + 1;
	record = push(false);
	if (!record)
		return;
	viewer.chips[chip].last_ns = end_ns;
	*record = (struct tt_viewer_record){
		.kind = TT_VIEWER_PROGRAM, .ns = end_ns, .what = begin_ns};
	record->program = tt_viewer_location(&viewer.names,
					     &(struct tt_event_zone){.name = run->name ? run->name
										       : "program"})
				  << 8 |
			  chip;
}

static void begin_scope(struct speaker *speaker, const struct tt_event_scope_begin *begin,
			uint64_t ns)
{
	struct tt_event_zone zone = {.name = begin->name ? begin->name : ""};
	const struct open_zone ours = {0};
	uint64_t said = 0;

	if (speaker->placed) {
		zone.file = speaker->place.file;
		zone.function = speaker->place.function;
		zone.line = speaker->place.line;
		speaker->placed = false;
	}
	if (begin->kind == TT_SCOPE_OPERATION && begin->arg_count && is_told())
		said = tt_viewer_arguments(&viewer.names, begin);
	begin_zone(speaker, &zone, &ours, ns, said);
}

static void begin_user_zone(struct speaker *speaker, const struct tt_event_zone *told, uint64_t ns)
{
	const struct open_zone theirs = {.user = true};
	struct tt_event_zone zone = *told;

	if (!zone.name)
		zone.name = zone.function ? zone.function : "";
	begin_zone(speaker, &zone, &theirs, ns, 0);
}

static void end_user_zone(struct speaker *speaker, const char *name, uint64_t ns)
{
	end_zone(speaker, true, ns, name && is_told() ? tt_viewer_string(&viewer.names, name) : 0);
}

/* A replay is a stretch of its thread. */
static void emit_replay(struct speaker *speaker, const struct tt_event_metal_trace *trace,
			uint64_t ns)
{
	const struct tt_event_zone zone = {.name = "replay of a trace"};
	const struct open_zone theirs = {.user = true};
	char text[64];

	snprintf(text, sizeof(text), "trace_id: %u\nreplay: %u", trace->trace_id, trace->session);
	if (trace->step == TT_METAL_TRACE_REPLAY)
		begin_zone(speaker, &zone, &theirs, ns, tt_viewer_passing(&viewer.names, text));
	else if (trace->step == TT_METAL_TRACE_DONE)
		end_zone(speaker, true, ns, 0);
}

static void hear(const struct tt_event *event)
{
	uint64_t ticks = event->ticks ? event->ticks : tt_clock_ticks();
	uint64_t ns = tt_clock_ticks_to_ns(ticks);
	struct speaker *speaker = own_speaker();

	if (!speaker)
		return;
	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		begin_scope(speaker, &event->begin, ns);
		break;
	case TT_EVENT_SCOPE_END:
		end_zone(speaker, false, ns, 0);
		break;
	case TT_EVENT_ZONE_BEGIN:
		begin_user_zone(speaker, &event->zone, ns);
		break;
	case TT_EVENT_ZONE_END:
		end_user_zone(speaker, event->zone.name, ns);
		break;
	case TT_EVENT_METAL_TRACE:
		emit_replay(speaker, &event->metal_trace, ns);
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_THERE:
		emit_buffer(speaker, &event->buffer, true, ns);
		break;
	case TT_EVENT_BUFFER_FREE:
		emit_buffer(speaker, &event->buffer, false, ns);
		break;
	case TT_EVENT_PROGRAM_RUN:
		emit_run(&event->run, ticks);
		break;
	case TT_EVENT_DEVICE_OPEN:
		know_mesh(&event->device);
		break;
	case TT_EVENT_MARK:
		emit_mark(speaker, &event->mark, ns);
		break;
	case TT_EVENT_ERROR:
		emit_text(&(struct tt_wire_message){.thread = speaker->thread,
						    .color = RED,
						    .error = true,
						    .ns = ns,
						    .text = event->error.message});
		break;
	case TT_EVENT_PLACE:
		speaker->place = event->place;
		speaker->placed = true;
		break;
	default:
		break;
	}
}

static void on_events(struct tt_event_listener *self, const struct tt_event *events, size_t count)
{
	(void)self;
	if (!atomic_load_explicit(&heard, memory_order_relaxed))
		return;
	tt_lock_take(&viewer_lock);
	for (size_t i = 0; i < count; i++)
		hear(&events[i]);
	tt_lock_give(&viewer_lock);
}

static void on_event(struct tt_event_listener *self, const struct tt_event *event)
{
	on_events(self, event, 1);
}

static struct tt_event_listener listener = {.emit = on_event, .emit_all = on_events};

/* ---- for the viewer ------------------------------------------------------------------------------------ */

static void answer_thread(struct tt_wire *wire, uint64_t what)
{
	const char *name = "";

	for (size_t i = 0; i < viewer.threads.count; i++)
		if (viewer.threads.data[i].id == what)
			name = viewer.threads.data[i].name;
	if (what && what <= viewer.chip_count)
		name = "programs";
	tt_wire_answer(wire, TT_WIRE_THREAD, what, name);
}

void tt_viewer_answer(struct tt_wire *wire, enum tt_wire_query query, uint64_t what)
{
	const char *text;

	tt_lock_take(&viewer_lock);
	text = tt_viewer_string_of(&viewer.names, what);
	if (query == TT_WIRE_LOCATION && what && what <= viewer.names.places.count)
		tt_wire_answer_location(wire, &viewer.names.places.data[what - 1]);
	else if (query == TT_WIRE_THREAD)
		answer_thread(wire, what);
	else if (query == TT_WIRE_STRING || query == TT_WIRE_PLOT || query == TT_WIRE_FRAME)
		tt_wire_answer(wire, query, what, text ? text : "");
	else
		tt_wire_answer_nothing(wire);
	tt_lock_give(&viewer_lock);
}

/* Chips and plots that the viewer does not know yet. */
static void introduce(struct tt_wire *wire, struct tt_viewer_known *known)
{
	char name[32];

	for (; known->chips < viewer.chip_count; known->chips++) {
		snprintf(name, sizeof(name), "Device %u", viewer.chips[known->chips].chip_id);
		tt_wire_context(wire, (uint8_t)known->chips, viewer.began_ns, name);
	}
	for (; known->plots < viewer.plots.count; known->plots++)
		tt_wire_plot_of_bytes(wire, viewer.plots.data[known->plots].name);
}

size_t tt_viewer_take(struct tt_viewer_record *out, size_t most, struct tt_wire *wire,
		      struct tt_viewer_known *known)
{
	size_t count = 0;

	tt_lock_take(&viewer_lock);
	introduce(wire, known);
	while (count < most && viewer.count) {
		out[count] = viewer.queue[viewer.first];
		if (out[count].kind == TT_VIEWER_BEGIN || out[count].kind == TT_VIEWER_END)
			out[count].name = tt_viewer_string_of(&viewer.names, out[count].said);
		count++;
		viewer.first = (viewer.first + 1) % QUEUE;
		viewer.count--;
	}
	tt_lock_give(&viewer_lock);
	return count;
}

bool tt_viewer_is_empty(void)
{
	bool empty;

	tt_lock_take(&viewer_lock);
	empty = !viewer.count;
	tt_lock_give(&viewer_lock);
	return empty;
}

uint64_t tt_viewer_lost(void)
{
	uint64_t lost;

	tt_lock_take(&viewer_lock);
	lost = viewer.lost;
	tt_lock_give(&viewer_lock);
	return lost;
}

bool tt_viewer_attach(void)
{
	bool late;

	tt_lock_take(&viewer_lock);
	viewer.attached = true;
	late = viewer.late;
	tt_lock_give(&viewer_lock);
	return late;
}

void tt_viewer_reset(bool on)
{
	tt_lock_take(&viewer_lock);
	drop_all();
	viewer.attached = viewer.late = false;
	viewer.life++;
	if (on) {
		viewer.threads.count = 0;
		viewer.lost = 0;
		viewer.began_ns = tt_clock_ns();
	}
	atomic_store(&heard, on);
	tt_lock_give(&viewer_lock);
}

bool tt_viewer_hear(void)
{
	viewer.queue = tt_calloc(QUEUE, sizeof(*viewer.queue));
	if (!viewer.queue || pthread_key_create(&viewer.key, free_speaker) != 0)
		return false;
	(void)tt_clock_ticks_to_ns(tt_clock_ticks()); /* so that no event waits for the rate */
	tt_viewer_reset(true);
	atomic_fetch_add(&tt_event_profiles, 1);
	return tt_event_attach(&listener) == TTNN_OK;
}
