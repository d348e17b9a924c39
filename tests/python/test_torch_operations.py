"""Numbers: every operation that torch has, too, in the style of upstream's own tests.

Functions of one and two tensors are found by their names; all others are rows of CASES here, of
test_torch_gradients.py, or tests of their own in test_torch_families.py.
"""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import ttnn
from against_torch import (
    OURS,
    assert_all_close,
    assert_close,
    covers,
    flat,
    plain,
    random_input,
    tensor,
    torch_function,
)

UNARY, BINARY = plain("input_tensor"), plain("input_tensor_a", "input_tensor_b")
WHOLE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"}
covers(*(name[5:] for name in UNARY + BINARY))


def test_there_are_many():
    assert len(UNARY) >= 60 and len(BINARY) >= 25


@pytest.mark.parametrize("name", UNARY)
def test_unary(name, device):
    torch.manual_seed(0)
    x = random_input(name[5:])
    steps = name[5:] in ("ceil", "floor", "round", "trunc", "frac", "sign", "signbit")
    for dtype in (ttnn.float32, ttnn.bfloat16):
        x = x if dtype == ttnn.float32 else x.bfloat16().float()
        expected = torch_function(name[5:])(x).float()
        actual = ttnn.to_torch(OURS[name](tensor(device, x, dtype))).float()
        found = ttnn.pearson_correlation_coefficient(expected, actual)
        assert found > (0.9999 if dtype == ttnn.float32 else 0.95 if steps else 0.99), f"PCC is {found}"


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shape", [(2, 3, 37, 45), (1, 3, 1, 45)])
def test_binary(name, shape, device):
    torch.manual_seed(0)
    if name[5:] in WHOLE:
        a, b = torch.randint(1, 30, (2, 3, 37, 45), dtype=torch.int32), torch.randint(1, 8, shape, dtype=torch.int32)
    else:
        a, b = torch.rand(2, 3, 37, 45) * 3 + 0.2, torch.rand(shape) * 2 + 0.5
    assert_close(torch_function(name[5:])(a, b), OURS[name](tensor(device, a), tensor(device, b)))


