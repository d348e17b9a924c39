/*
 * projections.h: all that is made of a trace: read twice, graphs of both dialects with every question about
 * them, pictures, reports, parameter files. For the targets ttrace and left.
 */
#ifndef FUZZ_PROJECTIONS_H
#define FUZZ_PROJECTIONS_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "event/encode.h"
#include "event/value_text.h"
#include "profile/columns.h"
#include "profile/walk.h"
#include "report/svg.h"
#include "scratch.h"
#include "trace/calls.h"
#include "trace/info.h"
#include "trace/memory_course.h"
#include "trace/params.h"
#include "trace/query.h"
#include "trace/session.h"
#include "trace/source.h"

/* ---- events ---------------------------------------------------------------------------------------------- */

static uint64_t read_value(uint64_t hash, const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;
	struct tt_str text = {0};

	if (tt_value_seen_tensor(&tensor, value))
		return tt_hash_u64(hash, tensor.id + tensor.spec->bytes);
	tt_value_text(&text, value);
	hash = tt_hash(hash, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return hash;
}

static uint64_t read_event(uint64_t hash, const struct tt_seen *seen)
{
	const struct tt_event *event = &seen->event;

	hash = tt_hash_u64(hash, (uint64_t)event->kind + seen->time_ns + seen->op + seen->depth);
	if (event->kind == TT_EVENT_SCOPE_BEGIN) {
		hash = tt_hash(hash, event->begin.name, strlen(event->begin.name));
		for (size_t i = 0; i < event->begin.arg_count; i++)
			hash = read_value(hash, &event->begin.args[i]);
	}
	return hash;
}

static uint64_t read_all(struct tt_source *source)
{
	const struct tt_seen *seen;
	uint64_t hash = 0;

	while (tt_source_next(&seen, source) == TTNN_OK && seen)
		hash = read_event(hash, seen);
	return hash;
}

/* With parts of it alone, which are not looked at as closely as all of it. */
static void read_parts(struct tt_source *source)
{
	static const struct tt_source_wants wants[] = {
		{.kinds = TT_WANT(SCOPE_BEGIN) | TT_WANT(SCOPE_END)},
		{.kinds = TT_WANT(SCOPE_END) | TT_WANT(PROGRAM), .tensors = true},
		{.kinds = TT_WANT(CALL) | TT_WANT(SCOPE_BEGIN), .values = true},
		{.kinds = TT_WANT(THREAD)},
		{.kinds = TT_WANT_ALL},
	};
	uint64_t half = tt_source_info(source)->duration_ns / 2;
	const struct tt_source_window windows[] = {
		{0},
		{.first_op = 2, .op_count = 3},
		{.last_ops = 2},
		{.begin_ns = half},
		{.begin_ns = half / 2, .end_ns = half + 1, .one_thread = true},
	};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		uint64_t hash;

		if (tt_source_window(source, &windows[i]) != TTNN_OK)
			continue;
		tt_source_want(source, &wants[i]);
		read_all(source);
		tt_source_want(source, NULL);
		hash = read_all(source);
		tt_source_rewind(source);
		if (read_all(source) != hash)
			abort();
	}
	tt_source_window(source, NULL);
}

/* ---- graphs ---------------------------------------------------------------------------------------------- */

static void ask(const struct tt_graph *graph)
{
	static const char *const questions[] = {
		"calltrace", "peak_l1",  "per_core",    "dram",   "counts", "output_tensors",
		"levelized", "duration", "output_info", "pretty", "dot"};
	char *answer = NULL;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (ttnn_graph_query(&answer, graph, questions[i], 2) == TTNN_INTERNAL)
			abort();
		ttnn_free(answer);
		answer = NULL;
	}
	if (tt_graph_json(&answer, graph, 0) == TTNN_OK)
		tt_free(answer);
}

