/*
 * upsample_program.c: the program that makes images larger.
 *
 * Models UpsampleOperation of ttnn 0.81 (pool/upsample/device): refusals, memory, cores, the
 * size of its table, and the choice of a factory (upsample_choose()): Bilinear (over a halo),
 * NearestFloat (scales that are no whole numbers), MultiCoreSharded (each core reads from others
 * by a table), MultiCoreInterleaved. Not modelled: what is in the table.
 */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "ops/conv/parallel_config.h"
#include "ops/conv/upsample.h"
#include "ops/movement/movement.h"

/* ---- the program ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(DOWN, "scale_factor_h")                                                                  \
	X(ACROSS, "scale_factor_w")                                                                \
	X(MODE, "mode")                                                                            \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(SLIDE, "sliding_window_config")
TT_ATTRS(schema, "UpsampleParams", ATTRS);

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

/* Where a sharded result is: on the cores of the input. */
static tt_status shard_memory(struct ttnn_memory_config *out, const struct tt_launch *launch,
			      uint64_t rows)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *request = launch->attrs[MEMORY].memory;
	const struct tt_upsample *e = upsample_of(launch);
	struct tt_parallel is = tt_parallel_of(&in->memory);
	struct ttnn_shard_spec shard = request->shard;

	shard.width = in->memory.shard.width;
	if (any_scale(e, in)) {
		shard = in->memory.shard;
		shard.height = (uint32_t)tt_div_up(rows, tt_parallel_rows(&is));
		request = &in->memory;
	} else if (e->linear) {
		shard.height = (uint32_t)tt_div_up(rows, ttnn_core_set_cores(shard.grid));
	} else {
		shard.height =
			in->memory.shard.height * (uint32_t)e->scale[0] * (uint32_t)e->scale[1];
	}
	return ttnn_memory_config_sharded(out, request->layout, request->buffer, &shard);
}

/*
 * Block floats come out as bfloat16, as rows have to be written. Shards of the result are those
 * of the input with more rows each, so that a core makes its own.
 */
tt_status tt_upsample_check_rank(const struct tt_tensor *in)
{
	unsigned rank = in->spec.shape.rank;

	if (rank >= 4)
		return TTNN_OK;
	return tt_fail_cond(TTNN_INVALID, "tt::exception",
			    "ShapeBase[] index out of range. %u not in [-4, %u)", rank, rank);
}

static tt_status upsample_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_memory_config *memory = launch->attrs[MEMORY].memory;
	const struct tt_upsample *e = upsample_of(launch);
	struct ttnn_spec_args args = {.dtype = in->dtype == TTNN_BFLOAT8_B ? TTNN_BFLOAT16
									   : in->dtype,
				      .memory = *memory};
	uint32_t out[2];

	TT_TRY(tt_upsample_check_rank(launch->inputs[0]));
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
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/*
 * Bilinear ones are reduced by the engine like windows: whole scales, a halo, channels in tiles.
 */
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
	TT_REQUIRE(e->nhwc[3] % TT_TILE == 0, "in_channels % 32 == 0",
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

static tt_status upsample_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_upsample *e = upsample_of(launch);

	TT_REQUIRE(e->scale[0] > 0, "args.scale_factor_h > 0.0f",
		   "scale_factor_h must be positive, got %g", (double)e->scale[0]);
	TT_REQUIRE(e->scale[1] > 0, "args.scale_factor_w > 0.0f",
		   "scale_factor_w must be positive, got %g", (double)e->scale[1]);
	TT_REQUIRE(e->linear || strcmp(e->mode, "nearest") == 0,
		   "args.mode == \"bilinear\" || args.mode == \"nearest\"",
		   "mode must be 'nearest' or 'bilinear'");
	if (e->linear)
		TT_TRY(check_linear(launch));
	TT_REQUIRE(in->layout != TTNN_TILE || ttnn_shape_equal(&in->padded, &in->shape),
		   "input.padded_shape() == input.logical_shape()",
		   "Tiled input must be tile-aligned (no padding difference)");
	return any_scale(e, in) && in->layout == TTNN_TILE ? refuse(launch) : TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

/*
 * A unit is a row of the image, or a row of tiles, which is untilized first; one unit is not
 * doubled.
 */
static tt_status upsample_interleaved_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	bool tiled = in->layout == TTNN_TILE;
	uint64_t units = tiled ? in->rows / TT_TILE : in->rows,
		 pages = tiled ? in->cols / TT_TILE : 1;
	uint64_t row = tt_align_to(in->cols * tt_element_bytes(launch->inputs[0]),
				   tt_memory_alignment(launch->device, TTNN_DRAM));
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), units,
			     TTNN_ORIENT_COL_MAJOR));
	pages *= split.units[0] == 1 ? 1 : 2;
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "src", .pages = pages,
				  .page = tiled ? tt_tile_bytes_of(in->dtype) : row),
		       TT_DFB_ROW(1, "untilize_out", .pages = tiled ? pages : 0,
				  .page = tt_tile_bytes_of(launch->outputs[0]->spec.dtype)));
}

