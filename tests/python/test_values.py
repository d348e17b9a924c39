"""Values print, compare, copy and turn into JSON as those of ttnn 0.81.1 do."""

import copy
import json
import pathlib
import pickle
import re

import pytest

import ttnn

DATA = pathlib.Path(__file__).parents[1] / "data"
TEXTS = json.loads((DATA / "values" / "texts.json").read_text())


def find(path):
    node = ttnn
    for part in path.split("."):
        node = getattr(node, part)
    return node


def build(value):
    """The object that a recorded expression describes."""
    if isinstance(value, list):
        return [build(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "attr" in value:
        return find(value["attr"])
    if "tuple" in value:
        return tuple(build(v) for v in value["tuple"])
    kwargs = {k: build(v) for k, v in value.get("kwargs", {}).items()}
    return find(value["new"])(*[build(v) for v in value.get("args", [])], **kwargs)


@pytest.mark.parametrize("recorded", TEXTS, ids=lambda r: f"{r['type']}-{r['repr'][:40]}")
def test_texts(recorded, monkeypatch):
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")
    value = build(recorded["value"])
    assert type(value).__name__ == recorded["type"]
    assert re.sub("0x[0-9a-f]+", "0xPTR", repr(value)) == recorded["repr"]
    assert re.sub("0x[0-9a-f]+", "0xPTR", str(value)) == recorded["str"]
    assert hasattr(value, "__dict__") == recorded["has_dict"]
    if "to_json" in recorded:
        assert value.to_json() == recorded["to_json"]


GRID = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1))])
SHARD = ttnn.ShardSpec(GRID, [64, 32], ttnn.ShardOrientation.COL_MAJOR)
VALUES = [
    ttnn.Shape([1, 2, 3]),
    ttnn.MeshShape(2, 4),
    ttnn.MeshCoordinate(1, 2),
    ttnn.CoreCoord(3, 4),
    ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1)),
    GRID,
    SHARD,
    ttnn.NdShardSpec([2, 32], GRID),
    ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, SHARD),
    ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([2, 32], GRID)),
    ttnn.Tile((16, 32)),
    ttnn.bfloat16,
    ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.5),
    ttnn.CoreGrid(x=2, y=3),
    ttnn.TensorSpec([2, 40], ttnn.bfloat8_b, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG),
    ttnn.add,
    ttnn.from_torch,
    ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2),
    ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_copies(value):
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value and not other != value
        assert re.sub("0x[0-9a-f]+", "", repr(other)) == re.sub("0x[0-9a-f]+", "", repr(value))
        if type(value).__hash__:
            assert hash(other) == hash(value)
    assert value != object() and not value == object()


@pytest.mark.parametrize("value", [v for v in VALUES if hasattr(v, "from_json")], ids=lambda v: type(v).__name__)
def test_json_both_ways(value, monkeypatch):
    monkeypatch.delenv("TTNN_DIALECT", raising=False)
    assert type(value).from_json(value.to_json()) == value
    for bad in ("", "{", "[1, 2", '"no"', "[[]]", 5, None):
        with pytest.raises((RuntimeError, TypeError)):
            type(value).from_json(bad)


def test_shape():
    shape = ttnn.Shape((1, 2, 30))
    assert shape == [1, 2, 30] and shape == (1, 2, 30) and shape != [1, 2]
    assert list(shape) == [1, 2, 30] and len(shape) == 3 and shape.rank == 3
    assert shape[-1] == 30 and shape[0] == 1
    assert shape.to_rank(5) == [1, 1, 1, 2, 30] and shape.to_rank(2) == [2, 30]
    for bad in ("x", [-1], [1.5], [2**32], [None], 5.0, [1] * 33, b"12"):
        with pytest.raises(TypeError):
            ttnn.Shape(bad)
    with pytest.raises(RuntimeError, match="out of range"):
        shape[3]
    with pytest.raises(RuntimeError):
        shape.to_rank(1)


