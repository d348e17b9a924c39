/* enums.h: upstream's enumerations that operations take as arguments or attributes. */
#ifndef TT_OPS_ENUMS_H
#define TT_OPS_ENUMS_H

#include "event/value.h"

extern const struct tt_enum tt_enum_unary, tt_enum_binary, tt_enum_ternary;

#endif
