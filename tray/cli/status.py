"""`hooktray status`. It works whether the tray runs or not."""

from __future__ import annotations

import json

from tray.cli.command_line import Json
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_status
from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.ipc.health import TrayHealth, parse_health
from tray.paths import Paths


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
