"""Records the .tensorbin files of this directory, and tensorbin.json, which tells what is in them.

Needs ttnn 0.81.1 and torch, and (for the files of several devices) a mock cluster of four chips:
    TT_METAL_MOCK_CLUSTER_DESC_PATH=blackhole_4xP150.yaml python record_tensorbin.py DIRECTORY

Elements are those of value(); tests/formats/test_tensorbin.c computes them again.
"""
import json
import sys

import torch
import ttnn

out, index = sys.argv[1], []
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
LAYOUT, BUFFER = ttnn.TensorMemoryLayout, ttnn.BufferType
BY_ROW, BY_COLUMN = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR
STRATEGY = ttnn.ShardDistributionStrategy
FLOATS = ("bfloat16", "float32", "bfloat8_b", "bfloat4_b")


def value(i, dtype):
    v = (i * 7919 + 13) % 2003 - 1001
    if dtype in FLOATS:
        return v / 64
    return v if dtype.startswith("int") and dtype != "int8" else v % 100


def data(shape, dtype):
    count = 1
    for extent in shape:
        count *= extent
    kind = torch.float32 if dtype in FLOATS else torch.int8 if dtype == "int8" else torch.int32
    return torch.tensor([value(i, dtype) for i in range(count)], dtype=kind).reshape(shape)


def save(name, tensor, dtype, pad=0, elements=True):
    # from_torch() rounds float32 to bfloat16 on the way to a sharded block float.
    twice = tensor.memory_config().is_sharded() and dtype.endswith("_b")
    ttnn.dump_tensor(f"{out}/{name}.tensorbin", tensor)
    shards = len(ttnn.get_device_tensors(tensor))
    index.append({"file": name, "shape": list(tensor.shape), "padded": list(tensor.padded_shape),
                  "dtype": dtype, "layout": tensor.layout.name, "pad": pad, "shards": shards,
                  "elements": elements, "via_bfloat16": twice})


def record(name, shape, dtype="bfloat16", layout=ROWS, pad=0, **more):
    t = ttnn.from_torch(data(shape, dtype), dtype=getattr(ttnn, dtype), layout=layout,
                        pad_value=pad, **more)
    save(name, t, dtype, pad)


def cores(*ranges):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(a, b), ttnn.CoreCoord(c, d))
                              for a, b, c, d in ranges])


def sharded(layout, buffer, grid, shape, orientation=BY_ROW):
    return ttnn.MemoryConfig(layout, buffer, ttnn.ShardSpec(grid, shape, orientation))


def nd(shape, grid, orientation, strategy):
    return ttnn.MemoryConfig(BUFFER.L1, ttnn.NdShardSpec(ttnn.Shape(shape), grid, orientation,
                                                         strategy))


# every type, both layouts
for dtype in ("bfloat16", "float32", "uint8", "uint16", "uint32", "int32", "int8"):
    record(f"rows_{dtype}", (2, 5, 7), dtype)
    record(f"tile_{dtype}", (3, 5), dtype, TILE, pad=3)
for dtype in ("bfloat8_b", "bfloat4_b"):
    record(f"tile_{dtype}", (2, 5, 37), dtype, TILE, pad=-1.5)

# ranks 0 to 6
for rank, shape in enumerate([(), (5,), (3, 5), (2, 3, 5), (2, 1, 3, 5), (1, 2, 1, 3, 5),
                              (2, 1, 2, 1, 3, 5)]):
    record(f"rows_rank{rank}", shape)
    if rank < 2 or rank == 6:
        record(f"tile_rank{rank}", shape, "bfloat8_b", TILE)

# every tile
for height, width, turned in [(16, 32, False), (32, 16, False), (16, 16, False), (8, 32, False),
                              (4, 32, False), (2, 32, False), (1, 32, False), (8, 16, False),
                              (4, 16, False), (2, 16, False), (1, 16, False), (32, 32, True),
                              (16, 32, True), (32, 16, True), (16, 16, True)]:
    tile = ttnn.Tile((height, width), transpose_tile=turned)
    name = f"tile{height}x{width}{'t' if turned else ''}"
    record(f"{name}_bfloat16", (2, 17, 35), "bfloat16", TILE, tile=tile, pad=2)
    record(f"{name}_bfloat8_b", (17, 35), "bfloat8_b", TILE, tile=tile)
    record(f"{name}_bfloat4_b", (17, 35), "bfloat4_b", TILE, tile=tile)

# memory
square = cores((0, 0, 1, 1))
record("l1", (3, 5), memory_config=ttnn.L1_MEMORY_CONFIG)
record("height", (1, 1, 128, 32), "bfloat8_b", TILE,
       memory_config=sharded(LAYOUT.HEIGHT_SHARDED, BUFFER.L1, square, [32, 32]))
