"""check.py PROGRAM DIR [NAME...]: starts ttnn-visualizer on loopback, loads DIR/memory and DIR/performance of the same run,
compares what it answers with the tables of the database and the lines of the CSV, and looks at pages in a
headless Chromium where there is one. Of DIR/memory and of DIR/ranks, reports of two ranks, every answer is that from
DIR/memory_tables and DIR/ranks_tables, which were imported with --tables. Of DIR/NAME every page opens."""

import csv
import html
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from server import Server

work = Path(sys.argv[2]).resolve()
memory = work / "memory"
performance = work / "performance"
checks = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, got, want):
    good = got == want
    checks["passed" if good else "failed"] += 1
    if not good:
        print(f"FAILED {what}: {str(got)[:300]} is not {str(want)[:300]}")


def rows(text):
    with sqlite3.connect(f"file:{memory}/db.sqlite?mode=ro", uri=True) as db:
        return db.execute(text).fetchall()


def routes(server, instance):
    def get(path):
        status, answer = server.ask(f"/api{path}{'&' if '?' in path else '?'}instanceId={instance}")
        check(f"status of {path}", status, 200)
        return answer

    operations = rows("select operation_id, name from operations order by operation_id")
    answer = get("/operations")
    check("operations", [(o["id"], o["name"]) for o in answer], operations)
    arguments = rows("select count(*) from operation_arguments")[0][0]
    check("arguments", sum(len(o["arguments"]) for o in answer), arguments)
    check("inputs", sum(len(o["inputs"]) for o in answer), rows("select count(*) from input_tensors")[0][0])
    check("outputs", sum(len(o["outputs"]) for o in answer), rows("select count(*) from output_tensors")[0][0])
    for number, name in operations:
        one = get(f"/operations/{number}")
        check(f"operation {number}", (one["id"], one["name"]), (number, name))
        want = rows("select address, max_size_per_bank, buffer_type from buffers "
                    f"where operation_id = {number}")
        check(f"buffers of {number}",
              sorted((b["address"], b["max_size_per_bank"], b["buffer_type"]) for b in one["buffers"]), sorted(want))
        pages = get(f"/buffer-pages?operation_id={number}")
        check(f"pages of {number}", len(pages),
              rows(f"select count(*) from buffer_chunks where operation_id = {number}")[0][0])
    check("tensors", sorted(t["id"] for t in get("/tensors")),
          sorted(r[0] for r in rows("select tensor_id from tensors")))
    check("buffers", len(get("/buffers")), rows("select count(*) from buffers")[0][0])
    check("operation-buffers", {o["id"]: len(o["buffers"]) for o in get("/operation-buffers") if o["buffers"]},
          dict(rows("select operation_id, count(*) from buffers group by operation_id")))
    check("devices", sorted(d["device_id"] for d in get("/devices")),
          sorted(r[0] for r in rows("select device_id from devices")))
    check("errors", len(get("/errors")), rows("select count(*) from errors")[0][0])
    check("stack traces", sum(o["stack_trace"] is not None for o in answer),
          rows("select count(*) from stack_traces")[0][0])
    check("metadata", set(get("/report-metadata")) >= {"schema_version", "capture_timestamp_ns"}, True)
    check("name", get("/config").get("report_name"), "a report of ours")
    return operations


def same_as_tables(server, name, ranks):
    """Each operation has its graph, and answers about a rank are those from a database without views."""
    ours, tables = (server.load(work / folder) for folder in (name, f"{name}_tables"))

    def both(path):
        answers = [server.ask(f"/api{path}{'&' if '?' in path else '?'}instanceId={one}") for one in (ours, tables)]
        check(f"{name}: {path}", answers[0], answers[1])
        return answers[0][1]

    for rank in ranks:
        operations = both(f"/operations?rank={rank}")
        check(f"{name}: graphs of rank {rank}", len(operations) and all(o["device_operations"] for o in operations), True)
        for number in [o["id"] for o in operations]:
            both(f"/operations/{number}?rank={rank}")
            both(f"/operation-buffers/{number}?rank={rank}")
        both(f"/buffers?rank={rank}")
        both(f"/operation-buffers?rank={rank}")


def performance_rows():
    with open(performance / "ops_perf_results.csv", newline="") as file:
        return list(csv.DictReader(file))


