"""The package imported again, reloaded, and into other interpreters: it works, or is refused in words."""

import subprocess
import sys
import textwrap

import pytest


def run(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)


USE = """
def use(ttnn):
    device = ttnn.open_device(device_id=0)
    a = ttnn.full((32, 32), 1.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.add(a, a).to_list()[0][0] == 3.0 and isinstance(a, ttnn.Tensor)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(a)
    assert len(ttnn.graph.end_graph_capture()) > 4
    ttnn.close_device(device)
"""


def test_again():
    done = run(USE + """
import sys
import ttnn, ttnn._ttnn.operations
first = ttnn
for _ in range(3):
    use(ttnn)
    for name in list(sys.modules):
        if name.startswith('ttnn'):
            del sys.modules[name]
    import ttnn, ttnn._ttnn.operations, ttnn._ttnn.graph, ttnn.graph_report
    assert ttnn is not first and ttnn.Tensor is first.Tensor
use(ttnn)
use(first)
print('done')
""")
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_the_extension_alone():
    done = run(USE + """
import sys
import ttnn
for name in list(sys.modules):
    if name.startswith('ttnn._ttnn'):
        del sys.modules[name]
use(ttnn)
import ttnn._ttnn
use(ttnn)
print('done')
""")
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_reload():
    done = run(USE + """
import importlib, sys
import ttnn
use(ttnn)
for module in (ttnn, ttnn.graph, ttnn.operations.core, ttnn.config, ttnn._ttnn, ttnn):
    importlib.reload(module)
    use(ttnn)
print('done')
""")
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


@pytest.mark.parametrize("first", ["", "import ttnn\n"])
def test_another_interpreter(first):
    """Refused, whether or not the main one has it; that one is none the worse."""
    done = run(USE + first + """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
for _ in range(2):
    other = interpreters.create()
    try:
        failed = interpreters.run_string(other, 'import ttnn')
        text = str(failed) if failed else 'it was imported'
    except Exception as error:
        text = str(error)
    assert 'sub-interpreter' in text or 'subinterpreter' in text, text
    interpreters.destroy(other)
import ttnn
use(ttnn)
print('done')
""")
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_empty_paths(tmp_path, monkeypatch):
    """Refused in words, by whatever takes a path; nothing is made."""
    import ttnn

    monkeypatch.chdir(tmp_path)
    a = ttnn.full((2, 2), 1.5, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    (tmp_path / "report.json").write_text('{"version": 1, "metadata": {"rank": 0}, "graph": [], "devices": []}')
    calls = {
        "dump_tensor": lambda: ttnn.dump_tensor("", a),
        "load_tensor": lambda: ttnn.load_tensor(""),
        "load": lambda: ttnn.graph.load(""),
        "import from nowhere": lambda: ttnn.graph.import_report("", "out"),
        "import to nowhere": lambda: ttnn.graph.import_report("report.json", ""),
        "save_config": lambda: ttnn.save_config_to_json_file(""),
        "load_config": lambda: ttnn.load_config_from_json_file(""),
        "dump_operations": lambda: ttnn.dump_operations(""),
    }
    for name, call in calls.items():
        with pytest.raises((RuntimeError, ValueError, OSError), match="empty|directory|No such file"):
            call()
            print(name)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    with pytest.raises((RuntimeError, ValueError), match="empty"):
        ttnn.graph.end_graph_capture_to_file("")
    assert ttnn.graph.is_graph_capture_active()
    ttnn.graph.end_graph_capture_to_file("capture.json")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "capture.python_io.json") == ["capture.json", "report.json"]
