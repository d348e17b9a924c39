/*
 * mutate.h: configurations beside a recorded one: a tile more or less, another data type, layout or place of its tensors.
 *
 * A mutation is one choice of each kind (0: as recorded). It changes the first tensor, and with it all tensors that
 * have the same extent, data type, layout or place, so that calls stay consistent; other arguments stay. What it gives is a
 * list of arguments as configurations have them. Whether an operation takes those is seen when it runs.
 */
#ifndef TT_SWEEP_MUTATE_H
#define TT_SWEEP_MUTATE_H

#include "base/json.h"
#include "base/str.h"

enum tt_mutation_kind {
	TT_MUTATE_SHAPE,
	TT_MUTATE_DTYPE,
	TT_MUTATE_LAYOUT,
	TT_MUTATE_PLACE,
	TT_MUTATION_KINDS
};

/* All zero: as recorded. */
struct tt_mutation {
	unsigned char choice[TT_MUTATION_KINDS];
};

/* "shape", "dtype", "layout", "sharding"; false: the word is none. */
bool tt_mutation_kind(enum tt_mutation_kind *out, const char *word, size_t length);

/* How many choices a kind has, with that of 0. */
unsigned tt_mutation_choices(enum tt_mutation_kind kind);

/* "recorded", or the choices: "width+32", "rows-32,dtype=float32". `out` has room for 80. */
#define TT_MUTATION_NAME 80
void tt_mutation_name(char out[TT_MUTATION_NAME], struct tt_mutation mutation);
bool tt_mutation_parse(struct tt_mutation *out, const char *name);

/*
 * Appends the arguments after a mutation. *applies tells whether it makes a difference and gives tensors that there can be;
 * if not, nothing is appended.
 */
tt_status tt_mutate(struct tt_str *out, bool *applies, const struct tt_json *args,
		    struct tt_mutation mutation);

#endif