def test_cores():
    assert ttnn.CoreCoord(1, 2) == (1, 2) and ttnn.CoreCoord((1, 2)).y == 2
    assert len({ttnn.CoreCoord(1, 2), ttnn.CoreCoord(1, 2), ttnn.CoreCoord(2, 1)}) == 2
    assert ttnn.CoreGrid(x=2, y=3).num_cores == 6
    with pytest.raises(TypeError):
        ttnn.CoreGrid(2, 3)
    with pytest.raises(RuntimeError):
        ttnn.CoreRange(ttnn.CoreCoord(3, 3), ttnn.CoreCoord(0, 0))
    assert GRID.num_cores() == 8 and GRID.size() == 1 and not GRID.empty()
    assert GRID.contains(ttnn.CoreCoord(3, 1)) and not GRID.contains(ttnn.CoreCoord(4, 1))
    assert GRID.bounding_box() == GRID.ranges()[0]
    more = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(4, 0), ttnn.CoreCoord(5, 1))})
    assert GRID.merge(more).num_cores() == 12 and GRID.merge(more).subtract(more) == GRID
    assert ttnn.num_cores_to_corerangeset(5, ttnn.CoreCoord(8, 8), row_wise=True).num_cores() == 5


def test_work_on_cores(monkeypatch):
    """As ttnn 0.81.1 says."""
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")
    assert repr(ttnn.split_work_to_cores(ttnn.CoreCoord(8, 8), 70)) == "(64, {[0-0 - 7-7]}, {[0-0 - 0-5]}, {[0-6 - 0-7], [1-0 - 7-7]}, 2, 1)"
    columns = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(a, 0), ttnn.CoreCoord(b, 9)) for a, b in ((1, 3), (5, 6))])
    cores, every, more, rest, many, few = ttnn.split_work_to_cores(columns, 37, row_wise=True)
    assert (cores, many, few) == (37, 1, 0) and rest.empty() and repr(every) == repr(more) == "{[1-0 - 3-9], [5-0 - 6-2], [5-3 - 5-3]}"
    some = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(1, 0), 13, columns, row_wise=True)
    assert repr(some) == "{[1-0 - 3-3], [1-4 - 1-4]}"
    assert ttnn.split_work_to_cores(ttnn.CoreCoord(8, 8), 0)[0] == 0
    with pytest.raises(RuntimeError):
        ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(0, 0), 13, columns)


# (channels, groups, rows, how): grid, shard; as ttnn 0.81.1 says on an n150.
GROUP_NORMS = {
    (320, 32, 4096, "block"): ((8, 8), [40, 512]),
    (480, 8, 1000, "block"): ((8, 4), [120, 128]),
    (64, 8, 1000, "block"): ((8, 2), [32, 128]),
    (1280, 32, 256, "rows"): ((8, 8), [32, 160]),
    (64, 8, 9216, "height"): ((8, 6), [192, 64]),
    (64, 8, 10000, "height"): ((1, 1), [10016, 64]),
    (64, 8, 256, "dram"): ((8, 2), None),
    (1920, 32, 100, "dram"): ((8, 2), None),
    (1280, 32, 32, "dram"): ((8, 1), None),
}


@pytest.mark.parametrize("key", GROUP_NORMS, ids=str)
def test_cores_for_group_norm(key, device):
    channels, groups, rows, how = key
    size = dict(device=device, num_channels=channels, num_groups=groups, input_nhw=rows)
    (x, y), shard = GROUP_NORMS[key]
    if how == "dram":
        grid = ttnn.determine_expected_group_norm_dram_grid_size(**size)
    else:
        config, grid = ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
            **size, is_height_sharded=how == "height", is_row_major=how == "rows"
        )
        assert config.shard_spec.shape == shard and config.shard_spec.grid.num_cores() == x * y
    assert grid == ttnn.CoreGrid(x=x, y=y)


def test_what_needs_cards():
    kernel = ttnn.KernelDescriptor(kernel_source="add.cpp", compile_time_args=[1])
    assert kernel.compile_time_args == [1] and "add.cpp" in repr(kernel)
    with pytest.raises(RuntimeError, match="needs a machine with cards"):
        ttnn.MeshSocket(None, None)
    with pytest.raises(RuntimeError, match="not initialized"):
        ttnn.distributed_context_get_rank()
    assert repr(ttnn.FabricNodeId(ttnn.MeshId(0), 1)) == "FabricNodeId(M0, D1)"
    box = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(1, 2))
    boxes = ttnn.MeshCoordinateRangeSet(box)
    boxes.merge(ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(2, 0), ttnn.MeshCoordinate(2, 2)))
    assert len(list(box)) == 6 and repr(boxes).count("MeshCoordinateRange(") == 1


