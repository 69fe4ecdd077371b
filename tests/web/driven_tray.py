"""A tray that also hears a browser which a program drives, as no real one does: in a test nobody else can click.

python driven_tray.py --home DIR run
"""

from __future__ import annotations

import sys

from tray.app.start import run
from tray.approvals.callers.click_check import ClickObjection, ClickRejection, ClickTrust
from tray.paths import locate


class Driven(ClickTrust):
    """An agent's own browser is refused all the same."""

    def browser_objection(self, pid: int) -> ClickRejection | None:
        return (
            ClickRejection(ClickObjection.AGENT, "belongs to an agent or a hook")
            if self.has_agent_ancestor(pid)
            else None
        )


if __name__ == "__main__":
    sys.exit(run(locate(sys.argv[2]), trust=Driven))
