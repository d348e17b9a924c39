/* conv_l1.c: convolutions through L1: shard the image, prepare weights, gather, multiply. */
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

/* A convolution on its way. */
struct flow {
	struct tt_conv_run *run;
	struct tt_conv conv;
	struct tt_tensor *image; /* sharded, or not if it goes into a product of matrices */
	bool own;                /* the image was made on the way; the call owns it */
	bool matmul, auto_shard;
	struct tt_parallel parallel;
	struct tt_conv_plan plan;
	uint32_t alignment;
};

/* ---- shards -------------------------------------------------------------------------------------------- */

/* [batch, height, width, channels] as [1, 1, pixels, channels]: what programs and shards know. */
tt_status tt_conv_flatten(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	const uint32_t *dim = in->spec.shape.dim, *pad = in->spec.padded.dim;
	struct ttnn_shape shape = {4, {1, 1, dim[0] * dim[1] * dim[2], dim[3]}};
	struct ttnn_shape padded = {4, {1, 1, pad[0] * pad[1] * pad[2], pad[3]}};
	struct tt_reshape_args args = {in, &shape, &padded, NULL};

	TT_REQUIRE(in->spec.shape.rank == 4, "input_shape.size() == 4", "Expected 4D shape");
	return tt_call_reshape(out, call, &args);
}

static bool parallel_equal(const struct tt_parallel *a, const struct tt_parallel *b)
{
	return a->grid == b->grid && a->scheme == b->scheme && a->orientation == b->orientation;
}

/* Whether the cores that the caller chose are not those of the input. */
static tt_status overridden(bool *out, const struct tt_conv *conv, const struct tt_parallel *is)
{
	const struct tt_conv_config *config = &conv->config;
	bool columns = is->orientation == TTNN_ORIENT_COL_MAJOR;

	TT_REQUIRE(config->cores, "conv_config.core_grid.has_value()",
		   "If override_sharding_config is set, core_grid must be set as well.");
	TT_REQUIRE(config->has_layout, "conv_config.shard_layout.has_value()",
		   "If override_sharding_config is set, shard_layout must be set as well.");
	*out = config->cores != is->grid || config->layout != is->scheme ||
	       (config->layout == TTNN_BLOCK_SHARDED && config->transpose_shards != columns);
	return TTNN_OK;
}

/* Whether the shards that the input has will not do. */
static tt_status must_reshard(bool *out, struct flow *flow)
{
	struct tt_conv *conv = &flow->conv;
	const struct ttnn_memory_config *memory = &flow->image->spec.memory;
	const struct ttnn_shard_spec *shard = &memory->shard;
	struct tt_parallel is = tt_parallel_of(memory);
	bool other = false;

	*out = true;
	if (!memory->has_shard || !tt_tensor_device(flow->image))
		return TTNN_OK;
	*out = (is.scheme != TTNN_BLOCK_SHARDED && is.orientation != TTNN_ORIENT_ROW_MAJOR) ||
	       shard->width % flow->alignment != 0 ||
	       (flow->matmul && shard->height % TT_TILE != 0);
	if (flow->matmul && is.scheme == TTNN_BLOCK_SHARDED &&
	    conv->in_channels != tt_parallel_channels(&is) * shard->width) {
		*out = true;
		conv->config.layout = TTNN_BLOCK_SHARDED;
	}
	if (conv->config.override_cores)
		TT_TRY(overridden(&other, conv, &is));
	*out = *out || other;
	return TTNN_OK;
}

