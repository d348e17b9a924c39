"""What tracing costs a call from Python, beside json.dump of the same content.

    PYTHONPATH=build/python python3 bench/params.py [OPERATIONS]
"""

import json
import os
import shutil
import sys
import tempfile
import time

import ttnn
import ttnn.operation_tracer as tracer

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 4000


def best(functions, directory, rounds=5):
    """µs for one of each; they take turns, so that a disk that is busy for a while is so for all."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, took in zip(functions, times, strict=True):
            shutil.rmtree(directory, ignore_errors=True)
            os.makedirs(directory)
            start = time.perf_counter()
            function()
            took.append(time.perf_counter() - start)
    return [min(took) / COUNT * 1e6 for took in times]


def calls():
    for _ in range(COUNT):
        ttnn.add(a, b)


def traced():
    tracer._ENABLE_TRACE = True
    calls()
    tracer._ENABLE_TRACE = False


def dumps():
    for i in range(COUNT):
        path = f"{where}/{i}_ttnn_add_20260115_104616_345678.json"
        with open(path + ".tmp", "w") as file:
            json.dump(content, file, indent=2)
        os.rename(path + ".tmp", path)


def bare():
    for i in range(COUNT):
        path = f"{where}/{i}_ttnn_add_20260115_104616_345678.json"
        fd = os.open(path + ".tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(fd, text)
        os.close(fd)
        os.rename(path + ".tmp", path)


device = ttnn.open_device(device_id=0)
a = ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for base in ("/dev/shm", tempfile.gettempdir()):
    where = f"{base}/ttnn_bench_{os.getpid()}"
    ttnn.CONFIG.operation_parameter_log_dir = where
    with open(tracer.serialize_operation_parameters("ttnn.add", (a, b), {}, return_value=a), "rb") as file:
        text = file.read()
    content = json.loads(text)
    off, on, files, python = best([calls, traced, bare, dumps], where)
    print(f"{base:9} off {off:.2f} us, on {on:.2f} us: tracing {on - off:.2f} us; bare file of {len(text)} bytes {files:.2f} us;", end=" ")
    print(f"json.dump {python:.2f} us; budget {1.5 * files + 30:.2f} us")
    shutil.rmtree(where)
