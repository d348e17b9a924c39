/*
 * argmemo.h: the texts of the arguments of functions (argtext.h), remembered: a program calls most functions with
 * the same arguments again and again, and a text costs much more than to see that.
 */
#ifndef TT_TRACE_ARGMEMO_H
#define TT_TRACE_ARGMEMO_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "trace/argtext.h"
#include "trace/source.h"

/* The arguments of one call. */
struct tt_argmemo_texts {
	const char **texts;
	uint32_t count;
	uint64_t number; /* equal numbers, equal texts; never 0 */
	const char *key; /* (optional) what they are made of */
	size_t size;
	uint64_t *brief; /* the same in short, for calls of one chunk; in `brief_words` */
	size_t brief_words, brief_room;
	struct tt_argmemo_texts *after; /* those of the call that came behind it last: a guess */
};

/* All zero is a valid one that remembers nothing yet. */
struct tt_argmemo {
	struct tt_map known; /* by what the texts are made of → struct tt_argmemo_texts */
	struct tt_arena arena;
	size_t bytes;
	struct tt_argmemo_texts *before; /* of the call before */
	uint64_t numbers;                /* given so far */
	TT_VEC(uint64_t) key;            /* of the present call */
	TT_VEC(uint64_t) brief;          /* the same in short, or nothing */
	struct tt_args_same same;        /* what is known of its arguments: the caller's */
	bool by_address;                 /* specs are told by their address */
	struct tt_str text;
};

/*
 * The texts of a call's arguments, borrowed until the next call of this; NULL when memory is exhausted. What is
 * pointed to by schemas, enumerations and sets of cores must stay as long as the memo.
 */
const struct tt_argmemo_texts *tt_argmemo_find(struct tt_argmemo *memo,
					       const struct tt_event_scope_begin *begin,
					       struct tt_argtext_style *style);

void tt_argmemo_deinit(struct tt_argmemo *memo);

#endif
