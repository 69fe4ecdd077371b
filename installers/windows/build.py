"""Makes dist/hooktray-VERSION-setup.exe: `python installers/windows/build.py PAYLOAD [--out FOLDER]`.

PAYLOAD is the folder that PyInstaller made on Windows (README.md). NSIS 3 (`makensis`) compiles the setup. It needs
its 64-bit parts, which are in the package of Debian and Ubuntu and not in NSIS for Windows.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = (
    "_internal/tray/native/hooktray-hook.exe",  # agents run it; only the wheel for Windows has it
    "hooktray.exe",  # for consoles
    "hooktrayw.exe",  # the tray, without a console
)


def version() -> str:
    found = re.search(r'^__version__ = "(.*)"$', (ROOT / "tray" / "__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def lines(payload: Path) -> tuple[str, str]:
    """What installs each file of the payload, and what removes these files and no others."""
    files = sorted(path.relative_to(payload) for path in payload.rglob("*") if path.is_file())
    missing = sorted(set(PROGRAMS) - {path.as_posix() for path in files})
    if missing:
        raise SystemExit(
            f"{payload}: {', '.join(missing)} is missing; give the folder that PyInstaller made on Windows, "
            "in an environment with Hooktray's wheel for Windows"
        )
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
    parser.add_argument("payload", type=Path, help="the frozen Hooktray")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    print(compile_setup(given.payload, given.out))


if __name__ == "__main__":
    main()
