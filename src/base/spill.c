#include "base/spill.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"

#define RUN ((size_t)1 << 19)     /* pairs that are sorted in memory */
#define FIRST ((size_t)1 << 12)   /* room to begin with */
#define WINDOW ((size_t)16 << 10) /* bytes of a run in memory at most, and of all of them */
#define WINDOWS ((size_t)4 << 20)
#define DIGIT 11                  /* bits that a pass sorts by */
#define PIECE ((size_t)256 << 10) /* bytes that are written at once: less than a run has */
#define PAIR_MAX 10               /* bytes of a pair in the file */

struct pair {
	uint32_t key, value;
};

/* A sorted part, in the file. */
struct run {
	uint64_t at, end;      /* what of it was not read yet */
	uint64_t begin;        /* where it begins */
	unsigned char *window; /* bytes of it, from the file */
	size_t next, filled;   /* of the window */
	struct pair pair;      /* the next one */
	bool ended;
};

struct tt_spill {
	struct pair *pairs, *other; /* those not in the file; room for sorting */
	size_t count, room, read;
	bool sorted;
	/*
	 * A full part is sorted and written by a thread beside, if there is one, which has all that is below but
	 * `working` to itself meanwhile; it is no matter of a fork.
	 */
	pthread_t thread;
	bool working;
	struct pair *full; /* RUN of them, or room for as many */
	struct pair *rest; /* room for sorting them */
	int fd;
	uint64_t size; /* of the file */
	size_t window; /* bytes of a run in memory */
	TT_VEC(struct run) runs;
	TT_VEC(uint32_t) heap; /* runs with pairs left, that with the next one first */
	tt_status status;
	int error;
};

tt_status tt_spill_new(struct tt_spill **out)
{
	struct tt_spill *spill = tt_calloc(1, sizeof(*spill));

	if (!spill)
		return tt_fail_nomem();
	spill->fd = -1;
	*out = spill;
	return TTNN_OK;
}

static void fail(struct tt_spill *spill, tt_status status, int error)
{
	if (spill->status != TTNN_OK)
		return;
	spill->status = status;
	spill->error = error;
}

tt_status tt_spill_status(const struct tt_spill *spill)
{
	if (spill->status == TTNN_NOMEM)
		return tt_fail_nomem();
	if (spill->status != TTNN_OK)
		return tt_fd_scratch_fail(spill->error);
	return TTNN_OK;
}

/* ---- in memory ------------------------------------------------------------------------------------ */

/*
 * Sorts by key, digit by digit from the lowest; equal ones stay in their order. *other is room for as many; both
 * may change places.
 */
static void sort_pairs(struct pair **pairs, struct pair **other, size_t count)
{
	uint32_t counts[1 << DIGIT];
	uint32_t highest = 0;
	bool in_order = true;

	for (size_t i = 0; i < count; i++) {
		if ((*pairs)[i].key > highest)
			highest = (*pairs)[i].key;
		in_order &= !i || (*pairs)[i - 1].key <= (*pairs)[i].key;
	}
	if (in_order)
		return;
	for (unsigned shift = 0; shift < 32 && highest >> shift; shift += DIGIT) {
		struct pair *from = *pairs, *to = *other;
		uint32_t sum = 0;

		memset(counts, 0, sizeof(counts));
		for (size_t i = 0; i < count; i++)
			counts[from[i].key >> shift & ((1 << DIGIT) - 1)]++;
		for (size_t i = 0; i < 1 << DIGIT; i++) {
			uint32_t more = counts[i];

			counts[i] = sum;
			sum += more;
		}
		for (size_t i = 0; i < count; i++)
			to[counts[from[i].key >> shift & ((1 << DIGIT) - 1)]++] = from[i];
		*pairs = to;
		*other = from;
	}
}

static bool make_other(struct tt_spill *spill)
{
	if (!spill->other)
		spill->other = tt_alloc(spill->room * sizeof(*spill->other));
	return spill->other;
}

static bool grow(struct tt_spill *spill)
{
	size_t room = spill->room ? 2 * spill->room : FIRST;
	struct pair *pairs = tt_realloc(spill->pairs, room * sizeof(*pairs));

	if (!pairs)
		return false;
	tt_free(spill->other); /* of the room before */
	spill->other = NULL;
	spill->pairs = pairs;
	spill->room = room;
	return true;
}

/* ---- in the file ---------------------------------------------------------------------------------- */

static size_t put_number(unsigned char *out, uint32_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		out[size++] = (unsigned char)(number | 0x80);
	out[size++] = (unsigned char)number;
	return size;
}

