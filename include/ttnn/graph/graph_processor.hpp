/*
 * graph_processor.hpp: graph capture for C++ programs, over the C functions of ttnn.h; the names
 * are upstream's. Header only; failures are ttnn::Error (ttnn.hpp), a std::runtime_error.
 *
 *	ttnn::graph::GraphProcessor::begin_graph_capture(ttnn::graph::RunMode::NORMAL);
 *	auto result = ttnn::add(tensor_a, tensor_b);
 *	auto graph = ttnn::graph::GraphProcessor::end_graph_capture();
 */
#ifndef TTNN_GRAPH_GRAPH_PROCESSOR_HPP
#define TTNN_GRAPH_GRAPH_PROCESSOR_HPP

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "../json.hpp"
#include "../ttnn.hpp"

namespace ttnn {
namespace graph {

enum class RunMode { NORMAL = TTNN_RUN_NORMAL, NO_DISPATCH = TTNN_RUN_NO_DISPATCH };

/* A captured graph: a list of nodes, which is read when it is asked for. */
class Graph {
public:
	explicit Graph(ttnn_graph *graph)
		: graph_(graph, ttnn_graph_free), nodes_(std::make_shared<Json>())
	{
	}
	std::size_t size() const { return ttnn_graph_count(graph_.get()); }
	const ttnn_graph *get() const { return graph_.get(); }

	/* All nodes (json.hpp). */
	const Json &nodes() const
	{
		if (nodes_->empty())
			*nodes_ = Json::parse(dump());
		return *nodes_;
	}
	/* A node by its number, which may be a value of another one. */
	template <typename T> const Json &operator[](const T &index) const
	{
		return nodes()[index];
	}
	auto begin() const { return nodes().begin(); }
	auto end() const { return nodes().end(); }

	/* The nodes as JSON text. */
	std::string dump(unsigned indent = 0) const
	{
		char *text = nullptr;

		check(ttnn_graph_json(&text, graph_.get(), indent));
		return take(text);
	}

	/* An answer of ttnn_graph_query(), as JSON text. */
	std::string query(const char *what, long long argument = 0) const
	{
		char *text = nullptr;

		check(ttnn_graph_query(&text, graph_.get(), what, argument));
		return take(text);
	}
	friend std::ostream &operator<<(std::ostream &out, const Graph &graph)
	{
		return out << graph.dump();
	}

private:
	std::shared_ptr<ttnn_graph> graph_;
	std::shared_ptr<Json> nodes_;
};

inline Json extract_calltrace(const Graph &graph)
{
	return Json::parse(graph.query("calltrace"));
}
inline Json extract_levelized_graph(const Graph &graph, long long max_level = 1)
{
	return Json::parse(graph.query("levelized", max_level));
}
inline Json extract_output_info(const Graph &graph)
{
	return Json::parse(graph.query("output_info"));
}
/* Of a core, in bytes. */
inline std::uint64_t extract_peak_L1_memory_usage(const Graph &graph)
{
	return Json::parse(graph.query("peak_l1"));
}

class GraphProcessor {
public:
	static void begin_graph_capture(RunMode mode = RunMode::NORMAL)
	{
		check(ttnn_graph_begin(static_cast<enum ttnn_run_mode>(mode)));
	}
	static Graph end_graph_capture()
	{
		ttnn_graph *graph = nullptr;

		check(ttnn_graph_end(&graph));
		return Graph(graph);
	}
	static Graph end_graph_capture_to_file(const std::string &path)
	{
		ttnn_graph *graph = nullptr;

		check(ttnn_graph_end_to_file(&graph, path.c_str()));
		return Graph(graph);
	}
	static std::string get_current_report()
	{
		char *text = nullptr;

		check(ttnn_graph_report(&text));
		return take(text);
	}
	static void enable_stack_traces() { ttnn_graph_set(TTNN_GRAPH_STACKS, true); }
	static void disable_stack_traces() { ttnn_graph_set(TTNN_GRAPH_STACKS, false); }
	static bool is_stack_trace_enabled() { return ttnn_graph_is_set(TTNN_GRAPH_STACKS); }
	static void enable_buffer_pages() { ttnn_graph_set(TTNN_GRAPH_PAGES, true); }
	static void disable_buffer_pages() { ttnn_graph_set(TTNN_GRAPH_PAGES, false); }
	static bool is_buffer_pages_enabled() { return ttnn_graph_is_set(TTNN_GRAPH_PAGES); }
};

/* A capture as long as this object lives, unless it is ended before. */
class ScopedGraphCapture {
public:
	explicit ScopedGraphCapture(RunMode mode, std::string report_path = "")
		: path_(std::move(report_path))
	{
		GraphProcessor::begin_graph_capture(mode);
	}
	ScopedGraphCapture(const ScopedGraphCapture &) = delete;
	ScopedGraphCapture &operator=(const ScopedGraphCapture &) = delete;
	~ScopedGraphCapture()
	{
		if (!running_)
			return;
		/* A destructor does not throw: what cannot be written is lost. */
		if (path_.empty())
			ttnn_graph_end(nullptr);
		else
			ttnn_graph_end_to_file(nullptr, path_.c_str());
	}
	Graph end_graph_capture()
	{
		running_ = false;
		return GraphProcessor::end_graph_capture();
	}

private:
	std::string path_;
	bool running_ = true;
};

} // namespace graph
} // namespace ttnn

namespace tt {
namespace tt_metal {
struct IGraphProcessor {
	using RunMode = ttnn::graph::RunMode;
};
} // namespace tt_metal
} // namespace tt

#endif
