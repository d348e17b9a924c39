"""Sweep modules (docs/sweep-modules.md): Python files with `parameters` and `run(..., device)`; their vectors, and what runs one.

Vector files, hashes, statuses, child processes and results are the library's (ttnn._ttnn.sweep); this is what has to be
Python: importing modules, values of parameters, calling run().
"""

import ast
import contextlib
import importlib.util
import inspect
import json
import pathlib
import re
import sys
import time
import traceback

import ttnn
from ttnn import _ttnn
from ttnn.configs import vectors

FRAMEWORK = pathlib.Path("tests", "sweep_framework")
TRACED = "model_traced.{}_model_traced"
TIMEOUT = 30  # seconds of a vector, when its module says nothing

# ---- values

_ENUMS = {"buffer_type": "BufferType", "memory_layout": "TensorMemoryLayout"}
_WORDS = {"sum", "mean", "max", "min", "std", "var"}


def encode(value):
    """A value as vector files have it: an object that has to_json() by its type and data, anything else by its text."""
    if not hasattr(value, "to_json"):
        return str(value)
    data = json.loads(value.to_json())
    if isinstance(data, dict):
        data = {key: _name(key, item) for key, item in data.items() if not (key == "per_core_allocation" and item is False)}
    return {"type": f"{type(value).__module__}.{type(value).__qualname__}", "data": data}


def _name(key, item):
    return getattr(ttnn, _ENUMS[key])(item).name if key in _ENUMS and isinstance(item, int) else item


def _number(key, item):
    return getattr(getattr(ttnn, _ENUMS[key]), item).value if key in _ENUMS and isinstance(item, str) else item


def _object(given):
    kind = getattr(ttnn, given["type"].rsplit(".", 1)[-1], None)
    if not hasattr(kind, "from_json"):
        raise ValueError(f"{given['type']}: there is no such type of values")
    data = given["data"]
    if isinstance(data, dict):
        data = {key: _number(key, item) for key, item in data.items()}
    return kind.from_json(json.dumps(data))


def _member(text):
    """That of an enumeration: "DataType.BFLOAT16"; a type of torch; None for anything else."""
    kind, _, name = text.rpartition(".")
    if kind == "torch" and name.isidentifier():
        import torch

        found = getattr(torch, name, None)
        return found if isinstance(found, torch.dtype) else None
    if not kind.isidentifier() or not isinstance(getattr(ttnn, kind, None), type):
        return None
    return getattr(getattr(ttnn, kind), name, None)


def decode(value):
    """The value that a file has: texts as Python's literals where they are some, else as they are."""
    if isinstance(value, dict) and set(value) == {"type", "data"}:
        return _object(value)
    if not isinstance(value, str) or value in _WORDS:
        return value
    with contextlib.suppress(ImportError):
        found = _member(value) if "." in value else None
        if found is not None:
            return found
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return value


def plain(value):
    """A value in JSON, for results."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return encode(value)


# ---- modules


class Folder:
    """Where modules are found, and their files go: a workspace (`ttnn workspace`), or any folder with tests/sweep_framework."""

    def __init__(self, base):
        self.base = pathlib.Path(base).resolve()
        self.framework = self.base / FRAMEWORK
        self.sweeps = self.framework / "sweeps"
        self.vectors = self.framework / "vectors_export"
        self.results = self.framework / "results_export"

    @classmethod
    def around(cls, path):
        """That of a file in sweeps/; None when it lies elsewhere."""
        path = pathlib.Path(path).resolve()
        for parent in path.parents:
            if parent.name == "sweeps" and parent.parent.name == FRAMEWORK.name:
                return cls(parent.parents[len(FRAMEWORK.parts)])
        return None

    def name(self, path):
        """ "a/b.py" as "a.b"."""
        return ".".join(pathlib.Path(path).resolve().relative_to(self.sweeps).with_suffix("").parts)

    def names(self):
        files = (path for path in self.sweeps.rglob("*.py") if path.name != "__init__.py" and "__pycache__" not in path.parts)
        return sorted(self.name(path) for path in files)

    def find(self, wanted):
        """The modules of a list of names: exact ones, folders, bare names of operations; and the names that there are none of."""
        there, found, unknown = self.names(), [], []
        for name in wanted.split(","):
            name = name.strip()
            exact = [one for one in (name, TRACED.format(name)) if one in there][:1]
            match = exact or [one for one in there if one.startswith(name + ".")]
            found += [one for one in match if one not in found]
            if not match:
                unknown.append(name)
        return found, unknown

    def path(self, name):
        return self.sweeps.joinpath(*name.split(".")).with_suffix(".py")

    def load(self, name):
        """Imports a module."""
        if str(self.base) not in sys.path:
            sys.path.insert(0, str(self.base))
        spec = importlib.util.spec_from_file_location(f"sweeps.{name}", self.path(name))
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    def timeout(self, name):
        """TIMEOUT of a module's text, in seconds: nothing is imported for it."""
        seconds = TIMEOUT
        for line in self.path(name).read_text("utf-8", "replace").splitlines():
            if "TIMEOUT" in line:
                try:
                    seconds = int(line.rsplit("=", 1)[-1])
                except ValueError:
                    break
        return max(seconds, 0)

    def file(self, name):
        return self.vectors / f"{name}.json"


