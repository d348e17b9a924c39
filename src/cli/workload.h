/*
 * workload.h: a command of the shell that runs beside its caller, in a session of its own, so that what is started for it
 * can be ended with it. What the caller is told (Ctrl-C, SIGTERM, a closed terminal) is passed on; who does not obey is
 * ended. Processes that outlive the command become children of the caller: none is left as a zombie.
 *
 *	TT_TRY(cli_workload_start(&workload, command, variables));
 *	while (!workload.ended) {
 *		... ppoll(..., &workload.mask) or sigsuspend(&workload.mask) ...
 *		cli_workload_step(&workload);
 *	}
 *	cli_workload_stop(&workload);
 */
#ifndef TT_CLI_WORKLOAD_H
#define TT_CLI_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

struct cli_workload {
	pid_t pid;     /* the shell, which leads its session */
	bool ended;    /* the command has */
	bool others;   /* processes that it started are left */
	int code;      /* its exit code, or 128 and the signal it died of */
	int signal;    /* the first that was passed on, or 0 */
	uint64_t next; /* when what does not end is told more clearly */
	int told;      /* how often it was */
	sigset_t mask; /* signals to wait with: those that matter come only then */
	sigset_t before;
};

struct cli_variable {
	const char *name, *value;
};

/* Once, before the first one: whoever reads our messages may stop doing so; the command does not hear of it. */
void cli_workload_survive(void);

/* Starts it with these variables in its environment, up to a name NULL. From now on the signals are ours. */
tt_status cli_workload_start(struct cli_workload *workload, const char *command,
			     const struct cli_variable *variables);

/* Sees whether it has ended, and passes on signals. */
void cli_workload_step(struct cli_workload *workload);

/* Whether the user wants an end. */
bool cli_workload_stopped(const struct cli_workload *workload);

/* The signals are as they were before; another Ctrl-C ends this program. */
void cli_workload_stop(struct cli_workload *workload);

#endif
