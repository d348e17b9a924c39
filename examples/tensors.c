/* tensors.c: make a tensor, tilize it, convert it, print it, save it and load it. */
#include <stdlib.h>
#include <ttnn.h>

/* Every call that can fail returns TTNN_OK or leaves a sentence in ttnn_error(). */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((call) != TTNN_OK) {                                                           \
			fprintf(stderr, "tensors: %s\n", ttnn_error());                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void show(const char *what, const ttnn_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);
	char *text;

	TRY(ttnn_tensor_text(&text, tensor, NULL));
	printf("%s: %llu bytes\n%s\n\n", what, (unsigned long long)spec->bytes, text);
	ttnn_free(text);
}

int main(int argc, char **argv)
{
	const float data[2][5] = {{0.3f, 1.5f, -2.25f, 3, 4}, {0.3f, 70.5f, 7.001f, -80, 9}};
	struct ttnn_spec_args args = {.shape = {.rank = 2, .dim = {2, 5}}, .dtype = TTNN_FLOAT32};
	char path[4096];
	ttnn_tensor *rows, *tiles, *small, *loaded;
	struct ttnn_tensor_spec spec;

	TRY(ttnn_tensor_spec_make(&spec, &args)); /* checks the combination, computes the padding */
	TRY(ttnn_tensor_from_data(&rows, data, TTNN_FLOAT32, &spec, 0));
	show("As it was made", rows);
	TRY(ttnn_tensor_to_layout(&tiles, rows, TTNN_TILE, 0));
	show("In a tile of 32 x 32, the rest is padding", tiles);
	TRY(ttnn_tensor_to_dtype(&small, tiles, TTNN_BFLOAT8_B));
	show("As bfloat8_b, where 16 neighbours share one exponent", small);
	snprintf(path, sizeof(path), "%s.tensorbin", argc > 0 ? argv[0] : "tensors");
	/* A file that ttnn.load_tensor() of tt-metal reads, too. */
	TRY(ttnn_tensor_save(path, small));
	TRY(ttnn_tensor_load(&loaded, path));
	printf("Saved to %s and loaded. ", path);
	show("Now", loaded);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(tiles);
	ttnn_tensor_unref(small);
	ttnn_tensor_unref(loaded);
	return 0;
}
