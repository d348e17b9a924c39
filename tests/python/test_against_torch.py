"""Numbers: operations of every family against torch, in the style of upstream's own tests."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import ttnn
from ttnn import _ttnn

OURS = _ttnn.all_operations()


def assert_with_pcc(expected, actual, pcc=0.999):
    assert tuple(expected.shape) == tuple(actual.shape)
    found = ttnn.pearson_correlation_coefficient(expected, actual)
    assert found >= pcc, f"PCC is {found}"


def tensor(device, data, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, **options):
    return ttnn.from_torch(data, dtype=dtype, layout=layout, device=device, **options)


# ---- functions of one and two numbers ---------------------------------------------------------

# Where a function is defined, and not too steep; (-2, 2) otherwise.
DOMAINS = {
    "log log2 log10 sqrt rsqrt digamma lgamma multigammaln polygamma": (0.3, 4),
    "acosh": (1.1, 4),
    "atanh asin acos erfinv": (-0.9, 0.9),
    "logit": (0.1, 0.9),
    "log1p": (-0.5, 2),
    "reciprocal": (0.5, 3),
    "tan": (-1.2, 1.2),
    "i0 i1": (-3, 3),
}
DOMAIN = {name: span for names, span in DOMAINS.items() for name in names.split()}
# What torch calls otherwise.
TORCH = {
    "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3),
    "eqz": lambda x: x == 0,
    "nez": lambda x: x != 0,
    "gez": lambda x: x >= 0,
    "gtz": lambda x: x > 0,
    "lez": lambda x: x <= 0,
    "ltz": lambda x: x < 0,
    "hardmish": None,  # torch has none
    "log_sigmoid": F.logsigmoid,
    "swish": F.silu,
    "i1": torch.special.i1,
    "multigammaln": None,
    "rad2deg": torch.rad2deg,
    "identity": lambda x: x,
    "softsign": F.softsign,
    "tanhshrink": F.tanhshrink,
    "polygamma": None,
    "alt_complex_rotate90": None,
    "prelu": None,
    "real": None,
    "imag": None,
    "glu": None,
    "clone": None,
    "nonzero": None,
    "argmax": None,
}


def torch_function(name):
    if name in TORCH:
        return TORCH[name]
    return getattr(torch, name, None) or getattr(F, name, None) or getattr(torch.special, name, None)


def takes(operation, *names):
    """Whether it can be called with these and nothing else."""
    for text in operation.signatures:
        parts = text[text.index("(") + 1 :].split(", *,")[0]
        wanted = [p for p in parts.split(", ") if p and " = " not in p]
        if [p.split(":")[0].strip(")") for p in wanted] == list(names) and "ttnn.Tensor" in wanted[0]:
            return True
    return False


UNARY = [n for n in OURS if n.count(".") == 1 and takes(OURS[n], "input_tensor") and torch_function(n[5:])]
BINARY = [n for n in OURS if n.count(".") == 1 and takes(OURS[n], "input_tensor_a", "input_tensor_b") and torch_function(n[5:])]
WHOLE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"}


def test_there_are_many():
    assert len(UNARY) >= 60 and len(BINARY) >= 25


@pytest.mark.parametrize("name", sorted(UNARY))
def test_unary(name, device):
    torch.manual_seed(0)
    low, high = DOMAIN.get(name[5:], (-2, 2))
    x = torch.rand(2, 3, 37, 45) * (high - low) + low
    try:
        expected = torch_function(name[5:])(x)
    except (TypeError, RuntimeError):
        pytest.skip("torch wants more arguments")
    if not isinstance(expected, torch.Tensor) or expected.shape != x.shape:
        pytest.skip("something else in torch")
    assert_with_pcc(expected.float(), ttnn.to_torch(OURS[name](tensor(device, x))).float())
    actual = ttnn.to_torch(OURS[name](tensor(device, x, ttnn.bfloat16))).float()
    smooth = name[5:] not in ("ceil", "floor", "round", "trunc", "frac")
    assert_with_pcc(torch_function(name[5:])(x.bfloat16().float()).float(), actual, 0.99 if smooth else 0.95)


@pytest.mark.parametrize("name", sorted(BINARY))
@pytest.mark.parametrize("shape", [(2, 3, 37, 45), (1, 3, 1, 45)])
def test_binary(name, shape, device):
    torch.manual_seed(0)
    if name[5:] in WHOLE:
        a, b = torch.randint(1, 30, (2, 3, 37, 45), dtype=torch.int32), torch.randint(1, 8, shape, dtype=torch.int32)
        dtype = ttnn.int32
    else:
        a, b, dtype = torch.rand(2, 3, 37, 45) * 3 + 0.2, torch.rand(shape) * 2 + 0.5, ttnn.float32
    try:
        expected = torch_function(name[5:])(a, b)
    except (TypeError, RuntimeError):
        pytest.skip("torch wants other arguments")
    if not isinstance(expected, torch.Tensor) or expected.shape != a.shape:
        pytest.skip("something else in torch")
    assert_with_pcc(expected.float(), ttnn.to_torch(OURS[name](tensor(device, a, dtype), tensor(device, b, dtype))).float())


# ---- families ------------------------------------------------------------------------------------


def need(name):
    if name not in OURS:
        pytest.skip(f"there is no {name} yet")
    return OURS[name]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "std", "var"])
@pytest.mark.parametrize("dim", [-1, -2, 0, None])
@pytest.mark.parametrize("keepdim", [True, False])
def test_reduction(name, dim, keepdim, device):
    operation = need(f"ttnn.{name}")
    torch.manual_seed(1)
    x = torch.rand(2, 3, 40, 50) + 0.5
    if name == "prod":
        x = 1 + 0.01 * x
    if dim is None:
        if keepdim or name in ("std", "var", "prod"):
            pytest.skip("another meaning in torch")
        expected, actual = getattr(torch, name)(x), operation(tensor(device, x))
        assert ttnn.to_torch(actual).item() == pytest.approx(expected.item(), rel=1e-2)
        return
    expected = getattr(x, name)(dim=dim, keepdim=keepdim)
    expected = expected if isinstance(expected, torch.Tensor) else expected.values
    actual = ttnn.to_torch(operation(tensor(device, x), dim=dim, keepdim=keepdim))
    assert tuple(expected.shape) == tuple(actual.shape)
    assert torch.allclose(expected, actual, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("shapes", [((64, 96), (96, 128)), ((2, 3, 40, 70), (70, 50)), ((2, 4, 33, 64), (2, 4, 64, 33))])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_matmul(shapes, dtype, device):
    need("ttnn.matmul")
    torch.manual_seed(2)
    a, b = (torch.randn(s) for s in shapes)
    assert_with_pcc(a @ b, ttnn.to_torch(ttnn.matmul(tensor(device, a, dtype), tensor(device, b, dtype))).float())
    assert_with_pcc(a @ b, ttnn.to_torch(tensor(device, a, dtype) @ tensor(device, b, dtype)).float())


def test_linear(device):
    need("ttnn.linear")
    x, w, b = torch.randn(2, 37, 64), torch.randn(64, 96), torch.randn(1, 96)
    actual = ttnn.linear(tensor(device, x, ttnn.bfloat16), tensor(device, w, ttnn.bfloat16), bias=tensor(device, b, ttnn.bfloat16), activation="relu")
    assert_with_pcc(torch.relu(x @ w + b), ttnn.to_torch(actual).float())


@pytest.mark.parametrize("dim", [-1, -2, 1])
def test_softmax(dim, device):
    need("ttnn.softmax")
    x = torch.randn(2, 4, 40, 50)
    assert_with_pcc(torch.softmax(x, dim), ttnn.to_torch(ttnn.softmax(tensor(device, x, ttnn.bfloat16), dim=dim)).float())


def test_normalisation(device):
    need("ttnn.layer_norm")
    x, w, b = torch.randn(2, 33, 96), torch.randn(96), torch.randn(96)
    row = lambda t: tensor(device, t.reshape(1, 96), ttnn.bfloat16)
    actual = ttnn.layer_norm(tensor(device, x, ttnn.bfloat16), weight=row(w), bias=row(b), epsilon=1e-5)
    assert_with_pcc(F.layer_norm(x, [96], w, b, 1e-5), ttnn.to_torch(actual).float())
    rms = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
    assert_with_pcc(rms, ttnn.to_torch(ttnn.rms_norm(tensor(device, x, ttnn.bfloat16), weight=row(w), epsilon=1e-6)).float())


def test_attention(device):
    need("ttnn.transformer.scaled_dot_product_attention")
    q, k, v = (torch.randn(1, 4, 64, 32) for _ in range(3))
    args = [tensor(device, t, ttnn.bfloat16) for t in (q, k, v)]
    actual = ttnn.to_torch(ttnn.transformer.scaled_dot_product_attention(*args, is_causal=True)).float()
    assert_with_pcc(F.scaled_dot_product_attention(q, k, v, is_causal=True), actual, 0.998)


def test_embedding(device):
    need("ttnn.embedding")
    table, ids = torch.randn(100, 64), torch.randint(0, 100, (2, 32))
    actual = ttnn.embedding(
        tensor(device, ids, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT), tensor(device, table, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
    )
    assert_with_pcc(table.bfloat16().float()[ids], ttnn.to_torch(actual).float())


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_convolution(device):
    need("ttnn.conv2d")
    x, w, b = torch.randn(2, 16, 20, 24), torch.randn(32, 16, 3, 3), torch.randn(32)
    actual, (height, width) = ttnn.conv2d(
        input_tensor=ttnn.from_torch(x.permute(0, 2, 3, 1).reshape(1, 1, -1, 16), dtype=ttnn.bfloat16, device=device),
        weight_tensor=ttnn.from_torch(w, dtype=ttnn.bfloat16),
        bias_tensor=ttnn.from_torch(b.reshape(1, 1, 1, -1), dtype=ttnn.bfloat16),
        device=device, in_channels=16, out_channels=32, batch_size=2, input_height=20, input_width=24,
        kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), return_output_dim=True,
    )  # fmt: skip
    expected = F.conv2d(x, w, b, stride=2, padding=1)
    assert (height, width) == tuple(expected.shape[2:])
    actual = ttnn.to_torch(actual).float().reshape(2, height, width, -1)[..., :32].permute(0, 3, 1, 2)
    assert_with_pcc(expected, actual)


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_pooling(device):
    need("ttnn.max_pool2d")
    x = torch.randn(1, 32, 16, 16)
    actual = ttnn.max_pool2d(
        input_tensor=ttnn.from_torch(x.permute(0, 2, 3, 1).reshape(1, 1, -1, 32), dtype=ttnn.bfloat16, device=device),
        batch_size=1, input_h=16, input_w=16, channels=32, kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1],
    )  # fmt: skip
    actual = ttnn.to_torch(actual).float().reshape(1, 8, 8, 32).permute(0, 3, 1, 2)
    assert_with_pcc(F.max_pool2d(x, 2), actual)


MOVES = {
    "reshape": (lambda t: ttnn.reshape(t, (6, 40, 50)), lambda x: x.reshape(6, 40, 50)),
    "permute": (lambda t: ttnn.permute(t, (0, 2, 1, 3)), lambda x: x.permute(0, 2, 1, 3)),
    "transpose": (lambda t: ttnn.transpose(t, -1, -2), lambda x: x.transpose(-1, -2)),
    "concat": (lambda t: ttnn.concat([t, t], 1), lambda x: torch.cat([x, x], 1)),
    "slice": (lambda t: t[:, 1:, 4:36, ::2], lambda x: x[:, 1:, 4:36, ::2]),
    "repeat": (lambda t: ttnn.repeat(t, (1, 2, 1, 1)), lambda x: x.repeat(1, 2, 1, 1)),
    "split": (lambda t: ttnn.split(t, 20, 2)[1], lambda x: x.split(20, 2)[1]),
    "pad": (lambda t: ttnn.pad(t, [(0, 0), (0, 0), (0, 24), (0, 14)], 1.5), lambda x: F.pad(x, (0, 14, 0, 24), value=1.5)),
    "squeeze": (lambda t: ttnn.squeeze(ttnn.unsqueeze(t, 0), 0), lambda x: x),
    "to_layout": (lambda t: ttnn.to_layout(ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), lambda x: x),
    "to_memory_config": (lambda t: ttnn.to_memory_config(t, ttnn.L1_MEMORY_CONFIG), lambda x: x),
    "typecast": (lambda t: ttnn.typecast(ttnn.typecast(t, ttnn.bfloat16), ttnn.float32), lambda x: x.bfloat16().float()),
    "where": (lambda t: ttnn.where(ttnn.gtz(t), t, -1.0), lambda x: torch.where(x > 0, x, -torch.ones(()))),
    "clamp": (lambda t: ttnn.clamp(t, -0.5, 0.5), lambda x: x.clamp(-0.5, 0.5)),
    "addcmul": (lambda t: ttnn.addcmul(t, t, t, value=2.0), lambda x: torch.addcmul(x, x, x, value=2.0)),
    "cumsum": (lambda t: ttnn.cumsum(t, dim=1), lambda x: x.cumsum(1)),
    "sort": (lambda t: ttnn.sort(t, dim=-1)[0], lambda x: x.sort(-1).values),
    "argmax": (lambda t: ttnn.argmax(ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT), dim=-1), lambda x: x.argmax(-1)),
}


@pytest.mark.parametrize("name", MOVES)
def test_movement(name, device):
    need(f"ttnn.{name}")
    ours, theirs = MOVES[name]
    x = torch.randn(2, 3, 40, 50)
    actual = ttnn.to_torch(ours(tensor(device, x)))
    assert tuple(actual.shape) == tuple(theirs(x).shape)
    assert torch.allclose(theirs(x).float(), actual.float(), rtol=1e-5, atol=1e-4)


def test_creation(device):
    assert torch.equal(ttnn.to_torch(ttnn.full([3, 5], fill_value=2.5, device=device)), torch.full((3, 5), 2.5).bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.arange(0, 10, device=device, dtype=ttnn.float32)).flatten()[:10], torch.arange(10.0))
    x = ttnn.to_torch(ttnn.rand([64, 64], device=device, dtype=ttnn.float32))
    assert 0.45 < x.mean() < 0.55 and 0 <= x.min() and x.max() <= 1


def test_sharded(device):
    x = torch.randn(1, 1, 256, 64)
    config = ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(y=2, x=4), ttnn.ShardStrategy.HEIGHT)
    t = tensor(device, x, ttnn.bfloat16, memory_config=config)
    assert t.is_sharded()
    assert_with_pcc(torch.exp(x), ttnn.to_torch(ttnn.exp(t)).float())


def test_backward(device):
    need("ttnn.exp_bw")
    x, grad = torch.randn(2, 40, 50, requires_grad=True), torch.randn(2, 40, 50)
    torch.exp(x).backward(grad)
    (actual,) = ttnn.exp_bw(tensor(device, grad), tensor(device, x))
    assert_with_pcc(x.grad, ttnn.to_torch(actual))
