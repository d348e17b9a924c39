"""Golden functions are given anything: what does not fit together is an error, and never the end of the process."""

import math
import os
import signal
import threading
import time

import pytest
import ttnn

torch = pytest.importorskip("torch")


def t(*shape):
    return torch.ones(shape)


BAD = {
    "cumsum": [(t(2, 3), 9)],
    "cumprod": [(t(1, 1, 4, 8), 4)],
    "transpose": [(t(3, 4), 100, 2)],
    "permute": [(t(1, 1, 4, 8), [2**31, 3]), (t(2, 3), [0])],
    "concat": [([t(1), t(2, 3, 4)], 2**31 - 1), ([t(1), t(2, 3, 4)], 0), ([t(2, 3), t(3, 3)], 1)],
    "stack": [([t()], 100), ([t(2), t(3)], 0)],
    "sort": [(t(3, 4), 2**31), (t(),)],
    "topk": [(t(2, 3, 4), 2, 9)],
    "scatter": [(t(1), -100, t(1, 1), t(1))],
    "gather": [(t(2, 2), 5, t(2, 2).int())],
    "roll": [(t(2, 4), [1], [4])],
    "slice": [(t(4, 4), [0, 0], [4, 4], [0, 1]), (t(4, 4), [0], [4])],
    "expand": [(t(2, 3), [3]), (t(1, 3), [-7, 3])],
    "repeat": [(t(2, 3), [-1, 2])],
    "repeat_bw": [(t(1, 1, 32, 1), t(1, 1, 1, 0), [1, 1, 1, 1])],
    "dram_prefetcher": [([], 64)],
    "fold": [(t(1, 4, 4, 8), 0, 1), (t(4, 8), 1, 1)],
    "global_avg_pool2d": [(t(),), (t(1, 2, 3, 4, 5),)],
    "batch_norm": [(t(4),)],
    "glu": [(t(),), (t(2, 3),)],
    "softmax": [(t(2, 3), 7)],
    "experimental.nlp_create_qkv_heads": [(t(1, 1, 32, 96), None, 0)],
    "experimental.convert_to_chw": [(t(3, 4),)],
    "experimental.hc_sum_reduce": [(t(3, 4),)],
    "experimental.rotary_embedding": [(t(3, 4), t(1, 1, 4, 4), t(1, 1, 4, 4)), (t(1, 1, 32, 64), t(1, 1, 8, 64), t(1, 1, 8, 64))],
    "transformer.attention_softmax": [(t(2, 3, 32, 32), t(), 4)],
    "transformer.scaled_dot_product_attention": [(t(1, 8, 32, 32), t(1, 3, 32, 32), t(1, 3, 32, 32)), (t(8, 32), t(8, 32), t(8, 32))],
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_refused(name):
    operation = ttnn
    for part in name.split("."):
        operation = getattr(operation, part)
    for args in BAD[name]:
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            ttnn.get_golden_function(operation)(*args)


def i(*shape):
    return torch.zeros(shape, dtype=torch.int32)


POOL = dict(batch_size=1, input_h=4, input_w=4, channels=16, kernel_size=[2, 2], stride=[1, 1], padding=[0, 0])
GROUPS = dict(num_groups=64, are_required_outputs=[False, True, True], gamma=t(1, 1, 1, 2), gamma_grad=t(1, 1, 1, 2), beta_grad=t(1, 1, 1, 2))
# What once ended the process: places that are not there, divisors of zero, tensors that were not given.
ENDED = [
    ("bcast", (t(5), t(32, 1, 1, 64), ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.HW), {}),
    ("repeat_bw", (t(1, 1, 1, 64), t(1, 1, 32, 0)), {"shape": [1, 1, 1, 1]}),
    ("max_pool2d", (t(1, 1, 16, 16),), {**POOL, "stride": ttnn.Shape([1, 0])}),
    ("max_pool2d", (t(1, 1, 16, 16),), {**POOL, "kernel_size": [128, 2**31, 8]}),
    ("avg_pool2d", (t(1, 1, 16, 16),), {**POOL, "stride": ttnn.Shape([0])}),
    ("moreh_group_norm_backward", (t(2, 2, 2, 2), t(2, 2, 2, 2), t(1, 1, 1, 2), t(1, 1, 1, 2)), GROUPS),
    ("scatter_add", (t(1, 5, 1, 64), -4, i(5), t(1, 1, 32, 64)), {}),
    ("moreh_dot_backward", (t(2, 2, 2, 2), t(1), t(1, 2, 3, 4, 5)), {"input_grad": t(1), "other_grad": t(1)}),
    ("moreh_matmul_backward", (t(32, 32), t(32, 32), t(32, 32)), {"input_a_grad": t(32, 32, 1, 1)}),
    ("experimental.paged_update_cache", (t(1, 1, 1, 1, 1, 32, 32), t(1, 1, 1, 32)), {"update_idxs": [0]}),
    ("fill_cache", (t(1, 1, 32, 32), t(1, 1, 64, 32), 9999), {}),
    ("experimental.kda.chain_affine_transforms", (t(2, 3, 32, 32), t()), {"actual_start": t(5)}),
    ("transformer.gated_delta_attn_seq", (t(1, 8, 32, 64),) * 3 + (t(64), t(1, 8, 32, 64), t(1, 8, 32, 64), t(64, 64), t(1, 8, 32, 64)), {}),
    ("narrow", (t(4, 4), 9, 0, 1), {}),
    ("narrow", (t(4, 4), 0, 2**31, 1), {}),
    ("dram_prefetcher", ([], 1), {}),
    ("experimental.nlp_create_qkv_heads_decode", (t(3, 4),), {"num_heads": 2**31}),
    ("experimental.rotary_embedding_llama", (t(3, 4), t(4), t(4), t(4)), {}),
    ("transformer.chunked_scaled_dot_product_attention", (t(1, 1, 32, 32), t(1, 1, 32, 32), t(1, 1, 32, 32), i(1, 1)), {"chunk_start_idx": 2**63 - 1}),
]


@pytest.mark.parametrize("name,args,kwargs", ENDED)
def test_what_once_ended_the_process_is_refused(name, args, kwargs):
    operation = ttnn
    for part in name.split("."):
        operation = getattr(operation, part)
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        ttnn.get_golden_function(operation)(*args, **kwargs)


def test_starts_in_a_tensor_of_which_nothing_is_known(device):
    """What a dry run would read of tensors is not asked for before their values are there."""
    x, starts, ends = (ttnn.from_torch(value, dtype=dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=device) for value, dtype in ((t(8), ttnn.bfloat16), (i(1) + 2, ttnn.int32), (i(1) + 6, ttnn.int32)))
    assert ttnn.to_torch(ttnn.get_golden_function(ttnn.slice)(x, starts, ends)).tolist() == [1] * 4


def test_convolutions_that_divide_by_nothing():
    golden = ttnn.get_golden_function(ttnn.conv2d)
    usual = dict(in_channels=4, out_channels=8, batch_size=1, input_height=4, input_width=4, kernel_size=(3, 3), device=None)
    given = dict(input_tensor=t(1, 1, 16, 4), weight_tensor=t(8, 4, 3, 3))
    for wrong in ({"groups": 0}, {"groups": 100}, {"stride": (0, 1)}, {"dilation": (1, 0)}, {"kernel_size": (2**31, 2**31)}, {"batch_size": 2**31}):
        with pytest.raises((RuntimeError, TypeError)):
            golden(**given, **{**usual, **wrong})


def test_polygamma_far_below_zero():
    """Term after term: a step of one is none there."""
    golden = ttnn.get_golden_function(ttnn.polygamma)
    found = golden(torch.tensor([[-1e30, -5000.5, -3.0, 2.5]], dtype=torch.float32), 1).flatten().tolist()
    truth = math.pi**2 - sum(1 / (5000.5 + 1 + i) ** 2 for i in range(2000000)) - 1 / 2005001.5  # by reflection: psi1(1 - x) + psi1(x) is pi squared
    assert found[0] == found[2] == math.inf and found[1] == pytest.approx(truth, rel=1e-6)
    assert found[3] == pytest.approx(math.pi**2 / 2 - 4 - 4 / 9, rel=1e-6)


def test_the_reason_is_told():
    with pytest.raises(RuntimeError, match="dim is 9, and can be from -2 to 1"):
        ttnn.get_golden_function(ttnn.cumsum)(t(2, 3), dim=9)
    with pytest.raises(RuntimeError, match="do not fit together"):
        ttnn.get_golden_function(ttnn.scatter)(t(4, 4), 1, torch.full((4, 4), 9, dtype=torch.int32), t(4, 4))


def test_what_fits_is_answered():
    assert ttnn.get_golden_function(ttnn.concat)([t(2, 3), t(2, 1)], -1).shape == (2, 4)
    assert ttnn.get_golden_function(ttnn.stack)([t(2), t(2)], -1).shape == (2, 2)
    assert ttnn.get_golden_function(ttnn.expand)(t(1, 3), [4, -1]).shape == (4, 3)
    assert ttnn.get_golden_function(ttnn.roll)(torch.arange(6.0).reshape(2, 3), [1], [-1])[0].tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "a,b,marks,indices",
    [
        ((1, 1, 512, 32), (1, 4, 32, 512), 8, None),
        ((32, 32), (32, 32), 1, 1),
        ((1,) * 16 + (32, 32), (1,) * 16 + (32, 32), 1, None),
        ((1, 32, 32), (0, 32, 32), 1, None),
        ((32,), (2, 32, 32), 2, None),
        ((), (2, 32, 32), 2, None),
        ((1, 32, 64), (2, 32, 32), 2, None),
    ],
)
def test_sparse_products(a, b, marks, indices):
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(1, 1), in0_block_w=1, out_subblock_h=1, out_subblock_w=1,
        out_block_h=1, out_block_w=1, per_core_M=1, per_core_N=1, fuse_batch=False, fused_activation=None, mcast_in0=True,
    )  # fmt: skip
    more = {"indices": torch.zeros(indices, dtype=torch.int32)} if indices else {}
    with pytest.raises((RuntimeError, ValueError)):
        ttnn.get_golden_function(ttnn.sparse_matmul)(t(*a), t(*b), sparsity=t(1, 1, 1, marks), program_config=config, **more)


