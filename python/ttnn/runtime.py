"""Switches and facts of a machine with cards that programs ask for: dispatch, profilers, links, reports of memory."""

import contextlib
import itertools
import os
import tempfile

from ttnn import _ttnn
from ttnn._ttnn.fabric import FabricConfig

_PAYLOAD_BYTES = 4352  # of a packet between chips, as the released library has it on Blackhole
_HEADER_BYTES = {1: 48, 2: 96}  # by the dimensions of the fabric
_fabric = {"config": FabricConfig.DISABLED}
_handles = itertools.count()


# ---- memory and kernels


def EnableMemoryReports():
    """Recordings have all memory there is: nothing is to be switched on."""


def DisableMemoryReports():
    """See EnableMemoryReports()."""


def DeallocateBuffers(device):
    """Frees everything on the device, under those who have it."""
    _ttnn.device.deallocate_buffers(device)


def ClearKernelCache():
    """There are no kernels that were compiled."""


# ---- dispatch


@contextlib.contextmanager
def setup_fast_dispatch(device, *, allow_destructive=False):
    """Here programs always go to a device the same way; on a closed one nothing can be done."""
    _ttnn.device.synchronize_device(device)
    yield


def is_asynchronous_slow_dispatch_enabled(device):
    return False


def enable_asynchronous_slow_dispatch(device):
    raise RuntimeError("asynchronous slow dispatch needs a machine with cards")


def disable_asynchronous_slow_dispatch(device):
    """It never is enabled."""


# ---- the profiler that runs beside programs


class ProgramRealtimeRecord:
    """What a card tells of a program while it runs."""

    def __init__(self, *unused, **ignored):
        raise TypeError("ProgramRealtimeRecord: records are made by cards")


class ProgramRealtimeRecordBatch:
    """Several of them."""

    def __init__(self, *unused, **ignored):
        raise TypeError("ProgramRealtimeRecordBatch: records are made by cards")


def IsProgramRealtimeProfilerActive():
    """Cards have one; `ttnn profile` tells the same afterwards."""
    return False


def RegisterProgramRealtimeProfilerCallback(callback):
    """The number of the callback, which is never called."""
    if not callable(callback):
        raise TypeError("RegisterProgramRealtimeProfilerCallback() takes a function")
    return next(_handles)


def UnregisterProgramRealtimeProfilerCallback(handle):
    """Nothing to wait for."""


# ---- links between chips


def set_fabric_config(config=FabricConfig.DISABLED, *unused, **ignored):
    """Nothing is set up, but from now on what sends between chips is refused as with that fabric."""
    _ttnn.device.set_fabric(config.value)
    _fabric["config"] = config


def get_fabric_config():
    return _fabric["config"]


def _dimensions():
    config = _fabric["config"]
    if config == FabricConfig.DISABLED:
        raise RuntimeError("Trying to get un-initialized fabric context")
    return 2 if "2D" in config.name else 1


def get_tt_fabric_max_payload_size_bytes():
    """The largest packet between chips, without its header. A fabric must have been chosen."""
    _dimensions()
    return _PAYLOAD_BYTES


def get_tt_fabric_packet_header_size_bytes():
    return _HEADER_BYTES[_dimensions()]


# ---- the machine


def serialize_cluster_descriptor():
    """The path of a new file that says which chips there are, as upstream's tools read it."""
    info = _ttnn.device.system_info()
    chips = range(info["chips"])
    where = [divmod(chip, info["cols"]) for chip in chips]
    lines = ["arch:", *(f"  {chip}: {info['arch']}" for chip in chips), "chips:"]
    for chip, (row, column) in zip(chips, where):
        lines += [f"  {chip}:", f"    - {column}", f"    - {row}", "    - 0", "    - 0"]
    lines += ["chip_unique_ids:", *(f"  {chip}: {chip}" for chip in chips), "ethernet_connections:", "  []"]
    lines += ["chips_with_mmio:", *(f"  - {chip}: {chip}" for chip in chips), "io_device_type: PCIe", "boards:"]
    lines += ["  -", f"    - board_type: {info['name']}", "    - chips:", *(f"        - {chip}" for chip in chips)]
    path = os.path.join(tempfile.mkdtemp(prefix="ttnn_cluster_"), "cluster_descriptor.yaml")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


__all__ = [n for n in globals() if n[0] != "_" and n not in ("contextlib", "itertools", "os", "tempfile", "FabricConfig")]
