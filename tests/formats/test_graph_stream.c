/* graphs in JSON node by node: the same as all at once */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/memory_course.h"

#define FOLDER "tests/data/report/recorded"

/* What is told of all moments, as text. */
static void tell(void *context, const struct tt_memory_moment *moment)
{
	tt_str_addf(context, "%u %s %d %s %llu %llu %llu %llu\n", moment->number, moment->type_name,
		    moment->is_operation, moment->operation, (unsigned long long)moment->point.l1,
		    (unsigned long long)moment->point.dram,
		    (unsigned long long)moment->point.program,
		    (unsigned long long)tt_memory_core(&moment->point));
}

static void tell_peaks(struct tt_str *out, const struct tt_memory *memory)
{
	for (int view = 0; view < TT_MEMORY_VIEWS; view++) {
		const struct tt_memory_peak *peak = &memory->peaks[view];

		tt_str_addf(out, "peak %u in %s\n", peak->node, peak->operation);
		for (size_t i = 0; i < peak->holders.count; i++)
			tt_str_addf(out, "%u %llu %llu %s %s\n", peak->holders.data[i].buffer,
				    (unsigned long long)peak->holders.data[i].size,
				    (unsigned long long)peak->holders.data[i].bank_size,
				    peak->holders.data[i].shape, peak->holders.data[i].maker);
		for (int bar = 0; bar < TT_MEMORY_BARS; bar++)
			tt_str_addf(out, "%llu ", (unsigned long long)memory->bars[view][bar]);
	}
	tt_str_addf(out, "%llu %zu\n", (unsigned long long)memory->bank, memory->shareless);
}

/* All that streams tell: nodes, memory, which nodes were made. */
static void tell_stream(struct tt_str *out, struct tt_stream *stream)
{
	const struct tt_graph_node *node;
	struct tt_memory memory;
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.compact = true, .utf8 = true});
	CHECK_OK(tt_stream_write(&w, stream));
	CHECK_OK(tt_jsonw_finish(&w));
	CHECK_OK(tt_memory_each(stream, tell, out));
	CHECK_OK(tt_memory_of(&memory, stream));
	tell_peaks(out, &memory);
	tt_memory_deinit(&memory);
	CHECK_OK(tt_stream_restart(stream));
	while (tt_stream_next(&node, stream) == TTNN_OK && node)
		tt_str_adds(out, tt_stream_made(stream) ? "made " : "- ");
}

static void check_graph(const char *path, const struct tt_stream_text *text)
{
	struct tt_str by_one = {0}, whole = {0};
	struct tt_stream *stream;
	struct tt_graph graph;

	if (text)
		CHECK_OK(tt_graph_parse(&graph, text->data, text->size, path));
	else
		CHECK_OK(tt_graph_load(&graph, path));
	CHECK_OK(tt_stream_of_graph(&stream, &graph, true));
	tell_stream(&whole, stream);
	tt_stream_close(stream);
	CHECK_OK(tt_stream_of_json(&stream, path, text, true));
	tell_stream(&by_one, stream);
	tt_stream_close(stream);
	if (strcmp(tt_str_text(&by_one), tt_str_text(&whole)) != 0)
		printf("%s differs\n", path);
	CHECK(strcmp(tt_str_text(&by_one), tt_str_text(&whole)) == 0);
	tt_str_deinit(&by_one);
	tt_str_deinit(&whole);
	tt_graph_deinit(&graph);
}

TEST(recorded_graphs)
{
	DIR *folder = opendir(FOLDER);
	struct dirent *entry;
	int count = 0;

	CHECK(folder);
	while ((entry = readdir(folder))) {
		char path[512];

		snprintf(path, sizeof(path), FOLDER "/%s/report.json.gz", entry->d_name);
		if (entry->d_name[0] == '.' || access(path, R_OK) != 0)
			continue;
		check_graph(path, NULL);
		count++;
	}
	closedir(folder);
	CHECK(count > 5);
}

/* A node as JSON: its kind, params and connections. */
static void add_node(struct tt_str *out, const char *type, const char *params, const char *to)
{
	tt_str_addf(out,
		    "%s{\"node_type\":\"%s\",\"params\":{%s},\"connections\":[%s],\"arguments\":[],"
		    "\"input_tensors\":[],\"stacking_level\":1}",
		    out->length > 1 ? "," : "", type, params, to);
}

/* Buffers from before whose share of a bank their frees tell; two lead to one tensor, one to something else first. */
TEST(buffers_from_before)
{
	struct tt_str graph = {0};
	struct tt_stream_text text;

	tt_str_addc(&graph, '[');
	add_node(&graph, "capture_start", "", "1,3,5,7,8,9");
	add_node(&graph, "buffer", "\"size\":4096,\"type\":\"L1\",\"device_id\":0", "4");
	add_node(&graph, "tensor", "\"shape\":\"Shape([1])\"", "");
	add_node(&graph, "buffer", "\"size\":8192,\"type\":\"L1\"", "4");
	add_node(&graph, "tensor", "\"shape\":\"Shape([2])\"", "");
	add_node(&graph, "buffer", "\"size\":2048,\"type\":\"L1\"", "6,2");
	add_node(&graph, "function_start", "\"name\":\"ttnn.add\"", "");
	add_node(&graph, "function_end", "\"name\":\"ttnn.add\"", "4");
	add_node(&graph, "buffer_deallocate", "\"max_size_per_bank\":64,\"type\":\"L1\"", "1");
	add_node(&graph, "buffer_deallocate", "\"max_size_per_bank\":128,\"type\":\"L1\"", "3");
	add_node(&graph, "capture_end", "", "");
	tt_str_addc(&graph, ']');
	text = (struct tt_stream_text){tt_str_text(&graph), graph.length};
	check_graph("graph", &text);
	tt_str_deinit(&graph);
}
