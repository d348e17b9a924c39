"""Rows of report databases, in Python: what tools ask of ttnn.graph_report besides importing a report.

Databases themselves are made by the library; import_graph() has it make one and moves its rows.
"""

import contextlib
import json
import pathlib
import re
import sqlite3
import tempfile

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*:")
_HOST = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(:\d*)?")
_NESTED = re.compile(r"(?<=//)[^/]*@")  # the user of an address within an address
_FREES = ("ttnn.deallocate", "ttnn::deallocate", "Tensor::deallocate")
_COUNTED = ("operations", "tensors", "buffers", "input_tensors", "output_tensors", "captured_graph")


def _place(rest):
    """What follows ://, without what it may keep secret."""
    authority = re.match("[^/?#]*", rest)[0]
    host, rest = authority.rpartition("@")[2], rest[len(authority) :]
    if _HOST.fullmatch(host):
        host = host.lower().removesuffix(":")
    elif "@" in rest:  # no host and port, but the beginning of a password
        host, rest = "", rest.rpartition("@")[2]
    path = re.sub(r";[^/]*$", "", re.split("[?#]", rest, maxsplit=1)[0])
    return host + _NESTED.sub("", path)


def sanitize_git_remote_url(url):
    """The address of a repository without user, password, query and fragment; of a doubtful one rather too little is left."""
    url = (url or "").strip()
    scheme, mark, rest = url.partition("//")
    if mark and (not scheme or _SCHEME.fullmatch(scheme)):
        return url if scheme.lower() == "file:" and rest.startswith("/") else scheme.lower() + mark + _place(rest)
    place = url.rpartition("@")[2]
    if url.startswith(("/", "./", "../", "~")) and not (url.count("@") == 1 and ":" in place):
        return url  # a folder
    return re.split("[?#]", place, maxsplit=1)[0]


def innermost_stack_frame(text):
    """(file, line) of the first frame of a stack, the innermost; (None, None) when there is none."""
    found = _FRAME.search(text or "")
    return (found[1], int(found[2])) if found else (None, None)


def aggregate_pages_to_chunks(op_id, pages, rank=0):
    """Pages of an operation's buffers, joined by buffer, bank and core: rows of the table buffer_chunks."""
    groups = {}
    for device, address, core_y, core_x, bank, _, start, size, kind in pages:
        groups.setdefault((device, address, bank, core_x, core_y, kind), []).append((start, size))
    rows = []
    for (*place, kind), spans in groups.items():
        first = min(start for start, _ in spans)
        length = max(start + size for start, size in spans) - first
        rows.append((op_id, *place, first, length, max(size for _, size in spans), len(spans), kind, rank))
    return rows


def compute_tensor_lifetime_records(operations, input_tensors, output_tensors, stack_traces, tensor_ids):
    """Who made each tensor, who used it last and who freed it, and where in the source; None for what is not known.

    Rows are those of the tables: (id, name, …) of operations, (operation, index, tensor, …) of tensors, (operation, text, …).
    """
    names, stacks = {row[0]: row[1] for row in operations}, {row[0]: row[1] for row in stack_traces}
    made, used, freed = {}, {}, {}
    for operation, _, tensor, *_ in output_tensors:
        made.setdefault(int(tensor), []).append(operation)
    for operation, _, tensor, *_ in input_tensors:
        (freed if names.get(operation) in _FREES else used).setdefault(int(tensor), []).append(operation)
    records = []
    for tensor in sorted(map(int, tensor_ids)):
        producer, last = min(made.get(tensor, ()), default=None), max(used.get(tensor, ()), default=None)
        places = innermost_stack_frame(stacks.get(producer)), innermost_stack_frame(stacks.get(last))
        records.append(
            {
                "tensor_id": tensor,
                "producer_operation_id": producer,
                "last_use_operation_id": last,
                "deallocate_operation_id": min(freed.get(tensor, ()), default=None),
                "producer_source_file": places[0][0],
                "producer_source_line": places[0][1],
                "last_use_source_file": places[1][0],
                "last_use_source_line": places[1][1],
            }
        )
    return records


