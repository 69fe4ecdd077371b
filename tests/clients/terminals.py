"""What the user of a client types into its terminal, and types again when it came too early."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clients.client import LONG, Session
from desk import Overdue, wait
from terminal import Terminal


@contextmanager
def in_a_terminal(one: Session, *options: str) -> Iterator[Terminal]:
    """The client in a terminal of its own."""
    terminal = Terminal([*one.client.program(), *options], one.project, dict(one.environment))
    try:
        yield terminal
    finally:
        terminal.close()


def squeezed(text: str) -> str:
    """Without blanks, which may be jumps of the cursor."""
    return "".join(text.split())


def shows(terminal: Terminal, text: str, since: int = 0) -> bool:
    """Whether it was drawn, after so many letters."""
    return squeezed(text) in squeezed(terminal.text[since:])


def enter(terminal: Terminal, text: str) -> None:
    before = len(terminal.text)
    terminal.type(text)
    wait(lambda: shows(terminal, text, before), LONG, "the typed text")
    terminal.type("\r")


def press(terminal: Terminal, key: str, happened: Callable[[], object], what: str, patience: float = 3) -> None:
    """Type the key until that has happened: a client ignores one that comes too early."""

    def is_taken() -> bool:
        terminal.type(key)
        try:
            return bool(wait(happened, patience))
        except Overdue:
            return False

    wait(is_taken, LONG, what)


def leave(one: Session, terminal: Terminal, command: str) -> None:
    """Enter the command that ends the client, and wait for the end of its session."""
    enter(terminal, command)

    def has_left() -> bool:
        """The first key may only choose the command from a list."""
        try:
            terminal.process.wait(3)
        except subprocess.TimeoutExpired:
            terminal.type("\r")
            return False
        return True

    wait(has_left, LONG, "the end of the program")
    one.wait_rows("session_end")
