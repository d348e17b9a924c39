/*
 * moreh_matmul_backward.c: gradients of the products in moreh_matmul.c: products again, and sums over the dimensions that a side
 * was broadcast along. Tensors for the results are given.
 *
 * Models MorehBiasAddBackwardOperation and MorehDotBackwardOperation of ttnn 0.81 with their factories: refusals, memory, cores.
 * Not modelled: how their sums round on the way.
 */
#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/moreh.h"
#include "ops/usual.h"

/* ---- the gradient of a bias ---------------------------------------------------------------------- */

#define BIAS_ATTRS(X)                                                                              \
	X(BIAS_MEMORY, "bias_grad_memory_config")                                                  \
	X(BIAS_COMPUTE, "compute_kernel_config")
TT_ATTRS(bias_schema, "operation_attributes_t", BIAS_ATTRS);
enum { GRAD, BIAS, BIAS_GRAD };

static tt_status bias_backward_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[BIAS_GRAD]->spec;
	return TTNN_OK;
}

/* The one number has a core, a row many. */
static tt_status bias_backward_choose(uint32_t *out, struct tt_launch *launch)
{
	*out = !tt_moreh_is_scalar(launch->inputs[BIAS_GRAD]);
	return TTNN_OK;
}

/* A column of tiles is a unit of work; one core has masks only where edges are ragged. */
static tt_status bias_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;
	bool one = tt_moreh_is_scalar(launch->inputs[BIAS_GRAD]);
	bool ragged = tt_shape_last(&grad->shape, 1) % TT_TILE ||
		      tt_shape_last(&grad->shape, 2) % TT_TILE;
	uint64_t tile = tt_page_in0(launch);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     one ? 1 : tt_shape_last(&grad->padded, 1) / TT_TILE,
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(
		plan, split.all, TT_DFB_ROW(0, "output_grad", .pages = 2, .page = tile),
		TT_DFB_ROW(1, "scaler", .pages = 1, .page = tile),
		TT_DFB_ROW(2, "mask_h_w", .pages = !one || ragged ? 2 : 0, .page = tile),
		TT_DFB_ROW(16, "bias_grad", .pages = 1, .page = tile),
		TT_DFB_ROW(24, "im0", .pages = 1, .page = tile),
		TT_DFB_ROW(25, "im1", .pages = 1,
			   .page = tt_moreh_sum_bytes(&launch->attrs[BIAS_COMPUTE], grad->dtype)));
}

/* Sums over all but the last dimension, or over that one, too. */
static tt_status bias_backward_kernel(struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[GRAD]->spec.shape;
	bool one = tt_moreh_is_scalar(launch->inputs[BIAS_GRAD]);
	uint32_t all = (1u << shape->rank) - 1, last = shape->rank ? 1u << (shape->rank - 1) : 0;

	TT_NEED(one || tt_shape_last(shape, 1) ==
				tt_shape_last(&launch->inputs[BIAS_GRAD]->spec.shape, 1),
		"moreh_linear_backward: bias_grad must be as wide as output_grad");
	return tt_backend_get()->reduce(&(struct tt_reduce_job){.out = launch->outputs[0],
								.in = launch->inputs[GRAD],
								.kind = TT_REDUCE_SUM,
								.dims = one ? all : all & ~last,
								.scale = 1});
}

#define BIAS_FACTORY(name_)                                                                        \
	TT_FACTORY_ROW("ttnn::operations::moreh::moreh_linear_backward::"                          \
		       "MorehBiasAddBackwardOperation::" name_ "CoreProgramFactory",               \
		       bias_backward_memory)
static const struct tt_factory bias_factories[] = {BIAS_FACTORY("Single"), BIAS_FACTORY("Multi")};

static const struct tt_prog bias_program = {
	.device_op = "MorehBiasAddBackwardOperation",
	.prim = "ttnn::prim::moreh_bias_add_backward",
	.attrs = &bias_schema,
	.infer = bias_backward_infer,
	TT_FACTORIES(bias_factories),
	.choose = bias_backward_choose,
	TT_KERNEL(bias_backward_kernel),
};

/* ---- the gradients of a product of two vectors --------------------------------------------------- */

#define DOT_ATTRS(X) X(DOT_MEMORY, "memory_config")
TT_ATTRS(dot_schema, "operation_attributes_t", DOT_ATTRS);
enum { DOT_A = 1, DOT_B, DOT_A_GRAD, DOT_B_GRAD, DOT_INPUTS };

