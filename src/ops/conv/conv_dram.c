/* conv_dram.c: convolutions of images in DRAM, and images that are folded. */
#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

/* ---- folding --------------------------------------------------------------------------------------------- */

/*
 * Strides as large as windows that fit the image: each window is a stick of the folded image,
 * and the convolution a product. Also where the caller asks for it
 * (enable_kernel_stride_folding).
 */
bool tt_conv_folds(const struct tt_conv *c, const struct ttnn_memory_config *memory,
		   enum ttnn_layout layout)
{
	bool padded = c->pad[0] || c->pad[1] || c->pad[2] || c->pad[3];

	if (padded && c->config.replicate)
		return false; /* folding pads with zeros */
	if (c->config.fold != TT_CHOICE_OPEN)
		return c->config.fold == TT_CHOICE_YES;
	for (int d = 0; d < 2; d++)
		if (c->stride[d] != c->kernel[d] || c->dilation[d] != 1 ||
		    (c->in[d] + c->pad[2 * d] + c->pad[2 * d + 1]) % c->stride[d])
			return false;
	if (c->stride[0] == 1 && c->stride[1] == 1)
		return false;
	return (memory->buffer == TTNN_DRAM && (layout == TTNN_ROW_MAJOR || !padded)) ||
	       memory->layout == TTNN_HEIGHT_SHARDED;
}

static tt_status check_fold(const struct tt_conv *c)
{
	static const char *const words[2] = {"height", "width"};

	for (int d = 0; d < 2; d++) {
		uint32_t padded = c->in[d] + c->pad[2 * d] + c->pad[2 * d + 1];

		TT_REQUIRE(
			padded % c->stride[d] == 0,
			d ? "padded_width % stride[1] == 0" : "padded_height % stride[0] == 0",
			"Padded input %s (%u) must be divisible by stride (%u) for kernel stride "
			"folding.",
			words[d], padded, c->stride[d]);
	}
	TT_REQUIRE(c->stride[0] <= c->kernel[0] && c->stride[1] <= c->kernel[1],
		   "stride[0] <= kernel_size[0] && stride[1] <= kernel_size[1]",
		   "Conv2D kernel stride folding: Stride must be less than or equal to kernel "
		   "size");
	return TTNN_OK;
}

static const struct ttnn_memory_config dram = {.layout = TTNN_INTERLEAVED, .buffer = TTNN_DRAM};

/* An image on the host goes to DRAM: *made, NULL if it was there. */
static tt_status send_image(struct tt_tensor **made, struct tt_conv_run *run)
{
	*made = NULL;
	if (tt_tensor_device(run->in))
		return TTNN_OK;
	TT_TRY(tt_host_to_device(made, run->call, run->in, run->conv.device, &dram));
	run->in = tt_call_own(run->call, *made);
	return TTNN_OK;
}

/* Folding wants images, so rows are reshaped before it; padding is part of it. */
static tt_status fold_tensor(struct tt_tensor **out, struct tt_conv_run *run)
{
	const struct tt_conv *c = &run->conv;
	const struct ttnn_shape *is = &run->in->spec.shape;
	struct ttnn_shape shape = {4, {c->batch, c->in[0], c->in[1], c->in_channels}};
	struct tt_reshape_args reshape = {NULL, &shape, &shape, NULL};
	struct ttnn_value pads[4];
	struct tt_tensor *image, *sent;
	struct ttnn_arg args[] = {{NULL, {0}},
				  {"stride_h", ttnn_v_int(c->stride[0])},
				  {"stride_w", ttnn_v_int(c->stride[1])},
				  {"padding", ttnn_v_list(pads, 4)}};

	for (int i = 0; i < 4; i++)
		pads[i] = ttnn_v_int(c->pad[i]);
	TT_TRY(send_image(&sent, run));
	image = reshape.in = run->in;
	if (is->rank == 4 && (is->dim[1] != c->in[0] || is->dim[2] != c->in[1])) {
		TT_TRY(tt_call_reshape(&image, run->call, &reshape));
		tt_call_own(run->call, image);
	}
	args[0].value = ttnn_v_tensor(image);
	TT_TRY(tt_call_op(out, run->call, "ttnn.fold", args, TT_COUNT(args)));
	if (sent && image != sent)
		tt_call_overwrite(run->call, sent);
	if (sent)
		tt_call_overwrite(run->call, image);
	return TTNN_OK;
}

/*
 * What is left of the convolution after folding: stride 1, no padding, channels of a whole
 * square.
 */
void tt_conv_fold_sizes(struct tt_conv *c, uint32_t stride[2])
{
	c->matmul = c->kernel[0] == c->stride[0] && c->kernel[1] == c->stride[1];
	for (int d = 0; d < 2; d++) {
		stride[d] = c->stride[d];
		c->in[d] = (c->in[d] + c->pad[2 * d] + c->pad[2 * d + 1]) / c->stride[d];
		c->kernel[d] = (uint32_t)tt_div_up(c->kernel[d], c->stride[d]);
		c->in_channels *= c->stride[d];
		c->pad[2 * d] = c->pad[2 * d + 1] = 0;
		c->stride[d] = 1;
	}
}

/* Folds where that pays or was asked for; the folded image takes the place of the input. */
tt_status tt_conv_fold(struct tt_conv_run *run)
{
	struct tt_conv *c = &run->conv;
	bool free_input = c->config.free_input && tt_tensor_device(run->in) &&
			  run->in->spec.memory.buffer != TTNN_DRAM;

	if (c->transposed)
		return TTNN_OK;
	c->config.fold = tt_conv_folds(c, &run->in->spec.memory, run->in->spec.layout)
				 ? TT_CHOICE_YES
				 : TT_CHOICE_NO;
	if (c->config.fold == TT_CHOICE_NO || (c->stride[0] == 1 && c->stride[1] == 1))
		return TTNN_OK;
	TT_TRY(check_fold(c));
	TT_TRY(fold_tensor(&run->folded, run));
	if (free_input)
		tt_call_deallocate(run->call, run->in);
	run->in = tt_call_own(run->call, run->folded);
	tt_conv_fold_sizes(c, run->fold_stride);
	return TTNN_OK;
}

