/*
 * tidy.h: included before every file that clang-tidy reads. Its analyzer sees one file at a time and
 * would not know that a failure is never TTNN_OK.
 */
#include "base/status.h"

#define tt_fail(status, ...) (tt_fail(status, __VA_ARGS__), (status))
#define tt_fail_cond(status, ...) (tt_fail_cond(status, __VA_ARGS__), (status))
#define tt_fail_prefix(status, ...) (tt_fail_prefix(status, __VA_ARGS__), (status))
#define tt_fail_nomem() (tt_fail_nomem(), TTNN_NOMEM)
