/*
 * results.h: what became of vectors: the database of runs, and the files of results_export/.
 *
 *	struct tt_results *results;
 *
 *	TT_TRY(tt_results_open(&results, &(struct tt_results_options){.directory = "results_export",
 *	                                                              .contents = "eltwise.add, nightly"}));
 *	for each vector that ended:
 *		TT_TRY(tt_results_add(results, &result));
 *	TT_TRY(tt_results_finish(&files, results, TT_SWEEP_RUN_PASSED));
 *
 * The one door: the native runner, the Python runner and the pytest plugin (include/ttnn_sweep.h) come here alike. Rows go
 * to the database first (docs/formats/vectors.md), some at a time; files are made of a run's rows when it is finished, so
 * that a run that was killed and taken up again has all of them. A row is unique by run and vector: who adds one again,
 * or adds one that another runner of the same run has added, changes nothing.
 *
 * One thread at a time uses a struct tt_results. Several processes may have one each, on the same database and on the
 * same run.
 */
#ifndef TT_SWEEP_RESULTS_H
#define TT_SWEEP_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The numbers are those of upstream's enumeration. */
enum tt_sweep_status {
	TT_SWEEP_PASS,
	TT_SWEEP_FAIL_ASSERT_EXCEPTION,
	TT_SWEEP_FAIL_CRASH_HANG,
	TT_SWEEP_NOT_RUN,
	TT_SWEEP_FAIL_L1_OUT_OF_MEM,
	TT_SWEEP_FAIL_WATCHER,
	TT_SWEEP_FAIL_UNSUPPORTED_DEVICE_PERF,
	TT_SWEEP_XFAIL,
	TT_SWEEP_XPASS,
	TT_SWEEP_STATUSES
};

/* Texts that statuses come with. */
#define TT_SWEEP_TIMED_OUT "TEST TIMED OUT (CRASH / HANG)"
#define TT_SWEEP_SKIPPED_AFTER "SKIPPED DUE TO PREVIOUS TIMEOUT"
#define TT_SWEEP_INVALID_PREFIX "INVALID VECTOR: " /* and the reason */

/* As files and rows have it: "pass", "fail_assert_exception", ..., "skipped" for NOT_RUN. */
const char *tt_sweep_status_text(enum tt_sweep_status status);
/* The status of such a text; false when it is none. */
bool tt_sweep_status_find(enum tt_sweep_status *out, const char *text);
/* That of a failure with this text: out of L1 memory, the watcher's, or an exception. */
enum tt_sweep_status tt_sweep_status_of(const char *exception);
/* What it counts as in this suite: those whose name begins with "xfail", in any case, are expected to fail. */
enum tt_sweep_status tt_sweep_status_in(enum tt_sweep_status status, const char *suite);

/* In what way a vector passed, for what is counted apart. Plain is the best; one that stood in and was moved is MOVED. */
enum tt_sweep_how {
	TT_SWEEP_PLAIN,
	TT_SWEEP_STAND_IN, /* something stands for an argument that the recording lost */
	TT_SWEEP_MOVED,    /* refused as it was placed: all in DRAM */
	TT_SWEEP_UNJUDGED, /* it ran, and there is nothing to compare it with */
	TT_SWEEP_HOWS
};
/* "plain", "stand-in", "moved", "unjudged". */
const char *tt_sweep_how_text(enum tt_sweep_how how);

struct tt_sweep_metric {
	const char *name; /* "e2e_perf_ms" */
	double value;
};

/* One vector that ended. Texts are borrowed during the call; UTF-8. */
struct tt_sweep_result {
	const char *module, *suite; /* "model_traced.add_model_traced", "model_traced" */
	const char *vector;         /* its input_hash: unique in a run */
	uint64_t position;          /* its number in the run: the order of records in files */
	enum tt_sweep_status status;
	const char *message; /* of run(), mostly a PCC as text; NULL: none */
	const char
		*exception; /* why it failed or was not run; NULL: none ("None" in error_message) */
	int64_t begin_ns, end_ns;              /* since 1970, UTC */
	const struct tt_sweep_metric *metrics; /* in any order */
	size_t metric_count;
	/*
	 * JSON of one object, which op_params_set is made of: the vector's parameters with validity, invalid_reason and
	 * status, as values (numbers, lists) instead of texts. Objects in it are flattened with dots. NULL: {}.
	 */
	const char *params;
	size_t params_length;
	const char *model; /* model_name: the source it was traced from; NULL: "n/a" */

