"""Families of operations against torch that take more than a row: reductions, products, images,
normalisation, attention, caches, creation, quantisation, meshes."""

import math

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import test_torch_gradients  # noqa: F401: they cover some
import test_torch_operations  # noqa: F401
import ttnn
from against_torch import COVERED, OURS, assert_all_close, assert_close, covers, tensor

RM = ttnn.ROW_MAJOR_LAYOUT


def bf16(device, x, **options):
    return tensor(device, x, ttnn.bfloat16, **options)


# ---- reductions and products ------------------------------------------------------------------------


@covers("sum", "mean", "max", "min", "prod", "std", "var")
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "std", "var"])
@pytest.mark.parametrize("dim", [-1, -2, 0])
@pytest.mark.parametrize("keepdim", [True, False])
def test_reduction(name, dim, keepdim, device):
    torch.manual_seed(1)
    x = torch.rand(2, 3, 40, 50) + 0.5
    x = 1 + 0.01 * x if name == "prod" else x
    expected = getattr(x, name)(dim=dim, keepdim=keepdim)
    expected = expected if isinstance(expected, torch.Tensor) else expected.values
    actual = OURS[f"ttnn.{name}"](tensor(device, x), dim=dim, keepdim=keepdim)
    assert_close(expected, actual, rtol=2e-2, atol=2e-2, pcc=0.99)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reduction_of_all(name, device):
    x = torch.rand(2, 3, 40, 50) + 0.5
    actual = ttnn.to_torch(OURS[f"ttnn.{name}"](tensor(device, x)))
    assert actual.item() == pytest.approx(getattr(torch, name)(x).item(), rel=1e-2)


SHAPES = [((64, 96), (96, 128)), ((2, 3, 40, 70), (70, 50)), ((2, 4, 33, 64), (2, 4, 64, 33))]


@covers("matmul")
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_matmul(shapes, dtype, device):
    torch.manual_seed(2)
    a, b = (torch.randn(s) for s in shapes)
    ours = [tensor(device, t, dtype) for t in (a, b)]
    for actual in (ttnn.matmul(*ours), ours[0] @ ours[1]):
        assert_close(a @ b, actual, rtol=0.1, atol=0.6)


@covers("linear", "addmm", "experimental.minimal_matmul", "moreh_matmul", "moreh_dot")
def test_products(device):
    torch.manual_seed(2)
    x, w, b = torch.randn(2, 64, 64), torch.randn(64, 96), torch.randn(1, 96)
    near = {"rtol": 0.05, "atol": 0.2}
    actual = ttnn.linear(bf16(device, x), bf16(device, w), bias=bf16(device, b), activation="relu")
    assert_close(torch.relu(x @ w + b), actual, **near)
    actual = ttnn.experimental.minimal_matmul(bf16(device, x[0]), bf16(device, w), bias_tensor=bf16(device, b))
    assert_close(x[0] @ w + b, actual, **near)
    a = torch.randn(64, 96)
    actual = ttnn.addmm(bf16(device, a), bf16(device, x[0]), bf16(device, w), alpha=0.5, beta=2.0)
    assert_close(torch.addmm(a, x[0], w, alpha=0.5, beta=2.0), actual, **near)
    assert_close(x @ w, ttnn.moreh_matmul(bf16(device, x), bf16(device, w)), **near)
    u, v = torch.randn(1, 1, 1, 96), torch.randn(1, 1, 1, 96)
    dot = ttnn.to_torch(ttnn.moreh_dot(bf16(device, u), bf16(device, v)))
    assert dot.shape == (1, 1, 1, 1) and dot.item() == pytest.approx((u * v).sum().item(), rel=0.05, abs=0.2)


# ---- normalisation ------------------------------------------------------------------------------------


