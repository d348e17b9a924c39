"""What tests of this folder share: the fixtures and options of the package's pytest plugin.

    --trace-params               writes one JSON file for every ttnn operation
    --trace-params-with-values   with the elements of tensors (together with --trace-params)
    --trace-params-keep          keeps the files after the tests (together with --trace-params)
    --layers N                   computes N layers of a model; what is left runs without dispatch

An installed package has registered the plugin already; from a build directory it is done here.
"""

import ttnn.pytest_plugin
import ttnn_models.options


def pytest_addoption(parser, pluginmanager):
    for plugin in (ttnn.pytest_plugin, ttnn_models.options):
        if not pluginmanager.is_registered(plugin):
            pluginmanager.register(plugin)
