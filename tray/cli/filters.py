"""Which rows of the journal a command is about: its options, and what is wrong with them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

import typer

from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.strict import meant

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

Agent = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Only of this agent.")]
Project = Annotated[str, typer.Option("--project", metavar="PROJECT", help="Only of this project.")]
Session = Annotated[str, typer.Option("--session", metavar="SESSION", help="Only of this session.")]
Event = Annotated[str, typer.Option("--event", metavar="EVENT", help="Only this event, by either of its names.")]
Word = Annotated[str, typer.Option("--verdict", metavar="VERDICT", help="Only abstain, allow, ask or deny.")]
Hook = Annotated[str, typer.Option("--hook", metavar="HOOK", help="Only where this hook was asked.")]
Text = Annotated[
    str, typer.Option("--text", metavar="TEXT", help="Only where this stands in payload, reason, outputs or answer.")
]
Since = Annotated[
    str,
    typer.Option("--since", metavar="SINCE", help="Only since then: 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00."),
]


def filters(
    *, agent: str, project: str, session: str, event: str, verdict: str, hook: str, text: str, since: str
) -> dict[str, Any]:
    """What Journal.recent takes. Raises HooktrayError with the nearest word that would do."""
    from tray.dialects import DIALECTS

    if agent and agent not in DIALECTS:
        raise HooktrayError(f"--agent {agent}: there is no such agent", hint=meant(agent, DIALECTS))
    words = [one.word for one in Verdict]
    if verdict and verdict not in words:
        raise HooktrayError(f"--verdict {verdict}: there is no such verdict", hint=meant(verdict, words))
    return {
        "agent": agent,
        "project": project,
        "session": session,
        "event": event,
        "verdict": Verdict[verdict.upper()] if verdict else None,
        "hook": hook,
        "text": text,
        "since": moment(since) if since else "",
    }


def moment(word: str, clock: Callable[[], float] = time.time) -> float:
    """`2h` ago, or a date with or without a time, in seconds since the epoch. Raises HooktrayError."""
    span = re.fullmatch(r"(\d{1,6})([smhd])", word)
    if span:
        return clock() - int(span[1]) * UNITS[span[2]]
    try:
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError, OSError):
        hint = "write 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00"
        raise HooktrayError(f"--since {word}: neither a length of time nor a date", hint=hint) from None
