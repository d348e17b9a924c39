/* The program cache: keys, counters, switches, lifetimes; alone and with @threads. */
#include <pthread.h>

#include "base/mem.h"
#include "device/progcache.h"
#include "test.h"

static struct tt_progcache_key key_of(const char *text)
{
	return (struct tt_progcache_key){text, strlen(text)};
}

static atomic_int freed;

static void count_free(void *data)
{
	tt_free(data);
	atomic_fetch_add(&freed, 1);
}

/* Looks up, and adds a payload with this number if there is none; the payload's number. */
static int use(struct tt_progcache *cache, const char *text, int number)
{
	struct tt_progcache_key key = key_of(text);
	struct tt_progcache_entry *entry = NULL;
	int *data, found;

	CHECK_OK(tt_progcache_find(&entry, cache, &key, "TestOperation"));
	if (!entry) {
		data = tt_alloc(sizeof(*data));
		*data = number;
		CHECK_OK(tt_progcache_add(&entry, cache, &key,
					  &(struct tt_progcache_payload){data, count_free}));
	}
	found = *(int *)entry->payload.data;
	tt_progcache_unref(entry);
	return found;
}

static void check_stats(struct tt_progcache *cache, uint64_t entries, uint64_t hits,
			uint64_t misses)
{
	struct tt_progcache_stats stats = tt_progcache_stats(cache);

	CHECK_INT(stats.entries, entries);
	CHECK_INT(stats.hits, hits);
	CHECK_INT(stats.misses, misses);
}

TEST(hits_and_misses)
{
	struct tt_progcache cache;

	tt_progcache_init(&cache);
	check_stats(&cache, 0, 0, 0);
	CHECK_INT(use(&cache, "add bfloat16", 1), 1);
	CHECK_INT(use(&cache, "add bfloat16", 2), 1);
	CHECK_INT(use(&cache, "add float32", 3), 3);
	CHECK_INT(use(&cache, "add bfloat1", 4), 4);
	check_stats(&cache, 3, 1, 3);
	freed = 0;
	tt_progcache_clear(&cache);
	CHECK_INT(freed, 3);
	check_stats(&cache, 0, 1, 3);
	CHECK_INT(use(&cache, "add bfloat16", 5), 5);
	check_stats(&cache, 1, 1, 4);
	tt_progcache_deinit(&cache);
	CHECK_INT(freed, 4);
}

/* Keys that differ in one bit only, and one that is a prefix of another, are different programs. */
TEST(keys_are_compared_whole)
{
	struct tt_progcache cache;
	char text[200];

	tt_progcache_init(&cache);
	memset(text, 'k', sizeof(text));
	text[199] = 0;
	CHECK_INT(use(&cache, text, 0), 0);
	for (int bit = 0; bit < 5 * 199; bit++) {
		text[bit / 5] = (char)(text[bit / 5] ^ 1 << bit % 5);
		CHECK_INT(use(&cache, text, bit + 1), bit + 1);
		CHECK_INT(use(&cache, text, -1), bit + 1);
		text[bit / 5] = (char)(text[bit / 5] ^ 1 << bit % 5);
	}
	for (int length = 198; length >= 0; length--) {
		text[length] = 0;
		CHECK_INT(use(&cache, text, 2000 + length), 2000 + length);
	}
	check_stats(&cache, 1 + 995 + 199, 995, 1 + 995 + 199);
	tt_progcache_deinit(&cache);
}

/* The rules of the library: forbidding outlasts clearing, and means nothing while it is off. */
TEST(forbidden_misses)
{
	struct tt_progcache_key key = key_of("relu");
	struct tt_progcache_entry *entry = NULL;
	struct tt_progcache cache;

	tt_progcache_init(&cache);
	CHECK_INT(use(&cache, "add", 1), 1);
	tt_progcache_allow_misses(&cache, false);
	CHECK_INT(use(&cache, "add", 2), 1);
	CHECK_FAILS(
		tt_progcache_find(&entry, &cache, &key, "UnaryDeviceOperation"), TTNN_STATE,
		"Device operation \"UnaryDeviceOperation\": program cache miss occurred, but cache "
		"misses are forbidden");
	CHECK_STR(tt_fail_condition(), "tt::exception");
	CHECK(entry == NULL);
	check_stats(&cache, 1, 1, 2);
	tt_progcache_enable(&cache, false);
	CHECK_INT(use(&cache, "relu", 3), 3);
	CHECK_INT(use(&cache, "relu", 4), 4);
	check_stats(&cache, 0, 1, 2);
	tt_progcache_enable(&cache, true);
	CHECK_FAILS(tt_progcache_find(&entry, &cache, &key, "Add"), TTNN_STATE, "forbidden");
	tt_progcache_clear(&cache);
	CHECK_FAILS(tt_progcache_find(&entry, &cache, &key, "Add"), TTNN_STATE, "forbidden");
	tt_progcache_allow_misses(&cache, true);
	CHECK_INT(use(&cache, "relu", 5), 5);
	tt_progcache_deinit(&cache);
}

