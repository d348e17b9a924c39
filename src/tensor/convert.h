/*
 * convert.h: numbers from one data type to another.
 *
 * Called by everything that holds tensor data on the host. Sources and destinations must not
 * overlap, unless they are the same address and type, and are aligned to their elements.
 * The functions hold no state; any thread may call. Large arrays are worked on by several threads.
 *
 * The rules, the same for every instruction set. They are those recorded from upstream, which has no
 * float64 and converts fp8_e4m3 from and to float32 only. It casts floats to integers eight at a
 * time and the rest of an array one by one, with another result where a number does not fit; here
 * the rule of the eight holds for all.
 *
 *   to float32     Rounds to nearest, ties to even. bfloat16 keeps the payload of a NaN.
 *   to bfloat16    Rounds to nearest, ties to even; too large becomes infinity; NaN becomes 0x7fc0.
 *                  Integers become float32 first, so the largest ones round twice, as upstream.
 *   to fp8_e4m3    Rounds to nearest, ties to even; beyond 448, infinity too, becomes 448 with its
 *                  sign; below 2^-6 becomes zero with its sign; NaN becomes 0x7f. The way back
 *                  reads the codes of subnormals as zero and both codes of NaN as 0x7fc00000.
 *   float to int   Cuts off the fraction. What does not fit int32 (NaN too) counts as -2^31, as x86
 *                  converts it; then the number is clamped to the range of int8, uint8, uint16. To
 *                  uint32, 2^31 to 2^32 - 1 convert exactly and the rest as to int32, whose bits
 *                  are kept: -1 becomes 2^32 - 1.
 *   int to int     The low bits, sign or zero extended: as a C cast.
 *   block floats   A group of 16 takes the largest exponent in it. Each mantissa with its hidden
 *                  bit is shifted down to that exponent, bits falling off, then rounded to nearest
 *                  even; one that rounds beyond the top stays at the top. Denormals become zero
 *                  and zero has no sign. Exponent 255 is one like others, so infinity and NaN
 *                  come back, and turn the large numbers of their group into infinities or NaN.
 *                  A group that no encoder writes, whose value would need an exponent below
 *                  zero, reads as zero. Other types than float32 become float32 first.
 *   float64        Rounds once to every floating-point type; integers as from float32.
 *
 * To add a data type: its row in TTNN_DTYPE_LIST and, for a floating-point type, load_NAME and
 * store_NAME in convert.isa.c. Integers and block floats need the row alone.
 */
#ifndef TT_TENSOR_CONVERT_H
#define TT_TENSOR_CONVERT_H

#include "base/status.h"

/* Converts `count` elements. Fails for block floats, which have no single elements. */
tt_status tt_convert(void *dst, enum ttnn_dtype dst_dtype, const void *src,
		     enum ttnn_dtype src_dtype, size_t count);

/* The same from and to float64. */
tt_status tt_convert_from_f64(void *dst, enum ttnn_dtype dst_dtype, const double *src,
			      size_t count);
tt_status tt_convert_to_f64(double *dst, const void *src, enum ttnn_dtype src_dtype, size_t count);

/* Some tiles, one after the other, as a tensor in tile layout stores them. */
struct tt_tile_run {
	struct ttnn_tile tile;
	size_t tiles;
};

/* Between any two data types, block floats too. Fails for no data type and for no legal tile. */
tt_status tt_convert_tiles(void *dst, enum ttnn_dtype dst_dtype, const void *src,
			   enum ttnn_dtype src_dtype, const struct tt_tile_run *run);

/* Where the elements of one tile lie in a row-major float32 matrix. */
struct tt_tile_window {
	size_t stride;       /* elements from one row to the next */
	uint32_t rows, cols; /* how much of the tile the matrix has; at most the tile's own */
	float pad;           /* what the rest of the tile holds; not used on the way back */
};

/*
 * Stores one tile of a block float, from the matrix elements that begin at src: tilizes and
 * encodes in one go. The tile must be legal. Only the window's elements are read.
 */
void tt_bfp_encode_tile(void *dst, enum ttnn_dtype dtype, const struct ttnn_tile *tile,
			const float *src, const struct tt_tile_window *window);

/* The way back: writes the window's elements, and nothing beside them. */
void tt_bfp_decode_tile(float *dst, const struct tt_tile_window *window, enum ttnn_dtype dtype,
			const struct ttnn_tile *tile, const void *src);

#endif
