/*
 * reshape_program.c: the program that copies elements to the places of another shape.
 *
 * Models ReshapeViewDeviceOperation of ttnn 0.81 (data_movement/reshape_view/device) with both
 * factories: ReshapeViewRMProgramFactory, for rows, and ReshapeViewTiledProgramFactory, for
 * tiles, which takes a table along that lists, for every tile of the result, the pieces of tiles
 * that it is made of: refusals, memory, cores, and the size of that table. Not modelled: what is
 * in it.
 */
#include "ops/movement/reshape_program.h"

#include <inttypes.h>

#include "backend/backend.h"
#include "base/deadline.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(SHAPE, "logical_output_shape")                                                           \
	X(PADDED, "padded_output_shape", .unkeyed = true)                                          \
	X(MEMORY, "output_mem_config")                                                             \
	X(RECREATE, "recreate_mapping_tensor", .unkeyed = true)                                    \
	X(CORES, "sub_core_grid")
TT_ATTRS(schema, "ReshapeViewParams", ATTRS);

enum { ROWS, TILES };

static tt_status reshape_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_infer_padded(launch, launch->attrs[SHAPE].shape, launch->attrs[PADDED].shape,
			       in->dtype, in->layout);
}

/* Elements of two or four bytes. */
static tt_status reshape_validate(struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor_a.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_UINT32 || dtype == TTNN_FLOAT32 ||
			   dtype == TTNN_INT32,
		   "input_tensor_a.dtype() == DataType::BFLOAT16 or input_tensor_a.dtype() == "
		   "DataType::UINT32 or input_tensor_a.dtype() == DataType::FLOAT32 or "
		   "input_tensor_a.dtype() == DataType::INT32",
		   "Can only work with bfloat16/float32 or int32/uint32 tensors");
	return TTNN_OK;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Pages are staged in up to this many slots when they are not aligned. */
#define SLOTS_MAX 8

/* Two kernels share the work where pages divide each other: each reads, and stages what it writes. */
static tt_status reshape_rows_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint64_t from = tt_shape_last(&in->spec.shape, 1) * tt_element_bytes(in);
	uint64_t to = tt_shape_last(&out->spec.shape, 1) * tt_element_bytes(in);
	uint64_t read = ((from - 1) & ~UINT64_C(63)) + 128, slot = ((to - 1) & ~UINT64_C(63)) + 80;
	bool aligned = from % 16 == 0 && to % 16 == 0;
	bool both = (from % to == 0 || to % from == 0) &&
		    (to % 16 == 0 || out->spec.memory.buffer != TTNN_DRAM);
	uint64_t copies = both ? 2 : 1, slots = 1, room = tt_l1_free(launch->device);

	if (!aligned) {
		TT_REQUIRE(room >= (2 * read + slot) * copies,
			   "l1_available >= source_scratch_bytes + min_dest_scratch_bytes",
			   "RM reshape dest staging does not fit in L1: need at least %" PRIu64
			   " B dest + %" PRIu64 " B source, have %" PRIu64 " B",
			   slot * copies, 2 * read * copies, room);
		slots = (room - 2 * read * copies) / (slot * copies);
		slots = slots > SLOTS_MAX ? SLOTS_MAX : slots < 1 ? 1 : slots;
	}
	return TT_PLAN(plan, tt_cores_or_all(launch, &launch->attrs[CORES]),
		       TT_SCRATCH_ROW(0, "src0", .pages = 1, .page = 2 * read),
		       TT_SCRATCH_ROW(1, "src1", .pages = 1, .page = slot * slots),
		       TT_SCRATCH_ROW(2, "src2", .pages = both, .page = 2 * read),
		       TT_SCRATCH_ROW(3, "src3", .pages = both, .page = slot * slots));
}

/* ---- tiles -------------------------------------------------------------------------------------- */

/*
 * How many pieces of an input page an output page is put together from, at most. A piece is in one
 * row of a face on both sides; the list has room for as many pieces of every input page as the one
 * with the most has.
 */
struct pages {
	uint32_t count;
	uint32_t page[1024], pieces[1024];
};

/*
 * Pieces of an output page by the input page they come from; pages are few, so the list is
 * searched from its end.
 */
static void add_piece(struct pages *pages, uint32_t page)
{
	uint32_t i = pages->count;

	while (i > 0 && pages->page[i - 1] != page)
		i--;
	if (i) {
		pages->pieces[i - 1]++;
		return;
	}
	pages->page[pages->count] = page;
	pages->pieces[pages->count++] = 1;
}

struct matrix {
	uint64_t height, width, across, tiles; /* elements, and tiles in a row and in the matrix */
};

static struct matrix matrix_of(const struct ttnn_shape *shape)
{
	struct matrix m = {.height = tt_shape_last(shape, 2), .width = tt_shape_last(shape, 1)};

	m.across = tt_div_up(m.width, TT_TILE);
	m.tiles = m.across * tt_div_up(m.height, TT_TILE);
	return m;
}

/* Where an element is inside a tile. */
static uint32_t tile_offset(uint64_t row, uint64_t col)
{
	return (uint32_t)(((row % TT_TILE / 16) * 2 + col % TT_TILE / 16) * 256 + row % 16 * 16 +
			  col % 16);
}

/*
 * How large the table of an output page must be: for every input page as many entries as the one
 * with most. Runs end at faces (16 elements) and rows.
 */
