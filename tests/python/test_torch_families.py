"""Families of operations against torch that take more than a row: reductions, products, images,
normalisation, attention, caches, creation, quantisation, meshes."""

import math

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import test_torch_given  # noqa: F401: they cover some
import test_torch_gradients  # noqa: F401
import test_torch_operations  # noqa: F401
import test_torch_training  # noqa: F401
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


@covers("sparse_matmul", "experimental.minimal_matmul_split", "experimental.dit_minimal_matmul_addcmul_fused")
def test_products_in_parts(device):
    torch.manual_seed(4)
    near = {"rtol": 0.05, "atol": 0.3}
    a, b, marks = torch.randn(2, 3, 40, 64), torch.randn(1, 4, 64, 96), (torch.rand(2, 3, 1, 4) > 0.5).float()
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(3, 1), in0_block_w=2, out_subblock_h=1, out_subblock_w=1,
        out_block_h=1, out_block_w=1, per_core_M=2, per_core_N=1, fuse_batch=False, fused_activation=None, mcast_in0=True,
    )  # fmt: skip
    rows = ttnn.from_torch(marks, dtype=ttnn.bfloat16, device=device)
    actual = ttnn.sparse_matmul(bf16(device, a), bf16(device, b), sparsity=rows, program_config=config)
    expected = (a[:, :, None, None] @ b[None, None]) * marks[..., None, None]
    assert_close(expected, actual, **near)
    x, w, z, g = torch.randn(64, 64), torch.randn(64, 192), torch.randn(64, 192), torch.randn(1, 192)
    parts = ttnn.experimental.minimal_matmul_split(bf16(device, x), bf16(device, w), chunks=3)
    for expected, actual in zip((x @ w).chunk(3, -1), parts, strict=True):
        assert_close(expected, actual, **near)
    gated = ttnn.experimental.dit_minimal_matmul_addcmul_fused(*(bf16(device, t) for t in (x, w)), 0.5, bf16(device, z), bf16(device, g))
    assert_close(torch.addcmul(z, x @ w, g, value=0.5), gated, rtol=0.05, atol=0.5)


@covers("moe", "narrow", "experimental.dit_rms_norm_unary_fused")
def test_parts_and_experts(device):
    torch.manual_seed(5)
    x, experts, mask = torch.randn(1, 1, 64, 128), torch.randn(1, 1, 1, 128), torch.randn(1, 1, 1, 32)
    x, experts, mask = (t.bfloat16().float() for t in (x, experts, mask))
    values, places = torch.topk(x + experts, 32)
    expected = (torch.softmax(values + mask, -1) * (places == 0)).sum(-1, keepdim=True)
    assert_close(expected, ttnn.moe(bf16(device, x), bf16(device, experts), bf16(device, mask), 32), rtol=0.02, atol=0.01)
    whole = torch.randn(48, 16, 32)
    ours = ttnn.from_torch(whole.bfloat16(), device=device)
    for start in (0, 12, 24):
        assert_close(whole.narrow(0, start, 12).bfloat16().float(), ttnn.narrow(ours, 0, start, 12), rtol=0, atol=0)
    weight = torch.randn(1, 128)
    actual = ttnn.experimental.dit_rms_norm_unary_fused(bf16(device, x), weight=bf16(device, weight), activation="silu")
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight
    assert_close(torch.nn.functional.silu(normed), actual, rtol=0.05, atol=0.05)


