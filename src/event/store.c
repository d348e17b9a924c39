#include "event/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "event/announce.h"
#include "event/store_file.h"

/* The usual room of a chunk. */
#define ROOM ((size_t)256 << 10)
/* What may be on its way to the file, and what stays in memory before chunks go to a file. */
#define BUSY_MAX 64
#define MEMORY_MAX ((size_t)12 << 20)
/* Of a ring: the rest of it is given up, however many operations were asked for. */
#define RING_MAX ((size_t)24 << 20)
#define IDLE_MAX 8

/* ---- chunks --------------------------------------------------------------------------------------------- */

void tt_chunk_unref(struct tt_chunk *chunk)
{
	if (!chunk || atomic_fetch_sub_explicit(&chunk->refs, 1, memory_order_acq_rel) != 1)
		return;
	tt_live_unmap(&chunk->slot);
	tt_free(chunk);
}

struct tt_chunk *tt_chunk_new(size_t room)
{
	struct tt_chunk *chunk = tt_alloc(sizeof(*chunk) + room);

	if (!chunk)
		return NULL;
	atomic_init(&chunk->refs, 1);
	chunk->room = room;
	chunk->next = NULL;
	chunk->slot = (struct tt_live_slot){0};
	chunk->data = (unsigned char *)(chunk + 1);
	return chunk;
}

/* Whether chunks are to outlive the process while they are recorded: not those of a ring. */
static bool is_live(const struct tt_store *store)
{
	return store->path && !store->options.last_ops && !store->stopping;
}

/*
 * Makes the files, on a thread of the user's: whose message stays when that fails. The writer tries again,
 * and tells.
 */
static void open_files(struct tt_store *store)
{
	char *message, *condition;

	if (store->live.open || store->live.failed)
		return;
	message = tt_strdup(ttnn_error());
	condition = tt_strdup(tt_fail_condition());
	if (tt_store_file_open(store) == TTNN_OK)
		tt_live_open(&store->live, store->path, store->head_checksum);
	else if (message && condition && *condition)
		tt_fail_cond(TTNN_IO, condition, "%s", message);
	else if (message && condition)
		tt_fail(TTNN_IO, "%s", message);
	tt_free(message);
	tt_free(condition);
}

/* A chunk in the file beside the trace, with the lock held; NULL: then it is one as any. */
static struct tt_chunk *live_chunk(struct tt_store *store, size_t room)
{
	struct tt_chunk *chunk = NULL;

	open_files(store);
	if (store->live.open)
		chunk = tt_chunk_new(0);
	if (!chunk || !tt_live_take(&chunk->slot, &store->live, room)) {
		tt_free(chunk);
		return NULL;
	}
	chunk->room = room;
	chunk->data = tt_live_data(&chunk->slot);
	return chunk;
}

/* Without the lock: whoever reads the line may be slow. */
static void emit_lock(struct tt_store *store)
{
	bool emit;

	tt_lock_take(&store->lock);
	emit = store->warn_lock;
	store->warn_lock = false;
	tt_lock_give(&store->lock);
	if (emit)
		tt_log(TT_LOG_WARN,
		       "%s is locked by another process: what is not written yet is lost if this "
		       "one ends early",
		       store->path);
}

struct tt_chunk *tt_store_chunk(struct tt_store *store, size_t room)
{
	struct tt_chunk *chunk = NULL;

	room = room > ROOM ? room : ROOM;
	tt_lock_take(&store->lock);
	while (store->busy >= BUSY_MAX && store->writing)
		pthread_cond_wait(&store->done, &store->lock.mutex);
	if (room == ROOM && store->idle) {
		chunk = store->idle;
		store->idle = chunk->next;
		store->idle_count--;
	} else if (is_live(store)) {
		chunk = live_chunk(store, room);
	}
	tt_lock_give(&store->lock);
	emit_lock(store);
	return chunk ? chunk : tt_chunk_new(room);
}

