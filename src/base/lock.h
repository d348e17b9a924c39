/*
 * lock.h: the locks of the library, in one order, and what becomes of them when the process forks.
 *
 * fork() copies the memory and one thread: what the other threads were in the middle of is never finished
 * in the child. So a fork takes all locks before, in the order of their ranks, and the child gives them
 * back: everything that a lock guards is whole there. Then the hooks of the locks run in the child,
 * inner ones first: they forget the threads that are not there.
 *
 * A thread that holds a lock may take others of later ranks only. Builds with assertions (debug, asan,
 * tsan) check that with every lock, so a wrong order is found by any test that comes along. A thread that
 * holds one must not wait for anything that a forking thread may hold meanwhile: in Python that is the
 * GIL, so nothing of the user's (hooks, owners of borrowed memory) is called with a lock held.
 *
 * To add one: a row in the list of ranks, TT_LOCK_STATIC() or tt_lock_init(); a condition variable is set
 * up again by the hook `child`. Exempt are locks of an object that only threads of one call share, and
 * that ends with the call (report/ahead.c, db/load.c): no child can come across it; and one that a child leaves
 * alone because it is of another process (trace/unpack.c).
 */
#ifndef TT_BASE_LOCK_H
#define TT_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/*
 * The order, outer first. Two locks of the same rank are never held by one thread, but for those of a fork,
 * which takes older ones first.
 */
enum tt_lock_rank {
	TT_RANK_NONE,     /* of an object of all zero, which nobody shares: no fork knows of it */
	TT_RANK_LOOP,     /* base/pool.c: held for a whole loop, so a fork does not wait for it */
	TT_RANK_GRAPHS,   /* trace/session.c: the captures that are open, of all threads */
	TT_RANK_PARAMS,   /* trace/params.c: on or off; attaches a listener */
	TT_RANK_RERUN,    /* ops/rerun.c: the traces of devices; lists and frees buffers */
	TT_RANK_DEVICE,   /* device/device.h: the submeshes of one; makes memory, and tells of it */
	TT_RANK_SLOTS,    /* event/event.c: who hears */
	TT_RANK_GRACE,    /* event/grace.c: who tells; whoever is telling counts as holding it */
	TT_RANK_KNOWN,    /* event/seen.c: the open devices; tells a capture of them */
	TT_RANK_CAPTURES, /* event/capture.c: the list of captures */
	TT_RANK_CAPTURE,  /* event/capture.c: the streams of one */
	TT_RANK_STORE,    /* event/store.h: the chunks of one */
	TT_RANK_QUEUE,    /* trace/params_file.c: files that wait for their writer */
	TT_RANK_NUMBERS,  /* trace/params_file.c: numbers that were given back */
	TT_RANK_REGISTRY, /* ops/registry.c: while it is built */
	TT_RANK_PROGRAMS, /* device/progcache.h: the programs of a device */
	TT_RANK_WEIGHTS,  /* backend/cpu/weights.c: what was packed */
	TT_RANK_LOADER,   /* backend/cpu/dnnl_load.c: while a library is loaded */
	TT_RANK_DNNL,     /* backend/cpu/dnnl_plan.c: plans, and what oneDNN locks inside */
	TT_RANK_MEMORY,   /* device/devmem.h: the buffers of one */
	TT_RANK_ALLOCATOR, /* device/alloc.h: its addresses */
	TT_RANK_CORES,     /* tensor/core.c: all sets of cores */
	TT_RANK_NAMES,     /* event/event.c: names that stay */
	TT_RANK_SYMBOLS,   /* base/symbols.c: files with names of functions */
	TT_RANK_TIME,      /* trace/params_text.c: around what the C library locks for time zones */
	TT_RANK_POOL,      /* base/pool.c: the job; with the loop it begins anew in the child */
	TT_RANK_VIEWER,    /* event/viewer.c: what viewers are told */
	TT_RANK_LARGE,     /* base/large.c: idle blocks */
	TT_RANK_LOG,       /* base/log.c: a line; a fork does not wait for who reads it */
	TT_RANKS,
};

struct tt_lock;

/* What a fork does besides. All are optional, and run on the thread that forks. */
struct tt_lock_forks {
	void (*before)(struct tt_lock *lock); /* with this lock and all of earlier ranks held */
	void (*parent)(struct tt_lock *lock); /* after the fork, before this lock is given back */
	void (*child)(
		struct tt_lock *lock); /* when all locks are given back: there is one thread */
	/* It is not taken: `child` begins anew with what it guards, however that was left. */
	bool anew;
};

struct tt_lock {
	pthread_mutex_t mutex;
	const struct tt_lock_forks *forks; /* NULL: nothing besides */
	unsigned char rank;
	bool held; /* by the thread that forks; lock.c's, as are the next */
	struct tt_lock *next, *before;
};

/* A lock of a file, for all the life of the process. `forks` may be NULL. */
#define TT_LOCK_STATIC(name, of_rank, of_forks)                                                    \
	static struct tt_lock name = {                                                             \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .forks = (of_forks), .rank = (of_rank)};       \
	__attribute__((constructor)) static void enlist_##name(void)                               \
	{                                                                                          \
		tt_lock_enlist(&name);                                                             \
	}                                                                                          \
	struct tt_lock /* so that a semicolon may follow */

/* For TT_LOCK_STATIC(): lets forks know of it. */
void tt_lock_enlist(struct tt_lock *lock);

/* A lock of an object. `forks` may be NULL; it must stay. */
void tt_lock_init(struct tt_lock *lock, enum tt_lock_rank rank, const struct tt_lock_forks *forks);

/* Nobody holds or wants it any more. Waits for a fork that does; counts as taking it for the order. */
void tt_lock_deinit(struct tt_lock *lock);

#ifdef NDEBUG
static inline void tt_lock_note(enum tt_lock_rank rank)
{
	(void)rank;
}

static inline void tt_lock_note_tried(enum tt_lock_rank rank)
{
	(void)rank;
}

static inline void tt_lock_unnote(enum tt_lock_rank rank)
{
	(void)rank;
}
#else
/* This thread has the lock, or something like it, or has it no longer. Aborts when the order is wrong. */
void tt_lock_note(enum tt_lock_rank rank);
void tt_lock_note_tried(enum tt_lock_rank rank); /* in any order: it did not wait */
void tt_lock_unnote(enum tt_lock_rank rank);
#endif

static inline void tt_lock_take(struct tt_lock *lock)
{
	tt_lock_note((enum tt_lock_rank)lock->rank);
	pthread_mutex_lock(&lock->mutex);
}

/* Whether it was free; it is taken then. */
static inline bool tt_lock_try(struct tt_lock *lock)
{
	if (pthread_mutex_trylock(&lock->mutex) != 0)
		return false;
	tt_lock_note_tried((enum tt_lock_rank)lock->rank);
	return true;
}

static inline void tt_lock_give(struct tt_lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
	tt_lock_unnote((enum tt_lock_rank)lock->rank);
}

#endif
