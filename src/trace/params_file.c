#include "trace/params_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "event/event.h"

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* At the beginning of a page that processes share: memory of forked ones, or the file of a session. */
struct count {
	atomic_uint_least64_t last;
	_Atomic(pid_t) owner; /* who may set it for all */
};
static struct count own_count; /* where there is no memory to share */
static _Atomic(struct count *) counter;
static _Atomic(struct count *) left; /* the count of all, while this process has another one */

/* Numbers that were given back, for the next files: a heap, the least one first. */
static struct {
	atomic_bool any; /* read without the lock */
	TT_VEC(uint64_t) heap;
} returned;
static void make_count(struct tt_lock *unused);
static void forget_numbers(struct tt_lock *unused);
static const struct tt_lock_forks number_forks = {.before = make_count, .child = forget_numbers};
TT_LOCK_STATIC(number_lock, TT_RANK_NUMBERS, &number_forks);

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t kept = *a;

	*a = *b;
	*b = kept;
}

static void push_returned(uint64_t number)
{
	uint64_t *slot = TT_VEC_PUSH(&returned.heap), *heap = returned.heap.data;

	if (!slot)
		return; /* a gap; nothing else to be done about it */
	*slot = number;
	for (size_t i = returned.heap.count - 1; i && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
	atomic_store(&returned.any, true);
}

/* The least one, or 0. */
static uint64_t pop_returned(void)
{
	uint64_t *heap = returned.heap.data, least;
	size_t count = returned.heap.count, i = 0, next;

	if (!count)
		return 0;
	least = heap[0];
	heap[0] = heap[--count];
	for (; (next = 2 * i + 1) < count; i = next) {
		next += next + 1 < count && heap[next + 1] < heap[next];
		if (heap[i] <= heap[next])
			break;
		swap(&heap[i], &heap[next]);
	}
	returned.heap.count = count;
	atomic_store(&returned.any, count > 0);
	return least;
}

static void forget_returned(void)
{
	TT_VEC_DEINIT(&returned.heap);
	atomic_store(&returned.any, false);
}

/* In the child of a fork: those that were given back are the parent's. */
static void forget_numbers(struct tt_lock *unused)
{
	(void)unused;
	forget_returned();
}

static struct count *map_count(int flags, int fd)
{
	struct count *count =
		mmap(NULL, TT_PARAMS_SESSION_HEAD, PROT_READ | PROT_WRITE, flags, fd, 0);

	return count == MAP_FAILED ? NULL : count;
}

static void share_count(uint64_t last)
{
	struct count *count = map_count(MAP_SHARED | MAP_ANONYMOUS, -1);

	if (!count)
		count = &own_count;
	atomic_store(&count->last, last);
	count->owner = getpid();
	atomic_store(&counter, count);
}

static pthread_once_t count_once = PTHREAD_ONCE_INIT;

static void first_count(void)
{
	share_count(0);
}

static struct count *the_count(void)
{
	struct count *count = atomic_load_explicit(&counter, memory_order_acquire);

	if (count)
		return count;
	pthread_once(&count_once, first_count);
	return atomic_load(&counter);
}

/* Before a fork: the child shares it, also when nothing was written so far. */
static void make_count(struct tt_lock *unused)
{
	(void)unused;
	the_count();
}

uint64_t tt_params_number_take(void)
{
	uint64_t number = 0;

	if (atomic_load_explicit(&returned.any, memory_order_relaxed)) {
		tt_lock_take(&number_lock);
		number = pop_returned();
		tt_lock_give(&number_lock);
	}
	return number ? number : atomic_fetch_add(&the_count()->last, 1) + 1;
}

void tt_params_number_return(uint64_t number)
{
	uint_least64_t last = number;

	if (atomic_compare_exchange_strong(&the_count()->last, &last, number - 1))
		return;
	tt_lock_take(&number_lock);
	push_returned(number);
	tt_lock_give(&number_lock);
}

uint64_t tt_params_number_get(void)
{
	return atomic_load(&the_count()->last);
}

void tt_params_number_set(uint64_t number)
{
	struct count *count = the_count(), *all = atomic_load(&left);

	tt_lock_take(&number_lock);
	forget_returned();
	tt_lock_give(&number_lock);
	if (all && number && number <= atomic_load(&all->last)) {
		atomic_store(&counter, all); /* set back to what it was */
		atomic_store(&left, NULL);
	} else if (count->owner == getpid()) {
		atomic_store(&count->last, number);
	} else {
		atomic_store(&left, count);
		share_count(number);
	}
}

/* ---- sessions ----------------------------------------------------------------------------------------- */

static _Atomic(const char *) session; /* the path of its file; NULL: none */

tt_status ttnn_params_session(const char *path)
{
	const char *kept = path ? tt_event_intern(path) : NULL;
	struct count *count = NULL;
	int fd;

	if (!path) {
		atomic_store(&session, NULL);
		return TTNN_OK;
	}
	if (!kept)
		return tt_fail_nomem();
	fd = tt_fd_open(path, O_RDWR);
	if (fd < 0)
		return tt_fail(TTNN_IO, "%s: cannot open: %s", path, strerror(errno));
	if (lseek(fd, 0, SEEK_END) >= TT_PARAMS_SESSION_HEAD)
		count = map_count(MAP_SHARED, fd);
	close(fd);
	if (!count)
		return tt_fail(TTNN_IO, "%s: cannot be the file of a session", path);
	atomic_compare_exchange_strong(&count->owner, &(pid_t){0}, getpid());
	if (count->owner == getpid())
		atomic_store(&count->last, tt_params_number_get());
	atomic_store(&counter, count);
	atomic_store(&left, NULL);
	atomic_store(&session, kept);
	return TTNN_OK;
}

/* Appends "F/path" and a zero byte, or "D/path" of a folder: one write, so that lines of processes stay apart. */
static void note(char kind, const char *path)
{
	const char *to = atomic_load(&session);
	struct tt_str line = {0};
	char here[PATH_MAX];
	int fd;

	if (!to)
		return;
	tt_str_addc(&line, kind);
	if (*path != '/' && getcwd(here, sizeof(here))) {
		tt_str_adds(&line, here);
		tt_str_addc(&line, '/');
	}
	tt_str_adds(&line, path);
	fd = tt_fd_open(to, O_WRONLY | O_APPEND);
	if (fd >= 0 && tt_str_status(&line) == TTNN_OK)
		tt_fd_write(fd, tt_str_text(&line), line.length + 1);
	if (fd >= 0)
		close(fd); /* what is not noted stays; nothing else to be done about it */
	tt_str_deinit(&line);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void (*report)(const char *name, const char *why);

/* It is made when the first file needs it, and again when someone removed it. */
static tt_status make_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = tt_strndup(path, slash ? (size_t)(slash - path) : 0);
	tt_status status;

	if (!directory)
		return tt_fail_nomem();
	for (char *at = directory; atomic_load(&session) && (at = strchr(at + 1, '/'));) {
		*at = 0;
		if (access(directory, F_OK) != 0)
			note('D', directory);
		*at = '/';
	}
	note('D', directory);
	status = tt_file_make_dirs(directory);
	tt_free(directory);
	return status;
}

static tt_status write_file(const char *path, const struct tt_str *text)
{
	tt_status status;

	TT_TRY(tt_str_status(text));
	status = tt_file_save_new(path, tt_str_text(text), text->length);
	if (status != TTNN_NOTFOUND)
		return status;
	TT_TRY(make_folder_of(path));
	return tt_file_save_new(path, tt_str_text(text), text->length);
}

tt_status tt_params_file_write(const char *path, const struct tt_str *text)
{
	TT_TRY(write_file(path, text));
	note('F', path);
	return TTNN_OK;
}

tt_status tt_params_file_create(struct tt_file_out **out, const char *path)
{
	tt_status status = tt_file_create(out, path);

	if (status != TTNN_NOTFOUND)
		return status;
	TT_TRY(make_folder_of(path));
	return tt_file_create(out, path);
}

tt_status tt_params_file_commit(struct tt_file_out *file, const char *path)
{
	TT_TRY(tt_file_commit(file));
	note('F', path);
	return TTNN_OK;
}

void tt_params_file_free(struct tt_params_file *file)
{
	if (!file)
		return;
	tt_str_deinit(&file->text);
	tt_free(file->path);
	tt_free(file->name);
	tt_free(file);
}

/* ---- the writing thread --------------------------------------------------------------------------------- */

#define QUEUE_BYTES ((size_t)32 << 20)

static struct {
	pthread_cond_t more, less;
	struct tt_params_file *first, **last;
	size_t bytes;
	bool busy, running;
	pthread_t thread;
} queue = {
	.more = PTHREAD_COND_INITIALIZER, .less = PTHREAD_COND_INITIALIZER, .last = &queue.first};
static void forget_queue(struct tt_lock *unused);
static const struct tt_lock_forks queue_forks = {.child = forget_queue};
TT_LOCK_STATIC(queue_lock, TT_RANK_QUEUE, &queue_forks);

static void write_queued(struct tt_params_file *file)
{
	if (tt_params_file_write(file->path, &file->text) != TTNN_OK) {
		tt_params_number_return(file->number);
		report(file->name, ttnn_error());
	}
	tt_params_file_free(file);
}

static void *work(void *unused)
{
	(void)unused;
	tt_lock_take(&queue_lock);
	for (;;) {
		struct tt_params_file *file = queue.first;
		size_t size;

		if (!file) {
			pthread_cond_broadcast(&queue.less);
			pthread_cond_wait(&queue.more, &queue_lock.mutex);
			continue;
		}
		queue.first = file->next;
		if (!queue.first)
			queue.last = &queue.first;
		queue.busy = true;
		size = file->text.length;
		tt_lock_give(&queue_lock);
		write_queued(file);
		tt_lock_take(&queue_lock);
		queue.bytes -= size;
		queue.busy = false;
		pthread_cond_broadcast(&queue.less);
	}
	return NULL;
}

void tt_params_file_queue(struct tt_params_file *file)
{
	tt_lock_take(&queue_lock);
	if (!queue.running)
		queue.running = pthread_create(&queue.thread, NULL, work, NULL) == 0 &&
				pthread_detach(queue.thread) == 0;
	if (!queue.running) {
		tt_lock_give(&queue_lock);
		write_queued(file);
		return;
	}
	while (queue.bytes > QUEUE_BYTES)
		pthread_cond_wait(&queue.less, &queue_lock.mutex);
	file->next = NULL;
	*queue.last = file;
	queue.last = &file->next;
	queue.bytes += file->text.length;
	pthread_cond_signal(&queue.more);
	tt_lock_give(&queue_lock);
}

void tt_params_file_flush(void)
{
	tt_lock_take(&queue_lock);
	while (queue.running && (queue.first || queue.busy))
		pthread_cond_wait(&queue.less, &queue_lock.mutex);
	tt_lock_give(&queue_lock);
}

/* In the child of a fork: files that wait are the parent's, and there is no writing thread yet. */
static void forget_queue(struct tt_lock *unused)
{
	struct tt_params_file *next;

	(void)unused;
	for (; queue.first; queue.first = next) {
		next = queue.first->next;
		tt_params_file_free(queue.first);
	}
	queue.last = &queue.first;
	queue.bytes = 0;
	queue.busy = queue.running = false;
	pthread_cond_init(&queue.more, NULL);
	pthread_cond_init(&queue.less, NULL);
}

/* ---- beginning --------------------------------------------------------------------------------------------- */

void tt_params_file_init(void (*failed)(const char *name, const char *why))
{
	report = failed;
	the_count(); /* children share it */
	atexit(tt_params_file_flush);
}
