"""Operations as Python sees them: hooks, golden functions, operations written in Python.

Operations of the library are objects of the extension; one written in Python is a PythonOperation.
While hooks are registered, or calls are recorded (python_io.py) or compared (comparison_mode.py), every call
of either goes through _call().
"""

import contextlib
import functools
import re
import sys
import threading

from ttnn import _ttnn

FastOperation = Operation = _ttnn.Operation

REGISTERED_OPERATIONS = {}
PRE_OPERATION_HOOKS = []
POST_OPERATION_HOOKS = []
_inside = threading.local()
_recorder = None
_comparing = False


def _call(operation, args, kwargs):
    """A call, recorded where that is wanted."""
    recorder = _recorder
    if recorder is None or getattr(_inside, "hook", False):
        return _call_hooked(operation, args, kwargs)
    record = recorder.call(operation, args, kwargs)
    try:
        output = _call_hooked(operation, args, kwargs)
    except Exception as error:
        recorder.failed(record, error)
        raise
    recorder.returned(record, output)
    return output


def _call_hooked(operation, args, kwargs):
    """A call with its hooks. Operations that a hook itself calls have none."""
    if getattr(_inside, "hook", False):
        return operation.run(*args, **kwargs)
    replaced = args, kwargs
    for hook in tuple(PRE_OPERATION_HOOKS):
        answer = _hooked(hook, operation, *replaced)
        if answer is not None:
            replaced = answer
    if _comparing:
        from ttnn import comparison_mode

        output = comparison_mode.run(operation, *replaced, _hooked)
    else:
        output = operation.run(*replaced[0], **replaced[1])
    for hook in tuple(POST_OPERATION_HOOKS):
        answer = _hooked(hook, operation, *replaced, output)
        if answer is not None:
            output = answer
    return output


def _hooked(hook, *args):
    _inside.hook = True
    try:
        return hook(*args)
    finally:
        _inside.hook = False


def _intercepted():
    return _recorder is not None or _comparing or PRE_OPERATION_HOOKS or POST_OPERATION_HOOKS


def _switch():
    _ttnn.set_interceptor(_call if _intercepted() else None)


def set_recorder(recorder):
    """What hears of every call: call(), then returned() or failed(). None: nothing."""
    global _recorder
    _recorder = recorder
    _switch()


def set_comparing(on):
    """Whether every operation is compared with its golden function (comparison_mode.py)."""
    global _comparing
    if _comparing and not on and "ttnn.comparison_mode" in sys.modules:
        sys.modules["ttnn.comparison_mode"].forget()
    _comparing = on
    _switch()


@contextlib.contextmanager
def _registered(hooks, hook):
    hooks.append(hook)
    _switch()
    try:
        yield
    finally:
        hooks.remove(hook)
        _switch()


def register_pre_operation_hook(hook):
    """hook(operation, args, kwargs) before every operation; may return other (args, kwargs)."""
    return _registered(PRE_OPERATION_HOOKS, hook)


def register_post_operation_hook(hook):
    """hook(operation, args, kwargs, output) after every operation; may return another output."""
    return _registered(POST_OPERATION_HOOKS, hook)


