/*
 * The snippets of TT-NN's document on graph tracing: that of C++ as it is printed, those of Python
 * as the same code reads in C++. Prints what tests/formats/test_graph_cpp.sh compares.
 */
#include "ttnn/graph/graph_processor.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

static void durations(const ttnn::graph::Graph &graph)
{
	for (const auto &node : graph)
		if (node["node_type"] == "function_end" && node.contains("duration_ns")) {
			std::string name = node["params"]["name"];
			double duration_ms = node["duration_ns"].get<double>() / 1'000'000;

			std::cout << name << ": " << (duration_ms > 0 ? "some" : "no") << " time\n";
		}
}

static long long get_peak_memory(const ttnn::graph::Graph &graph)
{
	long long total_buffer = 0, peak_buffer = 0;

	for (const auto &node : graph)
		if (node["node_type"] == "buffer_allocate") {
			total_buffer += std::stoll(node["params"]["size"]);
			peak_buffer = std::max(peak_buffer, total_buffer);
		} else if (node["node_type"] == "buffer_deallocate") {
			/* Get size from connected buffer node */
			auto buffer_id = node["connections"][0];
			auto buffer_node = graph[buffer_id];
			total_buffer -= std::stoll(buffer_node["params"]["size"]);
		}
	return peak_buffer;
}

static void arguments(const ttnn::graph::Graph &graph)
{
	for (const auto &node : graph)
		if (node["node_type"] == "function_start" && node.contains("arguments") &&
		    !node["arguments"].empty())
			std::cout << node["params"]["name"] << ": " << node["arguments"].size()
				  << " arguments\n";
}

static void levels(const ttnn::graph::Graph &graph)
{
	for (const auto &vertex : ttnn::graph::extract_levelized_graph(graph, 2)) {
		std::cout << vertex["name"] << " (level " << vertex["stacking_level"] << ")";
		std::cout << " inputs: " << vertex["in_edges"]
			  << " outputs: " << vertex["out_edges"];
		std::cout << " internals: " << vertex["internals"] << "\n";
	}
}

int main()
{
	auto device = ttnn::open_device(0);
	auto tensor_a = ttnn::ones({32, 32}, ttnn::bfloat16, ttnn::TILE_LAYOUT, device);
	auto tensor_b = ttnn::full({32, 32}, 2.5, ttnn::bfloat16, ttnn::TILE_LAYOUT, device);

	ttnn::graph::GraphProcessor::begin_graph_capture(ttnn::graph::RunMode::NORMAL);
	auto result = ttnn::add(tensor_a, tensor_b); // Your operations here
	auto graph = ttnn::graph::GraphProcessor::end_graph_capture();

	std::cout << graph.size() << " nodes, " << graph.query("calltrace") << "\n";
	durations(graph);
	std::cout << "peak: " << get_peak_memory(graph) << "\n";
	arguments(graph);
	levels(graph);
	std::cout << graph[0]["node_type"] << " " << graph[1]["params"]["name"] << " "
		  << graph[graph.size() - 1]["counter"] << "\n";
	std::cout << "result: " << result.to_vector<float>()[1023] << "\n";
	try {
		ttnn::graph::GraphProcessor::end_graph_capture();
	} catch (const std::runtime_error &error) {
		std::cout << "refused: " << (error.what()[0] != '\0') << "\n";
	}
	ttnn::close_device(device);
	return 0;
}
