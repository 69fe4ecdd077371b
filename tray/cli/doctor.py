"""`hooktray doctor`: what is broken, what needs attention, and what to do about each."""

from __future__ import annotations

import json
import sys
from typing import Annotated

from tray.cli.command_line import Json, Option
from tray.cli.status import tray_health
from tray.cli.support_bundle import write_bundle
from tray.doctor.checklist import render, run_checks
from tray.doctor.finding import Health
from tray.paths import Paths
from tray.text import printable


def doctor(
    paths: Paths,
    as_json: Json = False,
    static: Annotated[bool, Option("--static", help="Only look: run no hook, send no event.")] = False,
    bundle: Annotated[str, Option("--bundle", metavar="FILE", help="Write a redacted text for a bug report.")] = "",
) -> int:
    paths.prepare()
    results = []
    for one in run_checks(paths, tray_health(paths), static=static):
        results.append(one)
        if as_json:
            print(json.dumps(one.row, ensure_ascii=False), flush=True)
    if bundle:
        write_bundle(bundle, paths, results)
        print(f"{bundle} is written: read it before you send it.", file=sys.stderr)
    elif not as_json:
        print(printable(render(results)))
    return int(any(one.health is Health.BROKEN for one in results))
