"""`hooktray status`. It works whether the tray runs or not."""

from __future__ import annotations

import json

from tray.app import open_stores
from tray.app.agent_sites import site
from tray.app.catalogs import build_catalog
from tray.app.reports import StatusReport, status_report
from tray.cli.command_line import Json
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_status
from tray.errors import IpcError, StoreError
from tray.ipc.client import send_request
from tray.ipc.health import TrayHealth, parse_health
from tray.paths import Paths


def status(paths: Paths, as_json: Json = False) -> None:
    paths.prepare()
    report = ask_report(paths, "status") or _read_status(paths)
    print(json.dumps(report["row"])) if as_json else print_status(report)


def _read_status(paths: Paths) -> StatusReport:
    try:
        stores = open_stores(paths, create=not paths.database.exists())
    except StoreError as error:  # the running tray may know why
        reported = [problem["text"] for problem in (tray_health(paths) or {}).get("problems", ())]
        raise StoreError(error.message, hint="\n  ".join([*reported, error.hint])) from error
    return status_report(stores, build_catalog(paths, stores), tray_health(paths), site(paths))


def tray_health(paths: Paths) -> TrayHealth | None:
    """What the running tray reports of itself; None when none runs."""
    try:
        reply = send_request(paths.socket, {"op": "health"})
    except IpcError:
        return None
    return parse_health(reply)
