"""Weights of experts as moe_compute reads them, and its cores. Placements are what ttnn 0.81.1 says of an n150."""

import pytest
import ttnn
from ttnn.experimental import moe_compute_utils as weights

TILE, EXPERTS = 32, 2


def ranges(*boxes):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(a, b), ttnn.CoreCoord(c, d)) for a, b, c, d in boxes])


@pytest.mark.parametrize(
    "combine, mux, first, last, box",
    [
        ((4, 4), None, (0, 2), (7, 3), (0, 0, 7, 7)),
        ((4, 3), None, (6, 0), (7, 5), (0, 0, 7, 7)),
        ((2, 2), [(5, 0, 6, 3)], (6, 4), (7, 5), (0, 0, 7, 7)),
        ((4, 1), [(6, 0, 7, 8)], (4, 2), (5, 3), (0, 0, 5, 7)),
    ],
)
def test_placement(device, combine, mux, first, last, box):
    given = {"mux_core_range_set": ranges(*mux)} if mux else {}
    cores = [(c.x, c.y) for c in ttnn.experimental.get_moe_combine_cores(device, *combine, 4096, **given)]
    drain = ttnn.experimental.get_moe_tilize_drain_core(device, *combine, 4096, **given)
    around = ttnn.experimental.get_moe_worker_mcast_bounding_box(device, *combine, 4096, **given)
    assert (cores[0], cores[-1], len(cores)) == (first, last, combine[0] * combine[1])
    assert (drain.x, drain.y) not in cores and drain.y >= 6
    assert (around.start.x, around.start.y, around.end.x, around.end.y) == box


def test_placement_refused(device):
    with pytest.raises(RuntimeError, match="12-core matmul ring together with 5 combine . 4 tilize cores disjointly, avoiding 0 mux"):
        ttnn.experimental.get_moe_combine_cores(device, 5, 1, 4096)
    with pytest.raises(RuntimeError, match="empty CoreRangeSet"):
        ttnn.experimental.get_moe_tilize_drain_core(device, 0, 1, 4096)


