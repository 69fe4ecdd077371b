"""`hooktray` alone, and `hooktray help`: where things stand, and what to do next."""

from __future__ import annotations

import sys
from typing import Annotated

from tray.cli.command_line import Argument
from tray.cli.commands import BY_NAME, GROUPS, first_words, group_parser, root_parser
from tray.cli.tray_reports import status
from tray.errors import HooktrayError
from tray.paths import Paths
from tray.strict.document import suggest

Words = Annotated[list[str] | None, Argument(metavar="COMMAND", help="The command to explain; without one, all.")]


def show_help(paths: Paths, command: Words = None) -> None:
    name = " ".join(command or [])
    if not name:
        root_parser().print_help()
    elif name in GROUPS:
        group_parser(name).print_help()
    elif name in BY_NAME:
        BY_NAME[name].parser().print_help()
    else:
        known = [*BY_NAME, *GROUPS] if " " in name else [word for word, _ in first_words()]
        raise HooktrayError(f"there is no command `{name}`", hint=suggest(name, known))


def overview(paths: Paths) -> int:
    """The status and the next step. What a desktop starts has no terminal: it wants the tray."""
    if not (sys.stdin.isatty() or sys.stdout.isatty()):
        return BY_NAME["run"].function()(paths) or 0
    status(paths)
    print("\n`hooktray help` lists the commands, `hooktray open` shows the page.")
    return 0
