"""A long run of everything that may happen to the library inside of other programs; scripts/soak starts it.

One process lives through the whole run. Its threads compute and check every result, a timer signals it a thousand
times a second, and between that it forks, captures, traces, is interrupted, and reads what others left behind. Each
action of the table ACTIONS is one thing that once went wrong, or might. To add one, write its function.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import ttnn

ROOT = pathlib.Path(__file__).resolve().parents[2]
TTNN = str(ROOT / os.environ.get("OUT", "build") / "ttnn")
DID = collections.Counter()
COUNTING = threading.Lock()
WRONG = []


def did(what, count=1):
    with COUNTING:
        DID[what] += count


def wrong(what):
    with COUNTING:
        WRONG.append(what)
    print(f"WRONG: {what}", flush=True)


def expect(fact, what):
    if not fact:
        wrong(what)


# ---- operations, each with what it must give --------------------------------------------------------------------


def some_of(limits, count=300, seed=5):
    """So many shapes below these limits: more than caches keep, but not more and more, as every program is kept with its device."""
    rng = numpy.random.default_rng(seed)
    return [tuple(int(rng.integers(1, limit)) for limit in limits) for _ in range(count)]


PRODUCTS, SHAPES, ROWS = some_of((300, 400, 700)), some_of((9, 70, 70)) + some_of((70,)), some_of((90, 200))


def one_of(rng, shapes):
    return shapes[int(rng.integers(len(shapes)))]


def whole(rng, shape, limit):
    return rng.integers(-limit, limit + 1, size=shape)


def put(values, dtype, device):
    kind = {ttnn.float32: "float32", ttnn.int32: "int32"}[dtype]
    return ttnn.from_torch(numpy.ascontiguousarray(values.astype(kind)), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def product(rng, device):
    """Of whole numbers, which float32 holds: exact."""
    m, k, n = one_of(rng, PRODUCTS)
    a, b = whole(rng, (m, k), 8), whole(rng, (k, n), 8)
    out = ttnn.matmul(put(a, ttnn.float32, device), put(b, ttnn.float32, device), dtype=ttnn.float32)
    return f"matmul {m}x{k}x{n}", out, a @ b


def integers(rng, device):
    shape = one_of(rng, SHAPES)
    a, b = whole(rng, shape, 2**30), whole(rng, shape, 2**30)
    name, wanted = [("add", a + b), ("subtract", a - b), ("maximum", numpy.maximum(a, b))][int(rng.integers(3))]
    return name, getattr(ttnn, name)(put(a, ttnn.int32, device), put(b, ttnn.int32, device)), wanted


def movement(rng, device):
    a = whole(rng, one_of(rng, ROWS), 1000)
    t = put(a, ttnn.float32, device)
    name, out, wanted = [
        lambda: ("transpose", ttnn.transpose(t, 0, 1), a.T),
        lambda: ("concat", ttnn.concat([t, t], dim=0), numpy.concatenate([a, a])),
        lambda: ("slice", t[a.shape[0] // 2 :], a[a.shape[0] // 2 :]),
        lambda: ("where", ttnn.where(ttnn.gtz(t), t, 0.0), numpy.where(a > 0, a, 0)),
    ][int(rng.integers(4))]()
    return name, out, wanted


def reduction(rng, device):
    a = whole(rng, one_of(rng, ROWS), 100)
    return "max", ttnn.max(put(a, ttnn.float32, device), dim=-1), a.max(axis=-1)


OPERATIONS = [product, integers, movement, reduction]


def check_one(rng, device):
    """Runs one operation and compares it, number by number."""
    name, out, wanted = OPERATIONS[int(rng.integers(len(OPERATIONS)))](rng, device)
    got = out.to_numpy()
    did("operations")
    expect(got.reshape(-1).shape == wanted.reshape(-1).shape and (got.reshape(wanted.shape) == wanted).all(), f"{name} of {wanted.shape}")


def work_on(seed, device, stop):
    """A thread of the process: operations until the end."""
    rng = numpy.random.default_rng(seed)
    while not stop.is_set():
        check_one(rng, device)


# ---- what happens to the process --------------------------------------------------------------------------------


def in_child(seed):
    """What a child computes; its exit code says how it went."""
    try:
        WRONG.clear()
        device = ttnn.open_device(device_id=0)
        rng = numpy.random.default_rng(seed)
        for _ in range(5):
            check_one(rng, device)
        return 1 if WRONG else 0
    except BaseException as error:
        print(f"child: {error!r}", flush=True)
        return 2


def fork(rng, device, folder):
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        os._exit(in_child(int(rng.integers(2**32))))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    did("forks")
    expect(code == 0, f"a child after fork() ended with {code}")


def pools(rng, device, folder):
    method = ["fork", "spawn", "forkserver"][int(rng.integers(3))]
    with multiprocessing.get_context(method).Pool(2) as pool:
        codes = pool.map_async(in_child, [int(n) for n in rng.integers(2**32, size=3)]).get(timeout=300)
    did(f"pools ({method})")
    expect(codes == [0] * 3, f"workers of a pool ({method}) said {codes}")


def capture(rng, device, folder):
    t = put(whole(rng, (32, 32), 5), ttnn.float32, device)
    count = int(rng.integers(1, 20))
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    for _ in range(count):
        t = ttnn.neg(t)  # which no other thread calls: a capture of the default dialect hears all
    graph = ttnn.graph.end_graph_capture()
    did("captures")
    began = sum(node["node_type"] == "function_start" and node["params"].get("name") == "ttnn::neg" for node in graph)
    expect(began == count, f"a capture of {count} calls has {began}")


def capture_left_open(rng, device, folder):
    def leave():
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        ttnn.add(put(whole(rng, (32, 32), 5), ttnn.float32, device), 1.0)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    did("captures left open")


def interrupt(rng, device, folder):
    """Ctrl-C in the middle of long work arrives soon, and nothing is broken."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    side = put(whole(rng, (2048, 2048), 4), ttnn.float32, device)
    timer = threading.Timer(0.2 + rng.random() / 5, send)
    timer.start()
    try:
        while time.monotonic() < (sent or [time.monotonic()])[0] + 30:
            ttnn.matmul(side, side)
        wrong("Ctrl-C did not arrive in 30 s")
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        with COUNTING:
            DID["latest Ctrl-C, ms"] = max(DID["latest Ctrl-C, ms"], round(late * 1000))
        expect(late < 3, f"Ctrl-C arrived after {late:.1f} s")
    timer.join()
    did("interrupts")


