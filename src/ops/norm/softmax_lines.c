/*
 * softmax_lines.c: program memory of softmax along any dimension, as two programs have it: a line of tiles stays in L1 as
 * a whole, or is read piece by piece.
 */
#include "ops/norm/norm.h"

#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"

struct lines_work {
	const ttnn_core_set *cores;
	uint64_t line, block;            /* tiles of a line, and of differences */
	uint64_t value_bytes, sum_bytes; /* of their tiles */
};

/* Whether a line of tiles along the dimension may stay in L1 as a whole. */
#define SMALL_LIMIT (512 * 1024)
static bool is_small(const struct tt_launch *launch, uint64_t line, uint64_t between)
{
	return launch->device->limits.l1_base + (2 * line + 2) * tt_page_in0(launch) +
		       (2 * line + 3) * between <=
	       SMALL_LIMIT;
}

/* A line is a row of tiles, a column, or the tiles of an outer dimension; small ones stay in L1. */
tt_status tt_lines_plan(enum tt_lines *out, struct tt_launch *launch,
			const struct tt_lines_request *request)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct lines_work *work = tt_work_new(launch, sizeof(*work));
	bool width = request->dim + 1 == in->padded.rank,
	     height = request->dim + 2 == in->padded.rank;
	uint64_t line = width ? tiles.width : height ? tiles.height : in->padded.dim[request->dim];
	bool small = !request->large && is_small(launch, line, tt_tile_bytes_of(request->between));

	if (!work)
		return TTNN_NOMEM;
	work->value_bytes = tt_tile_bytes_of(request->value);
	work->sum_bytes = tt_tile_bytes_of(request->sum);
	work->line = small ? line : 2;
	work->block = small ? line : 1;
	*out = TT_LINES_OUTER;
	if (width)
		*out = small ? TT_LINES_W_SMALL : TT_LINES_W_LARGE;
	else if (height)
		*out = small ? TT_LINES_H_SMALL : TT_LINES_H_LARGE;
	return tt_cores_for(&work->cores, launch,
			    tiles.matrices * tiles.width * tiles.height / (line ? line : 1));
}

/* Large lines go through buffers of two tiles. */
tt_status tt_lines_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct lines_work *work = launch->work;
	uint64_t value = work->value_bytes, sum = work->sum_bytes;

	return TT_PLAN(plan, work->cores,
		       TT_DFB_ROW(0, "in", .pages = work->line, .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "mask", .pages = 1, .page = value),
		       TT_DFB_ROW(2, "max_scaler", .pages = 1, .page = value),
		       TT_DFB_ROW(3, "sum_scaler", .pages = 1, .page = value),
		       TT_DFB_ROW(16, "out", .pages = work->line, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(24, "exps", .pages = work->line, .page = sum),
		       TT_DFB_ROW(25, "recip_sum_exps", .pages = 1, .page = sum),
		       TT_DFB_ROW(26, "max", .pages = 1, .page = sum),
		       TT_DFB_ROW(27, "x_minus_max", .pages = work->block, .page = sum),
		       TT_DFB_ROW(28, "tmp", .pages = 1, .page = sum));
}

/*
 * Along an outer dimension elements of different tiles meet: no tile is reduced in itself, so
 * there are no scalers.
 */
tt_status tt_outer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct lines_work *work = launch->work;
	uint64_t in = tt_page_in0(launch), sum = work->sum_bytes;

	return TT_PLAN(plan, work->cores, TT_DFB_ROW(0, "in", .pages = 2, .page = in),
		       TT_DFB_ROW(16, "out", .pages = 2, .page = tt_page_out0(launch)),
		       TT_DFB_ROW(24, "exps", .pages = 1, .page = sum),
		       TT_DFB_ROW(25, "recip_sum_exps", .pages = 1, .page = sum),
		       TT_DFB_ROW(26, "add", .pages = 2, .page = sum),
		       TT_DFB_ROW(27, "max", .pages = 1, .page = in),
		       TT_DFB_ROW(28, "tmp", .pages = 1, .page = sum));
}
