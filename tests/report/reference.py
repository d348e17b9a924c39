"""What the database of a folder of reports must hold, table by table: slow, simple, the whole report in
memory. Written from the rules in docs/formats/visualizer.md; shares nothing with the importer.

    tables = Reference(folder, schema="3.5").tables      {name: [row, ...]} in the order of the rows
    tables = Reference(folder, strict=True).tables       the same of --strict
"""

import json
import math
import os
import re
from pathlib import Path

COLUMNS = {
    "devices": "device_id num_y_cores num_x_cores num_y_compute_cores num_x_compute_cores worker_l1_size l1_num_banks"
    " l1_bank_size address_at_first_l1_bank address_at_first_l1_cb_buffer num_banks_per_storage_core num_compute_cores"
    " num_storage_cores total_l1_memory total_l1_for_tensors total_l1_for_interleaved_buffers"
    " total_l1_for_sharded_buffers cb_limit rank",
    "operations": "operation_id name duration rank",
    "operation_arguments": "operation_id name value rank",
    "sub_device_managers": "device_id sub_device_manager_id rank",
    "sub_devices": "device_id sub_device_manager_id sub_device_id worker_core_ranges rank",
    "operation_executions": "execution_id operation_id device_id physical_device_id runtime_id global_call_count"
    " command_queue_id rank",
    "execution_sub_devices": "execution_id device_id sub_device_manager_id sub_device_id rank",
    "tensors": "tensor_id shape dtype layout memory_config device_id address buffer_type rank storage_type",
    "device_tensors": "tensor_id device_id address rank",
    "buffers": "operation_id device_id address max_size_per_bank buffer_type buffer_layout rank",
    "captured_graph": "operation_id captured_graph rank",
    "nodes": "operation_id unique_id node_operation_id name rank",
    "edges": "operation_id source_unique_id sink_unique_id source_output_index sink_input_index key rank",
    "errors": "operation_id operation_name error_type error_message stack_trace timestamp rank",
    "stack_traces": "operation_id stack_trace source_file_id rank",
    "input_tensors": "operation_id input_index tensor_id rank",
    "output_tensors": "operation_id output_index tensor_id rank",
    "tensor_lifetime": "tensor_id producer_operation_id last_use_operation_id deallocate_operation_id"
    " producer_source_file producer_source_line last_use_source_file last_use_source_line rank",
    "tensor_consumers": "tensor_id operation_id input_index rank",
    "tensor_producers": "tensor_id operation_id output_index rank",
    "local_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc rank",
    "global_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc rank",
    "buffer_chunks": "operation_id device_id address bank_id core_x core_y chunk_address chunk_size page_size num_pages"
    " buffer_type rank",
}
NEWER = ("sub_device_managers", "sub_devices", "operation_executions", "execution_sub_devices")
PARTS = (
    "ttnn::convert_python_tensor_to_tt_tensor",
    "tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor",
    "Tensor::deallocate",
    "Tensor::to_device",
    "Tensor::reshape",
    "tt::tt_metal::to_dtype",
)
FREES = ("ttnn::deallocate", "ttnn.deallocate", "Tensor::deallocate")
LAYOUTS = {"INTERLEAVED": 0, "HEIGHT_SHARDED": 2, "WIDTH_SHARDED": 3, "BLOCK_SHARDED": 4}  # as ttnn-visualizer reads them
STRICT_LAYOUTS = {"HEIGHT_SHARDED": 1, "WIDTH_SHARDED": 2, "BLOCK_SHARDED": 3}


# The first reports have kinds of memory by their names.
MEMORY = {"DRAM": 0, "L1": 1, "SYSTEM_MEMORY": 2, "L1_SMALL": 3, "TRACE": 4}


def whole(params, key):
    return None if params.get(key) is None else MEMORY[params[key]] if params[key] in MEMORY else int(params[key])


def frame(text):
    found = re.search(r'^\s*File "([^"]+)", line (\d+)', text or "", re.M)
    return (found[1], int(found[2])) if found else (None, None)


def stub(kind, number, to):
    return {"arguments": [], "connections": to, "counter": number, "input_tensors": [], "node_type": kind, "params": {},
            "stacking_level": 0}


