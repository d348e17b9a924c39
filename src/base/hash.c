#include "base/hash.h"

#include <string.h>

#define LANES 4

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/* Long keys in lanes that do not wait for each other, which takes a quarter of the time. */
static uint64_t hash_lanes(uint64_t hash, const unsigned char *at, size_t blocks)
{
	uint64_t lane[LANES];
	uint64_t word;

	for (size_t i = 0; i < LANES; i++)
		lane[i] = hash + i * 0x9e3779b97f4a7c15u;
	for (; blocks; blocks--)
		for (size_t i = 0; i < LANES; i++, at += 8) {
			memcpy(&word, at, 8);
			lane[i] = rotate(lane[i] ^ word * 0xbf58476d1ce4e5b9u, 29) *
				  0x94d049bb133111ebu;
		}
	for (size_t i = 0; i < LANES; i++)
		hash = tt_hash_u64(hash, lane[i]);
	return hash;
}

uint64_t tt_hash(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = tt_hash_u64(seed, length);
	size_t blocks = length / (8 * LANES);
	uint64_t word;

	if (blocks) {
		hash = hash_lanes(hash, at, blocks);
		at += blocks * 8 * LANES;
		length -= blocks * 8 * LANES;
	}
	for (; length >= 8; at += 8, length -= 8) {
		memcpy(&word, at, 8);
		hash = tt_hash_u64(hash, word);
	}
	if (length) {
		word = 0;
		memcpy(&word, at, length);
		hash = tt_hash_u64(hash, word);
	}
	return hash;
}
