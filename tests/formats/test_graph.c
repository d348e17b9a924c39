/* Graphs that are not recorded: old ones, bad ones, the sample's text, and a lack of memory. */
#include "test.h"

#include "trace/query.h"

static tt_status parse(struct tt_graph *graph, const char *text)
{
	return tt_graph_parse(graph, text, strlen(text), "graph.json");
}

/* A graph as dialect `seed` writes it, without levels: texts for numbers, {} for none. */
static const char seed_graph[] =
	"[{\"connections\":[1,9],\"counter\":0,\"node_type\":\"capture_start\",\"params\":{}},"
	"{\"connections\":[3,4,8],\"counter\":1,\"node_type\":\"function_start\","
	"\"params\":{\"inputs\":\"1\",\"name\":\"ttnn::relu\"}},"
	"{\"connections\":[1],\"counter\":2,\"node_type\":\"tensor\","
	"\"params\":{\"shape\":\"ttnn.Shape([1, 32])\",\"tensor_id\":\"7\"}},"
	"{\"connections\":[2],\"counter\":3,\"node_type\":\"buffer\","
	"\"params\":{\"size\":\"2048\",\"type\":\"L1\"}},"
	"{\"connections\":[6],\"counter\":4,\"node_type\":\"buffer\","
	"\"params\":{\"size\":\"4096\",\"type\":\"L1\"}},"
	"{\"connections\":[4],\"counter\":5,\"node_type\":\"buffer_allocate\","
	"\"params\":{\"address\":\"0\",\"size\":\"4096\",\"type\":\"L1\"}},"
	"{\"connections\":[],\"counter\":6,\"node_type\":\"tensor\","
	"\"params\":{\"shape\":\"ttnn.Shape([1, 64])\",\"tensor_id\":\"8\"}},"
	"{\"connections\":[],\"counter\":7,\"node_type\":\"circular_buffer_allocate\","
	"\"params\":{\"globally_allocated\":\"false\",\"size\":\"100\"}},"
	"{\"connections\":[6,9],\"counter\":8,\"node_type\":\"function_end\","
	"\"params\":{\"name\":\"ttnn::relu\"}},"
	"{\"connections\":[],\"counter\":9,\"node_type\":\"capture_end\",\"params\":{}}]";

TEST(a_graph_may_have_too_many_nodes)
{
	struct tt_graph graph;

	CHECK_OK(tt_graph_take(&graph, "graph.json", seed_graph, strlen(seed_graph), 10));
	CHECK_INT(graph.count, 10);
	tt_graph_deinit(&graph);
	CHECK_FAILS(tt_graph_take(&graph, "graph.json", seed_graph, strlen(seed_graph), 9),
		    TTNN_UNSUPPORTED, "graph.json: more than 9 nodes, which is too much at once");
	CHECK_INT(graph.count, 0);
}

TEST(old_graphs_have_levels_too)
{
	static const int levels[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 0};
	struct tt_graph graph;
	char *text = NULL;

	CHECK_INT(parse(&graph, seed_graph), TTNN_OK);
	CHECK_INT(graph.count, 10);
	CHECK_INT(graph.dialect, TTNN_DIALECT_SEED);
	for (size_t i = 0; i < graph.count; i++)
		CHECK_INT(graph.nodes[i].level, levels[i]);
	CHECK_INT(tt_graph_json(&text, &graph, 0), TTNN_OK);
	CHECK_STR(text, seed_graph);
	tt_free(text);
	tt_graph_deinit(&graph);
}

TEST(answers_by_hand)
{
	struct tt_query_core core;
	struct tt_query_counts counts;
	struct tt_graph graph;

	CHECK_INT(parse(&graph, seed_graph), TTNN_OK);
	CHECK_INT(tt_query_peak_l1(&graph), 2048 + 4096 + 4096 + 100);
	CHECK_INT(tt_query_counts(&counts, &graph), TTNN_OK);
	CHECK_INT(counts.output, 1);
	/* Without page sizes nobody can tell how much of the buffer is in a core. */
	CHECK_INT(tt_query_per_core(&core, &graph, 64), TTNN_INVALID);
	tt_graph_deinit(&graph);
}

