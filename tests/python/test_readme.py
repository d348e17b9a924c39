"""The README's first lines of Python print what stands beside them."""

import contextlib
import io
import pathlib
import re

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_readme():
    code = re.search(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S).group(1)
    expected = re.findall(r"^print\(.*\)  # (.*)$", code, re.M)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert expected and printed.getvalue().splitlines() == expected
