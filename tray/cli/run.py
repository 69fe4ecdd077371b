"""`hooktray run`: the tray itself."""

from __future__ import annotations

from typing import Annotated

from tray.app.start import start
from tray.cli.command_line import Option
from tray.paths import Paths


def run(
    paths: Paths,
    headless: Annotated[bool, Option("--headless", help="Show no icon.")] = False,
) -> int:
    return start(paths, headless=headless)
