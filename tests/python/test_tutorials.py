"""What upstream's tutorials ask for beside the usual: no groups as groups=0, and operations computed by their golden function."""

import pytest

import ttnn


@pytest.fixture(scope="module")
def device():
    opened = ttnn.open_device(device_id=0, l1_small_size=8192)
    yield opened
    ttnn.close_device(opened)


def numbers(shape, device, layout=ttnn.ROW_MAJOR_LAYOUT):
    return ttnn.rand(shape, dtype=ttnn.bfloat16, seed=len(shape), layout=layout, device=device)


def weights(shape, device):
    return ttnn.from_device(numbers(shape, device))


IMAGE = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 8, "input_width": 8}
WINDOW = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1)}
AHEAD = {"input_memory_config": ttnn.L1_MEMORY_CONFIG, "input_layout": ttnn.ROW_MAJOR_LAYOUT, "input_dtype": ttnn.bfloat16, "has_bias": True}


def conv2d(device, groups, run=ttnn.conv2d):
    image, weight = numbers((1, 1, 64, 32), device), weights((32, 32, 3, 3), device)
    return run(input_tensor=image, weight_tensor=weight, device=device, groups=groups, **IMAGE, **WINDOW)


def conv1d(device, groups):
    line = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_length": 64, "kernel_size": 3, "padding": 1}
    image, weight = numbers((1, 64, 32), device), weights((32, 32, 3), device)
    return ttnn.conv1d(input_tensor=image, weight_tensor=weight, device=device, groups=groups, **line)


def prepared(device, groups, run=ttnn.prepare_conv_weights, form="OIHW"):
    weight = weights((32, 32, 3, 3), device)
    return run(weight_tensor=weight, weights_format=form, device=device, groups=groups, **AHEAD, **IMAGE, **WINDOW)


def of_volumes(device, groups):
    return ttnn.experimental.prepare_conv3d_weights(weight_tensor=weights((32, 32, 3, 3, 3), device), groups=groups, device=device)


CONVOLUTIONS = {
    "conv2d": conv2d,
    "conv1d": conv1d,
    "conv_transpose2d": lambda device, groups: conv2d(device, groups, ttnn.conv_transpose2d),
    "golden of conv2d": lambda device, groups: conv2d(device, groups, ttnn.get_golden_function(ttnn.conv2d)),
    "golden of conv_transpose2d": lambda device, groups: conv2d(device, groups, ttnn.get_golden_function(ttnn.conv_transpose2d)),
    "prepare_conv_weights": prepared,
    "prepare_conv_transpose2d_weights": lambda device, groups: prepared(device, groups, ttnn.prepare_conv_transpose2d_weights, "IOHW"),
    "prepare_conv3d_weights": of_volumes,
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_no_groups_are_one(device, name):
    none, one = (CONVOLUTIONS[name](device, groups) for groups in (0, 1))
    assert none.shape == one.shape and none.to_list() == one.to_list()


def called(nodes):
    return [(node["params"]["name"], node["params"]["inputs"], node["arguments"]) for node in nodes if node["node_type"] == "function_start"]


def test_no_groups_are_recorded_as_given(device):
    """The released library records Conv2dParams(…, 32, 0, …) for groups=0, and nothing else differs."""
    lists = []
    for groups in (0, 1):
        device.clear_program_cache()
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        conv2d(device, groups)
        lists.append(ttnn.graph.end_graph_capture())
    differ = [(ours, others) for ours, others in zip(*map(called, lists)) if ours != others]
    assert len(lists[0]) == len(lists[1])
    assert [ours[0] for ours, _ in differ] == ["ttnn::conv2d", "ttnn::prim::conv2d", "Device Operation"]


def test_volumes_want_groups(device):
    image, weight = numbers((1, 4, 8, 8, 32), device), numbers((32 * 27, 32), device, ttnn.TILE_LAYOUT)
    config = ttnn.Conv3dConfig(compute_with_storage_grid_size=(8, 8))
    options = {"config": config, "output_channels": 32, "kernel_size": (3, 3, 3), "dtype": ttnn.bfloat16, "groups": 0}
    with pytest.raises(RuntimeError, match="groups must be greater than 0"):
        ttnn.experimental.conv3d(input_tensor=image, weight_tensor=weight, device=device, **options)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("on_device", [True, False])
def test_fallback_gives_what_it_was_given(device, dtype, layout, on_device):
    if dtype == ttnn.bfloat8_b and layout == ttnn.ROW_MAJOR_LAYOUT:
        pytest.skip("there is none")
    place = {"dtype": dtype, "layout": layout, "device": device if on_device else None}
    given = ttnn.full([32, 64], 3, **place)
    found = ttnn.get_fallback_function(ttnn.reshape)(given, (64, 32))
    assert (found.dtype, found.layout, found.device()) == (dtype, layout, given.device())
    assert found.to_list() == ttnn.full([64, 32], 3, **place).to_list()


def test_fallback_of_lists(device):
    given = [ttnn.full([2, 2], value, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for value in (1, 2)]
    assert ttnn.get_fallback_function(ttnn.concat)(given, dim=0).to_list() == [[1, 1], [1, 1], [2, 2], [2, 2]]
    values, places = ttnn.get_fallback_function(ttnn.topk)(given[0], 1)
    assert values.dtype == places.dtype == ttnn.bfloat16 and values.device() is places.device() is device


def test_fallback_to_an_attached_function(device):
    """What prepares the inputs and makes tensors of the output is asked, where it was given."""
    heard = []

    @ttnn.register_python_operation(name="ttnn.experimental.thrice", golden_function=lambda value: [3 * item for item in value])
    def thrice(tensor):
        raise AssertionError("not called")

    ttnn.attach_golden_function(
        thrice,
        thrice.golden_function,
        preprocess_golden_function_inputs=lambda args, kwargs: ((args[0].to_list(),), kwargs),
        postprocess_golden_function_outputs=lambda output, args, kwargs: heard.append((output, len(args))) or output,
    )
    assert ttnn.get_fallback_function(thrice)(ttnn.ones([2])) == [3, 3]
    assert heard == [([3, 3], 1)]
    ttnn.attach_golden_function(thrice, lambda value: None, preprocess_golden_function_inputs=lambda args, kwargs: (args, kwargs))
    with pytest.raises(RuntimeError, match="gave NoneType where tensors are expected"):
        ttnn.get_fallback_function(thrice)(ttnn.ones([2]))


def test_fallback_without_a_golden_function():
    @ttnn.register_python_operation(name="ttnn.experimental.without")
    def without(tensor):
        return tensor

    with pytest.raises(RuntimeError, match="does not have a golden function"):
        ttnn.get_fallback_function(without)
