"""Types into a client's terminal, and types again if the client ignored the key."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clients.client import LONG, Session
from desk import Overdue, wait
from terminal import Terminal


@contextmanager
def in_a_terminal(one: Session, *options: str) -> Iterator[Terminal]:
    """Starts the client in its own terminal."""
    terminal = Terminal([*one.client.program(), *options], one.project, dict(one.environment))
    try:
        yield terminal
    finally:
        terminal.close()


def squeezed(text: str) -> str:
    """Without blanks, which may be jumps of the cursor."""
    return "".join(text.split())


def shows(terminal: Terminal, text: str, since: int = 0) -> bool:
    """True if the text was drawn after the first `since` characters."""
    return squeezed(text) in squeezed(terminal.text[since:])


def enter(terminal: Terminal, text: str) -> None:
    before = len(terminal.text)
    terminal.type(text)
    wait(lambda: shows(terminal, text, before), LONG, "the typed text")
    terminal.type("\r")


def press(terminal: Terminal, key: str, happened: Callable[[], object], what: str, patience: float = 3) -> None:
    """Type the key until the condition holds: a client ignores a key that comes too early."""

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
        """Press Enter until the client accepts: the first press may only choose the command from a list."""
        try:
            terminal.process.wait(3)
        except subprocess.TimeoutExpired:
            terminal.type("\r")
            return False
        return True

    wait(has_left, LONG, "the end of the program")
    one.wait_rows("session_end")
