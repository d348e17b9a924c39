#include "ops/families.h"

/* To add a family: its table in a new file, and its name in this list. */
#define FAMILIES(X)                                                                                \
	X(all_gather)                                                                              \
	X(all_reduce)                                                                              \
	X(argmax)                                                                                  \
	X(attention)                                                                               \
	X(attention_decode)                                                                        \
	X(attention_distributed)                                                                   \
	X(attention_joint)                                                                         \
	X(attention_ring)                                                                          \
	X(attention_ring_exp)                                                                      \
	X(attention_sparse)                                                                        \
	X(attn_matmul)                                                                             \
	X(attn_matmul_group)                                                                       \
	X(backward)                                                                                \
	X(backward_binary)                                                                         \
	X(backward_shape)                                                                          \
	X(batch_norm)                                                                              \
	X(bcast)                                                                                   \
	X(bcast_to)                                                                                \
	X(binary)                                                                                  \
	X(binary_composite)                                                                        \
	X(broadcast)                                                                               \
	X(collective_async)                                                                        \
	X(complex)                                                                                 \
	X(concat)                                                                                  \
	X(conv)                                                                                    \
	X(conv3d)                                                                                  \
	X(copy)                                                                                    \
	X(creation)                                                                                \
	X(deformable_attention)                                                                    \
	X(delta_chunk)                                                                             \
	X(delta_recurrent)                                                                         \
	X(delta_rule)                                                                              \
	X(dropout)                                                                                 \
	X(ema)                                                                                     \
	X(embedding)                                                                               \
	X(example)                                                                                 \
	X(exchange)                                                                                \
	X(expert_regions)                                                                          \
	X(expert_token_remap)                                                                      \
	X(expert_weights)                                                                          \
	X(fill)                                                                                    \
	X(fold)                                                                                    \
	X(from_data)                                                                               \
	X(fused_matmul)                                                                            \
	X(fused_minimal)                                                                           \
	X(fused_norm)                                                                              \
	X(fused_strided)                                                                           \
	X(gate)                                                                                    \
	X(gather)                                                                                  \
	X(getitem)                                                                                 \
	X(grid_prepare)                                                                            \
	X(grid_sample)                                                                             \
	X(group_norm)                                                                              \
	X(grouped_gate)                                                                            \
	X(heads)                                                                                   \
	X(heads_boltz)                                                                             \
	X(heads_decode)                                                                            \
	X(heads_groups)                                                                            \
	X(heads_pairs)                                                                             \
	X(heads_q_split)                                                                           \
	X(heads_separate)                                                                          \
	X(heads_split)                                                                             \
	X(host)                                                                                    \
	X(host_pad)                                                                                \
	X(index_fill)                                                                              \
	X(indexed_cache)                                                                           \
	X(indexed_fill)                                                                            \
	X(indexer_ring)                                                                            \
	X(indexer_score)                                                                           \
	X(integral_image)                                                                          \
	X(isin)                                                                                    \
	X(kda_affine)                                                                              \
	X(kda_norm)                                                                                \
	X(kv_cache)                                                                                \
	X(llama_reduce)                                                                            \
	X(loss)                                                                                    \
	X(matmul)                                                                                  \
	X(matmul_decode)                                                                           \
	X(mesh_partition)                                                                          \
	X(matmul_ring)                                                                             \
	X(minimal_matmul)                                                                          \
	X(moe)                                                                                     \
	X(moe_fast_reduce)                                                                         \
	X(moe_gate)                                                                                \
	X(moe_tilize)                                                                              \
	X(moreh)                                                                                   \
	X(moreh_arange)                                                                            \
	X(moreh_backward)                                                                          \
	X(moreh_clip)                                                                              \
	X(moreh_fold)                                                                              \
	X(moreh_getitem)                                                                           \
	X(moreh_group_norm)                                                                        \
	X(moreh_layer_norm)                                                                        \
	X(moreh_layer_norm_backward)                                                               \
	X(moreh_matmul)                                                                            \
	X(moreh_matmul_backward)                                                                   \
	X(moreh_nll_loss)                                                                          \
	X(moreh_softmax)                                                                           \
	X(moreh_step)                                                                              \
	X(narrow)                                                                                  \
	X(neighbor_halo)                                                                           \
	X(neighbors)                                                                               \
	X(nonzero)                                                                                 \
	X(norm)                                                                                    \
	X(norm_gather)                                                                             \
	X(norm_heads)                                                                              \
	X(norm_welford)                                                                            \
	X(pad)                                                                                     \
	X(padded_cache)                                                                            \
	X(padded_slice)                                                                            \
	X(padding_config)                                                                          \
	X(paged_cache)                                                                             \
	X(permute)                                                                                 \
	X(planes)                                                                                  \
	X(plus_one)                                                                                \
	X(point_to_point)                                                                          \
	X(pool)                                                                                    \
	X(post_combine)                                                                            \
	X(prod)                                                                                    \
	X(quantization)                                                                            \
	X(random)                                                                                  \
	X(reduce_outer)                                                                            \
	X(reduce_scatter)                                                                          \
	X(reduce_scatter_direct)                                                                   \
	X(reduction)                                                                               \
	X(reduce_to_root)                                                                          \
	X(regroup)                                                                                 \
	X(repeat)                                                                                  \
	X(repeat_interleave)                                                                       \
	X(reshape)                                                                                 \
	X(reshape_on_device)                                                                       \
	X(roll)                                                                                    \
	X(rotary)                                                                                  \
	X(rows_complex)                                                                            \
	X(rotary_indexed)                                                                          \
	X(rotary_llama)                                                                            \
	X(rotate)                                                                                  \
	X(routing_remap)                                                                           \
	X(sampling)                                                                                \
	X(scan)                                                                                    \
	X(scatter)                                                                                 \
	X(shard)                                                                                   \
	X(shard_partial)                                                                           \
	X(slice)                                                                                   \
	X(slice_write)                                                                             \
	X(softmax)                                                                                 \
	X(sort)                                                                                    \
	X(sparse_matmul)                                                                           \
	X(split)                                                                                   \
	X(ssm)                                                                                     \
	X(std_var)                                                                                 \
	X(std_var_hw)                                                                              \
	X(ternary)                                                                                 \
	X(tilize)                                                                                  \
	X(to_layout)                                                                               \
	X(topk)                                                                                    \
	X(topk_large)                                                                              \
	X(topk_router)                                                                             \
	X(tosa)                                                                                    \
	X(transpose)                                                                               \
	X(typecast)                                                                                \
	X(unary)                                                                                   \
	X(unary_composite)                                                                         \
	X(untilize)                                                                                \
	X(untilize_unpad)                                                                          \
	X(upsample)                                                                                \
	X(yuv)
#define X(name) extern const struct tt_op_family tt_family_##name;
FAMILIES(X)
#undef X

const struct tt_op_family *const tt_families[] = {
#define X(name) &tt_family_##name,
	FAMILIES(X)
#undef X
};
const struct tt_op_alias tt_op_aliases[] = {
	{"ttnn.div_", "ttnn.divide_"},   {"ttnn.mul", "ttnn.multiply"},
	{"ttnn.mul_", "ttnn.multiply_"}, {"ttnn.sub", "ttnn.subtract"},
	{"ttnn.sub_", "ttnn.subtract_"},
};
const size_t tt_op_alias_count = sizeof(tt_op_aliases) / sizeof(tt_op_aliases[0]);

const size_t tt_family_count = sizeof(tt_families) / sizeof(tt_families[0]);