/* The nodes one by one are those of the whole graph; so is what becomes of memory. */
static void pass_by(struct tt_source *source, const struct tt_graph *graph)
{
	struct tt_project_options options = {.dialect = graph->dialect, .course = true};
	struct tt_memory by_one = {0}, whole = {0};
	struct tt_input input = {.source = source};
	struct tt_stream *stream = NULL, *other = NULL;
	struct tt_calls_table table;
	struct tt_str told = {0}, folded = {0};
	struct tt_jsonw w;
	char *text = NULL;
	bool damaged;

	tt_jsonw_init_str(&w, &told, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	if (tt_stream_open(&stream, source, &options) != TTNN_OK ||
	    tt_stream_of_graph(&other, graph, true) != TTNN_OK ||
	    tt_graph_json(&text, graph, 0) != TTNN_OK)
		abort();
	/* Damaged arguments are told, not passed over. */
	damaged = tt_stream_write(&w, stream) == TTNN_FORMAT;
	if (!damaged &&
	    (tt_jsonw_finish(&w) != TTNN_OK || strcmp(text, tt_str_text(&told)) != 0 ||
	     tt_memory_of(&by_one, stream) != TTNN_OK || tt_memory_of(&whole, other) != TTNN_OK ||
	     memcmp(by_one.bars, whole.bars, sizeof(whole.bars)) != 0 ||
	     by_one.shareless != whole.shareless))
		abort();
	tt_memory_deinit(&by_one);
	tt_memory_deinit(&whole);
	tt_stream_close(stream);
	tt_stream_close(other);
	if (tt_calls_sum(&table, &input, graph->dialect) != TTNN_OK ||
	    tt_calls_fold(&folded, &input, graph->dialect, "root") != TTNN_OK)
		abort();
	tt_calls_table_deinit(&table);
	tt_str_deinit(&folded);
	tt_str_deinit(&told);
	tt_free(text);
}

static void draw(const struct tt_graph *graph)
{
	for (int flow = 0; flow < 2; flow++) {
		struct tt_diagram_options options = {.flow = flow, .levels = 4};
		struct tt_str text = {0};

		tt_svg_text(&text, graph, "fuzz", &options);
		tt_str_deinit(&text);
	}
}

static void make_graph(struct tt_source *source, enum ttnn_dialect dialect)
{
	struct tt_project_options options = {.dialect = dialect};
	struct tt_str text = {0};
	struct tt_graph graph;
	struct tt_jsonw w;

	memset(&graph, 0, sizeof(graph));
	if (tt_graph_from_source(&graph, source, &options) == TTNN_OK) {
		ask(&graph);
		pass_by(source, &graph);
		draw(&graph);
	}
	tt_graph_deinit(&graph);
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){.indent = 2, .utf8 = true});
	tt_source_rewind(source);
	if (tt_graph_report_from_source(&w, source, &options, true) == TTNN_OK)
		tt_jsonw_finish(&w);
	tt_str_deinit(&text);
}

/* ---- profiles -------------------------------------------------------------------------------------------- */

static void ignore(void *context, const void *data, size_t size)
{
	(void)context, (void)data, (void)size;
}

/* Rows come in the order of their times; all of them can be written. */
static void profile(struct tt_source *source, enum ttnn_dialect dialect)
{
	struct tt_ops_place place = {.dialect = dialect};
	struct tt_ops_survey survey = {0};
	struct tt_ops_row *row;
	struct tt_ops_walk *walk;
	struct tt_ops_csv *csv;

	tt_source_want(source, NULL);
	if (tt_ops_survey(&survey, source, 0) != TTNN_OK)
		return;
	if (tt_ops_walk_new(&walk, source, &place) != TTNN_OK ||
	    tt_ops_csv_new(&csv,
			   &(struct tt_ops_shape){dialect, survey.inputs % 100,
						  survey.outputs % 100, false},
			   ignore, NULL) != TTNN_OK)
		abort();
	while (tt_ops_walk_next(&row, walk) == TTNN_OK && row)
		tt_ops_csv_row(csv, row);
	tt_ops_csv_end(csv);
	tt_ops_walk_free(walk);
	tt_source_want(source, NULL);
}

/* ---- files ----------------------------------------------------------------------------------------------- */

static void export_params(struct tt_source *source, const char *dialect)
{
	char directory[4200], path[4500];
	struct dirent *entry;
	uint64_t count;
	DIR *listing;

	snprintf(directory, sizeof(directory), "%s.params", scratch(0));
	tt_source_rewind(source);
	tt_params_export(&count, source, directory, tt_params_style(dialect));
	listing = opendir(directory);
	while (listing && (entry = readdir(listing))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		unlink(path);
	}
	if (listing)
		closedir(listing);
	rmdir(directory);
}

/* ---- all ------------------------------------------------------------------------------------------------- */

/* Closes it. */
static void project(struct tt_source *source)
{
	uint64_t hash = read_all(source);
	struct tt_str text = {0};

	tt_log_set_level(TT_LOG_ERROR);
	tt_source_rewind(source);
	if (read_all(source) != hash)
		abort();
	read_parts(source);
	tt_source_rewind(source);
	if (read_all(source) != hash)
		abort();
	tt_trace_info_text(&text, tt_source_info(source));
	tt_trace_info_line(&text, tt_source_info(source));
	tt_str_deinit(&text);
	make_graph(source, TTNN_DIALECT_SEED);
	make_graph(source, TTNN_DIALECT_TT_METAL);
	profile(source, TTNN_DIALECT_SEED);
	profile(source, TTNN_DIALECT_TT_METAL);
	if (tt_source_info(source)->counts[TT_EVENT_CALL] ||
	    tt_source_info(source)->counts[TT_EVENT_SCOPE_BEGIN] % 16 == 1) {
		export_params(source, "seed");
		export_params(source, "tt-metal");
	}
	tt_source_close(source);
}

/* A head as a process writes it. */
static void add_head(struct tt_str *out)
{
	struct tt_str body = {0};

	for (int i = 0; i < 6; i++) /* process, time, three texts, the ring */
		tt_encode_number(&body, 0);
	tt_encode_kinds(&body);
	tt_trace_head_add(out, &body);
	tt_str_deinit(&body);
}

#endif
