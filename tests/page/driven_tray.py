"""A tray that also hears a browser which a program drives, as no real one does: in a test nobody else can click.

python driven_tray.py --home DIR run
"""

from __future__ import annotations

import sys

from tray.app.live import run
from tray.app.trusting import Trust
from tray.paths import locate


class Driven(Trust):
    """An agent's own browser is refused all the same."""

    def browser(self, pid: int) -> bool:
        return not self.below(pid)


if __name__ == "__main__":
    sys.exit(run(locate(sys.argv[2]), trust=Driven))
