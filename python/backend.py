"""Builds wheels and source archives (PEP 517, PEP 660) with make alone.

pip calls these functions; `make python` does the work. A wheel holds the package, the extension for
the Python that builds it, and the program ttnn.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), re.M).group(1)
NAME = f"{PROJECT['name']}-{VERSION}"
PACKAGES = ("ttnn", "ttnn_models", "tracy", "tt_lib")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files give the same wheel


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata():
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {PROJECT['name']}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"Requires-Python: {PROJECT['requires-python']}",
    ]
    for extra, wanted in PROJECT["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in wanted]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / PROJECT["readme"]).read_text()]
    return "\n".join(lines)


def _entry_points():
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    return "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items()) for group, rows in groups.items())


def _info():
    return {
        f"{NAME}.dist-info/METADATA": _metadata().encode(),
        f"{NAME}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: make\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode(),
        f"{NAME}.dist-info/entry_points.txt": _entry_points().encode(),
        f"{NAME}.dist-info/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def _make():
    """The library and the extension for this Python; what make says is the user's to read."""
    command = ["make", f"-j{os.cpu_count()}", "all", "python", f"PYTHON={sys.executable}"]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SystemExit("make failed: 'scripts/setup.sh build python' installs what it needs")
    return ROOT / "build"


def _write_wheel(directory, files):
    path = pathlib.Path(directory) / f"{NAME}-{_tag()}.whl"
    record = io.StringIO()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name or name.endswith(".so") else 0o100644) << 16
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.write(f"{name},sha256={digest},{len(data)}\n")
        record.write(f"{NAME}.dist-info/RECORD,,\n")
        wheel.writestr(zipfile.ZipInfo(f"{NAME}.dist-info/RECORD", EPOCH), record.getvalue())
    return path.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    out = _make()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    package = out / "python"
    sources = [p for name in PACKAGES for p in sorted((ROOT / "python" / name).rglob("*.py"))]
    files = {str(p.relative_to(ROOT / "python")): p.read_bytes() for p in sources}
    files[f"ttnn/_ttnn{suffix}"] = (package / f"ttnn/_ttnn{suffix}").read_bytes()
    files[f"{NAME}.data/scripts/ttnn"] = (out / "ttnn").read_bytes()
    return _write_wheel(wheel_directory, {**files, **_info()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Points at build/python: run `make python` after a change."""
    files = {"ttnn.pth": f"{_make() / 'python'}\n".encode()}
    return _write_wheel(wheel_directory, {**files, **_info()})


def _sources():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode == 0:
        return [name.decode() for name in listed.stdout.split(b"\0") if name]
    skipped = {"build", ".git"}
    return sorted(
        str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)
    )


def build_sdist(sdist_directory, config_settings=None):
    path = pathlib.Path(sdist_directory) / f"{NAME}.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in _sources():
            if (ROOT / name).is_file() and not name.startswith("tests/data/"):
                archive.add(ROOT / name, f"{NAME}/{name}", recursive=False)
        data = _metadata().encode()
        entry = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return path.name


if __name__ == "__main__":  # make asks for a file of the note about the package
    sys.stdout.write(_info()[f"{NAME}.dist-info/{sys.argv[1]}"].decode())
