/* upsample_program.c: the program that makes images larger. */
#include <math.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/cost.h"
#include "ops/movement.h"
#include "ops/parallel.h"
#include "ops/rows.h"
#include "ops/upsample.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"

#define TILE 32u

/* ---- the program ------------------------------------------------------------------------------------- */

enum { DOWN, ACROSS, MODE, MEMORY, COMPUTE, SLIDE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DOWN] = {.name = "scale_factor_h"},
	[ACROSS] = {.name = "scale_factor_w"},
	[MODE] = {.name = "mode"},
	[MEMORY] = {.name = "output_mem_config"},
	[COMPUTE] = {.name = "compute_kernel_config"},
	[SLIDE] = {.name = "sliding_window_config"},
};
static const struct tt_schema schema = {"UpsampleParams", fields, ATTRS, false};

static const struct tt_upsample *upsample_of(const struct tt_launch *launch)
{
	return launch->extra;
}

static bool whole(const struct tt_upsample *e)
{
	return e->scale[0] == floorf(e->scale[0]) && e->scale[1] == floorf(e->scale[1]);
}

enum { LINEAR, INTERLEAVED, SHARDED, ANY_SCALE };

/* Any scale, for rows; whole ones have programs of their own where they can. */
static bool any_scale(const struct tt_upsample *e, const struct ttnn_tensor_spec *in)
{
	const struct ttnn_memory_config *memory = &in->memory;

	if (e->linear)
		return false;
	return !whole(e) || memory->created_with_nd_shard || memory->layout == TTNN_WIDTH_SHARDED ||
	       (in->layout == TTNN_TILE && memory->layout != TTNN_INTERLEAVED);
}

static void out_size(uint32_t out[2], const struct tt_upsample *e)
{
	for (int d = 0; d < 2; d++)
		out[d] = (uint32_t)floorf((float)e->nhwc[1 + d] * e->scale[d]);
}

static tt_status nd_memory(struct ttnn_memory_config *out, const struct ttnn_memory_config *in,
			   const struct tt_upsample *e)
{
	struct ttnn_nd_shard_spec shard = in->nd_shard;

	for (uint32_t d = 0; d < 2 && shard.shape.rank == 4; d++)
		shard.shape.dim[1 + d] =
			(uint32_t)ceilf((float)shard.shape.dim[1 + d] * e->scale[d]);
	return ttnn_memory_config_nd(out, in->buffer, &shard);
}

/* Where a sharded result lies: on the cores of the input. */
static tt_status shard_memory(struct ttnn_memory_config *out, const struct tt_launch *launch,
			      uint64_t rows)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *wish = launch->attrs[MEMORY].memory;
	const struct tt_upsample *e = upsample_of(launch);
	struct tt_parallel is = tt_parallel_of(&in->memory);
	struct ttnn_shard_spec shard = wish->shard;

	shard.width = in->memory.shard.width;
	if (any_scale(e, in)) {
		shard = in->memory.shard;
		shard.height = (uint32_t)tt_div_up(rows, tt_parallel_rows(&is));
		wish = &in->memory;
	} else if (e->linear) {
		shard.height = (uint32_t)tt_div_up(rows, ttnn_core_set_cores(shard.grid));
	} else {
		shard.height =
			in->memory.shard.height * (uint32_t)e->scale[0] * (uint32_t)e->scale[1];
	}
	return ttnn_memory_config_sharded(out, wish->layout, wish->buffer, &shard);
}

static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	const struct tt_upsample *e = upsample_of(launch);
	struct ttnn_spec_args args = {.dtype = in->dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16
									   : in->dtype,
				      .memory = *memory};
	uint32_t out[2];

	out_size(out, e);
	args.shape = (struct ttnn_shape){4, {e->nhwc[0], out[0], out[1], e->nhwc[3]}};
	if (in->memory.created_with_nd_shard) {
		TT_TRY(nd_memory(&args.memory, &in->memory, e));
	} else if (tt_memory_config_is_sharded(memory)) {
		TT_REQUIRE(tt_tensor_is_sharded(launch->inputs[0]), "input_mc.is_sharded()",
			   "Output memory config is sharded but input memory config is not "
			   "sharded");
		TT_TRY(shard_memory(&args.memory, launch, (uint64_t)e->nhwc[0] * out[0] * out[1]));
	}
	launch->output_count = 1;
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

