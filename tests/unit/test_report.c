/*
 * The importer of reports: what its parts do by themselves, refusals, and what it does while memory
 * runs out. Whole databases are compared in tests/report.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/jsondump.h"
#include "base/log.h"
#include "db/db.h"
#include "report/idset.h"
#include "report/pytext.h"
#include "report/report.h"
#include "report/schema.h"
#include "report/traces.h"
#include "test.h"

#define HEAD "{\"version\": 1, \"metadata\": {\"rank\": 0}, "

/* ---- parts ---------------------------------------------------------------------------------- */

/* The order in which CPython walks these sets, as it printed them. */
TEST(sets_are_walked_as_in_python)
{
	static const int64_t in[] = {300, 5, 13, 21, 29, 1, 9, 17, 7, 100000, 64, 8};
	static const int64_t want[] = {100000, 1, 64, 5, 7, 8, 9, 300, 13, 17, 21, 29};
	static const int64_t few[] = {12, 20, 4, 1};
	static const int64_t few_want[] = {1, 4, 12, 20};
	struct tt_idset set = {0};
	size_t at = 0, count = 0;
	int64_t id;

	for (size_t i = 0; i < 4; i++)
		CHECK_OK(tt_idset_add(&set, few[i]));
	for (; tt_idset_next(&id, &at, &set); count++)
		CHECK_INT(id, few_want[count]);
	CHECK_INT(count, 4);
	tt_idset_clear(&set);
	CHECK(!tt_idset_has(&set, 12));
	for (size_t i = 0; i < 12; i++)
		CHECK_OK(tt_idset_add(&set, in[i]));
	CHECK_OK(tt_idset_add(&set, 300));
	for (at = 0, count = 0; tt_idset_next(&id, &at, &set); count++)
		CHECK_INT(id, want[count]);
	CHECK_INT(count, 12);
	CHECK(tt_idset_has(&set, 100000) && !tt_idset_has(&set, 2));
	tt_idset_deinit(&set);
}

static void check_text(const char *json, const char *dumps, const char *str)
{
	struct tt_str text = {0};
	struct tt_json_doc *doc;

	CHECK_OK(tt_json_parse(&doc, json, strlen(json), "test"));
	tt_json_dump(&text, tt_json_root(doc));
	CHECK_STR(tt_str_text(&text), dumps);
	tt_str_clear(&text);
	tt_py_str(&text, tt_json_root(doc));
	CHECK_STR(tt_str_text(&text), str);
	tt_str_deinit(&text);
	tt_json_free(doc);
}

TEST(texts_are_pythons)
{
	check_text("null", "null", "None");
	check_text("[true,false,-1,2.50,1e22]", "[true, false, -1, 2.5, 1e+22]",
		   "[True, False, -1, 2.5, 1e+22]");
	check_text("{\"b\":[1,true],\"a\":{}}", "{\"b\": [1, true], \"a\": {}}",
		   "{'b': [1, True], 'a': {}}");
	check_text("\"it's\"", "\"it's\"", "it's");
	check_text("[\"it's\", \"q\\\"'\", \"\\u0000\\n\"]",
		   "[\"it's\", \"q\\\"'\", \"\\u0000\\n\"]", "[\"it's\", 'q\"\\'', '\\x00\\n']");
	check_text("[\"\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\\u007f/\"]",
		   "[\"\\u00e9\\u2028\\ud83d\\ude00\\u007f/\"]",
		   "['\xc3\xa9\\u2028\xf0\x9f\x98\x80\\x7f/']");
	check_text("18446744073709551615", "18446744073709551615", "18446744073709551615");
}

static void check_int(const char *json, bool good, int64_t want)
{
	struct tt_json_doc *doc;
	int64_t got = 0;

	CHECK_OK(tt_json_parse(&doc, json, strlen(json), "test"));
	CHECK_INT(tt_py_int(&got, tt_json_root(doc)), good);
	if (good)
		CHECK_INT(got, want);
	tt_json_free(doc);
}