# ---- vectors

VALID, INVALID = "VectorValidity.VALID", "VectorValidity.INVALID"
CURRENT = "VectorStatus.CURRENT"


def suites(module):
    """The names of a module's suites."""
    found = getattr(module, "parameters", None)
    return list(found) if isinstance(found, dict) else []


def generate(module, name, suite):
    """[(the parameters of a vector, why it is invalid or None)] of a suite of the module that has this name."""
    judge = getattr(module, "invalidate_vector", None)
    made = []
    for vector in vectors(module.parameters[suite]):
        reason = None
        if judge:
            header = {"suite_name": suite, "validity": VALID, "invalid_reason": "", "status": CURRENT, "sweep_name": name}
            invalid, text = judge({**vector, **header})
            reason = str(text or "") if invalid else None
        made.append((vector, reason))
    return made


def suite_text(name, suite, made, tag=None):
    """A suite as ttnn._ttnn.sweep takes it."""
    listed = [{"params": {key: encode(value) for key, value in vector.items()}, "reason": reason} for vector, reason in made]
    return json.dumps({"module": name, "suite": suite, "tag": tag, "vectors": listed})


def is_sweep(module):
    return isinstance(getattr(module, "parameters", None), dict) and callable(getattr(module, "run", None))


# ---- running


def clean(text):
    """As files and rows take a text, whatever run() made of it: without zero bytes and halves of characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\\0")


DETAILS = ("operation", "model", "how", "pcc", "bound", "error", "notes")
_details = {}  # of the vector that ran last: what run() knows beside its result


def tell(**details):
    """What a run() knows beside its result, for the database: DETAILS."""
    known = {name: details[name] for name in DETAILS if name in details}
    _details.update({name: value if isinstance(value, (int, float, type(None))) else str(value) for name, value in known.items()})


def start_measuring_time():
    return time.perf_counter_ns()


def stop_measuring_time(start):
    return time.perf_counter_ns() - start


# What traced suites have besides the tensors: a run() that has no use for it need not take it.
EXTRA = {"output_memory_config", "storage_type", "traced_source", "traced_machine_info", "config_hash"}


def accepted(run, parameters):
    """Those that run() takes."""
    known = inspect.signature(run).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in known):
        return parameters
    names = {one.name for one in known}
    return {name: value for name, value in parameters.items() if name in names or name not in EXTRA}


class Executor:
    """Runs vectors of a module in this process. The device is opened with the first one, and stays open."""

    def __init__(self, folder, name, module=None, perf=None):
        self.folder, self.name, self.module, self.perf = folder, name, module, perf
        self._fixture = self._device = None

    def _default_device(self):
        device = ttnn.open_device(device_id=0)
        try:
            yield device, ttnn.get_arch_name()
        finally:
            ttnn.close_device(device)

    def _open(self):
        if self.module is None:
            self.module = self.folder.load(self.name)
        if self._fixture is None:
            fixture = getattr(self.module, "mesh_device_fixture", self._default_device)()
            self._device, _ = next(fixture)
            self._fixture = fixture  # one that failed is tried again with the next vector

    def close(self):
        if self._fixture is not None:
            next(self._fixture, None)
        self._fixture = self._device = None

    def run(self, parameters):
        """What became of a vector: {"passed", "message", "begin_ns", "end_ns", "metrics", and what tell() was told}."""
        _details.clear()
        answer = {"begin_ns": time.time_ns()}
        try:
            self._open()
            answer.update(self._measured({key: decode(value) for key, value in parameters.items()}))
        except (Exception, SystemExit) as error:
            answer.update(passed=False, message=str(error) or type(error).__name__, trace=traceback.format_exc())
        answer["end_ns"] = time.time_ns()
        return {key: clean(value) if isinstance(value, str) else value for key, value in {**_details, **answer}.items()}

    def _once(self, parameters):
        result = self.module.run(**accepted(self.module.run, parameters), device=self._device)
        spent = None
        if isinstance(result, list):
            result, spent = (result[0], result[1] / 1e6) if len(result) > 1 else (result[0], None)
        if result is None or isinstance(result, bool):  # nothing was raised
            result = (result is not False, str(result))
        passed, message = result
        return bool(passed), str(message), spent

    def _measured(self, parameters):
        passed, message, spent = self._once(parameters)
        metrics = {"e2e_perf_ms": spent} if self.perf == "once" and spent is not None else None
        if self.perf == "cached":
            again, other, cached = self._once(parameters)
            metrics = {"e2e_perf_uncached_ms": spent, "e2e_perf_cached_ms": cached} if spent is not None else None
            if passed and not again:
                passed, message = False, f"the second run failed: {other}"
            elif passed and other != message:
                message = f"{message}, in the second run {other}"
        return {"passed": passed, "message": message, "metrics": metrics}


class Recorder:
    """The results of a run: rows and files (ttnn._ttnn.sweep.Run). `database` is a file or postgresql://USER@HOST/NAME."""

    def __init__(self, folder, contents=None, directory=None, database=None):
        options = {"directory": str(directory or folder.results), "contents": contents, "card_type": ttnn.get_arch_name()}
        options["database"] = database and str(database)
        self.run = _ttnn.sweep.Run(json.dumps({key: value for key, value in options.items() if value is not None}))
        self.counts, self.position = {}, 0

    def add(self, entry, **known):
        """What became of a vector of a file: its status is returned."""
        values = {key: plain(decode(value)) for key, value in entry["params"].items()}
        values.update(validity="INVALID" if entry["invalid"] else "VALID", invalid_reason=entry["reason"] or "", status=CURRENT)
        place = {"module": entry["module"], "suite": entry["suite"], "vector": entry["hash"], "position": self.position}
        self.run.add(json.dumps({**place, "params": values, **known}))
        self.position += 1
        self.counts[known["status"]] = self.counts.get(known["status"], 0) + 1
        return known["status"]

    def ran(self, entry, answer):
        """One that came to an end."""
        passed, message = answer["passed"], answer["message"]
        exception = None if passed else message
        status = _ttnn.sweep.status(exception, False, entry["suite"])
        kept = ("message", "begin_ns", "end_ns", "metrics")
        known = {key: answer[key] for key in kept + DETAILS if answer.get(key) is not None}
        if "pcc" not in known and re.fullmatch(r"-?[01]\.\d+(e-\d+)?", message):
            known["pcc"] = float(message)
        return self.add(entry, status=status, exception=exception, **known)

    def hung(self, entry, begin_ns, why):
        status = _ttnn.sweep.status(None, True, entry["suite"])
        return self.add(entry, status=status, exception=why, begin_ns=begin_ns, end_ns=time.time_ns())

    def skipped(self, entry, why):
        now = time.time_ns()
        return self.add(entry, status="skipped", exception=why, begin_ns=now, end_ns=now)

    def finish(self, status="passed"):
        """Writes the files; the path of the run's."""
        return self.run.finish(status)
