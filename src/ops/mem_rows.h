/*
 * mem_rows.h: what memory rows and program rows share: pages, cores, sharding. Small functions that
 * rows name, so that a program's memory stays data.
 */
#ifndef TT_OPS_MEM_ROWS_H
#define TT_OPS_MEM_ROWS_H

#include "ops/op.h"

/* ---- pages: bytes of a tile in the format of an input or output ------------------------------- */

uint64_t tt_page_in0(const struct tt_launch *launch);
uint64_t tt_page_in1(const struct tt_launch *launch);
uint64_t tt_page_in2(const struct tt_launch *launch);
uint64_t tt_page_out0(const struct tt_launch *launch);
uint64_t tt_page_bf16(const struct tt_launch *launch);
uint64_t tt_page_f32(const struct tt_launch *launch);

/* Bytes of a tile of this dtype, 32 × 32 unless the tensor says otherwise. */
uint64_t tt_tile_bytes_of(enum ttnn_dtype dtype);
/* The same for the dtype of a tensor; 0 when there is none. */
uint64_t tt_tensor_tile_bytes(const struct tt_tensor *tensor);

/* Tiles side by side in a row of a tensor. */
uint64_t tt_tiles_across(const struct tt_tensor *tensor);

/* ---- cores ------------------------------------------------------------------------------------ */

/* As many as the first input has pages, column after column. */
tt_status tt_cores_by_tile(const ttnn_core_set **out, const struct tt_launch *launch);

/* ---- sharding ----------------------------------------------------------------------------------- */

/* The tiles of one shard of a tensor with a shard spec; 0 without one. */
uint64_t tt_shard_tiles(const struct ttnn_tensor_spec *spec);

/* Whether every core holds a full shard: the physical shape is a multiple of the shard's. */
bool tt_shards_even(const struct ttnn_tensor_spec *spec);

/* ---- specs ---------------------------------------------------------------------------------------- */

/* A spec with this shape, dtype, layout and memory config. */
tt_status tt_spec_simple(struct ttnn_tensor_spec *out, const struct ttnn_shape *shape,
			 enum ttnn_dtype dtype, enum ttnn_layout layout,
			 const struct ttnn_memory_config *memory);

/* tt_fail_cond() with two shapes in the text, each for a %s: "Shape([1, 32])". */
tt_status tt_fail_shapes(tt_status status, const char *condition, const char *format,
			 const struct ttnn_shape *first, const struct ttnn_shape *second);

/* tt_fail_cond() of INVALID with two specs in the text, as graphs print them. */
tt_status tt_fail_specs(const char *condition, const char *format,
			const struct ttnn_tensor_spec *first,
			const struct ttnn_tensor_spec *second);

#endif