static tt_status dot_backward_infer(struct tt_launch *launch)
{
	return tt_moreh_infer(launch, NULL);
}

static tt_status dot_backward_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[DOT_A]->spec;

	TT_REQUIRE(tt_moreh_is_scalar(launch->inputs[GRAD]), "is_scalar(output_grad)",
		   "Invalid value type");
	TT_REQUIRE(tt_moreh_is_row(launch->inputs[DOT_A]), "is_1d_tensor(input)",
		   "Invalid input tensor dimensions.");
	TT_REQUIRE(tt_moreh_is_row(launch->inputs[DOT_B]), "is_1d_tensor(other)",
		   "Invalid input tensor dimensions.");
	TT_REQUIRE(ttnn_shape_equal(&a->shape, &launch->inputs[DOT_B]->spec.shape),
		   "is_same_shape(input, other)", "Tensor A and B should have the same shape.");
	TT_REQUIRE(a->dtype == TTNN_BFLOAT16 || a->dtype == TTNN_BFLOAT8_B,
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::BFLOAT8_B",
		   "Unsupported data format");
	for (size_t i = DOT_A_GRAD; i < DOT_INPUTS; i++)
		TT_REQUIRE(!launch->inputs[i] ||
				   ttnn_shape_equal(&a->shape, &launch->inputs[i]->spec.shape),
			   "tensor_shape == grad_tensor_shape",
			   "Tensor shape and grad tensor shape should be the same.");
	return TTNN_OK;
}

static tt_status dot_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_page_in0(launch);
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return TT_PLAN(plan, one, TT_DFB_ROW(0, "in0", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "in1", .pages = 2, .page = tile),
		       TT_DFB_ROW(2, "in2", .pages = 2, .page = tile),
		       TT_DFB_ROW(16, "out0", .pages = 2, .page = tile),
		       TT_DFB_ROW(17, "out1", .pages = 2, .page = tile));
}

/* Each is the other one times the gradient; both are read before either is written. */
static tt_status dot_backward_kernel(struct tt_launch *launch)
{
	struct tt_tensor *product[2];

	for (size_t i = 0; i < 2; i++) {
		struct tt_tensor *other = launch->inputs[i ? DOT_A : DOT_B];

		TT_TRY(tt_scratch_f32(&product[i], &other->spec.shape));
		TT_TRY(tt_moreh_map(product[i], TT_BINARY_MUL, other, launch->inputs[GRAD]));
	}
	for (size_t i = 0; i < 2; i++)
		if (tt_moreh_has(launch, i))
			TT_TRY(tt_backend_get()->reshape(tt_moreh_slot(launch, i), product[i]));
	return TTNN_OK;
}

static const struct tt_prog dot_program = {
	.device_op = "MorehDotBackwardOperation",
	.prim = "ttnn::prim::moreh_dot_backward",
	.attrs = &dot_schema,
	.infer = dot_backward_infer,
	.validate = dot_backward_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_dot_backward::MorehDotBackwardOperation::"
		   "ProgramFactory",
		   dot_backward_memory),
	TT_KERNEL(dot_backward_kernel),
};

/* `a` names the first tensor of the product, for the default of the memory config. */
static tt_status launch_dot(struct tt_call *call, struct tt_tensor *const *in)
{
	struct tt_moreh_slots slots = {2,
				       {in[DOT_A_GRAD] != NULL, in[DOT_B_GRAD] != NULL},
				       {in[DOT_A_GRAD], in[DOT_B_GRAD]}};

	return tt_moreh_launch_return(
		call,
		&(struct tt_program_args){
			.prog = &dot_program,
			.inputs = in,
			.input_count = DOT_INPUTS,
			TT_BIND(call, dot_schema,
				[DOT_MEMORY] = tt_value_memory_or_like(call, in[DOT_A]))},
		&slots);
}

static tt_status moreh_dot_backward_expand(struct tt_call *call)
{
	return launch_dot(
		call, (struct tt_tensor *[DOT_INPUTS]){
			      tt_call_tensor(call, "output_grad"), tt_call_tensor(call, "input"),
			      tt_call_tensor(call, "other"), tt_call_tensor(call, "input_grad"),
			      tt_call_tensor(call, "other_grad")});
}

/* ---- gradients by products ----------------------------------------------------------------------- */

