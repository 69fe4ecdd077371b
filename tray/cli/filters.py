"""Which rows of the journal a command is about: its options, and what is wrong with them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.strict import nearest, suggest

if TYPE_CHECKING:
    from tray.store.journal import Journal

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

LABELS = {"failed": "trouble", "rewritten": "rewrite"}  # what `log` shows besides verdicts

Agent = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Only of this agent.")]
Project = Annotated[str, typer.Option("--project", metavar="PROJECT", help="Only of this project.")]
Session = Annotated[str, typer.Option("--session", metavar="SESSION", help="Only of this session.")]
Event = Annotated[str, typer.Option("--event", metavar="EVENT", help="Only this event, by either of its names.")]
VerdictName = Annotated[
    str, typer.Option("--verdict", metavar="VERDICT", help="Only abstain, allow, ask, deny, rewritten or failed.")
]
Hook = Annotated[str, typer.Option("--hook", metavar="HOOK", help="Only where this hook was asked.")]
Text = Annotated[
    str, typer.Option("--text", metavar="TEXT", help="Only where this stands in payload, reason, outputs or answer.")
]
Since = Annotated[
    str,
    typer.Option("--since", metavar="SINCE", help="Only since then: 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00."),
]


def filters(
    *,
    agent: str,
    project: str,
    session: str,
    event: str,
    verdict: str,
    hook: str,
    text: str,
    since: str,
    journal: Journal,
    hooks: Callable[[], Collection[str]],
) -> dict[str, Any]:
    """What Journal.recent takes. Raises HooktrayError with the nearest valid word.

    What is no longer there may still be in the `journal`; `hooks` are the declared ones.
    """
    from tray.agents.registry import AGENTS, UNKNOWN, UNSUPPORTED
    from tray.model.event import EventKind

    if agent and agent not in AGENTS and not journal.recent(1, brief=True, agent=agent):
        agents = (*AGENTS, *UNSUPPORTED, UNKNOWN)
        if agent not in agents:
            raise HooktrayError(f"--agent {agent}: unknown agent", hint=suggest(agent, agents))
    words = [*(one.word for one in Verdict), *LABELS]
    if verdict and verdict not in words:
        raise HooktrayError(f"--verdict {verdict}: there is no such verdict", hint=suggest(verdict, words))
    if event:
        native = {name for known in AGENTS.values() for name in known.events}
        _check_known("event", event, {*(kind.value for kind in EventKind), *native}, journal)
    if hook:
        _check_known("hook", hook, hooks(), journal)
    return {
        "agent": agent,
        "project": project,
        "session": session,
        "event": event,
        "verdict": Verdict[verdict.upper()] if verdict and verdict not in LABELS else None,
        "label": LABELS.get(verdict, ""),
        "hook": hook,
        "text": text,
        "since": parse_since(since) if since else "",
    }


def _check_known(name: str, word: str, known: Collection[str], journal: Journal) -> None:
    filters: dict[str, Any] = {name: word}
    if word in known or journal.recent(1, brief=True, **filters):
        return
    near = nearest(word, known)
    hint = f"did you mean `{near}`?" if near else "`hooktray log` shows the latest, `hooktray list` the hooks"
    raise HooktrayError(f"--{name} {word}: the journal holds no such {name}", hint=hint)


def parse_since(word: str, clock: Callable[[], float] = time.time) -> float:
    """`2h` ago, or a date with or without a time, in seconds since the epoch. Raises HooktrayError."""
    length = re.fullmatch(r"(\d{1,6})([smhd])", word)
    if length:
        return clock() - int(length[1]) * UNITS[length[2]]
    try:
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError, OSError):
        hint = "write 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00"
        raise HooktrayError(f"--since {word}: neither a length of time nor a date", hint=hint) from None
