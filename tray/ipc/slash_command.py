"""Answers `/hooks …` typed into an agent. A prompt can be forged, so nothing is loosened here, only requested."""

from __future__ import annotations

from typing import Protocol

from tray.approvals.catalog import HookState, command_or_url
from tray.approvals.controls import Controls
from tray.approvals.review import describe_action
from tray.approvals.user_action import parse_duration
from tray.errors import HooktrayError
from tray.ipc.arguments import split_event
from tray.ipc.requests import WHERE_TO_DECIDE, CommandRequests
from tray.language import count, phrase, say
from tray.model.hook import ApprovalState
from tray.text import sanitise

HELP = (
    phrase("Hooktray: {word} list, doctor, help and on are answered here"),
    phrase("off, pause, approve, deny and revoke wait for your click in the tray's menu"),
)
LIST_LIMIT = 30  # hooks


class Doctor(Protocol):
    """Returns what an examination of Hooktray has found in a few seconds."""

    def summary(self) -> str: ...


class HooksCommand:
    """Answers what was typed with a text for the person who typed it."""

    def __init__(self, controls: Controls, requests: CommandRequests, doctor: Doctor) -> None:
        self._doctor = doctor
        self._controls = controls
        self._requests = requests

    def answer(self, words: tuple[str, ...], agent: str) -> str:
        own, *rest = words
        word, *rest = rest or ["list"]
        try:
            match word:
                case "list":
                    return self._list(own)
                case "doctor":
                    hint = say("The whole examination: `hooktray doctor` in a terminal")
                    return f"{self._list(own)}\n{self._doctor.summary()}\n{hint}"
                case "on":
                    self._controls.set_enabled(True, f"typed into {agent}")
                    return say("Hooks are on")
                case "off":
                    return self._request({"op": "off"}, agent)
                case "pause":
                    return self._request({"op": "pause", "seconds": parse_duration(" ".join(rest) or "30m")}, agent)
                case "approve" | "deny" | "revoke":
                    event, hook = split_event(rest)
                    return self._request({"op": word, "event": event, "hook": hook}, agent)
                case _:
                    return "; ".join(say(text, word=own) for text in HELP)
        except HooktrayError as error:
            return f"{error.message}; {error.hint}"

    def _request(self, request: dict[str, object], agent: str) -> str:
        answer = self._requests.enqueue(request, say("a prompt in {agent}", agent=agent))
        return f"{answer} · {say(WHERE_TO_DECIDE)}"

    def _list(self, own: str) -> str:
        states = self._controls.hooks()
        switch = say("Hooks are on") if self._controls.state.enabled else say("Hooks are off")
        files = dict.fromkeys(one.hook.source.path for one in states)
        left = len(states) - LIST_LIMIT
        more = [count("and {n} more: `hooktray list`", "and {n} more: `hooktray list`", left)] if left > 0 else []
        rows = [_row(one, own) for one in states[:LIST_LIMIT]] or [say("No hooks yet")]
        return "\n".join([switch, *(sanitise(path, 500) for path in files), *rows, *more])


def _row(one: HookState, own: str) -> str:
    """One hook: whether it runs, what it is asked about and runs, how it is; for one that waits, what to type."""
    hook = one.hook
    event, action = hook.match.native or hook.match.event, sanitise(describe_action(hook.action), 200)
    runs = "✓" if one.approved and one.state is not ApprovalState.INACTIVE else "✗"
    parts = [f"{runs} {sanitise(hook.name, 80)}", f"{event} {action}", one.state.value, sanitise(one.problem, 300)]
    if one.waiting and one.digest:
        word = sanitise(command_or_url(hook) or hook.name, 200)
        parts.append(say("to approve it, type: {command}", command=f"{own} approve {event} {word}"))
    return " · ".join(filter(None, parts))
