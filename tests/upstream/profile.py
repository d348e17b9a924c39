"""profile.py TTNN TRACE...: upstream's post-processing derives a CSV from the logs that TTNN writes of each trace; it has the cells that ours has."""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Why a cell may be another one (docs/formats/perf_csv.md): column → what upstream has there.
LISTED = {"OP TO OP LATENCY BR/NRISC START [ns]": lambda ours, theirs: (ours, theirs) == ("", "0")}
# From the device log alone: times of cores are the kernel's, and nothing says what chip it is.
LEGACY = dict(
    {f"DEVICE KERNEL DURATION PER CORE {word} [ns]": lambda ours, theirs: theirs != "" for word in ("MIN", "MAX", "AVG")},
    **{"DEVICE ARCH": lambda ours, theirs: theirs == "", "AVAILABLE WORKER CORE COUNT": lambda ours, theirs: theirs == "",
       "DEVICE KERNEL FIRST TO LAST START [ns]": lambda ours, theirs: (ours, theirs) == ("0", "1")})


def derive(folder, legacy):
    """The CSV that upstream makes of a folder with .logs."""
    command = "import sys; from pathlib import Path; from tracy.process_ops_logs import process_ops; " \
              f"process_ops(Path(sys.argv[1]), None, False, force_legacy_device_logs={legacy})"
    environment = dict(os.environ, TT_METAL_HOME=str(folder))
    done = subprocess.run([sys.executable, "-c", command, folder], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"upstream's post-processing failed:\n{done.stderr[-3000:]}")
    with open(folder / "reports/ops_perf_results.csv", newline="") as file:
        return list(csv.DictReader(file))


def compare(ours, theirs, listed):
    """How many cells were compared, and what is wrong with the others."""
    wrong, count = [], 0
    if list(ours[0]) != list(theirs[0]):
        wrong.append(f"columns: {[c for c in ours[0] if c not in theirs[0]]} and {[c for c in theirs[0] if c not in ours[0]]}")
    if len(ours) != len(theirs):
        wrong.append(f"{len(ours)} rows, not {len(theirs)}")
    for number, (our, their) in enumerate(zip(ours, theirs)):
        for column, cell in our.items():
            count += 1
            other = their.get(column, "")
            # Upstream takes what is behind the last colon of a signpost.
            if column == "OP CODE" and our["OP TYPE"] == "signpost" and other == cell.split(": ")[-1]:
                continue
            if cell != other and not (column in listed and listed[column](cell, other)):
                wrong.append(f"row {number}, {column}: {cell!r}, not {other!r}")
    return count, wrong


def main():
    ttnn, traces = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for trace in traces:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([ttnn, "export", "performance", "--dialect", "tt-metal", "-o", folder / ".logs", trace], check=True)
            with open(folder / ".logs/ops_perf_results.csv", newline="") as file:
                ours = list(csv.DictReader(file))
            for legacy, listed in ((False, LISTED), (True, {**LISTED, **LEGACY, "OP TO OP LATENCY BR/NRISC START [ns]": lambda a, b: b == ""})):
                shutil.rmtree(folder / "reports", ignore_errors=True)
                count, wrong = compare(ours, derive(folder, legacy), listed)
                print(f"{pathlib.Path(trace).name}{', from the device log' if legacy else ''}: {len(ours)} rows, {count} cells, {len(wrong)} others")
                for line in wrong[:10]:
                    print("  " + line)
                passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