/* One gradient: the product that gives it, and where it goes. */
struct gradient {
	struct tt_tensor *a, *b, *into;
	bool turn_a, turn_b;
	struct ttnn_value memory, compute;
};

static tt_status multiply(struct tt_tensor **out, struct tt_call *call,
			  const struct gradient *gradient, struct tt_tensor *into)
{
	return TT_CALL(out, call, "ttnn.moreh_matmul", {"input", ttnn_v_tensor(gradient->a)},
		       {"other", ttnn_v_tensor(gradient->b)},
		       {"transpose_input", ttnn_v_bool(gradient->turn_a)},
		       {"transpose_other", ttnn_v_bool(gradient->turn_b)},
		       {"output", into ? ttnn_v_tensor(into) : ttnn_v_none()},
		       {"memory_config", gradient->memory},
		       {"compute_kernel_config", gradient->compute});
}

/* The dimensions before the last two in which the product and where it goes differ, of the product. */
static size_t broadcast_dims(struct ttnn_value *dims, const struct tt_tensor *product,
			     const struct tt_tensor *into)
{
	const struct ttnn_shape *a = &product->spec.shape, *b = &into->spec.shape;
	size_t count = 0;

	for (uint32_t d = 0; d + 2 < a->rank; d++)
		if (a->dim[d] != tt_shape_last(b, a->rank - d))
			dims[count++] = ttnn_v_int(d);
	return count;
}

/* Whether a gradient has the outer dimensions of the tensor it is made of, so that nothing is summed up. */
static bool has_same_batch(const struct tt_tensor *grad, const struct tt_tensor *into)
{
	for (uint32_t back = 3; back <= TTNN_MAX_RANK; back++)
		if (tt_shape_last(&grad->spec.shape, back) !=
		    tt_shape_last(&into->spec.shape, back))
			return false;
	return true;
}

/* `grad` is that of the result. Nothing is returned: the gradient is in the tensor that was given. */
static tt_status multiply_and_sum(struct tt_call *call, const struct gradient *gradient,
				  const struct tt_tensor *grad)
{
	struct ttnn_value dims[TTNN_MAX_RANK];
	struct tt_tensor *product, *sum;
	tt_status status;
	size_t count;

	if (has_same_batch(grad, gradient->into)) {
		TT_TRY(multiply(&product, call, gradient, gradient->into));
		ttnn_tensor_unref(product);
		return TTNN_OK;
	}
	TT_TRY(multiply(&product, call, gradient, NULL));
	count = broadcast_dims(dims, product, gradient->into);
	status = TT_CALL(&sum, call, "ttnn.moreh_sum", {"input", ttnn_v_tensor(product)},
			 {"dim", ttnn_v_list(dims, count)}, {"keepdim", ttnn_v_bool(true)},
			 {"output", ttnn_v_tensor(gradient->into)},
			 {"memory_config", gradient->memory},
			 {"compute_kernel_config", gradient->compute});
	if (status == TTNN_OK)
		ttnn_tensor_unref(sum);
	return tt_call_drop_after(call, status, product);
}

static tt_status moreh_bmm_backward_expand(struct tt_call *call)
{
	struct tt_tensor *grad = tt_call_tensor(call, "output_grad"), *out;
	struct ttnn_value compute = *tt_call_arg(call, "compute_kernel_config");
	const struct gradient sides[] = {
		{.a = grad,
		 .b = tt_call_tensor(call, "mat2"),
		 tt_call_tensor(call, "input_grad"),
		 .turn_b = true,
		 .memory = *tt_call_arg(call, "input_grad_memory_config"),
		 compute},
		{.a = tt_call_tensor(call, "input"),
		 .b = grad,
		 tt_call_tensor(call, "mat2_grad"),
		 .turn_a = true,
		 .memory = *tt_call_arg(call, "mat2_grad_memory_config"),
		 compute},
	};
	bool wanted;

	for (size_t i = 0; i < TT_COUNT(sides); i++) {
		TT_TRY(tt_moreh_required(&wanted, call, i));
		if (!wanted) {
			tt_call_return(call, NULL);
			continue;
		}
		TT_REQUIRE(sides[i].into, i ? "mat2_grad.has_value()" : "input_grad.has_value()",
			   "%s_grad needs to have a value when %s_requires_grad is True.",
			   i ? "mat2" : "input", i ? "mat2" : "input");
		TT_TRY(multiply(&out, call, &sides[i], sides[i].into));
		tt_call_return(call, out);
	}
	return TTNN_OK;
}

