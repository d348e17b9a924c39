/*
 * deviation.c: standard deviation and variance over any dimensions. What is reduced becomes the last
 * dimensions first, then one program does it all.
 */
#include <math.h>

#include "device/devtensor.h"
#include "ops/compute.h"
#include "ops/golden_reduction.h"
#include "ops/movement.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "tensor/shape.h"

static const struct tt_compute_usual usual = {.fidelity = TT_HIFI4, .fp32 = true};

/* What a call wants, and the dimensions in the order in which the program sees them. */
struct wish {
	struct tt_call *call;
	struct tt_welford_pass pass;
	struct tt_reduction_dims dims;
	uint32_t order[TTNN_MAX_RANK];
	bool moved;   /* the order is not the tensor's own */
	bool swapped; /* one dimension took the place of the height, and goes back */
};

/* The dimensions that stay, then the others. */
static void order_dims(struct wish *wish, uint32_t rank)
{
	uint32_t kept = 0, i = 0;

	for (uint32_t d = 0; d < rank; d++) {
		if (i < wish->dims.count && wish->dims.dim[i] == d)
			wish->order[rank - wish->dims.count + i++] = d;
		else
			wish->order[kept++] = d;
	}
	for (uint32_t d = 0; d < rank; d++)
		wish->moved |= wish->order[d] != d;
}

static void order_one(struct wish *wish, uint32_t rank)
{
	uint32_t dim = wish->dims.dim[0];

	wish->swapped = dim + 2 < rank;
	wish->pass.dim = dim + 1 == rank ? TT_DIM_W : TT_DIM_H;
}

static tt_status swap(struct tt_tensor **out, struct wish *wish, struct tt_tensor *in)
{
	uint32_t dims[] = {wish->dims.dim[0], in->spec.shape.rank - 2};

	return tt_call_transpose(
		out, wish->call,
		&(struct tt_permute_args){.in = in, .dims = dims, .memory = wish->pass.memory});
}

/* Brings the dimensions into order and rows into tiles. */
static tt_status prepare(struct wish *wish, struct tt_tensor *in)
{
	struct tt_tensor *ordered = NULL, *tiled;
	tt_status status;

	if (wish->swapped)
		TT_TRY(swap(&ordered, wish, in));
	else if (wish->moved)
		TT_TRY(tt_call_permute(&ordered, wish->call,
				       &(struct tt_permute_args){.in = in,
								 .dims = wish->order,
								 .memory = wish->pass.memory}));
	wish->pass.in = ordered ? ordered : in;
	if (wish->pass.in->spec.layout == TTNN_ROW_MAJOR) {
		status = tt_reduction_tilize(&tiled, wish->call, wish->pass.in, 0);
		if (ordered)
			tt_call_overwrite(wish->call, ordered);
		if (status != TTNN_OK)
			return status;
		wish->pass.in = ordered = tiled;
	}
	if (ordered)
		tt_call_own(wish->call, ordered);
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
	TT_TRY(tt_call_reshape(out, call, &(struct tt_reshape_args){.in = in, .shape = &row}));
	tt_call_own(call, *out);
	return TTNN_OK;
}

static tt_status finish(struct wish *wish, struct tt_tensor *result, const struct ttnn_shape *shape)
{
	struct tt_tensor *out;
	tt_status status;

	if (wish->swapped) {
		status = swap(&out, wish, result);
		tt_call_overwrite(wish->call, result);
		if (status != TTNN_OK)
			return status;
		result = out;
	}
	status = tt_call_reshape(&out, wish->call,
				 &(struct tt_reshape_args){.in = result, .shape = shape});
	tt_call_drop(wish->call, result);
	if (status == TTNN_OK)
		tt_call_return(wish->call, out);
	return status;
}

