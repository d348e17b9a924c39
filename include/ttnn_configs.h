/*
 * ttnn_configs.h: configurations of operations that were traced from models, as parameters of tests.
 *
 * A master file (docs/formats/master.md) holds the arguments of calls. This turns them into values: shapes, data
 * types, layouts, memory configs and what else an operation takes, by a table with a row for each operation
 * that has parameters of its own. What was traced is kept as it is: shards are neither rounded nor moved.
 *
 *	ttnn_configs *configs;
 *	ttnn_suite *suite;
 *	ttnn_configs_open(&configs, "ttnn_operations_master.json");
 *	ttnn_configs_suite(&suite, configs, "sigmoid_accurate", false);
 *	info = ttnn_suite_get(suite);                  columns and their values, a row for each configuration
 *
 * Names of operations are given in any spelling: "add", "ttnn.add", "ttnn::add", "experimental::x", and without
 * their namespace. The conventions are those of <ttnn.h>, but for threads: one at a time uses a ttnn_configs.
 */
#ifndef TTNN_CONFIGS_H
#define TTNN_CONFIGS_H

#include <ttnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A master file, open to be asked. */
typedef struct tt_loader ttnn_configs;

/* Opens a master file of any layout, gzip or plain. TTNN_NOTFOUND when there is none. */
TTNN_API enum ttnn_status ttnn_configs_open(ttnn_configs **out, const char *path);
/* NULL is fine. */
TTNN_API void ttnn_configs_free(ttnn_configs *configs);

/* How many operations it holds; the name of one, as the file spells it (NULL behind the last). */
TTNN_API size_t ttnn_configs_count(const ttnn_configs *configs);
TTNN_API const char *ttnn_configs_name(const ttnn_configs *configs, size_t index);

/* How many configurations a name has; 0 for one that is not there. */
TTNN_API size_t ttnn_configs_of(const ttnn_configs *configs, const char *name);

/* Values with the memory that they lie in. */
typedef struct tt_loaded ttnn_loaded;
/* NULL is fine. */
TTNN_API void ttnn_loaded_free(ttnn_loaded *loaded);
/* Borrowed. */
TTNN_API const struct ttnn_value *ttnn_loaded_value(const ttnn_loaded *loaded);

/*
 * The arguments of all configurations of a name, as the file has them but for what the tracer could not parse, which is
 * repaired: a list of lists of {"arg0": VALUE}, or of dictionaries in files of layout v2.
 */
TTNN_API enum ttnn_status ttnn_configs_arguments(ttnn_loaded **out, ttnn_configs *configs,
						 const char *name);

/*
 * The tensors of each configuration of a name, a dictionary each: shape, dtype, layout, memory_config,
 * output_memory_config and storage_type when there is one tensor; with more of them shape_a, dtype_a, layout_a,
 * memory_config_a, then the same with _b and so on, and output_memory_config.
 */
TTNN_API enum ttnn_status ttnn_configs_tensors(ttnn_loaded **out, ttnn_configs *configs,
					       const char *name);

/*
 * Adds columns to what an operation's suites have, or replaces them: "NAME=FIELD@PLACE ...", as the rows of
 * src/store/loader_rules.c are written. TTNN_INVALID when it makes no sense.
 */
TTNN_API enum ttnn_status ttnn_configs_rule(ttnn_configs *configs, const char *name,
					    const char *columns);

/* Parameters of a test: `count` values each, the n-th of all columns belonging together unless `product`. */
struct ttnn_suite_column {
	const char *name;
	const struct ttnn_value *values;
	size_t count;
	bool tuple; /* its lists are tuples in Python */
};

struct ttnn_suite_info {
	const struct ttnn_suite_column *columns;
	size_t column_count;
	size_t row_count;      /* without `product` */
	const size_t *numbers; /* of each row: which configuration it is of, from 0 */
	bool product;          /* every value of a column goes with every one of the others */
	size_t configurations; /* of the operation in the file */
	size_t left_out;       /* of those: they have other arguments than most */
	const char *text; /* lines that tell how many there are, without a newline at the end */
};

typedef struct tt_suite ttnn_suite;

/*
 * The suite of an operation: a row for each of its configurations, equal rows once; `all_cases`: the values of each
 * column by themselves, for all their combinations (operations with parameters of their own have none of
 * that). Without configurations it has no columns.
 */
TTNN_API enum ttnn_status ttnn_configs_suite(ttnn_suite **out, ttnn_configs *configs,
					     const char *name, bool all_cases);
/* NULL is fine. */
TTNN_API void ttnn_suite_free(ttnn_suite *suite);
/* Borrowed. */
TTNN_API const struct ttnn_suite_info *ttnn_suite_get(const ttnn_suite *suite);

/*
 * What an argument in JSON says of its tensor: a dictionary of shape, dtype, layout, memory_config (as the file has
 * them) and storage_type, or none. The argument may be one that the tracer could not parse.
 */
TTNN_API enum ttnn_status ttnn_configs_tensor(ttnn_loaded **out, const char *json, size_t length);

/* A memory config in JSON of any layout, exactly as it was traced. TTNN_FORMAT when it is none. */
TTNN_API enum ttnn_status ttnn_configs_memory(struct ttnn_memory_config *out, const char *json,
					      size_t length);

/* ---- what the guides' tracing plugin does ---------------------------------------------------------------------- */

/*
 * An operation {"operation": NAME, "arguments": [...]} in JSON with its arguments repaired: elements that could not be
 * parsed as the objects that they were. Free with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_configs_clean(char **out, const char *json, size_t length);

/*
 * The functions of a graph in JSON (a list of nodes, or a report) as such operations, {"content": [...]}: texts of
 * C++ printers as JSON. Free with ttnn_free().
 */
TTNN_API enum ttnn_status ttnn_configs_graph(char **out, const char *json, size_t length);

/*
 * Adds a list of such operations to a master file, which is made when it is missing; how many configurations were
 * new. Others may do so at the same time.
 */
TTNN_API enum ttnn_status ttnn_configs_update(size_t *added, const char *path, const char *json,
					      size_t length, const char *source);

#ifdef __cplusplus
}
#endif

#endif
