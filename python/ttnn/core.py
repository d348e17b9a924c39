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


def _shard_grid(core_grid):
    """The cores that a grid names: a CoreRangeSet, a CoreGrid from (0, 0), or two of them, one above the other."""
    if isinstance(core_grid, CoreRangeSet):
        return core_grid
    grids = core_grid if isinstance(core_grid, (list, tuple)) else [core_grid]
    if len(grids) != (2 if grids is core_grid else 1) or not all(isinstance(grid, CoreGrid) for grid in grids):
        raise RuntimeError("Invalid core_grid type")
    ranges = [CoreRange(CoreCoord(0, 0), CoreCoord(grids[0].x - 1, grids[0].y - 1))]
    if len(grids) == 2:
        ranges.append(CoreRange(CoreCoord(0, grids[0].y), CoreCoord(grids[1].x - 1, grids[0].y)))
    return CoreRangeSet(ranges)


def _even_shards(height, width, cores, layout, across, tile_layout):
    """(rows, columns) of a shard when a matrix is cut for these cores; `across`: COL_MAJOR, rows lie along x."""
    count = cores.num_cores()
    if layout == TensorMemoryLayout.HEIGHT_SHARDED:
        return divup(height, count), width
    if layout == TensorMemoryLayout.WIDTH_SHARDED:
        return height, divup(width, count)
    if layout != TensorMemoryLayout.BLOCK_SHARDED:
        raise RuntimeError("Invalid sharding scheme")
    box = cores.bounding_box().grid_size()
    if box.x * box.y != count:
        raise RuntimeError("Invalid CoreRangeSet for block sharding strategy")
    rows, columns = (box.x, box.y) if across else (box.y, box.x)
    return divup(roundup(height, rows * 32) if tile_layout else height, rows), divup(width, columns)


def create_sharded_memory_config_(
    shape, core_grid, strategy, orientation, use_height_and_width_as_shard_shape=False, tile_layout=False
):
    """As create_sharded_memory_config, but shards need not be even; `tile_layout`: blocks are whole tiles high."""
    layout = _STRATEGIES.get(strategy, strategy)
    if not isinstance(layout, TensorMemoryLayout):
        raise RuntimeError("Invalid type of sharding strategy")
    if not isinstance(orientation, ShardOrientation):
        raise RuntimeError("Invalid type of shard orientation")
    cores, across = _shard_grid(core_grid), orientation == ShardOrientation.COL_MAJOR
    *batches, height, width = shape
    if use_height_and_width_as_shard_shape:
        shard = (width, height) if across else (height, width)
    else:
        shard = _even_shards(math.prod(batches) * height, width, cores, layout, across, tile_layout)
    if tile_layout and shard[0] % 32 and shard[1] % 32:
        raise RuntimeError("Incorrect tensor shape")
    return _types.MemoryConfig(layout, _types.BufferType.L1, _types.ShardSpec(cores, shard, orientation))


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


def grid_to_cores(*args, **kwargs):
    """grid_to_cores(num_cores, grid_size_x, grid_size_y, row_wise=False), or (start, end, row_wise=False): cores one by one."""
    corners = "start" in kwargs or (args and isinstance(args[0], CoreCoord))
    return (_cores_between if corners else _cores_of_grid)(*args, **kwargs)


def _cores_between(start, end, row_wise=False):
    return corerange_to_cores(CoreRangeSet([CoreRange(start, end)]), row_wise=row_wise)


def _cores_of_grid(num_cores, grid_size_x, grid_size_y, row_wise=False):
    return _cores_between(CoreCoord(0, 0), CoreCoord(grid_size_x - 1, grid_size_y - 1), row_wise)[:num_cores]


def get_optimal_worker_cores_for_sharded_tensor(tensor, noc=None):
    """The cores that hold a tensor's shards, in the order of shards; for DRAM those nearest to its banks."""
    if tensor.storage_type() != StorageType.DEVICE:
        raise RuntimeError("Tensor must be on device to compute optimal worker cores.")
    memory = tensor.memory_config()
    if not tensor.is_sharded():
        raise RuntimeError("Tensor must be sharded to compute optimal worker cores.")
    two, many = memory.shard_spec, memory.nd_shard_spec
    spec = two if many is None else many
    grid, row_wise = spec.grid, spec.orientation == ShardOrientation.ROW_MAJOR
    cores = corerange_to_cores(grid, row_wise=row_wise)
    padded, shard = list(tensor.padded_shape), list(spec.shape if many is None else spec.shard_shape)
    flat = [math.prod(padded[: len(padded) - len(shard) + 1]), *padded[len(padded) - len(shard) + 1 :]]
    counts = [divup(extent, part) for extent, part in zip(flat, shard)]
    if memory.memory_layout == TensorMemoryLayout.BLOCK_SHARDED:
        cores = _block_cores(grid, counts, row_wise)
    cores = cores[: math.prod(counts)]
    if memory.buffer_type != _types.BufferType.DRAM:
        return cores
    near = tensor.device().get_optimal_dram_bank_to_logical_worker_assignment(_types.NOC.NOC_0 if noc is None else noc)
    return [near[core.x] for core in cores]


def _block_cores(grid, counts, row_wise):
    """The cores of a block of shards: its rows lie along y, or x when cores are counted by columns."""
    at = grid.bounding_box().start
    rows, columns = math.prod(counts[:-1]), counts[-1]
    if row_wise:
        return [CoreCoord(at.x + x, at.y + y) for y in range(rows) for x in range(columns)]
    return [CoreCoord(at.x + x, at.y + y) for x in range(rows) for y in range(columns)]


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
    if dtype in (_types.DataType.BFLOAT8_B, _types.DataType.BFLOAT4_B):
        raise ValueError("datum for bfp2, bfp4, bfp8 is invalid")
    return _types.Tile((32, 32)).get_tile_size(dtype) // 1024


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
