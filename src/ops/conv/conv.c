/* conv.c: the operations that convolve images. */
#include "ops/conv/conv.h"

#include <string.h>

#include "golden/golden_window.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

/* ---- arguments ------------------------------------------------------------------------------------------- */

/* How exact the engine multiplies: the caller's object, or upstream's default for convolutions. */
static tt_status conv_compute(struct tt_conv *conv, struct tt_call *call, enum ttnn_dtype weights)
{
	const struct ttnn_value *given = tt_call_arg(call, "compute_config");
	bool fp32 = conv->in_dtype == TTNN_FLOAT32 && weights == TTNN_FLOAT32;
	const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true, .fp32 = fp32};

	conv->compute = tt_compute_config(call, given, &usual);
	if (!tt_value_given(&conv->compute))
		return tt_fail_nomem();
	conv->fp32 = conv->compute.items[TT_COMPUTE_FP32].boolean;
	conv->l1_acc = conv->compute.items[TT_COMPUTE_L1_ACC].boolean;
	return TTNN_OK;
}

/* Groups that divide the channels. 0 is one group, as upstream asks only whether there are more. */
static tt_status conv_groups(struct tt_conv *conv, struct tt_call *call)
{
	int64_t groups = tt_call_int(call, "groups", 1);

	conv->groups_given = (uint32_t)groups;
	conv->groups = groups ? (uint32_t)groups : 1;
	if (groups > UINT32_MAX || conv->in_channels % conv->groups ||
	    conv->out_channels % conv->groups)
		return tt_fail(TTNN_INVALID,
			       "%u input and %u output channels do not divide into %lld groups",
			       conv->in_channels, conv->out_channels, (long long)groups);
	return TTNN_OK;
}

/* What all have in common. */
static tt_status common_args(struct tt_conv_run *run, struct tt_call *call, const char *slices)
{
	struct tt_conv *conv = &run->conv;

	*run = (struct tt_conv_run){.call = call,
				    .in = tt_call_tensor(call, "input_tensor"),
				    .weight = tt_call_tensor(call, "weight_tensor"),
				    .bias = tt_call_tensor(call, "bias_tensor"),
				    .memory = tt_call_memory(call, "memory_config")};
	*conv = (struct tt_conv){
		.device = tt_call_arg(call, "device")->device,
		.batch = (uint32_t)tt_call_int(call, "batch_size", 1),
		.in_channels = (uint32_t)tt_call_int(call, "in_channels", 1),
		.out_channels = (uint32_t)tt_call_int(call, "out_channels", 1),
		.in = {1, 1},
		.kernel = {1, 1},
		.stride = {1, 1},
		.dilation = {1, 1},
		.bias = run->bias != NULL,
		.in_dtype = run->in->spec.dtype,
		.in_layout = run->in->spec.layout,
	};
	conv->dtype = tt_call_dtype(call, "dtype", conv->in_dtype);
	tt_conv_config_read(&conv->config, tt_call_arg(call, "conv_config"));
	tt_conv_slices_read(&run->slices, tt_call_arg(call, slices));
	TT_TRY(conv_groups(conv, call));
	return conv_compute(conv, call,
			    conv->config.has_weights_dtype ? conv->config.weights_dtype
							   : run->weight->spec.dtype);
}

static tt_status image_args(struct tt_conv *conv, struct tt_call *call)
{
	conv->in[0] = (uint32_t)tt_call_int(call, "input_height", 1);
	conv->in[1] = (uint32_t)tt_call_int(call, "input_width", 1);
	TT_TRY(tt_slide_pair(conv->kernel, call, "kernel_size"));
	TT_TRY(tt_slide_pair(conv->stride, call, "stride"));
	TT_TRY(tt_slide_pair(conv->dilation, call, "dilation"));
	return tt_slide_padding(conv->pad, call);
}

/* A window must fit, and step. */
static tt_status conv_check(const struct tt_conv *conv)
{
	for (int d = 0; d < 2; d++) {
		uint64_t reach = (uint64_t)conv->dilation[d] * (conv->kernel[d] - 1) + 1;

		if (!conv->in[d] || !conv->kernel[d] || !conv->stride[d] || !conv->dilation[d] ||
		    !conv->batch)
			return tt_fail(TTNN_INVALID,
				       "a convolution needs sizes, strides and dilations of at "
				       "least 1");
		if (!conv->transposed &&
		    reach > (uint64_t)conv->in[d] + conv->pad[2 * d] + conv->pad[2 * d + 1])
			return tt_fail(TTNN_INVALID,
				       "a kernel that reaches over %llu elements does not fit into "
				       "%u with padding",
				       (unsigned long long)reach, conv->in[d]);
	}
	return TTNN_OK;
}

