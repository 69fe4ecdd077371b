"""The command's side of a question: it shows the tray's text at its terminal, and reads a line without an echo."""

from __future__ import annotations

import contextlib
import getpass
import os
import signal
import sys
import warnings
from collections.abc import Iterator

from tray.errors import HooktrayError
from tray.ipc.frames import QUESTION_TIMEOUT
from tray.language import phrase, say

NOTHING_CHANGED = phrase("nothing was changed; ask once more")


def has_terminal() -> bool:
    """True if the command has a controlling terminal and is in its foreground, so that it can ask the user."""
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
    """The line that was typed. Raises HooktrayError where the terminal would show it, and after a minute."""
    with warnings.catch_warnings(), _time_to_type():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(text)
        except getpass.GetPassWarning:
            why = say("this terminal cannot hide what is typed")
            raise HooktrayError(why, hint=say("use another terminal")) from None
        except UnicodeDecodeError as error:
            why = say("what was typed is not {encoding}", encoding=error.encoding)
            raise HooktrayError(why, hint=say(NOTHING_CHANGED)) from None
        except (EOFError, KeyboardInterrupt):  # Enter was not typed
            print(file=sys.stderr)
            raise


if sys.platform == "win32":

    @contextlib.contextmanager
    def _time_to_type() -> Iterator[None]:
        yield

else:

    @contextlib.contextmanager
    def _time_to_type() -> Iterator[None]:
        """Ends a question for which the tray no longer waits. Ctrl-Z is ignored: a shell would show the line then."""
        before = signal.signal(signal.SIGTSTP, signal.SIG_IGN), signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, QUESTION_TIMEOUT)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in zip((signal.SIGTSTP, signal.SIGALRM), before, strict=True):
                signal.signal(number, handler)

    def _give_up(signal_number: int, frame: object) -> None:
        raise HooktrayError(say("nothing was typed in time"), hint=say(NOTHING_CHANGED))
