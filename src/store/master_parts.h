/*
 * master_parts.h: what the files behind master.h share.
 */
#ifndef TT_STORE_MASTER_PARTS_H
#define TT_STORE_MASTER_PARTS_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/jsonslice.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/convert_args.h"
#include "store/master.h"
#include "store/repair.h"

/* A configuration: where it is written. */
struct tt_master_entry {
	struct tt_jsonslice_place place; /* in the file, if `made` is NULL */
	const char *made;                /* its JSON in the master's layout: new, or changed */
	size_t length;
	int64_t row;     /* in a store; 0: not there yet */
	bool changed;    /* since it was read from a store */
	bool has_key;    /* its key is known */
	uint64_t key[2]; /* of its arguments */
};

/* A member that is only passed on. */
struct tt_master_member {
	const char *key;
	struct tt_jsonslice_place place;
};
typedef TT_VEC(struct tt_master_member) tt_master_members;

struct tt_master_op {
	const char *name;
	TT_VEC(struct tt_master_entry) entries;
	tt_master_members others; /* beside "configurations" */
};

/* What a call was made by, in the words of V2: each of them once. */
struct tt_master_run {
	const char *source, *trace_uid, *pytest_args; /* (optional) the last two */
	const char *machine;                          /* JSON with sorted keys, or "null" */
	size_t machine_length;
	const char *identity; /* of the machine, as hashes have it */
	size_t identity_length;
	uint32_t machine_number; /* the same for the same machine */
};

/* How often a configuration was made by a run since the master is open; folded into its JSON before that is read. */
struct tt_master_count {
	uint32_t op, number, run;
	bool waits;
	uint64_t count;
};

struct tt_db;
struct tt_db_stmt;

struct tt_master {
	enum tt_master_layout layout;
	struct tt_arena arena;
	char *path;                /* (optional) of the file, for messages */
	struct tt_jsonslice *file; /* (optional) where places lie */
	struct tt_db *db;          /* (optional) where rows lie */
	struct tt_db_stmt *body;   /* of a row */
	int64_t schema_version;    /* of the store */
	TT_VEC(struct tt_master_op) ops;
	struct tt_map by_name;     /* number of the operation */
	tt_master_members members; /* of the file, in its order, with "operations" and "metadata" */
	struct tt_jsonslice_place metadata; /* length 0: there is none */
	struct tt_map models;
	uint64_t total_operations; /* calls seen, as far as told */
	char last_updated[32];
	bool final_newline, dirty;
	uint64_t next_id; /* for a configuration of V2 */

	struct tt_map index; /* of operation and key: the number of the configuration */
	bool indexed;
	struct tt_map raw; /* the same by the very text that was added */
	TT_VEC(struct tt_master_run) runs;
	struct tt_map run_numbers, machine_numbers;
	TT_VEC(struct tt_master_count) counts;
	struct tt_map count_numbers; /* of configuration and run */
	TT_VEC(size_t) waiting;      /* counts that are not folded in */
	struct tt_map texts;         /* sources, kept as long as the master */

	struct tt_json_parser parser, second, third; /* for configurations; for what is added */
	struct tt_convert convert;
	struct tt_repair repair;
	struct tt_str text, key_text, made, name;
	struct tt_master_lock lock;
};

/* ---- master.c ----------------------------------------------------------------------------------------- */

/* The number of the operation of that name, made if absent. */
tt_status tt_master_op_of(size_t *out, struct tt_master *master, const char *name, size_t length);

/* A new configuration of an operation, all zero; NULL for want of memory. */
struct tt_master_entry *tt_master_push(struct tt_master *master, size_t op);

/* The JSON of a configuration; it lives until the next call with this parser. */
tt_status tt_master_entry(const struct tt_json **out, struct tt_master *master,
			  struct tt_json_parser *parser, const struct tt_master_entry *entry);

