/*
 * What of a report's database is a table. ttnn-visualizer does not see captured_graph where it is a view, and tells ranks
 * apart in tables alone. tests/visualizer asks itself.
 */
#include "base/file.h"
#include "base/log.h"
#include "db_ask.h"
#include "report/report.h"

#define RECORDED "tests/data/report/recorded/mlp_detailed/report.json.gz"

/* Imports into NAME.sqlite. */
static tt_status import(const char *input, const char *name, struct tt_report_options options)
{
	struct tt_report_counts counts;
	char file[64];

	snprintf(file, sizeof(file), "%s.sqlite", name);
	options.input = input;
	options.output = test_path("");
	options.db_name = file;
	return tt_report_import(&counts, &options);
}

/* A number out of a database beside the one of tables, which is `t`. */
static int64_t ask_beside(const char *name, const char *sql)
{
	char file[64], text[1024];
	struct tt_db *db;
	int64_t number;

	snprintf(file, sizeof(file), "%s.sqlite", name);
	CHECK_OK(tt_db_open(&db, test_path(file)));
	snprintf(text, sizeof(text), "ATTACH '%s' AS t", test_path("tables.sqlite"));
	CHECK_OK(tt_db_exec(db, text));
	number = ask(db, sql);
	tt_db_discard(db);
	return number;
}

static bool is_table(const char *name, const char *table)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = '%s'",
		 table);
	return ask_beside(name, sql) == 1;
}

/* How many rows only one of the two has; -1: numbers of rows differ. */
static int64_t differences(const char *name, const char *table)
{
	char sql[1024];

	snprintf(
		sql, sizeof(sql),
		"SELECT CASE WHEN (SELECT count(*) FROM main.%s) = (SELECT count(*) FROM t.%s) THEN "
		"(SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM t.%s)) + "
		"(SELECT count(*) FROM (SELECT * FROM t.%s EXCEPT SELECT * FROM main.%s)) ELSE -1 END",
		table, table, table, table, table, table);
	return ask_beside(name, sql);
}

static const char *const texts[] = {"captured_graph", "operation_arguments", "buffers", "edges"};

static void check_same(const char *name)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(differences(name, texts[i]), 0);
	CHECK(ask_beside(name, "SELECT integrity_check = 'ok' FROM pragma_integrity_check") == 1);
}

TEST(graphs_of_operations_are_a_table)
{
	CHECK_OK(import(RECORDED, "tables", (struct tt_report_options){.as_tables = true}));
	CHECK_OK(import(RECORDED, "default", (struct tt_report_options){0}));
	CHECK_OK(import(RECORDED, "views", (struct tt_report_options){.as_views = true}));
	CHECK(ask_beside("default", "SELECT count(*) FROM t.captured_graph") > 3);
	CHECK(is_table("default", "captured_graph") && !is_table("default", "buffers"));
	CHECK(!is_table("views", "captured_graph"));
	check_same("default");
	check_same("views");
	CHECK_FAILS(import(RECORDED, "both",
			   (struct tt_report_options){.as_views = true, .as_tables = true}),
		    TTNN_INVALID, "--tables has no views");
}

/* Beyond the limit it is a view, whichever text is the one too many. */
TEST(too_long_graphs_are_a_view)
{
	int64_t all;

	CHECK_OK(import(RECORDED, "tables", (struct tt_report_options){.as_tables = true}));
	all = ask_beside("tables",
			 "SELECT sum(length(CAST(captured_graph AS blob))) FROM t.captured_graph");
	tt_log_set_level(TT_LOG_ERROR);
	for (int64_t limit = 1; limit <= all; limit += all / 5) {
		CHECK_OK(import(RECORDED, "limit",
				(struct tt_report_options){
					.text_limit = (uint64_t)(limit < all ? limit : all - 1)}));
		CHECK(!is_table("limit", "captured_graph"));
		check_same("limit");
	}
	CHECK_OK(
		import(RECORDED, "limit", (struct tt_report_options){.text_limit = (uint64_t)all}));
	CHECK(is_table("limit", "captured_graph"));
	check_same("limit");
	tt_log_set_level(TT_LOG_WARN);
}

/* A report of a rank, with an operation that has an argument and a buffer. */
static void write_rank(const char *name, int rank)
{
	char text[1024];
	int length = snprintf(
		text, sizeof(text),
		"{\"version\": 1, \"metadata\": {\"rank\": %d, \"world_size\": 2}, \"devices\": "
		"[{\"device_id\": 0, \"l1_num_banks\": 64}], \"graph\": ["
		"{\"counter\": 0, \"node_type\": \"capture_start\", \"params\": {}, \"connections\": [1]},"
		"{\"counter\": 1, \"node_type\": \"function_start\", \"params\": {\"name\": \"ttnn::add\"}, "
		"\"arguments\": [\"of rank %d\"], \"connections\": [2, 3]},"
		"{\"counter\": 2, \"node_type\": \"buffer_allocate\", \"params\": {\"address\": \"%d\", "
		"\"size\": \"4096\", \"layout\": \"INTERLEAVED\", \"type\": \"L1\"}, \"connections\": []},"
		"{\"counter\": 3, \"node_type\": \"function_end\", \"params\": {\"name\": \"ttnn::add\"}, "
		"\"duration_ns\": 7, \"connections\": []}]}",
		rank, rank, 1024 * (rank + 1));

	CHECK_OK(tt_file_save(test_path(name), text, (size_t)length));
}

static void check_ranks(const char *input)
{
	CHECK_OK(import(test_path(input), "tables", (struct tt_report_options){.as_tables = true}));
	CHECK_OK(import(test_path(input), "default", (struct tt_report_options){0}));
	for (size_t i = 0; i < 3; i++)
		CHECK(is_table("default", texts[i]));
	CHECK_INT(ask_beside("default", "SELECT count(*) FROM buffers WHERE rank = 1"), 1);
	check_same("default");
}

TEST(ranks_are_in_tables)
{
	write_rank("graph_capture_1_of_2.json", 0);
	write_rank("graph_capture_2_of_2.json", 1);
	check_ranks("");
	check_ranks("graph_capture_2_of_2.json");
	CHECK_OK(import(test_path("graph_capture_1_of_2.json"), "default",
			(struct tt_report_options){0}));
	CHECK(!is_table("default", "buffers"));
}
