"""The stand-in for Windows' toasts has the names of the real winrt, and where that shows nothing it is a balloon."""

from __future__ import annotations

import json

import pytest
from notify import toasts
from wine.windows import Windows

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(900)]

# Looks without asking: a property of a class without instances would ask Windows for its value.
LOOK = """
import importlib, json, sys
def known(module, name, member):
    found = getattr(importlib.import_module(module), name)
    if not member:
        return True
    return any(member in vars(one) for one in (*found.__mro__, *type(found).__mro__))
print(json.dumps([one for one in json.loads(sys.stdin.read()) if not known(*one)]))
"""


def test_each_name_of_the_stand_in_for_toasts_is_one_of_winrt(windows: Windows) -> None:
    names = toasts.names()

    done = windows.run([windows.inside(windows.python), "-c", LOOK], json.dumps(names).encode())

    assert len(names) > 30
    assert json.loads(done.stdout or b"null") == [], done.stderr.decode()


def test_the_library_of_toasts_can_be_loaded(windows: Windows) -> None:
    look = "from desktop_notifier.main import get_backend_class; print(get_backend_class().__name__)"

    done = windows.run([windows.inside(windows.python), "-c", look])

    assert done.stdout.strip() == b"WinRTDesktopNotifier", done.stderr.decode()


def test_the_shell_says_whether_its_user_may_be_interrupted(windows: Windows) -> None:
    """Wine's always says yes (5); that shows only that the call is right."""
    look = "from tray.notify import do_not_disturb as one; print(one._shell_state(), one.SYSTEMS['win32']())"

    done = windows.run([windows.inside(windows.python), "-c", look])

    assert done.stdout.split() == [b"5", b"False"], done.stderr.decode()
