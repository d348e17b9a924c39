/* source.c: the events of all threads of a trace, in one order. What a file is made of: trace/file.c. */
#include "trace/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/store.h"
#include "trace/decode.h"
#include "trace/file.h"
#include "trace/unpack.h"

/* Unpacked chunks in memory at a time: one for each thread that is telling. */
#define LOADED_MAX ((size_t)256 << 20)
/* No program nests its calls so deep; a damaged file may say so. */
#define DEPTH_MAX 100000

#define UNKNOWN UINT64_MAX

/* One thread of the trace and how far it was read. */
struct thread {
	size_t first, count, next; /* its chunks in source->trace.places, in order */
	struct tt_unpacked chunk;  /* that is being read */
	struct tt_decoder decoder;
	uint64_t time_ns; /* of its next record, or what its next chunk claims */
	uint64_t op;      /* the outermost call that is open */
	bool told;        /* of a ring: one of its last calls has begun */
	uint32_t sequence;
	TT_VEC(uint64_t) begins; /* times of the scopes that are open */
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
	uint64_t skip, ops; /* of a ring: calls that are too old; calls begun so far */
	struct tt_seen seen;
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

/* The scopes that are open where a chunk begins, also if chunks before it are missing. */
static tt_status fit_depth(struct thread *thread)
{
	uint32_t depth = thread->chunk.head.depth;

	if (depth > DEPTH_MAX)
		return tt_fail(TTNN_FORMAT, "a chunk inside of %u scopes", depth);
	while (thread->begins.count < depth) {
		uint64_t *begin = TT_VEC_PUSH(&thread->begins);

		if (!begin)
			return tt_fail_nomem();
		*begin = UNKNOWN;
	}
	thread->begins.count = depth;
	thread->op = depth ? thread->chunk.head.op : 0;
	return TTNN_OK;
}

static tt_status load(struct tt_source *source, struct thread *thread)
{
	struct tt_unpacked *chunk = &thread->chunk;
	struct tt_bytes bytes;

	TT_TRY(tt_unpack_get(chunk, source->unpack, thread->first + thread->next++));
	if (source->loaded + chunk->head.raw_size > LOADED_MAX) {
		tt_unpack_give(source->unpack, chunk);
		return tt_fail(TTNN_FORMAT, "too many threads tell at a time");
	}
	source->loaded += chunk->head.raw_size;
	TT_TRY(fit_depth(thread));
	bytes = (struct tt_bytes){chunk->raw, chunk->raw + chunk->head.raw_size, false};
	tt_decoder_start(&thread->decoder, &source->terms, &source->arena, &bytes,
			 &source->decoded);
	return TTNN_OK;
}

/* Ticks of this chunk as a time. */
static uint64_t time_of(const struct thread *thread, uint64_t ticks)
{
	__extension__ typedef unsigned __int128 wide;

	return thread->chunk.head.first_ns +
	       (uint64_t)((wide)ticks * thread->chunk.head.tick >> 32);
}

/* When the thread tells next, in the heap; it leaves that when it has nothing more to tell. */
static void settle(struct tt_source *source, struct thread *thread)
{
	uint64_t ticks = 0, time;

	if (thread->chunk.raw && ~source->decoded.kinds)
		tt_decoder_skim(&thread->decoder);
	if (thread->chunk.raw && tt_decoder_peek(&ticks, &thread->decoder)) {
		time = time_of(thread, ticks);
	} else {
		unload(source, thread);
		if (thread->next == thread->count) {
			source->heap[0] = source->heap[--source->heap_count];
			sift_down(source, 0);
			return;
		}
		time = source->trace.places[thread->first + thread->next].row.first_ns;
	}
	/* Program order comes first, whatever a damaged file says. */
	if (time > thread->time_ns)
		thread->time_ns = time;
	if (source->heap_count > 1)
		sift_down(source, 0);
}

/* ---- events --------------------------------------------------------------------------------------------- */

/* Follows the scopes of the thread; false when the event is not for the reader. */
static tt_status place_event(bool *wanted, struct tt_source *source, struct thread *thread,
			     bool begins)
{
	struct tt_seen *seen = &source->seen;
	uint64_t *begin;

	*wanted = true;
	if (begins && thread->begins.count == 0) {
		thread->op = thread->decoder.op;
		thread->told |= ++source->ops > source->skip;
	}
	seen->op = thread->begins.count || begins ? thread->op : 0;
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
	default:
		seen->depth = (uint32_t)thread->begins.count;
		break;
	}
	*wanted = (thread->told || seen->event.kind == TT_EVENT_THREAD ||
		   seen->event.kind == TT_EVENT_DEVICE_OPEN) &&
		  (source->wants.kinds >> seen->event.kind & 1);
	return TTNN_OK;
}

/* The next record of a thread, whose chunk is loaded. */
static tt_status read_event(bool *wanted, struct tt_source *source, size_t number)
{
	struct thread *thread = &source->threads[number];
	struct tt_seen *seen = &source->seen;
	bool begins;

	if (source->arena.bytes)
		tt_arena_reset(&source->arena);
	TT_TRY(tt_decoder_next(&seen->event, &begins, &thread->decoder));
	seen->thread = (uint32_t)number;
	seen->time_ns = thread->time_ns;
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
	return TTNN_OK;
}

/* ---- opening -------------------------------------------------------------------------------------------- */

void tt_source_rewind(struct tt_source *source)
{
	source->heap_count = source->thread_count;
	source->ops = 0;
	source->trace.info.bad_chunks = source->trace.bad_at_open;
	for (size_t i = 0; i < source->thread_count; i++) {
		struct thread *thread = &source->threads[i];

		unload(source, thread);
		thread->next = 0;
		thread->op = 0;
		thread->told = source->skip == 0;
		thread->begins.count = 0;
		thread->time_ns = source->trace.places[thread->first].row.first_ns;
		source->heap[i] = i;
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
