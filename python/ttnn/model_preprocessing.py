"""
Weights of torch models as trees of ttnn tensors, and what convolutions and pools of a model are called with.

    parameters = preprocess_model_parameters(initialize_model=lambda: torch_model.eval(), device=device)
    ttnn.linear(x, parameters.encoder.layer[0].output.weight, bias=parameters.encoder.layer[0].output.bias)

Branches are named as the model's modules are; a ModuleList is a ParameterList. Linear weights are transposed, biases and
parameters of norms are rows. `custom_preprocessor(model, name)` may give a module's tree itself, and `convert_to_ttnn(model,
name)` may leave a module's parameters what they are.
"""

import contextlib
import inspect
import json
import os
import pathlib
import subprocess
import tempfile
import warnings

import ttnn
from ttnn.dot_access import make_dot_access_dict

try:
    import torch
except ImportError:
    raise ImportError("ttnn.model_preprocessing takes models of torch, which is not installed") from None

__all__ = []

# ---- trees -------------------------------------------------------------------------------------------


class ParameterList(list):
    """Parameters by number; `3 in parameters` asks whether there is a fourth."""

    def __contains__(self, index):
        return index < len(self)

    def __repr__(self):
        return _text(self)


class ParameterDict(dict):
    """Parameters by name, which are attributes, too."""

    __getattr__ = dict.__getitem__
    __delattr__ = dict.__delitem__

    def __repr__(self):
        return _text(self)


class ModuleArgs(dict):
    """What a module is called with, by name."""

    __getattr__ = dict.__getitem__
    __delattr__ = dict.__delitem__


class Conv2dArgs(ModuleArgs):
    pass


class ConvTranspose2dArgs(ModuleArgs):
    pass


class MaxPool2dArgs(ModuleArgs):
    pass


class GroupNormArgs(ModuleArgs):
    pass


def make_parameter_dict(dictionary):
    """The same tree with ParameterDict at each level."""
    if isinstance(dictionary, ParameterDict):
        return dictionary
    return ParameterDict((name, make_parameter_dict(value) if _is_branch(value) else value) for name, value in dictionary.items())


def _is_branch(value):
    return isinstance(value, dict) and not isinstance(value, ModuleArgs)


def _text(value, indent=""):
    """A tree over several lines, tensors by what they are."""
    if isinstance(value, ttnn.Tensor):
        return f"ttnn.Tensor(shape={value.shape}, layout={value.layout}, dtype={value.dtype})"
    if isinstance(value, torch.Tensor):
        return f"torch.Tensor(shape={value.shape}, dtype={value.dtype})"
    deeper = indent + "  "
    if isinstance(value, ModuleArgs):
        lines = [f"{deeper}{name}: {item}" for name, item in value.items()]
    elif isinstance(value, ParameterDict):
        lines = [f"{deeper}{name}: {_text(item, deeper)}" for name, item in value.items()]
    elif isinstance(value, ParameterList):
        lines = [deeper + _text(item, deeper) for item in value]
    else:
        return repr(value)
    first, last = "[]" if isinstance(value, ParameterList) else "{}"
    return f"{first}\n" + ",\n".join(lines) + f"\n{indent}{last}" if lines else first + last


# ---- single parameters -------------------------------------------------------------------------------


