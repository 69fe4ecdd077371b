"""com.canonical.dbusmenu: how a tray host reads the menu. sni.py takes the clicks.

MenuTable has the rows with stable numbers, and finds what changed from one menu to the next.
"""

# dbus-fast reads the annotations of this module as D-Bus signatures, so they must not be postponed to strings.

import asyncio
from collections.abc import Iterable
from itertools import count
from typing import Annotated

import msgspec
from dbus_fast import ErrorType, PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusInt32, DBusSignature, DBusStr, DBusUInt32, DBusVariant
from dbus_fast.errors import DBusError
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal
from msgspec.structs import replace

from tray.desktop.menu.actions import Action, IconClicks
from tray.desktop.menu.items import Item, ItemKind
from tray.threads import Queue

MENU = "com.canonical.dbusmenu"
ROOT = 0
READ = PropertyAccess.READ
SIGNATURES = {bool: "b", int: "i", str: "s"}

Property = str | bool | int
MenuProperties = dict[str, Variant]
Node = list[int | MenuProperties | list[Variant]]
Numbers = Annotated[list[int], DBusSignature("ai")]
Names = Annotated[list[str], DBusSignature("as")]
Events = Annotated[list[tuple[int, str, Variant, int]], DBusSignature("a(isvu)")]


class MenuRow(msgspec.Struct, frozen=True):
    """One item on the wire."""

    properties: dict[str, Property]
    children: tuple[int, ...] = ()
    action: Action | None = None


class MenuChange(msgspec.Struct, frozen=True):
    """What a host must be signalled: rows with other properties, and parents with other children."""

    rows: tuple[tuple[int, dict[str, Property]], ...] = ()
    parents: tuple[int, ...] = ()


class MenuTable:
    """Numbers for item ids. An item keeps its number while it is shown; no number is ever given twice."""

    def __init__(self) -> None:
        self.rows = {ROOT: MenuRow({"children-display": "submenu"})}
        self._numbers: dict[str, int] = {}
        self._fresh = count(1)

    def update(self, items: Iterable[Item]) -> MenuChange:
        """Take over the new menu; returns what changed."""
        before, numbers = self.rows, dict[str, int]()
        after: dict[int, MenuRow] = {}
        children = tuple(self._add(item, after, numbers) for item in items)
        after[ROOT] = replace(before[ROOT], children=children)
        self.rows, self._numbers = after, numbers
        common = [number for number in after if number in before]
        changed = (number for number in common if before[number].properties != after[number].properties)
        parents = (number for number in common if before[number].children != after[number].children)
        return MenuChange(tuple((number, after[number].properties) for number in changed), tuple(parents))

    def _add(self, item: Item, rows: dict[int, MenuRow], numbers: dict[str, int]) -> int:
        number = numbers[item.id] = self._numbers.get(item.id) or next(self._fresh)
        children = tuple(self._add(child, rows, numbers) for child in item.children)
        rows[number] = MenuRow(_properties(item), children, item.action if item.enabled else None)
        return number


def _properties(item: Item) -> dict[str, Property]:
    if item.kind is ItemKind.SEPARATOR:
        return {"type": "separator"}
    # One underscore would mark the next letter as the row's shortcut.
    properties: dict[str, Property] = {"label": item.label.replace("_", "__"), "enabled": item.enabled}
    if item.kind is ItemKind.CHECK:
        properties |= {"toggle-type": "checkmark", "toggle-state": int(item.checked)}
    if item.kind is ItemKind.SUBMENU:
        properties["children-display"] = "submenu"
    return properties


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
