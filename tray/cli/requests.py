"""The commands that send requests to the running tray: on, off, pause, approve, revoke, deny, passphrase, open.

All but `on` and `open` need a person: the tray asks the person at this terminal, which it writes to and reads from
by itself.
"""

from __future__ import annotations

import enum
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tray.cli import app, prepared_paths
from tray.errors import HooktrayError
from tray.language import say

TIMEOUT = 75.0  # seconds: the tray may ask a person at this terminal, who has 60
CHANGE_TIMEOUT = 600.0  # seconds: three lines, of which each may take 180

HOOK_HELP = (
    "The event, and the hook's command, URL or name; a setting; or `unchanged`: all that were approved before."
)

ENV_HELP = "Let this withheld variable through to the hook, from each agent's environment."
SOURCE_HELP = "All hooks of this file that wait, after one review; or of this agent's file."


class Forget(enum.Enum):
    FORGET = "forget"


HookName = Annotated[str, typer.Argument(metavar="HOOK", help="The hook's command, URL or name.")]


@app.command()
def on(context: typer.Context) -> None:
    """Switch the hooks on."""
    _send(context, {"op": "on"})


@app.command(name="open")
def open_page(context: typer.Context) -> None:
    """Show the page in your browser; the tray opens it."""
    _send(context, {"op": "open"})


@app.command()
def focus(
    context: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="[SESSION]", help="Its id, or the beginning; none: who waits the longest.")
    ] = "",
) -> None:
    """Bring the terminal of a session to the front: window, tab and pane."""
    _send(context, {"op": "focus", "session": session})


@app.command()
def off(context: typer.Context) -> None:
    """Switch all hooks off: you confirm it here, or in the tray's menu."""
    _ask(context, {"op": "off"})


@app.command()
def pause(
    context: typer.Context,
    how_long: Annotated[str, typer.Argument(metavar="30m|1h|tomorrow", help="For how long.")],
    agent: Annotated[str, typer.Option("--agent", metavar="AGENT", help="For this agent alone.")] = "",
    session: Annotated[str, typer.Option("--session", metavar="SESSION", help="For this session alone.")] = "",
) -> None:
    """Pause hooks, all or those of one agent or session: you confirm it here, or in the tray's menu."""
    from tray.approvals.controls import parse_duration

    _ask(context, {"op": "pause", "seconds": parse_duration(how_long), "agent": agent, "session": session})


@app.command()
def approve(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="[EVENT] HOOK", help=HOOK_HELP)] = None,
    env: Annotated[list[str] | None, typer.Option("--env", metavar="NAME", help=ENV_HELP)] = None,
    source: Annotated[str, typer.Option("--source", metavar="FILE", help=SOURCE_HELP)] = "",
) -> None:
    """Approve a hook, or confirm a setting: you confirm it here, in the tray's menu or on the page."""
    _ask(context, approval(words or [], env or [], source))


@app.command()
def revoke(
    context: typer.Context,
    hook: HookName,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME", help="Only withhold this variable again.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="Only take back its last approval.")] = False,
) -> None:
    """Take a hook's approval back: you confirm it here, or in the tray's menu."""
    _ask(context, {"op": "revoke", "hook": hook, "env": env or [], "last": last})


@app.command()
def deny(context: typer.Context, hook: HookName) -> None:
    """Turn a hook down: you confirm it here, or in the tray's menu."""
    _ask(context, {"op": "deny", "hook": hook})


@app.command()
def passphrase(
    context: typer.Context,
    action: Annotated[Forget | None, typer.Argument(help="Forget it; without this word, set or change it.")] = None,
) -> None:
    """Set, change or forget the passphrase, which confirms what you ask for in terminals that agents can read."""
    _ask(context, {"op": "passphrase", "forget": action is Forget.FORGET}, CHANGE_TIMEOUT)


def approval(words: Sequence[str], env: Sequence[str], source: str) -> Mapping[str, Any]:
    """What `approve` asks for. Raises HooktrayError where it is neither a hook nor a source."""
    from tray.ipc.requests import split_event

    if bool(words) == bool(source) or (source and env):
        what = say("name a hook, or a file with `--source`")
        raise HooktrayError(what, hint=say("`hooktray list` shows every hook and its file"))
    if source:
        path = Path(source).expanduser()
        return {"op": "approve", "source": str(path.absolute()) if path.exists() else source}
    event, hook = split_event(words, shlex.join)
    return {"op": "approve", "event": event, "hook": hook, "env": list(env)}


def _ask(context: typer.Context, request: Mapping[str, Any], timeout: float = TIMEOUT) -> None:
    """Send what needs a person, who is asked at this terminal."""
    from tray.ipc.client import ask

    show_answer(ask(prepared_paths(context).socket, request, timeout))


def _send(context: typer.Context, request: Mapping[str, Any]) -> None:
    from tray.ipc.client import send_request

    show_answer(send_request(prepared_paths(context).socket, request, TIMEOUT))


def show_answer(answer: Mapping[str, Any]) -> None:
    if "error" in answer:
        raise HooktrayError(str(answer["error"]), hint=str(answer.get("hint", "")))
    if "done" in answer:
        print(answer["done"] + (f"\n  {answer['hint']}" if answer.get("hint") else ""))
        return
    why = f"  {say('Not here: {why}', why=answer['why'])}\n" if answer.get("why") else ""
    print(f"{answer.get('queued')}\n{why}  {answer.get('hint', '')}")
