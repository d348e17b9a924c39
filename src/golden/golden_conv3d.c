/* golden_conv3d.c: convolutions of volumes, and their weights, the slow way. */
#include <string.h>

#include "golden/golden_window.h"

/* Volumes [n, t, h, w, c]. Index 0 of three is along t. */
struct conv3d {
	const struct tt_array *in, *weight, *low, *bias, *halo, *origin;
	int64_t dim[5], kernel[3], stride[3], pad[3], dilation[3], out[3];
	int64_t outs, groups, block, mask[2], rim[2];
	bool replicate;
};

static void three(int64_t out[3], const struct tt_golden *golden, const char *name)
{
	size_t count = 0;

	if (tt_call_ints(out, &count, 3, &golden->call, name) != TTNN_OK || count != 3)
		out[0] = out[1] = out[2] = 1;
}

/* The channels of a block of rows: field 6 of the configuration, or what suits kernels of so many elements. */
static int64_t block_of(const struct tt_golden *golden, int64_t taps)
{
	const struct ttnn_value *config = tt_call_arg(&golden->call, "config");
	int64_t block = 0;

	if (config->kind == TTNN_VALUE_OBJECT && config->count > 6)
		block = config->items[6].integer;
	return block > 0 ? block : taps % 2 ? 32 : 16;
}

static bool read_conv(struct conv3d *c, struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct ttnn_value *mode = tt_call_arg(call, "padding_mode");
	const struct ttnn_value *config = tt_call_arg(call, "config");

	*c = (struct conv3d){
		.in = tt_golden_in(golden, "input_tensor"),
		.weight = tt_golden_in(golden, "weight_tensor"),
		.low = tt_golden_in(golden, "weight_lo_tensor"),
		.bias = tt_golden_in(golden, "bias_tensor"),
		.halo = tt_golden_in(golden, "halo_buffer"),
		.origin = tt_golden_in(golden, "pad_offset_tensor"),
		.outs = tt_call_int(call, "output_channels", 1),
		.groups = tt_call_int(call, "groups", 1),
		.mask = {tt_call_int(call, "logical_h_mask", 0),
			 tt_call_int(call, "logical_w_mask", 0)},
		.rim = {tt_call_int(call, "output_pad_h", 0), tt_call_int(call, "output_pad_w", 0)},
		.replicate =
			mode->kind == TTNN_VALUE_STRING && strcmp(mode->text, "replicate") == 0};
	three(c->kernel, golden, "kernel_size");
	three(c->stride, golden, "stride");
	three(c->pad, golden, "padding");
	three(c->dilation, golden, "dilation");
	if (c->dilation[0] == 1 && c->dilation[1] == 1 && c->dilation[2] == 1 &&
	    config->kind == TTNN_VALUE_OBJECT && config->count > 7 && config->items[7].count == 3)
		for (int d = 0; d < 3; d++)
			c->dilation[d] = config->items[7].items[d].integer;
	if (!c->in || !c->weight || c->in->shape.rank != 5 || c->groups < 1 ||
	    c->outs < c->groups || c->kernel[0] > UINT16_MAX || c->kernel[1] > UINT16_MAX ||
	    c->kernel[2] > UINT16_MAX || (c->weight->shape.rank != 2 && c->weight->shape.rank != 5))
		return false;
	c->block = block_of(golden, c->kernel[0] * c->kernel[1] * c->kernel[2]);
	for (int d = 0; d < 5; d++)
		c->dim[d] = c->in->shape.dim[d];
	for (int d = 0; d < 3; d++) {
		int64_t room = c->dim[1 + d] + 2 * c->pad[d] - c->dilation[d] * (c->kernel[d] - 1);

		if (c->stride[d] < 1 || c->kernel[d] < 1 || room < 1)
			return false;
		c->out[d] = (room - 1) / c->stride[d] + 1;
	}
	return true;
}

/* The weight between two channels at an element of the kernel. */
static double weight_at(const struct conv3d *c, const struct tt_array *weight, int64_t out,
			int64_t in, int64_t tap)
{
	int64_t taps = c->kernel[0] * c->kernel[1] * c->kernel[2], ins;

	if (weight->shape.rank == 2)
		return *tt_at(weight,
			      (uint64_t)(((in / c->block * taps + tap) * c->block + in % c->block) *
						 c->outs +
					 out));
	ins = weight->shape.dim[1];
	in -= out / (c->outs / c->groups) * ins;
	return in < 0 || in >= ins ? 0 : *tt_at(weight, (uint64_t)((out * ins + in) * taps + tap));
}

/* What neighbours have: sticks above, below, left and right, each section for all slices. */
static double halo_at(const struct conv3d *c, const int64_t at[5])
{
	int64_t slices = c->dim[0] * c->dim[1], slice = at[0] * c->dim[1] + at[1];
	int64_t h = c->dim[2], w = c->dim[3], tall = h + 2 * c->pad[1], stick = 0;

	if (at[3] < 0 || at[3] >= w) {
		stick = 2 * slices * c->pad[1] * w;
		stick += at[3] < 0 ? 0 : slices * c->pad[2] * tall;
		stick += (slice * tall + at[2] + c->pad[1]) * c->pad[2];
		stick += at[3] < 0 ? at[3] + c->pad[2] : at[3] - w;
	} else {
		stick = at[2] < 0 ? 0 : slices * c->pad[1] * w;
		stick += (slice * c->pad[1] + (at[2] < 0 ? at[2] + c->pad[1] : at[2] - h)) * w;
		stick += at[3];
	}
	return *tt_at(c->halo, (uint64_t)(stick * c->dim[4] + at[4]));
}

