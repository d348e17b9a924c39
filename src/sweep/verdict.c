/* verdict.c: results against goldens. */
#include "sweep/verdict.h"

#include <math.h>

#include "base/mem.h"
#include "device/devtensor.h"
#include "tensor/pcc.h"
#include "tensor/shape.h"

#define CONSTANT 1e-15 /* the spread of numbers that are meant to be the same, over their size */
#define NEAR 1e-2      /* how far a constant may be rounded: that of block floats */

/*
 * The correlation; of a golden that is one number everywhere there is none: the result has to be that number, as far as
 * its type can tell.
 */
static double alike(const double *want, const double *got, uint64_t count)
{
	double low = INFINITY, high = -INFINITY, worst = 0;

	for (uint64_t i = 0; i < count; i++) {
		low = fmin(low, want[i]);
		high = fmax(high, want[i]);
		worst = fmax(worst, fabs(want[i] - got[i]));
	}
	if (high - low <= CONSTANT * fmax(fabs(low), fabs(high)))
		return worst <= NEAR * fmax(1, fabs(high)) ? 1 : 0;
	return tt_pcc_of(want, got, count);
}

/* Numbers where the golden has none, or none where it has some. */
static uint64_t count_strange(const double *want, const double *got, uint64_t count)
{
	uint64_t strange = 0;

	for (uint64_t i = 0; i < count; i++)
		strange += isfinite(want[i]) && isnan(got[i]);
	return strange;
}

static tt_status add_one(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	double *values = tt_calloc(want->count + 1, sizeof(*values)), pcc = 1;
	tt_status status;

	if (!values)
		return tt_fail_nomem();
	status = tt_tensor_numbers(values, want->count, got);
	if (status == TTNN_OK && want->count)
		pcc = alike(want->data, values, want->count);
	verdict->strange += count_strange(want->data, values, want->count);
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
