/* tile_copy.c: see tile_copy.h. */
#include "tensor/tile_copy.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FACE_WIDTH 16
#define LINE 64

/* The element size is a constant where the inline functions are called: copies are a few moves. */

static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

size_t tt_tile_index(const struct ttnn_tile *tile, uint32_t row, uint32_t col)
{
	uint32_t height = least(tile->height, 16), across = tile->width / FACE_WIDTH;
	uint32_t down = tile->height / height, face_row = row / height, face_col = col / FACE_WIDTH;

	row %= height;
	col %= FACE_WIDTH;
	if (tile->transpose)
		return ((size_t)(face_col * down + face_row) * FACE_WIDTH + col) * height + row;
	return ((size_t)(face_row * across + face_col) * height + row) * FACE_WIDTH + col;
}

/*
 * Copies a face's row. `stream` goes around the cache, for results too large for it: the lines need
 * not be read before they are written. Then dst is aligned to 16 bytes, as tiles always are.
 */
static inline void copy_piece(uint8_t *dst, const uint8_t *src, size_t bytes, bool stream)
{
#ifdef __SSE2__
	if (stream) {
		for (size_t i = 0; i < bytes; i += 16)
			_mm_stream_si128((__m128i *)(void *)(dst + i),
					 _mm_loadu_si128((const __m128i *)(const void *)(src + i)));
		return;
	}
#endif
	(void)stream;
	memcpy(dst, src, bytes);
}

static inline void tile_from_rows(uint8_t *dst, const struct ttnn_tile *tile,
				  const struct tt_tile_part *src, size_t bytes, bool stream)
{
	uint32_t height = least(tile->height, 16);

	for (uint32_t down = 0; down < tile->height; down += height)
		for (uint32_t across = 0; across < tile->width; across += FACE_WIDTH)
			for (uint32_t row = 0; row < height; row++) {
				copy_piece(dst,
					   src->at + (down + row) * src->stride + across * bytes,
					   FACE_WIDTH * bytes, stream);
				dst += FACE_WIDTH * bytes;
			}
}

static inline void tile_to_rows(const struct tt_tile_part *dst, const uint8_t *src,
				const struct ttnn_tile *tile, size_t bytes, bool stream)
{
	uint32_t height = least(tile->height, 16), across = tile->width / FACE_WIDTH;
	size_t face = height * FACE_WIDTH * bytes;

	for (uint32_t down = 0; down < tile->height; down += height) {
		for (uint32_t row = 0; row < height; row++)
			for (uint32_t x = 0; x < across; x++)
				copy_piece(dst->at + (down + row) * dst->stride +
						   x * FACE_WIDTH * bytes,
					   src + x * face + row * FACE_WIDTH * bytes,
					   FACE_WIDTH * bytes, stream);
		src += across * face;
	}
}

/* Copies up to a face's row: few elements are not worth a call. */
static inline void copy_few(uint8_t *dst, const uint8_t *src, uint32_t count, size_t bytes)
{
	if (count >= FACE_WIDTH) {
		memcpy(dst, src, FACE_WIDTH * bytes);
		return;
	}
	for (uint32_t some = FACE_WIDTH / 2; some; some /= 2)
		if (count & some) {
			memcpy(dst, src, some * bytes);
			dst += some * bytes;
			src += some * bytes;
		}
}

/* Where a row of a tile begins; the next face of that row is so many bytes further. */
static inline size_t row_in_tile(size_t *next, const struct ttnn_tile *tile, uint32_t row,
				 size_t bytes)
{
	uint32_t height = least(tile->height, 16);

	*next = height * FACE_WIDTH * bytes;
	return (row / height * height * tile->width + row % height * FACE_WIDTH) * bytes;
}

/*
 * Any tile and any window: pieces of face rows; of transposed tiles, whose face rows are columns of
 * the matrix, single elements.
 */
