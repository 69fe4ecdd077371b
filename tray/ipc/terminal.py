"""Asks for the passphrase at the terminal of a command, which shows the text and sends what the user types."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Protocol

from tray.approvals.callers.caller_facts import (
    controlling_device,
    other_platform_origin,
    process_chain,
    shares_files,
    start_time,
)
from tray.approvals.callers.person import Judgement, Proof, judge_command
from tray.approvals.passphrase import Passphrase
from tray.errors import HooktrayError
from tray.ipc.connection import CallerTerminal
from tray.ipc.frames import QUESTION_TIMEOUT
from tray.language import say
from tray.text import printable

MAX_QUESTIONS = 16  # that are open at once: each holds a thread
QUESTION_LIMIT = 1_000_000  # characters; the caller has cut the text to what a terminal can show


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

    def shares_files(self, pid: int) -> bool:
        """True if the caller sees the same files as the tray."""
        return shares_files(pid)

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
