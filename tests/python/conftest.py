"""What all tests of the Python package share. PYTHONPATH says which build is tested."""

import os

import pytest

pytest_plugins = ["ttnn.pytest_plugin"]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: `make test` leaves it out, `make test-full` runs it")


def pytest_collection_modifyitems(config, items):
    if not os.environ.get("TTNN_TEST_SLOW"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def numpy():
    return pytest.importorskip("numpy")
