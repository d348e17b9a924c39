/* golden_conv.c: convolutions the slow way. */

#include "golden/golden_window.h"
#include "ops/activation.h"

/* A convolution: images [n, h, w, c], weights [out, in / groups, down, across]. */
struct conv {
	const struct tt_array *in, *weight, *bias;
	int64_t n, h, w, ins, outs, groups;
	int64_t row; /* elements of a pixel: its channels, and what may follow them */
	int64_t kernel[2], stride[2], pad[4], dilation[2], out_pad[2], out[2];
	bool mirror; /* transposed: weights are turned around */
	bool replicate;
};

static void pair(int64_t out[2], const struct tt_golden *golden, const char *name)
{
	int64_t items[2];
	size_t count = 0;

	if (tt_call_ints(items, &count, 2, &golden->call, name) == TTNN_OK && count == 2) {
		out[0] = items[0];
		out[1] = items[1];
	}
}

static void read_pad(struct conv *c, const struct tt_golden *golden)
{
	int64_t pad[4] = {0};
	size_t count = 0;

	(void)tt_call_ints(pad, &count, 4, &golden->call, "padding");
	for (int i = 0; i < 4; i++)
		c->pad[i] = count == 2 ? pad[i / 2] : pad[i];
}

static bool read_conv(struct conv *c, struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct ttnn_value *config = tt_call_arg(call, "conv_config");

	*c = (struct conv){.n = tt_call_int(call, "batch_size", 1),
			   .h = tt_call_int(call, "input_height", 1),
			   .w = tt_call_int(call, "input_width", 1),
			   .ins = tt_call_int(call, "in_channels", 1),
			   .outs = tt_call_int(call, "out_channels", 1),
			   .groups = tt_call_int(call, "groups", 1),
			   .kernel = {1, 1},
			   .stride = {1, 1},
			   .dilation = {1, 1},
			   .mirror = tt_call_bool(call, "mirror_kernel", true)};
	c->groups += !c->groups; /* none given as 0 */
	pair(c->kernel, golden, "kernel_size");
	pair(c->stride, golden, "stride");
	pair(c->dilation, golden, "dilation");
	pair(c->out_pad, golden, "output_padding");
	read_pad(c, golden);
	c->replicate = config->kind == TTNN_VALUE_OBJECT && config->count > 20 &&
		       config->items[20].integer == 1; /* padding_mode */
	c->in = tt_golden_in(golden, "input_tensor");
	c->weight = tt_golden_in(golden, "weight_tensor");
	c->bias = tt_golden_in(golden, "bias_tensor");
	if (!c->in || !c->weight)
		return false;
	c->row = c->in->shape.rank == 4 && c->in->shape.dim[3] > c->ins ? c->in->shape.dim[3]
									: c->ins;
	return true;
}

static double bias_of(const struct conv *c, int64_t channel)
{
	return c->bias ? *tt_at(c->bias, channel) : 0;
}

static int64_t clamp(int64_t place, int64_t last)
{
	return place < 0 ? 0 : place > last ? last : place;
}

/* A result at (image, row, column, channel). */
static double plain_at(const struct conv *c, const int64_t at[4])
{
	int64_t ins = c->ins / c->groups, group = at[3] / (c->outs / c->groups);
	double sum = 0;

	for (int64_t i = 0; i < c->kernel[0]; i++)
		for (int64_t j = 0; j < c->kernel[1]; j++) {
			int64_t y = at[1] * c->stride[0] - c->pad[0] + i * c->dilation[0];
			int64_t x = at[2] * c->stride[1] - c->pad[2] + j * c->dilation[1];

			if (c->replicate) {
				y = clamp(y, c->h - 1);
				x = clamp(x, c->w - 1);
			}
			if (y < 0 || x < 0 || y >= c->h || x >= c->w)
				continue;
			for (int64_t k = 0; k < ins; k++)
				sum += *tt_at(c->in, ((at[0] * c->h + y) * c->w + x) * c->row +
							     group * ins + k) *
				       *tt_at(c->weight, ((at[3] * ins + k) * c->kernel[0] + i) *
									 c->kernel[1] +
								 j);
		}
	return sum + bias_of(c, at[3]);
}

/* The element of a kernel that meets input (y, x) at a result; weights are [in, out / groups, ..]. */
static double transposed_at(const struct conv *c, const int64_t at[4])
{
	int64_t ins = c->ins / c->groups, outs = c->outs / c->groups, group = at[3] / outs;
	double sum = 0;

	for (int64_t i = 0; i < c->kernel[0]; i++)
		for (int64_t j = 0; j < c->kernel[1]; j++) {
			int64_t y = at[1] + c->pad[0] - i * c->dilation[0];
			int64_t x = at[2] + c->pad[2] - j * c->dilation[1];
			int64_t a = c->mirror ? i : c->kernel[0] - 1 - i;
			int64_t b = c->mirror ? j : c->kernel[1] - 1 - j;

			if (c->replicate) { /* zeros between pixels come first */
				y = clamp(y, (c->h - 1) * c->stride[0]);
				x = clamp(x, (c->w - 1) * c->stride[1]);
			}
			if (y < 0 || x < 0 || y % c->stride[0] || x % c->stride[1])
				continue;
			y /= c->stride[0];
			x /= c->stride[1];
			if (y >= c->h || x >= c->w)
				continue;
			for (int64_t k = group * ins; k < (group + 1) * ins; k++)
				sum += *tt_at(c->in, ((at[0] * c->h + y) * c->w + x) * c->row + k) *
				       *tt_at(c->weight, ((k * outs + at[3] % outs) * c->kernel[0] +
							  a) * c->kernel[1] +
								 b);
		}
	return sum + bias_of(c, at[3]);
}

