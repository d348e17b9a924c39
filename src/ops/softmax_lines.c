#include "ops/softmax_lines.h"

#include "device/device.h"
#include "device/split.h"
#include "ops/movement.h"
#include "ops/reduce.h"
#include "ops/rows.h"

/* Numbers: 0 tiles of a line, 1 of differences; 2 and 3 bytes of tiles of values and sums. */
enum { LINE, BLOCK, VALUE_BYTES, SUM_BYTES };

/* Whether a line of tiles along the dimension may stay in L1 as a whole. */
#define SMALL_LIMIT (512 * 1024)
static bool is_small(const struct tt_launch *launch, uint64_t line, uint64_t between)
{
	return launch->device->limits.l1_base + (2 * line + 2) * tt_page_in0(launch) +
		       (2 * line + 3) * between <=
	       SMALL_LIMIT;
}

tt_status tt_lines_plan(enum tt_lines *out, struct tt_launch *launch,
			const struct tt_lines_wish *wish)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	struct tt_move_work *work = tt_move_work_new(launch);
	bool width = wish->dim + 1 == in->padded.rank, height = wish->dim + 2 == in->padded.rank;
	uint64_t line = width ? tiles.width : height ? tiles.height : in->padded.dim[wish->dim];
	bool small = is_small(launch, line, tt_tile_bytes_of(wish->between));

	if (!work)
		return TTNN_NOMEM;
	work->number[VALUE_BYTES] = tt_tile_bytes_of(wish->value);
	work->number[SUM_BYTES] = tt_tile_bytes_of(wish->sum);
	work->number[LINE] = small ? line : 2;
	work->number[BLOCK] = small ? line : 1;
	*out = TT_LINES_OUTER;
	if (width)
		*out = small ? TT_LINES_W_SMALL : TT_LINES_W_LARGE;
	else if (height)
		*out = small ? TT_LINES_H_SMALL : TT_LINES_H_LARGE;
	return tt_cores_for(&work->cores[0], launch,
			    tiles.matrices * tiles.width * tiles.height / (line ? line : 1));
}

#define ROW(index_, ...)                                                                           \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .cores = tt_work_cores0, __VA_ARGS__              \
	}
#define LINE_PAGES tt_number0
#define BLOCK_PAGES tt_number1
#define VALUE tt_number2
#define SUM tt_number3

const struct tt_mem_row tt_line_rows[TT_LINE_ROWS] = {
	ROW(0, .pages = LINE_PAGES, .page = tt_page_in0),
	ROW(1, .page_count = 1, .page = VALUE),
	ROW(2, .page_count = 1, .page = VALUE),
	ROW(3, .page_count = 1, .page = VALUE),
	ROW(16, .pages = LINE_PAGES, .page = tt_page_out0),
	ROW(24, .pages = LINE_PAGES, .page = SUM),
	ROW(25, .page_count = 1, .page = SUM),
	ROW(26, .page_count = 1, .page = SUM),
	ROW(27, .pages = BLOCK_PAGES, .page = SUM),
	ROW(28, .page_count = 1, .page = SUM),
};

const struct tt_mem_row tt_outer_rows[TT_OUTER_ROWS] = {
	ROW(0, .page_count = 2, .page = tt_page_in0),
	ROW(16, .page_count = 2, .page = tt_page_out0),
	ROW(24, .page_count = 1, .page = SUM),
	ROW(25, .page_count = 1, .page = SUM),
	ROW(26, .page_count = 2, .page = SUM),
	ROW(27, .page_count = 1, .page = tt_page_in0),
	ROW(28, .page_count = 1, .page = SUM),
};
