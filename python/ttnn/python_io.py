"""What Python knows of calls while a graph is captured: arguments, numbers of tensors, stacks, errors.

The outermost capture in dialect tt-metal records it; end_graph_capture_to_file() writes it beside the
report, as FILE.python_io.json.
"""

import json
import os
import pathlib
import sys
import threading
import traceback

from ttnn import _ttnn, decorators

_SUFFIX = ".python_io.json"
_LONG, _DEEP = 32, 4  # of lists with tensors: how much of them is written
_OURS = str(pathlib.Path(__file__).parent)
_state = {"recording": False, "wanted": False}


def _records():
    """The records of this capture: ttnn.graph._python_io_data, whoever made that list."""
    return sys.modules["ttnn.graph"]._python_io_data


def enable_python_io_recording():
    _state["recording"] = True
    decorators.set_recorder(sys.modules[__name__])
    _ttnn.hear_inner_calls(inner)


def disable_python_io_recording():
    _state["recording"] = False
    decorators.set_recorder(None)
    _ttnn.hear_inner_calls(None)


def is_python_io_recording_enabled():
    return _state["recording"]


def enable_python_stack_traces():
    """From now on captures tell where calls come from: the default dialect in its nodes, tt-metal in its records."""
    _ttnn.graph.set_switch(_ttnn.graph.PYTHON_STACKS, True)


def disable_python_stack_traces():
    _ttnn.graph.set_switch(_ttnn.graph.PYTHON_STACKS, False)


def is_python_stack_trace_enabled():
    return _ttnn.graph.get_switch(_ttnn.graph.PYTHON_STACKS)


def configure_stacks(ttnn):
    """Stacks of Python for this capture, where CONFIG wants them."""
    wanted = (getattr(ttnn.CONFIG, name, False) for name in ("enable_graph_python_stack_traces", "enable_detailed_tensor_report"))
    _state["wanted"] = any(wanted) and not is_python_stack_trace_enabled()
    if _state["wanted"]:
        enable_python_stack_traces()


def begin():
    """The outermost capture begins."""
    import ttnn

    _records().clear()
    configure_stacks(ttnn)
    if os.environ.get("TTNN_DIALECT") == "tt-metal":
        enable_python_io_recording()


def end(report=None):
    """It has ended; what was recorded is written beside its report, if there is one."""
    disable_python_io_recording()
    if _state["wanted"]:
        _state["wanted"] = False
        disable_python_stack_traces()
    if report is not None and _records():
        path = pathlib.Path(report).with_suffix(_SUFFIX)
        aside = path.with_name(path.name + ".new")
        aside.write_text(json.dumps(_records()))
        aside.replace(path)
    _records().clear()


# ---- one call


