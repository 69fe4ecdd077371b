"""A running tray with one approved guard, and functions that delete its state folder."""

from __future__ import annotations

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
    """Stops the tray during `way`: on a busy machine it would restore some files before all are gone."""
    live.suspend()
    way(live.home / "state")
    live.resume()


def delete(folder: Path) -> None:
    """Deletes the folder as a user does."""
    subprocess.run(["rm", "-rf", folder], check=False)
