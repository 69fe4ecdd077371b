"""`hooktray list`. It works whether the tray runs or not."""

from __future__ import annotations

import json

from tray.cli.command_line import Json
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_hooks
from tray.paths import Paths


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
