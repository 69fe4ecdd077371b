"""The real browsers of the distribution on a desk: one of them is the desktop's own, with a profile of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from desk.desktop import Desk
from desk.wait import Overdue, wait

DEADLINE = 120.0  # seconds: a browser's first start on a busy machine
GRACE = 20.0  # seconds that a browser has to end by itself
# Without an account, a first run, a question or an update; tests may run as root, for whom Chromium has no sandbox.
CHROMIUM = ("/usr/bin/chromium", "--no-sandbox", "--no-first-run", "--password-store=basic")
FIREFOX = ("/usr/bin/firefox-esr",)
PREFERENCES = """
user_pref("app.normandy.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.sessionstore.resume_from_crash", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("termsofuse.bypassNotification", true);
"""
ENTRY = """[Desktop Entry]
Type=Application
Name=Browser
Exec={line} %U
MimeType=text/html;
"""


class Browser:
    """One installed browser; everything of it is below `folder`, by which its processes are found again."""

    def __init__(self, desk: Desk, folder: Path, kind: str) -> None:
        self._desk = desk
        self._profile = folder / "profile"
        self._profile.mkdir(parents=True)
        if kind == "chromium":
            self.argv = [*CHROMIUM, f"--user-data-dir={self._profile}"]
        else:
            (self._profile / "user.js").write_text(PREFERENCES)
            self.argv = [*FIREFOX, "--profile", str(self._profile)]

    def start(self, *words: str) -> None:
        """As a person does, from the desktop's menu: below the session and not below the tray."""
        self._desk.start([*self.argv, *words])
        self.wait_title("")

    def titles(self) -> list[str]:
        """Of the windows on the desk, each with the name of its open tab."""
        return self._desk.screen.titles()

    def wait_title(self, words: str) -> None:
        try:
            wait(
                lambda: any(words in one and ("Chromium" in one or "Firefox" in one) for one in self.titles()),
                DEADLINE,
                f"a browser's window with {words!r}",
            )
        except Overdue as overdue:
            raise Overdue(f"{overdue}; the windows are {self.titles()}, its processes {self.pids()}") from overdue

    def pids(self) -> list[int]:
        mark = os.fsencode(self._profile)
        return [pid for pid in _pids() if mark in _read(pid, "cmdline") or mark in _read(pid, "environ")]

    def end(self) -> None:
        """All of its processes, by number, as the session's end does; those that stay are killed."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            with contextlib.suppress(AssertionError):
                wait(lambda: not self.pids(), GRACE, "the browser ends")
                return


@contextmanager
def browser(desk: Desk, folder: Path, kind: str) -> Iterator[Browser]:
    """It opens what the desktop opens; at the end nothing of it is left."""
    one = Browser(desk, folder, kind)
    environment = dict(desk.environment)
    applications = folder / "data" / "applications"
    applications.mkdir(parents=True)
    (applications / "browser.desktop").write_text(ENTRY.format(line=shlex.join(one.argv)))
    (folder / "config").mkdir()
    (folder / "config" / "mimeapps.list").write_text("[Default Applications]\ntext/html=browser.desktop\n")
    places = {f"XDG_{name.upper()}_HOME": str(folder / name) for name in ("cache", "config", "data")}
    desk.environment |= {**places, "MOZ_CRASHREPORTER_DISABLE": "1"}
    try:
        yield one
    finally:
        one.end()
        desk.environment.clear()
        desk.environment |= environment


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path("/proc", str(pid), name).read_bytes()
    except OSError:  # it has ended
        return b""
