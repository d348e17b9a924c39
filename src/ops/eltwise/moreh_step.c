/*
 * moreh_step.c: the steps of training that change parameters by their gradients: SGD, Adam and AdamW. Results go to new tensors, or to
 * those that are given, which may be the ones that go in.
 *
 * Models MorehSgdOperation, MorehAdamOperation and MorehAdamWDeviceOperation of ttnn 0.81 with their factories: specs, refusals,
 * memory, cores. Not modelled: how their kernels round on the way; a momentum that was to be there and is not given counts as 0.
 */
#include <math.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/eltwise/eltwise.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"

/* ---- what all have -------------------------------------------------------------------------------- */

/* A scratch copy in float32, of the parameter's shape; NULL for a missing tensor. */
static tt_status copy_of(struct tt_tensor **out, const struct tt_launch *launch, size_t input)
{
	const struct ttnn_shape *shape = &launch->inputs[0]->spec.shape;
	struct tt_tensor *in = launch->inputs[input];

	*out = NULL;
	if (!in)
		return TTNN_OK;
	TT_NEED(ttnn_shape_equal(&in->spec.shape, shape),
		"%s: all tensors must have the shape of the parameter", launch->prog->device_op);
	return tt_moreh_view(out, shape, in);
}

/* The result at this place, if there is one. */
static tt_status write_slot(const struct tt_launch *launch, size_t slot, struct tt_tensor *from)
{
	struct tt_tensor *out = tt_moreh_slot(launch, slot);

	if (!out || !from)
		return TTNN_OK;
	TT_NEED(ttnn_shape_equal(&out->spec.shape, &from->spec.shape),
		"%s: all tensors must have the shape of the parameter", launch->prog->device_op);
	return tt_backend_get()->reshape(out, from);
}

/* into = into × keep + from × take */
static tt_status blend(struct tt_tensor *into, double keep, struct tt_tensor *from, double take)
{
	struct tt_tensor *part;

	TT_TRY(tt_scratch_f32(&part, &into->spec.shape));
	TT_TRY(tt_moreh_map_number(part, TT_BINARY_MUL, from, take));
	TT_TRY(tt_moreh_map_number(into, TT_BINARY_MUL, into, keep));
	return tt_moreh_map(into, TT_BINARY_ADD, into, part);
}

/* Each result as the parameter, in tiles, where it is not given. */
static tt_status step_infer(struct tt_launch *launch,
			    const struct ttnn_memory_config *const *memory)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_tensor_spec made[TT_MOREH_SLOTS];

	for (size_t i = 0; i < TT_MOREH_SLOTS; i++)
		TT_TRY(tt_spec_simple(&made[i], &in->shape, in->dtype, TTNN_TILE,
				      memory[i] ? memory[i] : memory[0]));
	return tt_moreh_infer(launch, made);
}

static tt_status step_cores(const ttnn_core_set **out, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	return tt_cores_for(out, launch, in->rows / TT_TILE * (in->cols / TT_TILE));
}

/* ---- SGD ------------------------------------------------------------------------------------------ */

#define SGD_ATTRS(X)                                                                               \
	X(SGD_LR, "lr")                                                                            \
	X(SGD_MOMENTUM, "momentum")                                                                \
	X(SGD_DAMPENING, "dampening")                                                              \
	X(SGD_DECAY, "weight_decay")                                                               \
	X(SGD_NESTEROV, "nesterov")                                                                \
	X(SGD_INITIALIZED, "momentum_initialized")                                                 \
	X(SGD_PARAM_MEMORY, "param_out_memory_config")                                             \
	X(SGD_BUFFER_MEMORY, "momentum_buffer_out_memory_config")                                  \
	X(SGD_COMPUTE, "compute_kernel_config")
TT_ATTRS(sgd_schema, "operation_attributes_t", SGD_ATTRS);
enum { PARAM, GRAD, BUFFER, PARAM_OUT, BUFFER_OUT, SGD_INPUTS };
enum { PARAM_SLOT, BUFFER_SLOT, SGD_SLOTS };

static tt_status sgd_infer(struct tt_launch *launch)
{
	return step_infer(launch, (const struct ttnn_memory_config *[TT_MOREH_SLOTS]){
					  launch->attrs[SGD_PARAM_MEMORY].memory,
					  launch->attrs[SGD_BUFFER_MEMORY].memory});
}

