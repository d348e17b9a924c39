/*
 * jsonscan.h: finds where a JSON container ends without reading what is in it. For jsonslice.c.
 */
#ifndef TT_BASE_JSONSCAN_H
#define TT_BASE_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>

/* "There is no end": the text stops before. */
#define TT_JSONSCAN_NONE ((size_t)-1)

/* Where a scan is. It begins outside of any string, with so many containers open. */
struct tt_jsonscan {
	size_t depth;
	bool in_string, escape; /* what the next byte is */
};

/*
 * The offset behind the bracket that closes the outermost container, looking from `start`. Brackets
 * of both kinds count alike; whether they match, and whether all between is JSON, is for the parser
 * to say. TT_JSONSCAN_NONE: it is not before `size`; if that was a multiple of TT_JSONSCAN_BLOCK
 * bytes, the scan can go on with what follows.
 */
#define TT_JSONSCAN_BLOCK 64
size_t tt_jsonscan_close(struct tt_jsonscan *scan, const char *text, size_t size, size_t start);

/* The offset behind the quote that ends a string, looking from `start` inside of it; goes on likewise. */
size_t tt_jsonscan_string(bool *escape, const char *text, size_t size, size_t start);

/* The same as tt_jsonscan_close(), compiled for one instruction set each. */
size_t tt_jsonscan_close_plain(struct tt_jsonscan *scan, const char *text, size_t size,
			       size_t start);
size_t tt_jsonscan_close_avx2(struct tt_jsonscan *scan, const char *text, size_t size,
			      size_t start);
size_t tt_jsonscan_close_avx512(struct tt_jsonscan *scan, const char *text, size_t size,
				size_t start);

#endif
