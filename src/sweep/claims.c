/* claims.c: the table `claims` (results_tables.c makes it; docs/formats/vectors.md draws it). */
#include "sweep/claims.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sweep/results_parts.h"

/* Where vectors are looked for, in this order. */
enum { OWN, EXPIRED, OTHERS, PLACES };

struct tt_claims_state {
	struct tt_claims_options options;
	const struct tt_plan *plan;
	struct tt_map numbers; /* of vectors by their hashes */
	struct tt_db_stmt *take[PLACES], *renew, *drop, *left;
	uint64_t renewed_ns;
	uint64_t held;
};

static void bind(struct tt_db_stmt *stmt, int at, const char *text)
{
	tt_db_bind_text(stmt, at, text, strlen(text));
}

void tt_claims_free(struct tt_results *results)
{
	struct tt_claims_state *state = results->claims;

	if (!state)
		return;
	for (int i = 0; i < PLACES; i++)
		tt_db_stmt_free(state->take[i]);
	tt_db_stmt_free(state->renew);
	tt_db_stmt_free(state->drop);
	tt_db_stmt_free(state->left);
	tt_map_deinit(&state->numbers);
	tt_free(state);
	results->claims = NULL;
}

/* ---- the rows of a run ------------------------------------------------------------------------------------ */

static tt_status count_rows(uint64_t *out, struct tt_results *results)
{
	char sql[100];
	int64_t rows = 0;

	snprintf(sql, sizeof(sql), "select count(*) from claims where run_id = %" PRId64,
		 results->run);
	TT_TRY(tt_results_number(&rows, results->db, sql));
	*out = (uint64_t)rows;
	return TTNN_OK;
}

static tt_status copy_rows(struct tt_results *results)
{
	struct tt_claims_state *state = results->claims;
	uint64_t shards = state->options.shards ? state->options.shards : 1;
	struct tt_db_stmt *copy;
	tt_status status;

	TT_TRY(tt_db_copy(&copy, results->db, "claims",
			  "run_id, vector, position, shard, state, attempts"));
	status = TTNN_OK;
	for (size_t i = 0; status == TTNN_OK && i < state->plan->vectors.count; i++) {
		tt_db_bind_int(copy, 0, results->run);
		bind(copy, 1, state->plan->vectors.data[i].hash);
		tt_db_bind_int(copy, 2, (int64_t)i);
		tt_db_bind_int(copy, 3, (int64_t)(i % shards) + 1);
		bind(copy, 4, "waiting");
		tt_db_bind_int(copy, 5, 0);
		status = tt_db_run(copy);
	}
	if (status == TTNN_OK)
		return tt_db_copy_end(copy);
	tt_db_stmt_free(copy);
	return status;
}

/* Whoever comes first makes them; a run that was begun without has results already. */
static tt_status make_rows(struct tt_results *results)
{
	char sql[200];
	uint64_t rows;
	tt_status status;

	TT_TRY(count_rows(&rows, results));
	if (rows)
		return TTNN_OK;
	snprintf(sql, sizeof(sql),
		 "update claims set state = 'done' where run_id = %" PRId64
		 " and vector in (select vector from results where run_id = %" PRId64 ")",
		 results->run, results->run);
	TT_TRY(tt_db_begin(results->db));
	status = tt_db_exec(results->db, "{one_at_a_time}");
	if (status == TTNN_OK)
		status = count_rows(&rows, results);
	if (status == TTNN_OK && !rows)
		status = copy_rows(results);
	if (status == TTNN_OK && !rows)
		status = tt_db_exec(results->db, sql);
	if (status == TTNN_OK)
		status = tt_db_commit(results->db);
	if (status != TTNN_OK)
		tt_db_rollback(results->db);
	return status;
}

/* ---- statements --------------------------------------------------------------------------------------------- */

/* Parameters: run; shard (but for EXPIRED of all); how many; host, runner, lease, run. */
#define TAKE(where)                                                                                \
	"with picked as materialized (select vector from claims where run_id = ? and " where       \
	" limit ? {skip_locked}) update claims set state = 'claimed', host = ?, runner = ?,"       \
	" lease_until = {now} + ?, attempts = attempts + 1 where run_id = ? and vector in"         \
	" (select vector from picked) and state <> 'done' returning vector, attempts"

static const char *const take_sql[PLACES] = {
	[OWN] = TAKE("state = 'waiting' and shard = ? order by position"),
	/* What is no number is over: somebody else has put it there. */
	[EXPIRED] =
		TAKE("state = 'claimed' and (cast(lease_until as {int}) < {now} or lease_until is "
		     "null) and shard <> ? order by position"),
	[OTHERS] = TAKE("state = 'waiting' and shard <> ? order by position desc"),
};

static tt_status prepare(struct tt_results *results)
{
	struct tt_claims_state *state = results->claims;
	struct tt_db *db = results->db;

	for (int i = 0; i < PLACES; i++)
		TT_TRY(tt_db_prepare(&state->take[i], db, take_sql[i]));
	TT_TRY(tt_db_prepare(&state->renew, db,
			     "update claims set lease_until = {now} + ? where run_id = ? and "
			     "runner = ? and state = 'claimed'"));
	TT_TRY(tt_db_prepare(&state->drop, db,
			     "update claims set state = 'done', lease_until = null where "
			     "run_id = ? and vector = ?"));
	return tt_db_prepare(&state->left, db,
			     "select count(*) from claims where run_id = ? and "
			     "state in ('waiting', 'claimed') and (shard = ? or ? = 0)");
}

