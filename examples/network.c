/* network.c: a layer of a transformer, attention and MLP, on a virtual n150. Try it under `ttnn trace`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <ttnn_ops.h>

#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((call) != TTNN_OK) {                                                           \
			fprintf(stderr, "network: %s\n", ttnn_error());                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { TOKENS = 256, WIDTH = 512, HEADS = 8, HIDDEN = 4 * WIDTH };

static ttnn_device *device;
static struct ttnn_memory_config l1_config = {.buffer = TTNN_L1};
static struct ttnn_value l1; /* where what is computed goes; weights stay in DRAM */

/* Numbers between -range and range, the same in every run. */
static ttnn_tensor *draw(uint32_t rows, uint32_t cols, double range)
{
	static int seed;
	struct ttnn_shape shape = {.rank = 3, .dim = {1, rows, cols}};
	ttnn_tensor *out;

	TRY(ttnn_rand(&out, &shape, device,
		      &(struct ttnn_rand_options){.low = ttnn_v_real(-range),
						  .high = ttnn_v_real(range),
						  .seed = ttnn_v_int(++seed)}));
	return out;
}

/* x times new weights, `cols` numbers for each token. */
static ttnn_tensor *dense(ttnn_tensor *x, uint32_t cols, const char *activation)
{
	const struct ttnn_shape *shape = &ttnn_tensor_get_spec(x)->shape;
	uint32_t rows = shape->dim[shape->rank - 1];
	ttnn_tensor *weights = draw(rows, cols, sqrt(3.0 / rows)), *bias = draw(1, cols, 0.1);
	struct ttnn_linear_options options = {.bias = ttnn_v_tensor(bias), .memory_config = l1};
	ttnn_tensor *out;

	if (activation)
		options.activation = ttnn_v_string(activation);
	TRY(ttnn_linear(&out, x, weights, &options));
	ttnn_tensor_unref(weights);
	ttnn_tensor_unref(bias);
	return out;
}

static ttnn_tensor *norm(ttnn_tensor *x)
{
	ttnn_tensor *out;

	TRY(ttnn_layer_norm(&out, x, &(struct ttnn_layer_norm_options){.memory_config = l1}));
	return out;
}

/* Adds what a block made to what it was given, and gives both up. */
static ttnn_tensor *join(ttnn_tensor *x, ttnn_tensor *more)
{
	ttnn_tensor *out;

	TRY(ttnn_add(&out, x, ttnn_v_tensor(more),
		     &(struct ttnn_add_options){.memory_config = l1}));
	ttnn_tensor_unref(x);
	ttnn_tensor_unref(more);
	return out;
}

/* Every token looks at those before it. */
static ttnn_tensor *attention(ttnn_tensor *x)
{
	ttnn_tensor *normed = norm(x), *all = dense(normed, 3 * WIDTH, NULL), *seen, *heads, *out;
	struct ttnn_results qkv;

	ttnn_tensor_unref(normed);
	TRY(ttnn_transformer_split_query_key_value_and_split_heads(
		&qkv, all, HEADS,
		&(struct ttnn_transformer_split_query_key_value_and_split_heads_options){
			.transpose_key = ttnn_v_bool(false), .memory_config = l1}));
	ttnn_tensor_unref(all);
	TRY(ttnn_transformer_scaled_dot_product_attention(
		&seen, qkv.tensors[0], qkv.tensors[1], qkv.tensors[2],
		&(struct ttnn_transformer_scaled_dot_product_attention_options){.memory_config =
											l1}));
	for (size_t i = 0; i < qkv.count; i++)
		ttnn_tensor_unref(qkv.tensors[i]);
	TRY(ttnn_transformer_concatenate_heads(
		&heads, seen,
		&(struct ttnn_transformer_concatenate_heads_options){.memory_config = l1}));
	ttnn_tensor_unref(seen);
	out = dense(heads, WIDTH, NULL);
	ttnn_tensor_unref(heads);
	return join(x, out);
}

/* Every token by itself. */
static ttnn_tensor *mlp(ttnn_tensor *x)
{
	ttnn_tensor *normed = norm(x), *hidden = dense(normed, HIDDEN, "gelu"), *out;

	ttnn_tensor_unref(normed);
	out = dense(hidden, WIDTH, NULL);
	ttnn_tensor_unref(hidden);
	return join(x, out);
}

int main(void)
{
	struct ttnn_memory_view view;
	ttnn_tensor *x, *rows;
	char *text;

	l1 = ttnn_v_memory(&l1_config);
	TRY(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	x = draw(TOKENS, WIDTH, sqrt(3.0));
	ttnn_mark("attention", NULL);
	x = attention(x);
	ttnn_mark("mlp", NULL);
	x = mlp(x);
	TRY(ttnn_device_memory(&view, device, TTNN_L1));
	printf("%d tokens of %d numbers went through attention with %d heads and an MLP with %d hidden\n"
	       "units on an n150; the result takes %llu bytes in each of %u banks of L1:\n",
	       TOKENS, WIDTH, HEADS, HIDDEN, (unsigned long long)view.allocated, view.banks);
	TRY(ttnn_to_torch(&rows, x, NULL));
	TRY(ttnn_tensor_text(&text, rows, NULL));
	printf("%s\n", text);
	ttnn_free(text);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(x);
	ttnn_device_unref(device);
	return 0;
}
