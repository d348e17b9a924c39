/* source.c: the events of all threads of a trace, in one order. What a file is made of: trace/trace_file.c. */
#include "trace/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/store.h"
#include "trace/decode.h"
#include "trace/trace_file.h"
#include "trace/unpack.h"

/* Unpacked chunks in memory at a time: one for each thread that is telling. */
#define LOADED_MAX ((size_t)256 << 20)
/* No program nests its calls so deep; a damaged file may say so. */
#define DEPTH_MAX 100000

#define UNKNOWN UINT64_MAX
#define NONE UINT64_MAX

/* One thread of the trace and how far it was read. */
struct thread {
	size_t first, count, next; /* its chunks in source->trace.places, in order */
	struct tt_unpacked chunk;  /* that is being read */
	struct tt_decoder decoder;
	uint64_t time_ns;        /* of its next record, or what its next chunk claims */
	uint64_t op;             /* the outermost call that is open */
	uint64_t last_op;        /* the same, or the one that was last */
	bool told;               /* of a ring: one of its last calls has begun */
	bool uncalled;           /* the outermost scope that is open is no call: it has no number */
	TT_VEC(uint64_t) begins; /* times of the scopes that are open */
	/* Of a window: */
	size_t start;     /* the first chunk that may hold something of it */
	uint64_t open_op; /* the call that is open where it begins in time, or NONE */
	bool inside;      /* the outermost scope that is open is in it by time */
};

struct tt_source {
	struct tt_trace_file trace;
	struct tt_unpack *unpack;
	struct tt_terms terms;
	struct tt_source_wants wants;
	struct tt_decoder_wants decoded; /* the same for decoders */
	struct tt_arena arena;           /* of the event that is out */
	struct thread *drained; /* that has come to the end of its chunk with it, or NULL */
	struct thread *threads;
	size_t thread_count;
	size_t *heap, heap_count; /* threads with something to tell, the next one first */
	size_t loaded;
	uint64_t skip, ops;             /* of a ring: calls that are too old; calls begun so far */
	bool windowed, searching;       /* where the window begins */
	struct tt_source_window window; /* resolved: last_ops is part of first_op */
	uint64_t last_op;               /* of the window */
	TT_VEC(size_t) visits; /* places before it that tell of threads and devices, in order */
	struct tt_seen seen;
	struct tt_source_hold hold; /* before: NULL where events go one by one */
	bool kept;                  /* events of the holder point into the arena */
};

/* ---- the order of threads ------------------------------------------------------------------------------- */

static bool is_before(const struct tt_source *source, size_t a, size_t b)
{
	uint64_t left = source->threads[a].time_ns, right = source->threads[b].time_ns;

	return left < right || (left == right && a < b);
}

static void sift_down(struct tt_source *source, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1, moved;

		if (child >= source->heap_count)
			return;
		if (child + 1 < source->heap_count &&
		    is_before(source, source->heap[child + 1], source->heap[child]))
			child++;
		if (!is_before(source, source->heap[child], source->heap[at]))
			return;
		moved = source->heap[at];
		source->heap[at] = source->heap[child];
		source->heap[child] = moved;
		at = child;
	}
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

/* What a chunk's last event may point at goes when that is not out any more. */
static void forget(struct tt_source *source)
{
	if (source->drained && source->hold.before)
		source->hold.before(source->hold.context);
	if (source->drained)
		tt_decoder_release(&source->drained->decoder);
	source->drained = NULL;
}

static void unload(struct tt_source *source, struct thread *thread)
{
	if (thread->chunk.raw) {
		source->loaded -= thread->chunk.head.raw_size;
		forget(source);
		source->drained = thread;
	}
	tt_unpack_give(source->unpack, &thread->chunk);
}

static void blame(struct tt_source *source, uint64_t offset)
{
	tt_trace_file_damage(&source->trace, offset, ttnn_error());
	source->trace.info.bad_chunks++;
}

