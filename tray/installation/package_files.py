"""How the relay can tell an uninstalled Hooktray from one whose environment is being rebuilt or was moved.

`pip uninstall` takes the package's own files away and leaves everything else in the environment. So an empty file of
ours in the environment, `share/hooktray/connected`, outlives the package, and goes with a rebuilt environment. Where
only an administrator can write, and below /usr also for the administrator, the files go by the system's own package
manager: no such file is needed, and it would be left behind.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from tray.execution.isolation import STARTER

SITE_NAMES = ("dist-packages", "site-packages")
MARK = Path("share", "hooktray", "connected")


def mark() -> tuple[str, ...]:
    """The package in the relay's table: the mark, the folder and the files; () where it is not known."""
    package = Path(STARTER).parent
    site = package.parent
    if sys.platform == "win32" or getattr(sys, "frozen", False) or site.name not in SITE_NAMES:
        return ()
    files = tuple(str(package / name) for name in ("__init__.py", "isolated.py", "once.py"))
    if is_of_the_system(package) or not any(os.access(folder, os.W_OK) for folder in (package, *package.parents)):
        return "", "", *files
    file = _file(site)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    except OSError:
        return ()
    return str(file), str(site), *files


def unmark() -> None:
    """No agent runs the relay any more."""
    site = Path(STARTER).parent.parent
    if site.name not in SITE_NAMES:
        return
    with contextlib.suppress(OSError):
        _file(site).unlink()


def is_of_the_system(package: Path) -> bool:
    """Whether it is where the system's package manager puts files."""
    return package.is_relative_to("/usr") and not package.is_relative_to("/usr/local")


def _file(site: Path) -> Path:
    return site.parents[2] / MARK  # site is PREFIX/lib/python3.N/site-packages
