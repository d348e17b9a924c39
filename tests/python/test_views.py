"""What views are when the tensor they came from is given up, or another view of it."""

import pytest

import ttnn


@pytest.fixture
def rows(device):
    values = [float(i % 64) for i in range(2 * 32 * 64)]
    return ttnn.Tensor(values, [2, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)


def flat(tensor):
    return tensor.reshape([-1]).to_list() if len(tensor.shape) > 1 else tensor.to_list()


def view_of(tensor):
    return ttnn.reshape(tensor, [1, 64, 64])


def test_a_view_outlives_its_origin(device, rows):
    view = view_of(rows)
    wanted = view.to_list()
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
    ttnn.deallocate(rows)
    assert not rows.is_allocated() and view.is_allocated()
    assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank < before
    other = ttnn.full([2, 32, 64], fill_value=7.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert other.buffer_address() == view.buffer_address()  # the memory is someone else's by now
    assert view.to_list() == wanted
    assert ttnn.add(view, 1.0).to_list()[0][1][:3] == [1.0, 2.0, 3.0]
    ttnn.deallocate(view)
    assert not view.is_allocated() and other.is_allocated()
    with pytest.raises(RuntimeError, match="is not allocated"):
        ttnn.add(view, 1.0)


def test_giving_up_a_view_takes_its_origin_and_no_other_view(device, rows):
    view, other = view_of(rows), view_of(rows)
    ttnn.deallocate(view)
    assert not rows.is_allocated() and not view.is_allocated() and other.is_allocated()
    assert other.to_list()[0][0][:3] == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="Tensor is not allocated"):
        view_of(rows)
    del other
    ttnn.deallocate(rows)  # nothing is left to give up


def test_shared_memory_stays_without_force(device, rows):
    view = view_of(rows)
    rows.deallocate()
    ttnn.deallocate(view, force=False)
    assert rows.is_allocated() and view.is_allocated()
    del view
    rows.deallocate()
    assert not rows.is_allocated()


def test_views_on_a_mesh_and_of_closed_devices(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "n300")
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    tensor = ttnn.zeros([2, 32, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh)
    view = view_of(tensor)
    ttnn.deallocate(tensor)
    assert view.is_allocated() and ttnn.add(view, 2.0).is_allocated()
    ttnn.close_mesh_device(mesh)
    assert not view.is_allocated()


def test_shards_of_one_size_and_other_extents_are_other_programs(device):
    def shards(height, width):
        grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
        spec = ttnn.ShardSpec(grid, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)

    entries = []
    for height, width in ((32, 128), (64, 64), (128, 32), (64, 64)):
        shape = [1, 1, 4 * height, width]
        like = dict(dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        tensor = ttnn.zeros(shape, memory_config=shards(height, width), **like)
        before = device.num_program_cache_entries()
        ttnn.relu(tensor)
        entries.append(device.num_program_cache_entries() - before)
    assert entries == [1, 1, 1, 0]
