#include "trace/unpack.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "base/pool.h"

/* Buffers that wait for their next use; the larger ones of them are kept. */
#define SPARES 2

/* Chunks of a file that are worth a thread; bytes of its stack. */
#define WORTH 16
#define STACK ((size_t)256 << 10)

/* What one thread needs to unpack. */
struct bench {
	struct tt_unpacker *unpacker; /* NULL: nothing was packed so far */
	unsigned char *stored;
	size_t stored_room;
};

/* A chunk that is expected. */
struct slot {
	enum { FREE, ASKED, BUSY, READY } state;
	size_t place;
	uint64_t since; /* which expectation it was */
	struct tt_unpacked chunk;
	tt_status status;
};

struct tt_unpack {
	const struct tt_trace_file *file;
	struct bench bench;
	struct tt_unpacked spares[SPARES];
	/* The thread beside. Its lock is no matter of a fork (base/lock.h): children do not touch it. */
	pid_t process; /* that it is of; 0: there is none */
	bool refused;  /* it could not be started */
	uint64_t asked;
	pthread_t thread;
	struct bench beside;
	pthread_mutex_t lock;       /* of what is below, but for chunks of a slot that is BUSY */
	pthread_cond_t work, ready; /* a slot is ASKED, or `stop`; one is READY */
	struct slot slots[TT_UNPACK_AHEAD];
	bool stop;
};

tt_status tt_unpack_new(struct tt_unpack **out, const struct tt_trace_file *file)
{
	struct tt_unpack *unpack = tt_calloc(1, sizeof(*unpack));

	if (!unpack)
		return tt_fail_nomem();
	unpack->file = file;
	*out = unpack;
	return TTNN_OK;
}

static void clear_bench(struct bench *bench)
{
	tt_unpacker_free(bench->unpacker);
	tt_free(bench->stored);
}

/* ---- buffers -------------------------------------------------------------------------------------------- */

void tt_unpack_give(struct tt_unpack *unpack, struct tt_unpacked *chunk)
{
	struct tt_unpacked given = *chunk;

	if (!given.raw)
		return;
	*chunk = (struct tt_unpacked){0};
	for (int i = 0; i < SPARES; i++) {
		struct tt_unpacked smaller = unpack->spares[i];

		if (given.room > smaller.room) {
			unpack->spares[i] = given;
			given = smaller;
		}
	}
	tt_free(given.raw);
}

/* A spare buffer of at least `size` bytes. */
static bool take_spare(struct tt_unpacked *out, struct tt_unpack *unpack, size_t size)
{
	for (int i = 0; i < SPARES; i++) {
		struct tt_unpacked *spare = &unpack->spares[i];

		if (!spare->raw || spare->room < size)
			continue;
		out->raw = spare->raw;
		out->room = spare->room;
		*spare = (struct tt_unpacked){0};
		return true;
	}
	return false;
}

/* Room for `size` bytes and the slack. */
static bool take_room(struct tt_unpacked *out, struct tt_unpack *unpack, size_t size)
{
	size += TT_DECODER_SLACK;
	if (take_spare(out, unpack, size))
		return true;
	out->raw = tt_alloc(size);
	out->room = out->raw ? size : 0;
	return out->raw;
}

static bool make_stored(struct bench *bench, size_t size)
{
	if (size <= bench->stored_room)
		return true;
	tt_free(bench->stored);
	bench->stored = tt_alloc(size);
	bench->stored_room = bench->stored ? size : 0;
	return bench->stored;
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

/* Into out->raw, which has room for it. */
static tt_status unpack_data(struct tt_unpacked *out, struct bench *bench,
			     const struct tt_trace_file *file, const struct tt_chunk_place *place)
{
	const struct tt_chunk_head *head = &out->head;

	memset(out->raw + head->raw_size, 0, TT_DECODER_SLACK);
	if (head->codec == TT_CODEC_PLAIN)
		return tt_trace_file_data(out->raw, head, file, place);
	if (!bench->unpacker)
		TT_TRY(tt_unpacker_new(&bench->unpacker));
	if (!make_stored(bench, head->stored_size))
		return tt_fail_nomem();
	TT_TRY(tt_trace_file_data(bench->stored, head, file, place));
	return tt_unpacker_unpack(out->raw, head->raw_size, bench->unpacker, bench->stored,
				  head->stored_size);
}

static tt_status unpack_here(struct tt_unpacked *out, struct tt_unpack *unpack, size_t place)
{
	const struct tt_chunk_place *found = &unpack->file->places[place];
	tt_status status;

	TT_TRY(tt_trace_file_head(&out->head, unpack->file, found));
	if (!take_room(out, unpack, out->head.raw_size))
		return tt_fail_nomem();
	status = unpack_data(out, &unpack->bench, unpack->file, found);
	if (status != TTNN_OK)
		tt_unpack_give(unpack, out);
	return status;
}

/* ---- the thread beside ---------------------------------------------------------------------------------- */

/* A slot's chunk, into the room that it has if that is enough. */
static tt_status fill(struct tt_unpack *unpack, struct tt_unpacked *chunk, size_t place)
{
	const struct tt_chunk_place *found = &unpack->file->places[place];
	size_t room;

	TT_TRY(tt_trace_file_head(&chunk->head, unpack->file, found));
	room = (size_t)chunk->head.raw_size + TT_DECODER_SLACK;
	if (chunk->room < room) {
		tt_free(chunk->raw);
		chunk->raw = tt_alloc(room);
		chunk->room = chunk->raw ? room : 0;
		if (!chunk->raw)
			return tt_fail_nomem();
	}
	return unpack_data(chunk, &unpack->beside, unpack->file, found);
}

/* The slot that is asked for the longest; NULL: none. Locked. */
static struct slot *find_asked(struct tt_unpack *unpack)
{
	struct slot *oldest = NULL;

	for (int i = 0; i < TT_UNPACK_AHEAD; i++) {
		struct slot *slot = &unpack->slots[i];

		if (slot->state == ASKED && (!oldest || slot->since < oldest->since))
			oldest = slot;
	}
	return oldest;
}

static void *work(void *context)
{
	struct tt_unpack *unpack = context;

	pthread_mutex_lock(&unpack->lock);
	while (!unpack->stop) {
		struct slot *slot = find_asked(unpack);

		if (!slot) {
			pthread_cond_wait(&unpack->work, &unpack->lock);
			continue;
		}
		slot->state = BUSY;
		pthread_mutex_unlock(&unpack->lock);
		slot->status = fill(unpack, &slot->chunk, slot->place);
		pthread_mutex_lock(&unpack->lock);
		slot->state = READY;
		pthread_cond_signal(&unpack->ready);
	}
	pthread_mutex_unlock(&unpack->lock);
	return NULL;
}

/* Signals are for the threads of the program. */
static bool start_thread(struct tt_unpack *unpack)
{
	sigset_t all, before;
	pthread_attr_t how;
	int failed;

	if (pthread_attr_init(&how) != 0)
		return false;
	pthread_attr_setstacksize(&how, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&unpack->thread, &how, work, unpack);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&how);
	return !failed;
}

