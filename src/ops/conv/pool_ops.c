/* pool_ops.c: pools of images: the largest element of each window, or the average. */
#include "ops/conv/pool_ops.h"

#include "golden/golden_window.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* ---- checks ------------------------------------------------------------------------------------------ */

static tt_status check_types(const struct tt_pool *pool)
{
	TT_REQUIRE(pool->dtype == TTNN_BFLOAT16 || tt_dtype_is_block(pool->dtype),
		   "dtype == DataType::BFLOAT16 || dtype == DataType::BFLOAT8_B || dtype == "
		   "DataType::BFLOAT4_B",
		   "Currently only BFLOAT16, BFLOAT8_B, and BFLOAT4_B output data formats are "
		   "supported");
	TT_REQUIRE(!tt_dtype_is_block(pool->dtype) || pool->layout != TTNN_ROW_MAJOR,
		   "!((dtype == DataType::BFLOAT8_B || dtype == DataType::BFLOAT4_B) && "
		   "output_layout == Layout::ROW_MAJOR)",
		   "BFLOAT8_B/BFLOAT4_B output data format is not supported with ROW_MAJOR "
		   "layout");
	return TTNN_OK;
}

static tt_status check_sizes(const struct tt_slide *s)
{
	TT_REQUIRE(s->batch > 0, "batch_size > 0",
		   "Pool2D: Batch size must be greater than 0, got %u", s->batch);
	TT_REQUIRE(s->in[0] > 0, "input_h > 0",
		   "Pool2D: Input height must be greater than 0, got %u", s->in[0]);
	TT_REQUIRE(s->in[1] > 0, "input_w > 0",
		   "Pool2D: Input width must be greater than 0, got %u", s->in[1]);
	TT_REQUIRE(s->channels > 0, "channels > 0",
		   "Pool2D: Channels must be greater than 0, got %u", s->channels);
	return TTNN_OK;
}

/* Tiles must be padded as little as possible. */
static tt_status check_tiles(const struct tt_slide *s, const struct ttnn_tensor_spec *in)
{
	uint64_t rows = (uint64_t)s->batch * s->in[0] * s->in[1];
	const uint32_t *dim = in->shape.dim, *padded = in->padded.dim;

	if (in->layout != TTNN_TILE || in->shape.rank != 4 || dim[0] != 1 || dim[1] != 1 ||
	    dim[2] != rows || dim[3] != s->channels)
		return TTNN_OK;
	TT_REQUIRE(
		padded[0] == 1 && padded[1] == 1 && padded[2] == tt_align_to(rows, TT_TILE) &&
			padded[3] == tt_align_to(s->channels, TT_TILE),
		"padded_input_shape[0] == 1 && padded_input_shape[1] == 1 && "
		"padded_input_shape[2] == padded_nhw && padded_input_shape[3] == "
		"padded_channels",
		"Padded input tensor shape Shape([%u, %u, %u, %u]) does not match expected shape "
		"(1, 1, %u, %u)",
		padded[0], padded[1], padded[2], padded[3], (unsigned)tt_align_to(rows, TT_TILE),
		(unsigned)tt_align_to(s->channels, TT_TILE));
	return TTNN_OK;
}

/* Padding of more than half a window would make windows of padding alone. */
static tt_status check_window(const struct tt_slide *s)
{
	uint32_t reach[2], padded[2];

	TT_REQUIRE(s->window[0] > 0 && s->window[1] > 0, "kernel_size[0] > 0 && kernel_size[1] > 0",
		   "Pool2D: Kernel size must be greater than 0 in both dimensions, got (%u, %u)",
		   s->window[0], s->window[1]);
	TT_REQUIRE(s->stride[0] > 0 && s->stride[1] > 0, "stride[0] > 0 && stride[1] > 0",
		   "Pool2D: Stride must be greater than 0 in both dimensions, got (%u, %u)",
		   s->stride[0], s->stride[1]);
	TT_REQUIRE(s->dilation[0] > 0 && s->dilation[1] > 0, "dilation_h > 0 && dilation_w > 0",
		   "Pool2D: Dilation must be greater than 0 in both dimensions, got (%u, %u)",
		   s->dilation[0], s->dilation[1]);
	TT_REQUIRE(s->pad[0] <= s->window[0] / 2 && s->pad[1] <= s->window[0] / 2 &&
			   s->pad[2] <= s->window[1] / 2,
		   "pad_top <= kernel_size[0] / 2 && pad_bottom <= kernel_size[0] / 2 && pad_left "
		   "<= kernel_size[1] / 2",
		   "Pool2D: Padding (%u, %u, %u) should not exceed half of kernel size (%u, %u)",
		   s->pad[0], s->pad[1], s->pad[2], s->window[0], s->window[1]);
	for (int d = 0; d < 2; d++) {
		reach[d] = s->dilation[d] * (s->window[d] - 1) + 1;
		padded[d] = s->in[d] + s->pad[2 * d] + s->pad[2 * d + 1];
	}
	TT_REQUIRE(reach[0] <= padded[0] && reach[1] <= padded[1],
		   "effective_kernel_h <= padded_input_h && effective_kernel_w <= padded_input_w",
		   "Pool2D: Effective kernel size (%u, %u) cannot exceed padded input size (%u, "
		   "%u)",
		   reach[0], reach[1], padded[0], padded[1]);
	return TTNN_OK;
}

