#!/usr/bin/env python3
"""What became of the last sweep: how many vectors passed, how close they were, what failed.

    python analyze_sweep_results.py
    python analyze_sweep_results.py --result-file tests/sweep_framework/results_export/model_traced_....json
"""

import argparse
import pathlib
import sys

from ttnn import _ttnn

BASE = pathlib.Path(__file__).resolve().parent
PLACES = (BASE / "tests" / "sweep_framework" / "results_export", BASE / "results_export")  # of modules, of `ttnn sweep run`


def newest():
    """The folder with the last run."""
    runs = [run for place in PLACES for run in place.glob("oprun_*.json")]
    return max(runs, key=lambda run: run.stat().st_mtime_ns).parent if runs else PLACES[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results-dir", default=str(newest()), help="the folder whose newest run is told of")
    parser.add_argument("--result-file", help="the file of a suite or of a run instead")
    parser.add_argument("--metadata-file", help="the file of a run, oprun_*.json, whose date and machine are told")
    given = parser.parse_args()
    try:
        print(_ttnn.sweep.analysis(given.results_dir, given.result_file, given.metadata_file), end="")
    except RuntimeError as error:
        sys.exit(f"❌ {error}")


if __name__ == "__main__":
    main()
