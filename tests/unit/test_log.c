/* log lines and the progress bar: @threads */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"

/* What `talk` writes to stderr, in a child with that TTNN_LOG. */
static const char *heard(const char *setting, void (*talk)(void))
{
	static char text[200000];
	size_t length = 0;
	ssize_t got;
	int ends[2];

	fflush(NULL);
	if (pipe(ends) != 0)
		return "";
	if (fork() == 0) {
		setenv("TTNN_LOG", setting, 1);
		dup2(ends[1], STDERR_FILENO);
		talk();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	close(ends[0]);
	wait(NULL);
	text[length] = '\0';
	return text;
}

static void one_of_each(void)
{
	tt_log(TT_LOG_ERROR, "e%d", 1);
	tt_log(TT_LOG_WARN, "w%s", "!");
	tt_log(TT_LOG_INFO, "i");
	tt_log(TT_LOG_DEBUG, "d");
	tt_log_set_level(TT_LOG_ERROR);
	tt_log(TT_LOG_WARN, "not said");
}

TEST(levels)
{
	CHECK_STR(heard("error", one_of_each), "ttnn: error: e1\n");
	CHECK_STR(heard("", one_of_each), "ttnn: error: e1\nttnn: warning: w!\n");
	CHECK_STR(heard("nonsense", one_of_each), "ttnn: error: e1\nttnn: warning: w!\n");
	CHECK_STR(heard("info", one_of_each), "ttnn: error: e1\nttnn: warning: w!\nttnn: i\n");
	CHECK_STR(heard("debug", one_of_each),
		  "ttnn: error: e1\nttnn: warning: w!\nttnn: i\nttnn: debug: d\n");
}

static void say_once(void)
{
	for (int i = 0; i < 5; i++)
		TT_LOG_ONCE(TT_LOG_WARN, "number %d", i);
	errno = 77;
	tt_log(TT_LOG_WARN, "another");
	if (errno != 77)
		tt_log(TT_LOG_ERROR, "errno was changed");
}

static void say_much(void)
{
	static char text[10000];

	memset(text, 'x', sizeof(text) - 1);
	tt_log(TT_LOG_WARN, "%s", text);
}

TEST(once_and_cut)
{
	const char *text;

	CHECK_STR(heard("", say_once), "ttnn: warning: number 0\nttnn: warning: another\n");
	text = heard("", say_much);
	CHECK_INT(strlen(text), 4095);
	CHECK_INT(text[4094], '\n');
}

static void *chatter(void *unused)
{
	for (int i = 0; i < 200; i++)
		tt_log(TT_LOG_WARN, "abcdefghijklmnopqrstuvwxyz");
	return unused;
}

static void chatter_of_four(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, chatter, NULL) != 0)
			_exit(1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Runs in this process: under the thread sanitizer a child has no threads. */
TEST(lines_do_not_mix)
{
	static const char line[] = "ttnn: warning: abcdefghijklmnopqrstuvwxyz\n";
	const char *path = test_path("log");
	int old = dup(STDERR_FILENO), file = open(path, O_CREAT | O_RDWR | O_APPEND, 0600);
	char got[sizeof(line)];
	int count = 0;

	dup2(file, STDERR_FILENO);
	chatter_of_four();
	dup2(old, STDERR_FILENO);
	close(old);
	lseek(file, 0, SEEK_SET);
	while (read(file, got, sizeof(line) - 1) == sizeof(line) - 1)
		count += memcmp(got, line, sizeof(line) - 1) == 0;
	close(file);
	CHECK_INT(count, 800);
}

TEST(bar_texts)
{
	static const struct {
		uint64_t total, done, tenths;
		size_t columns;
		const char *text;
	} rows[] = {
		{100, 50, 10, 80,
		 "work [####################                    ]  50%  50/100  50/s  0:01 left"},
		{100, 25, 10, 57, "work [#####              ]  25%  25/100  25/s  0:03 left"},
		{100, 25, 10, 46, "work  25%  25/100  25/s  0:03 left"},
		{100, 25, 10, 20, "work  25%  25/100  "},
		{2600000, 1200000, 34, 60,
		 "work [########         ]  46%  1.2M/2.6M  353k/s  0:04 left"},
		{0, 999600, 20, 60, "work  1.0M  500k/s"},
		{1000000, 10, 10, 40, "work   0%  10/1.0M  10/s  27:46:39 left"},
		{10, 20, 10, 60, "work [#######################] 100%  20/10  20/s  0:00 left"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_progress progress = {.label = "work", .total = rows[i].total};
		char text[256];

		atomic_store(&progress.done, rows[i].done);
		tt_progress_text(text, sizeof(text), &progress, rows[i].tenths * 100000000,
				 rows[i].columns);
		CHECK_STR(text, rows[i].text);
	}
}

/* Time in which nothing is counted is none of the rate. */
TEST(bar_without_a_time)
{
	struct tt_progress progress;
	char text[256];
	uint64_t start;

	tt_progress_init(&progress, "work", 100);
	progress.on = false;
	start = progress.start_ns;
	tt_progress_add(&progress, 10);
	tt_progress_text(text, sizeof(text), &progress, start + 60000000000, 40);
	CHECK_STR(text, "work  10%  10/100  0/s  9:00 left");
	tt_progress_leave_out(&progress, 50000000000);
	tt_progress_text(text, sizeof(text), &progress, start + 60000000000, 40);
	CHECK_STR(text, "work  10%  10/100  1/s  1:30 left");
	tt_progress_deinit(&progress);
}

static void bar_in_a_pipe(void)
{
	struct tt_progress progress;

	tt_progress_init(&progress, "work", 10);
	progress.start_ns -= 5000000000;
	atomic_store(&progress.next_ns, 0);
	tt_progress_add(&progress, 5);
	tt_progress_deinit(&progress);
}

/* In a child whose stderr is a terminal of 60 columns. */
static void bar_on_a_terminal(int terminal)
{
	struct winsize size = {.ws_row = 24, .ws_col = 60};
	struct tt_progress progress;

	ioctl(terminal, TIOCSWINSZ, &size);
	dup2(terminal, STDERR_FILENO);
	tt_progress_init(&progress, "work", 100);
	tt_progress_add(&progress, 1); /* too early to be shown */
	progress.start_ns -= 49000000000;
	atomic_store(&progress.next_ns, 0);
	tt_progress_add(&progress, 48);
	tt_progress_add(&progress, 1); /* too soon after the last */
	tt_log(TT_LOG_WARN, "in between");
	tt_progress_deinit(&progress);
}

TEST(bars_are_for_terminals)
{
	static const char expected[] = "work [############           ]  49%  49/100  1/s  0:51 left"
				       "\r\033[Kttnn: warning: in between\r\n\r\033[K";
	int master = posix_openpt(O_RDWR | O_NOCTTY), terminal = -1;
	struct pollfd ready = {.fd = master, .events = POLLIN};
	char text[1000];
	size_t length = 0;

	CHECK_STR(heard("", bar_in_a_pipe), "");
	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (terminal < 0) { /* a bare container may have no pseudo-terminals at all */
		printf("no terminal can be had here: the bar is not tested\n");
		close(master);
		return;
	}
	fflush(NULL);
	if (fork() == 0) {
		bar_on_a_terminal(terminal);
		_exit(0);
	}
	wait(NULL);
	/* The kernel hands on what was written in its own time, in as many pieces as it likes. */
	while (length < sizeof(expected) - 1 && poll(&ready, 1, 10000) > 0) {
		ssize_t got = read(master, text + length, sizeof(text) - 1 - length);

		if (got <= 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	CHECK_STR(text, expected);
	close(terminal);
	close(master);
}
