"""Small models, as users write them, against the same models in torch."""

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import ttnn


def put(device, x, **options):
    return ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options)


def test_mlp(device):
    torch.manual_seed(0)
    weights = [torch.randn(256, 512) / 16, torch.randn(512, 512) / 22, torch.randn(512, 10) / 22]
    x = torch.randn(64, 256)
    expected, actual = x, put(device, x)
    for i, w in enumerate(weights):
        last = i + 1 == len(weights)
        expected = expected @ w if last else torch.relu(expected @ w)
        actual = ttnn.linear(actual, put(device, w), activation=None if last else "relu")
    assert ttnn.pearson_correlation_coefficient(torch.softmax(expected, -1), ttnn.softmax(actual, dim=-1)) > 0.999


def test_encoder_layer(device):
    torch.manual_seed(1)
    width, heads, length = 128, 4, 64
    w = {name: torch.randn(width, width) / width**0.5 for name in "qkvo"} | {
        "up": torch.randn(width, 4 * width) / width**0.5,
        "down": torch.randn(4 * width, width) / (4 * width) ** 0.5,
    }
    scale, shift = torch.randn(width), torch.randn(width)
    x = torch.randn(2, length, width)

    def split(t):
        return t.reshape(2, length, heads, width // heads).transpose(1, 2)

    attended = F.scaled_dot_product_attention(*(split(x @ w[n]) for n in "qkv")).transpose(1, 2).reshape(2, length, width)
    h = F.layer_norm(x + attended @ w["o"], [width], scale, shift)
    expected = F.layer_norm(h + F.gelu(h @ w["up"]) @ w["down"], [width], scale, shift)

    p = {n: put(device, t) for n, t in w.items()}
    row = {n: put(device, t.reshape(1, -1)) for n, t in (("weight", scale), ("bias", shift))}

    def ours_split(t):
        return ttnn.permute(ttnn.reshape(t, (2, length, heads, width // heads)), (0, 2, 1, 3))

    tx = put(device, x)
    q, k, v = (ours_split(ttnn.linear(tx, p[n])) for n in "qkv")
    attended = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=False)
    attended = ttnn.reshape(ttnn.permute(attended, (0, 2, 1, 3)), (2, length, width))
    h = ttnn.layer_norm(tx + ttnn.linear(attended, p["o"]), **row)
    inner = ttnn.linear(ttnn.gelu(ttnn.linear(h, p["up"])), p["down"])
    assert ttnn.pearson_correlation_coefficient(expected, ttnn.layer_norm(h + inner, **row)) > 0.99


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_residual_block(device):
    torch.manual_seed(2)
    x = torch.randn(1, 32, 16, 16)
    weights = [torch.randn(32, 32, 3, 3) / 17 for _ in range(2)]
    expected = torch.relu(x + F.conv2d(torch.relu(F.conv2d(x, weights[0], padding=1)), weights[1], padding=1))

    def conv(t, w):
        return ttnn.conv2d(
            input_tensor=t, weight_tensor=ttnn.from_torch(w, dtype=ttnn.bfloat16), device=device, in_channels=32, out_channels=32,
            batch_size=1, input_height=16, input_width=16, kernel_size=(3, 3), padding=(1, 1),
        )  # fmt: skip

    t = put(device, x.permute(0, 2, 3, 1).reshape(1, 1, 256, 32))
    inner = ttnn.relu(ttnn.sharded_to_interleaved(conv(t, weights[0])))
    out = ttnn.relu(t + ttnn.sharded_to_interleaved(conv(inner, weights[1])))
    actual = ttnn.to_torch(out).float().reshape(1, 16, 16, 32).permute(0, 3, 1, 2)
    assert ttnn.pearson_correlation_coefficient(expected, actual) > 0.999
