"""Whether allocations that a trace could overwrite are watched: said by the environment when ttnn is imported."""

import os

TRACE_ALLOC_TRACKING = os.environ.get("TT_METAL_TRACE_ALLOC_TRACKING") == "1"
TRACE_ALLOC_DIAGNOSTICS = TRACE_ALLOC_TRACKING and os.environ.get("TT_METAL_TRACE_ALLOC_TRACEBACKS") == "1"
_depth = os.environ.get("TT_METAL_TRACE_ALLOC_REFERRER_DEPTH", "")
TRACE_ALLOC_REFERRER_DEPTH = int(_depth) if TRACE_ALLOC_DIAGNOSTICS and _depth.isdigit() else 10