static tt_status sgd_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_sgd",
		.tensors = {[PARAM] = "params_in",
			    [GRAD] = "grad",
			    [BUFFER] = "momentum_buffer_in",
			    [PARAM_OUT] = "param_out",
			    [BUFFER_OUT] = "momentum_buffer_out"}};

	return tt_moreh_check(launch, &names);
}

static tt_status sgd_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[PARAM]->spec.dtype;
	uint64_t tile = tt_tile_bytes_of(dtype);
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[SGD_COMPUTE], dtype);
	const ttnn_core_set *cores;

	TT_TRY(step_cores(&cores, launch));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "param_in", .pages = 2, .page = tile),
		       TT_CB_ROW(1, "grad", .pages = 2, .page = tile),
		       TT_CB_ROW(2, "momentum_in", .pages = 2, .page = tile),
		       TT_CB_ROW(16, "param_out", .pages = 2, .page = tile),
		       TT_CB_ROW(17, "momentum_out", .pages = 2, .page = tile),
		       TT_CB_ROW(24, "scalar_args", .pages = 5, .page = sum),
		       TT_CB_ROW(25, "tmp1", .pages = 1, .page = sum),
		       TT_CB_ROW(26, "tmp2", .pages = 1, .page = sum),
		       TT_CB_ROW(27, "tmp3", .pages = 1, .page = sum),
		       TT_CB_ROW(28, "tmp4", .pages = 1, .page = sum));
}

/* The momentum takes the place of the gradient; Nesterov's looks a step ahead. */
static tt_status add_momentum(struct tt_tensor **buffer, struct tt_launch *launch,
			      struct tt_tensor *grad)
{
	double momentum = launch->attrs[SGD_MOMENTUM].real;

	*buffer = NULL;
	if (launch->attrs[SGD_INITIALIZED].boolean)
		TT_TRY(copy_of(buffer, launch, BUFFER));
	if (*buffer)
		TT_TRY(blend(*buffer, momentum, grad, 1 - launch->attrs[SGD_DAMPENING].real));
	else
		TT_TRY(tt_moreh_view(buffer, &grad->spec.shape, grad));
	if (launch->attrs[SGD_NESTEROV].boolean)
		return blend(grad, 1, *buffer, momentum);
	return tt_backend_get()->reshape(grad, *buffer);
}

static tt_status sgd_kernel(struct tt_launch *launch)
{
	struct tt_tensor *param, *grad, *buffer = NULL;

	TT_TRY(copy_of(&param, launch, PARAM));
	TT_TRY(copy_of(&grad, launch, GRAD));
	if (launch->attrs[SGD_DECAY].real != 0)
		TT_TRY(blend(grad, 1, param, launch->attrs[SGD_DECAY].real));
	if (launch->attrs[SGD_MOMENTUM].real != 0)
		TT_TRY(add_momentum(&buffer, launch, grad));
	TT_TRY(blend(param, 1, grad, -launch->attrs[SGD_LR].real));
	TT_TRY(write_slot(launch, BUFFER_SLOT, buffer));
	return write_slot(launch, PARAM_SLOT, param);
}

static const struct tt_prog sgd_program = {
	.device_op = "MorehSgdOperation",
	.prim = "ttnn::prim::moreh_sgd",
	.attrs = &sgd_schema,
	.infer = sgd_infer,
	.validate = sgd_validate,
	TT_FACTORY("ttnn::device_operation::MeshDeviceOperationAdapter<ttnn::operations::moreh::"
		   "moreh_sgd::MorehSgdOperation>::DirectDescriptorFactory",
		   sgd_memory),
	TT_KERNEL(sgd_kernel),
	.drops_forward = true,
};

static tt_status sgd_expand(struct tt_call *call)
{
	struct tt_tensor *in[SGD_INPUTS] = {
		tt_call_tensor(call, "param_in"), tt_call_tensor(call, "grad"),
		tt_call_tensor(call, "momentum_buffer_in"), tt_call_tensor(call, "param_out"),
		tt_call_tensor(call, "momentum_buffer_out")};
	struct tt_moreh_slots slots = {
		SGD_SLOTS,
		{true, in[BUFFER_OUT] || tt_call_real(call, "momentum", 0) != 0},
		{in[PARAM_OUT], in[BUFFER_OUT]}};

	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){
			.prog = &sgd_program,
			.inputs = in,
			.input_count = SGD_INPUTS,
			TT_BIND(call, sgd_schema,
				[SGD_PARAM_MEMORY] =
					tt_moreh_memory(call, "param_out_memory_config", in[PARAM]),
				[SGD_BUFFER_MEMORY] = tt_moreh_memory(
					call, "momentum_buffer_out_memory_config", in[PARAM]),
				[SGD_COMPUTE] = tt_moreh_compute(call))},
		&slots);
}

