/*
 * children.h: tasks in child processes, so that one that crashes, hangs or takes all memory is a result, not the end.
 *
 * Children are reused until one dies; the caller must have no threads and no open devices when it begins (children are
 * forked from it, also later, in place of dead ones). A task is a number; what a child answers are bytes. Called by
 * the runner of sweeps.
 */
#ifndef TT_SWEEP_CHILDREN_H
#define TT_SWEEP_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

#define TT_WORKER_ANSWER 8192 /* bytes of an answer at most */

#define TT_WORKER_SPENT SIZE_MAX
#define TT_WORKER_SPENT_CODE 93

/* Whether memory can be limited: a sanitizer reserves more than any limit leaves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TT_WORKERS_LIMITED false
#else
#define TT_WORKERS_LIMITED true
#endif

enum tt_worker_end {
	TT_WORKER_ANSWERED,
	TT_WORKER_CRASHED, /* the child died; `signal` or `code` says of what */
	TT_WORKER_HUNG,    /* it took longer than allowed and was killed */
};

struct tt_worker_done {
	uint64_t task;
	enum tt_worker_end end;
	int signal, code;
	const void *answer; /* of ANSWERED, valid during the call */
	size_t size;
	uint64_t ns; /* from asking to the answer */
	pid_t pid;
};

struct tt_workers {
	unsigned jobs; /* children at a time; at least 1 */
	uint64_t
		timeout_ns; /* of one task; 0: none. More where a child works and others have the processor */
	uint64_t
		memory; /* bytes of address space a child may take, where that can be; 0: any number */
	void *context; /* of all that follow */

	/* In the parent: the next task into *task; false when there are no more. */
	bool (*next)(void *context, uint64_t *task);
	/* (optional) In the parent: the time that this task may take instead of timeout_ns. */
	uint64_t (*timeout_of)(void *context, uint64_t task);
	/* In a child, once, before its first task. A failure ends the run. */
	tt_status (*begin)(void *context);
	/*
	 * In a child: does a task and returns the size of its answer, at most TT_WORKER_ANSWER bytes; or TT_WORKER_SPENT
	 * when the child is of no more use (its memory is exhausted): it ends with exit code TT_WORKER_SPENT_CODE then,
	 * and another one goes on.
	 */
	size_t (*work)(void *context, uint64_t task, void *answer);
	/* In the parent: a task has ended. Anything but TTNN_OK ends the run, and is its status. */
	tt_status (*done)(void *context, const struct tt_worker_done *done);
	/* (optional) In the parent, from time to time: whether to stop early. */
	bool (*stop)(void *context);
};

/* Runs all tasks. TTNN_CANCELLED when stop() said so: tasks that were under way are not reported then. */
tt_status tt_workers_run(struct tt_workers *workers);

#endif