TEST(text_of_the_seed)
{
	struct tt_str text = {0};
	struct tt_graph graph;

	CHECK_INT(parse(&graph, seed_graph), TTNN_OK);
	CHECK_INT(tt_query_pretty(&text, &graph), TTNN_OK);
	CHECK_STR(tt_str_text(&text), "Capture Start\n"
				      "Begin: ttnn::relu\n"
				      "    Add Device Buffer\n"
				      "    Allocate Device Buffer\n"
				      "    Add Tensor: 8\n"
				      "    Allocate Circular Buffer\n"
				      "End: ttnn::relu\n"
				      "Capture End\n");
	tt_str_deinit(&text);
	tt_graph_deinit(&graph);
}

TEST(each_kind_of_program_memory_counts)
{
	static const char text[] =
		"[{\"counter\":0,\"node_type\":\"capture_start\",\"params\":null},"
		"{\"counter\":1,\"node_type\":\"circular_buffer_allocate\",\"params\":"
		"{\"size\":\"1024\",\"globally_allocated\":\"0\"}},"
		"{\"counter\":2,\"node_type\":\"dataflow_buffer_allocate\",\"params\":"
		"{\"size\":\"2048\",\"borrows_memory\":\"0\"}},"
		"{\"counter\":3,\"node_type\":\"scratchpad_allocate\",\"params\":{\"size\":512}},"
		"{\"counter\":4,\"node_type\":\"dataflow_buffer_allocate\",\"params\":"
		"{\"size\":\"9999\",\"borrows_memory\":\"1\"}},"
		"{\"counter\":5,\"node_type\":\"circular_buffer_deallocate_all\",\"params\":"
		"{\"device_id\":0}},"
		"{\"counter\":6,\"node_type\":\"scratchpad_allocate\",\"params\":{\"size\":600}},"
		"{\"counter\":7,\"node_type\":\"capture_end\",\"params\":null}]";
	struct tt_query_core core;
	struct tt_graph graph;

	CHECK_INT(parse(&graph, text), TTNN_OK);
	CHECK_INT(graph.dialect, TTNN_DIALECT_TT_METAL);
	CHECK_INT(tt_query_per_core(&core, &graph, 0), TTNN_OK);
	CHECK_INT(core.circular, 1024);
	CHECK_INT(core.dataflow, 2048);
	CHECK_INT(core.scratchpad, 600);
	CHECK_INT(core.total, 3584);
	CHECK_INT(tt_query_peak_l1(&graph), 3584);
	tt_graph_deinit(&graph);
}

TEST(reports_hold_a_graph)
{
	struct tt_graph graph;

	CHECK_INT(parse(&graph, "{\"devices\":[],\"graph\":[{\"node_type\":\"novelty\",\"params\":"
				"{\"x\":[1,{\"y\":2.5}],\"z\":18446744073709551615}}],"
				"\"version\":1}"),
		  TTNN_OK);
	CHECK_INT(graph.count, 1);
	CHECK_INT(graph.nodes[0].type, TT_GRAPH_OTHER);
	CHECK_STR(tt_graph_type_name(&graph.nodes[0]), "novelty");
	CHECK_STR(tt_graph_key_name(&graph, graph.nodes[0].params[1].key), "z");
	CHECK(graph.nodes[0].params[1].unsigned_integer == UINT64_MAX);
	CHECK_STR(graph.nodes[0].params[0].text, "[1,{\"y\":2.5}]");
	tt_graph_deinit(&graph);
}