/* ---- Adam and AdamW ------------------------------------------------------------------------------- */

#define ADAM_ATTRS(X)                                                                              \
	X(LR, "lr", .unkeyed = true)                                                               \
	X(BETA1, "beta1")                                                                          \
	X(BETA2, "beta2")                                                                          \
	X(EPS, "eps")                                                                              \
	X(DECAY, "weight_decay")                                                                   \
	X(STEP, "step", .unkeyed = true)                                                           \
	X(AMSGRAD, "amsgrad")                                                                      \
	X(MEMORY, "memory_config")                                                                 \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(adam_schema, "operation_attributes_t", ADAM_ATTRS);
enum { MEAN = 2, SQUARES, MAXIMUM, OUT, ADAM_INPUTS = OUT + 4 };
enum { MEAN_SLOT = 1, SQUARES_SLOT, MAXIMUM_SLOT, ADAM_SLOTS };

static tt_status adam_infer(struct tt_launch *launch)
{
	return step_infer(launch, (const struct ttnn_memory_config *[TT_MOREH_SLOTS]){
					  launch->attrs[MEMORY].memory});
}

static tt_status adam_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_adam",
		.tensors = {"params_in", "grad", "exp_avg_in", "exp_avg_sq_in", "max_exp_avg_sq_in",
			    "params_out", "exp_avg_out", "exp_avg_sq_out", "max_exp_avg_sq_out"}};

	return tt_moreh_check(launch, &names);
}

static tt_status adamw_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_adamw",
		.tensors = {"param_in", "grad", "exp_avg_in", "exp_avg_sq_in", "max_exp_avg_sq_in",
			    "param_out", "exp_avg_out", "exp_avg_sq_out", "max_exp_avg_sq_out"},
		.block_floats = true};

	return tt_moreh_check(launch, &names);
}

/* What is not given has its buffer all the same. */
static tt_status adam_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	enum ttnn_dtype dtype = launch->inputs[PARAM]->spec.dtype;
	uint64_t tile = tt_tile_bytes_of(dtype);
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[COMPUTE], dtype);
	const ttnn_core_set *cores;

	TT_TRY(step_cores(&cores, launch));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "param_in", .pages = 1, .page = tile),
		       TT_CB_ROW(1, "grad", .pages = 1, .page = tile),
		       TT_CB_ROW(2, "exp_avg_in", .pages = 1, .page = tile),
		       TT_CB_ROW(3, "exp_avg_sq_in", .pages = 1, .page = tile),
		       TT_CB_ROW(4, "max_exp_avg_sq_in", .pages = 1, .page = tile),
		       TT_CB_ROW(5, "scalar_args", .pages = 5, .page = sum),
		       TT_CB_ROW(6, "one", .pages = 1, .page = sum),
		       TT_CB_ROW(24, "tmp_grad", .pages = 1, .page = sum),
		       TT_CB_ROW(25, "tmp_exp_avg", .pages = 1, .page = sum),
		       TT_CB_ROW(26, "tmp_exp_avg_sq", .pages = 1, .page = sum),
		       TT_CB_ROW(27, "tmp_max", .pages = 1, .page = sum),
		       TT_CB_ROW(28, "beta1_power", .pages = 1, .page = sum),
		       TT_CB_ROW(29, "beta2_power", .pages = 1, .page = sum),
		       TT_CB_ROW(30, "tmp1", .pages = 1, .page = sum),
		       TT_CB_ROW(31, "tmp2", .pages = 1, .page = sum),
		       TT_CB_ROW(16, "param_out", .pages = 1, .page = tile),
		       TT_CB_ROW(17, "exp_avg_out", .pages = 1, .page = tile),
		       TT_CB_ROW(18, "exp_avg_sq_out", .pages = 1, .page = tile),
		       TT_CB_ROW(19, "max_exp_avg_sq_out", .pages = 1, .page = tile));
}

/* What a kernel has at hand: copies in float32. */
struct adam {
	struct tt_tensor *param, *grad, *mean, *squares;
	struct tt_tensor *maximum; /* of squares: with amsgrad, else NULL */
};

