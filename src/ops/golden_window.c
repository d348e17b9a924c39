#include "ops/golden_window.h"

#include <math.h>

/* A list of whole numbers; false when it was not given. */
static bool ints(int64_t *out, size_t most, const struct tt_golden *golden, const char *name)
{
	size_t count = 0;

	return tt_call_ints(out, &count, most, &golden->call, name) == TTNN_OK && count;
}

/* ---- pools --------------------------------------------------------------------------------------------- */

struct pool {
	int64_t n, h, w, c;
	int64_t kernel[2], stride[2], pad[4], dilation[2]; /* pad: top, bottom, left, right */
	int64_t out[2];
	bool count_padding;
	double divisor;
};

static int64_t out_size(const struct pool *p, int d, bool ceil_mode)
{
	int64_t in = d ? p->w : p->h, reach = p->dilation[d] * (p->kernel[d] - 1) + 1;
	int64_t span = in + p->pad[2 * d] + p->pad[2 * d + 1] - reach;
	int64_t out = (ceil_mode ? span + p->stride[d] - 1 : span) / p->stride[d] + 1;

	if (ceil_mode && (out - 1) * p->stride[d] >= in + p->pad[2 * d])
		out--;
	return out;
}

static void read_pool(struct pool *p, const struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	int64_t pad[4] = {0};
	size_t count = 0;

	*p = (struct pool){.n = tt_call_int(call, "batch_size", 1),
			   .h = tt_call_int(call, "input_h", 1),
			   .w = tt_call_int(call, "input_w", 1),
			   .c = tt_call_int(call, "channels", 1),
			   .dilation = {1, 1},
			   .count_padding = tt_call_bool(call, "count_include_pad", true),
			   .divisor = (double)tt_call_int(call, "divisor_override", 0)};
	ints(p->kernel, 2, golden, "kernel_size");
	ints(p->stride, 2, golden, "stride");
	ints(p->dilation, 2, golden, "dilation");
	(void)tt_call_ints(pad, &count, 4, call, "padding");
	for (int i = 0; i < 4; i++)
		p->pad[i] = count == 2 ? pad[i / 2] : pad[i];
	for (int d = 0; d < 2; d++)
		p->out[d] = out_size(p, d, tt_call_bool(call, "ceil_mode", false));
}

/* One result: where it is in `at` (n, y, x, c). */
static double pool_at(int64_t *where, const struct pool *p, const struct tt_array *in,
		      const int64_t at[4], bool average)
{
	double best = -INFINITY, sum = 0, counted = 0;

	for (int64_t i = 0; i < p->kernel[0]; i++)
		for (int64_t j = 0; j < p->kernel[1]; j++) {
			int64_t y = at[1] * p->stride[0] - p->pad[0] + i * p->dilation[0];
			int64_t x = at[2] * p->stride[1] - p->pad[2] + j * p->dilation[1];
			bool padded = y < p->h + p->pad[1] && x < p->w + p->pad[3];
			double value;

			if (y < 0 || x < 0 || y >= p->h || x >= p->w) {
				counted += padded && p->count_padding;
				continue;
			}
			counted++;
			value = in->data[((at[0] * p->h + y) * p->w + x) * p->c + at[3]];
			sum += value;
			if (value > best) {
				best = value;
				*where = y * p->w + x;
			}
		}
	if (!average)
		return best;
	return sum / (p->divisor != 0 ? p->divisor : counted);
}

static tt_status run_pool(struct tt_golden *golden, const struct pool *p, bool average)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape = {
		4, {1, 1, (uint32_t)(p->n * p->out[0] * p->out[1]), (uint32_t)p->c}};
	struct tt_array *out, *where = NULL;
	uint64_t flat = 0;

	if (!in)
		return TTNN_NOMEM;
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	if (out && tt_call_bool(&golden->call, "return_indices", false))
		where = tt_golden_out(golden, &shape, TTNN_UINT16);
	if (!out || (!where && golden->out_count == 2))
		return TTNN_NOMEM;
	for (int64_t n = 0; n < p->n; n++)
		for (int64_t y = 0; y < p->out[0]; y++)
			for (int64_t x = 0; x < p->out[1]; x++)
				for (int64_t c = 0; c < p->c; c++, flat++) {
					const int64_t at[4] = {n, y, x, c};
					int64_t index = 0;

					out->data[flat] = pool_at(&index, p, in, at, average);
					if (where)
						where->data[flat] = (double)index;
				}
	return TTNN_OK;
}

tt_status tt_golden_max_pool(struct tt_golden *golden)
{
	struct pool pool;

	read_pool(&pool, golden);
	return run_pool(golden, &pool, false);
}

tt_status tt_golden_avg_pool(struct tt_golden *golden)
{
	struct pool pool;

	read_pool(&pool, golden);
	return run_pool(golden, &pool, true);
}
