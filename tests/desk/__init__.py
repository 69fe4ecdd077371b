"""A real headless desktop for tests: `with Desk(folder) as desk`."""

from desk.bus import MenuRow, TrayItem
from desk.desktop import Desk
from desk.menus import Spot
from desk.notifications import Notification
from desk.parts import PartMissing
from desk.sound import Recording
from desk.wait import Overdue, wait

__all__ = ["Desk", "MenuRow", "Notification", "Overdue", "PartMissing", "Recording", "Spot", "TrayItem", "wait"]
