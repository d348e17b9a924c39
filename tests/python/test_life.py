"""Nothing leaks, threads do not disturb each other, and every end of a process is a clean one."""

import array
import contextlib
import gc
import os
import pickle
import subprocess
import sys
import threading

import pytest

import ttnn

CALLS = int(os.environ.get("TTNN_TEST_CALLS", 20_000))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def tensor(device, shape=(2, 2)):
    data = memoryview(array.array("f", range(shape[0] * shape[1]))).cast("B").cast("f", shape)
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)


plain_allocator = pytest.mark.skipif("asan" in os.environ.get("OUT", ""), reason="asan keeps what is freed for a while")


@plain_allocator
def test_no_leaks(device):
    """Calls that succeed and calls that fail, values and objects of every kind."""
    t = tensor(device)

    def once(i):
        out = ttnn.add(t, t, memory_config=ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1))
        out = ttnn.relu(out + 1.5)
        for bad in (lambda: ttnn.add(t), lambda: ttnn.relu(t, nonsense=[1, "a", {}]), lambda: ttnn.Shape([-1])):
            try:
                bad()
            except TypeError:
                pass
        if i % 10 == 0:
            tensor(device), out.to_list(), repr(out), out.spec, out[0], t.device(), t.memory_config().to_json()
            ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.5).params
            ttnn.get_memory_view(device, ttnn.BufferType.DRAM)

    for i in range(2_000):
        once(i)
    gc.collect()
    before, counts, objects = resident(), sys.getrefcount(None), len(gc.get_objects())
    for i in range(CALLS):
        once(i)
    gc.collect()
    assert resident() - before < 4 << 20
    assert abs(len(gc.get_objects()) - objects) < 100
    assert abs(sys.getrefcount(None) - counts) < 1_000
    assert sys.getrefcount(t) < 10 and sys.getrefcount(device) < 20


def kinds_of_calls(device):
    """Calls of every kind, good and bad."""
    t = tensor(device)
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 1))])

    def refused(function):
        with contextlib.suppress(TypeError, RuntimeError):
            function()

    def hooks():
        with ttnn.register_pre_operation_hook(lambda *a: None), ttnn.register_post_operation_hook(lambda *a: None):
            ttnn.add(t, t)

    def trace():
        ttnn.add(t, 1.0)
        number = ttnn.begin_trace_capture(device)
        ttnn.add(t, 1.0)
        ttnn.end_trace_capture(device, number)
        ttnn.execute_trace(device, number)
        ttnn.release_trace(device, number)

    relu = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    return {
        "operations": lambda: (ttnn.add(t, t, memory_config=ttnn.L1_MEMORY_CONFIG), ttnn.concat([t, t], 0), ttnn.split(t, 1, 0)),
        "operators": lambda: (t + 1.5, 2 - t, -t, t == 2, t[0], t @ t),
        "refusals": lambda: (refused(lambda: ttnn.add(t, nonsense=[1, "a", {}])), refused(lambda: ttnn.relu(t.cpu()))),
        "data": lambda: (tensor(device).to_list(), t.cpu(), ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)),
        "properties": lambda: (t.shape, t.spec, t.dtype, t.memory_config(), t.device(), t.tile, repr(t), t.tensor_topology()),
        "values": lambda: (ttnn.Shape([1, 2]), grid.merge(grid), ttnn.MemoryConfig.from_json(t.memory_config().to_json())),
        "bad values": lambda: [refused(f) for f in (lambda: ttnn.Shape([-1]), lambda: ttnn.CoreRange(1), lambda: ttnn.Tile((7, 1)))],
        "objects": lambda: (relu.params, ttnn.Conv2dConfig(activation=relu).activation, relu == relu),
        "setting": lambda: setattr(ttnn.WormholeComputeKernelConfig(), "packer_l1_acc", True),
        "memory": lambda: ttnn.get_memory_view(device, ttnn.BufferType.DRAM).block_table,
        "complex numbers": lambda: ttnn.conj_bw(ttnn.complex_tensor(t, t), ttnn.complex_tensor(t, t)),
        "golden": lambda: (ttnn.exp.golden(t), ttnn.pearson_correlation_coefficient(t, t)),
        "cores": lambda: (ttnn.split_work_to_cores(ttnn.CoreCoord(8, 8), 70), ttnn.create_group_norm_input_mask(64, 8, 1)),
        "copies": lambda: pickle.loads(pickle.dumps([grid, t.memory_config(), t.shape, relu])),
        "signatures": lambda: (ttnn.add.signatures, ttnn.add.__doc__, ttnn.add.family),
        "hooks": hooks,
        "traces": trace,
    }


