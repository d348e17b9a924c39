"""Operations at the edges of what they take: scalars, nothing at all, factors, limits, what wraps and what is refused."""

import math

import pytest

import ttnn

ROW = [1.0, 2.0, 5.0, -7.0]


def made(device, values, dtype=ttnn.float32, shape=None):
    rows = ttnn.Tensor(list(values), list(shape or [1, len(values)]), dtype, ttnn.ROW_MAJOR_LAYOUT)
    return ttnn.to_device(ttnn.to_layout(rows, ttnn.TILE_LAYOUT), device)


def same(a, b):
    return a == pytest.approx(b, rel=1e-6) or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "var"])
@pytest.mark.parametrize("factor", [1.0, -2.0, 0.5])
def test_factors_of_reductions(device, name, factor):
    """The values are multiplied, whatever is made of them."""
    values = [factor * x for x in ROW]
    mean = sum(values) / 4
    variance = sum((x - mean) ** 2 for x in values) / 3
    truth = {"sum": sum(values), "mean": mean, "max": max(values), "min": min(values), "var": variance, "std": math.sqrt(variance)}
    assert same(getattr(ttnn, name)(made(device, ROW), dim=-1, scalar=factor).to_list()[0], truth[name])


@pytest.mark.parametrize("dim", [None, 0, -1])
def test_reductions_of_a_scalar(device, dim):
    scalar = ttnn.full([], 3.5, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    for name in ("sum", "mean", "max", "min"):
        assert getattr(ttnn, name)(scalar, dim=dim).to_list() == 3.5
    assert math.isnan(ttnn.std(scalar, dim=dim).to_list()) and ttnn.var(scalar, dim=dim, correction=False).to_list() == 0


def test_reductions_of_nothing(device):
    nothing = ttnn.zeros([0, 32], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    for name in ("mean", "std", "var"):
        found = getattr(ttnn, name)(nothing, dim=0)
        assert list(found.shape) == [32] and all(math.isnan(x) for x in found.to_list())
        assert list(getattr(ttnn, name)(nothing, dim=1, keepdim=True).shape) == [0, 1]
    for name in ("max", "min"):
        with pytest.raises(RuntimeError, match="Expected reduction dim 0 to have non-zero size"):
            getattr(ttnn, name)(nothing, dim=0)
        assert list(getattr(ttnn, name)(nothing, dim=1).shape) == [0]


def test_block_floats_stay_in_tiles(device):
    tiles = ttnn.zeros([32, 64], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError, match="output_layout=ROW_MAJOR is not supported"):
        ttnn.mean(tiles, dim=-1, output_layout=ttnn.ROW_MAJOR_LAYOUT)


def test_topk_refuses_tensors_that_do_not_fit(device):
    def zeros(*shape, dtype=ttnn.bfloat16):
        return ttnn.zeros(shape, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    values = zeros(1, 1, 32, 64)
    refused = [
        ("Preallocated output tensor must be", {"output_tensor": (zeros(1, 1, 32, 32, dtype=ttnn.uint32), zeros(1, 1, 32, 32, dtype=ttnn.uint16))}),
        ("Preallocated indices tensor must be", {"output_tensor": (zeros(1, 1, 32, 32), zeros(1, 1, 32, 32))}),
        ("must match input", {"output_tensor": (zeros(1, 1, 32, 32, dtype=ttnn.float32), zeros(1, 1, 32, 32, dtype=ttnn.uint16))}),
        ("values tensor has incorrect shape", {"output_tensor": (values, values)}),
        ("Indices tensor has incorrect shape", {"indices_tensor": zeros(1, 1, 32, 32, dtype=ttnn.uint16)}),
        ("Optional input tensor must be", {"indices_tensor": values}),
        ("last dimension", {"dim": 2, "indices_tensor": zeros(1, 1, 32, 64, dtype=ttnn.uint16)}),
    ]
    for text, options in refused:
        with pytest.raises(RuntimeError, match=text):
            ttnn.topk(values, k=32, **options)
    with pytest.raises(RuntimeError, match="must be UINT32 when input tensor is FLOAT32"):
        ttnn.topk(zeros(1, 1, 32, 64, dtype=ttnn.float32), k=32, indices_tensor=zeros(1, 1, 32, 64, dtype=ttnn.uint16))


def test_cores_or_a_sub_device(device):
    a, cores = made(device, ROW), ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    with pytest.raises(RuntimeError, match="Cannot specify both sub_core_grids and sub_device_id"):
        ttnn.add(a, a, sub_core_grids=cores, sub_device_id=ttnn.SubDeviceId(0))


def test_bytes_wrap(device):
    assert ttnn.typecast(made(device, [300, -1, -513, 255.7, 256]), ttnn.uint8).to_list() == [[44, 255, 255, 255, 0]]


def test_what_does_not_fit_into_whole_numbers(device):
    values = [math.inf, -math.inf, math.nan, -math.nan, 3e9, -3e9, 5e9, 0.5, 2.5, -1.5, 65535.5, 70000.0, 1.9]
    most, low = 2**32 - 1, -(2**31)
    wanted = {  # as the release's engine casts: floats are held inside, bytes wrap, infinities and NaN go where their sign is
        ttnn.uint8: [0, 0, 0, 0, 0, 0, 0, 0, 2, 255, 255, 112, 1],
        ttnn.uint16: [65535, 0, 65535, 0, 65535, 0, 65535, 1, 3, 0, 65535, 65535, 2],
        ttnn.int32: [2**31 - 1, low, 2**31 - 1, low, 2**31 - 1, low, 2**31 - 1, 0, 2, -1, 65535, 70000, 1],
        ttnn.uint32: [most, 0, most, 0, 3000000000, 0, most, 0, 2, 0, 65535, 70000, 1],
    }
    floats = ttnn.Tensor(values, [1, len(values)], ttnn.float32, ttnn.TILE_LAYOUT, device)
    for dtype, whole in wanted.items():
        assert ttnn.typecast(floats, dtype).to_list() == [whole]
    wholes = ttnn.Tensor([70000, -5, 65535, 12], [1, 4], ttnn.int32, ttnn.TILE_LAYOUT, device)
    assert ttnn.typecast(wholes, ttnn.uint16).to_list() == [[65535, 0, 65535, 12]]
    assert ttnn.typecast(wholes, ttnn.uint8).to_list() == [[112, 251, 255, 12]]
    assert ttnn.typecast(wholes, ttnn.uint32).to_list() == [[70000, 2**32 - 5, 65535, 12]]


CASES = [
    ("hardmish", (), [-3.0, -1.0, -0.5, 2.0], [0.0, -0.5, -0.375, 2.0]),
    ("relu_max", (-1.0,), [-3.0, 0.5], [0.0, 0.0]),
    ("relu_max", (1.0,), [-3.0, 0.5, 2.0], [0.0, 0.5, 1.0]),
    ("tanhshrink", (), [1e-4, -1e-3, 0.0], [1e-12 / 3, -(1e-9 / 3), 0.0]),
    ("exp2", (), [-127.0, -126.0, 3.0], [0.0, 2.0**-126, 8.0]),
    ("expm1", (), [1e-7, -0.0, 0.371875, -1.0], [math.expm1(1e-7), 0.0, math.expm1(0.371875), math.expm1(-1)]),
    ("i1", (), [100.0, 88.5], [1.14987e37] * 2),
    ("pow", (-1.5,), [0.0, 4.0], [math.nan, 0.125]),
    ("pow", (3.0,), [1.1, -2.0], [1.331, -8.0]),
]


@pytest.mark.parametrize("name, args, values, truth", CASES, ids=[f"{name}{i}" for i, (name, *_) in enumerate(CASES)])
def test_functions_at_their_edges(device, name, args, values, truth):
    found = getattr(ttnn, name)(made(device, values), *args).to_list()[0]
    assert [found[i] for i in range(len(found)) if not (math.isnan(found[i]) and math.isnan(truth[i]))] == pytest.approx(
        [x for x in truth if not math.isnan(x)], rel=2e-5, abs=0
    )


def test_signs_of_zero(device):
    for name in ("tanh", "expm1"):
        assert math.copysign(1, getattr(ttnn, name)(made(device, [-0.0])).to_list()[0][0]) == -1


def test_numbers_of_sub_devices(device):
    """A sub-device is known by its cores, not by its number; what is no number is refused."""
    a = ttnn.zeros((128, 128), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for wrong in (-1, object()):
        with pytest.raises(RuntimeError, match="sub_device_id"):
            ttnn.matmul(a, a, sub_device_id=wrong)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(2, 2), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=2, per_core_N=2,
        transpose_mcast=False, fused_activation=None)
    managers = [
        device.create_sub_device_manager([ttnn.SubDevice([ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(end, end))})])], 0)
        for end in (3, 0)
    ]
    try:
        device.load_sub_device_manager(managers[0])
        ttnn.matmul(a, a, program_config=config, sub_device_id=ttnn.SubDeviceId(0))
        device.load_sub_device_manager(managers[1])
        with pytest.raises(RuntimeError, match="sub device"):
            ttnn.matmul(a, a, program_config=config, sub_device_id=ttnn.SubDeviceId(0))
    finally:
        device.clear_loaded_sub_device_manager()