class Reference:
    def __init__(self, folder, schema="3.5", strict=False):
        self.new, self.strict = schema == "3.5", strict
        self.tables = {name: [] for name in COLUMNS if self.new or name not in NEWER}
        self.keys = {}  # rows of tables with a unique key
        self.metadata = {"schema_version": schema}
        self.sources = {}
        self.lifetimes = {}
        files = {}
        for path in self.files(Path(folder)):
            report = json.loads(path.read_text(encoding="utf-8"))
            if report.get("version", 0) != 1:
                continue
            rank = int(report["metadata"].get("rank") or 0)
            One(self, path, report, rank, 10000 * files.get(rank, 0)).run()
            files[rank] = files.get(rank, 0) + 1

    @staticmethod
    def files(folder):
        if folder.is_file():
            return [folder]
        names = sorted(p for p in folder.iterdir() if p.name.endswith(".json"))
        captures = [p for p in names if re.fullmatch(r"graph_capture_\d+_of_\d+\.json", p.name)]
        apart = ("config.json", "comparison_records.json")
        return captures or [p for p in names if p.name not in apart
                            and not p.name.endswith((".python_io.json", ".comparison_records.json"))]

    def add(self, table, *row, unique=None, replace=False):
        """A row; `unique` is what no two rows share: the first stays, or the last with `replace`."""
        if unique is not None:
            old = self.keys.get((table,) + unique)
            if old is not None and not replace:
                return
            if old is not None:
                self.tables[table] = [r for r in self.tables[table] if r is not old]
            self.keys[(table,) + unique] = row
        self.tables[table].append(row)


