#include "base/hash.h"

#include <string.h>

uint64_t tt_hash(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = tt_hash_u64(seed, length);
	uint64_t word;

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
