"""Answers the requests of the CLI. `on` and `deny` are done at once; the others need the passphrase or a click."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from tray.agents.registry import AGENTS
from tray.approvals.callers.click_check import ClickTrust
from tray.approvals.callers.person import Judgement, Proof
from tray.approvals.controls import PASSPHRASE, TERMINAL, Controls
from tray.approvals.user_action import UserAction
from tray.errors import HooktrayError
from tray.ipc.approval_requests import ApprovalRequests, TerminalReviews, UserRequest
from tray.ipc.connection import CallerTerminal, PeerCredentials
from tray.ipc.health import HealthSource, TrayHealth
from tray.ipc.terminal import PassphraseChange, TerminalPrompt, TrayFacts
from tray.language import count, phrase, say
from tray.model.session import Session
from tray.sessions.session_tracker import SessionTracker
from tray.text import sanitise

COMMAND_LINE = "command line"
GRANTED = "tray, asked for at a command line"
WHERE_TO_DECIDE = phrase("open the tray's menu, Approvals, or run `hooktray open`")
NO_ICON = phrase("no icon is shown: run `hooktray open`")
NO_PASSPHRASE = phrase("Approve it in the menu or on the page, or set a passphrase: `hooktray passphrase`")
NO_PASSPHRASE_NO_ICON = phrase("Approve it on the page (`hooktray open`), or set a passphrase: `hooktray passphrase`")


class PageLinks(Protocol):
    """Opens the page, or writes a link to it for a browser on another machine."""

    def open(self) -> Path: ...
    def write_link(self) -> tuple[Path, int]: ...


class TrayStatus(HealthSource, Protocol):
    """What only the running tray knows."""

    @property
    def icon_name(self) -> str:
        """Which icon is shown now; "" for none."""


class CommandFocus(Protocol):
    """Brings the window of a session to the front, and returns a note about it. Raises HooktrayError."""

    def go_now(self, session: Session) -> str: ...


class ReportMaker(Protocol):
    """Gathers what a reading command shows."""

    def make(self, request: Mapping[str, object], tray: HealthSource) -> Mapping[str, object]: ...


class CommandRequests:
    """Answers one request at a time, as {"done": …}, {"queued": …} or {"error": …, "hint": …}."""

    def __init__(
        self,
        controls: Controls,
        prompt: TerminalPrompt,
        reviews: TerminalReviews,
        *,
        tray: TrayStatus,
        facts: TrayFacts,
        callers: ClickTrust,
        page: PageLinks,
        sessions: SessionTracker,
        windows: CommandFocus,
        reports: ReportMaker,
    ) -> None:
        self._controls = controls
        self._prompt = prompt
        self._approvals = ApprovalRequests(controls, reviews)
        self._tray = tray
        self._facts = facts
        self._passphrases = PassphraseChange(prompt, controls, facts)
        self._callers = callers
        self._page = page
        self._sessions = sessions
        self._windows = windows
        self._reports = reports

    def answer(
        self, request: Mapping[str, object], peer: PeerCredentials, terminal: CallerTerminal | None = None
    ) -> Mapping[str, object]:
        """Never raises for what a caller sends; an unknown request is an error in its answer."""
        terminal = terminal if request.get("terminal") is True else None
        try:
            match request.get("op"):
                case "on":
                    self._controls.set_enabled(True, COMMAND_LINE)
                    return {"done": say("Hooks are on")}
                case "ping":
                    return self._ping()
                case "health":
                    return self.health()
                case "report":
                    return self._reports.make(request, self)
                case "open":
                    return self._open(peer.pid, elsewhere=request.get("elsewhere") is True)
                case "passphrase":
                    if terminal is None:
                        why = say("it has no terminal")
                        raise HooktrayError(why, hint=say("run it in a terminal, in the foreground"))
                    forget = request.get("forget") is True
                    return {"done": self._passphrases.change(peer.pid, terminal, forget=forget)}
                case "focus":
                    return self._focus(str(request.get("session") or ""), peer.pid)
                case _:
                    return self._decide(self._user_request({**request, "pid": peer.pid}), peer.pid, terminal)
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def _user_request(self, request: Mapping[str, object]) -> UserRequest:
        """Returns what the user has to prove or click. Raises HooktrayError."""
        match request.get("op"):
            case "approve":
                return self._approvals.approve(request)
            case "deny":
                return self._approvals.deny(request)
            case "off":
                return UserRequest(
                    summary=say("Switch hooks off"),
                    question=say("Hooktray: switch all hooks off? No guard runs until they are on again."),
                    action=UserAction(action="off"),
                )
            case "pause":
                return self._pause(request)
            case "revoke":
                return self._approvals.revoke(request)
            case op:
                unknown = say("unknown request {op}", op=repr(str(op)))
                raise HooktrayError(unknown, hint=say("update hooktray on both sides"))

    def enqueue(self, request: Mapping[str, object], requester: str) -> str:
        """Put the request before the user; returns the text for the caller."""
        return self._enqueue(self._user_request(request), requester)

    def _enqueue(self, request: UserRequest, requester: str) -> str:
        if not request.in_menu:
            perform = partial(self._approvals.perform, request, GRANTED)
            self._controls.add_request(request.summary, requester, perform)
        return request.in_menu or say("{what}: only the user can do that", what=request.summary)

    def _ping(self) -> TrayHealth:
        return {"done": "running", "pid": os.getpid(), "icon": self._tray.icon_name}

    def health(self) -> TrayHealth:
        """What only the running tray knows, for `status` and `doctor`."""
        open_requests = sum(not one.is_undo for one in self._controls.requests)
        return {**self._ping(), "requests": open_requests, **self._tray.health()}

    def _open(self, pid: int, *, elsewhere: bool) -> Mapping[str, object]:
        """Open the page, but not for an agent or a hook: every program of the user can read the file with the link.

        `elsewhere`: the browser is on another machine, so nothing is opened here.
        """
        if not self._callers.may_open_page(pid):
            raise HooktrayError(
                say("an agent or a hook may not open the page"), hint=say("choose Open page in the tray's menu")
            )
        if elsewhere:
            link, port = self._page.write_link()
            return {"file": str(link), "port": port}
        file = self._page.open()
        return {
            "done": say("Asked your desktop to open the page"),
            "hint": say("if it does not come, open this file with one within a minute: {file}", file=file),
        }

    def _focus(self, session: str, pid: int) -> Mapping[str, object]:
        """Bring a session to the front, but not for an agent, which could cover what the user is about to click."""
        if not self._callers.may_open_page(pid):
            raise HooktrayError(
                say("an agent or a hook may not change what is on the screen"),
                hint=say("choose Sessions in the tray's menu"),
            )
        return {"done": self._windows.go_now(self._sessions.find(session)) or say("It is in front now")}

    def _pause(self, request: Mapping[str, object]) -> UserRequest:
        seconds = request.get("seconds")
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds <= 7 * 86400):
            why = say("cannot pause for {seconds} seconds", seconds=repr(seconds))
            raise HooktrayError(why, hint=say("write 30m, 1h or tomorrow"))
        agent, session = str(request.get("agent") or ""), str(request.get("session") or "")
        if agent and agent not in AGENTS:  # its pause would apply to nothing
            why = say("there is no agent `{name}`", name=sanitise(agent, 60))
            raise HooktrayError(why, hint=", ".join(AGENTS))
        whom, long = " ".join(filter(None, (agent, sanitise(session, 60)))), say("until tomorrow")
        if seconds is not None:
            long = count("for {n} minute", "for {n} minutes", round(seconds / 60))
        if whom:
            summary = say("Pause hooks of {whom} {long}", whom=whom, long=long)
            question = say("Hooktray: pause the hooks of {whom} {long}? No guard runs there.", whom=whom, long=long)
        else:
            summary = say("Pause hooks {long}", long=long)
            question = say("Hooktray: pause all hooks {long}? No guard runs meanwhile.", long=long)
        action = UserAction(action="pause", seconds=seconds, agent=agent, session=session)
        return UserRequest(summary=summary, question=question, action=action)

    def _decide(self, request: UserRequest, pid: int, terminal: CallerTerminal | None) -> Mapping[str, object]:
        """Do it at once if that is safe, else ask for the passphrase; if it cannot ask, let it wait in the menu."""
        judgement = self._prompt.judge(pid)
        is_asked = judgement.proof is Proof.PASSPHRASE
        # After a loss, to deny is to loosen: nothing asks any more about what a denied hook guarded.
        if is_asked and request.tightens and not judgement.reason and not self._facts.is_state_lost:
            return self._done(request, TERMINAL)
        if is_asked and terminal is not None and self._controls.passphrase.is_set:
            if self._prompt.confirm(pid, terminal, request.question):
                return self._done(request, PASSPHRASE)
            wanted = say("ask once more; a forgotten passphrase is replaced in the tray's menu or on the page")
            raise HooktrayError(say("not confirmed, nothing was changed"), hint=wanted)
        return {
            "queued": self._enqueue(request, say("process {pid}", pid=pid)),
            "why": judgement.reason,
            "hint": self._way(judgement),
        }

    def _way(self, judgement: Judgement) -> str:
        """Returns what the user can do if the passphrase could not be asked for."""
        icon = self._tray.icon_name
        where = say(WHERE_TO_DECIDE if icon else NO_ICON)
        if judgement.proof is Proof.REFUSED:
            return judgement.remedy or where
        if self._controls.passphrase.is_set:
            return say(
                "run it in the foreground of a terminal, which asks for your passphrase; or {where}", where=where
            )
        return say(NO_PASSPHRASE if icon else NO_PASSPHRASE_NO_ICON)

    def _done(self, request: UserRequest, channel: str) -> Mapping[str, object]:
        more = self._approvals.perform(request, channel)
        done = say("{what}: done, recorded as `{way}`", what=request.summary, way=channel)
        return {"done": done, **({"hint": more} if more else {})}
