"""Asks the running tray for what a command shows: it has everything in memory that a command would have to import."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray import __version__
from tray.errors import HooktrayError
from tray.language import pick_language
from tray.paths import Paths


def ask_report(paths: Paths, report: str, **words: Any) -> Mapping[str, Any]:
    """The report of the running tray (tray/app/reports.py); empty where the command has to gather it by itself.

    That is where no tray runs, where it is of another version or language, and where it fails: then the command finds
    what is wrong, and puts it in its own words.
    """
    from tray.ipc.client import send_request

    try:
        place = {"cwd": str(Path.cwd()), "home": str(Path.home()), "environment": dict(os.environ)}
        request = {"op": "report", "report": report, "version": __version__, "language": pick_language()}
        answer = send_request(paths.socket, request | place | words)
    except (HooktrayError, OSError, RuntimeError):  # the last two: no folder, or no home
        return {}
    return {} if "error" in answer else answer
