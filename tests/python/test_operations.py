"""Operations are those of the tables: names, signatures, refusals, hooks, golden functions."""

import array
import functools
import gzip
import inspect
import json
import pathlib
import re

import pytest

import signatures
import ttnn
from ttnn import _ttnn

DATA = pathlib.Path(__file__).parents[1] / "data"
RECORDED = json.loads(gzip.decompress((DATA / "python" / "signatures.json.gz").read_bytes()))
OURS = _ttnn.all_operations()
# Operations that are Python functions around those of the library.
IN_PYTHON = {name for name in RECORDED if isinstance(getattr(ttnn, name[5:], None), ttnn.decorators.PythonOperation)}
# How many overloads are not there: none.
LACKING = {}


def parameters(text):
    """The parameters of a signature: names, with a ? behind those with a default, and the star."""
    return [p.split(":")[0].split("=")[0].strip() + "?" * ("=" in p) for p in signatures.parameters(text)]


def apart(names):
    """The positional parameters in their order, those by name alone, and those that may be left out."""
    star = names.index("*") if "*" in names else len(names)
    bare = [n.rstrip("?") for n in names]
    return bare[:star], set(bare[star + 1 :]), {n[:-1] for n in names if n.endswith("?")}


def takes(ours, theirs):
    """Whether all calls that fit their signature fit ours."""
    positional, named, optional = apart(ours)
    their_positional, their_named, their_optional = apart(theirs)
    every = set(positional) | named
    return (
        positional == their_positional
        and their_named <= every
        and their_optional <= optional
        and every - optional <= set(their_positional) | their_named
    )


@pytest.mark.parametrize("name", sorted(set(RECORDED) & (set(OURS) | IN_PYTHON)))
def test_signatures(name):
    texts = [str(inspect.signature(getattr(ttnn, name[5:]).function))] if name in IN_PYTHON else OURS[name].signatures
    ours = [parameters(text) for text in texts]
    missing = [recorded for recorded in RECORDED[name] if not any(takes(o, recorded.split()) for o in ours)]
    assert len(missing) == LACKING.get(name, 0), missing


# Names of ttnn 0.81.1 that are not here, besides operations: other chips' kernels, tracers of torch, pictures in a terminal.
LACKING_NAMES = """
    D2D_STAGE_GATE_UNGATED_SLOT LayerNormDeviceOperation LayerNormInputs LayerNormMultiCoreProgramFactory LayerNormParams
    LayerNormShardedProgramFactory MatmulDeviceOperation MatmulInputs MatmulParams RuntimeArgsColProxy SliceDeviceOperation SliceInputs
    SliceParams SliceTileProgramFactory SlidingWindowParallelConfig SoftmaxProgramConfig UNIFIED_ROUTED_EXPERT_CORE_GRID
    YUVCoefficients attach_absent_mcast comparison compute_distribution_to_mesh_mapping config_serialization
    create_matmul_attributes disaggregation distribute distributed_context_recv_bytes
    distributed_context_send_bytes dram_group_norm_params_from_torch experimental_loader fabric_connection_rt_args_size
    get_all_fabric_mesh_ids get_fabric_kernel_defines get_optimal_worker_cores_for_sharded_tensor get_physical_mesh_shapes
    get_tt_fabric_max_payload_size_bytes
    get_tt_fabric_packet_header_size_bytes get_usable_topology graph_report matmul_select_program_factory prepare_grid_sample_grid
    profiler reflection rgb_to_yuv stack_trace_source tools torch_tracer tracer visualize_system_mesh
    visualize_tensor yuv_bt601_coefficients yuv_bt709_coefficients
"""


def test_recorded_names():
    wanted = set((DATA / "python" / "names.txt").read_text().split()) - set(LACKING_NAMES.split())
    missing = [name for name in wanted if not hasattr(ttnn, name) and f"ttnn.{name}" not in RECORDED]
    assert not missing


