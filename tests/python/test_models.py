"""Whole models, as users write them: their numbers against the same models in torch, their memory and
their programs against those of ttnn 0.81.1."""

import gzip
import json
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import in_torch
import models
import ttnn

RECORDED = json.loads(gzip.decompress((pathlib.Path(__file__).parents[1] / "data/python/models.json.gz").read_bytes()))


def flat(value):
    return [inner for v in value for inner in flat(v)] if isinstance(value, (list, tuple)) else [value]


def blocks(device):
    """The allocated blocks of every memory: [address, size]."""
    kinds = {name: getattr(ttnn.BufferType, name) for name in ("DRAM", "L1", "L1_SMALL")}
    tables = {name: ttnn.get_memory_view(device, kind).block_table for name, kind in kinds.items()}
    return {name: sorted([int(b["address"]), int(b["size"])] for b in table if b["allocated"] == "yes") for name, table in tables.items()}


def described(tensor):
    if isinstance(tensor, torch.Tensor):
        return {"torch": list(tensor.shape)}
    return {
        "shape": list(tensor.shape),
        "padded_shape": list(tensor.padded_shape),
        "dtype": str(tensor.dtype),
        "layout": str(tensor.layout),
        "memory_config": str(tensor.memory_config()),
        "address": tensor.buffer_address(),
    }


@pytest.fixture
def opened(request):
    """(forward pass here, the same in torch, device) of the model that a test names."""
    function, options = models.MODELS[request.param]
    device = ttnn.open_device(device_id=0, **options)
    with torch.no_grad():
        torch.manual_seed(0)
        here = function(ttnn, torch, device)
        torch.manual_seed(0)
        yield request.param, device, here, function(in_torch, torch, device)
    ttnn.close_device(device)


@pytest.mark.parametrize("opened", [name for name in models.MODELS if "error" not in RECORDED[name]], indirect=True)
def test_model(opened, monkeypatch):
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")
    name, device, here, there = opened
    recorded = RECORDED[name]
    assert blocks(device) == recorded["before"]
    results = here()
    assert blocks(device) == recorded["after"]
    assert [described(r) for r in flat(results)] == flat(recorded["outputs"])
    assert device.num_program_cache_entries() == recorded["cache_entries"]
    for ours, theirs in zip(flat(results), flat(there())):
        assert ttnn.pearson_correlation_coefficient(theirs.reshape(tuple(ours.shape)), ours) > 0.999
    again = device.num_program_cache_entries()
    here()
    assert device.num_program_cache_entries() == again  # the same programs


REFUSED = """
import sys, torch, ttnn
sys.path.insert(0, sys.argv[1])
import models
function, options = models.MODELS[sys.argv[2]]
forward = function(ttnn, torch, ttnn.open_device(device_id=0, **options))
try:
    forward()
except RuntimeError as e:
    print(str(e).split("info:\\n")[1], end="")
"""


@pytest.mark.parametrize("name", [name for name in models.MODELS if "error" in RECORDED[name]])
def test_refused(name):
    """At the same program, with the same text: programs are counted from the start of a process."""
    here = str(pathlib.Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", REFUSED, here, name], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == RECORDED[name]["error"]
