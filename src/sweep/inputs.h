/*
 * inputs.h: the tensors of a configuration, made of random numbers.
 *
 * The same seed gives the same numbers on every machine. Numbers that are indices point somewhere: what they index
 * and how far it reaches are rows of a table (inputs.c). Called by replay.c.
 */
#ifndef TT_SWEEP_INPUTS_H
#define TT_SWEEP_INPUTS_H

#include "sweep/traced.h"

#define TT_INPUTS_MAX 64

/* Rows of an embedding's table that indices point to: those of giants are compared with a part of the table. */
#define TT_INPUTS_TABLE 1000

/* What is known of a tensor before any is made. */
struct tt_input {
	const char *arg;
	struct ttnn_shape shape;
};

struct tt_inputs {
	ttnn_device *device;
	const char *op;
	uint64_t state;   /* of the random numbers; to begin with, the seed */
	uint64_t largest; /* elements of all together; 0: any number */
	bool plain;       /* all interleaved in DRAM, whatever the configuration says */
	bool apart;       /* each chip of a mesh has numbers of its own: for collectives */

	struct tt_input wanted[TT_INPUTS_MAX];
	size_t wanted_count;
	struct tt_traced_call survey; /* the call as far as it is known before tensors are made */
	ttnn_tensor *made[TT_INPUTS_MAX];
	size_t count;
	uint64_t elements;
	bool too_large; /* more than `largest`: why tt_inputs_bind() failed */
};

/* Where a call comes from: a configuration of a file, or a call of a trace (recall.h). */
struct tt_call_source {
	const char *op;
	/* Makes its arguments in `arena`, and asks for its tensors. */
	tt_status (*bind)(struct tt_traced_call *out, struct tt_arena *arena, const void *what,
			  const struct tt_traced_maker *maker);
	const void *what;
};

/* That of a configuration, which must outlive it. */
struct tt_call_source tt_call_of_config(const struct tt_traced_config *config);

/*
 * Makes a call and its tensors, which the inputs own until tt_inputs_drop(). Everything else
 * of the call is in `arena`.
 */
tt_status tt_inputs_bind(struct tt_traced_call *out, struct tt_inputs *inputs,
			 struct tt_arena *arena, const struct tt_call_source *source);

/* Notes the tensors that a call wants, without making any. */
tt_status tt_inputs_survey(struct tt_inputs *inputs, struct tt_arena *arena,
			   const struct tt_call_source *source);

/* After that: the number that indices in this argument stay below; 0: they index nothing. */
uint64_t tt_inputs_places(const struct tt_inputs *inputs, const char *arg);

/* Lets go of the tensors; the inputs can be used again. */
void tt_inputs_drop(struct tt_inputs *inputs);

/* The next random number. */
uint64_t tt_inputs_random(struct tt_inputs *inputs);

#endif
