"""What a session does after each of its events."""

from __future__ import annotations

from typing import Any

from agents.recordings import built
from every import every

from tray.engine.session_states import state_after
from tray.model.decision import NO_OPINION, Decision, Verdict
from tray.model.event import Event, EventKind
from tray.model.session import Session, SessionState, by_urgency

WAITING, FAILED, WORKING, DONE = SessionState
DENIED = Decision(verdict=Verdict.DENY)
ASKED = Decision(verdict=Verdict.ASK)


def event(kind: EventKind, *, agent: str = "claude-code", name: str = "X", **more: Any) -> Event:
    return built(id="e", agent=agent, name=name, kind=kind, session="s", **more)


CASES: list[tuple[Event, Decision, SessionState, SessionState]] = [
    (event(EventKind.PROMPT), NO_OPINION, DONE, WORKING),
    (event(EventKind.TOOL_BEFORE), NO_OPINION, WAITING, WORKING),
    (event(EventKind.TOOL_BEFORE), ASKED, WORKING, WAITING),
    (event(EventKind.TOOL_BEFORE), DENIED, WORKING, WORKING),
    (event(EventKind.TURN_END), NO_OPINION, WORKING, DONE),
    (event(EventKind.TURN_END), DENIED, WORKING, WORKING),
    (event(EventKind.TURN_END), Decision(verdict=Verdict.DENY, stop="enough"), WORKING, DONE),
    (event(EventKind.TURN_END, subagent="explore"), NO_OPINION, WORKING, WORKING),
    (event(EventKind.COMPLETION_CLAIM), NO_OPINION, WORKING, DONE),
    (event(EventKind.TURN_FAILED), NO_OPINION, WORKING, FAILED),
    (event(EventKind.TURN_FAILED, subagent="explore"), NO_OPINION, WORKING, WORKING),
    (event(EventKind.TURN_INTERRUPTED), NO_OPINION, WORKING, DONE),
    (event(EventKind.SESSION_START), NO_OPINION, FAILED, DONE),
    (event(EventKind.SESSION_START, topic="compact"), NO_OPINION, WORKING, WORKING),
    (event(EventKind.SESSION_END), NO_OPINION, WAITING, DONE),
    (event(EventKind.SESSION_END), NO_OPINION, FAILED, FAILED),
    (event(EventKind.NOTIFICATION, topic="permission_prompt"), NO_OPINION, WORKING, WAITING),
    (event(EventKind.NOTIFICATION), NO_OPINION, WORKING, WAITING),
    (event(EventKind.NOTIFICATION, topic="idle_prompt"), NO_OPINION, DONE, DONE),
    (event(EventKind.NOTIFICATION, topic="agent_completed"), NO_OPINION, WORKING, DONE),
    (event(EventKind.NOTIFICATION, topic="auth_success"), NO_OPINION, WORKING, WORKING),
    (event(EventKind.PERMISSION_REQUEST, agent="codex", name="PermissionRequest"), NO_OPINION, WORKING, WAITING),
    (
        event(EventKind.PERMISSION_REQUEST, agent="codex", name="PermissionRequest"),
        Decision(verdict=Verdict.ALLOW), WAITING, WORKING,
    ),
    (event(EventKind.PERMISSION_REQUEST), NO_OPINION, WORKING, WORKING),
    (event(EventKind.FILE_CHANGED), NO_OPINION, DONE, DONE),
    (event(EventKind.OTHER), NO_OPINION, FAILED, FAILED),
    (event(EventKind.TOOL_AFTER, answered=True), NO_OPINION, DONE, DONE),
]  # fmt: skip


@every(("event", "decision", "before", "after"), CASES)
def test_each_event_leads_to_its_state(
    event: Event, decision: Decision, before: SessionState, after: SessionState
) -> None:
    assert state_after(event, decision, before) is after


def test_what_waits_longest_is_on_top_and_of_the_others_the_latest() -> None:
    rows = [
        Session(agent="a", session=f"{state.value}{since}", state=state, since=since)
        for state in (DONE, WORKING, WAITING, FAILED)
        for since in (1, 2)
    ]

    assert [one.session for one in sorted(rows, key=by_urgency)] == [
        "waiting1", "waiting2", "failed2", "failed1", "working2", "working1", "done2", "done1",
    ]  # fmt: skip
