/* nonzero_kernel.c: which elements are not zero. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

static bool is_set(const struct tt_area *rows, uint64_t n)
{
	switch (rows->dtype) {
	case TTNN_FLOAT32:
		return ((const float *)rows->data)[n] != 0;
	default:
		return ((const int32_t *)rows->data)[n] != 0;
	}
}

/* The coordinates of all that are not zero, one after the other; returns how many there are. */
static uint32_t find(uint32_t *where, const struct tt_area *rows, uint64_t count)
{
	const struct ttnn_shape *shape = &rows->shape;
	uint32_t found = 0;

	for (uint64_t n = 0; n < count; n++) {
		uint64_t rest = n;

		if (!is_set(rows, n))
			continue;
		for (uint32_t d = shape->rank; d-- > 0; rest /= shape->dim[d])
			where[found * shape->rank + d] = (uint32_t)(rest % shape->dim[d]);
		found++;
	}
	return found;
}

static tt_status run(struct tt_scratch *scratch, const struct tt_area *count,
		     const struct tt_area *where, const struct tt_area *in)
{
	enum ttnn_dtype dtype = tt_dtype_is_integer(in->dtype) ? TTNN_INT32 : TTNN_FLOAT32;
	struct tt_area rows;
	uint64_t volume;

	TT_TRY(ttnn_shape_volume(&volume, &in->shape));
	TT_TRY(tt_cpu_rows(&rows, &scratch[0], in, dtype));
	TT_TRY(tt_scratch_init(&scratch[1], &count->shape, TTNN_UINT32, NULL));
	TT_TRY(tt_scratch_init(&scratch[2], &where->shape, TTNN_UINT32, NULL));
	memset(scratch[1].block, 0, scratch[1].bytes);
	memset(scratch[2].block, 0, scratch[2].bytes);
	*(uint32_t *)scratch[1].area.data = find(scratch[2].area.data, &rows, volume);
	TT_TRY(tt_cpu_copy(count, &scratch[1].area));
	return tt_cpu_copy(where, &scratch[2].area);
}

tt_status tt_cpu_nonzero(struct tt_tensor *count, struct tt_tensor *where, struct tt_tensor *in)
{
	struct tt_session session = {0};
	struct tt_scratch scratch[3] = {{.block = NULL}};
	struct tt_area areas[3];
	uint64_t volume, room, counts;
	tt_status status;

	TT_TRY(tt_cpu_volume(&volume, in));
	TT_TRY(tt_cpu_volume(&room, where));
	TT_TRY(tt_cpu_volume(&counts, count));
	if (!counts || room / (in->spec.shape.rank ? in->spec.shape.rank : 1) < volume)
		return tt_fail(TTNN_INTERNAL, "no room for the places of all elements");
	status = tt_session_read(&areas[0], &session, in);
	if (status == TTNN_OK)
		status = tt_session_write(&areas[1], &session, count, false);
	if (status == TTNN_OK)
		status = tt_session_write(&areas[2], &session, where, false);
	if (status == TTNN_OK)
		status = run(scratch, &areas[1], &areas[2], &areas[0]);
	for (size_t i = 0; i < 3; i++)
		tt_scratch_deinit(&scratch[i]);
	return tt_session_end(&session, status);
}
