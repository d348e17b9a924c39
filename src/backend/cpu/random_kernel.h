/*
 * random_kernel.h: numbers that depend on a key and their place alone, so threads may make them in any
 * order. Only additions, products, quotients and roots: the same on every machine.
 */
#ifndef TT_BACKEND_CPU_RANDOM_KERNEL_H
#define TT_BACKEND_CPU_RANDOM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits that look random, of any 64 bits. */
static inline uint64_t tt_random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Number `place` of the sequence with this key. */
static inline uint64_t tt_random_at(uint64_t key, uint64_t place)
{
	return tt_random_mix(key + place * 0x9e3779b97f4a7c15u);
}

struct tt_random_line {
	uint64_t key, first; /* out[i] is number first + i */
	float low, range, most;
};

struct tt_random_fns {
	/* out[i] = low + u × range, with u in [0, 1), never more than `most` */
	void (*uniform)(float *out, size_t count, const struct tt_random_line *line);
	/* out[i] = low + n × range, n being normal */
	void (*normal)(float *out, size_t count, const struct tt_random_line *line);
};

/* The functions for the instruction set in use (base/cpu.h). */
const struct tt_random_fns *tt_random_fns_get(void);

#endif