static tt_status number_vectors(struct tt_claims_state *state)
{
	for (size_t i = 0; i < state->plan->vectors.count; i++) {
		const char *hash = state->plan->vectors.data[i].hash;
		struct tt_map_entry *entry = tt_map_add(&state->numbers, hash, strlen(hash), NULL);

		if (!entry)
			return tt_fail_nomem();
		entry->number = i;
	}
	return TTNN_OK;
}

tt_status tt_claims_begin(struct tt_results *results, const struct tt_plan *plan,
			  const struct tt_claims_options *options)
{
	struct tt_claims_state *state = tt_calloc(1, sizeof(*state));

	if (!state)
		return tt_fail_nomem();
	results->claims = state;
	state->options = *options;
	state->plan = plan;
	TT_TRY(number_vectors(state));
	TT_TRY(make_rows(results));
	return prepare(results);
}

/* ---- claiming ------------------------------------------------------------------------------------------------ */

static tt_status take_row(tt_claims *out, struct tt_results *results, struct tt_db_stmt *row)
{
	struct tt_claims_state *state = results->claims;
	const char *vector = tt_db_text(row, 0);
	struct tt_map_entry *entry = vector ? tt_map_finds(&state->numbers, vector) : NULL;
	struct tt_claim *claim;

	state->held++;
	/* Nobody knows a vector that is not of the plan: somebody else has put it there. */
	if (!entry)
		return vector ? tt_claims_drop(results, vector) : TTNN_OK;
	claim = TT_VEC_PUSH(out);
	if (!claim)
		return tt_fail_nomem();
	*claim = (struct tt_claim){entry->number, tt_db_int(row, 1)};
	return TTNN_OK;
}

static tt_status take_from(tt_claims *out, struct tt_results *results, int place, int64_t shard)
{
	struct tt_claims_state *state = results->claims;
	struct tt_db_stmt *take = state->take[place];
	bool row = true;

	tt_db_bind_int(take, 0, results->run);
	tt_db_bind_int(take, 1, shard);
	tt_db_bind_int(take, 2, state->options.batch);
	bind(take, 3, results->host);
	bind(take, 4, results->runner);
	tt_db_bind_int(take, 5, (int64_t)state->options.lease_ms);
	tt_db_bind_int(take, 6, results->run);
	while (row) {
		TT_TRY(tt_db_next(&row, take));
		if (row) {
			tt_status status = take_row(out, results, take);

			if (status != TTNN_OK) {
				tt_db_reset(take);
				return status;
			}
		}
	}
	return TTNN_OK;
}

tt_status tt_claims_take(tt_claims *out, struct tt_results *results)
{
	struct tt_claims_state *state = results->claims;
	int64_t shard = (int64_t)state->options.shard;
	uint64_t held = state->held;

	if (!held)
		state->renewed_ns = tt_clock_ns();
	if (shard)
		TT_TRY(take_from(out, results, OWN, shard));
	/* 0 and -1 are no shards: of all. */
	if (state->held == held)
		TT_TRY(take_from(out, results, EXPIRED, 0));
	if (state->held == held && !state->options.own)
		TT_TRY(take_from(out, results, OTHERS, shard));
	return TTNN_OK;
}

tt_status tt_claims_renew(struct tt_results *results)
{
	struct tt_claims_state *state = results->claims;
	uint64_t now = tt_clock_ns();

	if (!state || now - state->renewed_ns < state->options.lease_ms * 1000000 / 3)
		return TTNN_OK;
	state->renewed_ns = now;
	tt_db_bind_int(state->renew, 0, (int64_t)state->options.lease_ms);
	tt_db_bind_int(state->renew, 1, results->run);
	bind(state->renew, 2, results->runner);
	return tt_db_run(state->renew);
}

tt_status tt_claims_drop(struct tt_results *results, const char *vector)
{
	struct tt_claims_state *state = results->claims;

	tt_db_bind_int(state->drop, 0, results->run);
	bind(state->drop, 1, vector);
	return tt_db_run(state->drop);
}

tt_status tt_claims_left(uint64_t *out, struct tt_results *results, bool own)
{
	struct tt_claims_state *state = results->claims;
	bool row = false;

	tt_db_bind_int(state->left, 0, results->run);
	tt_db_bind_int(state->left, 1, (int64_t)state->options.shard);
	tt_db_bind_int(state->left, 2, own);
	TT_TRY(tt_db_next(&row, state->left));
	*out = row ? (uint64_t)tt_db_int(state->left, 0) : 0;
	if (row)
		tt_db_reset(state->left);
	return TTNN_OK;
}

void tt_claims_release(struct tt_results *results)
{
	struct tt_db_stmt *release;

	if (!results->claims || tt_db_away(results->db))
		return;
	if (tt_db_prepare(&release, results->db,
			  "update claims set state = 'waiting', lease_until = null, attempts = "
			  "attempts - 1 where run_id = ? and runner = ? and state = 'claimed'") !=
	    TTNN_OK)
		return;
	tt_db_bind_int(release, 0, results->run);
	bind(release, 1, results->runner);
	(void)tt_db_run(release);
	tt_db_stmt_free(release);
}
