#include "ops/families.h"

/* To add a family: its table in a new file, and its name in this list. */
#define FAMILIES(X)                                                                                \
	X(binary)                                                                                  \
	X(creation)                                                                                \
	X(host)                                                                                    \
	X(random)                                                                                  \
	X(ternary)                                                                                 \
	X(typecast)                                                                                \
	X(unary)

#define X(name) extern const struct tt_op_family tt_family_##name;
FAMILIES(X)
#undef X

const struct tt_op_family *const tt_families[] = {
#define X(name) &tt_family_##name,
	FAMILIES(X)
#undef X
};
const size_t tt_family_count = sizeof(tt_families) / sizeof(tt_families[0]);