static tt_status check_linear(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_upsample *e = upsample_of(launch);

	TT_REQUIRE(whole(e),
		   "is_integer_scale(args.scale_factor_h) && is_integer_scale(args.scale_factor_w)",
		   "bilinear mode requires integer scale factors, got (%g, %g)",
		   (double)e->scale[0], (double)e->scale[1]);
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input.dtype() == tt::tt_metal::DataType::BFLOAT16",
		   "Bilinear upsample requires BFLOAT16 input");
	TT_REQUIRE(in->memory.layout == TTNN_HEIGHT_SHARDED,
		   "input.memory_config().memory_layout() == "
		   "tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED",
		   "Bilinear upsample requires HEIGHT_SHARDED input tensor");
	TT_REQUIRE(e->nhwc[3] % TILE == 0, "in_channels % 32 == 0",
		   "input channels should be divisible by 32");
	return TTNN_OK;
}

static tt_status refuse(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_upsample *e = upsample_of(launch);

	return tt_fail_cond(
		TTNN_INVALID, "path != UpsamplePath::UNSUPPORTED",
		"Unsupported upsample configuration:\n  Mode: %s\n  Scales: %f x %f\n  Layout: "
		"TILE\n  Memory: %s\n\nSupported configurations:\n  - Integer scales + nearest + "
		"ROW_MAJOR + (INTERLEAVED|HEIGHT_SHARDED|BLOCK_SHARDED)\n  - Integer scales + "
		"nearest + TILE + INTERLEAVED\n  - Float scales + nearest + ROW_MAJOR + any memory "
		"layout\n  - Integer scales + bilinear + HEIGHT_SHARDED or INTERLEAVED)",
		e->linear ? "bilinear" : "nearest", (double)e->scale[0], (double)e->scale[1],
		tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
}

static tt_status validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_upsample *e = upsample_of(launch);

	TT_REQUIRE(e->scale[0] > 0, "args.scale_factor_h > 0.0f",
		   "scale_factor_h must be positive, got %g", (double)e->scale[0]);
	TT_REQUIRE(e->scale[1] > 0, "args.scale_factor_w > 0.0f",
		   "scale_factor_w must be positive, got %g", (double)e->scale[1]);
	if (e->linear)
		TT_TRY(check_linear(launch));
	TT_REQUIRE(in->layout != TTNN_TILE || ttnn_shape_equal(&in->padded, &in->shape),
		   "input.padded_shape() == input.logical_shape()",
		   "Tiled input must be tile-aligned (no padding difference)");
	return any_scale(e, in) && in->layout == TTNN_TILE ? refuse(launch) : TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

/* Numbers: 0 and 1 pages, 2 and 3 their bytes. */
static tt_status plan_interleaved(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool tiled = in->layout == TTNN_TILE;
	uint64_t units = tiled ? in->rows / TILE : in->rows, pages = tiled ? in->cols / TILE : 1;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), units,
			     TTNN_ORIENT_COL_MAJOR));
	work->cores[0] = split.all;
	work->number[0] = split.units[0] == 1 ? pages : 2 * pages;
	work->number[2] = tt_align_to(in->cols * tt_element_bytes(launch->inputs[0]),
				      tt_memory_alignment(launch->device, TTNN_DRAM));
	if (tiled) {
		work->number[1] = work->number[0];
		work->number[2] = tt_tile_bytes_of(in->dtype);
		work->number[3] = tt_tile_bytes_of(launch->outputs[0]->spec.dtype);
	}
	return TTNN_OK;
}

static tt_status plan_any(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), out->pages,
			     TTNN_ORIENT_COL_MAJOR));
	work->cores[0] = split.all;
	work->number[0] = 4;
	work->number[2] = tt_aligned_page(launch->outputs[0]);
	return TTNN_OK;
}

/* Runs of sticks of one core that lie beside each other in its part of the result. */
struct runs {
	uint32_t at, core;       /* stick and core of the input */
	uint32_t count, left;    /* sticks for the reader that is served, and until the next one */
	uint32_t open, most;     /* runs of this reader, and of the one with most */
	uint32_t share[2], turn; /* sticks for either reader */
	bool fresh;
};

static void take_stick(struct runs *r, uint32_t shard)
{
	bool full;

	if (r->at == shard) {
		r->at = 0;
		r->core++;
	}
	full = r->count == r->share[r->turn];
	if (full) {
		r->turn = r->share[1] ? !r->turn : 0;
		r->count = 0;
		r->open = 0;
	}
	if (r->fresh || r->at == 0 || full)
		r->open++;
	r->fresh = false;
	r->most = r->open > r->most ? r->open : r->most;
}

