/* CSV as it comes. */
#include "profile/csv_parse.h"

#include "base/mem.h"

/* Where in a line the next byte is. */
enum state {
	START,  /* of a cell */
	PLAIN,  /* in a cell */
	QUOTED, /* in one with quotes */
	QUOTE,  /* behind a quote in such a cell: its end, or the first of two */
	RETURN, /* behind a CR that ended a line */
};

static const char mark[] = "\xef\xbb\xbf";
#define MARK_BYTES 3

static tt_status too_long(const struct tt_csv *csv)
{
	return tt_fail(TTNN_FORMAT, "line %llu is longer than any of a report",
		       (unsigned long long)csv->line + 1);
}

static tt_status end_cell(struct tt_csv *csv)
{
	tt_str_addc(&csv->text, '\0');
	return tt_str_status(&csv->text);
}

/* A cell begins where the text ends. */
static tt_status begin_cell(struct tt_csv *csv)
{
	size_t *start;

	if (csv->starts.count == TT_CSV_CELLS)
		return too_long(csv);
	start = TT_VEC_PUSH(&csv->starts);
	if (!start)
		return tt_fail_nomem();
	*start = csv->text.length;
	return TTNN_OK;
}

static tt_status end_line(struct tt_csv *csv)
{
	size_t count = csv->starts.count;
	tt_status status = TTNN_OK;

	if (!count)
		return TTNN_OK;
	TT_TRY(end_cell(csv));
	csv->cells.count = 0;
	if (!TT_VEC_RESERVE(&csv->cells, count))
		return tt_fail_nomem();
	for (size_t i = 0; i < count; i++)
		csv->cells.data[i] = csv->text.data + csv->starts.data[i];
	csv->line++;
	status = csv->emit(csv->context, csv->cells.data, count, csv->line);
	csv->starts.count = 0;
	tt_str_clear(&csv->text);
	return status;
}

/* A byte that is not one of a run; sets the state behind it. */
static tt_status take(struct tt_csv *csv, char c)
{
	enum state state = (enum state)csv->state;

	if (state == RETURN) {
		csv->state = state = START;
		if (c == '\n')
			return TTNN_OK;
	}
	if (state == QUOTED) {
		if (c == '"')
			csv->state = QUOTE;
		else
			tt_str_addc(&csv->text, c);
		return TTNN_OK;
	}
	if (state == QUOTE && c == '"') {
		tt_str_addc(&csv->text, c);
		csv->state = QUOTED;
		return TTNN_OK;
	}
	if (c == '\n' || c == '\r') {
		csv->state = c == '\r' ? RETURN : START;
		return end_line(csv);
	}
	if (!csv->starts.count)
		TT_TRY(begin_cell(csv));
	if (c == ',') {
		csv->state = START;
		TT_TRY(end_cell(csv));
		return begin_cell(csv);
	}
	csv->state = c == '"' && state == START ? QUOTED : PLAIN;
	if (csv->state == PLAIN)
		tt_str_addc(&csv->text, c);
	return TTNN_OK;
}

/* Bytes that only make a cell longer are taken at once. */
static size_t run_of(const struct tt_csv *csv, const char *data, size_t size)
{
	size_t length = 0;

	if (csv->state == QUOTED)
		while (length < size && data[length] != '"')
			length++;
	else if (csv->state == PLAIN)
		while (length < size && data[length] != ',' && data[length] != '\n' &&
		       data[length] != '\r')
			length++;
	return length;
}

/* No mark after all: the bytes that began like one are text. */
static tt_status no_mark(struct tt_csv *csv)
{
	int began = csv->mark;

	csv->mark = MARK_BYTES;
	for (int i = 0; began < MARK_BYTES && i < began; i++)
		TT_TRY(take(csv, mark[i]));
	return TTNN_OK;
}

tt_status tt_csv_feed(struct tt_csv *csv, const void *data, size_t size)
{
	const char *at = data, *end = at + size;

	for (; at < end && csv->mark < MARK_BYTES && *at == mark[csv->mark]; at++)
		csv->mark++;
	if (at < end)
		TT_TRY(no_mark(csv));
	while (at < end) {
		size_t run = run_of(csv, at, (size_t)(end - at));

		if (csv->text.length + run > TT_CSV_BYTES)
			return too_long(csv);
		tt_str_add(&csv->text, at, run);
		at += run;
		if (at < end)
			TT_TRY(take(csv, *at++));
	}
	return tt_str_status(&csv->text);
}

tt_status tt_csv_finish(struct tt_csv *csv)
{
	TT_TRY(no_mark(csv));
	return end_line(csv);
}

void tt_csv_deinit(struct tt_csv *csv)
{
	tt_str_deinit(&csv->text);
	TT_VEC_DEINIT(&csv->starts);
	TT_VEC_DEINIT(&csv->cells);
}
