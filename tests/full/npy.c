/*
 * npy.c: lets tests in other languages send an array through a tensor and back.
 *
 *	npy IN.npy OUT.npy [DTYPE [LAYOUT]]    with a stay in that data type and layout (row_major, tile)
 */
#include <stdio.h>
#include <string.h>
#include <ttnn.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		enum ttnn_status status_ = (call);                                                 \
		if (status_ != TTNN_OK)                                                            \
			return status_;                                                            \
	} while (0)

/* Replaces the tensor by what the conversion made of it. */
static void replace(ttnn_tensor **tensor, ttnn_tensor *made)
{
	ttnn_tensor_unref(*tensor);
	*tensor = made;
}

static enum ttnn_status convert(ttnn_tensor **tensor, const char *dtype_name, const char *layout)
{
	enum ttnn_dtype dtype;
	ttnn_tensor *made;

	if (layout && strcmp(layout, "tile") == 0) {
		TRY(ttnn_tensor_to_layout(&made, *tensor, TTNN_TILE, 0));
		replace(tensor, made);
	}
	if (dtype_name) {
		TRY(ttnn_dtype_find(&dtype, dtype_name));
		TRY(ttnn_tensor_to_dtype(&made, *tensor, dtype));
		replace(tensor, made);
	}
	return TTNN_OK;
}

int main(int argc, char **argv)
{
	ttnn_tensor *tensor = NULL;
	enum ttnn_status status;

	if (argc < 3) {
		fprintf(stderr, "usage: npy IN OUT [DTYPE [LAYOUT]]\n");
		return 2;
	}
	status = ttnn_npy_load(&tensor, argv[1]);
	if (status == TTNN_OK)
		status = convert(&tensor, argc > 3 ? argv[3] : NULL, argc > 4 ? argv[4] : NULL);
	if (status == TTNN_OK)
		status = ttnn_npy_save(argv[2], tensor);
	if (status != TTNN_OK)
		fprintf(stderr, "npy: %s\n", ttnn_error());
	ttnn_tensor_unref(tensor);
	return status != TTNN_OK;
}
