/* sweep.h: the subcommands of `ttnn sweep`, and what they share. */
#ifndef TT_CLI_SWEEP_H
#define TT_CLI_SWEEP_H

#include "base/opt.h"
#include "sweep/plan.h"

extern const struct tt_cmd sweep_cancel;
extern const struct tt_cmd sweep_dashboard;
extern const struct tt_cmd sweep_gen;
extern const struct tt_cmd sweep_results;
extern const struct tt_cmd sweep_run;
extern const struct tt_cmd sweep_status;
extern const struct tt_cmd sweep_submit;

#define SWEEP_VECTORS "vectors_export"
#define SWEEP_RESULTS "results_export"

/* Which vectors: options of gen and run alike. */
extern const char *sweep_master, *sweep_suite, *sweep_vector, *sweep_mutate;
extern struct tt_opt_list sweep_ops;
extern int64_t sweep_seed, sweep_every;
extern bool sweep_all_cases;

#define SWEEP_PLAN_OPTIONS                                                                           \
	{"master", 0, TT_OPT_STRING, &sweep_master, "FILE", "configurations of this master file"},   \
		{"op",                                                                               \
		 0,                                                                                  \
		 TT_OPT_LIST,                                                                        \
		 &sweep_ops,                                                                         \
		 "NAME",                                                                             \
		 "only this operation, in any spelling, or a pattern; may be repeated"},             \
		{"module-name", 0,      TT_OPT_LIST,                                                 \
		 &sweep_ops,    "NAME", "the same: the module of a native vector is its operation"}, \
		{"suite-name", 0,      TT_OPT_STRING,                                                \
		 &sweep_suite, "NAME", "only this suite of vector files"},                           \
		{"vector-id", 0, TT_OPT_STRING, &sweep_vector, "HASH", "only this vector"},          \
		{"every",      0,   TT_OPT_POSITIVE,                                                 \
		 &sweep_every, "N", "only each N-th configuration (default: all)"},                  \
		{"seed", 0, TT_OPT_COUNT, &sweep_seed, "N", "of the random tensors (default: 1)"},   \
		{"mutate",                                                                           \
		 0,                                                                                  \
		 TT_OPT_STRING,                                                                      \
		 &sweep_mutate,                                                                      \
		 "KINDS",                                                                            \
		 "also configurations beside each: shape, dtype, layout, sharding, with commas"},    \
	{                                                                                            \
		"all-cases", 0, TT_OPT_FLAG, &sweep_all_cases, NULL,                                 \
			"also all combinations of these"                                             \
	}

/*
 * Makes the plan that options and operands (vector files, lists, folders of vector files) ask for; without any, that of
 * vectors_export/. To be freed in any case. No vector is an error.
 */
tt_status sweep_plan(struct tt_plan *out, size_t count, char **operands);

#endif
