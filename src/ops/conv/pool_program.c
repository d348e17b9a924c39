/*
 * pool_program.c: the program that reduces windows.
 *
 * Models the device operation Pool2D of ttnn 0.81 (pool/generic/device) with its factory
 * MultiCore: refusals, memory, cores, and the sizes of its tables. A window's sticks are read
 * into a page and reduced by the engine, several channels at once (pool_plan.c); an average
 * multiplies by a scalar, of which a table has those that differ. Not modelled: what is in the
 * tables.
 */
#include <inttypes.h>

#include "ops/conv/pool_ops.h"
#include "ops/movement/movement.h"

#define ELEMENT 2u
#define TILE_BYTES 2048u

#define ATTRS(X)                                                                                   \
	X(SLIDE, "sliding_window_config_")                                                         \
	X(KIND, "pool_type_")                                                                      \
	X(DTYPE, "output_dtype_")                                                                  \
	X(LAYOUT, "output_layout_")                                                                \
	X(MEMORY, "memory_config_")                                                                \
	X(COMPUTE, "compute_kernel_config_")                                                       \
	X(COUNT_PADDING, "count_include_pad_")                                                     \
	X(DIVISOR, "divisor_override_")                                                            \
	X(INDICES, "return_indices_")                                                              \
	X(USED, "memory_used", .unkeyed = true)                                                    \
	X(IN_DRAM, "config_tensor_in_dram")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

static const struct tt_enum_row kind_rows[] = {
	{TT_POOL_MAX, "MAX_POOL2D"},
	{TT_POOL_AVERAGE, "AVG_POOL2D"},
};
static const struct tt_enum kinds = {"Pool2DType", kind_rows, TT_COUNT(kind_rows)};

/* What the launcher hands over. */
struct extra {
	struct tt_haloed haloed; /* first: for tt_halo_image() */
	const struct tt_pool *pool;
};

static const struct tt_pool *pool_of(const struct tt_launch *launch)
{
	return ((const struct extra *)launch->extra)->pool;
}

/*
 * Rows that divide evenly over the cores, channels rounded up to what the packer writes
 * (tt_pool_unit()).
 */
static tt_status pool_infer(struct tt_launch *launch)
{
	const struct tt_pool *pool = pool_of(launch);
	const struct tt_slide *slide = &pool->slide;
	bool tiled = pool->layout == TTNN_TILE;
	uint32_t unit = tiled ? TT_TILE : 1, out[2], shards;
	struct ttnn_spec_args args = {.dtype = pool->dtype,
				      .layout = pool->layout,
				      .memory = *launch->attrs[MEMORY].memory};
	struct ttnn_shape padded;

	tt_slide_out(out, slide);
	shards = args.memory.layout == TTNN_HEIGHT_SHARDED && !tiled ? 1 : slide->cores_c;
	args.shape =
		(struct ttnn_shape){4, {1, 1, slide->batch * out[0] * out[1], slide->channels}};
	padded = args.shape;
	padded.dim[2] = (uint32_t)tt_align_to(padded.dim[2], (uint64_t)unit * slide->cores_nhw);
	padded.dim[3] = (uint32_t)tt_align_to(padded.dim[3], tt_pool_unit(pool) * shards);
	TT_TRY(tt_tensor_spec_padded(&launch->specs[0], &args, &padded));
	if (!pool->indices)
		return TTNN_OK;
	args.dtype = tt_pool_index_dtype(slide);
	launch->output_count = 2;
	return tt_tensor_spec_padded(&launch->specs[1], &args, &padded);
}

static tt_status pool_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct tt_pool *pool = pool_of(launch);
	uint32_t shards = pool->slide.cores_c;

	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "input.dtype() == DataType::BFLOAT16",
		   "Only BFLOAT16 supported for now");
	TT_REQUIRE(!pool->indices || pool->layout == TTNN_ROW_MAJOR,
		   "output_layout == Layout::ROW_MAJOR",
		   "Only ROW_MAJOR supported when return_indices is true");
	TT_REQUIRE(in->memory.layout == TTNN_HEIGHT_SHARDED || in->padded.dim[3] % shards == 0,
		   "input_shape[3] % num_shards_c == 0",
		   "For width and block sharding, input channels (%u) should be divisible by "
		   "num_shards (%u)",
		   in->padded.dim[3], shards);
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

struct work {
	struct tt_pool_blocks blocks;
	uint32_t windows; /* numbers in the table of windows */
	struct tt_tensor *table, *scalars;
};