@covers("sampling", "manual_seed")
def test_sampling(device):
    """Tokens come as often as they are likely, and again after the same seed."""
    torch.manual_seed(6)
    x = torch.randn(1, 1, 1, 64).expand(1, 1, 32, 64).contiguous().bfloat16()
    places = torch.arange(100, 164, dtype=torch.int32).expand(1, 1, 32, 64).contiguous()
    values, indices = bf16(device, x), ttnn.from_torch(places, dtype=ttnn.int32, device=device)
    each = [ttnn.from_torch(torch.full((32,), v), dtype=t, device=device) for v, t in ((8, ttnn.uint32), (1.0, ttnn.bfloat16), (1.0, ttnn.bfloat16))]
    ids = ttnn.arange(0, 32, dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    ttnn.manual_seed(seeds=ids, user_ids=ids)
    draws = [ttnn.to_torch(ttnn.sampling(values, indices, *each)).flatten() for _ in range(60)]
    ttnn.manual_seed(seeds=ids, user_ids=ids)
    assert torch.equal(draws[0], ttnn.to_torch(ttnn.sampling(values, indices, *each)).flatten())
    top, where = torch.topk(x[0, 0, 0].float(), 8)
    drawn = torch.cat(draws).long() - 100
    assert set(drawn.tolist()) <= set(where.tolist())
    for likely, place in zip(torch.softmax(top, 0), where):
        assert (drawn == place).float().mean().item() == pytest.approx(likely.item(), abs=0.05)


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


@covers("experimental.deepseek_prefill.moe_grouped_topk", "experimental.deepseek_prefill.moe_hash_gate")
def test_gates_of_a_prefill(device):
    torch.manual_seed(28)
    logits, bias = torch.randn(1, 1, 64, 96), torch.rand(1, 1, 64, 96)
    scores = F.softplus(logits).sqrt()
    prefill, words = ttnn.experimental.deepseek_prefill, torch.randint(0, 20, (2, 32), dtype=torch.int32)
    args = [tensor(device, t, dtype=ttnn.float32) for t in (logits, bias)]
    weights, experts = prefill.moe_grouped_topk(
        *args, n_groups=1, n_activated_experts=6, route_scale=2.5, score_func="sqrtsoftplus"
    )
    chosen = (scores + bias).topk(6).indices
    assert ttnn.to_torch(experts).to(torch.int64).equal(chosen)
    expected = scores.gather(-1, chosen)
    assert_close(expected / expected.sum(-1, keepdim=True) * 2.5, weights, rtol=0.02, atol=0.01)
    table = torch.stack([torch.randperm(96)[:8] for _ in range(20)]).to(torch.int16)
    weights, experts = prefill.moe_hash_gate(
        args[0], tensor(device, words, dtype=ttnn.uint32, layout=RM), tensor(device, table, dtype=ttnn.uint16, layout=RM),
        n_activated_experts=6,
    )  # fmt: skip
    chosen = table[words.flatten().long(), :6].long().reshape(1, 1, 64, 6)
    assert ttnn.to_torch(experts).to(torch.int64).equal(chosen)
    expected = scores.gather(-1, chosen)
    assert_close(expected / expected.sum(-1, keepdim=True), weights, rtol=0.02, atol=0.01)


@covers("experimental.deepseek_prefill.routed_expert_ffn")
def test_routed_expert(device):
    torch.manual_seed(29)
    x, gate, up, down = torch.randn(64, 96), torch.randn(96, 160) / 10, torch.randn(96, 160) / 10, torch.randn(160, 96) / 10
    actual = ttnn.experimental.deepseek_prefill.routed_expert_ffn(*(bf16(device, t) for t in (x, gate, up, down)))
    assert_close((F.silu(x @ gate) * (x @ up)) @ down, actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.flash_mla_prefill", "transformer.chunked_flash_mla_prefill")
def test_latent_attention(device):
    torch.manual_seed(8)
    q, k, v = torch.randn(1, 4, 64, 96), torch.randn(1, 1, 64, 96), torch.randn(1, 4, 64, 32)
    actual = ttnn.transformer.flash_mla_prefill(bf16(device, q), bf16(device, k), 64)
    expected = F.scaled_dot_product_attention(q, k, k[..., :64], is_causal=True, enable_gqa=True)
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)
    actual = ttnn.transformer.flash_mla_prefill(*(bf16(device, t) for t in (q, k, v)), is_causal=False, scale=0.2)
    assert_close(F.scaled_dot_product_attention(q, k.expand(1, 4, 64, 96), v, scale=0.2), actual, rtol=0.05, atol=0.1, pcc=0.998)
    table = tensor(device, torch.tensor([[1, 0]], dtype=torch.int32), layout=RM)
    cache = torch.cat([k[:, :, 32:], k[:, :, :32]])
    actual = ttnn.transformer.chunked_flash_mla_prefill(bf16(device, q[:, :, 32:]), bf16(device, cache), 64, table, 32)
    expected = F.scaled_dot_product_attention(q, k, k[..., :64], is_causal=True, enable_gqa=True)[:, :, 32:]
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.flash_multi_latent_attention_decode", "transformer.paged_flash_multi_latent_attention_decode")
def test_latent_attention_decode(device):
    torch.manual_seed(9)
    q, k = torch.randn(1, 1, 8, 96), torch.randn(1, 1, 128, 96)
    expected = F.scaled_dot_product_attention(q.transpose(1, 2), k[:, :, :101], k[:, :, :101, :64], enable_gqa=True).transpose(1, 2)
    actual = ttnn.transformer.flash_multi_latent_attention_decode(bf16(device, q), bf16(device, k), head_dim_v=64, cur_pos=[100])
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)
    table, place = tensor(device, torch.tensor([[0, 1]], dtype=torch.int32), layout=RM), tensor(device, torch.tensor([100], dtype=torch.int32), layout=RM)
    actual = ttnn.transformer.paged_flash_multi_latent_attention_decode(
        bf16(device, q), bf16(device, paged(k, 64)), head_dim_v=64, page_table_tensor=table, cur_pos_tensor=place
    )
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.scaled_dot_product_attention", "transformer.scaled_dot_product_attention_decode")
def test_sinks(device):
    """A sink is scaled as scores are; while decoding, it is the first column of a tile."""
    torch.manual_seed(10)
    q, k, v, sink = (torch.randn(1, 4, 32, 32) for _ in range(4))
    sink = sink[:, :, :1, :1].bfloat16().float() * 4
    scores = torch.cat([q @ k.transpose(2, 3), sink.expand(1, 4, 32, 1)], dim=-1) * 0.3
    expected = scores.softmax(-1)[..., :-1] @ v
    three = [bf16(device, t) for t in (q, k, v)]
    actual = ttnn.transformer.scaled_dot_product_attention(*three, is_causal=False, scale=0.3, attention_sink=bf16(device, sink))
    assert_close(expected, actual, rtol=0.05, atol=0.1, pcc=0.998)
    row = F.pad(sink.reshape(4, 1), (0, 31))
    last = bf16(device, q[:, :, 31:].transpose(1, 2))
    actual = ttnn.transformer.scaled_dot_product_attention_decode(
        last, bf16(device, k), bf16(device, v), cur_pos=[31], scale=0.3, attention_sink=bf16(device, row)
    )
    assert_close(expected[:, :, 31:].transpose(1, 2), actual, rtol=0.05, atol=0.1, pcc=0.998)


