"""Devices: opening and closing, memory, meshes."""

import array

import pytest

import ttnn


def test_open_and_close():
    device = ttnn.open_device(device_id=0, l1_small_size=8192)
    assert repr(device) == "MeshDevice(1x1 grid, 1 devices)" and device.shape == [1, 1]
    assert device.get_num_devices() == 1 and device.get_device_ids() == [0]
    assert device.compute_with_storage_grid_size() == (8, 8) and device.core_grid == ttnn.CoreGrid(x=8, y=8)
    assert device.arch() == ttnn.Arch.WORMHOLE_B0 and device.dram_grid_size().x == 12
    assert ttnn.get_memory_view(device, ttnn.BufferType.L1_SMALL).total_bytes_per_bank == 8192
    device.anything = {"of": "mine"}  # tests keep their own things there
    assert device.anything["of"] == "mine"
    tensor = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.close_device(device)
    ttnn.close_device(device)
    assert not tensor.is_allocated() and tensor.device() is None
    for use in (lambda: ttnn.zeros([1], device=device), lambda: ttnn.relu(tensor), lambda: tensor.cpu()):
        with pytest.raises(RuntimeError):
            use()
    assert device.arch() == ttnn.Arch.WORMHOLE_B0


def test_refusals():
    with pytest.raises(RuntimeError):
        ttnn.open_device(device_id=99)
    with pytest.raises(TypeError):
        ttnn.close_device(5)
    with pytest.raises(TypeError):
        ttnn.MeshDevice()
    with pytest.raises((TypeError, OverflowError)):
        ttnn.open_device(device_id=0, l1_small_size=-1)


def test_memory_view(device):
    kept = ttnn.zeros([320, 320], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    assert view.num_banks == 64 and view.total_bytes_allocated_per_bank == 2 * 4096
    taken = [row for row in view.block_table if row["allocated"] == "yes"]
    assert len(taken) == 1 and int(taken[0]["size"]) == 8192
    with pytest.raises(RuntimeError, match="Out of Memory"):
        ttnn.empty([64 * 1024, 1024], device=device, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert kept.is_allocated()


def test_program_cache(device):
    t = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    before = device.num_program_cache_entries()
    ttnn.relu(t), ttnn.relu(t)
    assert device.num_program_cache_entries() == before + 1
    device.clear_program_cache()
    assert device.num_program_cache_entries() == 0


def test_dry_runs(device):
    t = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    huge = ttnn.empty([100_000, 100_000], device=device, layout=ttnn.TILE_LAYOUT)
    assert ttnn.relu(t).buffer_address() == 0 and ttnn.add(huge, huge).shape == [100_000, 100_000]
    ttnn.graph.end_graph_capture()
    assert ttnn.relu(t).buffer_address() != 0
    assert not ttnn.graph.is_graph_capture_active()


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")


def test_mesh(machine, torch):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    assert mesh.shape == [2, 4] and mesh.get_num_devices() == 8
    data = torch.arange(8 * 32 * 32, dtype=torch.float32).reshape(8, 32, 32)
    rows = ttnn.from_torch(data, device=mesh, layout=ttnn.TILE_LAYOUT, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    assert rows.shape == [1, 32, 32] and len(ttnn.get_device_tensors(rows)) == 8
    assert all(torch.equal(ttnn.to_torch(part), data[i : i + 1]) for i, part in enumerate(ttnn.get_device_tensors(rows)))
    twice = ttnn.add(rows, rows)
    back = ttnn.to_torch(twice, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))
    assert torch.equal(back, 2 * data)
    both = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.ShardTensor2dMesh(mesh, mesh_shape=(2, 4), dims=(0, 2)))
    assert both.shape == [4, 32, 8]
    back = ttnn.to_torch(both, mesh_composer=ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=(2, 4), dims=(0, 2)))
    assert torch.equal(back, data)
    same = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    assert all(torch.equal(ttnn.to_torch(part), data) for part in ttnn.get_device_tensors(same.cpu()))
    with pytest.raises(RuntimeError, match="mesh composer"):
        ttnn.to_torch(rows)
    ttnn.close_mesh_device(mesh)


