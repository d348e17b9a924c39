/*
 * halo.c: the sticks that windows reach, gathered from other cores.
 *
 * Models HaloDeviceOperation of ttnn 0.81 (sliding_window/halo/device) with
 * UntilizeWithHaloProgramFactory: memory, cores, and the sizes of its tables (sliding_window.c).
 * Tiles become rows on the way, a block of 32 rows at a time by two readers. Not modelled: what
 * is in the tables.
 */
#include "ops/conv/halo.h"

#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "ops/compute.h"
#include "ops/conv/parallel_config.h"
#include "ops/cost.h"
#include "ops/mem_rows.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"
#include "ops/scratch.h"
#include "ops/usual.h"
#include "tensor/core.h"
#include "tensor/shape.h"
#include "tensor/spec.h"
#include "tensor/tile.h"

uint64_t tt_l1_used(struct tt_device *device)
{
	return tt_allocator_stats(&device->memory->allocator, TTNN_L1).taken;
}

/*
 * Buffers that are numbered as they come, as upstream's newer factories do: one that has no
 * pages takes no number from those behind it.
 */
tt_status tt_plan_numbered(struct tt_plan *plan, const ttnn_core_set *cores,
			   const struct tt_buffer_row *rows, size_t count)
{
	uint32_t next = 0;

	for (size_t i = 0; i < count; i++) {
		struct tt_buffer_row row = rows[i];

		if (!row.pages)
			continue;
		row.index = next++;
		TT_TRY(tt_plan_buffers(plan, cores, &row, 1));
	}
	return TTNN_OK;
}

/* ---- the program ------------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(SLIDE, "config")                                                                         \
	X(PARALLEL, "parallel_config")                                                             \
	X(PAD_VALUE, "pad_val")                                                                    \
	X(REMOTE_READ, "remote_read")                                                              \
	X(TRANSPOSE, "transpose_mcast")                                                            \
	X(OUT_STICKS, "max_out_nsticks_per_core")                                                  \
	X(IN_STICKS, "in_nsticks_per_core")                                                        \
	X(MEMORY, "output_memory_config")                                                          \
	X(TILED, "is_out_tiled")                                                                   \
	X(IN_DRAM, "config_tensors_in_dram")                                                       \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "HaloParams", ATTRS);

static enum ttnn_dtype halo_dtype(enum ttnn_dtype dtype)
{
	return dtype == TTNN_FLOAT32 || dtype == TTNN_UINT16 ? dtype : TTNN_BFLOAT16;
}

/*
 * As many sticks on every core as the core with most needs, whatever the others have. The shape
 * says how many there are in all, so a halo has no images any more.
 */
static tt_status halo_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_slide *slide = launch->extra;
	uint32_t sticks = (uint32_t)launch->attrs[OUT_STICKS].integer;
	struct ttnn_shard_spec shard = in->memory.shard;
	struct ttnn_spec_args args = {.shape = in->padded, .dtype = halo_dtype(in->dtype)};
	struct ttnn_shape padded;

	launch->output_count = 1;
	args.shape.dim[2] =
		(uint32_t)tt_div_up((uint64_t)slide->cores_nhw * sticks, args.shape.dim[0]);
	shard.height = (uint32_t)tt_div_up((uint64_t)args.shape.dim[0] * args.shape.dim[2],
					   slide->cores_nhw);
	TT_TRY(ttnn_memory_config_sharded(&args.memory, in->memory.layout, in->memory.buffer,
					  &shard));
	padded = args.shape;
	padded.dim[2] = (uint32_t)tt_align_to(padded.dim[2], shard.height);
	padded.dim[3] = (uint32_t)tt_align_to(padded.dim[3], shard.width);
	return tt_tensor_spec_padded(&launch->specs[0], &args, &padded);
}

static tt_status halo_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR || in->rows * in->cols % 1024 == 0,
		   "input_tensor.physical_volume() % tt::constants::TILE_HW == 0",
		   "Input tensor physical volume (%u) must be divisible by TILE_HW (1024)",
		   (unsigned)(in->rows * in->cols));
	return TTNN_OK;
}

