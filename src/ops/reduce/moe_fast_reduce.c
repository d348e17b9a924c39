/*
 * moe_fast_reduce.c: sums over a dimension before the last two, cut into tensors along the last one. Models
 * DeepseekMoEFastReduceNCDeviceOperation of ttnn 0.81 with its one factory: specs, refusals, memory, cores.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(SPLIT, "split_size")                                                                     \
	X(MEMORY, "output_memory_config")                                                          \
	X(COMPUTE, "compute_kernel_config")
TT_ATTRS(schema, "DeepseekMoEFastReduceNCParams", ATTRS);
#define MOST_AT_ONCE 8

static tt_status fast_reduce_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t split = launch->attrs[SPLIT].integer, dim = launch->attrs[DIM].integer;
	uint32_t width = tt_shape_last(&in->shape, 1), rank = in->shape.rank;
	struct ttnn_shape shape = in->shape;

	TT_REQUIRE(split > 0 && width % split == 0,
		   "operation_attributes.split_size > 0 && input_shape[-1] % "
		   "operation_attributes.split_size == 0",
		   "split_size (%" PRId64 ") must be greater than 0 and divide the last dim (%u)",
		   split, width);
	TT_NEED(dim >= 0 && dim < rank,
		"ShapeBase[] index out of range. %" PRId64 " not in [-%u, %u)", dim, rank, rank);
	TT_NEED(width / split <= TT_OUTPUTS_MAX,
		"at most %d tensors of a split are possible, not %" PRId64, TT_OUTPUTS_MAX,
		width / split);
	shape.dim[dim] = 1;
	shape.dim[rank - 1] = dim == rank - 1 ? 1 : (uint32_t)split;
	if (dim == rank - 1)
		shape.dim[dim] /= (uint32_t)(width / split);
	launch->output_count = (size_t)(width / split);
	for (size_t i = 0; i < launch->output_count; i++)
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, in->dtype, TTNN_TILE,
				      launch->attrs[MEMORY].memory));
	return TTNN_OK;
}

static tt_status fast_reduce_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t rank = in->shape.rank;
	uint64_t parts = tt_shape_last(&in->padded, 1) / (uint64_t)launch->attrs[SPLIT].integer;

	TT_REQUIRE(in->layout == TTNN_TILE, "tensor.layout() == layout",
		   "DeepseekMoEFastReduceNC input only supports TILE layout.");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B, "dtype_supported",
		   "DeepseekMoEFastReduceNC input only supports specific data types. [BFLOAT16, "
		   "BFLOAT8_B] ");
	TT_REQUIRE(rank > 2, "input_rank > 2",
		   "input tensor rank must be greater than 2, but has %u", rank);
	TT_REQUIRE(launch->attrs[DIM].integer <= rank - 3, "reduction_dim <= input_rank - 3",
		   "reduction dim must be between 0 and %u, but has %" PRId64, rank - 3,
		   launch->attrs[DIM].integer);
	TT_REQUIRE(parts && tt_shape_last(&in->padded, 1) % (parts * TT_TILE) == 0,
		   "split_dim_size % (num_output_tensors * tt::constants::TILE_WIDTH) == 0",
		   "input tensor width must be divisible by %" PRIu64, parts * TT_TILE);
	return TTNN_OK;
}

static tt_status fast_reduce_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t extent = in->padded.dim[launch->attrs[DIM].integer];
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), in->pages / (extent ? extent : 1),
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "compute_input_0",
				 .pages = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE),
				 .page = tt_page_in0(launch)),
		       TT_CB_ROW(1, "compute_input_1", .pages = 1, .page = tt_page_bf16(launch)),
		       TT_CB_ROW(16, "compute_output", .pages = 2, .page = tt_page_out0(launch)));
}

/* All sums in rows, of which each tensor takes its columns. */
static tt_status cut(struct tt_launch *launch, struct tt_tensor *sum)
{
	const struct ttnn_shape *part = &launch->outputs[0]->spec.shape;
	int64_t start[TTNN_MAX_RANK] = {0};

	for (size_t i = 0; i < launch->output_count; i++) {
		start[part->rank - 1] = (int64_t)i * launch->attrs[SPLIT].integer;
		TT_TRY(tt_move_part(
			launch->outputs[i], sum,
			&(struct tt_move_block){.extent = part->dim, .in_start = start}));
	}
	return TTNN_OK;
}

static tt_status fast_reduce_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *sum;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	struct tt_reduce_job job = {.in = in, .kind = TT_REDUCE_SUM, .dims = 1u << dim, .scale = 1};
	struct ttnn_shape shape = in->spec.shape;

	shape.dim[dim] = 1;
	TT_TRY(tt_scratch_f32(&sum, &shape));
	job.out = sum;
	TT_TRY(tt_backend_get()->reduce(&job));
	return cut(launch, sum);
}

static const struct tt_prog prog = {
	.device_op = "DeepseekMoEFastReduceNCDeviceOperation",
	.prim = "ttnn::prim::deepseek_moe_fast_reduce_nc",
	.attrs = &schema,
	.infer = fast_reduce_infer,
	.validate = fast_reduce_validate,
	TT_FACTORY("ttnn::experimental::prim::DeepseekMoEFastReduceNCProgramFactory",
		   fast_reduce_memory),
	TT_KERNEL(fast_reduce_kernel),
	.drops_forward = true,
};

/* ---- the operation ------------------------------------------------------------------------------------------ */

static tt_status fast_reduce_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor");
	int64_t dim = tt_call_int(call, "dim", 0);

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(
		call, &prog, TT_INPUTS(in),
		TT_BIND(call, schema, [DIM] = ttnn_v_int(dim < 0 ? dim + in->spec.shape.rank : dim),
			[COMPUTE] = tt_compute_config(
				call, tt_call_arg(call, "compute_kernel_config"), &usual)));
}

static tt_status fast_reduce_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	uint64_t split = (uint64_t)tt_call_int(&golden->call, "split_size", 0);
	uint64_t at[TTNN_MAX_RANK], parts;
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && in->shape.rank > 2 && split);
	dim += dim < 0 ? in->shape.rank : 0;
	parts = in->shape.dim[in->shape.rank - 1] / split;
	TT_GOLDEN_NEED(dim >= 0 && dim + 2 < in->shape.rank && parts && parts <= TT_OUTPUTS_MAX);
	shape = in->shape;
	shape.dim[dim] = 1;
	shape.dim[shape.rank - 1] = (uint32_t)split;
	for (uint64_t i = 0; i < parts; i++)
		TT_GOLDEN_NEED(tt_golden_out(golden, &shape, in->dtype));
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t column;
		struct tt_array *out;

		tt_array_coordinate(at, in, i);
		column = at[shape.rank - 1];
		out = &golden->out[column / split < parts ? column / split : parts - 1];
		at[dim] = 0;
		at[shape.rank - 1] = column % split;
		*tt_at(out, tt_array_index(out, at)) += *tt_at(in, i);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.deepseek_moe_fast_reduce_nc",
	 .doc = "Sums over a dimension before the last two, cut into tensors along the last one.",
	 .sigs = {"input_tensor: Tensor, dim: int, *, split_size: int, output_memory_config: "
		  "MemoryConfig = DRAM, compute_kernel_config: ComputeConfig? = None"},
	 .expand = fast_reduce_expand,
	 .golden = fast_reduce_golden,
	 .gives = "[Tensor]",
	 TT_PROGRAMS(&prog)},
};

const struct tt_op_family tt_family_moe_fast_reduce = {"moe_fast_reduce", ops, TT_COUNT(ops)};
