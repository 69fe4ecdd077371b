"""`hooktray review` shows a hook as the user reads it before approving; at a terminal, the passphrase approves it."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import closing

from tray.approvals.review import require_readable
from tray.approvals.review import review as render
from tray.cli.requests import TIMEOUT, HookName, show_answer
from tray.cli.testing import hook_state
from tray.engine.stores import open_stores
from tray.errors import IpcError
from tray.ipc.client import ask, send_request
from tray.language import say
from tray.paths import Paths


def review(paths: Paths, hook: HookName) -> None:
    paths.prepare()
    text, name = _review(paths, hook)
    if name and sys.stdin.isatty() and sys.stdout.isatty() and _is_decided(paths, name):
        return
    print(text, end="")
    if name:
        approve, deny = (f"hooktray {word} {shlex.quote(name)}" for word in ("approve", "deny"))
        print("\n" + say("To approve it: `{approve}`; to turn it down: `{deny}`", approve=approve, deny=deny))


def _review(paths: Paths, word: str) -> tuple[str, str]:
    """The text, and the hook's key if it waits. Raises HooktrayError when no hook is meant, or it cannot be read."""
    stores = open_stores(paths)
    with closing(stores.journal):
        one = require_readable(hook_state(paths, stores, word))
        return render(one, stores.copies, os.environ), one.key if one.waiting else ""


def _is_decided(paths: Paths, key: str) -> bool:
    """Returns True if the question showed all of it here, False if no tray runs or the user could not be asked."""
    try:
        send_request(paths.socket, {"op": "ping"}, TIMEOUT)
    except IpcError:
        return False
    answer = ask(paths.socket, {"op": "approve", "hook": key}, TIMEOUT)
    if "queued" in answer:
        return False
    show_answer(answer)
    return True
