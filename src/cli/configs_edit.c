/* ttnn configs add, merge, export, diff: master files made from others, and compared. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/inputs.h"
#include "store/diff.h"

static const char *output;
static bool as_json;

static size_t count_configs(const struct tt_master *master)
{
	size_t count = 0;

	for (size_t i = 0; i < tt_master_op_count(master); i++)
		count += tt_master_config_count(master, i);
	return count;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_size(const char *path, const struct tt_master *master)
{
	size_t ops = tt_master_op_count(master), configs = count_configs(master);

	printf("%s: %zu configuration%s of %zu operation%s\n", path, configs, plural(configs), ops,
	       plural(ops));
}

/* ---- sources ------------------------------------------------------------------------------------------------------------- */

static bool takes_master(const char *path)
{
	(void)path; /* the last row: whatever else it is, its reader says so */
	return true;
}

static tt_status add_master(size_t *calls, size_t *added, struct tt_master *master,
			    const char *path)
{
	struct tt_master *from;
	tt_status status;

	TT_TRY(tt_master_open(&from, path));
	*calls = count_configs(from);
	status = tt_master_merge(added, master, from);
	tt_master_free(from);
	return status;
}

static const struct configs_source masters = {"master files", takes_master, add_master};

/* To add a kind of source: its row here, before that of masters, which takes all. */
const struct configs_source *const configs_sources[] = {&configs_recordings, &masters, NULL};

tt_status configs_add_source(struct tt_master *master, const char *path)
{
	const struct configs_source *source = &masters;
	size_t calls = 0, added = 0;

	for (size_t i = 0; configs_sources[i]; i++)
		if (configs_sources[i]->takes(path)) {
			source = configs_sources[i];
			break;
		}
	TT_TRY(source->add(&calls, &added, master, path));
	printf("%s: %zu configuration%s, %zu new\n", path, calls, plural(calls), added);
	return TTNN_OK;
}

/* ---- add ------------------------------------------------------------------------------------------------------------------ */

static const struct tt_opt add_options[] = {CONFIGS_MASTER_OPTION, CONFIGS_LAYOUT_OPTION, {0}};

static tt_status add_all(struct tt_master *master, size_t count, char **paths)
{
	for (size_t i = 0; i < count; i++)
		TT_TRY(configs_add_source(master, paths[i]));
	TT_TRY(tt_master_save(master, configs_path(), tt_master_layout(master)));
	print_size(configs_path(), master);
	return TTNN_OK;
}