record("width", (8, 96), memory_config=sharded(LAYOUT.WIDTH_SHARDED, BUFFER.L1,
       cores((0, 0, 0, 0), (2, 3, 3, 3)), [8, 32], BY_COLUMN))
record("width_padded", (10, 90), memory_config=sharded(LAYOUT.WIDTH_SHARDED, BUFFER.L1,
       cores((0, 0, 2, 0)), [10, 32]))
record("width_dram", (32, 96), "bfloat4_b", TILE, memory_config=sharded(
       LAYOUT.WIDTH_SHARDED, BUFFER.DRAM, cores((0, 0, 2, 0)), [32, 32]))
record("block", (60, 60), "bfloat8_b", TILE, memory_config=sharded(
       LAYOUT.BLOCK_SHARDED, BUFFER.L1, square, [32, 32], BY_COLUMN))
record("many_ranges", (8, 8), memory_config=sharded(LAYOUT.HEIGHT_SHARDED, BUFFER.L1,
       cores(*[(x, x, x, x) for x in range(8)]), [1, 8]))
for number, (shape, shard, strategy, layout) in enumerate([
        ((3, 64, 64), [1, 32, 32], STRATEGY.ROUND_ROBIN_1D, TILE),
        ((64, 64), [32, 32], STRATEGY.GRID_2D, TILE),
        ((6, 8), [2, 4], STRATEGY.CONTIGUOUS_1D, ROWS),
        ((2, 3, 5, 7), [1, 2, 2, 4], STRATEGY.ROUND_ROBIN_1D, ROWS)]):
    for orientation in (BY_ROW, BY_COLUMN):
        record(f"nd{number}_{'row' if orientation == BY_ROW else 'col'}", shape,
               "bfloat4_b" if layout == TILE else "bfloat16", layout,
               memory_config=nd(shard, cores((0, 0, 3, 1)), orientation, strategy))
for name in ("per_core", "range_lockstep"):
    config = sharded(LAYOUT.HEIGHT_SHARDED, BUFFER.L1, cores((0, 0, 1, 0)), [32, 32])
    getattr(config, f"experimental_set_{name}_allocation")(True)
    record(name, (64, 32), "bfloat4_b", TILE, memory_config=config)

# padding: the whole of it is compared, so only what from_data() lays out the same way
rows = ttnn.from_torch(data((3, 5), "bfloat16"), dtype=ttnn.bfloat16)
save("padded2", rows.pad([4, 7], [0, 0], 9), "bfloat16", 9)
save("pad_to_tile", rows.pad_to_tile(9), "bfloat16", 9)
cube = ttnn.from_torch(data((2, 3, 4), "bfloat16"), dtype=ttnn.bfloat16)
save("padded3", cube.pad([3, 4, 6], [0, 0, 0], 9), "bfloat16", 9)
save("padded3_start", cube.pad([3, 4, 6], [1, 1, 1], 9), "bfloat16", 9, elements=False)

# several devices
mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2))
x = data((8, 8), "bfloat16")


def spread(name, mapper, source=x, **more):
    save(name, ttnn.from_torch(source, dtype=ttnn.bfloat16, mesh_mapper=mapper, **more),
         "bfloat16", elements=False)


spread("mesh_replicated", ttnn.ReplicateTensorToMesh(mesh))
spread("mesh_rows", ttnn.ShardTensorToMesh(mesh, dim=0))
spread("mesh_columns", ttnn.ShardTensorToMesh(mesh, dim=-1), layout=TILE)
spread("mesh_both", ttnn.ShardTensor2dMesh(mesh, dims=(0, 1), mesh_shape=(2, 2)))
spread("mesh_second", ttnn.ShardTensor2dMesh(mesh, dims=(None, 1), mesh_shape=(2, 2)))
spread("mesh_first", ttnn.ShardTensor2dMesh(mesh, dims=(0, None), mesh_shape=(2, 2)))
spread("mesh_part", ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(
    [ttnn.PlacementShard(0), ttnn.PlacementReplicate()], ttnn.MeshShape(1, 2))), x[:3, :5])
spread("mesh_line", ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(
    [ttnn.PlacementShard(1)], ttnn.MeshShape([2]))), x[:3, :6])
save("mesh_host", ttnn.from_host_shards(
    [ttnn.from_torch(x * i, dtype=ttnn.bfloat16) for i in range(3)], ttnn.MeshShape(1, 3)),
    "bfloat16", elements=False)
ttnn.close_mesh_device(mesh)

with open(f"{out}/tensorbin.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(row) for row in index) + "\n]\n")
