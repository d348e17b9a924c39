/*
 * moreh_softmax.c: softmax, softmin and the logarithm of softmax along a dimension, for training, and their gradients.
 *
 * Models MorehSoftmaxOperation and MorehSoftmaxBackwardOperation of ttnn 0.81 with all their factories: refusals, memory, cores, and
 * which of them a strategy or the room in L1 chooses. Not modelled: gradients of another shape, of which upstream reads what lies
 * where one of the right shape would; they are refused.
 */
#include <inttypes.h>
#include <stdio.h>

#include "backend/backend.h"
#include "golden/golden_moreh.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/moreh.h"
#include "ops/movement/movement.h"
#include "ops/norm/norm.h"
#include "ops/op_enums.h"
#include "ops/reduce/reduce.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(OP, "op")                                                                                \
	X(STRATEGY, "strategy")                                                                    \
	X(MEMORY, "memory_config")                                                                 \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);

enum kind { SOFTMAX, SOFTMIN, LOGSOFTMAX };
enum strategy { NONE, SMALL_W, SMALL_H, LARGE_W, LARGE_H, LARGE_C };

/* Upstream's order of the factories, of both programs. */
enum factory { C_LARGE, H_LARGE, W_LARGE, H_SMALL, W_SMALL };
static const enum factory factory_of[] = {
	[TT_LINES_OUTER] = C_LARGE,   [TT_LINES_H_LARGE] = H_LARGE, [TT_LINES_H_SMALL] = H_SMALL,
	[TT_LINES_W_LARGE] = W_LARGE, [TT_LINES_W_SMALL] = W_SMALL,
};

/* ---- strategies ---------------------------------------------------------------------------------- */

/* What is said about them in the words of one of the programs. */
struct words {
	const char *fits[2]; /* the conditions that a width or a height stays in L1 */
	const char *outer;
};

/* A strategy is one for the dimension: how far it is from the last one, at most 3. */
static tt_status check_strategy(const struct tt_launch *launch, uint32_t behind,
				const struct words *words)
{
	static const enum strategy small[] = {NONE, SMALL_W, SMALL_H};
	static const enum strategy large[] = {NONE, LARGE_W, LARGE_H};
	const struct ttnn_value *strategy = &launch->attrs[STRATEGY];
	const char *type = strategy->enumeration->name;
	enum strategy asked = (enum strategy)strategy->integer;
	char condition[256];

	if (behind >= 3) {
		snprintf(condition, sizeof(condition), "strategy == %s::LARGE_C", type);
		TT_REQUIRE(asked == LARGE_C, condition, "%s", words->outer);
		return TTNN_OK;
	}
	snprintf(condition, sizeof(condition), "strategy == %s::%s || strategy == %s::%s", type,
		 behind == 1 ? "SMALL_W" : "SMALL_H", type, behind == 1 ? "LARGE_W" : "LARGE_H");
	TT_REQUIRE(asked == small[behind] || asked == large[behind], condition,
		   "Invalid parallelization strategy. %s::%s is not for dim %c", type,
		   tt_enum_name(strategy->enumeration, asked), behind == 1 ? 'W' : 'H');
	return TTNN_OK;
}

/* The factory: what was asked for, if it is for this dimension, else the one that fits. */
static tt_status choose(uint32_t *out, struct tt_launch *launch, struct tt_lines_request *request,
			const struct words *words)
{
	const struct ttnn_value *strategy = &launch->attrs[STRATEGY];
	uint32_t behind = launch->inputs[0]->spec.shape.rank - request->dim;
	enum tt_lines lines;
	bool small = strategy->integer == SMALL_W || strategy->integer == SMALL_H;

	if (strategy->integer != NONE)
		TT_TRY(check_strategy(launch, behind, words));
	request->large = strategy->integer != NONE && !small;
	TT_TRY(tt_lines_plan(&lines, launch, request));
	TT_REQUIRE(!small || lines == TT_LINES_H_SMALL || lines == TT_LINES_W_SMALL,
		   words->fits[behind - 1], "not enough circular buffer memory for %s::%s",
		   strategy->enumeration->name,
		   tt_enum_name(strategy->enumeration, strategy->integer));
	*out = factory_of[lines];
	return TTNN_OK;
}

static tt_status check_dim(const struct tt_launch *launch)
{
	uint32_t rank = launch->inputs[0]->spec.shape.rank;

	TT_REQUIRE(launch->attrs[DIM].integer < rank, "dim >= 0 && dim < rank",
		   "dim %" PRId64 " should be less than output tensor rank %u",
		   launch->attrs[DIM].integer, rank);
	return TTNN_OK;
}

