"""A desktop that people run, as a desk: its own shell in the place of Xfce's panel and dunst."""

from __future__ import annotations

import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from desk import Desk
from desk.bus import DAEMON
from desk.parts import Part, answers
from desk.wait import wait
from desktops.announced import open_notifications
from PIL import Image, ImageChops, ImageColor

from tray.desktop.artwork import IconState, colour

SERVICES = Path("/usr/share/dbus-1/services")
SIZE = (1280, 800)
NEAR = 24  # of 255: how far a drawn colour is from the icon's
INK = 12  # pixels of it that are an icon
START = 120.0  # seconds that a shell has to come up on a busy machine
MATCH_RULES = ("interface='org.freedesktop.Notifications'", "type='method_return'")  # by dbus-monitor
# As dbus-monitor writes them: each action is a name and a label.
ACTIONS = re.compile(r"member=Notify\n(?: {3}.*\n)*? {3}array \[\n((?: {6}string .*\n)*) {3}\]")
ACTION = re.compile(r' {6}string "(.*)"\n {6}string "(.*)"\n')


class Shell(Desk, ABC):
    """What each desktop has to say of itself, so that one contract fits all of them."""

    services: ClassVar[Sequence[str]] = ()  # service files that its session bus may activate
    variables: ClassVar[dict[str, str]] = {}
    display: ClassVar[str] = "DISPLAY"  # the variable by which programs find the screen
    still: ClassVar[int] = 15  # looks at it that are the same when nothing moves
    picture: ClassVar[tuple[int, int, int, int]]  # the part of the screen that has the icon and a notification

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, panel=None, notifications=None, size=SIZE)
        self._earlier = 0  # characters of the monitor's log that are of earlier tests

    @abstractmethod
    def icons(self) -> int:
        """How many icons of Hooktray are drawn."""

    @abstractmethod
    def is_announced(self, words: str) -> bool:
        """Whether a notification with these words is on the screen."""

    @abstractmethod
    def is_clear(self) -> bool:
        """Whether no notification is drawn."""

    @abstractmethod
    def press_button(self, label: str) -> None:
        """Press this button of the notification on the screen."""

    @abstractmethod
    def do_not_disturb(self, on: bool) -> None:
        """As the user's own switch does it."""

    @abstractmethod
    def restart(self) -> None:
        """End what draws the tray, and start it again."""

    def shows(self, state: IconState) -> bool:
        """Whether something is drawn in the colour that the icon has in this state."""
        return self.ink_at((0, 0, *SIZE), state) is not None

    def ink_at(self, box: tuple[int, int, int, int], *states: IconState) -> tuple[int, int] | None:
        """The middle of what is drawn within the box in the icon's colour, in one of these states."""
        return self.drawn_at(box, *(colour(state, None) for state in states))

    def drawn_at(self, box: tuple[int, int, int, int], *colours: str) -> tuple[int, int] | None:
        """The middle of what is drawn within the box in one of these colours."""
        found = next(self.bounds(box, *colours), None)
        return ((found[0] + found[2]) // 2, (found[1] + found[3]) // 2) if found else None

    def bounds(self, box: tuple[int, int, int, int], *colours: str) -> Iterator[tuple[int, int, int, int]]:
        """Left, top, right and bottom of what is drawn within the box, for each of these colours that is there."""
        picture = self.screenshot().convert("RGB").crop(box)
        for one in colours:
            ink = Image.new("RGB", picture.size, ImageColor.getrgb(one))
            far = ImageChops.difference(picture, ink).point(lambda level: 0 if level < NEAR else 255).split()
            near = ImageChops.invert(ImageChops.lighter(ImageChops.lighter(far[0], far[1]), far[2]))
            found = near.getbbox()
            if found is not None and near.histogram()[255] >= INK:
                yield box[0] + found[0], box[1] + found[1], box[0] + found[2], box[1] + found[3]

    def sent(self) -> str:
        """What programs had the notification server show, as it went over the bus in this test."""
        return self.log(self._monitor)[self._earlier :]

    def start_test(self) -> None:
        """Ignore what was sent before this test."""
        self._earlier = len(self.log(self._monitor))

    def open_notifications(self) -> dict[int, str]:
        """The id of each notification that the server accepted in this test and has not closed -> what was sent."""
        return open_notifications(self.sent())

    def buttons(self, label: str) -> list[str]:
        """The buttons, from left to right, of the last notification that has this one."""
        found = [dict(ACTION.findall(actions)) for actions in ACTIONS.findall(self.sent())]
        labels = [[text for name, text in one.items() if name != "default"] for one in found]
        return next(one for one in reversed(labels) if label in one)

    def clear(self) -> None:
        """Nothing of an earlier test is on the screen."""

    def set_key(self, schema: str, key: str, value: str) -> None:
        done = self.run(["gsettings", "set", schema, key, value])
        assert done.returncode == 0, done.stderr.decode()

    def _raise(self) -> None:
        """A system bus with nobody on it: shells look for one, and the machine's own is none of a test's business."""
        for name in self.services:
            shutil.copy(SERVICES / f"{name}.service", self.folder / "services")
        self.environment |= self.variables
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={self.folder / 'run' / 'system'}"
        session = (self.folder / "bus.conf").read_text()
        services = f"<servicedir>{self.folder / 'services'}</servicedir>"
        (self.folder / "system.conf").write_text(session.replace("/run/bus<", "/run/system<").replace(services, ""))
        self.start(["dbus-daemon", "--config-file", self.folder / "system.conf", "--nofork", "--nopidfile"])
        wait(lambda: answers(self.folder / "run" / "system"), what="the system bus answers")
        super()._raise()

    def _second(self) -> list[tuple[subprocess.Popen[bytes], Part]]:
        """What the bus starts gets the screen, too, as a login does it."""
        display = {self.display: self.environment[self.display]}
        self.bus.call(*DAEMON, "UpdateActivationEnvironment", "a{ss}", [display])
        self._monitor = self.start(["dbus-monitor", "--session", *MATCH_RULES])
        self.start_all()
        return []

    @abstractmethod
    def start_all(self) -> None:
        """Start what the desktop consists of, and wait until it is there."""

    def end_shell(self, *processes: subprocess.Popen[bytes]) -> None:
        """Killed, as a crash does it: a shell that is asked to end may take its time."""
        for process in processes:
            process.kill()
            process.wait(START)