/* Whether a call that begins now, or that is open where a chunk begins, is in the window by time. */
static bool is_inside(const struct tt_source *source, const struct thread *thread)
{
	const struct tt_source_window *window = &source->window;

	return thread->op == thread->open_op ||
	       (thread->time_ns >= window->begin_ns && thread->time_ns < window->end_ns);
}

/* The scopes that are open where a chunk begins, also if chunks before it are missing. */
static tt_status fit_depth(struct tt_source *source, struct thread *thread)
{
	const struct tt_chunk_head *head = &thread->chunk.head;

	if (head->depth > DEPTH_MAX)
		return tt_fail(TTNN_FORMAT, "a chunk inside of %u scopes", head->depth);
	/* Of another call nothing is known: it began in a chunk that was not read. */
	if (head->depth && head->op != thread->op)
		thread->begins.count = 0;
	while (thread->begins.count < head->depth) {
		uint64_t *begin = TT_VEC_PUSH(&thread->begins);

		if (!begin)
			return tt_fail_nomem();
		*begin = UNKNOWN;
	}
	thread->begins.count = head->depth;
	thread->last_op = head->op;
	if (head->depth && head->op != thread->op) {
		thread->op = head->op;
		thread->inside = is_inside(source, thread);
	}
	thread->op = head->depth ? head->op : 0;
	return TTNN_OK;
}

static int compare_visits(const void *a, const void *b)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;

	return left < right ? -1 : left > right;
}

/* The next chunk that is to be read, from `next` on: before a window those that are visited alone. */
static size_t next_chunk(const struct tt_source *source, const struct thread *thread, size_t next)
{
	for (; next < thread->start; next++) {
		size_t place = thread->first + next;

		if (source->visits.count &&
		    bsearch(&place, source->visits.data, source->visits.count, sizeof(place),
			    compare_visits))
			return next;
	}
	return next;
}

/* The chunk that the thread reads after this one. */
static void expect_next(struct tt_source *source, const struct thread *thread)
{
	size_t next = next_chunk(source, thread, thread->next);

	if (next < thread->count && !source->searching &&
	    !(source->windowed &&
	      source->trace.places[thread->first + next].row.op > source->last_op))
		tt_unpack_expect(source->unpack, thread->first + next);
}

static tt_status load(struct tt_source *source, struct thread *thread)
{
	struct tt_unpacked *chunk = &thread->chunk;
	struct tt_bytes bytes;

	forget(source); /* no event is out: what it holds is not to be mistaken for this chunk's */
	TT_TRY(tt_unpack_get(chunk, source->unpack, thread->first + thread->next++));
	if (source->loaded + chunk->head.raw_size > LOADED_MAX) {
		tt_unpack_give(source->unpack, chunk);
		return tt_fail(TTNN_FORMAT, "too many threads tell at a time");
	}
	source->loaded += chunk->head.raw_size;
	expect_next(source, thread);
	TT_TRY(fit_depth(source, thread));
	bytes = (struct tt_bytes){chunk->raw, chunk->raw + chunk->head.raw_size, false};
	tt_decoder_start(&thread->decoder, &source->terms, &source->arena, &bytes,
			 &source->decoded);
	return TTNN_OK;
}

/* Ticks of this chunk in nanoseconds. */
static uint64_t span_of(const struct thread *thread, uint64_t ticks)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)ticks * thread->chunk.head.tick >> 32);
}

/* The same as a time. */
static uint64_t time_of(const struct thread *thread, uint64_t ticks)
{
	return thread->chunk.head.first_ns + span_of(thread, ticks);
}

static void turn_to_ns(struct tt_event_program_run *run, const struct thread *thread)
{
	uint64_t *const spans[] = {&run->whole,    &run->kernel, &run->busy_min,
				   &run->busy_max, &run->busy,   &run->starts};

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		*spans[i] = span_of(thread, *spans[i]);
}

/* Nothing of the window can follow: calls have ascending numbers on a thread, and times. */
static bool is_over(const struct tt_source *source, const struct thread *thread)
{
	if (!thread->chunk.raw &&
	    source->trace.places[thread->first + thread->next].row.op > source->last_op)
		return true;
	return thread->last_op > source->last_op || (thread->time_ns >= source->window.end_ns &&
						     !(thread->begins.count && thread->inside));
}

