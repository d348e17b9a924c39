/*
 * tensorbin.h: .tensorbin files, as tt-metal's ttnn writes and reads them.
 *
 *	offset  0         u64 size of the header, its padding included
 *	        8         the header: a FlatBuffer, then zeros
 *	        8 + size  the data: the bytes of each shard from the offset its header entry tells
 *
 * Header and shards begin at multiples of 64 bytes; older files know only 8. The header holds the
 * spec (shape, data type, layout and tile, memory config, alignment), the mesh shape, for each
 * shard its place in the data and its mesh coordinate, and the topology: how shards came about.
 * Replicas are stored once. docs/formats/tensorbin.md lists the tables.
 *
 * ttnn_tensor_save() and ttnn_tensor_load() are the callers.
 */
#ifndef TT_TENSOR_TENSORBIN_H
#define TT_TENSOR_TENSORBIN_H

#include "base/file.h"
#include "base/flatbuf.h"
#include "base/status.h"
#include "tensor/tensor.h"

/*
 * The tensor in `size` bytes at `data`. With a mapping, data is the mapped file and large shards
 * stay in it; without (NULL), all is copied. Every offset is checked.
 */
tt_status tt_tensorbin_read(ttnn_tensor **out, const void *data, size_t size,
			    struct tt_mapping *mapping);

/* Writes the whole file. A failed write shows at tt_file_commit(). */
tt_status tt_tensorbin_write(struct tt_file_out *file, const ttnn_tensor *tensor);

#endif
