"""Imports reports with both importers and compares the databases: rows, their order, their types. Layouts of buffers are
the released importer's only with --strict: else they are what ttnn-visualizer reads; so are operations where ttnn.from_torch
computes before anything else does."""

import collections
import gzip
import importlib.util
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parent.parent
sys.path.append(str(TESTS / "report"))
import make_reports
from reference import Reference
from loguru import logger

# The importer needs nothing of the library around it.
sys.path.append(importlib.util.find_spec("ttnn").submodule_search_locations[0])
import graph_report

logger.remove()


def tables(path):
    db = sqlite3.connect(path)
    found = {}
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"):
        found[name] = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
    return db, found


def compare(folder, scratch, ttnn, options):
    """The differences between both, as texts."""
    theirs, ours = Path(scratch, "theirs"), Path(scratch, "ours")
    for path in (theirs, ours):
        shutil.rmtree(path, ignore_errors=True)
    graph_report.import_report(folder, theirs)
    done = subprocess.run([ttnn, "import", *options, str(folder), str(ours)], capture_output=True, text=True)
    if done.returncode:
        return [done.stderr]
    (a, want), (b, got) = tables(theirs / "db.sqlite"), tables(ours / "db.sqlite")
    bad = []
    for table, columns in want.items():
        if table not in got:
            bad.append(f"{table}: missing")
            continue
        same = [c for c in columns if c != "buffer_layout" or "--strict" in options]
        select = f"SELECT {', '.join(f'{c}, typeof({c})' for c in same)} FROM {table}"
        left, right = ([r for r in db.execute(select) if table != "report_metadata" or not r[0].startswith("git_")] for db in (a, b))
        if left != right:
            more, less = collections.Counter(right) - collections.Counter(left), collections.Counter(left) - collections.Counter(right)
            bad.append(f"{table}: {len(right)} rows for {len(left)}; only ours {list(more)[:1]}, only theirs {list(less)[:1]}")
    files = lambda path: {p.name: p.read_bytes() for p in path.iterdir() if p.name != "db.sqlite"}
    if files(theirs) != files(ours):
        bad.append(f"files: {sorted(files(theirs))} and {sorted(files(ours))}")
    a.close(), b.close()
    return bad


def main():
    ttnn, failed, done = os.path.abspath(sys.argv[1]), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        reports = []
        for recorded in sorted((TESTS / "data/report/recorded").iterdir()):
            folder = Path(scratch, recorded.name)
            folder.mkdir()
            for name in ("report.json", "report.python_io.json"):
                (folder / name).write_bytes(gzip.open(recorded / (name + ".gz")).read())
            reports.append(folder)
        for full in (False, True):
            reports.append(Path(scratch, f"model{full}"))
            make_reports.Model(1000, full).write(reports[-1])
        for seed in range(300):
            reports.append(Path(scratch, f"odd{seed}"))
            make_reports.Odd(seed).write(str(reports[-1]))
        for folder in reports:
            alike = Reference(folder).tables["operations"] == Reference(folder, strict=True).tables["operations"]
            for options in ([], ["--tables"], ["--strict"]) if alike else (["--strict"],):
                bad = compare(folder, scratch, ttnn, options)
                done += 1
                failed += bool(bad)
                for text in bad[:3]:
                    print(f"{folder.name} {options}: {text[:600]}")
    print(f"{done - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
