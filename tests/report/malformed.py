#!/usr/bin/env python3
"""malformed.py TTNN: reports that are broken or odd, one row each: what an import says, what it stores, and
that a refused one leaves what was there.

Rows of REFUSED and TAKEN are what upstream refuses or silently misreads; rows of TRAPS are legal, and easy
to get wrong.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

META = {"rank": 0, "world_size": 1}


# ---- reports in few words


def node(kind, params=None, connections=(), **more):
    return {"arguments": [], "connections": list(connections), "counter": None, "input_tensors": [], "node_type": kind,
            "params": {} if params is None else params, "stacking_level": 0, **more}


def start(name, inputs=(), **more):
    return node("function_start", {"inputs": len(inputs), "name": name}, input_tensors=list(inputs), **more)


def end(name, connections=(), **more):
    return node("function_end", {"name": name}, connections, duration_ns=5, **more)


def tensor(id, **params):
    return node("tensor", {"tensor_id": id, "shape": "Shape([1])", "dtype": "DataType::BFLOAT16", "layout": "Layout::TILE", **params})


def on_device(id, address, device=0, **params):
    return tensor(id, memory_config="M", device_id=device, address=address, buffer_type=1, **params)


def allocate(address, device=0, **params):
    return node("buffer_allocate", {"address": address, "device_id": device, "size": 64, "layout": "INTERLEAVED", "buffer_type": 1, **params})


def free(address, device=0):
    return node("buffer_deallocate", {"address": address, "device_id": device})


def graph(*nodes):
    nodes = [node("capture_start"), *map(dict, nodes), node("capture_end")]
    for i, one in enumerate(nodes):
        one["counter"] = i
    for one in nodes[0], nodes[-1]:
        one["params"] = None
    return nodes


def report(*nodes, **more):
    return {"devices": [], "graph": graph(*nodes), "metadata": META, "version": 1, **more}


def as_set(*items):
    """In the order in which Python walks them; a literal may have another."""
    found = set()
    for item in items:
        found.add(item)
    return found


CALL = (start("ttnn::add"), end("ttnn::add"))
DEVICES = [{"device_id": 4, "l1_num_banks": 64, "num_dram_channels": 12}]

# ---- refused: files, options, what is said. A text is a file's content as it is.

DEEP = "[" * 600 + "]" * 600
REFUSED = {
    "a path that is not there": ({}, [], r"^ttnn: \S*/in/report.json: No such file"),
    "an empty file": ({"report.json": ""}, [], r"report.json:1:1: unexpected end of data"),
    "no JSON": ({"report.json": "\n  nonsense"}, [], r"report.json:2:3: "),
    "a list": ({"report.json": []}, [], "Graph report must be a JSON object: .*report.json"),
    "a number": ({"report.json": 7}, [], "Graph report must be a JSON object"),
    "something behind it": ({"report.json": json.dumps(report()) + "\n]"}, [], "report.json:2:1: unexpected content"),
    "a node that is none": ({"report.json": '{"version": 1, "metadata": {"rank": 0}, "graph": [\n  7]}'}, [],
                            "report.json:2:3: a node of the graph must be an object"),
    "a name that is cut": ({"report.json": '{"version": 1, "graph": [{"a": tru}]}'}, [], r"report.json:1:3\d: "),
    "nested too deep": ({"report.json": '{"version": 1, "metadata": {"rank": 0}, "graph": [{"arguments":\n' + DEEP + "}]}"}, [],
                        r"report.json:2:510: nested too deep"),
    "a key twice": ({"report.json": '{"version": 1,\n "version": 1}'}, [], r'report.json:2:13: the key "version" is there twice'),
    "a key of a node twice": ({"report.json": '{"version": 1, "graph": [\n{"counter": 1, "counter": 2}]}'}, [],
                              "report.json:2:1: a node with a key that is there twice"),
    "a key of params twice": ({"report.json": '{"version": 1, "graph": [\n{"params": {"a": 1, "b": 2, "a": 3}}]}'}, [],
                              "report.json:2:1: a node with a key that is there twice"),
    "a huge text": ({"report.json": '{"version": 1, "metadata": {"rank": 0}, "cluster_descriptor":\n "' + "x" * 3000 + '"}'},
                    ["--max-value=2K"], r"report.json:2:2: a single value of 3002 bytes: more than the limit of 2048"),
    "a broken file beside it": ({"report.json": report(*CALL), "report.python_io.json": "[\n{]"}, [], r"report.python_io.json:2:3: "),
    "a record without a name": ({"report.json": report(*CALL), "report.python_io.json": "[\n{}]"}, [],
                                r"report.python_io.json:2:1: a record of python_io without a name"),
    "a rank that is none": ({"report.json": {**report(), "metadata": {"rank": "x"}}}, [], "the rank in its metadata is no number"),
    "a comparison without numbers": ({"report.json": {**report(), "comparison_records": {"local_tensor_comparison_records": [{}]}}}, [],
                                     "a comparison record is incomplete"),
    "an empty folder": ({".keep": ""}, [], "no report and no trace is in this folder"),
    "an object without a version": ({"report.json": "{}"}, [], "report.json has no version: it is not a graph report"),
    "a graph alone": ({"report.json": {"graph": graph(*CALL)}}, [], "has no version"),
    "another version": ({"report.json": {**report(*CALL), "version": 2}}, [], "report.json has version 2, expected 1"),
    "a version that is a text": ({"report.json": {**report(*CALL), "version": "1"}}, [], "has version 1, expected 1"),
    "a version that is null": ({"report.json": {**report(*CALL), "version": None}}, [], "has version None, expected 1"),
    "a list": ({"report.json": "[]"}, [], "Graph report must be a JSON object"),
    "null": ({"report.json": "null"}, [], "Graph report must be a JSON object"),
    "an empty file": ({"report.json": ""}, [], "unexpected end of data"),
    "a folder of what is no report": ({"a.json": [], "b.json": None, "c.json": {}, "d.json": {**report(*CALL), "version": 2}}, [],
                                      "no file in this folder is a report that can be read, so nothing was imported"),
    "a graph that is an object": ({"report.json": {**report(), "graph": {}}}, [], '"graph" must be an array'),
    "a graph that is a text": ({"report.json": {**report(), "graph": "x"}}, [], '"graph" must be an array'),
    "devices that are an object": ({"report.json": {**report(), "devices": {}}}, [], '"devices" must be an array'),
    "a database without a name": ({"report.json": report(*CALL)}, ["--db-name="], "'--db-name' needs an argument that is not empty: NAME"),
    "a database elsewhere": ({"report.json": report(*CALL)}, ["--db-name=../x.sqlite"], "'../x.sqlite' is no name for a database"),
    "strict, no metadata": ({"report.json": {"version": 1}}, ["--strict"], "Graph report missing metadata object: .*report.json"),
    "strict, metadata that is a list": ({"report.json": {"version": 1, "metadata": []}}, ["--strict"], "Graph report missing metadata object"),
    "strict, no rank": ({"report.json": {"version": 1, "metadata": {}}}, ["--strict"],
                        "Graph report metadata missing required field rank: .*report.json"),
    "strict, no rank and another version": ({"report.json": {"version": 2, "metadata": {}}}, ["--strict"], "missing required field rank"),
    "strict, a graph that is null": ({"report.json": {**report(), "graph": None}}, ["--strict"], '"graph" must be an array'),
    "strict, devices that are null": ({"report.json": {**report(), "devices": None}}, ["--strict"], '"devices" must be an array'),
    "strict, a tensor id that is no number": ({"report.json": report(tensor("x"))}, ["--strict"], "report.json:1:.*a tensor whose numbers are none"),
    "strict, a list in a folder": ({"a.json": report(), "b.json": []}, ["--strict"], "Graph report must be a JSON object: .*b.json"),
    "strict, left-over lifetimes in a folder": ({"a.json": report(), "a.tensor_lifetime.json": []}, ["--strict"], "must be a JSON object"),
    "strict, a configuration of a rank": ({"a.json": report(), "config_1_of_2.json": {"report_name": "x"}}, ["--strict"], "missing metadata object"),
    "strict, records of a folder met twice": ({"a.json": report(), "b.json": report(), "comparison_records.json": {
        "local_tensor_comparison_records": [{"tensor_id": 1, "golden_tensor_id": 2, "matches": True, "desired_pcc": 1, "actual_pcc": 1}]}},
        ["--strict"], "UNIQUE constraint failed"),
}

# ---- taken: files, options, what is said (a pattern, or None), queries and their answers

ONE = {"select count(*) from operations": [(1,)]}
RECORDS = {"local_tensor_comparison_records": [{"tensor_id": 1, "golden_tensor_id": 2, "matches": True, "desired_pcc": 1, "actual_pcc": 1}]}
TAKEN = {
    "strict, a path that is not there": ({}, ["--strict"], None, {"select key from report_metadata": [("schema_version",)]}),
    "no metadata": ({"report.json": {"version": 1, "graph": graph(*CALL)}}, [], None, ONE),
    "no rank": ({"report.json": {**report(*CALL), "metadata": {}}}, [], None, {"select rank from operations": [(0,)]}),
    "a rank as a text": ({"report.json": {**report(*CALL), "metadata": {"rank": "3"}}}, [], None, {"select rank from operations": [(3,)]}),
    "a rank that is no whole number": ({"report.json": {**report(*CALL), "metadata": {"rank": 1.7}}}, [], None, {"select rank from operations": [(1,)]}),
    "another version in a folder": ({"a.json": {**report(*CALL), "version": 2}, "b.json": report(*CALL)}, [],
                                    "a.json has version 2, expected 1", ONE),
    "strict, another version": ({"report.json": {**report(*CALL), "version": 2}}, ["--strict"], "report.json has version 2, expected 1",
                                {"select count(*) from operations": [(0,)]}),
    "a version that equals 1": ({"report.json": {**report(*CALL), "version": 1.0}}, [], None, ONE),
    "a version that is true": ({"report.json": {**report(*CALL), "version": True}}, [], None, ONE),
    "no graph": ({"report.json": {"version": 1, "metadata": META, "devices": DEVICES}}, [], None, {"select device_id from devices": [(0,)]}),
    "no devices": ({"report.json": {"version": 1, "metadata": META, "graph": graph(*CALL)}}, [], None, ONE),
    "a graph that is null": ({"report.json": {**report(), "graph": None, "devices": DEVICES}}, [], None, {"select count(*) from operations": [(0,)]}),
    "devices that are null": ({"report.json": {**report(*CALL), "devices": None}}, [], None, ONE),
    "a tensor id that is no number": ({"report.json": report(tensor("x"), *CALL)}, [], "node 1: a tensor whose numbers are none", ONE),
    "a list in a folder": ({"a.json": report(*CALL), "b.json": []}, [], "b.json: not a graph report; left out", ONE),
    "left-over lifetimes in a folder": ({"a.json": report(*CALL), "a.tensor_lifetime.json": []}, [], None, ONE),
    "a configuration of a rank": ({"a.json": report(*CALL), "config_1_of_2.json": {"report_name": "x"}}, [], "config_1_of_2.json: not a graph report", ONE),
    "strict, an empty folder": ({".keep": ""}, ["--strict"], None, {"select key from report_metadata": [("schema_version",)]}),
    "strict, traces in a folder": ({"a.json": report(*CALL), "b.ttrace": "no trace"}, ["--strict"], None, ONE),
    "pictures of what is imported": ({"a.json": report(*CALL), "b.json": []}, ["--svg"], r"\A[^\n]*b.json: not a graph report; left out\n\Z", ONE),
    "captures alone, if there are any": ({"graph_capture_1_of_1.json": report(*CALL), "b.json": []}, [], None, ONE),
    "records of a folder met twice": ({"a.json": report(), "b.json": report(), "comparison_records.json": RECORDS}, [], None,
                                      {"select tensor_id, golden_tensor_id, matches, rank from local_tensor_comparison_records": [(1, 2, 1, 0)]}),
    "references that lead nowhere": ({"report.json": report(start("a", [99, 0, -50]), end("a", [99, 1]))}, [], None,
                                     {"select count(*) from operations": [(1,)], "select count(*) from input_tensors": [(0,)],
                                      "select count(*) from output_tensors": [(0,)]}),
    "references from the end": ({"report.json": report(on_device(7, 64), start("a", [-4]), end("a"))}, [], None,
                                {"select tensor_id from input_tensors": [(7,)]}),
    "an end without a start": ({"report.json": report(end("a"), *CALL)}, [], None, {"select name from operations": [("a",), ("ttnn::add",)]}),
    "a start without an end": ({"report.json": report(start("a"))}, [], None, {
        "select name, duration from operations": [("a", 0.0)],
        "select operation_id, error_type, error_message from errors":
            [(1, "incomplete_operation", "Operation 'a' started but never completed (likely crashed)")]}),
    "a start without an end, and pictures": ({"report.json": report(start("a"))}, ["--svg"], None, {"select name from operations": [("a",)]}),
    "kinds of nodes that nobody knows": ({"report.json": report(start("a"), node("new_kind", {"x": [1]}), end("a"))}, [], None, ONE),
    "nodes without anything": ({"report.json": {**report(), "graph": [{}, {"node_type": "tensor"}, {"node_type": "buffer_allocate"}, {"node_type": "function_end"}]}},
                               [], "node 3: an end without a name", {"select name from operations": [("unknown",)], "select address, max_size_per_bank from buffers": [(0, 0)]}),
    "strict, a key twice": ({"report.json": '{"version": 2, "metadata": {"rank": 0}, "version": 1}'}, ["--strict"], None,
                            {"select value from report_metadata where key = 'rank'": [("0",)]}),
}

# ---- traps: nodes that are legal; queries and their answers

BROUGHT = start("ttnn.from_torch"), start("TilizeDeviceOperation"), end("TilizeDeviceOperation"), end("ttnn.from_torch")
LAYOUTS_OF_NODES = {"report.json": report(*[allocate(64 * i, layout=name) for i, name in enumerate(
    ("INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "UNKNOWN"))], *CALL)}
LAYOUTS_OF_LISTS = {"report.json": report(*CALL, per_operation_buffers={"1": [
    {"device_id": 0, "address": 64, "max_size_per_bank": 2, "buffer_type": 1, "buffer_layout": n} for n in (0, 2, 3, 4, 5)]})}
MANY = [n for i in range(10001) for n in (start(f"a{i}"), end(f"a{i}"))]
TRAPS = {
    "the number 0 is no tensor, the text is one": ({"report.json": report(on_device(0, 64), start("a", [1]), end("a"))}, [],
                                                   {"select count(*) from tensors": [(0,)], "select count(*) from input_tensors": [(0,)]}),
    "the text 0 is a tensor": ({"report.json": report(on_device("0", 64), start("a", [1]), end("a"))}, [],
                               {"select tensor_id from tensors": [(0,)], "select tensor_id from input_tensors": [(0,)]}),
    "params that are null": ({"report.json": report(start("a"), node("other"), end("a"))}, [], ONE),
    **{f"codes of layouts, by allocation {' '.join(options)}": (LAYOUTS_OF_NODES, options, {"select buffer_layout from buffers": [(n,) for n in codes]})
       for options, codes in (([], (0, 2, 3, 4, None)), (["--tables"], (0, 2, 3, 4, None)), (["--strict"], (0, 1, 2, 3, 0)))},
    **{f"codes of layouts, by list {' '.join(options)}": (LAYOUTS_OF_LISTS, options, {"select buffer_layout from buffers": [(n,) for n in codes]})
       for options, codes in (([], (0, 2, 3, 4, None)), (["--tables"], (0, 2, 3, 4, None)), (["--strict"], (0, 2, 3, 4, 5)))},
    **{f"tensors of torch that a mesh tilizes {' '.join(options)}": ({"report.json": report(*BROUGHT, *BROUGHT, *CALL, *BROUGHT)}, options,
        {"select name from operations": [(name,) for name in names]})
       for options, names in (([], ("ttnn::add", "ttnn.from_torch")),
                              (["--strict"], ("TilizeDeviceOperation", "ttnn.from_torch", "ttnn::add", "ttnn.from_torch")))},
    "errors of 3.3 belong to no operation": ({"report.json": report(start("a"), node("error", {"error_operation": "a", "error_message": "m"}), end("a"))},
                                             ["--schema=3.3"], {"select operation_id, operation_name, error_type from errors": [(0, "a", "unknown")]}),
    "errors of 3.5 do": ({"report.json": report(start("a"), node("error", {"error_operation": "a", "error_message": "m"}), end("a"))}, [],
                         {"select operation_id, operation_name, error_message from errors": [(1, "a", "m")]}),
    "old allocations in L1": ({"report.json": report(node("buffer_allocate", {"address": "64", "size": "32", "type": "L1"}), *CALL)}, [],
                              {"select address, buffer_type from buffers": [(64, 1)]}),
    "strict, they are filed as DRAM": ({"report.json": report(node("buffer_allocate", {"address": "64", "size": "32", "type": "L1"}), *CALL)}, ["--strict"],
                                       {"select address, buffer_type from buffers": [(64, 0)]}),
    "kinds of memory by their names": ({"report.json": report(on_device(5, 64, **{"storage_type": "DEVICE"}), tensor(6, device_id="0", address="64", buffer_type="L1_SMALL"))}, [],
                                       {"select tensor_id, buffer_type from tensors": [(5, 1), (6, 3)]}),
    "ids of two files collide": ({"a.json": report(*MANY), "b.json": report(*CALL)}, [],
                                 {"select name from operations where operation_id = 10001": [("ttnn::add",)],
                                  "select count(*) from captured_graph where operation_id = 10001": [(2,)],
                                  "select count(*) from operations": [(10001,)]}),
    "files of two ranks do not": ({"a.json": report(*CALL), "b.json": {**report(*CALL), "metadata": {"rank": 1}}}, [],
                                  {"select operation_id, rank from operations": [(1, 0), (1, 1)]}),
    "a second file of a rank starts at 10001": ({"a.json": report(*CALL), "b.json": report(*CALL)}, [],
                                                {"select operation_id from operations": [(1,), (10001,)]}),
    "the first file's tensors win": ({"a.json": report(on_device(5, 64)), "b.json": report(on_device(5, 128))}, [],
                                     {"select tensor_id, address from tensors": [(5, 64)]}),
    "files are taken in the order of their names": ({f"graph_capture_{i}_of_12.json": report(start(f"op{i}"), end(f"op{i}")) for i in (1, 2, 10)}, [],
                                                    {"select name from operations order by operation_id": [("op10",), ("op1",), ("op2",)]}),
    "a deallocation is the first owner's": ({"report.json": report(on_device(5, 64), on_device(6, 64), allocate(64), free(64))}, [],
                                            {"select name from operations": [("ttnn::deallocate",)], "select tensor_id from input_tensors": [(5,)]}),
    "an address is freed on all devices": ({"report.json": report(allocate(64, 0), allocate(64, 1), allocate(128, 1), start("a"), free(64, 0), end("a"))}, [],
                                           {"select device_id, address from buffers": [(1, 128)]}),
    "buffers of one address are all listed": ({"report.json": report(allocate(64), allocate(64), *CALL)}, [],
                                              {"select address from buffers": [(64,), (64,)]}),
    "what is inside a filtered function": ({"report.json": report(start("Tensor::to_device"), start("x"), end("x"), end("Tensor::to_device"),
                                                                  start("ttnn.from_torch"), end("ttnn.from_torch"))}, [],
                                           {"select name from operations": [("x",), ("ttnn.from_torch",)]}),
    "the first from_torch is none": ({"report.json": report(start("ttnn.from_torch"), end("ttnn.from_torch"), *CALL,
                                                           start("ttnn.from_torch"), end("ttnn.from_torch"))}, [],
                                     {"select name from operations": [("ttnn::add",), ("ttnn.from_torch",)]}),
    "names of operations and nodes": ({"report.json": report(start("begun"), end("ended"))}, [],
                                      {"select name from operations": [("ended",)], "select name from nodes": [("begun",)]}),
    "inputs from inside in the order of a set": ({"report.json": report(*[on_device(i, 64 * i) for i in (20, 12, 1, 4)], start("a"),
                                                                        start("b", [1, 2, 3, 4]), end("b"), end("a"))}, [],
                                                 {"select tensor_id from input_tensors order by input_index": [(i,) for i in as_set(20, 12, 1, 4)]}),
    "device_tensors with devices": ({"report.json": report(start("a"), on_device(5, 64, 4, device_tensors='[{"address":64,"device_id":4,"mesh_device_id":4}]'),
                                                           end("a"), devices=DEVICES)}, [], {
        "select device_id, address from device_tensors": [(0, 64)],
        "select instr(captured_graph, '[{\\\"address\\\": 64, \\\"device_id\\\": 0, \\\"mesh_device_id\\\": 0}]') > 0 from captured_graph": [(1,)]}),
    "device_tensors without devices": ({"report.json": report(start("a"), on_device(5, 64, 4, device_tensors='[{"address":64,"device_id":4}]'), end("a"))}, [], {
        "select device_id, address from device_tensors": [(4, 64)],
        "select instr(captured_graph, '[{\\\"address\\\":64,\\\"device_id\\\":4}]') > 0 from captured_graph": [(1,)]}),
    "records are matched by name and order": ({"report.json": report(start("a"), end("a"), start("a"), end("a"), start("b"), end("b")),
                                               "report.python_io.json": [{"name": "b", "arguments": {"x": "B"}}, {"name": "a", "arguments": {"x": "1"}}]}, [],
                                              {"select operation_id, value from operation_arguments": [(1, "1"), (3, "B")]}),
    "many frees of what nobody owns": ({"report.json": report(*[free(64 * i) for i in range(5000)])}, [],
                                       {"select count(*) from operations": [(5000,)]}),
}


class Check:
    def __init__(self, ttnn, scratch):
        self.ttnn, self.scratch, self.good, self.bad = os.path.abspath(ttnn), Path(scratch), 0, 0

    def say(self, name, good, what):
        self.good += bool(good)
        self.bad += not good
        if not good:
            print(f"FAILED {name}: {str(what)[:800]}")

    def write(self, files):
        folder = self.scratch / "in"
        for path in list(folder.glob("*")):
            path.unlink()
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        single = len(files) == 0 or "report.json" in files
        return folder / "report.json" if single else folder

    def run(self, *arguments):
        return subprocess.run([self.ttnn, "import", *map(str, arguments)], capture_output=True, text=True)

    def clear(self):
        subprocess.run(["rm", "-rf", str(self.scratch / "out")], check=True)
        return self.scratch / "out"

    def refused(self, name, files, options, message):
        path, out = self.write(files), self.clear()
        done = self.run(*options, path, out)
        self.say(name, done.returncode == 2 and re.search(message, done.stderr), (done.returncode, done.stderr))
        left = sorted(p.name for p in out.glob("*")) if out.exists() else []
        self.say(f"{name}: nothing is left", not out.exists(), left)
        # What was there stays, whole.
        out.mkdir(exist_ok=True)
        (out / "db.sqlite").write_bytes(b"what was there")
        (out / "cluster_descriptor.yaml").write_bytes(b"this too")
        self.run(*options, path, out)
        self.say(f"{name}: what was there stays", {p.name: p.read_bytes() for p in out.glob("*")} ==
                 {"db.sqlite": b"what was there", "cluster_descriptor.yaml": b"this too"}, sorted(out.glob("*")))

    def taken(self, name, files, options, message, queries):
        path, out = self.write(files), self.clear()
        # Twice is as once, but for what upstream appends to.
        for _ in range(1 if "--strict" in options else 2):
            done = self.run(*options, path, out)
            self.say(name, done.returncode == 0 and (re.search(message, done.stderr) if message else not done.stderr),
                     (done.returncode, done.stderr))
            with sqlite3.connect(out / "db.sqlite") as db:
                for query, answer in queries.items():
                    found = db.execute(query).fetchall()
                    self.say(f"{name}: {query}", found == answer, found)
            db.close()

    def killed(self):
        """What an import that was killed left is taken away by the next."""
        path, out = self.write({"report.json": report(*CALL)}), self.clear()
        ended = subprocess.Popen(["true"])
        ended.wait()
        out.mkdir()
        stays = sorted([f"db.sqlite.{os.getpid()}.tmp", "db.sqlite.x.tmp", f"db.sqlite.0{ended.pid}.tmp"])
        for name in (f"db.sqlite.{ended.pid}.tmp", *stays):
            (out / name).write_bytes(b"half")
        done = self.run(path, out)
        left = sorted(p.name for p in out.glob("*.tmp"))
        # Somebody on another machine may be writing it.
        self.say("what was left a moment ago", done.returncode == 0 and left == sorted([f"db.sqlite.{ended.pid}.tmp", *stays]), left)
        for name in left:
            os.utime(out / name, (1, 1))
        done = self.run(path, out)
        left = sorted(p.name for p in out.glob("*.tmp"))
        self.say("what was left of a killed one", done.returncode == 0 and left == stays, left)

    def killed_pictures(self):
        """So are its pictures; nobody else's are published or taken away."""
        path, out = self.write({"report.json": report(*CALL)}), self.clear()
        ended = subprocess.Popen(["true"])
        ended.wait()
        stays = sorted([f"graphs.{os.getpid()}.tmp.a1B2c3", f"graphs.{ended.pid}.before", "graphs.x.tmp.a1B2c3"])
        for name in (f"graphs.{ended.pid}.tmp.a1B2c3", *stays):
            (out / name).mkdir(parents=True)
            (out / name / "old.svg").write_text("old")
        for old in (False, True):
            left = sorted([*stays] if old else [f"graphs.{ended.pid}.tmp.a1B2c3", *stays])
            done = self.run("--svg", path, out)
            found = sorted(p.name for p in out.glob("graphs.*"))
            self.say(f"pictures of a killed one, old: {old}", done.returncode == 0 and found == left, (found, done.stderr))
            self.say("pictures of the import", sorted(p.name for p in (out / "graphs").glob("*")) == ["report.flow.svg", "report.svg"], found)
            for name in found:
                os.utime(out / name, (1, 1))
        self.say("what is another's", all((out / name / "old.svg").exists() for name in stays), "")
        # A container gives every import the same number.
        self.clear().mkdir()
        script = 'd="$1/graphs.$$.tmp.a1B2c3"; mkdir "$d" "$1/graphs.$$.tmp"; echo >"$d/old.svg"; touch -d @1 "$d"; shift; exec "$@"'
        done = subprocess.run(["sh", "-c", script, "-", out, self.ttnn, "import", "--svg", path, out], capture_output=True, text=True)
        found = sorted(re.sub("[0-9]+", "PID", str(p.relative_to(out))) for p in out.rglob("*") if p.name != "db.sqlite")
        self.say("the same number again", done.returncode == 0 and
                 found == ["graphs", "graphs.PID.tmp", "graphs/report.flow.svg", "graphs/report.svg"], (found, done.stderr))

    def folders(self):
        """Folders that a refused import made are gone, however they were called; others stay."""
        path, out = self.write({"report.json": "{"}), self.clear()
        for name in ("new", "new/", "./new//deep", str(out / "a" / "b") + "/"):
            done = subprocess.run([self.ttnn, "import", path, name], capture_output=True, text=True, cwd=out.parent)
            self.say(f"{name}: the folder", done.returncode == 2 and not (out.parent / "new").exists() and not out.exists(), done.stderr)

    def cut(self):
        """A report that ends too early, wherever that is: refused with its place, and nothing is left."""
        text = json.dumps(report(on_device(5, 64), *CALL, allocate(64), devices=DEVICES), indent=1)
        out = self.clear()
        for length in range(0, len(text) - 1, 37):
            path = self.write({"report.json": text[:length]})
            done = self.run(path, out)
            line, column = text[:length].count("\n") + 1, length - (text[:length].rfind("\n") + 1) + 1
            place = f"report.json:{line}:{column}: "
            self.say(f"cut at {length}", done.returncode == 2 and place in done.stderr and not list(out.glob("*")), done.stderr)

    def beside(self):
        """Every refused report in a folder, between good ones: those are imported as if it were not there, and it is named."""
        good = {"a.json": report(on_device(5, 64), *CALL, devices=DEVICES), "z.json": report(*CALL, allocate(64), devices=DEVICES)}
        select = ("select * from operations", "select * from tensors", "select * from buffers", "select * from captured_graph",
                  "select key, value from report_metadata where key != 'left_out'")

        def answers(folder):
            db = sqlite3.connect(folder / "db.sqlite")
            try:
                return [db.execute(text).fetchall() for text in select], dict(db.execute("select * from report_metadata")).get("left_out")
            finally:
                db.close()

        out = self.clear()
        self.run(self.write(good), out)
        want, none = answers(out)
        self.say("nothing is left out", none is None, none)
        for name, (files, options, said) in REFUSED.items():
            if "report.json" not in files or options:
                continue
            folder, out = self.write({**good, **files}).parent, self.clear()
            done = self.run(folder, out)
            found, left = answers(out)
            self.say(f"{name}, beside others", found == want and done.returncode in (0, 1) and "report.json" in done.stderr
                     and [x["file"] for x in json.loads(left)] == ["report.json"], (done.returncode, done.stderr, left))
            if done.returncode:
                self.say(f"{name}, beside others: named", re.search(r"all but one broken file were imported: .*report.(python_io.|comparison_records.)?json",
                                                                   done.stderr), done.stderr)

    def huge(self):
        """One text of a gigabyte (a file with a hole: it takes no room): refused without reading it into memory."""
        path, out = self.write({"report.json": ""}), self.clear()
        with open(path, "wb") as file:
            file.write(b'{"version": 1, "metadata": {"rank": 0},\n "cluster_descriptor": "')
            file.seek(1 << 30, os.SEEK_CUR)
            file.write(b'", "graph": []}')
        limited = ["bash", "-c", 'ulimit -v 300000; exec "$@"', "-", self.ttnn, "import", str(path), str(out)]
        if Path(self.ttnn).parent.name in ("asan", "tsan"):
            limited = limited[4:]  # their shadows alone take more
        done = subprocess.run(limited, capture_output=True, text=True)
        self.say("a text of a gigabyte", done.returncode == 2 and re.search(r"report.json:2:24: a single value of 107374182\d bytes", done.stderr),
                 (done.returncode, done.stderr))
        self.say("a text of a gigabyte: nothing is left", not list(out.glob("*")), "")

    def all(self):
        for name, row in REFUSED.items():
            self.refused(name, *row)
        for name, row in TAKEN.items():
            self.taken(name, *row)
        for name, (files, options, queries) in TRAPS.items():
            self.taken(name, files, options, None, queries)
        self.killed()
        self.killed_pictures()
        self.folders()
        self.cut()
        self.beside()
        self.huge()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(sys.argv[1], scratch)
        check.all()
        print(f"{check.good} as wanted, {check.bad} not")
        sys.exit(check.bad > 0 or check.good == 0)


if __name__ == "__main__":
    main()
