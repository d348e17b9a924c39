"""Tensors that share one buffer, each at its own bytes: views, their files (docs/formats/tensorbin.md), packed tiles."""

import os
import pathlib
import struct
import tempfile
from dataclasses import dataclass

from ttnn import _ttnn
from ttnn.types import CoreCoord, CoreRange, CoreRangeSet, DataType, Layout, Tensor, Tile

ENDING = ".overlappedtensorbin"
_CODES = "BFLOAT16 FLOAT32 UINT32 BFLOAT8_B BFLOAT4_B UINT8 UINT16 INT32".split()


@dataclass(eq=False)
class OverlappedTensor:
    """A tensor inside of a fused one, whose own shape and type say nothing."""

    fused_tensor: Tensor
    tensor_shape: tuple
    shard_shape: tuple
    core_range_set: CoreRangeSet
    dtype: DataType
    tile_shape: tuple
    byte_offset: int = 0
    total_size: int = 0

    def __post_init__(self):
        for name in ("tensor_shape", "shard_shape", "tile_shape"):
            height, width = getattr(self, name)
            setattr(self, name, (height, width))

    def get_tile(self):
        return Tile(self.tile_shape)


# ---- the header: a FlatBuffer ------------------------------------------------------------------------------------


class _Writer:
    """Appends tables, whose references (format "r") are set once it is known where they lead."""

    def __init__(self):
        self.data = bytearray(4)

    def place(self, size, rest=0):
        self.data += bytes((rest - len(self.data)) % size)
        return len(self.data)

    def point(self, at, target):
        struct.pack_into("<I", self.data, at, target - at)

    def table(self, *fields):
        """Where it is, and where each of its fields is. The largest come first, so that all are aligned."""
        sizes = [struct.calcsize("<" + form.replace("r", "I")) for form, _ in fields]
        offsets, end = [0] * len(fields), 4
        for i in sorted(range(len(fields)), key=lambda i: -sizes[i]):
            offsets[i] = end
            end += sizes[i]
        names = struct.pack(f"<{2 + len(fields)}H", 4 + 2 * len(fields), end, *offsets)
        self.data += bytes((4 - len(self.data) - len(names)) % 8) + names
        at = len(self.data)
        self.data += struct.pack("<i", len(names)) + bytes(end - 4)
        for (form, value), offset in zip(fields, offsets):
            if form != "r":
                struct.pack_into("<" + form, self.data, at + offset, value)
        return at, [at + offset for offset in offsets]

    def refer(self, at, *fields):
        """A table that a reference leads to; where its fields are."""
        table, places = self.table(*fields)
        self.point(at, table)
        return places

    def vector(self, at, count):
        self.point(at, self.place(4))
        self.data += struct.pack("<I", count) + bytes(4 * count)
        return range(len(self.data) - 4 * count, len(self.data), 4)

    def text(self, at, value):
        raw = value.encode()
        self.point(at, self.place(4))
        self.data += struct.pack("<I", len(raw)) + raw + b"\0"

    def cores(self, at, ranges):
        for place, each in zip(self.vector(self.refer(at, ("r", 0))[0], len(ranges)), ranges):
            for end, core in zip(self.refer(place, ("r", 0), ("r", 0)), (each.start, each.end)):
                self.refer(end, ("i", core.x), ("i", core.y))


class _Reader:
    def __init__(self, data):
        self.data = data

    def number(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)[0]

    def follow(self, at):
        return at + self.number("I", at)

    def field(self, table, slot, form="I"):
        """A number, the place of what is referred to (format "r"), or 0."""
        names = table - self.number("i", table)
        offset = self.number("H", names + 4 + 2 * slot) if 4 + 2 * slot < self.number("H", names) else 0
        if not offset:
            return 0
        return self.follow(table + offset) if form == "r" else self.number(form, table + offset)

    def vector(self, at):
        count = self.number("I", at) if at else 0
        if count > 4096:
            raise IndexError("more than any file has")
        return [self.follow(at + 4 + 4 * i) for i in range(count)]

    def text(self, at):
        return bytes(self.data[at + 4 : at + 4 + self.number("I", at)]).decode() if at else ""

    def cores(self, at):
        def core(table):
            return CoreCoord(self.field(table, 0, "i"), self.field(table, 1, "i"))

        ranges = [(self.field(each, 0, "r"), self.field(each, 1, "r")) for each in self.vector(self.field(at, 0, "r"))]
        return CoreRangeSet([CoreRange(core(start), core(end)) for start, end in ranges])


# ---- files ---------------------------------------------------------------------------------------------------------


def _check(file_name):
    if not os.fspath(file_name).endswith(ENDING):
        raise RuntimeError(f"File {file_name} must have {ENDING} extension")


