#include "event/capture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "event/announce.h"
#include "event/call.h"
#include "event/grace.h"
#include "event/store.h"

/* One thread's part of a capture. Its thread writes it; others only while that is held out. */
struct stream {
	struct stream *next;
	struct tt_capture *capture;
	const struct tt_speaker *speaker; /* NULL: the thread is gone */
	struct tt_encoder *encoder;
	struct tt_chunk *chunk; /* NULL: none is begun */
	uint32_t thread, sequence;
	uint32_t depth;    /* open scopes */
	uint32_t recorded; /* the same, of those that are recorded */
	uint64_t op;       /* the last outermost call */
	bool inside;       /* of the window, if there is one */
	uint32_t chunk_depth;
	uint64_t chunk_op;
	uint64_t heard, usual; /* calls, and what the last one took, if they are measured */
};

struct tt_capture {
	struct tt_event_listener listener;
	struct tt_capture_options options; /* texts are copies */
	struct tt_store store;
	_Atomic(const void *) owner; /* the thread, for this_thread; NULL: it has ended */
	int index;                   /* in `captures` */
	atomic_uint_least64_t serial;
	uint64_t began; /* tt_clock_ns() */
	atomic_uint_least64_t ops;
	atomic_uint_least64_t cost; /* ticks that were spent recording, if that is measured */
	atomic_bool marked;         /* between the marks, or there are none */
	atomic_bool dead;           /* begun by a process of which this one is a child */
	atomic_uint flushed;        /* signals that were obeyed */
	bool whole;                 /* there is no window: all is recorded */
	bool calls;                 /* wants them */
	bool measured;              /* what recording costs is to be told */
	bool stopped;
	tt_status status; /* of the stop */

	struct tt_lock lock; /* of the list */
	struct stream *streams;
	uint32_t stream_count;
};

static void part_from_parent(struct tt_lock *unused);
static const struct tt_lock_forks forks = {.child = part_from_parent};
TT_LOCK_STATIC(captures_lock, TT_RANK_CAPTURES, &forks);
static struct tt_capture *captures[TT_LISTENERS_MAX];
static atomic_uint_least64_t last_serial;
static atomic_uint flush_signals;

/* Of each thread: its streams, as long as the serial number is that of the capture in that place. */
static _Thread_local struct {
	uint64_t serial;
	struct stream *stream;
} own[TT_LISTENERS_MAX];

/* ---- chunks --------------------------------------------------------------------------------------------- */

static uint64_t since_begin(const struct tt_capture *capture, uint64_t ticks)
{
	uint64_t ns = tt_clock_ticks_to_ns(ticks);

	return ns > capture->began ? ns - capture->began : 0;
}

/* Hands over what the stream has; it goes on in another chunk. */
static void seal(struct stream *stream)
{
	struct tt_chunk *chunk = stream->chunk;
	uint64_t first, last;
	size_t name_count;
	const struct tt_name_count *names;

	if (!chunk)
		return;
	stream->chunk = NULL;
	chunk->head = *tt_encoder_head(stream->encoder);
	if (!chunk->head.events) {
		tt_store_reuse(&stream->capture->store, chunk);
		return;
	}
	tt_encoder_ticks(&first, &last, stream->encoder);
	chunk->head.thread = stream->thread;
	chunk->head.sequence = stream->sequence++;
	chunk->head.depth = stream->chunk_depth;
	chunk->head.op = stream->chunk_op;
	chunk->head.first_ns = since_begin(stream->capture, first);
	chunk->head.last_ns = since_begin(stream->capture, last);
	chunk->head.tick = (uint64_t)(1e9 / tt_clock_rate() * 0x1p32);
	names = tt_encoder_names(&name_count, stream->encoder);
	tt_store_add(&stream->capture->store, chunk, names, name_count);
}

/*
 * What readers need to know of a chunk whose process ends before it is sealed. Its first record is from before: a file may
 * have been made since.
 */
