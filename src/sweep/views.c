/*
 * views.c: what dashboards ask the database of results for (docs/formats/vectors.md lists the columns). The text is that of
 * SQLite and of PostgreSQL alike.
 */
#include "sweep/views.h"

#include <stdio.h>

#include "sweep/results_parts.h"

/* To change a view: its text here, and TT_VIEWS_VERSION. */

#define FAILED "v.status not in ('pass', 'skipped', 'xfail')"
#define COUNT(what) "sum(case when " what " then 1 else 0 end)"

static const char drop[] = "drop view if exists sweep_operations;"
			   "drop view if exists sweep_failures;"
			   "drop view if exists sweep_runs;"
			   "drop view if exists sweep_vectors;";

/* clang-format off */
static const char *const views[] = {
	/* One row for each vector of each run; labels sort as they mean. */
	"create view sweep_vectors as select r.name as run, r.run_start_ts as started, v.vector as vector,"
	" coalesce(v.operation, v.module) as operation, coalesce(v.model, 'n/a') as model, v.suite as suite,"
	" v.status as status, v.how as how, case when v.status = 'pass' then 1 else 0 end as passed,"
	" case when " FAILED " then 1 else 0 end as failed, v.cached as cached, v.pcc as pcc, v.bound as bound,"
	" case when v.pcc is null then 'not compared' when v.pcc >= 1 then '1'"
	" when v.pcc >= 0.9999 then '0.9999 to 1' when v.pcc >= 0.999 then '0.9990 to 0.9999'"
	" when v.pcc >= 0.99 then '0.9900 to 0.9990' when v.pcc >= 0.9 then '0.9000 to 0.9900'"
	" else '0.0000 to 0.9000' end as pcc_range, v.e2e_ms as e2e_ms,"
	" case when v.e2e_ms is null then '7: not measured' when v.e2e_ms < 0.1 then '1: under 0.1 ms'"
	" when v.e2e_ms < 1 then '2: under 1 ms' when v.e2e_ms < 10 then '3: under 10 ms'"
	" when v.e2e_ms < 100 then '4: under 100 ms' when v.e2e_ms < 1000 then '5: under 1 s'"
	" else '6: 1 s and more' end as duration_range, v.message as message, v.exception as exception,"
	" v.start_ts as start_ts, v.end_ts as end_ts"
	" from results v join runs r on r.id = v.run_id",

	/* Who was not run neither passed nor failed: the rate is of the others. */
	"create view sweep_runs as select r.name as run, r.run_start_ts as started, r.run_end_ts as ended,"
	" r.status as run_status, r.run_contents as contents, r.host as host, r.git_sha as git_sha,"
	" r.build as build, count(*) as vectors, " COUNT("v.status = 'pass'") " as passed,"
	" " COUNT(FAILED) " as failed, " COUNT("v.status = 'skipped'") " as not_run,"
	" cast(100.0 * " COUNT("v.status = 'pass'") " / nullif(" COUNT("v.status <> 'skipped'") ", 0)"
	" as double precision) as pass_rate"
	" from runs r join results v on v.run_id = r.id group by r.name, r.run_start_ts, r.run_end_ts,"
	" r.status, r.run_contents, r.host, r.git_sha, r.build",

	"create view sweep_failures as select * from sweep_vectors where failed = 1",

	"create view sweep_operations as select run, started, operation, count(*) as vectors,"
	" sum(passed) as passed, sum(failed) as failed, min(pcc) as least_pcc, avg(e2e_ms) as mean_ms,"
	" max(e2e_ms) as most_ms from sweep_vectors group by run, started, operation",
};
/* clang-format on */

tt_status tt_results_make_views(struct tt_db *db)
{
	int64_t version = 0;
	char set[80];

	TT_TRY(tt_db_exec(db,
			  "create table if not exists views_version (version integer not null)"));
	TT_TRY(tt_results_number(&version, db,
				 "select coalesce(max(version), 0) from views_version"));
	/* A later release has made others: they are as good. */
	if (version >= TT_VIEWS_VERSION)
		return TTNN_OK;
	TT_TRY(tt_db_exec(db, drop));
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		TT_TRY(tt_db_exec(db, views[i]));
	snprintf(set, sizeof(set), "insert into views_version values (%d)", TT_VIEWS_VERSION);
	return tt_db_exec(db, set);
}
