"""kitty with its remote control: its tabs and panes, drawn by software."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from desk import Desk, wait
from every import every
from msgspec.structs import replace
from servers import answering_socket

from desktop.focus.terminals import LONG, Pane, front, wait_active
from tray.desktop.focus import FocusResult, focus, kitty
from tray.model.place import Place

pytestmark = pytest.mark.skipif(shutil.which("kitty") is None, reason="kitty is not installed")
ANSWERS = (
    b"", b"nonsense", b"\x1bP@kitty-cmd[]\x1b\\", b'\x1bP@kitty-cmd{"ok":true,"data":"[{\\"tabs\\": 3}]"}\x1b\\',
)  # fmt: skip


class Kitty:
    """One kitty with three panes, of which two are in one tab."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk, self.folder = desk, folder
        self.address = f"unix:{folder}/k"
        (folder / "config").mkdir()
        variables = {
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "KITTY_CONFIG_DIRECTORY": str(folder / "config"),
            "LC_ALL": "C.UTF-8",
        }
        options = ["-o", "allow_remote_control=socket-only", "-o", "enable_audio_bell=no", "-T", "cat"]
        desk.start(["kitty", *options, "--listen-on", self.address, *self._program(0)], variables)
        self.panes = [self._pane(0)]
        for number, kind in enumerate(("tab", "window"), 1):
            done = desk.run(["kitty", "@", "--to", self.address, "launch", f"--type={kind}", *self._program(number)])
            assert done.returncode == 0, done.stderr
            self.panes.append(self._pane(number))

    def _program(self, number: int) -> list[str]:
        return ["sh", "-c", f"echo $$ > {self.folder}/p{number}; exec cat"]

    def _pane(self, number: int) -> Pane:
        file = self.folder / f"p{number}"
        wait(lambda: file.exists() and file.read_text().endswith("\n"), what="kitty's pane")
        return Pane(int(file.read_text()))

    def focused(self) -> set[int]:
        """The processes of the pane with the keyboard, as kitty says."""
        found = [one for pane in self.panes if (one := kitty.find(pane.place)) and one.is_focused]
        return {pid for one in found for pid in one.pids}


def test_focus_selects_the_pane_or_without_kittys_socket_the_window(desk: Desk, tmp_path: Path) -> None:
    one = Kitty(desk, tmp_path)
    desk.start(["xterm", "-T", "plain", "-e", "cat"])

    for pane in (*one.panes, one.panes[0]):
        front(desk, "plain")
        assert focus(pane.place, "", desk.environment) == FocusResult(True)
        wait_active(desk, "cat")
        assert pane.pid in wait(one.focused, what="kitty has the keyboard")
    front(desk, "plain")
    result = focus(replace(one.panes[0].place, kitty=""), "", desk.environment)
    wait_active(desk, "cat")

    assert result == FocusResult(True)


@every("answer", ANSWERS)
def test_an_answer_that_cannot_be_read_leads_nowhere(tmp_path: Path, answer: bytes) -> None:
    path = tmp_path / str(ANSWERS.index(answer))
    with answering_socket(path, answer, LONG):
        assert kitty.find(Place(kitty=f"unix:{path}", kitty_window="1")) is None