/* Where the input should be; *reshard says whether it is not yet. */
static tt_status choose_shards(struct ttnn_memory_config *out, bool *reshard, struct flow *flow)
{
	const struct ttnn_tensor_spec *in = &flow->image->spec;
	const struct tt_conv *conv = &flow->conv;
	struct tt_parallel is = tt_parallel_of(&in->memory), best;
	const uint32_t *dim = in->shape.dim;
	struct tt_conv shaped = flow->conv;

	TT_REQUIRE(!tt_tensor_device(flow->image) || in->memory.has_shard ||
			   conv->config.has_layout,
		   "(!input_tensor_on_device || input_tensor_.is_sharded()) || "
		   "conv_config.shard_layout.has_value()",
		   "Tensor must be sharded or shard_layout must be set.");
	flow->alignment =
		tt_conv_alignment(in->memory.layout, in->layout, false, flow->matmul, &in->memory);
	TT_TRY(must_reshard(reshard, flow));
	flow->parallel = is;
	*out = in->memory;
	if (!*reshard && !conv->config.reshard)
		return TTNN_OK;
	TT_TRY(tt_conv_parallel(&best, conv, flow->matmul, flow->alignment));
	if (conv->config.override_cores) {
		TT_REQUIRE(conv->config.cores, "conv_config.core_grid.has_value()",
			   "Core grid must be provided when overriding sharding config");
		best.grid = conv->config.cores;
	}
	flow->parallel = best;
	*reshard = *reshard || !parallel_equal(&is, &best);
	/* Channels that the image has beyond those of the convolution are in its shards, too. */
	shaped.in_channels = dim[3];
	return tt_conv_input_memory(
		out, &shaped, &best, (uint64_t)dim[0] * dim[1] * dim[2],
		tt_conv_alignment(best.scheme, conv->in_layout, false, flow->matmul, NULL));
}

/* Replaces the image by a new one that the call owns from now on. */
static void replace(struct flow *flow, struct tt_tensor *image)
{
	flow->image = tt_call_own(flow->run->call, image);
	flow->own = true;
}

static tt_status call_one(struct tt_tensor **out, struct flow *flow, const char *name,
			  const struct ttnn_arg *more)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(flow->image)}, {0}};

	if (more)
		args[1] = *more;
	return tt_call_op(out, flow->run->call, name, args, more ? 2 : 1);
}

/* The image in tiles, which products of matrices want. */
static tt_status tilize(struct flow *flow, bool free_input)
{
	struct ttnn_arg layout = {"layout", ttnn_v_layout(TTNN_TILE)};
	struct tt_tensor *tiles;
	bool own = flow->own;

	if (flow->image->spec.layout == TTNN_TILE)
		return TTNN_OK;
	TT_TRY(call_one(&tiles, flow, "ttnn.to_layout", &layout));
	if (free_input)
		tt_call_deallocate(flow->run->call, flow->image);
	if (own)
		tt_call_overwrite(flow->run->call, flow->image);
	replace(flow, tiles);
	return TTNN_OK;
}

static tt_status move_image(struct flow *flow)
{
	struct tt_tensor *moved;

	TT_TRY(call_one(&moved, flow, "ttnn.move", NULL));
	tt_call_overwrite(flow->run->call, flow->image);
	replace(flow, moved);
	return TTNN_OK;
}

static const struct ttnn_memory_config dram = {.layout = TTNN_INTERLEAVED, .buffer = TTNN_DRAM};

static bool frees(const struct flow *flow)
{
	return flow->conv.config.free_input && flow->image->spec.memory.buffer != TTNN_DRAM;
}

/*
 * Into the shards of the plan: a tensor is made and written by to_memory_config, as upstream
 * does it. If the caller allows it the source is freed, and the copy then moves to where more
 * room is in one piece.
 */
