/*
 * small_disk.c: loaded before a program (LD_PRELOAD), it makes the directory SMALL_DISK a small one: after
 * SMALL_DISK_BYTES bytes writes below it fail as on a full disk; with -1, files cannot be made there, as on
 * one that is read-only. A real full disk needs a mount, which needs privileges.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long used;

static long room(void)
{
	return strtol(getenv("SMALL_DISK_BYTES"), NULL, 10);
}

/* Whether an open file lies below the directory. */
static bool is_below(int fd)
{
	const char *directory = getenv("SMALL_DISK");
	char link[64], path[4096];
	size_t length = strlen(directory);
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, path, sizeof(path) - 1);
	if (got < 0)
		return false;
	path[got] = '\0';
	return strncmp(path, directory, length) == 0 && path[length] == '/';
}

static int open_checked(int (*next)(const char *, int, ...), const char *path, int flags,
			mode_t mode)
{
	bool is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
	int fd = next(path, flags, mode);

	if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY && room() < 0 && is_below(fd)) {
		close(fd);
		if (is_new)
			unlink(path);
		errno = EROFS;
		return -1;
	}
	return fd;
}

#define OPEN(name)                                                                                 \
	__attribute__((visibility("default"))) int name(const char *path, int flags, ...)          \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (flags & O_CREAT)                                                               \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		return open_checked((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name),      \
				    path, flags, mode);                                            \
	}
OPEN(open)
OPEN(open64)

__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t (*next)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

	if (is_below(fd) && atomic_fetch_add(&used, (long)size) + (long)size > room()) {
		errno = ENOSPC;
		return -1;
	}
	return next(fd, data, size);
}
