"""The one-shot engine: answers one event when the tray is not there, by the same gates and the same ledger."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tray.errors import HooktrayError
from tray.model.decision import Answer, Decision, Record
from tray.model.event import PAYLOAD_LIMIT, Event, Knock


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`once [--home DIR] [--id ID] [--spent MS] AGENT [EVENT]`, as the relay writes it."""

    agent: str
    event: str
    id: str
    spent: float  # seconds that the relay lost before it came here
    home: str | None


@dataclass(slots=True)
class Afterwards:
    """Work for after the answer, and nobody to tell: without the tray there are no alerts."""

    work: list[Callable[[], object]] = field(default_factory=list)

    def arrived(self, event: Event) -> None:
        """Nobody listens."""

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        """Nobody listens."""


def main(argv: Sequence[str]) -> int:
    """Answer on stdout and stderr; the exit code is the agent's. Our own failure is the neutral answer (law 11)."""
    from tray.dialects import neutral

    body = sys.stdin.buffer.read()
    call = parse(argv)
    after = Afterwards()
    try:
        answer = _answer(call, body, after)
    except HooktrayError:
        answer = neutral(call.agent, call.event, body)
    _write(answer)
    if after.work:
        _detach(after.work)
    return answer.code


def parse(argv: Sequence[str]) -> Call:
    words, options = [], {"--home": "", "--id": "", "--spent": ""}
    rest = iter(argv)
    for word in rest:
        if word in options:
            options[word] = next(rest, "")
        else:
            words.append(word)
    agent, event = (*words, "", "")[:2]
    return Call(
        agent=agent,
        event=event,
        id=options["--id"] or os.urandom(16).hex(),
        spent=float(options["--spent"]) / 1000 if options["--spent"].replace(".", "", 1).isdigit() else 0.0,
        home=options["--home"] or None,
    )


def _answer(call: Call, body: bytes, after: Afterwards) -> Answer:
    from tray.app import engine, stores
    from tray.engine.runners.command import Background
    from tray.paths import locate

    started = time.monotonic()
    kept = stores(locate(call.home), migrate=False, offline=True)
    committed = kept.journal.answer_of(call.id)
    if committed is not None:
        return committed  # the tray decided, wrote it down, and died before it could say so
    judge = engine(kept, after, after.work.append, Background(), offline=True)
    begun = judge.begin(_knock(call, body), spent=call.spent + time.monotonic() - started)
    return begun if isinstance(begun, Answer) else begun(None)


def _knock(call: Call, body: bytes) -> Knock:
    from tray.engine.ancestry import ancestors

    relay = os.getppid()
    above = next(iter(ancestors(relay)), None)
    size = len(body)
    too_long = f"payload of {size} bytes is over the limit of {PAYLOAD_LIMIT}" if size > PAYLOAD_LIMIT else ""
    return Knock(
        agent=call.agent,
        event=call.event,
        id=call.id,
        body=b"" if too_long else body,
        cwd=str(Path.cwd()),
        environment=dict(os.environ),
        pid=relay,
        parent=above.pid if above else 0,
        problem=too_long,
    )


def _write(answer: Answer) -> None:
    for stream, content in ((sys.stdout, answer.stdout), (sys.stderr, answer.stderr)):
        stream.buffer.write(content)
        stream.flush()


def _detach(work: list[Callable[[], object]]) -> None:
    """The agent waits for nothing: let go of it, and run the hooks on in a process of our own."""
    if sys.platform == "win32":
        _run(work)  # no fork there: the agent's own time limit holds for these hooks
        return
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    try:
        _run(work)
    finally:
        os._exit(0)


def _run(work: list[Callable[[], object]]) -> None:
    for one in work:
        one()
