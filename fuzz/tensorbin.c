/*
 * tensorbin.c: any bytes as a tensor file. What is accepted is printed, saved and loaded: that must
 * be the same tensor with the same shards, and saving it again must give the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tensor/tensorbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
	if (!condition)
		abort();
}

static const struct tt_shard *shard_at(const ttnn_tensor *tensor, const struct ttnn_shape *coord)
{
	for (size_t i = 0; i < tensor->layout->shard_count; i++)
		if (ttnn_shape_equal(&tensor->layout->shards[i].coord, coord))
			return &tensor->layout->shards[i];
	abort();
}

/* The files of a mesh may list shards in any order: the coordinate tells which is which. */
static void check_same(const ttnn_tensor *a, const ttnn_tensor *b)
{
	size_t bytes = (size_t)a->spec.bytes;

	need(ttnn_tensor_spec_equal(ttnn_tensor_get_spec(a), ttnn_tensor_get_spec(b)));
	need(ttnn_tensor_shard_count(a) == ttnn_tensor_shard_count(b));
	need(!a->layout == !b->layout);
	if (!a->layout)
		need(memcmp(ttnn_tensor_bytes(a), ttnn_tensor_bytes(b), bytes) == 0);
	for (size_t i = 0; a->layout && i < a->layout->shard_count; i++) {
		const struct tt_shard *x = &a->layout->shards[i], *y = shard_at(b, &x->coord);

		need(memcmp(x->storage->data, y->storage->data, bytes) == 0);
	}
}

static void check_round_trip(const ttnn_tensor *tensor)
{
	ttnn_tensor *back;
	size_t sizes[2];
	char *bytes[2];

	if (ttnn_tensor_save(scratch(0), tensor) != TTNN_OK) {
		need(strstr(ttnn_error(), "hold the same data, but they differ") != NULL);
		return;
	}
	need(ttnn_tensor_load(&back, scratch(0)) == TTNN_OK);
	check_same(tensor, back);
	need(ttnn_tensor_save(scratch(1), back) == TTNN_OK);
	for (int i = 0; i < 2; i++)
		need(tt_file_read(&bytes[i], &sizes[i], scratch(i)) == TTNN_OK);
	need(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
	tt_free(bytes[0]);
	tt_free(bytes[1]);
	ttnn_tensor_unref(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ttnn_tensor *tensor;
	char *text;

	if (tt_tensorbin_read(&tensor, data, size, NULL) != TTNN_OK)
		return 0;
	if (ttnn_tensor_text(&text, tensor, NULL) == TTNN_OK)
		ttnn_free(text);
	check_round_trip(tensor);
	ttnn_tensor_unref(tensor);
	return 0;
}
