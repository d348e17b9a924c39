/*
 * spec.h: tensor specs. From what a tensor is meant to be (logical shape, dtype, layout, tile,
 * memory config) to what is stored: padded shape, the same as a matrix (the physical shape), and
 * the pages it is cut into.
 *
 * Alignment is right-aligned with the shape. TILE tensors align to the tile, ROW_MAJOR ones to
 * the width of a shard where there is one. The width of the matrix is the aligned last extent; the
 * height is the product of the others, rounded up after each of them that has an alignment.
 *
 * A spec made by ttnn_tensor_spec_make() has both kinds of shard specs filled in where both can
 * express the same placement, as upstream's do.
 */
#ifndef TT_TENSOR_SPEC_H
#define TT_TENSOR_SPEC_H

#include "base/status.h"
#include "base/str.h"

/* Equal specs have equal hashes; the same in every process. */
uint64_t tt_tensor_spec_hash(uint64_t seed, const struct ttnn_tensor_spec *spec);

/* The arguments that make this spec again, ready to be changed. */
struct ttnn_spec_args tt_tensor_spec_args(const struct ttnn_tensor_spec *spec);

/*
 * As ttnn_tensor_spec_make(), but with the alignment (args' own is not read) that makes `padded` of
 * the shape: the layout's own where that is enough. Sharded tensors cannot be padded further out
 * than the last two dimensions.
 */
tt_status tt_tensor_spec_padded(struct ttnn_tensor_spec *out, const struct ttnn_spec_args *args,
				const struct ttnn_shape *padded);

/*
 * The padded shape a tensor of these arguments would have. Refuses what layout and memory config
 * cannot be together, but does not ask whether the shards fit the shape.
 */
tt_status tt_tensor_padded_shape(struct ttnn_shape *out, const struct ttnn_spec_args *args);

#endif
