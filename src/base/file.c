#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ttnn_frontend.h>
#include <unistd.h>
#include <zlib.h>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

/* deflate packs at most this many bytes into one: the bound for what a header may promise. */
#define GZIP_RATIO 1032
#define WRITE_BUFFER ((size_t)64 << 10)
/* What is taken from a pipe or a device, which may have no end. */
#define SPOOL_MAX ((size_t)1 << 30)
/* A device that gives more than someone types has no end: /dev/zero. */
#define DEVICE_MAX ((size_t)16 << 20)
#define WRITE_PIECE ((size_t)4 << 20)
#define READER_WAIT_MS 20 /* between looks whether someone reads a FIFO */

static tt_status fail_errno(const char *path, const char *doing, int error)
{
	tt_status status = error == ENOENT ? TTNN_NOTFOUND : error == ENOMEM ? TTNN_NOMEM : TTNN_IO;

	if (error == ECANCELED)
		status = TTNN_CANCELLED;
	return tt_fail(status, "%s: cannot %s: %s", path, doing, strerror(error));
}

/* How many bytes are taken of what may have no end. */
static size_t most_of(const struct stat *info)
{
	return S_ISREG(info->st_mode) ? SIZE_MAX : S_ISCHR(info->st_mode) ? DEVICE_MAX : SPOOL_MAX;
}

static tt_status fail_endless(const char *path, size_t most)
{
	return tt_fail(TTNN_IO,
		       "%s: cannot read: it is no file but a %s, and gives more than %zu MB", path,
		       most == DEVICE_MAX ? "device" : "pipe", most >> 20);
}

/* The system calls an empty name "no such file", or takes what is made of it for the root directory. */
static tt_status check_path(const char *path)
{
	return *path ? TTNN_OK : tt_fail(TTNN_INVALID, "the path of a file or folder is empty");
}

static bool is_gzip(const void *data)
{
	return memcmp(data, "\x1f\x8b", 2) == 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A buffer with room for the pad that grows, or is emptied into a file, when it is full. */
struct bytes {
	char *data;
	size_t size, room;
	int spill; /* -1: grows */
};

static bool reserve(struct bytes *bytes, size_t room)
{
	char *data;

	if (bytes->data && room <= bytes->room)
		return true;
	if (room > SIZE_MAX - TT_FILE_PAD)
		return false;
	data = tt_realloc(bytes->data, room + TT_FILE_PAD);
	if (!data)
		return false;
	bytes->data = data;
	bytes->room = room;
	return true;
}

static tt_status spill(struct bytes *bytes, const char *path)
{
	int error = tt_fd_write(bytes->spill, bytes->data, bytes->size);

	bytes->size = 0;
	return error ? fail_errno(path, "unpack into a temporary file", error) : TTNN_OK;
}

static tt_status make_room(struct bytes *bytes, const char *path)
{
	size_t room = bytes->room;

	if (bytes->size < room)
		return TTNN_OK;
	if (bytes->spill >= 0 && room)
		return spill(bytes, path);
	room = room < 4096 ? 4096 : room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
	return reserve(bytes, room) ? TTNN_OK : tt_fail_nomem();
}

static void finish(char **out, size_t *size, const struct bytes *bytes)
{
	memset(bytes->data + bytes->size, 0, TT_FILE_PAD);
	*out = bytes->data;
	*size = bytes->size;
}

/*
 * Waits until something happens to a descriptor: 0, or ECANCELED. Whoever waits may give it up meanwhile, so it
 * is asked now and then; where nobody can, it is not waited for unless `always`. What else can go wrong is found
 * by reading or writing.
 */
static int wait_for(int fd, short events, bool always)
{
	struct pollfd wanted = {.fd = fd, .events = events};

	while (!tt_deadline_stop()) {
		uint64_t pause = tt_deadline_poll_ns();
		int found;

		if (!pause && !always)
			return 0;
		found = poll(&wanted, 1, pause ? (int)(pause / 1000000) + 1 : -1);
		if (found > 0 || (found < 0 && errno != EINTR))
			return 0;
	}
	return ECANCELED;
}

static void set_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/* Opens it; a FIFO when somebody writes to it. -1 with errno, ECANCELED when that was given up. */
static int open_reading(const char *path)
{
	int fd = tt_fd_open(path, O_RDONLY | O_NONBLOCK), error = 0;
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode))
		error = wait_for(fd, POLLIN, true);
	set_blocking(fd);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* The same to write; a FIFO when somebody reads it, and it stays without blocking: put() waits. */
