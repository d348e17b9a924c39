"""Fixtures for tests in upstream's style (device, mesh_device, device_params, expect_error), the
options that trace the operations of tests (docs/params.md), and sweep modules as tests (docs/sweep-modules.md)."""

import collections
import contextlib
import os
import re
import signal
import sys
import tempfile

import pytest

from ttnn.sweeps_pytest import pytest_pycollect_makemodule, pytest_sessionfinish  # sweep modules as tests

_SESSION = pytest.StashKey()
_HEAD = 4096  # bytes of its file that are the count's


def pytest_addoption(parser):
    group = parser.getgroup("ttnn", "operation parameters")
    group.addoption("--trace-params", action="store_true", help="write one JSON file for every ttnn operation")
    group.addoption(
        "--trace-params-with-values", action="store_true", help="with the elements of tensors; goes with --trace-params"
    )
    group.addoption(
        "--trace-params-keep", action="store_true", help="keep the files after the tests; goes with --trace-params"
    )


def pytest_configure(config):
    wanted = config.getoption("--trace-params", False)
    for option in ("--trace-params-with-values", "--trace-params-keep"):
        if config.getoption(option) and not wanted:
            raise pytest.UsageError(f"{option} must be used together with --trace-params")
    if not wanted:
        return
    import ttnn
    from ttnn import operation_tracer

    config.stash[_SESSION] = _Session(getattr(config, "workerinput", {}).get("ttnn_params"))
    operation_tracer._SERIALIZE_TENSOR_VALUES = config.getoption("--trace-params-with-values")
    operation_tracer._TRACE_PARAMS_IN_ARGV = True
    operation_tracer._ENABLE_TRACE = True


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """A worker of pytest-xdist belongs to the session."""
    if _SESSION in node.config.stash:
        node.workerinput["ttnn_params"] = node.config.stash[_SESSION].path


