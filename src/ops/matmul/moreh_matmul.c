/*
 * moreh_matmul.c: products by the programs named moreh_, which training uses. Their blocks are single tiles.
 *
 * Models MorehMatmulOperation and MorehDotOperation of ttnn 0.81, each with its one factory: refusals, memory,
 * cores. Not modelled: which part of the sums is kept in bfloat16 on the way.
 */
#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/usual.h"

/* ---- moreh_matmul -------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(TRANSPOSE_A, "transpose_input")                                                          \
	X(TRANSPOSE_B, "transpose_other")                                                          \
	X(MEMORY, "output_memory_config")                                                          \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { A, B, BIAS };

/* The extents of a product with its outer dimensions broadcast. */
static struct ttnn_shape product_shape(const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.shape;
	struct ttnn_shape out = {.rank = a->rank > b->rank ? a->rank : b->rank};

	if (!out.rank) /* of two scalars */
		return (struct ttnn_shape){2, {1, 1}};
	for (uint32_t back = 3; back <= out.rank; back++) {
		uint32_t x = tt_shape_last(a, back), y = tt_shape_last(b, back);

		out.dim[out.rank - back] = x > y ? x : y;
	}
	if (out.rank > 1)
		out.dim[out.rank - 2] =
			tt_shape_last(a, launch->attrs[TRANSPOSE_A].boolean ? 1 : 2);
	out.dim[out.rank - 1] = tt_shape_last(b, launch->attrs[TRANSPOSE_B].boolean ? 2 : 1);
	return out;
}

static tt_status moreh_matmul_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = product_shape(launch);

	return tt_infer_one(launch, &shape, launch->inputs[A]->spec.dtype, TTNN_TILE);
}

/* Only bfloat16; the depth is counted after transposition. */
static tt_status moreh_matmul_validate(struct tt_launch *launch)
{
	static const char *const names[] = {"input", "other"};
	uint32_t ka = tt_shape_last(&launch->inputs[A]->spec.shape,
				    launch->attrs[TRANSPOSE_A].boolean ? 2 : 1);
	uint32_t kb = tt_shape_last(&launch->inputs[B]->spec.shape,
				    launch->attrs[TRANSPOSE_B].boolean ? 1 : 2);
	const struct tt_tensor *bias = launch->inputs[BIAS];

	for (size_t i = 0; i < TT_COUNT(names); i++)
		TT_REQUIRE(launch->inputs[i]->spec.dtype == TTNN_BFLOAT16, "dtype_supported",
			   "moreh_matmul %s only supports specific data types. [BFLOAT16] ",
			   names[i]);
	TT_REQUIRE(ka == kb, "input_k == other_k", "k must be the same. input_k %u, other_k %u", ka,
		   kb);
	TT_REQUIRE(!bias || bias->spec.shape.rank == 2, "bias_rank == 2",
		   "bias rank %u must be 2 (tilized).", bias->spec.shape.rank);
	return TTNN_OK;
}

/*
 * Tiles of the result are given out column by column; each is summed over K one pair of tiles at a
 * time.
 */
static tt_status moreh_matmul_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	bool fp32 = tt_compute_has(&launch->attrs[COMPUTE], TT_COMPUTE_FP32);
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t sums = tt_tile_bytes_of(fp32 ? TTNN_FLOAT32 : TTNN_BFLOAT16);
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid,
			     out->rows / out->tile.height * (out->cols / out->tile.width),
			     TTNN_ORIENT_COL_MAJOR));
	return TT_PLAN(plan, split.all, TT_DFB_ROW(0, "in0", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "in1", .pages = 2, .page = tile),
		       TT_DFB_ROW(2, "in2", .pages = 3, .page = tile), /* masks of edges */
		       TT_DFB_ROW(3, "in3", .pages = 3, .page = tile),
		       TT_DFB_ROW(4, "in4", .pages = 2, .page = tile), /* bias */
		       TT_DFB_ROW(24, "im0", .pages = 1, .page = sums),
		       TT_DFB_ROW(25, "im1", .pages = 2, .page = tile), /* transposed */
		       TT_DFB_ROW(26, "im2", .pages = 2, .page = tile),
		       TT_DFB_ROW(27, "im3", .pages = 1, .page = sums),
		       TT_DFB_ROW(16, "out0", .pages = 2, .page = tile));
}

/* Transpositions are flags of the job: no tensor is transposed. */
static tt_status moreh_matmul_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->matmul(
		&(struct tt_matmul_job){.out = launch->outputs[0],
					.a = launch->inputs[A],
					.b = launch->inputs[B],
					.transpose_a = launch->attrs[TRANSPOSE_A].boolean,
					.transpose_b = launch->attrs[TRANSPOSE_B].boolean,
					.alpha = 1,
					.bias = launch->inputs[BIAS],
					.beta = 1});
}

static const struct tt_prog matmul_program = {
	.device_op = "MorehMatmulOperation",
	.prim = "ttnn::prim::moreh_matmul",
	.attrs = &schema,
	.infer = moreh_matmul_infer,
	.validate = moreh_matmul_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_matmul::MorehMatmulOperation::"
		   "MultiCoreProgramFactory",
		   moreh_matmul_memory),
	TT_KERNEL(moreh_matmul_kernel),
};

/* ---- moreh_dot ----------------------------------------------------------------------------------- */

#define DOT_ATTRS(X)                                                                               \
	X(DOT_DTYPE, "dtype")                                                                      \
	X(DOT_MEMORY, "memory_config")                                                             \
	X(DOT_COMPUTE, "compute_kernel_config")
TT_ATTRS(dot_schema, "operation_attributes_t", DOT_ATTRS);