def rms(x, w, epsilon=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * w


@covers("layer_norm", "rms_norm")
def test_layer_norms(device):
    x, w, b = torch.randn(2, 33, 96), torch.randn(96), torch.randn(96)
    row = {"weight": bf16(device, w.reshape(1, 96)), "bias": bf16(device, b.reshape(1, 96))}
    actual = ttnn.layer_norm(bf16(device, x), **row, epsilon=1e-5)
    assert_close(F.layer_norm(x, [96], w, b, 1e-5), actual, rtol=0.05, atol=0.05)
    actual = ttnn.rms_norm(bf16(device, x), weight=row["weight"], epsilon=1e-6)
    assert_close(rms(x, w), actual, rtol=0.05, atol=0.05)


@covers("layer_norm_pre_all_gather", "layer_norm_post_all_gather", "rms_norm_pre_all_gather", "rms_norm_post_all_gather")
def test_norms_in_two_steps(device):
    x, w = torch.randn(1, 1, 32, 128), torch.randn(128)
    t, row = bf16(device, x), bf16(device, w.reshape(1, 1, 1, 128))
    actual = ttnn.layer_norm_post_all_gather(t, ttnn.layer_norm_pre_all_gather(t), weight=row, epsilon=1e-5)
    assert_close(F.layer_norm(x, [128], w, None, 1e-5), actual, rtol=0.05, atol=0.1)
    actual = ttnn.rms_norm_post_all_gather(t, ttnn.rms_norm_pre_all_gather(t), weight=row, epsilon=1e-6)
    assert_close(rms(x, w), actual, rtol=0.05, atol=0.1)


@covers("batch_norm")
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(training, device):
    x = torch.randn(3, 4, 37, 45) * 2 + 1
    mean, var, w, b = torch.randn(4), torch.rand(4) + 0.5, torch.randn(4), torch.randn(4)
    given = {n: tensor(device, t.reshape(1, 4, 1, 1)) for n, t in (("running_mean", mean), ("running_var", var), ("weight", w), ("bias", b))}
    actual = ttnn.batch_norm(tensor(device, x), **given, training=training, eps=1e-4, momentum=0.1)
    expected = F.batch_norm(x, mean, var, w, b, training=training, eps=1e-4, momentum=0.1)  # changes mean and var
    assert_close(expected, actual)
    if training:
        assert_close(mean.reshape(1, 4, 1, 1), given["running_mean"])


@covers("group_norm")
def test_group_norm(device):
    torch.manual_seed(6)
    n, c, h, w, groups = 1, 64, 16, 16, 8
    x, weight, bias = torch.randn(n, c, h, w), torch.randn(c), torch.randn(c)
    grid = ttnn.CoreGrid(y=1, x=1)
    mask = ttnn.to_device(ttnn.create_group_norm_input_mask(c, groups, grid.y), device)
    rows = [ttnn.create_group_norm_weight_bias_rm(t, c, grid.y) for t in (weight, bias)]
    rows = [ttnn.from_torch(t, dtype=ttnn.bfloat16, layout=RM, device=device) for t in rows]
    actual = ttnn.group_norm(
        bf16(device, x.permute(0, 2, 3, 1).reshape(n, 1, h * w, c)),
        num_groups=groups, input_mask=mask, weight=rows[0], bias=rows[1], core_grid=grid, inplace=False,
        memory_config=ttnn.DRAM_MEMORY_CONFIG, epsilon=1e-5,
    )  # fmt: skip
    expected = F.group_norm(x, groups, weight, bias, 1e-5).permute(0, 2, 3, 1).reshape(n, 1, h * w, c)
    assert_close(expected, actual, rtol=0.05, atol=0.1)


# ---- images: (1, 1, places of all images, channels) ---------------------------------------------------------


def places(x):
    return x.permute(0, 2, 3, 1).reshape(1, 1, -1, x.shape[1])


def images(t, n, h, w, c):
    return ttnn.to_torch(t).float().reshape(n, h, w, -1)[..., :c].permute(0, 3, 1, 2)


def assert_images(expected, actual):
    n, c, h, w = expected.shape
    found = images(actual, n, h, w, c)
    assert torch.allclose(expected, found, rtol=0.05, atol=0.3)
    assert ttnn.pearson_correlation_coefficient(expected, found) > 0.999


small_l1 = pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)


@covers("conv2d", "prepare_conv_weights", "prepare_conv_bias")
@small_l1
@pytest.mark.parametrize("prepared", [False, True])
def test_conv2d(prepared, device):
    torch.manual_seed(3)
    x, w, b = torch.randn(2, 16, 20, 24), torch.randn(32, 16, 3, 3) / 12, torch.randn(32)
    t = ttnn.from_torch(places(x), dtype=ttnn.bfloat16, device=device)
    size = dict(
        in_channels=16, out_channels=32, batch_size=2, input_height=20, input_width=24,
        kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), device=device,
    )  # fmt: skip
    weight, bias = ttnn.from_torch(w, dtype=ttnn.bfloat16), ttnn.from_torch(b.reshape(1, 1, 1, -1), dtype=ttnn.bfloat16)
    if prepared:
        more = dict(input_memory_config=t.memory_config(), input_layout=t.layout, input_dtype=ttnn.bfloat16, dilation=(1, 1), groups=1)
        weight = ttnn.prepare_conv_weights(weight_tensor=weight, weights_format="OIHW", has_bias=True, **more, **size)
        bias = ttnn.prepare_conv_bias(bias_tensor=bias, **more, **size)
        weight, bias = ttnn.to_device(weight, device), ttnn.to_device(bias, device)
    actual, (h, width) = ttnn.conv2d(input_tensor=t, weight_tensor=weight, bias_tensor=bias, return_output_dim=True, **size)
    expected = F.conv2d(x, w, b, stride=2, padding=1)
    assert (h, width) == tuple(expected.shape[2:])
    assert_images(expected, actual)


@covers("conv_transpose2d")
@small_l1
def test_conv_transpose2d(device):
    torch.manual_seed(3)
    x, w, b = torch.randn(1, 32, 8, 8), torch.randn(32, 32, 3, 3) / 17, torch.randn(32)
    actual = ttnn.conv_transpose2d(
        input_tensor=ttnn.from_torch(places(x), dtype=ttnn.bfloat16, device=device),
        weight_tensor=ttnn.from_torch(w, dtype=ttnn.bfloat16),
        bias_tensor=ttnn.from_torch(b.reshape(1, 1, 1, -1), dtype=ttnn.bfloat16),
        device=device, in_channels=32, out_channels=32, batch_size=1, input_height=8, input_width=8,
        kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), output_padding=(1, 1),
    )  # fmt: skip
    assert_images(F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1), actual)


@covers("conv1d")
@small_l1
def test_conv1d(device):
    torch.manual_seed(3)
    x, w = torch.randn(2, 32, 64), torch.randn(32, 32, 3) / 10
    actual = ttnn.conv1d(
        input_tensor=ttnn.from_torch(x.permute(0, 2, 1), dtype=ttnn.bfloat16, device=device),
        weight_tensor=ttnn.from_torch(w, dtype=ttnn.bfloat16),
        device=device, in_channels=32, out_channels=32, batch_size=2, input_length=64, kernel_size=3, stride=1, padding=1,
    )  # fmt: skip
    assert_images(F.conv1d(x, w, padding=1).unsqueeze(2), actual)