class _Session:
    """What all processes of a run make: they share the count of numbers and note their files in one file."""

    def __init__(self, path=None):
        self.process, self.owner = os.getpid(), path is None
        if path is None:
            descriptor, path = tempfile.mkstemp(prefix="ttnn-params-")
            os.truncate(descriptor, _HEAD)
            os.close(descriptor)
        self.path = path
        _params().session(path)
        with contextlib.suppress(ValueError):  # not the main thread
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, self.end)

    def end(self, number, frame):
        """SIGTERM ends the tests as Ctrl-C does, so that files go or stay as always; a child of theirs just ends."""
        if self.process != os.getpid():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise KeyboardInterrupt("SIGTERM")

    def made(self, kind):
        """The paths of files (F), or of folders (D), that were made."""
        with open(self.path, "rb") as file:
            file.seek(_HEAD)
            return [os.fsdecode(line[1:]) for line in file.read().split(b"\0") if line.startswith(kind)]

    def said(self, kept, here):
        """The closing line."""
        count = collections.Counter(os.path.dirname(path) for path in self.made(b"F"))
        if not count:
            return "no operation was called, so there is no parameter file"
        folders = [os.path.relpath(path, here) if _below(path, here) else path for path in count]
        if len(folders) > 3:
            folders = [f"{len(folders)} folders below {os.path.commonpath(list(count))}"]
        end = "they are kept" if kept else "they are removed now: --trace-params-keep keeps them"
        files = sum(count.values())
        return f"{files} parameter file{'s' * (files > 1)} in {', '.join(folders)}; {end}"

    def close(self, kept):
        """Removes the files, whichever process made them, and the folders that were made for them and are empty."""
        _params().flush()
        _params().session(None)
        with contextlib.suppress(ValueError):
            if signal.getsignal(signal.SIGTERM) == self.end:  # for whoever called pytest.main()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if not self.owner or self.process != os.getpid():
            return
        for path in () if kept else set(self.made(b"F")):
            with contextlib.suppress(OSError):
                os.unlink(path)
        for path in sorted(set(self.made(b"D")), key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        os.unlink(self.path)


def _params():
    import ttnn

    return ttnn._ttnn.params


def _below(path, folder):
    return os.path.commonpath([path, folder]) == folder


def pytest_terminal_summary(terminalreporter, config):
    """How many files were written, where, and how to keep them."""
    if _SESSION in config.stash:
        _params().flush()
        kept, here = config.getoption("--trace-params-keep"), os.path.realpath(config.invocation_params.dir)
        terminalreporter.write_line("ttnn: " + config.stash[_SESSION].said(kept, here))


def pytest_unconfigure(config):
    """The files go when the tests are done."""
    session = config.stash.get(_SESSION, None)
    if session:
        import ttnn

        ttnn.operation_tracer._ENABLE_TRACE = False
        session.close(config.getoption("--trace-params-keep"))
        del config.stash[_SESSION]


# ---- tests in recordings (docs/ttnn-configs.md)

_OUTCOME = pytest.StashKey()


def _mark(text, detail):
    """A word in the recordings, if there can be any."""
    mark = getattr(sys.modules.get("ttnn"), "mark", None)
    if mark:
        mark(text, detail.encode("utf-8", "backslashreplace").decode())  # names of files may be any bytes


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Where a test begins and ends, and how: recordings of many tests are divided by it, and parameter files name it."""
    _mark("ttnn.test.begin", item.nodeid)
    _name_test(item.nodeid)
    yield
    _name_test(None)
    _mark("ttnn.test.end", f"{item.stash.get(_OUTCOME, 'skipped')} {item.nodeid}")


def _name_test(nodeid):
    params = getattr(getattr(sys.modules.get("ttnn"), "_ttnn", None), "params", None)
    if params:
        params.set_test(nodeid and nodeid.encode("utf-8", "backslashreplace").decode())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" or report.failed or (report.when == "setup" and report.skipped):
        item.stash[_OUTCOME] = report.outcome


@pytest.fixture(scope="function")
def device_params(request):
    """Options of the device: parametrize it indirectly with a dict of open_device's."""
    return getattr(request, "param", {})


def _known(params):
    """Without what only real machines have."""
    known = ("l1_small_size", "trace_region_size", "num_command_queues", "dispatch_core_config", "worker_l1_size")
    return {name: value for name, value in params.items() if name in known}


@pytest.fixture(scope="function")
def device(request, device_params):
    """One chip, open for the length of a test."""
    import ttnn

    found = ttnn.open_device(device_id=getattr(request, "param", 0), **_known(device_params))
    before = ttnn.GetDefaultDevice()
    ttnn.SetDefaultDevice(found)
    yield found
    ttnn.SetDefaultDevice(before)
    ttnn.close_device(found)


@pytest.fixture(scope="function")
def mesh_device(request, device_params):
    """A mesh: parametrize indirectly with its shape or number of chips; too large a mesh skips."""
    import ttnn

    wanted = getattr(request, "param", None)
    chips = ttnn.GetNumAvailableDevices()
    shape = None if wanted is None else ttnn.MeshShape(1, wanted) if isinstance(wanted, int) else ttnn.MeshShape(*wanted)
    if shape is not None and shape.mesh_size() > chips:
        pytest.skip(f"a mesh of {shape.mesh_size()} devices is asked for, the machine has {chips}")
    found = ttnn.open_mesh_device(shape, **_known(device_params))
    yield found
    for submesh in found.get_submeshes():
        ttnn.close_mesh_device(submesh)
    ttnn.close_mesh_device(found)


@pytest.fixture(autouse=True)
def _graph_report(request):
    """A report of every test where CONFIG.enable_graph_report is set."""
    from ttnn.report_fixture import run_pytest_graph_report_fixture

    yield from run_pytest_graph_report_fixture(request)


@pytest.fixture(scope="function")
def reset_seeds():
    import random

    random.seed(213919)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(213919)
    with contextlib.suppress(ImportError):
        import torch

        torch.manual_seed(213919)


@pytest.fixture(scope="function")
def expect_error():
    """with expect_error(RuntimeError, "text"): the message must hold the text."""

    @contextlib.contextmanager
    def expect(error, text):
        with pytest.raises(error, match=re.escape(text)) as caught:
            yield caught

    return expect


@pytest.fixture(scope="session")
def silicon_arch_name():
    import ttnn

    return ttnn.get_arch_name()
