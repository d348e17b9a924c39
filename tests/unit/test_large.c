/*
 * test_large.c: large blocks come back, in order of their last use, and no more than allowed stay.
 * @threads
 */
#include <pthread.h>

#include "test.h"

#include "base/large.h"

#define MB ((size_t)1 << 20)

TEST(blocks_are_used_again)
{
	char *block = tt_large_alloc(3 * MB), *again;

	CHECK(block != NULL);
	CHECK_INT((uintptr_t)block % (2 * MB), 0);
	memset(block, 1, 3 * MB);
	tt_large_free(block, 3 * MB);
	CHECK(tt_large_idle() >= 3 * MB);
	again = tt_large_alloc(3 * MB + 5); /* of the same class */
	CHECK(again == block);
	tt_large_free(again, 3 * MB + 5);
	tt_large_trim();
	CHECK_INT(tt_large_idle(), 0);
}

TEST(zeros_are_zeros)
{
	static const size_t sizes[] = {1, 100, 64 << 10, 3 * MB, 70 * MB};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int used = 0; used < 2;
		     used++) { /* fresh, then what was written and given back */
			char *block = tt_large_zeroed(sizes[i]);

			CHECK(block != NULL);
			CHECK(block[0] == 0 && !memcmp(block, block + 1, sizes[i] - 1));
			memset(block, 7, sizes[i]);
			tt_large_free(block, sizes[i]);
		}
	CHECK(tt_large_zeroed((size_t)1 << 62) == NULL);
	tt_large_trim();
}

TEST(sizes_of_all_kinds)
{
	static const size_t sizes[] = {0,      1,          4096,   65535,      65536,
				       65537,  100000,     MB - 1, MB,         2 * MB - 1,
				       2 * MB, 2 * MB + 1, 5 * MB, 33 * MB + 1};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *block = tt_large_alloc(sizes[i]);

		CHECK(block != NULL);
		CHECK_INT((uintptr_t)block % 64, 0);
		memset(block, 0x5a, sizes[i]);
		tt_large_free(block, sizes[i]);
	}
	CHECK(tt_large_alloc((size_t)1 << 62) == NULL);
	tt_large_free(NULL, 5);
}

#ifdef __SANITIZE_ADDRESS__
int __asan_address_is_poisoned(void const volatile *at);
#else
#define __asan_address_is_poisoned(at) 1
#endif

/* The rest of a class belongs to nobody; the next user of the block may have asked for more. */
TEST(asan_sees_the_end)
{
	static const size_t sizes[] = {65537, 100000, 100001, MB + 3, 5 * MB + 1, 5 * MB + 99};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *block = tt_large_alloc(sizes[i]);

		CHECK(block != NULL);
		memset(block, 1, sizes[i]);
		CHECK(__asan_address_is_poisoned(block + sizes[i]));
		CHECK(__asan_address_is_poisoned(block + sizes[i] + 20));
		tt_large_free(block, sizes[i]);
	}
	tt_large_trim();
}

TEST(the_longest_idle_goes_first)
{
	void *a, *b, *c;

	tt_large_trim();
	tt_large_set_limit(8 * MB);
	a = tt_large_alloc(4 * MB);
	b = tt_large_alloc(2 * MB);
	c = tt_large_alloc(6 * MB);
	tt_large_free(a, 4 * MB);
	tt_large_free(b, 2 * MB);
	CHECK_INT(tt_large_idle(), 6 * MB);
	tt_large_free(c, 6 * MB); /* 12 MB: a has to go */
	CHECK_INT(tt_large_idle(), 8 * MB);
	CHECK(tt_large_alloc(2 * MB) == b);
	CHECK(tt_large_alloc(6 * MB) == c);
	CHECK_INT(tt_large_idle(), 0);
	tt_large_free(b, 2 * MB);
	tt_large_free(c, 6 * MB);
	a = tt_large_alloc(10 * MB);
	tt_large_free(a, 10 * MB); /* more than is kept at all */
	CHECK_INT(tt_large_idle(), 8 * MB);
	tt_large_set_limit(0);
	CHECK_INT(tt_large_idle(), 0);
	tt_large_set_limit(512 * MB);
}

static void *churn(void *seed)
{
	uint64_t state = *(uint64_t *)seed;
	struct {
		unsigned char *at;
		size_t size;
	} held[8] = {{0}};

	for (int i = 0; i < 2000; i++) {
		size_t k = test_random(&state) % 8;

		if (held[k].at) {
			CHECK(held[k].at[0] == (unsigned char)k);
			CHECK(held[k].at[held[k].size - 1] == (unsigned char)k);
			tt_large_free(held[k].at, held[k].size);
		}
		held[k].size = 1 + test_random(&state) % (600 * 1024);
		held[k].at = tt_large_alloc(held[k].size);
		held[k].at[0] = held[k].at[held[k].size - 1] = (unsigned char)k;
	}
	for (size_t k = 0; k < 8; k++)
		tt_large_free(held[k].at, held[k].size);
	return NULL;
}

TEST(threads_share_the_blocks)
{
	uint64_t seeds[] = {1, 2, 3};
	pthread_t threads[3];

	tt_large_set_limit(4 * MB);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, churn, &seeds[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(tt_large_idle() <= 4 * MB);
	tt_large_set_limit(512 * MB);
}

SCENARIO(running_out_of_memory)
{
	void *small = tt_large_alloc(100), *large = tt_large_alloc(MB);
	bool good = small && large;

	tt_large_free(small, 100);
	tt_large_free(large, MB);
	return good ? TTNN_OK : tt_fail_nomem();
}
