"""A recorded event once more: what the hooks in force make of it. Nothing is sent or written down."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.agents.protocol import parse, render
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions
from tray.engine.record import make_record
from tray.engine.stores import Stores
from tray.engine.trial import silent_engine
from tray.errors import HooktrayError
from tray.files import user_file
from tray.language import count, say
from tray.model.decision import Answer, Decision, Outcome, Record, Status
from tray.model.event import Event, RelayRequest
from tray.model.hook import Command, Hook, Http, Prompt
from tray.store.copies import Bundle, Copies
from tray.store.ledger import ApprovedHook

NOT_SENT = "not asked: a replay sends nothing over the network"


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What would have come out, and what keeps it from being the same event."""

    decision: Decision
    answer: Answer
    inexact: tuple[str, ...]


class ReplayComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One event: the row of what came out then, and a row, which is not kept, of what comes out now."""

    then: Record
    now: Record
    inexact: tuple[str, ...]


def recorded_event(record: Record, environment: Mapping[str, str]) -> Event:
    """The event of a row. Raises HooktrayError when the row does not hold the whole of it (law 5)."""
    if record.skip_reason:
        raise HooktrayError(f"no hook could be asked about it: {record.skip_reason}", hint="choose another decision")
    if record.problem:
        raise HooktrayError(f"no hook could be asked about it: {record.problem}", hint="choose another decision")
    body = record.payload.encode()
    request = RelayRequest(
        agent=record.agent, event=record.event, id=record.id, body=body, cwd=record.cwd, environment=environment
    )
    event = parse(request)
    if event.problem or event.name != record.event:
        raise HooktrayError(
            f"the journal does not hold the whole payload: {event.problem or event.name}",
            hint="the payload was over 64 KB; `hooktray test --payload FILE` takes it from a file",
        )
    return replace(event, test=True)


def inexact(record: Record) -> tuple[str, ...]:
    """Why this is not the very event that came in (decision 31)."""
    masked = (count("{n} value masked", "{n} values masked", record.masked),) if record.masked else ()
    return (*masked, say("the agent's environment was not recorded, so the hooks got Hooktray's"))


def run(engine: Engine, event: Event, record: Record) -> Replay:
    """Ask all hooks that are in force now, but for those that would send it somewhere."""
    hooks = engine.plan(event)
    not_sent = [one.hook.name for one in hooks if uses_network(one.hook)]
    decision = engine.rehearse(event, [one for one in hooks if not uses_network(one.hook)])
    skipped = (Outcome(hook=name, status=Status.SKIPPED, cause=NOT_SENT) for name in not_sent)
    decision = replace(decision, outcomes=(*decision.outcomes, *skipped))
    reasons = inexact(record)
    if not_sent:
        reasons = (*reasons, f"not asked, for a replay sends nothing: {', '.join(not_sent)}")
    return Replay(decision=decision, answer=render(event, decision), inexact=reasons)


def uses_network(hook: Hook) -> bool:
    return isinstance(hook.action, Http | Prompt)


@contextmanager
def replaced_file(approved: ApprovedHook, copies: Copies, file: Path) -> Iterator[tuple[ApprovedHook, Copies]]:
    """The hook with `file` in the place of its approved copy, in a folder of its own that goes away again.

    The ledger knows nothing of it. Raises HooktrayError when it is unclear which of the hook's files is meant.
    """
    manifest = copies.check(approved.digest)
    target = _target(approved.hook, list(manifest.files), file)
    contents = {path: copies.path(approved.digest, path).read_bytes() for path in manifest.files}
    try:
        contents[target] = user_file(file)
    except OSError as error:
        raise HooktrayError(f"--against {file}: {error.strerror}", hint="name a file that you can read") from error
    executable = {path for path in manifest.files if os.access(copies.path(approved.digest, path), os.X_OK)}
    bundle = Bundle(
        hook=approved.hook, contents=contents, executable=frozenset(executable | {target}), pinned=manifest.pinned
    )
    with tempfile.TemporaryDirectory(prefix="hooktray-replay-") as folder:
        drafts = Copies(Path(folder))
        digest = drafts.save(bundle)
        yield replace(approved, digest=digest), drafts


def _target(hook: Hook, files: list[str], file: Path) -> str:
    """Which of the hook's files it replaces: the one at that path, the only one, or the only one called so."""
    if not isinstance(hook.action, Command) or not files:
        raise HooktrayError(f"{hook.name} runs no file", hint="leave out --against: the hook is asked as it is")
    if str(file) in files:
        return str(file)
    alike = [path for path in files if Path(path).name == file.name] if len(files) > 1 else files
    if len(alike) == 1:
        return alike[0]
    names = ", ".join(sorted(Path(path).name for path in files)[:10])
    raise HooktrayError(
        f"--against {file}: {hook.name} runs several files", hint=f"name it like the one that it stands for: {names}"
    )


class LiveReplays:
    """Compares what hooks made of recorded events with what the hooks in force make of them."""

    def __init__(self, stores: Stores, options: EngineOptions) -> None:
        self._stores, self._options = stores, options

    def compare(self, record: Record) -> ReplayComparison:
        """Then and now in the same words, redacted alike. Raises HooktrayError as `recorded_event` does."""
        event, engine = recorded_event(record, dict(os.environ)), silent_engine(self._stores, self._options)
        started, at = time.monotonic(), time.time()
        replay = run(engine, event, record)
        ms = (time.monotonic() - started) * 1000
        now = make_record(event, replay.decision, replay.answer, at=at, ms=ms, offline=False)
        return ReplayComparison(then=record, now=now, inexact=replay.inexact)
