"""`hooktray` alone, and `hooktray help`: where things stand, and what to do next."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from tray.cli import app
from tray.errors import HooktrayError
from tray.strict import suggest


@app.command(name="help")
def show_help(
    context: typer.Context,
    command: Annotated[
        str, typer.Argument(metavar="[COMMAND]", help="The command to explain; without one, all.")
    ] = "",
) -> None:
    """Explain a command, or list all of them."""
    root = context.find_root()
    group: Any = root.command
    if not command:
        _print(group.get_help(root))
        return
    found = group.get_command(root, command)
    if found is None:
        names = [name for name in group.list_commands(root) if not group.get_command(root, name).hidden]
        raise HooktrayError(f"there is no command `{command}`", hint=suggest(command, names))
    with found.make_context(command, [], parent=root, resilient_parsing=True) as inner:
        _print(found.get_help(inner))


def overview(context: typer.Context) -> None:
    """The status and the next step. What a desktop starts has no terminal: it wants the tray."""
    if not (sys.stdin.isatty() or sys.stdout.isatty()):
        from tray.cli.run import run

        run(context, headless=False)
        return
    from tray.cli.status import status

    status(context)
    print("\n`hooktray help` lists the commands; `hooktray run` starts the tray, `hooktray open` shows its page.")


def _print(text: str) -> None:
    """Where the library has drawn the help by itself, there is nothing left to print."""
    if text.strip():
        print(text)
