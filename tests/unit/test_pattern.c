/* patterns of nodes: one of each key, however often it is asked for, and none where nobody wants them */
#include "test.h"

#include "trace/pattern.h"

#define KEYS 300

static struct tt_pattern_key key_of(uint64_t number)
{
	return (struct tt_pattern_key){{number % 7, 0, 0, number, 0, number / 7}};
}

TEST(a_key_has_one_pattern)
{
	struct tt_patterns patterns = {.wanted = true};
	struct tt_pattern *found[KEYS];
	uint64_t state = 11;

	for (uint64_t i = 0; i < KEYS; i++) {
		struct tt_pattern_key key = key_of(i);

		found[i] = tt_pattern_find(&patterns, &key);
		CHECK(found[i] && !found[i]->form);
		found[i]->form = &found[i];
	}
	/* As in a loop, and in no order. */
	for (uint64_t i = 0; i < 20 * KEYS; i++) {
		uint64_t which = i < 3 * KEYS ? i % KEYS : test_random(&state) % KEYS;
		struct tt_pattern_key key = key_of(which);
		struct tt_pattern *pattern = tt_pattern_find(&patterns, &key);

		CHECK(pattern == found[which]);
		CHECK(pattern->form == &found[which]);
	}
	tt_patterns_deinit(&patterns);
}

TEST(patterns_are_forgotten)
{
	struct tt_patterns patterns = {.wanted = true};
	struct tt_pattern_key key = key_of(1);
	uint64_t count = 0;

	tt_pattern_find(&patterns, &key)->form = &count;
	while (!tt_patterns_many(&patterns) && count < 1000000) {
		struct tt_pattern_key other = key_of(count++);

		CHECK(tt_pattern_find(&patterns, &other));
	}
	CHECK(count < 1000000);
	tt_patterns_forget(&patterns);
	CHECK(!tt_patterns_many(&patterns));
	CHECK(!tt_pattern_find(&patterns, &key)->form);
	tt_patterns_deinit(&patterns);
}

TEST(nobody_wants_them)
{
	struct tt_patterns patterns = {0};
	struct tt_pattern_key key = key_of(3);

	CHECK(!tt_pattern_find(&patterns, &key));
	CHECK_INT(patterns.known.count, 0);
	tt_patterns_deinit(&patterns);
}

SCENARIO(patterns_of_nodes)
{
	struct tt_patterns patterns = {.wanted = true};
	bool good = true;

	for (uint64_t i = 0; good && i < 40; i++) {
		struct tt_pattern_key key = key_of(i % 20);

		good = tt_pattern_find(&patterns, &key);
	}
	tt_patterns_deinit(&patterns);
	return good ? TTNN_OK : tt_fail_nomem();
}