@covers("transformer.sparse_sdpa", "transformer.sparse_sdpa_msa")
def test_sparse_attention(device):
    """Only Blackhole has them; their numbers are compared with the goldens by test_sparse_attention.c."""
    torch.manual_seed(11)
    q, kv = torch.randn(1, 32, 4, 64), torch.randn(1, 1, 128, 64)
    chosen = torch.stack([torch.randperm(128)[:64] for _ in range(4)]).reshape(1, 1, 4, 64)
    golden = ttnn.get_golden_function(ttnn.transformer.sparse_sdpa)
    actual = golden(q, kv, chosen.int(), 32, kv_format=ttnn.transformer.SparseKVFormat.BF16)
    mask = torch.full((1, 1, 4, 128), float("-inf")).scatter(3, chosen, 0.0)
    expected = F.scaled_dot_product_attention(q, kv, kv[..., :32], attn_mask=mask, enable_gqa=True)
    assert torch.allclose(actual.float(), expected, atol=0.05)
    with pytest.raises(RuntimeError, match="Blackhole-only"):
        ttnn.transformer.sparse_sdpa_msa(tensor(device, q, layout=RM), bf16(device, kv), bf16(device, kv), tensor(device, chosen.int(), layout=RM))


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


def test_group_norm_weights_of_narrow_shards(device):
    """Channels of a core that fill no tile: its weights begin in a tile of their own."""
    torch.manual_seed(16)
    x, weight, bias = torch.randn(1, 1, 64, 160), torch.randn(160), torch.randn(160)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))})
    shards = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(cores, [64, 80], ttnn.ShardOrientation.ROW_MAJOR)
    )
    rows = [ttnn.create_group_norm_weight_bias_rm(v, 160, 2) for v in (weight, bias)]
    actual = ttnn.group_norm(
        ttnn.from_torch(x, ttnn.bfloat16, device=device, memory_config=shards),
        num_groups=8,
        weight=ttnn.from_torch(rows[0], ttnn.bfloat16, device=device),
        bias=ttnn.from_torch(rows[1], ttnn.bfloat16, device=device),
        memory_config=shards,
        core_grid=ttnn.CoreGrid(x=2, y=1),
    )
    expected = F.group_norm(x.permute(0, 3, 1, 2), 8, weight, bias, eps=1e-12).permute(0, 2, 3, 1)
    assert_close(expected, actual, rtol=0.05, atol=0.05)


def test_averages_of_shards(device):
    torch.manual_seed(17)
    x = torch.randn(1, 1, 32, 128)
    shards = ttnn.create_sharded_memory_config([1, 1, 32, 128], ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.WIDTH)
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(2, 1), subblock_w=2, block_h=1, block_w=2, inplace=False
    )
    sharded = ttnn.to_memory_config(bf16(device, x), shards)
    stats = ttnn.to_torch(ttnn.layer_norm_pre_all_gather(sharded, program_config=config))
    assert torch.allclose(stats[..., 0].float(), x.mean(-1), atol=0.02)
    assert torch.allclose(stats[..., 32].float(), (x * x).mean(-1), atol=0.05)


@covers("rotate")
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_rotate(device, mode):
    torch.manual_seed(15)
    x = torch.randn(2, 9, 7, 32)
    for angle, center, fill in ((10, None, 0.0), (-33.5, (2.0, 5.5), 0.75), (180, None, 1.0)):
        actual = ttnn.rotate(tensor(device, x, layout=RM), angle, center=center, fill=fill, interpolation_mode=mode)
        expected = ttnn.operations.pool.golden_rotate(x, angle, center=center, fill=fill, interpolation_mode=mode)
        assert_close(expected, actual, rtol=2e-3, atol=2e-3)


@covers("experimental.conv3d", "experimental.prepare_conv3d_weights")
def test_conv3d(device):
    torch.manual_seed(18)
    for ins, outs, kernel, stride, padding, dilation, groups, mode in (
        (32, 48, (3, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1, "zeros"),
        (64, 32, (3, 1, 2), (2, 1, 2), (1, 0, 1), (1, 1, 1), 4, "replicate"),
        (12, 33, (1, 3, 3), (1, 1, 1), (0, 2, 2), (1, 2, 2), 1, "zeros"),
    ):
        x = torch.randn(2, ins, 5, 8, 7)
        torch_conv = torch.nn.Conv3d(ins, outs, kernel, stride, padding, dilation, groups, padding_mode=mode)
        rows = F.pad(x.permute(0, 2, 3, 4, 1), (0, -ins % 32))
        options = dict(
            bias_tensor=bf16(device, torch_conv.bias.data.reshape(1, -1)), dtype=ttnn.bfloat16, output_channels=outs,
            kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, groups=groups, padding_mode=mode,
        )  # fmt: skip
        weight = ttnn.from_torch(torch_conv.weight.data, ttnn.bfloat16)
        with torch.no_grad():
            expected = torch_conv(x).permute(0, 2, 3, 4, 1)
        image = bf16(device, rows, layout=RM)
        given = ttnn.experimental.conv3d(input_tensor=image, weight_tensor=weight, device=device, **options)
        assert_close(expected, given, rtol=0.03, atol=0.03)
        weight = ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight, groups=groups, device=device)
        prepared = ttnn.experimental.conv3d(input_tensor=image, weight_tensor=weight, **options)
        assert torch.equal(ttnn.to_torch(given), ttnn.to_torch(prepared))


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


