#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define SECOND UINT64_C(1000000000)
#define FIRST_AFTER SECOND
#define EVERY (SECOND / 10)
#define TEXT_MOST 512

/* Three digits and a suffix: 999, 1.2k, 35k, 1.2M. */
static void count_text(char out[16], double count)
{
	static const char suffixes[] = " kMGTPE";
	size_t step = 0;

	while (count >= 999.5 && step + 2 < sizeof(suffixes)) {
		count /= 1000;
		step++;
	}
	snprintf(out, 16, "%.*f%c", step && count < 9.95 ? 1 : 0, count, suffixes[step]);
	if (!step)
		out[strlen(out) - 1] = '\0';
}

static void time_text(char out[24], double seconds)
{
	unsigned long all = seconds < 1e8 ? (unsigned long)(seconds + 0.5) : 100000000;

	if (all < 3600)
		snprintf(out, 24, "%lu:%02lu", all / 60, all % 60);
	else
		snprintf(out, 24, "%lu:%02lu:%02lu", all / 3600, all / 60 % 60, all % 60);
}

static void append(char *out, size_t room, const char *text)
{
	strncat(out, text, room - strlen(out) - 1);
}

static void append_bar(char *out, size_t room, double part, size_t width)
{
	append(out, room, " [");
	for (size_t i = 0; i < width; i++)
		append(out, room, (double)i < part * (double)width ? "#" : " ");
	append(out, room, "]");
}

void tt_progress_text(char *out, size_t room, const struct tt_progress *progress, uint64_t now_ns,
		      size_t columns)
{
	double done = (double)atomic_load_explicit(&progress->done, memory_order_relaxed);
	double total = (double)progress->total, part = total > 0 ? done / total : 0;
	double seconds = (double)(now_ns - progress->start_ns) / (double)SECOND;
	double rate = seconds > 0 ? done / seconds : 0;
	char counts[3][16], left[24], numbers[128];
	size_t taken;

	part = part > 1 ? 1 : part;
	count_text(counts[0], done);
	count_text(counts[1], total);
	count_text(counts[2], rate);
	time_text(left, rate > 0 && total > done ? (total - done) / rate : 0);
	if (total > 0)
		snprintf(numbers, sizeof(numbers), " %3.0f%%  %s/%s  %s/s  %s left", 100 * part,
			 counts[0], counts[1], counts[2], left);
	else
		snprintf(numbers, sizeof(numbers), "  %s  %s/s", counts[0], counts[2]);
	snprintf(out, room, "%s", progress->label);
	/* A bar of ten or more columns, or none; the last column stays free. */
	taken = strlen(out) + strlen(numbers) + 4;
	if (total > 0 && columns >= taken + 10)
		append_bar(out, room, part, columns - taken > 40 ? 40 : columns - taken);
	append(out, room, numbers);
	if (columns && strlen(out) >= columns)
		out[columns - 1] = '\0';
}

void tt_progress_init(struct tt_progress *progress, const char *label, uint64_t total)
{
	memset(progress, 0, sizeof(*progress));
	progress->label = label;
	progress->total = total;
	progress->start_ns = tt_clock_ns();
	atomic_store(&progress->next_ns, progress->start_ns + FIRST_AFTER);
	progress->on = isatty(STDERR_FILENO);
}

static void draw(struct tt_progress *progress, uint64_t now)
{
	char text[TEXT_MOST];
	struct winsize size;
	size_t columns = 80;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		columns = size.ws_col < TEXT_MOST ? size.ws_col : TEXT_MOST;
	tt_progress_text(text, sizeof(text), progress, now, columns);
	tt_log_write(text, strlen(text));
	atomic_store(&progress->shown, true);
}

void tt_progress_add(struct tt_progress *progress, uint64_t count)
{
	uint_least64_t next = atomic_load_explicit(&progress->next_ns, memory_order_relaxed);
	uint64_t now;

	atomic_fetch_add_explicit(&progress->done, count, memory_order_relaxed);
	if (!progress->on)
		return;
	now = tt_clock_ns();
	/* Who moves the time on is the one who draws. */
	if (now >= next && atomic_compare_exchange_strong(&progress->next_ns, &next, now + EVERY))
		draw(progress, now);
}

void tt_progress_leave_out(struct tt_progress *progress, uint64_t nanoseconds)
{
	uint64_t soon = tt_clock_ns() + EVERY; /* a rate wants some time */

	progress->start_ns += nanoseconds;
	if (atomic_load(&progress->next_ns) < soon)
		atomic_store(&progress->next_ns, soon);
}

void tt_progress_deinit(struct tt_progress *progress)
{
	static const char erase[] = "\r\033[K";

	if (atomic_exchange(&progress->shown, false))
		tt_log_write(erase, sizeof(erase) - 1);
	progress->on = false;
}
