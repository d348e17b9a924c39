/*
 * moreh_layer_norm_backward.c: the gradients of moreh_layer_norm, each if a tensor is given for it.
 *
 * Models MorehLayerNormBackwardInputGradOperation and MorehLayerNormBackwardGammaBetaGradOperation of ttnn 0.81 with their
 * factories: refusals, memory, cores. Not modelled: the order of their sums.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/norm/norm_gradient.h"

#define ATTRS(X)                                                                                   \
	X(DIMS, "normalized_dims")                                                                 \
	X(MEMORY, "memory_config")                                                                 \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

/* Inputs of both programs, then those of one, which the other has in other places. */
enum { GRAD, INPUT, MEAN, RSTD, INPUT_GRAD, GAMMA, GRADIENT_INPUTS };
enum { GAMMA_GRAD = 4, BETA_GRAD, GAIN_INPUTS };
enum { GAMMA_SLOT, BETA_SLOT };

/* ---- refusals ------------------------------------------------------------------------------------ */

/* A tensor must have these dimensions; fewer than two are the last ones of a matrix with extents of 1. */
static tt_status check_shape(const struct tt_tensor *tensor, const struct ttnn_shape *want,
			     const char *condition, const char *format)
{
	struct ttnn_shape have;

	if (!tensor)
		return TTNN_OK;
	have = tensor->spec.shape;
	if (have.rank < 2)
		have = (struct ttnn_shape){2, {1, have.rank ? have.dim[0] : 1}};
	if (ttnn_shape_equal(&have, want))
		return TTNN_OK;
	return tt_fail_shapes(TTNN_INVALID, condition, format, want, &tensor->spec.shape);
}

/* Dimensions of a shape, as a matrix at least. */
static struct ttnn_shape part_of(const struct ttnn_shape *shape, uint32_t begin, uint32_t end)
{
	struct ttnn_shape part = {0};

	for (uint32_t d = begin; d < end; d++)
		part.dim[part.rank++] = shape->dim[d];
	return part.rank < 2 ? (struct ttnn_shape){2, {1, part.rank ? part.dim[0] : 1}} : part;
}

/* What both programs refuse, but for the shapes of means and deviations. */
static tt_status check_dims(const struct tt_launch *launch)
{
	int64_t dims = launch->attrs[DIMS].integer;
	const struct ttnn_shape *in = &launch->inputs[INPUT]->spec.shape;

	TT_REQUIRE(dims > 0, "normalized_dims > 0", "normalized_dims should > 0. Got %" PRId64,
		   dims);
	TT_REQUIRE(dims <= in->rank, "normalized_dims <= input_rank",
		   "normalized_dims should <= input rank (%u). Got: %" PRId64, in->rank, dims);
	TT_REQUIRE(ttnn_shape_equal(&launch->inputs[GRAD]->spec.shape, in),
		   "is_same_shape(output_grad, input)",
		   "output_grad and input should have the same logical shape.");
	return TTNN_OK;
}

static tt_status check_statistics(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[INPUT]->spec.shape;
	struct ttnn_shape want = part_of(in, 0, in->rank - (uint32_t)launch->attrs[DIMS].integer);

	TT_TRY(check_shape(launch->inputs[MEAN], &want,
			   "canonicalize_shape_for_validation(mean.logical_shape()) == "
			   "expected_mean_rstd_shape",
			   "mean must have logical shape %s. Got %s."));
	return check_shape(launch->inputs[RSTD], &want,
			   "canonicalize_shape_for_validation(rstd.logical_shape()) == "
			   "expected_mean_rstd_shape",
			   "rstd must have logical shape %s. Got %s.");
}

static struct ttnn_shape gain_shape(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[INPUT]->spec.shape;

	return part_of(in, in->rank - (uint32_t)launch->attrs[DIMS].integer, in->rank);
}

/* ---- the gradient of the input ------------------------------------------------------------------- */

static tt_status input_grad_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_layer_norm_backward_input_grad",
		.tensors = {"output_grad", "input", "mean", "rstd", "input_grad", "gamma"}};
	struct ttnn_shape gain;

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(check_dims(launch));
	TT_TRY(check_statistics(launch));
	TT_REQUIRE(ttnn_shape_equal(&launch->inputs[INPUT_GRAD]->spec.shape,
				    &launch->inputs[INPUT]->spec.shape),
		   "is_same_shape(input_grad.value(), input)",
		   "input_grad and input should have the same logical shape.");
	gain = gain_shape(launch);
	return check_shape(launch->inputs[GAMMA], &gain,
			   "canonicalize_shape_for_validation(gamma->logical_shape()) == "
			   "expected_gamma_shape",
			   "gamma must have logical shape %s. Got %s.");
}