/* ---- shards ------------------------------------------------------------------------------------------ */

/* The sharding that was asked for, else the one that takes the least memory. */
static tt_status choose_parallel(struct tt_parallel *out, const struct tt_pool_run *run,
				 uint32_t alignment)
{
	const struct tt_pool *pool = &run->pool;
	struct ttnn_core grid = tt_grid_size(tt_tensor_device(run->in)->grid);
	bool tiled = pool->layout == TTNN_TILE;
	struct tt_parallel_request request = {.batch = pool->slide.batch,
					      .in_channels = pool->slide.channels,
					      .out_channels = pool->slide.channels,
					      .alignment = alignment,
					      .grid = grid,
					      .tile_height = tiled,
					      .tile_width = tiled || pool->in_layout == TTNN_TILE};

	if (!tt_value_given(&run->scheme))
		return tt_pool_parallel(out, pool, grid);
	request.scheme = (enum ttnn_memory_layout)run->scheme.integer;
	TT_REQUIRE(request.scheme == TTNN_HEIGHT_SHARDED || request.scheme == TTNN_WIDTH_SHARDED ||
			   request.scheme == TTNN_BLOCK_SHARDED,
		   "(applied_shard_scheme.value() == TensorMemoryLayout::HEIGHT_SHARDED) || "
		   "(applied_shard_scheme.value() == TensorMemoryLayout::WIDTH_SHARDED) || "
		   "(applied_shard_scheme.value() == TensorMemoryLayout::BLOCK_SHARDED)",
		   "Only height, width, or block sharding strategies are supported.");
	tt_slide_out(request.out, &pool->slide);
	return tt_parallel_choose(out, &request);
}

/* [n, h, w, c] → [1, 1, n × h × w, c] */
static tt_status flatten(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape shape = in->spec.shape, padded = in->spec.padded;
	struct tt_reshape_args args = {in, &shape, &padded, NULL};

	shape = (struct ttnn_shape){
		4, {1, 1, shape.dim[0] * shape.dim[1] * shape.dim[2], shape.dim[3]}};
	padded = (struct ttnn_shape){
		4, {1, 1, padded.dim[0] * padded.dim[1] * padded.dim[2], padded.dim[3]}};
	return tt_call_reshape(out, call, &args);
}

/*
 * Channels are rounded up to what a row is aligned to, so that every core's rows begin aligned.
 */
tt_status tt_pool_shards(struct ttnn_memory_config *out, const struct tt_pool_run *run,
			 uint64_t rows)
{
	bool tiled = run->pool.in_layout == TTNN_TILE;
	uint32_t alignment =
		tiled ? TT_TILE
		      : (uint32_t)tt_memory_alignment(tt_tensor_device(run->in), TTNN_L1) / 2;
	struct tt_parallel parallel;

	TT_TRY(choose_parallel(&parallel, run, alignment));
	return tt_parallel_memory(
		out, &parallel, rows,
		tt_align_to(run->pool.slide.channels,
			    (uint64_t)tt_parallel_channels(&parallel) * alignment),
		tiled ? TT_TILE : 1);
}