POOLS = {
    "max_pool2d": (dict(kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1]), lambda x: F.max_pool2d(x, 3, 2, 1)),
    "avg_pool2d": (dict(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0]), lambda x: F.avg_pool2d(x, 2)),
    "adaptive_avg_pool2d": (dict(output_size=[4, 4]), lambda x: F.adaptive_avg_pool2d(x, 4)),
    "adaptive_max_pool2d": (dict(output_size=[4, 4]), lambda x: F.adaptive_max_pool2d(x, 4)),
}


@covers(*POOLS)
@small_l1
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name, device):
    options, expected = POOLS[name]
    x = torch.randn(1, 32, 16, 16)
    t = ttnn.from_torch(places(x), dtype=ttnn.bfloat16, device=device)
    actual = OURS[f"ttnn.{name}"](t, batch_size=1, input_h=16, input_w=16, channels=32, **options)
    assert_images(expected(x), actual)


@covers("global_avg_pool2d", "upsample", "fold")
def test_images(device):
    x = torch.randn(1, 32, 8, 8)
    rows = ttnn.from_torch(x.permute(0, 2, 3, 1).contiguous(), dtype=ttnn.bfloat16, layout=RM, device=device)
    assert_close(F.interpolate(x, scale_factor=2).permute(0, 2, 3, 1), ttnn.upsample(rows, 2), rtol=0.02, atol=0.05)
    pooled = ttnn.global_avg_pool2d(ttnn.to_layout(rows, ttnn.TILE_LAYOUT))
    assert_close(x.mean((2, 3)).reshape(1, 1, 1, 32), ttnn.reshape(pooled, (1, 1, 1, 32)), rtol=0.05, atol=0.05, pcc=0.99)
    folded = ttnn.to_torch(ttnn.fold(rows, 2, 2)).float().reshape(4, 4, 2, 2, 32)  # a square of pixels becomes channels
    expected = x.bfloat16().float()[0].reshape(32, 4, 2, 4, 2).permute(1, 3, 2, 4, 0)
    assert torch.equal(folded, expected)


# ---- attention ---------------------------------------------------------------------------------------------


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


@covers("transformer.scaled_dot_product_attention")
@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal, device):
    q, k, v = (torch.randn(1, 4, 64, 32) for _ in range(3))
    actual = ttnn.transformer.scaled_dot_product_attention(*(bf16(device, t) for t in (q, k, v)), is_causal=causal)
    assert_close(F.scaled_dot_product_attention(q, k, v, is_causal=causal), actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.scaled_dot_product_attention_decode")
def test_attention_decode(device):
    q, k, v = torch.randn(1, 1, 8, 64), torch.randn(1, 2, 128, 64), torch.randn(1, 2, 128, 64)
    actual = ttnn.transformer.scaled_dot_product_attention_decode(*(bf16(device, t) for t in (q, k, v)), cur_pos=[100])
    expected = F.scaled_dot_product_attention(q.transpose(1, 2), k[:, :, :101], v[:, :, :101], enable_gqa=True).transpose(1, 2)
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)


def paged(cache, block):
    """A cache in blocks: (blocks, heads, block, width)."""
    n, heads, length, width = cache.shape
    return cache.reshape(n, heads, length // block, block, width).transpose(1, 2).reshape(-1, heads, block, width)


@covers("transformer.paged_scaled_dot_product_attention_decode", "transformer.chunked_scaled_dot_product_attention")
def test_paged_attention(device):
    torch.manual_seed(7)
    q, k, v = torch.randn(1, 1, 8, 64), torch.randn(1, 2, 128, 64), torch.randn(1, 2, 128, 64)
    order = torch.tensor([[2, 0, 3, 1]], dtype=torch.int32)
    stored = [torch.empty(4, 2, 32, 64) for _ in range(2)]
    for cache, blocks in zip(stored, (paged(k, 32), paged(v, 32))):
        cache[order[0].long()] = blocks
    table, place = tensor(device, order, layout=RM), tensor(device, torch.tensor([100], dtype=torch.int32), layout=RM)
    caches = [bf16(device, c) for c in stored]
    actual = ttnn.transformer.paged_scaled_dot_product_attention_decode(bf16(device, q), *caches, table, cur_pos_tensor=place)
    expected = F.scaled_dot_product_attention(q.transpose(1, 2), k[:, :, :101], v[:, :, :101], enable_gqa=True).transpose(1, 2)
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)
    chunk = torch.randn(1, 8, 64, 64)  # rows 64 to 127
    actual = ttnn.transformer.chunked_scaled_dot_product_attention(bf16(device, chunk), *caches, table, 64)
    mask = torch.arange(128)[None] <= torch.arange(64, 128)[:, None]
    expected = F.scaled_dot_product_attention(chunk, k, v, attn_mask=mask, enable_gqa=True)
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.split_query_key_value_and_split_heads", "transformer.concatenate_heads", "transformer.attention_softmax",
        "transformer.attention_softmax_", "scale_causal_mask_hw_dims_softmax_in_place")  # fmt: skip
