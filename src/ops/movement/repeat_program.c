/*
 * repeat_program.c: the programs that repeat one dimension of a tensor.
 *
 * Models, of ttnn 0.81 (data_movement/repeat/device), with refusals, memory, cores:
 * RepeatDeviceOperation, with RepeatProgramFactoryLastDim (a row is written several times behind
 * itself) and RepeatProgramFactoryHigherDim (a page is written to several places), and
 * RepeatCodegenDeviceOperation with its one factory, for whole pages. Which of the programs
 * serves, and how a repeat of several dimensions is cut into single ones, is in repeat_plan.c.
 * Calls that name a program (`implementation`) are of upstream's main of August 2026, and so is the
 * memory of those: dataflow buffers.
 * Not modelled: alignment of the pieces of a row within L1.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "ops/movement/movement.h"
#include "ops/movement/repeat.h"

/* ---- running ------------------------------------------------------------------------------------------------ */

/* out = in, `times` times along a dimension. */
static tt_status repeat(struct tt_tensor *out, struct tt_tensor *in, uint32_t dim, uint32_t times)
{
	const struct ttnn_shape *shape = &in->spec.shape;
	struct tt_move_loop loops[TTNN_MAX_RANK + 1];
	struct tt_move_job job = {
		.out = out, .in = in, .loops = loops, .loop_count = shape->rank + 1};

	loops[0] = (struct tt_move_loop){times, -1, (int32_t)dim, 0, shape->dim[dim]};
	for (uint32_t d = 0; d < shape->rank; d++)
		loops[d + 1] = (struct tt_move_loop){shape->dim[d], (int32_t)d, (int32_t)d, 1, 1};
	return tt_backend_get()->move(&job);
}

/* ---- rows, or whole tiles --------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(TIMES, "m_num_repeats")                                                                  \
	X(LAST, "m_is_last_dim")                                                                   \
	X(MEMORY, "m_output_mem_config")                                                           \
	X(HIGHER, "m_tile_higher_pages")                                                           \
	X(PAGES, "m_tile_rep_dim_pages")                                                           \
	X(LOWER, "m_tile_lower_pages")                                                             \
	X(PAGE_BYTES, "m_tile_page_size_bytes")                                                    \
	X(DIM, "m_repeat_dim")
TT_ATTRS(schema, "RepeatParams", ATTRS);

enum { LAST_DIM, HIGHER_DIM };

static uint32_t dim_of(const struct tt_launch *launch)
{
	if (launch->attrs[DIM].integer >= 0)
		return (uint32_t)launch->attrs[DIM].integer;
	return launch->attrs[LAST].boolean ? launch->inputs[0]->spec.shape.rank - 1 : 1;
}

/* Shards of the input grow; without any they are made anew. */
static tt_status fit_shards(struct ttnn_memory_config *memory, const struct tt_launch *launch,
			    const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_repeat_request request = {
		.in = launch->inputs[0], .padded = shape, .layout = memory->layout};
	struct ttnn_shard_spec shard;
	bool found = true;

	if (!tt_memory_config_is_sharded(memory) || memory->has_shard)
		return TTNN_OK;
	if (in->memory.has_shard && in->shape.rank >= 2)
		shard = tt_repeat_shard(&in->memory.shard, dim_of(launch) + 1 == in->shape.rank,
					(uint32_t)launch->attrs[TIMES].integer);
	else
		TT_TRY(tt_repeat_new_shards(&found, &shard, &request));
	return found ? ttnn_memory_config_sharded(memory, memory->layout, memory->buffer, &shard)
		     : TTNN_OK;
}

/* A given output is an input here: upstream passes it as optional tensor. */
static tt_status repeat_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = in->shape;

	if (launch->inputs[1]) {
		launch->specs[0] = launch->inputs[1]->spec;
		return TTNN_OK;
	}
	shape.dim[dim_of(launch)] *= (uint32_t)launch->attrs[TIMES].integer;
	TT_TRY(fit_shards(&memory, launch, &shape));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &memory);
}

