/*
 * moreh_backward.c: gradients of sums, means and norms over dimensions: that of the result is spread over the dimensions it lacks.
 *
 * Models MorehSumBackwardOperation, MorehMeanBackwardOperation and MorehNormBackwardOperation of ttnn 0.81, each with its one
 * factory: refusals, memory, cores. Not modelled: gradients that are no such result, of which upstream reads what lies where one would
 * be; they are refused.
 */
#include <inttypes.h>
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"

/* ---- dimensions ---------------------------------------------------------------------------------- */

/* A list of them as upstream has it. */
static tt_status backward_dims(struct ttnn_value *out, struct tt_call *call, uint32_t rank,
			       bool sorted)
{
	struct ttnn_value *items =
		tt_arena_alloc(call->arena, (TTNN_MAX_RANK + 1) * sizeof(*items));
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_NEED_MEMORY(items);
	TT_TRY(tt_moreh_dims(dims, &count, call, rank, sorted));
	for (size_t i = 0; i < count; i++)
		items[i] = ttnn_v_int(dims[i]);
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

/* Upstream takes them for numbers without a sign: those below zero are too large. */
static tt_status check_dims(const struct ttnn_value *dims, uint32_t rank, const char *of)
{
	for (size_t i = 0; i < dims->count; i++) {
		int64_t dim = dims->items[i].integer;

		if (dim < 0 || dim >= rank)
			return tt_fail_cond(TTNN_INVALID,
					    of[0] == 'i' ? "dim < input_rank" : "dim < rank",
					    "dim %" PRId64 " < %s %u", dim, of, rank);
	}
	return TTNN_OK;
}

static bool is_reduced(const struct ttnn_value *dims, uint32_t dim)
{
	for (size_t i = 0; i < dims->count; i++)
		if (dims->items[i].integer == dim)
			return true;
	return false;
}

/* A result in the shape that it has with all dimensions kept; as it is, if it spreads over the whole by itself. */
static tt_status keep_dims(struct tt_tensor **out, struct tt_launch *launch, struct tt_tensor *in)
{
	const struct ttnn_value *dims = tt_launch_attr(launch, "dims");
	const struct ttnn_shape *whole = &launch->outputs[0]->spec.shape;
	bool keep = tt_launch_attr(launch, "keepdim")->boolean;
	struct ttnn_shape kept = *whole;
	uint64_t have, want;

	for (uint32_t d = 0; d < kept.rank && !keep; d++)
		if (is_reduced(dims, d))
			kept.dim[d] = 1;
	TT_TRY(ttnn_shape_volume(&have, &in->spec.shape));
	TT_TRY(ttnn_shape_volume(&want, &kept));
	if (keep || have != want)
		kept = in->spec.shape;
	for (uint32_t back = 1; back <= kept.rank; back++) {
		uint32_t extent = tt_shape_last(&kept, back);

		if (extent != 1 && extent != tt_shape_last(whole, back))
			return tt_fail_shapes(TTNN_INVALID, "output_grad",
					      "A gradient of %s does not spread over %s",
					      &in->spec.shape, whole);
	}
	return tt_moreh_view(out, &kept, in);
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* Tiles of the result are given out column by column. Dimensions are looked at here where nothing else did. */
static tt_status backward_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *spec = &launch->outputs[0]->spec;

	if (!tt_launch_attr(launch, "keepdim")->boolean)
		TT_TRY(check_dims(tt_launch_attr(launch, "dims"), spec->shape.rank, "rank"));
	return tt_cores_for(out, launch, spec->rows / TT_TILE * (spec->cols / TT_TILE));
}

static tt_status sum_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;
	uint64_t tile = tt_page_in0(launch);

	TT_TRY(backward_cores(&cores, launch));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "c0_in", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "c1_zero", .pages = 1, .page = tile),
		       TT_DFB_ROW(16, "c16_out", .pages = 2, .page = tile));
}

