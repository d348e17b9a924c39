/*
 * submit.h: a run on many machines, as their scheduler wants to be told: an array job of Slurm, or an Indexed Job of
 * Kubernetes. Called by `ttnn sweep submit`, which wrote the run's request to the database before (jobs.h): the tasks
 * know the run's name and the database's address, and nothing else.
 *
 * A task whose vectors all have rows has done its work, whatever became of them; one that dies, or cannot go on, is
 * started again by the scheduler and goes on with the vectors that have no rows.
 *
 * Values of options come into scripts and manifests quoted; those that cannot be there are refused. No password is
 * written: one in an address is refused.
 */
#ifndef TT_SWEEP_SUBMIT_H
#define TT_SWEEP_SUBMIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/* What is submitted. Texts are borrowed; those marked (optional) may be NULL, numbers 0: the scheduler decides. */
struct tt_submit {
	const char *run;     /* its name */
	const char *db;      /* address, or path, of the database as tasks see it */
	const char *program; /* ttnn, as tasks find it */
	uint64_t shards;
	uint64_t retries;             /* how often a task is started again */
	const char *const *arguments; /* more options of `ttnn sweep run` */
	size_t argument_count;
	const char *time;      /* (optional) of a task: Slurm's form ("30", "2:00:00", "1-0") */
	uint64_t cpus, memory; /* (optional) of a task; bytes */
	const char *const *
		extra; /* more options of sbatch; for Kubernetes "KEY=VALUE" of the node selector */
	size_t extra_count;

	/* Slurm. */
	const char *partition, *account; /* (optional) */
	const char *logs; /* (optional) folder of the tasks' output; NULL: where it is submitted */

	/* Kubernetes. */
	const char *image;
	const char *name_space,
		*secret; /* (optional) secret: its key "password" is PGPASSWORD of tasks */
};

/* Appends the script for sbatch. TTNN_INVALID: a value that cannot be written. */
tt_status tt_submit_slurm(struct tt_str *out, const struct tt_submit *submit);

/* Appends the manifest of the Job, as YAML. TTNN_INVALID: a value that cannot be written. */
tt_status tt_submit_k8s(struct tt_str *out, const struct tt_submit *submit);

/* The Job's name in Kubernetes and in Slurm: "ttnn-sweep-RUN". */
#define TT_SUBMIT_NAME 64
void tt_submit_name(char out[TT_SUBMIT_NAME], const char *run);

/* Seconds of Slurm's forms of a time: minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S. TTNN_INVALID else. */
tt_status tt_submit_seconds(uint64_t *out, const char *time);

#endif
