"""Runs command hooks: `run` starts all jobs of one event together and has an answer for each by the deadline."""

from __future__ import annotations

import sys

from tray.execution.background import BackgroundProcesses
from tray.execution.process import Hangup, Job

if sys.platform == "win32":
    from tray.execution.process_windows import run
else:
    from tray.execution.process_posix import run

__all__ = ["BackgroundProcesses", "Hangup", "Job", "run"]