def test_arguments_of_a_tensor_given_twice(device):
    data = memoryview(bytes(4 * 32 * 32)).cast("f", (32, 32))
    with pytest.raises(TypeError, match="twice"):
        ttnn.Tensor(data, ttnn.bfloat16, None, ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_a_sliced_average_counts_as_the_whole(device):
    """Columns that only fill tiles of a slice are no padding."""
    image = made(device, [float(i % 7) for i in range(10 * 10 * 32)], ttnn.bfloat16, [1, 1, 100, 32])
    image = ttnn.to_layout(image, ttnn.ROW_MAJOR_LAYOUT)
    call = dict(batch_size=1, input_h=10, input_w=10, channels=32, kernel_size=[3, 3], stride=[2, 2], padding=[0, 0], ceil_mode=True,
                count_include_pad=True, output_layout=ttnn.TILE_LAYOUT)
    whole = ttnn.avg_pool2d(image, **call)
    slices = ttnn.Op2DSliceConfig(slice_type=ttnn.Op2DDRAMSliceHeight, num_slices=2)
    parts = ttnn.avg_pool2d(image, dram_slice_config=slices, **call)
    flat = lambda values: [x for v in values for x in (flat(v) if isinstance(v, list) else [v])]
    assert flat(parts.to_list()) == flat(whole.to_list())
    ttnn.avg_pool2d(image, dram_slice_config=slices, deallocate_input=True, **call)
    assert not image.is_allocated()


def test_replicated_padding_of_nothing(device):
    weight = ttnn.zeros((64, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    nothing = ttnn.zeros((1, 1, 0, 4, 32), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    out = ttnn.experimental.conv3d(input_tensor=nothing, weight_tensor=weight, device=device, dtype=ttnn.bfloat16, output_channels=32,
                                   kernel_size=[1, 2, 1], stride=[1, 1, 1], padding=[0, 1, 0], padding_mode="replicate")
    assert not any(sum(out.to_list()[0][0][0], []))


def test_a_shift_beyond_the_register_leaves_the_sign(device):
    numbers = made(device, [-(2**31), -5, -1, 0, 1, 2**31 - 1], ttnn.int32, [1, 6])
    assert ttnn.bitwise_right_shift(numbers, 32).to_list() == [[-1, -1, -1, 0, 0, 0]]
    assert ttnn.bitwise_right_shift(numbers, 31).to_list() == [[-1, -1, -1, 0, 0, 0]]
    assert ttnn.bitwise_left_shift(numbers, 32).to_list() == [[0] * 6]


def shards(layout, height, width, columns=2, rows=2):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(columns - 1, rows - 1))})
    spec = ttnn.ShardSpec(cores, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), ttnn.BufferType.L1, spec)