def test_shard_spec_fields():
    spec = ttnn.ShardSpec(GRID, (64, 32), ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    spec.shape = [32, 32]
    spec.orientation = ttnn.ShardOrientation.COL_MAJOR
    assert spec.shape == [32, 32] and config.shard_spec.shape == [64, 32]  # a copy went in
    for name, bad in (("shape", [1]), ("grid", 5), ("orientation", ttnn.bfloat16)):
        with pytest.raises(TypeError):
            setattr(spec, name, bad)
    with pytest.raises(AttributeError):
        del spec.grid


def test_memory_config():
    assert ttnn.MemoryConfig() == ttnn.DRAM_MEMORY_CONFIG != ttnn.L1_MEMORY_CONFIG
    assert ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG.is_sharded() and ttnn.DRAM_MEMORY_CONFIG.interleaved
    with pytest.raises(TypeError, match="shard_spec"):
        ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, 5)
    with pytest.raises(TypeError, match="memory_layout"):
        ttnn.MemoryConfig(ttnn.bfloat16)


def test_enumerations():
    assert ttnn.bfloat16 is ttnn.DataType.BFLOAT16 is ttnn.DataType(0)
    assert ttnn.BufferType.L1_SMALL.value == 3 and ttnn.Layout.TILE.name == "TILE"
    assert ttnn.MathFidelity["HiFi4"] == ttnn.MathFidelity.HiFi4 != ttnn.MathFidelity.LoFi


def test_config_objects():
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True)
    assert config.math_fidelity == ttnn.MathFidelity.HiFi2 and config.packer_l1_acc is False
    config.packer_l1_acc = True
    assert config.packer_l1_acc is True and "packer_l1_acc" in dir(config)
    with pytest.raises(TypeError):
        config.math_fidelity = 5
    assert config.math_fidelity == ttnn.MathFidelity.HiFi2
    with pytest.raises(TypeError, match="nonsense"):
        ttnn.WormholeComputeKernelConfig(nonsense=1)
    with pytest.raises(AttributeError):
        config.nonsense
    assert ttnn.init_device_compute_kernel_config(ttnn.Arch.WORMHOLE_B0, math_fidelity=ttnn.MathFidelity.HiFi4)


def test_tile_and_spec():
    tile = ttnn.Tile((16, 32))
    assert tile.tile_shape == [16, 32] and tile.face_shape == [16, 16] and tile.num_faces == 2
    assert ttnn.Tile((32, 32)).get_tile_size(ttnn.bfloat8_b) == 1088
    with pytest.raises(RuntimeError):
        ttnn.Tile((7, 32))
    spec = ttnn.TensorSpec((2, 40, 50), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    assert spec.padded_shape == [2, 64, 64] and spec.memory_config == ttnn.L1_MEMORY_CONFIG
    sharded = ttnn.TensorSpec((64, 64), ttnn.float32, ttnn.TILE_LAYOUT).height_sharded(GRID)
    assert sharded.memory_config.memory_layout == ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    with pytest.raises(RuntimeError):
        ttnn.TensorSpec((2,), ttnn.bfloat8_b, ttnn.ROW_MAJOR_LAYOUT)


def test_what_a_call_that_nothing_fits_was_given(device):
    """Tensors that a call names are told with their values, the others as types; as the released library does."""
    x = ttnn.zeros([64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    given = ttnn.full([1, 2], 3, dtype=ttnn.uint32, device=device)
    with pytest.raises(TypeError) as refused:
        ttnn.relu(x, bogus=given, others=[given, 2])
    text = "ttnn.Tensor([[    3,     3]], shape=Shape([1, 2]), dtype=DataType::UINT32, layout=Layout::ROW_MAJOR)"
    assert f"relu(ttnn.Tensor, bogus={text}, others=[{text}, 2])" in str(refused.value)
    ttnn.deallocate(x)
    with pytest.raises(TypeError, match=r"bogus=ttnn.Tensor\(<buffer is not allocated>, shape=Shape\(\[64, 64\]\), dtype=DataType::BFLOAT16, "):
        ttnn.relu(given, bogus=x)
