"""Asks a person at a terminal: the tray itself writes the question there, and reads the code or the passphrase."""

from __future__ import annotations

import contextlib
import enum
import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterator

from tray.approvals.callers.person import Judgement, Proof, judge_terminal
from tray.approvals.passphrase import Passphrase
from tray.errors import HooktrayError
from tray.ipc.caller_facts import (
    caller_facts,
    controlling_device,
    is_in_foreground,
    other_platform_origin,
    shares_files,
    start_time,
)
from tray.ipc.connection import HandedTerminal
from tray.ipc.dialogue import Dialogue, TerminalDialogue, device_number, open_terminal
from tray.language import say
from tray.text import printable

CONFIRM_TIMEOUT = 60.0  # seconds for an answer
MAX_QUESTIONS = 16  # that are open at once: each holds a thread
CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
CODE_LENGTH = 6
QUESTION_LIMIT = 1_000_000  # characters: the caller has cut it to what a terminal can show


class Choice(enum.Enum):
    """What a person chose at a terminal."""

    NOTHING = "nothing"
    YES = "yes"
    NO = "no"  # to turn down what is asked for, where that can be chosen


class TerminalPrompt:
    """One question at a time and terminal. `is_untrusted` knows the processes below agents and hooks."""

    def __init__(
        self, is_untrusted: Callable[[int], bool], passphrase: Passphrase, *, timeout: float = CONFIRM_TIMEOUT
    ) -> None:
        self._is_untrusted = is_untrusted
        self._passphrase = passphrase
        self._timeout = timeout
        self._lock = threading.Lock()
        self._asked: set[str] = set()  # the terminals at which a question is open
        self._closing = threading.Event()

    @property
    def passphrase(self) -> Passphrase:
        return self._passphrase

    def judge(self, pid: int) -> Judgement:
        """Which proof a request of this process needs."""
        if sys.platform != "linux" and pid > 0:
            if who := other_platform_origin(pid, self._is_untrusted):
                reason = say("{who} is an agent", who=who)
                return Judgement(Proof.REFUSED, reason, say("run it in a terminal that no agent has opened"))
        return judge_terminal(caller_facts(pid, self._is_untrusted))

    def shares_files(self, pid: int) -> bool:
        """Whether the caller's folders are those that the tray sees under the same names."""
        return shares_files(pid)

    def confirm(self, pid: int, question: str, *, can_deny: bool = False) -> Choice:
        """What the person there chose by typing a code. Raises HooktrayError when no person could be asked."""
        since = start_time(pid)
        facts = caller_facts(pid, self._is_untrusted)
        if not since or facts.terminal is None or judge_terminal(facts).proof is not Proof.CLICK:
            return Choice.NOTHING
        place = f"terminal {controlling_device(pid)}"
        with self._only_one(place), open_terminal(facts.terminal.path) as terminal:
            is_there = self._presence(pid, since)
            person = TerminalDialogue(terminal, is_there, self._timeout, place=place)
            choice = ask_code(person, question, can_deny=can_deny)
        is_same = start_time(pid) == since and self.judge(pid).proof is Proof.CLICK
        return choice if is_same else Choice.NOTHING

    def confirm_code_here(self, pid: int, handed: HandedTerminal, question: str) -> Choice:
        """The same at whatever terminal the command hands over: what tightens needs no more."""
        with self.dialogue(pid, handed) as person:
            return ask_code(person, question)

    def confirm_passphrase(
        self, pid: int, handed: HandedTerminal, question: str, *, can_deny: bool = False
    ) -> Choice:
        """What the person at the terminal that the command hands over chose: the passphrase is yes, a code no."""
        with self.dialogue(pid, handed) as person:
            _write_question(person, question)
            code = _new_code() if can_deny else ""
            if code:
                person.write(say("Type {letters} to deny it.", letters=code) + "\n")
            person.write(say("Your Hooktray passphrase (it is not shown):") + " ")
            typed = person.read(secret=True)
            choice = self._choice(typed, code, person.place)
        return choice if self.judge(pid).proof is not Proof.REFUSED else Choice.NOTHING

    def _choice(self, typed: str, code: str, place: str) -> Choice:
        if code and _is_code(typed, code):
            return Choice.NO
        return Choice.YES if self._is_passphrase(typed, place) else Choice.NOTHING

    def ask_passphrase(self, person: Dialogue, prompt: str) -> bool:
        """One try. Nothing typed is none."""
        person.write(f"{prompt} ")
        return self._is_passphrase(person.read(secret=True), person.place)

    def _is_passphrase(self, typed: str, place: str) -> bool:
        return bool(typed.strip()) and typed.endswith(("\n", "\r")) and self._passphrase.check(typed, place)

    @contextlib.contextmanager
    def dialogue(self, pid: int, handed: HandedTerminal, timeout: float = 0) -> Iterator[Dialogue]:
        """The person at the caller's own terminal; another terminal's user may not know of the request."""
        timeout = timeout or self._timeout
        if (remote := handed.remote(timeout)) is not None:
            with self._only_one(remote.place):
                yield remote
            return
        terminal = handed.take()
        if terminal is None:
            raise HooktrayError(say("it has no terminal"), hint=say("run it in a terminal, in the foreground"))
        try:
            device, since = device_number(terminal), start_time(pid)
            if not os.isatty(terminal) or (since and controlling_device(pid) != device):
                raise HooktrayError(say("this is not the command's own terminal"), hint=say("use another terminal"))
            if sys.platform != "win32":
                os.set_blocking(terminal, False)
            place = f"terminal {device}"
            present = self._presence(pid, since)
            with self._only_one(place):
                yield TerminalDialogue(
                    terminal,
                    lambda: not handed.is_gone() and present(),
                    timeout,
                    place=place,
                    wakes=handed.fileno(),
                )
        finally:
            os.close(terminal)

    def close(self) -> None:
        """End the questions that are open."""
        self._closing.set()

    def _presence(self, pid: int, since: str) -> Callable[[], bool]:
        """Whether the caller waits in the foreground; of one whom the system does not show only that we go on."""
        return lambda: not self._closing.is_set() and (not since or is_in_foreground(pid, since))

    @contextlib.contextmanager
    def _only_one(self, place: str) -> Iterator[None]:
        with self._lock:
            if place in self._asked or len(self._asked) >= MAX_QUESTIONS:
                raise HooktrayError(say("another question is open at a terminal"), hint=say("answer that one first"))
            self._asked.add(place)
        try:
            yield
        finally:
            with self._lock:
                self._asked.discard(place)


def ask_code(person: Dialogue, question: str, *, can_deny: bool = False) -> Choice:
    """New codes each time."""
    yes, no = _new_code(), _new_code() if can_deny else ""
    _write_question(person, question)
    wanted = say("Type {letters} to do it; anything else leaves all as it is:", letters=yes)
    if can_deny:
        wanted = say(
            "Type {letters} to approve, {others} to deny; anything else leaves all as it is:", letters=yes, others=no
        )
    person.write(f"{wanted} ")
    typed = person.read()
    if _is_code(typed, yes):
        return Choice.YES
    return Choice.NO if no and _is_code(typed, no) else Choice.NOTHING


def _write_question(person: Dialogue, question: str) -> None:
    """Raises HooktrayError unless all of it was written: a person must see all of it to decide."""
    if not person.write(f"{printable(question, QUESTION_LIMIT)}\n\n"):
        raise HooktrayError(
            say("the terminal did not take the whole text, nothing was changed"),
            hint=say("ask once more, or decide in the tray's menu or on the page"),
        )


def _new_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def _is_code(typed: str, code: str) -> bool:
    return secrets.compare_digest(typed.strip().encode(), code.encode())
