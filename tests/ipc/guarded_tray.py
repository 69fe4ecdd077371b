"""A tray whose user has set a passphrase, and has a hook that waits for approval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from live import Live
from plain import Plain
from user_controls import set_passphrase

from tray.paths import locate

GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
WANTED = "Your Hooktray passphrase (it is not shown):"


@contextmanager
def guarded_tray(folder: Path) -> Iterator[Live]:
    """Starts the tray without an icon. The passphrase was set on the page."""
    with closing(Plain(folder)) as plain:
        live = Live.fresh(plain, folder, configuration=GUARD, starts=False)
        live.script("guard.sh", "exit 0")
        set_passphrase(locate(str(live.home)))
        live.start("--headless")
        yield live
