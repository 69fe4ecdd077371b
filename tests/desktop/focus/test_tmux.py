"""From a session to its pane: real tmux, real terminals, a real window manager."""

from __future__ import annotations

from pathlib import Path

from desk import Desk, wait
from msgspec.structs import replace

from desktop.focus.terminals import Pane, active_title, child_pane, front, tmux, wait_active
from tray.desktop.focus import FocusResult, focus
from tray.execution.process_place import is_alive

RAISED = FocusResult(True)


def go(desk: Desk, pane: Pane) -> FocusResult:
    return focus(pane.place, "", desk.environment)


def test_focus_selects_window_and_pane(desk: Desk, tmp_path: Path) -> None:
    with tmux(desk, tmp_path) as server:
        panes = [server.first("work"), *(server.pane(kind, "work") for kind in ("new-window", "split-window"))]
        server.run("new-session", "-d", "-s", "other", "cat")
        server.attach("work", "one")
        server.attach("other", "two")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])

        for pane, before in zip((*panes, panes[0]), ("two", "plain", "two", "plain"), strict=True):
            front(desk, before)
            assert go(desk, pane) == RAISED
            wait_active(desk, "one")
            assert pane.pid in server.shown()


def test_a_pane_of_a_session_that_no_terminal_shows_comes_to_the_one_there_is(desk: Desk, tmp_path: Path) -> None:
    with tmux(desk, tmp_path) as server:
        server.run("new-session", "-d", "-s", "hidden", "cat")
        pane = server.pane("new-window", "hidden")
        server.attach("work", "one")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])
        front(desk, "plain")

        result = go(desk, pane)
        wait_active(desk, "one")

        assert (result, server.clients(), pane.pid in server.shown()) == (RAISED, ["hidden"], True)


def test_without_a_terminal_it_says_how_to_attach_one(desk: Desk, tmp_path: Path) -> None:
    with tmux(desk, tmp_path) as server:
        desk.start(["xterm", "-T", "plain", "-e", "cat"])
        front(desk, "plain")

        result = go(desk, server.first("work"))

        assert result == FocusResult(False, "no terminal shows it: run `tmux attach -t work`")
        assert active_title(desk) == "plain"


def test_variables_that_were_inherited_lead_to_the_window_and_not_to_the_pane(desk: Desk, tmp_path: Path) -> None:
    """A terminal that was started from a pane: its programs have the pane's variables."""
    with tmux(desk, tmp_path) as server:
        server.attach("work", "one")
        inner = server.first("work").place
        before = server.shown()
        marked = desk.start(["xterm", "-T", "second", "-e", "cat"])
        front(desk, "second")
        front(desk, "one")
        child = child_pane(desk, marked.pid)

        result = focus(replace(child.place, tmux=inner.tmux, tmux_pane=inner.tmux_pane), "", desk.environment)
        wait_active(desk, "second")

        assert (result, server.shown()) == (RAISED, before)


def test_a_session_whose_terminal_is_closed_says_so(desk: Desk, tmp_path: Path) -> None:
    with tmux(desk, tmp_path) as server:
        place = server.pane("new-window", "work").place
        server.attach("work", "one")
        server.run("kill-server")
    wait(lambda: not any(map(is_alive, place.processes)), what="the server has ended")

    assert focus(place, "", desk.environment) == FocusResult(False, "its terminal is closed")
