"""Runs files for tests/tt-metal/run, each in a process of its own, and is the plugin of pytest in them.

As a program it imports what takes long (torch) once; every line on its input is a file to run, as JSON, for which it
forks; it answers each with a line: what the process said last.

One case of each function is run, the first or a random one, less those that the runner knows already. What
happens is written line by line, so that it is known even if the process ends in the middle of a case.

A file that is no test (test_*.py) is a program, or a notebook, and one case: it passes when it ends well.
"""

import contextlib
import faulthandler
import functools
import json
import os
import pathlib
import random
import runpy
import signal
import sys
import time

import pytest
import weights

_wishes = {}  # path, folder, seed or None, seconds of a case, known: functions that were run, dry: without numbers


def _say(**line):
    with open(f"{_wishes['folder']}/lines", "a") as out:
        out.write(json.dumps(line) + "\n")


def function_of(nodeid):
    """A case's name without its parameters: file::Class::function."""
    path, _, rest = nodeid.partition("::")
    return f"{path}::{rest.split('[')[0]}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    groups = {}
    for item in items:
        groups.setdefault(function_of(item.nodeid), []).append(item)
    seed = _wishes["seed"]
    chosen = []
    for name, cases in groups.items():
        if name not in _wishes["known"]:
            chosen.append(cases[0] if seed is None else random.Random(f"{seed} {name}").choice(cases))
    items[:] = chosen
    _say(collected=list(groups))


def pytest_collectreport(report):
    if report.failed:
        _say(broken=str(report.nodeid), why=_last_line(report.longrepr))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid, location):
    _say(begin=function_of(nodeid), case=nodeid)
    faulthandler.dump_traceback_later(_wishes["seconds"], exit=True)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        why = "" if report.outcome == "passed" else _last_line(report.longrepr)
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.outcome == "skipped" else report.outcome
        _say(end=function_of(report.nodeid), case=report.nodeid, outcome=outcome, why=why, seconds=report.duration)


@contextlib.contextmanager
def _captured():
    """Dry, a case is one capture in which nothing is computed."""
    if not _wishes["dry"]:
        yield
        return
    import ttnn

    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        yield
    finally:
        ttnn.graph.end_graph_capture()


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    with _captured():
        yield


def _watch_comparisons():
    """Says each PCC that a case computes; dry runs have no numbers to compare."""
    try:
        from models.common import utility_functions
    except ImportError:
        return
    compare = utility_functions.comp_pcc

    def comp_pcc(*args, **kwargs):
        passed, value = (True, 1.0) if _wishes["dry"] else compare(*args, **kwargs)
        _say(pcc=None if _wishes["dry"] else value)
        return passed, value

    utility_functions.comp_pcc = comp_pcc


def pytest_runtest_logfinish(nodeid, location):
    faulthandler.cancel_dump_traceback_later()


def _last_line(reason):
    """What was raised, in one line, with the line of the test that led to it."""
    if isinstance(reason, tuple):
        return str(reason[2])[:400]
    crash = getattr(reason, "reprcrash", None)
    text = crash.message if crash is not None else str(reason).strip().splitlines()[-1] if str(reason).strip() else ""
    return " ".join(text.split())[:400]


def _run_notebook(path):
    """The cells of a notebook, one after the other, as a kernel runs them: of itself, each with what those before it left."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(user_ns={"__name__": "__main__"})
    for cell in json.loads(pathlib.Path(path).read_text())["cells"]:
        if cell["cell_type"] == "code":
            shell.run_cell("".join(cell["source"]), store_history=True).raise_error()


def _run_program(path):
    """Runs a program or a notebook in a folder of its own, as the one case that its file has."""
    name = str(pathlib.Path(path).relative_to(os.getcwd())) + "::main"
    os.makedirs(f"{_wishes['folder']}/tmp")
    sys.path.insert(0, os.path.dirname(path))
    os.chdir(f"{_wishes['folder']}/tmp")
    sys.argv = [path]
    _say(collected=[name])
    _say(begin=name, case=name)
    faulthandler.dump_traceback_later(5 * _wishes["seconds"], exit=True)  # a program is many cases
    outcome, why, begin = "passed", "", time.monotonic()
    try:
        with _captured():
            (_run_notebook if path.endswith(".ipynb") else functools.partial(runpy.run_path, run_name="__main__"))(path)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) or error.code:
            outcome, why = "failed", " ".join(f"{type(error).__name__}: {error}".split())[:400]
    _say(end=name, case=name, outcome=outcome, why=why, seconds=time.monotonic() - begin)


def _child(wishes):
    """Runs a file; never returns."""
    _wishes.update(wishes)
    said = os.open(f"{wishes['folder']}/said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.setsid()
    weights.install()
    _watch_comparisons()
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    try:
        if not pathlib.PurePath(wishes["path"]).name.startswith("test_"):
            _run_program(wishes["path"])
            return
        pytest.main([*options, "--basetemp", f"{wishes['folder']}/tmp", wishes["path"]], plugins=[sys.modules[__name__]])
    finally:
        sys.stdout.flush()
        os._exit(0)


def _wait(pid, seconds):
    """How the child ended: a text, empty if it ended well. What takes too long is ended with all it started."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return signal.Signals(-code).name if code < 0 else "" if code == 0 else "The case took too long."
        time.sleep(0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "The file took too long."


def main():
    for name in ("torch", "loguru", "transformers", "ttnn.graph_report"):
        try:
            __import__(name)
        except ImportError:
            pass  # the files that need it will say so
    # Upstream's test of the importer takes it by its file's name out of the package's folder, which here is ours.
    sys.modules["graph_report"] = sys.modules.get("ttnn.graph_report")
    for line in sys.stdin:
        wishes = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(wishes)
        print(json.dumps(_wait(pid, 20 * wishes["seconds"])), flush=True)


if __name__ == "__main__":
    main()
