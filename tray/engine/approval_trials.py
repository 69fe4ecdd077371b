"""Runs a hook once on a test event after its approval; a failure is shown with *Undo*, which takes the approval back.

Nothing runs before it is approved, so this is the first start of the hook. It runs in a thread of its own; no click
waits for it.
"""

from __future__ import annotations

import enum
import logging
import os
import re
import shlex
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.approvals import remedies
from tray.approvals.catalog import HookState
from tray.approvals.controls import Refresh
from tray.approvals.undo import Undo
from tray.engine import trial
from tray.engine.ports import EngineOptions
from tray.engine.record import make_record
from tray.engine.samples import sample_event
from tray.engine.stores import Stores
from tray.errors import HooktrayError
from tray.execution.command import Hangup
from tray.execution.process import CANCELLED
from tray.language import phrase, say
from tray.model.event import Event
from tray.model.hook import IMPORTED, Command, Hook
from tray.paths import Paths
from tray.store.ledger import ApprovedHook
from tray.store.trial_results import TrialResults
from tray.text import first_line
from tray.threads import Workers

REMARK = "the trial after its approval: no agent was asked"
CAUSE_LIMIT = 300  # characters
# What interpreters write about a module or file that is missing.
MISSING_MODULE = re.compile(
    r"ModuleNotFoundError|ImportError|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|cannot load such file"
    r"|Can't locate|No such file or directory|: not found|cannot open"
)
LIST_FILE_REMEDY = phrase("name the missing file under `files:`, or install the package")
TRY_YOURS = phrase("`{command}` tries it with an event of yours")
SHOW_REMEDY = phrase("`{command}` shows all of it")
UNDO_REMEDY = phrase("`hooktray import-hooks {agent} --undo` puts it back into the agent's settings")

REMEMBERED = 64  # results of trials

log = logging.getLogger(__name__)


class TrialFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong with a trial, and what to do about it."""

    hook: str
    cause: str
    remedy: str


class TrialState(enum.Enum):
    """How far the trial of an approval has come."""

    NONE = "none"  # there is none
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    UNMATCHED = "unmatched"  # no test event meets the hook's matchers


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    state: TrialState
    failure: TrialFailure | None = None
    text: str = ""  # what the hook did with the test event, and the advice


NOT_TRIED = TrialResult(state=TrialState.NONE)


class TrialAlerts(Protocol):
    """Shows the user that a trial has failed, with what takes the approval back."""

    def trial_failed(self, failure: TrialFailure, undo: Undo, /) -> None: ...


class Trials:
    """Tries each hook after its approval. `refresh` is requested after each trial.

    `stop_signal` becomes readable when the tray ends, which cancels what still runs.
    """

    def __init__(
        self,
        paths: Paths,
        stores: Stores,
        *,
        workers: Workers,
        alerts: TrialAlerts,
        refresh: Refresh,
        stop_signal: Hangup | None = None,
    ) -> None:
        self._paths, self._stores, self._stop_signal = paths, stores, stop_signal
        self._workers, self._alerts, self._refresh = workers, alerts, refresh
        self._results: dict[str, TrialResult] = {}  # by key, of the last approvals
        self._ended = threading.Condition()

    def approved(self, state: HookState, undo: Undo) -> None:
        """A hook was just approved, as `state` describes it from before; returns at once."""
        one = self._stores.ledger.state.approved.get(state.key)
        if one is None or one.digest != state.digest:
            return
        if state.approved:
            self._stores.copies.carry_over(state.approved, one.digest)
        self._set(one, TrialResult(state=TrialState.RUNNING))
        if not self._workers.spawn(partial(self._try, one, undo)):
            self._set(one, NOT_TRIED)
            log.warning("%s was not tried after its approval: too much runs at the same time", one.hook.name)

    def describe(self, key: str, timeout: float) -> str:
        """How the trial of a hook that was just approved went, for the person who waits for it; "" without one."""
        with self._ended:
            self._ended.wait_for(lambda: self._result(key).state is not TrialState.RUNNING, timeout)
            result = self._result(key)
        if result.failure is None:
            return result.text or (say(DESCRIPTIONS[result.state]) if result.state in DESCRIPTIONS else "")
        lines = (
            say("Its test run failed: {cause}", cause=result.failure.cause),
            *filter(None, (result.text,)),
            result.failure.remedy,
            say("Undo: {command}", command=f"hooktray revoke --last {shlex.quote(result.failure.hook)}"),
        )
        return "\n  ".join(lines)

    def _result(self, key: str) -> TrialResult:
        return self._results.get(key, NOT_TRIED)

    def _set(self, one: ApprovedHook, result: TrialResult) -> None:
        with self._ended:
            self._results.pop(one.hook.key, None)
            self._results = dict([*self._results.items(), (one.hook.key, result)][-REMEMBERED:])
            self._ended.notify_all()

    def _try(self, one: ApprovedHook, undo: Undo) -> None:
        result = NOT_TRIED
        try:
            result = run_trial(self._paths, self._stores, one, self._stop_signal)
        finally:
            self._set(one, result)
        if self._stores.ledger.state.approved.get(one.hook.key) != one:
            return  # it was taken back or approved anew meanwhile
        if result.failure:
            self._alerts.trial_failed(result.failure, undo)
        self._refresh.request()


DESCRIPTIONS = {
    TrialState.PASSED: phrase("Its test run went well"),
    TrialState.RUNNING: phrase("Its test run still goes on; `hooktray list` shows what comes of it"),
}


def run_trial(paths: Paths, stores: Stores, one: ApprovedHook, stop_signal: Hangup | None = None) -> TrialResult:
    """Run an approved hook once on a test event and record that, unless it is not to be tried.

    HTTP and prompt hooks are sent nothing, and rules need no trial. A run that the end of the tray cancels shows
    nothing and records nothing.
    """
    if not isinstance(one.hook.action, Command) or not one.hook.enabled:
        return NOT_TRIED
    with tempfile.TemporaryDirectory(prefix="trial-", dir=paths.state) as folder:
        project = Path(folder, "test-run")  # what the journal calls it
        project.mkdir()
        event = sample_event(one, environment=dict(os.environ), cwd=str(project))
        if event is None:
            command = f"hooktray test EVENT --hook {shlex.quote(one.hook.name)} --payload FILE"
            lines = (say("It was not tried: no test event meets its matchers"), say(TRY_YOURS, command=command))
            return TrialResult(state=TrialState.UNMATCHED, text="\n  ".join(lines))
        result = _outcome(stores, one, replace(event, id=os.urandom(16).hex()), stop_signal)
    if result is NOT_TRIED:
        return NOT_TRIED
    failure = result.failure
    try:
        cause, remedy = (failure.cause, failure.remedy) if failure else ("", "")
        TrialResults(paths.state).record(one.hook.key, one.digest, cause, remedy)
    except OSError as error:  # the user is notified of the failure all the same
        log.warning("the result of the trial of %s was not written down: %s", one.hook.name, error)
    return result


def _failed(hook: Hook, cause: str, remedy: str, text: str = "") -> TrialResult:
    failure = TrialFailure(hook=hook.name, cause=cause, remedy=remedy)
    return TrialResult(state=TrialState.FAILED, failure=failure, text=text)


def _outcome(stores: Stores, one: ApprovedHook, event: Event, stop_signal: Hangup | None) -> TrialResult:
    started, at = time.monotonic(), time.time()
    try:
        engine = trial.silent_engine(stores, EngineOptions(stop_signal=stop_signal))
        tried = trial.run(engine, one, event)
    except HooktrayError as error:
        return _failed(one.hook, error.message, error.hint)
    if tried.outcome.cause == CANCELLED:
        return NOT_TRIED
    decision = replace(tried.decision, adjustments=(*tried.decision.adjustments, REMARK))
    ms = (time.monotonic() - started) * 1000
    stores.journal.append(make_record(event, decision, tried.answer, at=at, ms=ms, offline=False), commit=False)
    cause = stores.copies.with_originals(one.digest, tried.outcome.cause)
    if tried.result != "failed":
        text = trial.describe(tried, one.hook, event)
        if tried.outcome.output.warning:
            advice = remedies.remedy(cause, one.hook.name, one.hook.source) or say(remedies.OUTPUT_REMEDY)
            return _failed(one.hook, first_line(cause, CAUSE_LIMIT), advice, text)
        text = "\n  ".join(filter(None, (text, trial.advice(tried, one.hook))))
        return TrialResult(state=TrialState.PASSED, text=text)
    stderr = stores.copies.with_originals(one.digest, tried.outcome.stderr)
    return _failed(one.hook, _cause(cause, stderr), _remedy(cause, stderr, one.hook, event))


def _cause(cause: str, stderr: str) -> str:
    """The cause with the last line of what the hook wrote, which is where interpreters name what is wrong."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if MISSING_MODULE.search(line)), lines[-1] if lines else "")
    return first_line(f"{cause}: {last}" if last and last not in cause else cause, CAUSE_LIMIT)


def _remedy(cause: str, stderr: str, hook: Hook, event: Event) -> str:
    show = say(SHOW_REMEDY, command=f"hooktray test {event.name} --agent {event.agent} --hook {hook.name}")
    if MISSING_MODULE.search(stderr):
        remedy = say(LIST_FILE_REMEDY)
    else:
        remedy = remedies.remedy(cause, hook.name, hook.source) or show
    agent = imported_from(hook)
    return f"{remedy}; {say(UNDO_REMEDY, agent=agent)}" if agent else remedy


def imported_from(hook: Hook) -> str:
    """The agent whose settings a hook was taken out of by `import-hooks`; "" for any other hook."""
    folder = Path(hook.source.path).parent
    return folder.name if folder.parent.name == IMPORTED else ""
