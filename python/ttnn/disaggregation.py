"""Tables of where the chunks of key-value caches are, for those who move them to other machines: ttnn.experimental.disaggregation.

A table says for every slot, layer and position of a cache at which address of which chips its chunk is. It is written as a
protobuf message that upstream's workers read: to the byte what upstream writes, but for the name of the host.
"""

import array
import contextlib
import enum
import hashlib
import json
import operator
import os
import pathlib
import socket
import sys
import tempfile
import types

from ttnn import device, hardware
from ttnn._ttnn.tensor import DataType, Layout, MemoryConfig, TensorSpec, from_bytes

_U32, _U64 = 2**32, 2**64
_VERSION = 1  # of the message


def _number(value, limit=_U32):
    """A number as upstream's calls take it: whole, not negative, not too large."""
    value = operator.index(value)
    if not 0 <= value < limit:
        raise TypeError(f"{value} is not a number from 0 to {limit - 1}")
    return value


def _require(holds, text):
    if not holds:
        raise RuntimeError(text)


class _Choice(enum.Enum):
    def __repr__(self):
        return str(self)


class KvChunkTensorType(_Choice):
    """What chunks are of: rows of keys and values, or a state that one position leaves."""

    Kv = 0
    Snapshot = 1


class ChunkCompression(_Choice):
    """How a configuration keeps its chunks: one by one, or rows of them by base and stride."""

    UNROLLED = 0
    STRIDED_ROWS = 1


class DeviceGroup:
    """Chips that have the same chunk, in order."""

    def __init__(self):
        self.fabric_node_ids = []

    def __eq__(self, other):
        return isinstance(other, DeviceGroup) and other.fabric_node_ids == self.fabric_node_ids

    __hash__ = None


class DeviceGroupIndex:
    """The number of a device group."""

    def __init__(self, value):
        self._value = _number(value)

    def __int__(self):
        return self._value

    def __eq__(self, other):
        if not isinstance(other, DeviceGroupIndex):
            raise TypeError(f"A DeviceGroupIndex is compared with another, not with {type(other).__name__}")
        return other._value == self._value

    def __hash__(self):
        return hash(self._value)

    def __repr__(self):
        return f"DeviceGroupIndex({self._value})"


def _limited(limit):
    """A property that takes such numbers alone."""

    class Limited:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return getattr(instance, self.name) if instance else self

        def __set__(self, instance, value):
            setattr(instance, self.name, _number(value, limit))

    return Limited()


class KvCacheLocation:
    """Where a chunk is: the address (the bank above its 32 lower bits), its bytes, the chips that have it."""

    noc_addr, size_bytes = _limited(_U64), _limited(_U32)

    def __init__(self):
        self.noc_addr = self.size_bytes = 0
        self._group = DeviceGroupIndex(0)

    @property
    def device_group_index(self):
        return self._group

    @device_group_index.setter
    def device_group_index(self, value):
        if not isinstance(value, DeviceGroupIndex):
            raise TypeError(f"device_group_index is a DeviceGroupIndex, not {type(value).__name__}")
        self._group = value


class KvChunkAddressTableConfig:
    """How many layers, tokens and slots a cache has, and how it is cut."""

    num_layers, max_sequence_length, num_slots = _limited(_U32), _limited(_U32), _limited(_U32)
    chunk_n_tokens, chunk_size_bytes = _limited(_U32), _limited(_U32)

    def __init__(self):
        self.num_layers = self.max_sequence_length = self.num_slots = 0
        self.chunk_n_tokens, self.chunk_size_bytes = 32, 18 * 1088
        self.tensor_type = KvChunkTensorType.Kv


