/* Performance reports to look at. */
#include "profile/perf_file.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/csv_parse.h"
#include "trace/session.h"

/* One reading. */
struct reading {
	struct tt_perf_file *file;
	bool first; /* the one that finds out about the whole */
	tt_perf_op_fn *emit;
	void *context;
	struct tt_perf_state state;
	size_t columns;
	struct tt_csv csv;
	tt_status status;
};

static void sum(struct tt_perf_file *file, const struct tt_perf_op *op)
{
	file->lines++;
	if (op->signpost)
		file->signposts++;
	else
		file->operations++;
	file->invalid += op->invalid && !op->signpost && op->category != TT_PERF_OF_HOST;
	if (op->us.known)
		file->device_us += op->us.value;
	if (op->gap.known)
		file->gap_us += op->gap.value;
}

/* The first line that says what chip it is decides; the most cores that one may use are the chip's. */
static void take_chip(struct reading *reading, const char *const *cells, size_t count)
{
	struct tt_perf_file *file = reading->file;
	const char *arch = tt_perf_cell(&file->header, TT_PERF_ARCH, cells, count);
	struct tt_perf_number cores =
		tt_perf_number_of(tt_perf_cell(&file->header, TT_PERF_AVAILABLE, cells, count));

	if (*arch && !file->chip)
		file->chip = tt_perf_chip_find(arch);
	if (cores.known && cores.value >= 1 && cores.value <= 1 << 20 &&
	    (uint32_t)cores.value > file->cores)
		file->cores = (uint32_t)cores.value;
}

static tt_status on_line(void *context, const char *const *cells, size_t count, uint64_t line)
{
	struct reading *reading = context;
	struct tt_perf_file *file = reading->file;
	struct tt_perf_op op;

	if (line == 1) {
		reading->columns = count;
		return tt_perf_header_read(&file->header, cells, count);
	}
	if (reading->first) {
		take_chip(reading, cells, count);
		file->on_card |= *tt_perf_cell(&file->header, TT_PERF_BRISC, cells, count) != 0;
		file->ragged += count != reading->columns;
	}
	tt_perf_op_read(&op, &reading->state, &file->header, cells, count);
	op.line = line;
	if (reading->first)
		sum(file, &op);
	return reading->emit ? reading->emit(reading->context, &op) : TTNN_OK;
}

static void begin(struct reading *reading)
{
	struct tt_perf_file *file = reading->file;

	reading->csv.emit = on_line;
	reading->csv.context = reading;
	reading->state.chip = file->chip ? file->chip : tt_perf_chip_find("");
	reading->state.cores = file->cores ? file->cores : reading->state.chip->cores;
}

static tt_status end(struct reading *reading, tt_status status)
{
	struct tt_perf_file *file = reading->file;

	if (status == TTNN_OK)
		status = reading->status;
	if (status == TTNN_OK)
		status = tt_csv_finish(&reading->csv);
	if (status == TTNN_OK && !reading->columns)
		status = tt_fail(TTNN_FORMAT, "this is no performance report: it is empty");
	tt_csv_deinit(&reading->csv);
	if (status == TTNN_FORMAT && file->path && !file->trace)
		return tt_fail_prefix(status, "%s", file->path);
	if (reading->first) {
		file->total_us = file->device_us + file->gap_us;
		if (!file->chip)
			file->chip = tt_perf_chip_find("");
		if (!file->cores)
			file->cores = file->chip->cores;
	}
	return status;
}

/* ---- where lines come from -------------------------------------------------------------------------------- */

static void feed(void *context, const void *data, size_t size)
{
	struct reading *reading = context;

	if (reading->status == TTNN_OK)
		reading->status = tt_csv_feed(&reading->csv, data, size);
}

static tt_status feed_trace(struct reading *reading)
{
	const struct tt_ops_input input = {reading->file->path};
	const struct tt_ops_options options = {.dialect = TTNN_DIALECT_TT_METAL,
					       .window = reading->file->window,
					       .label = reading->file->label,
					       .calls = true};
	const struct tt_ops_output output = {feed, reading};
	struct tt_ops_totals totals;

	return tt_ops_csv_to(&totals, &input, 1, &options, &output);
}

#define PIECE ((size_t)256 << 10)

static tt_status feed_file(struct reading *reading)
{
	const char *path = reading->file->path;
	char *piece = tt_alloc(PIECE);
	tt_status status;
	size_t size;
	int fd;

	if (!piece)
		return tt_fail_nomem();
	status = tt_file_open_unpacked(&fd, &size, path);
	if (status == TTNN_OK) {
		for (size_t at = 0; status == TTNN_OK && reading->status == TTNN_OK && at < size;
		     at += PIECE) {
			size_t part = size - at < PIECE ? size - at : PIECE;

			status = tt_file_read_at(fd, piece, part, at, path);
			if (status == TTNN_OK)
				feed(reading, piece, part);
		}
		close(fd);
	}
	tt_free(piece);
	return status;
}

static tt_status read_once(struct reading *reading)
{
	begin(reading);
	return end(reading, reading->file->trace ? feed_trace(reading) : feed_file(reading));
}

/* ---- for callers ------------------------------------------------------------------------------------------ */

tt_status tt_perf_file_open(struct tt_perf_file *file)
{
	struct reading reading = {.file = file, .first = true};

	file->trace = tt_is_trace(file->path);
	return read_once(&reading);
}

tt_status tt_perf_file_each(struct tt_perf_file *file, tt_perf_op_fn *emit, void *context)
{
	struct reading reading = {.file = file, .emit = emit, .context = context};

	return read_once(&reading);
}

tt_status tt_perf_bytes_each(struct tt_perf_file *file, const void *data, size_t size,
			     tt_perf_op_fn *emit, void *context)
{
	struct reading first = {.file = file, .first = true},
		       second = {.file = file, .emit = emit, .context = context};

	begin(&first);
	feed(&first, data, size);
	TT_TRY(end(&first, TTNN_OK));
	begin(&second);
	feed(&second, data, size);
	return end(&second, TTNN_OK);
}

bool tt_perf_stands_in(const struct tt_perf_file *file)
{
	return !file->on_card && file->device_us > 0 &&
	       (file->trace || file->header.at[TT_PERF_BRISC] != SIZE_MAX);
}

bool tt_perf_share(double *out, const struct tt_perf_file *file, const struct tt_perf_op *op)
{
	if ((!op->us.known && !op->gap.known) || file->total_us <= 0)
		return false;
	*out = (op->us.value + op->gap.value) / file->total_us * 100;
	return true;
}
