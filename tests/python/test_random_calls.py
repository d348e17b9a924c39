"""Random calls of every operation: whatever is given, there is a result or an exception, and the library goes on.

TTNN_RANDOM_CALLS says how many calls each operation gets, TTNN_RANDOM_SEED which; a name as argument runs one alone:
python3 tests/python/test_random_calls.py ttnn.add
"""

import array
import faulthandler
import os
import random
import sys

import pytest

import ttnn
from signatures import parameters
from ttnn import _ttnn

OURS = _ttnn.all_operations()
CALLS = int(os.environ.get("TTNN_RANDOM_CALLS", 2))
SEED = int(os.environ.get("TTNN_RANDOM_SEED", 0))
ALLOWED = (TypeError, RuntimeError, ValueError, OverflowError, MemoryError, IndexError)
SHAPES = [(1, 1, 32, 32), (2, 3, 37, 45), (64, 64), (5,), (1, 1, 1, 1), (3, 0, 32), (1, 2, 3, 4, 5), (1, 32), (1, 8, 32, 64), (2, 32, 96)]
DTYPES = [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.uint32, ttnn.int32, ttnn.uint16, ttnn.uint8]


class Drawer:
    """Draws arguments. Tensors are drawn from a few: most on the device, some elsewhere, some gone."""

    def __init__(self, devices, seed):
        self.random = random.Random(seed)
        self.device, self.other = devices

    def tensor(self):
        r = self.random
        shape, dtype = self.usual if r.random() < 0.75 else (r.choice(SHAPES), r.choice(DTYPES))
        blocks = dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b)
        layout = ttnn.TILE_LAYOUT if blocks or r.random() < 0.7 else ttnn.ROW_MAJOR_LAYOUT
        count = 1
        for extent in shape:
            count *= extent
        numbers = array.array("f", [r.uniform(-1, 3) for _ in range(8)]) * (count // 8 + 1)
        host = ttnn.from_torch(memoryview(numbers)[:count])
        try:
            host = ttnn.to_layout(ttnn.reshape(host, list(shape)), layout)
            host = host if dtype == ttnn.float32 else ttnn.to_dtype(host, dtype)
            where = r.random()
            if where < 0.1:
                return host
            place = r.choice([ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG])
            found = ttnn.to_device(host, self.other if where < 0.15 else self.device, memory_config=place)
        except ALLOWED:
            return host
        if where > 0.95:
            found.deallocate()
        return found

    def value(self, depth=0):
        r = self.random
        kinds = [
            lambda: None,
            lambda: r.choice([True, False]),
            lambda: r.randint(-5, 8),
            lambda: r.choice([0, 1, -1, -(2**31), 2**63 - 1, -(2**63), 2**70, 32, 1000, *self.huge]),
            lambda: r.choice([0.0, 1.5, -2.0, float("nan"), float("inf"), -float("inf"), 1e300]),
            lambda: r.choice(["", "relu", "zeros", "bilinear", "nearest", "floor", "x" * 500, "\0", "é"]),
            lambda: r.choice(DTYPES),
            lambda: r.choice([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
            lambda: r.choice([ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, self.sharded()]),
            lambda: ttnn.Shape([r.randint(0, 20) for _ in range(r.randint(0, 5))]),
            lambda: self.device,
            lambda: ttnn.CoreCoord(r.randint(0, 9), r.randint(0, 9)),
            lambda: ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(r.randint(0, 9), r.randint(0, 9)))]),
            lambda: ttnn.CoreGrid(x=r.randint(0, 9), y=r.randint(0, 9)),
            lambda: ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.1),
            lambda: ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=r.random() < 0.5),
            lambda: object(),
            lambda: {},
        ]
        if depth < 2:
            kinds += 3 * [lambda: [self.value(depth + 1) for _ in range(r.randint(0, 4))]]
            kinds += 2 * [lambda: [r.randint(-1, 4) for _ in range(r.randint(0, 5))], lambda: tuple(r.randint(0, 64) for _ in range(r.randint(1, 4)))]
        return r.choice(kinds + 6 * [self.tensor])()

    def sharded(self):
        r = self.random
        grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(r.randint(0, 7), r.randint(0, 7)))])
        spec = ttnn.ShardSpec(grid, [r.choice([1, 32, 37, 64]), r.choice([1, 32, 45, 64])], ttnn.ShardOrientation.ROW_MAJOR)
        layouts = [ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED]
        return ttnn.MemoryConfig(r.choice(layouts), ttnn.BufferType.L1, spec)

    def fitting(self, type_text):
        """A value of about the type that a signature shows; now and then another one."""
        r = self.random
        if r.random() < 0.12:
            return self.value()
        if "Tensor" in type_text and "Sequence" not in type_text and "list" not in type_text:
            return self.tensor()
        if "Tensor" in type_text:
            return [self.tensor() for _ in range(r.randint(0, 4))]
        if "None" in type_text and r.random() < 0.3:
            return None
        for word, make in {
            "bool": lambda: r.random() < 0.5,
            "Sequence[int]": lambda: [r.randint(-2, 5) for _ in range(r.randint(0, 5))],
            "Shape": lambda: [r.randint(0, 20) for _ in range(r.randint(0, 5))],
            "int": lambda: r.choice([r.randint(-5, 5), r.choice([1, 2, 32, 64, *self.huge])]),
            "float": lambda: r.choice([0.0, 1.0, -1.5, 1e-5, float("nan"), 1e30]),
            "str": lambda: r.choice(["relu", "gelu", "zeros", "bilinear", "nearest", "floor", "trunc", "mean", "tanh", "none"]),
            "DataType": lambda: r.choice(DTYPES),
            "Layout": lambda: r.choice([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
            "MemoryConfig": lambda: r.choice([ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, self.sharded()]),
            "Device": lambda: self.device,
        }.items():
            if word in type_text:
                return make()
        return self.value()

    def call(self, operation):
        """One call by one of the signatures, or by none. Most of its tensors are alike."""
        r = self.random
        self.usual = r.choice(SHAPES), r.choice(3 * DTYPES[:1] + DTYPES)
        # Who asks for billions of new elements gets them.
        self.huge = [10**12] if operation.name == "ttnn.arange" else [2**31, 2**32 - 1, 10**12]
        if r.random() < 0.15:
            return operation, [self.value() for _ in range(r.randint(0, 6))], {}
        parts, star, args, named = parameters(r.choice(operation.signatures)), False, [], {}
        for part in parts:
            name, _, rest = part.partition(":")
            if name.strip() == "*":
                star = True
                continue
            optional = "=" in rest
            if optional and (star or r.random() < 0.5):
                if r.random() < 0.3:
                    named[name.strip()] = self.fitting(rest.split("=")[0])
                star = True
                continue
            if star:
                named[name.strip()] = self.fitting(rest)
            else:
                args.append(self.fitting(rest))
        return operation, args, named


def run(devices, name, calls, seed):
    """How many calls gave a result. What was called last is in the file that TTNN_RANDOM_LOG names."""
    drawer, done = Drawer(devices, f"{seed} {name}"), 0
    log = os.environ.get("TTNN_RANDOM_LOG")
    faulthandler.dump_traceback_later(300, exit=True)  # one that does not end is as bad as a crash
    try:
        for number in range(calls):
            operation, args, named = drawer.call(OURS[name])
            if log:
                with open(log, "w") as file:
                    file.write(f"{name} seed {seed} call {number}\n{args!r:.3000}\n{named!r:.3000}\n")
            try:
                result = operation(*args, **named)
                repr(result)
                done += 1
            except ALLOWED as error:
                assert str(error) or isinstance(error, (MemoryError, OverflowError)), name
        again = ttnn.relu(ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=drawer.device))
        assert again.to_list()[0][:2] == [1.0, 1.0]
    finally:
        faulthandler.cancel_dump_traceback_later()
    return done


@pytest.fixture(scope="module")
def devices():
    opened = [ttnn.open_device(device_id=0) for _ in range(2)]
    yield opened
    for device in opened:
        ttnn.close_device(device)


@pytest.mark.parametrize("name", sorted(OURS))
def test_random_calls(devices, name):
    run(devices, name, CALLS, SEED)


if __name__ == "__main__":
    opened = [ttnn.open_device(device_id=0) for _ in range(2)]
    print(sum(run(opened, name, CALLS, SEED) for name in sys.argv[1:] or sorted(OURS)), "calls gave a result")
