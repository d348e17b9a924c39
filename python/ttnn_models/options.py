"""Options that the model tests of a workspace share."""

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("ttnn_models", "models")
    group.addoption("--layers", type=int, default=None, help="compute so many layers of a model; 0 computes none")


@pytest.fixture
def layers(request):
    """How many layers are computed: a number, or None for the rule of the model."""
    return request.config.getoption("--layers", None)