@covers("transformer.ring_joint_scaled_dot_product_attention", "transformer.ring_mla", "transformer.ring_distributed_scaled_dot_product_attention")
@pytest.mark.parametrize("mesh_device", [(1, 2)], indirect=True)
def test_rings(two_chips, mesh_device):
    """Attention of rows on two devices; of latent values, which are the first columns of the keys."""
    q, k, v = torch.randn(3, 1, 2, 128, 64).bfloat16().float()

    def put(x, cut=True):
        mapper = ttnn.ShardTensorToMesh(mesh_device, dim=2) if cut else ttnn.ReplicateTensorToMesh(mesh_device)
        return ttnn.from_torch(x, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh_device, mesh_mapper=mapper)

    def whole(x):
        return ttnn.to_torch(x, mesh_composer=ttnn.ConcatMeshToTensor(mesh_device, dim=2))

    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7), q_chunk_size=32, k_chunk_size=32)
    places = {"program_config": config, "dim": 2, "multi_device_global_semaphore": [], "num_links": 1, "cluster_axis": 1,
              "mesh_device": mesh_device, "topology": ttnn.Topology.Linear, "ccl_core_grid_offset": (0, 7), "logical_n": 128}  # fmt: skip
    buffers = {f"persistent_output_buffer_{name}": put(torch.zeros_like(k), False) for name in "kv"}
    for causal in (False, True):
        actual = ttnn.transformer.ring_joint_scaled_dot_product_attention(
            put(q), put(k), put(v), joint_strategy="rear", is_causal=causal, **buffers, **places
        )
        assert torch.allclose(F.scaled_dot_product_attention(q, k, v, is_causal=causal), whole(actual[0]).float(), rtol=0.02, atol=0.03)
    actual = whole(ttnn.transformer.ring_distributed_scaled_dot_product_attention(*(put(x, False) for x in (q, k, v)), 2))
    order = torch.cat([torch.arange(32 * i, 32 * i + 32) for i in (0, 3, 1, 2)])
    assert torch.allclose(F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, order], actual.float(), rtol=0.02, atol=0.03)
    gathered, one = put(torch.zeros(1, 1, 128, 64), False), k[:, :1]
    actual = ttnn.transformer.ring_mla(put(q), put(one), persistent_output_buffer_kv=gathered, head_dim_v=32, **places)
    both = one.expand(1, 2, 128, 64)
    expected = F.scaled_dot_product_attention(q, both, both[..., :32], is_causal=True)
    assert torch.allclose(expected, whole(actual[0]).float(), rtol=0.02, atol=0.03)


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
    ttnn.point_to_point(t, ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(0, 1), output_tensor=t)
    assert all(torch.equal(part, e) for part, e in zip(parts(t), x.chunk(2)))
    given = ttnn.from_torch(torch.zeros_like(x), layout=ttnn.TILE_LAYOUT, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))
    ttnn.point_to_point(t, ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1), output_tensor=given)
    assert not parts(given)[0].any() and torch.equal(parts(given)[1], x[:1])
    assert given.tensor_topology() == t.tensor_topology()
    with pytest.raises(RuntimeError, match="does not match computed output spec"):
        ttnn.point_to_point(t, ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1), output_tensor=same)
    ttnn.point_to_point(t, ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1), output_tensor=t)
    assert all(torch.equal(part, x[:1]) for part in parts(t))


@covers("experimental.all_gather_async_reversed", "experimental.all_reduce_async", "experimental.all_to_all_async_generic",
        "experimental.all_to_all_async", "experimental.slice_reshard_async", "experimental.neighbor_pad_async",
        "experimental.reduce_scatter_minimal_async_create_intermediate_buffer")  # fmt: skip
@pytest.mark.parametrize("mesh_device", [(1, 2)], indirect=True)
def test_collectives_with_semaphores(two_chips, mesh_device):
    line, x = mesh_device, torch.randn(2, 4, 64, 128).bfloat16()
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6))})
    semaphores = [ttnn.create_global_semaphore(line, cores, 0) for _ in range(3)]
    many = ttnn.experimental

    def spread(layout=ttnn.TILE_LAYOUT):
        return ttnn.from_torch(x, layout=layout, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))

    def check(tensor, expected, operation=None, *args, **kwargs):
        for part, own in zip(ttnn.get_device_tensors(tensor.cpu()), expected, strict=True):
            assert torch.allclose(ttnn.to_torch(part).float(), own.float(), rtol=0.02, atol=0.05)
        if operation:
            truth = first(ttnn.get_golden_function(operation)(*args, **kwargs))[0]
            assert torch.allclose(truth, expected[0].float(), rtol=0.02, atol=0.05)

    t, total = spread(), x.float().sum(0, keepdim=True)
    back = [x.flip(0)] * 2
    check(many.all_gather_async_reversed(t, 0, semaphores[:2]), back, many.all_gather_async_reversed, t, 0, semaphores[:2])
    given = dict(cluster_axis=1, mesh_device=line, math_op=ttnn.ReduceType.Sum)
    check(many.all_reduce_async(t, **given), [total] * 2)
    given.update(barrier_semaphores=semaphores[:2], rs_global_semaphores=semaphores, ag_global_semaphores=semaphores[:2])
    check(many.all_reduce_async(t, **given), [total] * 2, many.all_reduce_async, t, **given)
    heads = [torch.cat([x[i : i + 1].chunk(2, 1)[k] for i in range(2)], 2) for k in range(2)]
    check(many.all_to_all_async_generic(t, 2, 1), heads, many.all_to_all_async_generic, t, 2, 1)
    wide = [torch.cat([x[i : i + 1].chunk(2, 2)[k] for i in range(2)], 3) for k in range(2)]
    buffers = [ttnn.zeros([1, 4, 32, 256], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=line) for _ in range(2)]
    check(many.all_to_all_async(t, *buffers, 3, 2, semaphores[0]), wide)
    check(buffers[1], wide)
    with pytest.raises(RuntimeError, match="in_dim and out_dim must be different, but are both 3"):
        many.all_to_all_async(t, *buffers, 3, 3, semaphores[0])
    with pytest.raises(RuntimeError, match="only applies to the contiguous fast path"):
        many.reduce_scatter_minimal_async_create_intermediate_buffer(t, 3)

    x = torch.randn(6, 5, 8, 16).bfloat16()
    rows = spread(ttnn.ROW_MAJOR_LAYOUT)
    cut = (rows, 0, 1, 4, 1, semaphores[0], semaphores[1])
    check(many.slice_reshard_async(*cut), x[1:5].chunk(2), many.slice_reshard_async, *cut)
    for mode in ("zeros", "replicate"):
        edges = [torch.zeros_like(x[:2]), torch.zeros_like(x[:1])] if mode == "zeros" else [x[:1], x[:1], x[5:]]
        padded = torch.cat(edges[:-1] + [x] + edges[-1:])
        pad = (rows, [0], [2], [1], mode, [1], semaphores[:1], semaphores[:1])
        check(many.neighbor_pad_async(*pad), [padded[:6], padded[3:]], many.neighbor_pad_async, *pad)
    own = torch.nn.functional.pad(x[:3], (0, 0, 1, 1))
    both = [torch.cat([a, b, c]) for a, b, c in ((torch.zeros_like(own[:1]), own, torch.nn.functional.pad(x[3:4], (0, 0, 1, 1))),
            (torch.nn.functional.pad(x[2:3], (0, 0, 1, 1)), torch.nn.functional.pad(x[3:], (0, 0, 1, 1)), torch.zeros_like(own[:1])))]  # fmt: skip
    pad = (rows, [0, 2], [1, 1], [1, 1], "zeros", [1, 0], semaphores[:2], semaphores[:1])
    check(many.neighbor_pad_async(*pad), both, many.neighbor_pad_async, *pad)
    masked = both[0].clone()
    masked[2:4] = 0
    check(many.neighbor_pad_async(*pad, logical_h=1), [masked, torch.cat([both[1][:1], both[1][1:4] * 0, both[1][4:]])], many.neighbor_pad_async, *pad, logical_h=1)