static void describe_slot(struct stream *stream, struct tt_live_slot *slot, uint64_t first)
{
	double tick = 1e9 / tt_clock_rate_by_now();
	uint64_t now = tt_clock_ns(), ticks = tt_clock_ticks();
	uint64_t then = stream->capture->began +
			(ticks > first ? (uint64_t)((double)(ticks - first) * tick) : 0);
	struct tt_chunk_head head = {
		.thread = stream->thread,
		.sequence = stream->sequence,
		.depth = stream->chunk_depth,
		.op = stream->chunk_op,
		.first_ns = now > then ? now - then : 0,
		.tick = (uint64_t)(tick * 0x1p32),
	};

	tt_live_begin(slot, &head);
}

/* `first`: ticks of the record that comes first. */
static bool begin_chunk(struct stream *stream, size_t room, uint64_t first)
{
	struct tt_chunk *chunk = tt_store_chunk(&stream->capture->store, room);

	stream->chunk = chunk;
	if (!chunk)
		return false;
	stream->chunk_depth = stream->recorded;
	stream->chunk_op = stream->op;
	if (chunk->slot.map)
		describe_slot(stream, &chunk->slot, first);
	tt_encoder_start(stream->encoder, chunk->data, chunk->room,
			 chunk->slot.map ? tt_live_committed(&chunk->slot) : NULL);
	return true;
}

/* What is missing is told by the first chunk that is begun after it was noticed. */
static void emit_loss(struct stream *stream, uint64_t ticks)
{
	struct tt_event event = {.kind = TT_EVENT_LOSS};
	struct tt_stamp stamp = {.ticks = ticks};
	char reason[160];

	event.loss.records = tt_store_untold(reason, &stream->capture->store);
	event.loss.reason = reason;
	if (event.loss.records)
		tt_encoder_put(stream->encoder, &event, &stamp);
}

/* In a new chunk; a larger one if the record needs it. */
static bool put_anew(struct stream *stream, const struct tt_event *event, struct tt_stamp *stamp)
{
	if (!stamp->ticks)
		stamp->ticks = tt_clock_ticks();
	stamp->together = false;
	for (size_t room = 0; room <= TT_CHUNK_MAX / 2; room = 4 * stream->chunk->room) {
		seal(stream);
		if (!begin_chunk(stream, room, stamp->ticks))
			return false;
		emit_loss(stream, stamp->ticks);
		if (tt_encoder_put(stream->encoder, event, stamp))
			return true;
	}
	return false;
}

static inline void record(struct stream *stream, const struct tt_event *event,
			  struct tt_stamp *stamp)
{
	if ((!stream->chunk || !tt_encoder_put(stream->encoder, event, stamp)) &&
	    !put_anew(stream, event, stamp)) {
		tt_store_lose(&stream->capture->store, 1,
			      stream->chunk ? "a record is too large" : "memory is exhausted");
		return;
	}
	if (event->kind == TT_EVENT_SCOPE_BEGIN)
		stream->recorded++;
	else if (event->kind == TT_EVENT_SCOPE_END && stream->recorded)
		stream->recorded--;
}

/* ---- streams -------------------------------------------------------------------------------------------- */

static void emit_thread(struct stream *stream)
{
	struct tt_event event = {.kind = TT_EVENT_THREAD};
	char name[32] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	event.thread.system_id = (uint64_t)syscall(SYS_gettid);
	event.thread.name = name;
	record(stream, &event, &(struct tt_stamp){.ticks = tt_clock_ticks()});
}

static struct stream *new_stream(struct tt_capture *capture, const struct tt_speaker *self)
{
	struct stream *stream = tt_calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	if (tt_encoder_new(&stream->encoder) != TTNN_OK) {
		tt_free(stream);
		return NULL;
	}
	stream->capture = capture;
	stream->speaker = self;
	tt_lock_take(&capture->lock);
	stream->thread = capture->stream_count++;
	stream->next = capture->streams;
	capture->streams = stream;
	tt_lock_give(&capture->lock);
	/* What is to be found after a crash is written now and then from the first record on. */
	if (capture->options.flush_ns)
		tt_store_start(&capture->store);
	return stream;
}

/* With the first words of a thread; those of a process make the file. */
static struct stream *begin_stream(struct tt_capture *capture, uint64_t serial)
{
	uint64_t began = tt_clock_ticks();
	struct stream *stream = new_stream(capture, tt_grace_self());

