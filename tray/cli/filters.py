"""Which rows of the journal a command is about: its options, and what is wrong with them."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated

from tray.agents.registry import AGENTS, UNKNOWN, UNSUPPORTED
from tray.cli.command_line import Option
from tray.clock import Clock
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.model.event import EventKind
from tray.paths import Paths
from tray.store.journal import Journal, RowFilter
from tray.strict.document import nearest, suggest

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

LABELS = {"failed": "trouble", "rewritten": "rewrite"}  # what `log` shows besides verdicts
VERDICTS = [*(one.word for one in Verdict), *LABELS]

Agent = Annotated[str, Option("--agent", metavar="AGENT", help="Only of this agent.")]
Project = Annotated[str, Option("--project", metavar="PROJECT", help="Only of this project.")]
Session = Annotated[str, Option("--session", metavar="SESSION", help="Only of this session.")]
Event = Annotated[str, Option("--event", metavar="EVENT", help="Only this event, by either of its names.")]
VerdictName = Annotated[
    str, Option("--verdict", metavar="VERDICT", help="Only abstain, allow, ask, deny, unjudged, rewritten or failed.")
]
Hook = Annotated[str, Option("--hook", metavar="HOOK", help="Only where this hook was asked.")]
Text = Annotated[
    str, Option("--text", metavar="TEXT", help="Only where this stands in payload, reason, outputs or answer.")
]
Since = Annotated[
    str,
    Option("--since", metavar="SINCE", help="Only since then: 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00."),
]


def parse_filters(*, verdict: str, since: str, **names: str) -> dict[str, str | float]:
    """What a command wants of the journal, for `row_filter`. Raises HooktrayError with the nearest valid word."""
    if verdict and verdict not in VERDICTS:
        raise HooktrayError(f"--verdict {verdict}: there is no such verdict", hint=suggest(verdict, VERDICTS))
    label = LABELS.get(verdict, "")
    at = parse_since(since) if since else ""
    return {**names, "verdict": "" if label else verdict, "label": label, "since": at}


def check_names(wanted: Mapping[str, object], journal: Journal, paths: Paths) -> None:
    """Raises HooktrayError for an unknown name, with the nearest one.

    A name in a row of the `journal` is known, even if its hook or agent was removed since.
    """
    agent, event, hook = (str(wanted[name]) for name in ("agent", "event", "hook"))
    if agent and not journal.recent(1, RowFilter(agent=agent), brief=True):
        agents = (*AGENTS, *UNSUPPORTED, UNKNOWN)
        if agent not in agents:
            raise HooktrayError(f"--agent {agent}: unknown agent", hint=suggest(agent, agents))
    if event and not journal.recent(1, RowFilter(event=event), brief=True):
        native = {name for known in AGENTS.values() for name in known.events}
        _check_known("event", event, {*(kind.value for kind in EventKind), *native})
    if hook and not journal.recent(1, RowFilter(hook=hook), brief=True):
        from tray.engine.catalogs import open_catalog  # reads sources, for a name that is in no row

        catalog = open_catalog(paths)
        catalog.refresh()
        _check_known("hook", hook, {one.hook.name for one in catalog.states})


def _check_known(name: str, word: str, known: Collection[str]) -> None:
    if word in known:
        return
    near = nearest(word, known)
    hint = f"did you mean `{near}`?" if near else "`hooktray log` shows the latest, `hooktray list` the hooks"
    raise HooktrayError(f"--{name} {word}: the journal holds no such {name}", hint=hint)


def parse_since(word: str, clock: Clock = time) -> float:
    """`2h` ago, or a date with or without a time, in seconds since the epoch. Raises HooktrayError."""
    length = re.fullmatch(r"(\d{1,6})([smhd])", word)
    if length:
        return clock.time() - int(length[1]) * UNITS[length[2]]
    try:
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError, OSError):
        hint = "write 30m, 2h, 7d, 2026-05-01 or 2026-05-01T14:00"
        raise HooktrayError(f"--since {word}: neither a length of time nor a date", hint=hint) from None
