"""The program ttnn, which launchers of the workspace run."""

import os
import pathlib
import shutil
import sys
import sysconfig

from ttnn import _ttnn


def path():
    """Beside the build's package, where the wheel put it, or on PATH."""
    places = (pathlib.Path(_ttnn.__file__).parents[2], pathlib.Path(sysconfig.get_path("scripts")), pathlib.Path(sys.executable).parent)
    for place in places:
        if os.access(place / "ttnn", os.X_OK) and not (place / "ttnn").is_dir():
            return str(place / "ttnn")
    found = shutil.which("ttnn")
    if not found:
        raise SystemExit("the program ttnn is not there: it comes with the package, or from `make`")
    return found


def become(*arguments):
    """Runs it in place of this process."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path(), ["ttnn", *map(str, arguments)])
