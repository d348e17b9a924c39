/* backward_shape.c: gradients of operations that change shapes: prod, repeat. */
#include "ops/eltwise/backward.h"
#include "ops/movement/movement.h"

/* ---- prod ---------------------------------------------------------------------------------------- */

/* The derivative of a product by one factor is the product of the others. */
static tt_status expand_prod(struct tt_call *call)
{
	struct tt_tensor *input = call->args->values[1].tensor;
	bool along = tt_value_given(tt_call_arg(call, "dim"));
	struct ttnn_value zeros[TTNN_MAX_RANK], ones[TTNN_MAX_RANK];
	uint32_t rank = call->args->values[0].tensor->spec.shape.rank;
	struct tt_backward backward = {
		.text = along ? "p = prod(x, dim, True); t = multiply(p, g); "
				"return multiply(reciprocal(x), t)"
			      : "p = prod(x); t = multiply(p, slice~(g, zeros, ones, ones)); "
				"return multiply(reciprocal(x), t)",
		.fallback = &input->spec.memory,
	};

	for (uint32_t i = 0; i < rank; i++) {
		zeros[i] = ttnn_v_int(0);
		ones[i] = ttnn_v_int(1);
	}
	tt_backward_name(&backward, "zeros", ttnn_v_list(zeros, rank));
	tt_backward_name(&backward, "ones", ttnn_v_list(ones, rank));
	return tt_backward_run(call, &backward);
}

/* The product of all others, slow and obvious. */
static tt_status golden_prod(struct tt_golden *golden)
{
	const struct tt_array *grad = tt_golden_in(golden, "grad_tensor");
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	bool along = tt_value_given(tt_call_arg(&golden->call, "dim"));
	int64_t dim = tt_call_int(&golden->call, "dim", 0);
	uint64_t at[TTNN_MAX_RANK], other[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(out && grad);
	dim += dim < 0 ? in->shape.rank : 0;
	for (uint64_t i = 0; i < in->count; i++) {
		double product = 1;

		tt_array_coordinate(at, in, i);
		for (uint64_t k = 0; k < in->count; k++) {
			bool same = true;

			tt_array_coordinate(other, in, k);
			for (uint32_t d = 0; along && d < in->shape.rank; d++)
				same &= d == dim || at[d] == other[d];
			if (same && k != i)
				product *= *tt_at(in, k);
		}
		*tt_at(out, i) = product * (along ? tt_array_broadcast(grad, &in->shape, at)
						  : *tt_at(grad, 0));
	}
	return TTNN_OK;
}

/* ---- repeat ---------------------------------------------------------------------------------------- */

/* What was repeated is added up; upstream does it along the first or the second of four dimensions. */
static tt_status expand_repeat(struct tt_call *call)
{
	struct tt_tensor *input = call->args->values[1].tensor;
	const struct ttnn_memory_config *memory = tt_call_memory(call, "memory_config");
	struct ttnn_shape shape = input->spec.padded;
	struct tt_backward backward = {.text = "return zeros_like(x)",
				       .fallback = &input->spec.memory};
	int64_t times[TTNN_MAX_RANK];
	size_t count;

	memory = memory ? memory : &input->spec.memory;
	TT_TRY(tt_call_ints(times, &count, TTNN_MAX_RANK, call, "shape"));
	TT_REQUIRE(count == 4 && shape.rank == 4, "rank == 4",
		   "repeat_bw takes tensors and repetitions of four dimensions");
	TT_REQUIRE(shape.dim[0] == 1, "shape_wh[0] == 1", "Input shape[0] must be 1 but got %u",
		   shape.dim[0]);
	if (times[0] && times[1] && times[2] && times[3]) {
		bool first = times[0] > 1;
		struct tt_tensor *zeros;
		const struct ttnn_arg args[] = {{NULL, ttnn_v_shape(&shape)},
						{NULL, ttnn_v_dtype(input->spec.dtype)},
						{NULL, ttnn_v_layout(input->spec.layout)},
						{NULL, ttnn_v_device(call->device)},
						{NULL, ttnn_v_memory(memory)}};

		if (first)
			TT_REQUIRE(times[1] == 1 && times[2] == 1 && times[3] == 1,
				   "shape[1] == 1 && shape[2] == 1 && shape[3] == 1",
				   "repeat[1], [2], [3] should be 1");
		else if (times[1] > 1)
			TT_REQUIRE(times[2] == 1 && times[3] == 1,
				   "shape[0] == 1 && shape[2] == 1 && shape[3] == 1",
				   "repeat[0], [2], [3] should be 1");
		else
			return TTNN_OK; /* upstream gives nothing at all */
		shape.dim[first ? 0 : 1] = 1;
		TT_TRY(tt_call_op(&zeros, call, "ttnn.zeros", args, 5));
		tt_backward_name(&backward, "out", ttnn_v_tensor(tt_call_own(call, zeros)));
		tt_backward_name(&backward, "along", ttnn_v_int(first ? 0 : 1));
		backward.text = "return moreh_sum(g, along, keepdim=True, output=out)";
	}
	return tt_backward_run(call, &backward);
}

/* Gradients of all copies add up. */
static tt_status golden_repeat(struct tt_golden *golden)
{
	const struct tt_array *grad = tt_golden_in(golden, "grad_tensor");
	const struct tt_array *in = tt_golden_in(golden, "input_tensor");
	struct tt_array *out = in ? tt_golden_out(golden, &in->shape, in->dtype) : NULL;
	uint64_t at[TTNN_MAX_RANK];

	TT_GOLDEN_NEED(out && grad);
	tt_divisor(grad->shape.rank == in->shape.rank);
	for (uint64_t i = 0; i < grad->count; i++) {
		tt_array_coordinate(at, grad, i);
		for (uint32_t d = 0; d < in->shape.rank; d++)
			at[d] %= tt_divisor(in->shape.dim[d]);
		*tt_at(out, tt_array_index(out, at)) += *tt_at(grad, i);
	}
	return TTNN_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

#define OP(name_, signature)                                                                       \
	{                                                                                          \
		.name = "ttnn." #name_ "_bw", .doc = "The gradient of " #name_ ".",                \
		.sigs = {"grad_tensor: Tensor, input_tensor: Tensor, " signature                   \
			 "memory_config: MemoryConfig? = None"},                                   \
		.expand = expand_##name_, .golden = golden_##name_, .pcc = 0.99,                   \
		.gives = "[Tensor]"                                                                \
	}

static const struct tt_op ops[] = {
	OP(prod, "*, dim: int? = None, "),
	OP(repeat, "shape: Shape, *, "),
};

const struct tt_op_family tt_family_backward_shape = {"backward", ops, TT_COUNT(ops)};
