#include "event/announce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/pack.h"
#include "event/encode.h"
#include "event/store_file.h"
#include "event/ttrace.h"

/* A server on this machine takes microseconds; one that is stopped is not waited for. */
#define CONNECT_NS ((uint64_t)200000000)

/* ---- bytes ---------------------------------------------------------------------------------------------- */

void tt_announcement_add(struct tt_str *out, const struct tt_announcement *told)
{
	unsigned char head[TT_ANNOUNCE_HEAD_SIZE];
	struct tt_str body = {0};

	tt_encode_number(&body, told->kind);
	tt_encode_text(&body, told->key);
#define TT_X(form, name) tt_encode_##form(&body, told->name);
	TT_ANNOUNCED_LIST(TT_X)
#undef TT_X
	memcpy(head, TT_ANNOUNCE_MAGIC, 8);
	tt_put_u32(head + 8, TT_ANNOUNCE_VERSION);
	tt_put_u32(head + 12, (uint32_t)body.length);
	tt_put_u32(head + 16, tt_crc32(0, tt_str_text(&body), body.length));
	tt_str_add(out, (const char *)head, sizeof(head));
	tt_str_add(out, tt_str_text(&body), body.length);
	out->failed |= body.failed;
	tt_str_deinit(&body);
}

/* ---- the connection --------------------------------------------------------------------------------------- */

/* Waits until a connection stands or failed, or its time is over; 0 or errno. */
static int await_connection(int fd)
{
	uint64_t ends = tt_clock_ns() + CONNECT_NS;
	struct pollfd wanted = {.fd = fd, .events = POLLOUT};
	int error = 0, found;

	/* On a busy machine the time may be over before the first look, and the connection stand. */
	do {
		uint64_t now = tt_clock_ns();

		found = poll(&wanted, 1, now < ends ? (int)((ends - now) / 1000000 + 1) : 0);
	} while (found < 0 && errno == EINTR);
	if (found <= 0)
		return found ? errno : ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof(error)}) != 0)
		return errno;
	return error;
}

/* All of an announcement fits what the system keeps for a connection, so nobody has to wait for its reader. */
static int send_to(uint16_t port, const struct tt_str *bytes)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = tt_fd_above(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, (struct sockaddr *)&place, sizeof(place)) != 0)
		error = errno == EINPROGRESS || errno == EINTR ? await_connection(fd) : errno;
	if (!error && send(fd, bytes->data, bytes->length, MSG_NOSIGNAL) != (ssize_t)bytes->length)
		error = errno ? errno : EMSGSIZE;
	close(fd);
	return error;
}

/* "8086:KEY"; 0 when it makes no sense. */
static uint16_t port_of(const char **key, const char *place)
{
	char *end;
	unsigned long port = strtoul(place, &end, 10);

	*key = end + 1;
	return *end == ':' && end != place && port <= UINT16_MAX ? (uint16_t)port : 0;
}

bool tt_announce(const struct tt_announcement *told, const char *place)
{
	struct tt_announcement keyed = *told;
	struct tt_str bytes = {0};
	uint16_t port = port_of(&keyed.key, place);
	int error = port ? 0 : EINVAL;

	if (!error) {
		tt_announcement_add(&bytes, &keyed);
		error = tt_str_status(&bytes) == TTNN_OK ? send_to(port, &bytes) : ENOMEM;
		tt_str_deinit(&bytes);
	}
	if (error)
		tt_log(TT_LOG_INFO, "the server of the profile, %s, is not told: %s", place,
		       strerror(error));
	return !error;
}

/* ---- the process's own words ------------------------------------------------------------------------------- */

/* Of this process: a child begins anew. One thread at a time tells, but several may have done so. */
static _Atomic pid_t teller;
static atomic_bool unheard;
static atomic_uint_least64_t spent[TT_SPENT_KINDS];

static void begin_anew(void)
{
	pid_t self = getpid();

	if (atomic_exchange(&teller, self) == self)
		return;
	atomic_store(&unheard, false);
	for (int i = 0; i < TT_SPENT_KINDS; i++)
		atomic_store(&spent[i], 0);
}

static void emit(const struct tt_announcement *words)
{
	const char *place = tt_env("TTNN_PROFILE");
	uint64_t began = tt_clock_ns();
	struct tt_announcement told = *words;
	char command[4096];

	if (!place || atomic_load(&unheard))
		return;
	tt_process_command(command, sizeof(command));
	told.pid = (uint64_t)getpid();
	told.parent = (uint64_t)getppid();
	told.command = command;
	told.recorded_ns = atomic_load(&spent[TT_SPENT_RECORDING]);
	told.written_ns = atomic_load(&spent[TT_SPENT_WRITING]);
	told.told_ns = atomic_load(&spent[TT_SPENT_EMITTING]);
	if (!tt_announce(&told, place))
		atomic_store(&unheard, true);
	atomic_fetch_add(&spent[TT_SPENT_EMITTING], tt_clock_ns() - began);
}

bool tt_announce_wanted(void)
{
	return tt_env("TTNN_PROFILE") != NULL;
}

void tt_announce_spent(enum tt_spent kind, uint64_t ns)
{
	begin_anew();
	atomic_fetch_add(&spent[kind], ns);
}

void tt_announce_file(const char *path)
{
	const char *directory = tt_env("TTNN_TRACE");
	size_t length = directory ? strlen(directory) : 0;

	/* Traces that the program makes for itself are its own affair. */
	if (!length || strncmp(path, directory, length) != 0 || path[length] != '/')
		return;
	begin_anew();
	emit(&(struct tt_announcement){.kind = TT_ANNOUNCE_FILE, .file = path});
}

void tt_announce_end(const struct ttnn_trace_summary *summary)
{
	const char *place = tt_env("TTNN_PROFILE");
	struct tt_announcement last = {.kind = TT_ANNOUNCE_END,
				       .events = summary->events,
				       .operations = summary->operations,
				       .lost = summary->lost,
				       .reason = summary->reason};

	begin_anew();
	emit(&last);
	/* Whoever began the profile ended without its report, or it would have taken the word. */
	if (place && atomic_load(&unheard) && (summary->events || summary->lost))
		tt_log(TT_LOG_WARN,
		       "the server of the profile is gone; what was recorded is in %s, and "
		       "`ttnn export csv` makes a report of it",
		       tt_env("TTNN_TRACE") ? tt_env("TTNN_TRACE") : "its trace");
}