/* A running call keeps its program when the cache is cleared under it. */
TEST(entries_outlive_the_cache)
{
	struct tt_progcache_key key = key_of("matmul");
	struct tt_progcache_entry *entry;
	struct tt_progcache cache;
	int *data = tt_alloc(sizeof(*data));

	*data = 42;
	freed = 0;
	tt_progcache_init(&cache);
	CHECK_OK(tt_progcache_add(&entry, &cache, &key,
				  &(struct tt_progcache_payload){data, count_free}));
	tt_progcache_deinit(&cache);
	CHECK_INT(freed, 0);
	CHECK_INT(*(int *)entry->payload.data, 42);
	tt_progcache_unref(entry);
	CHECK_INT(freed, 1);
	tt_progcache_unref(NULL);
}

/* Who adds a key that is there already gets what is there; its own payload is freed. */
TEST(second_adder_loses)
{
	struct tt_progcache_key key = key_of("softmax");
	struct tt_progcache_entry *first, *second;
	struct tt_progcache cache;
	int *data[2] = {tt_alloc(sizeof(int)), tt_alloc(sizeof(int))};

	freed = 0;
	tt_progcache_init(&cache);
	CHECK_OK(tt_progcache_add(&first, &cache, &key,
				  &(struct tt_progcache_payload){data[0], count_free}));
	CHECK_OK(tt_progcache_add(&second, &cache, &key,
				  &(struct tt_progcache_payload){data[1], count_free}));
	CHECK(first == second);
	CHECK_INT(freed, 1);
	tt_progcache_unref(first);
	tt_progcache_unref(second);
	tt_progcache_deinit(&cache);
	CHECK_INT(freed, 2);
}

#define THREADS 8
#define TURNS 3000

static struct tt_progcache shared;

static void *work(void *arg)
{
	uint64_t state = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0; i < TURNS; i++) {
		int number = (int)(test_random(&state) % 50);
		char text[32];

		snprintf(text, sizeof(text), "program %d", number);
		if (use(&shared, text, number) != number)
			return (void *)1;
		if (i % 500 == 499)
			tt_progcache_clear(&shared);
		if (i % 700 == 699) {
			tt_progcache_enable(&shared, false);
			tt_progcache_enable(&shared, true);
		}
	}
	return NULL;
}

TEST(threads)
{
	pthread_t threads[THREADS];
	struct tt_progcache_stats stats;
	void *wrong;

	tt_progcache_init(&shared);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(threads[i], &wrong), 0);
		CHECK(wrong == NULL);
	}
	stats = tt_progcache_stats(&shared);
	CHECK(stats.hits > stats.misses);
	CHECK(stats.hits + stats.misses <= THREADS * TURNS);
	tt_progcache_deinit(&shared);
}

static tt_status fill(struct tt_progcache *cache)
{
	for (int i = 0; i < 40; i++) {
		struct tt_progcache_entry *entry;
		struct tt_progcache_key key;
		char text[200];
		void *data;
		tt_status status;

		memset(text, 'a' + i % 26, sizeof(text));
		key = (struct tt_progcache_key){text, sizeof(text) - (size_t)i};
		TT_TRY(tt_progcache_find(&entry, cache, &key, "TestOperation"));
		if (!entry) {
			data = tt_alloc(16);
			if (!data)
				return tt_fail_nomem();
			status = tt_progcache_add(&entry, cache, &key,
						  &(struct tt_progcache_payload){data, tt_free});
			if (status != TTNN_OK) {
				tt_free(data);
				return status;
			}
		}
		tt_progcache_unref(entry);
	}
	return TTNN_OK;
}

SCENARIO(memory_runs_out)
{
	struct tt_progcache cache;
	tt_status status;

	tt_progcache_init(&cache);
	status = fill(&cache);
	if (status == TTNN_OK)
		status = fill(&cache);
	tt_progcache_deinit(&cache);
	return status;
}
