/* ttnn import: a database for ttnn-visualizer of reports or traces. */
#include <malloc.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/stop.h"
#include "report/report.h"
#include "trace/session.h"

static const char *db_name;
static bool strict, as_tables, as_views, svg, pages;
static int schema, dialect = -1;
static uint64_t value_limit;

static const char *const schemas[] = {"3.5", "3.3"};

static const struct tt_opt options[] = {
	{"db-name", 0, TT_OPT_STRING, &db_name, "NAME",
	 "file name of the database (default: db.sqlite)"},
	{"schema", 0, TT_OPT_CHOICE, &schema, "3.5|3.3", "version of its tables (default: 3.5)"},
	{"strict", 0, TT_OPT_FLAG, &strict, NULL,
	 "do as upstream does: refuse what it refuses, append to a database that is there"},
	{"tables", 0, TT_OPT_FLAG, &as_tables, NULL,
	 "store every row: no views, no more indexes than upstream has"},
	{"views", 0, TT_OPT_FLAG, &as_views, NULL,
	 "store nothing that a view can make: small, but ttnn-visualizer sees no graphs of operations"},
	{"svg", 0, TT_OPT_FLAG, &svg, NULL, "draw the graphs too, in OUT_DIR/graphs"},
	{"pages", 0, TT_OPT_FLAG, &pages, NULL,
	 "of traces also the pages of buffers, and the buffers of each operation"},
	{"dialect", 0, TT_OPT_CHOICE, &dialect, "seed|tt-metal", "how a trace becomes a graph"},
	{"max-value", 0, TT_OPT_SIZE, &value_limit, "SIZE",
	 "refuse a report with a larger single value: a node, a record, a text (default: 256M)"},
	{0},
};

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	struct tt_report_options report = {
		.input = operands[0],
		.output = operands[1],
		.db_name = db_name,
		.schema = schemas[schema],
		.strict = strict,
		.as_tables = as_tables,
		.as_views = as_views,
		.svg = svg,
		.pages = pages,
		.dialect = dialect < 0 ? tt_dialect_default() : (enum ttnn_dialect)dialect,
		.value_limit = (size_t)value_limit,
	};
	struct tt_report_counts counts;
	struct tt_str text = {0};
	tt_status status;

	(void)cmd;
	(void)count;
	/* Else every thread of the import has an address space of its own for its few blocks. */
#if defined(__GLIBC__)
	mallopt(M_ARENA_MAX, 2);
#endif
	cli_stop_watch();
	if (tt_report_import(&counts, &report) != TTNN_OK)
		return cli_stop_fail();
	tt_report_summary(&text, &counts, &report);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		puts(tt_str_text(&text));
	tt_str_deinit(&text);
	if (status != TTNN_OK)
		return cli_fail();
	if (tt_report_verdict(&counts, &report) == TTNN_OK)
		return TT_EXIT_DONE;
	cli_fail();
	return TT_EXIT_NO;
}

const struct tt_cmd cli_import = {
	.name = "import",
	.help = "make a database for ttnn-visualizer of reports or traces",
	.operands = "REPORT|TRACE|DIR OUT_DIR",
	.least = 2,
	.most = 2,
	.more = "REPORT is a JSON file as end_graph_capture_to_file() writes it (gzip too), with its .python_io.json\n"
		"beside it; TRACE a .ttrace of ttnn trace; DIR a folder of them. OUT_DIR is made if it is not there.",
	.options = options,
	.run = run,
};
