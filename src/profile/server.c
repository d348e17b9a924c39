#include "profile/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/vec.h"
#include "event/ttrace.h"
#include "profile/announcement.h"

/* How long a connection may take to tell: processes send all at once, but a machine may be busy. */
#define CONNECTION_NS ((uint64_t)5000000000)
/* How long those that stand at the end are waited for. */
#define DRAIN_NS ((uint64_t)1000000000)
/* Clients do not wait to be heard: all of a command's processes may stand here meanwhile. */
#define BACKLOG 4096

struct connection {
	int fd;
	uint64_t ends;
	struct tt_str data;
};

struct tt_server {
	int fd, port;
	char key[20], place[40];
	char *directory;
	struct connection connections[TT_SERVER_CONNECTIONS];
	size_t connection_count;
	TT_VEC(struct tt_server_process) processes;
	uint64_t strangers;
};

/* ---- the port ------------------------------------------------------------------------------------------- */

/* A socket that listens; -1 with errno. */
static int listen_on(uint16_t port)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = tt_fd_above(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int error;

	if (fd < 0)
		return -1;
	/* The last profile's connections are no reason to wait; one that listens is. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(fd, (struct sockaddr *)&place, sizeof(place)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static tt_status take_port(struct tt_server *server, int64_t wanted)
{
	int port = wanted < 0 ? TT_SERVER_PORT : (int)wanted;
	int last = wanted < 0 ? TT_SERVER_PORT_LAST : port;
	struct sockaddr_in place;

	server->fd = listen_on((uint16_t)port);
	while (server->fd < 0 && errno == EADDRINUSE && port < last)
		server->fd = listen_on((uint16_t)++port);
	if (server->fd < 0 && wanted < 0 && errno == EADDRINUSE)
		return tt_fail(TTNN_IO,
			       "all ports from %d to %d are taken: are profiles or other servers "
			       "left over? `-p PORT` names another",
			       TT_SERVER_PORT, TT_SERVER_PORT_LAST);
	if (server->fd < 0 && errno == EADDRINUSE)
		return tt_fail(TTNN_IO,
			       "port %d is taken by another process, maybe a profile that was left "
			       "over: `-p` with an unused port, or without `-p` the next free one "
			       "from %d on",
			       port, TT_SERVER_PORT);
	if (server->fd < 0)
		return tt_fail(TTNN_IO, "port %d: %s", port, strerror(errno));
	if (getsockname(server->fd, (struct sockaddr *)&place, &(socklen_t){sizeof(place)}) != 0)
		return tt_fail(TTNN_IO, "port %d: %s", port, strerror(errno));
	server->port = ntohs(place.sin_port);
	return TTNN_OK;
}

static tt_status make_key(struct tt_server *server)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return tt_fail(TTNN_IO, "random numbers: %s", strerror(errno));
	snprintf(server->key, sizeof(server->key), "%016" PRIx64, number);
	snprintf(server->place, sizeof(server->place), "%d:%s", server->port, server->key);
	return TTNN_OK;
}

tt_status tt_server_open(struct tt_server **out, const struct tt_server_options *options)
{
	struct tt_server *server = tt_calloc(1, sizeof(*server));
	tt_status status;

	if (!server)
		return tt_fail_nomem();
	server->fd = -1;
	server->directory = tt_strdup(options->directory);
	status = server->directory ? take_port(server, options->port) : tt_fail_nomem();
	if (status == TTNN_OK)
		status = make_key(server);
	if (status != TTNN_OK) {
		tt_server_close(server);
		return status;
	}
	*out = server;
	return TTNN_OK;
}

static void free_process(struct tt_server_process *process)
{
	tt_free(process->command);
	tt_free(process->file);
	tt_free(process->reason);
}

static void end_connection(struct tt_server *server, size_t i)
{
	close(server->connections[i].fd);
	tt_str_deinit(&server->connections[i].data);
	server->connection_count--;
	memmove(&server->connections[i], &server->connections[i + 1],
		(server->connection_count - i) * sizeof(server->connections[0]));
}

void tt_server_close(struct tt_server *server)
{
	if (!server)
		return;
	while (server->connection_count)
		end_connection(server, server->connection_count - 1);
	if (server->fd >= 0)
		close(server->fd);
	for (size_t i = 0; i < server->processes.count; i++)
		free_process(&server->processes.data[i]);
	TT_VEC_DEINIT(&server->processes);
	tt_free(server->directory);
	tt_free(server);
}

int tt_server_port(const struct tt_server *server)
{
	return server->port;
}

const char *tt_server_place(const struct tt_server *server)
{
	return server->place;
}

uint64_t tt_server_strangers(const struct tt_server *server)
{
	return server->strangers;
}

const struct tt_server_process *tt_server_processes(size_t *count, const struct tt_server *server)
{
	*count = server->processes.count;
	return server->processes.data;
}

/* ---- what is told ----------------------------------------------------------------------------------------- */

/* Only files of the command are ever looked at: directly in the directory, and traces by name. */
static bool is_our_file(const struct tt_server *server, const char *path)
{
	size_t length = strlen(server->directory);

	return strncmp(path, server->directory, length) == 0 && path[length] == '/' &&
	       !strchr(path + length + 1, '/') && tt_ends_with(path, TT_TRACE_SUFFIX);
}

static tt_status add_process(struct tt_server_process **out, struct tt_server *server,
			     const struct tt_announcement *told)
{
	struct tt_server_process made = {.pid = told->pid, .parent = told->parent};

	made.command = tt_strdup(told->command);
	made.reason = tt_strdup("");
	made.file = *told->file ? tt_strdup(told->file) : NULL;
	*out = made.command && made.reason && (made.file || !*told->file)
		       ? TT_VEC_PUSH(&server->processes)
		       : NULL;
	if (!*out) {
		free_process(&made);
		return tt_fail_nomem();
	}
	**out = made;
	return TTNN_OK;
}

/* The last one of this number that has not ended: before it there may have been others. */
static struct tt_server_process *find_process(struct tt_server *server, uint64_t pid)
{
	for (size_t i = server->processes.count; i-- > 0;)
		if (server->processes.data[i].pid == pid && !server->processes.data[i].ended)
			return &server->processes.data[i];
	return NULL;
}

static tt_status hear_end(struct tt_server *server, const struct tt_announcement *told)
{
	struct tt_server_process *process = find_process(server, told->pid);
	char *reason = tt_strdup(told->reason);

	if (!reason)
		return tt_fail_nomem();
	if (!process && add_process(&process, server, told) != TTNN_OK) {
		tt_free(reason);
		return TTNN_NOMEM;
	}
	tt_free(process->reason);
	process->reason = reason;
	process->ended = true;
	process->events = told->events;
	process->operations = told->operations;
	process->lost = told->lost;
	process->recorded_ns = told->recorded_ns;
	process->written_ns = told->written_ns;
	process->told_ns = told->told_ns;
	return TTNN_OK;
}

static tt_status hear(struct tt_server *server, const struct tt_str *data, size_t size)
{
	struct tt_announcement told = {0};
	struct tt_server_process *process;
	struct tt_arena arena = {0};
	tt_status status = tt_announcement_read(&told, &arena, data->data, size);

	if (status == TTNN_OK &&
	    (strcmp(told.key, server->key) != 0 ||
	     (told.kind == TT_ANNOUNCE_FILE ? !is_our_file(server, told.file) : *told.file)))
		status = tt_fail(TTNN_FORMAT, "The announcement is not for this server.");
	if (status == TTNN_OK)
		status = told.kind == TT_ANNOUNCE_FILE ? add_process(&process, server, &told)
						       : hear_end(server, &told);
	tt_arena_deinit(&arena);
	if (status != TTNN_FORMAT)
		return status;
	server->strangers++;
	return TTNN_OK;
}

/* ---- connections ------------------------------------------------------------------------------------------ */

/* As many as there is room for; false when more may be waiting. */
static bool accept_some(struct tt_server *server)
{
	while (server->connection_count < TT_SERVER_CONNECTIONS) {
		int fd = tt_fd_above(accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));

		/* ENFILE, ECONNABORTED: whoever it was, its recording is found in the directory. */
		if (fd < 0)
			return true;
		server->connections[server->connection_count++] =
			(struct connection){.fd = fd, .ends = tt_clock_ns() + CONNECTION_NS};
	}
	return false;
}

