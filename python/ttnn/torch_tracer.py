"""Graphs of what torch functions did with tensors: trace(), then get_graph() of a result.

While tracing is on, torch tells of every function (TorchFunctionMode); a tensor is known by its identity for
as long as it lives, and nothing of torch is replaced. ttnn.tracer adds operations of the library to the same graph.
Needs torch and networkx, when tracing begins and not before.
"""

import contextlib
import dataclasses
import itertools
import weakref

_state = None
_ids = itertools.count()


@dataclasses.dataclass(frozen=True)
class Node:
    """A place in the graph; its attribute "operation" says what it is."""

    unique_id: int
    name: str

    def __lt__(self, other):
        return self.unique_id < other.unique_id


@dataclasses.dataclass(frozen=True)
class PositionalArgumentName:
    index: int

    def __repr__(self):
        return f"{self.index}"


@dataclasses.dataclass(frozen=True)
class InputTensorIndex:
    """Stands for the input of that number in a node's arguments."""

    index: int

    def __repr__(self):
        return f"${self.index}"


@dataclasses.dataclass
class TorchTensor:
    """A tensor that was there before, or was made from nothing traced."""

    tensor: object

    def to_string(self, verbose=False):
        return "torch.Tensor"


@dataclasses.dataclass
class TorchParameter:
    parameter: object

    def to_string(self, verbose=False):
        return "torch.nn.Parameter"


@dataclasses.dataclass
class TorchFunction:
    """A call of torch: the function and its arguments, tensors replaced by their numbers."""

    function: object
    arg_name_value_pairs: list

    def to_string(self, verbose=False):
        import torch

        name = getattr(self.function, "__name__", None) or str(self.function)
        return f"torch.{name}" if hasattr(torch, name) else f"torch.Tensor.{name}"


class _State:
    """One trace: the graph, and which node gave each tensor that is alive."""

    def __init__(self):
        import networkx

        self.graph = networkx.MultiDiGraph()
        self.places = {}  # id of a tensor: (weak reference or the tensor, node, number of the output)
        self.inside = False
        self.stack = contextlib.ExitStack()

    def place(self, tensor):
        found = self.places.get(id(tensor))
        return found[1:] if found is not None and _alive(found[0]) is tensor else None

    def put(self, tensor, node, index):
        try:
            held = weakref.ref(tensor)
        except TypeError:
            held = tensor
        self.places[id(tensor)] = held, node, index

    def add(self, operation, inputs, outputs):
        """A node with an edge from each input and a place for each output."""
        node = Node(next(_ids), f"{operation.to_string()}_{len(self.graph)}")
        self.graph.add_node(node, operation=operation, shapes=[tuple(t.shape) for t in outputs], dtypes=[t.dtype for t in outputs])
        for index, tensor in enumerate(inputs):
            source, output = self.source(tensor)
            self.graph.add_edge(source, node, source_output_index=output, sink_input_index=index)
        for index, tensor in enumerate(outputs):
            self.put(tensor, node, index)
        return node

    def source(self, tensor):
        if self.place(tensor) is None:
            self.add(_leaf(tensor), [], [tensor])
        return self.place(tensor)


def _alive(held):
    return held() if isinstance(held, weakref.ref) else held


_leaves = []  # (whether a value is a tensor of that kind, what stands for it)


def _is_parameter(value):
    import torch

    return isinstance(value, torch.nn.Parameter)


def _is_torch(value):
    import torch

    return isinstance(value, torch.Tensor)


_leaves += [(_is_parameter, TorchParameter), (_is_torch, TorchTensor)]


def _leaf(tensor):
    return next(kind for is_it, kind in _leaves if is_it(tensor))(tensor)


def is_tensor(value):
    return any(is_it(value) for is_it, _ in _leaves)


def tensors_of(value):
    """Tensors in values, lists, tuples and dictionaries, in order."""
    if is_tensor(value):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for one in inside for tensor in tensors_of(one)]


def arguments_of(args, kwargs):
    """(inputs, [(name, value)]) of a call, with tensors replaced by InputTensorIndex."""
    inputs = []

    def numbered(value):
        if is_tensor(value):
            inputs.append(value)
            return InputTensorIndex(len(inputs) - 1)
        if isinstance(value, (list, tuple)):
            return [numbered(one) for one in value]
        return value

    pairs = [(PositionalArgumentName(index), numbered(value)) for index, value in enumerate(args)]
    pairs += [(name, numbered(value)) for name, value in kwargs.items()]
    return inputs, pairs


def record(make, args, kwargs, output):
    """Adds a call to the graph: make(pairs) is its operation. Nothing happens while nothing is traced."""
    state, outputs = _state, tensors_of(output)
    if state is None or not outputs:
        return
    set_inside(True)
    try:
        inputs, pairs = arguments_of(args, kwargs)
        state.add(make(pairs), inputs, outputs)
    finally:
        set_inside(False)


def _state_is_inside():
    return _state is None or _state.inside


def set_inside(inside):
    """Whether what torch is asked for meanwhile is part of something else that is recorded."""
    if _state is not None:
        _state.inside = inside


def _torch_mode():
    from torch.overrides import TorchFunctionMode

    class Listener(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            output = function(*args, **kwargs)
            # Properties (tensor.shape) and what graphs are made with are no calls of the program.
            if not _state_is_inside() and getattr(function, "__name__", "") != "__get__":
                record(lambda pairs: TorchFunction(function, pairs), args, kwargs, output)
            return output

    return Listener()


def enable_tracing():
    global _state
    if _state is not None:
        raise ValueError("Tracing is on already.")
    state = _State()
    state.stack.enter_context(_torch_mode())
    _state = state


def disable_tracing():
    """What was traced stays; the next trace begins a new graph."""
    global _state, _last
    if _state is not None:
        _state.stack.close()
        _last, _state = _state, None


_last = None


def is_tracing_enabled():
    return _state is not None


@contextlib.contextmanager
def trace():
    enable_tracing()
    try:
        yield
    finally:
        disable_tracing()


def place_of(tensor):
    """(node, number of its output) that gave a tensor of the last trace."""
    state = _state or _last
    found = state.place(tensor) if state is not None else None
    if found is None:
        raise ValueError("The tensor was not made while tracing was on.")
    return found


def get_graph(value):
    """The part of the graph that led to tensors, as a networkx.MultiDiGraph."""
    import networkx

    nodes = {place_of(tensor)[0] for tensor in tensors_of(value)}
    graph, wanted = (_state or _last).graph, set(nodes)
    for node in nodes:
        wanted |= networkx.ancestors(graph, node)
    return graph.subgraph(sorted(wanted)).copy()


def visualize(value, *, file_name=None, **unused):
    """The graph in the language of dot: as text, and in a file if one is named."""
    graph = get_graph(value)
    lines = ["digraph {", "\tnode [shape=box]"]
    for node, row in graph.nodes(data=True):
        shapes = ", ".join(str(list(shape)) for shape in row["shapes"])
        lines.append(f'\tn{node.unique_id} [label="{row["operation"].to_string()}\\n{shapes}"]')
    for source, sink, row in graph.edges(data=True):
        lines.append(f'\tn{source.unique_id} -> n{sink.unique_id} [label="{row["source_output_index"]}:{row["sink_input_index"]}"]')
    text = "\n".join(lines + ["}", ""])
    if file_name is not None:
        with open(file_name, "w") as file:
            file.write(text)
    return text
