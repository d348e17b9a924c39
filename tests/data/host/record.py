#!/usr/bin/env python3
"""Records what the released ttnn does when it converts host tensors, as bit patterns.

Run with an environment that holds ttnn 0.81.1 and torch (no card is needed):
    python record.py recorded.json; gzip -9n recorded.json

Element conversions take arrays of a multiple of eight elements: upstream casts eight at a time
and the rest one by one, and the two give different results for numbers out of range.
All hex texts are the bytes as they lie in memory.
"""
import json
import random
import struct
import sys

import torch
import ttnn

SCALARS = ("bfloat16", "float32", "uint32", "uint8", "uint16", "int32", "fp8_e4m3", "int8")
BLOCKS = ("bfloat8_b", "bfloat4_b")
BYTES = dict(bfloat16=2, float32=4, uint32=4, uint8=1, uint16=2, int32=4, fp8_e4m3=1, int8=1)
TILES = [(h, w) for h in (32, 16) for w in (32, 16)] + [(h, w) for h in (8, 4, 2, 1) for w in (32, 16)]
rng = random.Random(81)


def raw(tensor):
    """The storage of a host tensor, writable."""
    return torch.from_dlpack(tensor.host_buffer().get_shard(ttnn.MeshCoordinate(0, 0)))


def bytes_of(tensor):
    return bytes(raw(tensor).view(torch.uint8).tolist())


def with_bytes(data, dtype, shape, layout):
    """A host tensor that holds exactly these bytes."""
    tensor = ttnn.from_torch(torch.zeros(shape), dtype=getattr(ttnn, dtype), layout=layout)
    storage = raw(tensor).view(torch.uint8)
    assert storage.numel() == len(data), (storage.numel(), len(data))
    storage.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    return tensor