/* Reads what is there; *done when the connection has nothing more to say. */
static tt_status read_connection(bool *done, struct tt_server *server, struct connection *from)
{
	char part[4096];
	ssize_t length = recv(from->fd, part, sizeof(part), 0);
	size_t size = 0;

	*done = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
	if (length <= 0) {
		/* Whoever only looks whether somebody listens is no stranger. */
		server->strangers += *done && from->data.length;
		return TTNN_OK;
	}
	tt_str_add(&from->data, part, (size_t)length);
	TT_TRY(tt_str_status(&from->data));
	switch (tt_announcement_look(&size, from->data.data, from->data.length)) {
	case TT_ANNOUNCEMENT_PART:
		return TTNN_OK;
	case TT_ANNOUNCEMENT_WHOLE:
		*done = true;
		return hear(server, &from->data, size);
	case TT_ANNOUNCEMENT_NONE:
		break;
	}
	server->strangers++;
	*done = true;
	return TTNN_OK;
}

static tt_status read_connections(struct tt_server *server)
{
	uint64_t now = tt_clock_ns();

	for (size_t i = 0; i < server->connection_count;) {
		bool done = false;

		TT_TRY(read_connection(&done, server, &server->connections[i]));
		if (!done && now >= server->connections[i].ends) {
			server->strangers++;
			done = true;
		}
		if (done)
			end_connection(server, i);
		else
			i++;
	}
	return TTNN_OK;
}

tt_status tt_server_turn(struct tt_server *server, int milliseconds, const sigset_t *mask)
{
	struct pollfd wanted[1 + TT_SERVER_CONNECTIONS];
	struct timespec most = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	wanted[0] = (struct pollfd){.fd = server->fd, .events = POLLIN};
	for (size_t i = 0; i < server->connection_count; i++)
		wanted[i + 1] = (struct pollfd){.fd = server->connections[i].fd, .events = POLLIN};
	if (ppoll(wanted, 1 + server->connection_count, &most, mask) < 0 && errno != EINTR)
		return tt_fail(TTNN_IO, "port %d: %s", server->port, strerror(errno));
	for (bool all = false; !all;) {
		all = accept_some(server);
		TT_TRY(read_connections(server));
		if (server->connection_count == TT_SERVER_CONNECTIONS) {
			server->strangers++;
			end_connection(server, 0);
		}
	}
	return TTNN_OK;
}

tt_status tt_server_drain(struct tt_server *server)
{
	uint64_t ends = tt_clock_ns() + DRAIN_NS;

	TT_TRY(tt_server_turn(server, 0, NULL));
	while (server->connection_count && tt_clock_ns() < ends)
		TT_TRY(tt_server_turn(server, 10, NULL));
	return TTNN_OK;
}