/* The input over cores, in shards; the call owns it. */
static tt_status shard(struct tt_tensor **out, struct tt_pool_run *run)
{
	const struct ttnn_shape *padded = &run->in->spec.padded;
	struct ttnn_memory_config memory;
	struct tt_tensor *flat = run->in;
	struct ttnn_arg args[2] = {{"tensor", {0}}, {"memory_config", {0}}};

	TT_TRY(tt_pool_shards(&memory, run,
			      (uint64_t)padded->dim[0] * padded->dim[1] * padded->dim[2]));
	if (padded->dim[0] != 1 || padded->dim[1] != 1) {
		TT_TRY(flatten(&flat, run->call, run->in));
		tt_call_own(run->call, flat);
	}
	args[0].value = ttnn_v_tensor(flat);
	args[1].value = ttnn_v_memory(&memory);
	TT_TRY(tt_call_op(out, run->call, "ttnn.to_memory_config", args, 2));
	tt_call_own(run->call, *out);
	if (flat != run->in)
		tt_call_drop(run->call, flat);
	return TTNN_OK;
}

static tt_status take_shards(const struct tt_pool_run *run)
{
	TT_REQUIRE(!tt_value_given(&run->scheme), "!applied_shard_scheme.has_value()",
		   "A sharding scheme should not be specified for a sharded input tensor.");
	TT_REQUIRE(run->in->spec.memory.shard.orientation == TTNN_ORIENT_ROW_MAJOR,
		   "out_memory_config.shard_spec().value().orientation == "
		   "ShardOrientation::ROW_MAJOR",
		   "Only row major orientation is supported.");
	return TTNN_OK;
}

/* Where the result goes: the cores of the input. */
static tt_status result_memory(struct ttnn_memory_config *out, const struct tt_pool_run *run,
			       const struct ttnn_memory_config *in)
{
	const struct tt_slide *slide = &run->pool.slide;
	struct ttnn_shard_spec shard = {.grid = in->shard.grid,
					.orientation = TTNN_ORIENT_ROW_MAJOR};
	uint64_t unit = (uint64_t)slide->cores_c * tt_pool_unit(&run->pool);

	shard.height = tt_slide_share(slide);
	shard.width = (uint32_t)(tt_align_to(slide->channels, unit) / slide->cores_c);
	return ttnn_memory_config_sharded(out, in->layout, in->buffer, &shard);
}

/* ---- the operation ------------------------------------------------------------------------------------- */

/* Results go where the caller wants them. */
static tt_status pool_ops_place(struct tt_tensor **tensor, struct tt_pool_run *run,
				const struct ttnn_memory_config *is)
{
	struct ttnn_arg args[2] = {{"tensor", ttnn_v_tensor(*tensor)}, {"memory_config", {0}}};
	struct tt_tensor *out = NULL;
	tt_status status;

	if (!run->memory || ttnn_memory_config_equal(run->memory, is))
		return TTNN_OK;
	args[1].value = ttnn_v_memory(run->memory);
	status = tt_call_op(&out, run->call, "ttnn.to_memory_config", args, 2);
	tt_call_overwrite(run->call, *tensor);
	*tensor = out;
	return status;
}

static tt_status reduce(struct tt_tensor *out[2], size_t *count, struct tt_pool_run *run,
			const struct tt_haloed *haloed, const struct ttnn_memory_config *memory)
{
	struct tt_pool pool = run->pool;
	tt_status status = TTNN_OK;

	pool.memory = memory;
	TT_TRY(tt_pool_launch(out, count, run->call, haloed, &pool));
	for (size_t i = 0; i < *count && status == TTNN_OK; i++)
		status = pool_ops_place(&out[i], run, memory);
	for (size_t i = 0; i < *count && status != TTNN_OK; i++)
		ttnn_tensor_unref(out[i]);
	return status;
}

/*
 * Shard, halo, reduce, and where it was asked for. Padding of a maximum is -inf (0xFF80 of
 * bfloat16), of an average 0. The halo may take the place of an input that nobody needs any
 * more.
 */
