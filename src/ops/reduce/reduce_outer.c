/*
 * reduce_outer.c: the program that sums a dimension before the last two, tile by tile.
 *
 * Models FastReduceNCDeviceOperation of ttnn 0.81 (experimental/reduction/fast_reduce_nc/device)
 * with its one factory: specs, memory, cores. What reduce_ops.c launches for sums over outer
 * dimensions instead of moving them to the last place. Not modelled: what it leaves in the
 * padding.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce_program.h"

#define ATTRS(X)                                                                                   \
	X(DIM, "dim")                                                                              \
	X(MEMORY, "output_mem_config")                                                             \
	X(COMPUTE, "compute_kernel_config")                                                        \
	X(CORES, "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>")               \
	X(DTYPE, "output_dtype")                                                                   \
	X(SPLIT, "split_output_width")
TT_ATTRS(schema, "FastReduceNCParams", ATTRS);

/* Whether the sum is cut into two tensors: the first so wide. */
static bool is_split(const struct tt_launch *launch)
{
	return launch->attrs[SPLIT].kind == TTNN_VALUE_INT;
}

static tt_status check_split(const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	int64_t dim = launch->attrs[DIM].integer, split = launch->attrs[SPLIT].integer;
	uint32_t width = tt_shape_last(&in->shape, 1);

	TT_REQUIRE(in->shape.rank == 4 && dim >= 0 && dim < 2,
		   "input.logical_shape().rank() == 4 && args.dim >= 0 && args.dim < 2",
		   "Split reduction supports rank-4 input reduced along dim 0 or 1");
	TT_REQUIRE(in->layout == TTNN_TILE && in->tile.height == TT_TILE &&
			   in->tile.width == TT_TILE,
		   "input.layout() == Layout::TILE && tile_shape[0] == tt::constants::TILE_HEIGHT "
		   "&& tile_shape[1] == tt::constants::TILE_WIDTH",
		   "Split reduction requires standard TILE layout");
	TT_REQUIRE(!tt_memory_config_is_sharded(&in->memory) &&
			   !tt_memory_config_is_sharded(launch->attrs[MEMORY].memory),
		   "input.memory_config().memory_layout() == TensorMemoryLayout::INTERLEAVED && "
		   "args.output_mem_config.memory_layout() == TensorMemoryLayout::INTERLEAVED",
		   "Split reduction requires interleaved tensors");
	TT_REQUIRE(width == tt_shape_last(&in->padded, 1) && split > 0 && split < width &&
			   split % TT_TILE == 0 && width % TT_TILE == 0,
		   "width == input.padded_shape()[-1] && split > 0 && split < width && split % "
		   "tt::constants::TILE_WIDTH == 0 && width % tt::constants::TILE_WIDTH == 0",
		   "Split reduction requires two nonempty tile-aligned channel regions");
	return TTNN_OK;
}

static tt_status split_infer(struct tt_launch *launch, struct ttnn_shape shape)
{
	enum ttnn_dtype dtype = launch->inputs[0]->spec.dtype;
	uint32_t width = tt_shape_last(&shape, 1);

	TT_TRY(check_split(launch));
	launch->output_count = 2;
	for (int i = 0; i < 2; i++) {
		uint32_t first = tt_attr_u32(launch, SPLIT);

		shape.dim[shape.rank - 1] = i ? width - first : first;
		TT_TRY(tt_spec_simple(&launch->specs[i], &shape, dtype, TTNN_TILE,
				      launch->attrs[MEMORY].memory));
	}
	return TTNN_OK;
}

/* The result has the padding of the input as part of its shape. */
static tt_status outer_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	struct ttnn_shape shape = in->padded;
	int64_t dim = launch->attrs[DIM].integer;

	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	if (!is_split(launch) && dim >= 0)
		TT_TRY(tt_need_dim(&shape, (uint32_t)dim));
	if (dim >= 0 && dim < shape.rank)
		shape.dim[dim] = 1;
	if (is_split(launch))
		return split_infer(launch, shape);
	return tt_infer_one(launch, &shape,
			    dtype->kind == TTNN_VALUE_ENUM ? (enum ttnn_dtype)dtype->integer
							   : in->dtype,
			    TTNN_TILE);
}

#define MOST_AT_ONCE 8

