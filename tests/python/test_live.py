"""Viewers that attach to a running program: by a viewer of our own, which knows Tracy's protocol from its description."""

import collections
import os
import socket
import struct
import subprocess
import sys
import time

import pytest

import tracy_viewer
from test_timelines import ADDS, TTNN, WORKLOAD, shown
from tracy_viewer import Viewer


@pytest.fixture
def port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def start(port, program=WORKLOAD, **variables):
    env = {**os.environ, "TTNN_LIVE": str(port), **variables}
    return subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True)


REPLAYS = """
captured = ttnn.begin_trace_capture(device)
c = ttnn.add(kept, kept)
ttnn.end_trace_capture(device, captured)
for i in range(2):
    ttnn.execute_trace(device, captured)
ttnn.tracy_message("long " * 100, 0x123456)
"""
EVERYTHING = WORKLOAD.replace("threads = ", "kept = make()\nthreads = ", 1) + REPLAYS


def by_protocol(protocol):
    marks = () if protocol in (64, 66, 82) else pytest.mark.slow  # the others differ in numbers alone
    return pytest.param(protocol, marks=marks)


@pytest.mark.parametrize("protocol", list(map(by_protocol, tracy_viewer.PROTOCOLS)))
def test_every_zone_of_four_threads(port, tmp_path, protocol):
    process = start(port, EVERYTHING, TRACY_NO_EXIT="1", TTNN_TRACE=str(tmp_path), TTNN_TRACE_OPTIONS="profile")
    viewer = Viewer(port, protocol)
    assert viewer.status == 1 and not viewer.late and viewer.pid == process.pid
    viewer.run()
    assert process.wait(20) == 0
    rows = [row for thread in viewer.zones.values() for row in thread]
    zones = collections.Counter(viewer.named(row[0]) for row in rows)
    for name, (calls, _) in shown([str(path) for path in tmp_path.glob("*.ttrace")]).items():
        assert zones[name] == calls
    assert zones["ttnn::add"] == ADDS + 1 and len(viewer.zones) == 5
    assert all(viewer.names[tracy_viewer.THREAD][thread] for thread in viewer.zones)
    assert viewer.contexts == {0: "Device 0"}
    assert collections.Counter(viewer.named(row[1]) for row in viewer.programs) == {"BinaryNgDeviceOperation": 2 * ADDS + 2}
    assert "Device 0: DRAM in use" in viewer.names[tracy_viewer.PLOT].values()
    messages = [(text, severity) for _, _, text, severity in viewer.messages]
    error = 4 if protocol >= 82 else 2
    assert messages[:2] == [("`TT_SIGNPOST: half\nway`", 2), ("a line", 2)] and messages[2][1] == error
    assert messages[3:] == [("long " * 100, 2)] and viewer.colors["long " * 100] == 0x123456 and len(viewer.rounds) == 1
    # What a zone is given, its name at the end, and replays.
    assert {row[3] for row in rows if viewer.named(row[0]) == "ttnn::multiply"} == {
        "input_tensor_a: [32, 64] BFLOAT16 TILE DRAM\ninput_tensor_b: [32, 64] BFLOAT16 TILE DRAM"
    }
    assert [viewer.named(row[0]) for row in rows if row[4] == "named at the end"] == ["function"]
    replays = [row[3] for row in rows if viewer.named(row[0]) == "replay of a trace"]
    assert [text.split()[2:] for text in replays] == [["replay:", "1"], ["replay:", "2"]]


def test_one_viewer_in_a_life(port):
    process = start(port, TRACY_NO_EXIT="1")
    first = Viewer(port)
    assert first.status == 1
    assert Viewer(port).status == 3  # two at a time
    first.frame()
    first.close()  # in the middle
    assert process.wait(20) == 0 and "TTNN_LIVE" not in process.stderr.read()


LONG = WORKLOAD + "import time; time.sleep(60)"


