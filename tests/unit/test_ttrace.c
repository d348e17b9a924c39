/*
 * .ttrace files that are not whole: killed writers, full disks, cut and damaged files, hostile ones
 * @threads
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/pack.h"
#include "event/ttrace.h"
#include "event_stage.h"

/* ---- helpers ---------------------------------------------------------------------------------------------- */

/* What `count` events of this seed are, heard live. */
static void expect(struct tt_str *out, uint64_t seed, int count)
{
	struct ear ear = {.listener.emit = hear};
	struct stage stage;

	set_stage(&stage, seed);
	CHECK_OK(tt_event_attach(&ear.listener));
	for (int i = 0; i < count; i += 100)
		tell_many(&stage, 100);
	tt_event_detach(&ear.listener);
	*out = ear.lines;
}

/* Records those events; returns what the stop said. */
static tt_status record(const struct tt_capture_options *options, uint64_t seed, int count,
			struct tt_capture_summary *summary)
{
	struct tt_capture *capture;
	struct stage stage;
	tt_status status;

	set_stage(&stage, seed);
	TT_TRY(tt_capture_begin(&capture, options));
	for (int i = 0; i < count; i += 100)
		tell_many(&stage, 100);
	status = tt_capture_stop(summary, capture);
	if (summary && summary->reason)
		CHECK(strstr(summary->reason, "too large"));
	tt_capture_free(capture);
	return status;
}

/* Whether `got` is the beginning of `want`; returns how many lines it has. */
static int check_prefix(const char *got, const char *want)
{
	size_t length = strlen(got);
	int lines = 0;

	if (strncmp(got, want, length) != 0)
		TEST_FAIL("the events are not the first of what was told");
	for (; *got; got++)
		lines += *got == '\n';
	return lines;
}

/* Whether all lines of `got` but those about losses are in `want`, in that order; how many they are. */
static int check_part(const char *got, const char *want)
{
	int lines = 0;

	for (; *got; got += strcspn(got, "\n") + 1) {
		size_t length = strcspn(got, "\n") + 1;

		if (strtol(got, NULL, 10) == TT_EVENT_LOSS)
			continue;
		while (*want && strncmp(got, want, length) != 0)
			want += strcspn(want, "\n") + 1;
		if (!*want) {
			TEST_FAIL("nobody told %.*s", (int)length, got);
			return lines;
		}
		want += length;
		lines++;
	}
	return lines;
}

static int read_prefix(const char *path, const char *want)
{
	struct tt_source *source;
	struct tt_str lines = {0};
	int count;

	CHECK_OK(tt_source_open(&source, path));
	CHECK_OK(read_lines(&lines, source));
	count = check_prefix(tt_str_text(&lines), want);
	tt_str_deinit(&lines);
	tt_source_close(source);
	return count;
}

/* ---- ends that nobody planned ----------------------------------------------------------------------------- */

TEST(a_killed_process_leaves_its_trace)
{
	const char *path = test_path("killed.ttrace");
	struct tt_capture_options options = {.path = path, .flush_ns = 5000000};
	struct stat facts = {0};
	struct tt_str want;
	pid_t child = fork();
	int state;

	if (child == 0) {
		struct tt_capture *capture;
		struct stage stage;

		set_stage(&stage, 5);
		if (tt_capture_begin(&capture, &options) != TTNN_OK)
			_exit(1);
		for (int i = 0; i < 400000; i += 100) {
			tell_many(&stage, 100);
			usleep(1000);
		}
		_exit(0);
	}
	for (int i = 0; i < 1000 && facts.st_size < 60000; i++) {
		usleep(10000);
		if (stat(path, &facts) != 0)
			facts.st_size = 0;
	}
	kill(child, SIGKILL);
	waitpid(child, &state, 0);
	CHECK(WIFSIGNALED(state));
	expect(&want, 5, 20000);
	CHECK(read_prefix(path, tt_str_text(&want)) > 500);
	tt_str_deinit(&want);
}

/* A flight recorder writes nothing by itself: until the signal comes there is no file. */
static void fly(const char *path, int ready)
{
	struct tt_capture_options options = {.path = path, .last_ops = 50, .flush_ns = 5000000};
	struct tt_capture *capture;
	struct stage stage;

	set_stage(&stage, 5);
	if (tt_capture_begin(&capture, &options) != TTNN_OK ||
	    tt_capture_flush_on(SIGUSR2) != TTNN_OK)
		_exit(1);
	for (int i = 0; i < 300; i++)
		tell_many(&stage, 10);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		usleep(100000);
}

