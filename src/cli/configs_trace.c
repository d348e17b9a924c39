/* ttnn configs trace: runs a test, a script or a program, and adds the configurations of its operations to the master. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/configs_run.h"
#include "store/extract.h"
#include "store/names.h"

static const char *names_path = "tests/sweep_framework/Allops.txt", *exclusions,
		  *python = "python3";
static bool exclude_only, store;

static const struct tt_opt options[] = {
	CONFIGS_MASTER_OPTION,
	CONFIGS_LAYOUT_OPTION,
	{"ops", 0, TT_OPT_STRING, &names_path, "FILE",
	 "names of the operations that count (default: tests/sweep_framework/Allops.txt, else all)"},
	{"exclude", 0, TT_OPT_STRING, &exclusions, "NAMES",
	 "operations that do not count, besides those of infrastructure: a,b"},
	{"exclude-only", 0, TT_OPT_FLAG, &exclude_only, NULL,
	 "count those of infrastructure, too, unless --exclude names them"},
	{"python", 0, TT_OPT_STRING, &python, "PROG",
	 "what runs tests and scripts (default: python3)"},
	{"store", 0, TT_OPT_FLAG, &store, NULL, "keep what was recorded, beside the master"},
	{0},
};

/* ---- what is traced -------------------------------------------------------------------------------------- */

struct tests {
	char *name, *outcome;
	uint64_t calls;
};

/* How often an operation was called, by its place in the run's master. */
struct session {
	struct tt_names names;
	struct tt_extract extract;
	struct tt_master *run; /* what this run did alone */
	struct tt_map counts;  /* by operation: calls */
	struct tt_file_out *file;
	struct tt_jsonw content; /* {"content": [{"operation", "arguments"}, ...]} */
	char path[PATH_MAX];     /* of that file */
	TT_VEC(struct tests) tests;
	TT_VEC(const char *) excluded;
	char *exclusions;
	char *place; /* the folder of the master */
	char uid[40];
	struct tt_str rest;
};

static bool is_listed(void *context, const char *op)
{
	const struct session *s = context;

	return !s->names.count || tt_names_has(&s->names, op);
}

/* As the guides print it: "ttnn::add". */
static void add_scoped(struct tt_str *out, const char *op)
{
	for (; *op; op++)
		tt_str_adds(out, *op == '.' ? "::" : (char[]){*op, '\0'});
}

static tt_status take_call(void *context, const struct tt_master_call *call)
{
	struct session *s = context;
	struct tt_map_entry *entry;
	struct tt_str name = {0};
	bool added;

	add_scoped(&name, call->op);
	entry = tt_map_add(&s->counts, tt_str_text(&name), name.length, NULL);
	if (entry)
		entry->number += call->count ? call->count : 1;
	tt_jsonw_object(&s->content);
	tt_jsonw_key_string(&s->content, "operation", tt_str_text(&name));
	tt_jsonw_key(&s->content, "arguments");
	tt_jsonw_raw(&s->content, call->args, call->length);
	tt_jsonw_end(&s->content);
	tt_str_deinit(&name);
	return entry ? tt_master_add(&added, s->run, call) : tt_fail_nomem();
}

static tt_status take_test(void *context, const struct tt_extract_test *test)
{
	struct session *s = context;
	struct tests *row = TT_VEC_PUSH(&s->tests);

	if (!row)
		return tt_fail_nomem();
	*row = (struct tests){tt_strdup(test->name), tt_strdup(test->outcome), test->calls};
	return row->name && row->outcome ? TTNN_OK : tt_fail_nomem();
}

