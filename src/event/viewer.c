#include "event/viewer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/viewer_broadcast.h"
#include "event/viewer_queue.h"

#define PORTS 64 /* that are tried */
#define BATCH 2048
#define TICK_MS 10
#define HELLO_NS UINT64_C(1000000000)    /* that a viewer has for its first words */
#define PATIENCE_NS UINT64_C(3000000000) /* at the end, for a viewer that says or takes nothing */
#define ENDING_NS UINT64_C(10000000000)  /* at the end, in all */
#define ALIVE_NS UINT64_C(500000000)
#define BROADCAST_NS UINT64_C(3000000000)

static struct {
	pthread_t thread;
	bool running;
	atomic_bool ending;
	int listener, port;
	int fd; /* of the viewer, + 1: for the child of a fork, which closes it */
	uint64_t began_ns;
	struct tt_viewer_broadcast broadcast;
} viewer = {.listener = -1};

/* ---- the conversation ---------------------------------------------------------------------------------- */

/* The one viewer, as the thread sees it. */
struct talk {
	int fd; /* -1: there is none */
	bool welcome;
	uint64_t since_ns, moved_ns;
	unsigned char in[4096];
	size_t in_count;
	struct tt_wire wire;
	struct tt_str out;
	size_t sent;
	struct tt_viewer_known known;
	bool terminated, done;
	uint64_t last_ns; /* when the last word was said; 0: not yet */
};

static const char *program_name(void)
{
	return program_invocation_short_name ? program_invocation_short_name : "";
}

static void hang_up(struct talk *talk)
{
	bool welcome = talk->welcome;

	close(talk->fd);
	viewer.fd = 0;
	tt_str_deinit(&talk->wire.frame);
	tt_str_deinit(&talk->out);
	*talk = (struct talk){.fd = -1, .done = welcome};
	if (welcome)
		tt_viewer_reset(false); /* there is no other */
}

