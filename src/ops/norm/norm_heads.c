/*
 * norm_heads.c: rms_norm of rows that lie across devices, in two halves. The second gives the heads of each row as a
 * dimension of their own, and rotates them by position if it gets the tables for it.
 *
 * Models FusedRMSNormPreAllGatherDeviceOperation and FusedRMSNormPostAllGatherDeviceOperation of ttnn 0.81 with a factory
 * each: refusals, memory, cores.
 */
#include "backend/backend.h"
#include "golden/golden_norm.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/norm/layer_norm.h"

static uint64_t tile_of(const struct tt_tensor *tensor)
{
	return tensor ? tt_tile_bytes_of(tensor->spec.dtype) : 0;
}

/* ---- before the gathering --------------------------------------------------------------------------- */

#define BEFORE_ATTRS(X)                                                                            \
	X(BEFORE_DTYPE, "dtype")                                                                   \
	X(BEFORE_COMPUTE, "compute_kernel_config")
TT_ATTRS(before_schema, "FusedRmsnormPreAllGatherParams", BEFORE_ATTRS);

/* A tile for each row, where the input lies. */
static tt_status heads_before_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	struct ttnn_shape shape = in->shape;

	if (!shape.rank)
		return tt_need_dim(&shape, 3);
	shape.dim[shape.rank - 1] = TT_TILE;
	return tt_spec_simple(&launch->specs[0], &shape,
			      (enum ttnn_dtype)launch->attrs[BEFORE_DTYPE].integer, TTNN_TILE,
			      &in->memory);
}

static tt_status heads_before_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;

	TT_REQUIRE(in->layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "Input tensor must have TILE layout, got: Layout::%s",
		   tt_enum_name(&tt_enum_layout, in->layout));
	TT_REQUIRE(in->memory.layout == TTNN_INTERLEAVED,
		   "tensor.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Input tensor must use INTERLEAVED memory layout, got: TensorMemoryLayout::%s",
		   tt_enum_name(&tt_enum_memory_layout, in->memory.layout));
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16, "tensor.dtype() == DataType::BFLOAT16",
		   "Input tensor must be BFLOAT16, got: DataType::%s",
		   ttnn_dtype_name(in->dtype, TTNN_DIALECT_TT_METAL));
	return TTNN_OK;
}

static tt_status heads_before_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t block = tt_compute_tiles(&launch->attrs[BEFORE_COMPUTE]);

	return TT_PLAN(
		plan, launch->grid,
		TT_CB_ROW(0, "input", .pages = 2 * block, .page = tile_of(launch->inputs[0])),
		TT_CB_ROW(1, "reduce_scalar", .pages = 1, .page = tt_tile_bytes_of(TTNN_BFLOAT16)),
		TT_CB_ROW(2, "intermediate", .pages = 1, .page = tt_tile_bytes_of(TTNN_FLOAT32)),
		TT_CB_ROW(3, "output", .pages = 2, .page = tile_of(launch->outputs[0])));
}

static tt_status heads_before_kernel(struct tt_launch *launch)
{
	return tt_norm_sums(&(struct tt_norm_job){.out = launch->outputs[0],
						  .in = launch->inputs[0],
						  .kind = TT_NORM_RMS},
			    false);
}

static const struct tt_prog before_program = {
	.device_op = "FusedRMSNormPreAllGatherDeviceOperation",
	.prim = "ttnn::prim::fused_rmsnorm_pre_all_gather",
	.attrs = &before_schema,
	.infer = heads_before_infer,
	.validate = heads_before_validate,
	TT_FACTORY("ttnn::experimental::prim::FusedRMSNormPreAllGatherProgramFactory",
		   heads_before_rows),
	TT_KERNEL(heads_before_kernel),
};

/* ---- after it: refusals ------------------------------------------------------------------------------ */

#define AFTER_ATTRS(X)                                                                             \
	X(AFTER_EPS, "eps")                                                                        \
	X(AFTER_HEADS, "num_heads")                                                                \
	X(AFTER_MEMORY, "memory_config")                                                           \
	X(AFTER_COMPUTE, "compute_kernel_config")                                                  \
	X(AFTER_DTYPE, "dtype")
TT_ATTRS(after_schema, "FusedRmsnormPostAllGatherParams", AFTER_ATTRS);
enum { IN, STATS, WEIGHT, MATRIX, COS, SIN, INPUTS };

static tt_status heads_after_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const struct ttnn_value *dtype = &launch->attrs[AFTER_DTYPE];
	uint32_t heads = (uint32_t)launch->attrs[AFTER_HEADS].integer;
	struct ttnn_shape shape = in->shape;

	TT_TRY(tt_need_dim(&shape, 3));
	TT_NEED(heads, "there must be heads");
	shape.dim[1] = heads;
	shape.dim[3] /= heads;
	return tt_infer_one(launch, &shape,
			    tt_value_given(dtype) ? (enum ttnn_dtype)dtype->integer : in->dtype,
			    TTNN_TILE);
}

