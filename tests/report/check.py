#!/usr/bin/env python3
"""Databases of `ttnn import` against what they must hold.

    check.py TTNN recorded        reports with the databases that ttnn 0.81.1 made of them, row for row;
                                  reports of whole models with hashes of their rows
    check.py TTNN reference       made reports against reference.py, in every form of the database
"""

import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
import make_reports
from reference import COLUMNS, Reference

DATA = Path(__file__).parent.parent / "data" / "report"
FORMS = {"default": [], "views": ["--views"], "tables": ["--tables"], "strict": ["--strict"], "3.3": ["--schema", "3.3"], "3.3 tables": ["--schema=3.3", "--tables"]}


def run(ttnn, *arguments, code=0):
    done = subprocess.run([ttnn, "import", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"ttnn import {arguments}: exit {done.returncode}: {done.stderr}")
    return done


def rows(path, table, columns, typed=True):
    db = sqlite3.connect(path)
    select = ", ".join(f"{c}, typeof({c})" if typed else c for c in columns)
    found = db.execute(f"SELECT {select} FROM {table}").fetchall()
    db.close()
    return found


class Check:
    def __init__(self, ttnn, scratch):
        self.ttnn, self.scratch, self.bad, self.good = ttnn, Path(scratch), 0, 0

    def say(self, what, got, want):
        if got == want:
            self.good += 1
            return
        self.bad += 1
        extra = [r for r in got if r not in want][:2] if isinstance(got, list) else got
        missing = [r for r in want if r not in got][:2] if isinstance(want, list) else want
        if self.bad < 10:
            print(f"{what}: {'order' if isinstance(got, list) and sorted(map(str, got)) == sorted(map(str, want)) else ''}"
                  f"\n  only ours {str(extra)[:500]}\n  missing {str(missing)[:500]}")

    def new(self, name):
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        return path

    # ---- recorded ---------------------------------------------------------------------------------

    def recorded(self):
        for folder in sorted((DATA / "recorded").iterdir()):
            self.one_recorded(folder)
        hashes = json.loads((DATA / "models.json").read_text())
        for name, tables in hashes.items():
            self.one_model(name, tables)

    def one_recorded(self, folder):
        known = sqlite3.connect(":memory:")
        known.executescript(gzip.open(folder / "db.sql.gz", "rt").read())
        for form in ("default", "views", "tables", "strict"):
            out = self.new("recorded")
            run(self.ttnn, *FORMS[form], folder / "report.json.gz", out)
            for (table,) in known.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = [r[1] for r in known.execute(f"PRAGMA table_info({table})") if form == "strict" or r[1] != "buffer_layout"]
                select = ", ".join(f"{c}, typeof({c})" for c in columns)
                self.say(f"{folder.name}, {form}: {table}", rows(out / "db.sqlite", table, columns),
                         known.execute(f"SELECT {select} FROM {table} ORDER BY rowid").fetchall())
        lifetime = folder / "lifetime.json"
        if lifetime.exists():
            self.say("lifetime", json.loads((out / "report.tensor_lifetime.json").read_text()), json.loads(lifetime.read_text()))

    def one_model(self, name, tables):
        dbs = {}
        for form in ("default", "strict"):
            out = self.new(f"model-{form}")
            run(self.ttnn, *FORMS[form], DATA / "models" / f"{name}.json.gz", out)
            dbs[form] = sqlite3.connect(out / "db.sqlite")
        for table, (count, want) in tables.items():
            columns = [r[1] for r in dbs["strict"].execute(f"PRAGMA table_info({table})")]
            found = dbs["strict"].execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            text = "\n".join(sorted(json.dumps(list(r), default=str) for r in found))
            self.say(f"{name}: {table}", (len(found), hashlib.sha256(text.encode()).hexdigest()), (count, want))
            select = f"SELECT {', '.join(c for c in columns if c != 'buffer_layout')} FROM {table}"
            self.say(f"{name}, default: {table}", *(sorted(dbs[form].execute(select).fetchall(), key=str) for form in FORMS if form in dbs))
        for db in dbs.values():
            db.close()

    # ---- reference --------------------------------------------------------------------------------

    def reference(self):
        made = self.new("made")
        for i in range(150):
            make_reports.Odd(i).write(str(made / f"{i:05d}"))
            self.one_reference(made / f"{i:05d}", list(FORMS) if i < 60 else ["default"])
        for full in (False, True):
            make_reports.Model(300, full, weights=6).write(made / f"model{full}")
            self.one_reference(made / f"model{full}", list(FORMS))

    def one_reference(self, folder, forms):
        for form in forms:
            out = self.new("out")
            schema = "3.3" if "3.3" in form else "3.5"
            run(self.ttnn, *FORMS[form], folder, out)
            want = Reference(folder, schema, form == "strict")
            for table, known in want.tables.items():
                columns = COLUMNS[table].split()
                if schema == "3.3" and table == "tensors":
                    columns.remove("storage_type")
                got = rows(out / "db.sqlite", table, columns, typed=False)
                self.say(f"{folder}, {form}: {table}", got, known)
            got = dict(rows(out / "db.sqlite", "report_metadata", ["key", "value"], typed=False))
            self.say(f"{folder}, {form}: metadata", {k: v for k, v in got.items() if not k.startswith("git_")}, want.metadata)
            self.say(f"{folder}, {form}: sources", dict(rows(out / "db.sqlite", "source_files", ["path", "id"], typed=False)), want.sources)
            for name, records in want.lifetimes.items():
                self.say(f"{folder}, {form}: {name}", (out / name).read_text(), json.dumps(records, indent=2))
            if len(Reference.files(folder)) == 1:
                self.sizes(out / "db.sqlite", form)

    def sizes(self, path, form):
        """The column `size` of tensors is what the visualizer's own join finds (within one report)."""
        if "tables" in form or form == "strict":
            return
        db = sqlite3.connect(path)
        join = """SELECT t.tensor_id, t.rank, t.size, b.max_size_per_bank FROM tensors t
            LEFT JOIN input_tensors it ON it.tensor_id = t.tensor_id AND it.rank = t.rank
            LEFT JOIN output_tensors ot ON ot.tensor_id = t.tensor_id AND ot.rank = t.rank
            LEFT JOIN buffers b ON b.operation_id = COALESCE(it.operation_id, ot.operation_id)
            AND t.address = b.address AND t.device_id = b.device_id AND b.rank = t.rank GROUP BY t.tensor_id, t.rank"""
        found = db.execute(join).fetchall()
        self.say(f"{path}: sizes", [r[:3] for r in found], [(*r[:2], r[3]) for r in found])
        db.close()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(os.path.abspath(sys.argv[1]), scratch)
        getattr(check, sys.argv[2])()
        print(f"{check.good} equal, {check.bad} different")
        sys.exit(check.bad > 0 or check.good == 0)


if __name__ == "__main__":
    main()
