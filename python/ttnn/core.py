"""Helpers around memory configs, cores and tensors."""

import math

from ttnn import _ttnn
from ttnn import types as _types
from ttnn._ttnn.tensor import (
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    Layout,
    ShardOrientation,
    StorageType,
    Tensor,
    TensorMemoryLayout,
)

_STRATEGIES = {
    _types.ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    _types.ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    _types.ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}


def create_sharded_memory_config(
    shape,
    core_grid,
    strategy,
    orientation=None,
    use_height_and_width_as_shard_shape=False,
):
    """An L1 memory config that spreads a tensor of this shape evenly over the cores."""
    return _ttnn.tensor.create_sharded_memory_config(
        shape,
        core_grid,
        _STRATEGIES.get(strategy, strategy),
        ShardOrientation.ROW_MAJOR if orientation is None else orientation,
        use_height_and_width_as_shard_shape,
    )


def create_sharded_memory_config_(shape, core_grid, strategy, orientation=None, use_height_and_width_as_shard_shape=False, **unused):
    return create_sharded_memory_config(shape, core_grid, strategy, orientation, use_height_and_width_as_shard_shape)


def num_cores_to_corerangeset(target_num_cores, grid_size, row_wise=False):
    return _ttnn.tensor.first_cores(target_num_cores, grid_size, row_wise)


def num_cores_to_corerangeset_in_subcoregrids(start_core, target_num_cores, sub_core_grids, row_wise=False):
    """So many cores of a set, from one of them on."""
    return _ttnn.tensor.some_cores(start_core, target_num_cores, sub_core_grids, row_wise)


split_work_to_cores = _ttnn.tensor.split_work_to_cores


def divup(a, b):
    return (a + b - 1) // b


def roundup(a, b):
    return b * divup(a, b)


def corerange_to_cores(core_range_set, max_cores=None, row_wise=False):
    """The cores of a set, range after range."""
    cores = []
    for r in core_range_set.ranges():
        xs, ys = range(r.start.x, r.end.x + 1), range(r.start.y, r.end.y + 1)
        cores += [CoreCoord(x, y) for y in ys for x in xs] if row_wise else [CoreCoord(x, y) for x in xs for y in ys]
    return cores[:max_cores]


def grid_to_cores(num_cores, grid_size_x, grid_size_y, row_wise=False):
    xs, ys = range(grid_size_x), range(grid_size_y)
    cores = [CoreCoord(x, y) for y in ys for x in xs] if row_wise else [CoreCoord(x, y) for x in xs for y in ys]
    return cores[:num_cores]


def has_storage_type_of(tensor, storage_type):
    return tensor.storage_type() == storage_type


def is_tensor_storage_on_device(tensor):
    return tensor.storage_type() == StorageType.DEVICE


def is_sharded(tensor):
    return tensor.is_sharded()


def get_memory_config(tensor):
    return tensor.memory_config()


def has_tile_padding(tensor, *, dim=None):
    """Whether storage holds more than the logical shape, in a dimension or in the last two."""
    logical, padded = list(tensor.shape), list(tensor.padded_shape)
    if dim is not None:
        if dim < 0:
            dim += len(logical)
        return 0 <= dim < len(logical) and logical[dim] != padded[dim + len(padded) - len(logical)]
    return math.prod(logical) != math.prod(padded)


def element_size(dtype):
    return {4: 4, 2: 2, 1: 1}[_types.Tile((32, 32)).get_tile_size(dtype) // 1024]


def tile_size(dtype):
    return _types.Tile((32, 32)).get_tile_size(dtype)


_PROFILES = {"short": 0, "full": 1, "empty": 2}
_SCI = {None: 0, "default": 0, True: 1, False: 2}


def set_printoptions(*, profile="short", sci_mode="default", precision=4):
    """How tensors print: "empty", "short" or "full"; scientific or not; digits behind the point."""
    if str(profile).lower() not in _PROFILES:
        raise ValueError(f"profile is one of {', '.join(_PROFILES)}, not {profile!r}")
    _ttnn.tensor.set_print_options(_PROFILES[str(profile).lower()], _SCI[sci_mode], precision)


def init_device_compute_kernel_config(
    arch,
    math_fidelity=None,
    *,
    math_approx_mode=True,
    fp32_dest_acc_en=False,
    packer_l1_acc=False,
    dst_full_sync_en=False,
    throttle_level=None,
):
    """The compute config of an architecture."""
    return _ttnn.operations.core.WormholeComputeKernelConfig(
        math_fidelity=_types.MathFidelity.LoFi if math_fidelity is None else math_fidelity,
        math_approx_mode=math_approx_mode,
        fp32_dest_acc_en=fp32_dest_acc_en,
        packer_l1_acc=packer_l1_acc,
        dst_full_sync_en=dst_full_sync_en,
        throttle_level=0 if throttle_level is None else throttle_level,
    )


def layernorm_default_compute_config(arch):
    return init_device_compute_kernel_config(
        arch, _types.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
    )


def rmsnorm_default_compute_config(arch):
    return init_device_compute_kernel_config(arch, _types.MathFidelity.HiFi4)


def get_conv_output_dim(input, window, stride=1, pad=0, dilation=1):
    """How many places a window has on a line."""
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def ttnn_dtype_to_torch_dtype(dtype):
    """The type that to_torch gives."""
    import torch

    return getattr(torch, {"bfloat8_b": "float32", "bfloat4_b": "float32", "fp8_e4m3": "float8_e4m3fn"}.get(name := dtype.name.lower(), name))
