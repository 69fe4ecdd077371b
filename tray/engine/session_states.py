"""The state of a session after one more of its events, and the end of a turn that no event reports."""

from __future__ import annotations

import logging
import os
import threading
from typing import Protocol

from msgspec.structs import replace

from tray.agents.protocol import goes_on
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind
from tray.model.session import SessionState
from tray.threads import start_thread

log = logging.getLogger(__name__)

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
CONTINUES = frozenset({EventKind.TOOL_BEFORE, EventKind.PROMPT})


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
        if event.topic in WITHOUT_MEANING:
            return before
        return SessionState.DONE if event.topic == COMPLETED else SessionState.WAITING
    return SessionState.WAITING if _asks(event, decision) else SessionState.WORKING


def _asks(event: Event, decision: Decision) -> bool:
    """Whether the agent's user has to answer before it goes on."""
    if decision.verdict is Verdict.ASK:
        return True
    if event.kind not in (EventKind.PERMISSION_REQUEST, EventKind.ELICITATION):
        return False
    is_open = decision.verdict is Verdict.ABSTAIN and decision.stop is None and decision.rewrite is None
    return is_open and event.spec.needs_you


class TurnEndListener(Protocol):
    """Is called at the end of a turn, and knows the setting `turn_quiet_seconds`."""

    @property
    def turn_quiet_seconds(self) -> float: ...
    def turn_ended(self, event: Event) -> None: ...


class TurnEndDetector:
    """Finds the end of a turn on agents that only report the end of a round (decision 2).

    Holds the last round of each session until the session was quiet for `turn_quiet_seconds`, or ended.
    """

    def __init__(self, listener: TurnEndListener) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self.waiting: dict[tuple[str, str], tuple[Event, threading.Timer]] = {}  # the last rounds, by session

    def observe(self, event: Event) -> None:
        """A round's end starts the wait, more work cancels it, a session's end cuts it short.

        Takes every event while a round is waiting, else the ends of rounds.
        """
        session = (event.agent, event.session)
        if event.kind is EventKind.ROUND_END:
            self._wait(session, event)
        elif event.kind in CONTINUES:
            self._cancel(session)
        elif event.kind is EventKind.SESSION_END:
            round_end = self._cancel(session)
            if round_end:
                self._listener.turn_ended(_turn(round_end))

    def close(self) -> None:
        with self._lock:
            waiting, self.waiting = self.waiting, {}
        for _, timer in waiting.values():
            timer.cancel()
            timer.join()

    def _wait(self, session: tuple[str, str], event: Event) -> None:
        self._cancel(session)
        timer = threading.Timer(self._listener.turn_quiet_seconds, self._on_quiet, (session, event))
        timer.name = "turn-end"
        timer.daemon = True
        with self._lock:
            try:
                start_thread(timer)
            except RuntimeError as error:
                log.warning("the end of a turn of %s will not be noticed: %s", event.agent, error)
                return
            self.waiting[session] = (event, timer)

    def _on_quiet(self, session: tuple[str, str], event: Event) -> None:
        with self._lock:
            waiting = self.waiting.get(session)
            if waiting is None or waiting[0] is not event:
                return
            del self.waiting[session]
        self._listener.turn_ended(_turn(event))

    def _cancel(self, session: tuple[str, str]) -> Event | None:
        with self._lock:
            waiting = self.waiting.pop(session, None)
        if waiting is None:
            return None
        waiting[1].cancel()
        return waiting[0]


def _turn(round_end: Event) -> Event:
    return replace(round_end, id=os.urandom(16).hex(), kind=EventKind.TURN_END)
