"""A small tray program for the desk's own tests: a check box, nested rows, a label; it prints what was clicked."""

import asyncio
import os
from typing import Annotated, Any

from dbus_fast import Message, PropertyAccess, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.annotations import DBusBool, DBusInt32, DBusObjectPath, DBusSignature, DBusStr, DBusUInt32, DBusVariant
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

SIDE = 22  # pixels of the icon
LATE = float(os.environ.get("DESK_ITEM_LATE", "0"))  # seconds before the menu's rows are there
LATER = float(os.environ.get("DESK_ITEM_LATE_SUBMENU", "0"))  # seconds from the first opening to the rows of Pause
COLOUR = b"\xff" + bytes.fromhex(os.environ.get("DESK_ITEM_COLOUR", "2ea043"))
NAME = f"org.kde.StatusNotifierItem-{os.getpid()}-1"
WATCHER = ("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher")

ROWS: dict[int, dict[str, Any]] = {
    1: {"label": "Ready, 2 hooks", "enabled": False},
    2: {"label": "Hooks enabled", "toggle-type": "checkmark", "toggle-state": 1},
    3: {"type": "separator"},
    12: {"type": "separator"},
    4: {"label": "Pause", "children-display": "submenu"},
    5: {"label": "30 min"},
    6: {"label": "Longer", "children-display": "submenu"},
    7: {"label": "1 h"},
    8: {"label": "Until tomorrow"},
    9: {"label": "Hidden", "visible": False},
    10: {"label": "snake__case"},
    11: {"label": "Quit"},
}
CHILDREN = {0: [1, 2, 3, 4, 9, 10, 12, 11], 4: [5, 6], 6: [7, 8]}
SUBMENU = ROWS[4].copy(), CHILDREN[4]
if LATER:
    ROWS[4], CHILDREN[4] = {"label": "Pause"}, []
for number, text in enumerate(os.environ.get("DESK_ITEM_ROWS", "").splitlines(), start=100):  # more rows in the end
    ROWS[number] = {"label": text}
    CHILDREN[0].append(number)

Node = Annotated[list[Any], DBusSignature("(ia{sv}av)")]
Pixmaps = Annotated[list[Any], DBusSignature("a(iiay)")]
Names = Annotated[list[str], DBusSignature("as")]
Ids = Annotated[list[int], DBusSignature("ai")]
Shown = Annotated[list[Any], DBusSignature("a(ia{sv})")]
Gone = Annotated[list[Any], DBusSignature("a(ias)")]
Events = Annotated[list[Any], DBusSignature("a(isvu)")]
Layout = Annotated[list[Any], DBusSignature("u(ia{sv}av)")]
Updates = Annotated[list[Any], DBusSignature("a(ia{sv})a(ias)")]
Update = Annotated[list[Any], DBusSignature("ui")]
IdPair = Annotated[list[Any], DBusSignature("aiai")]


def variants(number: int) -> dict[str, Variant]:
    letters = {bool: "b", int: "i", str: "s"}
    return {key: Variant(letters[type(value)], value) for key, value in ROWS.get(number, {}).items()}


def node(number: int) -> list[Any]:
    children = [Variant("(ia{sv}av)", node(child)) for child in CHILDREN.get(number, [])]
    return [number, variants(number), children]


class Item(ServiceInterface):
    """The icon: a disc, green unless the environment says another colour."""

    def __init__(self) -> None:
        super().__init__("org.kde.StatusNotifierItem")

    @dbus_method()
    def Activate(self, x: DBusInt32, y: DBusInt32) -> None:  # noqa: N802
        print("activated", flush=True)

    @dbus_property(PropertyAccess.READ)
    def Category(self) -> DBusStr:  # noqa: N802
        return "ApplicationStatus"

    @dbus_property(PropertyAccess.READ)
    def Id(self) -> DBusStr:  # noqa: N802
        return "desk-item"

    @dbus_property(PropertyAccess.READ)
    def Title(self) -> DBusStr:  # noqa: N802
        return "Desk item"

    @dbus_property(PropertyAccess.READ)
    def Status(self) -> DBusStr:  # noqa: N802
        return "Active"

    @dbus_property(PropertyAccess.READ)
    def ItemIsMenu(self) -> DBusBool:  # noqa: N802 - a host takes a missing one for true
        return False

    @dbus_property(PropertyAccess.READ)
    def Menu(self) -> DBusObjectPath:  # noqa: N802
        return "/Menu"

    @dbus_property(PropertyAccess.READ)
    def IconPixmap(self) -> Pixmaps:  # noqa: N802
        middle, radius = (SIDE - 1) / 2, SIDE / 2 - 1
        inside = [(x - middle) ** 2 + (y - middle) ** 2 < radius**2 for y in range(SIDE) for x in range(SIDE)]
        return [[SIDE, SIDE, b"".join(COLOUR if here else bytes(4) for here in inside)]]


