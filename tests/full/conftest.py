"""Fixtures of the tests that compare the build in $OUT with numpy and torch."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What numpy calls the types that it has; the others travel as their bits.
NUMPY = {
    "float32": np.float32,
    "bfloat16": np.uint16,
    "fp8_e4m3": np.uint8,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "int8": np.int8,
    "int32": np.int32,
    "bfloat8_b": np.uint8,
    "bfloat4_b": np.uint8,
}


@pytest.fixture
def out():
    """The folder of the build."""
    return ROOT / os.environ.get("OUT", "build")


@pytest.fixture
def convert(out, tmp_path):
    """convert(values, source, target, unit="elements"): what the library makes of them."""

    def run(values, source, target, unit="elements"):
        given, made = tmp_path / "given", tmp_path / "made"
        np.ascontiguousarray(values, dtype=NUMPY[source]).tofile(given)
        command = [out / "tests/full/convert", unit, source, target, given, made]
        subprocess.run(command, check=True)
        return np.fromfile(made, dtype=NUMPY[target])

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def pytest_unconfigure(config):
    """The last line is the one that all of the project's test runs end with."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    count = {name: len(reporter.stats.get(name, [])) for name in ("passed", "failed", "error", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['passed']} passed, {count['failed'] + count['error']} failed{skipped}")
