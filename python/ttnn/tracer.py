"""Graphs of what torch functions and operations of the library did: trace(), get_graph(), visualize(), codegen()."""

import contextlib
import dataclasses

import ttnn
from ttnn import decorators, torch_tracer
from ttnn.torch_tracer import (
    InputTensorIndex,
    Node,
    PositionalArgumentName,
    TorchFunction,
    TorchParameter,
    TorchTensor,
    get_graph,
    is_tracing_enabled,
    visualize,
)


@dataclasses.dataclass
class TTNNTensor:
    tensor: object

    def to_string(self, verbose=False):
        return "ttnn.Tensor"


@dataclasses.dataclass
class TTNNOperation:
    """A call of an operation: its name and arguments, tensors replaced by their numbers."""

    pretty_name: str
    operation: object
    arg_name_value_pairs: list

    def to_string(self, verbose=False):
        return self.pretty_name


torch_tracer._leaves.append((lambda value: isinstance(value, ttnn.Tensor), TTNNTensor))


def _begin(operation, args, kwargs):
    torch_tracer.set_inside(True)


def _hear(operation, args, kwargs, output):
    torch_tracer.set_inside(False)
    name = operation.python_fully_qualified_name
    torch_tracer.record(lambda pairs: TTNNOperation(name, operation, pairs), args, kwargs, output)


def enable_tracing():
    torch_tracer.enable_tracing()
    torch_tracer._state.stack.enter_context(decorators.register_pre_operation_hook(_begin))
    torch_tracer._state.stack.enter_context(decorators.register_post_operation_hook(_hear))


disable_tracing = torch_tracer.disable_tracing


@contextlib.contextmanager
def trace():
    enable_tracing()
    try:
        yield
    finally:
        disable_tracing()


def codegen(value):
    """The calls that led to tensors as Python statements; what was there before is a parameter of the function."""
    graph = get_graph(value)
    leaves, lines = [], []
    for node in sorted(graph.nodes):
        operation = graph.nodes[node]["operation"]
        if not hasattr(operation, "arg_name_value_pairs"):
            leaves.append(f"v{node.unique_id}")
            continue
        edges = {row["sink_input_index"]: (source, row["source_output_index"]) for source, _, row in graph.in_edges(node, data=True)}
        texts = [_argument(name, argument, graph, edges) for name, argument in operation.arg_name_value_pairs]
        lines.append(f"    v{node.unique_id} = {operation.to_string()}({', '.join(texts)})")
    results = ", ".join(f"v{torch_tracer.place_of(t)[0].unique_id}" for t in torch_tracer.tensors_of(value))
    return "\n".join([f"def forward({', '.join(leaves)}):", *lines, f"    return {results}", ""])


def _argument(name, value, graph, edges):
    text = _text(value, graph, edges)
    return text if isinstance(name, PositionalArgumentName) else f"{name}={text}"


def _text(value, graph, edges):
    if isinstance(value, list):
        return f"[{', '.join(_text(one, graph, edges) for one in value)}]"
    if not isinstance(value, InputTensorIndex):
        return repr(value)
    source, index = edges[value.index]
    several = len(graph.nodes[source]["shapes"]) > 1
    return f"v{source.unique_id}" + (f"[{index}]" if several else "")