static tt_status mean_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;
	uint64_t tile = tt_page_in0(launch);
	uint32_t rank = launch->inputs[0]->spec.shape.rank;
	uint32_t whole = launch->outputs[0]->spec.shape.rank;

	TT_TRY(backward_cores(&cores, launch));
	/* With keepdim the gradient is looked up along all dimensions, from the last. */
	TT_REQUIRE(!tt_launch_attr(launch, "keepdim")->boolean || whole <= rank, "tt::exception",
		   "ShapeBase[] index out of range. %u not in [-%u, %u)", whole - 1,
		   rank < 4 ? 4 : rank, rank);
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "in", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "zero", .pages = 1, .page = tile),
		       TT_DFB_ROW(2, "scalar", .pages = 1, .page = tile),
		       TT_DFB_ROW(24, "intermed", .pages = 1, .page = tile),
		       TT_DFB_ROW(16, "out", .pages = 2, .page = tile));
}

/* ---- sums ---------------------------------------------------------------------------------------- */

#define SUM_ATTRS(X)                                                                               \
	X(SUM_DIMS, "dims", .text = TT_TEXT_SMALL)                                                 \
	X(SUM_KEEP, "keepdim")                                                                     \
	X(SUM_MEMORY, "memory_config")                                                             \
	X(SUM_COMPUTE, "compute_kernel_config")
TT_ATTRS(sum_schema, "operation_attributes_t", SUM_ATTRS);
enum { SUM_GRAD, SUM_INPUT, SUM_GIVEN };

static tt_status sum_backward_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	in = &launch->inputs[SUM_INPUT]->spec;
	return tt_infer_one(launch, &in->shape, in->dtype, TTNN_TILE);
}

/* Without keepdim the gradient has no reduced dimensions, but for the last two, of which one is left. */
static tt_status check_dropped(const struct tt_launch *launch, const struct ttnn_shape *in)
{
	const struct ttnn_shape *grad = &launch->inputs[SUM_GRAD]->spec.shape;
	const struct ttnn_value *dims = &launch->attrs[SUM_DIMS];
	struct ttnn_shape expected = {0};

	TT_TRY(check_dims(dims, in->rank < 2 ? 2 : in->rank, "input_rank"));
	TT_REQUIRE(in->rank >= 2, "tt::exception",
		   "ShapeBase[] index out of range. %u not in [-4, %u)", in->rank, in->rank);
	for (uint32_t d = 0; d < in->rank; d++)
		if (!is_reduced(dims, d) || d + 2 >= in->rank)
			expected.dim[expected.rank++] = is_reduced(dims, d) ? 1 : in->dim[d];
	TT_REQUIRE(expected.rank == grad->rank, "expected_rank == rank",
		   "expected_rank %u == rank %u", expected.rank, grad->rank);
	for (uint32_t d = 0; d < grad->rank; d++)
		TT_REQUIRE(expected.dim[d] >= grad->dim[d],
			   "expected_output_grad_shape[i] >= output_grad_shape_wo_padding[i]",
			   "Expected output grad shape[%u] (%u) must be >= output grad shape "
			   "without padding[%u] (%u)",
			   d, expected.dim[d], d, grad->dim[d]);
	return TTNN_OK;
}

static tt_status check_kept(const struct tt_launch *launch, const struct ttnn_shape *in)
{
	const struct ttnn_shape *grad = &launch->inputs[SUM_GRAD]->spec.shape;

	TT_NEED(in->rank <= grad->rank, "moreh_sum_backward: output_grad has too few dimensions");
	for (uint32_t d = 0; d < in->rank; d++)
		TT_REQUIRE(in->dim[d] >= grad->dim[d],
			   "input_shape_wo_padding[i] >= output_grad_shape_wo_padding[i]",
			   "Input shape without padding[%u] (%u) must be >= output grad shape "
			   "without padding[%u] (%u)",
			   d, in->dim[d], d, grad->dim[d]);
	return TTNN_OK;
}

static tt_status sum_backward_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {.program = "moreh_sum_backward",
						    .tensors = {[SUM_GRAD] = "output_grad"}};
	const struct tt_tensor *in = launch->inputs[SUM_INPUT], *given = launch->inputs[SUM_GIVEN];

	TT_TRY(tt_moreh_check(launch, &names));
	TT_TRY(tt_moreh_check_one(given, &names, " input_grad"));
	TT_TRY(tt_moreh_check_one(in, &names, "input"));
	if (!in)
		return TTNN_OK;
	TT_TRY(launch->attrs[SUM_KEEP].boolean ? check_kept(launch, &in->spec.shape)
					       : check_dropped(launch, &in->spec.shape));
	TT_REQUIRE(!given || ttnn_shape_equal(&in->spec.padded, &given->spec.padded),
		   "input_shape == input_grad_shape",
		   "both shape between input and input_grad should be the same");
	return TTNN_OK;
}