class One:
    """One report file."""

    def __init__(self, out, path, report, rank, base):
        self.out, self.path, self.report, self.rank, self.base = out, path, report, rank, base
        self.number = 1
        self.operations, self.traces, self.inputs, self.outputs = [], {}, [], []
        self.errors, self.live, self.rows, self.places = [], [], [], []
        self.pairs, self.starts, self.stack = {}, {}, []

    def add(self, table, *row, **unique):
        self.out.add(table, *row, self.rank, **unique)

    def side(self, key, *paths):
        if self.report.get(key) is not None:
            return self.report[key]
        for path in paths:
            if path.exists():
                return json.loads(path.read_text(encoding="utf-8"))
        return None

    def run(self):
        report = self.report
        devices = report.get("devices") or []
        self.map = {raw: i for i, raw in enumerate(sorted({d.get("device_id", 0) for d in devices}))}
        self.banks = {}
        names = COLUMNS["devices"].split()[1:-1]
        for device in devices:
            number = self.map[device.get("device_id", 0)]
            self.banks[number] = (device.get("num_dram_channels", 0), device.get("l1_num_banks", 0))
            self.add("devices", number, *(device.get(n, 0) for n in names))
        for rows in (report.get("per_operation_buffers") or {}).values():
            for row in rows:
                if "device_id" in row:
                    row["device_id"] = self.map.get(row["device_id"], row["device_id"])
        self.lists = report.get("per_operation_buffers") or {}
        self.graph = report.get("graph") or []
        if self.graph:
            self.prepare()
            self.walk()
            self.finish()
        self.compare()
        for key, value in report["metadata"].items():
            self.out.metadata.pop(key, None)
            self.out.metadata[key] = str(value)
        self.chunks()

    # ---- the graph --------------------------------------------------------------------------------

    def prepare(self):
        for node in self.graph:
            params = node.get("params") or {}
            if self.map and "device_id" in params:
                raw = params["device_id"]
                raw = int(raw) if isinstance(raw, str) else raw
                params["device_id"] = self.map.get(raw, raw)
            if self.map and "device_tensors" in params:
                places = json.loads(params["device_tensors"])
                for place in places:
                    for key in ("device_id", "mesh_device_id"):
                        if key in place:
                            place[key] = self.map.get(place[key], place[key])
                params["device_tensors"] = json.dumps(places)
            if "counter" in node:
                node["id"] = node["counter"]
        self.records = self.side("python_io", self.path.with_suffix(".python_io.json")) or []
        self.queues = {}
        for record in self.records:
            self.queues.setdefault(record["name"], []).append(record)

    def node(self, position):
        """A node by its position, if there is one."""
        return self.graph[position] if position < len(self.graph) else {}

    def ids(self, positions):
        """(id, node) of the tensors among these nodes."""
        found = []
        for position in positions:
            node = self.node(position)
            given = (node.get("params") or {}).get("tensor_id")
            if node.get("node_type") == "tensor" and given:
                found.append((int(given), node))
        return found

    def walk(self):
        self.visible = self.depth = 0
        self.computed = False
        self.nodes, self.abort = [], None
        self.lifted_in, self.lifted_out, self.inner_in, self.inner_out = [], [], set(), set()
        self.seen, self.owner = set(), {}
        for node in self.graph:
            if self.depth > 0:
                self.nodes.append(node)
            step = getattr(self, "on_" + str(node.get("node_type")), None)
            if step:
                step(node, node.get("params") or {}, node.get("counter", 0))
        for entry in self.stack:
            if not entry["nested"]:
                self.lost(entry)

    def on_function_start(self, node, params, counter):
        name = params.get("name", "unknown")
        from_torch = name in ("ttnn.from_torch", "ttnn::from_torch")
        # What ttnn.from_torch does before anything else is part of it, but for upstream.
        brought = from_torch and not self.computed
        brought = brought or bool(self.stack and self.stack[-1]["brought"] and not self.out.strict)
        part = name.startswith(PARTS) or brought
        if not part and self.visible == 0 and not from_torch:
            self.computed = True
        queue = self.queues.get(name)
        entry = {"counter": counter, "name": name, "node": node, "nested": self.visible > 0 or part, "brought": brought,
                 "record": queue.pop(0) if queue else None, "error": None}
        self.stack.append(entry)
        self.depth += 1
        if entry["nested"]:
            return
        self.visible += 1
        self.nodes, self.abort = [node], None
        self.lifted_in, self.lifted_out, self.inner_in, self.inner_out = [], [], set(), set()
        self.add("nodes", self.base + self.number, counter, self.number, name)

    def on_function_end(self, node, params, counter):
        entry = self.stack.pop() if self.stack else None
        aborted = params.get("aborted") == "true"
        self.depth -= 1
        if entry and entry["nested"]:
            if aborted and not self.abort:
                self.abort = (params.get("name", "unknown"), params.get("abort_reason", ""))
            own = set()
            for tensor, _ in self.ids(entry["node"].get("input_tensors", [])):
                own.add(tensor)
            self.inner_in |= own
            self.lifted_in += own  # in the order of the set
            for tensor, output in self.ids(node.get("connections", [])):
                self.lifted_out.append((tensor, output))
                if tensor not in own:
                    self.inner_out.add(tensor)
            return
        self.visible -= 1
        self.operation(entry, node, params, counter, aborted)
        self.nodes, self.abort = [], None
        self.number += 1

    def operation(self, entry, node, params, counter, aborted):
        id, name = self.base + self.number, params.get("name", "unknown")
        record = (entry or {}).get("record") or {}
        self.operations.append((id, name, (node.get("duration_ns") or 0) / 1e9))
        self.placements(id)
        if entry:
            self.starts[entry["counter"]] = (id, counter)
        self.fault(id, name, entry, record, params, aborted)
        self.arguments(id, entry, record)
        if record.get("python_stack_trace"):
            self.traces[id] = "\n".join(record["python_stack_trace"])
        self.take(id, entry, record)
        outputs = self.give(id, node, record)
        self.subgraph(id, record.get("captured_graph") or self.renumber(self.nodes + outputs))
        given = self.lists.get(str(entry["counter"])) if entry else None
        if given is None:
            self.buffers(id)
        else:
            for row in given:
                layout = row.get("buffer_layout", 0)
                self.add("buffers", id, *(row.get(k, 0) for k in ("device_id", "address", "max_size_per_bank", "buffer_type")),
                         layout if self.out.strict or layout in LAYOUTS.values() else None)

    def fault(self, id, name, entry, record, params, aborted):
        if not self.out.new:
            return
        trace = "\n".join(record.get("python_stack_trace") or [])
        if record.get("error"):
            error = record["error"]
            self.errors.append((id, name, error.get("type", "exception"), error.get("message", ""), trace, ""))
        elif aborted or self.abort:
            who, why = (name, params.get("abort_reason", "")) if aborted else self.abort
            self.errors.append((id, name, "aborted_operation",
                                why or f"Operation '{who}' was aborted by an exception", trace, ""))
        elif entry and entry["error"]:
            self.errors.append((id, name, *entry["error"], trace, ""))

    def placements(self, id):
        if not self.out.new:
            return
        index = 0
        for node in self.nodes:
            params = node.get("params") or {}
            if node.get("node_type") == "sub_device_manager":
                key = (int(params["device_id"]), int(params["sub_device_manager_id"]))
                self.add("sub_device_managers", *key, unique=(*key, self.rank))
                for part in json.loads(params.get("sub_devices") or "[]"):
                    sub = (*key, int(part["sub_device_id"]))
                    self.add("sub_devices", *sub, json.dumps(part.get("worker_core_ranges", [])),
                             unique=(*sub, self.rank))
            elif node.get("node_type") == "program_execution":
                if index == 1024:
                    break
                run, device = id * 1024 + index, int(params["device_id"])
                index += 1
                self.add("operation_executions", run, id, device, int(params.get("physical_device_id", device)),
                         *(int(params[k]) for k in ("runtime_id", "global_call_count", "command_queue_id")),
                         unique=(run, self.rank), replace=True)
                if params.get("sub_device_id") is not None:
                    row = (run, device, int(params["sub_device_manager_id"]), int(params["sub_device_id"]))
                    self.add("execution_sub_devices", *row, unique=(*row, self.rank))

    def arguments(self, id, entry, record):
        if record.get("arguments"):
            pairs = record["arguments"].items()
        else:
            pairs = ((f"arg_{i}", a) for i, a in enumerate(entry["node"].get("arguments", []) if entry else []))
        for key, value in pairs:
            self.add("operation_arguments", id, str(key), str(value))

    def take(self, id, entry, record):
        taken = [int(i) for i in record.get("input_tensor_ids") or []]
        if not taken and entry:
            taken = [i for i, _ in self.ids(entry["node"].get("input_tensors", []))]
            taken = taken or [i for i in dict.fromkeys(self.lifted_in) if i not in self.inner_out]
        self.inputs += [(id, i) for i in taken]

    def give(self, id, node, record):
        """Adds the outputs; returns the nodes that go into the graph of the operation."""
        direct = self.ids(node.get("connections", []))
        if record.get("output_tensor_ids"):
            tensors = [self.node(c) for c in node.get("connections", [])]
            tensors = [n for n in tensors if n.get("node_type") == "tensor"] or [n for _, n in self.lifted_out]
            for i, given in enumerate(record["output_tensor_ids"]):
                self.outputs.append((id, int(given)))
                if i < len(tensors):
                    self.pairs[int(given)] = tensors[i]
            return []
        if not direct:
            first = {}
            for tensor, output in self.lifted_out:
                if not (tensor in self.inner_out and tensor in self.inner_in):
                    first.setdefault(tensor, output)
            direct = list(first.items())
        self.outputs += [(id, tensor) for tensor, _ in direct]
        return [output for _, output in direct]

    @staticmethod
    def renumber(nodes):
        nodes = [stub("capture_start", 0, [1]), *nodes, stub("capture_end", 0, [])]
        new = {node.get("counter", 0): i for i, node in enumerate(nodes)}
        out = []
        for i, node in enumerate(nodes):
            node = dict(node, counter=i)
            for key in ("connections", "input_tensors"):
                if key in node:
                    node[key] = [new.get(c, c) for c in node[key]]
            out.append(node)
        return out

    def named(self, node):
        """A node by its own name, where the dialect calls all of its kind alike."""
        params = node.get("params")
        if self.out.strict or not isinstance(params, dict) or "name" not in params or not isinstance(params.get("operation"), str):
            return node
        return {**node, "params": {key: params["operation"] if key == "name" else value for key, value in params.items() if key != "operation"}}

    def subgraph(self, id, nodes):
        nodes = [self.named(node) for node in nodes]
        for node in nodes:
            if "counter" in node:
                node["id"] = node["counter"]
        self.graph_row(id, nodes)

    def graph_row(self, id, nodes):
        self.add("captured_graph", id, json.dumps(nodes))
        for node in nodes:
            for i, to in enumerate(node.get("connections", [])):
                self.add("edges", id, node.get("counter", 0), to, i, 0, i)

    def on_tensor(self, node, params, counter):
        given = params.get("tensor_id")
        if not given or (type(given), given) in self.seen:
            return
        self.seen.add((type(given), given))
        row = self.tensor(int(given), params)
        self.rows.append(row)
        if row["address"] is not None:
            self.owner.setdefault(row["address"], int(given))
        for place in json.loads(params.get("device_tensors") or "[]"):
            self.places.append((int(given), place.get("mesh_device_id", place.get("device_id")), place.get("address")))

    def tensor(self, id, params, added=False):
        dots = lambda key: params.get(key) and params[key].replace("::", ".")
        row = {"tensor_id": id, "shape": params.get("shape", ""), "dtype": dots("dtype"), "layout": dots("layout"),
               "memory_config": params.get("memory_config"), "device_id": whole(params, "device_id"),
               "address": whole(params, "address"), "buffer_type": whole(params, "buffer_type"),
               "storage_type": params.get("storage_type")}
        if self.out.new:
            if row["storage_type"] is None and (row["memory_config"] is not None or row["address"] is not None):
                row["storage_type"] = "DEVICE"
            return row
        row["buffer_type"] = row["buffer_type"] or 0
        if added:
            row.update({k: str(params.get(k, "")) for k in ("shape", "dtype", "layout", "memory_config")})
        return row

    def on_capture_start(self, node, params, counter):
        """Dialect seed lists what was there before."""
        for before in json.loads(params.get("buffers") or "[]") if not self.stack else []:
            before["device_id"] = self.map.get(before["device_id"], before["device_id"])
            self.allocate(before, before.get("node"))

    def on_buffer_allocate(self, node, params, counter):
        self.allocate(params, self.buffer_of(node))

    def buffer_of(self, node):
        """The position of the buffer that a node is connected with."""
        return next((c for c in node.get("connections", []) if self.node(c).get("node_type") == "buffer"), None)

    def allocate(self, params, of):
        device, address, size, page, cores, kind = (
            whole(params, k) or 0 for k in ("device_id", "address", "size", "page_size", "num_cores", "buffer_type"))
        if "buffer_type" not in params:
            kind = MEMORY.get(params.get("type"), 0)
        layout = params.get("layout", "INTERLEAVED")
        bank = size
        if "max_size_per_bank" in params:
            bank = int(params["max_size_per_bank"])
        elif size > 0 and page > 0:
            banks = self.banks.get(device, (0, 0))[kind != 0] if layout == "INTERLEAVED" else cores
            if banks > 0:
                bank = -(-(size // page) // banks) * page
        self.live.append((device, address, bank, kind, STRICT_LAYOUTS.get(layout, 0) if self.out.strict else LAYOUTS.get(layout), of))

    def on_buffer_deallocate(self, node, params, counter):
        address, of = None, self.buffer_of(node)
        if "address" in params:
            address = int(params["address"])
        elif of is not None:  # dialect seed: this very buffer, and no operation
            address = next((b[1] for b in self.live if b[5] == of), None)
            self.live = [b for b in self.live if b[5] != of]
            if self.stack and self.owner.get(address) is not None:
                self.lifted_in.append(self.owner[address])
            return
        else:
            for connected in map(self.node, node.get("connections", [])):
                if connected.get("node_type") == "buffer_allocate":
                    address = int((connected.get("params") or {}).get("address", 0))
                    break
        self.live = [b for b in self.live if b[1] != address]
        owner = self.owner.get(address)
        if self.stack:
            self.lifted_in += [owner] if owner is not None else []
            return
        id = self.base + self.number
        self.operations.append((id, "ttnn::deallocate", 0.0))
        self.add("nodes", id, counter, self.number, "ttnn::deallocate")
        if owner is not None:
            self.inputs.append((id, owner))
        self.buffers(id)
        own = dict(node, counter=1, id=1)
        if "connections" in own:
            own["connections"] = [2]
        ends = []
        for kind, number, to in (("capture_start", 0, [1]), ("capture_end", 2, [])):
            items = list(stub(kind, number, to).items())
            items.insert(3, ("id", number))
            ends.append(dict(items))
        self.graph_row(id, [ends[0], own, ends[1]])
        self.number += 1

    def buffers(self, id):
        for row in self.live:
            self.add("buffers", id, *row[:5])

    def on_error(self, node, params, counter):
        what = (params.get("error_type", "unknown"), params.get("error_message", ""))
        name = params.get("error_operation", "")
        if self.out.new and name:
            for i in reversed(range(len(self.stack))):
                if self.stack[i]["name"] == name:
                    outer = [e for e in self.stack[: i + 1] if not e["nested"]]
                    if outer:
                        outer[-1]["error"] = outer[-1]["error"] or what
                        return
                    break
        self.errors.append((self.base, name, *what, "", ""))

    def lost(self, entry):
        name, record = entry["name"], entry["record"] or {}
        text = f"Operation '{name}' started but never completed (likely crashed)"
        if not self.out.new:
            if name not in {e[1] for e in self.errors}:
                self.errors.append((self.base, name, "incomplete_operation", text, "", ""))
            return
        id = self.base + self.number
        self.number += 1
        self.starts[entry["counter"]] = (id, entry["counter"])
        self.operations.append((id, name, 0.0))
        self.arguments(id, entry, record)
        self.take(id, entry, record)
        bounds = ("capture_start", "capture_end")
        nodes = [n for n in self.nodes if n.get("node_type") not in bounds]
        self.subgraph(id, record.get("captured_graph") or self.renumber(nodes))
        trace = "\n".join(record.get("python_stack_trace") or [])
        if trace:
            self.traces[id] = trace
        kind, message = "incomplete_operation", text
        if record.get("error"):
            kind, message = record["error"].get("type", kind), record["error"].get("message", text)
        elif entry["error"]:
            kind, message = entry["error"]
        self.errors.append((id, name, kind, message, trace, ""))

    # ---- what is known at the end -----------------------------------------------------------------

    def finish(self):
        for row in self.operations:
            self.add("operations", *row, unique=(row[0], self.rank), replace=True)
        for row in self.errors:
            self.add("errors", *row)
        for id, text in self.traces.items():
            self.add("stack_traces", id, text, self.source(text))
        used = {}
        for _, tensor in self.inputs + self.outputs:
            used[tensor] = True
        self.rows = [r for r in self.rows if r["device_id"] is not None or r["tensor_id"] in used
                     or (self.out.new and r["storage_type"] == "DEVICE")]
        known = {r["tensor_id"] for r in self.rows}
        self.rows += [self.tensor(t, p.get("params") or {}, True) for t, p in sorted(self.pairs.items())
                      if t in used and t not in known]
        known = {r["tensor_id"] for r in self.rows}
        names = COLUMNS["tensors"].split()
        for row in self.rows:
            row["rank"] = self.rank
            self.out.add("tensors", *(row[n] for n in names[: None if self.out.new else -1]),
                         unique=(row["tensor_id"], self.rank))
        for table, mirror, uses in (("input_tensors", "tensor_consumers", self.inputs),
                                    ("output_tensors", "tensor_producers", self.outputs)):
            per = {}
            for id, tensor in uses:
                if tensor in known:
                    per.setdefault(id, {}).setdefault(tensor)
            for id, tensors in per.items():
                for i, tensor in enumerate(tensors):
                    self.add(table, id, i, tensor)
                    self.add(mirror, tensor, id, i, unique=(tensor, id, i, self.rank))
        for place in dict.fromkeys(p for p in self.places if p[0] in known):
            self.add("device_tensors", *place)
        if any(r.get("python_stack_trace") for r in self.records):
            self.lifetime(known)

    def source(self, text):
        """The id of the file that a trace names first; the tests name only files that may be read."""
        for line in text.splitlines():
            found = re.match(r'File "([^"]+)", line \d+, in ', line.strip()) or \
                re.match(r"([^:\n]+):\d+(:\d+)?$", line.strip())
            if found:
                path = os.path.realpath(found[1])
                if not os.path.isfile(path):
                    return None
                return self.out.sources.setdefault(path, len(self.out.sources) + 1)
        return None

    def lifetime(self, known):
        names = {id: name for id, name, _ in self.operations}
        records = []
        for tensor in sorted(known):
            made = [o for o, t in self.outputs if t == tensor]
            taken = [o for o, t in self.inputs if t == tensor]
            used = [o for o in taken if names[o] not in FREES]
            freed = [o for o in taken if names[o] in FREES]
            made, used, freed = (min(made, default=None), max(used, default=None), min(freed, default=None))
            row = (tensor, made, used, freed, *frame(self.traces.get(made)), *frame(self.traces.get(used)))
            self.add("tensor_lifetime", *row, unique=(tensor, self.rank), replace=True)
            records.append(dict(zip(COLUMNS["tensor_lifetime"].split(), (*row, self.rank))))
        if records:
            self.out.lifetimes[self.path.stem + ".tensor_lifetime.json"] = records

    def compare(self):
        data = self.side("comparison_records", self.path.with_suffix(".comparison_records.json"),
                         self.path.parent / "comparison_records.json") or {}
        for given in data.get("tensors", []):
            if self.out.new:
                row = self.tensor(int(given["tensor_id"]), given)
            else:
                row = {**given, "tensor_id": int(given["tensor_id"])}
            row["rank"] = self.rank
            names = COLUMNS["tensors"].split()[: None if self.out.new else -1]
            self.out.add("tensors", *(row.get(n) for n in names), unique=(row["tensor_id"], self.rank))
        for table in ("local_tensor_comparison_records", "global_tensor_comparison_records"):
            for r in data.get(table, []):
                rank = int(r.get("rank", self.rank))
                self.out.add(table, int(r["tensor_id"]), int(r["golden_tensor_id"]), int(bool(r["matches"])),
                             float(r["desired_pcc"]), float(r["actual_pcc"]), rank,
                             unique=(int(r["tensor_id"]), rank))

    # ---- pages ------------------------------------------------------------------------------------

    def group(self, id, pages):
        groups = {}
        for p in pages:
            device, address, bank, x, y, kind, start, size = (
                p.get(k, 0) for k in ("device_id", "address", "bank_id", "core_x", "core_y", "buffer_type",
                                      "page_address", "page_size"))
            groups.setdefault((self.map.get(device, device), address, bank, x, y, kind), []).append((start, size))
        for (device, address, bank, x, y, kind), ranges in groups.items():
            start, end = min(s for s, _ in ranges), max(s + n for s, n in ranges)
            self.add("buffer_chunks", id, device, address, bank, x, y, start, end - start, max(n for _, n in ranges),
                     len(ranges), kind)

    def chunks(self):
        by_address = self.report.get("buffer_pages_by_address") or {}
        if not (by_address and self.lists):
            self.group(self.base + (1 if self.operations else 0), self.report.get("buffer_pages") or [])
            return
        for counter, rows in self.lists.items():
            if int(counter) not in self.starts:
                continue
            id, end = self.starts[int(counter)]
            pages = []
            for row in rows:
                snapshots = by_address.get(str(row.get("address", 0)), [])
                if snapshots and "alloc_counter" not in snapshots[0]:
                    snapshots = [{"alloc_counter": 0, "pages": snapshots}]
                snapshots = sorted(snapshots, key=lambda s: s["alloc_counter"])
                past = [s for s in snapshots if s["alloc_counter"] <= end]
                pages += (past[-1] if past else snapshots[0])["pages"] if snapshots else []
            self.group(id, pages)
