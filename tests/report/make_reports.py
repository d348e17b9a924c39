#!/usr/bin/env python3
"""Reports for tests and benchmarks.

    make_reports.py model DIR [--ops N] [--full]     one report as a captured model gives: layers of calls that wrap
                                                     device operations; --full adds traces, graphs, lists, pages
    make_reports.py odd DIR [--seed S] [--count N]   N folders of small reports, each full of rare but legal things
"""

import argparse
import json
import os
import random

PAGE = 2048
CONFIG = ("MemoryConfig(memory_layout=TensorMemoryLayout::{},buffer_type=BufferType::{},shard_spec=std::nullopt,"
          "nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)")
# Python's name, C++ name, device operation, inputs, weights, circular buffers, placement
CALLS = [
    ("ttnn.layer_norm", "ttnn::layer_norm", "LayerNormDeviceOperation", 1, 1, 7, "L1"),
    ("ttnn.linear", "ttnn::linear", "MatmulDeviceOperation", 1, 1, 4, "SHARDED"),
    ("ttnn.transformer.attention", "ttnn::transformer::attention", "AttentionDeviceOperation", 3, 0, 12, "L1"),
    ("ttnn.add", "ttnn::add", "BinaryNgDeviceOperation", 2, 0, 3, "SHARDED"),
    ("ttnn.gelu", "ttnn::gelu", "UnaryDeviceOperation", 1, 0, 2, "L1"),
    ("ttnn.to_memory_config", "ttnn::to_memory_config", "CopyDeviceOperation", 1, 0, 2, "DRAM"),
]


