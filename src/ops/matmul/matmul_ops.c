/*
 * matmul_ops.c: matmul, linear and addmm. All run the program of matmul.c; what it cannot do itself
 * goes before or behind it: transpositions, vectors as matrices, a bias that is no row, activations.
 */
#include <stdio.h>

#include "golden/golden_matmul.h"
#include "ops/eltwise/eltwise.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"
#include "ops/objects.h"

/* What a caller gave. */
struct request {
	struct tt_tensor *a, *b, *bias, *output;
	bool transpose_a, transpose_b;
	struct ttnn_memory_config memory;
	bool has_dtype, has_tile, has_config, has_grid;
	enum ttnn_dtype dtype;
	struct ttnn_tile tile;
	struct tt_matmul_config config;
	struct ttnn_core grid;
	struct ttnn_value activation, sub_device_id, global_cb;
	const struct ttnn_value *compute;
};

/* ---- reading the call ------------------------------------------------------------------------------- */

/* Pipes, and parts of a that others fill in while a product runs: nothing here sends them. */
static tt_status refuse_senders(const struct tt_call *call)
{
	const struct ttnn_value *ring;

	if (tt_value_given(tt_call_arg(call, "in0_column_offset")))
		return tt_fail(TTNN_UNSUPPORTED, "%s does not support in0_column_offset yet",
			       call->entry->op->name);
	TT_TRY(tt_global_cb_read(&ring, tt_call_arg(call, "global_cb")));
	if (tt_call_arg(call, "prefetcher_pipes")->count)
		return tt_fail(TTNN_UNSUPPORTED, "%s does not support prefetcher_pipes yet",
			       call->entry->op->name);
	return TTNN_OK;
}

/* The arguments that matmul, linear and addmm share. */
static tt_status read_request(struct request *out, struct tt_call *call)
{
	const struct ttnn_value *config = tt_call_arg(call, "program_config");
	const struct ttnn_value *grid = tt_call_arg(call, "core_grid");
	const struct ttnn_value *tile = tt_call_arg(call, "output_tile");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	*out = (struct request){
		.transpose_a = tt_call_bool(call, "transpose_a", false),
		.transpose_b = tt_call_bool(call, "transpose_b", false),
		.output = tt_call_tensor(call, "optional_output_tensor"),
		.has_dtype = tt_value_given(tt_call_arg(call, "dtype")),
		.dtype = tt_call_dtype(call, "dtype", TTNN_BFLOAT16),
		.has_tile = tile->kind == TTNN_VALUE_TILE,
		.has_config = tt_value_given(config),
		.has_grid = grid->kind == TTNN_VALUE_CORE,
		.activation = ttnn_v_none(),
		.sub_device_id = *tt_call_arg(call, "sub_device_id"),
		.global_cb = *tt_call_arg(call, "global_cb"),
		.compute = tt_call_arg(call, "compute_kernel_config"),
	};
	if (memory)
		out->memory = *memory;
	if (out->has_tile)
		out->tile = *tile->tile;
	if (out->has_grid)
		out->grid = grid->core;
	TT_TRY(refuse_senders(call));
	if (out->has_config)
		TT_TRY(tt_matmul_config_read(&out->config, config));
	return tt_activation_of(&out->activation, call->arena, tt_call_arg(call, "activation"));
}

/*
 * A fused activation needs a core grid: without one upstream runs it as a program behind the
 * product.
 */