# ---- traces -----------------------------------------------------------------------------------------------------

TRACED = """
import mmap, os, signal, sys
import ttnn
counter, count, end = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 8), int(sys.argv[2]), sys.argv[3]
device = ttnn.open_device(device_id=0)
t = ttnn.full([32, 32], fill_value=1.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
for n in range(count):
    u = ttnn.exp(t)
    counter[:8] = (n + 1).to_bytes(8, "little")
if end == "_exit":
    os._exit(0)
if end == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if end == "wait":
    signal.pause()
if end == "exec":
    os.execv(sys.executable, [sys.executable, "-c", "import ttnn; ttnn.zeros([2, 3])"])
"""


def read_back(folder):
    """Calls of ttnn::exp in all traces of a folder, and bytes."""
    calls = size = 0
    for file in sorted(folder.glob("*.ttrace")):
        size += file.stat().st_size
        ran = subprocess.run([TTNN, "show", "--json", file], capture_output=True, timeout=120)
        expect(ran.returncode == 0, f"ttnn show ended with {ran.returncode}: {ran.stderr[-200:]}")
        if ran.returncode == 0:
            calls += sum(row["calls"] for row in json.loads(ran.stdout) if row["name"] == "ttnn::exp")
    return calls, size


def trace(rng, device, folder):
    """Whatever ends a traced program, all of its calls can be read."""
    end = ["normal", "_exit", "kill", "wait", "exec"][int(rng.integers(5))]
    count = int(rng.integers(1, 3000))
    counter = folder / "counter"
    counter.write_bytes(bytes(8))
    command = [TTNN, "trace", "-q", "-o", folder / "traces", "--", sys.executable, "-c", TRACED, counter, str(count), end]
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    if end == "wait":
        until = time.monotonic() + 120
        while struct.unpack("<Q", counter.read_bytes())[0] < count // 2 + 1 and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(program.pid, signal.SIGKILL)
    program.communicate(timeout=300)
    done = struct.unpack("<Q", counter.read_bytes())[0]
    calls, size = read_back(folder / "traces")
    did("traced programs")
    did("calls traced", done)
    did("calls read back", calls)
    did("bytes of traces read back", size)
    expect(done <= calls <= done + 1, f"a program that ended by {end} made {done} calls; its traces have {calls}")