tt_status tt_pool_run_l1(struct tt_tensor *out[2], size_t *count, struct tt_pool_run *run)
{
	struct tt_slide *slide = &run->pool.slide;
	struct tt_halo_args halo = {.slide = slide,
				    .compute = &run->pool.compute,
				    .pad_value = run->pool.kind == TT_POOL_MAX ? 0xFF80 : 0,
				    .tiled_out = run->pool.layout == TTNN_TILE,
				    .tables_in_dram = run->pool.tables_in_dram,
				    .free_input = run->free_input ||
						  run->in->spec.memory.buffer == TTNN_DRAM,
				    .move_output = run->move_halo};
	struct ttnn_memory_config memory;
	struct tt_tensor *sharded = run->in;
	struct tt_parallel parallel;
	struct tt_haloed haloed;
	tt_status status;

	if (run->in->spec.memory.has_shard)
		TT_TRY(take_shards(run));
	else
		TT_TRY(shard(&sharded, run));
	parallel = tt_parallel_of(&sharded->spec.memory);
	slide->cores_nhw = tt_parallel_rows(&parallel);
	slide->cores_c = tt_parallel_channels(&parallel);
	slide->cores = parallel.grid;
	slide->snap = run->pool.layout == TTNN_TILE;
	TT_TRY(result_memory(&memory, run, &sharded->spec.memory));
	TT_TRY(tt_halo(&haloed, run->call, sharded, &halo));
	tt_call_own(run->call, haloed.halo);
	status = reduce(out, count, run, &haloed, &memory);
	ttnn_tensor_unref(haloed.image);
	if (status == TTNN_OK)
		tt_call_drop(run->call, haloed.halo);
	return status;
}

/*
 * Interleaved images in DRAM that do not fit are done slice by slice; indices need the whole
 * image.
 */
static tt_status run_pool(struct tt_pool_run *run)
{
	struct tt_tensor *out[2] = {NULL};
	struct tt_conv_slices slices = {.count = 1};
	size_t count = 1;

	TT_TRY(check_types(&run->pool));
	TT_TRY(check_sizes(&run->pool.slide));
	TT_TRY(check_tiles(&run->pool.slide, &run->in->spec));
	TT_TRY(check_window(&run->pool.slide));
	if (run->in->spec.memory.buffer == TTNN_DRAM && !run->in->spec.memory.has_shard &&
	    !run->pool.indices)
		TT_TRY(tt_pool_choose_slices(&slices, run));
	if (slices.count > 1)
		TT_TRY(tt_pool_run_slices(&out[0], run, &slices));
	else
		TT_TRY(tt_pool_run_l1(out, &count, run));
	for (size_t i = 0; i < count; i++)
		tt_call_return(run->call, out[i]);
	return TTNN_OK;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

static void common_args(struct tt_pool_run *run, struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_pool *pool = &run->pool;
	struct tt_slide *slide = &pool->slide;

	run->call = call;
	run->in = tt_call_tensor(call, "input_tensor");
	run->memory = tt_call_memory(call, "memory_config");
	run->scheme = *tt_call_arg(call, "applied_shard_scheme");
	run->free_input = tt_call_bool(call, "deallocate_input", false);
	run->move_halo = tt_call_bool(call, "reallocate_halo_output", true);
	slide->batch = (uint32_t)tt_call_int(call, "batch_size", 0);
	slide->in[0] = (uint32_t)tt_call_int(call, "input_h", 0);
	slide->in[1] = (uint32_t)tt_call_int(call, "input_w", 0);
	slide->channels = (uint32_t)tt_call_int(call, "channels", 0);
	slide->dilation[0] = slide->dilation[1] = 1;
	pool->in_dtype = run->in->spec.dtype;
	pool->in_layout = run->in->spec.layout;
	pool->dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16);
	pool->layout = TTNN_ROW_MAJOR;
	if (tt_value_given(tt_call_arg(call, "output_layout")))
		pool->layout = (enum ttnn_layout)tt_call_arg(call, "output_layout")->integer;
	pool->tables_in_dram = tt_call_bool(call, "config_tensor_in_dram", false);
	pool->compute = *tt_call_arg(call, "compute_kernel_config");
	if (tt_value_given(&pool->compute))
		pool->compute = tt_compute_config(call, &pool->compute, &usual);
	pool->count_padding = true;
}

static tt_status window_args(struct tt_pool_run *run, struct tt_call *call)
{
	struct tt_slide *slide = &run->pool.slide;

	TT_TRY(tt_slide_pair(slide->window, call, "kernel_size"));
	TT_TRY(tt_slide_pair(slide->stride, call, "stride"));
	TT_TRY(tt_slide_padding(slide->pad, call));
	TT_TRY(tt_slide_pair(slide->dilation, call, "dilation"));
	slide->ceil = tt_call_bool(call, "ceil_mode", false);
	return TTNN_OK;
}

static tt_status run_average(struct tt_pool_run *run)
{
	if (!tt_value_given(&run->scheme) && tt_pool_is_mean(&run->pool, run->in))
		return tt_pool_mean(run->call, run->in, &run->pool, run->memory);
	return run_pool(run);
}

