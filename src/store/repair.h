/*
 * repair.h: elements that the tracer of November 2025 could not parse, as the objects that they were.
 *
 * It stored them as {"UnparsedElement": {"error": ..., "element_info": TEXT}}, where TEXT would be {"argN": VALUE} if
 * it were JSON: every sharded tensor and memory configuration among them, because of how a range of cores was printed.
 * What the text left out ("{...}") cannot be recovered and stays as it is. Called wherever such files are read:
 * by master.c, for display and by sweeps.
 */
#ifndef TT_STORE_REPAIR_H
#define TT_STORE_REPAIR_H

#include "base/json.h"
#include "base/str.h"

/* For many elements one after another: keeps its memory. All zero is a valid one. */
struct tt_repair {
	struct tt_json_parser parser;
	struct tt_str text;
};
void tt_repair_deinit(struct tt_repair *repair);

/* The text of an element that was not parsed; NULL when it is an ordinary one. Its length may be NULL. */
const char *tt_repair_unparsed(const struct tt_json *element, size_t *length);

/*
 * The element {"argN": VALUE} that such a text stands for, as JSON in repair->text and, if `out` is not NULL, read:
 * it lives until the next call. *out is NULL when it cannot be recovered. Fails only for want of memory.
 */
tt_status tt_repair_text(const struct tt_json **out, struct tt_repair *repair, const char *text,
			 size_t length);

/* Whether any element of a list of arguments was not parsed. */
bool tt_repair_needed(const struct tt_json *args);

/*
 * Appends the arguments as JSON with every element recovered that can be; counts those that cannot.
 * Arguments that are no list are appended as they are.
 */
tt_status tt_repair_args(struct tt_str *out, size_t *lost, struct tt_repair *repair,
			 const struct tt_json *args);

/*
 * Appends a text that is the same for the same arguments, which are repaired: compact, the members of objects in the
 * order of the alphabet (layouts differ in it); a shape that is a text, "{224, 32}" or "[224, 32]", as the list that it is.
 */
void tt_repair_canonical(struct tt_str *out, const struct tt_json *args);

#endif
