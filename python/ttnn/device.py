"""Devices: opening, closing, what they hold."""

import contextlib
import dataclasses

from ttnn import _ttnn
from ttnn._ttnn.device import Arch, DispatchCoreAxis, DispatchCoreType
from ttnn._ttnn.fabric import FabricTensixConfig
from ttnn._ttnn.global_semaphore import GlobalSemaphore
from ttnn._ttnn.multi_device import MeshDevice, MeshShape
from ttnn._ttnn.tensor import BufferType, CoreGrid

Device = MeshDevice
DEFAULT_L1_SMALL_SIZE = 0
DEFAULT_TRACE_REGION_SIZE = 0
_default = None


class DispatchCoreConfig:
    """Which cores dispatch commands: tensix or ethernet ones, a row or a column."""

    def __init__(self, type=None, axis=None, fabric_tensix_config=FabricTensixConfig.DISABLED):
        self.type, self.axis, self.fabric_tensix_config = type, axis, fabric_tensix_config


def _options(l1_small_size, trace_region_size, num_command_queues, dispatch_core_config, worker_l1_size):
    config = dispatch_core_config or DispatchCoreConfig()
    return {
        "l1_small_size": l1_small_size,
        "trace_region_size": trace_region_size,
        "num_command_queues": num_command_queues,
        "worker_l1_size": worker_l1_size,
        # 0 leaves it to the machine; the numbers behind it are those of the members
        "dispatch": 0 if config.type is None else config.type.value + 1,
        "axis": 0 if config.axis is None else config.axis.value + 1,
    }


def CreateDevice(
    device_id=0,
    num_command_queues=1,
    l1_small_size=DEFAULT_L1_SMALL_SIZE,
    trace_region_size=DEFAULT_TRACE_REGION_SIZE,
    dispatch_core_config=None,
    *,
    worker_l1_size=0,
):
    options = _options(l1_small_size, trace_region_size, num_command_queues, dispatch_core_config, worker_l1_size)
    return _ttnn.device.open_device(device_id, options)


def open_device(
    *,
    device_id,
    l1_small_size=DEFAULT_L1_SMALL_SIZE,
    trace_region_size=DEFAULT_TRACE_REGION_SIZE,
    num_command_queues=1,
    dispatch_core_config=None,
    worker_l1_size=0,
):
    """Opens one chip of the machine that TTNN_DEVICE names."""
    return CreateDevice(
        device_id,
        num_command_queues,
        l1_small_size,
        trace_region_size,
        dispatch_core_config,
        worker_l1_size=worker_l1_size,
    )


def CreateDevices(device_ids, num_command_queues=1, **options):
    return {i: CreateDevice(i, num_command_queues, **options) for i in device_ids}


def close_device(device):
    """Gives all of a device's memory back. Its tensors are not allocated any more."""
    _ttnn.device.close_device(device)


CloseDevice = close_device


def CloseDevices(devices):
    for device in devices.values():
        close_device(device)


def open_mesh_device(
    mesh_shape=None,
    l1_small_size=DEFAULT_L1_SMALL_SIZE,
    trace_region_size=DEFAULT_TRACE_REGION_SIZE,
    num_command_queues=1,
    dispatch_core_config=None,
    offset=None,
    physical_device_ids=(),
    worker_l1_size=0,
):
    """Opens a mesh of the machine's chips: all of them without a shape."""
    options = _options(l1_small_size, trace_region_size, num_command_queues, dispatch_core_config, worker_l1_size)
    return _ttnn.device.open_mesh_device(mesh_shape, offset, list(physical_device_ids), options)


def close_mesh_device(mesh_device):
    close_device(mesh_device)


@contextlib.contextmanager
def manage_device(device_id=0, **options):
    device = open_device(device_id=device_id, **options)
    try:
        yield device
    finally:
        close_device(device)


@contextlib.contextmanager
def create_mesh_device(mesh_shape=None, **options):
    device = open_mesh_device(mesh_shape, **options)
    try:
        yield device
    finally:
        close_mesh_device(device)


def synchronize_device(device, cq_id=None, sub_device_ids=()):
    """Waits for what was begun; every operation has ended when it returns, so nothing is left."""


_ttnn.device.synchronize_device = synchronize_device  # documents call it by this name, too


def record_event(device, cq_id=0, sub_device_ids=()):
    return MeshEvent()


def wait_for_event(cq_id, event):
    pass


def event_synchronize(event):
    pass


class MeshEvent:
    pass


def GetDefaultDevice():
    return _default


def SetDefaultDevice(device):
    global _default
    _default = device


def _system():
    return _ttnn.device.system_info()


def get_arch_name():
    return _system()["arch"]


