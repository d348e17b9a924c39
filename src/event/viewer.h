/*
 * viewer.h: the process as a client of Tracy, to which viewers attach while it runs: TTNN_LIVE=PORT in the
 * environment, which `ttnn profile --live` sets. The process listens on that port or on the next one that is free, of
 * this machine alone unless viewers of other machines are told of it (viewer_broadcast.h).
 *
 * What happens is put into a queue of fixed length, which a thread of its own sends. From the beginning of the
 * process on, up to a full queue: a viewer that comes in time sees all. After that what happens from its coming on.
 * With a viewer that is too slow zones are left out, each with its end, and counted: nobody ever waits for it. There
 * is one viewer in the life of a process; others are told so. A forked child begins anew, on a port of its own.
 *
 * At its end the process gives a viewer that takes what is left a few seconds for it; with TRACY_NO_EXIT=1 it waits
 * for one to come.
 */
#ifndef TT_EVENT_VIEWER_H
#define TT_EVENT_VIEWER_H

/* Begins if the environment says so. Complains on stderr. */
void tt_viewer_from_environment(void);

#endif
