#include "db/tuples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* Bytes that are sorted at once; that are read of a part at once. */
#define MEMORY ((size_t)1 << 20)
#define WINDOW ((size_t)8 << 10)

void tt_db_tuples_init(struct tt_db_tuples *tuples, int width, const char *directory)
{
	memset(tuples, 0, sizeof(*tuples));
	tuples->width = width;
	tuples->directory = directory;
	tuples->apart = true;
}

static int compare(const int64_t *a, const int64_t *b, int width)
{
	for (int i = 0; i < width; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int by_all(const void *a, const void *b, void *width)
{
	return compare(a, b, *(const int *)width);
}

static tt_status fail(const struct tt_db_tuples *tuples, int error)
{
	return error == ENOMEM ? tt_fail_nomem()
			       : tt_fail(TTNN_IO, "%s: a temporary file: %s", tuples->directory,
					 strerror(error));
}

static void sort_rows(struct tt_db_tuples *tuples)
{
	size_t size = (size_t)tuples->width * sizeof(int64_t);

	if (tuples->unordered)
		qsort_r(tuples->rows.data, tuples->rows.count / (size_t)tuples->width, size, by_all,
			&tuples->width);
	tuples->unordered = false;
}

/* Writes what is in memory as a part. */
static tt_status write_run(struct tt_db_tuples *tuples)
{
	size_t width = (size_t)tuples->width, count = tuples->rows.count / width;
	struct tt_db_run *run = TT_VEC_PUSH(&tuples->runs);
	uint64_t before;
	int error;

	if (!run)
		return tt_fail_nomem();
	before = tuples->runs.count > 1 ? run[-1].end : 0;
	*run = (struct tt_db_run){.next = before, .end = before + count};
	sort_rows(tuples);
	tuples->apart &= !before || compare(tuples->last, tuples->rows.data, tuples->width) <= 0;
	memcpy(tuples->last, tuples->rows.data + (count - 1) * width, width * sizeof(int64_t));
	if (!tuples->fd) {
		int fd = tt_fd_nameless(tuples->directory);

		if (fd < 0)
			return fail(tuples, errno);
		tuples->fd = fd + 1;
	}
	error = tt_fd_write_at(tuples->fd - 1, tuples->rows.data,
			       tuples->rows.count * sizeof(int64_t),
			       before * width * sizeof(int64_t));
	tuples->rows.count = 0;
	return error ? fail(tuples, error) : TTNN_OK;
}

tt_status tt_db_tuples_add(struct tt_db_tuples *tuples, const int64_t *tuple)
{
	size_t width = (size_t)tuples->width;
	int64_t *to;

	if ((tuples->rows.count + width) * sizeof(int64_t) > MEMORY)
		TT_TRY(write_run(tuples));
	if (tuples->rows.room - tuples->rows.count < width && !TT_VEC_RESERVE(&tuples->rows, width))
		return tt_fail_nomem();
	to = tuples->rows.data + tuples->rows.count;
	memcpy(to, tuple, width * sizeof(*to));
	if (tuples->rows.count && !tuples->unordered)
		tuples->unordered = compare(to - width, to, tuples->width) > 0;
	tuples->rows.count += width;
	tuples->count++;
	return TTNN_OK;
}

/* ---- taking --------------------------------------------------------------------------------- */

/* Has the next tuples of a part at hand; *any: there are some. */
static tt_status fill_window(bool *any, struct tt_db_tuples *tuples, struct tt_db_run *run)
{
	size_t size = (size_t)tuples->width * sizeof(int64_t), most = WINDOW / size;
	int error;

	run->at = 0;
	run->count = run->end - run->next < most ? (size_t)(run->end - run->next) : most;
	*any = run->count > 0;
	if (!run->window && *any)
		run->window = tt_alloc(most * size);
	if (!*any || !run->window) {
		tt_free(run->window);
		run->window = NULL;
		return *any ? tt_fail_nomem() : TTNN_OK;
	}
	error = tt_fd_read_at(tuples->fd - 1, run->window, run->count * size, run->next * size);
	run->next += run->count;
	return error ? fail(tuples, error) : TTNN_OK;
}

static const int64_t *front(const struct tt_db_tuples *tuples, size_t at)
{
	const struct tt_db_run *run = &tuples->runs.data[tuples->heap.data[at]];

	return run->window + run->at * (size_t)tuples->width;
}

/* Puts the first of the heap where it belongs. */
static void sink(struct tt_db_tuples *tuples, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < tuples->heap.count;
		     child++)
			if (compare(front(tuples, child), front(tuples, least), tuples->width) < 0)
				least = child;
		if (least == at)
			return;
		uint32_t run = tuples->heap.data[at];

		tuples->heap.data[at] = tuples->heap.data[least];
		tuples->heap.data[least] = run;
		at = least;
	}
}

