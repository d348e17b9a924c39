/*
 * reduce_rows.c: reductions whose last dimension goes. Each row, or piece of a long row, comes to one
 * number; those are combined along the other dimensions, row by row.
 */
#include <string.h>

#include "backend/cpu/reduce_kernel.h"
#include "backend/cpu/strips.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define STRIP_ELEMENTS 16384
#define COLUMNS 2048 /* of a piece; a multiple of every tile's width */

struct work {
	struct tt_reduce *reduce;
	struct tt_strips strips;
	uint64_t width, pieces;
	union tt_cell *cells; /* rows × pieces */
	double *squares;
};

/* ---- one row ---------------------------------------------------------------------------------- */

static void reduce_real(const struct work *work, uint64_t cell, const float *x, size_t count)
{
	const struct tt_sums *fns = work->reduce->fns;
	double value = fns->row[work->reduce->sum](x, count);

	if (work->reduce->spread) {
		value /= (double)count;
		work->squares[cell] = fns->squares(x, count, value);
	}
	work->cells[cell].real = value;
}

static void reduce_whole(const struct work *work, uint64_t cell, const uint8_t *x, size_t count)
{
	const struct tt_reduce *reduce = work->reduce;
	enum ttnn_dtype dtype = reduce->in.dtype;
	int64_t lanes[TT_CPU_PIECE], value = tt_sum_neutral_int(reduce->sum);

	for (size_t from = 0; from < count; from += TT_CPU_PIECE) {
		size_t some = count - from < TT_CPU_PIECE ? count - from : TT_CPU_PIECE;

		reduce->int_fns->load[dtype](lanes, x + from * tt_dtype_bytes(dtype), some);
		value = tt_sum_two_int(reduce->sum, value,
				       reduce->fns->row_int[reduce->sum](lanes, some));
	}
	work->cells[cell].whole = value;
}

/* ---- all rows --------------------------------------------------------------------------------- */

/* Pieces are numbered through each strip before the next. */
static void reduce_pieces(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	enum ttnn_dtype dtype = work->reduce->whole ? work->reduce->in.dtype : TTNN_FLOAT32;
	uint64_t most = work->width < COLUMNS ? work->width : COLUMNS;
	size_t bytes = (size_t)(work->strips.tall * most) * tt_dtype_bytes(dtype);
	void *room = tt_large_alloc(bytes);
	struct tt_strip strip;

	if (!room)
		work->reduce->status = TTNN_NOMEM;
	for (uint64_t i = begin; i < end && room; i++) {
		uint64_t piece = i % work->pieces, from = piece * COLUMNS;
		uint64_t left = work->width - from, count = left < COLUMNS ? left : COLUMNS;
		struct tt_area part;
		const uint8_t *rows;

		tt_strip_get(&strip, &work->strips, i / work->pieces);
		part = tt_part_columns(&strip.part[0], from, count);
		rows = tt_part_load(room, &part, dtype);
		for (uint32_t row = 0; row < strip.rows; row++) {
			uint64_t cell = (strip.first + row) * work->pieces + piece;
			const uint8_t *x = rows + row * count * tt_dtype_bytes(dtype);

			if (work->reduce->whole)
				reduce_whole(work, cell, x, (size_t)count);
			else
				reduce_real(work, cell, (const float *)(const void *)x,
					    (size_t)count);
		}
	}
	tt_large_free(room, bytes);
}

/* ---- the other dimensions --------------------------------------------------------------------- */

/* Strides of the results, 0 along dimensions that go. */
static void out_strides(uint64_t stride[TTNN_MAX_RANK], const struct tt_reduce *reduce)
{
	uint64_t next = 1;

	for (uint32_t d = reduce->in.shape.rank - 1; d-- > 0;) {
		stride[d] = tt_reduce_goes(reduce, d) ? 0 : next;
		if (!tt_reduce_goes(reduce, d))
			next *= reduce->in.shape.dim[d];
	}
}