/* With the lock held. The next chunk is to be in the file again if this one could not. */
static void reuse(struct tt_store *store, struct tt_chunk *chunk)
{
	if (chunk->slot.map)
		tt_live_clear(&chunk->slot);
	if (chunk->room == ROOM && store->idle_count < IDLE_MAX &&
	    (chunk->slot.map || !is_live(store))) {
		chunk->next = store->idle;
		store->idle = chunk;
		store->idle_count++;
		return;
	}
	if (chunk->slot.map)
		tt_live_return(&store->live, &chunk->slot);
	tt_chunk_unref(chunk);
}

void tt_store_reuse(struct tt_store *store, struct tt_chunk *chunk)
{
	tt_lock_take(&store->lock);
	reuse(store, chunk);
	tt_lock_give(&store->lock);
}

/* A chunk that stays takes no more room than it needs. */
static struct tt_chunk *shrink(struct tt_chunk *chunk)
{
	struct tt_chunk *smaller;

	if (chunk->head.stored_size > chunk->room / 2)
		return chunk;
	smaller = tt_realloc(chunk, sizeof(*chunk) + chunk->head.stored_size);
	if (!smaller)
		return chunk;
	smaller->room = smaller->head.stored_size;
	smaller->data = (unsigned char *)(smaller + 1);
	return smaller;
}

/* ---- keeping count -------------------------------------------------------------------------------------- */

static void lose(struct tt_store *store, uint64_t records, const char *reason)
{
	store->lost += records;
	if (!store->reason[0])
		snprintf(store->reason, sizeof(store->reason), "%s", reason);
}

void tt_store_lose(struct tt_store *store, uint64_t records, const char *reason)
{
	tt_lock_take(&store->lock);
	lose(store, records, reason);
	tt_lock_give(&store->lock);
}

uint64_t tt_store_untold(char reason[160], struct tt_store *store)
{
	uint64_t unemitted;

	tt_lock_take(&store->lock);
	unemitted = store->lost - store->told;
	store->told = store->lost;
	memcpy(reason, store->reason, sizeof(store->reason));
	tt_lock_give(&store->lock);
	return unemitted;
}

bool tt_store_count_name(struct tt_map *names, const struct tt_name_count *name)
{
	char key[512];
	int length = snprintf(key, sizeof(key), "%c%s", (int)name->kind + 1, name->name);
	struct tt_map_entry *entry;

	if (length < 0)
		return true;
	entry = tt_map_add(names, key, strnlen(key, sizeof(key)), NULL);
	if (entry)
		entry->number += name->count;
	return entry != NULL;
}

/* With the lock held: the chunk's records are safe. */
static bool keep(struct tt_store *store, const struct tt_chunk_head *head, uint64_t offset,
		 struct tt_chunk *chunk)
{
	struct tt_chunk_place *place = TT_VEC_PUSH(&store->places);

	if (!place) {
		lose(store, head->events, "memory is exhausted");
		return false;
	}
	*place = (struct tt_chunk_place){tt_chunk_row_of(head, offset), chunk};
	store->events += head->events;
	store->operations += head->operations;
	store->bytes += head->stored_size;
	for (int i = 0; i < TT_CHUNK_KINDS; i++)
		store->counts[i] += head->counts[i];
	return true;
}

static void forget_oldest(struct tt_store *store)
{
	struct tt_chunk_place *place = &store->places.data[0];

	store->in_memory -= place->chunk->room;
	store->events -= place->row.events;
	store->operations -= place->row.operations;
	store->bytes -= place->row.stored_size;
	for (int i = 0; i < TT_CHUNK_KINDS; i++)
		store->counts[i] -= place->chunk->head.counts[i];
	tt_chunk_unref(place->chunk);
	store->places.count--;
	memmove(place, place + 1, store->places.count * sizeof(*place));
}

/* A ring gives up whole chunks that hold none of the last operations. */
static void trim_ring(struct tt_store *store)
{
	while (store->places.count > 1 &&
	       (store->operations - store->places.data[0].row.operations >=
			store->options.last_ops ||
		store->in_memory > RING_MAX))
		forget_oldest(store);
}

/* ---- the writer ----------------------------------------------------------------------------------------- */

