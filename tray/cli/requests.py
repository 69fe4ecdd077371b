"""The commands that send requests to the running tray: on, off, pause, approve, revoke, deny, passphrase, open.

What loosens needs the passphrase: the tray sends the question, this command shows it and sends what was typed.
"""

from __future__ import annotations

import enum
import getpass
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from tray.approvals.user_action import parse_duration
from tray.cli.command_line import Argument, Option
from tray.errors import HooktrayError
from tray.ipc.arguments import split_event
from tray.ipc.client import ask, send_request
from tray.language import say
from tray.paths import Paths

TIMEOUT = 75.0  # seconds, besides those in which the user types

HOOK_HELP = (
    "The event, and the hook's command, URL or name; a setting; or `unchanged`: all with the imported content."
)

ENV_HELP = "Let this withheld variable through to the hook, from each agent's environment."
SOURCE_HELP = "All hooks of this file that wait, after one review; or of this agent's file."


DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
SSH_PORT = "22"
COPY = "hooktray.html"


class Forget(enum.Enum):
    FORGET = "forget"


HookName = Annotated[str, Argument(metavar="HOOK", help="The hook's command, URL or name.")]


def on(paths: Paths) -> None:
    _send(paths, {"op": "on"})


def open_page(paths: Paths) -> None:
    if not is_remote(os.environ):
        _send(paths, {"op": "open"})
        return
    paths.prepare()
    answer = send_request(paths.socket, {"op": "open", "elsewhere": True}, TIMEOUT)
    port = answer.get("port")
    if not isinstance(port, int):  # refused
        show_answer(answer)
        return
    print(how_to_open(os.environ, getpass.getuser(), port, Path(str(answer.get("file")))))


def focus(
    paths: Paths,
    session: Annotated[
        str, Argument(metavar="SESSION", help="Its id, or the beginning; none: who waits the longest.")
    ] = "",
) -> None:
    _send(paths, {"op": "focus", "session": session})


def off(paths: Paths) -> None:
    _ask(paths, {"op": "off"})


def pause(
    paths: Paths,
    how_long: Annotated[str, Argument(metavar="30m|1h|tomorrow", help="For how long.")],
    agent: Annotated[str, Option("--agent", metavar="AGENT", help="For this agent alone.")] = "",
    session: Annotated[str, Option("--session", metavar="SESSION", help="For this session alone.")] = "",
) -> None:
    _ask(paths, {"op": "pause", "seconds": parse_duration(how_long), "agent": agent, "session": session})


def approve(
    paths: Paths,
    words: Annotated[list[str] | None, Argument(metavar="[EVENT] HOOK", help=HOOK_HELP)] = None,
    env: Annotated[list[str] | None, Option("--env", metavar="NAME", help=ENV_HELP)] = None,
    source: Annotated[str, Option("--source", metavar="FILE", help=SOURCE_HELP)] = "",
) -> None:
    _ask(paths, _approval(words or [], env or [], source))


def revoke(
    paths: Paths,
    hook: HookName,
    env: Annotated[
        list[str] | None, Option("--env", metavar="NAME", help="Only withhold this variable again.")
    ] = None,
    last: Annotated[bool, Option("--last", help="Only take back its last approval.")] = False,
) -> None:
    _ask(paths, {"op": "revoke", "hook": hook, "env": env or [], "last": last})


def deny(paths: Paths, hook: HookName) -> None:
    _ask(paths, {"op": "deny", "hook": hook})


def passphrase(
    paths: Paths,
    action: Annotated[
        Forget | None, Argument(metavar="forget", help="Forget it; without this word, set or change it.")
    ] = None,
) -> None:
    _ask(paths, {"op": "passphrase", "forget": action is Forget.FORGET})


def _approval(words: Sequence[str], env: Sequence[str], source: str) -> Mapping[str, object]:
    """What `approve` asks for. Raises HooktrayError where it is neither a hook nor a source."""
    if bool(words) == bool(source) or (source and env):
        what = say("name a hook, or a file with `--source`")
        raise HooktrayError(what, hint=say("`hooktray list` shows every hook and its file"))
    if source:
        path = Path(source).expanduser()
        return {"op": "approve", "source": str(path.absolute()) if path.exists() else source}
    event, hook = split_event(words, is_shell=True)
    return {"op": "approve", "event": event, "hook": hook, "env": list(env)}


def _ask(paths: Paths, request: Mapping[str, object]) -> None:
    """Send a request that may need the passphrase, which this terminal asks for."""
    paths.prepare()
    show_answer(ask(paths.socket, request, TIMEOUT))


def _send(paths: Paths, request: Mapping[str, object]) -> None:
    paths.prepare()
    show_answer(send_request(paths.socket, request, TIMEOUT))


def show_answer(answer: Mapping[str, object]) -> None:
    if "error" in answer:
        raise HooktrayError(str(answer["error"]), hint=str(answer.get("hint", "")))
    if "done" in answer:
        print(str(answer["done"]) + (f"\n  {answer['hint']}" if answer.get("hint") else ""))
        return
    why = "  " + say("Not here: {why}", why=answer["why"]) + "\n" if answer.get("why") else ""
    print(f"{answer.get('queued')}\n{why}  {answer.get('hint', '')}")


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether this terminal is a login over SSH, and no browser started here would be seen."""
    return bool(environment.get("SSH_CONNECTION")) and not any(environment.get(name) for name in DISPLAYS)


def how_to_open(environment: Mapping[str, str], user: str, port: int, file: Path) -> str:
    """Two commands for the machine where the browser is; the link that signs it in stays in the file."""
    *_, host, ssh_port = environment["SSH_CONNECTION"].split()
    other = [] if ssh_port == SSH_PORT else [ssh_port]
    tunnel = ["ssh", *(["-p", *other] if other else []), "-L", f"{port}:127.0.0.1:{port}", f"{user}@{host}"]
    address = f"[{host}]" if ":" in host else host
    copy = ["scp", *(["-P", *other] if other else []), f"{user}@{address}:{file}", COPY]
    return "\n".join(
        (
            say("There is no screen here. On the machine where you sit, in two terminals:"),
            f"  {shlex.join(tunnel)}",
            f"  {shlex.join(copy)}",
            say("Then open {file} in a browser there, within {n} minutes; it signs in once.", file=COPY, n=10),
            say("What you click there asks for your passphrase: `hooktray passphrase` sets one."),
        )
    )
