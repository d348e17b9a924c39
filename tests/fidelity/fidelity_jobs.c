/*
 * fidelity_jobs.c: programs run in children, so that one that dies or hangs is one failure and the
 * rest goes on.
 *
 * A child gets a few programs, judges each in all modes, with a device of its own, and writes a
 * record for every aspect into a pipe. If it ends before, the run it was in has failed, and another
 * child goes on with the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "fidelity.h"

#define JOBS_MAX 64

/* Programs of one child: making one costs as much as judging a program. */
#define SHARE 8

struct record {
	uint32_t program;
	uint8_t mode, aspect, verdict;
	uint32_t length; /* of the reason behind it */
};

/* One program in one mode. */
struct place {
	size_t program;
	enum fid_mode mode;
};

struct job {
	struct place first; /* what the child begins with */
	size_t end;         /* the program behind its last one */
	pid_t pid;
	int fd;
	double deadline;
	bool late;
	struct tt_str heard;
};

static struct place next_place(struct place place)
{
	if (place.mode + 1 < FID_MODES)
		return (struct place){place.program, (enum fid_mode)(place.mode + 1)};
	return (struct place){place.program + 1, FID_NO_DISPATCH};
}

static void write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(3);
		at += n;
		size -= (size_t)n;
	}
}

static void tell(int fd, struct place place, const struct fid_result *result)
{
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++) {
		const char *reason = result->reason[i] ? result->reason[i] : "";
		struct record record = {(uint32_t)place.program, (uint8_t)place.mode, (uint8_t)i,
					(uint8_t)result->verdict[i], (uint32_t)strlen(reason)};

		write_all(fd, &record, sizeof(record));
		write_all(fd, reason, record.length);
	}
}

static void be_child(int fd, const struct fid_program *programs, const struct job *job)
{
	int quiet = open("/dev/null", O_WRONLY);

	if (quiet >= 0 && !getenv("FIDELITY_LOUD")) {
		dup2(quiet, 1);
		dup2(quiet, 2);
	}
	tt_pool_set_threads(1); /* there is a child for every processor */
	for (struct place at = job->first; at.program < job->end; at = next_place(at)) {
		struct tt_arena arena = {0};
		struct fid_result result = {0};

		(fid_mutations   ? fid_mutate
		 : fid_starvings ? fid_starve
				 : fid_judge)(&result, &arena, &programs[at.program], at.mode);
		tell(fd, at, &result);
		tt_arena_deinit(&arena);
	}
	_exit(0);
}

static tt_status start(struct job *job, const struct fid_program *programs, double seconds)
{
	int ends[2];

	fflush(NULL);
	if (pipe(ends) != 0)
		return tt_fail(TTNN_IO, "no pipe: %s", strerror(errno));
	job->pid = fork();
	if (job->pid == 0) {
		close(ends[0]);
		be_child(ends[1], programs, job);
	}
	close(ends[1]);
	if (job->pid < 0) {
		close(ends[0]);
		return tt_fail(TTNN_IO, "no child: %s", strerror(errno));
	}
	job->fd = ends[0];
	job->deadline = (double)tt_clock_ns() / 1e9 + seconds;
	job->late = false;
	tt_str_clear(&job->heard);
	return TTNN_OK;
}

/* Reads the records; returns the first run that has not all of them. */
static struct place read_records(struct fid_result (*out)[FID_MODES], struct tt_arena *arena,
				 const struct job *job)
{
	const char *at = tt_str_text(&job->heard), *end = at + job->heard.length;
	struct place place = job->first;
	struct record record;

	while ((size_t)(end - at) >= sizeof(record)) {
		struct fid_result *result;

		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		if ((size_t)(end - at) < record.length || record.mode >= FID_MODES ||
		    record.aspect >= FID_ASPECT_COUNT || record.program >= job->end)
			break;
		result = &out[record.program][record.mode];
		result->verdict[record.aspect] = (enum fid_verdict)record.verdict;
		result->reason[record.aspect] =
			record.length ? tt_arena_strndup(arena, at, record.length) : NULL;
		at += record.length;
		if (record.aspect == FID_ASPECT_COUNT - 1)
			place = next_place(place);
	}
	return place;
}

