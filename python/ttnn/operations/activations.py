"""What an activation must give: text ("relu6"), a UnaryOpType or a UnaryWithParam."""

import ttnn
from ttnn.decorators import get_golden_function

_OTHERS = {"RECIP": "reciprocal"}  # members of UnaryOpType whose operation has another name


def get_golden_function_for_activation(activation):
    """A function on torch tensors; None for None."""
    if activation is None:
        return None
    kind = getattr(activation, "op_type", activation)
    if isinstance(kind, ttnn.UnaryOpType):
        name = _OTHERS.get(kind.name, kind.name.lower())
    elif isinstance(kind, str):
        name = kind.removesuffix("_approx")
    else:
        raise RuntimeError(f"{activation!r} is no activation")
    if name == "gelu_tanh":
        return _gelu_tanh
    operation = getattr(ttnn, name, None)
    if operation is None:
        raise RuntimeError(f"{activation!r} is no activation that has an operation")
    return get_golden_function(operation)


def _gelu_tanh(tensor):
    import torch

    return torch.nn.functional.gelu(tensor, approximate="tanh")
