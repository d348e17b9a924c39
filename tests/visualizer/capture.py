"""capture.py FILE [KIND]: a small model of ours, captured to a report; KIND: what viewers read with care, row of KINDS.
Exits 1 where that cannot be done."""

import sys

try:
    import ttnn

    capture = ttnn.graph.end_graph_capture_to_file
except (ImportError, AttributeError) as error:
    print(f"test-visualizer: no capture of our own ({error}); a recorded report is used")
    sys.exit(1)

L1 = ttnn.L1_MEMORY_CONFIG


def full(device, shape, memory_config=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.full([1, 1, *shape], 0.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)


def model(device, weights):
    x = full(device, (32, 64), L1)
    x = ttnn.matmul(x, weights[0], memory_config=L1)
    x = ttnn.relu(x)
    x = ttnn.matmul(x, weights[1], memory_config=L1)
    return ttnn.softmax(x, dim=-1)


def sharded(device, weights):
    """Every way to cut a tensor into shards."""
    x = full(device, (128, 128), L1)
    grid = ttnn.CoreGrid(y=2, x=2)
    ways = ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK
    made = [ttnn.to_memory_config(x, ttnn.create_sharded_memory_config((128, 128), grid, way)) for way in ways]
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 0))})
    nd = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([1, 1, 32, 32], cores))
    made.append(ttnn.zeros([2, 2, 64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=nd))
    return made, ttnn.relu(made[0])


def failed(device, weights):
    """An allocation that no L1 has room for, and what follows."""
    x = ttnn.relu(full(device, (64, 64), L1))
    try:
        full(device, (1 << 15, 1 << 15), L1)
    except RuntimeError:
        return ttnn.relu(x)
    raise SystemExit("there was room")


# The model again, on several chips: TTNN_DEVICE says which.
KINDS = {"model": model, "mesh": model, "sharded": sharded, "failed": failed}

kind = sys.argv[2] if len(sys.argv) > 2 else "model"
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) if kind == "mesh" else ttnn.open_device(device_id=0)
weights = [full(device, shape) for shape in ((64, 128), (128, 32))]
ttnn.graph.enable_detailed_buffer_tracing()
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
result = KINDS[kind](device, weights)
capture(sys.argv[1])
del result
(ttnn.close_mesh_device if kind == "mesh" else ttnn.close_device)(device)