def test_blocks_of_other_sizes():
    with pytest.raises(RuntimeError, match="do not fit together"):
        ttnn.get_golden_function(ttnn.experimental.paged_fill_cache)(t(4, 1, 64, 16), t(1, 1, 32, 32), torch.zeros(1, 4, dtype=torch.int32), batch_idx=0, block_size=32)


def test_experts_with_great_values():
    golden = ttnn.get_golden_function(ttnn.moe)
    assert golden(1000 * t(1, 1, 1, 64), t(1, 1, 1, 64), t(1, 1, 1, 32), 32).flatten().tolist() == pytest.approx([1 / 32])
    with pytest.raises(RuntimeError, match="must be 4D, got"):
        golden(t(), t(1, 1, 1, 64), t(1, 1, 1, 32), 32)


def test_chips_are_spread_along_one_or_two(device):
    x, indices = (ttnn.full([1, 1, 1, 32], fill_value=0, dtype=dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=device) for dtype in (ttnn.bfloat16, ttnn.uint16))
    for dim in (100000, -1, 0, 3):
        with pytest.raises(RuntimeError, match="Output concat dimension must be 1 or 2"):
            ttnn.get_golden_function(ttnn.all_to_all_dispatch)(x, indices, indices, output_concat_dim=dim)
        with pytest.raises(RuntimeError, match="output_shard_dim"):
            ttnn.get_golden_function(ttnn.all_to_all_combine)(x, indices, indices, cluster_axis=1, output_shard_dim=dim)


