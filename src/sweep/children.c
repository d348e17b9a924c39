/* children.c: child processes that do tasks. */
#include "sweep/children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

#define CHECK_MS 100 /* how often stop() is asked */
#define PATIENT 10   /* times the limit that a child has on a busy machine ... */
#define WORKS 50     /* ... if it had the processor for that part of the time at least */

/* What a child sends: one of these, then its bytes. */
enum { ANSWER = 'A', CANNOT_BEGIN = 'F' };

struct packet {
	char kind;
	char bytes[TT_WORKER_ANSWER];
};

/* One child. All zero but pid 0 is none. */
struct worker {
	pid_t pid;
	int fd;
	bool busy;
	uint64_t task, asked_ns, limit_ns;
	uint64_t due_ns; /* when it is late, on the clock; 0: never */
	uint64_t cpu_ns; /* its processor time when it was asked */
};

struct crew {
	struct tt_workers *how;
	struct worker *members;
	struct pollfd *polls;
	unsigned running; /* tasks under way */
	bool no_more;
};

/* ---- in a child ---------------------------------------------------------------------------------------- */

static void limit_memory(uint64_t bytes)
{
	struct rlimit limit = {bytes, bytes};

	if (bytes && TT_WORKERS_LIMITED)
		setrlimit(RLIMIT_AS, &limit);
}

static bool answer(int fd, struct packet *packet, char kind, size_t size)
{
	packet->kind = kind;
	return send(fd, packet, size + 1, MSG_NOSIGNAL) == (ssize_t)size + 1;
}

/* Never returns. What is sent is a packet: it comes whole or not at all. */
static void live(struct tt_workers *how, int fd, pid_t parent)
{
	static struct packet packet;
	uint64_t task;

	/* Who outlives the parent is of no use. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	limit_memory(how->memory);
	if (how->begin && how->begin(how->context) != TTNN_OK) {
		snprintf(packet.bytes, sizeof(packet.bytes), "%s", ttnn_error());
		answer(fd, &packet, CANNOT_BEGIN, strlen(packet.bytes));
		_exit(1);
	}
	while (recv(fd, &task, sizeof(task), 0) == (ssize_t)sizeof(task)) {
		size_t size = how->work(how->context, task, packet.bytes);

		if (size == TT_WORKER_SPENT)
			_exit(TT_WORKER_SPENT_CODE);
		if (!answer(fd, &packet, ANSWER, size))
			break;
	}
	_exit(0);
}

/* ---- children ------------------------------------------------------------------------------------------- */

/* The child must not hold the ends of its siblings: they would not see when the parent is gone. */
static void close_others(const struct crew *crew)
{
	for (unsigned i = 0; i < crew->how->jobs; i++)
		if (crew->members[i].pid)
			close(crew->members[i].fd);
}

static tt_status start(struct crew *crew, struct worker *worker)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return tt_fail(TTNN_IO, "a socket for a worker: %s", strerror(errno));
	ends[0] = tt_fd_above(ends[0]);
	ends[1] = tt_fd_above(ends[1]);
	worker->pid = 0;
	worker->busy = false;
	worker->pid = fork();
	if (worker->pid == 0) {
		close(ends[0]);
		worker->pid = 0;
		close_others(crew);
		live(crew->how, ends[1], parent);
	}
	close(ends[1]);
	if (worker->pid < 0) {
		int error = errno;

		worker->pid = 0;
		close(ends[0]);
		return tt_fail(TTNN_IO, "a worker could not be started: %s", strerror(error));
	}
	worker->fd = ends[0];
	return TTNN_OK;
}

/* Waits for a child that is ending, or makes it end; what became of it. */
static int reap(struct worker *worker, bool kill_it)
{
	int status = 0;

	if (kill_it)
		kill(worker->pid, SIGKILL);
	close(worker->fd);
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	worker->busy = false;
	return status;
}