# Letters of inputs: what the tensors are.
INPUTS = {
    "n": lambda: torch.randn(2, 3, 40, 50),
    "p": lambda: torch.rand(2, 3, 40, 50) * 2.5 + 0.5,
    "u": lambda: torch.rand(2, 3, 40, 50) * 0.98 + 0.01,
    "b": lambda: (torch.rand(2, 3, 40, 50) > 0.5).float(),
    "i": lambda: torch.randint(-99, 99, (2, 3, 40, 50), dtype=torch.int32),
    "s": lambda: torch.randint(0, 5, (2, 3, 40, 50), dtype=torch.int32),
    "t": lambda: torch.randn(2, 3, 64, 96),  # whole tiles
    "v": lambda: torch.randn(1, 1, 1, 96),
    "m": lambda: torch.randn(2, 1, 1, 96),
    "q": lambda: torch.randn(1, 3, 1, 1),
}
RELATIONS = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
LOGIC = {"logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}


def halves(x, activation, dim=-1):
    a, b = x.chunk(2, dim)
    return a * activation(b)


def in_place(operation):
    """What the first tensor is afterwards."""

    def run(first, *rest, **options):
        operation(first, *rest, **options)
        return first

    return run


# name: (inputs, here, in torch)
CASES = {
    # with numbers
    "add": ("n", lambda t: ttnn.add(t, 2.5), lambda x: x + 2.5),
    "clamp": ("n", lambda t: ttnn.clamp(t, -0.5, 0.5), lambda x: x.clamp(-0.5, 0.5)),
    "clip": ("n", lambda t: ttnn.clip(t, min=-0.5), lambda x: x.clip(min=-0.5)),
    "div_no_nan": ("nb", ttnn.div_no_nan, lambda a, b: torch.where(b == 0, 0, a / b)),
    "fill": ("n", lambda t: ttnn.fill(t, 1.5), lambda x: torch.full_like(x, 1.5)),
    "floor_div": ("np", ttnn.floor_div, torch.floor_divide),
    "heaviside": ("n", lambda t: ttnn.heaviside(t, 0.5), lambda x: torch.heaviside(x, torch.tensor(0.5))),
    "leaky_relu": ("n", lambda t: ttnn.leaky_relu(t, 0.2), lambda x: F.leaky_relu(x, 0.2)),
    "logit": ("u", lambda t: ttnn.logit(t, eps=0.2), lambda x: torch.logit(x, 0.2)),
    "polygamma": ("p", lambda t: ttnn.polygamma(t, 1), lambda x: torch.polygamma(1, x)),
    "polyval": ("n", lambda t: ttnn.polyval(t, [2.0, -1.0, 3.0]), lambda x: (2 * x - 1) * x + 3),
    "pow": ("p", lambda t: ttnn.pow(t, 2.5), lambda x: x**2.5),
    "rdiv": ("p", lambda t: ttnn.rdiv(t, 2.5), lambda x: 2.5 / x),
    "relu_max": ("n", lambda t: ttnn.relu_max(t, 0.7), lambda x: F.relu(x.clamp(max=0.7))),
    "relu_min": ("n", lambda t: ttnn.relu_min(t, 0.7), lambda x: F.relu(x.clamp(min=0.7))),
    "rpow": ("n", lambda t: ttnn.rpow(t, 1.7), lambda x: 1.7**x),
    "threshold": ("n", lambda t: ttnn.threshold(t, 0.3, 0.7), lambda x: F.threshold(x, 0.3, 0.7)),
    "prelu": ("n", lambda t: ttnn.prelu(t, 0.2), lambda x: F.prelu(x, torch.tensor([0.2]))),
    "unary_chain": (
        "n",
        lambda t: ttnn.unary_chain(t, [ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP)]),
        lambda x: F.relu(x).exp(),
    ),
    # of whole numbers
    "bitwise_not": ("i", ttnn.bitwise_not, torch.bitwise_not),
    "logical_left_shift": ("is", ttnn.logical_left_shift, torch.bitwise_left_shift),
    "logical_right_shift": ("ss", ttnn.logical_right_shift, torch.bitwise_right_shift),
    "bitcast": ("n", lambda t: ttnn.bitcast(t, ttnn.int32), lambda x: x.view(torch.int32)),
    # of several tensors
    "addalpha": ("nn", lambda a, b: ttnn.addalpha(a, b, 1.5), lambda a, b: torch.add(a, b, alpha=1.5)),
    "subalpha": ("nn", lambda a, b: ttnn.subalpha(a, b, 1.5), lambda a, b: torch.sub(a, b, alpha=1.5)),
    "addcmul": ("nnn", lambda *t: ttnn.addcmul(*t, value=0.5), lambda *x: torch.addcmul(*x, value=0.5)),
    "addcdiv": ("npp", lambda *t: ttnn.addcdiv(*t, value=0.5), lambda *x: torch.addcdiv(*x, value=0.5)),
    "bias_gelu": ("nn", ttnn.bias_gelu, lambda a, b: F.gelu(a + b)),
    "lerp": ("nnu", ttnn.lerp, torch.lerp),
    "mac": ("nnn", ttnn.mac, lambda a, b, c: a * b + c),
    "squared_difference": ("nn", ttnn.squared_difference, lambda a, b: (a - b) ** 2),
    "where": ("bnn", ttnn.where, lambda m, a, b: torch.where(m > 0, a, b)),
    "outer": ("vv", ttnn.outer, lambda a, b: a.unsqueeze(-1) * b.unsqueeze(-2)),
    "bcast": (
        "tv",
        lambda a, b: ttnn.bcast(a, ttnn.repeat(b, (2, 3, 1, 1)), ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.H),
        lambda a, b: a * b,
    ),
    "l1_loss": ("nn", lambda a, b: ttnn.l1_loss(a, b), lambda a, b: F.l1_loss(a, b, reduction="none")),
    "mse_loss": ("nn", lambda a, b: ttnn.mse_loss(a, b), lambda a, b: F.mse_loss(a, b, reduction="none")),
    # gates
    "glu": ("t", lambda t: ttnn.glu(ttnn.slice(t, [0, 0, 0, 0], [2, 3, 64, 64])), lambda x: halves(x[..., :64], torch.sigmoid)),
    "reglu": ("t", lambda t: ttnn.reglu(ttnn.slice(t, [0, 0, 0, 0], [2, 3, 64, 64])), lambda x: halves(x[..., :64], F.relu)),
    "geglu": ("t", lambda t: ttnn.geglu(ttnn.slice(t, [0, 0, 0, 0], [2, 3, 64, 64])), lambda x: halves(x[..., :64], F.gelu)),
    "swiglu": ("t", lambda t: ttnn.swiglu(ttnn.slice(t, [0, 0, 0, 0], [2, 3, 64, 64])), lambda x: halves(x[..., :64], F.silu)),
    # moving elements
    "reshape": ("n", lambda t: ttnn.reshape(t, (6, 40, 50)), lambda x: x.reshape(6, 40, 50)),
    "view": ("t", lambda t: ttnn.view(t, (6, 64, 96)), lambda x: x.reshape(6, 64, 96)),
    "experimental.view": ("t", lambda t: ttnn.experimental.view(t, [6, 64, 96]), lambda x: x.reshape(6, 64, 96)),
    "reshape_on_device": ("t", lambda t: ttnn.reshape_on_device(t, 1, 2, 192, 96), lambda x: x.reshape(1, 2, 192, 96)),
    "permute": ("n", lambda t: ttnn.permute(t, (0, 2, 1, 3)), lambda x: x.permute(0, 2, 1, 3)),
    "transpose": ("n", lambda t: ttnn.transpose(t, -1, -2), lambda x: x.transpose(-1, -2)),
    "concat": ("nn", lambda a, b: ttnn.concat([a, b], 1), lambda a, b: torch.cat([a, b], 1)),
    "stack": ("nn", lambda a, b: ttnn.stack([a, b], 1), lambda a, b: torch.stack([a, b], 1)),
    "slice": ("n", lambda t: ttnn.slice(t, [0, 1, 4, 0], [2, 3, 36, 50]), lambda x: x[:, 1:, 4:36]),
    "Tensor.__getitem__": ("n", lambda t: t[:, 1:, 4:36, ::2], lambda x: x[:, 1:, 4:36, ::2]),
    "repeat": ("n", lambda t: ttnn.repeat(t, (1, 2, 1, 1)), lambda x: x.repeat(1, 2, 1, 1)),
    "repeat_interleave": ("n", lambda t: ttnn.repeat_interleave(t, 3, 1), lambda x: x.repeat_interleave(3, 1)),
    "expand": ("q", lambda t: ttnn.expand(t, (2, 3, 4, 5)), lambda x: x.expand(2, 3, 4, 5)),
    "split": ("n", lambda t: ttnn.split(t, 20, 2), lambda x: x.split(20, 2)),
    "chunk": ("n", lambda t: ttnn.chunk(t, 2, 2), lambda x: x.chunk(2, 2)),
    "pad": ("n", lambda t: ttnn.pad(t, [(0, 0), (0, 0), (0, 24), (0, 14)], 1.5), lambda x: F.pad(x, (0, 14, 0, 24), value=1.5)),
    "roll": ("n", lambda t: ttnn.roll(t, [3, -7], [1, 3]), lambda x: x.roll([3, -7], [1, 3])),
    "squeeze": ("n", lambda t: ttnn.squeeze(ttnn.unsqueeze(t, 0), 0), lambda x: x),
    "unsqueeze": ("n", lambda t: ttnn.unsqueeze(t, 1), lambda x: x.unsqueeze(1)),
    "unsqueeze_to_4D": ("n", lambda t: ttnn.unsqueeze_to_4D(ttnn.reshape(t, (6, 40, 50))), lambda x: x.reshape(1, 6, 40, 50)),
    "tril": ("n", lambda t: ttnn.tril(t, diagonal=2), lambda x: x.tril(2)),
    "triu": ("n", lambda t: ttnn.triu(t, diagonal=2), lambda x: x.triu(2)),
    "gather": (
        "ns",
        lambda t, i: ttnn.gather(t, 3, index=ttnn.typecast(i, ttnn.uint32)),
        lambda x, i: x.gather(3, i.long()),
    ),
    # along a dimension
    "cumsum": ("n", lambda t: ttnn.cumsum(t, dim=1), lambda x: x.cumsum(1)),
    "cumprod": ("n", lambda t: ttnn.cumprod(t, dim=1), lambda x: x.cumprod(1)),
    "moreh_cumsum": ("t", lambda t: ttnn.moreh_cumsum(t, 1), lambda x: x.cumsum(1)),
    "moreh_cumsum_backward": ("t", lambda t: ttnn.moreh_cumsum_backward(t, 1), lambda x: x.flip(1).cumsum(1).flip(1)),
    "sort": ("n", lambda t: ttnn.sort(t, dim=-1)[0], lambda x: x.sort(-1).values),
    "topk": ("t", lambda t: ttnn.topk(t, 32, dim=-1)[0], lambda x: x.topk(32, -1).values),
    "argmax": ("n", lambda t: ttnn.argmax(ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT), dim=-1), lambda x: x.argmax(-1)),
    "softmax": ("n", lambda t: ttnn.softmax(t, dim=-2), lambda x: torch.softmax(x, -2)),
    "softmax_in_place": ("t", in_place(lambda t: ttnn.softmax_in_place(t)), lambda x: torch.softmax(x, -1)),
    "scale_mask_softmax": ("tm", lambda t, m: ttnn.scale_mask_softmax(t, 0.5, m), lambda x, m: torch.softmax(0.5 * x + m, -1)),
    "scale_mask_softmax_in_place": (
        "tm",
        in_place(lambda t, m: ttnn.scale_mask_softmax_in_place(t, 0.5, m)),
        lambda x, m: torch.softmax(0.5 * x + m, -1),
    ),
    "moreh_softmax": ("t", lambda t: ttnn.moreh_softmax(t, 3), lambda x: torch.softmax(x, 3)),
    "moreh_softmin": ("t", lambda t: ttnn.moreh_softmin(t, 2), lambda x: torch.softmax(-x, 2)),
    "moreh_logsoftmax": ("t", lambda t: ttnn.moreh_logsoftmax(t, 1), lambda x: torch.log_softmax(x, 1)),
    "experimental.fast_reduce_nc": ("t", lambda t: ttnn.experimental.fast_reduce_nc(t, dims=[1]), lambda x: x.sum(1, keepdim=True)),
    "var_hw": ("t", ttnn.var_hw, lambda x: x.var((2, 3), unbiased=False, keepdim=True)),
    "std_hw": ("t", ttnn.std_hw, lambda x: x.std((2, 3), unbiased=False, keepdim=True)),
    "normalize_hw": ("t", ttnn.normalize_hw, lambda x: (x - x.mean((2, 3), keepdim=True)) / x.std((2, 3), unbiased=False, keepdim=True)),
    "normalize_global": ("t", ttnn.normalize_global, lambda x: (x - x.mean()) / x.std(unbiased=False)),
    # types, layouts and places
    "typecast": ("n", lambda t: ttnn.typecast(ttnn.typecast(t, ttnn.bfloat16), ttnn.float32), lambda x: x.bfloat16().float()),
    "experimental.typecast": ("n", lambda t: ttnn.experimental.typecast(t, ttnn.bfloat16), lambda x: x.bfloat16()),
    "to_dtype": ("n", lambda t: ttnn.to_dtype(t.cpu(), ttnn.bfloat16), lambda x: x.bfloat16()),
    "to_layout": ("n", lambda t: ttnn.to_layout(ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), lambda x: x),
    "tilize": ("t", lambda t: ttnn.tilize(ttnn.untilize(t)), lambda x: x),
    "untilize": ("t", ttnn.untilize, lambda x: x),
    "untilize_with_unpadding": ("t", lambda t: ttnn.untilize_with_unpadding(t, [1, 2, 39, 49]), lambda x: x[:, :, :40, :50]),
    "tilize_with_val_padding": (
        "t",
        lambda t: ttnn.tilize_with_val_padding(ttnn.untilize_with_unpadding(t, [1, 2, 39, 49]), [2, 3, 64, 64], 0.0),
        lambda x: x[:, :, :40, :50],
    ),
    "tilize_with_zero_padding": (
        "t",
        lambda t: ttnn.tilize_with_zero_padding(ttnn.untilize_with_unpadding(t, [1, 2, 39, 49])),
        lambda x: x[:, :, :40, :50],
    ),
    "to_memory_config": ("n", lambda t: ttnn.to_memory_config(t, ttnn.L1_MEMORY_CONFIG), lambda x: x),
    "to_device": ("n", lambda t: ttnn.to_device(ttnn.from_device(t), t.device()), lambda x: x),
    "from_device": ("n", lambda t: ttnn.from_device(t), lambda x: x),
    "clone": ("n", ttnn.clone, torch.clone),
    "move": ("n", lambda t: ttnn.move(t), lambda x: x),
    "reallocate": ("n", lambda t: ttnn.reallocate(t), lambda x: x),
    "assign": ("n", lambda t: ttnn.assign(t, memory_config=ttnn.L1_MEMORY_CONFIG), lambda x: x),
    "copy": ("nn", in_place(lambda a, b: ttnn.copy(b, a)), lambda a, b: b),
    "copy_host_to_device_tensor": ("nn", in_place(lambda a, b: ttnn.copy_host_to_device_tensor(b.cpu(), a)), lambda a, b: b),
    "Tensor.cpu": ("n", lambda t: t.cpu(), lambda x: x),
    "Tensor.to": ("n", lambda t: t.cpu().to(t.device()), lambda x: x),
    "Tensor.reshape": ("n", lambda t: t.reshape(6, 40, 50), lambda x: x.reshape(6, 40, 50)),
    "zeros_like": ("n", ttnn.zeros_like, torch.zeros_like),
    "ones_like": ("n", ttnn.ones_like, torch.ones_like),
    "full_like": ("n", lambda t: ttnn.full_like(t, 1.5), lambda x: torch.full_like(x, 1.5)),
    "moreh_full_like": ("n", lambda t: ttnn.moreh_full_like(t, 1.5), lambda x: torch.full_like(x, 1.5)),
    "plus_one": ("s", lambda t: in_place(ttnn.plus_one)(ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)), lambda x: x + 1),
    # complex numbers
    "real": ("nn", lambda a, b: ttnn.real(ttnn.complex_tensor(a, b)), lambda a, b: torch.complex(a, b).real),
    "imag": ("nn", lambda a, b: ttnn.imag(ttnn.complex_tensor(a, b)), lambda a, b: torch.complex(a, b).imag),
    "angle": ("nn", lambda a, b: ttnn.angle(ttnn.complex_tensor(a, b)), lambda a, b: torch.complex(a, b).angle()),
    "conj": ("nn", lambda a, b: ttnn.conj(ttnn.complex_tensor(a, b)).imag, lambda a, b: -b),
    "polar": ("pn", lambda a, b: list(ttnn.polar(ttnn.complex_tensor(a, b))), lambda a, b: (a * torch.cos(b), a * torch.sin(b))),
    "is_real": ("nn", lambda a, b: ttnn.is_real(ttnn.complex_tensor(a, b)), lambda a, b: b == 0),
    "is_imag": ("nn", lambda a, b: ttnn.is_imag(ttnn.complex_tensor(a, b)), lambda a, b: a == 0),
    "complex_tensor": ("nn", lambda a, b: list(ttnn.complex_tensor(a, b)), lambda a, b: (a, b)),
}
for _name, _function in {**RELATIONS, **LOGIC}.items():
    CASES[f"{_name}_"] = ("bb", in_place(OURS[f"ttnn.{_name}_"]), _function)
