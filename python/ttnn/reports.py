"""What lies in a device's memory now, as ttnn._ttnn.reports: the report of a capture in which nothing happens."""

import dataclasses
import json
import sys

from ttnn import _ttnn
from ttnn._ttnn.tensor import BufferType, TensorMemoryLayout

_ORDER = {BufferType.L1: 0, BufferType.DRAM: 1}


@dataclasses.dataclass(frozen=True)
class BufferInfo:
    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: object
    buffer_layout: object


@dataclasses.dataclass(frozen=True)
class BufferPageInfo:
    device_id: int
    address: int
    core_y: int
    core_x: int
    bank_id: int
    page_index: int
    page_address: int
    page_size: int
    buffer_type: object


class DeviceInfo:
    """Numbers of a device: num_y_cores, l1_bank_size, cb_limit and so on."""

    def __init__(self, numbers):
        self.__dict__.update(numbers)


def _report():
    """The report of this moment. It has pages for as long as the switch is on."""
    before = _ttnn.graph.get_switch(_ttnn.graph.PAGES)
    _ttnn.graph.set_switch(_ttnn.graph.PAGES, True)
    _ttnn.graph.begin(False, True, None)
    try:
        return json.loads(_ttnn.graph.report())
    finally:
        _ttnn.graph.end()
        _ttnn.graph.set_switch(_ttnn.graph.PAGES, before)


def _ids(devices):
    return {device.id() for device in (devices if isinstance(devices, (list, tuple)) else [devices])}


def get_buffers(devices):
    """Buffers of devices that live now, L1 first."""
    found = [
        BufferInfo(row["device_id"], row["address"], row["max_size_per_bank"], BufferType[row["type"]], TensorMemoryLayout[row["layout"]])
        for row in json.loads(_report()["graph"][0]["params"]["buffers"])
    ]
    ids = _ids(devices)
    return sorted((b for b in found if b.device_id in ids), key=lambda b: (_ORDER.get(b.buffer_type, 2), b.address))


def get_buffer_pages(devices):
    """Pages of the buffers in L1 that live now."""
    ids = _ids(devices)
    rows = (row for row in _report()["buffer_pages"] if row["device_id"] in ids)
    return [BufferPageInfo(**{**row, "buffer_type": BufferType(row["buffer_type"])}) for row in rows]


def get_device_info(device):
    return DeviceInfo(next(row for row in _report()["devices"] if row["device_id"] == device.id()))


sys.modules["ttnn._ttnn.reports"] = _ttnn.reports = sys.modules[__name__]
