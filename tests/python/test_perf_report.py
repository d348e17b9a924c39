"""tt-perf-report, from PyPI, on reports of real runs of ours: every cell it has is the one that `ttnn show --profile` has."""

import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TTNN = ROOT / os.environ.get("OUT", "build") / "ttnn"
TOOL = pathlib.Path(sys.executable).parent / "tt-perf-report"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL.exists(), reason="there is no tt-perf-report beside this Python"),
]

WORKLOAD = """
import sys
sys.path.insert(0, sys.argv[2])
import torch, ttnn, models

torch.manual_seed(0)
if sys.argv[1] == "add":
    device = ttnn.open_device(device_id=0)
    a, b = (ttnn.from_torch(torch.rand(256, 256), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
    ttnn.add(a, b)
else:
    make, options = models.MODELS[sys.argv[1]]
    device = ttnn.open_device(device_id=0, **options)
    make(ttnn, torch, device)()
ttnn.close_device(device)
"""

NUMBERS = {
    "Total %": "total_percent", "Device": "device", "Device Time": "device_us", "Op-to-Op Gap": "gap_us", "Cores": "cores",
    "Available Cores": "available_cores", "DRAM": "dram_gb_s", "DRAM %": "dram_percent", "FLOPs": "tflops", "FLOPs %": "flops_percent",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """recorded(name): the trace of a run, made once."""
    torch = pytest.importorskip("torch")
    assert torch
    folder = tmp_path_factory.mktemp("runs")

    def run(name):
        into = folder / name
        if not into.exists():
            environment = dict(os.environ, TTNN_TRACE=str(into), TTNN_TRACE_OPTIONS="profile")
            subprocess.run([sys.executable, "-c", WORKLOAD, name, str(ROOT / "tests/python")], env=environment, check=True)
        return sorted(into.glob("*.ttrace"))

    return run


def export(traces, path, dialect):
    subprocess.run([TTNN, "export", "csv", "--dialect", dialect, "-o", path, *traces], check=True)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def tool(*arguments, folder):
    environment = dict(os.environ, MPLCONFIGDIR=str(folder), MPLBACKEND="Agg")
    return subprocess.run([TOOL, *arguments, "--no-color", "--ignore-signposts"], capture_output=True, text=True, check=True, env=environment).stdout


def number(text):
    return float(text) if text not in ("", "nan") else None


def identities(rows, mhz):
    """What holds of every row of every report from a card."""
    devices = set()
    for row in rows:
        value = {name: number(row[name]) for name in row if "[ns]" in name or "CYCLE" in name or " TS" in name}
        assert value["HOST END TS"] == value["HOST START TS"] + value["HOST DURATION [ns]"]
        assert int(row["GLOBAL CALL COUNT"]) % 1024 == int(row["DEVICE ID"])
        cycles = value["DEVICE FW END CYCLE"] - value["DEVICE FW START CYCLE"]
        assert value["DEVICE FW DURATION [ns]"] == round(cycles * 1000 / mhz)
        kernel = value["DEVICE KERNEL DURATION [ns]"]
        assert 0 < kernel <= value["DEVICE FW DURATION [ns]"] + 1
        least, most, mean = (value[f"DEVICE KERNEL DURATION PER CORE {word} [ns]"] for word in ("MIN", "MAX", "AVG"))
        assert least <= mean <= most <= kernel
        assert number(row["PM FPU UTIL (%)"]) == round(100 * value["PM COMPUTE [ns]"] / kernel, 3)
        assert value["PM IDEAL [ns]"] == max(value["PM COMPUTE [ns]"], value["PM BANDWIDTH [ns]"])
        assert 0 < int(row["CORE COUNT"]) <= int(row.get("AVAILABLE WORKER CORE COUNT") or 64)
        assert (value["OP TO OP LATENCY [ns]"] == 0) == (row["DEVICE ID"] not in devices) or value["OP TO OP LATENCY [ns]"] == 0
        devices.add(row["DEVICE ID"])
        assert row["MATH FIDELITY"] in ("LoFi", "HiFi2", "HiFi3", "HiFi4", "")
        for name in row:
            assert name == "LOC" or "," not in row[name]
            assert "RISC" not in name or row[name] == "", name
    starts = [int(row["HOST START TS"]) for row in rows]
    assert starts == sorted(starts)


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
@pytest.mark.parametrize("name, least", [("add", 1), ("mlp", 10), ("efficientnet_b0", 300)])
def test_cells(recorded, tmp_path, name, least, dialect):
    path = tmp_path / "report.csv"
    rows = export(recorded(name), path, dialect)
    assert len(rows) >= least
    identities(rows, 1000)
    tool(path, "--no-merge-devices", "--raw-op-codes", "--csv", tmp_path / "rows.csv", "--no-summary", folder=tmp_path)
    theirs = list(csv.DictReader(open(tmp_path / "rows.csv", newline="")))
    ours = json.loads(subprocess.run([TTNN, "show", "--profile", "--json", path], capture_output=True, check=True).stdout)["rows"]
    assert len(theirs) == len(ours) == len(rows)
    for their, our, row in zip(theirs, ours, rows):
        assert int(their["ID"]) == our["id"]
        assert their["Raw OP Code"] == our["op_code"] == row["OP CODE"]
        assert number(their["Global Call Count"]) == int(row["GLOBAL CALL COUNT"])
        # Blank cells would be cells that a column is missing for.
        assert math.isclose(float(their["Device Time"]), int(row["DEVICE KERNEL DURATION [ns]"]) / 1000)
        for column, key in NUMBERS.items():
            a, b = number(their[column]), our[key]
            assert (a is None) == (b is None), (column, a, b)
            assert a is None or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12), (column, a, b)
        assert (their["Bound"], their["Op Category"]) == (our["bound"], our["category"])
        if "Matmul" in row["OP CODE"]:
            assert their["Bound"] and their["FLOPs"] and our["advice"].startswith(their["Advice"])
        if "Conv2d" in row["OP CODE"]:
            assert float(their["FLOPs"]) > 0
    assert math.isclose(sum(float(r["Total %"]) for r in theirs if r["Total %"]), 100, rel_tol=1e-9)


