"""Tensors: from and to other libraries, what can be asked, operators, indexing, memory."""

import array
import gc
import weakref

import pytest

import ttnn

FLAT = [float(i) for i in range(6)]
NESTED = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def floats(values=FLAT, shape=(2, 3)):
    return memoryview(array.array("f", values)).cast("B").cast("f", shape)


def on_device(device, values=FLAT, shape=(2, 3), **options):
    return ttnn.from_torch(floats(values, shape), layout=ttnn.TILE_LAYOUT, device=device, **options)


@pytest.mark.parametrize(
    "code, dtype",
    [("f", ttnn.float32), ("d", ttnn.float32), ("i", ttnn.int32), ("q", ttnn.uint32), ("B", ttnn.uint8)]
    + [("b", ttnn.int8), ("H", ttnn.uint16), ("I", ttnn.uint32)],
)
def test_buffers(code, dtype):
    data = array.array(code, [0, 1, 2, 3, 4, 5])
    tensor = ttnn.from_torch(memoryview(data).cast("B").cast(code, (2, 3)))
    assert tensor.dtype == dtype and tensor.shape == [2, 3] and tensor.layout == ttnn.ROW_MAJOR_LAYOUT
    assert tensor.to_list() == NESTED
    data[0] = 77  # a copy was made
    assert tensor.to_list() == NESTED


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.uint32, ttnn.int32])
def test_dtypes(dtype, device):
    tensor = on_device(device, dtype=dtype)
    assert tensor.dtype == dtype and tensor.to_list() == NESTED
    assert tensor.cpu().to_list() == NESTED


@pytest.mark.parametrize("bad", [5, "text", None.__class__, object(), [1.0, 2.0], array.array("u", "ab")])
def test_no_data(bad):
    with pytest.raises(TypeError):
        ttnn.from_torch(bad)


def test_none():
    assert ttnn.from_torch(None) is None


