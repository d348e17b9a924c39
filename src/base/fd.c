#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- opening -------------------------------------------------------------------------------------------- */

int tt_fd_above(int fd)
{
	int moved, reason;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	reason = errno;
	close(fd);
	errno = reason;
	return moved;
}

static int open_above(const char *path, int flags, mode_t mode)
{
	return tt_fd_above(open(path, flags | O_CLOEXEC, mode));
}

int tt_fd_open(const char *path, int flags)
{
	return open_above(path, flags, 0666);
}

int tt_fd_pipe(int ends[2])
{
	int reason;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	ends[0] = tt_fd_above(ends[0]);
	ends[1] = tt_fd_above(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	reason = errno;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	errno = reason;
	return -1;
}

/* ".tt-PID-N.tmp": other processes of that number may live in other containers, so it is only tried. */
static void add_temp_name(struct tt_str *out, const char *path)
{
	static atomic_uint serial;
	const char *slash = strrchr(path, '/');

	if (slash)
		tt_str_add(out, path, (size_t)(slash + 1 - path));
	tt_str_addf(out, ".tt-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&serial, 1));
}

static int open_temp(char **name, const char *path, mode_t mode)
{
	for (int tries = 0; tries < 1000; tries++) {
		struct tt_str text = {0};
		int fd, reason;

		*name = NULL;
		add_temp_name(&text, path);
		if (tt_str_take(name, &text) != TTNN_OK) {
			errno = ENOMEM;
			return -1;
		}
		fd = open_above(*name, O_RDWR | O_CREAT | O_EXCL, mode);
		if (fd >= 0)
			return fd;
		reason = errno;
		tt_free(*name);
		*name = NULL;
		errno = reason;
		if (reason != EEXIST)
			return -1;
	}
	return -1;
}

int tt_fd_temp(char **name, const char *path)
{
	return open_temp(name, path, 0666);
}

const char *tt_fd_temp_directory(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : "/tmp";
}

int tt_fd_nameless(const char *directory)
{
	struct tt_str path = {0};
	char *name = NULL;
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Some file systems have none that never had a name. */
	if (fd >= 0)
		return fd;
	tt_str_addf(&path, "%s/", directory);
	if (tt_str_status(&path) == TTNN_OK)
		fd = open_temp(&name, tt_str_text(&path), 0600);
	else
		errno = ENOMEM;
	if (fd >= 0)
		unlink(name);
	tt_free(name);
	tt_str_deinit(&path);
	return fd;
}

int tt_fd_scratch(void)
{
	int fd = tt_fd_nameless(tt_fd_temp_directory());

	/* Where there is no such place memory has to do. */
	return fd < 0 ? tt_fd_above(memfd_create("ttnn", MFD_CLOEXEC)) : fd;
}

tt_status tt_fd_scratch_fail(int error)
{
	return tt_fail(TTNN_IO, "a temporary file (TMPDIR says where) cannot be used: %s",
		       strerror(error));
}

/* ---- reading -------------------------------------------------------------------------------------------- */

int tt_fd_read_at(int fd, void *data, size_t size, uint64_t offset)
{
	for (char *at = data; size;) {
		ssize_t got = pread(fd, at, size, (off_t)offset);

		if (got < 0 && errno != EINTR)
			return errno;
		if (got == 0)
			return ENODATA;
		if (got > 0) {
			at += got;
			size -= (size_t)got;
			offset += (uint64_t)got;
		}
	}
	return 0;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static bool is_xfsz_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void tt_fd_guard(struct tt_fd_guard *guard)
{
	struct rlimit limit;
	sigset_t xfsz;

	guard->on = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
	if (!guard->on)
		return;
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &xfsz, &guard->before);
	guard->pending = is_xfsz_pending();
}

/* The kernel sends it to the thread that writes; one that came from elsewhere before is left to its owner. */
void tt_fd_unguard(const struct tt_fd_guard *guard)
{
	int reason = errno;
	sigset_t xfsz;

	if (!guard->on)
		return;
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	if (!guard->pending && is_xfsz_pending())
		sigtimedwait(&xfsz, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
	errno = reason;
}

static int write_all(int fd, const char *data, size_t size, const uint64_t *offset)
{
	uint64_t at = offset ? *offset : 0;

	while (size) {
		ssize_t put = offset ? pwrite(fd, data, size, (off_t)at) : write(fd, data, size);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put == 0)
			return ENOSPC; /* not seen on Linux; must not loop */
		if (put > 0) {
			data += put;
			size -= (size_t)put;
			at += (uint64_t)put;
		}
	}
	return 0;
}

static int write_guarded(int fd, const void *data, size_t size, const uint64_t *offset)
{
	struct tt_fd_guard guard;
	int error;

	tt_fd_guard(&guard);
	error = write_all(fd, data, size, offset);
	tt_fd_unguard(&guard);
	return error;
}

int tt_fd_write(int fd, const void *data, size_t size)
{
	return write_guarded(fd, data, size, NULL);
}

int tt_fd_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
	return write_guarded(fd, data, size, &offset);
}

int tt_fd_reserve(int fd, uint64_t offset, uint64_t size)
{
	struct tt_fd_guard guard;
	int error;

	tt_fd_guard(&guard);
	do
		error = posix_fallocate(fd, (off_t)offset, (off_t)size);
	while (error == EINTR);
	tt_fd_unguard(&guard);
	return error;
}

/* Of the open file, not of the process: that would lose it with any descriptor of the same file. */
int tt_fd_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return 0;
	return errno == EACCES ? EAGAIN : errno;
}