/* All extents but the last are 1. */
static bool is_row(const struct tt_tensor *tensor)
{
	uint64_t rows;

	return tt_shape_rows(&rows, &tensor->spec.shape) == TTNN_OK && rows == 1;
}

/* The result is one number in a tile of its own: a's shape with a last extent of 1. */
static tt_status moreh_dot_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;
	struct ttnn_shape shape = a->shape;

	TT_NEED(shape.rank, "ShapeBase[] index out of range. 3 not in [-4, 0)");
	shape.dim[shape.rank - 1] = 1;
	return tt_infer_one(launch, &shape, a->dtype, TTNN_TILE);
}

/* Both operands are one row. */
static tt_status moreh_dot_validate(struct tt_launch *launch)
{
	static const char *const rows[] = {"is_1d_tensor(input_a)", "is_1d_tensor(input_b)"};
	enum ttnn_dtype dtype = launch->inputs[A]->spec.dtype;

	for (size_t i = 0; i < TT_COUNT(rows); i++)
		TT_REQUIRE(is_row(launch->inputs[i]), rows[i], "Invalid input tensor dimensions.");
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B,
		   "input_a.dtype() == DataType::BFLOAT16 || input_a.dtype() == "
		   "DataType::BFLOAT8_B",
		   "Unsupported data format");
	return TTNN_OK;
}

/* One core does all of it; the scaler is the tile of ones that sums a row. */
static tt_status moreh_dot_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t tile = tt_tile_bytes_of(launch->inputs[A]->spec.dtype);
	const ttnn_core_set *one;

	TT_TRY(tt_core_set_grid(&one, 1, 1));
	return TT_PLAN(plan, one, TT_DFB_ROW(0, "in0", .pages = 2, .page = tile),
		       TT_DFB_ROW(1, "in1", .pages = 2, .page = tile),
		       TT_DFB_ROW(2, "scaler", .pages = 1, .page = tile),
		       TT_DFB_ROW(16, "out", .pages = 2, .page = tile),
		       TT_DFB_ROW(24, "im0", .pages = 1, .page = tile),
		       TT_DFB_ROW(25, "im1", .pages = 1, .page = tile));
}

/* A row times a row, transposed: one number. */
static tt_status moreh_dot_kernel(struct tt_launch *launch)
{
	return tt_backend_get()->matmul(&(struct tt_matmul_job){.out = launch->outputs[0],
								.a = launch->inputs[A],
								.b = launch->inputs[B],
								.transpose_b = true,
								.alpha = 1,
								.beta = 1});
}

static const struct tt_prog dot_program = {
	.device_op = "MorehDotOperation",
	.prim = "ttnn::prim::moreh_dot",
	.attrs = &dot_schema,
	.infer = moreh_dot_infer,
	.validate = moreh_dot_validate,
	TT_FACTORY("ttnn::operations::moreh::moreh_dot::MorehDotOperation::ProgramFactory",
		   moreh_dot_memory),
	TT_KERNEL(moreh_dot_kernel),
};

/* ---- the operations ------------------------------------------------------------------------------ */

/* Two vectors take this program also when matmul was asked for. */
static tt_status launch_dot(struct tt_call *call, struct tt_tensor *a, struct tt_tensor *b)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};

	return TT_LAUNCH_RETURN(
		call, &dot_program, TT_INPUTS(a, b, NULL),
		TT_OUTPUTS(tt_call_tensor(call, "output")),
		TT_BIND(call, dot_schema,
			[DOT_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[DOT_MEMORY] = tt_value_memory_or_like(call, a),
			[DOT_COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static tt_status moreh_dot_expand(struct tt_call *call)
{
	return launch_dot(call, tt_call_tensor(call, "input_tensor_a"),
			  tt_call_tensor(call, "input_tensor_b"));
}

/* Two rows of the same shape go to the program of moreh_dot. */
static tt_status moreh_matmul_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};
	struct tt_tensor *a = tt_call_tensor(call, "input"), *b = tt_call_tensor(call, "other");
	bool transposes = tt_call_bool(call, "transpose_input", false) ||
			  tt_call_bool(call, "transpose_other", false);

	if (!transposes && a->spec.shape.rank > 1 && is_row(a) && is_row(b) &&
	    ttnn_shape_equal(&a->spec.shape, &b->spec.shape))
		return launch_dot(call, a, b);
	return TT_LAUNCH_RETURN(
		call, &matmul_program, TT_INPUTS(a, b, tt_call_tensor(call, "bias")),
		TT_OUTPUTS(tt_call_tensor(call, "output")),
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, a),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.moreh_dot",
	 .doc = "The product of two vectors.",
	 .sigs = {"input_tensor_a: Tensor, input_tensor_b: Tensor, *, output: Tensor ? = None, "
		  "dtype: DataType ? = None, memory_config: MemoryConfig ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None"},
	 .expand = moreh_dot_expand,
	 .golden = tt_golden_moreh_dot},
	{.name = "ttnn.moreh_matmul",
	 .doc = "The matrix product of two tensors; outer dimensions are broadcast.",
	 .sigs = {"input: Tensor, other: Tensor, *, transpose_input: bool = False, "
		  "transpose_other: bool = False, output: Tensor ? = None, "
		  "bias: Tensor ? = None, memory_config: MemoryConfig ? = None, "
		  "compute_kernel_config: ComputeConfig ? = None"},
	 .expand = moreh_matmul_expand,
	 .golden = tt_golden_moreh_matmul},
};

const struct tt_op_family tt_family_moreh_matmul = {"moreh_matmul", ops, TT_COUNT(ops)};
