/*
 * tensorbin.c: any bytes as a tensor file. What is accepted is printed, saved and loaded: that must
 * be the same tensor, and saving it again must give the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "tensor/tensorbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
	if (!condition)
		abort();
}

static void check_same(const ttnn_tensor *a, const ttnn_tensor *b)
{
	need(ttnn_tensor_spec_equal(ttnn_tensor_get_spec(a), ttnn_tensor_get_spec(b)));
	need(ttnn_tensor_shard_count(a) >= ttnn_tensor_shard_count(b));
	for (size_t i = 0; i < ttnn_tensor_shard_count(b); i++) {
		ttnn_tensor *x, *y;

		need(ttnn_tensor_shard(&x, a, i) == TTNN_OK);
		need(ttnn_tensor_shard(&y, b, i) == TTNN_OK);
		/* Order and number of shards are the topology's, which a file may contradict. */
		if (ttnn_tensor_shard_count(a) == 1)
			need(memcmp(ttnn_tensor_bytes(x), ttnn_tensor_bytes(y),
				    (size_t)a->spec.bytes) == 0);
		ttnn_tensor_unref(x);
		ttnn_tensor_unref(y);
	}
}

static void check_round_trip(const ttnn_tensor *tensor)
{
	char path[2][64], *bytes[2];
	ttnn_tensor *back;
	size_t sizes[2];

	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "/tmp/ttnn-fuzz-%d-%d", (int)getpid(), i);
	if (ttnn_tensor_save(path[0], tensor) != TTNN_OK)
		return; /* replicas that differ, no shard that the topology knows of */
	if (ttnn_tensor_load(&back, path[0]) == TTNN_OK) {
		check_same(tensor, back);
		need(ttnn_tensor_save(path[1], back) == TTNN_OK);
		for (int i = 0; i < 2; i++)
			need(tt_file_read(&bytes[i], &sizes[i], path[i]) == TTNN_OK);
		need(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
		tt_free(bytes[0]);
		tt_free(bytes[1]);
		unlink(path[1]);
		ttnn_tensor_unref(back);
	}
	unlink(path[0]);
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
