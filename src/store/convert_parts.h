/*
 * convert_parts.h: between convert_args.c, convert_value.c and convert_tensor.c. Each function writes one value in the
 * layout `to`, from a value in any of them.
 */
#ifndef TT_STORE_CONVERT_PARTS_H
#define TT_STORE_CONVERT_PARTS_H

#include "base/jsonw.h"
#include "store/master.h"

/* ---- convert_value.c ------------------------------------------------------------------------------------ */

/* The value of an argument. */
void tt_convert_to_v2(struct tt_jsonw *w, const struct tt_json *value);
void tt_convert_to_v1(struct tt_jsonw *w, const struct tt_json *value);

/* One of V1 or of the seed's block as the other: only tensors and memory configurations differ. */
void tt_convert_list(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to);

/* ---- convert_tensor.c ----------------------------------------------------------------------------------- */

/* What a tensor or a memory configuration holds, without its name: {"Tensor": THIS}. */
void tt_convert_tensor(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to);
/* One in a list, to V1 or the seed's block. */
void tt_convert_bare_tensor(struct tt_jsonw *w, const struct tt_json *value,
			    enum tt_master_layout to);
void tt_convert_memory(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to);

#endif
