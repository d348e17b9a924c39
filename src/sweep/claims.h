/*
 * claims.h: vectors of a run that several work on, as rows that are claimed: each is somebody's for a time, the lease, and
 * anybody's again when that is over. Called by the runner (runner.h).
 *
 *	TT_TRY(tt_claims_begin(results, plan, &options));       all vectors of the run have rows now
 *	while (tt_claims_take(&numbers, results) and there are some)
 *		do them, tt_results_add(); now and then tt_claims_renew()
 *
 * Times are the database's alone: a runner whose clock is wrong loses nothing and takes nothing. A lease that was too
 * short costs work done twice, never a result that counts twice, for results are unique by run and vector.
 */
#ifndef TT_SWEEP_CLAIMS_H
#define TT_SWEEP_CLAIMS_H

#include "base/vec.h"
#include "sweep/plan.h"
#include "sweep/results.h"

/* A vector whose runners died so often is not begun again: it fails. */
#define TT_CLAIMS_ATTEMPTS 5

struct tt_claims_options {
	uint64_t shard, shards; /* this runner does part `shard`, from 1, first; 0 of 0: any */
	uint64_t lease_ms;
	unsigned batch; /* claims at a time */
	bool own;       /* nothing but its part, and what nobody has finished of it */
};

/* A vector that this runner has now, by its number in the plan. */
struct tt_claim {
	size_t number;
	int64_t attempts; /* with this one */
};
typedef TT_VEC(struct tt_claim) tt_claims;

/* Makes the rows of the run, unless it has some; the plan is the whole one, and outlives the results. */
tt_status tt_claims_begin(struct tt_results *results, const struct tt_plan *plan,
			  const struct tt_claims_options *options);

/*
 * Claims some vectors and appends them: of its own part, then those whose lease is over, then those that wait for others.
 * None: the others have what is left, or nothing is.
 */
tt_status tt_claims_take(tt_claims *out, struct tt_results *results);

/* Renews the leases of what this runner has, if a third of their time is over. Cheap otherwise. */
tt_status tt_claims_renew(struct tt_results *results);

/* A vector that this runner has needs no result. */
tt_status tt_claims_drop(struct tt_results *results, const char *vector);

/* Vectors of the run that are not done, whoever has them; with `own` of its part alone. */
tt_status tt_claims_left(uint64_t *out, struct tt_results *results, bool own);

/* Gives back what this runner has not done, so that nobody waits for its leases. Fails not; nothing claimed is fine. */
void tt_claims_release(struct tt_results *results);

#endif
