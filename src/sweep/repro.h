/*
 * repro.h: a call of a trace as a program of its own: tensors like the recorded ones, the call, its golden, the verdict.
 * It compiles, or runs, as it is.
 */
#ifndef TT_SWEEP_REPRO_H
#define TT_SWEEP_REPRO_H

#include "base/str.h"
#include "sweep/recall.h"

enum tt_repro_language {
	TT_REPRO_C,
	TT_REPRO_PYTHON,
};

/* Appends the program; `trace` is named in its first line. TTNN_UNSUPPORTED when an argument cannot be written. */
tt_status tt_repro_write(struct tt_str *out, const struct tt_recall *recall,
			 enum tt_repro_language language, const char *trace);

#endif
