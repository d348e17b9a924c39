/* info.h: what a trace is, for people and for programs: `ttnn show --info`, `ttnn trace`. */
#ifndef TT_TRACE_INFO_H
#define TT_TRACE_INFO_H

#include "base/jsonw.h"
#include "trace/source.h"

/* Several lines: program, times, counts, names of scopes by how often they were called, damage. */
void tt_trace_info_text(struct tt_str *out, const struct tt_trace_info *info);

/* "3120 events of 210 calls in 1 thread, 41 KiB". */
void tt_trace_info_line(struct tt_str *out, const struct tt_trace_info *info);

/* The same as an object. */
void tt_trace_info_json(struct tt_jsonw *w, const struct tt_trace_info *info);

#endif
