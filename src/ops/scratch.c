#include "ops/scratch.h"

#include <assert.h>

#include "ops/mem_rows.h"

/* The most that one kernel may have. */
#define SCRATCH_MAX 32

static _Thread_local struct {
	struct tt_tensor *tensors[SCRATCH_MAX];
	size_t count;
} own;

struct tt_tensor *tt_scratch_keep(struct tt_tensor *tensor)
{
	assert(own.count < SCRATCH_MAX);
	own.tensors[own.count++] = tensor;
	return tensor;
}

tt_status tt_scratch(struct tt_tensor **out, const struct ttnn_shape *shape, enum ttnn_dtype dtype,
		     enum ttnn_layout layout)
{
	static const struct ttnn_memory_config memory;
	struct ttnn_tensor_spec spec;

	TT_TRY(tt_spec_simple(&spec, shape, dtype, layout, &memory));
	TT_TRY(ttnn_tensor_new(out, &spec));
	tt_scratch_keep(*out);
	return TTNN_OK;
}

tt_status tt_scratch_f32(struct tt_tensor **out, const struct ttnn_shape *shape)
{
	return tt_scratch(out, shape, TTNN_FLOAT32, TTNN_ROW_MAJOR);
}

tt_status tt_scratch_width(struct tt_tensor **out, const struct ttnn_shape *like, uint32_t width)
{
	struct ttnn_shape shape = *like;

	shape.dim[shape.rank - 1] = width;
	return tt_scratch_f32(out, &shape);
}

void tt_scratch_end(void)
{
	while (own.count)
		ttnn_tensor_unref(own.tensors[--own.count]);
}
