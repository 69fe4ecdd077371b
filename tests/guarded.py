"""A running tray with one approved guard, and what takes its state folder away."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from live import Live, recorded
from plain import Plain
from user_controls import user_controls

from tray.approvals.catalog import HookCatalog
from tray.engine.stores import open_stores
from tray.paths import locate

GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"not today"}\''
PRE_TOOL_USE = recorded("claude-code", "PreToolUse-Bash")


def approved(live: Live) -> None:
    """Approve everything proposed, as the menu would, while no tray runs."""
    paths = locate(str(live.home))
    paths.prepare()
    kept = open_stores(paths)
    proposals = HookCatalog(paths, kept.ledger, kept.copies)
    proposals.refresh()
    consent = user_controls(kept, proposals)
    for one in proposals.states:
        if one.waiting:
            consent.approve(one.key, one.digest, "test")
    for setting in proposals.settings():
        consent.confirm(setting.key, setting.digest, "test", accept=True)


def guarded(plain: Plain, tmp_path: Path, script: str = DENY, **more: object) -> Live:
    """A running headless tray with one approved guard."""
    live = Live.fresh(plain, tmp_path, configuration={**GUARD, **more}, starts=False)
    live.script("guard.sh", script)
    approved(live)
    live.start()
    return live


def at_once(live: Live, way: Callable[[Path], None]) -> None:
    """On a busy machine the tray would make anew what is gone before all of it is."""
    live.process.send_signal(signal.SIGSTOP)
    way(live.home / "state")
    live.process.send_signal(signal.SIGCONT)


def delete(folder: Path) -> None:
    """As a person does it."""
    subprocess.run(["rm", "-rf", folder], check=False)
