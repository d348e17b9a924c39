#!/usr/bin/env python3
"""bench/visualizer.py TTNN [--upstream PYTHON] [OPS]: how fast ttnn-visualizer answers from databases of ours and
of upstream's importer, made of the same report.

Wants ttnn-visualizer in build/visualizer (make test-visualizer installs it) and PYTHON with the released ttnn
(build/upstream, of make test-upstream). Each route is asked in turns, up to 15 times or for half a minute; the medians
count, and answers must be the same. /operations/N, the page people wait for, is to be at least 8 times faster, and no
route slower.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", name) for name in ("report", "visualizer")]
import make_reports
from server import Server

UPSTREAM = """import importlib.util, sys
sys.path.append(importlib.util.find_spec("ttnn").submodule_search_locations[0])
import graph_report
from loguru import logger
logger.remove()
graph_report.import_report(sys.argv[1], sys.argv[2])"""
ROUTES = ["/operations", "/operations/{n}", "/operation-buffers", "/operation-buffers?buffer_type=1", "/operation-buffers/{n}", "/tensors",
          "/tensors/{t}", "/buffers", "/buffers?buffer_type=1", "/buffers?buffer_type=0", "/buffer?address={a}&operation_id={n}",
          "/buffer-pages?operation_id={n}", "/devices", "/errors", "/report-metadata"]


def ask(server, paths):
    """Median seconds and the answer of each path; asked in turns, so that all see the same weather."""
    times, answers, ends = [[] for _ in paths], [None] * len(paths), time.monotonic() + 30
    while len(times[0]) < 3 or (len(times[0]) < 15 and time.monotonic() < ends):
        turn = list(enumerate(paths))
        for i, path in turn if len(times[0]) % 2 else reversed(turn):
            start = time.perf_counter()
            answers[i] = server.ask_raw(path)
            times[i].append(time.perf_counter() - start)
    return [statistics.median(one) for one in times], answers


def plain(answer):
    """Without what differs by intent: nothing but the order of lists that have none, and the import's own metadata."""
    value = json.loads(answer or b"null")
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if not k.startswith("git_")}
    if isinstance(value, list):
        value = sorted(json.dumps({k: v for k, v in row.items() if k != "id"} if isinstance(row, dict) else row, sort_keys=True) for row in value)
    return value


def main():
    arguments = sys.argv[1:]
    ttnn = os.path.abspath(arguments.pop(0))
    python, program = (os.path.join(HERE, "..", "build", *path) for path in (("upstream", "bin", "python"), ("visualizer", "bin", "ttnn-visualizer")))
    if arguments[:1] == ["--upstream"]:
        python = arguments[1]
        del arguments[:2]
    ops = int(arguments[0]) if arguments else 10000
    for path, how in ((python, "test-upstream"), (program, "test-visualizer")):
        if not os.path.exists(path):
            sys.exit(f"bench/visualizer.py: no {path}: make {how} installs it")
    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "model")
        make_reports.Model(ops, False).write(model)
        ours, theirs = os.path.join(scratch, "ours"), os.path.join(scratch, "theirs")
        subprocess.run([ttnn, "import", os.path.join(model, "report.json"), ours], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([python, "-c", UPSTREAM, os.path.join(model, "report.json"), theirs], check=True)
        with Server(program, scratch) as server:
            ids = [server.load(theirs), server.load(ours)]
            tensor = json.loads(server.ask_raw(f"/api/tensors?instanceId={ids[0]}")[1])[0]
            print(f"{ops} operations\n{'route':42}{'upstream s':>11}{'ours s':>9}{'ratio':>7}  answers")
            for route in ROUTES:
                path = "/api" + route.format(n=ops // 2, t=tensor["id"], a=tensor["address"])
                seconds, answers = ask(server, [f"{path}{'&' if '?' in path else '?'}instanceId={one}" for one in ids])
                same = answers[0] == answers[1]
                word = "the same" if same else "the same rows" if plain(answers[0][1]) == plain(answers[1][1]) else "DIFFER"
                print(f"{route:42}{seconds[0]:11.4f}{seconds[1]:9.4f}{seconds[0] / seconds[1]:7.2f}  {word}", flush=True)


if __name__ == "__main__":
    main()
