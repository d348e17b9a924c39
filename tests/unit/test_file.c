/* reading, unpacking, mapping and atomic writing of files: @threads */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ttnn_frontend.h>
#include <zlib.h>

#include "base/file.h"

static void check_content(const char *path, const char *want, size_t want_size)
{
	size_t size = 0;
	char *data = NULL;

	CHECK_OK(tt_file_read(&data, &size, path));
	CHECK_INT(size, want_size);
	CHECK(data && size == want_size && memcmp(data, want, size) == 0);
	for (int i = 0; data && i < TT_FILE_PAD; i++)
		CHECK_INT(data[size + i], 0);
	tt_free(data);
}

/* Files in the test directory: an unfinished one left behind is a failure. */
static int files_left(void)
{
	DIR *dir = opendir(test_directory);
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

TEST(what_is_saved_is_read)
{
	const char *path = test_path("x");
	size_t big = 300000;
	char *data = malloc(big);

	for (size_t i = 0; i < big; i++)
		data[i] = (char)(i * 31 >> 3);
	CHECK_OK(tt_file_save(path, "", 0));
	check_content(path, "", 0);
	CHECK_OK(tt_file_save(path, data, big));
	check_content(path, data, big);
	CHECK_INT(files_left(), 1);
	remove(path);
	free(data);
}

TEST(many_small_writes)
{
	const char *path = test_path("x");
	struct tt_file_out *file;
	char want[200000];

	CHECK_OK(tt_file_create(&file, path));
	CHECK(access(path, F_OK) != 0); /* nothing under the name before the commit */
	for (size_t i = 0, n; i < sizeof(want); i += n) {
		n = 1 + i % 977;
		n = n < sizeof(want) - i ? n : sizeof(want) - i;
		memset(want + i, (int)n, n);
		tt_file_write(file, want + i, n);
	}
	CHECK_OK(tt_file_status(file));
	CHECK_OK(tt_file_commit(file));
	check_content(path, want, sizeof(want));
	remove(path);
}

TEST(a_failed_write_keeps_the_old_file)
{
	const char *path = test_path("x");
	struct rlimit old, small = {100000, RLIM_INFINITY};
	struct tt_file_out *file;
	static char zeros[400000];

	CHECK_OK(tt_file_save(path, "old", 3));
	CHECK_OK(tt_file_create(&file, path));
	tt_file_write(file, "new", 3);
	tt_file_discard(file);
	check_content(path, "old", 3);
	/* A size limit gives a short write, then an error: as a full disk does. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_FAILS(tt_file_save(path, zeros, sizeof(zeros)), TTNN_IO, "x: cannot write: File too");
	setrlimit(RLIMIT_FSIZE, &old);
	check_content(path, "old", 3);
	CHECK_INT(files_left(), 1);
	remove(path);
	tt_file_discard(NULL);
}

TEST(links_modes_and_devices)
{
	const char *path = test_path("x"), *link = test_path("link");
	struct stat info;

	CHECK_OK(tt_file_save(path, "old", 3));
	chmod(path, 0640);
	CHECK_INT(symlink("x", link), 0);
	CHECK_OK(tt_file_save(link, "new", 3));
	check_content(path, "new", 3);
	CHECK(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
	CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == 0640);
	CHECK_OK(tt_file_save("/dev/null", "gone", 4));
	CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
	CHECK_FAILS(tt_file_save("/dev/full", "x", 1), TTNN_IO,
		    "/dev/full: cannot write: No space");
	CHECK_FAILS(tt_file_save(test_directory, "x", 1), TTNN_IO, "Is a directory");
	CHECK_FAILS(tt_file_save(test_path("no/x"), "x", 1), TTNN_NOTFOUND, "no/x: cannot create");
	remove(path);
	remove(link);
	CHECK_INT(files_left(), 0);
}

TEST(what_cannot_be_read)
{
	struct tt_file_map map;
	size_t size;
	char *data;

	CHECK_FAILS(tt_file_read(&data, &size, "/no/file"), TTNN_NOTFOUND, "/no/file: cannot open");
	CHECK_FAILS(tt_file_read(&data, &size, "/tmp"), TTNN_IO, "/tmp: cannot read: Is a dir");
	CHECK_FAILS(tt_file_map(&map, "/no/file"), TTNN_NOTFOUND, "/no/file: cannot open");
	CHECK_FAILS(tt_file_map(&map, "/tmp"), TTNN_IO, "/tmp: cannot read: Is a directory");
}

/* A pipe has no size and no places; what came through it has. */
TEST(pipes_are_read_as_files)
{
	struct tt_file_map map;
	char path[32], text[4] = "";
	size_t size;
	int ends[2], fd;

	CHECK_INT(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	CHECK_INT(write(ends[1], "pipe", 4), 4);
	close(ends[1]);
	CHECK_OK(tt_file_open(&fd, &size, path));
	CHECK_INT(size, 4);
	CHECK_INT(pread(fd, text, 3, 1), 3);
	CHECK(memcmp(text, "ipe", 3) == 0);
	close(fd);
	close(ends[0]);
	CHECK_OK(tt_file_map(&map, "/dev/null"));
	CHECK_INT(map.size, 0);
	tt_file_unmap(&map);
}

static bool say_no(void)
{
	return false;
}

/* If nobody gives up there is an end all the same, so that the test fails. */
static void *close_late(void *end)
{
	struct pollfd asked = {.fd = *(int *)end, .events = 0};

	poll(&asked, 1, 20000);
	close(asked.fd);
	return NULL;
}

/* Nothing comes through the pipe, and whoever waits does not want it any more. */
TEST(a_pipe_can_be_given_up)
{
	for (int way = 0; way < 2; way++) {
		int ends[2], fd;
		pthread_t closer;
		char path[32], *data;
		size_t size;

		CHECK_INT(pipe(ends), 0);
		snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
		pthread_create(&closer, NULL, close_late, &ends[1]);
		ttnn_set_poll(say_no);
		if (way)
			CHECK_FAILS(tt_file_open(&fd, &size, path), TTNN_CANCELLED, path);
		else
			CHECK_FAILS(tt_file_read(&data, &size, path), TTNN_CANCELLED, path);
		ttnn_set_poll(NULL);
		close(ends[0]); /* wakes who would close it */
		pthread_join(closer, NULL);
	}
}

/* The temporary name beside a file does not grow with its name. */
TEST(the_longest_name)
{
	char name[256];
	const char *path;

	memset(name, 'n', 255);
	name[255] = 0;
	path = test_path(name);
	CHECK_OK(tt_file_save(path, "abc", 3));
	check_content(path, "abc", 3);
	CHECK_OK(tt_file_save_new(path, "abcd", 4));
	check_content(path, "abcd", 4);
	CHECK_INT(files_left(), 1);
	remove(path);
}

TEST(files_without_a_size)
{
	size_t size = 0;
	char *data = NULL;

	CHECK_OK(tt_file_read(&data, &size, "/proc/self/maps"));
	CHECK(size > 1000 && strlen(data) == size);
	tt_free(data);
}

TEST(mapping)
{
	const char *path = test_path("x");
	struct tt_file_map map = {0};

	tt_file_unmap(&map);
	CHECK_OK(tt_file_save(path, "abc", 3));
	CHECK_OK(tt_file_map(&map, path));
	CHECK(map.size == 3 && memcmp(map.data, "abc", 3) == 0);
	tt_file_unmap(&map);
	CHECK_OK(tt_file_save(path, "", 0));
	CHECK_OK(tt_file_map(&map, path));
	CHECK(map.size == 0 && map.data);
	tt_file_unmap(&map);
	remove(path);
}

/* Appends a gzip member, made by zlib's own writer. */
static void gzip_append(const char *path, const void *data, unsigned size)
{
	gzFile file = gzopen(path, "ab");

	CHECK_INT(gzwrite(file, data, size), size);
	gzclose(file);
}

static void check_unpacked(const char *path, const char *want, size_t length)
{
	char *data = calloc(1, length);
	size_t size = 0;
	int fd;

	CHECK_OK(tt_file_open_unpacked(&fd, &size, path));
	CHECK_INT(size, length);
	CHECK_OK(tt_file_read_at(fd, data, length, 0, path));
	CHECK(memcmp(data, want, length) == 0);
	CHECK_OK(tt_file_read_at(fd, data, 3, length - 3, path));
	CHECK(memcmp(data, want + length - 3, 3) == 0);
	CHECK_FAILS(tt_file_read_at(fd, data, 4, length - 3, path), TTNN_IO, "became shorter");
	close(fd);
	free(data);
}

TEST(parts_of_files)
{
	const char *path = test_path("parts");
	size_t size;
	int fd;

	CHECK_OK(tt_file_save(path, "abcdef", 6));
	check_unpacked(path, "abcdef", 6);
	remove(path);
	CHECK_FAILS(tt_file_open_unpacked(&fd, &size, path), TTNN_NOTFOUND, "cannot open");
	CHECK_FAILS(tt_file_open_unpacked(&fd, &size, "/"), TTNN_IO, "cannot read: Is a directory");
}

TEST(files_without_a_name)
{
	struct tt_file_out *file;
	char data[6] = "";
	size_t size;
	int fd;

	CHECK_FAILS(tt_file_create_nameless(&file, test_path("none")), TTNN_NOTFOUND,
		    "cannot create");
	CHECK_OK(tt_file_create_nameless(&file, "."));
	tt_file_write(file, "hello", 5);
	CHECK_OK(tt_file_take(&fd, &size, file));
	CHECK_INT(size, 5);
	CHECK_OK(tt_file_read_at(fd, data, 5, 0, "x"));
	CHECK_STR(data, "hello");
	close(fd);
	CHECK_OK(tt_file_create_nameless(&file, "."));
	tt_file_discard(file);
}

TEST(gzip_is_unpacked_by_its_magic)
{
	const char *path = test_path("packed"); /* the name does not say so */
	static char zeros[3000000], want[3000005];
	struct tt_file_map map;
	size_t size;
	char *data;

	gzip_append(path, zeros, sizeof(zeros));
	check_content(path, zeros, sizeof(zeros));
	gzip_append(path, "again", 5); /* the size at the end is now far too small */
	memcpy(want + sizeof(zeros), "again", 5);
	check_content(path, want, sizeof(want));
	check_unpacked(path, want, sizeof(want));
	CHECK_OK(tt_file_map(&map, path));
	for (size_t cut = 2; cut < map.size - 8; cut += cut < 40 ? 1 : 97)
		if (tt_file_gunzip(&data, &size, map.data, cut, "g") == TTNN_OK) {
			/* Only where the first member ends. */
			CHECK_INT(size, sizeof(zeros));
			tt_free(data);
		} else {
			CHECK(strstr(ttnn_error(), "g: gzip data is cut off"));
		}
	tt_file_unmap(&map);
	remove(path);
	CHECK_FAILS(tt_file_gunzip(&data, &size, "\x1f\x8b\x08\x00\0\0\0\0\0\0\xff\xff\xff\xff", 14,
				   "g"),
		    TTNN_FORMAT, "g: gzip data is damaged: invalid block type");
}

SCENARIO(files_survive_exhaustion)
{
	const char *path = test_path("s"), *packed = test_path("s.gz");
	tt_status status;
	size_t size;
	char *data = NULL;
	int fd;

	TT_TRY(tt_file_save(path, "hello", 5));
	TT_TRY(tt_file_read(&data, &size, path));
	tt_free(data);
	if (access(packed, F_OK) != 0)
		gzip_append(packed, "hello", 5);
	TT_TRY(tt_file_read(&data, &size, packed));
	status = size == 5 ? TTNN_OK : TTNN_INTERNAL;
	tt_free(data);
	TT_TRY(status);
	TT_TRY(tt_file_open_unpacked(&fd, &size, packed));
	close(fd);
	return TTNN_OK;
}
