/*
 * 64 bytes at a time: each kind of interesting character becomes a bit mask, strings are blanked
 * out by a running parity of quotes, and the brackets that remain are counted by population. Only
 * a block that may hold the end is walked bit by bit.
 */
#include "base/jsonscan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)

#define BLOCK TT_JSONSCAN_BLOCK

/* Bit i is byte i of the block. Or-ing 0x20 makes one kind of bracket of two: [ { and ] }. */
struct masks {
	uint64_t quote, slash, open, close;
};

#if defined(__AVX512BW__)
static inline struct masks classify(const char *block)
{
	__m512i bytes = _mm512_loadu_si512(block);
	__m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));

	return (struct masks){
		.quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
		.slash = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
		.open = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('{')),
		.close = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('}')),
	};
}
#elif defined(__AVX2__)
static inline uint64_t equal(const __m256i bytes[2], char c)
{
	__m256i want = _mm256_set1_epi8(c);
	uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes[0], want));
	uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes[1], want));

	return (uint64_t)high << 32 | low;
}

static inline struct masks classify(const char *block)
{
	__m256i bytes[2], folded[2];

	for (int i = 0; i < 2; i++) {
		bytes[i] = _mm256_loadu_si256((const __m256i *)(const void *)(block + 32 * i));
		folded[i] = _mm256_or_si256(bytes[i], _mm256_set1_epi8(0x20));
	}
	return (struct masks){equal(bytes, '"'), equal(bytes, '\\'), equal(folded, '{'),
			      equal(folded, '}')};
}
#elif defined(__SSE2__)
static inline uint64_t equal(const __m128i bytes[4], char c)
{
	__m128i want = _mm_set1_epi8(c);
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], want))
			<< 16 * i;
	return mask;
}

static inline struct masks classify(const char *block)
{
	__m128i bytes[4], folded[4];

	for (int i = 0; i < 4; i++) {
		bytes[i] = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
		folded[i] = _mm_or_si128(bytes[i], _mm_set1_epi8(0x20));
	}
	return (struct masks){equal(bytes, '"'), equal(bytes, '\\'), equal(folded, '{'),
			      equal(folded, '}')};
}
#else
static inline struct masks classify(const char *block)
{
	struct masks masks = {0};

	for (int i = 0; i < BLOCK; i++) {
		masks.quote |= (uint64_t)(block[i] == '"') << i;
		masks.slash |= (uint64_t)(block[i] == '\\') << i;
		masks.open |= (uint64_t)((block[i] | 0x20) == '{') << i;
		masks.close |= (uint64_t)((block[i] | 0x20) == '}') << i;
	}
	return masks;
}
#endif

/* The bytes behind an active backslash. *carry: the block before ended in one. */
static inline uint64_t escaped(uint64_t slash, bool *carry)
{
	uint64_t result = *carry;

	*carry = false;
	for (slash &= ~result; slash; slash &= slash - 1) {
		uint64_t bit = slash & -slash;

		if (bit >> 63)
			*carry = true;
		result |= bit << 1;
		slash &= ~(bit << 1);
	}
	return result;
}

/* Bit i becomes the parity of bits 0 to i: set from an opening quote up to before its closing one. */
static inline uint64_t parity(uint64_t bits)
{
	for (int shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

size_t PASTE(tt_jsonscan_close, TT_ISA)(struct tt_jsonscan *scan, const char *text, size_t size,
					size_t start)
{
	uint64_t in_string = scan->in_string ? UINT64_MAX : 0;
	bool carry = scan->escape;
	size_t depth = scan->depth;

	for (size_t at = start; at < size; at += BLOCK) {
		char tail[BLOCK];
		const char *block = text + at;
		struct masks masks;
		uint64_t inside, open, close;
		size_t closes;

		if (size - at < BLOCK) {
			memset(tail, ' ', BLOCK);
			block = memcpy(tail, block, size - at);
		}
		masks = classify(block);
		if (masks.slash | carry)
			masks.quote &= ~escaped(masks.slash, &carry);
		inside = parity(masks.quote) ^ in_string;
		in_string = -(inside >> 63);
		open = masks.open & ~inside;
		close = masks.close & ~inside;
		closes = (size_t)__builtin_popcountll(close);
		if (closes < depth) {
			depth += (size_t)__builtin_popcountll(open) - closes;
			continue;
		}
		for (uint64_t both = open | close; both; both &= both - 1) {
			if (open & both & -both)
				depth++;
			else if (--depth == 0)
				return at + (size_t)__builtin_ctzll(both) + 1;
		}
	}
	*scan = (struct tt_jsonscan){depth, in_string != 0, carry};
	return TT_JSONSCAN_NONE;
}