/* As many input tiles at once as divide the extent, at most MOST_AT_ONCE, twice. */
static tt_status outer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint64_t pages = launch->outputs[0]->spec.pages;
	uint32_t extent = in->padded.dim[launch->attrs[DIM].integer];
	struct tt_work_split split;

	if (is_split(launch))
		pages += launch->outputs[1]->spec.pages;
	if (launch->attrs[CORES].kind == TTNN_VALUE_CORE_SET)
		TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set, pages,
					TTNN_ORIENT_ROW_MAJOR));
	else
		TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), pages,
				     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "cb_in0",
				  .pages = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE),
				  .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "cb_in1", .pages = 1, .page = tt_page_bf16(launch)),
		       TT_DFB_ROW(2, "cb_out", .pages = 2, .page = tt_page_out0(launch)));
}

/* The parts of a sum, beside each other. */
static tt_status cut(struct tt_launch *launch, struct tt_tensor *sum)
{
	int64_t start[TTNN_MAX_RANK] = {0};

	for (size_t i = 0; i < launch->output_count; i++) {
		struct ttnn_shape part = launch->outputs[i]->spec.shape;

		part.dim[part.rank - 2] = sum->spec.shape.dim[part.rank - 2];
		TT_TRY(tt_backend_get()->fill(launch->outputs[i], 0, TT_FILL_ALL));
		TT_TRY(tt_move_part(
			launch->outputs[i], sum,
			&(struct tt_move_block){.extent = part.dim, .in_start = start}));
		start[part.rank - 1] += part.dim[part.rank - 1];
	}
	return TTNN_OK;
}

/* What was padding is part of the output's shape: it gets nothing of interest. */
static tt_status outer_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *sum;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	struct tt_reduce_job job = {
		.out = out, .in = in, .kind = TT_REDUCE_SUM, .dims = 1u << dim, .scale = 1};
	struct ttnn_shape shape = in->spec.shape;

	if (!is_split(launch) && ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		return tt_backend_get()->reduce(&job);
	shape.dim[dim] = 1;
	TT_TRY(tt_scratch_f32(&sum, &shape));
	job.out = sum;
	TT_TRY(tt_backend_get()->reduce(&job));
	if (is_split(launch))
		return cut(launch, sum);
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_move_part(out, sum, &(struct tt_move_block){.extent = shape.dim});
}

static tt_status check_tensor(const struct ttnn_tensor_spec *in)
{
	TT_REQUIRE(in->layout == TTNN_TILE, "tensor.layout() == layout",
		   "FastReduceNC input only supports TILE layout.");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_BFLOAT8_B ||
			   in->dtype == TTNN_FLOAT32,
		   "dtype_supported",
		   "FastReduceNC input only supports specific data types. [BFLOAT16, BFLOAT8_B, "
		   "FLOAT32] ");
	return TTNN_OK;
}

/* Dimensions before the last two. */
static tt_status outer_validate(struct tt_launch *launch)
{
	int64_t dim = launch->attrs[DIM].integer, rank = launch->inputs[0]->spec.padded.rank;

	TT_TRY(check_tensor(&launch->inputs[0]->spec));
	if (is_split(launch))
		return TTNN_OK;
	TT_REQUIRE(dim >= 0 && dim <= rank - 3,
		   "args.dim >= 0 && args.dim <= static_cast<int32_t>(input_rank) - 3",
		   "FastReduceNC reduces only outer dims: dim must be between 0 and %" PRId64
		   ", but has %" PRId64,
		   rank - 3, dim);
	return TTNN_OK;
}

static const struct tt_prog prog = {
	.device_op = "FastReduceNCDeviceOperation",
	.prim = "ttnn::experimental::prim::fast_reduce_nc",
	.attrs = &schema,
	.infer = outer_infer,
	.validate = outer_validate,
	TT_FACTORY("ttnn::experimental::prim::FastReduceNCProgramFactory", outer_memory),
	TT_KERNEL(outer_kernel),
	.drops_forward = true,
};

/* For sums of reduce_ops.c, and for the operation of this name. */
tt_status tt_reduce_outer(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_reduce_outer *pass)
{
	struct ttnn_value attrs[schema_count] = {
		[DIM] = ttnn_v_int(pass->dim),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[COMPUTE] = pass->compute,
		[CORES] = tt_value_cores(pass->cores),
		[DTYPE] = pass->dtype ? ttnn_v_dtype(*pass->dtype) : ttnn_v_none(),
		[SPLIT] = ttnn_v_none(),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(pass->in),
			 TT_OUTPUTS(pass->out));
}

/* ---- the operation ---------------------------------------------------------------------------------------- */

