/*
 * npy.c: any bytes as a .npy file. What is accepted is saved and loaded: that must be the same
 * tensor.
 */
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ttnn_tensor *tensor, *back;

	if (tt_npy_read(&tensor, data, size, NULL) != TTNN_OK)
		return 0;
	need(ttnn_npy_save(scratch(0), tensor) == TTNN_OK);
	need(ttnn_npy_load(&back, scratch(0)) == TTNN_OK);
	need(ttnn_tensor_spec_equal(ttnn_tensor_get_spec(tensor), ttnn_tensor_get_spec(back)));
	need(memcmp(ttnn_tensor_bytes(tensor), ttnn_tensor_bytes(back),
		    (size_t)tensor->spec.bytes) == 0);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(back);
	return 0;
}
