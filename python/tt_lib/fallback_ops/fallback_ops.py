"""Functions and modules of torch that take and give tensors of ttnn: computed on the host, in float32.

What goes in comes as rows; what comes out has four dimensions or more, is bfloat16 where it was float32, and lies in
tiles where they are whole, on the device of the first tensor (`output_layout`, `output_on_device` say otherwise).
"""

import functools

import torch

import ttnn

_WIDER = {torch.bfloat16: torch.float32, torch.uint16: torch.int16, torch.uint32: torch.int32}


def _inward(value, devices):
    if isinstance(value, ttnn.Tensor):
        if value.storage_type() == ttnn.StorageType.DEVICE:
            devices.append(value.device())
        found = value.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_torch()
        return found.to(_WIDER.get(found.dtype, found.dtype))
    if isinstance(value, (list, tuple)):
        return type(value)(_inward(one, devices) for one in value)
    return value


def _outward(value, layout, device):
    if isinstance(value, (list, tuple)):
        return [_outward(one, layout, device) for one in value]
    if not isinstance(value, torch.Tensor):
        return value
    rows = value.detach().reshape((1,) * (4 - value.dim()) + tuple(value.shape))
    found = ttnn.Tensor(rows.bfloat16() if rows.dtype == torch.float32 else rows)
    whole = rows.shape[-2] % 32 == 0 and rows.shape[-1] % 32 == 0
    if layout == ttnn.TILE_LAYOUT and whole:
        found = found.to(ttnn.TILE_LAYOUT)
    # Rows of an odd number of elements cannot lie on a device.
    return found.to(device) if device is not None and rows.shape[-1] % 2 == 0 else found


def convert_tt_tensors_wrapper(function):
    """The function with tensors of ttnn for those of torch."""

    @functools.wraps(function)
    def call(*args, output_layout=ttnn.TILE_LAYOUT, output_on_device=True, **kwargs):
        devices = []
        args = [_inward(one, devices) for one in args]
        kwargs = {name: _inward(one, devices) for name, one in kwargs.items()}
        device = (devices[0] if devices else ttnn.GetDefaultDevice()) if output_on_device else None
        return _outward(function(*args, **kwargs), output_layout, device)

    return call


def _vector(tensor):
    return None if tensor is None else tensor.reshape(-1)


def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    return torch.nn.functional.group_norm(input, num_groups, _vector(weight), _vector(bias), eps)


def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    given = [None if one is None else one.reshape(shape) for one in (weight, bias)]
    return torch.nn.functional.layer_norm(input, shape, *given, eps)


def _conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv2d(input, weight, _vector(bias), stride, padding, dilation, groups)


def _interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


_FUNCTIONS = {
    "full": lambda size, fill_value: torch.full(size, fill_value),
    "tensor_slice": lambda input, slices: input[tuple(slices)],
    "reshape": lambda input, *shape: torch.reshape(input, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape),
    "permute": lambda input, *dims: torch.permute(input, dims[0] if len(dims) == 1 else dims),
    "chunk": torch.chunk,
    "conv2d": _conv2d,
    "group_norm": _group_norm,
    "layer_norm": _layer_norm,
    "pad": lambda input, pad, mode="constant", value=None: torch.nn.functional.pad(input, pad, mode, value),
    "interpolate": _interpolate,
    "repeat": lambda input, sizes: input.repeat(*sizes),
    "repeat_interleave": torch.repeat_interleave,
    "concat": lambda tensors, dim=0: torch.concat(tensors, dim),
    "silu": torch.nn.functional.silu,
    "softmax": lambda input, dim=None: torch.nn.functional.softmax(input, dim),
    "ceil": torch.ceil,
    "floor": torch.floor,
    "trunc": torch.trunc,
    "bitwise_not": torch.bitwise_not,
    "torch_argmax": lambda input, dim=None, keepdim=False: torch.argmax(input, dim, keepdim).to(torch.int32),
    "torch_argmin": lambda input, dim, keepdim: torch.argmin(input, dim, keepdim).to(torch.int32),
}
for _kind in ("unary", "binary"):  # the second operand: a number or a tensor
    for _name, _function in {
        "fmod": torch.fmod,
        "bitwise_or": torch.bitwise_or,
        "bitwise_and": torch.bitwise_and,
        "bitwise_xor": torch.bitwise_xor,
        "bitwise_right_shift": torch.bitwise_right_shift,
        "bitwise_left_shift": torch.bitwise_left_shift,
    }.items():
        _FUNCTIONS[f"{_kind}_{_name}"] = _function
for _name, _function in _FUNCTIONS.items():
    globals()[_name] = convert_tt_tensors_wrapper(_function)


class _Module(torch.nn.Module):
    """A module of torch under `pt_fallback`."""

    def __init__(self, module, **tensors):
        super().__init__()
        self.pt_fallback = module
        for name, (tensor, shape) in tensors.items():
            self._give(name, tensor, shape)

    def _give(self, name, tensor, shape):
        """A parameter or number of the module: a tensor of ttnn or torch, in the shape that torch has it in."""
        value = None if tensor is None else _inward(tensor, []).reshape(shape)
        before = getattr(self.pt_fallback, name)
        setattr(self.pt_fallback, name, torch.nn.Parameter(value) if value is not None and isinstance(before, torch.nn.Parameter) else value)

    def forward(self, input):
        return convert_tt_tensors_wrapper(self.pt_fallback)(input)


class Conv2d(_Module):
    def __init__(self, weights, biases, in_channels, out_channels, kernel_size, *options, **named):
        module = torch.nn.Conv2d(in_channels, out_channels, kernel_size, *options, **named)
        super().__init__(module, weight=(weights, module.weight.shape), bias=(biases, (-1,)))


class BatchNorm2d(_Module):
    def __init__(self, weights, biases, running_mean, running_var, num_batches_tracked, num_features, *options, **named):
        module = torch.nn.BatchNorm2d(num_features, *options, **named)
        flat = {"weight": weights, "bias": biases, "running_mean": running_mean, "running_var": running_var}
        super().__init__(module, **{name: (tensor, (-1,)) for name, tensor in flat.items()})
        self._give("num_batches_tracked", num_batches_tracked, ())
        self.pt_fallback.eval()


class GroupNorm(_Module):
    def __init__(self, weights, biases, num_groups, num_channels, *options, **named):
        super().__init__(torch.nn.GroupNorm(num_groups, num_channels, *options, **named), weight=(weights, (-1,)), bias=(biases, (-1,)))


class LayerNorm(_Module):
    def __init__(self, weights, biases, normalized_shape, *options, **named):
        module = torch.nn.LayerNorm(normalized_shape, *options, **named)
        shape = module.normalized_shape
        super().__init__(module, weight=(weights, shape), bias=(biases, shape))


class MaxPool2d(_Module):
    def __init__(self, kernel_size, *options, channels_last=False, **named):
        super().__init__(torch.nn.MaxPool2d(kernel_size, *options, **named))
        self.channels_last = channels_last

    def forward(self, input):
        def run(rows):
            return self.pt_fallback(rows.permute(0, 3, 1, 2)).permute(0, 2, 3, 1) if self.channels_last else self.pt_fallback(rows)

        return convert_tt_tensors_wrapper(run)(input)


class AdaptiveAvgPool2d(_Module):
    def __init__(self, output_size, *unused, **ignored):
        super().__init__(torch.nn.AdaptiveAvgPool2d(output_size))
