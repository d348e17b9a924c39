#include "ops/collective/exchange.h"

#include "backend/backend.h"
#include "device/devtensor.h"

tt_status tt_chip_read(double **out, const struct tt_launch *launch, size_t input, uint32_t chip)
{
	uint64_t count = tt_shape_count(&launch->inputs[input]->spec.shape);
	struct tt_tensor *in;
	tt_status status;

	*out = tt_arena_alloc(launch->arena, (count + 1) * sizeof(**out));
	TT_NEED_MEMORY(*out);
	TT_TRY(tt_tensor_resident(&in, launch->inputs[input], chip, TT_BUFFER_READ));
	status = tt_tensor_numbers(*out, count, in);
	ttnn_tensor_unref(in);
	return status;
}

tt_status tt_chip_write(const struct tt_launch *launch, size_t output, uint32_t chip,
			const float *values)
{
	return tt_chip_write_as(launch, output, chip, values, TTNN_FLOAT32);
}

tt_status tt_chip_write_as(const struct tt_launch *launch, size_t output, uint32_t chip,
			   const void *values, enum ttnn_dtype dtype)
{
	const struct ttnn_tensor_spec *own = &launch->outputs[output]->spec;
	struct ttnn_spec_args args = {
		.shape = own->shape, .dtype = own->dtype, .layout = own->layout, .tile = own->tile};
	struct ttnn_tensor_spec spec;
	struct tt_tensor *host, *out;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_from_data(&host, values, dtype, &spec, 0));
	status = tt_tensor_resident(&out, launch->outputs[output], chip, TT_BUFFER_OVERWRITE);
	if (status == TTNN_OK) {
		status = tt_backend_get()->reshape(out, host);
		ttnn_tensor_unref(out);
	}
	ttnn_tensor_unref(host);
	return status;
}

float *tt_chip_zeros(const struct tt_launch *launch, size_t output)
{
	uint64_t count = tt_shape_count(&launch->outputs[output]->spec.shape);

	return tt_arena_calloc(launch->arena, count + 1, sizeof(float));
}
