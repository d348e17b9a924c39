/*
 * runner.h: runs the vectors of a plan in child processes and hands what became of them to results.
 *
 *	struct tt_runner runner = {.plan = &plan, .results = results, .jobs = 2, .timeout_ns = ...};
 *
 *	status = tt_runner_run(&runner);        TTNN_CANCELLED: stopped, to be taken up again
 *
 * Each child opens the machine once and runs one vector after another (children.h). A vector that crashes, hangs or takes
 * more memory than it may is a result; the next child goes on with the others. The caller must have no threads and no open
 * devices.
 */
#ifndef TT_SWEEP_RUNNER_H
#define TT_SWEEP_RUNNER_H

#include "sweep/claims.h"
#include "sweep/plan.h"
#include "sweep/results.h"

/* How many vectors ended how. */
struct tt_runner_counts {
	uint64_t hows[TT_SWEEP_HOWS];         /* of those that passed */
	uint64_t statuses[TT_SWEEP_STATUSES]; /* of all */
	uint64_t crashed, hung;               /* of FAIL_CRASH_HANG */
	uint64_t refused; /* of NOT_RUN: mutations that the operation does not take */
	uint64_t cached;  /* passed before by this build, and not run again */
	uint64_t before;  /* have a row of this run already: it was taken up again */
	uint64_t texts,
		meant; /* arguments that came back with the recorded text; as another text of the same */
	uint64_t done; /* of all that had to be done, in this process */
};

struct tt_runner {
	const struct tt_plan *plan;
	struct tt_results *results;
	unsigned jobs;       /* children; 0: one for each processor */
	unsigned threads;    /* of each; 0: processors shared out */
	uint64_t timeout_ns; /* of a vector; 0: none */
	uint64_t memory;     /* of a child, in bytes; 0: none */
	uint64_t largest;    /* leaves out vectors of more elements; 0: none */
	const char *build;   /* (optional) its digest: what it passed before is not run again */
	bool no_retrace;
	bool skip_on_timeout; /* after a hang the rest of that module and suite is not run */
	bool keep_invalid;    /* invalid vectors get a row, as not run */
	bool quiet;           /* no progress bar */
	/* (optional) Vectors are claimed, for others work on the run too: all that are left are done, whoever began them. */
	const struct tt_claims_options *claims;
	uint64_t
		linger_ns; /* how long who has nothing to do waits for what others have; UINT64_MAX: to the end */
	/* (optional) In a child, before a vector is run: for tests of what may go wrong. */
	void (*before)(void *context, const struct tt_plan_vector *vector);
	/* (optional) In the parent, when a vector ended. */
	void (*ended)(void *context, const struct tt_sweep_result *result);
	void *context;

	struct tt_runner_counts counts; /* out */
};

/* TTNN_INVALID when there is no vector to run. Rows of vectors that ended are in the results whatever it returns. */
tt_status tt_runner_run(struct tt_runner *runner);

/* Bytes that a child may take by default: the machine's memory shared out. */
uint64_t tt_runner_memory(unsigned jobs);

/* Processors that this process may use. */
unsigned tt_runner_processors(void);

#endif
