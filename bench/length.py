#!/usr/bin/env python3
"""How reading a trace grows with its length: time and memory of each command, at 10,000 operations and more.

    bench/length.py [--alive N] [--commands TEXT] [--traces FOLDER] [OPERATIONS...]     (make python first)

Each line is a command; each column a trace of a loop of ttnn.add with that many operations: seconds, those of the
processor, peak memory in MB, and how much more of the latter two than the column before, per operation: 1.0 is linear
time, +0 flat memory. --traces keeps the traces in a folder, for the next time. --alive also
makes a program that holds that many buffers while it runs 10,000 operations. Output of exports goes to /dev/null.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TTNN = os.path.join(HERE, "build", "ttnn")

PROGRAM = """
import sys, ttnn
device = ttnn.open_device(device_id=0)
make = lambda: ttnn.full((32, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
a, kept = make(), [make() for i in range(int(sys.argv[2]))]
for i in range(int(sys.argv[1])):
    c = ttnn.add(a, a)
"""

# To add a command: a row; {trace} and {out} are filled in.
COMMANDS = [
    "show {trace}",
    "show --last 10 {trace}",
    "show --tree {trace}",
    "show --memory {trace}",
    "show --peak {trace}",
    "export flame {trace}",
    "export graph {trace}",
    "export report {trace}",
    "import --views {trace} {out}",
    "import {trace} {out}",
]


def record(folder, operations, alive):
    """The trace of a loop, made once."""
    made = glob.glob(os.path.join(folder, "*.ttrace"))
    if made:
        return made[0]
    env = {**os.environ, "PYTHONPATH": os.path.join(HERE, "build", "python"), "TTNN_TRACE": folder}
    subprocess.run([sys.executable, "-c", PROGRAM, str(operations), str(alive)], env=env, check=True)
    return glob.glob(os.path.join(folder, "*.ttrace"))[0]


def run(command, trace, out):
    """Seconds, those of the processor, peak memory in MB, bytes written to the folder of an import."""
    line = [TTNN] + command.format(trace=trace, out=out).split()
    with open(os.devnull, "w") as sink:
        done = subprocess.run(["/usr/bin/time", "-f", "%e %U %S %M"] + line, stdout=sink, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(line)}: {done.stderr}")
    seconds, user, system, kilobytes = done.stderr.strip().split("\n")[-1].split()
    size = sum(entry.stat().st_size for entry in os.scandir(out)) if os.path.isdir(out) else 0
    shutil.rmtree(out, ignore_errors=True)
    return float(seconds), float(user) + float(system), int(kilobytes) / 1024, size


def columns(traces, commands):
    print(f"{'':24}" + "".join(f"{name:>37}" for name, _, _ in traces))
    for command in commands:
        cells, before = "", None
        for name, operations, trace in traces:
            seconds, busy, memory, size = run(command, trace, os.path.join(os.path.dirname(trace), "out"))
            growth = ""
            if before:
                growth = f" x{busy / before[0] / (operations / before[2]):.2f} {memory - before[1]:+.0f}"
            cells += f"{seconds:8.2f} s {busy:7.2f} s {memory:4.0f} MB{growth:>11}"
            before = max(busy, 0.01), memory, operations
            if size:
                cells += f" ({size / 1e6:.0f} MB)"
        print(f"{command.replace(' {trace}', '').replace(' {out}', ''):24}" + cells, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", type=int, default=[10000, 100000])
    parser.add_argument("--alive", type=int, default=0)
    parser.add_argument("--traces", help="a folder for the traces, which stay there")
    parser.add_argument("--commands", default="", help="only those with this text")
    asked = parser.parse_args()
    commands = [command for command in COMMANDS if asked.commands in command]
    with tempfile.TemporaryDirectory() as made:
        place = asked.traces or made
        traces = []
        for operations in asked.operations:
            traces.append((f"{operations:,}", operations, record(os.path.join(place, str(operations)), operations, 0)))
        if traces:
            columns(traces, commands)
        if asked.alive:
            trace = record(os.path.join(place, f"alive{asked.alive}"), 10000, asked.alive)
            columns([(f"10,000, {asked.alive:,} buffers alive", 10000, trace)], commands)


if __name__ == "__main__":
    main()