def _get_cluster_type():
    """The machine that TTNN_DEVICE names, as upstream counts machines."""
    return _ttnn.cluster.ClusterType(_system()["cluster_code"])


class _SystemMeshDescriptor:
    """All chips of the machine as one mesh; there is but one host."""

    def shape(self):
        return MeshShape(_system()["rows"], _system()["cols"])

    local_shape = shape

    def all_local(self):
        return True


_SystemMeshDescriptor.__name__ = _SystemMeshDescriptor.__qualname__ = "SystemMeshDescriptor"
_ttnn.cluster.get_cluster_type = _get_cluster_type
_ttnn.multi_device.SystemMeshDescriptor = _SystemMeshDescriptor


def GetNumAvailableDevices():
    return _system()["chips"]


def GetNumPCIeDevices():
    return _system()["chips"]


def GetPCIeDeviceID(device_id):
    return device_id


get_num_devices = GetNumAvailableDevices
get_num_pcie_devices = GetNumPCIeDevices


def get_device_ids():
    return list(range(GetNumAvailableDevices()))


get_pcie_device_ids = get_device_ids


def is_wormhole_b0(device=None):
    return (device.arch() if device else Arch[get_arch_name().upper()]) == Arch.WORMHOLE_B0


def is_blackhole(device=None):
    return (device.arch() if device else Arch[get_arch_name().upper()]) == Arch.BLACKHOLE


def is_grayskull(device=None):
    return False


def get_default_dispatch_core_type():
    return DispatchCoreType.WORKER


def get_l1_alignment():
    return 16


def get_dram_alignment():
    return 64 if is_blackhole() else 32


def get_max_worker_l1_unreserved_size():
    device = open_device(device_id=0)
    try:
        return device.info()["max_worker_l1_size"]
    finally:
        close_device(device)


@dataclasses.dataclass
class MemoryView:
    """The state of one kind of memory, per bank."""

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list


_NO_BLOCK = str(2**64 - 1)


def get_memory_view(device, buffer_type):
    *numbers, blocks = _ttnn.device.memory_view(device, buffer_type)
    table = [
        {
            "blockID": str(i),
            "address": str(address),
            "size": str(size),
            "allocated": "yes" if taken else "no",
            "prevID": str(i - 1) if i else _NO_BLOCK,
            "nextID": str(i + 1) if i + 1 < len(blocks) else _NO_BLOCK,
        }
        for i, (address, size, taken) in enumerate(blocks)
    ]
    return MemoryView(*numbers, table)


def dump_device_memory_state(device, prefix=""):
    for kind in (BufferType.DRAM, BufferType.L1, BufferType.L1_SMALL, BufferType.TRACE):
        view = get_memory_view(device, kind)
        print(
            f"{prefix}{kind.name}: {view.num_banks} banks of {view.total_bytes_per_bank} bytes, "
            f"{view.total_bytes_allocated_per_bank} allocated, {view.total_bytes_free_per_bank} free, "
            f"largest free block {view.largest_contiguous_bytes_free_per_bank}"
        )


def get_allocator_base_address(device, buffer_type):
    return device.info()["dram_base" if buffer_type == BufferType.DRAM else "l1_base"]


def ReadDeviceProfiler(device, *unused, **ignored):
    """Real cards have counters to read; here every operation is timed as it runs."""


class SubDeviceId(int):
    def __repr__(self):
        return f"SubDeviceId({int(self)})"


class SubDeviceManagerId(int):
    pass


class SubDevice:
    def __init__(self, cores):
        self.cores = cores


def get_optimal_dram_bank_to_logical_worker_assignment(device, noc):
    return device.get_optimal_dram_bank_to_logical_worker_assignment(noc)


def create_global_semaphore(device, cores, initial_value, buffer_type=BufferType.L1):
    """A semaphore on cores of all chips. Nothing waits for it here; calls and traces keep what it is."""
    return GlobalSemaphore(cores, initial_value, buffer_type)


def reset_global_semaphore_value(semaphore, value):
    semaphore.value = value


def _accept(result=None):
    def method(self, *args, **kwargs):
        return result

    return method


# What only a card can do is accepted, and has no effect.
for _name, _result in {
    "create_sub_device_manager": SubDeviceManagerId(1),
    "load_sub_device_manager": None,
    "clear_loaded_sub_device_manager": None,
    "remove_sub_device_manager": None,
    "set_sub_device_stall_group": None,
    "reset_sub_device_stall_group": None,
    "quiesce_devices": None,
    "set_program_cache_misses_allowed": None,
    "get_system_mesh_id": 0,
}.items():
    setattr(MeshDevice, _name, _accept(_result))
MeshDevice.get_view = lambda self: self
MeshDevice.dram_core_from_logical_core = lambda self, core: core
