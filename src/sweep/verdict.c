/* verdict.c: results against goldens. */
#include "sweep/verdict.h"

#include <math.h>

#include "base/mem.h"
#include "device/devtensor.h"
#include "tensor/shape.h"

/* The correlation of two lists: 1 for two constants that are alike, 0 for one constant. */
static double correlation(const double *a, const double *b, uint64_t count)
{
	double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;

	for (uint64_t i = 0; i < count; i++) {
		ma += a[i];
		mb += b[i];
	}
	ma /= (double)count;
	mb /= (double)count;
	for (uint64_t i = 0; i < count; i++) {
		ab += (a[i] - ma) * (b[i] - mb);
		aa += (a[i] - ma) * (a[i] - ma);
		bb += (b[i] - mb) * (b[i] - mb);
	}
	if (aa < 1e-30 && bb < 1e-30)
		return fabs(ma - mb) <= 1e-2 * fmax(1, fabs(mb)) ? 1 : 0;
	return aa < 1e-30 || bb < 1e-30 ? 0 : ab / sqrt(aa * bb);
}

static tt_status add_one(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	double *values = tt_calloc(want->count + 1, sizeof(*values)), pcc;
	tt_status status;

	if (!values)
		return tt_fail_nomem();
	status = tt_tensor_numbers(values, want->count, got);
	pcc = want->count ? correlation(values, want->data, want->count) : 1;
	for (uint64_t i = 0; i < want->count; i++)
		verdict->error = fmax(verdict->error, fabs(values[i] - want->data[i]));
	tt_free(values);
	verdict->checked += want->count;
	if (!(pcc >= verdict->pcc))
		verdict->pcc = pcc;
	return status;
}

tt_status tt_verdict_add(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	if (!ttnn_shape_equal(&got->spec.shape, &want->shape))
		return tt_fail(TTNN_INVALID, "the result has another shape than the golden");
	for (size_t i = 0; i < ttnn_tensor_shard_count(got); i++) {
		ttnn_tensor *shard;
		tt_status status;

		TT_TRY(ttnn_tensor_shard(&shard, got, i));
		status = add_one(verdict, shard, want);
		ttnn_tensor_unref(shard);
		TT_TRY(status);
	}
	return TTNN_OK;
}