	if (!stream)
		return NULL;
	own[capture->index].serial = serial;
	own[capture->index].stream = stream;
	emit_thread(stream);
	atomic_fetch_add_explicit(&capture->cost, tt_clock_ticks() - began, memory_order_relaxed);
	return stream;
}

static struct stream *find_stream(struct tt_capture *capture)
{
	uint64_t serial = atomic_load_explicit(&capture->serial, memory_order_relaxed);

	if (own[capture->index].serial == serial)
		return own[capture->index].stream;
	return begin_stream(capture, serial);
}

static void end_stream(struct stream *stream)
{
	seal(stream);
	tt_encoder_free(stream->encoder);
	stream->encoder = NULL;
	tt_lock_take(&stream->capture->lock);
	stream->speaker = NULL;
	tt_lock_give(&stream->capture->lock);
}

/* A thread ends: what it said is handed over, and its buffers are given back. */
static void end_thread(void)
{
	struct tt_speaker *self = tt_grace_enter();

	tt_lock_take(&captures_lock);
	for (int i = 0; self && i < TT_LISTENERS_MAX; i++) {
		const void *me = &own;

		/* Another thread may come to lie where this one did. */
		if (captures[i])
			atomic_compare_exchange_strong(&captures[i]->owner, &me, NULL);
		if (!captures[i] || own[i].serial != atomic_load(&captures[i]->serial))
			continue;
		own[i].serial = 0;
		end_stream(own[i].stream);
	}
	tt_lock_give(&captures_lock);
	if (self)
		tt_grace_leave(self);
}

static void free_streams(struct stream *streams)
{
	struct stream *next;

	for (; streams; streams = next) {
		next = streams->next;
		tt_chunk_unref(streams->chunk);
		tt_encoder_free(streams->encoder);
		tt_free(streams);
	}
}

/* ---- hearing -------------------------------------------------------------------------------------------- */

static bool in_window(const struct tt_capture *capture, uint64_t op)
{
	const struct tt_capture_options *options = &capture->options;
	uint64_t first = options->first_op ? options->first_op : 1;

	/* Before the first call it is 0. */
	return op >= options->first_op &&
	       (!options->op_count || op < first || op - first < options->op_count) &&
	       atomic_load_explicit(&capture->marked, memory_order_relaxed);
}

static void hear_mark(struct tt_capture *capture, const char *text)
{
	const struct tt_capture_options *options = &capture->options;

	if (!text)
		return;
	if (options->begin_mark && strcmp(text, options->begin_mark) == 0)
		atomic_store(&capture->marked, true);
	else if (options->end_mark && strcmp(text, options->end_mark) == 0)
		atomic_store(&capture->marked, false);
}

/* Follows the scopes; false when the event is not to be recorded. */
static inline bool follow(struct stream *stream, struct tt_stamp *stamp,
			  const struct tt_event *event)
{
	struct tt_capture *capture = stream->capture;
	uint64_t op;

	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		if (stream->depth++)
			break;
		if (tt_scope_is_call(&event->begin))
			stamp->op = op =
				atomic_fetch_add_explicit(&capture->ops, 1, memory_order_relaxed) +
				1;
		else
			op = atomic_load_explicit(&capture->ops, memory_order_relaxed);
		stream->inside = capture->whole || in_window(capture, op);
		break;
	case TT_EVENT_SCOPE_END:
		/* Of a scope that was open when the capture began. */
		if (!stream->depth)
			return false;
		stream->depth--;
		break;
	case TT_EVENT_DEVICE_OPEN:
	case TT_EVENT_DEVICE_CLOSE:
		return true;
	default:
		if (capture->whole)
			return true;
		/* The mark that begins a part is in it, the one that ends it is not. */
		if (event->kind == TT_EVENT_MARK)
			hear_mark(capture, event->mark.text);
		if (!stream->depth)
			stream->inside = in_window(capture, atomic_load(&capture->ops));
		break;
	}
	return stream->inside;
}

/* What comes with another event has its time: reading the clock is a good part of the cost. */
static bool has_own_time(enum tt_event_kind kind)
{
	return kind != TT_EVENT_PROGRAM && kind != TT_EVENT_PROGRAM_MEMORY &&
	       kind != TT_EVENT_PROGRAM_RELEASE;
}

