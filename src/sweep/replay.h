/*
 * replay.h: a recorded call on random tensors, and whether its result is right.
 *
 * No operation has code of its own here: arguments come from the file by the operation's signatures (traced.h), tensors
 * from their specs (inputs.h), the truth from the operation's golden (verdict.h, partial.h). Called by sweeps and
 * by the test of all real configurations.
 */
#ifndef TT_SWEEP_REPLAY_H
#define TT_SWEEP_REPLAY_H

#include "sweep/inputs.h"

/* Where configurations run; opened once. All zero is closed. */
struct tt_replay_machine {
	ttnn_device *device;
	ttnn_device *pair; /* two chips, for what was traced on two */
};
tt_status tt_replay_open(struct tt_replay_machine *out);
/* The one of a profile, a mesh of it where rows is not 0: for calls that were recorded there. NULL, "": the default. */
tt_status tt_replay_open_as(struct tt_replay_machine *out, const char *profile, uint32_t rows,
			    uint32_t cols);
void tt_replay_close(struct tt_replay_machine *machine);

/* Whether chips give each other their data: goldens of all other operations are those of one chip. */
bool tt_replay_apart(const char *op);

struct tt_replay_options {
	uint64_t seed;
	uint64_t largest; /* elements of all inputs together; 0: any number */
	bool retrace;     /* trace the call while it runs: it must be the recorded one */
	bool stay;        /* what is refused as it is placed is not moved to DRAM */
};

enum tt_replay_outcome {
	TT_REPLAY_PASSED,
	TT_REPLAY_FAILED,
	TT_REPLAY_SKIPPED,  /* larger than asked for */
	TT_REPLAY_UNJUDGED, /* it ran; nothing says what its result has to be (random numbers) */
};

struct tt_replay_result {
	enum tt_replay_outcome outcome;
	double pcc, bound; /* the least correlation, and what the operation's row demands */
	double error;      /* the largest difference */
	bool stood_in;     /* something stands for an argument that was lost */
	bool moved;        /* refused as it was placed: all went to DRAM */
	bool refused;      /* a failure: the operation did not take its arguments */
	/* With retrace, of one that was not moved: arguments that have the recorded text, or mean the same. */
	size_t texts, meant;
	uint64_t ns;
	char why[400]; /* of a failure */
	const char
		*notes[TT_TRACED_NOTES]; /* what was lost, and what stands for it; in the arena */
	size_t note_count;
};

/* Runs a call. Failures are results: only a wrong use or exhausted memory is a status. */
tt_status tt_replay_run(struct tt_replay_result *out, struct tt_arena *arena,
			const struct tt_replay_machine *machine,
			const struct tt_call_source *source,
			const struct tt_replay_options *options);

#endif
