/*
 * moreh_nll_loss.c: the negative logarithm of the likelihood of classes, [N, C, ...] of which a target [N, ...] names one each, and its
 * gradients. A class may have a weight; targets of one class, or that are none, do not count.
 *
 * Models MorehNllLossStep1DeviceOperation, MorehNllLossStep2DeviceOperation, MorehNllLossBackwardDeviceOperation and
 * MorehNllLossUnreducedBackwardDeviceOperation of ttnn 0.81 with their factories: specs, refusals, memory, cores. Not modelled:
 * tensors whose shapes do not fit, of which upstream reads what lies there; they are refused.
 */
#include <inttypes.h>
#include <string.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"
#include "ops/values.h"

#define FACE                                                                                       \
	16 /* columns of a face, of which the program of three dimensions takes one at a time */

/* ---- refusals ------------------------------------------------------------------------------------ */

/* What an input must be, and how that is said: the type of a tensor of targets or of any other. */
struct need {
	size_t input;
	enum ttnn_dtype dtype;
	const char *layout, *layout_text;
	const char *type, *type_text; /* of the text "Invalid NAME dtype": the name */
	bool invalid;
};

static tt_status check_needs(const struct tt_launch *launch, const struct need *needs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct need *need = &needs[i];
		const struct tt_tensor *tensor = launch->inputs[need->input];

		if (!tensor)
			continue;
		TT_REQUIRE(!need->layout || tensor->spec.layout == TTNN_TILE, need->layout, "%s",
			   need->layout_text);
		if (!need->type || tensor->spec.dtype == need->dtype)
			continue;
		if (!need->invalid)
			return tt_fail_cond(TTNN_INVALID, need->type, "%s", need->type_text);
		return tt_fail_cond(TTNN_INVALID, need->type, "Invalid %s dtype DataType::%s",
				    need->type_text,
				    tt_enum_name(&tt_enum_dtype, (int64_t)tensor->spec.dtype));
	}
	return TTNN_OK;
}

/* ---- targets ------------------------------------------------------------------------------------- */

/* The numbers that the kernels go through, and how they are counted. */
struct classes {
	uint64_t count, inner; /* classes; targets of one of the batch */
	uint64_t targets;
	double *target, *weight; /* weight: (optional) */
	double ignored;
};

/* `shape` is [N, C, ...], of which the targets have all but C. */
static tt_status read_classes(struct classes *out, const struct tt_launch *launch,
			      const struct ttnn_shape *shape, size_t target, size_t weight)
{
	uint64_t all, weights = 0;

	TT_NEED(shape->rank >= 2, "moreh_nll_loss takes tensors of at least two dimensions");
	*out = (struct classes){.count = shape->dim[1], .inner = 1};
	for (uint32_t d = 2; d < shape->rank; d++)
		out->inner *= shape->dim[d];
	TT_TRY(ttnn_shape_volume(&all, shape));
	TT_TRY(tt_values_of(&out->target, &out->targets, launch, target));
	TT_NEED(out->targets * out->count == all,
		"moreh_nll_loss: there must be a target for each place of the input");
	if (launch->inputs[weight]) {
		TT_TRY(tt_values_of(&out->weight, &weights, launch, weight));
		TT_NEED(weights >= out->count,
			"moreh_nll_loss: there must be a weight for each class");
	}
	out->ignored = (double)(int32_t)(uint32_t)tt_launch_attr(launch, "ignore_index")->integer;
	return TTNN_OK;
}

/* The weight of a target's class; 0 if it does not count. */
static double weight_of(const struct classes *classes, uint64_t i)
{
	double target = classes->target[i];

	if (target == classes->ignored || target < 0 || target >= (double)classes->count)
		return 0;
	return classes->weight ? classes->weight[(uint64_t)target] : 1;
}

/* Where the value of a target's class is among those of all classes. */
static uint64_t place_of(const struct classes *classes, uint64_t i)
{
	uint64_t batch = i / classes->inner;

	return (batch * classes->count + (uint64_t)classes->target[i]) * classes->inner +
	       i % classes->inner;
}

static float *floats_for(struct tt_launch *launch, uint64_t count)
{
	return tt_arena_calloc(launch->arena, count + 1, sizeof(float));
}

/* Tiles of weights of all classes. */
static uint64_t weight_tiles(uint64_t classes)
{
	return tt_div_up(classes, TT_TILE);
}

