/* compare.c: how alike the elements of two tensors are. */
#include <math.h>
#include <ttnn_frontend.h>

#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

#define BATCH 1024 /* elements that are read at once */

/* Sums over the pairs that count. */
struct sums {
	double count, mean[2];     /* of those that are finite */
	double square[2], product; /* around the means */
	bool equal, close,
		hopeless; /* hopeless: one is a NaN or infinite, the other is not the same */
};

/* Both are NaN, or the same infinity: such a pair says nothing. */
static bool is_same_special(double a, double b)
{
	return (isnan(a) && isnan(b)) || (isinf(a) && a == b);
}

static void add_means(struct sums *sums, const double *a, const double *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_same_special(a[i], b[i]))
			continue;
		sums->hopeless |= !isfinite(a[i]) || !isfinite(b[i]);
		sums->equal &= a[i] == b[i];
		sums->close &= fabs(a[i] - b[i]) <= 1e-8 + 1e-5 * fabs(b[i]);
		sums->count++;
		sums->mean[0] += a[i];
		sums->mean[1] += b[i];
	}
}

static void add_products(struct sums *sums, const double *a, const double *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double x = a[i] - sums->mean[0], y = b[i] - sums->mean[1];

		if (is_same_special(a[i], b[i]))
			continue;
		sums->square[0] += x * x;
		sums->square[1] += y * y;
		sums->product += x * y;
	}
}

static tt_status walk(struct sums *sums, const ttnn_tensor *a, const ttnn_tensor *b, uint64_t count,
		      void (*add)(struct sums *, const double *, const double *, size_t))
{
	const uint8_t *from[2] = {ttnn_tensor_bytes(a), ttnn_tensor_bytes(b)};
	double x[BATCH], y[BATCH];

	for (uint64_t i = 0; i < count; i += BATCH) {
		size_t batch = (size_t)(count - i < BATCH ? count - i : BATCH);

		TT_TRY(tt_convert_to_f64(x, from[0], a->spec.dtype, batch));
		TT_TRY(tt_convert_to_f64(y, from[1], b->spec.dtype, batch));
		add(sums, x, y, batch);
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
	struct sums sums = {.equal = true, .close = true};
	uint64_t count, other;
	double norm;

	TT_TRY(need_plain(expected));
	TT_TRY(need_plain(actual));
	TT_TRY(ttnn_shape_volume(&count, &expected->spec.shape));
	TT_TRY(ttnn_shape_volume(&other, &actual->spec.shape));
	if (count != other)
		return tt_fail(TTNN_INVALID, "%llu elements cannot be compared with %llu",
			       (unsigned long long)count, (unsigned long long)other);
	TT_TRY(walk(&sums, expected, actual, count, add_means));
	if (sums.hopeless || sums.equal) {
		*out = sums.hopeless ? 0 : 1;
		return TTNN_OK;
	}
	sums.mean[0] /= sums.count;
	sums.mean[1] /= sums.count;
	TT_TRY(walk(&sums, expected, actual, count, add_products));
	norm = sqrt(sums.square[0]) * sqrt(sums.square[1]);
	*out = norm > 0 ? sums.product / norm : sums.close;
	return TTNN_OK;
}
