"""What programs tell profilers: zones, messages and signposts under Tracy's names, the lines of calls, replays."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest

import ttnn

TTNN = pathlib.Path(ttnn.__file__).resolve().parents[2] / "ttnn"
WORK = """
import threading
import tracy, ttnn
from tracy import Profiler, signpost
from tracy.common import PROFILER_ARTIFACTS_DIR, PROFILER_LOGS_DIR

device = ttnn.open_device(device_id=0)
a = ttnn.ones((64, 64), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
signpost("run: 1", "and more")
signpost("start")
def forward(x):
    y = ttnn.add(x, x)  # line 12
    return y + x
profiler = Profiler()
profiler.enable()
forward(a)
profiler.disable()
ttnn.start_tracy_zone(source="f.py", functName="one", lineNum=3)
ttnn.start_tracy_zone("f.py", "two", 4, 0xFF)
assert ttnn.stop_tracy_zone("renamed", 5) is False
thread = threading.Thread(target=lambda: print(ttnn.stop_tracy_zone()))  # has none of its own
thread.start()
thread.join()
assert ttnn.stop_tracy_zone() is True
assert ttnn.stop_tracy_zone() is True
ttnn.tracy_message("MLIR_OP_LOCATION;loc(a;b)")
trace = ttnn.begin_trace_capture(device)
b = ttnn.add(a, a)
ttnn.end_trace_capture(device, trace)
for i in range(3):
    ttnn.execute_trace(device, trace)
ttnn.tracy_message("plain")
ttnn.tracy_frame()
ttnn.close_device(device)
"""


def run(tmp_path, text, options):
    (tmp_path / "work.py").write_text(text)
    environment = dict(os.environ, TTNN_TRACE=str(tmp_path / "traces"), TTNN_TRACE_OPTIONS=options)
    subprocess.run([sys.executable, "work.py"], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    (trace,) = (tmp_path / "traces").glob("*.ttrace")
    shown = subprocess.run([TTNN, "show", "--info", "--json", trace], check=True, capture_output=True, text=True)
    return trace, json.loads(shown.stdout)["kinds"]


@pytest.mark.skipif(not TTNN.exists(), reason="without the program ttnn")
def test_what_is_told(tmp_path):
    trace, kinds = run(tmp_path, WORK, "profile")
    # Two of ours, and those of functions that Profiler saw: forward() at least.
    assert kinds["zone_begin"] == kinds["zone_end"] >= 3
    assert kinds["mark"] == 5
    assert kinds["metal_trace"] == 2 + 2 * 3
    assert kinds["program_run"] == 2 + 3 and kinds["program"] == 3
    assert kinds["place"] == 4  # ones and three additions
    report = tmp_path / "report.csv"
    subprocess.run([TTNN, "export", "csv", trace, "-o", report], check=True)
    with report.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["OP CODE"], row["ATTRIBUTES"]) for row in rows if row["OP TYPE"] == "signpost"] == [
        ("run: 1", "and more"),
        ("start", ""),
    ]
    adds = [row for row in rows if row["OP CODE"] == "BinaryNgDeviceOperation"]
    assert [row["METAL TRACE REPLAY SESSION ID"] for row in adds] == ["", "", "", "1", "2", "3"]
    assert "work.py" in adds[0]["LOC"] and ":12:" in adds[0]["LOC"]
    assert all(row["LOC"] == "loc(a;b)" for row in adds[2:])
    assert all(row["CORE COUNT"] == "4" for row in adds if row["DEVICE KERNEL DURATION [ns]"])


@pytest.mark.skipif(not TTNN.exists(), reason="without the program ttnn")
def test_a_recording_that_is_no_profile(tmp_path):
    _, kinds = run(tmp_path, WORK, "")
    assert not {"program_run", "place", "metal_trace"} & kinds.keys()
    assert kinds["zone_begin"] == 2 and kinds["mark"] == 5


def test_refusals():
    for arguments in ((), ("f.py", "f"), ("f.py", 3, 3), ("f.py", "f", "3")):
        with pytest.raises(TypeError):
            ttnn.start_tracy_zone(*arguments)
    with pytest.raises(TypeError):
        ttnn.tracy_message(5)
    assert ttnn.stop_tracy_zone("x") is True
