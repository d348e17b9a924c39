/*
 * std_var.c: standard deviation and variance over any dimensions. What is reduced becomes the last
 * dimensions first, then one program does it all.
 */
#include <math.h>

#include "golden/golden_reduction.h"
#include "ops/compute.h"
#include "ops/movement/movement.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_program.h"

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};

/* What a call wants, and the dimensions in the order in which the program sees them. */
struct request {
	struct tt_call *call;
	struct tt_welford_pass pass;
	struct tt_reduction_dims dims;
	uint32_t order[TTNN_MAX_RANK];
	bool moved;   /* the order is not the tensor's own */
	bool swapped; /* one dimension took the place of the height, and goes back */
};

/* The dimensions that stay, then the others. */
static void order_dims(struct request *request, uint32_t rank)
{
	uint32_t kept = 0, i = 0;

	for (uint32_t d = 0; d < rank; d++) {
		if (i < request->dims.count && request->dims.dim[i] == d)
			request->order[rank - request->dims.count + i++] = d;
		else
			request->order[kept++] = d;
	}
	for (uint32_t d = 0; d < rank; d++)
		request->moved |= request->order[d] != d;
}

static void order_one(struct request *request, uint32_t rank)
{
	uint32_t dim = request->dims.dim[0];

	request->swapped = dim + 2 < rank;
	request->pass.dim = dim + 1 == rank ? TT_DIM_W : TT_DIM_H;
}

static tt_status swap(struct tt_tensor **out, struct request *request, struct tt_tensor *in)
{
	uint32_t dims[] = {request->dims.dim[0], in->spec.shape.rank - 2};

	return tt_call_transpose(
		out, request->call,
		&(struct tt_permute_args){.in = in, .dims = dims, .memory = request->pass.memory});
}

/* Brings the dimensions into order and rows into tiles. */
static tt_status std_var_prepare(struct request *request, struct tt_tensor *in)
{
	struct tt_tensor *ordered = NULL, *tiled;
	tt_status status;

	if (request->swapped)
		TT_TRY(swap(&ordered, request, in));
	else if (request->moved)
		TT_TRY(tt_call_permute(&ordered, request->call,
				       &(struct tt_permute_args){.in = in,
								 .dims = request->order,
								 .memory = request->pass.memory}));
	request->pass.in = ordered ? ordered : in;
	if (request->pass.in->spec.layout == TTNN_ROW_MAJOR) {
		status = tt_reduction_tilize(&tiled, request->call, request->pass.in, 0);
		if (ordered)
			tt_call_overwrite(request->call, ordered);
		if (status != TTNN_OK)
			return status;
		request->pass.in = ordered = tiled;
	}
	if (ordered)
		tt_call_own(request->call, ordered);
	return TTNN_OK;
}

/* A tensor of one dimension as a row. */
static tt_status as_matrix(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in)
{
	struct ttnn_shape row = {2, {1, in->spec.shape.dim[0]}};

	if (in->spec.shape.rank != 1) {
		*out = in;
		return TTNN_OK;
	}
	return tt_call_owned(
		call,
		tt_call_reshape(out, call, &(struct tt_reshape_args){.in = in, .shape = &row}),
		out);
}

/* The result under its shape. */
static tt_status std_var_finish(struct request *request, struct tt_tensor *result,
				const struct ttnn_shape *shape)
{
	struct tt_tensor *out;
	tt_status status;

	if (request->swapped) {
		status = swap(&out, request, result);
		tt_call_overwrite(request->call, result);
		if (status != TTNN_OK)
			return status;
		result = out;
	}
	status = tt_call_reshape(&out, request->call,
				 &(struct tt_reshape_args){.in = result, .shape = shape});
	tt_call_drop(request->call, result);
	if (status == TTNN_OK)
		tt_call_return(request->call, out);
	return status;
}