def shapes(K, N, cores):
    Kt, Nt = K // TILE, N // TILE
    groups = -(-(-(-Kt // cores)) // 4)
    down = [weights._w2_shard_tiles(Kt, c, Nt, cores) for c in range(cores)]
    return [weights._shard_tiles(Nt, c, cores) for c in range(cores)], [(n - (groups - 1) * 4, groups * 4 - n) for n in down], down


@pytest.mark.parametrize("K, N, cores", [(512, 384, 12), (96, 736, 12), (2560, 640, 8), (288, 608, 7), (64, 32, 1)])
@pytest.mark.parametrize("bias", [False, True])
def test_gate_and_up(torch, K, N, cores, bias):
    """Tiles are looked up block by block as a core walks them."""
    w0, w1, b0, b1 = (torch.randn(1, EXPERTS, *s) for s in ((K, N), (K, N), (N,), (N,)))
    columns, _, _ = shapes(K, N, cores)
    if bias:
        packed = weights.prepare_w0_w1_tensor_with_bias(w0, w1, b0, b1, 1, EXPERTS, K, N, columns)
        w0, w1 = (torch.cat([w, torch.nn.functional.pad(b.unsqueeze(2), (0, 0, 0, 31))], dim=2) for w, b in ((w0, b0), (w1, b1)))
    else:
        packed = weights.prepare_w0_w1_tensor_for_moe_compute(w0, w1, 1, EXPERTS, K, N, columns)
    Kt = w0.shape[2] // TILE
    txn = weights._tiles_per_txn(K // TILE, N // TILE, bias, cores)
    stored = weights._w0_w1_compact_layout(Kt, N // TILE, cores, tiles_per_txn=txn)["stored_cols"]
    rows = iter(packed.reshape(cores, 1, EXPERTS, -1, 128)[:, 0, 1].reshape(-1, TILE, 128))
    tile = lambda w, k, n: w[0, 1, k * TILE : (k + 1) * TILE, n * TILE : (n + 1) * TILE]
    start = 0
    for core in range(cores):
        for column in range(0, stored[core], 2):
            half = column + 1 == stored[core]
            height = txn // (1 if half else 2)
            for step in range(-(-Kt // height) * height // (2 if half else 1)):
                row = next(rows)
                for place in range(4):
                    k, n = (2 * step + place // 2, column) if half else (step, column + place // 2)
                    here = row[:, place * TILE : (place + 1) * TILE]
                    inside = k < Kt and n < columns[core]
                    assert torch.equal(here, tile((w0, w1)[place % 2], k, start + n) if inside else torch.zeros(TILE, TILE))
        start += columns[core]
    assert not any(row.any() for row in rows)


@pytest.mark.parametrize("K, N, cores", [(512, 384, 12), (96, 736, 12), (2560, 640, 8), (288, 608, 7), (64, 32, 1)])
def test_down(torch, K, N, cores):
    """A product along the rows as a core of the ring meets them is the product."""
    w2, x = torch.randn(1, EXPERTS, N, K, dtype=torch.float64), torch.randn(N, dtype=torch.float64)
    columns, groups, own = shapes(K, N, cores)
    packed = weights.prepare_w2_tensor_for_moe_compute(w2, 1, EXPERTS, N, K, groups, columns)
    ends = [sum(columns[:c]) * TILE for c in range(cores + 1)]
    for core in range(cores):
        met = torch.cat([x[ends[c] : ends[c + 1]] for c in [(core - i) % cores for i in range(cores)]])
        slab, found = packed[core, 0, 1], []
        if (K, N) == (2560, 640):  # half of the last group of columns: two rows of tiles side by side
            slab, half = slab.reshape(-1, 128)[: N * 2], slab.reshape(-1, 128)[N * 2 :].reshape(-1, TILE, 2, 64)
            found = [half.transpose(1, 2).reshape(N, 64)]
        wide = slab.reshape(-1, N if found else slab.shape[1], 128)[:, :N]
        result = torch.cat([met @ part for part in [*wide, *found]])[: own[core] * TILE]
        start = sum(own[:core]) * TILE
        assert torch.allclose(result, (x @ w2[0, 1])[start : start + own[core] * TILE])


def test_shared_experts(torch):
    mapping = weights.map_shared_experts(torch.arange(4).repeat(4, 1), {4: [0, 2], 5: [1, 3]}, (2, 2), 0)
    assert mapping[:, 4:].tolist() == [[0, 1], [0, 1], [2, 1], [0, 3]]
    with pytest.raises(RuntimeError, match="equal number of experts"):
        weights.map_shared_experts(torch.zeros(4, 4), {4: [0]}, (2, 2), 0)
    with pytest.raises(RuntimeError, match="contiguous continuation"):
        weights.map_shared_experts(torch.zeros(2, 4), {5: [0, 1]}, (1, 2), 1)


def test_memory(device):
    maps = weights.get_weight_core_shard_maps(device, 512, 384)
    first, second, K, N = weights.get_weight_mem_configs(1, 2, 512, 384, *maps)
    assert (maps[0], K, N) == ([1] * 12, 672, 448) and first.shard_spec.shape[1] == second.shard_spec.shape[1] == 128
    with pytest.raises(ValueError, match="must be divisible by ttnn.TILE_SIZE"):
        weights.get_weight_mem_configs(1, 2, 500, 384, *maps)


@pytest.mark.parametrize("hidden, between", [(480, 192), (224, 960), (64, 1568)])
def test_operations_pack_as_the_module_does(device, hidden, between):
    torch = pytest.importorskip("torch")
    up, gate = torch.randn(2, 1, 2, hidden, between).bfloat16()
    down, bias, low = torch.randn(1, 2, between, hidden), torch.randn(1, 2, between), torch.randn(1, 2, hidden)
    on = lambda tensor: ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    extents = {"L": 1, "E": 2, "K": hidden, "N": between}
    maps = weights.get_weight_core_shard_maps(device, hidden, between)
    ours = ttnn.experimental.get_weight_core_shard_maps(device, hidden, between)
    assert (ours.w0_w1_shard_map, ours.w2_shard_map) == maps[:2] and str(ours.dram_core_range_set) == str(maps[2])
    pairs = [
        (
            ttnn.experimental.prepare_w0_w1_tensor_for_moe_compute(on(up), on(gate), **extents),
            weights.prepare_w0_w1_tensor_for_moe_compute(up, gate, 1, 2, hidden, between, maps[0]),
        ),
        (
            ttnn.experimental.prepare_w0_w1_tensor_with_bias(on(up), on(gate), on(bias), on(bias), **extents),
            weights.prepare_w0_w1_tensor_with_bias(up, gate, bias, bias, 1, 2, hidden, between, maps[0]),
        ),
        (
            ttnn.experimental.prepare_w2_tensor_for_moe_compute(on(down), **extents),
            weights.prepare_w2_tensor_for_moe_compute(down, 1, 2, between, hidden, maps[1], maps[0]),
        ),
        (
            ttnn.experimental.prepare_w2_tensor_with_bias(on(down), on(low), **extents),
            weights.prepare_w2_tensor_with_bias(down, low, 1, 2, between, hidden, maps[1], maps[0]),
        ),
    ]
    for packed, wanted in pairs:
        assert torch.equal(ttnn.to_torch(packed), wanted.bfloat16())
    for has_bias in (False, True):
        names = {"num_layers": 1, "experts_per_device": 2, "hidden_size": hidden, "intermediate_size": between}
        configs = ttnn.experimental.get_weight_mem_configs(device, has_bias=has_bias, **names)
        assert (configs.w0_w1, configs.w2) == weights.get_weight_mem_configs(1, 2, hidden, between, *maps, has_bias)[:2]
        quantized = ttnn.experimental.quantize_weights_via_host(
            pairs[has_bias][0], dtype=ttnn.bfloat4_b, memory_config=configs.w0_w1
        )
        assert quantized.memory_config() == configs.w0_w1 and quantized.dtype == ttnn.bfloat4_b
    with pytest.raises(RuntimeError, match="hidden_size .65. must be divisible"):
        ttnn.experimental.get_weight_mem_configs(device, **{**names, "hidden_size": 65})
