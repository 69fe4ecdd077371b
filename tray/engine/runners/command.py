"""Runs command hooks: `run` starts all jobs of one event together and has an answer for each by the deadline."""

from __future__ import annotations

import sys

from tray.engine.runners.background import Background
from tray.engine.runners.process import Gone, Job

if sys.platform == "win32":
    from tray.engine.runners.process_windows import run
else:
    from tray.engine.runners.process_posix import run

__all__ = ["Background", "Gone", "Job", "run"]