static inline void tile_from_part(uint8_t *dst, const struct ttnn_tile *tile,
				  const struct tt_tile_part *src, size_t bytes)
{
	size_t next;

	for (uint32_t row = 0; row < src->rows; row++) {
		const uint8_t *from = src->at + row * src->stride;
		uint8_t *to = dst + row_in_tile(&next, tile, row, bytes);

		if (tile->transpose)
			for (uint32_t col = 0; col < src->cols; col++)
				memcpy(dst + tt_tile_index(tile, row, col) * bytes,
				       from + col * bytes, bytes);
		else
			for (uint32_t col = 0; col < src->cols; col += FACE_WIDTH, to += next)
				copy_few(to, from + col * bytes, src->cols - col, bytes);
	}
}

static inline void tile_to_part(const struct tt_tile_part *dst, const uint8_t *src,
				const struct ttnn_tile *tile, size_t bytes)
{
	size_t next;

	for (uint32_t row = 0; row < dst->rows; row++) {
		const uint8_t *from = src + row_in_tile(&next, tile, row, bytes);
		uint8_t *to = dst->at + row * dst->stride;

		if (tile->transpose)
			for (uint32_t col = 0; col < dst->cols; col++)
				memcpy(to + col * bytes,
				       src + tt_tile_index(tile, row, col) * bytes, bytes);
		else
			for (uint32_t col = 0; col < dst->cols; col += FACE_WIDTH, from += next)
				copy_few(to + col * bytes, from, dst->cols - col, bytes);
	}
}

static inline bool is_simple(const struct ttnn_tile *tile, const struct tt_tile_part *part)
{
	return !tile->transpose && part->rows == tile->height && part->cols == tile->width;
}

void tt_tile_fill(void *dst, const void *element, size_t bytes, size_t count)
{
	const uint8_t *from = element;
	uint8_t *to = dst;
	size_t total = bytes * count, done = bytes;
	bool same = true;

	if (!total)
		return;
	for (size_t i = 1; i < bytes; i++)
		same &= from[i] == from[0];
	if (same) {
		memset(to, from[0], total);
		return;
	}
	memcpy(to, from, bytes);
	while (done < total) { /* by doubling, up to what stays in the cache */
		size_t piece = done < 16384 ? done : 16384;

		piece = piece < total - done ? piece : total - done;
		memcpy(to + done, to, piece);
		done += piece;
	}
}

void tt_tile_put(uint8_t *dst, const struct ttnn_tile *tile, const struct tt_tile_part *src,
		 const struct tt_tile_element *element)
{
	bool simple = is_simple(tile, src), stream = element->stream;
	size_t bytes = element->bytes;

	if (!simple && (src->rows < tile->height || src->cols < tile->width))
		tt_tile_fill(dst, element->pad, bytes, (size_t)tile->height * tile->width);
	if (bytes == 4)
		simple ? tile_from_rows(dst, tile, src, 4, stream)
		       : tile_from_part(dst, tile, src, 4);
	else if (bytes == 2)
		simple ? tile_from_rows(dst, tile, src, 2, stream)
		       : tile_from_part(dst, tile, src, 2);
	else
		simple ? tile_from_rows(dst, tile, src, 1, stream)
		       : tile_from_part(dst, tile, src, 1);
}

void tt_tile_get(const struct tt_tile_part *dst, const uint8_t *src, const struct ttnn_tile *tile,
		 const struct tt_tile_element *element)
{
	bool simple = is_simple(tile, dst), stream = element->stream;
	size_t bytes = element->bytes;

	/* Around the cache only whole lines: halves would be written one by one. */
	stream &= (dst->stride | (uintptr_t)dst->at) % LINE == 0 && tile->width * bytes % LINE == 0;
	if (bytes == 4)
		simple ? tile_to_rows(dst, src, tile, 4, stream) : tile_to_part(dst, src, tile, 4);
	else if (bytes == 2)
		simple ? tile_to_rows(dst, src, tile, 2, stream) : tile_to_part(dst, src, tile, 2);
	else
		simple ? tile_to_rows(dst, src, tile, 1, stream) : tile_to_part(dst, src, tile, 1);
}

void tt_tile_copy_row(uint8_t *dst, const uint8_t *src, size_t bytes, bool stream)
{
	copy_piece(dst, src, bytes, stream && ((uintptr_t)dst | bytes) % LINE == 0);
}

void tt_tile_stream_end(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}
