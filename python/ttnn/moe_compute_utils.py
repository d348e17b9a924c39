"""ttnn.experimental.moe_compute_utils: weights of experts as moe_compute reads them, and the cores it runs on.

Models the module of that name of ttnn 0.81, and the placement that its operation makes. A ring of cores, one beside each bank of
DRAM, shares the columns of the weights: gate (w0) and up (w1) side by side, and down (w2). A bank is read in blocks of two
transactions: 4 tiles wide, or 2 where a core has one column more. Letters: L layers, E experts, K inner and N intermediate extent
(hidden_size and intermediate_size), a t behind them for tiles.
"""

import itertools

import ttnn

W0_W1_BLOCK_TILES_W = W2_TILES_PER_A2A_ITER_W = 4
W0_W1_HALF_BLOCK_TILES_W = W2_HALF_A2A_ITER_TILES_W = 2
W0_W1_TXNS_PER_BLOCK = 2
DEFAULT_TILES_PER_TXN = 14
ALT_TILES_PER_TXN = 20
BLOCK_TILES_H = 7
_TILE = 32
_WIDTH = W0_W1_BLOCK_TILES_W * _TILE


# ---- shared experts --------------------------------------------------------------------------------------


def cluster_distance(d0, d1, mesh_shape, cluster_axis):
    """How far apart two devices are along an axis of the mesh; None if they are not on one line of it."""
    a, b = divmod(d0, mesh_shape[1]), divmod(d1, mesh_shape[1])
    return abs(a[cluster_axis] - b[cluster_axis]) if a[1 - cluster_axis] == b[1 - cluster_axis] else None


def get_shared_experts_per_device(shared_expert_ids_to_devices, devices):
    """How many shared experts each device holds."""
    counts = [0] * devices
    for device in itertools.chain.from_iterable(shared_expert_ids_to_devices.values()):
        counts[device] += 1
    return counts


def map_shared_experts(expert_mapping_tensor, shared_expert_ids_to_devices, mesh_shape, cluster_axis):
    """[devices, experts], the device of each expert, with columns more for shared ones: the nearest device on the axis that
    has it, or the first of its list where none is on the axis."""
    if expert_mapping_tensor.dim() != 2:
        raise RuntimeError(f"Invalid shape of mapping tensor. Expected: 2. Got: {expert_mapping_tensor.dim()}")
    devices, routed = expert_mapping_tensor.shape
    if len(set(get_shared_experts_per_device(shared_expert_ids_to_devices, devices))) != 1:
        raise RuntimeError("Shared Experts must be distributed such that all devices have an equal number of experts")
    if sorted(shared_expert_ids_to_devices) != list(range(routed, routed + len(shared_expert_ids_to_devices))):
        raise RuntimeError("Shared expert IDs should be a contiguous continuation of routed expert IDs ")
    mapping = expert_mapping_tensor.new_zeros((devices, routed + len(shared_expert_ids_to_devices)))
    mapping[:, :routed] = expert_mapping_tensor
    for device in range(devices):
        for expert, holders in shared_expert_ids_to_devices.items():
            away = {d: cluster_distance(device, d, mesh_shape, cluster_axis) for d in holders}
            near = [d for d in holders if away[d] is not None]
            mapping[device, expert] = min(near, key=away.get) if near else holders[0]
    return mapping


def add_shared_expert_weights(
    routed_w0, routed_w1, routed_w2, shared_w0, shared_w1, shared_w2, shared_expert_ids_to_device, num_devices
):
    """Weights (w0, w1, w2) with the experts of each device behind each other: its routed ones, then its shared ones by number."""
    import torch

    held = [[e for e in sorted(shared_expert_ids_to_device) for d in shared_expert_ids_to_device[e] if d == k] for k in range(num_devices)]
    each = routed_w0.shape[1] // num_devices

    def together(routed, shared):
        parts = []
        for device, experts in enumerate(held):
            parts.append(routed[:, device * each : (device + 1) * each])
            parts += [shared[expert].to(routed.dtype) for expert in experts]
        return torch.cat(parts, dim=1)

    return together(routed_w0, shared_w0), together(routed_w1, shared_w1), together(routed_w2, shared_w2)


# ---- who has which tiles ------------------------------------------------------------------------------------


