/*
 * pattern.h: what nodes of a stream have in common that differ in numbers alone, known before they are described. Who
 * made something of such a node notes it here: of those that follow numbers alone are told (nodeparams.c), which
 * costs a fraction of their texts.
 */
#ifndef TT_TRACE_PATTERN_H
#define TT_TRACE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

/* What a pattern is known by: texts as numbers or addresses that stand for them as long as the stream lives. */
#define TT_PATTERN_WORDS 6
struct tt_pattern_key {
	uint64_t words[TT_PATTERN_WORDS];
};

struct tt_pattern {
	/* (optional) The reader's: what it made of a node. NULL: the next one is described, with its numbers. */
	void *form;
	struct tt_pattern_key key;
	struct tt_pattern
		*after[2]; /* of the nodes behind the last ones of it, the newest first: guesses */
};

/* All zero is valid, and finds none: somebody has to want them. */
struct tt_patterns {
	bool wanted;
	struct tt_map known;
	struct tt_arena arena;
	struct tt_pattern *before; /* found last */
};

/* The pattern of a key, made if there is none; NULL if nobody wants them, or memory is exhausted. */
struct tt_pattern *tt_pattern_find(struct tt_patterns *patterns, const struct tt_pattern_key *key);

/* Whether there are so many that it is time to forget them. */
bool tt_patterns_many(const struct tt_patterns *patterns);

/* Forgets all of them: no node may refer to one. */
void tt_patterns_forget(struct tt_patterns *patterns);

void tt_patterns_deinit(struct tt_patterns *patterns);

#endif
