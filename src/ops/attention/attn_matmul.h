/*
 * attn_matmul.h: between attn_matmul.c and attn_matmul_group.c: products of one new token of every user.
 *
 *	a    [1, heads, users, k]       out    [1, heads, users, n]
 *	b    [users, key heads, k, n]; out of a cache also [users, 1, tokens, k], its first rows
 *
 * Rows and columns that a tile adds count as zeros.
 */
#ifndef TT_OPS_ATTENTION_ATTN_MATMUL_H
#define TT_OPS_ATTENTION_ATTN_MATMUL_H

#include "golden/golden_attention.h"
#include "ops/op.h"

enum { TT_ATTN_A, TT_ATTN_B }; /* inputs */

/* The first attributes of both programs; None of both: b is no cache. */
enum { TT_ATTN_TOKENS, TT_ATTN_TRANSPOSE };

/* How their texts show a grid, and what their signatures share. */
#define TT_ATTN_XY .text = TT_TEXT_FIXED, .fixed = "<xy_pair>"
#define TT_ATTN_ARGS "input_tensor_a: Tensor, input_tensor_b: Tensor, *, "
#define TT_ATTN_GRID_ARG "compute_with_storage_grid_size: CoreCoord, "
#define TT_ATTN_COMPUTE_ARG "compute_kernel_config: ComputeConfig? = None, "

/* The shape of the result: whole tiles. */
tt_status tt_attn_shape(struct ttnn_shape *out, const struct tt_launch *launch);

/* Refusals of both: what comes before they look at heads, and the number of users. */
tt_status tt_attn_check_kinds(const struct tt_launch *launch);
tt_status tt_attn_check_users(const struct tt_launch *launch);

/* Bytes of a tile on the way: sums of float32 stay so if a is. Refuses float32 whose sums are not. */
tt_status tt_attn_between(uint64_t *out, const struct tt_launch *launch,
			  const struct ttnn_value *compute);

/* Computes it, for tt_prog.kernel. */
tt_status tt_attn_kernel(struct tt_launch *launch);

/* Attributes: the config of the call or the usual one, and its grid. */
struct ttnn_value tt_attn_compute(struct tt_call *call);
struct ttnn_value tt_attn_grid(struct tt_call *call);

#endif