/* A pair as what it is beyond the one before. */
static size_t put_pair(unsigned char *out, const struct pair *pair, const struct pair *before)
{
	uint32_t step = pair->value - before->value;
	size_t size = put_number(out, pair->key - before->key);

	return size + put_number(out + size, step << 1 ^ (0 - (step >> 31)));
}

/* Writes sorted pairs as a run; `bytes` is room for that, in pieces: 8 bytes a pair may not be enough. */
static void write_run(struct tt_spill *spill, const struct pair *pairs, size_t count,
		      unsigned char *bytes)
{
	size_t most = PIECE - PAIR_MAX, used = 0;
	struct run run = {.begin = spill->size}, *slot;
	struct pair before = {0, 0};

	for (size_t i = 0; i <= count; i++) {
		if (used > most || i == count) {
			int error = tt_fd_write_at(spill->fd, bytes, used, spill->size);

			if (error) {
				fail(spill, TTNN_IO, error);
				return;
			}
			spill->size += used;
			used = 0;
		}
		if (i == count)
			break;
		used += put_pair(bytes + used, &pairs[i], &before);
		before = pairs[i];
	}
	run.end = spill->size;
	slot = TT_VEC_PUSH(&spill->runs);
	if (!slot) {
		fail(spill, TTNN_NOMEM, 0);
		return;
	}
	*slot = run;
}

static bool open_scratch(struct tt_spill *spill)
{
	if (spill->fd < 0)
		spill->fd = tt_fd_scratch();
	if (spill->fd < 0)
		fail(spill, TTNN_IO, errno);
	return spill->fd >= 0;
}

/* What is in memory becomes a run, here. */
static void spill_over(struct tt_spill *spill)
{
	if (!open_scratch(spill))
		return;
	if (!make_other(spill)) {
		fail(spill, TTNN_NOMEM, 0);
		return;
	}
	sort_pairs(&spill->pairs, &spill->other, spill->count);
	write_run(spill, spill->pairs, spill->count, (unsigned char *)spill->other);
	spill->count = 0;
}

/* ---- beside --------------------------------------------------------------------------------------- */

static void *write_full(void *context)
{
	struct tt_spill *spill = context;

	sort_pairs(&spill->full, &spill->rest, RUN);
	write_run(spill, spill->full, RUN, (unsigned char *)spill->rest);
	return NULL;
}

/* Waits for the thread. */
static void join(struct tt_spill *spill)
{
	if (spill->working)
		pthread_join(spill->thread, NULL);
	spill->working = false;
}

/* Signals are for the threads of the program. */
static bool start(struct tt_spill *spill)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	spill->working = pthread_create(&spill->thread, NULL, write_full, spill) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return spill->working;
}

/* RUN pairs are there: a thread makes a run of them, while there is room for more. */
static void hand_over(struct tt_spill *spill)
{
	struct pair *full;

	join(spill);
	if (spill->status != TTNN_OK)
		return;
	if (!spill->full)
		spill->full = tt_alloc(RUN * sizeof(*spill->full));
	if (!spill->rest)
		spill->rest = tt_alloc(RUN * sizeof(*spill->rest));
	if (tt_pool_threads() < 2 || !spill->full || !spill->rest) {
		spill_over(spill);
		return;
	}
	if (!open_scratch(spill))
		return;
	full = spill->pairs;
	spill->pairs = spill->full;
	spill->full = full;
	if (!start(spill))
		write_full(spill);
	spill->count = 0;
}

void tt_spill_add(struct tt_spill *spill, uint32_t key, uint32_t value)
{
	if (spill->count == spill->room) {
		if (spill->room == RUN)
			hand_over(spill);
		else if (spill->status == TTNN_OK && !grow(spill))
			fail(spill, TTNN_NOMEM, 0);
		if (spill->count == spill->room)
			return; /* after a failure */
	}
	spill->pairs[spill->count++] = (struct pair){key, value};
}

/* ---- reading -------------------------------------------------------------------------------------- */

/* Makes sure that a whole pair is in the window, if there is one. */
static void fill(struct tt_spill *spill, struct run *run)
{
	size_t left = run->filled - run->next, more;
	int error;

	if (left >= PAIR_MAX || run->at == run->end)
		return;
	memmove(run->window, run->window + run->next, left);
	more = spill->window - left < run->end - run->at ? spill->window - left
							 : (size_t)(run->end - run->at);
	error = tt_fd_read_at(spill->fd, run->window + left, more, run->at);
	if (error) {
		fail(spill, TTNN_IO, error);
		more = 0;
		run->at = run->end;
	}
	run->at += more;
	run->next = 0;
	run->filled = left + more;
}

