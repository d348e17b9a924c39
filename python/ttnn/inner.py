"""Modules of upstream's extension that programs ask for by name: ttnn._ttnn.core and ttnn._ttnn.deprecated."""

import sys
import types

from ttnn import _ttnn, bfp_utils, config, core, decorators, device, hardware, overlapped, runtime
from ttnn.operations import normalization


def _module(name, **members):
    module = types.ModuleType(f"ttnn._ttnn.{name}")
    vars(module).update(members)
    sys.modules[module.__name__] = module
    setattr(_ttnn, name, module)
    return module


_module(
    "core",
    Config=config.Config,
    dump_stack_trace_on_segfault=hardware.dump_stack_trace_on_segfault,
    get_current_command_queue_id_for_thread=decorators.get_current_command_queue_id_for_thread,
    get_memory_config=core.get_memory_config,
    light_metal_begin_capture=hardware.light_metal_begin_capture,
    light_metal_end_capture=hardware.light_metal_end_capture,
    set_printoptions=core.set_printoptions,
    tilize_and_pack_bfp4_b=overlapped.tilize_and_pack_bfp4_b,
    tilize_and_pack_bfp8_b=overlapped.tilize_and_pack_bfp8_b,
)
_module("deprecated", operations=types.ModuleType("ttnn._ttnn.deprecated.operations"))
# Upstream has kernels that were written and ones that were generated; their answers are the same.
_untilize = _ttnn.all_operations()["ttnn.untilize"]
_ttnn.operations.data_movement.untilize_force_native = _ttnn.operations.data_movement.untilize_force_codegen = _untilize
_ttnn.operations.experimental.ccl_experimental.GlobalSemaphoreArg = device.GlobalSemaphoreArg
for _name in ("OverlappedTensor", "dump_overlapped_tensors", "load_overlapped_tensors"):
    setattr(_ttnn.tensor, _name, getattr(overlapped, _name))
_ttnn.device.SubDeviceId = device.SubDeviceId
_ttnn.device.MemoryView = device.MemoryView
_ttnn.device.DEFAULT_WORKER_L1_SIZE = 0  # all that there is
for _name in runtime.__all__:
    setattr(device, _name, getattr(runtime, _name))
    setattr(_ttnn.fabric if "fabric" in _name else _ttnn.device, _name, getattr(runtime, _name))
_ttnn.bfp_utils = sys.modules["ttnn._ttnn.bfp_utils"] = bfp_utils
_ttnn.device.SubDeviceManagerId = device.SubDeviceManagerId
_ttnn.global_semaphore.global_semaphore = device.GlobalSemaphore


def _dump(filename, tensor, mode=None):
    import ttnn

    ttnn.dump_tensor(filename, tensor, mode=mode)


def _load(file_name, device=None):
    import ttnn

    return ttnn.load_tensor(file_name, device=device)


_ttnn.tensor.dump_tensor_flatbuffer, _ttnn.tensor.load_tensor_flatbuffer = _dump, _load
_ttnn.operations.normalization.create_group_norm_input_mask = normalization.create_group_norm_input_mask
_ttnn.cluster.serialize_cluster_descriptor = runtime.serialize_cluster_descriptor
_ttnn.operations.normalization._find_expected_dram_grid = normalization._find_expected_dram_grid
_ttnn.fabric.FabricNodeId, _ttnn.fabric.MeshId = hardware.FabricNodeId, hardware.MeshId
hardware.refuse_inner(_ttnn)


def p2p_compute_intermediate_tensor_spec(input_tensor, sender_coord, receiver_coord, topology):
    """What packets arrive in, on the way from one device to another; both may be one."""
    return _ttnn.tensor.point_to_point_spec(input_tensor.spec, tuple(sender_coord) == tuple(receiver_coord))


_point_to_point = types.ModuleType("ttnn._ttnn.operations.point_to_point")
_point_to_point.p2p_compute_intermediate_tensor_spec = p2p_compute_intermediate_tensor_spec
_point_to_point.point_to_point = _ttnn.all_operations()["ttnn.point_to_point"]
_ttnn.operations.point_to_point = sys.modules[_point_to_point.__name__] = _point_to_point


def _to_single_device(host_tensor, mesh_device, coord, memory_config):
    """A host tensor on one device of a mesh."""
    import ttnn

    parts = ttnn.get_device_tensors(_ttnn.run_method("ttnn.Tensor.to", host_tensor, mesh_device, memory_config))
    row, column = coord
    return parts[row * list(mesh_device.shape)[1] + column]


_ttnn.tensor.experimental_to_single_device = _to_single_device
