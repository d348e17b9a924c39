/* Locks and forks: the order, hooks, locks that others hold, make and unmake meanwhile. @threads */
#include "base/lock.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* The thread sanitizer follows children with threads if it is told to, and 64 locks at most. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "die_after_fork=0:detect_deadlocks=0";
}

/* ---- locks of this test, which stand for those of the library ---------------------------------------- */

static char heard[32]; /* the hooks that ran, a letter for each */

static void hear(char word)
{
	size_t length = strlen(heard);

	if (length + 1 < sizeof(heard))
		heard[length] = word;
}

static void outer_before(struct tt_lock *lock)
{
	(void)lock;
	hear('a');
}

static void inner_before(struct tt_lock *lock)
{
	(void)lock;
	hear('b');
}

static void outer_parent(struct tt_lock *lock)
{
	(void)lock;
	hear('p');
}

static void outer_child(struct tt_lock *lock)
{
	tt_lock_take(lock); /* all are free by then */
	hear('c');
	tt_lock_give(lock);
}

static void inner_child(struct tt_lock *lock)
{
	(void)lock;
	hear('d');
}

static const struct tt_lock_forks outer_forks = {outer_before, outer_parent, outer_child, false};
static const struct tt_lock_forks inner_forks = {inner_before, NULL, inner_child, false};
static const struct tt_lock_forks anew_forks = {.anew = true};
TT_LOCK_STATIC(outer, TT_RANK_DEVICE, &outer_forks);
TT_LOCK_STATIC(inner, TT_RANK_MEMORY, &inner_forks);
TT_LOCK_STATIC(line, TT_RANK_LOG, &anew_forks);

/* The exit code of a child that runs a function; minus the signal that ended it. */
static int in_child(bool (*run)(void))
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		alarm(20);
		_exit(run() ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static bool all_are_free(void)
{
	tt_lock_take(&outer);
	tt_lock_take(&inner);
	tt_lock_take(&line);
	tt_lock_give(&line);
	tt_lock_give(&inner);
	tt_lock_give(&outer);
	return true;
}

/* ---- hooks -------------------------------------------------------------------------------------------- */

static bool heard_in_child(void)
{
	return strcmp(heard, "abdc") == 0;
}

TEST(hooks_run_in_order)
{
	memset(heard, 0, sizeof(heard));
	CHECK_INT(in_child(heard_in_child), 0);
	CHECK_STR(heard, "abp");
	CHECK(all_are_free());
}

/* ---- locks that others hold ------------------------------------------------------------------------------ */

struct holder {
	struct tt_lock *lock;
	atomic_bool holds, enough;
};

/* Until it is told, or for a while. */
static void *hold(void *context)
{
	struct holder *holder = context;

	tt_lock_take(holder->lock);
	atomic_store(&holder->holds, true);
	for (int i = 0; i < 100 && !atomic_load(&holder->enough); i++)
		usleep(1000);
	tt_lock_give(holder->lock);
	return NULL;
}

static void fork_while_held(struct tt_lock *lock, bool waits)
{
	struct holder holder = {.lock = lock};
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, hold, &holder), 0);
	while (!atomic_load(&holder.holds))
		usleep(100);
	CHECK_INT(in_child(all_are_free), 0);
	/* A fork that waited has it given back first. */
	if (waits)
		CHECK(tt_lock_try(lock) && (tt_lock_give(lock), true));
	atomic_store(&holder.enough, true);
	pthread_join(thread, NULL);
}

TEST(what_others_hold_is_free_in_the_child)
{
	if (!TEST_FOLLOWS_FORKS)
		return;
	fork_while_held(&outer, true);
	fork_while_held(&inner, true);
	fork_while_held(&line, false);
}

/* ---- locks that come and go ------------------------------------------------------------------------------ */

static atomic_bool stopping;

/* Makes, uses and unmakes locks, also while it holds outer ones. */
static void *come_and_go(void *unused)
{
	(void)unused;
	while (!atomic_load(&stopping)) {
		struct tt_lock fresh[2];

		tt_lock_take(&outer);
		tt_lock_init(&fresh[0], TT_RANK_MEMORY, &inner_forks);
		tt_lock_init(&fresh[1], TT_RANK_ALLOCATOR, NULL);
		tt_lock_take(&fresh[0]);
		tt_lock_take(&fresh[1]);
		tt_lock_give(&fresh[1]);
		tt_lock_give(&fresh[0]);
		tt_lock_give(&outer);
		tt_lock_take(&inner);
		tt_lock_deinit(&fresh[1]);
		tt_lock_give(&inner);
		tt_lock_deinit(&fresh[0]);
	}
	return NULL;
}

TEST(locks_come_and_go_during_forks)
{
	pthread_t threads[3];
	int good = 0;

	atomic_store(&stopping, false);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, come_and_go, NULL), 0);
	for (int i = 0; i < 50; i++)
		good += in_child(all_are_free) == 0;
	atomic_store(&stopping, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(good, 50);
}

/* ---- the order ------------------------------------------------------------------------------------------- */

static bool wrong_order(void)
{
	freopen("/dev/null", "w", stderr);
	tt_lock_take(&inner);
	tt_lock_take(&outer);
	return true;
}

static bool twice(void)
{
	freopen("/dev/null", "w", stderr);
	tt_lock_note(TT_RANK_GRACE);
	tt_lock_note(TT_RANK_GRACE);
	return true;
}

/* One that does not wait does no harm. */
static bool tried(void)
{
	tt_lock_take(&inner);
	return tt_lock_try(&outer);
}

/* One of an object of all zero counts for no order, however it is taken. */
static bool unshared(void)
{
	struct tt_lock none = {.mutex = PTHREAD_MUTEX_INITIALIZER};

	for (int i = 0; i < 2 * TT_RANKS; i++) {
		tt_lock_take(&inner);
		if (!tt_lock_try(&none))
			return false;
		tt_lock_give(&none);
		tt_lock_give(&inner);
	}
	return true;
}

TEST(a_wrong_order_is_found)
{
#ifdef NDEBUG
	CHECK_INT(in_child(wrong_order), 0);
	CHECK_INT(in_child(twice), 0);
#else
	CHECK_INT(in_child(wrong_order), -SIGABRT);
	CHECK_INT(in_child(twice), -SIGABRT);
#endif
	CHECK_INT(in_child(tried), 0);
	CHECK_INT(in_child(unshared), 0);
}
