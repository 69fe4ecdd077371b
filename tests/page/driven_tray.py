"""A tray that also hears a browser which a program drives, as no real one does: in a test nobody else can click.

python driven_tray.py --home DIR run
"""

from __future__ import annotations

import sys

from tray.app.live import run
from tray.app.trusting import Trust
from tray.engine.callers.clicking import Finding, Objection
from tray.paths import locate


class Driven(Trust):
    """An agent's own browser is refused all the same."""

    def browser(self, pid: int) -> Finding | None:
        return Finding(Objection.AGENT, "belongs to an agent or a hook") if self.below(pid) else None


if __name__ == "__main__":
    sys.exit(run(locate(sys.argv[2]), trust=Driven))