/* Numbers of the table for one core: four for each run, for two readers. */
static uint32_t table_width(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t shard = in->memory.shard.height, down = (uint32_t)upsample_of(launch)->scale[0];
	uint32_t sticks = shard * down;
	const uint32_t *dim = in->padded.dim;
	struct runs r = {.share = {(sticks + 1) / 2, sticks / 2}, .fresh = true};

	for (uint64_t row = 0; row < (uint64_t)dim[0] * dim[1]; row++)
		for (uint32_t j = 0; j < down; j++) {
			uint32_t at = r.at, core = r.core;

			for (uint32_t x = 0; x < dim[2]; x++, r.at++, r.count++)
				take_stick(&r, shard);
			if (j + 1 < down) {
				r.at = at;
				r.core = core;
				r.fresh = true;
			}
		}
	return 2 * 4 * r.most;
}

static tt_status cores_with_work(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_shard_spec *shard = &in->memory.shard;
	uint64_t rows = (uint64_t)in->padded.dim[0] * in->padded.dim[1] * in->padded.dim[2];
	uint64_t need = tt_div_up(rows, shard->height);
	struct ttnn_core_range box;

	*out = shard->grid;
	TT_TRY(tt_core_set_box(&box, shard->grid));
	if (in->memory.layout == TTNN_HEIGHT_SHARDED) {
		if (need >= ttnn_core_set_cores(shard->grid))
			return TTNN_OK;
		return tt_split_cores_in(out, shard->grid,
					 tt_core_set_at(shard->grid, 0, TTNN_ORIENT_ROW_MAJOR),
					 need, shard->orientation);
	}
	if (shard->orientation == TTNN_ORIENT_ROW_MAJOR && need < box.end.y - box.start.y + 1)
		box.end.y = box.start.y + (uint32_t)need - 1;
	if (shard->orientation == TTNN_ORIENT_COL_MAJOR && need < box.end.x - box.start.x + 1)
		box.end.x = box.start.x + (uint32_t)need - 1;
	return ttnn_core_set_make(out, &box, 1);
}

static tt_status make_table(struct tt_tensor **out, struct tt_launch *launch,
			    const ttnn_core_set *cores)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	uint32_t width = table_width(launch);
	struct ttnn_shard_spec shard = {.grid = cores,
					.height = 1,
					.width = width,
					.orientation = in->layout == TTNN_BLOCK_SHARDED
							       ? TTNN_ORIENT_COL_MAJOR
							       : in->shard.orientation};
	struct ttnn_spec_args args = {.shape = {2, {(uint32_t)ttnn_core_set_cores(cores), width}},
				      .dtype = TTNN_UINT16};
	struct ttnn_memory_config memory;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host;
	tt_status status;

	TT_TRY(ttnn_memory_config_sharded(&memory, TTNN_HEIGHT_SHARDED, TTNN_L1_SMALL, &shard));
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_host_hollow(&host, &spec));
	status = tt_host_to_device(out, launch->call, host, launch->device, &memory);
	ttnn_tensor_unref(host);
	return status == TTNN_OK ? tt_launch_keep(launch, *out) : status;
}

/* What the memory rows need: numbers, and the table. */
struct work {
	struct tt_move_work numbers; /* first: rows read it */
	struct tt_tensor *table;
};

/* Numbers: 0 and 1 pages, 2 and 3 their bytes, 4 bytes of the table. */
static tt_status plan_sharded(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct tt_tensor *table;

	TT_REQUIRE(in->memory.layout != TTNN_WIDTH_SHARDED, "tt::exception",
		   "Unsupported sharding layout");
	TT_TRY(cores_with_work(&work->cores[0], launch));
	TT_TRY(make_table(&table, launch, work->cores[0]));
	((struct work *)launch->work)->table = table;
	work->number[0] = in->memory.shard.height;
	work->number[1] = launch->outputs[0]->spec.memory.shard.height;
	work->number[2] = tt_aligned_page(launch->inputs[0]);
	work->number[3] = tt_aligned_page(launch->outputs[0]);
	work->number[4] = table->spec.page_bytes;
	return TTNN_OK;
}

/* Numbers: 0 sticks of the halo, 1 pages of the result, 2 bytes of a stick, 3 of a page, 4 of eight
 * tiles across or fewer, 5 of a tile. */