/* What a configuration says of itself, in whichever layout; NULL where it does not. */
struct tt_master_said {
	const struct tt_json *args;
	const struct tt_json *sources;    /* a text, a list of them, or absent */
	const struct tt_json *machines;   /* a list, or absent: V1 */
	const struct tt_json *executions; /* a list, or absent: V2 */
};
void tt_master_say(struct tt_master_said *out, const struct tt_json *config);

/* The first source of a configuration, or "". */
const char *tt_master_said_source(const struct tt_master_said *said);

/* How many calls a configuration stands for, as far as it says. */
uint64_t tt_master_said_count(const struct tt_master_said *said);

/* ---- master_read.c ------------------------------------------------------------------------------------- */

/* Makes the index of a file. */
tt_status tt_master_read(struct tt_master *master);

/* ---- master_add.c ------------------------------------------------------------------------------------------ */

/* A call with its parts read. */
struct tt_master_incoming {
	const char *op;
	enum tt_master_layout layout;
	const struct tt_json *args;
	const char *raw; /* (optional) the text of the arguments */
	size_t length;
	uint32_t run;
	uint64_t count;
	bool most; /* the count replaces a smaller one of the same run instead of adding to it */
	const struct tt_json *sweep_hash; /* (optional) a member of V2 that is passed on */
};

/* A machine as V2 has it. */
struct tt_master_machine_text {
	const char *text; /* JSON with sorted keys, or "null" */
	size_t length;
};

/* The number of a run, made if absent; `details` are its trace_uid and pytest_args, each may be NULL. */
tt_status tt_master_run_of(uint32_t *out, struct tt_master *master, const char *source,
			   const char *const details[2], struct tt_master_machine_text machine);

/* Finds the configuration of a call, or makes it. */
tt_status tt_master_add_parsed(size_t *op, size_t *number, bool *added, struct tt_master *master,
			       const struct tt_master_incoming *call);

/* Counts a call of it. */
tt_status tt_master_count_call(struct tt_master *master, const struct tt_master_incoming *call,
			       size_t op, size_t number);

/* Says that arguments are not of their kind. */
tt_status tt_master_fail_args(const char *op, enum tt_master_layout layout,
			      const struct tt_json *args);

/* Makes the text in master->made that of a configuration. */
tt_status tt_master_keep_made(struct tt_master *master, struct tt_master_entry *entry);

/* Keeps a text as long as the master; NULL for want of memory. */
const char *tt_master_keep(struct tt_master *master, const char *text, size_t length);

/* The hash that a configuration has in V2; `text` is what it is made of. `identity` is that of a run. */
tt_status tt_master_config_hash(char out[TT_DIGEST_TEXT], struct tt_str *text, const char *op,
				const struct tt_json *args, const char *identity);

/* Makes the index of keys, if it is not made. */
tt_status tt_master_index(struct tt_master *master);

/* ---- executions.c ------------------------------------------------------------------------------------------ */

/* Folds what was counted into the configurations: before their JSON is read. */
tt_status tt_master_fold(struct tt_master *master);

/* ---- master_write.c ---------------------------------------------------------------------------------------- */

/* Writes one configuration as a layout has it. */
tt_status tt_master_write_config(struct tt_jsonw *w, struct tt_master *master, size_t op,
				 size_t number, enum tt_master_layout to);

/* "2025-11-20 08:39:15": when the master was changed last; now if it is changed. */
void tt_master_stamp(char out[32], const struct tt_master *master);

/* ---- master_db.c -------------------------------------------------------------------------------------------- */

/* Whether a path is that of a store. */
bool tt_master_is_store(const char *path);

/* Reads what a store has: its rows stay there. */
tt_status tt_master_read_store(struct tt_master *master);

/* The JSON of a row. */
tt_status tt_master_row(const struct tt_json **out, struct tt_master *master,
			struct tt_json_parser *parser, const struct tt_master_entry *entry);

/* Writes a store: what changed, where the master came from it; else all of it. */
tt_status tt_master_save_store(struct tt_master *master, const char *path,
			       enum tt_master_layout layout);

void tt_master_close_store(struct tt_master *master);

#endif