static int open_writing(const char *path, const struct stat *info)
{
	int fd;

	while ((fd = tt_fd_open(path, O_WRONLY | O_NONBLOCK)) < 0 && errno == ENXIO &&
	       S_ISFIFO(info->st_mode)) {
		if (tt_deadline_stop()) {
			errno = ECANCELED;
			return -1;
		}
		poll(NULL, 0, READER_WAIT_MS);
	}
	if (fd >= 0 && !S_ISFIFO(info->st_mode))
		set_blocking(fd);
	return fd;
}

/* read(), from the beginning again after a signal; -1 with errno. */
static ssize_t read_some(int fd, void *out, size_t size)
{
	ssize_t got;

	do {
		errno = wait_for(fd, POLLIN, false);
		got = errno ? -1 : read(fd, out, size);
	} while (got < 0 && errno == EINTR);
	return got;
}

/* The size is a hint only: pipes and /proc have none, and files grow. */
static tt_status read_all(struct bytes *bytes, int fd, size_t hint, size_t most, const char *path)
{
	if (!reserve(bytes, hint + 1))
		return tt_fail_nomem();
	for (;;) {
		ssize_t got = read_some(fd, bytes->data + bytes->size, bytes->room - bytes->size);

		if (got < 0)
			return fail_errno(path, "read", errno);
		if (got == 0)
			return TTNN_OK;
		bytes->size += (size_t)got;
		if (bytes->size > most)
			return fail_endless(path, most);
		TT_TRY(make_room(bytes, path));
	}
}

tt_status tt_file_read(char **out, size_t *size, const char *path)
{
	struct bytes bytes = {.spill = -1};
	struct stat info;
	tt_status status;
	int fd;

	TT_TRY(check_path(path));
	fd = open_reading(path);
	if (fd < 0)
		return fail_errno(path, "open", errno);
	if (fstat(fd, &info) != 0)
		status = fail_errno(path, "read", errno);
	else
		status = read_all(&bytes, fd, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0,
				  most_of(&info), path);
	close(fd);
	if (status != TTNN_OK) {
		tt_free(bytes.data);
		return status;
	}
	if (bytes.size >= 2 && is_gzip(bytes.data)) {
		status = tt_file_gunzip(out, size, bytes.data, bytes.size, path);
		tt_free(bytes.data);
		return status;
	}
	finish(out, size, &bytes);
	return TTNN_OK;
}

enum ttnn_status ttnn_file_read(char **out, size_t *size, const char *path)
{
	return tt_file_read(out, size, path);
}

static void *zlib_alloc(void *context, uInt count, uInt size)
{
	(void)context;
	return tt_calloc(count, size);
}

static void zlib_free(void *context, void *block)
{
	(void)context;
	tt_free(block);
}

static uInt clip(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (uInt)size;
}

static tt_status fail_gzip(int code, const char *reason, const char *name)
{
	if (code == Z_MEM_ERROR)
		return tt_fail_nomem();
	if (code == Z_BUF_ERROR)
		return tt_fail(TTNN_FORMAT, "%s: gzip data is cut off", name);
	return tt_fail(TTNN_FORMAT, "%s: gzip data is damaged: %s", name,
		       reason ? reason : "needs a dictionary");
}

/* Feeds all members to z, which is set up. */
static tt_status inflate_all(struct bytes *bytes, z_stream *z, const unsigned char *data,
			     size_t length, const char *name)
{
	size_t fed = 0;

	for (;;) {
		uInt in = clip(length - fed), room;
		int code;

		TT_TRY(make_room(bytes, name));
		room = clip(bytes->room - bytes->size);
		z->next_in = (Bytef *)(uintptr_t)(data + fed); /* zlib only reads it */
		z->avail_in = in;
		z->next_out = (Bytef *)bytes->data + bytes->size;
		z->avail_out = room;
		code = inflate(z, Z_NO_FLUSH);
		fed += in - z->avail_in;
		bytes->size += room - z->avail_out;
		if (code == Z_STREAM_END) {
			/* Another member may follow; anything else behind is ignored, as gzip does. */
			if (length - fed < 2 || !is_gzip(data + fed))
				return TTNN_OK;
			code = inflateReset(z);
		}
		if (code != Z_OK && !(code == Z_BUF_ERROR && z->avail_out == 0))
			return fail_gzip(code, z->msg, name);
	}
}

