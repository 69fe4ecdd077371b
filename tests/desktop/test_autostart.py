"""Start at login: written whole, read back, taken out whole, and nothing of others is touched."""

from __future__ import annotations

import plistlib
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from desk.wait import wait
from live import Live
from plain import Plain

from tray.desktop.autostart import (
    LABEL,
    Autostart,
    LoginEntry,
    LoginFile,
    LoginState,
    RunValue,
    command,
    desktop_file,
    launch_agent,
    login_entries,
)
from tray.desktop.macos import LAUNCHD_SOCKET, activated_sockets
from tray.desktop.windows import RunKey
from tray.errors import HooktrayError
from tray.execution.isolation import STARTER, base_interpreter
from tray.paths import locate

ARGV = ("/opt/a b/python", "-I", "-m", "tray", "--home", '/h/$x`"\\%u', "run")


class Values(RunKey):
    """A Run key that remembers."""

    def __init__(self) -> None:
        self.values = {"OneDrive": "x"}

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def set(self, name: str, value: str) -> None:
        self.values[name] = value

    def delete(self, name: str) -> None:
        del self.values[name]


class Forgetful(Values):
    """A Run key that some policy empties."""

    def set(self, name: str, value: str) -> None:
        """Nothing is kept."""


class Login(Autostart, frozen=True, kw_only=True):
    """The entries of a Hooktray that is started by these words."""

    argv: tuple[str, ...]

    def command(self) -> tuple[str, ...]:
        return self.argv


def login(entries: tuple[LoginEntry, ...], argv: tuple[str, ...] = ARGV) -> Login:
    return Login(entries, locate("/h"), argv=argv)


def entry_of(environment: dict[str, str], platform: str) -> LoginEntry:
    """The only entry where no service manager listens for the tray."""
    (entry,) = login_entries(Path("/s/tray.sock"), environment, None, platform)
    return entry


@pytest.fixture(params=["linux", "darwin", "win32"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> LoginEntry:
    if request.param == "win32":
        return RunValue(Values())
    return entry_of({"HOME": str(tmp_path)}, request.param)


def test_it_is_off_until_it_is_turned_on_and_off_again(place: LoginEntry) -> None:
    ours = login((place,))
    seen = [ours.state()]

    for on in (True, True, False, False):
        ours.turn(on)
        seen.append(ours.state())

    assert seen == [LoginState.OFF, LoginState.ON, LoginState.ON, LoginState.OFF, LoginState.OFF]
    assert place.read() is None


def test_an_entry_of_another_hooktray_is_no_on_and_is_replaced(place: LoginEntry) -> None:
    login((place,), ("/elsewhere/hooktray", "run")).turn(True)
    ours = login((place,))

    assert (ours.state(), ours.is_on()) == (LoginState.OTHER, False)
    ours.turn(True)
    assert ours.is_on()


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_file_of_others_is_left_alone(tmp_path: Path, platform: str) -> None:
    place = entry_of({"HOME": str(tmp_path)}, platform)
    assert isinstance(place, LoginFile)
    place.path.parent.mkdir(parents=True)
    place.path.write_text("[Desktop Entry]\nName=Hooktray, by hand\n")

    for on in (True, False):
        with pytest.raises(HooktrayError, match="not from Hooktray"):
            login((place,)).turn(on)
    assert place.path.read_text() == "[Desktop Entry]\nName=Hooktray, by hand\n"


def test_a_start_at_login_that_could_not_be_set_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("a file")

    with pytest.raises(HooktrayError, match="could not be set"):
        login((RunValue(Forgetful()),)).turn(True)
    with pytest.raises(HooktrayError, match=r"hooktray\.desktop: start at login could not be set: Not a directory"):
        login((entry_of({"HOME": str(tmp_path)}, "linux"),)).turn(True)


def test_on_macos_it_is_a_property_list(tmp_path: Path) -> None:
    login((entry_of({"HOME": str(tmp_path)}, "darwin"),)).turn(True)

    words = plistlib.loads((tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist").read_bytes())
    assert (words["Label"], words["ProgramArguments"], words["RunAtLoad"]) == (LABEL, list(ARGV), True)


def test_launchd_listens_at_the_trays_path_for_its_owner_only() -> None:
    words = plistlib.loads(launch_agent(Path("/a b/tray.sock"), ("/bin/tray", "run")).encode())

    assert words["Sockets"] == {LAUNCHD_SOCKET: {"SockPathMode": 0o600, "SockPathName": "/a b/tray.sock"}}
    assert activated_sockets() == [], "launchd did not start this process"


def test_on_windows_it_is_one_value_of_the_run_key() -> None:
    values = Values()

    login((RunValue(values),), (r"C:\a b\pythonw.exe", "-m", "tray", "run")).turn(True)

    assert values.values == {"OneDrive": "x", "Hooktray": r'"C:\a b\pythonw.exe" -m tray run'}


def test_the_place_follows_the_desktops_own_folder(tmp_path: Path) -> None:
    own, odd = ({"HOME": "/h", "XDG_CONFIG_HOME": where} for where in (str(tmp_path), "relative"))

    assert entry_of(own, "linux").where == str(tmp_path / "autostart" / "hooktray.desktop")
    assert entry_of(odd, "linux").where == "/h/.config/autostart/hooktray.desktop"


def test_what_is_started_names_the_home_that_was_chosen(tmp_path: Path) -> None:
    words = command(locate(str(tmp_path)))

    assert words[:2] == ("/bin/sh", "-c")
    assert words[3:5] == (sys.executable, base_interpreter())
    assert words[5:8] == ("-I", "-S", STARTER)
    assert words[9:] == ("--home", str(tmp_path), "run")


@pytest.mark.skipif(shutil.which("gio") is None, reason="tests/all installs gio")
def test_the_desktop_starts_exactly_the_words_that_were_meant(tmp_path: Path) -> None:
    program, told = tmp_path / "a `$b", tmp_path / "told"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{told}.new; mv {told}.new {told}\n")
    program.chmod(0o755)
    path = tmp_path / "x.desktop"
    path.write_text(desktop_file((str(program), *ARGV)))

    subprocess.run(["gio", "launch", path], check=True, timeout=20)

    wait(told.exists, what="the program has run")
    assert told.read_text().splitlines() == list(ARGV)


def test_the_command_line_turns_it_on_and_off_and_says_so(tmp_path: Path) -> None:
    live = Live(Plain(tmp_path), tmp_path / "h")

    on = live.cli_json("autostart", "on")[0]
    path = Path(on["place"])
    written = stat.S_IMODE(path.stat().st_mode), "X-Hooktray=true" in path.read_text()
    off = live.cli_json("autostart", "off")[0]
    done = live.cli("autostart", "maybe")

    assert written == (0o644, True)
    assert [one["autostart"] for one in (on, off, live.cli_json("autostart")[0])] == ["on", "off", "off"]
    assert not path.exists()
    assert (done.returncode, b"neither on, off nor status" in done.stderr) == (1, True)
