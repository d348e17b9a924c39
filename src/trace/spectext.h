/*
 * spectext.h: the texts of tensor specs in arguments and nodes. A program has few specs and mentions them often:
 * some of them are remembered.
 */
#ifndef TT_TRACE_SPECTEXT_H
#define TT_TRACE_SPECTEXT_H

#include "base/str.h"
#include "tensor/text.h"

enum tt_spectext_kind {
	TT_SPECTEXT_WHOLE, /* "TensorSpec(...)" */
	TT_SPECTEXT_SHAPE,
	TT_SPECTEXT_DTYPE,
	TT_SPECTEXT_LAYOUT,
	TT_SPECTEXT_MEMORY, /* "MemoryConfig(...)" */
	TT_SPECTEXT_KINDS
};

/* Specs that are remembered: so many places, of so many specs each. */
#define TT_SPECTEXT_PLACES 256
#define TT_SPECTEXT_EACH 4

struct tt_spectext {
	struct ttnn_tensor_spec spec;
	enum ttnn_dialect dialect;
	uint64_t number;                        /* 0: of no spec yet */
	struct tt_str texts[TT_SPECTEXT_KINDS]; /* empty: not asked for yet */
};

/* All zero is a valid one that remembers nothing yet. */
struct tt_spectexts {
	struct tt_spectext *kept;               /* TT_SPECTEXT_EACH of each place */
	size_t last;                            /* found last */
	unsigned char next[TT_SPECTEXT_PLACES]; /* which of a place is to be forgotten next */
	uint64_t numbers;                       /* given so far */
};

/* Appends a text. */
void tt_spectext_add(struct tt_str *out, struct tt_spectexts *texts, enum tt_spectext_kind kind,
		     const struct ttnn_tensor_spec *spec, enum ttnn_dialect dialect);

/*
 * A number that stands for a spec: equal numbers, equal texts. One that was forgotten gets another later. 0 when
 * memory is exhausted.
 */
uint64_t tt_spectext_number(struct tt_spectexts *texts, const struct ttnn_tensor_spec *spec,
			    enum ttnn_dialect dialect);

void tt_spectexts_deinit(struct tt_spectexts *texts);

#endif