/* Pages of the result that are on their way. */
#define PAGES_AT_ONCE 4

static tt_status upsample_any_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_tensor *out = launch->outputs[0];
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->device->grid), out->spec.pages,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "out", .pages = PAGES_AT_ONCE, .page = tt_aligned_page(out)));
}

/* Runs of sticks of one core that are beside each other in its part of the result. */
struct runs {
	uint32_t at, core;    /* stick and core of the input */
	uint32_t count, left; /* sticks for the reader that is served, and until the next one */
	uint32_t open, most;  /* runs of this reader, and of the one with most */
	uint32_t share[2], reader; /* sticks for either reader */
	bool fresh;
};

/*
 * One stick of the result: it opens a new run where its source is on another core, where the
 * shard of the result is full, or at the beginning. The table has to hold the runs of the core
 * with most.
 */
static void take_stick(struct runs *r, uint32_t shard)
{
	bool full;

	if (r->at == shard) {
		r->at = 0;
		r->core++;
	}
	full = r->count == r->share[r->reader];
	if (full) {
		r->reader = r->share[1] ? !r->reader : 0;
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

/*
 * Images smaller than their shards leave the last cores without any: those are not in the
 * program.
 */
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

/*
 * The table goes to L1_SMALL, a row for each core, and stays with the program: cached programs
 * use it again. Its values never matter here, so the host tensor is hollow.
 */
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

/* What choose() made for the sharded program. */
struct work {
	const ttnn_core_set *cores;
	struct tt_tensor *table;
};

static tt_status upsample_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct work *work;

	*out = upsample_of(launch)->linear               ? LINEAR
	       : any_scale(upsample_of(launch), in)      ? ANY_SCALE
	       : tt_tensor_is_sharded(launch->inputs[0]) ? SHARDED
							 : INTERLEAVED;
	if (*out != SHARDED)
		return TTNN_OK;
	TT_REQUIRE(in->memory.layout != TTNN_WIDTH_SHARDED, "tt::exception",
		   "Unsupported sharding layout");
	work = launch->work = tt_arena_calloc(launch->arena, 1, sizeof(*work));
	TT_NEED_MEMORY(work);
	TT_TRY(cores_with_work(&work->cores, launch));
	return make_table(&work->table, launch, work->cores);
}

/* Nothing is copied but by the readers: input, result and table are buffers as they are. */
static tt_status upsample_sharded_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	const struct work *work = launch->work;

	return TT_PLAN(plan, work->cores,
		       TT_DFB_ROW(0, "src", .pages = in->spec.memory.shard.height,
				  .page = tt_aligned_page(in), .backing = in),
		       TT_DFB_ROW(1, "out", .pages = out->spec.memory.shard.height,
				  .page = tt_aligned_page(out), .backing = out),
		       TT_DFB_ROW(2, "config", .pages = 1, .page = work->table->spec.page_bytes,
				  .backing = work->table));
}