def performance_routes(server, instance, operations):
    """Every row of the report is there, and the operations that launched them are those of the database."""
    def get(path):
        status, answer = server.ask(f"/api{path}?instanceId={instance}")
        check(f"status of {path}", status, 200)
        return answer or {}

    ours = [row for row in performance_rows() if row["OP TYPE"] != "signpost"]
    answer = get("/performance/perf-results/report")
    shown = [row for row in answer.get("report", []) if row.get("raw_op_code")]
    check("rows of the performance report", [row["raw_op_code"] for row in shown], [row["OP CODE"] for row in ours])
    for row, our in zip(shown, ours):
        check(f"time of {our['OP CODE']}", float(row["device_time"]), int(our["DEVICE KERNEL DURATION [ns]"]) / 1000)
        check(f"call count of {our['OP CODE']}", int(float(row["global_call_count"])), int(our["GLOBAL CALL COUNT"]))
        check(f"cores of {our['OP CODE']}", int(float(row["cores"])), int(our["CORE COUNT"]))
    check("stacked report", len(answer.get("stacked_report", [])) > 0, True)
    # The dialect of the documents names no number of cores.
    check("device log", get("/performance/device-log/meta"),
          {"architecture": "wormhole_b0", "frequency": 1000, "max_cores": None})
    # The viewer links the two by the order of device operations below the operations of the database.
    names = [name for _, name in operations]
    check("one run", [row["OP CODE"] for row in ours if "Matmul" in row["OP CODE"]],
          ["MatmulDeviceOperation"] * sum("matmul" in name for name in names))


class Pages:
    """Pages as Chromium shows them."""

    EVERY = "/", "/operations", "/tensors", "/buffer-summary", "/graphtree", "/cluster"

    def __init__(self, server):
        self.server = server
        self.program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not self.program:
            print("test-visualizer: no Chromium here: pages are not looked at")
            checks["skipped"] += 1

    def page(self, instance, path):
        """Its elements as text; one that ends in an error is a failure."""
        command = [
            self.program, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=15000",
            "--window-size=1600,1000", f"--user-data-dir={work / 'chromium'}", "--dump-dom",
            f"{self.server.url}{path}?instanceId={instance}"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            check(f"{path} in Chromium", "did not end within 300 s", "ended")
            return ""
        dom = html.unescape(done.stdout.decode(errors="replace"))
        broken = re.search(r"unexpected error has occurred\..{0,200}", re.sub(r"<[^>]*>", " ", dom), re.S)
        check(f"page {path}", broken and broken[0], None)
        return dom

    def every(self, name):
        instance = self.server.load(work / name)
        check(f"loading {name}", instance is not None, True)
        if not instance or not self.program:
            return
        with sqlite3.connect(f"file:{work / name}/db.sqlite?mode=ro", uri=True) as db:
            last = db.execute("SELECT max(operation_id) FROM operations").fetchone()[0]
        for path in (*self.EVERY, f"/operations/{last}"):
            check(f"{name}: {path}", "TT-NN Visualizer" in self.page(instance, path), True)


def pages(shown, instance, operations):
    dom = shown.page(instance, "/operations")
    found = re.search(r"Showing\s+(\d+)\s+(of\s+\d+\s+)?operations?", re.sub(r"<[^>]*>", " ", dom))
    check("page of operations", found and int(found.group(1)), len(operations))
    for name in sorted({name for _, name in operations[:5]}):
        check(f"{name} on the page of operations", name in dom, True)
    dom = re.sub(r"<[^>]*>", " ", shown.page(instance, "/performance"))
    found = re.search(r"Showing\s+(\d+)\s+rows?", dom)
    check("page of performance", found and int(found.group(1)),
          sum(row["OP TYPE"] != "signpost" for row in performance_rows()) if performance.exists() else None)
    dom = shown.page(instance, "/buffer-summary")
    check("page of buffers", "Buffers by operation" in dom and "buffer-summary-row" in dom, True)


with Server(sys.argv[1], work) as server:
    instance = server.load(memory, performance if performance.exists() else None)
    check("loading", instance is not None, True)
    if instance:
        operations = routes(server, instance)
        if performance.exists():
            performance_routes(server, instance, operations)
        same_as_tables(server, "memory", [0])
        same_as_tables(server, "ranks", [0, 1])
        shown = Pages(server)
        if shown.program:
            pages(shown, instance, operations)
        for name in sys.argv[3:]:
            shown.every(name)
print(", ".join(f"{n} {word}" for word, n in checks.items() if n or word != "skipped"))
sys.exit(checks["failed"] > 0)
