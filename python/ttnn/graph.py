"""Captures: which operations run, and whether they compute anything."""

import threading

from ttnn import _ttnn
from ttnn._ttnn.graph import RunMode

_state = threading.local()


def _open():
    if not hasattr(_state, "modes"):
        _state.modes = []
    return _state.modes


def _apply():
    """The outermost capture decides for those inside it."""
    _ttnn.set_no_dispatch(_open()[:1] == [RunMode.NO_DISPATCH])


def begin_graph_capture(run_mode=RunMode.NORMAL):
    _open().append(run_mode)
    _apply()


def end_graph_capture():
    """Ends the innermost capture; None when there is none."""
    if not _open():
        return None
    _open().pop()
    _apply()
    return []


def is_graph_capture_active():
    return bool(_open())
