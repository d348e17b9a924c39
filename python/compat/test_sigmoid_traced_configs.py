"""The 30 configurations in which EfficientNet-B0 calls sigmoid_accurate, as they were traced: all bfloat8_b in tiles."""

import pytest
import ttnn
from tests.ttnn.utils_for_testing import check_with_pcc

# shape, how it is sharded in L1, shape of a shard, ranges of cores
CONFIGURATIONS = [
    ([1, 1, 12544, 32], "HEIGHT", [224, 32], (((0, 0), (7, 6)),)),
    ([1, 1, 1, 8], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 32], "BLOCK", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 12544, 96], "HEIGHT", [224, 96], (((0, 0), (7, 6)),)),
    ([1, 1, 3136, 96], "HEIGHT", [64, 96], (((0, 0), (7, 5)), ((0, 6), (0, 6)))),
    ([1, 1, 1, 4], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 96], "BLOCK", [32, 96], (((0, 0), (0, 0)),)),
    ([1, 1, 3136, 144], "HEIGHT", [64, 160], (((0, 0), (7, 5)), ((0, 6), (0, 6)))),
    ([1, 1, 1, 6], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 144], "BLOCK", [32, 160], (((0, 0), (0, 0)),)),
    ([1, 1, 784, 144], "BLOCK", [128, 32], (((0, 0), (4, 6)),)),
    ([1, 1, 784, 240], "HEIGHT", [32, 256], (((0, 0), (7, 2)), ((0, 3), (0, 3)))),
    ([1, 1, 784, 240], "BLOCK", [128, 32], (((0, 0), (7, 6)),)),
    ([1, 1, 1, 10], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 240], "BLOCK", [32, 256], (((0, 0), (0, 0)),)),
    ([1, 1, 196, 240], "BLOCK", [32, 32], (((0, 0), (7, 6)),)),
    ([1, 1, 196, 480], "HEIGHT", [32, 480], (((0, 0), (6, 0)),)),
    ([1, 1, 196, 480], "BLOCK", [32, 64], (((0, 0), (7, 6)),)),
    ([1, 1, 1, 20], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 480], "BLOCK", [32, 480], (((0, 0), (0, 0)),)),
    ([1, 1, 196, 480], "WIDTH", [224, 32], (((0, 0), (7, 0)), ((0, 1), (6, 1)))),
    ([1, 1, 196, 672], "WIDTH", [224, 32], (((0, 0), (7, 1)), ((0, 2), (4, 2)))),
    ([1, 1, 196, 672], "BLOCK", [32, 96], (((0, 0), (6, 6)),)),
    ([1, 1, 1, 28], "WIDTH", [32, 32], (((0, 0), (0, 0)),)),
    ([1, 1, 1, 672], "BLOCK", [32, 672], (((0, 0), (0, 0)),)),
    ([1, 1, 49, 672], "BLOCK", [32, 96], (((0, 0), (6, 1)),)),
    ([1, 1, 49, 1152], "WIDTH", [64, 32], (((0, 0), (7, 3)), ((0, 4), (3, 4)))),
    ([1, 1, 1, 48], "WIDTH", [32, 32], (((0, 0), (1, 0)),)),
    ([1, 1, 1, 1152], "BLOCK", [32, 576], (((0, 0), (1, 0)),)),
    ([1, 1, 49, 1280], "WIDTH", [64, 32], (((0, 0), (7, 4)),)),
]


def memory_config(layout, shard_shape, ranges):
    """With exactly the traced shard."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(*start), ttnn.CoreCoord(*end)) for start, end in ranges})
    spec = ttnn.ShardSpec(cores, shard_shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED"), ttnn.BufferType.L1, spec)


@pytest.mark.parametrize("shape, layout, shard_shape, ranges", CONFIGURATIONS)
def test_sigmoid_accurate(device, shape, layout, shard_shape, ranges):
    memory = memory_config(layout, shard_shape, ranges)
    given = ttnn.rand(shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
    result = ttnn.sigmoid_accurate(given, memory_config=memory)
    expected = ttnn.get_golden_function(ttnn.sigmoid_accurate)(given)
    passed, message = check_with_pcc(expected, result, threshold=0.999)
    assert passed, message
    assert result.memory_config() == memory
