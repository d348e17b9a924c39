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

enum ttnn_status ttnn_tensor_pcc(double *out, const ttnn_tensor *expected,
				 const ttnn_tensor *actual)
{
	struct tt_pcc pcc = tt_pcc_begin();
	uint64_t count, other;

	TT_TRY(need_plain(expected));
	TT_TRY(need_plain(actual));
	TT_TRY(ttnn_shape_volume(&count, &expected->spec.shape));
	TT_TRY(ttnn_shape_volume(&other, &actual->spec.shape));
	if (count != other)
		return tt_fail(TTNN_INVALID, "%llu elements cannot be compared with %llu",
			       (unsigned long long)count, (unsigned long long)other);
	pcc.single = expected->spec.dtype == TTNN_FLOAT32 || expected->spec.dtype == TTNN_BFLOAT16;
	TT_TRY(walk(&pcc, expected, actual, count, tt_pcc_look));
	TT_TRY(walk(&pcc, expected, actual, count, tt_pcc_add));
	*out = tt_pcc_value(&pcc);
	return TTNN_OK;
}

/* ---- as upstream's tests compare ---------------------------------------------------------------------- */

/* What is close enough where a correlation says nothing. */
#define CLOSE_RELATIVE 1e-5
#define CLOSE_ABSOLUTE 1e-4

/* Two tensors pair by pair, first as they are, then with 0 for what is not finite. */
struct pairs {
	double count, nan[2], nonzero[2];
	double sum[2], mean[2], square[2], product;
	bool raw_close, close, equal;
};

static bool is_close(double expected, double actual)
{
	return fabs(expected - actual) <= CLOSE_ABSOLUTE + CLOSE_RELATIVE * fabs(actual);
}

static void add_raw(struct pairs *pairs, const double *a, const double *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double x = isfinite(a[i]) ? a[i] : 0, y = isfinite(b[i]) ? b[i] : 0;

		pairs->nan[0] += isnan(a[i]);
		pairs->nan[1] += isnan(b[i]);
		pairs->nonzero[0] += a[i] != 0;
		pairs->nonzero[1] += b[i] != 0;
		pairs->raw_close &= is_close(a[i], b[i]);
		pairs->close &= is_close(x, y);
		pairs->equal &= x == y;
		pairs->sum[0] += x;
		pairs->sum[1] += y;
	}
	pairs->count += (double)count;
}

/* Differences from the mean are float32's there, their products float64's. */
static void add_centred(struct pairs *pairs, const double *a, const double *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double x = (float)((isfinite(a[i]) ? a[i] : 0) - pairs->mean[0]);
		double y = (float)((isfinite(b[i]) ? b[i] : 0) - pairs->mean[1]);

		pairs->square[0] += x * x;
		pairs->square[1] += y * y;
		pairs->product += x * y;
	}
}

static tt_status walk_pairs(struct pairs *pairs, const ttnn_tensor *a, const ttnn_tensor *b,
			    void (*add)(struct pairs *, const double *, const double *, size_t))
{
	const uint8_t *from[2] = {ttnn_tensor_bytes(a), ttnn_tensor_bytes(b)};
	double x[BATCH], y[BATCH];
	uint64_t count;

	TT_TRY(ttnn_shape_volume(&count, &a->spec.shape));
	for (uint64_t i = 0; i < count; i += BATCH) {
		size_t batch = (size_t)(count - i < BATCH ? count - i : BATCH);

		TT_TRY(tt_convert_to_f64(x, from[0], a->spec.dtype, batch));
		TT_TRY(tt_convert_to_f64(y, from[1], b->spec.dtype, batch));
		add(pairs, x, y, batch);
		from[0] += batch * tt_dtype_bytes(a->spec.dtype);
		from[1] += batch * tt_dtype_bytes(b->spec.dtype);
	}
	return TTNN_OK;
}

/* The same of tensors of one type. */
static tt_status comp_pcc(double *out, const ttnn_tensor *expected, const ttnn_tensor *actual)
{
	struct pairs pairs = {.raw_close = true, .close = true, .equal = true};
	bool nan[2];
	double norm;

	TT_TRY(walk_pairs(&pairs, expected, actual, add_raw));
	nan[0] = pairs.count > 0 && pairs.nan[0] == pairs.count;
	nan[1] = pairs.count > 0 && pairs.nan[1] == pairs.count;
	if (nan[0] || nan[1]) {
		*out = nan[0] && nan[1];
		return TTNN_OK;
	}
	if (!pairs.nonzero[0] != !pairs.nonzero[1]) {
		*out = pairs.raw_close;
		return TTNN_OK;
	}
	if (pairs.equal) {
		*out = 1;
		return TTNN_OK;
	}
	for (int i = 0; i < 2; i++)
		pairs.mean[i] = (float)(pairs.sum[i] / pairs.count);
	TT_TRY(walk_pairs(&pairs, expected, actual, add_centred));
	norm = sqrt(pairs.square[0]) * sqrt(pairs.square[1]);
	*out = pairs.square[0] > 0 && pairs.square[1] > 0 ? pairs.product / norm : pairs.close;
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
	status = comp_pcc(out, expected, cast);
	ttnn_tensor_unref(cast);
	return status;
}
