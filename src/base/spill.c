#include "base/spill.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/vec.h"

#define RUN ((size_t)1 << 19)     /* pairs that are sorted in memory */
#define FIRST ((size_t)1 << 12)   /* room to begin with */
#define WINDOW ((size_t)16 << 10) /* bytes of a run in memory */
#define DIGIT 11                  /* bits that a pass sorts by */
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
	int fd;
	uint64_t size; /* of the file */
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
		return tt_fail(spill->status,
			       "a temporary file (TMPDIR says where) cannot be used: %s",
			       strerror(spill->error));
	return TTNN_OK;
}

/* ---- in memory ------------------------------------------------------------------------------------ */

/* Sorts by key, digit by digit from the lowest; equal ones stay in their order. */
static bool sort_pairs(struct tt_spill *spill)
{
	uint32_t counts[1 << DIGIT];
	uint32_t highest = 0;
	bool in_order = true;

	for (size_t i = 0; i < spill->count; i++) {
		if (spill->pairs[i].key > highest)
			highest = spill->pairs[i].key;
		in_order &= !i || spill->pairs[i - 1].key <= spill->pairs[i].key;
	}
	if (in_order)
		return true;
	if (!spill->other)
		spill->other = tt_alloc(spill->room * sizeof(*spill->other));
	if (!spill->other)
		return false;
	for (unsigned shift = 0; shift < 32 && highest >> shift; shift += DIGIT) {
		struct pair *from = spill->pairs, *to = spill->other;
		uint32_t sum = 0;

		memset(counts, 0, sizeof(counts));
		for (size_t i = 0; i < spill->count; i++)
			counts[from[i].key >> shift & ((1 << DIGIT) - 1)]++;
		for (size_t i = 0; i < 1 << DIGIT; i++) {
			uint32_t count = counts[i];

			counts[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < spill->count; i++)
			to[counts[from[i].key >> shift & ((1 << DIGIT) - 1)]++] = from[i];
		spill->pairs = to;
		spill->other = from;
	}
	return true;
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

/* Writes the sorted pairs as a run. */
static void write_run(struct tt_spill *spill)
{
	unsigned char *bytes =
		(unsigned char *)spill->other; /* 8 bytes a pair are not enough: in pieces */
	size_t most = spill->room * sizeof(*spill->other) - PAIR_MAX, used = 0;
	struct run run = {.begin = spill->size}, *slot;
	struct pair before = {0, 0};

	for (size_t i = 0; i <= spill->count; i++) {
		if (used > most || i == spill->count) {
			int error = tt_fd_write_at(spill->fd, bytes, used, spill->size);

			if (error) {
				fail(spill, TTNN_IO, error);
				return;
			}
			spill->size += used;
			used = 0;
		}
		if (i == spill->count)
			break;
		used += put_pair(bytes + used, &spill->pairs[i], &before);
		before = spill->pairs[i];
	}
	run.end = spill->size;
	slot = TT_VEC_PUSH(&spill->runs);
	if (!slot) {
		fail(spill, TTNN_NOMEM, 0);
		return;
	}
	*slot = run;
	spill->count = 0;
}

static void spill_over(struct tt_spill *spill)
{
	if (spill->fd < 0)
		spill->fd = tt_fd_scratch();
	if (spill->fd < 0) {
		fail(spill, TTNN_IO, errno);
		return;
	}
	if (!spill->other)
		spill->other = tt_alloc(spill->room * sizeof(*spill->other));
	if (!spill->other || !sort_pairs(spill)) {
		fail(spill, TTNN_NOMEM, 0);
		return;
	}
	write_run(spill);
}

void tt_spill_add(struct tt_spill *spill, uint32_t key, uint32_t value)
{
	if (spill->count == spill->room) {
		if (spill->status == TTNN_OK && spill->room == RUN)
			spill_over(spill);
		else if (spill->status == TTNN_OK && !grow(spill))
			fail(spill, TTNN_NOMEM, 0);
		if (spill->status != TTNN_OK)
			return;
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
	more = WINDOW - left < run->end - run->at ? WINDOW - left : (size_t)(run->end - run->at);
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
		run->window = tt_alloc(WINDOW);
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
	if (spill->status == TTNN_OK && spill->runs.count && spill->count)
		spill_over(spill);
	else if (!spill->sorted && spill->status == TTNN_OK && !sort_pairs(spill))
		fail(spill, TTNN_NOMEM, 0);
	spill->sorted = true;
	TT_TRY(tt_spill_status(spill));
	tt_free(spill->other);
	spill->other = NULL;
	if (spill->runs.count) {
		tt_free(spill->pairs);
		spill->pairs = NULL;
		spill->room = 0;
	}
	spill->read = spill->heap.count = 0;
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
	for (size_t i = 0; i < spill->runs.count; i++)
		tt_free(spill->runs.data[i].window);
	TT_VEC_DEINIT(&spill->runs);
	TT_VEC_DEINIT(&spill->heap);
	if (spill->fd >= 0)
		close(spill->fd);
	tt_free(spill->pairs);
	tt_free(spill->other);
	tt_free(spill);
}