def _saved(tensor):
    """(header, data) of a tensor's own file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fused.tensorbin"
        tensor._save(path)
        whole = path.read_bytes()
    size = struct.unpack_from("<Q", whole)[0]
    return whole[8 : 8 + size], whole[8 + size :]


def _header(views, fused):
    """The tables of the views, before the whole header of the fused tensor: what that refers to stays where it was."""
    out = _Writer()
    tensor, listed = out.refer(0, ("r", 0), ("r", 0))
    for place, (name, view) in zip(out.vector(listed, len(views)), views.items()):
        numbers = (*view.tensor_shape, *view.shard_shape), (*view.tile_shape,), (view.byte_offset, view.total_size)
        fields = [("r", 0), *(("I", n) for n in numbers[0]), ("r", 0), ("B", _CODES.index(view.dtype.name))]
        at = out.refer(place, *fields, *(("I", n) for n in numbers[1]), *(("Q", n) for n in numbers[2]))
        out.text(at[0], name)
        out.cores(at[5], view.core_range_set.ranges())
    begin = out.place(64, 0)
    out.data += fused
    out.point(tensor, begin + struct.unpack_from("<I", fused)[0])
    out.place(64, 56)  # the data begins at a multiple of 64 of the file
    return out.data


def dump_overlapped_tensors(file_name, views):
    """Writes a dict of OverlappedTensor, which share one tensor, to a file."""
    _check(file_name)
    if not views:
        raise RuntimeError("Need at least one view to serialize")
    tensors = [view.fused_tensor for view in views.values()]
    for i, tensor in enumerate(tensors):
        if tensor.tensor_id != tensors[0].tensor_id:
            raise RuntimeError(f"All OverlappedTensorViews must reference the same fused tensor (view {i} differs)")
    fused, data = _saved(_ttnn.run_method("ttnn.Tensor.cpu", tensors[0]))
    try:
        header = _header(views, fused)
    except (ValueError, struct.error) as error:
        raise RuntimeError(f"A view cannot be written: {error}") from error
    aside = f"{os.fspath(file_name)}.new"
    with open(aside, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)
    os.replace(aside, file_name)


def load_overlapped_tensors(file_name, device=None):
    """The dict of OverlappedTensor of a file, on the host or on a device."""
    _check(file_name)
    try:
        whole = bytearray(pathlib.Path(file_name).read_bytes())
    except OSError as error:
        raise RuntimeError(f'Cannot open "{file_name}": errno={error.errno} "{error.strerror}"') from error
    try:
        size = struct.unpack_from("<Q", whole)[0]
        reader = _Reader(memoryview(whole)[8 : 8 + size])
        root = reader.follow(0)
        views = [(reader.text(reader.field(view, 0, "r")), _read(reader, view)) for view in reader.vector(reader.field(root, 1, "r"))]
        fused = reader.field(root, 0, "r")
        del reader
        struct.pack_into("<I", whole, 8, fused)  # with another root it is the file of the fused tensor
    except (struct.error, IndexError, TypeError, UnicodeDecodeError, OverflowError) as error:
        raise RuntimeError(f"{file_name}: the header of overlapped tensors is damaged") from error
    if not views or not fused:
        raise RuntimeError(f"{file_name}: there are no overlapped tensors")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fused.tensorbin"
        path.write_bytes(whole)
        tensor = _ttnn.tensor.load(path)
    if device is not None:
        tensor = _ttnn.run_method("ttnn.Tensor.to", tensor, device, tensor.memory_config())
    return {name: OverlappedTensor(tensor, **parts) for name, parts in views}


def _read(reader, view):
    shape, shard, tile = ((reader.field(view, i), reader.field(view, i + 1)) for i in (1, 3, 7))
    sizes = {"byte_offset": reader.field(view, 9, "Q"), "total_size": reader.field(view, 10, "Q")}
    dtype = getattr(DataType, _CODES[reader.field(view, 6, "B")])
    cores = reader.cores(reader.field(view, 5, "r"))
    return {"tensor_shape": shape, "shard_shape": shard, "core_range_set": cores, "dtype": dtype, "tile_shape": tile, **sizes}


# ---- packed tiles ----------------------------------------------------------------------------------------------------


def _pack(dtype):
    def tilize_and_pack(data, H, W, tile_h=32, tile_w=32):
        """The bytes of the tiles of H x W float32 numbers, one after another."""
        rows = memoryview(data).cast("B")
        if len(rows) != 4 * H * W or H % tile_h or W % tile_w:
            raise RuntimeError(f"{len(rows)} bytes are no {H} x {W} numbers in whole tiles of {tile_h} x {tile_w}")
        values = _ttnn.tensor.from_data(rows.cast("f", [H, W]), DataType.FLOAT32)
        tiles = _ttnn.all_operations()["ttnn.from_torch"].run(values, dtype=dtype, layout=Layout.TILE, tile=Tile((tile_h, tile_w)))
        return _saved(tiles)[1][: H // tile_h * (W // tile_w) * Tile((tile_h, tile_w)).get_tile_size(dtype)]

    return tilize_and_pack


tilize_and_pack_bfp8_b, tilize_and_pack_bfp4_b = _pack(DataType.BFLOAT8_B), _pack(DataType.BFLOAT4_B)
