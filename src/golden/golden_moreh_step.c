/* golden_moreh_step.c: losses, steps of training and parts of tensors, element by element. */
#include "golden/golden_moreh.h"

#include <math.h>
#include <string.h>

/* ---- losses -------------------------------------------------------------------------------------- */

/* Targets of the classes of a tensor [N, C, ...]. */
struct targets {
	const struct tt_array *target, *weight;
	uint64_t classes, inner;
	double ignored;
};

static tt_status read_targets(struct targets *out, struct tt_golden *golden,
			      const struct ttnn_shape *shape)
{
	*out = (struct targets){.target = tt_golden_in(golden, "target_tensor"),
				.weight = tt_golden_in(golden, "weight_tensor"),
				.inner = 1,
				.ignored =
					(double)tt_call_int(&golden->call, "ignore_index", -100)};
	TT_GOLDEN_NEED(out->target && shape->rank >= 2);
	out->classes = shape->dim[1];
	for (uint32_t d = 2; d < shape->rank; d++)
		out->inner *= shape->dim[d];
	return TTNN_OK;
}

/* The class of a target and its weight; false if it does not count. */
static bool class_of(uint64_t *place, double *weight, const struct targets *targets, uint64_t i)
{
	double class = *tt_at(targets->target, i);

	if (class == targets->ignored || class < 0 || class >= (double)targets->classes)
		return false;
	*weight = targets->weight ? *tt_at(targets->weight, (uint64_t) class) : 1;
	*place = (i / tt_divisor(targets->inner) * targets->classes + (uint64_t) class) *
			 targets->inner +
		 i % tt_divisor(targets->inner);
	return true;
}

/* All losses, their sum, or that by the sum of all weights. */
tt_status tt_golden_moreh_nll_loss(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	const char *reduction = tt_call_arg(&golden->call, "reduction")->text;
	bool mean = strcmp(reduction, "mean") == 0, one = mean || strcmp(reduction, "sum") == 0;
	struct ttnn_shape shape = {2, {1, 1}};
	double weights = 0, weight = 0;
	struct targets targets;
	struct tt_array *out;
	uint64_t place;

	TT_GOLDEN_NEED(in);
	TT_TRY(read_targets(&targets, golden, &in->shape));
	if (!one) {
		shape = targets.target->shape;
		if (in->shape.rank == 2)
			shape = (struct ttnn_shape){2, {1, in->shape.dim[0]}};
	}
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < targets.target->count; i++)
		if (class_of(&place, &weight, &targets, i)) {
			*tt_at(out, one ? 0 : i) -= weight * *tt_at(in, place);
			weights += weight;
		}
	if (mean && weights != 0)
		*tt_at(out, 0) /= weights;
	return TTNN_OK;
}

tt_status tt_golden_moreh_nll_loss_backward(struct tt_golden *golden)
{
	const struct tt_array *given = tt_golden_in(golden, "input_grad_tensor");
	const struct tt_array *grad = tt_golden_in(golden, "output_grad_tensor");
	const struct tt_array *divisor = tt_golden_in(golden, "divisor_tensor");
	struct targets targets;
	struct tt_array *out;
	double weight = 0;
	uint64_t place;

	TT_GOLDEN_NEED(given && grad);
	TT_TRY(read_targets(&targets, golden, &given->shape));
	out = tt_golden_out(golden, &given->shape, given->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < targets.target->count; i++)
		if (class_of(&place, &weight, &targets, i))
			*tt_at(out, place) = -weight * *tt_at(grad, grad->count == 1 ? 0 : i) /
					     (divisor ? *tt_at(divisor, 0) : 1);
	return TTNN_OK;
}

/* ---- steps --------------------------------------------------------------------------------------- */

static double number(struct tt_golden *golden, const char *name, double usual)
{
	return tt_call_real(&golden->call, name, usual);
}

tt_status tt_golden_moreh_sgd(struct tt_golden *golden)
{
	const struct tt_array *param = tt_golden_in(golden, "param_in");
	const struct tt_array *grad = tt_golden_in(golden, "grad");
	const struct tt_array *buffer = tt_golden_in(golden, "momentum_buffer_in");
	double momentum = number(golden, "momentum", 0);
	bool started = tt_call_bool(&golden->call, "momentum_initialized", false) && buffer;
	struct tt_array *out, *buffer_out = NULL;

	TT_GOLDEN_NEED(param && grad);
	out = tt_golden_out(golden, &param->shape, param->dtype);
	if (momentum != 0)
		buffer_out = tt_golden_out(golden, &param->shape, param->dtype);
	TT_GOLDEN_NEED(out && (momentum == 0 || buffer_out));
	for (uint64_t i = 0; i < param->count; i++) {
		double p = *tt_at(param, i);
		double g = *tt_at(grad, i) + number(golden, "weight_decay", 0) * p, b;

		if (buffer_out) {
			b = started ? momentum * *tt_at(buffer, i) +
					      (1 - number(golden, "dampening", 0)) * g
				    : g;
			*tt_at(buffer_out, i) = b;
			g = tt_call_bool(&golden->call, "nesterov", false) ? g + momentum * b : b;
		}
		*tt_at(out, i) = p - number(golden, "lr", 0.001) * g;
	}
	return TTNN_OK;
}

