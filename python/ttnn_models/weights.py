"""Where numbers come from, and how they come to the chips.

Random ones depend on the seed and the name alone, so that a reference makes the same again. A folder
of safetensors is read where HF_MODEL names one. In dry runs a weight has a shape and a place only.
"""

import array
import json
import math
import mmap
import random
import struct
import zlib

import ttnn

from ttnn_models import machine

_TYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


class Folder:
    """The tensors of all *.safetensors files of a folder, read when they are asked for. Needs torch."""

    def __init__(self, path):
        if not machine.has_torch():
            raise ValueError(f"{path}: reading a checkpoint needs torch")
        self.found = {}
        for file in sorted(path.glob("*.safetensors")):
            with open(file, "rb") as stream:
                size = struct.unpack("<Q", stream.read(8))[0]
                header = json.loads(stream.read(size))
                data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            for name, entry in header.items():
                if name != "__metadata__":
                    self.found[name.removeprefix("language_model.")] = (data, 8 + size, entry)

    def __contains__(self, name):
        return name in self.found

    def tensor(self, name):
        import torch

        if name not in self.found:
            raise KeyError(f"the checkpoint has no tensor {name}")
        data, base, entry = self.found[name]
        begin, end = entry["data_offsets"]
        dtype = getattr(torch, _TYPES[entry["dtype"]])
        flat = torch.frombuffer(bytearray(data[base + begin : base + end]), dtype=dtype)
        return flat.reshape(entry["shape"]).float()


# Mantissas of which the upper bits are as given have these root mean squares, and the others are random.
_SHAPES = ((0x00000000, 0x007FFFFF, 1.5275), (0x00000000, 0x003FFFFF, 1.2583), (0x00400000, 0x003FFFFF, 1.7559),
           (0x00000000, 0x001FFFFF, 1.1273), (0x00600000, 0x001FFFFF, 1.8764))
_CHUNK = 1 << 18


def _spread(numbers, count, spread):
    """So many float32 numbers, as far from 0 as `spread` says within a tenth: random signs and mantissas, by bits.

    Python has no faster way, and one of ttnn's operations would stand in every recording of a model."""
    size, given, mask, _ = min(
        ((2.0**e * rms / spread, bits | (e + 127) << 23, mask, e) for bits, mask, rms in _SHAPES for e in (math.frexp(spread)[1] - k for k in range(3))),
        key=lambda found: abs(math.log(found[0])),
    )
    mask |= 0x80000000
    repeated = lambda word, length: int.from_bytes(word.to_bytes(4, "little") * length, "little")
    masks, words = repeated(mask, _CHUNK), repeated(given, _CHUNK)
    made = bytearray()
    for begin in range(0, count, _CHUNK):
        length = min(_CHUNK, count - begin)
        if length < _CHUNK:
            masks, words = repeated(mask, length), repeated(given, length)
        bits = int.from_bytes(numbers.randbytes(4 * length), "little") & masks | words
        made += bits.to_bytes(4 * length, "little")
    return made


class Weights:
    """Makes the weights of one network on one mesh; `torch=False` leaves torch alone, which takes seconds to import."""

    def __init__(self, device, *, dry=False, seed=0, folder=None, torch=True):
        self.device, self.dry, self.seed = device, dry, seed
        self.chips = device.get_num_devices()
        self.folder = Folder(folder) if folder and not dry else None
        self.torch = torch and not dry and machine.has_torch()

    def number(self, name):
        """What the random numbers of a name begin with."""
        return zlib.crc32(f"{self.seed}:{name}".encode()) or 1

    def host(self, name, shape, spread=None, middle=0.0):
        """Numbers on the host, float32: a torch tensor, or without torch a ttnn tensor in rows."""
        spread = shape[-2] ** -0.5 if spread is None and len(shape) > 1 else spread or 0.05
        if self.torch:
            import torch

            generator = torch.Generator().manual_seed(self.number(name))
            return torch.empty(shape).normal_(middle, spread, generator=generator)
        numbers = random.Random(self.number(name))
        count = math.prod(shape)
        values = _spread(numbers, count, spread) if not middle else array.array("f", (numbers.gauss(middle, spread) for _ in range(count)))
        view = memoryview(values).cast("B").cast("f", list(shape))
        return ttnn.from_torch(view, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)

    def put(self, host, shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, place=None, split=None):
        """Numbers to the chips; `split` is the dimension of which each chip gets its part, `shape` that of all."""
        place = place or ttnn.DRAM_MEMORY_CONFIG
        if self.dry:
            local = list(shape)
            if split is not None:
                local[split] //= self.chips
            return ttnn.empty(local, dtype, layout, self.device, place)
        whole = ttnn.ReplicateTensorToMesh(self.device)
        mapper = whole if split is None else ttnn.ShardTensorToMesh(self.device, dim=split)
        if self.torch:
            host = host.reshape(list(shape))
        else:
            host = ttnn.reshape(host, list(shape))
        return ttnn.from_torch(host, dtype=dtype, layout=layout, device=self.device, memory_config=place, mesh_mapper=mapper)

    def make(self, name, shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, place=None, split=None, **random):
        """A random weight on the chips."""
        return self.put(None if self.dry else self.host(name, shape, **random), shape, dtype, layout, place, split)

    def zeros(self, shape, dtype, layout=ttnn.TILE_LAYOUT):
        """The same on every chip: caches."""
        create = ttnn.empty if self.dry else ttnn.zeros
        return create(list(shape), dtype, layout, self.device, ttnn.DRAM_MEMORY_CONFIG)

    def whole_numbers(self, values, shape, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT):
        """Tokens, positions and page tables, the same on every chip."""
        if self.dry:
            return ttnn.empty(list(shape), dtype, layout, self.device, ttnn.DRAM_MEMORY_CONFIG)
        host = memoryview(array.array("i", values)).cast("B").cast("i", list(shape))
        mapper = ttnn.ReplicateTensorToMesh(self.device)
        return ttnn.from_torch(host, dtype=dtype, layout=layout, device=self.device, mesh_mapper=mapper)
