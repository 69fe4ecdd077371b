"""Answers `/hooks …` typed into an agent. A prompt can be forged, so nothing is loosened here, only asked for."""

from __future__ import annotations

from collections.abc import Callable

from tray.door.requests import WHERE, Requests
from tray.engine.controls import Controls, seconds
from tray.errors import HooktrayError
from tray.text import sanitise

HELP = (
    "Hooktray: /hooks list, doctor, help and on are answered here; "
    "off, pause, approve, deny and revoke wait for your click in the tray's menu"
)
SHOWN = 30  # hooks


class Typed:
    """One answer a call, as text for the person who typed."""

    def __init__(self, controls: Controls, requests: Requests, examined: Callable[[], str] = str) -> None:
        self._examined = examined
        self._controls = controls
        self._requests = requests

    def __call__(self, words: tuple[str, ...], agent: str) -> str:
        word, *rest = words or ("help",)
        try:
            return self._answer(word, rest, agent)
        except HooktrayError as error:
            return f"{error.message}; {error.hint}"

    def _answer(self, word: str, rest: list[str], agent: str) -> str:
        match word:
            case "list":
                return self._list()
            case "doctor":
                return f"{self._list()}\n{self._examined()}\nThe whole examination: `hooktray doctor` in a terminal"
            case "on":
                self._controls.turn(True, f"typed into {agent}")
                return "Hooks are on"
            case "off":
                return self._asked({"op": "off"}, agent)
            case "pause":
                return self._asked({"op": "pause", "seconds": seconds(" ".join(rest) or "30m")}, agent)
            case "approve" | "deny" | "revoke":
                event, hook = (rest[0], " ".join(rest[1:])) if len(rest) > 1 else ("", " ".join(rest))
                return self._asked({"op": word, "event": event, "hook": hook}, agent)
            case _:
                return HELP

    def _asked(self, request: dict[str, object], agent: str) -> str:
        said = self._requests.queue(request, f"a prompt in {agent}")
        return f"{said} {WHERE[0].upper()}{WHERE[1:]}"

    def _list(self) -> str:
        rows = [
            f"{sanitise(one.hook.name, 60)} · {one.hook.match.event} · {one.state}" for one in self._controls.hooks()
        ]
        switch = "on" if self._controls.state.enabled else "off"
        more = [f"and {len(rows) - SHOWN} more: `hooktray list`"] if len(rows) > SHOWN else []
        return "\n".join([f"Hooks are {switch}", *(rows[:SHOWN] or ["No hooks yet"]), *more])
