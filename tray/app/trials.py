"""Runs a hook once on a test event after its approval; a failure is shown with *Undo*, which takes the approval back.

Nothing runs before it is approved, so this is the first start of the hook. It runs in a thread of its own; no click
waits for it.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tray.app import Stores, engine
from tray.app.doctor import remedies
from tray.app.doctor.samples import fitting
from tray.engine import trial
from tray.engine.account import account
from tray.engine.approval.controls import Back
from tray.engine.approval.roster import Standing
from tray.engine.runners.command import Gone
from tray.engine.runners.process import CANCELLED
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.model.event import Event
from tray.model.hook import Command, Hook
from tray.paths import Paths
from tray.store.ledger import Approved
from tray.store.tried import Tried
from tray.text import first_line

REMARK = "the trial after its approval: no agent was asked"
ADOPTED = "adopted"  # the folder of hooks that were taken out of an agent's settings
CAUSE = 300  # characters
# What interpreters write about a module or file that is missing.
UNLOADED = re.compile(
    r"ModuleNotFoundError|ImportError|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|cannot load such file"
    r"|Can't locate|No such file or directory|: not found|cannot open"
)
LISTING = phrase("name the missing file under `files:`, or install the package")
SHOWING = phrase("`{command}` shows all of it")
RELEASING = phrase("`hooktray release {agent}` puts the hook back into the agent's settings")

log = logging.getLogger(__name__)


class CancelledError(Exception):
    """The tray ended before the hook had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong with a trial, and what to do about it."""

    hook: str
    cause: str
    cure: str


class Trials:
    """Tries each hook after its approval. `failed` gets what to show, and what takes the approval back.

    `ending` becomes readable when the tray ends, which cancels what still runs.
    """

    def __init__(
        self,
        paths: Paths,
        kept: Stores,
        *,
        spawn: Callable[[Callable[[], object]], bool],
        failed: Callable[[Failure, Back], None],
        changed: Callable[[], None],
        ending: Gone | None = None,
    ) -> None:
        self._paths, self._kept, self._ending = paths, kept, ending
        self._spawn, self._failed, self._changed = spawn, failed, changed

    def approved(self, standing: Standing, back: Back) -> None:
        """A hook was just approved, as `standing` describes it from before; returns at once."""
        one = self._kept.ledger.book.approved.get(standing.key)
        if one is None or one.digest != standing.digest:
            return
        if standing.approved:
            self._kept.copies.carry(standing.approved, one.digest)
        if not self._spawn(lambda: self._try(one, back)):
            log.warning("%s was not tried after its approval: too much runs at the same time", one.hook.name)

    def _try(self, one: Approved, back: Back) -> None:
        failure = attempt(self._paths, self._kept, one, self._ending)
        if self._kept.ledger.book.approved.get(one.hook.key) != one:
            return  # it was taken back or approved anew meanwhile
        if failure:
            self._failed(failure, back)
        self._changed()


def attempt(paths: Paths, kept: Stores, one: Approved, ending: Gone | None = None) -> Failure | None:
    """Run an approved hook once on a test event and write that down; None when it works, or is not to be tried.

    HTTP and prompt hooks are sent nothing, and rules need no trial. A run that the end of the tray cancels shows
    nothing: none of it is written down.
    """
    if not isinstance(one.hook.action, Command) or not one.hook.enabled:
        return None
    with tempfile.TemporaryDirectory(prefix="trial-", dir=paths.state) as folder:
        event = fitting(one, environment=dict(os.environ), cwd=folder)
        if event is None:
            log.info("%s is not tried: no test event meets its matchers", one.hook.name)
            return None
        try:
            failure = _outcome(kept, one, replace(event, id=os.urandom(16).hex()), ending)
        except CancelledError:
            return None
    try:
        Tried(paths.state).put(one.hook.key, one.digest, failure.cause if failure else "")
    except OSError as error:  # the user is notified of the failure all the same
        log.warning("the result of the trial of %s was not written down: %s", one.hook.name, error)
    return failure


def _outcome(kept: Stores, one: Approved, event: Event, ending: Gone | None) -> Failure | None:
    sink = trial.Nobody()
    started, at = time.monotonic(), time.time()
    try:
        judge = engine(kept, sink, sink.later, None, llm=lambda: None, rows=sink, ending=ending)
        tried = trial.run(judge, one, event)
    except HooktrayError as error:
        return Failure(hook=one.hook.name, cause=error.message, cure=error.hint)
    if tried.outcome.cause == CANCELLED:
        raise CancelledError
    decision = replace(tried.decision, remarks=(*tried.decision.remarks, REMARK))
    ms = (time.monotonic() - started) * 1000
    kept.journal.append(account(event, decision, tried.answer, at=at, ms=ms, offline=False), commit=False)
    if tried.word != "failed":
        unread = tried.outcome.reading.warning
        return Failure(hook=one.hook.name, cause=unread, cure=remedies.SPEAK) if unread else None
    cause = remedies.named(tried.outcome.cause, one, kept.copies)
    stderr = remedies.named(tried.outcome.stderr, one, kept.copies)
    return Failure(hook=one.hook.name, cause=_cause(cause, stderr), cure=_cure(cause, stderr, one.hook, event))


def _cause(cause: str, stderr: str) -> str:
    """The cause with the last line of what the hook wrote, which is where interpreters name what is wrong."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    naming = next((line for line in reversed(lines) if UNLOADED.search(line)), lines[-1] if lines else "")
    return first_line(f"{cause}: {naming}" if naming and naming not in cause else cause, CAUSE)


def _cure(cause: str, stderr: str, hook: Hook, event: Event) -> str:
    shown = say(SHOWING, command=f"hooktray test {event.name} --agent {event.agent} --hook {hook.name}")
    cure = say(LISTING) if UNLOADED.search(stderr) else remedies.remedy(cause, hook) or shown
    agent = adopted_from(hook)
    return f"{cure}; {say(RELEASING, agent=agent)}" if agent else cure


def adopted_from(hook: Hook) -> str:
    """The agent whose settings a hook was taken out of by `adopt`; "" for any other hook."""
    folder = Path(hook.source.path).parent
    return folder.name if folder.parent.name == ADOPTED else ""