def hostile(rng, device, folder):
    """Damaged traces are refused or read, never a crash."""
    subprocess.run([TTNN, "trace", "-q", "-o", folder / "traces", "--", sys.executable, "-c", "import ttnn; ttnn.zeros([2, 3])"], check=True)
    for file in (folder / "traces").glob("*.ttrace"):
        data = bytearray(file.read_bytes())
        for _ in range(int(rng.integers(1, 10))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
        file.write_bytes(data[: int(rng.integers(1, len(data) + 1))])
        for job in (["show"], ["show", "--tree"], ["show", "--peak"], ["export", "graph", "-o", folder / "g.json"]):
            ran = subprocess.run([TTNN, *job, file], capture_output=True, timeout=120)
            did("damaged files read")
            expect(ran.returncode in (0, 1, 2), f"{job} of a damaged trace ended with {ran.returncode}")


def small_disk(rng, device, folder):
    """A limit of file sizes: the work goes on."""
    limit = int(rng.integers(0, 20000))
    code = "import ttnn\nfor _ in range(300): assert ttnn.full([2], fill_value=3.0).to_list() == [3.0, 3.0]\n"
    environment = {**os.environ, "TTNN_TRACE": str(folder / "traces")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    did("small disks")
    expect(ran.returncode == 0, f"with files of {limit} bytes at most a program ended with {ran.returncode}: {ran.stderr[-200:]}")


def closed(rng, device, folder):
    """Descriptors 0 to 2 closed: nothing that is printed gets into a trace."""
    code = "import os, ttnn\nttnn.zeros([2, 3])\nfor n in range(3):\n  try: os.write(n, b'x' * 100)\n  except OSError: pass\nttnn.exp(ttnn.zeros([2, 3]))\n"
    shell = '"$0" trace -q -o "$1" -- "$2" -c "$3" <&- >&- 2>&-'
    subprocess.run(["sh", "-c", shell, TTNN, folder / "traces", sys.executable, code], timeout=120)
    did("closed descriptors")
    for file in (folder / "traces").glob("*.ttrace"):
        ran = subprocess.run([TTNN, "show", file], capture_output=True, timeout=120)
        expect(ran.returncode == 0 and not ran.stderr, f"a trace made with closed descriptors: {ran.stderr[-200:]}")
        expect(b"xxxxxxxx" not in file.read_bytes(), "printed text is in a trace")


ACTIONS = [(fork, 8), (pools, 1), (capture, 6), (capture_left_open, 4), (interrupt, 1), (trace, 3), (hostile, 1), (small_disk, 1), (closed, 1)]

# ---- the run ----------------------------------------------------------------------------------------------------


def memory():
    """Megabytes that this process holds."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def on_signal(number, frame):
    DID["signals"] += 1


def say(began, rows):
    text = ", ".join(f"{count:,} {what}" for what, count in sorted(DID.items()))
    print(f"{(time.monotonic() - began) / 60:5.1f} min  {memory():6.0f} MB  {len(WRONG)} wrong  {text}", flush=True)
    rows.append(memory())


def act(rng, device):
    """One thing that happens, and what it left is removed."""
    action = random.Random(int(rng.integers(2**32))).choices([a for a, _ in ACTIONS], [w for _, w in ACTIONS])[0]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        action(rng, device, folder)
    except KeyboardInterrupt:
        pass  # one that came late
    except Exception as error:
        wrong(f"{action.__name__}: {error!r}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description="Everything at once, for so long; prints what it did.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=0, help="(default: 0) of all that is chosen")
    given = parser.parse_args()
    rng, device = numpy.random.default_rng(given.seed), ttnn.open_device(device_id=0)
    stop, began, rows = threading.Event(), time.monotonic(), []
    signal.signal(signal.SIGALRM, on_signal)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    threads = [threading.Thread(target=work_on, args=(given.seed + 1 + n, device, stop)) for n in range(3)]
    for thread in threads:
        thread.start()
    told = began
    while time.monotonic() < began + given.minutes * 60:
        act(rng, device)
        if time.monotonic() > told + 60:
            say(began, rows)
            told = time.monotonic()
    stop.set()
    for thread in threads:
        thread.join()
    signal.setitimer(signal.ITIMER_REAL, 0)
    say(began, rows)
    # The first third fills caches.
    early = rows[len(rows) // 3]
    flat = rows[-1] < early * 1.1 + 32
    print(f"memory {'is flat' if flat else 'GREW'}: {early:.0f} MB after a third, {rows[-1]:.0f} MB at the end")
    print(f"{len(ACTIONS) + len(OPERATIONS)} kinds of work, {len(WRONG)} wrong")
    return 0 if flat and not WRONG else 1


if __name__ == "__main__":
    sys.exit(main())
