"""com.canonical.dbusmenu: how a tray host reads the menu. Clicks do not come in here, see sni.py."""

# dbus-fast reads the annotations of this module as D-Bus signatures, so they must not be postponed to strings.

import asyncio
from itertools import count
from typing import Annotated

from dbus_fast import ErrorType, PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusInt32, DBusSignature, DBusStr, DBusUInt32, DBusVariant
from dbus_fast.errors import DBusError
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

from tray.desktop.clicks import IconClicks
from tray.desktop.menu_table import ROOT, MenuChange, MenuTable, Property
from tray.threads import Queue

MENU = "com.canonical.dbusmenu"
READ = PropertyAccess.READ
SIGNATURES = {bool: "b", int: "i", str: "s"}

MenuProperties = dict[str, Variant]
Node = list[int | MenuProperties | list[Variant]]
Numbers = Annotated[list[int], DBusSignature("ai")]
Names = Annotated[list[str], DBusSignature("as")]
Events = Annotated[list[tuple[int, str, Variant, int]], DBusSignature("a(isvu)")]


class Menu(ServiceInterface):
    """Publishes a table of rows, and signals every change to a host that has the menu open."""

    def __init__(self, main: Queue, clicks: IconClicks) -> None:
        """`main` is the queue of the main thread, which calls `clicks.opened` when the menu opens."""
        super().__init__(MENU)
        self.table = MenuTable()
        self._main, self._clicks = main, clicks
        self._revisions = count(2)
        self._revision = 1
        self._announced: set[int] = set()  # rows whose menu the host was told to read

    def opened(self) -> None:
        self._main.post(self._clicks.opened)

    def publish(self, change: MenuChange) -> None:
        """Rows that changed are repainted in place; only parents whose children changed are read again."""
        if change.rows:
            self.ItemsPropertiesUpdated([[number, _variants(properties)] for number, properties in change.rows], [])
        for parent in change.parents:
            self._signal_layout(parent)

    @dbus_method()
    def GetLayout(  # noqa: N802
        self, parent: DBusInt32, depth: DBusInt32, names: Names
    ) -> Annotated[tuple[int, Node], DBusSignature("u(ia{sv}av)")]:
        if depth == 1:
            asyncio.get_running_loop().call_soon(self._announce_submenus, parent)
        return self._revision, self._node(parent, depth, names)

    @dbus_method()
    def GetGroupProperties(  # noqa: N802
        self, ids: Numbers, names: Names
    ) -> Annotated[list[list[int | MenuProperties]], DBusSignature("a(ia{sv})")]:
        rows = self.table.rows
        return [[number, _variants(rows[number].properties, names)] for number in ids or rows if number in rows]

    @dbus_method()
    def GetProperty(self, number: DBusInt32, name: DBusStr) -> DBusVariant:  # noqa: N802
        row = self.table.rows.get(number)
        if row is None or name not in row.properties:
            raise DBusError(ErrorType.INVALID_ARGS, f"no property {name} of row {number}")
        return _variants(row.properties)[name]

    @dbus_method()
    def Event(self, number: DBusInt32, kind: DBusStr, data: DBusVariant, time: DBusUInt32) -> None:  # noqa: N802
        raise DBusError(ErrorType.ACCESS_DENIED, "events are taken from tray hosts only")

    @dbus_method()
    def EventGroup(self, events: Events) -> Numbers:  # noqa: N802
        raise DBusError(ErrorType.ACCESS_DENIED, "events are taken from tray hosts only")

    @dbus_method()
    def AboutToShow(self, number: DBusInt32) -> DBusBool:  # noqa: N802
        if number == ROOT:
            self.opened()
        return False

    @dbus_method()
    def AboutToShowGroup(  # noqa: N802
        self, ids: Numbers
    ) -> Annotated[tuple[list[int], list[int]], DBusSignature("aiai")]:
        if ROOT in ids:
            self.opened()
        return [], [number for number in ids if number not in self.table.rows]

    @dbus_property(READ)
    def Version(self) -> DBusUInt32:  # noqa: N802
        return 3

    @dbus_property(READ)
    def Status(self) -> DBusStr:  # noqa: N802
        return "normal"

    @dbus_property(READ)
    def TextDirection(self) -> DBusStr:  # noqa: N802
        return "ltr"

    @dbus_property(READ)
    def IconThemePath(self) -> Names:  # noqa: N802
        return []

    @dbus_signal()
    def LayoutUpdated(  # noqa: N802
        self, revision: int, parent: int
    ) -> Annotated[tuple[int, int], DBusSignature("ui")]:
        return revision, parent

    @dbus_signal()
    def ItemsPropertiesUpdated(  # noqa: N802
        self, changed: list[list[int | MenuProperties]], removed: list[list[int | list[str]]]
    ) -> Annotated[
        tuple[list[list[int | MenuProperties]], list[list[int | list[str]]]], DBusSignature("a(ia{sv})a(ias)")
    ]:
        return changed, removed

    def _announce_submenus(self, parent: int) -> None:
        """A host that reads one level at a time, such as Plasma, reads the next level before it is opened.

        Otherwise Plasma opens a submenu while it is empty and small, and the rows that follow may be off the screen.
        """
        rows = self.table.rows
        self._announced.intersection_update(() if parent == ROOT else rows)
        for child in rows[parent].children if parent in rows else ():
            if rows[child].children and child not in self._announced:
                self._announced.add(child)
                self._signal_layout(child)

    def _signal_layout(self, parent: int) -> None:
        self._revision = next(self._revisions)
        self.LayoutUpdated(self._revision, parent)

    def _node(self, number: int, depth: int, names: list[str]) -> Node:
        row = self.table.rows.get(number)
        if row is None:
            raise DBusError(ErrorType.INVALID_ARGS, f"no row {number}")
        below = row.children if depth else ()
        children = [Variant("(ia{sv}av)", self._node(child, depth - 1, names)) for child in below]
        return [number, _variants(row.properties, names), children]


def _variants(properties: dict[str, Property], names: list[str] | None = None) -> MenuProperties:
    return {
        name: Variant(SIGNATURES[type(value)], value)
        for name, value in properties.items()
        if not names or name in names
    }