static tt_status unpack(struct bytes *bytes, const void *data, size_t length, const char *name)
{
	z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
	int code = inflateInit2(&z, 16 + MAX_WBITS);
	tt_status status;

	if (code != Z_OK)
		return fail_gzip(code, z.msg, name);
	status = inflate_all(bytes, &z, data, length, name);
	inflateEnd(&z);
	return status;
}

tt_status tt_file_gunzip(char **out, size_t *size, const void *data, size_t length,
			 const char *name)
{
	const unsigned char *end = (const unsigned char *)data + length;
	struct bytes bytes = {.spill = -1};
	size_t promised = 0;
	tt_status status;

	/* The last four bytes are the unpacked size: right for most files, and never trusted far. */
	for (size_t i = 1; i <= 4 && length >= 18; i++)
		promised = promised << 8 | end[-(ptrdiff_t)i];
	if (promised / GZIP_RATIO > length)
		promised = length * GZIP_RATIO;
	status = reserve(&bytes, promised + 1) ? unpack(&bytes, data, length, name)
					       : tt_fail_nomem();
	if (status == TTNN_OK)
		finish(out, size, &bytes);
	else
		tt_free(bytes.data);
	return status;
}

/* A pipe cannot be mapped or read at places: its content goes to a file without a name, *fd. */
static tt_status spool(int *fd, size_t most, const char *path)
{
	int from = *fd, error = 0;
	size_t size = 0;
	ssize_t got = 1;
	char *buffer = tt_alloc(WRITE_BUFFER);

	*fd = buffer ? tt_fd_scratch() : -1;
	error = !buffer ? ENOMEM : *fd < 0 ? errno : 0;
	while (!error && got) {
		got = read_some(from, buffer, WRITE_BUFFER);
		if (got < 0)
			error = errno;
		else if ((size += (size_t)got) > most)
			error = EFBIG;
		else
			error = tt_fd_write(*fd, buffer, (size_t)got);
	}
	tt_free(buffer);
	close(from);
	if (error && *fd >= 0)
		close(*fd);
	if (error == EFBIG)
		return fail_endless(path, most);
	return error ? fail_errno(path, "read", error) : TTNN_OK;
}

tt_status tt_file_open(int *fd, size_t *size, const char *path)
{
	struct stat info;
	int error = 0;

	TT_TRY(check_path(path));
	*fd = open_reading(path);
	if (*fd < 0)
		return fail_errno(path, "open", errno);
	if (fstat(*fd, &info) != 0)
		error = errno;
	else if (S_ISDIR(info.st_mode))
		error = EISDIR;
	else if (!S_ISREG(info.st_mode)) {
		TT_TRY(spool(fd, most_of(&info), path));
		error = fstat(*fd, &info) != 0 ? errno : 0;
	}
	if (error) {
		close(*fd);
		return fail_errno(path, "read", error);
	}
	*size = (size_t)info.st_size;
	return TTNN_OK;
}

static tt_status map_fd(struct tt_file_map *out, int fd, size_t size, const char *path)
{
	const void *data = "";

	if (size)
		data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return fail_errno(path, "map", errno);
	*out = (struct tt_file_map){data, size};
	return TTNN_OK;
}

tt_status tt_file_map(struct tt_file_map *out, const char *path)
{
	tt_status status;
	size_t size;
	int fd;

	TT_TRY(tt_file_open(&fd, &size, path));
	status = map_fd(out, fd, size, path);
	close(fd);
	return status;
}

/* Unpacks into a file without a name, a buffer at a time. */
static tt_status unpack_into(int fd, const struct tt_file_map *packed, const char *path)
{
	struct bytes bytes = {.spill = fd};
	tt_status status = reserve(&bytes, WRITE_BUFFER)
				   ? unpack(&bytes, packed->data, packed->size, path)
				   : tt_fail_nomem();

	if (status == TTNN_OK)
		status = spill(&bytes, path);
	tt_free(bytes.data);
	return status;
}

static tt_status open_nameless(int *fd, const char *directory)
{
	*fd = tt_fd_nameless(directory);
	return *fd < 0 ? fail_errno(directory, "create a temporary file", errno) : TTNN_OK;
}