def test_nothing_and_too_much_is_refused(device):
    """What once divided by nothing, or counted past 32 bits, ends in words."""
    prefill = ttnn.experimental.deepseek_prefill

    def zeros(*shape, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, **kwargs):
        return ttnn.zeros(list(shape), dtype=dtype, layout=layout, device=device, **kwargs)

    def tiles(*shape, **kwargs):
        return zeros(*shape, layout=ttnn.TILE_LAYOUT, **kwargs)

    heads = [tiles(1, 4, 512, 64) for _ in range(3)]
    for call in (
        lambda: ttnn.pad(zeros(1, 4, 4, 0), [(0, 0), (0, 1), (0, 1), (0, 0)], value=0.0),
        lambda: ttnn.fold(zeros(1, 8, 8, 16, memory_config=shards("BLOCK_SHARDED", 32, 8)), 65536, 65536),
        lambda: ttnn.fold(zeros(1, 8, 8, 16), 2, 2, padding=[2**31, 2**31]),
        lambda: ttnn.fold(zeros(4), 2, 2),
        lambda: ttnn.rms_norm_pre_all_gather(tiles(memory_config=shards("HEIGHT_SHARDED", 32, 32, 1, 1))),
        lambda: prefill.post_combine_reduce(zeros(32, 0, 32), zeros(32, 0, 1), expert_dim=1),
        lambda: ttnn.transformer.ring_distributed_scaled_dot_product_attention(
            *heads, 4, ring_id=0, page_table=zeros(8, dtype=ttnn.int32), chunk_start_idx=0
        ),
    ):
        with pytest.raises(RuntimeError):
            call()
    assert list(ttnn.fold(zeros(1, 8, 0, 16, memory_config=shards("HEIGHT_SHARDED", 32, 16)), 2, 2).shape) == [1, 4, 0, 64]
    assert list(ttnn.transpose(tiles(1, 2, 0, 32), 1, 2).shape) == [1, 0, 2, 32]


