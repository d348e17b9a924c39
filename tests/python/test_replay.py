"""ttnn replay and ttnn repro: calls of a trace are made again, here or as programs of their own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ttnn

BUILD = Path(ttnn.__file__).resolve().parents[2]

PROGRAM = """
import ttnn
device = ttnn.open_device(device_id=0, l1_small_size=24576)
height = ttnn.create_sharded_memory_config((1, 1, 256, 64), core_grid=ttnn.CoreGrid(x=4, y=2), strategy=ttnn.ShardStrategy.HEIGHT)
a = ttnn.rand((1, 1, 256, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.rand((1, 1, 64, 96), dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)
s = ttnn.to_memory_config(a, height)
c = ttnn.add(s, s, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)], memory_config=height)
compute = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
d = ttnn.linear(a, b, activation="gelu", compute_kernel_config=compute, dtype=ttnn.float32)
e = ttnn.concat([a, a], dim=2)
f = ttnn.sum(ttnn.softmax(e, dim=-1), dim=[2, 3])
ids = ttnn.Tensor([5, 0, 3, 1] * 8, [1, 32], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
g = ttnn.embedding(ids, ttnn.rand((7, 32), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device))
h = ttnn.topk(a, 32, dim=-1)
i = ttnn.pad(ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT), [(0, 0), (0, 0), (1, 2), (0, 0)], float("-inf"))
j = ttnn.multiply_(ttnn.clone(a), 2.5)
"""


@pytest.fixture(scope="module")
def tool():
    found = BUILD / "ttnn" if (BUILD / "ttnn").is_file() else shutil.which("ttnn")
    if not found:
        pytest.skip("no ttnn command")
    return str(found)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    env = dict(os.environ, PYTHONPATH=str(BUILD / "python"), TTNN_TRACE=str(folder))
    subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=True)
    return next(folder.glob("*.ttrace"))


def run(*words, code=0, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout + done.stderr


def calls(tool, trace):
    return [json.loads(line) for line in run(tool, "replay", trace, "all", "--json").splitlines()]


@pytest.fixture(scope="module")
def made(tool, trace):
    """The calls of the trace, made again once for all tests."""
    return calls(tool, trace)


def test_all_calls_pass_again(tool, trace, made):
    done = made
    wrong = [call for call in done if call["outcome"] not in ("passed", "ran")]
    assert not wrong
    judged = {call["operation"] for call in done if call["outcome"] == "passed"}
    assert judged >= {
        f"ttnn.{name}"
        for name in ("to_memory_config", "add", "linear", "concat", "softmax", "sum", "embedding", "topk", "pad", "multiply_")
    }
    assert {call["operation"] for call in done if call["outcome"] == "ran"} == {"ttnn.rand"}  # it has no golden


def test_the_same_seed_gives_the_same(tool, trace, made):
    add = next(call for call in made if call["operation"] == "ttnn.linear")
    again = json.loads(run(tool, "replay", trace, add["call"], "--json"))
    other = json.loads(run(tool, "replay", trace, add["call"], "--json", "--seed", 2))
    assert again["pcc"] == add["pcc"] and again["error"] == add["error"]
    assert other["error"] != add["error"]


def test_one_call_in_words(tool, trace, made):
    linear = next(call for call in made if call["operation"] == "ttnn.linear")
    text = run(tool, "replay", trace, linear["call"])
    assert re.fullmatch(
        r" +\d+  passed   ttnn\.linear +  correlation [01]\.\d{6} \(0\.999\), largest difference [\d.e-]+, [\d.]+ ms\n", text
    )
    assert "is no number of a call" in run(tool, "replay", trace, "x", code=2)
    assert "there is none that runs an operation" in run(tool, "replay", trace, 100000, code=2)
    assert "left out" in run(tool, "replay", trace, "all", "--largest", 3000)


@pytest.mark.parametrize("name", ["add", "linear", "concat", "sum", "embedding", "topk", "pad", "multiply_"])
def test_a_program_of_its_own(tool, trace, name, tmp_path, made):
    number = next(call["call"] for call in made if call["operation"] == f"ttnn.{name}")
    run(tool, "repro", trace, number, "-o", tmp_path / "test_repro.py")
    env = dict(os.environ, PYTHONPATH=str(BUILD / "python"))
    assert f"ttnn.{name}: correlation" in run(sys.executable, tmp_path / "test_repro.py", env=env)
    compiler = shutil.which("cc") or shutil.which("gcc")
    library = BUILD / "libttnn.so"
    if not compiler or not library.exists() or "asan" in str(BUILD):
        return
    source = tmp_path / "repro.c"
    source.write_text(run(tool, "repro", trace, number, "--lang", "c"))
    include = Path(__file__).parents[2] / "include"
    run(compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{include}", source, "-o", tmp_path / "repro", library, "-lm")
    env["LD_LIBRARY_PATH"] = str(BUILD)
    assert "passed" in run(tmp_path / "repro", env=env)


MESH = """
import ttnn
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
a = ttnn.rand((1, 1, 64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh)
ttnn.matmul(a, ttnn.add(a, a))
ttnn.all_gather(a, dim=3)
"""


def test_a_mesh(tool, tmp_path):
    env = dict(os.environ, PYTHONPATH=str(BUILD / "python"), TTNN_TRACE=str(tmp_path), TTNN_DEVICE="n300")
    subprocess.run([sys.executable, "-c", MESH], env=env, check=True)
    found = {call["operation"]: call["outcome"] for call in calls(tool, next(tmp_path.glob("*.ttrace")))}
    assert found == {"ttnn.rand": "ran", "ttnn.add": "passed", "ttnn.matmul": "passed", "ttnn.all_gather": "passed"}


def test_what_cannot_be_judged_is_said(tool, trace):
    assert "ttnn.rand has no golden" in run(tool, "repro", trace, 1, code=2)


def test_a_recording_from_the_middle(tool, tmp_path):
    env = dict(os.environ, PYTHONPATH=str(BUILD / "python"), TTNN_TRACE=str(tmp_path), TTNN_TRACE_OPTIONS="first=4,count=3")
    subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=True)
    trace = next(tmp_path.glob("*.ttrace"))
    found = {call["call"] for call in calls(tool, trace)}
    assert found and found <= {4, 5, 6}
    assert {json.loads(line)["call"] for line in run(tool, "replay", trace, f"1-{2**64 - 1}", "--json").splitlines()} == found
    assert "has calls 4 to 6 alone" in run(tool, "replay", trace, "7-9", code=2)


def test_large_products_of_transposed_factors(tool, tmp_path):
    program = """
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.rand((1, 1, 256, 384), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.rand((1, 1, 320, 384), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
c = ttnn.rand((1, 1, 256, 512), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.linear(a, b, transpose_b=True)
ttnn.matmul(a, c, transpose_a=True)
"""
    env = dict(os.environ, PYTHONPATH=str(BUILD / "python"), TTNN_TRACE=str(tmp_path))
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    found = {call["operation"]: call["outcome"] for call in calls(tool, next(tmp_path.glob("*.ttrace")))}
    assert found == {"ttnn.rand": "ran", "ttnn.linear": "passed", "ttnn.matmul": "passed"}


@pytest.mark.parametrize("language, check", [("python", [sys.executable, "-m", "py_compile"]), ("c", ["cc", "-fsyntax-only", "-std=c17", "-x", "c"])])
def test_a_name_is_only_a_name(tool, trace, tmp_path, language, check):
    odd = tmp_path / 'a"""\n*' / 'x"""*' "\n"
    odd.parent.mkdir()
    shutil.copy(trace, odd)
    if language == "c":
        if not shutil.which("cc"):
            pytest.skip("no compiler")
        check = [*check, "-I", str(Path(__file__).parents[2] / "include")]
    number = next(call["call"] for call in calls(tool, odd) if call["operation"] == "ttnn.add")
    run(tool, "repro", odd, number, "--lang", language, "-o", tmp_path / "repro")
    run(*check, tmp_path / "repro")
