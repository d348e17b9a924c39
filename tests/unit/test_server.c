/* The server of a profile and its clients: ports, announcements, garbage, many at once. */
#include "profile/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "event/announce.h"
#include "profile/announcement.h"
#include "test.h"

static struct tt_server *opened(int64_t port)
{
	struct tt_server *server = NULL;

	CHECK_OK(tt_server_open(&server,
				&(struct tt_server_options){.port = port, .directory = "/t"}));
	return server;
}

static int connected(const struct tt_server *server)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)tt_server_port(server)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&place, sizeof(place)), 0);
	return fd;
}

static void say(const struct tt_server *server, const void *data, size_t size)
{
	int fd = connected(server);

	CHECK_INT(send(fd, data, size, MSG_NOSIGNAL), (ssize_t)size);
	close(fd);
}

static size_t process_count(const struct tt_server *server)
{
	size_t count;

	tt_server_processes(&count, server);
	return count;
}

TEST(a_process_tells_its_file_and_its_end)
{
	struct tt_server *server = opened(0);
	const struct tt_server_process *found;
	size_t count;

	CHECK(tt_announce(&(struct tt_announcement){.kind = TT_ANNOUNCE_FILE,
						    .pid = 7,
						    .parent = 3,
						    .command = "python x.py",
						    .file = "/t/python-7.ttrace"},
			  tt_server_place(server)));
	CHECK(tt_announce(&(struct tt_announcement){.kind = TT_ANNOUNCE_END,
						    .pid = 7,
						    .events = 100,
						    .operations = 10,
						    .lost = 2,
						    .reason = "the disk is full",
						    .recorded_ns = 5000,
						    .written_ns = 60,
						    .told_ns = 70},
			  tt_server_place(server)));
	/* One that did nothing has no file, and an exec() has the same number. */
	CHECK(tt_announce(&(struct tt_announcement){.kind = TT_ANNOUNCE_END, .pid = 7},
			  tt_server_place(server)));
	CHECK_OK(tt_server_drain(server));
	found = tt_server_processes(&count, server);
	CHECK_INT(count, 2);
	CHECK_INT(found[0].pid, 7);
	CHECK_INT(found[0].parent, 3);
	CHECK_STR(found[0].command, "python x.py");
	CHECK_STR(found[0].file, "/t/python-7.ttrace");
	CHECK(found[0].ended);
	CHECK_INT(found[0].events, 100);
	CHECK_INT(found[0].operations, 10);
	CHECK_INT(found[0].lost, 2);
	CHECK_STR(found[0].reason, "the disk is full");
	CHECK_INT(found[0].recorded_ns, 5000);
	CHECK_INT(found[0].written_ns, 60);
	CHECK_INT(found[0].told_ns, 70);
	CHECK(found[1].ended && !found[1].file);
	CHECK_INT(tt_server_strangers(server), 0);
	tt_server_close(server);
}

TEST(a_port_is_taken_once)
{
	struct tt_server *first = opened(-1), *second = opened(-1), *third = NULL;

	CHECK(tt_server_port(first) >= TT_SERVER_PORT);
	CHECK(tt_server_port(second) > tt_server_port(first));
	CHECK_FAILS(
		tt_server_open(&third, &(struct tt_server_options){.port = tt_server_port(first),
								   .directory = "/t"}),
		TTNN_IO, "is taken by another process");
	CHECK(strstr(ttnn_error(), "-p"));
	tt_server_close(first);
	tt_server_close(second);
}

TEST(a_server_that_is_gone_costs_nothing)
{
	struct tt_server *server = opened(0);
	char place[64];
	uint64_t began;

	snprintf(place, sizeof(place), "%s", tt_server_place(server));
	tt_server_close(server);
	began = tt_clock_ns();
	CHECK(!tt_announce(&(struct tt_announcement){.pid = 1}, place));
	CHECK(tt_clock_ns() - began < 50000000);
	for (const char *const *wrong =
		     (const char *const[]){"", "8086", ":", "x:y", "70000:a", "-1:a", "0:a", NULL};
	     *wrong; wrong++)
		CHECK(!tt_announce(&(struct tt_announcement){.pid = 1}, *wrong));
}

/* Backlogs are long, so a server that is stopped hears everybody when it goes on; nobody has waited. */
TEST(nobody_waits_for_a_server_that_does_not_look)
{
	struct tt_server *server = opened(0);
	uint64_t began = tt_clock_ns();
	char file[64];

	for (int i = 0; i < 300; i++) {
		snprintf(file, sizeof(file), "/t/p-%d.ttrace", i);
		CHECK(tt_announce(&(struct tt_announcement){.kind = TT_ANNOUNCE_FILE,
							    .pid = (uint64_t)i,
							    .file = file},
				  tt_server_place(server)));
	}
	CHECK(tt_clock_ns() - began < 2000000000);
	CHECK_OK(tt_server_drain(server));
	CHECK_INT(process_count(server), 300);
	tt_server_close(server);
}