static uint32_t repeats(const struct ttnn_memory_config *memory)
{
	struct tt_parallel parallel = tt_parallel_of(memory);

	return tt_parallel_channels(&parallel);
}

/*
 * A row of the table for each core, in L1_SMALL: memory apart from L1, so that what is kept for
 * long does not cut it up. The readers of block shards count cores the other way round.
 */
static tt_status table_memory(struct ttnn_memory_config *out, const struct ttnn_memory_config *in,
			      uint32_t width)
{
	struct ttnn_shard_spec shard = {.grid = in->shard.grid,
					.height = 1,
					.width = width,
					.orientation = TTNN_ORIENT_ROW_MAJOR};

	if (in->layout == TTNN_BLOCK_SHARDED && in->shard.orientation == TTNN_ORIENT_ROW_MAJOR)
		shard.orientation = TTNN_ORIENT_COL_MAJOR;
	return ttnn_memory_config_sharded(out, TTNN_HEIGHT_SHARDED, TTNN_L1_SMALL, &shard);
}

/*
 * All tables are made on the host before any goes to the device: that is the order of
 * allocations. In DRAM one row serves all cores of a column; in L1 every core has its own.
 */
tt_status tt_halo_tables(struct tt_tensor **out, struct tt_launch *launch,
			 const struct tt_halo_tables *tables)
{
	const struct ttnn_memory_config *in = &launch->inputs[0]->spec.memory;
	uint32_t rows = tables->cores * (tables->in_dram ? 1 : repeats(in));
	struct ttnn_memory_config memory = {.layout = TTNN_INTERLEAVED, .buffer = TTNN_DRAM};
	struct tt_tensor *host[TT_KEPT_MAX] = {NULL};
	tt_status status = TTNN_OK;

	for (size_t i = 0; i < tables->count && status == TTNN_OK; i++) {
		struct ttnn_spec_args args = {.shape = TT_SHAPE(rows, tables->widths[i]),
					      .dtype = TTNN_UINT16};
		struct ttnn_tensor_spec spec;

		status = ttnn_tensor_spec_make(&spec, &args);
		if (status == TTNN_OK)
			status = tt_host_hollow(&host[i], &spec);
	}
	for (size_t i = 0; i < tables->count && status == TTNN_OK; i++) {
		if (!tables->in_dram)
			status = table_memory(&memory, in, tables->widths[i]);
		if (status == TTNN_OK)
			status = tt_host_to_device(&out[i], launch->call, host[i], launch->device,
						   &memory);
		if (status == TTNN_OK)
			status = tt_launch_keep(launch, out[i]);
	}
	for (size_t i = 0; i < TT_KEPT_MAX; i++)
		ttnn_tensor_unref(host[i]);
	return status;
}

/* What the memory rows need. */
struct work {
	uint64_t in_page, in_pages, stick, block;
	struct tt_tensor *tables[4]; /* NULL in DRAM */
	uint64_t widths[4];          /* bytes */
};

/* Padding for both readers, then sticks for both: four tables. */
static tt_status make_tables(struct tt_launch *launch, struct work *work)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_slide *slide = launch->extra;
	bool in_dram = launch->attrs[IN_DRAM].boolean;
	struct tt_slide_source source = {.shard_height = in->memory.shard.height,
					 .tiled = in->layout == TTNN_TILE,
					 .block = in->memory.layout == TTNN_BLOCK_SHARDED,
					 .transposed = launch->attrs[TRANSPOSE].boolean};
	struct ttnn_core_range box;
	struct tt_tensor *made[4];
	uint32_t widths[4];
	struct tt_halo_tables tables = {slide->cores_nhw, widths, 4, in_dram};

	/* A dry run asks nobody for that memory, and would list all that it cannot have. */
	TT_NEED((uint64_t)launch->attrs[OUT_STICKS].integer <= launch->device->info.l1_size,
		"a core has no room for the %" PRId64 " elements that it would gather",
		launch->attrs[OUT_STICKS].integer);
	TT_TRY(tt_core_set_box(&box, in->memory.shard.grid));
	source.box_width = box.end.x - box.start.x + 1;
	TT_TRY(tt_slide_halo_tables(widths, launch->arena, slide, &source, launch->device));
	TT_TRY(tt_halo_tables(made, launch, &tables));
	for (int i = 0; i < 4; i++) {
		work->tables[i] = in_dram ? NULL : made[i];
		work->widths[i] = made[i]->spec.page_bytes;
	}
	return TTNN_OK;
}

