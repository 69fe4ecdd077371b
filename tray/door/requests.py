"""The requests of the CLI. `on` is done; the rest needs a person, at the caller's terminal or in the menu."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tray.door.listener import Peer
from tray.engine.controls import TERMINAL, Controls
from tray.engine.roster import REMOVED, Standing
from tray.errors import HooktrayError
from tray.model.hook import Rule, State
from tray.strict import nearest
from tray.text import sanitise

WAY = "command line"
GRANTED = "tray, asked for at a command line"
WHERE = "open the tray's menu: Approvals"
NO_ICON = "no icon is shown: ask once more from a terminal where you logged in yourself"


class Terminal(Protocol):
    """Who judges a caller by its pid, and asks a person there."""

    def refuses(self, pid: int) -> str: ...
    def confirms(self, pid: int, question: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody asks for. `do` is told the way in which a person agreed; `in_menu` = the menu shows it anyway."""

    what: str
    question: str
    do: Callable[[str], None]
    approves: bool = False
    in_menu: str = ""


class Requests:
    """Answers one request at a time, as {"done": …}, {"asked": …} or {"error": …, "hint": …}."""

    def __init__(
        self,
        controls: Controls,
        icon: Callable[[], str],
        terminal: Terminal,
        written: Callable[[Standing], Path],
        open_page: Callable[[], None],
        vitals: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._vitals = vitals
        self._controls = controls
        self._open_page = open_page
        self._icon = icon
        self._terminal = terminal
        self._written = written

    def answer(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        """Never raises for what a caller sends; a request nobody knows is an error in its answer."""
        op = str(request.get("op"))
        try:
            if op in DONE:
                return DONE[op](self)
            wish = WISHES.get(op)
            if wish is None:
                return {"error": f"unknown request {op!r}", "hint": "update hooktray on both sides"}
            return self._decide(wish(self, request), peer.pid)
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def queue(self, request: Mapping[str, Any], who: str) -> str:
        """Put it before the user, whoever asks; returns what to say to whoever did."""
        return self._queued(WISHES[str(request["op"])](self, request), who)

    def _queued(self, wish: Wish, who: str) -> str:
        if not wish.in_menu:
            self._controls.ask(wish.what, who, lambda: wish.do(GRANTED))
        return wish.in_menu or f"{wish.what}: only a person can do that."

    def ping(self) -> Mapping[str, Any]:
        return {"done": "running", "pid": os.getpid(), "icon": self._icon()}

    def vitals(self) -> Mapping[str, Any]:
        """What only the tray knows of itself, for `status` and `doctor`."""
        return {**self.ping(), **self._vitals()}

    def on(self) -> Mapping[str, Any]:
        self._controls.turn(True, WAY)
        return {"done": "Hooks are on."}

    def open(self) -> Mapping[str, Any]:
        self._open_page()
        return {"done": "The page is open in your browser."}

    def off(self, request: Mapping[str, Any]) -> Wish:
        return Wish(
            what="Switch hooks off",
            question="Hooktray: switch all hooks off? No guard runs until they are on again.",
            do=lambda way: self._controls.turn(False, way),
        )

    def pause(self, request: Mapping[str, Any]) -> Wish:
        seconds = request.get("seconds")
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds <= 7 * 86400):
            raise HooktrayError(f"cannot pause for {seconds!r} seconds", hint="write 30m, 1h or tomorrow")
        words = "until tomorrow" if seconds is None else f"for {round(seconds / 60)} minutes"
        return Wish(
            what=f"Pause hooks {words}",
            question=f"Hooktray: pause all hooks {words}? No guard runs meanwhile.",
            do=lambda way: self._pause(seconds, way),
        )

    def approve(self, request: Mapping[str, Any]) -> Wish:
        one = self._one(request)
        return Wish(
            what=f"Approve {one.hook.name} {one.digest[:8]}",
            question=f"Hooktray: approve this?\n{self._told(one)}",
            do=lambda way: self._controls.approve(one.key, one.digest, way),
            approves=True,
            in_menu=f"{one.hook.name} waits for your approval." if one.waiting else "",
        )

    def deny(self, request: Mapping[str, Any]) -> Wish:
        one = self._one(request)
        return Wish(
            what=f"Deny {one.hook.name} {one.digest[:8]}",
            question=f"Hooktray: turn this down?\n{self._told(one)}",
            do=lambda way: self._controls.deny(one.key, one.digest, way),
        )

    def revoke(self, request: Mapping[str, Any]) -> Wish:
        one = self._one(request)
        if not one.approved:
            raise HooktrayError(f"`{one.hook.name}` is not approved", hint="`hooktray list` shows where hooks stand")
        return Wish(
            what=f"Revoke {one.hook.name}",
            question=f"Hooktray: take this approval back? It stops running.\n{self._told(one)}",
            do=lambda way: self._controls.revoke(one.key, way),
        )

    def _pause(self, seconds: float | None, way: str) -> None:
        self._controls.pause(seconds, way)

    def _decide(self, wish: Wish, pid: int) -> Mapping[str, Any]:
        """At the caller's terminal when a person sits there, and for an approval only where no icon is."""
        icon = self._icon()
        why = "the tray's icon is there for that" if wish.approves and icon else self._terminal.refuses(pid)
        if not why:
            if not self._terminal.confirms(pid, wish.question):
                raise HooktrayError("not confirmed, nothing was changed", hint="type the letters that were shown")
            wish.do(TERMINAL)
            return {"done": f"{wish.what}: done, and written down as `{TERMINAL}`."}
        return {
            "asked": self._queued(wish, f"process {pid}"),
            "why": "" if wish.approves and icon else why,
            "hint": WHERE if icon else NO_ICON,
        }

    def _told(self, one: Standing) -> str:
        """What exactly it is about; every word of it may be somebody else's."""
        hook = one.hook
        runs = f"rule: {hook.action.verdict.word}" if isinstance(hook.action, Rule) else _runs(one)
        lines = [
            f"  hook     {sanitise(hook.name, 200)}, declared in {sanitise(str(hook.source), 500)}",
            f"  event    {hook.match.event} of {', '.join(hook.match.agents) or 'every agent'}",
            f"  runs     {sanitise(runs, 1000)}",
            f"  digest   {one.digest}",
            f"  state    {one.state.value}" + (f"; {sanitise(one.health, 300)}" if one.health else ""),
            f"  covers   {sanitise(', '.join(one.covered), 1000) or 'its definition alone'}",
        ]
        if one.digest and one.digest != REMOVED:
            lines.append(f"  in full  {self._written(one)}")
        return "\n".join(lines)

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
        likely = nearest(
            word, [name for one in self._controls.hooks() for name in (one.hook.name, _runs(one)) if name]
        )
        hint = f"did you mean `{likely}`?" if likely else "`hooktray list` shows every hook and its name"
        raise HooktrayError(f"no hook is called `{word}`" + (f" for `{event}`" if event else ""), hint=hint)


def _runs(one: Standing) -> str:
    """A command's line, or an address."""
    return str(getattr(one.hook.action, "line", "") or getattr(one.hook.action, "url", ""))


DONE: Mapping[str, Callable[[Requests], Mapping[str, Any]]] = {
    "on": Requests.on,
    "open": Requests.open,
    "ping": Requests.ping,
    "vitals": Requests.vitals,
}
WISHES: Mapping[str, Callable[[Requests, Mapping[str, Any]], Wish]] = {
    "approve": Requests.approve,
    "deny": Requests.deny,
    "off": Requests.off,
    "pause": Requests.pause,
    "revoke": Requests.revoke,
}