def test_heads(device):
    x = torch.randn(2, 64, 3 * 128).bfloat16().float()
    q, k, v = (heads_of(part, 4) for part in x.chunk(3, -1))
    actual = ttnn.transformer.split_query_key_value_and_split_heads(bf16(device, x), num_heads=4)
    assert_all_close([q, k.transpose(-1, -2), v], actual, rtol=0, atol=0)
    assert_close(x[..., :128], ttnn.transformer.concatenate_heads(bf16(device, q)), rtol=0, atol=0)
    scores, mask = torch.randn(2, 4, 64, 64), torch.randn(2, 1, 1, 64)
    expected = torch.softmax(scores / math.sqrt(32) + mask, -1)
    for softmax in (ttnn.transformer.attention_softmax, ttnn.transformer.attention_softmax_):
        actual = softmax(bf16(device, scores), head_size=32, attention_mask=bf16(device, mask))
        assert_close(expected, actual, rtol=0.05, atol=0.01)
    scores, mask = torch.randn(1, 4, 64, 64), torch.full((1, 1, 64, 64), -1000.0).triu(1)
    config = ttnn.SoftmaxShardedMultiCoreProgramConfig(ttnn.CoreCoord(4, 1), 1, 2, 2)
    shards = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=4, y=1), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True)
    actual = ttnn.scale_causal_mask_hw_dims_softmax_in_place(
        bf16(device, scores, memory_config=shards), 0.5, bf16(device, mask), program_config=config
    )
    assert_close(torch.softmax(scores * 0.5 + mask, -1), actual, rtol=0.05, atol=0.01)


@covers("experimental.nlp_create_qkv_heads", "experimental.nlp_concat_heads", "experimental.nlp_create_qkv_heads_decode",
        "experimental.nlp_concat_heads_decode", "experimental.nlp_create_qkv_heads_falcon7b", "experimental.nlp_create_qkv_heads_vit",
        "experimental.nlp_create_qkv_heads_segformer")  # fmt: skip
