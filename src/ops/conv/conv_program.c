/*
 * conv_program.c: the program that multiplies windows with weights.
 *
 * Models Conv2dDeviceOperation of ttnn 0.81 (conv/conv2d/device) with both factories:
 * Conv2dShardedProgramFactory, for height and block shards, and
 * Conv2dWidthShardedProgramFactory, in which images go round: refusals, memory, cores. Blocks
 * are the plan's (conv_plan.c), buffers those of conv_memory.c. Not modelled: the order in which
 * blocks are summed.
 */
#include "ops/activation.h"
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

#define ATTRS(X)                                                                                   \
	X(SLIDE, "sliding_window_config")                                                          \
	X(OUT_CHANNELS, "output_channels")                                                         \
	X(GROUPS, "groups")                                                                        \
	X(UNTILIZE, "untilize_out")                                                                \
	X(HAS_BIAS, "has_bias")                                                                    \
	X(ACTIVATION, "activation", .text = TT_TEXT_FIXED, .fixed = "<BasicUnaryWithParam>")       \
	X(PARALLEL, "parallelization_config")                                                      \
	X(BLOCKS, "block_config")                                                                  \
	X(MEMORY, "memory_config")                                                                 \
	X(DTYPE, "dtype")                                                                          \
	X(IN_SHAPE, "input_tensor_shape", .text = TT_TEXT_ARRAY)                                   \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(DOUBLE_ACT, "enable_act_double_buffer")                                                  \
	X(DOUBLE_WEIGHTS, "enable_weights_double_buffer")                                          \
	X(FULL_INNER, "full_inner_dim")                                                            \
	X(REUSE, "enable_activation_reuse")                                                        \
	X(IN_DRAM, "config_tensors_in_dram")                                                       \
	X(USED, "pre_op_l1_allocation_size_bytes", .unkeyed = true)                                \
	X(SPLIT, "force_split_reader")
TT_ATTRS(schema, "Conv2dParams", ATTRS);

static const struct tt_field parallel_fields[] = {
	{.name = "grid_size", .text = TT_TEXT_FIXED, .fixed = "<xy_pair>"},
	{.name = "num_cores_nhw"},
	{.name = "num_cores_c_in"},
	{.name = "num_cores_c_out"},
	{.name = "per_core_out_matrix_height_ntile"},
	{.name = "per_core_out_matrix_width_ntile"},
};
static const struct tt_schema parallel_schema = {"Conv2dParallelizationConfig", parallel_fields,
						 TT_COUNT(parallel_fields), false};
static const struct tt_field block_fields[] = {
	{.name = "act_block_h_ntiles"},
	{.name = "act_block_w_ntiles"},
	{.name = "out_subblock_h_ntiles"},
	{.name = "out_subblock_w_ntiles"},
};
static const struct tt_schema block_schema = {"Conv2dBlockConfig", block_fields,
					      TT_COUNT(block_fields), false};

/* What the launcher hands over. */
struct extra {
	struct tt_haloed haloed; /* first: for tt_halo_image() */
	const struct tt_conv *conv;
	const struct tt_conv_plan *plan;
	const struct tt_slide *slide;
};

static const struct extra *extra_of(const struct tt_launch *launch)
{
	return launch->extra;
}

/*
 * The result is as large as the images, but its shards are whole tiles of the plan: the padding
 * behind the last image is in them.
 */
static tt_status conv_infer(struct tt_launch *launch)
{
	const struct tt_conv *conv = extra_of(launch)->conv;
	const struct tt_conv_plan *plan = extra_of(launch)->plan;
	struct ttnn_shard_spec shard = plan->memory.shard;
	struct ttnn_spec_args args = {.dtype = conv->dtype,
				      .layout = conv->config.out_layout,
				      .alignment = {2, {TT_TILE, TT_TILE}}};
	uint32_t out[2];

	tt_slide_out(out, extra_of(launch)->slide);
	args.shape =
		(struct ttnn_shape){4, {1, 1, conv->batch * out[0] * out[1], conv->out_channels}};
	shard.height = plan->out_h * TT_TILE;
	shard.width = plan->out_w * TT_TILE;
	TT_TRY(ttnn_memory_config_sharded(&args.memory, plan->memory.layout, TTNN_L1, &shard));
	return ttnn_tensor_spec_make(&launch->specs[0], &args);
}