static uint64_t page_pieces(uint64_t index, const struct matrix *in, const struct matrix *out)
{
	uint64_t plane = index / out->tiles, row0 = index % out->tiles / out->across * TT_TILE;
	uint64_t col0 = index % out->across * TT_TILE, most = 0;
	uint32_t last_page = UINT32_MAX, last_in = 0, last_out = 0;
	struct pages pages;

	pages.count = 0;
	for (uint64_t row = row0; row < tt_lesser(row0 + 32, out->height); row++) {
		uint64_t end = tt_lesser(col0 + 32, out->width);

		for (uint64_t col = col0, run; col < end; col += run) {
			uint64_t flat = (plane * out->height + row) * out->width + col;
			uint64_t i_col = flat % in->width, i_row = flat / in->width % in->height;
			uint64_t i_plane = flat / (in->width * in->height);
			uint32_t page = (uint32_t)(i_plane * in->tiles +
						   i_row / TT_TILE * in->across + i_col / TT_TILE);
			uint32_t at_in = tile_offset(i_row, i_col), at_out = tile_offset(row, col);

			run = tt_lesser(tt_lesser(end - col, 16 - col % 16),
					tt_lesser(in->width - i_col, 16 - i_col % 16));
			if (page != last_page || at_in - last_in != 1 || at_out - last_out != 1)
				add_piece(&pages, page);
			last_page = page;
			last_in = at_in + (uint32_t)run - 1;
			last_out = at_out + (uint32_t)run - 1;
		}
	}
	for (uint32_t i = 0; i < pages.count; i++)
		if (pages.pieces[i] > most)
			most = pages.pieces[i];
	return most * pages.count;
}

/* Four numbers describe a piece. */
#define PIECE_NUMBERS 4

/* The table of pieces goes to the device while the program is built, and stays with it. */
static tt_status make_table(struct tt_launch *launch, uint64_t pages, uint64_t pieces)
{
	struct ttnn_spec_args args = {
		.shape = {2, {(uint32_t)pages, (uint32_t)(pieces * PIECE_NUMBERS)}},
		.dtype = TTNN_UINT32};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host, *table;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_host_hollow(&host, &spec));
	status = tt_host_table_to_device(&table, launch->call, host, launch->device);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	return tt_launch_keep(launch, table);
}

static uint64_t output_pages(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;

	return tt_div_up(out->rows * out->cols, 1024);
}

/* What choose() worked out: pieces of the output page that has the most. */
struct work {
	uint64_t pieces;
};

/*
 * For tiles upstream computes a table of pieces on the host and keeps it on the device; its width
 * is that of the largest page, rounded as upstream rounds it.
 */
static tt_status reshape_choose(uint32_t *out, struct tt_launch *launch)
{
	struct matrix from = matrix_of(&launch->inputs[0]->spec.shape);
	struct matrix to = matrix_of(&launch->outputs[0]->spec.shape);
	uint64_t pages = output_pages(launch), pieces = 0;
	struct work *work;

	*out = launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR ? ROWS : TILES;
	if (*out == ROWS)
		return TTNN_OK;
	work = launch->work = tt_arena_calloc(launch->arena, 1, sizeof(*work));
	TT_NEED_MEMORY(work);
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t found = page_pieces(i, &from, &to);

		pieces = found > pieces ? found : pieces;
		if (i % 1024 == 1023 && tt_deadline_stop())
			return tt_deadline_check();
	}
	work->pieces = pieces + pieces % tt_memory_alignment(launch->device, TTNN_L1);
	return make_table(launch, pages, work->pieces);
}

/* A row of the table, a tile of the input, a tile to write. */
static tt_status reshape_tiles_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work *work = launch->work;
	uint64_t tile = tt_tile_bytes_of(launch->inputs[0]->spec.dtype);
	struct tt_work_split split;

	TT_TRY(tt_split_among(&split, launch, &launch->attrs[CORES], output_pages(launch)));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "mapping", .pages = 1,
				  .page = work->pieces * PIECE_NUMBERS * sizeof(uint32_t)),
		       TT_DFB_ROW(1, "input", .pages = 1, .page = tile),
		       TT_SCRATCH_ROW(0, "working", .pages = 1, .page = tile));
}

static const struct tt_factory factories[] = {
	[ROWS] = {.name = "ttnn::prim::ReshapeViewRMProgramFactory", .memory = reshape_rows_memory},
	[TILES] = {.name = "ttnn::prim::ReshapeViewTiledProgramFactory",
		   .memory = reshape_tiles_memory},
};

static tt_status reshape_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->reshape(launch->outputs[0], launch->inputs[0]);
}

static const struct tt_prog prog = {
	.device_op = "ReshapeViewDeviceOperation",
	.prim = "ttnn::prim::reshape_view",
	.attrs = &schema,
	.infer = reshape_infer,
	.validate = reshape_validate,
	TT_FACTORIES(factories),
	.choose = reshape_choose,
	TT_KERNEL(reshape_kernel),
	.cost = tt_cost_move,
};

/* PADDED and RECREATE are attributes but no part of the key. */
tt_status tt_reshape_view_launch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
				 const struct tt_reshape_view_args *args)
{
	struct ttnn_value attrs[schema_count];

	attrs[SHAPE] = ttnn_v_shape(args->shape);
	attrs[PADDED] = ttnn_v_shape(args->padded);
	attrs[MEMORY] = ttnn_v_memory(args->memory);
	attrs[RECREATE] = ttnn_v_bool(args->recreate);
	attrs[CORES] = tt_value_cores(args->cores);
	return TT_LAUNCH(out, call, &prog, TT_INPUTS(in), .attrs = attrs);
}
