/* ttnn sweep: recorded configurations as tests. One file per subcommand. */
#include "cli/sweep.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

const char *sweep_master, *sweep_suite, *sweep_vector, *sweep_mutate;
struct tt_opt_list sweep_ops;
int64_t sweep_seed = 1, sweep_every = 1;
bool sweep_all_cases;

/* ---- plans ------------------------------------------------------------------------------------------------ */

static tt_status parse_mutations(struct tt_plan_options *out, const char *words)
{
	while (words && *words) {
		size_t length = strcspn(words, ",");
		enum tt_mutation_kind kind;

		if (!tt_mutation_kind(&kind, words, length))
			return tt_fail(TTNN_INVALID,
				       "--mutate: '%.*s' is none of shape, dtype, layout, sharding",
				       (int)length, words);
		out->kinds[kind] = true;
		words += length + (words[length] == ',');
	}
	return TTNN_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the vector files of a folder, in the order of their names. */
static tt_status add_folder(struct tt_plan *plan, size_t *others, const char *path,
			    const struct tt_plan_options *options)
{
	DIR *folder = opendir(path);
	TT_VEC(char *) names = {0};
	const struct dirent *entry;
	tt_status status = TTNN_OK;

	if (!folder)
		return tt_fail(TTNN_NOTFOUND, "%s: there is no such folder", path);
	while (status == TTNN_OK && (entry = readdir(folder))) {
		struct tt_str name = {0};
		char **place;

		if (!tt_ends_with(entry->d_name, ".json") ||
		    strcmp(entry->d_name, "generation_manifest.json") == 0)
			continue;
		place = TT_VEC_PUSH(&names);
		tt_str_addf(&name, "%s/%s", path, entry->d_name);
		status = place ? tt_str_take(place, &name) : tt_fail_nomem();
		if (status != TTNN_OK && place)
			names.count--;
	}
	closedir(folder);
	if (names.count)
		qsort(names.data, names.count, sizeof(*names.data), by_name);
	for (size_t i = 0; i < names.count; i++) {
		if (status == TTNN_OK)
			status = tt_plan_add_vectors(plan, others, names.data[i], options);
		tt_free(names.data[i]);
	}
	TT_VEC_DEINIT(&names);
	return status;
}

static tt_status add_path(struct tt_plan *plan, size_t *others, const char *path,
			  const struct tt_plan_options *options)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return add_folder(plan, others, path, options);
	return tt_plan_is_list(path) ? tt_plan_add_list(plan, path, options)
				     : tt_plan_add_vectors(plan, others, path, options);
}

tt_status sweep_plan(struct tt_plan *out, size_t count, char **operands)
{
	struct tt_plan_options options = {.ops = sweep_ops.data,
					  .op_count = sweep_ops.count,
					  .suite = sweep_suite,
					  .vector = sweep_vector,
					  .seed = (uint64_t)sweep_seed,
					  .all_cases = sweep_all_cases,
					  .every = (uint64_t)sweep_every};
	size_t others = 0;

	TT_TRY(parse_mutations(&options, sweep_mutate));
	if (sweep_master)
		TT_TRY(tt_plan_add_master(out, sweep_master, &options));
	for (size_t i = 0; i < count; i++)
		TT_TRY(add_path(out, &others, operands[i], &options));
	if (!sweep_master && !count)
		TT_TRY(add_folder(out, &others, SWEEP_VECTORS, &options));
	if (others)
		fprintf(stderr,
			"ttnn: %zu vectors are of Python modules, which sweeps_runner.py runs; they are "
			"left out\n",
			others);
	if (!out->vectors.count)
		return tt_fail(TTNN_INVALID, "NO VECTORS: nothing fits, so nothing is tested");
	return TTNN_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------- */

/* To add a subcommand: its row here, its name in sweep.h, a case in tests/cli. */
static const struct tt_cmd *const commands[] = {
	&sweep_cancel, &sweep_dashboard, &sweep_gen,    &sweep_results,
	&sweep_run,    &sweep_status,    &sweep_submit, NULL};

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)cmd;
	(void)count;
	(void)operands;
	tt_fail(TTNN_INVALID, "a subcommand is missing");
	return tt_cmd_complain("ttnn sweep");
}

const struct tt_cmd cli_sweep = {
	.name = "sweep",
	.help = "run every recorded configuration again and compare it with its golden",
	.commands = commands,
	.more = "`ttnn sweep run --master FILE` runs all of a master file; `gen` writes vector files first, which `run` takes\n"
		"(docs/ttnn-sweep.md). `submit` runs them on a cluster (docs/cluster.md). Python's sweep modules are run by sweeps_runner.py, into the same results.",
	.run = run,
};
