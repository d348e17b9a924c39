/*
 * fd.h: descriptors that the library opens and keeps, reading and writing through them.
 *
 * None stands below 3: where a program has closed its standard input or output, what it prints there must
 * not land in a file of ours. None survives exec(). Writing beyond the limit on file sizes
 * (RLIMIT_FSIZE) is an error, EFBIG, and never the signal that ends a process. Functions return as system
 * calls do, with errno, or 0 or errno itself.
 */
#ifndef TT_BASE_FD_H
#define TT_BASE_FD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* As open() with O_CLOEXEC; a file it makes has the mode 0666 less the umask. */
int tt_fd_open(const char *path, int flags);

/* Moves a descriptor to 3 or above, if it is not there: the old one is closed. -1 stays -1. */
int tt_fd_above(int fd);

/* As pipe2() with O_CLOEXEC. */
int tt_fd_pipe(int ends[2]);

/*
 * A new file in the directory of `path`, open for reading and writing, under a short name that does not
 * depend on that of `path`; *name is the caller's to free. -1 with errno; *name is NULL then.
 */
int tt_fd_temp(char **name, const char *path);

/* A new file in a directory that no name leads to, and that nobody else may open before that. */
int tt_fd_nameless(const char *directory);

/* Where temporary files go: TMPDIR of the environment, else /tmp. Borrowed. */
const char *tt_fd_temp_directory(void);

/* tt_fd_nameless() there; in memory where there is no such place. */
int tt_fd_scratch(void);

/* The failure of what is kept in such a file. */
tt_status tt_fd_scratch_fail(int error);

/* All these bytes of a file; 0 or errno, ENODATA when it ends before. */
int tt_fd_read_at(int fd, void *data, size_t size, uint64_t offset);

/* All bytes, where the file stands or at an offset; 0 or errno. */
int tt_fd_write(int fd, const void *data, size_t size);
int tt_fd_write_at(int fd, const void *data, size_t size, uint64_t offset);

/* Makes sure that these bytes of a file have their room on the disk; 0 or errno. */
int tt_fd_reserve(int fd, uint64_t offset, uint64_t size);

/*
 * Locks a file as long as it is open here, for whoever tries the same: 0, EAGAIN when another has it, or
 * errno. Children of a fork() have the lock too until they close the descriptor.
 */
int tt_fd_lock(int fd);

/*
 * Between the two no write of this thread ends the process: for libraries that write by themselves. They
 * nest. Costs nothing where there is no limit.
 */
struct tt_fd_guard {
	bool on, pending;
	sigset_t before;
};
void tt_fd_guard(struct tt_fd_guard *guard);
void tt_fd_unguard(const struct tt_fd_guard *guard);

#endif