/* "a,b" as a list. */
static tt_status split_exclusions(struct session *s)
{
	char *rest;

	if (!exclusions)
		return TTNN_OK;
	s->exclusions = tt_strdup(exclusions);
	if (!s->exclusions)
		return tt_fail_nomem();
	for (char *word = strtok_r(s->exclusions, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		const char **place = TT_VEC_PUSH(&s->excluded);

		if (!place)
			return tt_fail_nomem();
		*place = word;
	}
	s->extract.excluded = s->excluded.data;
	s->extract.excluded_count = s->excluded.count;
	s->extract.exclude_only = exclude_only;
	return TTNN_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------- */

/* "test_model" of "models/x/test_x.py::test_model[1]", without what a file name should not have. */
static void add_short_name(struct tt_str *out, const char *what)
{
	const char *test = strstr(what, "::"), *base = strrchr(what, '/');
	size_t length;

	what = test ? test + 2 : base ? base + 1 : what;
	length = strlen(what);
	if (!test && tt_ends_with(what, ".py"))
		length -= 3;
	for (size_t i = 0; i < length && i < 100; i++)
		tt_str_addc(out, strchr("[]:/- ", what[i]) ? '_' : what[i]);
}

/* The folder of the master, made if it is missing. */
static tt_status find_place(struct session *s)
{
	const char *master = configs_path(), *slash = strrchr(master, '/');
	struct tt_str path = {0};

	tt_str_add(&path, slash ? master : ".", slash ? (size_t)(slash - master) : 1);
	TT_TRY(tt_str_take(&s->place, &path));
	return tt_file_make_dirs(s->place);
}

/* The file of the operations: <test>_ops_<YYYYMMDD_HHMMSS>.json beside the master. */
static tt_status begin_file(struct session *s, const char *what)
{
	struct tt_str path = {0};
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];
	tt_status status;

	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &local);
	tt_str_addf(&path, "%s/", s->place);
	add_short_name(&path, what);
	tt_str_addf(&path, "_ops_%s", stamp);
	snprintf(s->path, sizeof(s->path), "%s", tt_str_text(&path));
	tt_str_adds(&path, ".json");
	status = tt_str_status(&path);
	if (status == TTNN_OK)
		status = tt_file_create(&s->file, tt_str_text(&path));
	tt_str_deinit(&path);
	if (status != TTNN_OK)
		return status;
	tt_jsonw_init_file(&s->content, s->file, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&s->content);
	tt_jsonw_key(&s->content, "content");
	tt_jsonw_array(&s->content);
	return TTNN_OK;
}

static tt_status end_file(struct session *s)
{
	struct tt_file_out *file = s->file;
	tt_status status;

	tt_jsonw_end(&s->content);
	tt_jsonw_end(&s->content);
	status = tt_jsonw_finish(&s->content);
	s->file = NULL;
	if (status == TTNN_OK)
		return tt_file_commit(file);
	tt_file_discard(file);
	return status;
}

/* ---- the summary --------------------------------------------------------------------------------------------- */

#define LINE "=================================================="

/* "234,567" */
static void print_grouped(uint64_t number)
{
	if (number >= 1000) {
		print_grouped(number / 1000);
		printf(",%03u", (unsigned)(number % 1000));
	} else
		printf("%u", (unsigned)number);
}

static void print_result(const struct session *s, int code)
{
	if (!code)
		puts("Test Result: ✅ PASSED");
	else if (code > 128)
		printf("Test Result: ❌ KILLED (%s)\n", strsignal(code - 128));
	else
		puts("Test Result: ❌ FAILED");
	for (size_t i = 0; i < s->tests.count; i++)
		if (strcmp(s->tests.data[i].outcome, "passed") != 0)
			printf("   • %s: %s, %" PRIu64 " operations captured\n",
			       s->tests.data[i].name, s->tests.data[i].outcome,
			       s->tests.data[i].calls);
}

static void print_file(const struct session *s)
{
	struct tt_str path = {0};
	struct stat info;
	const char *base;

	tt_str_addf(&path, "%s.json", s->path);
	base = strrchr(tt_str_text(&path), '/');
	if (stat(tt_str_text(&path), &info) == 0) {
		printf("💾 File: %s (", base ? base + 1 : tt_str_text(&path));
		print_grouped((uint64_t)info.st_size);
		puts(" bytes)");
	}
	if (!store)
		unlink(tt_str_text(&path));
	tt_str_deinit(&path);
}

