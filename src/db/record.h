/*
 * record.h: rows and numbers as a SQLite file has them (tree.c draws the pages), shared by what writes such files
 * without SQLite: tree.c, fill.c.
 *
 *	record   size of its head, a type per value, the values. Types: 0 is NULL, 1 to 6 are integers of 1, 2, 3, 4,
 *	         6, 8 bytes, 7 is a real, 8 is the number 0, 9 the number 1, 13 + 2n a text of n bytes.
 *	varint   7 bits per byte, the high bit says that more follow; the ninth byte has 8.
 */
#ifndef TT_DB_RECORD_H
#define TT_DB_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "db/stmt.h"

/* Bytes that writers may use behind the end of what they write. */
#define TT_DB_SLACK 8

/* Bytes of a value of each type. */
extern const unsigned char tt_db_sizes[10];

static inline void tt_db_put_big(unsigned char *to, uint64_t value, int bytes)
{
	while (bytes--) {
		to[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

static inline uint32_t tt_db_get_big(const unsigned char *from, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

/* Numbers below 2^56; the end. */
static inline unsigned char *tt_db_put_varint(unsigned char *to, uint64_t value)
{
	int more = 0;

	while (value >> 7 * (more + 1))
		more++;
	for (; more; more--)
		*to++ = (unsigned char)(value >> 7 * more | 0x80);
	*to++ = (unsigned char)(value & 0x7f);
	return to;
}

static inline int tt_db_type_of(int64_t value)
{
	uint64_t size = (uint64_t)(value < 0 ? ~value : value);

	if (size <= 1 && value >= 0)
		return 8 + (int)value;
	return size < 1u << 7             ? 1
	       : size < 1u << 15          ? 2
	       : size < 1u << 23          ? 3
	       : size < 1u << 31          ? 4
	       : size < (uint64_t)1 << 47 ? 5
					  : 6;
}

/* The bytes of an integer of that type, with TT_DB_SLACK behind them; the end. */
static inline unsigned char *tt_db_put_int(unsigned char *to, int64_t value, int type)
{
	unsigned size = tt_db_sizes[type];
	uint64_t big = size ? __builtin_bswap64((uint64_t)value << (64 - 8 * size)) : 0;

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	big = __builtin_bswap64(big);
#endif
	memcpy(to, &big, sizeof(big));
	return to + size;
}

/* A record of at most 100 integers, with TT_DB_SLACK behind it; its end. */
unsigned char *tt_db_put_ints(unsigned char *to, const int64_t *values, int count);

/* Bytes that a record of these values has at most. */
size_t tt_db_record_room(const struct tt_db_value *values, int count);

/* A record of values, with TT_DB_SLACK behind it; its end. */
unsigned char *tt_db_put_record(unsigned char *to, const struct tt_db_value *values, int count);

#endif
