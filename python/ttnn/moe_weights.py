"""ttnn.experimental.get_weight_core_shard_maps and get_weight_mem_configs: how packed weights of experts lie in the banks of a device.

Models the functions of that name of ttnn 0.81; ttnn.moe_compute_utils has functions of the same names that take and give other things.
"""

from dataclasses import dataclass

from ttnn import moe_compute_utils


@dataclass(frozen=True)
class WeightCoreShardMaps:
    """The tiles of each core of the ring: of w0 and w1, of w2's last group with what fills it up; and the banks in the ring's order."""

    w0_w1_shard_map: list
    w2_shard_map: list
    dram_core_range_set: object


@dataclass(frozen=True)
class WeightMemoryConfigs:
    """The memory configs of both packed weights."""

    w0_w1: object
    w2: object


def get_weight_core_shard_maps(mesh_device, hidden_size, intermediate_size):
    """Which tiles of weights each core of the ring has, and the banks that hold them."""
    return WeightCoreShardMaps(*moe_compute_utils.get_weight_core_shard_maps(mesh_device, hidden_size, intermediate_size))


def get_weight_mem_configs(mesh_device, *, num_layers, experts_per_device, hidden_size, intermediate_size, has_bias=False):
    """Memory configs of packed weights: shards of rows over the banks."""
    for name, extent in (("hidden_size", hidden_size), ("intermediate_size", intermediate_size)):
        if extent % 32:
            raise RuntimeError(f"{name} ({extent}) must be divisible by TILE_SIZE (32)")
    maps = moe_compute_utils.get_weight_core_shard_maps(mesh_device, hidden_size, intermediate_size)
    configs = moe_compute_utils.get_weight_mem_configs(num_layers, experts_per_device, hidden_size, intermediate_size, *maps, has_bias)
    return WeightMemoryConfigs(*configs[:2])
