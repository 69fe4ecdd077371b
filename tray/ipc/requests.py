"""The requests of the CLI. `on` is done at once; the rest needs a person, at the caller's terminal or in the menu."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tray.agents.protocol import is_known_event, spec
from tray.agents.registry import AGENTS
from tray.approvals.batch import ApprovalBatch, button_label, summary_lines
from tray.approvals.callers.person import Judgement, Proof
from tray.approvals.catalog import REMOVED, HookState, command_or_url
from tray.approvals.consent import require_readable
from tray.approvals.controls import COMMANDS, PASSPHRASE, TERMINAL, Controls
from tray.approvals.guarded_settings import GuardedSetting
from tray.approvals.review import describe_action
from tray.approvals.search_path import terminal_path
from tray.errors import HooktrayError
from tray.ipc.connection import HandedTerminal
from tray.ipc.sockets import PeerCredentials
from tray.language import count, phrase, say
from tray.model.event import EventKind
from tray.model.hook import ApprovalState, Match
from tray.strict import nearest
from tray.text import sanitise

COMMAND_LINE = "command line"
EVENT_KINDS = frozenset(kind.value for kind in EventKind)
UNCHANGED = "unchanged"  # the word for all hooks that were approved before
GRANTED = "tray, asked for at a command line"
WHERE_TO_DECIDE = phrase("open the tray's menu, Approvals, or run `hooktray open`")
HOW_TO_SET = phrase(
    "set one with `hooktray passphrase` in a terminal of your desktop or where you logged in, in the tray's menu or "
    "on the page"
)
NO_ICON = phrase(
    "no icon is shown: run `hooktray open`, or ask once more from a terminal where you logged in yourself"
)


class PersonPrompt(Protocol):
    """Judges a caller by its pid, and asks a person at its terminal."""

    def judge(self, pid: int) -> Judgement: ...
    def shares_files(self, pid: int) -> bool: ...
    def confirm(self, pid: int, question: str) -> bool: ...
    def confirm_code_here(self, pid: int, handed: HandedTerminal, question: str) -> bool: ...
    def confirm_passphrase(self, pid: int, handed: HandedTerminal, question: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRequest:
    """What is asked for. `run` gets the channel on which a person agreed."""

    summary: str
    question: str
    run: Callable[[str], None]
    tightens: bool = False  # the code is enough wherever it comes from
    in_menu: str = ""  # the reply where the menu shows it already


class UserRequests:
    """Answers one request at a time, as {"done": …}, {"queued": …} or {"error": …, "hint": …}."""

    def __init__(
        self,
        controls: Controls,
        icon: Callable[[], str],
        terminal: PersonPrompt,
        write_review: Callable[[HookState], Path],
        open_page: Callable[[], Path],
        health: Callable[[], Mapping[str, Any]] = dict,
        may_open: Callable[[int], bool] = lambda pid: True,
        write_batch_review: Callable[[ApprovalBatch], Path] = lambda batch: Path(),
        focus: Callable[[str], str] = str,
        change_passphrase: Callable[[int, HandedTerminal, bool], str] = lambda pid, handed, forget: "",
        keep_records: Callable[[], None] = lambda: None,
        write_link: Callable[[], tuple[Path, int]] = lambda: (Path(), 0),
        report: Callable[[Mapping[str, Any], Callable[[], Mapping[str, Any]]], Mapping[str, Any]] = lambda *_: {},
    ) -> None:
        self._report = report
        self._keep_records = keep_records
        self._change_passphrase = change_passphrase
        self._focus = focus
        self._write_batch_review = write_batch_review
        self._may_open = may_open
        self._health = health
        self._controls = controls
        self._open_page = open_page
        self._write_link = write_link
        self._icon = icon
        self._terminal = terminal
        self._write_review = write_review

    def answer(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: HandedTerminal | None = None
    ) -> Mapping[str, Any]:
        """Never raises for what a caller sends; a request nobody knows is an error in its answer.

        `terminal` is what the command hands over if its request says so.
        """
        handed = terminal if request.get("terminal") is True else None
        op = str(request.get("op"))
        try:
            if op in IMMEDIATE:
                return IMMEDIATE[op](self)
            if op == "report":
                return self._report(request, self.health)
            if op == "open":
                return self.open(peer.pid, elsewhere=request.get("elsewhere") is True)
            if op == "passphrase":
                return self.passphrase(request, peer.pid, handed)
            if op == "focus":
                return self.focus(str(request.get("session") or ""), peer.pid)
            make_request = NEEDS_PERSON.get(op)
            request = {**request, "pid": peer.pid}
            if make_request is None:
                unknown = say("unknown request {op}", op=repr(op))
                return {"error": unknown, "hint": say("update hooktray on both sides")}
            return self._decide(make_request(self, request), peer.pid, handed)
        except HooktrayError as error:
            return {"error": error.message, "hint": error.hint}

    def enqueue(self, request: Mapping[str, Any], requester: str) -> str:
        """Put the request before the user; returns the text for the caller."""
        return self._enqueue(NEEDS_PERSON[str(request["op"])](self, request), requester)

    def _enqueue(self, request: UserRequest, requester: str) -> str:
        if not request.in_menu:
            self._controls.add_request(request.summary, requester, lambda: request.run(GRANTED))
        return request.in_menu or say("{what}: only a person can do that", what=request.summary)

    def ping(self) -> Mapping[str, Any]:
        return {"done": "running", "pid": os.getpid(), "icon": self._icon()}

    def health(self) -> Mapping[str, Any]:
        """What only the running tray knows, for `status` and `doctor`."""
        open_requests = sum(not one.is_undo for one in self._controls.requests)
        return {**self.ping(), "requests": open_requests, **self._health()}

    def keep(self) -> Mapping[str, Any]:
        """A command has written into agents' settings: what it recorded must not be lost from here on."""
        self._keep_records()
        return {"done": "kept"}

    def on(self) -> Mapping[str, Any]:
        self._controls.set_enabled(True, COMMAND_LINE)
        return {"done": say("Hooks are on")}

    def open(self, pid: int, *, elsewhere: bool) -> Mapping[str, Any]:
        """For a person only: every program of the user can read the file with the link.

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

    def focus(self, session: str, pid: int) -> Mapping[str, Any]:
        """For a person only: an agent could put a window in front of what somebody is about to click."""
        if not self._may_open(pid):
            raise HooktrayError(
                say("an agent or a hook may not change what is on the screen"),
                hint=say("choose Sessions in the tray's menu"),
            )
        return {"done": self._focus(session) or say("It is in front now")}

    def off(self, request: Mapping[str, Any]) -> UserRequest:
        return UserRequest(
            summary=say("Switch hooks off"),
            question=say("Hooktray: switch all hooks off? No guard runs until they are on again."),
            run=lambda channel: self._controls.set_enabled(False, channel),
        )

    def pause(self, request: Mapping[str, Any]) -> UserRequest:
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

    def approve(self, request: Mapping[str, Any]) -> UserRequest:
        if setting := self._setting(request):
            if setting.confirmed:
                why = say("`{setting}` is confirmed already", setting=setting.text)
                raise HooktrayError(why, hint=say("there is nothing to do"))
            return self._confirm(setting, yes=True)
        if batch := self._batch(request):
            return batch
        if waiting := self._waiting(request):
            return waiting
        one, pid = require_readable(self._find(request)), request.get("pid")

        path = terminal_path(pid) if isinstance(pid, int) and self._terminal.shares_files(pid) else ""

        def approve(channel: str) -> None:
            self._controls.approve(one.key, one.digest, channel, path if channel in COMMANDS else "")

        return UserRequest(
            summary=say("Approve {name} {digest}", name=one.hook.name, digest=one.digest[:8]),
            question=f"{say('Hooktray: approve this?')}\n{self._details(self._controls.with_path(one, path))}",
            run=approve,
            in_menu=say("{name} waits for your approval", name=one.hook.name) if one.waiting else "",
        )

    def _batch(self, request: Mapping[str, Any]) -> UserRequest | None:
        """`approve unchanged`: all hooks that were approved before with the same content."""
        if request.get("hook") != UNCHANGED or any(one.hook.name == UNCHANGED for one in self._controls.hooks()):
            return None
        batch = self._controls.batch
        if not batch:
            why = say("no hook waits whose content was approved before")
            raise HooktrayError(why, hint=say("`hooktray list` shows where hooks stand"))
        lines = "\n".join(f"  {line}" for line in (*summary_lines(batch), str(self._write_batch_review(batch))))
        return UserRequest(
            summary=button_label(batch),
            question=f"{say('Hooktray: approve all of these?')}\n{lines}",
            run=lambda channel: self._controls.approve_batch(batch.digest, channel),
            in_menu=count(
                "{n} unchanged hook waits for your approval",
                "{n} unchanged hooks wait for your approval",
                len(batch.hooks),
            ),
        )

    def _waiting(self, request: Mapping[str, Any]) -> UserRequest | None:
        """A request that has a word of its own: clicks that wait for the passphrase."""
        word = request.get("hook")
        found = [one for one in self._controls.requests if word and one.word == word]
        if not found or any(one.hook.name == word for one in self._controls.hooks()):
            return None
        last = found[-1]
        return UserRequest(
            summary=last.summary,
            question=say("Hooktray: {what}? It was clicked there just now.", what=last.summary),
            run=lambda channel: self._controls.resolve(last.id, accept=True),
            in_menu=last.summary,
        )

    def deny(self, request: Mapping[str, Any]) -> UserRequest:
        if setting := self._setting(request):
            return self._confirm(setting, yes=False)
        one = require_readable(self._find(request))
        return UserRequest(
            summary=say("Deny {name} {digest}", name=one.hook.name, digest=one.digest[:8]),
            question=f"{say('Hooktray: turn this down?')}\n{self._details(one)}",
            tightens=True,
            run=lambda channel: self._controls.deny(one.key, one.digest, channel),
        )

    def revoke(self, request: Mapping[str, Any]) -> UserRequest:
        one = self._find(request)
        if not one.approved:
            why = say("`{name}` is not approved", name=one.hook.name)
            raise HooktrayError(why, hint=say("`hooktray list` shows where hooks stand"))
        return UserRequest(
            summary=say("Revoke {name}", name=one.hook.name),
            question=f"{say('Hooktray: take this approval back? It stops running.')}\n{self._details(one)}",
            run=lambda channel: self._controls.revoke(one.key, channel),
        )

    def _setting(self, request: Mapping[str, Any]) -> GuardedSetting | None:
        """A hook of the same name is meant first, and an event names a hook."""
        word = str(request.get("hook", ""))
        if request.get("event") or any(one.hook.name == word for one in self._controls.hooks()):
            return None
        return self._controls.setting(word)

    def _confirm(self, setting: GuardedSetting, *, yes: bool) -> UserRequest:
        text = sanitise(setting.text, 1000)
        if yes:
            summary = say("Confirm {setting}", setting=text)
            question = say(
                "Hooktray: confirm this setting? It loosens a gate, reduces notifications or sends data out."
            )
            if setting.is_program:
                question = say("Hooktray: approve this program for the hooks that use it?")
        else:
            summary = say("Deny {setting}", setting=text)
            question = say("Hooktray: turn this setting down?")
        decide = self._controls.approve if yes else self._controls.deny
        return UserRequest(
            summary=summary,
            question=f"{question}\n  {text}",
            run=lambda channel: decide(setting.key, setting.digest, channel),
            tightens=not yes,
            in_menu=say("{name} waits for your approval", name=text) if yes and setting.waiting else "",
        )

    def _pause(self, seconds: float | None, channel: str, agent: str, session: str) -> None:
        self._controls.pause(seconds, channel, agent=agent, session=session)

    def passphrase(self, request: Mapping[str, Any], pid: int, handed: HandedTerminal | None) -> Mapping[str, Any]:
        """Set, change or forget the passphrase at the command's terminal."""
        if handed is None:
            raise HooktrayError(say("it has no terminal"), hint=say("run it in a terminal, in the foreground"))
        return {"done": self._change_passphrase(pid, handed, request.get("forget") is True)}

    def _decide(self, request: UserRequest, pid: int, handed: HandedTerminal | None) -> Mapping[str, Any]:
        """Ask at the caller's terminal for the proof that it needs; where nobody can be asked, in the menu."""
        judgement = self._terminal.judge(pid)
        channel, is_given = "", False
        if judgement.proof is Proof.CLICK:
            channel, is_given = TERMINAL, self._terminal.confirm(pid, request.question)
        elif judgement.proof is Proof.PASSPHRASE and handed is not None and request.tightens:
            channel, is_given = TERMINAL, self._terminal.confirm_code_here(pid, handed, request.question)
        elif judgement.proof is Proof.PASSPHRASE and handed is not None and self._controls.passphrase.is_set:
            channel, is_given = PASSPHRASE, self._terminal.confirm_passphrase(pid, handed, request.question)
        if is_given:
            request.run(channel)
            return {"done": say("{what}: done, and written down as `{way}`", what=request.summary, way=channel)}
        if channel:
            wanted = say("type the letters that were shown")
            if channel == PASSPHRASE:
                wanted = say("ask once more; a forgotten passphrase is replaced in the tray's menu or on the page")
            raise HooktrayError(say("not confirmed, nothing was changed"), hint=wanted)
        return {
            "queued": self._enqueue(request, say("process {pid}", pid=pid)),
            "why": judgement.reason,
            "hint": self._way(judgement, handed is not None),
        }

    def _way(self, judgement: Judgement, has_terminal: bool) -> str:
        """What to do where nobody could be asked."""
        where = say(WHERE_TO_DECIDE if self._icon() else NO_ICON)
        if judgement.proof is Proof.REFUSED:
            return judgement.remedy or where
        if self._controls.passphrase.is_set:
            return say(
                "run it in the foreground of a terminal, which asks for your passphrase; or {where}", where=where
            )
        way = say("with a passphrase it can be confirmed here: {how}; or {where}", how=say(HOW_TO_SET), where=where)
        return way if has_terminal else where

    def _details(self, one: HookState) -> str:
        """What exactly is asked for; every word of it may be foreign."""
        hook = one.hook
        agents = ", ".join(hook.match.agents) or say("every agent")
        rows = {
            say("hook"): say(
                "{name}, declared in {source}", name=sanitise(hook.name, 200), source=sanitise(str(hook.source), 500)
            ),
            say("event"): say("{event} of {agents}", event=hook.match.event, agents=agents),
            say("runs"): sanitise(describe_action(hook.action), 1000),
            say("digest"): one.digest,
            say("state"): one.state.value + (f"; {sanitise(one.health, 300)}" if one.health else ""),
            say("covers"): sanitise(", ".join(one.covered), 1000) or say("its definition alone"),
        }
        if one.digest and one.digest != REMOVED:
            rows[say("in full")] = str(self._write_review(one))
        return "\n".join(f"  {name:<8} {value}" for name, value in rows.items())

    def _find(self, request: Mapping[str, Any]) -> HookState:
        word, event = str(request.get("hook", "")), str(request.get("event", ""))
        named = self._controls.find(word)
        found = [one for one in named if not event or event in _event_names(one.hook.match)]
        if len(found) == 1 and found[0].state is ApprovalState.INACTIVE:
            why = say("`{name}` is inactive: {why}", name=word, why=found[0].health)
            raise HooktrayError(why, hint=say("remove that first, then ask again"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(one.key for one in found)
            why = say("`{name}` is more than one hook", name=word)
            raise HooktrayError(why, hint=say("say which: {names}", names=names))
        likely = nearest(
            word,
            [name for one in self._controls.hooks() for name in (one.hook.name, command_or_url(one.hook)) if name],
        )
        hint = say("`hooktray list` shows every hook and its name")
        if named:
            match = named[0].hook.match
            hint = say("its event is `{event}`", event=match.native or match.event)
        elif likely:
            hint = say("did you mean `{name}`?", name=likely)
        why = say("no hook is called `{name}`", name=word)
        if event:
            why = say("no hook is called `{name}` for `{event}`", name=word, event=event)
        raise HooktrayError(why, hint=hint)


def split_event(words: Sequence[str], join: Callable[[Sequence[str]], str] = " ".join) -> tuple[str, str]:
    """The event and the hook of `approve EVENT HOOK`; the event is "" where the first word is none."""
    first, *rest = words or ("",)
    if rest and (first in EVENT_KINDS or any(is_known_event(agent, first) for agent in AGENTS)):
        return first, rest[0] if len(rest) == 1 else join(rest)
    return "", first if not rest else join(words)


def _event_names(match: Match) -> frozenset[str]:
    """Every name of the event that a hook is asked about: as it is written, and the canonical one."""
    kinds = (spec(agent, match.event).kind.value for agent in match.agents)
    return frozenset((match.event, match.native, *kinds))


def _agent(name: object) -> str:
    """Raises HooktrayError for an unknown agent: its pause would apply to nothing."""
    if not name or name in AGENTS:
        return str(name or "")
    raise HooktrayError(say("there is no agent `{name}`", name=sanitise(str(name), 60)), hint=", ".join(AGENTS))


def _duration_text(seconds: float | None) -> str:
    minutes = round((seconds or 0) / 60)
    return say("until tomorrow") if seconds is None else count("for {n} minute", "for {n} minutes", minutes)


IMMEDIATE: Mapping[str, Callable[[UserRequests], Mapping[str, Any]]] = {
    "on": UserRequests.on,
    "ping": UserRequests.ping,
    "health": UserRequests.health,
    "keep": UserRequests.keep,
}
NEEDS_PERSON: Mapping[str, Callable[[UserRequests, Mapping[str, Any]], UserRequest]] = {
    "approve": UserRequests.approve,
    "deny": UserRequests.deny,
    "off": UserRequests.off,
    "pause": UserRequests.pause,
    "revoke": UserRequests.revoke,
}
