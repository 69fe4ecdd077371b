"""KDE on Wayland by a script that KWin runs once: Plasma has no other way to another program's window.

The script calls us back with what it did, since to load and to run it returns nothing. It is removed afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tray.desktop.focus import session_bus
from tray.desktop.focus.windows_of import FocusError, Raised
from tray.model.place import Place
from tray.notify import server
from tray.notify.notifier import NotifierError

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

KWIN, SCRIPTING = "org.kde.KWin", "org.kde.kwin.Scripting"
INTERFACE = "hooktray.Focus"
# Plasma 5 and 6 name the same things differently.
SCRIPT = """
var pids = %(pids)s, title = %(title)s, raise = %(raise)s, found = null, among = 0, certain = true;
var all = workspace.windowList ? workspace.windowList() : workspace.clientList();
function active(w) { if (workspace.windowList) workspace.activeWindow = w; else workspace.activeClient = w; }
var now = workspace.windowList ? workspace.activeWindow : workspace.activeClient;
for (var i = 0; i < pids.length && !found; i++) {
    var own = all.filter(function (w) { return w.pid === pids[i]; });
    if (own.length) {
        var named = own.filter(function (w) { return title && w.caption.toLowerCase().indexOf(title) >= 0; });
        found = named.length ? named[0] : own[own.length - 1];
        among = own.length;
        certain = own.length === 1 || named.length === 1;
    }
}
if (found && raise) active(found);
callDBus(%(service)s, "/", "hooktray.Focus", "done",
         JSON.stringify([found !== null, certain, among, now ? now.pid : 0]));
"""


class ScriptReport(NamedTuple):
    """What the script calls back with."""

    is_found: bool = False
    is_certain: bool = False
    among: int = 0
    focused_pid: int = 0


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    if not _is_here(environment) or not place.processes:
        return None
    report = _run_script(place, title, True)
    return Raised(report.is_certain, report.among) if report.is_found else None


def focused_pid(environment: Mapping[str, str]) -> int | None:
    """The process of the window with the keyboard; 0 when no window has it, None when it is not Plasma on Wayland."""
    return _run_script(Place(), "", False).focused_pid if _is_here(environment) else None


def _is_here(environment: Mapping[str, str]) -> bool:
    return environment.get("XDG_SESSION_TYPE") == "wayland" and "KDE" in environment.get("XDG_CURRENT_DESKTOP", "")


def _run_script(place: Place, title: str, raises: bool) -> ScriptReport:
    try:
        return session_bus.run(_ask_script(place, title, raises))
    except session_bus.BusCallError as error:
        raise FocusError(f"KWin: {error}") from error


async def _ask_script(place: Place, title: str, raises: bool) -> ScriptReport:
    from dbus_fast import MessageType

    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_message(message: Message) -> None:
        if message.message_type is MessageType.METHOD_CALL and message.interface == INTERFACE and not done.done():
            done.set_result(str(message.body[0]) if message.body else "")

    async with session_bus.connected_bus() as bus:
        bus.add_message_handler(on_message)
        text = SCRIPT % {
            "pids": json.dumps([one.pid for one in place.processes]),
            "title": json.dumps(title.lower()),
            "raise": json.dumps(raises),
            "service": json.dumps(bus.unique_name),
        }
        await _load_and_run(bus, text)
        return _report(json.loads(await done))


def _report(found: object) -> ScriptReport:
    if not isinstance(found, list) or len(found) != 4:
        return ScriptReport()
    return ScriptReport(bool(found[0]), bool(found[1]), int(found[2]), int(found[3]))


async def _load_and_run(bus: MessageBus, text: str) -> None:
    name = f"hooktray-{os.urandom(4).hex()}"
    handle, path = tempfile.mkstemp(prefix="hooktray-", suffix=".js")
    try:
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is open already
            file.write(text)
        _, reply = await server.call(bus, (KWIN, "/Scripting", SCRIPTING, "loadScript", "ss", [path, name]))
        for place in (f"/Scripting/Script{reply[0]}", f"/{reply[0]}"):  # of Plasma 6, and of 5
            with contextlib.suppress(NotifierError):
                await server.call(bus, (KWIN, place, "org.kde.kwin.Script", "run", "", []))
                break
    finally:
        Path(path).unlink(missing_ok=True)
        with contextlib.suppress(NotifierError):
            await server.call(bus, (KWIN, "/Scripting", SCRIPTING, "unloadScript", "s", [name]))