/* Of one value each there is nothing to compute: none, or no number. */
static tt_status of_single(struct wish *wish, struct tt_tensor *in, const struct ttnn_shape *shape)
{
	struct ttnn_arg args[] = {
		{"shape", ttnn_v_shape(&in->spec.shape)},
		{"fill_value", ttnn_v_real(wish->pass.correction ? NAN : 0)},
		{"dtype", ttnn_v_dtype(in->spec.dtype)},
		{"layout", ttnn_v_layout(TTNN_TILE)},
		{"device", ttnn_v_device(tt_tensor_device(in))},
		{"memory_config", ttnn_v_memory(wish->pass.memory)},
	};
	struct tt_tensor *full, *out;
	tt_status status;

	TT_TRY(tt_call_op(&full, wish->call, "ttnn.full", args, TT_COUNT(args)));
	status = tt_call_reshape(&out, wish->call,
				 &(struct tt_reshape_args){.in = full, .shape = shape});
	tt_call_drop(wish->call, full);
	if (status == TTNN_OK)
		tt_call_return(wish->call, out);
	return status;
}

static bool is_single(const struct wish *wish, const struct tt_tensor *in)
{
	for (uint32_t i = 0; i < wish->dims.count; i++)
		if (in->spec.shape.dim[wish->dims.dim[i]] != 1)
			return false;
	for (uint32_t d = 0; d < in->spec.shape.rank; d++)
		if (in->spec.shape.dim[d] == 0)
			return false;
	return true;
}

static tt_status expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input_tensor"), *result;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_shape shape;
	struct wish wish = {
		.call = call,
		.pass = {.math = *(const enum tt_reduce_math *)call->entry->op->row,
			 .dim = TT_DIM_HW,
			 .scalar = tt_call_real(call, "scalar", 1),
			 .memory = memory ? memory : &in->spec.memory,
			 .compute = tt_compute_config(
				 call, tt_call_arg(call, "compute_kernel_config"), &usual),
			 .cores = tt_call_core_set(call, "sub_core_grids"),
			 .correction = tt_call_bool(call, "correction", true),
			 .batch = 1},
	};

	TT_TRY(tt_need_device(in));
	TT_TRY(tt_reduction_dims(&wish.dims, call, "dim", in->spec.shape.rank));
	shape = tt_reduction_shape(&in->spec.shape, &wish.dims,
				   tt_call_bool(call, "keepdim", false));
	if (is_single(&wish, in))
		return of_single(&wish, in, &shape);
	TT_TRY(as_matrix(&in, call, in));
	if (in->spec.shape.rank > shape.rank && wish.dims.count == 1 && wish.dims.dim[0] == 0 &&
	    tt_call_tensor(call, "input_tensor")->spec.shape.rank == 1)
		wish.dims.dim[0] = 1;
	if (wish.dims.count == 1)
		order_one(&wish, in->spec.shape.rank);
	else
		order_dims(&wish, in->spec.shape.rank);
	for (uint32_t i = 0; i + 2 < wish.dims.count; i++)
		wish.pass.batch *= in->spec.shape.dim[wish.dims.dim[i]];
	TT_TRY(prepare(&wish, in));
	TT_TRY(tt_welford_pass(&result, call, &wish.pass));
	return finish(&wish, result, &shape);
}

#define SIG                                                                                        \
	"input_tensor: Tensor, dim: int | ints ? = None, keepdim: bool = False, *, "               \
	"memory_config: MemoryConfig? = None, compute_kernel_config: ComputeConfig? = None, "      \
	"scalar: float = 1.0, correction: bool = True, sub_core_grids: CoreRangeSet? = None"

static const enum tt_reduce_math std = TT_MATH_STD, var = TT_MATH_VAR;

static const struct tt_op ops[] = {
	{.name = "ttnn.std",
	 .family = "reduction",
	 .doc = "The standard deviation over dimensions.",
	 .sigs = {SIG},
	 .expand = expand,
	 .golden = tt_golden_std,
	 .pcc = 0.999,
	 .row = &std},
	{.name = "ttnn.var",
	 .family = "reduction",
	 .doc = "The variance over dimensions.",
	 .sigs = {SIG},
	 .expand = expand,
	 .golden = tt_golden_var,
	 .pcc = 0.999,
	 .row = &var},
};

const struct tt_op_family tt_family_deviation = {"deviation", ops, TT_COUNT(ops)};
