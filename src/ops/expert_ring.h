/*
 * expert_ring.h: how the cores that multiply with experts' weights share them. Called by operations that pack such weights or read them.
 *
 * The cores are a ring, one beside each bank of DRAM. Gate and up have `in` rows of tiles and `between` columns, down the other way
 * round. A core reads blocks of two transactions, 4 tiles wide, or 2 where an odd column is left over.
 */
#ifndef TT_OPS_EXPERT_RING_H
#define TT_OPS_EXPERT_RING_H

#include "ops/op.h"

#define TT_RING_WIDE 4u /* tiles that a block is wide: columns of gate and up in turn, or of down */
#define TT_RING_HALF 2u
#define TT_RING_MOST 32u /* cores */

struct tt_expert_ring {
	uint32_t cores;
	uint32_t in, between; /* tiles of the hidden and of the intermediate extent */
	uint32_t transaction; /* tiles that are read at once */
};

/* The cores of the ring in its order, from the last row up, and the bank beside each; TT_RING_MOST of both have room. */
struct tt_ring_core {
	struct ttnn_core core;
	uint32_t bank;
};
tt_status tt_ring_cores(struct tt_ring_core *out, uint32_t *count, const struct tt_device *device);

/* The ring of a tensor's device for extents in elements. Refuses a tensor that is not on a device. */
tt_status tt_expert_ring_make(struct tt_expert_ring *out, const struct tt_tensor *tensor,
			      const uint32_t extents[2], bool has_bias);

/* How many of `tiles` a core has: those left over are spread evenly. */
uint32_t tt_ring_share(const struct tt_expert_ring *ring, uint32_t tiles, uint32_t core);

/* How many columns of down a core has. */
uint32_t tt_ring_share_down(const struct tt_expert_ring *ring, uint32_t core);

/* How many columns of gate and up are kept for a core: its own, or as many as for every other. */
uint32_t tt_ring_stored(const struct tt_expert_ring *ring, uint32_t core);

/* How many columns of what gate and up make goes from a core to the next. */
uint32_t tt_ring_exchanged(const struct tt_expert_ring *ring);

/* Of experts that `parts` chips share, a core's columns stand in front: so many of them are read. */
uint32_t tt_ring_packed(const struct tt_expert_ring *ring, uint32_t parts);

/* Tiles of weights that a core has room for: whole blocks, three at least. */
uint32_t tt_ring_kept(const struct tt_expert_ring *ring);

/* Whether all cores keep as many columns, in pairs, so that a bank's blocks are those of its core. */
bool tt_ring_is_even(const struct tt_expert_ring *ring);

/* How many tiles of rows a block has that is so many tiles wide. */
uint32_t tt_ring_block_rows(const struct tt_expert_ring *ring, uint32_t wide);

/* Rows of tiles filled up to whole blocks of that width. */
uint32_t tt_ring_filled(const struct tt_expert_ring *ring, uint32_t rows, uint32_t wide);

/* Into how many groups of four columns every core's part of down is cut; whether the last one is half as wide. */
uint32_t tt_ring_groups_down(const struct tt_expert_ring *ring);
bool tt_ring_half_down(const struct tt_expert_ring *ring);

#endif
