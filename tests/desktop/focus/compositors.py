"""Wayland compositors without a graphics card: sway with foot, KWin with Konsole."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from desk import wait
from notify.parts import session_bus

from desktop.focus.terminals import LONG, Pane
from tray.desktop.focus import sway


class Compositor:
    """One of its own, with the programs that it shows. `folder` is short: it has sockets in it."""

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    sockets: Mapping[str, str]  # variables that name them, and the form of their names

    def __init__(self, folder: Path, more: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LC_ALL": "C.UTF-8",
            **self.variables, **more,
        }  # fmt: skip
        self._log = (folder / "log").open("wb")
        self._started: list[subprocess.Popen[bytes]] = []

    def begin(self, *argv: str) -> Self:
        self.start(argv)
        for variable, pattern in self.sockets.items():
            found = wait(lambda pattern=pattern: next(self.folder.glob(pattern), None), LONG, variable)  # type: ignore[misc]
            self.environment[variable] = str(found)
        return self

    def start(self, argv: Sequence[str], more: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            argv, env={**self.environment, **(more or {})}, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )  # fmt: skip
        self._started.append(process)
        return process

    def close(self) -> None:
        for one in reversed(self._started):
            one.terminate()
            one.wait(LONG)
        self._log.close()


class Sway(Compositor):
    """One terminal for each pane."""

    variables = {"WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
    sockets = {"SWAYSOCK": "sway-ipc.*.sock", "WAYLAND_DISPLAY": "wayland-?"}

    def terminal(self, number: int) -> Pane:
        file = self.folder / f"p{number}"
        line = f"echo $$ > {file}; exec cat"
        window = self.start(("foot", "-c", "/dev/null", "sh", "-c", line))
        wait(lambda: file.exists() and file.read_text().endswith("\n"), what="a terminal")
        wait(lambda: sway.focused_pid(self.environment) == window.pid, what="the focus of its new window")
        return Pane(int(file.read_text()))


class Kwin(Compositor):
    """On a session bus of its own."""

    variables = {
        "KDE_FULL_SESSION": "true", "KWIN_COMPOSE": "Q", "KWIN_WAYLAND_NO_PERMISSION_CHECKS": "1",
        "QT_QPA_PLATFORM": "wayland", "QT_QUICK_BACKEND": "software", "XDG_CURRENT_DESKTOP": "KDE",
        "XDG_SESSION_TYPE": "wayland",
    }  # fmt: skip
    sockets = {"WAYLAND_DISPLAY": "wayland-?"}


@contextmanager
def running_sway() -> Iterator[Sway]:
    with tempfile.TemporaryDirectory(prefix="sway") as name:
        folder = Path(name)
        (folder / "sway.conf").write_text("output HEADLESS-1 resolution 1280x720\n")
        # sway does not run as root; in a namespace of its own its files still belong to whoever runs the tests.
        other = () if os.getuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")
        started = Sway(folder, {})
        try:
            yield started.begin(*other, "sway", "-c", str(folder / "sway.conf"))
        finally:
            started.close()


@contextmanager
def running_kwin() -> Iterator[Kwin]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kwin")))
        # Of a copy: the installed one has capabilities, which a container may not let it have.
        program = folder / "kwin_wayland"
        shutil.copyfile(str(shutil.which("kwin_wayland")), program)
        program.chmod(0o755)
        address = stack.enter_context(session_bus(folder, {**os.environ, "HOME": str(folder)}))
        started = Kwin(folder, {"DBUS_SESSION_BUS_ADDRESS": address})
        stack.callback(started.close)
        yield started.begin(str(program), "--virtual", "--width", "1280", "--height", "720")
