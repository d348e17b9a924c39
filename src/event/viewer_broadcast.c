#include "event/viewer_broadcast.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "event/tracy_wire.h"

#define USUAL_PORT 8086
#define THIS_MACHINE 0x7fffffff /* 127.255.255.255 */

tt_status tt_viewer_broadcast_read(struct tt_viewer_broadcast *out, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	size_t length = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
	char address[INET_ADDRSTRLEN];
	long port = USUAL_PORT;
	char *end = NULL;

	*out = (struct tt_viewer_broadcast){.to = {.sin_family = AF_INET}};
	out->to.sin_port = htons(USUAL_PORT);
	out->to.sin_addr.s_addr = htonl(THIS_MACHINE);
	if (!text)
		return TTNN_OK;
	if (colon)
		port = strtol(colon + 1, &end, 10);
	if (length >= sizeof(address) || port < 1 || port > UINT16_MAX || (end && *end))
		return tt_fail(TTNN_INVALID, "%s is no address of IPv4, or no port is behind it",
			       text);
	memcpy(address, text, length);
	address[length] = 0;
	if (inet_pton(AF_INET, address, &out->to.sin_addr) != 1)
		return tt_fail(TTNN_INVALID, "%s is no address of IPv4", address);
	out->to.sin_port = htons((uint16_t)port);
	out->far = ntohl(out->to.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
	return TTNN_OK;
}

void tt_viewer_broadcast_send(const struct tt_viewer_broadcast *broadcast, int port,
			      const char *program)
{
	unsigned char bytes[TT_WIRE_BROADCAST_SIZE];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes));
	tt_wire_broadcast(bytes, (uint16_t)port, (uint64_t)getpid(), program);
	(void)!sendto(fd, bytes, sizeof(bytes), 0, (const struct sockaddr *)&broadcast->to,
		      sizeof(broadcast->to));
	close(fd);
}
