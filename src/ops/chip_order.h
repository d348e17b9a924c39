/*
 * chip_order.h: in which order the programs of single chips go out, when an operation builds one for each.
 *
 * Upstream keeps them in a hash table by their place on the mesh, and goes through that: the order is that of the
 * table of the C++ library it was built with, which this repeats. Called for every launch of such a program.
 */
#ifndef TT_OPS_CHIP_ORDER_H
#define TT_OPS_CHIP_ORDER_H

#include <stdint.h>

#define TT_CHIPS_MAX 64

/* Fills out[0 .. rows * cols) with places on the mesh; beyond TT_CHIPS_MAX chips it is from the last to the first. */
void tt_chip_order(uint32_t *out, uint32_t rows, uint32_t cols);

/* The same for the programs of a launch, in its arena; NULL if chips have one together, or without memory. */
struct tt_launch;
uint32_t *tt_launch_order(const struct tt_launch *launch);

/* How many programs a launch consists of: one, or one for each chip or line of chips. */
uint32_t tt_launch_programs(const struct tt_launch *launch);

#endif
