"""Real terminals on the desk with real panes in them, and where a session in one of the panes is."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from desk import Desk, wait

from tray.desktop.focus import x11
from tray.execution.process_place import environment_of, processes_from
from tray.model.place import Place, read_place

LONG = 60.0  # seconds; every wait ends far earlier unless something is broken
NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane, by the process in it."""

    pid: int

    @property
    def place(self) -> Place:
        """As the tray reads it from an event of an agent there."""
        return read_place(environment_of(self.pid), processes_from(self.pid))[0]


def child_pane(desk: Desk, terminal: int) -> Pane:
    """What runs in a terminal, by the terminal's process."""
    found = wait(lambda: desk.run(["pgrep", "-P", str(terminal)]).stdout.split(), what="a program in the terminal")
    return Pane(int(found[0]))


class Tmux:
    """A tmux server of its own."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk = desk
        self.socket = folder / f"t{next(NUMBERS)}"
        self.run("new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "cat")
        self.run("set", "-g", "focus-events", "on")

    def run(self, *words: str) -> str:
        done = self.desk.run(["tmux", "-S", self.socket, "-f", "/dev/null", *words], {"LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def pane(self, kind: str, target: str) -> Pane:
        words = ("-t", target, "-P", "-F", "#{pane_pid}", "cat")
        return Pane(int(self.run(kind, "-d", *words)))

    def first(self, session: str) -> Pane:
        return Pane(int(self.run("display-message", "-p", "-t", f"{session}:0.0", "#{pane_pid}")))

    def shown(self) -> set[int]:
        """The processes in the panes that attached terminals show with the cursor."""
        form = "#{session_attached}#{window_active}#{pane_active} #{pane_pid}"
        rows = self.run("list-panes", "-a", "-F", form).splitlines()
        return {int(pid) for flags, pid in map(str.split, rows) if flags[1:] == "11" and flags[0] != "0"}

    def attach(self, session: str, title: str) -> subprocess.Popen[bytes]:
        count = len(self.clients())
        terminal = self.desk.start(["xterm", "-T", title, "-e", "tmux", "-S", self.socket, "attach", "-t", session])
        wait(lambda: len(self.clients()) > count, what=f"{title} shows {session}")
        return terminal

    def clients(self) -> list[str]:
        return self.run("list-clients", "-F", "#{client_session}").splitlines()


@contextmanager
def tmux(desk: Desk, folder: Path) -> Iterator[Tmux]:
    server = Tmux(desk, folder)
    try:
        yield server
    finally:
        desk.run(["tmux", "-S", server.socket, "kill-server"])


def active_title(desk: Desk) -> str:
    """The title of the window with the keyboard."""
    found = x11.focused_window({"DISPLAY": desk.environment["DISPLAY"]})
    return title_of(desk, found[0]) if found and found[0] else ""


def title_of(desk: Desk, window: int) -> str:
    done = desk.run(["xdotool", "getwindowname", str(window)])
    return done.stdout.decode().strip()


def wait_active(desk: Desk, title: str) -> None:
    wait(lambda: active_title(desk) == title, what=f"{title} is in front")


def front(desk: Desk, title: str) -> None:
    """As a person does: the window is clicked."""
    desk.run(["xdotool", "search", "--name", f"^{title}$", "windowactivate", "--sync"])
    wait_active(desk, title)
