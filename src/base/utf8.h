/* utf8.h: characters in and out of UTF-8. */
#ifndef TT_BASE_UTF8_H
#define TT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define TT_UTF8_BAD 0xfffdu /* the replacement character */

/*
 * The first character of a text of length > 0, and how many bytes it takes. A sequence that is no
 * UTF-8 gives TT_UTF8_BAD for as many bytes as could have begun a character, at least one: as
 * Python and browsers replace.
 */
size_t tt_utf8_get(uint32_t *code, const char *text, size_t length);

/* Writes a code point, at most four bytes and no zero behind; returns how many. */
size_t tt_utf8_put(char out[4], uint32_t code);

#endif