TEST(bad_graphs_are_refused)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"", "graph.json"},
		{"7", "neither a list of nodes nor a report"},
		{"{\"graph\":7}", "a graph is a list of nodes"},
		{"{\"nodes\":[]}", "a report without a graph"},
		{"{\"graph\\u0000x\":[]}", "a report without a graph"},
		{"[7]", "node 0: is no object"},
		{"[{}]", "node 0: node_type is not a string"},
		{"[{\"node_type\":\"buffer\",\"connections\":[1]}]", "node 0: there is no node 1"},
		{"[{\"node_type\":\"buffer\",\"connections\":[-1]}]", "not the number of a node"},
		{"[{\"node_type\":\"buffer\",\"input_tensors\":[0.5]}]",
		 "not the number of a node"},
		{"[{\"node_type\":\"buffer\",\"params\":[1]}]", "params are no object"},
		{"[{\"node_type\":\"buffer\",\"arguments\":[1]}]", "not a string"},
		{"[{\"node_type\":\"buffer\",\"stacking_level\":\"high\"}]", "stacking_level"},
		{"[{\"node_type\":\"buffer\",\"duration_ns\":-1}]", "duration_ns"},
		{"[{\"node_type\":\"buffer\"}", "graph.json:1:"},
		{"[] []", "graph.json:1:"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tt_graph graph;

		CHECK_INT(parse(&graph, bad[i].text), TTNN_FORMAT);
		if (!strstr(ttnn_error(), bad[i].message))
			TEST_FAIL("%s: \"%s\" does not say \"%s\"", bad[i].text, ttnn_error(),
				  bad[i].message);
		CHECK(!graph.nodes && !graph.count);
	}
}

/* What is asked of hostile graphs has an answer or a refusal. */
TEST(queries_take_anything)
{
	static const char *const odd[] = {
		"[]",
		"[{\"node_type\":\"function_end\",\"params\":{}}]",
		"[{\"node_type\":\"function_start\",\"params\":null,\"connections\":[0,0]}]",
		"[{\"node_type\":\"buffer_deallocate\",\"params\":{\"type\":\"L1\",\"size\":5}}]",
		"[{\"node_type\":\"tensor\",\"stacking_level\":1,\"connections\":[0]}]",
		"[{\"node_type\":\"function_end\",\"connections\":[0,1]},{\"node_type\":\"tensor\"}]",
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct tt_query_vertex *vertices;
		struct tt_arena arena = {0};
		struct tt_query_counts counts;
		struct tt_query_core core;
		struct tt_str text = {0};
		struct tt_graph graph;
		size_t count;

		CHECK_INT(parse(&graph, odd[i]), TTNN_OK);
		tt_query_peak_l1(&graph);
		tt_query_dram(&graph);
		CHECK_INT(tt_query_counts(&counts, &graph), TTNN_OK);
		tt_query_per_core(&core, &graph, 0);
		CHECK_INT(tt_query_levels(&vertices, &count, &arena, &graph, 3), TTNN_OK);
		CHECK_INT(tt_query_flow(&vertices, &count, &arena, &graph, 3), TTNN_OK);
		CHECK_INT(tt_query_pretty(&text, &graph), TTNN_OK);
		tt_query_dot(&text, &graph);
		tt_str_deinit(&text);
		tt_arena_deinit(&arena);
		tt_graph_deinit(&graph);
	}
}

SCENARIO(without_memory)
{
	struct tt_query_vertex *vertices;
	struct tt_query_counts counts;
	struct tt_arena arena = {0};
	struct tt_str text = {0};
	struct tt_graph graph;
	char *json = NULL;
	tt_status status;
	size_t count;

	TT_TRY(parse(&graph, seed_graph));
	status = tt_query_levels(&vertices, &count, &arena, &graph, 2);
	if (status == TTNN_OK)
		status = tt_query_flow(&vertices, &count, &arena, &graph, 2);
	if (status == TTNN_OK)
		status = tt_query_counts(&counts, &graph);
	if (status == TTNN_OK)
		status = tt_query_pretty(&text, &graph);
	if (status == TTNN_OK)
		status = tt_query_dot(&text, &graph);
	if (status == TTNN_OK)
		status = tt_graph_json(&json, &graph, 2);
	tt_free(json);
	tt_str_deinit(&text);
	tt_arena_deinit(&arena);
	tt_graph_deinit(&graph);
	return status;
}
