#!/usr/bin/env python3
"""Asks a real ttnn 0.81 (with a mock Blackhole device, P150) what it makes of random core sets, tensor specs, shard
maps and sharded memory configs, and writes the answers that the tests of src/tensor compare with.

    python tests/data/values/record.py tests/data/values

Beside what this writes: texts.json, how 63 value objects print (repr, str, to_json), and
spec_texts.json.gz, every different TensorSpec in the arguments of some 2,300 recorded programs and
sixteen models, both of the same release.

The same seed gives the same files. Cases that kill the library are recorded as {"crash": true}: ours
must refuse them.
"""
import gzip
import json
import os
import random
import re
import sys

import ttnn

RM, TILE = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
LAYOUTS = {n: getattr(ttnn.TensorMemoryLayout, n) for n in
           ("INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED")}
ORIENTATIONS = (ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR)
STRATEGIES = [getattr(ttnn.ShardDistributionStrategy, n)
              for n in ("ROUND_ROBIN_1D", "GRID_2D", "CONTIGUOUS_1D")]
TILES = [(h, w) for h in (32, 16, 8, 4, 2, 1) for w in (32, 16)]


def core_range(r):
    return ttnn.CoreRange(ttnn.CoreCoord(r[0], r[1]), ttnn.CoreCoord(r[2], r[3]))


def core_set(ranges):
    return ttnn.CoreRangeSet([core_range(r) for r in ranges])


def plain(ranges):
    if isinstance(ranges, ttnn.CoreRangeSet):
        ranges = ranges.ranges()
    return [[r.start.x, r.start.y, r.end.x, r.end.y] for r in ranges]


def refusal(error):
    """Exception text -> {"condition", "text"}, without file and line."""
    text = str(error)
    match = re.fullmatch(r"TT_(?:FATAL|THROW) @ [^\n]*?:\d+: (.*?)\ninfo:\n(.*?)\n?", text, re.S)
    return {"condition": match[1], "text": match[2]} if match else {"condition": "", "text": text}


