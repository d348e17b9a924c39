#include "ops/values.h"

#include "backend/backend.h"
#include "device/devtensor.h"
#include "ops/scratch.h"

tt_status tt_values_of(double **out, uint64_t *count, const struct tt_launch *launch, size_t input)
{
	TT_TRY(ttnn_shape_volume(count, &launch->inputs[input]->spec.shape));
	*out = tt_arena_alloc(launch->arena, (*count + 1) * sizeof(**out));
	return *out ? tt_tensor_numbers(*out, *count, launch->inputs[input]) : tt_fail_nomem();
}

/* Through a tensor on the host, in rows. */
tt_status tt_values_write(struct tt_tensor *out, const void *data, enum ttnn_dtype dtype)
{
	struct ttnn_spec_args args = {.shape = out->spec.shape, .dtype = dtype};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_from_data(&host, data, dtype, &spec, 0));
	TT_TRY(tt_scratch_keep(host));
	return tt_backend_get()->reshape(out, host);
}
