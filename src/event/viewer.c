#include "event/viewer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/tracy_wire.h"

#define QUEUE ((size_t)1 << 20) /* records, of 32 bytes */
#define SPARE 65536             /* of these, for ends of zones that were told */
#define PORTS 64                /* that are tried */
#define BATCH 2048
#define CHIPS 64
#define BANKS 5
#define TEXT_MOST 16384
#define TICK_MS 10
#define HELLO_NS UINT64_C(1000000000)    /* that a viewer has for its first words */
#define PATIENCE_NS UINT64_C(3000000000) /* at the end, for a viewer that says or takes nothing */
#define ENDING_NS UINT64_C(10000000000)  /* at the end, in all */
#define ALIVE_NS UINT64_C(500000000)
#define BROADCAST_NS UINT64_C(3000000000)
#define BROADCAST_PORT 8086

enum record_kind {
	RECORD_BEGIN,
	RECORD_END,
	RECORD_MESSAGE,
	RECORD_ROUND,
	RECORD_PLOT,
	RECORD_PROGRAM
};

struct record {
	uint64_t ns;
	uint64_t what; /* a location or plot; of a program when it began */
	union {
		char *text; /* owned */
		double value;
		uint64_t program; /* location << 8 | chip */
	};
	uint32_t thread;
	uint8_t kind;
};

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

static struct {
	atomic_bool on;
	bool listening; /* attached to events */
	/* Guarded by the lock. */
	struct record *queue;
	size_t first, count;
	uint32_t round;      /* of the queue: what was told before the last emptying is not */
	bool attached, gone; /* a viewer is here; was here */
	bool late;           /* nobody came while all fitted */
	uint64_t lost;
	struct tt_map strings, locations; /* text → number, from 1; likewise */
	TT_VEC(const char *) texts;
	TT_VEC(struct tt_wire_location) places;
	TT_VEC(struct plot) plots;
	struct chip chips[CHIPS];
	size_t chip_count;
	TT_VEC(struct named) threads;
	uint32_t life;
	/* The thread's. */
	pthread_t thread;
	bool running;
	atomic_bool ending;
	int listener, port;
	int fd; /* of the viewer, + 1: for the child of a fork, which closes it */
	uint64_t began_ns;
	pthread_key_t key;
} viewer = {.round = 1, .life = 1, .listener = -1};

static void begin_again(struct tt_lock *lock);
static const struct tt_lock_forks forks = {.child = begin_again};
TT_LOCK_STATIC(viewer_lock, TT_RANK_VIEWER, &forks);

/* ---- the queue ----------------------------------------------------------------------------------------- */

static void drop_all(void)
{
	for (; viewer.count; viewer.count--) {
		struct record *record = &viewer.queue[viewer.first++ % QUEUE];

		if (record->kind == RECORD_MESSAGE)
			tt_free(record->text);
	}
	viewer.first = 0;
	viewer.round++;
}