static tt_status expand_max(struct tt_call *call)
{
	struct tt_pool_run run = {.pool.kind = TT_POOL_MAX};

	TT_TRY(tt_need_device(tt_call_tensor(call, "input_tensor")));
	common_args(&run, call);
	TT_TRY(window_args(&run, call));
	run.pool.indices = tt_call_bool(call, "return_indices", false);
	return run_pool(&run);
}

static tt_status expand_avg(struct tt_call *call)
{
	struct tt_pool_run run = {.pool.kind = TT_POOL_AVERAGE};

	TT_TRY(tt_need_device(tt_call_tensor(call, "input_tensor")));
	common_args(&run, call);
	TT_TRY(window_args(&run, call));
	run.pool.count_padding = tt_call_bool(call, "count_include_pad", true);
	run.pool.divisor = tt_call_int(call, "divisor_override", 0);
	return run_average(&run);
}

static tt_status adapt(struct tt_pool_run *run, struct tt_call *call)
{
	uint32_t size[2] = {0, 0};

	TT_TRY(tt_need_device(tt_call_tensor(call, "input_tensor")));
	common_args(run, call);
	run->move_halo = tt_call_bool(call, "reallocate_output", true);
	TT_TRY(tt_slide_pair(size, call, "output_size"));
	return tt_pool_adapt(&run->pool.slide, size);
}

static tt_status expand_adaptive_max(struct tt_call *call)
{
	struct tt_pool_run run = {.pool.kind = TT_POOL_MAX};

	TT_TRY(adapt(&run, call));
	return run_pool(&run);
}

static tt_status expand_adaptive_avg(struct tt_call *call)
{
	struct tt_pool_run run = {.pool.kind = TT_POOL_AVERAGE};

	TT_TRY(adapt(&run, call));
	run.pool.count_padding = false;
	return run_average(&run);
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

#define OP(name_, expand_, golden_, doc_, sig_)                                                    \
	{                                                                                          \
		.name = "ttnn." name_, .doc = doc_, .sigs = {sig_}, .expand = expand_,             \
		.golden = golden_                                                                  \
	}
#define IMAGE                                                                                      \
	"input_tensor: Tensor, batch_size: size, input_h: size, input_w: size, channels: size, "
#define WINDOW IMAGE "kernel_size: sizes, stride: sizes, padding: sizes, "
#define WHERE                                                                                      \
	"*, memory_config: MemoryConfig? = None, dram_slice_config: any ? = None, "                \
	"applied_shard_scheme: MemoryLayout? = None, "
#define RESULT                                                                                     \
	"dtype: DataType = BFLOAT16, output_layout: Layout = ROW_MAJOR, "                          \
	"config_tensor_in_dram: bool = False"

static const struct tt_op ops[] = {
	OP("max_pool2d", expand_max, tt_golden_max_pool,
	   "The largest element of each window over images.",
	   WINDOW "dilation: sizes, ceil_mode: bool = False, " WHERE
		  "deallocate_input: bool = False, reallocate_halo_output: bool = True, "
		  "return_indices: bool = False, " RESULT),
	OP("avg_pool2d", expand_avg, tt_golden_avg_pool, "The average of each window over images.",
	   WINDOW "ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int? "
		  "= None, " WHERE "compute_kernel_config: ComputeConfig? = None, "
		  "deallocate_input: bool = False, reallocate_halo_output: bool = True, " RESULT),
	OP("adaptive_avg_pool2d", expand_adaptive_avg, tt_golden_adaptive_avg,
	   "Images of another size, each element the average of its share.",
	   IMAGE "output_size: sizes, " WHERE "compute_kernel_config: ComputeConfig? = None, "
		 "deallocate_input: bool = False, reallocate_output: bool = True"),
	OP("adaptive_max_pool2d", expand_adaptive_max, tt_golden_adaptive_max,
	   "Images of another size, each element the largest of its share.",
	   IMAGE "output_size: sizes, " WHERE
		 "deallocate_input: bool = False, reallocate_output: bool = True"),
	/* In Python a function over operations: recordings show those. */
	{.name = "ttnn.global_avg_pool2d",
	 .doc = "The average of each channel over whole images.",
	 .frontend = "",
	 .sigs = {"input_tensor: Tensor, *, memory_config: MemoryConfig? = None, "
		  "dtype: DataType? = None"},
	 .expand = tt_pool_expand_global,
	 .golden = tt_golden_global_avg},
};

const struct tt_op_family tt_family_pool = {"pool", ops, TT_COUNT(ops)};
