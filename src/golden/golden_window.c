/*
 * golden_window.c: goldens of operations with windows over images but without weights: pools,
 * folds, upsampling.
 *
 * Images are [1, 1, batch × height × width, channels] for pools, as upstream has them, and
 * [batch, height, width, channels] for the rest.
 */
#include "golden/golden_window.h"

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

/*
 * As torch counts: with ceil_mode a last window may hang over, but must begin within the image
 * or its left padding.
 */
static int64_t out_size(const struct pool *p, int d, bool ceil_mode)
{
	int64_t in = d ? p->w : p->h, reach = p->dilation[d] * (p->kernel[d] - 1) + 1;
	int64_t span = in + p->pad[2 * d] + p->pad[2 * d + 1] - reach;
	int64_t out = (ceil_mode ? span + p->stride[d] - 1 : span) / p->stride[d] + 1;

	if (ceil_mode && (out - 1) * p->stride[d] >= in + p->pad[2 * d])
		out--;
	return out;
}

/*
 * Padding is [height, width] for both sides, or one number for each side: top, bottom, left,
 * right.
 */
static tt_status read_pool(struct pool *p, const struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	int64_t pad[4] = {0};
	size_t count = 0;

	*p = (struct pool){.n = tt_call_int(call, "batch_size", 1),
			   .h = tt_call_int(call, "input_h", 1),
			   .w = tt_call_int(call, "input_w", 1),
			   .c = tt_call_int(call, "channels", 1),
			   .kernel = {1, 1},
			   .stride = {1, 1},
			   .dilation = {1, 1},
			   .count_padding = tt_call_bool(call, "count_include_pad", true),
			   .divisor = (double)tt_call_int(call, "divisor_override", 0)};
	TT_TRY(tt_call_ints(p->kernel, &count, 2, call, "kernel_size"));
	TT_TRY(tt_call_ints(p->stride, &count, 2, call, "stride"));
	TT_TRY(tt_call_ints(p->dilation, &count, 2, call, "dilation"));
	TT_TRY(tt_call_ints(pad, &count, 4, call, "padding"));
	for (int i = 0; i < 4; i++)
		p->pad[i] = count == 2 ? pad[i / 2] : pad[i];
	for (int d = 0; d < 2; d++)
		p->out[d] = out_size(p, d, tt_call_bool(call, "ceil_mode", false));
	return TTNN_OK;
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
			value = *tt_at(in, ((at[0] * p->h + y) * p->w + x) * p->c + at[3]);
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

/*
 * Places (return_indices) are counted within an image of one channel. uint16 holds those of
 * images up to 65,535 elements.
 */
static tt_status run_pool(struct tt_golden *golden, const struct pool *p, bool average)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape = {
		4, {1, 1, (uint32_t)(p->n * p->out[0] * p->out[1]), (uint32_t)p->c}};
	bool places = tt_call_bool(&golden->call, "return_indices", false);
	const struct ttnn_value *slices = tt_call_arg(&golden->call, "dram_slice_config");
	struct tt_array *out, *where = NULL;
	uint64_t flat = 0;

	TT_GOLDEN_NEED(in);
	/* What is done slice by slice stays in images. */
	if (slices->kind == TTNN_VALUE_OBJECT && slices->items[0].integer &&
	    slices->items[1].integer > 1 && !places)
		shape = (struct ttnn_shape){
			4,
			{(uint32_t)p->n, (uint32_t)p->out[0], (uint32_t)p->out[1], (uint32_t)p->c}};
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	if (out && places)
		where = tt_golden_out(golden, &shape,
				      p->h * p->w > UINT16_MAX ? TTNN_UINT32 : TTNN_UINT16);
	TT_GOLDEN_NEED(out && (where || golden->out_count != 2));
	for (int64_t n = 0; n < p->n; n++)
		for (int64_t y = 0; y < p->out[0]; y++)
			for (int64_t x = 0; x < p->out[1]; x++)
				for (int64_t c = 0; c < p->c; c++, flat++) {
					const int64_t at[4] = {n, y, x, c};
					int64_t index = 0;

					*tt_at(out, flat) = pool_at(&index, p, in, at, average);
					if (where)
						*tt_at(where, flat) = (double)index;
				}
	return TTNN_OK;
}

tt_status tt_golden_max_pool(struct tt_golden *golden)
{
	struct pool pool;

	TT_TRY(read_pool(&pool, golden));
	return run_pool(golden, &pool, false);
}

tt_status tt_golden_avg_pool(struct tt_golden *golden)
{
	struct pool pool;

	TT_TRY(read_pool(&pool, golden));
	return run_pool(golden, &pool, true);
}

/* ---- other sizes ---------------------------------------------------------------------------------------- */

struct folding {
	const struct tt_array *in;
	int64_t dim[4];          /* of the image: batch, rows, columns, channels */
	int64_t stride[4];       /* from one to the next of each, in the input */
	int64_t pad[6], step[2]; /* top, bottom, left, right, front, back; down, across */
};

