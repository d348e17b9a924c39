/* kv_cache.h: the goldens of kv_cache.c and paged_cache.c, and what both share. */
#ifndef TT_OPS_ATTENTION_KV_CACHE_H
#define TT_OPS_ATTENTION_KV_CACHE_H

#include "golden/golden_attention.h"
#include "ops/op.h"

/* Launches a program whose only result is its first input, changed in place. */
tt_status tt_cache_launch(struct tt_call *call, const struct tt_program_args *args);

/* infer() of such programs: their outputs are given. */
tt_status tt_cache_infer(struct tt_launch *launch);

#endif
