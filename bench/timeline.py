#!/usr/bin/env python3
"""Timelines of long recordings: seconds, those of the processor, peak memory and size of each format.

    bench/timeline.py [--traces FOLDER] [OPERATIONS...]     (make python first)

Each recording is a loop of ttnn.add with that many operations (default: 10000 1000000), as `ttnn profile` records it:
when programs ran on the chip and the lines of callers, too. --traces keeps the recordings in a folder, for the next
time. Files are written to a temporary folder (TMPDIR).
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TTNN = os.path.join(HERE, "build", "ttnn")
FORMATS = ["tracy", "perfetto", "chrome"]

PROGRAM = """
import sys, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full((32, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for i in range(int(sys.argv[1])):
    c = ttnn.add(a, a)
"""


def record(folder, operations):
    made = glob.glob(os.path.join(folder, "*.ttrace"))
    if not made:
        env = {**os.environ, "PYTHONPATH": os.path.join(HERE, "build", "python"), "TTNN_TRACE": folder, "TTNN_TRACE_OPTIONS": "profile"}
        subprocess.run([sys.executable, "-c", PROGRAM, str(operations)], env=env, check=True)
        made = glob.glob(os.path.join(folder, "*.ttrace"))
    return made[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", type=int, default=[10000, 1000000])
    parser.add_argument("--traces", help="a folder that recordings are kept in")
    asked = parser.parse_args()
    print(f"{'operations':>10}  {'format':10} {'seconds':>8} {'processor':>10} {'peak MB':>8} {'file MB':>8}")
    with tempfile.TemporaryDirectory() as work:
        for operations in asked.operations:
            trace = record(os.path.join(asked.traces or work, str(operations)), operations)
            print(f"{operations:10}  {'.ttrace':10} {'':8} {'':10} {'':8} {os.path.getsize(trace) / 1e6:8.1f}")
            for form in FORMATS:
                out = os.path.join(work, "out")
                line = ["/usr/bin/time", "-f", "%e %U %S %M", TTNN, "export", form, "-o", out, trace]
                done = subprocess.run(line, stderr=subprocess.PIPE, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                wall, user, system, peak = map(float, done.stderr.split()[-4:])
                size = os.path.getsize(out) / 1e6
                print(f"{operations:10}  {form:10} {wall:8.2f} {user + system:10.2f} {peak / 1024:8.1f} {size:8.1f}")
                os.remove(out)


main()
