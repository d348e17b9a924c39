/*
 * Recorded graphs: read and written again they are the same, and what our queries say of them is
 * what upstream's said (tests/data/reference).
 */
#include "test.h"

#include <dirent.h>

#include "base/file.h"
#include "base/json.h"
#include "trace/query.h"

#define PROGRAMS "tests/data/reference/programs"

static size_t graphs, queries, pretties;

static void take_json(struct tt_str *out, const struct tt_json *value)
{
	struct tt_jsonw w;

	tt_str_clear(out);
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	tt_jsonw_value(&w, value);
	CHECK_INT(tt_jsonw_finish(&w), TTNN_OK);
}

/* ---- our answers, as the recorder wrote them ---------------------------------------------------------- */

static void write_names(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	const char *const *names;
	size_t count = 0;

	CHECK_INT(tt_query_calltrace(&names, &count, arena, graph), TTNN_OK);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_string(w, names[i]);
	tt_jsonw_end(w);
}

static void write_peak(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	(void)arena;
	tt_jsonw_uint(w, tt_query_peak_l1(graph));
}

static void write_core(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	struct tt_query_core core;
	const struct {
		const char *name;
		const uint64_t *value;
	} fields[] = {{"peak_cb", &core.circular},
		      {"peak_l1", &core.l1},
		      {"peak_dataflow_buffer", &core.dataflow},
		      {"peak_scratchpad", &core.scratchpad},
		      {"peak_total", &core.total}};

	(void)arena;
	CHECK_INT(tt_query_per_core(&core, graph, 0), TTNN_OK);
	tt_jsonw_object(w);
	for (size_t i = 0; i < 5; i++) {
		tt_jsonw_key(w, fields[i].name);
		tt_jsonw_uint(w, *fields[i].value);
	}
	tt_jsonw_end(w);
}

static void write_counts(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	struct tt_query_counts counts;

	(void)arena;
	CHECK_INT(tt_query_counts(&counts, graph), TTNN_OK);
	tt_jsonw_array(w);
	tt_jsonw_uint(w, counts.intermediate);
	tt_jsonw_uint(w, counts.output);
	tt_jsonw_end(w);
}

static void write_info(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	const struct tt_query_info *infos;
	size_t count = 0;

	CHECK_INT(tt_query_output_info(&infos, &count, arena, graph), TTNN_OK);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++) {
		const char *text = tt_arena_printf(
			arena, "TensorInfo(shape=%s, size=%llu, type=%s)", infos[i].shape,
			(unsigned long long)infos[i].size, infos[i].l1 ? "L1" : "DRAM");

		tt_jsonw_string(w, text);
	}
	tt_jsonw_end(w);
}

static void write_outputs(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	const uint32_t *outputs;
	size_t count = 0;

	CHECK_INT(tt_query_outputs(&outputs, &count, arena, graph), TTNN_OK);
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_uint(w, outputs[i]);
	tt_jsonw_end(w);
}

/* Recorded with the number of arguments only. */
static void write_levels(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena,
			 int level)
{
	struct tt_query_vertex *vertices;
	struct tt_json_doc *doc;
	struct tt_jsonw inner;
	struct tt_str text = {0};
	struct tt_json_iter it;
	size_t count = 0;

	CHECK_INT(tt_query_levels(&vertices, &count, arena, graph, level), TTNN_OK);
	tt_jsonw_init_str(&inner, &text, (struct tt_jsonw_style){.utf8 = true});
	tt_query_levels_json(&inner, vertices, count);
	CHECK_INT(tt_jsonw_finish(&inner), TTNN_OK);
	CHECK_INT(tt_json_parse(&doc, tt_str_text(&text), text.length, "levels"), TTNN_OK);
	it = tt_json_iter(tt_json_root(doc));
	tt_jsonw_array(w);
	while (tt_json_next(&it)) {
		struct tt_json_iter member = tt_json_iter(it.value);

		tt_jsonw_object(w);
		while (tt_json_next(&member)) {
			tt_jsonw_key(w, member.key);
			if (strcmp(member.key, "arguments") == 0)
				tt_jsonw_uint(w, tt_json_count(member.value));
			else
				tt_jsonw_value(w, member.value);
		}
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	tt_json_free(doc);
	tt_str_deinit(&text);
}

static void write_one(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	write_levels(w, graph, arena, 1);
}

static void write_two(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena)
{
	write_levels(w, graph, arena, 2);
}

static const struct {
	const char *name;
	void (*write)(struct tt_jsonw *w, const struct tt_graph *graph, struct tt_arena *arena);
	bool levels;
} answers[] = {
	{"calltrace", write_names, false},  {"peak_L1", write_peak, false},
	{"per_core", write_core, false},    {"intermediate_and_output", write_counts, false},
	{"output_info", write_info, false}, {"output_tensors", write_outputs, false},
	{"levelized_1", write_one, true},   {"levelized_2", write_two, true},
};

static bool is_finished(const struct tt_graph *graph)
{
	size_t open = 0;

	for (size_t i = 0; i < graph->count; i++)
		open += (size_t)(graph->nodes[i].type == TT_GRAPH_FUNCTION_START) -
			(size_t)(graph->nodes[i].type == TT_GRAPH_FUNCTION_END);
	return open == 0;
}

/* An answer that is a refusal: ours must have its words. */
static void check_refusal(const char *name, const struct tt_graph *graph,
			  const struct tt_json *recorded)
{
	const char *text = tt_json_string(tt_json_get(recorded, "text"), NULL);
	struct tt_arena arena = {0};
	const uint32_t *outputs;
	size_t count;

	CHECK_INT(tt_query_outputs(&outputs, &count, &arena, graph), TTNN_INVALID);
	if (!strstr(text, ttnn_error()))
		TEST_FAIL("%s: \"%s\", not \"%s\"", name, ttnn_error(), text);
	tt_arena_deinit(&arena);
}

static void check_queries(const char *name, const struct tt_graph *graph,
			  const struct tt_json *recorded)
{
	struct tt_str want = {0}, got = {0};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct tt_json *answer = tt_json_get(recorded, answers[i].name);
		struct tt_arena arena = {0};
		struct tt_jsonw w;

		if (!answer || tt_json_get(answer, "undefined") ||
		    (answers[i].levels && !is_finished(graph)))
			continue;
		queries++;
		if (tt_json_get(answer, "raises")) {
			check_refusal(name, graph, answer);
			continue;
		}
		take_json(&want, answer);
		tt_str_clear(&got);
		tt_jsonw_init_str(&w, &got, (struct tt_jsonw_style){.compact = true, .utf8 = true});
		answers[i].write(&w, graph, &arena);
		CHECK_INT(tt_jsonw_finish(&w), TTNN_OK);
		if (strcmp(tt_str_text(&want), tt_str_text(&got)) != 0)
			TEST_FAIL("%s, %s: %s, not %s", name, answers[i].name, tt_str_text(&got),
				  tt_str_text(&want));
		tt_arena_deinit(&arena);
	}
	tt_str_deinit(&want);
	tt_str_deinit(&got);
}

