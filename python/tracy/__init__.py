"""What programs that are profiled with Tracy import: signposts, and zones for functions or lines of Python.

They are part of every recording; see docs/ttnn-profile.md.
"""

import sys

import ttnn
from ttnn._ttnn.profiler import is_profiled
from tracy import tracy_state

DEFAULT_CHILD_CALLS = ["CompileProgram", "HWCommandQueue_write_buffer"]


def signpost(header, message=None):
    """A mark in the recordings: a row of its own in profiles."""
    if message:
        ttnn.tracy_message(f"`TT_SIGNPOST: {header}\n{message}`")
    else:
        ttnn.tracy_message(f"`TT_SIGNPOST: {header}`")


class Profiler:
    """Zones for every function of Python between enable() and disable(); for every line with tracy_state.doLine."""

    def __init__(self):
        from tracy.tracy_ttnn import finish_all_zones, tracy_marker_func, tracy_marker_line

        self.doProfile = (
            (tracy_state.doPartial or is_profiled()) and sys.gettrace() is None and sys.getprofile() is None
        )
        self.doLine = tracy_state.doLine
        self.lineMarker = tracy_marker_line
        self.funcMarker = tracy_marker_func
        self.finishZones = finish_all_zones

    def enable(self):
        if not self.doProfile:
            return
        if self.doLine:
            sys.settrace(self.lineMarker)
        else:
            sys.setprofile(self.funcMarker)

    def disable(self):
        if not self.doProfile:
            return
        sys.settrace(None)
        sys.setprofile(None)
        self.finishZones()


def runctx(cmd, globals, locals, partialProfile):
    """Runs a command with zones for all its functions, or only where it enables a Profiler."""
    from tracy.tracy_ttnn import finish_all_zones, tracy_marker_func

    if not partialProfile:
        sys.setprofile(tracy_marker_func)
    try:
        exec(cmd, globals, locals)
    finally:
        sys.setprofile(None)
        finish_all_zones()
