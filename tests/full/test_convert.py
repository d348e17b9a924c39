"""Number conversions against torch's and numpy's, bit for bit where both define the result."""

import numpy as np
import pytest

COUNT = 1_000_000
INTEGERS = ["uint8", "uint16", "uint32", "int8", "int32"]


def random_floats(rng):
    """Every kind of float32: all bit patterns alike, so NaNs, infinities and denormals too, and
    the ties and their neighbours that rounding to bfloat16 is about."""
    bits = rng.integers(0, 1 << 32, COUNT, dtype=np.uint32)
    ties = (bits[:4096] & 0xFFFF0000) | 0x8000
    special = np.array([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x7FC00001, 0x7F800001, 1], np.uint32)
    return np.concatenate([bits, ties, ties - 1, ties + 1, special]).view(np.float32)


def test_float32_to_bfloat16(convert, rng):
    torch = pytest.importorskip("torch")
    values = random_floats(rng)
    ours = convert(values, "float32", "bfloat16")
    theirs = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    nan = np.isnan(values)
    np.testing.assert_array_equal(ours[~nan], theirs[~nan])
    # torch's NaN depends on the machine's instructions; ours is always the same one.
    assert nan.sum() > 1000 and np.all(ours[nan] == 0x7FC0)


def test_bfloat16_to_float32(convert):
    torch = pytest.importorskip("torch")
    every = np.arange(1 << 16, dtype=np.uint16)
    ours = convert(every, "bfloat16", "float32")
    theirs = torch.from_numpy(every.view(np.int16)).view(torch.bfloat16).to(torch.float32).numpy()
    np.testing.assert_array_equal(ours.view(np.uint32), theirs.view(np.uint32))


def test_float32_to_fp8(convert, rng):
    """Where both round: normal numbers up to the largest. Beyond, ours saturates as documented."""
    torch = pytest.importorskip("torch")
    values = (rng.uniform(1, 2, COUNT) * 2.0 ** rng.integers(-6, 8, COUNT)).astype(np.float32)
    values *= rng.choice([-1, 1], COUNT).astype(np.float32)
    ours = convert(values, "float32", "fp8_e4m3")
    theirs = torch.from_numpy(values).to(torch.float8_e4m3fn).view(torch.uint8).numpy()
    np.testing.assert_array_equal(ours, theirs)


def test_fp8_to_float32(convert):
    torch = pytest.importorskip("torch")
    every = np.arange(256, dtype=np.uint8)
    ours = convert(every, "fp8_e4m3", "float32")
    theirs = torch.from_numpy(every).view(torch.float8_e4m3fn).to(torch.float32).numpy()
    normal = (every & 0x78) != 0
    np.testing.assert_array_equal(ours[normal], theirs[normal])
    assert np.all(ours[~normal] == 0)


@pytest.mark.parametrize("target", INTEGERS)
def test_float32_to_integer(convert, rng, target):
    info = np.iinfo(target)
    values = rng.uniform(float(info.min), float(info.max), COUNT).astype(np.float32)
    # A float32 next to the end may round beyond it: what does not fit is not numpy's to say.
    values = values[(values >= float(info.min)) & (values < float(info.max))]
    np.testing.assert_array_equal(convert(values, "float32", target), values.astype(target))


@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_float32(convert, rng, source):
    info = np.iinfo(source)
    values = rng.integers(info.min, info.max, COUNT, dtype=source, endpoint=True)
    np.testing.assert_array_equal(convert(values, source, "float32"), values.astype(np.float32))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integer_to_integer(convert, rng, source, target):
    info = np.iinfo(source)
    values = rng.integers(info.min, info.max, 100_000, dtype=source, endpoint=True)
    np.testing.assert_array_equal(convert(values, source, target), values.astype(target))


def tilized(matrix):
    """The elements of one 32 × 32 tile as it is stored: four faces of 16 × 16, row by row."""
    return matrix.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(64, 16)


@pytest.mark.parametrize("name, bits", [("bfloat8_b", 7), ("bfloat4_b", 3)])
def test_block_floats_are_near(convert, rng, name, bits):
    """A value comes back within half a step of its group: 16 values that share an exponent."""
    tiles = 200
    values = rng.normal(0, 1, (tiles, 32, 32)) * 2.0 ** rng.integers(-20, 20, (tiles, 32, 1))
    stored = np.stack([tilized(matrix.astype(np.float32)) for matrix in values])
    encoded = convert(stored, "float32", name, "tiles")
    assert encoded.size == tiles * (64 + 1024 * (bits + 1) // 8)
    decoded = convert(encoded, name, "float32", "tiles").reshape(stored.shape)
    largest = np.floor(np.log2(np.abs(stored).max(axis=2, keepdims=True)))
    step = 2.0 ** (largest - (bits - 1))
    top = (2**bits - 1) * step
    wanted = np.clip(stored, -top, top)
    # The bits below 2^-17 steps are cut off before rounding, as the chip does: near a tie it shows.
    assert np.all(np.abs(decoded - wanted) <= step / 2 + step * 2.0**-17)
    # Encoding what was decoded changes nothing.
    np.testing.assert_array_equal(convert(decoded, "float32", name, "tiles"), encoded)