/* Whether sweeps have a module for an operation, "ttnn::experimental::x". */
static bool has_module(const char *op)
{
	struct tt_str path = {0};
	const char *bare = op;
	bool there;

	for (const char *at = op; (at = strstr(at, "::")); at += 2)
		bare = at + 2;
	tt_str_addf(&path, "tests/sweep_framework/sweeps/model_traced/%s_model_traced.py", bare);
	there = access(tt_str_text(&path), F_OK) == 0;
	tt_str_deinit(&path);
	return there;
}

static void print_without_module(const struct session *s)
{
	const char *before =
		"⚠️  Without a test module in tests/sweep_framework/sweeps/model_traced: ";

	if (access("tests/sweep_framework", F_OK) != 0)
		return;
	for (size_t i = 0; i < s->counts.count; i++)
		if (!has_module(s->counts.entries[i].key)) {
			printf("%s%s", before, s->counts.entries[i].key);
			before = ", ";
		}
	if (*before == ',')
		puts(" (ttnn workspace . makes it)");
}

static void print_summary(const struct session *s, int code)
{
	printf("\n%s\n📋 RESULTS\n%s\n", LINE, LINE);
	print_result(s, code);
	printf("📊 Captured: %" PRIu64 " operations, %zu unique types\n", s->extract.calls,
	       s->counts.count);
	print_file(s);
	if (s->counts.count)
		puts("🔧 Unique Configurations (current test):");
	for (size_t i = 0; i < s->counts.count; i++) {
		const struct tt_map_entry *entry = &s->counts.entries[i];
		size_t op, found = tt_master_find(&op, 1, s->run, entry->key);

		printf("   • %s: %zu unique configs (%" PRIu64 "x executed)\n", entry->key,
		       found ? tt_master_config_count(s->run, op) : 0, entry->number);
	}
	print_without_module(s);
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static void print_title(const struct session *s, const char *what)
{
	const char *end = strstr(what, "::"), *base = what;

	for (const char *at = what; (at = strchr(at, '/')) && (!end || at < end); at++)
		base = at + 1;
	printf("🚀 TTNN Operations Tracer\n%s\n📁 %.*s\n%s\n", LINE,
	       (int)(end ? (size_t)(end - base) : strlen(base)), base, LINE);
	puts("🚀 Running test with operations tracing...");
	if (s->names.count)
		printf("📋 Loaded %zu valid operations from %s\n", s->names.count,
		       strrchr(names_path, '/') ? strrchr(names_path, '/') + 1 : names_path);
	fflush(stdout);
}

/* Adds what the run did to the master, whoever else does so at the same time. */
static tt_status merge(size_t *added, struct session *s)
{
	struct tt_master *master = NULL;
	tt_status status = tt_master_edit(&master, configs_path(), configs_new_layout());

	if (status == TTNN_OK)
		status = tt_master_merge(added, master, s->run);
	if (status == TTNN_OK && s->extract.calls)
		status = tt_master_save(master, configs_path(), tt_master_layout(master));
	tt_master_free(master);
	return status;
}

/* The layout of the master that is there, else the option's. A master that cannot be read is told before the run. */
static tt_status find_layout(enum tt_master_layout *out)
{
	struct tt_master *master;
	tt_status status = tt_master_open(&master, configs_path());

	*out = configs_new_layout();
	if (status == TTNN_OK) {
		*out = tt_master_layout(master);
		tt_master_free(master);
	}
	if (*out == TT_MASTER_SEED)
		*out = TT_MASTER_V1;
	return status == TTNN_NOTFOUND ? TTNN_OK : status;
}

static tt_status prepare(struct session *s)
{
	s->extract = (struct tt_extract){
		.listed = is_listed, .call = take_call, .test = take_test, .context = s};
	TT_TRY(find_layout(&s->extract.layout));
	TT_TRY(split_exclusions(s));
	if (access(names_path, R_OK) == 0)
		TT_TRY(tt_names_load(&s->names, names_path));
	return tt_master_new(&s->run, s->extract.layout);
}

/* A random UUID, version 4. */
static tt_status make_uid(char out[40])
{
	unsigned char bytes[16];
	size_t used = 0;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return tt_fail(TTNN_IO, "getrandom: %s", strerror(errno));
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(bytes); i++)
		used += (size_t)snprintf(out + used, 40 - used, "%s%02x",
					 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
					 bytes[i]);
	return TTNN_OK;
}