@pytest.mark.skipif(not hasattr(sys, "gettotalrefcount"), reason="only a Python made for debugging counts all references")
def test_references(device):
    for name, call in kinds_of_calls(device).items():
        for _ in range(20):
            call()
        gc.collect()
        before = sys.gettotalrefcount()
        for _ in range(200):
            call()
        gc.collect()
        assert abs(sys.gettotalrefcount() - before) < 60, name


def test_kinds_of_calls(device):
    for call in kinds_of_calls(device).values():
        call()


@plain_allocator
def test_devices_do_not_leak():
    for _ in range(20):
        device = ttnn.open_device(device_id=0)
        tensor(device)
        ttnn.close_device(device)
    before = resident()
    for _ in range(100):
        device = ttnn.open_device(device_id=0)
        kept = tensor(device)
        ttnn.close_device(device)
        del device, kept
    gc.collect()
    assert resident() - before < 8 << 20


def test_threads(device):
    """Operations from many threads, with failures and dry runs of single ones."""
    shared, wrong = tensor(device, (32, 32)), []

    def work(number):
        try:
            for i in range(100):
                if number == 0:
                    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
                    ttnn.relu(shared)
                    ttnn.graph.end_graph_capture()
                    continue
                mine = ttnn.multiply(shared, float(number))
                assert mine[0, 1].item() == number
                with pytest.raises(TypeError, match=f"word{number}"):
                    ttnn.add(mine, **{f"word{number}": 1})
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_close_while_used():
    device = ttnn.open_device(device_id=0)
    shared, ended = tensor(device, (64, 64)), []

    def work():
        try:
            while True:
                ttnn.add(shared, shared)
        except RuntimeError as e:
            ended.append(str(e))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    ttnn.close_device(device)
    for thread in threads:
        thread.join()
    assert len(ended) == 3


SHARED_END = """
import array, threading, ttnn
device = ttnn.open_device(device_id=0)
data = memoryview(array.array("f", range(4)))
t = ttnn.from_torch(data, device=device)
"""

ENDS = {
    "live tensors": SHARED_END,
    "no device": "import ttnn; x = ttnn.Shape([1])",
    "a cycle": SHARED_END + "device.me = [device, t]; t2 = ttnn.relu(ttnn.to_layout(t.reshape(2, 2), ttnn.TILE_LAYOUT)); device.more = t2",
    "a tensor in a global of another module": SHARED_END + "import json; json.kept = t; json.device = device",
    "an open hook": SHARED_END + "h = ttnn.register_pre_operation_hook(print); h.__enter__()",
    "an open capture": SHARED_END + "ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)",
    "a thread at work": SHARED_END
    + "m = ttnn.empty([512, 512], layout=ttnn.TILE_LAYOUT, device=device)\n"
    + "def f():\n  while True: ttnn.exp(m)\nthreading.Thread(target=f, daemon=True).start()\nimport time; time.sleep(0.2)",
    "an exception": SHARED_END + "raise SystemExit(0)",
    "a fork": SHARED_END + "import os\nif os.fork() == 0: os._exit(0 if ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT).shape == [4] else 1)\n"
    + "assert os.wait()[1] == 0",
    "exit in a hook": SHARED_END
    + "def bye(*unused): raise SystemExit(0)\nwith ttnn.register_pre_operation_hook(bye): ttnn.to_layout(t, ttnn.TILE_LAYOUT)",
}


@pytest.mark.parametrize("name", ENDS)
def test_ends(name):
    done = subprocess.run([sys.executable, "-c", ENDS[name]], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