def first(tensors):
    """What a golden says of the first device."""
    return [torch.as_tensor(t).float() for t in (tensors if isinstance(tensors, (list, tuple)) else [tensors])]


@covers("all_broadcast", "reduce_to_root")
@pytest.mark.parametrize("mesh_device", [(1, 2)], indirect=True)
def test_states_and_copies(two_chips, mesh_device):
    torch.manual_seed(7)
    line = mesh_device
    for shape, layout in (((1, 1, 32, 128), ttnn.TILE_LAYOUT), ((3, 40, 16), ttnn.ROW_MAJOR_LAYOUT), ((2, 5, 33, 70), ttnn.TILE_LAYOUT), ((7, 9), ttnn.ROW_MAJOR_LAYOUT)):
        x = torch.randn(2, *shape).bfloat16()
        t = ttnn.from_torch(x.flatten(0, 1), layout=layout, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))
        for axis in (None, 1):
            copies = ttnn.all_broadcast(t, cluster_axis=axis)
            golden = first(ttnn.get_golden_function(ttnn.all_broadcast)(t, cluster_axis=axis))
            for copy, own, truth in zip(copies, x, golden, strict=True):
                assert all(torch.equal(ttnn.to_torch(part), own) for part in ttnn.get_device_tensors(copy.cpu()))
                assert torch.equal(truth, own.float())

    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 0))})

    def state(x, width):
        spec = ttnn.ShardSpec(grid, [8, width], ttnn.ShardOrientation.ROW_MAJOR)
        config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1, spec)
        return ttnn.from_torch(x.bfloat16(), layout=ttnn.TILE_LAYOUT, tile=ttnn.Tile((8, 32)), device=line, memory_config=config, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))

    for scale in (1.0, 0.5, 2.0):
        l, s, m = torch.randn(2, 8, 4, 128), 1 + torch.rand(2, 8, 4, 32), torch.randn(2, 8, 4, 32)
        l, s, m = (t.bfloat16().float() for t in (l, s, m))
        weights = torch.exp((m - m.amax(0)) * scale)
        sums = (s * weights).sum(0)
        values = (l * weights[..., :1]).sum(0) / sums[..., :1]
        given = [state(t.flatten(2), w) for t, w in ((l, 128), (s, 32), (m, 32))]
        actual = ttnn.reduce_to_root(*given, ttnn.MeshCoordinate(0, 0), scale_fp32=scale)
        golden = first(ttnn.get_golden_function(ttnn.reduce_to_root)(*given, ttnn.MeshCoordinate(0, 0), scale_fp32=scale))
        for ours, truth, expected in zip(actual, golden, (values, sums, m.amax(0)), strict=True):
            part = ttnn.to_torch(ttnn.get_device_tensors(ours.cpu())[0]).float()
            assert torch.allclose(part.reshape(8, -1), expected.flatten(1), rtol=0.02, atol=0.02)
            assert torch.allclose(truth.reshape(8, -1), expected.flatten(1), rtol=1e-3, atol=1e-4)


