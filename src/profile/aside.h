/*
 * aside.h: bytes that are wanted later, in order, however many: what does not fit into a small buffer lies in a
 * file without a name (under TMPDIR). A number in them can be set afterwards.
 */
#ifndef TT_PROFILE_ASIDE_H
#define TT_PROFILE_ASIDE_H

#include <stdint.h>

#include "base/str.h"

#define TT_ASIDE_ROOM 65536

/* All zero is a valid empty one. */
struct tt_aside {
	struct tt_str tail;
	uint64_t filed; /* bytes in the file */
	int file;       /* descriptor + 1; 0: none yet */
	int error;      /* errno; ENOMEM when memory was exhausted */
};

/* How many bytes there are. */
static inline uint64_t tt_aside_size(const struct tt_aside *aside)
{
	return aside->filed + aside->tail.length;
}

/* Appends; a failure is told by tt_aside_read(). */
void tt_aside_add(struct tt_aside *aside, const void *data, size_t size);

/* Sets 32 bits that were appended in one piece, little-endian. */
void tt_aside_set(struct tt_aside *aside, uint64_t at, uint32_t number);

/* Hands all bytes over, in order, piece by piece. */
tt_status tt_aside_read(struct tt_aside *aside,
			void (*take)(void *context, const void *data, size_t size), void *context);

void tt_aside_deinit(struct tt_aside *aside);

#endif
