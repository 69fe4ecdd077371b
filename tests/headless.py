"""A tray without a desktop as a process of its own, over a home that was filled beforehand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tray.errors import IpcError
from tray.ipc import sockets

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def start(home: str, environment: Mapping[str, str] = ENVIRONMENT) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-I", "-m", "tray", "--home", home, "run", "--headless"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(argv, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)


def is_open(path: Path) -> bool:
    """Whether somebody answers there."""
    try:
        sockets.connect(path, 1.0)[0].close()
    except (OSError, IpcError):
        return False
    return True
