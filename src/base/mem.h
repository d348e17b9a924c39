/*
 * mem.h: the one door to the heap.
 *
 * All memory of the library comes from here, also that of libraries which accept an allocator.
 * Tests make the n-th allocation fail and count what is not given back.
 */
#ifndef TT_BASE_MEM_H
#define TT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL when memory is exhausted. size 0 gives a unique pointer. Free with tt_free(). */
void *tt_alloc(size_t size);

/* count × size zeroed bytes; NULL when exhausted or when the product overflows. */
void *tt_calloc(size_t count, size_t size);

/* As realloc(): on failure NULL, and the old block stays valid. */
void *tt_realloc(void *block, size_t size);

/* NULL is fine. */
void tt_free(void *block);

/* A copy of `length` bytes with a zero byte behind them; NULL when exhausted. */
char *tt_strndup(const char *text, size_t length);
char *tt_strdup(const char *text);

/* ---- for allocators beside this one (large.h) ---------------------------------------------- */

/* Counts an allocation that is about to be made; true when a test wants it to fail. */
bool tt_mem_refuse(void);

/* Counts blocks handed out (1) or given back (-1). */
void tt_mem_count(int blocks);

/* ---- for tests --------------------------------------------------------------------------- */

/* From now on the n-th allocation (1 is the next) fails, once. 0 switches that off. */
void tt_mem_fail_at(uint64_t n);

/* Whether an allocation was made to fail since the last tt_mem_fail_at(). */
bool tt_mem_failed(void);

/* Starts (true) or stops counting; the count of live blocks starts at 0. */
void tt_mem_watch(bool on);

/* Blocks allocated minus blocks freed since tt_mem_watch(true). */
int64_t tt_mem_live(void);

/* Allocations attempted since tt_mem_watch(true). */
uint64_t tt_mem_attempts(void);

#endif
