"""Names that upstream's own programs import and call beside operations: memory, cores, links, tracing."""

import pytest

import ttnn

ROW, COL = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR
HEIGHT, WIDTH, BLOCK = ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(2, 1))])

# Shards of (2, 100, 96) on three columns and two rows of cores, as the released library has them.
SHARDS = [
    (HEIGHT, ROW, False, False, [34, 96]),
    (HEIGHT, COL, False, True, [34, 96]),
    (HEIGHT, ROW, True, False, [100, 96]),
    (HEIGHT, COL, True, True, [96, 100]),
    (WIDTH, ROW, False, False, [200, 16]),
    (BLOCK, ROW, False, False, [100, 32]),
    (BLOCK, ROW, False, True, [128, 32]),
    (BLOCK, COL, False, False, [67, 48]),
    (BLOCK, COL, False, True, [96, 48]),
]


@pytest.mark.parametrize("strategy, orientation, as_shard, tiles, shard", SHARDS)
@pytest.mark.parametrize("grid", [CORES, ttnn.CoreGrid(x=3, y=2)])
def test_sharded_memory_config(grid, strategy, orientation, as_shard, tiles, shard):
    config = ttnn.create_sharded_memory_config_(
        (2, 100, 96), grid, strategy, orientation, use_height_and_width_as_shard_shape=as_shard, tile_layout=tiles
    )
    assert list(config.shard_spec.shape) == shard
    assert config.shard_spec.grid == CORES
    assert config.shard_spec.orientation == orientation


def test_sharded_memory_config_refuses():
    with pytest.raises(RuntimeError, match="Incorrect tensor shape"):
        ttnn.create_sharded_memory_config_((2, 100, 96), CORES, WIDTH, ROW, tile_layout=True)
    with pytest.raises(RuntimeError, match="orientation"):
        ttnn.create_sharded_memory_config_((2, 100, 96), CORES, WIDTH, None)
    with pytest.raises(RuntimeError, match="core_grid"):
        ttnn.create_sharded_memory_config_((2, 100, 96), 3, WIDTH, ROW)


def test_reports(device):
    reports = ttnn._ttnn.reports
    before = len(reports.get_buffer_pages(device))
    a = ttnn.zeros([64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    config = ttnn.create_sharded_memory_config([64, 64], ttnn.CoreGrid(x=2, y=1), HEIGHT)
    b = ttnn.to_memory_config(a, config)
    found = [(x.address, x.max_size_per_bank, x.buffer_type, x.buffer_layout) for x in reports.get_buffers(device)]
    assert (a.buffer_address(), 2048, ttnn.BufferType.DRAM, ttnn.TensorMemoryLayout.INTERLEAVED) in found
    assert found[0] == (b.buffer_address(), 4096, ttnn.BufferType.L1, ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    pages = reports.get_buffer_pages([device])
    assert len(pages) == before + 4
    assert [(p.core_x, p.core_y, p.page_index) for p in pages[-4:]] == [(0, 0, 0), (0, 0, 1), (1, 0, 2), (1, 0, 3)]
    assert reports.get_device_info(device).num_y_cores == 9


def test_names():
    from ttnn.operations.ccl import MoEActivationFunction, Topology
    from ttnn.trace_allocation_config import TRACE_ALLOC_DIAGNOSTICS

    assert ttnn._ttnn.fabric.FabricRouterConfig().max_packet_payload_size_bytes is None
    assert ttnn.get_usable_topology(None, Topology.Ring) == Topology.Linear
    assert ttnn._ttnn.core.get_memory_config and ttnn._ttnn.deprecated.operations
    assert MoEActivationFunction.SWIGLU and TRACE_ALLOC_DIAGNOSTICS is False


def shards(device, shape, memory):
    return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


# (memory config, shape of the tensor, cores in the order of shards), as the released library has them.
GRID = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(1, 0), ttnn.CoreCoord(3, 1))])
LAID = ttnn.TensorMemoryLayout
WORKERS = [
    (LAID.HEIGHT_SHARDED, ROW, [32, 32], [160, 32], [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1)]),
    (LAID.HEIGHT_SHARDED, COL, [32, 32], [160, 32], [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]),
    (LAID.BLOCK_SHARDED, COL, [32, 64], [64, 96], [(1, 0), (1, 1), (2, 0), (2, 1)]),
    (None, ROW, [1, 32, 32], [1, 32, 96], [(1, 0), (2, 0), (3, 0)]),
    (None, COL, [2, 32, 32], [4, 64, 96], [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]),
]


