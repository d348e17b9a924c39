/* operations.c: open a virtual card, compute on it, see where the tensors lie, read them back. */
#include <stdio.h>
#include <stdlib.h>
#include <ttnn_ops.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((call) != TTNN_OK) {                                                           \
			fprintf(stderr, "operations: %s\n", ttnn_error());                         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

int main(void)
{
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_memory_view view;
	ttnn_device *device;
	ttnn_tensor *x, *y, *host;
	char *text;

	/* No card is needed: the chip is a model of an n150, with its banks and addresses. */
	TRY(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	TRY(ttnn_arange(&x, -4, 4,
			&(struct ttnn_arange_options){.layout = ttnn_v_layout(TTNN_TILE),
						      .device = ttnn_v_device(device)}));
	/* Every operation has a typed function; `ttnn ops NAME` shows what it takes. */
	TRY(ttnn_relu(&y, x, &(struct ttnn_relu_options){.memory_config = ttnn_v_memory(&l1)}));
	TRY(ttnn_device_memory(&view, device, TTNN_L1));
	printf("The result takes %llu bytes in each of %u banks of L1.\n",
	       (unsigned long long)view.allocated, view.banks);
	TRY(ttnn_to_torch(&host, y, NULL));
	TRY(ttnn_tensor_text(&text, host, NULL));
	printf("%s\n", text);
	ttnn_free(text);
	ttnn_tensor_unref(host);
	ttnn_tensor_unref(y);
	ttnn_tensor_unref(x);
	ttnn_device_unref(device);
	return 0;
}
