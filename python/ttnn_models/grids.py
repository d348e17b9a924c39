"""Core grids, shardings and program configurations by rule: what divides evenly, on at most 8x8 cores."""

import math

import ttnn

TILE = 32
SIDE = 8  # rows and columns of the cores that are used
DRAM_WIDTH = 8  # columns of cores that weights in DRAM are read by in prefill


def up(number, step):
    return math.ceil(number / step) * step


def divisor(number, most):
    """The largest divisor that is not above `most`."""
    return next(i for i in range(most, 0, -1) if number % i == 0)


def _rows_and_columns(cores):
    return next(((rows, cores // rows) for rows in range(1, SIDE + 1) if cores % rows == 0 and cores // rows <= SIDE), None)


def _grid(candidates):
    rows, columns = next(found for found in map(_rows_and_columns, candidates) if found)
    return ttnn.CoreGrid(y=rows, x=columns)


def grid_for(tiles):
    """Cores that share so many tiles evenly, as near to 32 of them as it goes."""
    return _grid(sorted((n for n in range(1, SIDE * SIDE + 1) if tiles % n == 0), key=lambda n: abs(n - 32)))


def grid_for_both(k, n):
    """As many cores as share the tiles of k and of n evenly."""
    return _grid(c for c in range(SIDE * SIDE, 0, -1) if k % c == 0 and n % c == 0)


def head_grid(width):
    """Cores of the products with the vocabulary: whole rows of eight."""
    for columns in range(SIDE, 0, -1):
        for rows in range(SIDE, 0, -1):
            if width % (TILE * rows * columns) == 0:
                return ttnn.CoreGrid(y=rows, x=columns)
    raise ValueError(f"a width of {width} cannot be shared by cores")


def width_sharded(height, width, grid):
    return ttnn.create_sharded_memory_config(
        (height, width // grid.num_cores),
        grid,
        ttnn.ShardStrategy.WIDTH,
        ttnn.ShardOrientation.ROW_MAJOR,
        use_height_and_width_as_shard_shape=True,
    )


def user_cores(users):
    """A core for each user, along rows of eight."""
    rows, rest = divmod(users, SIDE)
    end = ttnn.CoreCoord(SIDE - 1, rows - 1) if not rest and rows else ttnn.CoreCoord(users - 1, 0)
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), end)})


def user_sharded(users, height, width):
    """Height-sharded, one user to a core."""
    return ttnn.create_sharded_memory_config(
        (up(height, TILE), width),
        user_cores(users),
        ttnn.ShardStrategy.HEIGHT,
        ttnn.ShardOrientation.ROW_MAJOR,
        use_height_and_width_as_shard_shape=True,
    )


def height_sharded(height, width, most):
    """So many rows on as many cores as share their tiles evenly."""
    grid = _grid(c for c in range(most, 0, -1) if height // TILE % c == 0)
    return ttnn.create_sharded_memory_config(
        (height // grid.num_cores, width),
        grid,
        ttnn.ShardStrategy.HEIGHT,
        ttnn.ShardOrientation.ROW_MAJOR,
        use_height_and_width_as_shard_shape=True,
    )


def dram_sharded(device, k, n):
    """A weight of k rows in width shards, one for each bank of DRAM."""
    banks = device.dram_grid_size().x
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks - 1, 0))})
    spec = ttnn.ShardSpec(cores, (k, up(n, TILE * banks) // banks), ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM, spec)


def decode_product(k, n, cores):
    """One tile of rows times a weight that lies in width shards in DRAM."""
    return ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
        in0_block_w=divisor(k // (TILE * cores), 8),
        per_core_M=1,
        per_core_N=math.ceil(n / (TILE * cores)),
        fused_activation=None,
    )


def _prefill(grid, block, per_core, subblock, fuse):
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=grid,
        in0_block_w=block,
        out_subblock_h=1,
        out_subblock_w=subblock,
        per_core_M=per_core[0],
        per_core_N=per_core[1],
        transpose_mcast=False,
        fused_activation=None,
        fuse_batch=fuse,
    )


def prefill_product(m, k, n, grid_k=None, fuse=False):
    """Rows of a prompt times a weight in DRAM, on 8 columns; `grid_k` chooses the rows, if k does not."""
    rows = divisor((grid_k or k) // TILE, SIDE)
    per_core_n = math.ceil(n / (TILE * DRAM_WIDTH))
    block = divisor((grid_k or k) // (TILE * rows), 8)
    return _prefill((SIDE, rows), block, (math.ceil(m / (TILE * rows)), per_core_n), divisor(per_core_n, 4), fuse)


def prefill_heads(length, n, most):
    """The product that makes queries, keys and values of a prompt."""
    rows = SIDE if length >= most else max(1, math.ceil(length / TILE / SIDE))
    return _prefill((SIDE, SIDE), 1, (rows, math.ceil(n / TILE / DRAM_WIDTH)), 1, length <= most)


def sharded_norm(width, grid):
    block = width // grid.num_cores // TILE
    return ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=[grid.x, grid.y], subblock_w=divisor(block, 4), block_h=1, block_w=block, inplace=False
    )


def square_product(m, n, fuse):
    """m rows times a weight that is interleaved, on all cores."""
    per_core_n = math.ceil(n / TILE / SIDE)
    return _prefill((SIDE, SIDE), 1, (math.ceil(m / TILE / SIDE), per_core_n), divisor(per_core_n, 4), fuse)


def attention(chunk, keys=None):
    return ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(SIDE, SIDE), exp_approx_mode=False, q_chunk_size=chunk, k_chunk_size=keys or chunk
    )


def kernel(fidelity, approximate, wide):
    """How products are computed; `wide` accumulates in float32."""
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=fidelity, math_approx_mode=approximate, fp32_dest_acc_en=wide, packer_l1_acc=True
    )
