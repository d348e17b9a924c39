"""ttnn export tracy, perfetto and chrome: read back by readers that are written from the formats' descriptions."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tracy_reader import Tracy

BUILD = os.path.dirname(os.environ["PYTHONPATH"].split(os.pathsep)[0])
TTNN = os.path.join(BUILD, "ttnn")

WORKLOAD = """
import sys, threading, tracy, ttnn
device = ttnn.open_device(device_id=0)
make = lambda: ttnn.full((32, 64), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
def work(count):
    a = make()
    for i in range(count):
        b = ttnn.multiply(ttnn.add(a, a), a)
threads = [threading.Thread(target=work, args=(5 + i,)) for i in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
tracy.signpost("half", "way")
ttnn.start_tracy_zone("file.py", "function", 7)
ttnn.full((32, 32), 1.0, device=device, layout=ttnn.TILE_LAYOUT)
ttnn.stop_tracy_zone("named at the end")
ttnn.tracy_message("a line")
ttnn.tracy_frame()
try:
    ttnn.matmul(make(), make())
except Exception:
    pass
"""
ADDS = 5 + 6 + 7 + 8


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timelines")
    env = {**os.environ, "TTNN_TRACE": str(folder), "TTNN_TRACE_OPTIONS": "profile"}
    (folder / "workload.py").write_text(WORKLOAD)
    for _ in range(2):
        subprocess.run([sys.executable, folder / "workload.py"], env=env, check=True)
    return sorted(str(path) for path in folder.glob("*.ttrace"))


def run(*arguments):
    return subprocess.run([TTNN, *arguments], check=True, capture_output=True).stdout


def shown(traces):
    """Calls and microseconds of each operation, as `ttnn show` has them."""
    rows = collections.defaultdict(lambda: [0, 0.0])
    for trace in traces:
        for line in run("show", trace).decode().splitlines()[1:]:
            name, calls, total, _ = line.split()
            rows[name][0] += int(calls)
            rows[name][1] += float(total)
    return rows


def compare(traces, zones):
    """That zones (name, nanoseconds) are the operations that `ttnn show` has, with their times."""
    rows = collections.defaultdict(lambda: [0, 0])
    for name, duration in zones:
        rows[name][0] += 1
        rows[name][1] += duration
    expected = shown(traces)
    assert expected["ttnn::add"][0] >= ADDS * len(traces)
    for name, (calls, total) in expected.items():
        assert rows[name][0] == calls, name
        assert abs(rows[name][1] / 1000 - total) <= 0.06 * len(traces), name


# ---- Tracy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.11.0", "0.10"])
def test_tracy(traces, version):
    tracy = Tracy(run("export", "tracy", "--tracy-version", version, traces[0]))
    assert tracy.version == (0, int(version.split(".")[1]), 0)
    zones = [zone for rows in tracy.threads.values() for zone in rows]
    compare(traces[:1], [(zone.name, zone.end - zone.begin) for zone in zones])
    assert len([rows for rows in tracy.threads.values() if rows]) == 5
    assert {"input_tensor_a: [32, 64] BFLOAT16 TILE DRAM\ninput_tensor_b: [32, 64] BFLOAT16 TILE DRAM"} == {
        zone.text for zone in zones if zone.name == "ttnn::multiply"
    }
    programs = tracy.devices["Device 0"]["programs"]
    assert collections.Counter(zone.name for zone in programs)["BinaryNgDeviceOperation"] == 2 * ADDS
    assert all(a.end <= b.begin for a, b in zip(programs, programs[1:]))
    (plot,) = tracy.plots.items()
    assert plot[0] == "Device 0: DRAM in use" and plot[1][0][1] == 4096
    (zone,) = [zone for zone in zones if zone.name == "named at the end"]
    assert (zone.function, zone.file, zone.line, zone.depth) == ("function", "file.py", 7, 0)
    assert "ttnn::full" in {row.name for row in zones if zone.begin <= row.begin and row.end <= zone.end}
    texts = [message.text for message in tracy.messages.values()]
    assert texts[:2] == ["`TT_SIGNPOST: half\nway`", "a line"] and len(tracy.frames) == 2 and len(texts) == 3
    assert {(os.path.basename(zone.file), zone.line) for zone in zones if zone.name == "ttnn.add"} == {("workload.py", 8)}
    assert tracy.messages and sum(map(len, tracy.thread_messages.values())) == len(tracy.messages)
    assert tracy.last >= max(zone.end for zone in zones) and tracy.program


def test_tracy_of_two_processes(traces):
    tracy = Tracy(run("export", "tracy", *traces))
    zones = [zone for rows in tracy.threads.values() for zone in rows]
    compare(traces, [(zone.name, zone.end - zone.begin) for zone in zones])
    assert len(tracy.devices) == 2 and len(tracy.threads) == 10


def test_tracy_cores_and_levels(traces):
    tracy = Tracy(run("export", "tracy", "--cores", "--levels", "1", traces[0]))
    assert {zone.depth for rows in tracy.threads.values() for zone in rows} == {0}
    assert "core 0,0" in tracy.devices["Device 0"]


# ---- Chrome --------------------------------------------------------------------------------------------------


def nested(events):
    """Pairs of begin and end of each track: (track, begin, microseconds)."""
    open_zones, last = collections.defaultdict(list), collections.defaultdict(float)
    for event in events:
        track = event["pid"], event["tid"]
        if event["ph"] == "B":
            open_zones[track].append(event)
        elif event["ph"] == "E":
            begin = open_zones[track].pop()
            assert last[track] <= event["ts"] and begin["ts"] <= event["ts"]
            last[track] = event["ts"]
            yield track, begin, event["ts"] - begin["ts"]
    assert not any(open_zones.values())


def test_chrome(traces):
    events = json.loads(run("export", "chrome", *traces))["traceEvents"]
    zones = list(nested(events))
    compare(traces, [(begin["name"], 1000 * duration) for _, begin, duration in zones])
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    assert len(names) == 4 and sum(name.startswith("Device 0 of ") for name in names.values()) == 2
    programs = [begin for (pid, _), begin, _ in zones if begin["name"] == "BinaryNgDeviceOperation" and pid >= 900000]
    assert len(programs) == 4 * ADDS and programs[0]["args"]["id"] == 1024 and programs[0]["args"]["kernel_ns"] > 0
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 4 * ADDS
    for flow, start in starts.items():
        assert start["pid"] != ends[flow]["pid"]
    assert {event["name"] for event in events if event["ph"] == "C"} == {"DRAM in use"}
    marks = [(event["cat"], event["s"]) for event in events if event["ph"] == "i"]
    assert sorted(marks) == 2 * [("error", "t")] + 2 * [("frame", "g")] + 2 * [("message", "t")] + 2 * [("signpost", "g")]


def test_chrome_memory_is_that_of_show(traces):
    events = json.loads(run("export", "chrome", traces[0]))["traceEvents"]
    peak = max(event["args"]["bytes"] for event in events if event["ph"] == "C")
    table = [line.split() for line in run("show", "--memory", traces[0]).decode().splitlines()[1:]]
    assert peak == max(int(row[-2]) for row in table)


# ---- Perfetto ------------------------------------------------------------------------------------------------


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """Protobuf: (field, number or bytes) of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at : at + 8], "little"), at + 8
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value
    assert at == len(data)


