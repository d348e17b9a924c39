/*
 * element.h: typed values as master files of November 2025 have them (docs/formats/master.md): texts of C++ printers,
 * and objects by their names. Called for each operation of a trace (extract.c).
 *
 * What that release could not write (sharded tensors, lists of tensors, activations) is written as the object that
 * repair.h makes of its texts.
 */
#ifndef TT_STORE_ELEMENT_H
#define TT_STORE_ELEMENT_H

#include "base/jsonw.h"
#include "event/event.h"

/* One argument: "1", {"Tensor": {...}}, "nullopt". Errors stick in w. */
void tt_element_value(struct tt_jsonw *w, const struct ttnn_value *value);

/*
 * All arguments of an operation, [{"arg0": VALUE}, ...], in the order of that release where it is known (order.h), else
 * in that of its schema; behind them, by name, what was given and the release had not. The name of the operation is
 * dotted.
 */
void tt_element_args(struct tt_jsonw *w, const char *op, const struct tt_event_scope_begin *scope);

#endif
