/* conv_weights.c: weights and biases of convolutions, as programs read them. */
#include <inttypes.h>

#include "ops/conv/conv.h"
#include "ops/movement/movement.h"

/* ---- sizes --------------------------------------------------------------------------------------------- */

struct matrix {
	uint32_t rows, cols;               /* logical */
	uint32_t padded_rows, padded_cols; /* as stored */
	uint32_t channels;                 /* in, before padding */
	uint32_t in, out;                  /* channels, padded */
};

static uint32_t align(uint64_t value, uint64_t unit)
{
	return (uint32_t)tt_align_to(value, unit);
}

/*
 * Weights as a matrix: rows are window × channels in the order in which blocks are multiplied,
 * with every block padded to tiles, so that the order depends on the sharding.
 */
static void matrix_rows(struct matrix *m, const struct tt_conv_prep *prep)
{
	const struct tt_conv *conv = prep->conv;
	const struct tt_conv_plan *plan = prep->plan;
	uint32_t h = conv->kernel[0], w = conv->kernel[1];
	uint32_t share = m->in / plan->cores_in;
	bool depthwise = tt_conv_is_depthwise_1d(conv);
	uint32_t block = (depthwise ? plan->act_h * w : plan->act_w) * TT_TILE;

	switch (plan->in.scheme) {
	case TTNN_HEIGHT_SHARDED:
		m->padded_rows = conv->config.reuse ? block : block * h;
		break;
	case TTNN_BLOCK_SHARDED:
		m->padded_rows =
			plan->cores_in * (conv->config.full_inner
						  ? align((uint64_t)share * w * h, TT_TILE)
						  : align((uint64_t)share * w, TT_TILE) * h);
		break;
	default:
		m->padded_rows = align((uint64_t)m->in * h * w, block);
	}
}

/* What upstream makes of the weights: padded for the cores that read them. */
static struct matrix matrix_of(const struct tt_conv_prep *prep)
{
	const struct tt_conv *conv = prep->conv;
	const struct tt_conv_plan *plan = prep->plan;
	uint32_t channels = tt_conv_is_depthwise_1d(conv) && !prep->matmul ? plan->act_h * TT_TILE
									   : conv->in_channels;
	struct matrix m = {.rows = channels * conv->kernel[0] * conv->kernel[1],
			   .cols = conv->out_channels,
			   .channels = channels};

	if (prep->interleaved) {
		m.in = channels;
		m.out = conv->out_channels;
		m.padded_rows = align(m.rows, TT_TILE);
		m.padded_cols = align(m.cols, TT_TILE);
		return m;
	}
	m.in = align(channels, (uint64_t)plan->cores_in * prep->alignment);
	m.out = align(conv->out_channels, (uint64_t)plan->cores_out * TT_TILE);
	m.padded_cols =
		plan->in.scheme == TTNN_BLOCK_SHARDED ? m.out : align(m.out, plan->sub_w * TT_TILE);
	matrix_rows(&m, prep);
	return m;
}

/* ---- scopes -------------------------------------------------------------------------------------------- */

/* A step on the host that is recorded, with what it is given behind the tensor. */
struct step {
	const char *name;
	struct ttnn_value args[4];
	size_t arg_count;
};

/* Its result has no bytes. The step takes over *tensor. */
static tt_status record_step(struct tt_tensor **tensor, struct tt_call *call, struct step *step,
			     const struct ttnn_tensor_spec *spec)
{
	struct tt_tensor *out = NULL;
	tt_status status;

	step->args[0] = ttnn_v_tensor(*tensor);
	tt_host_begin(call, step->name, step->args, step->arg_count);
	status = tt_host_hollow(&out, spec);
	tt_host_end(call, status == TTNN_OK ? out : NULL, status);
	ttnn_tensor_unref(*tensor);
	*tensor = out;
	return status;
}

static tt_status spec_of(struct ttnn_tensor_spec *out, const struct ttnn_shape *shape,
			 enum ttnn_dtype dtype, enum ttnn_layout layout)
{
	struct ttnn_spec_args args = {
		.shape = *shape, .dtype = dtype, .layout = layout, .memory = {.buffer = TTNN_DRAM}};