static tt_status complete(struct tt_matmul *out, struct tt_call *call,
			  const struct request *request)
{
	*out = (struct tt_matmul){
		.call = call,
		.a = request->a,
		.b = request->b,
		.bias = request->bias,
		.output = request->output,
		.transpose_a = request->transpose_a,
		.transpose_b = request->transpose_b,
		.memory = request->memory,
		.has_grid = request->has_grid,
		.user_grid = request->grid,
		/* Without a grid it is a program of its own. */
		.activation = request->has_grid ? request->activation : ttnn_v_none(),
		.batched = tt_matmul_batch(&request->b->spec.shape) > 1,
		.untilize = request->has_config && request->config.untilize,
		.sub_device_id = request->sub_device_id,
		.global_cb = request->global_cb,
	};
	return tt_matmul_complete(out, request->has_config ? &request->config : NULL,
				  request->has_dtype ? &request->dtype : NULL,
				  request->has_tile ? &request->tile : NULL, request->compute);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

/* Refusals that come before anything runs. */
static tt_status matmul_check(const struct request *request)
{
	const struct ttnn_shape *a = &request->a->spec.shape, *b = &request->b->spec.shape;

	if (a->rank == 0 || b->rank == 0)
		return tt_fail_shapes(TTNN_INVALID, "",
				      "ttnn.matmul: Both arguments to matmul need to be at least "
				      "1D, but got shapes %s and %s",
				      a, b);
	TT_REQUIRE((!tt_tensor_is_sharded(request->a) && !tt_tensor_is_sharded(request->b)) ||
			   !tt_value_given(&request->activation),
		   "!parameters.user_fused_activation.has_value()",
		   "Sharded matmul run with UnaryOpType::%s activation: this should be placed in "
		   "the program config's fused_activation field",
		   tt_enum_name(request->activation.items[0].enumeration,
				request->activation.items[0].integer));
	return TTNN_OK;
}

/* ---- the bias ------------------------------------------------------------------------------------------- */

/* Whether operands and result are interleaved in DRAM: there the program takes the bias itself. */
static bool all_in_dram(const struct tt_matmul *matmul)
{
	const struct ttnn_memory_config *const places[] = {
		&matmul->a->spec.memory, &matmul->b->spec.memory, &matmul->memory};

	for (size_t i = 0; i < 3; i++)
		if (places[i]->layout != TTNN_INTERLEAVED || places[i]->buffer != TTNN_DRAM)
			return false;
	return true;
}

/* Where a block of a core is a whole matrix, a bias as large as it is added in the program. */
static bool whole_block_bias(const struct tt_matmul *matmul, const struct request *request)
{
	const struct ttnn_shape *bias = &request->bias->spec.shape;

	return !matmul->transpose_a && !matmul->transpose_b && tt_matmul_batch(bias) == 1 &&
	       matmul->n == request->config.n && request->config.m >= matmul->m &&
	       tt_shape_last(bias, 2) == matmul->m * matmul->a_tile.height &&
	       tt_shape_last(bias, 1) == matmul->n * matmul->b_tile.width;
}

/* Whether the bias is added behind the program, not in it. */
static bool bias_apart(const struct tt_matmul *matmul, const struct request *request)
{
	const struct ttnn_tensor_spec *bias = &request->bias->spec;
	uint32_t height = tt_shape_last(&bias->padded, 2);
	bool reuse = request->has_config && request->config.kind == TT_MATMUL_REUSE;

	if (reuse && whole_block_bias(matmul, request))
		return false;
	if (reuse && tt_shape_last(&bias->shape, 2) == 1)
		return true;
	if (matmul->batched || tt_matmul_batch(&bias->shape) > 1 ||
	    tt_shape_last(&bias->shape, 1) < tt_shape_last(&matmul->b_shape, 1))
		return true;
	if (height != matmul->a_tile.height)
		return true;
	if (request->has_config)
		return request->config.kind == TT_MATMUL_MULTI;
	if (request->has_grid)
		return false;
	if (matmul->memory.buffer != TTNN_DRAM)
		return true;
	return !tt_tensor_is_sharded(matmul->a) && !all_in_dram(matmul);
}

/* ---- behind the program ----------------------------------------------------------------------------------- */

/* Puts another tensor in the place of one that is not needed any more. */
static void replace(struct tt_tensor **tensor, struct tt_tensor *with, struct tt_call *call)
{
	tt_call_overwrite(call, *tensor);
	*tensor = tt_call_own(call, with);
}

/* Replaces a tensor by itself under another shape. */
static tt_status reshape(struct tt_tensor **tensor, struct tt_call *call,
			 const struct ttnn_shape *shape)
{
	struct tt_tensor *out;

	TT_TRY(tt_call_reshape(&out, call,
			       &(struct tt_reshape_args){.in = *tensor, .shape = shape}));
	replace(tensor, out, call);
	return TTNN_OK;
}

/* A bias that the program does not take is added behind it. */
static tt_status add_bias(struct tt_tensor **tensor, struct tt_call *call,
			  const struct request *request)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(*tensor)},
		{NULL, ttnn_v_tensor(request->bias)},
		{"memory_config", ttnn_v_memory(&(*tensor)->spec.memory)},
		{"output_tensor", ttnn_v_tensor(request->output)},
	};
	struct tt_tensor *out;

	TT_TRY(tt_call_op(&out, call, "ttnn.add", args, 4));
	replace(tensor, out, call);
	return TTNN_OK;
}

