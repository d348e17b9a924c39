/*
 * graph.c: any text as a graph. One that is accepted is written and read back as the same text, and all
 * questions about it have an answer or a refusal; so has its memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/memory_course.h"
#include "trace/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void write_and_read(const struct tt_graph *graph)
{
	struct tt_graph again;
	char *text, *twice;

	check(tt_graph_json(&text, graph, 0) == TTNN_OK);
	check(tt_graph_parse(&again, text, strlen(text), "written") == TTNN_OK);
	check(again.count == graph->count);
	check(tt_graph_json(&twice, &again, 0) == TTNN_OK && strcmp(text, twice) == 0);
	tt_free(text);
	tt_free(twice);
	tt_graph_deinit(&again);
}

static void ask(const struct tt_graph *graph)
{
	static const char *const questions[] = {
		"calltrace", "peak_l1",  "per_core",    "dram",   "counts", "output_tensors",
		"levelized", "duration", "output_info", "pretty", "dot"};
	struct tt_query_vertex *vertices;
	struct tt_arena arena = {0};
	struct tt_stream *stream;
	struct tt_memory memory;
	size_t count;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char *answer = NULL;
		enum ttnn_status status = ttnn_graph_query(&answer, graph, questions[i], 2);

		check(status != TTNN_INTERNAL && (status != TTNN_OK || answer));
		ttnn_free(answer);
	}
	check(tt_query_flow(&vertices, &count, &arena, graph, 2) == TTNN_OK);
	tt_arena_deinit(&arena);
	if (tt_stream_of_graph(&stream, graph, true) != TTNN_OK)
		return;
	if (tt_memory_of(&memory, stream) == TTNN_OK)
		tt_memory_deinit(&memory);
	tt_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_graph graph;

	if (size > 1 << 16 || tt_graph_parse(&graph, (const char *)data, size, "fuzz") != TTNN_OK)
		return 0;
	write_and_read(&graph);
	ask(&graph);
	tt_graph_deinit(&graph);
	return 0;
}
