/*
 * jobs.h: runs on many machines, as rows beside their results: what is to be run, in how many parts, by which scheduler's job;
 * and how far it is. Called by `ttnn sweep submit`, `status` and `cancel`, and by `run` for the plan of a run that it joins.
 *
 * The master file itself is in the database, under its digest, so that a task needs the database's address alone.
 */
#ifndef TT_SWEEP_JOBS_H
#define TT_SWEEP_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/str.h"
#include "base/vec.h"
#include "sweep/results.h"

#define TT_JOB_TEXT 128

/* A row. `request` is JSON of the options that a plan is made with; free it with tt_free(). */
struct tt_job {
	char run[32], status[32]; /* the run's: "running", "cancelled", ... */
	char engine[TT_JOB_TEXT],
		job[TT_JOB_TEXT]; /* "slurm"; its number or name, "" before it has one */
	uint64_t shards, vectors;
	char *request;
};

/* What a plan is made with: the values of options. Texts are borrowed. */
struct tt_job_request {
	const char *const *ops;
	size_t op_count;
	const char *suite, *vector, *mutate;
	int64_t seed, every;
	bool all_cases;
};

/* The tables, for results_tables.c. */
extern const char tt_jobs_schema[];

/* Adds the job of the run and the master file that it is of. `job->request` is made here, and need not be set. */
tt_status tt_job_save(struct tt_results *results, const struct tt_job *job,
		      const struct tt_job_request *request, const char *master);

/* Notes the name that the scheduler gave. */
tt_status tt_job_started(const char *database, const char *run, const char *job);

/* The job of a run. TTNN_NOTFOUND when there is no such run, or it was not submitted. */
tt_status tt_job_find(struct tt_job *out, const char *database, const char *run);
void tt_job_deinit(struct tt_job *job);

/* Writes the master file of a job to a path. */
tt_status tt_job_master(const struct tt_job *job, const char *database, const char *path);

/* Marks a run as cancelled: its runners stop when they next write rows. TTNN_INVALID when it has ended. */
tt_status tt_job_cancel(const char *database, const char *run);

/* A part of a run. */
struct tt_job_progress_shard {
	uint64_t vectors, rows, failed;
};

/* How far a run is. */
struct tt_job_progress {
	char run[32], status[32], engine[TT_JOB_TEXT], job[TT_JOB_TEXT];
	char start[40], last[40]; /* of the run; when the last row ended, "" for none */
	bool submitted;           /* otherwise vectors and shards are not known */
	uint64_t vectors, rows, passed, failed, skipped;
	double rate, left; /* rows a second of late; seconds, NAN: not known */
	TT_VEC(struct tt_job_progress_shard) shards;
	struct tt_str failures; /* a line each: operation and reason of the latest, some */
};

/* Reads it; NULL or "last" is the newest run. To be freed when TTNN_OK. */
tt_status tt_job_progress_read(struct tt_job_progress *out, const char *database, const char *run);
void tt_job_progress_deinit(struct tt_job_progress *progress);

/* Whether the run has ended: each vector has a row, or nobody goes on with it. */
bool tt_job_progress_ended(const struct tt_job_progress *progress);

/* Appends it as text, or as JSON. */
void tt_job_progress_text(struct tt_str *out, const struct tt_job_progress *progress);
tt_status tt_job_progress_json(struct tt_str *out, const struct tt_job_progress *progress);

#endif