/* Room for a record; NULL: it is left out. `sure`: the end of what was told. */
static struct record *push(bool sure)
{
	if (viewer.gone || (viewer.late && !viewer.attached))
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

static uint64_t number_of(struct tt_map *map, const void *key, size_t size, bool *added)
{
	struct tt_map_entry *entry = tt_map_add(map, key, size, added);

	if (!entry)
		return 0;
	if (*added)
		entry->number = map->count;
	return entry->number;
}

static uint64_t string_of(const char *text)
{
	const char **place;
	bool added;
	uint64_t number = number_of(&viewer.strings, text, strlen(text), &added);

	if (!number || !added)
		return number;
	place = TT_VEC_PUSH(&viewer.texts);
	if (!place)
		return 0;
	*place = viewer.strings.entries[number - 1].key;
	return number;
}

/* The number of a place in the program; 0 when memory is exhausted. */
static uint64_t location_of(const struct tt_event_zone *zone)
{
	const struct {
		const void *name, *file;
		uint64_t line;
	} key = {zone->name, zone->file, (uint64_t)zone->line << 32 | zone->color};
	struct tt_wire_location *place;
	bool added;
	uint64_t number = number_of(&viewer.locations, &key, sizeof(key), &added);

	if (!number || !added)
		return number;
	place = TT_VEC_PUSH(&viewer.places);
	if (!place)
		return 0;
	*place = (struct tt_wire_location){
		.name = string_of(zone->name),
		.function = string_of(zone->function ? zone->function : zone->name),
		.file = string_of(zone->file ? zone->file : ""),
		.line = zone->line,
		.color = zone->color};
	return number;
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

static void tell_begin(struct speaker *speaker, struct open_zone *open, uint64_t ns)
{
	struct record *record = push(false);

	open->told = record ? viewer.round : 0;
	if (record)
		*record = (struct record){.kind = RECORD_BEGIN,
					  .ns = ns,
					  .thread = speaker->thread,
					  .what = open->location};
}

static void tell_end(struct speaker *speaker, const struct open_zone *open, uint64_t ns)
{
	struct record *record = open->told == viewer.round ? push(true) : NULL;

	if (record)
		*record = (struct record){.kind = RECORD_END, .ns = ns, .thread = speaker->thread};
}

static void begin_zone(struct speaker *speaker, const struct tt_event_zone *zone, bool user,
		       uint64_t ns)
{
	struct open_zone *open = TT_VEC_PUSH(&speaker->open);

	if (!open) {
		viewer.lost++;
		return;
	}
	*open = (struct open_zone){.location = location_of(zone), .user = user};
	if (open->location)
		tell_begin(speaker, open, ns);
}

/* Zones of a thread nest: those above one that ends are ended with it and begun again. */
static void end_zone(struct speaker *speaker, bool user, uint64_t ns)
{
	size_t at = speaker->open.count;

	while (at > 0 && speaker->open.data[at - 1].user != user)
		at--;
	if (at == 0)
		return;
	for (size_t i = speaker->open.count; i >= at; i--)
		tell_end(speaker, &speaker->open.data[i - 1], ns);
	for (size_t i = at; i < speaker->open.count; i++) {
		speaker->open.data[i - 1] = speaker->open.data[i];
		if (speaker->open.data[i - 1].told)
			tell_begin(speaker, &speaker->open.data[i - 1], ns);
	}
	speaker->open.count--;
}

static void tell_text(const struct speaker *speaker, const char *text, uint64_t ns)
{
	char *copy = strnlen(text, TEXT_MOST) < TEXT_MOST ? tt_strdup(text) : NULL;
	struct record *record = copy ? push(false) : NULL;

	if (record)
		*record = (struct record){
			.kind = RECORD_MESSAGE, .ns = ns, .thread = speaker->thread, .text = copy};
	else
		tt_free(copy);
}

static void tell_mark(const struct speaker *speaker, const struct tt_event_mark *mark, uint64_t ns)
{
	struct tt_str text = {0};
	struct record *record;

	if (mark->kind == TT_MARK_FRAME) {
		record = push(false);
		if (record)
			*record = (struct record){.kind = RECORD_ROUND, .ns = ns};
		return;
	}
	if (mark->kind != TT_MARK_SIGNPOST)
		tt_str_adds(&text, mark->text);
	else if (strncmp(mark->text, "MLIR_", 5) == 0)
		tt_str_addf(&text, "%s;%s", mark->text, mark->detail ? mark->detail : "");
	else
		tt_str_addf(&text, "`TT_SIGNPOST: %s%s%s`", mark->text, mark->detail ? "\n" : "",
			    mark->detail ? mark->detail : "");
	tell_text(speaker, tt_str_text(&text), ns);
	tt_str_deinit(&text);
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
	snprintf(name, sizeof(name), "Device %u: %s in use", buffer->device_id, kinds[kind]);
	*plot = (struct plot){
		.device_id = buffer->device_id, .kind = kind, .name = string_of(name)};
	return plot;
}

static void tell_buffer(const struct speaker *speaker, const struct tt_event_buffer *buffer,
			bool comes, uint64_t ns)
{
	struct plot *plot = buffer->real ? plot_of(buffer) : NULL;
	struct record *record;

	if (!plot)
		return;
	if (comes)
		plot->bytes += buffer->size;
	else
		plot->bytes -= buffer->size < plot->bytes ? buffer->size : plot->bytes;
	record = push(false);
	if (record)
		*record = (struct record){.kind = RECORD_PLOT,
					  .ns = ns,
					  .thread = speaker->thread,
					  .what = plot->name,
					  .value = (double)plot->bytes};
}

static void tell_run(const struct tt_event_program_run *run, uint64_t ticks)
{
	uint64_t end_ns = tt_clock_ticks_to_ns(ticks), begin_ns;
	struct record *record;
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
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	record = push(false);
	if (!record)
		return;
	viewer.chips[chip].last_ns = end_ns;
	*record = (struct record){.kind = RECORD_PROGRAM, .ns = end_ns, .what = begin_ns};
	record->program =
		location_of(&(struct tt_event_zone){.name = run->name ? run->name : "program"})
			<< 8 |
		chip;
}

static void begin_scope(struct speaker *speaker, const struct tt_event_scope_begin *begin,
			uint64_t ns)
{
	struct tt_event_zone zone = {.name = begin->name ? begin->name : ""};

	if (speaker->placed) {
		zone.file = speaker->place.file;
		zone.function = speaker->place.function;
		zone.line = speaker->place.line;
		speaker->placed = false;
	}
	begin_zone(speaker, &zone, false, ns);
}

static void begin_user_zone(struct speaker *speaker, const struct tt_event_zone *told, uint64_t ns)
{
	struct tt_event_zone zone = *told;

	if (!zone.name)
		zone.name = zone.function ? zone.function : "";
	begin_zone(speaker, &zone, true, ns);
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
		end_zone(speaker, false, ns);
		break;
	case TT_EVENT_ZONE_BEGIN:
		begin_user_zone(speaker, &event->zone, ns);
		break;
	case TT_EVENT_ZONE_END:
		end_zone(speaker, true, ns);
		break;
	case TT_EVENT_BUFFER_ALLOC:
	case TT_EVENT_BUFFER_THERE:
		tell_buffer(speaker, &event->buffer, true, ns);
		break;
	case TT_EVENT_BUFFER_FREE:
		tell_buffer(speaker, &event->buffer, false, ns);
		break;
	case TT_EVENT_PROGRAM_RUN:
		tell_run(&event->run, ticks);
		break;
	case TT_EVENT_MARK:
		tell_mark(speaker, &event->mark, ns);
		break;
	case TT_EVENT_ERROR:
		tell_text(speaker, event->error.message, ns);
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
	if (!atomic_load_explicit(&viewer.on, memory_order_relaxed))
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

/* ---- the conversation ---------------------------------------------------------------------------------- */

/* The one viewer, as the thread sees it. */
struct talk {
	int fd; /* -1: there is none */
	bool welcome;
	uint64_t since_ns, moved_ns;
	unsigned char in[4096];
	size_t in_count;
	struct tt_wire wire;
	struct tt_str out;
	size_t sent;
	size_t chips, plots; /* that it was told of */
	bool terminated, done;
	uint64_t last_ns; /* when the last word was said; 0: not yet */
};

static const char *program_name(void)
{
	return program_invocation_short_name ? program_invocation_short_name : "";
}

static void hang_up(struct talk *talk)
{
	bool welcome = talk->welcome;

	close(talk->fd);
	viewer.fd = 0;
	tt_str_deinit(&talk->wire.frame);
	tt_str_deinit(&talk->out);
	*talk = (struct talk){.fd = -1, .done = welcome};
	if (!welcome)
		return;
	tt_lock_take(&viewer_lock);
	viewer.attached = false;
	viewer.gone = true;
	atomic_store(&viewer.on, false);
	drop_all();
	tt_lock_give(&viewer_lock);
}

/* Says one byte, and no more to this one. */
static void refuse(int fd, enum tt_wire_status status)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char hello[TT_WIRE_HELLO_SIZE], byte = (char)status;

	/* Bytes that nobody read would take the answer with them. */
	if (poll(&ready, 1, 50) > 0)
		(void)!recv(fd, hello, sizeof(hello), MSG_DONTWAIT);
	(void)!send(fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void welcome(struct talk *talk)
{
	struct tt_wire_self self = {.began_ns = viewer.began_ns,
				    .now_ns = tt_clock_ns(),
				    .epoch = (uint64_t)(tt_clock_wall_ns() / 1000000000),
				    .pid = (uint64_t)getpid(),
				    .program = program_name()};
	uint32_t protocol = 0;

	for (unsigned i = 0; i < 4; i++)
		protocol |= (uint32_t)talk->in[8 + i] << 8 * i;
	talk->wire.version = tt_wire_find(protocol);
	if (!talk->wire.version) {
		char byte = TT_WIRE_MISMATCH;

		(void)!send(talk->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		hang_up(talk);
		return;
	}
	tt_lock_take(&viewer_lock);
	viewer.attached = true;
	self.late = viewer.late;
	tt_lock_give(&viewer_lock);
	tt_wire_welcome(&talk->out, &talk->wire, &self);
	memmove(talk->in, talk->in + TT_WIRE_HELLO_SIZE, talk->in_count -= TT_WIRE_HELLO_SIZE);
	talk->welcome = true;
	talk->moved_ns = tt_clock_ns();
}

static void answer_thread(struct talk *talk, uint64_t what)
{
	const char *name = "";

	for (size_t i = 0; i < viewer.threads.count; i++)
		if (viewer.threads.data[i].id == what)
			name = viewer.threads.data[i].name;
	if (what && what <= viewer.chip_count)
		name = "programs";
	tt_wire_answer(&talk->wire, TT_WIRE_THREAD, what, name);
}

static void answer(struct talk *talk, enum tt_wire_query query, uint64_t what)
{
	tt_lock_take(&viewer_lock);
	if (query == TT_WIRE_TERMINATE)
		talk->terminated = true;
	else if (query == TT_WIRE_LOCATION && what && what <= viewer.places.count)
		tt_wire_answer_location(&talk->wire, &viewer.places.data[what - 1]);
	else if (query == TT_WIRE_THREAD)
		answer_thread(talk, what);
	else if (query == TT_WIRE_STRING || query == TT_WIRE_PLOT || query == TT_WIRE_FRAME)
		tt_wire_answer(&talk->wire, query, what,
			       what && what <= viewer.texts.count ? viewer.texts.data[what - 1]
								  : "");
	else
		tt_wire_answer_nothing(&talk->wire);
	tt_lock_give(&viewer_lock);
}

/* What has come; false: the viewer is gone, or makes no sense. */
static bool listen_to(struct talk *talk)
{
	ssize_t got = recv(talk->fd, talk->in + talk->in_count, sizeof(talk->in) - talk->in_count,
			   MSG_DONTWAIT);
	size_t at = 0;
	uint64_t what;

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	if (got > 0) {
		talk->in_count += (size_t)got;
		talk->moved_ns = tt_clock_ns();
	}
	if (!talk->welcome) {
		size_t compared = talk->in_count < 8 ? talk->in_count : 8;

		if (memcmp(talk->in, TT_WIRE_HELLO, compared) != 0)
			return false;
		if (talk->in_count < TT_WIRE_HELLO_SIZE)
			return tt_clock_ns() - talk->since_ns < HELLO_NS;
		welcome(talk);
		return true;
	}
	for (; talk->in_count - at >= TT_WIRE_QUERY_SIZE && !talk->terminated;
	     at += TT_WIRE_QUERY_SIZE) {
		enum tt_wire_query query = tt_wire_read_query(&what, talk->in + at);

		answer(talk, query, what);
	}
	memmove(talk->in, talk->in + at, talk->in_count -= at);
	tt_wire_pack(&talk->out, &talk->wire);
	return !talk->terminated;
}

static void say_record(struct talk *talk, const struct record *record)
{
	switch ((enum record_kind)record->kind) {
	case RECORD_BEGIN:
		tt_wire_begin(&talk->wire, record->thread, record->ns, record->what);
		break;
	case RECORD_END:
		tt_wire_end(&talk->wire, record->thread, record->ns);
		break;
	case RECORD_MESSAGE:
		tt_wire_message(&talk->wire, record->thread, record->ns, record->text);
		tt_free(record->text);
		break;
	case RECORD_ROUND:
		tt_wire_round(&talk->wire, record->ns);
		break;
	case RECORD_PLOT:
		tt_wire_plot(&talk->wire, record->thread, record->ns, record->what, record->value);
		break;
	case RECORD_PROGRAM:
		tt_wire_program(&talk->wire,
				&(struct tt_wire_program){.context = (uint8_t)record->program,
							  .begin_ns = record->what,
							  .end_ns = record->ns,
							  .location = record->program >> 8});
		break;
	}
}

/* Chips and plots that the viewer does not know yet. */
static void introduce(struct talk *talk)
{
	char name[32];

	for (; talk->chips < viewer.chip_count; talk->chips++) {
		snprintf(name, sizeof(name), "Device %u", viewer.chips[talk->chips].chip_id);
		tt_wire_context(&talk->wire, (uint8_t)talk->chips, viewer.began_ns, name);
	}
	for (; talk->plots < viewer.plots.count; talk->plots++)
		tt_wire_plot_of_bytes(&talk->wire, viewer.plots.data[talk->plots].name);
}

/* The next of the queue, as a frame. */
static void take_records(struct talk *talk)
{
	struct record batch[BATCH];
	size_t count = 0;

	tt_lock_take(&viewer_lock);
	introduce(talk);
	while (count < BATCH && viewer.count) {
		batch[count++] = viewer.queue[viewer.first];
		viewer.first = (viewer.first + 1) % QUEUE;
		viewer.count--;
	}
	tt_lock_give(&viewer_lock);
	for (size_t i = 0; i < count; i++) {
		say_record(talk, &batch[i]);
		if (talk->wire.frame.length > TT_WIRE_FRAME_MOST)
			tt_wire_pack(&talk->out, &talk->wire);
	}
}

/* Sends what can be sent without waiting; false: the viewer is gone. */
static bool send_to(struct talk *talk)
{
	while (talk->sent < talk->out.length) {
		ssize_t done = send(talk->fd, talk->out.data + talk->sent,
				    talk->out.length - talk->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (done < 0)
			return errno == EAGAIN || errno == EINTR;
		talk->sent += (size_t)done;
		talk->moved_ns = tt_clock_ns();
	}
	tt_str_clear(&talk->out);
	talk->sent = 0;
	return true;
}

static bool speak_to(struct talk *talk)
{
	for (;;) {
		if (!send_to(talk))
			return false;
		if (!talk->welcome || talk->last_ns || talk->out.length)
			return true;
		take_records(talk);
		if (!talk->wire.frame.length && !talk->out.length) {
			if (tt_clock_ns() - talk->moved_ns <= ALIVE_NS)
				return true;
			tt_wire_keep_alive(&talk->wire);
		}
		tt_wire_pack(&talk->out, &talk->wire);
		if (tt_str_status(&talk->out) != TTNN_OK)
			return false;
	}
}

static void meet(struct talk *talk)
{
	int fd = accept4(viewer.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (talk->fd >= 0 || talk->done) {
		refuse(fd, TT_WIRE_BUSY);
		return;
	}
	viewer.fd = fd + 1;
	*talk = (struct talk){.fd = fd, .since_ns = tt_clock_ns(), .moved_ns = tt_clock_ns()};
}

static void call_out(uint64_t *next_ns)
{
	unsigned char bytes[TT_WIRE_BROADCAST_SIZE];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(BROADCAST_PORT)};
	int fd, yes = 1;

	if (tt_clock_ns() < *next_ns)
		return;
	*next_ns = tt_clock_ns() + BROADCAST_NS;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	to.sin_addr.s_addr = htonl(0x7fffffff); /* all of this machine */
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes));
	tt_wire_broadcast(bytes, (uint16_t)viewer.port, (uint64_t)getpid(), program_name());
	(void)!sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static bool is_empty(void)
{
	bool empty;

	tt_lock_take(&viewer_lock);
	empty = !viewer.count;
	tt_lock_give(&viewer_lock);
	return empty;
}

/* Whether nothing is left to be said: then the thread ends. */
static bool is_over(struct talk *talk, uint64_t *ending_ns)
{
	uint64_t now = tt_clock_ns();

	if (!atomic_load(&viewer.ending))
		return false;
	if (talk->fd < 0 || !talk->welcome)
		return talk->done || !getenv("TRACY_NO_EXIT");
	if (!*ending_ns)
		*ending_ns = now;
	if (now - *ending_ns > ENDING_NS || now - talk->moved_ns > PATIENCE_NS ||
	    (talk->last_ns && now - talk->last_ns > PATIENCE_NS))
		return true;
	if (!talk->last_ns && !talk->out.length && is_empty()) {
		tt_wire_terminate(&talk->wire);
		tt_wire_pack(&talk->out, &talk->wire);
		talk->last_ns = now;
	}
	return false;
}

static void *converse(void *nothing)
{
	struct talk *talk = tt_calloc(1, sizeof(*talk));
	uint64_t broadcast_ns = 0;
	uint64_t ending_ns = 0;

	if (!talk)
		return nothing;
	talk->fd = -1;
	while (!is_over(talk, &ending_ns)) {
		struct pollfd ready[2] = {{.fd = viewer.listener, .events = POLLIN},
					  {.fd = talk->fd, .events = POLLIN}};

		if (talk->fd >= 0 && talk->out.length)
			ready[1].events |= POLLOUT;
		poll(ready, 2, TICK_MS);
		if (talk->fd < 0 && !talk->done)
			call_out(&broadcast_ns);
		if (ready[0].revents)
			meet(talk);
		if (talk->fd >= 0 && (!listen_to(talk) || talk->fd < 0 || !speak_to(talk)) &&
		    talk->fd >= 0)
			hang_up(talk);
	}
	if (talk->fd >= 0)
		hang_up(talk);
	tt_free(talk);
	return nothing;
}

/* ---- begin and end ------------------------------------------------------------------------------------- */

/* The first free port from this one on, of this machine alone; false: none is. */
static bool listen_on(int first)
{
	int yes = 1;

	for (int port = first; port < first + PORTS && port <= UINT16_MAX; port++) {
		struct sockaddr_in here = {.sin_family = AF_INET,
					   .sin_port = htons((uint16_t)port)};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return false;
		here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(fd, 4) == 0) {
			viewer.listener = fd;
			viewer.port = port;
			return true;
		}
		close(fd);
	}
	return false;
}

static int wanted_port(void)
{
	const char *text = tt_env("TTNN_LIVE");
	char *end;
	long port = text ? strtol(text, &end, 10) : 0;

	return text && !*end && port > 0 && port <= UINT16_MAX ? (int)port : 0;
}

static bool start(void)
{
	sigset_t all, before;
	bool good;

	viewer.began_ns = tt_clock_ns();
	(void)tt_clock_ticks_to_ns(tt_clock_ticks()); /* so that no event waits for the rate */
	if (!viewer.queue)
		viewer.queue = tt_calloc(QUEUE, sizeof(*viewer.queue));
	if (!viewer.queue || !listen_on(wanted_port()))
		return false;
	atomic_store(&viewer.ending, false);
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	good = pthread_create(&viewer.thread, NULL, converse, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	viewer.running = good;
	atomic_store(&viewer.on, good);
	return good;
}

/* The child of a fork: nothing of the parent's goes out twice. */
static void begin_again(struct tt_lock *lock)
{
	(void)lock;
	if (!viewer.running)
		return;
	close(viewer.listener);
	if (viewer.fd)
		close(viewer.fd - 1);
	viewer.fd = 0;
	viewer.listener = -1;
	viewer.running = viewer.attached = viewer.gone = viewer.late = false;
	viewer.lost = 0;
	viewer.life++;
	viewer.threads.count = 0;
	drop_all();
	if (!start())
		atomic_store(&viewer.on, false);
}

__attribute__((destructor)) static void end_with_the_process(void)
{
	if (!viewer.running)
		return;
	atomic_store(&viewer.ending, true);
	pthread_join(viewer.thread, NULL);
	viewer.running = false;
	atomic_store(&viewer.on, false);
	close(viewer.listener);
	if (viewer.lost)
		tt_log(TT_LOG_WARN,
		       "%llu zones and numbers were not told to the viewer: it was too slow",
		       (unsigned long long)viewer.lost);
}

void tt_viewer_from_environment(void)
{
	const char *wanted = tt_env("TTNN_LIVE");

	if (!wanted)
		return;
	if (!wanted_port()) {
		tt_log(TT_LOG_WARN, "TTNN_LIVE: %s is no port", wanted);
		return;
	}
	if (pthread_key_create(&viewer.key, free_speaker) != 0 || !start()) {
		tt_log(TT_LOG_WARN, "TTNN_LIVE: there is no free port from %s on", wanted);
		return;
	}
	atomic_fetch_add(&tt_event_profiles, 1);
	if (tt_event_attach(&listener) != TTNN_OK)
		tt_log(TT_LOG_WARN, "TTNN_LIVE: %s", ttnn_error());
}
