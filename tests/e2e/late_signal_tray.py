"""A tray that quits as soon as it runs, and gets SIGTERM while it closes.

python late_signal_tray.py --home DIR run
"""

from __future__ import annotations

import os
import signal
import sys

from tray.app.start import run
from tray.desktop.mainloop import HeadlessIcon
from tray.paths import locate
from tray.store.journal import Journal

close = Journal.close


def signalled(journal: Journal, limit: float = 5.0) -> None:
    """Nobody outside can meet this moment."""
    os.kill(os.getpid(), signal.SIGTERM)
    close(journal, limit)


if __name__ == "__main__":
    HeadlessIcon.run = lambda icon: None  # type: ignore[assignment, method-assign]
    Journal.close = signalled  # type: ignore[assignment, method-assign]
    sys.exit(run(locate(sys.argv[2]), headless=True))