def test_fused_heads(device):
    exact = {"rtol": 0, "atol": 0}
    x = torch.randn(1, 1, 64, 12 * 32).bfloat16().float()
    q, k, v = heads_of(x[0], 12).split([8, 2, 2], 1)
    actual = ttnn.experimental.nlp_create_qkv_heads(bf16(device, x), num_heads=8, num_kv_heads=2, transpose_k_heads=False)
    assert_all_close([q, k, v], actual, **exact)
    assert_close(x[..., : 8 * 32], ttnn.experimental.nlp_concat_heads(bf16(device, q)), **exact)
    one = torch.randn(1, 1, 1, 12 * 64).bfloat16().float()
    q, k, v = one.reshape(1, 1, 12, 64).split([8, 2, 2], 2)
    actual = ttnn.experimental.nlp_create_qkv_heads_decode(
        bf16(device, one), num_heads=8, num_kv_heads=2, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    assert_all_close([q, k, v], actual, **exact)
    merged = ttnn.experimental.nlp_concat_heads_decode(actual[0], num_heads=8)
    assert torch.equal(ttnn.to_torch(merged).float()[:, :, :1], one[..., : 8 * 64])
    falcon = torch.randn(1, 1, 64, 73 * 64).bfloat16().float()
    actual = ttnn.experimental.nlp_create_qkv_heads_falcon7b(bf16(device, falcon))
    assert_all_close(heads_of(falcon[0], 73).split([71, 1, 1], 1), actual, **exact)
    vit = torch.randn(1, 1, 64, 2304).bfloat16().float()
    actual = ttnn.experimental.nlp_create_qkv_heads_vit(bf16(device, vit))
    assert_all_close([heads_of(part[0], 12) for part in vit.chunk(3, -1)], actual, **exact)
    seg = torch.randn(1, 1, 64, 160).bfloat16().float()
    actual = ttnn.experimental.nlp_create_qkv_heads_segformer(bf16(device, seg))
    assert_close(heads_of(seg[0], 5), actual[0], **exact)


@covers("experimental.split_query_key_value_and_split_heads")
def test_split_heads(device):
    """Every column of cores has the queries, keys and values of its own heads; without shards there is one."""
    x = torch.randn(8, 1, 64, 6 * 3 * 64).bfloat16().float()
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(2, 7))})
    blocks = ttnn.create_sharded_memory_config(
        (64, 384), cores, ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.ROW_MAJOR, use_height_and_width_as_shard_shape=True
    )
    for columns, place, out in ((3, blocks, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG), (1, ttnn.L1_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG)):
        q, k, v = x.reshape(8, 64, columns, 3, 6 // columns, 64).permute(3, 0, 2, 4, 1, 5).reshape(3, 8, 6, 64, 64)
        actual = ttnn.experimental.split_query_key_value_and_split_heads(
            ttnn.to_memory_config(bf16(device, x), place), ttnn.CoreCoord(8, 8), num_heads=6, memory_config=out
        )
        assert_all_close([q, k.transpose(-1, -2), v], actual, rtol=0, atol=0)
    with pytest.raises(RuntimeError, match="Input batch size must be between 7 to 9"):
        ttnn.experimental.split_query_key_value_and_split_heads(bf16(device, x[:2]), ttnn.CoreCoord(8, 8), num_heads=6)


@covers("experimental.rotary_embedding", "experimental.rotary_embedding_hf", "experimental.rotary_embedding_llama",
        "experimental.rotate_half", "experimental.rotary_embedding_llama_fused_qk")  # fmt: skip
def test_rotary(device):
    torch.manual_seed(8)
    x = torch.randn(1, 2, 64, 64)
    angle = torch.arange(64.0)[:, None] / 10000 ** (torch.arange(32.0) / 32)
    half = torch.cat([-x[..., 32:], x[..., :32]], -1)
    cos, sin = (f(angle).repeat(1, 2).reshape(1, 1, 64, 64) for f in (torch.cos, torch.sin))
    near = {"rtol": 0.05, "atol": 0.05}
    assert_close(half, ttnn.experimental.rotate_half(bf16(device, x)), **near)
    args = [bf16(device, t) for t in (x, cos, sin)]
    assert_close(x * cos + half * sin, ttnn.experimental.rotary_embedding(*args), **near)
    assert_close(x * cos + half * sin, ttnn.experimental.rotary_embedding_hf(*args, is_decode_mode=False), **near)
    pairs = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    cos, sin = (f(angle).repeat_interleave(2, -1).reshape(1, 1, 64, 64) for f in (torch.cos, torch.sin))
    turn = torch.zeros(1, 1, 32, 32)
    turn[..., torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
    turn[..., torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1
    args = [bf16(device, t) for t in (x, cos, sin, turn)]
    assert_close(x * cos + pairs * sin, ttnn.experimental.rotary_embedding_llama(*args, is_decode_mode=False), **near)
    # Queries on the cores of the first row, keys on those of the second; a table and a turn for each of them.
    q, k = torch.randn(1, 2, 8, 64), torch.randn(1, 2, 1, 64)
    tables = [torch.cat([t[:, :, 5:7], t[:, :, 5:7]], 2).reshape(1, 4, 1, 64) for t in (cos, sin)]
    actual = ttnn.experimental.rotary_embedding_llama_fused_qk(
        bf16(device, q, memory_config=user_shards(0, 0, 64)),
        bf16(device, k, memory_config=user_shards(1, 1, 64)),
        *(bf16(device, t, memory_config=user_shards(0, 1, 64)) for t in tables),
        bf16(device, turn.repeat(1, 1, 4, 1), memory_config=user_shards(0, 1, 32)),
    )
    for t, found in zip((q, k), actual):
        pairs = torch.stack([-t[..., 1::2], t[..., ::2]], -1).flatten(-2)
        assert_close(t * tables[0][:, :2] + pairs * tables[1][:, :2], found, **near)


# ---- caches and indices ------------------------------------------------------------------------------------


def user_shards(first, last, width):
    """A tile of rows for each of two users, on the cores of these rows."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, first), ttnn.CoreCoord(1, last))])
    spec = ttnn.ShardSpec(cores, [32, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def one_core(rows, width):
    grid = ttnn.CoreGrid(y=1, x=1)
    return ttnn.create_sharded_memory_config((rows, width), grid, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True)


@covers("fill_cache", "update_cache", "kv_cache.fill_cache_for_user_", "kv_cache.update_cache_for_token_",
        "experimental.paged_update_cache", "experimental.paged_fill_cache", "experimental.paged_fused_update_cache")  # fmt: skip
def test_caches(device):
    torch.manual_seed(9)
    exact = {"rtol": 0, "atol": 0}
    new, token = torch.randn(1, 2, 64, 64).bfloat16().float(), torch.randn(1, 2, 32, 64).bfloat16().float()
    for fill in (ttnn.fill_cache, ttnn.kv_cache.fill_cache_for_user_):
        cache = bf16(device, torch.zeros(4, 2, 128, 64))
        fill(cache, bf16(device, new), 1)
        expected = torch.zeros(4, 2, 128, 64)
        expected[1:2, :, :64] = new
        assert_close(expected, cache, **exact)
    for update in (ttnn.update_cache, ttnn.kv_cache.update_cache_for_token_):
        cache = bf16(device, torch.zeros(32, 2, 128, 64))
        update(cache, bf16(device, token), 70)
        expected = torch.zeros(32, 2, 128, 64)
        expected[:, :, 70] = token[0].transpose(0, 1)
        assert_close(expected, cache, **exact)
    cache, one = bf16(device, torch.zeros(1, 2, 128, 64)), torch.randn(1, 1, 2, 64).bfloat16().float()
    ttnn.experimental.paged_update_cache(cache, bf16(device, one, memory_config=one_core(32, 64)), update_idxs=[70])
    expected = torch.zeros(1, 2, 128, 64)
    expected[0, :, 70] = one[0, 0]
    assert_close(expected, cache, **exact)
    keys, values = (torch.randn(1, 2, 2, 64).bfloat16().float() for _ in range(2))
    caches = [bf16(device, torch.zeros(2, 2, 128, 64)) for _ in range(2)]
    given = [bf16(device, t, memory_config=user_shards(i, i, 64)) for i, t in enumerate((keys, values))]
    ttnn.experimental.paged_fused_update_cache(caches[0], given[0], caches[1], given[1], update_idxs=[3, 70])
    for one, cache in zip((keys, values), caches):
        expected = torch.zeros(2, 2, 128, 64)
        expected[0, :, 3], expected[1, :, 70] = one[0, 0], one[0, 1]
        assert_close(expected, cache, **exact)
    table = tensor(device, torch.tensor([[2, 0, 3, 1]], dtype=torch.int32), layout=RM)
    cache = bf16(device, torch.zeros(4, 2, 32, 64))
    ttnn.experimental.paged_fill_cache(cache, bf16(device, new), table, batch_idx=0)
    expected = torch.zeros(4, 2, 32, 64)
    expected[2], expected[0] = new[0, :, :32], new[0, :, 32:]
    assert_close(expected, cache, **exact)


@covers("embedding_bw")
def test_embedding_gradient(device):
    torch.manual_seed(12)
    table, ids = torch.randn(128, 64, requires_grad=True), torch.randint(0, 128, (2, 32))
    out = F.embedding(ids, table)
    grad = torch.randn_like(out).bfloat16().float()
    out.backward(grad)
    actual = ttnn.embedding_bw(tensor(device, ids.int(), ttnn.uint32, RM), bf16(device, table.detach(), layout=RM), bf16(device, grad.reshape(1, 1, 64, 64)))
    assert_close(table.grad.reshape(1, 1, 128, 64), actual, rtol=0.02, atol=0.02)


@covers("grid_sample")
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(device, corners):
    torch.manual_seed(13)
    x, grid = torch.randn(2, 9, 7, 32), torch.rand(2, 5, 6, 2) * 2.4 - 1.2
    expected = F.grid_sample(x.permute(0, 3, 1, 2), grid, align_corners=corners).permute(0, 2, 3, 1)
    actual = ttnn.grid_sample(tensor(device, x, layout=RM), tensor(device, grid, layout=RM), align_corners=corners)
    assert_close(expected, actual, rtol=1e-3, atol=1e-3)


@covers("moreh_layer_norm")
def test_moreh_layer_norm(device):
    torch.manual_seed(14)
    x, gain, bias = torch.randn(2, 3, 37, 45), torch.randn(37, 45), torch.randn(37, 45)
    actual = ttnn.moreh_layer_norm(bf16(device, x), 2, 1e-5, bf16(device, gain), bf16(device, bias))
    assert actual[1:] == [None, None]
    assert_close(F.layer_norm(x, (37, 45), gain, bias), actual[0], rtol=0.05, atol=0.05)


@covers("embedding", "nonzero", "scatter", "scatter_add", "indexed_fill")
def test_indices(device):
    torch.manual_seed(10)
    table, ids = torch.randn(100, 64), torch.randint(0, 100, (2, 32), dtype=torch.int32)
    actual = ttnn.embedding(tensor(device, ids, ttnn.uint32, RM), bf16(device, table, layout=RM))
    assert_close(table.bfloat16().float()[ids], actual, rtol=0, atol=0)
    x, at, src = torch.randn(1, 1, 32, 64), torch.stack([torch.randperm(64)[:16] for _ in range(32)]).reshape(1, 1, 32, 16), torch.randn(1, 1, 32, 16)
    args = (tensor(device, x, layout=RM), 3, tensor(device, at.int(), layout=RM), tensor(device, src, layout=RM))
    assert_close(x.scatter(3, at, src), ttnn.scatter(*args))
    assert_close(x.scatter_add(3, at, src), ttnn.scatter_add(*args))
    few = (torch.rand(1, 1, 1, 64) > 0.7).float()
    count, places_ = ttnn.nonzero(bf16(device, few, layout=RM))
    number = int(ttnn.to_torch(count).flatten()[0])
    assert number == int(few.sum())
    assert ttnn.to_torch(places_).reshape(-1, 4)[:number].tolist() == few.nonzero().tolist()
    rows, batch = torch.randn(4, 1, 32, 64), torch.tensor([3, 1], dtype=torch.int32).reshape(1, 1, 1, 2)
    other = torch.randn(2, 1, 32, 64)
    actual = ttnn.indexed_fill(tensor(device, batch, ttnn.uint32, RM), bf16(device, rows, layout=RM), bf16(device, other, layout=RM))
    rows[[3, 1]] = other
    assert_close(rows.bfloat16(), actual, rtol=0, atol=0)


# ---- creation, chance, quantisation -------------------------------------------------------------------------


@covers("full", "zeros", "ones", "arange", "empty", "empty_like", "moreh_full", "fill_rm", "fill_ones_rm", "as_tensor", "from_torch", "to_torch",
        "allocate_tensor_on_device", "deallocate", "Tensor.deallocate", "Tensor.pad", "Tensor.unpad")  # fmt: skip
def test_creation(device):
    assert torch.equal(ttnn.to_torch(ttnn.full([3, 5], fill_value=2.5, device=device)), torch.full((3, 5), 2.5).bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.moreh_full([32, 64], 2.5, device)), torch.full((32, 64), 2.5).bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.zeros([3, 5], device=device)), torch.zeros(3, 5).bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.ones([3, 5], device=device)), torch.ones(3, 5).bfloat16())
    assert torch.equal(ttnn.to_torch(ttnn.arange(0, 10, device=device, dtype=ttnn.float32)).flatten()[:10], torch.arange(10.0))
    like, corner = ttnn.zeros([32, 32], device=device), torch.zeros(2, 1, 32, 64)
    corner[:, :, :5, :7] = 1
    assert torch.equal(ttnn.to_torch(ttnn.fill_ones_rm(2, 1, 32, 64, 5, 7, like)).float(), corner)
    assert torch.equal(ttnn.to_torch(ttnn.fill_rm(2, 1, 32, 64, 5, 7, like, 2.5, -1.0)).float(), corner * 3.5 - 1)
    rows = torch.randn(3, 5)
    kept = ttnn.as_tensor(rows, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    assert torch.equal(ttnn.to_torch(kept), rows) and ttnn.empty_like(kept).shape == kept.shape
    empty = ttnn.allocate_tensor_on_device(kept.spec, device)
    assert empty.shape == ttnn.empty([3, 5], device=device).shape and empty.layout == kept.layout
    host = ttnn.from_torch(rows)
    assert torch.equal(ttnn.to_torch(host.pad([4, 8], [0, 0], 7.0).unpad([0, 0], [3, 5])), rows)
    kept.deallocate(), ttnn.deallocate(empty)
    assert not kept.is_allocated() and not empty.is_allocated()


@covers("rand", "randn", "uniform", "bernoulli", "experimental.dropout")
def test_chance(device):
    """Moments: the numbers themselves are nobody's."""
    for x, mean, std in (
        (ttnn.rand([256, 256], device=device, dtype=ttnn.float32), 0.5, 12**-0.5),
        (ttnn.randn([256, 256], device, dtype=ttnn.float32), 0, 1),
        (ttnn.uniform(ttnn.zeros([256, 256], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device), -1.0, 1.0), 0, 3**-0.5),
        (ttnn.bernoulli(ttnn.full([256, 256], fill_value=0.3, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device), 7), 0.3, 0.21**0.5),
        (ttnn.experimental.dropout(ttnn.ones([256, 256], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device), 0.2, 1.25, 7), 1, 0.5),
    ):
        x = ttnn.to_torch(x).float()
        assert x.mean().item() == pytest.approx(mean, abs=0.02) and x.std().item() == pytest.approx(std, abs=0.02)


@covers("quantize", "dequantize", "requantize")
def test_quantisation(device):
    x = torch.randn(64, 96)
    expected = (torch.round(x / 0.05) + 3).clamp(-128, 127).int()
    q = ttnn.quantize(tensor(device, x), 0.05, 3)
    assert_close(expected.float(), q, rtol=0, atol=1)
    assert_close((expected - 3) * 0.05, ttnn.dequantize(q, 0.05, 3, dtype=ttnn.float32), atol=0.06)
    again = torch.round((expected - 3) * 0.05 / 0.1) + 1
    assert_close(again, ttnn.requantize(q, 0.05, 3, 0.1, 1), rtol=0, atol=1, pcc=0.99)  # ties round either way


@covers("interleaved_to_sharded", "sharded_to_interleaved", "reshard")
def test_sharded(device):
    x = torch.randn(1, 1, 256, 64).bfloat16()
    high, wide = (
        ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(y=2, x=n), strategy)
        for n, strategy in ((4, ttnn.ShardStrategy.HEIGHT), (2, ttnn.ShardStrategy.BLOCK))
    )
    t = ttnn.interleaved_to_sharded(bf16(device, x), high)
    assert t.is_sharded() and t.memory_config() == high
    assert_close(torch.exp(x.float()), ttnn.exp(t), rtol=0.02, atol=0.02)
    t = ttnn.reshard(t, wide)
    assert t.memory_config() == wide
    assert torch.equal(ttnn.to_torch(ttnn.sharded_to_interleaved(t, ttnn.DRAM_MEMORY_CONFIG)), x)


# ---- meshes ---------------------------------------------------------------------------------------------------


@pytest.fixture
def two_chips(monkeypatch):
    monkeypatch.setenv("TTNN_DEVICE", "n300")


@covers("all_gather", "all_reduce", "reduce_scatter", "broadcast", "mesh_partition", "point_to_point",
        "experimental.all_gather_async", "experimental.reduce_scatter_minimal_async")  # fmt: skip
@pytest.mark.parametrize("mesh_device", [(1, 2)], indirect=True)
def test_collectives(two_chips, mesh_device):
    """torch.distributed's operations: what each of two devices has afterwards."""
    line, x = mesh_device, torch.randn(2, 1, 32, 128).bfloat16()
    t = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))

    def parts(tensor):
        return [ttnn.to_torch(part) for part in ttnn.get_device_tensors(tensor.cpu())]

    for gather in (ttnn.all_gather, ttnn.experimental.all_gather_async):
        assert all(torch.equal(part, x) for part in parts(gather(t, 0)))
    total = x.float().sum(0, keepdim=True)
    for part in parts(ttnn.all_reduce(t)):
        assert torch.allclose(part.float(), total, rtol=0.02, atol=0.05)
    for scatter in (lambda: ttnn.reduce_scatter(t, 3), lambda: ttnn.experimental.reduce_scatter_minimal_async(t, dim=3)):
        for part, expected in zip(parts(scatter()), total.chunk(2, 3)):
            assert torch.allclose(part.float(), expected, rtol=0.02, atol=0.05)
    for part in parts(ttnn.broadcast(t, ttnn.MeshCoordinate(0, 1))):
        assert torch.equal(part, x[1:])
    same = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=ttnn.ReplicateTensorToMesh(line))
    assert all(torch.equal(part, e) for part, e in zip(parts(ttnn.mesh_partition(same, 3)), x.chunk(2, 3)))
    sent = ttnn.point_to_point(t, ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1))
    assert torch.equal(parts(sent)[1], x[:1])


