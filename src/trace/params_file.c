#include "trace/params_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ttnn_frontend.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"

/* ---- numbers ------------------------------------------------------------------------------------------ */

struct count {
	atomic_uint_least64_t last;
	pid_t owner; /* who may set it for all */
};
static struct count own_count; /* where there is no memory to share */
static _Atomic(struct count *) counter;

/* Numbers that were given back, for the next files: a heap, the least one first. */
static struct {
	atomic_bool any; /* read without the lock */
	TT_VEC(uint64_t) heap;
} returned;
static void forget_numbers(struct tt_lock *unused);
static const struct tt_lock_forks number_forks = {.child = forget_numbers};
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

static void share_count(uint64_t last)
{
	struct count *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (count == MAP_FAILED)
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
	struct count *count = the_count();

	tt_lock_take(&number_lock);
	forget_returned();
	tt_lock_give(&number_lock);
	if (count->owner == getpid())
		atomic_store(&count->last, number);
	else
		share_count(number);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void (*report)(const char *name, const char *why);
static atomic_uint_least64_t written;

uint64_t ttnn_params_written(void)
{
	tt_params_file_flush();
	return atomic_load(&written);
}

static tt_status write_file(const char *path, const struct tt_str *text)
{
	const char *slash = strrchr(path, '/');
	char *directory;
	tt_status status;

	TT_TRY(tt_str_status(text));
	status = tt_file_save_new(path, tt_str_text(text), text->length);
	if (status != TTNN_NOTFOUND || !slash)
		return status;
	/* The directory is made when the first file needs it, and again when someone removed it. */
	directory = tt_strndup(path, (size_t)(slash - path));
	if (!directory)
		return tt_fail_nomem();
	status = tt_file_make_dirs(directory);
	tt_free(directory);
	return status == TTNN_OK ? tt_file_save_new(path, tt_str_text(text), text->length) : status;
}

tt_status tt_params_file_write(const char *path, const struct tt_str *text)
{
	TT_TRY(write_file(path, text));
	atomic_fetch_add(&written, 1);
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

/* ---- remembering ------------------------------------------------------------------------------------------ */

struct paths {
	TT_VEC(char *) list;
};
static struct paths remembered;
static void forget_paths(struct tt_lock *unused);
static const struct tt_lock_forks path_forks = {.child = forget_paths};
TT_LOCK_STATIC(path_lock, TT_RANK_REMEMBERED, &path_forks);

void tt_params_file_remember(const char *path)
{
	char *copy = tt_strdup(path), **slot;

	tt_lock_take(&path_lock);
	slot = copy ? TT_VEC_PUSH(&remembered.list) : NULL;
	if (slot)
		*slot = copy;
	else
		tt_free(copy); /* it stays; nothing else to be done about it */
	tt_lock_give(&path_lock);
}

static void free_paths(struct paths *paths)
{
	for (size_t i = 0; i < paths->list.count; i++)
		tt_free(paths->list.data[i]);
	TT_VEC_DEINIT(&paths->list);
}

/* In the child of a fork: the files are the parent's. */
static void forget_paths(struct tt_lock *unused)
{
	(void)unused;
	free_paths(&remembered);
}

static void remove_files(const struct paths *paths)
{
	for (size_t i = 0; i < paths->list.count; i++) {
		char *path = paths->list.data[i];

		unlink(path);
	}
	for (size_t i = 0; i < paths->list.count; i++) {
		char *path = paths->list.data[i], *slash = strrchr(path, '/');

		if (slash)
			*slash = 0;
		/* Refused unless it is empty; most files share a directory. */
		if (slash && (i == 0 || strcmp(path, paths->list.data[i - 1]) != 0))
			rmdir(path);
	}
}

/* There may be many: who remembers another one, or forks, does not wait for that. */
void tt_params_file_clean(void)
{
	struct paths taken;

	tt_lock_take(&path_lock);
	taken = remembered;
	remembered = (struct paths){0};
	tt_lock_give(&path_lock);
	remove_files(&taken);
	free_paths(&taken);
}

void tt_params_file_init(void (*failed)(const char *name, const char *why))
{
	report = failed;
	the_count(); /* children share it */
	atexit(tt_params_file_flush);
}