/* Of one value each there is nothing to compute: none, or no number. */
static tt_status of_single(struct request *request, struct tt_tensor *in,
			   const struct ttnn_shape *shape)
{
	struct ttnn_arg args[] = {
		{"shape", ttnn_v_shape(&in->spec.shape)},
		{"fill_value", ttnn_v_real(request->pass.correction ? NAN : 0)},
		{"dtype", ttnn_v_dtype(in->spec.dtype)},
		{"layout", ttnn_v_layout(TTNN_TILE)},
		{"device", ttnn_v_device(tt_tensor_device(in))},
		{"memory_config", ttnn_v_memory(request->pass.memory)},
	};
	struct tt_tensor *full, *out;
	tt_status status;

	TT_TRY(tt_call_op(&full, request->call, "ttnn.full", args, TT_COUNT(args)));
	status = tt_call_reshape(&out, request->call,
				 &(struct tt_reshape_args){.in = full, .shape = shape});
	tt_call_drop(request->call, full);
	if (status == TTNN_OK)
		tt_call_return(request->call, out);
	return status;
}

/* One element along all reduced dimensions: no spread. */
static bool is_single(const struct request *request, const struct tt_tensor *in)
{
	for (uint32_t i = 0; i < request->dims.count && in->spec.shape.rank; i++)
		if (in->spec.shape.dim[request->dims.dim[i]] != 1)
			return false;
	return true;
}

/* Reduced dimensions become the last ones, then one pass (welford.c). */
static tt_status std_var_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *result;
	struct ttnn_shape shape;
	uint64_t volume;
	struct request request = {
		.call = call,
		.pass = {.math = *(const enum tt_reduce_math *)call->entry->op->row,
			 .dim = TT_DIM_HW,
			 .scalar = tt_call_real(call, "scalar", 1),
			 .memory = tt_memory_or_like(call, in),
			 .compute = tt_compute_config(
				 call, tt_call_arg(call, "compute_kernel_config"), &usual),
			 .cores = tt_call_core_set(call, "sub_core_grids"),
			 .correction = tt_call_bool(call, "correction", true),
			 .batch = 1},
	};

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_reduction_dims(&request.dims, call, "dim", in->spec.shape.rank));
	shape = tt_reduction_shape(&in->spec.shape, &request.dims,
				   tt_call_bool(call, "keepdim", false));
	if (is_single(&request, in))
		return of_single(&request, in, &shape);
	TT_TRY(ttnn_shape_volume(&volume, &in->spec.shape));
	if (volume == 0)
		return tt_reduce_empty(call, in, request.pass.math, &request.dims);
	TT_TRY(as_matrix(&in, call, in));
	if (in->spec.shape.rank > shape.rank && request.dims.count == 1 &&
	    request.dims.dim[0] == 0 && tt_call_tensor(call, "input_tensor")->spec.shape.rank == 1)
		request.dims.dim[0] = 1;
	if (request.dims.count == 1)
		order_one(&request, in->spec.shape.rank);
	else
		order_dims(&request, in->spec.shape.rank);
	for (uint32_t i = 0; i + 2 < request.dims.count; i++)
		request.pass.batch *= in->spec.shape.dim[request.dims.dim[i]];
	TT_TRY(std_var_prepare(&request, in));
	TT_TRY(tt_welford_pass(&result, call, &request.pass));
	return std_var_finish(&request, result, &shape);
}

#define SIG                                                                                        \
	"input_tensor: Tensor, dim: int | ints ? = None, keepdim: bool = False, *, "               \
	"memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "      \
	"scalar: float = 1.0, correction: bool = True, sub_core_grids: CoreRangeSet? = None"

static const enum tt_reduce_math std = TT_MATH_STD, var = TT_MATH_VAR;

static const struct tt_op ops[] = {
	{.name = "ttnn.std",
	 .doc = "The standard deviation over dimensions.",
	 .sigs = {SIG},
	 .expand = std_var_expand,
	 .golden = tt_golden_std,
	 .row = &std},
	{.name = "ttnn.var",
	 .doc = "The variance over dimensions.",
	 .sigs = {SIG},
	 .expand = std_var_expand,
	 .golden = tt_golden_var,
	 .row = &var},
};

const struct tt_op_family tt_family_std_var = {"reduction", ops, TT_COUNT(ops)};
