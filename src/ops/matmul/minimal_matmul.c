/*
 * minimal_matmul.c: products by programs of their own: minimal_matmul, and those named moreh_, which
 * training uses. Their blocks are fixed or given, so that their memory is rows of numbers.
 */
#include "ops/matmul/minimal_matmul.h"

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/work_split.h"
#include "golden/golden_matmul.h"
#include "ops/activation.h"
#include "ops/compute.h"
#include "ops/cost.h"
#include "ops/matmul/matmul.h"
#include "ops/mem_rows.h"
#include "tensor/core.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- shared ------------------------------------------------------------------------------------------- */

/* A dataflow buffer of this many tiles. */
static tt_status add(struct tt_plan *plan, const ttnn_core_set *cores, uint64_t tiles,
		     enum ttnn_dtype dtype)
{
	uint64_t page = tt_tile_bytes_of(dtype);

	return tt_plan_add(plan, &(struct tt_plan_row){.kind = TT_MEMORY_DATAFLOW_BUFFER,
						       .size = tiles * page,
						       .page = page,
						       .cores = cores});
}

/* The extents of a product with its outer dimensions broadcast. */
static struct ttnn_shape product_shape(const struct ttnn_shape *a, const struct ttnn_shape *b,
				       bool turn_a, bool turn_b)
{
	struct ttnn_shape out = {.rank = a->rank > b->rank ? a->rank : b->rank};

	for (uint32_t back = 3; back <= out.rank; back++) {
		uint32_t x = tt_shape_last(a, back), y = tt_shape_last(b, back);

		out.dim[out.rank - back] = x > y ? x : y;
	}
	if (out.rank > 1)
		out.dim[out.rank - 2] = tt_shape_last(a, turn_a ? 1 : 2);
	out.dim[out.rank - 1] = tt_shape_last(b, turn_b ? 2 : 1);
	return out;
}

static tt_status infer_like(struct tt_launch *launch, const struct ttnn_shape *shape,
			    enum ttnn_dtype dtype, const struct ttnn_value *memory)
{
	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	return tt_spec_simple(&launch->specs[0], shape, dtype, TTNN_TILE,
			      memory->kind == TTNN_VALUE_MEMORY ? memory->memory
								: &launch->inputs[0]->spec.memory);
}

/* Launches a program with three inputs, the last of which may be missing. */
static tt_status launch_product(struct tt_call *call, const struct tt_prog *prog,
				const struct ttnn_value *attrs, struct tt_tensor *const *inputs)
{
	struct tt_tensor *output = tt_call_tensor(call, "output"), *out;

	TT_TRY(tt_call_program(&out, call,
			       &(struct tt_program_args){.prog = prog,
							 .attrs = attrs,
							 .inputs = inputs,
							 .input_count = 3,
							 .outputs = &output,
							 .output_count = 1}));
	tt_call_return(call, out);
	return TTNN_OK;
}

static struct ttnn_value memory_value(const struct tt_call *call, const struct tt_tensor *like)
{
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");

	return ttnn_v_memory(memory ? memory : &like->spec.memory);
}

/* ---- minimal_matmul --------------------------------------------------------------------------------------- */

enum { MIN_M, MIN_K, MIN_N, MIN_SUB_H, MIN_SUB_W, MIN_GRID, MIN_FIELDS };

static const struct tt_field min_config_fields[MIN_FIELDS] = {
	[MIN_M] = {.name = "M_block_size"},
	[MIN_K] = {.name = "K_block_size"},
	[MIN_N] = {.name = "N_block_size"},
	[MIN_SUB_H] = {.name = "subblock_h"},
	[MIN_SUB_W] = {.name = "subblock_w"},
	[MIN_GRID] = {.name = "compute_with_storage_grid_size"},
};
const struct tt_schema tt_schema_minimal_matmul = {"MinimalMatmulConfig", min_config_fields,
						   MIN_FIELDS, true};

