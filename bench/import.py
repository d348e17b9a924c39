#!/usr/bin/env python3
"""bench/import.py TTNN [OPS...]: what importing reports costs, against reading the same JSON with Python.

Wall and CPU seconds, peak memory, and where the time goes (perf, where it is). "as tables" stores what
upstream stores. The budget is a twelfth of upstream's time; upstream takes 5 to 6 times as long as json.load.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "report"))
import make_reports


def measure(*command):
    """Wall s, CPU s, peak MB of a command: the best of three, by CPU."""
    best = None
    for _ in range(3):
        start = os.times().elapsed
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(child, 0)
        if status:
            sys.exit(f"{command}: exit {status}")
        found = (os.times().elapsed - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = found if best is None or found[1] < best[1] else best
    return best


def where(command):
    """Shares of the time by library."""
    if not shutil.which("perf"):
        return ""
    with tempfile.NamedTemporaryFile() as data:
        subprocess.run(["perf", "record", "-q", "-o", data.name, *command], capture_output=True)
        text = subprocess.run(["perf", "report", "-i", data.name, "--sort", "dso", "--stdio"], capture_output=True, text=True).stdout
    rows = re.findall(r"^\s+([\d.]+)%\s+(\S+)", text, re.M)
    return ", ".join(f"{name.split('.so')[0].strip('[]')} {float(share):.0f} %" for share, name in rows[:5])


def main():
    ttnn = os.path.abspath(sys.argv[1])
    sizes = [(int(n), False) for n in sys.argv[2:]] or [(1000, False), (10000, False), (10000, True), (100000, False)]
    load = "import json, sys\nfor p in sys.argv[1:]: json.load(open(p))"
    print(f"{'report':14}{'MB':>7}{'wall s':>9}{'CPU s':>8}{'MB/s':>7}{'peak MB':>9}{'db MB':>8}{'as tables':>11}{'json.load':>11}{'ratio':>7}")
    for ops, full in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            child = os.fork()  # so that the memory of making it is given back
            if child == 0:
                make_reports.Model(ops, full).write(scratch)
                os._exit(0)
            os.waitpid(child, 0)
            report, out = os.path.join(scratch, "report.json"), os.path.join(scratch, "out")
            size = sum(os.path.getsize(os.path.join(scratch, f)) for f in os.listdir(scratch)) / 1e6
            wall, cpu, peak = measure(ttnn, "import", report, out)
            db = os.path.getsize(os.path.join(out, "db.sqlite")) / 1e6
            stored = measure(ttnn, "import", "--tables", report, out)[1]
            python = measure("python3", "-c", load, report, os.path.join(scratch, "report.python_io.json"))[1]
            name = f"{ops} {'full' if full else 'basic'}"
            print(f"{name:14}{size:7.0f}{wall:9.2f}{cpu:8.2f}{size / cpu:7.0f}{peak:9.0f}{db:8.0f}{stored:11.2f}{python:11.2f}{python / cpu:7.1f}")
            print(" " * 14 + where([ttnn, "import", report, out]), flush=True)


if __name__ == "__main__":
    main()
