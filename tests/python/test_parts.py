"""Parts of tensors that share their memory: ttnn.narrow."""

import array

import pytest

import ttnn


def made(device, shape, layout=ttnn.TILE_LAYOUT, memory=ttnn.DRAM_MEMORY_CONFIG, dtype=ttnn.bfloat16):
    count = 1
    for extent in shape:
        count *= extent
    numbers = memoryview(array.array("f", (float(i // 32 % 251) for i in range(count)))).cast("B").cast("f", shape)
    return ttnn.from_torch(numbers, dtype=dtype, layout=layout, device=device, memory_config=memory)


def shards(kind, grid, shape):
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(kind, ttnn.BufferType.L1, spec)


def cut(numbers, dim, start, length):
    if dim == 0:
        return numbers[start : start + length]
    return [cut(inner, dim - 1, start, length) for inner in numbers]


CORES = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1))})
COLUMN = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 3))})


@pytest.mark.parametrize(
    "shape, layout, memory, dim, start, length",
    [
        ((24, 32, 32), ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, 0, 12, 6),
        ((48, 32), ttnn.ROW_MAJOR_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, 0, 24, 12),
        ((1, 1, 256, 64), ttnn.TILE_LAYOUT, shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, COLUMN, [64, 64]), 2, 64, 128),
        ((1, 1, 256, 64), ttnn.TILE_LAYOUT, shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, COLUMN, [64, 64]), 2, 96, 32),
        ((1, 1, 128, 256), ttnn.TILE_LAYOUT, shards(ttnn.TensorMemoryLayout.BLOCK_SHARDED, CORES, [64, 64]), 3, 64, 128),
        ((1, 1, 128, 256), ttnn.TILE_LAYOUT, shards(ttnn.TensorMemoryLayout.BLOCK_SHARDED, CORES, [64, 64]), 2, 64, 64),
    ],
)
def test_a_part_reads_and_writes_its_whole(device, shape, layout, memory, dim, start, length):
    whole = made(device, shape, layout, memory)
    before = whole.to_list()
    part = ttnn.narrow(whole, dim, start, length)
    assert part.to_list() == cut(before, dim, start, length)
    ttnn.copy(ttnn.multiply(whole, 2.0), whole)
    doubled = whole.to_list()
    assert part.to_list() == cut(doubled, dim, start, length) != cut(before, dim, start, length)
    ttnn.copy(ttnn.multiply(part, 0.0), part)
    after = whole.to_list()
    assert set(flat(part.to_list())) == {0.0} and part.to_list() == cut(after, dim, start, length)
    changed = [b for a, b in zip(flat(doubled), flat(after), strict=True) if a != b]
    assert set(changed) == {0.0} and len(changed) <= len(flat(part.to_list()))


def flat(numbers):
    return [n for inner in numbers for n in flat(inner)] if isinstance(numbers, list) else [numbers]


def test_a_part_of_a_part(device):
    whole = made(device, (48, 32, 32))
    first = ttnn.narrow(whole, 0, 12, 24)
    second = ttnn.narrow(first, 0, 12, 12)
    assert second.to_list() == whole.to_list()[24:36]
    assert second.buffer_address() - whole.buffer_address() == 2 * 2048
    ttnn.copy(ttnn.zeros_like(second), second)
    assert set(flat(whole.to_list()[24:36])) == {0.0} and set(flat(whole.to_list()[36:])) != {0.0}


def test_memory_is_kept_and_given_up_with_its_parts(device):
    whole = made(device, (24, 32, 32))
    expected = whole.to_list()[12:18]
    part = ttnn.narrow(whole, 0, 12, 6)
    assert ttnn.narrow(whole, 0, 0, 24).buffer_address() == whole.buffer_address()
    ttnn.deallocate(part, force=False)
    assert part.is_allocated() and whole.is_allocated()
    del whole
    assert part.to_list() == expected
    ttnn.deallocate(part)
    assert not part.is_allocated()
    whole = made(device, (24, 32, 32))
    part, other = ttnn.narrow(whole, 0, 12, 6), ttnn.narrow(whole, 0, 0, 6)
    ttnn.deallocate(other)
    assert not whole.is_allocated() and not other.is_allocated() and part.is_allocated()
    with pytest.raises(RuntimeError):
        ttnn.narrow(whole, 0, 12, 6)


def test_parts_in_traces(device):
    whole = made(device, (24, 32, 32))
    before = ttnn.narrow(whole, 0, 12, 6)

    def forward():
        inner = ttnn.narrow(ttnn.neg(whole), 0, 12, 6)
        return ttnn.add(before, 1.0), ttnn.abs(inner)

    forward()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    out = forward()
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.copy(ttnn.full_like(whole, 7.0), whole)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert [set(flat(tensor.to_list())) for tensor in out] == [{8.0}, {7.0}]
    ttnn.release_trace(device, trace)


def test_parts_on_a_mesh(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    device = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    data = memoryview(array.array("f", range(8 * 24 * 64))).cast("B").cast("f", [8 * 24, 64])
    mapper = ttnn.ShardTensorToMesh(device, dim=0)
    whole = ttnn.from_torch(data, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device, mesh_mapper=mapper)
    part = ttnn.narrow(whole, 0, 12, 6)
    for chip, (one, all_of_it) in enumerate(zip(ttnn.get_device_tensors(part), ttnn.get_device_tensors(whole), strict=True)):
        assert one.cpu().to_list() == all_of_it.cpu().to_list()[12:18], chip
    ttnn.copy(ttnn.multiply(part, 0.0), part)
    last = ttnn.get_device_tensors(whole)[7].cpu().to_list()
    assert set(flat(last[12:18])) == {0.0} and 0.0 not in flat(last[:12] + last[18:])
    ttnn.close_mesh_device(device)