def test_states_without_a_value_for_each_sum(device):
    def state(width):
        spec = ttnn.ShardSpec(ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))}), [32, width], ttnn.ShardOrientation.ROW_MAJOR)
        config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1, spec)
        return ttnn.from_torch(t(32, width).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)

    with pytest.raises(RuntimeError, match="a value for each sum"):
        ttnn.get_golden_function(ttnn.reduce_to_root)(state(32), state(64), state(64), ttnn.MeshCoordinate(0, 0))


def test_gradients_as_torch_has_them(torch):
    """Arguments without a name, rounded quotients, ends of float32, conditions, complex numbers, losses by name."""
    g, a, b = (torch.tensor([[1.0, -2.0, 3.0]]), torch.tensor([[8.0, 9.0, -7.0]]), torch.tensor([[2.0, -4.0, 5.0]]))
    golden = ttnn.get_golden_function
    assert golden(ttnn.div_bw)(g, a, b, "floor")[1].tolist() == [[0, 0, 0]]
    assert golden(ttnn.div_bw)(g, a, b, None)[0].flatten().tolist() == pytest.approx((g / b).flatten().tolist())
    assert golden(ttnn.celu_bw)(g, -a, 2.0)[0].flatten().tolist() == pytest.approx((g * torch.where(-a > 0, 1.0, torch.exp(-a / 2))).flatten().tolist(), rel=1e-5)
    assert golden(ttnn.cosh_bw)(g, 90 * torch.ones(1, 3))[0].tolist() == [[math.inf, -math.inf, math.inf]]
    assert golden(ttnn.logit_bw)(g, torch.tensor([[2.0, 0.5, 0.0]]))[0].flatten().tolist() == pytest.approx([math.nan, -8, math.inf], nan_ok=True)
    assert golden(ttnn.where_bw)(g / 4, torch.tensor([[True, False, True]]), a, b)[0].tolist() == [[0.25, 0, 0.75]]
    assert golden(ttnn.conj)(torch.complex(a, b)).tolist() == torch.complex(a, -b).tolist()
    assert golden(ttnn.mse_loss)(a, b, reduction="sum").item() == pytest.approx(((a - b) ** 2).sum().item())
    assert isinstance(golden(ttnn.experimental.gelu_bw)(g, a), list)


