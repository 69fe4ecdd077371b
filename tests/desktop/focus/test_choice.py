"""Which window has a session, and compositors that are not installed here: stand-ins that answer as theirs do."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tray.desktop.focus import apple_terminals, focus, hyprland, niri
from tray.desktop.focus.windows_of import FocusError, Raised, Window, ask, choose
from tray.execution.process_place import processes_from
from tray.model.place import Place, ProcessId

PLACE = Place(processes=(ProcessId(9, 0.0), ProcessId(5, 0.0)))


def test_the_window_of_the_nearest_process_counts() -> None:
    windows = [Window("far", 5), Window("near", 9), Window("other", 1)]

    assert choose(windows, PLACE, "") == (Window("near", 9), Raised())
    assert choose(windows[2:], PLACE, "") is None


def test_of_several_windows_of_one_process_the_title_decides_and_else_it_is_uncertain() -> None:
    windows = [Window("1", 5, "main.py - api - Editor"), Window("2", 5, "Shop - Editor"), Window("3", 5, "shop")]

    assert choose(windows[:2], PLACE, "shop") == (windows[1], Raised(True, 2))
    assert choose(windows, PLACE, "shop") == (windows[1], Raised(False, 3))
    assert choose(windows, PLACE, "elsewhere") == (windows[0], Raised(False, 3))


@contextmanager
def compositor(path: Path, answer: Callable[[bytes], bytes]) -> Iterator[list[bytes]]:
    """A socket that answers each request of one connection."""
    asked: list[bytes] = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(0.1)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(30)
                    asked.append(connection.recv(4096))
                    connection.sendall(answer(asked[-1]))

        thread = threading.Thread(target=serve)
        thread.start()
        yield asked
        ended.set()
        thread.join(30)


FORMS = (b"dispatch focuswindow address:0xa1", b'dispatch hl.dsp.focus({ window = "address:0xa1" })')


@pytest.mark.parametrize("understood", FORMS)
def test_hyprland_is_asked_by_address_in_the_form_that_its_configuration_wants(
    tmp_path: Path, understood: bytes
) -> None:
    clients = [
        {"address": "0xa1", "pid": os.getpid(), "title": "x", "focusHistoryID": 1},
        {"address": "0xbad; exit", "pid": os.getpid(), "title": "x"},
    ]
    answers = {
        b"j/clients": json.dumps(clients).encode(), b"j/activewindow": json.dumps(clients[0]).encode(),
        understood: b"ok",
    }  # fmt: skip
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "HYPRLAND_INSTANCE_SIGNATURE": "abc_1"}
    place = Place(processes=processes_from(os.getpid()))
    socket_path = tmp_path / "hypr/abc_1/.socket.sock"

    with compositor(socket_path, lambda asked: answers.get(asked, b"error: no such thing")) as asked:
        raised = hyprland.raise_window(place, "", environment)
        focused = hyprland.focused_pid(environment)
        del answers[understood]
        with pytest.raises(FocusError, match="no such thing"):
            hyprland.raise_window(place, "", environment)

    assert (raised, focused) == (Raised(), os.getpid())
    assert [one for one in asked if one.startswith(b"dispatch")][: FORMS.index(understood) + 1][-1] == understood


def test_niri_is_asked_by_number(tmp_path: Path) -> None:
    windows = [{"id": 3, "pid": os.getpid(), "title": None, "is_focused": True}, {"id": 4, "pid": None}]

    def answer(asked: bytes) -> bytes:
        found = {"Ok": {"Windows": windows}} if b"Windows" in asked else {"Ok": "Handled"}
        return json.dumps(found).encode() + b"\n"

    environment = {"NIRI_SOCKET": str(tmp_path / "n")}
    with compositor(tmp_path / "n", answer) as asked:
        raised = niri.raise_window(Place(processes=processes_from(os.getpid())), "", environment)
        focused = niri.focused_pid(environment)

    assert (raised, focused) == (Raised(), os.getpid())
    assert json.loads(asked[1]) == {"Action": {"FocusWindow": {"id": 3}}}


def test_a_socket_of_somebody_else_is_not_spoken_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with compositor(tmp_path / "s", lambda asked: b"x") as asked:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        with pytest.raises(FocusError, match="is not a socket of yours"):
            ask(str(tmp_path / "s"), b"hello")

    assert asked == []


def test_a_window_system_that_fails_does_not_stop_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(place: Place, title: str, environment: object) -> Raised | None:
        raise RuntimeError("a library failed")

    def raised(place: Place, title: str, environment: object) -> Raised | None:
        return Raised(False, 2)

    monkeypatch.setattr("tray.desktop.focus.WINDOWS", (broken, raised))  # stand-ins for two window systems

    result = focus(Place(), "", {})

    assert (result.raised, result.note) == (True, "which of its 2 windows has it is not known")


def test_scripts_of_macos_hold_only_checked_text() -> None:
    session = "6B29FC40-CA47-1067-B31D-00DD010662DA"
    iterm = Place(program="iTerm.app", iterm=session, processes=(ProcessId(7, 0.0),))

    assert [session in one for one in apple_terminals.scripts(iterm, "")] == [True, False]
    assert '"/dev/ttys003"' in apple_terminals.scripts(Place(program="Apple_Terminal"), "/dev/ttys003")[0]
    assert apple_terminals.scripts(Place(program="Apple_Terminal"), '/dev/ttys003" & quit & "') == []
    assert apple_terminals.scripts(Place(program="ghostty"), "")[0] == apple_terminals.GHOSTTY
    assert sys.platform == "darwin" or apple_terminals.raise_window(iterm, "", {}) is None
