"""Why a hook that matched may not run, or no longer counts: the switch, nesting, its one turn, a cap on refusals.

The gates are passed at each spawn, never cached.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from tray.agents.protocol import fit, goes_on
from tray.agents.registry import AGENTS
from tray.engine.merge import merge
from tray.errors import StoreError
from tray.model.decision import Decision, Gate, HookOutput, Outcome, Status, Verdict
from tray.model.event import STOP_KINDS, Event, EventKind
from tray.model.hook import Hook, Rule
from tray.store.ledger import ApprovedHook
from tray.store.sessions import Sessions
from tray.store.switch import Switch

CAP = 8  # refusals in a row; the next one lets the agent end
MAX_CAP = 1000
# A refusal of these makes the agent go on, so that a hook which always refuses would never let it end.
# A claim of completion has no such limit: a false claim stays false, however often an agent repeats it.
CAPPED_KINDS = frozenset({EventKind.SUBAGENT_END, EventKind.TEAMMATE_IDLE, EventKind.TURN_END})
ENDS_TURN = frozenset({EventKind.TURN_END, EventKind.TURN_FAILED, EventKind.TURN_INTERRUPTED})
BOUNDARIES = frozenset({EventKind.PROMPT, EventKind.SESSION_END, EventKind.SESSION_START})
COMPACTED = "compact"  # a session "starts" again in the midst of a turn

log = logging.getLogger(__name__)


def apply_switch(approved: ApprovedHook, switch: Switch) -> ApprovedHook:
    """Treat a hook that the menu switched off like one with `enabled: false`."""
    if not switch.is_off(approved.hook.key):
        return approved
    return replace(approved, hook=replace(approved.hook, enabled=False))


MAX_DEPTH = 3  # levels of hooks below which other hooks are still asked


def gate(hook: Hook, event: Event, *, switch_gate: Gate | None) -> Gate | None:
    """The first reason that holds: the master switch, the hook's own, an event from below this hook or from too deep.

    Rules start nothing, so they count wherever the event comes from. Approval is not checked here: a hook that is not
    approved never reaches a plan.
    """
    if switch_gate is not None:
        return switch_gate
    if not hook.enabled:
        return Gate.DISABLED
    if isinstance(hook.action, Rule) or not event.depth:
        return None
    if event.depth > MAX_DEPTH:
        return Gate.TOO_DEEP
    return Gate.NESTED if hook.key in event.above else None


class TurnLimits:
    """What the engine remembers of turns: which hooks had their one turn, and how often an end was refused.

    A disk that cannot be written never stops a hook: then it has its turn, and its refusal counts. Callers
    call it only for events of BOUNDARIES, CAPPED_KINDS and ENDS_TURN, and for hooks with `once`.

    What `hooktray test` sends did not happen: it is neither counted nor remembered.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def begin(self, event: Event) -> None:
        """Before any hook is asked: a prompt begins a turn; a session's end is the end of all that we know of it."""
        if event.test or self._is_continued(event):
            return
        starts = event.kind is EventKind.SESSION_START and event.topic != COMPACTED
        if event.kind is EventKind.PROMPT or starts:
            with _disk_failure_logged():
                self._sessions.clear(event.agent, event.session, turn=True)
        elif event.kind is EventKind.SESSION_END:
            with _disk_failure_logged():
                self._sessions.clear(event.agent, event.session)

    def _is_continued(self, event: Event) -> bool:
        """Whether the prompt is the reason of a refused end, which some agents report as a prompt: no turn begins."""
        if event.kind is not EventKind.PROMPT:
            return False
        with _disk_failure_logged():
            return self._sessions.marked(event.agent, event.session, _reason_key(event.prompt))
        return False

    def end(self, event: Event, decision: Decision) -> None:
        """After its decision: an end of turn that was not refused is one."""
        if not (event.answered or event.test) and not goes_on(event, decision):
            with _disk_failure_logged():
                self._sessions.clear(event.agent, event.session, turn=True)

    def claim_once(self, event: Event, hook: Hook) -> bool:
        """Take the one turn that this hook has in the session; False if it has had it."""
        if event.test:
            return True
        with _disk_failure_logged():
            return self._sessions.mark(event.agent, event.session, _once_key(hook))
        return True

    def release_once(self, event: Event, hook: Hook) -> None:
        """Give the turn back: the hook did not start."""
        if not event.test:
            with _disk_failure_logged():
                self._sessions.unmark(event.agent, event.session, _once_key(hook))

    def apply_cap(self, event: Event, decision: Decision) -> Decision:
        """The decision, without its refusal of an end if that is one too many in a row."""
        if event.test:
            return decision
        agent, session, name, number = event.agent, event.session, _refusals_key(event), 0
        if not goes_on(event, decision):
            with _disk_failure_logged():
                self._sessions.unmark(agent, session, name)
            return decision
        with _disk_failure_logged():
            number = self._sessions.increment(agent, session, name, turn=True)
        if number <= _cap(event.environment):
            with _disk_failure_logged():
                self._sessions.mark(agent, session, _reason_key(decision.reason or decision.context), turn=True)
            return decision
        with _disk_failure_logged():
            self._sessions.unmark(agent, session, name)
        outcomes = [_ignored_refusal(event, outcome, number - 1) for outcome in decision.outcomes]
        return fit(event, merge(outcomes, decision.hook_times))


def _ignored_refusal(event: Event, outcome: Outcome, number: int) -> Outcome:
    """The outcome without its part in the refusal, and with a warning for the user."""
    output = outcome.output
    reminds = bool(output.context) and event.kind in STOP_KINDS
    if output.verdict is Verdict.ABSTAIN and output.rewrite is None and output.stop is None and not reminds:
        return outcome
    cause = f"the end was refused {number} times in a row, so it is let through"
    rest = HookOutput(context="" if reminds else output.context, notes=output.notes, warning=cause)
    status = Status.SKIPPED if outcome.status is Status.OK else outcome.status
    causes = "; ".join(filter(None, (outcome.cause, cause)))
    return replace(outcome, status=status, gate=Gate.LOOP_CAP, cause=causes, output=rest)


def _once_key(hook: Hook) -> str:
    return f"once:{hook.key}"


def _reason_key(reason: str) -> str:
    return f"reason:{hashlib.sha256(reason.strip().encode('utf-8', 'replace')).hexdigest()}"


def _refusals_key(event: Event) -> str:
    """Each subagent has its own end."""
    who = event.payload.get("agent_id") if event.kind is EventKind.SUBAGENT_END else event.subagent
    return f"refused:{event.kind.value}:{who if isinstance(who, str) else ''}"


def _cap(environment: Mapping[str, str]) -> int:
    """A user who raised an agent's own cap means ours, too."""
    variables = (known.rules.refusal_cap_variable for known in AGENTS.values())
    raised = next((environment[name] for name in variables if name in environment), "")
    return min(max(CAP, int(raised)), MAX_CAP) if raised.isascii() and raised.isdigit() and len(raised) < 9 else CAP


@contextmanager
def _disk_failure_logged() -> Iterator[None]:
    """Log that a session could not be remembered, and continue after the block."""
    try:
        yield
    except StoreError as error:
        log.warning("a session could not be remembered: %s", error.message)