def preprocess_linear_weight(weight, *, dtype, layout=ttnn.TILE_LAYOUT, weights_mesh_mapper=None):
    """[out, in] of torch as [in, out]."""
    return ttnn.from_torch(weight.T.contiguous(), dtype=dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def preprocess_linear_bias(bias, *, dtype, layout=ttnn.TILE_LAYOUT, weights_mesh_mapper=None):
    """A row."""
    return ttnn.from_torch(bias.reshape((1, -1)), dtype=dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def preprocess_layernorm_parameter(parameter, *, dtype, layout=ttnn.TILE_LAYOUT):
    """A row."""
    return ttnn.from_torch(parameter.reshape((1, -1)), dtype=dtype, layout=layout)


def preprocess_embedding_weight(weight, *, dtype):
    """As it is, by rows."""
    return ttnn.from_torch(weight, dtype=dtype)


def fold_batch_norm2d_into_conv2d(conv, bn):
    """Weight and bias of a convolution that also does what the batch norm after it does."""
    if not bn.track_running_stats:
        raise RuntimeError("a batch norm without running statistics cannot be part of a convolution")
    factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    before = -bn.running_mean if conv.bias is None else conv.bias - bn.running_mean
    return conv.weight * factor.reshape(-1, 1, 1, 1), before * factor + bn.bias


def default_preprocessor(model, name, ttnn_module_args):
    """The parameters of a Linear, LayerNorm or Embedding; an empty tree for other modules."""
    found = {}
    if isinstance(model, torch.nn.Linear):
        found = {"weight": preprocess_linear_weight, "bias": preprocess_linear_bias}
    elif isinstance(model, torch.nn.LayerNorm):
        found = {"weight": preprocess_layernorm_parameter, "bias": preprocess_layernorm_parameter}
    elif isinstance(model, torch.nn.Embedding):
        found = {"weight": preprocess_embedding_weight}
    return ParameterDict(
        (key, convert(getattr(model, key), dtype=ttnn.bfloat16)) for key, convert in found.items() if getattr(model, key) is not None
    )


# What stands for a type of torch; floats are bfloat16.
_TYPES = {
    torch.uint8: ttnn.uint8,
    torch.int16: ttnn.uint16,
    torch.int32: ttnn.int32,
    torch.int64: ttnn.uint32,
    torch.bfloat16: ttnn.bfloat16,
    torch.float16: ttnn.bfloat16,
    torch.float32: ttnn.bfloat16,
    torch.float64: ttnn.bfloat16,
}


# ---- modules -----------------------------------------------------------------------------------------


def _own_parameters(model):
    return [(name, value) for name, value in model.named_parameters() if "." not in name]


def _ask(custom, model, name, offered):
    """What a custom preprocessor gives; it names those of the offered arguments that it wants."""
    wanted = list(inspect.signature(custom).parameters)
    if len(wanted) < 2:
        raise RuntimeError("a custom preprocessor takes a module and its name")
    for argument in wanted[2:]:
        if argument not in offered:
            raise RuntimeError(f"a custom preprocessor wants {argument}, which is none of {', '.join(offered)}")
    return custom(model, name, **{argument: offered[argument] for argument in wanted[2:]})


def _below(args, key):
    """Of the arguments of a module those of its child."""
    if args is None:
        return None
    return args.get(key)


def convert_torch_model_to_ttnn_model(model, *, convert_to_ttnn, custom_preprocessor, name, ttnn_module_args):
    """The tree of a module's parameters and of those below it."""
    rules = {"convert_to_ttnn": convert_to_ttnn, "custom_preprocessor": custom_preprocessor}

    def child(module, key):
        path = f"{name}.{key}" if name else key
        return convert_torch_model_to_ttnn_model(module, name=path, ttnn_module_args=_below(ttnn_module_args, key), **rules)

    if isinstance(model, torch.nn.ModuleList):
        return ParameterList(child(module, index) for index, module in enumerate(model.children()))
    if custom_preprocessor is not None:
        offered = {"ttnn_module_args": ttnn_module_args, "convert_to_ttnn": convert_to_ttnn}
        given = _ask(custom_preprocessor, model, name, offered)
        if given:
            return make_parameter_dict(given)

    children, own = list(model.named_children()), _own_parameters(model)
    if not convert_to_ttnn(model, name):
        found = ParameterDict(own)
        if isinstance(model, torch.nn.Linear):
            found["weight"] = model.weight.T.contiguous()
    else:
        found = default_preprocessor(model, name, ttnn_module_args)
        if found:
            if len(found) != len(children) + len(own):
                raise RuntimeError(f"{name or type(model).__name__}: not all of its children and parameters were converted")
            return found
        found = ParameterDict((key, ttnn.from_torch(value, dtype=_TYPES[value.dtype])) for key, value in own)
    for key, module in children:
        key = int(key) if key.isdigit() else key
        below = child(module, key)
        if below:
            found[key] = below
    return found


def preprocess_remaining_children_and_parameters(
    model, name, convert_to_ttnn, custom_preprocessor, parameters, ttnn_module_args, *, already_preprocessed_children
):
    """Adds to a custom preprocessor's tree what it did not convert itself."""
    for key, module in model.named_children():
        if key not in already_preprocessed_children:
            parameters[key] = convert_torch_model_to_ttnn_model(
                module,
                name=name,
                convert_to_ttnn=convert_to_ttnn,
                custom_preprocessor=custom_preprocessor,
                ttnn_module_args=_below(ttnn_module_args, key),
            )
    for key, value in _own_parameters(model):
        if key not in already_preprocessed_children:
            parameters[key] = ttnn.from_torch(value, dtype=_TYPES[value.dtype])
    return parameters


# ---- what modules are called with --------------------------------------------------------------------

_PLACE = ("batch_size", "input_height", "input_width")
_CONV = {
    "math_fidelity": ttnn.MathFidelity.HiFi4,
    "dtype": ttnn.bfloat16,
    "weights_dtype": ttnn.bfloat16,
    "use_1d_systolic_array": True,
    "enable_auto_formatting": False,
}

# Module of torch, its arguments, attributes that go over, what comes of its input's shape, what is always so.
_MODULES = (
    (
        torch.nn.Conv2d,
        Conv2dArgs,
        ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"),
        _PLACE,
        _CONV,
    ),
    (
        torch.nn.ConvTranspose2d,
        ConvTranspose2dArgs,
        ("in_channels", "out_channels", "kernel_size", "stride", "padding", "output_padding", "dilation", "groups", "padding_mode"),
        _PLACE,
        _CONV,
    ),
    (
        torch.nn.MaxPool2d,
        MaxPool2dArgs,
        ("kernel_size", "stride", "padding", "dilation"),
        ("batch_size", "input_channels", "input_height", "input_width"),
        {"dtype": ttnn.bfloat16},
    ),
    (torch.nn.GroupNorm, GroupNormArgs, ("num_groups", "num_channels", "eps", "affine"), _PLACE, {"dtype": ttnn.bfloat16}),
)
_FROM_SHAPE = {"batch_size": 0, "input_channels": 1, "input_height": -2, "input_width": -1}


def _arguments(module, shape, device):
    """Those of a module that has a row; an empty branch for others."""
    for kind, args, attributes, places, always in _MODULES:
        if isinstance(module, kind) and len(shape) > 1:
            found = args((name, getattr(module, name)) for name in attributes)
            found.update((name, shape[_FROM_SHAPE[name]]) for name in places)
            found.update(always)
            if always is _CONV:
                found.update(conv_blocking_and_parallelization_config_override={}, device=device)
            return found
    return {}


def _shape_of(inputs):
    return next((tuple(value.shape) for value in inputs if isinstance(value, torch.Tensor)), ())


def infer_ttnn_module_args(*, model, run_model, device):
    """
    Runs the model and gives, by the names of its modules, what convolutions, pools and group norms were called with. A number
    is a key as number and as text; a module of a list, which itself is never called, also stands where it was called from.
    """
    if run_model is None:
        return None
    paths = {id(module): path for path, module in model.named_modules()}
    root, open_modules = {}, []

    def begin(module, inputs, keywords):
        path = paths.get(id(module))
        if path is None:
            return
        found = _arguments(module, _shape_of([*inputs, *keywords.values()]), device)
        above, branch = open_modules[-1] if open_modules else ("", root)
        if path:
            inner = path[len(above) + 1 :] if above and path.startswith(above + ".") else path
            *lists, last = inner.split(".")
            _put(branch, last, found)
            for name in lists:
                branch = _put(branch, name, branch.get(name) if isinstance(branch.get(name), dict) else {})
            _put(branch, last, found)
        else:
            root[""] = found
        open_modules.append((path, found))

    def end(module, inputs, output):
        if id(module) in paths and open_modules:
            open_modules.pop()

    hooks = [module.register_forward_pre_hook(begin, with_kwargs=True) for module in model.modules()]
    hooks += [module.register_forward_hook(end) for module in model.modules()]
    try:
        run_model(model)
    finally:
        for hook in hooks:
            hook.remove()
    if "" not in root:
        root = {"": root}
    return make_dot_access_dict(root[""], ignore_types=(ModuleArgs,))


def _put(branch, name, value):
    branch[name] = value
    if name.isdigit():
        branch[int(name)] = value
    return value


def merge_ttnn_module_args_into_parameters(parameters, ttnn_module_args, path=()):
    """Adds to each branch of parameters, as `ttnn_module_args`, what its module was called with."""
    if isinstance(ttnn_module_args, ModuleArgs):
        ttnn_module_args.pop("device", None)
        parameters["ttnn_module_args"] = ttnn_module_args
        return parameters
    names = range(len(parameters)) if isinstance(parameters, ParameterList) else list(parameters)
    for name in names:
        if isinstance(ttnn_module_args, dict) and name in ttnn_module_args:
            if not isinstance(parameters[name], (dict, ParameterList)):
                raise RuntimeError(".".join([*path, str(name)]) + ": a module of the run is a parameter of the model")
            merge_ttnn_module_args_into_parameters(parameters[name], ttnn_module_args[name], (*path, str(name)))
    return parameters


# ---- whole models ------------------------------------------------------------------------------------


def move_to_device(object, device):
    """Moves the tensors of a tree, in place."""
    if isinstance(object, ttnn.Tensor):
        return ttnn.to_device(object, device)
    if isinstance(object, (ParameterDict, ParameterList)):
        for name in range(len(object)) if isinstance(object, ParameterList) else list(object):
            object[name] = move_to_device(object[name], device)
    return object


def git_hash():
    """The commit of the working directory, in short, or None: the version of caches that are given none."""
    try:
        ran = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()


def _initialize(initialize_model, run_model, convert_to_ttnn, custom_preprocessor, device, prefix):
    model = initialize_model()
    if model.training:
        warnings.warn("the model was training; its parameters are taken in eval mode", stacklevel=5)
        model.eval()
    args = infer_ttnn_module_args(model=model, run_model=run_model, device=device)
    parameters = convert_torch_model_to_ttnn_model(
        model,
        convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor,
        name=prefix or "",
        ttnn_module_args=args,
    )
    if args is not None:
        merge_ttnn_module_args_into_parameters(parameters, args)
    return parameters if isinstance(parameters, ParameterList) else make_parameter_dict(parameters)


# ---- the cache: a folder of tensors, and a file that says where they are in the tree: nothing of it is run ----

_TREE, _VERSION = "tree.json", "version.txt"
_FORMAT = 2  # of the folder; another one's is made anew
_ARGS = {kind.__name__: kind for kind in (Conv2dArgs, ConvTranspose2dArgs, MaxPool2dArgs, GroupNormArgs)}


def _dump(folder, value):
    """Writes the tensors below as files; gives what the tree's file says of it: a kind, and what is below."""
    if isinstance(value, ParameterDict):
        return ["dict", [[name, _dump(folder, item)] for name, item in value.items()]]
    if isinstance(value, ParameterList):
        return ["list", [_dump(folder, item) for item in value]]
    if isinstance(value, ModuleArgs):
        return ["args", type(value).__name__, [[name, _plain(item)] for name, item in value.items()]]
    path = folder / str(len(os.listdir(folder)))
    if isinstance(value, ttnn.Tensor):
        path = path.with_suffix(".tensorbin")
        ttnn.dump_tensor(str(path), value)
        return ["tensor", path.name]
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_quantized:
        data = value.detach().cpu().contiguous()
        path.write_bytes(data.reshape(-1).view(torch.uint8).numpy().tobytes())
        return ["torch", path.name, str(data.dtype), list(data.shape), isinstance(value, torch.nn.Parameter), value.requires_grad]
    raise RuntimeError(f"the cache of models keeps tensors and their arguments, not {type(value).__name__}")


def _load(folder, tree):
    kind, below, *more = tree
    if kind == "dict":
        return ParameterDict((name, _load(folder, item)) for name, item in below)
    if kind == "list":
        return ParameterList(_load(folder, item) for item in below)
    if kind == "args":
        return _ARGS[below]((name, _unplain(item)) for name, item in more[0])
    path = folder / pathlib.Path(below).name
    if kind == "tensor":
        return ttnn.load_tensor(str(path))
    dtype, (shape, parameter, grad) = getattr(torch, more[0].removeprefix("torch.")), more[1:]
    data = bytearray(path.read_bytes())
    found = torch.frombuffer(data, dtype=torch.uint8).view(dtype).reshape(shape) if data else torch.empty(shape, dtype=dtype)
    return torch.nn.Parameter(found, requires_grad=grad) if parameter else found.requires_grad_(grad)


def _plain(value):
    """An argument as JSON has it; what JSON has no word for is an object with one member that says what it is."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(name), _plain(item)] for name, item in value.items()]}
    kind, member = type(value).__name__, getattr(value, "name", None)
    if isinstance(member, str) and getattr(getattr(ttnn, kind, None), member, None) == value:
        return {"enum": [kind, member]}
    raise RuntimeError(f"the cache of models keeps numbers, texts and members of enumerations, not {value!r}")


def _unplain(item):
    if isinstance(item, list):
        return [_unplain(value) for value in item]
    if not isinstance(item, dict):
        return item
    ((kind, value),) = item.items()
    if kind == "tuple":
        return tuple(_unplain(value))
    if kind == "dict":
        return {_unplain(name): _unplain(inner) for name, inner in value}
    name, member = value
    found = getattr(getattr(ttnn, name), member)
    if kind != "enum" or type(found).__name__ != name:
        raise ValueError(f"the cache of models names {kind} {name}.{member}, which is none")
    return found


def _kept(folder, version):
    """The tree of the cache, if it is of this version; None: it is not, or of another format."""
    stamp = folder / _VERSION
    if not stamp.exists() or stamp.read_text() != (version or ""):
        return None
    kept = json.loads((folder / _TREE).read_text())
    return _load(folder, kept["tree"]) if isinstance(kept, dict) and kept.get("format") == _FORMAT else None


def _cached(folder, version, make):
    """The tree of the cache, else what `make` makes, which is kept then."""
    parameters = _kept(folder, version)
    if parameters is not None:
        return parameters
    parameters = make()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        made = pathlib.Path(aside) / "made"
        made.mkdir()
        (made / _TREE).write_text(json.dumps({"format": _FORMAT, "tree": _dump(made, parameters)}))
        (made / _VERSION).write_text(version or "")
        with contextlib.suppress(FileNotFoundError):
            os.rename(folder, pathlib.Path(aside) / "old")
        os.rename(made, folder)
    return parameters


def from_torch(
    *,
    model_name=None,
    version=None,
    initialize_model=None,
    convert_to_ttnn=None,
    custom_preprocessor=None,
    device=None,
    prefix="",
    run_model=None,
    reader_patterns_cache=None,
):
    """
    The tree of a model's parameters, on `device` if one is given. With a `model_name` and `ttnn.CONFIG.enable_model_cache` it is
    kept in `ttnn.CONFIG.model_cache_path`; one of another `version` (without one: the commit of the working directory) is made
    again. `run_model(model)` adds `ttnn_module_args`. `reader_patterns_cache` is not needed and is taken as it was.
    """

    def make():
        if initialize_model is None:
            raise RuntimeError(f"{model_name}: version {version} is not in the cache, and there is no model to make it of")
        convert = convert_to_ttnn or (lambda model, name: True)
        return _initialize(initialize_model, run_model, convert, custom_preprocessor, device, prefix)

    if model_name is not None and ttnn.CONFIG.enable_model_cache:
        version = git_hash() if version is None else version
        parameters = _cached(pathlib.Path(ttnn.CONFIG.model_cache_path) / model_name.replace("/", "_"), version, make)
    else:
        parameters = make()
    return parameters if device is None else move_to_device(parameters, device)


def preprocess_model(**options):
    """from_torch() without logging and comparison."""
    with ttnn.manage_config("enable_logging", False), ttnn.manage_config("enable_comparison_mode", False):
        return from_torch(**options)


def preprocess_model_parameters(
    *,
    model_name=None,
    version=None,
    initialize_model=None,
    convert_to_ttnn=None,
    custom_preprocessor=None,
    device=None,
    prefix="",
):
    """preprocess_model() without a run of the model."""
    return preprocess_model(
        model_name=model_name,
        version=version,
        initialize_model=initialize_model,
        convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor,
        device=device,
        prefix=prefix,
    )