static double value_at(const struct conv3d *c, const int64_t at[5])
{
	int64_t flat = at[0];
	bool outside = false;

	for (int d = 0; d < 2; d++) {
		int64_t start = c->origin ? (int64_t)*tt_at(c->origin, (uint64_t)d) : 0;
		int64_t place = start + at[2 + d];

		if (c->origin && c->mask[d] && (place < 0 || place >= c->mask[d]))
			return 0;
	}
	for (int d = 1; d < 4; d++) {
		int64_t place = at[d] < 0 ? 0 : at[d] >= c->dim[d] ? c->dim[d] - 1 : at[d];

		outside = outside || place != at[d];
		flat = flat * c->dim[d] + place;
	}
	if (outside && c->halo)
		return at[1] < 0 || at[1] >= c->dim[1] ? 0 : halo_at(c, at);
	return outside && !c->replicate ? 0 : *tt_at(c->in, (uint64_t)(flat * c->dim[4] + at[4]));
}

/* The result at (n, t, h, w) in an output channel. */
static double result_at(const struct conv3d *c, const int64_t place[4], int64_t out)
{
	int64_t taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
	double sum = c->bias ? *tt_at(c->bias, (uint64_t)out) : 0;

	for (int64_t tap = 0; tap < taps; tap++) {
		int64_t k[3] = {tap / c->kernel[2] / c->kernel[1],
				tap / c->kernel[2] % c->kernel[1], tap % c->kernel[2]};
		int64_t at[5] = {place[0]};

		for (int d = 0; d < 3; d++)
			at[1 + d] = place[1 + d] * c->stride[d] - c->pad[d] + k[d] * c->dilation[d];
		for (at[4] = 0; at[4] < c->dim[4]; at[4]++) {
			double weight = weight_at(c, c->weight, out, at[4], tap);

			if (c->low)
				weight += weight_at(c, c->low, out, at[4], tap);
			sum += weight * value_at(c, at);
		}
	}
	return sum;
}

tt_status tt_golden_conv3d(struct tt_golden *golden)
{
	struct conv3d c;
	struct ttnn_shape shape = {5, {0}};
	struct tt_array *out;
	uint64_t at[5];

	if (!read_conv(&c, golden))
		return tt_fail(TTNN_INVALID, "volumes and weights that do not fit together");
	shape.dim[0] = (uint32_t)c.dim[0];
	for (int d = 0; d < 3; d++)
		shape.dim[1 + d] = (uint32_t)(c.out[d] + (d ? 2 * c.rim[d - 1] : 0));
	shape.dim[4] = (uint32_t)c.outs;
	out = tt_golden_out(golden, &shape, tt_call_dtype(&golden->call, "dtype", c.in->dtype));
	if (!out)
		return TTNN_NOMEM;
	for (uint64_t i = 0; i < out->count; i++) {
		int64_t place[4];
		bool inside = true;

		tt_array_coordinate(at, out, i);
		for (int d = 0; d < 4; d++) {
			place[d] = (int64_t)at[d] - (d > 1 ? c.rim[d - 2] : 0);
			inside = inside && place[d] >= 0 && (!d || place[d] < c.out[d - 1]);
		}
		out->data[i] = inside ? result_at(&c, place, (int64_t)at[4]) : 0;
	}
	return TTNN_OK;
}

tt_status tt_golden_conv3d_weights(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct tt_array *in = tt_golden_in(golden, "weight_tensor");
	int64_t alignment = tt_call_int(call, "alignment", 32), block, channels, taps;
	struct conv3d c = {.groups = tt_call_int(call, "groups", 1)};
	struct tt_array *out;

	if (!in || in->shape.rank != 5 || alignment < 1)
		return tt_fail(TTNN_INVALID, "weights of volumes have 5 dimensions");
	if (c.groups < 1)
		c.groups = 1;
	c.outs = in->shape.dim[0];
	if (!in->count || c.outs % c.groups)
		return tt_fail(TTNN_INVALID, "weights that do not divide into groups");
	for (int d = 0; d < 3; d++)
		c.kernel[d] = in->shape.dim[2 + d];
	taps = c.kernel[0] * c.kernel[1] * c.kernel[2];
	channels = (in->shape.dim[1] * c.groups + alignment - 1) / alignment * alignment;
	block = tt_call_int(call, "C_in_block", 0);
	if (block < 1)
		block = block_of(golden, taps) < channels ? block_of(golden, taps) : channels;
	if (channels % block)
		return tt_fail(TTNN_INVALID, "blocks that do not divide the channels");
	out = tt_golden_out(
		golden, &(struct ttnn_shape){2, {(uint32_t)(taps * channels), (uint32_t)c.outs}},
		in->dtype);
	if (!out)
		return TTNN_NOMEM;
	for (int64_t row = 0; row < taps * channels; row++)
		for (int64_t o = 0; o < c.outs; o++)
			*tt_at(out, (uint64_t)(row * c.outs + o)) =
				weight_at(&c, in, o, row / block / taps * block + row % block,
					  row / block % taps);
	return TTNN_OK;
}