enum {
	A_CONFIG,
	A_ACTIVATION,
	A_MEMORY,
	A_DTYPE,
	A_SCALAR,
	A_COMPUTE,
	A_CHUNKS,
	A_DIM,
	A_SWIGLU,
	A_COUNT
};
static const struct tt_field min_fields[A_COUNT] = {
	[A_CONFIG] = {.name = "config"},
	[A_ACTIVATION] = {.name = "fused_activation",
			  .text = TT_TEXT_FIXED,
			  .fixed = "<BasicUnaryWithParam>"},
	[A_MEMORY] = {.name = "output_mem_config"},
	[A_DTYPE] = {.name = "output_dtype"},
	[A_SCALAR] = {.name = "scalar"},
	[A_COMPUTE] = {.name = "compute_kernel_config"},
	[A_CHUNKS] = {.name = "chunks"},
	[A_DIM] = {.name = "dim"},
	[A_SWIGLU] = {.name = "fuse_swiglu"},
};
static const struct tt_schema min_schema = {"MinimalMatmulParams", min_fields, A_COUNT, false};

static tt_status min_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec;
	const struct ttnn_value *dtype = &launch->attrs[A_DTYPE];
	struct ttnn_shape shape = a->shape;

	shape.dim[shape.rank - 1] = tt_shape_last(&launch->inputs[1]->spec.shape, 1);
	return infer_like(launch, &shape,
			  tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : a->dtype,
			  &launch->attrs[A_MEMORY]);
}

static tt_status min_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec, *b = &launch->inputs[1]->spec;

	if (tt_dtype_is_integer(a->dtype) || tt_dtype_is_integer(b->dtype))
		return tt_fail_cond(
			TTNN_INVALID,
			"dtype_supported(act_tensor.dtype()) && "
			"dtype_supported(weight_tensor.dtype())",
			"minimal_matmul supports only BFLOAT16, BFLOAT8_B, BFLOAT4_B, and FLOAT32 "
			"for inputs");
	if (tt_shape_last(&a->shape, 1) != tt_shape_last(&b->shape, 2))
		return tt_fail_cond(
			TTNN_INVALID, "K == K_w",
			"minimal_matmul inner dimensions must match, got K=%u and K_w=%u",
			tt_shape_last(&a->shape, 1), tt_shape_last(&b->shape, 2));
	return TTNN_OK;
}

static uint64_t min_block(const struct tt_launch *launch, size_t field)
{
	const struct ttnn_value *config = &launch->attrs[A_CONFIG];
	int64_t size;

	if (config->kind == TTNN_VALUE_OBJECT && tt_value_integer(&size, &config->items[field]) &&
	    size > 0)
		return (uint64_t)size;
	return 8;
}

static tt_status min_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_value *config = &launch->attrs[A_CONFIG];
	bool fp32 = tt_compute_has(&launch->attrs[A_COMPUTE], TT_COMPUTE_FP32);
	uint64_t m = min_block(launch, MIN_M), k = min_block(launch, MIN_K);
	uint64_t n = min_block(launch, MIN_N);
	const ttnn_core_set *cores = launch->grid;

	if (config->kind == TTNN_VALUE_OBJECT && config->items[MIN_GRID].kind == TTNN_VALUE_CORE)
		TT_TRY(tt_core_set_grid(&cores, config->items[MIN_GRID].core.x,
					config->items[MIN_GRID].core.y));
	TT_TRY(add(plan, cores, 2 * m * k, launch->inputs[0]->spec.dtype));
	TT_TRY(add(plan, cores, 2 * k * n, launch->inputs[1]->spec.dtype));
	TT_TRY(add(plan, cores, 2 * m * n, launch->outputs[0]->spec.dtype));
	TT_TRY(add(plan, cores, m * n, fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16));
	return launch->inputs[2] ? add(plan, cores, n, launch->inputs[2]->spec.dtype) : TTNN_OK;
}

static tt_status min_kernel(struct tt_launch *launch)
{
	struct tt_unary_step post[TT_UNARY_STEPS_MAX];
	struct tt_matmul_job job = {.out = launch->outputs[0],
				    .a = launch->inputs[0],
				    .b = launch->inputs[1],
				    .alpha = 1,
				    .bias = launch->inputs[2],
				    .beta = 1,
				    .post = post};
	size_t count = 0;

	if (tt_value_given(&launch->attrs[A_ACTIVATION])) {
		struct ttnn_value chain = ttnn_v_list(&launch->attrs[A_ACTIVATION], 1);

		TT_TRY(tt_unary_steps(post, &count, &chain));
	}
	job.post_count = (uint32_t)count;
	return tt_backend_get()->matmul(&job);
}