static tt_status sum_backward_kernel(struct tt_launch *launch)
{
	struct tt_tensor *grad;

	TT_TRY(keep_dims(&grad, launch, launch->inputs[SUM_GRAD]));
	return tt_moreh_apply(launch->outputs[0], grad, NULL, 0);
}

static const struct tt_prog sum_program = {
	.device_op = "MorehSumBackwardOperation",
	.prim = "ttnn::prim::moreh_sum_backward",
	.attrs = &sum_schema,
	.infer = sum_backward_infer,
	.validate = sum_backward_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_sum_backward::MorehSumBackwardOperation::"
		   "ProgramFactory",
		   sum_backward_memory),
	TT_KERNEL(sum_backward_kernel),
};

static tt_status sum_backward_expand(struct tt_call *call)
{
	struct tt_tensor *grad = tt_call_tensor(call, "output_grad");
	struct tt_tensor *in = tt_call_tensor(call, "input"),
			 *given = tt_call_tensor(call, "input_grad");
	struct ttnn_value dims;

	TT_REQUIRE(in || given, "(input.has_value() || input_grad.has_value())",
		   "either input or input_grad must have a value");
	TT_TRY(backward_dims(&dims, call, (in ? in : given)->spec.shape.rank, true));
	return TT_LAUNCH_RETURN(call, &sum_program, TT_INPUTS(grad, in, given), TT_OUTPUTS(given),
				.in_place = true,
				TT_BIND(call, sum_schema, [SUM_DIMS] = dims,
					[SUM_MEMORY] = tt_value_memory_or_like(call, grad),
					[SUM_COMPUTE] = tt_moreh_compute(call)));
}

/* ---- means --------------------------------------------------------------------------------------- */

#define MEAN_ATTRS(X)                                                                              \
	X(MEAN_DIMS, "dims", .text = TT_TEXT_SMALL)                                                \
	X(MEAN_KEEP, "keepdim")                                                                    \
	X(MEAN_SHAPE, "input_grad_shape")                                                          \
	X(MEAN_MEMORY, "memory_config")                                                            \
	X(MEAN_COMPUTE, "compute_kernel_config")
TT_ATTRS(mean_schema, "operation_attributes_t", MEAN_ATTRS);
enum { MEAN_GRAD, MEAN_GIVEN };

static tt_status mean_backward_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_NEED(tt_value_given(&launch->attrs[MEAN_SHAPE]), "bad optional access");
	TT_TRY(tt_call_shape(&shape, launch->call, "input_grad_shape"));
	return tt_infer_one(launch, &shape, launch->inputs[MEAN_GRAD]->spec.dtype, TTNN_TILE);
}

static tt_status mean_backward_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_mean_backward",
		.tensors = {[MEAN_GRAD] = "output_grad", [MEAN_GIVEN] = "input_grad"}};

	return tt_moreh_check(launch, &names);
}

/* Each value is one of so many. */
static tt_status mean_backward_kernel(struct tt_launch *launch)
{
	struct tt_tensor *out = launch->outputs[0], *grad;
	uint64_t all, results;

	TT_TRY(keep_dims(&grad, launch, launch->inputs[MEAN_GRAD]));
	TT_TRY(ttnn_shape_volume(&all, &out->spec.shape));
	TT_TRY(ttnn_shape_volume(&results, &grad->spec.shape));
	return tt_moreh_map_number(out, TT_BINARY_MUL, grad,
				   all ? (double)results / (double)all : 1);
}

static const struct tt_prog mean_program = {
	.device_op = "MorehMeanBackwardOperation",
	.prim = "ttnn::prim::moreh_mean_backward",
	.attrs = &mean_schema,
	.infer = mean_backward_infer,
	.validate = mean_backward_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_mean_backward::MorehMeanBackwardOperation::"
		   "MorehMeanBackwardProgramFactory",
		   mean_backward_memory),
	TT_KERNEL(mean_backward_kernel),
};

