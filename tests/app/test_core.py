"""The core of the tray, when no user interface can be built around it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headless import ENVIRONMENT

from tray.paths import locate

PROGRAM = """
import sys
from tray.app import start
from tray.app.runtime import App
from tray.paths import locate

def fail(*_, **__):
    raise RuntimeError("no user interface")

App.__init__ = fail
start.run(locate(sys.argv[1]), headless=True)
"""


def test_a_tray_whose_user_interface_cannot_be_built_ends_and_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    home = tmp_path / "h"

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, home], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert b"RuntimeError: no user interface" in done.stderr
    assert not locate(str(home)).socket.exists()
    again = subprocess.run(
        [sys.executable, "-c", PROGRAM, home], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )
    assert b"RuntimeError: no user interface" in again.stderr
