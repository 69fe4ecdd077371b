"""Asks for the passphrase at the terminal of a command, and sets, changes or forgets it there.

The command shows the text and sends what the user types.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Protocol

from tray.approvals.callers.caller_facts import (
    controlling_device,
    is_at_console,
    is_connected_to_root,
    other_platform_origin,
    own_addresses,
    process_chain,
    start_time,
)
from tray.approvals.callers.person import Judgement, Proof, is_console_login, is_remote_login, judge_command
from tray.approvals.controls import PASSPHRASE, TERMINAL, Controls
from tray.approvals.passphrase import MIN_LENGTH, TOO_SHORT, Passphrase
from tray.errors import HooktrayError
from tray.ipc.connection import CallerTerminal
from tray.ipc.frames import QUESTION_TIMEOUT
from tray.language import phrase, say
from tray.text import printable

MAX_QUESTIONS = 16  # that are open at once: each holds a thread
QUESTION_LIMIT = 1_000_000  # characters; the caller has cut the text to what a terminal can show
NOTHING_CHANGED = phrase("not confirmed, nothing was changed")
IN_TRAY = phrase("set it in the tray's menu or on the page (`hooktray open`)")
AT_LOGIN = phrase("log in over SSH from another machine, or at this machine's own console, and set it there")
AT_CONSOLE = phrase("set it in the tray's menu, on the page, or at this machine's own console (/dev/tty1 …)")


class Ancestry(Protocol):
    """Knows which processes are agents and hooks, or below one."""

    def has_agent_ancestor(self, pid: int) -> bool: ...


class TerminalPrompt:
    """Asks one question at a time at each terminal."""

    def __init__(self, ancestry: Ancestry, passphrase: Passphrase, *, timeout: float = QUESTION_TIMEOUT) -> None:
        self._ancestry = ancestry
        self.passphrase = passphrase
        self.timeout = timeout
        self._lock = threading.Lock()
        self._asked: set[str] = set()  # the terminals at which a question is open

    def judge(self, pid: int) -> Judgement:
        """Returns the proof that a request of this process needs."""
        if sys.platform == "linux" or pid <= 0:
            chain = process_chain(pid)
            return judge_command(chain, {pid} if chain and self._ancestry.has_agent_ancestor(pid) else ())
        if who := other_platform_origin(pid, self._ancestry.has_agent_ancestor):
            reason = say("{who} is an agent", who=who)
            return Judgement(Proof.REFUSED, reason, say("run it in a terminal that no agent has opened"))
        return Judgement(Proof.PASSPHRASE)

    def confirm(self, pid: int, terminal: CallerTerminal, question: str) -> bool:
        """Returns whether the user typed the passphrase there. Raises HooktrayError after too many wrong tries."""
        with self.dialogue(pid, terminal) as dialogue:
            wanted = say("Your Hooktray passphrase (it is not shown):")
            is_right = dialogue.is_passphrase(f"{printable(question, QUESTION_LIMIT)}\n\n{wanted} ")
            return is_right and dialogue.is_allowed()

    @contextlib.contextmanager
    def dialogue(self, pid: int, terminal: CallerTerminal) -> Iterator[TerminalDialogue]:
        """Opens a dialogue. Raises HooktrayError if the caller has no terminal, or another question is open there."""
        device, since = controlling_device(pid), start_time(pid)
        if sys.platform == "linux" and since and not device:  # each such process would have five tries
            raise HooktrayError(say("it has no terminal"), hint=say("run it in a terminal, in the foreground"))
        place = f"terminal {device}" if device else f"process {pid}"
        with self._lock:
            if place in self._asked or len(self._asked) >= MAX_QUESTIONS:
                raise HooktrayError(say("another question is open at a terminal"), hint=say("answer that one first"))
            self._asked.add(place)
        try:
            yield TerminalDialogue(self, terminal, place, pid, since)
        finally:
            with self._lock:
                self._asked.discard(place)


class TerminalDialogue:
    """Asks at one terminal, for the process `pid` that was started at `since`."""

    def __init__(self, prompt: TerminalPrompt, terminal: CallerTerminal, place: str, pid: int, since: str) -> None:
        self._prompt = prompt
        self._terminal = terminal
        self._place = place
        self._pid = pid
        self._since = since

    def is_allowed(self) -> bool:
        """Judges the caller again, which may have changed while the user typed."""
        return start_time(self._pid) == self._since and self._prompt.judge(self._pid).proof is not Proof.REFUSED

    def ask(self, text: str) -> str:
        """Returns the line that was typed, without an echo; "" if none came in time."""
        return self._terminal.ask(text, self._prompt.timeout).strip()

    def is_passphrase(self, text: str) -> bool:
        """Asks once and returns whether the passphrase was typed. An empty line is not a try."""
        typed = self.ask(text)
        return bool(typed) and self._prompt.passphrase.check(typed, self._place)


class TrayFacts(Protocol):
    """Decides where a first passphrase can be set, besides the menu and the page."""

    @property
    def heard_from_agents(self) -> bool: ...
    @property
    def has_desktop(self) -> bool: ...
    @property
    def is_state_lost(self) -> bool: ...


class PassphraseChange:
    """Sets, changes or forgets the passphrase, at the terminal of a command."""

    def __init__(self, prompt: TerminalPrompt, controls: Controls, tray: TrayFacts) -> None:
        self._prompt = prompt
        self._controls = controls
        self._tray = tray

    def change(self, pid: int, terminal: CallerTerminal, *, forget: bool) -> str:
        """Returns what was done. Raises HooktrayError if nothing was changed."""
        judgement = self._prompt.judge(pid)
        if judgement.proof is Proof.REFUSED:
            raise HooktrayError(judgement.reason, hint=judgement.remedy)
        was_set = self._controls.passphrase.is_set
        if forget and not was_set:
            raise HooktrayError(say("no passphrase is set"), hint=say("`hooktray passphrase` sets one"))
        if not was_set and (why := judgement.reason or self._objection(pid)):
            has_desktop = self._tray.has_desktop
            hint = AT_CONSOLE if self._tray.is_state_lost else IN_TRAY if has_desktop else AT_LOGIN
            raise HooktrayError(say("a first passphrase cannot be set here: {why}", why=why), hint=say(hint))
        with self._prompt.dialogue(pid, terminal) as dialogue:
            if was_set and not dialogue.is_passphrase(say("Your present passphrase (it is not shown):") + " "):
                hint = say("a forgotten one is replaced in the tray's menu or on the page")
                raise HooktrayError(say(NOTHING_CHANGED), hint=hint)
            typed = "" if forget else _ask_new(dialogue)
            if not dialogue.is_allowed() or self._controls.passphrase.is_set is not was_set:
                raise HooktrayError(say(NOTHING_CHANGED), hint=say("ask once more"))
        channel = PASSPHRASE if was_set else TERMINAL
        if forget:
            self._controls.forget_passphrase(channel)
            return say("The passphrase is forgotten")
        self._controls.set_passphrase(typed, channel)
        return say("The passphrase is changed") if was_set else say("The passphrase is set")

    def _objection(self, pid: int) -> str:
        """Returns why an agent may have typed the first passphrase at this terminal; "" if none can have."""
        chain = process_chain(pid)
        if is_at_console(pid) and is_console_login(chain):
            return ""
        if self._tray.is_state_lost:
            return say("approvals were lost")
        if not self._tray.heard_from_agents:
            return ""
        if not self._tray.has_desktop and is_remote_login(chain, own_addresses()):
            # The variables of a login can claim any address, so it may be from this machine.
            if sys.platform == "linux" and not is_connected_to_root(os.getuid()):
                return ""
            return say(
                "it may have logged in from this machine: a program of yours is connected to a service of root here"
            )
        return say("an agent may type here, too")


def _ask_new(dialogue: TerminalDialogue) -> str:
    typed = dialogue.ask(
        say("Type a new passphrase with at least {n} characters. It is not shown:", n=MIN_LENGTH) + " "
    )
    if not typed:
        raise HooktrayError(say(NOTHING_CHANGED), hint=say("ask once more"))
    if len(typed) < MIN_LENGTH:
        raise HooktrayError(say(TOO_SHORT, n=MIN_LENGTH), hint=say("nothing was changed; ask once more"))
    if dialogue.ask(say("Once more:") + " ") != typed:
        raise HooktrayError(say("the two entries differ"), hint=say("nothing was changed; ask once more"))
    return typed
