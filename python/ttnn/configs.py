"""Configurations of operations that were traced from models, as parameters of tests (docs/ttnn-configs.md).

The files are read and the parameters made by the library (ttnn._ttnn.configs); this gives them the names of TT-NN's
guides: MasterConfigLoader, unpack_traced_config, load_unary_op_configs.
"""

import itertools
import json
import os
import pathlib

from ttnn import _ttnn
from ttnn.types import *

MASTER = "ttnn_operations_master.json"
PLACES = (f"model_tracer/traced_operations/{MASTER}", f"traced_operations/{MASTER}")


def default_master(base=None):
    """The master of a folder, or of the nearest one above the working directory; TTNN_MASTER_JSON_PATH says otherwise."""
    named = os.environ.get("TTNN_MASTER_JSON_PATH")
    if named:
        return named
    here = pathlib.Path.cwd()
    for folder in [pathlib.Path(base)] if base else [here, *here.parents]:
        for place in PLACES:
            if (folder / place).exists():
                return str(folder / place)
    return str(pathlib.Path(base or here) / PLACES[0])


_NOTHING = {
    "input_shape": [[1, 32, 32]],
    "input_a_dtype": [],
    "input_a_layout": [],
    "input_a_memory_config": [],
    "output_memory_config": [],
}
_loader = None  # the one that made parameters last: names of configurations are its


class TensorConfig:
    """What a configuration says of a tensor; memory_config is as the file has it."""

    def __init__(self, shape, dtype, layout, memory_config, storage_type="StorageType::DEVICE"):
        self.shape, self.dtype, self.layout = shape, dtype, layout
        self.memory_config, self.storage_type = memory_config, storage_type

    def __repr__(self):
        return f"TensorConfig({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class _Traced(dict):
    """The tensors of an operation's configurations, read when somebody asks."""

    def __init__(self, load):
        self._load = load

    def __missing__(self, operation_name):
        self[operation_name] = found = self._load(operation_name)
        return found


class MasterConfigLoader:
    """Parameters from a master file, which is read when something is asked."""

    base = None  # the folder that the default master is looked for in
    extractors = {}  # more parameters: {operation: {parameter: "FIELD@PLACE"}}, or a function of the arguments

    def __init__(self, master_file_path=None):
        self.master_file_path = master_file_path or default_master(self.base)
        self.traced_configs_cache = _Traced(self._load_traced)
        self._configs = self._calls = None

    def _open(self):
        """The file; None, after a message, when it cannot be read."""
        if self._configs is None:
            try:
                self._configs = _ttnn.configs.Configs(self.master_file_path)
                for name, rows in self.extractors.items():
                    if not callable(rows):
                        self._configs.rule(name, " ".join(f"{column}={field}" for column, field in rows.items()))
            except RuntimeError as error:
                print(f"⚠️ {error}")
                self._configs = None
        return self._configs

    def get_operation_configs(self, operation_name):
        """The arguments of all configurations of an operation."""
        configs = self._open()
        found = configs.arguments(operation_name) if configs else []
        if not found:
            print(f"⚠️ No configurations found for operation: {operation_name}")
        return found

    def get_suite_parameters(self, operation_name, suite_name="model_traced", all_cases=False):
        """What the suite of a sweep takes: rows that belong together, or with all_cases a list for each parameter."""
        global _loader
        _loader = self
        configs = self._open()
        try:
            parameters, numbers, text = configs.suite(operation_name, all_cases) if configs else ({}, [], None)
        except RuntimeError as error:
            print(f"⚠️ {error}")
            return {"traced_config_name": []}
        if text:
            print(text)
        if not parameters:
            return {name: list(values) for name, values in _NOTHING.items()}
        function = self._function(operation_name)
        if function and not all_cases:
            parameters = self._with(function, parameters, numbers, configs.arguments(operation_name))
        return parameters

    def _function(self, operation_name):
        bare = operation_name.replace("::", ".").rsplit(".", 1)[-1]
        found = self.extractors.get(bare)
        return found if callable(found) else None

    @staticmethod
    def _with(function, parameters, numbers, arguments):
        """The rows with what a user's function makes of the arguments of each."""
        ((names, rows),) = parameters.items()
        found = [function(arguments[number]) or {} for number in numbers]
        added = list(dict.fromkeys(name for values in found for name in values))
        rows = [row + tuple(values.get(name) for name in added) for row, values in zip(rows, found)]
        return {",".join([names, *added]): rows}

    def _load_traced(self, operation_name):
        configs = self._open()
        found = configs.tensors(operation_name) if configs else []
        for number, config in enumerate(found):
            config["traced_config_name"] = f"{operation_name}_traced_{number}"
        return found

    def traced_configs(self, operation_name):
        """The tensors of each configuration, which traced names lead to."""
        return self.traced_configs_cache[operation_name]

    def get_traced_config_names(self, operation_name):
        return [config["traced_config_name"] for config in self.traced_configs(operation_name)]

    def get_traced_config(self, traced_config_name):
        """The tensors of one configuration, and whether it has two or more; None when there is no such name."""
        operation_name, _, number = traced_config_name.rpartition("_traced_")
        configs = self.traced_configs(operation_name) if operation_name and number.isdigit() else []
        if not number.isdigit() or int(number) >= len(configs):
            return None
        config = configs[int(number)]
        config["is_binary"] = "shape_b" in config
        return config

    def run_vector(self, operation_name, vector):
        """What run() of a sweep module gives, [(passed, message), nanoseconds], for its locals(): a traced vector is the
        traced call with all its arguments; any other one is a call with what it has (docs/sweep-modules.md)."""
        from ttnn import sweeps_calls

        vector = {name: value for name, value in vector.items() if value is not None}
        device = vector.pop("device", None)
        self._calls = self._calls or sweeps_calls.Traced(self)
        numbers = self._calls.numbers(operation_name, vector)
        if numbers:
            return self._calls.run(operation_name, numbers, device)
        return sweeps_calls.run_untraced(operation_name, vector, device)

    # ---- single values

    def parse_dtype(self, dtype_str):
        """The type of a text in any spelling."""
        return getattr(DataType, str(dtype_str).replace("::", ".").rsplit(".", 1)[-1].upper(), DataType.BFLOAT16)

    def parse_layout(self, layout_str):
        return Layout.ROW_MAJOR if "ROW_MAJOR" in str(layout_str) else Layout.TILE

    def parse_memory_config(self, memory_config, tensor_shape=None):
        """A memory config as it was traced, with its very shards; what is none gives DRAM, interleaved."""
        try:
            return _ttnn.configs.memory(json.dumps(memory_config))
        except (RuntimeError, TypeError) as error:
            print(f"⚠️ DRAM, interleaved, instead of a memory config that cannot be read: {error}")
            return DRAM_MEMORY_CONFIG

    def extract_tensor_config(self, argument):
        """What an argument of a configuration says of its tensor, or None."""
        found = _ttnn.configs.tensor(json.dumps(argument))
        return TensorConfig(**found) if found else None


