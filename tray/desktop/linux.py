"""What a Linux desktop offers, and how it opens a file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tray.errors import HooktrayError
from tray.language import say

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
