"""A real headless desktop for tests: `with Desk(folder) as desk`.

On other systems there is only `wait`, and a module that needs more is skipped.
"""

import sys

import pytest

from desk.wait import Overdue, wait

if sys.platform == "linux":
    from desk.bus import MenuRow, TrayItem
    from desk.desktop import Desk
    from desk.menus import Spot
    from desk.notifications import Notification
    from desk.parts import PartMissing
    from desk.sound import Recording
else:

    def __getattr__(name: str) -> None:
        """The libraries of the rest are not installed: what imports it is left out."""
        pytest.skip("the desk is one of Linux", allow_module_level=True)


__all__ = ["Desk", "MenuRow", "Notification", "Overdue", "PartMissing", "Recording", "Spot", "TrayItem", "wait"]
