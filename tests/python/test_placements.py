"""How tensors and results are spread over a mesh, as the released library says."""

import array
import gzip
import pathlib
import sys

import pytest

import ttnn

DATA = pathlib.Path(__file__).parent.parent / "data/host"
sys.path.insert(0, str(DATA))
import record_placements  # noqa: E402


@pytest.mark.parametrize("mesh", ["1x1", "2x4", "1x8"])
def test_results_are_spread_as_recorded(mesh, monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "n150" if mesh == "1x1" else "t3k")
    theirs = [line for line in gzip.open(DATA / "placements.txt.gz", "rt").read().splitlines() if line.startswith(mesh)]
    ours = set(record_placements.lines(ttnn, mesh))
    assert len(theirs) > 500 and [line for line in theirs if line not in ours] == []


def test_mappers(monkeypatch, tmp_path):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    device = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    data = memoryview(array.array("f", range(64 * 256))).cast("B").cast("f", [64, 256])
    for mapper, expected in (
        (None, "8 R"),
        (ttnn.ReplicateTensorToMesh(device), "8 R"),
        (ttnn.ShardTensorToMesh(device, dim=1), "8 S1"),
        (ttnn.ShardTensor2dMesh(device, mesh_shape=(2, 4), dims=(None, 1)), "2,4 R S1"),
        (ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementShard(-1)])), "2,4 S0 S-1"),
    ):
        for place in (None, device):
            tensor = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=place, mesh_mapper=mapper)
            assert record_placements.text(ttnn, tensor) == (expected if mapper or place else "1 R")
            coordinates = tensor.tensor_topology().mesh_coords()
            assert list(map(tuple, coordinates)) == [(i // 4, i % 4) for i in range(8 if mapper or place else 1)]
        there = ttnn.empty(tensor.shape, dtype=tensor.dtype, layout=ttnn.TILE_LAYOUT, device=device)
        assert record_placements.text(ttnn, there) == "2,4 R R"
        ttnn.copy_host_to_device_tensor(tensor.cpu(), there)
        assert record_placements.text(ttnn, there) == expected
    parts = ttnn.get_device_tensors(tensor)
    assert parts[5].cpu().to_list() == ttnn.get_device_tensors(ttnn.combine_device_tensors(parts))[5].cpu().to_list()
    assert record_placements.text(ttnn, ttnn.combine_device_tensors(parts)) == "8 S0"
    with pytest.raises(RuntimeError, match="2 parts"):
        ttnn.combine_device_tensors(parts[:2])
    for part in (parts[5], parts[5].cpu()):  # a file has the part alone
        ttnn.dump_tensor(tmp_path / "part.tensorbin", part)
        assert ttnn.load_tensor(tmp_path / "part.tensorbin").to_list() == parts[5].cpu().to_list()
    with pytest.raises(RuntimeError, match="same mesh buffer"):
        ttnn.combine_device_tensors([parts[0], ttnn.get_device_tensors(ttnn.clone(tensor))[1]])
    with pytest.raises(RuntimeError, match="match mesh size"):
        ttnn.from_host_shards([part.cpu() for part in parts], ttnn.MeshShape(1, 4))
    assert record_placements.text(ttnn, ttnn.from_host_shards([part.cpu() for part in parts], ttnn.MeshShape(2, 4))) == "8 S0"
    ttnn.close_mesh_device(device)


def test_wrong_placements(device):
    tensor = ttnn.zeros([32, 32], device=device)
    for shape, dims in (([1000], [None]), ([1, 1, 1, 1, 1], [None] * 5), ([1], [100]), ([1], [None, None]), ([], [])):
        with pytest.raises((RuntimeError, ValueError)):
            placements = [ttnn.PlacementReplicate() if d is None else ttnn.PlacementShard(d) for d in dims]
            tensor.update_tensor_topology(ttnn.TensorTopology(ttnn.MeshShape(shape), placements, []))
    assert record_placements.text(ttnn, tensor) == "1 R"


def test_what_packets_arrive_in(monkeypatch):
    """The specs that the released library gives, and a tensor of one of them for point_to_point."""
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    device = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    spec_of = ttnn._ttnn.operations.point_to_point.p2p_compute_intermediate_tensor_spec
    places = [ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)]
    for shape, dtype, layout, expected in (
        ([1, 1, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, [1, 2048]),
        ([1, 1, 13, 16], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, [1, 208]),
        ([1, 1, 7, 5000], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, [35, 1100]),
        ([4, 8], ttnn.uint16, ttnn.ROW_MAJOR_LAYOUT, [1, 32]),
        ([1, 1, 512, 512], ttnn.float32, ttnn.TILE_LAYOUT, [256, 1024]),
        ([1, 1, 3, 9000], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, [15, 2048]),
    ):
        tensor = ttnn.ones(shape, dtype=dtype, layout=layout, device=device)
        spec = spec_of(tensor, *places, ttnn.Topology.Linear)
        assert list(spec.shape) == expected and (spec.dtype, spec.layout) == (dtype, layout)
        assert list(spec_of(tensor, places[0], places[0], ttnn.Topology.Ring).shape) == [1, 1]
        between = ttnn.allocate_tensor_on_device(spec, device)
        sent = ttnn.point_to_point(tensor, *places, topology=ttnn.Topology.Linear, intermediate_tensor=between)
        assert ttnn.get_device_tensors(sent)[1].cpu().to_list() == ttnn.get_device_tensors(tensor)[0].cpu().to_list()
    with pytest.raises(RuntimeError, match="datum for bfp2, bfp4, bfp8 is invalid"):
        spec_of(ttnn.ones([32, 32], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device), *places, ttnn.Topology.Linear)
    ttnn.close_mesh_device(device)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
