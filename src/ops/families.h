/* families.h: the list of family tables; each is defined in a file of its own. */
#ifndef TT_OPS_FAMILIES_H
#define TT_OPS_FAMILIES_H

#include "ops/op.h"

extern const struct tt_op_family *const tt_families[];
extern const size_t tt_family_count;

/* Other names that Python has for some operations. */
struct tt_op_alias {
	const char *name, *of;
};
extern const struct tt_op_alias tt_op_aliases[];
extern const size_t tt_op_alias_count;

#endif
