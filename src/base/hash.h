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

/* Mixes one number into a hash: both halves of one long product. */
static inline uint64_t tt_hash_u64(uint64_t seed, uint64_t number)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)(seed ^ 0x9e3779b97f4a7c15u) * (number ^ 0xbf58476d1ce4e5b9u);

	/* The seed again: should one factor be 0, what came before is not lost. */
	return ((uint64_t)product ^ (uint64_t)(product >> 64)) + seed;
}

#endif
