/* ops_csv.c: performance reports as CSV, line by line: the columns' names, then the cells of each row. */
#include <string.h>

#include "base/mem.h"
#include "profile/columns_table.h"

/* Bytes that are gathered before they are written. */
#define GATHERED ((size_t)256 << 10)

/* The columns of the tensors of one kind have no cells when no operation has any. */
static bool is_there(const struct tt_ops_csv *csv, const struct tt_ops_column *column)
{
	if (!(column->layouts & (csv->layout->bit | (csv->shape.calls ? TT_OPS_OWN : 0u))))
		return false;
	return (column->cell != tt_ops_cell_inputs || csv->shape.inputs) &&
	       (column->cell != tt_ops_cell_outputs || csv->shape.outputs);
}

/* Where the columns end that are like this one. */
static size_t run_end(size_t first)
{
	size_t end = first;

	while (end < tt_ops_column_count &&
	       tt_ops_columns[end].fixed == tt_ops_columns[first].fixed)
		end++;
	return end;
}

tt_status tt_ops_csv_new(struct tt_ops_csv **out, const struct tt_ops_shape *shape,
			 tt_ops_write_fn *write, void *context)
{
	struct tt_ops_csv *csv = tt_calloc(1, sizeof(*csv));

	if (!csv)
		return tt_fail_nomem();
	csv->shape = *shape;
	csv->layout =
		&tt_ops_layouts[shape->dialect == TTNN_DIALECT_TT_METAL ? TTNN_DIALECT_TT_METAL
									: TTNN_DIALECT_SEED];
	csv->write = write;
	csv->context = context;
	for (size_t i = 0; i < tt_ops_column_count; i++) {
		csv->there[i] = is_there(csv, &tt_ops_columns[i]);
		csv->run_ends[i] = (uint8_t)run_end(i);
	}
	*out = csv;
	return TTNN_OK;
}

static void header_of_tensors(struct tt_ops_csv *csv, const char *name, uint32_t count)
{
	struct tt_str *out = &csv->line;

	for (uint32_t i = 0; i < count; i++) {
		if (i)
			tt_str_addc(out, ',');
		for (int k = 0; k < 4; k++)
			tt_str_addf(out, "%s_%u%s,", name, i, csv->layout->dims[k]);
		tt_str_addf(out, "%s_%u_LAYOUT,%s_%u_DATATYPE,%s_%u_MEMORY", name, i, name, i, name,
			    i);
	}
}

void tt_ops_csv_header(struct tt_ops_csv *csv)
{
	bool first = true;

	for (size_t i = 0; i < tt_ops_column_count; i++) {
		if (!csv->there[i])
			continue;
		if (!first)
			tt_str_addc(&csv->line, ',');
		first = false;
		if (tt_ops_columns[i].cell == tt_ops_cell_inputs)
			header_of_tensors(csv, tt_ops_columns[i].name, csv->shape.inputs);
		else if (tt_ops_columns[i].cell == tt_ops_cell_outputs)
			header_of_tensors(csv, tt_ops_columns[i].name, csv->shape.outputs);
		else
			tt_str_adds(&csv->line, tt_ops_columns[i].name);
	}
	tt_str_adds(&csv->line, "\r\n");
}

/* Of blank cells, fewer than there are columns. */
static void put_commas(struct tt_ops_csv *csv, size_t count)
{
	char *to = tt_ops_csv_few(csv);

	if (!to)
		return;
	memset(to, ',', count);
	tt_str_end(&csv->line, to + count);
}

/* The cells of columns first to last - 1, each with the comma before it but the very first. */
static void put_cells(struct tt_ops_csv *csv, const struct tt_ops_row *row, size_t first,
		      size_t last)
{
	size_t blank = 0;

	for (size_t i = first; i < last; i++) {
		if (!csv->there[i])
			continue;
		blank += i > 0;
		if (!tt_ops_columns[i].cell)
			continue;
		put_commas(csv, blank);
		blank = 0;
		tt_ops_columns[i].cell(csv, row);
	}
	put_commas(csv, blank);
}

/* Cells that all rows of the program have: made now and kept with it. */
static void make_shared(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	struct tt_ops_program *program = row->program;
	size_t start, run = 0;

	for (size_t first = 0; first < tt_ops_column_count; first = csv->run_ends[first]) {
		if (tt_ops_columns[first].fixed != TT_OPS_SHARED)
			continue;
		start = csv->line.length;
		put_cells(csv, row, first, csv->run_ends[first]);
		tt_str_add(&program->cells, tt_str_text(&csv->line) + start,
			   csv->line.length - start);
		csv->line.length = start;
		program->cell_ends[run++] = (uint32_t)program->cells.length;
	}
	program->celled = !program->cells.failed && !csv->line.failed;
}

static void put_shared_rows(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	const struct tt_ops_program *program = row->program;
	uint32_t at = 0;
	size_t run = 0, last;

	for (size_t first = 0; first < tt_ops_column_count; first = last) {
		last = csv->run_ends[first];
		if (tt_ops_columns[first].fixed != TT_OPS_SHARED) {
			put_cells(csv, row, first, last);
			continue;
		}
		tt_str_add(&csv->line, program->cells.data + at, program->cell_ends[run] - at);
		at = program->cell_ends[run++];
	}
}

static void flush(struct tt_ops_csv *csv)
{
	if (csv->status == TTNN_OK)
		csv->status = tt_str_status(&csv->line);
	if (csv->status == TTNN_OK && csv->line.length)
		csv->write(csv->context, csv->line.data, csv->line.length);
	tt_str_clear(&csv->line);
}

void tt_ops_csv_row(struct tt_ops_csv *csv, const struct tt_ops_row *row)
{
	if (row->kind == TT_OPS_TRACE)
		return;
	if (row->kind == TT_OPS_DEVICE && !row->program->celled)
		make_shared(csv, row);
	if (row->kind == TT_OPS_DEVICE && row->program->celled)
		put_shared_rows(csv, row);
	else
		put_cells(csv, row, 0, tt_ops_column_count);
	tt_str_add(&csv->line, "\r\n", 2);
	if (csv->line.length >= GATHERED)
		flush(csv);
}

tt_status tt_ops_csv_end(struct tt_ops_csv *csv)
{
	tt_status status;

	if (!csv)
		return TTNN_OK;
	flush(csv);
	status = csv->status;
	if (status == TTNN_OK)
		status = tt_str_status(&csv->text);
	for (size_t i = 0; i < TT_OPS_LOCS; i++)
		tt_str_deinit(&csv->locs[i].text);
	tt_str_deinit(&csv->line);
	tt_str_deinit(&csv->text);
	tt_free(csv);
	return status;
}
