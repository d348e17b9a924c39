/*
 * bytes.h: numbers and texts as the records of traces hold them (docs/formats/ttrace.md), read one after the
 * other. Most numbers take one or two bytes: those are read in place.
 */
#ifndef TT_TRACE_BYTES_H
#define TT_TRACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes being read. `bad` is set by what does not fit, and reading goes on with zeros. */
struct tt_bytes {
	const unsigned char *at, *end;
	bool bad;
};

/* A number of any length. */
uint64_t tt_bytes_long_number(struct tt_bytes *bytes);

static inline uint64_t tt_bytes_number(struct tt_bytes *bytes)
{
	const unsigned char *at = bytes->at;

	if (__builtin_expect(bytes->end - at >= 2, 1)) {
		if (__builtin_expect(at[0] < 0x80, 1)) {
			bytes->at = at + 1;
			return at[0];
		}
		if (at[1] < 0x80) {
			bytes->at = at + 2;
			return (uint64_t)at[1] << 7 | (at[0] & 0x7fu);
		}
	}
	return tt_bytes_long_number(bytes);
}

static inline int64_t tt_bytes_signed(struct tt_bytes *bytes)
{
	uint64_t number = tt_bytes_number(bytes);

	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

/* The next `size` bytes, or NULL. */
static inline const void *tt_bytes_take(struct tt_bytes *bytes, uint64_t size)
{
	const void *data = bytes->at;

	if (size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->bad = true;
		return NULL;
	}
	bytes->at += size;
	return data;
}

/* A text in place, without a zero at its end; false when it is NULL. */
static inline bool tt_bytes_text(const char **text, size_t *length, struct tt_bytes *bytes)
{
	uint64_t size = tt_bytes_number(bytes);

	*length = size ? (size_t)size - 1 : 0;
	*text = size ? tt_bytes_take(bytes, *length) : NULL;
	return *text != NULL;
}

#endif