def _up(count, step):
    return -(-count // step)


def _shard_tiles(n_tiles, core_id, n_cores):
    """The tiles of a core of the ring: those left over are spread evenly."""
    more = n_tiles % n_cores
    return n_tiles // n_cores + (core_id * more % n_cores < more)


def _w2_shard_tiles(Ht, core_id, Nt, n_cores):
    """The same of w2, where cores that have fewer columns of w0 and w1 take the more if that goes without remainder."""
    if Nt % n_cores + Ht % n_cores == n_cores:
        return Ht // n_cores + (_shard_tiles(Nt, core_id, n_cores) == Nt // n_cores)
    return _shard_tiles(Ht, core_id, n_cores)


def _even_stride_at_least_a2a_width(tiles):
    return max(tiles + tiles % 2, W2_TILES_PER_A2A_ITER_W)


def _w0_w1_compact_for_shape(Nt, num_cores):
    """Whether cores keep their own columns only, because the most that one has is less than what they would keep alike."""
    most = _up(Nt, num_cores)
    return most < _even_stride_at_least_a2a_width(most)


def _w0_w1_stored_cols(Nt, core_id, num_cores):
    if _w0_w1_compact_for_shape(Nt, num_cores):
        return _shard_tiles(Nt, core_id, num_cores)
    return _even_stride_at_least_a2a_width(_up(Nt, num_cores))


def _block_tiles_h(tiles_per_txn):
    return W0_W1_TXNS_PER_BLOCK * tiles_per_txn // W0_W1_BLOCK_TILES_W


def _half_block_tiles_h(tiles_per_txn):
    return W0_W1_TXNS_PER_BLOCK * tiles_per_txn // W0_W1_HALF_BLOCK_TILES_W


def _w2_num_a2a_iters(Ht, num_cores):
    return _up(_up(Ht, num_cores), W2_TILES_PER_A2A_ITER_W)


def _w2_last_a2a_iter_half(Ht, num_cores, tiles_per_txn):
    """Whether the last group of columns is half as wide: with the longer transactions only."""
    rest = _up(Ht, num_cores) % W2_TILES_PER_A2A_ITER_W
    return tiles_per_txn != DEFAULT_TILES_PER_TXN and 0 < rest <= W2_HALF_A2A_ITER_TILES_W


def _w2_core_blocks_per_expert(Ht, k_w2_tiles, num_cores, tiles_per_txn):
    half = int(_w2_last_a2a_iter_half(Ht, num_cores, tiles_per_txn))
    wide = _w2_num_a2a_iters(Ht, num_cores) - half
    return wide * _up(k_w2_tiles, _block_tiles_h(tiles_per_txn)) + half * _up(k_w2_tiles, _half_block_tiles_h(tiles_per_txn))


def _tiles_per_txn(Ht, Nt, has_bias, num_cores):
    """Longer transactions for one shape alone: 2560 by 640 on eight banks."""
    return ALT_TILES_PER_TXN if (Ht, Nt, has_bias, num_cores) == (80, 20, False, 8) else DEFAULT_TILES_PER_TXN


def _w0_w1_compact_layout(k_dram_tiles, Nt, num_cores, num_banks=None, tiles_per_txn=DEFAULT_TILES_PER_TXN):
    """Where blocks of w0 and w1 lie: those of an expert core after core, then cut into as many pieces as there are banks."""
    banks = num_cores if num_banks is None else num_banks
    whole, half = (_up(k_dram_tiles, h(tiles_per_txn)) for h in (_block_tiles_h, _half_block_tiles_h))
    stored = [_w0_w1_stored_cols(Nt, c, num_cores) for c in range(num_cores)]
    blocks = [n // 2 * whole + n % 2 * half for n in stored]
    return {
        "tiles_per_txn": tiles_per_txn,
        "block_rows": _block_tiles_h(tiles_per_txn) * _TILE,
        "blocks_per_col": whole,
        "blocks_per_half_col": half,
        "cols": [_shard_tiles(Nt, c, num_cores) for c in range(num_cores)],
        "stored_cols": stored,
        "compact": _w0_w1_compact_for_shape(Nt, num_cores),
        "core_blocks": blocks,
        "core_block_offsets": [sum(blocks[:c]) for c in range(num_cores)],
        "expert_blocks": sum(blocks),
        "num_banks": banks,
        "bank_blocks_per_expert": _up(sum(blocks), banks),
        "uniform": tiles_per_txn == DEFAULT_TILES_PER_TXN and len(set(stored)) == 1 and stored[0] % 2 == 0 and banks == num_cores,
    }


def w0_w1_bank_rows_per_expert(k_dram_tiles, Nt, num_cores, num_banks=None, tiles_per_txn=DEFAULT_TILES_PER_TXN):
    """Rows of w0 and w1 that a bank holds of each expert of each layer."""
    layout = _w0_w1_compact_layout(k_dram_tiles, Nt, num_cores, num_banks, tiles_per_txn)
    return layout["bank_blocks_per_expert"] * layout["block_rows"]


def w2_core_rows_per_expert(Ht, k_w2_tiles, num_cores, tiles_per_txn):
    """Rows of w2 that a core reads of each expert of each layer."""
    return _w2_core_blocks_per_expert(Ht, k_w2_tiles, num_cores, tiles_per_txn) * _block_tiles_h(tiles_per_txn) * _TILE


def effective_matmul_ring_size(mesh_device, bh_ring_size=8):
    """How many cores the ring has: one for each bank."""
    if mesh_device.arch() == ttnn.Arch.BLACKHOLE:
        return len(ttnn.device.get_optimal_dram_bank_to_logical_worker_assignment(mesh_device, 0))
    return 12


def auto_output_width_shard_dim(hidden_size, tile_size=32, max_dim=4, matmul_ring_size=None):
    """Into how many parts rows of the output are cut: the most that divide their tiles (and the ring, which other releases name)."""
    for parts in range(max_dim, 0, -1):
        if hidden_size // tile_size % parts == 0 and (matmul_ring_size or 0) % parts == 0:
            return parts
    return 1


def get_weight_core_shard_maps(mesh_device, hidden_size, intermediate_size):
    """(tiles of w0 and w1, (tiles, padding) of the last group of w2) of each core of the ring, and the banks in its order."""
    near = ttnn.device.get_optimal_dram_bank_to_logical_worker_assignment(mesh_device, 0)
    size = effective_matmul_ring_size(mesh_device)
    Nt, Ht = intermediate_size // _TILE, hidden_size // _TILE
    room = _w2_num_a2a_iters(Ht, size) * W2_TILES_PER_A2A_ITER_W
    tiles = [_w2_shard_tiles(Ht, c, Nt, size) for c in range(size)]
    banks = sorted(range(len(near)), key=lambda b: (near[b].y, near[b].x), reverse=True)[:size]
    places = [ttnn.CoreCoord(bank, 0) for bank in banks]
    return (
        [_shard_tiles(Nt, c, size) for c in range(size)],
        [(n - room + W2_TILES_PER_A2A_ITER_W, room - n) for n in tiles],
        ttnn.CoreRangeSet([ttnn.CoreRange(place, place) for place in places]),
    )


def get_weight_mem_configs(
    num_layers,
    experts_per_device,
    hidden_size,
    intermediate_size,
    w0_w1_shard_map,
    w2_shard_map,
    dram_core_range_set,
    has_bias=False,
):
    """Memory configs of both weights, in shards of rows over the banks, and the padded extents K and N."""
    _check_tiles(hidden_size, intermediate_size, "hidden_size ({})", "intermediate_size ({})")
    Ht, Nt, cores, banks = hidden_size // _TILE, intermediate_size // _TILE, len(w0_w1_shard_map), dram_core_range_set.num_cores()
    txn = _tiles_per_txn(Ht, Nt, has_bias, cores)
    height, bias = _block_tiles_h(txn), int(has_bias)
    if w0_w1_shard_map != [_shard_tiles(Nt, c, cores) for c in range(cores)]:
        raise RuntimeError(f"get_weight_mem_configs: w0_w1 shard map {w0_w1_shard_map} does not match the kernel's")
    each = num_layers * experts_per_device
    core_rows = w2_core_rows_per_expert(Ht, Nt + bias, cores, txn)
    rows = each * cores * core_rows
    if rows % banks:
        raise RuntimeError(
            f"get_weight_mem_configs: w2 total rows {rows} not divisible by num_banks {banks} "
            f"(num_cores={cores}, w2_core_rows={core_rows})"
        )

    def shards(height):
        spec = ttnn.ShardSpec(dram_core_range_set, (height, _WIDTH), ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.DRAM, spec)

    return (
        shards(each * w0_w1_bank_rows_per_expert(Ht + bias, Nt, cores, banks, txn)),
        shards(rows // banks),
        _up(Ht + bias, height) * height * _TILE,
        _up(Nt + bias, height) * height * _TILE,
    )


# ---- weights as they are read ---------------------------------------------------------------------------------


def _check_tiles(first, second, *names):
    for extent, name in zip((first, second), names):
        if extent % _TILE:
            raise ValueError(f"{name.format(extent)} must be divisible by ttnn.TILE_SIZE ({_TILE})")


def _grown(tensor, dim, extent):
    """The tensor with zeros behind it along a dimension, or without what is beyond the extent."""
    behind = tensor.dim() - 1 - dim
    import torch

    return torch.nn.functional.pad(tensor, [0, 0] * behind + [0, extent - tensor.shape[dim]])


def _beside(tensor):
    """[..., rows, 64]: rows of tiles two by two side by side, [..., rows / 2, 128]."""
    *outer, rows, width = tensor.shape
    return tensor.reshape(*outer, rows // (2 * _TILE), 2, _TILE, width).transpose(-3, -2).reshape(*outer, rows // 2, 2 * width)


def _bias_rows(bias):
    """[L, E, n] as the first of a tile's rows."""
    return _grown(bias.unsqueeze(2), 2, _TILE)


def prepare_w0_w1_tensor_for_moe_compute(torch_w0, torch_w1, L, E, K, N, shard_map, num_banks=None, tiles_per_txn=None):
    """Columns of w0 and w1 in turn, tile by tile, core by core: (banks, L, E, blocks, rows of a block, 128), or
    (cores, L, E, pairs of columns, padded K, 128) where all cores keep as many."""
    import torch

    _check_tiles(K, N, "K dimension ({})", "N dimension ({})")
    Kt, Nt, cores = K // _TILE, N // _TILE, len(shard_map)
    if not cores:
        raise ValueError("shard_map must contain one entry per ring core")
    expected = [_shard_tiles(Nt, c, cores) for c in range(cores)]
    if shard_map != expected:
        raise RuntimeError(f"W0W1 shard map must match the kernel distribution {expected}, got: {shard_map}")
    txn = tiles_per_txn or _tiles_per_txn(Kt, Nt, False, cores)
    layout = _w0_w1_compact_layout(Kt, Nt, cores, num_banks, txn)
    whole = layout["blocks_per_col"] * _block_tiles_h(txn) * _TILE
    half = layout["blocks_per_half_col"] * _half_block_tiles_h(txn) * _TILE
    both = torch.stack([w.reshape(L, E, K, Nt, _TILE) for w in (torch_w0, torch_w1)], dim=4).flatten(4)
    parts, start = [], 0
    for own, stored in zip(shard_map, layout["stored_cols"]):
        columns = _grown(both[:, :, :, start : start + own], 3, stored)
        even = _grown(columns[:, :, :, : stored // 2 * 2], 2, whole).reshape(L, E, whole, stored // 2, _WIDTH)
        parts.append(even.transpose(2, 3).flatten(2, 3))
        if stored % 2:
            parts.append(_beside(_grown(columns[:, :, :, -1], 2, half)))
        start += own
    banks, blocks, rows = layout["num_banks"], layout["bank_blocks_per_expert"], layout["block_rows"]
    stream = _grown(torch.cat(parts, dim=2), 2, banks * blocks * rows)
    packed = stream.reshape(L, E, banks, blocks, rows, _WIDTH).permute(2, 0, 1, 3, 4, 5)
    if layout["uniform"]:
        return packed.reshape(cores, L, E, layout["stored_cols"][0] // 2, whole, _WIDTH)
    return packed.contiguous()


def _w2_groups(torch_w2, w2_shard_map):
    """[L, E, rows, K] by cores, each with groups of 4 tiles of columns: [cores, L, E, groups, rows, 128]."""
    import torch

    L, E, rows, K = torch_w2.shape
    groups = _up(K // _TILE, len(w2_shard_map) * sum(w2_shard_map[0]))
    parts, start = [], 0
    for last, _ in w2_shard_map:
        end = start + (groups - 1) * _WIDTH + last * _TILE
        parts.append(_grown(torch_w2[..., start:end], 3, groups * _WIDTH))
        start = end
    return torch.stack(parts).reshape(len(parts), L, E, rows, groups, _WIDTH).transpose(3, 4)


def _w2_blocks(grouped, k_tiles, Ht, tiles_per_txn):
    """The same with rows filled to whole blocks; a last group of half width lies two rows of tiles side by side."""
    import torch

    cores, groups = grouped.shape[0], grouped.shape[3]
    whole, half = (_up(k_tiles, h) * h * _TILE for h in (_block_tiles_h(tiles_per_txn), _half_block_tiles_h(tiles_per_txn)))
    if not _w2_last_a2a_iter_half(Ht, cores, tiles_per_txn):
        return _grown(grouped, 4, whole).contiguous()
    wide = _grown(grouped[:, :, :, : groups - 1], 4, whole).flatten(3, 4)
    narrow = _beside(_grown(grouped[:, :, :, -1, :, : _WIDTH // 2], 3, half))
    return torch.cat([wide, narrow], dim=3).unflatten(3, (-1, _block_tiles_h(tiles_per_txn) * _TILE))


def _w2_turned(torch_w2, w2_shard_map, w0_w1_shard_map):
    """The groups with rows in the order in which the ring brings a core the others' columns of w0 and w1: its own, then backwards."""
    import torch

    grouped, cores = _w2_groups(torch_w2, w2_shard_map), len(w2_shard_map)
    tiles = grouped.unflatten(4, (-1, _TILE))
    ends = list(itertools.accumulate(w0_w1_shard_map, initial=0))
    turned = []
    for core in range(cores):
        chunks = [(core - i) % cores for i in range(cores)]
        turned.append(tiles[core][:, :, :, [t for c in chunks for t in range(ends[c], ends[c + 1])]])
    return torch.stack(turned).flatten(4, 5)


def prepare_w2_tensor_for_moe_compute(torch_w2, L, E, N, K, w2_shard_map, w0_w1_shard_map, tiles_per_txn=None):
    """w2 by cores, with rows as the ring brings them: (cores, L, E, groups of columns, padded N, 128), or by blocks."""
    _check_tiles(N, K, "N dimension ({})", "K dimension ({})")
    txn = tiles_per_txn or _tiles_per_txn(K // _TILE, N // _TILE, False, len(w2_shard_map))
    return _w2_blocks(_w2_turned(torch_w2, w2_shard_map, w0_w1_shard_map), N // _TILE, K // _TILE, txn)


def prepare_w0_w1_tensor_with_bias(torch_w0, torch_w1, torch_b0, torch_b1, L, E, K, N, shard_map):
    """The same as without, with a tile of rows behind K whose first row is the bias."""
    import torch

    _check_tiles(K, N, "K dimension ({})", "N dimension ({})")
    w0, w1 = (torch.cat([w, _bias_rows(b)], dim=2) for w, b in ((torch_w0, torch_b0), (torch_w1, torch_b1)))
    txn = _tiles_per_txn(K // _TILE, N // _TILE, True, len(shard_map))
    return prepare_w0_w1_tensor_for_moe_compute(w0, w1, L, E, K + _TILE, N, shard_map, tiles_per_txn=txn)


def prepare_w2_tensor_with_bias(torch_w2, torch_b2, L, E, N, K, w2_shard_map, w0_w1_shard_map):
    """The same as without, with a tile of rows behind N whose first row is the bias; it stays where it is on every core."""
    import torch

    _check_tiles(N, K, "N dimension ({})", "K dimension ({})")
    turned = _w2_turned(torch_w2, w2_shard_map, w0_w1_shard_map)
    grouped = torch.cat([turned, _w2_groups(_bias_rows(torch_b2), w2_shard_map)], dim=4)
    txn = _tiles_per_txn(K // _TILE, N // _TILE, True, len(w2_shard_map))
    return _w2_blocks(grouped, N // _TILE + 1, K // _TILE, txn)