def test_folds_of_padded_shards():
    """By the definition: squares of the padded image are channels, row after row."""
    device = ttnn.open_device(device_id=0, l1_small_size=16384)
    image = [[[16 * y + x + c / 4 for c in range(8)] for x in range(16)] for y in range(16)]
    flat = [v for row in image for point in row for v in point]
    rows = ttnn.Tensor(flat, [1, 16, 16, 8], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    on_cores = ttnn.to_device(rows, device, memory_config=shards("HEIGHT_SHARDED", 16, 8, 4, 4))
    found = ttnn.to_memory_config(ttnn.fold(on_cores, 2, 2, padding=[2, 2]), ttnn.DRAM_MEMORY_CONFIG)

    def at(y, x, c):
        return image[y - 2][x - 2][c] if 2 <= y < 18 and 2 <= x < 18 else 0

    truth = [at(2 * y + k // 16, 2 * x + k // 8 % 2, k % 8) for y in range(10) for x in range(10) for k in range(32)]
    assert list(found.shape) == [1, 10, 10, 32] and [v for a in found.to_list()[0] for b in a for v in b] == truth
    ttnn.close_device(device)


def test_products_of_nothing(device):
    def zeros(*shape):
        return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    for a, b in (((0, 32), (32, 64)), ((32, 0), (0, 64)), ((32, 64), (64, 0))):
        with pytest.raises(RuntimeError, match="minimal_matmul dimensions must be positive"):
            ttnn.experimental.minimal_matmul(zeros(*a), zeros(*b))


@pytest.fixture
def line(monkeypatch):
    """Eight chips in a line."""
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 8))
    yield mesh
    ttnn.close_mesh_device(mesh)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@pytest.mark.parametrize("a, b, what", [((32, 0), (0, 32), "K dimension"), ((0, 32), (256, 64), "M .rows"), ((32, 32), (256, 0), "N .columns"), ((0, 0), (0, 0), "K dimension")])
def test_fused_products_of_nothing(line, a, b, what):
    """Without a config none is chosen for what is empty: that divided by no cores."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))])
    signals = [ttnn.create_global_semaphore(line, cores, 0) for _ in range(2)]

    def zeros(*shape):
        return ttnn.zeros([1, 1, *shape], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=line)

    with pytest.raises(RuntimeError, match="bad optional access"):
        ttnn.experimental.all_gather_matmul_async(zeros(*a), zeros(*b), None, 3, signals, (0, 6))
    with pytest.raises(RuntimeError, match=f"{what}.* got 0"):
        ttnn.experimental.all_gather_matmul_async(zeros(*a), zeros(*b), zeros(a[0], 8 * a[1]), 3, signals, (0, 6))


def test_partition_along_no_dimension(line):
    rows = ttnn.zeros([32, 256], layout=ttnn.TILE_LAYOUT, device=line)
    assert list(ttnn.mesh_partition(rows, -1).shape) == [32, 32]
    for dim in (-3, -6):
        with pytest.raises(RuntimeError, match="dim must be less than the rank"):
            ttnn.mesh_partition(rows, dim)
    for dim, index in ((2, "2"), (-7, "-5"), (-31, "-29")):
        with pytest.raises(RuntimeError, match=rf"index out of range. {index} not in \[-4, 2\)"):
            ttnn.mesh_partition(rows, dim)


def test_group_norm_on_any_grid(device):
    """A grid of billions of cores is refused at once."""
    tensor = ttnn.zeros([1, 1, 1280, 512], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for x, y in ((2**31, 8), (8, 2**31), (1000, 1000)):
        with pytest.raises(RuntimeError, match="is invalid for the input dimensions"):
            ttnn.group_norm(tensor, num_groups=8, inplace=False, core_grid=ttnn.CoreGrid(x=x, y=y), num_out_blocks=1)


def test_gradient_of_kept_dimensions(device):
    """With keepdim a gradient has all dimensions, where the release looks them up."""
    grad, whole = (ttnn.zeros(shape, layout=ttnn.TILE_LAYOUT, device=device) for shape in ([33, 1], [5, 33, 288]))
    for given in (None, whole):
        with pytest.raises(RuntimeError, match=r"index out of range. 2 not in \[-4, 2\)"):
            ttnn.moreh_mean_backward(grad, dim=[0, 2], keepdim=True, input_grad_shape=[5, 33, 288], input_grad=given)


def test_folds_and_planes_in_the_words_of_the_release(device):
    rows = ttnn.zeros([2, 36, 4], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    for output_size, stride, words in (([2, 2], [1, 1], "Invalid input tensor size"), ([4, 4], [0, 1], "stride must be greater than 0")):
        with pytest.raises(RuntimeError, match=words):
            ttnn.moreh_fold(rows, output_size=output_size, kernel_size=[3, 3], stride=stride)
    with pytest.raises(RuntimeError, match=r"C \(last dim\) must be a multiple of 32"):
        ttnn.experimental.transpose_rm(ttnn.zeros([64, 33], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device))
    cache = ttnn.zeros([4, 1, 128, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError, match=r"Shard shape must be greater than 0 in each sharded dim, got \[0, 32\]"):
        ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=32, seq_len_end=32)


def test_gather_of_a_tensor_by_itself_gives_back_what_it_held(device):
    index = ttnn.zeros([1, 1, 32, 64], dtype=ttnn.uint32, layout=ttnn.TILE_LAYOUT, device=device)
    used = [ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank]
    gathered = ttnn.gather(index, 3, index)
    del gathered, index
    used.append(ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank)
    assert used[1] < used[0]


def test_reversed_gathering_of_whole_tiles(line):
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))])
    signals = [ttnn.create_global_semaphore(line, cores, 0) for _ in range(2)]
    for width in (96, 256):
        tensor = ttnn.zeros([1, 1, 64, width], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=line)
        if width == 256:
            assert list(ttnn.experimental.all_gather_async_reversed(tensor, None, 2, signals).shape) == [1, 1, 512, 256]
            continue
        with pytest.raises(RuntimeError, match=r"tensor width \(96\) must be divisible by 32\*num_devices \(32\*8 = 256\)"):
            ttnn.experimental.all_gather_async_reversed(tensor, None, 2, signals)


@pytest.mark.parametrize("fabric, goes", [("FABRIC_1D", False), ("FABRIC_2D", True)])
def test_rows_of_chips_are_no_line(monkeypatch, fabric, goes):
    monkeypatch.setenv("TTNN_DEVICE", "t3k")
    ttnn.set_fabric_config(getattr(ttnn.FabricConfig, fabric))
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    try:
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6))])
        signals = [ttnn.create_global_semaphore(mesh, cores, 0) for _ in range(3)]
        tensor = ttnn.zeros([1, 1, 64, 512], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh)
        for name, count, width in (("all_gather_async", 2, 4096), ("reduce_scatter_minimal_async", 3, 64)):
            operation = getattr(ttnn.experimental, name)
            assert operation(tensor, None, 3, signals[:count], cluster_axis=1).shape[3] == (2048 if width == 4096 else 128)
            if goes:
                assert operation(tensor, None, 3, signals[:count]).shape[3] == width
                continue
            with pytest.raises(RuntimeError, match=r"Could not find any forwarding direction from src \(M0, D3\) to dst \(M0, D4\)"):
                operation(tensor, None, 3, signals[:count])
    finally:
        ttnn.close_mesh_device(mesh)
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def test_a_refused_reduction_keeps_nothing(device):
    """The tensor belonged to the caller and, unchanged by its padding, to the call, which forgot it."""

    def used():
        return ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank

    before = used()
    for shape, dim in (([2, 3, 64, 96], None), ([64, 96], None), ([4, 64, 96], 1)):
        given = ttnn.empty(shape, dtype=ttnn.bfloat4_b, layout=ttnn.TILE_LAYOUT, device=device)
        for name in ("sum", "max", "min", "mean"):
            with pytest.raises(RuntimeError, match="for generic reduction"):
                getattr(ttnn, name)(given, dim=dim, keepdim=True)
        del given
        assert used() == before


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_a_dry_run_does_not_list_what_has_no_room(device):
    """Nobody is asked for memory then: the elements of an endless rim were listed one by one."""
    image = ttnn.zeros([1, 1, 512, 3], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    weight = ttnn.zeros([32, 3, 3, 3], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    config = ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        with pytest.raises(RuntimeError, match="has no room"):
            ttnn.conv2d(
                input_tensor=image, weight_tensor=weight, device=device, in_channels=3, out_channels=32, batch_size=2, input_height=16,
                input_width=16, kernel_size=(3, 3), padding=(1, 100000000), stride=(1, 1), conv_config=config,
                slice_config=ttnn.Conv2dL1FullSliceConfig)
    finally:
        ttnn.graph.end_graph_capture()


@pytest.mark.parametrize("grid", [(0, 8), (8, 0), (0, 0)])
def test_a_grid_of_no_cores(device, grid):
    a = ttnn.zeros([1, 1, 256, 256], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError):
        ttnn.matmul(a, a, core_grid=ttnn.CoreGrid(x=grid[0], y=grid[1]))


def test_a_rim_beyond_all_shapes(device):
    """Twice the rim was nothing in 32 bits, and the picture was written with all of it."""
    compact, inside = (ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device) for shape in ([64, 32], [1, 1, 4, 4, 32]))
    for up, aside in ((2**31, 1), (1, 2**31)):
        with pytest.raises((RuntimeError, TypeError)):
            ttnn.experimental.halo_scatter(compact, inside, np_padding_h=up, np_padding_w=aside)
