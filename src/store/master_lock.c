/*
 * master_lock.c: one writer of a file at a time. The lock is that of a file beside it, FILE.lock, which is gone when
 * nobody has it; the system takes it from a process that ends, however it does. That of a store of a server is the
 * server's, and is held by a connection of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "db/db.h"
#include "store/master_parts.h"

/* Where the file is that a path leads to, by whichever links: all who write it must meet at one lock. */
static tt_status find_place(struct tt_str *out, const char *path)
{
	char place[PATH_MAX], *copy, *name;

	if (realpath(path, place)) {
		tt_str_adds(out, place);
		return tt_str_status(out);
	}
	copy = tt_strdup(path);
	name = tt_strdup(path);
	if (copy && name && realpath(dirname(copy), place)) {
		tt_str_adds(out, place);
		tt_str_addc(out, '/');
		tt_str_adds(out, basename(name));
	} else {
		tt_str_adds(out, path);
	}
	out->failed |= !copy || !name;
	tt_free(copy);
	tt_free(name);
	return tt_str_status(out);
}

/* Whether the file that is open is still the one of that name. */
static bool is_at(int fd, const char *path)
{
	struct stat own, there;

	return fstat(fd, &own) == 0 && stat(path, &there) == 0 && own.st_ino == there.st_ino &&
	       own.st_dev == there.st_dev;
}

static tt_status take_lock(int *out, const char *path)
{
	for (;;) {
		int fd = tt_fd_open(path, O_RDWR | O_CREAT), code = fd < 0 ? errno : 0;

		while (!code && flock(fd, LOCK_EX) != 0)
			code = errno == EINTR ? 0 : errno;
		if (code) {
			if (fd >= 0)
				close(fd);
			return tt_fail(TTNN_IO, "%s: cannot lock: %s", path, strerror(code));
		}
		if (is_at(fd, path)) {
			*out = fd;
			return TTNN_OK;
		}
		close(fd); /* whoever had it has removed it meanwhile */
	}
}

/* Takes the lock of the file that a path leads to. */
static tt_status lock_file(struct tt_master_lock *out, const char *path)
{
	struct tt_str place = {0};
	tt_status status = find_place(&place, path);

	*out = (struct tt_master_lock){.fd = -1};
	tt_str_adds(&place, ".lock");
	if (status == TTNN_OK)
		status = tt_str_take(&out->path, &place);
	tt_str_deinit(&place);
	if (status == TTNN_OK)
		status = take_lock(&out->fd, out->path);
	if (status != TTNN_OK)
		tt_master_let_go(out);
	return status;
}

static tt_status lock_server(struct tt_master_lock *out, const char *url)
{
	tt_status status = tt_db_share(&out->server, url, 0);

	if (status == TTNN_OK)
		status = tt_db_exec(out->server, "{one_editor}");
	if (status != TTNN_OK)
		tt_master_let_go(out);
	return status;
}

tt_status tt_master_lock(struct tt_master_lock *out, const char *path)
{
	struct stat info;

	*out = (struct tt_master_lock){.fd = -1};
	if (tt_db_is_url(path))
		return lock_server(out, path);
	return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? lock_file(out, path) : TTNN_OK;
}

void tt_master_let_go(struct tt_master_lock *lock)
{
	if (lock->fd >= 0) {
		unlink(lock->path);
		close(lock->fd);
	}
	tt_db_discard(lock->server);
	tt_free(lock->path);
	*lock = (struct tt_master_lock){.fd = -1};
}

static tt_status make_directory(const char *path)
{
	char *copy = tt_strdup(path);
	tt_status status = copy ? tt_file_make_dirs(dirname(copy)) : tt_fail_nomem();

	tt_free(copy);
	return status;
}

tt_status tt_master_edit(struct tt_master **out, const char *path, enum tt_master_layout layout)
{
	struct tt_master *master = NULL;
	bool url = tt_db_is_url(path);
	struct tt_master_lock lock;
	tt_status status;

	lock = (struct tt_master_lock){.fd = -1};
	if (url) {
		TT_TRY(lock_server(&lock, path));
	} else {
		TT_TRY(make_directory(path));
		TT_TRY(lock_file(&lock, path));
	}
	status = tt_master_open(&master, path);
	/* Something else may be missing than the file, which must not be taken for a new one then. */
	if (status == TTNN_NOTFOUND && (url || (access(path, F_OK) != 0 && errno == ENOENT)))
		status = tt_master_new(&master, layout);
	if (status != TTNN_OK) {
		tt_master_let_go(&lock);
		return status;
	}
	master->lock = lock;
	*out = master;
	return TTNN_OK;
}
