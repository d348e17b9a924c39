"""Traces: operations between begin and end, which can be run again on the same tensors."""

import itertools

from ttnn import _ttnn
from ttnn._ttnn.tensor import Tensor
from ttnn.decorators import register_post_operation_hook

_ids = itertools.count()
_traces = {}
_open = []


class MeshTraceId(int):
    pass


class _Trace:
    def __init__(self, device):
        self.id, self.device, self.steps = MeshTraceId(next(_ids)), device, []
        self.hook = register_post_operation_hook(self.note)
        self.hook.__enter__()

    def note(self, operation, args, kwargs, output):
        self.steps.append((operation, args, kwargs, output))

    def end(self):
        self.hook.__exit__(None, None, None)

    def run(self):
        """Runs the steps; tensors that are still there get the new values, the others pass on."""
        fresh = {}
        for operation, args, kwargs, output in self.steps:
            new = operation.run(*_renewed(args, fresh), **{k: _renewed(v, fresh) for k, v in kwargs.items()})
            for old, result in zip(_tensors(output), _tensors(new)):
                fresh[id(old)] = result
                if old is not result and old.is_allocated() and old.device() is not None:
                    _ttnn.tensor.assign(old, result)
                    fresh[id(old)] = old


def _tensors(value):
    if isinstance(value, Tensor):
        return [value]
    return [t for v in value for t in _tensors(v)] if isinstance(value, (list, tuple)) else []


def _renewed(value, fresh):
    if isinstance(value, Tensor):
        return fresh.get(id(value), value)
    return type(value)(_renewed(v, fresh) for v in value) if type(value) in (list, tuple) else value


def begin_trace_capture(device, cq_id=0):
    trace = _Trace(device)
    _traces[trace.id] = trace
    _open.append(trace)
    return trace.id


def end_trace_capture(device, trace_id, cq_id=0):
    trace = _traces[trace_id]
    _open.remove(trace)
    trace.end()


def execute_trace(device, trace_id, cq_id=0, blocking=True):
    if trace_id not in _traces:
        raise RuntimeError(f"there is no trace {trace_id}")
    _traces[trace_id].run()


def release_trace(device, trace_id):
    if _traces.pop(trace_id, None) is None:
        raise RuntimeError(f"there is no trace {trace_id}")


def is_trace_capture_active(device=None):
    return bool(_open)