/* The shape of product and bias, broadcast. */
static tt_status with_bias(struct ttnn_shape *shape, const struct ttnn_shape *bias)
{
	uint32_t rank = shape->rank > bias->rank ? shape->rank : bias->rank;
	struct ttnn_shape out = {.rank = rank};

	for (uint32_t back = 1; back <= rank; back++) {
		uint32_t a = tt_shape_last(shape, back), b = tt_shape_last(bias, back);

		TT_REQUIRE(a == b || a == 1 || b == 1, "dim_a == dim_b || dim_a == 1 || dim_b == 1",
			   "Broadcast error: Invalid dimension");
		out.dim[rank - back] = a > b ? a : b;
	}
	*shape = out;
	return TTNN_OK;
}

/*
 * With a bias or a given output the result takes the shape that they give it. `request` has the
 * operands as they were given but only those transpositions that the program makes: upstream does not
 * count the others here, and so refuses what it just computed.
 */
static tt_status final_shape(struct tt_tensor **tensor, struct tt_call *call,
			     const struct request *request)
{
	struct ttnn_shape a = request->a->spec.shape, b = request->b->spec.shape, shape;
	uint64_t wanted, current;

	if (!request->bias && !request->output)
		return TTNN_OK;
	if (request->transpose_a && a.rank > 1) {
		a.dim[a.rank - 1] = tt_shape_last(&request->a->spec.shape, 2);
		a.dim[a.rank - 2] = tt_shape_last(&request->a->spec.shape, 1);
	}
	if (request->transpose_b && b.rank > 1) {
		b.dim[b.rank - 1] = tt_shape_last(&request->b->spec.shape, 2);
		b.dim[b.rank - 2] = tt_shape_last(&request->b->spec.shape, 1);
	}
	TT_TRY(tt_matmul_shape(&shape, &a, &b));
	if (request->bias)
		TT_TRY(with_bias(&shape, &request->bias->spec.shape));
	if (request->output) {
		TT_TRY(ttnn_shape_volume(&wanted, &shape));
		TT_TRY(ttnn_shape_volume(&current, &request->output->spec.shape));
		TT_REQUIRE(wanted == current, "desired_vol == current_vol",
			   "Invalid optional output tensor");
		shape = request->output->spec.shape;
	}
	return reshape(tensor, call, &shape);
}

/* An activation that is not fused is a unary program behind the product. */
static tt_status activate(struct tt_tensor **tensor, struct tt_call *call,
			  const struct request *request)
{
	struct ttnn_value chain = ttnn_v_list(&request->activation, 1);
	struct tt_unary_step steps[TT_UNARY_STEPS_MAX];
	struct tt_unary_args args = {.input = *tensor,
				     .output = request->output,
				     .steps = steps,
				     .memory = &(*tensor)->spec.memory};
	struct tt_tensor *out;

	TT_TRY(tt_unary_steps(steps, &args.step_count, &chain));
	TT_TRY(tt_unary_launch(&out, call, &args));
	replace(tensor, out, call);
	return TTNN_OK;
}

/*
 * What comes behind the program, in upstream's order: a vector's shape, the bias, the final shape,
 * the activation.
 */
