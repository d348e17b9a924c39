"""Numbers as they come in: conversions as recorded, no number cut to 32 bits, queues, devices, dry runs."""

import array
import ctypes
import json
import math
import pathlib
import struct

import pytest

import ttnn
from signatures import parameters
from ttnn import _ttnn

OURS = _ttnn.all_operations()
RECORDED = json.loads((pathlib.Path(__file__).parent.parent / "data/python/conversions.json").read_text())
FORMATS = {"float32": "f", "float64": "d", "float16": "e", "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
FORMATS |= {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "bool": "?"}
# The original refuses these, or ends; here they have the value that the type holds.
GIVEN_HERE = {(source, "FP8_E4M3") for source in [*FORMATS, "bfloat16"]} | {("float64", None), ("uint64", None)}
REFUSALS = (TypeError, RuntimeError, ValueError, MemoryError, IndexError)
WIDE = (2**32 + 1, 2**40, -(2**40))


@pytest.fixture(scope="module")
def devices():
    opened = [ttnn.open_device(device_id=0, l1_small_size=16384) for _ in range(2)]
    yield opened
    for device in opened:
        ttnn.close_device(device)


def tensor(device, dtype=ttnn.float32, shape=(32, 32), layout=ttnn.TILE_LAYOUT):
    return ttnn.full(list(shape), 1, dtype=dtype, layout=layout, device=device)


def number(recorded):
    """A recorded number: whole, hexadecimal, or none."""
    if not isinstance(recorded, str):
        return recorded
    return float.fromhex(recorded) if "x" in recorded else float(recorded)


def view(source, value):
    """32 by 32 elements of a type of the buffer protocol."""
    form = FORMATS[source]
    if source == "float32" and math.isfinite(value):
        value = ctypes.c_float(value).value
    return memoryview(bytearray(struct.pack(form, value) * 1024)).cast(form, [32, 32]) if form != "e" else None


def same(got, want):
    return got == want or (math.isnan(got) and math.isnan(want))


def check_row(row, make):
    target = getattr(ttnn.DataType, row["to"]) if row["to"] else None
    layout = ttnn.TILE_LAYOUT if row["to"] in ("BFLOAT8_B", "BFLOAT4_B") else ttnn.ROW_MAJOR_LAYOUT
    for value, want in zip(map(number, RECORDED["values"][row["from"]]), map(number, row["values"])):
        for found in (ttnn.from_torch(make(value), dtype=target, layout=layout), ttnn.as_tensor(make(value), dtype=target, layout=layout)):
            assert found.dtype.name == row["is"]
            assert same(found.to_list()[0][0], want), (row["from"], row["to"], value, found.to_list()[0][0], want)


ROWS = [row for row in RECORDED["rows"] if "values" in row]


@pytest.mark.parametrize("source", sorted(FORMATS))
def test_conversions_are_as_recorded(source):
    """By the buffer protocol, which needs no other library; float16 is numpy's below."""
    for row in ROWS:
        if row["from"] == source and source != "float16":
            check_row(row, lambda value: view(source, value))


@pytest.mark.parametrize("source", sorted(FORMATS))
def test_conversions_from_numpy_are_as_recorded(source, numpy):
    for row in ROWS:
        if row["from"] == source:
            check_row(row, lambda value: numpy.full((32, 32), value, dtype=numpy.bool_ if source == "bool" else source))


@pytest.mark.parametrize("source", sorted(RECORDED["values"]))
def test_conversions_from_torch_are_as_recorded(source, torch, numpy):
    def make(value):
        if source in ("uint16", "uint32", "uint64"):
            return torch.from_numpy(numpy.full((32, 32), value, dtype=source))
        wide = torch.float64 if "float" in source else torch.int64
        return torch.tensor([value], dtype=wide).to(getattr(torch, source)).expand(32, 32)

    for row in ROWS:
        if row["from"] == source:
            check_row(row, make)


def test_what_the_original_refuses_has_its_value():
    refused = {(row["from"], row["to"]) for row in RECORDED["rows"] if "refused" in row}
    assert refused == GIVEN_HERE
    for source, target in sorted(GIVEN_HERE, key=str):
        if source in ("float16", "bfloat16"):
            continue
        made = ttnn.from_torch(view(source, 1), dtype=getattr(ttnn.DataType, target) if target else None)
        assert ttnn.to_dtype(made, ttnn.float32).to_list()[0][0] == 1


def test_lists_keep_whole_numbers():
    for dtype, numbers in ((ttnn.int32, [16777217, -(2**31), 2**31 - 1]), (ttnn.uint32, [16777217, 2**32 - 1, 2**31])):
        assert ttnn.Tensor(numbers, [3], dtype, ttnn.ROW_MAJOR_LAYOUT).to_list() == numbers
    assert ttnn.Tensor([300, -1, 3.7], [3], ttnn.uint8, ttnn.ROW_MAJOR_LAYOUT).to_list() == [44, 255, 3]


@pytest.mark.parametrize("shape", [(0, 4), (0,)])
def test_empty_tensors(shape, torch, devices):
    for options in ({}, {"layout": ttnn.TILE_LAYOUT, "device": devices[0]}):
        made = ttnn.from_torch(torch.zeros(shape), **options)
        assert tuple(made.shape) == shape and ttnn.to_torch(made).shape == shape and made.to_list() == []


# ---- numbers that are too wide ----------------------------------------------------------------------------


def arguments(signature, device):
    """What a signature needs, and which of its arguments are whole numbers."""
    needed, whole = {}, []
    for part in parameters(signature):
        name, _, rest = part.partition(":")
        kind, _, default = rest.partition("=")
        kind = kind.strip()
        if name.strip() == "*":
            continue
        first = kind.split(" | ")[0]
        if first == "int" and "float" not in kind:
            whole.append((name, lambda wide: wide))
        elif first == "collections.abc.Sequence[int]" or kind.startswith("ttnn._ttnn.types.Shape"):
            whole.append((name, lambda wide: [1, wide]))
        elif first == "collections.abc.Sequence[collections.abc.Sequence[int]]":
            whole.append((name, lambda wide: [[0, wide], [0, 0]]))
        if default:
            continue
        usual = {
            "ttnn.Tensor": lambda: tensor(device),
            "collections.abc.Sequence[ttnn.Tensor]": lambda: [tensor(device), tensor(device)],
            "int": lambda: 1,
            "float": lambda: 1.0,
            "collections.abc.Sequence[int]": lambda: [1, 1],
            "ttnn._ttnn.types.Shape": lambda: [1, 1],
            "collections.abc.Sequence[collections.abc.Sequence[int]]": lambda: [[0, 0], [0, 0]],
            "ttnn._ttnn.multi_device.MeshDevice": lambda: device,
            "ttnn.DataType": lambda: ttnn.float32,
            "ttnn.Layout": lambda: ttnn.TILE_LAYOUT,
            "ttnn.MemoryConfig": lambda: ttnn.DRAM_MEMORY_CONFIG,
        }.get(first)
        needed[name] = usual() if usual else None
    return needed, whole


RIGHT = {"ttnn.arange"}  # takes 64 bits, as the original


def floats(operation):
    """Arguments that another signature takes as floats: any whole number is one."""
    parts = [part.partition(":") for signature in operation.signatures for part in parameters(signature)]
    return {name for name, _, kind in parts if "float" in kind.partition("=")[0]}


def test_no_argument_is_cut_to_32_bits(devices):
    """Every whole number among the arguments of every operation: what 32 bits do not hold is refused in words."""
    tried = 0
    for name, operation in sorted(OURS.items()):
        if name in RIGHT:
            continue
        for signature in operation.signatures:
            needed, whole = arguments(signature, devices[0])
            for argument, make in whole:
                for wide in WIDE if argument not in floats(operation) else ():
                    with pytest.raises(REFUSALS) as refused:
                        operation(**{**needed, argument: make(wide)})
                        pytest.fail(f"{name}({argument}={make(wide)}) is accepted")
                    assert str(refused.value), (name, argument, wide)
                    tried += 1
    assert tried > 500


def test_wide_numbers_are_named(devices):
    x = tensor(devices[0])
    for call in (
        lambda: ttnn.pad(x, [(0, 2**40), (0, 0)], 0),
        lambda: x[0 : 2**32 + 5],
        lambda: ttnn.repeat(x, [2**32 + 1, 1]),
        lambda: ttnn.gather(x, 2**32, index=tensor(devices[0], ttnn.uint32)),
        lambda: ttnn.slice(x, [0, 0], [2**32 + 5, 4]),
        lambda: ttnn.expand(x, [2**32 + 32, 32]),
    ):
        with pytest.raises(TypeError, match="does not fit: whole numbers have 32 bits"):
            call()
    with pytest.raises(TypeError, match="device_id"):
        ttnn.open_device(device_id=2**32)
    assert ttnn.arange(2**40, 2**40 + 2, 1, dtype=ttnn.float32).to_list() == [2**40, 2**40 + 0]


def test_sizes_are_not_negative(devices):
    with pytest.raises(TypeError):
        ttnn.max_pool2d(tensor(devices[0]), -1, 4, 8, 32, [2, 2], [1, 1], [0, 0], [1, 1])


# ---- queues, devices, configurations, dry runs ----------------------------------------------------------------


def test_every_operation_takes_a_queue(devices):
    x = tensor(devices[0])
    for queue in ({"queue_id": 0}, {"cq_id": 1}, {"queue_id": None}):
        assert ttnn.relu(x, **queue).shape == x.shape
        assert ttnn.from_torch(memoryview(array.array("f", [1.0])), **queue).shape == [1]
    for wrong in ("a", -1, 256, 1.5):
        with pytest.raises(TypeError):
            ttnn.relu(x, queue_id=wrong)
    with pytest.raises(TypeError):
        ttnn.relu(x, queue=0)


def test_tensors_of_two_devices_are_refused(devices):
    a, b = (tensor(device, ttnn.bfloat16) for device in devices)
    for call in (
        lambda: ttnn.add(a, b),
        lambda: ttnn.where(a, b, b),
        lambda: ttnn.exp(a, output_tensor=b),
        lambda: ttnn.addcmul(a, b, b),
        lambda: ttnn.matmul(a, b),
        lambda: ttnn.concat([a, b], 0),
    ):
        with pytest.raises(RuntimeError, match="on the same device"):
            call()


def test_shard_specs_of_a_configuration_are_its_own():
    config = ttnn.create_sharded_memory_config((64, 64), core_grid=ttnn.CoreGrid(y=2, x=1), strategy=ttnn.ShardStrategy.HEIGHT)
    spec = config.shard_spec
    spec.shape = [64, 64]
    config.shard_spec.orientation = ttnn.ShardOrientation.COL_MAJOR
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])
    config.shard_spec.grid = grid
    assert config.shard_spec.shape == [64, 64] and config.shard_spec.grid == grid
    assert config.shard_spec == spec and spec.orientation == ttnn.ShardOrientation.COL_MAJOR
    assert config == ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    del config
    assert spec.shape == [64, 64]