/* Without keepdim the input has as many dimensions more as there are in the list. */
static tt_status mean_backward_expand(struct tt_call *call)
{
	struct tt_tensor *grad = tt_call_tensor(call, "output_grad"),
			 *given = tt_call_tensor(call, "input_grad");
	uint32_t rank = grad->spec.shape.rank;
	int64_t list[TTNN_MAX_RANK];
	struct ttnn_value dims;
	size_t count;

	TT_TRY(tt_call_ints(list, &count, TTNN_MAX_RANK, call, "dim"));
	if (!tt_call_bool(call, "keepdim", false))
		rank += (uint32_t)count;
	TT_NEED(rank <= TTNN_MAX_RANK, "moreh_mean_backward: %u dimensions are too many", rank);
	TT_TRY(backward_dims(&dims, call, rank, false));
	return TT_LAUNCH_RETURN(call, &mean_program, TT_INPUTS(grad, given), TT_OUTPUTS(given),
				.in_place = true,
				TT_BIND(call, mean_schema, [MEAN_DIMS] = dims,
					[MEAN_MEMORY] = tt_value_memory_or_like(call, grad),
					[MEAN_COMPUTE] = tt_moreh_compute(call)));
}

/* ---- norms --------------------------------------------------------------------------------------- */

#define NORM_ATTRS(X)                                                                              \
	X(NORM_P, "p")                                                                             \
	X(NORM_DIMS, "dims", .text = TT_TEXT_SMALL)                                                \
	X(NORM_KEEP, "keepdim")                                                                    \
	X(NORM_MEMORY, "memory_config")                                                            \
	X(NORM_COMPUTE, "compute_kernel_config")
TT_ATTRS(norm_schema, "operation_attributes_t", NORM_ATTRS);
enum { NORM_INPUT, NORM_OUTPUT, NORM_GRAD, NORM_GIVEN };

static tt_status norm_backward_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {.program = "moreh_norm_backward",
						    .tensors = {[NORM_INPUT] = "input",
								[NORM_OUTPUT] = "output",
								[NORM_GRAD] = "output_grad",
								[NORM_GIVEN] = "input_grad"}};

	return tt_moreh_check(launch, &names);
}

static tt_status norm_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const ttnn_core_set *cores;
	uint64_t tile = tt_page_in2(launch);
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[NORM_COMPUTE],
					  launch->inputs[NORM_GRAD]->spec.dtype);

	TT_TRY(backward_cores(&cores, launch));
	return TT_PLAN(plan, cores, TT_DFB_ROW(0, "mnb_input", .pages = 1, .page = tile),
		       TT_DFB_ROW(1, "mnb_output", .pages = 1, .page = tile),
		       TT_DFB_ROW(2, "mnb_output_grad", .pages = 1, .page = tile),
		       TT_DFB_ROW(3, "mnb_decimal", .pages = 1, .page = tile),
		       TT_DFB_ROW(16, "mnb_dx", .pages = 1, .page = tile),
		       TT_DFB_ROW(24, "mnb_xpow", .pages = 1, .page = sum),
		       TT_DFB_ROW(25, "mnb_logx", .pages = 1, .page = sum),
		       TT_DFB_ROW(26, "mnb_exp_lxmd", .pages = 1, .page = sum),
		       TT_DFB_ROW(27, "mnb_correct_xpow", .pages = 1, .page = sum),
		       TT_DFB_ROW(28, "mnb_tmp4", .pages = 1, .page = sum),
		       TT_DFB_ROW(29, "mnb_tmp5", .pages = 1, .page = sum),
		       TT_DFB_ROW(30, "mnb_recip_ypow", .pages = 1, .page = sum),
		       TT_DFB_ROW(31, "mnb_sign", .pages = 1, .page = sum));
}

/* 1 where there is a 0, so that one can divide by it. */
static tt_status fill_zeros(struct tt_tensor *tensor)
{
	static const struct tt_unary_step is_zero = {.fn = TT_UNARY_EQZ};
	struct tt_tensor *zeros;

	TT_TRY(tt_scratch_f32(&zeros, &tensor->spec.shape));
	TT_TRY(tt_moreh_apply(zeros, tensor, &is_zero, 1));
	return tt_moreh_map(tensor, TT_BINARY_ADD, tensor, zeros);
}

/*
 * sign(x) (|x| / y)^(p - 1) dy. Where x is 0 so is the gradient, and everywhere for the order 0, which counts. For
 * infinite orders the power is 1 where |x| is the norm, else 0.
 */