TEST(a_signal_flushes)
{
	const char *path = test_path("signal.ttrace");
	struct tt_source *source = NULL;
	int ends[2], state;
	pid_t child;
	char byte;

	CHECK_INT(pipe(ends), 0);
	child = fork();
	if (child == 0)
		fly(path, ends[1]);
	close(ends[1]); /* so that a child that dies does not leave this waiting */
	CHECK_INT(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	usleep(50000);
	CHECK(access(path, F_OK) != 0);
	kill(child, SIGUSR2);
	for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++)
		usleep(10000);
	kill(child, SIGKILL);
	waitpid(child, &state, 0);
	CHECK(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
	CHECK_OK(tt_source_open(&source, path));
	CHECK(source && tt_source_info(source)->operations >= 50);
	CHECK(source && tt_source_info(source)->lost == 0);
	tt_source_close(source);
}

TEST(a_full_disk_loses_the_rest_and_says_so)
{
	const char *path = test_path("full.ttrace");
	struct tt_capture_options options = {.path = path};
	struct rlimit before, limit;
	struct tt_capture_summary summary = {0};
	struct tt_source *source;
	struct stat facts;
	struct tt_str want, got = {0};
	tt_status status;

	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 300000;
	setrlimit(RLIMIT_FSIZE, &limit);
	status = record(&options, 9, 40000, &summary); /* SIGXFSZ does not kill */
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(status == TTNN_OK || status == TTNN_IO); /* the index may fit, or not */
	CHECK(summary.lost > 1000 && summary.reason);
	CHECK(stat(path, &facts) == 0 && facts.st_size <= 300000);
	expect(&want, 9, 40000);
	CHECK_OK(tt_source_open(&source, path));
	CHECK(status != TTNN_OK || tt_source_info(source)->lost == summary.lost);
	CHECK(!tt_source_info(source)->damage); /* whole chunks, and nothing else */
	CHECK_INT(tt_source_info(source)->events, summary.events);
	CHECK_OK(read_lines(&got, source));
	CHECK(check_part(tt_str_text(&got), tt_str_text(&want)) > 500);
	tt_source_close(source);
	tt_str_deinit(&want);
	tt_str_deinit(&got);
}

TEST(a_file_that_cannot_be_made_is_told)
{
	struct tt_capture_options options = {.path = "/nowhere/x.ttrace"};
	struct tt_capture *capture;
	struct tt_source *source;

	CHECK_FAILS(tt_capture_begin(&capture, &options), TTNN_IO, "/nowhere/x.ttrace");
	CHECK_FAILS(tt_source_open(&source, test_path("none.ttrace")), TTNN_NOTFOUND, "none");
	CHECK(!tt_event_on());
}

/* ---- cut, damaged, hostile ---------------------------------------------------------------------------------- */

struct content {
	char *data;
	size_t size;
};

/* A small file of several chunks. */
static void make_small(struct content *out, const char *path)
{
	struct tt_capture_options options = {.path = path};
	struct tt_capture *capture;
	struct stage stage;

	set_stage(&stage, 21);
	CHECK_OK(tt_capture_begin(&capture, &options));
	for (int i = 0; i < 4; i++) {
		tell_many(&stage, 12);
		CHECK_OK(tt_capture_flush(capture));
	}
	tt_capture_free(capture);
	CHECK_OK(tt_file_read(&out->data, &out->size, path));
}

/* Reads as much as there is; -1: it is refused. */
static int read_count(struct tt_str *lines, const void *data, size_t size)
{
	struct tt_source *source;
	tt_status status = tt_source_open_bytes(&source, data, size, "bytes");
	int count = 0;

	if (status != TTNN_OK) {
		CHECK_INT(status, TTNN_FORMAT);
		return -1;
	}
	CHECK_OK(read_lines(lines, source));
	for (size_t i = 0; i < lines->length; i++)
		count += lines->data[i] == '\n';
	tt_source_close(source);
	return count;
}

TEST(a_file_cut_at_any_byte_gives_its_whole_chunks)
{
	struct content whole;
	struct tt_str want = {0};
	int all, before = -1, steps = 0;

	make_small(&whole, test_path("cut.ttrace"));
	all = read_count(&want, whole.data, whole.size);
	CHECK(all >= 48);
	for (size_t size = 0; size <= whole.size; size++) {
		/* As large as it is, so that reading beyond its end is seen. */
		char *cut = malloc(size ? size : 1);
		struct tt_str lines = {0};
		int count;

		memcpy(cut, whole.data, size);
		count = read_count(&lines, cut, size);
		CHECK(count >= before);
		steps += count > before;
		before = count;
		check_prefix(tt_str_text(&lines), tt_str_text(&want));
		tt_str_deinit(&lines);
		free(cut);
	}
	CHECK_INT(before, all);
	CHECK(steps >= 5); /* the head, then chunk by chunk */
	tt_str_deinit(&want);
	tt_free(whole.data);
}

TEST(a_damaged_byte_costs_no_more_than_its_chunk)
{
	struct content whole;
	struct tt_str want = {0};
	int all;

	make_small(&whole, test_path("damaged.ttrace"));
	all = read_count(&want, whole.data, whole.size);
	for (size_t i = 0; i < whole.size; i++) {
		struct tt_str lines = {0};
		int count;

		whole.data[i] ^= 0x20;
		count = read_count(&lines, whole.data, whole.size);
		/* A file whose head is damaged is none; else all but one chunk is there. */
		CHECK(count <= all && (count >= all / 2 || i < 1000));
		whole.data[i] ^= 0x20;
		tt_str_deinit(&lines);
	}
	tt_str_deinit(&want);
	tt_free(whole.data);
}

/* The first chunk of a file, unpacked, behind the head of the file: all in *out. */
static size_t unpack_first(struct content *out, const struct content *whole)
{
	size_t start = TT_TRACE_HEAD_SIZE + tt_get_u32((unsigned char *)whole->data + 12);
	struct tt_chunk_head head;

	CHECK(tt_chunk_head_get(&head, (unsigned char *)whole->data + start));
	out->size = start + TT_CHUNK_HEAD_SIZE + head.raw_size;
	out->data = malloc(out->size);
	memcpy(out->data, whole->data, start);
	CHECK_OK(tt_unpack(out->data + start + TT_CHUNK_HEAD_SIZE, head.raw_size,
			   whole->data + start + TT_CHUNK_HEAD_SIZE, head.stored_size));
	return start;
}

/* Writes the head of a chunk whose content was changed. */
static void seal_again(struct content *content, size_t start)
{
	size_t size = content->size - start - TT_CHUNK_HEAD_SIZE;
	unsigned char *data = (unsigned char *)content->data + start;
	struct tt_chunk_head head = {.type = TT_CHUNK_EVENTS,
				     .raw_size = (uint32_t)size,
				     .stored_size = (uint32_t)size,
				     .events = 1,
				     .tick = (uint64_t)1 << 32};

	head.stored_crc = tt_crc32(0, data + TT_CHUNK_HEAD_SIZE, size);
	tt_chunk_head_put(data, &head);
}

TEST(hostile_records_with_right_checksums_do_no_harm)
{
	struct content whole, first;
	uint64_t random = 1;
	size_t start;
	int most;
	struct tt_str want = {0};

	make_small(&whole, test_path("hostile.ttrace"));
	start = unpack_first(&first, &whole);
	seal_again(&first, start);
	most = read_count(&want, first.data, first.size);
	CHECK(most >= 12);
	for (int i = 0; i < 3000; i++) {
		size_t body = start + TT_CHUNK_HEAD_SIZE;
		struct content copy = {malloc(first.size), first.size};
		struct tt_str lines = {0};

		memcpy(copy.data, first.data, first.size);
		for (uint64_t k = 1 + test_random(&random) % 4; k--;)
			copy.data[body + test_random(&random) % (copy.size - body)] =
				(char)test_random(&random);
		if (i % 3 == 0)
			copy.size -= test_random(&random) % (copy.size - body);
		seal_again(&copy, start);
		CHECK(read_count(&lines, copy.data, copy.size) >= 0);
		tt_str_deinit(&lines);
		free(copy.data);
	}
	tt_str_deinit(&want);
	free(first.data);
	tt_free(whole.data);
}

TEST(other_files_are_refused)
{
	static const char *const texts[] = {"", "{}", "\x89ttrace\n",
					    "\x89PNG\r\n\x1a\n 0123456789012345"};
	struct content whole;
	struct tt_source *source;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_FAILS(tt_source_open_bytes(&source, texts[i], strlen(texts[i]), "it"),
			    TTNN_FORMAT, "it: not a .ttrace file");
	make_small(&whole, test_path("later.ttrace"));
	whole.data[8] = TT_TRACE_VERSION + 1;
	tt_put_u32((unsigned char *)whole.data + 20, tt_crc32(0, whole.data, 20));
	CHECK_FAILS(tt_source_open_bytes(&source, whole.data, whole.size, "it"), TTNN_FORMAT,
		    "version 3");
	tt_free(whole.data);
}

SCENARIO(reading_a_file_while_memory_runs_out)
{
	static struct content whole;
	struct tt_source *source;
	struct tt_str lines = {0};
	tt_status status;

	if (!whole.data) {
		struct content made;

		make_small(&made, test_path("scenario.ttrace"));
		whole = (struct content){malloc(made.size), made.size};
		memcpy(whole.data, made.data, made.size);
		tt_free(made.data);
	}
	TT_TRY(tt_source_open_bytes(&source, whole.data, whole.size, "bytes"));
	status = read_lines(&lines, source);
	tt_source_close(source);
	tt_str_deinit(&lines);
	return status;
}