@pytest.mark.parametrize("layout, orientation, shard, shape, cores", WORKERS)
def test_worker_cores(device, layout, orientation, shard, shape, cores):
    if layout is None:
        memory = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec(shard, GRID, orientation))
    else:
        memory = ttnn.MemoryConfig(layout, ttnn.BufferType.L1, ttnn.ShardSpec(GRID, shard, orientation))
    found = ttnn.get_optimal_worker_cores_for_sharded_tensor(shards(device, shape, memory))
    assert [(core.x, core.y) for core in found] == cores


def test_worker_cores_of_dram(device):
    banks = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(2, 0), ttnn.CoreCoord(7, 0))])
    memory = ttnn.MemoryConfig(LAID.WIDTH_SHARDED, ttnn.BufferType.DRAM, ttnn.ShardSpec(banks, [32, 32], ROW))
    found = ttnn.get_optimal_worker_cores_for_sharded_tensor(shards(device, [32, 192], memory))
    assert [(core.x, core.y) for core in found] == [(0, 4), (0, 5), (4, 0), (7, 7), (4, 1), (4, 6)]
    with pytest.raises(RuntimeError, match="must be sharded"):
        ttnn.get_optimal_worker_cores_for_sharded_tensor(shards(device, [32, 32], ttnn.DRAM_MEMORY_CONFIG))
    between = ttnn.grid_to_cores(ttnn.CoreCoord(1, 1), ttnn.CoreCoord(2, 2))
    assert [(core.x, core.y) for core in between] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert len(ttnn.grid_to_cores(3, 2, 2)) == 3


def test_spec_shards():
    rows = ttnn.TensorSpec(ttnn.Shape([2, 3, 50, 70]), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, ttnn.BufferType.L1)
    tiles = ttnn.TensorSpec(ttnn.Shape([4, 64, 96]), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.BufferType.L1)

    def shard(spec):
        return list(spec.memory_config.nd_shard_spec.shard_shape)

    alignment = ttnn.ShardShapeAlignment
    assert shard(rows.sharded(ttnn.Shape([2, 20, 20]), GRID)) == [2, 20, 32]
    assert shard(rows.sharded(ttnn.Shape([2, 20, 20]), GRID, alignment.REQUIRED)) == [2, 20, 20]
    assert shard(tiles.sharded(ttnn.NdShardSpec([2, 20, 20], GRID), alignment.RECOMMENDED)) == [2, 32, 32]
    assert shard(tiles.sharded_across_dims([1, 2], GRID)) == [4, 32, 32]
    assert tiles.sharded_across_dims([0], GRID).memory_config.memory_layout == LAID.HEIGHT_SHARDED
    assert shard(tiles.sharded_across_dims_except([0], GRID)) == [4, 32, 32]
    nd = ttnn.TensorSpec([4, 64, 96], ttnn.bfloat16, ttnn.TILE_LAYOUT, nd_shard_spec=ttnn.NdShardSpec([2, 32, 32], GRID))
    assert shard(nd) == [2, 32, 32] and nd.memory_config.buffer_type == ttnn.BufferType.DRAM
    flat = ttnn.TensorSpec([64, 96], ttnn.bfloat16, ttnn.TILE_LAYOUT, LAID.HEIGHT_SHARDED, ttnn.ShardSpec(GRID, [32, 96], ROW))
    assert list(flat.memory_config.shard_spec.shape) == [32, 96]
    with pytest.raises(TypeError):
        ttnn.TensorSpec([64, 96], ttnn.bfloat16, ttnn.TILE_LAYOUT, 3)


def test_invalid_types(device):
    assert ttnn.DataType.INVALID.value == 10 and ttnn.Layout.INVALID.value == 2
    with pytest.raises(TypeError):
        ttnn.zeros([2, 2], dtype=ttnn.DataType.INVALID, device=device)
    assert not hasattr(ttnn, "invalid")


def test_from_buffer(device):
    made = ttnn.from_buffer([1, 2, 3, 4], ttnn.Shape([2, 2]), ttnn.float32, device)
    assert made.to_list() == [[1, 2], [3, 4]] and made.layout == ttnn.ROW_MAJOR_LAYOUT
    assert ttnn.from_buffer([5], [1], ttnn.int32, device, ttnn.TILE_LAYOUT).to_list() == [5]
    for buffer, dtype in (([1, 2, 3], ttnn.float32), ([1, 2, 3, 4], ttnn.bfloat8_b), ([1.5, 2, 3, 4], ttnn.int32)):
        with pytest.raises(RuntimeError):
            ttnn.from_buffer(buffer, [2, 2], dtype, device)


