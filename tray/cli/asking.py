"""The commands that ask the running tray: on, off, pause, approve, revoke, deny, open.

Only `on` and `open` are done at once; the others need a person there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tray.cli import app, places
from tray.errors import HooktrayError

HookName = Annotated[str, typer.Argument(metavar="HOOK", help="The hook's name, or its command.")]


@app.command()
def on(context: typer.Context) -> None:
    """Switch the hooks on."""
    _ask(context, {"op": "on"})


@app.command(name="open")
def open_page(context: typer.Context) -> None:
    """Show the page in your browser; the tray opens it."""
    _ask(context, {"op": "open"})


@app.command()
def off(context: typer.Context) -> None:
    """Ask to switch all hooks off; you grant it in the tray's menu."""
    _ask(context, {"op": "off"})


@app.command()
def pause(
    context: typer.Context,
    how_long: Annotated[str, typer.Argument(metavar="30m|1h|tomorrow", help="For how long.")],
) -> None:
    """Ask to pause all hooks; you grant it in the tray's menu."""
    _ask(context, {"op": "pause", "seconds": seconds(how_long)})


@app.command()
def approve(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="[EVENT] HOOK", help="The event, and the hook's command or name.")
    ],
) -> None:
    """Ask to approve a hook; you grant it in the tray's menu, after reading it."""
    event, hook = _named(words)
    _ask(context, {"op": "approve", "event": event, "hook": hook})


@app.command()
def revoke(context: typer.Context, hook: HookName) -> None:
    """Ask to take a hook's approval back; you grant it in the tray's menu."""
    _ask(context, {"op": "revoke", "hook": hook})


@app.command()
def deny(context: typer.Context, hook: HookName) -> None:
    """Ask to turn a hook down; you grant it in the tray's menu."""
    _ask(context, {"op": "deny", "hook": hook})


def seconds(text: str) -> float | None:
    """`30m`, `1h` or `90s` in seconds; None = until tomorrow. Raises HooktrayError."""
    if text == "tomorrow":
        return None
    found = re.fullmatch(r"(\d{1,4})([smh])", text)
    if not found or int(found[1]) == 0:
        raise HooktrayError(f"`{text}` is no length of time", hint="write 30m, 1h or tomorrow")
    return int(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]


def _named(words: list[str]) -> tuple[str, str]:
    """Event and hook of `approve EVENT COMMAND`; of `approve NAME` the event is ""."""
    from tray.dialects import DIALECTS
    from tray.sources.hooktray import KINDS

    native = {name for dialect in DIALECTS.values() for name in dialect.EVENTS}
    event, *rest = words if len(words) > 1 and words[0] in {*KINDS, *native} else ["", *words]
    return event, rest[0] if len(rest) == 1 else shlex.join(rest)


def _ask(context: typer.Context, request: Mapping[str, Any]) -> None:
    from tray.door.control import ask

    answer = ask(places(context).socket, request)
    if "error" in answer:
        raise HooktrayError(str(answer["error"]), hint=str(answer.get("hint", "")))
    print(answer.get("done") or f"{answer.get('asked')}\n  {answer.get('hint', '')}")