/* Packs a chunk into store->packed if that makes it smaller; else it goes as it is. */
static const unsigned char *pack(struct tt_store *store, struct tt_chunk *chunk)
{
	size_t bound = tt_pack_bound(chunk->head.raw_size), size = 0;

	if (!store->packer && tt_packer_new(&store->packer) != TTNN_OK)
		return chunk->data;
	if (store->packed_room < bound) {
		tt_free(store->packed);
		store->packed = tt_alloc(bound);
		store->packed_room = store->packed ? bound : 0;
	}
	if (!store->packed || tt_pack(store->packed, &size, store->packer, chunk->data,
				      chunk->head.raw_size) != TTNN_OK)
		return chunk->data;
	if (size >= chunk->head.raw_size)
		return chunk->data;
	chunk->head.codec = TT_CODEC_ZSTD;
	chunk->head.stored_size = (uint32_t)size;
	return store->packed;
}

/* Of a ring: packed, in memory. */
static void write_ring(struct tt_store *store, struct tt_chunk *chunk, const unsigned char *data)
{
	struct tt_chunk *kept = tt_chunk_new(chunk->head.stored_size);

	tt_lock_take(&store->lock);
	if (!kept) {
		lose(store, chunk->head.events, "memory is exhausted");
		tt_lock_give(&store->lock);
		return;
	}
	kept->head = chunk->head;
	memcpy(kept->data, data, kept->head.stored_size);
	if (keep(store, &kept->head, 0, kept)) {
		store->in_memory += kept->room;
		trim_ring(store);
	} else {
		tt_chunk_unref(kept);
	}
	tt_lock_give(&store->lock);
}

static void write_file(struct tt_store *store, struct tt_chunk *chunk, const unsigned char *data)
{
	tt_status status;

	tt_lock_take(&store->lock);
	status = tt_store_file_open(store);
	tt_lock_give(&store->lock);
	emit_lock(store);
	if (status == TTNN_OK)
		status = tt_store_file_chunk(store, &chunk->head, data);
	tt_lock_take(&store->lock);
	if (status != TTNN_OK)
		lose(store, chunk->head.events, ttnn_error());
	else if (keep(store, &chunk->head, store->offset, NULL))
		store->offset += TT_CHUNK_HEAD_SIZE + chunk->head.stored_size;
	tt_lock_give(&store->lock);
}

static void write_chunk(struct tt_store *store, struct tt_chunk *chunk)
{
	const unsigned char *data = pack(store, chunk);

	chunk->head.stored_crc = tt_crc32(0, data, chunk->head.stored_size);
	if (store->options.last_ops)
		write_ring(store, chunk, data);
	else
		write_file(store, chunk, data);
}

/* Until there is a chunk, the end, or a tick; with the lock held. */
static void wait_for_work(struct tt_store *store, uint64_t due)
{
	while (!store->first && !store->stopping) {
		struct timespec until = {.tv_sec = (time_t)(due / 1000000000u),
					 .tv_nsec = (long)(due % 1000000000u)};

		if (!due)
			pthread_cond_wait(&store->work, &store->lock.mutex);
		else if (pthread_cond_timedwait(&store->work, &store->lock.mutex, &until) ==
			 ETIMEDOUT)
			return;
	}
}

/* Takes the first chunk and writes it, without the lock meanwhile; false when there is none. */
static bool write_next(struct tt_store *store)
{
	struct tt_chunk *chunk = store->first;

	if (!chunk)
		return false;
	store->first = chunk->next;
	if (!store->first)
		store->last = NULL;
	store->current = chunk;
	tt_lock_give(&store->lock);
	write_chunk(store, chunk);
	tt_lock_take(&store->lock);
	store->current = NULL;
	store->busy--;
	reuse(store, chunk);
	pthread_cond_broadcast(&store->done);
	return true;
}

void tt_store_write_waiting(struct tt_store *store)
{
	tt_lock_take(&store->lock);
	while (write_next(store))
		continue;
	tt_lock_give(&store->lock);
}

