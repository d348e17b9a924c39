/*
 * banks.h: which core has which bank of a chip's memory.
 *
 * A DRAM bank is known by a logical core of its own: bank b is (b, 0). An L1 bank is the memory of a
 * compute core. Their numbers are shuffled, so that neighbours in a buffer are not neighbours on the
 * chip: the cores, row by row, get the numbers 0 .. n - 1 in an order that depends on n alone.
 *
 * Buffers map pages to cores with these tables. They do not change once made; any thread may read.
 */
#ifndef TT_DEVICE_BANKS_H
#define TT_DEVICE_BANKS_H

#include "base/status.h"

/* All zero is a valid chip without banks. */
struct tt_banks {
	uint32_t count;
	uint32_t width, height;  /* cores that can have a bank: those of the rectangle at (0, 0) */
	struct ttnn_core *cores; /* by bank */
	uint32_t *numbers;       /* by core, row by row */
};

/* The order of numbers: what upstream's library shuffles 0 .. count - 1 into. */
void tt_banks_shuffle(uint32_t *numbers, uint32_t count);

/* The L1 banks of a grid of compute cores; banks is overwritten. */
tt_status tt_banks_init_l1(struct tt_banks *banks, uint32_t width, uint32_t height);

/* The banks of DRAM. */
tt_status tt_banks_init_dram(struct tt_banks *banks, uint32_t count);

void tt_banks_deinit(struct tt_banks *banks);

/* The bank of a core; false when it has none. */
bool tt_banks_find(uint32_t *bank, const struct tt_banks *banks, struct ttnn_core core);

#endif
