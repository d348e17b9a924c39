#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/left.h"

/* A program that was not found tells through the pipe, which closes itself when it was. `output`: -1, or where it prints. */
static void become(char **command, int tell, int output)
{
	int reason;

	if (output >= 0)
		dup2(output, STDOUT_FILENO);
	execvp(command[0], command);
	reason = errno;
	if (write(tell, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

static void read_all(struct tt_str *out, int fd)
{
	char buffer[4096];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			tt_str_add(out, buffer, (size_t)got);
}

static tt_status wait_for(int *code, pid_t child, int reason, const char *program)
{
	int state = 0;

	/* What the terminal says is meant for the program. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, &state, 0) < 0 && errno == EINTR)
		continue;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (reason)
		return tt_fail(TTNN_NOTFOUND, "%s: %s", program, strerror(reason));
	*code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
	return TTNN_OK;
}

/* `out` is NULL where the program prints to where this one does. */
static tt_status start(int *code, struct tt_str *out, char **command)
{
	int ends[2], output[2] = {-1, -1}, reason = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return tt_fail(TTNN_IO, "pipe: %s", strerror(errno));
	if (out && pipe2(output, O_CLOEXEC) != 0) {
		close(ends[0]);
		close(ends[1]);
		return tt_fail(TTNN_IO, "pipe: %s", strerror(errno));
	}
	child = fork();
	if (child == 0)
		become(command, ends[1], output[1]);
	close(ends[1]);
	if (out)
		close(output[1]);
	if (child >= 0 && read(ends[0], &reason, sizeof(reason)) != (ssize_t)sizeof(reason))
		reason = 0;
	close(ends[0]);
	if (out) {
		if (child >= 0)
			read_all(out, output[0]);
		close(output[0]);
	}
	if (child < 0)
		return tt_fail(TTNN_IO, "fork: %s", strerror(errno));
	return wait_for(code, child, reason, command[0]);
}

tt_status cli_child(int *code, char **command)
{
	return start(code, NULL, command);
}

tt_status cli_child_output(int *code, struct tt_str *out, char **command)
{
	TT_TRY(start(code, out, command));
	return tt_str_status(out);
}

bool cli_child_there(const char *program)
{
	const char *path = getenv("PATH");
	struct tt_str name = {0};
	bool there = false;

	while (path && !there) {
		size_t length = strcspn(path, ":");

		tt_str_clear(&name);
		tt_str_add(&name, path, length);
		tt_str_addf(&name, "%s%s", length ? "/" : "./", program);
		there = access(tt_str_text(&name), X_OK) == 0;
		path = path[length] ? path + length + 1 : NULL;
	}
	tt_str_deinit(&name);
	return there;
}

void cli_child_complete(const char *directory, int64_t since)
{
	for (int i = 0; tt_traces_complete(directory, since) && i < 25; i++)
		usleep(20000);
}