/* Tables that stay with the program: of windows, and of divisors where they differ. */
static tt_status pool_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct tt_pool *pool = pool_of(launch);
	const struct tt_slide *slide = &pool->slide;
	struct work *work = tt_arena_calloc(launch->arena, 1, sizeof(*work));
	const struct ttnn_memory_config *memory = &launch->inputs[0]->spec.memory;
	uint32_t share = launch->outputs[0]->spec.memory.shard.height, width;
	const struct tt_halo_tables tables = {slide->cores_nhw, &width, 1, pool->tables_in_dram};

	TT_NEED_MEMORY(work);
	*out = 0;
	launch->work = work;
	TT_TRY(tt_pool_blocks(&work->blocks, pool, slide->cores_c));
	work->windows = tt_slide_window_table(slide, slide->stride[1], 0, 0);
	width = work->windows + work->windows % 2;
	TT_TRY(tt_halo_tables(&work->table, launch, &tables));
	if (work->blocks.one_scalar)
		return TTNN_OK;
	width = 3 * tt_pool_scalars(pool, memory->layout, share);
	return tt_halo_tables(&work->scalars, launch, &tables);
}

/* The sticks of a shard, as wide as their channels are without padding. */
static uint64_t raw_bytes(const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->inputs[0]->spec.memory.shard;
	const struct tt_slide *slide = &pool_of(launch)->slide;
	uint32_t rest = slide->channels % shard->width;
	uint32_t channels = rest && slide->cores_c > 1
				    ? (slide->channels - rest) / (slide->cores_c - 1)
				    : slide->channels / slide->cores_c;

	return (uint64_t)shard->height * channels * ELEMENT;
}

static uint64_t out_bytes(const struct tt_launch *launch)
{
	const struct ttnn_shard_spec *shard = &launch->outputs[0]->spec.memory.shard;
	const struct tt_pool *pool = pool_of(launch);

	if (pool->layout == TTNN_TILE)
		return (uint64_t)shard->height * shard->width / 1024 *
		       tt_tile_bytes_of(pool->dtype);
	return (uint64_t)shard->height * (shard->width / TT_FACE) * TT_FACE * ELEMENT;
}

/*
 * Upstream's dry runs take other tensors in L1 for a sign that they are none, and then miss what the
 * outputs' buffers should take.
 */
static tt_status check_outputs(const struct tt_launch *launch)
{
	bool dry = tt_run_mode() == TTNN_RUN_NO_DISPATCH;
	uint64_t outputs = out_bytes(launch) * launch->output_count;

	TT_REQUIRE(!dry || launch->attrs[USED].integer == 0,
		   "actual_global_cb_size == cb_sizes.global_cb_total() || "
		   "is_graph_capture_no_dispatch_mode",
		   "Global CB size mismatch: actual 0 != expected %" PRIu64, outputs);
	return TTNN_OK;
}

/*
 * Two readers fill pages in turn. Indices need tiles of places besides, for large windows twice.
 */
static tt_status pool_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct tt_pool *pool = pool_of(launch);
	const struct work *work = launch->work;
	bool in_dram = pool->tables_in_dram;
	uint64_t index_bytes = in_dram ? tt_align_to((uint64_t)work->windows * ELEMENT, 4)
				       : tt_align_to(work->windows, 4);
	uint64_t in_page = 2 * work->blocks.in_page, out = out_bytes(launch);
	bool tiled = pool->layout == TTNN_TILE, two = !work->blocks.one_scalar;
	bool indices = pool->indices, large = indices && work->blocks.large;
	uint64_t index = indices ? tt_element_bytes(launch->outputs[1]) : 0;
	uint64_t places = index * TT_TILE * TT_TILE;

	TT_TRY(TT_PLAN_NUMBERED(
		plan, launch->inputs[0]->spec.memory.shard.grid,
		TT_CB_ROW(0, "in_scalar_0", .pages = 1, .page = 2 * TILE_BYTES),
		TT_CB_ROW(0, "in_scalar_1", .pages = two, .page = 2 * TILE_BYTES),
		TT_CB_ROW(0, "clear_value", .pages = 1, .page = TILE_BYTES),
		TT_CB_ROW(0, "raw_in", .pages = 1, .page = raw_bytes(launch),
			  .backing = launch->inputs[0]),
		TT_CB_ROW(0, "in_reader_indices", .pages = 1, .page = index_bytes,
			  .backing = in_dram ? NULL : work->table),
		TT_CB_ROW(0, "in_0", .pages = 1, .page = in_page),
		TT_CB_ROW(0, "in_1", .pages = 1, .page = in_page),
		TT_CB_ROW(0, "in_idx", .pages = indices, .page = places),
		TT_CB_ROW(0, "pack_tmp", .pages = indices, .page = TILE_BYTES),
		TT_CB_ROW(0, "pack_idx_tmp", .pages = indices, .page = places),
		TT_CB_ROW(0, "right_inc", .pages = indices, .page = places),
		TT_CB_ROW(0, "down_left_wrap_inc", .pages = indices, .page = places),
		TT_CB_ROW(0, "up_left_wrap_inc", .pages = indices, .page = places),
		TT_CB_ROW(0, "compute_tmp_idx", .pages = indices, .page = places),
		TT_CB_ROW(0, "intra_kernel_right_inc", .pages = large, .page = places),
		TT_CB_ROW(0, "intra_kernel_down_left_wrap_inc", .pages = large, .page = places),
		TT_CB_ROW(0, "pre_tilize", .pages = tiled,
			  .page = (uint64_t)work->blocks.in_tiles * TILE_BYTES),
		TT_CB_ROW(0, "out", .pages = 1, .page = out, .backing = launch->outputs[0]),
		TT_CB_ROW(0, "out_idx", .pages = indices, .page = out / ELEMENT * index,
			  .backing = indices ? launch->outputs[1] : NULL),
		TT_CB_ROW(0, "config", .pages = work->scalars != NULL,
			  .page = work->scalars ? work->scalars->spec.page_bytes : 0,
			  .backing = in_dram ? NULL : work->scalars)));
	return check_outputs(launch);
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