static tt_status matmul_finish(struct tt_tensor **tensor, struct tt_call *call,
			       const struct request *request, bool apart)
{
	if (request->b->spec.shape.rank == 1) {
		struct ttnn_shape shape;

		TT_TRY(tt_matmul_shape(&shape, &request->a->spec.shape, &request->b->spec.shape));
		TT_TRY(reshape(tensor, call, &shape));
	}
	if (apart)
		TT_TRY(add_bias(tensor, call, request));
	TT_TRY(final_shape(tensor, call, request));
	if (tt_value_given(&request->activation) && !request->has_grid)
		TT_TRY(activate(tensor, call, request));
	return TTNN_OK;
}

/* ---- the product ------------------------------------------------------------------------------------------- */

/* Nothing is multiplied: zeros of the result's shape. */
static tt_status multiply_nothing(struct tt_tensor **out, struct tt_call *call,
				  const struct request *request)
{
	struct ttnn_shape shape;
	struct tt_tensor *a = request->a;
	struct ttnn_arg args[] = {
		{NULL, ttnn_v_shape(&shape)},
		{NULL, ttnn_v_real(0)},
		{"dtype", ttnn_v_dtype(request->has_dtype ? request->dtype : a->spec.dtype)},
		{"layout", ttnn_v_layout(a->spec.layout)},
		{"device", ttnn_v_device(tt_tensor_device(a))},
		{"memory_config", ttnn_v_memory(&request->memory)},
	};

	TT_TRY(tt_matmul_shape(&shape, &a->spec.shape, &request->b->spec.shape));
	TT_TRY(tt_call_op(out, call, "ttnn.full", args, 6));
	tt_call_own(call, *out);
	return request->bias ? add_bias(out, call, request) : TTNN_OK;
}

/* Replaces a tensor by its transpose, in the same memory. */
static tt_status transpose(struct tt_tensor **tensor, struct tt_call *call)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(*tensor)},
		{NULL, ttnn_v_int(-1)},
		{NULL, ttnn_v_int(-2)},
		{"memory_config", ttnn_v_memory(&(*tensor)->spec.memory)},
	};

	return tt_call_owned(call, tt_call_op(tensor, call, "ttnn.transpose", args, 4), tensor);
}

/*
 * Upstream's condition. Elsewhere a transposed operand is a tensor of its own before the program, of the operand's type:
 * block floats are rounded again, since 16 neighbours in a row share an exponent and a row is another one now. So
 * small products in L1 differ from the same in interleaved DRAM, where the program is always one of these.
 */
static bool turns_itself(const struct tt_matmul_config *config)
{
	return config->kind == TT_MATMUL_1D || config->kind == TT_MATMUL_2D ||
	       config->kind == TT_MATMUL_REUSE;
}

/* What the program cannot take as it is: turned operands of some configs, a vector for b. */
static tt_status adjust(struct tt_matmul *matmul, struct tt_call *call,
			const struct request *request)
{
	struct request adjusted = *request;
	struct tt_matmul_config config = request->config;
	struct ttnn_shape column = {2, {tt_shape_last(&request->b->spec.shape, 1), 1}};

	TT_TRY(complete(matmul, call, request));
	if (!request->has_config)
		TT_TRY(tt_matmul_choose(&config, matmul));
	if (request->transpose_a && !turns_itself(&config)) {
		TT_TRY(transpose(&adjusted.a, call));
		adjusted.transpose_a = false;
	}
	if (request->b->spec.shape.rank == 1) {
		TT_TRY(tt_call_reshape(
			&adjusted.b, call,
			&(struct tt_reshape_args){.in = request->b, .shape = &column}));
		tt_call_own(call, adjusted.b);
	} else if (request->transpose_b && !turns_itself(&config)) {
		TT_TRY(transpose(&adjusted.b, call));
		adjusted.transpose_b = false;
	}
	return complete(matmul, call, &adjusted);
}