# ---- state space models, images as points, rows by index ----------------------------------------------------------


def sharded(device, x, strategy, shard, cores, layout):
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(cores[0] - 1, cores[1] - 1))})
    spec = ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR)
    return bf16(device, x, layout=layout, memory_config=ttnn.MemoryConfig(strategy, ttnn.BufferType.L1, spec))


@covers("ema", "experimental.hc_sum_reduce", "experimental.prefix_scan", "experimental.repeat_and_interleave_eltwise_mul")
def test_states(device):
    torch.manual_seed(5)
    x = torch.rand(1, 2, 3, 70)
    expected, before = [], torch.zeros(1, 2, 3)
    for column in x.unbind(-1):
        before = 0.75 * before + 0.25 * column
        expected.append(before)
    assert_close(torch.stack(expected, -1), ttnn.ema(bf16(device, x), 0.75), rtol=0.02, atol=0.01)
    x = torch.rand(1, 1, 64, 5 * 32)
    assert_close(x.reshape(1, 1, 64, 5, 32).sum(-1)[..., :5], ttnn.experimental.hc_sum_reduce(bf16(device, torch.cat([x] * 32, -1)))[..., :5], rtol=0.02, atol=0.1)
    a, b = torch.rand(1, 1, 32, 32), torch.rand(1, 1, 32, 5120)
    expected = a.repeat(1, 1, 1, 5120) * b.repeat_interleave(32, -1)
    assert_close(expected, ttnn.experimental.repeat_and_interleave_eltwise_mul(bf16(device, a), bf16(device, b)), rtol=0.02, atol=0.01)
    a, bx, h = torch.rand(1, 1, 64, 128), torch.randn(1, 1, 64, 128), torch.randn(1, 1, 1, 128)
    ours = [sharded(device, t, ttnn.TensorMemoryLayout.WIDTH_SHARDED, (t.shape[2], 64), (2, 1), layout)
            for t, layout in ((a, ttnn.TILE_LAYOUT), (bx, ttnn.TILE_LAYOUT), (h, RM))]  # fmt: skip
    rows, before = [], h[0, 0, 0]
    for row in range(64):
        before = a[0, 0, row] * before + bx[0, 0, row]
        rows.append(before)
    assert_close(torch.stack(rows)[None, None], ttnn.experimental.prefix_scan(*ours), rtol=0.05, atol=0.1)
    assert_close(rows[-1].reshape(1, 1, 1, 128), ours[2], rtol=0.05, atol=0.1)


