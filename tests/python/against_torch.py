"""What the tests against torch share: which operations have one, where functions are defined, how
results are compared."""

import pytest

torch = pytest.importorskip("torch")

import ttnn
from ttnn import _ttnn

F = torch.nn.functional
OURS = _ttnn.all_operations()
COVERED = set()


def covers(*names):
    """Marks a test of these operations ("add" is ttnn.add)."""
    COVERED.update(f"ttnn.{name}" for name in names)
    return lambda function: function


def tensor(device, data, dtype=None, layout=ttnn.TILE_LAYOUT, **options):
    """On the device: integers as they are, all else as float32 unless a type is given."""
    if dtype is None:
        dtype = ttnn.float32 if data.is_floating_point() else None
    return ttnn.from_torch(data, dtype=dtype, layout=layout, device=device, **options)


def flat(value):
    """Tensors of a result, in order; without those that were not asked for."""
    if isinstance(value, (list, tuple)):
        return [inner for v in value for inner in flat(v)]
    return [] if value is None else [value]


def assert_close(expected, actual, rtol=1e-2, atol=1e-2, pcc=0.999):
    """Same shape, close everywhere, and alike as a whole."""
    expected, actual = expected.detach().float(), ttnn.to_torch(actual).float()
    assert tuple(expected.shape) == tuple(actual.shape)
    assert torch.allclose(expected, actual, rtol=rtol, atol=atol), f"off by {(expected - actual).abs().max()}"
    found = ttnn.pearson_correlation_coefficient(expected, actual)
    assert found >= pcc, f"PCC is {found}"


def assert_all_close(expected, actual, **tolerance):
    expected, actual = flat(expected), flat(actual)
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual):
        assert_close(e, a, **tolerance)


# Where a function is defined, and not too steep; (-2, 2) otherwise.
DOMAINS = {
    "log log2 log10 sqrt rsqrt digamma lgamma polygamma": (0.3, 4),
    "multigammaln": (2, 4),
    "acosh": (1.1, 4),
    "atanh asin acos erfinv": (-0.9, 0.9),
    "logit logiteps": (0.1, 0.9),
    "log1p": (-0.5, 2),
    "reciprocal": (0.5, 3),
    "tan": (-1.2, 1.2),
    "i0 i1": (-3, 3),
}
DOMAIN = {name: span for names, span in DOMAINS.items() for name in names.split()}

# What torch calls otherwise; None: torch has no such function of one or two tensors alone.
TORCH = {
    "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3),
    "eqz": lambda x: x == 0,
    "nez": lambda x: x != 0,
    "gez": lambda x: x >= 0,
    "gtz": lambda x: x > 0,
    "lez": lambda x: x <= 0,
    "ltz": lambda x: x < 0,
    "log_sigmoid": F.logsigmoid,
    "swish": F.silu,
    "identity": lambda x: x,
    "multigammaln": lambda x: torch.special.multigammaln(x, 4),
    "sigmoid_accurate": torch.sigmoid,
    "hardmish": lambda x: x * (0.5 * x + 1).clamp(0, 1),
    "clone": lambda x: x,
    "logiteps": None,
    "polygamma": None,
    "alt_complex_rotate90": None,
    "nonzero": None,
    "argmax": None,
    "glu": None,
    "bitwise_not": None,
    "clamp": None,
    "clip": None,
    "group_norm": None,
    "layer_norm": None,
    "rms_norm": None,
    "softmax": None,
    "sort": None,
    "topk": None,
    "max": None,
    "min": None,
    "mean": None,
    "prod": None,
    "std": None,
    "sum": None,
    "var": None,
    "linear": None,
    "matmul": None,
    "outer": None,
    "prelu": None,
}


def torch_function(name):
    if name in TORCH:
        return TORCH[name]
    return getattr(torch, name, None) or getattr(F, name, None) or getattr(torch.special, name, None)


def random_input(name, shape=(2, 3, 37, 45)):
    low, high = DOMAIN.get(name, (-2, 2))
    return torch.rand(shape) * (high - low) + low


def takes(operation, *names):
    """Whether it can be called with these and nothing else."""
    for text in operation.signatures:
        parts = text[text.index("(") + 1 :].split(", *,")[0]
        wanted = [p for p in parts.split(", ") if p and " = " not in p]
        if [p.split(":")[0].strip(")") for p in wanted] == list(names) and "ttnn.Tensor" in wanted[0]:
            return True
    return False


def plain(*names):
    """Operations of ttnn itself that take these tensors, and that torch has."""
    return sorted(n for n in OURS if n.count(".") == 1 and takes(OURS[n], *names) and torch_function(n[5:]))
