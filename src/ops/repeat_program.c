/* repeat_program.c: the programs that repeat one dimension of a tensor. */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/movement.h"
#include "ops/repeat.h"
#include "ops/rows.h"
#include "tensor/shape.h"

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

enum { TIMES, LAST, MEMORY, HIGHER, PAGES, LOWER, PAGE_BYTES, DIM, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[TIMES] = {.name = "m_num_repeats"},
	[LAST] = {.name = "m_is_last_dim"},
	[MEMORY] = {.name = "m_output_mem_config"},
	[HIGHER] = {.name = "m_tile_higher_pages"},
	[PAGES] = {.name = "m_tile_rep_dim_pages"},
	[LOWER] = {.name = "m_tile_lower_pages"},
	[PAGE_BYTES] = {.name = "m_tile_page_size_bytes"},
	[DIM] = {.name = "m_repeat_dim"},
};
static const struct tt_schema schema = {"RepeatParams", fields, ATTRS, false};

enum { LAST_DIM, HIGHER_DIM };

static uint32_t dim_of(const struct tt_launch *launch)
{
	if (launch->attrs[DIM].integer >= 0)
		return (uint32_t)launch->attrs[DIM].integer;
	return launch->attrs[LAST].boolean ? launch->inputs[0]->spec.shape.rank - 1 : 1;
}

static tt_status fit_shards(struct ttnn_memory_config *memory, const struct tt_launch *launch,
			    const struct ttnn_shape *shape)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_repeat_wish wish = {
		.in = launch->inputs[0], .padded = shape, .layout = memory->layout};
	struct ttnn_shard_spec shard;
	bool found = true;

	if (!tt_memory_config_is_sharded(memory) || memory->has_shard)
		return TTNN_OK;
	if (in->memory.has_shard && in->shape.rank >= 2)
		shard = tt_repeat_shard(&in->memory.shard, dim_of(launch) + 1 == in->shape.rank,
					(uint32_t)launch->attrs[TIMES].integer);
	else
		TT_TRY(tt_repeat_new_shards(&found, &shard, &wish));
	return found ? ttnn_memory_config_sharded(memory, memory->layout, memory->buffer, &shard)
		     : TTNN_OK;
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_memory_config memory = *launch->attrs[MEMORY].memory;
	struct ttnn_shape shape = in->shape;

	launch->output_count = 1;
	if (launch->inputs[1]) {
		launch->specs[0] = launch->inputs[1]->spec;
		return TTNN_OK;
	}
	shape.dim[dim_of(launch)] *= (uint32_t)launch->attrs[TIMES].integer;
	TT_TRY(fit_shards(&memory, launch, &shape));
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, in->layout, &memory);
}

static tt_status validate(struct tt_launch *launch)
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

/* Numbers: 0 bytes of scratch, 1 whether there are two of them. */
static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0];
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t tile = (uint64_t)launch->attrs[PAGE_BYTES].integer;
	uint64_t bytes = tile ? tile : tt_shape_last(&in->spec.shape, 1) * tt_element_bytes(in);

	if (!work)
		return TTNN_NOMEM;
	*out = launch->attrs[LAST].boolean ? LAST_DIM : HIGHER_DIM;
	work->number[0] = 128 + bytes * (*out == LAST_DIM ? rows_together(bytes) : 1);
	work->number[1] =
		!tile && !tt_tensor_is_sharded(in) && !tt_tensor_is_sharded(launch->outputs[0]);
	return TTNN_OK;
}

#define SCRATCH(when_)                                                                             \
	{                                                                                          \
		.kind = TT_SCRATCH, .when = when_, .page_count = 1, .page = tt_number0,            \
		.cores = tt_cores_grid                                                             \
	}

static const struct tt_mem_row rows[] = {SCRATCH(NULL), SCRATCH(tt_has1)};
static const struct tt_factory factories[] = {
	[LAST_DIM] = {"ttnn::prim::RepeatProgramFactoryLastDim", rows, TT_COUNT(rows), NULL},
	[HIGHER_DIM] = {"ttnn::prim::RepeatProgramFactoryHigherDim", rows, TT_COUNT(rows), NULL},
};

static tt_status kernel(struct tt_launch *launch)
{
	return repeat(launch->outputs[0], launch->inputs[0], dim_of(launch),
		      (uint32_t)launch->attrs[TIMES].integer);
}

static const struct tt_prog prog = {
	.device_op = "RepeatDeviceOperation",
	.prim = "ttnn::prim::repeat",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = tt_cost_move,
};

static tt_status launch_prog(struct tt_tensor **out, struct tt_call *call,
			     const struct tt_prog *which, const struct tt_repeat_step *step,
			     const struct ttnn_value *attrs)
{
	struct tt_tensor *inputs[] = {step->in, step->out};
	struct tt_program_args program = {.prog = which,
					  .attrs = attrs,
					  .inputs = inputs,
					  .input_count = TT_COUNT(inputs),
					  .outputs = &step->out,
					  .output_count = step->out ? 1 : 0};

	return tt_call_program(out, call, &program);
}

