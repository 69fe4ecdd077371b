"""The one-shot engine: answers one event when the tray is not there, by the same gates and the same ledger."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tray import __version__
from tray.errors import HooktrayError
from tray.model.decision import Answer, Decision, Record
from tray.model.event import PAYLOAD_LIMIT, Event, Knock
from tray.paths import locate
from tray.store.journal import Journal
from tray.store.writer import Committed


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
    """What is left to do once the answer is out. Nobody is told anything: without the tray there are no alerts."""

    work: list[Callable[[], object]] = field(default_factory=list)
    rows: list[Record] = field(default_factory=list)
    journal: Journal | None = None

    def append(self, record: Record, *, commit: bool) -> object:
        """A blocking or rewriting answer waits a moment for its row (law 7); other rows come after the answer."""
        if self.journal is None:
            return None
        if not commit or self.journal.append_now(record, wait=0.05) is not Committed.DONE:
            self.rows.append(record)
        return None

    def take(self, work: Callable[[], object]) -> bool:
        self.work.append(work)
        return True

    def write_rows(self) -> None:
        while self.rows and self.journal:
            self.journal.append_now(self.rows.pop(0), wait=1.0)

    def run(self) -> None:
        """The hooks that nobody waits for, then their rows."""
        for one in self.work:
            one()
        self.write_rows()

    def arrived(self, event: Event, *, answered: bool) -> None:
        """Nobody listens."""

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        """Nobody listens."""


def main(argv: Sequence[str]) -> int:
    """Answer on stdout and stderr; the exit code is the agent's. Our own failure is the neutral answer (law 11)."""
    from tray.dialects import neutral

    call, body, after = parse(argv), b"", Afterwards()
    try:
        body = sys.stdin.buffer.read()
        answer = _answer(call, body, after)
    except HooktrayError:
        answer = neutral(call.agent, call.event, body)  # no database yet, or not one of ours
    except Exception as error:  # noqa: BLE001 - the last place that can answer
        _log(call, error)
        answer = neutral(call.agent, call.event, body)
    with contextlib.suppress(OSError):  # the agent has closed its end
        _write(answer)
    after.write_rows()
    if after.work:
        _detach(after)
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
        spent=int(options["--spent"]) / 1000 if re.fullmatch(r"[0-9]{1,9}", options["--spent"]) else 0.0,
        home=options["--home"] or None,
    )


def _answer(call: Call, body: bytes, after: Afterwards) -> Answer:
    from tray.app import engine, stores

    started = time.monotonic()
    kept = stores(locate(call.home), migrate=False, offline=True)
    committed = kept.journal.answer_of(call.id, digest=hashlib.sha256(body).hexdigest())
    if committed is not None:
        return committed  # the tray decided, wrote it down, and died before it could say so
    after.journal = kept.journal
    judge = engine(kept, after, after.take, None, rows=after, offline=True)
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
        cwd=_cwd(),
        environment=dict(os.environ),
        pid=relay,
        parent=above.pid if above else 0,
        problem=too_long,
    )


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""  # the folder is gone


def _log(call: Call, error: Exception) -> None:
    """Our bug goes to the log with what it takes to find it, never to the agent's screen."""
    with contextlib.suppress(OSError), (locate(call.home).logs / "hooktray.log").open("a", encoding="utf-8") as file:
        file.write(f"hooktray {__version__} once: {call.agent} {call.event}\n")
        traceback.print_exception(error, file=file)


def _write(answer: Answer) -> None:
    for stream, content in ((sys.stdout, answer.stdout), (sys.stderr, answer.stderr)):
        stream.buffer.write(content)
        stream.flush()


def _detach(after: Afterwards) -> None:
    """The agent waits for nothing: let go of it, and run the hooks on in a process of our own."""
    if sys.platform == "win32":
        after.run()  # no fork there: the agent's own time limit holds for these hooks
        return
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    try:
        after.run()
    finally:
        os._exit(0)
