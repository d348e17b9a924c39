/* conv3d_weights.c: weights of convolutions of volumes, as their program reads them (prepare_conv3d_weights of ttnn 0.81). */
#include "backend/backend.h"
#include "ops/conv/conv3d.h"
#include "ops/movement/movement.h"

#define L1_ALIGNMENT 16u

uint32_t tt_conv3d_block(const uint32_t kernel[3])
{
	uint64_t taps = (uint64_t)kernel[0] * kernel[1] * kernel[2];
	uint32_t block = L1_ALIGNMENT;

	return taps * block % TT_TILE ? 2 * block : block;
}

/* Weights of groups on the diagonal of those of all channels; zeros beside. */
static tt_status fill_groups(struct tt_tensor *out, struct tt_tensor *in, uint32_t groups)
{
	const uint32_t *dim = in->spec.shape.dim;
	uint32_t outs = dim[0] / groups;
	const struct tt_move_loop loops[] = {{outs, 0, 0, 1, 1},
					     {dim[1], 1, 1, 1, 1},
					     {dim[2], 2, 2, 1, 1},
					     {dim[3], 3, 3, 1, 1},
					     {dim[4], 4, 4, 1, 1}};
	struct tt_move_job job = {
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)};

	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	for (uint32_t g = 0; g < groups; g++) {
		job.in_start[0] = job.out_start[0] = (int64_t)g * outs;
		job.out_start[1] = (int64_t)g * dim[1];
		TT_TRY(tt_backend_get()->move(&job));
	}
	return TTNN_OK;
}

/* The weights of all channels on the device. */
static tt_status spread_groups(struct tt_tensor **out, struct tt_call *call,
			       const struct tt_conv3d_prep *prep, struct tt_tensor *host)
{
	struct ttnn_spec_args args = {.shape = host->spec.shape,
				      .dtype = host->spec.dtype,
				      .memory = {.buffer = TTNN_DRAM}};
	uint64_t channels = (uint64_t)args.shape.dim[1] * (uint64_t)prep->groups;
	struct ttnn_tensor_spec spec;
	struct tt_tensor *hollow;
	tt_status status;

	if (channels > UINT32_MAX)
		return tt_fail(TTNN_INVALID, "too many groups of channels");
	args.shape.dim[1] = (uint32_t)channels;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(tt_host_hollow(&hollow, &spec));
	status = tt_host_to_device(out, call, hollow, prep->device, NULL);
	ttnn_tensor_unref(hollow);
	if (status != TTNN_OK || tt_run_mode() == TTNN_RUN_NO_DISPATCH)
		return status;
	for (uint32_t chip = 0; chip < tt_tensor_chips(*out) && status == TTNN_OK; chip++) {
		struct tt_tensor *to, *from = NULL;

		status = tt_tensor_resident(&to, *out, chip, TT_BUFFER_OVERWRITE);
		if (status != TTNN_OK)
			break;
		status = tt_tensor_resident(&from, host, chip, TT_BUFFER_READ);
		if (status == TTNN_OK)
			status = fill_groups(to, from, (uint32_t)prep->groups);
		ttnn_tensor_unref(from);
		ttnn_tensor_unref(to);
	}
	if (status != TTNN_OK)
		ttnn_tensor_unref(*out);
	return status;
}

static tt_status upload(struct tt_tensor **out, struct tt_call *call,
			const struct tt_conv3d_prep *prep)
{
	struct tt_tensor *host;
	tt_status status;

	if (prep->groups <= 1)
		return tt_host_to_device(out, call, prep->weight, prep->device, NULL);
	if (!tt_tensor_device(prep->weight))
		return spread_groups(out, call, prep, prep->weight);
	TT_TRY(tt_host_from_device(&host, call, prep->weight));
	status = spread_groups(out, call, prep, host);
	ttnn_tensor_unref(host);
	return status;
}

