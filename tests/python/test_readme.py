"""What the README and the documents print of Python works as printed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import ttnn

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def python_of(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def run(folder, code, **environment):
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def tool():
    beside = pathlib.Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    found = beside if beside.is_file() else shutil.which("ttnn")
    if not found:
        pytest.skip("no ttnn command")
    return str(found)


def test_readme(tmp_path, tool):
    """The numbers stand beside the lines; the picture is what the command makes, but for the times."""
    code = "\n".join(python_of(README))
    expected = re.findall(r"^print\(.*\)  # (.*)$", code, re.M)
    assert expected and run(tmp_path, code) == expected
    (command,) = re.findall(r"^build/(ttnn export svg .* softmax.json)", README, re.M)
    subprocess.run([tool, *command.split()[1:]], cwd=tmp_path, check=True)
    (picture,) = re.findall(r"!\[[^]]*\]\((.*?)\)", README)
    shown, made = ((folder / name).read_text() for folder, name in ((ROOT, picture), (tmp_path, "softmax.svg")))
    times = re.compile(r"[0-9.]+ (ns|µs|ms|s)\b")
    assert times.sub("T", made) == times.sub("T", shown)


@pytest.mark.parametrize("generation", ["classic", "release-0.81"])
def test_generations(tmp_path, generation):
    """docs/graphs.md: what the documented sample is with the one and with the other."""
    section = (ROOT / "docs" / "graphs.md").read_text().split("## Generations")[1].split("\n## ")[0]
    (code,) = python_of(section)
    words = re.findall(r"# (.*) with TTNN_GENERATION=classic, else (.*)", code)
    expected = [classic if generation == "classic" else other for classic, other in words]
    start = "import ttnn\ndevice = ttnn.open_device(device_id=0)\n"
    assert expected and run(tmp_path, start + code, TTNN_GENERATION=generation) == expected