def test_constructor(device):
    assert ttnn.Tensor(FLAT, [2, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT).to_list() == NESTED
    tensor = ttnn.Tensor(FLAT, [2, 3], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert tensor.device() is device and tensor.to_list() == NESTED
    assert ttnn.Tensor(tensor).buffer_address() == tensor.buffer_address()
    with pytest.raises(RuntimeError):
        ttnn.Tensor(FLAT, [7], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    with pytest.raises(TypeError):
        ttnn.Tensor()
    empty = ttnn.Tensor.__new__(ttnn.Tensor)
    for ask in (lambda: empty.shape, lambda: empty.to_list(), lambda: repr(empty), lambda: empty.cpu(), lambda: empty + 1):
        with pytest.raises((RuntimeError, TypeError)):
            ask()


def test_asking(device):
    tensor = on_device(device, dtype=ttnn.bfloat16)
    assert tensor.padded_shape == [32, 32] and tensor.volume() == 1024 and tensor.logical_volume() == 6
    assert tensor.storage_type() == ttnn.StorageType.DEVICE and tensor.cpu().storage_type() == ttnn.StorageType.HOST
    assert tensor.memory_config() == ttnn.DRAM_MEMORY_CONFIG and not tensor.is_sharded()
    assert tensor.buffer_num_pages() == 1 and tensor.buffer_page_size() == 2048 and tensor.element_size() == 2
    assert tensor.device() is device and tensor.cpu().device() is None
    assert tensor.spec.dtype == tensor.dtype == tensor.get_dtype() and tensor.tile == ttnn.Tile((32, 32))
    assert "PlacementReplicate" in repr(tensor.tensor_topology())
    tensor.tensor_id = 4711
    assert tensor.tensor_id == 4711
    with pytest.raises(AttributeError):
        tensor.shape = [1]
    with pytest.raises(RuntimeError, match="StorageType::HOST"):
        tensor.cpu().buffer_address()


def test_text(device, monkeypatch):
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")
    text = repr(on_device(device, dtype=ttnn.bfloat16))
    assert text.startswith("ttnn.Tensor([[ 0.0000,  1.0000") and text.endswith("dtype=DataType::BFLOAT16, layout=Layout::TILE)")


def test_operators(device):
    t = on_device(device)
    assert (t + t).to_list()[1] == [6.0, 8.0, 10.0] == (t * 2).to_list()[1] == (2 * t).to_list()[1]
    assert (t - 1).to_list()[0] == [-1.0, 0.0, 1.0] and (1 - t).to_list()[0] == [1.0, 0.0, -1.0]
    assert (-t).to_list()[1] == [-3.0, -4.0, -5.0] and (t / 2).to_list()[0] == [0.0, 0.5, 1.0]
    assert (t == 2).to_list()[0] == [0.0, 0.0, 1.0] and (t >= 1).to_list()[0] == [0.0, 1.0, 1.0]
    assert (t == None) is False and (t != "x") is True and hash(t) == hash(t)
    with pytest.raises(TypeError):
        t + "x"
    with pytest.raises(TypeError):
        [1] - t


def test_index(device):
    t = on_device(device)
    assert t[0].to_list() == NESTED[0] and t[:, 1:].to_list() == [[1.0, 2.0], [4.0, 5.0]]
    assert t[..., 0].to_list() == [0.0, 3.0] and t[1:2].to_list() == [NESTED[1]]
    with pytest.raises(RuntimeError):
        t[5]
    with pytest.raises(RuntimeError):
        t[0, 0, 0]


def test_methods(device):
    t = on_device(device, dtype=ttnn.bfloat16)
    assert t.reshape(3, 2).shape == t.reshape([3, 2]).shape == t.reshape(ttnn.Shape([3, 2])).shape == [3, 2]
    host = t.cpu().to(ttnn.ROW_MAJOR_LAYOUT)
    assert host.layout == ttnn.ROW_MAJOR_LAYOUT and host.to(device).device() is device
    assert host.pad([4, 4], [0, 0], 7.0).padded_shape == [4, 4]
    assert on_device(device, [3.5], (1, 1)).item() == 3.5
    with pytest.raises(RuntimeError, match="exactly one element"):
        t.item()


def test_life(device):
    t = on_device(device)
    ref = weakref.ref(t)
    address = t.buffer_address()
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank
    assert before > 0
    del t
    gc.collect()
    assert ref() is None
    assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM).total_bytes_allocated_per_bank == 0
    assert on_device(device).buffer_address() == address


def test_after_deallocate(device):
    t = on_device(device)
    view = t.reshape(1, 2, 3)
    ttnn.deallocate(t)
    assert not t.is_allocated() and view.is_allocated()  # as the release: a view outlives what it is a view of
    assert ttnn.relu(view).to_list() == [NESTED]
    ttnn.deallocate(view)
    assert not view.is_allocated()
    assert t.shape == [2, 3] and "<buffer is not allocated>, shape=Shape([2, 3])" in repr(t)
    for use in (lambda: t.to_list(), lambda: t + 1, lambda: t.cpu(), lambda: t.buffer_address(), lambda: ttnn.relu(view), lambda: t[0]):
        with pytest.raises(RuntimeError):
            use()
    t.deallocate()  # a second time: nothing happens


def test_subclass(device):
    class Mine(ttnn.Tensor):
        pass

    mine = Mine(on_device(device))
    mine.note = "kept"
    assert ttnn.relu(mine).to_list() == NESTED and mine.note == "kept"


def test_files(tmp_path, device):
    path = tmp_path / "a.tensorbin"
    ttnn.dump_tensor(path, on_device(device, dtype=ttnn.bfloat8_b))
    assert ttnn.load_tensor(path).to_list() == NESTED
    assert ttnn.load_tensor(str(path), device=device).device() is device
    with pytest.raises(RuntimeError):
        ttnn.load_tensor(tmp_path / "none")
    path.write_bytes(b"nonsense")
    with pytest.raises(RuntimeError):
        ttnn.load_tensor(path)


def test_numpy(numpy, device):
    for dtype in ("float32", "int32", "uint8", "int8", "uint16", "uint32"):
        a = numpy.arange(6, dtype=dtype).reshape(2, 3)
        t = ttnn.from_torch(a)
        assert t.to_numpy().dtype == a.dtype and (t.to_numpy() == a).all()
    strided = numpy.arange(24, dtype="float32").reshape(4, 6)[::2, ::-2]
    assert (numpy.asarray(ttnn.from_torch(strided)) == strided).all()
    half = numpy.array([1.5, -2.25, 6e-8, 65504, numpy.inf], dtype="float16")
    assert (ttnn.from_torch(half, dtype=ttnn.float32).to_numpy() == half).all()
    assert ttnn.from_torch(half).dtype == ttnn.bfloat16
    assert ttnn.from_torch(numpy.array([True, False])).to_list() == [1, 0]
    assert ttnn.from_torch(numpy.array([-1], dtype="int64"), dtype=ttnn.int32).to_list() == [-1]
    assert (numpy.from_dlpack(ttnn.from_torch(strided)) == strided).all()
    assert ttnn.full([2], fill_value=numpy.float32(1.5), device=device).to_list() == [1.5, 1.5]
    with pytest.raises(TypeError):
        ttnn.from_torch(numpy.array(["a"]))


def test_torch(torch, device):
    for dtype in (torch.float32, torch.bfloat16, torch.int32, torch.uint8, torch.int8, torch.uint16, torch.uint32):
        a = torch.arange(6).to(dtype).reshape(2, 3)
        t = ttnn.from_torch(a, layout=ttnn.TILE_LAYOUT, device=device)
        back = ttnn.to_torch(t)
        assert back.dtype == dtype and back.tolist() == a.tolist()
    grad = torch.randn(3, 5, requires_grad=True)
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(grad)), grad.detach())
    negative = torch.complex(grad, grad).detach().conj().imag  # negated when it is read
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(negative)), -grad.detach())
    turned = torch.randn(5, 3).t()
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(turned)), turned)
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(turned, dtype=ttnn.bfloat16)), turned.bfloat16())
    back = ttnn.to_torch(ttnn.from_torch(torch.zeros(1, 1, 2, 3)), torch_rank=2, dtype=torch.float64)
    assert back.shape == (2, 3) and back.dtype == torch.float64
    back += 1  # memory of its own
    with pytest.raises(RuntimeError, match="Unable to squeeze"):
        ttnn.to_torch(ttnn.from_torch(torch.zeros(2, 3)), torch_rank=1)
    keeper = ttnn.to_torch(ttnn.from_torch(torch.ones(1000, 1000)))
    gc.collect()
    assert keeper.sum() == 1e6
    with pytest.raises(TypeError, match="torch.Tensor"):
        ttnn.add(t, torch.zeros(3))