/* Tiles of what is normalised together, and how often there are such. */
static void count_tiles(uint64_t *inner, uint64_t *outer, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	uint32_t dims = (uint32_t)launch->attrs[DIMS].integer;

	*inner = *outer = 1;
	for (uint32_t back = 1; back <= grad->padded.rank || back <= 2; back++) {
		uint64_t extent = tt_shape_last(&grad->padded, back);

		if (back <= 2)
			extent = tt_div_up(extent, TT_TILE);
		*(back <= dims ? inner : outer) *= extent;
	}
}

static tt_status input_grad_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	bool mask_h = launch->attrs[DIMS].integer > 1 && tt_shape_last(&grad->shape, 2) % TT_TILE;
	const ttnn_core_set *cores;
	uint64_t inner, outer;

	count_tiles(&inner, &outer, launch);
	TT_TRY(tt_cores_for(&cores, launch, outer));
	return tt_norm_gradient_memory(
		plan, launch, cores,
		&(struct tt_norm_buffers){
			.inner = inner,
			.tile = tt_tile_bytes_of(grad->dtype),
			.sum = tt_moreh_sum_bytes(&launch->attrs[COMPUTE], grad->dtype),
			.gamma = launch->inputs[GAMMA] != NULL,
			.masks = mask_h || tt_shape_last(&grad->shape, 1) % TT_TILE});
}

/* The rows that were normalised: *out stays as it is for a tensor without elements. */
static tt_status rows_of(struct tt_norm_rows *out, const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[INPUT]->spec.shape;
	uint64_t all, cols = 1;

	TT_TRY(ttnn_shape_volume(&all, shape));
	for (uint32_t back = 1; back <= (uint32_t)launch->attrs[DIMS].integer; back++)
		cols *= tt_shape_last(shape, back);
	*out = (struct tt_norm_rows){.rows = 0};
	if (!all)
		return TTNN_OK;
	return tt_norm_rows(out,
			    &(struct tt_norm_given){launch->inputs[GRAD], launch->inputs[INPUT],
						    launch->inputs[MEAN], launch->inputs[RSTD]},
			    all / cols, cols);
}

static tt_status input_grad_kernel(struct tt_launch *launch)
{
	struct tt_norm_rows rows;
	struct tt_tensor *gamma;

	TT_TRY(rows_of(&rows, launch));
	if (!rows.rows)
		return TTNN_OK;
	if (launch->inputs[GAMMA]) {
		TT_TRY(tt_moreh_matrix(&gamma, 1, rows.cols, launch->inputs[GAMMA]));
		TT_TRY(tt_moreh_map(rows.dy, TT_BINARY_MUL, rows.dy, gamma));
	}
	return tt_norm_gradient(launch->outputs[0], &rows, rows.dy);
}

static const struct tt_prog input_grad_program = {
	.device_op = "MorehLayerNormBackwardInputGradOperation",
	.prim = "ttnn::prim::moreh_layer_norm_backward_input_grad",
	.attrs = &schema,
	.validate = input_grad_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_layer_norm_backward_input_grad::"
		   "MorehLayerNormBackwardInputGradOperation::"
		   "MorehLayerNormBackwardInputGradFactory",
		   input_grad_memory),
	TT_KERNEL(input_grad_kernel),
};

/* ---- the gradients of gamma and beta -------------------------------------------------------------- */

static tt_status gain_infer(struct tt_launch *launch)
{
	return tt_moreh_infer(launch, NULL);
}

static tt_status gain_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_layer_norm_backward_gamma_beta_grad",
		.tensors = {"output_grad", "input", "mean", "rstd", "gamma_grad", "beta_grad"}};
	struct ttnn_shape gain;

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(check_dims(launch));
	TT_TRY(check_statistics(launch));
	gain = gain_shape(launch);
	TT_TRY(check_shape(launch->inputs[GAMMA_GRAD], &gain,
			   "canonicalize_shape_for_validation(gamma_grad->logical_shape()) == "
			   "expected_gamma_beta_shape",
			   "gamma_grad must have logical shape %s. Got %s."));
	return check_shape(launch->inputs[BETA_GRAD], &gain,
			   "canonicalize_shape_for_validation(beta_grad->logical_shape()) == "
			   "expected_gamma_beta_shape",
			   "beta_grad must have logical shape %s. Got %s.");
}

static tt_status gain_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	const ttnn_core_set *cores;
	uint64_t inner, outer;

	count_tiles(&inner, &outer, launch);
	TT_TRY(tt_cores_for(&cores, launch, inner));
	return tt_norm_gain_memory(
		plan, cores,
		&(struct tt_norm_gain_buffers){
			.tile = tt_tile_bytes_of(grad->dtype),
			.sum = tt_moreh_sum_bytes(&launch->attrs[COMPUTE], grad->dtype),
			.mask_h = launch->attrs[DIMS].integer == 1 &&
				  tt_shape_last(&grad->shape, 2) % TT_TILE,
			.gamma = tt_moreh_has(launch, GAMMA_SLOT),
			.beta = tt_moreh_has(launch, BETA_SLOT)});
}