/* Adds the row's pieces to a result. */
static void combine_row(const struct work *work, uint64_t out, uint64_t row, double *count)
{
	struct tt_reduce *reduce = work->reduce;
	struct tt_partial into = {*count, reduce->cells[out],
				  reduce->spread ? reduce->squares[out] : 0};

	for (uint64_t piece = 0; piece < work->pieces; piece++) {
		uint64_t left = work->width - piece * COLUMNS, cell = row * work->pieces + piece;
		struct tt_partial part = {(double)(left < COLUMNS ? left : COLUMNS),
					  work->cells[cell],
					  reduce->spread ? work->squares[cell] : 0};

		tt_reduce_combine(&into, &part, reduce);
	}
	*count = into.count;
	reduce->cells[out] = into.value;
	if (reduce->spread)
		reduce->squares[out] = into.squares;
}

/*
 * Rows in their order, so every result gets its parts in their order. The count of a spread is that
 * of the rows before with the same result.
 */
static tt_status combine_rows(const struct work *work, uint64_t rows)
{
	struct tt_reduce *reduce = work->reduce;
	struct tt_partial nothing = tt_reduce_nothing(reduce);
	uint64_t stride[TTNN_MAX_RANK] = {0}, index[TTNN_MAX_RANK] = {0}, out = 0;
	double *counts = tt_large_alloc((size_t)reduce->out_count * sizeof(double));

	if (!counts)
		return tt_fail_nomem();
	out_strides(stride, reduce);
	for (uint64_t i = 0; i < reduce->out_count; i++) {
		counts[i] = 0;
		reduce->cells[i] = nothing.value;
		if (reduce->spread)
			reduce->squares[i] = 0;
	}
	for (uint64_t row = 0; row < rows; row++) {
		combine_row(work, out, row, &counts[out]);
		for (uint32_t d = reduce->in.shape.rank - 1; d-- > 0;) {
			out += stride[d];
			if (++index[d] < reduce->in.shape.dim[d])
				break;
			out -= stride[d] * index[d];
			index[d] = 0;
		}
	}
	tt_large_free(counts, (size_t)reduce->out_count * sizeof(double));
	return TTNN_OK;
}

/* Every row is a result by itself. */
static bool is_direct(const struct work *work, uint64_t rows)
{
	return work->pieces == 1 && rows == work->reduce->out_count;
}

static tt_status run(struct work *work, uint64_t rows)
{
	uint64_t units = work->strips.count * work->pieces;
	uint64_t per_unit = work->strips.tall * (work->width < COLUMNS ? work->width : COLUMNS);

	tt_pool_for((size_t)units, (size_t)(2 * TT_CPU_GRAIN / (per_unit ? per_unit : 1)),
		    reduce_pieces, work);
	if (work->reduce->status != TTNN_OK)
		return tt_fail_nomem();
	return is_direct(work, rows) ? TTNN_OK : combine_rows(work, rows);
}

tt_status tt_reduce_rows(struct tt_reduce *reduce)
{
	struct work work = {.reduce = reduce, .cells = reduce->cells, .squares = reduce->squares};
	tt_status status = TTNN_OK;
	uint64_t rows;
	size_t bytes;

	work.width = tt_shape_last(&reduce->in.shape, 1);
	work.pieces = tt_div_up(work.width, COLUMNS);
	tt_strips_init(&work.strips, (const struct tt_area *const[]){&reduce->in, NULL, NULL},
		       STRIP_ELEMENTS);
	TT_TRY(tt_shape_rows(&rows, &reduce->in.shape));
	if (is_direct(&work, rows))
		return run(&work, rows);
	bytes = (size_t)(rows * work.pieces) * sizeof(union tt_cell);
	work.cells = tt_large_alloc(bytes);
	work.squares = reduce->spread ? tt_large_alloc(bytes) : NULL;
	if (!work.cells || (reduce->spread && !work.squares))
		status = tt_fail_nomem();
	if (status == TTNN_OK)
		status = run(&work, rows);
	tt_large_free(work.cells, bytes);
	tt_large_free(work.squares, bytes);
	return status;
}