def test_words_that_make_no_sense(port):
    process = start(port, LONG)
    try:
        for words in (b"GET / HTTP/1.0\r\n\r\n", b"TracyPrx\0\0\0\0", b""):
            with tracy_viewer.connect(port) as sock:
                sock.sendall(words)
                sock.shutdown(socket.SHUT_WR)
                assert sock.recv(1) == b""
        assert Viewer(port, protocol=12345).status == 2
        viewer = Viewer(port)  # they did not take the place of a real one
        assert viewer.status == 1
        viewer.sock.sendall(bytes([77]) * 13 + struct.pack("<BQI", 1, 1 << 60, 0) + struct.pack("<BQI", 3, 0, 0))
        while not viewer.programs:
            viewer.frame()
        viewer.close()
        time.sleep(0.1)
        assert Viewer(port).status == 3  # reconnect is refused
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


FORK = """
import os, sys, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full((32, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
sys.stdin.readline()  # a viewer is here
child = os.fork()
for i in range(7 if child else 3):
    ttnn.add(a, a)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_has_its_own_viewer(port):
    env = {**os.environ, "TTNN_LIVE": str(port), "TRACY_NO_EXIT": "1"}
    process = subprocess.Popen([sys.executable, "-c", FORK], env=env, stdin=subprocess.PIPE, text=True)
    parent = Viewer(port)
    process.stdin.write("\n")
    process.stdin.flush()
    child = Viewer(port + 1)  # which ends first: the parent waits for it
    child.run()
    parent.run()
    assert process.wait(20) == 0
    assert parent.pid == process.pid and child.pid not in (0, process.pid)
    for viewer, adds in ((parent, 7), (child, 3)):
        names = collections.Counter(viewer.named(row[0]) for rows in viewer.zones.values() for row in rows)
        assert names["ttnn::add"] == adds and names["ttnn::full"] == (1 if viewer is parent else 0)


ANNOUNCED = struct.Struct("<HHIQi64s")


def heard(sock, pid):
    """What the process of this number says of itself."""
    while True:
        version, port, protocol, who, active, program = ANNOUNCED.unpack(sock.recv(1000))
        if who == pid:
            assert (version, protocol, active) == (3, tracy_viewer.PROTOCOLS[-1], 0) and program.startswith(b"python")
            return port


def test_discovery(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as usual, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        usual.bind(("127.255.255.255", 8086))  # Tracy's own, on the loopback network
        asked.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{asked.getsockname()[1]}"
        for sock, variables in ((usual, {}), (asked, {"TTNN_LIVE_ANNOUNCE": place})):
            sock.settimeout(10)
            process = start(port, TRACY_NO_EXIT="1", **variables)
            found = heard(sock, process.pid)
            assert found == port  # and no other address of this machine listens
            with socket.socket() as other:
                assert other.connect_ex(("127.0.0.2", found)) != 0
            Viewer(found).run()
            assert process.wait(20) == 0
    process = start(port, TTNN_LIVE_ANNOUNCE="127.0.0.1:x")
    assert "TTNN_LIVE_ANNOUNCE: 127.0.0.1:x is no address of IPv4" in process.communicate()[1]


def test_next_port_and_no_port(port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        process = start(port, TRACY_NO_EXIT="1")
        viewer = Viewer(port + 1)
        viewer.run()
        assert process.wait(20) == 0
    done = subprocess.run([sys.executable, "-c", "import ttnn"], env={**os.environ, "TTNN_LIVE": "70000"}, capture_output=True, text=True)
    assert "70000 is no port" in done.stderr


def test_profile_live(port, tmp_path):
    command = f"{sys.executable} -c '{WORKLOAD}'"
    process = subprocess.Popen([TTNN, "profile", "--live", "--announce", "127.0.0.1", "-p", str(port), command], cwd=tmp_path,
                               env={**os.environ, "TRACY_NO_EXIT": "1"}, stderr=subprocess.PIPE, text=True)
    viewer = Viewer(port)
    viewer.run()
    text = process.communicate(timeout=30)[1]
    assert process.returncode == 0 and f"from {port} on" in text
    assert (tmp_path / "results/perf/device_ops_perf_trace.csv").exists()
    assert (tmp_path / "results/perf/device_ops_perf_trace.tracy").read_bytes()[:4] == b"tZst"
