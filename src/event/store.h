/*
 * store.h: where the chunks of a capture go: a .ttrace file, memory, or memory and then a temporary file
 * without a name. A thread of its own packs and writes; it is started when there is work for it.
 *
 * Chunks are handed over by event/capture.c and read back by trace/source.c. A store that cannot write
 * drops chunks, counts their records and tries again with the next; it keeps whole chunks alone.
 */
#ifndef TT_EVENT_STORE_H
#define TT_EVENT_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/encode.h"
#include "event/live.h"
#include "event/ttrace.h"

/* A chunk in memory. Reference counted; `data` is as head.codec says once it was handed over. */
struct tt_chunk {
	atomic_uint_least32_t refs;
	struct tt_chunk *next;
	size_t room;
	struct tt_chunk_head head;
	struct tt_live_slot slot; /* where the data are; none: behind this */
	unsigned char *data;
};

/* One with memory of its own; NULL: there is none. */
struct tt_chunk *tt_chunk_new(size_t room);

/* NULL is fine. */
void tt_chunk_unref(struct tt_chunk *chunk);

/* Where a chunk is: in memory, or in the file at row.offset. */
struct tt_chunk_place {
	struct tt_chunk_row row;
	struct tt_chunk *chunk; /* NULL: in the file */
};

struct tt_store_options {
	const char *path; /* NULL: memory */
	/*
	 * The file is made with the first chunk, under a name that was not there: if that of `path` is,
	 * with a number.
	 */
	bool automatic;
	uint64_t last_ops;
	uint64_t tick_ns;            /* (optional) how often tick() is called */
	void (*tick)(void *context); /* (optional) on the writer's thread, without locks */
	void *context;
};

struct tt_store {
	struct tt_lock lock; /* of all from `first` on */
	pthread_cond_t work, done;

	struct tt_store_options options;
	char *path;
	int64_t wall_ns; /* when the capture began */

	struct tt_chunk *first, *last; /* waiting to be written */
	struct tt_chunk *current;      /* the one that the writer has taken */
	struct tt_chunk *idle;         /* empty ones of the usual size */
	size_t idle_count;
	size_t busy;      /* chunks on their way to the file */
	size_t in_memory; /* bytes that stay */
	TT_VEC(struct tt_chunk_place) places;
	uint64_t events, operations, bytes, counts[TT_CHUNK_KINDS];
	struct tt_map names; /* kind as a byte, then the name: how often */

	int fd;
	uint32_t head_checksum; /* of the file's head: by it the file beside knows it */
	struct tt_live live;
	uint64_t offset; /* the end of what is whole */
	uint64_t lost, told;
	char reason[160];       /* why; "" if nothing is */
	bool writing, stopping; /* there is a writer; it is to end */
	bool head_written;
	bool own_name;  /* `path` is a file that this store has made */
	bool dumping;   /* somebody writes a file of what is in memory */
	bool warn_lock; /* somebody else has the lock of the file; to be told without our own */
	pthread_t writer;
	struct tt_packer *packer; /* the writer's */
	unsigned char *packed;
	size_t packed_room;
};

/* Counts the name of a scope in a map as store.names is one; false: no memory. */
bool tt_store_count_name(struct tt_map *names, const struct tt_name_count *name);

/* Opens the file unless it is made later. */
tt_status tt_store_init(struct tt_store *store, const struct tt_store_options *options);
void tt_store_deinit(struct tt_store *store);

/*
 * An empty chunk of at least `room` bytes; waits while too many are on their way. If there is a file to
 * be written it is made now, and the chunk is in the one beside it. NULL: no memory.
 */
struct tt_chunk *tt_store_chunk(struct tt_store *store, size_t room);

/* Takes over a sealed chunk and the names of its scopes. Never fails: what is lost is counted. */
void tt_store_add(struct tt_store *store, struct tt_chunk *chunk, const struct tt_name_count *names,
		  size_t name_count);

/* Gives back a chunk that holds nothing. */
void tt_store_reuse(struct tt_store *store, struct tt_chunk *chunk);

/* Counts records that are missing; the first reason stays. */
void tt_store_lose(struct tt_store *store, uint64_t records, const char *reason);

/* How many missing records nobody told of yet, and why; they count as told then. */
uint64_t tt_store_untold(char reason[160], struct tt_store *store);

/* Starts the writer: for stores that are to be written now and then. */
void tt_store_start(struct tt_store *store);

/* Waits until all that was handed over is written. */
void tt_store_drain(struct tt_store *store);

/* The same on the writer's own thread: writes it. */
void tt_store_write_waiting(struct tt_store *store);

/* Writes a file of all chunks that are in memory (last_ops), beside and then over the old one. */
tt_status tt_store_dump(struct tt_store *store);

/* Ends the writer and completes the file. Later calls do nothing. */
tt_status tt_store_finish(struct tt_store *store);

/*
 * A store that goes on in a file that is there, whose whole chunks end at `offset`: takes over the
 * descriptor. tt_store_adopt() tells of each of those chunks.
 */
tt_status tt_store_resume(struct tt_store *store, const char *path, int fd, uint64_t offset);
void tt_store_adopt(struct tt_store *store, const struct tt_chunk_head *head, uint64_t offset);

/*
 * All chunks so far, in an array that is the caller's to free after tt_chunk_unref() of each; *fd is
 * the store's, or -1.
 */
tt_status tt_store_list(struct tt_chunk_place **out, size_t *count, int *fd,
			struct tt_store *store);

/* The same with the lock held, without the descriptor. */
tt_status tt_store_places(struct tt_chunk_place **out, size_t *count, struct tt_store *store);

/* In a child process after a fork(): forgets everything and, with a path, goes on in that file. */
void tt_store_orphan(struct tt_store *store, const char *path);

#endif
