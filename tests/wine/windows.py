"""A Windows as wine makes it: a screen with a tray, and Hooktray installed in a folder with a space and an `&`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from subprocess import DEVNULL, PIPE
from types import TracebackType
from typing import Any, Self

import psutil
from desk.menus import LEFT, RIGHT
from desk.screen import Box, Screen
from desk.wait import Overdue, wait
from PIL import Image
from wine import prepare

MENU = (  # its rows, from top to bottom
    "status", "enabled", "pause", "sessions", "page", "recent", "needs you", "approvals", "alerts", "settings",
    "quit",
)  # fmt: skip
SIZE = (1024, 740)
START = 150.0  # seconds that a program of Windows has on a busy machine
EXPLORER = "explorer.exe"  # the class of the desktop's window, and of the tray's
OURS = ("python.exe", "pythonw.exe", "hooktray.exe", "hooktrayw.exe")  # the classes of our windows
RUN_KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run"
PLACE = "Hook tray & more"
TRAY_HEIGHT = 20  # pixels
PAPER = 200  # a grey level: what is lighter is a menu's ground
SELECTED = 4  # pixels from a menu's left edge: the colour there says whether the row is selected
TEXT = (18, 20)  # pixels: left of a row's text, and right of it
TRY = 20.0  # seconds until the pointer does again what showed nothing, as a person does
ASIDE = 12  # pixels that the pointer goes away from a row, to enter it again


class Windows:
    """Starts on entering; on leaving everything in the prefix ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drive = folder / "prefix" / "drive_c"
        self._homes = 0
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        shutil.copytree(prepare.CACHE / "prefix", self.folder / "prefix", symlinks=True, copy_function=_shared)
        self.python = prepare.installed(self.drive / PLACE)
        read, write = os.pipe()
        argv = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24", "-noreset", "-nolisten", "tcp"]
        self._x_server = subprocess.Popen(argv, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with open(read) as number:  # noqa: PTH123 - a descriptor
            display = f":{number.readline().strip()}"
        self.environment = {
            **prepare.VARIABLES,
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "WINEPREFIX": str(self.folder / "prefix"),
            "WINEPATH": str(self.inside(self.python.parent)),  # put before the PATH of Windows
            "DISPLAY": display,
        }
        self.screen = Screen(self.environment)
        self.start(
            ["explorer", f"/desktop=hook,{SIZE[0]}x{SIZE[1]}"], stdin=subprocess.PIPE
        )  # it ends with its input
        wait(lambda: self.screen.named(EXPLORER), START, "the desktop is drawn")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run(["wineserver", "-k", "-w"], env=self.environment, timeout=START, check=False)
        for process in self._started:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(START)
        self.screen.close()
        self._x_server.terminate()
        self._x_server.wait(30)

    def inside(self, path: Path) -> PureWindowsPath:
        """What Windows calls a place below its drive."""
        return PureWindowsPath("C:\\", *path.relative_to(self.drive).parts)

    def fresh_home(self, name: str = "home") -> Path:
        self._homes += 1
        home = self.drive / "homes" / f"{name} {self._homes}"
        home.mkdir(parents=True)
        return home

    # ---- programs; a Python there cannot use files of this system as its streams

    def start(
        self, argv: Sequence[str | Path | PureWindowsPath], stdin: int = DEVNULL, stdout: int = DEVNULL
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            ["wine", *map(str, argv)],
            env=self.environment,
            cwd=self.drive,
            stdin=stdin,
            stdout=stdout,
            stderr=DEVNULL,
        )
        self._started.append(process)
        return process

    def run(
        self,
        argv: Sequence[str | Path | PureWindowsPath],
        input: bytes = b"",
        environment: Mapping[str, str] | None = None,
        timeout: float = START,
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["wine", *map(str, argv)], env={**self.environment, **(environment or {})}, cwd=self.drive,
            input=input, capture_output=True, timeout=timeout, check=False,
        )  # fmt: skip

    def running(self, words: str) -> int:
        """How many processes with these words in their command run; wine's are processes of this system."""
        lines = (" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
        return sum(words in line for line in lines)

    def registry(self, key: str, value: str) -> str:
        """A value of the registry; "" without it."""
        done = self.run(["reg", "query", key, "/v", value])
        line = next((one for one in done.stdout.decode().splitlines() if value in one), "")
        return line.split("REG_SZ")[-1].strip()

    # ---- the screen

    def icon(self) -> Box | None:
        """The first icon that is drawn in the tray; None without one. Nobody else has one."""
        return next((box for box in self.places() if self._is_inked(box)), None)

    def places(self) -> list[Box]:
        """The place of each icon in the tray, including icons that are not drawn."""
        return [box for box in self.screen.named(EXPLORER) if box.height == TRAY_HEIGHT]

    def menus(self) -> list[Box]:
        """The open menus, the first one first."""
        return sorted((box for name in OURS for box in self.screen.named(name)), key=lambda box: box.id)

    def balloons(self) -> list[Box]:
        """What is announced at the icon. It lies above an open menu, where it takes the clicks."""
        return [box for box in self.screen.named(EXPLORER) if box.height not in (TRAY_HEIGHT, SIZE[1])]

    def choose(self, row: str, *numbers: int) -> None:
        """Open the menu with the pointer and press this row of it, or below it the row with each number."""
        self.open_menu()
        self.choose_in_open_menu(row, *numbers)

    def open_menu(self) -> None:
        wait(self._press_icon, START, "the menu is open")

    def _press_icon(self) -> bool:
        """Press the icon with the pointer; whether the menu opened."""
        icon = wait(self.icon, START, "the icon is drawn")
        wait(lambda: not self.balloons(), START, "nothing lies above the menu")
        self.screen.point(icon.x + 10, icon.y + icon.height // 2)
        self.screen.press(RIGHT)
        return self._appears(0)

    def _appears(self, level: int) -> bool:
        """Whether the menu of this level opens while the pointer rests."""
        with contextlib.suppress(Overdue):
            wait(lambda: self.menus()[level:], TRY, f"level {level} of the menu")
            return True
        return False

    def choose_in_open_menu(self, row: str, *numbers: int) -> None:
        self.point_in_open_menu(row, *numbers)
        self.screen.press(LEFT)
        wait(lambda: not self.menus(), START, "the menu is closed")

    def point_in_open_menu(self, row: str, *numbers: int) -> None:
        rows = (MENU.index(row), *numbers)
        for level, number in enumerate(rows):
            menu = self.menus()[level]
            wait(lambda: self._select(menu, number), START, f"row {number} of level {level} is selected")  # noqa: B023
            if level + 1 < len(rows):
                wait(lambda: self._opens(menu, number, level + 1), START, f"level {level + 1} of the menu")  # noqa: B023

    def _opens(self, menu: Box, number: int, level: int) -> bool:
        """Whether the selected row's own menu opens; otherwise the pointer leaves the row and enters it again."""
        if self._appears(level):
            return True
        y = menu.y + self.rows(menu)[number]
        self.screen.point(menu.x + menu.width // 2 + ASIDE, y)
        self.screen.point(menu.x + menu.width // 2, y)
        return self._appears(level)

    def close_menus(self) -> None:
        """A press beside them does."""
        self.screen.point(SIZE[0] - 50, SIZE[1] - 50)
        self.screen.press(LEFT)
        wait(lambda: not self.menus(), START, "the menus are closed")

    def _select(self, menu: Box, number: int) -> bool:
        """Point at the row; whether it is drawn as selected then."""
        rows = self.rows(menu)
        if number >= len(rows) or (menu == self.menus()[0] and len(rows) != len(MENU)):
            return False  # not all of it is drawn yet
        y = rows[number]
        self.screen.point(menu.x + menu.width // 2, menu.y + y)
        level = self.screen.image(menu).convert("L").getpixel((SELECTED, y))
        return isinstance(level, int) and level < PAPER

    def rows(self, menu: Box) -> list[int]:
        """The middle of each row, from the menu's top; a line between rows is none."""
        picture = self.screen.image(menu).convert("L").crop((TEXT[0], 2, menu.width - TEXT[1], menu.height - 2))
        return [2 + (first + last) // 2 for first, last in _bands(picture)]

    def _is_inked(self, box: Box) -> bool:
        return _levels(self.screen.image(box).convert("L"))[0] < PAPER


def _shared(source: str, target: str) -> None:
    """What wine brings are 700 MB; its programs are the same file, where that can be."""
    with contextlib.suppress(OSError):
        if source.endswith((".dll", ".exe")):
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _levels(picture: Image.Image) -> tuple[float, float]:
    """The darkest and the lightest grey."""
    darkest, lightest = picture.getextrema()
    assert not isinstance(darkest, tuple)
    assert not isinstance(lightest, tuple)
    return darkest, lightest


def _bands(picture: Image.Image) -> Iterator[tuple[int, int]]:
    """The runs of lines that have something written on them, and more than one line high."""
    first = None
    for y in range(picture.height + 1):
        darkest, lightest = _levels(picture.crop((0, y, picture.width, y + 1))) if y < picture.height else (255, 255)
        is_written = lightest - darkest > 255 - PAPER
        if is_written and first is None:
            first = y
        if not is_written and first is not None:
            if y - first > 2:
                yield first, y
            first = None


class Tray:
    """Hooktray with a home of its own on this Windows."""

    def __init__(self, windows: Windows, program: Path | None = None, name: str = "home") -> None:
        self.windows = windows
        self._program = program  # that of a setup
        self.home = windows.fresh_home(name)
        self.config = self.home / "config" / "hooktray.yaml"
        self.config.parent.mkdir()

    @property
    def argv(self) -> list[str | PureWindowsPath]:
        return self._argv(self._program)

    def _argv(self, program: Path | None) -> list[str | PureWindowsPath]:
        inside = self.windows.inside
        start = [inside(program)] if program else [inside(self.windows.python), "-m", "tray"]
        return [*start, "--home", inside(self.home)]

    def configure(self, settings: Mapping[str, Any], **files: str) -> None:
        for name, text in files.items():
            (self.config.parent / name.replace("_", ".")).write_text(text)
        self.config.write_text(json.dumps(settings))

    def cli(self, *words: str) -> str:
        return self.windows.run([*self.argv, *words]).stdout.decode()

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """What a command prints for programs: an object on each line."""
        return [json.loads(line) for line in self.cli(*words, "--json").splitlines()]

    @contextlib.contextmanager
    def running(self, program: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
        wait(lambda: self.windows.icon() is None, START, "the icon of an earlier tray is gone")
        process = self.windows.start([*self._argv(program or self._program), "run"])
        wait(self.windows.icon, START, "the icon is drawn")
        try:
            yield process
            if process.poll() is None:
                self.windows.choose("quit")
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait(START)

    def relay(self, agent: str, event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """What the agent is answered; {} for silence."""
        done = self.windows.run(self.relay_argv(agent, event), json.dumps(payload).encode())
        assert done.returncode == 0, done
        return dict(json.loads(done.stdout)) if done.stdout.strip() else {}

    def start_relay(self, agent: str, event: str, payload: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        """Whoever communicates with it gets the answer."""
        relay = self.windows.start(self.relay_argv(agent, event), stdin=PIPE, stdout=PIPE)
        assert relay.stdin is not None
        with contextlib.closing(relay.stdin) as pipe:
            pipe.write(json.dumps(payload).encode())
        relay.stdin = None
        return relay

    def relay_argv(self, agent: str, event: str) -> list[str | PureWindowsPath]:
        """By the relay that the tray or `connect` installed."""
        program = next((self.home / "bin").glob("hooktray-hook.exe"))
        return [self.windows.inside(program), agent, event]
