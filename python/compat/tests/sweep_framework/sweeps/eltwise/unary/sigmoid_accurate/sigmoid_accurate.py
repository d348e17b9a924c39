"""Sweeps of ttnn.sigmoid_accurate with the 30 configurations that were traced from EfficientNet-B0.

    pytest tests/sweep_framework/sweeps/eltwise/unary/sigmoid_accurate/sigmoid_accurate.py -k model_traced -v
"""

import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader, unpack_traced_config
from tests.ttnn.utils_for_testing import check_with_pcc
from ttnn.sweeps import start_measuring_time, stop_measuring_time

TIMEOUT = 30

# Exactly the traced configurations; all_cases=True gives all combinations of their values.
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("sigmoid_accurate")

parameters = {
    "model_traced": model_traced_params,
}


def invalidate_vector(test_vector):
    """Block floats exist in tiles only."""
    if test_vector["input_a_layout"] == ttnn.ROW_MAJOR_LAYOUT and test_vector["input_a_dtype"] == ttnn.bfloat8_b:
        return True, "bfloat8_b needs the tile layout"
    return False, None


def run(
    input_shape=None,
    input_a_dtype=None,
    input_a_layout=None,
    input_a_memory_config=None,
    output_memory_config=None,
    storage_type="StorageType::DEVICE",
    traced_config_name=None,
    *,
    device,
) -> list:
    # A vector may also be the name of a configuration.
    if traced_config_name:
        input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config = unpack_traced_config(traced_config_name)

    given = ttnn.rand(input_shape, dtype=input_a_dtype, layout=input_a_layout, device=device, memory_config=input_a_memory_config)
    start_time = start_measuring_time()
    result = ttnn.sigmoid_accurate(given, memory_config=output_memory_config)
    e2e_perf = stop_measuring_time(start_time)
    expected = ttnn.get_golden_function(ttnn.sigmoid_accurate)(given)
    return [check_with_pcc(expected, result, threshold=0.999), e2e_perf]