class PythonOperation:
    """An operation written in Python: its function under a name, with hooks."""

    is_cpp_operation = False
    __ttnn_operation__ = None

    def __init__(self, name, function, golden_function=None, preprocess=None):
        functools.update_wrapper(self, function)
        self.python_fully_qualified_name = self.name = name
        self.function = function
        self.is_experimental = name.startswith("ttnn.experimental.")
        if golden_function is not None:
            attach_golden_function(self, golden_function, preprocess_golden_function_inputs=preprocess)

    def run(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        # As operations of the library: a command queue may be named, and nothing depends on it.
        kwargs.pop("queue_id" if "queue_id" in kwargs else "cq_id", None)
        output = _call(self, args, kwargs) if _intercepted() else self.function(*args, **kwargs)
        if _ttnn.params.heard():
            _ttnn.params.tell(self.name, args, kwargs, output)
        return output

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return f"Operation(python_fully_qualified_name='{self.name}')"


def register_python_operation(*, name, golden_function=None, preprocess_golden_function_inputs=None, **unused):
    """Makes a function the operation of this name ("ttnn.experimental.my_op")."""

    def register(function):
        operation = PythonOperation(name, function, golden_function, preprocess_golden_function_inputs)
        _export(name, operation)
        return operation

    return register


def register_cpp_operation(*, target_name, function, golden_function=None, **unused):
    """Gives an operation of the extension another name."""
    if golden_function is not None:
        attach_golden_function(function, golden_function)
    _export(target_name, function)
    return function


def _export(name, operation):
    """Puts an operation where its name says, making the modules on the way."""
    import ttnn

    if not name.startswith("ttnn."):
        raise ValueError(f"operations are in ttnn, not {name}")
    REGISTERED_OPERATIONS[name] = operation
    *path, last = name.split(".")[1:]
    owner = ttnn
    for part in path:
        owner = create_module_if_not_exists(part, owner)
    setattr(owner, last, operation)


def create_module_if_not_exists(name, owner=None):
    """The module of this name in another, made if there is none; without that one, of its whole name ("ttnn.mine.inner")."""
    import types

    if owner is None:
        first, *path = name.split(".")
        owner = sys.modules[first]
        for part in path:
            owner = create_module_if_not_exists(part, owner)
        return owner

    found = getattr(owner, name, None)
    if found is None:
        found = types.ModuleType(f"{owner.__name__}.{name}")
        sys.modules[found.__name__] = found
        setattr(owner, name, found)
    return found


def export_operations():
    """All operations of the library, under their names."""
    for name, operation in _ttnn.all_operations().items():
        if not name.startswith("ttnn.Tensor."):
            if operation.has_golden:
                operation.golden_function = functools.partial(_golden, operation)
            _export(name, operation)


def query_registered_operations(include_experimental=False):
    return [o for n, o in sorted(REGISTERED_OPERATIONS.items()) if include_experimental or ".experimental." not in n]


def dump_operations(path, include_experimental=False):
    names = [o.python_fully_qualified_name for o in query_registered_operations(include_experimental)]
    with open(path, "w") as file:
        file.write("".join(f"{name}\n" for name in names))


def attach_golden_function(
    operation, golden_function, *, preprocess_golden_function_inputs=None, postprocess_golden_function_outputs=None
):
    """Another golden function for an operation, on torch tensors.

    Comparisons give it what preprocess_golden_function_inputs(args, kwargs) makes of a call's arguments, instead of torch
    tensors in the place of ours. Outputs are compared as torch tensors: what makes ours of them is kept, and not called.
    """
    operation.golden_function = golden_function
    operation.preprocess_golden_function_inputs = preprocess_golden_function_inputs
    operation.postprocess_golden_function_outputs = postprocess_golden_function_outputs


def get_golden_function(operation):
    """What an operation must give: a function on torch tensors (or numpy arrays, or our own).

    The library computes it in float64; an operation may have another one attached.
    """
    attached = getattr(operation, "golden_function", None)
    if attached is not None:
        return attached
    if not getattr(operation, "has_golden", False):
        raise RuntimeError(f"{operation} does not have a golden function")
    return functools.partial(_golden, operation)


# Operations whose answers torch has exactly: whole numbers of any size, and truth as bool.
_EXACT = """eq ne lt gt le ge logical_and logical_or logical_xor logical_not isnan isinf isfinite maximum minimum
    add subtract multiply bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift
    remainder fmod relu square""".split()
_TRUTH = _EXACT[:13]
# And those that torch has by another name, or in several steps.
_STEPS = {
    "addcmul": lambda torch, a, b, c, value=1: a + int(value) * b * c,
    "concat": lambda torch, parts, dim, groups=1: torch.cat([t.chunk(groups, dim)[i] for i in range(groups) for t in parts], dim),
    "fill": lambda torch, a, value: torch.full_like(a, value),
    "reglu": lambda torch, a, dim=-1: (halves := a.chunk(2, dim))[0] * torch.relu(halves[1]),
    "relu_max": lambda torch, a, limit: torch.relu(a.clamp(max=int(limit))),
    "relu_min": lambda torch, a, limit: a.clamp(min=int(limit)),
    "rsub": lambda torch, a, b: torch.sub(b, a),
    "squared_difference": lambda torch, a, b: torch.square(torch.sub(a, b)),
}


def _exact(operation, args, kwargs):
    """The answer of torch itself for tensors of truth or whole numbers; None where our golden is to say."""
    torch, name = sys.modules.get("torch"), operation.name.rsplit(".", 1)[-1]
    unseen = {"device", "memory_config", "output_tensor", "queue_id"}
    more = {key: value for key, value in kwargs.items() if key not in unseen}
    if torch is None or name not in (*_EXACT, *_STEPS) or (more and (name, *more) != ("addcmul", "value")):
        return None
    tensors = [value for part in args for value in (part if isinstance(part, list) else [part]) if isinstance(value, torch.Tensor)]
    if not tensors or (name not in _TRUTH and any(tensor.dtype.is_floating_point for tensor in tensors)):
        return None
    if len(args) > 3 or any(not isinstance(value, (torch.Tensor, int, float, list)) for value in args):
        return None
    if name in _STEPS:
        return _STEPS[name](torch, *args, **more)
    if len(args) > 2:
        return None
    if name in ("maximum", "minimum"):
        args = [value if isinstance(value, torch.Tensor) else torch.full_like(tensors[0], value) for value in args]
    if name in ("logical_and", "logical_or", "logical_xor"):
        args = [value if isinstance(value, torch.Tensor) else torch.tensor(value) for value in args]
    return getattr(torch, name)(*args)


# Golden functions of upstream that take one more argument without a name than their operation does: where, and which.
_AFTER = {"ttnn.rms_norm": (1, "weight"), "ttnn.div": (2, "rounding_mode"), "ttnn.concat": (2, "groups")}


def _first_that_fits(operation, args, kwargs):
    """Golden functions of upstream take without a name, too, what the operation takes by name alone: in its order."""
    try:
        return operation.golden(*args, **kwargs)
    except TypeError as error:
        for text in operation.signatures:
            before, _, after = text.partition(" *, ")
            places, names = (len(re.findall(r"\w+:", before)), re.findall(r"(\w+):", after))
            if places < len(args) <= places + len(names):
                with contextlib.suppress(TypeError):
                    return operation.golden(*args[:places], **dict(zip(names, args[places:])), **kwargs)
            if "memory_config" in names and "memory_config" not in kwargs:  # complex forms cannot do without
                with contextlib.suppress(TypeError):
                    return operation.golden(*args, memory_config=_ttnn.tensor.MemoryConfig(), **kwargs)
        raise error


def _golden(operation, *args, **kwargs):
    import ttnn

    with contextlib.suppress(TypeError, RuntimeError):  # torch knows it not of such types, or divides by 0: ours is to say
        exact = _exact(operation, args, kwargs)
        if exact is not None:
            return exact
    if (more := _AFTER.get(operation.name)) and len(args) > more[0]:
        kwargs = {more[1]: args[more[0]], **kwargs}
        args = args[: more[0]]
    foreign = []

    def inner(value):
        if isinstance(value, (list, tuple)):
            return [inner(v) for v in value]
        if isinstance(value, ttnn.Tensor) or not hasattr(type(value), "__dlpack__"):
            return value
        foreign.append(value)
        if getattr(value, "is_complex", bool)():
            return ttnn.complex_tensor(*(_ttnn.tensor.from_data(part.contiguous()) for part in (value.real, value.imag)))
        return _ttnn.tensor.from_data(value)

    if isinstance(kwargs.get("reduction"), str):
        kwargs["reduction"] = getattr(ttnn.LossReductionMode, kwargs["reduction"].upper())
    # Golden functions of upstream pass over what they do not know.
    known = {name for text in operation.signatures for name in re.findall(r"(\w+):", text)}
    placed = any(re.search(r"\bdevice: [\w.]+(,|$)", text) for text in operation.signatures)  # not to be left out
    names = {k: inner(v) for k, v in kwargs.items() if (k != "device" or placed) and k in known}
    results = _first_that_fits(operation, list(map(inner, args)), names)

    def outer(result):
        if isinstance(result, list):
            return [outer(r) for r in result]
        if result is None or not foreign:
            return result
        if type(foreign[0]).__module__.split(".")[0] == "torch":
            return ttnn.to_torch(result).to(_promoted(foreign))
        return result.to_numpy()

    results = outer(results)
    if isinstance(results, list) and any(getattr(value, "is_complex", bool)() for value in foreign):
        complex_of = sys.modules["torch"].complex  # their parts lie one behind the other
        results = [complex_of(real.float(), imag.float()) for real, imag in zip(results[::2], results[1::2])]
        if not operation.name.endswith("_bw"):
            return results[0]
        results = [sys.modules["torch"].cat([value.real, value.imag], -1) for value in results]  # as upstream's are
    return [results] if operation.name.endswith("_bw") and not isinstance(results, list) else results


def _promoted(tensors):
    import torch

    dtype = tensors[0].real.dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.real.dtype)
    return dtype if dtype.is_floating_point else torch.float32


