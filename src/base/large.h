/*
 * large.h: large blocks of memory, kept and used again.
 *
 * Fresh pages cost more than most of the work done on them, so blocks that are given back stay
 * mapped, up to TTNN_POOL_MB megabytes (512 unless the environment says else); beyond that the
 * block that lay idle longest goes back to the system. From 2 MB on blocks are made of huge pages
 * where the system has them. Small sizes are passed on to mem.h, so callers need not look. Any
 * thread may call. For element data: the content of a block is not defined.
 */
#ifndef TT_BASE_LARGE_H
#define TT_BASE_LARGE_H

#include <stddef.h>

/* A block of at least `size` bytes, aligned to 64, from 2 MB on to 2 MB; NULL when exhausted. */
void *tt_large_alloc(size_t size);

/*
 * The same, of zeros. Fresh pages are not touched for it: who writes them first waits for them. Zeros are missing
 * when the operation has no time left meanwhile or is cancelled: ask deadline.h afterwards.
 */
void *tt_large_zeroed(size_t size);

/* Gives a block back; size is the one it was asked for with. NULL is fine. */
void tt_large_free(void *block, size_t size);

/* How many bytes lie idle. */
size_t tt_large_idle(void);

/* Gives all idle blocks back to the system. */
void tt_large_trim(void);

/* For tests: at most that many bytes stay idle from now on. */
void tt_large_set_limit(size_t bytes);

#endif
