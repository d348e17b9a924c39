/*
 * file.h: whole files in, whole files out.
 *
 * Reading unpacks gzip on the way, whatever the file is called. Writing goes to a temporary name in
 * the same directory and is renamed at the end, so a reader sees the old file or the complete new
 * one, and a failure leaves the old one. Messages name the path and the system's reason. An empty path
 * is TTNN_INVALID everywhere.
 */
#ifndef TT_BASE_FILE_H
#define TT_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Zero bytes behind what tt_file_read() hands out, so that texts are terminated. */
#define TT_FILE_PAD 8

/*
 * The content of a file or pipe, unpacked if it starts as gzip does, with TT_FILE_PAD zero bytes
 * behind. Free with tt_free(). TTNN_NOTFOUND when there is no such file.
 */
tt_status tt_file_read(char **out, size_t *size, const char *path);

/* Unpacks gzip data of one or more members; `name` is for messages. As tt_file_read() otherwise. */
tt_status tt_file_gunzip(char **out, size_t *size, const void *data, size_t length,
			 const char *name);

/*
 * Opens a file to read parts of; that of a pipe is what came through it, in a temporary file without a
 * name (under TMPDIR). The descriptor is the caller's to close.
 */
tt_status tt_file_open(int *fd, size_t *size, const char *path);

/* A file or what came through a pipe as read-only memory. Its bytes must not change while it is mapped. */
struct tt_file_map {
	const char *data; /* never NULL, also for an empty file */
	size_t size;
};
tt_status tt_file_map(struct tt_file_map *out, const char *path);
/* An all-zero map is fine; leaves one. */
void tt_file_unmap(struct tt_file_map *map);

/* The same; of gzip it is the content, in such a temporary file. */
tt_status tt_file_open_unpacked(int *fd, size_t *size, const char *path);

/* Exactly these bytes; `name` is for messages. */
tt_status tt_file_read_at(int fd, void *out, size_t size, uint64_t offset, const char *name);

/* A file being written. Owned by one thread at a time. */
struct tt_file_out;

/*
 * Opens a temporary file beside `path`. A path that names something else than a regular file (a
 * pipe, a terminal) is written directly. Symbolic links are followed.
 */
tt_status tt_file_create(struct tt_file_out **out, const char *path);

/* Appends. A failure is remembered and told by tt_file_commit(); later bytes are dropped. */
void tt_file_write(struct tt_file_out *file, const void *data, size_t size);

/* Whether all went well so far: for writers that would go on for long. */
tt_status tt_file_status(const struct tt_file_out *file);

/* Completes the file under its name, or removes it and tells why. Frees `file` either way. */
tt_status tt_file_commit(struct tt_file_out *file);

/* Removes the unfinished file and frees `file`. NULL is fine. */
void tt_file_discard(struct tt_file_out *file);

/*
 * A temporary file that no name leads to, written likewise; then its descriptor and size, to read it:
 * it goes when that is closed. tt_file_take() frees `file` either way.
 */
tt_status tt_file_create_nameless(struct tt_file_out **out, const char *directory);
tt_status tt_file_take(int *fd, size_t *size, struct tt_file_out *file);

/* Create, write, commit. */
tt_status tt_file_save(const char *path, const void *data, size_t size);

/*
 * The same for a path where nothing is yet, or something that may be replaced whatever it is: in the
 * fewest system calls. TTNN_NOTFOUND when there is no such directory.
 */
tt_status tt_file_save_new(const char *path, const void *data, size_t size);

/* Makes a directory and those above it; fine when it exists. */
tt_status tt_file_make_dirs(const char *path);

#endif