static tt_status read_adam(struct adam *adam, const struct tt_launch *launch)
{
	adam->maximum = NULL;
	TT_TRY(copy_of(&adam->param, launch, PARAM));
	TT_TRY(copy_of(&adam->grad, launch, GRAD));
	TT_TRY(copy_of(&adam->mean, launch, MEAN));
	TT_TRY(copy_of(&adam->squares, launch, SQUARES));
	if (!launch->attrs[AMSGRAD].boolean)
		return TTNN_OK;
	TT_TRY(copy_of(&adam->maximum, launch, MAXIMUM));
	return adam->maximum ? TTNN_OK : tt_scratch_f32(&adam->maximum, &adam->param->spec.shape);
}

/* The averages that run along, and param -= lr × mean / (sqrt(squares) + eps), each without what is missing of it at the start. */
static tt_status adam_step(struct adam *adam, const struct tt_launch *launch)
{
	const struct ttnn_value *attrs = launch->attrs;
	double b1 = attrs[BETA1].real, b2 = attrs[BETA2].real, step = (double)attrs[STEP].integer;
	const struct tt_unary_step square = {.fn = TT_UNARY_SQUARE};
	const struct tt_unary_step root[] = {
		{.fn = TT_UNARY_DIV_UNARY_SFPU, .count = 1, .params = {1 - pow(b2, step)}},
		{.fn = TT_UNARY_SQRT},
		{.fn = TT_UNARY_ADD_UNARY_SFPU, .count = 1, .params = {attrs[EPS].real}},
	};
	struct tt_tensor *part, *squares = adam->squares;

	TT_TRY(tt_scratch_f32(&part, &adam->param->spec.shape));
	TT_TRY(blend(adam->mean, b1, adam->grad, 1 - b1));
	TT_TRY(tt_moreh_apply(part, adam->grad, &square, 1));
	TT_TRY(blend(squares, b2, part, 1 - b2));
	if (adam->maximum) {
		TT_TRY(tt_moreh_map(adam->maximum, TT_BINARY_MAXIMUM, adam->maximum, squares));
		squares = adam->maximum;
	}
	TT_TRY(tt_moreh_apply(part, squares, root, TT_COUNT(root)));
	TT_TRY(tt_moreh_map(part, TT_BINARY_DIV, adam->mean, part));
	return blend(adam->param, 1, part, -attrs[LR].real / (1 - pow(b1, step)));
}

static tt_status write_adam(const struct adam *adam, const struct tt_launch *launch)
{
	TT_TRY(write_slot(launch, MEAN_SLOT, adam->mean));
	TT_TRY(write_slot(launch, SQUARES_SLOT, adam->squares));
	TT_TRY(write_slot(launch, MAXIMUM_SLOT, adam->maximum));
	return write_slot(launch, PARAM_SLOT, adam->param);
}

/* Adam decays by the gradient, AdamW the parameter itself. */
static tt_status adam_kernel(struct tt_launch *launch)
{
	struct adam adam;

	TT_TRY(read_adam(&adam, launch));
	if (launch->attrs[DECAY].real != 0)
		TT_TRY(blend(adam.grad, 1, adam.param, launch->attrs[DECAY].real));
	TT_TRY(adam_step(&adam, launch));
	return write_adam(&adam, launch);
}

static tt_status adamw_kernel(struct tt_launch *launch)
{
	struct adam adam;

	TT_TRY(read_adam(&adam, launch));
	TT_TRY(tt_moreh_map_number(adam.param, TT_BINARY_MUL, adam.param,
				   1 - launch->attrs[LR].real * launch->attrs[DECAY].real));
	TT_TRY(adam_step(&adam, launch));
	return write_adam(&adam, launch);
}

static const struct tt_prog adam_program = {
	.device_op = "MorehAdamOperation",
	.prim = "ttnn::prim::moreh_adam",
	.attrs = &adam_schema,
	.infer = adam_infer,
	.validate = adam_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_adam::MorehAdamOperation::"
		   "MorehAdamProgramFactory",
		   adam_memory),
	TT_KERNEL(adam_kernel),
	.drops_forward = true,
};

static const struct tt_prog adamw_program = {
	.device_op = "MorehAdamWDeviceOperation",
	.prim = "ttnn::prim::moreh_adamw",
	.attrs = &adam_schema,
	.infer = adam_infer,
	.validate = adamw_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_adamw::MorehAdamWDeviceOperation::"
		   "MorehAdamWProgramFactory",
		   adam_memory),
	TT_KERNEL(adamw_kernel),
	.drops_forward = true,
};

