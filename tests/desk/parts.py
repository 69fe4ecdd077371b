"""The parts of a desk, one function each: the argv it is started with, and the condition under which it is there."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from desk.programs import MARK, Programs
from desk.sound import server
from desk.wait import Overdue, wait

CONFIG = Path(__file__).parent / "config"
DEPTH = 24
DEADLINE = 60.0  # seconds for each part to come up; only a busy machine needs them
PATHS = {  # template in config/ -> where it stands below the desk's folder
    "bus.conf": "bus.conf",
    "dunstrc": "config/dunst/dunstrc",
    "gtk.ini": "config/gtk-3.0/settings.ini",
    "lxqt.conf": "config/lxqt/panel.conf",
    "notifyd.xml": "config/xfce4/xfconf/xfce-perchannel-xml/xfce4-notifyd.xml",
    "openbox.xml": "config/openbox/rc.xml",
    "panel.xml": "config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml",
    "pick": "pick",
    "pulse.pa": "pulse.pa",
    "record": "record",
    "tint2rc": "config/tint2/tint2rc",
}
FOLDERS = ("cache", "config", "data", "home", "log", "notifications", "run", "services", "state")


class PartMissing(Overdue):
    """A part of the desk did not come up; the message ends with its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A program of the desk, and how one sees that it does its work."""

    argv: tuple[str | Path, ...]
    ready: Callable[[], object]


LIGHT = {  # what is written otherwise on a light desk
    '"dark-mode" type="bool" value="true"': '"dark-mode" type="bool" value="false"',
    'name="theme" type="string" value="Greybird"': 'name="theme" type="string" value="Greybird-bright"',
    'background = "#2b303b"': 'background = "#f7f7f8"',
    'foreground = "#c0c5ce"': 'foreground = "#4a4f59"',
    'foreground = "#eff1f5"': 'foreground = "#23262d"',
    'foreground = "#ffffff"': 'foreground = "#16181d"',
    'frame_color = "#5c6370"': 'frame_color = "#b9bec8"',
}


def furnish(folder: Path, *, dark: bool = True) -> None:
    """The private home, and the configuration of every part."""
    for name in FOLDERS:
        (folder / name).mkdir(mode=0o700, parents=True)
    for template, place in PATHS.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (CONFIG / template).read_text()
        for one, other in () if dark else LIGHT.items():
            text = text.replace(one, other)
        target.write_text(text.replace("@FOLDER@", str(folder)).replace("@RUN@", str(folder / "run")))
    for program in ("record", "pick"):
        (folder / program).chmod(0o700)
    shutil.copy("/usr/share/dbus-1/services/org.xfce.Xfconf.service", folder / "services")


def environment(folder: Path) -> dict[str, str]:
    """What programs on the desk see, except DISPLAY; nothing of it points to the real home."""
    places = {f"XDG_{name.upper()}_HOME": str(folder / name) for name in ("cache", "config", "data", "state")}
    return places | {
        MARK: str(folder),
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder / 'run' / 'bus'}",
        "GIO_USE_VFS": "local",
        "GSETTINGS_BACKEND": "memory",
        "GTK_CSD": "0",
        "HOME": str(folder / "home"),
        "LC_ALL": "C.UTF-8",
        "NO_AT_BRIDGE": "1",
        "PATH": os.environ.get("PATH", os.defpath),
        "PULSE_SERVER": f"unix:{folder / 'run' / 'pulse.socket'}",
        "TMPDIR": str(folder / "cache"),
        "XDG_CURRENT_DESKTOP": "XFCE",
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "XDG_SESSION_TYPE": "x11",
    }


def display(programs: Programs, variables: Mapping[str, str], size: tuple[int, int]) -> str:
    """Xvfb on the first free display, and that display's name."""
    reader, writer = os.pipe()
    screen = f"{size[0]}x{size[1]}x{DEPTH}"
    argv = ("Xvfb", "-displayfd", str(writer), "-screen", "0", screen, "-noreset", "-nolisten", "tcp", "-dpi", "96")
    try:
        try:
            server = programs.start(argv, variables, pass_fds=(writer,), last=True)
        finally:
            os.close(writer)
        number = _line(reader)
    finally:
        os.close(reader)
    if not number:
        raise PartMissing(f"Xvfb said no display\n{programs.log(server)}")
    return f":{number}"


def session_bus(folder: Path) -> Part:
    argv = ("dbus-daemon", "--config-file", folder / "bus.conf", "--nofork", "--nopidfile", "--print-address")
    return Part(argv=argv, ready=lambda: answers(folder / "run" / "bus"))


def sound(folder: Path) -> Part:
    return Part(argv=server(folder / "pulse.pa"), ready=lambda: answers(folder / "run" / "pulse.socket"))


def window_manager(ready: Callable[[], object]) -> Part:
    return Part(argv=("openbox", "--sm-disable"), ready=ready)


def panel(has_name: Callable[[str], bool], tray: Callable[[], object]) -> Part:
    return Part(
        argv=("xfce4-panel", "--disable-wm-check", "--sm-client-disable"),
        ready=lambda: has_name("org.kde.StatusNotifierWatcher") and tray(),
    )


def notifications(kind: str, folder: Path, has_name: Callable[[str], bool]) -> Part:
    argv: dict[str, tuple[str | Path, ...]] = {
        "dunst": ("dunst", "-conf", folder / "config" / "dunst" / "dunstrc"),
        "xfce4": (_notifyd(),),
    }
    return Part(argv=argv[kind], ready=lambda: has_name("org.freedesktop.Notifications"))


def arrive(programs: Programs, process: subprocess.Popen[bytes], part: Part) -> None:
    """Waits until the part is there; raises PartMissing with its log when it ends first or takes too long."""

    def ready() -> object:
        if process.poll() is not None:
            raise PartMissing(f"{part.argv[0]} ended with code {process.returncode}\n{programs.log(process)}")
        return part.ready()

    try:
        wait(ready, DEADLINE, f"{part.argv[0]} is ready")
    except PartMissing:
        raise
    except Overdue as overdue:
        raise PartMissing(f"{overdue}\n{programs.log(process)}") from overdue


def answers(path: Path) -> bool:
    """Whether somebody listens on this socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _line(reader: int) -> str:
    """To the very end: Xvfb writes number and line feed apart, and dies when nobody takes the second."""
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([reader], [], [], DEADLINE)
        more = os.read(reader, 16) if ready else b""
        if not more:
            return ""
        line += more
    return line.decode().strip()


def _notifyd() -> Path:
    """xfce4-notifyd is in no PATH; its service file says where it is."""
    service = Path("/usr/share/dbus-1/services/org.xfce.xfce4-notifyd.Notifications.service").read_text()
    return Path(next(line for line in service.splitlines() if line.startswith("Exec=")).removeprefix("Exec="))