def _is_torch(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _tensors(value):
    if isinstance(value, _ttnn.tensor.Tensor) or (_is_torch(value) and hasattr(value, "tensor_id")):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _ids(values):
    return [tensor.tensor_id for value in values for tensor in _tensors(value)]


def _tensor_text(tensor):
    device = tensor.device()
    parts = {
        "shape": tensor.shape,
        "dtype": tensor.dtype,
        "layout": tensor.layout,
        "memory_config": tensor.memory_config(),
        "storage_type": tensor.storage_type(),
        "tensor_id": tensor.tensor_id,
        "is_allocated": tensor.is_allocated(),
    }
    if device is not None:
        parts["device_id"] = device.id()
        parts["mesh_shape"] = device.shape
    topology = tensor.tensor_topology()
    parts["mesh_coords"] = [str(coordinate) for coordinate in topology.mesh_coords()]
    parts["distribution_shape"] = topology.distribution_shape()
    parts["placements"] = [str(placement) for placement in topology.placements()]
    return f"ttnn.Tensor({', '.join(f'{name}={value}' for name, value in parts.items())})"


def argument_text(value, depth=0):
    """An argument, without the elements of tensors; long and deep lists in part."""
    if isinstance(value, _ttnn.tensor.Tensor):
        return _tensor_text(value)
    if _is_torch(value):
        return f"torch.Tensor(shape={list(value.shape)}, dtype={value.dtype})"
    if isinstance(value, (list, tuple)) and _has_tensors(value):
        opening, closing = "[]" if isinstance(value, list) else "()"
        if depth >= _DEEP:
            return f"{opening}... {len(value)} element(s) below the summary depth limit{closing}"
        parts = [argument_text(item, depth + 1) for item in value[:_LONG]]
        if len(value) > _LONG:
            parts.append(f"... +{len(value) - _LONG} more")
        return f"{opening}{', '.join(parts)}{closing}"
    try:
        return str(value)
    except Exception as error:  # what is recorded must not break the call
        return f"<unprintable {type(value).__name__}: {type(error).__name__}: {error}>"


def _has_tensors(value, depth=0):
    if isinstance(value, (list, tuple)):
        return depth >= _DEEP or any(_has_tensors(item, depth + 1) for item in value)
    return isinstance(value, _ttnn.tensor.Tensor) or _is_torch(value)


def _stack():
    """Frames of the user, the innermost first."""
    frames = []
    for frame in reversed(traceback.extract_stack()):
        name = frame.filename
        if not name.startswith(_OURS) and "/_pytest/" not in name and "/pluggy/" not in name:
            line = f"    {frame.line}\n" if frame.line else ""
            frames.append(f'  File "{name}", line {frame.lineno}, in {frame.name}\n{line}')
    return frames


def append_python_io_record(name):
    """A new record that says only who is called; those below fill it in."""
    record = {"name": name, "arguments": {}, "input_tensor_ids": []}
    _records().append(record)
    return record


def record_python_operation(name, function_args, function_kwargs, *, record=None):
    """The arguments of a call, in its record or a new one; the record."""
    args, kwargs = function_args, function_kwargs
    record = append_python_io_record(name) if record is None else record
    kwargs = {n: v for n, v in kwargs.items() if n not in ("queue_id", "cq_id")}
    record["arguments"] = {**{n: argument_text(v) for n, v in kwargs.items()}, **{str(i): argument_text(a) for i, a in enumerate(args)}}
    record["input_tensor_ids"] = _ids([*args, *kwargs.values()])
    if is_python_stack_trace_enabled():
        record["python_stack_trace"] = _stack()
    return record


def record_python_operation_error(record, error_type, error_message):
    """Why a call failed; the first reason stays. No record (None) is fine."""
    if record is not None:
        record.setdefault("error", {"type": error_type, "message": error_message})


def store_output_tensor_ids(output_tensor_ids):
    """The numbers of the tensors that the last call gave."""
    if _records():
        _records()[-1]["output_tensor_ids"] = output_tensor_ids


def store_captured_graph(captured_graph_json):
    """The graph of the last call."""
    if _records():
        _records()[-1]["captured_graph"] = captured_graph_json


def call(operation, args, kwargs):
    """A call begins; its record, for returned() or failed(), or None: recordings show only what it calls."""
    if not getattr(operation, "is_shown", True):
        return None
    if operation.python_fully_qualified_name == "ttnn.Tensor.__getitem__" and len(args[1]) == 1:
        args = (args[0], args[1][0])  # x[0:32], most likely
    return record_python_operation(operation.python_fully_qualified_name, args, kwargs)


def returned(record, output):
    if record is not None:
        store_output_tensor_ids(_ids([output]))


def failed(record, error):
    record_python_operation_error(record, type(error).__name__, str(error))


class _Inner:
    """Hears of calls that an operation makes itself; they have records of their own, behind its own."""

    def __init__(self):
        self.threads = threading.local()

    def _open(self):
        return self.threads.__dict__.setdefault("open", [])

    def begin(self, name, args, kwargs):
        self._open().append(None)  # it is open, whatever comes of its record
        meant = self.threads.__dict__.pop("meant", None)
        self._open()[-1] = record = record_python_operation(name, *(meant or (args or [], kwargs or {})))
        if meant:
            record["input_tensor_ids"] = _ids([*(args or []), *(kwargs or {}).values()])

    def mean(self, *args, **kwargs):
        """What upstream's Python gives the next call that an operation makes itself; None: what it is given here."""
        self.threads.meant = (args, kwargs) if args else None

    def end(self, tensors, error):
        record = self._open().pop() if self._open() else None
        if error is None:
            store_output_tensor_ids(_ids(tensors or []))
        else:
            failed(record, error)


inner = _Inner()
