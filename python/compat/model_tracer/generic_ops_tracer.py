#!/usr/bin/env python3
"""Traces a model's test: every configuration of an operation that is not known yet goes to the master file.

    python generic_ops_tracer.py models/.../test_model.py::test_function [--output-dir DIR] [--store]

`ttnn configs trace` does it, for programs in any language. What is traced is decided here: edit the class below.
"""

import argparse
import os
import pathlib
import sys

import ttnn
from ttnn import configs, program
from ttnn.graph_tracer_utils import GraphTracerUtils

BASE = next(folder for folder in pathlib.Path(__file__).absolute().parents if (folder / "model_tracer").is_dir())
MASTER = BASE / "model_tracer" / "traced_operations" / configs.MASTER
ALLOPS = BASE / "tests" / "sweep_framework" / "Allops.txt"


class OperationsTracingPlugin:
    """Which operations are traced; and, as a pytest plugin, their tracing by graph captures."""

    valid_operations = configs.operation_names(ALLOPS)
    master_file_path = str(MASTER)

    def __init__(self):
        self.excluded_operations = {
            "ttnn::unary_chain",
            "ttnn::view",
            "ttnn::pearson_correlation_coefficient",
            "ttnn::dump_tensor",
            "ttnn::dram_prefetcher",
            "ttnn::complex_tensor",
            "ttnn::as_tensor",
            "ttnn::allocate_tensor_on_device",
            "ttnn::to_device",
            "ttnn::to_dtype",
            "ttnn::to_layout",
            "ttnn::to_memory_config",
            "ttnn::to_torch",
            "ttnn::prim::binary",
            "ttnn::prim::example",
            "ttnn::prim::example_multiple_return",
            "ttnn::from_device",
            "ttnn::from_torch",
            "ttnn::composite_example",
            "ttnn::composite_example_multiple_return",
            "ttnn::deallocate",
            "ttnn::move",
            "ttnn::reallocate",
            "ttnn::load_tensor",
            # Add your custom exclusions here
        }

    def is_valid_operation(self, op_name):
        """Whether an operation is traced."""
        if op_name in self.excluded_operations:
            return False
        return op_name in self.valid_operations if self.valid_operations else op_name.startswith("ttnn::")

    def clean_operation_data(self, operation):
        """The operation with C++ texts as JSON: unparsed elements as the objects that they were."""
        return configs.clean_operation(operation)

    def update_master_file(self, master_file_path, new_operations, test_name):
        """Adds the configurations that are new; their number."""
        return configs.update_master(master_file_path, new_operations, test_name)

    # ---- as a plugin of pytest

    def pytest_runtest_setup(self, item):
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)

    def pytest_runtest_teardown(self, item, nextitem):
        captured_graph = ttnn.graph.end_graph_capture()
        if captured_graph is None:
            return
        trace_data = GraphTracerUtils.serialize_graph(captured_graph)
        valid = [entry for entry in trace_data["content"] if self.is_valid_operation(entry["operation"])]
        cleaned = [self.clean_operation_data(entry) for entry in valid]
        self.update_master_file(self.master_file_path, cleaned, item.nodeid.split("::")[0])


def excluded(plugin):
    """All names that the plugin does not want, also those of rules of its own."""
    unwanted = {name for name in plugin.valid_operations if not plugin.is_valid_operation(name)}
    return sorted(plugin.excluded_operations | unwanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("test_path", help="path/to/test.py::test_function, or a script")
    parser.add_argument("--output-dir", "-o", default=str(MASTER.parent), help="the folder of the master file")
    parser.add_argument("--store", "--keep-traces", action="store_true", help="keep the raw traces")
    given, rest = parser.parse_known_args()
    master = os.path.abspath(os.path.join(given.output_dir, configs.MASTER))
    options = ["--master", master, "--ops", ALLOPS, "--exclude", ",".join(excluded(OperationsTracingPlugin()))]
    options += ["--exclude-only", "--python", sys.executable, *(["--store"] if given.store else [])]
    path, mark, test = given.test_path.partition("::")
    if os.path.exists(path):
        path = os.path.abspath(path)
    os.chdir(BASE)
    program.become("configs", "trace", *options, "--", path + mark + test, *rest)


if __name__ == "__main__":
    main()
