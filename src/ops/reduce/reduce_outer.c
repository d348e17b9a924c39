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
	X(SUB_DEVICE, "sub_device_id")
TT_ATTRS(schema, "FastReduceNCParams", ATTRS);

/* The result has the padding of the input as part of its shape. */
static tt_status outer_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	struct ttnn_shape shape = in->padded;
	int64_t dim = launch->attrs[DIM].integer;

	if (dim >= 0 && dim < shape.rank)
		shape.dim[dim] = 1;
	return tt_infer_one(launch, &shape,
			    dtype->kind == TTNN_VALUE_ENUM ? (enum ttnn_dtype)dtype->integer
							   : in->dtype,
			    TTNN_TILE);
}

#define MOST_AT_ONCE 8

/* As many input tiles at once as divide the extent, at most MOST_AT_ONCE, twice. */
static tt_status outer_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec,
				      *out = &launch->outputs[0]->spec;
	uint32_t extent = in->padded.dim[launch->attrs[DIM].integer];
	struct tt_work_split split;

	if (launch->attrs[CORES].kind == TTNN_VALUE_CORE_SET)
		TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set, out->pages,
					TTNN_ORIENT_ROW_MAJOR));
	else
		TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid), out->pages,
				     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_DFB_ROW(0, "cb_in0",
				  .pages = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE),
				  .page = tt_page_in0(launch)),
		       TT_DFB_ROW(1, "cb_in1", .pages = 1, .page = tt_page_bf16(launch)),
		       TT_DFB_ROW(2, "cb_out", .pages = 2, .page = tt_page_out0(launch)));
}

/* What was padding is part of the output's shape: it gets nothing of interest. */
static tt_status outer_kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *sum;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	struct tt_reduce_job job = {
		.out = out, .in = in, .kind = TT_REDUCE_SUM, .dims = 1u << dim, .scale = 1};
	struct ttnn_shape shape = in->spec.shape;

	if (ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		return tt_backend_get()->reduce(&job);
	shape.dim[dim] = 1;
	TT_TRY(tt_scratch_f32(&sum, &shape));
	job.out = sum;
	TT_TRY(tt_backend_get()->reduce(&job));
	TT_TRY(tt_backend_get()->fill(out, 0, TT_FILL_ALL));
	return tt_move_part(out, sum, &(struct tt_move_block){.extent = shape.dim});
}

/* Dimensions before the last two. */
static tt_status outer_validate(struct tt_launch *launch)
{
	int64_t dim = launch->attrs[DIM].integer, rank = launch->inputs[0]->spec.padded.rank;

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
		[SUB_DEVICE] = ttnn_v_none(),
	};

	return TT_LAUNCH(out, call, &prog, .attrs = attrs, TT_INPUTS(pass->in),
			 TT_OUTPUTS(pass->out));
}

/* ---- the operation ---------------------------------------------------------------------------------------- */

/* Dimension after dimension, from the end; what is made between goes at once. */
static tt_status outer_expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	const struct ttnn_value *config = tt_call_arg(call, "compute_kernel_config");
	struct tt_tensor *in = tt_call_tensor(call, "input"), *between = NULL, *next;
	const struct ttnn_value *cores = tt_call_arg(call, "sub_core_grids");
	struct tt_reduce_outer pass = {.memory = tt_memory_or_like(call, in),
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

static const struct tt_op ops[] = {{
	.name = "ttnn.experimental.fast_reduce_nc",
	.doc = "The sum over dimensions before the last two. Padding becomes part of the shape.",
	.sigs = {"input: Tensor, *, dims: ints = [], output: Tensor? = None, memory_config: "
		 "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "
		 "sub_core_grids: CoreRangeSet? = None"},
	.expand = outer_expand,
	.golden = tt_golden_reduce_outer,
}};

const struct tt_op_family tt_family_reduce_outer = {"reduce_outer", ops, TT_COUNT(ops)};
