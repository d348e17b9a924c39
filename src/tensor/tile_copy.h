/*
 * tile_copy.h: single tiles between their own order and rows of a matrix, for layout.c. Elements
 * are 1, 2 or 4 bytes that are moved and not looked at; block floats have functions of their own in
 * convert.h.
 */
#ifndef TT_TENSOR_TILE_COPY_H
#define TT_TENSOR_TILE_COPY_H

#include <ttnn.h>

/* The part of a matrix that a tile covers: rows × cols elements from the tile's corner on. */
struct tt_tile_part {
	uint8_t *at;   /* the first element in the matrix; not read when there are none */
	size_t stride; /* bytes from one row to the next */
	uint32_t rows, cols;
};

/* What tt_tile_put() stores. */
struct tt_tile_element {
	size_t bytes;
	uint8_t pad[4]; /* one element of padding */
	bool stream; /* around the cache: for results too large for it, in memory aligned to 16 */
};

/* Which element of a tile is the one in this row and column. The tile must be a legal one. */
size_t tt_tile_index(const struct ttnn_tile *tile, uint32_t row, uint32_t col);

/* Fills a tile from its part of a matrix, and the rest with padding. */
void tt_tile_put(uint8_t *dst, const struct ttnn_tile *tile, const struct tt_tile_part *src,
		 const struct tt_tile_element *element);

/* Writes a tile's part of a matrix, and nothing beside it. */
void tt_tile_get(const struct tt_tile_part *dst, const uint8_t *src, const struct ttnn_tile *tile,
		 const struct tt_tile_element *element);

/* `count` times the same element of `bytes` bytes. */
void tt_tile_fill(void *dst, const void *element, size_t bytes, size_t count);

/* memcpy(), around the cache if `stream` says so and the place allows it. */
void tt_tile_copy_row(uint8_t *dst, const uint8_t *src, size_t bytes, bool stream);

/* Makes what went around the cache visible to other threads. */
void tt_tile_stream_end(void);

#endif
