/* ttnn sweep results: what became of runs. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/sweep.h"
#include "db/db.h"
#include "sweep/results_copy.h"
#include "sweep/summary.h"

static const char *database = SWEEP_RESULTS "/results.sqlite", *html, *to;
static bool as_json, as_markdown, compare, list_runs;

static const struct tt_opt options[] = {
	{"db", 0, TT_OPT_STRING, &database, "FILE",
	 "the database, a file or postgresql://USER@HOST/NAME (default: " SWEEP_RESULTS
	 "/results.sqlite)"},
	{"compare", 0, TT_OPT_FLAG, &compare, NULL,
	 "compare two runs; exit code 1 when something became worse"},
	{"runs", 0, TT_OPT_FLAG, &list_runs, NULL, "list the runs of the database"},
	{"to", 0, TT_OPT_STRING, &to, "FILE",
	 "copy the run, or all runs, into another database; nothing is printed of them"},
	{"html", 0, TT_OPT_STRING, &html, "FILE", "write a page with charts"},
	{"markdown", 0, TT_OPT_FLAG, &as_markdown, NULL, "print Markdown"},
	{"json", 0, TT_OPT_FLAG, &as_json, NULL, "print JSON"},
	{0},
};

/* A run is named by itself, or by the database whose newest it is: "other.sqlite", "other.sqlite:RUN". */
static tt_status read_run(struct tt_summary *out, const char *name)
{
	const char *colon = name ? strrchr(name, ':') : NULL;
	struct tt_str path = {0};
	struct stat info;
	tt_status status;

	if (name && (tt_db_is_url(name) || (stat(name, &info) == 0 && S_ISREG(info.st_mode))))
		return tt_summary_read(out, name, NULL);
	if (!colon)
		return tt_summary_read(out, database, name);
	tt_str_add(&path, name, (size_t)(colon - name));
	status = tt_str_status(&path);
	if (status == TTNN_OK)
		status = tt_summary_read(out, tt_str_text(&path), colon + 1);
	tt_str_deinit(&path);
	return status;
}

static int print(tt_status status, struct tt_str *text)
{
	if (status == TTNN_OK)
		status = tt_str_status(text);
	/* Names and messages are those of others: they do nothing to the terminal. */
	for (size_t i = 0; status == TTNN_OK && i < text->length; i++)
		if (((unsigned char)text->data[i] < ' ' && text->data[i] != '\n') ||
		    text->data[i] == 0x7f)
			text->data[i] = ' ';
	if (status == TTNN_OK)
		fwrite(tt_str_text(text), 1, text->length, stdout);
	tt_str_deinit(text);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

static int run_compare(char **names)
{
	struct tt_summary before = {0}, after = {0};
	struct tt_summary_change counts = {0};
	struct tt_str text = {0};
	int code;

	if (read_run(&before, names[0]) != TTNN_OK || read_run(&after, names[1]) != TTNN_OK) {
		code = cli_fail();
	} else {
		tt_summary_compare(&counts, &text, &before, &after);
		code = print(TTNN_OK, &text);
	}
	tt_summary_free(&before);
	tt_summary_free(&after);
	return code == TT_EXIT_DONE && counts.worse ? TT_EXIT_NO : code;
}

static int write_page(const struct tt_summary *summary)
{
	struct tt_str text = {0};
	tt_status status;

	tt_summary_page(&text, summary);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_file_save(html, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status == TTNN_OK ? TT_EXIT_DONE : cli_fail();
}

static int run_show(const char *name)
{
	struct tt_summary summary;
	struct tt_str text = {0};
	tt_status status = TTNN_OK;
	int code = TT_EXIT_DONE;

	if (read_run(&summary, name) != TTNN_OK)
		return cli_fail();
	if (html)
		code = write_page(&summary);
	if (as_json)
		status = tt_summary_json(&text, &summary);
	else if (as_markdown)
		tt_summary_markdown(&text, &summary);
	else if (!html)
		tt_summary_text(&text, &summary);
	if (code == TT_EXIT_DONE)
		code = print(status, &text);
	else
		tt_str_deinit(&text);
	if (code == TT_EXIT_DONE && summary.all.failed)
		code = TT_EXIT_NO;
	tt_summary_free(&summary);
	return code;
}

static int run_copy(const char *name)
{
	struct tt_results_copied copied;

	if (tt_results_copy(&copied, to, database, name) != TTNN_OK)
		return cli_fail();
	printf("%s: %llu runs, %llu results that it had not\n", to, (unsigned long long)copied.runs,
	       (unsigned long long)copied.rows);
	return TT_EXIT_DONE;
}

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_str text = {0};

	(void)cmd;
	if (compare ? count != 2 : count > 1) {
		tt_fail(TTNN_INVALID,
			compare ? "--compare needs two runs" : "one run at a time, or --compare");
		return tt_cmd_complain("ttnn sweep results");
	}
	if (to)
		return run_copy(count ? operands[0] : NULL);
	if (compare)
		return run_compare(operands);
	if (list_runs)
		return print(tt_summary_runs(&text, database), &text);
	return run_show(count ? operands[0] : NULL);
}

const struct tt_cmd sweep_results = {
	.name = "results",
	.help = "what became of the vectors of a run",
	.options = options,
	.exclusive = "json|markdown",
	.operands = "[RUN] | --compare RUN RUN",
	.most = 2,
	.more = "RUN is the name of a run, `last` (the default), or a database, whose newest run is meant; FILE:RUN is one of another\n"
		"database. Exit code: 0 when nothing failed (became worse), 1 when something did.",
	.run = run,
};