/* ---- running --------------------------------------------------------------------------------------------- */

static bool through_l1(const struct tt_conv_run *run)
{
	return run->slices.given ? run->slices.kind == TT_SLICE_L1
				 : run->in->spec.memory.buffer == TTNN_L1;
}

/* Weights that were made on the way go to the caller, or go: after a failure the last made first. */
static void give_weights(struct tt_conv_run *run, bool wanted, bool ok)
{
	struct tt_tensor *made[] = {run->new_weight, run->new_bias},
			 *used[] = {run->weight, run->bias};

	for (int n = 0; n < 2; n++) {
		int i = ok ? n : 1 - n;

		if (wanted && ok && used[i])
			tt_call_return(run->call, made[i] ? made[i] : ttnn_tensor_ref(used[i]));
		else if (made[i])
			tt_call_drop(run->call, made[i]);
	}
}

static tt_status run_conv(struct tt_conv_run *run)
{
	bool wanted = tt_call_bool(run->call, "return_weights_and_bias", false);
	struct tt_tensor *out;
	tt_status status;
	uint32_t size[2];

	TT_TRY(conv_check(&run->conv));
	tt_conv_out(size, &run->conv);
	status = through_l1(run) ? tt_conv_run_l1(&out, run) : tt_conv_run_dram(&out, run);
	if (status == TTNN_OK)
		tt_call_return(run->call, out);
	if (status == TTNN_OK && tt_call_bool(run->call, "return_output_dim", false))
		run->call->extents = (struct ttnn_shape){2, {size[0], size[1]}};
	if (run->folded && status == TTNN_OK)
		tt_call_drop(run->call, run->folded);
	give_weights(run, wanted, status == TTNN_OK);
	return status;
}

static tt_status expand_conv2d(struct tt_call *call)
{
	struct tt_conv_run run;

	TT_TRY(common_args(&run, call, "slice_config"));
	TT_TRY(image_args(&run.conv, call));
	return run_conv(&run);
}

static tt_status expand_transposed(struct tt_call *call)
{
	struct tt_conv_run run;

	TT_TRY(common_args(&run, call, "dram_slice_config"));
	TT_TRY(image_args(&run.conv, call));
	TT_TRY(tt_slide_pair(run.conv.out_pad, call, "output_padding"));
	run.conv.transposed = true;
	run.conv.mirror = tt_call_bool(call, "mirror_kernel", true);
	return run_conv(&run);
}

/* A line is an image of height 1. */
static tt_status as_image(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			  const struct ttnn_shape *shape)
{
	struct tt_reshape_args args = {.in = in, .shape = shape};

	return tt_call_owned(call, tt_call_reshape(out, call, &args), out);
}

static tt_status line_padding(uint32_t out[4], const struct tt_call *call)
{
	const struct ttnn_value *value = tt_call_arg(call, "padding");
	uint32_t sides[2] = {0};

	if (value->kind == TTNN_VALUE_INT)
		sides[0] = sides[1] = (uint32_t)value->integer;
	else
		TT_TRY(tt_slide_pair(sides, call, "padding"));
	out[2] = sides[0];
	out[3] = sides[1];
	return TTNN_OK;
}

static tt_status expand_conv1d(struct tt_call *call)
{
	struct tt_conv_run run;
	struct tt_conv *conv = &run.conv;
	const struct ttnn_shape *weight;
	struct ttnn_shape shape;

	TT_TRY(common_args(&run, call, "slice_config"));
	TT_REQUIRE(!run.slices.given || run.slices.kind != TT_SLICE_HEIGHT,
		   "slice_config->slice_type != "
		   "ttnn::prim::Conv2dSliceConfig::SliceType::DRAM_HEIGHT",
		   "Conv1D does not support DRAM_HEIGHT slicing because the convolution height is "
		   "always 1. Use DRAM_WIDTH slicing (slices along input_length) or L1_FULL.");
	conv->in[1] = (uint32_t)tt_call_int(call, "input_length", 1);
	conv->kernel[1] = (uint32_t)tt_call_int(call, "kernel_size", 1);
	conv->stride[1] = (uint32_t)tt_call_int(call, "stride", 1);
	conv->dilation[1] = (uint32_t)tt_call_int(call, "dilation", 1);
	TT_TRY(line_padding(conv->pad, call));
	shape = (struct ttnn_shape){4, {conv->batch, 1, conv->in[1], conv->in_channels}};
	if (run.in->spec.shape.rank < 4)
		TT_TRY(as_image(&run.in, call, run.in, &shape));
	weight = &run.weight->spec.shape;
	if (weight->rank == 3 && !tt_tensor_device(run.weight)) {
		shape = (struct ttnn_shape){4, {weight->dim[0], weight->dim[1], 1, weight->dim[2]}};
		TT_TRY(as_image(&run.weight, call, run.weight, &shape));
	}
	TT_TRY(run_conv(&run));
	if (call->extents.rank)
		call->extents = (struct ttnn_shape){1, {call->extents.dim[1]}};
	return TTNN_OK;
}