/* Goes on to when the thread tells next; false when it has nothing more to tell. */
static inline bool advance(struct tt_source *source, struct thread *thread)
{
	uint64_t time;

	if (thread->chunk.raw && ~source->decoded.kinds)
		tt_decoder_skim(&thread->decoder);
	if (thread->chunk.raw && tt_decoder_peek(&thread->decoder)) {
		time = time_of(thread, thread->decoder.ticks);
	} else {
		unload(source, thread);
		thread->next = next_chunk(source, thread, thread->next);
		if (thread->next >= thread->count)
			return false;
		time = source->trace.places[thread->first + thread->next].row.first_ns;
	}
	/* Program order comes first, whatever a damaged file says. */
	if (time > thread->time_ns)
		thread->time_ns = time;
	return !source->windowed || !is_over(source, thread);
}

/* The same for the first thread of the heap, which it leaves when it has nothing more to tell. */
static inline void settle(struct tt_source *source, struct thread *thread)
{
	if (!advance(source, thread)) {
		unload(source, thread);
		source->heap[0] = source->heap[--source->heap_count];
	}
	if (source->heap_count > 1)
		sift_down(source, 0);
}

/* ---- events --------------------------------------------------------------------------------------------- */

/* Whether the event that is out, which is not of another kind than is wanted, is in the window. */
static bool is_within(const struct tt_source *source, const struct thread *thread)
{
	const struct tt_source_window *window = &source->window;
	const struct tt_seen *seen = &source->seen;
	enum tt_event_kind kind = seen->event.kind;
	bool other = window->one_thread && seen->thread != window->thread;
	uint64_t op = seen->op;

	if (thread->last_op > source->last_op)
		return false;
	if (kind == TT_EVENT_DEVICE_OPEN || (kind == TT_EVENT_THREAD && !other))
		return seen->time_ns < window->end_ns || (op && thread->inside);
	if (other)
		return false;
	if (op)
		return op >= window->first_op && thread->inside;
	op = thread->last_op;
	/* Where the call comes from is told before it. */
	if (kind == TT_EVENT_STACK || kind == TT_EVENT_PLACE ||
	    (kind == TT_EVENT_PYTHON_IO && !seen->event.python_io.returned))
		op++;
	op = op ? op : 1;
	if (op < window->first_op || op > source->last_op)
		return false;
	/* A scope that is no call is in it whole. */
	if (thread->uncalled && (thread->begins.count || kind == TT_EVENT_SCOPE_END))
		return thread->inside;
	return seen->time_ns >= window->begin_ns && seen->time_ns < window->end_ns;
}

/* An outermost scope begins: a call, whose number was read, or one without. */
static void begin_outermost(struct tt_source *source, struct thread *thread, bool call)
{
	thread->uncalled = !call;
	if (call) {
		thread->last_op = thread->decoder.op;
		thread->told |= ++source->ops > source->skip;
	}
	thread->op = thread->last_op;
	if (source->windowed)
		thread->inside = is_inside(source, thread);
}