/* What is left to refuse once a plan was made. */
static tt_status conv_validate(struct tt_launch *launch)
{
	const struct tt_conv *conv = extra_of(launch)->conv;
	const struct tt_conv_plan *plan = extra_of(launch)->plan;
	uint32_t tiles = launch->outputs[0]->spec.padded.dim[3] / TT_TILE;
	const char *error = "args.block_config.out_subblock_w_ntiles == "
			    "per_core_out_matrix_width_ntiles || "
			    "args.block_config.out_subblock_h_ntiles == 1";

	TT_REQUIRE(!tt_tensor_is_sharded(launch->inputs[1]),
		   "!input_tensor_b.memory_config().is_sharded()",
		   "Weights tensor should not be sharded.");
	TT_REQUIRE(conv->config.out_layout != TTNN_ROW_MAJOR || conv->dtype == TTNN_BFLOAT16 ||
			   conv->dtype == TTNN_FLOAT32,
		   "(args.dtype == DataType::BFLOAT16) || (args.dtype == DataType::FLOAT32)",
		   "Untilize output requires BFLOAT16 or FLOAT32 data type but got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, conv->dtype));
	TT_REQUIRE(plan->memory.layout != TTNN_HEIGHT_SHARDED || plan->out_w == tiles,
		   "per_core_out_matrix_width_ntiles == out_width_ntiles",
		   "Per-core output matrix width in tiles (%u) must equal output width in tiles "
		   "(%u) for height sharded layout",
		   plan->out_w, tiles);
	if (plan->sub_w != plan->out_w && plan->sub_h != 1)
		return tt_fail_cond(TTNN_INVALID, error, "Error");
	return TTNN_OK;
}

/* ---- program memory ---------------------------------------------------------------------------------- */

enum { SHARDED, WIDTH_SHARDED };

struct work {
	struct tt_conv_cb cbs[TT_CONV_CBS];
	const ttnn_core_set *cores;
	struct tt_tensor *table;
};

/*
 * Block shards may have more cores for channels in than for channels out, or fewer: all of them
 * take part. Width shards are on rows of cores, of which the box is used whole.
 */
static tt_status cores_of(const ttnn_core_set **out, const struct tt_conv_plan *plan)
{
	struct ttnn_core_range box;

	if (plan->in.scheme == TTNN_HEIGHT_SHARDED)
		return tt_core_set_grid(out, plan->out_grid.x, plan->out_grid.y);
	if (plan->in.scheme == TTNN_BLOCK_SHARDED)
		return tt_core_set_merge(out, plan->in.grid, plan->out.grid);
	*out = ttnn_core_set_cores(plan->in.grid) > ttnn_core_set_cores(plan->out.grid)
		       ? plan->in.grid
		       : plan->out.grid;
	TT_TRY(tt_core_set_box(&box, *out));
	return tt_core_set_grid(out, box.end.x + 1, box.end.y + 1);
}

/* Whether no core needs the input of another. */
static bool is_alone(const struct tt_conv_plan *plan)
{
	if (plan->in.scheme == TTNN_HEIGHT_SHARDED)
		return plan->cores_nhw * plan->cores_out == 1;
	return plan->cores_out == 1 && plan->cores_in == 1;
}

/*
 * The table of windows, for one reader or for two that take turns, is rounded up to four bytes.
 */
static uint32_t table_width(const struct extra *extra)
{
	const struct tt_conv_plan *plan = extra->plan;
	const struct tt_conv *conv = extra->conv;
	uint32_t stride = conv->transposed ? 1 : conv->stride[1];
	uint32_t second =
		tt_conv_splits(conv, plan, plan->in.scheme, plan->channels) ? plan->act_h / 2 : 0;
	uint32_t width = tt_slide_window_table(extra->slide, stride,
					       (plan->act_h - second) * TT_TILE, second * TT_TILE);

	return width + width % 2;
}

/*
 * Everything that memory depends on is worked out once: cores, the table of windows (a tensor
 * that is kept with the program), and the buffers.
 */
static tt_status conv_choose(uint32_t *out, struct tt_launch *launch)
{
	const struct extra *extra = extra_of(launch);
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *weight = &launch->inputs[1]->spec;
	struct work *work = tt_arena_calloc(launch->arena, 1, sizeof(*work));
	bool in_dram = extra->conv->config.tables_in_dram;
	uint32_t width = table_width(extra);
	struct tt_conv_cb_args args = {.plan = extra->plan,
				       .scheme = in->memory.layout,
				       .weight_rows = weight->padded.dim[2],
				       .weight_cols = weight->padded.dim[3],
				       .shard_height = in->memory.shard.height,
				       .shard_width = in->memory.shard.width,
				       .alone = is_alone(extra->plan)};

	TT_NEED_MEMORY(work);
	launch->work = work;
	*out = in->memory.layout == TTNN_WIDTH_SHARDED ? WIDTH_SHARDED : SHARDED;
	TT_TRY(cores_of(&work->cores, extra->plan));
	TT_TRY(tt_halo_tables(
		&work->table, launch,
		&(struct tt_halo_tables){extra->slide->cores_nhw, &width, 1, in_dram}));
	tt_conv_cbs(work->cbs, extra->conv, &args);
	work->cbs[TT_CONV_INDICES].page = work->table->spec.page_bytes;
	return TTNN_OK;
}

/*
 * Buffers are numbered as they come: those that a form of convolution has no use for have no
 * number.
 */
static tt_status conv_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct work *work = launch->work;
	struct tt_tensor *backing[TT_CONV_CBS] = {[TT_CONV_PARTIALS] = launch->outputs[0],
						  [TT_CONV_OUT] = launch->outputs[0],
						  [TT_CONV_INDICES] = work->table,
						  [TT_CONV_SHARD] = launch->inputs[0]};
	static const char *const names[TT_CONV_CBS] = {[TT_CONV_WEIGHTS] = "weights",
						       [TT_CONV_PARTIALS] = "matmul_partials",
						       [TT_CONV_ACT] = "act",
						       [TT_CONV_SECOND] = "act_second_reader",
						       [TT_CONV_TILIZED] = "act_tilized",
						       [TT_CONV_BIAS] = "bias",
						       [TT_CONV_ROWS] = "act_row_major_bfloat16",
						       [TT_CONV_OUT] = "out",
						       [TT_CONV_INDICES] = "reader_indices",
						       [TT_CONV_SCRATCH] = "l1_array",
						       [TT_CONV_SHARD] = "act_sharded"};
	struct tt_buffer_row rows[TT_CONV_CBS];

	for (int i = 0; i < TT_CONV_CBS; i++) {
		const struct tt_conv_cb *cb = &work->cbs[i];

		rows[i] = (struct tt_buffer_row)TT_CB_ROW(
			0, names[i], .pages = cb->pages != 0, .page = cb->pages * cb->page,
			.backing = cb->borrowed ? backing[i] : NULL);
	}
	/* Sums of a block of rows are where the last such block of the result will be. */
	if (work->cbs[TT_CONV_PARTIALS].borrowed &&
	    rows[TT_CONV_PARTIALS].page < rows[TT_CONV_OUT].page)
		rows[TT_CONV_PARTIALS].offset =
			rows[TT_CONV_OUT].page - rows[TT_CONV_PARTIALS].page;
	return tt_plan_numbered(plan, work->cores, rows, TT_CONV_CBS);
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

/*
 * The weights of a transposed convolution as [in, out / groups, down, across], from rows of
 * [down, across, in / groups] of a window that was mirrored.
 */
static tt_status mirror_weights(struct tt_tensor **out, struct tt_tensor *weight,
				const struct tt_conv *conv)
{
	uint32_t ins = conv->in_channels / conv->groups, outs = conv->out_channels / conv->groups;
	uint32_t h = conv->kernel[0], w = conv->kernel[1];
	struct ttnn_shape shape = {4, {conv->in_channels, outs, h, w}};
	const struct tt_move_loop loops[] = {
		{conv->groups, 3, 0, outs, ins}, {ins, 2, 0, 1, 1},           {outs, 3, 1, 1, 1},
		{h, 2, 2, -(int64_t)w * ins, 1}, {w, 2, 3, -(int64_t)ins, 1},
	};
	struct tt_move_job job = {.in = weight, .loops = loops, .loop_count = TT_COUNT(loops)};

	TT_TRY(tt_scratch_f32(out, &shape));
	job.out = *out;
	job.in_start[2] = ((int64_t)h * w - 1) * ins;
	return tt_backend_get()->move(&job);
}

/*
 * Rows of an image may be wider than its channels (3 colours in rows of 16): what follows meets weights
 * of zero on the chip, and is left out here.
 */
static tt_status narrow(struct tt_tensor **image, const struct tt_conv *conv)
{
	const struct ttnn_shape *wide = &(*image)->spec.shape;
	struct ttnn_shape shape = {4, {1, 1, 1, conv->in_channels}};
	const struct tt_move_loop loops[] = {
		{tt_shape_last(wide, 4), 0, 2, 1,
		 (int64_t)tt_shape_last(wide, 3) * tt_shape_last(wide, 2)},
		{tt_shape_last(wide, 3), 1, 2, 1, tt_shape_last(wide, 2)},
		{tt_shape_last(wide, 2), 2, 2, 1, 1},
		{conv->in_channels, 3, 3, 1, 1},
	};
	struct tt_move_job job = {.in = *image, .loops = loops, .loop_count = TT_COUNT(loops)};

	if (wide->rank != 4 || wide->dim[3] <= conv->in_channels)
		return TTNN_OK;
	shape.dim[2] = wide->dim[0] * wide->dim[1] * wide->dim[2];
	TT_TRY(tt_scratch_f32(image, &shape));
	job.out = *image;
	return tt_backend_get()->move(&job);
}

static void set_window(struct tt_window *out, const struct tt_conv *conv, uint32_t channels)
{
	uint32_t size[2];

	tt_conv_out(size, conv);
	*out = (struct tt_window){.batch = conv->batch,
				  .height = conv->in[0],
				  .width = conv->in[1],
				  .channels = channels,
				  .out_height = size[0],
				  .out_width = size[1],
				  .kernel = {conv->kernel[0], conv->kernel[1]},
				  .stride = {conv->stride[0], conv->stride[1]},
				  .dilation = {conv->dilation[0], conv->dilation[1]},
				  .pad = {conv->pad[0], conv->pad[2], conv->pad[1], conv->pad[3]}};
}

/*
 * Backends take the image before its halo was gathered, and weights as the matrix that they were
 * prepared as; a transposed convolution goes with mirrored weights in their original form.
 */
static tt_status conv_kernel(struct tt_launch *launch)
{
	const struct tt_conv *conv = extra_of(launch)->conv;
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct tt_conv_job job = {.out = launch->outputs[0],
				  .weight = launch->inputs[1],
				  .bias = launch->inputs[2],
				  .out_channels = conv->out_channels,
				  .groups = conv->groups,
				  .transposed = conv->transposed,
				  .replicate = conv->config.replicate,
				  .form = conv->transposed ? TT_WEIGHT_OIHW : TT_WEIGHT_MATRIX,
				  .slices = 1,
				  .depth = conv->in_channels / conv->groups,
				  .post = steps};
	struct ttnn_value chain = ttnn_v_list(&conv->config.activation, 1);
	size_t count = 0;

	if (tt_value_given(&conv->config.activation))
		TT_TRY(tt_unary_steps(steps, &count, &chain));
	job.post_count = (uint32_t)count;
	set_window(&job.window, conv, conv->in_channels);
	TT_TRY(tt_halo_image(&job.in, launch));
	TT_TRY(narrow(&job.in, conv));
	if (conv->transposed)
		TT_TRY(mirror_weights(&job.weight, job.weight, conv));
	return tt_backend_get()->conv(&job);
}

static const struct tt_factory factories[] = {
	[SHARDED] = {.name = "ttnn::prim::Conv2dShardedProgramFactory", .memory = conv_memory},
	[WIDTH_SHARDED] = {.name = "ttnn::prim::Conv2dWidthShardedProgramFactory",
			   .memory = conv_memory},
};
/* For profiles: the product that it stands for. */
static void conv_cost(struct tt_cost *cost, const struct tt_launch *launch)
{
	const struct tt_conv *conv = extra_of(launch)->conv;
	uint32_t out[2];

	tt_conv_out(out, conv);
	cost->inputs = 3; /* the image, weights, and a bias if there is one */
	tt_cost_set_product(
		cost, launch,
		&(struct tt_perf_product){
			.m = (uint64_t)out[0] * out[1],
			.k = (uint64_t)conv->in_channels * conv->kernel[0] * conv->kernel[1],
			.n = conv->out_channels,
			.batch = conv->batch,
		});
}

static const struct tt_prog prog = {
	.device_op = "Conv2dDeviceOperation",
	.prim = "ttnn::prim::conv2d",
	.attrs = &schema,
	.infer = conv_infer,
	.validate = conv_validate,
	TT_FACTORIES(factories),
	.choose = conv_choose,
	TT_KERNEL(conv_kernel),
	.cost = conv_cost,
	.drops_kept = true,
};

/* ---- launching -------------------------------------------------------------------------------------------- */

static struct ttnn_value flag(enum tt_choice choice)
{
	return choice == TT_CHOICE_OPEN ? ttnn_v_none() : ttnn_v_bool(choice == TT_CHOICE_YES);
}

/*
 * Attributes in upstream's names. How much of L1 is used already is one of them: the estimate of
 * a split reader depends on it, and so does the program.
 */
static void set_flags(struct ttnn_value attrs[schema_count], const struct tt_conv *conv)
{
	const struct tt_conv_config *config = &conv->config;

	attrs[OUT_CHANNELS] = ttnn_v_int(conv->out_channels);
	attrs[GROUPS] = ttnn_v_int(conv->groups_given);
	attrs[UNTILIZE] = ttnn_v_bool(config->out_layout == TTNN_ROW_MAJOR);
	attrs[HAS_BIAS] = ttnn_v_bool(conv->bias);
	attrs[ACTIVATION] = config->activation;
	attrs[DTYPE] = ttnn_v_dtype(conv->dtype);
	attrs[COMPUTE] = conv->compute;
	attrs[DOUBLE_ACT] = ttnn_v_bool(config->double_act);
	attrs[DOUBLE_WEIGHTS] = ttnn_v_bool(config->double_weights);
	attrs[FULL_INNER] = ttnn_v_bool(config->full_inner);
	attrs[REUSE] = ttnn_v_bool(config->reuse);
	attrs[IN_DRAM] = ttnn_v_bool(config->tables_in_dram);
	attrs[USED] = ttnn_v_int((int64_t)tt_l1_used(conv->device));
	attrs[SPLIT] = flag(config->split_reader);
}

tt_status tt_conv_launch(struct tt_tensor **out, struct tt_call *call,
			 const struct tt_conv_inputs *inputs, const struct tt_conv *conv,
			 const struct tt_conv_plan *plan)
{
	struct tt_slide slide = tt_conv_slide(conv);
	struct extra extra = {inputs->haloed, conv, plan, &slide};
	struct tt_tensor *tensors[] = {inputs->haloed.halo, inputs->weight, inputs->bias};
	struct ttnn_value parallel[] = {{.kind = TTNN_VALUE_CORE, .core = plan->out_grid},
					ttnn_v_int(plan->cores_nhw),
					ttnn_v_int(plan->cores_in),
					ttnn_v_int(plan->cores_out),
					ttnn_v_int(plan->out_h),
					ttnn_v_int(plan->out_w)};
	struct ttnn_value blocks[] = {ttnn_v_int(plan->act_h), ttnn_v_int(plan->act_w),
				      ttnn_v_int(plan->sub_h), ttnn_v_int(plan->sub_w)};
	struct ttnn_value shape[] = {ttnn_v_int(conv->batch), ttnn_v_int(conv->in[0]),
				     ttnn_v_int(conv->in[1]), ttnn_v_int(conv->in_channels)};
	struct ttnn_value attrs[schema_count];

	slide.cores_nhw = plan->cores_nhw;
	slide.cores_c = 1;
	slide.cores = plan->in.grid;
	set_flags(attrs, conv);
	attrs[SLIDE] = tt_slide_value(call->arena, &slide);
	attrs[PARALLEL] = tt_value_object(&parallel_schema, parallel);
	attrs[BLOCKS] = tt_value_object(&block_schema, blocks);
	attrs[MEMORY] = ttnn_v_memory(&plan->memory);
	attrs[IN_SHAPE] = ttnn_v_list(shape, TT_COUNT(shape));
	return TT_LAUNCH(out, call, &prog, .attrs = attrs, .inputs = tensors,
			 .input_count = inputs->bias ? 3 : 2, .extra = &extra);
}