tt_status tt_repeat_rows(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_repeat_step *step)
{
	struct ttnn_value attrs[ATTRS] = {
		[TIMES] = ttnn_v_int(step->times),
		[LAST] = ttnn_v_bool(step->in->spec.shape.rank == 2),
		[MEMORY] = ttnn_v_memory(step->memory),
		[HIGHER] = ttnn_v_int(0),
		[PAGES] = ttnn_v_int(0),
		[LOWER] = ttnn_v_int(0),
		[PAGE_BYTES] = ttnn_v_int(0),
		[DIM] = ttnn_v_int(-1),
	};

	return launch_prog(out, call, &prog, step, attrs);
}

tt_status tt_repeat_tiles(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step)
{
	const struct ttnn_tensor_spec *in = &step->in->spec;
	struct ttnn_shape tiles = in->shape;
	uint32_t higher = 1, lower = 1;
	struct ttnn_value attrs[ATTRS];

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
	return launch_prog(out, call, &prog, step, attrs);
}

/* ---- the usual program ----------------------------------------------------------------------------------------- */

enum { P_DIM, P_TIMES, P_MEMORY, P_ATTRS };

static const struct tt_field page_fields[P_ATTRS] = {
	[P_DIM] = {.name = "rep_dim"},
	[P_TIMES] = {.name = "num_repeats"},
	[P_MEMORY] = {.name = "output_mem_config"},
};
static const struct tt_schema page_schema = {"RepeatCodegenParams", page_fields, P_ATTRS, false};

/* Pages in a buffer of which one half is read while the other is written. */
#define BATCH 4

uint64_t tt_repeat_depth(uint64_t page, uint64_t room)
{
	uint64_t fit = page ? room / page : 0;

	if (fit < 2)
		return fit;
	return fit / 2 < BATCH ? fit / 2 * 2 : 2 * BATCH;
}

static tt_status page_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_spec_args args = {.shape = in->shape,
				      .dtype = in->dtype,
				      .layout = in->layout,
				      .tile = in->tile,
				      .memory = *launch->attrs[P_MEMORY].memory};

	launch->output_count = 1;
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
	uint64_t in = tt_page_in0_aligned(launch), out = tt_page_out0_aligned(launch);

	return in > out ? in : out;
}

static void page_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, launch->attrs, P_ATTRS);
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

static tt_status split(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t units,
		       uint64_t limit)
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
		return pages * tt_div_up(in->shape.dim[2], 32) * tt_div_up(in->shape.dim[3], 32) *
		       times;
	return pages * in->shape.dim[2] * (launch->attrs[P_DIM].integer == 3 ? 1 : times);
}

/* Numbers: 0 bytes of a page, 1 how many. */
static tt_status page_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_move_work *work = tt_move_work_new(launch);
	uint64_t pages = pages_out(launch), limit = core_limit(launch, pages);

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	if (in->layout == TTNN_ROW_MAJOR) {
		work->number[0] = wider_page(launch);
		work->number[1] = tt_repeat_depth(work->number[0], tt_l1_free(launch->device));
		TT_REQUIRE(work->number[1], "cb_plan.has_value()",
			   "RepeatCodegen: a %" PRIu64
			   "-byte row-major CB slot does not fit in free L1",
			   work->number[0]);
	} else if (is_direct(launch)) {
		pages /= (uint64_t)launch->attrs[P_TIMES].integer;
		work->number[0] = tt_tile_bytes_of(in->dtype);
		work->number[1] = 1;
	} else {
		work->number[0] = tt_page_out0_aligned(launch);
		work->number[1] = 2 * BATCH;
	}
	return split(&work->cores[0], launch, pages, limit);
}

static const struct tt_mem_row page_rows[] = {
	{.kind = TT_CB, .pages = tt_number1, .page = tt_number0, .cores = tt_work_cores0}};
static const struct tt_factory page_factories[] = {
	{"ttnn::prim::RepeatCodegenProgramFactory", page_rows, TT_COUNT(page_rows), NULL}};

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
	.factories = page_factories,
	.factory_count = TT_COUNT(page_factories),
	.choose = page_choose,
	.key = page_key,
	TT_KERNEL(page_kernel),
	.cost = tt_cost_move,
};

tt_status tt_repeat_pages(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_repeat_step *step)
{
	struct ttnn_value attrs[P_ATTRS] = {
		[P_DIM] = ttnn_v_int(step->dim),
		[P_TIMES] = ttnn_v_int(step->times),
		[P_MEMORY] = ttnn_v_memory(step->memory),
	};

	return launch_prog(out, call, &page_prog, step, attrs);
}
