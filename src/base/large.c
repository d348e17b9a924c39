#include "base/large.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/deadline.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/mem.h"

#define ALIGN 64
#define SMALL ((size_t)64 << 10) /* below that malloc reuses well by itself */
#define HUGE_PAGE ((size_t)2 << 20)
#define PIECE ((size_t)1 << 20) /* of zeros, between two looks at the deadline */
/*
 * Eight sizes from one power of two to the next: less than an eighth is lost. From 2 to 16 MB the
 * sizes are whole huge pages instead, of which one is lost at most, which is nearly half at 2 MB.
 */
#define STEP_BITS 3
#define CLASSES (48 << STEP_BITS)
#define LIMIT_DEFAULT ((size_t)512 << 20)

/* Lies at the start of an idle block. */
struct idle {
	struct idle *older, *newer;  /* among all idle blocks */
	struct idle *before, *after; /* among those of the same size */
	size_t size;
};

TT_LOCK_STATIC(lock, TT_RANK_LARGE, NULL); /* guards what follows */
static struct idle *classes[CLASSES], *oldest, *newest;
static size_t idle_bytes, limit = LIMIT_DEFAULT;

/* ---- idle memory, and what is behind a block, is not to be touched ----------------------------- */

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif

#ifdef WATCHED
void __asan_poison_memory_region(void const volatile *at, size_t size);
void __asan_unpoison_memory_region(void const volatile *at, size_t size);

static void hide(void *at, size_t size)
{
	__asan_poison_memory_region(at, size);
}

static void unhide(void *at, size_t size)
{
	__asan_unpoison_memory_region(at, size);
}
#else
static void hide(void *at, size_t size)
{
	(void)at;
	(void)size;
}

static void unhide(void *at, size_t size)
{
	(void)at;
	(void)size;
}
#endif

/* ---- sizes ------------------------------------------------------------------------------------ */

/* The size rounded up to that of its class; 0 when it is absurd. */
static size_t class_size(size_t size)
{
	unsigned bits = (unsigned)(sizeof(size_t) * 8 - 1) - (unsigned)__builtin_clzl(size);
	size_t step = (size_t)1 << (bits - STEP_BITS);

	if (size >= HUGE_PAGE && step < HUGE_PAGE)
		step = HUGE_PAGE;
	if (bits >= 46)
		return 0;
	return (size + step - 1) / step * step;
}

static size_t class_of(size_t size)
{
	unsigned bits = (unsigned)(sizeof(size_t) * 8 - 1) - (unsigned)__builtin_clzl(size);

	return ((size_t)bits << STEP_BITS) + ((size >> (bits - STEP_BITS)) & 7);
}

/* ---- idle blocks ------------------------------------------------------------------------------ */

static void put(struct idle *block, size_t size)
{
	struct idle **list = &classes[class_of(size)];

	*block = (struct idle){.older = newest, .after = *list, .size = size};
	if (*list)
		(*list)->before = block;
	*list = block;
	*(newest ? &newest->newer : &oldest) = block;
	newest = block;
	idle_bytes += size;
	hide(block + 1, size - sizeof(*block));
}

static void take(struct idle *block)
{
	unhide(block + 1, block->size - sizeof(*block));
	*(block->before ? &block->before->after : &classes[class_of(block->size)]) = block->after;
	if (block->after)
		block->after->before = block->before;
	*(block->older ? &block->older->newer : &oldest) = block->newer;
	*(block->newer ? &block->newer->older : &newest) = block->older;
	idle_bytes -= block->size;
}

/* Gives back idle blocks until no more than `most` bytes are left. */
static void shrink(size_t most)
{
	while (oldest && idle_bytes > most) {
		struct idle *block = oldest;

		take(block);
		(void)munmap(block, block->size);
	}
}

static void hold(void)
{
	tt_lock_take(&lock);
}

static void release(void)
{
	tt_lock_give(&lock);
}

static void set_up(void)
{
	const char *text = tt_env("TTNN_POOL_MB");
	char *end;

	if (text) {
		unsigned long megabytes = strtoul(text, &end, 10);

		if (!*end && megabytes < SIZE_MAX >> 20)
			limit = (size_t)megabytes << 20;
	}
}

static void hold_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_up);
	hold();
}

/* ---- blocks ----------------------------------------------------------------------------------- */

/* Pages of the system, cut out of a larger piece where they have to be aligned. */
static void *map_block(size_t size)
{
	size_t slack = size >= HUGE_PAGE ? HUGE_PAGE : 0, front;
	char *block = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	if (!slack)
		return block;
	front = (HUGE_PAGE - (uintptr_t)block % HUGE_PAGE) % HUGE_PAGE;
	if (front)
		(void)munmap(block, front);
	if (front < slack)
		(void)munmap(block + front + size, slack - front);
	/* Advice only: where it is refused, small pages do. */
	(void)madvise(block + front, size, MADV_HUGEPAGE);
	return block + front;
}

/* Aligned within a block of malloc's, whose own aligned blocks cost three times as much. */
static void *small_alloc(size_t size)
{
	unsigned char *block = tt_alloc(size + ALIGN);
	size_t gap;

	if (!block)
		return NULL;
	gap = ALIGN - (uintptr_t)block % ALIGN;
	block[gap - 1] = (unsigned char)gap;
	return block + gap;
}

static void small_free(unsigned char *block)
{
	tt_free(block - block[-1]);
}

/* *zeros: whether they are the system's, which are zeros. */
static void *large_alloc(bool *zeros, size_t size)
{
	size_t whole = class_size(size);
	struct idle *block;
	void *fresh;

	if (!whole || tt_mem_refuse())
		return NULL;
	hold_ready();
	block = classes[class_of(whole)];
	if (block)
		take(block);
	release();
	fresh = block ? block : map_block(whole);
	if (!fresh) { /* perhaps what lies idle is what is missing */
		tt_large_trim();
		fresh = map_block(whole);
	}
	*zeros = !block;
	tt_mem_count(fresh ? 1 : 0);
	if (fresh)
		hide((char *)fresh + size, whole - size);
	return fresh;
}

void *tt_large_alloc(size_t size)
{
	bool zeros;

	return size < SMALL ? small_alloc(size) : large_alloc(&zeros, size);
}

void *tt_large_zeroed(size_t size)
{
	bool zeros = false;
	char *block = size < SMALL ? small_alloc(size) : large_alloc(&zeros, size);

	for (size_t done = 0; block && !zeros && done < size && !tt_deadline_stop(); done += PIECE)
		memset(block + done, 0, size - done < PIECE ? size - done : PIECE);
	return block;
}

void tt_large_free(void *block, size_t size)
{
	size_t whole;

	if (!block)
		return;
	if (size < SMALL) {
		small_free(block);
		return;
	}
	tt_mem_count(-1);
	whole = class_size(size);
	unhide((char *)block + size, whole - size);
	hold_ready();
	if (whole > limit) {
		(void)munmap(block, whole);
	} else {
		shrink(limit - whole);
		put(block, whole);
	}
	release();
}

size_t tt_large_idle(void)
{
	size_t bytes;

	hold_ready();
	bytes = idle_bytes;
	release();
	return bytes;
}

void tt_large_trim(void)
{
	hold_ready();
	shrink(0);
	release();
}

void tt_large_set_limit(size_t bytes)
{
	hold_ready();
	limit = bytes;
	shrink(bytes);
	release();
}