/* Dimension after dimension, from the end; what is made between goes at once. */
static tt_status outer_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	static const struct ttnn_memory_config dram = {.buffer = TTNN_DRAM};
	const struct ttnn_value *config = tt_call_arg(call, "compute_kernel_config");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in = tt_call_tensor(call, "input"), *between = NULL, *next;
	const struct ttnn_value *cores = tt_call_arg(call, "sub_core_grids");
	struct tt_reduce_outer pass = {.memory = memory ? memory : &dram,
				       .compute = tt_compute_config(call, config, &usual),
				       .cores = tt_value_given(cores) ? cores->core_set : NULL};
	int64_t dims[TTNN_MAX_RANK];
	size_t count;

	TT_TRY(tt_call_ints(dims, &count, TTNN_MAX_RANK, call, "dims"));
	TT_REQUIRE(count > 0, "!dims.empty()", "fast_reduce_nc dims should not be empty");
	TT_TRY(tt_need_device(in));
	for (size_t i = 0; i < count; i++)
		for (size_t k = i; k > 0 && dims[k] < dims[k - 1]; k--) {
			int64_t smaller = dims[k];

			dims[k] = dims[k - 1];
			dims[k - 1] = smaller;
		}
	while (count-- > 0) {
		tt_status status;

		pass.in = between ? between : in;
		pass.out = count ? NULL : tt_call_tensor(call, "output");
		pass.dim = (int32_t)dims[count];
		status = tt_reduce_outer(&next, call, &pass);
		if (between && count)
			tt_call_overwrite(call, between);
		else if (between)
			tt_call_drop(call, between);
		TT_TRY(status);
		between = next;
	}
	tt_call_return(call, between);
	return TTNN_OK;
}

static tt_status split_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	struct ttnn_value attrs[schema_count] = {
		[DIM] = ttnn_v_int(tt_call_int(call, "dim", 0)),
		[MEMORY] = ttnn_v_memory(tt_call_memory(call, "memory_config")),
		[COMPUTE] =
			tt_compute_config(call, tt_call_arg(call, "compute_kernel_config"), &usual),
		[CORES] = ttnn_v_none(),
		[DTYPE] = ttnn_v_none(),
		[SPLIT] = ttnn_v_int(tt_call_int(call, "split_output_width", 0)),
	};
	struct tt_tensor *in = tt_call_tensor(call, "input");

	TT_TRY(tt_need_device(in));
	return TT_LAUNCH_RETURN(call, &prog, .attrs = attrs, TT_INPUTS(in));
}

static tt_status split_golden(struct tt_golden *golden)
{
	const struct tt_array *in = tt_golden_in4(golden, "input");
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	uint32_t first = (uint32_t)tt_call_int(&golden->call, "split_output_width", 0);
	struct ttnn_shape shape;

	TT_GOLDEN_NEED(in && dim >= 0 && dim < 2 && first < in->shape.dim[3]);
	shape = in->shape;
	shape.dim[dim] = 1;
	shape.dim[2] = (shape.dim[2] + 31) / 32 * 32;
	for (int i = 0; i < 2; i++) {
		shape.dim[3] = i ? in->shape.dim[3] - first : first;
		TT_GOLDEN_NEED(tt_golden_out(golden, &shape, in->dtype));
	}
	for (uint64_t i = 0; i < in->count; i++) {
		uint64_t at[TTNN_MAX_RANK];
		struct tt_array *out;

		tt_array_coordinate(at, in, i);
		out = &golden->out[at[3] >= first];
		at[3] -= at[3] >= first ? first : 0;
		at[dim] = 0;
		*tt_at(out, tt_array_index(out, at)) += *tt_at(in, i);
	}
	return TTNN_OK;
}

static const struct tt_op ops[] = {
	{
		.name = "ttnn.experimental.fast_reduce_nc",
		.doc = "The sum over dimensions before the last two. Padding becomes part of the shape.",
		.sigs = {"input: Tensor, *, dims: ints = [], output: Tensor? = None, memory_config: "
			 "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "
			 "sub_core_grids: CoreRangeSet? = None"},
		.expand = outer_expand,
		.golden = tt_golden_reduce_outer,
	},
	{
		.name = "ttnn.experimental.fast_reduce_nc_split",
		.doc = "The sum over one of the first two of four dimensions, cut into two tensors along the last.",
		.sigs = {"input: Tensor, *, dim: int, split_output_width: size, memory_config: "
			 "MemoryConfig = DRAM, compute_kernel_config: ComputeConfig? = None"},
		.gives = "Tensor, Tensor",
		.expand = split_expand,
		.golden = split_golden,
	}};

const struct tt_op_family tt_family_reduce_outer = {"reduce_outer", ops, TT_COUNT(ops)};