static tt_status shard_image(struct flow *flow, const struct ttnn_memory_config *memory)
{
	struct tt_call *call = flow->run->call;
	struct ttnn_spec_args args = {.shape = flow->image->spec.shape,
				      .dtype = flow->image->spec.dtype,
				      .layout = flow->image->spec.layout,
				      .memory = *memory};
	struct ttnn_arg move[] = {{"tensor", ttnn_v_tensor(flow->image)},
				  {"memory_config", ttnn_v_memory(memory)},
				  {"output_tensor", {0}}};
	struct tt_tensor *sharded, *same, *old = flow->image;
	struct ttnn_tensor_spec spec;
	bool free_input = frees(flow), own = flow->own;

	if (!tt_tensor_device(old) || !tt_tensor_is_sharded(old))
		args.alignment =
			(struct ttnn_shape){2, {memory->shard.height, memory->shard.width}};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_call_create(&sharded, call, flow->conv.device, &spec));
	replace(flow, sharded);
	if (!tt_tensor_device(old)) {
		TT_TRY(tt_host_to_device(&old, call, old, flow->conv.device, &dram));
		move[0].value = ttnn_v_tensor(tt_call_own(call, old));
		own = true;
	}
	move[2].value = ttnn_v_tensor(sharded);
	TT_TRY(tt_call_op(&same, call, "ttnn.to_memory_config", move, 3));
	ttnn_tensor_unref(same);
	if (free_input) {
		tt_call_deallocate(call, old);
		TT_TRY(move_image(flow));
	}
	if (own)
		tt_call_overwrite(call, old);
	return TTNN_OK;
}

/* An image of the host goes to its shards at once, padded for them before. */
static tt_status send_image(struct flow *flow, const struct ttnn_memory_config *memory)
{
	struct tt_call *call = flow->run->call;
	const struct ttnn_tensor_spec *in = &flow->image->spec;
	const struct ttnn_shard_spec *shard = &memory->shard;
	struct ttnn_shape size = {4,
				  {1, 1, shard->height * tt_parallel_rows(&flow->parallel),
				   shard->width * tt_parallel_channels(&flow->parallel)}};
	struct ttnn_shape start = {.rank = 4};
	const struct ttnn_shape *const shapes[] = {&size, &start};
	bool rows = in->layout == TTNN_ROW_MAJOR && memory->layout != TTNN_HEIGHT_SHARDED;
	bool other = size.dim[2] != in->shape.dim[2] || size.dim[3] != in->shape.dim[3];
	struct tt_tensor *image;

	if (rows && in->shape.dim[3] % shard->width)
		return shard_image(flow, memory);
	if (other && !rows) {
		TT_TRY(tt_host_pad(&image, call, flow->image, shapes, 0));
		replace(flow, image);
	}
	TT_TRY(tt_host_to_device(&image, call, flow->image, flow->conv.device,
				 flow->auto_shard && flow->matmul ? &dram : memory));
	replace(flow, image);
	if (!other || !rows)
		return TTNN_OK;
	TT_TRY(TT_CALL(&image, call, "ttnn.pad", {NULL, ttnn_v_tensor(flow->image)},
		       {"output_padded_shape", ttnn_v_shape(&size)},
		       {"input_tensor_start", ttnn_v_shape(&start)}, {"value", ttnn_v_real(0)}));
	tt_call_overwrite(call, flow->image);
	replace(flow, image);
	return TTNN_OK;
}

/*
 * Where the image has to be, and what it takes to get there. A convolution that is a matmul and
 * was sharded by nobody stays interleaved: matmul then cuts it as it likes.
 */
static tt_status place_image(struct flow *flow)
{
	struct tt_call *call = flow->run->call;
	struct ttnn_memory_config memory;
	struct tt_tensor *flat;
	bool reshard = false;

	TT_TRY(choose_shards(&memory, &reshard, flow));
	TT_TRY(tt_conv_flatten(&flat, call, flow->image));
	if (flat == flow->image)
		ttnn_tensor_unref(flat);
	else
		replace(flow, flat);
	if (!reshard)
		return TTNN_OK;
	if (!tt_tensor_device(flow->image))
		return send_image(flow, &memory);
	if (flow->matmul && flow->image->spec.layout == TTNN_ROW_MAJOR &&
	    flow->parallel.scheme != TTNN_HEIGHT_SHARDED) {
		bool free_input = frees(flow);

		TT_TRY(tilize(flow, free_input));
		if (free_input)
			TT_TRY(move_image(flow));
	}
	if (flow->auto_shard && flow->matmul)
		return TTNN_OK;
	return shard_image(flow, &memory);
}