static inline void hear_each(struct stream *stream, const struct tt_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tt_stamp stamp = {.ticks = events[i].ticks, .together = i > 0};

		if (!stamp.ticks && !i && has_own_time(events[i].kind))
			stamp.ticks = tt_clock_ticks();
		if (!follow(stream, &stamp, &events[i]))
			continue;
		record(stream, &events[i], &stamp);
		if (stamp.op)
			stream->op = stamp.op;
	}
}

/*
 * The first calls of a thread are measured one by one, and then some of them, for all. One that took long was
 * interrupted, mostly: it counts as the one before.
 */
static void hear_measured(struct stream *stream, const struct tt_event *events, size_t count)
{
	const uint64_t all = 1024, some = 64, slow = 40000; /* in ticks: some 15 us */
	uint64_t number = stream->heard++, began, cost;

	if (number >= all && number % some) {
		hear_each(stream, events, count);
		return;
	}
	began = tt_clock_ticks();
	hear_each(stream, events, count);
	cost = tt_clock_ticks() - began;
	stream->usual = cost < slow ? cost : stream->usual;
	atomic_fetch_add_explicit(&stream->capture->cost, (number < all ? 1 : some) * stream->usual,
				  memory_order_relaxed);
}

static void hear_all(struct tt_event_listener *self, const struct tt_event *events, size_t count)
{
	struct tt_capture *capture = (struct tt_capture *)self;
	struct stream *stream;

	if (atomic_load_explicit(&capture->dead, memory_order_relaxed) ||
	    (capture->options.this_thread &&
	     atomic_load_explicit(&capture->owner, memory_order_relaxed) != &own))
		return;
	stream = find_stream(capture);
	if (!stream) {
		tt_store_lose(&capture->store, count, "memory is exhausted");
		return;
	}
	if (capture->measured)
		hear_measured(stream, events, count);
	else
		hear_each(stream, events, count);
}

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	hear_all(self, event, 1);
}

/* ---- flushing ------------------------------------------------------------------------------------------- */

/*
 * Hands over what all streams have; those of busy threads only if it is to wait for them. Without
 * patience nothing at all while somebody else waits for them, who may have to wait for the caller.
 */
static void seal_all(struct tt_capture *capture, bool patient)
{
	if (patient)
		tt_grace_stop();
	else if (!tt_grace_try_stop())
		return;
	tt_lock_take(&capture->lock);
	for (struct stream *stream = capture->streams; stream; stream = stream->next)
		if (stream->speaker && (patient || tt_grace_is_held(stream->speaker)))
			seal(stream);
	tt_lock_give(&capture->lock);
	tt_grace_resume();
}

tt_status tt_capture_flush(struct tt_capture *capture)
{
	if (capture->stopped || atomic_load(&capture->dead))
		return TTNN_OK;
	seal_all(capture, true);
	tt_store_drain(&capture->store);
	return tt_store_dump(&capture->store);
}

/* On the writer's thread, which nobody may have to wait for meanwhile. */
static void tick(void *context)
{
	struct tt_capture *capture = context;
	unsigned signals = atomic_load(&flush_signals);
	bool wanted = signals != atomic_exchange(&capture->flushed, signals);

	if (wanted || !capture->options.last_ops)
		seal_all(capture, false);
	if (!wanted || !capture->options.last_ops)
		return;
	tt_store_write_waiting(&capture->store);
	if (tt_store_dump(&capture->store) != TTNN_OK)
		tt_store_lose(&capture->store, 0, ttnn_error());
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&flush_signals, 1);
}

tt_status tt_capture_flush_on(int number)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	if (sigaction(number, &action, NULL) != 0)
		return tt_fail(TTNN_INVALID, "signal %d: %s", number, strerror(errno));
	return TTNN_OK;
}

/* ---- processes ------------------------------------------------------------------------------------------ */

static void path_in(char *out, size_t room, const char *directory)
{
	/* The name of a file has 255 bytes, and something may be added to it. */
	snprintf(out, room, "%s/%.200s-%ld" TT_TRACE_SUFFIX, directory,
		 program_invocation_short_name, (long)getpid());
}

