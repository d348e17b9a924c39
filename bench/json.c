/*
 * JSON reading and writing: MB/s of the same text, and ratios to the parser underneath and to
 * memcpy, best of five. An argument is the file to use; without one a text is made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/jsonscan.h"
#include "base/jsonslice.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"

static char *text, *copy;
static size_t size;

/* Processor time, so that other work on the machine does not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* An array of objects as captured graphs hold them. */
static void make_text(void)
{
	struct tt_str str = {0};

	tt_str_adds(&str, "[");
	for (int i = 0; i < 100000; i++)
		tt_str_addf(&str,
			    "%s{\"counter\": %d, \"node_type\": \"function_start\", \"params\": {"
			    "\"name\": \"ttnn::add\", \"inputs\": \"2\", \"address\": \"%d\"}, "
			    "\"arguments\": [\"Tensor(storage=DeviceStorage(),tensor_spec="
			    "TensorSpec(logical_shape=Shape([1, 1, %d, 32])))\", \"nullopt\", "
			    "\"a \\\"quoted\\\" text\"], \"duration_ns\": %d.25, "
			    "\"connections\": [%d, %d, %d]}",
			    i ? ", " : "", i, i * 2048, i % 1024, i * 7, i + 1, i + 2, i + 3);
	tt_str_adds(&str, "]");
	size = str.length;
	text = str.data;
}

static void run_memcpy(void)
{
	memcpy(copy, text, size);
}

static void run_scan(void)
{
	struct tt_jsonscan scan = {.depth = 1};

	if (tt_jsonscan_close(&scan, text, size, 1) == TT_JSONSCAN_NONE)
		fprintf(stderr, "scanner: no end\n");
}

static void run_yyjson(void)
{
	memcpy(copy, text, size);
	memset(copy + size, 0, YYJSON_PADDING_SIZE);
	yyjson_doc_free(yyjson_read_opts(copy, size, YYJSON_READ_INSITU, NULL, NULL));
}

static void run_parse(void)
{
	struct tt_json_doc *doc = NULL;

	if (tt_json_parse(&doc, text, size, "text") != TTNN_OK)
		fprintf(stderr, "%s\n", ttnn_error());
	tt_json_free(doc);
}

static void run_slices(void)
{
	struct tt_jsonslice *slices;

	if (tt_jsonslice_text(&slices, text, size, "text") != TTNN_OK)
		return;
	tt_jsonslice_next(slices);
	for (tt_jsonslice_enter(slices); tt_jsonslice_next(slices);)
		tt_jsonslice_read(slices);
	if (tt_jsonslice_status(slices) != TTNN_OK)
		fprintf(stderr, "%s\n", ttnn_error());
	tt_jsonslice_free(slices);
}

static struct tt_json_doc *doc;
static yyjson_doc *bare;
static struct tt_str written;

static void run_yyjson_write(void)
{
	size_t length;

	free(yyjson_write(bare, YYJSON_WRITE_ESCAPE_UNICODE, &length));
}

static void run_write(void)
{
	struct tt_jsonw w;

	tt_str_clear(&written);
	tt_jsonw_init_str(&w, &written, (struct tt_jsonw_style){.compact = true});
	tt_jsonw_value(&w, tt_json_root(doc));
	if (tt_jsonw_finish(&w) != TTNN_OK)
		fprintf(stderr, "%s\n", ttnn_error());
}

static double best(void (*run)(void))
{
	double least = 1e9;

	for (int i = 0; i < 5; i++) {
		double start = now(), took;

		run();
		took = now() - start;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} rows[] = {
		{"memcpy", run_memcpy},          {"yyjson in place", run_yyjson},
		{"tt_json_parse", run_parse},    {"tt_jsonslice, each element", run_slices},
		{"tt_jsonscan_close", run_scan}, {"yyjson write", run_yyjson_write},
		{"tt_jsonw", run_write},
	};
	double times[8];

	if (argc > 1 && tt_file_read(&text, &size, argv[1]) != TTNN_OK) {
		fprintf(stderr, "%s\n", ttnn_error());
		return 2;
	}
	if (argc < 2)
		make_text();
	copy = tt_alloc(size + YYJSON_PADDING_SIZE);
	if (!text || !copy)
		return 2;
	memset(copy, 0, size);
	bare = yyjson_read(text, size, YYJSON_READ_ALLOW_INF_AND_NAN);
	if (!bare || tt_json_parse(&doc, text, size, "text") != TTNN_OK)
		return 2;
	printf("%.1f MB of JSON, %s\n", (double)size / 1e6, tt_cpu_isa_name(tt_cpu_isa()));
	printf("%-30s %9s %12s %12s\n", "", "MB/s", "x yyjson", "x memcpy");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t base = i < 5 ? 1 : 5; /* readers to its reader, writers to its writer */

		times[i] = best(rows[i].run);
		if (i > 0)
			printf("%-30s %9.0f %12.2f %12.2f\n", rows[i].name,
			       (double)size / 1e6 / times[i], times[base] / times[i],
			       times[0] / times[i]);
	}
	tt_json_free(doc);
	yyjson_doc_free(bare);
	tt_str_deinit(&written);
	tt_free(text);
	tt_free(copy);
	return 0;
}
