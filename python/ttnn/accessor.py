"""What kernels are told about where a tensor lies: as upstream's TensorAccessorArgs lists it."""

import math

from ttnn import core
from ttnn.types import BufferType, Layout, ShardOrientation

_SHARDED, _DRAM = 1, 2


def _merge(shape, shard):
    """Neighbouring dimensions that are whole, or one, in each shard are one dimension."""
    for i in range(len(shape) - 2, -1, -1):
        whole, single = shard[i + 1] == shape[i + 1], shard[i] == 1 and shape[i + 1] % shard[i + 1] == 0
        if whole or single:
            shape[i : i + 2] = [shape[i] * shape[i + 1]]
            shard[i : i + 2] = [shard[i] * shard[i + 1]]
    return shape, shard


def _in_pages(tensor, memory):
    """Shapes of the tensor and of a shard, in pages; the shards' grid and orientation."""
    spec, shape = memory.nd_shard_spec, list(tensor.padded_shape)
    if memory.shard_spec is not None:
        spec, shape = memory.shard_spec, [math.prod(shape[:-1]), shape[-1]]
        shard, grid = list(spec.shape), spec.grid
    else:
        shard, grid = list(spec.shard_shape), spec.grid
    page = tensor.tile.tile_shape if tensor.layout == Layout.TILE else (1, shard[-1])
    for i, size in zip((-2, -1), page):
        for extents in (shape, shard):
            if len(extents) >= -i:
                extents[i] = -(-extents[i] // size)
    shard = [1] * (len(shape) - len(shard)) + shard
    return _merge(shape, [min(a, b) for a, b in zip(shard, shape)]), grid, spec.orientation


class TensorAccessorArgs:
    def __init__(self, tensor):
        if tensor.device() is None or not tensor.is_allocated():
            raise RuntimeError("ttnn.TensorAccessorArgs: the tensor is not on a device")
        memory, device = tensor.memory_config(), tensor.device()
        dram = memory.buffer_type == BufferType.DRAM
        self._args = [_DRAM * dram + _SHARDED * tensor.is_sharded(), tensor.buffer_aligned_page_size()]
        if not tensor.is_sharded():
            return
        (shape, shard), grid, orientation = _in_pages(tensor, memory)
        cores = core.corerange_to_cores(grid, row_wise=orientation == ShardOrientation.ROW_MAJOR)
        places = [(at if dram else device.worker_core_from_logical_core(at)) for at in cores]
        packed = [place.x << 8 | place.y for place in places] + [0] * (len(places) % 2)
        pairs = [low | high << 16 for low, high in zip(packed[::2], packed[1::2])]
        self._args += [len(shape), len(cores), *shape, *shard, *pairs]

    def get_compile_time_args(self):
        return list(self._args)

    def get_common_runtime_args(self):
        return []
