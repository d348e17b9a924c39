/*
 * reduce_columns.c: reductions whose last dimension stays: rows are combined element by element.
 *
 * A panel is some rows of a matrix, some columns wide. A unit is what the results of one panel are
 * made of: all panels at other indices of the outer dimensions that go and, when the dimension
 * before the last goes too, all panels of the matrix below each other, whose rows become one. Few
 * units of many panels are split into parts, which are combined in their order.
 */
#include <string.h>

#include "backend/cpu/reduce_kernel.h"
#include "backend/cpu/strips.h"
#include "base/large.h"
#include "base/pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* A panel: as high as any tile, and a multiple of every tile's width. */
#define PANEL_ROWS 32
#define PANEL_COLUMNS 512
/* Parts that are enough for any machine. */
#define PARTS_MOST 64

struct work {
	struct tt_reduce *reduce;
	uint32_t outer; /* dimensions but the last two */
	uint64_t height, width;
	bool folds;            /* the dimension before the last goes */
	uint64_t down, across; /* panels of a matrix */
	uint64_t stay, go; /* matrices: results of the outer dimensions; and of each, how many */
	uint64_t units, panels;  /* panels of a unit */
	uint64_t parts;          /* of a unit */
	size_t sum_rows;         /* rows of a unit's results: 1, or a panel's */
	union tt_cell *cells;    /* of all parts; NULL when there is one part */
	double *squares, *count; /* (spread) likewise */
};

/* What one thread works with: the panel, and a unit's results. */
struct room {
	union tt_cell sums[PANEL_ROWS * PANEL_COLUMNS];
	double squares[PANEL_ROWS * PANEL_COLUMNS];
	double count;
	union {
		float real[PANEL_ROWS * PANEL_COLUMNS];
		uint32_t any[PANEL_ROWS * PANEL_COLUMNS]; /* integers of any size */
	} panel;
	int64_t lanes[PANEL_COLUMNS];
};

/* ---- places ----------------------------------------------------------------------------------- */

/* The matrix row that index `number` of the outer dimensions which go (or stay) adds. */
static uint64_t outer_row(const struct work *work, uint64_t number, bool going)
{
	const struct tt_area *in = &work->reduce->in;
	uint64_t row = 0;

	for (uint32_t d = work->outer; d-- > 0;) {
		if (tt_reduce_goes(work->reduce, d) != going)
			continue;
		row += number % in->shape.dim[d] * in->step[d];
		number /= in->shape.dim[d];
	}
	return row;
}

struct unit {
	uint64_t stay, down, across; /* which matrix that stays, which panel of it */
	uint64_t columns;
};

static struct unit unit_of(const struct work *work, uint64_t number)
{
	uint64_t left;
	struct unit unit = {.across = number % work->across};

	number /= work->across;
	if (!work->folds) {
		unit.down = number % work->down;
		number /= work->down;
	}
	unit.stay = number;
	left = work->width - unit.across * PANEL_COLUMNS;
	unit.columns = left < PANEL_COLUMNS ? left : PANEL_COLUMNS;
	return unit;
}

static uint32_t panel_rows(const struct work *work, uint64_t down)
{
	uint64_t left = work->height - down * PANEL_ROWS;

	return left < PANEL_ROWS ? (uint32_t)left : PANEL_ROWS;
}

/* ---- one panel -------------------------------------------------------------------------------- */

static void add_row(const struct work *work, struct room *room, size_t at, const void *row,
		    size_t count)
{
	const struct tt_reduce *reduce = work->reduce;
	const struct tt_sums *fns = reduce->fns;

	if (reduce->whole) {
		reduce->int_fns->load[reduce->in.dtype](room->lanes, row, count);
		fns->column_int[reduce->sum](&room->sums[at].whole, room->lanes, count);
	} else if (reduce->spread) {
		fns->spread(&room->sums[at].real, &room->squares[at], row, count, room->count + 1);
	} else {
		fns->column[reduce->sum](&room->sums[at].real, row, count);
	}
}

static void add_panel(const struct work *work, struct room *room, const struct unit *unit,
		      uint64_t number)
{
	enum ttnn_dtype dtype = work->reduce->whole ? work->reduce->in.dtype : TTNN_FLOAT32;
	uint64_t down = work->folds ? number % work->down : unit->down;
	uint64_t go = work->folds ? number / work->down : number;
	uint32_t rows = panel_rows(work, down);
	uint64_t first =
		outer_row(work, unit->stay, false) + outer_row(work, go, true) + down * PANEL_ROWS;
	struct tt_area part = tt_part_rows(&work->reduce->in, first, rows);
	size_t bytes = tt_dtype_bytes(dtype), count = (size_t)unit->columns, stride = count;
	const uint8_t *values;

	part = tt_part_columns(&part, unit->across * PANEL_COLUMNS, unit->columns);
	if (part.dtype == dtype && !tt_area_is_tiled(&part)) { /* where it lies */
		values = part.data;
		stride = (size_t)part.cols;
	} else {
		values = tt_part_load(&room->panel, &part, dtype);
	}
	for (uint32_t row = 0; row < rows; row++) {
		add_row(work, room, work->folds ? 0 : row * count, values + row * stride * bytes,
			count);
		room->count += work->folds;
	}
	room->count += !work->folds;
}

/* ---- parts and units -------------------------------------------------------------------------- */

static void clear(const struct work *work, struct room *room, size_t count)
{
	struct tt_partial nothing = tt_reduce_nothing(work->reduce);

	for (size_t i = 0; i < count; i++) {
		room->sums[i] = nothing.value;
		room->squares[i] = 0;
	}
	room->count = 0;
}

static size_t unit_cells(const struct work *work, const struct unit *unit)
{
	return (size_t)unit->columns * (work->folds ? 1 : panel_rows(work, unit->down));
}

