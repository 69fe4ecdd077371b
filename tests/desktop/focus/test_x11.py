"""Windows of X11, by EWMH and a real window manager."""

from __future__ import annotations

from contextlib import closing

from desk import Desk
from msgspec.structs import replace
from Xlib import display  # type: ignore[import-untyped]

from desktop.focus.terminals import Pane, child_pane, front, wait_active
from tray.desktop.focus import FocusResult, focus, x11
from tray.model.place import Place


def terminal(desk: Desk, title: str) -> Pane:
    started = desk.start(["xterm", "-T", title, "-e", "cat"])
    front(desk, title)
    return child_pane(desk, started.pid)


def test_a_window_of_other_processes_is_ignored_and_a_minimised_one_is_restored(desk: Desk) -> None:
    """`WINDOWID` is inherited by whatever is started from a terminal."""
    one, two = terminal(desk, "first"), terminal(desk, "second")
    terminal(desk, "third")

    focus(replace(one.place, window=two.place.window), "", desk.environment)
    wait_active(desk, "first")

    desk.run(["xdotool", "search", "--name", "^second$", "windowminimize"])
    focus(two.place, "", desk.environment)
    wait_active(desk, "second")


def test_a_terminal_that_names_an_inner_window_of_its_own_is_raised(desk: Desk) -> None:
    one, _ = terminal(desk, "first"), terminal(desk, "second")
    with closing(display.Display(desk.environment["DISPLAY"])) as connection:
        inner = connection.create_resource_object("window", int(one.place.window)).query_tree().children[0].id

    result = focus(replace(one.place, window=str(inner), processes=()), "", desk.environment)

    wait_active(desk, "first")
    assert result == FocusResult(True)


def test_a_place_without_a_window_here_raises_nothing_and_reports_that(desk: Desk) -> None:
    one = terminal(desk, "first")
    assert x11.idle_seconds({}) is None
    nothing = FocusResult(False, "this desktop has no way to raise its window")

    assert [focus(Place(), "", desk.environment), focus(Place(window="99"), "", {})] == [nothing] * 2
    assert not focus(replace(one.place, display=":999"), "", desk.environment).raised