def f32(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def float32_words():
    words = [0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001, 0x7F800000]
    words += [0x7F800001, 0x7F80FFFF, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF, 0x3F808000, 0x3F818000]
    words += [0x3F807FFF, 0x3F808001, 0x3F817FFF, 0x3F818001, 0x00008000, 0x00018000, 0x00007FFF, 0x00017FFF]
    for value in (0.25, 0.5, 0.75, 1, 1.5, 1.999, 2, 2.5, 3.7, 126.5, 127, 127.5, 128, 128.5, 129, 254.5, 255, 255.5, 256,
                  257, 300, 32767, 32767.5, 32768, 40000, 65534.5, 65535, 65535.5, 65536, 65537, 70000, 16777216,
                  2147483520, 2147483648, 2147483904, 3e9, 4294967040, 4294967296, 4294967808, 5e9, 1e10, 1e19, 1e20, 3e38):
        words.append(f32(value))
    # around every boundary of e4m3: halves between neighbours, the smallest normal, the largest
    for exponent in range(-11, 10):
        for m in range(16):
            word = f32((16 + m) * 2.0 ** (exponent - 4))
            words += [word - 1, word, word + 1]
    words += [word | 0x80000000 for word in words]
    for exponent in range(256):
        words.append(exponent << 23 | rng.getrandbits(23) | rng.getrandbits(1) << 31)
    while len(words) % 32:
        words.append(rng.getrandbits(32))
    return struct.pack("<%dI" % len(words), *words)


def integer_bytes(bits):
    edges = [0, 1, 2, 127, 128, 129, 255, 256, 257, 32767, 32768, 65535, 65536, 65537, 2**24 - 1, 2**24, 2**24 + 1, 2**24 + 2, 2**24 + 3,
             2**31 - 1, 2**31 - 64, 2**31 - 65, 2**31, 2**31 + 128, 2**31 + 384, 2**32 - 1, 2**32 - 128, 2**32 - 129]
    # a float32 in between rounds these twice on their way to bfloat16
    edges += [0x01010001, 0x01018001, 0x40400001, 0x7F80807F, 0x00808000, 0x00818000, 0x00808001, 0x80800040, 0x80800041]
    values = [v & (2**bits - 1) for v in edges + [-v for v in edges]]
    values += [rng.getrandbits(rng.randint(1, bits)) for _ in range(128)]
    while len(values) % 32:
        values.append(rng.getrandbits(bits))
    return struct.pack("<%d%s" % (len(values), {8: "B", 16: "H", 32: "I"}[bits]), *values)


def bfloat16_bytes():
    words = [0, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0x7F81, 0x7FBF, 0x7FC0, 0x7FC1, 0x7FFF, 0x4F00, 0x4EFF, 0x4F7F, 0x4F80, 0x437F, 0x4380, 0x477F, 0x4780]
    words += [w | 0x8000 for w in words]
    words += [e << 7 | rng.getrandbits(7) | rng.getrandbits(1) << 15 for e in range(256)]
    while len(words) % 32:
        words.append(rng.getrandbits(16))
    return struct.pack("<%dH" % len(words), *words)


def elements():
    sources = {"bfloat16": bfloat16_bytes(), "float32": float32_words(), "fp8_e4m3": bytes(range(256)),
               "uint8": bytes(range(256)), "int8": bytes(range(256)), "uint16": integer_bytes(16),
               "uint32": integer_bytes(32), "int32": integer_bytes(32)}
    for source, data in sources.items():
        tensor = with_bytes(data, source, (len(data) // BYTES[source],), ttnn.ROW_MAJOR_LAYOUT)
        to = {}
        for target in SCALARS:
            try:
                to[target] = bytes_of(ttnn.to_dtype(tensor, getattr(ttnn, target))).hex()
            except RuntimeError as e:
                to[target] = {"refused": str(e).split("\n")[2]}
        yield {"from": source, "in": data.hex(), "to": to}


def matrix(rows, cols):
    """Groups of very different kinds: same magnitude, wide, with zeros, denormals, infinities, NaN."""
    words = []
    for _ in range(rows):
        for _ in range(0, cols, 16):
            kind, base = rng.randrange(8), rng.choice((1, 2, 8, 60, 127, 128, 200, 253, 254))
            for _ in range(16):
                e = base + (0 if kind == 0 else -rng.randrange((3, 9, 9, 27, 27)[kind % 5]))
                word = max(e, 0) << 23 | rng.getrandbits(23) | rng.getrandbits(1) << 31
                if kind == 5:
                    word &= rng.choice((0xFF800000, 0xFFFF0000, 0xFFFE8000, 0xFFF80000, 0xFFE80000))
                if kind == 6 and rng.randrange(4) == 0:
                    word = rng.choice((0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F800001, 0, 0x80000000, 0x7F7FFFFF))
                if kind == 7:
                    word = rng.choice((0, 0x80000000, 1, 0x807FFFFF, word & 0x807FFFFF))
                words.append(word)
    return struct.pack("<%dI" % len(words), *words)


def tiles():
    """From float32 matrices of one row of two tiles: the stored bytes, and what comes back."""
    for height, width in TILES:
        for transpose in (False, True) if height >= 16 else (False,):
            tile = ttnn.Tile((height, width), transpose_tile=transpose)
            rows, cols = height, 2 * width
            data = matrix(rows, cols)
            source = torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(rows, cols)
            row = {"tile": [height, width], "transpose": transpose, "shape": [rows, cols], "in": data.hex(), "to": {}}
            for name in BLOCKS:
                tensor = ttnn.from_torch(source, dtype=getattr(ttnn, name), layout=ttnn.TILE_LAYOUT, tile=tile)
                back = ttnn.to_torch(tensor).contiguous().view(torch.uint8).flatten()
                row["to"][name] = {"bytes": bytes_of(tensor).hex(), "back": bytes(back.tolist()).hex()}
            order = torch.arange(rows * cols, dtype=torch.int32).reshape(rows, cols)
            row["order"] = raw(ttnn.from_torch(order, dtype=ttnn.int32, layout=ttnn.TILE_LAYOUT, tile=tile)).view(torch.int32).tolist()
            yield row


def padded():
    """Odd shapes, with a padding value."""
    for shape, pad in (((5, 33, 17), 3.5), ((3,), -0.25), ((2, 70), 0.0)):
        count = torch.Size(shape).numel()
        words = [rng.randrange(120, 132) << 23 | rng.getrandbits(23) | rng.getrandbits(1) << 31 for _ in range(count)]
        data = struct.pack("<%dI" % count, *words)
        source = torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
        row = {"shape": list(shape), "pad": pad, "in": data.hex(), "to": {}}
        for name in BLOCKS + ("bfloat16",):
            tensor = ttnn.from_torch(source, dtype=getattr(ttnn, name), layout=ttnn.TILE_LAYOUT, pad_value=pad)
            row["to"][name] = bytes_of(tensor).hex()
        yield row


def decoded():
    """Block-float tiles of arbitrary bytes, also such as no encoder writes, and what they convert to."""
    exponents = [0, 1, 2, 3, 5, 6, 7, 8, 9, 100, 127, 133, 142, 158, 254, 255]
    for name in BLOCKS:
        data = b""
        for _ in range(4):
            groups = [exponents[(i // 4) % 16] for i in range(64)]
            rng.shuffle(groups)
            body = list(range(256)) * (4 if name == "bfloat8_b" else 2)
            rng.shuffle(body)
            data += bytes(groups) + bytes(body)
        tensor = with_bytes(data, name, (64, 64), ttnn.TILE_LAYOUT)
        to = {}
        for target in SCALARS + BLOCKS:
            try:
                to[target] = bytes_of(ttnn.to_dtype(tensor, getattr(ttnn, target))).hex()
            except RuntimeError as e:
                to[target] = {"refused": str(e).split("\n")[2]}
        yield {"from": name, "in": data.hex(), "to": to}


def encoded():
    """Tiles of other types to block floats."""
    for source in ("bfloat16", "uint32", "int32", "uint16", "uint8", "int8"):
        size = BYTES[source]
        data = bytes(rng.getrandbits(8) for _ in range(1024 * size))
        if size == 4:
            data = struct.pack("<1024I", *[rng.getrandbits(rng.randint(1, 32)) for _ in range(1024)])
        tensor = with_bytes(data, source, (32, 32), ttnn.TILE_LAYOUT)
        to = {name: bytes_of(ttnn.to_dtype(tensor, getattr(ttnn, name))).hex() for name in BLOCKS}
        yield {"from": source, "in": data.hex(), "to": to}


def main(path):
    sections = {"elements": elements(), "tiles": tiles(), "padded": padded(), "decoded": decoded(), "encoded": encoded()}
    lines = {name: ",\n".join("  " + json.dumps(row) for row in rows) for name, rows in sections.items()}
    text = ",\n".join(" %s: [\n%s\n ]" % (json.dumps(name), rows) for name, rows in lines.items())
    with open(path, "w") as out:
        out.write('{\n "library": "ttnn 0.81.1",\n%s\n}\n' % text)


main(sys.argv[1])