	return ttnn_tensor_spec_make(out, &args);
}

/* What upstream makes in between without telling: another tensor, with a number of its own. */
static tt_status made_anew(struct tt_tensor **tensor, const struct ttnn_shape *shape,
			   enum ttnn_layout layout)
{
	struct ttnn_tensor_spec spec;
	struct tt_tensor *out;

	TT_TRY(spec_of(&spec, shape, (*tensor)->spec.dtype, layout));
	TT_TRY(tt_host_hollow(&out, &spec));
	ttnn_tensor_unref(*tensor);
	*tensor = out;
	return TTNN_OK;
}

/* The steps between the caller's weights and the device, without bytes. */
static tt_status emit_steps(struct tt_tensor **tensor, struct tt_call *call,
			    const struct tt_conv_prep *prep, const struct matrix *m)
{
	const struct tt_conv *conv = prep->conv;
	enum ttnn_dtype dtype = (*tensor)->spec.dtype;
	struct ttnn_shape padded = {4, {m->out, m->in, conv->kernel[0], conv->kernel[1]}};
	struct ttnn_shape stored = {4, {1, 1, m->padded_rows, m->padded_cols}};
	struct ttnn_spec_args args = {.shape = {4, {1, 1, m->rows, m->cols}},
				      .dtype = dtype,
				      .layout = TTNN_TILE,
				      .memory = {.buffer = TTNN_DRAM}};
	const struct ttnn_shape whole = {
		4, {conv->out_channels, conv->in_channels, conv->kernel[0], conv->kernel[1]}};
	static const struct ttnn_shape start = {4, {0}};
	struct step pad = {"Tensor::pad",
			   {{0}, ttnn_v_shape(&padded), ttnn_v_shape(&start), ttnn_v_int(0)},
			   4};
	struct step tile = {"Tensor::to_layout", {{0}, ttnn_v_layout(TTNN_TILE)}, 2};
	struct step reshape = {
		"Tensor::reshape", {{0}, ttnn_v_shape(&args.shape), ttnn_v_shape(&stored)}, 3};
	struct ttnn_tensor_spec spec;

	/* Turned around, folded, and with zeros for other groups, they are new ones. */
	if (conv->transposed || prep->fold)
		TT_TRY(made_anew(tensor, &whole, TTNN_ROW_MAJOR));
	if (conv->groups > 1)
		TT_TRY(made_anew(tensor, &whole, TTNN_ROW_MAJOR));
	if (m->in != m->channels || m->out != conv->out_channels) {
		struct ttnn_spec_args inside = {.shape = whole, .dtype = dtype};

		TT_TRY(tt_tensor_spec_padded(&spec, &inside, &padded));
		TT_TRY(record_step(tensor, call, &pad, &spec));
	}
	TT_TRY(made_anew(tensor, &stored, TTNN_ROW_MAJOR));
	TT_TRY(spec_of(&spec, &stored, dtype, TTNN_TILE));
	TT_TRY(record_step(tensor, call, &tile, &spec));
	TT_TRY(made_anew(tensor, &stored, TTNN_TILE));
	if (m->rows == m->padded_rows && m->cols == m->padded_cols)
		return TTNN_OK;
	TT_TRY(tt_tensor_spec_padded(&spec, &args, &stored));
	return record_step(tensor, call, &reshape, &spec);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static tt_status move(struct tt_tensor *out, struct tt_tensor *in,
		      const struct tt_move_loop loops[5], const int64_t starts[4])
{
	struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 5};

	job.in_start[2] = starts[0];
	job.in_start[3] = starts[1];
	job.out_start[2] = starts[2];
	job.out_start[3] = starts[3];
	return tt_backend_get()->move(&job);
}

