"""The smallest test there is: the sum of two matrices, on the device and on the host.

A profile of it has one row: BinaryNgDeviceOperation on 64 cores, both inputs and the output float32 tiles,
interleaved in DRAM.

    python tt_torch/tools/tt_profile.py "pytest -svv tests/torch/test_basic.py"

The columns W, Z, Y, X of all three tensors are 1, 1, 256, 256.

Numbers come from torch where it is installed, and from Python where it is not: the test is the same.
"""

import array
import random

import pytest

import ttnn

ROWS = COLUMNS = 256
BOUND = 1e-6  # of the sum of two float32 numbers, by its size


def numbers(seed):
    """A matrix on the host: a torch tensor, or a view of an array."""
    try:
        import torch

        return torch.randn(ROWS, COLUMNS, generator=torch.Generator().manual_seed(seed))
    except ImportError:
        source = random.Random(seed)
        values = array.array("f", (source.gauss(0.0, 1.0) for _ in range(ROWS * COLUMNS)))
        return memoryview(values).cast("B").cast("f", [ROWS, COLUMNS])


def on_device(host, device):
    """As float32 tiles in DRAM; they are made on the host, so that no program runs for them."""
    tiles = ttnn.from_torch(host, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT)
    return ttnn.to_device(tiles, device, memory_config=ttnn.DRAM_MEMORY_CONFIG)


def rows_of(host):
    """Lists of Python numbers."""
    return host.tolist()


def nearly(expected, found):
    """Whether all elements are those of a sum in float32."""
    pairs = ((e, f) for row, other in zip(expected, found) for e, f in zip(row, other))
    return all(abs(e - f) <= BOUND * max(1.0, abs(e)) for e, f in pairs)


@pytest.mark.parametrize("seeds", [(0, 1)], ids=["add"])
def test_add(seeds, device):
    left, right = map(numbers, seeds)
    a, b = on_device(left, device), on_device(right, device)
    assert a.layout == b.layout == ttnn.TILE_LAYOUT
    expected = [[x + y for x, y in zip(*pair)] for pair in zip(rows_of(left), rows_of(right))]
    # The row's place is this line: a profile names where an operation was called.
    result = ttnn.add(a, b)
    assert result.shape == [ROWS, COLUMNS] and result.dtype == ttnn.float32
    assert nearly(expected, result.to_list())
