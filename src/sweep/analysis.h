/*
 * analysis.h: what became of a run, in the words of TT-NN's guide, from its files. Called by analyze_sweep_results.py
 * (<ttnn_sweep.h>). `ttnn sweep results` tells more, from the rows of the database (summary.h).
 */
#ifndef TT_SWEEP_ANALYSIS_H
#define TT_SWEEP_ANALYSIS_H

#include "base/json.h"
#include "base/str.h"

/* Appends the analysis of records, a list as results_export/ has it (results.h); `run`, which may be NULL, tells of the run. */
tt_status tt_analysis_write(struct tt_str *out, const struct tt_json *records,
			    const struct tt_json *run);

/*
 * The same of files: `records`, a file of a suite or of a run, and (optional) `run`, a file of a run. With neither the
 * newest run of the directory; TTNN_NOTFOUND when there is none.
 */
tt_status tt_analysis_read(struct tt_str *out, const char *directory, const char *records,
			   const char *run);

#endif
