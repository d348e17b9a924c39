#include "device/banks.h"

#include <inttypes.h>

#include "base/mem.h"

/* No chip comes near; keeps the arithmetic of the shuffle inside of 31 bits. */
#define MAX_BANKS 32768

/* ---- the shuffle --------------------------------------------------------------------------- */

/* The generator that upstream seeds with 0, which it takes as 1. */
#define MODULUS UINT64_C(2147483647)

/* A number from 0 to top, all equally likely: values that would favour the small ones are skipped. */
static uint32_t draw(uint64_t *state, uint32_t top)
{
	uint64_t choices = (uint64_t)top + 1;
	uint64_t width = (MODULUS - 2) / choices;

	do
		*state = *state * 16807 % MODULUS;
	while (*state - 1 >= choices * width);
	return (uint32_t)((*state - 1) / width);
}

static void swap(uint32_t *numbers, uint32_t a, uint32_t b)
{
	uint32_t kept = numbers[a];

	numbers[a] = numbers[b];
	numbers[b] = kept;
}

void tt_banks_shuffle(uint32_t *numbers, uint32_t count)
{
	uint64_t state = 1;
	uint32_t i = 1;

	for (uint32_t k = 0; k < count; k++)
		numbers[k] = k;
	if (count && count % 2 == 0)
		swap(numbers, i++, draw(&state, 1));
	/* Two swaps from one draw: two numbers of i + 1 and i + 2 choices are packed into it. */
	for (; i < count; i += 2) {
		uint32_t both = draw(&state, (i + 1) * (i + 2) - 1);

		swap(numbers, i, both / (i + 2));
		swap(numbers, i + 1, both % (i + 2));
	}
}

/* ---- tables -------------------------------------------------------------------------------- */

/* An empty table for count banks on a grid of as many cores. */
static tt_status init(struct tt_banks *banks, uint32_t width, uint32_t height)
{
	uint64_t count = (uint64_t)width * height;

	*banks = (struct tt_banks){0};
	if (count > MAX_BANKS)
		return tt_fail(TTNN_INVALID,
			       "a grid of %" PRIu32 "x%" PRIu32 " cores has more than %d banks",
			       width, height, MAX_BANKS);
	banks->cores = tt_calloc(count, sizeof(*banks->cores));
	banks->numbers = tt_calloc(count, sizeof(*banks->numbers));
	if (!banks->cores || !banks->numbers) {
		tt_banks_deinit(banks);
		return tt_fail_nomem();
	}
	banks->count = (uint32_t)count;
	banks->width = width;
	banks->height = height;
	return TTNN_OK;
}

tt_status tt_banks_init_l1(struct tt_banks *banks, uint32_t width, uint32_t height)
{
	TT_TRY(init(banks, width, height));
	tt_banks_shuffle(banks->numbers, banks->count);
	for (uint32_t k = 0; k < banks->count; k++)
		banks->cores[banks->numbers[k]] = (struct ttnn_core){k % width, k / width};
	return TTNN_OK;
}

tt_status tt_banks_init_dram(struct tt_banks *banks, uint32_t count)
{
	TT_TRY(init(banks, count, 1));
	for (uint32_t k = 0; k < count; k++) {
		banks->numbers[k] = k;
		banks->cores[k] = (struct ttnn_core){k, 0};
	}
	return TTNN_OK;
}

void tt_banks_deinit(struct tt_banks *banks)
{
	tt_free(banks->cores);
	tt_free(banks->numbers);
	*banks = (struct tt_banks){0};
}

bool tt_banks_find(uint32_t *bank, const struct tt_banks *banks, struct ttnn_core core)
{
	if (core.x >= banks->width || core.y >= banks->height)
		return false;
	*bank = banks->numbers[(size_t)core.y * banks->width + core.x];
	return true;
}
