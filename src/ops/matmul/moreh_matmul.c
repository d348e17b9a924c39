/*
 * moreh_matmul.c: products by the programs named moreh_, which training uses. Their blocks are single tiles.
 *
 * Models MorehMatmulOperation and MorehDotOperation of ttnn 0.81, each with its one factory: refusals, memory,
 * cores. Not modelled: which part of the sums is kept in bfloat16 on the way.
 */
#include "backend/backend.h"
#include "golden/golden_matmul.h"
#include "golden/golden_moreh.h"
#include "ops/compute.h"
#include "ops/matmul/matmul.h"
#include "ops/moreh.h"
#include "ops/usual.h"

/* ---- moreh_matmul -------------------------------------------------------------------------------- */

#define ATTRS(X)                                                                                   \
	X(TRANSPOSE_A, "transpose_input")                                                          \
	X(TRANSPOSE_B, "transpose_other")                                                          \
	X(MEMORY, "output_memory_config")                                                          \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "operation_attributes_t", ATTRS);
enum { A, B, GIVEN, BIAS };

/* The extents of a product with its outer dimensions broadcast. */
static struct ttnn_shape product_shape(const struct tt_launch *launch)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.shape;
	struct ttnn_shape out = {.rank = a->rank > b->rank ? a->rank : b->rank};

	out.rank = out.rank < 2 ? 2 : out.rank;
	for (uint32_t back = 3; back <= out.rank; back++) {
		uint32_t x = tt_shape_last(a, back), y = tt_shape_last(b, back);

		out.dim[out.rank - back] = x > y ? x : y;
	}
	out.dim[out.rank - 2] = tt_shape_last(a, launch->attrs[TRANSPOSE_A].boolean ? 1 : 2);
	out.dim[out.rank - 1] = tt_shape_last(b, launch->attrs[TRANSPOSE_B].boolean ? 2 : 1);
	return out;
}

static tt_status moreh_matmul_infer(struct tt_launch *launch)
{
	struct ttnn_shape shape = product_shape(launch);

	return tt_infer_one(launch, &shape, launch->inputs[A]->spec.dtype, TTNN_TILE);
}

/* Outer dimensions of a given output are those of the broadcast. */
static tt_status check_given_product(const struct tt_launch *launch, uint32_t m, uint32_t n)
{
	const struct ttnn_shape *a = &launch->inputs[A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.shape, *out;

	if (!launch->inputs[GIVEN])
		return TTNN_OK;
	out = &launch->inputs[GIVEN]->spec.shape;
	TT_REQUIRE(m == tt_shape_last(out, 2), "input_m == output_m",
		   "m must be the same. input_m %u, output_m %u", m, tt_shape_last(out, 2));
	TT_REQUIRE(n == tt_shape_last(out, 1), "other_n == output_n",
		   "n must be the same. other_n %u, output_n %u", n, tt_shape_last(out, 1));
	for (uint32_t i = 2; i < TTNN_MAX_RANK; i++) {
		uint32_t x = tt_shape_last(a, i + 1), y = tt_shape_last(b, i + 1);
		uint32_t larger = x > y ? x : y;

		TT_REQUIRE(larger == tt_shape_last(out, i + 1),
			   "std::max(input_dim[i], other_dim[i]) == output_dim[i]",
			   "%uth max(input_dim[i], other_dim[i]) %u must be the same as "
			   "output_dim[i] %u",
			   i, larger, tt_shape_last(out, i + 1));
	}
	return TTNN_OK;
}

/* One row, or one number for all. */
static tt_status check_bias(const struct tt_tensor *bias, uint32_t n)
{
	uint32_t width;

	if (!bias)
		return TTNN_OK;
	width = tt_shape_last(&bias->spec.shape, 1);
	TT_REQUIRE(bias->spec.shape.rank == 2, "bias_rank == 2",
		   "bias rank %u must be 2 (tilized).", bias->spec.shape.rank);
	TT_REQUIRE(width == 1 || width == n, "bias_w == 1 || bias_w == other_n",
		   "bias_w must be one or the same as other_n. bias_w %u, other_n %u", width, n);
	return TTNN_OK;
}

/* Only bfloat16; the depth is counted after transposition. */
static tt_status moreh_matmul_validate(struct tt_launch *launch)
{
	static const struct tt_moreh_names names = {
		.program = "moreh_matmul",
		.tensors = {[A] = "input", [B] = "other", [GIVEN] = "output", [BIAS] = "bias"}};
	const struct ttnn_shape *a = &launch->inputs[A]->spec.shape;
	const struct ttnn_shape *b = &launch->inputs[B]->spec.shape;
	uint32_t turned_a = launch->attrs[TRANSPOSE_A].boolean,
		 turned_b = launch->attrs[TRANSPOSE_B].boolean;
	uint32_t ka = tt_shape_last(a, 1 + turned_a), kb = tt_shape_last(b, 2 - turned_b);
	uint32_t m = tt_shape_last(a, 2 - turned_a), n = tt_shape_last(b, 1 + turned_b);

	TT_TRY(tt_moreh_check(launch, &names));
	TT_REQUIRE(ka == kb, "input_k == other_k", "k must be the same. input_k %u, other_k %u", ka,
		   kb);
	for (uint32_t i = 2; i < TTNN_MAX_RANK; i++) {
		uint32_t x = tt_shape_last(a, i + 1), y = tt_shape_last(b, i + 1);

		TT_REQUIRE(x == y || x == 1 || y == 1, "input_dim[i] == 1 || other_dim[i] == 1",
			   "one of dim must be one. %uth dim input_dim %u, other_dim %u", i, x, y);
	}
	TT_TRY(check_given_product(launch, m, n));
	return check_bias(launch->inputs[BIAS], n);
}

/*
 * Tiles of the result are given out column by column; each is summed over K one pair of tiles at a
 * time.
 */
static tt_status moreh_matmul_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *out = &launch->outputs[0]->spec;
	uint64_t tile = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t sums = tt_moreh_sum_bytes(&launch->attrs[COMPUTE], TTNN_BFLOAT16);
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

/* The result is one number in a tile of its own: a's shape with a last extent of 1. */
static tt_status moreh_dot_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *a = &launch->inputs[A]->spec;
	struct ttnn_shape shape = a->shape;

	if (tt_infer_given(launch, 0))
		return TTNN_OK;
	TT_REQUIRE(shape.rank > 3, "tt::exception",
		   "ShapeBase[] index out of range. 3 not in [-4, %u)", shape.rank);
	shape.dim[3] = 1;
	return tt_infer_one(launch, &shape, a->dtype, a->layout);
}

