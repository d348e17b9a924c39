/*
 * rewrite.h: arguments of functions in graphs, which are texts of C++ printers, as master files of November 2025 have
 * them: "Shape([1, 2])" as {"Shape": [1, 2]}. Upstream does this by a chain of substitutions; here the text is read.
 * Grids, which that chain could not turn into JSON, become what repair.h makes of them.
 */
#ifndef TT_STORE_REWRITE_H
#define TT_STORE_REWRITE_H

#include "base/str.h"

/*
 * Appends [{"arg0": VALUE}, ...]. A text that cannot be read is {"UnparsedElement": {"error", "element_info"}}. Fails only for
 * want of memory.
 */
tt_status tt_rewrite_arguments(struct tt_str *out, const char *const *texts, size_t count);

#endif