def with_tensors(value, convert):
    """Arguments with convert(tensor) in the place of each of our tensors, in lists, tuples and dictionaries too."""
    if isinstance(value, _ttnn.tensor.Tensor):
        return convert(value)
    if isinstance(value, (list, tuple)):
        found = [with_tensors(item, convert) for item in value]
        return found if isinstance(value, list) else tuple(found)
    if isinstance(value, dict):
        return {name: with_tensors(item, convert) for name, item in value.items()}
    return value


def _like_the_first(output, args, kwargs):
    """What a golden function gave as our tensors: of the dtype and layout of the first that is among the arguments, and where it is."""
    import ttnn

    given = []
    with_tensors((args, kwargs), given.append)
    options = {"dtype": given[0].dtype, "layout": given[0].layout, "device": given[0].device()} if given else {}

    def convert(result):
        if isinstance(result, (list, tuple)):
            return type(result)([convert(each) for each in result])
        if not isinstance(result, ttnn.Tensor) and not hasattr(type(result), "__dlpack__"):
            raise RuntimeError(f"A golden function gave {type(result).__name__} where tensors are expected.")
        return ttnn.from_torch(result, **options)

    return convert(output)


def get_fallback_function(operation):
    """An operation computed by its golden function, on our tensors: results have dtype, layout and device of the first of them.

    A golden function that was attached is given torch tensors, or what its own preprocess_golden_function_inputs makes of
    the arguments; postprocess_golden_function_outputs(output, args, kwargs) makes our tensors of what it gives.
    """
    golden = get_golden_function(operation)
    attached = getattr(golden, "func", None) is not _golden  # the library's own takes our tensors, and needs no torch

    def fallback_function(*args, **kwargs):
        import ttnn

        before = getattr(operation, "preprocess_golden_function_inputs", None)
        after = getattr(operation, "postprocess_golden_function_outputs", None) or _like_the_first
        given = args, kwargs
        if before is not None:
            given = before(args, kwargs)
        elif attached:
            given = with_tensors(given, ttnn.to_torch)
        return after(golden(*given[0], **given[1]), args, kwargs)

    return fallback_function


_queue = threading.local()


@contextlib.contextmanager
def command_queue(cq_id):
    """Operations go to this queue meanwhile; execution is in order, so nothing changes."""
    before = getattr(_queue, "id", None)
    _queue.id = cq_id
    try:
        yield
    finally:
        _queue.id = before


def get_current_command_queue_id_for_thread():
    return getattr(_queue, "id", None)
