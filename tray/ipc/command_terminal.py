"""The command's side of a question: it shows the tray's text at its terminal, and reads a line without an echo."""

from __future__ import annotations

import getpass
import os
import sys
import warnings

from tray.errors import HooktrayError
from tray.language import say


def has_terminal() -> bool:
    """Whether the user can be asked here: at a controlling terminal, in its foreground."""
    if sys.platform == "win32":
        return sys.stdin is not None and sys.stdin.isatty()
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(descriptor)


def ask_hidden(text: str) -> str:
    """The line that was typed. Raises HooktrayError where the terminal would show it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(text)
        except getpass.GetPassWarning:
            why = say("this terminal cannot hide what is typed")
            raise HooktrayError(why, hint=say("use another terminal")) from None
