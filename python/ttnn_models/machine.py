"""The mesh that a row wants, dry runs, and the rule for what is too large to compute."""

import contextlib
import gc
import os
import resource
import time

import ttnn

WHOLE = 1.5e9  # so many weights are computed whole, if torch is there to compare with
MEMORY = 12e9  # bytes that a whole computation may want: float32 for the reference, tiles beside it


@contextlib.contextmanager
def _named(machine):
    """TTNN_DEVICE is `machine` meanwhile, unless it says otherwise."""
    own = not os.environ.get("TTNN_DEVICE")
    if own:
        os.environ["TTNN_DEVICE"] = machine
    try:
        yield
    finally:
        if own:
            del os.environ["TTNN_DEVICE"]


@contextlib.contextmanager
def opened(machine, divides=None, **options):
    """A mesh of one row with all chips of `machine`, or of the machine that TTNN_DEVICE names.

    `divides` is a number of heads: a mesh has as many chips as share it evenly.
    """
    with _named(machine):
        chips = ttnn.GetNumAvailableDevices()
        while divides and divides % chips:
            chips -= 1
        with ttnn.create_mesh_device(ttnn.MeshShape(1, chips), **options) as device:
            yield device


@contextlib.contextmanager
def chip(machine, **options):
    """The first chip of `machine`, or of the machine that TTNN_DEVICE names."""
    with _named(machine), ttnn.manage_device(device_id=0, **options) as device:
        yield device


class Dry:
    """A capture in which nothing is computed; afterwards `graph` has its nodes, `seconds` its time."""

    def __enter__(self):
        gc.collect()  # what is left of other models in L1: pools of a dry run refuse to be beside it, as upstream's do
        self.started = time.monotonic()
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
        return self

    def __exit__(self, *error):
        self.graph = ttnn.graph.end_graph_capture()
        self.seconds = time.monotonic() - self.started

    def operations(self):
        """Names of what the model called, in order, without those that were called inside of others."""
        nodes = self.graph
        return [n["params"]["name"] for n in nodes if n["node_type"] == "function_start" and n["stacking_level"] == 1]


def outer_capture(device):
    """What a capture around the caller does, as the outermost one decides: "computes", "dry", or None if there is none."""
    if not ttnn.graph.is_graph_capture_active():
        return None
    probe = ttnn.empty([32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
    address = probe.buffer_address()
    ttnn.deallocate(probe)
    return "computes" if address else "dry"


def passes(device, say):
    """(whether numbers can be computed, whether a dry run can be made): a capture around them may forbid one."""
    outer = outer_capture(device)
    if outer == "computes":
        say("a capture in mode NORMAL is active: nothing is run without dispatch")
    elif outer == "dry":
        say("a capture in mode NO_DISPATCH is active: nothing is computed or compared")
    return outer != "dry", outer != "computes"


def compares():
    """Whether numbers are compared: without torch not while operations are recorded, since a reference in ttnn would be, too."""
    from ttnn import operation_tracer

    recorded = os.environ.get("TTNN_TRACE") or operation_tracer._ENABLE_TRACE or ttnn.graph.is_graph_capture_active()
    return has_torch() or not recorded


def counted(dry, layers):
    """The whole without dispatch; its layers and its ends have all of its operations."""
    whole = dry(layers)
    ends, one = (len(dry(count).operations()) for count in (0, 1))
    assert ends + layers * (one - ends) == len(whole.operations())
    return whole


def demo(device, title, bound, compute, dry, say=print):
    """Computes a network and runs it without dispatch, as far as a capture around it allows; the correlation.

    compute() gives the correlation, or None where there is nothing to compare with; dry() a finished Dry."""
    may_compute, may_dry = passes(device, say)
    found = None
    if may_compute:
        started = time.monotonic()
        found = compute()
        told = "nothing to compare with" if found is None else f"correlation {found:.5f} (at least {bound})"
        say(f"{title}: {told}, computed in {time.monotonic() - started:.1f} s")
    if may_dry:
        run = dry()
        say(f"{title}: {len(run.operations())} operations without dispatch in {run.seconds:.2f} s; {peak_memory() / 1e6:.0f} MB at most")
    assert found is None or found >= bound, f"{title}: correlation {found} below {bound}"
    return found


def has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def free_memory():
    """Bytes that this machine can still give."""
    with contextlib.suppress(OSError):
        for line in open("/proc/meminfo"):
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def plan(name, weights, layers, asked=None):
    """(layers to compute, or None for all; the sentence that says why)."""
    what = f"{name}: {layers} layers, {weights / 1e9:.2f}e9 weights"
    if asked is not None:
        return min(asked, layers), f"{what}; {asked} computed, as --layers asks, then all without dispatch"
    if weights > WHOLE:
        return 1, f"{what}, more than {WHOLE / 1e9:.1f}e9: one layer of each kind is computed, then all without dispatch"
    if not has_torch():
        return 1, f"{what}; without torch one layer is computed against ttnn's plain operations, then all without dispatch"
    if free_memory() < MEMORY:
        return 1, f"{what}; less than {MEMORY / 1e9:.0f} GB are free: one layer is computed, then all without dispatch"
    return None, f"{what}: computed whole"
