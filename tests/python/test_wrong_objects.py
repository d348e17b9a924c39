"""Objects of the wrong kind, and bytes that are no text: an error in words, never one of the inside."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
import ttnn

WRONG = [5, "x", None, object(), [1], {}, ttnn.bfloat16, lambda: 1]


# ---- mappers and composers --------------------------------------------------------------------------------

PLACES = {
    "ReplicateTensorToMesh": lambda wrong, device: ttnn.ReplicateTensorToMesh(wrong),
    "ShardTensorToMesh": lambda wrong, device: ttnn.ShardTensorToMesh(wrong, 0),
    "ShardTensor2dMesh": lambda wrong, device: ttnn.ShardTensor2dMesh(wrong, dims=(0, 1)),
    "ConcatMeshToTensor": lambda wrong, device: ttnn.ConcatMeshToTensor(wrong, 0),
    "ConcatMesh2dToTensor": lambda wrong, device: ttnn.ConcatMesh2dToTensor(wrong, dims=(0, 1)),
    "create_mesh_mapper": lambda wrong, device: ttnn.create_mesh_mapper(device, wrong),
    "create_mesh_composer": lambda wrong, device: ttnn.create_mesh_composer(device, wrong),
    "MeshMapperConfig": lambda wrong, device: ttnn.MeshMapperConfig([wrong, wrong]),
    "get_device_tensors": lambda wrong, device: ttnn.get_device_tensors(wrong),
    "from_host_shards": lambda wrong, device: ttnn.from_host_shards([wrong, wrong], ttnn.MeshShape(1, 2)),
    "combine_device_tensors": lambda wrong, device: ttnn.combine_device_tensors([wrong]),
    "visualize_tensor": lambda wrong, device: ttnn.visualize_tensor(wrong),
    "update_tensor_topology": lambda wrong, device: ttnn.zeros([2]).update_tensor_topology(wrong),
    "dims of a mapper": lambda wrong, device: ttnn.ShardTensor2dMesh(device, dims=(wrong or "", "x")),
    "dims of a composer": lambda wrong, device: ttnn.ConcatMesh2dToTensor(device, dims=(wrong or "", "")),
    "mesh_shape": lambda wrong, device: ttnn.ConcatMesh2dToTensor(device, [wrong], dims=("", 0)),
}


@pytest.fixture(scope="module")
def device():
    found = ttnn.open_device(device_id=0)
    yield found
    ttnn.close_device(found)


@pytest.mark.parametrize("place", PLACES)
def test_mappers_and_composers(place, device):
    for wrong in WRONG:
        with pytest.raises(TypeError, match="must be"):
            PLACES[place](wrong, device)


@pytest.mark.parametrize("wrong", [w for w in WRONG if w is not None], ids=lambda w: type(w).__name__)
def test_given_to_operations(wrong, device, torch):
    tensor = ttnn.from_torch(torch.ones(2, 2), device=device)
    with pytest.raises(TypeError, match="mesh_mapper must be a mapper to a mesh, not " + type(wrong).__name__):
        ttnn.from_torch(torch.ones(2, 2), device=device, mesh_mapper=wrong)
    for take in (ttnn.to_torch, ttnn.Tensor.to_torch, ttnn.Tensor.to_numpy):
        with pytest.raises(TypeError, match="mesh_composer must be a composer from a mesh, not " + type(wrong).__name__):
            take(tensor, mesh_composer=wrong)


# ---- golden functions -------------------------------------------------------------------------------------


def test_arguments_of_goldens():
    """Those of every operation, missing, too many, twice or of another kind: never an error of the inside."""
    random.seed(2)
    given = [None, "x", 5, [], ttnn.bfloat16]
    for operation in ttnn.query_registered_operations(include_experimental=True):
        names = sorted({name for text in getattr(operation, "signatures", ()) for name in re.findall(r"(\w+):", text)})
        try:
            golden = ttnn.get_golden_function(operation)
        except RuntimeError:
            continue
        for turn in range(8):
            args = [random.choice(given) for _ in range(turn and random.randrange(4))]
            kwargs = {name: random.choice(given) for name in random.sample(names, min(len(names), turn and random.randrange(3)))}
            try:
                golden(*args, **kwargs)
            except (TypeError, ValueError, RuntimeError):
                pass
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            golden(reduction="no")


# ---- the environment --------------------------------------------------------------------------------------

USED = """
import ttnn
device = ttnn.open_device(device_id=0)
tensor = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
ttnn.add(tensor, tensor)
repr(ttnn.CONFIG)
"""


def run(code, folder, **variables):
    environment = {**os.environb, **{name.encode(): value for name, value in variables.items()}}
    return subprocess.run([sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, timeout=120)


def variables():
    """All of the library, and others that the package reads."""
    beside = os.path.join(os.path.dirname(ttnn.__file__), "..", "..", "ttnn")
    text = subprocess.run([beside, "help", "environment"], capture_output=True, text=True).stdout if os.path.exists(beside) else ""
    return sorted({*re.findall(r"\bTT\w+_\w+", text), "HOME", "TTNN_CONFIG_PATH", "TTNN_DEVICE", "TTNN_MASTER_JSON_PATH", "TT_METAL_CACHE"})


@pytest.mark.parametrize("name", variables())
def test_bytes_that_are_no_text(name, tmp_path):
    ran = run(USED, tmp_path, **{name: b"\xff\xfe"})
    last = (ran.stderr.decode("utf-8", "backslashreplace").strip().splitlines() or [""])[-1]
    assert ran.returncode == 0 or re.match(r"(Value|Runtime)Error: ", last), last
    assert ran.returncode == 0 or name in last or r"\xff\xfe" in last, last


@pytest.mark.parametrize("name", ["TTNN_CONFIG_PATH", "TTNN_DEVICE"])
def test_a_file_without_an_end(name, tmp_path):
    ran = run(USED, tmp_path, **{name: b"/dev/zero"})
    assert ran.returncode == 1
    assert b"RuntimeError: /dev/zero: cannot read: it is no file but a device, and gives more than 16 MB" in ran.stderr


@pytest.mark.parametrize("name", ["TTNN_CONFIG_PATH", "TTNN_DEVICE"])
def test_a_fifo_that_nobody_writes_to(name, tmp_path):
    """Ctrl-C ends the wait."""
    os.mkfifo(tmp_path / "fifo")
    process = subprocess.Popen(
        [sys.executable, "-c", USED], env={**os.environ, name: str(tmp_path / "fifo")}, stderr=subprocess.PIPE, text=True
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]


@pytest.mark.parametrize("text", [b"{", b"[1]", b"\xff", b"5"])
def test_a_file_of_something_else(text, tmp_path):
    (tmp_path / "config.json").write_bytes(text)
    ran = run("import ttnn", tmp_path, TTNN_CONFIG_PATH=b"config.json")
    assert re.search(r"ValueError: config.json (is no JSON|holds no members of ttnn.CONFIG)", ran.stderr.decode()), ran.stderr
