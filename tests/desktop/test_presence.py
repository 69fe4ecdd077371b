"""Whether somebody looks: real terminals, a real window manager, and a key that is really pressed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from desk import Desk, wait
from every import every
from msgspec.structs import replace

from desktop.focus.terminals import Pane, child_pane, front, tmux
from desktop.logind import logind
from tray.desktop import presence
from tray.desktop.wayland_idle import IdleWatch
from tray.model.place import Place
from tray.notify.alert_gate import Attention

LOOKING, ELSEWHERE, AWAY = Attention(is_looking=True), Attention(), Attention(is_away=True)


def look(desk: Desk, pane: Pane, away_after: float = 300.0) -> Attention:
    return presence.attention(pane.place, away_after, {"DISPLAY": desk.environment["DISPLAY"]})


def touch(desk: Desk) -> None:
    desk.run(["xdotool", "key", "shift"])


def test_only_the_pane_that_is_shown_in_the_window_with_the_keyboard_is_watched(desk: Desk, tmp_path: Path) -> None:
    with tmux(desk, tmp_path) as server:
        shown, hidden = server.first("work"), server.pane("new-window", "work")
        server.attach("work", "one")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])
        front(desk, "plain")
        touch(desk)
        behind = look(desk, shown)
        front(desk, "one")
        touch(desk)
        before = (look(desk, shown), look(desk, hidden))
        server.run("select-window", "-t", "work:1")

        assert behind == ELSEWHERE
        assert before == (LOOKING, ELSEWHERE)
        assert (look(desk, shown), look(desk, hidden)) == (ELSEWHERE, LOOKING)


def test_a_terminal_without_tabs_is_watched_when_it_has_the_keyboard_and_a_key_was_pressed_lately(
    desk: Desk,
) -> None:
    pane = child_pane(desk, desk.start(["xterm", "-T", "first", "-e", "cat"]).pid)
    front(desk, "first")
    touch(desk)
    here = look(desk, pane)
    with_tabs = replace(pane.place, kitty="unix:/nowhere", kitty_window="1")
    unknown = presence.attention(with_tabs, 300.0, {"DISPLAY": desk.environment["DISPLAY"]})
    wait(lambda: look(desk, pane, away_after=2.0) == AWAY, what="two seconds without a key")
    touch(desk)
    back = look(desk, pane, away_after=0.0)
    desk.start(["xterm", "-T", "second", "-e", "cat"])
    front(desk, "second")
    touch(desk)

    assert (here, unknown, back, look(desk, pane)) == (LOOKING, ELSEWHERE, LOOKING, ELSEWHERE)


def test_without_a_desktop_nothing_is_proved() -> None:
    assert presence.attention(Place(), 1.0, {}) == ELSEWHERE
    assert presence.attention(Place(window="7"), 1.0, {}) == ELSEWHERE


def test_a_session_that_logind_says_is_locked_or_idle_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uses a stand-in, because logind requires systemd. An active session does not prove that the user is present."""
    with logind(tmp_path, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}) as stand_in:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", stand_in.address)

        def is_away(after: float = 300.0) -> bool:
            return presence.attention(Place(), after, {}).is_away

        without = is_away()
        for session, uid, kind in (("c1", os.getuid(), "tty"), ("c2", os.getuid() + 1, "wayland")):
            stand_in.lock(stand_in.add(session, uid, kind), True)
        not_ours = is_away()
        ours = stand_in.add("c3", os.getuid(), "wayland")
        seen = []
        for is_locked in (False, True, False):
            stand_in.lock(ours, is_locked)
            seen.append(is_away())
        somebody = presence.idle_seconds({})
        stand_in.set(ours, "IdleSinceHint", f"<uint64 {int((time.time() - 400) * 1e6)}>")
        stand_in.set(ours, "IdleHint", "<true>")

        assert (without, not_ours, seen) == (False, False, [False, True, False])
        assert (somebody, is_away(), is_away(9000.0)) == (None, True, False)


@every("problem", [RuntimeError("a library"), KeyError("IdleHint"), ValueError("an answer"), OSError("a socket")])
def test_a_desktop_that_fails_proves_nothing(problem: Exception) -> None:
    class FailingWatch(IdleWatch):
        """Stand-in for the watch of a compositor that fails."""

        def __init__(self) -> None:
            """It is never started."""

        def seconds(self) -> float | None:
            raise problem

    assert presence.attention(Place(window="7"), 1.0, {}, FailingWatch()) == ELSEWHERE
