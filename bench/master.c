/*
 * Master files: opening one of 107,900 configurations (348 MB) and asking for an operation, with the ratio to
 * Python's json.load of the same file; adding the 727,849 calls that made the real one.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/jsondump.h"
#include "base/mem.h"
#include "store/master.h"

#define TIMES 100
#define CALLS 727849

static const char real_file[] = "tests/data/master/master_2025-11.json.gz";

/* Processor time, so that other work on the machine does not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(tt_status status)
{
	if (status == TTNN_OK)
		return;
	fprintf(stderr, "%s\n", ttnn_error());
	exit(1);
}

/* The real file with every configuration TIMES times, from other sources. */
static void make_large(const char *path)
{
	struct tt_json_doc *doc;
	struct tt_json_iter op, config;
	struct tt_file_out *file;
	struct tt_jsonw w;
	char source[96];

	check(tt_json_load(&doc, real_file));
	check(tt_file_create(&file, path));
	tt_jsonw_init_file(&w, file, (struct tt_jsonw_style){.indent = 2});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, "operations");
	tt_jsonw_object(&w);
	for (op = tt_json_iter(tt_json_get(tt_json_root(doc), "operations")); tt_json_next(&op);) {
		tt_jsonw_key(&w, op.key);
		tt_jsonw_object(&w);
		tt_jsonw_key(&w, "configurations");
		tt_jsonw_array(&w);
		for (int i = 0; i < TIMES; i++) {
			snprintf(source, sizeof(source),
				 "models/tt_transformers/demo/simple_text_demo.py [HF_MODEL:%d]",
				 i);
			config = tt_json_iter(tt_json_get(op.value, "configurations"));
			while (tt_json_next(&config)) {
				tt_jsonw_object(&w);
				tt_jsonw_key(&w, "arguments");
				tt_jsonw_value(&w, tt_json_get(config.value, "arguments"));
				tt_jsonw_key_string(&w, "source", source);
				tt_jsonw_end(&w);
			}
		}
		tt_jsonw_end(&w);
		tt_jsonw_end(&w);
	}
	tt_jsonw_end(&w);
	tt_jsonw_key(&w, "metadata");
	tt_jsonw_value(&w, tt_json_get(tt_json_root(doc), "metadata"));
	tt_jsonw_end(&w);
	check(tt_jsonw_finish(&w));
	check(tt_file_commit(file));
	tt_json_free(doc);
}

/* Opens a file and reads every configuration of one operation. */
static double query(const char *path)
{
	struct tt_json_parser parser = {0};
	struct tt_master *master;
	const struct tt_json *args;
	double start = now(), opened;
	size_t op, total = 0;

	check(tt_master_open(&master, path));
	opened = now() - start;
	tt_master_find(&op, 1, master, "ttnn.add");
	for (size_t i = 0; i < tt_master_config_count(master, op); i++)
		check(tt_master_repaired(&args, master, &parser, op, i));
	for (size_t i = 0; i < tt_master_op_count(master); i++)
		total += tt_master_config_count(master, i);
	start = now() - start;
	printf("open: %zu configurations in %.3f s; then %zu of ttnn::add read: %.3f s in all\n",
	       total, opened, tt_master_config_count(master, op), start);
	tt_json_parser_deinit(&parser);
	tt_master_free(master);
	return start;
}

