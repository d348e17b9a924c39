#include "store/order.h"

#include <string.h>

#define BINARY                                                                                     \
	"input_tensor_a input_tensor_b dtype memory_config output_tensor activations "             \
	"input_tensor_a_activations input_tensor_b_activations =nullopt"
#define MATMUL_TAIL                                                                                \
	"transpose_a transpose_b memory_config dtype program_config activation "                   \
	"compute_kernel_config core_grid output_tile optional_output_tensor global_cb "            \
	"sub_device_id"

/* A row for each number of arguments, or one for all (0). */
static const struct {
	const char *op;
	size_t count;
	const char *names;
} orders[] = {
	{"ttnn.pad", 4, "input_tensor output_padded_shape input_tensor_start value"},
	{"ttnn.pad", 5, "input_tensor padding value use_multicore memory_config"},
	{"ttnn.permute", 0, "input_tensor dims memory_config pad_value"},
	{"ttnn.transpose", 0, "input_tensor dim1 dim2 memory_config pad_value"},
	{"ttnn.reshape", 2, "input_tensor shape"},
	{"ttnn.reshape", 3, "input_tensor logical_shape padded_shape"},
	{"ttnn.reshape", 5, "input_tensor shape memory_config pad_value reshape_tile_mode=CACHE"},
	{"ttnn.reshape", 6,
	 "input_tensor logical_shape padded_shape memory_config pad_value reshape_tile_mode=CACHE"},
	{"ttnn.conv2d", 0,
	 "input_tensor weight_tensor device in_channels out_channels batch_size input_height "
	 "input_width kernel_size stride padding dilation groups dtype bias_tensor conv_config "
	 "compute_config memory_config slice_config return_output_dim return_weights_and_bias"},
	{"ttnn.swish", 0, "input_tensor memory_config"},
	{"ttnn.silu", 0, "input_tensor"},
	{"ttnn.sigmoid_accurate", 0,
	 "input_tensor fast_and_approximate_mode memory_config output_tensor"},
	{"ttnn.multiply", 0, BINARY},
	{"ttnn.add", 0, BINARY},
	{"ttnn.sharded_to_interleaved", 0, "input_tensor memory_config output_dtype =0"},
	{"ttnn.interleaved_to_sharded", 0,
	 "input_tensor sharded_memory_config output_dtype keep_l1_aligned"},
	{"ttnn.global_avg_pool2d", 0, "input_tensor memory_config dtype"},
	{"ttnn.untilize_with_unpadding", 0,
	 "input_tensor output_tensor_end memory_config use_multicore"},
	{"ttnn.tilize_with_val_padding", 0,
	 "input_tensor output_tensor_shape pad_value memory_config"},
	{"ttnn.linear", 0, "input_tensor_a input_tensor_b bias " MATMUL_TAIL},
	{"ttnn.matmul", 0, "input_tensor_a input_tensor_b " MATMUL_TAIL},
	{"ttnn.slice", 0, "input_tensor starts ends steps memory_config output_tensor pad_value"},
	{"ttnn.embedding", 0,
	 "input_tensor weight padding_idx layout embeddings_type dtype memory_config "
	 "output_tensor"},
	{"ttnn.experimental.all_gather_async", 0,
	 "input_tensor persistent_output_buffer dim multi_device_global_semaphore num_links "
	 "memory_config topology subdevice_id cluster_axis use_optimal_ccl_for_llama "
	 "barrier_semaphore chunks_per_sync num_workers_per_link num_buffers_per_channel "
	 "reverse_order"},
	{"ttnn.rms_norm", 0,
	 "input_tensor epsilon weight bias residual_input_tensor memory_config program_config "
	 "compute_kernel_config"},
	{"ttnn.experimental.nlp_create_qkv_heads", 0,
	 "input input_kv num_heads num_kv_heads transpose_k_heads memory_config output_tensors"},
	{"ttnn.experimental.rotary_embedding_llama", 0,
	 "input_tensor cos_cache sin_cache trans_mat is_decode_mode memory_config "
	 "compute_kernel_config"},
	{"ttnn.typecast", 0, "input_tensor dtype memory_config output_tensor sub_core_grids"},
	{"ttnn.experimental.paged_fill_cache", 0,
	 "cache_tensor input_tensor page_table batch_idx_tensor batch_idx compute_kernel_config "
	 "mesh_coords"},
	{"ttnn.transformer.scaled_dot_product_attention", 0,
	 "input_tensor_q input_tensor_k input_tensor_v attn_mask is_causal scale "
	 "sliding_window_size memory_config program_config compute_kernel_config attention_sink"},
	{"ttnn.experimental.nlp_concat_heads", 0, "input_tensor memory_config output"},
	{"ttnn.concat", 0, "tensors dim memory_config output_tensor groups"},
	{"ttnn.untilize", 3, "input_tensor memory_config use_multicore"},
	{"ttnn.untilize", 5, "input_tensor memory_config use_multicore =1 sub_core_grids"},
	{"ttnn.experimental.nlp_create_qkv_heads_decode", 0,
	 "input_tensor num_heads num_kv_heads overlap_qk_coregrid batch_offset slice_size "
	 "memory_config output_tensors"},
	{"ttnn.experimental.paged_update_cache", 0,
	 "cache_tensor input_tensor update_idxs update_idxs_tensor share_cache page_table "
	 "batch_offset compute_kernel_config mesh_coords"},
	{"ttnn.transformer.paged_scaled_dot_product_attention_decode", 0,
	 "input_tensor_q input_tensor_k input_tensor_v page_table_tensor is_causal attn_mask "
	 "cur_pos_tensor attention_sink scale sliding_window_size memory_config program_config "
	 "compute_kernel_config"},
	{"ttnn.experimental.nlp_concat_heads_decode", 0,
	 "input_tensor num_heads memory_config output"},
	{"ttnn.topk", 0,
	 "input_tensor k dim largest sorted memory_config sub_core_grids indices_tensor "
	 "output_tensor"},
	{"ttnn.plus_one", 0, "input_tensor sub_core_grids skip_negative_entries"},
};

const char *tt_order_names(const char *op, size_t arg_count)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (strcmp(orders[i].op, op) == 0 &&
		    (!orders[i].count || orders[i].count == arg_count))
			return orders[i].names;
	return NULL;
}

bool tt_order_next(struct tt_order_word *out, const char **names)
{
	size_t length = strcspn(*names, " "), name = strcspn(*names, "= ");

	*out = (struct tt_order_word){.name = *names, .length = name};
	if (name < length) {
		out->usual = *names + name + 1;
		out->usual_length = length - name - 1;
	}
	*names += length + ((*names)[length] == ' ');
	return length;
}

static bool has(const struct tt_schema *schema, const struct tt_order_word *word)
{
	for (size_t i = 0; i < schema->count; i++)
		if (strncmp(schema->fields[i].name, word->name, word->length) == 0 &&
		    !schema->fields[i].name[word->length])
			return true;
	return !word->length;
}

/* How well a row fits: each name that the schema lacks counts against it. */
static int fit(const char *names, const struct tt_schema *schema)
{
	struct tt_order_word word;
	int score = 0;

	while (tt_order_next(&word, &names))
		score += has(schema, &word) ? 2 : -1;
	return score;
}

const char *tt_order_of(const char *op, const struct tt_schema *schema)
{
	const char *best = NULL;
	int most = 0;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		int score = strcmp(orders[i].op, op) == 0 ? fit(orders[i].names, schema) : 0;

		if (score > most) {
			most = score;
			best = orders[i].names;
		}
	}
	return best;
}
