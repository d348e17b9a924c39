/* random_kernel.isa.c: see random_kernel.h. */
#include "backend/cpu/random_kernel.h"

#include "backend/cpu/math.h"

static void uniform(float *restrict out, size_t count, const struct tt_random_line *line)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = tt_random_at(line->key, line->first + i);
		float value = line->low + (float)(int32_t)(bits >> 40) * 0x1p-24f * line->range;

		out[i] = value < line->most ? value : line->most;
	}
}

/* Box and Muller's: the radius from one half of the bits, the angle from the other. */
static void normal(float *restrict out, size_t count, const struct tt_random_line *line)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = tt_random_at(line->key, line->first + i);
		float part = ((float)(int32_t)(bits >> 40) + 0.5f) * 0x1p-24f;
		float angle = (float)(int32_t)(bits & 0xffffff) * (6.28318531f * 0x1p-24f);
		float radius = sqrtf(-2.0f * tt_log(part));

		out[i] = line->low + radius * tt_sin_quarter(angle, 1) * line->range;
	}
}

#define TABLE_(isa) tt_random_fns_##isa
#define TABLE(isa) TABLE_(isa)

extern const struct tt_random_fns TABLE(TT_ISA);
const struct tt_random_fns TABLE(TT_ISA) = {.uniform = uniform, .normal = normal};
