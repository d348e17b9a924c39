#!/usr/bin/env python3
"""bench/import.py TTNN [--upstream PYTHON] [OPS[full]...]: what importing reports costs.

Wall and CPU seconds, peak memory, where the time goes (perf, where it is), against reading the same JSON with
Python's json.load, and against the released importer where PYTHON has it (make test-upstream installs it in
build/upstream, which is found by itself). "as tables" stores what upstream stores. The budget is a twelfth of
upstream's time, 300 MB at 100,000 operations (that one also runs under ulimit -v), and linear growth.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "report"))
import make_reports

LOAD = "import json, sys\nfor p in sys.argv[1:]: json.load(open(p))"
# The importer needs nothing of the library around it.
UPSTREAM = """import importlib.util, sys
sys.path.append(importlib.util.find_spec("ttnn").submodule_search_locations[0])
import graph_report
from loguru import logger
logger.remove()
graph_report.import_report(sys.argv[1], sys.argv[2])"""


def measure(*command, times=3):
    """Wall s, CPU s, peak MB of a command: the best of some, by wall."""
    best = None
    for _ in range(times):
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(child, 0)
        if status:
            sys.exit(f"{command}: exit {status}")
        found = (time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = found if best is None or found[0] < best[0] else best
    return best


def where(command):
    """Shares of the time by library, and the heaviest functions."""
    if not shutil.which("perf"):
        return ""
    with tempfile.NamedTemporaryFile() as data:
        subprocess.run(["perf", "record", "-q", "-o", data.name, *command], capture_output=True)
        texts = [subprocess.run(["perf", "report", "-i", data.name, "--sort", key, "--stdio"], capture_output=True, text=True).stdout
                 for key in ("dso", "sym")]
    shares = [re.findall(r"^\s+([\d.]+)%\s+(?:\[[.k]\] )?(\S+)", text, re.M) for text in texts]
    return "; ".join(", ".join(f"{name.split('.so')[0].strip('[]')} {float(share):.0f} %" for share, name in rows[:6]) for rows in shares)


def main():
    arguments = sys.argv[1:]
    ttnn = os.path.abspath(arguments.pop(0))
    python = os.path.join(HERE, "..", "build", "upstream", "bin", "python")
    if arguments[:1] == ["--upstream"]:
        python = arguments[1]
        del arguments[:2]
    python = python if os.path.exists(python) else None
    sizes = [(int(n.replace("full", "")), "full" in n) for n in arguments or ("1000", "10000", "10000full", "100000")]
    print(f"{'report':13}{'MB':>5}{'wall s':>8}{'CPU s':>7}{'MB/s':>6}{'peak MB':>9}{'db MB':>7}{'us/op':>7} | "
          f"{'tables wall':>11}{'CPU':>6} | {'json.load':>9}{'ratio':>6} | {'upstream wall':>13}{'CPU':>7}{'peak MB':>9}{'ratio wall':>12}{'CPU':>6}")
    for ops, full in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            child = os.fork()  # so that the memory of making it is given back
            if child == 0:
                make_reports.Model(ops, full).write(scratch)
                os._exit(0)
            os.waitpid(child, 0)
            report, out, side = (os.path.join(scratch, name) for name in ("report.json", "out", "report.python_io.json"))
            size = sum(os.path.getsize(os.path.join(scratch, f)) for f in os.listdir(scratch)) / 1e6
            wall, cpu, peak = measure(ttnn, "import", report, out)
            db = os.path.getsize(os.path.join(out, "db.sqlite")) / 1e6
            tables = measure(ttnn, "import", "--tables", report, out)
            load = measure("python3", "-c", LOAD, report, side)
            line = (f"{ops:>7} {'full' if full else 'basic':5}{size:5.0f}{wall:8.3f}{cpu:7.2f}{size / wall:6.0f}{peak:9.0f}{db:7.0f}{wall / ops * 1e6:7.0f} | "
                    f"{tables[0]:11.2f}{tables[1]:6.2f} | {load[0]:9.2f}{load[0] / wall:6.1f} | ")
            if python:
                theirs = measure(python, "-c", UPSTREAM, report, os.path.join(scratch, "theirs"), times=1 if ops > 10000 else 2)
                line += f"{theirs[0]:13.2f}{theirs[1]:7.2f}{theirs[2]:9.0f}{theirs[0] / wall:12.1f}{theirs[1] / cpu:6.1f}"
            print(line)
            if ops >= 100000:
                limited = measure("bash", "-c", 'ulimit -v 300000; exec "$@"', "-", ttnn, "import", report, out, times=1)
                print(" " * 13 + f"under ulimit -v 300000: {limited[0]:.2f} s wall, {limited[2]:.0f} MB")
            print(" " * 13 + where([ttnn, "import", report, out]), flush=True)


if __name__ == "__main__":
    main()