def test_unary_with_param():
    kinds, make = ttnn.UnaryOpType, ttnn.UnaryWithParam
    assert repr(make(kinds.SOFTPLUS, 1.0, 20.0)) == "UnaryWithParam(op_type=UnaryOpType::SOFTPLUS, params=[1, 20])"
    assert repr(make((kinds.GELU, True))) == "UnaryWithParam(op_type=UnaryOpType::GELU, params=[1])"
    assert make((kinds.GELU, 1.5)) == make(kinds.GELU, 1.5)
    for wrong in ((kinds.GELU, "a", "b"), ((kinds.GELU,),), ()):
        with pytest.raises((TypeError, ValueError)):
            make(*wrong)


def test_families():
    from ttnn.operations.conv2d import Conv2dConfig

    assert Conv2dConfig is ttnn.Conv2dConfig
    assert ttnn.operations.matmul.matmul is ttnn.matmul
    assert ttnn.operations.moreh.matmul is ttnn.moreh_matmul


def test_golden_functions(torch):
    a, b = torch.tensor([[2**30 + 1, 5]], dtype=torch.int32), torch.tensor([[3, 7]], dtype=torch.int32)
    assert torch.equal(ttnn.maximum.golden_function(a, b), torch.maximum(a, b))
    assert ttnn.get_golden_function(ttnn.eq)(a.float(), 5).dtype == torch.bool
    assert ttnn.relu.golden_function(torch.tensor([[-1.0, 2.0]])).tolist() == [[0, 2]]


def test_golden_functions_take_more(torch):
    x, weight = torch.rand(4, 32), torch.rand(32)
    expected = x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * weight
    assert torch.allclose(ttnn.rms_norm.golden_function(x, weight), expected, atol=1e-5)
    assert torch.equal(ttnn.div.golden_function(x * 9, weight, "floor"), torch.div(x * 9, weight, rounding_mode="floor"))
    assert torch.allclose(ttnn.div.golden_function(x, 2.0, None), x / 2)


def test_pool_goldens(torch):
    from ttnn.operations import pool

    image = torch.rand(2, 3, 8, 6)
    rows = image.permute(0, 2, 3, 1).reshape(1, 1, -1, 3)
    found = pool.golden_maxpool2d(rows, 2, 8, 6, 3, (3, 3), (2, 2), (1, 0, 1, 1), (1, 1))
    padded = torch.nn.functional.pad(image, (1, 1, 1, 0), value=-1)
    assert torch.equal(found, torch.nn.functional.max_pool2d(padded, 3, 2).permute(0, 2, 3, 1).reshape(1, 1, -1, 3))
    found = pool.golden_avg_pool2d(rows, 2, 8, 6, 3, (2, 2), (2, 2), (0, 0))
    assert torch.equal(found, torch.nn.functional.avg_pool2d(image, 2).permute(0, 2, 3, 1).reshape(1, 1, -1, 3))
    found = pool.golden_adaptive_avg_pool2d(rows, 2, 8, 6, 3, (1, 1))
    assert torch.allclose(found.reshape(2, 3), image.mean((2, 3)))
    grid = torch.rand(2, 4, 5, 4) * 2 - 1
    found = pool.golden_grid_sample(image.permute(0, 2, 3, 1), grid, batch_output_channels=True)
    assert tuple(found.shape) == (2, 4, 5, 6)
    assert tuple(pool.golden_upsample(image.permute(0, 2, 3, 1), 2).shape) == (2, 16, 12, 3)


