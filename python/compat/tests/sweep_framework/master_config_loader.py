"""Parameters of sweep tests from the configurations that were traced from models (docs/ttnn-configs.md).

The loader is the package's (ttnn.configs), and what it does is the library's: shard specs are the traced ones, never
computed anew. More parameters of an operation: model_tracer/operation_parameter_extractors.py.
"""

import pathlib
import sys

BASE_DIR = str(pathlib.Path(__file__).resolve().parents[2])
if BASE_DIR not in sys.path:
    sys.path.append(BASE_DIR)

import ttnn.configs
from model_tracer.operation_parameter_extractors import EXTRACTORS
from ttnn.configs import TensorConfig, get_traced_config, unpack_binary_traced_config, unpack_traced_config


class MasterConfigLoader(ttnn.configs.MasterConfigLoader):
    base = BASE_DIR
    extractors = EXTRACTORS