/* Tiles are untilized a row of tiles at a time, twice, for two readers that take turns. */
static tt_status halo_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *halo = &launch->outputs[0]->spec;
	uint64_t rows = in->memory.shard.height;
	uint64_t tiles = tt_div_up(in->memory.shard.width, TT_TILE);
	struct work *work = tt_arena_calloc(launch->arena, 1, sizeof(*work));

	if (!work)
		return tt_fail_nomem();
	*out = 0;
	launch->work = work;
	work->in_page = tt_tile_bytes_of(in->dtype);
	work->in_pages = tiles * tt_div_up(rows, TT_TILE);
	if (in->layout == TTNN_ROW_MAJOR) {
		work->in_page =
			tt_align_to(in->memory.shard.width * tt_element_bytes(launch->inputs[0]),
				    tt_page_alignment(launch->inputs[0]));
		work->in_pages = rows;
	} else {
		work->block = 2 * tiles * tt_tile_bytes_of(halo->dtype);
	}
	work->stick = tt_align_to(halo->memory.shard.width * tt_element_bytes(launch->outputs[0]),
				  tt_page_alignment(launch->inputs[0]));
	return make_tables(launch, work);
}

/*
 * The shard and the halo are buffers as they are; new are a stick of padding for each reader and
 * what untilizing needs.
 */
static tt_status halo_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work *work = launch->work;
	uint64_t sticks = (uint64_t)launch->attrs[OUT_STICKS].integer;
	const uint64_t *widths = work->widths;
	struct tt_tensor *const *tables = work->tables;
	bool untilizes = work->block != 0;

	return TT_PLAN_NUMBERED(
		plan, launch->outputs[0]->spec.memory.shard.grid,
		TT_CB_ROW(0, "src", .pages = 1, .page = work->in_page * work->in_pages,
			  .backing = launch->inputs[0]),
		TT_CB_ROW(0, "out", .pages = 1, .page = work->stick * sticks,
			  .backing = launch->outputs[0]),
		TT_CB_ROW(0, "pad0", .pages = 1, .page = work->stick),
		TT_CB_ROW(0, "pad1", .pages = 1, .page = work->stick),
		TT_CB_ROW(0, "untilize_out0", .pages = untilizes, .page = work->block),
		TT_CB_ROW(0, "untilize_out1", .pages = untilizes, .page = work->block),
		TT_CB_ROW(0, "padding_config0", .pages = 1, .page = widths[0],
			  .backing = tables[0]),
		TT_CB_ROW(0, "padding_config1", .pages = 1, .page = widths[1],
			  .backing = tables[1]),
		TT_CB_ROW(0, "gather_config0", .pages = 1, .page = widths[2], .backing = tables[2]),
		TT_CB_ROW(0, "gather_config1", .pages = 1, .page = widths[3],
			  .backing = tables[3]));
}

/* See halo.h: nothing reads its values, unless they are padded images. */
static tt_status halo_kernel(struct tt_launch *launch)
{
	const struct tt_slide *slide = launch->extra;
	const uint32_t *in = slide->in, *pad = slide->pad;
	int64_t width = (int64_t)in[1] + pad[2] + pad[3], height = (int64_t)in[0] + pad[0] + pad[1];
	uint32_t channels = launch->inputs[0]->spec.shape.dim[3];
	const struct tt_move_loop loops[] = {
		{slide->batch, 2, 2, (int64_t)in[0] * in[1], height * width},
		{in[0], 2, 2, in[1], width},
		{in[1], 2, 2, 1, 1},
		{channels, 3, 3, 1, 1},
	};
	struct tt_move_job job = {.out = launch->outputs[0],
				  .in = launch->inputs[0],
				  .loops = loops,
				  .loop_count = TT_COUNT(loops),
				  .out_start = {0, 0, pad[0] * width + pad[2], 0}};
	bool image = slide->window[0] * slide->window[1] == 1 && slide->stride[0] == 1 &&
		     slide->stride[1] == 1 && !slide->bilinear && !slide->transpose;

	if (!image || job.out->spec.shape.dim[2] < slide->batch * height * width)
		return TTNN_OK;
	TT_TRY(tt_backend_get()->fill(job.out, 0, TT_FILL_ALL));
	return tt_backend_get()->move(&job);
}

