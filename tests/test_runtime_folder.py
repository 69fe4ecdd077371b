"""Hooktray started with an $XDG_RUNTIME_DIR that is not its user's, as after `su` and `sudo -u`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from live import Live, recorded
from plain import Plain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such variable")

OTHER = 65534  # a user who is not us
NO_PRIVILEGE = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")  # root may look into every folder


def of_another_user(folder: Path) -> str:
    if os.getuid():
        return "/"
    os.chown(folder, OTHER, OTHER)
    return str(folder)


def read_only(folder: Path) -> str:
    folder.chmod(0o500)
    return str(folder)


FOLDERS: dict[str, tuple[Callable[[Path], str], str]] = {
    "another user's": (of_another_user, "it belongs to user"),
    "missing": (lambda folder: str(folder / "none"), "it cannot be read"),
    "a file": (lambda folder: str(Path(__file__)), "it is not a folder"),
    "read-only": (read_only, "it is not writable"),
    "relative": (lambda folder: "run", "the path is relative"),
}
DOCTOR = ("doctor", "--static")
COMMANDS: tuple[tuple[str, ...], ...] = (DOCTOR, ("test", "Stop"), ("list",), ("status",))


def foreign(kind: str, tmp_path: Path, plain: Plain) -> str:
    """Sets the variable and returns what Hooktray prints about the folder."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    make, why = FOLDERS[kind]
    plain.environment["XDG_RUNTIME_DIR"] = make(folder)
    return f"Ignoring XDG_RUNTIME_DIR={plain.environment['XDG_RUNTIME_DIR']}: {why}"


def unprivileged() -> Sequence[str]:
    return () if os.getuid() else NO_PRIVILEGE


@pytest.mark.parametrize("kind", FOLDERS)
def test_run_starts_and_reports_in_one_line_that_it_ignores_the_folder(
    kind: str, plain: Plain, tmp_path: Path
) -> None:
    shown = foreign(kind, tmp_path, plain)
    live = Live.fresh(plain, tmp_path, starts=False)
    live.process = plain.start([*unprivileged(), *live.argv("run")])
    plain.wait(live.is_running, what="the tray answers")

    relayed = live.relay("claude-code", "Stop", recorded("claude-code", "Stop"))

    assert (relayed.returncode, relayed.stderr) == (0, b"")
    assert live.wait_log(1)[0]["offline"] is False
    assert live.quit() == 0
    said = (tmp_path / "output").read_text()
    assert [line.startswith(shown) for line in said.splitlines() if "XDG_RUNTIME_DIR" in line] == [True], said
    assert "Traceback" not in said


def test_every_other_command_works_as_usual(plain: Plain, tmp_path: Path) -> None:
    shown = foreign("another user's", tmp_path, plain)
    live = Live.fresh(plain, tmp_path, starts=False)

    done = {words: plain.run([*unprivileged(), *live.argv(*words)]) for words in COMMANDS}

    for words, one in done.items():
        assert b"Traceback" not in one.stderr, words
        assert one.returncode in ((0, 1) if words == DOCTOR else (0,)), one.stderr
    assert shown in done[DOCTOR].stderr.decode()


def test_a_session_bus_of_another_user_leaves_the_tray_headless(plain: Plain, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    live = Live.fresh(plain, tmp_path, starts=False)
    bus = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={of_another_user(folder)}/bus"}

    live.process = plain.start([*unprivileged(), *live.argv("run")], bus)
    plain.wait(live.is_running, what="the tray answers")

    assert live.cli_json("status")[0]["icon"] is None
    assert live.quit() == 0
    said = (tmp_path / "output").read_text()
    assert "running headless" in said
    assert "Traceback" not in said
