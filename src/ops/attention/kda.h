/* kda.h: between the files of Kimi Delta Attention: where the rows of a chip are in a sequence. */
#ifndef TT_OPS_ATTENTION_KDA_H
#define TT_OPS_ATTENTION_KDA_H

#include "ops/op.h"

/*
 * Chips of the sequence, the first of them, how many places this one is behind it; rows of a chip, those of them before the
 * end of the sequence begins on the first chip, and how many of these the sequence has.
 */
struct tt_kda_course {
	uint64_t chips, first, place;
	uint64_t rows, head, own;
};

/* Along an axis of the mesh, chips have so many rows; inputs have the number of the first token and (optional) the end. */
struct tt_kda_question {
	int64_t axis;
	uint64_t rows;
	size_t start, end;
};

/* For tt_prog.kernel: of the launch's chip. */
tt_status tt_kda_course_of(struct tt_kda_course *c, const struct tt_launch *launch,
			   const struct tt_kda_question *question);

#endif
