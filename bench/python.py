"""What Python costs: a small operation beside torch's, and data in and out beside a plain copy.

Ratios of one run (make bench-python); torch is compared with where it is found.
"""

import array
import json
import time

import ttnn

try:
    import torch
except ImportError:
    torch = None


def best(function, calls, rounds=25):
    """Seconds of one call: the best round, so that what else the machine does counts least."""
    for _ in range(min(calls, 100)):
        function()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def small(device):
    data = memoryview(array.array("f", range(1024))).cast("B").cast("f", (32, 32))
    a = ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    other = torch and torch.randn(32, 32).bfloat16()
    torch and torch.set_num_threads(1)
    rows = [
        ("add", lambda: ttnn.add(a, a), torch and (lambda: torch.add(other, other))),
        ("add with a memory config", lambda: ttnn.add(a, a, memory_config=ttnn.L1_MEMORY_CONFIG), None),
        ("a + a", lambda: a + a, torch and (lambda: other + other)),
        ("relu", lambda: ttnn.relu(a), torch and (lambda: torch.relu(other))),
        ("shape", lambda: a.shape, torch and (lambda: other.shape)),
    ]
    print("32 x 32, bfloat16           ttnn us   torch us   ratio")
    for name, ours, theirs in rows:
        mine = best(ours, 1_000) * 1e6
        torchs = best(theirs, 1_000) * 1e6 if theirs else 0
        print(f"  {name:24} {mine:8.2f}   {torchs:8.2f}   {mine / torchs:5.2f}" if theirs else f"  {name:24} {mine:8.2f}")


def graphs(device):
    a = ttnn.full([32, 32], 1.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    least = 1e9
    for _ in range(5):
        ttnn.graph.begin_graph_capture()
        for _ in range(1_000):
            ttnn.add(a, a)
        start = time.perf_counter()
        graph = ttnn.graph.end_graph_capture()
        least = min(least, time.perf_counter() - start)
    text = json.dumps(graph)
    start = time.perf_counter()
    json.loads(text)
    plain = time.perf_counter() - start
    print(f"end_graph_capture           {least / len(graph) * 1e6:8.2f} us a node; json.loads of its text {plain / len(graph) * 1e6:.2f}")


def large(device):
    raw = array.array("f", bytes(64 << 20))
    data = memoryview(raw).cast("B").cast("f", (4096, 4096))
    target = memoryview(bytearray(64 << 20))
    source = memoryview(raw).cast("B")

    def copy():
        target[:] = source

    plain = best(copy, 1, 9)
    rows = [
        ("from_torch, rows", lambda: ttnn.from_torch(data)),
        ("from_torch, tiles", lambda: ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT)),
        ("from_torch, bfloat16 tiles", lambda: ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)),
        ("from_torch, bfloat8_b tiles", lambda: ttnn.from_torch(data, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)),
        ("from_torch, on a device", lambda: ttnn.from_torch(data, device=device)),
    ]
    print(f"64 MB of float32; a plain copy takes {plain * 1e3:.1f} ms           ms   ratio")
    for name, function in rows:
        seconds = best(function, 1, 9)
        print(f"  {name:48} {seconds * 1e3:6.1f}   {seconds / plain:5.2f}")


if __name__ == "__main__":
    chip = ttnn.open_device(device_id=0)
    small(chip)
    graphs(chip)
    large(chip)
    ttnn.close_device(chip)
