/* expert_ring.c: which core of the ring has which tiles of experts' weights (moe_ring_common.h and moe_compute_utils of ttnn 0.81). */
#include "ops/expert_ring.h"

#include "device/device.h"
#include "device/devtensor.h"
#include "tensor/tile.h"

#define TRANSACTION 14u
#define KEPT_BLOCKS 3u
#define LONG_TRANSACTION 20u /* for one shape alone: 2560 by 640 on eight banks */

static bool comes_before(struct ttnn_core a, struct ttnn_core b)
{
	return a.y != b.y ? a.y > b.y : a.x > b.x;
}

tt_status tt_ring_cores(struct tt_ring_core *out, uint32_t *count, const struct tt_device *device)
{
	struct ttnn_core near[TT_ARCH_BANKS];

	*count = device->info.dram_banks;
	TT_NEED(*count && *count <= TT_RING_MOST && *count <= TT_ARCH_BANKS,
		"a ring of cores beside %u banks of DRAM", *count);
	TT_TRY(tt_workers_dram(near, &device->workers, 0));
	for (uint32_t bank = 0; bank < *count; bank++) {
		uint32_t place = bank;

		for (; place && comes_before(near[bank], out[place - 1].core); place--)
			out[place] = out[place - 1];
		out[place] = (struct tt_ring_core){near[bank], bank};
	}
	return TTNN_OK;
}

tt_status tt_expert_ring_make(struct tt_expert_ring *out, const struct tt_tensor *tensor,
			      const uint32_t extents[2], bool has_bias)
{
	const struct tt_device *device = tt_tensor_device(tensor);

	TT_NEED(device, "weights of experts must be on a device to be packed for its banks");
	*out = (struct tt_expert_ring){.cores = device->info.dram_banks,
				       .in = extents[0] / TT_TILE,
				       .between = extents[1] / TT_TILE,
				       .transaction = TRANSACTION};
	if (out->cores == 8 && out->in == 80 && out->between == 20 && !has_bias)
		out->transaction = LONG_TRANSACTION;
	TT_NEED(out->cores && out->cores <= TT_RING_MOST && out->in && out->between,
		"weights of experts must have at least one tile");
	return TTNN_OK;
}

uint32_t tt_ring_share(const struct tt_expert_ring *ring, uint32_t tiles, uint32_t core)
{
	uint32_t more = tiles % ring->cores;

	return tiles / ring->cores + (core * more % ring->cores < more);
}

/* Cores that have fewer columns of gate and up take more of down where that goes without remainder. */
uint32_t tt_ring_share_down(const struct tt_expert_ring *ring, uint32_t core)
{
	uint32_t least = ring->between / ring->cores;

	if (ring->between % ring->cores + ring->in % ring->cores != ring->cores)
		return tt_ring_share(ring, ring->in, core);
	return ring->in / ring->cores + (tt_ring_share(ring, ring->between, core) == least);
}

/* As many columns for every core, in pairs, and at least those of a block. */
static uint32_t in_pairs(uint32_t columns)
{
	columns += columns % 2;
	return columns < TT_RING_WIDE ? TT_RING_WIDE : columns;
}

uint32_t tt_ring_stored(const struct tt_expert_ring *ring, uint32_t core)
{
	uint32_t most = tt_div_up32(ring->between, ring->cores), even = in_pairs(most);

	return most < even ? tt_ring_share(ring, ring->between, core) : even;
}

uint32_t tt_ring_exchanged(const struct tt_expert_ring *ring)
{
	uint32_t most = tt_div_up32(ring->between, ring->cores), even = in_pairs(most);

	return most == even ? even : most < TT_RING_HALF ? TT_RING_HALF : most;
}

uint32_t tt_ring_packed(const struct tt_expert_ring *ring, uint32_t parts)
{
	return in_pairs(tt_div_up32(tt_div_up32(ring->between, parts), ring->cores));
}

uint32_t tt_ring_kept(const struct tt_expert_ring *ring)
{
	uint32_t room = KEPT_BLOCKS * 2 * TRANSACTION, block = 2 * ring->transaction;
	uint32_t blocks = room / block < KEPT_BLOCKS ? KEPT_BLOCKS : room / block;

	return blocks * block;
}

uint32_t tt_ring_block_rows(const struct tt_expert_ring *ring, uint32_t wide)
{
	return 2 * ring->transaction / wide;
}

uint32_t tt_ring_filled(const struct tt_expert_ring *ring, uint32_t rows, uint32_t wide)
{
	uint32_t block = tt_ring_block_rows(ring, wide);

	return tt_div_up32(rows, block) * block;
}

uint32_t tt_ring_groups_down(const struct tt_expert_ring *ring)
{
	return tt_div_up32(tt_div_up32(ring->in, ring->cores), TT_RING_WIDE);
}

bool tt_ring_half_down(const struct tt_expert_ring *ring)
{
	uint32_t rest = tt_div_up32(ring->in, ring->cores) % TT_RING_WIDE;

	return ring->transaction != TRANSACTION && rest && rest <= TT_RING_HALF;
}

bool tt_ring_is_even(const struct tt_expert_ring *ring)
{
	uint32_t first = tt_ring_stored(ring, 0);

	for (uint32_t core = 1; core < ring->cores; core++)
		if (tt_ring_stored(ring, core) != first)
			return false;
	return first % 2 == 0 && ring->transaction == TRANSACTION;
}