/* What was recorded is the parent's; the child has no other threads, and no writer. */
static void part_from_parent(struct tt_lock *unused)
{
	(void)unused;
	for (int i = 0; i < TT_LISTENERS_MAX; i++) {
		struct tt_capture *capture = captures[i];
		char path[4096];

		if (!capture)
			continue;
		free_streams(capture->streams);
		capture->streams = NULL;
		capture->stream_count = 0;
		atomic_store(&capture->serial, atomic_fetch_add(&last_serial, 1) + 1);
		atomic_store(&capture->ops, 0);
		atomic_store(&capture->cost, 0);
		capture->began = tt_clock_ns();
		atomic_store(&capture->dead, !capture->options.directory);
		if (capture->options.directory)
			path_in(path, sizeof(path), capture->options.directory);
		tt_store_orphan(&capture->store, capture->options.directory ? path : NULL);
	}
}

/* ---- beginning and ending ------------------------------------------------------------------------------- */

static void prepare(void)
{
	tt_grace_at_exit(end_thread);
}

static tt_status copy_text(const char **text)
{
	if (!*text)
		return TTNN_OK;
	*text = tt_strdup(*text);
	return *text ? TTNN_OK : tt_fail_nomem();
}

static tt_status copy_options(struct tt_capture_options *options)
{
	const char *directory = options->directory, *begin = options->begin_mark,
		   *end = options->end_mark;
	tt_status status;

	options->path = options->directory = options->begin_mark = options->end_mark = NULL;
	status = copy_text(&directory);
	options->directory = directory;
	if (status == TTNN_OK) {
		status = copy_text(&begin);
		options->begin_mark = begin;
	}
	if (status == TTNN_OK) {
		status = copy_text(&end);
		options->end_mark = end;
	}
	return status;
}

static void free_options(struct tt_capture_options *options)
{
	tt_free((void *)(uintptr_t)options->directory);
	tt_free((void *)(uintptr_t)options->begin_mark);
	tt_free((void *)(uintptr_t)options->end_mark);
}

static tt_status init_store(struct tt_capture *capture, const struct tt_capture_options *options)
{
	char path[4096];
	struct tt_store_options store = {
		.path = options->path,
		.last_ops = options->last_ops,
		.tick_ns = options->flush_ns,
		.tick = tick,
		.context = capture,
	};

	if (options->directory) {
		path_in(path, sizeof(path), options->directory);
		store.path = path;
		store.automatic = true;
	}
	return tt_store_init(&capture->store, &store);
}

static tt_status enter(struct tt_capture *capture)
{
	tt_status status = TTNN_OK;

	tt_lock_take(&captures_lock);
	while (capture->index < TT_LISTENERS_MAX && captures[capture->index])
		capture->index++;
	if (capture->index < TT_LISTENERS_MAX)
		captures[capture->index] = capture;
	else
		status = tt_fail(TTNN_STATE, "%d captures are running already", TT_LISTENERS_MAX);
	tt_lock_give(&captures_lock);
	return status;
}

static void leave(struct tt_capture *capture)
{
	tt_lock_take(&captures_lock);
	if (captures[capture->index] == capture)
		captures[capture->index] = NULL;
	tt_lock_give(&captures_lock);
}

static void emit_device(void *context, const struct tt_event_device *device)
{
	struct tt_event event = {.kind = TT_EVENT_DEVICE_OPEN, .device = *device};
	struct tt_capture *capture = context;

	hear(&capture->listener, &event);
}

static void emit_buffer(void *context, const struct tt_event_buffer *buffer)
{
	struct tt_event event = {.kind = TT_EVENT_BUFFER_THERE, .buffer = *buffer};
	struct tt_capture *capture = context;

	hear(&capture->listener, &event);
}

/*
 * Devices that are open already, and their buffers; the capture hears by now, so that none is missed, and
 * one may be told twice.
 */
static void emit_devices(struct tt_capture *capture)
{
	struct tt_speaker *self = tt_grace_enter();

	if (!self)
		return;
	tt_event_each_device(emit_device, capture);
	if (!tt_event_each_buffer(emit_buffer, capture))
		tt_store_lose(&capture->store, 1, "memory was exhausted");
	tt_grace_leave(self);
}

