/*
 * master.h: the unique configurations of operations, and the files that hold them (docs/formats/master.md).
 *
 * A configuration is the arguments of a call, without what differs from run to run. Files come in three layouts:
 *
 *	V1    ttnn_operations_master.json of November 2025: "ttnn::add", a list of {"argN": VALUE}, C++ texts
 *	V2    of 2026: "ttnn.add", an object of "argN" and keywords, config_hash and executions
 *	SEED  the block printed in the guide: "add", a configuration is the bare list
 *
 * All three are read, and written. Values keep the grammar of their layout until another one is asked for. This file
 * knows no operations: what an argument means is told by src/sweep.
 *
 * A file is not parsed whole: opening it makes an index of where configurations lie, and arguments are read when
 * somebody asks for them. Configurations are the same when their repaired arguments are (repair.h): an element
 * that the original tracer could not parse equals the object that it was.
 */
#ifndef TT_STORE_MASTER_H
#define TT_STORE_MASTER_H

#include "base/json.h"
#include "base/jsonw.h"

enum tt_master_layout {
	TT_MASTER_V1,
	TT_MASTER_V2,
	TT_MASTER_SEED,
};

/* What a call ran on; all zero: not known. */
struct tt_master_machine {
	const char *board_type;    /* "Wormhole" */
	const char *device_series; /* "n300" */
	uint32_t card_count;
	uint32_t device_count;
	uint32_t mesh[2]; /* rows, columns; 0: not known */
};

/* One call to be added, or several that were the same. */
struct tt_master_call {
	const char *op;               /* in any spelling: "ttnn::add", "ttnn.add" */
	enum tt_master_layout layout; /* the grammar of its arguments: V1 or V2 */
	const char *args; /* JSON: a list of one-member objects (V1) or an object (V2) */
	size_t length;
	const char *source;      /* the test or program: "models/x.py [HF_MODEL:y]" */
	const char *trace_uid;   /* (optional) of the run; V2 alone keeps it */
	const char *pytest_args; /* (optional) V2 alone keeps it */
	struct tt_master_machine machine;
	uint64_t count; /* how often it was made; 0 counts as 1 */
};

/* A configuration as it is asked for; its texts live as long as the master. */
struct tt_master_config {
	const char *op;     /* as the file spells it */
	const char *source; /* of its first execution, or "" */
	size_t number;      /* among those of its operation, from 0 */
	uint64_t count;     /* how often it was made, as far as the file says; else 1 */
};

struct tt_db;
struct tt_master; /* one thread at a time */

/* An empty one of a layout. */
tt_status tt_master_new(struct tt_master **out, enum tt_master_layout layout);

/* Reads a file of any layout, gzip or plain, or a store (FILE.sqlite). TTNN_NOT_FOUND when there is none. */
tt_status tt_master_open(struct tt_master **out, const char *path);

/* NULL is fine. */
void tt_master_free(struct tt_master *master);

enum tt_master_layout tt_master_layout(const struct tt_master *master);

/* Operations in the order of the file. */
size_t tt_master_op_count(const struct tt_master *master);
const char *tt_master_op_name(const struct tt_master *master, size_t op);
size_t tt_master_config_count(const struct tt_master *master, size_t op);

/*
 * The operations that a name may mean, at most `most` of them, exact ones first: "add", "ttnn.add", "ttnn::add",
 * "experimental.x", "transformer::x", and a bare name in any namespace. Their number.
 */
size_t tt_master_find(size_t *out, size_t most, const struct tt_master *master, const char *name);

/* Appends a name in the spelling of a layout, from any: with "::", with dots, or bare. */
void tt_master_spell(struct tt_str *out, const char *name, enum tt_master_layout layout);

void tt_master_config(struct tt_master_config *out, const struct tt_master *master, size_t op,
		      size_t number);

/*
 * Arguments: an array of one-member objects (V1, SEED) or an object (V2), as they stand in the file, or repaired:
 * unparsed elements as the objects that they were, where they can be recovered. They live until the next call
 * with this parser.
 */
tt_status tt_master_args(const struct tt_json **out, struct tt_master *master,
			 struct tt_json_parser *parser, size_t op, size_t number);
tt_status tt_master_repaired(const struct tt_json **out, struct tt_master *master,
			     struct tt_json_parser *parser, size_t op, size_t number);

/* Adds a call; *added says whether its configuration is new. Its arguments are brought to the master's layout. */
tt_status tt_master_add(bool *added, struct tt_master *master, const struct tt_master_call *call);

/* Adds everything of another one; how many configurations were new. */
tt_status tt_master_merge(size_t *added, struct tt_master *master, struct tt_master *from);

/* Writes it whole, in a layout, to a file that is renamed when it is complete. A path that ends in .sqlite is a store. */
tt_status tt_master_save(struct tt_master *master, const char *path, enum tt_master_layout layout);

/*
 * For several writers of one file: opens it (or a new one of `layout` when it is missing) under a lock that is held
 * until tt_master_free(). Others wait; a process that dies lets go.
 */
tt_status tt_master_edit(struct tt_master **out, const char *path, enum tt_master_layout layout);

/*
 * The same lock without the file, for who replaces one that is there: it has to be taken before anything is read. A path
 * that leads to no file needs none.
 */
struct tt_master_lock {
	int fd; /* -1: not held */
	char *path;
	struct tt_db *server; /* of a store of a server: whose connection has the lock */
};
tt_status tt_master_lock(struct tt_master_lock *out, const char *path);
void tt_master_let_go(struct tt_master_lock *lock);

#endif