def test_configurations_have_no_deaf_attributes(devices):
    """What can be set is set; what cannot be says so."""
    shape = ttnn.Shape([2, 3])
    config = ttnn.DRAM_MEMORY_CONFIG
    for owner, name, value in (
        (ttnn.CoreCoord(1, 2), "x", 3),
        (ttnn.CoreGrid(x=1, y=2), "x", 3),
        (config, "buffer_type", ttnn.BufferType.L1),
        (ttnn.Tile((32, 32)), "tile_shape", [16, 16]),
        (shape, "rank", 3),
        (tensor(devices[0]).spec, "dtype", ttnn.bfloat16),
    ):
        with pytest.raises(AttributeError):
            setattr(owner, name, value)
    compute = ttnn.WormholeComputeKernelConfig()
    compute.fp32_dest_acc_en = True
    assert compute.fp32_dest_acc_en
    program = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(2, 2), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=1, per_core_N=1
    )
    program.per_core_M = 4
    assert program.per_core_M == 4
    with pytest.raises(TypeError):
        program.per_core_M = 2**32 + 1


def test_values_of_dry_runs_are_refused(devices):
    x = tensor(devices[0])
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    y = ttnn.relu(x)
    large = ttnn.empty([131072, 131072], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=devices[0])
    product = ttnn.matmul(large, large)
    with pytest.raises(RuntimeError, match="capacity 2097152 exceeds"):  # as the original
        larger = ttnn.empty([262144, 262144], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=devices[0])
        ttnn.matmul(larger, larger)
    ttnn.graph.end_graph_capture()
    assert product.shape == [131072, 131072]
    for read in (lambda: y.to_list(), lambda: repr(y), lambda: ttnn.from_device(y).to_list(), lambda: product.to_list(), lambda: repr(product)):
        with pytest.raises(RuntimeError, match="a dry run .NO_DISPATCH. computes no values"):
            read()


