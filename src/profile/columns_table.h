/*
 * columns_table.h: the table of columns (columns.c) for the writer of their lines (ops_csv.c), and what cells are written
 * to. Nobody else includes it.
 */
#ifndef TT_PROFILE_COLUMNS_TABLE_H
#define TT_PROFILE_COLUMNS_TABLE_H

#include "base/str.h"
#include "profile/columns.h"

/* What differs between layouts. To add one: a row here and its bit in the columns. */
struct tt_ops_layout {
	unsigned bit;
	const char *dims[4]; /* ends of the names of a tensor's extents */
	bool logical;        /* extents are written "padded[logical]" */
	const char *none;    /* in place of attributes that there are none of */
};
extern const struct tt_ops_layout tt_ops_layouts[]; /* by dialect */

#define TT_OPS_COLUMNS_MAX 80
#define TT_OPS_LOCS 64

struct tt_ops_csv {
	struct tt_ops_shape shape;
	const struct tt_ops_layout *layout;
	tt_ops_write_fn *write;
	void *context;
	struct tt_str line;                   /* what was not written yet */
	struct tt_str text;                   /* of one cell */
	bool there[TT_OPS_COLUMNS_MAX];       /* which columns there are */
	uint8_t run_ends[TT_OPS_COLUMNS_MAX]; /* of each, where those end that are like it */
	struct loc_cell {                     /* of places that were written lately */
		const char *file, *name;
		uint32_t line;
		struct tt_str text;
	} locs[TT_OPS_LOCS];
	tt_status status;
};

/* Room that is there for a number or the commas of blank cells. */
#define TT_OPS_FEW 96

/* A cell is written behind what is in csv->line. */
typedef void tt_ops_cell_fn(struct tt_ops_csv *csv, const struct tt_ops_row *row);

/* Where a few characters can be written behind the line; NULL when memory is exhausted. */
static inline char *tt_ops_csv_few(struct tt_ops_csv *csv)
{
	struct tt_str *line = &csv->line;

	return line->room - line->length > TT_OPS_FEW ? line->data + line->length
						      : tt_str_room(line, TT_OPS_FEW);
}

/* What a cell depends on. */
enum tt_ops_fixed {
	TT_OPS_VARIES,
	TT_OPS_SHARED, /* on the program alone: made once for all rows of it */
};

/* The layout of columns that only our own reader of reports gets. */
#define TT_OPS_OWN 4u

struct tt_ops_column {
	const char *name;
	unsigned layouts;
	enum tt_ops_origin origin;
	enum tt_ops_fixed fixed;
	tt_ops_cell_fn *cell;
};
extern const struct tt_ops_column tt_ops_columns[];
extern const size_t tt_ops_column_count;

/* Of these two a column stands for one of each tensor. */
tt_ops_cell_fn tt_ops_cell_inputs, tt_ops_cell_outputs;

#endif
