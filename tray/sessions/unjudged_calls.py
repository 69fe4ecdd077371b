"""Guarded calls that nothing could judge: the relay notes them, and the tray journals and announces them once.

    AGENT␟EVENT        one line a call, in `unjudged-calls` in the state folder

The relay writes a line when neither the tray nor the one-shot engine can judge and the agent cannot ask its user.
tray/sessions/call_audit.py finds calls that ran without an event to the relay.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import stat
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, display_name
from tray.agents.relay_table import SEPARATOR, UNJUDGED
from tray.language import count, say
from tray.model.decision import Record, Verdict
from tray.paths import Paths
from tray.store.journal import Journal
from tray.text import sanitise

LIMIT = 1 << 20  # bytes of a file that are read
DAY = 86400.0  # seconds for which `status` and `doctor` report them
NAME_LIMIT = 80  # characters of an agent and of an event
# A link or a named pipe is not the relay's, and must not stop the tray.
READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

log = logging.getLogger(__name__)

Calls = Mapping[tuple[str, str], int]  # by agent and event


class UnjudgedAnnouncer(Protocol):
    """The part of the alert service that is used here."""

    def unjudged(self, title: str, text: str, row: Record) -> None: ...


class RowView(Protocol):
    """Shows rows in the menu and on the page; returns those that were not there yet."""

    def publish_offline(self, records: Sequence[Record]) -> list[Record]: ...


def lately(journal: Journal) -> list[tuple[int, Record]]:
    """Returns for each agent with unjudged calls in the last day the number of rows, and the last row."""
    return journal.unjudged(time.time() - DAY)


def number(paths: Paths) -> int:
    """How many calls no tray has announced yet."""
    return sum(sum(_read(file).values()) for file in (_file(paths), _taken(paths)))


def announce(paths: Paths, journal: Journal, alerts: UnjudgedAnnouncer) -> list[Record]:
    """Journal and announce them, once, and take the file away; returns their rows."""
    file, taken = _file(paths), _taken(paths)
    _remove_other(taken)
    with contextlib.suppress(OSError):
        if not taken.exists():  # else an earlier tray ended before it had announced it
            file.replace(taken)
    calls = _read(taken)
    at = _time(taken) if calls else 0.0
    rows = [_record(agent, event, times, at) for (agent, event), times in calls.items()]
    for row in rows:
        journal.append(row, commit=True)
    if rows:
        agents = dict.fromkeys(display_name(agent) for agent, _ in calls)
        total = sum(calls.values())
        title = count(
            "Hooktray could not judge, and {n} guarded call went on",
            "Hooktray could not judge, and {n} guarded calls went on",
            total,
        )
        text = say("{agents} cannot ask you · `hooktray doctor` shows what is wrong", agents=", ".join(agents))
        log.warning("%s: %s", title, text)
        alerts.unjudged(title, text, rows[-1])
    _remove_other(taken)
    with contextlib.suppress(OSError):
        taken.unlink()
    return rows


def _remove_other(path: Path) -> None:
    """An empty folder in place of the file would keep all later calls from being announced."""
    with contextlib.suppress(OSError):
        path.rmdir()


def _record(agent: str, event: str, times: int, at: float) -> Record:
    kind = spec(agent, event).kind.value if agent in AGENTS else ""
    reason = count(
        "{n} guarded call went on: neither the tray nor the one-shot engine could judge",
        "{n} guarded calls went on: neither the tray nor the one-shot engine could judge",
        times,
    )
    return Record(
        id=secrets.token_hex(16),
        at=at,
        agent=agent,
        session="",
        project="",
        event=event,
        kind=kind,
        verdict=Verdict.UNJUDGED,
        reason=reason,
        ms=0.0,
    )


def _read(file: Path) -> Calls:
    try:
        with open(os.open(file, READING), "rb") as opened:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return {}
            lines = opened.read(LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    rows = (line.split(SEPARATOR) for line in lines)
    return Counter((sanitise(row[0], NAME_LIMIT), sanitise(row[1], NAME_LIMIT)) for row in rows if len(row) == 2)


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return time.time()


def _file(paths: Paths) -> Path:
    return paths.state / UNJUDGED


def _taken(paths: Paths) -> Path:
    return paths.state / f"{UNJUDGED}.taken"