/* Padding that only ceil_mode added is none of the image's: an average does not count it. */
static tt_status pool_kernel(struct tt_launch *launch)
{
	const struct tt_pool *pool = pool_of(launch);
	const struct tt_slide *s = &pool->slide;
	struct tt_pool_job job = {
		.out = launch->outputs[0],
		.indices = pool->indices ? launch->outputs[1] : NULL,
		.kind = pool->kind,
		.window = {.batch = s->batch,
			   .height = s->in[0],
			   .width = s->in[1],
			   .kernel = {s->window[0], s->window[1]},
			   .stride = {s->stride[0], s->stride[1]},
			   .dilation = {s->dilation[0], s->dilation[1]},
			   .pad = {s->pad[0], s->pad[2], s->pad[1], s->pad[3] - pool->beyond}},
		.count_padding = pool->count_padding,
		.divisor = (double)pool->divisor,
	};
	uint32_t out[2];

	tt_slide_out(out, s);
	job.window.out_height = out[0];
	job.window.out_width = out[1];
	job.window.channels = s->channels;
	TT_TRY(tt_halo_image(&job.in, launch));
	return tt_backend_get()->pool(&job);
}

/* For profiles: every element of every window, over the cores. */
static void pool_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct tt_slide *slide = &pool_of(launch)->slide;
	uint32_t out[2];

	tt_slide_out(out, slide);
	cost->modelled = true;
	cost->inputs = 1;
	cost->cycles = tt_perf_pool_cycles((uint64_t)slide->window[0] * slide->window[1] * out[0] *
						   out[1] * slide->channels * slide->batch,
					   (uint32_t)ttnn_core_set_cores(cost->cores));
}

static const struct tt_prog prog = {
	.device_op = "Pool2D",
	.prim = "ttnn::prim::pool2d",
	.attrs = &schema,
	.infer = pool_infer,
	.validate = pool_validate,
	TT_FACTORY("ttnn::operations::pool::Pool2D::MultiCore", pool_memory),
	.choose = pool_choose,
	TT_KERNEL(pool_kernel),
	.cost = pool_cost,
	.drops_kept = true,
	.drops_forward = true,
};

tt_status tt_pool_launch(struct tt_tensor **out, size_t *count, struct tt_call *call,
			 const struct tt_haloed *haloed, const struct tt_pool *pool)
{
	struct tt_device *device = tt_tensor_device(haloed->halo);
	struct extra extra = {*haloed, pool};
	struct ttnn_value attrs[schema_count];
	struct tt_program_args args = {.prog = &prog,
				       .attrs = attrs,
				       .inputs = (struct tt_tensor *const *)&haloed->halo,
				       .input_count = 1,
				       .extra = &extra};

	attrs[SLIDE] = tt_slide_value(call->arena, &pool->slide);
	attrs[KIND] = tt_value_enum(&kinds, pool->kind);
	attrs[DTYPE] = ttnn_v_dtype(pool->dtype);
	attrs[LAYOUT] = ttnn_v_layout(pool->layout);
	attrs[MEMORY] = ttnn_v_memory(pool->memory);
	attrs[COMPUTE] = pool->compute;
	attrs[COUNT_PADDING] = ttnn_v_bool(pool->count_padding);
	attrs[DIVISOR] = pool->divisor ? ttnn_v_int(pool->divisor) : ttnn_v_none();
	attrs[INDICES] = ttnn_v_bool(pool->indices);
	attrs[USED] = ttnn_v_int((int64_t)tt_l1_used(device));
	attrs[IN_DRAM] = ttnn_v_bool(pool->tables_in_dram);
	return tt_call_programs(out, count, call, &args);
}