static uint64_t tiles_of(const struct ttnn_tensor_spec *spec)
{
	return spec->rows / TT_TILE * (spec->cols / TT_TILE);
}

/* ---- the weight of each target ---------------------------------------------------------------------- */

#define STEP1_ATTRS(X)                                                                             \
	X(STEP1_REDUCTION, "reduction")                                                            \
	X(STEP1_IGNORE, "ignore_index")                                                            \
	X(STEP1_DTYPE, "dtype")                                                                    \
	X(STEP1_CHANNELS, "channel_size")                                                          \
	X(STEP1_MEMORY, "memory_config")                                                           \
	X(STEP1_COMPUTE, "compute_kernel_config")
TT_ATTRS(step1_schema, "operation_attributes_t", STEP1_ATTRS);
enum { STEP1_TARGET, STEP1_WEIGHT };

static tt_status step1_infer(struct tt_launch *launch)
{
	return tt_infer_one(launch, &launch->inputs[STEP1_TARGET]->spec.shape,
			    (enum ttnn_dtype)launch->attrs[STEP1_DTYPE].integer, TTNN_TILE);
}

static tt_status step1_validate(struct tt_launch *launch)
{
	static const struct need needs[] = {
		{STEP1_TARGET, TTNN_INT32, "(target_tensor.layout() == Layout::TILE)",
		 "target_tensor to nll_loss must be tilized", NULL, NULL, false},
		{STEP1_WEIGHT, TTNN_BFLOAT16, NULL, NULL,
		 "weight_tensor.value().dtype() == DataType::BFLOAT16",
		 "weight tensor dtype must be bfloat16", false},
	};

	return check_needs(launch, needs, TT_COUNT(needs));
}

/* All weights stay in L1, or are read tile by tile. */
static tt_status step1_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *target = &launch->inputs[STEP1_TARGET]->spec;
	enum ttnn_dtype dtype = launch->outputs[0]->spec.dtype;
	uint64_t tile = tt_tile_bytes_of(dtype);
	bool weighted = launch->inputs[STEP1_WEIGHT];
	const ttnn_core_set *cores;
	struct tt_buffer_row rows[] = {
		TT_DFB_ROW(0, "target", .pages = 1, .page = tt_tile_bytes_of(target->dtype)),
		TT_DFB_ROW(1, "weight",
			   .pages =
				   weighted ? weight_tiles(tt_attr_u32(launch, STEP1_CHANNELS)) : 0,
			   .page = tile),
		TT_DFB_ROW(16, "output", .pages = 1, .page = tile),
		TT_DFB_ROW(7, "weight_scratch", .pages = 0, .page = tile),
	};

	if (tt_buffers_bytes(rows, TT_COUNT(rows)) >=
	    launch->device->limits.l1_size - launch->device->limits.l1_base)
		rows[1].pages = 1;
	rows[3].pages = weighted;
	TT_TRY(tt_cores_for(&cores, launch, tiles_of(target)));
	return tt_plan_buffers(plan, cores, rows, TT_COUNT(rows));
}

static tt_status step1_kernel(struct tt_launch *launch)
{
	struct classes classes;
	float *out;
	struct ttnn_shape shape = {2, {0, tt_attr_u32(launch, STEP1_CHANNELS)}};
	uint64_t targets;

	/* Only how many targets there are is known here: each is one of the batch. */
	TT_TRY(ttnn_shape_volume(&targets, &launch->inputs[STEP1_TARGET]->spec.shape));
	shape.dim[0] = (uint32_t)targets;
	if (launch->inputs[STEP1_WEIGHT])
		shape.dim[1] = tt_shape_last(&launch->inputs[STEP1_WEIGHT]->spec.shape, 1);
	TT_TRY(read_classes(&classes, launch, &shape, STEP1_TARGET, STEP1_WEIGHT));
	out = floats_for(launch, classes.targets);
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < classes.targets; i++)
		out[i] = (float)weight_of(&classes, i);
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

static const struct tt_prog step1_program = {
	.device_op = "MorehNllLossStep1DeviceOperation",
	.prim = "ttnn::prim::moreh_nll_loss_step1",
	.attrs = &step1_schema,
	.infer = step1_infer,
	.validate = step1_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_nll_loss_step1::"
		   "MorehNllLossStep1DeviceOperation::Factory",
		   step1_memory),
	TT_KERNEL(step1_kernel),
};