static void fail_all(struct fid_result *out, struct tt_arena *arena,
		     const struct fid_program *program, enum fid_mode mode, const char *how)
{
	struct fid_account expected = {0};

	fid_expect(&expected, program, mode);
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++) {
		out->verdict[i] = expected.present[i] ? FID_FAILED : FID_NOTHING;
		out->reason[i] =
			expected.present[i] ? tt_arena_printf(arena, "died: %s", how) : NULL;
	}
	fid_account_deinit(&expected);
}

static const char *ending(char *out, size_t size, const struct job *job, int status)
{
	if (job->late)
		snprintf(out, size, "ran over the time limit");
	else if (WIFSIGNALED(status))
		snprintf(out, size, "%s", strsignal(WTERMSIG(status)));
	else
		snprintf(out, size, "exit status %d", WEXITSTATUS(status));
	return out;
}

/* Reads once. True when the child has ended. */
static bool pump(struct job *job, double seconds)
{
	char buffer[65536];
	ssize_t n = read(job->fd, buffer, sizeof(buffer));

	if (n > 0) {
		tt_str_add(&job->heard, buffer, (size_t)n);
		job->deadline = (double)tt_clock_ns() / 1e9 + seconds;
	}
	return n == 0 || (n < 0 && errno != EINTR);
}

/* The child has ended: true when another one must go on with the rest. */
static bool finish(struct fid_result (*out)[FID_MODES], struct tt_arena *arena,
		   const struct fid_program *programs, struct job *job)
{
	struct place place;
	char how[128];
	int status = 0;

	close(job->fd);
	waitpid(job->pid, &status, 0);
	place = read_records(out, arena, job);
	if (place.program >= job->end)
		return false;
	fail_all(&out[place.program][place.mode], arena, &programs[place.program], place.mode,
		 ending(how, sizeof(how), job, status));
	job->first = next_place(place);
	return job->first.program < job->end;
}

static void expire(struct job *jobs, size_t count)
{
	double now = (double)tt_clock_ns() / 1e9;

	for (size_t i = 0; i < count; i++)
		if (!jobs[i].late && now > jobs[i].deadline) {
			jobs[i].late = true;
			kill(jobs[i].pid, SIGKILL);
		}
}

static void wait_some(const struct job *jobs, size_t count, struct pollfd *polled)
{
	for (size_t i = 0; i < count; i++)
		polled[i] = (struct pollfd){.fd = jobs[i].fd, .events = POLLIN};
	poll(polled, count, 500);
}

tt_status fid_run_all(struct fid_result (*out)[FID_MODES], struct tt_arena *arena,
		      const struct fid_program *programs, size_t count, const struct fid_jobs *how)
{
	size_t most = how->jobs < 1 ? 1 : how->jobs > JOBS_MAX ? JOBS_MAX : how->jobs;
	struct pollfd polled[JOBS_MAX];
	struct job jobs[JOBS_MAX] = {0};
	size_t running = 0, next = 0;
	tt_status status = TTNN_OK;

	memset(out, 0, count * sizeof(*out));
	while (status == TTNN_OK && (running || next < count)) {
		while (running < most && next < count && status == TTNN_OK) {
			jobs[running].first = (struct place){next, FID_NO_DISPATCH};
			next = next + SHARE < count ? next + SHARE : count;
			jobs[running].end = next;
			status = start(&jobs[running++], programs, how->seconds);
		}
		wait_some(jobs, running, polled);
		expire(jobs, running);
		for (size_t i = running; i-- > 0 && status == TTNN_OK;) {
			struct job *job = &jobs[i], last;

			if (!polled[i].revents || !pump(job, how->seconds))
				continue;
			if (finish(out, arena, programs, job)) {
				status = start(job, programs, how->seconds);
				continue;
			}
			last = jobs[--running];
			jobs[running] = *job;
			if (i != running)
				*job = last;
		}
	}
	for (size_t i = 0; i < most; i++)
		tt_str_deinit(&jobs[i].heard);
	return status;
}