def test_names():
    assert ttnn.add is OURS["ttnn.add"] and ttnn.add.name == "ttnn.add" == ttnn.add.__name__
    assert ttnn.mul is ttnn.multiply and ttnn.sub is ttnn.subtract
    assert "add(input_tensor_a" in ttnn.add.__doc__ and ttnn.add in ttnn.query_registered_operations()
    assert len(OURS) > 200
    for name in OURS:
        if not name.startswith("ttnn.Tensor."):
            node = ttnn
            for part in name.split(".")[1:]:
                node = getattr(node, part)
            assert node.python_fully_qualified_name


@pytest.fixture
def t(device):
    data = memoryview(array.array("f", [1, 2, 3, 4])).cast("B").cast("f", (2, 2))
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "std", "var"])
def test_reductions_into_odd_shards(device, name):
    """Shards without a dimension are refused; a height of 0 divides nothing."""
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})

    def reduce(shape, shard):
        tensor = ttnn.zeros(shape, layout=ttnn.TILE_LAYOUT, device=device)
        spec = ttnn.NdShardSpec(ttnn.Shape(shard), grid, ttnn.ShardOrientation.ROW_MAJOR)
        return getattr(ttnn, name)(tensor, dim=-2, memory_config=ttnn.MemoryConfig(ttnn.BufferType.L1, spec))

    with pytest.raises(RuntimeError, match="shard"):
        reduce([1, 1, 64, 64], [])
    if name == "max":  # of nothing there is no largest
        with pytest.raises(RuntimeError, match="non-zero size"):
            reduce([1, 1, 0, 64], [32, 32])
    else:
        assert reduce([1, 1, 0, 64], [32, 32]).shape[-1] == 64