class Menu(ServiceInterface):
    """The menu: prints the label of a clicked row, flips a check mark."""

    def __init__(self, ended: asyncio.Event) -> None:
        super().__init__("com.canonical.dbusmenu")
        self._ended = ended
        self._ready = asyncio.get_running_loop().time() + LATE
        self._revision = 1

    @dbus_method()
    async def GetLayout(self, parent: DBusInt32, depth: DBusInt32, names: Names) -> Layout:  # noqa: N802
        await asyncio.sleep(self._ready - asyncio.get_running_loop().time())
        return [self._revision, node(parent)]

    @dbus_method()
    def GetGroupProperties(self, ids: Ids, names: Names) -> Shown:  # noqa: N802
        return [[number, variants(number)] for number in ids or ROWS]

    @dbus_method()
    def Event(self, number: DBusInt32, kind: DBusStr, data: DBusVariant, time: DBusUInt32) -> None:  # noqa: N802
        self._take(number, kind)

    @dbus_method()
    def EventGroup(self, events: Events) -> Ids:  # noqa: N802
        for number, kind, _, _ in events:
            self._take(number, kind)
        return []

    @dbus_method()
    def AboutToShow(self, number: DBusInt32) -> DBusBool:  # noqa: N802
        return False

    @dbus_method()
    def AboutToShowGroup(self, ids: Ids) -> IdPair:  # noqa: N802
        if not CHILDREN[4]:
            asyncio.get_running_loop().call_later(LATER, self._add_pauses)
        return [[], []]

    @dbus_property(PropertyAccess.READ)
    def Version(self) -> DBusUInt32:  # noqa: N802
        return 3

    @dbus_property(PropertyAccess.READ)
    def Status(self) -> DBusStr:  # noqa: N802
        return "normal"

    @dbus_signal()
    def ItemsPropertiesUpdated(self, shown: Shown, gone: Gone) -> Updates:  # noqa: N802
        return [shown, gone]

    @dbus_signal()
    def LayoutUpdated(self, revision: DBusUInt32, parent: DBusInt32) -> Update:  # noqa: N802
        return [revision, parent]

    def _add_pauses(self) -> None:
        ROWS[4], CHILDREN[4] = SUBMENU
        self._revision += 1
        self.ItemsPropertiesUpdated([[4, variants(4)]], [])
        self.LayoutUpdated(self._revision, 4)

    def _take(self, number: int, kind: str) -> None:
        if kind != "clicked":
            return
        print("clicked", ROWS[number]["label"], flush=True)
        if "toggle-state" in ROWS[number]:
            ROWS[number]["toggle-state"] ^= 1
            self.ItemsPropertiesUpdated([[number, {"toggle-state": variants(number)["toggle-state"]}]], [])
        if ROWS[number]["label"] == "Quit":
            self._ended.set()


async def main() -> None:
    ended = asyncio.Event()
    bus = await MessageBus().connect()
    bus.export("/StatusNotifierItem", Item())
    bus.export("/Menu", Menu(ended))
    await bus.request_name(NAME)
    destination, path, interface = WATCHER
    await bus.call(
        Message(
            destination=destination,
            path=path,
            interface=interface,
            member="RegisterStatusNotifierItem",
            signature="s",
            body=[NAME],
        )
    )
    await ended.wait()
    bus.disconnect()


if __name__ == "__main__":
    asyncio.run(main())
