/*
 * announce.h: what a process tells the server of `ttnn profile` (profile/server.h): that it records, into which file,
 * and how that ended. The server's place is in the environment: TTNN_PROFILE=PORT:KEY, on this machine.
 *
 *	+----------------+---------+---------+----------+-------------------------------------------+
 *	| 89 "ttprof" 0a | version | length  | checksum | the body, as records hold numbers and     |
 *	| 8 bytes        | 32 bits | of body | of body  | texts: kind, key, then TT_ANNOUNCED_LIST  |
 *	+----------------+---------+---------+----------+-------------------------------------------+
 *
 * A connection carries one announcement, and nothing comes back: a process never waits for the server. Connecting is
 * given up after a fifth of a second, and for good after the first failure: the recording is complete without it.
 */
#ifndef TT_EVENT_ANNOUNCE_H
#define TT_EVENT_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>
#include <ttnn.h>

#include "base/str.h"

#define TT_ANNOUNCE_MAGIC "\x89ttprof\n"
#define TT_ANNOUNCE_VERSION 1
#define TT_ANNOUNCE_HEAD_SIZE 20
/* A body that claims more is none of ours: a command line is cut at 4096 bytes. */
#define TT_ANNOUNCE_BODY_MAX 32768

enum tt_announce_kind {
	TT_ANNOUNCE_FILE, /* the process has made its file, and records */
	TT_ANNOUNCE_END,  /* it ends in order */
	TT_ANNOUNCE_KINDS,
};

/* Fields behind kind and key; X(number, name) or X(text, name). Fields are only ever added at the end. */
#define TT_ANNOUNCED_LIST(X)                                                                       \
	X(number, pid)                                                                             \
	X(number, parent)                                                                          \
	X(text, command)                                                                           \
	X(text, file)     /* of FILE: absolute */                                                  \
	X(number, events) /* of END, as the rest */                                                \
	X(number, operations)                                                                      \
	X(number, lost)                                                                            \
	X(text, reason)        /* why records are missing */                                       \
	X(number, recorded_ns) /* what it cost: enum tt_spent */                                   \
	X(number, written_ns)                                                                      \
	X(number, told_ns)

/* Texts are borrowed, and may be NULL. */
struct tt_announcement {
	enum tt_announce_kind kind;
	const char *key;
#define TT_ANNOUNCED_number(name) uint64_t name;
#define TT_ANNOUNCED_text(name) const char *name;
#define TT_X(form, name) TT_ANNOUNCED_##form(name)
	TT_ANNOUNCED_LIST(TT_X)
#undef TT_X
#undef TT_ANNOUNCED_number
#undef TT_ANNOUNCED_text
};

/* Appends the bytes of an announcement: for the connection, and for tests of its reader. */
void tt_announcement_add(struct tt_str *out, const struct tt_announcement *told);

/* Sends one to the server at "PORT:KEY"; false when it could not be reached in time. Any thread. */
bool tt_announce(const struct tt_announcement *told, const char *place);

/*
 * The process's own words, said if the environment names a server and a trace goes to its directory: that its file is
 * made, and how it ended. Children after fork() speak for themselves. Never fails.
 */
void tt_announce_file(const char *path);
void tt_announce_end(const struct ttnn_trace_summary *summary);

/* What a profile costs the process, for its last word. */
enum tt_spent {
	TT_SPENT_RECORDING, /* time of threads that tell, estimated from the calls that were measured */
	TT_SPENT_WRITING,  /* processor time of threads that pack and write */
	TT_SPENT_EMITTING, /* time until the server was told */
	TT_SPENT_KINDS,
};
void tt_announce_spent(enum tt_spent kind, uint64_t ns);

/* Whether a server wants to know what recording costs. */
bool tt_announce_wanted(void);

#endif