static const struct tt_prog prog = {
	.device_op = "HaloDeviceOperation",
	.prim = "ttnn::prim::halo",
	.attrs = &schema,
	.infer = halo_infer,
	.validate = halo_validate,
	TT_FACTORY("ttnn::prim::UntilizeWithHaloProgramFactory", halo_memory),
	.choose = halo_choose,
	TT_KERNEL(halo_kernel),
	.cost = tt_cost_moved_tensors,
	.drops_kept = true,
};

static tt_status launch_halo(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			     const struct tt_halo_args *args)
{
	static const struct ttnn_memory_config none = {.layout = TTNN_INTERLEAVED,
						       .buffer = TTNN_DRAM};
	struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true, .fp32 = args->fp32};
	struct tt_parallel parallel = tt_parallel_of(&in->spec.memory);
	struct ttnn_value parts[TT_PARALLEL_FIELDS], attrs[schema_count];
	struct tt_program_args program = {.prog = &prog,
					  .attrs = attrs,
					  .inputs = &in,
					  .input_count = 1,
					  .extra = args->slide};

	attrs[SLIDE] = tt_slide_value(call->arena, args->slide);
	attrs[PARALLEL] = tt_parallel_value(parts, &parallel);
	attrs[PAD_VALUE] = ttnn_v_int(args->pad_value);
	attrs[REMOTE_READ] = ttnn_v_bool(false);
	attrs[TRANSPOSE] = ttnn_v_bool(parallel.orientation == TTNN_ORIENT_COL_MAJOR);
	attrs[OUT_STICKS] = ttnn_v_int(tt_slide_halo_sticks(args->slide));
	attrs[IN_STICKS] = ttnn_v_int(in->spec.memory.shard.height);
	attrs[MEMORY] = ttnn_v_memory(&none);
	attrs[TILED] = ttnn_v_bool(args->tiled_out);
	attrs[IN_DRAM] = ttnn_v_bool(args->tables_in_dram);
	attrs[COMPUTE] = tt_compute_config(call, args->compute, &usual);
	return tt_call_program(out, call, &program);
}

/*
 * Launches it, and gives the input up where the caller allows. Backends never see a halo: they
 * take the image, which lives on as a ghost that has data but no address.
 */
tt_status tt_halo(struct tt_haloed *out, struct tt_call *call, struct tt_tensor *in,
		  const struct tt_halo_args *args)
{
	struct ttnn_arg move = {"input_tensor", {0}};
	struct tt_tensor *halo, *moved;
	tt_status status;
	bool before;

	if (!ttnn_tensor_is_allocated(in))
		return tt_fail_cond(TTNN_INVALID, "tt::exception", "Tensor is not allocated");
	TT_TRY(launch_halo(&halo, call, in, args));
	before = tt_tensor_hide(true); /* only kernels see it */
	status = tt_device_tensor_ghost(&out->image, in);
	tt_tensor_hide(before);
	if (status != TTNN_OK) {
		tt_call_drop(call, halo);
		return status;
	}
	if (args->free_input)
		tt_call_deallocate(call, in);
	if (args->take_input)
		tt_call_overwrite(call, in);
	out->halo = halo;
	if (!args->move_output)
		return TTNN_OK;
	move.value = ttnn_v_tensor(halo);
	status = tt_call_op(&moved, call, "ttnn.move", &move, 1);
	tt_call_drop(call, halo);
	if (status == TTNN_OK) {
		out->halo = moved;
		return TTNN_OK;
	}
	ttnn_tensor_unref(out->image);
	*out = (struct tt_haloed){0};
	return status;
}

tt_status tt_halo_image(struct tt_tensor **out, const struct tt_launch *launch)
{
	const struct tt_haloed *haloed = launch->extra;

	TT_TRY(tt_tensor_resident(out, haloed->image, launch->chip, TT_BUFFER_READ));
	return tt_scratch_keep(*out);
}