/* Everything that matmul and linear do between their arguments and their result. */
static tt_status multiply(struct tt_tensor **out, struct tt_call *call,
			  const struct request *request)
{
	struct request behind = *request;
	struct tt_matmul matmul;
	uint64_t volume_a, volume_b;
	bool apart;

	TT_TRY(matmul_check(request));
	TT_TRY(ttnn_shape_volume(&volume_a, &request->a->spec.shape));
	TT_TRY(ttnn_shape_volume(&volume_b, &request->b->spec.shape));
	if (volume_a == 0 || volume_b == 0)
		return multiply_nothing(out, call, request);
	TT_TRY(adjust(&matmul, call, request));
	apart = request->bias && bias_apart(&matmul, request);
	if (request->bias && request->b->spec.shape.rank == 1 && request->a->spec.shape.rank > 1)
		apart = true;
	if (apart)
		matmul.bias = NULL;
	TT_TRY(tt_matmul_launch(out, call, &matmul, request->has_config ? &request->config : NULL));
	tt_call_own(call, *out);
	behind.transpose_a = matmul.transpose_a;
	behind.transpose_b = matmul.transpose_b;
	return matmul_finish(out, call, &behind, apart);
}

/* ---- the operations --------------------------------------------------------------------------------------------- */

static tt_status give(struct tt_call *call, struct tt_tensor *out)
{
	tt_call_return(call, ttnn_tensor_ref(out));
	return TTNN_OK;
}

/* ttnn.linear is the same operation with a bias. */
static tt_status expand_matmul(struct tt_call *call)
{
	struct request request;
	struct tt_tensor *out;

	TT_TRY(read_request(&request, call));
	request.a = tt_call_tensor(call, "input_tensor_a");
	request.b = tt_call_tensor(call, "input_tensor_b");
	request.bias = tt_call_tensor(call, "bias");
	TT_TRY(multiply(&out, call, &request));
	return give(call, out);
}

/* Over one of its operands. */
static tt_status in_place(struct tt_call *call, const char *name, struct tt_tensor *tensor,
			  struct ttnn_value with)
{
	const struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(tensor)}, {NULL, with}};
	struct tt_tensor *out;

	TT_TRY(tt_call_op(&out, call, name, args, 2));
	ttnn_tensor_unref(out);
	return TTNN_OK;
}

static bool addmm_takes(const struct tt_tensor *tensor)
{
	enum ttnn_dtype dtype = tensor->spec.dtype;

	return dtype == TTNN_BFLOAT16 || dtype == TTNN_FLOAT32 || dtype == TTNN_BFLOAT8_B;
}

/* Upstream's condition repeats the variable's name for each type it takes. */
static tt_status refuse_type(const char *variable, const char *name)
{
	char condition[160];

	snprintf(condition, sizeof(condition),
		 "%s == DataType::BFLOAT16 || %s == DataType::FLOAT32 || %s == DataType::BFLOAT8_B",
		 variable, variable, variable);
	return tt_fail_cond(TTNN_INVALID, condition,
			    "only ttnn.bfloat16, ttnn.float32 and ttnn.bfloat8_b types are "
			    "supported for %s",
			    name);
}

/*
 * alpha = 0 would leave nothing of the product; upstream refuses it rather than skip the product.
 */
static tt_status check_addmm(const struct request *request, const struct tt_tensor *input,
			     double alpha, double beta)
{
	const struct ttnn_shape *shape = &input->spec.shape;

	TT_REQUIRE(!request->has_tile, "!output_tile.has_value()",
		   "output_tile must not be provided");
	TT_REQUIRE(alpha != 0, "alpha != 0.0", "alpha parameter cannot be 0");
	if (beta != 0) {
		TT_REQUIRE(shape->rank >= 2 && shape->dim[0] == request->a->spec.shape.dim[0] &&
				   shape->dim[1] == request->b->spec.shape.dim[1],
			   "input_shape[0] == mat1_shape[0] && input_shape[1] == mat2_shape[1]",
			   "input_tensor must have shape matching one of result of mat1_tensor @ "
			   "mat2_tensor");
		if (!addmm_takes(input))
			return refuse_type("idtype", "input_tensor");
	}
	if (!addmm_takes(request->a))
		return refuse_type("m1type", "mat1_tensor");
	return addmm_takes(request->b) ? TTNN_OK : refuse_type("m2type", "mat2_tensor");
}

