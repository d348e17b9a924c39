"""What tools ask of ttnn.graph_report besides importing a report."""

import sqlite3

import pytest
import ttnn
from ttnn import graph_report


@pytest.mark.parametrize(
    "given, clean",
    [
        ("https://me:secret@host/a.git?x=1#y", "https://host/a.git"),
        (" http://[::1]:80/a ", "http://[::1]:80/a"),
        ("me@host:a/b.git", "host:a/b.git"),
        ("ssh://git@Host:org/b.git", "ssh://Host:org/b.git"),
        ("https://HOST:8/a", "https://host:8/a"),
        ("file:///a/b", "file:///a/b"),
        ("/a/b", "/a/b"),
        ("/a/b@c#d", "/a/b@c#d"),
        ("../b@c", "../b@c"),
        ("user:tok@github.com/a/b.git", "github.com/a/b.git"),
        ("tok@github.com/a/b.git?x=1", "github.com/a/b.git"),
        ("user:t@k@host:a/b.git", "host:a/b.git"),
        ("//u:t@h/x", "//h/x"),
        ("git+https://u:t@h/x", "git+https://h/x"),
        ("ext::https://u:t@h/x", "ext::https://h/x"),
        ("ftp://u:p@h/x?t=1", "ftp://h/x"),
        ("file://u:p@h/x", "file://h/x"),
        ("https://u:t@k@h/x@v1", "https://h/x@v1"),
        ("https://u:t/k@h/x", "https://h/x"),
        ("https://u:t#k@h/x", "https://h/x"),
        ("https://h/https://u:t@g/x", "https://h/https://g/x"),
        ("https://[::1", "https://[::1"),
        ("https://u:t@[::1", "https://[::1"),
        ("https://h:/a;b", "https://h/a"),
        ("", ""),
        (None, ""),
    ],
)
def test_addresses_lose_their_secrets(given, clean):
    assert graph_report.sanitize_git_remote_url(given) == clean


def test_pages_become_chunks():
    pages = [(0, 64, 1, 2, 7, i, start, 32, 1) for i, start in enumerate((96, 0, 32))] + [(0, 64, 0, 0, 3, 0, 0, 16, 1)]
    assert graph_report._aggregate_pages_to_chunks(5, pages, 1) == [
        (5, 0, 64, 7, 2, 1, 0, 128, 32, 3, 1, 1),
        (5, 0, 64, 3, 0, 0, 0, 16, 16, 1, 1, 1),
    ]


def captured(device):
    a = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    b = ttnn.relu(a)
    ttnn.deallocate(b)
    return ttnn.graph.end_graph_capture()


def test_graphs_go_into_an_open_database(device, tmp_path):
    connection = sqlite3.connect(tmp_path / "a.sqlite")
    cursor = connection.cursor()
    graph_report.create_database_schema(cursor)
    assert cursor.execute("SELECT count(*) FROM operations").fetchone() == (0,)
    counts = graph_report.import_graph(cursor, captured(device))
    assert counts["warnings"] == []
    assert cursor.execute("SELECT count(*) FROM operations").fetchone() == (counts["operations"],)
    assert counts["operations"] > 0 and counts["tensors"] > 1
    connection.close()


@pytest.mark.parametrize("mode", ["", None])
def test_a_second_graph_leaves_the_first_alone(device, tmp_path, mode):
    connection = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=mode)
    cursor = connection.cursor()
    graph_report.create_database_schema(cursor)
    graph = captured(device)
    graph_report.import_graph(cursor, graph)
    assert connection.in_transaction == (mode is not None)  # to be committed, or given up, by whom it belongs to
    connection.commit()
    before = list(connection.iterdump())
    with pytest.raises(RuntimeError, match="in the database already"):
        graph_report.import_graph(cursor, graph)
    assert list(connection.iterdump()) == before and not connection.in_transaction
    connection.close()


def test_lifetimes():
    stack = 'File "a.py", line 3, in f\n  File "b.py", line 9, in g\n'
    records = graph_report.compute_tensor_lifetime_records(
        [(1, "ttnn.relu"), (2, "ttnn.exp"), (3, "ttnn.deallocate")], [(1, 0, 7), (2, 0, 8), (3, 0, 8)], [(1, 0, 8)], [(1, stack)], {8, 7}
    )
    assert [list(record.values()) for record in records] == [
        [7, None, 1, None, None, None, "a.py", 3],
        [8, 1, 2, 3, "a.py", 3, None, None],
    ]


def test_what_refers_to_nothing_is_named():
    warnings = graph_report._validate_graph_integrity(
        [(1, "a")], [(7,)], [(1, 0, 8, 0)], [(2, 0, 7, 0)], [(3, "x", "y", 0)], [(9, 0, 0, 0)], [(1, 5)], [{"device_id": 0}]
    )
    assert warnings == [
        "input_tensors: tensor_id=8 (operation_id=1, index 0) is not in tensors",
        "output_tensors: operation_id=2 is not in operations",
        "operation_arguments: operation_id=3 is not in operations",
        "device_tensors: tensor_id=9 is not in tensors",
        "buffers: device_id=5 is not in devices",
    ]


def test_where_the_source_comes_from():
    assert set(graph_report.get_tt_metal_git_report_metadata()) == {"git_sha", "git_url"}
