/*
 * convert_args.h: arguments from one layout of master files to another, by their grammar alone: what an operation calls
 * its arguments, and which of its texts are truth values, is not asked for.
 *
 *	V1      {"argN": VALUE} one after another; numbers, lists, enumerations and "nullopt" are texts
 *	V2      "argN": VALUE in one object; null, numbers, lists, {"type": ..., "repr": ...}
 *	SEED    as V1, without what can be told from the rest of a tensor
 *
 * Nothing is lost but what a layout has no words for: V1 has six digits of a real number and 0 and 1 for truth values.
 */
#ifndef TT_STORE_CONVERT_ARGS_H
#define TT_STORE_CONVERT_ARGS_H

#include "store/master.h"
#include "store/repair.h"

/* For many one after another. All zero is a valid one. */
struct tt_convert {
	struct tt_repair repair;
	struct tt_json_parser parser;
	struct tt_str text;
};
void tt_convert_deinit(struct tt_convert *convert);

/* Appends arguments of layout `from` as JSON of layout `to`; elements that can be repaired are. */
tt_status tt_convert_args(struct tt_str *out, struct tt_convert *convert,
			  const struct tt_json *args, enum tt_master_layout from,
			  enum tt_master_layout to);

#endif