static tt_status check_kind(const struct tt_tensor *tensor, const char *name, bool float32)
{
	enum ttnn_dtype dtype = tensor->spec.dtype;

	TT_REQUIRE(tensor->spec.layout == TTNN_TILE, "tensor.layout() == Layout::TILE",
		   "%s tensor must have TILE layout, got: Layout::%s", name,
		   tt_enum_name(&tt_enum_layout, tensor->spec.layout));
	TT_REQUIRE(dtype == TTNN_BFLOAT16 || (float32 && dtype == TTNN_FLOAT32),
		   float32 ? "tensor.dtype() == DataType::BFLOAT16 || tensor.dtype() == "
			     "DataType::FLOAT32"
			   : "tensor.dtype() == DataType::BFLOAT16",
		   "%s tensor must be BFLOAT16%s, got: DataType::%s", name,
		   float32 ? " or FLOAT32" : "", ttnn_dtype_name(dtype, TTNN_DIALECT_TT_METAL));
	return TTNN_OK;
}

static tt_status check_stats(const struct tt_launch *launch)
{
	const struct ttnn_shape *in = &launch->inputs[IN]->spec.padded;
	const struct ttnn_shape *stats = &launch->inputs[STATS]->spec.padded;

	TT_REQUIRE(tt_shape_last(stats, 1) % TT_TILE == 0,
		   "stats.padded_shape()[-1] % TILE_WIDTH == 0",
		   "Stats inner dimension must be divisible by TILE_WIDTH (32), got: %u",
		   tt_shape_last(stats, 1));
	TT_REQUIRE(stats->rank == in->rank,
		   "stats.padded_shape().size() == a.padded_shape().size()",
		   "Stats and input must have same number of dimensions");
	for (uint32_t i = 0; i + 1 < in->rank; i++)
		TT_REQUIRE(stats->dim[i] == in->dim[i],
			   "stats.padded_shape()[i] == a.padded_shape()[i]",
			   "Stats and input dim%u must match, got stats: %u vs input: %u", i,
			   stats->dim[i], in->dim[i]);
	return TTNN_OK;
}

static tt_status check_heads(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	uint32_t heads = (uint32_t)launch->attrs[AFTER_HEADS].integer;
	uint32_t width = tt_shape_last(&in->padded, 1), own = tt_shape_last(&in->shape, 1);

	TT_REQUIRE(width % heads == 0, "a.padded_shape()[-1] % args.num_heads == 0",
		   "Input last dimension must be divisible by number of heads, got hidden_dim: %u "
		   "vs num_heads: %u",
		   width, heads);
	TT_REQUIRE(own == width, "a.logical_shape()[-1] == a.padded_shape()[-1]",
		   "Input last dimension must be the same as padded last dimension, got "
		   "logical_dim: %u vs padded_dim: %u",
		   own, width);
	TT_REQUIRE(in->shape.rank == 4, "a.logical_shape().rank() == 4",
		   "Input must have rank 4, got: %u", in->shape.rank);
	TT_REQUIRE(in->shape.dim[1] == 1, "a.logical_shape()[1] == 1",
		   "Input dim 1 must be 1, got: %u", in->shape.dim[1]);
	TT_REQUIRE(in->shape.dim[0] == 1, "a.logical_shape()[0] == 1",
		   "Expecting input batch dimension to be 1, got: %u", in->shape.dim[0]);
	return TTNN_OK;
}

static tt_status check_weight(const struct tt_launch *launch)
{
	const struct tt_tensor *weight = launch->inputs[WEIGHT];
	uint32_t width = tt_shape_last(&launch->inputs[IN]->spec.padded, 1);

	if (!weight)
		return TTNN_OK;
	TT_TRY(check_kind(weight, "Weight", false));
	TT_REQUIRE(weight->spec.padded.rank == 2, "weight.padded_shape().size() == 2",
		   "Weight tensor must have 2 dimensions, got: %u", weight->spec.padded.rank);
	TT_REQUIRE(weight->spec.padded.dim[1] == width,
		   "weight.padded_shape()[-1] == a.padded_shape()[-1]",
		   "Weight tensor must have same last dimension as input, got: %u vs %u",
		   weight->spec.padded.dim[1], width);
	TT_REQUIRE(weight->spec.shape.dim[0] == 1, "weight.logical_shape()[0] == 1",
		   "Weight tensor must have batch dimension of 1, got: %u",
		   weight->spec.shape.dim[0]);
	return TTNN_OK;
}

