/*
 * order.h: what November 2025 meant by position: the names of arguments in the order of its C++ functions. Files of
 * that layout have no names; who writes them orders by this table, and who reads them names by it.
 */
#ifndef TT_STORE_ORDER_H
#define TT_STORE_ORDER_H

#include "event/value.h"

/*
 * The names of an operation's arguments ("ttnn.add") by position, separated by blanks. NULL when the operation is not known
 * with so many arguments.
 */
const char *tt_order_names(const char *op, size_t arg_count);

/*
 * The same for a call of today, whose arguments are those of the schema: the row of which it has most. NULL: the order is
 * that of the schema.
 */
const char *tt_order_of(const char *op, const struct tt_schema *schema);

/* One of the names: "NAME", or "NAME=TEXT" with what stands there when nothing was given. "=TEXT" is one that there is no more. */
struct tt_order_word {
	const char *name, *usual;
	size_t length, usual_length;
};

/* Takes the next one off the names; false at their end. */
bool tt_order_next(struct tt_order_word *out, const char **names);

#endif
