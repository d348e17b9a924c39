""".npy files: numpy writes and reads what the library reads and writes."""

import subprocess

import numpy as np
import pytest

SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 0, 4), (33, 65), (2, 3, 40, 50), (1, 2, 1, 3, 2, 2)]
TYPES = [np.float32, np.uint8, np.uint16, np.uint32, np.int8, np.int32]


@pytest.fixture
def through(out, tmp_path):
    """through(array, dtype, layout): the array after a stay in a tensor."""

    def run(array, *how):
        given, made = tmp_path / "given.npy", tmp_path / "made.npy"
        np.save(given, array)
        subprocess.run([out / "tests/full/npy", given, made, *how], check=True)
        return np.load(made)

    return run


def random_array(rng, shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(size), dtype=dtype).reshape(shape)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip(through, rng, shape, dtype):
    array = random_array(rng, shape, dtype)
    back = through(array)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if len(shape) > 1])
def test_columns_first(through, rng, shape):
    array = np.asfortranarray(random_array(rng, shape, np.int32))
    np.testing.assert_array_equal(through(array), array)


def test_other_byte_order(through, rng):
    array = random_array(rng, (5, 6), np.dtype(">i4"))
    np.testing.assert_array_equal(through(array), array)


@pytest.mark.parametrize("shape", [(3, 5), (33, 65), (2, 3, 40, 50)])
def test_tiles_lose_nothing(through, rng, shape):
    array = rng.normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(through(array, "float32", "tile"), array)


@pytest.mark.parametrize("layout", ["row_major", "tile"])
def test_bfloat16(through, rng, layout):
    torch = pytest.importorskip("torch")
    array = rng.normal(size=(3, 50, 70)).astype(np.float32)
    wanted = torch.from_numpy(array).to(torch.bfloat16).to(torch.float32).numpy()
    np.testing.assert_array_equal(through(array, "bfloat16", layout), wanted)