def test_data_that_the_device_converts(machine):
    """Data cut for a mesh goes there in rows; what it is converted to there is what the host would have made of it."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    numbers = array.array("f", [i / 3 for i in range(8 * 30 * 50)])
    data = memoryview(numbers).cast("B").cast("f", (1, 8, 30, 50))
    for mapper in (ttnn.ReplicateTensorToMesh(mesh), ttnn.ShardTensorToMesh(mesh, dim=1), ttnn.ShardTensor2dMesh(mesh, mesh_shape=(2, 4), dims=(None, 1))):
        for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
            ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
            there = ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=layout, device=mesh, mesh_mapper=mapper)
            names = ttnn.graph.extract_calltrace(ttnn.graph.end_graph_capture())
            assert any("Typecast" in name or "typecast" in name for name in names)
            here = ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=layout, mesh_mapper=mapper)
            assert there.layout == layout and there.dtype == ttnn.bfloat16
            for one, other in zip(ttnn.get_device_tensors(there.cpu()), ttnn.get_device_tensors(here)):
                assert one.to_list() == other.to_list()
    ttnn.close_mesh_device(mesh)


def test_machine(machine):
    assert ttnn.cluster.get_cluster_type() == ttnn.cluster.ClusterType.T3K
    assert ttnn._ttnn.multi_device.SystemMeshDescriptor().shape() == [2, 4]


def test_distribute(machine, torch):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    data = torch.arange(8 * 32 * 32, dtype=torch.float32).reshape(8, 32, 32)
    with ttnn.distribute(ttnn.ShardTensorToMesh(mesh, dim=0)):
        rows = ttnn.from_torch(data, device=mesh)
    assert rows.shape == [1, 32, 32]
    with ttnn.distribute(ttnn.ConcatMeshToTensor(mesh, dim=0)):
        assert torch.equal(ttnn.to_torch(rows), data)
    assert ttnn.from_torch(data).shape == [8, 32, 32]
    with pytest.raises(ValueError, match="not int"), ttnn.distribute(3):
        pass
    ttnn.close_mesh_device(mesh)


def test_submeshes(machine):
    mesh = ttnn.open_mesh_device()
    parts = mesh.create_submeshes(ttnn.MeshShape(1, 4))
    assert [p.shape for p in parts] == [[1, 4], [1, 4]] and mesh.get_submeshes() == parts
    part = mesh.create_submesh(ttnn.MeshShape(1, 2), offset=ttnn.MeshCoordinate(1, 1))
    assert part.get_num_devices() == 2 and part.get_device_id(ttnn.MeshCoordinate(0, 0)) in mesh.get_device_ids()
    with pytest.raises(RuntimeError):
        mesh.create_submesh(ttnn.MeshShape(9, 9))
    ttnn.close_mesh_device(mesh)


@pytest.mark.parametrize("mesh_device", [(1, 1), (8, 8)], indirect=True)
def test_fixture(mesh_device):
    assert mesh_device.shape == [1, 1]  # the other one is skipped


@pytest.mark.parametrize("device_params", [{"l1_small_size": 4096, "fabric_config": None}], indirect=True)
def test_fixture_options(device, device_params, expect_error):
    assert ttnn.get_memory_view(device, ttnn.BufferType.L1_SMALL).total_bytes_per_bank == 4096
    assert ttnn.GetDefaultDevice() is device
    with expect_error(RuntimeError, "TT_FATAL"):
        ttnn.from_torch(memoryview(array.array("f", [1])), dtype=ttnn.bfloat8_b, layout=ttnn.ROW_MAJOR_LAYOUT)


def cores(x, y, to_x, to_y):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x, y), ttnn.CoreCoord(to_x, to_y))])


def test_sub_devices(device):
    """Products on a part of the cores; what is no cut, and no number of a part, is refused."""
    parts = [ttnn.SubDevice([cores(0, 0, 7, 0)]), ttnn.SubDevice([cores(0, 1, 7, 7)])]
    for wrong, text in (
        ([ttnn.SubDevice([cores(0, 0, 20, 20)])], r"Tensix cores {\[0-0 - 20-20\]} specified in sub device must be within"),
        ([parts[0], parts[0]], "intersect"),
        ([], "must not be empty"),
        ([ttnn.SubDevice([cores(x, 0, x, 0)]) for x in range(8)] * 3, "larger than the max number"),
    ):
        with pytest.raises(RuntimeError, match=text):
            device.create_sub_device_manager(wrong, 0)
    for wrong in (5, cores(0, 0, 1, 1), [5]):
        with pytest.raises(TypeError):
            ttnn.SubDevice(wrong)
    with pytest.raises(TypeError):
        device.create_sub_device_manager([5], 0)
    a, b = (ttnn.full(shape, fill_value=1.0, layout=ttnn.TILE_LAYOUT, device=device) for shape in ([128, 512], [512, 512]))
    with pytest.raises(RuntimeError, match="SubDevice index 1 out of bounds 1"):
        ttnn.matmul(a, b, sub_device_id=ttnn.SubDeviceId(1))
    manager = device.create_sub_device_manager(parts, 0)
    device.load_sub_device_manager(manager)
    with pytest.raises(RuntimeError, match="Cannot remove active sub device manager"):
        device.remove_sub_device_manager(manager)
    with pytest.raises(RuntimeError, match="SubDevice index 2 out of bounds 2"):
        device.set_sub_device_stall_group([ttnn.SubDeviceId(2)])
    assert ttnn.linear(a, b, sub_device_id=ttnn.SubDeviceId(1)).to_list()[127][511] == 512
    wide = {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 4, "per_core_N": 1, "fuse_batch": True, "mcast_in0": True}
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(8, 8), **wide)
    with pytest.raises(RuntimeError, match="extends past the sub-device's worker bounding box"):
        ttnn.matmul(a, b, program_config=config, sub_device_id=ttnn.SubDeviceId(1))
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    for use in (device.load_sub_device_manager, device.remove_sub_device_manager):
        with pytest.raises(RuntimeError, match="does not exist"):
            use(manager)