/* ---- weights beforehand ------------------------------------------------------------------------------------ */

/* Weights or a bias on the way to what a convolution reads. */
struct ahead {
	struct tt_conv conv;
	struct ttnn_memory_config memory; /* of the input that will come */
	bool has_dtype;                   /* the caller said of which type the weights will be */
	bool sliced;                      /* into more than one slice */
	struct tt_conv_plan plan;
	struct tt_conv_prep prep;
};

static tt_status ahead_args(struct ahead *ahead, struct tt_call *call, enum ttnn_dtype weights)
{
	struct tt_conv *conv = &ahead->conv;

	ahead->sliced = false;
	*conv = (struct tt_conv){
		.device = tt_call_arg(call, "device")->device,
		.batch = (uint32_t)tt_call_int(call, "batch_size", 1),
		.in_channels = (uint32_t)tt_call_int(call, "in_channels", 1),
		.out_channels = (uint32_t)tt_call_int(call, "out_channels", 1),
		.stride = {1, 1},
		.dilation = {1, 1},
		.bias = tt_call_bool(call, "has_bias", true),
		.in_dtype = tt_call_dtype(call, "input_dtype", TTNN_BFLOAT16),
		.in_layout = (enum ttnn_layout)tt_call_arg(call, "input_layout")->integer,
		.transposed = strstr(call->entry->op->name, "transpose") != NULL,
		.mirror = tt_call_bool(call, "mirror_kernel", true),
	};
	ahead->memory = *tt_call_memory(call, "input_memory_config");
	conv->dtype = tt_call_dtype(call, "output_dtype", conv->in_dtype);
	tt_conv_config_read(&conv->config, tt_call_arg(call, "conv_config"));
	ahead->has_dtype = conv->config.has_weights_dtype;
	if (!ahead->has_dtype)
		conv->config.weights_dtype = weights;
	conv->config.has_weights_dtype = true;
	TT_TRY(image_args(conv, call));
	TT_TRY(tt_slide_pair(conv->out_pad, call, "output_padding"));
	TT_TRY(conv_groups(conv, call));
	TT_TRY(conv_check(conv));
	return conv_compute(conv, call, conv->config.weights_dtype);
}

/* What upstream measures slices with has these on the device. */
static tt_status make_stand_ins(struct tt_tensor *out[2], struct tt_call *call,
				const struct tt_conv *conv)
{
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	uint32_t groups = conv->transposed ? 1 : conv->groups;
	const struct ttnn_shape shapes[] = {{4,
					     {conv->out_channels, conv->in_channels / groups,
					      conv->kernel[0], conv->kernel[1]}},
					    {4, {1, 1, 1, conv->out_channels}}};
	struct ttnn_tensor_spec spec;

	for (int i = 0; i < 1 + conv->bias; i++) {
		TT_TRY(tt_spec_simple(&spec, &shapes[i], conv->config.weights_dtype, TTNN_ROW_MAJOR,
				      &dram));
		TT_TRY(tt_call_create(&out[i], call, conv->device, &spec));
	}
	return TTNN_OK;
}

