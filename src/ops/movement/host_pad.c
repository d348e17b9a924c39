/* host_pad.c: tensors on the host made larger and smaller. */
#include "golden/golden_movement.h"
#include "ops/movement/movement.h"
#include "ops/movement/pad.h"

/* Rows are padded; tiles come back as they are, as upstream's do. */
static tt_status host_pad_pad(struct tt_tensor **out, struct tt_tensor *in,
			      const struct ttnn_shape *const shapes[2], double value)
{
	TT_REQUIRE(!tt_tensor_device(in), "is_cpu_tensor(input_tensor)",
		   "Tensor must be on host for padding");
	if (in->spec.layout == TTNN_ROW_MAJOR && shapes[1]->rank == shapes[0]->rank)
		return ttnn_tensor_pad(out, in, shapes[0], shapes[1]->dim, value);
	TT_NEED(in->spec.layout != TTNN_ROW_MAJOR,
		"Tensor.pad: the shape has rank %u, the start %u", (unsigned)shapes[0]->rank,
		(unsigned)shapes[1]->rank);
	*out = ttnn_tensor_ref(in);
	return TTNN_OK;
}

/* Recorded as Tensor::pad. */
tt_status tt_host_pad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
		      const struct ttnn_shape *const shapes[2], double value)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_shape(shapes[0]),
				    ttnn_v_shape(shapes[1]), ttnn_v_real(value)};
	tt_status status;

	tt_host_begin(call, "Tensor::pad", args, TT_COUNT(args));
	status = host_pad_pad(out, in, shapes, value);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* Only of rows. */
static tt_status unpad(struct tt_tensor **out, struct tt_tensor *in, const struct ttnn_shape *start,
		       const struct ttnn_shape *end)
{
	TT_REQUIRE(!tt_tensor_device(in), "is_cpu_tensor(input_tensor)",
		   "Tensor must be on host for unpadding");
	TT_REQUIRE(in->spec.layout == TTNN_ROW_MAJOR, "tensor.layout() == Layout::ROW_MAJOR",
		   "Tensor layout must be ROW_MAJOR for unpadding");
	if (start->rank != in->spec.padded.rank || end->rank != start->rank)
		return tt_need_dim(start, start->rank);
	return ttnn_tensor_unpad(out, in, start->dim, end->dim);
}

/* Recorded as Tensor::unpad. */
tt_status tt_host_unpad(struct tt_tensor **out, struct tt_call *call, struct tt_tensor *in,
			const struct ttnn_shape *start, const struct ttnn_shape *end)
{
	struct ttnn_value args[] = {ttnn_v_tensor(in), ttnn_v_shape(start), ttnn_v_shape(end)};
	tt_status status;

	tt_host_begin(call, "Tensor::unpad", args, TT_COUNT(args));
	status = unpad(out, in, start, end);
	tt_host_end(call, status == TTNN_OK ? *out : NULL, status);
	return status;
}

/* ---- the methods -------------------------------------------------------------------------------------------- */

/* The method pad() of a host tensor. */
static tt_status expand_pad(struct tt_call *call)
{
	struct ttnn_shape size, start;
	const struct ttnn_shape *const shapes[] = {&size, &start};
	struct tt_tensor *out;

	TT_TRY(tt_call_shape(&size, call, "output_tensor_shape"));
	TT_TRY(tt_call_shape(&start, call, "input_tensor_start"));
	return tt_call_give(call,
			    tt_host_pad(&out, call, tt_call_tensor(call, "input_tensor"), shapes,
					tt_call_real(call, "pad_value", 0)),
			    &out);
}

/* The method unpad(). */
static tt_status expand_unpad(struct tt_call *call)
{
	struct ttnn_shape start, end;
	struct tt_tensor *out;

	TT_TRY(tt_call_shape(&start, call, "output_tensor_start"));
	TT_TRY(tt_call_shape(&end, call, "output_tensor_end"));
	return tt_call_give(
		call, tt_host_unpad(&out, call, tt_call_tensor(call, "input_tensor"), &start, &end),
		&out);
}

static const struct tt_op ops[] = {
	{TT_MOVE_ROW(
		"Tensor.pad", expand_pad, tt_golden_host_pad,
		"A host tensor with padding of a value around it.",
		"input_tensor: Tensor, output_tensor_shape: sizes, input_tensor_start: sizes, pad_value: "
		"float")},
	{TT_MOVE_ROW("Tensor.unpad", expand_unpad, tt_golden_unpad, "A part of a host tensor.",
		     "input_tensor: Tensor, output_tensor_start: sizes, output_tensor_end: sizes")},
};

const struct tt_op_family tt_family_host_pad = {"movement", ops, TT_COUNT(ops)};
