"""Which cores moe_compute takes: ttnn.experimental.get_moe_combine_cores and its kin.

Models select_moe_compute_cores() of ttnn 0.81: a ring that multiplies, beside the banks of DRAM or, where that leaves no room, in
rows from the west; cores that combine in one rectangle; cores that tilize in the two highest rows. The rectangles around the three
share no core, and none has one that the caller keeps (mux).
"""

import ttnn
from ttnn.moe_compute_utils import effective_matmul_ring_size

_STRIP, _HIGH, _TILIZERS = 2, 2, 4


def _rectangle(x, y, width, height):
    return {(i, j) for j in range(y, y + height) for i in range(x, x + width)}


def _around(cores):
    """The rectangle around cores."""
    xs, ys = zip(*cores)
    return _rectangle(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)


def _free(taken, width, height, columns, rows):
    """The rectangle furthest east, then lowest, that nobody has; None without one."""
    for x in range(columns - width, -1, -1):
        for y in range(rows.start, rows.stop - height + 1):
            cores = _rectangle(x, y, width, height)
            if not cores & taken:
                return cores
    return None


def _place_combine(taken, count, columns, rows):
    """In two columns, or else in the widest rectangle of just as many. Of an odd number the strip's last core is left out."""
    if count > columns * len(rows):
        return None
    strip = _free(taken, _STRIP, -(-count // _STRIP), columns, rows) if count else None
    if strip:
        return sorted(strip, key=lambda core: core[::-1])[:count]
    for width in range(count, 0, -1):
        cores = _free(taken, width, count // width, columns, rows) if count % width == 0 else None
        if cores:
            return list(cores)
    return None


def _place_tilize(taken, wanted, tiles, columns, rows):
    """A square in the two highest rows, or what is free there; as many as divide the tiles."""
    square = _free(taken, 2, _HIGH, columns, rows)
    free = sorted(square, reverse=True) if square else [(x, y) for y in reversed(rows) for x in range(columns - 1, -1, -1) if (x, y) not in taken]
    for count in range(wanted, 0, -1):
        cores = free[:count]
        if tiles % count == 0 and len(cores) == count and not _around(cores) & taken:
            return cores
    return None


def _place(ring, mux, combining, tiles, grid):
    """(combine, tilize) beside a ring; None where they do not fit."""
    taken = mux | _around(ring)
    combine = _place_combine(taken, combining, grid.x, range(max(grid.y - _HIGH, 1)))
    if not combine or len(_around(combine)) != combining:
        return None
    tilize = _place_tilize(taken | _around(combine), _wanted(tiles), tiles, grid.x, range(max(grid.y - _HIGH, 0), grid.y))
    return tilize and (combine, tilize)


def _row_ring(first, size, mux, grid):
    """The ring in rows from a row on, east of which the strip has room; a row begins in the west, or is left out."""
    rows = [y for y in range(first, max(grid.y - _HIGH, 1)) if (0, y) not in mux]
    return [(x, y) for y in rows for x in range(max(grid.x - _STRIP, 1)) if (x, y) not in mux][:size]


def _wanted(tiles):
    """How many cores tilize: as many as divide the tiles, at most four."""
    return next((n for n in range(min(_TILIZERS, tiles), 1, -1) if tiles % n == 0), 1)


def _select(mesh_device, combining, tiles, mux_core_range_set):
    """(combine, tilize, ring) as lists of (x, y)."""
    grid, size = mesh_device.compute_with_storage_grid_size(), effective_matmul_ring_size(mesh_device)
    near = [(c.x, c.y) for c in ttnn.device.get_optimal_dram_bank_to_logical_worker_assignment(mesh_device, 0)]
    mux = {(c.x, c.y) for c in ttnn.corerange_to_cores(mux_core_range_set)} if mux_core_range_set else set()
    if not combining:
        raise RuntimeError("Cannot get bounding_box of an empty CoreRangeSet!")
    rings = [] if mux & set(near) else [near[:size]]
    for ring in rings + [_row_ring(y, size, mux, grid) for y in range(grid.y)]:
        placed = _place(ring, mux, combining, tiles, grid) if len(ring) == size else None
        if placed:
            return *placed, ring
    raise RuntimeError(
        f"moe_compute: could not place a column-0-anchored compact {size}-core matmul ring together with {combining} combine + "
        f"{_wanted(tiles)} tilize cores disjointly, avoiding {len(mux)} mux cores, on the {grid.x}x{grid.y} worker grid"
    )


def _asked(give):
    """A function of the arguments that all three take, which gives something of what was placed."""

    def ask(mesh_device, combine_token_parallel_cores, combine_data_parallel_cores, hidden_size, mux_core_range_set=None):
        return give(*_select(mesh_device, combine_token_parallel_cores * combine_data_parallel_cores, hidden_size // 32, mux_core_range_set))

    ask.__name__, ask.__doc__ = give.__name__, give.__doc__
    return ask


@_asked
def get_moe_combine_cores(combine, tilize, ring):
    """The cores that combine what experts gave, column after column."""
    return [ttnn.CoreCoord(*core) for core in sorted(combine)]


@_asked
def get_moe_tilize_drain_core(combine, tilize, ring):
    """The first of the cores that tilize: indices and scores of experts lie there."""
    return ttnn.CoreCoord(*tilize[0])


@_asked
def get_moe_worker_mcast_bounding_box(combine, tilize, ring):
    """The range around all cores of the operation."""
    cores = sorted(_around(combine + tilize + ring))
    return ttnn.CoreRange(ttnn.CoreCoord(*cores[0]), ttnn.CoreCoord(*cores[-1]))
