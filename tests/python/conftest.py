"""What all tests of the Python package share. PYTHONPATH says which build is tested."""

import pytest

pytest_plugins = ["ttnn.pytest_plugin"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def numpy():
    return pytest.importorskip("numpy")
