/*
 * ttnn_sweep.h: sweeps for frontends: vector files, vectors in child processes, their results, traced calls again.
 *
 * A sweep module is code of a frontend (docs/sweep-modules.md). What it has in common with `ttnn sweep` is here: files
 * and their hashes (docs/formats/vectors.md), statuses, results. Vectors and results come as JSON, which every
 * language has.
 *
 *	ttnn_sweep_save(&text, "vectors_export/a.b.json", suite, length);
 *	ttnn_sweep_work(&work);                                          each vector in a child process
 *	ttnn_sweep_open(&run, options, length);
 *	ttnn_sweep_add(run, result, length);
 *	ttnn_sweep_finish(&files, run, "passed");
 *
 * The conventions are those of <ttnn.h>, but for threads: one at a time uses a ttnn_sweep or a ttnn_replayer.
 */
#ifndef TTNN_SWEEP_H
#define TTNN_SWEEP_H

#include <ttnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vector files ---------------------------------------------------------------------------------------------- */

/*
 * Puts a suite into a vector file: {"module", "suite", "tag", "timestamp" (optional), "vectors": [{"params": {...},
 * "reason": null, or why it is invalid}]}. The result, {"count", "written", "moved"}, is freed with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_sweep_save(char **out, const char *path, const char *json,
					  size_t length);

/* The vectors of such a suite as ttnn_sweep_load() gives them, with their hashes, without a file. */
TTNN_API enum ttnn_status ttnn_sweep_vectors(char **out, const char *json, size_t length);

/*
 * The vectors of a file in its order: [{"suite", "hash", "module", "invalid", "reason", "params": {...}}]. To be freed with
 * ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_sweep_load(char **out, const char *path);

/* ---- vectors in child processes -------------------------------------------------------------------------------- */

#define TTNN_SWEEP_ANSWER 8192 /* bytes of an answer at most */

enum ttnn_sweep_end {
	TTNN_SWEEP_ANSWERED,
	TTNN_SWEEP_CRASHED, /* the child died */
	TTNN_SWEEP_HUNG,    /* it took too long, and was killed */
};

struct ttnn_sweep_done {
	uint64_t task;
	enum ttnn_sweep_end end;
	int signal, code;   /* of a child that died */
	const char *answer; /* during the call */
	size_t size;
};

/* Who does tasks 0 to count - 1. Children are forked from the caller, which must have no other threads. */
struct ttnn_sweep_work {
	uint64_t count;
	unsigned jobs;       /* children at a time; 0: one */
	uint64_t timeout_ns; /* of one task; 0: none */
	uint64_t memory;     /* bytes of address space of a child; 0: any number */
	void *context;
	/* In a child, once. Other than TTNN_OK ends the run. */
	enum ttnn_status (*begin)(void *context);
	/* In a child: writes the answer to a task, and returns its size. */
	size_t (*work)(void *context, uint64_t task, char answer[TTNN_SWEEP_ANSWER]);
	/* In the caller: a task has ended. Other than TTNN_OK ends the run. */
	enum ttnn_status (*done)(void *context, const struct ttnn_sweep_done *done);
	/* (optional) In the caller, from time to time: whether to stop. */
	bool (*stop)(void *context);
};

/* Does all tasks; a child that dies or hangs is replaced. TTNN_CANCELLED: stop() said so. */
TTNN_API enum ttnn_status ttnn_sweep_work(const struct ttnn_sweep_work *work);

/* ---- results ----------------------------------------------------------------------------------------------------- */

/*
 * The status of a vector of this suite: "pass", "xfail" and so on. `exception` says why it failed, or why it was not run
 * (NULL: it passed); `hung`: it came to no end.
 */
TTNN_API const char *ttnn_sweep_status(const char *exception, bool hung, const char *suite);

/* A run whose results are written. */
typedef struct tt_results ttnn_sweep;

/*
 * Begins a run: {"directory", "database", "contents", "card_type", "run"}, all optional; "run" names one to go on with. Rows
 * go to the database, a file or a URL of PostgreSQL ("postgresql://USER@HOST/NAME", without a password); by default to
 * results.sqlite in the directory.
 */
TTNN_API enum ttnn_status ttnn_sweep_open(ttnn_sweep **out, const char *json, size_t length);

/* The run's name; borrowed. */
TTNN_API const char *ttnn_sweep_name(const ttnn_sweep *sweep);

/* Whether the run has a result of this vector already. */
TTNN_API enum ttnn_status ttnn_sweep_has(bool *out, ttnn_sweep *sweep, const char *vector);

/*
 * Adds what became of a vector: {"module", "suite", "vector", "position", "status", "message", "exception", "begin_ns",
 * "end_ns", "metrics": {NAME: NUMBER}, "params": {...}, "model", "operation", "how", "pcc", "bound", "error", "notes"}.
 * What is absent or null is not known. A vector counts once in a run.
 */
TTNN_API enum ttnn_status ttnn_sweep_add(ttnn_sweep *sweep, const char *json, size_t length);

/*
 * Ends the run, "passed", "fail" or "exception", and writes its files; the path of the run's is freed with ttnn_free().
 * Frees the run either way.
 */
TTNN_API enum ttnn_status ttnn_sweep_finish(char **path, ttnn_sweep *sweep, const char *status);

/* Leaves the run to be gone on with. Frees it; NULL is fine. */
TTNN_API enum ttnn_status ttnn_sweep_leave(ttnn_sweep *sweep);

/*
 * What became of a run, as TT-NN's guide prints it: of a file of results, and (optional) of the file of its run; with neither
 * (NULL) of the newest run in the directory. The text is freed with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_sweep_analysis(char **out, const char *directory,
					      const char *records, const char *run);

/* ---- traced calls again -------------------------------------------------------------------------------------------- */

/* A master file whose calls run again, on random tensors. */
typedef struct tt_replayer ttnn_replayer;

struct ttnn_replay_result {
	bool passed;
	bool judged;       /* false: there is nothing to compare with */
	bool stood_in;     /* something stands for an argument that was lost */
	bool moved;        /* refused as it was placed: all went to DRAM */
	double pcc, bound; /* the least correlation, and what is demanded */
	double error;      /* the largest difference */
	uint64_t ns;
	char operation[128]; /* "ttnn.add" */
	char source[256];    /* the test it was traced from */
	char why[512];       /* of a failure */
	char notes[512];     /* what stands for lost arguments, why it was moved */
};

TTNN_API enum ttnn_status ttnn_replayer_open(ttnn_replayer **out, const char *master);
/* NULL is fine. */
TTNN_API void ttnn_replayer_free(ttnn_replayer *replayer);

/*
 * Runs configuration `number` of an operation, whose name is in any spelling, on this device (NULL, and calls between
 * chips: one of its own). A call that fails is a result; TTNN_NOTFOUND: there is no such configuration.
 */
TTNN_API enum ttnn_status ttnn_replayer_run(struct ttnn_replay_result *out, ttnn_replayer *replayer,
					    const char *name, size_t number, ttnn_device *device);

#ifdef __cplusplus
}
#endif

#endif
