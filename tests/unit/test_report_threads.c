/* reports so large that threads parse their nodes ahead. @threads */
#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pool.h"
#include "base/str.h"
#include "db/db.h"
#include "report/report.h"
#include "test.h"

#define OPERATIONS 3000

/* Where something else is put into the graph: before this operation, a node of its own. */
struct change {
	int before;
	const char *node;
	int64_t output; /* what that operation's end refers to; 0: its tensor */
};

/* Operations of three nodes each: a start, its end and the tensor that it gives, behind it. */
static void make_report(struct tt_str *out, const struct change *change)
{
	int counter = 0;

	tt_str_adds(out, "{\"version\": 1, \"metadata\": {\"rank\": 0},\n\"graph\": [\n");
	for (int i = 0; i < OPERATIONS; i++) {
		bool changed = change && change->before == i;

		if (changed && change->node) {
			tt_str_addf(out, "%s,\n", change->node);
			counter++;
		}
		tt_str_addf(
			out,
			"{\"counter\": %d, \"node_type\": \"function_start\", \"params\": {\"name\": "
			"\"ttnn::op_%d\", \"inputs\": \"1\"}, \"arguments\": [\"%0*d\"], "
			"\"connections\": [%d]},\n",
			counter, i % 7, 40 + i % 60, i, counter + 1);
		tt_str_addf(
			out,
			"{\"counter\": %d, \"node_type\": \"function_end\", \"params\": {\"name\": "
			"\"ttnn::op_%d\"}, \"connections\": [%" PRId64 "]},\n",
			counter + 1, i % 7,
			changed && change->output ? change->output : (int64_t)counter + 2);
		tt_str_addf(
			out,
			"{\"counter\": %d, \"node_type\": \"tensor\", \"params\": {\"tensor_id\": "
			"\"%d\", \"shape\": \"Shape([32, %d])\"}, \"connections\": []}%s\n",
			counter + 2, i + 1, i, i + 1 < OPERATIONS ? "," : "");
		counter += 3;
	}
	tt_str_adds(out, "]}\n");
}

static const char *out_dir(void)
{
	return test_path("db");
}

static tt_status import(const struct change *change, const char *name, unsigned threads)
{
	struct tt_report_options options = {
		.input = test_path("report.json"), .output = out_dir(), .db_name = name};
	struct tt_report_counts counts;
	struct tt_str text = {0};
	tt_status status;

	make_report(&text, change);
	status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_file_save(options.input, text.data, text.length);
	tt_str_deinit(&text);
	TT_TRY(status);
	tt_pool_set_threads(threads);
	status = tt_report_import(&counts, &options);
	tt_pool_set_threads(0);
	return status;
}

static int64_t ask(const char *name, const char *sql)
{
	struct tt_db_stmt *select;
	int64_t number = -1;
	char path[600];
	struct tt_db *db;
	bool row = false;

	snprintf(path, sizeof(path), "%s/%s", out_dir(), name);
	CHECK_OK(tt_db_open(&db, path));
	CHECK_OK(tt_db_prepare(&select, db, sql));
	CHECK_OK(tt_db_next(&row, select));
	if (row)
		number = tt_db_int(select, 0);
	tt_db_stmt_free(select);
	tt_db_discard(db);
	return number;
}

static void remove_out(const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", out_dir(), name);
	unlink(path);
	rmdir(out_dir());
}

/* What the threads did is what one does alone. */
static void check_same(const struct change *change, int64_t operations)
{
	static const char graphs[] =
		"select sum(operation_id * (length(captured_graph) + "
		"instr(captured_graph, 'op_5') + "
		"instr(captured_graph, '\"connections\": [3]'))) from captured_graph";
	static const char outputs[] = "select sum(operation_id * tensor_id) from output_tensors";
	int64_t found[2][3];

	for (int i = 0; i < 2; i++) {
		const char *name = i ? "many.sqlite" : "one.sqlite";

		CHECK_OK(import(change, name, i ? 4 : 1));
		found[i][0] = ask(name, "select count(*) from operations");
		found[i][1] = ask(name, graphs);
		found[i][2] = ask(name, outputs);
		remove_out(name);
	}
	CHECK_INT(found[0][0], operations);
	for (int i = 0; i < 3; i++)
		CHECK_INT(found[0][i], found[1][i]);
}

TEST(threads_give_what_one_gives)
{
	check_same(NULL, OPERATIONS);
}

/* Far ahead of what is kept parsed, from the end, and nowhere. */
TEST(references_reach_anywhere)
{
	static const int64_t outputs[] = {3 * OPERATIONS - 1, -1, 2, 1000000};

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		check_same(&(struct change){.before = 3, .output = outputs[i]}, OPERATIONS);
	check_same(&(struct change){.before = OPERATIONS - 1, .output = 2}, OPERATIONS);
}

/* A node too large for a batch is read by itself. */
TEST(large_nodes)
{
	size_t size = (size_t)3 << 20;
	char *node = malloc(size);

	memset(node, 'x', size);
	memcpy(node, "{\"text\": \"", 10);
	memcpy(node + size - 3, "\"}", 3);
	check_same(&(struct change){.before = OPERATIONS / 2, .node = node}, OPERATIONS);
	check_same(&(struct change){.before = 0, .node = node}, OPERATIONS);
	free(node);
}

TEST(the_place_of_an_error_is_told)
{
	static const struct {
		const char *node, *message;
	} cases[] = {
		{"{\"counter\": tru}", ":6003:"},
		{"[1, 2]", ":6003:1: a node of the graph must be an object"},
		{"{\"a\": 1, \"a\": 2}", ":6003:1: a node with a key that is there twice"},
		{"{\"counter\": 1}}", ":6003:15: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct change change = {.before = 2000, .node = cases[i].node};

		CHECK_FAILS(import(&change, "db.sqlite", 4), TTNN_FORMAT, cases[i].message);
		CHECK(access(out_dir(), F_OK) != 0); /* nothing is left */
	}
}

SCENARIO(importing_with_threads)
{
	tt_status status = import(NULL, "db.sqlite", 4);

	remove_out("db.sqlite");
	return status;
}
