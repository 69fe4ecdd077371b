"""`hooktray status` and `hooktray list`, and how commands ask the running tray for what they show.

The running tray has in memory what a command would have to import first. Without a tray, the command reads the
state itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from tray import __version__
from tray.cli.command_line import Json
from tray.cli.views import print_hooks, print_status
from tray.errors import HooktrayError, IpcError
from tray.ipc.client import send_request
from tray.ipc.health import TrayHealth, parse_health
from tray.language import pick_language
from tray.paths import Paths

if TYPE_CHECKING:
    from tray.doctor.reports import AgentsReport, ListReport, LogReport, StatusReport

# The keys that each report must have. No type is checked: only a tray of our own version answers with a report.
KEYS: Mapping[str, frozenset[str]] = {
    "agents": frozenset({"agents", "unsupported"}),
    "list": frozenset({"rows", "enabled", "loss", "waiting", "problem", "warnings"}),
    "log": frozenset({"entries"}),
    "status": frozenset({"row", "losses", "problem", "warnings"}),
}


def status(paths: Paths, as_json: Json = False) -> None:
    paths.prepare()
    report = ask_report(paths, "status")
    if not report:
        from tray.doctor.reports import read_status  # as a rule the tray answers

        report = read_status(paths, tray_health(paths))
    print(json.dumps(report["row"])) if as_json else print_status(report)


def tray_health(paths: Paths) -> TrayHealth | None:
    """What the running tray reports of itself; None when none runs."""
    try:
        reply = send_request(paths.socket, {"op": "health"})
    except IpcError:
        return None
    return parse_health(reply)


def list_hooks(paths: Paths, as_json: Json = False) -> None:
    paths.prepare()
    report = ask_report(paths, "list")
    if not report:
        from tray.doctor.reports import read_hooks  # as a rule the tray answers

        report = read_hooks(paths)
    if not as_json:
        print_hooks(report, paths)
        return
    for row in report["rows"]:
        print(json.dumps(row, ensure_ascii=False))


@overload
def ask_report(paths: Paths, report: Literal["agents"], **words: object) -> AgentsReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["list"]) -> ListReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["log"], **words: object) -> LogReport | None: ...
@overload
def ask_report(paths: Paths, report: Literal["status"]) -> StatusReport | None: ...
def ask_report(paths: Paths, report: str, **words: object) -> object:
    """The report of the running tray (tray/doctor/reports.py); None if the command has to gather it by itself.

    None if no tray runs, if the tray has another version or language, if it fails, and if its answer lacks a key: the
    command then finds the cause and reports it.
    """
    try:
        place = {"cwd": str(Path.cwd()), "home": str(Path.home()), "environment": dict(os.environ)}
        request = {"op": "report", "report": report, "version": __version__, "language": pick_language()}
        answer = send_request(paths.socket, request | place | words)
    except (HooktrayError, OSError, RuntimeError):  # the last two: no folder, or no home
        return None
    return answer if KEYS[report] <= answer.keys() else None
