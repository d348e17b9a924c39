/*
 * attention.h: the room of what language models do with tokens. Other rooms use nothing of it.
 *
 *	attention, attention_decode             softmax(q · kᵀ) · v over sequences, and of one new token
 *	attention_joint, attention_sparse       the same over two sequences, and of chosen columns
 *	attention_ring, attention_distributed   the same of rows that are cut among chips, or shared out
 *	heads, heads_decode, heads_split,       rows of all heads side by side, and heads as a dimension
 *	heads_groups, heads_separate
 *	rotary, rotary_llama                    positions
 *	attn_matmul, attn_matmul_group          products of new tokens with the matrices of their users
 *	kv_cache, paged_cache, plus_one         keys and values that are kept, and their counters
 *	embedding                               rows of a table
 *
 * This header is between attention.c, attention_decode.c and their goldens.
 */
#ifndef TT_OPS_ATTENTION_ATTENTION_H
#define TT_OPS_ATTENTION_ATTENTION_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* A field of an SDPAProgramConfig as a number; the fallback when there is no config or no field. */
uint64_t tt_sdpa_number(const struct ttnn_value *config, int field, uint64_t fallback);

/* The cores that a config gives, or all. */
tt_status tt_sdpa_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			const struct ttnn_value *config);

/* Refuses more of them than the device has. */
tt_status tt_sdpa_check_cores(const struct tt_launch *launch, const ttnn_core_set *cores);

#endif