/* What was given to pytest besides the path. */
static tt_status join_rest(struct session *s, size_t count, char **operands)
{
	for (size_t i = 1; i < count; i++)
		tt_str_addf(&s->rest, "%s%s", i > 1 ? " " : "", operands[i]);
	s->extract.pytest_args = s->rest.length ? tt_str_text(&s->rest) : NULL;
	return tt_str_status(&s->rest);
}

/* Adds what was recorded, and says so. */
static tt_status add_run(struct session *s, const struct configs_run *run, const char *what)
{
	size_t added = 0;

	s->extract.source = run->source;
	s->extract.root = run->root;
	TT_TRY(begin_file(s, what));
	TT_TRY(tt_extract_path(&s->extract, run->directory));
	TT_TRY(end_file(s));
	TT_TRY(merge(&added, s));
	printf("📈 Captured %" PRIu64 " operations\n", s->extract.calls);
	printf("📝 Added %zu new unique configurations to master file\n", added);
	print_summary(s, run->code);
	return TTNN_OK;
}

static tt_status trace(struct session *s, int *code, size_t count, char **operands)
{
	struct configs_run run = {.python = python};
	tt_status status;

	TT_TRY(prepare(s));
	TT_TRY(find_place(s));
	TT_TRY(make_uid(s->uid));
	s->extract.trace_uid = s->uid;
	TT_TRY(join_rest(s, count, operands));
	run.place = s->place;
	print_title(s, operands[0]);
	status = configs_run(&run, count, operands);
	*code = run.code;
	if (status == TTNN_OK)
		status = add_run(s, &run, operands[0]);
	/* A run may have taken hours. */
	run.stays = status != TTNN_OK && s->extract.source;
	if (run.stays)
		fprintf(stderr, "ttnn: what was recorded stays in %s\n", run.directory);
	configs_run_clean(&run, store ? s->path : NULL);
	return status;
}

static int run_trace(const struct tt_cmd *cmd, size_t count, char **operands)
{
	static struct session s;
	tt_status status;
	int code = 0;

	(void)cmd;
	status = trace(&s, &code, count, operands);
	tt_file_discard(s.file);
	tt_names_deinit(&s.names);
	tt_master_free(s.run);
	tt_map_deinit(&s.counts);
	for (size_t i = 0; i < s.tests.count; i++) {
		tt_free(s.tests.data[i].name);
		tt_free(s.tests.data[i].outcome);
	}
	TT_VEC_DEINIT(&s.tests);
	TT_VEC_DEINIT(&s.excluded);
	tt_free(s.exclusions);
	tt_free(s.place);
	tt_str_deinit(&s.rest);
	return status == TTNN_OK ? code : cli_fail();
}

const struct tt_cmd configs_trace = {
	.name = "trace",
	.help = "run a test or a program, and add what its operations were given",
	.operands = "PATH[::TEST]|PROG ARGS...",
	.least = 1,
	.most = TT_CMD_ANY,
	.stop_at_operand = true,
	.more = "PATH::TEST, and a file in which pytest finds tests, is run by pytest, another\n"
		"file of Python as a script, and anything else as a program. The exit code is\n"
		"that of the test, or 128 and the signal it died of.\n",
	.options = options,
	.run = run_trace,
};