def test_host_copies(device):
    t = on_device(device, dtype=ttnn.bfloat16)
    host = ttnn.allocate_tensor_on_host(t.spec)
    assert host.to_list() == [[0.0] * 3] * 2 and host.device() is None
    ttnn.copy_device_to_host_tensor(t, host)
    assert host.to_list() == NESTED
    with pytest.raises(RuntimeError):
        ttnn.copy_device_to_host_tensor(t, ttnn.allocate_tensor_on_host([1], ttnn.bfloat16, ttnn.TILE_LAYOUT))


def test_correlation(device):
    t = on_device(device)
    assert ttnn.pearson_correlation_coefficient(t, t * 2 + 1) == pytest.approx(1)
    assert ttnn.pearson_correlation_coefficient(t, -t) == pytest.approx(-1)
    assert ttnn.pearson_correlation_coefficient(array.array("f", range(6)), t) == 1  # arrays of anyone
    with pytest.raises(RuntimeError, match="cannot be compared"):
        ttnn.pearson_correlation_coefficient(t, t[0])


def test_group_masks():
    mask = ttnn.create_group_norm_input_mask(96, 8, 2)
    assert mask.shape == [1, 8, 32, 64] and mask.dtype == ttnn.bfloat16 and mask.layout == ttnn.TILE_LAYOUT
    assert mask.to_list()[0][3][31] == [0.0] * 4 + [1.0] * 12 + [0.0] * 48
    assert ttnn.create_group_norm_input_negative_mask(96, 8, 2).to_list()[0][3][0] == [1.0] * 4 + [0.0] * 12 + [1.0] * 48
    with pytest.raises(RuntimeError, match="must be divisible"):
        ttnn.create_group_norm_input_mask(64, 8, 3)


def test_what_was_given_comes_back_as_a_tensor_of_its_own(device):
    x = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    number = x.tensor_id
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    y = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    ttnn.graph.end_graph_capture()
    assert x.tensor_id == number != y.tensor_id
    assert y.buffer_address() == x.buffer_address()
    ttnn.add_(x, 1.0)
    assert y.to_list()[31][31] == 2
    ttnn.deallocate(x)
    assert not y.is_allocated()


def numbers_of_calls(device, a):
    """Numbers of results, counted from the first: of what was given, and at last of one that is new."""
    calls = [
        lambda: ttnn.to_layout(a, ttnn.TILE_LAYOUT),
        lambda: ttnn.to_memory_config(a, ttnn.DRAM_MEMORY_CONFIG),
        lambda: ttnn.reshape(a, [1, 1, 64, 64]),
        lambda: ttnn.relu(a, output_tensor=a),
        lambda: ttnn.to_device(a, device),
        lambda: ttnn.add_(a, a),
    ]
    return [call().tensor_id for call in calls], ttnn.relu(a).tensor_id


def test_numbers_of_what_is_given_back(device):
    """Outside captures it is the number of what went in, in them another, as the release counts."""
    a = ttnn.zeros([1, 1, 64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    first = a.tensor_id
    given, new = numbers_of_calls(device, a)
    assert given == [first] * len(given) and new > first
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    given, _ = numbers_of_calls(device, a)
    ttnn.graph.end_graph_capture()
    assert len({first, *given}) == 1 + len(given)


def test_parts_of_complex_tensors_keep_their_numbers(device):
    a, b = (ttnn.zeros([1, 1, 32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
    z = ttnn.complex_tensor(a, b)
    assert [z.real.tensor_id, z.imag.tensor_id] == [a.tensor_id, b.tensor_id]
    assert ttnn.imag(z, memory_config=ttnn.DRAM_MEMORY_CONFIG).tensor_id == b.tensor_id


def test_padding_on_the_host_leaves_shards_behind():
    """Those that were asked for are too small then; the released library's is in DRAM."""
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 0))})
    memory = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(grid, [8, 16], ttnn.ShardOrientation.ROW_MAJOR)
    )
    tensor = ttnn.from_torch(memoryview(bytes(32 * 16 * 4)).cast("f", [1, 1, 32, 16]), memory_config=memory)
    assert tensor.memory_config() == memory
    assert tensor.pad([1, 1, 64, 16], [0, 0, 0, 0], 0.0).memory_config() == ttnn.DRAM_MEMORY_CONFIG