/* ---- the loss of each target ------------------------------------------------------------------------ */

#define STEP2_ATTRS(X)                                                                             \
	X(STEP2_REDUCTION, "reduction")                                                            \
	X(STEP2_IGNORE, "ignore_index")                                                            \
	X(STEP2_MEMORY, "memory_config")                                                           \
	X(STEP2_COMPUTE, "compute_kernel_config")
TT_ATTRS(step2_schema, "operation_attributes_t", STEP2_ATTRS);
enum { INPUT, TARGET, WEIGHT, DIVISOR, GIVEN };

/* The input without its classes, of two dimensions at least. */
static tt_status step2_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	struct ttnn_shape shape = {0};

	if (in->shape.rank == 2)
		shape.dim[shape.rank++] = 1;
	for (uint32_t d = 0; d < in->shape.rank; d++)
		if (d != 1)
			shape.dim[shape.rank++] = in->shape.dim[d];
	return tt_infer_one(launch, &shape, in->dtype, TTNN_TILE);
}

static tt_status step2_validate(struct tt_launch *launch)
{
	static const struct need needs[] = {
		{INPUT, TTNN_BFLOAT16, "(input_tensor.layout() == Layout::TILE)",
		 "intput_tensor to nll_loss must be tilized",
		 "input_tensor.dtype() == DataType::BFLOAT16", "input tensor type must be bfloat16",
		 false},
		{TARGET, TTNN_INT32, "(target_tensor.layout() == Layout::TILE)",
		 "target_tensor to nll_loss must be tilized",
		 "target_tensor.dtype() == DataType::INT32", "target tensor type must be int32",
		 false},
		{WEIGHT, TTNN_BFLOAT16, "(weight_tensor.value().layout() == Layout::TILE)",
		 "weight_tensor to nll_loss must be in row major layout",
		 "weight_tensor.value().dtype() == DataType::BFLOAT16",
		 "weight tensor type must be bfloat16", false},
		{DIVISOR, TTNN_BFLOAT16, "(divisor_tensor.value().layout() == Layout::TILE)",
		 "divisor_tensor to nll_loss must be tilized",
		 "divisor_tensor.value().dtype() == DataType::BFLOAT16",
		 "divisor tensor type must be bfloat16", false},
	};

	return check_needs(launch, needs, TT_COUNT(needs));
}

/* By how many dimensions the input has: rows of tiles, faces of columns, or tiles of the targets. */
static tt_status step2_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[INPUT]->spec;
	uint64_t tile = tt_tile_bytes_of(in->dtype), units, weights = 1;
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[STEP2_COMPUTE], in->dtype);
	bool weighted = launch->inputs[WEIGHT];
	const ttnn_core_set *cores;

	if (in->shape.rank == 2) {
		units = in->padded.dim[0] / TT_TILE;
	} else if (in->shape.rank == 3) {
		units = (uint64_t)in->shape.dim[0] * tt_div_up(in->shape.dim[2], FACE);
	} else {
		units = tiles_of(&launch->inputs[TARGET]->spec);
		weights = weight_tiles(in->padded.dim[1]);
	}
	TT_TRY(tt_cores_for(&cores, launch, units));
	return TT_PLAN(
		plan, cores, TT_DFB_ROW(0, "input", .pages = 1, .page = tile),
		TT_DFB_ROW(1, "target", .pages = 1, .page = tt_tile_bytes_of(TTNN_INT32)),
		TT_DFB_ROW(2, "weight", .pages = weighted ? weights : 0, .page = tile),
		TT_DFB_ROW(3, "divisor", .pages = launch->inputs[DIVISOR] != NULL, .page = tile),
		TT_DFB_ROW(24, "tmp_weight", .pages = 1, .page = sum),
		TT_DFB_ROW(25, "tmp_input", .pages = 1, .page = sum),
		TT_DFB_ROW(26, "tmp1", .pages = 1, .page = sum),
		TT_DFB_ROW(27, "tmp2", .pages = 1, .page = sum),
		TT_DFB_ROW(28, "tmp3", .pages = 1, .page = sum),
		TT_DFB_ROW(16, "output", .pages = 1, .page = tile),
		TT_DFB_ROW(7, "weight_scratch", .pages = weighted && in->shape.rank > 3,
			   .page = tile));
}