/* From [out, in / groups, down, across]; channels that image or weights do not have count nothing. */
static tt_status fill_plain(struct tt_tensor *out, struct tt_tensor *in, const struct tt_conv *conv)
{
	uint32_t ins = conv->in_channels / conv->groups, w = conv->kernel[1];
	uint32_t given = in->spec.shape.dim[1];
	const struct tt_move_loop loops[5] = {
		{conv->out_channels, 0, 3, 1, 1},
		{given < ins ? given : ins, 1, 2, 1, 1},
		{conv->kernel[0], 2, 2, 1, (int64_t)w * ins},
		{w, 3, 2, 1, ins},
		{1, -1, -1, 0, 0},
	};

	if (given < ins)
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return move(out, in, loops, (const int64_t[4]){0});
}

/* From [in, out / groups, down, across], mirrored if `mirror`. */
static tt_status fill_transposed(struct tt_tensor *out, struct tt_tensor *in,
				 const struct tt_conv *conv)
{
	uint32_t ins = conv->in_channels / conv->groups, outs = conv->out_channels / conv->groups;
	uint32_t h = conv->kernel[0], w = conv->kernel[1];
	int64_t step = conv->mirror ? -1 : 1;
	const struct tt_move_loop loops[5] = {
		{conv->groups, 0, 3, ins, outs},   {ins, 0, 2, 1, 1},    {outs, 1, 3, 1, 1},
		{h, 2, 2, step, (int64_t)w * ins}, {w, 3, 2, step, ins},
	};

	return move(out, in, loops,
		    (const int64_t[4]){conv->mirror ? h - 1 : 0, conv->mirror ? w - 1 : 0, 0, 0});
}

/* A row for every input channel: what other groups do not see is 0. */
static tt_status fill_dense(struct tt_tensor *out, struct tt_tensor *in, const struct tt_conv *conv)
{
	uint32_t ins = conv->in_channels / conv->groups, outs = conv->out_channels / conv->groups;

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (uint32_t g = 0; g < conv->groups; g++) {
		int64_t to[4] = {0, 0, (int64_t)g * ins, (int64_t)g * outs};
		const struct tt_move_loop loops[2] = {{outs, conv->transposed ? 1 : 0, 3, 1, 1},
						      {ins, conv->transposed ? 0 : 1, 2, 1, 1}};
		struct tt_move_job job = {.out = out, .in = in, .loops = loops, .loop_count = 2};

		job.out_start[2] = to[2];
		job.out_start[3] = to[3];
		job.in_start[0] = conv->transposed ? to[2] : to[3];
		TT_TRY(tt_backend_get()->move(&job));
	}
	return TTNN_OK;
}

/* The elements of a kernel that meet the same place of a folded image become channels. */
static tt_status fill_folded(struct tt_tensor *out, struct tt_tensor *in,
			     const struct tt_conv_prep *prep)
{
	const struct tt_conv *conv = prep->conv;
	const uint32_t *s = prep->fold_stride, *dim = in->spec.shape.dim;
	int64_t ins = conv->in_channels / (s[0] * s[1]);
	int64_t row = (int64_t)conv->kernel[1] * conv->in_channels;

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (uint32_t y = 0; y < s[0] && y < dim[2]; y++)
		for (uint32_t x = 0; x < s[1] && x < dim[3]; x++) {
			const struct tt_move_loop loops[5] = {
				{conv->out_channels, 0, 3, 1, 1},
				{dim[1] < ins ? dim[1] : (uint32_t)ins, 1, 2, 1, 1},
				{(dim[2] - y + s[0] - 1) / s[0], 2, 2, s[0], row},
				{(dim[3] - x + s[1] - 1) / s[1], 3, 2, s[1], conv->in_channels},
				{1, -1, -1, 0, 0},
			};
			const int64_t starts[4] = {y, x, ((int64_t)y * s[1] + x) * ins, 0};

			TT_TRY(move(out, in, loops, starts));
		}
	return TTNN_OK;
}

/* Grouped weights are spread to a dense matrix with zeros between the groups. */
static tt_status fill_part(struct tt_tensor *out, struct tt_tensor *in,
			   const struct tt_conv_prep *prep)
{
	const struct tt_conv *conv = prep->conv;

	if (prep->fold)
		return fill_folded(out, in, prep);
	if (prep->matmul && conv->groups > 1)
		return fill_dense(out, in, conv);
	if (conv->groups > 1)
		TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return conv->transposed ? fill_transposed(out, in, conv) : fill_plain(out, in, conv);
}

