/*
 * jsonscan.h: finds where a JSON container ends without reading what is in it. For jsonslice.c.
 */
#ifndef TT_BASE_JSONSCAN_H
#define TT_BASE_JSONSCAN_H

#include <stddef.h>

/* "There is no end": the text stops before. */
#define TT_JSONSCAN_NONE ((size_t)-1)

/*
 * The offset behind the bracket that closes `depth` open containers, looking from `start`, which
 * is outside of any string. Brackets of both kinds count alike; whether they match, and whether
 * all between is JSON, is for the parser to say.
 */
size_t tt_jsonscan_close(const char *text, size_t size, size_t start, size_t depth);

/* The offset behind the quote that ends the string whose first quote is at `start`. */
size_t tt_jsonscan_string(const char *text, size_t size, size_t start);

/* The same as tt_jsonscan_close(), compiled for one instruction set each. */
size_t tt_jsonscan_close_plain(const char *text, size_t size, size_t start, size_t depth);
size_t tt_jsonscan_close_avx2(const char *text, size_t size, size_t start, size_t depth);
size_t tt_jsonscan_close_avx512(const char *text, size_t size, size_t start, size_t depth);

#endif
