#include "base/lock.h"

#include <assert.h>

/* All locks, by rank, older ones first. */
static struct {
	struct tt_lock *first, *last;
} all[TT_RANKS];
/*
 * Of the list. It is innermost: locks are made and unmade while others are held. So a fork cannot keep it
 * while it takes them; what it has taken or is about to take stays in the list until the fork is over.
 */
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t forked = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t one_fork = PTHREAD_MUTEX_INITIALIZER; /* outermost */

/* ---- the order ---------------------------------------------------------------------------------------- */

#ifndef NDEBUG
static _Thread_local struct {
	unsigned char rank[TT_RANKS];
	unsigned count;
} mine;

void tt_lock_note(enum tt_lock_rank rank)
{
	if (rank == TT_RANK_NONE)
		return;
	for (unsigned i = 0; i < mine.count; i++)
		assert(mine.rank[i] < rank && "locks are taken in the order of their ranks");
	tt_lock_note_tried(rank);
}

void tt_lock_note_tried(enum tt_lock_rank rank)
{
	if (rank == TT_RANK_NONE)
		return;
	assert(mine.count < TT_RANKS);
	mine.rank[mine.count++] = (unsigned char)rank;
}

void tt_lock_unnote(enum tt_lock_rank rank)
{
	unsigned i = 0;

	if (rank == TT_RANK_NONE)
		return;
	while (i < mine.count && mine.rank[i] != rank)
		i++;
	assert(i < mine.count);
	for (mine.count--; i < mine.count; i++)
		mine.rank[i] = mine.rank[i + 1];
}
#endif

/* ---- forks -------------------------------------------------------------------------------------------- */

static bool begins_anew(const struct tt_lock *lock)
{
	return lock->forks && lock->forks->anew;
}

/* The one after `lock`, or the first; NULL at the end. With the list. */
static struct tt_lock *next_of(const struct tt_lock *lock)
{
	struct tt_lock *next = lock ? lock->next : NULL;

	for (unsigned rank = lock ? lock->rank + 1u : 0; !next && rank < TT_RANKS; rank++)
		next = all[rank].first;
	return next;
}

/* The other way. */
static struct tt_lock *last_before(const struct tt_lock *lock)
{
	struct tt_lock *last = lock ? lock->before : NULL;

	for (unsigned rank = lock ? lock->rank : TT_RANKS; !last && rank-- > 0;)
		last = all[rank].last;
	return last;
}

/* Ends with the list, so that it stays as it is. */
static void hold_all(void)
{
	struct tt_lock *lock = NULL;

	pthread_mutex_lock(&one_fork);
	pthread_mutex_lock(&list);
	while ((lock = next_of(lock))) {
		if (begins_anew(lock))
			continue;
		lock->held = true;
		pthread_mutex_unlock(&list);
		pthread_mutex_lock(&lock->mutex);
		if (lock->forks && lock->forks->before)
			lock->forks->before(lock);
		pthread_mutex_lock(&list);
	}
}

static void release_in_parent(void)
{
	for (struct tt_lock *lock = NULL; (lock = next_of(lock));) {
		if (!lock->held)
			continue;
		if (lock->forks && lock->forks->parent)
			lock->forks->parent(lock);
		lock->held = false;
		pthread_mutex_unlock(&lock->mutex);
	}
	pthread_cond_broadcast(&forked);
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&one_fork);
}

/*
 * A lock that is not held begins anew, or was made behind the fork's back while it took later ones: then
 * only threads that are gone knew what it guards.
 */
static void release_in_child(void)
{
	for (struct tt_lock *lock = NULL; (lock = next_of(lock)); lock->held = false)
		if (lock->held)
			pthread_mutex_unlock(&lock->mutex);
		else
			pthread_mutex_init(&lock->mutex, NULL);
	pthread_cond_init(&forked, NULL);
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&one_fork);
	for (struct tt_lock *lock = NULL; (lock = last_before(lock));)
		if (lock->forks && lock->forks->child)
			lock->forks->child(lock);
}

static void watch_forks(void)
{
	pthread_atfork(hold_all, release_in_parent, release_in_child);
}

/* ---- the list ----------------------------------------------------------------------------------------- */

void tt_lock_enlist(struct tt_lock *lock)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&list);
	lock->held = false;
	lock->next = NULL;
	lock->before = all[lock->rank].last;
	*(lock->before ? &lock->before->next : &all[lock->rank].first) = lock;
	all[lock->rank].last = lock;
	pthread_mutex_unlock(&list);
}

void tt_lock_init(struct tt_lock *lock, enum tt_lock_rank rank, const struct tt_lock_forks *forks)
{
	pthread_mutex_init(&lock->mutex, NULL);
	lock->forks = forks;
	lock->rank = (unsigned char)rank;
	tt_lock_enlist(lock);
}

void tt_lock_deinit(struct tt_lock *lock)
{
	if (lock->rank == TT_RANK_NONE)
		return;
	tt_lock_note((enum tt_lock_rank)lock->rank);
	pthread_mutex_lock(&list);
	while (lock->held)
		pthread_cond_wait(&forked, &list);
	*(lock->before ? &lock->before->next : &all[lock->rank].first) = lock->next;
	*(lock->next ? &lock->next->before : &all[lock->rank].last) = lock->before;
	pthread_mutex_unlock(&list);
	tt_lock_unnote((enum tt_lock_rank)lock->rank);
	pthread_mutex_destroy(&lock->mutex);
}