/* Follows the scopes of the thread; false when the event is not for the reader. */
static tt_status place_event(bool *wanted, struct tt_source *source, struct thread *thread,
			     bool begins)
{
	struct tt_seen *seen = &source->seen;
	uint64_t *begin;

	*wanted = true;
	if (thread->begins.count == 0 && (begins || seen->event.kind == TT_EVENT_SCOPE_BEGIN))
		begin_outermost(source, thread, begins);
	seen->op = (thread->begins.count || begins) && !thread->uncalled ? thread->op : 0;
	switch (seen->event.kind) {
	case TT_EVENT_SCOPE_BEGIN:
		seen->depth = (uint32_t)thread->begins.count;
		if (seen->depth >= DEPTH_MAX)
			return tt_fail(TTNN_FORMAT, "more than %d scopes in each other", DEPTH_MAX);
		begin = TT_VEC_PUSH(&thread->begins);
		if (!begin)
			return tt_fail_nomem();
		*begin = seen->time_ns;
		break;
	case TT_EVENT_SCOPE_END:
		if (!thread->begins.count) {
			*wanted = false;
			return TTNN_OK;
		}
		begin = &thread->begins.data[--thread->begins.count];
		seen->event.end.duration_ns = *begin == UNKNOWN ? 0 : seen->time_ns - *begin;
		seen->depth = (uint32_t)thread->begins.count;
		break;
	case TT_EVENT_PROGRAM_RUN:
		turn_to_ns(&seen->event.run, thread);
		seen->depth = (uint32_t)thread->begins.count;
		break;
	default:
		seen->depth = (uint32_t)thread->begins.count;
		break;
	}
	*wanted = (thread->told || seen->event.kind == TT_EVENT_THREAD ||
		   seen->event.kind == TT_EVENT_DEVICE_OPEN) &&
		  (source->wants.kinds >> seen->event.kind & 1) &&
		  (!source->windowed || is_within(source, thread));
	return TTNN_OK;
}

/* The next record of a thread, whose chunk is loaded. */
static tt_status read_event(bool *wanted, struct tt_source *source, size_t number)
{
	struct thread *thread = &source->threads[number];
	struct tt_seen *seen = &source->seen;
	bool begins;

	if (source->arena.bytes && !source->kept)
		tt_arena_reset(&source->arena);
	TT_TRY(tt_decoder_next(&seen->event, &begins, &thread->decoder));
	seen->thread = (uint32_t)number;
	seen->time_ns = thread->time_ns;
	if (seen->event.kind == TT_EVENT_SCOPE_BEGIN)
		seen->same =
			(struct tt_args_same){thread->decoder.chunk, thread->decoder.same.values,
					      thread->decoder.same_from};
	if (seen->event.kind != TT_EVENT_KINDS)
		return place_event(wanted, source, thread, begins);
	*wanted = false;
	return TTNN_OK;
}

tt_status tt_source_next(const struct tt_seen **out, struct tt_source *source)
{
	*out = NULL;
	forget(source);
	while (source->heap_count && !*out) {
		size_t number = source->heap[0];
		struct thread *thread = &source->threads[number];
		bool wanted = false;
		tt_status status;

		if (!thread->chunk.raw)
			status = load(source, thread);
		else
			status = read_event(&wanted, source, number);
		if (status != TTNN_OK && status != TTNN_FORMAT && status != TTNN_IO)
			return status;
		if (status != TTNN_OK) {
			size_t at = thread->first + thread->next - 1;

			blame(source, source->trace.places[at].row.offset);
			unload(source, thread);
		}
		settle(source, thread);
		if (wanted)
			*out = &source->seen;
	}
	source->kept |= *out && source->hold.before;
	return TTNN_OK;
}

void tt_source_hold(struct tt_source *source, const struct tt_source_hold *hold)
{
	static const struct tt_source_hold none;

	source->hold = hold ? *hold : none;
	source->kept = false;
}

void tt_source_swap(struct tt_source *source, struct tt_arena *arena)
{
	struct tt_arena other = source->arena;

	source->arena = *arena;
	*arena = other;
	source->kept = false;
}

/* ---- beginning again ---------------------------------------------------------------------------------------- */

/* Before its first event, or that of one of its chunks. */
static void reset(struct tt_source *source, struct thread *thread, size_t next)
{
	unload(source, thread);
	thread->next = next;
	thread->op = thread->last_op = 0;
	thread->uncalled = false;
	thread->told = source->skip == 0;
	thread->inside = false;
	thread->begins.count = 0;
	thread->time_ns =
		next < thread->count ? source->trace.places[thread->first + next].row.first_ns : 0;
}

void tt_source_rewind(struct tt_source *source)
{
	source->heap_count = 0;
	source->ops = 0;
	source->trace.info.bad_chunks = source->trace.bad_at_open;
	for (size_t i = 0; i < source->thread_count; i++) {
		struct thread *thread = &source->threads[i];

		reset(source, thread, next_chunk(source, thread, 0));
		if (thread->next < thread->count && (!source->windowed || !is_over(source, thread)))
			source->heap[source->heap_count++] = i;
	}
	for (size_t i = source->heap_count; i-- > 0;)
		sift_down(source, i);
}

