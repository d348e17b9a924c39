"""Gradients: every operation NAME_bw against torch's own gradient of NAME."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import ttnn
from against_torch import OURS, assert_all_close, assert_close, covers, random_input, tensor, torch_function


def near(low, high):
    return lambda: torch.rand(2, 3, 37, 45) * (high - low) + low


away = near(0.5, 3)  # from zero

# name: (forward pass in torch, arguments behind the tensors, inputs where not random ones of its domain)
ROWS = {
    # of one tensor and numbers
    "celu": (lambda x: F.celu(x, 0.7), {"alpha": 0.7}),
    "elu": (lambda x: F.elu(x, 0.7), {"alpha": 0.7}),
    "clamp": (lambda x: x.clamp(-0.5, 0.7), {"min": -0.5, "max": 0.7}),
    "clip": (lambda x: x.clamp(-0.5, 0.7), {"min": -0.5, "max": 0.7}),
    "hardshrink": (lambda x: F.hardshrink(x, 0.4), {"lambd": 0.4}),
    "softshrink": (lambda x: F.softshrink(x, 0.4), {"lambd": 0.4}),
    "hardtanh": (lambda x: F.hardtanh(x, -0.6, 0.9), {"min": -0.6, "max": 0.9}),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.3), {"negative_slope": 0.3}),
    "softplus": (lambda x: F.softplus(x, 1.5, 20), {"beta": 1.5, "threshold": 20.0}),
    "threshold": (lambda x: F.threshold(x, 0.2, 0.6), (0.2, 0.6)),
    "logiteps": (lambda x: torch.logit(x, 0.01), {"eps": 0.01}),
    "polygamma": (lambda x: torch.polygamma(2, x), (2,)),
    "multigammaln": (lambda x: torch.special.multigammaln(x, 4), ()),
    "pow": (lambda x: x**3, (3.0,), [away]),  # upstream says infinity at and below zero
    "rpow": (lambda x: x**1.7, (1.7,), [away]),  # upstream takes the number for the exponent here
    "rdiv": (lambda x: 2.5 / x, (2.5,), [away]),
    "div_no_nan": (lambda x: x / 2.5, (2.5,)),
    "prod": (lambda x: x.prod(), {}, [lambda: 1 + 0.02 * torch.randn(1, 1, 8, 32)]),
    "repeat": (lambda x: x.repeat(2, 1, 1, 1), (ttnn.Shape([2, 1, 1, 1]),), [lambda: torch.randn(1, 3, 32, 64)]),
    "gelu": (F.gelu, {}),
    "fill": (lambda x: 0 * x, ()),
    "fill_zero": (lambda x: 0 * x, ()),
    # of several
    "add": (torch.add, ()),
    "sub": (torch.sub, ()),
    "mul": (torch.mul, ()),
    "div": (torch.div, (), [near(-2, 2), away]),
    "addalpha": (lambda a, b: a + 1.5 * b, (1.5,)),
    "subalpha": (lambda a, b: a - 1.5 * b, (1.5,)),
    "rsub": (lambda a, b: b - a, ()),
    "assign": (lambda a: a.clone(), ()),
    "atan2": (torch.atan2, (), [away, away]),
    "hypot": (torch.hypot, (), [away, away]),
    "xlogy": (torch.xlogy, (), [near(-2, 2), away]),
    "ldexp": (torch.ldexp, ()),
    "logaddexp": (torch.logaddexp, ()),
    "logaddexp2": (torch.logaddexp2, ()),
    "squared_difference": (lambda a, b: (a - b) ** 2, ()),
    "max": (torch.maximum, ()),
    "min": (torch.minimum, ()),
    "fmod": (torch.fmod, (), [near(1, 9), away]),
    "remainder": (torch.remainder, (), [near(1, 9), away]),
    "bias_gelu": (lambda a, b: F.gelu(a + b), ()),
    "concat": (lambda a, b: torch.cat([a, b], 1), (1,), [lambda: torch.randn(2, 3, 32, 64), lambda: torch.randn(2, 2, 32, 64)]),
    "lerp": (torch.lerp, (), [near(-2, 2), near(-2, 2), near(0, 1)]),
    "addcmul": (lambda a, b, c: torch.addcmul(a, b, c, value=0.5), (0.5,), [away, away, away]),
    "addcdiv": (lambda a, b, c: torch.addcdiv(a, b, c, value=0.5), (0.5,), [away, away, away]),
}
ALONE = [n[5:-3] for n in OURS if n.count(".") == 1 and n.endswith("_bw") and torch_function(n[5:-3])]
ALONE = sorted(set(ALONE) - set(ROWS) - {"abs", "where", "angle", "conj", "imag", "real", "polar", "embedding"})
COMPLEX = {"angle": torch.angle, "conj": torch.conj, "imag": lambda z: z.imag, "real": lambda z: z.real}
covers(*(f"{name}_bw" for name in [*ROWS, *ALONE, *COMPLEX, "abs", "where", "polar"]))


def gradients(forward, inputs, number=0):
    """The gradient that comes back, random, and those of the inputs."""
    inputs = [x.requires_grad_() for x in inputs]
    out = forward(*inputs)
    torch.manual_seed(100 + number)
    grad = torch.randn_like(out) if out.dim() else torch.tensor(1.5)
    out.backward(grad)
    return grad, [torch.zeros_like(x) if x.grad is None else x.grad for x in inputs]


@pytest.mark.parametrize("name", ["abs", *ALONE])
def test_of_one(name, device):
    torch.manual_seed(0)
    x = random_input(name)
    grad, expected = gradients(torch_function(name), [x])
    assert_all_close(expected, OURS[f"ttnn.{name}_bw"](tensor(device, grad), tensor(device, x.detach())), rtol=2e-2)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_with_more(name, device):
    torch.manual_seed(0)
    forward, more, *makers = ROWS[name]
    count = forward.__code__.co_argcount if hasattr(forward, "__code__") and name != "gelu" else None
    count = len(makers[0]) if makers else count or (1 if name == "gelu" else 3 if name == "lerp" else 2)
    inputs = [make() for make in makers[0]] if makers else [random_input(name) for _ in range(count)]
    grad, expected = gradients(forward, inputs)
    if name == "prod":
        grad = grad.reshape(1, 1, 1, 1)
    dtype = ttnn.bfloat16 if name == "repeat" else None  # its sum takes no float32
    args = [tensor(device, x.detach(), dtype) for x in (grad, *inputs)]
    operation = OURS[f"ttnn.{name}_bw"]
    actual = operation(*args, **more) if isinstance(more, dict) else operation(*args, *more)
    assert_all_close(expected, actual, rtol=2e-2, atol=2e-2)


def test_where(device):
    torch.manual_seed(0)
    mask, a, b = (torch.rand(2, 3, 37, 45) > 0.5).float(), torch.randn(2, 3, 37, 45), torch.randn(2, 3, 37, 45)
    grad, expected = gradients(lambda a, b: torch.where(mask > 0, a, b), [a, b])
    actual = ttnn.where_bw(*(tensor(device, t.detach()) for t in (grad, mask, a, b)))
    assert_all_close(expected, actual)


# ---- complex numbers: a tensor of the real and one of the imaginary parts ------------------------------


def pair(device, z):
    z = z.detach().resolve_conj()
    return ttnn.complex_tensor(tensor(device, z.real.contiguous()), tensor(device, z.imag.contiguous()))


def assert_complex(expected, actual):
    (actual,) = actual
    assert_close(expected.real, actual.real)
    assert_close(expected.imag, actual.imag)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, device):
    torch.manual_seed(3)
    z = torch.complex(away(), away()).requires_grad_()
    out = COMPLEX[name](z)
    grad = torch.randn_like(out)
    out.backward(grad)
    given = pair(device, grad) if grad.is_complex() else tensor(device, grad)
    assert_complex(z.grad, OURS[f"ttnn.{name}_bw"](given, pair(device, z)))


MEMORY = {"memory_config": ttnn.DRAM_MEMORY_CONFIG}


def test_complex_overloads(device):
    """Operations that real tensors have as well."""
    torch.manual_seed(5)
    z = torch.complex(away(), away()).requires_grad_()
    assert_close(z.detach().abs(), ttnn.abs(pair(device, z), **MEMORY))
    found, expected = ttnn.reciprocal(pair(device, z), **MEMORY), z.detach().reciprocal()
    assert_close(expected.real, found.real)
    assert_close(expected.imag, found.imag)
    for name, function in {"abs": torch.abs, "reciprocal": torch.reciprocal}.items():
        z.grad, out = None, function(z)
        grad = torch.randn_like(out)
        out.backward(grad)
        given = pair(device, grad) if grad.is_complex() else tensor(device, grad)
        assert_complex(z.grad, OURS[f"ttnn.{name}_bw"](given, pair(device, z), **MEMORY))


PAIRS = {
    "add": (lambda a, b: a + 1.5 * b, [1.5]),
    "sub": (lambda a, b: a - 1.5 * b, [1.5]),
    "mul": (lambda a, b: a * b, []),
    "div": (lambda a, b: a / b, []),
}


@pytest.mark.parametrize("name", PAIRS)
def test_complex_pairs(name, device):
    torch.manual_seed(6)
    function, numbers = PAIRS[name]
    a, b = (torch.complex(away(), away()).requires_grad_() for _ in range(2))
    out = function(a, b)
    grad = torch.randn_like(out)
    out.backward(grad)
    actual = OURS[f"ttnn.{name}_bw"](*(pair(device, z) for z in (grad, a, b)), *numbers)
    assert len(actual) == 2
    for expected, found in zip((a.grad, b.grad), actual):
        assert_complex(expected, [found])


def test_polar(device):
    torch.manual_seed(4)
    length, angle = away().requires_grad_(), away().requires_grad_()
    out = torch.polar(length, angle)
    grad = torch.randn_like(out)
    out.backward(grad)
    given = pair(device, torch.complex(length.detach(), angle.detach()))
    assert_complex(torch.complex(length.grad, angle.grad), ttnn.polar_bw(pair(device, grad), given))