@covers("all_to_all_dispatch", "all_to_all_combine")
@pytest.mark.parametrize("mesh_device", [(1, 2)], indirect=True)
@pytest.mark.parametrize("batch,seq,k,width,experts", [(2, 3, 2, 32, 4), (1, 1, 1, 16, 2), (4, 2, 3, 48, 8), (3, 5, 4, 64, 6), (2, 8, 2, 32, 2)])
@pytest.mark.parametrize("dim", [1, 2])
def test_experts_on_devices(two_chips, mesh_device, batch, seq, k, width, experts, dim):
    torch.manual_seed(batch + seq + k)
    line = mesh_device

    def spread(x, dtype=ttnn.bfloat16):
        return ttnn.from_torch(x, dtype=dtype, device=line, mesh_mapper=ttnn.ShardTensorToMesh(line, dim=0))

    def same(x):
        return ttnn.from_torch(x, dtype=ttnn.uint16, device=line, mesh_mapper=ttnn.ReplicateTensorToMesh(line))

    def parts(tensor):
        return [ttnn.to_torch(part) for part in ttnn.get_device_tensors(tensor.cpu())]

    tokens = torch.randn(2, batch, 1, seq, width).bfloat16()
    choices = torch.randint(0, experts, (2, batch, 1, seq, k), dtype=torch.int16)
    mapping = torch.zeros(1, 1, experts, 2, dtype=torch.int16)
    mapping[0, 0, torch.arange(experts), torch.arange(experts) % 2] = 1
    args = (spread(tokens.flatten(0, 1)), spread(choices.flatten(0, 1), ttnn.uint16), same(mapping))
    out, metadata = ttnn.all_to_all_dispatch(*args, cluster_axis=1, output_concat_dim=dim)
    joined = torch.cat([t[:, 0] for t in tokens], dim - 1)
    chosen = torch.cat([t[:, 0] for t in choices], dim - 1)
    golden = first(ttnn.get_golden_function(ttnn.all_to_all_dispatch)(*args, cluster_axis=1, output_concat_dim=dim))
    for chip, (row, ids) in enumerate(zip(parts(out), parts(metadata), strict=True)):
        here = (chosen % 2 == chip).any(-1)
        assert torch.equal(ids[0].short(), chosen) and torch.equal(row[0][here], joined[here])
        if chip == 0:
            assert torch.equal(golden[0][0], joined.float() * here[..., None]) and torch.equal(golden[1][0], chosen.float())

    made = torch.randn(experts, *joined.shape[:2], width).bfloat16()
    made_of = torch.stack([made[e::2] for e in range(2)])  # the experts of each device
    ids = chosen[None].repeat(2, 1, 1, 1)
    args = (spread(made_of.flatten(0, 1)), spread(ids, ttnn.uint16), same(mapping))
    back = ttnn.all_to_all_combine(*args, cluster_axis=1, output_shard_dim=dim)
    golden = first(ttnn.get_golden_function(ttnn.all_to_all_combine)(*args, cluster_axis=1, output_shard_dim=dim))
    b, t = torch.meshgrid(*(torch.arange(n) for n in chosen.shape[:2]), indexing="ij")
    expected = torch.stack([made[chosen[..., i].long(), b, t] for i in range(k)]).chunk(2, dim)
    for part, own in zip(parts(back), expected, strict=True):
        assert torch.equal(part, own)
    assert torch.equal(golden[0], expected[0].float())


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


@covers("experimental.broadcast_to", "experimental.slice_write")
def test_into_larger_tensors(device):
    exact = {"rtol": 0, "atol": 0}
    for shape, wide in (((2, 1, 1, 50), (2, 3, 40, 50)), ((1, 3, 40, 1), (2, 3, 40, 70)), ((1,), (5, 6))):
        x = torch.randn(shape).bfloat16().float()
        assert_close(x.broadcast_to(wide), ttnn.experimental.broadcast_to(bf16(device, x), wide), **exact)
    for layout in (RM, ttnn.TILE_LAYOUT):
        old, new = torch.randn(2, 3, 40, 50).bfloat16().float(), torch.randn(1, 3, 10, 20).bfloat16().float()
        out = bf16(device, old, layout=layout)
        ttnn.experimental.slice_write(bf16(device, new, layout=layout), out, [1, 0, 5, 8], [2, 3, 25, 28], [1, 1, 2, 1])
        old[1:2, :, 5:25:2, 8:28] = new
        assert_close(old, out, **exact)


@covers("experimental.intimg", "experimental.isin", "experimental.attn_matmul", "transformer.joint_scaled_dot_product_attention")
def test_newer_operations(device):
    x = torch.randint(-4, 5, (1, 12, 40, 64)).float()
    assert_close(x.cumsum(1).cumsum(2), ttnn.experimental.intimg(bf16(device, x)), rtol=0.02, atol=2)
    elements, among = torch.randint(0, 50, (4, 64), dtype=torch.int32), torch.randint(0, 50, (20,), dtype=torch.int32)
    given = (tensor(device, t, ttnn.int32, layout=RM) for t in (elements, among))
    found = ttnn.to_torch(ttnn.experimental.isin(*given))
    assert torch.equal(found != 0, torch.isin(elements, among))
    a, b = torch.randn(1, 4, 32, 64).bfloat16().float(), torch.randn(32, 1, 64, 96).bfloat16().float()
    actual = ttnn.experimental.attn_matmul(bf16(device, a), bf16(device, b), compute_with_storage_grid_size=ttnn.CoreCoord(8, 8))
    assert_close((a.permute(2, 1, 0, 3) @ b).permute(2, 1, 0, 3), actual, rtol=0.02, atol=0.2)
    q, k, v, *joint = (torch.randn(1, 2, rows, 64).bfloat16().float() for rows in (64, 64, 64, 32, 32, 32))
    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32)
    ours = [bf16(device, t) for t in (q, k, v, *joint)]
    actual = ttnn.transformer.joint_scaled_dot_product_attention(*ours, joint_strategy="rear", program_config=config)
    whole = F.scaled_dot_product_attention(*(torch.cat(pair, 2) for pair in zip((q, k, v), joint)))
    assert_all_close([whole[:, :, :64], whole[:, :, 64:]], actual, rtol=0.02, atol=0.03)


