"""How close tensors came to those of golden functions: kept until a report is written, or a database."""

import json
import pathlib
import sqlite3
import tempfile

SUFFIX = ".comparison_records.json"
_NAME = "comparison_records.json"
_TABLES = ("local_tensor_comparison_records", "global_tensor_comparison_records", "tensors")
_EMPTY_REPORT = {"version": 1, "graph": [], "devices": [], "metadata": {"rank": 0, "world_size": 1}}
_records = {table: [] for table in _TABLES}
_known = set()  # the numbers of the tensors


def record_tensor_comparison_data(*, local_tensor_comparison_records=None, global_tensor_comparison_records=None, tensors=None):
    """Adds records and the tensors they speak of; a tensor that is known stays as it is."""
    _records[_TABLES[0]].extend(local_tensor_comparison_records or ())
    _records[_TABLES[1]].extend(global_tensor_comparison_records or ())
    for tensor in tensors or ():
        if tensor["tensor_id"] not in _known:
            _records["tensors"].append(tensor)
            _known.add(tensor["tensor_id"])


def has_comparison_records():
    return any(_records.values())


def reset_comparison_records_data():
    _known.clear()
    for records in _records.values():
        records.clear()


def write(path):
    """All records as a side file of a report, beside and then over an old one."""
    aside = path.with_name(path.name + ".new")
    aside.write_text(json.dumps({"version": 1, **_records}))
    aside.replace(path)


def flush_comparison_records_to_db(report_dir):
    """Moves all records into report_dir/db.sqlite, which is made if missing."""
    from ttnn import graph_report

    if not has_comparison_records():
        return
    folder = pathlib.Path(report_dir)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / _NAME)
    database = folder / "db.sqlite"
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        report = pathlib.Path(aside) / "report.json"
        report.write_text(json.dumps(_EMPTY_REPORT))
        write(report.with_suffix(SUFFIX))
        made = graph_report.import_report(report, aside)
        if database.exists():
            _merge(database, made)
        else:
            made.replace(database)
    reset_comparison_records_data()


def _merge_table(connection, table):
    """Adds the other's rows: a comparison takes the place of an older one, a tensor that is known stays as it is."""
    ours, theirs = ([row[1] for row in connection.execute(f"PRAGMA {where}.table_info({table})")] for where in ("main", "other"))
    columns = ", ".join(name for name in theirs if name in ours)  # databases of other versions and options have others
    instead = "IGNORE" if table == "tensors" else "REPLACE"
    connection.execute(f"INSERT OR {instead} INTO main.{table} ({columns}) SELECT {columns} FROM other.{table}")


def _merge(database, other):
    connection = sqlite3.connect(database)
    try:
        connection.execute("ATTACH ? AS other", (str(other),))
        with connection:
            for table in _TABLES:
                _merge_table(connection, table)
    finally:
        connection.close()