static void dismiss(struct crew *crew)
{
	for (unsigned i = 0; i < crew->how->jobs; i++)
		if (crew->members[i].pid)
			reap(&crew->members[i], crew->members[i].busy);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

/* The processor time that a child has taken so far; 0: not known. */
static uint64_t processor_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * On a machine that does much else a child may be late without its fault. As long as it works, and has not had the
 * processor for the time it may take, it gets more, up to some times as much.
 */
static bool is_late(struct worker *worker, uint64_t now)
{
	uint64_t worked, passed = now - worker->asked_ns;

	if (!worker->busy || !worker->due_ns || now < worker->due_ns)
		return false;
	worked = processor_ns(worker->pid) - worker->cpu_ns;
	if (worked >= worker->limit_ns || worked < passed / WORKS ||
	    passed >= PATIENT * worker->limit_ns)
		return true;
	worker->due_ns = now + worker->limit_ns / WORKS + 1;
	return false;
}

/* Gives a task to a child that has none; one that died while it had none is replaced. */
static tt_status give(struct crew *crew, struct worker *worker)
{
	struct tt_workers *how = crew->how;
	uint64_t task;

	if (crew->no_more)
		return TTNN_OK;
	if (!how->next(how->context, &task)) {
		crew->no_more = true;
		return TTNN_OK;
	}
	if (!worker->pid)
		TT_TRY(start(crew, worker));
	worker->task = task;
	worker->limit_ns = how->timeout_of ? how->timeout_of(how->context, task) : how->timeout_ns;
	worker->asked_ns = tt_clock_ns();
	worker->due_ns = worker->limit_ns ? worker->asked_ns + worker->limit_ns : 0;
	worker->cpu_ns = processor_ns(worker->pid);
	worker->busy = true;
	crew->running++;
	/* A failure shows when its answer is read: the child is dead then. */
	(void)!send(worker->fd, &task, sizeof(task), MSG_NOSIGNAL);
	return TTNN_OK;
}

static tt_status report(struct crew *crew, struct worker *worker, struct tt_worker_done *done)
{
	done->task = worker->task;
	done->ns = tt_clock_ns() - worker->asked_ns;
	worker->busy = false;
	crew->running--;
	return crew->how->done(crew->how->context, done);
}

/* The child is dead, or is made so. */
static tt_status bury(struct crew *crew, struct worker *worker, enum tt_worker_end end)
{
	struct tt_worker_done done = {.end = end, .pid = worker->pid};
	bool busy = worker->busy;
	int status = reap(worker, end == TT_WORKER_HUNG);

	worker->busy = busy;
	done.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	done.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	return busy ? report(crew, worker, &done) : TTNN_OK;
}

/* A child that dies with a task unread is told of first, before the last that it sent. */
static ssize_t take(int fd, struct packet *packet)
{
	ssize_t size = recv(fd, packet, sizeof(*packet), MSG_DONTWAIT);

	return size < 0 && errno == ECONNRESET ? recv(fd, packet, sizeof(*packet), MSG_DONTWAIT)
					       : size;
}

static tt_status hear(struct crew *crew, struct worker *worker)
{
	struct packet packet;
	ssize_t size = take(worker->fd, &packet);
	struct tt_worker_done done = {.end = TT_WORKER_ANSWERED,
				      .answer = packet.bytes,
				      .size = size > 0 ? (size_t)size - 1 : 0,
				      .pid = worker->pid};

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return TTNN_OK;
	if (size <= 0)
		return bury(crew, worker, TT_WORKER_CRASHED);
	if (packet.kind == CANNOT_BEGIN)
		return tt_fail(TTNN_STATE, "%.*s", (int)done.size, packet.bytes);
	return worker->busy ? report(crew, worker, &done) : TTNN_OK;
}

/* The time until the first child is late; -1: never. */
static int patience(const struct crew *crew)
{
	uint64_t now = tt_clock_ns(), least = (uint64_t)CHECK_MS * 1000000;

	for (unsigned i = 0; i < crew->how->jobs; i++) {
		const struct worker *worker = &crew->members[i];

		if (!worker->busy || !worker->due_ns)
			continue;
		if (worker->due_ns <= now)
			return 0;
		least = worker->due_ns - now < least ? worker->due_ns - now : least;
	}
	return (int)(least / 1000000) + 1;
}

static tt_status kill_the_late(struct crew *crew)
{
	uint64_t now = tt_clock_ns();

	for (unsigned i = 0; i < crew->how->jobs; i++) {
		struct worker *worker = &crew->members[i];

		if (!is_late(worker, now))
			continue;
		/* It may have answered while this process was busy: then it is not late. */
		TT_TRY(hear(crew, worker));
		if (worker->busy)
			TT_TRY(bury(crew, worker, TT_WORKER_HUNG));
	}
	return TTNN_OK;
}

static tt_status turn(struct crew *crew)
{
	unsigned jobs = crew->how->jobs;

	for (unsigned i = 0; i < jobs; i++)
		crew->polls[i] = (struct pollfd){
			.fd = crew->members[i].pid ? crew->members[i].fd : -1, .events = POLLIN};
	if (poll(crew->polls, jobs, patience(crew)) < 0 && errno != EINTR)
		return tt_fail(TTNN_IO, "waiting for workers: %s", strerror(errno));
	for (unsigned i = 0; i < jobs; i++) {
		if (crew->polls[i].revents)
			TT_TRY(hear(crew, &crew->members[i]));
		if (!crew->members[i].busy)
			TT_TRY(give(crew, &crew->members[i]));
	}
	TT_TRY(kill_the_late(crew));
	if (crew->how->stop && crew->how->stop(crew->how->context))
		return tt_fail(TTNN_CANCELLED, "stopped");
	return TTNN_OK;
}

tt_status tt_workers_run(struct tt_workers *workers)
{
	struct crew crew = {.how = workers};
	tt_status status = TTNN_OK;

	workers->jobs = workers->jobs ? workers->jobs : 1;
	crew.members = tt_calloc(workers->jobs, sizeof(*crew.members));
	crew.polls = tt_calloc(workers->jobs, sizeof(*crew.polls));
	if (!crew.members || !crew.polls)
		status = tt_fail_nomem();
	for (unsigned i = 0; status == TTNN_OK && i < workers->jobs; i++)
		status = give(&crew, &crew.members[i]);
	while (status == TTNN_OK && (crew.running || !crew.no_more))
		status = turn(&crew);
	if (crew.members)
		dismiss(&crew);
	tt_free(crew.members);
	tt_free(crew.polls);
	return status;
}
