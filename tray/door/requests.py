"""The requests of the CLI. `on` is done; whatever loosens a gate is only put before the user (RULINGS 27)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tray.door.listener import Peer
from tray.engine.controls import Controls
from tray.engine.roster import Standing
from tray.errors import HooktrayError
from tray.model.hook import State

WAY = "command line"
WHERE = "open the tray's menu: Approvals"


class Requests:
    """Answers one request at a time, as {"done": …}, {"asked": …} or {"error": …, "hint": …}."""

    def __init__(self, controls: Controls, icon: Callable[[], str], open_page: Callable[[], None]) -> None:
        self._controls = controls
        self._open_page = open_page
        self._icon = icon

    def answer(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        """Never raises for what a caller sends; a request nobody knows is an error in its answer."""
        work = OPERATIONS.get(str(request.get("op")))
        if work is None:
            return {"error": f"unknown request {request.get('op')!r}", "hint": "update hooktray on both sides"}
        try:
            return work(self, request, f"process {peer.pid}")
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def ping(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        return {"done": "running", "pid": os.getpid(), "icon": self._icon()}

    def on(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        self._controls.turn(True, WAY)
        return {"done": "Hooks are on."}

    def open(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        self._open_page()
        return {"done": "The page is open in your browser."}

    def off(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        return self._ask("Switch hooks off", who, lambda: self._controls.turn(False, WAY))

    def pause(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        seconds = request.get("seconds")
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds <= 7 * 86400):
            raise HooktrayError(f"cannot pause for {seconds!r} seconds", hint="write 30m, 1h or tomorrow")
        words = "until tomorrow" if seconds is None else f"for {round(seconds / 60)} minutes"
        return self._ask(f"Pause hooks {words}", who, lambda: self._pause(seconds))

    def approve(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        one = self._one(request)
        if one.waiting:
            return {"asked": f"{one.hook.name} waits for your approval.", "hint": WHERE}
        return self._ask(
            f"Approve {one.hook.name} {one.digest[:8]}",
            who,
            lambda: self._controls.approve(one.key, one.digest, WAY),
        )

    def deny(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        one = self._one(request)
        return self._ask(
            f"Deny {one.hook.name} {one.digest[:8]}", who, lambda: self._controls.deny(one.key, one.digest, WAY)
        )

    def revoke(self, request: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        one = self._one(request)
        return self._ask(f"Revoke {one.hook.name}", who, lambda: self._controls.revoke(one.key, WAY))

    def _pause(self, seconds: float | None) -> None:
        self._controls.pause(seconds, WAY)

    def _ask(self, what: str, who: str, grant: Callable[[], None]) -> Mapping[str, Any]:
        self._controls.ask(what, who, grant)
        return {"asked": f"{what}: only a person can do that.", "hint": WHERE}

    def _one(self, request: Mapping[str, Any]) -> Standing:
        word, event = str(request.get("hook", "")), str(request.get("event", ""))
        found = [one for one in self._controls.find(word) if event in ("", one.hook.match.event)]
        if len(found) == 1 and found[0].state is State.INERT:
            raise HooktrayError(f"`{word}` is inert: {found[0].health}", hint="it can be asked for once that is gone")
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(one.key for one in found)
            raise HooktrayError(f"`{word}` is more than one hook", hint=f"say which: {names}")
        raise HooktrayError(f"no hook is called `{word}`", hint="`hooktray list` shows every hook and its name")


OPERATIONS: Mapping[str, Callable[[Requests, Mapping[str, Any], str], Mapping[str, Any]]] = {
    "approve": Requests.approve,
    "deny": Requests.deny,
    "off": Requests.off,
    "on": Requests.on,
    "open": Requests.open,
    "pause": Requests.pause,
    "ping": Requests.ping,
    "revoke": Requests.revoke,
}