/* Both kinds: AdamW decays the parameter, Adam the gradient. */
static tt_status adam(struct tt_golden *golden, bool apart, double usual_decay)
{
	static const char *const names[] = {"param_in", "grad", "exp_avg_in", "exp_avg_sq_in",
					    "max_exp_avg_sq_in"};
	double lr = number(golden, "lr", 0.001), b1 = number(golden, "beta1", 0.9);
	double b2 = number(golden, "beta2", 0.999), eps = number(golden, "eps", 1e-8);
	double decay = number(golden, "weight_decay", usual_decay);
	double step = (double)tt_call_int(&golden->call, "step", 0);
	bool amsgrad = tt_call_bool(&golden->call, "amsgrad", false);
	const struct tt_array *in[5];
	struct tt_array *out[4] = {NULL};

	for (size_t i = 0; i < 5; i++)
		in[i] = tt_golden_in(golden, names[i]);
	TT_GOLDEN_NEED(in[0] && in[1] && in[2] && in[3]);
	for (size_t i = 0; i < (amsgrad ? 4u : 3u); i++) {
		out[i] = tt_golden_out(golden, &in[0]->shape, in[0]->dtype);
		TT_GOLDEN_NEED(out[i]);
	}
	for (uint64_t i = 0; i < in[0]->count; i++) {
		double p = *tt_at(in[0], i), g = *tt_at(in[1], i) + (apart ? 0 : decay * p);
		double mean = b1 * *tt_at(in[2], i) + (1 - b1) * g;
		double square = b2 * *tt_at(in[3], i) + (1 - b2) * g * g, most = square;

		if (amsgrad) {
			most = fmax(square, in[4] ? *tt_at(in[4], i) : 0);
			*tt_at(out[3], i) = most;
		}
		*tt_at(out[1], i) = mean;
		*tt_at(out[2], i) = square;
		*tt_at(out[0], i) =
			p * (apart ? 1 - lr * decay : 1) -
			lr * mean / (1 - pow(b1, step)) / (sqrt(most / (1 - pow(b2, step))) + eps);
	}
	return TTNN_OK;
}

tt_status tt_golden_moreh_adam(struct tt_golden *golden)
{
	return adam(golden, false, 0);
}

tt_status tt_golden_moreh_adamw(struct tt_golden *golden)
{
	return adam(golden, true, 0.01);
}

/* The norm alone: what becomes of the gradients is in them. */
tt_status tt_golden_moreh_clip_grad_norm(struct tt_golden *golden)
{
	const struct ttnn_value *list = tt_call_arg(&golden->call, "inputs");
	const struct tt_array *given = tt_golden_in(golden, "total_norm");
	double p = number(golden, "norm_type", 2), sum = 0, most = 0, least = INFINITY;
	struct tt_array *out;

	out = tt_golden_out(golden, given ? &given->shape : &(struct ttnn_shape){2, {1, 1}},
			    TTNN_BFLOAT16);
	TT_GOLDEN_NEED(out && list->kind == TTNN_VALUE_LIST);
	for (size_t k = 0; k < list->count; k++) {
		const struct tt_array *in = tt_golden_read(golden, list->items[k].tensor);

		TT_GOLDEN_NEED(in);
		for (uint64_t i = 0; i < in->count; i++) {
			double size = fabs(*tt_at(in, i));

			sum += pow(size, p);
			most = fmax(most, size);
			least = fmin(least, size);
		}
	}
	*tt_at(out, 0) = !isinf(p) ? pow(sum, 1 / p) : p > 0 ? most : least;
	return TTNN_OK;
}

/* ---- parts of tensors ----------------------------------------------------------------------------- */