@covers("experimental.deepseek_moe_fast_reduce_nc", "experimental.deepseek_moe_fast_reduce_nc_fused")
def test_sums_of_experts(device):
    given = torch.randn(6, 1, 20, 128).bfloat16().float()
    parts = ttnn.experimental.deepseek_moe_fast_reduce_nc(bf16(device, given), 0, split_size=64)
    assert_all_close(given.sum(0, keepdim=True).split(64, -1), parts, rtol=0.02, atol=0.05)
    scores, choices = torch.rand(20, 1, 1, 4).bfloat16().float(), torch.randint(0, 8, (20, 1, 1, 4), dtype=torch.int16)
    owners = torch.tensor([[0, 1, 0, 2, 0, 0, 3, 0]], dtype=torch.int16)  # a mesh of one row: what others own is not there
    factors = (scores * (owners[0][choices.long()] == 0)).permute(3, 1, 0, 2)
    expected = (given * torch.cat([factors, torch.full((2, 1, 20, 1), 0.5)])).sum(0, keepdim=True)
    parts = ttnn.experimental.deepseek_moe_fast_reduce_nc_fused(
        bf16(device, given), *(tensor(device, t, ttnn.uint16, layout=RM) for t in (choices, owners)), 0, split_size=32,
        cluster_axis=1, scores_tensor=bf16(device, scores, layout=RM), num_shared_experts=2, shared_expert_scale=0.5,
    )
    assert_all_close(expected.split(32, -1), parts, rtol=0.02, atol=0.05)


@covers("experimental.nlp_create_qkv_heads_boltz", "experimental.indexed_fused_update_cache", "experimental.halo_scatter")
def test_heads_rows_and_rims(device):
    torch.manual_seed(5)
    pairs = torch.randn(1, 32, 32, 3 * 2 * 64)
    q, k, v = (part.reshape(32, 32, 2, 64).permute(2, 0, 1, 3) for part in pairs[0].split(128, -1))
    actual = ttnn.experimental.nlp_create_qkv_heads_boltz(tensor(device, pairs), num_heads=2)
    assert_all_close([q, k.permute(0, 3, 1, 2), v], actual, atol=1e-6)
    caches, rows = torch.randn(2, 3, 2, 32, 64).bfloat16(), torch.randn(2, 1, 2, 4, 64).bfloat16()
    places = torch.tensor([[70, -1, 5, 500]], dtype=torch.int32)
    ours = [bf16(device, t.float()) for pair in zip(caches, rows) for t in pair]
    actual = ttnn.experimental.indexed_fused_update_cache(*ours, tensor(device, places, ttnn.int32, layout=RM))
    for cache, source in zip(caches, rows):
        cache[2, :, 6], cache[0, :, 5] = source[0, :, 0], source[0, :, 2]
    assert_all_close([cache.float() for cache in caches], list(actual), atol=1e-6)
    whole = torch.randn(1, 2, 6, 7, 16).bfloat16().float()
    inside, sides = whole[:, :, 1:-1, 1:-1], (whole[:, :, :, :1], whole[:, :, :, -1:])
    rim = [whole[:, :, :1, 1:-1], whole[:, :, -1:, 1:-1], *sides]
    compact = bf16(device, torch.cat([part.reshape(-1, 16) for part in rim]), layout=RM)
    assert_close(whole, ttnn.experimental.halo_scatter(compact, bf16(device, inside, layout=RM), 1, 1), atol=1e-6)


@covers("experimental.kda.sigmoid_gated_rms_norm", "experimental.kda.qkv_causal_conv1d_silu", "experimental.kda.reduce_affine_transforms")
def test_delta_attention_of_kimi(device):
    torch.manual_seed(6)
    x, gate, weight = torch.randn(4, 64, 64), torch.randn(1, 64, 256).bfloat16().float(), torch.randn(64).bfloat16().float()
    actual = ttnn.experimental.kda.sigmoid_gated_rms_norm(tensor(device, x), bf16(device, gate), bf16(device, weight), 4)
    normed = F.rms_norm(x, (64,), weight, 1e-5).permute(1, 0, 2).reshape(1, 64, 256)
    assert_close(normed * torch.sigmoid(gate), actual)
    rows, history = (torch.randn(1, n, 96).bfloat16().float() for n in (64, 3))
    taps = [torch.randn(96).bfloat16().float() for _ in range(4)]
    start = tensor(device, torch.zeros(1, dtype=torch.int32), ttnn.uint32, layout=RM)
    config = ttnn.QkvCausalConv1dSiluProgramConfig(channel_chunk_size=32)
    before = bf16(device, history, layout=RM)
    actual = ttnn.experimental.kda.qkv_causal_conv1d_silu(
        bf16(device, rows), before, *(bf16(device, tap) for tap in taps), 32, 32, 32,
        program_config=config, actual_start=start, predecessor_carry=before,
    )  # fmt: skip
    line = torch.cat([history, rows], 1).transpose(1, 2)
    expected = F.silu(F.conv1d(line, torch.stack(taps, -1)[:, None], groups=96)).transpose(1, 2)
    assert_all_close(list(expected.split(32, -1)), list(actual), rtol=2e-2, atol=2e-2)
    a, b = 0.1 * torch.randn(6, 32, 32), torch.randn(6, 32, 64)
    whole, sums = torch.eye(32).repeat(2, 1, 1), torch.zeros(2, 32, 64)
    for group in range(3):
        whole, sums = a[group::3] @ whole, a[group::3] @ sums + b[group::3]
    given = (tensor(device, a), tensor(device, b), 3)
    actual = ttnn.experimental.kda.reduce_affine_transforms(*given, actual_start=start, local_rows=96)
    assert_all_close([whole, sums], list(actual), atol=1e-4)