/* ---- the operation ----------------------------------------------------------------------------------------- */

/* Slices are cut out of images. */
static tt_status unflatten(struct tt_conv_run *run)
{
	const struct tt_conv *c = &run->conv;
	struct ttnn_shape shape = {4, {c->batch, c->in[0], c->in[1], c->in_channels}};
	struct tt_reshape_args args = {run->in, &shape, &shape, NULL};
	struct tt_tensor *image;

	TT_TRY(tt_call_reshape(&image, run->call, &args));
	if (image == run->in)
		ttnn_tensor_unref(image);
	else
		run->in = tt_call_own(run->call, image);
	TT_REQUIRE(run->in->spec.memory.buffer == TTNN_DRAM,
		   "input_tensor_on_device.memory_config().is_dram()",
		   "Conv DRAM expects the input tensor to be in DRAM.");
	TT_REQUIRE(run->in->spec.memory.layout == TTNN_INTERLEAVED,
		   "input_tensor_on_device.memory_config().memory_layout() == "
		   "TensorMemoryLayout::INTERLEAVED",
		   "Input Tensor to Conv DRAM should be in Interleaved Memory Layout");
	return TTNN_OK;
}

/* Slices write their results into one tensor, which therefore exists before them. */
static tt_status make_output(struct tt_tensor **out, struct tt_conv_run *run)
{
	const struct tt_conv *c = &run->conv;
	struct ttnn_spec_args args = {
		.dtype = c->dtype, .layout = c->config.out_layout, .memory = {.buffer = TTNN_DRAM}};
	struct ttnn_tensor_spec spec;
	uint32_t size[2];

	tt_conv_out(size, c);
	args.shape = (struct ttnn_shape){4, {c->batch, size[0], size[1], c->out_channels}};
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return tt_call_create(out, run->call, c->device, &spec);
}

/* All at once: the output that was made is not needed after all. */
static tt_status run_whole(struct tt_tensor **out, struct tt_conv_run *run)
{
	struct tt_conv_config *config = &run->conv.config;
	struct ttnn_arg args[] = {{"tensor", {0}}, {"memory_config", ttnn_v_memory(&dram)}};
	struct tt_tensor *result;

	run->memory = NULL;
	config->free_input = config->move_halo = true;
	config->out_layout = TTNN_TILE;
	TT_TRY(tt_conv_run_l1(&result, run));
	args[0].value = ttnn_v_tensor(result);
	return tt_call_drop_after(
		run->call, tt_call_op(out, run->call, "ttnn.to_memory_config", args, 2), result);
}

static tt_status flatten_result(struct tt_tensor **out, struct tt_call *call,
				struct tt_tensor *result)
{
	tt_status status = tt_conv_flatten(out, call, result);

	ttnn_tensor_unref(result);
	return status;
}

/*
 * An image in DRAM that is not sharded: slice by slice, each one a convolution in L1, unless it
 * is a product, which needs no halo and reads from DRAM as it is.
 */
tt_status tt_conv_run_dram(struct tt_tensor **out, struct tt_conv_run *run)
{
	struct tt_conv *c = &run->conv;
	struct tt_conv_slices slices;
	struct tt_tensor *result, *given, *image, *sent;
	tt_status status;

	TT_REQUIRE(c->transposed || !c->config.override_output,
		   "!conv_config.override_output_sharding_config",
		   "Conv2D DRAM slicing doesn't support override_output_sharding_config.");
	if (c->transposed && run->slices.given) {
		TT_TRY(tt_conv_choose_slices(&slices, c, &run->slices));
		if (slices.count == 1)
			return tt_conv_run_l1(out, run);
	}
	c->matmul = tt_conv_is_matmul(c);
	TT_TRY(tt_conv_fold(run));
	TT_TRY(send_image(&sent, run));
	if (c->matmul) {
		TT_TRY(tt_conv_run_l1(out, run));
		if (sent)
			tt_call_drop(run->call, sent);
		return TTNN_OK;
	}
	TT_REQUIRE(c->config.out_layout != TTNN_ROW_MAJOR || c->dtype != TTNN_BFLOAT8_B,
		   "!(conv_config.output_layout == Layout::ROW_MAJOR && output_dtype == "
		   "DataType::BFLOAT8_B)",
		   "Conv output can't be in Row Major if output dtype is BFloat8_B.");
	if (!c->config.has_weights_dtype)
		c->config.weights_dtype = run->weight->spec.dtype;
	c->config.has_weights_dtype = true;
	given = run->in;
	TT_TRY(unflatten(run));
	image = run->in;
	TT_TRY(make_output(&result, run));
	tt_call_own(run->call, result);
	TT_TRY(tt_conv_choose_slices(&slices, c, &run->slices));
	if (slices.count == 1) {
		tt_call_deallocate(run->call, result);
		TT_TRY(run_whole(&result, run));
		status = flatten_result(out, run->call, result);
	} else {
		TT_TRY(tt_conv_run_slices(run, result, &slices));
		status = tt_conv_flatten(out, run->call, result);
		if (status == TTNN_OK && tt_tensor_buffer(*out) != tt_tensor_buffer(result))
			tt_call_overwrite(run->call, result);
	}
	/* Before the weights, which the caller may want. */
	if (image != given)
		tt_call_drop(run->call, image);
	if (sent)
		tt_call_drop(run->call, sent);
	return status;
}