static tt_status conv_weights_fill(struct tt_tensor *out, struct tt_tensor *in,
				   const struct tt_conv_prep *prep)
{
	tt_status status = TTNN_OK;

	if (tt_run_mode() == TTNN_RUN_NO_DISPATCH)
		return TTNN_OK;
	for (uint32_t chip = 0; chip < tt_tensor_chips(out) && status == TTNN_OK; chip++) {
		struct tt_tensor *to, *from;

		TT_TRY(tt_tensor_resident(&to, out, chip, TT_BUFFER_OVERWRITE));
		status = tt_tensor_resident(&from, in, chip, TT_BUFFER_READ);
		if (status == TTNN_OK) {
			status = fill_part(to, from, prep);
			ttnn_tensor_unref(from);
		}
		ttnn_tensor_unref(to);
	}
	return status;
}

/* ---- weights ------------------------------------------------------------------------------------------- */

/* Weights and image may have different channels, as upstream's; a product wants as many. */
static tt_status check_channels(const struct ttnn_shape *weight, const struct tt_conv_prep *prep)
{
	const struct tt_conv *conv = prep->conv;
	const uint32_t *s = prep->fold_stride, *dim = weight->dim;
	uint32_t ins = conv->in_channels / (prep->fold ? s[0] * s[1] : 1) / conv->groups;
	uint32_t given = conv->transposed ? dim[0] / conv->groups : dim[1];

	TT_REQUIRE(!(prep->fold && prep->matmul) || given == ins, "a_shape[-1] == b_shape[-2]",
		   "The width of the first tensor must be equal to the height of the second "
		   "tensor. Mismatch: width=%" PRIu32 " height=%" PRIu32,
		   conv->in_channels, given * dim[2] * dim[3]);
	if (conv->transposed && given < ins)
		return tt_fail(TTNN_INVALID,
			       "the weights are for %" PRIu32 " channels in each of %" PRIu32
			       " groups, the image has %" PRIu32,
			       given, conv->groups, ins);
	return TTNN_OK;
}

static tt_status check_weights(const struct tt_tensor *weight, const struct tt_conv_prep *prep)
{
	TT_REQUIRE(weight->spec.layout == TTNN_ROW_MAJOR,
		   "weight_tensor.layout() == Layout::ROW_MAJOR",
		   "Host conv weights layout should be in row_major layout");
	TT_REQUIRE(weight->spec.shape.rank == 4, "weight_tensor.logical_shape().rank() == 4",
		   "Host conv weights should be 4D tensor");
	return check_channels(&weight->spec.shape, prep);
}

/* Weights of one dimension get the other. */
static tt_status in_four(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *weight,
			 const struct tt_conv *conv)
{
	const uint32_t *dim = weight->spec.shape.dim;
	struct ttnn_shape shape = {4, {dim[0], dim[1], 1, dim[2]}};
	struct tt_reshape_args args = {.in = weight, .shape = &shape};

	if (weight->spec.shape.rank == 3 && conv->in[0] == 1)
		return tt_call_reshape(out, call, &args);
	*out = ttnn_tensor_ref(weight);
	return TTNN_OK;
}

static tt_status to_device(struct tt_tensor **out, struct tt_call *call, struct tt_tensor **hollow,
			   const struct tt_conv *conv)
{
	struct tt_tensor *typed;

	if (conv->config.has_weights_dtype) {
		TT_TRY(tt_host_to_dtype(&typed, call, *hollow, conv->config.weights_dtype));
		ttnn_tensor_unref(*hollow);
		*hollow = typed;
	}
	return tt_host_to_device(out, call, *hollow, conv->device, NULL);
}

tt_status tt_conv_prepare_weights(struct tt_tensor **out, struct tt_call *call,
				  struct tt_tensor *weight, const struct tt_conv_prep *prep)
{
	struct matrix matrix = matrix_of(prep);
	struct tt_tensor *four, *hollow;
	tt_status status;