def vectors(suite):
    """The sets of parameters that a suite means, the last name varying fastest; names in one key go together. `{}` and `{...}`,
    which stand for what a guide leaves out, mean none."""
    if not suite or not isinstance(suite, dict):
        return
    keys = [key.split(",") for key in suite]
    for values in itertools.product(*suite.values()):
        pairs = (zip(names, value if len(names) > 1 else [value]) for names, value in zip(keys, values))
        yield dict(itertools.chain.from_iterable(pairs))


# ---- names of configurations


def get_traced_config(traced_config_name):
    return _loader.get_traced_config(traced_config_name) if _loader else None


def _unpack(traced_config_name, binary):
    config = get_traced_config(traced_config_name)
    if config and config["is_binary"] != binary:
        helper = "unpack_binary_traced_config" if config["is_binary"] else "unpack_traced_config"
        print(f"⚠️ {traced_config_name} has {'two or more tensors' if config['is_binary'] else 'one tensor'}: use {helper}")
        return None
    return config


def unpack_traced_config(traced_config_name, use_defaults=False):
    """(shape, dtype, layout, memory config, the output's memory config) of a configuration with one tensor."""
    config = _unpack(traced_config_name, False)
    if config:
        return tuple(config[key] for key in ("shape", "dtype", "layout", "memory_config", "output_memory_config"))
    if use_defaults:
        return [1, 32, 32], DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG, DRAM_MEMORY_CONFIG
    return (None,) * 5


def unpack_binary_traced_config(traced_config_name, use_defaults=False):
    """({"self", "other"}, two dtypes, two layouts, two memory configs) of a configuration with two tensors."""
    config = _unpack(traced_config_name, True)
    if config:
        shapes = {"self": config["shape_a"], "other": config["shape_b"]}
        return (shapes, *(config[f"{key}_{side}"] for key in ("dtype", "layout", "memory_config") for side in "ab"))
    if use_defaults:
        shapes = {"self": [1, 32, 32], "other": [1, 32, 32]}
        return shapes, *(value for value in (DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG) for _ in "ab")
    return (None,) * 7


# ---- sweep_config_utils

_CONFIG_LOOKUP = {}


def load_unary_op_configs(operation_name, all_cases=False, loader=None):
    """Shapes and memory configs of an operation: pairs, or with all_cases two lists. _CONFIG_LOOKUP["traced_0"] tells all
    of the first configuration that was loaded last."""
    configs = (loader or MasterConfigLoader()).traced_configs(operation_name)
    unary = [config for config in configs if "shape" in config]
    _CONFIG_LOOKUP.clear()
    for number, config in enumerate(unary):
        _CONFIG_LOOKUP[f"traced_{number}"] = {key: config[key] for key in ("shape", "memory_config", "layout", "dtype")}
    if all_cases:
        return {
            "input_shapes": [config["shape"] for config in unary],
            "input_memory_config": [config["memory_config"] for config in unary],
        }
    return {"traced_config": [(config["shape"], config["memory_config"]) for config in unary]}


# ---- what the tracing plugin of the guides does


def operation_names(path):
    """The names of an Allops.txt, as C++ spells them; empty when there is no such file."""
    try:
        lines = pathlib.Path(path).read_text().split()
    except FileNotFoundError:
        return set()
    return {line.replace(".", "::") for line in lines}


def clean_operation(operation):
    """{"operation", "arguments"} with every argument as JSON: elements that were not parsed as the objects that they were."""
    return json.loads(_ttnn.configs.clean(json.dumps(operation)))


def update_master(master_file_path, operations, source):
    """Adds a list of {"operation", "arguments"} to a master file, each configuration once; how many were new."""
    pathlib.Path(master_file_path).parent.mkdir(parents=True, exist_ok=True)
    return _ttnn.configs.update(os.fspath(master_file_path), json.dumps(operations), source)
