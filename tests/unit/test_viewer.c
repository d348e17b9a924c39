/* A viewer that is too slow: nobody waits for it, and what it misses is counted. @threads */
#include "event/viewer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "event/viewer_queue.h"
#include "test.h"

#define ZONES 1000000 /* more than the queue holds */

static int free_port(void)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(place);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&place, sizeof(place)) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&place, &size) == 0);
	close(fd);
	return ntohs(place.sin_port);
}

static int attach(int port)
{
	static const unsigned char hello[12] = {'T', 'r', 'a', 'c', 'y', 'P', 'r', 'f', 66};
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
	unsigned char status = 0;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	CHECK_INT(connect(fd, (struct sockaddr *)&place, sizeof(place)), 0);
	CHECK_INT(send(fd, hello, sizeof(hello), MSG_NOSIGNAL), 12);
	CHECK_INT(recv(fd, &status, 1, MSG_WAITALL), 1);
	CHECK_INT(status, 1);
	return fd;
}

TEST(a_slow_viewer_is_not_waited_for)
{
	struct tt_event begin = {.kind = TT_EVENT_ZONE_BEGIN, .zone = {.name = "zone"}};
	struct tt_event end = {.kind = TT_EVENT_ZONE_END};
	int fd, port = free_port();
	char text[16];
	uint64_t began;

	CHECK(!tt_event_profile_on());
	snprintf(text, sizeof(text), "%d", port);
	setenv("TTNN_LIVE", text, 1);
	tt_viewer_from_environment();
	CHECK(tt_event_on() && tt_event_profile_on());
	fd = attach(port);
	began = tt_clock_ns();
	for (int i = 0; i < ZONES; i++) {
		tt_event_emit(&begin);
		tt_event_emit(&end);
	}
	CHECK(tt_clock_ns() - began < UINT64_C(60000000000));
	CHECK(tt_viewer_lost() > 0 && tt_viewer_lost() < ZONES);
	close(fd); /* in the middle */
	for (int i = 0; i < 500 && !tt_viewer_is_empty(); i++)
		usleep(10000);
	CHECK(tt_viewer_is_empty());
	tt_event_emit(&begin); /* nobody hears it any more */
	CHECK(tt_viewer_is_empty());
	printf("# %.0f ns for each zone\n", (double)(tt_clock_ns() - began) / ZONES);
}
