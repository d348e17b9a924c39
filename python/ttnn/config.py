"""ttnn.CONFIG: switches of the Python layer, from TTNN_CONFIG_PATH and TTNN_CONFIG_OVERRIDES."""

import contextlib
import json
import os
import pathlib
import re
import sys
import time
import warnings

from ttnn import _ttnn, decorators

_HOME = pathlib.Path(os.environ.get("HOME") or "/tmp")
_DEFAULTS = {
    "cache_path": _HOME / ".cache" / "ttnn",
    "model_cache_path": _HOME / ".cache" / "ttnn" / "models",
    "tmp_dir": pathlib.Path("/tmp/ttnn"),
    "enable_model_cache": False,
    "enable_fast_runtime_mode": True,
    "validate_program_args": False,
    "throw_exception_on_fallback": False,
    "enable_logging": False,
    "enable_graph_report": False,
    "enable_graph_python_stack_traces": False,
    "enable_detailed_buffer_report": False,
    "enable_detailed_tensor_report": False,
    "enable_comparison_mode": False,
    "comparison_mode_should_raise_exception": False,
    "comparison_mode_pcc": 0.9998999834060669,
    "root_report_path": pathlib.Path("generated/ttnn/reports"),
    "report_name": None,
    "strict_ccl_topology": False,
    "operation_parameter_log_dir": None,
}


def _current():
    """ttnn.CONFIG, which a program may have put another object in the place of; None while ttnn is imported."""
    return getattr(sys.modules["ttnn"], "CONFIG", None) or globals().get("CONFIG")


class Config:
    """One attribute for each switch; a type that does not fit is refused."""

    __slots__ = tuple(_DEFAULTS)

    def __init__(self, other=None):
        for name, value in _DEFAULTS.items():
            object.__setattr__(self, name, getattr(other, name) if other else value)

    def __setattr__(self, name, value):
        if name not in _DEFAULTS:
            raise AttributeError(f"there is no configuration {name}")
        default = _DEFAULTS[name]
        if isinstance(default, bool) and not isinstance(value, bool):
            raise TypeError(f"{name} is True or False, not {value!r}")
        if isinstance(default, float) and not isinstance(value, (int, float)):
            raise TypeError(f"{name} is a number, not {value!r}")
        if isinstance(default, pathlib.Path):
            value = value if isinstance(value, pathlib.Path) else pathlib.Path(value)
        if name == "report_name" and value is not None:
            value = str(value)
        if name == "operation_parameter_log_dir":
            value = pathlib.Path(value) if value else None
        object.__setattr__(self, name, value)
        if self is _current():
            _place_parameters(name)
            if name == "enable_comparison_mode":
                decorators.set_comparing(value)

    @staticmethod
    def keys():
        return list(_DEFAULTS)

    @property
    def report_path(self):
        """The folder of the report: its name in plain letters, and the minute."""
        if self.report_name is None:
            return None
        plain = re.sub("[^a-z0-9]+", "_", self.report_name[:64].lower()).strip("_")
        return self.root_report_path / f"{plain}_{time.strftime('%b%d_%H%M').lower()}"

    def apply_json_overrides(self, text, origin="TTNN_CONFIG_OVERRIDES"):
        try:
            values = json.loads(text)
        except ValueError as error:  # not JSON, or no UTF-8
            raise ValueError(f"{origin} is no JSON: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{origin} holds no members of ttnn.CONFIG but {type(values).__name__}")
        for name, value in values.items():
            if name != "report_path":  # follows from the others
                setattr(self, name, value)

    def load_from_file(self, path):
        self.apply_json_overrides(_ttnn.read_file(path), os.fsencode(path).decode("utf-8", "backslashreplace"))

    def save_to_file(self, path):
        values = {n: getattr(self, n) for n in sorted([*_DEFAULTS, "report_path"])}
        text = json.dumps({n: str(v) if isinstance(v, pathlib.Path) else v for n, v in values.items()}, indent=4)
        path = pathlib.Path(path)
        aside = path.with_name(path.name + ".new")
        aside.write_text(text)
        aside.replace(path)

    def __repr__(self):
        def text(value):
            return str(value).lower() if isinstance(value, bool) else "std::nullopt" if value is None else str(value)

        return "Config{" + ",".join(f"{n}={text(getattr(self, n))}" for n in _DEFAULTS) + f",{text(self.report_path)}}}"


_ROOT_NOT_SET = _DEFAULTS["root_report_path"]
_first_place = _ttnn.params.directory() if os.environ.get("TTNN_OPERATION_TRACE_DIR") else None


def _place_parameters(name):
    """Tells the library where parameter files go: an own directory, one under the reports, or its own.

    A root_report_path that nobody assigned counts as not set, also when it is assigned back.
    """
    if name not in ("operation_parameter_log_dir", "root_report_path"):
        return
    config = _current()
    where = _first_place or config.operation_parameter_log_dir
    if not where and config.root_report_path is not _ROOT_NOT_SET:
        where = config.root_report_path / "operation_parameters"
    _ttnn.params.set_directory(where)


CONFIG = Config()
CONFIG_PATH = os.environ.get("TTNN_CONFIG_PATH")
CONFIG_OVERRIDES = os.environ.get("TTNN_CONFIG_OVERRIDES")
if CONFIG_PATH:
    CONFIG.load_from_file(CONFIG_PATH)
if CONFIG_OVERRIDES:
    CONFIG.apply_json_overrides(CONFIG_OVERRIDES)


def load_config_from_json_file(path):
    _current().load_from_file(path)


def load_config_from_dictionary(values, from_file=False):
    """Sets switches by their names; one that there is not is an error, or a warning if the values are an old file's."""
    for name, value in values.items():
        if name in _DEFAULTS:
            setattr(_current(), name, value)
        elif from_file:
            warnings.warn(f"there is no configuration {name}", stacklevel=2)
        else:
            raise ValueError(f"there is no configuration {name}")


def save_config_to_json_file(path):
    _current().save_to_file(path)


@contextlib.contextmanager
def manage_config(name, value):
    """Another value of a switch, for a while."""
    before = getattr(_current(), name)
    setattr(_current(), name, value)
    try:
        yield
    finally:
        setattr(_current(), name, before)