def validate_graph_integrity(
    operations_batch,
    tensors_batch,
    input_tensors_batch,
    output_tensors_batch,
    operation_arguments_batch,
    device_tensors_batch,
    buffers_batch,
    devices,
):
    """Rows that speak of tensors, operations or devices which are in no row: a sentence for each."""
    operations, tensors = {row[0] for row in operations_batch}, {int(row[0]) for row in tensors_batch}
    warnings = []
    for table, rows in (("input_tensors", input_tensors_batch), ("output_tensors", output_tensors_batch)):
        for operation, index, tensor, *_ in rows:
            if int(tensor) not in tensors:
                warnings.append(f"{table}: tensor_id={tensor} (operation_id={operation}, index {index}) is not in tensors")
            if operation not in operations:
                warnings.append(f"{table}: operation_id={operation} is not in operations")
    unknown = sorted({row[0] for row in operation_arguments_batch} - operations)
    if unknown:
        warnings.append(f"operation_arguments: operation_id={unknown[0]} is not in operations")
    warnings += [f"device_tensors: tensor_id={row[0]} is not in tensors" for row in device_tensors_batch if int(row[0]) not in tensors]
    if devices:
        known = {device.get("device_id", 0) for device in devices}
        missing = sorted({row[1] for row in buffers_batch} - known)
        warnings += [f"buffers: device_id={device} is not in devices" for device in missing]
    return warnings


def _imported(folder, graph, devices=None, **more):
    """The database of a report of this graph, in a folder."""
    from ttnn import graph_report

    report = pathlib.Path(folder) / "report.json"
    report.write_text(json.dumps({"version": 1, "graph": graph, "devices": devices or [], "metadata": {"rank": 0}, **more}))
    return graph_report.import_report(report, pathlib.Path(folder) / "database")


def _empty():
    return [
        {"counter": 0, "node_type": "capture_start", "params": {}, "connections": [1]},
        {"counter": 1, "node_type": "capture_end", "params": {}, "connections": []},
    ]


def get_tt_metal_git_report_metadata():
    """git_sha and git_url as an import notes them; empty where there is no repository."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(_imported(folder, _empty()))
        try:
            rows = connection.execute("SELECT key, value FROM report_metadata WHERE key IN ('git_sha', 'git_url')")
            return {"git_url": "", "git_sha": "", **dict(rows.fetchall())}
        finally:
            connection.close()


def create_database_schema(cursor):
    """All tables of a report's database, empty."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(_imported(folder, _empty()))
        try:
            rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC")
            for (statement,) in rows.fetchall():
                cursor.execute(statement)
        finally:
            connection.close()


def _rows(connection, table):
    return connection.execute(f"SELECT * FROM {table}").fetchall()


@contextlib.contextmanager
def _all_or_none(cursor):
    """What is written to a database within: all of it, or nothing if it fails. Whether it is committed is the caller's."""
    connection = cursor.connection
    commits = connection.isolation_level is None or getattr(connection, "autocommit", None) is True
    begins = not commits and not connection.in_transaction
    if begins:
        cursor.execute("BEGIN")
    cursor.execute("SAVEPOINT import_graph")
    try:
        yield
    except BaseException:
        cursor.execute("ROLLBACK TO import_graph")
        cursor.execute("RELEASE import_graph")
        if begins:
            cursor.execute("ROLLBACK")
        raise
    cursor.execute("RELEASE import_graph")


def import_graph(cursor, graph, devices=None, per_operation_buffers=None, python_io=None):
    """Adds a graph to an open database that has none: how many rows tables got, and "warnings" about them."""
    more = {"per_operation_buffers": per_operation_buffers, "python_io": python_io}
    with tempfile.TemporaryDirectory() as folder:
        made = _imported(folder, graph, devices, **{name: value for name, value in more.items() if value is not None})
        connection = sqlite3.connect(made)
        try:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            rows = {table: _rows(connection, table) for table in tables if not table.startswith("sqlite_")}
        finally:
            connection.close()
    with _all_or_none(cursor):
        for table, found in rows.items():
            if found and table != "report_metadata":
                try:
                    cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)
                except sqlite3.IntegrityError as error:
                    raise RuntimeError(f"import_graph: rows of {table} are in the database already, of another graph: {error}") from error
    asked = "operations tensors input_tensors output_tensors operation_arguments device_tensors buffers".split()
    warnings = validate_graph_integrity(*(rows.get(table, []) for table in asked), devices)
    return {**{table: len(rows.get(table, [])) for table in _COUNTED}, "warnings": warnings}