/* The input times beta, as its own multiply. */
static tt_status scale(struct tt_tensor **tensor, struct tt_call *call,
		       const struct request *request, double factor)
{
	const struct ttnn_arg args[] = {
		{NULL, ttnn_v_tensor(*tensor)},
		{NULL, ttnn_v_real(factor)},
		{"dtype", request->has_dtype ? ttnn_v_dtype(request->dtype) : ttnn_v_none()},
	};

	return tt_call_owned(call, tt_call_op(tensor, call, "ttnn.multiply", args, 3), tensor);
}

/*
 * beta × input + alpha × (mat1 × mat2): scaled and added in place behind the product, and only
 * where the factor is not 1.
 */
static tt_status expand_addmm(struct tt_call *call)
{
	struct tt_tensor *input = tt_call_tensor(call, "input_tensor"), *out;
	double alpha = tt_call_real(call, "alpha", 1), beta = tt_call_real(call, "beta", 1);
	struct request request;

	TT_TRY(read_request(&request, call));
	request.a = tt_call_tensor(call, "mat1_tensor");
	request.b = tt_call_tensor(call, "mat2_tensor");
	TT_TRY(check_addmm(&request, input, alpha, beta));
	TT_TRY(multiply(&out, call, &request));
	if (alpha != 1)
		TT_TRY(in_place(call, "ttnn.multiply_", out, ttnn_v_real(alpha)));
	if (beta != 0) {
		if (beta != 1)
			TT_TRY(scale(&input, call, &request, beta));
		TT_TRY(in_place(call, "ttnn.add_", out, ttnn_v_tensor(input)));
	}
	return give(call, out);
}

#define A_B "input_tensor_a: Tensor, input_tensor_b: Tensor, *, "
#define OPTIONS                                                                                    \
	"transpose_a: bool = False, transpose_b: bool = False, memory_config: MemoryConfig ? = "   \
	"None, dtype: DataType ? = None, program_config: MatmulConfig ? = None, "
#define ACTIVATION "activation: str | UnaryWithParam ? = None, "
#define REST                                                                                       \
	"compute_kernel_config: ComputeConfig ? = None, core_grid: CoreGrid ? = None, "            \
	"output_tile: Tile ? = None, optional_output_tensor: Tensor ? = None"
#define SENDERS                                                                                    \
	", global_cb: GlobalCb ? = None, sub_device_id: SubDeviceId ? = None, "                    \
	"prefetcher_pipes: Pipes = []"

static const struct tt_op ops[] = {
	{.name = "ttnn.addmm",
	 .doc = "beta times a tensor and alpha times the product of two matrices.",
	 .sigs = {"input_tensor: Tensor, mat1_tensor: Tensor, mat2_tensor: Tensor, *, "
		  "alpha: float = 1.0, beta: float = 1.0, memory_config: MemoryConfig ? = None, "
		  "dtype: DataType ? = None, program_config: MatmulConfig ? = None, " REST},
	 .expand = expand_addmm,
	 .golden = tt_golden_addmm},
	{.name = "ttnn.linear",
	 .doc = "The matrix product of two tensors and a bias.",
	 .sigs = {A_B "bias: Tensor ? = None, " OPTIONS ACTIVATION REST SENDERS
		      ", in0_column_offset: int ? = None"},
	 .expand = expand_matmul,
	 .golden = tt_golden_matmul},
	{.name = "ttnn.matmul",
	 .doc = "The matrix product of two tensors; outer dimensions are batches.",
	 .sigs = {A_B OPTIONS ACTIVATION REST SENDERS},
	 .expand = expand_matmul,
	 .golden = tt_golden_matmul},
};

const struct tt_op_family tt_family_matmul = {"matmul", ops, TT_COUNT(ops)};