/* The results of a unit go to their places among all results. */
static void put_results(const struct work *work, const struct unit *unit, const union tt_cell *sums,
			const double *squares)
{
	uint64_t rows = work->folds ? 1 : panel_rows(work, unit->down);
	uint64_t first =
		work->folds ? unit->stay : unit->stay * work->height + unit->down * PANEL_ROWS;
	size_t bytes = (size_t)unit->columns * sizeof(*sums);

	for (uint64_t row = 0; row < rows; row++) {
		uint64_t to = (first + row) * work->width + unit->across * PANEL_COLUMNS;

		memcpy(&work->reduce->cells[to], &sums[row * unit->columns], bytes);
		if (work->reduce->spread)
			memcpy(&work->reduce->squares[to], &squares[row * unit->columns], bytes);
	}
}

static void reduce_parts(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	size_t part_cells = work->sum_rows * PANEL_COLUMNS;
	struct room *room = tt_large_alloc(sizeof(*room));

	if (!room)
		work->reduce->status = TTNN_NOMEM;
	for (uint64_t i = begin; i < end && room; i++) {
		struct unit unit = unit_of(work, i / work->parts);
		uint64_t part = i % work->parts;
		uint64_t to = work->panels * (part + 1) / work->parts;
		size_t count = unit_cells(work, &unit);

		clear(work, room, count);
		for (uint64_t p = work->panels * part / work->parts; p < to; p++)
			add_panel(work, room, &unit, p);
		if (!work->cells) {
			put_results(work, &unit, room->sums, room->squares);
			continue;
		}
		memcpy(&work->cells[i * part_cells], room->sums, count * sizeof(room->sums[0]));
		if (work->squares)
			memcpy(&work->squares[i * part_cells], room->squares,
			       count * sizeof(double));
		work->count[i] = room->count;
	}
	tt_large_free(room, sizeof(*room));
}

/* Puts the parts of each unit together, in their order. */
static void combine_parts(void *context, size_t begin, size_t end)
{
	const struct work *work = context;
	const struct tt_reduce *reduce = work->reduce;
	size_t part_cells = work->sum_rows * PANEL_COLUMNS;

	for (uint64_t u = begin; u < end; u++) {
		struct unit unit = unit_of(work, u);
		uint64_t first = u * work->parts * part_cells;
		double *squares = work->squares ? &work->squares[first] : NULL;

		for (size_t i = 0; i < unit_cells(work, &unit); i++) {
			struct tt_partial sum = tt_reduce_nothing(reduce);

			for (uint64_t p = 0; p < work->parts; p++) {
				uint64_t cell = first + p * part_cells + i;
				struct tt_partial part = {work->count[u * work->parts + p],
							  work->cells[cell],
							  squares ? work->squares[cell] : 0};

				tt_reduce_combine(&sum, &part, reduce);
			}
			work->cells[first + i] = sum.value;
			if (squares)
				squares[i] = sum.squares;
		}
		put_results(work, &unit, &work->cells[first], squares);
	}
}

/* ---- the job ---------------------------------------------------------------------------------- */

static void plan(struct work *work)
{
	const struct ttnn_shape *shape = &work->reduce->in.shape;

	work->outer = shape->rank > 2 ? shape->rank - 2 : 0;
	work->height = tt_shape_last(shape, 2);
	work->width = tt_shape_last(shape, 1);
	work->folds = shape->rank > 1 && tt_reduce_goes(work->reduce, shape->rank - 2);
	work->down = tt_div_up(work->height, PANEL_ROWS);
	work->across = tt_div_up(work->width, PANEL_COLUMNS);
	work->stay = work->go = 1;
	for (uint32_t d = 0; d < work->outer; d++)
		*(tt_reduce_goes(work->reduce, d) ? &work->go : &work->stay) *= shape->dim[d];
	work->units = work->stay * work->across * (work->folds ? 1 : work->down);
	work->panels = work->go * (work->folds ? work->down : 1);
	work->parts = tt_div_up(PARTS_MOST, work->units);
	if (work->parts > work->panels)
		work->parts = work->panels;
	work->sum_rows = work->folds ? 1 : PANEL_ROWS;
}

static tt_status run_parts(struct work *work)
{
	size_t cells = (size_t)(work->units * work->parts) * work->sum_rows * PANEL_COLUMNS;
	size_t counts = (size_t)(work->units * work->parts) * sizeof(double);
	bool spread = work->reduce->spread;
	tt_status status = TTNN_OK;

	work->cells = tt_large_alloc(cells * sizeof(union tt_cell));
	work->squares = spread ? tt_large_alloc(cells * sizeof(double)) : NULL;
	work->count = tt_large_alloc(counts);
	if (!work->cells || !work->count || (spread && !work->squares)) {
		status = tt_fail_nomem();
	} else {
		tt_pool_for((size_t)(work->units * work->parts), 1, reduce_parts, work);
		if (work->reduce->status == TTNN_OK)
			tt_pool_for((size_t)work->units, 1, combine_parts, work);
	}
	tt_large_free(work->cells, cells * sizeof(union tt_cell));
	tt_large_free(work->squares, cells * sizeof(double));
	tt_large_free(work->count, counts);
	return status;
}

tt_status tt_reduce_columns(struct tt_reduce *reduce)
{
	struct work work = {.reduce = reduce};
	tt_status status = TTNN_OK;

	plan(&work);
	if (work.parts == 1)
		tt_pool_for((size_t)work.units, (size_t)(4 / work.panels + 1), reduce_parts, &work);
	else
		status = run_parts(&work);
	if (status == TTNN_OK && reduce->status != TTNN_OK)
		status = tt_fail_nomem();
	return status;
}
