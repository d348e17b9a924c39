/*
 * schema.h: the visualizer database as tables of rows: which tables and columns there are, how rows
 * enter them, and what differs between the versions of the schema.
 *
 * To add a table: a line in the list, a row in schema.c. To add a version: a row of `versions`.
 */
#ifndef TT_REPORT_SCHEMA_H
#define TT_REPORT_SCHEMA_H

#include "base/vec.h"
#include "db/fill.h"

/* In the order in which they are created. */
#define TT_REPORT_TABLES(X)                                                                        \
	X(DEVICES)                                                                                 \
	X(OPERATIONS)                                                                              \
	X(OPERATION_ARGUMENTS)                                                                     \
	X(SUB_DEVICE_MANAGERS)                                                                     \
	X(SUB_DEVICES)                                                                             \
	X(OPERATION_EXECUTIONS)                                                                    \
	X(EXECUTION_SUB_DEVICES)                                                                   \
	X(TENSORS)                                                                                 \
	X(DEVICE_TENSORS)                                                                          \
	X(BUFFERS)                                                                                 \
	X(CAPTURED_GRAPH)                                                                          \
	X(NODES)                                                                                   \
	X(EDGES)                                                                                   \
	X(REPORT_METADATA)                                                                         \
	X(ERRORS)                                                                                  \
	X(SOURCE_FILES)                                                                            \
	X(STACK_TRACES)                                                                            \
	X(INPUT_TENSORS)                                                                           \
	X(OUTPUT_TENSORS)                                                                          \
	X(TENSOR_LIFETIME)                                                                         \
	X(TENSOR_CONSUMERS)                                                                        \
	X(TENSOR_PRODUCERS)                                                                        \
	X(LOCAL_COMPARISONS)                                                                       \
	X(GLOBAL_COMPARISONS)                                                                      \
	X(BUFFER_CHUNKS)                                                                           \
	X(OPERATION_CALLS)                                                                         \
	X(GRAPH_PIECES)                                                                            \
	X(ARGUMENT_LISTS)                                                                          \
	X(ARGUMENT_TEXTS)                                                                          \
	X(BUFFER_OPS)                                                                              \
	X(BUFFER_SPANS)

enum tt_report_table {
#define X(name) TT_REPORT_##name,
	TT_REPORT_TABLES(X)
#undef X
		TT_REPORT_TABLE_COUNT,
};

/* All that differs between the versions. */
struct tt_report_version {
	const char *name;
	bool storage_type;     /* tensors has that column; host tensors have no buffer_type */
	bool placement;        /* which sub-device ran what: four more tables */
	bool operation_errors; /* errors belong to operations, and a crashed one is an operation */
};

/* "3.3" or "3.5", or NULL. */
const struct tt_report_version *tt_report_version_find(const char *name);

/* The newest. */
const struct tt_report_version *tt_report_version_default(void);

/* Whether schema version `stored` (NULL: none) is older than `current`. */
bool tt_report_version_older(const char *stored, const char *current);

/* A tensor whose size the rows of buffers will tell. */
struct tt_report_sizing {
	int64_t tensor, rank;
	int64_t seq, device, address; /* of the operation that used it first; where it was */
};

/* How it is to be made. */
struct tt_report_db_options {
	const struct tt_report_version *version;
	bool as_tables;      /* nothing is a view, no index is added */
	bool as_views;       /* all that can be a view is one */
	bool alone;          /* one file is imported: ids are there once */
	uint64_t text_limit; /* bytes of captured_graph up to which it is a table */
};

/* A database being filled. */
struct tt_report_db {
	struct tt_db *db;
	const struct tt_report_version *version;
	bool as_tables, as_views, alone;
	bool collided; /* operation ids of two files may be the same */
	bool ranked;   /* there is a rank besides 0 */
	uint64_t buffer_rows;
	uint64_t text_limit, text_bytes; /* of captured_graph: at most, so far */
	struct tt_db_fill *texts;        /* takes them; NULL: captured_graph is a view */
	char *path, *directory;
	struct tt_db_fill *fill; /* (optional) takes the rows of most tables */
	struct tt_db_fill_table fills[TT_REPORT_TABLE_COUNT];
	struct tt_db_stmt *inserts[TT_REPORT_TABLE_COUNT];
	TT_VEC(struct tt_report_sizing) sizings; /* to be asked for at the end */
};

/* Creates the file with its empty tables, or adds what is missing to an existing one. */
tt_status tt_report_db_init(struct tt_report_db *out, const char *path,
			    const struct tt_report_db_options *options);

/* How long the next text of captured_graph may be, besides its place in the view; 0: no text is taken. */
size_t tt_report_db_text_room(const struct tt_report_db *db);

/* A text was longer: captured_graph is a view, and nothing of the texts is kept. */
void tt_report_db_text_drop(struct tt_report_db *db);

/* The insert statement of a table, prepared at first use. */
tt_status tt_report_insert(struct tt_db_stmt **out, struct tt_report_db *db,
			   enum tt_report_table table);

/* Inserts a row of integers. */
tt_status tt_report_insert_ints(struct tt_report_db *db, enum tt_report_table table,
				const int64_t *values, int count);

/* The size of a tensor is NULL so far; in the end it is what rows of buffers tell. */
tt_status tt_report_db_size(struct tt_report_db *db, const struct tt_report_sizing *sizing);

/* Adds the indexes that readers profit from (not with as_tables), ends the transaction, closes. */
tt_status tt_report_db_finish(struct tt_report_db *db);

/* Closes what is left; for a database that is finished or given up. */
void tt_report_db_deinit(struct tt_report_db *db);

#endif