static tt_status plan_linear(struct tt_launch *launch, struct tt_move_work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t stick = (uint64_t)upsample_of(launch)->nhwc[3] * 2;

	work->cores[0] = in->memory.shard.grid;
	work->number[0] = in->memory.shard.height;
	work->number[1] = launch->outputs[0]->spec.memory.shard.height *
			  tt_div_up(upsample_of(launch)->nhwc[3], TILE);
	work->number[2] = stick;
	work->number[3] = 2 * TILE;
	work->number[4] = stick < 8 * 2 * TILE ? stick : 8 * 2 * TILE;
	work->number[5] = tt_tile_bytes_of(TTNN_BFLOAT16);
	return TTNN_OK;
}

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct work *all = tt_arena_calloc(launch->arena, 1, sizeof(*all));
	struct tt_move_work *work;

	if (!all)
		return tt_fail_nomem();
	launch->work = all;
	work = &all->numbers;
	*out = upsample_of(launch)->linear               ? LINEAR
	       : any_scale(upsample_of(launch), in)      ? ANY_SCALE
	       : tt_tensor_is_sharded(launch->inputs[0]) ? SHARDED
							 : INTERLEAVED;
	switch (*out) {
	case LINEAR:
		return plan_linear(launch, work);
	case INTERLEAVED:
		return plan_interleaved(launch, work);
	case SHARDED:
		return plan_sharded(launch, work);
	default:
		return plan_any(launch, work);
	}
}

static struct tt_tensor *back_table(const struct tt_launch *launch)
{
	return ((const struct work *)launch->work)->table;
}

static const struct tt_mem_row plain_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0},
	{TT_DFB, 1, .when = tt_has1, .pages = tt_number1, .page = tt_number3,
	 .cores = tt_work_cores0},
};
static const struct tt_mem_row shard_rows[] = {
	{TT_DFB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = tt_back_in0},
	{TT_DFB, 1, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0,
	 .backing = tt_back_out0},
	{TT_DFB, 2, .page_count = 1, .page = tt_number4, .cores = tt_work_cores0,
	 .backing = back_table},
};
static const struct tt_mem_row linear_rows[] = {
	{TT_CB, 0, .pages = tt_number0, .page = tt_number2, .cores = tt_work_cores0,
	 .backing = tt_back_in0},
	{TT_CB, 1, .page_count = 8, .page = tt_number4, .cores = tt_work_cores0},
	{TT_CB, 2, .page_count = 8, .page = tt_number2, .cores = tt_work_cores0},
	{TT_CB, 3, .page_count = 2, .page = tt_number5, .cores = tt_work_cores0},
	{TT_CB, 4, .page_count = 2, .page = tt_number5, .cores = tt_work_cores0},
	{TT_CB, 5, .pages = tt_number1, .page = tt_number3, .cores = tt_work_cores0,
	 .backing = tt_back_out0},
};
#define FACTORY(name_, rows_)                                                                      \
	{                                                                                          \
		"ttnn::prim::Upsample" name_ "ProgramFactory", rows_, TT_COUNT(rows_), NULL        \
	}
static const struct tt_factory factories[] = {
	[LINEAR] = FACTORY("Bilinear", linear_rows),
	[INTERLEAVED] = FACTORY("MultiCoreInterleaved", plain_rows),
	[SHARDED] = FACTORY("MultiCoreSharded", shard_rows),
	[ANY_SCALE] = FACTORY("NearestFloat", plain_rows),
};

static tt_status kernel(struct tt_launch *launch)
{
	const struct tt_upsample *e = upsample_of(launch);
	struct tt_resize_job job = {.out = launch->outputs[0],
				    .in = launch->inputs[0],
				    .linear = e->linear,
				    .window = {.batch = e->nhwc[0],
					       .height = e->nhwc[1],
					       .width = e->nhwc[2],
					       .channels = e->nhwc[3]}};
	struct tt_tensor *image = NULL;
	uint32_t out[2];
	tt_status status;

	out_size(out, e);
	job.window.out_height = out[0];
	job.window.out_width = out[1];
	if (e->linear) {
		TT_TRY(tt_halo_image(&image, launch));
		job.in = image;
	}
	status = tt_backend_get()->resize(&job);
	ttnn_tensor_unref(image);
	return status;
}

static void cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = launch->factory != &factories[LINEAR];
}

static const struct tt_prog prog = {
	.device_op = "UpsampleOperation",
	.prim = "ttnn::prim::upsample",
	.attrs = &schema,
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
	.cost = cost,
};

tt_status tt_upsample_launch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_upsample *upsample)
{
	struct ttnn_value attrs[ATTRS];
	struct tt_program_args args = {
		.prog = &prog, .attrs = attrs, .inputs = &in, .input_count = 1, .extra = upsample};

	attrs[DOWN] = ttnn_v_real((double)upsample->scale[0]);
	attrs[ACROSS] = ttnn_v_real((double)upsample->scale[1]);
	attrs[MODE] = ttnn_v_string(upsample->linear ? "bilinear" : "nearest");
	attrs[MEMORY] = ttnn_v_memory(upsample->memory);
	attrs[COMPUTE] = upsample->compute;
	attrs[SLIDE] =
		upsample->slide ? tt_slide_value(call->arena, upsample->slide) : ttnn_v_none();
	return tt_call_program(out, call, &args);
}