def in_child(function):
    """What function() returns, or its refusal, or {"crash": true}; run in a child process."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = function()
        except (RuntimeError, TypeError) as error:
            answer = {"refused": refusal(error)}
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        text = stream.read()
    return {"crash": True} if os.waitpid(child, 0)[1] else json.loads(text)


def random_ranges(rnd, grid=8, most=5):
    ranges = []
    for _ in range(rnd.randint(0, most)):
        x, y = rnd.randrange(grid), rnd.randrange(grid)
        r = [x, y, min(grid - 1, x + rnd.randrange(4)), min(grid - 1, y + rnd.randrange(4))]
        if all(r[0] > o[2] or r[2] < o[0] or r[1] > o[3] or r[3] < o[1] for o in ranges):
            ranges.append(r)
    return ranges


def record_cores(rnd):
    out = []
    for _ in range(400):
        a, b = random_ranges(rnd, most=9), random_ranges(rnd, most=9)
        sa, sb = core_set(a), core_set(b)
        row = {"a": a, "b": b, "text": str(sa), "merge": plain(sa.merge(sb)),
               "normal": plain(sa.merge(core_set([]))), "subtract": plain(sa.subtract(sb)),
               "cores": sa.num_cores(),
               "contains": [[x, y] for x in range(8) for y in range(8)
                            if sa.contains(ttnn.CoreCoord(x, y))] if len(out) < 40 else None,
               "rows": [[c.x, c.y] for c in ttnn.corerange_to_cores(sa, None, True)],
               "columns": [[c.x, c.y] for c in ttnn.corerange_to_cores(sa, None, False)]}
        if a:
            row["box"] = plain([sa.bounding_box()])[0]
        out.append(row)
    return out


def up(value, multiple):
    return -(-value // multiple) * multiple


def random_shape(rnd, most_rank=6):
    rank = rnd.choice((0, 1, 2, 2, 3, 3, 4, 4, 4, 5, most_rank))
    dims = [rnd.choice((1, 1, 2, 3, 4, 5)) for _ in range(max(0, rank - 2))]
    dims += [rnd.choice((1, 5, 16, 31, 32, 33, 64, 70, 96, 100, 128, 256)) for _ in range(min(2, rank))]
    if dims and rnd.random() < 0.06:
        dims[rnd.randrange(rank)] = 0
    return dims


def random_grid(rnd, row0=False):
    if rnd.random() < 0.03:
        return []
    if row0:
        return [[0, 0, rnd.randrange(8), 0]]
    if rnd.random() < 0.25:
        return random_ranges(rnd, most=3)
    x, y = rnd.randrange(4), rnd.randrange(4)
    return [[x, y, rnd.randrange(x, 8), rnd.randrange(y, 8)]]


def legacy_shard(rnd, shape, tile, layout, grid, orientation):
    """A shard shape that often fits, and sometimes nearly."""
    th, tw = tile or (1, 1)
    dims = ([1, 1] + shape)[-2:]
    rows, cols = up(dims[0], th), up(dims[1], tw)
    for d in shape[:-2]:
        rows *= d
    n = max(1, sum((r[2] - r[0] + 1) * (r[3] - r[1] + 1) for r in grid))
    gx, gy = (grid[0][2] - grid[0][0] + 1, grid[0][3] - grid[0][1] + 1) if grid else (1, 1)
    if orientation == ORIENTATIONS[1]:
        gx, gy = gy, gx
    h = {"HEIGHT_SHARDED": up(-(-rows // n), th), "WIDTH_SHARDED": rows}.get(layout, up(-(-rows // gy), th))
    w = {"WIDTH_SHARDED": up(-(-cols // n), tw), "HEIGHT_SHARDED": cols}.get(layout, up(-(-cols // gx), tw))
    if rnd.random() < 0.3:
        h = rnd.choice((h + th, max(0, h - th), h + 1, 0, 32, 1))
    if rnd.random() < 0.2:
        w = rnd.choice((w + tw, max(0, w - tw), w + 1, 0, 32))
    return [h, w]


def random_memory(rnd, shape, tile):
    kind = rnd.choice(("INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND", "ND", "ND"))
    dram = rnd.random() < 0.2
    buffer = ttnn.BufferType.DRAM if dram else ttnn.BufferType.L1
    orientation = rnd.choice(ORIENTATIONS)
    grid = random_grid(rnd, dram)
    if kind == "ND":
        th, tw = tile or (1, 1)
        padded = ([1] * (2 - len(shape)) + shape) if tile else list(shape)
        rank = rnd.choice((len(padded), len(padded), max(0, len(padded) - 1), len(padded) + 1))
        dims = ([1] * max(0, rank - len(padded)) + padded)[-rank:] if rank else []
        nd = []
        for i, d in enumerate(dims):
            unit = tw if i == rank - 1 else th if i == rank - 2 else 1
            full = up(max(d, 1), unit)
            nd.append(rnd.choice((full, full, up(-(-full // 2), unit), unit, up(-(-full // 3), unit),
                                  full + (unit if rnd.random() < 0.2 else 0))))
        strategy = rnd.choice((STRATEGIES[0], STRATEGIES[0], STRATEGIES[0], *STRATEGIES))
        if nd and rnd.random() < 0.05:
            nd[rnd.randrange(rank)] = rnd.choice((0, 1, 17))
        return ttnn.MemoryConfig(buffer, ttnn.NdShardSpec(nd, core_set(grid), orientation, strategy))
    if rnd.random() < 0.04:
        return ttnn.MemoryConfig(LAYOUTS[kind], buffer)
    if kind == "INTERLEAVED" and rnd.random() < 0.8:
        return ttnn.MemoryConfig(LAYOUTS[kind], buffer)
    spec = ttnn.ShardSpec(core_set(grid), legacy_shard(rnd, shape, tile, kind, grid, orientation), orientation)
    return ttnn.MemoryConfig(LAYOUTS[kind], buffer, spec)


def memory_json(memory):
    """to_json() loses the shape of an ND shard; this keeps it."""
    document = json.loads(memory.to_json())
    if memory.nd_shard_spec and document["created_with_nd_shard_spec"]:
        document["nd_shard_spec"]["shard_shape"] = list(memory.nd_shard_spec.shard_shape)
    return document


def make_spec(shape, dtype, layout, memory, tile):
    extra = {"tile": ttnn.Tile(tile)} if tile else {}
    document = json.loads(memory.to_json())
    if document["created_with_nd_shard_spec"]:
        return ttnn.TensorSpec(shape, dtype, layout, memory.nd_shard_spec, memory.buffer_type, **extra)
    return ttnn.TensorSpec(shape, dtype, layout, memory.memory_layout, memory.shard_spec,
                           memory.buffer_type, **extra)


def random_spec(rnd):
    shape = random_shape(rnd)
    dtype = rnd.choice(("BFLOAT16", "BFLOAT16", "FLOAT32", "UINT32", "BFLOAT8_B", "BFLOAT4_B", "UINT8",
                        "UINT16", "INT32", "INT8", "FP8_E4M3"))
    layout = RM if dtype == "FP8_E4M3" else rnd.choice((RM, TILE, TILE))
    if dtype.endswith("_B") and rnd.random() < 0.9:
        layout = TILE
    if rnd.random() < 0.02:
        layout = TILE
    tile = rnd.choice(TILES) if layout == TILE and rnd.random() < 0.3 else None
    memory = random_memory(rnd, shape, tile or (32, 32) if layout == TILE else None)
    return shape, dtype, layout, tile, memory


def tensor_facts(tensor):
    return {"padded": list(tensor.padded_shape), "pages": tensor.buffer_num_pages(),
            "page": tensor.buffer_page_size()}


def record_specs(rnd, device):
    out = []
    while len(out) < 900:
        shape, dtype, layout, tile, memory = random_spec(rnd)
        row = {"shape": shape, "dtype": dtype, "layout": layout.name, "memory": memory_json(memory)}
        if tile:
            row["tile"] = tile
        args = (shape, getattr(ttnn.DataType, dtype), layout, memory, tile)
        answer = in_child(lambda: {"text": str(make_spec(*args).memory_config)})
        row.update(answer)
        if "text" in answer:
            try:
                tensor = ttnn.allocate_tensor_on_device(make_spec(*args), device)
                row.update(tensor_facts(tensor))
                ttnn.deallocate(tensor)
            except RuntimeError as error:
                row["allocation"] = refusal(error)
        out.append(row)
    return out


def contiguous_spec(rnd):
    """Shards of the CONTIGUOUS_1D strategy, as many for every core."""
    cores, per = rnd.choice((1, 2, 3, 4, 6)), rnd.choice((1, 2, 3))
    height, width = rnd.choice((32, 64)), rnd.choice((32, 96))
    shape = [cores, height * per - rnd.randrange(31), width]
    nd = ttnn.NdShardSpec([1, height, width], core_set([[0, 0, cores - 1, 0]]), rnd.choice(ORIENTATIONS), STRATEGIES[2])
    return shape, "BFLOAT16", rnd.choice((RM, TILE)), None, ttnn.MemoryConfig(ttnn.BufferType.L1, nd)


def record_maps(rnd, device):
    """Which core holds which page at which place: [core x, core y, host page, device page]."""
    out = []
    while len(out) < 240:
        shape, dtype, layout, tile, memory = random_spec(rnd) if rnd.random() < 0.9 else contiguous_spec(rnd)
        if memory.nd_shard_spec and 0 in memory.nd_shard_spec.shard_shape:
            continue
        if 0 in shape or memory.buffer_type != ttnn.BufferType.L1 or not memory.is_sharded():
            continue
        args = (shape, getattr(ttnn.DataType, dtype), layout, memory, tile)
        if "text" not in in_child(lambda: {"text": str(make_spec(*args).memory_config)}):
            continue
        try:
            tensor = ttnn.allocate_tensor_on_device(make_spec(*args), device)
        except RuntimeError:
            continue
        row = {"shape": shape, "dtype": dtype, "layout": layout.name, "memory": memory_json(memory)}
        if tile:
            row["tile"] = tile
        size, base = tensor.buffer_aligned_page_size(), tensor.buffer_address()
        try:
            pages = ttnn._ttnn.reports.get_buffer_pages(device)
            for buffer in ttnn._ttnn.reports.get_buffers(device):
                row["bank"] = buffer.max_size_per_bank // tensor.buffer_page_size()
            row["map"] = [[p.core_x, p.core_y, p.page_index, (p.page_address - base) // size] for p in pages]
        except RuntimeError as error:
            row["refused"] = refusal(error)
        if len(row.get("map", [1])) in range(1, 201):
            out.append(row)
        ttnn.deallocate(tensor)
    return out


def record_sharded(rnd):
    """create_sharded_memory_config, and the builder methods of TensorSpec."""
    created, built = [], []
    strategies = {"HEIGHT": ttnn.ShardStrategy.HEIGHT, "WIDTH": ttnn.ShardStrategy.WIDTH,
                  "BLOCK": ttnn.ShardStrategy.BLOCK}
    for _ in range(200):
        shape = [rnd.choice((1, 2, 4, 32, 64, 96, 256, 512)) for _ in range(rnd.choice((2, 3, 4)))]
        name, orientation = rnd.choice(list(strategies)), rnd.choice(ORIENTATIONS)
        whole = rnd.random() < 0.4
        if rnd.random() < 0.3:
            ranges = random_ranges(rnd)
            grid, text = core_set(ranges), {"cores": ranges}
        else:
            grid = ttnn.CoreGrid(y=rnd.choice((1, 2, 3, 4, 8)), x=rnd.choice((1, 2, 4, 5, 8)))
            text = {"grid": [grid.x, grid.y]}
        row = {"shape": shape, "strategy": name, "orientation": orientation.name, "whole": whole, **text}
        try:
            row["json"] = json.loads(ttnn.create_sharded_memory_config(
                shape, grid, strategies[name], orientation, whole).to_json())
        except RuntimeError as error:
            row["refused"] = refusal(error)
        created.append(row)
    alignments = [getattr(ttnn.ShardShapeAlignment, n) for n in ("NONE", "REQUIRED", "RECOMMENDED")]
    while len(built) < 250:
        shape, dtype, layout, tile, memory = random_spec(rnd)
        interleaved = ttnn.MemoryConfig(LAYOUTS["INTERLEAVED"], memory.buffer_type)
        args = (shape, getattr(ttnn.DataType, dtype), layout, interleaved, tile)
        grid = random_grid(rnd)
        orientation = rnd.choice(ORIENTATIONS)
        method = rnd.choice(("height_sharded", "width_sharded", "block_sharded", "sharded",
                             "sharded_across_dims", "sharded_across_dims_except"))
        if method == "block_sharded" and not grid:
            continue
        row = {"shape": shape, "dtype": dtype, "layout": layout.name, "memory": memory_json(interleaved),
               "grid": grid, "method": method, "orientation": orientation.name}
        if tile:
            row["tile"] = tile
        if method == "sharded":
            nd = json.loads(memory.to_json()).get("nd_shard_spec")
            if not nd:
                continue
            row["shard"] = memory.nd_shard_spec and list(memory.nd_shard_spec.shard_shape)
            strategy, alignment = rnd.choice(STRATEGIES), rnd.choice(alignments)
            row["strategy"], row["alignment"] = strategy.name, alignment.name
            call = lambda s: s.sharded(row["shard"], core_set(grid), alignment, orientation, strategy)
        elif method.startswith("sharded_across"):
            rank = max(len(shape), 2 if layout == TILE else 1)
            dims = sorted(rnd.sample(range(-rank, 0), rnd.randint(0, rank)))
            row["dims"] = dims
            call = lambda s: getattr(s, method)(dims, core_set(grid), orientation)
        else:
            call = lambda s: getattr(s, method)(core_set(grid), orientation)
        row.update(in_child(lambda: {"text": str(call(make_spec(*args)).memory_config)}))
        built.append(row)
    return {"created": created, "built": built}


def write(path, rows):
    text = json.dumps(rows, separators=(",", ":")).replace('},{"shape"', '},\n{"shape"').replace('},{"a"', '},\n{"a"')
    with gzip.GzipFile(path, "wb", mtime=0) as stream:
        stream.write(text.encode())
    print(path, len(text), os.path.getsize(path))


def main():
    folder = sys.argv[1]
    write(f"{folder}/core_sets.json.gz", record_cores(random.Random(1)))
    write(f"{folder}/sharded.json.gz", record_sharded(random.Random(4)))
    device = ttnn.open_device(device_id=0)
    write(f"{folder}/specs.json.gz", record_specs(random.Random(2), device))
    write(f"{folder}/shard_maps.json.gz", record_maps(random.Random(3), device))
    ttnn.close_device(device)


main()
