/*
 * tensorbin_tables.h: the tables of a tensor file's header, shared by its reader and its writer:
 * field numbers in the order of upstream's schema, and the codes that are not those of ttnn.h.
 */
#ifndef TT_TENSOR_TENSORBIN_TABLES_H
#define TT_TENSOR_TENSORBIN_TABLES_H

#include <ttnn.h>

/* Field numbers of the tables. */
enum { TENSOR_SPEC, TENSOR_MESH, TENSOR_SHARDS, TENSOR_TOPOLOGY, TENSOR_VERSION };
enum { SHARD_BUFFER_TYPE, SHARD_BUFFER, SHARD_COORD };
enum { TOPOLOGY_DISTRIBUTION, TOPOLOGY_PLACEMENTS, TOPOLOGY_COORDS };
enum { PLACEMENT_TYPE, PLACEMENT_DIM };
enum { SPEC_SHAPE, SPEC_LAYOUT };
enum { LAYOUT_DTYPE, LAYOUT_PAGE_TYPE, LAYOUT_PAGE, LAYOUT_MEMORY, LAYOUT_ALIGNMENT };
enum { TILE_HEIGHT, TILE_WIDTH, TILE_TRANSPOSE };
enum {
	MEMORY_LAYOUT,
	MEMORY_BUFFER,
	MEMORY_SHARD,
	MEMORY_ND,
	MEMORY_BY_ND,
	MEMORY_PER_CORE,
	MEMORY_LOCKSTEP
};
enum { SHARDSPEC_GRID, SHARDSPEC_HEIGHT, SHARDSPEC_WIDTH, SHARDSPEC_ORIENTATION };
enum { ND_SHAPE, ND_GRID, ND_ORIENTATION, ND_STRATEGY };
enum { RANGE_START, RANGE_END };
enum { CORE_X, CORE_Y };

/* The codes of data types in files. fp8_e4m3 has none. */
static const enum ttnn_dtype tt_tensorbin_dtypes[] = {
	TTNN_BFLOAT16, TTNN_FLOAT32, TTNN_UINT32, TTNN_BFLOAT8_B, TTNN_BFLOAT4_B,
	TTNN_UINT8,    TTNN_UINT16,  TTNN_INT32,  TTNN_INT8,
};
#define TENSORBIN_DTYPES (sizeof(tt_tensorbin_dtypes) / sizeof(tt_tensorbin_dtypes[0]))

enum { PAGE_ROW_MAJOR = 1, PAGE_TILE = 2 };
enum { BUFFER_INLINE = 1 };
enum { PLACEMENT_REPLICATE, PLACEMENT_SHARD };

#endif