/* An image in DRAM comes slice by slice, unless it is a product or a line. */
static tt_status plan_slices(struct ahead *ahead, struct tt_call *call)
{
	struct tt_conv *conv = &ahead->conv;
	struct tt_conv_slices request = {0}, slices;
	struct tt_tensor *made[2] = {NULL, NULL};
	bool line = conv->kernel[0] == 1 && conv->in[0] == 1;
	tt_status status;

	if (tt_call_tensor(call, "weight_tensor")) /* for a bias it is not heeded */
		tt_conv_slices_read(
			&request,
			tt_call_arg(call, conv->transposed ? "dram_slice_config" : "slice_config"));
	if (request.given ? request.kind == TT_SLICE_L1 : ahead->memory.buffer == TTNN_L1)
		return TTNN_OK;
	TT_REQUIRE(!conv->transposed || ahead->has_dtype, "conv_config.weights_dtype.has_value()",
		   "get_cb_info expects conv_config.weights_dtype to be already set");
	if (line || conv->matmul)
		return TTNN_OK;
	status = make_stand_ins(made, call, conv);
	if (status == TTNN_OK)
		status = tt_conv_choose_slices(&slices, conv, &request);
	if (status == TTNN_OK && !conv->transposed)
		status = tt_conv_first_slice(&ahead->memory, conv, &slices);
	ahead->sliced = status == TTNN_OK && slices.count > 1;
	for (int i = 2; i-- > 0;)
		if (made[i])
			tt_call_drop(call, made[i]);
	return status;
}

/* The plan that the convolution will follow. */
static tt_status plan_ahead(struct ahead *ahead, struct tt_call *call)
{
	struct tt_conv *conv = &ahead->conv;
	struct tt_conv_config *config = &conv->config;
	struct tt_parallel parallel;
	bool sharded, automatic;
	struct tt_conv plain;

	ahead->prep = (struct tt_conv_prep){.conv = conv,
					    .plan = &ahead->plan,
					    .fold_stride = {conv->stride[0], conv->stride[1]}};
	conv->matmul = tt_conv_is_matmul(conv);
	if (!conv->transposed && tt_conv_folds(conv, &ahead->memory, conv->in_layout) &&
	    (conv->stride[0] > 1 || conv->stride[1] > 1)) {
		ahead->prep.fold = true;
		tt_conv_fold_sizes(conv, ahead->prep.fold_stride);
	}
	config->fold = ahead->prep.fold ? TT_CHOICE_YES : TT_CHOICE_NO;
	TT_TRY(plan_slices(ahead, call));
	sharded = ahead->memory.has_shard;
	automatic = !sharded && !config->has_layout;
	parallel = tt_parallel_of(&ahead->memory);
	if (automatic) {
		plain = tt_conv_untransposed(conv);
		TT_TRY(tt_conv_choose_layout(&plain, conv->matmul));
		config->has_layout = true;
		config->layout = plain.config.layout;
	}
	ahead->prep.matmul = conv->matmul;
	ahead->prep.interleaved = conv->matmul && automatic;
	ahead->prep.alignment =
		tt_conv_alignment(sharded ? ahead->memory.layout : config->layout, conv->in_layout,
				  ahead->sliced, conv->matmul, sharded ? &ahead->memory : NULL);
	if (!sharded || config->reshard)
		TT_TRY(tt_conv_parallel(&parallel, conv, conv->matmul, ahead->prep.alignment));
	if (config->override_cores && config->cores)
		parallel.grid = config->cores;
	return tt_conv_plan(&ahead->plan, conv, &parallel, ahead->prep.alignment, conv->matmul);
}

static tt_status expand_weights(struct tt_call *call)
{
	struct tt_tensor *weight = tt_call_tensor(call, "weight_tensor"), *out;
	struct ahead ahead;

	TT_TRY(tt_need_host(weight));
	TT_TRY(ahead_args(&ahead, call, weight->spec.dtype));
	TT_TRY(plan_ahead(&ahead, call));
	return tt_call_give(call, tt_conv_prepare_weights(&out, call, weight, &ahead.prep), &out);
}

static tt_status expand_bias(struct tt_call *call)
{
	struct tt_tensor *bias = tt_call_tensor(call, "bias_tensor"), *out;
	struct ahead ahead;

	TT_TRY(tt_need_host(bias));
	TT_TRY(ahead_args(&ahead, call, bias->spec.dtype));
	TT_TRY(plan_ahead(&ahead, call));
	return tt_call_give(call,
			    tt_conv_prepare_bias(&out, call, bias, &ahead.prep,
						 ahead.conv.config.weights_dtype),
			    &out);
}

/* ---- the rows -------------------------------------------------------------------------------------------- */

#define OP(name_, gives_, expand_, golden_, doc_, sig_)                                            \
	{                                                                                          \
		.name = "ttnn." name_, .family = "conv", .doc = doc_, .sigs = {sig_},              \
		.expand = expand_, .golden = golden_, .gives = gives_                              \
	}