/* Puts the unpacked content in the place of *fd. */
static tt_status replace_unpacked(int *fd, size_t *size, const char *path)
{
	struct tt_file_map packed = {0};
	struct stat info;
	tt_status status;
	int unpacked;

	TT_TRY(map_fd(&packed, *fd, *size, path));
	unpacked = tt_fd_scratch();
	status = unpacked < 0 ? fail_errno(tt_fd_temp_directory(), "create a temporary file", errno)
			      : TTNN_OK;
	if (status == TTNN_OK) {
		status = unpack_into(unpacked, &packed, path);
		close(*fd);
		*fd = unpacked;
	}
	tt_file_unmap(&packed);
	if (status == TTNN_OK && fstat(*fd, &info) != 0)
		status = fail_errno(path, "read", errno);
	if (status == TTNN_OK)
		*size = (size_t)info.st_size;
	return status;
}

tt_status tt_file_open_unpacked(int *fd, size_t *size, const char *path)
{
	tt_status status = TTNN_OK;
	char start[2];

	TT_TRY(tt_file_open(fd, size, path));
	if (pread(*fd, start, sizeof(start), 0) == sizeof(start) && is_gzip(start))
		status = replace_unpacked(fd, size, path);
	if (status != TTNN_OK)
		close(*fd);
	return status;
}

