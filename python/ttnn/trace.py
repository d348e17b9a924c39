"""Traces: operations between begin and end, which can be run again on the same tensors."""

from ttnn._ttnn.operations import trace as _trace
from ttnn._ttnn.operations.trace import end_trace_capture, execute_trace, is_trace_capture_active, release_trace


class MeshTraceId(int):
    def __repr__(self):
        return f"MeshTraceId({int(self)})"

    __str__ = __repr__


def begin_trace_capture(mesh_device, *, cq_id=None):
    """Captures what runs on a device from now on; nothing is computed until the trace is executed."""
    return MeshTraceId(_trace.begin_trace_capture(mesh_device, cq_id=cq_id))
