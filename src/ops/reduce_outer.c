/*
 * reduce_outer.c: the program that sums a dimension before the last two, tile by tile.
 */
#include <inttypes.h>

#include "backend/backend.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "device/split.h"
#include "ops/compute.h"
#include "ops/golden_reduction.h"
#include "ops/movement.h"
#include "ops/reduce.h"
#include "ops/rows.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

enum { DIM, MEMORY, COMPUTE, CORES, DTYPE, SUB_DEVICE, ATTRS };

static const struct tt_field fields[ATTRS] = {
	[DIM] = {.name = "dim"},
	[MEMORY] = {.name = "output_mem_config"},
	[COMPUTE] = {.name = "compute_kernel_config"},
	[CORES] = {.name = "sub_core_grids", .text = TT_TEXT_FIXED, .fixed = "<CoreRangeSet>"},
	[DTYPE] = {.name = "output_dtype"},
	[SUB_DEVICE] = {.name = "sub_device_id"},
};
static const struct tt_schema schema = {"FastReduceNCParams", fields, ATTRS, false};

/* The result has the padding of the input as part of its shape. */
static tt_status infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	const struct ttnn_value *dtype = &launch->attrs[DTYPE];
	struct ttnn_shape shape = in->padded;
	int64_t dim = launch->attrs[DIM].integer;

	launch->output_count = 1;
	if (launch->outputs[0]) {
		launch->specs[0] = launch->outputs[0]->spec;
		return TTNN_OK;
	}
	if (dim >= 0 && dim < shape.rank)
		shape.dim[dim] = 1;
	return tt_spec_simple(&launch->specs[0], &shape,
			      dtype->kind == TTNN_VALUE_ENUM ? (enum ttnn_dtype)dtype->integer
							     : in->dtype,
			      TTNN_TILE, launch->attrs[MEMORY].memory);
}

#define MOST_AT_ONCE 8

static tt_status choose(uint32_t *out, struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[0]->spec;
	uint32_t extent = in->padded.dim[launch->attrs[DIM].integer];
	struct tt_move_work *work = tt_move_work_new(launch);
	struct tt_work_split split;

	if (!work)
		return TTNN_NOMEM;
	*out = 0;
	work->number[0] = 2 * tt_split_divisor(extent ? extent : 1, MOST_AT_ONCE);
	if (launch->attrs[CORES].kind == TTNN_VALUE_CORE_SET)
		TT_TRY(tt_split_work_in(&split, launch->attrs[CORES].core_set,
					launch->outputs[0]->spec.pages, TTNN_ORIENT_ROW_MAJOR));
	else
		TT_TRY(tt_split_work(&split, tt_grid_size(launch->grid),
				     launch->outputs[0]->spec.pages, TTNN_ORIENT_ROW_MAJOR));
	work->cores[0] = split.all;
	return TTNN_OK;
}

#define ROW(index_, ...)                                                                           \
	{                                                                                          \
		.kind = TT_DFB, .index = index_, .cores = tt_work_cores0, __VA_ARGS__              \
	}

static const struct tt_mem_row memory_rows[] = {
	ROW(0, .pages = tt_number0, .page = tt_page_in0),
	ROW(1, .page_count = 1, .page = tt_page_bf16),
	ROW(2, .page_count = 2, .page = tt_page_out0),
};
static const struct tt_factory factories[] = {
	{"ttnn::experimental::prim::FastReduceNCProgramFactory", memory_rows, TT_COUNT(memory_rows),
	 NULL}};

/* What was padding is part of the output's shape: it gets nothing of interest. */
static tt_status kernel(struct tt_launch *launch)
{
	struct tt_tensor *in = launch->inputs[0], *out = launch->outputs[0], *sum;
	uint32_t dim = (uint32_t)launch->attrs[DIM].integer;
	struct tt_reduce_job job = {
		.out = out, .in = in, .kind = TT_REDUCE_SUM, .dims = 1u << dim, .scale = 1};
	struct ttnn_spec_args args = {.shape = in->spec.shape, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	tt_status status;

	if (ttnn_shape_equal(&in->spec.shape, &in->spec.padded))
		return tt_backend_get()->reduce(&job);
	args.shape.dim[dim] = 1;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_new(&sum, &spec));
	job.out = sum;
	status = tt_backend_get()->reduce(&job);
	if (status == TTNN_OK)
		status = tt_backend_get()->fill(out, 0, TT_FILL_ALL);
	if (status == TTNN_OK)
		status = tt_move_part(out, sum, &(struct tt_move_block){.extent = spec.shape.dim});
	ttnn_tensor_unref(sum);
	return status;
}

static tt_status validate(struct tt_launch *launch)
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
	.infer = infer,
	.validate = validate,
	.factories = factories,
	.factory_count = TT_COUNT(factories),
	.choose = choose,
	TT_KERNEL(kernel),
};

tt_status tt_reduce_outer(struct tt_tensor **out, struct tt_call *call,
			  const struct tt_reduce_outer *pass)
{
	struct ttnn_value attrs[ATTRS] = {
		[DIM] = ttnn_v_int(pass->dim),
		[MEMORY] = ttnn_v_memory(pass->memory),
		[COMPUTE] = pass->compute,
		[CORES] = pass->cores ? ttnn_v_core_set(pass->cores) : ttnn_v_none(),
		[DTYPE] = pass->dtype ? ttnn_v_dtype(*pass->dtype) : ttnn_v_none(),
		[SUB_DEVICE] = ttnn_v_none(),
	};
	struct tt_tensor *in = pass->in, *given = pass->out;
	struct tt_program_args args = {.prog = &prog,
				       .attrs = attrs,
				       .inputs = &in,
				       .input_count = 1,
				       .outputs = &given,
				       .output_count = 1};

	return tt_call_program(out, call, &args);
}

/* ---- the operation ---------------------------------------------------------------------------------------- */

/* Dimension after dimension, from the end; what lies between goes at once. */
static tt_status expand(struct tt_call *call)
{
	static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .approx = true};
	const struct ttnn_value *config = tt_call_arg(call, "compute_kernel_config");
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct tt_tensor *in = tt_call_tensor(call, "input"), *between = NULL, *next;
	const struct ttnn_value *cores = tt_call_arg(call, "sub_core_grids");
	struct tt_reduce_outer pass = {.memory = memory ? memory : &in->spec.memory,
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
	.family = "reduce_outer",
	.doc = "The sum over dimensions before the last two. Padding becomes part of the shape.",
	.sigs = {"input: Tensor, *, dims: ints = [], output: Tensor? = None, memory_config: "
		 "MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "
		 "sub_core_grids: CoreRangeSet? = None"},
	.expand = expand,
	.golden = tt_golden_reduce_outer,
	.pcc = 0.999,
}};

const struct tt_op_family tt_family_reduce_outer = {"reduce_outer", ops, TT_COUNT(ops)};
