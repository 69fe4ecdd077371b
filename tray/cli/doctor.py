"""`hooktray doctor`: what is broken, what needs attention, and what to do about each.

`--bundle FILE` writes one text for a bug report, which a person reads before sending it. It has versions, the
settings, the doctor's lines and the end of the log, all redacted and without the home folder's name; no payload, no
decision and no script.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated

from tray import __version__
from tray.cli import new_file
from tray.cli.command_line import Json, Option
from tray.cli.tray_reports import tray_health
from tray.doctor.checklist import render, run_checks
from tray.doctor.finding import Finding, Health
from tray.paths import Paths
from tray.text import printable, redact
from tray.text.push_urls import masked_settings

LOG_LINES = 200  # of the end of the log
FILE_LIMIT = 256 * 1024  # bytes that are read of settings and log
TEXT_LIMIT = 1_000_000  # characters
VARIABLES = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG", "SSH_CONNECTION", "WAYLAND_DISPLAY", "DISPLAY")
INTRODUCTION = """Hooktray support bundle. Secrets are masked and your home folder is shown as ~.
Read it before you send it to anybody: names of hooks, projects and commands may still say more than you want."""


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


def write_bundle(file: str, paths: Paths, results: Sequence[Finding]) -> None:
    """Write it into a new private file. Raises HooktrayError when that cannot be done."""
    text = bundle_text(paths, results)
    with new_file(file) as out:
        out.write(text)


def bundle_text(paths: Paths, results: Sequence[Finding]) -> str:
    named = (name for name in VARIABLES if os.environ.get(name))
    packages = {f"{one.name} {one.version}" for one in distributions()}
    log = _end(paths.logs / "hooktray.log", FILE_LIMIT).splitlines()[-LOG_LINES:]
    sections = {
        "Versions": [f"Hooktray {__version__}", f"Python {platform.python_version()}", platform.platform()],
        "Desktop": [f"{name} is {'set' if 'SSH' in name else os.environ[name]}" for name in named],
        "Packages": sorted(packages, key=str.lower),
        "Paths": [f"config: {paths.config}", f"state: {paths.state}"],
        "Settings": [masked_settings(_end(paths.config, FILE_LIMIT))],
        "Doctor": [render(list(results))],
        "Log": log,
    }
    texts = {title: "\n".join(lines).strip() for title, lines in sections.items()}
    parts = [f"== {title} ==\n{text or '(nothing)'}" for title, text in texts.items()]
    text, home = redact("\n\n".join([INTRODUCTION, *parts])).text, str(Path.home())
    return printable(text.replace(home, "~") if len(home) > 1 else text, TEXT_LIMIT) + "\n"


def _end(path: Path, size: int) -> str:
    """The last bytes of a file, from the beginning of a line on."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            cut = file.tell() > 0
            text = file.read(size).decode("utf-8", "replace")
    except OSError as error:
        return f"{path}: {error.strerror}"
    return text.partition("\n")[2] if cut else text
