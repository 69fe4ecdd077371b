"""org.kde.StatusNotifierItem: the icon and its tooltip, as a tray host reads them. Everything else is the menu's."""

# dbus-fast reads the annotations of this module as D-Bus signatures, so they must not be postponed to strings.

from typing import Annotated

from dbus_fast import PropertyAccess
from dbus_fast.annotations import DBusBool, DBusInt32, DBusObjectPath, DBusSignature, DBusStr, DBusUInt32
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

from tray.desktop.artwork import IconState, Pixmaps, pixmaps
from tray.text import escape_markup, sanitise

MENU_PATH = "/MenuBar"
TOOLTIP_LIMIT = 127  # characters
READ = PropertyAccess.READ

DBusPixmaps = Annotated[Pixmaps, DBusSignature("a(iiay)")]
DBusToolTip = Annotated[tuple[str, Pixmaps, str, str], DBusSignature("(sa(iiay)ss)")]


CALM = frozenset({IconState.ON, IconState.OFF, IconState.PAUSED})  # of these a host need not draw attention to any


class StatusItem(ServiceInterface):
    """What a host draws."""

    def __init__(self) -> None:
        super().__init__("org.kde.StatusNotifierItem")
        self.state = IconState.ON
        self.tooltip = ""
        self._spoken = "Hooktray"  # what a screen reader reads for the icon

    def update(self, state: IconState, tooltip: str) -> None:
        before = self.state, self.tooltip
        self._spoken = sanitise(tooltip, TOOLTIP_LIMIT)
        self.state, self.tooltip = state, escape_markup(sanitise(tooltip, TOOLTIP_LIMIT))
        if before[0] is not state:
            self.repeat()
        if before != (self.state, self.tooltip):
            self.NewToolTip()

    def repeat(self) -> None:
        """Signal the state, also to a host that may have missed it."""
        self.NewIcon()
        self.NewAttentionIcon()
        self.NewStatus(_status(self.state))

    @dbus_method()
    def Activate(self, x: DBusInt32, y: DBusInt32) -> None:  # noqa: N802
        """The left button, where a host does not open the menu by itself. Taken off the wire in sni.py."""

    @dbus_method()
    def SecondaryActivate(self, x: DBusInt32, y: DBusInt32) -> None:  # noqa: N802
        """The middle button: the page, too. Taken off the wire in sni.py."""

    @dbus_method()
    def XAyatanaSecondaryActivate(self, timestamp: DBusUInt32) -> None:  # noqa: N802
        """The same from hosts that know Ayatana's indicators."""

    @dbus_method()
    def ContextMenu(self, x: DBusInt32, y: DBusInt32) -> None:  # noqa: N802
        """Nothing: the host shows the menu that it read."""

    @dbus_method()
    def Scroll(self, delta: DBusInt32, orientation: DBusStr) -> None:  # noqa: N802
        """Nothing: the wheel is for scrolling, not for switching guards off."""

    @dbus_property(READ)
    def Category(self) -> DBusStr:  # noqa: N802
        return "ApplicationStatus"

    @dbus_property(READ)
    def Id(self) -> DBusStr:  # noqa: N802
        return "hooktray"

    @dbus_property(READ)
    def Title(self) -> DBusStr:  # noqa: N802
        return "Hooktray"

    @dbus_property(READ)
    def Status(self) -> DBusStr:  # noqa: N802
        return _status(self.state)

    @dbus_property(READ)
    def WindowId(self) -> DBusInt32:  # noqa: N802
        return 0

    @dbus_property(READ)
    def IconName(self) -> DBusStr:  # noqa: N802
        return ""

    @dbus_property(READ)
    def IconPixmap(self) -> DBusPixmaps:  # noqa: N802
        return pixmaps(self.state)

    @dbus_property(READ)
    def AttentionIconName(self) -> DBusStr:  # noqa: N802
        return ""

    @dbus_property(READ)
    def AttentionIconPixmap(self) -> DBusPixmaps:  # noqa: N802
        return pixmaps(self.state)

    @dbus_property(READ)
    def IconAccessibleDesc(self) -> DBusStr:  # noqa: N802
        return self._spoken

    @dbus_property(READ)
    def AttentionAccessibleDesc(self) -> DBusStr:  # noqa: N802
        return self._spoken

    @dbus_property(READ)
    def OverlayIconName(self) -> DBusStr:  # noqa: N802
        return ""

    @dbus_property(READ)
    def OverlayIconPixmap(self) -> DBusPixmaps:  # noqa: N802
        return []

    @dbus_property(READ)
    def IconThemePath(self) -> DBusStr:  # noqa: N802
        return ""

    @dbus_property(READ)
    def ToolTip(self) -> DBusToolTip:  # noqa: N802
        return "", [], "Hooktray", self.tooltip.removeprefix("Hooktray · ")

    @dbus_property(READ)
    def ItemIsMenu(self) -> DBusBool:  # noqa: N802
        return True

    @dbus_property(READ)
    def Menu(self) -> DBusObjectPath:  # noqa: N802
        return MENU_PATH

    @dbus_signal()
    def NewIcon(self) -> None:  # noqa: N802
        """The host reads the icon again."""

    @dbus_signal()
    def NewAttentionIcon(self) -> None:  # noqa: N802
        """The host reads that icon again."""

    @dbus_signal()
    def NewToolTip(self) -> None:  # noqa: N802
        """The host reads the tooltip again."""

    @dbus_signal()
    def NewStatus(self, status: str) -> DBusStr:  # noqa: N802
        return status


def _status(state: IconState) -> str:
    return "Active" if state in CALM else "NeedsAttention"
