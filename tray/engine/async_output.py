"""Keeps what hooks print that run beside the answer, and adds it to a later event of the session."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from tray.errors import StoreError
from tray.model.decision import HookOutput, Outcome, Result, Status, Verdict
from tray.model.event import STOP_KINDS, Capability, Event, EventKind
from tray.model.hook import AsyncMode, Hook
from tray.store.sessions import SessionNote, Sessions

REWAKE_CODE = 2  # the exit code with which a hook wants the agent to go on

log = logging.getLogger(__name__)


class AsyncOutput:
    """Output of hooks that run beside the answer: `save` keeps it, `take` returns it for a later event.

    No relay can wake an agent, so the agent gets the output as context with the session's next event that can carry
    context. Output that must make the agent go on refuses the end of its turn, if that comes first.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def save(self, event: Event, hook: Hook, result: Result, output: HookOutput) -> HookOutput:
        """Keep what the agent must still get; returns the rest, for the hook's own row."""
        if hook.async_mode is AsyncMode.REWAKE and result.code == REWAKE_CODE:
            note = SessionNote(hook=hook.name, text=_text(result.stderr) or _text(result.stdout), wake=True)
            output = replace(output, verdict=Verdict.ABSTAIN, reason="wants the agent to go on", problem="")
        else:
            note = SessionNote(hook=hook.name, text=output.context)
        if note.text and event.kind is not EventKind.SESSION_END and not event.test:
            try:
                self._sessions.add_note(event.agent, event.session, note)
            except StoreError as error:
                return HookOutput(problem=f"its output could not be kept: {error.message}")
        return _without_verdict(output)

    def take(self, event: Event) -> list[Outcome]:
        """The output that waits for this session, as outcomes of its hooks. A subagent gets none."""
        can = event.spec.can
        ending = event.kind is EventKind.TURN_END and Capability.DENY in can
        informs = Capability.CONTEXT in can and event.kind not in STOP_KINDS  # there it would make the agent go on
        if event.subagent or event.problem or event.test or not (ending or informs):
            return []
        try:
            notes = self._sessions.take_notes(event.agent, event.session, wake=not informs)
        except StoreError as error:
            log.warning("the saved output of hooks could not be taken: %s", error.message)
            return []
        outcomes = []
        for note in notes:
            output = HookOutput(context=note.text) if informs else HookOutput(verdict=Verdict.DENY, reason=note.text)
            cause = "said beside an earlier event's answer"
            outcomes.append(Outcome(hook=note.hook, status=Status.OK, output=output, cause=cause))
        return outcomes


def _without_verdict(output: HookOutput) -> HookOutput:
    """A verdict and a rewrite came too late; notes for the user, and what went wrong, still count."""
    reason = output.reason
    if output.verdict is not Verdict.ABSTAIN or output.rewrite or output.stop is not None:
        word = "a rewrite" if output.verdict is Verdict.ABSTAIN else output.verdict.word
        reason = f"{word} came after the answer" + (f": {reason}" if reason else "")
    return HookOutput(reason=reason, notes=output.notes, warning=output.warning, problem=output.problem)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()
