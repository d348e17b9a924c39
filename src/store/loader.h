/*
 * loader.h: traced configurations as parameters of tests (ttnn_configs.h), between
 *
 *	loader.c        files, suites, what is asked about them
 *	loader_rules.c  the table: which parameters an operation has
 *	loader_field.c  the fields that rows of the table are made of
 *	loader_value.c  arguments of either grammar (master.h) as values
 *	loader_v2.c     suites of files of layout v2
 *	loader_update.c operations that are cleaned and added one by one
 *
 * A configuration is read into a struct tt_loader_call, in an arena; columns are computed from that. What does not fit an
 * operation's columns is TTNN_NOTFOUND: the configuration is left out, and counted.
 */
#ifndef TT_STORE_LOADER_H
#define TT_STORE_LOADER_H

#include <ttnn_configs.h>

#include "base/arena.h"
#include "base/vec.h"
#include "store/master.h"

/* As many tensors as have a letter: input_a ... input_z. */
#define TT_LOADER_TENSORS 26

/* A tensor of a configuration. */
struct tt_loader_tensor {
	struct ttnn_shape extents;
	struct ttnn_memory_config config;
	struct ttnn_value shape, dtype, layout, storage;
	struct ttnn_value placement; /* v2: how it lies on a mesh, or absent */
};

/* One configuration as far as it was read; everything is in the arena. */
struct tt_loader_call {
	struct tt_arena *arena;
	const struct tt_json *args; /* repaired */
	struct tt_loader_tensor tensors[TT_LOADER_TENSORS];
	size_t tensor_count;
};

/* ---- loader_value.c -------------------------------------------------------------------------------- */

/* Argument N (NULL: not there, or lost); the argument of a name. Of either grammar. */
const struct tt_json *tt_loader_arg(const struct tt_json *args, size_t number);
const struct tt_json *tt_loader_named(const struct tt_json *args, const char *name);

/* JSON as it is: dictionaries, lists, texts, numbers. */
tt_status tt_loader_json(struct ttnn_value *out, struct tt_arena *arena,
			 const struct tt_json *value);

/* Whether it tells a tensor: {"Tensor": ...}, one in a list of them, or that of layout v2. */
bool tt_loader_is_tensor(const struct tt_json *value);
tt_status tt_loader_tensor(struct tt_loader_tensor *out, struct tt_arena *arena,
			   const struct tt_json *value);

/* Finds the tensors among the arguments. */
tt_status tt_loader_read(struct tt_loader_call *out, struct tt_arena *arena,
			 const struct tt_json *args);

/* Whether it tells a memory config; that as it was traced, with the shard spec it was made with alone. */
bool tt_loader_is_memory(const struct tt_json *value);
tt_status tt_loader_memory(struct ttnn_memory_config *out, const struct tt_json *value);

/* A number that is one or the text of one; false when it is neither. */
bool tt_loader_number(struct ttnn_value *out, const struct tt_json *value);

/* A list of such, also nested, a text of one, or a Shape. TTNN_NOTFOUND when it is none. */
tt_status tt_loader_numbers(struct ttnn_value *out, struct tt_arena *arena,
			    const struct tt_json *value);

/* A member of an enumeration by any of its texts, or by {"type", "repr"}. */
bool tt_loader_enum(struct ttnn_value *out, const struct tt_enum *type,
		    const struct tt_json *value);

/* A memory config as a value, in the arena. */
tt_status tt_loader_memory_value(struct ttnn_value *out, struct tt_arena *arena,
				 const struct ttnn_memory_config *config);

/* ---- loader_field.c -------------------------------------------------------------------------------- */

/* Where a field is read: argument 5, item 1 of the list in argument 0, tensor 2, the argument named so. */
enum tt_loader_where {
	TT_LOADER_ARG,
	TT_LOADER_TENSOR,
	TT_LOADER_NAMED,
};
struct tt_loader_place {
	enum tt_loader_where where;
	uint32_t number;
	int32_t item;     /* -1: not in a list; -2: all of the list */
	const char *name; /* TT_LOADER_NAMED */
};

#define TT_LOADER_PLACES TT_LOADER_TENSORS

struct tt_loader_field;
struct tt_loader_column {
	const char *name;
	const struct tt_loader_field *field;
	struct tt_loader_place places[TT_LOADER_PLACES];
	size_t place_count;
};

struct tt_loader_columns {
	TT_VEC(struct tt_loader_column) list;
};

/* Adds the columns of a text, "NAME=FIELD@PLACE,PLACE ..."; a name that is there already gets another field. */
tt_status tt_loader_columns_add(struct tt_loader_columns *columns, struct tt_arena *arena,
				const char *text);
void tt_loader_columns_deinit(struct tt_loader_columns *columns);

/* The value of a column for a configuration. */
tt_status tt_loader_column(struct ttnn_value *out, const struct tt_loader_column *column,
			   const struct tt_loader_call *call);

/* Whether the column's lists are tuples in Python. */
bool tt_loader_is_tuple(const struct tt_loader_column *column);

/* ---- loader_rules.c -------------------------------------------------------------------------------- */

struct tt_loader_rule {
	const char *op;      /* without its namespace */
	bool whole;          /* these are all columns; else they are added to those of its kind */
	const char *columns; /* as tt_loader_columns_add() takes them */
	/* (optional) what most configurations must be like for `others` instead */
	bool (*other)(const struct tt_loader_call *call);
	const char *others;
};

/* The row of an operation, or NULL. */
const struct tt_loader_rule *tt_loader_rule(const char *op);

/* The columns of operations with so many tensors that have no row; in the arena. Of all cases: the first so many. */
const char *tt_loader_usual(size_t *cases, struct tt_arena *arena, size_t tensors);

/* ---- loader_v2.c ------------------------------------------------------------------------------------- */

struct tt_suite {
	struct tt_arena arena;
	struct ttnn_suite_info info;
};

/* Fills in a suite of operation `op` of a file of layout v2. */
tt_status tt_loader_suite_v2(struct tt_suite *suite, struct tt_master *master, size_t op);

#endif