# ---- all of them --------------------------------------------------------------------------------------------------

# torch has nothing like it: formulas of upstream's own, preparation for its programs, what only Blackhole has.
WITHOUT_TORCH = {
    "alt_complex_rotate90", "clamped_silu_glu", "fill_implicit_tile_padding", "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights", "situ_glu", "snake_beta", "softcap", "xielu",
    "dram_prefetcher",  # what it gives says nothing (tests/ops/test_prefetch.c)
    # Gates and sums of experts, parts of norms across devices, layouts of heads and shards: their goldens are in tests/ops.
    "experimental.attn_matmul_from_cache", "experimental.group_attn_matmul", "experimental.matmul_decode", "moe_routing_remap",
    "experimental.concatenate_heads", "experimental.create_qkv_heads_from_separate_tensors", "experimental.padded_slice",
    "experimental.deepseek_grouped_gate", "experimental.topk_large_indices",
    "experimental.dit_layernorm_post_allgather", "experimental.dit_layernorm_pre_allgather", "experimental.rgb_to_yuv",
    "experimental.wan_fused_rmsnorm_post_allgather", "experimental.wan_fused_rmsnorm_pre_allgather", "prepare_grid_sample_grid",
    "experimental.multi_scale_deformable_attn", "interleaved_to_sharded_partial", "sharded_to_interleaved_partial",
    # Experts chosen and multiplied with on each core, and their weights (tests/ops/test_mixture.c, test_expert_weights.py).
    "experimental.add_shared_expert_weights", "experimental.deepseek.mla.matmul_wo", "experimental.deepseek.moe.deepseek_moe_gate",
    "experimental.deepseek.moe.generalized_moe_gate", "experimental.deepseek.moe.moe_gate_mm", "experimental.topk_router_gpt",
    "experimental.deepseek_moe_post_combine_tilize", "experimental.fast_reduce_nc_split", "experimental.quantize_weights_via_host", *(f"experimental.prepare_{name}" for name in (
        "w0_w1_tensor_for_moe_compute", "w0_w1_tensor_with_bias", "w2_tensor_for_moe_compute", "w2_tensor_with_bias",
    )),
    # Heads, rows and caches in other layouts, recurrences, scores of keys (tests/ops/test_transformer.c, test_delta.c, test_indexer.c, test_kda.c).
    *(f"experimental.{name}" for name in (
        "complex_mul", "indexer_score_dsa", "indexer_score_msa", "nlp_concat_heads_boltz", "nlp_create_q_heads_split",
        "nlp_kv_cache_load_slice", "transpose_rm", "kda.affine_exclusive_scan", "kda.chain_affine_transforms",
    )),
    *(f"transformer.{name}" for name in ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule", "gated_delta_attn_seq")),
    # What chips do together (tests/ops/test_fused.c, test_collective.c, test_halo.c, test_llama.c, test_llama_matmul.c, test_moe_gpt.c, test_moe_mesh.c, test_ring_attention.c, test_strided.c).
    "fused_rms_minimal", "moe_expert_token_remap", "transformer.exp_ring_joint_scaled_dot_product_attention", *(f"experimental.{name}" for name in (
        "all_gather_concat", "all_reduce_create_qkv_heads", "high_bw_all_gather", "minimal_matmul_strided_reduce_scatter_async",
        "neighbor_pad_halo", "ring_indexer_score_dsa", "strided_all_gather_async", "strided_reduce_scatter_async",
        "all_gather_matmul_async", "all_gather_minimal_matmul_async", "dit_fused_distributed_layernorm",
        "dit_fused_distributed_layernorm_create_stats_buffer", "dit_fused_distributed_rmsnorm",
        "dit_fused_distributed_rmsnorm_create_stats_buffer", "llama_reduce_scatter", "llama_rs_create_heads", "llama_rs_matmul", "llama_all_gather_matmul_async",
        "ring_attention_all_gather_async",
        "matmul_reduce_scatter_async", "reduce_scatter_minimal_direct", "reduce_scatter_minimal_direct_create_persistent_buffers",
        "reduce_scatter_minimal_direct_create_staging_buffer", "strided_all_gather_minimal_matmul_async",
        "all_to_all_dispatch_metadata", "deepseek_moe_reduce_scatter", "moe_compute", "moe_gpt", "selective_reduce_combine", "ring_attention_all_gather_async",
    )),
    # Parts of a prefill whose chips share rows and experts (tests/ops/test_prefill.c, test_dispatch.c).
    *(f"experimental.deepseek_prefill.{name}" for name in (
        "attn_res_weighted_reduce_nc", "combine", "dispatch", "extract", "insert", "masked_bincount", "moe_padding_config",
        "offset_cumsum", "pack_scaled_fp8_kv_cache", "per_token_cast_back", "per_token_cast_to_fp8", "post_combine_reduce",
        "rotary_embedding_indexed", "unified_routed_expert_moe", "update_padded_kv_cache", "zero_padded_kv_cache",
    )),
}  # fmt: skip


def test_every_operation_is_here():
    names = {operation.name for operation in OURS.values()}
    missing = names - COVERED - {f"ttnn.{name}" for name in WITHOUT_TORCH}
    assert not missing, sorted(missing)
