"""Asks the running tray for what a command shows: it has everything in memory that a command would have to import."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from tray import __version__
from tray.errors import HooktrayError
from tray.language import pick_language
from tray.paths import Paths

if TYPE_CHECKING:
    from tray.app.reports import AgentsReport, ListReport, LogReport, StatusReport

# What each report has at least; all of it is of our own version.
KEYS: Mapping[str, frozenset[str]] = {
    "agents": frozenset({"agents", "unsupported"}),
    "list": frozenset({"rows", "enabled", "loss", "waiting", "problem", "warnings"}),
    "log": frozenset({"entries"}),
    "status": frozenset({"row", "losses", "problem", "warnings"}),
}


@overload
def ask_report(paths: Paths, report: Literal["agents"], **words: object) -> AgentsReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["list"]) -> ListReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["log"], **words: object) -> LogReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["status"]) -> StatusReport | None: ...
def ask_report(paths: Paths, report: str, **words: object) -> object:
    """The report of the running tray (tray/app/reports.py); None where the command has to gather it by itself.

    That is where no tray runs, where it is of another version or language, where it fails, and where it answers
    something else: then the command finds what is wrong, and puts it in its own words.
    """
    from tray.ipc.client import send_request

    try:
        place = {"cwd": str(Path.cwd()), "home": str(Path.home()), "environment": dict(os.environ)}
        request = {"op": "report", "report": report, "version": __version__, "language": pick_language()}
        answer = send_request(paths.socket, request | place | words)
    except (HooktrayError, OSError, RuntimeError):  # the last two: no folder, or no home
        return None
    return answer if KEYS[report] <= answer.keys() else None
