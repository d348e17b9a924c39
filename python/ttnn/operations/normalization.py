"""What group_norm and layer_norm want prepared."""

from ttnn import _ttnn
from ttnn._ttnn.tensor import DataType, Layout, ShardOrientation, TensorMemoryLayout


def create_group_norm_input_mask(
    num_channel, num_groups, num_cores_across_channel, data_type=DataType.BFLOAT16, tile_height=32, tile_width=32, rows_in_last_tile=0
):
    """Ones where the channels of a group lie in its tiles, for every group."""
    args = (num_channel, num_groups, num_cores_across_channel, data_type, tile_height, tile_width, rows_in_last_tile)
    return _ttnn.tensor.group_mask(*args, False)


def create_group_norm_input_negative_mask(
    num_channel, num_groups, num_cores_across_channel, data_type=DataType.BFLOAT16, tile_height=32, tile_width=32
):
    """Zeros there, and ones around them."""
    return _ttnn.tensor.group_mask(num_channel, num_groups, num_cores_across_channel, data_type, tile_height, tile_width, 0, True)


def create_group_norm_weight_bias_rm(input_tensor, num_channels, num_cores_x):
    """A torch vector of channels as rows of 32: each core's channels begin a row."""
    import torch

    per_core = num_channels // num_cores_x
    rows = input_tensor.flatten()[: per_core * num_cores_x].reshape(num_cores_x, per_core)
    return torch.nn.functional.pad(rows, (0, -per_core % 32)).reshape(1, 1, -1, 32)


def determine_expected_group_norm_sharded_config_and_grid_size(
    *, device, num_channels, num_groups, input_nhw, is_height_sharded, is_row_major=False
):
    """The memory config and the grid of cores for shards of a tensor."""
    how = "height" if is_height_sharded else "rows" if is_row_major else "block"
    return _ttnn.tensor.group_norm_cores(num_channels, num_groups, input_nhw, device.compute_with_storage_grid_size(), how)


def determine_expected_group_norm_dram_grid_size(*, device, num_channels, num_groups, input_nhw, num_batches=1):
    """The grid of cores for a tensor that is not in shards."""
    return _ttnn.tensor.group_norm_cores(num_channels, num_groups, input_nhw, device.compute_with_storage_grid_size(), "dram")


def _find_expected_dram_grid(max_x, max_y, num_channels, num_groups, input_nhw, num_batches=1):
    """The same for cores that are named."""
    return _ttnn.tensor.group_norm_cores(num_channels, num_groups, input_nhw, (max_x, max_y), "dram")


def find_max_tile_span(W, group_size, tile_width):
    """How many tiles a group of so many channels touches at most."""
    groups = ((first, first + group_size - 1) for first in range(0, W, group_size))
    return max((last // tile_width - first // tile_width + 1 for first, last in groups), default=0)


def get_group_norm_cores_across_channel(memory_layout, core_grid, shard_orientation=None):
    """How many cores share the channels of a tensor that lies this way."""
    if memory_layout == TensorMemoryLayout.BLOCK_SHARDED:
        return core_grid.x if shard_orientation == ShardOrientation.ROW_MAJOR else core_grid.y
    return 1 if memory_layout == TensorMemoryLayout.HEIGHT_SHARDED else core_grid.x * core_grid.y


def create_layer_norm_reciprocals(device, core_range_set, width):
    """1, 1/2, 1/3, ... 1/width on each of the cores."""
    import ttnn

    numbers = [1 / (i + 1) for i in range(width)] * core_range_set.num_cores()
    shard = ttnn.ShardSpec(core_range_set, [1, width], ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shard)
    host = ttnn.Tensor(numbers, [core_range_set.num_cores(), width], DataType.FLOAT32, Layout.ROW_MAJOR)
    return ttnn.to_device(host, device, memory_config=place)


def create_layernorm_program_config(shard_spec=None, tile_height=32, tile_width=32):
    """The config for a tensor with these shards; without them the default one."""
    import ttnn

    if shard_spec is None:
        return ttnn.LayerNormDefaultProgramConfig()
    box = shard_spec.grid.bounding_box()
    block_h, block_w = shard_spec.shape[0] // tile_height, shard_spec.shape[1] // tile_width
    return ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(box.end.x - box.start.x + 1, box.end.y - box.start.y + 1),
        subblock_w=next(n for n in (4, 3, 2, 1) if block_w % n == 0),
        block_h=block_h,
        block_w=block_w,
        inplace=False,
    )


def dram_group_norm_virtual_columns(core_grid, num_channels, num_groups):
    """Into how many columns of cores channels are cut: whole groups and whole tiles in each, as many as there can be."""
    for columns in range(min(core_grid.x, num_groups), 0, -1):
        if num_channels % (columns * 32) == 0 and num_groups % columns == 0:
            return columns
    raise AssertionError(f"{num_channels} channels in {num_groups} groups cannot be cut for a grid of {core_grid.x} columns")


def create_group_norm_reciprocals(N, C, H, W, num_groups, core_grid):
    """1, 1/2, 1/3 ...: what Welford's method divides by, as many as a core meets elements, a row for each core (torch)."""
    import torch

    rows = core_grid.x // dram_group_norm_virtual_columns(core_grid, C, num_groups) * core_grid.y
    count = C // num_groups * -(-H * W // 32) // (1 if N >= rows else rows // N)
    return (1 / torch.arange(1, count + 1, dtype=torch.float32)).repeat(core_grid.x * core_grid.y, 1)


def dram_group_norm_params_from_torch(
    torch_params, channels_per_device, groups_per_device, device, mesh_axis=None, core_grid=None, return_mask=True, dtype=None
):
    """Weight, bias or a list of them as group_norm wants them of a tensor in DRAM; with the mask of its groups."""
    import torch

    import ttnn

    if channels_per_device % 32 or channels_per_device % groups_per_device:
        raise AssertionError(f"{channels_per_device} channels are no whole tiles in {groups_per_device} groups")
    dtype = ttnn.bfloat16 if dtype is None else dtype
    columns = dram_group_norm_virtual_columns(core_grid or device.core_grid, channels_per_device, groups_per_device)
    dims, parts = [None, None], 1
    if mesh_axis is not None:
        dims[mesh_axis], parts = 0, tuple(device.shape)[mesh_axis]
    alone = isinstance(torch_params, torch.Tensor)
    made = []
    for param in [torch_params] if alone else torch_params:
        if param.numel() != channels_per_device * parts:
            raise AssertionError(f"a parameter of {param.numel()} elements has not {channels_per_device} channels per device")
        rows = torch.cat([create_group_norm_weight_bias_rm(p, channels_per_device, columns) for p in param.chunk(parts)], dim=0)
        mapper = ttnn.ShardTensor2dMesh(device, mesh_shape=tuple(device.shape), dims=dims) if parts > 1 else None
        made.append(ttnn.from_torch(rows, dtype=dtype, device=device, mesh_mapper=mapper))
    params = made[0] if alone else made
    if not return_mask:
        return params
    mask = create_group_norm_input_mask(channels_per_device, groups_per_device, columns, dtype)
    return params, ttnn.to_device(mask, device)
