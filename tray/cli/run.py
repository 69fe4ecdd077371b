"""`hooktray run`: the tray itself."""

from __future__ import annotations

from typing import Annotated

import typer

from tray.cli import app, prepared_paths


@app.command()
def run(
    context: typer.Context,
    headless: Annotated[bool, typer.Option("--headless", metavar="", help="Show no icon.")] = False,
) -> None:
    """Start the tray; a second start says so and ends."""
    from tray.app.start import start

    code = start(prepared_paths(context), headless=headless)
    if code:
        raise typer.Exit(code)
