/*
 * server.h: the capture server of `ttnn profile`. It listens on this machine alone, and hears which processes of a
 * command record, into which files, and how that ended (event/announce.h). It has no thread: whoever waits for the
 * command gives it its turns.
 *
 *	TT_TRY(tt_server_open(&server, &(struct tt_server_options){.directory = "/abs/traces"}));
 *	... start the command with TTNN_PROFILE=tt_server_place(server) ...
 *	while (it runs)
 *		tt_server_turn(server, 100, &mask);
 *	... tt_server_processes(&count, server) ...
 *	tt_server_close(server);
 *
 * Anybody may connect. What is no announcement, or has not this server's key, or names a file that is not directly in
 * the directory, is counted and forgotten; a connection has five seconds and 32 KB, and there are never more than
 * TT_SERVER_CONNECTIONS: the oldest gives way. One thread.
 */
#ifndef TT_PROFILE_SERVER_H
#define TT_PROFILE_SERVER_H

#include <signal.h>

#include "base/status.h"

/* Upstream's: the first free one of these is taken, unless one is asked for. */
#define TT_SERVER_PORT 8086
#define TT_SERVER_PORT_LAST 8499

#define TT_SERVER_CONNECTIONS 128

struct tt_server_options {
	int64_t port; /* exactly this one; 0: the system's choice; -1: the first free one from 8086 on */
	const char *directory; /* absolute: where the files of the command are */
};

/* A process of the command, or what it was before an exec(). */
struct tt_server_process {
	uint64_t pid, parent;
	char *command;
	char *file; /* NULL: it has recorded nothing */
	bool ended; /* in order; then the rest is known */
	uint64_t events, operations, lost;
	char *reason;                              /* why records are missing, or "" */
	uint64_t recorded_ns, written_ns, told_ns; /* enum tt_spent */
};

struct tt_server;

/* TTNN_IO, naming the port and what to do, when it is taken. The caller owns *out. */
tt_status tt_server_open(struct tt_server **out, const struct tt_server_options *options);

/* NULL is fine. */
void tt_server_close(struct tt_server *server);

int tt_server_port(const struct tt_server *server);

/* "PORT:KEY", for the environment of the command. Borrowed. */
const char *tt_server_place(const struct tt_server *server);

/*
 * Hears what comes, for so many milliseconds at most; returns earlier when something came, or a signal that `mask`
 * (optional: of ppoll()) lets through.
 */
tt_status tt_server_turn(struct tt_server *server, int milliseconds, const sigset_t *mask);

/* Hears all that was said so far; silent connections are waited for a second. */
tt_status tt_server_drain(struct tt_server *server);

/* All processes, in the order of their first words. Borrowed until the next turn. */
const struct tt_server_process *tt_server_processes(size_t *count, const struct tt_server *server);

/* Connections that told nothing that makes sense. */
uint64_t tt_server_strangers(const struct tt_server *server);

#endif