/* The first number of an input; 1 when it is missing. */
static tt_status number_of(double *out, const struct tt_launch *launch, size_t input)
{
	uint64_t count;
	double *values;

	*out = 1;
	if (!launch->inputs[input])
		return TTNN_OK;
	TT_TRY(tt_values_of(&values, &count, launch, input));
	TT_NEED(count, "moreh_nll_loss: a tensor for one number is empty");
	*out = values[0];
	return TTNN_OK;
}

static tt_status step2_kernel(struct tt_launch *launch)
{
	struct classes classes;
	uint64_t all, volume;
	double divisor, *in;
	float *out;

	TT_TRY(read_classes(&classes, launch, &launch->inputs[INPUT]->spec.shape, TARGET, WEIGHT));
	TT_TRY(ttnn_shape_volume(&volume, &launch->outputs[0]->spec.shape));
	TT_NEED(volume == classes.targets,
		"moreh_nll_loss: output_tensor must have a place for each target");
	TT_TRY(number_of(&divisor, launch, DIVISOR));
	TT_TRY(tt_values_of(&in, &all, launch, INPUT));
	out = floats_for(launch, classes.targets);
	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < classes.targets; i++) {
		double weight = weight_of(&classes, i);

		out[i] = weight == 0 ? 0 : (float)(-weight * in[place_of(&classes, i)] / divisor);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

static const struct tt_prog step2_program = {
	.device_op = "MorehNllLossStep2DeviceOperation",
	.prim = "ttnn::prim::moreh_nll_loss_step2",
	.attrs = &step2_schema,
	.infer = step2_infer,
	.validate = step2_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_nll_loss_step2::"
		   "MorehNllLossStep2DeviceOperation::Factory",
		   step2_memory),
	TT_KERNEL(step2_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------- */

/* A class below zero is one that is none: the largest number without a sign. */
static struct ttnn_value ignored_class(const struct tt_call *call)
{
	int64_t ignored = tt_call_int(call, "ignore_index", -100);

	return ttnn_v_int(ignored < 0 ? (int64_t)UINT32_MAX : ignored);
}

/* The sum of a tensor, into one that was given or a new one. */
static tt_status sum_all(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			 struct tt_tensor *into)
{
	return TT_CALL(out, call, "ttnn.moreh_sum", {"input", ttnn_v_tensor(in)},
		       {"output", into ? ttnn_v_tensor(into) : ttnn_v_none()},
		       {"memory_config", *tt_call_arg(call, "memory_config")},
		       {"compute_kernel_config", tt_moreh_compute(call)});
}

/* The divisor of a mean is the sum of all weights. The weights live on until the call ends. */
static tt_status sum_weights(struct tt_call *call, struct tt_tensor *divisor)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *target = tt_call_tensor(call, "target_tensor"),
			 *out = tt_call_tensor(call, "output_tensor"), *weights, *sum;

	TT_TRY(tt_call_owned(
		call,
		TT_LAUNCH(&weights, call, &step1_program,
			  TT_INPUTS(target, tt_call_tensor(call, "weight_tensor")),
			  TT_BIND(call, step1_schema, [STEP1_IGNORE] = ignored_class(call),
				  [STEP1_DTYPE] = ttnn_v_dtype((out ? out : in)->spec.dtype),
				  [STEP1_CHANNELS] = ttnn_v_int(in->spec.padded.dim[1]),
				  [STEP1_MEMORY] = tt_value_memory_or_like(call, target),
				  [STEP1_COMPUTE] = tt_moreh_compute(call))),
		&weights));
	TT_TRY(sum_all(&sum, call, weights, divisor));
	ttnn_tensor_unref(sum);
	return TTNN_OK;
}

static tt_status nll_loss_expand(struct tt_call *call)
{
	const char *reduction = tt_call_arg(call, "reduction")->text;
	bool mean = strcmp(reduction, "mean") == 0, sums = mean || strcmp(reduction, "sum") == 0;
	bool none = strcmp(reduction, "none") == 0;
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "output_tensor"),
			 *divisor = tt_call_tensor(call, "divisor_tensor"), *losses, *out;

	TT_NEED(in->spec.shape.rank >= 2, "moreh_nll_loss takes at least two dimensions");
	TT_REQUIRE(!mean || divisor, "divisor_tensor.has_value()",
		   "Divisor tensor must not be empty");
	if (mean)
		TT_TRY(sum_weights(call, divisor));
	TT_TRY(TT_LAUNCH(&losses, call, &step2_program,
			 TT_INPUTS(in, tt_call_tensor(call, "target_tensor"),
				   tt_call_tensor(call, "weight_tensor"), mean ? divisor : NULL,
				   given),
			 TT_OUTPUTS(none ? given : NULL), .in_place = true,
			 TT_BIND(call, step2_schema, [STEP2_IGNORE] = ignored_class(call),
				 [STEP2_MEMORY] = tt_value_memory_or_like(call, in),
				 [STEP2_COMPUTE] = tt_moreh_compute(call))));
	if (!sums) {
		tt_call_return(call, losses);
		return TTNN_OK;
	}
	tt_call_own(call, losses);
	return tt_call_give(call, sum_all(&out, call, losses, given), &out);
}