def test_tt_lib(torch, device):
    import tt_lib.fallback_ops as fallback_ops
    from tt_lib.fused_ops.softmax import softmax
    from tt_lib.utils import find_closest_largest_divisor, is_close, pad_activation, pad_weight

    assert tuple(pad_weight(torch.rand(33, 5)).shape) == (1, 1, 64, 32)
    assert tuple(pad_activation(torch.rand(3, 5)).shape) == (3, 1, 32, 32)
    assert find_closest_largest_divisor(12, 5) == 4 and is_close(torch.ones(4), torch.ones(4))
    image = torch.rand(1, 3, 32, 32).bfloat16().float()
    x = ttnn.from_torch(image, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    weight, bias = torch.rand(4, 3, 3, 3), torch.rand(4)
    conv = fallback_ops.Conv2d(ttnn.from_torch(weight), ttnn.from_torch(bias.reshape(1, 1, 1, 4)), 3, 4, 3, padding=1)
    assert torch.allclose(ttnn.to_torch(conv(x)).float(), torch.nn.functional.conv2d(image, weight, bias, padding=1), rtol=0.01)
    assert list(fallback_ops.reshape(x, 1, 1, 32, 96).shape) == [1, 1, 32, 96]
    found = ttnn.to_torch(softmax(x, stable=True)).float()
    assert torch.allclose(found, torch.softmax(image, 3), atol=0.01)


def test_group_norm_parameters(torch, device):
    weight, mask = ttnn.dram_group_norm_params_from_torch(torch.rand(320), 320, 32, device)
    assert list(weight.shape)[:2] == [1, 1] and mask.layout == ttnn.TILE_LAYOUT
    grid = ttnn.CoreGrid(x=8, y=4)
    assert [ttnn.operations.normalization.dram_group_norm_virtual_columns(grid, *c) for c in ((320, 32), (512, 32), (96, 3))] == [2, 8, 3]
    rows = ttnn.create_group_norm_reciprocals(2, 320, 32, 32, 32, grid)
    assert rows.shape == (32, 40) and rows[5, :3].tolist() == pytest.approx([1, 1 / 2, 1 / 3])


def test_tracer(torch):
    pytest.importorskip("networkx")
    from ttnn.tracer import codegen, get_graph, trace, visualize

    given = torch.rand(4, 64)
    with trace():
        tensor = ttnn.from_torch(torch.exp(given), dtype=ttnn.float32)
        tensor = ttnn.to_torch(ttnn.reshape(tensor, (2, 4, 32)))
        other = tensor + 1
    graph = get_graph(tensor)
    names = [graph.nodes[node]["operation"].to_string() for node in sorted(graph.nodes)]
    assert sorted(names) == ["torch.Tensor", "torch.exp", "ttnn.from_torch", "ttnn.reshape", "ttnn.to_torch"]
    assert len(get_graph(other)) == 6
    assert visualize(tensor).count("->") == 4
    assert not ttnn.tracer.is_tracing_enabled()
    lines = codegen(tensor).splitlines()
    assert lines[0].startswith("def forward(v") and len(lines) == 6
    with pytest.raises(ValueError, match="not made while tracing"):
        get_graph(tensor + 1)


@pytest.mark.parametrize("activation, name", [("relu6", "relu6"), (ttnn.UnaryOpType.SILU, "silu"), (None, None)])
def test_activations(torch, activation, name):
    from ttnn.operations.activations import get_golden_function_for_activation

    function = get_golden_function_for_activation(activation)
    if name is None:
        assert function is None
        return
    x = torch.linspace(-8, 8, 64).reshape(1, 1, 8, 8)
    assert torch.allclose(function(x), getattr(torch.nn.functional, name)(x), atol=1e-5)


def test_semaphores_of_collectives(device):
    made = ttnn._ttnn.operations.experimental.ccl_experimental.GlobalSemaphoreArg
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
    one = ttnn.create_global_semaphore(device, cores, 0)
    assert isinstance(one, ttnn._ttnn.global_semaphore.global_semaphore)
    assert made(one).semaphores == [one] and made([one, one]).semaphores == [one, one]
    with pytest.raises(TypeError):
        made([1])


def test_goldens_pass_over_what_they_do_not_know(torch):
    x = torch.randn(2, 32)
    found = ttnn.get_golden_function(ttnn.layer_norm)(x, weight=None, eps=1e-5)
    assert torch.allclose(found, torch.nn.functional.layer_norm(x, (32,), eps=1e-12), atol=1e-4)


def test_marked_corruptible():
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.corruptible_allocation_scope(device):
        assert ttnn.mark_corruptible(ttnn.experimental.view(tensor, (1, 32, 32))) == tensor.buffer_unique_id()
    with pytest.raises(ValueError, match="device storage"):
        ttnn.mark_corruptible(ttnn.from_device(tensor))
    with pytest.raises(TypeError, match="got list"):
        ttnn.mark_corruptible([1])
    ttnn.deallocate(tensor)
    with pytest.raises(ValueError, match="allocated"):
        ttnn.mark_corruptible(tensor)
    ttnn.close_device(device)
