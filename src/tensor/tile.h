/*
 * tile.h: the rectangles that TILE tensors are cut into, and the faces that tiles are made of.
 */
#ifndef TT_TENSOR_TILE_H
#define TT_TENSOR_TILE_H

#include "base/status.h"

/* Rows and columns of a tile that nobody chose otherwise. */
#define TT_TILE 32u
#define TT_FACE 16u /* the larger side of a face, of which a tile has up to four */
#define TT_TILE_DEFAULT ((struct ttnn_tile){TT_TILE, TT_TILE, false})

/* The blocks of a tile: stored one after the other, row-major inside. */
struct tt_faces {
	uint32_t height, width;
	uint32_t count;
};

/* Refuses sizes the hardware does not know, and transposed tiles of less than 16 rows. */
tt_status tt_tile_check(const struct ttnn_tile *tile);

/* The faces of a tile that passed tt_tile_check(). */
struct tt_faces tt_tile_faces(const struct ttnn_tile *tile);

bool tt_tile_equal(const struct ttnn_tile *a, const struct ttnn_tile *b);

#endif