/* What strangers say: of the web, of another profile, files of others, too much, too little, wrong numbers. */
TEST(garbage_is_counted_and_forgotten)
{
	struct tt_server *server = opened(0), *other = opened(0);
	struct tt_announcement told = {.kind = TT_ANNOUNCE_FILE, .file = "/t/x.ttrace"};
	struct tt_str bytes = {0};
	char zeros[100000] = {0};
	unsigned char *at;
	static const char *const files[] = {"/etc/passwd",
					    "/t/../etc/x.ttrace",
					    "/t/sub/x.ttrace",
					    "/t/x.csv",
					    "/tt/x.ttrace",
					    "x.ttrace",
					    ""};

	say(server, "GET / HTTP/1.1\r\n\r\n", 18);
	say(server, zeros, 1);
	say(server, TT_ANNOUNCE_MAGIC, 8);
	CHECK_OK(tt_server_drain(server));
	CHECK_INT(tt_server_strangers(server), 3);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		told.file = files[i];
		tt_announce(&told, tt_server_place(server));
	}
	told.file = "/t/x.ttrace";
	tt_announcement_add(&bytes, &told); /* without a key */
	say(server, bytes.data, bytes.length);
	at = (unsigned char *)bytes.data;
	at[bytes.length - 1] ^= 1; /* the checksum */
	say(server, bytes.data, bytes.length);
	memset(at + 12, 0xff, 4); /* the length */
	say(server, bytes.data, bytes.length);
	at[8] = 9; /* the version */
	say(server, bytes.data, bytes.length);
	CHECK_OK(tt_server_drain(server));
	CHECK_INT(tt_server_strangers(server), 14);
	CHECK_INT(process_count(server), 0);
	/* And the right one is heard all the same. */
	CHECK(tt_announce(&told, tt_server_place(server)));
	CHECK_OK(tt_server_drain(server));
	CHECK_INT(process_count(server), 1);
	tt_str_deinit(&bytes);
	tt_server_close(other);
	tt_server_close(server);
}

/* Those who connect and say nothing lose their places to others; nobody else does. */
TEST(silent_connections_give_way)
{
	struct tt_server *server = opened(0);
	int fds[TT_SERVER_CONNECTIONS + 20];
	const size_t count = sizeof(fds) / sizeof(fds[0]);
	struct tt_announcement told = {.kind = TT_ANNOUNCE_FILE, .file = "/t/x.ttrace"};

	for (size_t i = 0; i < count; i++)
		fds[i] = connected(server);
	CHECK(tt_announce(&told, tt_server_place(server)));
	CHECK_OK(tt_server_turn(server, 0, NULL));
	CHECK_OK(tt_server_turn(server, 0, NULL));
	CHECK_INT(process_count(server), 1);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	CHECK_OK(tt_server_drain(server));
	tt_server_close(server);
}

/* Byte by byte, with others in between. */
TEST(an_announcement_may_come_in_parts)
{
	struct tt_server *server = opened(0);
	struct tt_announcement told = {.kind = TT_ANNOUNCE_FILE, .file = "/t/x.ttrace", .pid = 5};
	struct tt_str bytes = {0};
	int fd = connected(server);

	told.key = strchr(tt_server_place(server), ':') + 1;
	tt_announcement_add(&bytes, &told);
	for (size_t i = 0; i < bytes.length; i++) {
		CHECK_INT(process_count(server), 0);
		CHECK_INT(send(fd, bytes.data + i, 1, MSG_NOSIGNAL), 1);
		CHECK_OK(tt_server_turn(server, 1, NULL));
	}
	for (int i = 0; i < 100 && !process_count(server); i++)
		CHECK_OK(tt_server_turn(server, 10, NULL));
	CHECK_INT(process_count(server), 1);
	close(fd);
	tt_str_deinit(&bytes);
	tt_server_close(server);
}

static tt_status hear_two(struct tt_server *server)
{
	struct tt_announcement told = {
		.kind = TT_ANNOUNCE_FILE, .file = "/t/x.ttrace", .pid = 5, .command = "x"};
	struct tt_announcement end = {.kind = TT_ANNOUNCE_END, .pid = 5, .reason = "y"};

	tt_announce(&told, tt_server_place(server));
	tt_announce(&end, tt_server_place(server));
	return tt_server_drain(server);
}

SCENARIO(memory_runs_out)
{
	struct tt_server *server;
	tt_status status;

	TT_TRY(tt_server_open(&server, &(struct tt_server_options){.directory = "/t"}));
	status = hear_two(server);
	tt_server_close(server);
	return status;
}
