"""The functions that Profiler gives to Python's own hooks."""

import threading

import ttnn

_FUNCTION, _LINE, _REST = 0x4C72B0, 0xDD8452, 0x55A868
_open = threading.local()  # of each thread: "call" and "line" of the zones that line tracing opened


def tracy_send_message(message):
    ttnn.tracy_message(message)


def _start(kind, frame):
    ttnn.start_tracy_zone(frame.f_code.co_filename, f"{kind}_{frame.f_code.co_name}", frame.f_lineno or 0)


def tracy_marker_line(frame, event, args):
    calls = _open.__dict__.setdefault("calls", [])
    if event == "call":
        calls.append("call")
        _start("PY_FUNC", frame)
    elif event == "line":
        if calls and calls[-1] == "line":
            ttnn.stop_tracy_zone(color=_LINE)
        else:
            calls.append("line")
        _start("PY_LINE", frame)
    elif event == "return":
        while calls and calls.pop() == "line":
            ttnn.stop_tracy_zone(color=_LINE)
        ttnn.stop_tracy_zone(color=_FUNCTION)
    return tracy_marker_line


def tracy_marker_func(frame, event, args):
    if event in ("call", "c_call"):
        _start("PY_FUNC", frame)
    elif event in ("return", "c_return", "c_exception"):
        ttnn.stop_tracy_zone(color=_FUNCTION)


def finish_all_zones():
    while not ttnn.stop_tracy_zone(color=_REST):
        pass