	TT_TRY(in_four(&four, call, weight, prep->conv));
	hollow = ttnn_tensor_ref(four);
	status = check_weights(four, prep);
	if (status == TTNN_OK)
		status = emit_steps(&hollow, call, prep, &matrix);
	if (status == TTNN_OK)
		status = to_device(out, call, &hollow, prep->conv);
	if (status == TTNN_OK) {
		status = conv_weights_fill(*out, four, prep);
		if (status != TTNN_OK)
			ttnn_tensor_unref(*out);
	}
	ttnn_tensor_unref(hollow);
	ttnn_tensor_unref(four);
	return status;
}

bool tt_conv_weights_ready(const struct tt_tensor *weight, const struct tt_conv *conv)
{
	const struct ttnn_tensor_spec *spec = &weight->spec;
	const uint32_t *dim = spec->shape.dim;

	return spec->layout == TTNN_TILE && spec->shape.rank == 4 && dim[0] == 1 && dim[1] == 1 &&
	       dim[3] >= conv->out_channels &&
	       (!conv->config.has_weights_dtype || spec->dtype == conv->config.weights_dtype);
}

/* ---- biases -------------------------------------------------------------------------------------------- */

static tt_status check_bias(const struct tt_tensor *bias, uint32_t channels)
{
	const struct ttnn_shape *shape = &bias->spec.shape;

	TT_REQUIRE(shape->rank == 4 && shape->dim[3] == channels,
		   "bias_tensor_.logical_shape()[3] == out_channels",
		   "Bias must have the same length as output channels");
	TT_REQUIRE(bias->spec.layout == TTNN_ROW_MAJOR, "bias_tensor.layout() == Layout::ROW_MAJOR",
		   "Host conv bias layout should be in row_major layout");
	TT_REQUIRE(shape->dim[0] == 1 && shape->dim[1] == 1 && shape->dim[2] == 1,
		   "bias_shape[0] == 1 && bias_shape[1] == 1 && bias_shape[2] == 1",
		   "Host conv bias shape is not correct");
	return TTNN_OK;
}

static tt_status to_tiles(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_layout(TTNN_TILE)};
	tt_status status;

	tt_host_begin(call, "Tensor::to_layout", args, TT_COUNT(args));
	status = ttnn_tensor_to_layout(out, in, TTNN_TILE, 0);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

tt_status tt_conv_prepare_bias(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *bias,
			       const struct tt_conv_prep *prep, enum ttnn_dtype dtype)
{
	const struct tt_conv_plan *plan = prep->plan;
	uint32_t channels = align(prep->conv->out_channels, (uint64_t)plan->cores_out * TT_TILE);
	struct ttnn_shape size = {4, {1, 1, TT_TILE, align(channels, plan->sub_w * TT_TILE)}};
	struct ttnn_shape start = {4, {0}};
	const struct ttnn_shape *const shapes[] = {&size, &start};
	struct tt_tensor *padded, *tiled, *typed;
	tt_status status;

	TT_TRY(check_bias(bias, prep->conv->out_channels));
	TT_TRY(tt_host_pad(&padded, call, bias, shapes, 0));
	status = to_tiles(&tiled, call, padded);
	ttnn_tensor_unref(padded);
	TT_TRY(status);
	typed = tiled;
	if (tiled->spec.dtype != dtype) {
		status = tt_host_to_dtype(&typed, call, tiled, dtype);
		ttnn_tensor_unref(tiled);
		TT_TRY(status);
	}
	status = tt_host_to_device(out, call, typed, prep->conv->device, NULL);
	ttnn_tensor_unref(typed);
	return status;
}

bool tt_conv_bias_ready(const struct tt_tensor *bias, const struct tt_conv *conv)
{
	const struct ttnn_tensor_spec *spec = &bias->spec;

	return spec->layout == TTNN_TILE && spec->shape.rank == 4 &&
	       spec->shape.dim[3] >= conv->out_channels &&
	       (!conv->config.has_weights_dtype || spec->dtype == conv->config.weights_dtype);
}