/* ---- weights ------------------------------------------------------------------------------------------- */

/* One from the device again, if it is not prepared. The caller's to unref. */
static tt_status on_host(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *tensor)
{
	if (tt_tensor_device(tensor))
		return tt_host_from_device(out, call, tensor);
	*out = ttnn_tensor_ref(tensor);
	return TTNN_OK;
}

static tt_status prepare_bias(struct flow *flow, const struct tt_conv_prep *prep)
{
	struct tt_conv_run *run = flow->run;
	struct tt_tensor *host, *ready;
	tt_status status;

	if (!run->bias ||
	    (tt_tensor_device(run->bias) && tt_conv_bias_ready(run->bias, &flow->conv)))
		return TTNN_OK;
	TT_TRY(on_host(&host, run->call, run->bias));
	status = tt_conv_prepare_bias(&ready, run->call, host, prep, run->weight->spec.dtype);
	ttnn_tensor_unref(host);
	TT_TRY(status);
	run->bias = run->new_bias = ready;
	return TTNN_OK;
}

/*
 * Weights and bias in the order in which the program reads them, unless they are: prepared once,
 * on the host, and given back to the caller for the next call.
 */
static tt_status conv_l1_prepare(struct flow *flow, const uint32_t stride[2])
{
	struct tt_conv_run *run = flow->run;
	struct tt_conv_prep prep = {.conv = &flow->conv,
				    .plan = &flow->plan,
				    .alignment = flow->alignment,
				    .matmul = flow->matmul,
				    .interleaved = flow->matmul && flow->auto_shard,
				    .fold = flow->conv.config.fold == TT_CHOICE_YES,
				    .fold_stride = {stride[0], stride[1]}};
	struct tt_tensor *host, *ready;
	tt_status status;

	if (!tt_tensor_device(run->weight) || !tt_conv_weights_ready(run->weight, &flow->conv)) {
		TT_TRY(on_host(&host, run->call, run->weight));
		status = tt_conv_prepare_weights(&ready, run->call, host, &prep);
		ttnn_tensor_unref(host);
		TT_TRY(status);
		run->weight = run->new_weight = ready;
	}
	return prepare_bias(flow, &prep);
}

/* ---- products of matrices ------------------------------------------------------------------------------- */

/*
 * The plan of the convolution as the program config of a matmul: what it would have done itself.
 */
static tt_status matmul_config(struct ttnn_value *out, struct flow *flow)
{
	const struct tt_conv_plan *plan = &flow->plan;
	bool height = flow->parallel.scheme == TTNN_HEIGHT_SHARDED;
	struct ttnn_arg args[] = {
		{"compute_with_storage_grid_size",
		 {.kind = TTNN_VALUE_CORE, .core = plan->out_grid}},
		{"in0_block_w", ttnn_v_int(plan->act_w)},
		{"out_subblock_h", ttnn_v_int(plan->sub_h)},
		{"out_subblock_w", ttnn_v_int(plan->sub_w)},
		{"out_block_h", ttnn_v_int(plan->out_h)},
		{"out_block_w", ttnn_v_int(plan->out_w)},
		{"per_core_M", ttnn_v_int(plan->out_h)},
		{"per_core_N", ttnn_v_int(plan->out_w)},
		{"fused_activation", flow->conv.config.activation},
		{"fuse_batch", ttnn_v_bool(true)},
		{"mcast_in0", ttnn_v_bool(false)},
	};
	size_t count = TT_COUNT(args);

	if (height)
		return tt_object_make(out, flow->run->call->arena,
				      "MatmulMultiCoreReuseMultiCast1DProgramConfig", args, count);
	args[9] = (struct ttnn_arg){"transpose_mcast", ttnn_v_bool(flow->parallel.orientation ==
								   TTNN_ORIENT_COL_MAJOR)};
	return tt_object_make(out, flow->run->call->arena,
			      "MatmulMultiCoreReuseMultiCastProgramConfig", args, count - 1);
}