/* Rows of bytes are not repeated. */
static tt_status repeat_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool known = in->dtype == TTNN_UINT16 || in->dtype == TTNN_BFLOAT16 ||
		     in->dtype == TTNN_UINT32 || in->dtype == TTNN_INT32 ||
		     in->dtype == TTNN_FLOAT32;

	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input_tensor_a.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	TT_REQUIRE(in->layout == TTNN_TILE || known,
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::UINT16 or "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::BFLOAT16 or "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::UINT32 or "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::INT32 or "
		   "input_tensor_a.dtype() == tt::tt_metal::DataType::FLOAT32",
		   "Can only work with UINT16, BFLOAT16, UINT32, INT32, FLOAT32 data types");
	return TTNN_OK;
}

/* How many rows make a piece that is read and written at the right places. */
static uint64_t rows_together(uint64_t bytes)
{
	uint64_t rows = 1;

	while (rows < 16 && bytes * rows % 16)
		rows *= 2;
	return rows;
}

/* What aligning a piece costs at most, on both sides. */
#define ALIGNMENT_ROOM 128

static tt_status repeat_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = launch->attrs[LAST].boolean ? LAST_DIM : HIGHER_DIM;
	return TTNN_OK;
}

/* A piece to read and write by; a second one where both sides are interleaved rows. */
static tt_status pieces(struct tt_plan *plan, const struct tt_launch *launch,
			enum tt_program_memory_kind kind)
{
	struct tt_tensor *in = launch->inputs[0];
	uint64_t tile = (uint64_t)launch->attrs[PAGE_BYTES].integer;
	uint64_t bytes = tile ? tile : tt_shape_last(&in->spec.shape, 1) * tt_element_bytes(in);
	bool second =
		!tile && !tt_tensor_is_sharded(in) && !tt_tensor_is_sharded(launch->outputs[0]);

	bytes = ALIGNMENT_ROOM +
		bytes * (tt_factory_index(launch) == LAST_DIM ? rows_together(bytes) : 1);
	return TT_PLAN(plan, launch->grid, {kind, 0, "src0", .pages = 1, .page = bytes},
		       {kind, 0, "src1", .pages = second, .page = bytes});
}

static tt_status repeat_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return pieces(plan, launch, TT_MEMORY_SCRATCHPAD);
}

/* Where the programs can be asked for, their memory is in dataflow buffers. */
static tt_status native_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	return pieces(plan, launch, TT_MEMORY_DATAFLOW_BUFFER);
}

static const struct tt_factory native_factories[] = {
	[LAST_DIM] = {.name = "ttnn::prim::RepeatProgramFactoryLastDim", .memory = native_memory},
	[HIGHER_DIM] = {.name = "ttnn::prim::RepeatProgramFactoryHigherDim",
			.memory = native_memory},
};

static const struct tt_factory factories[] = {
	[LAST_DIM] = {.name = "ttnn::prim::RepeatProgramFactoryLastDim", .memory = repeat_memory},
	[HIGHER_DIM] = {.name = "ttnn::prim::RepeatProgramFactoryHigherDim",
			.memory = repeat_memory},
};

static tt_status repeat_kernel(struct tt_launch *launch)
{
	return repeat(launch->outputs[0], launch->inputs[0], dim_of(launch),
		      (uint32_t)launch->attrs[TIMES].integer);
}

#define PROG(factories_)                                                                           \
	{                                                                                          \
		.device_op = "RepeatDeviceOperation", .prim = "ttnn::prim::repeat",                \
		.attrs = &schema, .infer = repeat_infer, .validate = repeat_validate,              \
		TT_FACTORIES(factories_), .choose = repeat_choose, TT_KERNEL(repeat_kernel),       \
		.cost = tt_cost_move,                                                              \
	}
static const struct tt_prog prog = PROG(factories), native_prog = PROG(native_factories);

/* A given output is the second input too, as upstream passes it. */
static tt_status launch_prog(struct tt_tensor **out, struct tt_call *call,
			     const struct tt_prog *which, const struct tt_repeat_step *step,
			     const struct ttnn_value *attrs)
{
	struct tt_tensor *inputs[] = {step->in, step->out};

	return TT_LAUNCH(out, call, which, .attrs = attrs, .inputs = inputs,
			 .input_count = TT_COUNT(inputs), .outputs = &step->out,
			 .output_count = step->out ? 1 : 0);
}

/*
 * The form for rows: [higher, rows, width] or two dimensions, of which LAST says that the width is
 * repeated.
 */