def test_perfetto(traces):
    names, tracks, open_zones, zones = {}, {}, collections.defaultdict(list), []
    flows, ended = set(), set()
    for packet_field, packet in fields(run("export", "perfetto", *traces)):
        assert packet_field == 1
        packet = dict(fields(packet))
        if 60 in packet:
            track = dict(fields(packet[60]))
            assert track[1] not in tracks and track.get(5, next(iter(tracks), 0)) in {0, *tracks}
            tracks[track[1]] = track
            continue
        for key, entry in fields(packet.get(12, b"")):
            entry = dict(fields(entry))
            if key == 2:
                names[entry[1]] = entry[2].decode()
        event = list(fields(packet[11]))
        one = dict(event)
        if one[9] == 1:
            open_zones[one[11]].append((names[one[10]], packet[8]))
            ended |= {value for key, value in event if key == 48}
        elif one[9] == 2:
            name, begin = open_zones[one[11]].pop()
            assert begin <= packet[8]
            zones.append((name, packet[8] - begin))
        elif one[9] == 3:
            flows |= {value for key, value in event if key == 47}
        else:
            assert one[9] == 4 and 8 in tracks[one[11]]
    assert not any(open_zones.values())
    compare(traces, zones)
    assert flows == ended and len(flows) == 4 * ADDS
    assert sum(3 in track for track in tracks.values()) == 4


@pytest.mark.skipif(not shutil.which("protoc"), reason="no protoc: apt-get install protobuf-compiler")
def test_perfetto_is_protobuf(traces):
    text = subprocess.run(["protoc", "--decode_raw"], input=run("export", "perfetto", traces[0]), capture_output=True, check=True)
    assert len(re.findall(rb"^1 \{", text.stdout, re.M)) > 100


# ---- faults --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["tracy", "perfetto", "chrome"])
def test_full_disk(traces, format):
    done = subprocess.run([TTNN, "export", format, "-o", "/dev/full", traces[0]], capture_output=True, text=True)
    assert done.returncode == 2 and "No space left" in done.stderr


@pytest.mark.parametrize("format", ["tracy", "perfetto", "chrome"])
def test_cut_and_foreign(traces, format, tmp_path):
    cut = tmp_path / "cut.ttrace"
    with open(traces[0], "rb") as whole:
        cut.write_bytes(whole.read()[:-2000])
    done = subprocess.run([TTNN, "export", format, "-o", tmp_path / "out", cut], capture_output=True, text=True)
    assert done.returncode == 0 and "not complete" in done.stderr
    foreign = tmp_path / "graph.json"
    foreign.write_text("[]")
    done = subprocess.run([TTNN, "export", format, foreign], capture_output=True, text=True)
    assert done.returncode != 0 and "timelines are made of traces alone" in done.stderr
