/* golden_attention.h: goldens of what transformers do: attention, heads, caches, rotary embedding. */
#ifndef TT_GOLDEN_GOLDEN_ATTENTION_H
#define TT_GOLDEN_GOLDEN_ATTENTION_H

#include "golden/golden.h"

/* Attention over sequences, and of single tokens. */
tt_status tt_golden_attention(struct tt_golden *golden);
tt_status tt_golden_attention_decode(struct tt_golden *golden);
tt_status tt_golden_attention_sparse(struct tt_golden *golden);
tt_status tt_golden_attention_joint(struct tt_golden *golden);
tt_status tt_golden_attention_ring(struct tt_golden *golden);
tt_status tt_golden_attention_distributed(struct tt_golden *golden);

/* Gated delta nets, whether token by token or in chunks: always token by token. */
tt_status tt_golden_delta_recurrent(struct tt_golden *golden);
tt_status tt_golden_delta_chunk(struct tt_golden *golden);

/* How much keys matter to queries, by heads together or by groups of them. */
tt_status tt_golden_indexer_score(struct tt_golden *golden);
tt_status tt_golden_indexer_ring(struct tt_golden *golden);
tt_status tt_golden_affine_reduce(struct tt_golden *golden);
tt_status tt_golden_affine_scan(struct tt_golden *golden);
tt_status tt_golden_affine_chain(struct tt_golden *golden);

/* Rows of new tokens times the matrices of their users. */
tt_status tt_golden_attn_matmul(struct tt_golden *golden);

/* Heads out of fused rows, and back. */
tt_status tt_golden_create_heads(struct tt_golden *golden);
tt_status tt_golden_nlp_create_heads(struct tt_golden *golden);
tt_status tt_golden_grouped_heads(struct tt_golden *golden);
tt_status tt_golden_separate_heads(struct tt_golden *golden);
tt_status tt_golden_concat_bert_heads(struct tt_golden *golden);
tt_status tt_golden_split_fused_heads(struct tt_golden *golden);
tt_status tt_golden_split_heads(struct tt_golden *golden);
tt_status tt_golden_fixed_heads(struct tt_golden *golden);
tt_status tt_golden_concat_heads(struct tt_golden *golden);
tt_status tt_golden_create_heads_decode(struct tt_golden *golden);
tt_status tt_golden_concat_heads_decode(struct tt_golden *golden);

/* The models with a form of their own: the row of such an operation. */
struct tt_fixed_heads {
	const char *device_op, *schema, *factory;
	uint32_t heads, kv_heads, width; /* heads 0: as many as there is room for, in all three */
	const char *unsharded; /* (optional) the name by which it refuses shards for results */
};

/* Caches with new rows, and counters. */
tt_status tt_golden_update_cache(struct tt_golden *golden);
tt_status tt_golden_fill_cache(struct tt_golden *golden);
tt_status tt_golden_update_padded_cache(struct tt_golden *golden);
tt_status tt_golden_zero_padded_cache(struct tt_golden *golden);
/* A paged cache as [blocks, heads, rows, width] in the order of its tiles; zeros: as it is. */
struct tt_paged_view {
	uint64_t heads, rows, width;
};
/* Which element of the cache is [place[0], place[1], place[2], place[3]] of the view. */
uint64_t tt_golden_paged_element(const struct tt_array *cache, const struct tt_paged_view *view,
				 const uint64_t place[4]);
tt_status tt_golden_paged_update(struct tt_golden *golden);
tt_status tt_golden_paged_update_both(struct tt_golden *golden);
tt_status tt_golden_paged_fill(struct tt_golden *golden);
tt_status tt_golden_plus_one(struct tt_golden *golden);

/* Rows rotated by their position. */
tt_status tt_golden_rotary(struct tt_golden *golden);
tt_status tt_golden_rotate_half(struct tt_golden *golden);
tt_status tt_golden_rotary_llama(struct tt_golden *golden);
tt_status tt_golden_rotary_fused(struct tt_golden *golden);

#endif