/* Whether there is one, started when it is wanted first. */
static bool has_thread(struct tt_unpack *unpack)
{
	if (unpack->process || unpack->refused)
		return unpack->process == getpid();
	unpack->refused =
		!unpack->file->own_fd || unpack->file->place_count < WORTH || tt_pool_threads() < 2;
	if (unpack->refused)
		return false;
	pthread_mutex_init(&unpack->lock, NULL);
	pthread_cond_init(&unpack->work, NULL);
	pthread_cond_init(&unpack->ready, NULL);
	unpack->refused = !start_thread(unpack);
	if (!unpack->refused)
		unpack->process = getpid();
	return !unpack->refused;
}

/* One that is free, or the oldest that nobody came for; NULL: all are worked on. Locked. */
static struct slot *find_room(struct tt_unpack *unpack)
{
	struct slot *found = NULL;

	for (int i = 0; i < TT_UNPACK_AHEAD; i++) {
		struct slot *slot = &unpack->slots[i];

		if (slot->state == FREE)
			return slot;
		if (slot->state != BUSY && (!found || slot->since < found->since))
			found = slot;
	}
	return found;
}

static struct slot *find_slot(struct tt_unpack *unpack, size_t place)
{
	for (int i = 0; i < TT_UNPACK_AHEAD; i++)
		if (unpack->slots[i].state != FREE && unpack->slots[i].place == place)
			return &unpack->slots[i];
	return NULL;
}

void tt_unpack_expect(struct tt_unpack *unpack, size_t place)
{
	struct slot *slot;

	if (!has_thread(unpack))
		return;
	pthread_mutex_lock(&unpack->lock);
	slot = find_slot(unpack, place) ? NULL : find_room(unpack);
	if (slot) {
		slot->state = ASKED;
		slot->place = place;
		slot->since = ++unpack->asked;
		pthread_cond_signal(&unpack->work);
	}
	pthread_mutex_unlock(&unpack->lock);
}

/* Takes a chunk that was made ready; false when there is none, or it could not be read. */
static bool take_ready(struct tt_unpacked *out, struct tt_unpack *unpack, size_t place)
{
	struct tt_unpacked spare = {0};
	struct slot *slot;
	bool taken = false;

	if (!unpack->process || unpack->process != getpid())
		return false;
	pthread_mutex_lock(&unpack->lock);
	slot = find_slot(unpack, place);
	while (slot && slot->state == BUSY)
		pthread_cond_wait(&unpack->ready, &unpack->lock);
	if (slot && slot->state == READY && slot->status == TTNN_OK) {
		/* A buffer for a buffer: none is made on the way. */
		take_spare(&spare, unpack, 0);
		*out = slot->chunk;
		slot->chunk = spare;
		taken = true;
	}
	if (slot)
		slot->state = FREE;
	pthread_mutex_unlock(&unpack->lock);
	return taken;
}

tt_status tt_unpack_get(struct tt_unpacked *out, struct tt_unpack *unpack, size_t place)
{
	return take_ready(out, unpack, place) ? TTNN_OK : unpack_here(out, unpack, place);
}

void tt_unpack_free(struct tt_unpack *unpack)
{
	bool busy;

	if (!unpack)
		return;
	if (unpack->process && unpack->process == getpid()) {
		pthread_mutex_lock(&unpack->lock);
		unpack->stop = true;
		pthread_cond_signal(&unpack->work);
		pthread_mutex_unlock(&unpack->lock);
		pthread_join(unpack->thread, NULL);
		pthread_mutex_destroy(&unpack->lock);
		pthread_cond_destroy(&unpack->work);
		pthread_cond_destroy(&unpack->ready);
	}
	/* In a child the thread is not there, and what it was working on is in no state to be freed. */
	busy = unpack->process && unpack->process != getpid();
	for (int i = 0; i < TT_UNPACK_AHEAD; i++)
		if (!busy || unpack->slots[i].state != BUSY)
			tt_free(unpack->slots[i].chunk.raw);
	for (int i = 0; i < SPARES; i++)
		tt_free(unpack->spares[i].raw);
	clear_bench(&unpack->bench);
	if (!busy)
		clear_bench(&unpack->beside);
	tt_free(unpack);
}
