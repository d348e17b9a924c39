"""TensorSpec.sharded() and its kin: the same tensor, cut into shards of any rank."""

from ttnn import core
from ttnn._ttnn.tensor import (
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardDistributionStrategy,
    ShardOrientation,
    ShardShapeAlignment,
    TensorSpec,
)

_ROW_BYTES = 64  # a row of a shard begins at multiples of it, where that is recommended


def _aligned(spec, shape, alignment):
    """The shape of a shard, rounded up to whole tiles or, where rows are kept, to whole pieces of memory."""
    shape = list(shape)
    if alignment == ShardShapeAlignment.NONE:
        return shape
    if spec.layout == Layout.TILE:
        tile = spec.tile.tile_shape
        shape[-2:] = [core.roundup(extent, part) for extent, part in zip(shape[-2:], tile[-len(shape[-2:]) :])]
    elif alignment == ShardShapeAlignment.RECOMMENDED:
        shape[-1] = core.roundup(shape[-1], _ROW_BYTES // core.element_size(spec.dtype))
    return shape


def sharded(
    self,
    shard_shape=None,
    grid=None,
    shard_alignment=ShardShapeAlignment.RECOMMENDED,
    orientation=ShardOrientation.ROW_MAJOR,
    shard_distribution_strategy=ShardDistributionStrategy.ROUND_ROBIN_1D,
    *,
    nd_shard_spec=None,
):
    """(shard_shape, grid, ...), or (nd_shard_spec, shard_alignment): cut into shards of this shape."""
    given = shard_shape if isinstance(shard_shape, NdShardSpec) else nd_shard_spec
    if given is not None:
        if isinstance(grid, ShardShapeAlignment):
            shard_alignment = grid
        shard_shape, grid, orientation = given.shard_shape, given.grid, given.orientation
        shard_distribution_strategy = given.shard_distribution_strategy
    shards = NdShardSpec(_aligned(self, shard_shape, shard_alignment), grid, orientation, shard_distribution_strategy)
    memory = MemoryConfig(self.memory_config.buffer_type, shards)
    return TensorSpec(self.shape, self.dtype, self.layout, memory, self.tile)


def sharded_across_dims(self, dims, grid, orientation=ShardOrientation.ROW_MAJOR):
    """Cut along some dimensions, as finely as alignment allows."""
    shape = list(self.padded_shape)
    for dim in dims:
        shape[dim] = 1
    return sharded(self, shape, grid, orientation=orientation)


def sharded_across_dims_except(self, dims, grid, orientation=ShardOrientation.ROW_MAJOR):
    """Cut along all dimensions but some."""
    rank = len(self.shape)
    kept = {dim % rank for dim in dims}
    return sharded_across_dims(self, [dim for dim in range(rank) if dim not in kept], grid, orientation)


TensorSpec.sharded = sharded
TensorSpec.sharded_across_dims = sharded_across_dims
TensorSpec.sharded_across_dims_except = sharded_across_dims_except