tt_status tt_capture_begin(struct tt_capture **out, const struct tt_capture_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tt_capture *capture = tt_calloc(1, sizeof(*capture));
	tt_status status;

	if (!capture)
		return tt_fail_nomem();
	pthread_once(&once, prepare);
	capture->listener = (struct tt_event_listener){hear, hear_all};
	capture->options = *options;
	capture->whole = !options->first_op && !options->op_count && !options->begin_mark &&
			 !options->end_mark;
	atomic_init(&capture->owner, &own);
	capture->began = tt_clock_ns();
	capture->measured = options->directory && tt_announce_wanted();
	tt_clock_ticks(); /* the rate of the clock is measured from the first reading on */
	atomic_init(&capture->serial, atomic_fetch_add(&last_serial, 1) + 1);
	atomic_init(&capture->marked, !options->begin_mark);
	atomic_init(&capture->flushed, atomic_load(&flush_signals));
	tt_lock_init(&capture->lock, TT_RANK_CAPTURE, NULL);
	status = copy_options(&capture->options);
	if (status == TTNN_OK)
		status = init_store(capture, options);
	if (status != TTNN_OK) {
		free_options(&capture->options);
		tt_lock_deinit(&capture->lock);
		tt_free(capture);
		return status;
	}
	status = enter(capture);
	if (status == TTNN_OK)
		status = tt_event_attach(&capture->listener);
	if (status != TTNN_OK) {
		tt_capture_free(capture);
		return status;
	}
	/* Files are for all projections; what lies in memory is for graphs, which need no calls. */
	capture->calls = options->path || options->directory;
	if (capture->calls)
		tt_event_want_calls(true);
	emit_devices(capture);
	*out = capture;
	return TTNN_OK;
}

static void fill_summary(struct tt_capture_summary *out, struct tt_capture *capture)
{
	struct tt_store *store = &capture->store;

	tt_lock_take(&store->lock);
	*out = (struct tt_capture_summary){
		.events = store->events,
		.operations = store->operations,
		.lost = store->lost,
		.bytes = store->bytes,
		.reason = store->reason[0] ? store->reason : NULL,
	};
	tt_lock_give(&store->lock);
}

/* The writer may be looking at them; from now on it finds none. */
static struct stream *take_streams(struct tt_capture *capture)
{
	struct stream *streams;

	tt_lock_take(&capture->lock);
	streams = capture->streams;
	capture->streams = NULL;
	tt_lock_give(&capture->lock);
	return streams;
}

tt_status tt_capture_stop(struct tt_capture_summary *out, struct tt_capture *capture)
{
	struct stream *streams;

	if (!capture->stopped) {
		capture->stopped = true;
		tt_event_detach(&capture->listener);
		if (capture->calls)
			tt_event_want_calls(false);
		leave(capture);
		streams = take_streams(capture);
		for (struct stream *stream = streams; stream; stream = stream->next)
			seal(stream);
		free_streams(streams);
		capture->status = tt_store_finish(&capture->store);
		if (capture->measured)
			tt_announce_spent(TT_SPENT_RECORDING,
					  (uint64_t)((double)atomic_load(&capture->cost) * 1e9 /
						     tt_clock_rate()));
		if (atomic_load(&capture->dead))
			capture->status =
				tt_fail(TTNN_STATE, "the capture was begun by the parent process");
	}
	if (out)
		fill_summary(out, capture);
	return capture->status;
}

void tt_capture_free(struct tt_capture *capture)
{
	if (!capture)
		return;
	tt_capture_stop(NULL, capture);
	tt_store_deinit(&capture->store);
	tt_lock_deinit(&capture->lock);
	free_options(&capture->options);
	tt_free(capture);
}

int64_t tt_capture_began(const struct tt_capture *capture)
{
	return capture->store.wall_ns;
}

tt_status tt_capture_store(struct tt_store **out, struct tt_capture *capture)
{
	if (atomic_load(&capture->dead))
		return tt_fail(TTNN_STATE, "the capture was begun by the parent process");
	if (!capture->stopped) {
		seal_all(capture, true);
		tt_store_drain(&capture->store);
	}
	*out = &capture->store;
	return TTNN_OK;
}
