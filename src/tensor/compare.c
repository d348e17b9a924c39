/* compare.c: how alike the elements of two tensors are. */
#include <ttnn_frontend.h>

#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/pcc.h"
#include "tensor/tensor.h"

#define BATCH 1024 /* elements that are read at once */

static tt_status walk(struct tt_pcc *pcc, const ttnn_tensor *a, const ttnn_tensor *b,
		      uint64_t count,
		      void (*add)(struct tt_pcc *, const double *, const double *, size_t))
{
	const uint8_t *from[2] = {ttnn_tensor_bytes(a), ttnn_tensor_bytes(b)};
	double x[BATCH], y[BATCH];

	for (uint64_t i = 0; i < count; i += BATCH) {
		size_t batch = (size_t)(count - i < BATCH ? count - i : BATCH);

		TT_TRY(tt_convert_to_f64(x, from[0], a->spec.dtype, batch));
		TT_TRY(tt_convert_to_f64(y, from[1], b->spec.dtype, batch));
		add(pcc, x, y, batch);
		from[0] += batch * tt_dtype_bytes(a->spec.dtype);
		from[1] += batch * tt_dtype_bytes(b->spec.dtype);
	}
	return TTNN_OK;
}

static tt_status need_plain(const ttnn_tensor *tensor)
{
	TT_TRY(tt_tensor_need_host(tensor, "a tensor to compare"));
	if (tensor->spec.layout != TTNN_ROW_MAJOR || tt_dtype_is_block(tensor->spec.dtype) ||
	    !ttnn_shape_equal(&tensor->spec.shape, &tensor->spec.padded))
		return tt_fail(TTNN_INVALID, "a tensor to compare is not in plain rows");
	return TTNN_OK;
}

static tt_status compare(struct tt_pcc *pcc, const ttnn_tensor *expected, const ttnn_tensor *actual)
{
	uint64_t count, other;

	TT_TRY(need_plain(expected));
	TT_TRY(need_plain(actual));
	TT_TRY(ttnn_shape_volume(&count, &expected->spec.shape));
	TT_TRY(ttnn_shape_volume(&other, &actual->spec.shape));
	if (count != other)
		return tt_fail(TTNN_INVALID, "%llu elements cannot be compared with %llu",
			       (unsigned long long)count, (unsigned long long)other);
	*pcc = tt_pcc_begin();
	pcc->single = expected->spec.dtype == TTNN_FLOAT32 || expected->spec.dtype == TTNN_BFLOAT16;
	TT_TRY(walk(pcc, expected, actual, count, tt_pcc_look));
	return walk(pcc, expected, actual, count, tt_pcc_add);
}

enum ttnn_status ttnn_tensor_pcc(double *out, const ttnn_tensor *expected,
				 const ttnn_tensor *actual)
{
	struct tt_pcc pcc;

	TT_TRY(compare(&pcc, expected, actual));
	*out = tt_pcc_value(&pcc);
	return TTNN_OK;
}

enum ttnn_status ttnn_tensor_comp_pcc(double *out, const ttnn_tensor *expected, ttnn_tensor *actual)
{
	ttnn_tensor *cast;
	tt_status status;

	TT_TRY(need_plain(expected));
	TT_TRY(need_plain(actual));
	if (!ttnn_shape_equal(&expected->spec.shape, &actual->spec.shape))
		return tt_fail(TTNN_INVALID, "tensors of different shapes cannot be compared");
	TT_TRY(ttnn_tensor_to_dtype(&cast, actual, expected->spec.dtype));
	status = ttnn_tensor_pcc(out, expected, cast);
	ttnn_tensor_unref(cast);
	return status;
}

enum ttnn_status ttnn_tensor_alike(double *out, const ttnn_tensor *golden,
				   const ttnn_tensor *result, uint64_t terms)
{
	struct tt_pcc pcc;

	TT_TRY(compare(&pcc, golden, result));
	*out = tt_pcc_judged(&pcc, (double)terms);
	return TTNN_OK;
}