class _Grid:
    """The chunks of one configuration: for each row (slot, layer) that has any, its chunks or what they follow from."""

    def __init__(self, number, name, config, compression):
        _require(config.chunk_n_tokens > 0, f"config[{number}] chunk_n_tokens must be > 0")
        _require(name, f"config[{number}] name must be non-empty")
        self.number, self.name, self.compression = number, name, compression
        self.config = KvChunkAddressTableConfig()
        self.config.__dict__.update(config.__dict__)
        self.chunks = -(-config.max_sequence_length // config.chunk_n_tokens)
        self.rows = {}

    def entries(self):
        return self.config.num_slots * self.config.num_layers * self.chunks

    def check(self, layer, position, slot):
        c, here = self.config, f"(config {self.number})"
        _require(layer < c.num_layers, f"layer {layer} >= num_layers {c.num_layers} {here}")
        _require(position < c.max_sequence_length, f"position {position} >= max_sequence_length {c.max_sequence_length} {here}")
        _require(slot < c.num_slots, f"slot {slot} >= num_slots {c.num_slots} {here}")
        _require(position % c.chunk_n_tokens == 0, f"position {position} is not a multiple of chunk_n_tokens {c.chunk_n_tokens} {here}")

    def put(self, slot, layer, chunk, entry):
        """One chunk: (address, bytes, group)."""
        _require(
            self.compression is ChunkCompression.UNROLLED,
            f"set() on a compressed (STRIDED_ROWS) config {self.number} — author its rows with set_strided_row(), "
            "or build it unrolled and serialize / install_strided_map()",
        )
        row = self.rows.get((slot, layer))
        if row is None:
            row = self.rows[slot, layer] = array.array("Q", bytes(16 * self.chunks))
        row[2 * chunk], row[2 * chunk + 1] = entry[0], entry[1] << 32 | entry[2]

    def get(self, slot, layer, chunk):
        row = self.rows.get((slot, layer))
        if row is None:
            return 0, 0, 0
        if self.compression is ChunkCompression.UNROLLED:
            return row[2 * chunk], row[2 * chunk + 1] >> 32, row[2 * chunk + 1] % _U32
        base, stride, group = row[1][chunk % len(row[1])]
        return base + chunk // len(row[1]) * stride, row[0], group

    def put_row(self, slot, layer, size, residues):
        """A row whose chunks, counted modulo the residues, have a base, a stride and a group."""
        step = len(residues)
        for residue, (base, stride, _) in enumerate(residues):
            times = (self.chunks - 1 - residue) // step
            _require(
                0 <= base + times * stride < _U64,
                f"strided row residue {residue} wraps: base {base:#x} + stride {stride} x {times} (config {self.number})",
            )
        self.rows[slot, layer] = size, residues


class KvChunkAddressTable:
    """Layer, position and slot → where the chunk is, of one cache or of several that have names."""

    def __init__(self, configs, compressions=types.MappingProxyType({})):
        if isinstance(configs, KvChunkAddressTableConfig):
            configs = [configs]
        named = sorted(configs.items()) if hasattr(configs, "items") else [(str(i), c) for i, c in enumerate(configs)]
        for name, config in named:
            if not isinstance(name, str) or not isinstance(config, KvChunkAddressTableConfig):
                raise TypeError("KvChunkAddressTable takes configurations: one, a list, or by their names")
        names = {name for name, _ in named}
        for name, compression in compressions.items():
            _require(name in names, f"compression given for unknown config '{name}'")
            if not isinstance(compression, ChunkCompression):
                raise TypeError(f"{compression!r} is no ChunkCompression")
        _require(named, "KvChunkAddressTable requires at least one config")
        self._grids = [_Grid(i, name, config, compressions.get(name, ChunkCompression.UNROLLED)) for i, (name, config) in enumerate(named)]
        self._ids = {name: i for i, (name, _) in enumerate(named)}
        self._groups, self._hosts = [], {}

    def _grid(self, config_id, config=None):
        """A configuration by its number or, as the number or by keyword, its name."""
        name = config if config is not None else config_id if isinstance(config_id, str) else None
        if name is not None:
            config_id = self.config_id_of(name)
        _require(_number(config_id) < len(self._grids), f"config_id {config_id} >= num_configs {len(self._grids)}")
        return self._grids[config_id]

    def add_device_group(self, fabric_node_ids):
        """The number of these chips, the same for the same ones in any order."""
        ids = sorted(fabric_node_ids, key=lambda node: (int(node.mesh_id), int(node.chip_id)))
        for i, group in enumerate(self._groups):
            if group.fabric_node_ids == ids:
                return DeviceGroupIndex(i)
        self._groups.append(DeviceGroup())
        self._groups[-1].fabric_node_ids = ids
        return DeviceGroupIndex(len(self._groups) - 1)

    def get_device_group(self, index):
        _require(int(index) < len(self._groups), f"device_group_index {int(index)} >= num_device_groups {len(self._groups)}")
        return self._groups[int(index)]

    def num_device_groups(self):
        return len(self._groups)

    def set(self, layer, position, slot, location, config_id=0, *, config=None):
        if not isinstance(location, KvCacheLocation):
            raise TypeError(f"location is a KvCacheLocation, not {type(location).__name__}")
        grid = self._grid(config_id, config)
        grid.check(_number(layer), _number(position), _number(slot))
        entry = location.noc_addr, location.size_bytes, int(location.device_group_index)
        grid.put(slot, layer, position // grid.config.chunk_n_tokens, entry)

    def set_strided_row(self, layer, slot, size_bytes, bases, strides, device_group_indices, config_id=0):
        """A row of which chunk c is at bases[c % n] + c // n * strides[c % n], n being their count."""
        grid, layer, slot = self._grid(config_id), _number(layer), _number(slot)
        bases, strides = [_number(base, _U64) for base in bases], [operator.index(stride) for stride in strides]
        groups = [int(group) for group in device_group_indices]
        _require(
            grid.compression is ChunkCompression.STRIDED_ROWS,
            f"set_strided_row() on an UNROLLED config {grid.number} — construct the config as STRIDED_ROWS",
        )
        _require(layer < grid.config.num_layers, f"layer {layer} out of range [0, {grid.config.num_layers})")
        _require(slot < grid.config.num_slots, f"slot {slot} out of range [0, {grid.config.num_slots})")
        _require(0 < len(bases) <= grid.chunks, f"strided row step {len(bases)} must be in [1, {grid.chunks}] (config {grid.number})")
        _require(
            len(bases) == len(strides) == len(groups),
            f"strided row has bases {len(bases)} / strides {len(strides)} / device groups {len(groups)}; all must match",
        )
        for group in groups:
            _require(group < len(self._groups), f"device group index {group} not registered")
        _require(_number(size_bytes) > 0, f"strided row size_bytes must be > 0 (config {grid.number})")
        grid.put_row(slot, layer, size_bytes, list(zip(bases, strides, groups)))

    def set_fabric_node_host(self, node_id, host_name):
        self._hosts[node_id] = str(host_name)

    def has_host(self, node_id):
        return node_id in self._hosts

    def get_host(self, node_id):
        _require(node_id in self._hosts, "FabricNodeId not found in host map")
        return self._hosts[node_id]

    def lookup(self, layer, position, slot, config_id=0, *, config=None):
        grid = self._grid(config_id, config)
        grid.check(_number(layer), _number(position), _number(slot))
        return _location(grid.get(slot, layer, position // grid.config.chunk_n_tokens))

    def lookup_range(self, layer, start_pos, end_pos, slot, config_id=0, *, config=None):
        """The chunks from a position up to another one, which is not among them."""
        grid = self._grid(config_id, config)
        grid.check(_number(layer), _number(start_pos), _number(slot))
        most, tokens = grid.config.max_sequence_length, grid.config.chunk_n_tokens
        _require(_number(end_pos) <= most, f"end_pos {end_pos} > max_sequence_length {most} (config {grid.number})")
        chunks = range(start_pos // tokens, -(-end_pos // tokens)) if start_pos < end_pos else ()
        return [_location(grid.get(slot, layer, chunk)) for chunk in chunks]

    def config(self, config_id=0):
        return self._grid(config_id).config

    def compression(self, config_id=0):
        return self._grid(config_id).compression

    def config_name(self, config_id):
        return self._grid(config_id).name

    def config_id_of(self, name):
        _require(name in self._ids, f"config name '{name}' not found")
        return self._ids[name]

    def num_configs(self):
        return len(self._grids)

    def num_position_chunks(self, config_id=0):
        return self._grid(config_id).chunks

    def total_entries(self):
        return sum(grid.entries() for grid in self._grids)

    def read_device_chunk(self, layer, position, slot, config_id=0, *, config=None):
        """The bytes of a chunk in the memory of the first chip that has it; the chip belongs to a device that is open."""
        at = self.lookup(layer, position, slot, config_id, config=config)
        grid, group = self._grid(config_id, config), self.get_device_group(at.device_group_index)
        _require(
            group.fabric_node_ids,
            f"DeviceGroup for (layer={layer}, pos={position}, slot={slot}, config={grid.number}) is empty",
        )
        mesh, place = device.device_of_node(group.fabric_node_ids[0])
        return mesh._read_bank(place, at.noc_addr >> 32, at.noc_addr % _U32, at.size_bytes)


def _location(entry):
    out = KvCacheLocation()
    out._noc_addr, out._size_bytes, out._group = entry[0], entry[1], DeviceGroupIndex(entry[2])
    return out


# ---- the message ---------------------------------------------------------------------------------------
#
# KvChunkAddressTable    1 num_layers 2 max_sequence_length 3 num_slots 4 chunk_n_tokens 5 chunk_size_bytes: of the first
#                        configuration; 6 device groups 7 hosts of chips 8 chunks 9 configurations 11 runs 12 version 13 host
# device group           1 chip, repeated: 1 mesh_id 2 chip_id
# host                   1 mesh_id 2 chip_id 3 name
# configuration          1 name 2 num_layers 3 max_sequence_length 4 num_slots 5 chunk_n_tokens 6 chunk_size_bytes
#                        7 compression 8 tensor_type
# chunk                  1 slot 2 layer 3 position 4 noc_addr 5 size_bytes 6 device group 7 configuration
# run                    1 configuration 2 slot 3 layer 4 first chunk 5 chunks between two 6 count 7 base 8 stride (zigzag)
#                        9 size_bytes 10 device group


def _varint(out, value):
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _numbers(numbers, text=b""):
    """Fields by number; zeros are left out. `text` is what comes first."""
    out = bytearray(text)
    for field, value in numbers:
        if value:
            _varint(out, field << 3)
            _varint(out, value)
    return out


def _part(field, content):
    out = bytearray()
    _varint(out, field << 3 | 2)
    _varint(out, len(content))
    return out + content


def _node(node):
    return [(1, int(node.mesh_id)), (2, int(node.chip_id))]


def _sizes(config, first):
    names = ("num_layers", "max_sequence_length", "num_slots", "chunk_n_tokens", "chunk_size_bytes")
    return [(first + i, getattr(config, name)) for i, name in enumerate(names)]


def _zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def _grid_parts(grid):
    """Chunks and runs of a configuration, slot by slot, layer by layer."""
    tokens = grid.config.chunk_n_tokens
    for (slot, layer), row in sorted(grid.rows.items()):
        if grid.compression is ChunkCompression.UNROLLED:
            for chunk in range(grid.chunks):
                address, rest = row[2 * chunk], row[2 * chunk + 1]
                if address or rest:
                    entry = [(1, slot), (2, layer), (3, chunk * tokens), (4, address), (5, rest >> 32), (6, rest % _U32), (7, grid.number)]
                    yield _part(8, _numbers(entry))
            continue
        step = len(row[1])
        for residue, (base, stride, group) in enumerate(row[1]):
            count = -(-(grid.chunks - residue) // step)
            run = [(1, grid.number), (2, slot), (3, layer), (4, residue), (5, step), (6, count), (7, base), (8, _zigzag(stride))]
            yield _part(11, _numbers([*run, (9, row[0]), (10, group)]))


def _message(table):
    yield _numbers(_sizes(table._grids[0].config, 1))
    for group in table._groups:
        yield _part(6, b"".join(_part(1, _numbers(_node(node))) for node in group.fabric_node_ids))
    nodes = dict.fromkeys(node for group in table._groups for node in group.fabric_node_ids)
    for node in nodes:
        if table.has_host(node):
            yield _part(7, _numbers(_node(node)) + _part(3, table.get_host(node).encode()))
    for grid in table._grids:
        if grid.compression is ChunkCompression.UNROLLED:
            yield from _grid_parts(grid)
    for grid in table._grids:
        kinds = [(7, grid.compression.value if grid.rows else 0), (8, grid.config.tensor_type.value)]
        yield _part(9, _numbers([*_sizes(grid.config, 2), *kinds], _part(1, grid.name.encode())))
    for grid in table._grids:
        if grid.compression is ChunkCompression.STRIDED_ROWS:
            yield from _grid_parts(grid)
    yield _numbers([(12, _VERSION)]) + _part(13, socket.gethostname().encode())


def _fields(data):
    """(number, value) of a message, one by one: numbers, and the bytes of parts. Raises ValueError when it is none."""
    at, end = 0, len(data)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            if at == end or shift > 63:
                raise ValueError("cut off")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value % _U64

    while at < end:
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}.get(kind)
        if key >> 3 == 0 or size is None or size > end - at:
            raise ValueError("no field")
        if kind == 2:
            yield key >> 3, data[at : at + size]
        at += size


def _read(data, names, parts=()):
    """The fields of a message under their names: the last number of each, a list of those of `parts`."""
    out = {name: [] if name in parts else 0 for name in names.values()}
    for field, value in _fields(data):
        name = names.get(field)
        if name is None or (name in parts) == isinstance(value, int):
            continue
        if name in parts:
            out[name].append(value)
        else:
            out[name] = value if name in ("noc_addr", "stride") else value % _U32
    return out


_SIZES = ("num_layers", "max_sequence_length", "num_slots", "chunk_n_tokens", "chunk_size_bytes")
_TABLE = {**dict(enumerate(_SIZES, 1)), 6: "groups", 7: "hosts", 8: "chunks", 9: "configs", 11: "runs", 12: "version"}
_CONFIG = {1: "name", **dict(enumerate(_SIZES, 2)), 7: "compression", 8: "tensor_type"}
_CHUNK = {1: "slot", 2: "layer", 3: "position", 4: "noc_addr", 5: "size", 6: "group", 7: "config"}
_RUN = {1: "config", 2: "slot", 3: "layer", 4: "first", 5: "step", 6: "count", 7: "noc_addr", 8: "stride", 9: "size", 10: "group"}
_OF = "in KvChunkAddressTable proto"


def _known(kind, value, word):
    try:
        return kind(value)
    except ValueError:
        raise RuntimeError(f"KvChunkAddressTable proto declares unknown {word}={value} — written by a newer format; upgrade the reader") from None


def _read_configs(found):
    """Configurations in the order of the message, with their names and compressions."""
    configs, compressions, names = {}, {}, []
    for data in found["configs"] or [None]:
        fields = _read(data, _CONFIG, ["name"]) if data is not None else {**found, "name": [b"0"], "compression": 0, "tensor_type": 0}
        name = fields["name"][-1].decode() if fields["name"] else ""
        _require(name not in configs, f"duplicate config name '{name}' {_OF}")
        config = configs[name] = KvChunkAddressTableConfig()
        for size in _SIZES:
            setattr(config, size, fields[size])
        config.tensor_type = _known(KvChunkTensorType, fields["tensor_type"], "tensor_type")
        compressions[name] = _known(ChunkCompression, fields["compression"], "compression")
        names.append(name)
    return configs, compressions, names


def _read_nodes(group):
    for node in _read(group, {1: "nodes"}, ["nodes"])["nodes"]:
        fields = _read(node, {1: "mesh", 2: "chip"})
        yield hardware.FabricNodeId(hardware.MeshId(fields["mesh"]), fields["chip"])


def _add_runs(table, runs, names):
    """Rows out of their runs, one for each residue of a row."""
    rows = {}
    for data in runs:
        run = _read(data, _RUN)
        _require(run["config"] < len(names), f"run config_idx out of range {_OF}")
        grid = table._grid(names[run["config"]])
        _require(grid.compression is ChunkCompression.STRIDED_ROWS, f"run targets an UNROLLED config {_OF}")
        _require(run["layer"] < grid.config.num_layers and run["slot"] < grid.config.num_slots, f"run layer/slot out of range {_OF}")
        _require(0 < run["step"] <= grid.chunks, f"run chunk_step out of range {_OF}")
        _require(run["first"] < run["step"], f"run start_chunk must be < chunk_step {_OF}")
        _require(run["count"] > 0, f"run count must be >= 1 {_OF}")
        _require(run["count"] == -(-(grid.chunks - run["first"]) // run["step"]), f"run count does not tile the row {_OF}")
        row = rows.setdefault((grid.number, run["slot"], run["layer"]), {"step": run["step"], "size": run["size"], "runs": {}})
        _require(row["step"] == run["step"] and row["size"] == run["size"], f"runs of a row disagree {_OF}")
        _require(run["first"] not in row["runs"], f"duplicate run residue {_OF}")
        stride = run["stride"] >> 1 ^ -(run["stride"] & 1)
        row["runs"][run["first"]] = run["noc_addr"], stride, run["group"]
    for (number, slot, layer), row in rows.items():
        _require(len(row["runs"]) == row["step"], f"row runs do not cover all residues {_OF}")
        table._grids[number].put_row(slot, layer, row["size"], [row["runs"][i] for i in range(row["step"])])
    for grid in table._grids:
        if grid.compression is ChunkCompression.STRIDED_ROWS:
            _require(grid.rows, f"config '{grid.name}' tagged STRIDED_ROWS but has no runs — malformed proto")


def _table(data):
    found = _read(data, _TABLE, ["groups", "hosts", "chunks", "configs", "runs"])
    _require(
        found["version"] <= _VERSION,
        f"KvChunkAddressTable format_version={found['version']} is newer than this reader supports (max {_VERSION}) — upgrade the reader",
    )
    configs, compressions, names = _read_configs(found)
    table = KvChunkAddressTable(configs, compressions)
    for group in found["groups"]:
        table.add_device_group(_read_nodes(group))
    for host in found["hosts"]:
        fields = _read(host, {1: "mesh", 2: "chip", 3: "name"}, ["name"])
        name = fields["name"][-1].decode() if fields["name"] else ""
        table.set_fabric_node_host(hardware.FabricNodeId(hardware.MeshId(fields["mesh"]), fields["chip"]), name)
    _add_runs(table, found["runs"], names)
    for chunk in found["chunks"]:
        fields = _read(chunk, _CHUNK)
        _require(fields["config"] < len(names), f"entry config_idx out of range {_OF}")
        at = _location((fields["noc_addr"], fields["size"], fields["group"]))
        table.set(fields["layer"], fields["position"], fields["slot"], at, names[fields["config"]])
    return table


def import_from_protobuf(data):
    """The table of a message."""
    try:
        return _table(bytes(data, "latin-1") if isinstance(data, str) else bytes(data))
    except (ValueError, OverflowError, MemoryError) as error:
        raise RuntimeError("Failed to parse protobuf data as KvChunkAddressTable") from error


def import_from_protobuf_file(path):
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise RuntimeError(f"Failed to open file for reading: {path}") from error
    return import_from_protobuf(data)


def export_to_protobuf_file(table, path):
    """Writes the message of a table, aside and whole."""
    if not isinstance(table, KvChunkAddressTable):
        raise TypeError(f"export_to_protobuf_file takes a KvChunkAddressTable, not {type(table).__name__}")
    path = pathlib.Path(path)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            try:
                for part in _message(table):
                    file.write(part)
                file.flush()
                os.fchmod(file.fileno(), 0o666 & ~_umask())
                os.replace(file.name, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(file.name)
                raise
    except OSError as error:
        raise RuntimeError(f"Failed to open file for writing: {path}: {error.strerror}") from error


def _umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def get_or_build_kv_chunk_table(seed, key, build, out_path):
    """Writes the table of (seed, key), which build() makes unless it was written before; whether it was."""
    kept = None
    if seed:
        text = json.dumps([seed, key], sort_keys=True)
        folder = os.environ.get("TT_METAL_CACHE") or os.path.join(os.path.expanduser("~"), ".cache")
        kept = pathlib.Path(folder, "tt-metal-cache", "kv-chunk-tables", hashlib.sha256(text.encode()).hexdigest()[:16] + ".pb")
    if kept and kept.exists():
        export_to_protobuf_file(import_from_protobuf_file(kept), out_path)
        return True
    table = build()
    export_to_protobuf_file(table, out_path)
    if kept:
        with contextlib.suppress(OSError, RuntimeError):  # a cache that cannot be written is none
            kept.parent.mkdir(parents=True, exist_ok=True)
            export_to_protobuf_file(table, kept)
    return False


# ---- bytes -----------------------------------------------------------------------------------------------


def tensor_from_bfp8_bytes(raw_bytes, shape):
    """A host tensor in tiles of the words of a cache of bfloat8_b."""
    _require(
        len(raw_bytes) % 4 == 0,
        f"tensor_from_bfp8_bytes: raw byte size {len(raw_bytes)} is not a multiple of 4 (bfp8 storage is uint32-packed)",
    )
    return from_bytes(raw_bytes, TensorSpec(list(shape), DataType.BFLOAT8_B, Layout.TILE, MemoryConfig()))


def tensor_from_bf16_bytes(raw_bytes, shape):
    """A host tensor in rows of the bytes of a cache of bfloat16."""
    _require(
        len(raw_bytes) % 2 == 0,
        f"tensor_from_bf16_bytes: raw byte size {len(raw_bytes)} is not a multiple of 2 (bfloat16 is 2 bytes)",
    )
    count = 1
    for extent in shape:
        count *= extent
    _require(
        len(raw_bytes) == 2 * count,
        f"tensor_from_bf16_bytes: {len(raw_bytes) // 2} bf16 elements decoded from {len(raw_bytes)} raw bytes do not match the requested "
        f"shape's volume {count} — the shape/byte count are inconsistent",
    )
    return from_bytes(raw_bytes, TensorSpec(list(shape), DataType.BFLOAT16, Layout.ROW_MAJOR, MemoryConfig()))


def read_dram_umd(unique_id, noc_addr, size_bytes):
    """Reads the memory of a card beside the process that uses it."""
    raise RuntimeError("ttnn.experimental.disaggregation.read_dram_umd needs a machine with cards")


sys.modules["ttnn.experimental.disaggregation"] = sys.modules[__name__]
