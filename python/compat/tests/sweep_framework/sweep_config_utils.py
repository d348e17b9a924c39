"""Shapes and memory configs of traced configurations, for sweep tests."""

import ttnn.configs
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from ttnn.configs import _CONFIG_LOOKUP


def load_unary_op_configs(operation_name, all_cases=False):
    """{"traced_config": [(shape, memory config), ...]}, or with all_cases {"input_shapes": ..., "input_memory_config": ...}."""
    return ttnn.configs.load_unary_op_configs(operation_name, all_cases, MasterConfigLoader())
