/* verdict.c: results against goldens. */
#include "sweep/verdict.h"

#include <math.h>

#include "base/mem.h"
#include "device/devtensor.h"
#include "tensor/pcc.h"
#include "tensor/shape.h"

static tt_status add_one(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	double *values = tt_calloc(want->count + 1, sizeof(*values));
	struct tt_pcc pcc = tt_pcc_begin();
	tt_status status;
	double one;

	if (!values)
		return tt_fail_nomem();
	status = tt_tensor_numbers(values, want->count, got);
	if (status == TTNN_OK) {
		tt_pcc_look(&pcc, want->data, values, want->count);
		tt_pcc_add(&pcc, want->data, values, want->count);
		one = tt_pcc_judged(&pcc, verdict->terms);
		if (!(one >= verdict->pcc) && !isnan(verdict->pcc)) /* a NaN stays */
			verdict->pcc = one;
		verdict->compared++;
		verdict->error = fmax(verdict->error, pcc.worst);
		verdict->strange |= pcc.strange;
	}
	tt_free(values);
	return status;
}

tt_status tt_verdict_add(struct tt_verdict *verdict, ttnn_tensor *got, const struct tt_array *want)
{
	if (!ttnn_shape_equal(&got->spec.shape, &want->shape))
		return tt_fail(TTNN_INVALID, "the result has another shape than the golden");
	for (size_t i = 0; i < (verdict->first ? 1 : ttnn_tensor_shard_count(got)); i++) {
		ttnn_tensor *shard;
		tt_status status;

		TT_TRY(ttnn_tensor_shard(&shard, got, i));
		status = add_one(verdict, shard, want);
		ttnn_tensor_unref(shard);
		TT_TRY(status);
	}
	return TTNN_OK;
}
