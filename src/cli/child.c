#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/left.h"

/* A program that was not found tells through the pipe, which closes itself when it was. */
static void become(char **command, int tell)
{
	int reason;

	execvp(command[0], command);
	reason = errno;
	if (write(tell, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

tt_status cli_child(int *code, char **command)
{
	int ends[2], reason = 0, state = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return tt_fail(TTNN_IO, "pipe: %s", strerror(errno));
	child = fork();
	if (child == 0)
		become(command, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return tt_fail(TTNN_IO, "fork: %s", strerror(errno));
	}
	if (read(ends[0], &reason, sizeof(reason)) != (ssize_t)sizeof(reason))
		reason = 0;
	close(ends[0]);
	/* What the terminal says is meant for the program. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, &state, 0) < 0 && errno == EINTR)
		continue;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (reason)
		return tt_fail(TTNN_NOTFOUND, "%s: %s", command[0], strerror(reason));
	*code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
	return TTNN_OK;
}

void cli_child_complete(const char *directory, int64_t since)
{
	for (int i = 0; tt_traces_complete(directory, since) && i < 25; i++)
		usleep(20000);
}