static int run_add(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master *master = NULL;
	tt_status status = tt_master_edit(&master, configs_path(), configs_new_layout());

	(void)cmd;
	if (status == TTNN_OK)
		status = add_all(master, count, operands);
	tt_master_free(master);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd configs_add = {
	.name = "add",
	.help = "add the configurations of other files to the master",
	.operands = "SOURCE...",
	.least = 1,
	.most = TT_CMD_ANY,
	.options = add_options,
	.run = run_add,
};

/* ---- merge ----------------------------------------------------------------------------------------------------------------- */

#define OUTPUT_OPTION                                                                              \
	{                                                                                          \
		"output", 'o', TT_OPT_STRING, &output, "FILE",                                     \
			"where to write; FILE.sqlite is a store"                                   \
	}

static const struct tt_opt merge_options[] = {OUTPUT_OPTION, CONFIGS_LAYOUT_OPTION, {0}};

static int need_output(const char *path)
{
	tt_fail(TTNN_INVALID, "--output FILE is missing");
	return tt_cmd_complain(path);
}

/* The first file gives the layout, unless the option does. */
static tt_status merge_all(size_t count, char **paths)
{
	struct tt_master *master = NULL;
	tt_status status = tt_master_open(&master, paths[0]);

	if (status == TTNN_OK)
		print_size(paths[0], master);
	for (size_t i = 1; status == TTNN_OK && i < count; i++)
		status = configs_add_source(master, paths[i]);
	if (status == TTNN_OK)
		status = tt_master_save(master, output, configs_layout_of(master));
	if (status == TTNN_OK)
		print_size(output, master);
	tt_master_free(master);
	return status;
}

static int run_merge(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master_lock lock;
	tt_status status;

	(void)cmd;
	if (!output)
		return need_output("ttnn configs merge");
	if (tt_master_lock(&lock, output) != TTNN_OK)
		return cli_fail();
	status = merge_all(count, operands);
	tt_master_let_go(&lock);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd configs_merge = {
	.name = "merge",
	.help = "one master file from several",
	.operands = "FILE...",
	.least = 1,
	.most = TT_CMD_ANY,
	.options = merge_options,
	.run = run_merge,
};

/* ---- export ----------------------------------------------------------------------------------------------------------------- */

static const struct tt_opt export_options[] = {
	CONFIGS_MASTER_OPTION, OUTPUT_OPTION, CONFIGS_LAYOUT_OPTION, {0}};

static int run_export(const struct tt_cmd *cmd, size_t count, char **operands)
{
	const char *path = count ? operands[0] : configs_path();
	struct tt_master *master = NULL;
	struct tt_master_lock lock;
	tt_status status;

	(void)cmd;
	if (!output)
		return need_output("ttnn configs export");
	if (tt_master_lock(&lock, output) != TTNN_OK)
		return cli_fail();
	status = tt_master_open(&master, path);
	if (status == TTNN_OK)
		status = tt_master_save(master, output, configs_layout_of(master));
	tt_master_let_go(&lock);
	if (status == TTNN_OK && strcmp(output, "/dev/stdout") != 0)
		print_size(output, master);
	tt_master_free(master);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

const struct tt_cmd configs_export = {
	.name = "export",
	.help = "write the master in another layout, or as a store",
	.operands = "[FILE]",
	.most = 1,
	.options = export_options,
	.run = run_export,
};

/* ---- diff ------------------------------------------------------------------------------------------------------------------- */

static const struct tt_opt diff_options[] = {
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

static tt_status print_json(const struct tt_diff *diff, struct tt_master *const masters_of[2])
{
	static const char *const keys[] = {"only_in_first", "only_in_second"};
	struct tt_jsonw w;

	tt_jsonw_init(&w, cli_write_stdout, NULL,
		      (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	tt_jsonw_object(&w);
	tt_jsonw_key_int(&w, "common", (int64_t)diff->common);
	for (size_t side = 0; side < 2; side++) {
		tt_jsonw_key(&w, keys[side]);
		tt_jsonw_array(&w);
		for (size_t i = 0; i < diff->count; i++) {
			const struct tt_diff_row *row = &diff->data[i];

			if (row->side != side)
				continue;
			tt_jsonw_object(&w);
			tt_jsonw_key_string(&w, "operation",
					    tt_master_op_name(masters_of[side], row->op));
			tt_jsonw_key_int(&w, "number", (int64_t)row->number);
			tt_jsonw_end(&w);
		}
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	TT_TRY(tt_jsonw_finish(&w));
	putchar('\n');
	return TTNN_OK;
}

/* Numbers as `show` counts them, from 1. */
static void print_text(const struct tt_diff *diff, struct tt_master *const masters_of[2],
		       char **paths)
{
	size_t last_side = 2, last_op = 0;

	for (size_t i = 0; i < diff->count; i++) {
		const struct tt_diff_row *row = &diff->data[i];
		bool next = row->side != last_side || row->op != last_op;

		if (next)
			printf("%sonly in %s: %s:", i ? "\n" : "", paths[row->side],
			       tt_master_op_name(masters_of[row->side], row->op));
		printf(" %zu", row->number + 1);
		last_side = row->side;
		last_op = row->op;
	}
	printf("%s%zu in both, %zu in one alone\n", diff->count ? "\n" : "", diff->common,
	       diff->count);
}

static int run_diff(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master *of[2] = {NULL, NULL};
	struct tt_diff diff = {0};
	tt_status status = tt_master_open(&of[0], operands[0]);
	int code = TT_EXIT_ERROR;

	(void)cmd;
	(void)count;
	if (status == TTNN_OK)
		status = tt_master_open(&of[1], operands[1]);
	if (status == TTNN_OK)
		status = tt_diff(&diff, of[0], of[1]);
	if (status == TTNN_OK) {
		if (as_json)
			status = print_json(&diff, of);
		else
			print_text(&diff, of, operands);
		code = diff.count ? TT_EXIT_NO : TT_EXIT_DONE;
	}
	tt_diff_deinit(&diff);
	tt_master_free(of[0]);
	tt_master_free(of[1]);
	return status == TTNN_OK ? code : cli_fail();
}

const struct tt_cmd configs_diff = {
	.name = "diff",
	.help = "what two master files do not have in common; exit 1 when they differ",
	.operands = "A B",
	.least = 2,
	.most = 2,
	.options = diff_options,
	.run = run_diff,
};
