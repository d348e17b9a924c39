"""Processes made while other threads are in the middle of operations: none hangs, and all can use ttnn.

TTNN_TEST_LONG=N makes N times as many of them.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import ttnn

LONG = max(int(os.environ.get("TTNN_TEST_LONG", "1") or 1), 1)
PATIENCE = 20  # seconds for a child
THREADS = 4

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def compute(device):
    """Some operations with known results; what an operation gives is looked at as a list."""
    ones = ttnn.full([32, 32], 1.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.add(ones, ones).cpu().to_list()[31][31] == 2.0
    assert ttnn.matmul(ones, ones).cpu().to_list()[0][31] == 32.0
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(ones)
    assert len(ttnn.graph.end_graph_capture()) > 3


def in_child(device=None):
    """What a child does: on the parent's device, and on one of its own. Exit code 0 if all is well."""
    signal.alarm(PATIENCE)
    if device is not None:
        compute(device)
        ttnn.close_device(device)  # waits for operations on it; those of the other threads are not here
    own = ttnn.open_device(device_id=0)
    compute(own)
    ttnn.close_device(own)


class Load:
    """Threads that do the same all the time; leaving waits for them, and fails if one of them did.

    With a pause between, processes that have to import everything get to it.
    """

    def __init__(self, pause=0):
        self.pause = pause
        self.device = ttnn.open_device(device_id=0)
        self.stopping, self.errors = False, []
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(THREADS)]

    def work(self, number):
        try:
            while not self.stopping:
                compute(self.device)
                time.sleep(self.pause)
                if number == 0:
                    ttnn.close_device(ttnn.open_device(device_id=0))
        except BaseException as error:
            self.errors.append(error)
            raise

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *unused):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        ttnn.close_device(self.device)
        assert not self.errors


def fork_once(device):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            in_child(device)
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def fork_often(count):
    with Load() as load:
        return [fork_once(load.device) for _ in range(count)]


def summary(states):
    """How many ended how: {"exit 0": 100}"""
    words = [
        f"signal {os.WTERMSIG(state)}" if os.WIFSIGNALED(state) else f"exit {os.WEXITSTATUS(state)}" for state in states
    ]
    return {word: words.count(word) for word in sorted(set(words))}


def test_fork():
    assert summary(fork_often(50 * LONG)) == {"exit 0": 50 * LONG}


def test_fork_while_traced(tmp_path):
    """The same with a trace of the process and parameter files, which begin with the process."""
    program = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import test_hostile_fork as test
        print(test.summary(test.fork_often({10 * LONG})))
        """
    )
    env = dict(os.environ, TTNN_TRACE=str(tmp_path / "trace"), TTNN_TRACE_PARAMS="async")
    env["TTNN_OPERATION_TRACE_DIR"] = str(tmp_path / "params")
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=600 * LONG)
    assert done.stdout.strip() == str({"exit 0": 10 * LONG}), done.stderr


def run_processes(context, count, at_once=5):
    """The exit codes of processes of multiprocessing that do what in_child() does."""
    codes = []
    while len(codes) < count:
        some = [context.Process(target=in_child) for _ in range(min(at_once, count - len(codes)))]
        for process in some:
            process.start()
        for process in some:
            process.join()
            codes.append(process.exitcode)
    return codes


@pytest.mark.parametrize("method, count", [("fork", 40 * LONG), ("spawn", 10 * LONG), ("forkserver", 10 * LONG)])
def test_multiprocessing(method, count):
    with Load(pause=0 if method == "fork" else 0.1):
        codes = run_processes(multiprocessing.get_context(method), count)
    assert codes == [0] * count


class Numbers:
    """A dataset whose items are made by ttnn, on a device of the worker's."""

    device = None

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if Numbers.device is None:
            signal.alarm(PATIENCE)
            Numbers.device = ttnn.open_device(device_id=0)
        item = ttnn.full([2, 2], float(index), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=Numbers.device)
        return ttnn.to_torch(ttnn.add(item, 1.0))


def test_data_loader(torch):
    """Workers that fork while ttnn and torch are at work in other threads; each is an epoch with two."""
    from torch.utils.data import DataLoader

    with Load():
        for _ in range(5 * LONG):
            rows = list(DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context="fork"))
            assert [row[:, 0, 0].tolist() for row in rows] == [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