@pytest.mark.parametrize("stride, kernel", [(1, 4), (2, 4), (4, 4)])
def test_weights_with_fewer_channels(devices, stride, kernel, numpy):
    """Channels without a weight count nothing; where the stride is folded into a product, the original refuses."""
    rng = numpy.random.default_rng(1)
    image = rng.standard_normal((1, 16, 16, 16)).astype(numpy.float32)
    weight = rng.standard_normal((32, 3, kernel, kernel)).astype(numpy.float32)

    def convolve(channels):
        return ttnn.conv2d(
            input_tensor=ttnn.from_torch(image.reshape(1, 1, 256, 16), dtype=ttnn.bfloat16, device=devices[0]),
            weight_tensor=ttnn.from_torch(channels, dtype=ttnn.bfloat16),
            device=devices[0],
            in_channels=16,
            out_channels=32,
            batch_size=1,
            input_height=16,
            input_width=16,
            kernel_size=(kernel, kernel),
            stride=(stride, stride),
            padding=(0, 0),
        )

    if stride == kernel:
        with pytest.raises(RuntimeError, match="Mismatch: width=256 height=48"):
            convolve(weight)
    else:
        padded = numpy.zeros((32, 16, kernel, kernel), numpy.float32)
        padded[:, :3] = weight
        assert convolve(weight).to_list() == convolve(padded).to_list()