static uint32_t get_number(struct run *run)
{
	uint32_t number = 0;

	for (unsigned shift = 0; shift < 35 && run->next < run->filled; shift += 7) {
		unsigned char byte = run->window[run->next++];

		number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return number;
}

static void advance(struct tt_spill *spill, struct run *run)
{
	uint32_t step;

	fill(spill, run);
	run->ended = run->next == run->filled;
	if (run->ended)
		return;
	run->pair.key += get_number(run);
	step = get_number(run);
	run->pair.value += step >> 1 ^ (0 - (step & 1));
}

/* Runs are in the order of time, so that of equal keys the earlier run's come first. */
static bool is_before(const struct tt_spill *spill, uint32_t a, uint32_t b)
{
	uint32_t left = spill->runs.data[a].pair.key, right = spill->runs.data[b].pair.key;

	return left < right || (left == right && a < b);
}

static void sift_down(struct tt_spill *spill)
{
	uint32_t *heap = spill->heap.data;

	for (size_t at = 0, child; (child = 2 * at + 1) < spill->heap.count; at = child) {
		uint32_t moved = heap[at];

		if (child + 1 < spill->heap.count && is_before(spill, heap[child + 1], heap[child]))
			child++;
		if (!is_before(spill, heap[child], moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
	}
}

/* Begins a run; heap order holds because all begin in it one by one. */
static tt_status open_run(struct tt_spill *spill, uint32_t number)
{
	struct run *run = &spill->runs.data[number];
	uint32_t *slot;

	if (!run->window)
		run->window = tt_alloc(spill->window);
	slot = run->window ? TT_VEC_PUSH(&spill->heap) : NULL;
	if (!slot)
		return tt_fail_nomem();
	run->at = run->begin;
	run->next = run->filled = 0;
	run->pair = (struct pair){0, 0};
	run->ended = false;
	advance(spill, run);
	*slot = number;
	for (size_t at = spill->heap.count - 1;
	     at && is_before(spill, spill->heap.data[at], spill->heap.data[(at - 1) / 2]);
	     at = (at - 1) / 2) {
		spill->heap.data[at] = spill->heap.data[(at - 1) / 2];
		spill->heap.data[(at - 1) / 2] = number;
	}
	return TTNN_OK;
}

tt_status tt_spill_sort(struct tt_spill *spill)
{
	join(spill);
	if (spill->status == TTNN_OK && spill->runs.count && spill->count)
		spill_over(spill);
	else if (!spill->sorted && spill->status == TTNN_OK && spill->count && !make_other(spill))
		fail(spill, TTNN_NOMEM, 0);
	else if (!spill->sorted && spill->status == TTNN_OK)
		sort_pairs(&spill->pairs, &spill->other, spill->count);
	spill->sorted = true;
	TT_TRY(tt_spill_status(spill));
	tt_free(spill->other);
	tt_free(spill->full);
	tt_free(spill->rest);
	spill->other = spill->full = spill->rest = NULL;
	if (spill->runs.count) {
		tt_free(spill->pairs);
		spill->pairs = NULL;
		spill->room = 0;
	}
	spill->read = spill->heap.count = 0;
	/* It stays what it was when they are read again. */
	for (spill->window = WINDOW; spill->window * spill->runs.count > WINDOWS;)
		spill->window /= 2;
	for (uint32_t i = 0; i < spill->runs.count; i++)
		TT_TRY(open_run(spill, i));
	return tt_spill_status(spill);
}

static bool next_of_runs(uint32_t *value, struct tt_spill *spill, uint32_t key)
{
	while (spill->heap.count) {
		struct run *run = &spill->runs.data[spill->heap.data[0]];
		struct pair pair = run->pair;

		if (pair.key > key)
			return false;
		advance(spill, run);
		if (run->ended)
			spill->heap.data[0] = spill->heap.data[--spill->heap.count];
		sift_down(spill);
		if (pair.key == key) {
			*value = pair.value;
			return true;
		}
	}
	return false;
}

bool tt_spill_next(uint32_t *value, struct tt_spill *spill, uint32_t key)
{
	if (spill->runs.count)
		return next_of_runs(value, spill, key);
	while (spill->read < spill->count && spill->pairs[spill->read].key < key)
		spill->read++;
	if (spill->read == spill->count || spill->pairs[spill->read].key != key)
		return false;
	*value = spill->pairs[spill->read++].value;
	return true;
}

void tt_spill_free(struct tt_spill *spill)
{
	if (!spill)
		return;
	join(spill);
	for (size_t i = 0; i < spill->runs.count; i++)
		tt_free(spill->runs.data[i].window);
	TT_VEC_DEINIT(&spill->runs);
	TT_VEC_DEINIT(&spill->heap);
	if (spill->fd >= 0)
		close(spill->fd);
	tt_free(spill->pairs);
	tt_free(spill->other);
	tt_free(spill->full);
	tt_free(spill->rest);
	tt_free(spill);
}
