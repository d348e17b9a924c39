#include "cli/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* What does not end after a signal gets the next one of `louder` so long after it. */
#define PATIENCE_NS ((uint64_t)5000000000)

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDS (sizeof(ends) / sizeof(ends[0]))
static const int louder[] = {SIGTERM, SIGKILL};
#define LOUDER ((int)(sizeof(louder) / sizeof(louder[0])))

static volatile sig_atomic_t came, how_often;
static struct sigaction pipe_before = {.sa_handler = SIG_DFL};

static void note(int number)
{
	if (number == SIGCHLD)
		return;
	came = number;
	how_often++;
}

void cli_workload_survive(void)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN};

	sigaction(SIGPIPE, &ignored, &pipe_before);
}

/* Signals come only while the caller waits: none is missed between looking and waiting. */
static void watch(struct cli_workload *workload)
{
	struct sigaction action = {.sa_handler = note}, before;
	sigset_t blocked;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	for (size_t i = 0; i < ENDS; i++) {
		/* One that is ignored was meant to be: nohup. */
		if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue;
		sigaction(ends[i], &action, NULL);
		sigaddset(&blocked, ends[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &workload->before);
	workload->mask = workload->before;
	sigdelset(&workload->mask, SIGCHLD);
	for (size_t i = 0; i < ENDS; i++)
		sigdelset(&workload->mask, ends[i]);
}

void cli_workload_stop(struct cli_workload *workload)
{
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < ENDS; i++) {
		struct sigaction now;

		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == note)
			signal(ends[i], SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &workload->before, NULL);
}

static void become(const struct cli_workload *workload, const char *command,
		   const struct cli_variable *variables)
{
	setsid();
	for (; variables->name; variables++)
		if (setenv(variables->name, variables->value, 1) != 0)
			_exit(126);
	sigprocmask(SIG_SETMASK, &workload->before, NULL);
	sigaction(SIGPIPE, &pipe_before, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

tt_status cli_workload_start(struct cli_workload *workload, const char *command,
			     const struct cli_variable *variables)
{
	*workload = (struct cli_workload){0};
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	watch(workload);
	workload->pid = fork();
	if (workload->pid == 0)
		become(workload, command, variables);
	if (workload->pid > 0)
		return TTNN_OK;
	cli_workload_stop(workload);
	return tt_fail(TTNN_IO, "fork: %s", strerror(errno));
}

static void reap(struct cli_workload *workload)
{
	int state;
	pid_t child;

	while ((child = waitpid(-1, &state, WNOHANG)) > 0) {
		if (child != workload->pid)
			continue;
		workload->ended = true;
		workload->code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
	}
	workload->others = child == 0;
}

static void tell(struct cli_workload *workload, int number)
{
	/* In the moment before the child has made its session there is no such group. */
	if (kill(-workload->pid, number) != 0 && !workload->ended)
		kill(workload->pid, number);
	workload->next = tt_clock_ns() + PATIENCE_NS;
}

void cli_workload_step(struct cli_workload *workload)
{
	reap(workload);
	if (!workload->signal && came) {
		workload->signal = came;
		tell(workload, came);
	}
	if (!workload->signal || workload->told == LOUDER)
		return;
	/* What the command has started in the background ends with it. */
	if (workload->ended) {
		tell(workload, SIGTERM);
		workload->told = LOUDER;
	} else if (how_often > 1) { /* Whoever asks twice means it. */
		tell(workload, SIGKILL);
		workload->told = LOUDER;
	} else if (tt_clock_ns() >= workload->next) {
		tell(workload, louder[workload->told++]);
	}
}

bool cli_workload_stopped(const struct cli_workload *workload)
{
	return workload->signal != 0;
}