static void *write_on(void *context)
{
	struct tt_store *store = context;
	uint64_t every = store->options.tick ? store->options.tick_ns : 0;
	uint64_t due = every ? tt_clock_ns() + every : 0;
	struct timespec spent;

	tt_lock_take(&store->lock);
	while (store->first || !store->stopping) {
		wait_for_work(store, due);
		write_next(store);
		if (every && tt_clock_ns() >= due && !store->stopping) {
			tt_lock_give(&store->lock);
			store->options.tick(store->options.context);
			due = tt_clock_ns() + every;
			tt_lock_take(&store->lock);
		}
	}
	tt_lock_give(&store->lock);
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) == 0)
		tt_announce_spent(TT_SPENT_WRITING,
				  (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec);
	return NULL;
}

/* With the lock held. The writer takes no signals: they are the program's. */
static void start(struct tt_store *store)
{
	sigset_t all, before;

	if (store->writing || store->stopping)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	store->writing = pthread_create(&store->writer, NULL, write_on, store) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tt_store_start(struct tt_store *store)
{
	tt_lock_take(&store->lock);
	start(store);
	tt_lock_give(&store->lock);
}

/* ---- handing over --------------------------------------------------------------------------------------- */

static bool stays_in_memory(const struct tt_store *store, const struct tt_chunk *chunk)
{
	return !store->path && !store->options.last_ops &&
	       store->in_memory + chunk->head.raw_size <= MEMORY_MAX;
}

void tt_store_add(struct tt_store *store, struct tt_chunk *chunk, const struct tt_name_count *names,
		  size_t name_count)
{
	bool stays;

	chunk->head.codec = TT_CODEC_PLAIN;
	chunk->head.stored_size = chunk->head.raw_size;
	tt_lock_take(&store->lock);
	for (size_t i = 0; i < name_count; i++)
		tt_store_count_name(&store->names, &names[i]);
	stays = stays_in_memory(store, chunk);
	if (!stays)
		start(store);
	if (stays) {
		chunk = shrink(chunk);
		if (keep(store, &chunk->head, 0, chunk))
			store->in_memory += chunk->room;
		else
			tt_chunk_unref(chunk);
	} else if (store->writing && !store->stopping) {
		chunk->next = NULL;
		*(store->last ? &store->last->next : &store->first) = chunk;
		store->last = chunk;
		store->busy++;
		pthread_cond_signal(&store->work);
	} else {
		lose(store, chunk->head.events, "no thread could be started to write them");
		reuse(store, chunk);
	}
	tt_lock_give(&store->lock);
}

void tt_store_drain(struct tt_store *store)
{
	tt_lock_take(&store->lock);
	while (store->busy && store->writing)
		pthread_cond_wait(&store->done, &store->lock.mutex);
	tt_lock_give(&store->lock);
}

tt_status tt_store_places(struct tt_chunk_place **out, size_t *count, struct tt_store *store)
{
	struct tt_chunk_place *list = tt_alloc((store->places.count + 1) * sizeof(*list));

	*count = list ? store->places.count : 0;
	for (size_t i = 0; i < *count; i++) {
		list[i] = store->places.data[i];
		if (list[i].chunk)
			atomic_fetch_add_explicit(&list[i].chunk->refs, 1, memory_order_relaxed);
	}
	*out = list;
	return list ? TTNN_OK : tt_fail_nomem();
}

tt_status tt_store_list(struct tt_chunk_place **out, size_t *count, int *fd, struct tt_store *store)
{
	tt_status status;

	tt_lock_take(&store->lock);
	*fd = store->fd;
	status = tt_store_places(out, count, store);
	tt_lock_give(&store->lock);
	return status;
}

/* ---- beginning and ending ------------------------------------------------------------------------------- */

static void init_conditions(struct tt_store *store)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&store->work, &monotonic);
	pthread_cond_init(&store->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/*
 * In the child of a fork: neither the writer nor who waited for it is here. What the writer was packing
 * with may be half made: that stays where it is.
 */
static void forget_writer(struct tt_lock *lock)
{
	struct tt_store *store =
		(struct tt_store *)((char *)lock - offsetof(struct tt_store, lock));

	if (store->writing) {
		store->packer = NULL;
		store->packed = NULL;
		store->packed_room = 0;
	}
	store->writing = false;
	store->dumping = false;
	init_conditions(store);
}

static const struct tt_lock_forks forks = {.child = forget_writer};

tt_status tt_store_init(struct tt_store *store, const struct tt_store_options *options)
{
	tt_status status = TTNN_OK;

	*store = (struct tt_store){.options = *options, .fd = -1, .wall_ns = tt_clock_wall_ns()};
	init_conditions(store);
	tt_lock_init(&store->lock, TT_RANK_STORE, &forks);
	if (options->path) {
		store->path = tt_strdup(options->path);
		if (!store->path)
			status = tt_fail_nomem();
	}
	if (status == TTNN_OK && store->path && !options->automatic && !options->last_ops)
		status = tt_store_file_open(store);
	if (status != TTNN_OK)
		tt_store_deinit(store);
	return status;
}

static void stop_writer(struct tt_store *store)
{
	bool writing;

	tt_lock_take(&store->lock);
	store->stopping = true;
	writing = store->writing;
	pthread_cond_signal(&store->work);
	tt_lock_give(&store->lock);
	if (writing)
		pthread_join(store->writer, NULL);
	store->writing = false;
}

tt_status tt_store_dump(struct tt_store *store)
{
	return store->path && store->options.last_ops && store->places.count
		       ? tt_store_file_dump(store)
		       : TTNN_OK;
}

tt_status tt_store_finish(struct tt_store *store)
{
	tt_status status;

	if (store->stopping)
		return TTNN_OK;
	stop_writer(store);
	if (store->options.last_ops)
		return tt_store_dump(store);
	if (!store->path || store->fd < 0)
		return TTNN_OK;
	status = tt_store_file_finish(store);
	/* All chunks are in the trace, or lost as they are told to be. */
	tt_live_remove(&store->live, store->path);
	return status;
}

tt_status tt_store_resume(struct tt_store *store, const char *path, int fd, uint64_t offset)
{
	tt_status status = tt_store_init(store, &(struct tt_store_options){0});

	store->fd = fd;
	store->offset = offset;
	store->head_written = true;
	store->live.failed = true; /* what is read from there is not put there again */
	store->path = status == TTNN_OK ? tt_strdup(path) : NULL;
	return status == TTNN_OK && !store->path ? tt_fail_nomem() : status;
}

void tt_store_adopt(struct tt_store *store, const struct tt_chunk_head *head, uint64_t offset)
{
	tt_lock_take(&store->lock);
	keep(store, head, offset, NULL);
	tt_lock_give(&store->lock);
}

static void free_content(struct tt_store *store)
{
	struct tt_chunk *next;

	for (; store->first; store->first = next) {
		next = store->first->next;
		tt_chunk_unref(store->first);
	}
	for (; store->idle; store->idle = next) {
		next = store->idle->next;
		tt_chunk_unref(store->idle);
	}
	for (size_t i = 0; i < store->places.count; i++)
		tt_chunk_unref(store->places.data[i].chunk);
	TT_VEC_DEINIT(&store->places);
	tt_map_deinit(&store->names);
	tt_live_deinit(&store->live);
	if (store->fd >= 0)
		close(store->fd);
	store->fd = -1;
	tt_packer_free(store->packer);
	tt_free(store->packed);
	tt_free(store->path);
}

void tt_store_deinit(struct tt_store *store)
{
	if (!store->stopping)
		stop_writer(store);
	free_content(store);
	pthread_cond_destroy(&store->work);
	pthread_cond_destroy(&store->done);
	tt_lock_deinit(&store->lock);
}

void tt_store_orphan(struct tt_store *store, const char *path)
{
	const size_t kept = offsetof(struct tt_store, options);
	struct tt_store_options options = store->options;

	tt_chunk_unref(store->current);
	free_content(store);
	memset((char *)store + kept, 0, sizeof(*store) - kept);
	store->options = options;
	store->fd = -1;
	store->wall_ns = tt_clock_wall_ns();
	store->path = path ? tt_strdup(path) : NULL;
	store->stopping = !store->path;
}