TEST(ints_are_pythons)
{
	check_int("\" 12 \"", true, 12);
	check_int("\"-1_000\"", true, -1000);
	check_int("1.7", true, 1);
	check_int("-1.7", true, -1);
	check_int("true", true, 1);
	check_int("\"9223372036854775807\"", true, INT64_MAX);
	check_int("\"-9223372036854775808\"", true, INT64_MIN);
	check_int("\"9223372036854775808\"", false, 0);
	check_int("\"1__0\"", false, 0);
	check_int("\"1.5\"", false, 0);
	check_int("\"\"", false, 0);
	check_int("null", false, 0);
	check_int("1e30", false, 0);
}

TEST(urls_keep_no_secrets)
{
	static const char *const cases[][2] = {
		{"https://user:token@host.org:8443/a/b.git?x=1#f", "https://host.org:8443/a/b.git"},
		{"https://@host.org/a.git", "https://host.org/a.git"},
		{"https://token@host.org/a.git", "https://host.org/a.git"},
		{"git@host.org:org/a.git", "host.org:org/a.git"},
		{"ssh://git@host.org/org/a.git", "ssh://host.org/org/a.git"},
		{"https://u@[2001:db8::1]:444/a", "https://[2001:db8::1]:444/a"},
		{"  https://host.org/a \n", "https://host.org/a"},
		{"ssh://git@host.org:org/a.git", "ssh://host.org:org/a.git"},
		{"/srv/a.git", "/srv/a.git"},
		{"file:///srv/a@b.git", "file:///srv/a@b.git"},
		{"user:token@host.org/a.git", "host.org/a.git"},
		{"token@host.org/a@b.git", "host.org/a@b.git"},
		{"ftps://user:to@ken@host.org/a@b.git", "ftps://host.org/a@b.git"},
		{"codecommit::us://key@repo", "codecommit::us://repo"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tt_str text = {0};

		CHECK_OK(tt_report_clean_url(&text, cases[i][0]));
		CHECK_STR(tt_str_text(&text), cases[i][1]);
		tt_str_deinit(&text);
	}
}

TEST(traces_name_files)
{
	const char *file;
	size_t length;
	int64_t line;

	file = tt_report_trace_frame(&length, &line,
				     "x\n  File \"/a b.py\", line 12, in f\n    y\n");
	CHECK(file && length == 7 && strncmp(file, "/a b.py", 7) == 0);
	CHECK_INT(line, 12);
	CHECK(!tt_report_trace_frame(&length, &line, "File \"\", line 1\nFile \"a\", line x"));
	file = tt_report_trace_path(&length, "junk\n  /src/a.py:12:7 \n", 23);
	CHECK(file && length == 9 && strncmp(file, "/src/a.py", 9) == 0);
	CHECK(!tt_report_trace_path(&length, "a:b\n/x:1:2:3\n:4\n", 16));
}

TEST(versions_are_compared_by_numbers)
{
	CHECK(tt_report_version_older(NULL, "3.5"));
	CHECK(tt_report_version_older("3.3", "3.5"));
	CHECK(tt_report_version_older("3", "3.3"));
	CHECK(!tt_report_version_older("3.10", "3.5"));
	CHECK(!tt_report_version_older("3.5", "3.5"));
	CHECK(!tt_report_version_older("3.5.0", "3.5"));
	CHECK(tt_report_version_older("x", "3.5"));
	CHECK(!tt_report_version_find("3.4"));
}

/* ---- refusals ------------------------------------------------------------------------------- */

static const char *out_dir(void)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s", test_path("out"));
	return path;
}

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void remove_out(void)
{
	DIR *dir = opendir(out_dir());
	struct dirent *entry;
	char path[1024];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", out_dir(), entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(out_dir());
}

static tt_status import_text(const char *text, struct tt_report_options options)
{
	struct tt_report_counts counts;
	const char *path = test_path("report.json");

	TT_TRY(tt_file_save(path, text, strlen(text)));
	options.input = path;
	options.output = out_dir();
	return tt_report_import(&counts, &options);
}

static void refused(const char *text, struct tt_report_options options, const char *message)
{
	CHECK_FAILS(import_text(text, options), TTNN_FORMAT, message);
	CHECK_INT(count_files(out_dir()), 0);
}