/* Bound without a decorator; compared by the convolutions that they are for: they have no goldens of their own. */
#define AHEAD_OP(name_, expand_, doc_, sig_)                                                       \
	{                                                                                          \
		.name = "ttnn." name_, .family = "conv_weights", .doc = doc_, .frontend = "",      \
		.sigs = {sig_}, .expand = expand_                                                  \
	}
#define TENSORS                                                                                    \
	"*, input_tensor: Tensor, weight_tensor: Tensor, device: Device, in_channels: size, "      \
	"out_channels: size, batch_size: size, "
#define IMAGE                                                                                      \
	TENSORS "input_height: size, input_width: size, kernel_size: sizes, stride: sizes = [], "  \
		"padding: sizes = [], "
#define MORE                                                                                        \
	"groups: size = 1, dtype: DataType? = None, bias_tensor: Tensor? = None, conv_config: any " \
	"? = None, compute_config: ComputeConfig? = None, memory_config: MemoryConfig? = None, "
#define AHEAD_TENSOR(name_)                                                                        \
	"*, " name_ ": Tensor, input_memory_config: MemoryConfig, input_layout: Layout, "
#define AHEAD_IMAGE                                                                                \
	"in_channels: size, out_channels: size, batch_size: size, input_height: size, "            \
	"input_width: size, kernel_size: sizes, stride: sizes, padding: sizes, "
#define AHEAD_MORE                                                                                 \
	"groups: size, device: Device, input_dtype: DataType, output_dtype: DataType? = None, "    \
	"conv_config: any ? = None, compute_config: ComputeConfig? = None, "
#define RETURNS "return_output_dim: bool = False, return_weights_and_bias: bool = False"

/* What it gives: the output, its extents, the prepared weights and bias. */
#define TUPLE(extents_) "Tensor, " extents_ ", (Tensor, Tensor)"

static const struct tt_op ops[] = {
	OP("conv2d", TUPLE("(int, int)"), expand_conv2d, tt_golden_conv2d,
	   "Convolves images with kernels.",
	   IMAGE "dilation: sizes = [], " MORE "slice_config: any ? = None, " RETURNS),
	OP("conv1d", TUPLE("int"), expand_conv1d, tt_golden_conv1d, "Convolves lines with kernels.",
	   TENSORS
	   "input_length: size, kernel_size: size, stride: size = 1, padding: sizes | size = 0, "
	   "dilation: size = 1, " MORE "slice_config: any ? = None, " RETURNS),
	OP("conv_transpose2d", TUPLE("(int, int)"), expand_transposed, tt_golden_conv_transpose2d,
	   "The transpose of convolving images: enlarges them.",
	   IMAGE "output_padding: sizes = [], dilation: sizes = [], " MORE
		 "dram_slice_config: any ? = None, mirror_kernel: bool = True, " RETURNS),
	AHEAD_OP("prepare_conv_weights", expand_weights,
		 "Weights as convolutions read them, so that they need not do it again.",
		 AHEAD_TENSOR("weight_tensor") "weights_format: str, " AHEAD_IMAGE
					       "dilation: sizes, has_bias: bool, " AHEAD_MORE
					       "slice_config: any ? = None"),
	AHEAD_OP("prepare_conv_bias", expand_bias, "The same for a bias.",
		 AHEAD_TENSOR("bias_tensor") AHEAD_IMAGE "dilation: sizes, " AHEAD_MORE
							 "slice_config: any ? = None"),
	AHEAD_OP("prepare_conv_transpose2d_weights", expand_weights,
		 "Weights as transposed convolutions read them.",
		 AHEAD_TENSOR("weight_tensor") "weights_format: str, " AHEAD_IMAGE
					       "output_padding: sizes = [0, 0], dilation: sizes, "
					       "has_bias: bool, " AHEAD_MORE
					       "dram_slice_config: any ? = None, "
					       "mirror_kernel: bool = True"),
	AHEAD_OP("prepare_conv_transpose2d_bias", expand_bias, "The same for a bias.",
		 AHEAD_TENSOR("bias_tensor") AHEAD_IMAGE "dilation: sizes, " AHEAD_MORE
							 "dram_slice_config: any ? = None"),
};

const struct tt_op_family tt_family_conv = {"conv", ops, TT_COUNT(ops)};