class Model:
    def __init__(self, ops, full, weights=64):
        self.random = random.Random(ops)
        self.full = full
        self.nodes, self.records, self.lists, self.pages = [], [], {}, {}
        self.open, self.free, self.top, self.live, self.tensors = [0], {}, {}, {}, 0
        self.node("capture_start", None)
        self.weights = [self.load() for _ in range(weights)]
        self.run(ops)
        self.node("capture_end", None, duration_ns=10**9)

    def node(self, kind, params, connections=(), **more):
        node = {"arguments": [], "connections": list(connections), "counter": len(self.nodes), "input_tensors": [],
                "node_type": kind, "params": params, "stacking_level": len(self.open) - 1, **more}
        self.nodes.append(node)
        if len(self.nodes) > 1 and kind != "tensor":
            self.nodes[self.open[-1]]["connections"].append(node["counter"])
        return node["counter"]

    def begin(self, name, arguments=(), tensors=()):
        start = self.node("function_start", {"inputs": len(arguments), "name": name}, arguments=list(arguments))
        self.open.append(start)
        self.nodes[start]["input_tensors"] = [self.mention(t, [start]) for t in tensors]
        return start

    def end(self, outputs=()):
        start = self.open.pop()
        end = self.node("function_end", {"name": self.nodes[start]["params"]["name"]}, duration_ns=1 + self.random.randrange(10**6))
        if self.full and len(self.open) == 1:
            self.lists[start] = list(self.live.values())
        self.nodes[end]["connections"] += [self.mention(t, []) for t in outputs]
        return end

    def mention(self, tensor, connections):
        params = {k: v for k, v in tensor.items() if k != "node"}
        at = self.node("tensor", params, connections)
        if tensor.get("node"):
            self.nodes[tensor["node"]]["connections"].append(at)
        return at

    def make(self, where, size=262144, host=False):
        tensor = {"tensor_id": self.tensors, "shape": "Shape([1, 1, 32, 4096])", "dtype": "DataType::BFLOAT16",
                  "layout": "Layout::TILE", "size": size}
        self.tensors += 1
        if not host:
            kind = 0 if where == "DRAM" else 1
            free = self.free.setdefault((kind, size), [])
            top = self.top.setdefault(kind, 1 << 20)
            address = free.pop() if free else top
            if address == top:
                self.top[kind] = top + size
            layout = "WIDTH_SHARDED" if where == "SHARDED" else "INTERLEAVED"
            node = self.node("buffer", {"device_id": 4, "size": size, "buffer_type": kind, "layout": layout})
            at = self.node("buffer_allocate", {"address": address, "buffer_type": kind, "device_id": 4, "layout": layout,
                           "max_size_per_bank": size // 8, "num_cores": 0, "page_size": PAGE, "size": size}, [node])
            self.live[address] = {"device_id": 4, "address": address, "max_size_per_bank": size // 8,
                                  "buffer_type": kind, "buffer_layout": 3 if where == "SHARDED" else 0}
            if self.full and kind:
                rows = [{"address": address, "bank_id": i % 32, "buffer_type": 1, "core_x": i % 8, "core_y": i % 32 // 8,
                         "device_id": 4, "page_address": address + i // 32 * PAGE, "page_index": i, "page_size": PAGE}
                        for i in range(size // PAGE)]
                self.pages.setdefault(address, []).append({"alloc_counter": at, "pages": rows})
            tensor.update(node=node, address=address, buffer_type=kind, device_id=4,
                          memory_config=CONFIG.format(layout, "L1" if kind else "DRAM"),
                          device_tensors=json.dumps([{"address": address, "device_id": 4, "mesh_device_id": 4}]))
        return tensor

    def release(self, tensor):
        self.free[tensor["buffer_type"], tensor["size"]].append(tensor["address"])
        self.live.pop(tensor["address"], None)
        self.node("buffer_deallocate", {"address": tensor["address"], "device_id": 4, "size": tensor["size"],
                  "buffer_type": tensor["buffer_type"]}, [tensor["node"]])

    def text(self, t):
        return (f"Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape={t['shape']},tensor_layout=TensorLayout("
                f"dtype={t['dtype']},page_config=PageConfig(config=TilePageConfig(tile=Tile(tile_shape={{32, 32}},"
                f"face_shape={{16, 16}},num_faces=4))),memory_config={t.get('memory_config')},alignment=Alignment([32, 32]))))")

    def record(self, name, inputs, outputs, start):
        arguments = {str(i): "ttnn." + self.text(t) for i, t in enumerate(inputs)}
        arguments["compute_kernel_config"] = "WormholeComputeKernelConfig(math_fidelity=HiFi2,math_approx_mode=0,packer_l1_acc=1)"
        record = {"name": name, "arguments": arguments, "input_tensor_ids": [t["tensor_id"] for t in inputs],
                  "output_tensor_ids": [t["tensor_id"] for t in outputs]}
        if self.full:
            line = 1 + len(self.records) % 300
            record["python_stack_trace"] = [f'  File "/nowhere/layer.py", line {line}, in forward\n    x = {name}(x)\n',
                                            '  File "/nowhere/demo.py", line 9, in run\n    model(x)\n']
            nodes = [dict(n, counter=i + 1, connections=[c - start for c in n["connections"] if c > start])
                     for i, n in enumerate(self.nodes[start + 1:])]
            record["captured_graph"] = [{"connections": [1], "counter": 0, "node_type": "capture_start", "params": None}, *nodes]
        self.records.append(record)

    def load(self):
        self.begin("ttnn.from_torch")
        host = self.make("DRAM", 1 << 20, host=True)
        self.begin("Tensor::to_device", [self.text(host)], [host])
        tensor = self.make("DRAM", 1 << 20)
        self.end([tensor])
        self.end()
        return tensor

    def call(self, row, acts):
        python, cpp, device, takes, weights, buffers, where = row
        inputs = acts[-takes:] + self.random.sample(self.weights, weights)
        start = self.begin(python)
        arguments = [self.text(t) for t in inputs] + ["std::nullopt", "param=17", "std::nullopt"] * 2
        self.begin(cpp, arguments, inputs)
        self.begin(device, arguments[: len(inputs) + 1], inputs)
        self.begin("tt::tt_metal::create_device_tensor", ["Shape([1, 1, 32, 4096])", "DataType::BFLOAT16", "Layout::TILE"])
        out = self.make(where, self.random.choice([65536, 131072, 262144]))
        self.end([out])
        self.node("circular_buffer_deallocate_all", {"device_id": 4})
        for i in range(buffers):
            self.node("circular_buffer_allocate", {"address": 100000 + 4096 * i, "core_range_set": "{[(x=0,y=0) - (x=7,y=7)]}",
                      "device_id": 4, "globally_allocated": "0", "size": 4096})
        self.end([out])
        self.end([out])
        self.end()
        self.record(python, inputs, [out], start)
        return out

    def run(self, ops):
        done, acts = 0, [self.make("DRAM") for _ in range(3)]
        while done < ops:
            acts.append(self.call(CALLS[done % len(CALLS)], acts))
            done += 1
            while len(acts) > 8 and done < ops:
                tensor = acts.pop(0)
                if self.random.random() < 0.5:
                    start = self.begin("ttnn.deallocate")
                    self.begin("Tensor::deallocate", ["false"], [tensor])
                    self.release(tensor)
                    self.end()
                    self.end()
                    self.record("ttnn.deallocate", [tensor], [], start)
                else:
                    self.release(tensor)
                done += 1

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        device = {"device_id": 4, "arch": "WORMHOLE_B0", "l1_num_banks": 64, "num_dram_channels": 12, "worker_l1_size": 1499136,
                  "num_x_cores": 8, "num_y_cores": 8}
        report = {"version": 1, "devices": [device], "graph": None, "cluster_descriptor": "arch:\n  0: wormhole_b0\n",
                  "metadata": {"rank": 0, "world_size": 1, "capture_timestamp_ns": 1, "total_duration_ns": 10**9}}
        if self.full:
            report["per_operation_buffers"] = {str(c): self.lists[c] for c in sorted(self.lists, key=str)}
            report["buffer_pages_by_address"] = {str(a): p for a, p in self.pages.items()}
        with open(os.path.join(folder, "report.json"), "w") as out:
            out.write("{")
            for i, key in enumerate(sorted(report)):
                out.write((",\n  " if i else "\n  ") + json.dumps(key) + ": ")
                if key != "graph":
                    out.write(json.dumps(report[key], indent=2, sort_keys=True))
                    continue
                for j, node in enumerate(self.nodes):
                    out.write((",\n" if j else "[\n") + json.dumps(node, indent=2, sort_keys=True))
                out.write("\n  ]")
            out.write("\n}")
        with open(os.path.join(folder, "report.python_io.json"), "w") as out:
            json.dump(self.records, out)


# ---- odd ones -------------------------------------------------------------------------------------

NAMES = ["ttnn.add", "ttnn.linear", "ttnn.from_torch", "ttnn.from_torch", "ttnn::add", "SomeDeviceOperation", "Tensor::deallocate",
         "Tensor::to_device", "Tensor::reshape_more", "tt::tt_metal::to_dtype", "ttnn.deallocate", "ttnn::deallocate",
         "ttnn::convert_python_tensor_to_tt_tensor", "ttnn.ü漢😀"]
VALUES = ["x", "é\u2028", "tab\t quote\" back\\", 1, -2.5, 1e22, 1e-7, True, None, [], {}, {"a": "it's", "n": [1, 'q"\'', None]}]


class Odd:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.tidy = self.r.random() < 0.4
        self.texts = self.r.choice([0.0, 0.5, 1.0])  # how many numbers are texts

    def number(self, value):
        return str(value) if self.r.random() < self.texts else value

    def chance(self, p):
        return self.r.random() < p

    def put(self, kind, params, connections=(), **more):
        node = {"counter": len(self.nodes), "node_type": kind, "params": params, "connections": list(connections), **more}
        if self.chance(0.2):
            node["stacking_level"] = self.r.randrange(3)
        if self.chance(0.1):
            items = list(node.items())
            self.r.shuffle(items)
            node = dict(items)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def references(self, most):
        tensors = [i for i, n in enumerate(self.nodes) if n["node_type"] == "tensor"]
        return [self.r.choice(tensors) if tensors and self.chance(0.8) else self.r.randrange(len(self.nodes) + 4)
                for _ in range(self.r.randrange(most + 1))]

    def tensor(self):
        r = self.r
        params = {"shape": f"Shape([{r.randrange(1, 9)}, 32])", "tensor_id": self.number(r.randrange(12))}
        if self.chance(0.8):
            params.update(dtype=r.choice(["DataType::BFLOAT16", "", "a::b::c"]), layout=r.choice(["Layout::TILE", "TILE"]))
        if self.chance(0.3):
            params["storage_type"] = r.choice(["DEVICE", "HOST"])
        if self.chance(0.6):
            params.update(device_id=self.number(r.choice(self.devices)), address=self.number(r.choice([0, 1000, 2000, 3000, 1 << 33])))
            if self.chance(0.7):
                params["memory_config"] = CONFIG.format("INTERLEAVED", "L1")
            if self.chance(0.7):
                params["buffer_type"] = self.number(r.randrange(5))
            if self.chance(0.5):
                places = [{"address": r.choice([1000, 2000]), "device_id": r.choice(self.devices)} for _ in range(r.randrange(3))]
                for place in places[: r.randrange(3)]:
                    place["mesh_device_id"] = r.choice(self.devices)
                params["device_tensors"] = json.dumps(places, separators=(",", ":"))
        if self.chance(0.05):
            del params["tensor_id"]
        return self.put("tensor", params)

    def buffer(self, kind):
        r = self.r
        params = {"address": r.choice([0, 1000, 2000, 3000]), "size": r.choice([0, 2048, 26624, 65536]), "buffer_type": r.randrange(5),
                  "device_id": r.choice(self.devices + [77]), "page_size": r.choice([0, 1024, 3000]), "num_cores": r.choice([0, 7, 8])}
        params = {k: self.number(v) for k, v in params.items() if not self.chance(0.12)}
        if self.chance(0.8):
            params["layout"] = r.choice(["INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND"])
        if self.chance(0.3):
            params["max_size_per_bank"] = self.number(r.randrange(9999))
        made = [i for i, n in enumerate(self.nodes) if n["node_type"] == "buffer_allocate"]
        to = [r.choice(made)] if made and self.chance(0.7) else [r.randrange(len(self.nodes) + 2)]
        if kind == "buffer_deallocate" and self.chance(0.5):
            params.pop("address", None)
        self.put(kind, params, to if kind == "buffer_deallocate" else [])

    def inside(self, depth):
        r = self.r
        for _ in range(r.randrange(5)):
            kind = r.choice(["tensor", "tensor", "buffer_allocate", "buffer_allocate", "buffer_deallocate", "cb", "run", "error", "op", "op"])
            if kind == "tensor":
                self.tensor()
            elif kind.startswith("buffer"):
                self.buffer(kind)
            elif kind == "cb":
                self.put(r.choice(["circular_buffer_allocate", "scratchpad_allocate", "unheard_of"]), {"device_id": self.number(self.devices[0])}, [0])
            elif kind == "run":
                self.put("program_execution", {"device_id": self.number(self.devices[0]), "sub_device_manager_id": 1, "runtime_id": r.randrange(9),
                         "global_call_count": 1024, "command_queue_id": 0, **({"sub_device_id": 0} if self.chance(0.7) else {})})
                if self.chance(0.3):
                    self.put("sub_device_manager", {"device_id": self.devices[0], "sub_device_manager_id": self.number(1),
                             "sub_devices": json.dumps([{"sub_device_id": 0, "worker_core_ranges": [{"end": {"x": 7}}]}])})
            elif kind == "error" and self.chance(0.3):
                self.put("error", {k: r.choice([f"{k} ä\n'", r.choice(NAMES)]) for k in ("error_type", "error_message", "error_operation") if self.chance(0.9)})
            elif kind == "op" and depth < 4:
                self.call(depth + 1)
            if not self.tidy and self.chance(0.02):
                self.put("function_end", {"name": "stray"}, self.references(2))

    def call(self, depth):
        r = self.r
        name = r.choice(NAMES)
        before = [self.tensor() for _ in range(r.randrange(3))] if self.chance(0.5) else []
        more = {"arguments": [r.choice(VALUES) for _ in range(r.randrange(3))]} if self.chance(0.9) else {}
        start = self.put("function_start", {"name": name} if self.chance(0.97) else {}, self.references(2), **more)
        inputs = before + self.references(2)
        if self.chance(0.9):
            self.nodes[start]["input_tensors"] = inputs
        self.names.append(name)
        self.inside(depth)
        if not self.tidy and self.chance(0.05):
            return
        outputs = self.references(2) if self.chance(0.5) else []
        if inputs and self.chance(0.1):
            outputs.append(r.choice(inputs))
        params = {"name": name if self.chance(0.95) else r.choice(NAMES)}
        if self.chance(0.08):
            params.update(aborted="true", **({"abort_reason": "because"} if self.chance(0.5) else {}))
        more = {"duration_ns": r.choice([0, 1, 1234567, 10**12 + 1])} if self.chance(0.8) else {}
        end = self.put("function_end", params, outputs, **more)
        if self.chance(0.5):
            self.nodes[end]["connections"] += [self.tensor() for _ in range(r.randrange(3))]

    def record(self, name, source):
        r = self.r
        record = {"name": name, "arguments": {r.choice(["0", "1", "dtype", "ä"]): r.choice(VALUES) for _ in range(r.randrange(3))},
                  "input_tensor_ids": [self.number(r.randrange(20)) for _ in range(r.randrange(3))]}
        if self.chance(0.6):
            record["output_tensor_ids"] = [self.number(r.randrange(14)) for _ in range(r.randrange(3))]
        if self.traced and self.chance(0.6):
            record["python_stack_trace"] = r.choice([[f'  File "{source}", line {r.randrange(1, 9)}, in f\n    x\n', '  File "/o.py", line 9, in g'],
                                                     ['  File "/nowhere/a.py", line 3, in f'], ["nothing"], [f"{source}:12"], [f"{source}:12:7", "x"], [""], []])
        if self.chance(0.1):
            record["error"] = {"type": "RuntimeError", "message": "no ä"} if self.chance(0.7) else {"message": "m"}
        if self.chance(0.2):
            record["captured_graph"] = r.choice([[], [{"counter": 0, "node_type": "capture_start", "params": None, "connections": [1]},
                                                     {"node_type": "x", "connections": [5, 6]}, {"counter": 9, "params": {"é": 1.0, "b": [True, None, 1e300, -0.0]}}]])
        return record

    def page(self, address):
        r = self.r
        page = {"device_id": r.choice(self.devices), "address": address, "core_y": r.randrange(2), "core_x": r.randrange(2), "bank_id": r.randrange(2),
                "page_index": 0, "page_address": 2048 * r.randrange(9), "page_size": r.choice([1024, 2048]), "buffer_type": r.randrange(2)}
        if self.chance(0.05):
            del page[r.choice(list(page))]
        return page

    def report(self, rank, world, source):
        r = self.r
        self.nodes, self.names = [], []
        self.devices = r.choice([[0], [1], [4, 2], [0, 1, 5]])
        self.traced = self.chance(0.5)
        self.put("capture_start", r.choice([None, {}]), [1])
        for _ in range(r.randrange(7)):
            r.choice([lambda: self.call(1), lambda: self.call(1), lambda: self.buffer("buffer_deallocate"), self.tensor])()
        self.put("capture_end", r.choice([None, {}]), duration_ns=5)
        report = {"version": 1, "graph": self.nodes, "metadata": {"rank": rank, "world_size": world, "odd": r.choice(VALUES)}}
        if self.chance(0.85):
            report["devices"] = [{"device_id": d, "l1_num_banks": 64, "num_dram_channels": 12, "cb_limit": 9} for d in self.devices]
        starts = [i for i, n in enumerate(self.nodes) if n["node_type"] == "function_start"]
        if self.chance(0.5):
            fields = ("max_size_per_bank", "buffer_type", "buffer_layout")
            report["per_operation_buffers"] = {
                str(s): [{"device_id": r.choice(self.devices), "address": r.choice([1000, 2000, 3000]), **{f: r.randrange(5) for f in fields}}
                         for _ in range(r.randrange(4))] for s in sorted(starts, key=str) if self.chance(0.5)}
        if self.chance(0.5):
            bare = self.chance(0.3)
            report["buffer_pages_by_address"] = {str(a): [self.page(a) for _ in range(3)] if bare else
                                                 [{"alloc_counter": r.randrange(30), "pages": [self.page(a) for _ in range(r.randrange(4))]} for _ in range(2)]
                                                 for a in (1000, 2000)}
        if self.chance(0.3):
            report["buffer_pages"] = [self.page(r.choice([1000, 2000])) for _ in range(r.randrange(6))]
        if self.chance(0.3):
            report["cluster_descriptor"] = r.choice(["", "arch:\n  0: wormhole_b0\n# ä\n"])
        records = [self.record(n, source) for n in self.names if self.chance(0.7)]
        return report, records

    def write(self, folder):
        r = self.r
        os.makedirs(folder)
        source = os.path.join(folder, "program.py")
        with open(source, "w") as out:
            out.write("# ä\r\nx = 1\n")
        world = r.choice([1, 1, 2])
        for i in range(r.choice([1, 1, 2, 3])):
            report, records = self.report(r.randrange(world), world, source)
            stem = r.choice([f"report{i}", f"a.b{i}"]) if self.texts else f"graph_capture_{i + 1}_of_{world}"
            if self.chance(0.2):
                report["comparison_records"] = {
                    "local_tensor_comparison_records": [{"tensor_id": 100 * i + j, "golden_tensor_id": 7, "matches": self.chance(0.5),
                                                         "desired_pcc": 0.99, "actual_pcc": r.random()} for j in range(r.randrange(3))],
                    "tensors": [{"tensor_id": 1000 + i, "shape": "torch.Size([1])", "dtype": None, "layout": "x", "memory_config": None,
                                 "device_id": None, "address": None, "buffer_type": None}]}
            if self.chance(0.3):
                report["python_io"] = records
            elif self.chance(0.8):
                with open(os.path.join(folder, stem + ".python_io.json"), "w") as out:
                    json.dump(records, out)
            with open(os.path.join(folder, stem + ".json"), "w", encoding="utf-8") as out:
                json.dump(report, out, indent=r.choice([None, 2]), ensure_ascii=self.chance(0.5))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["model", "odd"])
    parser.add_argument("folder")
    parser.add_argument("--ops", type=int, default=1000)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    if given.kind == "model":
        Model(given.ops, given.full).write(given.folder)
    else:
        for i in range(given.count):
            Odd(given.seed * 100003 + i).write(os.path.join(os.path.abspath(given.folder), f"{i:05d}"))


if __name__ == "__main__":
    main()