	/* In the database alone. */
	const char *operation; /* "ttnn.add"; NULL: not known */
	enum tt_sweep_how how;
	double pcc, bound, error; /* NAN: not known */
	const char *notes;        /* what stood in, or why it was moved; NULL: nothing */
	bool cached;              /* not run again: this build passed it before */
	/* (optional) 64 digits: a pass is remembered under this key, for tt_results_passed(). */
	const char *key;
};

/* Everything but the directory may be NULL: then it is found out, or "Unknown" as upstream says it. */
struct tt_results_options {
	const char *directory; /* of files; "" or NULL: "results_export" */
	const char *
		database; /* a file, or a URL of PostgreSQL; NULL: results.sqlite in the directory */
	const char *contents; /* run_contents: "MODULE, SUITE"; NULL: "all_sweeps" */
	const char *
		run; /* the name of a run to go on with, or to join; NULL: a new one. "last": the newest unfinished */
	const char *
		join; /* the name of a run to join, or to begin if there is none; 1 to 31 characters; NULL: any */
	const char *initiated_by, *host, *card_type, *git_author, *git_branch, *git_sha, *pipeline;
	const char *build; /* tells one build from another (build.h); NULL: none */
	const char *
		plan; /* tells what is run, for who goes on: another one is refused. NULL: not checked */
	bool no_files;       /* rows alone */
	unsigned patience_s; /* how long a database that is away is waited for; 0: 600 */
};

struct tt_results;

/*
 * Opens the database, which is made if it is absent, and begins a run or goes on with one. TTNN_NOTFOUND: no run of that
 * name; TTNN_FORMAT: a database of another schema_version; TTNN_INVALID: the run has another plan.
 */
tt_status tt_results_open(struct tt_results **out, const struct tt_results_options *options);

/* The name of the run: 12 digits, which `--resume` and `ttnn sweep results` take. */
const char *tt_results_run(const struct tt_results *results);

/* Whether the run has a row of this vector already. */
tt_status tt_results_has(bool *out, struct tt_results *results, const char *vector);

/* How many rows the run has. */
tt_status tt_results_count(uint64_t *out, struct tt_results *results);

/* Adds a row; it may wait in memory for others, half a second at most (tt_results_tick()). */
tt_status tt_results_add(struct tt_results *results, const struct tt_sweep_result *result);

/*
 * Writes rows that wait, if they have waited long enough; all of them when `now`. While the server of a database is away
 * they go to a file (spool.h), and to the database when it is back; stderr tells of both. TTNN_IO when it was away for
 * longer than options say: the file stays, and who next opens the database for results in the same directory delivers
 * it.
 */
tt_status tt_results_tick(struct tt_results *results, bool now);

/*
 * Whether the run was cancelled (jobs.h) while it ran. Rows that waited were written; tt_results_tick() and
 * tt_results_add() have failed for it.
 */
bool tt_results_cancelled(const struct tt_results *results);

/* Whether the database is away now. */
bool tt_results_away(const struct tt_results *results);

/* What a failure of the database means: none, when it is away and is waited for. */
tt_status tt_results_bear(struct tt_results *results, tt_status status);

/* Waits until it is back and has all rows. TTNN_IO as above; TTNN_CANCELLED when who waits is stopped. */
tt_status tt_results_settle(struct tt_results *results);

/* In a child process: it has nothing to do with the database. */
void tt_results_forget(struct tt_results *results);

/* The time that this process has waited for the database so far. */
uint64_t tt_results_database_ns(const struct tt_results *results);

/* A pass that is remembered under a key. */
struct tt_sweep_passed {
	enum tt_sweep_how how;
	double pcc, bound, error, e2e_ms;
	char notes[512];
};
tt_status tt_results_passed(bool *found, struct tt_sweep_passed *out, struct tt_results *results,
			    const char *key);

/* How a run ended, as upstream says it: PASSED also with vectors that failed. */
enum tt_sweep_run_status {
	TT_SWEEP_RUN_PASSED,
	TT_SWEEP_RUN_FAIL,
	TT_SWEEP_RUN_EXCEPTION,
};

#define TT_RESULTS_PATH 4096

/* Where the files went. */
struct tt_results_files {
	char oprun[TT_RESULTS_PATH]; /* "" when none was written */
	size_t suites;               /* files of suites */
};

/*
 * Writes all rows, ends the run and makes its files from them: one for each suite, one for the run. Frees `results`
 * either way. `out` may be NULL.
 */
tt_status tt_results_finish(struct tt_results_files *out, struct tt_results *results,
			    enum tt_sweep_run_status status);

/* Writes rows that wait and leaves the run as it is, to be taken up again. Frees `results` either way; NULL is fine. */
tt_status tt_results_leave(struct tt_results *results);

#endif
