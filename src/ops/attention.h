/* attention.h: between attention.c, attention_decode.c and their goldens. */
#ifndef TT_OPS_ATTENTION_H
#define TT_OPS_ATTENTION_H

#include "ops/golden.h"
#include "ops/op.h"

/* A field of an SDPAProgramConfig as a number; the fallback when there is no config or no field. */
uint64_t tt_sdpa_number(const struct ttnn_value *config, int field, uint64_t fallback);

/* The cores that a config gives, or all. */
tt_status tt_sdpa_cores(const ttnn_core_set **out, const struct tt_launch *launch,
			const struct ttnn_value *config);

tt_status tt_golden_attention(struct tt_golden *golden);
tt_status tt_golden_attention_decode(struct tt_golden *golden);

#endif
