"""What tests of this folder share: the fixtures and options of the package's pytest plugin.

    --trace-params               writes one JSON file for every ttnn operation
    --trace-params-with-values   with the elements of tensors (together with --trace-params)
    --trace-params-keep          keeps the files after the tests (together with --trace-params)

An installed package has registered it already; from a build directory it is done here.
"""

import ttnn.pytest_plugin


def pytest_addoption(parser, pluginmanager):
    if not pluginmanager.is_registered(ttnn.pytest_plugin):
        pluginmanager.register(ttnn.pytest_plugin)
