/*
 * columns.h: the columns of performance reports, one table for all layouts, and the CSV that is made of them.
 *
 * Formatting is that of Python's csv and str(), to the byte (docs/formats/perf_csv.md): CRLF, quotes where they
 * must be, semicolons for the commas inside of cells.
 */
#ifndef TT_PROFILE_COLUMNS_H
#define TT_PROFILE_COLUMNS_H

#include "base/status.h"
#include "profile/ops_row.h"

/* Where what a column says comes from. */
enum tt_ops_origin {
	TT_OPS_RECORDED, /* what was called with what */
	TT_OPS_MEASURED, /* a time, or computed from times alone */
	TT_OPS_MODELLED, /* a performance model's, or computed from one */
	TT_OPS_BLANK,    /* there is no such thing here */
};

/* A column as documentation has it; NULL behind the last. Groups of a tensor have one row: "INPUT_0_W". */
struct tt_ops_column_info {
	const char *name;
	enum tt_ops_origin origin;
	bool seed, main; /* the layouts that have it */
};
bool tt_ops_column_at(struct tt_ops_column_info *out, size_t index);

/* Where bytes go. */
typedef void tt_ops_write_fn(void *context, const void *data, size_t size);

/* A CSV that is being written. */
struct tt_ops_csv;

/* What must be known before the first line. */
struct tt_ops_shape {
	enum ttnn_dialect dialect;
	uint32_t inputs, outputs; /* of the operation that has the most */
	bool calls; /* a column more, for our own reader: the outermost call, as parts count them */
};

tt_status tt_ops_csv_new(struct tt_ops_csv **out, const struct tt_ops_shape *shape,
			 tt_ops_write_fn *write, void *context);

/* The header, then a line for each row; rows of TT_OPS_TRACE are none. A failure is told by tt_ops_csv_end(). */
void tt_ops_csv_header(struct tt_ops_csv *csv);
void tt_ops_csv_row(struct tt_ops_csv *csv, const struct tt_ops_row *row);

/* Writes what is left and frees it. NULL is fine. */
tt_status tt_ops_csv_end(struct tt_ops_csv *csv);

/* ---- texts that other writers share ------------------------------------------------------------------------ */

/* As Python's repr() of a text. */
void tt_ops_repr(struct tt_str *out, const char *text);

/* As Python's round(number, 3), printed. */
void tt_ops_round3(struct tt_str *out, double number);

/* PM FPU UTIL (%) of a row that ran. */
double tt_ops_fpu_util(const struct tt_ops_row *row);

#endif