/* ---- forward ------------------------------------------------------------------------------------- */

static tt_status moreh_softmax_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "(input.layout() == Layout::TILE)",
		   "Inputs to softmax must be tilized");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B ||
			   in->dtype == TTNN_FLOAT32,
		   "input.dtype() == DataType::BFLOAT16 || input.dtype() == DataType::BFLOAT8_B || "
		   "input.dtype() == DataType::FLOAT32",
		   "Inputs must be of bfloat16, bfloat8_b or float32 type. Received: DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	return check_dim(launch);
}

static tt_status moreh_softmax_choose(uint32_t *out, struct tt_launch *launch)
{
	static const struct words words = {
		{"is_moreh_softmax_w_small_available(input, compute_kernel_config)",
		 "is_moreh_softmax_h_small_available(input, compute_kernel_config)"},
		"Invalid parallelization strategy. large c is for dim 0 to (rank - 3)"};
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	bool wide = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	enum ttnn_dtype sum = wide ? TTNN_FLOAT32 : dtype;

	return choose(out, launch,
		      &(struct tt_lines_request){.dim = tt_attr_u32(launch, DIM),
						 .value = tt_dtype_is_block(dtype) ? TTNN_BFLOAT16
										   : dtype,
						 .sum = sum,
						 .between = sum},
		      &words);
}

/* softmin is softmax of the negated values, logsoftmax its logarithm. */
static tt_status moreh_softmax_kernel(struct tt_launch *launch)
{
	enum kind kind = (enum kind)launch->attrs[OP].integer;
	struct tt_softmax_job job = {.out = launch->outputs[0],
				     .in = launch->inputs[0],
				     .dim = tt_attr_u32(launch, DIM),
				     .scale = kind == SOFTMIN ? -1 : 1,
				     .stable = true,
				     .log = kind == LOGSOFTMAX};

	return tt_backend_get()->softmax(&job);
}

#define FORWARD(name_, memory_)                                                                    \
	TT_FACTORY_ROW("ttnn::operations::moreh::moreh_softmax::MorehSoftmaxOperation::"           \
		       "MorehSoftmax" name_ "Factory",                                             \
		       memory_)
static const struct tt_factory factories[] = {
	[C_LARGE] = FORWARD("CLarge", tt_outer_memory),
	[H_LARGE] = FORWARD("HLarge", tt_lines_memory),
	[H_SMALL] = FORWARD("HSmall", tt_lines_memory),
	[W_LARGE] = FORWARD("WLarge", tt_lines_memory),
	[W_SMALL] = FORWARD("WSmall", tt_lines_memory),
};

static const struct tt_prog program = {
	.device_op = "MorehSoftmaxOperation",
	.prim = "ttnn::prim::moreh_softmax",
	.attrs = &schema,
	.validate = moreh_softmax_validate,
	TT_FACTORIES(factories),
	.choose = moreh_softmax_choose,
	TT_KERNEL(moreh_softmax_kernel),
};

/* Float32 is computed as such unless a config says otherwise. */
static tt_status moreh_softmax_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"),
			 *given = tt_call_tensor(call, "output_tensor");
	const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI4, .approx = true, .fp32 = in->spec.dtype == TTNN_FLOAT32};

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &program, TT_INPUTS(in, given), TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, in),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

/* ---- backward ------------------------------------------------------------------------------------ */

enum { OUTPUT, GRAD };

static tt_status softmax_backward_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->inputs[OUTPUT]->spec;
	const struct ttnn_tensor_spec *grad = &launch->inputs[GRAD]->spec;

	TT_REQUIRE(out->layout == TTNN_TILE, "(output_tensor.layout() == Layout::TILE)",
		   "Output to softmax must be tilized");
	TT_REQUIRE(grad->layout == TTNN_TILE, "(output_grad_tensor.layout() == Layout::TILE)",
		   "Output_grad to softmax must be tilized");
	TT_REQUIRE(out->dtype == TTNN_BFLOAT16 || out->dtype == TTNN_BFLOAT8_B,
		   "output_tensor.dtype() == DataType::BFLOAT16 || output_tensor.dtype() == "
		   "DataType::BFLOAT8_B",
		   "Output_tensor dtype should be bfloat16 or bfloat8_b");
	TT_REQUIRE(grad->dtype == TTNN_BFLOAT16 || grad->dtype == TTNN_BFLOAT8_B,
		   "output_grad_tensor.dtype() == DataType::BFLOAT16 || "
		   "output_grad_tensor.dtype() == DataType::BFLOAT8_B",
		   "Output_tensor_grad dtype should be bfloat16 or bfloat8_b");
	return check_dim(launch);
}

