"""Profiles of whole tests: run_device_profiler() runs one under `ttnn profile`, the rest reads the reports it leaves."""

import csv
import os
import shlex
import subprocess
import sys
import time

from ttnn import program
from tracy.common import PROFILER_ARTIFACTS_DIR, generate_reports_folder


def get_profiler_folder(output_logs_subdir):
    return PROFILER_ARTIFACTS_DIR / output_logs_subdir


def get_latest_ops_log_filename(output_logs_subdir=""):
    """The newest report below that folder."""
    reports = generate_reports_folder(get_profiler_folder(output_logs_subdir))
    dates = sorted(os.listdir(reports)) if reports.is_dir() else []
    if not dates:
        raise FileNotFoundError(f"no report in {reports}: run_device_profiler() makes one")
    return reports / dates[-1] / f"ops_perf_results_{dates[-1]}.csv"


def _between_signposts(rows):
    marks = {row["OP CODE"]: i for i, row in reversed(list(enumerate(rows))) if row["OP TYPE"] == "signpost"}
    if not {"start", "stop"} <= marks.keys():
        raise ValueError('the report has no signposts "start" and "stop"')
    return rows[marks["start"] + 1 : marks["stop"]]


def post_process_ops_log(output_logs_subdir, columns=None, sum_vals=True, op_name="", has_signposts=False):
    """Columns of the newest report, summed up or as arrays; without columns all of it as a table of pandas."""
    name = get_latest_ops_log_filename(output_logs_subdir)
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    rows = _between_signposts(rows) if has_signposts else rows
    rows = [row for row in rows if row["OP CODE"] == op_name] if op_name else rows
    if not columns:
        import pandas

        return pandas.DataFrame(rows)
    if not isinstance(columns, list):
        raise TypeError(f"columns are a list, not {type(columns).__name__}")
    numbers = {column: [float(row[column]) for row in rows if row[column] not in ("-", "")] for column in columns}
    if sum_vals:
        return {column: sum(found) for column, found in numbers.items()}
    import numpy

    return {column: numpy.array(found, dtype=float) for column, found in numbers.items()}


def run_device_profiler(command, output_logs_subdir, check_test_return_code=True, *unused, is_command_binary_exe=False, **ignored):
    """Profiles a module of Python with its arguments ("pytest test.py"), or a program; the report is the newest of that folder."""
    date = time.strftime("%Y_%m_%d_%H_%M_%S")
    folder = generate_reports_folder(get_profiler_folder(output_logs_subdir)) / date
    folder.mkdir(parents=True, exist_ok=True)
    if not is_command_binary_exe:
        command = f"{shlex.quote(sys.executable)} -m {command}"
    report = folder.resolve() / f"ops_perf_results_{date}.csv"
    run = subprocess.run([program.path(), "profile", "-q", "--dialect", "tt-metal", "-o", str(report), "--", command])
    if check_test_return_code and run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)


def get_samples_per_s(time_ns, num_samples):
    return num_samples / (time_ns * 1e-9)