CASES |= {
    "logical_not_": ("b", in_place(ttnn.logical_not_), torch.logical_not),
    "add_": ("nn", in_place(ttnn.add_), torch.add),
    "subtract_": ("nn", in_place(ttnn.subtract_), torch.sub),
    "rsub_": ("nn", in_place(ttnn.rsub_), lambda a, b: b - a),
    "multiply_": ("nn", in_place(ttnn.multiply_), torch.mul),
    "divide_": ("np", in_place(ttnn.divide_), torch.div),
    "ldexp_": ("nn", in_place(ttnn.ldexp_), torch.ldexp),
    "logaddexp_": ("nn", in_place(ttnn.logaddexp_), torch.logaddexp),
    "logaddexp2_": ("nn", in_place(ttnn.logaddexp2_), torch.logaddexp2),
    "squared_difference_": ("nn", in_place(ttnn.squared_difference_), lambda a, b: (a - b) ** 2),
    "bias_gelu_": ("nn", in_place(ttnn.bias_gelu_), lambda a, b: F.gelu(a + b)),
}
covers(*CASES)


@pytest.mark.parametrize("name", CASES)
def test_case(name, device):
    torch.manual_seed(5)
    letters, here, there = CASES[name]
    inputs = [INPUTS[letter]() for letter in letters]
    expected = flat(there(*[x.clone() for x in inputs]))
    assert_all_close([e.float() for e in expected], here(*(tensor(device, x) for x in inputs)))
