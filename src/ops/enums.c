#include "ops/enums.h"

#include "tensor/fn.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TT_X(name, number) {number, #name},

static const struct tt_enum_row unary_rows[] = {TT_UNARY_LIST(TT_X)};
static const struct tt_enum_row binary_rows[] = {TT_BINARY_LIST(TT_X)};
static const struct tt_enum_row ternary_rows[] = {TT_TERNARY_LIST(TT_X)};

const struct tt_enum tt_enum_unary = {"UnaryOpType", unary_rows, COUNT(unary_rows)};
const struct tt_enum tt_enum_binary = {"BinaryOpType", binary_rows, COUNT(binary_rows)};
const struct tt_enum tt_enum_ternary = {"TernaryOpType", ternary_rows, COUNT(ternary_rows)};
