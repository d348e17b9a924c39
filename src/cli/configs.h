/*
 * configs.h: what the subcommands of `ttnn configs` share. Each is a row in configs.c.
 */
#ifndef TT_CLI_CONFIGS_H
#define TT_CLI_CONFIGS_H

#include "base/opt.h"
#include "store/master.h"

/* The option --master of all subcommands; NULL: where the workspace has it. */
extern const char *configs_master;
#define CONFIGS_MASTER_OPTION                                                                      \
	{                                                                                          \
		"master", 'm', TT_OPT_STRING, &configs_master, "FILE",                             \
			"the master file (default: traced_operations/ttnn_operations_master.json," \
			" in model_tracer if that is there)"                                       \
	}

/* The option --layout, of those that write. */
extern int configs_layout;
#define CONFIGS_LAYOUT_OPTION                                                                      \
	{                                                                                          \
		"layout", 0, TT_OPT_CHOICE, &configs_layout, "v1|v2|seed",                         \
			"how a file is written (default: as it is, v1 if it is new)"               \
	}

/* The path of the master, whether or not it is there. Borrowed. */
const char *configs_path(void);

/* The layout to write a master in: that of the option, else its own. */
enum tt_master_layout configs_layout_of(const struct tt_master *master);

/* The layout of a master that is made: that of the option, else V1. */
enum tt_master_layout configs_new_layout(void);

/* Where configurations come from. To add a kind: a row in configs_sources. */
struct configs_source {
	const char *name; /* for people: "master files" */
	/* Whether a path is one of these. */
	bool (*takes)(const char *path);
	/* Adds all calls of it; how many there were, and how many configurations were new. */
	tt_status (*add)(size_t *calls, size_t *added, struct tt_master *master, const char *path);
};
extern const struct configs_source *const configs_sources[]; /* ends with NULL */
extern const struct configs_source configs_recordings;

/* Adds what a path leads to, by the first row that takes it; prints how much that was. */
tt_status configs_add_source(struct tt_master *master, const char *path);

/* The subcommands. */
extern const struct tt_cmd configs_add, configs_diff, configs_export, configs_list, configs_merge,
	configs_show, configs_stats, configs_trace, configs_check;

#endif
