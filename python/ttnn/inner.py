"""Modules of upstream's extension that programs ask for by name: ttnn._ttnn.core and ttnn._ttnn.deprecated."""

import sys
import types

from ttnn import _ttnn, config, core, decorators, device, hardware, overlapped


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
_ttnn.device.SubDeviceManagerId = device.SubDeviceManagerId
_ttnn.global_semaphore.global_semaphore = device.GlobalSemaphore
