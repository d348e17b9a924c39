#!/usr/bin/env python3
"""Runs the vectors of sweep modules; results go to tests/sweep_framework/results_export (README.md of this folder).

    python3 tests/sweep_framework/sweeps_runner.py --module-name model_traced.pad_model_traced --suite-name model_traced \\
        --vector-source vectors_export --result-dest results_export
"""

import pathlib
import sys

from ttnn import sweeps_cli

if __name__ == "__main__":
    sys.exit(sweeps_cli.run(pathlib.Path(__file__).resolve().parents[2]))
