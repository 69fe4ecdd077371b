"""Whether the first start in a terminal asks which agents to connect, before the tray begins."""

from __future__ import annotations

import os
import sys

from tray.paths import Paths

MARK = "welcomed"  # in the state folder


def asks(paths: Paths) -> bool:
    """Whether no tray has run here, no configuration was written, and a person can answer."""
    is_first = not paths.config.exists() and not (paths.state / MARK).exists()
    return is_first and _is_at_terminal()


def _is_at_terminal() -> bool:
    """In the background, reading would stop the process."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:  # a terminal without job control
        return True