/* Channels last; by transposes they come first, and padding in front is behind, too. */
static void read_folding(struct folding *out, const struct tt_golden *golden)
{
	const struct tt_array *in = out->in;
	bool first = tt_call_bool(&golden->call, "use_transpose_as_fold", false);
	bool shards = tt_golden_tensor(golden, "input")->spec.memory.has_shard;
	static const int orders[2][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}};
	int64_t steps[4] = {0, 0, 0, 1};
	size_t count = 0;

	for (int d = 2; d >= 0; d--)
		steps[d] = steps[d + 1] * in->shape.dim[d + 1];
	for (int d = 0; d < 4; d++) {
		out->dim[d] = in->shape.dim[orders[first][d]];
		out->stride[d] = steps[orders[first][d]];
	}
	(void)tt_call_ints(out->pad, &count, 6, &golden->call, "padding");
	if (count == 2) {
		out->pad[2] = out->pad[3] = out->pad[1];
		out->pad[1] = out->pad[0];
	}
	out->step[0] = tt_call_int(&golden->call, "stride_h", 1);
	out->step[1] = tt_call_int(&golden->call, "stride_w", 1);
	if (!first)
		return;
	for (int side = 0; side < 4; side += 2) {
		int64_t before = out->pad[side], full = out->dim[1 + side / 2] + before;

		out->pad[side] = shards ? before : 0;
		out->pad[side + 1] = before;
		if (!shards)
			out->pad[side + 1] += (32 - full % 32) % 32;
	}
	out->pad[4] = 0;
}

/*
 * Channel c of square (i, j) comes from row y * step + i and column x * step + j, with squares
 * counted row by row before channels.
 */
static double folded_at(const struct folding *f, const uint64_t at[4])
{
	int64_t depth = f->dim[3] + f->pad[4] + f->pad[5], square = (int64_t)at[3] / depth;
	int64_t y = (int64_t)at[1] * f->step[0] + square / f->step[1] - f->pad[0];
	int64_t x = (int64_t)at[2] * f->step[1] + square % f->step[1] - f->pad[2];
	int64_t c = (int64_t)at[3] % depth - f->pad[4];

	if (y < 0 || x < 0 || c < 0 || y >= f->dim[1] || x >= f->dim[2] || c >= f->dim[3])
		return 0;
	return *tt_at(f->in, (int64_t)at[0] * f->stride[0] + y * f->stride[1] + x * f->stride[2] +
				     c * f->stride[3]);
}

tt_status tt_golden_fold(struct tt_golden *golden)
{
	struct folding f = {.in = tt_golden_in4(golden, "input")};
	struct ttnn_shape shape = {.rank = 4};
	struct tt_array *out;
	int64_t sizes[4];
	size_t count = 0;

	TT_GOLDEN_NEED(f.in);
	read_folding(&f, golden);
	if (f.dim[3] + f.pad[4] + f.pad[5] < 1)
		return tt_fail(TTNN_INVALID, "%s: there are no channels", golden->op->name);
	for (int d = 0; d < 2; d++)
		shape.dim[1 + d] =
			(uint32_t)((f.dim[1 + d] + f.pad[2 * d] + f.pad[2 * d + 1]) / f.step[d]);
	shape.dim[0] = (uint32_t)f.dim[0];
	shape.dim[3] = (uint32_t)((f.dim[3] + f.pad[4] + f.pad[5]) * f.step[0] * f.step[1]);
	TT_TRY(tt_call_ints(sizes, &count, 4, &golden->call, "output_shape"));
	for (size_t d = 0; d < count; d++)
		shape.dim[d] = (uint32_t)sizes[d];
	out = tt_golden_out(golden, &shape, f.in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < out->count; flat++) {
		uint64_t at[TTNN_MAX_RANK] = {0};

		tt_array_coordinate(at, out, flat);
		*tt_at(out, flat) = folded_at(&f, at);
	}
	return TTNN_OK;
}

/* A number or two of them: down, across. */
static void read_scale(double out[2], const struct ttnn_value *value)
{
	double number;

	for (int d = 0; d < 2; d++) {
		const struct ttnn_value *one =
			value->kind == TTNN_VALUE_LIST && (uint32_t)d < value->count
				? &value->items[d]
				: value;

		out[d] = tt_value_number(&number, one) ? number : 1;
	}
}

/* Between the four elements around the middle of a place; beyond the edge counts as the edge. */
static double between(const struct tt_array *in, const uint64_t at[4], const double scale[2])
{
	const uint32_t *dim = in->shape.dim;
	double sum = 0;

	for (int corner = 0; corner < 4; corner++) {
		int64_t place[2];
		double weight = 1;

		for (int d = 0; d < 2; d++) {
			double exact = ((double)at[1 + d] + 0.5) / scale[d] - 0.5,
			       low = floor(exact);
			bool next = corner >> d & 1;

			weight *= next ? exact - low : 1 - (exact - low);
			place[d] = (int64_t)low + next;
			if (place[d] < 0)
				place[d] = 0;
			if (place[d] >= (int64_t)dim[1 + d])
				place[d] = (int64_t)dim[1 + d] - 1;
		}
		sum += weight * *tt_at(in, ((at[0] * dim[1] + (uint64_t)place[0]) * dim[2] +
					    (uint64_t)place[1]) *
							   dim[3] +
						   at[3]);
	}
	return sum;
}