/*
 * A convolution of single elements: ttnn.linear, with the plan as its config if the image is
 * sharded.
 */
static tt_status multiply(struct tt_tensor **out, struct flow *flow)
{
	struct tt_conv_run *run = flow->run;
	bool free_input = flow->conv.config.free_input && run->in->spec.memory.buffer != TTNN_DRAM;
	struct ttnn_value config = ttnn_v_none();
	struct ttnn_arg args[8];
	size_t count = 0;
	bool sharded;

	TT_TRY(tilize(flow, free_input));
	sharded = tt_tensor_is_sharded(flow->image);
	args[count++] = (struct ttnn_arg){NULL, ttnn_v_tensor(flow->image)};
	args[count++] = (struct ttnn_arg){NULL, ttnn_v_tensor(run->weight)};
	if (run->bias)
		args[count++] = (struct ttnn_arg){"bias", ttnn_v_tensor(run->bias)};
	args[count++] = (struct ttnn_arg){"dtype", ttnn_v_dtype(flow->conv.dtype)};
	args[count++] = (struct ttnn_arg){"compute_kernel_config", flow->conv.compute};
	if (sharded) {
		TT_TRY(matmul_config(&config, flow));
		args[count++] = (struct ttnn_arg){"program_config", config};
		args[count++] =
			(struct ttnn_arg){"memory_config", ttnn_v_memory(&flow->plan.memory)};
	} else if (tt_value_given(&flow->conv.config.activation)) {
		args[count++] = (struct ttnn_arg){"activation", flow->conv.config.activation};
	}
	TT_TRY(tt_call_op(out, run->call, "ttnn.linear", args, count));
	if (free_input)
		tt_call_deallocate(run->call, flow->image);
	return TTNN_OK;
}

/* ---- windows ------------------------------------------------------------------------------------------- */

/* Shards of whole images need no halo, if nothing is padded. */
static bool needs_halo(const struct flow *flow)
{
	const struct tt_conv *c = &flow->conv;

	return c->transposed || flow->parallel.scheme != TTNN_WIDTH_SHARDED ||
	       flow->image->spec.layout != TTNN_ROW_MAJOR ||
	       c->pad[0] + c->pad[1] + c->pad[2] + c->pad[3];
}

/* The halo, or the image itself where no window reaches beyond its own core. */
static tt_status conv_l1_gather(struct tt_haloed *out, struct flow *flow)
{
	struct tt_slide slide = tt_conv_slide(&flow->conv);
	struct tt_halo_args args = {.slide = &slide,
				    .compute = &flow->conv.compute,
				    .tiled_out = true,
				    .tables_in_dram = flow->conv.config.tables_in_dram,
				    .free_input = frees(flow),
				    .take_input = flow->own && !flow->conv.transposed,
				    .move_output = flow->conv.config.move_halo};

	slide.cores_nhw = flow->plan.cores_nhw;
	slide.cores_c = 1;
	slide.cores = flow->image->spec.memory.shard.grid;
	if (needs_halo(flow))
		return tt_halo(out, flow->run->call, flow->image, &args);
	out->halo = flow->own ? flow->image : ttnn_tensor_ref(flow->image);
	out->image = ttnn_tensor_ref(flow->image);
	return TTNN_OK;
}

