#!/usr/bin/env python3
"""Writes the vectors of sweep modules to tests/sweep_framework/vectors_export (README.md of this folder).

    python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name model_traced.pad_model_traced
"""

import pathlib
import sys

from ttnn import sweeps_cli

if __name__ == "__main__":
    sys.exit(sweeps_cli.generate(pathlib.Path(__file__).resolve().parents[2]))
