/*
 * spectext.h: the texts of tensor specs in arguments and nodes. A program has few specs and mentions them often:
 * the last ones are remembered.
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

#define TT_SPECTEXT_KEPT 16

struct tt_spectext {
	struct ttnn_tensor_spec spec;
	enum ttnn_dialect dialect;
	bool used;
	struct tt_str texts[TT_SPECTEXT_KINDS]; /* empty: not asked for yet */
};

/* All zero is a valid one that remembers nothing yet. */
struct tt_spectexts {
	struct tt_spectext *kept; /* TT_SPECTEXT_KEPT of them */
	size_t next, last;        /* to be forgotten next; found last */
};

/* Appends a text. */
void tt_spectext_add(struct tt_str *out, struct tt_spectexts *texts, enum tt_spectext_kind kind,
		     const struct ttnn_tensor_spec *spec, enum ttnn_dialect dialect);

void tt_spectexts_deinit(struct tt_spectexts *texts);

#endif
