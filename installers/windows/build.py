"""Makes dist/hooktray-VERSION-setup.exe: `python installers/windows/build.py [--payload FOLDER] [--out FOLDER]`.

Without --payload it freezes Hooktray first, which only Windows can do, with PyInstaller and Hooktray's wheel for
Windows installed: that has the native relay. NSIS (`makensis`) compiles the setup anywhere.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent
# For consoles and agents; for the tray, without a console; what agents run, which only a wheel for Windows has.
PROGRAMS = ("hooktray.exe", "hooktrayw.exe", "hooktray-relay.exe")
REMEDY = "give the folder that PyInstaller made where Hooktray's wheel for Windows is installed (installers/wheels)"


def version() -> str:
    found = re.search(r'^__version__ = "(.*)"$', (ROOT / "tray" / "__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def freeze(folder: Path) -> Path:
    """PyInstaller's folder for the system that this runs on."""
    spec = ROOT / "installers" / "hooktray.spec"
    options = ["--noconfirm", "--distpath", folder / "dist", "--workpath", folder / "work"]
    subprocess.run([sys.executable, "-m", "PyInstaller", *options, spec], check=True, cwd=ROOT)
    return folder / "dist" / "hooktray"


def lines(payload: Path) -> tuple[str, str]:
    """What installs each file of the payload, and what removes these files and no others."""
    files = sorted(path.relative_to(payload) for path in payload.rglob("*") if path.is_file())
    missing = sorted(set(PROGRAMS) - {path.name for path in files})
    if missing:
        raise SystemExit(f"{payload}: {', '.join(missing)} is missing; {REMEDY}")
    folders = {parent for path in files for parent in path.parents} - {Path()}
    install, remove = [], []
    for path in files:
        install += [f'SetOutPath "{_inside(path.parent)}"', f'File "{payload / path}"']
        remove.append(f'Delete "{_inside(path)}"')
    remove += [f'RMDir "{_inside(folder)}"' for folder in sorted(folders, reverse=True)]
    return "\n".join(install) + "\n", "\n".join(remove) + "\n"


def _inside(path: Path) -> str:
    return "\\".join(("$INSTDIR", *map(_quoted, PurePosixPath(path.as_posix()).parts)))


def _quoted(text: str) -> str:
    return text.replace("$", "$$").replace('"', '$\\"')


def compile_setup(payload: Path, out: Path) -> Path:
    makensis = shutil.which("makensis")
    if makensis is None:
        raise SystemExit("makensis is missing; install NSIS 3 (Debian: apt install nsis)")
    out.mkdir(parents=True, exist_ok=True)
    setup = out.resolve() / f"hooktray-{version()}-setup.exe"
    with tempfile.TemporaryDirectory() as folder:
        names = {"INSTALL_LINES": Path(folder, "install.nsh"), "REMOVE_LINES": Path(folder, "remove.nsh")}
        for path, text in zip(names.values(), lines(payload.resolve()), strict=True):
            path.write_text(text, encoding="utf-8")
        values = {
            **names,
            "VERSION": version(),
            "OUTPUT": setup,
            "ICON": ROOT / "icons" / "hooktray.ico",
            "LICENCE": ROOT / "LICENSE",
        }
        defines = [f"-D{name}={value}" for name, value in values.items()]
        script = ROOT / "installers" / "windows" / "hooktray.nsi"
        subprocess.run([makensis, "-V2", "-WX", "-INPUTCHARSET", "UTF8", *defines, str(script)], check=True)
    return setup


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payload", type=Path, help="the frozen Hooktray")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    if given.payload is None and sys.platform != "win32":
        raise SystemExit("Hooktray for Windows can only be frozen on Windows; give --payload FOLDER here")
    with tempfile.TemporaryDirectory() as folder:
        print(compile_setup(given.payload or freeze(Path(folder)), given.out))


if __name__ == "__main__":
    main()
