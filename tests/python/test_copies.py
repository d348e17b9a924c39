"""Tensors that are pickled and copied."""

import copy
import os
import pickle
import subprocess
import sys

import pytest
import ttnn

DTYPES = ["bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "int8", "bfloat8_b", "bfloat4_b"]


@pytest.fixture
def device():
    found = ttnn.open_device(device_id=0)
    yield found
    ttnn.close_device(found)


def ways(tensor):
    return pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor), copy.copy(tensor)


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_host_tensors(dtype, layout):
    if dtype.endswith("_b") and layout == ttnn.ROW_MAJOR_LAYOUT:
        pytest.skip("block floats are tiles")
    tensor = ttnn.arange(0, 48, dtype=ttnn.int32 if "int" in dtype else ttnn.float32).reshape([2, 3, 8])
    tensor = ttnn.to_dtype(ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT), ttnn.float32)
    tensor = ttnn.to_dtype(ttnn.to_layout(tensor, layout), getattr(ttnn, dtype))
    for other in ways(tensor):
        assert other.spec == tensor.spec and other.to_list() == tensor.to_list() and other is not tensor
        assert other.storage_type() == ttnn.StorageType.HOST


def test_device_tensors(device):
    """A pickle comes back on the host; a deep copy lies where the tensor lies, and has data of its own."""
    tensor = ttnn.full([64, 64], 2.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    pickled, deep, shallow = ways(tensor)
    assert pickled.storage_type() == ttnn.StorageType.HOST and pickled.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert deep.device() is device and deep.spec == tensor.spec and shallow.device() is device
    del shallow  # it keeps the data
    tensor.deallocate()
    assert deep.is_allocated() and deep.to_list() == pickled.to_list() == [[2.0] * 64] * 64
    with pytest.raises(RuntimeError, match="Tensor is not allocated"):
        pickle.dumps(tensor)
    with pytest.raises(TypeError, match="cannot pickle .*MeshDevice"):
        pickle.dumps(device)


MESH = """
import copy, pickle, ttnn
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
data = ttnn.Tensor([float(i) for i in range(8)], [4, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
tensor = ttnn.distribute_tensor(data, ttnn.ShardTensorToMesh(device, 0), device)
for other in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
    assert [part.to_list() for part in ttnn.get_device_tensors(other)] == [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]
    assert other.tensor_topology() == tensor.tensor_topology()
assert copy.deepcopy(tensor).device() is device
"""


def test_mesh_tensors(torch):
    subprocess.run([sys.executable, "-c", MESH], check=True, env={**os.environ, "TTNN_DEVICE": "n300"})


def test_in_other_things(device):
    """What holds tensors and operations is copied as a whole."""
    tensor = ttnn.ones([2, 2])
    whole = {"weights": [tensor, tensor], "activation": ttnn.relu, "where": ttnn.DRAM_MEMORY_CONFIG, "dtype": ttnn.bfloat8_b}
    for other in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert other["weights"][0] is other["weights"][1] and other["activation"] is ttnn.relu
        assert other["where"] == ttnn.DRAM_MEMORY_CONFIG and other["dtype"] == ttnn.bfloat8_b