/* A number that was given, or what None stands for. */
static struct ttnn_value real_or(const struct tt_call *call, const char *name, double usual)
{
	return ttnn_v_real(tt_call_real(call, name, usual));
}

/* The row of the operation is its program. */
static tt_status adam_expand(struct tt_call *call)
{
	static const char *const names[ADAM_INPUTS] = {
		"param_in",          "grad",      "exp_avg_in",  "exp_avg_sq_in",
		"max_exp_avg_sq_in", "param_out", "exp_avg_out", "exp_avg_sq_out",
		"max_exp_avg_sq_out"};
	const struct tt_prog *prog = call->entry->op->row;
	struct tt_moreh_slots slots = {.count = ADAM_SLOTS};
	struct tt_tensor *in[ADAM_INPUTS];

	for (size_t i = 0; i < ADAM_INPUTS; i++)
		in[i] = tt_call_tensor(call, names[i]);
	for (size_t i = 0; i < ADAM_SLOTS; i++) {
		slots.given[i] = in[OUT + i];
		slots.there[i] =
			i < MAXIMUM_SLOT || in[OUT + i] || tt_call_bool(call, "amsgrad", false);
	}
	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){
			.prog = prog,
			.inputs = in,
			.input_count = ADAM_INPUTS,
			TT_BIND(call, adam_schema, [LR] = real_or(call, "lr", 0.001f),
				[BETA1] = real_or(call, "beta1", 0.9f),
				[BETA2] = real_or(call, "beta2", 0.999f),
				[EPS] = real_or(call, "eps", 1e-8f),
				[DECAY] = real_or(call, "weight_decay",
						  prog == &adam_program ? 0 : 1e-2f),
				[STEP] = ttnn_v_int(tt_call_int(call, "step", 0)),
				[AMSGRAD] = ttnn_v_bool(tt_call_bool(call, "amsgrad", false)),
				[MEMORY] = tt_value_memory_or_like(call, in[PARAM]),
				[COMPUTE] = tt_moreh_compute(call))},
		&slots);
}

#define ADAM_IN "param_in: Tensor, grad: Tensor, exp_avg_in: Tensor, exp_avg_sq_in: Tensor, "
#define ADAM_NUMBERS(decay_)                                                                       \
	"lr: float? = 0.0010000000474974513, beta1: float? = 0.8999999761581421, beta2: float? = " \
	"0.9990000128746033, eps: float? = 9.99999993922529e-09, weight_decay: float? = " decay_   \
	", step: size? = 0, amsgrad: bool? = False, "
#define ADAM_OUT                                                                                   \
	"max_exp_avg_sq_in: Tensor? = None, param_out: Tensor? = None, exp_avg_out: Tensor? = "    \
	"None, exp_avg_sq_out: Tensor? = None, max_exp_avg_sq_out: Tensor? = None, "               \
	"memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_sgd",
	 .doc = "A step of stochastic gradient descent.",
	 .sigs = {"param_in: Tensor, grad: Tensor, momentum_buffer_in: Tensor? = None, param_out: "
		  "Tensor? = None, momentum_buffer_out: Tensor? = None, lr: float = 0.001, momentum: "
		  "float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, "
		  "*, momentum_initialized: bool, param_out_memory_config: MemoryConfig? = None, "
		  "momentum_buffer_out_memory_config: MemoryConfig? = None, compute_kernel_config: "
		  "ComputeConfig? = None"},
	 .expand = sgd_expand,
	 .golden = tt_golden_moreh_sgd,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&sgd_program)},
	{.name = "ttnn.moreh_adam",
	 .doc = "A step of Adam.",
	 .sigs = {ADAM_IN "*, " ADAM_NUMBERS("0.0") ADAM_OUT},
	 .expand = adam_expand,
	 .golden = tt_golden_moreh_adam,
	 .gives = "[Tensor]",
	 .row = &adam_program,
	 TT_PROGRAMS(&adam_program)},
	{.name = "ttnn.moreh_adamw",
	 .doc = "A step of AdamW, which decays parameters apart from their gradients.",
	 .sigs = {ADAM_IN ADAM_NUMBERS("0.009999999776482582") "*, " ADAM_OUT},
	 .expand = adam_expand,
	 .golden = tt_golden_moreh_adamw,
	 .gives = "[Tensor]",
	 .row = &adamw_program,
	 TT_PROGRAMS(&adamw_program)},
};

const struct tt_op_family tt_family_moreh_step = {"moreh_step", ops, TT_COUNT(ops)};
