/* given_mesh.h: the same for operations of a mesh, whose chips have numbers of their own. Include it after golden.h. */
#ifndef TT_TESTS_OPS_GIVEN_MESH_H
#define TT_TESTS_OPS_GIVEN_MESH_H

#include "device/device.h"
#include "device/devtensor.h"
#include "ops/given.h"

/* All following cases are on a mesh of so many chips. */
static inline void given_mesh_of(const char *profile, uint32_t rows, uint32_t cols)
{
	if (golden_opened && golden_opened->rows == rows && golden_opened->cols == cols &&
	    strcmp(golden_opened->profile->name, profile) == 0)
		return;
	ttnn_device_unref(golden_opened);
	golden_opened = NULL;
	CHECK_OK(ttnn_mesh_open(&golden_opened,
				&(struct ttnn_mesh_options){.rows = rows, .cols = cols},
				&(struct ttnn_device_options){.profile = profile}));
}

static inline void given_mesh(uint32_t rows, uint32_t cols)
{
	given_mesh_of("t3k", rows, cols);
}

/* A tensor with other numbers on every chip. */
static inline ttnn_tensor *given_chips(struct given *given, const char *name,
				       const struct ttnn_spec_args *args, double low, double high)
{
	ttnn_tensor *tensor = given_tensor(given, name, args, low, high);

	for (uint32_t chip = 1; chip < golden_opened->rows * golden_opened->cols; chip++) {
		ttnn_tensor *other = golden_make(args, &given->state, low, high), *from, *to;

		CHECK_OK(tt_tensor_resident(&from, other, 0, TT_BUFFER_READ));
		CHECK_OK(tt_tensor_resident(&to, tensor, chip, TT_BUFFER_OVERWRITE));
		memcpy(tt_tensor_data(to), tt_tensor_data(from), (size_t)to->spec.bytes);
		ttnn_tensor_unref(from);
		ttnn_tensor_unref(to);
		ttnn_tensor_unref(other);
	}
	return tensor;
}

/* These whole numbers on one chip of a tensor in rows that there is already. */
static inline void given_put(ttnn_tensor *tensor, uint32_t chip, const int32_t *numbers)
{
	struct ttnn_spec_args args = {.shape = tensor->spec.shape, .dtype = tensor->spec.dtype};
	ttnn_tensor *other = golden_upload(numbers, TTNN_INT32, &args, 0), *from, *to;

	CHECK_OK(tt_tensor_resident(&from, other, 0, TT_BUFFER_READ));
	CHECK_OK(tt_tensor_resident(&to, tensor, chip, TT_BUFFER_OVERWRITE));
	memcpy(tt_tensor_data(to), tt_tensor_data(from), (size_t)to->spec.bytes);
	ttnn_tensor_unref(from);
	ttnn_tensor_unref(to);
	ttnn_tensor_unref(other);
}

#endif
