/*
 * moe_gpt.h: between the program of moe_gpt (moe_gpt.c: refusals, memory) and what it computes (moe_gpt_run.c): its inputs, its
 * results, and the cores that collect what experts make.
 */
#ifndef TT_OPS_COLLECTIVE_MOE_GPT_H
#define TT_OPS_COLLECTIVE_MOE_GPT_H

#include "device/device.h"
#include "ops/movement/movement.h"
#include "ops/usual.h"

/* Attributes of the program. */
enum { TT_GPT_ROWS, TT_GPT_COLUMNS, TT_GPT_WIDTH, TT_GPT_AXIS };

enum {
	TT_GPT_TOKENS,
	TT_GPT_CHOICES,
	TT_GPT_SCORES,
	TT_GPT_MAPPING,
	TT_GPT_GATE_UP,
	TT_GPT_DOWN,
	TT_GPT_INPUTS
};
enum { TT_GPT_COUNTS, TT_GPT_ACTIVE, TT_GPT_MAPS, TT_GPT_TILES, TT_GPT_RESULT, TT_GPT_OUTPUTS };

#define TT_GPT_TILES_MOST 8u /* columns of tiles of a core of the ring */
#define TT_GPT_GROUP 4u      /* tiles that are read side by side */
#define TT_GPT_WORD 4u

static inline uint32_t tt_gpt_experts(const struct tt_launch *launch)
{
	return launch->inputs[TT_GPT_GATE_UP]->spec.shape.dim[2];
}

static inline uint32_t tt_gpt_tokens(const struct tt_launch *launch)
{
	return launch->inputs[TT_GPT_TOKENS]->spec.shape.dim[0];
}

/* Words of a token's row: its number, and for each expert which choice it is and the score. */
static inline uint32_t tt_gpt_row_words(const struct tt_launch *launch)
{
	uint64_t l1 = tt_memory_alignment(launch->device, TTNN_L1);

	return (uint32_t)(tt_align_to((2 * tt_gpt_experts(launch) + 1) * TT_GPT_WORD, l1) /
			  TT_GPT_WORD);
}

/* Words from one number to the next where each is sent by itself. */
static inline uint32_t tt_gpt_map_words(const struct tt_launch *launch)
{
	return (uint32_t)(tt_align_to(TT_GPT_WORD, tt_memory_alignment(launch->device, TTNN_L1)) /
			  TT_GPT_WORD);
}

struct tt_gpt_cores {
	const ttnn_core_set *ring, *collectors, *tilizers, *both; /* ring and tilizers */
	struct ttnn_core first; /* of the collectors, which are a rectangle */
};

/* Refuses a grid in which there is no such rectangle. */
tt_status tt_gpt_cores(struct tt_gpt_cores *out, const struct tt_launch *launch);

/* What the experts of all chips make of their tokens. */
tt_status tt_gpt_kernel(struct tt_launch *launch);

#endif