static const struct tt_factory min_factories[] = {
	{.name = "ttnn::experimental::prim::MinimalMatmulDeviceOperation::ProgramFactory",
	 .memory = min_memory},
};
static const struct tt_prog min_program = {
	.device_op = "MinimalMatmulDeviceOperation",
	.prim = "ttnn::prim::minimal_matmul",
	.attrs = &min_schema,
	.infer = min_infer,
	.validate = min_validate,
	.factories = min_factories,
	.factory_count = 1,
	TT_KERNEL(min_kernel),
	.cost = tt_cost_product,
};

static tt_status expand_minimal(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {
		.fidelity = TT_HIFI2, .fp32 = true, .l1_acc = true};
	struct tt_tensor *const inputs[] = {tt_call_tensor(call, "input_tensor"),
					    tt_call_tensor(call, "weight_tensor"),
					    tt_call_tensor(call, "bias_tensor")};
	struct ttnn_value attrs[A_COUNT];

	if (tt_call_bool(call, "fuse_swiglu", false))
		return tt_fail(TTNN_UNSUPPORTED, "minimal_matmul does not support fuse_swiglu yet");
	attrs[A_CONFIG] = *tt_call_arg(call, "config");
	attrs[A_ACTIVATION] = *tt_call_arg(call, "fused_activation");
	attrs[A_MEMORY] = *tt_call_arg(call, "memory_config");
	attrs[A_DTYPE] = *tt_call_arg(call, "dtype");
	attrs[A_SCALAR] = ttnn_v_none();
	attrs[A_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	attrs[A_CHUNKS] = ttnn_v_int(1);
	attrs[A_DIM] = ttnn_v_int(-1);
	attrs[A_SWIGLU] = ttnn_v_bool(false);
	return launch_product(call, &min_program, attrs, inputs);
}

/* ---- moreh_matmul ---------------------------------------------------------------------------------------------- */

enum { B_TURN_A, B_TURN_B, B_MEMORY, B_COMPUTE, B_COUNT };
static const struct tt_field moreh_fields[B_COUNT] = {
	[B_TURN_A] = {.name = "transpose_input"},
	[B_TURN_B] = {.name = "transpose_other"},
	[B_MEMORY] = {.name = "output_memory_config"},
	[B_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema moreh_schema = {"operation_attributes_t", moreh_fields, B_COUNT,
					      false};

static tt_status moreh_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec;
	struct ttnn_shape shape =
		product_shape(&a->shape, &launch->inputs[1]->spec.shape,
			      launch->attrs[B_TURN_A].boolean, launch->attrs[B_TURN_B].boolean);

	return infer_like(launch, &shape, a->dtype, &launch->attrs[B_MEMORY]);
}

static tt_status moreh_validate(struct tt_launch *launch)
{
	static const char *const names[] = {"input", "other"};
	uint32_t ka = tt_shape_last(&launch->inputs[0]->spec.shape,
				    launch->attrs[B_TURN_A].boolean ? 2 : 1);
	uint32_t kb = tt_shape_last(&launch->inputs[1]->spec.shape,
				    launch->attrs[B_TURN_B].boolean ? 1 : 2);

	for (size_t i = 0; i < 2; i++)
		if (launch->inputs[i]->spec.dtype != TTNN_BFLOAT16)
			return tt_fail_cond(TTNN_INVALID, "dtype_supported",
					    "moreh_matmul %s only supports specific data types. "
					    "[BFLOAT16] ",
					    names[i]);
	if (ka != kb)
		return tt_fail_cond(TTNN_INVALID, "input_k == other_k",
				    "k must be the same. input_k %u, other_k %u", ka, kb);
	if (launch->inputs[2] && launch->inputs[2]->spec.shape.rank != 2)
		return tt_fail_cond(TTNN_INVALID, "bias_rank == 2",
				    "bias rank %u must be 2 (tilized).",
				    launch->inputs[2]->spec.shape.rank);
	return TTNN_OK;
}

/* Operands, masks of their edges, bias, sums and result; sums may be of float32. */
static tt_status moreh_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const struct {
		uint8_t tiles;
		bool sums;
	} rows[] = {{2, 0}, {2, 0}, {3, 0}, {3, 0}, {2, 0}, {1, 1}, {2, 0}, {2, 0}, {1, 1}, {2, 0}};
	bool fp32 = tt_compute_has(&launch->attrs[B_COMPUTE], TT_COMPUTE_FP32);
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     out->rows / out->tile.height * (out->cols / out->tile.width),
			     TTNN_ORIENT_COL_MAJOR));
	for (size_t i = 0; i < COUNT(rows); i++)
		TT_TRY(add(plan, split.all, rows[i].tiles,
			   rows[i].sums && fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16));
	return TTNN_OK;
}