@covers("experimental.convert_to_hwc", "experimental.convert_to_chw", "experimental.create_qkv_heads")
def test_shards_in_another_order(device):
    exact = {"rtol": 0, "atol": 0}
    planes = torch.randn(1, 1, 6, 128).bfloat16().float()
    ours = sharded(device, planes, ttnn.TensorMemoryLayout.WIDTH_SHARDED, (6, 64), (2, 1), RM)
    points = ttnn.to_torch(ttnn.experimental.convert_to_hwc(ours)).float()
    assert torch.equal(points[..., :6], planes.transpose(-1, -2))  # channels are padded to a whole burst
    points = torch.randn(1, 1, 128, 6).bfloat16().float()
    ours = sharded(device, points, ttnn.TensorMemoryLayout.HEIGHT_SHARDED, (64, 32), (2, 1), ttnn.TILE_LAYOUT)
    assert_close(points.transpose(-1, -2), ttnn.experimental.convert_to_chw(ours), **exact)
    # Two groups, each with two heads of queries, one of keys and one of values.
    x = torch.randn(2, 1, 32, 2 * 4 * 32).bfloat16().float()
    groups = x.reshape(2, 32, 2, 4, 32).permute(0, 2, 3, 1, 4)
    ours = sharded(device, x, ttnn.TensorMemoryLayout.BLOCK_SHARDED, (32, 4 * 32), (2, 2), ttnn.TILE_LAYOUT)
    actual = ttnn.experimental.create_qkv_heads(
        ours, num_heads=4, num_kv_heads=2, transpose_k_heads=False, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    assert_all_close([groups[:, :, :2].flatten(1, 2), groups[:, :, 2], groups[:, :, 3]], actual, **exact)


@covers("index_fill", "tosa_gather", "tosa_scatter", "experimental.gelu_bw")
def test_rows_by_index(device):
    exact = {"rtol": 0, "atol": 0}
    x, index = torch.randn(2, 3, 40, 50).bfloat16().float(), torch.tensor([1, 7, 30])
    actual = ttnn.index_fill(bf16(device, x, layout=RM), 2, tensor(device, index.int(), ttnn.uint32, layout=RM), 2.5)
    assert_close(x.index_fill(2, index, 2.5), actual, **exact)
    rows, index = torch.randn(2, 40, 50).bfloat16().float(), torch.stack([torch.randperm(40)[:8] for _ in range(2)])
    wide = index[..., None].expand(-1, -1, 50)
    ours = tensor(device, index.int(), ttnn.uint32)
    assert_close(rows.gather(1, wide), ttnn.tosa_gather(bf16(device, rows), ours), **exact)
    source = torch.randn(2, 8, 50).bfloat16().float()
    assert_close(rows.scatter(1, wide, source), ttnn.tosa_scatter(bf16(device, rows), ours, bf16(device, source)), **exact)
    for approximate in ("none", "tanh"):
        x = torch.linspace(-3, 3, 32 * 32).reshape(32, 32).bfloat16().float().requires_grad_()
        F.gelu(x, approximate=approximate).backward(torch.ones(32, 32))
        actual = ttnn.experimental.gelu_bw(bf16(device, torch.ones(32, 32)), bf16(device, x.detach()), approximate=approximate)
        assert_close(x.grad, actual, rtol=0.01, atol=0.01)


# ---- all of them --------------------------------------------------------------------------------------------------

# torch has nothing like it: formulas of upstream's own, preparation for its programs, what only Blackhole has.
WITHOUT_TORCH = {
    "alt_complex_rotate90", "clamped_silu_glu", "fill_implicit_tile_padding", "hardmish", "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights", "situ_glu", "snake_beta", "softcap", "xielu",
}  # fmt: skip


def test_every_operation_is_here():
    names = {operation.name for operation in OURS.values()}
    missing = names - COVERED - {f"ttnn.{name}" for name in WITHOUT_TORCH}
    assert not missing, sorted(missing)