/* Sums over the rows, of the gradient (beta) and of its product with what was normalised (gamma). */
static tt_status gain_kernel(struct tt_launch *launch)
{
	struct tt_norm_rows rows;
	struct tt_tensor *sum;

	TT_TRY(rows_of(&rows, launch));
	if (!rows.rows)
		return TTNN_OK;
	if (tt_moreh_has(launch, BETA_SLOT)) {
		TT_TRY(tt_moreh_sum(&sum, rows.dy, 1));
		TT_TRY(tt_backend_get()->reshape(tt_moreh_slot(launch, BETA_SLOT), sum));
	}
	if (!tt_moreh_has(launch, GAMMA_SLOT))
		return TTNN_OK;
	TT_TRY(tt_moreh_map(rows.y, TT_BINARY_MUL, rows.y, rows.dy));
	TT_TRY(tt_moreh_sum(&sum, rows.y, 1));
	return tt_backend_get()->reshape(tt_moreh_slot(launch, GAMMA_SLOT), sum);
}

static const struct tt_prog gain_program = {
	.device_op = "MorehLayerNormBackwardGammaBetaGradOperation",
	.prim = "ttnn::prim::moreh_layer_norm_backward_gamma_beta_grad",
	.attrs = &schema,
	.infer = gain_infer,
	.validate = gain_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_layer_norm_backward_gamma_beta_grad::"
		   "MorehLayerNormBackwardGammaBetaGradOperation::"
		   "MorehLayerNormBackwardGammaBetaGradFactory",
		   gain_memory),
	TT_KERNEL(gain_kernel),
};

/* ---- the operation ------------------------------------------------------------------------------- */

static tt_status layer_norm_backward_expand(struct tt_call *call)
{
	struct tt_tensor *in[GRADIENT_INPUTS] = {
		tt_call_tensor(call, "output_grad"), tt_call_tensor(call, "input"),
		tt_call_tensor(call, "mean"),        tt_call_tensor(call, "rstd"),
		tt_call_tensor(call, "input_grad"),  tt_call_tensor(call, "gamma")};
	struct tt_tensor *gain[GAIN_INPUTS] = {in[GRAD],
					       in[INPUT],
					       in[MEAN],
					       in[RSTD],
					       tt_call_tensor(call, "gamma_grad"),
					       tt_call_tensor(call, "beta_grad")};
	struct tt_moreh_slots slots = {2,
				       {gain[GAMMA_GRAD] != NULL, gain[BETA_GRAD] != NULL},
				       {gain[GAMMA_GRAD], gain[BETA_GRAD]}};
	struct ttnn_value attrs[schema_count] = {
		[MEMORY] = tt_value_memory_or_like(call, in[GRAD]),
		[COMPUTE] = tt_moreh_compute(call),
	};
	struct tt_program_args args = {.attrs = tt_attrs_bind(call, &schema, attrs)};
	struct tt_tensor *out = NULL;

	if (in[INPUT_GRAD])
		TT_TRY(TT_LAUNCH(&out, call, &input_grad_program, .attrs = args.attrs, .inputs = in,
				 .input_count = GRADIENT_INPUTS, TT_OUTPUTS(in[INPUT_GRAD]),
				 .in_place = true));
	tt_call_return(call, out);
	if (!gain[GAMMA_GRAD] && !gain[BETA_GRAD]) {
		tt_call_return(call, NULL);
		tt_call_return(call, NULL);
		return TTNN_OK;
	}
	args.prog = &gain_program;
	args.inputs = gain;
	args.input_count = GAIN_INPUTS;
	return tt_moreh_launch_return(call, &args, &slots);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_layer_norm_backward",
	 .doc = "The gradients of moreh_layer_norm.",
	 .sigs = {"output_grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, normalized_dims: "
		  "size, *, gamma: Tensor? = None, input_grad: Tensor? = None, gamma_grad: Tensor? "
		  "= None, beta_grad: Tensor? = None, memory_config: MemoryConfig? = None, "
		  "compute_kernel_config: ComputeConfig? = None"},
	 .expand = layer_norm_backward_expand,
	 .golden = tt_golden_moreh_layer_norm_backward,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&input_grad_program, &gain_program)},
};

const struct tt_op_family tt_family_moreh_layer_norm_backward = {"moreh_layer_norm_backward", ops,
								 TT_COUNT(ops)};
