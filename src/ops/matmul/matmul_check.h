/*
 * matmul_check.h: between the files that refuse program configs of products (matmul_check_*.c).
 * Nobody else includes it. All functions fail with upstream's text, or do nothing.
 */
#ifndef TT_OPS_MATMUL_MATMUL_CHECK_H
#define TT_OPS_MATMUL_MATMUL_CHECK_H

#include "ops/matmul/matmul.h"
#include "ops/movement/movement.h"

/* Members as upstream's texts name them. */
static inline const char *tt_layout_name(enum ttnn_memory_layout layout)
{
	return tt_enum_name(&tt_enum_memory_layout, layout);
}

static inline const char *tt_buffer_name(enum ttnn_buffer_type type)
{
	return tt_enum_name(&tt_enum_buffer_type, type);
}

static inline const char *tt_orientation_name(enum ttnn_orientation orientation)
{
	return tt_enum_name(&tt_enum_orientation, orientation);
}

/* ---- what several kinds ask ------------------------------------------------------------------------- */

/* Shards that no legacy spec describes are beyond these checks, and beyond upstream's. */
tt_status tt_matmul_need_shard(const struct ttnn_memory_config *memory);

/* The result lies as a does. */
tt_status tt_matmul_check_match(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config);

/* A result in shards is written row by row. */
tt_status tt_matmul_check_rows(const struct tt_matmul_config *config);

/* Blocks divide the depth. */
tt_status tt_matmul_check_depth(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config);

/* The shards of a go row by row; `subject` is how the text names it. */
tt_status tt_matmul_check_turn(const struct tt_matmul *matmul,
			       const struct tt_matmul_config *config, const char *subject);

/* a is sharded in this way; `format` says so. */
tt_status tt_matmul_check_layout(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config,
				 enum ttnn_memory_layout wanted, const char *format);

/* ---- the kinds that have files of their own ----------------------------------------------------------- */

tt_status tt_matmul_check_1d(const struct tt_matmul *matmul, const struct tt_matmul_config *config);
/* Also of a second b, for any kind: only the first of these takes one. */
tt_status tt_matmul_check_second(const struct tt_matmul *matmul,
				 const struct tt_matmul_config *config);
tt_status tt_matmul_check_reuse(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config);
tt_status tt_matmul_check_multi(const struct tt_matmul *matmul,
				const struct tt_matmul_config *config);

#endif
