"""Answers the requests of the CLI. `on` and `deny` are done at once; the others need the passphrase or a click."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tray.agents.protocol import is_known_event
from tray.agents.registry import AGENTS
from tray.approvals.callers.person import Judgement, Proof
from tray.approvals.controls import PASSPHRASE, TERMINAL, Controls
from tray.errors import HooktrayError
from tray.ipc.approval_requests import ApprovalRequests, TerminalReviews, UserRequest
from tray.ipc.connection import CallerTerminal, PeerCredentials
from tray.ipc.health import TrayHealth
from tray.language import count, phrase, say
from tray.model.event import EventKind
from tray.text import sanitise

COMMAND_LINE = "command line"
EVENT_KINDS = frozenset(kind.value for kind in EventKind)
GRANTED = "tray, asked for at a command line"
WHERE_TO_DECIDE = phrase("open the tray's menu, Approvals, or run `hooktray open`")
NO_ICON = phrase("no icon is shown: run `hooktray open`")
NO_PASSPHRASE = phrase("Approve it in the menu or on the page, or set a passphrase: `hooktray passphrase`")
NO_PASSPHRASE_NO_ICON = phrase("Approve it on the page (`hooktray open`), or set a passphrase: `hooktray passphrase`")

_NO_HEALTH: TrayHealth = {}


class PassphrasePrompt(Protocol):
    """Judges a caller by its pid, and asks for the passphrase at its terminal."""

    def judge(self, pid: int) -> Judgement: ...
    def shares_files(self, pid: int) -> bool: ...
    def confirm(self, pid: int, terminal: CallerTerminal, question: str) -> bool: ...


class UserRequests:
    """Answers one request at a time, as {"done": …}, {"queued": …} or {"error": …, "hint": …}."""

    def __init__(
        self,
        controls: Controls,
        icon: Callable[[], str],
        prompt: PassphrasePrompt,
        reviews: TerminalReviews,
        open_page: Callable[[], Path],
        health: Callable[[], TrayHealth] = lambda: _NO_HEALTH,
        may_open: Callable[[int], bool] = lambda pid: True,
        focus: Callable[[str], str] = str,
        change_passphrase: Callable[[int, CallerTerminal, bool], str] = lambda pid, terminal, forget: "",
        write_link: Callable[[], tuple[Path, int]] = lambda: (Path(), 0),
        report: Callable[[Mapping[str, object], Callable[[], TrayHealth]], Mapping[str, object]] = lambda *_: {},
        is_state_lost: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_state_lost = is_state_lost
        self._report = report
        self._change_passphrase = change_passphrase
        self._focus = focus
        self._may_open = may_open
        self._health = health
        self._controls = controls
        self._open_page = open_page
        self._write_link = write_link
        self._icon = icon
        self._prompt = prompt
        self._approvals = ApprovalRequests(controls, reviews, prompt.shares_files)

    def answer(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: CallerTerminal | None = None
    ) -> Mapping[str, object]:
        """Never raises for what a caller sends; an unknown request is an error in its answer."""
        terminal = terminal if request.get("terminal") is True else None
        op = str(request.get("op"))
        try:
            if op in IMMEDIATE:
                return IMMEDIATE[op](self)
            if op == "report":
                return self._report(request, self.health)
            if op == "open":
                return self.open(peer.pid, elsewhere=request.get("elsewhere") is True)
            if op == "passphrase":
                return self.passphrase(request, peer.pid, terminal)
            if op == "focus":
                return self.focus(str(request.get("session") or ""), peer.pid)
            make_request = NEEDS_PROOF.get(op)
            request = {**request, "pid": peer.pid}
            if make_request is None:
                unknown = say("unknown request {op}", op=repr(op))
                return {"error": unknown, "hint": say("update hooktray on both sides")}
            return self._decide(make_request(self, request), peer.pid, terminal)
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def enqueue(self, request: Mapping[str, object], requester: str) -> str:
        """Put the request before the user; returns the text for the caller."""
        return self._enqueue(NEEDS_PROOF[str(request["op"])](self, request), requester)

    def _enqueue(self, request: UserRequest, requester: str) -> str:
        if not request.in_menu:
            self._controls.add_request(request.summary, requester, lambda: request.run(GRANTED))
        return request.in_menu or say("{what}: only the user can do that", what=request.summary)

    def ping(self) -> TrayHealth:
        return {"done": "running", "pid": os.getpid(), "icon": self._icon()}

    def health(self) -> TrayHealth:
        """What only the running tray knows, for `status` and `doctor`."""
        open_requests = sum(not one.is_undo for one in self._controls.requests)
        return {**self.ping(), "requests": open_requests, **self._health()}

    def on(self) -> Mapping[str, object]:
        self._controls.set_enabled(True, COMMAND_LINE)
        return {"done": say("Hooks are on")}

    def open(self, pid: int, *, elsewhere: bool) -> Mapping[str, object]:
        """Open the page, but not for an agent or a hook: every program of the user can read the file with the link.

        `elsewhere`: the browser is on another machine, so nothing is opened here.
        """
        if not self._may_open(pid):
            raise HooktrayError(
                say("an agent or a hook may not open the page"), hint=say("choose Open page in the tray's menu")
            )
        if elsewhere:
            link, port = self._write_link()
            return {"file": str(link), "port": port}
        file = self._open_page()
        return {
            "done": say("Asked your desktop to open the page"),
            "hint": say("if it does not come, open this file with one within a minute: {file}", file=file),
        }

    def focus(self, session: str, pid: int) -> Mapping[str, object]:
        """Bring a session to the front, but not for an agent, which could cover what the user is about to click."""
        if not self._may_open(pid):
            raise HooktrayError(
                say("an agent or a hook may not change what is on the screen"),
                hint=say("choose Sessions in the tray's menu"),
            )
        return {"done": self._focus(session) or say("It is in front now")}

    def off(self, request: Mapping[str, object]) -> UserRequest:
        return UserRequest(
            summary=say("Switch hooks off"),
            question=say("Hooktray: switch all hooks off? No guard runs until they are on again."),
            run=lambda channel: self._controls.set_enabled(False, channel),
        )

    def pause(self, request: Mapping[str, object]) -> UserRequest:
        seconds = request.get("seconds")
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds <= 7 * 86400):
            why = say("cannot pause for {seconds} seconds", seconds=repr(seconds))
            raise HooktrayError(why, hint=say("write 30m, 1h or tomorrow"))
        agent, session = _agent(request.get("agent")), str(request.get("session") or "")
        whom, long = " ".join(filter(None, (agent, sanitise(session, 60)))), _duration_text(seconds)
        if whom:
            summary = say("Pause hooks of {whom} {long}", whom=whom, long=long)
            question = say("Hooktray: pause the hooks of {whom} {long}? No guard runs there.", whom=whom, long=long)
        else:
            summary = say("Pause hooks {long}", long=long)
            question = say("Hooktray: pause all hooks {long}? No guard runs meanwhile.", long=long)
        return UserRequest(
            summary=summary, question=question, run=lambda channel: self._pause(seconds, channel, agent, session)
        )

    def _pause(self, seconds: float | None, channel: str, agent: str, session: str) -> None:
        self._controls.pause(seconds, channel, agent=agent, session=session)

    def passphrase(
        self, request: Mapping[str, object], pid: int, terminal: CallerTerminal | None
    ) -> Mapping[str, object]:
        """Set, change or forget the passphrase at the command's terminal."""
        if terminal is None:
            raise HooktrayError(say("it has no terminal"), hint=say("run it in a terminal, in the foreground"))
        return {"done": self._change_passphrase(pid, terminal, request.get("forget") is True)}

    def _decide(self, request: UserRequest, pid: int, terminal: CallerTerminal | None) -> Mapping[str, object]:
        """Do it at once if that is safe, else ask for the passphrase; if it cannot ask, let it wait in the menu."""
        judgement = self._prompt.judge(pid)
        is_asked = judgement.proof is Proof.PASSPHRASE
        # After a loss, to deny is to loosen: nothing asks any more about what a denied hook guarded.
        if is_asked and request.tightens and not judgement.reason and not self._is_state_lost():
            return _done(request, TERMINAL)
        if is_asked and terminal is not None and self._controls.passphrase.is_set:
            if self._prompt.confirm(pid, terminal, request.question):
                return _done(request, PASSPHRASE)
            wanted = say("ask once more; a forgotten passphrase is replaced in the tray's menu or on the page")
            raise HooktrayError(say("not confirmed, nothing was changed"), hint=wanted)
        return {
            "queued": self._enqueue(request, say("process {pid}", pid=pid)),
            "why": judgement.reason,
            "hint": self._way(judgement),
        }

    def _way(self, judgement: Judgement) -> str:
        """Returns what the user can do if the passphrase could not be asked for."""
        icon = self._icon()
        where = say(WHERE_TO_DECIDE if icon else NO_ICON)
        if judgement.proof is Proof.REFUSED:
            return judgement.remedy or where
        if self._controls.passphrase.is_set:
            return say(
                "run it in the foreground of a terminal, which asks for your passphrase; or {where}", where=where
            )
        return say(NO_PASSPHRASE if icon else NO_PASSPHRASE_NO_ICON)