/*
 * Nearest: the element that the result's coordinate, divided by the scale, falls into. Bilinear
 * is between(), with half an element as in torch's align_corners=False.
 */
tt_status tt_golden_upsample(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const struct ttnn_value *mode = tt_call_arg(&golden->call, "mode");
	bool linear = mode->kind == TTNN_VALUE_STRING && mode->text[0] == 'b';
	double scale[2];
	struct ttnn_shape shape;
	struct tt_array *out;

	TT_GOLDEN_NEED(in);
	read_scale(scale, tt_call_arg(&golden->call, "scale_factor"));
	shape = in->shape;
	for (int d = 0; d < 2; d++)
		shape.dim[1 + d] = (uint32_t)floor(in->shape.dim[1 + d] * scale[d]);
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < out->count; flat++) {
		uint64_t at[TTNN_MAX_RANK] = {0}, y, x;

		tt_array_coordinate(at, out, flat);
		y = (uint64_t)((double)at[1] / scale[0]);
		x = (uint64_t)((double)at[2] / scale[1]);
		*tt_at(out, flat) =
			linear ? between(in, at, scale)
			       : *tt_at(in, ((at[0] * in->shape.dim[1] + y) * in->shape.dim[2] +
					     x) * in->shape.dim[3] +
						    at[3]);
	}
	return TTNN_OK;
}

/* Windows that cover the image evenly: result i sees elements [i × in / out, (i + 1) × in / out). */
static double share_at(const struct pool *p, const struct tt_array *in, const uint64_t at[4],
		       bool average)
{
	const int64_t size[2] = {p->h, p->w};
	double best = -INFINITY, sum = 0;
	int64_t from[2], to[2];

	for (int d = 0; d < 2; d++) {
		int64_t i = d ? (int64_t)at[2] : (int64_t)at[1];

		from[d] = i * size[d] / p->out[d];
		to[d] = ((i + 1) * size[d] + p->out[d] - 1) / p->out[d];
	}
	for (int64_t y = from[0]; y < to[0]; y++)
		for (int64_t x = from[1]; x < to[1]; x++) {
			double value = *tt_at(in, (((int64_t)at[0] * p->h + y) * p->w + x) * p->c +
							  (int64_t)at[3]);

			sum += value;
			best = value > best ? value : best;
		}
	return average ? sum / (double)((to[0] - from[0]) * (to[1] - from[1])) : best;
}

/*
 * Windows of no fixed size: result i takes the elements from floor(i * in / out) to ceil((i + 1)
 * * in / out).
 */
static tt_status adaptive(struct tt_golden *golden, bool average)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape = {4, {1, 1, 0, 0}};
	struct tt_array *out;
	struct pool p;

	TT_GOLDEN_NEED(in);
	read_pool(&p, golden);
	ints(p.out, 2, golden, "output_size");
	if (p.out[0] < 1 || p.out[1] < 1 || p.out[0] > INT32_MAX || p.out[1] > INT32_MAX)
		return tt_fail(TTNN_INVALID, "%s: output_size must be positive", golden->op->name);
	shape.dim[2] = (uint32_t)(p.n * p.out[0] * p.out[1]);
	shape.dim[3] = (uint32_t)p.c;
	out = tt_golden_out(golden, &shape, TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < out->count; flat++) {
		uint64_t pixel = flat / (uint64_t)p.c, w = (uint64_t)p.out[1],
			 area = w * (uint64_t)p.out[0];
		uint64_t at[TTNN_MAX_RANK] = {pixel / area, pixel % area / w, pixel % w,
					      flat % (uint64_t)p.c};

		*tt_at(out, flat) = share_at(&p, in, at, average);
	}
	return TTNN_OK;
}

tt_status tt_golden_adaptive_avg(struct tt_golden *golden)
{
	return adaptive(golden, true);
}

tt_status tt_golden_adaptive_max(struct tt_golden *golden)
{
	return adaptive(golden, false);
}

/* [n, h, w, c], [h, w, c] or [h, w] */
tt_status tt_golden_global_avg(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct ttnn_shape shape = {4, {1, 1, 1, 1}};
	struct tt_array *out;
	uint64_t area, depth;
	uint32_t rank;

	TT_GOLDEN_NEED(in);
	rank = in->shape.rank;
	if (rank < 2 || rank > 4 || !in->count)
		return tt_fail(TTNN_INVALID, "%s: this is no image", golden->op->name);
	shape.dim[0] = rank == 4 ? in->shape.dim[0] : 1;
	shape.dim[3] = rank == 2 ? 1 : in->shape.dim[rank - 1];
	depth = shape.dim[3];
	area = in->count / depth / shape.dim[0];
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t flat = 0; flat < in->count; flat++)
		*tt_at(out, flat / (area * depth) * depth + flat % depth) +=
			*tt_at(in, flat) / (double)area;
	return TTNN_OK;
}
