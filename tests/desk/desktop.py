"""A real desktop without a monitor: X server, D-Bus session, window manager, tray, notifications and sound."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeVar

from PIL import Image

from desk import parts
from desk.bus import WATCHER, Bus, MenuRow, TrayItem
from desk.menus import Menus, Spot
from desk.notifications import Dunst, Notification, Notifyd
from desk.parts import Part
from desk.programs import Output, Programs
from desk.screen import Screen
from desk.sound import COMMAND, Recording
from desk.wait import DEADLINE, Overdue, wait

T = TypeVar("T")
TOP, BOTTOM = (88, 116, 145), (41, 57, 77)  # the wallpaper's colours
FORGETTING = 10.0  # seconds in which the panel's tray forgets the item of a program that has ended
SOCKET_PATH = 90  # characters: the longest folder below which a program's own socket still has a name


class Desk:
    """Starts on entering, ends all its processes on leaving; everything of it lives below `folder`."""

    environment: dict[str, str]  # for programs that shall run on the desk

    def __init__(
        self,
        folder: Path,
        *,
        panel: Literal["xfce"] | None = "xfce",
        notifications: Literal["dunst", "xfce4"] | None = "dunst",
        sound: bool = True,
        size: tuple[int, int] = (1280, 720),
        dark: bool = True,
    ) -> None:
        if len(str(folder)) > SOCKET_PATH:
            raise ValueError(f"{folder}: sockets below it would have too long a name; take a shorter folder")
        self.folder = folder
        self._panel, self._server, self._sound, self._size = panel, notifications, sound, size
        self._dark = dark
        self._programs = Programs(folder)
        self._parts = ExitStack()

    def __enter__(self) -> Self:
        parts.furnish(self.folder, dark=self._dark)
        self.environment = parts.environment(self.folder)
        try:
            self._raise()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Programs first, the X server last."""
        self._parts.close()
        self._programs.end()

    # Programs

    def start(
        self,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        *,
        cwd: Path | None = None,
        stdin: Output = subprocess.DEVNULL,
        stdout: Output = None,
        stderr: Output = None,
    ) -> subprocess.Popen[bytes]:
        """A program on the desk, ended with it; `env` is added to the desk's, output goes to its log by default."""
        environment = {**self.environment, **(env or {})}
        return self._programs.start(argv, environment, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr)

    def run(
        self,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        *,
        input: bytes = b"",
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        """A program on the desk, run to its end."""
        environment = {**self.environment, **(env or {})}
        return subprocess.run(
            argv, env=environment, cwd=self.folder, input=input, capture_output=True, timeout=timeout, check=False
        )

    def stop(self, *processes: subprocess.Popen[bytes]) -> None:
        self._programs.stop(*processes)

    def log(self, process: subprocess.Popen[bytes]) -> str:
        """What it wrote, as far as its output was not redirected."""
        return self._programs.log(process)

    def leave(self, pids: Sequence[int]) -> None:
        """End everything on the desk except these processes; their tray items are gone afterwards."""
        self._programs.sweep(*pids)
        try:
            wait(self._has_forgotten, FORGETTING, "the tray forgets them")
        except Overdue:
            self._restart_panel()

    def _has_forgotten(self) -> bool:
        """Whether each item of the tray belongs to a program that is there."""
        return all(self.bus.pid(item.bus) for item in self.items())

    def _restart_panel(self) -> None:
        """Xfce's panel keeps the item of a program that was killed while it registered the item."""
        self._programs.stop(self._panel_process)
        wait(lambda: not self.bus.has_name(WATCHER[0]), what="the panel has ended")
        self._arrive([self._begin_panel()])
        wait(self._has_forgotten, what="the new panel's tray has no item of a program that is gone")

    def pids(self) -> list[int]:
        """Every living process of the desk, wherever it came from."""
        return self._programs.pids()

    # Waiting

    def wait(self, condition: Callable[[], T | None], deadline: float = DEADLINE, what: str = "the condition") -> T:
        return wait(condition, deadline, what)

    # The screen

    def screenshot(self, path: Path | None = None) -> Image.Image:
        image = self.screen.image()
        if path is not None:
            image.save(path)
        return image

    # The tray

    def items(self) -> list[TrayItem]:
        return self.bus.items()

    def wait_item(self, pid: int | None = None, deadline: float = DEADLINE) -> TrayItem:
        """The item of this process; without a pid, the only one there is."""

        def found() -> list[TrayItem]:
            return [item for item in self.items() if pid is None or self.bus.pid(item.bus) == pid]

        items = wait(found, deadline, f"a tray item of process {pid}" if pid else "a tray item")
        if len(items) > 1:
            raise LookupError(f"several tray items, say which: {items}")
        return items[0]

    def icon_at(self, item: TrayItem | None = None) -> tuple[int, int]:
        """Where the icon is on the screen: its middle."""
        return self.menus.icon_at(item or self.wait_item())

    def menu_labels(self, item: TrayItem | None = None) -> tuple[MenuRow, ...]:
        """The whole menu as the item publishes it now."""
        return self.bus.rows(item or self.wait_item())

    def row(self, *path: str, item: TrayItem | None = None) -> MenuRow:
        """One row of it, by its path of labels."""
        return self.menus.row(path, item or self.wait_item())

    def click(self, path: Sequence[str], item: TrayItem | None = None) -> None:
        """Clicks a row with the real pointer, from the icon on; labels match exactly, else by their beginning."""
        self.menus.click(path, item or self.wait_item())

    @contextmanager
    def open_menu(self, path: Sequence[str] = (), item: TrayItem | None = None) -> Iterator[list[Spot]]:
        """The menu and the submenus of the path stay open inside."""
        with self.menus.open(path, item or self.wait_item()) as spots:
            yield spots

    # Notifications

    def notifications(self) -> list[Notification]:
        """What the server showed since the last clear, oldest first."""
        return self.server.shown()

    def wait_notification(
        self, predicate: Callable[[Notification], object] = lambda _: True, deadline: float = DEADLINE
    ) -> Notification:
        def found() -> Notification | None:
            return next((shown for shown in self.notifications() if predicate(shown)), None)

        return wait(found, deadline, "a matching notification")

    def clear_notifications(self) -> None:
        self.server.clear()

    # Sound

    @contextmanager
    def record(self) -> Iterator[Recording]:
        """Records what is played inside, and a little silence after it."""
        recording = Recording(self.folder / "sound.raw")
        recording.wait_more(0.01)
        yield recording
        recording.wait_more(0.1)
        recording.end()

    # Building it

    def _raise(self) -> None:
        """What needs nothing first, all at once; then what needs display and bus, all at once."""
        first = [self._begin(parts.session_bus(self.folder))]
        if self._sound:
            first.append(self._begin(parts.sound(self.folder)))
        self._arrive(first[:1])
        self.bus = Bus(self.environment["DBUS_SESSION_BUS_ADDRESS"])
        self._parts.callback(self.bus.close)
        self._light()
        self._arrive([*first[1:], *self._second()])
        if self._sound:
            self._listen()

    def _light(self) -> None:
        """The screen."""
        self.environment["DISPLAY"] = parts.display(self._programs, self.environment, self._size)
        self.screen = Screen(self.environment)
        self._parts.callback(self.screen.close)
        self.menus = Menus(self.bus, self.screen)
        self.screen.paint(TOP, BOTTOM)

    def _listen(self) -> None:
        """One recorder for the desk's whole life: a null sink may take 2 s to serve a new one."""
        with (self.folder / "sound.raw").open("wb") as file:
            self.start(COMMAND, stdout=file)

    def _second(self) -> list[tuple[subprocess.Popen[bytes], Part]]:
        begun = [self._begin(parts.window_manager(self.screen.managed))]
        if self._panel:
            begun.append(self._begin_panel())
        if self._server:
            begun.append(self._begin(parts.notifications(self._server, self.folder, self.bus.has_name)))
            self.server = Dunst(self.folder, self.environment) if self._server == "dunst" else Notifyd(self.folder)
        return begun

    def _begin_panel(self) -> tuple[subprocess.Popen[bytes], Part]:
        begun = self._begin(parts.panel(self.bus.has_name, self.screen.tray))
        self._panel_process = begun[0]
        return begun

    def _begin(self, part: Part) -> tuple[subprocess.Popen[bytes], Part]:
        return self._programs.start(part.argv, self.environment), part

    def _arrive(self, begun: list[tuple[subprocess.Popen[bytes], Part]]) -> None:
        for process, part in begun:
            parts.arrive(self._programs, process, part)
