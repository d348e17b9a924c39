"""Products in programs that fork, and that use OpenMP themselves. Each case is a program of its own."""

import os
import subprocess
import sys

import pytest

ROUNDS = max(1, int(os.environ.get("TTNN_TEST_LONG", 1)))

# A product on the host's processor, with numbers that are exact in float32.
START = """
import array, os, sys, time
import ttnn

def multiply(side):
    def filled(value):
        data = memoryview(array.array("f", [value] * (side * side))).cast("B").cast("f", (side, side))
        return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)
    product = ttnn.matmul(filled(0.5), filled(2.0))
    return {x for row in product.to_list() for x in row}

def threads():
    return len(os.listdir("/proc/self/task"))

device = ttnn.open_device(device_id=0)
"""


def run(program, **environment):
    """What the program prints; it has a minute."""
    result = subprocess.run(
        [sys.executable, "-c", START + program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return result


@pytest.mark.parametrize("library", ["0", "all"])
def test_pool_of_forked_processes(library):
    """Processes that were forked after a product, by a program with threads of its own, make products, too."""
    program = f"""
import multiprocessing, threading

threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
assert multiply(160) == {{160.0}}
with multiprocessing.get_context("fork").Pool(3) as pool:
    for _ in range({2 * ROUNDS}):
        sides = list(range(96, 256, 32))
        assert pool.map(multiply, sides, chunksize=1) == [{{float(side)}} for side in sides]
assert multiply(192) == {{192.0}}
print("done")
"""
    assert run(program, TTNN_DNNL=library).stdout == "done\n"


def test_no_threads_of_openmp():
    """After products there are no more threads than those of the pool."""
    program = """
before = threads()
for side in (64, 96, 256, 544):
    assert multiply(side) == {float(side)}
print(threads() - before)
"""
    assert int(run(program, TTNN_DNNL="all", TTNN_NUM_THREADS="3", OMP_NUM_THREADS="7").stdout) <= 2


@pytest.mark.parametrize("library", ["0", "all"])
def test_openmp_was_used_before(torch, library):
    """A product after torch has used OpenMP takes no longer than any other, and torch keeps its threads."""
    program = """
import torch

torch.set_num_threads(3)
x = torch.ones(700, 700)
assert (x @ x)[0, 0] == 700
torch.ones(3_000_000).exp().sum()
begin = time.process_time(), time.monotonic()
assert multiply(256) == {256.0}
assert time.process_time() - begin[0] < 1
assert time.monotonic() - begin[1] < 10  # others may be at work here
assert torch.get_num_threads() == 3
assert (x @ x)[0, 0] == 700
print("done")
"""
    result = run(program, TTNN_DNNL=library)
    assert result.stdout == "done\n" and "float32" not in result.stderr