static tt_status weights_check(const struct tt_conv3d_prep *prep)
{
	const struct ttnn_shape *shape = &prep->weight->spec.shape;
	uint64_t volume;

	if (shape->rank != 5)
		return tt_fail(TTNN_INVALID,
			       "weights of a convolution of volumes have 5 dimensions, not %u",
			       shape->rank);
	TT_TRY(ttnn_shape_volume(&volume, shape));
	if (!volume || prep->alignment < 1 || prep->alignment > UINT16_MAX)
		return tt_fail(TTNN_INVALID,
			       "weights without elements, or an alignment of channels that is not "
			       "from 1 to 65535");
	if (prep->groups > 1 && shape->dim[0] % (uint64_t)prep->groups)
		return tt_fail(TTNN_INVALID, "%u output channels do not divide into %lld groups",
			       shape->dim[0], (long long)prep->groups);
	if (!prep->device)
		return tt_device_check_open(prep->device);
	return TTNN_OK;
}

/* Channels as many as the alignment wants, zeros behind. */
static tt_status pad_channels(struct tt_tensor **weight, struct tt_call *call, uint32_t more)
{
	struct ttnn_value sides[5][2], pairs[5];
	struct tt_tensor *next;

	for (int d = 0; d < 5; d++) {
		sides[d][0] = ttnn_v_int(0);
		sides[d][1] = ttnn_v_int(d == 3 ? more : 0);
		pairs[d] = ttnn_v_list(sides[d], 2);
	}
	return tt_call_replace(weight, call,
			       TT_CALL(&next, call, "ttnn.pad", {NULL, ttnn_v_tensor(*weight)},
				       {"padding", ttnn_v_list(pairs, 5)},
				       {"value", ttnn_v_real(0)}),
			       &next);
}

static tt_status permute(struct tt_tensor **weight, struct tt_call *call, const uint32_t *dims)
{
	struct tt_tensor *next;

	return tt_call_replace(
		weight, call,
		tt_call_permute(&next, call, &(struct tt_permute_args){*weight, dims, NULL, 0}),
		&next);
}

static tt_status reshape(struct tt_tensor **weight, struct tt_call *call, struct ttnn_shape shape)
{
	struct tt_tensor *next;

	return tt_call_replace(
		weight, call,
		tt_call_reshape(&next, call,
				&(struct tt_reshape_args){.in = *weight, .shape = &shape}),
		&next);
}

/* [kernel, channels, out] → [blocks, kernel, channels of a block, out] → rows. */
static tt_status block_channels(struct tt_tensor **weight, struct tt_call *call, int64_t given)
{
	static const uint32_t outward[] = {3, 0, 1, 2, 4, 5};
	const struct ttnn_shape was = (*weight)->spec.shape;
	const uint32_t *dim = was.dim;
	uint32_t block = tt_conv3d_block(dim);

	if (given)
		block = given > UINT32_MAX ? UINT32_MAX : (uint32_t)given;
	else if (block > dim[3])
		block = dim[3];
	TT_REQUIRE(dim[3] % block == 0, "num_C_in_blocks * C_in_block == C_in_aligned",
		   "C_in_aligned must be divisible by C_in_block");
	TT_TRY(reshape(
		weight, call,
		(struct ttnn_shape){6, {dim[0], dim[1], dim[2], dim[3] / block, block, dim[4]}}));
	TT_TRY(permute(weight, call, outward));
	return reshape(weight, call, TT_SHAPE(dim[0] * dim[1] * dim[2] * dim[3], dim[4]));
}

tt_status tt_conv3d_prepare(struct tt_tensor **out, struct tt_call *call,
			    const struct tt_conv3d_prep *prep)
{
	static const uint32_t channels_last[] = {2, 3, 4, 1, 0};
	struct tt_tensor *weight = NULL;
	uint32_t beyond;
	tt_status status;

	TT_TRY(weights_check(prep));
	TT_TRY(upload(&weight, call, prep));
	status = permute(&weight, call, channels_last);
	if (status == TTNN_OK) {
		beyond = weight->spec.shape.dim[3] % (uint32_t)prep->alignment;
		if (beyond)
			status = pad_channels(&weight, call, (uint32_t)prep->alignment - beyond);
	}
	if (status == TTNN_OK)
		status = block_channels(&weight, call, prep->block);
	if (status == TTNN_OK)
		*out = weight;
	else if (weight)
		tt_call_drop(call, weight);
	return status;
}