/* Both operands are one row. */
static tt_status moreh_dot_validate(struct tt_launch *launch)
{
	static const char *const rows[] = {"is_1d_tensor(input_a)", "is_1d_tensor(input_b)"};
	enum ttnn_dtype dtype = launch->inputs[A]->spec.dtype;

	for (size_t i = 0; i < TT_COUNT(rows); i++)
		TT_REQUIRE(tt_moreh_is_row(launch->inputs[i]), rows[i],
			   "Invalid input tensor dimensions.");
	TT_REQUIRE(tt_shape_last(&launch->inputs[A]->spec.shape, 1) ==
			   tt_shape_last(&launch->inputs[B]->spec.shape, 1),
		   "a_shape_wo_padding[3] == b_shape_wo_padding[3]",
		   "Shape without padding must be the same.");
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
	struct tt_tensor *given = tt_call_tensor(call, "output");

	return TT_LAUNCH_RETURN(
		call, &dot_program, TT_INPUTS(a, b, given), TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, dot_schema,
			[DOT_DTYPE] = ttnn_v_dtype(tt_call_dtype(call, "dtype", a->spec.dtype)),
			[DOT_MEMORY] = tt_value_memory_or_like(call, a),
			[DOT_COMPUTE] = tt_moreh_compute(call)));
}

static tt_status moreh_dot_expand(struct tt_call *call)
{
	return launch_dot(call, tt_call_tensor(call, "input_tensor_a"),
			  tt_call_tensor(call, "input_tensor_b"));
}

/* Two rows of four dimensions and the same shape go to the program of moreh_dot. */
static tt_status moreh_matmul_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_LOFI, .approx = true};
	struct tt_tensor *a = tt_call_tensor(call, "input"), *b = tt_call_tensor(call, "other");
	struct tt_tensor *given = tt_call_tensor(call, "output");
	bool transposes = tt_call_bool(call, "transpose_input", false) ||
			  tt_call_bool(call, "transpose_other", false);

	if (!transposes && a->spec.shape.rank == 4 && tt_moreh_is_row(a) && tt_moreh_is_row(b) &&
	    ttnn_shape_equal(&a->spec.shape, &b->spec.shape))
		return launch_dot(call, a, b);
	return TT_LAUNCH_RETURN(
		call, &matmul_program, TT_INPUTS(a, b, given, tt_call_tensor(call, "bias")),
		TT_OUTPUTS(given), .in_place = true,
		TT_BIND(call, schema, [MEMORY] = tt_value_memory_or_like(call, a),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

/* The product under two more names, with its arguments under theirs. */
static tt_status moreh_bmm_expand(struct tt_call *call)
{
	return TT_CALL_RETURN(
		call, "ttnn.moreh_matmul", {"input", *tt_call_arg(call, "input")},
		{"other", *tt_call_arg(call, "mat2")}, {"output", *tt_call_arg(call, "output")},
		{"memory_config", *tt_call_arg(call, "memory_config")},
		{"compute_kernel_config", *tt_call_arg(call, "compute_kernel_config")});
}

static tt_status moreh_linear_expand(struct tt_call *call)
{
	return TT_CALL_RETURN(
		call, "ttnn.moreh_matmul", {"input", *tt_call_arg(call, "input")},
		{"other", *tt_call_arg(call, "weight")}, {"transpose_other", ttnn_v_bool(true)},
		{"bias", *tt_call_arg(call, "bias")}, {"output", *tt_call_arg(call, "output")},
		{"memory_config", *tt_call_arg(call, "memory_config")},
		{"compute_kernel_config", *tt_call_arg(call, "compute_kernel_config")});
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
	{.name = "ttnn.moreh_bmm",
	 .doc = "The matrix products of two batches.",
	 .sigs = {"input: Tensor, mat2: Tensor, *, output: Tensor? = None, memory_config: "
		  "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None"},
	 .expand = moreh_bmm_expand,
	 .golden = tt_golden_moreh_bmm},
	{.name = "ttnn.moreh_linear",
	 .doc = "The product with a transposed matrix of weights, plus a bias.",
	 .sigs = {"input: Tensor, weight: Tensor, *, bias: Tensor? = None, output: Tensor? = None, "
		  "memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = "
		  "None"},
	 .expand = moreh_linear_expand,
	 .golden = tt_golden_moreh_linear},
};

const struct tt_op_family tt_family_moreh_matmul = {"moreh_matmul", ops, TT_COUNT(ops)};
