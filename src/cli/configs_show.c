/* ttnn configs show, list, stats: master files for people, as analyze_operations.py prints them. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/inputs.h"
#include "store/describe.h"

static struct tt_describe how;
static int form;
static bool as_json;

enum { SEED, CLASSIC };

#define FORM_OPTION                                                                                \
	{                                                                                          \
		"format", 0, TT_OPT_CHOICE, &form, "seed|classic",                                 \
			"as the guide shows it (default), or as tt-metal's tool of November 2025"  \
	}
#define JSON_OPTION                                                                                \
	{                                                                                          \
		"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"                               \
	}

/* A master that cannot be opened is told on standard output, in the words of the tool. */
static int open_master(struct tt_master **out)
{
	const char *path = configs_path();
	tt_status status;

	how.classic = form == CLASSIC;
	if (how.classic && !as_json)
		printf("📂 Loading master file: %s\n", path);
	status = tt_master_open(out, path);
	if (status == TTNN_OK) {
		if (how.classic && !as_json)
			printf("✅ Loaded %zu operations\n", tt_master_op_count(*out));
		return TT_EXIT_DONE;
	}
	if (status == TTNN_NOTFOUND)
		printf("❌ Master file not found: %s\n"
		       "💡 Run generic_ops_tracer.py first to generate the master file\n",
		       path);
	else if (status == TTNN_FORMAT && strstr(ttnn_error(), "no \"operations\""))
		printf("❌ Invalid master file format - missing 'operations' key\n");
	else if (status == TTNN_FORMAT)
		printf("❌ Failed to parse JSON file: %s\n", ttnn_error());
	else
		printf("❌ Error loading file: %s\n", ttnn_error());
	return TT_EXIT_NO;
}

static void begin_json(struct tt_jsonw *w)
{
	tt_jsonw_init(w, cli_write_stdout, NULL,
		      (struct tt_jsonw_style){.indent = 2, .utf8 = true});
}

/* Prints a text that was made, or why it was not. */
static int finish(tt_status status, struct tt_str *text)
{
	size_t first;

	if (status == TTNN_OK)
		status = tt_str_status(text);
	/* Lists begin with an empty line there, behind the lines about the file. */
	first = !how.classic && text->length && text->data[0] == '\n';
	if (status == TTNN_OK && text->length)
		fwrite(text->data + first, 1, text->length - first, stdout);
	tt_str_deinit(text);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

static int finish_json(tt_status status, struct tt_jsonw *w)
{
	tt_jsonw_end(w);
	if (status == TTNN_OK)
		status = tt_jsonw_finish(w);
	putchar('\n');
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

/* ---- show ------------------------------------------------------------------------------------------------------------ */

static const struct tt_opt show_options[] = {
	CONFIGS_MASTER_OPTION,
	FORM_OPTION,
	{"brief", 0, TT_OPT_FLAG, &how.brief, NULL, "only how many configurations there are"},
	{"debug", 0, TT_OPT_FLAG, &how.debug, NULL, "also arguments that say nothing"},
	JSON_OPTION,
	{0},
};

static tt_status put_config(struct tt_jsonw *w, struct tt_master *master, size_t op, size_t number)
{
	static struct tt_json_parser parser;
	struct tt_master_config config;
	const struct tt_json *args;
	tt_status status;

	tt_master_config(&config, master, op, number);
	status = tt_master_repaired(&args, master, &parser, op, number);
	if (status == TTNN_OK) {
		tt_jsonw_object(w);
		tt_jsonw_key_string(w, "operation", config.op);
		tt_jsonw_key_int(w, "number", (int64_t)number);
		tt_jsonw_key_string(w, "source", config.source);
		tt_jsonw_key_int(w, "count", (int64_t)config.count);
		tt_jsonw_key(w, "arguments");
		tt_jsonw_value(w, args);
		tt_jsonw_end(w);
	}
	tt_json_parser_deinit(&parser);
	return status;
}

static int show_json(struct tt_master *master, const size_t *ops, size_t count)
{
	tt_status status = TTNN_OK;
	struct tt_jsonw w;

	begin_json(&w);
	tt_jsonw_array(&w);
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; status == TTNN_OK && c < tt_master_config_count(master, ops[i]);
		     c++)
			status = put_config(&w, master, ops[i], c);
	return finish_json(status, &w);
}

/* Without a name: what there is to ask for. */
static int show_names(struct tt_master *master)
{
	if (!how.classic) {
		for (size_t i = 0; i < tt_master_op_count(master); i++)
			printf("📊 Operation: %s\n", tt_master_op_name(master, i));
		return TT_EXIT_DONE;
	}
	printf("🎯 TTNN Operations Analyzer\n📊 Master file contains %zu operations\n"
	       "💡 Use --help to see usage options\n🔍 Quick examples:\n"
	       "   python analyze_operations.py add\n   python analyze_operations.py --list\n"
	       "   python analyze_operations.py --stats\n",
	       tt_master_op_count(master));
	return TT_EXIT_DONE;
}

static int show_operations(struct tt_master *master, const size_t *ops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tt_str text = {0};
		tt_status status = tt_describe_operation(&text, master, ops[i], &how);

		if (i + 1 < count) {
			tt_str_addc(&text, '\n');
			for (int c = 0; how.classic && c < 80; c++)
				tt_str_addc(&text, '=');
			tt_str_adds(&text, how.classic ? "\n" : "");
		}
		if (finish(status, &text) != TT_EXIT_DONE)
			return TT_EXIT_ERROR;
	}
	return TT_EXIT_DONE;
}

