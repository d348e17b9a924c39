/* terms.h: what all chunks of a trace have in common (struct tt_terms); for trace/record_parts.c. */
#ifndef TT_TRACE_TERMS_H
#define TT_TRACE_TERMS_H

#include "trace/decode.h"

/* Whether the trace has not told more of them than TT_TERMS_MAX allows. */
bool tt_terms_have_room(const struct tt_terms *terms);

/* The one schema that equals this one. NULL when memory is exhausted, which is remembered. */
const struct tt_schema *tt_terms_schema(struct tt_terms *terms, const struct tt_schema *schema);

/*
 * A member of an enumeration that is known by name: one of tensor/enums.h, or as much of it as the
 * trace has told so far. `name` may be NULL: a number without one.
 */
struct ttnn_value tt_terms_member(struct tt_terms *terms, const char *type, int64_t member,
				  const char *name);

#endif
