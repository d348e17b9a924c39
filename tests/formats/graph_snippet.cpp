/* The documented C++ snippet, with tensors around it. */
#include "ttnn/graph/graph_processor.hpp"

#include <cstdio>
#include <cstring>

static ttnn::Tensor empty(ttnn_device *device)
{
	const struct ttnn_shape shape = {2, {32, 32}};
	const struct ttnn_arg args[] = {{nullptr, ttnn_v_shape(&shape)},
					{"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
					{"layout", ttnn_v_layout(TTNN_TILE)},
					{"device", ttnn_v_device(device)}};
	ttnn_tensor *tensor = nullptr;

	ttnn::check(ttnn_call_one(&tensor, "ttnn.empty", args, 4, TTNN_FRONTEND_C));
	return ttnn::Tensor(tensor);
}

int main()
{
	ttnn_device *device = nullptr;
	ttnn::check(ttnn_device_open(&device, 0, nullptr));
	{
		ttnn::Tensor tensor_a = empty(device), tensor_b = empty(device);

		ttnn::graph::GraphProcessor::begin_graph_capture(ttnn::graph::RunMode::NORMAL);
		auto result = ttnn::add(tensor_a, tensor_b); // Your operations here
		auto graph = ttnn::graph::GraphProcessor::end_graph_capture();

		std::printf("%zu nodes, %s\n", graph.size(), graph.query("calltrace").c_str());
	}
	ttnn_device_unref(device);
	return 0;
}