def test_calls(t):
    out = ttnn.empty_like(t)
    assert ttnn.add(t, t, output_tensor=out).buffer_address() == out.buffer_address()
    assert ttnn.add(input_tensor_a=t, input_tensor_b=1.5).to_list() == [[2.5, 3.5], [4.5, 5.5]]
    assert ttnn.add(t, t, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.NEG)]).to_list()[0] == [-2.0, -4.0]
    assert ttnn.add(t, t, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG
    assert isinstance(ttnn.split(t, 1, 0), list)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda t: ttnn.add(t), "add(ttnn.Tensor)"),
        (lambda t: ttnn.add(t, t, nonsense=3), "nonsense=3"),
        (lambda t: ttnn.add(t, "text"), "str"),
        (lambda t: ttnn.add(t, object()), "object"),
        (lambda t: ttnn.relu(t, memory_config=ttnn.bfloat16), "DataType.BFLOAT16"),
        (lambda t: ttnn.add(t, 2**70), "64 bits"),
        (lambda t: ttnn.add(*[t] * 70), "arguments"),
        (lambda t: ttnn.add(t, t, **{"input_tensor_a": t}), "input_tensor_a"),
    ],
)
def test_type_errors(t, call, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        call(t)


def test_refusals(t):
    with pytest.raises(RuntimeError, match=r"^TT_(FATAL|THROW) @ \S+:\d+: .*\ninfo:\n.*\n$"):
        ttnn.from_torch(memoryview(array.array("f", [1])), dtype=ttnn.bfloat4_b, layout=ttnn.ROW_MAJOR_LAYOUT)
    with pytest.raises(RuntimeError, match="expect device tensors"):
        ttnn.relu(t.cpu())
    nested = [t]
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises((RecursionError, TypeError)):
        ttnn.concat(nested)


def test_hooks(t):
    seen = []

    def before(operation, args, kwargs):
        seen.append(("before", operation.name, len(args)))
        if isinstance(args[0], ttnn.Tensor):
            assert ttnn.relu(args[0]) is not None  # an operation inside a hook has none

    def after(operation, args, kwargs, output):
        seen.append(("after", operation.name, output.shape))

    with ttnn.register_pre_operation_hook(before), ttnn.register_post_operation_hook(after):
        ttnn.add(t, t)
        t * 2
        ttnn.from_torch(memoryview(array.array("f", [1])))
    ttnn.add(t, t)
    names = [(when, name) for when, name, _ in seen]
    assert names[:4] == [("before", "ttnn.add"), ("after", "ttnn.add"), ("before", "ttnn.multiply"), ("after", "ttnn.multiply")]
    assert len(seen) == 6 and names[4][1] == "ttnn.from_torch"


def test_hooks_may_replace(t):
    with ttnn.register_pre_operation_hook(lambda o, args, kwargs: ((args[0], 10.0), {})):
        assert ttnn.add(t, 1.0).to_list()[0] == [11.0, 12.0]
    with ttnn.register_post_operation_hook(lambda o, args, kwargs, output: "other"):
        assert ttnn.add(t, 1.0) == "other"


def test_hooks_that_fail(t):
    def bad(*unused):
        raise ValueError("from the hook")

    with pytest.raises(ValueError, match="from the hook"):
        with ttnn.register_pre_operation_hook(bad):
            ttnn.add(t, t)
    assert ttnn.add(t, t).shape == [2, 2]


def test_python_operations(t):
    @ttnn.register_python_operation(name="ttnn.experimental.twice_for_tests", golden_function=lambda x: x * 2)
    def twice(x):
        """Two times."""
        return ttnn.add(x, x)

    seen = []
    with ttnn.register_pre_operation_hook(lambda o, a, k: seen.append(o.name)):
        assert ttnn.experimental.twice_for_tests(t).to_list()[0] == [2.0, 4.0]
    assert seen == ["ttnn.experimental.twice_for_tests", "ttnn.add"]
    assert ttnn.get_golden_function(ttnn.experimental.twice_for_tests)(4) == 8
    ttnn.register_cpp_operation(target_name="ttnn.experimental.plus_for_tests", function=ttnn.add)
    assert ttnn.experimental.plus_for_tests(t, t).to_list()[0] == [2.0, 4.0]


def test_golden(t):
    golden = ttnn.get_golden_function(ttnn.exp)
    assert golden(t).to_list()[0] == pytest.approx([2.718281828, 7.389056], rel=1e-6)
    data = memoryview(array.array("f", [0.5]))
    assert ttnn.get_golden_function(ttnn.add)(ttnn.from_torch(data), 2).to_list() == [2.5]
    with pytest.raises(RuntimeError, match="golden"):
        ttnn.get_golden_function(ttnn.deallocate)


def test_golden_of_torch(torch):
    x = torch.randn(3, 5)
    assert torch.allclose(ttnn.get_golden_function(ttnn.exp)(x), x.exp())
    assert ttnn.get_golden_function(ttnn.exp)(x.bfloat16()).dtype == torch.bfloat16


def row(numbers):
    return ttnn.from_torch(memoryview(array.array("f", numbers)).cast("B").cast("f", (1, 2)), layout=ttnn.TILE_LAYOUT)


def test_trace(device):
    def forward(x):
        inner = ttnn.add(x, 1.0)
        out = ttnn.multiply(inner, 2.0)
        ttnn.deallocate(inner)
        return out

    a = row([1, 2]).to(device)
    assert forward(a).to_list() == [[4.0, 6.0]]
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    assert isinstance(trace, ttnn.MeshTraceId) and ttnn.is_trace_capture_active(device)
    out = forward(a)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert not ttnn.is_trace_capture_active(device)
    address = out.buffer_address()
    ttnn.copy_host_to_device_tensor(row([10, 20]), a)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert out.to_list() == [[22.0, 42.0]] and out.buffer_address() == address
    ttnn.release_trace(device, trace)
    with pytest.raises(RuntimeError, match="Trace instance [0-9]+ must exist on Mesh device"):
        ttnn.execute_trace(device, trace)


def test_trace_of_an_input_that_is_allocated_again(device):
    """As upstream's models do it: the input is consumed, and another one gets its place."""
    first = ttnn.relu(row([-1, 2]).to(device, ttnn.L1_MEMORY_CONFIG))
    first.deallocate()
    x = row([-1, 2]).to(device, ttnn.L1_MEMORY_CONFIG)
    spec, address = x.spec, x.buffer_address()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    out = ttnn.relu(x)
    x.deallocate()
    x = ttnn.allocate_tensor_on_device(spec, device)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert x.buffer_address() == address
    for numbers in ([-3, 4], [5, -6]):
        ttnn.copy_host_to_device_tensor(row(numbers), x)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        assert out.to_list() == [[max(n, 0.0) for n in numbers]]
    ttnn.release_trace(device, trace)


def test_trace_refusals(device):
    a = row([1, 2]).to(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    for words, call in {
        "already being used for tracing": lambda: ttnn.begin_trace_capture(device, cq_id=0),
        "Cannot load new binaries": lambda: ttnn.cosh(a),
        "Writes are not supported": lambda: row([1, 2]).to(device),
        "Reads are not supported": lambda: a.cpu(),
        "not being used for tracing tid 99": lambda: ttnn.end_trace_capture(device, ttnn.MeshTraceId(99), cq_id=0),
    }.items():
        with pytest.raises(RuntimeError, match=words):
            call()
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.release_trace(device, trace)
    ttnn.release_trace(device, trace)


def test_config(tmp_path):
    assert ttnn.CONFIG.enable_fast_runtime_mode is True and ttnn.CONFIG.report_path is None
    with ttnn.manage_config("report_name", "My Report: x/y"):
        assert re.fullmatch("generated/ttnn/reports/my_report_x_y_[a-z]{3}[0-9]{2}_[0-9]{4}", str(ttnn.CONFIG.report_path))
    assert ttnn.CONFIG.report_name is None
    with pytest.raises(TypeError):
        ttnn.CONFIG.enable_logging = "yes"
    with pytest.raises(AttributeError):
        ttnn.CONFIG.nonsense = 1
    copy = ttnn.Config(ttnn.CONFIG)
    copy.comparison_mode_pcc = 0.5
    copy.save_to_file(tmp_path / "config.json")
    other = ttnn.Config()
    other.load_from_file(tmp_path / "config.json")
    assert other.comparison_mode_pcc == 0.5 != ttnn.CONFIG.comparison_mode_pcc
    assert repr(ttnn.CONFIG).startswith("Config{cache_path=")


def test_golden_of_a_call_that_is_refused(device):
    """Which gives no place in the cache."""
    cache, rows = (ttnn.rand([1, 1, 32, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
    with pytest.raises(RuntimeError, match="Only an update tensor or an update vector can be provided"):
        ttnn.experimental.paged_update_cache.golden(cache, rows)
    ttnn.experimental.paged_update_cache.golden(cache, rows, update_idxs=[99])


def test_whole_numbers_for_floats(device):
    ones = ttnn.full([1, 1, 32, 32], fill_value=1.0, layout=ttnn.TILE_LAYOUT, device=device)
    assert set(sum(ttnn.experimental.dropout(ones, 0.0, 2, 3).to_list()[0][0], [])) == {2.0}
    assert set(sum(ttnn.experimental.dropout(ones, 1, 2.0, 3).to_list()[0][0], [])) == {0.0}
    assert ttnn.ema(ones, 1).to_list() == ttnn.ema(ones, 1.0).to_list()


# What the released library answers: a text, or the shape of the result.
SCALARS = {
    "moreh_dot(s, s)": "3 not in [-4, 0)",
    "moreh_matmul(s, s)": [1, 1],
    "experimental.minimal_matmul(s, s)": "expects rank >= 2 tensors",
    "layer_norm_pre_all_gather(s)": "3 not in [-4, 0)",
    "rms_norm_post_all_gather(s, s)": "2 not in [-4, 2)",
    "global_avg_pool2d(s)": "got rank 0",
    "transformer.attention_softmax(s)": "not supported",  # the released library gives [1, 1, 1, 1]
    "fold(empty, 1, 1)": [1, 0, 32, 32],
    "fold(empty, 2, 2, use_transpose_as_fold=True)": [1, 16, 16, 0],
    "transpose(rows, 2, 3)": [1, 16, 32, 0],
    "std(empty)": [],
    "max(empty)": "non-zero size",
}


@pytest.mark.parametrize("call", SCALARS)
def test_scalars_and_empty_tensors(device, call):
    tile = {"layout": ttnn.TILE_LAYOUT, "device": device}
    given = {
        "s": ttnn.full([], fill_value=1.5, **tile),
        "empty": ttnn.full([1, 0, 32, 32], fill_value=1.5, **tile),
        "rows": ttnn.full([1, 16, 0, 32], fill_value=1.5, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
    }
    if isinstance(SCALARS[call], list):
        assert list(eval(f"ttnn.{call}", {"ttnn": ttnn}, given).shape) == SCALARS[call]
    else:
        with pytest.raises(RuntimeError, match=re.escape(SCALARS[call])):
            eval(f"ttnn.{call}", {"ttnn": ttnn}, given)


def sparse_product(device, a, b, per_core=1, **more):
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(1, 1), in0_block_w=1, out_subblock_h=1, out_subblock_w=1,
        out_block_h=1, out_block_w=1, per_core_M=per_core, per_core_N=1, fuse_batch=False, fused_activation=None, mcast_in0=True,
    )  # fmt: skip
    full = lambda shape: ttnn.full(shape, fill_value=1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    marks = ttnn.full([1, 1, 1, 2], fill_value=1.0, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    more = {name: full(value) if name == "bias" else value for name, value in more.items()}
    return ttnn.sparse_matmul(full(a), full(b), sparsity=marks, program_config=config, **more)


def test_sparse_products_at_their_edges(device):
    for a, b in (([32], [2, 32, 32]), ([], [2, 32, 32]), ([1, 32, 32], [32])):
        with pytest.raises(RuntimeError, match="expects matrices"):
            sparse_product(device, a, b)
    with pytest.raises(RuntimeError, match="per_core_M and per_core_N must be non-zero"):
        sparse_product(device, [1, 32, 32], [2, 32, 32], per_core=0)
    for a, b in ((20, 32), (32, 20)):
        assert sparse_product(device, [1, 32, a], [2, b, 32]).to_list()[0][1][31][31] == 20
    ids = ttnn.full([1, 1, 1, 1], fill_value=1, dtype=ttnn.uint16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    for n, width, last in ((20, 32, 33), (32, 20, 32)):
        row = sparse_product(device, [1, 32, 32], [2, 32, n], indices=ids, bias=[2, 1, width]).to_list()[0][0][0]
        assert (len(row), row[0], row[-1]) == (n, 33, last)


def test_gates_of_other_batches(device):
    x, four, three = (ttnn.full([n, 32, 32], fill_value=1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for n in (1, 4, 3))
    with pytest.raises(RuntimeError, match="fused_ternary_input_a has 4 in dimension -3, where the output has 1"):
        ttnn.experimental.dit_minimal_matmul_addcmul_fused(x, x, 0.5, four, three)


def test_programs_take_no_host_tensors(device):
    """Neither as a further operand nor as an output."""
    there = ttnn.full([1, 1, 32, 64], fill_value=1.0, layout=ttnn.TILE_LAYOUT, device=device)
    here = there.cpu()
    for call in (
        lambda: ttnn.layer_norm(there, weight=here),
        lambda: ttnn.matmul(there, here, transpose_b=True),
        lambda: ttnn.relu(there, output_tensor=here),
        lambda: ttnn.scale_mask_softmax(there, 1.0, here),
        lambda: ttnn.experimental.broadcast_to(there, ttnn.Shape([2, 1, 32, 64]), output=here),
        lambda: ttnn.moe(there, there, there, 32, output_tensor=here),
    ):
        with pytest.raises(RuntimeError, match="Device Operations expect device tensors as inputs"):
            call()


def test_concat_of_columns_that_fit_no_core(device):
    """Rows of a few elements are joined as columns; so many that one is larger than L1 go by parts."""
    rows = 1500 * 256
    tensors = [ttnn.full([rows, n], fill_value=n, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device) for n in (3, 1)]
    joined = ttnn.concat(tensors, dim=1).to_list()
    assert len(joined) == rows and all(row == [3, 3, 3, 1] for row in joined)


def test_golden_of_concat_in_groups(device):
    a, b = (ttnn.arange(start, start + 4, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT) for start in (0, 10))
    assert ttnn.concat.golden_function([a, b], 0, 2).to_list() == [0, 1, 10, 11, 2, 3, 12, 13]
    with pytest.raises(RuntimeError, match="do not fit together"):
        ttnn.concat.golden_function([a, b], 0, 3)


def test_second_pair_of_a_fused_cache_update(device):
    full = functools.partial(ttnn.full, fill_value=1.0, dtype=ttnn.bfloat16, device=device)

    def tokens(row):
        grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, row), ttnn.CoreCoord(3, row))])
        shard = ttnn.ShardSpec(grid, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
        memory = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shard)
        return full([1, 4, 32, 64], layout=ttnn.TILE_LAYOUT, memory_config=memory)

    def update(cache, row=1, layout=ttnn.TILE_LAYOUT):
        caches = full([4, 1, 128, 64], layout=ttnn.TILE_LAYOUT), full(cache, layout=layout)
        ttnn.experimental.paged_fused_update_cache(caches[0], tokens(0), caches[1], tokens(row), update_idxs=[0, 1, 2, 3])

    update([4, 1, 64, 64])
    for wrong, text in (
        ({"cache": [4, 1, 128, 32]}, "Last dim of input tensor must match last dim of cache tensor"),
        ({"cache": [2, 1, 128, 64]}, "Expect batch in input tensor match the batch in cache tensor"),
        ({"cache": [4, 1, 128, 64], "layout": ttnn.ROW_MAJOR_LAYOUT}, "must be tilized"),
        ({"cache": [4, 1, 128, 64], "row": 0}, "must not overlap"),
    ):
        with pytest.raises(RuntimeError, match=text):
            update(**wrong)


# What the released library says of products of tensors that are not tilized: a, layouts of a and b (R, T), where they lie.
TILIZED = "Inputs to matmul must be tilized"
NOT_TILIZED = (
    ([5, 5], "RR", ttnn.DRAM_MEMORY_CONFIG, "per_core_N must be greater than 0!"),
    ([5, 5], "RT", ttnn.DRAM_MEMORY_CONFIG, "per_core_M must be greater than 0!"),
    ([5, 5], "TR", ttnn.DRAM_MEMORY_CONFIG, "per_core_N must be greater than 0!"),
    ([2, 5, 5], "RR", ttnn.DRAM_MEMORY_CONFIG, "per_core_N must be greater than 0!"),
    ([64, 5], "RR", ttnn.DRAM_MEMORY_CONFIG, "in0_block_w must be greater than 0!"),
    ([300, 5], "RT", ttnn.DRAM_MEMORY_CONFIG, "in0_block_w must be greater than 0!"),
    ([5, 5], "RR", ttnn.L1_MEMORY_CONFIG, TILIZED),
    ([64, 64], "RR", ttnn.DRAM_MEMORY_CONFIG, TILIZED),
    ([64, 64], "RT", ttnn.DRAM_MEMORY_CONFIG, TILIZED),
    ([64, 64], "TR", ttnn.L1_MEMORY_CONFIG, TILIZED),
)


@pytest.mark.parametrize("mode", [None, "NORMAL", "NO_DISPATCH"])
def test_products_of_what_is_not_tilized(device, mode):
    """Refused in the released library's words, by every name of the product, in dry runs too."""
    layouts = {"R": ttnn.ROW_MAJOR_LAYOUT, "T": ttnn.TILE_LAYOUT}
    if mode:
        ttnn.graph.begin_graph_capture(getattr(ttnn.graph.RunMode, mode))
    try:
        for shape, (first, second), memory, text in NOT_TILIZED:
            other = [*shape[:-2], shape[-1], shape[-2]]
            a, b = (ttnn.zeros(s, dtype=ttnn.bfloat16, layout=layouts[x], device=device, memory_config=memory)
                    for s, x in ((shape, first), (other, second)))
            for product in (ttnn.matmul, ttnn.linear, lambda a, b: a @ b):
                with pytest.raises(RuntimeError, match=text):
                    product(a, b)
    finally:
        if mode:
            ttnn.graph.end_graph_capture()


def test_weights_sent_ahead(device):
    """dram_prefetcher and products that name its ring: the numbers are those of the weights, and the ring keeps its room."""
    cores = [(1, 0), (2, 0), (1, 1), (2, 1)]

    def ranges(*places):
        return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(*place), ttnn.CoreCoord(*place)) for place in places])

    def shards(layout, buffer, places, shape):
        return ttnn.MemoryConfig(layout, buffer, ttnn.ShardSpec(ranges(*places), shape, ttnn.ShardOrientation.ROW_MAJOR))

    def upload(value, shape, layout, **more):
        numbers = array.array("f", [value(i) for i in range(shape[0] * shape[1])])
        return ttnn.from_torch(memoryview(numbers).cast("B").cast("f", shape), layout=layout, device=device, **more)

    width, height = ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    banks = shards(width, ttnn.BufferType.DRAM, [(0, 0), (1, 0)], [128, 64])
    a = upload(lambda i: i % 7 - 3, [32, 128], ttnn.TILE_LAYOUT, dtype=ttnn.bfloat16)
    b = upload(lambda i: i % 5 - 2, [128, 128], ttnn.TILE_LAYOUT, dtype=ttnn.bfloat16, memory_config=banks)
    where = upload(lambda i: 0, [2, 1], ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.uint32, memory_config=ttnn.L1_MEMORY_CONFIG)
    where = ttnn.to_memory_config(where, shards(height, ttnn.BufferType.L1, [(0, 0), (0, 1)], [1, 1]))
    pairs = [(ttnn.CoreCoord(0, y), ranges((1, y), (2, y))) for y in range(2)]
    ring = ttnn.create_global_circular_buffer(device, pairs, 64 * 2048)
    assert ttnn.dram_prefetcher([b, where], 1, ring).shape == ttnn.Shape([32, 32])
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(2, 2),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=False,
        gather_in0=True,
        num_global_cb_receivers=2,
    )
    local = shards(width, ttnn.BufferType.L1, cores, [32, 32])
    rows = ttnn.to_memory_config(a, local)
    out = ttnn.linear(rows, b, program_config=config, memory_config=local, global_cb=ring)
    expected = ttnn.matmul(a, ttnn.to_memory_config(b, ttnn.DRAM_MEMORY_CONFIG))
    assert out.to_list() == expected.to_list()
    before = ring.buffer_address()
    with pytest.raises(RuntimeError, match="Specified cores are not contained"):
        other = ttnn.create_global_circular_buffer(device, pairs[:1], 2048)
        ttnn.linear(rows, b, program_config=config, memory_config=local, global_cb=other)
    with pytest.raises(TypeError):
        ttnn.dram_prefetcher([b, where], 1, 7)
    assert ring.buffer_address() == before and ring.size() == 64 * 2048