@pytest.mark.parametrize("name", ["add", "mlp", "efficientnet_b0"])
def test_summary_and_advice(recorded, tmp_path, name):
    path = tmp_path / "report.csv"
    rows = export(recorded(name), path, "tt-metal")
    printed = tool(path, folder=tmp_path)
    for section in ("Performance Report", "Advice", "Stacked report"):
        assert section.lower() in printed.lower(), printed[-2000:]
    assert f"{len(rows)} device ops, 0 host ops, 0 signposts" in printed
    assert "invalid device durations" not in printed
    tool(path, "--csv", tmp_path / "rows.csv", "--summary-file", tmp_path / "sum", folder=tmp_path)
    summary = list(csv.DictReader(open(tmp_path / "sum.csv", newline="")))
    total = sum(int(row["DEVICE KERNEL DURATION [ns]"]) for row in rows) / 1000
    assert math.isclose(sum(float(row["Device Time Sum [μs]"]) for row in summary), total, abs_tol=0.01 * len(summary))  # two decimals
    assert sum(int(row["Op Count"]) for row in summary) == len(rows)


# The row of the documentation's example: what is no time, hash, byte count or path.
ADD = {
    "OP CODE": "BinaryNgDeviceOperation", "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": "1024", "DEVICE ID": "0",
    "ATTRIBUTES": "{'binary_op_type': 'BinaryOpType::ADD'; 'compute_kernel_config': 'std::nullopt'; 'dtype': 'DataType::FLOAT32'; "
                  "'input_dtype': 'DataType::FLOAT32'; 'is_quant_op': 'false'; 'is_sfpu': 'true'; 'lhs_activations': 'SmallVector([])'; "
                  "'memory_config': 'MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED;buffer_type=BufferType::DRAM;"
                  "shard_spec=std::nullopt;nd_shard_spec=std::nullopt;created_with_nd_shard_spec=0)'; 'post_activations': 'SmallVector([])'; "
                  "'rhs_activations': 'SmallVector([])'; 'scalar': 'std::nullopt'; 'subtile_broadcast_type': 'SubtileBroadcastType::NONE'; "
                  "'worker_grid': '{[(x=0;y=0) - (x=7;y=7)]}'}",
    "MATH FIDELITY": "HiFi4", "CORE COUNT": "64", "PARALLELIZATION STRATEGY": "", "OP TO OP LATENCY [ns]": "0",
    "DEVICE ERISC KERNEL DURATION [ns]": "", "DEVICE COMPUTE CB WAIT FRONT [ns]": "", "DEVICE COMPUTE CB RESERVE BACK [ns]": "",
    "DISPATCH TOTAL CQ CMD OP TIME [ns]": "", "DISPATCH GO SEND WAIT TIME [ns]": "", "METAL TRACE ID": "", "METAL TRACE REPLAY SESSION ID": "",
    "PM IDEAL [ns]": "1", "PM COMPUTE [ns]": "1", "PM BANDWIDTH [ns]": "1", "PM REQ I BW": "[]", "PM REQ O BW": "[]", "NOC UTIL (%)": "",
    "DRAM BW UTIL (%)": "", "NPE CONG IMPACT (%)": "", "CONST_EVAL_OP": "false", "PROGRAM_METADATA": "",
    **{f"{tensor}_{what}": text for tensor in ("INPUT_0", "INPUT_1", "OUTPUT_0") for what, text in
       {"W": "1", "Z": "1", "Y": "256", "X": "256", "LAYOUT": "TILE", "DATATYPE": "FLOAT32", "MEMORY": "DEV_1_DRAM_INTERLEAVED"}.items()},
}


def test_the_row_of_an_addition(recorded, tmp_path):
    (row,) = export(recorded("add"), tmp_path / "report.csv", "seed")
    assert len(row) == 77
    assert {name: row[name] for name in ADD} == ADD
    assert re.fullmatch(r'loc\(fused\["[^"]*":\d+:0, "add"\]\)', row["LOC"])
