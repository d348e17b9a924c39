/* results_away.c: when rows are written, and what is done while the database is away. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/log.h"
#include "sweep/results_parts.h"
#include "sweep/results_spool.h"

#define ROWS_NS 500000000         /* rows wait so long in memory */
#define PAUSE_NS 100000000        /* before it is looked for again, twice as long each time ... */
#define PAUSE_MOST_NS 5000000000u /* ... up to this */

/* Whether somebody cancelled the run meanwhile. */
static tt_status look_for_end(struct tt_results *results)
{
	const char *text;
	bool row = false;

	tt_db_bind_int(results->state, 0, results->run);
	TT_TRY(tt_db_next(&row, results->state));
	text = row ? tt_db_text(results->state, 0) : NULL;
	results->cancelled |= text && strcmp(text, "cancelled") == 0;
	if (row)
		tt_db_reset(results->state);
	return results->cancelled ? tt_fail(TTNN_INVALID, "run %s was cancelled", results->name)
				  : TTNN_OK;
}

bool tt_results_cancelled(const struct tt_results *results)
{
	return results->cancelled;
}

bool tt_results_away(const struct tt_results *results)
{
	return results->away;
}

void tt_results_forget(struct tt_results *results)
{
	tt_db_forget(results->db);
	/* A file that is open in a child stays locked when its writer is gone. */
	if (results->spool)
		tt_spool_close(results->spool);
}

uint64_t tt_results_database_ns(const struct tt_results *results)
{
	return results->database_ns;
}

/* What waits goes to the file; whoever waits for too long is told. */
static tt_status spool_waiting(struct tt_results *results)
{
	uint64_t away_ns = tt_clock_ns() - results->away_ns;

	if (results->waiting.count) {
		TT_TRY(tt_spool_add(results->spool, results, results->waiting.data,
				    results->waiting.count));
		results->waiting.count = 0;
		tt_arena_reset(&results->arena);
	}
	if (away_ns < results->patience_ns)
		return TTNN_OK;
	if (!results->spool->rows)
		return tt_fail(TTNN_IO, "%s: it is away for %llu s", results->path,
			       (unsigned long long)(away_ns / 1000000000));
	return tt_fail(TTNN_IO,
		       "%s: it is away for %llu s; %llu results wait in %s, which the next run "
		       "with the same folder of results delivers",
		       results->path, (unsigned long long)(away_ns / 1000000000),
		       (unsigned long long)results->spool->rows, results->spool->path);
}

static void go_away(struct tt_results *results)
{
	if (results->away)
		return;
	tt_log(TT_LOG_WARN, "the database is away, results wait in %s/spool: %s",
	       results->directory, ttnn_error());
	results->away = true;
	results->away_ns = tt_clock_ns();
	results->pause_ns = PAUSE_NS;
	results->retry_ns = results->away_ns + PAUSE_NS;
}

/* Looks for it, if it is time to. */
static void come_back(struct tt_results *results)
{
	uint64_t now = tt_clock_ns(), rows = 0;

	if (now < results->retry_ns)
		return;
	if (tt_db_reconnect(results->db) == TTNN_OK &&
	    tt_spool_deliver(&rows, results->spool, results) == TTNN_OK) {
		tt_log(TT_LOG_WARN, "the database is back after %.1f s, %llu results are delivered",
		       1e-9 * (double)(tt_clock_ns() - results->away_ns), (unsigned long long)rows);
		results->away = false;
		return;
	}
	results->pause_ns =
		results->pause_ns * 2 < PAUSE_MOST_NS ? results->pause_ns * 2 : PAUSE_MOST_NS;
	results->retry_ns = tt_clock_ns() + results->pause_ns;
}

/* A failure of a database that is away is none: it is waited for. */
tt_status tt_results_bear(struct tt_results *results, tt_status status)
{
	if (status == TTNN_OK || !results->spool || !tt_db_away(results->db))
		return status;
	go_away(results);
	return spool_waiting(results);
}

tt_status tt_results_tick(struct tt_results *results, bool now)
{
	uint64_t begin = tt_clock_ns();
	tt_status status;

	if (results->away) {
		come_back(results);
		if (results->away)
			return spool_waiting(results);
	}
	if (!results->waiting.count || (!now && begin - results->waiting_ns < (uint64_t)ROWS_NS))
		return TTNN_OK;
	status = tt_results_write_waiting(results);
	if (status == TTNN_OK)
		status = look_for_end(results);
	results->database_ns += tt_clock_ns() - begin;
	return tt_results_bear(results, status);
}

tt_status tt_results_settle(struct tt_results *results)
{
	TT_TRY(tt_results_tick(results, true));
	while (results->away) {
		if (tt_deadline_stop())
			return tt_fail(TTNN_CANCELLED, "stopped while the database is away");
		usleep(20000);
		TT_TRY(tt_results_tick(results, true));
	}
	return TTNN_OK;
}
