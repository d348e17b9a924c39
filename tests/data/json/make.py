#!/usr/bin/env python3
"""Makes the files beside it: what Python's json and repr write. Run it in its directory."""
import gzip
import json
import random
import struct

random.seed(1)


def bits_of(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def number_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def save(name, text):
    with open(name, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def doubles():
    bits = {0, 1 << 63, bits_of(0.1), bits_of(-1.5), 0x7FF << 52, 0xFFF << 52}
    for exponent in range(2047):  # every power of two, its neighbours and one more
        for mantissa in (0, 1, (1 << 52) - 1, random.getrandbits(52)):
            bits.add(exponent << 52 | mantissa)
    for power in range(-324, 309):  # every power of ten and its neighbours
        middle = bits_of(float(f"1e{power}"))
        bits.update(range(max(middle - 1, 0), middle + 2))
    bits.update(1 << n for n in range(52))  # subnormals
    bits.update(random.getrandbits(64) for _ in range(4000))
    for _ in range(5000):  # short ones, as people write them
        scale = random.randint(-6, 18)
        bits.add(bits_of(round(random.random() * 10**scale, random.randint(0, 8))))
    numbers = [b for b in sorted(bits) if number_of(b) == number_of(b)]
    return "".join(f"{b:016x} {number_of(b)!r}\n" for b in numbers)


def broken_utf8():
    samples = ["", "c3a9", "c3", "c328", "e282ac", "e282", "e28228", "f09f9880", "f09f98", "f09f",
               "eda080", "edbfbf", "c080", "e08080", "f0808080", "f4908080", "ff", "80", "fe80",
               "61c362", "f0f0f0", "e2e282ac", "f09f98c3a9", "ef bf bd", "f48fbfbf", "eda0bdedb880"]
    pool = bytes([0x41, 0x80, 0xBF, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0x9F, 0xA0, 0x90, 0xFF])
    samples += [bytes(random.choice(pool) for _ in range(random.randint(1, 9))).hex()
                for _ in range(500)]
    rows = ((s.replace(" ", ""), bytes.fromhex(s).decode("utf-8", "replace")) for s in samples)
    return "".join(f"{s} {json.dumps(t)}\n" for s, t in rows)


def values():
    text = "".join(map(chr, range(128))) + "é\u07ff\u0800€\ud7ff\ue000\uffff😀\U0010ffff\u2028"
    return {
        "empty": [[], {}, "", [[]], {"a": {}}],
        "numbers": [0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.0, -0.0, 1.0, 1e16, 1e-5, 0.1, 1e22,
                    123456789012345680.0, 5e-324, float("nan"), float("inf"), float("-inf")],
        "words": [True, False, None],
        text: text,
        "nested": [{"k": [1, [2, {"d": [{}, {"x": 3}]}]]}, [[["deep"]]]],
        "long": "x" * 10000,
        "": [["é" * 3000], {"": ""}],
    }


with gzip.GzipFile("doubles.txt.gz", "wb", mtime=0) as packed:
    packed.write(doubles().encode())
save("broken_utf8.txt", broken_utf8())
save("values.default.json", json.dumps(values()))
save("values.compact.json", json.dumps(values(), separators=(",", ":")))
save("values.utf8.json", json.dumps(values(), ensure_ascii=False))
save("values.indent2.json", json.dumps(values(), indent=2))
save("values.indent4.json", json.dumps(values(), indent=4, ensure_ascii=False))
save("values.indent2compact.json", json.dumps(values(), indent=2, separators=(",", ":")))
