"""What a Linux desktop offers, and how it opens a file."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from tray.errors import HooktrayError
from tray.language import say


class IconDisplay(Protocol):
    flush: Callable[[], object]

    def get_display_name(self) -> str: ...


class IconWindow(Protocol):
    id: int


class XorgIcon(Protocol):
    """What is private in pystray's Xorg icon."""

    _display: IconDisplay
    _window: IconWindow
    _thread: threading.Thread
    _send_message: Callable[..., object]


LAUNCHER = Path(__file__).with_name("launcher.py")


class XScreen(msgspec.Struct, frozen=True, kw_only=True):
    """What the X server reports: that it is there, and whether an XEmbed tray is."""

    display: bool = False
    xembed: bool = False


def session_bus(environment: Mapping[str, str]) -> str:
    """The address of the D-Bus session; "" when there is none."""
    if address := environment.get("DBUS_SESSION_BUS_ADDRESS", ""):
        return address
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    try:
        return f"unix:path={runtime}/bus" if runtime and Path(runtime, "bus").is_socket() else ""
    except OSError:  # another user's folder
        return ""


def collapses_submenus(environment: Mapping[str, str]) -> bool:
    """GNOME Shell draws submenus inside the menu, and without any height those in a submenu that it scrolls."""
    return "GNOME" in environment.get("XDG_CURRENT_DESKTOP", "").split(":")


def query_screen(environment: Mapping[str, str]) -> XScreen:
    """Ask the X server of the environment; Xlib is there because pystray brings it."""
    name = environment.get("DISPLAY", "")
    if not name:
        return XScreen()
    from Xlib import X, display, error  # type: ignore[import-untyped]

    try:
        connection = display.Display(name)
    except (error.DisplayError, error.ConnectionClosedError, OSError):
        return XScreen()
    try:
        selection = connection.intern_atom(f"_NET_SYSTEM_TRAY_S{connection.get_default_screen()}")
        return XScreen(display=True, xembed=connection.get_selection_owner(selection) != X.NONE)
    finally:
        connection.close()


def open_file(path: Path) -> int:
    """Open it in the user's own viewer, which runs on by itself. Returns the process that stays above it."""
    if not shutil.which("xdg-open"):
        hint = say("install xdg-utils, or read {file}", file=path)
        raise HooktrayError(say("no program that opens files was found"), hint=hint)
    done = subprocess.run(
        [sys.executable, "-I", "-S", LAUNCHER, "xdg-open", path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=10,
        check=False,
    )
    if not done.stdout.strip().isdigit():
        hint = say("read {file}, and try again", file=path)
        raise HooktrayError(say("the program that opens files could not be started"), hint=hint)
    return int(done.stdout)


def separate_connection(icon: XorgIcon) -> Callable[[], None]:
    """Make other threads talk to pystray's Xorg icon over a second connection; returns what closes that.

    python-xlib loses a reply when two threads use one connection: each may read what the other waits for (measured:
    one start in six never drew its icon). pystray's loop reads its connection; other threads only send to its window.
    """
    from Xlib import X, display, error
    from Xlib.protocol import event  # type: ignore[import-untyped]

    ours = display.Display(icon._display.get_display_name())
    window = ours.create_resource_object("window", icon._window.id)
    direct, flush = icon._send_message, icon._display.flush

    def on_loop() -> bool:
        return threading.current_thread() is icon._thread

    def send(target: object, kind: int, *words: int) -> None:
        if on_loop():
            direct(target, kind, *words)
            return
        data = (32, [X.CurrentTime, *words, *([0] * (4 - len(words)))])
        window.send_event(event.ClientMessage(client_type=kind, window=window, data=data), event_mask=X.NoEventMask)
        ours.flush()

    icon._send_message = send
    icon._display.flush = lambda: flush() if on_loop() else None

    def close() -> None:
        with contextlib.suppress(error.ConnectionClosedError):  # the X server may have ended before
            ours.close()

    return close