tt_status tt_golden_moreh_arange(struct tt_golden *golden)
{
	const struct tt_array *given = tt_golden_in(golden, "output");
	double start = number(golden, "start", 0), step = number(golden, "step", 1);
	bool rows = tt_call_bool(&golden->call, "untilize_out", false);
	double count = ceil((number(golden, "end", 0) - start) / step);
	enum ttnn_dtype dtype = tt_call_dtype(&golden->call, "dtype", TTNN_BFLOAT16);
	struct ttnn_shape shape = {rows ? 1 : 2, {1, 1}};
	struct tt_array *out;

	TT_GOLDEN_NEED(count >= 0 && count < 1e9);
	shape.dim[tt_from_end(&shape, 1)] = (uint32_t)count;
	out = tt_golden_out(golden, given ? &given->shape : &shape, dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = tt_golden_fit(dtype, start + step * (double)i);
	return TTNN_OK;
}

/* Numbers of an argument for height and width. */
static tt_status pair(int64_t *out, struct tt_golden *golden, const char *name, int64_t usual)
{
	size_t count;

	out[0] = out[1] = usual;
	TT_TRY(tt_call_ints(out, &count, 2, &golden->call, name));
	TT_GOLDEN_NEED(count == 2 || count == 0);
	return TTNN_OK;
}

/* Pixel by pixel: the sum of all places of all windows that lie there. */
tt_status tt_golden_moreh_fold(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input");
	int64_t size[2], kernel[2], dilation[2], padding[2], stride[2], fits[2];
	struct ttnn_shape shape = {0};
	struct tt_array *out;

	TT_TRY(pair(size, golden, "output_size", 1));
	TT_TRY(pair(kernel, golden, "kernel_size", 1));
	TT_TRY(pair(dilation, golden, "dilation", 1));
	TT_TRY(pair(padding, golden, "padding", 0));
	TT_TRY(pair(stride, golden, "stride", 1));
	TT_GOLDEN_NEED(in && in->shape.rank >= 2 && stride[0] > 0 && stride[1] > 0 &&
		       kernel[0] > 0 && kernel[1] > 0);
	for (size_t i = 0; i < 2; i++)
		fits[i] =
			(size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] +
			1;
	if (in->shape.rank == 3)
		shape.dim[shape.rank++] = in->shape.dim[0];
	shape.dim[shape.rank++] =
		(uint32_t)(tt_shape_last(&in->shape, 2) / (uint64_t)(kernel[0] * kernel[1]));
	shape.dim[shape.rank++] = (uint32_t)size[0];
	shape.dim[shape.rank++] = (uint32_t)size[1];
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++) {
		int64_t x = (int64_t)(i % (uint64_t)size[1]) + padding[1];
		int64_t y = (int64_t)(i / (uint64_t)size[1] % (uint64_t)size[0]) + padding[0];
		int64_t plane = (int64_t)(i / (uint64_t)(size[0] * size[1]));

		for (int64_t k = 0; k < kernel[0] * kernel[1]; k++) {
			int64_t down = y - k / kernel[1] * dilation[0];
			int64_t across = x - k % kernel[1] * dilation[1];

			if (down % stride[0] || across % stride[1] || down < 0 || across < 0 ||
			    down / stride[0] >= fits[0] || across / stride[1] >= fits[1])
				continue;
			*tt_at(out, i) += *tt_at(
				in, (uint64_t)(((plane * kernel[0] * kernel[1] + k) * fits[0] +
						down / stride[0]) *
						       fits[1] +
					       across / stride[1]));
		}
	}
	return TTNN_OK;
}

/* Element by element of the result: which of the input it is. */
tt_status tt_golden_moreh_getitem(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input"), *index[5];
	const struct ttnn_value *list = tt_call_arg(&golden->call, "index_tensors");
	struct ttnn_shape shape = {0}, wide;
	bool tiles;
	uint64_t at[TTNN_MAX_RANK];
	int64_t dims[TTNN_MAX_RANK];
	struct tt_array *out, walk;
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, &golden->call, "index_dims"));
	TT_GOLDEN_NEED(in && list->kind == TTNN_VALUE_LIST && count == list->count && count <= 5 &&
		       count && dims[count - 1] < in->shape.rank);
	tiles = tt_golden_tensor(golden, "input")->spec.layout == TTNN_TILE;
	wide = in->shape;
	for (size_t i = 0; i < count; i++) {
		TT_NEED(dims[i] >= 0 && dims[i] < in->shape.rank, "a tensor of %u dimensions",
			in->shape.rank);
		index[i] = tt_golden_read(golden, list->items[i].tensor);
		TT_GOLDEN_NEED(index[i]);
		wide.dim[dims[i]] = 1;
	}
	wide.dim[dims[count - 1]] = (uint32_t)index[0]->count;
	for (uint32_t d = 0; d < wide.rank; d++)
		if (tiles || d < dims[0] || d >= dims[count - 1])
			shape.dim[shape.rank++] = wide.dim[d];
	out = tt_golden_out(golden, &shape, in->dtype);
	TT_GOLDEN_NEED(out);
	walk = (struct tt_array){.shape = wide, .count = out->count};
	for (uint64_t i = 0; i < out->count; i++) {
		uint64_t k;

		tt_array_coordinate(at, &walk, i);
		k = at[dims[count - 1]];
		for (size_t d = 0; d < count; d++) {
			double place = *tt_at(index[d], k);

			at[dims[d]] =
				(uint64_t)(place < 0 ? place + in->shape.dim[dims[d]] : place);
		}
		*tt_at(out, i) = *tt_at(in, tt_array_index(in, at));
	}
	return TTNN_OK;
}

/* The input, once or twice. */
tt_status tt_golden_example(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	static const char *const wanted[] = {"return_output1", "return_output2"};
	bool many = golden->op->gives != NULL;

	TT_GOLDEN_NEED(in);
	for (size_t i = 0; i < (many ? 2u : 1u); i++) {
		struct tt_array *out;

		if (many && !tt_call_bool(&golden->call, wanted[i], true))
			continue;
		out = tt_golden_out(golden, &in->shape, in->dtype);
		TT_GOLDEN_NEED(out);
		memcpy(out->data, in->data, in->count * sizeof(*in->data));
	}
	return TTNN_OK;
}
