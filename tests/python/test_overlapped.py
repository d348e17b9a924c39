"""Tensors that share a buffer: their files, which the released library wrote and reads, packed tiles; arguments of accessors."""

import pathlib
import struct

import pytest

import ttnn

# Two views of the numbers 0 to 63, written by ttnn 0.81.1: dump_overlapped_tensors of what this package had written.
FILE = pathlib.Path(__file__).parents[1] / "data" / "python" / "views.overlappedtensorbin"
load, dump = ttnn._ttnn.tensor.load_overlapped_tensors, ttnn._ttnn.tensor.dump_overlapped_tensors


def told(view):
    cores = [(r.start.x, r.start.y, r.end.x, r.end.y) for r in view.core_range_set.ranges()]
    return view.tensor_shape, view.shard_shape, cores, view.dtype, view.tile_shape, view.byte_offset, view.total_size


CORES = [(0, 0, 3, 3), (4, 0, 7, 0)]
VIEWS = {
    "a": ((32, 64), (32, 16), CORES, ttnn.bfloat8_b, (32, 32), 64, 1088),
    "bä": ((1, 32), (1, 32), CORES, ttnn.bfloat16, (1, 32), 0, 0),
}


def test_views_of_the_released_library(tmp_path):
    views = load(str(FILE))
    assert {name: told(view) for name, view in views.items()} == VIEWS
    assert views["a"].fused_tensor.to_list() == [list(range(64))]
    again = tmp_path / "again.overlappedtensorbin"
    dump(str(again), views)
    assert {name: told(view) for name, view in load(str(again)).items()} == VIEWS
    assert load(str(again))["bä"].fused_tensor.to_list() == [list(range(64))]


def test_views_on_a_device(device):
    views = load(str(FILE), device=device)
    assert views["a"].fused_tensor.device() is not None
    assert views["a"].fused_tensor.cpu().to_list() == [list(range(64))]
    assert views["a"].get_tile().tile_shape == ttnn.Tile((32, 32)).tile_shape


@pytest.mark.parametrize("cut", [0, 4, 8, 12, 60, 300, 700])
def test_damaged_files(tmp_path, cut):
    path = tmp_path / "cut.overlappedtensorbin"
    path.write_bytes(FILE.read_bytes()[:cut])
    with pytest.raises(RuntimeError):
        load(str(path))


def test_wild_references(tmp_path):
    path = tmp_path / "wild.overlappedtensorbin"
    for at in range(8, 200, 4):
        data = bytearray(FILE.read_bytes())
        struct.pack_into("<I", data, at, 0x7FFFFFF0)
        path.write_bytes(data)
        try:
            load(str(path))
        except RuntimeError:
            pass


def test_refusals(tmp_path):
    with pytest.raises(RuntimeError, match="must have .overlappedtensorbin extension"):
        load("a.bin")
    with pytest.raises(RuntimeError, match="Cannot open"):
        load(str(tmp_path / "none.overlappedtensorbin"))
    with pytest.raises(RuntimeError, match="at least one view"):
        dump(str(tmp_path / "a.overlappedtensorbin"), {})


def test_packed_tiles():
    array = pytest.importorskip("array")
    values = array.array("f", [1.0, -0.5] * 1024)
    eight = ttnn._ttnn.core.tilize_and_pack_bfp8_b(values, 32, 64)
    four = ttnn._ttnn.core.tilize_and_pack_bfp4_b(values, 64, 32)
    assert len(eight) == 2 * 1088 and len(four) == 2 * 576
    assert eight[:64] == bytes([127] * 64) and eight[64:68] == bytes([0x40, 0xA0, 0x40, 0xA0])
    assert four[64:66] == bytes([0xA4, 0xA4])
    with pytest.raises(RuntimeError, match="whole tiles"):
        ttnn._ttnn.core.tilize_and_pack_bfp8_b(values, 33, 62)


def sharded(layout, buffer, cores, shape, orientation="ROW_MAJOR"):
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(*cores[0]), ttnn.CoreCoord(*cores[1]))])
    spec = ttnn.ShardSpec(grid, shape, getattr(ttnn.ShardOrientation, orientation))
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), getattr(ttnn.BufferType, buffer), spec)


SIX = (1, 1), (3, 2)
# What ttnn 0.81.1 lists for an n150.
ACCESSORS = [
    ((7, 5), ttnn.DRAM_MEMORY_CONFIG, "ROW_MAJOR", [2, 32]),
    ((3, 128, 160), ttnn.L1_MEMORY_CONFIG, "TILE", [0, 2048]),
    ((1, 1, 32, 384), sharded("WIDTH_SHARDED", "DRAM", ((0, 0), (11, 0)), (32, 32)), "TILE",
     [3, 2048, 1, 12, 12, 1, 16777216, 50332160, 83887104, 117442048, 150996992, 184551936]),
    ((2, 2, 64, 96), sharded("BLOCK_SHARDED", "L1", SIX, (128, 32)), "TILE",
     [1, 2048, 2, 6, 8, 3, 4, 1, 336794387, 320083219, 353637396]),
    ((2, 2, 64, 96), sharded("BLOCK_SHARDED", "L1", SIX, (96, 64), "COL_MAJOR"), "TILE",
     [1, 2048, 2, 6, 8, 3, 3, 2, 320082707, 336860179, 353637651]),
    ((2, 2, 64, 96), sharded("HEIGHT_SHARDED", "L1", SIX, (64, 96)), "ROW_MAJOR",
     [1, 192, 1, 6, 256, 64, 336794387, 320083219, 353637396]),
]  # fmt: skip


@pytest.mark.parametrize("shape, memory, layout, listed", ACCESSORS, ids=range(len(ACCESSORS)))
def test_accessors(device, shape, memory, layout, listed):
    tensor = ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=getattr(ttnn.Layout, layout), device=device, memory_config=memory)
    args = ttnn.TensorAccessorArgs(tensor)
    assert args.get_compile_time_args() == listed and args.get_common_runtime_args() == []


def test_accessors_of_other_ranks(device):
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(1, 1), ttnn.CoreCoord(3, 2))])
    memory = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([2, 32, 64], grid))
    tensor = ttnn.zeros([5, 70, 100], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
    listed = [1, 2048, 2, 6, 5, 12, 2, 2, 336794387, 320083219, 353637396]
    assert ttnn.TensorAccessorArgs(tensor).get_compile_time_args() == listed
    with pytest.raises(RuntimeError, match="not on a device"):
        ttnn.TensorAccessorArgs(tensor.cpu())
