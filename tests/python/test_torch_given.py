"""Results that go where the caller says: into given tensors, some of their shards, blocks of caches that another call made."""

import pytest

torch = pytest.importorskip("torch")

import ttnn
from against_torch import covers, tensor

RM, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def cores(first, last):
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(*first), ttnn.CoreCoord(*last))})


def high(rows, width, first, last):
    spec = ttnn.ShardSpec(cores(first, last), [rows, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


# ---- sort ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64, 64), (1, 55, 43), (2, 3, 40, 96), (4, 1), (1,)])
@pytest.mark.parametrize("layout", [TILES, RM])
@pytest.mark.parametrize("dim", [-1, 0])
def test_sort_into_tensors(shape, layout, dim, device):
    x = torch.randn(shape).bfloat16()
    values = ttnn.from_torch(torch.zeros(shape), ttnn.bfloat16, layout=layout, device=device)
    places = ttnn.from_torch(torch.zeros(shape).int(), ttnn.uint16, layout=layout, device=device)
    ttnn.sort(ttnn.from_torch(x, layout=TILES, device=device), dim=dim, out=(values, places))
    assert torch.equal(ttnn.to_torch(values), torch.sort(x, dim=dim).values)
    assert torch.equal(x.gather(dim, ttnn.to_torch(places).long()), torch.sort(x, dim=dim).values)


@pytest.mark.parametrize("width", [32, 64, 96])
def test_sort_of_shards(width, device):
    x, memory = torch.randn(128, width).bfloat16(), high(32, width, (0, 0), (0, 3))
    values, places = ttnn.sort(ttnn.from_torch(x, layout=TILES, device=device, memory_config=memory), descending=True)
    assert values.memory_config() == memory and places.memory_config() == memory
    assert torch.equal(ttnn.to_torch(values), torch.sort(x, descending=True).values)


def test_sort_refuses_tensors_that_cannot_hold_it(device):
    x = ttnn.from_torch(torch.randn(32, 64), layout=TILES, device=device)
    narrow = ttnn.from_torch(torch.zeros(32, 64).int(), ttnn.uint16, layout=TILES, device=device)
    wide = ttnn.from_torch(torch.zeros(32, 64).int(), ttnn.uint32, layout=TILES, device=device)
    with pytest.raises(RuntimeError, match="must be UINT32"):
        ttnn.sort(x, out=(ttnn.zeros_like(x), narrow))
    with pytest.raises(RuntimeError, match="same as input tensor dtype"):
        ttnn.sort(x, out=(wide, wide))
    with pytest.raises(RuntimeError, match="the shape of the input"):
        ttnn.sort(x, out=(ttnn.from_torch(torch.zeros(32, 32), layout=TILES, device=device), wide))
    with pytest.raises(RuntimeError, match="a tensor for the values"):
        ttnn.sort(x, out=[wide])


# ---- some shards --------------------------------------------------------------------------------------


@covers("copy_host_to_device_tensor_partial")
@pytest.mark.parametrize("layout", [TILES, RM])
def test_copy_to_some_cores(layout, device):
    old, new = torch.randint(0, 99, (2, 1, 64, 32)), torch.randint(0, 99, (2, 1, 64, 32))
    there = ttnn.from_torch(old, ttnn.uint32, layout=layout, device=device, memory_config=high(32, 32, (0, 0), (0, 3)))
    host = ttnn.from_torch(new, ttnn.uint32, layout=layout)
    ttnn.copy_host_to_device_tensor_partial(host, there, cores((0, 1), (0, 2)))
    expected = old.clone()
    expected[0, 0, 32:], expected[1, 0, :32] = new[0, 0, 32:], new[1, 0, :32]
    assert torch.equal(ttnn.to_torch(there).long(), expected)
    plain = ttnn.from_torch(old, ttnn.uint32, layout=layout, device=device)
    with pytest.raises(RuntimeError, match="in shards"):
        ttnn.copy_host_to_device_tensor_partial(host, plain, cores((0, 0), (0, 0)))


# ---- caches -------------------------------------------------------------------------------------------


def view(cache, heads, rows, width):
    """A cache [blocks, heads, rows, width] of tiles with other blocks."""
    blocks, *old = cache.shape
    tiles = cache.reshape(blocks, old[0], old[1] // 32, 32, old[2] // 32, 32).transpose(3, 4).reshape(blocks, -1, 32, 32)
    return tiles.reshape(blocks, heads, rows // 32, width // 32, 32, 32).transpose(3, 4).reshape(blocks, heads, rows, width)


def test_fill_blocks_of_another_geometry(device):
    cache, rows = torch.randn(6, 4, 64, 64).bfloat16(), torch.randn(1, 2, 256, 128).bfloat16()
    table = torch.tensor([[4, 1, 0], [5, 2, 3]]).int()
    there = tensor(device, cache, ttnn.bfloat16)
    pages = tensor(device, table, ttnn.int32, layout=RM)
    ttnn.experimental.paged_fill_cache(there, tensor(device, rows[:, :, :192], ttnn.bfloat16), pages, batch_idx=1)
    expected = view(cache, 2, 64, 128)
    for block, page in enumerate((5, 2, 3)):
        expected[page] = rows[0, :, 64 * block : 64 * block + 64]
    assert torch.equal(ttnn.to_torch(there), view(expected, 4, 64, 64))
    with pytest.raises(RuntimeError, match="geometry mismatch"):
        ttnn.experimental.paged_fill_cache(there, tensor(device, rows, ttnn.bfloat16), pages, block_size=128)


def test_positions_that_wrap(device):
    cache, rows = torch.zeros(4, 1, 32, 64).bfloat16(), torch.randn(1, 1, 160, 64).bfloat16()
    there, pages = tensor(device, cache, ttnn.bfloat16), tensor(device, torch.arange(4).int()[None], ttnn.int32, layout=RM)
    ttnn.experimental.paged_fill_cache(there, tensor(device, rows, ttnn.bfloat16), pages, cache_position_modulo=64)
    flat = ttnn.to_torch(there).reshape(128, 64)
    assert torch.equal(flat[:64], torch.cat([rows[0, 0, 128:], rows[0, 0, 96:128]])) and not flat[64:].any()
    valid = tensor(device, torch.tensor([70]).int(), ttnn.int32, layout=RM)
    more = {"cache_position_modulo": 64, "valid_seq_len_tensor": valid}
    ttnn.experimental.paged_fill_cache(there, tensor(device, rows, ttnn.bfloat16), pages, **more)
    assert torch.equal(ttnn.to_torch(there).reshape(128, 64)[:64], torch.cat([rows[0, 0, 64:96], rows[0, 0, 32:64]]))


# ---- others -------------------------------------------------------------------------------------------


def test_repeat_by_name(device):
    x = torch.randn(1, 2, 32, 32).bfloat16()
    for name in ("auto", "native", "codegen"):
        assert torch.equal(ttnn.to_torch(ttnn.repeat(tensor(device, x, ttnn.bfloat16), [2, 1, 1, 3], implementation=name)), x.repeat(2, 1, 1, 3))
    with pytest.raises(RuntimeError, match="Unknown repeat implementation 'other'"):
        ttnn.repeat(tensor(device, x, ttnn.bfloat16), [2, 1, 1, 1], implementation="other")


def test_block_floats_stay_in_tiles():
    x = ttnn.Tensor(torch.randn(32, 64), ttnn.bfloat8_b).to(TILES)
    assert x.to(RM).layout == TILES and x.to(RM).dtype == ttnn.bfloat8_b
