"""`hooktray run`: the tray itself."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
from typing import Annotated

import typer

from tray.cli import app, places
from tray.paths import Paths


@app.command()
def run(
    context: typer.Context,
    headless: Annotated[bool, typer.Option("--headless", help="Show no icon.")] = False,
) -> None:
    """Start the tray; a second start says so and ends."""
    from tray.app.live import run as run_tray

    paths = places(context)
    _log_to(paths)
    code = run_tray(paths, headless=headless, say=_say)
    if code:
        raise typer.Exit(code)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it: that is no reason not to run
        print(text, flush=True)


def _log_to(paths: Paths) -> None:
    handler = logging.handlers.RotatingFileHandler(
        paths.logs / "hooktray.log", maxBytes=1 << 20, backupCount=2, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