def _done(request: UserRequest, channel: str) -> Mapping[str, object]:
    more = request.run(channel)
    done = say("{what}: done, recorded as `{way}`", what=request.summary, way=channel)
    return {"done": done, **({"hint": more} if more else {})}


def split_event(words: Sequence[str], join: Callable[[Sequence[str]], str] = " ".join) -> tuple[str, str]:
    """The event and the hook of `approve EVENT HOOK`; the event is "" where the first word is none."""
    first, *rest = words or ("",)
    if rest and (first in EVENT_KINDS or any(is_known_event(agent, first) for agent in AGENTS)):
        return first, rest[0] if len(rest) == 1 else join(rest)
    return "", first if not rest else join(words)


def _agent(name: object) -> str:
    """Raises HooktrayError for an unknown agent: its pause would apply to nothing."""
    if not name or name in AGENTS:
        return str(name or "")
    raise HooktrayError(say("there is no agent `{name}`", name=sanitise(str(name), 60)), hint=", ".join(AGENTS))


def _duration_text(seconds: float | None) -> str:
    minutes = round((seconds or 0) / 60)
    return say("until tomorrow") if seconds is None else count("for {n} minute", "for {n} minutes", minutes)


IMMEDIATE: Mapping[str, Callable[[UserRequests], Mapping[str, object]]] = {
    "on": UserRequests.on,
    "ping": UserRequests.ping,
    "health": UserRequests.health,
}
NEEDS_PROOF: Mapping[str, Callable[[UserRequests, Mapping[str, object]], UserRequest]] = {
    "approve": lambda requests, request: requests._approvals.approve(request),
    "deny": lambda requests, request: requests._approvals.deny(request),
    "off": UserRequests.off,
    "pause": UserRequests.pause,
    "revoke": lambda requests, request: requests._approvals.revoke(request),
}
