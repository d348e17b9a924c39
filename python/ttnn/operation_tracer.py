"""One JSON file for every operation: what was given to it and what it gave (docs/params.md).

    ttnn.operation_tracer._ENABLE_TRACE = True

The library writes the files; the attributes of this module are its switches, live both ways:

    _ENABLE_TRACE             whether operations are traced
    _SERIALIZE_TENSOR_VALUES  whether elements of tensors are written too
    _OPERATION_COUNTER        the number of the last file
    _IS_SERIALIZING           whether a file is being made; set, it keeps others from being made
    _TRACE_PARAMS_IN_ARGV     whether --trace-params is, or was, on the command line
"""

import functools
import json
import os
import pathlib
import sys
import types

from ttnn import _ttnn

_params = _ttnn.params
_FLAGS = ("--trace-params", "--trace-params-with-values")


def _from_command_line():
    """Our flags among the arguments before "--". They are taken out, as the program's own parser would refuse them; pytest has ours."""
    words = list(getattr(sys, "argv", []))
    end = words.index("--") if "--" in words else len(words)
    found = [flag for flag in _FLAGS if flag in words[1:end]]
    program = pathlib.PurePath(words[0] if words else "")
    pytests = program.name in ("pytest", "py.test") or program.parts[-2:] == ("pytest", "__main__.py")
    if _FLAGS[0] in found and not pytests:
        sys.argv[1:end] = [word for word in words[1:end] if word not in found]
    return found


def _switch(flag):
    return property(lambda module: _params.get(flag), lambda module, on: _params.set(flag, bool(on)))


class _Tracer(types.ModuleType):
    _ENABLE_TRACE = _switch(_params.ENABLED)
    _SERIALIZE_TENSOR_VALUES = _switch(_params.VALUES)
    _IS_SERIALIZING = _switch(_params.SERIALIZING)
    _OPERATION_COUNTER = property(lambda module: _params.counter(), lambda module, count: _params.set_counter(count))

    @property
    def _TRACE_PARAMS_IN_ARGV(self):
        return self._in_argv

    @_TRACE_PARAMS_IN_ARGV.setter
    def _TRACE_PARAMS_IN_ARGV(self, found):
        """None looks again. Finding it switches tracing on; _ENABLE_TRACE may switch it off again."""
        flags = _from_command_line() if found is None else []
        self._in_argv = _FLAGS[0] in flags or bool(found)
        if self._in_argv:
            self._ENABLE_TRACE = True
        if self._in_argv and _FLAGS[1] in flags:
            self._SERIALIZE_TENSOR_VALUES = True


sys.modules[__name__].__class__ = _Tracer
_in_argv = False
sys.modules[__name__]._TRACE_PARAMS_IN_ARGV = None


def enable_tracing(enable=True):
    _params.set(_params.ENABLED, enable)


def is_tracing_enabled():
    return _params.get(_params.ENABLED)


_is_tracing_enabled = is_tracing_enabled


def enable_tensor_value_serialization(enable=True):
    _params.set(_params.VALUES, enable)


def wrap_function_for_tracing(original_function, operation_name):
    """A function that is traced like an operation of this name. Operations are as they are."""
    if hasattr(original_function, "decorated_function") or hasattr(original_function, "__ttnn_operation__"):
        return original_function

    @functools.wraps(original_function)
    def traced(*args, **kwargs):
        result = original_function(*args, **kwargs)
        if _params.heard():
            _params.tell(operation_name, args, kwargs, result)
        return result

    return traced


def serialize_operation_parameters(
    operation_name, function_args, function_kwargs, log_dir=None, return_value=None, serialize_tensor_values=None
):
    """Writes the file of a call now and returns its path; raises when it cannot be written."""
    values = _params.get(_params.VALUES) if serialize_tensor_values is None else serialize_tensor_values
    where = None if log_dir is None else os.fspath(log_dir)
    return _params.write(operation_name, tuple(function_args), dict(function_kwargs), return_value, where, values)


def serialize_value(value, serialize_tensor_values=None):
    """A value as it stands in a file: numbers, texts, lists and dictionaries."""
    values = _params.get(_params.VALUES) if serialize_tensor_values is None else serialize_tensor_values
    return json.loads(_params.value(value, values))
