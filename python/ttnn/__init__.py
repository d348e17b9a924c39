"""TT-NN: tensors and operations of Tenstorrent's library, on any machine.

Everything is the C library's (ttnn._ttnn); this package gives it upstream's names, and the ways to
and from torch and numpy.
"""

import sys

from ttnn import _ttnn

_ttnn.restore_modules()

_ttnn.check_environment()
__version__ = _ttnn.version()

from ttnn import config, core, decorators, device, distributed, graph, hardware, operation_tracer, trace, types
from ttnn._ttnn import activation, cluster, fabric, mark, multi_device, profiler, program_descriptor
from ttnn._ttnn.profiler import start_tracy_zone, stop_tracy_zone, tracy_frame, tracy_message
from ttnn.accessor import TensorAccessorArgs
from ttnn.config import (
    CONFIG,
    CONFIG_OVERRIDES,
    CONFIG_PATH,
    Config,
    load_config_from_dictionary,
    load_config_from_json_file,
    manage_config,
    save_config_to_json_file,
)
from ttnn.core import *
from ttnn.decorators import (
    attach_golden_function,
    command_queue,
    create_module_if_not_exists,
    dump_operations,
    get_current_command_queue_id_for_thread,
    get_fallback_function,
    get_golden_function,
    query_registered_operations,
    register_cpp_operation,
    register_post_operation_hook,
    register_pre_operation_hook,
    register_python_operation,
)
from ttnn.device import *
from ttnn.distributed import *
from ttnn.hardware import *
from ttnn.overlapped import OverlappedTensor
from ttnn.runtime import (
    get_fabric_config,
    get_tt_fabric_max_payload_size_bytes,
    get_tt_fabric_packet_header_size_bytes,
    set_fabric_config,
)
from ttnn.trace import (
    MeshTraceId,
    begin_trace_capture,
    end_trace_capture,
    execute_trace,
    execute_trace as _ttnn_execute_trace,
    is_trace_capture_active,
    release_trace,
)
from ttnn.types import *

decorators.export_operations()

import ttnn.operations.core  # replaces those that Python has to do with
from ttnn import inner, operations, reports, spec_shards, tracer
import ttnn.operations.activations
import ttnn.operations.ccl
import ttnn.operations.pool
from ttnn.corruptible import corruptible_allocation_scope, mark_corruptible
from ttnn.trace_allocation_config import TRACE_ALLOC_TRACKING
from ttnn.operations.normalization import *
transformer.SparseKVFormat = _ttnn.operations.transformer.SparseKVFormat
_ttnn.operations.experimental.YUVCoefficients = YUVCoefficients
for _name in ("RGBRange", "YUVCoefficients", "YUVColorSpace", "YUVFormat", "YUVRange"):
    setattr(experimental, _name, globals()[_name])
hardware.refuse_trials(experimental)
from ttnn import disaggregation, moe_compute_utils, moe_placement, moe_weights

experimental.disaggregation = _ttnn.operations.experimental.disaggregation = disaggregation

for _name in ("experimental", "_experimental"):
    setattr(sys.modules[f"ttnn.{_name}"], "moe_compute_utils", moe_compute_utils)
    sys.modules[f"ttnn.{_name}.moe_compute_utils"] = moe_compute_utils
for _name in ("get_moe_combine_cores", "get_moe_tilize_drain_core", "get_moe_worker_mcast_bounding_box"):
    setattr(experimental, _name, getattr(moe_placement, _name))
for _name in ("get_weight_core_shard_maps", "get_weight_mem_configs"):
    setattr(experimental, _name, getattr(moe_weights, _name))
from ttnn.operations import yuv

experimental.yuv_bt601_coefficients, experimental.yuv_bt709_coefficients = yuv.yuv_bt601_coefficients, yuv.yuv_bt709_coefficients

fabric.FabricRouterConfig = FabricRouterConfig
Tensor.tensor_topology, Tensor.update_tensor_topology = distributed.tensor_topology, distributed.update_tensor_topology
Conv1dConfig, Conv2dSliceConfig = Conv2dConfig, Op2DSliceConfig  # upstream has one type of both names
from ttnn import copies  # pickle and copy

Tensor.devices = lambda self: [self.device()]
Tensor.extract_shard = lambda self, which: self._parts()[which if isinstance(which, int) else 0]


def SetRootDir(path):
    """Upstream looks for kernels there; there are none here."""


class DeviceComputeKernelConfig(WormholeComputeKernelConfig):
    pass


def get_num_links(*unused, **ignored):
    return 1


def auto_register_ttnn_cpp_operations(module=None):
    """Done when ttnn is imported."""