/* Adds one configuration to a file. */
static void add_one(const char *path, const char *what)
{
	struct tt_master_call call = {
		.op = "ttnn.add", .args = "[{\"arg0\": \"1\"}]", .source = "x"};
	double start = now();
	struct tt_master *master;
	bool added;

	call.length = strlen(call.args);
	check(tt_master_edit(&master, path, TT_MASTER_V1));
	check(tt_master_add(&added, master, &call));
	check(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	printf("one more in the %s: %.3f s\n", what, now() - start);
}

/* The same as a store. */
static void use_store(const char *from, const char *path)
{
	double start = now();
	struct tt_master *master;

	check(tt_master_open(&master, from));
	check(tt_master_save(master, path, TT_MASTER_V1));
	tt_master_free(master);
	printf("as a store: written in %.2f s\n", now() - start);
	query(path);
	add_one(path, "store");
	add_one(from, "file");
	unlink(path);
}

/* Prints how long Python takes, and how many times as long that is. */
static void compare_with_python(char *path, double seconds)
{
	static char python
		[] = "python3",
	  flag[] = "-c",
	  code[] = "import json, sys, time; t = time.process_time(); json.load(open(sys.argv[1])); "
		   "t = time.process_time() - t; print(f\"Python's json.load of it: {t:.2f} s, "
		   "{t / float(sys.argv[2]):.1f} times as long\")";
	char number[32];
	char *arguments[] = {python, flag, code, path, number, NULL};
	pid_t child;
	int status;

	snprintf(number, sizeof(number), "%f", seconds);
	fflush(stdout);
	if (posix_spawnp(&child, python, NULL, NULL, arguments, environ) != 0 ||
	    waitpid(child, &status, 0) != child || status != 0)
		printf("no Python to compare with\n");
}

/* ---- adding ------------------------------------------------------------------------------------ */

static struct {
	char *args;
	size_t length;
	const char *op;
} calls[2048];

static size_t read_calls(struct tt_master *real)
{
	struct tt_json_parser parser = {0};
	const struct tt_json *args;
	size_t count = 0;

	for (size_t op = 0; op < tt_master_op_count(real); op++)
		for (size_t i = 0; i < tt_master_config_count(real, op); i++) {
			struct tt_str text = {0};

			check(tt_master_repaired(&args, real, &parser, op, i));
			tt_json_dump(&text, args);
			calls[count].length = text.length;
			calls[count].op = tt_master_op_name(real, op);
			check(tt_str_take(&calls[count++].args, &text));
		}
	tt_json_parser_deinit(&parser);
	return count;
}

/* `fresh`: with a blank that no call before had, so that each is read and its digest computed. */
static void add_calls(size_t count, enum tt_master_layout layout, bool fresh)
{
	struct tt_master *master;
	struct tt_str text = {0};
	size_t added = 0;
	double start;

	check(tt_master_new(&master, layout));
	start = now();
	for (size_t i = 0; count && i < CALLS; i++) {
		struct tt_master_call call = {.op = calls[i % count].op,
					      .args = calls[i % count].args,
					      .length = calls[i % count].length,
					      .source = "models/x.py"};
		bool is_new;

		if (fresh) {
			tt_str_clear(&text);
			tt_str_add(&text, call.args, call.length);
			for (size_t n = i / count; n; n /= 2)
				tt_str_addc(&text, n % 2 ? ' ' : '\n');
			call.args = tt_str_text(&text);
			call.length = text.length;
		}
		check(tt_master_add(&is_new, master, &call));
		added += is_new;
	}
	start = now() - start;
	printf("add, %s, %s: %d calls in %.2f s, %.0f a second, %zu configurations\n",
	       layout == TT_MASTER_V2 ? "v2" : "v1", fresh ? "each text another" : "texts repeat",
	       CALLS, start, CALLS / start, added);
	tt_str_deinit(&text);
	tt_master_free(master);
}

int main(void)
{
	char path[256], store[300];
	struct tt_master *real;
	struct rusage usage;
	double seconds;
	size_t count;

	snprintf(path, sizeof(path), "%s/ttnn-bench-%d.json", tt_fd_temp_directory(),
		 (int)getpid());
	make_large(path);
	query(path); /* so that the file is in memory */
	seconds = query(path);
	getrusage(RUSAGE_SELF, &usage);
	printf("largest memory so far: %.1f MB\n", (double)usage.ru_maxrss / 1024);
	compare_with_python(path, seconds);
	snprintf(store, sizeof(store), "%s.sqlite", path);
	use_store(path, store);
	unlink(path);
	check(tt_master_open(&real, real_file));
	count = read_calls(real);
	if (!count)
		return 1;
	add_calls(count, TT_MASTER_V1, false);
	add_calls(count, TT_MASTER_V1, true);
	add_calls(count, TT_MASTER_V2, false);
	for (size_t i = 0; i < count; i++)
		tt_free(calls[i].args);
	tt_master_free(real);
	return 0;
}
