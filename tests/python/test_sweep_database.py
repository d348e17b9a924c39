"""The database of a sweep that Python runs: a file of any place, or a server."""

import pathlib
import sqlite3
import subprocess

import pytest
from ttnn import sweeps, sweeps_cli

SERVER = pathlib.Path(__file__).resolve().parent.parent / "cluster" / "postgres"
MODULE = """
parameters = {"suite": {"kind": ["good", "bad", "dead", "last"]}}


def mesh_device_fixture():
    yield None, "none"


def run(kind, *, device):
    if kind == "dead":
        import os
        os._exit(7)
    return kind != "bad", kind
"""
ROWS = "select results.status, count(*) from results join runs on runs.id = run_id where runs.status = 'passed' group by results.status"
FOUND = [("fail_assert_exception", 1), ("fail_crash_hang", 1), ("pass", 2)]


@pytest.fixture
def asked(tmp_path):
    """The runner's arguments for a folder with one module."""
    folder = sweeps.Folder(tmp_path)
    folder.path("own.four").parent.mkdir(parents=True)
    folder.path("own.four").write_text(MODULE)
    assert sweeps_cli.generate(tmp_path, ["--module-name", "own.four"]) == 0
    return ["--module-name", "own.four", "--vector-source", "vectors_export", "--result-dest", "results_export"]


def test_a_file(asked, tmp_path):
    assert sweeps_cli.run(tmp_path, [*asked, "--database", str(tmp_path / "here.sqlite")]) == 0
    with sqlite3.connect(tmp_path / "here.sqlite") as database:
        assert sorted(database.execute(ROWS)) == FOUND


def test_a_password_is_refused(asked, tmp_path):
    with pytest.raises(Exception, match="PGPASSWORD") as told:
        sweeps_cli.run(tmp_path, [*asked, "--database", "postgresql://u:hush?@localhost/x"])
    assert "hush" not in str(told.value)


@pytest.mark.slow
def test_a_server(asked, tmp_path):
    """Children that die leave the connection of the runner alone."""
    place = pathlib.Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    try:
        place.chmod(0o755)
        if subprocess.run([SERVER, "start", place], check=False).returncode:
            pytest.skip("no PostgreSQL server can be started")
        url = subprocess.check_output([SERVER, "url", place], text=True).strip()
        assert sweeps_cli.run(tmp_path, [*asked, "--database", url]) == 0
        rows = subprocess.check_output([SERVER, "sql", place, ROWS], text=True)
        assert sorted(rows.split()) == [f"{status}|{count}" for status, count in FOUND]
    finally:
        subprocess.run([SERVER, "stop", place], check=False)
        subprocess.run(["rm", "-rf", place], check=True)
