/*
 * names.h: which operations are traced. Those of infrastructure are not: moves, conversions, examples. Names are dotted.
 */
#ifndef TT_STORE_NAMES_H
#define TT_STORE_NAMES_H

#include "base/map.h"
#include "base/str.h"

/* Name i of the excluded ones, "ttnn.to_device"; NULL behind the last. */
const char *tt_names_excluded_at(size_t i);
bool tt_names_excluded(const char *op);

/* "ttnn::transformer::x" as "ttnn.transformer.x", appended. */
void tt_names_dotted(struct tt_str *out, const char *name);

/* The lines of an Allops.txt: what is not in there is not traced. All zero is a valid one, with no names. */
struct tt_names {
	struct tt_map map;
	size_t count;
};
tt_status tt_names_load(struct tt_names *out, const char *path);
bool tt_names_has(const struct tt_names *names, const char *op);
void tt_names_deinit(struct tt_names *names);

#endif