void tt_source_want(struct tt_source *source, const struct tt_source_wants *wants)
{
	static const struct tt_source_wants all = {TT_WANT_ALL, true, true, true};
	const uint32_t scopes = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END);
	const uint32_t blocks = TT_WANT(SCOPE_BEGIN) | TT_WANT(CALL);

	source->wants = wants ? *wants : all;
	wants = &source->wants;
	source->decoded = (struct tt_decoder_wants){
		.kinds = wants->kinds | scopes, /* which are followed anyway */
		.values = wants->values && (wants->kinds & blocks),
		.tensors = wants->tensors,
		.frames = wants->frames,
		.blocks = (wants->values && (wants->kinds & blocks)) ||
			  (wants->kinds & TT_WANT(PROGRAM)),
	};
	tt_source_rewind(source);
}

/* ---- windows -------------------------------------------------------------------------------------------- */

/* The last chunk of the thread of whose row `number` is below a limit, or the first. */
static size_t find_chunk(const struct tt_source *source, const struct thread *thread,
			 uint64_t (*number)(const struct tt_chunk_row *row), uint64_t limit)
{
	size_t low = 0, high = thread->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (number(&source->trace.places[thread->first + middle].row) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

static uint64_t op_of(const struct tt_chunk_row *row)
{
	return row->op;
}

static uint64_t first_ns_of(const struct tt_chunk_row *row)
{
	return row->first_ns;
}

/*
 * Follows the scopes of a thread from a chunk on, or from the one before it that can be read, up to the first
 * record that is not before a time.
 */
static tt_status follow(struct tt_source *source, struct thread *thread, size_t chunk,
			uint64_t until)
{
	const struct tt_decoder_wants before = source->decoded;
	size_t number = (size_t)(thread - source->threads);
	tt_status status = TTNN_OK;
	bool loaded = false, wanted;

	source->decoded =
		(struct tt_decoder_wants){.kinds = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END)};
	source->searching = true;
	reset(source, thread, chunk);
	while (status == TTNN_OK && thread->time_ns < until) {
		if (thread->chunk.raw) {
			status = read_event(&wanted, source, number);
		} else {
			status = load(source, thread);
			loaded |= status == TTNN_OK;
		}
		if (status == TTNN_FORMAT || status == TTNN_IO) {
			unload(source, thread);
			if (!loaded && chunk)
				reset(source, thread, --chunk);
			status = TTNN_OK;
		}
		if (status == TTNN_OK && !advance(source, thread))
			break;
	}
	source->decoded = before;
	source->searching = false;
	unload(source, thread);
	forget(source);
	return status;
}

/* The highest number of a call. */
static tt_status find_last_op(uint64_t *out, struct tt_source *source)
{
	*out = 0;
	for (size_t i = 0; i < source->thread_count; i++) {
		struct thread *thread = &source->threads[i];

		TT_TRY(follow(source, thread, thread->count - 1, UINT64_MAX));
		if (thread->last_op > *out)
			*out = thread->last_op;
	}
	return TTNN_OK;
}

/*
 * Where the window begins on a thread. One chunk more is read, for what is told before a call, and because a
 * chunk may overlap the next in time a little.
 */
static tt_status find_start(struct tt_source *source, struct thread *thread)
{
	const struct tt_source_window *window = &source->window;
	size_t chunk = find_chunk(source, thread, op_of, window->first_op);

	thread->open_op = NONE;
	if (window->begin_ns) {
		size_t at = find_chunk(source, thread, first_ns_of, window->begin_ns);

		TT_TRY(follow(source, thread, at ? at - 1 : 0, window->begin_ns));
		if (thread->begins.count && !thread->uncalled) {
			thread->open_op = thread->op;
			at = find_chunk(source, thread, op_of, thread->op);
		}
		chunk = at > chunk ? at : chunk;
	}
	thread->start = chunk ? chunk - 1 : 0;
	return TTNN_OK;
}

static tt_status visit(struct tt_source *source, size_t place)
{
	size_t *visited;

	if (source->visits.count && source->visits.data[source->visits.count - 1] >= place)
		return TTNN_OK;
	visited = TT_VEC_PUSH(&source->visits);
	if (!visited)
		return tt_fail_nomem();
	*visited = place;
	return TTNN_OK;
}

/*
 * The chunks before the window that tell of threads and devices. Which tell of devices is in their heads, which
 * are read until all that the trace counts are found: mostly the first has them.
 */
static tt_status find_visits(struct tt_source *source)
{
	uint64_t left = source->trace.info.counts[TT_EVENT_DEVICE_OPEN];

	for (size_t i = 0; i < source->thread_count; i++) {
		const struct thread *thread = &source->threads[i];

		if (thread->start)
			TT_TRY(visit(source, thread->first));
		for (size_t k = 0; left && k < thread->start; k++) {
			const struct tt_chunk_place *place =
				&source->trace.places[thread->first + k];
			struct tt_chunk_head head;

			if (tt_trace_file_head(&head, &source->trace, place) != TTNN_OK ||
			    !head.counts[TT_EVENT_DEVICE_OPEN])
				continue;
			left -= head.counts[TT_EVENT_DEVICE_OPEN] < left
					? head.counts[TT_EVENT_DEVICE_OPEN]
					: left;
			TT_TRY(visit(source, thread->first + k));
		}
	}
	return TTNN_OK;
}

/* Which calls are meant. */
static tt_status resolve(struct tt_source *source)
{
	struct tt_source_window *window = &source->window;
	uint64_t highest;

	window->first_op = window->first_op ? window->first_op : 1;
	window->end_ns = window->end_ns ? window->end_ns : UINT64_MAX;
	source->last_op = UINT64_MAX;
	if (window->op_count && window->op_count - 1 < UINT64_MAX - window->first_op)
		source->last_op = window->first_op + window->op_count - 1;
	if (!window->last_ops)
		return TTNN_OK;
	TT_TRY(find_last_op(&highest, source));
	if (highest > window->last_ops && highest - window->last_ops >= window->first_op)
		window->first_op = highest - window->last_ops + 1;
	return TTNN_OK;
}

static tt_status find_window(struct tt_source *source)
{
	const struct tt_source_window *window = &source->window;

	TT_TRY(resolve(source));
	for (size_t i = 0; i < source->thread_count; i++) {
		struct thread *thread = &source->threads[i];

		TT_TRY(find_start(source, thread));
		if (window->one_thread && window->thread != i)
			thread->start = thread->count;
		/* Which calls of a ring are old enough to be left out is counted from its beginning. */
		if (source->skip)
			thread->start = 0;
	}
	return find_visits(source);
}

static void forget_window(struct tt_source *source)
{
	source->windowed = false;
	source->visits.count = 0;
	for (size_t i = 0; i < source->thread_count; i++) {
		source->threads[i].start = 0;
		source->threads[i].open_op = NONE;
	}
}

tt_status tt_source_window(struct tt_source *source, const struct tt_source_window *window)
{
	tt_status status = TTNN_OK;

	forget_window(source);
	if (window && window->one_thread && window->thread >= source->thread_count)
		status = tt_fail(TTNN_INVALID, "there is no thread %u: the trace has %zu",
				 window->thread, source->thread_count);
	if (window && status == TTNN_OK) {
		source->window = *window;
		status = find_window(source);
		if (status == TTNN_OK)
			source->windowed = true;
		else
			forget_window(source);
	}
	tt_source_rewind(source);
	return status;
}

/* ---- opening -------------------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct tt_chunk_row *left = &((const struct tt_chunk_place *)a)->row;
	const struct tt_chunk_row *right = &((const struct tt_chunk_place *)b)->row;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->sequence != right->sequence)
		return left->sequence < right->sequence ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Which chunks are whose: places come in order of threads. */
static tt_status find_threads(struct tt_source *source)
{
	const struct tt_chunk_place *places = source->trace.places;
	size_t count = source->trace.place_count, threads = 0;

	if (count)
		qsort(source->trace.places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++)
		threads += !i || places[i].row.thread != places[i - 1].row.thread;
	source->threads = tt_calloc(threads + 1, sizeof(*source->threads));
	source->heap = tt_calloc(threads + 1, sizeof(*source->heap));
	if (!source->threads || !source->heap)
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++) {
		if (!i || places[i].row.thread != places[i - 1].row.thread)
			source->threads[source->thread_count++].first = i;
		source->threads[source->thread_count - 1].count++;
	}
	source->trace.info.threads = (uint32_t)threads;
	return TTNN_OK;
}

