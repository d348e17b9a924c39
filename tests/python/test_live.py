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


def test_every_zone_of_four_threads(port, tmp_path):
    process = start(port, TRACY_NO_EXIT="1", TTNN_TRACE=str(tmp_path), TTNN_TRACE_OPTIONS="profile")
    viewer = Viewer(port)
    assert viewer.status == 1 and not viewer.late and viewer.welcome[7] == process.pid
    viewer.run()
    assert process.wait(20) == 0
    zones = collections.Counter(viewer.named(zone[0]) for rows in viewer.zones.values() for zone in rows)
    for name, (calls, _) in shown([str(path) for path in tmp_path.glob("*.ttrace")]).items():
        assert zones[name] == calls
    assert zones["ttnn::add"] == ADDS and len(viewer.zones) == 5
    assert all(viewer.names[tracy_viewer.THREAD][thread] for thread in viewer.zones)
    assert viewer.contexts == {0: "Device 0"}
    assert collections.Counter(viewer.named(row[1]) for row in viewer.programs) == {"BinaryNgDeviceOperation": 2 * ADDS}
    assert list(viewer.names[tracy_viewer.PLOT].values()) == ["Device 0: DRAM in use"]
    texts = [text for _, _, text in viewer.messages]
    assert texts[:2] == ["`TT_SIGNPOST: half\nway`", "a line"] and len(texts) == 3 and len(viewer.rounds) == 1


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
    process = subprocess.Popen([TTNN, "profile", "--live", "-p", str(port), command], cwd=tmp_path,
                               env={**os.environ, "TRACY_NO_EXIT": "1"}, stderr=subprocess.PIPE, text=True)
    viewer = Viewer(port)
    viewer.run()
    text = process.communicate(timeout=30)[1]
    assert process.returncode == 0 and f"from {port} on" in text
    assert (tmp_path / "results/perf/device_ops_perf_trace.csv").exists()
    assert (tmp_path / "results/perf/device_ops_perf_trace.tracy").read_bytes()[:4] == b"tZst"
