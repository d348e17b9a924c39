/* moe_compute.h: between the program of moe_compute (moe_compute.c: refusals, memory) and what it computes (moe_compute_run.c). */
#ifndef TT_OPS_COLLECTIVE_MOE_COMPUTE_H
#define TT_OPS_COLLECTIVE_MOE_COMPUTE_H

#include "device/device.h"
#include "ops/collective/moe_places.h"
#include "ops/expert_ring.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

/* Attributes of the program. */
enum {
	TT_MOE_LAYER,
	TT_MOE_HEIGHT,
	TT_MOE_BETWEEN,
	TT_MOE_SHARED,
	TT_MOE_BIAS,
	TT_MOE_ROWS,
	TT_MOE_COLUMNS,
	TT_MOE_PATH,
	TT_MOE_RING,
	TT_MOE_COMBINE,
	TT_MOE_ACTIVATION,
	TT_MOE_LIMIT,
	TT_MOE_FIDELITY,
	TT_MOE_FP32,
	TT_MOE_ATTRS
};

/*
 * What is made of the experts' rows: nothing; the tokens' result on one chip; on each chip along an axis of one; on the chips along
 * an axis that the tokens came from.
 */
enum tt_moe_path { TT_MOE_ONLY, TT_MOE_DEVICE, TT_MOE_CLUSTER, TT_MOE_FABRIC };
enum tt_moe_activation { TT_MOE_SILU, TT_MOE_SWIGLU, TT_MOE_GELU, TT_MOE_CLAMPED };

enum {
	TT_MOE_TOKENS,
	TT_MOE_CHOICES,
	TT_MOE_SCORES,
	TT_MOE_MAPPING,
	TT_MOE_GATE_UP,
	TT_MOE_DOWN,
	TT_MOE_INPUTS
};
enum {
	TT_MOE_COUNTS,
	TT_MOE_ACTIVE,
	TT_MOE_MAPS,
	TT_MOE_TILES,
	TT_MOE_RESULT,
	TT_MOE_COMBINED, /* not of TT_MOE_ONLY */
	TT_MOE_OUTPUTS
};

#define TT_MOE_WORD 4u
#define TT_MOE_CHUNK 32u /* tokens at a time */
#define TT_MOE_HALVES 2u /* a shard has room for so many experts in turn */

static inline uint32_t tt_moe_experts(const struct tt_launch *launch)
{
	return launch->inputs[TT_MOE_GATE_UP]->spec.shape.dim[2];
}

static inline uint32_t tt_moe_layers(const struct tt_launch *launch)
{
	return launch->inputs[TT_MOE_GATE_UP]->spec.shape.dim[1];
}

static inline uint32_t tt_moe_width(const struct tt_launch *launch)
{
	return tt_shape_last(&launch->inputs[TT_MOE_TOKENS]->spec.shape, 1);
}

/* Tokens, as upstream counts them for its results. */
static inline uint64_t tt_moe_tokens(const struct tt_launch *launch)
{
	const struct ttnn_shape *shape = &launch->inputs[TT_MOE_TOKENS]->spec.shape;

	return (uint64_t)shape->dim[0] * shape->dim[1];
}

/* Rows of the tokens: as many, unless there are more than three dimensions. */
static inline uint64_t tt_moe_rows(const struct tt_launch *launch)
{
	return tt_shape_count(&launch->inputs[TT_MOE_TOKENS]->spec.shape) / tt_moe_width(launch);
}

static inline uint64_t tt_moe_row_words(const struct tt_launch *launch)
{
	return tt_align_to((2 * (uint64_t)tt_moe_experts(launch) + 1) * TT_MOE_WORD,
			   tt_memory_alignment(launch->device, TTNN_L1)) /
	       TT_MOE_WORD;
}

/* Words from one number to the next where each is sent by itself. */
static inline uint64_t tt_moe_map_words(const struct tt_launch *launch)
{
	return tt_memory_alignment(launch->device, TTNN_L1) / TT_MOE_WORD;
}

/* Chips that a result's tokens come from, of which each has as many: those along the axis, or the chip alone. */
uint32_t tt_moe_members(const struct tt_launch *launch);

/* Whether tokens come from the chips of a row: along the axis that was asked for, the second where none was. */
bool tt_moe_along(const struct tt_launch *launch);

/* The ring that reads the weights. */
static inline tt_status tt_moe_ring(struct tt_expert_ring *out, const struct tt_launch *launch)
{
	const uint32_t extents[] = {tt_moe_width(launch), tt_attr_u32(launch, TT_MOE_BETWEEN)};

	return tt_expert_ring_make(out, launch->inputs[TT_MOE_GATE_UP], extents,
				   launch->attrs[TT_MOE_BIAS].integer);
}

/* Blocks of an expert that each bank has of gate and up, and each core of down. */
uint64_t tt_moe_blocks_up(const struct tt_expert_ring *ring, bool bias);
uint64_t tt_moe_blocks_down(const struct tt_expert_ring *ring, bool bias);

/* The cores of a launch. */
tt_status tt_moe_places_of(struct tt_moe_places *out, const struct tt_launch *launch);

tt_status tt_moe_kernel(struct tt_launch *launch);

#endif
