"""Pure: the state of a session after one more of its events."""

from __future__ import annotations

from tray.agents.protocol import goes_on, spec
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind
from tray.model.session import SessionState

COMPLETED = "agent_completed"  # a notification that a turn has ended
# Notifications that are not about the turn: no typing for a while, and a sign-in.
WITHOUT_MEANING = frozenset({"auth_success", "idle_prompt"})
ENDS = frozenset({EventKind.COMPLETION_CLAIM, EventKind.TURN_END})
STOPPED = frozenset({EventKind.SESSION_END, EventKind.TURN_INTERRUPTED})
# They happen beside a turn, and also when there is none.
ASIDE = frozenset({
    EventKind.COMPACT_AFTER, EventKind.CONFIG_CHANGED, EventKind.CWD_CHANGED, EventKind.DIRECTORY_ADDED,
    EventKind.FILE_CHANGED, EventKind.INSTRUCTIONS_LOADED, EventKind.MODEL_SWITCH_AFTER,
    EventKind.MODEL_SWITCH_BEFORE, EventKind.OTHER, EventKind.ROUND_END, EventKind.SETUP, EventKind.SLASH_COMMAND,
    EventKind.TEAMMATE_IDLE, EventKind.WORKTREE_CREATE, EventKind.WORKTREE_REMOVE,
})  # fmt: skip


def state_after(event: Event, decision: Decision, before: SessionState) -> SessionState:
    """The state that its session is in now."""
    kind = event.kind
    if kind in ASIDE or event.answered:
        return before
    if kind in ENDS or kind is EventKind.TURN_FAILED:
        if event.subagent:  # the turn goes on
            return before
        if kind is EventKind.TURN_FAILED:
            return SessionState.FAILED
        return SessionState.WORKING if goes_on(event, decision) else SessionState.DONE
    if kind in STOPPED:
        return SessionState.FAILED if before is SessionState.FAILED else SessionState.DONE
    if kind is EventKind.SESSION_START:
        return SessionState.WORKING if before is SessionState.WORKING else SessionState.DONE
    if kind is EventKind.NOTIFICATION:
        return _after_notification(event, before)
    return SessionState.WAITING if _asks(event, decision) else SessionState.WORKING


def _after_notification(event: Event, before: SessionState) -> SessionState:
    if event.topic in WITHOUT_MEANING:
        return before
    return SessionState.DONE if event.topic == COMPLETED else SessionState.WAITING


def _asks(event: Event, decision: Decision) -> bool:
    """Whether the agent's user has to answer before it goes on."""
    if decision.verdict is Verdict.ASK:
        return True
    if event.kind not in (EventKind.PERMISSION_REQUEST, EventKind.ELICITATION):
        return False
    is_open = decision.verdict is Verdict.ABSTAIN and decision.stop is None and decision.rewrite is None
    return is_open and spec(event.agent, event.name).needs_you