/* ---- gradients ----------------------------------------------------------------------------------- */

#define GRAD_ATTRS(X)                                                                              \
	X(GRAD_MEAN, "reduction_mean")                                                             \
	X(GRAD_IGNORE, "ignore_index")                                                             \
	X(GRAD_MEMORY, "memory_config")                                                            \
	X(GRAD_COMPUTE, "compute_kernel_config")
TT_ATTRS(grad_schema, "operation_attributes_t", GRAD_ATTRS);
#define EACH_ATTRS(X)                                                                              \
	X(EACH_IGNORE, "ignore_index")                                                             \
	X(EACH_MEMORY, "memory_config")                                                            \
	X(EACH_COMPUTE, "compute_kernel_config")
TT_ATTRS(each_schema, "operation_attributes_t", EACH_ATTRS);
enum { B_TARGET, B_GRAD, B_WEIGHT, B_DIVISOR, B_GIVEN }; /* of a loss that was summed up */
enum { E_TARGET, E_GRAD, E_WEIGHT, E_GIVEN };            /* of one that was not */

static tt_status backward_infer(struct tt_launch *launch)
{
	TT_REQUIRE(tt_infer_given(launch, 0), "false",
		   "moreh_nll_loss_%sbackward not support creating output tensors.",
		   launch->prog->attrs == &each_schema ? "unreduced_" : "");
	return TTNN_OK;
}

#define NEED_GRAD(input_, name_, value_, text_)                                                    \
	{                                                                                          \
		input_, TTNN_BFLOAT16, "(" name_ value_ ".layout() == Layout::TILE)", text_,       \
			name_ value_ ".dtype() == DataType::BFLOAT16", name_, true                 \
	}
#define NEED_TARGET(text_)                                                                         \
	{                                                                                          \
		B_TARGET, TTNN_INT32, "(target_tensor.layout() == Layout::TILE)", text_,           \
			"target_tensor.dtype() == DataType::INT32", "target_tensor", true          \
	}

static tt_status grad_validate(struct tt_launch *launch)
{
	static const char tilized[] = "target_tensor to nll_loss must be tilized";
	static const struct need needs[] = {
		NEED_TARGET(tilized),
		NEED_GRAD(B_GRAD, "output_grad_tensor", "", tilized),
		NEED_GRAD(B_GIVEN, "input_grad_tensor", ".value()", tilized),
		NEED_GRAD(B_WEIGHT, "weight_tensor", ".value()",
			  "weight_tensor to nll_loss must be in tilized"),
		NEED_GRAD(B_DIVISOR, "divisor_tensor", ".value()",
			  "divisor_tensor to nll_loss must be tilized"),
	};

	return check_needs(launch, needs, TT_COUNT(needs));
}

static tt_status each_validate(struct tt_launch *launch)
{
	static const char tilized[] = "target_tensor to nll_loss_unreduced must be tilized";
	static const struct need needs[] = {
		NEED_TARGET(tilized),
		NEED_GRAD(E_GRAD, "output_grad_tensor", "", tilized),
		NEED_GRAD(E_GIVEN, "input_grad_tensor", ".value()", tilized),
		NEED_GRAD(E_WEIGHT, "weight_tensor", ".value()",
			  "weight_tensor to nll_loss_unreduced must be in tilized"),
	};

	return check_needs(launch, needs, TT_COUNT(needs));
}

