#include "trace/pattern.h"

#include <string.h>

/* Patterns that are remembered. */
#define MANY 8192

static bool is_of(const struct tt_pattern *pattern, const struct tt_pattern_key *key)
{
	return memcmp(&pattern->key, key, sizeof(*key)) == 0;
}

static struct tt_pattern *look_up(struct tt_patterns *patterns, const struct tt_pattern_key *key)
{
	struct tt_map_entry *entry = tt_map_add(&patterns->known, key, sizeof(*key), NULL);
	struct tt_pattern *pattern;

	if (!entry || entry->pointer)
		return entry ? entry->pointer : NULL;
	pattern = tt_arena_calloc(&patterns->arena, 1, sizeof(*pattern));
	if (pattern)
		pattern->key = *key;
	entry->pointer = pattern;
	return pattern;
}

/* Nodes of a loop follow one another as before: then there is no need to search. */
struct tt_pattern *tt_pattern_find(struct tt_patterns *patterns, const struct tt_pattern_key *key)
{
	struct tt_pattern *before = patterns->before;
	struct tt_pattern *found = before ? before->after[0] : NULL;

	if (!patterns->wanted)
		return NULL;
	if (!found || !is_of(found, key)) {
		found = before ? before->after[1] : NULL;
		if (!found || !is_of(found, key))
			found = look_up(patterns, key);
		if (before) {
			before->after[1] = before->after[0];
			before->after[0] = found;
		}
	}
	patterns->before = found;
	return found;
}

bool tt_patterns_many(const struct tt_patterns *patterns)
{
	return patterns->known.count > MANY;
}

void tt_patterns_forget(struct tt_patterns *patterns)
{
	tt_map_clear(&patterns->known);
	tt_arena_reset(&patterns->arena);
	patterns->before = NULL;
}

void tt_patterns_deinit(struct tt_patterns *patterns)
{
	tt_map_deinit(&patterns->known);
	tt_arena_deinit(&patterns->arena);
	memset(patterns, 0, sizeof(*patterns));
}