/* Tiles of a line, and the cores for all of them. */
struct backward_work {
	const ttnn_core_set *cores;
	uint64_t line;
};

/* What a line of so many tiles takes when it stays in L1. */
#define SMALL_LIMIT (512 * 1024)
static bool stays(const struct tt_launch *launch, uint64_t line)
{
	return launch->device->limits.l1_base + (3 * line + 6) * tt_page_in0(launch) <= SMALL_LIMIT;
}

static tt_status softmax_backward_choose(uint32_t *out, struct tt_launch *launch)
{
	static const struct words words = {
		{"is_moreh_softmax_backward_w_small_available(output)",
		 "is_moreh_softmax_backward_h_small_available(output)"},
		"Invalid parallelization strategy. large c is for dim 0 - (rank - 3)"};
	const struct ttnn_tensor_spec *in = &launch->inputs[OUTPUT]->spec;
	struct tt_reduce_tiles tiles = tt_reduce_tiles_of(in);
	enum strategy asked = (enum strategy)launch->attrs[STRATEGY].integer;
	struct backward_work *work = tt_work_new(launch, sizeof(*work));
	uint32_t dim = tt_attr_u32(launch, DIM), behind = in->shape.rank - dim;
	bool small;

	TT_NEED_MEMORY(work);
	if (asked != NONE)
		TT_TRY(check_strategy(launch, behind, &words));
	work->line = behind == 1 ? tiles.width : behind == 2 ? tiles.height : in->padded.dim[dim];
	small = behind < 3 && asked != LARGE_W && asked != LARGE_H && stays(launch, work->line);
	TT_REQUIRE(small || (asked != SMALL_W && asked != SMALL_H), words.fits[behind > 1],
		   "not enough circular buffer memory for %s::%s",
		   launch->attrs[STRATEGY].enumeration->name,
		   tt_enum_name(launch->attrs[STRATEGY].enumeration, asked));
	*out = behind == 1   ? small ? W_SMALL : W_LARGE
	       : behind == 2 ? small ? H_SMALL : H_LARGE
			     : C_LARGE;
	return tt_cores_for(&work->cores, launch,
			    tiles.matrices * tiles.width * tiles.height /
				    (work->line ? work->line : 1));
}

/* Small lines stay as a whole, large ones go by in pairs of tiles, of which sums are kept. */
static tt_status softmax_backward_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct backward_work *work = launch->work;
	uint32_t which = tt_factory_index(launch);
	bool small = which == H_SMALL || which == W_SMALL, outer = which == C_LARGE;
	uint64_t line = small ? work->line : 2, tile = tt_page_out0(launch);
	uint64_t sum = tt_moreh_sum_bytes(&launch->attrs[COMPUTE], launch->outputs[0]->spec.dtype);

	return TT_PLAN(plan, work->cores, TT_DFB_ROW(0, "y", .pages = line, .page = tile),
		       TT_DFB_ROW(1, "dy", .pages = line, .page = tile),
		       TT_DFB_ROW(2, "scaler", .pages = !outer, .page = tile),
		       TT_DFB_ROW(3, "mask", .pages = !outer, .page = tile),
		       TT_DFB_ROW(16, "dx", .pages = 2, .page = tile),
		       TT_DFB_ROW(24, "ydy", .pages = small ? line : 1, .page = sum),
		       TT_DFB_ROW(25, "sum", .pages = outer ? 2 : 1, .page = sum),
		       TT_DFB_ROW(26, "dy_m_sum", .pages = 1, .page = sum),
		       TT_DFB_ROW(27, "add", .pages = small || outer ? 0 : 2, .page = sum));
}

/*
 * softmax: y (dy - sum(y dy)); softmin: the negative of it; logsoftmax: dy - exp(y) sum(dy).
 */
