#include "ops/scratch.h"

#include "base/mem.h"
#include "base/vec.h"
#include "ops/mem_rows.h"

static _Thread_local TT_VEC(struct tt_tensor *) own;

tt_status tt_scratch_keep(struct tt_tensor *tensor)
{
	struct tt_tensor **place = TT_VEC_PUSH(&own);

	if (!place) {
		ttnn_tensor_unref(tensor);
		return tt_fail_nomem();
	}
	*place = tensor;
	return TTNN_OK;
}

tt_status tt_scratch(struct tt_tensor **out, const struct ttnn_shape *shape, enum ttnn_dtype dtype,
		     enum ttnn_layout layout)
{
	static const struct ttnn_memory_config memory;
	struct ttnn_tensor_spec spec;

	TT_TRY(tt_spec_simple(&spec, shape, dtype, layout, &memory));
	TT_TRY(ttnn_tensor_new(out, &spec));
	return tt_scratch_keep(*out);
}

tt_status tt_scratch_f32(struct tt_tensor **out, const struct ttnn_shape *shape)
{
	return tt_scratch(out, shape, TTNN_FLOAT32, TTNN_ROW_MAJOR);
}

tt_status tt_scratch_width(struct tt_tensor **out, const struct ttnn_shape *like, uint32_t width)
{
	struct ttnn_shape shape = *like;

	TT_NEED(shape.rank, "a scalar has no last dimension");
	shape.dim[shape.rank - 1] = width;
	return tt_scratch_f32(out, &shape);
}

void tt_scratch_end(void)
{
	while (own.count)
		ttnn_tensor_unref(own.data[--own.count]);
	TT_VEC_DEINIT(&own);
}