def refusal(call, *args, **kwargs):
    with pytest.raises(RuntimeError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    "operation,args,kwargs",
    [
        (ttnn.matmul, (t(32, 32), t(64, 64)), {}),
        (ttnn.topk, (t(1, 1, 32, 32),), {"k": 99}),
        (ttnn.update_cache, (t(1, 1, 64, 64), t(1, 1, 1, 64)), {"update_idx": 9999, "batch_offset": 0}),
    ],
)
def test_a_golden_refuses_what_its_operation_refuses_in_its_words(device, operation, args, kwargs):
    """Also what a dry run of the operation says of tensors that are on no device."""
    on_device = [ttnn.from_torch(value.bfloat16(), layout=ttnn.TILE_LAYOUT, device=device) if isinstance(value, torch.Tensor) else value for value in args]
    words = refusal(operation, *on_device, **kwargs)
    assert refusal(ttnn.get_golden_function(operation), *on_device, **kwargs) == words
    assert refusal(ttnn.get_golden_function(operation), *args, **kwargs) == words


def test_a_golden_leaves_nothing_that_can_be_seen(device):
    """The dry run before it: no programs, buffers, tensors with numbers, records."""
    a = ttnn.from_torch(t(64, 64).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
    before = (device.num_program_cache_entries(), ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.get_golden_function(ttnn.matmul)(a, a)
    ttnn.get_golden_function(ttnn.softmax)(a, -1)
    captured = ttnn.graph.end_graph_capture()
    assert [node["node_type"] for node in captured] == ["capture_start", "capture_end"]
    assert before == (device.num_program_cache_entries(), ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank)
    ttnn.deallocate(a)


def test_in_place_operations_leave_what_their_goldens_are_given(device):
    a = ttnn.from_torch(t(32, 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.get_golden_function(ttnn.add_)(a, 1.0)
    ttnn.get_golden_function(ttnn.relu)(a, output_tensor=a)
    assert a.is_allocated() and (ttnn.to_torch(a) == 1).all()


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_scales_without_end(value):
    """per_token_cast_to_fp8: no power of two is above infinity."""
    given = t(1, 1, 32, 128)
    given[0, 0, 3, 5] = value
    codes, scales = ttnn.get_golden_function(ttnn.experimental.deepseek_prefill.per_token_cast_to_fp8)(given)
    assert torch.isfinite(codes[0, 0, 0]).all() and torch.isfinite(scales[0, 0, :3]).all()


def test_ctrl_c_ends_a_golden():
    """Python's interrupt comes while the golden computes, not when it is done."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ttnn.get_golden_function(ttnn.matmul)(t(1500, 4000), t(4000, 1500))
    assert time.monotonic() - began < 5
    timer.join()
    assert ttnn.get_golden_function(ttnn.relu)(t(2, 2)).tolist() == [[1, 1], [1, 1]]
