/*
 * graph_processor.hpp: graph capture for C++ programs, over the C functions of ttnn.h; the names are
 * upstream's. Header only; failures are std::runtime_error with the library's message.
 *
 *	ttnn::graph::GraphProcessor::begin_graph_capture(ttnn::graph::RunMode::NORMAL);
 *	auto result = ttnn::add(tensor_a, tensor_b);
 *	auto graph = ttnn::graph::GraphProcessor::end_graph_capture();
 */
#ifndef TTNN_GRAPH_GRAPH_PROCESSOR_HPP
#define TTNN_GRAPH_GRAPH_PROCESSOR_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <ttnn.h>

namespace ttnn {

inline void check(enum ttnn_status status)
{
	if (status != TTNN_OK)
		throw std::runtime_error(ttnn_error());
}

/* A reference to a tensor; copies share it. */
class Tensor {
public:
	Tensor() = default;
	/* Takes the reference over. */
	explicit Tensor(ttnn_tensor *tensor) : tensor_(tensor, ttnn_tensor_unref) {}
	ttnn_tensor *get() const { return tensor_.get(); }

private:
	std::shared_ptr<ttnn_tensor> tensor_;
};

/* Any operation by its name with tensors for arguments: call("ttnn.add", a, b). */
template <typename... Tensors> Tensor call(const char *name, const Tensors &...tensors)
{
	const struct ttnn_arg args[] = {{nullptr, ttnn_v_tensor(tensors.get())}...};
	ttnn_tensor *out = nullptr;

	check(ttnn_call_one(&out, name, args, sizeof...(tensors), TTNN_FRONTEND_C));
	return Tensor(out);
}

inline Tensor add(const Tensor &a, const Tensor &b) { return call("ttnn.add", a, b); }
inline Tensor subtract(const Tensor &a, const Tensor &b) { return call("ttnn.subtract", a, b); }
inline Tensor multiply(const Tensor &a, const Tensor &b) { return call("ttnn.multiply", a, b); }
inline Tensor matmul(const Tensor &a, const Tensor &b) { return call("ttnn.matmul", a, b); }

namespace graph {

enum class RunMode { NORMAL = TTNN_RUN_NORMAL, NO_DISPATCH = TTNN_RUN_NO_DISPATCH };

/* A captured graph. */
class Graph {
public:
	explicit Graph(ttnn_graph *graph) : graph_(graph, ttnn_graph_free) {}
	std::size_t size() const { return ttnn_graph_count(graph_.get()); }
	const ttnn_graph *get() const { return graph_.get(); }

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

private:
	static std::string take(char *text)
	{
		std::string copy(text);

		ttnn_free(text);
		return copy;
	}
	std::shared_ptr<ttnn_graph> graph_;
};

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
		std::string copy(text);
		ttnn_free(text);
		return copy;
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