/* Says one byte, and no more to this one. */
static void refuse(int fd, enum tt_wire_status status)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char hello[TT_WIRE_HELLO_SIZE], byte = (char)status;

	/* Bytes that nobody read would take the answer with them. */
	if (poll(&ready, 1, 50) > 0)
		(void)!recv(fd, hello, sizeof(hello), MSG_DONTWAIT);
	(void)!send(fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void welcome(struct talk *talk)
{
	struct tt_wire_self self = {.began_ns = viewer.began_ns,
				    .now_ns = tt_clock_ns(),
				    .epoch = (uint64_t)(tt_clock_wall_ns() / 1000000000),
				    .pid = (uint64_t)getpid(),
				    .program = program_name()};
	uint32_t protocol = 0;

	for (unsigned i = 0; i < 4; i++)
		protocol |= (uint32_t)talk->in[8 + i] << 8 * i;
	talk->wire.version = tt_wire_find(protocol);
	if (!talk->wire.version) {
		char byte = TT_WIRE_MISMATCH;

		(void)!send(talk->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		hang_up(talk);
		return;
	}
	self.late = tt_viewer_attach();
	tt_wire_welcome(&talk->out, &talk->wire, &self);
	memmove(talk->in, talk->in + TT_WIRE_HELLO_SIZE, talk->in_count -= TT_WIRE_HELLO_SIZE);
	talk->welcome = true;
	talk->moved_ns = tt_clock_ns();
}

/* What has come; false: the viewer is gone, or makes no sense. */
static bool listen_to(struct talk *talk)
{
	ssize_t got = recv(talk->fd, talk->in + talk->in_count, sizeof(talk->in) - talk->in_count,
			   MSG_DONTWAIT);
	size_t at = 0;
	uint64_t what;

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	if (got > 0) {
		talk->in_count += (size_t)got;
		talk->moved_ns = tt_clock_ns();
	}
	if (!talk->welcome) {
		size_t compared = talk->in_count < 8 ? talk->in_count : 8;

		if (memcmp(talk->in, TT_WIRE_HELLO, compared) != 0)
			return false;
		if (talk->in_count < TT_WIRE_HELLO_SIZE)
			return tt_clock_ns() - talk->since_ns < HELLO_NS;
		welcome(talk);
		return true;
	}
	for (; talk->in_count - at >= TT_WIRE_QUERY_SIZE && !talk->terminated;
	     at += TT_WIRE_QUERY_SIZE) {
		enum tt_wire_query query = tt_wire_read_query(&what, talk->in + at);

		talk->terminated = query == TT_WIRE_TERMINATE;
		if (!talk->terminated)
			tt_viewer_answer(&talk->wire, query, what);
	}
	memmove(talk->in, talk->in + at, talk->in_count -= at);
	tt_wire_pack(&talk->out, &talk->wire);
	return !talk->terminated;
}

static void say_record(struct talk *talk, const struct tt_viewer_record *record)
{
	switch ((enum tt_viewer_kind)record->kind) {
	case TT_VIEWER_BEGIN:
		tt_wire_begin(&talk->wire, &(struct tt_wire_zone){.thread = record->thread,
								  .ns = record->ns,
								  .location = record->what,
								  .text = record->name});
		break;
	case TT_VIEWER_END:
		tt_wire_end(&talk->wire, &(struct tt_wire_zone){.thread = record->thread,
								.ns = record->ns,
								.text = record->name});
		break;
	case TT_VIEWER_MESSAGE:
		tt_wire_message(&talk->wire,
				&(struct tt_wire_message){.thread = record->thread,
							  .color = (uint32_t)record->what,
							  .ns = record->ns,
							  .text = record->text,
							  .error = record->error});
		tt_free(record->text);
		break;
	case TT_VIEWER_ROUND:
		tt_wire_round(&talk->wire, record->ns);
		break;
	case TT_VIEWER_PLOT:
		tt_wire_plot(&talk->wire, record->thread, record->ns, record->what, record->value);
		break;
	case TT_VIEWER_PROGRAM:
		tt_wire_program(&talk->wire,
				&(struct tt_wire_program){.context = (uint8_t)record->program,
							  .begin_ns = record->what,
							  .end_ns = record->ns,
							  .location = record->program >> 8});
		break;
	}
}

/* The next of the queue, as a frame. */
static void take_records(struct talk *talk)
{
	struct tt_viewer_record batch[BATCH];
	size_t count = tt_viewer_take(batch, BATCH, &talk->wire, &talk->known);

	for (size_t i = 0; i < count; i++) {
		say_record(talk, &batch[i]);
		if (talk->wire.frame.length > TT_WIRE_FRAME_MOST)
			tt_wire_pack(&talk->out, &talk->wire);
	}
}

/* Sends what can be sent without waiting; false: the viewer is gone. */
static bool send_to(struct talk *talk)
{
	while (talk->sent < talk->out.length) {
		ssize_t done = send(talk->fd, talk->out.data + talk->sent,
				    talk->out.length - talk->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (done < 0)
			return errno == EAGAIN || errno == EINTR;
		talk->sent += (size_t)done;
		talk->moved_ns = tt_clock_ns();
	}
	tt_str_clear(&talk->out);
	talk->sent = 0;
	return true;
}

static bool speak_to(struct talk *talk)
{
	for (;;) {
		if (!send_to(talk))
			return false;
		if (!talk->welcome || talk->last_ns || talk->out.length)
			return true;
		take_records(talk);
		if (!talk->wire.frame.length && !talk->out.length) {
			if (tt_clock_ns() - talk->moved_ns <= ALIVE_NS)
				return true;
			tt_wire_keep_alive(&talk->wire);
		}
		tt_wire_pack(&talk->out, &talk->wire);
		if (tt_str_status(&talk->out) != TTNN_OK)
			return false;
	}
}

static void meet(struct talk *talk)
{
	int fd = accept4(viewer.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (talk->fd >= 0 || talk->done) {
		refuse(fd, TT_WIRE_BUSY);
		return;
	}
	viewer.fd = fd + 1;
	*talk = (struct talk){.fd = fd, .since_ns = tt_clock_ns(), .moved_ns = tt_clock_ns()};
}

static void call_out(uint64_t *next_ns)
{
	if (tt_clock_ns() < *next_ns)
		return;
	*next_ns = tt_clock_ns() + BROADCAST_NS;
	tt_viewer_broadcast_send(&viewer.broadcast, viewer.port, program_name());
}

/* Whether nothing is left to be said: then the thread ends. */
static bool is_over(struct talk *talk, uint64_t *ending_ns)
{
	uint64_t now = tt_clock_ns();

	if (!atomic_load(&viewer.ending))
		return false;
	if (talk->fd < 0 || !talk->welcome)
		return talk->done || !getenv("TRACY_NO_EXIT");
	if (!*ending_ns)
		*ending_ns = now;
	if (now - *ending_ns > ENDING_NS || now - talk->moved_ns > PATIENCE_NS ||
	    (talk->last_ns && now - talk->last_ns > PATIENCE_NS))
		return true;
	if (!talk->last_ns && !talk->out.length && tt_viewer_is_empty()) {
		tt_wire_terminate(&talk->wire);
		tt_wire_pack(&talk->out, &talk->wire);
		talk->last_ns = now;
	}
	return false;
}

static void *converse(void *nothing)
{
	struct talk *talk = tt_calloc(1, sizeof(*talk));
	uint64_t broadcast_ns = 0;
	uint64_t ending_ns = 0;

	if (!talk)
		return nothing;
	talk->fd = -1;
	while (!is_over(talk, &ending_ns)) {
		struct pollfd ready[2] = {{.fd = viewer.listener, .events = POLLIN},
					  {.fd = talk->fd, .events = POLLIN}};

		if (talk->fd >= 0 && talk->out.length)
			ready[1].events |= POLLOUT;
		poll(ready, 2, TICK_MS);
		if (talk->fd < 0 && !talk->done)
			call_out(&broadcast_ns);
		if (ready[0].revents)
			meet(talk);
		if (talk->fd >= 0 && (!listen_to(talk) || talk->fd < 0 || !speak_to(talk)) &&
		    talk->fd >= 0)
			hang_up(talk);
	}
	if (talk->fd >= 0)
		hang_up(talk);
	tt_free(talk);
	return nothing;
}

/* ---- begin and end ------------------------------------------------------------------------------------- */

/* The first free port from this one on, of this machine alone unless others are told of it; false: none is. */
static bool listen_on(int first)
{
	int yes = 1;

	for (int port = first; port < first + PORTS && port <= UINT16_MAX; port++) {
		struct sockaddr_in here = {.sin_family = AF_INET,
					   .sin_port = htons((uint16_t)port)};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return false;
		here.sin_addr.s_addr = htonl(viewer.broadcast.far ? INADDR_ANY : INADDR_LOOPBACK);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(fd, 4) == 0) {
			viewer.listener = fd;
			viewer.port = port;
			return true;
		}
		close(fd);
	}
	return false;
}

static int wanted_port(void)
{
	const char *text = tt_env("TTNN_LIVE");
	char *end;
	long port = text ? strtol(text, &end, 10) : 0;

	return text && !*end && port > 0 && port <= UINT16_MAX ? (int)port : 0;
}

static bool start(void)
{
	sigset_t all, before;

	viewer.began_ns = tt_clock_ns();
	if (!listen_on(wanted_port()))
		return false;
	atomic_store(&viewer.ending, false);
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	viewer.running = pthread_create(&viewer.thread, NULL, converse, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return viewer.running;
}

/* The child of a fork: nothing of the parent's goes out twice. */
static void begin_again(void)
{
	if (!viewer.running)
		return;
	close(viewer.listener);
	if (viewer.fd)
		close(viewer.fd - 1);
	viewer.fd = 0;
	viewer.running = false;
	tt_viewer_reset(start());
}

__attribute__((destructor)) static void end_with_the_process(void)
{
	uint64_t lost;

	if (!viewer.running)
		return;
	atomic_store(&viewer.ending, true);
	pthread_join(viewer.thread, NULL);
	viewer.running = false;
	close(viewer.listener);
	lost = tt_viewer_lost();
	tt_viewer_reset(false);
	if (lost)
		tt_log(TT_LOG_WARN,
		       "%llu zones and numbers were not told to the viewer: it was too slow",
		       (unsigned long long)lost);
}

void tt_viewer_from_environment(void)
{
	const char *wanted = tt_env("TTNN_LIVE");

	if (!wanted)
		return;
	if (!wanted_port())
		tt_log(TT_LOG_WARN, "TTNN_LIVE: %s is no port", wanted);
	else if (tt_viewer_broadcast_read(&viewer.broadcast, tt_env("TTNN_LIVE_ANNOUNCE")) !=
		 TTNN_OK)
		tt_log(TT_LOG_WARN, "TTNN_LIVE_ANNOUNCE: %s", ttnn_error());
	else if (!tt_viewer_hear())
		tt_log(TT_LOG_WARN, "TTNN_LIVE: %s", ttnn_error());
	else if (!start())
		tt_log(TT_LOG_WARN, "TTNN_LIVE: there is no free port from %s on", wanted);
	if (viewer.running)
		tt_viewer_on_fork(begin_again);
	else
		tt_viewer_reset(false);
}
