#include "report/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "report/report.h"

#define PATIENCE_MS 30000

/* ---- URLs ----------------------------------------------------------------------------------- */

static bool is_cleaned(const char *scheme, size_t length)
{
	static const char *const schemes[] = {"http", "https", "ssh", "git"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strlen(schemes[i]) == length && strncasecmp(scheme, schemes[i], length) == 0)
			return true;
	return false;
}

static size_t count(const char *text, size_t length, char c)
{
	size_t found = 0;

	for (size_t i = 0; i < length; i++)
		found += text[i] == c;
	return found;
}

/* "user@[host]:port" becomes "[host]:port"; the host in lower case where the port is a number. */
static void add_host(struct tt_str *out, const char *text, size_t length)
{
	const char *at = memrchr(text, '@', length), *end = text + length, *port;
	bool numeric = true;

	text = at ? at + 1 : text;
	port = text < end && *text == '[' ? memchr(text, ']', (size_t)(end - text)) : text;
	port = port ? memchr(port, ':', (size_t)(end - port)) : NULL;
	for (const char *c = port ? port + 1 : end; c < end; c++)
		numeric &= *c >= '0' && *c <= '9';
	if (port && port + 1 == end) /* no number behind the colon: none is meant */
		end = port;
	for (; text < end; text++)
		tt_str_addc(out,
			    numeric && *text >= 'A' && *text <= 'Z' ? (char)(*text | 0x20) : *text);
}

/* Other forms as they are, but for what lies before an "@" in their first part, which begins at `start`. */
static void add_without_user(struct tt_str *out, const char *url, size_t length, size_t start)
{
	size_t end = start;
	const char *at;

	while (end < length && !strchr("/?#", url[end]))
		end++;
	at = memrchr(url + start, '@', end - start);
	tt_str_add(out, url, start);
	start = at ? (size_t)(at + 1 - url) : start;
	tt_str_add(out, url + start, length - start);
}

tt_status tt_report_clean_url(struct tt_str *out, const char *url)
{
	size_t length = strlen(url), host;
	const char *scheme, *at;

	while (length && strchr(" \t\n\r\f\v", *url)) {
		url++;
		length--;
	}
	while (length && strchr(" \t\n\r\f\v", url[length - 1]))
		length--;
	scheme = memmem(url, length, "://", 3);
	at = memchr(url, '@', length);
	if (!scheme && at && count(url, length, '@') == 1 &&
	    memchr(at, ':', (size_t)(url + length - at))) {
		tt_str_add(out, at + 1, (size_t)(url + length - at - 1));
		return tt_str_status(out);
	}
	if (!scheme || !is_cleaned(url, (size_t)(scheme - url))) {
		add_without_user(out, url, length, scheme ? (size_t)(scheme + 3 - url) : 0);
		return tt_str_status(out);
	}
	for (const char *c = url; c < scheme; c++)
		tt_str_addc(out, (char)(*c | 0x20));
	tt_str_adds(out, "://");
	length -= (size_t)(scheme + 3 - url);
	url = scheme + 3;
	for (host = 0; host < length && !strchr("/?#", url[host]);)
		host++;
	add_host(out, url, host);
	while (host < length && url[host] != '?' && url[host] != '#')
		tt_str_addc(out, url[host++]);
	return tt_str_status(out);
}

/* ---- asking --------------------------------------------------------------------------------- */

static int start(pid_t *pid, int *fd, const char *const *arguments)
{
	posix_spawn_file_actions_t actions;
	int pipes[2], error;

	if (tt_fd_pipe(pipes) != 0)
		return errno;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		error = posix_spawnp(pid, arguments[0], &actions, NULL,
				     (char **)(uintptr_t)arguments, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(pipes[1]);
	if (error)
		close(pipes[0]);
	*fd = pipes[0];
	return error;
}

/* Reads to the end, or until patience does; false then. */
static bool read_all(struct tt_str *out, int fd)
{
	uint64_t until = tt_clock_ns() + (uint64_t)PATIENCE_MS * 1000000;

	for (;;) {
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		uint64_t now = tt_clock_ns();
		char buffer[512];
		ssize_t got;

		if (now >= until || poll(&poller, 1, (int)((until - now) / 1000000) + 1) < 0)
			return false;
		got = poller.revents ? read(fd, buffer, sizeof(buffer)) : -1;
		if (got == 0)
			return true;
		if (got > 0)
			tt_str_add(out, buffer, (size_t)got);
	}
}

/* What a command prints, without the line end; "" when it fails. */
static tt_status ask(struct tt_str *out, const char *what, const char *const *arguments)
{
	int fd = -1, status = -1, error;
	bool complete;
	pid_t pid;

	error = start(&pid, &fd, arguments);
	if (error) {
		tt_log(TT_LOG_WARN,
		       "Unable to determine %s for report metadata; leaving empty. Reason: %s",
		       what, strerror(error));
		return TTNN_OK;
	}
	complete = read_all(out, fd);
	close(fd);
	if (!complete) {
		kill(pid, SIGKILL);
		tt_log(TT_LOG_WARN,
		       "Unable to determine %s for report metadata; leaving empty. Reason: git does "
		       "not answer",
		       what);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!complete || status != 0)
		tt_str_clear(out);
	while (out->length && strchr(" \t\n\r", out->data[out->length - 1]))
		out->data[--out->length] = '\0';
	return tt_str_status(out);
}

tt_status tt_report_git_ask(struct tt_report_git *git)
{
	const char *root = getenv("TT_METAL_HOME");
	const char *sha[] = {"git", "-C", root, "rev-parse", "HEAD", NULL};
	const char *url[] = {"git", "-C", root, "remote", "get-url", "origin", NULL};
	struct tt_str raw = {0};
	tt_status status;

	if (!root || !*root)
		return TTNN_OK;
	TT_TRY(ask(&git->sha, "git SHA", sha));
	status = ask(&raw, "git remote URL", url);
	if (status == TTNN_OK)
		status = tt_report_clean_url(&git->url, tt_str_text(&raw));
	tt_str_deinit(&raw);
	return status;
}

void tt_report_git_deinit(struct tt_report_git *git)
{
	tt_str_deinit(&git->url);
	tt_str_deinit(&git->sha);
}
