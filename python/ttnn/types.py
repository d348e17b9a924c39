"""Names for the values of the library, as upstream has them."""

import dataclasses
import enum

from ttnn import _ttnn
from ttnn._ttnn.tensor import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MathFidelity,
    MemoryConfig,
    NdShardSpec,
    ShardDistributionStrategy,
    ShardOrientation,
    ShardShapeAlignment,
    ShardSpec,
    StorageType,
    Tensor,
    TensorMemoryLayout,
    TensorSpec,
    Tile,
)
from ttnn._ttnn.types import Shape

TILE_SIZE = 32

ROW_MAJOR_LAYOUT = Layout.ROW_MAJOR
TILE_LAYOUT = Layout.TILE
DEVICE_STORAGE_TYPE = StorageType.DEVICE

for _member in DataType:  # bfloat16, float32, ...
    if _member != DataType.INVALID:
        globals()[_member.name.lower()] = _member

DRAM_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.DRAM)
L1_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)


@dataclasses.dataclass(kw_only=True)
class SlidingWindowParallelConfig:
    """The cores that share the images of a convolution or pool, and how."""

    grid: CoreRangeSet
    shard_scheme: TensorMemoryLayout
    shard_orientation: ShardOrientation


class ShardStrategy(enum.Enum):
    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


def _collect():
    """Every enumeration and configuration object of the extension, under its own name."""
    found, waiting, seen = {}, [_ttnn], set()
    while waiting:
        module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        for name, value in vars(module).items():
            if isinstance(value, type) and name[0].isupper():
                found[name] = value
            elif type(value) is type(_ttnn) and value.__name__.startswith("ttnn._ttnn"):
                waiting.append(value)
    return found


globals().update({name: value for name, value in _collect().items() if name not in globals()})
# How images are cut that do not fit into L1.
Conv2dL1Full = Op2DL1Full = SliceType.L1_FULL
Conv2dDRAMSliceHeight = Op2DDRAMSliceHeight = SliceType.DRAM_HEIGHT
Conv2dDRAMSliceWidth = Op2DDRAMSliceWidth = SliceType.DRAM_WIDTH
Conv2dL1FullSliceConfig = Op2DL1FullSliceConfig = Op2DSliceConfig(slice_type=SliceType.L1_FULL)

__all__ = [name for name in globals() if not name.startswith("_") and name not in ("dataclasses", "enum")]