/* ---- the recordings ------------------------------------------------------------------------------------- */

static void check_graph(struct tt_graph *graph, const char *name, const struct tt_json *recorded)
{
	struct tt_str want = {0};
	char *got = NULL;

	take_json(&want, recorded);
	CHECK_INT(tt_graph_parse(graph, tt_str_text(&want), want.length, name), TTNN_OK);
	CHECK_INT(tt_graph_json(&got, graph, 0), TTNN_OK);
	if (got && strcmp(got, tt_str_text(&want)) != 0)
		TEST_FAIL("%s: written again it differs", name);
	graphs++;
	tt_free(got);
	tt_str_deinit(&want);
}

static void check_pretty(const char *name, const struct tt_graph *graph,
			 const struct tt_json *recorded)
{
	const char *want = tt_json_string(tt_json_get(recorded, "text"), NULL);
	struct tt_str got = {0};

	if (!want)
		return;
	CHECK_INT(tt_query_pretty(&got, graph), TTNN_OK);
	if (strcmp(tt_str_text(&got), want) != 0)
		TEST_FAIL("%s: pretty text:\n%s\nnot\n%s", name, tt_str_text(&got), want);
	pretties++;
	tt_str_deinit(&got);
}

static void check_line(const char *line, size_t length, const char *path)
{
	struct tt_json_doc *doc;
	struct tt_json_iter it;
	const char *name;

	if (tt_json_parse(&doc, line, length, path) != TTNN_OK) {
		TEST_FAIL("%s", ttnn_error());
		return;
	}
	name = tt_json_string(tt_json_get(tt_json_root(doc), "name"), NULL);
	it = tt_json_iter(tt_json_get(tt_json_root(doc), "runs"));
	while (tt_json_next(&it)) {
		const struct tt_json *recorded = tt_json_get(it.value, "graph");
		struct tt_graph graph = {0};

		if (tt_json_kind(recorded) != TT_JSON_ARRAY)
			continue;
		check_graph(&graph, name, recorded);
		check_queries(name, &graph, tt_json_get(it.value, "queries"));
		check_pretty(name, &graph, tt_json_get(it.value, "pretty"));
		tt_graph_deinit(&graph);
	}
	tt_json_free(doc);
}

static void check_file(const char *path)
{
	char *text;
	size_t size;

	if (tt_file_read(&text, &size, path) != TTNN_OK) {
		TEST_FAIL("%s", ttnn_error());
		return;
	}
	for (size_t at = 0, end; at < size; at = end + 1) {
		const char *newline = memchr(text + at, '\n', size - at);

		end = newline ? (size_t)(newline - text) : size;
		if (end > at)
			check_line(text + at, end - at, path);
	}
	tt_free(text);
}

static void check_device(const char *label)
{
	struct dirent **entries;
	char folder[256], path[1024];
	int count;

	snprintf(folder, sizeof(folder), PROGRAMS "/%s", label);
	count = scandir(folder, &entries, NULL, alphasort);
	CHECK(count > 0);
	for (int i = 0; i < count; i++) {
		if (strstr(entries[i]->d_name, ".jsonl.gz")) {
			snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
			check_file(path);
		}
		free(entries[i]);
	}
	if (count > 0)
		free(entries);
}

TEST(one_chip)
{
	graphs = queries = pretties = 0;
	check_device("n150");
	CHECK(graphs > 4000);
	CHECK(queries > 8 * 4000);
	CHECK(pretties > 4);
}

TEST(four_chips)
{
	graphs = 0;
	check_device("p150_x4");
	CHECK(graphs > 300);
}
