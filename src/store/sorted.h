/*
 * sorted.h: JSON with its keys in the order of the alphabet, as Python's json.dumps(sort_keys=True) writes it, and the
 * texts that the hashes of the layout of 2026 are computed from.
 */
#ifndef TT_STORE_SORTED_H
#define TT_STORE_SORTED_H

#include "base/json.h"
#include "base/str.h"

/* A member of an object. */
struct tt_sorted_member {
	const char *key;
	size_t length;
	const struct tt_json *value;
};

/* Objects with more members than that get memory of their own. */
#define TT_SORTED_FEW 24

/*
 * The members of an object, sorted: in `few`, or in memory to give back with tt_sorted_free(). NULL for want of it.
 */
struct tt_sorted_member *tt_sorted_members(struct tt_sorted_member few[TT_SORTED_FEW],
					   const struct tt_json *object);
void tt_sorted_free(struct tt_sorted_member *members, const struct tt_sorted_member *few);

/* Appends a value. Numbers that JSON does not have are texts: "nan", "inf", "-inf". */
void tt_sorted_dump(struct tt_str *out, const struct tt_json *value);

/*
 * The same for hashes, without what differs from run to run: integers called "hash", addresses in texts, a null
 * "allowed_worker_cores"; a null "shard_spec" is "None", a shape object is its list.
 */
void tt_sorted_dump_lasting(struct tt_str *out, const struct tt_json *value);

/* Appends the members "hardware" and "mesh", which say what a call ran on; from a machine_info or nothing. */
void tt_sorted_dump_machine(struct tt_str *out, const struct tt_json *machine);

#endif