static tt_status softmax_backward_kernel(struct tt_launch *launch)
{
	static const struct tt_unary_step power = {.fn = TT_UNARY_EXP},
					  minus = {.fn = TT_UNARY_NEG};
	enum kind kind = (enum kind)launch->attrs[OP].integer;
	struct tt_tensor *y = launch->inputs[OUTPUT], *dy = launch->inputs[GRAD];
	uint32_t line = 1u << launch->attrs[DIM].integer;
	struct tt_tensor *product, *sum;

	TT_NEED(ttnn_shape_equal(&y->spec.shape, &dy->spec.shape) &&
			ttnn_shape_equal(&y->spec.shape, &launch->outputs[0]->spec.shape),
		"The output of softmax, its gradient and input_grad must have the same shape");
	TT_TRY(tt_scratch_f32(&product, &y->spec.shape));
	if (kind == LOGSOFTMAX) {
		TT_TRY(tt_moreh_sum(&sum, dy, line));
		TT_TRY(tt_moreh_apply(product, y, &power, 1));
		TT_TRY(tt_moreh_map(product, TT_BINARY_MUL, product, sum));
		return tt_moreh_map(launch->outputs[0], TT_BINARY_SUB, dy, product);
	}
	TT_TRY(tt_moreh_map(product, TT_BINARY_MUL, y, dy));
	TT_TRY(tt_moreh_sum(&sum, product, line));
	TT_TRY(tt_moreh_map(product, TT_BINARY_SUB, dy, sum));
	if (kind == SOFTMIN)
		TT_TRY(tt_moreh_apply(product, product, &minus, 1));
	return tt_moreh_map(launch->outputs[0], TT_BINARY_MUL, product, y);
}

#define BACKWARD(name_)                                                                            \
	TT_FACTORY_ROW("ttnn::operations::moreh::moreh_softmax_backward::"                         \
		       "MorehSoftmaxBackwardOperation::MorehSoftmaxBackward" name_ "Factory",      \
		       softmax_backward_memory)
static const struct tt_factory backward_factories[] = {
	[C_LARGE] = BACKWARD("CLarge"), [H_LARGE] = BACKWARD("HLarge"),
	[H_SMALL] = BACKWARD("HSmall"), [W_LARGE] = BACKWARD("WLarge"),
	[W_SMALL] = BACKWARD("WSmall"),
};

static const struct tt_prog backward_program = {
	.device_op = "MorehSoftmaxBackwardOperation",
	.prim = "ttnn::prim::moreh_softmax_backward",
	.attrs = &schema,
	.validate = softmax_backward_validate,
	TT_FACTORIES(backward_factories),
	.choose = softmax_backward_choose,
	TT_KERNEL(softmax_backward_kernel),
};

static tt_status softmax_backward_expand(struct tt_call *call)
{
	struct tt_tensor *out = tt_call_tensor(call, "output_tensor"),
			 *given = tt_call_tensor(call, "input_grad_tensor");

	return TT_LAUNCH_RETURN(call, &backward_program,
				TT_INPUTS(out, tt_call_tensor(call, "output_grad_tensor"), given),
				TT_OUTPUTS(given), .in_place = true,
				TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, out),
					[COMPUTE] = tt_moreh_compute(call)));
}

/* ---- the operations ------------------------------------------------------------------------------ */

#define FORWARD_ROW(name_, kind_, doc_)                                                            \
	{                                                                                          \
		.name = "ttnn.moreh_" name_, .doc = doc_,                                          \
		.sigs = {"input_tensor: Tensor, dim: size, *, output_tensor: Tensor? = None, op: " \
			 "MorehSoftmaxOp = " kind_ ", strategy: MorehSoftmaxStrategy = NONE, "     \
			 "memory_config: MemoryConfig? = None, compute_kernel_config: "            \
			 "ComputeConfig? = None"},                                                 \
		.expand = moreh_softmax_expand, .golden = tt_golden_moreh_softmax,                 \
		TT_PROGRAMS(&program)                                                              \
	}
#define BACKWARD_ROW(name_, kind_)                                                                 \
	{                                                                                          \
		.name = "ttnn.moreh_" name_ "_backward",                                           \
		.doc = "The gradient of moreh_" name_ ".",                                         \
		.sigs = {"output_tensor: Tensor, output_grad_tensor: Tensor, dim: size, *, "       \
			 "input_grad_tensor: Tensor? = None, op: MorehSoftmaxBackwardOp = " kind_  \
			 ", strategy: MorehSoftmaxBackwardStrategy = NONE, memory_config: "        \
			 "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"},    \
		.expand = softmax_backward_expand, .golden = tt_golden_moreh_softmax_backward,     \
		TT_PROGRAMS(&backward_program)                                                     \
	}

static const struct tt_op ops[] = {
	FORWARD_ROW("softmax", "SOFTMAX", "exp(x) over its sum along a dimension."),
	FORWARD_ROW("softmin", "SOFTMIN", "exp(-x) over its sum along a dimension."),
	FORWARD_ROW("logsoftmax", "LOGSOFTMAX", "The logarithm of softmax along a dimension."),
	BACKWARD_ROW("softmax", "SOFTMAX"),
	BACKWARD_ROW("softmin", "SOFTMIN"),
	BACKWARD_ROW("logsoftmax", "LOGSOFTMAX"),
};

const struct tt_op_family tt_family_moreh_softmax = {"moreh_softmax", ops, TT_COUNT(ops)};