/* Four neighbours of a point, twice; and tiles of channels that are reduced at once. */
#define NEIGHBOURS 8
#define MOST_TILES 8

/*
 * Two readers bring the four neighbours of a point as rows of a tile; the engine weighs them by
 * a scalar tile.
 */
static tt_status upsample_linear_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0];
	uint32_t channels = upsample_of(launch)->nhwc[3];
	uint64_t stick = channels * sizeof(uint16_t), row = TT_TILE * sizeof(uint16_t);
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t reduced = stick < MOST_TILES * row ? stick : MOST_TILES * row;

	return TT_PLAN(
		plan, in->spec.memory.shard.grid,
		TT_CB_ROW(0, "halo", .pages = in->spec.memory.shard.height, .page = stick,
			  .backing = in),
		TT_CB_ROW(1, "tilize_reduce_0", .pages = NEIGHBOURS, .page = reduced),
		TT_CB_ROW(2, "tilize_reduce_1", .pages = NEIGHBOURS, .page = stick),
		TT_CB_ROW(3, "in_scalar_1", .pages = 2, .page = tile),
		TT_CB_ROW(4, "in_scalar_2", .pages = 2, .page = tile),
		TT_CB_ROW(5, "out",
			  .pages = out->spec.memory.shard.height * tt_div_up(channels, TT_TILE),
			  .page = row, .backing = out));
}

#define FACTORY(name_, memory_)                                                                    \
	{                                                                                          \
		.name = "ttnn::prim::Upsample" name_ "ProgramFactory", .memory = memory_           \
	}
static const struct tt_factory factories[] = {
	[LINEAR] = FACTORY("Bilinear", upsample_linear_memory),
	[INTERLEAVED] = FACTORY("MultiCoreInterleaved", upsample_interleaved_memory),
	[SHARDED] = FACTORY("MultiCoreSharded", upsample_sharded_memory),
	[ANY_SCALE] = FACTORY("NearestFloat", upsample_any_memory),
};

static tt_status upsample_kernel(struct tt_launch *launch)
{
	const struct tt_upsample *e = upsample_of(launch);
	struct tt_resize_job job = {.out = launch->outputs[0],
				    .in = launch->inputs[0],
				    .linear = e->linear,
				    .window = {.batch = e->nhwc[0],
					       .height = e->nhwc[1],
					       .width = e->nhwc[2],
					       .channels = e->nhwc[3]}};
	uint32_t out[2];

	out_size(out, e);
	job.window.out_height = out[0];
	job.window.out_width = out[1];
	if (e->linear)
		TT_TRY(tt_halo_image(&job.in, launch));
	return tt_backend_get()->resize(&job);
}

static void upsample_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	cost->moves = launch->factory != &factories[LINEAR];
}

static const struct tt_prog prog = {
	.device_op = "UpsampleOperation",
	.prim = "ttnn::prim::upsample",
	.attrs = &schema,
	.infer = upsample_infer,
	.validate = upsample_validate,
	TT_FACTORIES(factories),
	.choose = upsample_choose,
	TT_KERNEL(upsample_kernel),
	.cost = upsample_cost,
};

tt_status tt_upsample_launch(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_upsample *upsample)
{
	struct ttnn_value attrs[schema_count];

	attrs[DOWN] = ttnn_v_real((double)upsample->scale[0]);
	attrs[ACROSS] = ttnn_v_real((double)upsample->scale[1]);
	attrs[MODE] = ttnn_v_string(upsample->mode);
	attrs[MEMORY] = ttnn_v_memory(upsample->memory);
	attrs[COMPUTE] = upsample->compute;
	attrs[SLIDE] =
		upsample->slide ? tt_slide_value(call->arena, upsample->slide) : ttnn_v_none();
	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(in), .extra = upsample);
}