static tt_status norm_backward_kernel(struct tt_launch *launch)
{
	static const struct tt_unary_step sign = {.fn = TT_UNARY_SIGN};
	double p = launch->attrs[NORM_P].real;
	struct tt_tensor *out = launch->outputs[0], *in = launch->inputs[NORM_INPUT];
	struct tt_tensor *ratio, *signs, *norm, *grad;

	TT_NEED(ttnn_shape_equal(&in->spec.shape, &out->spec.shape),
		"moreh_norm_backward: input_grad must have the shape of input");
	if (p == 0)
		return tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	TT_TRY(keep_dims(&norm, launch, launch->inputs[NORM_OUTPUT]));
	TT_TRY(keep_dims(&grad, launch, launch->inputs[NORM_GRAD]));
	TT_TRY(tt_scratch_f32(&ratio, &in->spec.shape));
	TT_TRY(tt_scratch_f32(&signs, &in->spec.shape));
	TT_TRY(tt_moreh_power(ratio, in, 1));
	TT_TRY(tt_moreh_apply(signs, in, &sign, 1));
	TT_TRY(fill_zeros(norm));
	TT_TRY(tt_moreh_map(ratio, TT_BINARY_DIV, ratio, norm));
	TT_TRY(fill_zeros(ratio));
	TT_TRY(tt_moreh_power(ratio, ratio, p - 1));
	TT_TRY(tt_moreh_map(ratio, TT_BINARY_MUL, ratio, signs));
	return tt_moreh_map(out, TT_BINARY_MUL, ratio, grad);
}

static const struct tt_prog norm_program = {
	.device_op = "MorehNormBackwardOperation",
	.prim = "ttnn::prim::moreh_norm_backward",
	.attrs = &norm_schema,
	.validate = norm_backward_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_norm_backward::MorehNormBackwardOperation::"
		   "MorehNormBackwardProgramFactory",
		   norm_backward_memory),
	TT_KERNEL(norm_backward_kernel),
};

static tt_status norm_backward_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"),
			 *given = tt_call_tensor(call, "input_grad");
	struct ttnn_value dims;

	TT_TRY(backward_dims(&dims, call, in->spec.shape.rank, true));
	return TT_LAUNCH_RETURN(call, &norm_program,
				TT_INPUTS(in, tt_call_tensor(call, "output"),
					  tt_call_tensor(call, "output_grad"), given),
				TT_OUTPUTS(given), .in_place = true,
				TT_BIND(call, norm_schema, [NORM_DIMS] = dims,
					[NORM_MEMORY] = tt_value_memory_or_like(call, in),
					[NORM_COMPUTE] = tt_moreh_compute(call)));
}

/* ---- the operations ------------------------------------------------------------------------------ */

#define TAIL                                                                                       \
	"input_grad: Tensor? = None, memory_config: MemoryConfig? = None, "                        \
	"compute_kernel_config: ComputeConfig? = None"
#define DIMS "dim: int | ints ? = None, keepdim: bool = False, "

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_sum_backward",
	 .doc = "The gradient of moreh_sum.",
	 .sigs = {"output_grad: Tensor, *, input: Tensor? = None, " DIMS TAIL},
	 .expand = sum_backward_expand,
	 .golden = tt_golden_moreh_sum_backward,
	 TT_PROGRAMS(&sum_program)},
	{.name = "ttnn.moreh_mean_backward",
	 .doc = "The gradient of moreh_mean.",
	 .sigs = {"output_grad: Tensor, *, " DIMS "input_grad_shape: Shape? = None, " TAIL},
	 .expand = mean_backward_expand,
	 .golden = tt_golden_moreh_mean_backward,
	 TT_PROGRAMS(&mean_program)},
	{.name = "ttnn.moreh_norm_backward",
	 .doc = "The gradient of moreh_norm.",
	 .sigs = {"input: Tensor, output: Tensor, output_grad: Tensor, p: float, *, " DIMS TAIL},
	 .expand = norm_backward_expand,
	 .golden = tt_golden_moreh_norm_backward,
	 TT_PROGRAMS(&norm_program)},
};

const struct tt_op_family tt_family_moreh_backward = {"moreh_backward", ops, TT_COUNT(ops)};