tt_status tt_file_read_at(int fd, void *out, size_t size, uint64_t offset, const char *name)
{
	char *at = out;

	while (size) {
		ssize_t done = pread(fd, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return fail_errno(name, "read", errno);
		if (done == 0)
			return tt_fail(TTNN_IO, "%s: became shorter while it was read", name);
		at += done;
		size -= (size_t)done;
		offset += (uint64_t)done;
	}
	return TTNN_OK;
}

void tt_file_unmap(struct tt_file_map *map)
{
	if (map->size)
		munmap((void *)(uintptr_t)map->data, map->size);
	*map = (struct tt_file_map){0};
}

/* ---- writing ------------------------------------------------------------------------------- */

struct tt_file_out {
	char *path; /* as given, for messages */
	char *goal; /* the same without symbolic links */
	char *temp; /* NULL: written directly */
	int fd;
	int error; /* errno of the first failure */
	bool fifo; /* does not block */
	size_t used;
	char buffer[WRITE_BUFFER];
};

static void release(struct tt_file_out *file)
{
	if (file->fd >= 0)
		close(file->fd);
	tt_free(file->path);
	tt_free(file->goal);
	tt_free(file->temp);
	tt_free(file);
}

static tt_status open_temp(struct tt_file_out *file)
{
	file->fd = tt_fd_temp(&file->temp, file->goal);
	return file->fd < 0 ? fail_errno(file->path, "create", errno) : TTNN_OK;
}

static tt_status open_out(struct tt_file_out *file, const char *path)
{
	char real[PATH_MAX];
	struct stat info;
	bool exists = realpath(path, real) && stat(real, &info) == 0;

	file->path = tt_strdup(path);
	file->goal = tt_strdup(exists ? real : path);
	if (!file->path || !file->goal)
		return tt_fail_nomem();
	if (exists && S_ISDIR(info.st_mode))
		return fail_errno(path, "create", EISDIR);
	if (exists && !S_ISREG(info.st_mode)) {
		file->fd = open_writing(path, &info);
		file->fifo = S_ISFIFO(info.st_mode);
		return file->fd >= 0 ? TTNN_OK : fail_errno(path, "open", errno);
	}
	TT_TRY(open_temp(file));
	if (exists && fchmod(file->fd, info.st_mode & 07777) != 0)
		file->error = errno;
	return TTNN_OK;
}

/* Not open yet. */
static struct tt_file_out *out_new(void)
{
	struct tt_file_out *file = tt_alloc(sizeof(*file));

	if (!file)
		return NULL;
	memset(file, 0, offsetof(struct tt_file_out, buffer));
	file->fd = -1;
	return file;
}

/* To the caller when it could be opened; else it goes. */
static tt_status hand_over(struct tt_file_out **out, struct tt_file_out *file, tt_status status)
{
	if (status == TTNN_OK)
		*out = file;
	else
		release(file);
	return status;
}

tt_status tt_file_create(struct tt_file_out **out, const char *path)
{
	struct tt_file_out *file;

	TT_TRY(check_path(path));
	file = out_new();
	return file ? hand_over(out, file, open_out(file, path)) : tt_fail_nomem();
}

tt_status tt_file_create_nameless(struct tt_file_out **out, const char *directory)
{
	struct tt_file_out *file = out_new();

	if (!file)
		return tt_fail_nomem();
	file->path = tt_strdup(directory);
	return hand_over(out, file,
			 file->path ? open_nameless(&file->fd, directory) : tt_fail_nomem());
}

/* Writes all of a piece, or what a FIFO takes of it: how much; 0 or errno. */
static int put_piece(size_t *done, struct tt_file_out *file, const char *data, size_t size)
{
	ssize_t taken;

	/* Whoever waits for it may give it up here. */
	if (tt_deadline_stop())
		return ECANCELED;
	*done = size;
	if (!file->fifo)
		return tt_fd_write(file->fd, data, size);
	taken = write(file->fd, data, size);
	*done = taken > 0 ? (size_t)taken : 0;
	if (taken >= 0 || errno == EINTR)
		return 0;
	return errno == EAGAIN ? wait_for(file->fd, POLLOUT, true) : errno;
}

/* Errors stick: what comes after the first is dropped. */
static void put(struct tt_file_out *file, const char *data, size_t size)
{
	size_t done;

	for (; size && !file->error; data += done, size -= done) {
		done = 0;
		file->error = put_piece(&done, file, data, size < WRITE_PIECE ? size : WRITE_PIECE);
	}
}

static void flush(struct tt_file_out *file)
{
	put(file, file->buffer, file->used);
	file->used = 0;
}

void tt_file_write(struct tt_file_out *file, const void *data, size_t size)
{
	if (size > WRITE_BUFFER - file->used)
		flush(file);
	if (size >= WRITE_BUFFER) {
		put(file, data, size);
	} else if (size) {
		memcpy(file->buffer + file->used, data, size);
		file->used += size;
	}
}

tt_status tt_file_status(const struct tt_file_out *file)
{
	return file->error ? fail_errno(file->path, "write", file->error) : TTNN_OK;
}

tt_status tt_file_commit(struct tt_file_out *file)
{
	tt_status status;

	flush(file);
	/* Network file systems report a full disk here. */
	if (close(file->fd) != 0 && !file->error)
		file->error = errno;
	file->fd = -1;
	status = tt_file_status(file);
	if (status == TTNN_OK && file->temp && rename(file->temp, file->goal) != 0)
		status = fail_errno(file->path, "replace", errno);
	if (status != TTNN_OK && file->temp)
		unlink(file->temp);
	release(file);
	return status;
}

tt_status tt_file_take(int *fd, size_t *size, struct tt_file_out *file)
{
	tt_status status;
	off_t end;

	flush(file);
	end = lseek(file->fd, 0, SEEK_END);
	if (end < 0 && !file->error)
		file->error = errno;
	status = tt_file_status(file);
	if (status == TTNN_OK) {
		*fd = file->fd;
		*size = (size_t)end;
		file->fd = -1;
	}
	release(file);
	return status;
}

void tt_file_discard(struct tt_file_out *file)
{
	if (!file)
		return;
	if (file->temp)
		unlink(file->temp);
	release(file);
}

tt_status tt_file_save(const char *path, const void *data, size_t size)
{
	struct tt_file_out *file;

	TT_TRY(tt_file_create(&file, path));
	tt_file_write(file, data, size);
	return tt_file_commit(file);
}

/* Writes and renames; returns 0 or errno, and leaves nothing behind then. */
static int save_as(const char *path, const void *data, size_t size)
{
	char *temp;
	int fd = tt_fd_temp(&temp, path), error;

	if (fd < 0)
		return errno;
	error = tt_fd_write(fd, data, size);
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error && rename(temp, path) != 0)
		error = errno;
	if (error)
		unlink(temp);
	tt_free(temp);
	return error;
}

tt_status tt_file_save_new(const char *path, const void *data, size_t size)
{
	int error;

	TT_TRY(check_path(path));
	error = save_as(path, data, size);
	return error ? fail_errno(path, "write", error) : TTNN_OK;
}

tt_status tt_file_make_dirs(const char *path)
{
	tt_status status = TTNN_OK;
	char *copy;

	TT_TRY(check_path(path));
	copy = tt_strdup(path);
	if (!copy)
		return tt_fail_nomem();
	for (char *end = copy + (*copy == '/'); status == TTNN_OK; end++) {
		char c = *end;

		if (c && c != '/')
			continue;
		*end = 0;
		if (*copy && mkdir(copy, 0777) != 0 && errno != EEXIST)
			status = fail_errno(copy, "make the directory", errno);
		*end = c;
		if (!c)
			break;
	}
	tt_free(copy);
	return status;
}
