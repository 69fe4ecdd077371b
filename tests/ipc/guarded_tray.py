"""A tray whose user has set a passphrase, and has a hook that waits for approval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from live import Live
from plain import Plain

from tray.approvals.passphrase import Passphrase
from tray.engine.stores import open_stores
from tray.paths import locate

GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
SECRET = "seven quiet bridges"
WANTED = "Your Hooktray passphrase (it is not shown):"


@contextmanager
def guarded_tray(folder: Path) -> Iterator[Live]:
    """Starts the tray without an icon. The passphrase was set on the page."""
    with closing(Plain(folder)) as plain:
        live = Live.fresh(plain, folder, configuration=GUARD, starts=False)
        live.script("guard.sh", "exit 0")
        paths = locate(str(live.home))
        paths.prepare()
        stores = open_stores(paths, create=True)
        Passphrase(stores.ledger).set(SECRET, "page")
        stores.journal.close()
        live.start("--headless")
        yield live