static tt_status grad_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(out->dtype), classes = tt_shape_last(&out->shape, 1);
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[GRAD_COMPUTE], out->dtype);
	bool weighted = launch->inputs[B_WEIGHT], divided = launch->inputs[B_DIVISOR];
	const ttnn_core_set *cores;

	if (out->shape.rank > 2)
		classes = out->shape.dim[1];
	TT_TRY(tt_cores_for(&cores, launch, tiles_of(out)));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "output_grad", .pages = 1, .page = tile),
		       TT_DFB_ROW(1, "target", .pages = 1, .page = tt_tile_bytes_of(TTNN_INT32)),
		       TT_DFB_ROW(2, "weight", .pages = weighted ? weight_tiles(classes) : 0,
				  .page = tile),
		       TT_DFB_ROW(3, "divisor", .pages = divided, .page = tile),
		       TT_DFB_ROW(24, "tmp_weight", .pages = 1, .page = sum),
		       TT_DFB_ROW(25, "tmp1", .pages = divided, .page = sum),
		       TT_DFB_ROW(26, "tmp2", .pages = divided, .page = sum),
		       TT_DFB_ROW(16, "input_grad", .pages = 1, .page = tile),
		       TT_DFB_ROW(7, "weight_scratch", .pages = weighted, .page = tile));
}

static tt_status each_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(out->dtype), classes = tt_shape_last(&out->shape, 1);
	bool weighted = launch->inputs[E_WEIGHT], flat = out->shape.rank == 2;
	const ttnn_core_set *cores;

	if (out->shape.rank > 2)
		classes = out->shape.dim[1];
	TT_TRY(tt_cores_for(&cores, launch, tiles_of(out)));
	return TT_PLAN(plan, cores,
		       TT_DFB_ROW(0, "target", .pages = 1, .page = tt_tile_bytes_of(TTNN_INT32)),
		       TT_DFB_ROW(1, "output_grad",
				  .pages = flat ? tt_shape_last(&out->padded, 2) / TT_TILE : 1,
				  .page = tile),
		       TT_DFB_ROW(2, "weight", .pages = weighted ? weight_tiles(classes) : 0,
				  .page = tile),
		       TT_DFB_ROW(16, "input_grad", .pages = 1, .page = tile),
		       TT_DFB_ROW(7, "weight_scratch", .pages = weighted, .page = tile),
		       TT_DFB_ROW(8, "output_grad_scratch", .pages = flat, .page = tile));
}

/* Only the class of a target has a gradient: the negative of its weight and of the gradient of its loss. */
static tt_status spread(struct tt_launch *launch, const struct classes *classes, const double *grad,
			double divisor)
{
	uint64_t all = classes->targets * classes->count;
	float *out = floats_for(launch, all);

	TT_NEED_MEMORY(out);
	for (uint64_t i = 0; i < classes->targets; i++) {
		double weight = weight_of(classes, i);

		if (weight != 0)
			out[place_of(classes, i)] = (float)(-weight * grad[i] / divisor);
	}
	return tt_values_write(launch->outputs[0], out, TTNN_FLOAT32);
}

/* All targets have the same gradient. */
static tt_status grad_kernel(struct tt_launch *launch)
{
	struct classes classes;
	double grad, divisor, *grads;

	TT_TRY(read_classes(&classes, launch, &launch->outputs[0]->spec.shape, B_TARGET, B_WEIGHT));
	TT_TRY(number_of(&grad, launch, B_GRAD));
	TT_TRY(number_of(&divisor, launch, B_DIVISOR));
	grads = tt_arena_alloc(launch->arena, (classes.targets + 1) * sizeof(*grads));
	TT_NEED_MEMORY(grads);
	for (uint64_t i = 0; i < classes.targets; i++)
		grads[i] = grad;
	return spread(launch, &classes, grads, divisor);
}

static tt_status each_kernel(struct tt_launch *launch)
{
	struct classes classes;
	uint64_t count;
	double *grads;

	TT_TRY(read_classes(&classes, launch, &launch->outputs[0]->spec.shape, E_TARGET, E_WEIGHT));
	TT_TRY(tt_values_of(&grads, &count, launch, E_GRAD));
	TT_NEED(count == classes.targets,
		"moreh_nll_loss_unreduced_backward: there must be a gradient for each target");
	return spread(launch, &classes, grads, 1);
}