static tt_status start(struct tt_source **out, struct tt_source *source, tt_status status)
{
	struct tt_trace_file *trace = &source->trace;

	if (status == TTNN_OK)
		status = find_threads(source);
	if (status == TTNN_OK)
		status = tt_unpack_new(&source->unpack, trace);
	if (status != TTNN_OK) {
		tt_source_close(source);
		return status;
	}
	if (trace->last_ops && trace->info.operations > trace->last_ops) {
		source->skip = trace->info.operations - trace->last_ops;
		trace->info.operations = trace->last_ops;
	}
	tt_source_want(source, NULL);
	*out = source;
	return TTNN_OK;
}

static struct tt_source *new_source(void)
{
	struct tt_source *source = tt_calloc(1, sizeof(*source));

	if (source)
		source->trace.fd = -1;
	return source;
}

tt_status tt_source_open(struct tt_source **out, const char *path)
{
	struct tt_source *source = new_source();

	if (!source)
		return tt_fail_nomem();
	return start(out, source, tt_trace_file_open(&source->trace, &source->terms, path));
}

tt_status tt_source_open_bytes(struct tt_source **out, const void *data, size_t size,
			       const char *name)
{
	struct tt_trace_bytes bytes = {data, size, name};

	return tt_source_open_parts(out, &bytes, NULL);
}