tt_status tt_db_tuples_sort(struct tt_db_tuples *tuples)
{
	bool any;

	tuples->taken = 0;
	if (!tuples->runs.count) {
		sort_rows(tuples);
		return TTNN_OK;
	}
	if (tuples->rows.count)
		TT_TRY(write_run(tuples));
	TT_VEC_DEINIT(&tuples->rows);
	if (!TT_VEC_RESERVE(&tuples->heap, tuples->runs.count))
		return tt_fail_nomem();
	for (size_t i = 0; i < tuples->runs.count; i++) {
		if (!tuples->apart || !i)
			TT_TRY(fill_window(&any, tuples, &tuples->runs.data[i]));
		tuples->heap.data[i] = (uint32_t)i;
	}
	tuples->heap.count = tuples->apart ? 0 : tuples->runs.count;
	for (size_t i = tuples->heap.count / 2; i-- > 0;)
		sink(tuples, i);
	return TTNN_OK;
}

/* Of parts that are behind one another. */
static tt_status next_apart(const int64_t **out, struct tt_db_tuples *tuples)
{
	bool any = true;

	*out = NULL;
	while (tuples->taken < tuples->runs.count) {
		struct tt_db_run *run = &tuples->runs.data[tuples->taken];

		if (!run->window || run->at == run->count)
			TT_TRY(fill_window(&any, tuples, run));
		if (any) {
			*out = run->window + run->at++ * (size_t)tuples->width;
			return TTNN_OK;
		}
		tuples->taken++;
		any = true;
	}
	return TTNN_OK;
}

tt_status tt_db_tuples_next(const int64_t **out, struct tt_db_tuples *tuples)
{
	size_t width = (size_t)tuples->width;
	struct tt_db_run *run;
	bool any = true;

	*out = NULL;
	if (!tuples->runs.count) {
		if (tuples->taken < tuples->rows.count)
			*out = tuples->rows.data + tuples->taken;
		tuples->taken += width;
		return TTNN_OK;
	}
	if (tuples->apart)
		return next_apart(out, tuples);
	if (!tuples->heap.count)
		return TTNN_OK;
	/* The copy: its window may be filled anew before the caller looks at it. */
	run = &tuples->runs.data[tuples->heap.data[0]];
	memcpy(tuples->last, run->window + run->at * width, width * sizeof(int64_t));
	*out = tuples->last;
	if (++run->at == run->count)
		TT_TRY(fill_window(&any, tuples, run));
	if (!any)
		tuples->heap.data[0] = tuples->heap.data[--tuples->heap.count];
	sink(tuples, 0);
	return TTNN_OK;
}

void tt_db_tuples_deinit(struct tt_db_tuples *tuples)
{
	for (size_t i = 0; i < tuples->runs.count; i++)
		tt_free(tuples->runs.data[i].window);
	TT_VEC_DEINIT(&tuples->rows);
	TT_VEC_DEINIT(&tuples->runs);
	TT_VEC_DEINIT(&tuples->heap);
	if (tuples->fd)
		close(tuples->fd - 1);
	tuples->fd = 0;
}