/* The activation of the configuration object, field 1. */
static tt_status activation(struct tt_unary_step *steps, size_t *count,
			    const struct tt_golden *golden)
{
	const struct ttnn_value *config = tt_call_arg(&golden->call, "conv_config");
	struct ttnn_value chain;

	*count = 0;
	if (config->kind != TTNN_VALUE_OBJECT || config->count < 2 ||
	    !tt_value_given(&config->items[1]))
		return TTNN_OK;
	chain = ttnn_v_list(&config->items[1], 1);
	return tt_unary_steps(steps, count, &chain);
}

/* So that nothing below divides by nothing, overflows, or goes on for ever. */
static bool is_sound(const struct conv *c)
{
	const int64_t positive[] = {c->groups,    c->kernel[0],   c->kernel[1],  c->stride[0],
				    c->stride[1], c->dilation[0], c->dilation[1]};
	const int64_t extents[] = {c->n,      c->h,      c->w,      c->ins,    c->outs,  c->pad[0],
				   c->pad[1], c->pad[2], c->pad[3], c->out[0], c->out[1]};
	int64_t weights = (int64_t)c->weight->count;

	for (size_t i = 0; i < TT_COUNT(positive); i++)
		if (positive[i] < 1 || positive[i] > UINT16_MAX)
			return false;
	for (size_t i = 0; i < TT_COUNT(extents); i++)
		if (extents[i] < 0 || extents[i] > INT32_MAX)
			return false;
	return c->outs >= c->groups && c->n * c->out[0] <= INT32_MAX &&
	       c->n * c->out[0] * c->out[1] <= UINT32_MAX &&
	       c->kernel[0] * c->kernel[1] <= weights && c->ins / c->groups <= weights;
}

static tt_status run(struct tt_golden *golden, const struct conv *c, bool transposed)
{
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct ttnn_shape shape = {
		4, {1, 1, (uint32_t)(c->n * c->out[0] * c->out[1]), (uint32_t)c->outs}};
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", c->in->dtype);
	struct tt_array *out;
	uint64_t flat = 0;
	size_t count;

	TT_NEED(is_sound(c), "a convolution with these extents has no golden");
	out = tt_golden_out(golden, &shape, dtype);
	if (!out)
		return TTNN_NOMEM;
	TT_TRY(activation(steps, &count, golden));
	for (int64_t n = 0; n < c->n; n++)
		for (int64_t y = 0; y < c->out[0]; y++)
			for (int64_t x = 0; x < c->out[1]; x++)
				for (int64_t o = 0; o < c->outs; o++, flat++) {
					const int64_t at[4] = {n, y, x, o};
					double value =
						transposed ? transposed_at(c, at) : plain_at(c, at);

					*tt_at(out, flat) =
						tt_golden_chain(steps, count, dtype, value);
				}
	return TTNN_OK;
}

static int64_t plain_size(const struct conv *c, int d)
{
	int64_t in = d ? c->w : c->h;

	if (c->stride[d] < 1)
		return -1; /* which is not sound */
	return (in + c->pad[2 * d] + c->pad[2 * d + 1] - c->dilation[d] * (c->kernel[d] - 1) - 1) /
		       c->stride[d] +
	       1;
}

tt_status tt_golden_conv2d(struct tt_golden *golden)
{
	struct conv c;

	if (!read_conv(&c, golden))
		return TTNN_NOMEM;
	c.out[0] = plain_size(&c, 0);
	c.out[1] = plain_size(&c, 1);
	return run(golden, &c, false);
}

tt_status tt_golden_conv1d(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct ttnn_value *pad = tt_call_arg(call, "padding");
	int64_t sides[2] = {0};
	struct conv c;

	if (!read_conv(&c, golden))
		return TTNN_NOMEM;
	c.h = 1;
	c.w = tt_call_int(call, "input_length", 1);
	c.kernel[1] = tt_call_int(call, "kernel_size", 1);
	c.stride[1] = tt_call_int(call, "stride", 1);
	c.dilation[1] = tt_call_int(call, "dilation", 1);
	if (pad->kind == TTNN_VALUE_INT)
		sides[0] = sides[1] = pad->integer;
	else
		pair(sides, golden, "padding");
	c.pad[2] = sides[0];
	c.pad[3] = sides[1];
	c.pad[0] = c.pad[1] = 0;
	c.kernel[0] = c.stride[0] = c.dilation[0] = 1;
	c.out[0] = 1;
	c.out[1] = plain_size(&c, 1);
	return run(golden, &c, false);
}

tt_status tt_golden_conv_transpose2d(struct tt_golden *golden)
{
	struct conv c;

	if (!read_conv(&c, golden))
		return TTNN_NOMEM;
	for (int d = 0; d < 2; d++)
		c.out[d] = ((d ? c.w : c.h) - 1) * c.stride[d] - c.pad[2 * d] - c.pad[2 * d + 1] +
			   c.dilation[d] * (c.kernel[d] - 1) + c.out_pad[d] + 1;
	return run(golden, &c, true);
}