TEST(broken_files_are_refused_with_their_place)
{
	struct tt_report_options none = {0}, small = {.value_limit = 200};
	char deep[4000], text[5000];

	refused("", none, "report.json:1:1: ");
	refused("no", none, "report.json:1:1: ");
	refused("[]", none, "Graph report must be a JSON object");
	refused(HEAD "\"graph\": [\n {\"counter\": 0}", none, "report.json:2:16: ");
	refused(HEAD "\"graph\": [{}]} x", none, "report.json:1:56: ");
	refused(HEAD "\"graph\": [{\"a\": tru}]}", none, "report.json:1:");
	refused(HEAD "\"graph\": [\n7]}", none, "report.json:2:1: a node of the graph must be");
	refused(HEAD "\n\"version\": 1}", none,
		"report.json:2:12: the key \"version\" is there twice");
	refused(HEAD "\"graph\": [\n{\"counter\": 0, \"counter\": 1}]}", none,
		"report.json:2:1: a node with a key that is there twice");
	memset(deep, '[', 1000);
	memset(deep + 1000, ']', 1000);
	deep[2000] = '\0';
	snprintf(text, sizeof(text), HEAD "\"graph\": [{\"arguments\":\n%s}]}", deep);
	refused(text, none, "report.json:2:510: nested too deep");
	memset(deep, 'x', 300);
	deep[300] = '\0';
	snprintf(text, sizeof(text), HEAD "\"graph\": [\n{\"arguments\": [\"%s\"]}]}", deep);
	refused(text, small,
		"report.json:2:1: a single value of 319 bytes: more than the limit of 200");
	/* A report of nothing makes a database of nothing, but takes the place of none. */
	CHECK_OK(import_text(text, none));
	CHECK_FAILS(import_text(text, none), TTNN_NOTFOUND,
		    "what was recorded is empty, so nothing was imported");
	remove_out();
}

#define DEVICE "\"devices\": [{\"device_id\": 3}]"

/* What upstream refuses is taken, unless strict is asked for. */
TEST(strict_refuses_more)
{
	struct tt_report_options none = {0}, strict = {.strict = true};
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"version\": 1, " DEVICE "}", "missing metadata object"},
		{"{\"version\": 1, " DEVICE ", \"metadata\": {}}", "missing required field rank"},
		{HEAD DEVICE ", \"graph\": null}", "\"graph\" must be an array"},
		{HEAD "\"graph\": [{\"node_type\": \"function_start\", \"params\": "
		      "{\"name\": \"a\"}}], \"devices\": null}",
		 "\"devices\" must be an array"},
		{HEAD DEVICE
		 ", \"graph\": [{\"node_type\": \"tensor\", \"params\": {\"tensor_id\": \"x\"}}]}",
		 "a tensor whose numbers are none"},
		{HEAD DEVICE
		 ", \"graph\": [{\"node_type\": \"function_start\", \"params\": null}]}",
		 "a function without a name"},
	};

	tt_log_set_level(TT_LOG_ERROR);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		refused(cases[i].text, strict, cases[i].message);
		CHECK_OK(import_text(cases[i].text, none));
		remove_out();
	}
	tt_log_set_level(TT_LOG_WARN);
}

static int64_t count_rows(const char *table)
{
	struct tt_db_stmt *select = NULL;
	int64_t count = -1;
	struct tt_db *db;
	char path[600], sql[200];
	bool row;

	snprintf(path, sizeof(path), "%s/db.sqlite", out_dir());
	snprintf(sql, sizeof(sql), "select count(*) from %s", table);
	CHECK_OK(tt_db_open(&db, path));
	CHECK_OK(tt_db_prepare(&select, db, sql));
	CHECK_OK(tt_db_next(&row, select));
	count = tt_db_int(select, 0);
	tt_db_stmt_free(select);
	tt_db_discard(db);
	return count;
}

/* Importing twice gives the same; strict appends as upstream does; a failure leaves what was there. */
TEST(what_is_there_is_replaced_or_kept)
{
	static const char good[] = HEAD "\"devices\": [{\"device_id\": 3}], \"graph\": []}";
	struct tt_report_options none = {0}, strict = {.strict = true};

	CHECK_OK(import_text(good, none));
	CHECK_OK(import_text(good, none));
	CHECK_INT(count_rows("devices"), 1);
	CHECK_FAILS(import_text("{\"version\": 1, \"graph\": [", none), TTNN_FORMAT,
		    "report.json:1:26");
	CHECK_INT(count_rows("devices"), 1);
	CHECK_INT(count_files(out_dir()), 1);
	remove_out();
	CHECK_OK(import_text(good, strict));
	CHECK_OK(import_text(good, strict));
	CHECK_INT(count_rows("devices"), 2);
	remove_out();
}