static tt_status convolve(struct tt_tensor **out, struct tt_haloed *haloed, struct flow *flow)
{
	struct tt_conv_inputs inputs = {.weight = flow->run->weight, .bias = flow->run->bias};

	TT_TRY(conv_l1_gather(haloed, flow));
	inputs.haloed = *haloed;
	flow->conv.config.weights_dtype = flow->run->weight->spec.dtype;
	return tt_conv_launch(out, flow->run->call, &inputs, &flow->conv, &flow->plan);
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

/* The result where the caller wants it; takes over `tensor`. */
static tt_status conv_l1_finish(struct tt_tensor **out, struct tt_conv_run *run,
				struct tt_tensor *tensor)
{
	struct ttnn_arg args[] = {{"tensor", ttnn_v_tensor(tensor)}, {"memory_config", {0}}};

	*out = tensor;
	if (!run->memory || ttnn_memory_config_equal(run->memory, &tensor->spec.memory))
		return TTNN_OK;
	args[1].value = ttnn_v_memory(run->memory);
	return tt_call_overwrite_after(
		run->call, tt_call_op(out, run->call, "ttnn.to_memory_config", args, 2), tensor);
}

/*
 * What the caller left open. Reusing activations excludes double buffers; without shards and
 * without a layout in the config, the sharding that takes the least memory is chosen, for the plain
 * form of a transposed one.
 */
static tt_status prepare_flow(struct flow *flow)
{
	struct tt_conv *conv = &flow->conv;
	struct tt_conv_config *config = &conv->config;
	struct tt_conv plain;

	if (config->reuse)
		config->double_act = config->double_weights = false;
	if ((tt_tensor_device(flow->image) && tt_tensor_is_sharded(flow->image)) ||
	    config->has_layout)
		return TTNN_OK;
	if (!config->has_weights_dtype)
		config->weights_dtype = flow->run->weight->spec.dtype;
	config->has_weights_dtype = true;
	flow->auto_shard = true;
	plain = tt_conv_untransposed(conv);
	TT_TRY(tt_conv_choose_layout(&plain, flow->matmul));
	config->has_layout = true;
	config->layout = plain.config.layout;
	return TTNN_OK;
}

/*
 * One convolution whose image fits into L1: fold, shard, plan, prepare, halo, multiply, and back
 * to the layout that was asked for. What is made on the way is dropped in upstream's order,
 * which recordings show.
 */
tt_status tt_conv_run_l1(struct tt_tensor **out, struct tt_conv_run *run)
{
	struct flow flow = {.run = run};
	struct tt_haloed haloed = {0};
	struct tt_tensor *result = NULL;
	uint32_t stride[2] = {run->fold_stride[0], run->fold_stride[1]};
	tt_status status;

	if (!stride[0]) {
		stride[0] = run->conv.stride[0];
		stride[1] = run->conv.stride[1];
	}
	if (!run->fold_stride[0])
		run->conv.matmul = tt_conv_is_matmul(&run->conv);
	TT_TRY(tt_conv_fold(run));
	flow.conv = run->conv;
	flow.image = run->in;
	flow.matmul = run->conv.matmul;
	TT_TRY(prepare_flow(&flow));
	TT_TRY(place_image(&flow));
	flow.alignment = tt_conv_alignment(flow.image->spec.memory.layout, flow.image->spec.layout,
					   false, flow.matmul, &flow.image->spec.memory);
	TT_TRY(tt_conv_plan(&flow.plan, &flow.conv, &flow.parallel, flow.alignment, flow.matmul));
	TT_TRY(conv_l1_prepare(&flow, stride));
	status = flow.matmul ? multiply(&result, &flow) : convolve(&result, &haloed, &flow);
	if (status == TTNN_OK)
		status = conv_l1_finish(out, run, result);
	ttnn_tensor_unref(haloed.image);
	if (haloed.halo)
		tt_call_drop(run->call, haloed.halo);
	/* Refused, the weights go before it: who owns both gives them up. */
	if (status == TTNN_OK && flow.own && (flow.matmul || flow.conv.transposed))
		tt_call_drop(run->call, flow.image);
	return status;
}