tt_status tt_repeat_rows(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_repeat_step *step)
{
	struct ttnn_value attrs[schema_count] = {
		[TIMES] = ttnn_v_int(step->times),
		[LAST] = ttnn_v_bool(step->in->spec.shape.rank == 2),
		[MEMORY] = ttnn_v_memory(step->memory),
		[HIGHER] = ttnn_v_int(0),
		[PAGES] = ttnn_v_int(0),
		[LOWER] = ttnn_v_int(0),
		[PAGE_BYTES] = ttnn_v_int(0),
		[DIM] = ttnn_v_int(-1),
	};

	return launch_prog(out, call, step->native ? &native_prog : &prog, step, attrs);
}

/* The form for tiles counts pages above, along and below the dimension. */
tt_status tt_repeat_tiles(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step)
{
	const struct ttnn_tensor_spec *in = &step->in->spec;
	struct ttnn_shape tiles = in->shape;
	uint32_t higher = 1, lower = 1;
	struct ttnn_value attrs[schema_count];

	tiles.dim[tiles.rank - 1] /= 32;
	tiles.dim[tiles.rank - 2] /= 32;
	for (uint32_t d = 0; d < tiles.rank; d++) {
		higher *= d < step->dim ? tiles.dim[d] : 1;
		lower *= d > step->dim ? tiles.dim[d] : 1;
	}
	attrs[TIMES] = ttnn_v_int(step->times);
	attrs[LAST] = ttnn_v_bool(false);
	attrs[MEMORY] = ttnn_v_memory(step->memory);
	attrs[HIGHER] = ttnn_v_int(higher);
	attrs[PAGES] = ttnn_v_int(tiles.dim[step->dim]);
	attrs[LOWER] = ttnn_v_int(lower);
	attrs[PAGE_BYTES] = ttnn_v_int((int64_t)tt_tile_bytes_of(in->dtype));
	attrs[DIM] = ttnn_v_int(step->dim);
	return launch_prog(out, call, step->native ? &native_prog : &prog, step, attrs);
}

/* ---- the usual program ----------------------------------------------------------------------------------------- */

#define P_ATTRS(X)                                                                                 \
	X(P_DIM, "rep_dim")                                                                        \
	X(P_TIMES, "num_repeats")                                                                  \
	X(P_MEMORY, "output_mem_config")
TT_ATTRS(page_schema, "RepeatCodegenParams", P_ATTRS);

/* Pages in a buffer of which one half is read while the other is written. */
#define BATCH 4

uint64_t tt_repeat_depth(uint64_t page, uint64_t room)
{
	uint64_t fit = page ? room / page : 0;

	if (fit < 2)
		return fit;
	return fit / 2 < BATCH ? fit / 2 * 2 : 2 * BATCH;
}

/* The tile of the input is kept. */
static tt_status page_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = *launch->attrs[P_MEMORY].memory};

	if (launch->inputs[1]) {
		launch->specs[0] = launch->inputs[1]->spec;
		return TTNN_OK;
	}
	args.shape.dim[launch->attrs[P_DIM].integer] *= (uint32_t)launch->attrs[P_TIMES].integer;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static tt_status page_validate(struct tt_launch *launch)
{
	TT_REQUIRE(tt_tensor_buffer(launch->inputs[0]), "input.buffer() != nullptr",
		   "Operands need to be allocated in buffers on device!");
	return TTNN_OK;
}

static uint64_t wider_page(const struct tt_launch *launch)
{
	uint64_t in = tt_aligned_page(launch->inputs[0]);
	uint64_t out = tt_aligned_page(launch->outputs[0]);

	return in > out ? in : out;
}

static void page_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, launch->attrs, page_schema_count);
	tt_key_spec(key, &launch->inputs[0]->spec);
	tt_key_number(key, launch->inputs[1] != NULL);
	if (launch->inputs[0]->spec.layout == TTNN_ROW_MAJOR)
		tt_key_number(key, tt_repeat_depth(wider_page(launch), tt_l1_free(launch->device)));
}

/* How the outer dimensions of tiles go to L1: each tile is read once and written often. */
static bool is_direct(const struct tt_launch *launch)
{
	const struct ttnn_memory_config *out = &launch->outputs[0]->spec.memory;

	return launch->inputs[0]->spec.layout == TTNN_TILE && launch->attrs[P_DIM].integer < 2 &&
	       out->buffer == TTNN_L1 &&
	       (out->layout == TTNN_INTERLEAVED || out->layout == TTNN_WIDTH_SHARDED ||
		out->layout == TTNN_HEIGHT_SHARDED);
}

