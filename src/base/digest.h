/*
 * digest.h: the digests that file formats ask for. Any thread may call. Only digest.c knows which library computes
 * them; for tables in memory there is hash.h.
 */
#ifndef TT_BASE_DIGEST_H
#define TT_BASE_DIGEST_H

#include <stddef.h>

#include "base/status.h"

enum tt_digest_kind {
	TT_MD5,
	TT_SHA224,
	TT_SHA256,
};

/* The most bytes that one has. */
#define TT_DIGEST_MAX 32
/* Its text in hexadecimal digits, and the zero byte. */
#define TT_DIGEST_TEXT (2 * TT_DIGEST_MAX + 1)

/* How many bytes a digest of this kind has. */
size_t tt_digest_size(enum tt_digest_kind kind);

/* The digest of `length` bytes. Fails where the system's library refuses the kind, or memory is exhausted. */
tt_status tt_digest(unsigned char out[TT_DIGEST_MAX], enum tt_digest_kind kind, const void *bytes,
		    size_t length);

/* The same as small hexadecimal digits. */
tt_status tt_digest_text(char out[TT_DIGEST_TEXT], enum tt_digest_kind kind, const void *bytes,
			 size_t length);

#endif