/* Two vectors and a number, all of four dimensions, are those of a product of vectors. */
static bool is_dot_backward(struct tt_tensor *const *in)
{
	for (size_t i = GRAD; i <= DOT_B; i++)
		if (in[i]->spec.shape.rank != 4)
			return false;
	return tt_moreh_is_scalar(in[GRAD]) && tt_moreh_is_row(in[DOT_A]) &&
	       tt_moreh_is_row(in[DOT_B]) &&
	       ttnn_shape_equal(&in[DOT_A]->spec.shape, &in[DOT_B]->spec.shape);
}

static tt_status moreh_matmul_backward_expand(struct tt_call *call)
{
	struct tt_tensor *in[DOT_INPUTS] = {
		tt_call_tensor(call, "output_grad"), tt_call_tensor(call, "input_a"),
		tt_call_tensor(call, "input_b"), tt_call_tensor(call, "input_a_grad"),
		tt_call_tensor(call, "input_b_grad")};
	struct ttnn_value memory = *tt_call_arg(call, "memory_config"),
			  compute = *tt_call_arg(call, "compute_kernel_config");
	const struct gradient sides[] = {
		{in[GRAD], in[DOT_B], in[DOT_A_GRAD], false, true, memory, compute},
		{in[DOT_A], in[GRAD], in[DOT_B_GRAD], true, false, memory, compute},
	};
	bool wanted[TT_COUNT(sides)];

	if (is_dot_backward(in))
		return launch_dot(call, in);
	for (size_t i = 0; i < TT_COUNT(sides); i++)
		TT_TRY(tt_moreh_required(&wanted[i], call, i));
	for (size_t i = 0; i < TT_COUNT(sides); i++) {
		if (!wanted[i]) {
			tt_call_return(call, NULL);
			continue;
		}
		TT_REQUIRE(sides[i].into, i ? "other_grad.has_value()" : "input_grad.has_value()",
			   "%s gradient is marked required but not provided.",
			   i ? "Other" : "Input");
		TT_TRY(multiply_and_sum(call, &sides[i], in[GRAD]));
		tt_call_return(call, ttnn_tensor_ref(sides[i].into));
	}
	return TTNN_OK;
}

/* ---- moreh_linear_backward ------------------------------------------------------------------------ */

enum { INPUT_GRAD, WEIGHT_GRAD, BIAS_SLOT, LINEAR_GRADS };

/* Given tensors have the shapes of what they are the gradients of. */
static tt_status check_linear(const struct tt_call *call, struct tt_tensor *const *into)
{
	static const char *const of[] = {"input", "weight"};
	static const char *const same[] = {"is_same_shape(input, input_grad_tensor)",
					   "is_same_shape(weight, weight_grad_tensor)"};
	const struct tt_tensor *bias = into[BIAS_SLOT];

	for (size_t i = INPUT_GRAD; i <= WEIGHT_GRAD; i++)
		TT_REQUIRE(!into[i] || ttnn_shape_equal(&into[i]->spec.shape,
							&tt_call_tensor(call, of[i])->spec.shape),
			   same[i], "both tensors should be the same shape");
	TT_REQUIRE(!bias || tt_moreh_is_row(bias),
		   "is_scalar(bias_grad_tensor) || is_1d_tensor(bias_grad_tensor)",
		   "bias_grad tensor should be 1d or scalar");
	return TTNN_OK;
}

static tt_status bias_gradient(struct tt_call *call, struct tt_tensor *into,
			       struct ttnn_value compute)
{
	struct tt_tensor *grad = tt_call_tensor(call, "output_grad");

	return TT_LAUNCH_RETURN(
		call, &bias_program, TT_INPUTS(grad, tt_call_tensor(call, "bias"), into),
		TT_OUTPUTS(into), .in_place = true,
		TT_BIND(call, bias_schema,
			[BIAS_MEMORY] = tt_moreh_memory(call, "bias_grad_memory_config", grad),
			[BIAS_COMPUTE] = compute));
}

