/*
 * viewer_broadcast.h: how viewers hear of a process that listens for them (viewer.h): a datagram now and then, which
 * does not leave this machine unless the environment names other addresses: TTNN_LIVE_ANNOUNCE=ADDRESS[:PORT], which
 * `ttnn profile --announce` sets.
 */
#ifndef TT_EVENT_VIEWER_BROADCAST_H
#define TT_EVENT_VIEWER_BROADCAST_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/status.h"

struct tt_viewer_broadcast {
	struct sockaddr_in to;
	bool far; /* it is for other machines, too */
};

/* Reads an address of IPv4 and the port behind it, if there is one; NULL: all of this machine, on the usual port. */
tt_status tt_viewer_broadcast_read(struct tt_viewer_broadcast *out, const char *text);

/* Says where the process listens. Never waits; nobody has to hear it. */
void tt_viewer_broadcast_send(const struct tt_viewer_broadcast *broadcast, int port,
			      const char *program);

#endif