static const struct tt_prog grad_program = {
	.device_op = "MorehNllLossBackwardDeviceOperation",
	.prim = "ttnn::prim::moreh_nll_loss_backward",
	.attrs = &grad_schema,
	.infer = backward_infer,
	.validate = grad_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_nll_loss_backward::"
		   "MorehNllLossBackwardDeviceOperation::Factory",
		   grad_memory),
	TT_KERNEL(grad_kernel),
};

static const struct tt_prog each_program = {
	.device_op = "MorehNllLossUnreducedBackwardDeviceOperation",
	.prim = "ttnn::prim::moreh_nll_loss_unreduced_backward",
	.attrs = &each_schema,
	.infer = backward_infer,
	.validate = each_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_nll_loss_unreduced_backward::"
		   "MorehNllLossUnreducedBackwardDeviceOperation::Factory",
		   each_memory),
	TT_KERNEL(each_kernel),
};

static tt_status nll_loss_backward_expand(struct tt_call *call)
{
	struct tt_tensor *target = tt_call_tensor(call, "target_tensor"),
			 *given = tt_call_tensor(call, "input_grad_tensor");

	return TT_LAUNCH_RETURN(call, &grad_program,
				TT_INPUTS(target, tt_call_tensor(call, "output_grad_tensor"),
					  tt_call_tensor(call, "weight_tensor"),
					  tt_call_tensor(call, "divisor_tensor"), given),
				TT_OUTPUTS(given), .in_place = true,
				TT_BIND(call, grad_schema, [GRAD_IGNORE] = ignored_class(call),
					[GRAD_MEMORY] = tt_value_memory_or_like(call, target),
					[GRAD_COMPUTE] = tt_moreh_compute(call)));
}

static tt_status nll_loss_unreduced_backward_expand(struct tt_call *call)
{
	struct tt_tensor *target = tt_call_tensor(call, "target_tensor"),
			 *given = tt_call_tensor(call, "input_grad_tensor");

	return TT_LAUNCH_RETURN(call, &each_program,
				TT_INPUTS(target, tt_call_tensor(call, "output_grad_tensor"),
					  tt_call_tensor(call, "weight_tensor"), given),
				TT_OUTPUTS(given), .in_place = true,
				TT_BIND(call, each_schema, [EACH_IGNORE] = ignored_class(call),
					[EACH_MEMORY] = tt_value_memory_or_like(call, target),
					[EACH_COMPUTE] = tt_moreh_compute(call)));
}

#define TAIL                                                                                       \
	"ignore_index: int = -100, memory_config: MemoryConfig? = None, compute_kernel_config: "   \
	"ComputeConfig? = None"
#define GRADIENT "weight_tensor: Tensor? = None, input_grad_tensor: Tensor? = None, "

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_nll_loss",
	 .doc = "The negative logarithm of the likelihood of classes: each, their sum or their mean.",
	 .sigs = {"input_tensor: Tensor, target_tensor: Tensor, reduction: str, *, weight_tensor: "
		  "Tensor? = None, divisor_tensor: Tensor? = None, output_tensor: Tensor? = None, " TAIL},
	 .expand = nll_loss_expand,
	 .golden = tt_golden_moreh_nll_loss,
	 TT_PROGRAMS(&step1_program, &step2_program)},
	{.name = "ttnn.moreh_nll_loss_backward",
	 .doc = "The gradient of moreh_nll_loss, of a sum or a mean.",
	 .sigs = {"target_tensor: Tensor, output_grad_tensor: Tensor, reduction_mean: bool, *, " GRADIENT
		  "divisor_tensor: Tensor? = None, " TAIL},
	 .expand = nll_loss_backward_expand,
	 .golden = tt_golden_moreh_nll_loss_backward,
	 TT_PROGRAMS(&grad_program)},
	{.name = "ttnn.moreh_nll_loss_unreduced_backward",
	 .doc = "The gradient of moreh_nll_loss where nothing was summed up.",
	 .sigs = {"target_tensor: Tensor, output_grad_tensor: Tensor, *, " GRADIENT TAIL},
	 .expand = nll_loss_unreduced_backward_expand,
	 .golden = tt_golden_moreh_nll_loss_backward,
	 TT_PROGRAMS(&each_program)},
};

const struct tt_op_family tt_family_moreh_nll_loss = {"moreh_nll_loss", ops, TT_COUNT(ops)};