static tt_status moreh_linear_backward_expand(struct tt_call *call)
{
	static const char *const names[] = {"input_grad", "weight_grad", "bias_grad"};
	static const char *const given[] = {"input_grad.has_value()", "weight_grad.has_value()",
					    "bias_grad.has_value()"};
	struct tt_tensor *grad = tt_call_tensor(call, "output_grad"), *into[LINEAR_GRADS], *out;
	struct ttnn_value compute = tt_moreh_compute(call);
	bool wanted[LINEAR_GRADS] = {true, true, true};
	const struct ttnn_value *list = tt_call_arg(call, "are_required_outputs");
	struct gradient sides[] = {
		{.a = grad,
		 .b = tt_call_tensor(call, "weight"),
		 .compute = compute,
		 .memory = *tt_call_arg(call, "input_grad_memory_config")},
		{.a = grad,
		 .b = tt_call_tensor(call, "input"),
		 .turn_a = true,
		 .compute = compute,
		 .memory = *tt_call_arg(call, "weight_grad_memory_config")},
	};

	TT_REQUIRE(list->kind != TTNN_VALUE_LIST || list->count == LINEAR_GRADS,
		   "are_required_outputs.size() == 3", "are_required_outputs size must be 3");
	for (size_t i = 0; i < LINEAR_GRADS; i++) {
		TT_TRY(tt_moreh_required(&wanted[i], call, i));
		into[i] = tt_call_tensor(call, names[i]);
	}
	TT_TRY(check_linear(call, into));
	for (size_t i = 0; i < LINEAR_GRADS; i++) {
		if (!wanted[i]) {
			tt_call_return(call, NULL);
			continue;
		}
		TT_REQUIRE(into[i], given[i], "%s tensor should not be std::nullopt", names[i]);
		if (i == BIAS_SLOT)
			return bias_gradient(call, into[i], compute);
		sides[i].into = into[i];
		if (i == INPUT_GRAD) {
			TT_TRY(multiply(&out, call, &sides[i], into[i]));
			tt_call_return(call, out);
			continue;
		}
		TT_TRY(multiply_and_sum(call, &sides[i], grad));
		tt_call_return(call, ttnn_tensor_ref(into[i]));
	}
	return TTNN_OK;
}

#define TAIL "compute_kernel_config: ComputeConfig? = None"

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_bmm_backward",
	 .doc = "The gradients of moreh_bmm.",
	 .sigs = {"output_grad: Tensor, input: Tensor, mat2: Tensor, *, are_required_outputs: bools = "
		  "[True, True], input_grad: Tensor? = None, mat2_grad: Tensor? = None, "
		  "input_grad_memory_config: MemoryConfig? = None, mat2_grad_memory_config: "
		  "MemoryConfig? = None, " TAIL},
	 .expand = moreh_bmm_backward_expand,
	 .golden = tt_golden_moreh_bmm_backward,
	 .gives = "[Tensor]"},
	{.name = "ttnn.moreh_linear_backward",
	 .doc = "The gradients of moreh_linear.",
	 .sigs = {"output_grad: Tensor, input: Tensor, weight: Tensor, *, are_required_outputs: bools "
		  "= [True, True, True], bias: Tensor? = None, input_grad: Tensor? = None, "
		  "weight_grad: Tensor? = None, bias_grad: Tensor? = None, "
		  "input_grad_memory_config: MemoryConfig? = None, weight_grad_memory_config: "
		  "MemoryConfig? = None, bias_grad_memory_config: MemoryConfig? = None, " TAIL},
	 .expand = moreh_linear_backward_expand,
	 .golden = tt_golden_moreh_linear_backward,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&bias_program)},
	{.name = "ttnn.moreh_matmul_backward",
	 .doc = "The gradients of moreh_matmul.",
	 .sigs = {"output_grad: Tensor, input_a: Tensor, input_b: Tensor, *, are_required_outputs: "
		  "bools = [True, True], input_a_grad: Tensor? = None, input_b_grad: Tensor? = None, "
		  "memory_config: MemoryConfig? = None, " TAIL},
	 .expand = moreh_matmul_backward_expand,
	 .golden = tt_golden_moreh_matmul_backward,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&dot_program)},
	{.name = "ttnn.moreh_dot_backward",
	 .doc = "The gradients of moreh_dot.",
	 .sigs = {"output_grad: Tensor, input: Tensor, other: Tensor, *, input_grad: Tensor? = None, "
		  "other_grad: Tensor? = None, memory_config: MemoryConfig? = None"},
	 .expand = moreh_dot_backward_expand,
	 .golden = tt_golden_moreh_dot_backward,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&dot_program)},
};

const struct tt_op_family tt_family_moreh_matmul_backward = {"moreh_matmul_backward", ops,
							     TT_COUNT(ops)};
