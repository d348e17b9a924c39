/*
 * hash.h: a fast 64-bit hash for tables in memory. Its values are the same on every machine, but no
 * file format may depend on them.
 */
#ifndef TT_BASE_HASH_H
#define TT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hash of `length` bytes, continuing from `seed` (0 to start). */
uint64_t tt_hash(uint64_t seed, const void *bytes, size_t length);

/* Mixes one number into a hash. */
static inline uint64_t tt_hash_u64(uint64_t seed, uint64_t number)
{
	uint64_t x = seed ^ (number + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

#endif