/* Blackhole does some of it on fewer cores. 0: all. */
static uint64_t core_limit(const struct tt_launch *launch, uint64_t pages)
{
	enum ttnn_memory_layout layout = launch->outputs[0]->spec.memory.layout;

	if (!tt_is_blackhole(launch->device) || launch->inputs[0]->spec.layout != TTNN_TILE ||
	    launch->attrs[P_DIM].integer >= 2 || launch->attrs[P_TIMES].integer < 4)
		return 0;
	if (layout == TTNN_BLOCK_SHARDED)
		return 100;
	return layout == TTNN_WIDTH_SHARDED && pages >= 1024 ? 64 : 0;
}

/* Units over the whole grid, or over the first cores of it where a limit was worked out. */
static tt_status repeat_split_work(const ttnn_core_set **out, const struct tt_launch *launch,
				   uint64_t units, uint64_t limit)
{
	struct ttnn_core grid = tt_grid_size(launch->grid);
	const ttnn_core_set *some;
	struct tt_work_split work;

	if (limit) {
		uint64_t all = ttnn_core_set_cores(launch->grid);

		limit = limit < units ? limit : units;
		TT_TRY(tt_split_cores(&some, grid, (struct ttnn_core){0, 0},
				      limit < all ? limit : all, TTNN_ORIENT_COL_MAJOR));
		TT_TRY(tt_split_work_in(&work, some, units, TTNN_ORIENT_COL_MAJOR));
	} else {
		TT_TRY(tt_split_work(&work, grid, units, TTNN_ORIENT_COL_MAJOR));
	}
	*out = work.all;
	return TTNN_OK;
}

/* Pages that are written, by dimension of the input. */
static uint64_t pages_out(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t pages = (uint64_t)in->shape.dim[0] * in->shape.dim[1];
	uint64_t times = (uint64_t)launch->attrs[P_TIMES].integer;

	if (in->layout == TTNN_TILE)
		return pages * tt_div_up(in->shape.dim[2], TT_TILE) *
		       tt_div_up(in->shape.dim[3], TT_TILE) * times;
	return pages * in->shape.dim[2] * (launch->attrs[P_DIM].integer == 3 ? 1 : times);
}

/* Rows take as many pages as L1 holds; tiles that are written straight to their copies need one. */
static tt_status page_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t written = pages_out(launch), limit = core_limit(launch, written);
	uint64_t page = tt_aligned_page(launch->outputs[0]), pages = 2 * BATCH;
	const ttnn_core_set *cores;

	if (in->layout == TTNN_ROW_MAJOR) {
		page = wider_page(launch);
		pages = tt_repeat_depth(page, tt_l1_free(launch->device));
		TT_REQUIRE(pages, "cb_plan.has_value()",
			   "RepeatCodegen: a %" PRIu64
			   "-byte row-major CB slot does not fit in free L1",
			   page);
	} else if (is_direct(launch)) {
		written /= (uint64_t)launch->attrs[P_TIMES].integer;
		page = tt_tile_bytes_of(in->dtype);
		pages = 1;
	}
	TT_TRY(repeat_split_work(&cores, launch, written, limit));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "cb_out", .pages = pages, .page = page));
}

static tt_status page_kernel(struct tt_launch *launch)
{
	return repeat(launch->outputs[0], launch->inputs[0], (uint32_t)launch->attrs[P_DIM].integer,
		      (uint32_t)launch->attrs[P_TIMES].integer);
}

static const struct tt_prog page_prog = {
	.device_op = "RepeatCodegenDeviceOperation",
	.prim = "ttnn::prim::repeat_codegen",
	.attrs = &page_schema,
	.infer = page_infer,
	.validate = page_validate,
	TT_FACTORY("ttnn::prim::RepeatCodegenProgramFactory", page_memory),
	.key = page_key,
	TT_KERNEL(page_kernel),
	.cost = tt_cost_move,
};

/* The generated program: dimension, times and memory are all it needs. */
tt_status tt_repeat_pages(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step)
{
	struct ttnn_value attrs[page_schema_count] = {
		[P_DIM] = ttnn_v_int(step->dim),
		[P_TIMES] = ttnn_v_int(step->times),
		[P_MEMORY] = ttnn_v_memory(step->memory),
	};

	return launch_prog(out, call, &page_prog, step, attrs);
}