static tt_status moreh_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->matmul(
		&(struct tt_matmul_job){.out = launch->outputs[0],
					.a = launch->inputs[0],
					.b = launch->inputs[1],
					.transpose_a = launch->attrs[B_TURN_A].boolean,
					.transpose_b = launch->attrs[B_TURN_B].boolean,
					.alpha = 1,
					.bias = launch->inputs[2],
					.beta = 1});
}

static const struct tt_factory moreh_factories[] = {
	{.name = "ttnn::operations::moreh::moreh_matmul::MorehMatmulOperation::MultiCoreProgramFactory",
	 .memory = moreh_memory},
};
static const struct tt_prog moreh_program = {
	.device_op = "MorehMatmulOperation",
	.prim = "ttnn::prim::moreh_matmul",
	.attrs = &moreh_schema,
	.infer = moreh_infer,
	.validate = moreh_validate,
	.factories = moreh_factories,
	.factory_count = 1,
	TT_KERNEL(moreh_kernel),
};

/* ---- moreh_dot ------------------------------------------------------------------------------------------------- */

enum { C_DTYPE, C_MEMORY, C_COMPUTE, C_COUNT };
static const struct tt_field dot_fields[C_COUNT] = {
	[C_DTYPE] = {.name = "dtype"},
	[C_MEMORY] = {.name = "memory_config"},
	[C_COMPUTE] = {.name = "compute_kernel_config"},
};
static const struct tt_schema dot_schema = {"operation_attributes_t", dot_fields, C_COUNT, false};

/* All extents but the last are 1. */
static bool is_row(const struct tt_tensor *tensor)
{
	uint64_t rows;

	return tt_shape_rows(&rows, &tensor->spec.shape) == TTNN_OK && rows == 1;
}

static tt_status dot_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[0]->spec;
	struct ttnn_shape shape = a->shape;

	shape.dim[shape.rank - 1] = 1;
	return infer_like(launch, &shape, a->dtype, &launch->attrs[C_MEMORY]);
}

static tt_status dot_validate(struct tt_launch *launch)
{
	static const char *const rows[] = {"is_1d_tensor(input_a)", "is_1d_tensor(input_b)"};
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;

	for (size_t i = 0; i < 2; i++)
		if (!is_row(launch->inputs[i]))
			return tt_fail_cond(TTNN_INVALID, rows[i],
					    "Invalid input tensor dimensions.");
	if (dtype != TTNN_BFLOAT16 && dtype != TTNN_BFLOAT8_B)
		return tt_fail_cond(TTNN_INVALID,
				    "input_a.dtype() == DataType::BFLOAT16 || input_a.dtype() == "
				    "DataType::BFLOAT8_B",
				    "Unsupported data format");
	return TTNN_OK;
}

static tt_status dot_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	static const uint8_t tiles[] = {2, 2, 1, 2, 1, 1};
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	for (size_t i = 0; i < COUNT(tiles); i++)
		TT_TRY(add(plan, one, tiles[i], launch->inputs[0]->spec.dtype));
	return TTNN_OK;
}

static tt_status dot_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->matmul(&(struct tt_matmul_job){.out = launch->outputs[0],
								.a = launch->inputs[0],
								.b = launch->inputs[1],
								.transpose_b = true,
								.alpha = 1,
								.beta = 1});
}

