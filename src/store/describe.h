/*
 * describe.h: master files as texts for people, as analyze_operations.py prints them.
 *
 * Two forms. CLASSIC is that of tt-metal's own tool of November 2025, to the byte. The other is that of its guide: a
 * shard on a line of its own, configuration objects with their fields, everything recovered that can be. Both show
 * files of any layout. Called by `ttnn configs`.
 */
#ifndef TT_STORE_DESCRIBE_H
#define TT_STORE_DESCRIBE_H

#include "store/master.h"

struct tt_describe {
	bool classic;
	bool brief; /* only how many configurations an operation has */
	bool debug; /* also arguments that say nothing */
};

/*
 * The operations that somebody means by a name, sorted: exact ones, else all that contain it, whatever the case.
 * Their number, at most `most`.
 */
size_t tt_describe_find(size_t *out, size_t most, const struct tt_master *master, const char *name);

/* Appends an operation with its configurations. */
tt_status tt_describe_operation(struct tt_str *out, struct tt_master *master, size_t op,
				const struct tt_describe *how);

/* Appends "no operations found" and the first names. */
void tt_describe_no_match(struct tt_str *out, const struct tt_master *master, const char *name);

/* Appends all operations by category, with the numbers of their configurations. */
void tt_describe_list(struct tt_str *out, const struct tt_master *master);

/* Appends what the whole file holds. */
tt_status tt_describe_stats(struct tt_str *out, struct tt_master *master);

/* The same as members of an object. */
tt_status tt_describe_stats_json(struct tt_jsonw *w, struct tt_master *master);

/* ---- describe_value.c ------------------------------------------------------------------------------------ */

struct tt_repair;

/* Whether an element of a list of arguments says nothing: "nullopt", or a type that nobody could print. */
bool tt_describe_is_nothing(const struct tt_json *element);

/* Appends an element of a list of arguments, {"argN": VALUE} or one that was not parsed. */
tt_status tt_describe_element(struct tt_str *out, struct tt_repair *repair,
			      const struct tt_json *element, const struct tt_describe *how);

/* Appends a value as Python's str() does; texts in it as repr(). */
void tt_describe_python(struct tt_str *out, const struct tt_json *value);

#endif