tt_status tt_source_open_parts(struct tt_source **out, const struct tt_trace_bytes *trace,
			       const struct tt_trace_bytes *beside)
{
	struct tt_source *source = new_source();

	if (!source)
		return tt_fail_nomem();
	return start(out, source,
		     tt_trace_file_bytes(&source->trace, &source->terms, trace, beside));
}

tt_status tt_source_open_capture(struct tt_source **out, struct tt_capture *capture)
{
	struct tt_source *source = new_source();

	if (!source)
		return tt_fail_nomem();
	return start(out, source, tt_trace_file_capture(&source->trace, &source->terms, capture));
}

const struct tt_trace_info *tt_source_info(const struct tt_source *source)
{
	return &source->trace.info;
}

void tt_source_close(struct tt_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->thread_count; i++) {
		tt_unpack_give(source->unpack, &source->threads[i].chunk);
		tt_decoder_deinit(&source->threads[i].decoder);
		TT_VEC_DEINIT(&source->threads[i].begins);
	}
	TT_VEC_DEINIT(&source->visits);
	tt_unpack_free(source->unpack);
	tt_free(source->threads);
	tt_free(source->heap);
	tt_trace_file_close(&source->trace);
	tt_terms_deinit(&source->terms);
	tt_arena_deinit(&source->arena);
	tt_free(source);
}

void tt_frame_text(struct tt_str *out, const struct tt_event_frame *frame)
{
	if (frame->text) {
		tt_str_adds(out, frame->text);
		return;
	}
	tt_str_adds(out, frame->module ? frame->module : "");
	if (frame->symbol)
		tt_str_addf(out, "(%s+0x%llx)", frame->symbol,
			    (unsigned long long)frame->symbol_offset);
	else
		tt_str_addf(out, "(+0x%llx)", (unsigned long long)frame->offset);
	tt_str_addf(out, " [0x%llx]", (unsigned long long)frame->address);
}
