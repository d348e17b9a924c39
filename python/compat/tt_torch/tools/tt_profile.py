#!/usr/bin/env python3
"""Profiles a command with all its processes.

    python tt_torch/tools/tt_profile.py [-h] [-o OUTPUT_PATH] [-p PORT] "test_command"

The report is results/perf/device_ops_perf_trace.csv unless another is named. `ttnn profile` does it.
"""

from ttnn.tt_profile import main, tt_profile  # noqa: F401

if __name__ == "__main__":
    main(prog="tt_profile.py")
