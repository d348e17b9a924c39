#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One flag is all that an ordinary run reads; the counters are touched by tests only. */
static atomic_bool watched;
static atomic_uint_least64_t countdown;
static atomic_bool has_failed;
static atomic_int_least64_t live;
static atomic_uint_least64_t attempts;

bool tt_mem_refuse(void)
{
	uint_least64_t left;

	if (!atomic_load_explicit(&watched, memory_order_relaxed))
		return false;
	atomic_fetch_add(&attempts, 1);
	left = atomic_load(&countdown);
	while (left != 0) {
		if (!atomic_compare_exchange_weak(&countdown, &left, left - 1))
			continue;
		if (left == 1)
			atomic_store(&has_failed, true);
		return left == 1;
	}
	return false;
}

void tt_mem_count(int blocks)
{
	if (atomic_load_explicit(&watched, memory_order_relaxed))
		atomic_fetch_add(&live, blocks);
}

static void *born(void *block)
{
	if (block)
		tt_mem_count(1);
	return block;
}

void *tt_alloc(size_t size)
{
	return tt_mem_refuse() ? NULL : born(malloc(size ? size : 1));
}

void *tt_calloc(size_t count, size_t size)
{
	if (!count || !size)
		count = size = 1;
	if (count > SIZE_MAX / size)
		return NULL;
	return tt_mem_refuse() ? NULL : born(calloc(count, size));
}

void *tt_realloc(void *block, size_t size)
{
	void *moved;

	if (tt_mem_refuse())
		return NULL;
	moved = realloc(block, size ? size : 1);
	return block ? moved : born(moved);
}

void tt_free(void *block)
{
	if (block)
		tt_mem_count(-1);
	free(block);
}

char *tt_strndup(const char *text, size_t length)
{
	char *copy = length == SIZE_MAX ? NULL : tt_alloc(length + 1);

	if (!copy)
		return NULL;
	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *tt_strdup(const char *text)
{
	return tt_strndup(text, strlen(text));
}

void tt_mem_fail_at(uint64_t n)
{
	atomic_store(&has_failed, false);
	atomic_store(&countdown, n);
}

bool tt_mem_failed(void)
{
	return atomic_load(&has_failed);
}

void tt_mem_watch(bool on)
{
	atomic_store(&live, 0);
	atomic_store(&attempts, 0);
	atomic_store(&watched, on);
}

int64_t tt_mem_live(void)
{
	return atomic_load(&live);
}

uint64_t tt_mem_attempts(void)
{
	return atomic_load(&attempts);
}
