"""Asks for the passphrase at the terminal of a command: the command shows the text, and sends what was typed."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from tray.approvals.callers.person import Judgement, Proof, judge_command
from tray.approvals.passphrase import Passphrase
from tray.errors import HooktrayError
from tray.ipc.caller_facts import controlling_device, other_platform_origin, process_chain, shares_files, start_time
from tray.ipc.connection import CallerTerminal
from tray.ipc.frames import QUESTION_TIMEOUT
from tray.language import say
from tray.text import printable

MAX_QUESTIONS = 16  # that are open at once: each holds a thread
QUESTION_LIMIT = 1_000_000  # characters: who asks has cut it to what a terminal can show


class TerminalPrompt:
    """One question at a time and terminal. `is_untrusted` knows the processes below agents and hooks."""

    def __init__(
        self, is_untrusted: Callable[[int], bool], passphrase: Passphrase, *, timeout: float = QUESTION_TIMEOUT
    ) -> None:
        self._is_untrusted = is_untrusted
        self._passphrase = passphrase
        self._timeout = timeout
        self._lock = threading.Lock()
        self._asked: set[str] = set()  # the terminals at which a question is open

    def judge(self, pid: int) -> Judgement:
        """Which proof a request of this process needs."""
        if sys.platform == "linux" or pid <= 0:
            chain = process_chain(pid)
            return judge_command(chain, {pid} if chain and self._is_untrusted(pid) else ())
        if who := other_platform_origin(pid, self._is_untrusted):
            reason = say("{who} is an agent", who=who)
            return Judgement(Proof.REFUSED, reason, say("run it in a terminal that no agent has opened"))
        return Judgement(Proof.PASSPHRASE)

    def shares_files(self, pid: int) -> bool:
        """Whether the caller's folders are those that the tray sees under the same names."""
        return shares_files(pid)

    def confirm(self, pid: int, terminal: CallerTerminal, question: str) -> bool:
        """Whether the user there typed the passphrase. Raises HooktrayError after too many wrong tries."""
        with self.dialogue(pid, terminal) as dialogue:
            wanted = say("Your Hooktray passphrase (it is not shown):")
            is_right = dialogue.is_passphrase(f"{printable(question, QUESTION_LIMIT)}\n\n{wanted} ")
            return is_right and dialogue.is_allowed()

    @contextlib.contextmanager
    def dialogue(self, pid: int, terminal: CallerTerminal) -> Iterator[TerminalDialogue]:
        """Raises HooktrayError if the caller has no terminal, or while another question is open at the same one."""
        device, since = controlling_device(pid), start_time(pid)
        if sys.platform == "linux" and since and not device:  # each such process would have five tries
            raise HooktrayError(say("it has no terminal"), hint=say("run it in a terminal, in the foreground"))
        place = f"terminal {device}" if device else f"process {pid}"
        with self._lock:
            if place in self._asked or len(self._asked) >= MAX_QUESTIONS:
                raise HooktrayError(say("another question is open at a terminal"), hint=say("answer that one first"))
            self._asked.add(place)
        try:

            def is_allowed() -> bool:
                return start_time(pid) == since and self.judge(pid).proof is not Proof.REFUSED

            yield TerminalDialogue(terminal, self._passphrase, place, self._timeout, is_allowed)
        finally:
            with self._lock:
                self._asked.discard(place)


class TerminalDialogue:
    """Questions at one terminal. `is_allowed` judges the caller again: it may have changed while the user typed."""

    def __init__(
        self,
        terminal: CallerTerminal,
        passphrase: Passphrase,
        place: str,
        timeout: float,
        is_allowed: Callable[[], bool],
    ) -> None:
        self._terminal = terminal
        self._passphrase = passphrase
        self._place = place
        self._timeout = timeout
        self.is_allowed = is_allowed

    def ask(self, text: str) -> str:
        """The line that was typed, which was not shown; "" when none came in time."""
        return self._terminal.ask(text, self._timeout).strip()

    def is_passphrase(self, text: str) -> bool:
        """One try. Nothing typed is none."""
        typed = self.ask(text)
        return bool(typed) and self._passphrase.check(typed, self._place)