static const struct tt_factory dot_factories[] = {
	{.name = "ttnn::operations::moreh::moreh_dot::MorehDotOperation::ProgramFactory",
	 .memory = dot_memory},
};
static const struct tt_prog dot_program = {
	.device_op = "MorehDotOperation",
	.prim = "ttnn::prim::moreh_dot",
	.attrs = &dot_schema,
	.infer = dot_infer,
	.validate = dot_validate,
	.factories = dot_factories,
	.factory_count = 1,
	TT_KERNEL(dot_kernel),
};

static tt_status launch_dot(struct tt_call *call, struct tt_tensor *a, struct tt_tensor *b)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct tt_tensor *const inputs[] = {a, b, NULL};
	struct ttnn_value attrs[C_COUNT];

	attrs[C_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype));
	attrs[C_MEMORY] = memory_value(call, a);
	attrs[C_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return launch_product(call, &dot_program, attrs, inputs);
}

/* ---- the operations ----------------------------------------------------------------------------------------------- */

static tt_status expand_moreh(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};
	struct tt_tensor *const inputs[] = {tt_call_tensor(call, "input"),
					    tt_call_tensor(call, "other"),
					    tt_call_tensor(call, "bias")};
	bool turned = tt_call_bool(call, "transpose_input", false) ||
		      tt_call_bool(call, "transpose_other", false);
	struct ttnn_value attrs[B_COUNT];

	if (!turned && inputs[0]->spec.shape.rank > 1 && is_row(inputs[0]) && is_row(inputs[1]) &&
	    ttnn_shape_equal(&inputs[0]->spec.shape, &inputs[1]->spec.shape))
		return launch_dot(call, inputs[0], inputs[1]);
	attrs[B_TURN_A] = ttnn_v_bool(tt_call_bool(call, "transpose_input", false));
	attrs[B_TURN_B] = ttnn_v_bool(tt_call_bool(call, "transpose_other", false));
	attrs[B_MEMORY] = memory_value(call, inputs[0]);
	attrs[B_COMPUTE] =
		tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
	return launch_product(call, &moreh_program, attrs, inputs);
}

static tt_status expand_dot(struct tt_call *call)
{
	return launch_dot(call, tt_call_tensor(call, "input_tensor_a"),
			  tt_call_tensor(call, "input_tensor_b"));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.minimal_matmul",
	 .family = "matmul_other",
	 .doc = "The matrix product of a tensor and one matrix, in blocks of a given size.",
	 .sigs = {"input_tensor: Tensor, weight_tensor: Tensor, *, bias_tensor: Tensor ? = None, "
		  "fused_activation: UnaryWithParam ? = None, config: ProgramConfig ? = None, "
		  "memory_config: MemoryConfig ? = None, dtype: DataType ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None, fuse_swiglu: bool = False"},
	 .expand = expand_minimal,
	 .golden = tt_golden_minimal_matmul,
	 .pcc = 0.999},
	{.name = "ttnn.moreh_dot",
	 .family = "matmul_other",
	 .doc = "The product of two vectors.",
	 .sigs = {"input_tensor_a: Tensor, input_tensor_b: Tensor, *, output: Tensor ? = None, "
		  "dtype: DataType ? = None, memory_config: MemoryConfig ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None"},
	 .expand = expand_dot,
	 .golden = tt_golden_moreh_dot,
	 .pcc = 0.999},
	{.name = "ttnn.moreh_matmul",
	 .family = "matmul_other",
	 .doc = "The matrix product of two tensors; outer dimensions are broadcast.",
	 .sigs = {"input: Tensor, other: Tensor, *, transpose_input: bool = False, "
		  "transpose_other: bool = False, output: Tensor ? = None, "
		  "bias: Tensor ? = None, memory_config: MemoryConfig ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None"},
	 .expand = expand_moreh,
	 .golden = tt_golden_moreh_matmul,
	 .pcc = 0.999},
};

const struct tt_op_family tt_family_matmul_other = {"matmul_other", ops, COUNT(ops)};