/* Cosines or sines: a row for each row of the input, as wide as a head. */
static tt_status check_angles(const struct tt_launch *launch, const struct tt_tensor *angles)
{
	const uint32_t *in = launch->inputs[IN]->spec.padded.dim, *own = angles->spec.padded.dim;
	uint32_t width = in[3] / (uint32_t)launch->attrs[AFTER_HEADS].integer;

	TT_REQUIRE(angles->spec.padded.rank == 4, "rope_tensor.get().padded_shape().size() == 4",
		   "Rope tensor must have 4 dimensions, got: %u", angles->spec.padded.rank);
	TT_REQUIRE(own[0] == 1 && own[1] == 1 && own[2] == in[2] && own[3] == width,
		   "rope_tensor.get().padded_shape()[0] == 1 && "
		   "rope_tensor.get().padded_shape()[1] == 1 && "
		   "rope_tensor.get().padded_shape()[2] == seq_len && "
		   "rope_tensor.get().padded_shape()[3] == head_dim",
		   "Rope tensor must have shape [1, 1, %u, %u], got: [%u %u %u %u]", in[2], width,
		   own[0], own[1], own[2], own[3]);
	return TTNN_OK;
}

static tt_status check_rotation(const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const uint32_t *own;

	if (!in[MATRIX])
		return TTNN_OK;
	TT_REQUIRE(in[COS], "rope_cos_opt.has_value()",
		   "Rope cos tensor is required when ROPE fusion is enabled");
	TT_REQUIRE(in[SIN], "rope_sin_opt.has_value()",
		   "Rope sin tensor is required when ROPE fusion is enabled");
	TT_TRY(check_kind(in[MATRIX], "Transformation_mat", false));
	TT_TRY(check_kind(in[COS], "Rope cos", true));
	TT_TRY(check_kind(in[SIN], "Rope sin", true));
	TT_REQUIRE(
		in[MATRIX]->spec.padded.rank == 4, "transformation_mat.padded_shape().size() == 4",
		"Transformation_mat must have 4 dimensions, got: %u", in[MATRIX]->spec.padded.rank);
	own = in[MATRIX]->spec.padded.dim;
	TT_REQUIRE(own[0] == 1 && own[1] == 1 && own[2] == TT_TILE && own[3] == TT_TILE,
		   "transformation_mat.padded_shape()[0] == 1 && "
		   "transformation_mat.padded_shape()[1] == 1 && "
		   "transformation_mat.padded_shape()[2] == 32 && "
		   "transformation_mat.padded_shape()[3] == 32",
		   "Transformation_mat must have shape [1, 1, 32, 32], got: [%u %u %u %u]", own[0],
		   own[1], own[2], own[3]);
	TT_TRY(check_angles(launch, in[COS]));
	return check_angles(launch, in[SIN]);
}

static tt_status heads_after_validate(struct tt_launch *launch)
{
	TT_TRY(check_kind(launch->inputs[IN], "Input tensor 0", false));
	TT_TRY(check_kind(launch->inputs[STATS], "Stats tensor", true));
	TT_TRY(check_stats(launch));
	TT_TRY(check_heads(launch));
	TT_TRY(check_weight(launch));
	return check_rotation(launch);
}

/* ---- after it: the program ---------------------------------------------------------------------------- */

static tt_status heads_after_rows(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	const struct ttnn_value *compute = &launch->attrs[AFTER_COMPUTE];
	uint64_t block = tt_compute_tiles(compute), small = tt_tile_bytes_of(TTNN_BFLOAT16);
	uint64_t between =
		tt_compute_has(compute, TT_COMPUTE_FP32) ? tt_tile_bytes_of(TTNN_FLOAT32) : small;
	uint64_t width = tt_shape_last(&in[IN]->spec.padded, 1) / TT_TILE;
	uint64_t stats = tt_shape_last(&in[STATS]->spec.padded, 1) / TT_TILE;
	uint64_t head = width / (uint64_t)launch->attrs[AFTER_HEADS].integer;
	bool turned = in[MATRIX] != NULL;

	return TT_PLAN(
		plan, launch->grid,
		TT_CB_ROW(0, "input", .pages = 2 * block, .page = tile_of(in[IN])),
		TT_CB_ROW(1, "stats", .pages = 2 * stats, .page = tile_of(in[STATS])),
		TT_CB_ROW(2, "reduce_scalar", .pages = 1, .page = small),
		TT_CB_ROW(3, "epsilon", .pages = 1, .page = small),
		TT_CB_ROW(4, "reduce_result", .pages = 1, .page = between),
		TT_CB_ROW(5, "output", .pages = 2 * block, .page = tile_of(launch->outputs[0])),
		TT_CB_ROW(6, "weight", .pages = in[WEIGHT] ? tt_div_up(width, block) * block : 0,
			  .page = tile_of(in[WEIGHT])),
		TT_CB_ROW(7, "intermediate", .pages = in[WEIGHT] || turned ? block : 0,
			  .page = between),
		TT_CB_ROW(8, "transformation_mat", .pages = turned, .page = tile_of(in[MATRIX])),
		TT_CB_ROW(9, "rope_cos", .pages = turned ? head : 0, .page = tile_of(in[COS])),
		TT_CB_ROW(10, "rope_sin", .pages = turned ? head : 0, .page = tile_of(in[SIN])),
		TT_CB_ROW(11, "rotated_input", .pages = turned ? block : 0,
			  .page = tile_of(in[IN])));
}

