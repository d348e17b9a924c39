"""What all tests of the Python package share. PYTHONPATH says which build is tested."""

import os
import pathlib

import pytest

pytest_plugins = ["ttnn.pytest_plugin"]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: `make test` leaves it out, `make test-full` runs it")


def pytest_collection_modifyitems(config, items):
    """TTNN_TEST_SLOW=1: all; =more: those that `make test` leaves out, and those of files that know torch."""
    slow = os.environ.get("TTNN_TEST_SLOW")
    out = []
    if not slow:
        out = [item for item in items if item.get_closest_marker("slow")]
    elif slow == "more":
        others = {path for path in pathlib.Path(__file__).parent.glob("*.py") if "torch" not in path.read_text()}
        out = [item for item in items if item.path in others and not item.get_closest_marker("slow")]
    left = set(map(id, out))
    items[:] = [item for item in items if id(item) not in left]
    config.hook.pytest_deselected(items=out)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def numpy():
    return pytest.importorskip("numpy")