TEST(a_missing_path_is_an_error_unless_strict)
{
	struct tt_report_options options = {.input = "/nowhere/report.json", .output = out_dir()};
	struct tt_report_counts counts;

	CHECK_FAILS(tt_report_import(&counts, &options), TTNN_NOTFOUND, "/nowhere/report.json");
	CHECK_INT(count_files(out_dir()), 0);
	options.strict = true;
	CHECK_OK(tt_report_import(&counts, &options));
	CHECK_INT(counts.files, 0);
	CHECK_INT(count_rows("report_metadata"), 1);
	remove_out();
}

/* Reports as the first documents show them: texts for numbers, C++ traces, errors, flat pages. */
TEST(seed_era_reports)
{
	static const char report[] =
		"{\"version\": 1, \"metadata\": {\"capture_timestamp_ns\": 5}, \"devices\": "
		"[{\"device_id\": 0, \"l1_num_banks\": 64}], \"buffer_pages\": [{\"device_id\": 0, "
		"\"address\": 1024, \"core_x\": 1, \"core_y\": 2, \"bank_id\": 3, \"page_index\": 0, "
		"\"page_address\": 1024, \"page_size\": 2048, \"buffer_type\": 1}, {\"device_id\": 0, "
		"\"address\": 1024, \"core_x\": 1, \"core_y\": 2, \"bank_id\": 3, \"page_index\": 1, "
		"\"page_address\": 3072, \"page_size\": 2048, \"buffer_type\": 1}], \"graph\": ["
		"{\"counter\": 0, \"node_type\": \"capture_start\", \"params\": {}, \"connections\": [1]},"
		"{\"counter\": 1, \"node_type\": \"function_start\", \"params\": {\"name\": \"ttnn::add\"}, "
		"\"connections\": [2, 3], \"stack_trace\": [\"lib.so(a+0x1)\", \"lib.so(b+0x2)\"]},"
		"{\"counter\": 2, \"node_type\": \"buffer_allocate\", \"params\": {\"address\": \"1024\", "
		"\"size\": \"4096\", \"layout\": \"INTERLEAVED\", \"type\": \"L1\"}, \"connections\": []},"
		"{\"counter\": 3, \"node_type\": \"function_end\", \"params\": {\"name\": \"ttnn::add\"}, "
		"\"duration_ns\": 7, \"connections\": []},"
		"{\"counter\": 4, \"node_type\": \"error\", \"params\": {\"error_type\": \"e\", "
		"\"error_message\": \"m\", \"error_operation\": \"o\"}, \"connections\": []}]}";
	struct tt_report_options none = {0};

	CHECK_OK(import_text(report, none));
	CHECK_INT(count_rows("operations"), 1);
	CHECK_INT(count_rows("buffers"), 1);
	CHECK_INT(count_rows("buffer_chunks"), 1);
	CHECK_INT(count_rows("buffer_pages where page_address = 1024 + 2048 * page_index"), 2);
	CHECK_INT(count_rows("stack_traces where stack_trace = 'lib.so(a+0x1)' || char(10) || "
			     "'lib.so(b+0x2)'"),
		  1);
	CHECK_INT(count_rows("errors where operation_name = 'o'"), 1);
	remove_out();
}

/* ---- while memory runs out ------------------------------------------------------------------ */

SCENARIO(importing)
{
	struct tt_report_options options = {
		.input = "tests/data/report/recorded/stack_traces/report.json.gz",
		.output = out_dir()};
	struct tt_report_counts counts;
	tt_status status = tt_report_import(&counts, &options);

	remove_out();
	return status;
}

SCENARIO(importing_pages)
{
	struct tt_report_options options = {
		.input = "tests/data/report/recorded/mlp_detailed/report.json.gz",
		.output = out_dir(),
		.as_tables = true};
	struct tt_report_counts counts;
	tt_status status = tt_report_import(&counts, &options);

	remove_out();
	return status;
}