/* [1, 1, rows, heads × width] as [1, heads, rows, width]. */
static tt_status split_heads(struct tt_tensor *out, struct tt_tensor *in)
{
	const uint32_t *dim = out->spec.shape.dim;
	const struct tt_move_loop loops[] = {
		{dim[1], 3, 1, dim[3], 1},
		{dim[2], 2, 2, 1, 1},
		{dim[3], 3, 3, 1, 1},
	};

	return tt_backend_get()->move(&(struct tt_move_job){
		.out = out, .in = in, .loops = loops, .loop_count = TT_COUNT(loops)});
}

static tt_status heads_after_kernel(struct tt_launch *launch)
{
	struct tt_tensor *const *in = launch->inputs;
	struct tt_tensor *values, *heads, *out = launch->outputs[0];

	TT_TRY(tt_scratch_f32(&values, &in[IN]->spec.shape));
	TT_TRY(tt_norm_apply(&(struct tt_norm_job){.out = values,
						   .in = in[IN],
						   .gamma = in[WEIGHT],
						   .kind = TT_NORM_RMS,
						   .epsilon = launch->attrs[AFTER_EPS].real},
			     in[STATS], false));
	if (!in[MATRIX])
		return split_heads(out, values);
	TT_TRY(tt_scratch_f32(&heads, &out->spec.shape));
	TT_TRY(split_heads(heads, values));
	return tt_backend_get()->rotary(&(struct tt_rotary_job){.out = out,
								.in = heads,
								.cos = in[COS],
								.sin = in[SIN],
								.matrix = in[MATRIX],
								.kind = TT_ROTARY_MATRIX});
}

static const struct tt_prog after_program = {
	.device_op = "FusedRMSNormPostAllGatherDeviceOperation",
	.prim = "ttnn::prim::fused_rmsnorm_post_all_gather",
	.attrs = &after_schema,
	.infer = heads_after_infer,
	.validate = heads_after_validate,
	TT_FACTORY("ttnn::experimental::prim::FusedRMSNormPostAllGatherProgramFactory",
		   heads_after_rows),
	TT_KERNEL(heads_after_kernel),
};

/* ---- operations ---------------------------------------------------------------------------------------- */

static struct ttnn_value compute_of(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};

	return tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual);
}

static tt_status heads_before(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(call, &before_program, TT_INPUTS(in),
				TT_BIND(call, before_schema, [BEFORE_COMPUTE] = compute_of(call)));
}

static tt_status heads_after(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &after_program,
		TT_INPUTS(in, tt_call_tensor(call, "stats"), tt_call_tensor(call, "weight"),
			  tt_call_tensor(call, "transformation_mat"),
			  tt_call_tensor(call, "rope_cos"), tt_call_tensor(call, "rope_sin")),
		TT_BIND(call, after_schema,
			[AFTER_EPS] = ttnn_v_real((float)tt_call_real(call, "epsilon", 1e-5)),
			[AFTER_HEADS] = *tt_call_arg(call, "num_heads_per_device"),
			[AFTER_MEMORY] = tt_value_memory_or_like(call, in),
			[AFTER_COMPUTE] = compute_of(call)));
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.wan_fused_rmsnorm_post_allgather",
	 .doc = "rms_norm with the squares of all devices, as heads, rotated by position.",
	 .sigs = {"input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-5, "
		  "num_heads_per_device: size = 1, weight: Tensor? = None, transformation_mat: "
		  "Tensor? = None, rope_cos: Tensor? = None, rope_sin: Tensor? = None, "
		  "memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = "
		  "None, dtype: DataType? = None"},
	 .expand = heads_after,
	 .golden = tt_golden_rms_heads,
	 TT_PROGRAMS(&after_program)},
	{.name = "ttnn.experimental.wan_fused_rmsnorm_pre_allgather",
	 .doc = "The sum of squares of each row of one device's part.",
	 .sigs = {"input_tensor: Tensor, *, dtype: DataType = BFLOAT16, compute_kernel_config: "
		  "ComputeConfig? = None, memory_config: MemoryConfig? = None"},
	 .expand = heads_before,
	 .golden = tt_golden_squares,
	 TT_PROGRAMS(&before_program)},
};

const struct tt_op_family tt_family_norm_heads = {"norm_heads", ops, TT_COUNT(ops)};