static int show(struct tt_master *master, const char *name)
{
	size_t all = tt_master_op_count(master), count = all;
	size_t *ops = tt_calloc(all + 1, sizeof(*ops));
	int code;

	if (!ops) {
		tt_fail_nomem();
		return cli_fail();
	}
	for (size_t i = 0; i < all; i++)
		ops[i] = i;
	if (name)
		count = tt_describe_find(ops, all, master, name);
	if (as_json) {
		code = show_json(master, ops, count);
	} else if (!name) {
		code = show_names(master);
	} else if (!count) {
		struct tt_str text = {0};

		tt_describe_no_match(&text, master, name);
		code = finish(TTNN_OK, &text);
	} else {
		code = show_operations(master, ops, count);
	}
	tt_free(ops);
	return code;
}

static int run_show(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master *master = NULL;
	int code = open_master(&master);

	(void)cmd;
	if (code == TT_EXIT_DONE)
		code = show(master, count ? operands[0] : NULL);
	tt_master_free(master);
	return code;
}

const struct tt_cmd configs_show = {
	.name = "show",
	.help = "the configurations of an operation",
	.operands = "[OPERATION]",
	.most = 1,
	.options = show_options,
	.more = "A name in any spelling: add, ttnn.add, ttnn::add, experimental.x; else all that contain it.\n"
		"Without one, the names of all operations.",
	.run = run_show,
};

/* ---- list -------------------------------------------------------------------------------------------------------------- */

static const struct tt_opt list_options[] = {CONFIGS_MASTER_OPTION, FORM_OPTION, JSON_OPTION, {0}};

static int list_json(const struct tt_master *master)
{
	struct tt_jsonw w;

	begin_json(&w);
	tt_jsonw_array(&w);
	for (size_t i = 0; i < tt_master_op_count(master); i++) {
		tt_jsonw_object(&w);
		tt_jsonw_key_string(&w, "operation", tt_master_op_name(master, i));
		tt_jsonw_key_int(&w, "configurations", (int64_t)tt_master_config_count(master, i));
		tt_jsonw_end(&w);
	}
	return finish_json(TTNN_OK, &w);
}

static int run_list(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master *master = NULL;
	struct tt_str text = {0};
	int code = open_master(&master);

	(void)cmd;
	(void)count;
	(void)operands;
	if (code == TT_EXIT_DONE && as_json) {
		code = list_json(master);
	} else if (code == TT_EXIT_DONE) {
		tt_describe_list(&text, master);
		code = finish(TTNN_OK, &text);
	}
	tt_master_free(master);
	return code;
}

const struct tt_cmd configs_list = {
	.name = "list",
	.help = "all operations, and how many configurations each has",
	.options = list_options,
	.run = run_list,
};

/* ---- stats -------------------------------------------------------------------------------------------------------------- */

static int run_stats(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_master *master = NULL;
	struct tt_str text = {0};
	int code = open_master(&master);

	(void)cmd;
	(void)count;
	(void)operands;
	if (code == TT_EXIT_DONE && as_json) {
		struct tt_jsonw w;

		begin_json(&w);
		tt_jsonw_object(&w);
		code = finish_json(tt_describe_stats_json(&w, master), &w);
	} else if (code == TT_EXIT_DONE) {
		code = finish(tt_describe_stats(&text, master), &text);
	}
	tt_master_free(master);
	return code;
}

const struct tt_cmd configs_stats = {
	.name = "stats",
	.help = "numbers about the whole file",
	.options = list_options,
	.run = run_stats,
};
